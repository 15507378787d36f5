/* shapes/box.c: a box about its centre, by its full edge lengths (a, b, c).
 *
 *     V = a b c        Ixx = m (b^2 + c^2) / 12, and so on round */
#include "model/shape.h"

static sn_status box_check(const sn_shape_def *def, sn_error *err) {
  return sni_shape_positive3(def->size, "size", err);
}

static sn_inertia box_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  (void)mesh;
  const double a = def->size.x, b = def->size.y, c = def->size.z;
  const double m = density * a * b * c;
  return sn_inertia_transform(def->at, (sn_inertia){.mass = m,
                                                    .xx = m * (b * b + c * c) / 12,
                                                    .yy = m * (c * c + a * a) / 12,
                                                    .zz = m * (a * a + b * b) / 12});
}

/* A corner reaches the sum of what the three half edges reach. */
static sni_aabb box_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  (void)mesh;
  const sn_se3 at = sn_se3_mul(E, def->at);
  double h[3];
  for (int i = 0; i < 3; i++) {
    h[i] = 0.5 * (fabs(at.R.m[i][0]) * def->size.x + fabs(at.R.m[i][1]) * def->size.y +
                  fabs(at.R.m[i][2]) * def->size.z);
  }
  return sni_aabb_around(at.p, (sn_vec3){h[0], h[1], h[2]});
}

static const sni_field box_field[] = {SNI_FIELD_SHAPE_AT,
                                      {.key = "size",
                                       .type = SNI_F_VEC3,
                                       .flags = SNI_REQUIRED | SNI_POSITIVE,
                                       .offset = offsetof(sn_shape_def, size),
                                       .unit = "m",
                                       .doc = "full edge lengths along the shape's x, y and z"}};

const sni_shape_ops sni_shape_box = {
    .kind = {"box", "a box, by its full edge lengths", box_field, SNI_COUNT(box_field)},
    .has_at = true,
    .check = box_check,
    .mass = box_mass,
    .bounds = box_bounds};
