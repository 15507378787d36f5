/* extrapolate.h: second order from two lengths of a step of first order. */
#ifndef SNI_EXTRAPOLATE_H
#define SNI_EXTRAPOLATE_H

#include "methods/sim.h"

typedef sn_status (*sni_first_order)(sn_sim *sim, sn_state *state, const sn_input *input,
                                     double t_end, sn_info *info, sn_error *err);

/* A step to t_end.  room: 10 nv numbers that `step` leaves alone.  A step that comes back with a
 * reservation is passed on as it is if `accept` says so; else the state stays where it was. */
sn_status sni_step_extrapolated(sni_first_order step, bool accept, sn_sim *sim, sn_state *state,
                                const sn_input *input, double t_end, double *room, sn_info *info,
                                sn_error *err);

#endif
