/* foresee.c: what the forces become on the way of a large step.
 *
 * The matrix has the stiffness of the start.  A body that turns by an angle d about the axis a in
 * one step, under forces of constant direction with the arms r, meets on its way
 *
 *     W''(x) = A cos x + B sin x,     A = a^T sum((F.r) 1 - F r^T) a,     B = a . sum(r x F)
 *
 * for x from 0 to d.  Where the force is across the arm, A is 0 and the masses alone resist: a load
 * of h^2 |F| |r| = 20 I would turn the body by 20 rad.  The energy of the step is bounded by the
 * largest W'' on the way, so where that is well above A and what the masses bear, it is taken
 * instead, and the step solved again.  In equilibrium B = 0, and there is nothing to add.
 *
 * The same holds for the reactions of constraints, which only a solve tells, and another one tells
 * better: with constraints there are more of them.  Where rows depend on others, what they bear
 * alone is not known: then it is the least that it can be, and not whatever a solver has found,
 * which may be any amount by which bodies strain against each other and nothing moves. */
#include "methods/redmax/foresee.h"

#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The largest A cos x + B sin x for x from 0 to d, less A. */
static double above_start(double A, double B, double d) {
  const double most = atan2(B, A), first = most < 0 ? most + 2 * SN_PI : most;
  return d >= first ? hypot(A, B) - A : fmax(A * cos(d) + B * sin(d) - A, 0);
}

/* With lengths of w^2 on both sides:  A cos x + B sin x - A <= max(-A, 0) x^2/2 + |B| x. */
static bool is_far(const sni_system *s, int i) {
  const double whole = sni_system_whole(s), h2 = whole * whole;
  const sni_turn *turn = &s->turn[i];
  const sn_vec3 w = sni_lane_vec3(s->d->w.a[i].w);
  const double w2 = sn_vec3_dot(w, w), d = s->h * sqrt(w2);
  const double A = sni_sym3_trace(turn->G) * w2 - sn_vec3_dot(w, sni_sym3_mul(turn->G, w));
  const double B = fabs(sn_vec3_dot(w, turn->torque)) * sqrt(w2);
  const double most = fmax(-A, 0) * fmin(0.5 * d * d, 2) + B * fmin(d, 1);
  const sn_vec3 in_body = sn_mat3_tmul_vec(sni_link_R(&s->d->w.link[i]), w);
  const sn_mat3 I = sn_inertia_tensor(sni_params_inertia(&s->d->params, i));
  const double bears = sn_vec3_dot(in_body, sn_mat3_mul_vec(I, in_body));
  return h2 * most > 0.99 * SNI_BORNE * (bears + h2 * fmax(A, 0)); /* less what is rounded */
}

bool sni_system_far(const sni_system *s, const sni_block *block) {
  bool far = false;
  for (int i = block->first; i < block->end && !far; i++) {
    far = !s->grounded[i] && is_far(s, i);
  }
  return far;
}

/* With reactions known, less than this part of what resists is not foreseen: next to what the
 * masses may be left with (SNI_BORNE) it is nothing, and in long chains rounding alone turns
 * something. */
#define NOTHING 1e-6

/* Of what constraints bear: a part that was not known before, and is worth another solve.  What
 * presses on a linkage makes it give way, and bears far less, as long as that is not known. */
#define NEW 0.5

/* It is worth another solve where it is more than this part of what resists already, and more by
 * half than what was foreseen before. */
static bool grows(sni_system *s, int i, double part) {
  const double whole = sni_system_whole(s);
  const sni_turn *turn = &s->turn[i];
  const sn_vec3 w = sni_lane_vec3(s->d->w.a[i].w);
  const double rate = sn_vec3_norm(w);
  if (s->grounded[i] || !(rate > 0)) {
    return false;
  }
  const sn_vec3 a = sn_vec3_scale(w, 1 / rate);
  const double A = sni_sym3_trace(turn->G) - sn_vec3_dot(a, sni_sym3_mul(turn->G, a));
  const double B = sn_vec3_dot(a, turn->torque);
  const sn_vec3 in_body = sn_mat3_tmul_vec(sni_link_R(&s->d->w.link[i]), a);
  const sn_mat3 I = sn_inertia_tensor(sni_params_inertia(&s->d->params, i));
  const double h2 = whole * whole, bears = sn_vec3_dot(in_body, sn_mat3_mul_vec(I, in_body));
  if (h2 * sqrt(A * A + B * B) <= SNI_BORNE * bears) {
    return false; /* however far it turns */
  }
  const double reach = above_start(A, B, s->h * rate), before = s->reach[i];
  if (h2 * (A + reach) > SNI_BORNE * bears) {
    s->reach[i] = fmax(before, reach);
  }
  return h2 * s->reach[i] > part * (bears + h2 * fmax(A, 0)) && s->reach[i] > 1.5 * before;
}

/* The force of a constraint's rows, [from, to), on one of its sides. */
static void take_reaction(sni_system *s, const sni_rows *rows, const double *lambda, int from,
                          int to, int side) {
  const sni_constraint *constraint = &rows->constraint[rows->of[from]];
  const int body = rows->row[from].body[side];
  sn_vec6 f = {{0, 0, 0}, {0, 0, 0}};
  for (int i = from; i < to; i++) {
    f = sn_vec6_addscaled(f, -lambda[i] / s->h, rows->row[i].p[side]);
  }
  const sn_vec3 arm = sn_mat3_mul_vec(sni_link_R(&s->d->w.link[body]), constraint->at[side].p);
  s->reaction[body] =
      sni_pull_add(s->reaction[body], (sni_pull){f, {f.w, sni_sym3_product(f.v, arm)}});
}

/* Does a limit throw something back in this step?  What others bear then is a blow, too. */
static bool is_blow(const sni_rows *rows) {
  bool any = false;
  for (int i = 0; i < rows->nrow && rows->nsided > 0; i++) {
    any = any || (rows->row[i].one_sided && !isnan(rows->u.meek[i]) && rows->lambda[i] != 0);
  }
  return any;
}

#define AHEAD 9 /* rows, of what is expected */

/* What take_reaction will want for rows that are not far away, after those of one constraint. */
SNI_EXPECT_FN void expect(const sni_system *s, const sni_rows *rows, int from, int to) {
  for (int i = from + 2 * AHEAD; i < to + 2 * AHEAD && i < rows->nrow; i++) {
    sni_memory_expect(&rows->row[i], offsetof(sni_row, bias));
  }
  for (int side = 0; side < 2 && from + AHEAD < rows->nrow; side++) {
    const int body = rows->row[from + AHEAD].body[side];
    if (body >= 0) {
      sni_memory_expect(&s->d->w.link[body], sizeof s->d->w.link->R);
    }
    sni_memory_expect(&rows->constraint[rows->of[from + AHEAD]].at[side].p, sizeof(sn_vec3));
  }
}

/* Are there any?  Those of limits are blows more often than loads, and are left out. */
static bool take_reactions(sni_system *s, const sni_rows *rows, const double *lambda) {
  memset(s->reaction, 0, (size_t)s->t->nbody * sizeof *s->reaction);
  bool any = false;
  if (is_blow(rows)) {
    return false;
  }
  for (int from = 0, to; from < rows->nrow; from = to) {
    const sni_row *row = &rows->row[from];
    for (to = from + 1;
         to < rows->nrow && rows->of[to] == rows->of[from] &&
         rows->row[to].body[0] == row->body[0] && rows->row[to].body[1] == row->body[1] &&
         rows->row[to].one_sided == row->one_sided;
         to++) {
    }
    expect(s, rows, from, to);
    for (int side = 0; side < 2 && !row->one_sided; side++) {
      if (row->body[side] >= 0) {
        any = true;
        take_reaction(s, rows, lambda, from, to, side);
      }
    }
  }
  return any;
}

/* Is there tension, by what the constraints bear?  Forces that somebody else has found are the
 * least already. */
static bool is_strained(sni_system *s, sni_rows *rows, bool own, const double *qd1) {
  const bool strained = sni_system_has_tension(s);
  if (!own || !(strained || s->tense) || !sni_system_tension_slows(s) || !sni_rows_least(rows)) {
    return strained;
  }
  take_reactions(s, rows, rows->least);
  sni_J_mul_world(s->t, &s->d->w, qd1);
  return sni_system_has_tension(s);
}

/* What constraints bear is known, and lambda goes on as it was. */
static bool is_known(const sni_system *s, const sni_rows *rows, const double *lambda) {
  double change = 0, size = 0;
  for (int i = 0; i < rows->nrow; i++) {
    const double more = lambda[i] - s->borne[i];
    change += more * more;
    size += lambda[i] * lambda[i];
  }
  return s->reacts && change <= NEW * NEW * size;
}

void sni_system_load(sni_system *s, const sni_rows *rows, const double *lambda) {
  memcpy(s->borne, lambda, (size_t)rows->nrow * sizeof *lambda);
  s->reacts = take_reactions(s, rows, lambda);
}

bool sni_system_foresee(sni_system *s, sni_rows *rows, const double *lambda, bool far,
                        const double *qd1) {
  bool changed = false;
  const bool own = rows && lambda == rows->lambda;
  if (rows) {
    const bool known = is_known(s, rows, lambda);
    sni_system_load(s, rows, lambda);
    changed = s->reacts && is_strained(s, rows, own, qd1) && !known;
  }
  for (int i = 0; s->tense && (far || s->reacts) && i < s->t->nbody; i++) {
    changed = grows(s, i, s->reacts ? NOTHING : SNI_BORNE) || changed;
  }
  return changed;
}
