/* band.c: elimination within a band; pivots widen it to the right by as much again. */
#include "linear/band.h"

#include <math.h>
#include <string.h>

/* Rows reach from i - half to i + 2 half. */
static bool is_whole(int n, int half) {
  return 3 * half + 1 >= n;
}

size_t sni_band_size(int n, int half) {
  return (size_t)n * (size_t)(is_whole(n, half) ? n : 3 * half + 1);
}

void sni_band_place(sni_band *m, int n, int half, double *memory) {
  *m = is_whole(n, half) ? (sni_band){n, half, (size_t)n, memory}
                         : (sni_band){n, half, 3 * (size_t)half, memory + half};
}

void sni_band_clear(sni_band *m) {
  const bool whole = is_whole(m->n, m->half);
  memset(whole ? m->at : m->at - m->half, 0, sni_band_size(m->n, m->half) * sizeof *m->at);
}

double sni_band_cost(int n, int half) {
  const double all = (double)n * n * n / 3;
  return is_whole(n, half) ? all : fmin(all, 2.0 * n * half * half);
}

static void swap(double *a, double *b) {
  const double x = *a;
  *a = *b;
  *b = x;
}

static int least(int a, int b) {
  return a < b ? a : b;
}

int sni_band_solve(sni_band *m, double *b) {
  const int n = m->n;
  int sign = 1, right = 0; /* numbers of pivots end there */
  for (int k = 0; k < n; k++) {
    const int below = least(n, k + m->half + 1);
    int best = k;
    for (int i = k + 1; i < below; i++) {
      best = fabs(sni_band_row(m, i)[k]) > fabs(sni_band_row(m, best)[k]) ? i : best;
    }
    if (!(fabs(sni_band_row(m, best)[k]) > 1e-300)) {
      return 0;
    }
    const int end = least(n, best + m->half + 1);
    right = end > right ? end : right;
    if (best != k) {
      sign = -sign;
      for (int j = k; j < right; j++) {
        swap(&sni_band_row(m, k)[j], &sni_band_row(m, best)[j]);
      }
      swap(&b[k], &b[best]);
    }
    const double *pivot = sni_band_row(m, k);
    sign = pivot[k] < 0 ? -sign : sign;
    for (int i = k + 1; i < below; i++) {
      double *row = sni_band_row(m, i);
      const double factor = row[k] / pivot[k];
      for (int j = k + 1; factor != 0 && j < right; j++) {
        row[j] -= factor * pivot[j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    const double *row = sni_band_row(m, k);
    const int end = least(n, k + 2 * m->half + 1);
    for (int j = k + 1; j < end; j++) {
      b[k] -= row[j] * b[j];
    }
    b[k] /= row[k];
  }
  return sign;
}
