/* convex.c: support points and faces of convex shapes. */
#include "contact/convex.h"

static double reach_of(const sni_convex *c) {
  double most = 0;
  switch (c->core) {
  case SNI_CORE_CYLINDER:
    return sqrt(c->half.x * c->half.x + c->half.z * c->half.z);
  case SNI_CORE_ELLIPSOID:
    return fmax(c->half.x, fmax(c->half.y, c->half.z));
  case SNI_CORE_HULL:
    for (int k = 0; k < c->hull->nvertex; k++) {
      most = fmax(most, sn_vec3_norm(c->hull->vertex[k]));
    }
    return most;
  default:
    return sn_vec3_norm(c->half);
  }
}

sni_convex sni_convex_make(const sni_solid *s, const sni_hull *hull) {
  sni_convex c = {.core = s->core, .radius = s->radius, .half = s->half, .hull = hull};
  c.reach = c.radius + reach_of(&c);
  return c;
}

/* ---- support points -------------------------------------------------------------------------- */

static sn_vec3 cylinder_support(sn_vec3 half, sn_vec3 d) {
  const double r = sqrt(d.x * d.x + d.y * d.y), z = d.z < 0 ? -half.z : half.z;
  if (!(r > 0)) {
    return (sn_vec3){half.x, 0, z};
  }
  return (sn_vec3){half.x * (d.x / r), half.x * (d.y / r), z};
}

/* x = D^2 d / |D d| with D = diag(half) */
static sn_vec3 ellipsoid_support(sn_vec3 half, sn_vec3 d) {
  const sn_vec3 y = {half.x * d.x, half.y * d.y, half.z * d.z};
  const double n = sn_vec3_norm(y);
  if (!(n > 0)) {
    return (sn_vec3){0, 0, half.z};
  }
  return (sn_vec3){half.x * (y.x / n), half.y * (y.y / n), half.z * (y.z / n)};
}

static sn_vec3 furthest(const sn_vec3 *x, int n, sn_vec3 d) {
  int best = 0;
  double most = sn_vec3_dot(x[0], d);
  for (int k = 1; k < n; k++) {
    const double along = sn_vec3_dot(x[k], d);
    if (along > most) {
      most = along;
      best = k;
    }
  }
  return x[best];
}

static sn_vec3 hull_support(const sni_convex *c, sn_vec3 d) {
  const sn_vec3 x = furthest(c->hull->vertex, c->hull->nvertex, d);
  return c->inset > 0 ? sn_vec3_addscaled(x, c->inset, sn_vec3_sub(c->middle, x)) : x;
}

sn_vec3 sni_convex_support(const sni_convex *c, sn_vec3 d) {
  const sn_vec3 h = c->half;
  switch (c->core) {
  case SNI_CORE_SEGMENT:
    return (sn_vec3){0, 0, d.z < 0 ? -h.z : h.z};
  case SNI_CORE_BOX:
    return (sn_vec3){d.x < 0 ? -h.x : h.x, d.y < 0 ? -h.y : h.y, d.z < 0 ? -h.z : h.z};
  case SNI_CORE_CYLINDER:
    return cylinder_support(h, d);
  case SNI_CORE_ELLIPSOID:
    return ellipsoid_support(h, d);
  case SNI_CORE_HULL:
    return hull_support(c, d);
  case SNI_CORE_TRIANGLE:
    return furthest(c->v, 3, d);
  default:
    return (sn_vec3){0, 0, 0};
  }
}

/* ---- faces ----------------------------------------------------------------------------------- */

static void box_face(sn_vec3 half, sn_vec3 d, sni_polygon *out) {
  const double h[3] = {half.x, half.y, half.z}, e[3] = {d.x, d.y, d.z};
  int i = 0;
  for (int k = 1; k < 3; k++) {
    i = fabs(e[k]) > fabs(e[i]) ? k : i;
  }
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const double side = e[i] < 0 ? -1 : 1;
  out->count = 4;
  out->face = 2 * i + (side > 0);
  for (int corner = 0; corner < 4; corner++) {
    double x[3];
    x[i] = side * h[i];
    x[j] = (corner == 1 || corner == 2 ? side : -side) * h[j];
    x[k] = (corner >= 2 ? 1 : -1) * h[k];
    out->x[corner] = (sn_vec3){x[0], x[1], x[2]};
  }
}

/* The rim of a cap as a polygon, or the line along the side. */
static void cylinder_face(sn_vec3 half, sn_vec3 d, sni_polygon *out) {
  static const double turn[SNI_POLYGON][2] = {{1, 0},
                                              {0.92387953251128674, 0.38268343236508978},
                                              {0.70710678118654752, 0.70710678118654752},
                                              {0.38268343236508978, 0.92387953251128674},
                                              {0, 1},
                                              {-0.38268343236508978, 0.92387953251128674},
                                              {-0.70710678118654752, 0.70710678118654752},
                                              {-0.92387953251128674, 0.38268343236508978},
                                              {-1, 0},
                                              {-0.92387953251128674, -0.38268343236508978},
                                              {-0.70710678118654752, -0.70710678118654752},
                                              {-0.38268343236508978, -0.92387953251128674},
                                              {0, -1},
                                              {0.38268343236508978, -0.92387953251128674},
                                              {0.70710678118654752, -0.70710678118654752},
                                              {0.92387953251128674, -0.38268343236508978}};
  const double r = sqrt(d.x * d.x + d.y * d.y);
  if (fabs(d.z) < r) {
    out->count = 2;
    out->face = 0;
    for (int k = 0; k < 2; k++) {
      out->x[k] = (sn_vec3){half.x * (d.x / r), half.x * (d.y / r), k ? half.z : -half.z};
    }
    return;
  }
  const double side = d.z < 0 ? -1 : 1;
  out->count = SNI_POLYGON;
  out->face = d.z < 0 ? 1 : 2;
  for (int k = 0; k < SNI_POLYGON; k++) {
    out->x[k] = (sn_vec3){half.x * turn[k][0], side * half.x * turn[k][1], side * half.z};
  }
}

/* Faces with more corners than a polygon has room for lose some, evenly. */
static void hull_face(const sni_hull *h, sn_vec3 d, sni_polygon *out) {
  int best = 0;
  double most = sn_vec3_dot(h->face[0].n, d);
  for (int f = 1; f < h->nface; f++) {
    const double along = sn_vec3_dot(h->face[f].n, d);
    if (along > most) {
      most = along;
      best = f;
    }
  }
  const sni_face *f = &h->face[best];
  out->face = best;
  out->count = f->count < SNI_POLYGON ? f->count : SNI_POLYGON;
  for (int k = 0; k < out->count; k++) {
    out->x[k] = h->vertex[h->corner[f->first + k * f->count / out->count]];
  }
}

/* Seen from the side that d points to, it turns counterclockwise. */
static void triangle_face(const sni_convex *c, sn_vec3 d, sni_polygon *out) {
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(c->v[1], c->v[0]), sn_vec3_sub(c->v[2], c->v[0]));
  const bool back = sn_vec3_dot(n, d) < 0;
  out->count = 3;
  out->face = back;
  out->x[0] = c->v[0];
  out->x[1] = c->v[back ? 2 : 1];
  out->x[2] = c->v[back ? 1 : 2];
}

void sni_convex_feature(const sni_convex *c, sn_vec3 d, sni_polygon *out) {
  out->count = 1;
  out->face = 0;
  switch (c->core) {
  case SNI_CORE_SEGMENT:
    out->count = 2;
    out->x[0] = (sn_vec3){0, 0, -c->half.z};
    out->x[1] = (sn_vec3){0, 0, c->half.z};
    return;
  case SNI_CORE_BOX:
    box_face(c->half, d, out);
    return;
  case SNI_CORE_CYLINDER:
    cylinder_face(c->half, d, out);
    return;
  case SNI_CORE_HULL:
    hull_face(c->hull, d, out);
    return;
  case SNI_CORE_TRIANGLE:
    triangle_face(c, d, out);
    return;
  default:
    out->x[0] = sni_convex_support(c, d);
    return;
  }
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* How far the core reaches along the unit vector d of its frame. */
static double reach_along(const sni_convex *c, sn_vec3 d) {
  const sn_vec3 h = c->half;
  switch (c->core) {
  case SNI_CORE_POINT:
    return 0;
  case SNI_CORE_SEGMENT:
    return fabs(d.z) * h.z;
  case SNI_CORE_BOX:
    return fabs(d.x) * h.x + fabs(d.y) * h.y + fabs(d.z) * h.z;
  default:
    return sn_vec3_dot(sni_convex_support(c, d), d);
  }
}

sni_aabb sni_convex_bounds(const sni_convex *c, sn_se3 E) {
  const bool symmetric = c->core < SNI_CORE_HULL;
  double hi[3], lo[3];
  for (int i = 0; i < 3; i++) {
    const sn_vec3 d = {E.R.m[i][0], E.R.m[i][1], E.R.m[i][2]};
    hi[i] = c->radius + reach_along(c, d);
    lo[i] = symmetric ? hi[i] : c->radius + reach_along(c, sn_vec3_neg(d));
  }
  return (sni_aabb){{E.p.x - lo[0], E.p.y - lo[1], E.p.z - lo[2]},
                    {E.p.x + hi[0], E.p.y + hi[1], E.p.z + hi[2]}};
}
