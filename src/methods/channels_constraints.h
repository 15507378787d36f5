/* channels_constraints.h: channels of loops, constraints, guided bodies and limits: numbers from 0
 * to sn_model.constraint_channel[nconstraint] - 1. */
#ifndef SNI_CHANNELS_CONSTRAINTS_H
#define SNI_CHANNELS_CONSTRAINTS_H

#include "methods/sim.h"

void sni_constraint_channel_name(const sn_model *m, int n, char *out, size_t out_size);
int sni_constraint_channel_find(const sn_model *m, const char *name); /* -1: none */
/* After sni_sim_evaluate.  rubs: the state knows the friction of the step that led to it. */
double sni_constraint_channel_value(sn_sim *sim, int n, double t, bool rubs);

#endif
