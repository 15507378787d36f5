/* move.h: from the rates of a step to the end of it. */
#ifndef SNI_MOVE_H
#define SNI_MOVE_H

#include "methods/redmax/system.h"
#include "methods/sim.h"

/* Can the joint of body i turn it? */
bool sni_move_turns(const sni_tree *t, int i);

/* Can it move the body's origin? */
bool sni_move_shifts(const sni_tree *t, int i);

/* Where bodies are at q; nothing else is looked at or changed. */
void sni_move_places(const sni_tree *t, const double *q, const double *qd, sn_se3 *E_wb);

/* Are there coordinates that slide along axes which turn? */
bool sni_move_slides(const sni_system *s, const double *q, const double *qd);

/* Where J qd1 comes from: it is in w->a already, from qd1, or qd1 itself is to come from the second
 * half of a solution (sni_solve_outward). */
typedef enum sni_twists { SNI_TWISTS_KNOWN, SNI_TWISTS_OF_RATES, SNI_TWISTS_OUTWARD } sni_twists;

/* The motion that bodies begin the step with, J qd1, in w->a and s->motion, and q1 = q + h qd1.  Do
 * bodies go far, in the sense of foresee.c? */
bool sni_move_begin(sni_system *s, sni_twists twists, bool foresees, const double *q, double *qd1,
                    double *q1);

/* q1 comes as q + h qd1 and goes to the end of the step; qd1, the rates of the step at q, become
 * those at q1. */
sn_status sni_move_on(sn_sim *sim, sni_system *s, double t_end, double h, const double *q,
                      double *q1, double *qd1, sn_error *err);

/* The two halves of it.  Where the bodies go; and after the kinematics at the end: s->b, their
 * momenta. */
void sni_move_drift(sn_sim *sim, sni_system *s, double h, const double *q, double *q1, double *qd1);
void sni_move_momenta(sni_system *s, const double *qd1);
/* Of one body, there. */
sni_lane6 sni_move_momentum(const sni_system *s, int i);

/* How much of a gap is closed in a second by correcting rates; 0: positions are projected. */
double sni_closure_gain(const sn_sim *sim);

/* q1 += s->shift, but for what sticks. */
void sni_move_shift(const sni_system *s, double *q1);

#endif
