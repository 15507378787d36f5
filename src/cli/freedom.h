/* freedom.h: how many degrees of freedom constraints leave. */
#ifndef CLI_FREEDOM_H
#define CLI_FREEDOM_H

#include "sinew/sinew.h"

typedef struct cli_freedom {
  int rows;     /* of all constraints that are active                                          */
  bool counted; /* the others are known: false if there are no rows, or too many               */
  int rank;     /* rows that do not follow from others                                         */
  int free;     /* degrees of freedom that are taken neither by these nor by motions of joints */
} cli_freedom;

/* At a state that meets the constraints. */
cli_freedom cli_freedom_count(sn_sim *sim, sn_state *state);

#endif
