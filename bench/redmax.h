/* redmax.h: one row of `sinew bench redmax` and `sinew bench loops`: a scene, and how every solver
 * of the method did.
 *
 * All solvers take the same step from the same state first, and must come to the same rates.  Then
 * they run in turns of short batches of steps, each from that state, and the least time of a step
 * counts, because a shared machine changes its speed within seconds. */
#ifndef BENCH_REDMAX_H
#define BENCH_REDMAX_H

#include "bench/bench.h"
#include "cli/svg.h"
#include "sinew/sinew.h"

enum { AUTO, TREE, PCG, GRAPH, KKT, REDUCED, SOLVERS };
extern const char *const redmax_solver_name[SOLVERS];

/* Scenes that grow, each with a curve of its own: first those without loops, then those with. */
enum {
  BRIDGE,
  FLEXIBLE,
  DECK,
  NET,
  TENSEGRITY,
  ARM,
  LOOP_BRIDGE,
  LOOP_FLEXIBLE,
  UMBRELLA,
  FOURBAR,
  LADDER,
  SCENES
};

typedef struct redmax_scene {
  const char *name, *title;
  const char *generator; /* of `sinew make` */
  const char *option;    /* by which it grows; NULL: it does not */
  const char *towers;    /* bridge */
  const char *end;       /* bridge: spring or loop */
  double weight;         /* bridge, arm; NAN: the usual */
} redmax_scene;
extern const redmax_scene redmax_scenes[SCENES];

typedef struct redmax_solver {
  sn_sim *sim;          /* NULL: this solver cannot, or would take too long */
  double least, median; /* seconds a step                                   */
  double iterations;    /* a step                                           */
  double residual;      /* largest                                          */
  double difference;    /* from `graph`, in the energy norm                 */
} redmax_solver;

/* A whole motion by auto, with one of the integrators. */
typedef struct redmax_run {
  const char *integrator;
  int steps;
  double duration, seconds; /* of motion; of CPU time                               */
  double gap;               /* largest, of all constraints                          */
  double energy;            /* largest change                                       */
  double off;               /* the first joint from where it must end; NAN: unknown */
} redmax_run;
enum { RUNS_MAX = 4 };

typedef struct redmax_row {
  int scene, size, nbody, nv, nconstraint;
  sn_model *m;
  sn_state *start, *early, *state, *reference;
  redmax_solver solver[SOLVERS];
  double total; /* deck: CPU seconds of the whole run by auto; NAN: not run */
  int steps;    /* of the whole run                                         */
  double rest;  /* deck: kinetic energy at its end                          */
  redmax_run run[RUNS_MAX];
  int nrun;
} redmax_row;

/* ---- redmax_row.c ---- */

/* Of the difference.  Solvers that form the matrix, whose condition grows with the fourth power of
 * the length of a chain, get 100 eps cond. */
#define REDMAX_TOLERANCE 1e-9

/* Whatever it returns, the row must be freed. */
sn_status redmax_row_build(redmax_row *r, int scene, int size, bool quick, sn_error *err);
void redmax_row_free(redmax_row *r);
sn_status redmax_row_check(redmax_row *r, sn_error *err);
sn_status redmax_row_time(redmax_row *r, double seconds, sn_error *err);
sn_status redmax_row_whole(redmax_row *r, sn_error *err); /* the run of the scene, by auto */

/* ---- loops_run.c ---- */

/* The runs of fourbar:2, fourbar:40 and ladder:96, shorter if quick; none of others.  A gap of 1e-9
 * fails. */
sn_status redmax_row_runs(redmax_row *r, bool quick, sn_error *err);

/* ---- redmax.c ---- */

typedef struct redmax_spec {
  int scene, size;
} redmax_spec;

/* What a bench measures. */
typedef struct redmax_plan {
  int first, end; /* its scenes */
  const redmax_spec *usual, *quick;
  int nusual, nquick;
} redmax_plan;

int redmax_measure(const redmax_plan *plan, const bench_settings *settings,
                   const bench_output *out);

/* ---- redmax_table.c ---- */

/* Slopes of log(seconds) over log(dofs), and the curves. */
typedef struct redmax_growth {
  svg_panel panel[SCENES];
  double worst_auto; /* largest time of auto over the best of the others */
  char worst_at[64];
} redmax_growth;

void redmax_growth_begin(redmax_growth *g);
void redmax_growth_add(redmax_growth *g, const redmax_row *r);
/* Exponent, and over how many rows; fewer than two: none. */
int redmax_growth_exponent(const redmax_growth *g, int scene, int solver, double *exponent);
void redmax_growth_end(redmax_growth *g);
void redmax_growth_free(redmax_growth *g); /* writes the exponents into the legends */

void redmax_print_head(const bench_machine *m);
void redmax_print_row(const redmax_row *r, bool timed);
void redmax_print_growth(const redmax_growth *g);
void redmax_json_row(sni_json *j, const redmax_row *r, bool timed);
void redmax_json_growth(sni_json *j, const redmax_growth *g);

#endif
