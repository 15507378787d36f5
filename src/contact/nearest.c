/* nearest.c: which way to measure a distance.
 *
 * Bodies at rest on each other touch to the last digits.  There GJK has no direction left, and the
 * polytope of EPA takes fifty times as long.  But cores that are moved apart by delta along n are a
 * case for GJK again, and what it finds is a better n: the error shrinks by delta over the radius
 * of curvature each time, and is gone at once where a face is touched. */
#include "contact/distance.h"

#define SHALLOW                                                                                    \
  1e-3 /* of the smaller one: deeper than this, another side may be the nearer way out */

static double smaller(const sni_placed *a, const sni_placed *b) {
  return fmin(a->c->reach, b->c->reach);
}

bool sni_nearest_shallow(const sni_placed *a, const sni_placed *b, const sni_nearest *guess,
                         sni_nearest *out) {
  const double size = smaller(a, b), most = SHALLOW * size;
  sn_vec3 n = guess->n;
  double delta = SHALLOW * size;
  out->distance = -INFINITY;
  for (int k = 0; k < 12 && delta <= 4 * most; k++) {
    sni_placed moved = *a;
    sni_nearest next;
    moved.E.p = sn_vec3_addscaled(a->E.p, delta, n);
    if (!sni_gjk(&moved, b, INFINITY, &next)) {
      delta *= 4;
      continue;
    }
    next.distance -= delta * sn_vec3_dot(n, next.n); /* the slab as it is without the move */
    next.x[0] = sn_vec3_addscaled(next.x[0], -delta, n);
    const sn_vec3 turn = sn_vec3_sub(next.n, n);
    const double better = next.distance - out->distance;
    n = next.n;
    if (better > -1e-12 * size) { /* of equals the last, whose points are opposite each other */
      *out = next;
    }
    if (sn_vec3_dot(turn, turn) < 1e-24 || (k > 3 && better < 1e-12 * size)) {
      break;
    }
  }
  return out->distance > -most;
}

sni_nearest sni_nearest_within(const sni_placed *a, const sni_placed *b, double far) {
  sni_nearest out, shallow;
  if (sni_nearest_closed(a, b, &out) || sni_gjk(a, b, far, &out)) {
    return out;
  }
  if (sni_nearest_shallow(a, b, &out, &shallow)) {
    return shallow;
  }
  sni_epa(a, b, &out);
  return out;
}

sni_nearest sni_nearest_find(const sni_placed *a, const sni_placed *b) {
  return sni_nearest_within(a, b, INFINITY);
}
