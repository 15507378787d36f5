/* joints/screw.c: rotation about, and translation along, one unit axis a: tied in a screw, free of
 * each other in a cylindrical joint.
 *
 *     screw        Q(q) = [exp([a] q)  a h q]          S = (a; h a)
 *     cylindrical  Q(q0, q1) = [exp([a] q0)  a q1]     S = ((a; 0), (0; a))
 *
 * with the pitch h, the advance for one radian.
 * S is constant in both: the rotation leaves a fixed. */
#include "model/joint.h"

typedef struct screw_data {
  sn_se3 E0;
  sn_vec3 a;
  double pitch;
} screw_data;

static sn_status store(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                       sn_vec3 *axis, sn_error *err) {
  const sn_status status = sni_joint_axis(def, axis, err);
  if (status) {
    return status;
  }
  screw_data *d = (screw_data *)sni_joint_pool(b, sizeof *d / sizeof(double), &joint->data);
  if (!d) {
    return SN_E_MEMORY;
  }
  *d = (screw_data){def->at, *axis, def->pitch};
  return SN_OK;
}

static sn_status screw_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                              sn_vec6 *S0, sn_error *err) {
  if (!isfinite(def->pitch)) {
    return sni_fail_key(err, "pitch", "is %g, needs a finite number", def->pitch);
  }
  sn_vec3 a;
  const sn_status status = store(b, def, joint, &a, err);
  if (status == SN_OK) {
    S0[0] = (sn_vec6){.w = a, .v = sn_vec3_scale(a, def->pitch)};
  }
  return status;
}

static sn_status cylindrical_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                    sn_vec6 *S0, sn_error *err) {
  sn_vec3 a;
  const sn_status status = store(b, def, joint, &a, err);
  if (status == SN_OK) {
    S0[0] = (sn_vec6){.w = a};
    S0[1] = (sn_vec6){.v = a};
  }
  return status;
}

static sn_se3 place(const screw_data *d, double angle, double slide) {
  return sn_se3_mul(d->E0, (sn_se3){sn_mat3_axis_angle(d->a, angle), sn_vec3_scale(d->a, slide)});
}

static void screw_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                       sni_joint_out out) {
  (void)qd;
  for (int k = 0; k < count; k++) {
    const screw_data *d = (const screw_data *)(set.pool + set.joint[first + k].data);
    out.E_pb[k] = place(d, q[k], d->pitch * q[k]);
  }
}

static void cylindrical_calc(sni_joint_set set, int first, int count, const double *q,
                             const double *qd, sni_joint_out out) {
  (void)qd;
  for (int k = 0; k < count; k++) {
    const screw_data *d = (const screw_data *)(set.pool + set.joint[first + k].data);
    out.E_pb[k] = place(d, q[2 * k], q[2 * k + 1]);
  }
}

/* Where it is along its axis tells which turn it is. */
static void screw_range(sni_joint_set set, int j, double far, sni_range *out) {
  (void)far;
  out->pitch = ((const screw_data *)(set.pool + set.joint[j].data))->pitch;
}

static void cylindrical_range(sni_joint_set set, int j, double far, sni_range *out) {
  (void)set;
  (void)j;
  out[1] = sni_range_of_slide(far);
}

static const sni_field screw_field[] = {SNI_FIELD_AXIS,
                                        {.key = "pitch",
                                         .type = SNI_F_NUMBER,
                                         .flags = SNI_REQUIRED,
                                         .offset = offsetof(sn_joint_def, pitch),
                                         .unit = "m/rad",
                                         .doc = "advance along the axis for one radian of turn"}};
static void cylindrical_bear(sni_bearing_builder *b, const sn_joint_def *def) {
  sni_bearing_pin(b, &def->friction, def->axis, true);
}

static const sni_field cylindrical_field[] = {SNI_FIELD_AXIS};

const sni_joint_ops sni_joint_screw = {.kind = {"screw",
                                                "a thread: turns and advances together; q = angle",
                                                screw_field, SNI_COUNT(screw_field)},
                                       .nv = 1,
                                       .constant_S = true,
                                       .finish = screw_finish,
                                       .calc = screw_calc,
                                       .range = screw_range};

const sni_joint_ops sni_joint_cylindrical = {
    .kind = {"cylindrical", "turns about an axis and slides along it; q = (angle, distance)",
             cylindrical_field, SNI_COUNT(cylindrical_field)},
    .nv = 2,
    .constant_S = true,
    .finish = cylindrical_finish,
    .calc = cylindrical_calc,
    .range = cylindrical_range,
    .bear = cylindrical_bear,
    .rub_needs = SNI_NEEDS_RADIUS | SNI_NEEDS_LENGTH};
