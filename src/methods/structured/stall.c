/* stall.c: what moves and pulls at a mechanism near a dead point.
 *
 * A chain that is all but straight can be drawn out at any rate, to first order: bent by an angle
 * s, its joints turn at 1/s.  But in a step they would turn by more than s, and what is drawn out
 * is something else than was asked for: the chain is thrown about.
 *
 * Let x0 be the rates if all that moves stood still, c = 0: they have no more energy than there
 * was. Those that were found go further by D = x - x0, and in a step open gaps by h^2/2 g''(D, D)
 * more than their rates say.  That must not be above a part of what is asked for, h c; both are
 * measured by the momenta that would give such rates to bodies.  Of a multiple s D the one goes
 * with s^2, the other with s: what asks for more gets s c.  It runs more slowly, and at the dead
 * point it stalls.
 *
 * What turns fast bends rows as well, by h w / 2 of what it is asked for.  So s may always be a
 * little more than it was: motors get up to their speed, if not in one step.
 */
#include "methods/structured/sets.h"
#include "methods/structured/structured.h"

#include <stddef.h>
#include <string.h>

#define BENDS 0.1  /* of what is asked for                                                       */
#define RISES 10   /* for each unit of time: how fast s may grow in any case                      */
#define JUMPS 0.25 /* of the rates: what changes less in a step goes on as it did */

/* ---- sets ---- */

static void find_sets(const sn_sim *sim, sni_structured *st) {
  const sni_tree *tree = &sim->m->tree;
  sni_ties *t = &st->ties;
  sni_odds_join(sim, t->joined);
  int body = -1; /* of the row that a term goes on with */
  for (int k = 0; k < st->s.nterm; k++) {
    const sni_link_term *term = &st->s.term[k];
    for (int side = 0; side < 2; side++) {
      sni_sets_join(t->joined, body, term->body[side]);
      body = body >= 0 ? body : term->body[side];
    }
    body = term->more ? body : -1;
  }
  memset(t->sums, 0, (size_t)tree->nbody * sizeof *t->sums);
}

static sni_sums *of_row(const sn_sim *sim, const sni_ties *t, int i) {
  const int body = sni_odds_body_of(&sim->m->tree, &sim->rows.row[i]);
  return body >= 0 ? &t->sums[sni_set_of(t->joined, body)] : NULL;
}

/* ---- where to look ---- */

/* t->kept_c: what rows ask for.  The method of multipliers has something else in c, where all can
 * be had. */
static bool find_asked(const sn_sim *sim, const sni_structured *st) {
  const sni_ties *t = &st->ties;
  bool any = false;
  for (int i = 0; i < t->ntie; i++) {
    t->kept_c[i] = i >= sim->rows.nrow ? 0 : *st->give > 0 ? t->c[i] : t->asked[i];
    any = any || t->kept_c[i] != 0;
  }
  return any;
}

/* The sums of |x|^2 by the masses. */
static void add_squares(sn_sim *sim, const sni_ties *t, const double *x, double factor) {
  const sni_dynamics *d = &sim->d;
  sni_J_mul_world(&sim->m->tree, &sim->d.w, x);
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    const sni_lane6 momentum = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
    t->sums[sni_set_of(t->joined, i)].square += factor * sni_lane6_dot(d->w.a[i], momentum);
  }
}

/* Does anything that is asked to move have rates that are quite unlike those before? */
static bool jumps(sn_sim *sim, sni_structured *st, const double *before, const double *x) {
  sni_ties *t = &st->ties;
  if (!find_asked(sim, st)) {
    return false;
  }
  find_sets(sim, st);
  for (int k = 0; k < sim->m->tree.nv; k++) {
    t->y[k] = x[k] - before[k];
  }
  add_squares(sim, t, t->y, 1);
  add_squares(sim, t, before, -JUMPS * JUMPS);
  sni_J_mul_world(&sim->m->tree, &sim->d.w, x); /* as it was */
  bool any = false;
  for (int i = 0; i < sim->rows.nrow; i++) {
    const sni_sums *s = of_row(sim, t, i);
    any = any || (s && t->kept_c[i] != 0 && s->square > 0);
  }
  return any;
}

/* ---- how far to go ---- */

/* x, lambda: as if all stood still.  Found from the forces at hand: where iterations are broken
 * off, x differs by what is asked for, and not by where they began. */
static void stand_still(sn_sim *sim, sni_structured *st, const double *b, double *x,
                        sn_info *info) {
  sni_ties *t = &st->ties;
  memcpy(st->found, x, (size_t)sim->m->tree.nv * sizeof *x);
  memcpy(t->kept_lambda, t->lambda, (size_t)t->ntie * sizeof *t->lambda);
  memset(t->c, 0, (size_t)t->ntie * sizeof *t->c);
  t->from_there = true;
  st->solver->solve(t, st->own, b, x);
  t->from_there = false;
  info->solves++;
  info->iterations += t->spent;
  if (t->residual > t->precision && st->solver->make_do) {
    st->solver->make_do(t, st->own, b, x);
  }
}

/* Into the sums: what the rates in t->y bend rows by in a step, and what these are asked for. */
static void compare(sn_sim *sim, sni_structured *st, double time, double h, const double *q) {
  sni_ties *t = &st->ties;
  sni_dynamics_kinematics(&sim->d, q, t->y);
  sni_rows_eval(&sim->rows, time, time, q, t->y);
  sni_rows_coasting(&sim->rows, t->q);
  for (int i = 0; i < sim->rows.nrow; i++) {
    sni_sums *s = of_row(sim, t, i);
    const double bends = sni_rows_is_rate(&sim->rows, i) ? 0 : t->q[i] + sim->rows.row[i].timed;
    if (s) {
      s->work += t->kept_c[i] * t->kept_c[i] / t->moves[i];
      s->change += 0.25 * h * h * bends * bends / t->moves[i];
    }
  }
}

/* To the place `to` of the sums from what they have added up. */
static void keep_squares(const sn_sim *sim, sni_ties *t, size_t to) {
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    *(double *)((char *)&t->sums[i] + to) = t->sums[i].square;
    t->sums[i].square = 0;
  }
}

/* By the masses: zAz = |D|^2, D in t->y, and xAz = <e, D> = (|D + e|^2 - |D - e|^2)/4 for e, what
 * the rates before have beyond x. */
static void measure(sn_sim *sim, sni_structured *st, const double *before, const double *x) {
  sni_ties *t = &st->ties;
  add_squares(sim, t, t->y, 1);
  keep_squares(sim, t, offsetof(sni_sums, zAz));
  for (int side = -1; side <= 1; side += 2) {
    for (int k = 0; k < sim->m->tree.nv; k++) {
      st->found[k] = t->y[k] + side * (before[k] - x[k]);
    }
    add_squares(sim, t, st->found, 0.25 * side);
  }
  keep_squares(sim, t, offsetof(sni_sums, xAz));
}

static double share_of(const sni_sums *s, double h) {
  const double most = BENDS * sqrt(s->work), is = sqrt(s->change);
  const double was = s->zAz > 0 ? s->xAz / s->zAz : 1;
  return is > most ? fmin(1, fmax(most / is, (1 + RISES * h) * was)) : 1;
}

bool sni_structured_stall(sn_sim *sim, sni_structured *st, const sni_moment *at, const double *b,
                          const double *before, double *x, sn_info *info) {
  const sni_tree *tree = &sim->m->tree;
  sni_ties *t = &st->ties;
  if (!sim->d.rows || !jumps(sim, st, before, x)) {
    return false;
  }
  stand_still(sim, st, b, x, info);
  for (int k = 0; k < tree->nv; k++) {
    t->y[k] = st->found[k] - x[k];
  }
  find_sets(sim, st);
  measure(sim, st, before, x);
  compare(sim, st, at->t, at->h, at->q);
  for (int i = 0; i < tree->nbody; i++) {
    const double share = share_of(&t->sums[sni_set_of(t->joined, i)], at->h);
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      x[k] += share * t->y[k];
    }
  }
  for (int i = 0; i < t->ntie; i++) {
    const sni_sums *s = i < sim->rows.nrow ? of_row(sim, t, i) : NULL;
    const double share = s ? share_of(s, at->h) : 1;
    t->c[i] = share * t->kept_c[i];
    t->lambda[i] += share * (t->kept_lambda[i] - t->lambda[i]);
  }
  sni_dynamics_kinematics(&sim->d, at->q, at->qd);
  sni_rows_eval_poses(&sim->rows, at->t, at->t, at->q, at->qd);
  sni_ties_check(t, x);
  return true;
}
