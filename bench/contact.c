/* contact.c: `sinew bench contact`: how often the staggered solve fails on random problems and by
 * how much, and what a step of a heap costs as the heap grows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/contact_problems.h"
#include "cli/make.h"
#include "sinew/scene.h"

/* ---- random problems ---- */

typedef struct tally {
  const char *name;
  sni_part_set set;
  int problems;
  int failed;        /* with the work that a step has time for                  */
  int unsolved;      /* with PATIENCE times as much                             */
  double worst;      /* residual of those that converged: at most the tolerance */
  double worst_left; /* of the unsolved                                         */
  double iterations;
  int most;
} tally;

#define TOLERANCE 1e-8
#define PATIENCE  100

static bool solve_all(tally *t, int problems) {
  const sni_staggered_room room = problem_room();
  void *memory = malloc(sni_staggered_size(&room));
  if (!memory) {
    return false;
  }
  sni_staggered s;
  sni_staggered_place(&s, &room, memory);
  const sni_staggered_options o = {.tolerance = TOLERANCE, .max_iterations = 100, .sides = 8};
  sni_staggered_options patient = o;
  patient.patience = PATIENCE;
  double sum = 0;
  for (int k = 0; k < problems; k++) {
    const problem_shape shape = problem_shape_of(k, t->set);
    sni_staggered_info info;
    problem_make(&shape, (uint64_t)k, &s);
    bool failed = sni_staggered_solve(&s, &o, &info) != SN_OK;
    t->failed += failed;
    if (failed) {
      problem_make(&shape, (uint64_t)k, &s);
      failed = sni_staggered_solve(&s, &patient, &info) != SN_OK;
      t->unsolved += failed;
    }
    *(failed ? &t->worst_left : &t->worst) = fmax(failed ? t->worst_left : t->worst, info.residual);
    sum += info.iterations;
    t->most = info.iterations > t->most ? info.iterations : t->most;
  }
  t->problems = problems;
  t->iterations = sum / problems;
  free(memory);
  return true;
}

static bool random_problems(const bench_settings *settings, sni_json *json) {
  tally t[] = {{.name = "box", .set = SNI_IN_LIMIT},
               {.name = "exact", .set = SNI_IN_DISC},
               {.name = "polyhedral", .set = SNI_IN_POLYGON},
               {.name = "anitescu", .set = SNI_IN_CONE}};
  enum { SETS = sizeof t / sizeof *t };
  if (!settings->quiet) {
    printf(
        "Random contact problems, to a residual of %g.\n\n"
        "cone         problems  failed  part      unsolved  residual  of unsolved  sweeps  most\n",
        TOLERANCE);
  }
  for (int k = 0; k < SETS; k++) {
    if (!solve_all(&t[k], settings->quick ? 500 : 100000 / SETS)) {
      return false;
    }
    const double part = (double)t[k].failed / t[k].problems;
    if (!settings->quiet) {
      printf("%-11s %9d %7d  %-8.2g  %8d  %-8.1e  %-11.1e %7.1f %5d\n", t[k].name, t[k].problems,
             t[k].failed, part, t[k].unsolved, t[k].worst, t[k].worst_left, t[k].iterations,
             t[k].most);
      fflush(stdout);
    }
    if (json) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "random");
      sni_json_text(json, "cone", t[k].name);
      sni_json_raw(json, "size", "%d", t[k].problems);
      sni_json_raw(json, "failed", "%d", t[k].failed);
      sni_json_raw(json, "failure_rate", "%.9g", part);
      sni_json_raw(json, "unsolved", "%d", t[k].unsolved);
      sni_json_raw(json, "residual", "%.3g", t[k].worst);
      sni_json_raw(json, "residual_unsolved", "%.3g", t[k].worst_left);
      sni_json_raw(json, "iterations", "%.3f", t[k].iterations);
      sni_json_close(json, "}");
    }
  }
  return true;
}

/* ---- heaps ---- */

#define STEP 0.01

typedef struct heap_row {
  int size;
  double seconds;  /* a step, once things have fallen on each other */
  double contacts; /* a step                                        */
  double iterations, residual, deepest;
} heap_row;

static sn_model *load_heap(int count, sn_error *err) {
  make_settings s = MAKE_USUAL;
  s.count = count;
  if (make_complete(&make_heap, &s, err)) {
    return NULL;
  }
  char *text = make_scene(&make_heap, &s);
  sn_scene *scene = NULL;
  sn_model *m = NULL;
  if (text && sn_scene_load_text(text, strlen(text), "heap", NULL, &scene, err) == SN_OK) {
    m = sn_scene_take_model(scene);
  }
  sn_scene_free(&scene);
  free(text);
  return m;
}

/* Steps until the uppermost have come down, and for 0.8 s after that: bodies start in a cube. */
static int steps_to_fall(int size) {
  const double height = MAKE_HEAP_SPACING * ceil(cbrt(size));
  return (int)ceil((sqrt(2 * height / 9.81) + 0.8) / STEP);
}

/* Falls until it lies on itself, then is timed. */
static sn_status drop(sn_sim *sim, sn_state *state, int fall, int steps, heap_row *row,
                      sn_error *err) {
  double start = 0;
  for (int k = 0; k < fall + steps; k++) {
    sn_info info;
    start = k == fall ? bench_cpu_seconds() : start;
    const sn_status status = sn_sim_step(sim, state, NULL, &info, err);
    if (status < 0) {
      return status;
    }
    if (k >= fall) {
      row->contacts += (double)info.contacts / steps;
      row->iterations += (double)info.contact_iterations / steps;
      row->residual = fmax(row->residual, info.contact_residual);
      row->deepest = fmax(row->deepest, info.deepest);
    }
  }
  row->seconds = (bench_cpu_seconds() - start) / steps;
  return SN_OK;
}

static sn_status measure_heap(heap_row *row, sn_error *err) {
  sn_model *m = load_heap(row->size, err);
  sn_sim *sim = NULL;
  sn_state *state = NULL;
  sn_options o = m ? sn_model_run(m)->options : sn_options_default();
  o.step = STEP;
  sn_status status = m ? sn_sim_create(m, &o, &sim, err) : SN_E_MEMORY;
  status = status ? status : sn_state_create(m, &state, err);
  status = status ? status : drop(sim, state, steps_to_fall(row->size), 30, row, err);
  sn_state_free(&state);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return status;
}

/* The slope of log(time) over log(size). */
static double exponent(const heap_row *row, int n) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int k = 0; k < n; k++) {
    const double a = log(row[k].size), b = log(row[k].seconds);
    x += a / n;
    y += b / n;
    xx += a * a / n;
    xy += a * b / n;
  }
  return (xy - x * y) / (xx - x * x);
}

static int heaps(const bench_settings *settings, sni_json *json, double *growth) {
  static const int usual[] = {100, 316, 1000, 3162, 10000}, few[] = {50, 100};
  const int *size = settings->quick ? few : usual;
  const int n = settings->quick ? 2 : 5;
  heap_row row[5] = {{0}};
  if (!settings->quiet) {
    printf("\nHeaps, at steps of 10 ms: CPU time of a step.\n\n"
           "bodies  contacts  ms a step  us a contact  sweeps  residual  deepest\n");
  }
  for (int k = 0; k < n; k++) {
    sn_error err = {0};
    row[k].size = size[k];
    if (measure_heap(&row[k], &err)) {
      fprintf(stderr, "sinew bench contact: heap of %d: %s\n", size[k], err.text);
      return 3;
    }
    const heap_row *r = &row[k];
    if (!settings->quiet) {
      printf("%6d  %8.0f  %9.3f  %12.2f  %6.1f  %-8.1e  %.2e\n", r->size, r->contacts,
             1e3 * r->seconds, 1e6 * r->seconds / fmax(r->contacts, 1), r->iterations, r->residual,
             r->deepest);
      fflush(stdout);
    }
    if (json) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "heap");
      sni_json_raw(json, "size", "%d", r->size);
      sni_json_text(json, "solver", "staggered");
      sni_json_raw(json, "seconds", "%.6g", r->seconds);
      sni_json_raw(json, "contacts", "%.6g", r->contacts);
      sni_json_raw(json, "iterations", "%.4g", r->iterations);
      sni_json_raw(json, "residual", "%.3g", r->residual);
      sni_json_raw(json, "deepest", "%.3g", r->deepest);
      sni_json_close(json, "}");
    }
  }
  *growth = exponent(row, n);
  if (!settings->quiet) {
    printf("\nheap: time of a step grows as n^%.3f\n", *growth);
  }
  return 0;
}

static int run(const bench_settings *settings, const bench_output *out) {
  if (settings->only) {
    fprintf(stderr, "sinew bench contact: has no rows to choose from: leave out --only\n");
    return 2;
  }
  sni_json *json = out->json;
  double growth = NAN;
  if (json) {
    sni_json_open(json, "rows", "[");
  }
  int code = random_problems(settings, json) ? 0 : 3;
  code = code ? code : heaps(settings, json, &growth);
  if (json) {
    sni_json_close(json, "]");
    sni_json_open(json, "fits", "[");
    if (!code) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "heap");
      sni_json_text(json, "solver", "staggered");
      sni_json_raw(json, "exponent", "%.4f", growth);
      sni_json_close(json, "}");
    }
    sni_json_close(json, "]");
  }
  return code;
}

const bench_entry bench_contact = {
    .name = "contact",
    .doc =
        "contact: random problems, how often and by how much the solve fails; heaps as they grow",
    .run = run};
