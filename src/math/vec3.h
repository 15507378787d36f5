/* vec3.h: vectors and 3x3 matrices by value.  Everything is inline: these are the atoms. */
#ifndef SNI_VEC3_H
#define SNI_VEC3_H

#include "sinew/types.h"

#include <math.h>

static inline sn_vec3 sn_vec3_make(double x, double y, double z) {
  return (sn_vec3){x, y, z};
}
static inline sn_vec3 sn_vec3_add(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline sn_vec3 sn_vec3_sub(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline sn_vec3 sn_vec3_scale(sn_vec3 a, double s) {
  return (sn_vec3){a.x * s, a.y * s, a.z * s};
}
static inline sn_vec3 sn_vec3_neg(sn_vec3 a) {
  return (sn_vec3){-a.x, -a.y, -a.z};
}
/* a + s b */
static inline sn_vec3 sn_vec3_addscaled(sn_vec3 a, double s, sn_vec3 b) {
  return (sn_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double sn_vec3_dot(sn_vec3 a, sn_vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline sn_vec3 sn_vec3_cross(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double sn_vec3_norm(sn_vec3 a) {
  return sqrt(sn_vec3_dot(a, a));
}
static inline double sn_vec3_get(sn_vec3 a, int k) {
  return k == 0 ? a.x : k == 1 ? a.y : a.z;
}
static inline bool sn_vec3_finite(sn_vec3 a) {
  return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline sn_mat3 sn_mat3_identity(void) {
  return (sn_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}
static inline sn_vec3 sn_mat3_mul_vec(sn_mat3 A, sn_vec3 b) {
  return (sn_vec3){A.m[0][0] * b.x + A.m[0][1] * b.y + A.m[0][2] * b.z,
                   A.m[1][0] * b.x + A.m[1][1] * b.y + A.m[1][2] * b.z,
                   A.m[2][0] * b.x + A.m[2][1] * b.y + A.m[2][2] * b.z};
}
/* A^T b */
static inline sn_vec3 sn_mat3_tmul_vec(sn_mat3 A, sn_vec3 b) {
  return (sn_vec3){A.m[0][0] * b.x + A.m[1][0] * b.y + A.m[2][0] * b.z,
                   A.m[0][1] * b.x + A.m[1][1] * b.y + A.m[2][1] * b.z,
                   A.m[0][2] * b.x + A.m[1][2] * b.y + A.m[2][2] * b.z};
}
static inline sn_mat3 sn_mat3_mul(sn_mat3 A, sn_mat3 B) {
  sn_mat3 C;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      C.m[i][j] = A.m[i][0] * B.m[0][j] + A.m[i][1] * B.m[1][j] + A.m[i][2] * B.m[2][j];
    }
  }
  return C;
}
static inline sn_mat3 sn_mat3_transpose(sn_mat3 A) {
  return (sn_mat3){{{A.m[0][0], A.m[1][0], A.m[2][0]},
                    {A.m[0][1], A.m[1][1], A.m[2][1]},
                    {A.m[0][2], A.m[1][2], A.m[2][2]}}};
}
/* A^T B */
static inline sn_mat3 sn_mat3_tmul(sn_mat3 A, sn_mat3 B) {
  return sn_mat3_mul(sn_mat3_transpose(A), B);
}
static inline sn_mat3 sn_mat3_add(sn_mat3 A, sn_mat3 B) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A.m[i][j] += B.m[i][j];
    }
  }
  return A;
}
static inline sn_mat3 sn_mat3_scale(sn_mat3 A, double s) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A.m[i][j] *= s;
    }
  }
  return A;
}
static inline sn_vec3 sn_mat3_col(sn_mat3 A, int j) {
  return (sn_vec3){A.m[0][j], A.m[1][j], A.m[2][j]};
}
static inline void sn_mat3_set_col(sn_mat3 *A, int j, sn_vec3 c) {
  A->m[0][j] = c.x;
  A->m[1][j] = c.y;
  A->m[2][j] = c.z;
}
static inline double sn_mat3_trace(sn_mat3 A) {
  return A.m[0][0] + A.m[1][1] + A.m[2][2];
}
static inline double sn_mat3_det(sn_mat3 A) {
  return sn_vec3_dot(sn_mat3_col(A, 0), sn_vec3_cross(sn_mat3_col(A, 1), sn_mat3_col(A, 2)));
}
/* The cross-product matrix [a]. */
static inline sn_mat3 sn_mat3_cross(sn_vec3 a) {
  return (sn_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}
/* [a]^2 = a a^T - |a|^2 I */
static inline sn_mat3 sn_mat3_cross2(sn_vec3 a) {
  return (sn_mat3){{{-a.y * a.y - a.z * a.z, a.x * a.y, a.x * a.z},
                    {a.x * a.y, -a.x * a.x - a.z * a.z, a.y * a.z},
                    {a.x * a.z, a.y * a.z, -a.x * a.x - a.y * a.y}}};
}

#endif
