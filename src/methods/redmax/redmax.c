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
#include "methods/redmax/extrapolate.h"
#include "methods/redmax/foresee.h"
#include "methods/redmax/move.h"
#include "methods/redmax/rub.h"
#include "methods/redmax/solve.h"
#include "methods/redmax/thrown.h"
#include "methods/redmax/touch.h"
#include "methods/sim.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#define RETRY_DEPTH  10 /* a step is divided into at most 1024                         */
#define LIMIT_PASSES 4  /* times that drives are told apart by whether a limit holds them */

static sn_status redmax_supports(const sn_model *m, sn_error *err) {
  (void)m;
  (void)err;
  return SN_OK;
}

/* Beside q and qd: the coordinates of loops, which are found from where they were; friction in
 * joints; impulses of contacts. */
static int redmax_state_count(const sn_model *m) {
  return m->nloop_q + sni_rubbing_numbers(m) + sni_touch_state_count(m);
}

/* What a sim of this method owns, at the start of its work memory. */
typedef struct redmax {
  sni_system s;
  sni_rubbing rub;        /* where joints rub */
  void *own[SNI_SOLVERS]; /* of each solver that this sim may use */
  double *backup;         /* of the state's numbers */
  double *without;        /* 2 nv  right-hand sides, where joints rub and bodies touch */
  sni_choice choice;      /* by the user or by `auto` */
  int used;               /* the solver that has factorised A */
  sni_touch *touch;       /* NULL: nothing touches */
  double touched_at;      /* the end of the step whose contacts it has */
} redmax;

#define ROUND(size) (((size) + 63) / 64 * 64)

static size_t redmax_work_size(const sn_model *m, const sn_options *o) {
  const int numbers = 4 * m->tree.nv + redmax_state_count(m);
  return ROUND(sizeof(redmax)) + ROUND(sni_system_size(m, o)) + ROUND(sni_rubbing_size(m, o)) +
         (size_t)numbers * sizeof(double);
}

/* In the initial pose: what is chosen does not depend on where a run is taken up again. */
static sn_status choose(sn_sim *sim, redmax *r, sn_error *err) {
  const sn_options *o = &sim->options;
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  const bool definite = o->redmax.tangent != SN_TANGENT_EXACT && !o->redmax.force_tangent;
  if (bytes > 0) {
    memcpy(sim->q, sim->m->q0, bytes);
    memcpy(sim->qd, sim->m->qd0, bytes);
  }
  sni_dynamics_reparam(&sim->d, sim->q, sim->qd);
  sni_dynamics_kinematics(&sim->d, sim->q, sim->qd);
  sni_system_assemble(&r->s, o->step, o->step, sim->q, sim->qd, NULL,
                      (sni_tangent)o->redmax.tangent);
  return sni_solver_choose(&r->s, definite, o->redmax.tolerance, o->redmax.max_iterations, r->own,
                           &r->choice, err);
}

/* The other solvers take constraints in their dual. */
static bool redmax_wants_graph(const sn_model *m, const sn_options *o) {
  return o->redmax.solver == SN_SOLVER_GRAPH || o->redmax.solver == SN_SOLVER_REDUCED_KKT ||
         (o->redmax.solver == SN_SOLVER_AUTO && sni_rows_many(m));
}

static void free_solvers(redmax *r) {
  for (int k = 0; k < SNI_SOLVERS; k++) {
    sni_solvers[k]->free(&r->own[k]);
  }
}

/* A solver that takes A and the constraints together works for the rows, which free it. */
static void give_rows(sn_sim *sim, redmax *r) {
  sim->rows.kkt = r->own[r->choice.solver];
  sim->rows.way = r->choice.solver == SNI_GRAPH ? SNI_BY_GRAPH : SNI_BY_REDUCED;
  r->own[r->choice.solver] = NULL;
}

/* A alone first, where the dual is possible: a solve for each row. */
static sn_status choose_constrained(sn_sim *sim, redmax *r, sn_error *err) {
  const sni_system *s = &r->s;
  const double mass = 35.0 * s->t->nbody;
  double solve = INFINITY;
  if (!sni_rows_many(sim->m)) {
    const sn_status status = choose(sim, r, err);
    if (status) {
      return status;
    }
    solve = r->choice.solver == SNI_TREE ? mass : r->choice.cost[r->choice.solver];
  }
  const sn_status status =
      sni_rows_choose(&sim->rows, solve, mass, s->npairs, (const int(*)[2])s->pair, err);
  if (!status && sim->rows.kkt) {
    free_solvers(r);
    r->choice = (sni_choice){.solver = sim->rows.way == SNI_BY_GRAPH ? SNI_GRAPH : SNI_REDUCED_KKT,
                             .spare = -1};
  }
  return status;
}

static sn_status redmax_create(sn_sim *sim, sn_error *err) {
  redmax *r = sim->method_work;
  char *at = (char *)sim->method_work + ROUND(sizeof *r);
  sni_system_place(&r->s, &sim->d, &sim->options, at);
  sim->d.user_tangent = sim->options.redmax.force_tangent;
  r->s.slides = sni_move_slides(&r->s, sim->m->q0, sim->m->qd0);
  at += ROUND(sni_system_size(sim->m, &sim->options));
  sni_rubbing_place(&r->rub, &r->s, sim->d.rows, &sim->options, at);
  void *numbers = at + ROUND(sni_rubbing_size(sim->m, &sim->options));
  r->backup = numbers;
  r->without = r->backup + 2 * sim->m->tree.nv + redmax_state_count(sim->m);
  static const int named[] = {[SN_SOLVER_TREE] = SNI_TREE,
                              [SN_SOLVER_PCG] = SNI_PCG,
                              [SN_SOLVER_GRAPH] = SNI_GRAPH,
                              [SN_SOLVER_REDUCED] = SNI_REDUCED,
                              [SN_SOLVER_REDUCED_KKT] = SNI_REDUCED_KKT};
  const sn_solver solver = sim->options.redmax.solver;
  sim->rows.open = sim->options.redmax.closure != SN_CLOSURE_PROJECT;
  if (sim->m->touching) {
    const sn_status status = sni_touch_create(sim, &r->s, &r->touch, err);
    if (status) {
      return status;
    }
    sim->rows.apart = true; /* limits are solved for with the contacts */
  }
  if (solver == SN_SOLVER_AUTO) {
    return sim->d.rows ? choose_constrained(sim, r, err) : choose(sim, r, err);
  }
  r->choice = (sni_choice){.solver = named[solver],
                           .spare = -1,
                           .tolerance = sim->options.redmax.tolerance,
                           .max_iterations = sim->options.redmax.max_iterations};
  if (solver == SN_SOLVER_TREE && sni_system_pair_count(&r->s) > 0) {
    return sni_fail(err, SN_E_UNSUPPORTED,
                    "solver 'tree' is exact only while no force couples two bodies that both move: "
                    "take auto, graph or pcg");
  }
  if (solver == SN_SOLVER_REDUCED_KKT && sim->m->soft) {
    return sni_fail(
        err, SN_E_UNSUPPORTED,
        "solver 'reduced-kkt' takes no soft stops (a stop with stiffness): take auto or "
        "graph");
  }
  sn_status status = sni_solvers[r->choice.solver]->build(&r->s, &r->own[r->choice.solver], err);
  if (sim->d.rows && redmax_wants_graph(sim->m, &sim->options)) {
    give_rows(sim, r);
  }
  return status;
}

static void redmax_destroy(sn_sim *sim) {
  redmax *r = sim->method_work;
  free_solvers(r);
  sni_touch_free(&r->touch);
}

static void redmax_describe(const sn_sim *sim, char *out, size_t out_size) {
  const sni_choice *c = &((const redmax *)sim->method_work)->choice;
  if (sim->options.redmax.solver != SN_SOLVER_AUTO) {
    return;
  }
  if (sim->d.rows) {
    snprintf(out, out_size, "auto took ");
    sni_rows_describe(&sim->rows, out, out_size);
    return;
  }
  snprintf(out, out_size, "auto took %s", sni_solvers[c->solver]->name);
  if (c->solver == SNI_TREE) {
    snprintf(out + strlen(out), out_size - strlen(out), ": no force couples bodies that both move");
    return;
  }
  const char *sign = ": ";
  for (int k = 0; k < SNI_SOLVERS; k++) {
    if (isfinite(c->cost[k])) {
      const size_t used = strlen(out);
      snprintf(out + used, out_size - used, "%s%s %.3g us a solve", sign, sni_solvers[k]->name,
               1e-3 * c->cost[k]);
      sign = ", ";
    }
  }
}

static bool redmax_dense(const sn_options *options) {
  (void)options;
  return false;
}

/* ---- the right-hand side ---- */

/* b = M_r qd - h (inverse dynamics at qdd = 0). */
static void paper_side(sn_sim *sim, sni_system *s) {
  const sni_tree *t = s->t;
  sni_work *w = &sim->d.w;
  for (int i = 0; i < t->nbody; i++) {
    const sni_lane6 V = {w->link[i].w, w->link[i].v};
    s->f[i] = sni_momentum(&sim->d.mass[i], &w->link[i], V);
  }
  sni_system_project(s, s->f, s->b);
  sni_aba_in in = s->in;
  in.mass = sim->d.mass; /* drag is in the matrix only */
  sni_inverse(t, &in, w, sim->d.zero, sim->tau, sim->F);
  for (int k = 0; k < t->nv; k++) {
    s->b[k] -= s->h * sim->tau[k];
  }
}

/* ---- the step ---- */

/* A by the solver chosen; by the spare one where that fails. */
static sn_status factorise_with(redmax *r, int solver, sni_solve_info *solved) {
  r->used = solver;
  sn_status status = sni_solvers[solver]->factorise(&r->s, r->own[solver], solved);
  if (status < 0 && r->choice.spare >= 0 && solver != r->choice.spare) {
    r->used = r->choice.spare;
    status = sni_solvers[r->used]->factorise(&r->s, r->own[r->used], solved);
  }
  return status;
}

static sn_status solve_with(redmax *r, double *x, sn_info *info) {
  sni_solve_info solved = {.bad = -1};
  sn_status status = sni_solvers[r->used]->solve(
      &r->s, r->own[r->used], r->s.b, r->choice.tolerance, r->choice.max_iterations, x, &solved);
  info->solves++;
  info->iterations += solved.iterations;
  if (status && r->choice.spare >= 0 && r->used != r->choice.spare) {
    status = factorise_with(r, r->choice.spare, &solved);
    return status < 0 ? status : solve_with(r, x, info);
  }
  info->residual = fmax(info->residual, solved.residual);
  return status;
}

static sn_status check_pushes(const sn_sim *sim, double t, sn_error *err) {
  const sni_system *s = &((const redmax *)sim->method_work)->s;
  const int pushed = sni_dynamics_not_finite(&sim->d, s->b);
  return pushed < 0
             ? SN_OK
             : sni_fail_body(sim, err, SN_E_DIVERGED, pushed, t, "is pushed by what is not finite");
}

/* Did the user's force keep its promises? */
static sn_status check_terms(const sni_system *s, sn_error *err) {
  if (s->surplus != 0) {
    return sni_fail(err, SN_E_ARGUMENT,
                    "force_tangent gave %d terms, options.redmax.max_terms announced at most %d",
                    s->surplus, s->user_capacity);
  }
  if (s->undeclared[0] >= 0) {
    return sni_fail(
        err, SN_E_ARGUMENT,
        "force_tangent couples the bodies %d and %d: options.redmax.pair must have them",
        s->undeclared[0], s->undeclared[1]);
  }
  return SN_OK;
}

static sn_status check_rates(const sn_sim *sim, double t, const double *x, sn_error *err) {
  const int bad = sni_dynamics_not_finite(&sim->d, x);
  return bad >= 0 ? sni_fail_body(sim, err, SN_E_DIVERGED, bad, t, "is not finite any more")
                  : SN_OK;
}

/* Solves A x = b; x holds a first guess. */
static sn_status solve(sn_sim *sim, double t, double *x, sn_info *info, sn_error *err) {
  redmax *r = sim->method_work;
  sn_status status = check_pushes(sim, t, err);
  status = status ? status : check_terms(&r->s, err);
  if (status) {
    return status;
  }
  status = solve_with(r, x, info);
  const sn_status lost = check_rates(sim, t, x, err);
  return lost ? lost : status;
}

static bool accepts(const sn_sim *sim) {
  return sim->options.redmax.on_unconverged == SN_ACCEPT;
}

static sn_status fail_singular(const sn_sim *sim, double t, sn_status status, int body,
                               sn_error *err) {
  const bool heavy = body >= 0 && sni_params_inertia(&sim->d.params, body).mass > 0;
  return sni_fail_body(sim, err, status, body, t,
                       heavy ? "has a matrix that is not positive: something pushes with a "
                               "stiffness below 0, or moves beyond all bounds (take a smaller step)"
                             : "has a singular matrix: give the body mass or its joint armature");
}

/* again: in this step, with the solver that did it before. */
static sn_status factorise(sn_sim *sim, double t, bool again, sn_error *err) {
  redmax *r = sim->method_work;
  sni_solve_info solved = {.bad = -1};
  const sn_status status = factorise_with(r, again ? r->used : r->choice.solver, &solved);
  return status >= 0 ? status : fail_singular(sim, t, status, solved.bad, err);
}

/* A and b of a step to t_end. */
static void equations(sn_sim *sim, double t_end, double h, const double *q, const double *qd,
                      const sn_input *input) {
  sni_system *s = &((redmax *)sim->method_work)->s;
  sni_system_assemble(s, t_end, h, q, qd, input, (sni_tangent)sim->options.redmax.tangent);
  if (sim->options.redmax.inertia != SN_INERTIA_PAPER) {
    sni_system_projected_side(s, q, qd);
    return;
  }
  paper_side(sim, s);
  sni_rotors_add(&sim->d, h, s->b);
  sni_system_add_armature(s, qd, s->b);
  for (int k = 0; k < s->t->nv; k++) {
    s->b[k] += h * sim->d.w.tau[k];
  }
}

/* Where the tree is all there is, that and the solution take two passes. */
static bool sweeps(const sn_sim *sim) {
  const redmax *r = sim->method_work;
  return r->choice.solver == SNI_TREE && !sim->d.rows && !r->touch && sim->m->nslide == 0 &&
         sim->options.redmax.inertia == SN_INERTIA_PROJECTED;
}

/* The first of them, inward. */
static sn_status sweep(sn_sim *sim, double t, double t_end, double h, const double *q,
                       const double *qd, const sn_input *input, sn_info *info, sn_error *err) {
  sni_system *s = &((redmax *)sim->method_work)->s;
  const sni_tree *tree = s->t;
  const sni_tangent tangent = (sni_tangent)sim->options.redmax.tangent;
  sni_system_assemble_open(s, t_end, h, q, qd, input, tangent);
  const sn_status status = check_terms(s, err);
  if (status) {
    return status;
  }
  memset(s->b, 0, (size_t)tree->nv * sizeof *s->b);
  sni_system_joint_side(s, q, qd);
  int bad = -1;
  for (int k = tree->nblock - 1; k >= 0; k--) {
    const sni_block *block = &tree->block[k];
    sni_lane6 f[SNI_BLOCK_MAX];
    if (tangent == SNI_TANGENT_CLAMPED) {
      sni_system_add_tension(s, block);
    }
    for (int i = block->first; i < block->end; i++) {
      f[i - block->first] = sni_system_push(s, i);
    }
    const int b = sni_solve_inward(tree, block, &s->in, &sim->d.w, s->b, f);
    bad = bad >= 0 ? bad : b;
  }
  info->solves++;
  return bad < 0 ? SN_OK : fail_singular(sim, t, SN_E_SINGULAR, bad, err);
}

/* After the second pass: who is to blame if it does not end in numbers? */
static sn_status check_sweep(sn_sim *sim, double t_end, const double *q, const double *qd,
                             const double *qd1, sn_error *err) {
  const sn_status lost = check_rates(sim, t_end, qd1, err);
  if (!lost) {
    return SN_OK;
  }
  sni_system_projected_side(&((redmax *)sim->method_work)->s, q, qd);
  const sn_status pushed = check_pushes(sim, t_end, err);
  return pushed ? pushed : lost;
}

static sn_status solve_column(void *user, const double *b, double *x) {
  redmax *r = user;
  sni_solve_info solved = {.bad = -1};
  return sni_solvers[r->used]->solve(&r->s, r->own[r->used], b, r->choice.tolerance,
                                     r->choice.max_iterations, x, &solved);
}

/* What rows are asked for in this step. */
static void aim(sn_sim *sim, const double *qd) {
  const bool late = sim->options.redmax.activation == SN_ACTIVATION_PENETRATION;
  sni_unilateral_aim_step(&sim->rows, ((redmax *)sim->method_work)->s.h, sni_closure_gain(sim),
                          late ? sim->options.redmax.gain : 0, qd);
}

/* qd1 = A^-1 b, and no constraint minds: [RM 4], with rows at the start of the step and functions
 * of time at its end. */
static sn_status constrain(sn_sim *sim, double t_end, const double *q, const double *qd,
                           double *qd1, sn_error *err) {
  sni_rows *rows = &sim->rows;
  sni_rows_eval_poses(rows, t_end, t_end, q, qd);
  const sn_status status = sni_rows_factorise(rows, solve_column, sim->method_work);
  aim(sim, qd);
  if (status >= 0) {
    sni_rows_correct(rows, rows->rhs, qd1);
  }
  return status < 0 ? status : sni_sim_check_limits(sim, t_end, err);
}

/* The same all at once. */
static sn_status solve_constrained(sn_sim *sim, double t_end, const double *q, const double *qd,
                                   double *qd1, sn_info *info, sn_error *err) {
  redmax *r = sim->method_work;
  sni_rows *rows = &sim->rows;
  sni_rows_eval_poses(rows, t_end, t_end, q, qd);
  aim(sim, qd);
  int bad = -1;
  double residual = 0;
  sn_status status = SN_OK;
  const bool masses = sni_system_is_mass(&r->s) && !r->s.any_braced;
  if (!masses || !sni_rows_have_factors(rows)) {
    sni_graph_fill(&r->s, rows->kkt, rows);
    if (rows->nsided == 0) {
      status = sni_kkt_factorise(rows->kkt, r->s.b, rows->rhs, &bad);
    }
  }
  if (status >= 0) {
    status = rows->nsided > 0
                 ? sni_unilateral_solve(rows, r->s.b, rows->rhs, qd1, &bad, &residual)
                 : sni_kkt_solve(rows->kkt, r->s.b, rows->rhs, qd1, rows->lambda, &residual);
  }
  if (status < 0) {
    return sni_fail_body(sim, err, status, bad, t_end, "has a singular matrix");
  }
  const sn_status held = status ? sni_sim_check_limits(sim, t_end, err) : SN_OK;
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
static sn_status factorise_all(sn_sim *sim, double t, double t_end, bool again, const double *q,
                               const double *qd, sn_error *err) {
  redmax *r = sim->method_work;
  sni_rows *rows = &sim->rows;
  if (!rows->kkt) {
    const sn_status status = factorise(sim, t, again, err);
    if (status < 0 || !sim->d.rows) {
      return status;
    }
  }
  sni_rows_eval_poses(rows, t_end, t_end, q, qd);
  aim(sim, qd);
  if (!rows->kkt) {
    return sni_rows_factorise(rows, solve_column, r);
  }
  int bad = -1;
  for (int i = 0; i < rows->nrow && rows->nsided > 0; i++) {
    rows->u.in[i] = !rows->row[i].one_sided;
  }
  sni_graph_fill(&r->s, rows->kkt, rows);
  const sn_status status = sni_kkt_factorise(rows->kkt, r->s.b, rows->rhs, &bad);
  rows->u.fresh = status >= 0;
  return status < 0 ? sni_fail_body(sim, err, status, bad, t_end, "has a singular matrix") : status;
}

/* ---- with contact ---- */

/* x = A^-1 b with the constraints as they stand: for rows of contacts. */
static sn_status solve_bound(void *user, const double *b, double *x) {
  const sn_sim *sim = user;
  return solve_between(user, b, ((const redmax *)sim->method_work)->touch->zero, x);
}

/* qd1 with what touches. */
static sn_status touch(sn_sim *sim, double t_end, const double *qd, const double *state,
                       double *qd1, sn_info *info, sn_error *err) {
  redmax *r = sim->method_work;
  sni_rows *rows = sim->d.rows ? &sim->rows : NULL;
  const bool factors = !(rows && rows->kkt) && (r->used == SNI_TREE || r->used == SNI_PCG);
  sn_status status =
      sni_touch_solve(r->touch, r->s.h, qd, qd1, state, factors, solve_bound, sim, info, err);
  if (status || !r->touch->pushes) {
    return status;
  }
  if (rows && rows->kkt) {
    return solve_between(sim, r->s.b, rows->rhs, qd1);
  }
  status = solve(sim, t_end, qd1, info, err);
  if (status >= 0 && rows) {
    sni_rows_correct(rows, rows->rhs, qd1);
  }
  return status;
}

/* ---- with friction in joints and contact ---- */

/* Contacts and joints take turns: contacts with the friction of the joints as it is, at first that
 * of the last step; then the joints, which bear what the contacts do. */
static sn_status rub_and_touch(sn_sim *sim, const double *qd, const double *state, double *qd1,
                               int *iterations, sn_info *info, sn_error *err) {
  enum { TURNS_MAX = 2000 };
  redmax *r = sim->method_work;
  sni_system *s = &r->s;
  sni_rows *rows = sim->d.rows ? &sim->rows : NULL;
  const int nv = s->t->nv;
  const size_t bytes = (size_t)nv * sizeof(double);
  const bool factors = !(rows && rows->kkt) && (r->used == SNI_TREE || r->used == SNI_PCG);
  double *b0 = r->without, *pushed = b0 + nv; /* b without either, and what contacts add */
  memcpy(b0, s->b, bytes);
  memset(pushed, 0, bytes);
  sni_rubbing_resume(&r->rub);
  for (int turn = 0; turn < TURNS_MAX; turn++) {
    memcpy(s->b, b0, bytes);
    sni_rubbing_add(&r->rub, s->b);
    memcpy(qd1, qd, bytes);
    sn_status status = solve_between(sim, s->b, rows ? rows->rhs : NULL, qd1);
    memcpy(r->rub.b, s->b, bytes);
    status = status < 0 ? status
                        : sni_touch_solve(r->touch, s->h, qd, qd1, state, factors, solve_bound, sim,
                                          info, err);
    if (status < 0) {
      return status;
    }
    double change = 0, most = 0;
    for (int k = 0; k < nv; k++) {
      const double push = s->b[k] - r->rub.b[k];
      change = fmax(change, fabs(push - pushed[k]));
      most = fmax(most, fmax(fabs(push), fabs(b0[k])));
      pushed[k] = push;
      s->b[k] = b0[k] + push;
    }
    r->rub.touches = true;
    sni_touch_wrenches(r->touch, s->h, r->rub.touched);
    int own = 0;
    status = sni_rubbing_solve(&r->rub, &sim->options, qd1, &own);
    *iterations = own > *iterations ? own : *iterations;
    if (status < 0 || (turn > 0 && change <= sim->options.redmax.friction.tolerance * most)) {
      return status;
    }
  }
  return SN_NOT_CONVERGED;
}

static sn_status solve_rubbing(sn_sim *sim, double t, double t_end, bool again, const double *q,
                               const double *qd, const double *state, double *qd1, sn_info *info,
                               sn_error *err) {
  redmax *r = sim->method_work;
  int iterations = 0;
  const sn_status pushed = check_pushes(sim, t_end, err);
  if (pushed) {
    return pushed;
  }
  sn_status status = factorise_all(sim, t, t_end, again, q, qd, err);
  if (status < 0) {
    return status;
  }
  sni_rubbing_look(&r->rub, t_end, q);
  status = sni_rubbing_prepare(&r->rub, solve_between, sim);
  if (status < 0) {
    return status;
  }
  status = r->touch ? rub_and_touch(sim, qd, state, qd1, &iterations, info, err)
                    : sni_rubbing_solve(&r->rub, &sim->options, qd1, &iterations);
  info->solves++;
  info->friction_iterations =
      iterations > info->friction_iterations ? iterations : info->friction_iterations;
  const sn_status lost = check_rates(sim, t_end, qd1, err);
  if (lost) {
    return lost;
  }
  const sn_status held = status < 0 || !sim->d.rows ? SN_OK : sni_sim_check_limits(sim, t_end, err);
  return held ? held : status;
}

/* Not with the paper's options. */
static bool foresees(const sn_sim *sim) {
  return sim->options.redmax.tangent == SN_TANGENT_CLAMPED &&
         sim->options.redmax.inertia == SN_INERTIA_PROJECTED;
}

/* What is braced for depends on the reactions of the constraints, which only a solve tells.  Where
 * there is nothing else in A, the masses are enough to foresee them, and their factors are often at
 * hand since the end of the last step. */
static bool foresee_reactions(sn_sim *sim, double t_end, const double *q, const double *qd,
                              double *qd1) {
  sni_system *s = &((redmax *)sim->method_work)->s;
  sni_rows *rows = &sim->rows;
  if (!sim->d.rows || rows->nsided > 0 || !rows->timeless || !s->any_braced ||
      !sni_system_is_mass(s)) {
    return false;
  }
  sni_rows_eval_poses(rows, t_end, t_end, q, qd);
  aim(sim, qd);
  if (sni_rows_solve_mass(rows, s->b, rows->rhs, qd1) >= 0) {
    return false;
  }
  sni_J_mul_world(s->t, &s->d->w, qd1);
  sni_system_foresee(s, rows, true);
  return true;
}

/* A and b, and qd1 without constraints, or with them if that is done all at once. */
static sn_status solve_step(sn_sim *sim, double t, double t_end, double h, const double *q,
                            const double *qd, const sn_input *input, bool again,
                            const double *state, double *qd1, sn_info *info, sn_error *err) {
  equations(sim, t_end, h, q, qd, input);
  if (!again && foresees(sim) && foresee_reactions(sim, t_end, q, qd, qd1)) {
    equations(sim, t_end, h, q, qd, input);
  }
  memcpy(qd1, qd, (size_t)sim->m->tree.nv * sizeof *qd1);
  if (sim->m->nslide > 0) {
    return solve_rubbing(sim, t, t_end, again, q, qd, state, qd1, info, err);
  }
  if (sim->rows.kkt) {
    return solve_constrained(sim, t_end, q, qd, qd1, info, err);
  }
  const sn_status status = factorise(sim, t, again, err);
  return status ? status : solve(sim, t_end, qd1, info, err);
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

static double *touch_state(sn_state *state, const sn_model *m) {
  return sni_state_private(state) + m->nloop_q + sni_rubbing_numbers(m);
}

static sn_status step_euler(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                            sn_info *info, sn_error *err) {
  const sni_tree *t = &sim->m->tree;
  const size_t bytes = (size_t)t->nv * sizeof(double);
  const double h = length_of_step(sim, state->t, t_end);
  const bool rubs = sim->m->nslide > 0;
  double *q = sim->q, *qd = sim->qd, *qd1 = sim->qdd;
  memcpy(q, sni_state_q(state), bytes);
  memcpy(qd, sni_state_qd(state), bytes);
  sni_dynamics_reparam(&sim->d, q, qd);
  sni_dynamics_kinematics(&sim->d, q, qd);

  /* drives that would pass their limits get them instead, cables that would push are left out, and
   * the others see it; so do bodies that would turn far under heavy loads */
  redmax *r = sim->method_work;
  sni_system *s = &r->s;
  double *q1 = s->scratch;
  sn_status status =
      r->touch ? sni_touch_find(r->touch, h, qd, input, touch_state(state, sim->m), err) : SN_OK;
  if (status) {
    return status;
  }
  bool limits = true;
  sni_system_release_drives(s);
  if (rubs) {
    const int bad = sni_rubbing_coast(&r->rub, t_end,
                                      sim->options.redmax.inertia == SN_INERTIA_PROJECTED, q, qd);
    if (bad >= 0) {
      return sni_fail_singular(sim, err, bad, state->t);
    }
  }
  for (int pass = 0; limits && pass <= LIMIT_PASSES; pass++) {
    if (sweeps(sim)) {
      status = sweep(sim, state->t, t_end, h, q, qd, input, info, err);
    } else {
      status = solve_step(sim, state->t, t_end, h, q, qd, input, pass > 0,
                          touch_state(state, sim->m), qd1, info, err);
    }
    if (status >= 0 && sim->d.rows && !sim->rows.kkt && !rubs) {
      const sn_status closed = constrain(sim, t_end, q, qd, qd1, err);
      status = closed ? closed : status;
    }
    if (r->touch && status >= 0 && !rubs) {
      const sn_status touched = touch(sim, t_end, qd, touch_state(state, sim->m), qd1, info, err);
      status = touched ? touched : status;
    }
    if (status < 0 || (status > 0 && !accepts(sim))) {
      return status;
    }
    if (sim->rows.nsided > 0) {
      sni_unilateral_note(&sim->rows, s->b);
    }
    if (r->touch) {
      sni_sleep_hold(&r->touch->sleep, qd1);
    }
    const bool far = sni_move_begin(s, sweeps(sim), foresees(sim), q, qd1, q1);
    status = sweeps(sim) ? check_sweep(sim, t_end, q, qd, qd1, err) : status;
    if (status < 0) {
      return status;
    }
    limits = sni_system_limit_drives(s, t_end, q1, qd1, input);
    limits = sni_system_pull_cables(s, t_end, sim->F) || limits;
    if (foresees(sim)) {
      limits = sni_system_foresee(s, sim->d.rows ? &sim->rows : NULL, far) || limits;
    }
  }
  s->shift = r->touch && r->touch->shifts ? r->touch->shift : NULL;
  for (int k = 0; s->shift && sim->options.redmax.inertia != SN_INERTIA_PROJECTED && k < t->nv;
       k++) {
    q1[k] += s->shift[k];
  }
  const sn_status moved = sim->options.redmax.inertia == SN_INERTIA_PROJECTED
                              ? sni_move_on(sim, s, t_end, h, q, q1, qd1, err)
                          : sim->d.rows && sim->options.redmax.closure == SN_CLOSURE_PROJECT
                              ? sni_sim_project(sim, t_end, t_end, q1, qd1, err)
                              : SN_OK;
  if (moved) {
    return moved;
  }
  if (r->touch) {
    sni_touch_end(r->touch, h, q, q1, qd1, touch_state(state, sim->m));
  }
  memcpy(sni_state_q(state), q1, bytes);
  memcpy(sni_state_qd(state), qd1, bytes);
  if (r->touch) {
    r->touched_at = t_end;
  }
  state->t = t_end;
  info->substeps++;
  info->evaluations++;
  info->last_substep = h;
  return status;
}

/* Second order: extrapolate.c, on top of the step above.  All three parts leave to the masses what
 * the whole step may leave to them: else they would differ by more than their lengths. */
static sn_status step_extrapolated(sn_sim *sim, sn_state *state, const sn_input *input,
                                   double t_end, sn_info *info, sn_error *err) {
  sni_system *s = &((redmax *)sim->method_work)->s;
  s->whole = t_end - state->t;
  const sn_status status = sni_step_extrapolated(step_euler, accepts(sim), sim, state, input, t_end,
                                                 s->scratch + sim->m->tree.nv, info, err);
  s->whole = 0;
  return status;
}

/* Springs may throw a step too far: thrown.c.  Not with the paper's options. */
static bool guards(const sn_sim *sim) {
  return foresees(sim) && sim->m->nline > 0 && sim->m->nslide == 0 && !sim->m->touching;
}
static sn_status step_guarded(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                              sn_info *info, sn_error *err) {
  double *room = ((redmax *)sim->method_work)->s.scratch + sim->m->tree.nv;
  return sni_step_guarded(step_euler, sim, state, input, t_end, room, info, err);
}

/* The step, in halves where a solve did not converge and that is asked for. */
static sn_status advance(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                         int depth, sn_info *info, sn_error *err) {
  const sn_status status = sim->options.redmax.integrator == SN_EXTRAPOLATED
                               ? step_extrapolated(sim, state, input, t_end, info, err)
                           : guards(sim) ? step_guarded(sim, state, input, t_end, info, err)
                                         : step_euler(sim, state, input, t_end, info, err);
  if (status <= 0 || sim->options.redmax.on_unconverged != SN_RETRY || depth == RETRY_DEPTH) {
    return status;
  }
  info->retries++;
  const double t_mid = 0.5 * (state->t + t_end);
  const sn_status first = advance(sim, state, input, t_mid, depth + 1, info, err);
  return first ? first : advance(sim, state, input, t_end, depth + 1, info, err);
}

static sn_status redmax_step(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                             sn_info *info, sn_error *err) {
  const size_t bytes = (size_t)(2 * state->nv + redmax_state_count(sim->m)) * sizeof(double);
  double *backup = ((redmax *)sim->method_work)->backup;
  const double t = state->t;
  memcpy(backup, state->data, bytes);
  sni_sim_load_loops(sim, sni_state_private(state));
  sni_rubbing_load(&((redmax *)sim->method_work)->rub, sni_state_private(state) + sim->m->nloop_q);
  const sn_status status = advance(sim, state, input, t_end, 0, info, err);
  if (status < 0 || (status > 0 && !accepts(sim))) {
    memcpy(state->data, backup, bytes);
    state->t = t;
    if (status > 0 && info->friction_iterations >= sim->options.redmax.friction.max_iterations) {
      return sni_fail(err, SN_E_UNCONVERGED,
                      "at t = %g: loads and friction in joints do not agree after %d iterations: "
                      "take a smaller step, or allow more with friction.max_iterations",
                      t, info->friction_iterations);
    }
    return status < 0 ? status
                      : sni_fail(err, SN_E_UNCONVERGED,
                                 "at t = %g: the linear solver stopped at a residual of %.2g after "
                                 "%d iterations: take solver auto or graph, a smaller step, or "
                                 "allow more with max_iterations",
                                 t, info->residual, info->iterations);
  }
  sni_sim_save_loops(sim, sni_state_private(state));
  sni_rubbing_save(&((redmax *)sim->method_work)->rub, sni_state_private(state) + sim->m->nloop_q);
  return status;
}

static const double *redmax_rubbing(const sn_model *m, const sn_state *state) {
  return state->data + 2 * state->nv + m->nloop_q;
}

const sni_rubbing *sni_sim_rubbing(const sn_sim *sim) {
  return &((const redmax *)sim->method_work)->rub;
}

static void redmax_rub(sn_sim *sim, const sn_state *state) {
  sni_rubbing *r = &((redmax *)sim->method_work)->rub;
  sni_rubbing_load(r, redmax_rubbing(sim->m, state));
  sni_rubbing_look(r, state->t, state->data);
  sni_rubbing_push(r);
  /* contacts as long as they are those of the step that led here */
  const redmax *own = sim->method_work;
  if (own->touch && own->touched_at == state->t) {
    sni_touch_wrenches(own->touch, own->s.h, r->touched);
    for (int i = 0; i < sim->m->tree.nbody; i++) {
      sim->d.friction_wrench[i] = sn_vec6_add(sim->d.friction_wrench[i], r->touched[i]);
    }
  }
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
    .state_count = redmax_state_count,
    .work_size = redmax_work_size,
    .wants_graph = redmax_wants_graph,
    .implicit = true,
    .motions_are_rows = true,
    .create = redmax_create,
    .destroy = redmax_destroy,
    .describe = redmax_describe,
    .dense = redmax_dense,
    .rubbing = redmax_rubbing,
    .rub = redmax_rub,
    .step = redmax_step};
