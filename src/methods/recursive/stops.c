/* stops.c: hard limits in methods that integrate accelerations. */
#include "methods/recursive/stops.h"

#include <string.h>

/* A limit is passed by so much (a projection leaves a fifth of it), or pulls by this part of the
 * largest force. */
#define PASSED SNI_STOPS_PASSED
#define PULLS  1e-9
/* What comes in more slowly than this part of what moves does not bounce: bounces come ever faster.
 */
#define SLOW 1e-6
/* What leaves and would be back before it is so far away has not left. */
#define LOW (0.1 * SNI_STOPS_PASSED)

bool sni_stops_any(const sn_sim *sim) {
  const sn_model *m = sim->m;
  for (int k = 0; k < m->nconstraint; k++) {
    if (m->constraint[k].nsided > 0 && m->constraint[k].stop.stiffness == 0) {
      return true;
    }
  }
  return false;
}

static bool is_hard(const sni_row *row) {
  return row->one_sided && row->stop.stiffness == 0;
}

/* Kinematics, and rows there. */
static void look(sn_sim *sim, double t, double t_ref, const double *y) {
  const int nv = sim->m->tree.nv;
  sni_dynamics_kinematics(&sim->d, y, y + nv);
  sni_rows_eval(&sim->rows, t, t_ref, y, y + nv);
}

static double largest_force(const sni_rows *r) {
  double most = 0;
  for (int i = 0; i < r->nrow; i++) {
    most = fmax(most, fabs(r->lambda[i]));
  }
  return most;
}

double sni_stops_margin(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                        double *rate, double *ahead) {
  sni_rows *r = &sim->rows;
  bool held = false;
  double least = INFINITY;
  *ahead = INFINITY;
  look(sim, t, t_ref, y);
  sni_rows_mul(r, y + sim->m->tree.nv, r->u.v);
  for (int i = 0; i < r->nrow; i++) {
    const bool free = sni_unilateral_is_free(r, i);
    if (free && is_hard(&r->row[i])) {
      const double margin = r->row[i].g + PASSED, v = r->u.v[i] + r->row[i].rate;
      *ahead = v < 0 ? fmin(*ahead, (margin + 0.5 * SNI_STOPS_NEAR) / -v) : *ahead;
      least = fmin(least, margin);
    }
    held = held || (r->row[i].one_sided && !free);
  }
  if (least < 0 || !held) {
    return least;
  }
  ode->f(ode->user, t, t_ref, y, rate);
  const double small = PULLS * largest_force(r);
  for (int i = 0; small > 0 && i < r->nrow; i++) {
    if (r->row[i].one_sided && r->lambda[i] != 0) {
      least = fmin(least, PASSED * (1 - r->lambda[i] / small));
    }
  }
  *ahead = least < 0 ? NAN : *ahead;
  return least;
}

/* What rows see of y = (q, qd) and its rate: their own rates in u->v, and how these change in
 * u->free. */
static void see_motion(sni_rows *r, const double *y, const double *rate) {
  const int nv = r->d->m->tree.nv;
  sni_unilateral *u = &r->u;
  sni_rows_coasting(r, u->aim);
  sni_rows_mul(r, rate + nv, u->free);
  sni_rows_mul(r, y + nv, u->v);
  for (int i = 0; i < r->nrow; i++) {
    u->v[i] += r->row[i].rate;
    u->free[i] -= u->aim[i];
  }
}

/* margin + v t + a t^2/2 = 0, the first of its roots: by the form that loses no digits. */
double sni_stops_foresee(sn_sim *sim, double t, double t_ref, const double *y, const double *rate) {
  sni_rows *r = &sim->rows;
  double first = INFINITY;
  look(sim, t, t_ref, y);
  see_motion(r, y, rate);
  for (int i = 0; i < r->nrow; i++) {
    const double margin = r->row[i].g + PASSED, v = r->u.v[i], a = r->u.free[i];
    const double down = sqrt(v * v - 2 * a * margin) - v;
    if (is_hard(&r->row[i]) && sni_unilateral_is_free(r, i) && margin > 0 && down > 0) {
      first = fmin(first, 2 * margin / down);
    }
  }
  return first;
}

/* Rows that touch hold, or let go. */
static void hold_touched(sni_rows *r, bool hold) {
  for (int i = 0; i < r->nrow; i++) {
    if (is_hard(&r->row[i]) && (!hold || r->row[i].g <= SNI_TOUCH)) {
      r->u.held[r->u.slot[i]] = hold;
    }
  }
}

/* What hits came in at the limit with all of the rate that it has. */
static void forget(sni_rows *r) {
  for (int i = 0; i < r->nrow; i++) {
    r->u.came[r->u.slot[i]] = 1;
  }
}

/* v^2 = v0^2 + 2 a g */
void sni_stops_look_back(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                         double *rate) {
  sni_rows *r = &sim->rows;
  sni_unilateral *u = &r->u;
  bool any = false;
  look(sim, t, t_ref, y);
  forget(r);
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    any = any || (is_hard(row) && row->g <= SNI_TOUCH && row->stop.restitution > 0);
  }
  if (!any) {
    return;
  }
  ode->f(ode->user, t, t_ref, y, rate);
  see_motion(r, y, rate);
  for (int i = 0; i < r->nrow; i++) {
    const double v = u->v[i], a = u->free[i];
    const double square = 1 - 2 * a * r->row[i].g / (v * v);
    u->came[u->slot[i]] = square < 1 ? sqrt(fmax(square, 0)) : 1;
  }
}

/* An impulse makes others leave a little, which their accelerations bring back at once: limits
 * would take turns without end.  Those are held from now on, with the others that push; true: their
 * rates have changed.  After the accelerations in rate. */
static bool keep_low(sn_sim *sim, double t, double t_ref, double *y, const double *rate) {
  sni_rows *r = &sim->rows;
  sni_unilateral *u = &r->u;
  bool any = false;
  see_motion(r, y, rate);
  for (int i = 0; i < r->nrow; i++) {
    const double v = u->v[i], a = u->free[i];
    const bool touched = is_hard(&r->row[i]) && r->row[i].g <= SNI_TOUCH;
    const bool low = touched && v > 0 && a < 0 && v * v < -2 * a * LOW && r->lambda[i] == 0;
    u->held[u->slot[i]] = low || (touched && r->lambda[i] < 0);
    any = any || low;
  }
  if (any) {
    look(sim, t, t_ref, y);
    sni_unilateral_bounce(r, SLOW, y + sim->m->tree.nv);
  }
  hold_touched(r, false);
  return any;
}

sn_status sni_stops_meet(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                         double *rate, sn_error *err) {
  sni_rows *r = &sim->rows;
  const int nv = sim->m->tree.nv;
  double *qd = y + nv;
  /* what is passed a little is where it hits: nothing else may move on the way there */
  r->u.events = true;
  sni_stops_look_back(sim, ode, t, t_ref, y, rate);
  hold_touched(r, false);
  look(sim, t, t_ref, y);
  hold_touched(r, true);
  memcpy(rate, qd, (size_t)nv * sizeof *rate); /* a projection is not an impact */
  const sn_status status = sni_sim_project(sim, t, t_ref, y, rate, err);
  if (status) {
    return status;
  }
  hold_touched(r, false);
  look(sim, t, t_ref, y);
  sni_unilateral_bounce(r, SLOW, qd);
  forget(r);
  const sn_status held = sni_sim_check_limits(sim, t, err);
  if (held) {
    return held;
  }
  /* of what is at rest there now, which limits push? */
  bool again = true;
  for (int turn = 0; again && turn < 4; turn++) {
    r->u.events = false;
    ode->f(ode->user, t, t_ref, y, rate);
    r->u.events = true;
    again = turn < 3 && keep_low(sim, t, t_ref, y, rate);
  }
  const double small = PULLS * largest_force(r);
  for (int i = 0; i < r->nrow; i++) {
    r->u.held[r->u.slot[i]] = is_hard(&r->row[i]) && r->lambda[i] < -small;
  }
  return SN_OK;
}
