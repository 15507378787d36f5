/* se3.c: exponential and logarithm of poses. */
#include "math/se3.h"

/* Translation part: p = (I + a [w] + b [w]^2) v, which is Jr(-w) v. */
sn_se3 sn_se3_exp(sn_vec6 xi) {
  return (sn_se3){.R = sn_so3_exp(xi.w),
                  .p = sn_mat3_mul_vec(sn_so3_jacobian(sn_vec3_neg(xi.w)), xi.v)};
}

sn_vec6 sn_se3_log(sn_se3 E) {
  const sn_vec3 w = sn_so3_log(E.R);
  return (sn_vec6){w, sn_so3_jacobian_inverse_mul(sn_vec3_neg(w), E.p)};
}
