/* plan.c: which steps a run takes, and after which of them it records. */
#include "cli/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "methods/sim.h"

#define STEPS_MAX 1e15 /* counts and times stay exact up to here */

/* How often `part` goes into `whole`: a whole number, up to rounding of what people write. */
static bool divides(double part, double whole, double *count) {
  const double ratio = whole / part;
  *count = round(ratio);
  return fabs(ratio - *count) <= 1e-9 * fmax(1, ratio);
}

static sn_status fail_grid(const sn_run_def *run, sn_error *err) {
  sni_fail(err, SN_E_VALUE,
           "is %g, needs a multiple of the step %g: with fixed steps there are states only there",
           run->record_every, run->options.step);
  if (err) {
    snprintf(err->path, sizeof err->path, "run.record.every");
  }
  return SN_E_VALUE;
}

static bool is_dense(const sn_run_def *run) {
  const sni_method *method = sni_method_find(run->options.method);
  return !method || method->dense(&run->options);
}

double cli_plan_every(const sn_run_def *run, double rate) {
  const double step = run->options.step;
  double count = 1;
  return is_dense(run) || divides(step, 1 / rate, &count)
             ? 1 / rate
             : step * fmax(1, floor(0.25 / (rate * step)));
}

static sn_status plan_records(const sn_run_def *run, cli_plan *plan, sn_error *err) {
  const bool dense = is_dense(run);
  const double every = run->record_every;
  double count = 1;
  const bool on_grid = divides(run->options.step, every, &count) && count >= 1;
  if (!on_grid && !dense) {
    return fail_grid(run, err);
  }
  if (!on_grid) {
    count = ceil(every / run->options.step);
    plan->run.options.step = every / count;
  }
  plan->stride = count < STEPS_MAX ? (int64_t)count : (int64_t)STEPS_MAX;
  return SN_OK;
}

sn_status cli_plan_make(const sn_run_def *run, bool recording, cli_plan *plan, sn_error *err) {
  *plan = (cli_plan){.run = *run, .stride = 1};
  if (recording && run->record_every > 0) {
    const sn_status status = plan_records(run, plan, err);
    if (status != SN_OK) {
      return status;
    }
  }
  const double step = plan->run.options.step;
  double count = 0;
  const bool whole = divides(step, run->duration, &count);
  count = whole ? count : floor(run->duration / step);
  if (!(count < STEPS_MAX)) {
    return sni_fail(err, SN_E_LIMIT, "a duration of %g takes %g steps of %g, at most %g",
                    run->duration, count, step, STEPS_MAX);
  }
  plan->steps = (int64_t)count;
  plan->rest = whole ? 0 : run->duration - count * step;
  return SN_OK;
}
