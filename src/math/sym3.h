/* sym3.h: symmetric 3x3 matrices, six numbers each. */
#ifndef SNI_SYM3_H
#define SNI_SYM3_H

#include "math/vec3.h"

#include <stdbool.h>

typedef struct sni_sym3 {
  double xx, yy, zz, xy, xz, yz;
} sni_sym3;

static inline sni_sym3 sni_sym3_add(sni_sym3 a, sni_sym3 b) {
  return (sni_sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline sni_sym3 sni_sym3_scale(sni_sym3 a, double k) {
  return (sni_sym3){k * a.xx, k * a.yy, k * a.zz, k * a.xy, k * a.xz, k * a.yz};
}
/* a + k v v^T */
static inline sni_sym3 sni_sym3_add_square(sni_sym3 a, double k, sn_vec3 v) {
  const sn_vec3 kv = {k * v.x, k * v.y, k * v.z};
  return (sni_sym3){a.xx + kv.x * v.x, a.yy + kv.y * v.y, a.zz + kv.z * v.z,
                    a.xy + kv.x * v.y, a.xz + kv.x * v.z, a.yz + kv.y * v.z};
}
/* (a b^T + b a^T)/2 */
static inline sni_sym3 sni_sym3_product(sn_vec3 a, sn_vec3 b) {
  return (sni_sym3){a.x * b.x,
                    a.y * b.y,
                    a.z * b.z,
                    0.5 * (a.x * b.y + a.y * b.x),
                    0.5 * (a.x * b.z + a.z * b.x),
                    0.5 * (a.y * b.z + a.z * b.y)};
}
static inline double sni_sym3_trace(sni_sym3 a) {
  return a.xx + a.yy + a.zz;
}
static inline sn_vec3 sni_sym3_mul(sni_sym3 a, sn_vec3 v) {
  return (sn_vec3){a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
                   a.xz * v.x + a.yz * v.y + a.zz * v.z};
}
/* Frobenius norm, squared */
static inline double sni_sym3_square(sni_sym3 a) {
  return a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + 2 * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
}
static inline bool sni_sym3_is_positive(sni_sym3 a) {
  const double minor = a.xx * a.yy - a.xy * a.xy;
  const double det =
      a.zz * minor - a.yz * (a.xx * a.yz - a.xy * a.xz) + a.xz * (a.xy * a.yz - a.yy * a.xz);
  return a.xx > 0 && minor > 0 && det > 0;
}
static inline sn_mat3 sni_sym3_mat3(sni_sym3 a) {
  return (sn_mat3){{{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}}};
}

/* The least that makes a >= 0 when it is added: -lambda v v^T for each eigenvalue below 0. */
sni_sym3 sni_sym3_missing(sni_sym3 a);

#endif
