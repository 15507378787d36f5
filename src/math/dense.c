/* dense.c: small dense symmetric systems. */
#include "math/dense.h"

#include <math.h>

bool sni_cholesky(int n, double *A, double tol, int *bad) {
  for (int j = 0; j < n; j++) {
    const double start = A[j * n + j];
    double d = start;
    for (int k = 0; k < j; k++) {
      d -= A[j * n + k] * A[j * n + k];
    }
    if (!(d > tol * start) || !(d > 0)) { /* this way round so that NaN fails too */
      if (bad) {
        *bad = j;
      }
      return false;
    }
    const double root = sqrt(d);
    A[j * n + j] = root;
    for (int i = j + 1; i < n; i++) {
      double s = A[i * n + j];
      for (int k = 0; k < j; k++) {
        s -= A[i * n + k] * A[j * n + k];
      }
      A[i * n + j] = s / root;
    }
  }
  return true;
}

void sni_cholesky_solve(int n, const double *L, double *b) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) {
      b[i] -= L[i * n + k] * b[k];
    }
    b[i] /= L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) {
      b[i] -= L[k * n + i] * b[k];
    }
    b[i] /= L[i * n + i];
  }
}

void sni_cholesky_add_inverse(int n, const double *L, double c, double *A) {
  for (int k = 0; k < n; k++) {
    double column[6] = {0};
    column[k] = 1;
    sni_cholesky_solve(n, L, column);
    for (int i = 0; i < n; i++) {
      A[i * n + k] += c * column[i];
    }
  }
}

void sni_solve_singular(int n, double *A, double *full, double left, double *b, double *x) {
  enum { TAKEN = -1 };
  for (bool more = true; more;) {
    int best = -1;
    double most = left;
    for (int i = 0; i < n; i++) {
      const double part = full[i] > 0 ? A[i * n + i] / full[i] : 0;
      best = part > most ? i : best;
      most = fmax(most, part);
    }
    more = best >= 0;
    for (int i = 0; more && i < n; i++) {
      const double factor = i == best ? 0 : A[i * n + best] / A[best * n + best];
      for (int j = 0; factor != 0 && j < n; j++) {
        A[i * n + j] -= factor * A[best * n + j];
      }
      b[i] -= factor * b[best];
    }
    if (more) {
      full[best] = TAKEN;
    }
  }
  for (int i = 0; i < n; i++) {
    x[i] = full[i] == TAKEN ? b[i] / A[i * n + i] : 0;
  }
}

static double length(int m, const double *x) {
  double sum = 0;
  for (int i = 0; i < m; i++) {
    sum += x[i] * x[i];
  }
  return sqrt(sum);
}

static void divide(int m, double *x, double by) {
  for (int i = 0; i < m && by > 0; i++) {
    x[i] /= by;
  }
}

int sni_column_rank(int m, int n, const double *A, double tol) {
  double C[6][36]; /* columns, scaled */
  if (n > 6 || m > 36) {
    return -1;
  }
  for (int j = 0; j < n; j++) {
    double most = 0;
    for (int i = 0; i < m; i++) {
      C[j][i] = A[i * n + j];
      most = fmax(most, fabs(C[j][i]));
    }
    divide(m, C[j], most); /* first, so that no square overflows or vanishes */
    divide(m, C[j], length(m, C[j]));
  }
  int rank = 0;
  while (rank < n) {
    int best = rank;
    double best_len = 0;
    for (int j = rank; j < n; j++) {
      const double len = length(m, C[j]);
      if (len > best_len) { /* never true for NaN */
        best_len = len;
        best = j;
      }
    }
    if (!(best_len > tol)) {
      break;
    }
    for (int i = 0; i < m; i++) {
      const double swap = C[best][i] / best_len;
      C[best][i] = C[rank][i];
      C[rank][i] = swap;
    }
    for (int j = rank + 1; j < n; j++) {
      for (int pass = 0; pass < 2; pass++) { /* twice is enough */
        double dot = 0;
        for (int i = 0; i < m; i++) {
          dot += C[rank][i] * C[j][i];
        }
        for (int i = 0; i < m; i++) {
          C[j][i] -= dot * C[rank][i];
        }
      }
    }
    rank++;
  }
  return rank;
}

void sni_fill_cube(int n, int k, double *u) {
  double ratio = 1.5, part = 1;
  for (int i = 0; i < 30; i++) {
    ratio = pow(1 + ratio, 1.0 / (n + 1));
  }
  for (int i = 0; i < n; i++) {
    part /= ratio;
    const double at = 0.5 + k * part;
    u[i] = at - floor(at);
  }
}
