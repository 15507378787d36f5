/* joints/universal.c: bends about x, then about y, without twist.
 *
 *     Q = Rx(q0) Ry(q1)     S_w = ((c1, 0, s1), (0, 1, 0))                       [RMS 32, 34, 35]
 *
 * Never singular: the columns are orthogonal for every q. */
#include "model/joint.h"

static sn_status universal_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                  sn_vec6 *S0, sn_error *err) {
  (void)S0;
  (void)err;
  sni_joint_store_pose(b, def->at, &joint->data);
  return SN_OK;
}

static void universal_calc(sni_joint_set set, int first, int count, const double *q,
                           const double *qd, sni_joint_out out) {
  for (int k = 0; k < count; k++) {
    const double s0 = sin(q[2 * k]), c0 = cos(q[2 * k]);
    const double s1 = sin(q[2 * k + 1]), c1 = cos(q[2 * k + 1]);
    const sn_mat3 R = {{{c1, 0, s1}, {s0 * s1, c0, -s0 * c1}, {-c0 * s1, s0, c0 * c1}}};
    const sn_se3 E0 = sni_joint_load_pose(set.pool + set.joint[first + k].data);
    out.E_pb[k] = (sn_se3){sn_mat3_mul(E0.R, R), E0.p};
    out.S[2 * k] = (sn_vec6){.w = {c1, 0, s1}};
    out.S[2 * k + 1] = (sn_vec6){.w = {0, 1, 0}};
    const double rate = qd[2 * k + 1];
    out.Sdot[2 * k] = (sn_vec6){.w = {-s1 * rate, 0, c1 * rate}};
    out.Sdot[2 * k + 1] = (sn_vec6){0};
  }
}

/* Two pins on a cross, alike: about its x in the parent, about its y in the body. */
static void universal_bear(sni_bearing_builder *b, const sn_joint_def *def) {
  sni_bearing_pin(b, &def->friction, (sn_vec3){1, 0, 0}, false);
  sni_bearing_pin(b, &def->friction, (sn_vec3){0, 1, 0}, false);
}

static sn_mat3 universal_axes(const double *q) {
  const double s = sin(q[1]), c = cos(q[1]);
  return (sn_mat3){{{c, 0, -s}, {0, 1, 0}, {s, 0, c}}};
}

const sni_joint_ops sni_joint_universal = {
    .kind = {"universal", "bends about x, then about y, no twist about z; q = (angle, angle)", NULL,
             0},
    .nv = 2,
    .finish = universal_finish,
    .calc = universal_calc,
    .bear = universal_bear,
    .rub_needs = SNI_NEEDS_RADIUS | SNI_NEEDS_LENGTH,
    .bearing_axes = universal_axes};
