/* advance.c: what rk4 and dopri5 share. */
#include "methods/recursive/advance.h"
#include "methods/blame.h"

#include <string.h>

/* ---- the right-hand side ---- */

/* y = (q, qd), y' = (qd, qdd) */
static int rhs_eval(void *user, double t, double t_ref, double *y, double *dydt) {
  sni_rhs *r = user;
  const int nv = r->sim->m->tree.nv;
  r->evaluations++;
  const int bad = sni_dynamics_accelerate(&r->sim->d, t, t_ref, y, y + nv, r->input, dydt + nv);
  memcpy(dydt, y + nv, (size_t)nv * sizeof *dydt);
  return bad;
}

/* Errors across the constraints: projection takes them away.  Near a pose in which rows lose their
 * rank most of an error is of this kind, rounding blown up, and steps made smaller for it would
 * only come nearer to that pose.  But where rows bend, projecting e leaves something like e^2
 * along them, and far enough away it ends in another pose that closes: `part` of it counts, the
 * root of the tolerance, so that e^2 is within it.  And nothing takes away what rows of rates alone
 * have gone wrong by in q: sni_rows_close does not move along them either. */
static void forgive(sni_rows *rows, bool of_places, double part, double *error) {
  const int nv = rows->d->m->tree.nv;
  double *all = rows->q_before;
  memcpy(all, error, (size_t)nv * sizeof *all);
  sni_rows_mul(rows, error, rows->rhs);
  for (int i = 0; i < rows->nrow; i++) {
    const bool sided = rows->row[i].one_sided && sni_unilateral_is_free(rows, i);
    const bool stays = of_places && sni_rows_is_rate(rows, i);
    rows->rhs[i] = sided ? SNI_LET_GO : stays ? rows->rhs[i] : 0;
  }
  sni_rows_correct(rows, rows->rhs, error);
  for (int j = 0; j < nv; j++) {
    error[j] += part * (all[j] - error[j]);
  }
}

static void rhs_forgive(void *user, double *error) {
  sni_rhs *r = user;
  const double part = sqrt(*r->sim->d.params.rel_tol);
  forgive(&r->sim->rows, true, part, error);
  forgive(&r->sim->rows, false, part, error + r->sim->m->tree.nv);
}

sni_ode sni_rhs_ode(sni_rhs *r) {
  const sni_ode ode = {2 * r->sim->m->tree.nv, rhs_eval, r->sim->d.rows ? rhs_forgive : NULL, r};
  return ode;
}

sn_status sni_advance_check_motions(sn_sim *sim, double t, double t_ref, const double *y,
                                    sn_error *err) {
  const sn_model *m = sim->m;
  const int nv = m->tree.nv;
  memcpy(sim->q, y, (size_t)nv * sizeof(double));
  memcpy(sim->qd, y + nv, (size_t)nv * sizeof(double));
  sni_dynamics_prescribe(&sim->d, t, t_ref, sim->q, sim->qd, NULL);
  for (int k = 0; k < m->nmotion; k++) {
    const int i = m->motion[k].body;
    for (int c = m->tree.vadr[i]; c < m->tree.vadr[i + 1]; c++) {
      const double off = fmax(fabs(sim->q[c] - y[c]), fabs(sim->qd[c] - y[nv + c]));
      if (off > 1e-6 * (1 + fabs(sim->q[c]) + fabs(sim->qd[c]))) {
        return sni_fail(err, SN_E_VALUE,
                        "motion '%s' jumps at t = %g: it wants q = %g, qd = %g where the joint "
                        "'%s' has q = %g, qd = %g",
                        m->motion_name[k], t, sim->q[c], sim->qd[c], m->name[i], y[c], y[nv + c]);
      }
    }
  }
  return SN_OK;
}

int sni_advance_not_finite(const sn_sim *sim, const double *y) {
  const int bad = sni_dynamics_not_finite(&sim->d, y);
  return bad >= 0 ? bad : sni_dynamics_not_finite(&sim->d, y + sim->m->tree.nv);
}

sn_status sni_advance_check_finite(const sn_sim *sim, double t, const double *y, sn_error *err) {
  const int bad = sni_advance_not_finite(sim, y);
  return bad < 0 ? SN_OK
                 : sni_fail_body(sim, err, SN_E_DIVERGED, bad, t,
                                 "has a coordinate or a rate that is not finite");
}

sn_status sni_advance_close(sn_sim *sim, double t, double t_ref, double *y, sn_error *err) {
  const sn_status status =
      sim->d.rows ? sni_sim_project(sim, t, t_ref, y, y + sim->m->tree.nv, err) : SN_OK;
  return status > 0 ? SN_E_UNCONVERGED : status;
}

static bool switched_on(const sni_rows *rows, double t_before, double t, double t_ref) {
  for (int k = 0; !rows->timeless && k < rows->nconstraint; k++) {
    const int active = rows->constraint[k].active;
    double now[3] = {0}, before[3] = {0};
    if (active >= 0) {
      sni_function_eval(rows->d->m->function[active], t, t_ref, now);
      sni_function_eval(rows->d->m->function[active], t, t_before, before);
      if (now[0] > 0 && !(before[0] > 0)) {
        return true;
      }
    }
  }
  return false;
}

sn_status sni_advance_hold(sn_sim *sim, const sni_ode *ode, double t_before, double t, double t_ref,
                           double *y, double *rate, sn_error *err) {
  if (!sim->d.rows || !switched_on(&sim->rows, t_before, t, t_ref)) {
    return SN_OK;
  }
  const bool events = sim->rows.u.events;
  sim->rows.u.events = false; /* limits push in this blow, and are not held by it */
  const sn_status status = sni_sim_hold(sim, t, t_ref, y, y + sim->m->tree.nv, err);
  sim->rows.u.events = events;
  if (status) {
    return status > 0 ? SN_E_UNCONVERGED : status;
  }
  return events ? sni_stops_meet(sim, ode, t, t_ref, y, rate, err) : SN_OK;
}

double *sni_advance_loops(const sn_sim *sim, sn_state *state) {
  return sni_state_private(state) + SNI_WALK_HEAD + SNI_WALK_VECTORS * 2 * sim->m->tree.nv;
}

double *sni_advance_stops(const sn_sim *sim, sn_state *state) {
  return sni_advance_loops(sim, state) + sim->m->nloop_q;
}

double *sni_advance_pressed(const sn_model *m, sn_state *state) {
  return sni_state_private(state) + SNI_WALK_HEAD + SNI_WALK_VECTORS * 2 * m->tree.nv + m->nloop_q +
         sni_unilateral_count(m);
}

/* ---- limits ---- */

#define FINEST 0x1p-46 /* of a step: its rounding */
#define TRIES  100

static double next_try(const sni_bracket *b, bool halve) {
  const double part = (b->at_lo + 0.5 * SNI_STOPS_NEAR) / (b->at_lo - b->at_hi);
  if (!halve && b->guess > b->lo && b->guess < b->hi) {
    return b->guess;
  }
  return b->lo + (!halve && part > 0 && part < 1 ? part : 0.5) * (b->hi - b->lo);
}

/* By Newton's method, with the rates of the limits; for forces, which have none, by false position,
 * where an end that stays counts for half the next time (the Illinois rule).  Where that does not
 * shorten the bracket it is halved: the margin has kinks, when another limit comes first, and
 * jumps. */
bool sni_advance_stop(sn_sim *sim, const sni_ode *ode, double t, double t_ref, sni_step_of take,
                      void *user, sni_bracket b, double *y, double *spare, double *h) {
  const double least = FINEST * b.hi;
  double width = INFINITY, margin = NAN;
  bool bad = true, passed = false;
  for (int k = 0; k < TRIES && b.hi - b.lo > least; k++) {
    const bool third = k % 3 == 2;
    const double now = b.hi - b.lo, mid = next_try(&b, third && now > 0.25 * width);
    width = third ? now : width;
    bad = take(user, mid, y) >= 0;
    memcpy(spare, y, (size_t)ode->n * sizeof *y);
    double ahead = NAN;
    margin = bad ? NAN : sni_stops_margin(sim, ode, t + mid, t_ref, spare, spare + ode->n, &ahead);
    const bool again = k > 0 && passed == !(margin >= 0);
    passed = !(margin >= 0);
    b.guess = mid + ahead;
    if (passed) {
      b.at_lo *= again ? 0.5 : 1;
      b.hi = mid;
      b.at_hi = margin;
    } else {
      b.at_hi *= again ? 0.5 : 1;
      b.lo = mid;
      b.at_lo = margin;
    }
    if (margin < 0 && margin >= -SNI_STOPS_NEAR) {
      break;
    }
  }
  *h = b.hi;
  return passed ? !bad : take(user, b.hi, y) < 0;
}

/* ---- breaks that come ever more often ---- */

#define CROWD 1000

sn_status sni_advance_check_crowd(const sn_sim *sim, sni_crowd *c, bool at_break, double t0,
                                  double t1, sn_error *err) {
  if (!at_break) {
    c->count = 0;
    return SN_OK;
  }
  c->since = c->count == 0 ? t0 : c->since;
  if (++c->count < CROWD) {
    return SN_OK;
  }
  const double share = (double)CROWD / sim->options.recursive.max_steps * *sim->d.params.step;
  if (t1 - c->since >= share) {
    c->count = 0;
    return SN_OK;
  }
  char who[300] = "something";
  for (int k = 0; k < sim->d.nbreaking; k++) {
    double at;
    if (sni_function_next_break(sim->m->function[sim->d.breaking[k]], t1, t1 + share, &at)) {
      sni_blame_owner(sim->m, sim->d.breaking[k], who, sizeof who);
      break;
    }
  }
  return sni_fail(
      err, SN_E_LIMIT,
      "%s: its functions of time have %d jumps or kinks between t = %.10g and %.10g, too "
      "many to stop at each: give them fewer",
      who, CROWD, c->since, t1);
}
