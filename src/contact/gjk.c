/* gjk.c: the distance of two convex cores, by Gilbert, Johnson and Keerthi.
 *
 * The cores are as far apart as their difference {a - b} is from the origin.  A simplex of points
 * of the difference moves towards the origin: v is its point nearest to the origin, the next point
 * is the one that is furthest along -v, and when that is no nearer than v, v is the answer.
 *
 * Simplices become slivers near the end, and then v has the right length and any direction.  Each
 * direction n proves a distance, the thickness of the slab between the cores: so the best of these
 * counts, and the search ends when |v| is no larger. */
#include "contact/distance.h"

#include <float.h>

#define ITERATIONS 80
#define EXACT      1e-14 /* of |v|: an error of 1e-7 in the direction of smooth shapes */
#define TOUCH      1e-7  /* of the sizes: nearer than this the direction of v is lost in rounding */

typedef struct vertex {
  sn_vec3 w, a, b; /* w = a - b */
} vertex;

typedef struct simplex {
  int count;
  vertex v[4];
  double part[4]; /* v = sum part w */
} simplex;

/* The point of a part of the simplex that is nearest to the origin. */
typedef struct foot {
  int count, which[3];
  double part[3];
  double vv; /* the square of its distance */
} foot;

static foot foot_on_edge(const simplex *s, int i, int j) {
  const sn_vec3 a = s->v[i].w, d = sn_vec3_sub(s->v[j].w, a);
  const double dd = sn_vec3_dot(d, d), t = -sn_vec3_dot(a, d);
  if (!(t > 0)) {
    return (foot){1, {i}, {1}, sn_vec3_dot(a, a)};
  }
  if (t >= dd) {
    return (foot){1, {j}, {1}, sn_vec3_dot(s->v[j].w, s->v[j].w)};
  }
  const sn_vec3 v = sn_vec3_addscaled(a, t / dd, d);
  return (foot){2, {i, j}, {1 - t / dd, t / dd}, sn_vec3_dot(v, v)};
}

/* The foot of the origin in the plane, if that is inside; or on the nearest edge.  All of them are
 * tried: which one it is cannot be told from signs where the triangle is a sliver. */
static foot foot_on_face(const simplex *s, int i, int j, int k) {
  const sn_vec3 a = s->v[i].w, b = s->v[j].w, c = s->v[k].w;
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
  const double nn = sn_vec3_dot(n, n);
  foot best = {.vv = DBL_MAX};
  if (nn > 0) {
    const double u = sn_vec3_dot(n, sn_vec3_cross(b, c)) / nn;
    const double v = sn_vec3_dot(n, sn_vec3_cross(c, a)) / nn, w = 1 - u - v;
    if (u >= 0 && v >= 0 && w >= 0) {
      const sn_vec3 x = sn_vec3_addscaled(sn_vec3_addscaled(sn_vec3_scale(a, u), v, b), w, c);
      best = (foot){3, {i, j, k}, {u, v, w}, sn_vec3_dot(x, x)};
    }
  }
  const foot edge[3] = {foot_on_edge(s, i, j), foot_on_edge(s, j, k), foot_on_edge(s, k, i)};
  for (int e = 0; e < 3; e++) {
    if (edge[e].vv < best.vv) {
      best = edge[e];
    }
  }
  return best;
}

/* The nearest of the faces that the origin is outside of; count 0: it is inside of all.  A flat
 * tetrahedron has no inside. */
static foot foot_on_solid(const simplex *s) {
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  foot best = {.vv = DBL_MAX};
  for (int f = 0; f < 4; f++) {
    const sn_vec3 a = s->v[face[f][0]].w, d = s->v[face[f][3]].w;
    const sn_vec3 ab = sn_vec3_sub(s->v[face[f][1]].w, a), ac = sn_vec3_sub(s->v[face[f][2]].w, a);
    const sn_vec3 n = sn_vec3_cross(ab, ac), ad = sn_vec3_sub(d, a);
    const double here = -sn_vec3_dot(n, a), inner = sn_vec3_dot(n, ad);
    const double flat = 1e-28 * sn_vec3_dot(n, n) * sn_vec3_dot(ad, ad);
    if (!(here * inner > 0 && inner * inner > flat)) {
      const foot t = foot_on_face(s, face[f][0], face[f][1], face[f][2]);
      best = t.vv < best.vv ? t : best;
    }
  }
  return best;
}

static sn_vec3 point_of(const simplex *s) {
  sn_vec3 v = sn_vec3_scale(s->v[0].w, s->part[0]);
  for (int k = 1; k < s->count; k++) {
    v = sn_vec3_addscaled(v, s->part[k], s->v[k].w);
  }
  return v;
}

static vertex support(const sni_placed *a, const sni_placed *b, sn_vec3 d) {
  vertex v = {.a = sni_placed_support(a, d), .b = sni_placed_support(b, sn_vec3_neg(d))};
  v.w = sn_vec3_sub(v.a, v.b);
  return v;
}

static bool is_known(const simplex *s, sn_vec3 w) {
  for (int k = 0; k < s->count; k++) {
    const sn_vec3 x = s->v[k].w;
    if (x.x == w.x && x.y == w.y && x.z == w.z) {
      return true;
    }
  }
  return false;
}

/* Adds w and leaves what is nearest to the origin, if that is nearer than vv. */
typedef enum step { NEARER, NO_NEARER, INSIDE } step;

static step add(simplex *s, vertex w, double vv) {
  s->v[s->count] = w;
  const foot f = s->count == 1   ? foot_on_edge(s, 0, 1)
                 : s->count == 2 ? foot_on_face(s, 0, 1, 2)
                                 : foot_on_solid(s);
  if (f.count == 0) {
    return INSIDE;
  }
  if (!(f.vv < vv)) {
    return NO_NEARER;
  }
  vertex v[3];
  for (int k = 0; k < f.count; k++) {
    v[k] = s->v[f.which[k]];
  }
  for (int k = 0; k < f.count; k++) {
    s->v[k] = v[k];
    s->part[k] = f.part[k];
  }
  s->count = f.count;
  return NEARER;
}

bool sni_gjk(const sni_placed *a, const sni_placed *b, double far, sni_nearest *out) {
  sn_vec3 v = sn_vec3_sub(a->E.p, b->E.p);
  if (!(sn_vec3_dot(v, v) > 0)) {
    v = (sn_vec3){1, 0, 0};
  }
  simplex s;
  s.count = 1;
  s.part[0] = 1;
  s.v[0] = support(a, b, sn_vec3_neg(v));
  const double size = a->c->reach + b->c->reach;
  *out = (sni_nearest){.distance = -DBL_MAX, .n = {0, 0, 1}};
  v = s.v[0].w;
  for (int k = 0; k < ITERATIONS; k++) {
    const double vv = sn_vec3_dot(v, v), length = sqrt(vv);
    if (!(length > TOUCH * size)) {
      return false;
    }
    const vertex w = support(a, b, sn_vec3_neg(v));
    const double along = sn_vec3_dot(v, w.w) / length;
    if (along > out->distance) {
      out->distance = along;
      out->n = sn_vec3_scale(v, 1 / length);
      if (along > far) {
        return true;
      }
    }
    if (length - out->distance <= EXACT * length + 8 * DBL_EPSILON * sn_vec3_norm(w.w) ||
        is_known(&s, w.w)) {
      break;
    }
    const step done = add(&s, w, vv);
    if (done == INSIDE && !(out->distance > 0)) {
      return false;
    }
    /* inside, with a slab between them: the simplex is flat, and its inside rounding; no nearer
     * than it was: rounding too */
    if (done != NEARER) {
      break;
    }
    v = point_of(&s);
  }
  for (int k = 0; k < s.count; k++) {
    out->x[0] = sn_vec3_addscaled(out->x[0], s.part[k], s.v[k].a);
    out->x[1] = sn_vec3_addscaled(out->x[1], s.part[k], s.v[k].b);
  }
  return out->distance > TOUCH * size;
}
