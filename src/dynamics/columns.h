/* columns.h: M^-1 G^T of rows G, eight columns in one pass over the tree, and G M^-1 G^T with them.
 *
 * A row acts on two bodies and a few joints.  Bodies that have nothing below them that is pushed
 * are passed over on the way inward, and those whose parents stay where they are on the way
 * outward. */
#ifndef SNI_COLUMNS_H
#define SNI_COLUMNS_H

#include "dynamics/compress.h"
#include "dynamics/recursion.h"

typedef struct sni_columns {
  const sni_tree *t;
  struct sni_six *a;       /* nbody  twists of bodies                      */
  struct sni_six *carried; /* nslot  wrenches that bodies get from their children */
  sni_lines *z;            /* nv                                           */
  uint8_t *flag;           /* nbody                                        */
} sni_columns;

size_t sni_columns_size(const sni_tree *t);
void sni_columns_place(sni_columns *c, const sni_tree *t, void *memory);

/* X (nrow x nv) = M^-1 G^T, row by row, and the lower triangle of S (nrow x nrow) = G M^-1 G^T,
 * with the factors of the last sni_factorise. */
void sni_columns_solve(const sni_columns *c, const sni_work *w, int nrow, const sni_row *row,
                       double *X, double *S);

/* The first half of it, for at most eight rows: marks the bodies that they act on; then, from the
 * last body to the first, of those whose flag is not 0 (which marks their parents),
 * z = L^-1 (G^T - S^T b), of a hinge without L^-1. */
void sni_columns_mark(const sni_columns *c, int count, const sni_row *row);
void sni_columns_inward(const sni_columns *c, const sni_work *w, bool hinge, int count,
                        const sni_row *row, int i, sni_lines *z);

#endif
