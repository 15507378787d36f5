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
  if (force->body[0] == force->body[1] && force->body[0] != -2) {
    b->fail(b, "b", "is fixed to the same body as a: needs two that can move against each other");
  }
  b->point(b, "a.at", def->a.at.p);
  b->point(b, "b.at", def->b.at.p);
  if (def->stiffness < 0) {
    b->fail(b, "stiffness", "is %g, needs a number >= 0", def->stiffness);
  }
  if (def->damping < 0) {
    b->fail(b, "damping", "is %g, needs a number >= 0", def->damping);
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
  const double l = sn_vec3_norm(dx), damping = e->without_damping ? 0 : param[DAMPING];
  sn_vec3 pull; /* on a */
  if (param[REST_LENGTH] == 0) {
    pull = sn_vec3_addscaled(sn_vec3_scale(dx, param[STIFFNESS]), damping, dv);
  } else if (l > 0) {
    const sn_vec3 n = sn_vec3_scale(dx, 1 / l);
    pull = sn_vec3_scale(n, param[STIFFNESS] * (l - param[REST_LENGTH]) +
                                damping * sn_vec3_dot(n, dv));
  } else {
    return; /* squeezed to a point: no direction is better than another */
  }
  sni_force_push(e, f->body[0], xa, pull);
  sni_force_push(e, f->body[1], xb, sn_vec3_neg(pull));
}

/* ---- the tangent ----
 *
 * With arms r_a, r_b from the bodies' origins to the ends and dx = x_b - x_a, the rate of dx along
 * n is p . (phi_a; phi_b), p = (-r_a x n, -n; r_b x n, n).  The parts of -K:
 *
 *     material   k  along n                         across     T/l  along two directions across n
 *     lever      T ((r.n) 1 - (r n^T + n r^T)/2) for turning body a about its origin, minus the
 *                same for b: the torque of a constant pull changes as its arm turns
 *
 * The eigenvectors of the lever part are known: with u+- halfway between n and +-r, its eigenvalues
 * are T ((r.n) -+ |r|)/2 along u+- and T (r.n) across both. */

static void add_term(sni_term *term, int *n, int part, double k, double d, sn_vec6 a, sn_vec6 b) {
  if (k != 0 || d != 0) {
    term[(*n)++] = (sni_term){k, d, {a, b}, part};
  }
}

/* Rate of dx along direction e. */
static sn_vec6 along(sn_vec3 arm, sn_vec3 e, double sign) {
  return (sn_vec6){sn_vec3_scale(sn_vec3_cross(arm, e), sign), sn_vec3_scale(e, sign)};
}

/* Two unit vectors across n. */
static void across(sn_vec3 n, sn_vec3 out[2]) {
  const sn_vec3 least = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? (sn_vec3){1, 0, 0}
                        : fabs(n.y) <= fabs(n.z)                         ? (sn_vec3){0, 1, 0}
                                                                         : (sn_vec3){0, 0, 1};
  out[0] = sn_vec3_cross(n, least);
  out[0] = sn_vec3_scale(out[0], 1 / sn_vec3_norm(out[0]));
  out[1] = sn_vec3_cross(n, out[0]);
}

/* The axes of the lever part for unit vectors e along the pull and u along the arm: e + u, e - u
 * and their normal, made so that all is well when e and u are parallel. */
static void lever_axes(sn_vec3 e, sn_vec3 u, sn_vec3 axis[3]) {
  const int longer = sn_vec3_dot(e, u) >= 0 ? 0 : 1;
  const sn_vec3 sum = longer == 0 ? sn_vec3_add(e, u) : sn_vec3_sub(e, u);
  const sn_vec3 first = sn_vec3_scale(sum, 1 / sn_vec3_norm(sum));
  sn_vec3 normal = sn_vec3_cross(e, u), any[2];
  normal = sn_vec3_addscaled(normal, -sn_vec3_dot(normal, first), first);
  const double length = sn_vec3_norm(normal);
  across(first, any);
  axis[longer] = first;
  axis[2] = length > 0 ? sn_vec3_scale(normal, 1 / length) : any[0];
  axis[1 - longer] = sn_vec3_cross(first, axis[2]);
}

/* The lever part of one body with pull f (in world axes) at arm r. */
static void lever_terms(sn_vec3 r, sn_vec3 f, int side, sni_term *term, int *n) {
  const double T = sn_vec3_norm(f), arm = sn_vec3_norm(r);
  if (!(T > 0) || !(arm > 0)) {
    return;
  }
  const sn_vec3 e = sn_vec3_scale(f, 1 / T), u = sn_vec3_scale(r, 1 / arm);
  const double c = sn_vec3_dot(e, u); /* cosine between pull and arm */
  const double value[3] = {0.5 * T * arm * (c - 1), 0.5 * T * arm * (c + 1), T * arm * c};
  sn_vec3 axis[3];
  lever_axes(e, u, axis);
  for (int k = 0; k < 3; k++) {
    sn_vec6 p[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    p[side].w = axis[k];
    add_term(term, n, SNI_PART_LEVER, value[k], 0, p[0], p[1]);
  }
}

/* In the bodies' own axes, where the exact derivative is defined, the components of a constant pull
 * turn against the body: -K has -[f] between moving and turning.  With u0, u1 across f that is
 * |f| ((v.u0)(w.u1) - (v.u1)(w.u0)), and a product is a difference of two squares. */
static void turning_terms(sn_vec3 f, int side, sni_term *term, int *n) {
  const double T = sn_vec3_norm(f);
  if (!(T > 0)) {
    return;
  }
  sn_vec3 u[2];
  across(sn_vec3_scale(f, 1 / T), u);
  const struct {
    sn_vec3 v, w;
    double sign;
  } product[2] = {{u[0], u[1], 1}, {u[1], u[0], -1}};
  for (int k = 0; k < 2; k++) {
    for (int s = -1; s <= 1; s += 2) {
      sn_vec6 p[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
      p[side] = (sn_vec6){product[k].w, sn_vec3_scale(product[k].v, s)};
      /* sum over s of s (w + s v)^2 / 4 is w v */
      add_term(term, n, SNI_PART_ACROSS, product[k].sign * s * T / 4, 0, p[0], p[1]);
    }
  }
}

static int spring_tangent(const sni_force_eval *e, const sni_force *f, const double *param,
                          sni_tangent tangent, sni_term *term) {
  int n = 0;
  const sn_vec3 xa = sni_force_point(e->E_wb, f->body[0], f->at[0]);
  const sn_vec3 xb = sni_force_point(e->E_wb, f->body[1], f->at[1]);
  const sn_vec3 zero = {0}, dx = sn_vec3_sub(xb, xa);
  const sn_vec3 ra = f->body[0] < 0 ? zero : sn_vec3_sub(xa, e->E_wb[f->body[0]].p);
  const sn_vec3 rb = f->body[1] < 0 ? zero : sn_vec3_sub(xb, e->E_wb[f->body[1]].p);
  const double k = param[STIFFNESS], l = sn_vec3_norm(dx);
  const bool zero_length = param[REST_LENGTH] == 0;
  if (!zero_length && !(l > 0)) {
    return 0;
  }
  sn_vec3 direction[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (!zero_length) {
    direction[0] = sn_vec3_scale(dx, 1 / l);
    across(direction[0], direction + 1);
  }
  const double T = k * (l - param[REST_LENGTH]);
  for (int c = 0; c < 3; c++) {
    const sn_vec6 a = along(ra, direction[c], -1), b = along(rb, direction[c], 1);
    if (zero_length || c == 0) {
      add_term(term, &n, SNI_PART_MATERIAL, k, param[DAMPING], a, b);
    } else if (tangent != SNI_TANGENT_MATERIAL) {
      const double across_n = tangent == SNI_TANGENT_CLAMPED ? fmax(T / l, 0) : T / l;
      add_term(term, &n, SNI_PART_ACROSS, across_n, 0, a, b);
    }
  }
  if (tangent != SNI_TANGENT_MATERIAL) {
    const sn_vec3 pull = zero_length ? sn_vec3_scale(dx, k) : sn_vec3_scale(direction[0], T);
    const sn_vec3 push = sn_vec3_neg(pull);
    lever_terms(ra, pull, 0, term, &n);
    lever_terms(rb, push, 1, term, &n);
    if (tangent == SNI_TANGENT_EXACT) {
      turning_terms(pull, 0, term, &n);
      turning_terms(push, 1, term, &n);
    }
  }
  return n;
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
                                        .tangent = spring_tangent,
                                        .potential = spring_potential};
