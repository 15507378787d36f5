/* halves.h: rows in their dual, without columns of M^-1 G^T.
 *
 * The recursion is a factorisation M^-1 = U^T U: inward, z = U x, and outward, y = U^T z.  So with
 * Z = U G^T, of which a row has something between itself and the ground alone,
 *
 *     G M^-1 G^T = Z^T Z        G M^-1 b = Z^T z, z = U b        M^-1 (b - G^T v) = U^T (z - Z v)
 *
 * and M x + G^T v = b, G x = c takes the two passes of x = M^-1 b and little else.  (Hinges have
 * left the square roots of their inertia out of z: `weight` stands for both of them.) */
#ifndef SNI_HALVES_H
#define SNI_HALVES_H

#include "dynamics/columns.h"

/* Rows that are taken together, and where they are in the lists below. */
typedef struct sni_half {
  int row, nrow; /* the first, and how many     */
  int first, n;  /* the same of their places    */
  int shared, nshared;
} sni_half;

typedef struct sni_halves {
  int ngroup;
  sni_half *group;
  int *at;         /* a place: which coordinate                      */
  double *weight;  /* 1, of a hinge 1 / D                            */
  sni_lines *Z;    /* a number a row                                 */
  int *shared;     /* places that others have, too                   */
  uint8_t *groups; /* nv  how many have this coordinate, at most 2   */
} sni_halves;

size_t sni_halves_size(const sni_tree *t, int capacity);
/* For at most so many rows. */
void sni_halves_place(sni_halves *h, const sni_tree *t, int capacity, void *memory);

/* Z, and the lower triangle of S (nrow x nrow) = Z^T Z, with the factors of the last sni_factorise.
 */
void sni_halves_make(sni_halves *h, const sni_columns *c, const sni_work *w, int nrow,
                     const sni_row *row, double *S);
/* out = Z^T z, a number a row; z -= Z v. */
void sni_halves_see(const sni_halves *h, const double *z, double *out);
void sni_halves_push(const sni_halves *h, const double *v, double *z);

#endif
