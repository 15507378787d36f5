/* block_ldl.h: A = L D L^T for sparse symmetric matrices of small dense blocks, indefinite too.
 *
 * The matrix has n nodes, block rows of 1 to 8 scalars, and blocks between pairs of nodes; the
 * pattern is given once, the values every time:
 *
 *     sni_ldl_build(&pattern, NULL, &ldl, err);                 order, symbolic factorisation,
 * memory sni_ldl_clear(ldl);  a = sni_ldl_block(ldl, k);  a[...] = ...;                   for each
 * step sni_ldl_factorise(ldl, &factor);  sni_ldl_solve(ldl, b, x, &solution);
 *
 * It is meant for quasi-definite systems [A G^T; G -C]: pivots of the nodes of A are positive,
 * those of multipliers negative, and any order that meets the needs of the pattern has a
 * factorisation without exchanges, so the order is chosen once, to keep L sparse.  A pivot lost in
 * rounding (a redundant constraint) is replaced by a small one of the right sign, and every
 * solution is refined on the matrix as given.
 *
 * The numeric calls allocate nothing and give the same bits for the same input.  A factorisation
 * belongs to one thread at a time. */
#ifndef SNI_BLOCK_LDL_H
#define SNI_BLOCK_LDL_H

#include "linear/ordering.h"
#include "sinew/types.h"

#define SNI_LDL_SIZE_MAX 8 /* scalars of a node */

typedef struct sni_ldl sni_ldl;

typedef struct sni_ldl_pattern {
  int n;                 /* nodes                                                                */
  const int *size;       /* n  scalars, 1 to SNI_LDL_SIZE_MAX                                     */
  const int *sign;       /* n  of the pivots, +1 or -1; NULL: all +1                              */
  int block_count;       /* blocks                                                               */
  const int *row, *col;  /* block_count: the nodes of a block.  Either triangle; a pair that comes
                            twice, in whatever order, is added up                                 */
  sni_order_rules rules; /* which nodes have to come after which                                 */
} sni_ldl_pattern;

/* Backward error: max |r_i| / m_i over max |x_i| m_i + max |b_i| / m_i, for r = b - A x and the
 * equilibration m of sni_ldl_factorise, in which A has entries of about 1. */
typedef struct sni_ldl_options {
  double noise; /* a pivot below this part of the terms that make it is rounding noise   */
  double
      noise_wrong;   /* the same for a pivot of the wrong sign; larger ones are taken as they are */
  double substitute; /* noise becomes this part of the terms, with the right sign             */
  double target;     /* backward error at which refinement stops                              */
  int refine_max;    /* most refinements                                                      */
  size_t bytes_max;  /* build refuses to take more memory                                     */
} sni_ldl_options;

sni_ldl_options sni_ldl_options_default(void);

/* What the factorisation costs, exactly, with the zeros stored in tiles: see block_ldl_plan.c.
 */
typedef struct sni_ldl_counts {
  sni_order_cost cost; /* non-zeros of L; flops of a factorisation, and of a solve not refined */
  double updates;      /* products of tiles in a factorisation                               */
  int tiles;           /* columns of tiles                                                   */
  int scalars;         /* rows of A                                                          */
  size_t bytes;        /* memory, all told                                                   */
} sni_ldl_counts;

/* Counts without taking the memory.  SN_E_ARGUMENT, SN_E_LIMIT, SN_E_MEMORY. */
sn_status sni_ldl_count(const sni_ldl_pattern *pattern, sni_ldl_counts *out, sn_error *err);

/* options: NULL for the defaults.  Nothing of pattern is kept. */
sn_status sni_ldl_build(const sni_ldl_pattern *pattern, const sni_ldl_options *options,
                        sni_ldl **out, sn_error *err);
void sni_ldl_free(sni_ldl **ldl);
sni_ldl_counts sni_ldl_get_counts(const sni_ldl *ldl);

/* The values of block k, row-major, size[row[k]] x size[col[k]], valid for the life of ldl and zero
 * at first.  A block on the diagonal has both triangles filled, and alike. */
double *sni_ldl_block(sni_ldl *ldl, int k);
void sni_ldl_clear(sni_ldl *ldl); /* all values 0 */

typedef struct sni_ldl_factor {
  int replaced;     /* pivots that were noise: redundant rows, or A is singular               */
  int wrong_sign;   /* pivots taken with the sign opposite to the one given                   */
  int node, scalar; /* the first pivot replaced, or the row at fault; -1: none                */
} sni_ldl_factor;

/* SN_E_SINGULAR: a row without entries.  SN_E_DIVERGED: something is not finite.  out (may be NULL)
 * is filled in every case. */
sn_status sni_ldl_factorise(sni_ldl *ldl, const double *b, sni_ldl_factor *out);

typedef struct sni_ldl_solution {
  double residual; /* backward error reached */
  int refinements;
} sni_ldl_solution;

/* x = A^-1 b, refined until the backward error is below the target or falls no further.  b and x:
 * scalars in the order of nodes; may be the same.  SN_NOT_CONVERGED: target missed, x is the best
 * found.  SN_E_DIVERGED: not finite, x untouched.  out may be NULL. */
sn_status sni_ldl_solve(sni_ldl *ldl, const double *b, double *x, sni_ldl_solution *out);

/* y = A x with the values of the blocks; x and y may be the same. */
void sni_ldl_mul(sni_ldl *ldl, const double *x, double *y);

#endif
