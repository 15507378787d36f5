/* structured.c: `sinew bench structured`: the paper's ladders with every solver [FA 4], ladders
 * that grow, and a sheet that is pulled with equal time [FA 5]. */
#include "bench/structured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, BAD_INPUT = 2, NOT_RIGHT = 3 };
enum { MOST = 100000, FITTED_MOST = 6144 };

typedef struct spec {
  int pattern, count;
  bool grows; /* one of (1, n): the growth is fitted to these, which have hardly begun to swing */
} spec;

/* The five of the paper, then up to 100,000 constraints. */
static const spec usual[] = {{12, 1, false}, {12, 4, false},  {1, 48, false},  {1, 96, false},
                             {6, 96, false}, {1, 96, true},   {1, 192, true},  {1, 384, true},
                             {1, 768, true}, {1, 1536, true}, {1, 3072, true}, {1, 6144, true},
                             {1, 8334, true}};
static const spec quick[] = {{12, 1, false}, {2, 3, false}, {1, 12, true}, {1, 24, true}};

/* Curves over the number of constraints. */
enum { SOLUTIONS, STEPS, ITERATIONS, PANELS };
typedef struct growth {
  svg_panel panel[PANELS];
} growth;

static void growth_begin(growth *g) {
  static const char *const title[PANELS] = {"a solution, seconds", "a step, seconds",
                                            "iterations of a solution"};
  *g = (growth){0};
  for (int p = 0; p < PANELS; p++) {
    g->panel[p].title = title[p];
    g->panel[p].count = CONTESTANTS;
    for (int c = 0; c < CONTESTANTS; c++) {
      g->panel[p].series[c].name = structured_name[c];
      g->panel[p].series[c].color = c;
    }
  }
}

static void growth_add(growth *g, const structured_row *r) {
  for (int c = 0; c < CONTESTANTS; c++) {
    const structured_contestant *by = &r->by[c];
    if (by->sim && by->solve > 0) {
      svg_add(&g->panel[SOLUTIONS].series[c], r->ntree + r->nloop, by->solve);
      svg_add(&g->panel[STEPS].series[c], r->ntree + r->nloop, by->step);
    }
    if (by->sim && by->iterations > 0) {
      svg_add(&g->panel[ITERATIONS].series[c], r->ntree + r->nloop, by->iterations);
    }
  }
}

/* Slope of log y over log x; fewer than two points: none. */
static int exponent_of(const svg_series *s, double *exponent) {
  *exponent = bench_exponent(s->count, s->x, s->y);
  return s->count;
}

/* ---- for people ---- */

static void print_head(void) {
  const bench_machine machine = bench_machine_find();
  printf(
      "Ladders in the midst of their swing on %s, to a precision of 1e-3.\n"
      "CPU time of a solution (factors and all), the least (and the median), and of a step.\n\n"
      "ladder           tree    loops  solver              ms a solution  iterations   ms a step  "
      "   MB  differ\n",
      machine.cpu);
}

static void print_row(const structured_row *r, bool timed) {
  char head[48], time[48];
  snprintf(head, sizeof head, "(%d,%d)", r->pattern, r->count);
  snprintf(head + strlen(head), sizeof head - strlen(head), "%*s%7d  %7d", (int)(14 - strlen(head)),
           "", r->ntree, r->nloop);
  for (int c = 0; c < CONTESTANTS; c++) {
    const structured_contestant *by = &r->by[c];
    if (!by->sim) {
      continue;
    }
    snprintf(time, sizeof time, "%.3f (%.3f)", 1e3 * by->solve, 1e3 * by->median);
    printf("%-30s  %-16s %16s  %10d", head, structured_name[c], timed ? time : "", by->iterations);
    if (timed) {
      printf("  %10.3f", 1e3 * by->step);
    }
    printf("  %5.1f  %.0e\n", 1e-6 * (double)by->bytes, by->difference);
    head[0] = 0;
  }
  if (timed && r->by[STRUCTURED].solve > 0) {
    printf("%-30s  structured is", "");
    for (int c = 0; c < CONTESTANTS; c++) {
      if (c != STRUCTURED && r->by[c].sim) {
        printf("  %.1f times as fast as %s", r->by[c].solve / r->by[STRUCTURED].solve,
               structured_name[c]);
      }
    }
    printf("\n");
  }
  fflush(stdout);
}

static void print_growth(const growth *g) {
  static const char *const what[PANELS] = {"time of a solution", "time of a step", "iterations"};
  for (int p = 0; p < PANELS; p++) {
    for (int c = 0; c < CONTESTANTS; c++) {
      const svg_series *s = &g->panel[p].series[c];
      double exponent;
      if (exponent_of(s, &exponent) > 1) {
        printf("ladder(1,n): %s of %s grows as n^%.3f from %.0f to %.0f constraints\n", what[p],
               structured_name[c], exponent, s->x[0], s->x[s->count - 1]);
      }
    }
  }
}

static void print_sheet(const structured_sheet *s) {
  printf("surface, %g ms a step by %s: %.1f iterations a step; gaps %.1e while it is pulled, %.1e "
         "fifty and %.1e a hundred steps after;\n"
         "  %.1f %% of the steps took longer than that and one iteration, by %.2f ms at most; the "
         "tree is off by %.0e\n",
         1e3 * s->budget, structured_name[s->contestant], s->iterations, s->gap_pulled,
         s->gap_after[0], s->gap_after[1], 100 * s->late, 1e3 * s->late_most, s->tree);
}

/* ---- for machines ---- */

static void json_row(sni_json *j, const structured_row *r, bool timed) {
  char name[48];
  snprintf(name, sizeof name, "ladder(%d,%d)", r->pattern, r->count);
  for (int c = 0; c < CONTESTANTS; c++) {
    const structured_contestant *by = &r->by[c];
    if (!by->sim) {
      continue;
    }
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "scene", name);
    sni_json_raw(j, "size", "%d", r->ntree + r->nloop);
    sni_json_raw(j, "tree", "%d", r->ntree);
    sni_json_raw(j, "loops", "%d", r->nloop);
    sni_json_text(j, "method", "structured");
    sni_json_text(j, "solver", structured_name[c]);
    if (timed) {
      sni_json_raw(j, "seconds", "%.9g", by->solve);
      sni_json_raw(j, "median_seconds", "%.9g", by->median);
      sni_json_raw(j, "step_seconds", "%.9g", by->step);
      sni_json_raw(j, "step_iterations", "%.9g", by->iterations_a_step);
      sni_json_raw(j, "iterations", "%d", by->iterations);
    }
    sni_json_raw(j, "bytes", "%zu", by->bytes);
    sni_json_raw(j, "difference", "%.3g", by->difference);
    sni_json_close(j, "}");
  }
}

static void json_sheet(sni_json *j, const structured_sheet *s) {
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "scene", "surface");
  sni_json_text(j, "method", "structured");
  sni_json_text(j, "solver", structured_name[s->contestant]);
  sni_json_raw(j, "budget", "%.9g", s->budget);
  sni_json_raw(j, "step_iterations", "%.9g", s->iterations);
  sni_json_raw(j, "gap_pulled", "%.6g", s->gap_pulled);
  sni_json_raw(j, "gap_after_50", "%.6g", s->gap_after[0]);
  sni_json_raw(j, "gap_after_100", "%.6g", s->gap_after[1]);
  sni_json_raw(j, "late", "%.6g", s->late);
  sni_json_raw(j, "late_most", "%.6g", s->late_most);
  sni_json_raw(j, "tree_error", "%.3g", s->tree);
  sni_json_close(j, "}");
}

static void json_growth(sni_json *j, const growth *g) {
  static const char *const quantity[PANELS] = {"seconds", "step_seconds", "iterations"};
  for (int p = 0; p < PANELS; p++) {
    for (int c = 0; c < CONTESTANTS; c++) {
      double exponent;
      const int rows = exponent_of(&g->panel[p].series[c], &exponent);
      if (rows > 1) {
        sni_json_open(j, NULL, "{");
        sni_json_text(j, "scene", "ladder(1,n)");
        sni_json_text(j, "method", "structured");
        sni_json_text(j, "solver", structured_name[c]);
        sni_json_text(j, "quantity", quantity[p]);
        sni_json_raw(j, "rows", "%d", rows);
        sni_json_raw(j, "exponent", "%.6g", exponent);
        sni_json_close(j, "}");
      }
    }
  }
}

/* ---- all of it ---- */

/* "ladder:6x96". */
static int parse_only(const char *text, spec *out) {
  int pattern = 0, count = 0, used = 0;
  const bool read = sscanf(text, "ladder:%dx%d%n", &pattern, &count, &used) == 2 && text[used] == 0;
  if (read && pattern >= 1 && pattern <= 1000 && count >= 1 && count <= MOST) {
    *out = (spec){pattern, count, false};
    return DONE;
  }
  fprintf(
      stderr,
      "sinew bench: --only: is '%s', needs surface or ladder:PxN, P from 1 to 1000 and N from 1 "
      "to %d\n",
      text, MOST);
  return BAD_INPUT;
}

/* Long ladders get more time: the least of few samples is no match for the least of many, and the
 * growth would be that of the noise. */
#define LONG 768

static double time_for(spec what, double seconds) {
  return what.grows && what.count > LONG ? seconds * what.count / LONG : seconds;
}

static int not_right(const structured_row *r, const sn_error *err) {
  fprintf(stderr, "sinew bench: ladder:%dx%d: %s\n", r->pattern, r->count, err->text);
  return NOT_RIGHT;
}

static int build_row(structured_row *r, spec what) {
  sn_error err = {0};
  sn_status status = structured_row_build(r, what.pattern, what.count, what.grows, &err);
  status = status ? status : structured_row_check(r, &err);
  return status ? not_right(r, &err) : DONE;
}

static int time_row(structured_row *r, double seconds) {
  sn_error err = {0};
  return seconds > 0 && structured_row_time(r, seconds, &err) ? not_right(r, &err) : DONE;
}

static void tell_row(const structured_row *r, bool timed, const bench_settings *settings,
                     const bench_output *out) {
  if (!settings->quiet) {
    print_row(r, timed);
  }
  if (out->json) {
    json_row(out->json, r, timed);
  }
}

static bool is_fitted(spec what) {
  return what.grows && what.count <= FITTED_MOST;
}

static int one_row(spec what, double seconds, const bench_settings *settings,
                   const bench_output *out) {
  structured_row r;
  int code = build_row(&r, what);
  code = code == DONE ? time_row(&r, time_for(what, seconds)) : code;
  if (code == DONE) {
    tell_row(&r, seconds > 0, settings, out);
  }
  structured_row_free(&r);
  return code;
}

/* The ladders that growth is fitted to, in rounds: an hour in which somebody else has the memory
 * would be the growth of whoever had his turn then. */
enum { ROUNDS = 4, FITTED_ROWS = 16 };
static int fitted_rows(const spec *list, int n, double seconds, const bench_settings *settings,
                       const bench_output *out, growth *g) {
  structured_row row[FITTED_ROWS];
  int built = 0, code = DONE;
  for (int k = 0; k < n && code == DONE; k++) {
    code = build_row(&row[built++], list[k]);
  }
  for (int k = 0; k < ROUNDS * n && code == DONE; k++) {
    const double part = (k / n + 1) / (double)ROUNDS;
    code = time_row(&row[k % n], part * time_for(list[k % n], seconds));
  }
  for (int k = 0; k < built; k++) {
    if (code == DONE && seconds > 0) {
      growth_add(g, &row[k]);
    }
    if (code == DONE) {
      tell_row(&row[k], seconds > 0, settings, out);
    }
    structured_row_free(&row[k]);
  }
  return code;
}

static int sheets(const bench_settings *settings, const bench_output *out) {
  static const struct {
    int contestant;
    double budget;
  } pulls[] = {{FULL_ITERATIVE, 5e-3}, {STRUCTURED, 5e-3}, {STRUCTURED, 2e-3}};
  for (int k = 0; k < 3; k++) {
    structured_sheet s;
    sn_error err = {0};
    if (structured_sheet_run(&s, pulls[k].contestant, pulls[k].budget, settings->quick, &err)) {
      fprintf(stderr, "sinew bench: surface: %s\n", err.text);
      return NOT_RIGHT;
    }
    if (!settings->quiet) {
      print_sheet(&s);
    }
    if (out->json) {
      json_sheet(out->json, &s);
    }
  }
  return DONE;
}

static int write_plot(const bench_settings *settings, growth *g) {
  const svg_style style = {.title = "Rope ladders (1,n) by the method structured",
                           .x_label = "constraints",
                           .y_label = "",
                           .width = 460,
                           .height = 360,
                           .log = true,
                           .marks = true};
  for (int p = 0; p < PANELS; p++) {
    for (int c = 0; c < CONTESTANTS; c++) {
      svg_series *s = &g->panel[p].series[c];
      double exponent;
      if (exponent_of(s, &exponent) > 1) {
        snprintf(s->note, sizeof s->note, "n^%.2f", exponent);
      }
    }
  }
  return bench_plot(settings->svg, g->panel, PANELS, &style) ? DONE : BAD_INPUT;
}

static int all_rows(const bench_settings *settings, const bench_output *out, growth *g) {
  const double usual_seconds = settings->quick ? 0.02 : 0.5;
  const double seconds = isnan(settings->seconds) ? usual_seconds : settings->seconds;
  const bool sheet_only = settings->only && strcmp(settings->only, "surface") == 0;
  const spec *list = settings->quick ? quick : usual;
  int n = settings->quick ? sizeof quick / sizeof *quick : sizeof usual / sizeof *usual;
  spec only;
  if (settings->only && !sheet_only) {
    const int code = parse_only(settings->only, &only);
    if (code != DONE) {
      return code;
    }
    list = &only;
    n = 1;
  }
  int code = DONE;
  if (!settings->quiet && !sheet_only) {
    print_head();
  }
  for (int k = 0, fitted; k < n && code == DONE && !sheet_only; k += fitted > 0 ? fitted : 1) {
    for (fitted = 0; k + fitted < n && fitted < FITTED_ROWS && is_fitted(list[k + fitted]);) {
      fitted++;
    }
    code = fitted > 0 ? fitted_rows(&list[k], fitted, seconds, settings, out, g)
                      : one_row(list[k], seconds, settings, out);
  }
  if (code == DONE && seconds > 0 && (sheet_only || !settings->only)) {
    code = sheets(settings, out);
  }
  return code;
}

static int run(const bench_settings *settings, const bench_output *out) {
  growth g;
  growth_begin(&g);
  if (out->json) {
    sni_json_open(out->json, "rows", "[");
  }
  if (out->qdd) { /* steps have no accelerations */
    sni_json_open(out->qdd, "rows", "[");
    sni_json_close(out->qdd, "]");
  }
  int code = all_rows(settings, out, &g);
  if (out->json) {
    sni_json_close(out->json, "]");
    sni_json_open(out->json, "fits", "[");
    json_growth(out->json, &g);
    sni_json_close(out->json, "]");
  }
  if (!settings->quiet) {
    print_growth(&g);
  }
  code = code == DONE && settings->svg ? write_plot(settings, &g) : code;
  for (int p = 0; p < PANELS; p++) {
    svg_panel_free(&g.panel[p]);
  }
  return code;
}

const bench_entry bench_structured = {
    .name = "structured",
    .doc = "rope ladders with every solver of the method structured, and a sheet pulled in time",
    .draws = true,
    .run = run};
