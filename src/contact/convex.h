/* convex.h: convex shapes as collision detection sees them: a core, and all that is within `radius`
 * of it.  A ball is a point, a capsule a segment; the others have a core with a volume and no
 * radius. */
#ifndef SNI_CONVEX_H
#define SNI_CONVEX_H

#include "model/shape.h"

/* A face of a hull: corners first .. first + count of `corner`, counterclockwise from outside. */
typedef struct sni_face {
  sn_vec3 n; /* unit, outwards */
  int first, count;
} sni_face;

typedef struct sni_hull {
  int nvertex, nface;
  sn_vec3 *vertex;
  sni_face *face;
  int *corner;
} sni_hull;

typedef struct sni_convex {
  sni_core core;
  double radius;
  sn_vec3 half;
  double reach;         /* no point of it is further from the origin of its frame */
  const sni_hull *hull; /* SNI_CORE_HULL */
  sn_vec3 v[3];         /* SNI_CORE_TRIANGLE */
  double inset;         /* of a hull: the part of the way to the middle by which it is drawn in */
  sn_vec3 middle;
} sni_convex;

/* hull: NULL for other cores. */
sni_convex sni_convex_make(const sni_solid *s, const sni_hull *hull);

/* The point of the core that is furthest along d (any length), in the frame of the shape. */
sn_vec3 sni_convex_support(const sni_convex *c, sn_vec3 d);

/* What touches a plane that comes from the side d (unit): a polygon, counterclockwise seen along -d
 * (from outside), a segment or a point of the core. */
enum { SNI_POLYGON = 16 };

typedef struct sni_polygon {
  int count;
  int face; /* which of the shape, from 0 */
  sn_vec3 x[SNI_POLYGON];
} sni_polygon;

void sni_convex_feature(const sni_convex *c, sn_vec3 d, sni_polygon *out);

/* The box around it, with its radius, where its pose is E. */
sni_aabb sni_convex_bounds(const sni_convex *c, sn_se3 E);

/* A shape in its place. */
typedef struct sni_placed {
  const sni_convex *c;
  sn_se3 E;
} sni_placed;

/* And one that moves. */
typedef struct sni_moving {
  sni_placed s;
  sn_vec6 phi;  /* world axes, at the origin of s.E */
  sn_vec3 arm;  /* from the point about which it turns, and which moves straight on, to there */
  double swing; /* how much the speed of that origin may change within the step by its turning */
} sni_moving;

static inline sn_vec3 sni_placed_support(const sni_placed *s, sn_vec3 d) {
  return sn_se3_point(s->E, sni_convex_support(s->c, sn_mat3_tmul_vec(s->E.R, d)));
}

/* A unit vector across n, whatever n is. */
static inline sn_vec3 sni_across(sn_vec3 n) {
  const sn_vec3 e = fabs(n.x) < 0.6 ? (sn_vec3){1, 0, 0} : (sn_vec3){0, 1, 0};
  const sn_vec3 t = sn_vec3_cross(n, e);
  const double length = sn_vec3_norm(t);
  return length > 0 ? sn_vec3_scale(t, 1 / length) : (sn_vec3){0, 0, 1};
}

#endif
