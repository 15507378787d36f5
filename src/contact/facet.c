/* facet.c: a convex shape on a triangle of a surface.
 *
 * A surface is more than its triangles: a body that slides over flat ground must not trip over the
 * edges between them.  So an edge, or a corner, touches only along directions in which no triangle
 * around it is nearer: n must be in its normal cone, pointing away from the far corner behind an
 * edge, and at a corner from all edges that begin there. */
#include "contact/soup.h"

/* ---- which parts of the facet are touched ---- */

/* Parts of the corners in a point of the facet. */
static void parts_of(const sni_facet *f, sn_vec3 x, double part[3]) {
  const sn_vec3 a = sn_vec3_sub(f->v[1], f->v[0]), b = sn_vec3_sub(f->v[2], f->v[0]);
  const sn_vec3 d = sn_vec3_sub(x, f->v[0]);
  const double aa = sn_vec3_dot(a, a), ab = sn_vec3_dot(a, b), bb = sn_vec3_dot(b, b);
  const double da = sn_vec3_dot(d, a), db = sn_vec3_dot(d, b), det = aa * bb - ab * ab;
  part[1] = det > 0 ? (bb * da - ab * db) / det : 0;
  part[2] = det > 0 ? (aa * db - ab * da) / det : 0;
  part[0] = 1 - part[1] - part[2];
}

sn_vec3 sni_facet_nearest(const sni_facet *f, sn_vec3 x) {
  double part[3], least = INFINITY;
  parts_of(f, x, part);
  if (part[0] >= 0 && part[1] >= 0 && part[2] >= 0) { /* above it */
    sn_vec3 y = sn_vec3_scale(f->v[0], part[0]);
    y = sn_vec3_addscaled(y, part[1], f->v[1]);
    return sn_vec3_addscaled(y, part[2], f->v[2]);
  }
  sn_vec3 best = x;
  for (int k = 0; k < 3; k++) {
    const sn_vec3 a = f->v[k], e = sn_vec3_sub(f->v[(k + 1) % 3], a);
    const double t = sn_vec3_dot(sn_vec3_sub(x, a), e) / sn_vec3_dot(e, e);
    const sn_vec3 y = sn_vec3_addscaled(a, fmin(1, fmax(0, t)), e);
    const sn_vec3 d = sn_vec3_sub(x, y);
    if (sn_vec3_dot(d, d) < least) {
      least = sn_vec3_dot(d, d);
      best = y;
    }
  }
  return best;
}

/* n at the point x of the facet: is none of the triangles beside nearer? */
static bool is_outward(const sni_facet *f, sn_vec3 x, sn_vec3 n) {
  double part[3];
  parts_of(f, x, part);
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3, far = (k + 2) % 3; /* the corner that is not on edge k */
    if (part[next] < 1e-6 && part[far] < 1e-6) {
      return sni_soup_is_outward(f->soup, f->triangle, k, n);
    }
    if (part[far] > 1e-6 || part[k] < 1e-6 || f->open[k]) {
      continue;
    }
    const sn_vec3 e = sn_vec3_sub(f->v[next], f->v[k]);
    sn_vec3 d = sn_vec3_sub(f->beyond[k], x); /* across the edge */
    d = sn_vec3_addscaled(d, -sn_vec3_dot(d, e) / sn_vec3_dot(e, e), e);
    if (sn_vec3_dot(n, d) > 1e-6 * sn_vec3_norm(d)) {
      return false;
    }
  }
  return true;
}

/* ---- touching ---- */

typedef struct side {
  const sni_facet *f;
  sn_vec3 n; /* unit */
} side;

/* The lowest point of the core above the plane of the facet. */
static double above(const sni_placed *a, const side *s, sn_vec3 *lowest) {
  *lowest = sni_placed_support(a, sn_vec3_neg(s->n));
  return sn_vec3_dot(s->n, sn_vec3_sub(*lowest, s->f->v[0]));
}

/* Where a line from x along n enters the core, seen from x; false: it does not.  The core is no
 * nearer than the slab that proves its distance. */
static bool enters(const sni_placed *a, sn_vec3 x, sn_vec3 n, double *at) {
  enum { ROUNDS = 50 };
  const sni_convex point = {.core = SNI_CORE_POINT};
  const double small = 1e-10 * a->c->reach, most = 4 * a->c->reach;
  double s = 0;
  for (int k = 0; k < ROUNDS && s <= most; k++) {
    sni_placed p = {&point, sn_se3_identity()};
    p.E.p = sn_vec3_addscaled(x, s, n);
    const sni_nearest near = sni_nearest_find(a, &p); /* its n is from the point to the core */
    if (near.distance <= small) {
      *at = s;
      return true;
    }
    const double towards = sn_vec3_dot(near.n, n);
    if (!(towards > 1e-9)) {
      return false;
    }
    s += near.distance / towards;
  }
  return false;
}

/* How deep the core is below the facet, not below what its plane is beyond it. */
static bool depth_in(const sni_placed *a, const side *s, sni_nearest *near) {
  sn_vec3 lowest;
  const double depth = above(a, s, &lowest);
  const sn_vec3 foot = sn_vec3_addscaled(lowest, -depth, s->n), y = sni_facet_nearest(s->f, foot);
  double up = 0;
  const sn_vec3 below = sn_vec3_addscaled(y, depth, s->n);
  if (sn_vec3_norm(sn_vec3_sub(foot, y)) > 1e-9 * a->c->reach && !enters(a, below, s->n, &up)) {
    return false;
  }
  if (depth + up > 0) {
    return false;
  }
  *near = (sni_nearest){
      .distance = depth + up, .n = s->n, .x = {sn_vec3_addscaled(below, up, s->n), y}};
  return true;
}

/* Something else of the surface is nearer, but parts of the shape may come down on this facet too:
 * they are found from its side, without a nearest point of their own. */
static bool seen_from(const side *s, sni_nearest *near) {
  *near = (sni_nearest){.distance = INFINITY, .n = s->n};
  return true;
}

/* For the surface that the facet belongs to. */
static bool settle(const void *user, const sni_placed *a, const sni_placed *b, sni_nearest *near) {
  (void)b;
  const side *s = user;
  const sni_facet *f = s->f;
  const double aligned = sn_vec3_dot(near->n, s->n);
  if (near->distance > 0 && aligned <= 0) {
    return false; /* behind it */
  }
  if (aligned > 1 - 1e-12) {
    return true;
  }
  if (near->distance > 1e-6 * a->c->reach) {
    return is_outward(f, near->x[1], near->n) || seen_from(s, near);
  }
  sn_vec3 lowest;
  const double depth = above(a, s, &lowest);
  const bool edge = aligned > 0 && near->distance > depth + 1e-6 * a->c->reach &&
                    is_outward(f, near->x[1], near->n);
  if (edge) {
    return true;
  }
  if (depth < -a->c->reach) {
    return false; /* more behind than in front */
  }
  return depth_in(a, s, near) || seen_from(s, near);
}

static void place(const sni_facet *f, sni_convex *c, sni_placed *s) {
  const sn_vec3 middle =
      sn_vec3_scale(sn_vec3_add(f->v[0], sn_vec3_add(f->v[1], f->v[2])), 1.0 / 3);
  *c = (sni_convex){.core = SNI_CORE_TRIANGLE};
  for (int k = 0; k < 3; k++) {
    c->v[k] = sn_vec3_sub(f->v[k], middle);
    c->reach = fmax(c->reach, sn_vec3_norm(c->v[k]));
  }
  *s = (sni_placed){c, sn_se3_identity()};
  s->E.p = middle;
}

void sni_touch_facet(const sni_moving *a, const sni_facet *f, double coat, double h, double margin,
                     sni_manifold *out) {
  out->count = 0;
  const sn_vec3 cross = sn_vec3_cross(sn_vec3_sub(f->v[1], f->v[0]), sn_vec3_sub(f->v[2], f->v[0]));
  const double area = sn_vec3_norm(cross);
  if (!(area > 0)) {
    return; /* no side to be on: what is beside it is touched */
  }
  sni_convex c;
  sni_moving b = {0};
  place(f, &c, &b.s);
  c.radius = coat;
  c.reach += coat;
  const side s = {f, sn_vec3_scale(cross, 1 / area)};
  sn_vec3 lowest;
  const double height = above(&a->s, &s, &lowest) - a->s.c->radius - coat;
  if (height <= margin + h * sni_closing_speed(a, &b, s.n)) {
    sni_touch_moving(a, &b, h, margin, settle, &s, out);
  }
}
