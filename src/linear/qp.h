/* qp.h: a convex quadratic program between bounds,
 *
 *     minimise 1/2 x^T S x - b^T x     lo <= x <= hi                                       [RM 5]
 *
 * which is the dual of constraints that push and do not pull: S = C A^-1 C^T, x their multipliers.
 * S is positive semidefinite and may have any rank: rows may repeat each other, and rows that
 * nothing can move may be 0.  Rows that hold both ways have no bounds.
 *
 * With w = S x - b an answer has w >= 0 where x = lo, w <= 0 where x = hi, w = 0 in between.  How
 * well it does is told as
 *
 *     max_i |x_i - mid(lo_i, x_i - w_i, hi_i)| / max(|b|, |x|)
 *
 * in units in which the diagonal of S is 1, so it knows no masses and no lengths. */
#ifndef SNI_QP_H
#define SNI_QP_H

#include <stddef.h>

#include "sinew/types.h"

typedef struct sni_qp {
  int capacity, n;
  double *S;       /* n x n, lower triangle; used up                                         */
  double *b;       /* n  used up                                                             */
  double *lo, *hi; /* n  lo <= hi; may be infinite; used up                                  */
  double *x;       /* n  the answer                                                          */
  int *side;       /* n  a guess, then where x is: -1 at lo, 1 at hi, 0 in between           */
  /* the rest is scratch */
  double *L;     /* of the rows in `free`, in that order                                     */
  double *scale; /* n  1 / sqrt(S_ii); 0: the row says nothing                               */
  double *w, *p; /* n                                                                        */
  int *free;     /* nfree  rows between their bounds, independent of each other              */
  int *at;       /* n  place in `free`; -1: none                                             */
  int nfree;
} sni_qp;

typedef struct sni_qp_info {
  double residual; /* as above, over all rows that can be met                                */
  int changes;     /* of the set of rows between their bounds                                */
  int impossible;  /* a row that cannot be met because others stand against it; -1: none     */
  double short_of; /* by how much, in units of b                                             */
} sni_qp_info;

size_t sni_qp_size(int capacity);
void sni_qp_place(sni_qp *qp, int capacity, void *memory);

/* SN_NOT_CONVERGED: x is feasible and the best found.  Rows that cannot be met do not change the
 * status: the others are met as if those were not there.  The same bits for the same input; takes
 * no memory. */
sn_status sni_qp_solve(sni_qp *qp, sni_qp_info *info);

/* After a solve, as long as nobody has used qp again: how x goes along if the bound at which x_j is
 * moves by so much. */
void sni_qp_move_bound(const sni_qp *qp, int j, double by, double *dx);

#endif
