/* redmax_table.c: the results of `sinew bench redmax` and `loops`, for people and for machines. */
#include "bench/redmax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- rows ---- */

void redmax_print_head(const bench_machine *m) {
  printf("Implicit steps on %s.\n"
         "CPU time of a step, the least (and the median) of batches taken in turns.\n\n"
         "scene         size    dofs  solver            us a step             iterations  "
         "us a dof  5 s of motion  differ\n",
         m->cpu);
}

static void print_run(const redmax_run *run) {
  printf("%-26s  %g s by %s: %.3f s, %.1f us a step; gap %.0e, energy off by %.2g", "",
         run->duration, run->integrator, run->seconds, 1e6 * run->seconds / run->steps, run->gap,
         run->energy);
  if (!isnan(run->off)) {
    printf(", first joint by %.2g", run->off);
  }
  printf("\n");
}

void redmax_print_row(const redmax_row *r, bool timed) {
  const redmax_scene *scene = &redmax_scenes[r->scene];
  const double step = sn_model_run(r->m)->options.step;
  char head[48];
  snprintf(head, sizeof head, "%-11s %6d %7d", scene->name, r->size, r->nv);
  for (int c = 0; c < SOLVERS; c++) {
    const redmax_solver *s = &r->solver[c];
    char time[48], iterations[24] = "-";
    if (!s->sim) {
      continue;
    }
    snprintf(time, sizeof time, "%.1f (%.1f)", 1e6 * s->least, 1e6 * s->median);
    if (s->iterations > 0) {
      snprintf(iterations, sizeof iterations, "%.0f", s->iterations);
    }
    printf("%-26s  %-11s %20s  %10s", head, redmax_solver_name[c], timed ? time : "", iterations);
    if (timed) {
      printf("  %12.3f  %11.4f s", 1e6 * s->least / r->nv, 5 / step * s->least);
    }
    printf("  %.0e\n", s->difference);
    head[0] = 0;
  }
  if (!isnan(r->total)) {
    printf("%-26s  the whole run, %d steps: %.3f s; kinetic energy at its end %.1e\n", "", r->steps,
           r->total, r->rest);
  }
  for (int k = 0; k < r->nrun; k++) {
    print_run(&r->run[k]);
  }
  fflush(stdout);
}

static void json_runs(sni_json *j, const redmax_row *r) {
  sni_json_open(j, "runs", "[");
  for (int k = 0; k < r->nrun; k++) {
    const redmax_run *run = &r->run[k];
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "integrator", run->integrator);
    sni_json_raw(j, "steps", "%d", run->steps);
    sni_json_raw(j, "duration", "%.9g", run->duration);
    sni_json_raw(j, "seconds", "%.6g", run->seconds);
    sni_json_raw(j, "gap", "%.3g", run->gap);
    sni_json_raw(j, "energy_error", "%.6g", run->energy);
    if (!isnan(run->off)) {
      sni_json_raw(j, "first_joint_off", "%.6g", run->off);
    }
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

void redmax_json_row(sni_json *j, const redmax_row *r, bool timed) {
  for (int c = 0; c < SOLVERS; c++) {
    const redmax_solver *s = &r->solver[c];
    if (!s->sim) {
      continue;
    }
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "scene", redmax_scenes[r->scene].name);
    sni_json_raw(j, "size", "%d", r->size);
    sni_json_raw(j, "bodies", "%d", r->nbody);
    sni_json_raw(j, "dofs", "%d", r->nv);
    sni_json_text(j, "method", "redmax");
    sni_json_text(j, "solver", redmax_solver_name[c]);
    if (timed) {
      sni_json_raw(j, "seconds", "%.9g", s->least);
      sni_json_raw(j, "median_seconds", "%.9g", s->median);
    }
    sni_json_raw(j, "iterations", "%.9g", s->iterations);
    sni_json_raw(j, "residual", "%.3g", s->residual);
    sni_json_raw(j, "difference", "%.3g", s->difference);
    if (c == AUTO && !isnan(r->total)) {
      sni_json_raw(j, "run_steps", "%d", r->steps);
      sni_json_raw(j, "run_seconds", "%.6g", r->total);
    }
    if (c == AUTO && r->nrun > 0) {
      json_runs(j, r);
    }
    sni_json_close(j, "}");
  }
}

/* ---- growth ---- */

void redmax_growth_begin(redmax_growth *g) {
  *g = (redmax_growth){.worst_auto = 0};
  for (int k = 0; k < SCENES; k++) {
    g->panel[k].title = redmax_scenes[k].title;
    g->panel[k].count = SOLVERS;
    for (int c = 0; c < SOLVERS; c++) {
      g->panel[k].series[c].name = redmax_solver_name[c];
      g->panel[k].series[c].color = c;
    }
  }
}

void redmax_growth_add(redmax_growth *g, const redmax_row *r) {
  double best = INFINITY;
  for (int c = 0; c < SOLVERS; c++) {
    if (r->solver[c].sim) {
      if (r->solver[c].least > 0) { /* it was timed */
        svg_add(&g->panel[r->scene].series[c], r->nv, r->solver[c].least);
      }
      best = c == AUTO ? best : fmin(best, r->solver[c].least);
    }
  }
  const double ratio = r->solver[AUTO].least / best;
  if (ratio > g->worst_auto) {
    g->worst_auto = ratio;
    snprintf(g->worst_at, sizeof g->worst_at, "%s:%d", redmax_scenes[r->scene].name, r->size);
  }
}

void redmax_growth_free(redmax_growth *g) {
  for (int k = 0; k < SCENES; k++) {
    svg_panel_free(&g->panel[k]);
  }
}

int redmax_growth_exponent(const redmax_growth *g, int scene, int solver, double *exponent) {
  const svg_series *s = &g->panel[scene].series[solver];
  *exponent = bench_exponent(s->count, s->x, s->y);
  return s->count;
}

void redmax_growth_end(redmax_growth *g) {
  for (int k = 0; k < SCENES; k++) {
    for (int c = 0; c < SOLVERS; c++) {
      double exponent;
      if (redmax_growth_exponent(g, k, c, &exponent) > 1) {
        svg_series *s = &g->panel[k].series[c];
        snprintf(s->note, sizeof s->note, "n^%.2f", exponent);
      }
    }
  }
}

void redmax_print_growth(const redmax_growth *g) {
  for (int k = 0; k < SCENES; k++) {
    for (int c = 0; c < SOLVERS; c++) {
      const svg_series *s = &g->panel[k].series[c];
      double exponent;
      if (redmax_growth_exponent(g, k, c, &exponent) > 1) {
        printf("%s%s: time of %s grows as n^%.3f from n = %.0f to %.0f\n", c == 0 ? "\n" : "",
               redmax_scenes[k].name, redmax_solver_name[c], exponent, s->x[0], s->x[s->count - 1]);
      }
    }
  }
  if (g->worst_auto > 0) {
    printf("\nauto takes at most %.2f times as long as the best of the others (%s)\n",
           g->worst_auto, g->worst_at);
  }
}

void redmax_json_growth(sni_json *j, const redmax_growth *g) {
  for (int k = 0; k < SCENES; k++) {
    for (int c = 0; c < SOLVERS; c++) {
      double exponent;
      const int rows = redmax_growth_exponent(g, k, c, &exponent);
      if (rows > 1) {
        sni_json_open(j, NULL, "{");
        sni_json_text(j, "scene", redmax_scenes[k].name);
        sni_json_text(j, "method", "redmax");
        sni_json_text(j, "solver", redmax_solver_name[c]);
        sni_json_text(j, "quantity", "seconds");
        sni_json_raw(j, "rows", "%d", rows);
        sni_json_raw(j, "exponent", "%.6g", exponent);
        sni_json_close(j, "}");
      }
    }
  }
}
