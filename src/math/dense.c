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

int sni_column_rank(int m, int n, const double *A, double tol) {
  double C[6][36]; /* columns, scaled */
  if (n > 6 || m > 36) {
    return -1;
  }
  for (int j = 0; j < n; j++) {
    double len = 0;
    for (int i = 0; i < m; i++) {
      C[j][i] = A[i * n + j];
      len += C[j][i] * C[j][i];
    }
    len = sqrt(len);
    for (int i = 0; i < m && len > 0; i++) {
      C[j][i] /= len;
    }
  }
  int rank = 0;
  while (rank < n) {
    int best = rank;
    double best_len = -1;
    for (int j = rank; j < n; j++) {
      double len = 0;
      for (int i = 0; i < m; i++) {
        len += C[j][i] * C[j][i];
      }
      if (len > best_len) {
        best_len = len;
        best = j;
      }
    }
    best_len = sqrt(best_len);
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
