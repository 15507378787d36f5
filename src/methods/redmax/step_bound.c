/* step_bound.c: the rates of a step with all that binds: constraints, limits, friction in joints,
 * contact. */
#include "methods/redmax/foresee.h"
#include "methods/redmax/move.h"
#include "methods/redmax/redmax.h"

#include <string.h>

static sn_status solve_column(void *user, const double *b, double *x) {
  sni_redmax *r = user;
  sni_solve_info solved = {.bad = -1};
  return sni_solvers[r->used]->solve(&r->s, r->own[r->used], b, r->choice.tolerance,
                                     r->choice.max_iterations, x, &solved);
}

/* The dual of the rows, for A as it has been factorised. */
static sn_status factorise_rows(sn_sim *sim) {
  sni_redmax *r = sim->method_work;
  return r->used == SNI_TREE ? sni_rows_factorise(&sim->rows, sni_rows_solve_tree, &sim->d)
                             : sni_rows_factorise(&sim->rows, solve_column, r);
}

/* What rows are asked for in this step.  The paper's gaps have places of the start and functions of
 * time of the end, as if all that is driven were late by a step.  Where rates are settled at the
 * end of a step, gaps are those of that moment; if the next step saw others, every step would push
 * gain times the rate of what is driven, for nothing. */
static void aim(sn_sim *sim, const double *qd) {
  const bool late = sim->options.redmax.activation == SN_ACTIVATION_PENETRATION;
  const bool settles = sim->options.redmax.inertia == SN_INERTIA_PROJECTED;
  const double h = ((sni_redmax *)sim->method_work)->s.h;
  sni_unilateral_aim_step(&sim->rows, h, sni_closure_gain(sim), settles ? h : 0,
                          late ? sim->options.redmax.gain : 0, qd);
}

/* From A^-1 b, and all at once. */
static sn_status correct_again(void *user, const double *c, double *x) {
  sn_sim *sim = user;
  memcpy(x, ((sni_redmax *)sim->method_work)->without, (size_t)sim->m->tree.nv * sizeof *x);
  sni_rows_correct(&sim->rows, c, x);
  return SN_OK;
}
static sn_status solve_again(void *user, const double *c, double *x) {
  sn_sim *sim = user;
  int bad = -1;
  double residual = 0;
  return sni_unilateral_solve(&sim->rows, ((sni_redmax *)sim->method_work)->s.b, c, x, &bad,
                              &residual);
}

/* Rows that depend on others have no part in the dual, and nobody looks at them again where gaps
 * stay open. */
static sn_status check_dual(sn_sim *sim, const sni_redmax_step *step, const double *qd1,
                            sn_error *err) {
  const sni_rows *rows = &sim->rows;
  const bool left_out = rows->open && rows->nsided == 0 && rows->rank < rows->nrow;
  return left_out ? sni_sim_check_rates(sim, step->t_end, qd1, err) : SN_OK;
}

/* qd1 = A^-1 b, and no constraint minds: [RM 4], with rows at the start of the step and functions
 * of time at its end. */
static sn_status constrain(sn_sim *sim, const sni_redmax_step *step, double *qd1, sn_error *err) {
  sni_rows *rows = &sim->rows;
  sni_rows_eval_poses(rows, step->t_end, step->t_end, step->q, step->qd);
  const sn_status status = factorise_rows(sim);
  aim(sim, step->qd);
  if (status < 0) {
    return status;
  }
  sni_redmax *r = sim->method_work;
  memcpy(r->without, qd1, (size_t)sim->m->tree.nv * sizeof *qd1);
  sni_rows_correct(rows, rows->rhs, qd1);
  if (rows->nsided > 0) {
    sni_unilateral_tame(rows, correct_again, sim, qd1);
  }
  const sn_status held = sni_sim_check_limits(sim, step->t_end, err);
  return held ? held : check_dual(sim, step, qd1, err);
}

bool sni_redmax_rubs(const sn_sim *sim) {
  return sni_rubbing_may(&((const sni_redmax *)sim->method_work)->rub);
}

/* Nothing binds on one side only, and A is solved with by iterations: then the constraints come
 * along with them. */
bool sni_redmax_comes_along(const sn_sim *sim) {
  const sni_redmax *r = sim->method_work;
  return sim->d.rows && sim->m->nsided == 0 && !r->touch && !sni_redmax_rubs(sim);
}
static bool comes_along(const sn_sim *sim) {
  const sni_redmax *r = sim->method_work;
  return r->used == SNI_PCG && !sim->rows.kkt && sni_redmax_comes_along(sim);
}

/* What closes gaps, in the same way, with the same A and its factors, where the step began; b is 0.
 */
static sn_status close_along(void *user, double *x) {
  sn_sim *sim = user;
  sni_redmax *r = sim->method_work;
  sni_solve_info solved = {.bad = -1};
  sni_dynamics_places(&sim->d, sim->q, sim->qd);
  return sni_pcg_solve_bound(&r->s, r->own[SNI_PCG], &sim->rows, NULL, r->choice.tolerance,
                             r->choice.max_iterations, x, &solved);
}

/* qd1, all at once. */
static sn_status solve_along(sn_sim *sim, const sni_redmax_step *step, double *qd1, sn_info *info,
                             sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_rows *rows = &sim->rows;
  sni_solve_info solved = {.bad = -1};
  const sn_status fit = sni_redmax_check_side(sim, step->t_end, err);
  if (fit) {
    return fit;
  }
  sni_rows_eval_poses(rows, step->t_end, step->t_end, step->q, step->qd);
  sni_rows_halve(rows);
  rows->along = close_along;
  rows->along_user = sim;
  aim(sim, step->qd);
  const sn_status status =
      sni_pcg_solve_bound(&r->s, r->own[SNI_PCG], rows, r->s.b, r->choice.tolerance,
                          r->choice.max_iterations, qd1, &solved);
  info->solves++;
  info->iterations += solved.iterations;
  const bool lost = status && r->choice.spare >= 0;
  if (lost) { /* that one without constraints, which come afterwards */
    const sn_status spare = sni_redmax_take_spare(sim, step->t, err);
    memcpy(qd1, step->qd, (size_t)sim->m->tree.nv * sizeof *qd1);
    return spare ? spare : sni_redmax_solve(sim, step->t_end, qd1, info, err);
  }
  info->residual = fmax(info->residual, solved.residual);
  const sn_status finite = sni_redmax_check_rates(sim, step->t_end, qd1, err);
  const sn_status agrees = finite ? finite : check_dual(sim, step, qd1, err);
  return agrees ? agrees : status;
}

static sn_status solve_graph(sn_sim *sim, double *qd1, int *bad, double *residual) {
  sni_rows *rows = &sim->rows;
  const double *b = ((sni_redmax *)sim->method_work)->s.b;
  return rows->nsided > 0 ? sni_unilateral_solve(rows, b, rows->rhs, qd1, bad, residual)
                          : sni_kkt_solve(rows->kkt, b, rows->rhs, qd1, rows->lambda, residual);
}

/* The same with the graph of bodies and joints.  Rows stand where the step begins, and functions of
 * time at its end: rows that repeat others may ask for something else by as much as both turn
 * meanwhile.  Where gaps are closed they are asked once more at the end; until then they have what
 * they can have. */
static sn_status solve_constrained(sn_sim *sim, const sni_redmax_step *step, double *qd1,
                                   sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_rows *rows = &sim->rows;
  sni_rows_eval_poses(rows, step->t_end, step->t_end, step->q, step->qd);
  aim(sim, step->qd);
  int bad = -1;
  double residual = 0;
  sn_status status = SN_OK;
  const bool masses = sni_system_is_mass(&r->s) && !r->s.any_braced;
  if (!masses || !sni_rows_have_factors(rows)) {
    sni_graph_fill(&r->s, rows->kkt, rows, NULL);
    if (rows->nsided == 0) {
      status = sni_kkt_factorise(rows->kkt, r->s.b, rows->rhs, &bad);
    }
  }
  status = status >= 0 ? solve_graph(sim, qd1, &bad, &residual) : status;
  if (status > 0 && !rows->open) {
    sni_rows_agree(rows);
    status = solve_graph(sim, qd1, &bad, &residual);
  }
  if (status < 0) {
    return sni_fail_body(sim, err, status, bad, step->t_end, "has a singular matrix");
  }
  if (rows->nsided > 0) {
    const bool lost = status > 0 && rows->u.impossible >= 0;
    const sn_status tame = sni_unilateral_tame(rows, solve_again, sim, qd1);
    status = lost || tame < 0 ? tame : status;
    if (status < 0) {
      return sni_fail_body(sim, err, status, -1, step->t_end, "has a singular matrix");
    }
  }
  sn_status held = status || rows->nsided > 0 ? sni_sim_check_limits(sim, step->t_end, err) : SN_OK;
  if (status && !held) { /* rows that want different rates have no solution */
    held = sni_sim_check_rates(sim, step->t_end, qd1, err);
  }
  info->residual = fmax(info->residual, residual);
  return held ? held : status;
}

/* ---- with friction in joints ---- */

/* See sni_rub_solver. */
static sn_status solve_between(void *user, const double *b, const double *c, double *x) {
  sn_sim *sim = user;
  sni_rows *rows = &sim->rows;
  int bad = -1;
  double residual = 0;
  if (rows->kkt) {
    return rows->nsided > 0 ? sni_unilateral_solve(rows, b, c, x, &bad, &residual)
                            : sni_kkt_solve(rows->kkt, b, c, x, rows->lambda, &residual);
  }
  const sn_status status = solve_column(sim->method_work, b, x);
  if (status >= 0 && sim->d.rows) {
    sni_rows_correct(rows, c, x);
  }
  return status;
}

/* A, and the constraints with it. */
static sn_status factorise_all(sn_sim *sim, const sni_redmax_step *step, bool again,
                               sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_rows *rows = &sim->rows;
  if (!rows->kkt) {
    const sn_status status = sni_redmax_factorise(sim, step->t, again, err);
    if (status < 0 || !sim->d.rows) {
      return status;
    }
  }
  sni_rows_eval_poses(rows, step->t_end, step->t_end, step->q, step->qd);
  aim(sim, step->qd);
  if (!rows->kkt) {
    return factorise_rows(sim);
  }
  int bad = -1;
  for (int i = 0; i < rows->nrow && rows->nsided > 0; i++) {
    rows->u.in[i] = !rows->row[i].one_sided;
  }
  sni_graph_fill(&r->s, rows->kkt, rows, NULL);
  const sn_status status = sni_kkt_factorise(rows->kkt, r->s.b, rows->rhs, &bad);
  rows->u.fresh = status >= 0;
  return status < 0 ? sni_fail_body(sim, err, status, bad, step->t_end, "has a singular matrix")
                    : status;
}

/* ---- with contact ---- */

/* x = A^-1 b with the constraints as they stand: for rows of contacts. */
static sn_status solve_bound(void *user, const double *b, double *x) {
  const sn_sim *sim = user;
  return solve_between(user, b, ((const sni_redmax *)sim->method_work)->touch->zero, x);
}

/* qd1 with what touches. */
static sn_status touch(sn_sim *sim, const sni_redmax_step *step, double *qd1, sn_info *info,
                       sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_rows *rows = sim->d.rows ? &sim->rows : NULL;
  const bool factors = !(rows && rows->kkt) && (r->used == SNI_TREE || r->used == SNI_PCG);
  const size_t bytes = rows ? (size_t)rows->nrow * sizeof *rows->lambda : 0;
  if (rows) { /* to ask how bodies answer is to lose what the constraints bear */
    memcpy(rows->lambda_before, rows->lambda, bytes);
  }
  if (!rows) { /* for those who come late: sni_redmax_mend */
    memcpy(r->without, r->s.b, (size_t)r->s.t->nv * sizeof *qd1);
    memcpy(r->without + r->s.t->nv, qd1, (size_t)r->s.t->nv * sizeof *qd1);
  }
  sn_status status = sni_touch_solve(r->touch, r->s.h, step->qd, qd1, step->touch_state, factors,
                                     solve_bound, sim, info, err);
  status = status ? status : sni_touch_check(r->touch, step->t_end, err);
  if (rows && !r->touch->pushes) {
    memcpy(rows->lambda, rows->lambda_before, bytes);
  }
  if (status || !r->touch->pushes) {
    return status;
  }
  if (rows && rows->kkt) {
    return solve_between(sim, r->s.b, rows->rhs, qd1);
  }
  status = sni_redmax_solve(sim, step->t_end, qd1, info, err);
  if (status >= 0 && rows) {
    sni_rows_correct(rows, rows->rhs, qd1);
  }
  return status;
}

bool sni_redmax_may_mend(const sn_sim *sim) {
  const sni_redmax *r = sim->method_work;
  return r->touch && r->used == SNI_TREE && sni_touch_may_mend(r->touch);
}

sn_status sni_redmax_mend(sn_sim *sim, const sni_redmax_step *step, double *qd1, sn_info *info,
                          sn_error *err) {
  sni_redmax *r = sim->method_work;
  const int nv = r->s.t->nv;
  memcpy(r->s.b, r->without, (size_t)nv * sizeof *r->s.b);
  const sn_status status = sni_touch_mend(r->touch, r->s.h, step->qd, r->without + nv,
                                          step->touch_state, solve_bound, sim, info, err);
  return status ? status : sni_redmax_solve(sim, step->t_end, qd1, info, err);
}

/* What functions of time move in this step besides h qd1: they give places, and rates at its end.
 * In `out`, nv numbers; false: nothing. */
static bool find_driven(sn_sim *sim, const sni_redmax_step *step, double *out) {
  sni_rows *rows = &sim->rows;
  const int nv = sim->m->tree.nv;
  if (!sim->d.rows || rows->timeless || rows->nsided > 0 || sim->m->nmotion == 0 ||
      sim->options.redmax.closure != SN_CLOSURE_PROJECT) {
    return false;
  }
  const double h = step->h;
  double *b = out + nv, *c = ((sni_redmax *)sim->method_work)->touch->zero;
  aim(sim, step->qd); /* where joints rub, rows have been asked for something else since */
  for (int i = 0; i < rows->nrow; i++) {
    c[i] = rows->row[i].g != 0 ? -rows->row[i].g / h - rows->rhs[i] : 0;
  }
  memset(b, 0, (size_t)nv * sizeof *b);
  const sn_status status = solve_between(sim, b, c, out);
  memset(c, 0, (size_t)rows->nrow * sizeof *c);
  for (int j = 0; j < nv; j++) {
    out[j] *= h;
  }
  return status >= 0;
}

sn_status sni_redmax_lead(sn_sim *sim, const sni_redmax_step *step, const double *q1,
                          const double *qd1, bool *lost) {
  sni_redmax *r = sim->method_work;
  sni_rows *rows = sim->d.rows ? &sim->rows : NULL;
  const size_t bytes = rows ? (size_t)rows->nrow * sizeof *rows->lambda : 0;
  *lost = false;
  if (rows) {
    memcpy(rows->lambda_before, rows->lambda, bytes);
  }
  sn_status status = sni_touch_finish(r->touch, step->h, solve_bound, sim);
  if (r->touch->shifts) {
    sni_touch_twists(r->touch, qd1); /* as they were: to ask how bodies answer is to lose them */
  }
  if (status >= 0 && sim->options.redmax.inertia == SN_INERTIA_PROJECTED) {
    const double *driven = find_driven(sim, step, r->without) ? r->without : NULL;
    if (driven) {
      sni_touch_twists(r->touch, qd1);
    }
    status = sni_touch_lead(r->touch, step->h, step->q, q1, qd1, driven, solve_bound, sim, lost);
  }
  if (rows) {
    memcpy(rows->lambda, rows->lambda_before, bytes);
  }
  return status;
}

/* ---- with friction in joints and contact ---- */

/* What contacts do is known to so many times their own tolerance. */
#define CONTACTS 10

/* Contacts and joints that hold the same thing may go on sharing it otherwise, which moves nothing.
 * By parts of v0. */
static bool moves_alike(int nv, double part, const double *v0, const double *a, const double *b) {
  double most = 0, off = 0;
  for (int k = 0; k < nv; k++) {
    most = fmax(most, fabs(v0[k]));
    off = fmax(off, fabs(a[k] - b[k]));
  }
  return off <= part * most;
}

/* Contacts and joints take turns: contacts with joints that rub as much as their bounds let them;
 * then the joints, exactly, which bear what the contacts do, and have other bounds. */
static sn_status rub_and_touch(sn_sim *sim, const sni_redmax_step *step, double *qd1,
                               int *iterations, double *off, sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_system *s = &r->s;
  sni_rubbing *rub = &r->rub;
  const sn_options *o = &sim->options;
  const sni_rows *rows = sim->d.rows ? &sim->rows : NULL;
  const int nv = s->t->nv;
  const size_t bytes = (size_t)nv * sizeof(double);
  const bool factors = !(rows && rows->kkt) && (r->used == SNI_TREE || r->used == SNI_PCG);
  /* b and v without either, what contacts add to b, and rates of the turn before */
  double *b0 = r->without, *v0 = b0 + nv, *pushed = v0 + nv, *before = pushed + nv;
  memcpy(b0, s->b, bytes);
  memset(pushed, 0, bytes);
  sni_rubbing_resume(rub);
  sni_rubbing_begin(rub);
  sn_status status = sni_rubbing_free(rub, v0);
  bool last = false;
  for (*iterations = 1; status >= 0; ++*iterations) {
    memcpy(s->b, b0, bytes);
    memcpy(qd1, v0, bytes);
    sni_rubbing_hold(rub, qd1);
    status =
        sni_touch_solve(r->touch, s->h, step->qd, qd1, *iterations == 1 ? step->touch_state : NULL,
                        factors, solve_bound, sim, info, err);
    double moved = 0, most = 0;
    for (int k = 0; k < nv; k++) {
      const double push = s->b[k] - b0[k];
      moved = fmax(moved, fabs(push - pushed[k]));
      most = fmax(most, fmax(fabs(push), fabs(b0[k])));
      pushed[k] = push;
    }
    rub->touches = true;
    sni_touch_wrenches(r->touch, s->h, false, rub->touched);
    status = status < 0 ? status : sni_rubbing_free(rub, qd1);
    const sn_status turned = status < 0 ? status : sni_rubbing_turn(rub, qd1, off);
    status = turned < 0 ? turned : status;
    const bool settled =
        moved <=
            fmax(o->redmax.friction.tolerance, CONTACTS * o->redmax.contact.tolerance) * most ||
        (*iterations > 1 && moves_alike(nv, o->redmax.friction.tolerance, v0, before, qd1));
    memcpy(before, qd1, bytes);
    if (status < 0 || (settled && !rub->settling && sni_rubbing_agrees(rub, o, *off))) {
      break;
    }
    if (last) {
      status = SN_NOT_CONVERGED;
      break;
    }
    if (rub->settling || sni_rubbing_tired(rub, o)) {
      last = sni_rubbing_settle(rub);
    } else {
      sni_rubbing_follow(rub, *off);
    }
  }
  sni_rubbing_end(rub, qd1);
  const sn_status held = status < 0 ? status : sni_touch_check(r->touch, step->t_end, err);
  return held ? held : status;
}

static sn_status rub(sn_sim *sim, const sni_redmax_step *step, double *qd1, int *iterations,
                     double *off, sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  return r->touch ? rub_and_touch(sim, step, qd1, iterations, off, info, err)
                  : sni_rubbing_solve(&r->rub, &sim->options, qd1, iterations, off);
}

/* Turns of the paper's problem may lead away from where loads and friction agree, and what they end
 * at may drive; and they do not ask whether what rests could stay.  Then the reduced problem
 * decides, from where the step began. */
static sn_status rub_surely(sn_sim *sim, const sni_redmax_step *step, double *qd1, int *iterations,
                            double *off, sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  const sn_status status = rub(sim, step, qd1, iterations, off, info, err);
  if (!r->rub.maximal || !(status == SN_NOT_CONVERGED || sni_rubbing_slips_from_rest(&r->rub))) {
    return status;
  }
  const int before = *iterations;
  if (r->touch) { /* without contacts */
    memcpy(r->s.b, r->without, (size_t)r->s.t->nv * sizeof *r->s.b);
  }
  sni_rubbing_load(&r->rub, r->rubbed);
  sni_rubbing_look(&r->rub, step->t_end, step->q, step->qd);
  r->rub.maximal = false;
  const sn_status again = rub(sim, step, qd1, iterations, off, info, err);
  r->rub.maximal = true;
  *iterations += before;
  return again;
}

static sn_status solve_rubbing(sn_sim *sim, const sni_redmax_step *step, bool again, double *qd1,
                               sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  int iterations = 0;
  double off = 0;
  const sn_status pushed = sni_redmax_check_pushes(sim, step->t_end, err);
  if (pushed) {
    return pushed;
  }
  sn_status status = factorise_all(sim, step, again, err);
  if (status < 0) {
    return status;
  }
  sni_rubbing_look(&r->rub, step->t_end, step->q, step->qd);
  status = sni_rubbing_prepare(&r->rub, solve_between, sim);
  if (status < 0) {
    return status;
  }
  status = rub_surely(sim, step, qd1, &iterations, &off, info, err);
  /* then friction is within bounds that are nearly those of the loads; whether that matters is seen
   * when nothing is solved again */
  r->unsettled = status == SN_NOT_CONVERGED;
  r->disagreement = off;
  status = r->unsettled ? SN_OK : status;
  info->solves++;
  info->friction_iterations =
      iterations > info->friction_iterations ? iterations : info->friction_iterations;
  const sn_status lost = sni_redmax_check_rates(sim, step->t_end, qd1, err);
  if (lost) {
    return lost;
  }
  const sn_status held =
      status < 0 || !sim->d.rows ? SN_OK : sni_sim_check_limits(sim, step->t_end, err);
  return held ? held : status;
}

bool sni_redmax_foresees(const sn_sim *sim) {
  return sim->options.redmax.tangent == SN_TANGENT_CLAMPED &&
         sim->options.redmax.inertia == SN_INERTIA_PROJECTED;
}

/* What is braced for depends on the reactions of the constraints, which only a solve tells.  Where
 * there is nothing else in A, the masses are enough to foresee them, and their factors are often at
 * hand since the end of the last step. */
static bool foresee_reactions(sn_sim *sim, const sni_redmax_step *step, double *qd1) {
  sni_system *s = &((sni_redmax *)sim->method_work)->s;
  sni_rows *rows = &sim->rows;
  if (!sim->d.rows || rows->nsided > 0 || !rows->timeless || !s->any_braced ||
      !sni_system_is_mass(s)) {
    return false;
  }
  sni_rows_eval_poses(rows, step->t_end, step->t_end, step->q, step->qd);
  aim(sim, step->qd);
  if (rows->kkt) {
    sni_kkt_take_care(rows->kkt, SNI_KKT_ROUGH);
  }
  const int bad = sni_rows_solve_mass(rows, s->b, rows->rhs, qd1);
  if (rows->kkt) {
    sni_kkt_take_care(rows->kkt, SNI_KKT_EXACT);
  }
  if (bad >= 0) {
    return false;
  }
  sni_J_mul_world(s->t, &s->d->w, qd1);
  sni_system_foresee(s, rows, rows->lambda, true, qd1);
  return true;
}

/* A and b, and qd1 without contact; without constraints too, unless they are solved for at the same
 * time. */
static sn_status solve_unbound(sn_sim *sim, const sni_redmax_step *step, bool again, double *qd1,
                               sn_info *info, sn_error *err) {
  sni_redmax_equations(sim, step);
  if (!again && sni_redmax_foresees(sim) && foresee_reactions(sim, step, qd1)) {
    sni_redmax_equations(sim, step);
  }
  if (!again || !comes_along(sim)) { /* else they are nearly there */
    memcpy(qd1, step->qd, (size_t)sim->m->tree.nv * sizeof *qd1);
  }
  if (sni_redmax_rubs(sim)) {
    return solve_rubbing(sim, step, again, qd1, info, err);
  }
  if (sim->rows.kkt) {
    return solve_constrained(sim, step, qd1, info, err);
  }
  const sn_status status = sni_redmax_factorise(sim, step->t, again, err);
  return status             ? status
         : comes_along(sim) ? solve_along(sim, step, qd1, info, err)
                            : sni_redmax_solve(sim, step->t_end, qd1, info, err);
}

sn_status sni_redmax_rates(sn_sim *sim, const sni_redmax_step *step, bool again, double *qd1,
                           sn_info *info, sn_error *err) {
  sni_redmax *r = sim->method_work;
  const bool rubs = sni_redmax_rubs(sim); /* then joints bring the others with them */
  sn_status status = solve_unbound(sim, step, again, qd1, info, err);
  if (status >= 0 && sim->d.rows && !sim->rows.kkt && !rubs && !comes_along(sim)) {
    const sn_status closed = constrain(sim, step, qd1, err);
    status = closed ? closed : status;
  }
  if (status >= 0 && r->touch && !rubs) {
    const sn_status touched = touch(sim, step, qd1, info, err);
    status = touched ? touched : status;
  }
  if (status >= 0 && !rubs && sim->m->nslide > 0) { /* what bears nevertheless */
    r->rub.touches = r->touch;
    if (r->touch) {
      sni_touch_wrenches(r->touch, r->s.h, false, r->rub.touched);
    }
    sni_rubbing_look(&r->rub, step->t_end, step->q, step->qd);
    sni_rubbing_weigh_smooth(&r->rub, qd1);
  }
  return status;
}
