/* create.c: what a sim of the method `redmax` owns, and the choice of its solver. */
#include "methods/redmax/move.h"
#include "methods/redmax/redmax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beside q and qd: the coordinates of loops, which are found from where they were; friction in
 * joints; impulses of contacts. */
int sni_redmax_pressed_at(const sn_model *m) {
  return m->nloop_q + sni_rubbing_numbers(m) + sni_touch_state_count(m);
}

int sni_redmax_state_count(const sn_model *m) {
  return sni_redmax_pressed_at(m) + sni_unilateral_count(m);
}

#define ROUND(size) (((size) + 63) / 64 * 64)

size_t sni_redmax_work_size(const sn_model *m, const sn_options *o) {
  const int numbers = 6 * m->tree.nv + sni_redmax_state_count(m) + sni_rubbing_numbers(m);
  return ROUND(sizeof(sni_redmax)) + ROUND(sni_system_size(m, o)) + ROUND(sni_rubbing_size(m, o)) +
         (size_t)numbers * sizeof(double);
}

/* In the initial pose: what is chosen does not depend on where a run is taken up again. */
static void assemble_start(sn_sim *sim, sni_redmax *r) {
  const sn_options *o = &sim->options;
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  if (bytes > 0) {
    memcpy(sim->q, sim->m->q0, bytes);
    memcpy(sim->qd, sim->m->qd0, bytes);
  }
  sni_dynamics_reparam(&sim->d, sim->q, sim->qd);
  sni_dynamics_kinematics(&sim->d, sim->q, sim->qd);
  sni_system_assemble(&r->s, o->step, o->step, sim->q, sim->qd, NULL,
                      (sni_tangent)o->redmax.tangent);
}

static sn_status choose(sn_sim *sim, sni_redmax *r, sn_error *err) {
  const sn_options *o = &sim->options;
  const bool definite = o->redmax.tangent != SN_TANGENT_EXACT && !o->redmax.force_tangent;
  return sni_solver_choose(&r->s, definite, o->redmax.tolerance, o->redmax.max_iterations, r->own,
                           &r->choice, err);
}

/* How much a force along p would move a body by itself: p^T M^-1 p, of its moments the mean. */
static double yielding(const sni_dynamics *d, int body, sni_lane6 p) {
  const sn_inertia I = sni_params_inertia(&d->params, body);
  const sn_vec3 com = sn_mat3_mul_vec(sni_link_R(&d->w.link[body]), I.com), f = sni_lane_vec3(p.v);
  const sn_vec3 torque = sn_vec3_sub(sni_lane_vec3(p.w), sn_vec3_cross(com, f));
  const double moment = (I.xx + I.yy + I.zz) / 3;
  const double linear = I.mass > 0 ? sn_vec3_dot(f, f) / I.mass : 0;
  return linear + (moment > 0 ? sn_vec3_dot(torque, torque) / moment : 0);
}

/* A force between two bodies whose k h^2/m is beyond this leaves fewer than ten digits to what it
 * does not hinder, once it is summed up in the coordinates. */
#define STIFF 1e6

static bool is_stiff(const sni_system *s) {
  double most = 0;
  for (int n = 0; n < s->nterm; n++) {
    const sni_link_term *term = &s->term[n];
    const double c = s->h * (s->h * fabs(term->k) + fabs(term->d));
    for (int side = 0; side < 2 && term->pair >= 0 && sni_system_couples(s, term->pair); side++) {
      most = fmax(most, c * yielding(s->d, term->body[side], term->p[side]));
    }
  }
  return most > STIFF;
}

/* The other solvers take constraints in their dual. */
bool sni_redmax_wants_graph(const sn_model *m, const sn_options *o) {
  return o->redmax.solver == SN_SOLVER_GRAPH || o->redmax.solver == SN_SOLVER_REDUCED_KKT ||
         (o->redmax.solver == SN_SOLVER_AUTO && sni_rows_many(m));
}

static void free_solvers(sni_redmax *r) {
  for (int k = 0; k < SNI_SOLVERS; k++) {
    sni_solvers[k]->free(&r->own[k]);
  }
}

/* A solver that takes A and the constraints together works for the rows, which free it. */
static void give_rows(sn_sim *sim, sni_redmax *r) {
  sim->rows.kkt = r->own[r->choice.solver];
  sim->rows.way = r->choice.solver == SNI_GRAPH ? SNI_BY_GRAPH : SNI_BY_REDUCED;
  r->own[r->choice.solver] = NULL;
}

/* A alone first, where the dual is possible: a column for each row, by whatever solves with A.  pcg
 * takes columns of its preconditioner, and iterates once with all of them, where they come along.
 */
static sn_status choose_constrained(sn_sim *sim, sni_redmax *r, sn_error *err) {
  const sni_system *s = &r->s;
  double column = INFINITY, once = 0;
  assemble_start(sim, r);
  const bool stiff = is_stiff(s);
  if (!sni_rows_many(sim->m)) {
    const sn_status status = choose(sim, r, err);
    if (status) {
      return status;
    }
    const int solver = r->choice.solver;
    const bool along = solver == SNI_PCG && sni_redmax_comes_along(sim);
    once = along ? r->choice.cost[SNI_PCG] : 0;
    column = solver == SNI_TREE || along ? sni_rows_tree_column_cost(sim->m)
                                         : sni_rows_column_cost(sim->m, r->choice.cost[solver]);
  }
  const sn_status status =
      sni_rows_choose(&sim->rows, column, once, s->npairs, (const int(*)[2])s->pair, stiff, err);
  if (!status && sim->rows.kkt) {
    free_solvers(r);
    r->choice = (sni_choice){.solver = sim->rows.way == SNI_BY_GRAPH ? SNI_GRAPH : SNI_REDUCED_KKT,
                             .spare = -1};
  }
  return status;
}

/* What solves, for good. */
static sn_status take_solver(sn_sim *sim, sni_redmax *r, sn_error *err) {
  static const int named[] = {[SN_SOLVER_TREE] = SNI_TREE,
                              [SN_SOLVER_PCG] = SNI_PCG,
                              [SN_SOLVER_GRAPH] = SNI_GRAPH,
                              [SN_SOLVER_REDUCED] = SNI_REDUCED,
                              [SN_SOLVER_REDUCED_KKT] = SNI_REDUCED_KKT};
  const sn_solver solver = sim->options.redmax.solver;
  if (solver == SN_SOLVER_AUTO) {
    if (sim->d.rows) {
      return choose_constrained(sim, r, err);
    }
    assemble_start(sim, r);
    return choose(sim, r, err);
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
  if (sim->d.rows && sni_redmax_wants_graph(sim->m, &sim->options)) {
    give_rows(sim, r);
  }
  if (!status && sim->rows.kkt && solver == SN_SOLVER_REDUCED_KKT && sim->m->nsided > 0) {
    void *graph = NULL;
    status = sni_graph_build_within(&r->s, SIZE_MAX, &graph, err);
    r->graph = graph;
  }
  return status;
}

void sni_redmax_destroy(sn_sim *sim) {
  sni_redmax *r = sim->method_work;
  free_solvers(r);
  sni_kkt_free(&r->graph);
  sni_touch_free(&r->touch);
}

void sni_redmax_describe(const sn_sim *sim, char *out, size_t out_size) {
  const sni_redmax *r = sim->method_work;
  const sni_choice *c = &r->choice;
  const bool chose = sim->options.redmax.solver == SN_SOLVER_AUTO;
  if (chose && sim->d.rows) {
    snprintf(out, out_size, "auto took ");
    sni_rows_describe(&sim->rows, out, out_size);
  }
  if (r->repeats) {
    snprintf(out + strlen(out), out_size - strlen(out),
             "%sgaps are closed, which baumgarte would leave open: constraints repeat each other",
             chose ? "; " : "");
  }
  if (!chose || sim->d.rows) {
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

void sni_redmax_part_limits(sn_sim *sim, bool apart) {
  if (sim->m->touching && sim->m->nsided > 0) {
    sim->rows.apart = apart;
    sni_rows_forget_factors(&sim->rows);
  }
}

sn_status sni_redmax_create(sn_sim *sim, sn_error *err) {
  sni_redmax *r = sim->method_work;
  char *at = (char *)sim->method_work + ROUND(sizeof *r);
  sni_system_place(&r->s, &sim->d, &sim->options, at);
  sim->d.user_tangent = sim->options.redmax.force_tangent;
  r->s.slides = sni_move_slides(&r->s, sim->m->q0, sim->m->qd0);
  at += ROUND(sni_system_size(sim->m, &sim->options));
  if (sim->d.rows && sim->options.redmax.closure != SN_CLOSURE_PROJECT && sni_redmax_repeats(sim)) {
    sim->options.redmax.closure = SN_CLOSURE_PROJECT;
    r->repeats = true;
  }
  sni_rubbing_place(&r->rub, &r->s, sim->d.rows, &sim->options, at);
  void *numbers = at + ROUND(sni_rubbing_size(sim->m, &sim->options));
  r->backup = numbers;
  r->without = r->backup + 2 * sim->m->tree.nv + sni_redmax_state_count(sim->m);
  r->rubbed = r->without + 4 * sim->m->tree.nv;
  sim->rows.open = sim->options.redmax.closure != SN_CLOSURE_PROJECT;
  if (sim->m->touching) {
    const sn_status status = sni_touch_create(sim, &r->s, &r->rub, &r->touch, err);
    if (status) {
      return status;
    }
  }
  sni_redmax_part_limits(sim, true);
  const sn_status status = take_solver(sim, r, err);
  sni_redmax_part_limits(sim, false);
  return status;
}
