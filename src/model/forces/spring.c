/* forces/spring.c: a spring and damper between two points.
 *
 *     tension = k (l - L) + d dl/dt,  along n = (x_b - x_a)/l;  V = k (l - L)^2 / 2     [RM 2]
 *
 * With L = 0 the pull is k (x_b - x_a), which needs no direction. */
#include "model/force.h"

enum { STIFFNESS, DAMPING, REST_LENGTH };

static void spring_finish(sni_force_builder *b, const sn_force_def *def, sni_force *force,
                          double *param) {
  force->body[0] = b->body(b, "a.body", def->a.body);
  force->body[1] = b->body(b, "b.body", def->b.body);
  force->at[0] = def->a.at.p;
  force->at[1] = def->b.at.p;
  const sn_vec3 apart = sn_vec3_sub(def->b.at.p, def->a.at.p);
  if (force->body[0] == force->body[1]) {
    b->fail(b, "b",
            "is fixed to the same body as a, %g apart: needs two bodies that can move "
            "against each other",
            sn_vec3_norm(apart));
  }
  param[STIFFNESS] = def->stiffness;
  param[DAMPING] = def->damping;
  param[REST_LENGTH] = def->rest_length;
}

static void spring_settle(const sni_force *force, const sn_se3 *E_wb, double *param) {
  if (param[REST_LENGTH] < 0) {
    param[REST_LENGTH] =
        sn_vec3_norm(sn_vec3_sub(sni_force_point(E_wb, force->body[1], force->at[1]),
                                 sni_force_point(E_wb, force->body[0], force->at[0])));
  }
}

static void spring_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  const sn_vec3 xa = sni_force_point(e->E_wb, f->body[0], f->at[0]);
  const sn_vec3 xb = sni_force_point(e->E_wb, f->body[1], f->at[1]);
  const sn_vec3 dx = sn_vec3_sub(xb, xa);
  const sn_vec3 dv =
      sn_vec3_sub(sni_force_velocity(e, f->body[1], xb), sni_force_velocity(e, f->body[0], xa));
  const double l = sn_vec3_norm(dx);
  sn_vec3 pull; /* on a */
  if (param[REST_LENGTH] == 0) {
    pull = sn_vec3_addscaled(sn_vec3_scale(dx, param[STIFFNESS]), param[DAMPING], dv);
  } else if (l > 0) {
    const sn_vec3 n = sn_vec3_scale(dx, 1 / l);
    pull = sn_vec3_scale(n, param[STIFFNESS] * (l - param[REST_LENGTH]) +
                                param[DAMPING] * sn_vec3_dot(n, dv));
  } else {
    return; /* squeezed to a point: no direction is better than another */
  }
  sni_force_push(e, f->body[0], xa, pull);
  sni_force_push(e, f->body[1], xb, sn_vec3_neg(pull));
}

static double spring_potential(const sni_force_eval *e, const sni_force *f, const double *param) {
  const double l = sn_vec3_norm(sn_vec3_sub(sni_force_point(e->E_wb, f->body[1], f->at[1]),
                                            sni_force_point(e->E_wb, f->body[0], f->at[0])));
  return 0.5 * param[STIFFNESS] * (l - param[REST_LENGTH]) * (l - param[REST_LENGTH]);
}

static const sni_field spring_field[] = {
    {.key = "a",
     .type = SNI_F_POINT,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, a),
     .unit = "m",
     .doc = "one end: a body and a point on it"},
    {.key = "b",
     .type = SNI_F_POINT,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, b),
     .unit = "m",
     .doc = "the other end"},
    {.key = "stiffness",
     .type = SNI_F_NUMBER,
     .flags = SNI_REQUIRED | SNI_NOT_NEGATIVE | SNI_TUNABLE,
     .offset = offsetof(sn_force_def, stiffness),
     .unit = "N/m",
     .doc = "tension for each unit of stretch"},
    {.key = "damping",
     .type = SNI_F_NUMBER,
     .flags = SNI_NOT_NEGATIVE | SNI_TUNABLE,
     .offset = offsetof(sn_force_def, damping),
     .unit = "N s/m",
     .doc = "tension for each unit of stretching rate"},
    {.key = "rest_length",
     .type = SNI_F_NUMBER,
     .flags = SNI_NOT_NEGATIVE | SNI_TUNABLE,
     .offset = offsetof(sn_force_def, rest_length),
     .unit = "m",
     .doc = "length without tension; default: the length in the initial pose"}};

static const char *const spring_param[] = {"stiffness", "damping", "rest_length"};

const sni_force_ops sni_force_spring = {.kind = {"spring", "a spring and damper between two points",
                                                 spring_field, SNI_COUNT(spring_field)},
                                        .nparam = 3,
                                        .param_key = spring_param,
                                        .finish = spring_finish,
                                        .settle = spring_settle,
                                        .apply = spring_apply,
                                        .potential = spring_potential};
