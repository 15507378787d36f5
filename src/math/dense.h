/* dense.h: small dense symmetric systems, row-major, full storage, lower triangle used. */
#ifndef SNI_DENSE_H
#define SNI_DENSE_H

#include <stdbool.h>

/* A = L L^T in place (lower triangle).  False if a pivot is not above tol times the diagonal entry
 * that it started from: A is not positive definite to working accuracy.  `bad` (may be NULL)
 * receives the row. */
bool sni_cholesky(int n, double *A, double tol, int *bad);

/* x = A^-1 b from the factor, in place. */
void sni_cholesky_solve(int n, const double *L, double *b);

/* A += c (L L^T)^-1; n <= 6. */
void sni_cholesky_add_inverse(int n, const double *L, double c, double *A);

/* A x = b by elimination with pivots, those first of which most is left, for a symmetric A that may
 * be singular (full storage): rows of which no more than `left` times `full` is left have nothing
 * to say beside the others, and x = 0.  A, full and b are used up. */
void sni_solve_singular(int n, double *A, double *full, double left, double *b, double *x);

/* Numerical rank of the columns of a row-major m x n matrix (n <= 6), by Gram-Schmidt with column
 * pivoting on columns scaled to unit length.  tol: smallest accepted remaining length. */
int sni_column_rank(int m, int n, const double *A, double tol);

/* Point number k, from 0, in the unit cube of n dimensions: multiples of powers of the golden
 * ratio's like, which fill it ever more densely. */
void sni_fill_cube(int n, int k, double *u);

#endif
