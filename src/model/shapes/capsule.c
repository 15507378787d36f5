/* shapes/capsule.c: all points within r of the line between `from` and `to`: a round bar with half
 * a ball behind each end.
 *
 *     bar    m_c = rho pi r^2 L         along: m_c r^2 / 2     across: m_c (L^2 / 12 + r^2 / 4)
 *     balls  m_s = rho 4/3 pi r^3       along: 2/5 m_s r^2
 *            across: m_s (2/5 r^2 + L^2 / 4 + 3/8 L r)
 *
 * The last one: a half ball has its centre 3/8 r from its flat side, which is L / 2 away from the
 * middle. */
#include "model/shape.h"

static sn_inertia capsule_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  (void)mesh;
  const sni_segment s = sni_segment_calc(def);
  const double r = def->radius, L = s.length;
  const double bar = density * SN_PI * r * r * L;
  const double balls = density * (4.0 / 3) * SN_PI * r * r * r;
  const double along = bar * r * r / 2 + balls * 0.4 * r * r;
  const double across =
      bar * (L * L / 12 + r * r / 4) + balls * (0.4 * r * r + L * L / 4 + 0.375 * L * r);
  return sni_segment_inertia(s, bar + balls, along, across);
}

static sni_aabb capsule_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  (void)mesh;
  const sn_vec3 h = {def->radius, def->radius, def->radius};
  return sni_aabb_join(sni_aabb_around(sn_se3_point(E, def->from), h),
                       sni_aabb_around(sn_se3_point(E, def->to), h));
}

static void capsule_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  (void)mesh;
  const sni_segment s = sni_segment_calc(def);
  const double z = 0.5 * s.length;
  sni_profile profile[SNI_ARC + 2];
  out->smooth = true;
  sni_profile_arc(profile, def->radius, -z, -SN_PI / 2, 0, SNI_ARC / 2);
  sni_profile_arc(profile + SNI_ARC / 2 + 1, def->radius, z, 0, SN_PI / 2, SNI_ARC / 2);
  sni_surface_turn(out, sni_surface_frame(s.middle, s.axis), profile, SNI_ARC + 2);
}

static sni_solid capsule_solid(const sn_shape_def *def) {
  return sni_segment_solid(def, SNI_CORE_SEGMENT, def->radius, 0);
}

static const sni_field capsule_field[] = {SNI_FIELD_SHAPE_FROM, SNI_FIELD_SHAPE_TO,
                                          SNI_FIELD_SHAPE_RADIUS};

const sni_shape_ops sni_shape_capsule = {
    .kind = {"capsule", "a round bar with half a ball behind each of its two end points",
             capsule_field, SNI_COUNT(capsule_field)},
    .check = sni_segment_check,
    .mass = capsule_mass,
    .bounds = capsule_bounds,
    .surface = capsule_surface,
    .solid = capsule_solid};
