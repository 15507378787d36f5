/* step_rk4.c: rk4 takes one step from state to state, or several that end at the breaks of time
 * functions and at limits. */
#include "methods/blame.h"
#include "methods/recursive/advance.h"

#include <string.h>

#define TOO_COARSE "is not finite any more: take a smaller step, or dopri5"

/* A step from at[0] to at[2] went wrong: y is what came of it (of no use if a body had no inertia
 * in one of the stages: bad), and work begins with what it started from. */
static sn_status rk4_failed(sni_rhs *r, const double at[3], double t_ref, const double *y, int bad,
                            double *work, sn_error *err) {
  const int nv = r->sim->m->tree.nv, n = 2 * nv;
  double *y0 = work, *rate = work + n;
  const int culprit = bad >= 0 ? bad : sni_blame_body(r->sim, y0, y);
  for (int k = 0; k < 3; k++) {
    if (sni_blame(r->sim, at[k], t_ref, y0, y0 + nv, r->input, err)) {
      return SN_E_DIVERGED;
    }
  }
  /* at once, or only after a stage went astray? */
  const sni_ode ode = sni_rhs_ode(r);
  const int at_once = bad >= 0 ? ode.f(r, at[0], t_ref, y0, rate) : -1;
  return at_once >= 0
             ? sni_fail_singular(r->sim, err, at_once, at[0])
             : sni_fail_body(r->sim, err, SN_E_DIVERGED, culprit, at[bad < 0 ? 2 : 0], TOO_COARSE);
}

/* A step of rk4 from y0. */
typedef struct rk4_step {
  const sni_ode *ode;
  double t;
  const double *y0, *f0;
  double *work;
} rk4_step;
static int take_rk4(void *user, double h, double *y) {
  const rk4_step *s = user;
  memcpy(y, s->y0, (size_t)s->ode->n * sizeof *y);
  return sni_rk4_step(s->ode, s->t, h, s->f0, y, s->work);
}

sn_status sni_rk4_advance(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                          sn_info *info, sn_error *err) {
  const int nv = sim->m->tree.nv, n = 2 * nv;
  double *y = sim->method_work, *work = y + n;
  const bool stops = sim->rows.u.events;
  sni_rhs r = {sim, input, 0};
  const sni_ode ode = sni_rhs_ode(&r);
  memcpy(y, sni_state_q(state), (size_t)n * sizeof *y);
  sn_status status = sni_advance_check_finite(sim, state->t, y, err);
  double t = state->t;
  sni_crowd crowded = {0};
  double *y0 = work + 7 * n, *f0 = y0 + n, *spare = f0 + n;
  bool stopped = true; /* what is held is not known */
  sni_sim_load_loops(sim, sni_advance_loops(sim, state));
  while (!status && t < t_end) {
    double t_next = t_end;
    const bool at_break = sni_dynamics_next_break(&sim->d, t, t_end, &t_next);
    const double t_ref = sni_function_inside(t, t_next);
    status = sni_advance_check_motions(sim, t, t_ref, y, err);
    const double t_before = sni_function_inside(t - *sim->d.params.step, t);
    status = status ? status : sni_advance_hold(sim, &ode, t_before, t, t_ref, y, spare, err);
    if (status) {
      return status;
    }
    sni_dynamics_reparam(&sim->d, y, y + nv);
    if (stops && stopped) {
      status = sni_stops_meet(sim, &ode, t, t_ref, y, spare, err);
      if (status) {
        return status;
      }
    }
    memcpy(y0, y, (size_t)n * sizeof *y);
    memcpy(work, y, (size_t)n * sizeof *y);
    rk4_step from = {&ode, t, y0, f0, work};
    memcpy(spare, y, (size_t)n * sizeof *y);
    int bad = ode.f(&r, t, t_ref, spare, f0);
    bad = bad >= 0 ? bad : take_rk4(&from, t_next - t, y);
    sni_bracket b = {.hi = t_next - t, .at_lo = NAN, .at_hi = INFINITY};
    if (stops && bad < 0) {
      memcpy(spare, y, (size_t)n * sizeof *y);
      b.at_hi = sni_stops_margin(sim, &ode, t_next, t_ref, spare, spare + n, &b.guess);
      b.guess += b.hi;
    }
    const bool hit = b.at_hi < 0;
    if (hit) {
      const double first = sni_stops_foresee(sim, t, t_ref, y0, f0);
      b.guess = first < b.hi ? first : b.guess;
      double h;
      bad = sni_advance_stop(sim, &ode, t, t_ref, take_rk4, &from, b, y, spare, &h) ? -1 : bad;
      t_next = fmax(t + h, nextafter(t, INFINITY));
    }
    const bool broken = at_break && !hit;
    stopped = broken;
    if (bad < 0) {
      /* the quadrature has left prescribed coordinates nearly where they belong */
      sni_dynamics_prescribe(&sim->d, t_next, t_ref, y, y + nv, NULL);
      info->substeps++;
      info->last_substep = t_next - t;
    }
    if (bad >= 0 || sni_advance_not_finite(sim, y) >= 0) {
      const double at[] = {t, 0.5 * (t + t_next), t_next};
      return rk4_failed(&r, at, t_ref, y, bad, work, err);
    }
    status = sni_advance_check_crowd(sim, &crowded, broken, t, t_next, err);
    status = status ? status
             : hit  ? sni_stops_meet(sim, &ode, t_next, t_ref, y, spare, err)
                    : sni_advance_close(sim, t_next, t_ref, y, err);
    t = t_next;
  }
  info->evaluations = r.evaluations;
  if (!status) {
    memcpy(sni_state_q(state), y, (size_t)n * sizeof *y);
    sni_sim_save_loops(sim, sni_advance_loops(sim, state));
  }
  return status;
}
