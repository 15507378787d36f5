/* advance.h: what rk4 and dopri5 share on their way from one state to the next: the right-hand
 * side, constraints that take hold and are closed, events at limits, breaks of functions of time.
 */
#ifndef SNI_ADVANCE_H
#define SNI_ADVANCE_H

#include "methods/recursive/legs.h"
#include "methods/recursive/ode.h"
#include "methods/recursive/stops.h"
#include "methods/sim.h"

/* From the state to t_end, by either. */
sn_status sni_rk4_advance(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                          sn_info *info, sn_error *err);
sn_status sni_dopri5_advance(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                             sn_info *info, sn_error *err);

/* Private part of a state: SNI_WALK_HEAD numbers and SNI_WALK_VECTORS vectors of 2 nv each, which
 * are dopri5's (walk.c), the coordinates of loops, what limits hold at the end of a walk, and what
 * they held on the way there. */
#define SNI_WALK_HEAD    8
#define SNI_WALK_VECTORS (2 + SNI_DOPRI5_DENSE + SNI_LEG_VECTORS)
double *sni_advance_loops(const sn_sim *sim, sn_state *state);
double *sni_advance_stops(const sn_sim *sim, sn_state *state);
double *sni_advance_pressed(const sn_model *m, sn_state *state);

/* ---- the right-hand side ---- */

typedef struct sni_rhs {
  sn_sim *sim;
  const sn_input *input;
  int evaluations;
} sni_rhs;

/* y = (q, qd), y' = (qd, qdd), as an equation for the integrators. */
sni_ode sni_rhs_ode(sni_rhs *r);

/* ---- checks; -1: all of y = (q, qd), or of its rate, is finite ---- */

int sni_advance_not_finite(const sn_sim *sim, const double *y);
sn_status sni_advance_check_finite(const sn_sim *sim, double t, const double *y, sn_error *err);
/* A motion that has just been switched on takes its joint over; the joint must be there. */
sn_status sni_advance_check_motions(sn_sim *sim, double t, double t_ref, const double *y,
                                    sn_error *err);

/* ---- constraints ---- */

/* Quadrature leaves loops open a little. */
sn_status sni_advance_close(sn_sim *sim, double t, double t_ref, double *y, sn_error *err);
/* What is switched on at t, where the piece around t_ref begins, takes hold there: positions go
 * onto it by the least motion, rates by an inelastic impact, in which limits push, too.  rate: 2 nv
 * of scratch. */
sn_status sni_advance_hold(sn_sim *sim, const sni_ode *ode, double t_before, double t, double t_ref,
                           double *y, double *rate, sn_error *err);

/* ---- limits ---- */

/* Where in a step the margin falls below 0: between lo and hi, with margins as far as they are
 * known, and where it is by the rates at one of them. */
typedef struct sni_bracket {
  double lo, hi, at_lo, at_hi, guess;
} sni_bracket;

/* A step of h from where it starts to y; -1, or the body at fault. */
typedef int (*sni_step_of)(void *user, double h, double *y);

/* Something hits a limit, or lets go, within a step.  Then *h is where, and that step is taken, by
 * `take`. */
bool sni_advance_stop(sn_sim *sim, const sni_ode *ode, double t, double t_ref, sni_step_of take,
                      void *user, sni_bracket b, double *y, double *spare, double *h);

/* ---- breaks that come ever more often ---- */

/* The substeps in a row that ended at a break, and when the first of them began. */
typedef struct sni_crowd {
  int count;
  double since;
} sni_crowd;

/* A function such as floor(1/(1 - t)) has breaks without end before t = 1.  Where very many of them
 * are so near to each other that max_steps of them would not get through a step, it is not worth
 * trying. */
sn_status sni_advance_check_crowd(const sn_sim *sim, sni_crowd *c, bool at_break, double t0,
                                  double t1, sn_error *err);

#endif
