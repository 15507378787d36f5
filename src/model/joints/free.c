/* joints/free.c: no constraint at all, in two orders.
 *
 *     free     q = (p, r)   Q = [R p]     S = ((0; R^T), (Jr; 0))
 *     free_rt  q = (r, p)   Q = [R R p]   S = ((Jr; -[p] Jr), (0; I))                [RMS 42-44]
 *
 * with R = exp([r]).  In free_rt the translation p is seen in the turned frame. */
#include "model/joint.h"

static sn_status free_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                             sn_vec6 *S0, sn_error *err) {
  (void)S0;
  (void)err;
  sni_joint_store_pose(b, def->at, &joint->data);
  return SN_OK;
}

static sn_vec3 load3(const double *x) {
  return (sn_vec3){x[0], x[1], x[2]};
}

static void free_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                      sni_joint_out out) {
  for (int k = 0; k < count; k++) {
    const sn_vec3 p = load3(q + 6 * k), r = load3(q + 6 * k + 3);
    const sn_vec3 rd = load3(qd + 6 * k + 3);
    sn_mat3 R, Jr, Jrdot;
    sn_so3_motion(r, rd, &R, &Jr, &Jrdot);
    out.E_pb[k] =
        sn_se3_mul(sni_joint_load_pose(set.pool + set.joint[first + k].data), (sn_se3){R, p});
    const sn_mat3 Rt = sn_mat3_transpose(R);
    /* d/dt R^T = -[w] R^T with w = Jr rd */
    const sn_mat3 Rtdot =
        sn_mat3_scale(sn_mat3_mul(sn_mat3_cross(sn_mat3_mul_vec(Jr, rd)), Rt), -1);
    for (int c = 0; c < 3; c++) {
      out.S[6 * k + c] = (sn_vec6){.v = sn_mat3_col(Rt, c)};
      out.S[6 * k + 3 + c] = (sn_vec6){.w = sn_mat3_col(Jr, c)};
      out.Sdot[6 * k + c] = (sn_vec6){.v = sn_mat3_col(Rtdot, c)};
      out.Sdot[6 * k + 3 + c] = (sn_vec6){.w = sn_mat3_col(Jrdot, c)};
    }
  }
}

static void free_rt_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                         sni_joint_out out) {
  for (int k = 0; k < count; k++) {
    const sn_vec3 r = load3(q + 6 * k), p = load3(q + 6 * k + 3);
    const sn_vec3 rd = load3(qd + 6 * k), pd = load3(qd + 6 * k + 3);
    sn_mat3 R, Jr, Jrdot;
    sn_so3_motion(r, rd, &R, &Jr, &Jrdot);
    out.E_pb[k] = sn_se3_mul(sni_joint_load_pose(set.pool + set.joint[first + k].data),
                             (sn_se3){R, sn_mat3_mul_vec(R, p)});
    for (int c = 0; c < 3; c++) {
      const sn_vec3 s = sn_mat3_col(Jr, c), sdot = sn_mat3_col(Jrdot, c);
      const sn_vec3 e = {c == 0, c == 1, c == 2};
      out.S[6 * k + c] = (sn_vec6){s, sn_vec3_cross(s, p)};
      out.S[6 * k + 3 + c] = (sn_vec6){.v = e};
      out.Sdot[6 * k + c] =
          (sn_vec6){sdot, sn_vec3_add(sn_vec3_cross(sdot, p), sn_vec3_cross(s, pd))};
      out.Sdot[6 * k + 3 + c] = (sn_vec6){0};
    }
  }
}

static bool free_reparam(sni_joint_set set, int j, double *q, double *qd) {
  (void)set;
  (void)j;
  return sni_joint_reparam_rotation(q + 3, qd + 3);
}

static bool free_rt_reparam(sni_joint_set set, int j, double *q, double *qd) {
  (void)set;
  (void)j;
  return sni_joint_reparam_rotation(q, qd);
}

static double free_spring(sni_joint_set set, int j, const sni_spring *spring, double *tau) {
  (void)set;
  (void)j;
  return sni_spring_plain(spring, 0, 3, tau) + sni_spring_rotation(spring, 3, tau);
}

static double free_rt_spring(sni_joint_set set, int j, const sni_spring *spring, double *tau) {
  (void)set;
  (void)j;
  return sni_spring_rotation(spring, 0, tau) + sni_spring_plain(spring, 3, 3, tau);
}

static void free_matrix(sni_joint_set set, int j, const sni_spring *spring, double h, double *out,
                        int ld) {
  (void)set;
  (void)j;
  sni_spring_plain_matrix(spring, 0, 3, h, out, ld);
  sni_spring_rotation_matrix(spring, 3, h, out, ld);
}

static void free_rt_matrix(sni_joint_set set, int j, const sni_spring *spring, double h,
                           double *out, int ld) {
  (void)set;
  (void)j;
  sni_spring_rotation_matrix(spring, 0, h, out, ld);
  sni_spring_plain_matrix(spring, 3, 3, h, out, ld);
}

static void store3(sn_vec3 a, double *x) {
  x[0] = a.x;
  x[1] = a.y;
  x[2] = a.z;
}

static bool free_from_pose(sni_joint_set set, int j, sn_se3 Q, double *q) {
  (void)set;
  (void)j;
  store3(Q.p, q);
  store3(sn_so3_log(Q.R), q + 3);
  return true;
}

static bool free_rt_from_pose(sni_joint_set set, int j, sn_se3 Q, double *q) {
  (void)set;
  (void)j;
  store3(sn_so3_log(Q.R), q);
  store3(sn_mat3_tmul_vec(Q.R, Q.p), q + 3);
  return true;
}

const sni_joint_ops sni_joint_free = {
    .kind = {"free", "moves freely: translation, then rotation; q = (x, y, z, rotation vector)",
             NULL, 0},
    .nv = 6,
    .axis_free = true,
    .slides = 3,
    .finish = free_finish,
    .calc = free_calc,
    .reparam = free_reparam,
    .spring = free_spring,
    .spring_matrix = free_matrix,
    .from_pose = free_from_pose};

const sni_joint_ops sni_joint_free_rt = {
    .kind = {"free_rt",
             "moves freely: rotation, then translation in the turned frame; q = (rotation vector, "
             "x, y, z)",
             NULL, 0},
    .nv = 6,
    .axis_free = true,
    .slides = 3,
    .slides_from = 3,
    .finish = free_finish,
    .calc = free_rt_calc,
    .reparam = free_rt_reparam,
    .spring = free_rt_spring,
    .spring_matrix = free_rt_matrix,
    .from_pose = free_rt_from_pose};
