/* sincos.c: sines and cosines of many angles at once.
 *
 * x = k pi/2 + r with |r| <= pi/4, pi/2 as a sum of three doubles: the first subtraction is exact
 * for |k| < 2^20 (both sides are multiples of 2^-53 and the difference is below 1), the others add
 * what pi/2 lacks.  Then Taylor polynomials to r^17 and r^16: the first term left out is 2e-18.
 * Larger angles go to the library, one at a time. */
#include "math/sincos.h"

#include <math.h>

#define HALF_PI_1 1.5707963267948966
#define HALF_PI_2 6.123233995736766e-17
#define HALF_PI_3 -1.4973849048591833e-33
#define X_MAX     1.6e6 /* 2^20 pi/2 */

/* On a machine without the instruction fma() is a function call, 18 of them an angle: then all
 * angles go to the library. */
#if defined(FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
#define FUSED 1
#else
#define FUSED 0
#endif

/* Those beyond the limit, or NaN. */
static void by_library(int n, const double *restrict x, double limit, double *restrict s,
                       double *restrict c) {
  for (int i = 0; i < n; i++) {
    if (!(fabs(x[i]) <= limit)) {
      s[i] = sin(x[i]);
      c[i] = cos(x[i]);
    }
  }
}

void sni_sincos(int n, const double *restrict x, double *restrict s, double *restrict c) {
  if (!FUSED) {
    by_library(n, x, -1, s, c);
    return;
  }
  int large = 0;
  for (int i = 0; i < n; i++) {
    const double k = rint(x[i] * (2 / 3.14159265358979323846));
    double r = fma(-k, HALF_PI_1, x[i]);
    r = fma(-k, HALF_PI_2, r);
    r = fma(-k, HALF_PI_3, r);
    const double z = r * r;
    double ps = 2.8114572543455206e-15; /* 1/17!, -1/15!, ... */
    ps = fma(ps, z, -7.647163731819816e-13);
    ps = fma(ps, z, 1.6059043836821613e-10);
    ps = fma(ps, z, -2.505210838544172e-08);
    ps = fma(ps, z, 2.7557319223985893e-06);
    ps = fma(ps, z, -0.0001984126984126984);
    ps = fma(ps, z, 0.008333333333333333);
    ps = fma(ps, z, -0.16666666666666666);
    const double sine = fma(r * z, ps, r);
    double pc = 4.779477332387385e-14; /* 1/16!, -1/14!, ... */
    pc = fma(pc, z, -1.1470745597729725e-11);
    pc = fma(pc, z, 2.08767569878681e-09);
    pc = fma(pc, z, -2.755731922398589e-07);
    pc = fma(pc, z, 2.48015873015873e-05);
    pc = fma(pc, z, -0.001388888888888889);
    pc = fma(pc, z, 0.041666666666666664);
    const double cosine = fma(z * z, pc, fma(-0.5, z, 1.0));
    /* quadrant: k mod 4 as an exact double computation, which vectorises on every machine */
    const double quadrant = k - 4 * floor(0.25 * k);
    const double odd = quadrant - 2 * floor(0.5 * quadrant);
    const double a = odd != 0 ? cosine : sine;
    const double b = odd != 0 ? sine : cosine;
    s[i] = quadrant >= 2 ? -a : a;
    c[i] = (quadrant == 1 || quadrant == 2) ? -b : b;
    large |= !(fabs(x[i]) <= X_MAX);
  }
  if (large) {
    by_library(n, x, X_MAX, s, c);
  }
}
