/* staggered_newton.h: what Newton's method on an island of staggered.h is made of.
 *
 *     F(v) = v - v_free - A^-1 H^T x(v) = 0,     x(v) = P(x0 - r w),     w = H v - c
 *
 * P is the nearest point of a part's set, with the limits mu x_n of friction moving along. */
#ifndef SNI_STAGGERED_NEWTON_H
#define SNI_STAGGERED_NEWTON_H

#include "linear/band.h"
#include "linear/staggered_parts.h"

/* The nearest point, and how it moves. */
typedef struct sni_slope {
  double x[3];
  double D[3][3]; /* dx/dy                                                                     */
  double by[3];   /* dx/dlimit                                                                 */
} sni_slope;

typedef struct sni_newton {
  sni_staggered *s;
  sni_island *island;
  const sni_staggered_options *o;
  int n;      /* unknowns                                                                     */
  int rows;   /* of its groups                                                                */
  sni_band J; /* n x n, or m x m                                                              */
  int m;      /* rows, where the method goes by rows; 0: it does not                          */
  double *W;  /* m x m  H A^-1 H^T                                                            */
  double *y;  /* m                                                                            */
  double *F, *step, *start, *free; /* n                                                        */
  double stiff; /* r, by the row's own 1/W                                                    */
  double cost;  /* of a step, in products                                                     */
  int sign;     /* of the determinant of dF/dv, after a step                                  */
  double size;  /* what F is small against                                                    */
  double left;  /* |F| after sni_newton_descend                                               */
  double W_most;
  /* v = v_free + A^-1 H^T push; along `step` pushes change by `turn` and rates by `along` */
  double *push, *turn, *along; /* rows                                                        */
  double *path;                /* SNI_PATH_VECTORS x n  of staggered_follow.c                 */
} sni_newton;

/* ---- staggered_slopes.c ---- */

void sni_newton_slope(const sni_group_part *part, int sides, const double *y, sni_slope *out);

/* ---- staggered_newton.c ---- */

/* x of the group from v, and with D: dx = -D dw. */
void sni_newton_x(const sni_newton *nt, sni_group *g, double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS]);
/* x of all groups and F, both from v; returns |F|^2. */
double sni_newton_F(const sni_newton *nt);
/* step = (dF/dv)^-1 F; false: it is singular. */
bool sni_newton_step(sni_newton *nt);
/* v = start - part step */
void sni_newton_put(const sni_newton *nt, double part);
/* v there, or from there. */
void sni_newton_get_v(const sni_newton *nt, double *to);
void sni_newton_set_v(const sni_newton *nt, const double *from);
/* v as the impulses make it. */
void sni_newton_push(const sni_newton *nt);
/* F = 0 with x0 as it stands in `before`, from v = v_free + A^-1 H^T x.  False: it is not. */
bool sni_newton_descend(sni_newton *nt);
/* Six numbers of each group, from one member to another. */
void sni_newton_copy(const sni_newton *nt, size_t from, size_t to);

/* ---- staggered_follow.c ---- */

/* The way of the answers from r = 0 with x0 as it stands in x, to springs that hardly give way: x
 * and v as they are there, or as far as it came. */
void sni_newton_follow(sni_newton *nt);

#endif
