/* shapes/cylinder.c: a round bar with flat ends at `from` and `to`.
 *
 *     V = pi r^2 L        along the axis: m r^2 / 2        across: m (L^2 / 12 + r^2 / 4) */
#include "model/shape.h"

static sn_inertia cylinder_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  (void)mesh;
  const sni_segment s = sni_segment_calc(def);
  const double r2 = def->radius * def->radius;
  const double m = density * SN_PI * r2 * s.length;
  return sni_segment_inertia(s, m, m * r2 / 2, m * (s.length * s.length / 12 + r2 / 4));
}

/* The rim of a disc across the unit vector a reaches r sqrt(1 - a_i^2) along axis i; the root is
 * taken of the sum of the other two squares, which does not cancel. */
static sni_aabb cylinder_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  (void)mesh;
  const double r = def->radius;
  const sn_vec3 a = sn_mat3_mul_vec(E.R, sni_segment_calc(def).axis);
  const sn_vec3 h = {r * hypot(a.y, a.z), r * hypot(a.z, a.x), r * hypot(a.x, a.y)};
  return sni_aabb_join(sni_aabb_around(sn_se3_point(E, def->from), h),
                       sni_aabb_around(sn_se3_point(E, def->to), h));
}

static void cylinder_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  (void)mesh;
  const sni_segment s = sni_segment_calc(def);
  const double r = def->radius, z = 0.5 * s.length;
  const sni_profile profile[] = {{0, -z, 0, -1}, {r, -z, 0, -1}, {r, -z, 1, 0},
                                 {r, z, 1, 0},   {r, z, 0, 1},   {0, z, 0, 1}};
  out->smooth = true;
  sni_surface_turn(out, sni_surface_frame(s.middle, s.axis), profile, SNI_COUNT(profile));
}

static sni_solid cylinder_solid(const sn_shape_def *def) {
  return sni_segment_solid(def, SNI_CORE_CYLINDER, 0, def->radius);
}

static const sni_field cylinder_field[] = {SNI_FIELD_SHAPE_FROM, SNI_FIELD_SHAPE_TO,
                                           SNI_FIELD_SHAPE_RADIUS};

const sni_shape_ops sni_shape_cylinder = {.kind = {"cylinder",
                                                   "a round bar with flat ends, between two points",
                                                   cylinder_field, SNI_COUNT(cylinder_field)},
                                          .check = sni_segment_check,
                                          .mass = cylinder_mass,
                                          .bounds = cylinder_bounds,
                                          .surface = cylinder_surface,
                                          .solid = cylinder_solid};
