/* closed.c: distances that have closed forms: points and segments against each other, points
 * against boxes and cylinders. */
#include "contact/distance.h"

/* Of the numbers of a point, what its place is known to; and of lengths and radii, what does not
 * matter. */
#define ROUNDING 1e-14
#define NEAR     1e-9
#define NEARER   1e-6

static double clamp(double x, double lo, double hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

/* Two points of the cores; fallback: the direction where they are in one place, which is as far as
 * rounding of their numbers tells. */
static void between(sn_vec3 x, sn_vec3 y, double rounding, sn_vec3 fallback, sni_nearest *out) {
  const sn_vec3 d = sn_vec3_sub(x, y);
  const double length = sn_vec3_norm(d);
  *out = (sni_nearest){.distance = length, .n = fallback, .x = {x, y}};
  if (length > rounding) {
    const sn_vec3 n = sn_vec3_scale(d, 1 / length); /* of tiny d it may not be a unit vector */
    out->n = sn_vec3_scale(n, 1 / sn_vec3_norm(n));
  }
}

/* ---- points and segments: x = c + s u, |s| <= half ---- */

typedef struct line {
  sn_vec3 c, u;
  double half;
} line;

static line line_of(const sni_placed *s) {
  return (line){s->E.p, sn_mat3_col(s->E.R, 2), s->c->core == SNI_CORE_SEGMENT ? s->c->half.z : 0};
}

/* From an end of a segment to the rest of it; 0: it is not at an end. */
static sn_vec3 from_end(const line *p, double s) {
  return fabs(s) < p->half ? (sn_vec3){0, 0, 0} : sn_vec3_scale(p->u, s > 0 ? -1 : 1);
}

/* A direction that segments with a common point are on either side of.  At their ends, as around a
 * joint, that is away from each other; else across them. */
static sn_vec3 way_apart(const line *p, double s, const line *q, double t) {
  if (!(p->half > 0 || q->half > 0)) {
    return (sn_vec3){0, 0, 1};
  }
  const bool ends[2] = {!(fabs(s) < p->half), !(fabs(t) < q->half)};
  sn_vec3 n = sn_vec3_sub(from_end(p, s), from_end(q, t));
  if (!ends[0] || !ends[1]) {
    const sn_vec3 u = ends[0] ? q->u : p->u;
    n = ends[0] == ends[1] ? sn_vec3_cross(p->u, q->u)
                           : sn_vec3_addscaled(n, -sn_vec3_dot(n, u), u);
  }
  const double length = sn_vec3_norm(n);
  return length > 1e-7 ? sn_vec3_scale(n, 1 / length) : sni_across(p->half > 0 ? p->u : q->u);
}

static void lines(const sni_placed *a, const sni_placed *b, sni_nearest *out) {
  const line p = line_of(a), q = line_of(b);
  const sn_vec3 r = sn_vec3_sub(p.c, q.c);
  const double uv = sn_vec3_dot(p.u, q.u), ur = sn_vec3_dot(p.u, r), vr = sn_vec3_dot(q.u, r);
  const sn_vec3 w = sn_vec3_cross(p.u, q.u);
  const double det = sn_vec3_dot(w, w); /* 1 - uv^2, with all its digits */
  /* the nearest points of the whole lines; of parallel ones any */
  double s = det > 1e-14 ? clamp((uv * vr - ur) / det, -p.half, p.half) : 0;
  const double t = clamp(vr + s * uv, -q.half, q.half);
  s = clamp(t * uv - ur, -p.half, p.half);
  /* the difference of points that are next to each other points anywhere, or nearly so */
  const double half = p.half + q.half, size = sn_vec3_norm(p.c) + sn_vec3_norm(q.c) + half;
  const double near = fmin(NEAR * half, NEARER * (a->c->radius + b->c->radius));
  const double end = clamp(vr + s * uv, -q.half, q.half);
  between(sn_vec3_addscaled(p.c, s, p.u), sn_vec3_addscaled(q.c, end, q.u),
          half > 0 ? fmax(near, ROUNDING * size) : 0, way_apart(&p, s, &q, end), out);
}

/* ---- a point against a solid ---- */

/* The nearest point of the surface to x inside the solid, and the way out there; in its frame. */
typedef struct way_out {
  sn_vec3 y, n;
  double depth;
} way_out;

static way_out out_of_box(sn_vec3 half, sn_vec3 x) {
  const double h[3] = {half.x, half.y, half.z}, c[3] = {x.x, x.y, x.z};
  int i = 2; /* upwards where all are equal */
  for (int k = 0; k < 2; k++) {
    i = h[k] - fabs(c[k]) < h[i] - fabs(c[i]) ? k : i;
  }
  double y[3] = {c[0], c[1], c[2]}, n[3] = {0};
  n[i] = c[i] < 0 ? -1 : 1;
  y[i] = n[i] * h[i];
  return (way_out){{y[0], y[1], y[2]}, {n[0], n[1], n[2]}, h[i] - fabs(c[i])};
}

static way_out out_of_cylinder(sn_vec3 half, sn_vec3 x) {
  const double r = sqrt(x.x * x.x + x.y * x.y);
  if (half.x - r < half.z - fabs(x.z)) {
    const sn_vec3 n = r > 0 ? (sn_vec3){x.x / r, x.y / r, 0} : (sn_vec3){1, 0, 0};
    return (way_out){{half.x * n.x, half.x * n.y, x.z}, n, half.x - r};
  }
  const double side = x.z < 0 ? -1 : 1;
  return (way_out){{x.x, x.y, side * half.z}, {0, 0, side}, half.z - fabs(x.z)};
}

static sn_vec3 nearest_in_box(sn_vec3 h, sn_vec3 x) {
  return (sn_vec3){clamp(x.x, -h.x, h.x), clamp(x.y, -h.y, h.y), clamp(x.z, -h.z, h.z)};
}

static sn_vec3 nearest_in_cylinder(sn_vec3 h, sn_vec3 x) {
  const double r = sqrt(x.x * x.x + x.y * x.y), k = r > h.x ? h.x / r : 1;
  return (sn_vec3){k * x.x, k * x.y, clamp(x.z, -h.z, h.z)};
}

/* a is a point, b a box or a cylinder. */
static void point_and_solid(const sni_placed *a, const sni_placed *b, sni_nearest *out) {
  const bool box = b->c->core == SNI_CORE_BOX;
  const sn_vec3 h = b->c->half, p = a->E.p;
  const sn_vec3 x = sn_mat3_tmul_vec(b->E.R, sn_vec3_sub(p, b->E.p));
  const sn_vec3 y = box ? nearest_in_box(h, x) : nearest_in_cylinder(h, x);
  if (y.x == x.x && y.y == x.y && y.z == x.z) {
    const way_out w = box ? out_of_box(h, x) : out_of_cylinder(h, x);
    *out = (sni_nearest){
        .distance = -w.depth, .n = sn_mat3_mul_vec(b->E.R, w.n), .x = {p, sn_se3_point(b->E, w.y)}};
    return;
  }
  /* in the frame of the solid, where the difference has all its digits */
  sni_nearest local;
  between(x, y, 0, (sn_vec3){0, 0, 1}, &local);
  *out = (sni_nearest){.distance = local.distance,
                       .n = sn_mat3_mul_vec(b->E.R, local.n),
                       .x = {p, sn_se3_point(b->E, y)}};
}

static sni_nearest turned(sni_nearest x) {
  return (sni_nearest){x.distance, sn_vec3_neg(x.n), {x.x[1], x.x[0]}};
}

bool sni_nearest_closed(const sni_placed *a, const sni_placed *b, sni_nearest *out) {
  const sni_core p = a->c->core, q = b->c->core;
  if (p <= SNI_CORE_SEGMENT && q <= SNI_CORE_SEGMENT) {
    lines(a, b, out);
    return true;
  }
  if (p == SNI_CORE_POINT && (q == SNI_CORE_BOX || q == SNI_CORE_CYLINDER)) {
    point_and_solid(a, b, out);
    return true;
  }
  if (q == SNI_CORE_POINT && (p == SNI_CORE_BOX || p == SNI_CORE_CYLINDER)) {
    point_and_solid(b, a, out);
    *out = turned(*out);
    return true;
  }
  return false;
}
