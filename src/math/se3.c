/* se3.c: exponential of poses. */
#include "math/se3.h"

/* Translation part: p = (I + a [w] + b [w]^2) v, which is Jr(-w) v. */
sn_se3 sn_se3_exp(sn_vec6 xi) {
  return (sn_se3){.R = sn_so3_exp(xi.w),
                  .p = sn_mat3_mul_vec(sn_so3_jacobian(sn_vec3_neg(xi.w)), xi.v)};
}
