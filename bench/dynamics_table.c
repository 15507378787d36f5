/* dynamics_table.c: the results of `sinew bench dynamics`, for people and for machines. */
#include "bench/dynamics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIT_FROM 100 /* links: below, the fixed cost of a call shows */

static const char *const method_name[CONTESTANTS] = {"recursive", "passes", "textbook", "memory"};

/* ---- rows ---- */

typedef struct bytes_text {
  char text[24];
} bytes_text;

static bytes_text show_bytes(double bytes) {
  static const char *const unit[] = {"B", "kB", "MB", "GB"};
  bytes_text t;
  int k = 0;
  for (; bytes >= 1024 && k < 3; k++) {
    bytes /= 1024;
  }
  snprintf(t.text, sizeof t.text, "%.*f %s", bytes < 10 && k > 0 ? 1 : 0, bytes, unit[k]);
  return t;
}

void dynamics_print_head(const bench_machine *m) {
  const long size[] = {m->l1d, m->l2, m->l3};
  printf("Forward dynamics on %s (%d cores", m->cpu, m->cores);
  for (int k = 0; k < 3; k++) {
    if (size[k] > 0) {
      printf(", L%d %s", k + 1, show_bytes((double)size[k]).text);
    }
  }
  puts(").\nCPU time of a call, the least (and the median) of batches taken in turns.\n\n"
       "  recursive  sn_sim_forward: the public call\n"
       "  passes     the passes of the recursion alone, without the call around them\n"
       "  textbook   articulated-body algorithm as a textbook has it, same flags\n"
       "  memory     writing and reading as much memory as an evaluation does, no computing\n"
       "  touched    how much that is: what exceeds a cache gets slower\n");
  puts("              ns a link                                             textbook /    bytes\n"
       "scene      links  recursive        passes  textbook         memory  recursive   a link  "
       "touched  differ");
}

void dynamics_print_row(const row *r) {
  const double ns = 1e9 / r->nbody;
  char recursive[40], textbook[40];
  snprintf(recursive, sizeof recursive, "%.1f (%.1f)", ns * r->least[RECURSIVE],
           ns * r->median[RECURSIVE]);
  snprintf(textbook, sizeof textbook, "%.1f (%.1f)", ns * r->least[TEXTBOOK],
           ns * r->median[TEXTBOOK]);
  printf("%-8s %7d  %-15s %7.1f  %-15s %7.1f %10.2f %8.0f %8s  %.0e", r->scene, r->nbody, recursive,
         ns * r->least[PASSES], textbook, ns * r->least[MEMORY],
         r->least[TEXTBOOK] / r->least[RECURSIVE], (double)r->bytes / r->nbody,
         show_bytes((double)r->touched).text, r->difference);
  if (r->nv > r->nbody) {
    printf("  (%.2f us a call, %d degrees of freedom)", 1e6 * r->least[RECURSIVE], r->nv);
  }
  putchar('\n');
  fflush(stdout);
}

void dynamics_json_row(sni_json *j, const row *r, bool timed) {
  for (int c = 0; c < CONTESTANTS; c++) {
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "scene", r->scene);
    sni_json_raw(j, "size", "%d", r->nbody);
    sni_json_raw(j, "dofs", "%d", r->nv);
    sni_json_text(j, "method", method_name[c]);
    if (timed) {
      sni_json_raw(j, "seconds", "%.9g", r->least[c]);
      sni_json_raw(j, "median_seconds", "%.9g", r->median[c]);
      sni_json_raw(j, "ns_per_link", "%.6g", 1e9 * r->least[c] / r->nbody);
    }
    if (timed && c == RECURSIVE) {
      sni_json_raw(j, "textbook_over_recursive", "%.6g", r->least[TEXTBOOK] / r->least[RECURSIVE]);
    }
    if (c == RECURSIVE) {
      sni_json_raw(j, "bytes", "%zu", r->bytes);
      sni_json_raw(j, "bytes_touched", "%zu", r->touched);
      sni_json_raw(j, "qdd_difference", "%.3g", r->difference);
    }
    sni_json_close(j, "}");
  }
}

void dynamics_json_qdd(sni_json *j, const row *r) {
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "scene", r->scene);
  sni_json_raw(j, "size", "%d", r->nbody);
  sni_json_text(j, "method", method_name[RECURSIVE]);
  sni_json_open(j, "qdd", "[");
  for (int k = 0; k < r->nv; k++) {
    sni_json_raw(j, NULL, "%.17g", r->result[k]);
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

/* ---- growth ---- */

static const char *const scene_name[GROWTH_SCENES] = {"chain", "tree"};

static void fit_add(fit *f, double x, double y) {
  x = log(x);
  y = log(y);
  f->n++;
  f->x += x;
  f->y += y;
  f->xx += x * x;
  f->xy += x * y;
}

static double fit_slope(const fit *f) {
  return (f->n * f->xy - f->x * f->y) / (f->n * f->xx - f->x * f->x);
}

static bool fits_in_cache(const growth *g, const row *r) {
  return r->touched <= (size_t)g->machine.l2;
}

void dynamics_growth_add(growth *g, const row *r) {
  for (int s = 0; s < GROWTH_SCENES; s++) {
    if (strcmp(scene_name[s], r->scene) != 0 || r->nbody < FIT_FROM) {
      continue;
    }
    g->largest[s] = r->nbody;
    for (int c = 0; c < CONTESTANTS; c++) {
      const double each = r->least[c] / r->nbody;
      struct span *span = &g->span[s][c];
      *span = g->fit[s][c].n ? (struct span){span->first, each, fmin(span->least, each),
                                             fmax(span->most, each)}
                             : (struct span){each, each, each, each};
      fit_add(&g->fit[s][c], r->nbody, r->least[c]);
    }
    if (r->bytes > 0) {
      fit_add(&g->fit[s][GROWTH_BYTES], r->nbody, (double)r->bytes);
    }
    if (fits_in_cache(g, r)) {
      fit_add(&g->fit[s][GROWTH_IN_CACHE], r->nbody, r->least[RECURSIVE]);
    }
  }
}

void dynamics_growth_print(const growth *g) {
  static const char *const what[GROWTH_FITS] = {
      "time of recursive", "time of passes",      "time of textbook",
      "time of memory",    "memory of recursive", "time of recursive, while it fits into L2,"};
  for (int s = 0; s < GROWTH_SCENES; s++) {
    for (int k = 0; k < GROWTH_FITS; k++) {
      if (g->fit[s][k].n > 1) {
        printf("%s%s: %s grows as n^%.3f from n = %d on\n", k == 0 ? "\n" : "", scene_name[s],
               what[k], fit_slope(&g->fit[s][k]), FIT_FROM);
      }
    }
    if (g->fit[s][0].n > 1) {
      const struct span *own = &g->span[s][RECURSIVE], *memory = &g->span[s][MEMORY];
      printf("%s: a link costs %.1f to %.1f ns, a factor of %.2f; up to n = %d it gains %.1f ns, "
             "writing and reading its memory alone %.1f ns\n",
             scene_name[s], 1e9 * own->least, 1e9 * own->most, own->most / own->least,
             g->largest[s], 1e9 * (own->last - own->first), 1e9 * (memory->last - memory->first));
    }
  }
}

void dynamics_growth_json(const growth *g, sni_json *j) {
  for (int s = 0; s < GROWTH_SCENES; s++) {
    for (int k = 0; k < GROWTH_FITS; k++) {
      if (g->fit[s][k].n > 1) {
        sni_json_open(j, NULL, "{");
        sni_json_text(j, "scene", scene_name[s]);
        sni_json_text(j, "method", method_name[k < CONTESTANTS ? k : RECURSIVE]);
        sni_json_text(j, "quantity", k == GROWTH_BYTES ? "bytes" : "seconds");
        sni_json_text(j, "rows", k == GROWTH_IN_CACHE ? "within L2" : "all");
        sni_json_raw(j, "exponent", "%.6g", fit_slope(&g->fit[s][k]));
        sni_json_close(j, "}");
      }
    }
  }
}
