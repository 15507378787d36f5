/* axis.h: the axis of a tube, and where two of them are nearest.
 *
 * The axis is the uniform cubic B-spline c(u) of its beads, 0 <= u <= n - 1, and so is the radius
 * r(u).  It ends in the first and the last bead, straight: the beads go on beyond them as if
 * mirrored at the ends.  Between, a bend of radius R passes beads that are L apart by L^2 / 6R. */
#ifndef SNI_AXIS_H
#define SNI_AXIS_H

#include "math/vec3.h"

typedef struct sni_bead {
  sn_vec3 x;
  double r;
} sni_bead;

/* Of c and r: value, first and second derivative. */
typedef struct sni_axis_point {
  sn_vec3 c[3];
  double r[3];
} sni_axis_point;

/* n: 2 or more beads. */
sni_axis_point sni_axis_at(const sni_bead *bead, int n, double u);

/* A stretch of an axis. */
typedef struct sni_stretch {
  const sni_bead *bead;
  int n;
  double lo, hi; /* of u */
} sni_stretch;

/* gap(u, v) = |c_a(u) - c_b(v)| - r_a(u) - r_b(v), its derivatives, and the direction n from b to a
 * that it is measured along.  Where the axes meet n is across both. */
typedef struct sni_axes_gap {
  sn_vec3 x[2]; /* of the axes */
  sn_vec3 n;
  double r[2];
  double speed[2]; /* |c'|                              */
  double distance; /* of the axes                       */
  double blur;     /* of n: what rounding leaves        */
  double gap;
  double g[2];    /* d gap / du, dv                     */
  double H[2][2]; /* distance times its second derivatives: finite where the axes meet */
} sni_axes_gap;

sni_axes_gap sni_axes_gap_at(const sni_stretch *a, const sni_stretch *b, double u, double v);

typedef struct sni_axes_nearest {
  double u[2];
  bool held[2]; /* it would go on, but the stretch ends */
  sni_axes_gap at;
  int iterations;
} sni_axes_nearest;

/* The local minimum of the gap within both stretches that Newton's method finds from u, v on. */
sni_axes_nearest sni_axes_nearest_find(const sni_stretch *a, const sni_stretch *b, double u,
                                       double v);

#endif
