/* joints/prismatic.c: one translation along a fixed unit axis a.
 *
 *     Q(q) = [I  a q]     S = (0; a)     Sdot = 0 */
#include "model/joint.h"

typedef struct prismatic_data {
  sn_mat3 R;    /* R_pb0                          */
  sn_vec3 p, a; /* origin and axis in the parent  */
} prismatic_data;

static sn_status prismatic_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                  sn_vec6 *S0, sn_error *err) {
  sn_vec3 a;
  const sn_status status = sni_joint_axis(def, &a, err);
  if (status) {
    return status;
  }
  prismatic_data *d = (prismatic_data *)sni_joint_pool(b, sizeof *d / sizeof(double), &joint->data);
  if (!d) {
    return SN_E_MEMORY;
  }
  d->R = def->at.R;
  d->p = def->at.p;
  d->a = sn_mat3_mul_vec(def->at.R, a);
  S0[0] = (sn_vec6){.v = a};
  return SN_OK;
}

static void prismatic_calc(sni_joint_set set, int first, int count, const double *q,
                           const double *qd, sni_joint_out out) {
  (void)qd;
  for (int k = 0; k < count; k++) {
    const prismatic_data *d = (const prismatic_data *)(set.pool + set.joint[first + k].data);
    out.E_pb[k] = (sn_se3){d->R, sn_vec3_addscaled(d->p, q[k], d->a)};
  }
}

static void prismatic_range(sni_joint_set set, int j, double far, sni_range *out) {
  (void)set;
  (void)j;
  *out = sni_range_of_slide(far);
}

static void prismatic_bear(sni_bearing_builder *b, const sn_joint_def *def) {
  sni_bearing_slider(b, &def->friction, def->axis);
}

static const sni_field prismatic_field[] = {SNI_FIELD_AXIS};

const sni_joint_ops sni_joint_prismatic = {
    .kind = {"prismatic", "a slider: one translation along an axis; q = distance", prismatic_field,
             SNI_COUNT(prismatic_field)},
    .nv = 1,
    .constant_S = true,
    .finish = prismatic_finish,
    .calc = prismatic_calc,
    .range = prismatic_range,
    .bear = prismatic_bear,
    .rub_needs = SNI_NEEDS_SIZE};
