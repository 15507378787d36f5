/* thrown.h: steps that go too far, and the energy that tells so. */
#ifndef SNI_THROWN_H
#define SNI_THROWN_H

#include "methods/redmax/extrapolate.h"

sn_energy sni_energy_of(sn_sim *sim, sn_state *state);
static inline double sni_total(sn_energy e) {
  return e.kinetic + e.potential;
}

/* Does nothing act that could bring energy?  Then there is none to gain. */
bool sni_is_closed(const sn_sim *sim, const sn_input *input);

/* And is everything implicit?  Then steps that are thrown may go less far. */
bool sni_may_be_held(const sn_sim *sim, const sn_input *input);

/* Of potentials: less is rounding. */
#define SNI_POTENTIAL_ROUNDING 1e-13

/* Is there more strain than anything that moves explains? */
static inline bool sni_is_thrown(sn_energy before, sn_energy after) {
  const double rounding = SNI_POTENTIAL_ROUNDING * (fabs(before.potential) + fabs(after.potential));
  return !(sni_total(after) - sni_total(before) <= before.kinetic + after.kinetic + rounding);
}

/* y = two + part (two - one) for coordinates and rates; the parts of rotation vectors turn. */
void sni_extrapolate(const sni_tree *t, const double *one, const double *two, double part,
                     double *y);

/* The state, from start to two: half of the way, a quarter, and so on, until there is no more
 * energy than E0. */
double sni_go_less_far(sn_sim *sim, sn_state *state, const double *start, const double *two,
                       double E0);

/* A step to t_end that goes less far where it is thrown.  room: 4 nv numbers that `step` leaves
 * alone. */
sn_status sni_step_guarded(sni_first_order step, sn_sim *sim, sn_state *state,
                           const sn_input *input, double t_end, double *room, sn_info *info,
                           sn_error *err);

#endif
