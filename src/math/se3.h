/* se3.h: poses, twists and wrenches.
 *
 *     Ad(E)  = [R 0; [p]R R]                takes a twist of frame b to frame a       [RMS 5]
 *     Ad(E)^T                               takes a wrench of frame a to frame b
 *     ad(phi) = [[w] 0; [v] [w]]            spatial cross product                      [RMS 8]
 *
 * They are applied, never formed: a formed 6x6 costs three times as much. */
#ifndef SNI_SE3_H
#define SNI_SE3_H

#include "math/so3.h"

static inline sn_se3 sn_se3_identity(void) {
  return (sn_se3){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
}
static inline sn_se3 sn_se3_mul(sn_se3 A, sn_se3 B) {
  return (sn_se3){.R = sn_mat3_mul(A.R, B.R), .p = sn_vec3_add(A.p, sn_mat3_mul_vec(A.R, B.p))};
}
static inline sn_se3 sn_se3_inverse(sn_se3 E) {
  return (sn_se3){.R = sn_mat3_transpose(E.R), .p = sn_vec3_neg(sn_mat3_tmul_vec(E.R, E.p))};
}
static inline sn_vec3 sn_se3_point(sn_se3 E, sn_vec3 x) {
  return sn_vec3_add(E.p, sn_mat3_mul_vec(E.R, x));
}

static inline sn_vec6 sn_vec6_add(sn_vec6 a, sn_vec6 b) {
  return (sn_vec6){sn_vec3_add(a.w, b.w), sn_vec3_add(a.v, b.v)};
}
static inline sn_vec6 sn_vec6_sub(sn_vec6 a, sn_vec6 b) {
  return (sn_vec6){sn_vec3_sub(a.w, b.w), sn_vec3_sub(a.v, b.v)};
}
static inline sn_vec6 sn_vec6_scale(sn_vec6 a, double s) {
  return (sn_vec6){sn_vec3_scale(a.w, s), sn_vec3_scale(a.v, s)};
}
static inline sn_vec6 sn_vec6_addscaled(sn_vec6 a, double s, sn_vec6 b) {
  return (sn_vec6){sn_vec3_addscaled(a.w, s, b.w), sn_vec3_addscaled(a.v, s, b.v)};
}
static inline double sn_vec6_dot(sn_vec6 a, sn_vec6 b) {
  return sn_vec3_dot(a.w, b.w) + sn_vec3_dot(a.v, b.v);
}
static inline double sn_vec6_get(sn_vec6 a, int k) {
  return k < 3 ? sn_vec3_get(a.w, k) : sn_vec3_get(a.v, k - 3);
}
/* Both parts turned: the change of axes without a change of origin. */
static inline sn_vec6 sn_vec6_rotate(sn_mat3 R, sn_vec6 a) {
  return (sn_vec6){sn_mat3_mul_vec(R, a.w), sn_mat3_mul_vec(R, a.v)};
}
static inline sn_vec6 sn_vec6_unrotate(sn_mat3 R, sn_vec6 a) {
  return (sn_vec6){sn_mat3_tmul_vec(R, a.w), sn_mat3_tmul_vec(R, a.v)};
}

/* Ad(E) phi */
static inline sn_vec6 sn_Ad_mul(sn_se3 E, sn_vec6 phi) {
  const sn_vec3 w = sn_mat3_mul_vec(E.R, phi.w);
  return (sn_vec6){w, sn_vec3_add(sn_mat3_mul_vec(E.R, phi.v), sn_vec3_cross(E.p, w))};
}
/* Ad(E)^-1 phi */
static inline sn_vec6 sn_Adinv_mul(sn_se3 E, sn_vec6 phi) {
  return (sn_vec6){sn_mat3_tmul_vec(E.R, phi.w),
                   sn_mat3_tmul_vec(E.R, sn_vec3_sub(phi.v, sn_vec3_cross(E.p, phi.w)))};
}
/* Ad(E)^T f */
static inline sn_vec6 sn_AdT_mul(sn_se3 E, sn_vec6 f) {
  return (sn_vec6){sn_mat3_tmul_vec(E.R, sn_vec3_sub(f.w, sn_vec3_cross(E.p, f.v))),
                   sn_mat3_tmul_vec(E.R, f.v)};
}
/* ad(a) b */
static inline sn_vec6 sn_ad_mul(sn_vec6 a, sn_vec6 b) {
  return (sn_vec6){sn_vec3_cross(a.w, b.w),
                   sn_vec3_add(sn_vec3_cross(a.v, b.w), sn_vec3_cross(a.w, b.v))};
}
/* ad(a)^T f */
static inline sn_vec6 sn_adT_mul(sn_vec6 a, sn_vec6 f) {
  return (sn_vec6){sn_vec3_neg(sn_vec3_add(sn_vec3_cross(a.w, f.w), sn_vec3_cross(a.v, f.v))),
                   sn_vec3_neg(sn_vec3_cross(a.w, f.v))};
}

/* Finite, and a rotation to 1e-6: NaN fails too. */
static inline bool sn_se3_is_pose(sn_se3 E) {
  const sn_mat3 RtR = sn_mat3_tmul(E.R, E.R);
  bool ok = sn_vec3_finite(E.p) && sn_mat3_det(E.R) > 0;
  for (int i = 0; i < 9; i++) {
    ok = ok && fabs(RtR.m[i / 3][i % 3] - (i % 4 == 0)) < 1e-6;
  }
  return ok;
}

/* exp of a twist, and its inverse with |w| <= pi. */
sn_se3 sn_se3_exp(sn_vec6 xi);
static inline sn_vec6 sn_se3_log(sn_se3 E) {
  const sn_vec3 w = sn_so3_log(E.R);
  return (sn_vec6){w, sn_so3_jacobian_inverse_mul(sn_vec3_neg(w), E.p)};
}

#endif
