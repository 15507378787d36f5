/* spline.h: the uniform cubic B-spline basis that the spline joints share.  [RMS 53-58] */
#ifndef SNI_SPLINE_H
#define SNI_SPLINE_H

#include <math.h>

/* B[i], first and second derivative of the four basis functions at u. */
typedef struct sni_basis {
  double B[4], dB[4], ddB[4];
} sni_basis;

static inline sni_basis sni_basis_calc(double u) {
  const double v = 1 - u;
  return (sni_basis){
      .B = {v * v * v / 6, (4 - 6 * u * u + 3 * u * u * u) / 6,
            (1 + 3 * u + 3 * u * u - 3 * u * u * u) / 6, u * u * u / 6},
      .dB = {-v * v / 2, (-4 * u + 3 * u * u) / 2, (1 + 2 * u - 3 * u * u) / 2, u * u / 2},
      .ddB = {v, -2 + 3 * u, 1 - 3 * u, u}};
}

/* Segment of q on an open spline with n segments; beyond the ends the last cubic goes on. */
static inline int sni_open_segment(double q, int n, double *u) {
  const double k = fmin(fmax(floor(q), 0), n - 1);
  *u = q - k;
  return (int)k;
}

/* Segment of q on a closed spline with n segments.  fmod is exact, however far q has gone round;
 * NaN goes on in u. */
static inline int sni_cyclic_segment(double q, int n, double *u) {
  const double whole = floor(q), k = fmod(whole, n);
  *u = q - whole;
  return k >= 0 ? (int)k : k < 0 ? (int)k + n : 0;
}

#endif
