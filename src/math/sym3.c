/* sym3.c: what a symmetric 3x3 matrix lacks.
 *
 * The eigenvalues are roots of a cubic, found by its trisection of the angle.  Of three numbers
 * there is one whose sign none of the others has, or all have the same: so the square of one
 * eigenvector is enough, and it is a polynomial of the matrix,
 *
 *     v v^T = (A - mu 1)(A - nu 1) / ((lambda - mu)(lambda - nu))
 *
 * in which of mu and nu only sum and product are needed.  lambda is at least as far from both as
 * from zero, by which the result is weighed, so it is as good as the cubic: 1e-15 of the matrix,
 * and 1e-8 where two eigenvalues meet at zero. */
#include "math/sym3.h"

#include <math.h>

#define THIRD_TURN 2.0943951023931953

static sni_sym3 add_identity(sni_sym3 a, double k) {
  return (sni_sym3){a.xx + k, a.yy + k, a.zz + k, a.xy, a.xz, a.yz};
}

static sni_sym3 squared(sni_sym3 a) {
  return (sni_sym3){
      a.xx * a.xx + a.xy * a.xy + a.xz * a.xz, a.xy * a.xy + a.yy * a.yy + a.yz * a.yz,
      a.xz * a.xz + a.yz * a.yz + a.zz * a.zz, a.xx * a.xy + a.xy * a.yy + a.xz * a.yz,
      a.xx * a.xz + a.xy * a.yz + a.xz * a.zz, a.xy * a.xz + a.yy * a.yz + a.yz * a.zz};
}

static double determinant(sni_sym3 a) {
  return a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) +
         a.xz * (a.xy * a.yz - a.yy * a.xz);
}

/* Ascending. */
static void eigenvalues(sni_sym3 a, double value[3]) {
  const double mean = sni_sym3_trace(a) / 3;
  const sni_sym3 b = add_identity(a, -mean);
  const double p = sqrt(sni_sym3_square(b) / 6), cube = p * p * p;
  const double r = cube > 0 ? fmin(fmax(determinant(b) / (2 * cube), -1), 1) : 1;
  const double angle = acos(r) / 3;
  value[2] = mean + 2 * p * cos(angle);
  value[0] = mean + 2 * p * cos(angle + THIRD_TURN);
  value[1] = 3 * mean - value[0] - value[2];
}

/* lambda v v^T for an eigenvalue that is alone with its sign. */
static sni_sym3 part_of(sni_sym3 a, double lambda) {
  const double trace = sni_sym3_trace(a), others = trace - lambda;
  const double second = (trace * trace - sni_sym3_square(a)) / 2; /* of the cubic */
  const double product = second - lambda * others;
  const double apart = 3 * lambda * lambda - 2 * trace * lambda + second;
  if (!(apart > 0)) {
    return (sni_sym3){0}; /* all of it is next to nothing */
  }
  return sni_sym3_scale(add_identity(sni_sym3_add(squared(a), sni_sym3_scale(a, -others)), product),
                        lambda / apart);
}

sni_sym3 sni_sym3_missing(sni_sym3 a) {
  const double size = sqrt(sni_sym3_square(a));
  if (!(size > 0)) {
    return (sni_sym3){0};
  }
  const sni_sym3 unit = sni_sym3_scale(a, 1 / size);
  double value[3];
  eigenvalues(unit, value);
  if (value[0] >= 0) {
    return (sni_sym3){0};
  }
  if (value[2] <= 0) {
    return sni_sym3_scale(a, -1);
  }
  if (value[1] >= 0) {
    return sni_sym3_scale(part_of(unit, value[0]), -size);
  }
  return sni_sym3_add(sni_sym3_scale(part_of(unit, value[2]), size), sni_sym3_scale(a, -1));
}
