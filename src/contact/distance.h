/* distance.h: how far two convex cores are apart, or how deep they are in each other. */
#ifndef SNI_DISTANCE_H
#define SNI_DISTANCE_H

#include "contact/convex.h"

/* Of the smaller one: deeper than this, another side may be the nearer way out. */
#define SNI_SHALLOW 1e-3

typedef struct sni_nearest {
  double distance; /* of the cores, along n; < 0: they overlap                      */
  sn_vec3 n;       /* unit, from the second to the first                            */
  sn_vec3 x[2];    /* the points of the two cores that are nearest, or deepest      */
} sni_nearest;

/* Exact for points and segments; else by GJK, and by EPA where cores touch or overlap.  Always
 * finite.  Cores must not be far from the origin compared with their sizes, for accuracy. */
sni_nearest sni_nearest_find(const sni_placed *a, const sni_placed *b);
/* The same, but if they are further apart than `far` no more is known of them than that. */
sni_nearest sni_nearest_within(const sni_placed *a, const sni_placed *b, double far);

/* Of edges and corners that touch, where many directions are as good, the one in their midst. */
void sni_nearest_edges(const sni_placed *a, const sni_placed *b, sni_nearest *near);

/* ---- parts ---- */

/* Stops where they are known to be further apart than `far`, with what is known: distance and n.
 * False: they overlap, or touch so nearly that no direction can be told; then n is the best of
 * those tried, and distance what it proves, < 0. */
bool sni_gjk(const sni_placed *a, const sni_placed *b, double far, sni_nearest *out);
/* Cores that touch, or overlap a little; guess: what sni_gjk has found.  False: it cannot be told.
 */
bool sni_nearest_shallow(const sni_placed *a, const sni_placed *b, const sni_nearest *guess,
                         sni_nearest *out);
/* Better points than those of near, which are on the parts of round cores that hold `count` points
 * of each; false: there are none on these parts.  Others may be nearer. */
bool sni_nearest_polish(const sni_placed *a, const sni_placed *b, int count, const sn_vec3 *on_a,
                        const sn_vec3 *on_b, sni_nearest *near);
void sni_epa(const sni_placed *a, const sni_placed *b, sni_nearest *out);

/* Points and segments against each other, and points against boxes and cylinders; false: another
 * pair. */
bool sni_nearest_closed(const sni_placed *a, const sni_placed *b, sni_nearest *out);

#endif
