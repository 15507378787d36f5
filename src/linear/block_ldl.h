/* block_ldl.h: A = L D L^T for sparse symmetric matrices of small dense blocks, indefinite too.
 *
 * The matrix has n nodes, block rows of 1 to 8 scalars, and blocks between pairs of nodes; the
 * pattern is given once, the values every time:
 *
 *     sni_ldl_build(&pattern, NULL, &ldl, err);        order, symbolic factorisation, memory
 *
 *     a = sni_ldl_block(ldl, k);  a[...] = ...;        then, for each step
 *     sni_ldl_factorise(ldl, b, &factor);
 *     sni_ldl_solve(ldl, NULL, x, &solution);          and with other b, as often as wanted
 *
 * It is meant for quasi-definite systems [A G^T; G -C]: pivots of the nodes of A are positive,
 * those of multipliers negative.  Any order that meets the demands of the pattern then has a
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

/* What is known of a block needs no numbers: those that are left, in their order, are its values.
 * Large systems fit into no cache, and take as long as it takes to fetch them. */
typedef enum sni_ldl_kind {
  SNI_LDL_DENSE,     /* all, row-major; on the diagonal both triangles, and alike              */
  SNI_LDL_SYMMETRIC, /* 6 x 6 on the diagonal: its upper triangle, row by row; 21             */
  SNI_LDL_DIAGONAL,  /* on the diagonal: nothing but its own; one a row                       */
  SNI_LDL_TIE,       /* (0, 1) or, with six rows, 1; none                                     */
  SNI_LDL_LEVER      /* ([r], -1) or, with six rows, ((-1, 0), ([r], -1)); 3: r, [r] a = r x a */
} sni_ldl_kind;      /* the last two: 3 or 6 rows, 6 columns, off the diagonal                 */

typedef struct sni_ldl_pattern {
  int n;                     /* nodes                                                     */
  const int *size;           /* n  scalars, 1 to SNI_LDL_SIZE_MAX                         */
  const int *sign;           /* n  of the pivots, +1 or -1; NULL: all +1                  */
  int block_count;           /* blocks, on the diagonal and on one side of it             */
  const int *row, *col;      /* block_count: nodes of a block; repeated ones are added up */
  sni_order_demands demands; /* on the order of elimination                               */
  const uint8_t *kind;       /* block_count: SNI_LDL_...; NULL: all are dense             */
} sni_ldl_pattern;

typedef struct sni_ldl_options {
  double noise;        /* a pivot below this part of the terms that make it is noise       */
  double noise_wrong;  /* the same for one of the wrong sign; a larger one is taken as is  */
  double noise_traced; /* and for a multiplier, of the errors of all rows that it depends on */
  double substitute;   /* noise becomes this part of the terms, with the right sign        */
  double target;       /* backward error at which refinement stops                         */
  double trust;        /* see sni_ldl_refine_to                                            */
  int refine_max;      /* most refinements                                                 */
  size_t bytes_max;    /* build refuses to take more memory                                */
} sni_ldl_options;

sni_ldl_options sni_ldl_options_default(void);

/* What the factorisation costs, exactly, the zeros stored in tiles (block_ldl_plan.c) included. */
typedef struct sni_ldl_counts {
  sni_order_cost cost; /* non-zeros of L; flops to factorise, and to solve unrefined      */
  double updates;      /* products of tiles in a factorisation                            */
  int tiles;           /* columns of tiles                                                */
  int scalars;         /* rows of A                                                       */
  size_t bytes;        /* memory, all told                                                */
} sni_ldl_counts;

/* Counts without taking the memory.  SN_E_ARGUMENT, SN_E_LIMIT, SN_E_MEMORY. */
sn_status sni_ldl_count(const sni_ldl_pattern *pattern, sni_ldl_counts *out, sn_error *err);

/* options: NULL for the defaults.  Nothing of pattern is kept. */
sn_status sni_ldl_build(const sni_ldl_pattern *pattern, const sni_ldl_options *options,
                        sni_ldl **out, sn_error *err);
void sni_ldl_free(sni_ldl **ldl);
sni_ldl_counts sni_ldl_get_counts(const sni_ldl *ldl);

/* The values of block k, as its kind has them, valid for the life of ldl and zero at first. */
double *sni_ldl_block(sni_ldl *ldl, int k);
/* The first `count` values of block k will be written soon: blocks are in the order of elimination,
 * which is seldom that of the caller. */
void sni_ldl_expect(const sni_ldl *ldl, int k, int count);

typedef struct sni_ldl_factor {
  int replaced;     /* pivots that were noise: redundant rows, or A is singular           */
  int wrong_sign;   /* pivots taken with the sign opposite to the one given               */
  int node, scalar; /* the first pivot replaced, or the row at fault; -1: none            */
} sni_ldl_factor;

/* b (may be NULL): a right-hand side that is known already.  Half of the work to solve for it is
 * done on the way, while the factor is at hand; sni_ldl_solve with NULL does the rest.
 * SN_E_SINGULAR: a row without entries.  SN_E_DIVERGED: something is not finite.  out (may be
 * NULL) is filled in every case. */
sn_status sni_ldl_factorise(sni_ldl *ldl, const double *b, sni_ldl_factor *out);

/* Number k, from 0, of the multipliers of which the last factorisation has left less than 2^-16 of
 * the terms of their pivots: which scalar, in the order of nodes, and which part, 0 of noise; -1:
 * there are no more. */
int sni_ldl_weak(const sni_ldl *ldl, int k, double *part);

typedef struct sni_ldl_solution {
  double residual; /* backward error reached; with a target above the usual maybe a bound on it */
  int refinements;
} sni_ldl_solution;

/* x = A^-1 b, refined until the backward error is below the target or falls no further.  b and x:
 * scalars in the order of nodes; may be the same; b NULL: the one given to sni_ldl_factorise, once.
 * SN_NOT_CONVERGED: target missed, x is the best found.  SN_E_DIVERGED: not finite, x untouched.
 * SN_E_ARGUMENT: b NULL without that.  out may be NULL, and x: see sni_ldl_found.
 *
 * The backward error is the largest |r_i| / ((|A| |x| + |b|)_i + m_i max |m x| / 2^14), r = b - A
 * x: by how much of themselves the entries of A and b would have to change for x to be exact. (With
 * stiff parts beside soft ones a bound on the norm of r alone says little about the soft ones.)
 * The second term, with the size m of a row as in block_ldl_assemble.c, excuses rows in which next
 * to nothing happens.  Multipliers whose pivots were noise are excused up to 2^20 times as much, if
 * need be: such a row may differ by the root of `noise` from those that it depends on. */
sn_status sni_ldl_solve(sni_ldl *ldl, const double *b, double *x, sni_ldl_solution *out);

/* Vectors by places are in the order of elimination: for those who have long ones, and would rather
 * put numbers where they belong than have them sorted.  The scalars of a node are together, and
 * what is between nodes is 0.
 *
 * sni_ldl_side is room for a right-hand side by places, and may be given for b.  Where
 * sni_ldl_solve gets no x, the solution is sni_ldl_found, by places, until the next call; if it is
 * not finite, what was asked for is there instead. */
int sni_ldl_place(const sni_ldl *ldl, int node);
int sni_ldl_place_count(const sni_ldl *ldl);
double *sni_ldl_side(sni_ldl *ldl);
const double *sni_ldl_found(const sni_ldl *ldl);

/* From now on solutions are refined to this backward error; whoever iterates himself needs less.
 * Factors that gave `trust` times as little, with another right-hand side, are not looked at again:
 * growth is theirs, and not of what they are used on. */
void sni_ldl_refine_to(sni_ldl *ldl, double target, double trust);

/* y = A x with the values of the blocks; x and y may be the same. */
void sni_ldl_mul(sni_ldl *ldl, const double *x, double *y);

#endif
