/* cholesky.h: A = L L^T for dense symmetric positive definite matrices of any size.
 *
 *     sni_chol_build(n, &c, err);
 *     sni_chol_clear(c);  *sni_chol_at(c, i, j) += ...;  for i >= j                   each time
 *     sni_chol_factorise(c, tol, &bad);  sni_chol_solve(c, b, x);
 *
 * Only the lower triangle exists.  It is kept as panels of SNI_CHOL_PANEL rows, each panel column
 * by column up to its diagonal: both operands of the products that a factorisation consists of are
 * then read in the order in which they lie, so nothing is ever packed, and half the memory of a
 * square is enough.
 *
 * The numeric calls allocate nothing and give the same bits for the same input.  A factorisation
 * belongs to one thread at a time.  For a handful of rows on the stack see math/dense.h. */
#ifndef SNI_CHOLESKY_H
#define SNI_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

#include "sinew/types.h"

#ifdef __AVX512F__
#define SNI_CHOL_PANEL 8 /* rows of a panel: one vector */
#else
#define SNI_CHOL_PANEL 4
#endif

typedef struct sni_chol {
  int n;
  int panels;      /* n / SNI_CHOL_PANEL rounded up; missing rows are those of a unit matrix */
  double *a;       /* the panels: A, then L                                                  */
  double *inverse; /* 1 / L_ii                                                               */
  double *start;   /* A_ii                                                                   */
  double *y;       /* scratch of the solve                                                   */
} sni_chol;

/* Memory for n rows, all told. */
size_t sni_chol_bytes(int n);

/* SN_E_ARGUMENT: n < 0.  SN_E_MEMORY. */
sn_status sni_chol_build(int n, sni_chol **out, sn_error *err);
void sni_chol_free(sni_chol **c);

/* Of what it was built for, the first n rows are all that counts from now on. */
void sni_chol_use(sni_chol *c, int n);

void sni_chol_clear(sni_chol *c); /* A = 0 */

/* Where panel p begins.  Its rows lie together: the next column is SNI_CHOL_PANEL further. */
static inline double *sni_chol_panel(const sni_chol *c, int p) {
  return c->a + (size_t)p * ((size_t)p + 1) / 2 * SNI_CHOL_PANEL * SNI_CHOL_PANEL;
}
/* A_ij, or L_ij after the factorisation, for i >= j. */
static inline double *sni_chol_at(const sni_chol *c, int i, int j) {
  const size_t column = (size_t)j * SNI_CHOL_PANEL;
  return sni_chol_panel(c, i / SNI_CHOL_PANEL) + column + i % SNI_CHOL_PANEL;
}

/* False if a pivot is not above tol times the diagonal entry that it started from, or not above 0:
 * A is not positive definite to working accuracy.  `bad` (may be NULL) receives the row.  A is used
 * up in either case. */
bool sni_chol_factorise(sni_chol *c, double tol, int *bad);

/* x = A^-1 b; may be the same. */
void sni_chol_solve(sni_chol *c, const double *b, double *x);

#endif
