/* band.h: Gauss's method for matrices with a band of numbers about the diagonal. */
#ifndef SNI_BAND_H
#define SNI_BAND_H

#include <stdbool.h>
#include <stddef.h>

/* n x n, zero further than `half` from the diagonal.  Entry i, j is at[i * stride + j]: rows are
 * stored with the room that pivots need, or whole where that is less. */
typedef struct sni_band {
  int n, half;
  size_t stride;
  double *at;
} sni_band;

/* Numbers that it takes. */
size_t sni_band_size(int n, int half);
void sni_band_place(sni_band *m, int n, int half, double *memory);
void sni_band_clear(sni_band *m);
/* Products of a solve, about. */
double sni_band_cost(int n, int half);

static inline double *sni_band_row(const sni_band *m, int i) {
  return m->at + (size_t)i * m->stride;
}

/* b = m^-1 b, pivots by columns; m is used up.  The sign of its determinant; 0: it is singular. */
int sni_band_solve(sni_band *m, double *b);

#endif
