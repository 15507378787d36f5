/* facet.c: a convex shape on a triangle of a surface.
 *
 * A surface is more than its triangles: a body that slides over flat ground must not trip over the
 * edges between them.  So an edge, or a corner, touches only along directions in which no triangle
 * beside it is nearer: n must point away from the far corner of each. */
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

/* n at the point x of the facet: is none of the triangles beside nearer? */
static bool is_outward(const sni_facet *f, sn_vec3 x, sn_vec3 n) {
  double part[3];
  parts_of(f, x, part);
  for (int k = 0; k < 3; k++) {
    const int far = (k + 2) % 3; /* the corner that is not on edge k */
    if (part[far] > 1e-6 || f->open[k]) {
      continue;
    }
    const sn_vec3 e = sn_vec3_sub(f->v[(k + 1) % 3], f->v[k]);
    sn_vec3 d = sn_vec3_sub(f->beyond[k], x);
    const bool at_corner = part[k] < 1e-6 || part[(k + 1) % 3] < 1e-6;
    if (!at_corner) { /* across the edge */
      d = sn_vec3_addscaled(d, -sn_vec3_dot(d, e) / sn_vec3_dot(e, e), e);
    }
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

/* For the surface that the facet belongs to. */
static bool settle(const void *user, const sni_placed *a, sni_nearest *near) {
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
    return is_outward(f, near->x[1], near->n);
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
  *near = (sni_nearest){
      .distance = depth, .n = s->n, .x = {lowest, sn_vec3_addscaled(lowest, -depth, s->n)}};
  return true;
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

void sni_touch_facet(const sni_moving *a, const sni_facet *f, double h, double margin,
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
  const side s = {f, sn_vec3_scale(cross, 1 / area)};
  sn_vec3 lowest;
  const double height = above(&a->s, &s, &lowest) - a->s.c->radius;
  if (height <= margin + h * sni_closing_speed(a, &b, s.n)) {
    sni_touch_moving(a, &b, h, margin, settle, &s, out);
  }
}
