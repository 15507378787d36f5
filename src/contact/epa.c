/* epa.c: how deep two convex cores are in each other, by an expanding polytope.
 *
 * The difference {a - b} of cores that overlap has the origin inside, and they are as deep in each
 * other as the origin is deep in the difference.  A polytope inside the difference grows where its
 * face nearest to the origin is, until that face is one of the difference.  Distances have signs,
 * so the first polytope need not hold the origin, and cores that just touch are no special case. */
#include "contact/distance.h"

#include <float.h>

enum { VERTICES = 128, FACES = 6 * VERTICES };
#define EXACT 1e-11 /* of the sizes */

typedef struct vertex {
  sn_vec3 w, a, b;
} vertex;

typedef struct face {
  int v[3];
  int beside[3]; /* the face behind the edge from v[k] on */
  bool gone;
  sn_vec3 n;       /* unit, outwards; 0: a face without area, which is never the nearest */
  double distance; /* of its plane from the origin                                       */
} face;

typedef struct polytope {
  const sni_placed *a, *b;
  int nvertex, nface;
  vertex v[VERTICES];
  face face[FACES];
} polytope;

static vertex support(const polytope *p, sn_vec3 d) {
  vertex v = {.a = sni_placed_support(p->a, d), .b = sni_placed_support(p->b, sn_vec3_neg(d))};
  v.w = sn_vec3_sub(v.a, v.b);
  return v;
}

static face make_face(const polytope *p, int i, int j, int k) {
  const sn_vec3 x = p->v[i].w;
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(p->v[j].w, x), sn_vec3_sub(p->v[k].w, x));
  const double length = sn_vec3_norm(n);
  face f = {.v = {i, j, k}, .distance = DBL_MAX};
  if (length > 0) {
    f.n = sn_vec3_scale(n, 1 / length);
    f.distance = sn_vec3_dot(f.n, x);
  }
  return f;
}

static int add_face(polytope *p, int i, int j, int k, const int beside[3]) {
  face f = make_face(p, i, j, k);
  for (int e = 0; e < 3; e++) {
    f.beside[e] = beside[e];
  }
  p->face[p->nface] = f;
  return p->nface++;
}

/* ---- the first polytope ---- */

/* The support point, of those along d and -d, that is further from `from` measured along d. */
static vertex further(const polytope *p, sn_vec3 d, sn_vec3 from, double *distance) {
  const vertex u = support(p, d), v = support(p, sn_vec3_neg(d));
  const double x = fabs(sn_vec3_dot(d, sn_vec3_sub(u.w, from)));
  const double y = fabs(sn_vec3_dot(d, sn_vec3_sub(v.w, from)));
  *distance = fmax(x, y);
  return x >= y ? u : v;
}

/* A tetrahedron of support points.  False: the difference is flat, and n is across it. */
static bool begin(polytope *p, double size, sn_vec3 *n) {
  double d = 0;
  const sn_vec3 x = {1, 0, 0};
  p->v[0] = support(p, x);
  p->v[1] = further(p, x, p->v[0].w, &d);
  sn_vec3 e = sn_vec3_sub(p->v[1].w, p->v[0].w);
  *n = x;
  if (!(d > 1e-12 * size)) { /* flat across x: begin with another direction */
    p->v[1] = further(p, (sn_vec3){0, 1, 0}, p->v[0].w, &d);
    e = sn_vec3_sub(p->v[1].w, p->v[0].w);
    if (!(d > 1e-12 * size)) {
      return false;
    }
  }
  e = sn_vec3_scale(e, 1 / sn_vec3_norm(e));
  const sn_vec3 s = sni_across(e), t = sn_vec3_cross(e, s);
  p->v[2] = further(p, s, p->v[0].w, &d);
  *n = s;
  if (!(d > 1e-12 * size)) {
    p->v[2] = further(p, t, p->v[0].w, &d);
    if (!(d > 1e-12 * size)) {
      return false;
    }
  }
  const face f = make_face(p, 0, 1, 2);
  if (!(sn_vec3_dot(f.n, f.n) > 0)) {
    return false;
  }
  *n = f.n;
  p->v[3] = further(p, f.n, p->v[0].w, &d);
  if (!(d > 1e-12 * size)) {
    return false;
  }
  const bool above = sn_vec3_dot(f.n, sn_vec3_sub(p->v[3].w, p->v[0].w)) > 0;
  const int j = above ? 2 : 1, k = above ? 1 : 2; /* the first face looks away from the fourth */
  p->nvertex = 4;
  add_face(p, 0, j, k, (int[]){3, 2, 1});
  add_face(p, 0, k, 3, (int[]){0, 2, 3});
  add_face(p, k, j, 3, (int[]){0, 3, 1});
  add_face(p, j, 0, 3, (int[]){0, 1, 2});
  return true;
}

/* ---- growing ---- */

static int nearest_face(const polytope *p) {
  int best = -1;
  for (int f = 0; f < p->nface; f++) {
    if (!p->face[f].gone && (best < 0 || p->face[f].distance < p->face[best].distance)) {
      best = f;
    }
  }
  return best;
}

static int edge_towards(const face *f, int other) {
  return f->beside[0] == other ? 0 : f->beside[1] == other ? 1 : 2;
}

/* The faces that see a new point go, and those from their rim to it come, in the order of the rim.
 * What is gone around the first face is connected, so the rim is one ring, whatever rounding does
 * to faces that lie in one plane. */
typedef struct change {
  polytope *p;
  sn_vec3 w;
  int first, last; /* of the new faces; -1: none yet */
} change;

/* Arrives at face f over its edge e.  False: no room. */
static bool pass(change *c, int f, int e) {
  polytope *p = c->p;
  face *x = &p->face[f];
  if (x->gone) {
    return true;
  }
  const double above = sn_vec3_dot(x->n, sn_vec3_sub(c->w, p->v[x->v[0]].w));
  if (above > 0 || !(sn_vec3_dot(x->n, x->n) > 0)) {
    x->gone = true;
    for (int k = 1; k < 3; k++) {
      const int over = (e + k) % 3, g = x->beside[over];
      if (!pass(c, g, edge_towards(&p->face[g], f))) {
        return false;
      }
    }
    return true;
  }
  if (p->nface == FACES) {
    return false;
  }
  /* a new face behind the edge, seen from x: the other way round */
  const int fresh = add_face(p, x->v[(e + 1) % 3], x->v[e], p->nvertex, (int[]){f, -1, -1});
  p->face[f].beside[e] = fresh;
  if (c->last >= 0) {
    p->face[c->last].beside[1] = fresh;
    p->face[fresh].beside[2] = c->last;
  } else {
    c->first = fresh;
  }
  c->last = fresh;
  return true;
}

/* False: no room, or nothing left of it but rounding. */
static bool grow(polytope *p, vertex w, int nearest) {
  change c = {p, w.w, -1, -1};
  if (p->nvertex == VERTICES) {
    return false;
  }
  p->v[p->nvertex] = w;
  p->face[nearest].gone = true;
  for (int k = 0; k < 3; k++) {
    const int g = p->face[nearest].beside[k];
    if (!pass(&c, g, edge_towards(&p->face[g], nearest))) {
      return false;
    }
  }
  if (c.first < 0 || c.first == c.last) {
    return false;
  }
  p->face[c.last].beside[1] = c.first;
  p->face[c.first].beside[2] = c.last;
  p->nvertex++;
  return true;
}

/* ---- the answer ---- */

/* Where the origin falls on a face, clamped to it. */
static void weights(const polytope *p, const face *f, double part[3]) {
  const sn_vec3 a = p->v[f->v[0]].w, b = p->v[f->v[1]].w, c = p->v[f->v[2]].w;
  const sn_vec3 o = sn_vec3_scale(f->n, f->distance);
  const sn_vec3 oa = sn_vec3_sub(a, o), ob = sn_vec3_sub(b, o), oc = sn_vec3_sub(c, o);
  part[0] = fmax(0, sn_vec3_dot(f->n, sn_vec3_cross(ob, oc)));
  part[1] = fmax(0, sn_vec3_dot(f->n, sn_vec3_cross(oc, oa)));
  part[2] = fmax(0, sn_vec3_dot(f->n, sn_vec3_cross(oa, ob)));
  const double sum = part[0] + part[1] + part[2];
  for (int k = 0; k < 3; k++) {
    part[k] = sum > 0 ? part[k] / sum : 1.0 / 3;
  }
}

static void from_face(const polytope *p, const face *f, double depth, sni_nearest *out) {
  double part[3];
  weights(p, f, part);
  *out = (sni_nearest){.distance = -depth, .n = sn_vec3_neg(f->n)};
  for (int k = 0; k < 3; k++) {
    out->x[0] = sn_vec3_addscaled(out->x[0], part[k], p->v[f->v[k]].a);
    out->x[1] = sn_vec3_addscaled(out->x[1], part[k], p->v[f->v[k]].b);
  }
}

/* Along one direction and back: the side on which it is less deep. */
static void from_flat(const polytope *p, sn_vec3 n, sni_nearest *out) {
  const vertex u = support(p, n), v = support(p, sn_vec3_neg(n));
  const double x = sn_vec3_dot(n, u.w), y = -sn_vec3_dot(n, v.w);
  const vertex *w = x <= y ? &u : &v;
  *out =
      (sni_nearest){.distance = -fmin(x, y), .n = x <= y ? sn_vec3_neg(n) : n, .x = {w->a, w->b}};
}

void sni_epa(const sni_placed *a, const sni_placed *b, sni_nearest *out) {
  polytope p;
  p.a = a;
  p.b = b;
  p.nvertex = p.nface = 0;
  const double size = a->c->reach + b->c->reach;
  sn_vec3 flat;
  if (!begin(&p, size, &flat)) {
    from_flat(&p, flat, out);
    return;
  }
  double least = DBL_MAX;
  for (;;) {
    const int f = nearest_face(&p);
    if (f < 0) {
      return;
    }
    const face nearest = p.face[f];
    const vertex w = support(&p, nearest.n);
    const double depth = sn_vec3_dot(nearest.n, w.w);
    if (depth - nearest.distance <= EXACT * size) {
      from_face(&p, &nearest, depth, out);
      return;
    }
    if (depth < least) { /* an answer, if not the best, should there be no room to go on */
      least = depth;
      *out = (sni_nearest){.distance = -depth, .n = sn_vec3_neg(nearest.n), .x = {w.a, w.b}};
    }
    if (!grow(&p, w, f)) {
      return;
    }
  }
}
