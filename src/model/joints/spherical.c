/* joints/spherical.c: any rotation, in exponential coordinates (a rotation vector).
 *
 *     Q = exp([q])     S_w = Jr(q)     Sdot_w = d Jr/dt                              [RMS 36-41]
 *
 * det S vanishes at |q| = 2 pi: coordinates are replaced beyond 1.5 pi.  At q = 0 dS/dt is
 * -[qd]/2, not zero as the supplement has it. */
#include "model/joint.h"

static sn_status spherical_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                  sn_vec6 *S0, sn_error *err) {
  (void)err;
  for (int k = 0; k < 3; k++) {
    S0[k] = (sn_vec6){.w = {k == 0, k == 1, k == 2}};
  }
  sni_joint_store_pose(b, def->at, &joint->data);
  return SN_OK;
}

static void spherical_calc(sni_joint_set set, int first, int count, const double *q,
                           const double *qd, sni_joint_out out) {
  for (int k = 0; k < count; k++) {
    const sn_vec3 r = {q[3 * k], q[3 * k + 1], q[3 * k + 2]};
    const sn_vec3 rd = {qd[3 * k], qd[3 * k + 1], qd[3 * k + 2]};
    const sn_se3 E0 = sni_joint_load_pose(set.pool + set.joint[first + k].data);
    sn_mat3 R, S, Sdot;
    sn_so3_motion(r, rd, &R, &S, &Sdot);
    out.E_pb[k] = (sn_se3){sn_mat3_mul(E0.R, R), E0.p};
    for (int c = 0; c < 3; c++) {
      out.S[3 * k + c] = (sn_vec6){.w = sn_mat3_col(S, c)};
      out.Sdot[3 * k + c] = (sn_vec6){.w = sn_mat3_col(Sdot, c)};
    }
  }
}

static bool spherical_reparam(sni_joint_set set, int j, double *q, double *qd) {
  (void)set;
  (void)j;
  return sni_joint_reparam_rotation(q, qd);
}

static double spherical_spring(sni_joint_set set, int j, const sni_spring *spring, double *tau) {
  (void)set;
  (void)j;
  return sni_spring_rotation(spring, 0, tau);
}

static void spherical_matrix(sni_joint_set set, int j, const sni_spring *spring, double h,
                             double *out, int ld) {
  (void)set;
  (void)j;
  sni_spring_rotation_matrix(spring, 0, h, out, ld);
}

static bool spherical_from_pose(sni_joint_set set, int j, sn_se3 Q, double *q) {
  (void)set;
  (void)j;
  const sn_vec3 r = sn_so3_log(Q.R);
  q[0] = r.x;
  q[1] = r.y;
  q[2] = r.z;
  return sn_vec3_norm(Q.p) == 0;
}

static void spherical_nearest(sni_joint_set set, int j, const sn_se3 *X, sn_se3 *Q) {
  *Q = (sn_se3){X->R, sni_joint_load_pose(set.pool + set.joint[j].data).p};
}

/* Of the vectors of that rotation, whole turns apart, the one next to q. */
static void spherical_approach(sni_joint_set set, int j, const sn_se3 *X, double *q) {
  const sn_mat3 R0 = sni_joint_load_pose(set.pool + set.joint[j].data).R;
  const sn_vec3 was = {q[0], q[1], q[2]};
  const sn_vec3 way = sn_vec3_sub(sni_so3_log_near(sn_mat3_tmul(R0, X->R), was), was);
  if (sn_vec3_norm(way) > 1e-15 * fmax(1, sn_vec3_norm(was))) {
    q[0] += way.x;
    q[1] += way.y;
    q[2] += way.z;
  }
}

static void spherical_bear(sni_bearing_builder *b, const sn_joint_def *def) {
  sni_bearing_ball(b, &def->friction);
}

const sni_joint_ops sni_joint_spherical = {
    .kind = {"spherical", "a ball: any rotation; q = rotation vector", NULL, 0},
    .nv = 3,
    .constant_span = true,
    .axis_free = true,
    .finish = spherical_finish,
    .calc = spherical_calc,
    .reparam = spherical_reparam,
    .spring = spherical_spring,
    .spring_matrix = spherical_matrix,
    .approach = spherical_approach,
    .nearest = spherical_nearest,
    .from_pose = spherical_from_pose,
    .bear = spherical_bear,
    .rub_needs = SNI_NEEDS_RADIUS};
