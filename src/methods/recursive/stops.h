/* stops.h: hard limits in methods that integrate accelerations.
 *
 * Between events a limit is either held, like a constraint that holds both ways, or does nothing.
 * An event is where a limit is passed that is not held, or where one that is held would pull:
 *
 *     the step ends there; what hits bounces or stays, by an impulse through the masses that keeps
 *     loops closed and other limits; of what then touches and is at rest, the limits that push are
 *     held */
#ifndef SNI_STOPS_H
#define SNI_STOPS_H

#include "methods/recursive/ode.h"
#include "methods/sim.h"

/* Does the model have hard limits? */
bool sni_stops_any(const sn_sim *sim);

/* A limit that is further behind than this is passed; and so exactly is that place met. */
#define SNI_STOPS_PASSED (0.5 * SNI_TOUCH)
#define SNI_STOPS_NEAR   (0.02 * SNI_STOPS_PASSED)

/* How far it is, at y, to where something is passed or pulls: below 0 it is.  A length or an angle,
 * or for what is held so much of SNI_STOPS_PASSED as the part that counts as nothing is of its
 * force.  *ahead: in what time the first of those that are not held will be passed at the rates of
 * y, or was (below 0); INFINITY: none, NAN: something pulls. */
double sni_stops_margin(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                        double *rate, double *ahead);

/* In what time, from y = (q, qd) with its rate, the first of those that are not held will be passed
 * if all goes on accelerating as it does there; INFINITY: none. */
double sni_stops_foresee(sn_sim *sim, double t, double t_ref, const double *y, const double *rate);

/* What is seen behind a limit has fallen on from there: a bounce that would start at the limit with
 * what was won behind it would never end.  Until the next sni_stops_meet restitution is of what
 * things came in with at the limit itself. */
void sni_stops_look_back(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                         double *rate);

/* After sni_stops_margin said so at a point a little further: y goes onto what it hits, rates
 * change by the impulse, and what is held is found anew. */
sn_status sni_stops_meet(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                         double *rate, sn_error *err);

#endif
