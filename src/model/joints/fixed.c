/* joints/fixed.c: no motion at all.
 *
 *     Q = I     S is 6 x 0 */
#include "model/joint.h"

static sn_status fixed_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                              sn_vec6 *S0, sn_error *err) {
  (void)S0;
  (void)err;
  sni_joint_store_pose(b, def->at, &joint->data);
  return SN_OK;
}

static void fixed_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                       sni_joint_out out) {
  (void)q;
  (void)qd;
  for (int k = 0; k < count; k++) {
    out.E_pb[k] = sni_joint_load_pose(set.pool + set.joint[first + k].data);
  }
}

static bool fixed_from_pose(sni_joint_set set, int j, sn_se3 Q, double *q) {
  (void)set;
  (void)j;
  (void)Q;
  (void)q;
  return false;
}

const sni_joint_ops sni_joint_fixed = {.kind = {"fixed", "welded to the parent", NULL, 0},
                                       .nv = 0,
                                       .constant_S = true,
                                       .finish = fixed_finish,
                                       .calc = fixed_calc,
                                       .from_pose = fixed_from_pose};
