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

/* Is something passed at y, or does something pull?  */
bool sni_stops_crossed(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                       double *rate);

/* After sni_stops_crossed said so at a point a little further: y goes onto what it hits, rates
 * change by the impulse, and what is held is found anew. */
sn_status sni_stops_meet(sn_sim *sim, const sni_ode *ode, double t, double t_ref, double *y,
                         double *rate, sn_error *err);

/* What is held, out of a state and back: sni_stops_count numbers. */
int sni_stops_count(const sn_model *m);
void sni_stops_load(sn_sim *sim, const double *from);
void sni_stops_save(const sn_sim *sim, double *to);

#endif
