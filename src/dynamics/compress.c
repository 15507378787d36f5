/* compress.c: Gram-Schmidt with the most independent row first.
 *
 * Each row is measured against itself: rows of lengths and of angles need no common unit.  Out of
 * the plane of a planar loop nothing moves, and rounding alone is there. */
#include "dynamics/compress.h"

#include <math.h>

/* What is left of a row after the others, as part of it; below this its direction is rounding. */
#define NOISE 1e-9

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

double sni_compress(double *G, int nrow, int m, int most, const double *size, sni_compressed *out) {
  double left[SNI_ROWS_MAX], weakest = 1;
  out->nrow = nrow;
  out->rank = 0;
  for (int i = 0; i < nrow; i++) {
    out->order[i] = i;
    left[i] = dot(m, G + i * m, G + i * m);
  }
  for (int k = 0; k < nrow && k < most; k++) {
    int best = -1;
    double ratio = NOISE * NOISE;
    for (int j = k; j < nrow; j++) {
      const int i = out->order[j];
      if (left[i] > ratio * size[i]) {
        ratio = left[i] / size[i];
        best = j;
      }
    }
    if (best < 0) {
      break;
    }
    weakest = fmin(weakest, sqrt(ratio));
    const int row = out->order[best];
    out->order[best] = out->order[k];
    out->order[k] = row;
    for (int j = 0; j < k; j++) {
      const double r = out->R[j][best];
      out->R[j][best] = out->R[j][k];
      out->R[j][k] = r;
    }
    double *q = G + row * m;
    const double length = sqrt(left[row]);
    out->R[k][k] = length;
    for (int c = 0; c < m; c++) {
      q[c] /= length;
    }
    for (int j = k + 1; j < nrow; j++) {
      double *g = G + out->order[j] * m;
      const double r = dot(m, q, g);
      out->R[k][j] = r;
      for (int c = 0; c < m; c++) {
        g[c] -= r * q[c];
      }
      left[out->order[j]] = dot(m, g, g);
    }
    out->rank++;
  }
  return weakest;
}

void sni_compress_rhs(const sni_compressed *z, const double *c, double *out) {
  for (int k = 0; k < z->rank; k++) {
    double sum = c[z->order[k]];
    for (int j = 0; j < k; j++) {
      sum -= z->R[j][k] * out[j];
    }
    out[k] = sum / z->R[k][k];
  }
}

void sni_compress_lambda(const sni_compressed *z, const double *mu, double *lambda) {
  for (int k = z->nrow - 1; k >= 0; k--) {
    double sum = k < z->rank ? mu[k] : 0;
    for (int j = k + 1; j < z->rank; j++) {
      sum -= z->R[k][j] * lambda[z->order[j]];
    }
    lambda[z->order[k]] = k < z->rank ? sum / z->R[k][k] : 0;
  }
}
