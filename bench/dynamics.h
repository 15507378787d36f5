/* dynamics.h: one row of `sinew bench dynamics`: a model in everybody's form, and how they did.
 *
 *     recursive   sn_sim_forward as a user calls it: state in, accelerations out.  This counts.
 *     passes      the passes of the recursion alone (kinematics, articulated inertias), same data
 *     textbook    aba_textbook_calc, compiled with the same flags
 *     memory      as much memory as an evaluation touches, written forward and read backward,
 *                 without computing: what the caches alone cost
 *
 * All get the same models and states.  They run in turns of short batches and the least time of a
 * call counts, because a shared machine changes its speed within seconds.  Two states 1e-9 apart
 * are given in turn, so that nobody can keep anything from one call to the next.  Before any
 * timing, all accelerations are compared. */
#ifndef BENCH_DYNAMICS_H
#define BENCH_DYNAMICS_H

#include "bench/aba_textbook.h"
#include "bench/bench.h"
#include "sinew/sinew.h"

enum { RECURSIVE, PASSES, TEXTBOOK, MEMORY, CONTESTANTS };

typedef struct row {
  const char *scene;
  int nbody, nv;
  bench_model *b;
  aba_textbook *textbook;
  sn_model *m;
  sn_sim *sim;
  sn_state *state[2];
  double *memory;
  double *q[2], *qd[2];   /* for us                                                         */
  double *tau;            /* likewise                                                       */
  double *bq[2], *bqd[2]; /* in the conventions of models.h                                 */
  double *qdd;            /* of whoever was called last, in his own conventions             */
  double *result;         /* ours, in the conventions of models.h                           */
  int turn;               /* which of the two states is next                                */
  size_t bytes;           /* model, sim and state; 0: unknown                               */
  size_t touched;         /* in one evaluation                                              */
  uint64_t *block;        /* touched bytes, for the contestant memory                       */
  uint64_t sum;           /* keeps the compiler from leaving it out                         */
  double difference;      /* from the textbook, relative to the largest acceleration        */
  double least[CONTESTANTS], median[CONTESTANTS]; /* seconds a call                         */
} row;

/* ---- dynamics_row.c ---- */

#define DYNAMICS_TOLERANCE 1e-10 /* relative to the largest acceleration, as in bench/peers    */

/* Whatever it returns, the row must be freed. */
sn_status dynamics_row_build(row *r, const char *scene, int size, sn_error *err);
void dynamics_row_free(row *r);
bool dynamics_row_is_right(row *r);             /* fills difference and result */
bool dynamics_row_time(row *r, double seconds); /* fills least and median; false: no memory */

/* ---- dynamics_table.c ---- */

/* Slope of log y over log x by least squares. */
typedef struct fit {
  int n;
  double x, y, xx, xy;
} fit;

enum { GROWTH_SCENES = 2, GROWTH_BYTES = CONTESTANTS, GROWTH_IN_CACHE, GROWTH_FITS };

typedef struct growth {
  bench_machine machine;
  fit fit[GROWTH_SCENES][GROWTH_FITS];
  struct span {
    double first, last, least, most; /* seconds a link: smallest and largest n; extremes */
  } span[GROWTH_SCENES][CONTESTANTS];
  int largest[GROWTH_SCENES]; /* n */
} growth;

void dynamics_print_head(const bench_machine *m);
void dynamics_print_row(const row *r);
void dynamics_json_row(sni_json *j, const row *r, bool timed); /* one object a contestant */
void dynamics_json_qdd(sni_json *j, const row *r);
void dynamics_growth_add(growth *g, const row *r);
void dynamics_growth_print(const growth *g);
void dynamics_growth_json(const growth *g, sni_json *j); /* entries of an open list */

#endif
