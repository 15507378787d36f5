/* walk.c: dopri5 walks with steps of its own and reads the states off its continuous extension, so
 * that recording often costs nothing; where it stands, between two states, is part of the state. */
#include "methods/blame.h"
#include "methods/recursive/advance.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* dopri5 may run ahead of the states by this many of their steps, not more: somebody may change
 * something between them, and then it has walked too far.  By more where there are loops to close,
 * with which an evaluation costs five times as much. */
#define AHEAD        10
#define AHEAD_CLOSED 40

/* A step has so many legs at first (legs.h), and more where they do not hold, as long as there are
 * so many states on each. */
#define LEGS_FIRST 2
#define LEG_STATES 2

/* Pulses of functions of time are looked for down to substeps of this part of a step. */
#define HIDDEN_MIN 1e-6

/* Its part of a state: these numbers, then these vectors. */
enum { VALID, T0, T1, H, STALE, EXPOSED, LEGS, LEG, HEAD };
enum { Y1, F1, DENSE, COURSE = DENSE + SNI_DOPRI5_DENSE, VECTORS = COURSE + SNI_LEG_VECTORS };
static_assert(HEAD == SNI_WALK_HEAD && VECTORS == SNI_WALK_VECTORS, "advance.h says how many");

/* By words: it is asked for twice in each step, and nobody else sees it. */
static uint64_t hash_numbers(uint64_t h, const double *x, size_t n) {
  for (size_t k = 0; k < n; k++) {
    uint64_t word;
    memcpy(&word, &x[k], sizeof word);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  }
  return h;
}

/* One word about the state as it was given out, and about all that acts on it: if it still holds,
 * the walk goes on; if somebody has changed anything, it starts afresh from what is there. */
static double fingerprint(const sn_sim *sim, const sn_state *s, const sn_input *input) {
  uint64_t h = sim->d.param_hash;
  const size_t nv = (size_t)s->nv;
  h = hash_numbers(h, &s->t, 1);
  h = hash_numbers(h, s->data, 2 * nv);
  const uint64_t pushed = sim->d.user_force != NULL;
  h = sni_hash(h, &pushed, sizeof pushed);
  h = sni_hand_hash(h, &sim->d.hand);
  if (input) {
    const double *const part[] = {input->tau, input->drive_target, input->drive_rate};
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
      const uint64_t there = part[k] != NULL;
      h = sni_hash(h, &there, sizeof there);
      h = part[k] ? hash_numbers(h, part[k], nv) : h;
    }
    if (input->wrench) {
      h = sni_hash(h, input->wrench, (size_t)sim->m->tree.nbody * sizeof *input->wrench);
    }
  }
  double word;
  h &= 0x3fffffffffffffffu; /* no NaN: it must compare equal to itself */
  memcpy(&word, &h, sizeof word);
  return word;
}

/* Where the walk stands, in work memory; it is written to the state only when all went well. */
typedef struct walk {
  double t0, t1, h;
  double *y1, *f1, *dense; /* at t1, and on [t0, t1]                                            */
  bool stale;              /* f1 is not yet that of what follows t1: another function begins
                              there, or y1 is in other coordinates, or who knows what pushes    */
  bool at_break;           /* the last substep ended at one                                      */
  int legs;                /* of [t0, t1]: 0: none, -1: nor is dense one, but dopri5's own       */
  int leg;                 /* which of them is `course`; -1: none                                */
  double *course;
} walk;

/* One-sided rows are held, or let go, at times of their own. */
static bool has_legs(const sn_sim *sim) {
  return sim->d.rows && sim->m->nsided == 0;
}

/* f1 on the smooth piece behind t1.  Only now, when the walk goes on from there: what lies behind
 * a break must not spoil the states before it. */
static sn_status refresh(sn_sim *sim, const sni_ode *ode, walk *w, const sn_input *input,
                         double h_max, sn_error *err) {
  const int nv = ode->n / 2;
  double t_next = w->t1 + h_max;
  sni_dynamics_next_break(&sim->d, w->t1, w->t1 + h_max, &t_next);
  const double t_ref = sni_function_inside(w->t1, t_next);
  sn_status status = sni_advance_check_finite(sim, w->t1, w->y1, err);
  status = status ? status : sni_advance_check_motions(sim, w->t1, t_ref, w->y1, err);
  const double t_before = w->t0 < w->t1 ? w->t0 : w->t1 - *sim->d.params.step;
  status = status ? status
                  : sni_advance_hold(sim, ode, sni_function_inside(t_before, w->t1), w->t1, t_ref,
                                     w->y1, w->f1, err);
  if (status) {
    return status;
  }
  sni_dynamics_reparam(&sim->d, w->y1, w->y1 + nv);
  const int bad = ode->f(ode->user, w->t1, t_ref, w->y1, w->f1);
  const int pushed = bad >= 0 ? -1 : sni_advance_not_finite(sim, w->f1);
  if ((bad >= 0 || pushed >= 0) && sni_blame(sim, w->t1, t_ref, w->y1, w->y1 + nv, input, err)) {
    return SN_E_DIVERGED;
  }
  if (bad >= 0) {
    return sni_fail_singular(sim, err, bad, w->t1);
  }
  if (pushed >= 0) {
    return sni_fail_body(sim, err, SN_E_DIVERGED, pushed, w->t1,
                         "has an acceleration that is not finite: look at the forces on it");
  }
  w->stale = false;
  return SN_OK;
}

static sn_status start_walk(sn_sim *sim, const sni_ode *ode, walk *w, const sn_state *state,
                            const sn_input *input, double h_max, double *work, sn_error *err) {
  w->t0 = w->t1 = state->t;
  sni_unilateral_load(&sim->rows, NULL, sim->rows.u.within);
  memcpy(w->y1, state->data, (size_t)ode->n * sizeof(double));
  sn_status status = SN_OK;
  if (sim->rows.u.events) {
    status = sni_advance_check_finite(sim, w->t1, w->y1, err);
    status = status ? status : sni_stops_meet(sim, ode, w->t1, w->t1, w->y1, work, err);
  }
  status = status ? status : refresh(sim, ode, w, input, h_max, err);
  if (status) {
    return status;
  }
  double t_next = w->t1 + h_max;
  sni_dynamics_next_break(&sim->d, w->t1, w->t1 + h_max, &t_next);
  w->h = sni_dopri5_first_step(ode, w->t1, sni_function_inside(w->t1, t_next), t_next - w->t1,
                               *sim->d.params.rel_tol, *sim->d.params.abs_tol, w->y1, w->f1, work);
  return SN_OK;
}

/* Would a substep of h from t on step over something that a function of time does?  Where h is all
 * but nothing, it may. */
static bool hides(sn_sim *sim, double t, double h) {
  return h > HIDDEN_MIN * *sim->d.params.step &&
         sni_dynamics_hides(&sim->d, t, t + h, sni_function_inside(t, t + h), sni_dopri5_seen,
                            SNI_DOPRI5_SEEN);
}

/* A step of dopri5 from where the walk stands. */
typedef struct dopri5_step {
  const sn_sim *sim;
  const sni_ode *ode;
  const walk *w;
  double *f1, *rest;
} dopri5_step;
static int take_dopri5(void *user, double h, double *y) {
  const dopri5_step *s = user;
  double error;
  return sni_dopri5_try(s->ode, s->w->t1, h, *s->sim->d.params.rel_tol, *s->sim->d.params.abs_tol,
                        s->w->y1, s->w->f1, y, s->f1, s->w->dense, &error, s->rest);
}

/* A limit in the step of *h that has just been accepted?  Then only as far as that. */
static bool stop_walk(sn_sim *sim, const sni_ode *ode, const walk *w, double *y1, double *f1,
                      double *rest, double *h) {
  enum { LOOKS = 4 };
  double *spare = rest + 7 * ode->n;
  const double t_ref = sni_function_inside(w->t1, w->t1 + *h);
  sni_bracket b = {.at_lo = NAN};
  for (int k = 1; k <= LOOKS; k++) {
    b.hi = *h * k / LOOKS;
    sni_dopri5_dense(ode->n, w->dense, (double)k / LOOKS, spare);
    b.at_hi = sni_stops_margin(sim, ode, w->t1 + b.hi, t_ref, spare, spare + ode->n, &b.guess);
    if (b.at_hi < 0) {
      b.guess += b.hi;
      dopri5_step step = {sim, ode, w, f1, rest};
      return sni_advance_stop(sim, ode, w->t1, t_ref, take_dopri5, &step, b, y1, spare, h);
    }
    b.lo = b.hi;
    b.at_lo = b.at_hi;
  }
  return false;
}

/* The step from t0 to t1 as one leg, now that y1 is on the constraints.  False: there is no rate at
 * t1. */
static bool lay_whole(sn_sim *sim, const sni_ode *ode, walk *w, double t_ref, double *work) {
  const int n = ode->n;
  const double h = w->t1 - w->t0;
  if (ode->f(ode->user, w->t1, t_ref, w->y1, w->f1) >= 0 ||
      sni_advance_not_finite(sim, w->f1) >= 0) {
    return false;
  }
  double *y0 = work, *f0 = work + n;
  for (int i = 0; i < n; i++) { /* dense has y, and h times its rate in two parts */
    y0[i] = w->dense[i];
    f0[i] = (w->dense[n + i] + w->dense[2 * n + i]) / h;
  }
  sni_leg_lay(n / 2, h, y0, f0, w->y1, w->f1, w->dense);
  w->legs = LEGS_FIRST;
  return true;
}

/* What holds in a step, before what is met at its end.  States within it are interpolated, and off
 * by so much that accelerations which are asked for there would not know. */
static void keep_held(sni_rows *r) {
  for (int k = 0; r->d && k < sni_unilateral_count(r->d->m); k++) {
    r->u.within[k] = r->u.events && r->u.held[k];
  }
}

/* One accepted step from t1 on, not beyond t_most. */
static sn_status walk_on(sn_sim *sim, const sni_ode *ode, walk *w, const sn_input *input,
                         double h_max, double t_most, double *work, sn_info *info, sn_error *err) {
  const int n = ode->n, nv = n / 2;
  const size_t bytes = (size_t)n * sizeof(double);
  const sn_status status = w->stale ? refresh(sim, ode, w, input, h_max, err) : SN_OK;
  if (status) {
    return status;
  }
  double *y1 = work, *f1 = work + n, *rest = work + 2 * n;
  double h = fmin(w->h, h_max), t_stop = t_most;
  const bool breaks = sni_dynamics_next_break(&sim->d, w->t1, fmin(w->t1 + h, t_most), &t_stop);
  bool lands = breaks || w->t1 + h >= t_most;
  h = lands ? t_stop - w->t1 : h;
  double error = 0;
  for (int tries = 0;; tries++) {
    while (hides(sim, w->t1, h)) {
      h *= 0.5;
      lands = false;
    }
    const int bad = sni_dopri5_try(ode, w->t1, h, *sim->d.params.rel_tol, *sim->d.params.abs_tol,
                                   w->y1, w->f1, y1, f1, w->dense, &error, rest);
    if (bad < 0 && error <= 1) {
      break;
    }
    info->rejected++;
    const double t_tried = w->t1 + h;
    h *= bad < 0 && isfinite(error) ? fmax(0.2, 0.9 * pow(error, -0.2)) : 0.1;
    lands = false;
    if (!(h > 16 * DBL_EPSILON * fmax(fabs(w->t1), 1e-300)) || tries > 200) {
      /* there, or a little later: before the end of sqrt(1 - t) its rate grows beyond all bounds */
      const double t_later = w->t1 + 1e-3 * *sim->d.params.step;
      if (sni_blame(sim, t_tried, t_tried, w->y1, w->y1 + nv, input, err) ||
          sni_blame(sim, t_later, t_later, w->y1, w->y1 + nv, input, err)) {
        return SN_E_DIVERGED;
      }
      if (sni_blame_pole(sim, w->t1, err)) {
        return SN_E_LIMIT;
      }
      const int culprit = bad >= 0 ? bad : sni_blame_body(sim, w->y1, y1);
      return sni_fail_body(sim, err, SN_E_DIVERGED, culprit, w->t1,
                           "moves so fast that no step is small enough");
    }
  }
  const double h_whole = h;
  const bool stopped = sim->rows.u.events && stop_walk(sim, ode, w, y1, f1, rest, &h);
  lands = lands && !stopped;
  info->substeps++;
  info->last_substep = h;
  info->error = fmax(info->error, error);
  const double grow = error > 0 ? fmin(5, fmax(0.2, 0.9 * pow(error, -0.2))) : 5;
  w->t0 = w->t1;
  w->t1 = lands ? t_stop : w->t1 + h;
  /* a step cut short says little about the next one */
  w->h = lands ? fmax(w->h, h * grow) : stopped ? h_whole : h * grow;
  memcpy(w->y1, y1, bytes);
  memcpy(w->f1, f1, bytes);
  const double t_ref = sni_function_inside(w->t0, w->t1);
  w->at_break = lands && breaks;
  keep_held(&sim->rows);
  const sn_status closed = stopped || (sim->rows.u.events && w->at_break)
                               ? sni_stops_meet(sim, ode, w->t1, t_ref, w->y1, rest, err)
                               : sni_advance_close(sim, w->t1, t_ref, w->y1, err);
  w->legs = w->leg = -1;
  const bool laid = !closed && has_legs(sim) && lay_whole(sim, ode, w, t_ref, rest);
  const bool moved = sni_dynamics_reparam(&sim->d, w->y1, w->y1 + nv);
  w->stale = w->at_break || moved || (sim->d.rows && !laid);
  return closed;
}

/* Where part k / legs of a walk's step ends: y = (q, qd) on the constraints, then its rate.  False:
 * nowhere. */
static bool find_end(sn_sim *sim, const sni_ode *ode, const walk *w, int k, double t_ref,
                     double *y) {
  const int n = ode->n, nv = n / 2;
  const double whole = w->t1 - w->t0, part = (double)k / w->legs, t = w->t0 + part * whole;
  if (k == 0 || k == w->legs) {
    sni_leg_end(nv, whole, w->dense, k > 0, y);
    return true;
  }
  sni_leg_read(nv, whole, w->dense, part, y);
  sni_dynamics_prescribe(&sim->d, t, t_ref, y, y + nv, NULL);
  return sni_advance_close(sim, t, t_ref, y, NULL) == SN_OK &&
         ode->f(ode->user, t, t_ref, y, y + n) < 0;
}

/* Leg k, from k / legs on.  False: there is none, or none that holds. */
static bool lay_leg(sn_sim *sim, const sni_ode *ode, walk *w, int k, double t_ref, double *work) {
  const int n = ode->n, nv = n / 2;
  const double h = (w->t1 - w->t0) / w->legs;
  double *from = work, *to = work + 2 * n;
  if (w->leg >= 0 && k == w->leg + 1) {
    sni_leg_end(nv, h, w->course, true, from);
  } else if (!find_end(sim, ode, w, k, t_ref, from)) {
    return false;
  }
  if (!find_end(sim, ode, w, k + 1, t_ref, to)) {
    return false;
  }
  sni_leg_lay(nv, h, from, from + n, to, to + n, w->course);
  return sni_leg_holds(sim, w->t0 + k * h, h, t_ref, w->course, work);
}

/* Limits that have held all the way are as much to be closed as anything else.  What is held now
 * may be so only after t. */
static sn_status close_within(sn_sim *sim, double t, double t_ref, double *y, sn_error *err) {
  sni_unilateral *u = &sim->rows.u;
  bool *const held = u->held;
  u->held = u->within;
  const sn_status status = sni_advance_close(sim, t, t_ref, y, err);
  u->held = held;
  return status;
}

/* The state at t, between t0 and t1. */
static sn_status read_walk(sn_sim *sim, const sni_ode *ode, walk *w, double t, double *y,
                           double *work, sn_error *err) {
  const int n = ode->n, nv = n / 2;
  const double whole = w->t1 - w->t0, part = (t - w->t0) / whole;
  const double t_ref = sni_function_inside(w->t0, w->t1);
  while (w->legs > 0) {
    const int k = (int)fmin(part * w->legs, w->legs - 1);
    if (k == w->leg || lay_leg(sim, ode, w, k, t_ref, work)) {
      w->leg = k;
      sni_leg_read(nv, whole / w->legs, w->course, part * w->legs - k, y);
      sni_dynamics_prescribe(&sim->d, t, t_ref, y, y + nv, NULL);
      return SN_OK;
    }
    w->leg = -1;
    w->legs = whole >= 2 * LEG_STATES * w->legs * *sim->d.params.step ? 2 * w->legs : 0;
  }
  if (sim->rows.u.events && t == w->t1) { /* what was met there has been met */
    memcpy(y, w->y1, (size_t)n * sizeof *y);
    return SN_OK;
  }
  if (w->legs < 0) {
    sni_dopri5_dense(n, w->dense, part, y);
  } else {
    sni_leg_read(nv, whole, w->dense, part, y);
  }
  sni_dynamics_prescribe(&sim->d, t, t_ref, y, y + nv, NULL);
  return close_within(sim, t, t_ref, y, err);
}

/* To t_end, by steps that do not go beyond t_most. */
static sn_status walk_to(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                         double t_most, sn_info *info, sn_error *err) {
  const int nv = sim->m->tree.nv, n = 2 * nv;
  const size_t bytes = (size_t)n * sizeof(double);
  const double h_max = (sim->d.rows ? AHEAD_CLOSED : AHEAD) * *sim->d.params.step;
  double *own = sni_state_private(state), *vectors = own + HEAD;
  double *work = sim->method_work;
  walk w = {.t0 = own[T0],
            .t1 = own[T1],
            .h = own[H],
            .y1 = work + Y1 * n,
            .f1 = work + F1 * n,
            .dense = work + DENSE * n,
            .course = work + COURSE * n,
            .stale = own[STALE] != 0,
            .legs = (int)own[LEGS],
            .leg = (int)own[LEG]};
  double *y = work + VECTORS * n, *rest = y + n;
  sni_rhs r = {sim, input, 0};
  const sni_ode ode = sni_rhs_ode(&r);
  /* what a user's force will do after this step is not known yet */
  const bool pushed = sim->d.user_force != NULL;
  sni_crowd crowded = {0};
  sni_sim_load_loops(sim, sni_advance_loops(sim, state));
  if (own[VALID] == 1 && own[EXPOSED] == fingerprint(sim, state, input)) {
    memcpy(work, vectors, VECTORS * bytes);
    sni_unilateral_load(&sim->rows, sni_advance_stops(sim, state), sim->rows.u.held);
    sni_unilateral_load(&sim->rows, sni_advance_pressed(sim->m, state), sim->rows.u.within);
    w.stale = w.stale || pushed;
  } else {
    const sn_status status = start_walk(sim, &ode, &w, state, input, h_max, rest, err);
    if (status) {
      return status;
    }
  }
  while (w.t1 < t_end) {
    if (info->substeps >= sim->options.recursive.max_steps) {
      if (sni_blame_pole(sim, w.t1, err)) {
        return SN_E_LIMIT;
      }
      return sni_fail(err, SN_E_LIMIT,
                      "more than %d substeps between t = %g and %g: loosen the tolerance, or allow "
                      "more with run.recursive.max_steps",
                      sim->options.recursive.max_steps, state->t, t_end);
    }
    sn_status status =
        walk_on(sim, &ode, &w, input, h_max, pushed ? t_end : t_most, rest, info, err);
    status = status ? status : sni_advance_check_crowd(sim, &crowded, w.at_break, w.t0, w.t1, err);
    if (status) {
      return status;
    }
  }
  const sn_status status = read_walk(sim, &ode, &w, t_end, y, rest, err);
  if (status) {
    return status;
  }
  info->evaluations = r.evaluations;
  sni_sim_save_loops(sim, sni_advance_loops(sim, state));
  sni_unilateral_save(&sim->rows, sim->rows.u.held, 1, sni_advance_stops(sim, state));
  sni_unilateral_save(&sim->rows, sim->rows.u.within, DBL_MIN, /* of no length: it is held there */
                      sni_advance_pressed(sim->m, state));
  memcpy(state->data, y, bytes);
  memcpy(vectors, work, VECTORS * bytes);
  own[VALID] = 1;
  own[T0] = w.t0;
  own[T1] = w.t1;
  own[H] = w.h;
  own[STALE] = w.stale;
  own[LEGS] = w.legs;
  own[LEG] = w.leg;
  state->t = t_end;
  own[EXPOSED] = fingerprint(sim, state, input);
  return SN_OK;
}

/* What stops a walk may lie behind the state that it was to lead to: then that one is reached by a
 * shorter way. */
sn_status sni_dopri5_advance(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                             sn_info *info, sn_error *err) {
  const sn_status far = walk_to(sim, state, input, t_end, INFINITY, info, err);
  if (far >= 0 || far == SN_E_LIMIT) {
    return far;
  }
  const sn_status near = walk_to(sim, state, input, t_end, t_end, info, err);
  if (near >= 0 && err) {
    *err = (sn_error){0};
  }
  return near;
}
