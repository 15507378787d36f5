/* unilateral_parts.h: between unilateral.c, unilateral_graph.c and unilateral_inside.c. */
#ifndef SNI_UNILATERAL_PARTS_H
#define SNI_UNILATERAL_PARTS_H

#include "dynamics/rows.h"

/* A rate is met, and a force does not pull, to this part of the largest. */
#define SNI_EXACT 1e-12
/* Rows that are asked for next to nothing, and miss it by so little (m/s, rad/s), do agree: of rows
 * that depend on each other rounding is left. */
#define SNI_AGREES 1e-10

/* Of what is finite. */
static inline double sni_unilateral_largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = isfinite(x[i]) ? fmax(most, fabs(x[i])) : most;
  }
  return most;
}

/* Which rows push, nearly: u->in, from any x and r->lambda.  Needs a graph that takes soft rows;
 * leaves it without fresh factors.  found not NULL: on to the end, where x and r->lambda are the
 * solution if *found. */
sn_status sni_unilateral_inside(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                                bool *found);

/* In the dual of the graph, with memory of its own. */
sn_status sni_unilateral_last(sni_rows *r, const double *b, const double *c, double *x, int *bad);

#endif
