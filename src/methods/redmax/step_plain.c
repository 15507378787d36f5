/* step_plain.c: the equations of a step, and their solution where nothing binds the bodies but
 * their joints: A qd1 = b. */
#include "methods/redmax/redmax.h"

#include <string.h>

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

/* ---- the solution ---- */

/* A by the solver chosen; by the spare one where that fails. */
static sn_status factorise_with(sni_redmax *r, int solver, sni_solve_info *solved) {
  r->used = solver;
  sn_status status = sni_solvers[solver]->factorise(&r->s, r->own[solver], solved);
  if (status < 0 && r->choice.spare >= 0 && solver != r->choice.spare) {
    r->used = r->choice.spare;
    status = sni_solvers[r->used]->factorise(&r->s, r->own[r->used], solved);
  }
  return status;
}

static sn_status solve_with(sni_redmax *r, double *x, sn_info *info) {
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

sn_status sni_redmax_check_pushes(const sn_sim *sim, double t, sn_error *err) {
  const sni_system *s = &((const sni_redmax *)sim->method_work)->s;
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

sn_status sni_redmax_check_rates(const sn_sim *sim, double t, const double *x, sn_error *err) {
  const int bad = sni_dynamics_not_finite(&sim->d, x);
  return bad >= 0 ? sni_fail_body(sim, err, SN_E_DIVERGED, bad, t, "is not finite any more")
                  : SN_OK;
}

sn_status sni_redmax_check_side(const sn_sim *sim, double t, sn_error *err) {
  const sn_status status = sni_redmax_check_pushes(sim, t, err);
  return status ? status : check_terms(&((const sni_redmax *)sim->method_work)->s, err);
}

sn_status sni_redmax_solve(sn_sim *sim, double t, double *x, sn_info *info, sn_error *err) {
  sn_status status = sni_redmax_check_side(sim, t, err);
  if (status) {
    return status;
  }
  status = solve_with(sim->method_work, x, info);
  const sn_status lost = sni_redmax_check_rates(sim, t, x, err);
  return lost ? lost : status;
}

/* Has a body mass but no moments of inertia, and a joint that turns it about its centre of mass? */
static bool turns_on_point(const sn_sim *sim, int body) {
  const sni_tree *t = &sim->m->tree;
  const sni_work *w = &sim->d.w;
  const sn_inertia I = body >= 0 ? sni_params_inertia(&sim->d.params, body) : (sn_inertia){0};
  bool turns = false;
  for (int k = body >= 0 ? t->vadr[body] : 0; body >= 0 && k < t->vadr[body + 1]; k++) {
    const sni_lane6 p = sni_momentum(&sim->d.mass[body], &w->link[body], w->S[k]);
    turns = turns || !(sni_lane6_dot(w->S[k], p) > 1e-12 * I.mass);
  }
  return I.mass > 0 && I.xx == 0 && I.yy == 0 && I.zz == 0 && turns;
}

static sn_status fail_singular(const sn_sim *sim, double t, sn_status status, int body,
                               sn_error *err) {
  const bool heavy = body >= 0 && sni_params_inertia(&sim->d.params, body).mass > 0;
  if (heavy && turns_on_point(sim, body)) {
    return sni_fail_singular(sim, err, body, t);
  }
  return sni_fail_body(sim, err, status, body, t,
                       heavy ? "has a matrix that is not positive: something pushes with a "
                               "stiffness below 0, or moves beyond all bounds (take a smaller step)"
                             : "has a singular matrix: give the body mass and moments of inertia, "
                               "or its joint armature");
}

sn_status sni_redmax_factorise(sn_sim *sim, double t, bool again, sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_solve_info solved = {.bad = -1};
  const sn_status status = factorise_with(r, again ? r->used : r->choice.solver, &solved);
  return status >= 0 ? status : fail_singular(sim, t, status, solved.bad, err);
}

sn_status sni_redmax_take_spare(sn_sim *sim, double t, sn_error *err) {
  sni_redmax *r = sim->method_work;
  sni_solve_info solved = {.bad = -1};
  const sn_status status = factorise_with(r, r->choice.spare, &solved);
  return status >= 0 ? status : fail_singular(sim, t, status, solved.bad, err);
}

void sni_redmax_equations(sn_sim *sim, const sni_redmax_step *step) {
  sni_system *s = &((sni_redmax *)sim->method_work)->s;
  sni_system_assemble(s, step->t_end, step->h, step->q, step->qd, step->input,
                      (sni_tangent)sim->options.redmax.tangent);
  if (sim->options.redmax.inertia != SN_INERTIA_PAPER) {
    sni_system_projected_side(s, step->q, step->qd);
    const bool leads = ((const sni_redmax *)sim->method_work)->rub.leads;
    for (int k = 0; s->owed && !leads && k < s->t->nv; k++) { /* does friction hold this too? */
      s->b[k] += step->h * s->owed[k];
    }
    return;
  }
  paper_side(sim, s);
  sni_rotors_add(&sim->d, step->h, s->b);
  sni_system_add_armature(s, step->qd, s->b);
  for (int k = 0; k < s->t->nv; k++) {
    s->b[k] += step->h * sim->d.w.tau[k];
  }
}

bool sni_redmax_sweeps(const sn_sim *sim) {
  const sni_redmax *r = sim->method_work;
  return r->choice.solver == SNI_TREE && !sim->d.rows && !r->touch && sim->m->nslide == 0 &&
         sim->options.redmax.inertia == SN_INERTIA_PROJECTED;
}

sn_status sni_redmax_sweep(sn_sim *sim, const sni_redmax_step *step, sn_info *info, sn_error *err) {
  sni_system *s = &((sni_redmax *)sim->method_work)->s;
  const sni_tree *tree = s->t;
  const sni_tangent tangent = (sni_tangent)sim->options.redmax.tangent;
  sni_system_assemble_open(s, step->t_end, step->h, step->q, step->qd, step->input, tangent);
  const sn_status status = check_terms(s, err);
  if (status) {
    return status;
  }
  memset(s->b, 0, (size_t)tree->nv * sizeof *s->b);
  sni_system_joint_side(s, step->q, step->qd);
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
  return bad < 0 ? SN_OK : fail_singular(sim, step->t, SN_E_SINGULAR, bad, err);
}

sn_status sni_redmax_check_sweep(sn_sim *sim, const sni_redmax_step *step, const double *qd1,
                                 sn_error *err) {
  const sn_status lost = sni_redmax_check_rates(sim, step->t_end, qd1, err);
  if (!lost) {
    return SN_OK;
  }
  sni_system_projected_side(&((sni_redmax *)sim->method_work)->s, step->q, step->qd);
  const sn_status pushed = sni_redmax_check_pushes(sim, step->t_end, err);
  return pushed ? pushed : lost;
}
