/* poses.h: random vectors and poses for tests of the group of motions. */
#ifndef TESTS_POSES_H
#define TESTS_POSES_H

#include "test.h"

#include "math/se3.h"

static inline sn_vec3 random_vec3(uint64_t *seed, double lo, double hi) {
  const double x = test_random(seed, lo, hi), y = test_random(seed, lo, hi);
  return (sn_vec3){x, y, test_random(seed, lo, hi)};
}

static inline sn_vec6 random_vec6(uint64_t *seed, double lo, double hi) {
  const sn_vec3 w = random_vec3(seed, lo, hi);
  return (sn_vec6){w, random_vec3(seed, lo, hi)};
}

static inline sn_vec3 random_direction(uint64_t *seed) {
  for (;;) {
    const sn_vec3 a = random_vec3(seed, -1, 1);
    const double n = sn_vec3_norm(a);
    if (n > 0.1 && n < 1) {
      return sn_vec3_scale(a, 1 / n);
    }
  }
}

static inline sn_se3 random_pose(uint64_t *seed) {
  const sn_mat3 R = sn_so3_exp(random_vec3(seed, -2, 2));
  return (sn_se3){R, random_vec3(seed, -3, 3)};
}

#endif
