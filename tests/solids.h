/* solids.h: random shapes for tests of contact, and what is known of them without its code: their
 * surfaces as they are drawn, and which points are inside. */
#ifndef TEST_SOLIDS_H
#define TEST_SOLIDS_H

#include "test.h"

#include "contact/manifold.h"
#include "model/shape.h"

typedef struct solid {
  sn_shape_def def;
  sn_se3 E; /* of its body */
  sni_convex c;
  sni_placed s;
  sni_surface surface; /* in the body's frame */
} solid;

static const char *const solid_kinds[] = {"sphere", "capsule", "box", "cylinder", "ellipsoid"};
enum { SOLID_KINDS = 5 };

static inline sn_vec3 solid_random(uint64_t *seed, double lo, double hi) {
  const double x = test_random(seed, lo, hi), y = test_random(seed, lo, hi);
  return (sn_vec3){x, y, test_random(seed, lo, hi)};
}

static inline sn_se3 solid_pose(uint64_t *seed, double far) {
  const sn_mat3 R = sn_so3_exp(solid_random(seed, -2, 2));
  return (sn_se3){R, solid_random(seed, -far, far)};
}

/* Moves the body. */
static inline void solid_place(solid *x, sn_se3 E) {
  const sni_solid own = sni_shape_solid(&x->def);
  x->E = E;
  x->s = (sni_placed){&x->c, sn_se3_mul(E, own.at)};
}

/* x stays where it is in memory. */
static inline void solid_make(solid *x, sn_shape_def def, sn_se3 E) {
  *x = (solid){.def = def};
  const sni_solid own = sni_shape_solid(&x->def);
  x->c = sni_convex_make(&own, NULL);
  sni_shape_surface(&x->def, NULL, &x->surface);
  solid_place(x, E);
}

static inline void solid_make_random(solid *x, int kind, uint64_t *seed, double far) {
  sn_shape_def def = {.type = solid_kinds[kind],
                      .at = kind == 1 || kind == 3 ? sn_se3_identity() : solid_pose(seed, 0.3),
                      .scale = 1,
                      .density = -1,
                      .color = {-1, -1, -1}};
  def.size = solid_random(seed, 0.3, 1.5);
  def.radii = solid_random(seed, 0.3, 0.9);
  def.radius = test_random(seed, 0.2, 0.6);
  def.from = solid_random(seed, -0.4, 0.4);
  def.to = sn_vec3_add(def.from, solid_random(seed, 0.1, 0.6));
  solid_make(x, def, solid_pose(seed, far));
}

static inline void solid_free(solid *x) {
  sni_surface_free(&x->surface);
}

/* How far a point of the world is outside: > 0 where it is, and near the surface a distance. */
static inline double solid_outside(const solid *x, sn_vec3 p) {
  const sn_shape_def *d = &x->def;
  const sn_vec3 b = sn_mat3_tmul_vec(x->E.R, sn_vec3_sub(p, x->E.p));
  const sn_vec3 y = sn_mat3_tmul_vec(d->at.R, sn_vec3_sub(b, d->at.p));
  if (strcmp(d->type, "sphere") == 0) {
    return sn_vec3_norm(y) - d->radius;
  }
  if (strcmp(d->type, "box") == 0) {
    return fmax(fabs(y.x) - d->size.x / 2,
                fmax(fabs(y.y) - d->size.y / 2, fabs(y.z) - d->size.z / 2));
  }
  if (strcmp(d->type, "ellipsoid") == 0) {
    const sn_vec3 u = {y.x / d->radii.x, y.y / d->radii.y, y.z / d->radii.z};
    return (sn_vec3_norm(u) - 1) * fmin(d->radii.x, fmin(d->radii.y, d->radii.z));
  }
  const sn_vec3 axis = sn_vec3_sub(d->to, d->from), r = sn_vec3_sub(b, d->from);
  const double t = sn_vec3_dot(r, axis) / sn_vec3_dot(axis, axis), L = sn_vec3_norm(axis);
  if (strcmp(d->type, "capsule") == 0) {
    const double u = t < 0 ? 0 : t > 1 ? 1 : t;
    return sn_vec3_norm(sn_vec3_addscaled(r, -u, axis)) - d->radius;
  }
  return fmax(sn_vec3_norm(sn_vec3_addscaled(r, -t, axis)) - d->radius, fmax(-t, t - 1) * L);
}

/* The furthest point of the surface along n, among its drawn corners. */
static inline double solid_reach(const solid *x, sn_vec3 n) {
  const sn_vec3 d = sn_mat3_tmul_vec(x->E.R, n);
  double most = -INFINITY;
  for (int k = 0; k < x->surface.nvertex; k++) {
    most = fmax(most, sn_vec3_dot(d, x->surface.vertex[k]));
  }
  return most + sn_vec3_dot(n, x->E.p);
}

#endif
