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

#define PROVED     1e-13 /* of the sizes: of points that Newton's method has found */
#define FIRST_JUMP 5

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

#define SLIVER 1e-10 /* the square of a triangle's area, by those of two of its sides */

static foot nearer(foot a, foot b) {
  return b.vv < a.vv ? b : a;
}

/* The foot of the origin in the plane, if that is inside; count 0: it is not. */
static foot foot_inside(const simplex *s, int i, int j, int k, bool *sure) {
  const sn_vec3 a = s->v[i].w, b = s->v[j].w, c = s->v[k].w;
  const sn_vec3 ab = sn_vec3_sub(b, a), ac = sn_vec3_sub(c, a), n = sn_vec3_cross(ab, ac);
  const double nn = sn_vec3_dot(n, n);
  *sure = nn > SLIVER * sn_vec3_dot(ab, ab) * sn_vec3_dot(ac, ac);
  if (nn > 0) {
    const double u = sn_vec3_dot(n, sn_vec3_cross(b, c)) / nn;
    const double v = sn_vec3_dot(n, sn_vec3_cross(c, a)) / nn, w = 1 - u - v;
    if (u >= 0 && v >= 0 && w >= 0) {
      const sn_vec3 x = sn_vec3_addscaled(sn_vec3_addscaled(sn_vec3_scale(a, u), v, b), w, c);
      return (foot){3, {i, j, k}, {u, v, w}, sn_vec3_dot(x, x)};
    }
  }
  return (foot){.vv = DBL_MAX};
}

/* Of parts of a simplex only those with the last vertex are looked at: on all others the nearest
 * point is the one that is known.  Of slivers signs do not tell which part it is: all are tried. */
static foot foot_on_face(const simplex *s) {
  bool sure;
  const foot inside = foot_inside(s, 0, 1, 2, &sure);
  if (sure && inside.count > 0) {
    return inside;
  }
  return nearer(inside, nearer(foot_on_edge(s, 0, 2), foot_on_edge(s, 1, 2)));
}

/* The nearest of the faces that the origin is outside of; count 0: it is inside of all.  A flat
 * tetrahedron has no inside. */
static foot foot_on_solid(const simplex *s) {
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  foot best = {.vv = DBL_MAX};
  bool within = true;
  for (int f = 0; f < 4; f++) {
    const sn_vec3 a = s->v[face[f][0]].w, d = s->v[face[f][3]].w;
    const sn_vec3 ab = sn_vec3_sub(s->v[face[f][1]].w, a), ac = sn_vec3_sub(s->v[face[f][2]].w, a);
    const sn_vec3 n = sn_vec3_cross(ab, ac), ad = sn_vec3_sub(d, a);
    const double here = -sn_vec3_dot(n, a), inner = sn_vec3_dot(n, ad);
    const double square = sn_vec3_dot(n, n) * sn_vec3_dot(ad, ad);
    if (here * inner > 0 && inner * inner > 1e-28 * square) {
      continue;
    }
    within = false;
    if (f > 0) {
      bool sure;
      const foot inside = foot_inside(s, face[f][0], face[f][1], face[f][2], &sure);
      if (sure && inside.count > 0 && inner * inner > SLIVER * square) {
        return inside;
      }
      best = nearer(best, inside);
    }
  }
  for (int k = 0; k < 3 && !within; k++) {
    best = nearer(best, foot_on_edge(s, k, 3));
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
                 : s->count == 2 ? foot_on_face(s)
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

static void points_of(const simplex *s, sni_nearest *out) {
  out->x[0] = out->x[1] = (sn_vec3){0, 0, 0};
  for (int k = 0; k < s->count; k++) {
    out->x[0] = sn_vec3_addscaled(out->x[0], s->part[k], s->v[k].a);
    out->x[1] = sn_vec3_addscaled(out->x[1], s->part[k], s->v[k].b);
  }
}

/* Jumps to the end where round parts meet; false: it is not there. */
static bool jump(const sni_placed *a, const sni_placed *b, const simplex *s, double size,
                 sni_nearest *out) {
  sn_vec3 on_a[4], on_b[4];
  sni_nearest near;
  for (int k = 0; k < s->count; k++) {
    on_a[k] = s->v[k].a;
    on_b[k] = s->v[k].b;
  }
  points_of(s, &near);
  if (!sni_nearest_polish(a, b, s->count, on_a, on_b, &near)) {
    return false;
  }
  const double proved = sn_vec3_dot(near.n, support(a, b, sn_vec3_neg(near.n)).w);
  if (!(near.distance - proved <= PROVED * size)) {
    return false;
  }
  near.distance = proved;
  *out = near;
  return true;
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
  const bool round = a->c->core == SNI_CORE_CYLINDER || b->c->core == SNI_CORE_CYLINDER;
  *out = (sni_nearest){.distance = -DBL_MAX, .n = {0, 0, 1}};
  v = s.v[0].w;
  for (int k = 0, next = FIRST_JUMP; k < ITERATIONS; k++) {
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
    if (length - out->distance <= EXACT * length + 8 * DBL_EPSILON * size || is_known(&s, w.w)) {
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
    if (round && k == next) {
      if (jump(a, b, &s, size, out)) {
        return out->distance > TOUCH * size;
      }
      next += 3;
    }
    v = point_of(&s);
  }
  points_of(&s, out);
  return out->distance > TOUCH * size;
}
