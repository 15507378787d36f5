/* shapes/sphere.c: a ball.
 *
 *     V = 4/3 pi r^3        I = 2/5 m r^2 */
#include "model/shape.h"

static sn_status sphere_check(const sn_shape_def *def, sn_error *err) {
  return sni_shape_positive(def->radius, "radius", err);
}

static sn_inertia sphere_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  (void)mesh;
  const double r = def->radius;
  const double m = density * (4.0 / 3) * SN_PI * r * r * r, I = 0.4 * m * r * r;
  return (sn_inertia){.mass = m, .com = def->at.p, .xx = I, .yy = I, .zz = I};
}

static sni_aabb sphere_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  (void)mesh;
  const double r = def->radius;
  return sni_aabb_around(sn_se3_point(E, def->at.p), (sn_vec3){r, r, r});
}

static void sphere_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  (void)mesh;
  sni_profile arc[SNI_ARC + 1];
  out->smooth = true;
  sni_profile_arc(arc, def->radius, 0, -SN_PI / 2, SN_PI / 2, SNI_ARC);
  sni_surface_turn(out, def->at, arc, SNI_ARC + 1);
}

static sni_solid sphere_solid(const sn_shape_def *def) {
  return (sni_solid){.core = SNI_CORE_POINT, .radius = def->radius, .at = def->at};
}

static const sni_field sphere_field[] = {SNI_FIELD_SHAPE_AT, SNI_FIELD_SHAPE_RADIUS};

const sni_shape_ops sni_shape_sphere = {
    .kind = {"sphere", "a ball", sphere_field, SNI_COUNT(sphere_field)},
    .has_at = true,
    .check = sphere_check,
    .mass = sphere_mass,
    .bounds = sphere_bounds,
    .surface = sphere_surface,
    .solid = sphere_solid};
