/* so3.h: rotations: exponential and logarithm, quaternions, and the coefficients of the maps.
 *
 *     R = exp([r]) = I + s [r] + a [r]^2         s = sin th / th    a = (1 - cos th) / th^2
 *     Jr(r) = I - a [r] + b [r]^2                b = (th - sin th) / th^3        th = |r|
 *
 * Jr takes the rate of r to the body's angular velocity (the S of a spherical joint, [RMS 37, 38]).
 * Below th = 1/2 the closed forms lose digits (a relative error of 5e-3 in db at 1e-3) and
 * truncated series take over; both sides are below 1e-12 relative. */
#ifndef SNI_SO3_H
#define SNI_SO3_H

#include "math/vec3.h"

#define SN_PI 3.14159265358979323846

/* Series below th^2 = 1/4: eight terms leave less than 1e-17 there. */
#define SNI_SERIES_TH2 0.25

/* da = a'/th, db = b'/th with ' = d/dth: what the time derivative of Jr needs. */
typedef struct sni_exp_coefs {
  double s, a, b, da, db;
} sni_exp_coefs;

sni_exp_coefs sni_exp_coefs_calc(double th2);

sn_mat3 sn_so3_exp(sn_vec3 r);

/* sin th times the axis. */
static inline sn_vec3 sni_so3_sine(const sn_mat3 *R) {
  return (sn_vec3){0.5 * (R->m[2][1] - R->m[1][2]), 0.5 * (R->m[0][2] - R->m[2][0]),
                   0.5 * (R->m[1][0] - R->m[0][1])};
}

/* The rotation vector of R, |r| <= pi.  What is left of a loop is small: that case is in line. */
sn_vec3 sni_so3_log_far(sn_mat3 R);
/* Of the vectors of that rotation, whole turns apart, the one next to `was`. */
sn_vec3 sni_so3_log_near(sn_mat3 R, sn_vec3 was);
/* r becomes the vector of exp([r]) exp([w]), next to where it was. */
void sni_so3_turn(double *r, sn_vec3 w);
/* The rate of a rotation vector with the same angular velocity, in the axes of the body, where the
 * vector is another. */
void sni_so3_carry_rate(const double *from, const double *to, double *rate);
static inline sn_vec3 sn_so3_log(sn_mat3 R) {
  const sn_vec3 u = sni_so3_sine(&R);
  const double z = sn_vec3_dot(u, u);
  if (!(sn_mat3_trace(R) > 1 && z < 0.01)) {
    return sni_so3_log_far(R);
  }
  /* th / sin th as a series of sin^2 (asin z / z): no 0/0 and no lost digits. */
  const double tail =
      105.0 / 3456 + z * (945.0 / 42240 + z * (10395.0 / 599040 + z * (135135.0 / 9676800)));
  return sn_vec3_scale(u, 1 + z * (1.0 / 6 + z * (3.0 / 40 + z * (15.0 / 336 + z * tail))));
}

/* Rotation by angle about a unit axis. */
sn_mat3 sn_mat3_axis_angle(sn_vec3 axis, double angle);

/* Jr(r), and its time derivative when r changes at rate rd. */
sn_mat3 sn_so3_jacobian(sn_vec3 r);
sn_mat3 sn_so3_jacobian_dot(sn_vec3 r, sn_vec3 rd);

/* exp, Jr and its rate together: the coefficients are computed once. */
void sn_so3_motion(sn_vec3 r, sn_vec3 rd, sn_mat3 *R, sn_mat3 *Jr, sn_mat3 *Jrdot);

/* The inverse of Jr: the rate of r for a body angular velocity.  |r| < 2 pi. */
sn_mat3 sn_so3_jacobian_inverse(sn_vec3 r);

/* Jr^-1 = I + [r]/2 + c [r]^2 with c = (1 - (th/2) cot(th/2)) / th^2 */
double sni_inverse_coef_far(double th2);
static inline double sni_inverse_coef(double th2) {
  if (th2 < SNI_SERIES_TH2) {
    const double tail = 1.0 / 1209600 + th2 * (1.0 / 47900160 + th2 * (691.0 / 1307674368000.0));
    return 1.0 / 12 + th2 * (1.0 / 720 + th2 * (1.0 / 30240 + th2 * tail));
  }
  return sni_inverse_coef_far(th2);
}

/* Jr^-1 x */
static inline sn_vec3 sn_so3_jacobian_inverse_mul(sn_vec3 r, sn_vec3 x) {
  const sn_vec3 rx = sn_vec3_cross(r, x);
  return sn_vec3_addscaled(sn_vec3_addscaled(x, 0.5, rx), sni_inverse_coef(sn_vec3_dot(r, r)),
                           sn_vec3_cross(r, rx));
}

/* Rotation vectors longer than 1.5 pi are replaced by the same rotation nearer to zero, and the
 * rate so that the angular velocity Jr rd is kept.  Lands at most at pi/2 from one wrap, so it
 * does not chatter.  Returns true if anything changed.  [RMS 4.7] */
bool sn_so3_reparam(sn_vec3 *r, sn_vec3 *rd);

sn_quat sn_quat_from_mat3(sn_mat3 R); /* unit, w >= 0 */
sn_mat3 sn_mat3_from_quat(sn_quat q); /* q need not be normalised, |q| > 0 */

#endif
