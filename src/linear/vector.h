/* vector.h: what is done to plain rows of numbers everywhere. */
#ifndef SNI_VECTOR_H
#define SNI_VECTOR_H

#include <math.h>

static inline double sni_dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* The largest |x|; NaN if one of them is. */
static inline double sni_largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fabs(x[i]) <= most ? most : fabs(x[i]); /* this way round so that NaN stays */
  }
  return most;
}

#endif
