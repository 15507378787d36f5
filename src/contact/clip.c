/* clip.c: two convex shapes near each other: the points where their faces meet.
 *
 * Along the direction n in which they are nearest each shape shows a face, an edge or a corner.
 * The one that looks more nearly along n is the reference; what the other has within its outline,
 * seen along n, is what touches, and each of its corners is a point. */
#include "contact/manifold.h"

enum { CORNERS = 2 * SNI_POLYGON + 2, CANDIDATES = CORNERS + 1 };

/* Identities: corner i of the one that is clipped; where its edge i passes edge j of the reference;
 * which of the two is the reference; the nearest points themselves. */
enum { CROSSING = 16, TURNED = 512, NEAREST = 511 };

#define STEEP 0.2 /* cosine: a face further from n than this is no reference */

typedef struct corner {
  sn_vec3 x;
  int edge; /* of the polygon as it was: the one that begins here                       */
  int id;
} corner;

typedef struct outline {
  int count;
  corner c[CORNERS];
} outline;

static sn_vec3 normal_of(const sni_polygon *p) {
  sn_vec3 n = {0, 0, 0};
  for (int k = 2; k < p->count; k++) {
    n = sn_vec3_add(
        n, sn_vec3_cross(sn_vec3_sub(p->x[k - 1], p->x[0]), sn_vec3_sub(p->x[k], p->x[0])));
  }
  const double length = sn_vec3_norm(n);
  return length > 0 ? sn_vec3_scale(n, 1 / length) : n;
}

static void face_of(const sni_placed *s, sn_vec3 d, sni_polygon *out) {
  sni_convex_feature(s->c, sn_mat3_tmul_vec(s->E.R, d), out);
  for (int k = 0; k < out->count; k++) {
    out->x[k] = sn_se3_point(s->E, out->x[k]);
  }
}

/* What is inside of edge j from p to q: to the left of it, seen along -n. */
static void cut(outline *o, sn_vec3 p, sn_vec3 q, sn_vec3 n, int j, double slack) {
  const sn_vec3 e = sn_vec3_sub(q, p);
  const double length = sn_vec3_norm(e);
  const sn_vec3 in = sn_vec3_cross(n, e);
  if (!(length > 0)) {
    return;
  }
  outline kept = {.count = 0};
  const int closed = o->count > 2;
  for (int k = 0; k < o->count; k++) {
    const corner *a = &o->c[k], *b = &o->c[(k + 1) % o->count];
    const double da = sn_vec3_dot(in, sn_vec3_sub(a->x, p)) / length + slack;
    const double db = sn_vec3_dot(in, sn_vec3_sub(b->x, p)) / length + slack;
    if (da >= 0 && kept.count < CORNERS) {
      kept.c[kept.count++] = *a;
    }
    const bool last = !closed && k + 1 == o->count; /* a segment has one edge */
    if ((da >= 0) != (db >= 0) && !last && kept.count < CORNERS) {
      const double t = da / (da - db);
      kept.c[kept.count++] = (corner){.x = sn_vec3_addscaled(a->x, t, sn_vec3_sub(b->x, a->x)),
                                      .edge = a->edge,
                                      .id = CROSSING + SNI_POLYGON * a->edge + j};
    }
  }
  *o = kept;
}

typedef struct meeting {
  double radius[2], limit;
  sni_nearest near;
  int count;
  sni_touch touch[CANDIDATES];
} meeting;

/* A point of each core, one above the other along n. */
static void add(meeting *m, sn_vec3 x0, sn_vec3 x1, int id) {
  const sn_vec3 n = m->near.n;
  const double gap = sn_vec3_dot(n, sn_vec3_sub(x0, x1)) - m->radius[0] - m->radius[1];
  if (gap <= m->limit && m->count < CANDIDATES) {
    const sn_vec3 y0 = sn_vec3_addscaled(x0, -m->radius[0], n);
    const sn_vec3 y1 = sn_vec3_addscaled(x1, m->radius[1], n);
    m->touch[m->count++] =
        (sni_touch){.x = sn_vec3_scale(sn_vec3_add(y0, y1), 0.5), .gap = gap, .id = (uint32_t)id};
  }
}

/* which: the shape that is the reference. */
static void clip(meeting *m, const sni_polygon *reference, const sni_polygon *other, sn_vec3 face,
                 int which, double size) {
  const sn_vec3 n = m->near.n, seen = which == 0 ? sn_vec3_neg(n) : n;
  outline o = {.count = other->count};
  for (int k = 0; k < other->count; k++) {
    o.c[k] = (corner){other->x[k], k, k};
  }
  for (int k = 0; k < reference->count && o.count > 0; k++) {
    cut(&o, reference->x[k], reference->x[(k + 1) % reference->count], seen, k, 1e-9 * size);
  }
  for (int k = 0; k < o.count; k++) {
    const sn_vec3 x = o.c[k].x;
    const double t = sn_vec3_dot(face, sn_vec3_sub(reference->x[0], x)) / sn_vec3_dot(face, n);
    const sn_vec3 y = sn_vec3_addscaled(x, t, n); /* on the reference, above or below x */
    const int id = o.c[k].id + (which ? TURNED : 0);
    if (which == 0) {
      add(m, y, x, id);
    } else {
      add(m, x, y, id);
    }
  }
}

/* Two edges that are nearly parallel touch along a piece: its ends. */
static void along_edges(meeting *m, const sni_polygon *a, const sni_polygon *b) {
  const sn_vec3 n = m->near.n;
  sn_vec3 u = sn_vec3_sub(a->x[1], a->x[0]), v = sn_vec3_sub(b->x[1], b->x[0]);
  u = sn_vec3_addscaled(u, -sn_vec3_dot(u, n), n); /* seen along n */
  v = sn_vec3_addscaled(v, -sn_vec3_dot(v, n), n);
  const double uu = sn_vec3_dot(u, u), vv = sn_vec3_dot(v, v);
  const sn_vec3 w = sn_vec3_cross(u, v);
  if (!(sn_vec3_dot(w, w) < 0.01 * uu * vv)) {
    return;
  }
  /* the part of a beside b, as places 0 .. 1 on a */
  double s[2];
  for (int k = 0; k < 2; k++) {
    s[k] = sn_vec3_dot(u, sn_vec3_sub(b->x[k], a->x[0])) / uu;
  }
  const double lo = fmax(0, fmin(s[0], s[1])), hi = fmin(1, fmax(s[0], s[1]));
  if (!(hi - lo > 1e-6)) {
    return;
  }
  for (int k = 0; k < 2; k++) {
    const double at = k ? hi : lo;
    const sn_vec3 x0 = sn_vec3_addscaled(a->x[0], at, sn_vec3_sub(a->x[1], a->x[0]));
    const double t = fmin(1, fmax(0, sn_vec3_dot(v, sn_vec3_sub(x0, b->x[0])) / vv));
    add(m, x0, sn_vec3_addscaled(b->x[0], t, sn_vec3_sub(b->x[1], b->x[0])), k);
  }
}

/* The nearest points themselves, unless they are among the others: corners of a polygon are not the
 * lowest points of a round rim. */
static void add_nearest(meeting *m, double size) {
  const double gap = m->near.distance - m->radius[0] - m->radius[1];
  if (!isfinite(gap)) {
    return; /* only the direction is known */
  }
  for (int k = 0; k < m->count; k++) {
    if (m->touch[k].gap <= gap + 1e-9 * size) {
      return;
    }
  }
  add(m, m->near.x[0], m->near.x[1], NEAREST);
}

void sni_touch_clip(const sni_placed *a, const sni_placed *b, const sni_nearest *near, double limit,
                    sni_manifold *out) {
  meeting m = {.radius = {a->c->radius, b->c->radius}, .limit = limit, .near = *near};
  const double size = a->c->reach + b->c->reach;
  sni_polygon p, q;
  face_of(a, sn_vec3_neg(near->n), &p);
  face_of(b, near->n, &q);
  const sn_vec3 fp = p.count > 2 ? normal_of(&p) : (sn_vec3){0, 0, 0};
  const sn_vec3 fq = q.count > 2 ? normal_of(&q) : (sn_vec3){0, 0, 0};
  const double cp = -sn_vec3_dot(fp, near->n), cq = sn_vec3_dot(fq, near->n);
  if (p.count == 2 && q.count == 2) {
    along_edges(&m, &p, &q);
  } else if (cp >= cq - 1e-3 && cp > STEEP && q.count > 1) {
    clip(&m, &p, &q, fp, 0, size);
  } else if (cq > STEEP && p.count > 1) {
    clip(&m, &q, &p, fq, 1, size);
  } else if (cp > STEEP && q.count > 1) {
    clip(&m, &p, &q, fp, 0, size);
  }
  add_nearest(&m, size);
  sni_manifold_choose(m.touch, m.count, near->n, out);
  for (int k = 0; k < out->count; k++) { /* faces in the upper bits */
    out->touch[k].id |= ((uint32_t)p.face & 0x7ff) << 10 | ((uint32_t)q.face & 0x7ff) << 21;
  }
}

void sni_touch_convex(const sni_placed *a, const sni_placed *b, double limit, sni_manifold *out) {
  sni_nearest near = sni_nearest_find(a, b);
  sni_nearest_edges(a, b, &near);
  out->count = 0;
  if (near.distance - a->c->radius - b->c->radius <= limit) {
    sni_touch_clip(a, b, &near, limit, out);
  }
}
