/* least.h: of all points that an affine space and a product of cones have in common, the one
 * that is nearest to 0. */
#ifndef SNI_LEAST_H
#define SNI_LEAST_H

#include <stdbool.h>
#include <stddef.h>

enum { SNI_LEAST_PARTS = 3 };

/* Numbers of y from `first` on: one that is not below 0 (if free), and parts whose lengths are at
 * most mu times that; or, if it is not free and so not there, at most `limit`. */
typedef struct sni_cone_block {
  int first, npart;
  bool free;
  struct {
    int n; /* 1 or 2 */
    double mu, limit;
  } part[SNI_LEAST_PARTS];
} sni_cone_block;

typedef struct sni_least {
  int n, rank, nblock;
  const double *Q; /* rank x n, orthonormal: the space is Q y = b                               */
  const sni_cone_block *block;
  double *b, *mu, *gradient, *step; /* rank                                                     */
  double *y, *u;                    /* n  the answer; scratch                                   */
  double *Z;                        /* rank x n                                                 */
  double *H;                        /* rank^2                                                   */
} sni_least;

size_t sni_least_size(int n, int rank); /* numbers of memory */
void sni_least_place(sni_least *p, int n, int rank, double *memory);

/* y, within the cones; by how much Q y misses b, as a part of it. */
double sni_least_find(sni_least *p);

/* The nearest of the cones to y, in place. */
void sni_least_project(const sni_least *p, double *y);

#endif
