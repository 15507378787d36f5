/* joints/revolute.c: one rotation about a fixed unit axis a.
 *
 *     Q(q) = exp([a] q)     S = (a; 0)     Sdot = 0                                  [RMS 29, 30]
 *
 * S is constant because Q leaves a fixed.  q is not wrapped to (-pi, pi]: a spring wound twice is
 * not at rest, and a limit of 3 pi is legal.
 *
 * With Q = a a^T + cos q (I - a a^T) + sin q [a] the rotation R_pb0 Q is a sum of three constant
 * matrices, kept in the pool: 18 multiplications instead of 54. */
#include "math/sincos.h"
#include "model/joint.h"

typedef struct revolute_data {
  sn_mat3 X0, X1, X2; /* R_pb0 (a a^T), R_pb0 (I - a a^T), R_pb0 [a] */
  sn_vec3 p;
} revolute_data;

static sn_status revolute_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                 sn_vec6 *S0, sn_error *err) {
  sn_vec3 a;
  const sn_status status = sni_joint_axis(def, &a, err);
  if (status) {
    return status;
  }
  revolute_data *d = (revolute_data *)sni_joint_pool(b, sizeof *d / sizeof(double), &joint->data);
  if (!d) {
    return SN_E_MEMORY;
  }
  const sn_mat3 across = sn_mat3_scale(sn_mat3_cross2(a), -1); /* I - a a^T, since |a| = 1 */
  d->X1 = sn_mat3_mul(def->at.R, across);
  d->X0 = sn_mat3_add(def->at.R, sn_mat3_scale(d->X1, -1));
  d->X2 = sn_mat3_mul(def->at.R, sn_mat3_cross(a));
  d->p = def->at.p;
  S0[0] = (sn_vec6){.w = a};
  return SN_OK;
}

static void turn(const revolute_data *d, double s, double c, sn_se3 *E) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      E->R.m[i][j] = d->X0.m[i][j] + c * d->X1.m[i][j] + s * d->X2.m[i][j];
    }
  }
  E->p = d->p;
}

static void revolute_calc(sni_joint_set set, int first, int count, const double *q,
                          const double *qd, sni_joint_out out) {
  (void)qd;
  double s[SNI_RUN_MAX], c[SNI_RUN_MAX];
  sni_sincos(count, q, s, c);
  for (int k = 0; k < count; k++) {
    const revolute_data *d = (const revolute_data *)(set.pool + set.joint[first + k].data);
    turn(d, s[k], c[k], &out.E_pb[k]);
  }
}

/* tr(X1^T X) and tr(X2^T X): the cosine and the sine of the angle of X about the axis, twice where
 * X turns about nothing else. */
static void angle_of(const revolute_data *d, const sn_mat3 *X, double *cosine, double *sine) {
  double along = 0, across = 0;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      along += d->X1.m[i][k] * X->m[i][k];
      across += d->X2.m[i][k] * X->m[i][k];
    }
  }
  *cosine = along;
  *sine = across;
}

static void revolute_nearest(sni_joint_set set, int j, const sn_se3 *X, sn_se3 *Q) {
  const revolute_data *d = (const revolute_data *)(set.pool + set.joint[j].data);
  double along, across;
  angle_of(d, &X->R, &along, &across);
  const double length = sqrt(along * along + across * across), unit = length > 0 ? 1 / length : 0;
  turn(d, across * unit, length > 0 ? along * unit : 1, Q);
}

static void revolute_approach(sni_joint_set set, int j, const sn_se3 *X, double *q) {
  const revolute_data *d = (const revolute_data *)(set.pool + set.joint[j].data);
  double s, c, along, across;
  angle_of(d, &X->R, &along, &across);
  sni_sincos(1, q, &s, &c);
  const double sine = across * c - along * s, cosine = along * c + across * s;
  const double x = sine / cosine, z = x * x;
  const bool near = cosine > 0 && z < 1e-4; /* the first term left out is 1e-19 */
  const double way =
      near ? x * (1 + z * (-1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7)))) : atan2(sine, cosine);
  if (fabs(way) > 1e-15 * fmax(1, fabs(*q))) {
    *q += way;
  }
}

static void revolute_bear(sni_bearing_builder *b, const sn_joint_def *def) {
  sni_bearing_pin(b, &def->friction, def->axis, false);
}

static const sni_field revolute_field[] = {SNI_FIELD_AXIS};

const sni_joint_ops sni_joint_revolute = {.kind = {"revolute",
                                                   "a hinge: one rotation about an axis; q = angle",
                                                   revolute_field, SNI_COUNT(revolute_field)},
                                          .nv = 1,
                                          .constant_S = true,
                                          .finish = revolute_finish,
                                          .calc = revolute_calc,
                                          .approach = revolute_approach,
                                          .nearest = revolute_nearest,
                                          .bear = revolute_bear,
                                          .rub_needs = SNI_NEEDS_RADIUS | SNI_NEEDS_LENGTH};
