/* joints/spline_curve.c: one coordinate along a smooth curve of poses, a cumulative cubic B-spline
 * through control frames C_i.
 *
 *     Q(q) = C_k exp(d_k+1 Bt_2(u)) exp(d_k+2 Bt_3(u)) exp(d_k+3 Bt_4(u))           [RMS 56-59]
 *     d_i = log(C_i-1^-1 C_i),  k = floor(q),  u = q - k
 *
 * S and dS/dq by the recursion of [RMS Alg 4], whose line 10 needs Bt' and the S of before line 9.
 * Cyclic: period n for n frames.  Open: n - 3 segments, 0 <= q <= n - 3; beyond the ends the last
 * cubic goes on. */
#include "model/joint.h"
#include "model/joints/spline.h"

#include <string.h>

/* In the pool: E_pb0, the number of frames, cyclic (0 or 1), then frames and differences. */
typedef struct curve_data {
  sn_se3 E0;
  double n, cyclic;
} curve_data;
typedef struct curve_frame {
  sn_se3 C;
  sn_vec6 d; /* log of the step that leads here */
} curve_frame;

static sn_status curve_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                              sn_vec6 *S0, sn_error *err) {
  (void)S0;
  const int n = def->nframe, least = def->cyclic ? 2 : 4;
  if (n < least) {
    return sni_fail_key(err, "frames", "has %d frames, needs at least %d", n, least);
  }
  if (n > 1000000) {
    return sni_fail_key(err, "frames", "has %d frames, at most 1000000 are possible", n);
  }
  const int head = sizeof(curve_data) / sizeof(double), each = sizeof(curve_frame) / sizeof(double);
  double *at = sni_joint_pool(b, head + n * each, &joint->data);
  if (!at) {
    return SN_E_MEMORY;
  }
  *(curve_data *)at = (curve_data){def->at, n, def->cyclic};
  curve_frame *frame = (curve_frame *)(at + head);
  for (int i = 0; i < n; i++) {
    if (!sn_se3_is_pose(def->frames[i])) {
      return sni_fail_key(err, "frames",
                          "frame %d is not a pose: needs finite numbers and a rotation", i);
    }
  }
  for (int i = 0; i < n; i++) {
    frame[i].C = def->frames[i];
    const sn_se3 before = def->frames[i > 0 ? i - 1 : n - 1];
    frame[i].d = sn_se3_log(sn_se3_mul(sn_se3_inverse(before), def->frames[i]));
    if ((i > 0 || def->cyclic) && sn_vec3_norm(frame[i].d.w) > SN_PI - 1e-3) {
      return sni_fail_key(err, "frames",
                          "frame %d is half a turn away from the one before, and both ways "
                          "round are as near: put a frame between them",
                          i);
    }
  }
  return SN_OK;
}

static void curve_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                       sni_joint_out out) {
  for (int j = 0; j < count; j++) {
    const double *at = set.pool + set.joint[first + j].data;
    const curve_data *data = (const curve_data *)at;
    const curve_frame *frame = (const curve_frame *)(at + sizeof *data / sizeof(double));
    const int n = (int)data->n;
    double u;
    const int k =
        data->cyclic != 0 ? sni_cyclic_segment(q[j], n, &u) : sni_open_segment(q[j], n - 3, &u);
    const sni_basis b = sni_basis_calc(u);
    sn_se3 Q = frame[k].C;
    sn_vec6 S = {0}, H = {0};
    for (int i = 1; i < 4; i++) {
      /* cumulative basis: the sum of the basis functions from i on */
      double B = 0, dB = 0, ddB = 0;
      for (int l = i; l < 4; l++) {
        B += b.B[l];
        dB += b.dB[l];
        ddB += b.ddB[l];
      }
      const sn_vec6 d = frame[(k + i) % n].d;
      const sn_se3 step = sn_se3_exp(sn_vec6_scale(d, B));
      const sn_vec6 turned = sn_vec6_addscaled(H, dB, sn_ad_mul(S, d));
      H = sn_vec6_addscaled(sn_Adinv_mul(step, turned), ddB, d);
      S = sn_vec6_addscaled(sn_Adinv_mul(step, S), dB, d);
      Q = sn_se3_mul(Q, step);
    }
    out.E_pb[j] = sn_se3_mul(data->E0, Q);
    out.S[j] = S;
    out.Sdot[j] = sn_vec6_scale(H, qd[j]);
  }
}

static void curve_range(sni_joint_set set, int j, double far, sni_range *out) {
  (void)far;
  const curve_data *data = (const curve_data *)(set.pool + set.joint[j].data);
  *out = (sni_range){.hi = data->cyclic != 0 ? data->n : data->n - 3, .stride = 1};
}

static const sni_field curve_field[] = {
    {.key = "frames",
     .type = SNI_F_FRAMES,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_joint_def, frames),
     .offset2 = offsetof(sn_joint_def, nframe),
     .unit = "m, rad",
     .doc = "control poses in the joint's frame; the curve passes near them"},
    {.key = "cyclic",
     .type = SNI_F_BOOL,
     .offset = offsetof(sn_joint_def, cyclic),
     .doc = "true: the curve closes on itself"}};

const sni_joint_ops sni_joint_spline_curve = {
    .kind = {"spline_curve", "one coordinate along a smooth curve of poses; q = 1 a frame",
             curve_field, SNI_COUNT(curve_field)},
    .nv = 1,
    .finish = curve_finish,
    .calc = curve_calc,
    .range = curve_range};
