/* structured_row.c: builds a ladder for every solver, compares what they compute, and times them.
 */
#include "bench/structured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/make.h"
#include "methods/structured/structured.h"

#define PRECISION   1e-3
#define TOLERANCE   1e-6
#define STEP        0.01
#define SWING       1.2  /* seconds: level at rest is no case to measure                   */
#define SHORT_SWING 0.15 /* of ladders that take long                                      */
#define STEPS       8    /* that are timed together: some need more solutions than others  */
#define ASIDE       3    /* gravity across, so that the swing is not in a plane            */
#define SAMPLES     256

#define FULL_DENSE_MOST       1200 /* constraints */
#define FULL_ITERATIVE_MOST   5000
#define STRUCTURED_DENSE_MOST 600 /* of loops */

const char *const structured_name[CONTESTANTS] = {"full-dense", "full-iterative",
                                                  "structured-dense", "structured", "graph"};
static const sn_structured_solver option[CONTESTANTS] = {
    SN_FULL_DENSE, SN_FULL_ITERATIVE, SN_STRUCTURED_DENSE, SN_STRUCTURED, SN_STRUCTURED_GRAPH};

/* ---- building ---- */

static sn_status load_ladder(structured_row *r, sn_error *err) {
  make_settings s = MAKE_USUAL;
  s.pattern = r->pattern;
  s.count = r->count;
  s.length = 1;
  return bench_make("ladder", &s, &r->m, err);
}

static bool takes_part(const structured_row *r, int c) {
  return !(c == FULL_DENSE && r->ntree + r->nloop > FULL_DENSE_MOST) &&
         !(c == FULL_ITERATIVE && r->ntree + r->nloop > FULL_ITERATIVE_MOST) &&
         !(c == STRUCTURED_DENSE && r->nloop > STRUCTURED_DENSE_MOST);
}

static sn_status build_sims(structured_row *r, sn_error *err) {
  sn_status status = SN_OK;
  for (int c = 0; c < CONTESTANTS && !status; c++) {
    sn_options o = sn_options_default();
    o.method = "structured";
    o.step = STEP;
    o.structured.solver = option[c];
    o.structured.precision = PRECISION;
    o.structured.iterations = 1000000;
    const size_t before = bench_heap_bytes();
    status = takes_part(r, c) ? sn_sim_create(r->m, &o, &r->by[c].sim, err) : SN_OK;
    r->by[c].bytes = bench_heap_bytes() - before;
    if (r->by[c].sim && !status) {
      status = sn_sim_set(r->by[c].sim, "gravity.1", ASIDE, err);
    }
  }
  return status;
}

sn_status structured_row_build(structured_row *r, int pattern, int count, bool early,
                               sn_error *err) {
  *r = (structured_row){.pattern = pattern, .count = count};
  for (int c = 0; c < CONTESTANTS; c++) {
    r->by[c].solve = r->by[c].step = INFINITY;
  }
  sn_status status = load_ladder(r, err);
  if (status) {
    return status;
  }
  r->nbody = sn_model_body_count(r->m);
  r->ntree = 6 * r->nbody - sn_model_dof_count(r->m);
  r->nloop = r->m->nrow;
  status = build_sims(r, err);
  status = status ? status : sn_state_create(r->m, &r->start, err);
  status = status ? status : sn_state_create(r->m, &r->state, err);
  const double swing = early ? SHORT_SWING : SWING;
  for (int k = 0; k < (int)lround(swing / STEP) && !status; k++) {
    status = sn_sim_step(r->by[STRUCTURED].sim, r->start, NULL, NULL, err);
    status = status > 0 ? SN_OK : status;
  }
  return status;
}

void structured_row_free(structured_row *r) {
  for (int c = 0; c < CONTESTANTS; c++) {
    sn_sim_free(&r->by[c].sim);
    free(r->by[c].sample);
  }
  sn_state_free(&r->start);
  sn_state_free(&r->state);
  sn_model_free(&r->m);
}

/* ---- one solution ---- */

/* The system of a step from the start of the row. */
static sni_structured *pose(const structured_row *r, int c) {
  sn_sim *sim = r->by[c].sim;
  sni_structured *st = sim->method_work;
  const double t_end = *sn_state_time(r->start) + STEP;
  sn_state_copy(r->state, r->start);
  double *q = sn_state_q(r->state), *qd = sn_state_qd(r->state);
  double give = 0;
  st->give = &give;
  sni_dynamics_reparam(&sim->d, q, qd);
  sni_dynamics_kinematics(&sim->d, q, qd);
  sni_system_release_drives(&st->s);
  sni_system_assemble(&st->s, t_end, STEP, q, qd, NULL, SNI_TANGENT_CLAMPED);
  sni_structured_ask(sim, st, t_end, q, qd);
  st->give = NULL;
  st->ties.iterations = sim->options.structured.iterations;
  st->ties.deadline = 0;
  return st;
}

static sn_status find(sni_structured *st, double precision, double *x, sn_error *err) {
  int bad = -1;
  memset(st->ties.lambda, 0, (size_t)st->ties.ntie * sizeof(double));
  st->ties.precision = precision;
  if (st->solver->factorise(&st->ties, st->own, st->s.b, &bad) < 0) {
    return sni_fail(err, SN_E_SINGULAR, "body %d has no inverse", bad);
  }
  st->solver->solve(&st->ties, st->own, st->s.b, x);
  return SN_OK;
}

sn_status structured_row_check(structured_row *r, sn_error *err) {
  const int nv = sn_model_dof_count(r->m);
  double *x = calloc(2 * (size_t)nv + 1, sizeof *x), *reference = x + nv;
  sn_status status = x ? SN_OK : sni_fail(err, SN_E_MEMORY, "out of memory");
  status = status ? status : find(pose(r, GRAPH), 1e-10, reference, err);
  double size = 0;
  for (int k = 0; k < nv && !status; k++) {
    size = fmax(size, fabs(reference[k]));
  }
  for (int c = 0; c < CONTESTANTS && !status; c++) {
    if (!r->by[c].sim) {
      continue;
    }
    status = find(pose(r, c), 1e-10, x, err);
    for (int k = 0; k < nv && !status; k++) {
      const double off = fabs(x[k] - reference[k]) / size;
      r->by[c].difference = off <= r->by[c].difference ? r->by[c].difference : off;
    }
    if (!status && !(r->by[c].difference <= TOLERANCE)) {
      status = sni_fail(err, SN_E_DIVERGED,
                        "rates of '%s' differ from those of 'graph' by %.1e of the largest, at "
                        "most %.0e",
                        structured_name[c], r->by[c].difference, TOLERANCE);
    }
  }
  free(x);
  return status;
}

/* ---- timing ---- */

static sn_status time_solution(structured_row *r, int c, double *x, double *seconds,
                               sn_error *err) {
  sni_structured *st = pose(r, c);
  const double before = bench_cpu_seconds();
  const sn_status status = find(st, PRECISION, x, err);
  *seconds = bench_cpu_seconds() - before;
  r->by[c].iterations = st->ties.spent;
  return status;
}

static sn_status time_step(structured_row *r, int c, double *seconds, sn_error *err) {
  sn_info info = {0};
  sn_state_copy(r->state, r->start);
  int iterations = 0;
  sn_status status = SN_OK;
  const double before = bench_cpu_seconds();
  for (int k = 0; k < STEPS && status >= 0; k++) {
    status = sn_sim_step(r->by[c].sim, r->state, NULL, &info, err);
    iterations += info.iterations;
  }
  *seconds = (bench_cpu_seconds() - before) / STEPS;
  r->by[c].iterations_a_step = (double)iterations / STEPS;
  return status < 0 ? status : SN_OK;
}

static sn_status time_once(structured_row *r, int c, double *x, sn_error *err) {
  structured_contestant *by = &r->by[c];
  double each;
  sn_status status = time_solution(r, c, x, &each, err);
  by->solve = fmin(by->solve, each);
  by->sample[by->nsample++] = each;
  by->spent += each;
  if (!status) {
    status = time_step(r, c, &each, err);
    by->step = fmin(by->step, each);
    by->spent += STEPS * each;
  }
  return status;
}

sn_status structured_row_time(structured_row *r, double seconds, sn_error *err) {
  double *x = malloc(((size_t)sn_model_dof_count(r->m) + 1) * sizeof *x);
  bool memory = x;
  for (int c = 0; c < CONTESTANTS; c++) {
    structured_contestant *by = &r->by[c];
    by->sample = by->sample ? by->sample : malloc(SAMPLES * sizeof *by->sample);
    memory = memory && by->sample;
  }
  sn_status status = memory ? SN_OK : sni_fail(err, SN_E_MEMORY, "out of memory");
  for (bool more = true; more && !status;) { /* in turns: a shared machine changes its speed */
    more = false;
    for (int c = 0; c < CONTESTANTS && !status; c++) {
      structured_contestant *by = &r->by[c];
      if (by->sim && by->nsample < SAMPLES && (by->nsample == 0 || by->spent < seconds)) {
        status = time_once(r, c, x, err);
        more = true;
      }
    }
  }
  for (int c = 0; c < CONTESTANTS && !status; c++) {
    r->by[c].median = r->by[c].sim ? bench_median(r->by[c].sample, r->by[c].nsample) : 0;
  }
  free(x);
  return status;
}
