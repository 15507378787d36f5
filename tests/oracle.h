/* oracle.h: an integrator that shares nothing with ours, for answers to compare with: Gragg,
 * Bulirsch and Stoer, extrapolated from eight subdivisions, of order 16. */
#ifndef SINEW_ORACLE_H
#define SINEW_ORACLE_H

#include <math.h>
#include <string.h>

#define ORACLE_SIZE_MAX 8

typedef void (*oracle_field)(double t, const double *y, double *dydt);

static inline void oracle_midpoint(oracle_field f, int n, double t, double H, int parts,
                                   const double *y, double *out) {
  double a[ORACLE_SIZE_MAX], b[ORACLE_SIZE_MAX], d[ORACLE_SIZE_MAX];
  const double h = H / parts;
  f(t, y, d);
  for (int i = 0; i < n; i++) {
    a[i] = y[i];
    b[i] = y[i] + h * d[i];
  }
  for (int k = 1; k < parts; k++) {
    f(t + k * h, b, d);
    for (int i = 0; i < n; i++) {
      const double next = a[i] + 2 * h * d[i];
      a[i] = b[i];
      b[i] = next;
    }
  }
  f(t + H, b, d);
  for (int i = 0; i < n; i++) {
    out[i] = 0.5 * (a[i] + b[i] + h * d[i]);
  }
}

/* y from t to t_end in equal steps; n <= ORACLE_SIZE_MAX. */
static inline void oracle(oracle_field f, int n, double t, double t_end, int steps, double *y) {
  const double H = (t_end - t) / steps;
  for (int s = 0; s < steps; s++) {
    double table[8][ORACLE_SIZE_MAX];
    for (int row = 0; row < 8; row++) {
      oracle_midpoint(f, n, t + s * H, H, 2 * (row + 1), y, table[row]);
      for (int k = row - 1; k >= 0; k--) { /* Neville in h^2 */
        const double ratio = (row + 1.0) / (k + 1.0);
        for (int i = 0; i < n; i++) {
          table[k][i] = table[k + 1][i] + (table[k + 1][i] - table[k][i]) / (ratio * ratio - 1);
        }
      }
    }
    memcpy(y, table[0], (size_t)n * sizeof *y);
  }
}

#endif
