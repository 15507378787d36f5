/* staggered_parts.h: what the two solvers of staggered.h share. */
#ifndef SNI_STAGGERED_PARTS_H
#define SNI_STAGGERED_PARTS_H

#include "linear/cone.h"
#include "linear/staggered.h"

/* out = H v of a group, v += A^-1 H^T x, the limit of a part as it follows from x, and an upper
 * bound of the part's own matrix: what it is divided by for steps that are sure. */
void sni_staggered_mul(const sni_staggered *s, const sni_group *g, const double *v, double *out);
void sni_staggered_push(const sni_staggered *s, const sni_group *g, const double *x, double *v);
void sni_staggered_limit(const sni_group *g, sni_group_part *part);
double sni_staggered_bound(const sni_group *g, const sni_group_part *part);

/* ---- staggered_packed.c ---- */

/* True: group k is of the usual kind, and packed: its x is there. */
bool sni_packed_take(sni_staggered *s, int k);
/* Goes on along the last direction, then both projections; returns the largest change of its own w,
 * and adds the square of it to *square. */
double sni_packed_visit(sni_staggered *s, int k, double along, double *square);
/* x back into the group. */
void sni_packed_give(sni_staggered *s, int k);

/* ---- staggered_order.c ---- */

/* Puts what the island touches in the order of the level that a wave from one of its ends gives it.
 */
void sni_staggered_order(sni_staggered *s, const sni_island *island);
/* How far from the diagonal the numbers of its matrix are, with places of unknowns in `of`. */
int sni_staggered_half_band(const sni_staggered *s, const sni_island *island);

/* ---- staggered.c ---- */

/* Are rates of the island further from the law than the options' rough ones? */
bool sni_staggered_is_rough(const sni_island *island, const sni_staggered_options *o);

/* W, if it is not there. */
void sni_staggered_weigh(const sni_staggered *s, sni_group *g);
/* Both projections of one group; returns the largest change of its own w. */
double sni_staggered_visit(const sni_staggered *s, sni_group *g, int sides);
/* How far its rates are from the law; fills w. */
double sni_staggered_residual_of(const sni_staggered *s, sni_group *g, int sides);
/* The largest rate that has to be met, w being those without impulses; 0: nothing pushes it. */
double sni_staggered_scale_of(const sni_group *g, const double *w);
void sni_staggered_find_islands(sni_staggered *s);
void sni_staggered_sweep_island(sni_staggered *s, sni_island *island,
                                const sni_staggered_options *o);
/* Newton's method on islands above the tolerance, and what there is to say of all. */
sn_status sni_staggered_refine(sni_staggered *s, const sni_staggered_options *o,
                               sni_staggered_info *info);

/* So many sweeps as the options let it have, from where it is. */
void sni_staggered_sweep_on(sni_staggered *s, sni_island *island, const sni_staggered_options *o);

/* ---- staggered_rest.c ---- */

/* An island that was at rest and leaves it, solved: it rests on, if it can. */
void sni_staggered_rest(sni_staggered *s, sni_island *island, const sni_staggered_options *o);

/* ---- both ---- */

/* The island's residual, see sni_staggered_info; fills w. */
double sni_staggered_residual(sni_staggered *s, sni_island *island, const sni_staggered_options *o);

/* So many times both projections of all its groups. */
void sni_staggered_sweep(sni_staggered *s, const sni_island *island, const sni_staggered_options *o,
                         int count);

/* From x and v as they stand.  False: did not converge, or too large. */
bool sni_staggered_newton(sni_staggered *s, sni_island *island, const sni_staggered_options *o);

#endif
