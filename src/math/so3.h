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

/* da = a'/th, db = b'/th with ' = d/dth: what the time derivative of Jr needs. */
typedef struct sni_exp_coefs {
  double s, a, b, da, db;
} sni_exp_coefs;

sni_exp_coefs sni_exp_coefs_calc(double th2);

sn_mat3 sn_so3_exp(sn_vec3 r);

/* The rotation vector of R, |r| <= pi. */
sn_vec3 sn_so3_log(sn_mat3 R);

/* Rotation by angle about a unit axis. */
sn_mat3 sn_mat3_axis_angle(sn_vec3 axis, double angle);

/* Jr(r), and its time derivative when r changes at rate rd. */
sn_mat3 sn_so3_jacobian(sn_vec3 r);
sn_mat3 sn_so3_jacobian_dot(sn_vec3 r, sn_vec3 rd);

/* exp, Jr and its rate together: the coefficients are computed once. */
void sn_so3_motion(sn_vec3 r, sn_vec3 rd, sn_mat3 *R, sn_mat3 *Jr, sn_mat3 *Jrdot);

/* The inverse of Jr: the rate of r for a body angular velocity.  |r| < 2 pi. */
sn_mat3 sn_so3_jacobian_inverse(sn_vec3 r);
sn_vec3 sn_so3_jacobian_inverse_mul(sn_vec3 r, sn_vec3 x); /* the same times x */

/* Rotation vectors longer than 1.5 pi are replaced by the same rotation nearer to zero, and the
 * rate so that the angular velocity Jr rd is kept.  Lands at most at pi/2 from one wrap, so it
 * does not chatter.  Returns true if anything changed.  [RMS 4.7] */
bool sn_so3_reparam(sn_vec3 *r, sn_vec3 *rd);

sn_quat sn_quat_from_mat3(sn_mat3 R); /* unit, w >= 0 */
sn_mat3 sn_mat3_from_quat(sn_quat q); /* q need not be normalised, |q| > 0 */

#endif
