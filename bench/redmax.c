/* redmax.c: `sinew bench redmax`: what implicit steps cost, with every solver, on scenes that grow.
 */
#include "bench/redmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, BAD_INPUT = 2, NOT_RIGHT = 3 };
enum { MOST = 100000 };

/* The bridges of the paper's second table, and on to 16 times its largest [RM 7]. */
static const redmax_spec usual[] = {
    {BRIDGE, 80},     {BRIDGE, 160},    {BRIDGE, 320},    {BRIDGE, 640},   {BRIDGE, 1280},
    {BRIDGE, 2560},   {BRIDGE, 5120},   {BRIDGE, 10240},  {BRIDGE, 20480}, {FLEXIBLE, 20},
    {FLEXIBLE, 40},   {FLEXIBLE, 80},   {FLEXIBLE, 160},  {FLEXIBLE, 320}, {FLEXIBLE, 640},
    {FLEXIBLE, 1280}, {FLEXIBLE, 2560}, {FLEXIBLE, 5120}, {DECK, 80},      {DECK, 320},
    {DECK, 1280},     {NET, 5},         {NET, 10},        {NET, 20},       {TENSEGRITY, 4},
    {TENSEGRITY, 16}, {TENSEGRITY, 64}, {ARM, 1}};
static const redmax_spec quick[] = {
    {BRIDGE, 80}, {BRIDGE, 320}, {FLEXIBLE, 20},  {FLEXIBLE, 80},  {DECK, 80}, {DECK, 320},
    {NET, 4},     {NET, 8},      {TENSEGRITY, 2}, {TENSEGRITY, 8}, {ARM, 1}};

static int parse_only(const redmax_plan *plan, const char *text, redmax_spec *out) {
  const char *colon = strchr(text, ':');
  char *end = NULL;
  const long size = colon ? strtol(colon + 1, &end, 10) : 0;
  for (int k = plan->first; k < plan->end && colon; k++) {
    const size_t n = strlen(redmax_scenes[k].name);
    if (n == (size_t)(colon - text) && strncmp(text, redmax_scenes[k].name, n) == 0 &&
        end > colon + 1 && *end == 0 && size >= 1 && size <= MOST) {
      *out = (redmax_spec){k, (int)size};
      return DONE;
    }
  }
  fprintf(stderr, "sinew bench: --only: is '%s', needs ", text);
  for (int k = plan->first; k < plan->end; k++) {
    fprintf(stderr, "%s%s:N",
            k == plan->first     ? ""
            : k == plan->end - 1 ? " or "
                                 : ", ",
            redmax_scenes[k].name);
  }
  fprintf(stderr, ", N from 1 to %d\n", MOST);
  return BAD_INPUT;
}

/* Builds, compares and times one scene; says what is wrong. */
static int measure(redmax_row *r, redmax_spec what, double seconds, bool is_quick) {
  sn_error err = {0};
  sn_status status = redmax_row_build(r, what.scene, what.size, is_quick, &err);
  const bool bad_size = status == SN_E_VALUE;
  status = status ? status : redmax_row_check(r, &err);
  if (seconds > 0) {
    status = status ? status : redmax_row_time(r, seconds, &err);
    if (!status && what.scene == DECK) {
      status = redmax_row_whole(r, &err);
    }
    status = status ? status : redmax_row_runs(r, is_quick, &err);
  }
  if (status) {
    fprintf(stderr, "sinew bench: %s:%d: %s\n", redmax_scenes[what.scene].name, what.size,
            err.text);
  }
  return status == SN_OK ? DONE : bad_size ? BAD_INPUT : NOT_RIGHT;
}

static int one_row(redmax_spec what, double seconds, const bench_settings *settings,
                   const bench_output *out, redmax_growth *g) {
  redmax_row r;
  const int code = measure(&r, what, seconds, settings->quick);
  if (code == DONE && seconds > 0) {
    redmax_growth_add(g, &r);
  }
  if (code == DONE && !settings->quiet) {
    redmax_print_row(&r, seconds > 0);
  }
  if (code == DONE && out->json) {
    redmax_json_row(out->json, &r, seconds > 0);
  }
  redmax_row_free(&r);
  return code;
}

static int write_plot(const redmax_plan *plan, const bench_settings *settings,
                      const redmax_growth *g) {
  const svg_style style = {.title = "CPU time of an implicit step",
                           .x_label = "degrees of freedom",
                           .y_label = "seconds a step",
                           .width = 460,
                           .height = 360,
                           .log = true,
                           .marks = true};
  return bench_plot(settings->svg, g->panel + plan->first, plan->end - plan->first, &style)
             ? DONE
             : BAD_INPUT;
}

static int all_rows(const redmax_spec *list, int n, const bench_settings *settings,
                    const bench_output *out, redmax_growth *g) {
  const double usual_seconds = settings->quick ? 0.02 : 0.3;
  const double seconds = isnan(settings->seconds) ? usual_seconds : settings->seconds;
  int code = DONE;
  if (!settings->quiet) {
    const bench_machine machine = bench_machine_find();
    redmax_print_head(&machine);
  }
  for (int k = 0; k < n && code == DONE; k++) {
    code = one_row(list[k], seconds, settings, out, g);
  }
  return code;
}

int redmax_measure(const redmax_plan *plan, const bench_settings *settings,
                   const bench_output *out) {
  redmax_spec only;
  const redmax_spec *list = settings->quick ? plan->quick : plan->usual;
  int n = settings->quick ? plan->nquick : plan->nusual;
  if (settings->only) {
    const int code = parse_only(plan, settings->only, &only);
    if (code != DONE) {
      return code;
    }
    list = &only;
    n = 1;
  }
  redmax_growth g;
  redmax_growth_begin(&g);
  if (out->json) {
    sni_json_open(out->json, "rows", "[");
  }
  if (out->qdd) { /* implicit steps have no accelerations */
    sni_json_open(out->qdd, "rows", "[");
    sni_json_close(out->qdd, "]");
  }
  int code = all_rows(list, n, settings, out, &g);
  redmax_growth_end(&g);
  if (out->json) {
    sni_json_close(out->json, "]");
    sni_json_open(out->json, "fits", "[");
    redmax_json_growth(out->json, &g);
    sni_json_close(out->json, "]");
  }
  if (!settings->quiet) {
    redmax_print_growth(&g);
  }
  code = code == DONE && settings->svg ? write_plot(plan, settings, &g) : code;
  redmax_growth_free(&g);
  return code;
}

static int run(const bench_settings *settings, const bench_output *out) {
  static const redmax_plan plan = {.first = BRIDGE,
                                   .end = ARM + 1,
                                   .usual = usual,
                                   .quick = quick,
                                   .nusual = sizeof usual / sizeof *usual,
                                   .nquick = sizeof quick / sizeof *quick};
  return redmax_measure(&plan, settings, out);
}

const bench_entry bench_redmax = {
    .name = "redmax",
    .doc = "implicit steps with every solver: bridges, deck, net, tensegrity, arm",
    .draws = true,
    .run = run};
