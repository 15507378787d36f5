/* forces/cable.c: a cable that slides without friction through points of any bodies.
 *
 *     l = sum |x_(j+1) - x_j|     tension T = k (l - L) + d dl/dt,  the same all along
 *     force at x_j:  T (n_j - n_(j-1)) = -T g_j,   g_j = dl/dx_j      V = k (l - L)^2 / 2
 *
 * A cable that only pulls has T = 0 while it is shorter than L, and never T < 0.  In an implicit
 * step it is taut if at the rate of now it would pull at the end: otherwise a stiff one would be
 * overstretched by a whole step before it is noticed. */
#include "model/forces/line.h"

#include <stdio.h>

/* What its shape says; T without damping. */
typedef struct shape {
  double length, T;
  bool taut;
} shape;

static int body_of(const sni_force *f, int j) {
  return f->via[j].member < 0 ? -1 : f->member[f->via[j].member];
}

static sn_vec3 point(const sni_force *f, const sn_se3 *E_wb, int j) {
  return sni_force_point(E_wb, body_of(f, j), f->via[j].at);
}

/* From point j to the next: its length and direction (0 where there is none). */
static double segment(const sni_force *f, const sn_se3 *E_wb, int j, sn_vec3 *n) {
  const sn_vec3 dx = sn_vec3_sub(point(f, E_wb, j + 1), point(f, E_wb, j));
  const double l = sn_vec3_norm(dx);
  *n = l > 0 ? sn_vec3_scale(dx, 1 / l) : (sn_vec3){0};
  return l;
}

static double length_of(const sni_force *f, const sn_se3 *E_wb) {
  double l = 0;
  for (int j = 0; j + 1 < f->npoint; j++) {
    sn_vec3 n;
    l += segment(f, E_wb, j, &n);
  }
  return l;
}

static double rate_of(const sni_force_eval *e, const sni_force *f) {
  double rate = 0;
  for (int j = 0; j + 1 < f->npoint; j++) {
    sn_vec3 n, v[2];
    segment(f, e->E_wb, j, &n);
    for (int end = 0; end < 2; end++) {
      v[end] = sni_force_velocity(e, body_of(f, j + end), point(f, e->E_wb, j + end));
    }
    rate += sn_vec3_dot(n, sn_vec3_sub(v[1], v[0]));
  }
  return rate;
}

static bool cable_pulls(const sni_force_eval *e, const sni_force *f, const double *param) {
  const double rate = rate_of(e, f);
  const double end = length_of(f, e->E_wb) - param[SNI_LINE_REST_LENGTH] + e->h * rate;
  return !f->pulls_only ||
         (end > 0 && param[SNI_LINE_STIFFNESS] * end + param[SNI_LINE_DAMPING] * rate > 0);
}

static shape shape_of(const sni_force_eval *e, const sni_force *f, const double *param) {
  const double k = param[SNI_LINE_STIFFNESS];
  const double l = length_of(f, e->E_wb), stretch = l - param[SNI_LINE_REST_LENGTH];
  bool taut = !f->pulls_only || stretch > 0;
  if (f->pulls_only && e->h > 0) {
    taut = e->taut ? e->taut > 0 : cable_pulls(e, f, param);
  }
  return (shape){.length = l, .T = taut ? k * stretch : 0, .taut = taut};
}

static double tension_of(const sni_force_eval *e, const sni_force *f, const double *param) {
  const shape s = shape_of(e, f, param);
  if (!s.taut || e->without_damping || param[SNI_LINE_DAMPING] == 0) {
    return s.T;
  }
  const double T = s.T + param[SNI_LINE_DAMPING] * rate_of(e, f);
  return f->pulls_only ? fmax(T, 0) : T;
}

static void cable_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  const double T = tension_of(e, f, param);
  for (int j = 0; T != 0 && j + 1 < f->npoint; j++) {
    sn_vec3 n;
    segment(f, e->E_wb, j, &n);
    sni_force_push(e, body_of(f, j), point(f, e->E_wb, j), sn_vec3_scale(n, T));
    sni_force_push(e, body_of(f, j + 1), point(f, e->E_wb, j + 1), sn_vec3_scale(n, -T));
  }
}

/* ---- the tangent ---- */

static sn_vec3 arm_of(const sni_force_eval *e, const sni_force *f, int j) {
  const int body = body_of(f, j);
  const sn_vec3 none = {0};
  return body < 0 ? none : sn_vec3_sub(point(f, e->E_wb, j), e->E_wb[body].p);
}

/* g_j */
static sn_vec3 pull_of(const sni_force_eval *e, const sni_force *f, int j) {
  sn_vec3 before = {0}, after = {0};
  if (j > 0) {
    segment(f, e->E_wb, j - 1, &before);
  }
  if (j + 1 < f->npoint) {
    segment(f, e->E_wb, j, &after);
  }
  return sn_vec3_sub(before, after);
}

/* dl/dt as a row for the twist of one member: the sum over its points. */
static sn_vec6 row_of(const sni_force_eval *e, const sni_force *f, int member) {
  sn_vec6 p = {{0, 0, 0}, {0, 0, 0}};
  for (int j = 0; j < f->npoint; j++) {
    if (f->via[j].member == member) {
      p = sn_vec6_add(p, sni_line_row(arm_of(e, f, j), pull_of(e, f, j)));
    }
  }
  return p;
}

/* The two members of a term in the order of their pair. */
static sni_term paired(const sni_force *f, int a, sn_vec6 pa, int b, sn_vec6 pb) {
  const int i = a < b ? a : b, j = a < b ? b : a;
  return (sni_term){.p = {a < b ? pa : pb, a < b ? pb : pa},
                    .body = {f->member[i], f->member[j]},
                    .pair = j * (j - 1) / 2 + i};
}

/* p p^T over all m members, by squares of two:  the sum over pairs of (p_i + p_j)(p_i + p_j)^T has
 * every product of two members once, and the squares of single ones m - 1 times. */
static void material_terms(const sni_force_eval *e, const sni_force *f, double k, double d,
                           sni_term *term, int *n) {
  const int m = f->nmember;
  for (int j = 0; j < m; j++) {
    const sn_vec6 pj = row_of(e, f, j);
    for (int i = 0; i < j; i++) {
      sni_term pair = paired(f, i, row_of(e, f, i), j, pj);
      pair.k = k;
      pair.d = d;
      sni_line_term(term, n, pair);
    }
    sni_line_term(
        term, n,
        (sni_term){.k = (2 - m) * k, .d = (2 - m) * d, .p = {pj}, .body = {f->member[j], -1}});
  }
}

/* p itself, two members a term. */
static void material_row(const sni_force_eval *e, const sni_force *f, double k, double d,
                         sni_term *term, int *n) {
  const int m = f->nmember;
  for (int j = 0; j < m && (k != 0 || d != 0); j += 2) {
    const bool two = j + 1 < m;
    term[(*n)++] = (sni_term){
        .k = k,
        .d = d,
        .p = {row_of(e, f, j), two ? row_of(e, f, j + 1) : (sn_vec6){{0, 0, 0}, {0, 0, 0}}},
        .body = {f->member[j], two ? f->member[j + 1] : -1},
        .more = j + 2 < m};
  }
}

/* T/l of a segment, in both directions across it. */
static void across_terms(const sni_force_eval *e, const sni_force *f, int j, double T,
                         sni_term *term, int *n) {
  const int a = f->via[j].member, b = f->via[j + 1].member;
  sn_vec3 along, direction[2];
  const double l = segment(f, e->E_wb, j, &along);
  if (!(l > 0) || (a < 0 && b < 0)) {
    return;
  }
  sni_line_across(along, direction);
  for (int c = 0; c < 2; c++) {
    const sn_vec6 pa = sni_line_row(arm_of(e, f, j), sn_vec3_neg(direction[c]));
    const sn_vec6 pb = sni_line_row(arm_of(e, f, j + 1), direction[c]);
    sni_term add;
    if (a >= 0 && b >= 0 && a != b) {
      add = paired(f, a, pa, b, pb);
    } else {
      add = (sni_term){.p = {a < 0   ? pb
                             : b < 0 ? pa
                                     : sn_vec6_add(pa, pb)},
                       .body = {f->member[a < 0 ? b : a], -1}};
    }
    add.part = SNI_PART_ACROSS;
    add.k = T / l;
    sni_line_term(term, n, add);
  }
}

static int cable_tangent(const sni_force_eval *e, const sni_force *f, const double *param,
                         sni_tangent tangent, sni_term *term) {
  int n = 0;
  const shape s = shape_of(e, f, param);
  if (!s.taut) {
    return 0;
  }
  (e->rows && f->nmember > 2 ? material_row : material_terms)(
      e, f, sni_line_stiffness(param, tangent), param[SNI_LINE_DAMPING], term, &n);
  if (tangent == SNI_TANGENT_MATERIAL) {
    return n;
  }
  const double across = tangent == SNI_TANGENT_CLAMPED ? fmax(s.T, 0) : s.T;
  for (int j = 0; j + 1 < f->npoint; j++) {
    across_terms(e, f, j, across, term, &n);
  }
  for (int j = 0; j < f->npoint; j++) {
    const sn_vec3 force = sn_vec3_scale(pull_of(e, f, j), -s.T);
    sni_line_levers(body_of(f, j), arm_of(e, f, j), force, term, &n);
    if (tangent == SNI_TANGENT_EXACT) {
      sni_line_turning(body_of(f, j), force, term, &n);
    }
  }
  return n;
}

/* ---- building ---- */

static void find_members(sni_part_builder *b, const sn_force_def *def, sni_force *force) {
  sni_via *via = b->take(b, (size_t)def->nvia, sizeof *via);
  int *member = b->take(b, (size_t)def->nvia, sizeof *member);
  if (!via || !member) {
    return;
  }
  for (int j = 0; j < def->nvia; j++) {
    char key[32];
    snprintf(key, sizeof key, "via[%d].body", j);
    const int body = b->body(b, key, def->via[j].body);
    snprintf(key, sizeof key, "via[%d].at", j);
    b->point(b, key, def->via[j].at.p);
    int k = 0;
    while (k < force->nmember && member[k] != body) {
      k++;
    }
    if (body >= 0 && k == force->nmember) {
      member[force->nmember++] = body;
    }
    via[j] = (sni_via){.member = body >= 0 ? k : -1, .at = def->via[j].at.p};
    if (j > 0 && body != -2 && via[j].member == via[j - 1].member &&
        sn_vec3_norm(sn_vec3_sub(via[j].at, via[j - 1].at)) == 0) {
      b->fail(b, key, "is the same point as the one before: needs another");
    }
  }
  force->npoint = def->nvia;
  force->via = via;
  force->member = member;
  if (force->nmember == 0) {
    b->fail(b, "via", "has no point on a body that moves: needs at least one");
  }
}

static void cable_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                         double *param) {
  if (def->nvia < 2) {
    b->fail(b, "via", "has %d point%s, needs at least 2", def->nvia, def->nvia == 1 ? "" : "s");
  } else {
    find_members(b, def, force);
  }
  if (force->nmember == 1) {
    bool ground = false;
    for (int j = 0; j < force->npoint; j++) {
      ground = ground || force->via[j].member < 0;
    }
    if (!ground) {
      b->fail(b, "via",
              "has all its points on one body: needs two that can move against each other");
    }
  }
  const int m = force->nmember;
  force->npair = m * (m - 1) / 2;
  force->nterm =
      force->npair + m + 2 * def->nvia + def->nvia * (SNI_LEVER_TERMS + SNI_TURNING_TERMS);
  force->pulls_only = def->tension_only;
  sni_line_finish(b, def, force, param);
}

static void cable_settle(const sni_force *force, const sn_se3 *E_wb, double *param) {
  if (param[SNI_LINE_REST_LENGTH] < 0) {
    param[SNI_LINE_REST_LENGTH] = length_of(force, E_wb);
  }
}

static double cable_potential(const sni_force_eval *e, const sni_force *f, const double *param) {
  const shape s = shape_of(e, f, param);
  const double stretch = s.length - param[SNI_LINE_REST_LENGTH];
  return s.taut ? 0.5 * param[SNI_LINE_STIFFNESS] * stretch * stretch : 0;
}

static sni_measure cable_measure(const sni_force_eval *e, const sni_force *f, const double *param) {
  return (sni_measure){length_of(f, e->E_wb), rate_of(e, f), tension_of(e, f, param)};
}

static const sni_field cable_field[] = {
    {.key = "via",
     .type = SNI_F_POINTS,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, via),
     .offset2 = offsetof(sn_force_def, nvia),
     .unit = "m",
     .doc = "the points that it passes, from end to end: a body and a point on it, each"},
    {.key = "tension_only",
     .type = SNI_F_BOOL,
     .offset = offsetof(sn_force_def, tension_only),
     .doc = "true: slack while shorter than its rest length; false: pushes then"},
    SNI_LINE_FIELDS};

const sni_force_ops sni_force_cable = {
    .kind = {"cable", "a cable that slides through points of several bodies", cable_field,
             SNI_COUNT(cable_field)},
    .nparam = SNI_LINE_PARAMS,
    .param_key = sni_line_param,
    .finish = cable_finish,
    .settle = cable_settle,
    .apply = cable_apply,
    .tangent = cable_tangent,
    .potential = cable_potential,
    .pulls = cable_pulls,
    .recorded = true,
    .measure = cable_measure};
