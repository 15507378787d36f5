/* compress.c: Gram-Schmidt with the most independent row first.
 *
 * Each row is measured against itself: rows of lengths and of angles need no common unit.  Out of
 * the plane of a planar loop nothing moves, and rounding alone is there. */
#include "dynamics/compress.h"

#include <math.h>
#include <stdint.h>

/* What is left of a row after the others, as part of it; below this its direction is rounding. */
#define NOISE 1e-9

typedef int64_t mask __attribute__((vector_size(8 * sizeof(int64_t))));

static sni_lines where(mask m, sni_lines a) {
  return (sni_lines)(m & (mask)a);
}

/* Of all rows at once: they are few, and so are the columns. */
static sni_lines squares(const sni_lines *G, int m) {
  sni_lines sum = {0};
  for (int c = 0; c < m; c++) {
    sum += G[c] * G[c];
  }
  return sum;
}

double sni_compress(sni_lines *G, int nrow, int m, int most, const sni_lines *size,
                    sni_compressed *out) {
  const mask number = {0, 1, 2, 3, 4, 5, 6, 7};
  sni_lines left = squares(G, m);
  mask open = number < nrow; /* the rows that are not in Q */
  double least = 1;
  out->nrow = nrow;
  out->rank = 0;
  for (int i = 0; i < nrow; i++) {
    out->order[i] = i;
  }
  for (int k = 0; k < nrow && k < most; k++) {
    int best = -1;
    double ratio = NOISE * NOISE;
    for (int j = k; j < nrow; j++) {
      const int i = out->order[j];
      if (left[i] > ratio * (*size)[i]) {
        ratio = left[i] / (*size)[i];
        best = j;
      }
    }
    if (best < 0) {
      break;
    }
    least = fmin(least, ratio);
    out->left[k] = sqrt(ratio);
    const int row = out->order[best];
    out->order[best] = out->order[k];
    out->order[k] = row;
    const double length = sqrt(left[row]), inverse = 1 / length;
    sni_lines r = {0};
    const mask own = number == row;
    open &= ~own;
    for (int c = 0; c < m; c++) {
      r += G[c] * (G[c][row] * inverse);
    }
    r = where(open, r);
    left = (sni_lines){0};
    for (int c = 0; c < m; c++) {
      const double q = G[c][row] * inverse;
      const sni_lines g = G[c] - r * q;
      left += g * g;
      G[c] = where(~own, g) + where(own, (sni_lines){0} + q);
    }
    out->R[k] = r;
    out->R[k][row] = length;
    out->rank++;
  }
  return sqrt(least);
}

void sni_compress_rhs(const sni_compressed *z, const double *c, double *out) {
  for (int k = 0; k < z->rank; k++) {
    const int row = z->order[k];
    double sum = c[row];
    for (int j = 0; j < k; j++) {
      sum -= z->R[j][row] * out[j];
    }
    out[k] = sum / z->R[k][row];
  }
}

void sni_compress_lambda(const sni_compressed *z, const double *mu, double *lambda) {
  for (int k = z->rank; k < z->nrow; k++) {
    lambda[z->order[k]] = 0;
  }
  for (int k = z->rank - 1; k >= 0; k--) {
    double sum = mu[k];
    for (int j = k + 1; j < z->rank; j++) {
      sum -= z->R[k][z->order[j]] * lambda[z->order[j]];
    }
    lambda[z->order[k]] = sum / z->R[k][z->order[k]];
  }
}
