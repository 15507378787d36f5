/* manifold.h: the points where two shapes touch. */
#ifndef SNI_MANIFOLD_H
#define SNI_MANIFOLD_H

#include "contact/distance.h"

enum { SNI_POINTS = 4 }; /* of a pair: more hold nothing that four do not hold */

typedef struct sni_touch {
  sn_vec3 x;      /* midway between the surfaces */
  sn_vec3 off[2]; /* from there to where each of the shapes is touched: see sni_contact */
  double gap;
  uint32_t id; /* which point of the pair */
} sni_touch;

typedef struct sni_manifold {
  sn_vec3 n; /* unit, from the second shape to the first */
  int count;
  sni_touch touch[SNI_POINTS];
} sni_manifold;

/* Takes the four of `count` points that say most: the deepest, the one furthest from it, and those
 * that make the area across n the largest.  Reorders touch. */
void sni_manifold_choose(sni_touch *touch, int count, sn_vec3 n, sni_manifold *out);

/* What is still apart is touched on its own surface, not midway: what rubs when they meet has the
 * arm that it has then. */
void sni_manifold_reach(sni_manifold *m);

/* Points of s whose distance to the plane n . x = offset is at most limit.  The plane is the second
 * shape. */
void sni_touch_plane(const sni_placed *s, sn_vec3 n, double offset, double limit,
                     sni_manifold *out);

/* Two convex shapes, up to `limit` apart.  Near the origin, for accuracy. */
void sni_touch_convex(const sni_placed *a, const sni_placed *b, double limit, sni_manifold *out);
/* The same where they are nearest is known. */
void sni_touch_clip(const sni_placed *a, const sni_placed *b, const sni_nearest *near, double limit,
                    sni_manifold *out);

#endif
