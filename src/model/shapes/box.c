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

/* Each face has vertices of its own, so that edges are sharp. */
static void box_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  (void)mesh;
  const double h[3] = {0.5 * def->size.x, 0.5 * def->size.y, 0.5 * def->size.z};
  out->smooth = true;
  for (int face = 0; face < 6; face++) {
    const int i = face / 2, j = (i + 1) % 3, k = (i + 2) % 3;
    const double side = face % 2 ? 1 : -1;
    const uint32_t first = (uint32_t)out->nvertex;
    for (int corner = 0; corner < 4; corner++) {
      double x[3], n[3] = {0};
      n[i] = side;
      x[i] = side * h[i];
      x[j] = (corner == 1 || corner == 2 ? side : -side) * h[j]; /* counterclockwise from outside */
      x[k] = (corner >= 2 ? 1 : -1) * h[k];
      sni_surface_vertex(out, sn_se3_point(def->at, (sn_vec3){x[0], x[1], x[2]}),
                         sn_mat3_mul_vec(def->at.R, (sn_vec3){n[0], n[1], n[2]}));
    }
    sni_surface_triangle(out, first, first + 1, first + 2);
    sni_surface_triangle(out, first, first + 2, first + 3);
  }
}

static sni_solid box_solid(const sn_shape_def *def) {
  return (sni_solid){.core = SNI_CORE_BOX, .half = sn_vec3_scale(def->size, 0.5), .at = def->at};
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
    .bounds = box_bounds,
    .surface = box_surface,
    .solid = box_solid};
