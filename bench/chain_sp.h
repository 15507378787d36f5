/* chain_sp.h: the chain that rubs, by Staggered Projections in maximal coordinates [RM Alg 2]: what
 * BISP is measured against. */
#ifndef BENCH_CHAIN_SP_H
#define BENCH_CHAIN_SP_H

#include "sinew/types.h"

typedef struct chain_sp chain_sp;

/* Links of 10 x 1 x 1 cm and 1 g/cm^3 on pins of this radius and 1 cm length, as `sinew make chain`
 * writes them, with the paper's four contacts around each end.  NULL: out of memory. */
chain_sp *chain_sp_create(int count, double radius, double mu);
void chain_sp_free(chain_sp **chain);

/* Returns the iterations of this step. */
int chain_sp_step(chain_sp *chain, double h);

sn_vec3 chain_sp_tip(const chain_sp *chain);
double chain_sp_gap(const chain_sp *chain); /* the largest, of all pins */

#endif
