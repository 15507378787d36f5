/* edges.c: which way edges and corners that touch push each other.
 *
 * Where a corner or an edge touches a face, the face has the direction; but of two parallel edges,
 * or of corners, that just touch, every direction that both show is as good: two boards that lean
 * on each other with their upper edges.  There rounding would choose, for most of the normals of
 * a face, which is steep on one of the boards.  So such edges are taken as if they were a little
 * round: both cores are drawn in, whereby each face keeps its normal, and the direction is the one
 * in which what is left of them is nearest.  It is among those that both show, in the midst of them
 * if edges meet head on, and does not jump if one slips by. */
#include "contact/distance.h"

#define SLIPPED 0.01 /* of that: edges that are past each other by less are head on */
#define ROUND   0.25 /* of half the thickness of the thinner one, that edges are round */
#define TURNED  5e-5 /* 1 - cosine, of 0.01 rad: faces that lie on each other have a direction */

static bool has_edges(const sni_convex *c) {
  return c->core == SNI_CORE_BOX || c->core == SNI_CORE_CYLINDER || c->core == SNI_CORE_HULL;
}

static sn_vec3 middle_of(const sni_hull *h) {
  sn_vec3 sum = {0, 0, 0};
  for (int k = 0; k < h->nvertex; k++) {
    sum = sn_vec3_add(sum, h->vertex[k]);
  }
  return sn_vec3_scale(sum, 1.0 / h->nvertex);
}

/* How far the nearest face is from the middle. */
static double half_thickness(const sni_convex *c, sn_vec3 middle) {
  double least = INFINITY;
  if (c->core == SNI_CORE_BOX) {
    return fmin(c->half.x, fmin(c->half.y, c->half.z));
  }
  if (c->core == SNI_CORE_CYLINDER) {
    return fmin(c->half.x, c->half.z);
  }
  for (int k = 0; k < c->hull->nface; k++) {
    const sni_face *f = &c->hull->face[k];
    const sn_vec3 x = c->hull->vertex[c->hull->corner[f->first]];
    least = fmin(least, sn_vec3_dot(f->n, sn_vec3_sub(x, middle)));
  }
  return least;
}

static sni_convex drawn_in(const sni_convex *c, sn_vec3 middle, double half, double by) {
  sni_convex in = *c;
  in.half = sn_vec3_sub(c->half, (sn_vec3){by, by, by});
  in.inset = by / half;
  in.middle = middle;
  return in;
}

static double out_again(double x, double half, double by) {
  return fabs(x) < (half - by) * (1 - 1e-9) ? x : copysign(half, x);
}

/* The point of the core whose place the point x of the drawn in one has, on the same edge. */
static sn_vec3 on_core(const sni_placed *s, const sni_convex *in, double by, sn_vec3 x) {
  const sn_vec3 half = s->c->half;
  sn_vec3 y = sn_se3_point(sn_se3_inverse(s->E), x);
  if (s->c->core == SNI_CORE_BOX) {
    y = (sn_vec3){out_again(y.x, half.x, by), out_again(y.y, half.y, by),
                  out_again(y.z, half.z, by)};
  } else if (s->c->core == SNI_CORE_CYLINDER) {
    const double r = hypot(y.x, y.y), factor = r > 0 ? out_again(r, half.x, by) / r : 1;
    y = (sn_vec3){factor * y.x, factor * y.y, out_again(y.z, half.z, by)};
  } else {
    const sn_vec3 d = sn_vec3_sub(y, in->middle);
    y = sn_vec3_addscaled(in->middle, 1 / (1 - in->inset), d);
  }
  return sn_se3_point(s->E, y);
}

/* How thick the slab across n between the cores is. */
static double slab(const sni_placed *a, const sni_placed *b, sn_vec3 n) {
  const sn_vec3 x = sni_placed_support(a, sn_vec3_neg(n)), y = sni_placed_support(b, n);
  return sn_vec3_dot(n, sn_vec3_sub(x, y));
}

void sni_nearest_edges(const sni_placed *a, const sni_placed *b, sni_nearest *near) {
  const sni_convex *c[2] = {a->c, b->c};
  const double size = fmin(a->c->reach, b->c->reach);
  if (!has_edges(c[0]) || !has_edges(c[1]) || !(fabs(near->distance) < SNI_SHALLOW * size)) {
    return;
  }
  sn_vec3 middle[2] = {{0, 0, 0}, {0, 0, 0}};
  double half[2];
  for (int k = 0; k < 2; k++) {
    middle[k] = c[k]->core == SNI_CORE_HULL ? middle_of(c[k]->hull) : middle[k];
    half[k] = half_thickness(c[k], middle[k]);
  }
  const double by = ROUND * fmin(half[0], half[1]);
  if (!(near->distance < SLIPPED * by)) {
    return;
  }
  const sni_convex in[2] = {drawn_in(c[0], middle[0], half[0], by),
                            drawn_in(c[1], middle[1], half[1], by)};
  const sni_placed x = {&in[0], a->E}, y = {&in[1], b->E};
  sni_nearest round;
  if (!sni_gjk(&x, &y, INFINITY, &round) || sn_vec3_dot(round.n, near->n) > 1 - TURNED) {
    return;
  }
  const double thick = slab(a, b, round.n), lost = near->distance - thick;
  if (lost < fmax(0, -near->distance) + SLIPPED * by) {
    *near = (sni_nearest){
        thick, round.n, {on_core(a, &in[0], by, round.x[0]), on_core(b, &in[1], by, round.x[1])}};
  }
}
