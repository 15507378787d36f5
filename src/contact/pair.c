/* pair.c: the points of one pair of colliders. */
#include "contact/finder.h"

#include <float.h>

static void put(sni_finder *f, int a, int b, sn_vec3 n, const sni_touch *t, sn_vec3 shift) {
  const sni_collider *x = &f->collider[a], *y = &f->collider[b];
  if (f->count == f->capacity) {
    f->full = true;
    return;
  }
  const int first = x->body < 0; /* a body on a plane that moves */
  if (first) {
    x = &f->collider[b];
    y = &f->collider[a];
    n = sn_vec3_neg(n);
  }
  const sn_vec3 at = sn_vec3_add(t->x, shift);
  f->contact[f->count++] =
      (sni_contact){.shape = {x->shape, y->shape},
                    .body = {x->body, y->body},
                    .material = {x->material, y->material},
                    .feature = t->id,
                    .x = at,
                    .at = {sn_vec3_add(at, t->off[first]), sn_vec3_add(at, t->off[1 - first])},
                    .n = n,
                    .gap = t->gap};
}

static void put_all(sni_finder *f, int a, int b, const sni_manifold *m, sn_vec3 shift) {
  for (int k = 0; k < m->count; k++) {
    put(f, a, b, m->n, &m->touch[k], shift);
  }
}

/* With the origin at o. */
static sni_moving moving(const sni_finder *f, int k, sn_vec3 o) {
  sni_moving m = sni_finder_shape(f, f->collider[k].shape);
  m.s.E.p = sn_vec3_sub(m.s.E.p, o);
  return m;
}

/* A plane has no end: it moves by what its point under the other shape does. */
static void on_plane(sni_finder *f, int a, int plane, double margin) {
  const sn_vec3 o = f->E_ws[a].p, n = sn_mat3_col(f->E_ws[plane].R, 2);
  const sni_moving x = moving(f, a, o), y = moving(f, plane, o);
  const double offset = sn_vec3_dot(n, y.s.E.p) + y.s.c->radius;
  const sni_moving under = {
      .s = y.s, .phi = {.w = y.phi.w, .v = sn_vec3_sub(y.phi.v, sn_vec3_cross(y.phi.w, y.s.E.p))}};
  const double turning = sn_vec3_norm(y.phi.w) * x.s.c->reach;
  const double limit = margin + f->h * (turning + sni_closing_speed(&x, &under, n));
  if (-offset - x.s.c->reach <= limit) {
    sni_manifold m;
    sni_touch_plane(&x.s, n, offset, limit, &m);
    sni_manifold_reach(&m);
    put_all(f, a, plane, &m, o);
  }
}

typedef struct flush {
  const sni_finder *f;
  int collider[2];
} flush;

/* On a seam the second shape, or the first, is touched as what is beside it. */
static bool settle_flush(const void *user, const sni_placed *a, const sni_placed *b,
                         sni_nearest *near) {
  const flush *s = user;
  for (int side = 0; side < 2; side++) {
    const int k = s->collider[side];
    const sni_placed *own = side ? b : a, *other = side ? a : b;
    sn_vec3 n = side ? near->n : sn_vec3_neg(near->n);
    const sn_vec3 x = sn_vec3_addscaled(near->x[side], own->c->radius, n);
    if (sni_seams_has(&s->f->seams, k) &&
        sni_seams_aim(&s->f->seams, s->f->collider, k, own, other, x, &n)) {
      *near = (sni_nearest){.distance = INFINITY, .n = side ? n : sn_vec3_neg(n)};
      return true;
    }
  }
  return true;
}

static void on_convex(sni_finder *f, int a, int b, double margin) {
  const sn_vec3 o = f->E_ws[a].p;
  const sni_moving x = moving(f, a, o), y = moving(f, b, o);
  const flush s = {f, {a, b}};
  const bool alone = !sni_seams_has(&f->seams, a) && !sni_seams_has(&f->seams, b);
  sni_manifold m;
  sni_touch_moving(&x, &y, f->h, margin, alone ? NULL : settle_flush, &s, &m);
  put_all(f, a, b, &m, o);
}

/* ---- meshes ---- */

typedef struct mesh_point {
  sni_touch t;
  sn_vec3 n;
} mesh_point;

typedef struct mesh_pair {
  const sni_soup *soup;
  sni_moving a; /* in axes of the mesh, origin at o */
  sn_vec3 o;    /* of a, in the frame of the mesh   */
  double h, margin, coat;
  const sni_contact *known; /* points whose triangles are not looked at */
  int nknown;
  int count;
  mesh_point point[SNI_MESH_POINTS];
} mesh_pair;

#define ALIKE 0.98 /* cosine: points with such normals are one patch */

/* Of the points from `first` on whose normals are like that of the first, the four that say most
 * come to the front, and the others go.  Returns where the next patch begins. */
static int thin(mesh_pair *p, int first) {
  mesh_point all[SNI_MESH_POINTS];
  sni_touch patch[SNI_MESH_POINTS];
  sni_manifold m;
  const sn_vec3 normal = p->point[first].n;
  int n = 0, rest = 0;
  for (int k = first; k < p->count; k++) {
    if (sn_vec3_dot(p->point[k].n, normal) > ALIKE) {
      patch[n] = p->point[k].t;
      patch[n++].id = (uint32_t)k;
    } else {
      all[rest++] = p->point[k];
    }
  }
  sni_manifold_choose(patch, n, normal, &m);
  mesh_point kept[SNI_POINTS];
  for (int k = 0; k < m.count; k++) {
    kept[k] = p->point[m.touch[k].id];
  }
  p->count = first;
  for (int k = 0; k < m.count; k++) {
    p->point[p->count++] = kept[k];
  }
  for (int k = 0; k < rest; k++) {
    p->point[p->count++] = all[k];
  }
  return first + m.count;
}

static void thin_all(mesh_pair *p) {
  for (int first = 0; first < p->count;) {
    first = thin(p, first);
  }
}

static bool is_there(const mesh_pair *p, const sni_touch *t, sn_vec3 n) {
  for (int k = 0; k < p->count; k++) {
    const sn_vec3 d = sn_vec3_sub(p->point[k].t.x, t->x);
    if (sn_vec3_norm(d) < 1e-6 * p->a.s.c->reach && sn_vec3_dot(p->point[k].n, n) > 0.999) {
      return true;
    }
  }
  return false;
}

/* In a feature, ten bits tell points of a triangle apart. */
static uint32_t feature_of(int triangle) {
  return (uint32_t)triangle << 10;
}

static bool has_points(const mesh_pair *p, int triangle) {
  bool has = false;
  for (int k = 0; k < p->nknown && !has; k++) {
    has = (p->known[k].feature & ~0x3ffu) == feature_of(triangle);
  }
  return has;
}

static void on_facet(void *user, int triangle) {
  mesh_pair *p = user;
  if (has_points(p, triangle)) {
    return;
  }
  sni_facet f = sni_soup_facet(p->soup, triangle);
  for (int k = 0; k < 3; k++) {
    f.v[k] = sn_vec3_sub(f.v[k], p->o);
    f.beyond[k] = sn_vec3_sub(f.beyond[k], p->o);
  }
  sni_manifold m;
  sni_touch_facet(&p->a, &f, p->coat, p->h, p->margin, &m);
  for (int k = 0; k < m.count; k++) {
    if (is_there(p, &m.touch[k], m.n)) {
      continue;
    }
    if (p->count == SNI_MESH_POINTS) {
      thin_all(p);
    }
    if (p->count < SNI_MESH_POINTS) {
      m.touch[k].id = (m.touch[k].id & 0x3ff) | feature_of(triangle);
      p->point[p->count++] = (mesh_point){m.touch[k], m.n};
    }
  }
}

/* What of the surface is nearest to a point that is deep behind one triangle. */
typedef struct way_out {
  const sni_soup *soup;
  sn_vec3 x;
  double least;
  double cosine; /* between the normal there and the way from there to x */
  sn_vec3 n, y;  /* that normal, and the nearest point                   */
} way_out;

/* Of triangles that are as near, which meet in an edge or a corner, the one that x is most before
 * or behind tells on which side of the surface it is. */
static void by_facet(void *user, int triangle) {
  way_out *w = user;
  const sni_facet f = sni_soup_facet(w->soup, triangle);
  const sn_vec3 y = sni_facet_nearest(&f, w->x), way = sn_vec3_sub(w->x, y);
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(f.v[1], f.v[0]), sn_vec3_sub(f.v[2], f.v[0]));
  const double distance = sn_vec3_norm(way), same = 1e-9 * (distance + w->least);
  const double area = sn_vec3_norm(n);
  const double cosine = sn_vec3_dot(n, way) / fmax(area * distance, DBL_MIN);
  if (area > 0 && (distance < w->least - same ||
                   (distance <= w->least + same && fabs(cosine) > fabs(w->cosine)))) {
    *w = (way_out){w->soup, w->x, fmin(w->least, distance), cosine, sn_vec3_scale(n, 1 / area), y};
  }
}

/* Of what is deep behind the plane of a triangle. */
typedef enum depth_kind {
  SHORTEST, /* the way out along its normal is as short as any             */
  LONG,     /* another triangle is behind which less of the body is        */
  OUTSIDE   /* it is before the nearest triangle: beyond an edge between   */
} depth_kind;

static depth_kind depth_kind_of(const mesh_pair *p, const sni_touch *t, sn_vec3 n) {
  const double depth = -t->gap;
  const sn_vec3 x = sn_vec3_add(sn_vec3_addscaled(t->x, -0.5 * depth, n), p->o);
  const sni_aabb box = {x, x};
  way_out w = {.soup = p->soup, .x = x, .least = 2 * depth};
  sni_soup_visit(p->soup, sni_aabb_grow(box, depth), by_facet, &w);
  if (!(w.least < (w.cosine > 0 ? 1 - 1e-6 : 0.5) * depth)) {
    return SHORTEST;
  }
  /* that way, all of the body has to go */
  const sn_vec3 lowest = sn_vec3_add(sni_placed_support(&p->a.s, sn_vec3_neg(w.n)), p->o);
  const double other = p->a.s.c->radius - sn_vec3_dot(w.n, sn_vec3_sub(lowest, w.y));
  return other < depth ? LONG : w.cosine > 0 ? OUTSIDE : SHORTEST;
}

/* What is deep in a mesh is behind many triangles.  A body that has tipped over an edge is behind
 * the plane of one, but not in the mesh there: something else holds it, and if nothing else is
 * found, what is least deep. */
static void drop_long_ways(mesh_pair *p) {
  depth_kind kind[SNI_MESH_POINTS];
  double enough = INFINITY;
  bool held = false;
  for (int k = 0; k < p->count; k++) {
    const mesh_point *point = &p->point[k];
    const bool deep = point->t.gap < -0.01 * p->a.s.c->reach;
    kind[k] = deep ? depth_kind_of(p, &point->t, point->n) : SHORTEST;
    held = held || kind[k] == SHORTEST;
    enough = kind[k] == OUTSIDE ? fmin(enough, -2 * point->t.gap) : enough;
  }
  int kept = 0;
  for (int k = 0; k < p->count; k++) {
    const bool least = kind[k] == OUTSIDE && !held && -p->point[k].t.gap <= enough;
    if (kind[k] == SHORTEST || least) {
      p->point[kept++] = p->point[k];
    }
  }
  p->count = kept;
}

static void on_mesh(sni_finder *f, int a, int b, double margin) {
  const sn_se3 E = f->E_ws[b], E_ma = sn_se3_mul(sn_se3_inverse(E), f->E_ws[a]);
  mesh_pair p = {.soup = &f->soup[f->collider[b].part],
                 .a = {{&f->collider[a].convex, {E_ma.R, {0, 0, 0}}},
                       sn_vec6_unrotate(E.R, f->phi[a]),
                       sn_mat3_tmul_vec(E.R, f->arm[a]),
                       f->swing[a]},
                 .o = E_ma.p,
                 .h = f->h,
                 .margin = margin,
                 .coat = f->collider[b].coat};
  p.known = sni_finder_known(f, f->collider[a].shape, f->collider[b].shape, &p.nknown);
  const double turning = sn_vec3_norm(p.a.phi.w) * p.a.s.c->reach + p.a.swing;
  const sni_aabb box = sni_aabb_grow(
      sni_aabb_sweep(sni_convex_bounds(p.a.s.c, E_ma), sn_vec3_scale(p.a.phi.v, f->h)),
      margin + p.coat + f->h * turning);
  sni_soup_visit(p.soup, box, on_facet, &p);
  drop_long_ways(&p);
  thin_all(&p);
  for (int k = 0; k < p.count; k++) {
    sni_touch t = p.point[k].t;
    t.x = sn_mat3_mul_vec(E.R, t.x);
    t.off[0] = sn_mat3_mul_vec(E.R, t.off[0]);
    t.off[1] = sn_mat3_mul_vec(E.R, t.off[1]);
    put(f, a, b, sn_mat3_mul_vec(E.R, p.point[k].n), &t, f->E_ws[a].p);
  }
}

void sni_find_pair(sni_finder *f, int a, int b) {
  const sni_collider *x = &f->collider[a], *y = &f->collider[b];
  /* the ground comes second, and what has no convex form; else the lower shape comes first */
  const bool turn = y->form == SNI_FORM_CONVEX && (x->form != SNI_FORM_CONVEX || x->body < 0 ||
                                                   (y->body >= 0 && y->shape < x->shape));
  if (turn) {
    sni_find_pair(f, b, a);
    return;
  }
  if (x->form != SNI_FORM_CONVEX) {
    return; /* planes and meshes do not touch each other */
  }
  if (y->form == SNI_FORM_PLANE) {
    on_plane(f, a, b, f->margin);
  } else if (y->form == SNI_FORM_CONVEX) {
    on_convex(f, a, b, f->margin);
  } else {
    on_mesh(f, a, b, f->margin);
  }
}
