/* compress.h: the rows of one constraint, few and often dependent, as orthonormal ones.
 *
 *     G = R^T Q,   rows of Q orthonormal        G x = c  <=>  Q x = R^-T c        G^T lambda = Q^T
 * mu
 *
 * A hinge in space that closes a planar loop has five rows of rank two.  In a pose where a row is
 * about to lose its rank, what is left of it is small and its direction in Q is not: Q is as well
 * conditioned there as elsewhere, to within the rounding of G over the size of what is left. */
#ifndef SNI_COMPRESS_H
#define SNI_COMPRESS_H

#include "model/constraint.h"

/* One number for each row of a constraint, 0 for rows that it does not have. */
typedef double sni_lines __attribute__((vector_size(8 * sizeof(double)), aligned(sizeof(double))));

typedef struct sni_compressed {
  int nrow, rank;
  int order[SNI_ROWS_MAX];   /* rows of G: the first `rank` are independent            */
  double left[SNI_ROWS_MAX]; /* of row order[k], k < rank, as part of what it could be            */
  sni_lines R[SNI_ROWS_MAX]; /* R[k][order[j]]: of row k of Q in row order[j] of G, k <= j */
} sni_compressed;

/* G: m columns of nrow numbers, scaled so that 1 means about the same in each; Q takes its place,
 * the k-th row of Q that of row order[k].  At most `most` rows are kept.  size: the square of what
 * each row could be, if nothing in it cancelled: what is left of a row is measured against that.
 * Returns the least that was left of a row that is kept, measured so. */
double sni_compress(sni_lines *G, int nrow, int m, int most, const sni_lines *size,
                    sni_compressed *out);

/* out = R^-T c: rank numbers of nrow. */
void sni_compress_rhs(const sni_compressed *z, const double *c, double *out);
/* lambda = R^-1 mu, 0 for rows that depend on others. */
void sni_compress_lambda(const sni_compressed *z, const double *mu, double *lambda);

#endif
