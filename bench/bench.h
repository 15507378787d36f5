/* bench.h: what a bench behind `sinew bench NAME` must provide.  A new one = one file here and one
 * row in the table of src/cli/bench.c. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>

#include "cli/svg.h"
#include "io/json.h"
#include "sinew/sinew.h"

typedef struct bench_settings {
  const char *only; /* "SCENE:SIZE"; NULL: all                                            */
  double seconds;   /* CPU time for each row and contestant; NAN: the usual               */
  bool quick;       /* fewer and smaller rows, shorter                                    */
  bool quiet;       /* no table                                                           */
  FILE *svg;        /* gets a plot; NULL: nobody wants it                                 */
} bench_settings;

/* Where results go: keys of open objects, each NULL if nobody wants it. */
typedef struct bench_output {
  sni_json *json; /* "rows" and "fits"                                                    */
  sni_json *qdd;  /* "rows" with the accelerations                                        */
} bench_output;

typedef struct bench_entry {
  const char *name, *doc;
  bool draws; /* has a plot */
  /* Returns an exit code of the command: 2 if the settings make no sense, 3 if what was timed is
   * not right.  Messages go to standard error. */
  int (*run)(const bench_settings *settings, const bench_output *out);
} bench_entry;

extern const bench_entry bench_dynamics, bench_redmax, bench_loops, bench_friction, bench_collision,
    bench_contact, bench_structured;

/* ---- clock.c ---- */

double bench_cpu_seconds(void);
double bench_median(double *value, int n); /* sorts */
/* Slope of log y over log x. */
double bench_exponent(int n, const double *x, const double *y);

/* ---- scene.c ---- */

struct make_settings;
/* What `sinew make NAME` writes, as a model. */
sn_status bench_make(const char *name, struct make_settings *settings, sn_model **out,
                     sn_error *err);

/* ---- plot.c ---- */

/* False: it could not be written, which has been said. */
bool bench_plot(FILE *to, const svg_panel *panel, int count, const svg_style *style);

/* ---- machine.c ---- */

typedef struct bench_machine {
  char cpu[128];
  int cores;
  long l1d, l2, l3; /* bytes of cache; 0: unknown */
} bench_machine;

bench_machine bench_machine_find(void);
size_t bench_heap_bytes(void); /* in use now; 0: this system does not tell */

#endif
