/* legs.h: states between two of dopri5's, where there are constraints.
 *
 * Read off dopri5's own extension, of degree 4, states are near the constraints but not on them,
 * and to project each of them costs more than the walk.  So a step is divided into legs: their ends
 * are projected, and between two of them runs the polynomial of degree 5 that has the place, the
 * velocity and the acceleration of both,
 *
 *     q = c0 + c1 s + ... + c5 s^5     qd = q' / h     s = 0 .. 1 on a leg of length h
 *
 * which is off by s^3 (1 - s)^3 h^6 / 720 of the sixth derivative.  A first leg says how many legs
 * are needed for that to be nothing. */
#ifndef SNI_LEGS_H
#define SNI_LEGS_H

#include "methods/recursive/ode.h"
#include "methods/sim.h"

#define SNI_LEG_VECTORS 3 /* of 2 nv */

/* c from y = (q, qd) and its rate at both ends. */
void sni_leg_lay(int nv, double h, const double *y0, const double *f0, const double *y1,
                 const double *f1, double *c);
/* y = (q, qd) at s; at an end, with its rate behind it. */
void sni_leg_read(int nv, double h, const double *c, double s, double *y);
void sni_leg_end(int nv, double h, const double *c, bool last, double *y);

/* Are gaps and rates nothing where they are largest?  y: 2 nv of scratch. */
bool sni_leg_holds(sn_sim *sim, double t, double h, double t_ref, const double *c, double *y);

#endif
