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

static void keep(simplex *s, int n, const int *which, const double *part) {
  vertex v[4];
  for (int k = 0; k < n; k++) {
    v[k] = s->v[which[k]];
  }
  for (int k = 0; k < n; k++) {
    s->v[k] = v[k];
    s->part[k] = part[k];
  }
  s->count = n;
}

static void nearest_of_2(simplex *s) {
  const sn_vec3 d = sn_vec3_sub(s->v[1].w, s->v[0].w);
  const double dd = sn_vec3_dot(d, d), t = -sn_vec3_dot(s->v[0].w, d);
  if (!(t > 0)) {
    keep(s, 1, (int[]){0}, (double[]){1});
  } else if (t >= dd) {
    keep(s, 1, (int[]){1}, (double[]){1});
  } else {
    s->part[1] = t / dd;
    s->part[0] = 1 - s->part[1];
  }
}

static sn_vec3 point_of(const simplex *s) {
  sn_vec3 v = sn_vec3_scale(s->v[0].w, s->part[0]);
  for (int k = 1; k < s->count; k++) {
    v = sn_vec3_addscaled(v, s->part[k], s->v[k].w);
  }
  return v;
}

/* Takes the part of s with these vertices, if its nearest point is nearer than *least. */
static void consider(const simplex *s, int n, const int *which, void (*nearest)(simplex *),
                     simplex *best, double *least) {
  simplex t = {.count = n};
  for (int k = 0; k < n; k++) {
    t.v[k] = s->v[which[k]];
  }
  nearest(&t);
  const sn_vec3 v = point_of(&t);
  const double vv = sn_vec3_dot(v, v);
  if (vv < *least) {
    *least = vv;
    *best = t;
  }
}

/* The foot of the origin in the plane, if that is inside; or on the nearest edge.  All of them are
 * tried: which one it is cannot be told from signs where the triangle is a sliver. */
static void nearest_of_3(simplex *s) {
  static const int edge[3][2] = {{0, 1}, {1, 2}, {2, 0}};
  const sn_vec3 a = s->v[0].w, b = s->v[1].w, c = s->v[2].w;
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
  const double nn = sn_vec3_dot(n, n);
  simplex best = *s;
  double least = DBL_MAX;
  if (nn > 0) {
    best.part[0] = sn_vec3_dot(n, sn_vec3_cross(b, c)) / nn;
    best.part[1] = sn_vec3_dot(n, sn_vec3_cross(c, a)) / nn;
    best.part[2] = 1 - best.part[0] - best.part[1];
    if (best.part[0] >= 0 && best.part[1] >= 0 && best.part[2] >= 0) {
      const sn_vec3 v = point_of(&best);
      least = sn_vec3_dot(v, v);
    }
  }
  for (int k = 0; k < 3; k++) {
    consider(s, 2, edge[k], nearest_of_2, &best, &least);
  }
  *s = best;
}

/* The nearest of the faces that the origin is outside of; false: it is inside of all.  A flat
 * tetrahedron has no inside. */
static bool nearest_of_4(simplex *s) {
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  simplex best = {0};
  double least = DBL_MAX;
  for (int f = 0; f < 4; f++) {
    const sn_vec3 a = s->v[face[f][0]].w, d = s->v[face[f][3]].w;
    const sn_vec3 ab = sn_vec3_sub(s->v[face[f][1]].w, a), ac = sn_vec3_sub(s->v[face[f][2]].w, a);
    const sn_vec3 n = sn_vec3_cross(ab, ac), ad = sn_vec3_sub(d, a);
    const double here = -sn_vec3_dot(n, a), inner = sn_vec3_dot(n, ad);
    const double flat = 1e-14 * sn_vec3_norm(n) * sn_vec3_norm(ad);
    if (!(here * inner > 0 && fabs(inner) > flat)) {
      consider(s, 3, face[f], nearest_of_3, &best, &least);
    }
  }
  if (best.count == 0) {
    return false;
  }
  *s = best;
  return true;
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

static bool reduce(simplex *s) {
  switch (s->count) {
  case 1:
    s->part[0] = 1;
    return true;
  case 2:
    nearest_of_2(s);
    return true;
  case 3:
    nearest_of_3(s);
    return true;
  default:
    return nearest_of_4(s);
  }
}

bool sni_gjk(const sni_placed *a, const sni_placed *b, sni_nearest *out) {
  sn_vec3 v = sn_vec3_sub(a->E.p, b->E.p);
  if (!(sn_vec3_dot(v, v) > 0)) {
    v = (sn_vec3){1, 0, 0};
  }
  simplex s = {.count = 1, .v[0] = support(a, b, sn_vec3_neg(v)), .part[0] = 1};
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
    }
    if (length - out->distance <= EXACT * length + 8 * DBL_EPSILON * sn_vec3_norm(w.w) ||
        is_known(&s, w.w)) {
      break;
    }
    simplex next = s;
    next.v[next.count++] = w;
    if (!reduce(&next)) {
      if (out->distance >
          0) { /* a slab is between them: the simplex is flat, its inside rounding */
        break;
      }
      return false;
    }
    const sn_vec3 nearer = point_of(&next);
    if (!(sn_vec3_dot(nearer, nearer) < vv)) { /* rounding: no better than it was */
      break;
    }
    s = next;
    v = nearer;
  }
  for (int k = 0; k < s.count; k++) {
    out->x[0] = sn_vec3_addscaled(out->x[0], s.part[k], s.v[k].a);
    out->x[1] = sn_vec3_addscaled(out->x[1], s.part[k], s.v[k].b);
  }
  return out->distance > TOUCH * size;
}
