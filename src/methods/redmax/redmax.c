/* redmax.c: the method `redmax`: a linearly implicit step in reduced and maximal coordinates
 * together [RM 2].
 *
 *     (J^T (M + h D - h^2 K) J + h D_r - h^2 K_r) qd1 = b          q1 = q + h qd1
 *
 * The right-hand side comes in two kinds:
 *     paper      b = M_r qd + h (f_r + J^T (f - M Jdot qd)): explicit in the quadratic terms, which
 *                blow up long chains
 *     projected  b = M_r qd + h (f_r + J^T f).  Each body keeps the motion phi that the solve gave
 *                it, turning on as a free body would, while q goes to q1; then the rates become
 *                what is nearest to it there,  M_r(q1) qd1 = J(q1)^T M phi.  The change of J does
 *                what Jdot qd did.  A projection takes energy or leaves it, so without forces the
 *                kinetic energy never rises: stable, first order, dissipative. */
#include "methods/redmax/redmax.h"
#include "methods/redmax/stay.h"
#include "methods/redmax/extrapolate.h"
#include "methods/redmax/foresee.h"
#include "methods/redmax/move.h"
#include "methods/redmax/thrown.h"

#include <float.h>
#include <string.h>

#define RETRY_DEPTH  10 /* a step is divided into at most 1024                         */
#define LOOKS        8  /* times that a step is solved, with those who meet by what it does */
#define LIMIT_PASSES 4  /* times that drives are told apart by whether a limit holds them */

static sn_status redmax_supports(const sn_model *m, sn_error *err) {
  (void)m;
  (void)err;
  return SN_OK;
}

static bool redmax_dense(const sn_options *options) {
  (void)options;
  return false;
}

static bool accepts(const sn_sim *sim) {
  return sim->options.redmax.on_unconverged == SN_ACCEPT;
}

/* From t to t_end.  Steps on the grid, and halves of them, have the same length to the last bit
 * wherever they are: what depends on it alone need not be computed again. */
static double length_of_step(const sn_sim *sim, double t, double t_end) {
  const double h = t_end - t, rounding = 2 * DBL_EPSILON * fmax(fabs(t), fabs(t_end));
  double part = *sim->d.params.step;
  for (int depth = 0; depth <= RETRY_DEPTH + 2 && part - h > rounding; depth++) {
    part *= 0.5;
  }
  return fabs(part - h) <= rounding ? part : h;
}

/* What joints bear as bodies coast. */
static sn_status coast(sn_sim *sim, const sni_redmax_step *step, sn_error *err) {
  sni_redmax *r = sim->method_work;
  const sni_rub_coasting way = sim->options.redmax.inertia == SN_INERTIA_PROJECTED ? SNI_COAST_FREE
                               : sim->options.redmax.closure == SN_CLOSURE_PROJECT ? SNI_COAST_BENT
                                                                                   : SNI_COAST_HELD;
  const int bad = sni_rubbing_coast(&r->rub, step->t_end, way, step->q, step->qd);
  return bad < 0 ? SN_OK : sni_fail_singular(sim, err, bad, step->t);
}

/* The rates at the start go ahead to those that friction has to see. */
static sn_status lead(sn_sim *sim, const sni_redmax_step *step, sn_error *err) {
  sni_redmax *r = sim->method_work;
  const int bad = sni_rubbing_turn_on(&r->rub, step->t_end, step->h, step->q, sim->qd);
  sni_dynamics_kinematics(&sim->d, step->q, step->qd);
  return bad < 0 ? SN_OK : sni_fail_singular(sim, err, bad, step->t);
}

/* After that, where friction is to see how rows bend the way before they do: rates are made to fit
 * them after the step, or the next one begins as if they had. */
static void bend(sn_sim *sim, const sni_redmax_step *step) {
  sni_redmax *r = sim->method_work;
  const bool fits = sim->options.redmax.closure == SN_CLOSURE_PROJECT;
  if (sim->d.rows && sni_redmax_rubs(sim) && sim->options.redmax.inertia == SN_INERTIA_PAPER &&
      (fits || r->s.whole > 0)) {
    sni_rubbing_bend(&r->rub, step->t_end, step->h, step->q, step->qd, fits ? r->rub.column : NULL);
    sni_dynamics_kinematics(&sim->d, step->q, step->qd);
  }
}

/* Where the bodies are, what is near them, and how joints rub as they coast. */
static sn_status look(sn_sim *sim, const sni_redmax_step *step, sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_system_release_drives(&r->s);
  sni_dynamics_reparam(&sim->d, sim->q, sim->qd);
  sni_dynamics_kinematics(&sim->d, step->q, step->qd);
  r->rub.leads =
      r->s.whole > 0 && sni_redmax_rubs(sim) && sim->options.redmax.inertia == SN_INERTIA_PROJECTED;
  r->rub.bends = false;
  memset(r->rub.ahead, 0, (size_t)sni_rubbing_count(&r->rub) * sizeof *r->rub.ahead);
  if (r->rub.leads) {
    const sn_status coasted = coast(sim, step, err);
    const sn_status led = coasted ? coasted : lead(sim, step, err);
    if (led) {
      return led;
    }
  }
  const sn_status status = r->touch ? sni_touch_find(r->touch, step->h, step->q, step->qd,
                                                     step->input, step->touch_state, err)
                                    : SN_OK;
  if (status || sim->m->nslide == 0 || r->rub.leads) {
    return status;
  }
  const sn_status coasted = coast(sim, step, err);
  if (!coasted) {
    bend(sim, step);
  }
  return coasted;
}

/* qd1 and q1, before anything else moves.  Drives that would pass their limits get them instead,
 * cables that would push are left out, and the others see it; so do bodies that would turn far
 * under heavy loads. */
static sn_status find_rates(sn_sim *sim, const sni_redmax_step *step, bool mend, double *q1,
                            double *qd1, int *passes, sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_system *s = &r->s;
  const bool sweeps = sni_redmax_sweeps(sim), foresees = sni_redmax_foresees(sim);
  sn_status status = SN_OK;
  bool again = true;
  if (sni_redmax_rubs(sim)) { /* what a drive that pulls far too hard would load is hard to find */
    sni_system_limit_drives(s, step->t_end, step->q, step->qd, step->input);
  }
  sni_rubbing_save(&r->rub, r->rubbed);
  s->still = NULL;
  for (int pass = 0; again && pass <= LIMIT_PASSES; pass++) {
    *passes = pass + 1;
    status = sweeps              ? sni_redmax_sweep(sim, step, info, err)
             : mend && pass == 0 ? sni_redmax_mend(sim, step, qd1, info, err)
                                 : sni_redmax_rates(sim, step, pass > 0, qd1, info, err);
    if (status < 0 || (status > 0 && !accepts(sim))) {
      return status;
    }
    if (sim->rows.nsided > 0) {
      sni_unilateral_note(&sim->rows, s->b);
    }
    if (r->touch) {
      sni_sleep_hold(&r->touch->sleep, qd1);
    }
    const bool far = sni_move_begin(s, sweeps ? SNI_TWISTS_OUTWARD : SNI_TWISTS_OF_RATES, foresees,
                                    step->q, qd1, q1);
    status = sweeps ? sni_redmax_check_sweep(sim, step, qd1, err) : status;
    if (status < 0) {
      return status;
    }
    again = sni_system_limit_drives(s, step->t_end, q1, qd1, step->input);
    again = sni_system_limit_loops(s, qd1) || again;
    again = sni_system_pull_cables(s, step->t_end, sim->F) || again;
    /* what rubs and touches is nearer to the last step than to one with forces that are not there
     */
    const bool less = again;
    if (less) {
      sni_rubbing_load(&r->rub, r->rubbed);
    }
    if (foresees) {
      sni_rows *rows = sim->d.rows ? &sim->rows : NULL;
      again = sni_system_foresee(s, rows, rows ? rows->lambda : NULL, far, qd1) || again;
    }
    if (again && !less && r->touch) {
      sni_touch_keep_impulses(r->touch);
    }
  }
  return status;
}

/* The same with those who meet because of the step itself; the last who do are left to halves of
 * it. */
static sn_status find_rates_of_all(sn_sim *sim, const sni_redmax_step *step, double *q1,
                                   double *qd1, sn_info *info, sn_error *err) {
  sni_touch *touch = ((sni_redmax *)sim->method_work)->touch;
  sn_status status = SN_OK;
  bool more = true;
  int passes = 0;
  for (int look = 0; more && look < LOOKS; look++) {
    const bool mend = look > 0 && passes == 1 && sni_redmax_may_mend(sim);
    status = find_rates(sim, step, mend, q1, qd1, &passes, info, err);
    more = touch && (status == SN_OK || (status > 0 && accepts(sim)));
    if (more) {
      sni_touch_twists(touch, qd1);
      more = look + 1 < LOOKS && sni_touch_add_missed(touch, step->h);
    }
  }
  return status;
}

/* Of all that was solved, the last counts: those before did not know of all that would meet. */
static sn_status check_friction(const sn_sim *sim, sn_info *info) {
  const sni_redmax *r = sim->method_work;
  if (!r->unsettled) {
    return SN_OK;
  }
  info->friction_unsettled++;
  info->friction_disagreement = fmax(info->friction_disagreement, r->disagreement);
  return sim->options.redmax.on_unconverged == SN_STOP ? SN_NOT_CONVERGED : SN_OK;
}

/* The forces of contacts are those of the step that has led to this state. */
static void mark_touch(sn_sim *sim, const sn_state *state) {
  const sni_redmax *r = sim->method_work;
  if (r->touch) {
    sim->touch_mark = sni_state_mark(state);
  }
}

/* There, with the rates that belong there. */
static sn_status move(sn_sim *sim, const sni_redmax_step *step, double *q1, double *qd1,
                      sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_system *s = &r->s;
  s->shift = r->touch && r->touch->shifts ? r->touch->shift : NULL;
  if (sim->options.redmax.inertia == SN_INERTIA_PROJECTED) {
    return sni_move_on(sim, s, step->t_end, step->h, step->q, q1, qd1, err);
  }
  sni_move_shift(s, q1);
  if (sim->d.rows && sim->options.redmax.closure == SN_CLOSURE_PROJECT) {
    return sni_stay_close(sim, s, step->t_end, true, q1, qd1, err);
  }
  if (sim->d.rows) {
    sni_stay_open(sim, s, step->t_end, q1, qd1);
  }
  return SN_OK;
}

static sn_status step_euler(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                            sn_info *info, sn_error *err) {
  const sn_model *m = sim->m;
  const size_t bytes = (size_t)m->tree.nv * sizeof(double);
  sni_redmax *r = sim->method_work;
  const sni_redmax_step step = {.t = state->t,
                                .t_end = t_end,
                                .h = length_of_step(sim, state->t, t_end),
                                .q = sim->q,
                                .qd = sim->qd,
                                .input = input,
                                .touch_state =
                                    sni_state_private(state) + m->nloop_q + sni_rubbing_numbers(m)};
  double *q1 = r->s.scratch, *qd1 = sim->qdd;
  memcpy(sim->q, sni_state_q(state), bytes);
  memcpy(sim->qd, sni_state_qd(state), bytes);
  const sn_status seen = look(sim, &step, err);
  if (seen) {
    return seen;
  }
  r->unsettled = false;
  sn_status status = find_rates_of_all(sim, &step, q1, qd1, info, err);
  status = status ? status : check_friction(sim, info);
  if (status < 0 || (status > 0 && !accepts(sim))) {
    return status;
  }
  r->outrun = r->touch && r->may_divide && sni_touch_outruns(r->touch, step.h);
  if (r->outrun) {
    return SN_NOT_CONVERGED;
  }
  if (r->touch) {
    bool lost = false;
    const sn_status led = sni_redmax_lead(sim, &step, q1, qd1, &lost);
    if (led < 0) {
      return led;
    }
    r->outrun = lost && r->may_divide;
    if (r->outrun) {
      return SN_NOT_CONVERGED;
    }
  }
  const bool pushed = r->touch && r->touch->pushes;
  /* not where gaps stay open: there it is in the rates, and stays there */
  const bool unbends =
      r->rub.bends && (r->rub.leads || sim->options.redmax.closure == SN_CLOSURE_PROJECT);
  if (unbends) {
    sni_rubbing_unbend(&r->rub, qd1);
  }
  const sn_status weighed = r->rub.leads ? sni_rubbing_weigh_lead(&r->rub) : SN_OK;
  if (weighed) {
    return sni_fail_singular(sim, err, 0, step.t);
  }
  if (r->rub.leads && !pushed) {
    sni_rubbing_fall_back(&r->rub, qd1);
  }
  if (unbends || (r->rub.leads && !pushed)) {
    sni_move_begin(&r->s, SNI_TWISTS_OF_RATES, false, step.q, qd1, q1);
  }
  if (r->rub.leads && pushed) { /* to weigh the lead is to lose how bodies move */
    sni_touch_twists(r->touch, qd1);
  }
  const sn_status moved = move(sim, &step, q1, qd1, err);
  if (moved) {
    return moved;
  }
  if (r->rub.leads && pushed) { /* else what touches would go into each other */
    sni_rubbing_fall_back(&r->rub, qd1);
  }
  if (r->touch) {
    sni_touch_end(r->touch, step.h, sim->q, q1, qd1, step.touch_state);
  }
  memcpy(sni_state_q(state), q1, bytes);
  memcpy(sni_state_qd(state), qd1, bytes);
  state->t = t_end;
  sni_rubbing_note_work(&r->rub, step.h);
  if (r->touch) {
    info->contact_residual = fmax(info->contact_residual, r->touch->residual);
  }
  if (r->touch) {
    sni_touch_sum_part(r->touch, step.h);
  }
  mark_touch(sim, state);
  info->substeps++;
  info->evaluations++;
  info->last_substep = step.h;
  return status;
}

/* Second order: extrapolate.c, on top of the step above.  All three parts leave to the masses what
 * the whole step may leave to them: else they would differ by more than their lengths. */
static sn_status step_extrapolated(sn_sim *sim, sn_state *state, const sn_input *input,
                                   double t_end, sn_info *info, sn_error *err) {
  sni_system *s = &((sni_redmax *)sim->method_work)->s;
  s->whole = t_end - state->t;
  const sn_status status = sni_step_extrapolated(step_euler, accepts(sim), sim, state, input, t_end,
                                                 s->scratch + sim->m->tree.nv, info, err);
  s->whole = 0;
  if (status >= 0) {
    mark_touch(sim, state); /* of its last half */
  }
  return status;
}

/* Springs may throw a step too far: thrown.c.  Not with the paper's options. */
static bool guards(const sn_sim *sim) {
  return sni_redmax_foresees(sim) && sim->m->nline > 0 && !sni_redmax_rubs(sim) &&
         !sim->m->touching;
}
static sn_status step_guarded(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                              sn_info *info, sn_error *err) {
  double *room = ((sni_redmax *)sim->method_work)->s.scratch + sim->m->tree.nv;
  return sni_step_guarded(step_euler, sim, state, input, t_end, room, info, err);
}

/* The step, in halves where a solve did not converge and that is asked for. */
static sn_status advance(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                         int depth, sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  const bool extrapolated = sim->options.redmax.integrator == SN_EXTRAPOLATED;
  r->outrun = false;
  r->may_divide = !extrapolated && depth < RETRY_DEPTH;
  const sn_status status = extrapolated  ? step_extrapolated(sim, state, input, t_end, info, err)
                           : guards(sim) ? step_guarded(sim, state, input, t_end, info, err)
                                         : step_euler(sim, state, input, t_end, info, err);
  const bool retries = sim->options.redmax.on_unconverged == SN_RETRY && depth < RETRY_DEPTH;
  if (status <= 0 || !(r->outrun || retries)) {
    sni_rubbing_add_power(&r->rub);
    if (r->touch) {
      sni_touch_sum_add(r->touch);
    }
    return status;
  }
  info->retries += !r->outrun;
  const double t_mid = 0.5 * (state->t + t_end);
  const sn_status first = advance(sim, state, input, t_mid, depth + 1, info, err);
  return first ? first : advance(sim, state, input, t_end, depth + 1, info, err);
}

/* What else there is to take depends on what is taken already. */
static sn_status fail_unconverged(const sn_sim *sim, double t, const sn_info *info, sn_error *err) {
  const sni_redmax *r = sim->method_work;
  if (r->used == SNI_PCG && !sim->rows.kkt) {
    return sni_fail(err, SN_E_UNCONVERGED,
                    "at t = %g: the linear solver stopped at a residual of %.2g after %d "
                    "iterations: take solver graph, a smaller step, or allow more with "
                    "max_iterations",
                    t, info->residual, info->iterations);
  }
  const bool other = sim->options.redmax.solver == SN_SOLVER_REDUCED ||
                     sim->options.redmax.solver == SN_SOLVER_REDUCED_KKT;
  return sni_fail(err, SN_E_UNCONVERGED,
                  "at t = %g: the linear solver stopped at a residual of %.2g: take %sa smaller "
                  "step",
                  t, info->residual, other ? "solver auto or graph, or " : "");
}

/* Constraints are solved for by the other one. */
static void swap_graph(sn_sim *sim) {
  sni_redmax *r = sim->method_work;
  sni_kkt *other = r->graph;
  r->graph = sim->rows.kkt;
  sim->rows.kkt = other;
  sni_rows_forget_factors(&sim->rows);
}

/* From the constraints that it ends with; where gaps stay open these close by themselves. */
static sn_status advance_held(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                              sn_info *info, sn_error *err) {
  const bool closes = sim->options.redmax.closure == SN_CLOSURE_PROJECT;
  const sn_status held = closes ? sni_sim_switch(sim, t_end, state, err) : SN_OK;
  sni_redmax *r = sim->method_work;
  sni_rubbing_begin_power(&r->rub);
  if (r->touch) {
    sni_touch_sum_clear(r->touch);
  }
  return held ? held : advance(sim, state, input, t_end, 0, info, err);
}

static sn_status take_step(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                           sn_info *info, sn_error *err) {
  const size_t bytes = (size_t)(2 * state->nv + sni_redmax_state_count(sim->m)) * sizeof(double);
  double *backup = ((sni_redmax *)sim->method_work)->backup;
  const double t = state->t;
  memcpy(backup, state->data, bytes);
  sni_sim_load_loops(sim, sni_state_private(state));
  sni_rubbing_load(&((sni_redmax *)sim->method_work)->rub,
                   sni_state_private(state) + sim->m->nloop_q);
  sni_unilateral_load(&sim->rows, NULL, sim->rows.u.pressed);
  sn_status status = advance_held(sim, state, input, t_end, info, err);
  if (status && ((const sni_redmax *)sim->method_work)->graph) {
    memcpy(state->data, backup, bytes);
    state->t = t;
    swap_graph(sim);
    status = advance_held(sim, state, input, t_end, info, err);
    swap_graph(sim);
  }
  if (status < 0 || (status > 0 && !accepts(sim))) {
    memcpy(state->data, backup, bytes);
    state->t = t;
    if (status > 0 && info->friction_unsettled > 0) {
      return sni_fail(
          err, SN_E_UNCONVERGED,
          "at t = %g: loads and friction in joints do not agree after %d iterations, "
          "bounds are off by %.2g of what they should be: let it go on with on_unconverged "
          "retry or accept, or take a smaller step",
          t, info->friction_iterations, info->friction_disagreement);
    }
    if (status > 0 && sim->open_one >= 0) { /* which err says, with its gap */
      return SN_E_UNCONVERGED;
    }
    return status < 0 ? status : fail_unconverged(sim, t, info, err);
  }
  if (((const sni_redmax *)sim->method_work)->touch) {
    sni_touch_sum_end(((sni_redmax *)sim->method_work)->touch, length_of_step(sim, t, t_end));
  }
  sni_sim_save_loops(sim, sni_state_private(state));
  sni_rubbing_end_power(&((sni_redmax *)sim->method_work)->rub, t_end - t);
  sni_rubbing_save(&((sni_redmax *)sim->method_work)->rub,
                   sni_state_private(state) + sim->m->nloop_q);
  sni_unilateral_save(&sim->rows, sim->rows.u.pressed, length_of_step(sim, t, t_end),
                      sni_state_private(state) + sni_redmax_pressed_at(sim->m));
  sni_unilateral_load(&sim->rows, NULL, sim->rows.u.pressed); /* it is the state's */
  return status;
}

static sn_status redmax_step(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                             sn_info *info, sn_error *err) {
  sni_redmax_part_limits(sim, true);
  const sn_status status = take_step(sim, state, input, t_end, info, err);
  sni_redmax_part_limits(sim, false);
  return status;
}

static double *redmax_pressed(const sn_model *m, sn_state *state) {
  return sni_state_private(state) + sni_redmax_pressed_at(m);
}

static const double *redmax_rubbing(const sn_model *m, const sn_state *state) {
  return state->data + 2 * state->nv + m->nloop_q;
}

const sni_rubbing *sni_sim_rubbing(const sn_sim *sim) {
  return &((const sni_redmax *)sim->method_work)->rub;
}

static void redmax_rub(sn_sim *sim, const sn_state *state) {
  sni_rubbing *r = &((sni_redmax *)sim->method_work)->rub;
  sni_rubbing_load(r, redmax_rubbing(sim->m, state));
  sni_rubbing_look(r, state->t, state->data, state->data + state->nv);
  sni_rubbing_push(r);
  /* contacts as long as they are those of the step that led here */
  const sni_redmax *own = sim->method_work;
  if (own->touch && sim->touch_mark == sni_state_mark(state)) {
    sni_touch_wrenches(own->touch, own->s.h, true, r->touched);
    for (int i = 0; i < sim->m->tree.nbody; i++) {
      sim->d.friction_wrench[i] = sn_vec6_add(sim->d.friction_wrench[i], r->touched[i]);
    }
  }
}

static sn_vec6 redmax_rub_in_loop(const sn_sim *sim, int loop) {
  const sni_rubbing *r = sni_sim_rubbing(sim);
  sn_vec6 f = {{0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < sim->m->nrub; k++) {
    const sni_rub *rub = &sim->m->rub[k];
    for (int i = rub->first; rub->loop == loop && i < rub->first + rub->nslide; i++) {
      f = sn_vec6_addscaled(f, -r->force[i], r->row[i].p[1]);
    }
  }
  return f;
}

/* The explicit integrators work on the same accelerations as those of `recursive`. */
static const sni_method *redmax_instead(sn_options *o) {
  if (o->redmax.integrator != SN_IMPLICIT_DOPRI5 && o->redmax.integrator != SN_IMPLICIT_RK4) {
    return NULL;
  }
  o->recursive.integrator = o->redmax.integrator == SN_IMPLICIT_RK4 ? SN_RK4 : SN_DOPRI5;
  return sni_method_find("recursive");
}

const sni_method sni_method_redmax = {
    .name = "redmax",
    .instead = redmax_instead,
    .doc = "linearly implicit dynamics in reduced and maximal coordinates; stiff springs at large "
           "steps",
    .supports = redmax_supports,
    .state_count = sni_redmax_state_count,
    .work_size = sni_redmax_work_size,
    .wants_graph = sni_redmax_wants_graph,
    .implicit = true,
    .motions_are_rows = true,
    .create = sni_redmax_create,
    .destroy = sni_redmax_destroy,
    .describe = sni_redmax_describe,
    .dense = redmax_dense,
    .rubbing = redmax_rubbing,
    .rub_in_loop = redmax_rub_in_loop,
    .pressed = redmax_pressed,
    .rub = redmax_rub,
    .step = redmax_step};
