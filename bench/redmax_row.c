/* redmax_row.c: builds one scene for every solver, compares what they compute, and times them. */
#include "bench/redmax.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/make.h"
#include "model/model.h"

#define BATCH_SECONDS 0.005 /* long enough for the clock, short enough to fall between troubles */
#define BATCH_STEPS   50    /* from the same state all go through the same motion               */
#define BATCHES_MAX   1024
#define EARLY_STEPS   2  /* then the scene is in motion: rates differ by more than rounding */
#define WARM_STEPS    20 /* then it is as it mostly is */

#define REDUCED_MOST       1300 /* degrees of freedom for the dense solver */
#define REDUCED_MOST_QUICK 350
#define DUAL_MOST          40 /* constraints where each row costs a solve */

/* Whoever is this near to the fastest runs on until none of them has got faster for some rounds: a
 * shared machine may slow down one and not the next. */
#define NEAR         1.4
#define GAIN         0.99
#define QUIET_ROUNDS 12
#define LONGER       6 /* times the usual seconds, at most */

const char *const redmax_solver_name[SOLVERS] = {"auto",  "tree",        "pcg",
                                                 "graph", "reduced-kkt", "reduced"};
static const sn_solver solver_option[SOLVERS] = {SN_SOLVER_AUTO,        SN_SOLVER_TREE,
                                                 SN_SOLVER_PCG,         SN_SOLVER_GRAPH,
                                                 SN_SOLVER_REDUCED_KKT, SN_SOLVER_REDUCED};

#define HEAVY (4800 * 500.0) /* the paper's exaggerated weight */

const redmax_scene redmax_scenes[SCENES] = {
    {"bridge", "bridge, rigid towers", "bridge", "--count", "rigid", "spring", 0},
    {"flexible", "bridge, flexible towers", "bridge", "--count", "flexible", "spring", HEAVY},
    {"deck", "deck", "deck", "--count", NULL, NULL, NAN},
    {"net", "net", "net", "--size", NULL, NULL, NAN},
    {"tensegrity", "tensegrity tower", "tensegrity", "--size", NULL, NULL, NAN},
    {"arm", "arm", "arm", NULL, NULL, NULL, NAN},
    {"bridge", "bridge, rigid towers", "bridge", "--count", "rigid", "loop", 0},
    {"flexible", "bridge, flexible towers", "bridge", "--count", "flexible", "loop", HEAVY},
    {"umbrella", "umbrella", "umbrella", "--count", NULL, NULL, NAN},
    {"fourbar", "four-bars in a row", "fourbar", "--count", NULL, NULL, NAN},
    {"ladder", "ladder", "ladder", "--count", NULL, NULL, NAN}};

/* ---- building ---- */

static sn_status load_scene(redmax_row *r, sn_error *err) {
  const redmax_scene *scene = &redmax_scenes[r->scene];
  make_settings s = MAKE_USUAL;
  s.weight = scene->weight;
  s.towers = scene->towers;
  s.end = scene->end;
  if (scene->option) {
    *(strcmp(scene->option, "--count") == 0 ? &s.count : &s.size) = r->size;
  }
  return bench_make(scene->generator, &s, &r->m, err);
}

static bool forms_matrix(int c) {
  return c == REDUCED || c == KKT;
}

/* Those that form the matrix only where they end; constraints cost those that do not factorise them
 * a solve a row. */
static bool takes_part(const redmax_row *r, int c, bool quick) {
  const int reduced_most = quick ? REDUCED_MOST_QUICK : REDUCED_MOST;
  const bool by_rows = c == TREE || c == PCG || c == REDUCED;
  return !(forms_matrix(c) && r->nv > reduced_most) && !(c == KKT && r->nconstraint == 0) &&
         !(by_rows && r->nconstraint > DUAL_MOST);
}

/* A sim for every solver that can. */
static sn_status build_sims(redmax_row *r, bool quick, sn_error *err) {
  for (int c = 0; c < SOLVERS; c++) {
    sn_options o = sn_model_run(r->m)->options;
    o.redmax.solver = solver_option[c];
    o.redmax.integrator = SN_EULER; /* a step, a solve: whatever the scene runs with */
    const sn_status status = takes_part(r, c, quick)
                                 ? sn_sim_create(r->m, &o, &r->solver[c].sim, err)
                                 : SN_E_UNSUPPORTED;
    if (status && status != SN_E_UNSUPPORTED) {
      return status;
    }
  }
  return SN_OK;
}

sn_status redmax_row_build(redmax_row *r, int scene, int size, bool quick, sn_error *err) {
  *r = (redmax_row){.scene = scene, .size = size, .total = NAN};
  sn_status status = load_scene(r, err);
  if (status) {
    return status;
  }
  r->nbody = sn_model_body_count(r->m);
  r->nv = sn_model_dof_count(r->m);
  r->nconstraint = r->m->nconstraint;
  status = build_sims(r, quick, err);
  status = status ? status : sn_state_create(r->m, &r->start, err);
  status = status ? status : sn_state_create(r->m, &r->early, err);
  status = status ? status : sn_state_create(r->m, &r->state, err);
  status = status ? status : sn_state_create(r->m, &r->reference, err);
  for (int k = 0; k < WARM_STEPS && !status; k++) {
    if (k == EARLY_STEPS) {
      sn_state_copy(r->early, r->start);
    }
    status = sn_sim_step(r->solver[GRAPH].sim, r->start, NULL, NULL, err);
  }
  return status;
}

void redmax_row_free(redmax_row *r) {
  for (int c = 0; c < SOLVERS; c++) {
    sn_sim_free(&r->solver[c].sim);
  }
  sn_state_free(&r->start);
  sn_state_free(&r->early);
  sn_state_free(&r->state);
  sn_state_free(&r->reference);
  sn_model_free(&r->m);
}

/* ---- are they right? ---- */

/* sqrt(x^T M x), M at its place; x replaces the rates of a state. */
static double energy_norm(redmax_row *r, sn_state *x) {
  sn_energy e = {0};
  sn_sim_energy(r->solver[GRAPH].sim, x, &e);
  return sqrt(2 * e.kinetic);
}

/* Rates after one early step, less those of the reference, in the energy norm. */
static double difference_from_reference(redmax_row *r) {
  const double *of_reference = sn_state_qd(r->reference);
  const double size = energy_norm(r, r->reference);
  double *qd = sn_state_qd(r->state);
  memcpy(sn_state_q(r->state), sn_state_q(r->reference), (size_t)r->nv * sizeof(double));
  for (int k = 0; k < r->nv; k++) {
    qd[k] -= of_reference[k];
  }
  return energy_norm(r, r->state) / fmax(size, 1e-300);
}

/* The largest eigenvalue of M (if it is given) or of its inverse, by powers. */
static double largest_eigenvalue(redmax_row *r, const double *M, double *x, double *y) {
  double value = 0;
  for (int k = 0; k < r->nv; k++) {
    x[k] = 1 + 0.5 * sin(k); /* nothing special */
  }
  for (int round = 0; round < 20; round++) {
    double size = 0;
    for (int i = 0; i < r->nv && M; i++) {
      y[i] = 0;
      for (int k = 0; k < r->nv; k++) {
        y[i] += M[(size_t)i * (size_t)r->nv + (size_t)k] * x[k];
      }
    }
    if (!M && sn_sim_Minv_mul(r->solver[GRAPH].sim, r->start, x, y, NULL)) {
      return INFINITY;
    }
    for (int k = 0; k < r->nv; k++) {
      size += y[k] * y[k];
    }
    value = sqrt(size);
    for (int k = 0; k < r->nv; k++) {
      x[k] = y[k] / value;
    }
  }
  return value;
}

/* How far those that form the matrix may be off: by the condition of the reduced inertia. */
static sn_status reduced_tolerance(redmax_row *r, double *tolerance, sn_error *err) {
  const size_t n = (size_t)r->nv;
  double *M = malloc((n * n + 2 * n) * sizeof *M);
  if (!M) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  double *x = M + n * n, *y = x + n;
  sn_sim_mass_matrix(r->solver[GRAPH].sim, r->start, M);
  const double cond = largest_eigenvalue(r, M, x, y) * largest_eigenvalue(r, NULL, x, y);
  *tolerance = fmax(REDMAX_TOLERANCE, 100 * DBL_EPSILON * cond);
  free(M);
  return SN_OK;
}

sn_status redmax_row_check(redmax_row *r, sn_error *err) {
  double tolerance[SOLVERS];
  sn_state_copy(r->reference, r->early);
  sn_status status = sn_sim_step(r->solver[GRAPH].sim, r->reference, NULL, NULL, err);
  double formed = REDMAX_TOLERANCE;
  if ((r->solver[REDUCED].sim || r->solver[KKT].sim) && !status) {
    status = reduced_tolerance(r, &formed, err);
  }
  for (int c = 0; c < SOLVERS; c++) { /* auto may take reduced-kkt */
    const bool may_form = forms_matrix(c) || (c == AUTO && r->nconstraint > 0);
    tolerance[c] = may_form ? formed : REDMAX_TOLERANCE;
  }
  for (int c = 0; c < SOLVERS && !status; c++) {
    redmax_solver *s = &r->solver[c];
    sn_info info;
    if (!s->sim) {
      continue;
    }
    sn_state_copy(r->state, r->early);
    status = sn_sim_step(s->sim, r->state, NULL, &info, err);
    s->iterations = info.iterations;
    s->residual = info.residual;
    s->difference = difference_from_reference(r);
    if (!status && !(s->difference <= tolerance[c])) { /* this way round for NaN */
      return sni_fail(err, SN_E_DIVERGED,
                      "rates of '%s' differ from those of 'graph' by %.1e in the energy norm, at "
                      "most %.0e",
                      redmax_solver_name[c], s->difference, tolerance[c]);
    }
  }
  return status;
}

/* ---- timing ---- */

/* Seconds a step.  The first step, which fetches what another solver has driven out of the caches,
 * does not count. */
static sn_status time_batch(redmax_row *r, int c, int count, double *each, sn_error *err) {
  sn_info info;
  sn_state_copy(r->state, r->start);
  sn_status status = sn_sim_step(r->solver[c].sim, r->state, NULL, &info, err);
  const double start = bench_cpu_seconds();
  for (int k = 0; k < count && !status; k++) {
    status = sn_sim_step(r->solver[c].sim, r->state, NULL, &info, err);
  }
  *each = (bench_cpu_seconds() - start) / count;
  return status;
}

static int batch_count(const redmax_solver *s) {
  return (int)fmin(BATCH_STEPS, fmax(1, BATCH_SECONDS / fmax(s->least, 1e-9)));
}

static double fastest(const redmax_row *r) {
  double least = INFINITY;
  for (int c = 0; c < SOLVERS; c++) {
    least = r->solver[c].sim ? fmin(least, r->solver[c].least) : least;
  }
  return least;
}

static sn_status time_the_near(redmax_row *r, double seconds, sn_error *err) {
  sn_status status = SN_OK;
  double spent = 0, each;
  for (int quiet = 0; quiet < QUIET_ROUNDS && spent < LONGER * seconds && !status; quiet++) {
    const double limit = NEAR * fastest(r);
    for (int c = 0; c < SOLVERS && !status; c++) {
      redmax_solver *s = &r->solver[c];
      if (!s->sim || s->least > limit) {
        continue;
      }
      const int count = batch_count(s);
      status = time_batch(r, c, count, &each, err);
      spent += each * (count + 1);
      quiet = each < GAIN * s->least ? -1 : quiet;
      s->least = fmin(s->least, each);
    }
  }
  return status;
}

static sn_status time_rounds(redmax_row *r, double seconds, double *sample, sn_error *err) {
  double spent[SOLVERS] = {0}, each;
  int batches[SOLVERS] = {0};
  sn_status status = SN_OK;
  for (bool more = true; more && !status;) {
    more = false;
    for (int c = 0; c < SOLVERS && !status; c++) {
      redmax_solver *s = &r->solver[c];
      if (!s->sim || batches[c] == BATCHES_MAX || (batches[c] > 0 && spent[c] >= seconds)) {
        continue;
      }
      const int count = batch_count(s);
      status = time_batch(r, c, count, &each, err);
      s->least = fmin(s->least, each);
      sample[c * BATCHES_MAX + batches[c]++] = each;
      spent[c] += each * (count + 1);
      more = true;
    }
  }
  for (int c = 0; c < SOLVERS && !status; c++) {
    if (r->solver[c].sim) {
      r->solver[c].median = bench_median(sample + c * BATCHES_MAX, batches[c]);
    }
  }
  return status;
}

sn_status redmax_row_time(redmax_row *r, double seconds, sn_error *err) {
  double *sample = malloc((size_t)SOLVERS * BATCHES_MAX * sizeof *sample);
  sn_status status = sample ? SN_OK : sni_fail(err, SN_E_MEMORY, "out of memory");
  for (int c = 0; c < SOLVERS && !status; c++) { /* also warms up */
    if (r->solver[c].sim) {
      status = time_batch(r, c, 1, &r->solver[c].least, err);
    }
  }
  status = status ? status : time_rounds(r, seconds, sample, err);
  status = status ? status : time_the_near(r, seconds, err);
  free(sample);
  return status;
}

sn_status redmax_row_whole(redmax_row *r, sn_error *err) {
  sn_state *state = NULL;
  const sn_run_def *run = sn_model_run(r->m);
  sn_energy e = {0};
  r->steps = (int)lround(run->duration / run->options.step);
  sn_status status = sn_state_create(r->m, &state, err);
  const double start = bench_cpu_seconds();
  for (int k = 0; k < r->steps && !status; k++) {
    status = sn_sim_step(r->solver[AUTO].sim, state, NULL, NULL, err);
  }
  r->total = bench_cpu_seconds() - start;
  if (!status) {
    sn_sim_energy(r->solver[AUTO].sim, state, &e);
    r->rest = e.kinetic;
  }
  sn_state_free(&state);
  return status;
}
