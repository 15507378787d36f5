/* structured.h: one row of `sinew bench structured`: a ladder in the midst of its swing, and how
 * every solver of the method did.
 *
 * All solvers first find the rates of the same step to 1e-10, and must agree.  Then each finds them
 * to the precision of the paper, 1e-3 on bars of 1 m, from nothing: factorisation and solution are
 * what Table 2 of the paper times [FA 4].  Whole steps are timed too. */
#ifndef BENCH_STRUCTURED_H
#define BENCH_STRUCTURED_H

#include "bench/bench.h"
#include "cli/svg.h"
#include "sinew/sinew.h"

enum { FULL_DENSE, FULL_ITERATIVE, STRUCTURED_DENSE, STRUCTURED, GRAPH, CONTESTANTS };
extern const char *const structured_name[CONTESTANTS];

typedef struct structured_contestant {
  sn_sim *sim;          /* NULL: takes no part                          */
  double solve, median; /* seconds of a solution: least, and the median */
  double step;          /* of a whole step, the mean of some: least     */
  double *sample;       /* nsample  of solutions                        */
  int nsample;
  double spent;   /* seconds on all of them                       */
  int iterations; /* of the solution                              */
  double iterations_a_step;
  double difference; /* of the rates, from those of `graph`, relative to the largest */
  size_t bytes;      /* of memory that it took                                       */
} structured_contestant;

typedef struct structured_row {
  int pattern, count, nbody, ntree, nloop; /* constraints of the tree and of loops */
  sn_model *m;
  sn_state *start, *state;
  structured_contestant by[CONTESTANTS];
} structured_row;

/* Whatever it returns, the row must be freed. */
/* early: after a seventh of a second instead of a whole one and more. */
sn_status structured_row_build(structured_row *r, int pattern, int count, bool early,
                               sn_error *err);
void structured_row_free(structured_row *r);
sn_status structured_row_check(structured_row *r, sn_error *err);
/* Each contestant goes on until he has had so much time in all. */
sn_status structured_row_time(structured_row *r, double seconds, sn_error *err);

/* ---- structured_sheet.c: a surface pulled with equal time for each solver [FA 5] ---- */

typedef struct structured_sheet {
  int contestant;
  double budget;          /* seconds of a step                                           */
  double gap_pulled;      /* largest gap in the last second of the pull                   */
  double gap_after[2];    /* fifty and a hundred steps after it has stopped               */
  double late, late_most; /* part of the steps that took longer than the budget and one
                             iteration, and by how much the worst of them did, in seconds */
  double iterations;      /* a step                                                       */
  double tree;            /* how far bodies are from where their joints put them, largest */
} structured_sheet;

sn_status structured_sheet_run(structured_sheet *s, int contestant, double budget, bool quick,
                               sn_error *err);

#endif
