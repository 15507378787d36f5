/* stay.h: what sticks stays where it is, while gaps close and bodies move on. */
#ifndef SNI_STAY_H
#define SNI_STAY_H

#include "methods/redmax/system.h"
#include "methods/sim.h"

size_t sni_stay_size(const sn_model *m);
void sni_stay_place(sni_still *still, const sn_model *m, void *memory);

/* Nothing sticks; the same as in another one; and whatever sticks is in both, which are of steps
 * one after the other. */
void sni_stay_clear(sni_still *still, const sn_model *m);
void sni_stay_copy(sni_still *still, const sni_still *other, const sn_model *m);
void sni_stay_both(sni_still *still, const sni_still *other, const sn_model *m);

/* q1 to where gaps are closed, and (rates) qd1 with it, but not what sticks as long as others can
 * do that. */
sn_status sni_stay_close(sn_sim *sim, sni_system *s, double t_end, bool rates, double *q1,
                         double *qd1, sn_error *err);
/* The same where gaps stay open: only joints of loops that stick are put back. */
void sni_stay_open(sn_sim *sim, sni_system *s, double t_end, double *q1, double *qd1);

/* Rates at q1 that belong to the momenta of the bodies, with what sticks as if it were welded:
 * momenta are projected once more, by `project`, with still coordinates so heavy that they stand.
 * What that took, as a force, into s->owed.  Where they cannot stand, as others are driven, they do
 * not, and nothing is owed. */
typedef void (*sni_stay_project)(sn_sim *sim, sni_system *s, double t_end, const double *q1,
                                 double *qd1);
void sni_stay_welded(sn_sim *sim, sni_system *s, double t_end, sni_stay_project project,
                     const double *q1, double *qd1);
/* What sticks in this step, for the next one. */
void sni_stay_remember(const sni_system *s, const sn_model *m);

#endif
