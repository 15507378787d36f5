/* shapes/ellipsoid.c: an ellipsoid by its half axes (a, b, c).
 *
 *     V = 4/3 pi a b c        Ixx = m (b^2 + c^2) / 5, and so on round */
#include "model/shape.h"

static sn_status ellipsoid_check(const sn_shape_def *def, sn_error *err) {
  return sni_shape_positive3(def->radii, "radii", err);
}

static sn_inertia ellipsoid_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  (void)mesh;
  const double a = def->radii.x, b = def->radii.y, c = def->radii.z;
  const double m = density * (4.0 / 3) * SN_PI * a * b * c;
  return sn_inertia_transform(def->at, (sn_inertia){.mass = m,
                                                    .xx = m * (b * b + c * c) / 5,
                                                    .yy = m * (c * c + a * a) / 5,
                                                    .zz = m * (a * a + b * b) / 5});
}

/* The ball u -> R diag(a, b, c) u reaches the length of row i along axis i. */
static sni_aabb ellipsoid_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  (void)mesh;
  const sn_se3 at = sn_se3_mul(E, def->at);
  double h[3];
  for (int i = 0; i < 3; i++) {
    h[i] = sn_vec3_norm((sn_vec3){at.R.m[i][0] * def->radii.x, at.R.m[i][1] * def->radii.y,
                                  at.R.m[i][2] * def->radii.z});
  }
  return sni_aabb_around(at.p, (sn_vec3){h[0], h[1], h[2]});
}

/* A unit ball, stretched; normals shrink where points stretch. */
static void ellipsoid_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  (void)mesh;
  sni_profile arc[SNI_ARC + 1];
  const sn_vec3 r = def->radii;
  out->smooth = true;
  sni_profile_arc(arc, 1, 0, -SN_PI / 2, SN_PI / 2, SNI_ARC);
  sni_surface_turn(out, sn_se3_identity(), arc, SNI_ARC + 1);
  for (int k = 0; k < out->nvertex; k++) {
    const sn_vec3 u = out->vertex[k];
    const sn_vec3 n = {u.x / r.x, u.y / r.y, u.z / r.z};
    out->vertex[k] = sn_se3_point(def->at, (sn_vec3){u.x * r.x, u.y * r.y, u.z * r.z});
    out->normal[k] = sn_mat3_mul_vec(def->at.R, sn_vec3_scale(n, 1 / sn_vec3_norm(n)));
  }
}

static sni_solid ellipsoid_solid(const sn_shape_def *def) {
  return (sni_solid){.core = SNI_CORE_ELLIPSOID, .half = def->radii, .at = def->at};
}

static const sni_field ellipsoid_field[] = {SNI_FIELD_SHAPE_AT,
                                            {.key = "radii",
                                             .type = SNI_F_VEC3,
                                             .flags = SNI_REQUIRED | SNI_POSITIVE,
                                             .offset = offsetof(sn_shape_def, radii),
                                             .unit = "m",
                                             .doc = "half axes along the shape's x, y and z"}};

const sni_shape_ops sni_shape_ellipsoid = {.kind = {"ellipsoid", "an ellipsoid, by its half axes",
                                                    ellipsoid_field, SNI_COUNT(ellipsoid_field)},
                                           .has_at = true,
                                           .check = ellipsoid_check,
                                           .mass = ellipsoid_mass,
                                           .bounds = ellipsoid_bounds,
                                           .surface = ellipsoid_surface,
                                           .solid = ellipsoid_solid};
