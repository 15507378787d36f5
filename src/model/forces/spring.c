/* forces/spring.c: a spring and damper between two points.
 *
 *     tension = k (l - L) + d dl/dt,  along n = (x_b - x_a)/l;  V = k (l - L)^2 / 2     [RM 2]
 *
 * With L = 0 the pull is k (x_b - x_a), which needs no direction. */
#include "model/forces/line.h"

enum { TERMS = 3 + 2 * (SNI_LEVER_TERMS + SNI_TURNING_TERMS) }; /* at most */

static void spring_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                          double *param) {
  force->nterm = TERMS;
  force->npair = 1;
  force->body[0] = b->body(b, "a.body", def->a.body);
  force->body[1] = b->body(b, "b.body", def->b.body);
  force->at[0] = def->a.at.p;
  force->at[1] = def->b.at.p;
  if (force->body[0] == force->body[1] && force->body[0] != -2) {
    b->fail(b, "b", "is fixed to the same body as a: needs two that can move against each other");
  }
  b->point(b, "a.at", def->a.at.p);
  b->point(b, "b.at", def->b.at.p);
  sni_line_finish(b, def, force, param);
}

static double length_of(const sni_force *force, const sn_se3 *E_wb) {
  return sn_vec3_norm(sn_vec3_sub(sni_force_point(E_wb, force->body[1], force->at[1]),
                                  sni_force_point(E_wb, force->body[0], force->at[0])));
}

static void spring_settle(const sni_force *force, const sn_se3 *E_wb, double *param) {
  if (param[SNI_LINE_REST_LENGTH] < 0) {
    param[SNI_LINE_REST_LENGTH] = length_of(force, E_wb);
  }
}

static bool spring_squeezed(const sni_force *force, const sn_se3 *E_wb, const double *param) {
  return length_of(force, E_wb) < SNI_LINE_SQUEEZED * param[SNI_LINE_REST_LENGTH];
}

static void spring_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  const sn_vec3 xa = sni_force_point(e->E_wb, f->body[0], f->at[0]);
  const sn_vec3 xb = sni_force_point(e->E_wb, f->body[1], f->at[1]);
  const sn_vec3 dx = sn_vec3_sub(xb, xa);
  const sn_vec3 dv =
      sn_vec3_sub(sni_force_velocity(e, f->body[1], xb), sni_force_velocity(e, f->body[0], xa));
  const double l = sn_vec3_norm(dx), damping = e->without_damping ? 0 : param[SNI_LINE_DAMPING];
  sn_vec3 pull; /* on a */
  if (param[SNI_LINE_REST_LENGTH] == 0) {
    pull = sn_vec3_addscaled(sn_vec3_scale(dx, param[SNI_LINE_STIFFNESS]), damping, dv);
  } else if (l > 0) {
    const sn_vec3 n = sn_vec3_scale(dx, 1 / l);
    pull = sn_vec3_scale(n, param[SNI_LINE_STIFFNESS] * (l - param[SNI_LINE_REST_LENGTH]) +
                                damping * sn_vec3_dot(n, dv));
  } else {
    return; /* squeezed to a point: no direction is better than another */
  }
  sni_force_push(e, f->body[0], xa, pull);
  sni_force_push(e, f->body[1], xb, sn_vec3_neg(pull));
}

/* With arms r_a, r_b from the bodies' origins to the ends and dx = x_b - x_a, the rate of dx along
 * e is p . (phi_a; phi_b), p = (-row(r_a, e); row(r_b, e)).  What else there is: line.h. */
static int spring_tangent(const sni_force_eval *e, const sni_force *f, const double *param,
                          sni_tangent tangent, sni_term *term) {
  int n = 0;
  const sn_vec3 xa = sni_force_point(e->E_wb, f->body[0], f->at[0]);
  const sn_vec3 xb = sni_force_point(e->E_wb, f->body[1], f->at[1]);
  const sn_vec3 zero = {0}, dx = sn_vec3_sub(xb, xa);
  const sn_vec3 ra = f->body[0] < 0 ? zero : sn_vec3_sub(xa, e->E_wb[f->body[0]].p);
  const sn_vec3 rb = f->body[1] < 0 ? zero : sn_vec3_sub(xb, e->E_wb[f->body[1]].p);
  const double k = param[SNI_LINE_STIFFNESS], l = sn_vec3_norm(dx);
  const bool zero_length = param[SNI_LINE_REST_LENGTH] == 0;
  if (!zero_length && !(l > 0)) {
    return 0;
  }
  sn_vec3 direction[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (!zero_length) {
    direction[0] = sn_vec3_scale(dx, 1 / l);
    sni_line_across(direction[0], direction + 1);
  }
  const double T = k * (l - param[SNI_LINE_REST_LENGTH]);
  for (int c = 0; c < 3; c++) {
    sni_term add = {
        .p = {sni_line_row(ra, sn_vec3_neg(direction[c])), sni_line_row(rb, direction[c])},
        .body = {f->body[0], f->body[1]}};
    if (zero_length || c == 0) {
      add.k = sni_line_stiffness(param, tangent);
      add.d = param[SNI_LINE_DAMPING];
    } else if (tangent != SNI_TANGENT_MATERIAL) {
      add.part = SNI_PART_ACROSS;
      add.k = tangent == SNI_TANGENT_CLAMPED ? fmax(T / l, 0) : T / l;
    }
    sni_line_term(term, &n, add);
  }
  const sn_vec3 pull = zero_length ? sn_vec3_scale(dx, k) : sn_vec3_scale(direction[0], T);
  const sn_vec3 arm[2] = {ra, rb}, force[2] = {pull, sn_vec3_neg(pull)};
  for (int side = 0; tangent != SNI_TANGENT_MATERIAL && side < 2; side++) {
    sni_line_levers(f->body[side], arm[side], force[side], term, &n);
    if (tangent == SNI_TANGENT_EXACT) {
      sni_line_turning(f->body[side], force[side], term, &n);
    }
  }
  return n;
}

static double spring_potential(const sni_force_eval *e, const sni_force *f, const double *param) {
  const double l = length_of(f, e->E_wb);
  return 0.5 * param[SNI_LINE_STIFFNESS] * (l - param[SNI_LINE_REST_LENGTH]) *
         (l - param[SNI_LINE_REST_LENGTH]);
}

static sni_measure spring_measure(const sni_force_eval *e, const sni_force *f,
                                  const double *param) {
  const sn_vec3 xa = sni_force_point(e->E_wb, f->body[0], f->at[0]);
  const sn_vec3 xb = sni_force_point(e->E_wb, f->body[1], f->at[1]);
  const sn_vec3 dx = sn_vec3_sub(xb, xa);
  const sn_vec3 dv =
      sn_vec3_sub(sni_force_velocity(e, f->body[1], xb), sni_force_velocity(e, f->body[0], xa));
  const double l = sn_vec3_norm(dx), rate = l > 0 ? sn_vec3_dot(dx, dv) / l : 0;
  return (sni_measure){l, rate,
                       param[SNI_LINE_STIFFNESS] * (l - param[SNI_LINE_REST_LENGTH]) +
                           param[SNI_LINE_DAMPING] * rate};
}

static const sni_field spring_field[] = {SNI_LINE_ENDS, SNI_LINE_FIELDS};

const sni_force_ops sni_force_spring = {.kind = {"spring", "a spring and damper between two points",
                                                 spring_field, SNI_COUNT(spring_field)},
                                        .nparam = SNI_LINE_PARAMS,
                                        .param_key = sni_line_param,
                                        .finish = spring_finish,
                                        .settle = spring_settle,
                                        .squeezed = spring_squeezed,
                                        .apply = spring_apply,
                                        .tangent = spring_tangent,
                                        .potential = spring_potential,
                                        .measure = spring_measure};
