/* contact.c: `sinew bench contact`: how often the staggered solve fails on random problems and by
 * how much, and what a step of a heap costs as the heap grows. */
#include "bench/contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/contact_problems.h"

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

static bool random_problems(int problems, const bench_settings *settings, sni_json *json) {
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
    if (!solve_all(&t[k], problems)) {
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

/* ---- what is asked for ---- */

typedef struct plan {
  int problems; /* of each cone; 0: none */
  int heap[BENCH_HEAPS], nheap;
} plan;

static plan whole(bool quick) {
  return quick ? (plan){.problems = 500, .heap = {50, 100}, .nheap = 2}
               : (plan){.problems = 25000, .heap = {100, 300, 1000, 3000, 10000}, .nheap = 5};
}

/* All random problems or all heaps, or so many or so large a one. */
static bool parse_only(const char *text, plan *p) {
  const char *colon = strchr(text, ':');
  char *end = NULL;
  const long size = colon ? strtol(colon + 1, &end, 10) : 0;
  const size_t n = colon ? (size_t)(colon - text) : strlen(text);
  const bool random = n == 6 && strncmp(text, "random", n) == 0;
  const bool heap = n == 4 && strncmp(text, "heap", n) == 0;
  if (!(random || heap) || (colon && (end == colon + 1 || *end || size < 1 || size > 100000))) {
    fprintf(stderr,
            "sinew bench contact: --only: is '%s', needs random, heap, random:N or heap:N, "
            "N from 1 to 100000\n",
            text);
    return false;
  }
  p->problems = random ? p->problems : 0;
  p->nheap = heap ? p->nheap : 0;
  if (colon && random) {
    p->problems = (int)size;
  } else if (colon) {
    p->heap[0] = (int)size;
    p->nheap = 1;
  }
  return true;
}

static int run(const bench_settings *settings, const bench_output *out) {
  plan p = whole(settings->quick);
  if (settings->only && !parse_only(settings->only, &p)) {
    return 2;
  }
  sni_json *json = out->json;
  bench_growth growth = {NAN, NAN, NAN};
  if (json) {
    sni_json_open(json, "rows", "[");
  }
  int code = p.problems == 0 || random_problems(p.problems, settings, json) ? 0 : 3;
  code = code ? code : bench_heaps(p.heap, p.nheap, settings, json, &growth);
  if (json) {
    sni_json_close(json, "]");
    sni_json_open(json, "fits", "[");
    if (p.nheap > 1 && !code) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "heap");
      sni_json_text(json, "solver", "staggered");
      sni_json_raw(json, "exponent", "%.4f", growth.bodies);
      sni_json_raw(json, "exponent_contacts", "%.4f", growth.contacts);
      sni_json_raw(json, "exponent_falling", "%.4f", growth.falling);
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
