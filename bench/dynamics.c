/* dynamics.c: `sinew bench dynamics`: what forward dynamics costs, beside a textbook's algorithm.
 */
#include "bench/dynamics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, BAD_INPUT = 2, NOT_RIGHT = 3 };

typedef struct spec {
  const char *scene;
  int size;
} spec;

static const spec usual[] = {{"chain", 10},     {"chain", 30},   {"chain", 100},   {"chain", 300},
                             {"chain", 1000},   {"chain", 3000}, {"chain", 10000}, {"chain", 30000},
                             {"chain", 100000}, {"tree", 31},    {"tree", 127},    {"tree", 511},
                             {"tree", 2047},    {"tree", 8191},  {"tree", 32767},  {"tree", 65535},
                             {"humanoid", 22}};
static const spec quick[] = {{"chain", 10},    {"chain", 100}, {"chain", 1000},
                             {"chain", 10000}, {"tree", 31},   {"tree", 127},
                             {"tree", 1023},   {"tree", 8191}, {"humanoid", 22}};

static int parse_only(const char *text, spec *out) {
  static const char *const scenes[] = {"chain", "tree", "humanoid"};
  const char *colon = strchr(text, ':');
  char *end = NULL;
  const long size = colon ? strtol(colon + 1, &end, 10) : 0;
  for (int k = 0; k < 3 && colon; k++) {
    const size_t n = strlen(scenes[k]);
    const bool fits = strcmp(scenes[k], "humanoid") != 0 || size == 22;
    if (n == (size_t)(colon - text) && strncmp(text, scenes[k], n) == 0 && end > colon + 1 &&
        *end == 0 && size >= 1 && size <= 10000000 && fits) {
      *out = (spec){scenes[k], (int)size};
      return DONE;
    }
  }
  fprintf(
      stderr,
      "sinew bench: --only: is '%s', needs chain:N, tree:N or humanoid:22, N from 1 to 10000000\n",
      text);
  return BAD_INPUT;
}

/* Builds, compares and times one model; says what is wrong. */
static int measure(row *r, spec what, double seconds) {
  sn_error err = {0};
  const sn_status status = dynamics_row_build(r, what.scene, what.size, &err);
  if (status != SN_OK) {
    fprintf(stderr, "sinew bench: %s:%d: %s\n", what.scene, what.size, err.text);
    return NOT_RIGHT;
  }
  if (!dynamics_row_is_right(r)) {
    fprintf(stderr,
            "sinew bench: %s:%d: accelerations differ from the textbook's by %.1e of the largest, "
            "at most %.0e\n",
            what.scene, what.size, r->difference, DYNAMICS_TOLERANCE);
    return NOT_RIGHT;
  }
  if (seconds > 0 && !dynamics_row_time(r, seconds)) {
    fprintf(stderr, "sinew bench: %s:%d: out of memory\n", what.scene, what.size);
    return NOT_RIGHT;
  }
  return DONE;
}

static int one_row(spec what, double seconds, const bench_settings *settings,
                   const bench_output *out, growth *g) {
  row r;
  const int code = measure(&r, what, seconds);
  if (code == DONE && seconds > 0) {
    dynamics_growth_add(g, &r);
    if (!settings->quiet) {
      dynamics_print_row(&r);
    }
  }
  if (code == DONE && out->json) {
    dynamics_json_row(out->json, &r, seconds > 0);
  }
  if (code == DONE && out->qdd) {
    dynamics_json_qdd(out->qdd, &r);
  }
  dynamics_row_free(&r);
  return code;
}

static int all_rows(const spec *list, int n, const bench_settings *settings,
                    const bench_output *out, growth *g) {
  const double usual_seconds = settings->quick ? 0.05 : 0.5;
  const double seconds = isnan(settings->seconds) ? usual_seconds : settings->seconds;
  int code = DONE;
  if (!settings->quiet && seconds > 0) {
    dynamics_print_head(&g->machine);
  }
  for (int k = 0; k < n && code == DONE; k++) {
    code = one_row(list[k], seconds, settings, out, g);
  }
  return code;
}

static int run(const bench_settings *settings, const bench_output *out) {
  spec only;
  const spec *list = settings->quick ? quick : usual;
  int n = (int)(settings->quick ? sizeof quick / sizeof *quick : sizeof usual / sizeof *usual);
  if (settings->only) {
    const int code = parse_only(settings->only, &only);
    if (code != DONE) {
      return code;
    }
    list = &only;
    n = 1;
  }
  growth g = {.machine = bench_machine_find()};
  sni_json *const part[] = {out->json, out->qdd};
  for (int k = 0; k < 2; k++) {
    if (part[k]) {
      sni_json_open(part[k], "rows", "[");
    }
  }
  const int code = all_rows(list, n, settings, out, &g);
  for (int k = 0; k < 2; k++) {
    if (part[k]) {
      sni_json_close(part[k], "]");
    }
  }
  if (!settings->quiet) {
    dynamics_growth_print(&g);
  }
  if (out->json) {
    sni_json_open(out->json, "fits", "[");
    dynamics_growth_json(&g, out->json);
    sni_json_close(out->json, "]");
  }
  return code;
}

const bench_entry bench_dynamics = {
    .name = "dynamics",
    .doc = "forward dynamics of chains, trees and a humanoid, beside a textbook's algorithm",
    .run = run};
