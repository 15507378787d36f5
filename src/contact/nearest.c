/* nearest.c: which way to measure a distance.
 *
 * Bodies at rest on each other touch to the last digits.  There GJK has no direction left, and the
 * polytope of EPA takes fifty times as long.  But cores that are moved apart by delta along n are a
 * case for GJK again, and what it finds is a better n: the error shrinks by delta over the radius
 * of curvature each time, and is gone at once where a face is touched. */
#include "contact/distance.h"

static double smaller(const sni_placed *a, const sni_placed *b) {
  return fmin(a->c->reach, b->c->reach);
}

/* What GJK finds of cores that are moved apart by delta along n, as it is without the move. */
static bool measure_moved(const sni_placed *a, const sni_placed *b, double delta, sn_vec3 n,
                          sni_nearest *out) {
  sni_placed moved = *a;
  moved.E.p = sn_vec3_addscaled(a->E.p, delta, n);
  if (!sni_gjk(&moved, b, INFINITY, out)) {
    return false;
  }
  out->distance -= delta * sn_vec3_dot(n, out->n);
  out->x[0] = sn_vec3_addscaled(out->x[0], -delta, n);
  return true;
}

bool sni_nearest_shallow(const sni_placed *a, const sni_placed *b, const sni_nearest *guess,
                         sni_nearest *out) {
  const double size = smaller(a, b), most = SNI_SHALLOW * size;
  sn_vec3 n = guess->n;
  double delta = SNI_SHALLOW * size;
  sni_nearest next;
  out->distance = -INFINITY;
  for (int k = 0; k < 12 && delta <= 4 * most; k++) {
    if (!measure_moved(a, b, delta, n, &next)) {
      delta *= 4;
      continue;
    }
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

/* Cores that nearly touch are as far apart as rounding says, and the points that GJK gives may be
 * far aside of each other: those of cores moved apart a little are not. */
static void settle_points(const sni_placed *a, const sni_placed *b, sni_nearest *out) {
  const double size = smaller(a, b), small = 1e-6 * size;
  sni_nearest moved;
  if (out->distance > 0 && out->distance < small &&
      sn_vec3_norm(sn_vec3_sub(out->x[0], out->x[1])) > out->distance + 0.1 * small &&
      measure_moved(a, b, 10 * small, out->n, &moved) &&
      moved.distance > out->distance - 1e-10 * size) {
    *out = moved;
  }
}

sni_nearest sni_nearest_within(const sni_placed *a, const sni_placed *b, double far) {
  sni_nearest out, shallow;
  if (sni_nearest_closed(a, b, &out)) {
    return out;
  }
  if (sni_gjk(a, b, far, &out)) {
    settle_points(a, b, &out);
    return out;
  }
  if (sni_nearest_shallow(a, b, &out, &shallow)) {
    settle_points(a, b, &shallow);
    return shallow;
  }
  sni_epa(a, b, &out);
  return out;
}

sni_nearest sni_nearest_find(const sni_placed *a, const sni_placed *b) {
  return sni_nearest_within(a, b, INFINITY);
}
