/* lane.h: 3-vectors in four lanes, for the kernels.  The compiler makes one AVX instruction of each
 * operation where the machine has them, two SSE or four scalar ones elsewhere.  The fourth lane is
 * zero in everything that is stored. */
#ifndef SNI_LANE_H
#define SNI_LANE_H

#include "math/se3.h"

typedef double sni_lane __attribute__((vector_size(32)));

#define SNI_LANE_FN static inline __attribute__((always_inline))

SNI_LANE_FN sni_lane sni_lane_all(double s) {
  return (sni_lane){s, s, s, s};
}
SNI_LANE_FN sni_lane sni_lane_from(sn_vec3 a) {
  return (sni_lane){a.x, a.y, a.z, 0};
}
SNI_LANE_FN sn_vec3 sni_lane_vec3(sni_lane a) {
  return (sn_vec3){a[0], a[1], a[2]};
}
SNI_LANE_FN sni_lane sni_lane_turn(sni_lane a) { /* (y, z, x) */
  return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}
SNI_LANE_FN sni_lane sni_lane_cross(sni_lane a, sni_lane b) {
  return sni_lane_turn(a * sni_lane_turn(b) - sni_lane_turn(a) * b);
}
SNI_LANE_FN double sni_lane_dot(sni_lane a, sni_lane b) {
  const sni_lane m = a * b;
  return m[0] + m[1] + m[2];
}
/* x c0 + y c1 + z c2: a matrix of three columns times (x, y, z) */
SNI_LANE_FN sni_lane sni_lane_mul(const sni_lane c[3], double x, double y, double z) {
  return c[0] * sni_lane_all(x) + (c[1] * sni_lane_all(y) + c[2] * sni_lane_all(z));
}
/* The transpose of a matrix of columns. */
SNI_LANE_FN void sni_lane_transpose(const sni_lane a[3], sni_lane out[3]) {
  const sni_lane zero = {0};
  const sni_lane even = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6);
  const sni_lane odd = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7);
  const sni_lane c_even = __builtin_shufflevector(a[2], zero, 0, 4, 2, 4);
  const sni_lane c_odd = __builtin_shufflevector(a[2], zero, 1, 4, 3, 4);
  out[0] = __builtin_shufflevector(even, c_even, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(odd, c_odd, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(even, c_even, 2, 3, 6, 7);
}

/* A twist or wrench in lanes. */
typedef struct sni_lane6 {
  sni_lane w, v;
} sni_lane6;

SNI_LANE_FN sni_lane6 sni_lane6_from(sn_vec6 a) {
  return (sni_lane6){sni_lane_from(a.w), sni_lane_from(a.v)};
}
SNI_LANE_FN sn_vec6 sni_lane6_vec6(sni_lane6 a) {
  return (sn_vec6){sni_lane_vec3(a.w), sni_lane_vec3(a.v)};
}
SNI_LANE_FN sni_lane6 sni_lane6_add(sni_lane6 a, sni_lane6 b) {
  return (sni_lane6){a.w + b.w, a.v + b.v};
}
SNI_LANE_FN sni_lane6 sni_lane6_addscaled(sni_lane6 a, double s, sni_lane6 b) {
  return (sni_lane6){a.w + sni_lane_all(s) * b.w, a.v + sni_lane_all(s) * b.v};
}
SNI_LANE_FN double sni_lane6_dot(sni_lane6 a, sni_lane6 b) {
  const sni_lane m = a.w * b.w + a.v * b.v;
  return m[0] + m[1] + m[2];
}

#endif
