/* contact_heap.c: what a step of a heap costs, as the heap grows. */
#include <math.h>

#include "bench/contact.h"
#include "cli/make.h"

#define STEP 0.01
enum { TIMED = 30 };

typedef struct heap_row {
  int size;
  double falling; /* seconds a step, until the uppermost have come down            */
  double deepest_falling;
  double seconds;  /* a step, once things have fallen on each other */
  double contacts; /* a step                                        */
  double iterations, residual, deepest;
} heap_row;

/* Steps until the uppermost have come down, and for 0.8 s after that: bodies start in a cube. */
static int steps_to_fall(int size) {
  const double height = MAKE_HEAP_SPACING * ceil(cbrt(size));
  return (int)ceil(sqrt(2 * height / 9.81) / STEP);
}
enum { STEPS_TO_REST = (int)(0.8 / STEP) };

static sn_status fall(sn_sim *sim, sn_state *state, heap_row *row, sn_error *err) {
  const int falls = steps_to_fall(row->size);
  sn_status status = SN_OK;
  double before = bench_cpu_seconds();
  row->deepest_falling = 0;
  for (int k = 0; k < falls + STEPS_TO_REST && status >= 0; k++) {
    sn_info info;
    if (k == falls) {
      row->falling = (bench_cpu_seconds() - before) / falls;
    }
    status = sn_sim_step(sim, state, NULL, &info, err);
    row->deepest_falling = fmax(row->deepest_falling, info.deepest);
  }
  return status;
}

/* The same steps several times, from a copy: they do the same to the bit, and the least time of
 * each is what it takes when nobody is in the way. */
static sn_status time_steps(sn_sim *sim, const sn_state *start, sn_state *state, int repeats,
                            heap_row *row, sn_error *err) {
  double least[TIMED];
  for (int r = 0; r < repeats; r++) {
    sn_status status = sn_state_copy(state, start);
    row->contacts = row->iterations = row->residual = row->deepest = 0;
    for (int k = 0; k < TIMED && status >= 0; k++) {
      sn_info info;
      const double before = bench_cpu_seconds();
      status = sn_sim_step(sim, state, NULL, &info, err);
      const double seconds = bench_cpu_seconds() - before;
      least[k] = r == 0 ? seconds : fmin(least[k], seconds);
      row->contacts += (double)info.contacts / TIMED;
      row->iterations += (double)info.contact_iterations / TIMED;
      row->residual = fmax(row->residual, info.contact_residual);
      row->deepest = fmax(row->deepest, info.deepest);
    }
    if (status < 0) {
      return status;
    }
  }
  row->seconds = 0;
  for (int k = 0; k < TIMED; k++) {
    row->seconds += least[k] / TIMED;
  }
  return SN_OK;
}

static sn_status measure(heap_row *row, int repeats, sn_error *err) {
  make_settings s = MAKE_USUAL;
  s.count = row->size;
  sn_model *m = NULL;
  sn_sim *sim = NULL;
  sn_state *start = NULL, *state = NULL;
  sn_status status = bench_make("heap", &s, &m, err);
  if (!status) {
    sn_options o = sn_model_run(m)->options;
    o.step = STEP;
    status = sn_sim_create(m, &o, &sim, err);
  }
  status = status ? status : sn_state_create(m, &start, err);
  status = status ? status : sn_state_create(m, &state, err);
  status = status ? status : fall(sim, start, row, err);
  status = status < 0 ? status : time_steps(sim, start, state, repeats, row, err);
  sn_state_free(&state);
  sn_state_free(&start);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return status;
}

static void print_row(const heap_row *r) {
  printf("%6d  %8.0f  %9.3f  %9.1f  %12.2f  %6.1f  %-8.1e  %.2e  %12.3f  %.2e\n", r->size,
         r->contacts, 1e3 * r->seconds, 1e6 * r->seconds / r->size,
         1e6 * r->seconds / fmax(r->contacts, 1), r->iterations, r->residual, r->deepest,
         1e3 * r->falling, r->deepest_falling);
  fflush(stdout);
}

static void json_row(const heap_row *r, sni_json *json) {
  sni_json_open(json, NULL, "{");
  sni_json_text(json, "scene", "heap");
  sni_json_raw(json, "size", "%d", r->size);
  sni_json_text(json, "solver", "staggered");
  sni_json_raw(json, "seconds", "%.6g", r->seconds);
  sni_json_raw(json, "contacts", "%.6g", r->contacts);
  sni_json_raw(json, "iterations", "%.4g", r->iterations);
  sni_json_raw(json, "residual", "%.3g", r->residual);
  sni_json_raw(json, "deepest", "%.3g", r->deepest);
  sni_json_raw(json, "seconds_falling", "%.6g", r->falling);
  sni_json_raw(json, "deepest_falling", "%.3g", r->deepest_falling);
  sni_json_close(json, "}");
}

int bench_heaps(const int *size, int n, const bench_settings *settings, sni_json *json,
                bench_growth *growth) {
  double bodies[BENCH_HEAPS], contacts[BENCH_HEAPS], seconds[BENCH_HEAPS], falling[BENCH_HEAPS];
  if (n > 0 && !settings->quiet) {
    printf("\nHeaps, at steps of 10 ms: CPU time of a step, once they have come down; and the mean "
           "until then.\n\n"
           "bodies  contacts  ms a step  us a body  us a contact  sweeps  residual  deepest   "
           "falling: ms  deepest\n");
  }
  for (int k = 0; k < n; k++) {
    sn_error err = {0};
    heap_row row = {.size = size[k]};
    if (measure(&row, settings->quick ? 1 : 3, &err) < 0) {
      fprintf(stderr, "sinew bench contact: heap of %d: %s\n", size[k], err.text);
      return 3;
    }
    bodies[k] = row.size;
    contacts[k] = row.contacts;
    seconds[k] = row.seconds;
    falling[k] = row.falling;
    if (!settings->quiet) {
      print_row(&row);
    }
    if (json) {
      json_row(&row, json);
    }
  }
  if (n > 1) {
    *growth =
        (bench_growth){bench_exponent(n, bodies, seconds), bench_exponent(n, contacts, seconds),
                       bench_exponent(n, bodies, falling)};
  }
  if (n > 1 && !settings->quiet) {
    printf("\nheap: time of a step grows as n^%.3f, with contacts as c^%.3f; while it falls as "
           "n^%.3f\n",
           growth->bodies, growth->contacts, growth->falling);
  }
  return 0;
}
