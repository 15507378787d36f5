/* plan.h: which steps a run takes, and after which of them it records. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "sinew/sinew.h"

typedef struct cli_plan {
  sn_run_def run; /* with the step that is really taken                                */
  int64_t steps;  /* whole ones                                                        */
  double rest;    /* a shorter one at the end, so that the run ends on time; 0: none   */
  int64_t stride; /* whole steps from one record to the next                           */
} cli_plan;

/* Time between records so that there are `rate` a second: where states come after fixed steps alone
 * and that time is no multiple of them, as many whole steps as are at most a quarter of it. */
double cli_plan_every(const sn_run_def *run, double rate);

/* Methods that give states at any time record whenever asked: their step becomes the largest part
 * of `every` that is not longer than the step asked for.  Others record after whole steps, and
 * other wishes are errors.  record_every = 0: after every step. */
sn_status cli_plan_make(const sn_run_def *run, bool recording, cli_plan *plan, sn_error *err);

#endif
