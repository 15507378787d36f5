/* joints/translation.c: motions in a plane or in space that keep a fixed orientation, and the
 * planar joint that turns as well.
 *
 *     translation2  Q = [I (q0, q1, 0)]              S = (e4, e5)                   [RMS 25, 26]
 *     translation3  Q = [I q]                        S = (0; I)                     [RMS 27, 28]
 *     planar        Q = [Rz(q2) (q0, q1, 0)]         S = ((0; Rz^T ex), (0; Rz^T ey), (ez; 0)) */
#include "model/joint.h"

static sn_status store_pose(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint) {
  sni_joint_store_pose(b, def->at, &joint->data);
  return SN_OK;
}

static sn_status translation2_finish(sni_joint_builder *b, const sn_joint_def *def,
                                     sni_joint *joint, sn_vec6 *S0, sn_error *err) {
  (void)err;
  S0[0] = (sn_vec6){.v = {1, 0, 0}};
  S0[1] = (sn_vec6){.v = {0, 1, 0}};
  return store_pose(b, def, joint);
}

static sn_status translation3_finish(sni_joint_builder *b, const sn_joint_def *def,
                                     sni_joint *joint, sn_vec6 *S0, sn_error *err) {
  S0[2] = (sn_vec6){.v = {0, 0, 1}};
  return translation2_finish(b, def, joint, S0, err);
}

static sn_status planar_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                               sn_vec6 *S0, sn_error *err) {
  (void)S0;
  (void)err;
  return store_pose(b, def, joint);
}

static void translation2_calc(sni_joint_set set, int first, int count, const double *q,
                              const double *qd, sni_joint_out out) {
  (void)qd;
  for (int k = 0; k < count; k++) {
    const sn_se3 E0 = sni_joint_load_pose(set.pool + set.joint[first + k].data);
    out.E_pb[k] = (sn_se3){E0.R, sn_se3_point(E0, (sn_vec3){q[2 * k], q[2 * k + 1], 0})};
  }
}

static void translation3_calc(sni_joint_set set, int first, int count, const double *q,
                              const double *qd, sni_joint_out out) {
  (void)qd;
  for (int k = 0; k < count; k++) {
    const sn_se3 E0 = sni_joint_load_pose(set.pool + set.joint[first + k].data);
    out.E_pb[k] = (sn_se3){E0.R, sn_se3_point(E0, (sn_vec3){q[3 * k], q[3 * k + 1], q[3 * k + 2]})};
  }
}

static void planar_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                        sni_joint_out out) {
  for (int k = 0; k < count; k++) {
    const double s = sin(q[3 * k + 2]), c = cos(q[3 * k + 2]), w = qd[3 * k + 2];
    const sn_se3 Q = {{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}, {q[3 * k], q[3 * k + 1], 0}};
    out.E_pb[k] = sn_se3_mul(sni_joint_load_pose(set.pool + set.joint[first + k].data), Q);
    out.S[3 * k] = (sn_vec6){.v = {c, -s, 0}};
    out.S[3 * k + 1] = (sn_vec6){.v = {s, c, 0}};
    out.S[3 * k + 2] = (sn_vec6){.w = {0, 0, 1}};
    out.Sdot[3 * k] = (sn_vec6){.v = {-s * w, -c * w, 0}};
    out.Sdot[3 * k + 1] = (sn_vec6){.v = {c * w, -s * w, 0}};
    out.Sdot[3 * k + 2] = (sn_vec6){0};
  }
}

static bool translation3_from_pose(sni_joint_set set, int j, sn_se3 Q, double *q) {
  (void)set;
  (void)j;
  q[0] = Q.p.x;
  q[1] = Q.p.y;
  q[2] = Q.p.z;
  return sn_vec3_norm(sn_so3_log(Q.R)) < 1e-9; /* no rotation but for rounding */
}

const sni_joint_ops sni_joint_translation2 = {
    .kind = {"translation2", "slides in the x-y plane without turning; q = (x, y)", NULL, 0},
    .nv = 2,
    .constant_S = true,
    .slides = 2,
    .finish = translation2_finish,
    .calc = translation2_calc};

const sni_joint_ops sni_joint_translation3 = {
    .kind = {"translation3", "any translation, no rotation; q = (x, y, z)", NULL, 0},
    .nv = 3,
    .constant_S = true,
    .slides = 3,
    .axis_free = true,
    .finish = translation3_finish,
    .calc = translation3_calc,
    .from_pose = translation3_from_pose};

const sni_joint_ops sni_joint_planar = {
    .kind = {"planar", "slides in the x-y plane and turns about z; q = (x, y, angle)", NULL, 0},
    .nv = 3,
    .slides = 2,
    .finish = planar_finish,
    .calc = planar_calc};
