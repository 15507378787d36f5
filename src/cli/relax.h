/* relax.h: brings a mechanism to rest: where all forces balance.
 *
 * Dynamic relaxation: implicit steps from rest, without any wish to follow the motion.  While the
 * forces do work the steps grow; as soon as they brake the motion, it has passed its lowest point,
 * all rates become zero, and the steps shrink.  Implicit steps damp what is stiff, so their size is
 * that of the slow motions. */
#ifndef CLI_RELAX_H
#define CLI_RELAX_H

#include "sinew/sinew.h"

typedef struct cli_relax {
  double tolerance; /* of the residual                                                   */
  int max_steps;

  int steps;
  double residual; /* what accelerates it from rest, over the weight: a root mean square
                      over the mass; over the first one, where there is no weight        */
  bool falls;      /* it went faster and faster */
  int body;        /* that accelerates most */
} cli_relax;

/* A function of time stays what it is at t = 0.  Before a sim is made of the model. */
sn_status cli_relax_hold(sn_model *m, sn_error *err);

/* A constraint that goes on at a rate of its own wherever it is, which never rests; -1: none. */
int cli_relax_restless(sn_sim *sim, const sn_state *state);

/* SN_OK: at rest, within the tolerance.  SN_NOT_CONVERGED: not, and the last state is kept.  Rates
 * of the state are zero then, and its time is what it was. */
sn_status cli_relax_run(cli_relax *r, sn_sim *sim, sn_state *state, sn_error *err);

#endif
