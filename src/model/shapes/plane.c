/* shapes/plane.c: everything below the plane z = 0 of its own frame: a floor, a wall.
 *
 * It has no end; `extent` is how much of it is drawn.  It weighs nothing, whatever its density: a
 * half space would weigh infinitely much, and defaults give densities to all shapes of a file. */
#include "model/shape.h"

static sn_status plane_check(const sn_shape_def *def, sn_error *err) {
  return sni_shape_positive(def->extent, "extent", err);
}

static sn_inertia plane_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  (void)def;
  (void)mesh;
  (void)density;
  return (sn_inertia){0};
}

/* Of what is drawn. */
static sni_aabb plane_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  (void)mesh;
  const sn_se3 at = sn_se3_mul(E, def->at);
  double h[3];
  for (int i = 0; i < 3; i++) {
    h[i] = 0.5 * def->extent * (fabs(at.R.m[i][0]) + fabs(at.R.m[i][1]));
  }
  return sni_aabb_around(at.p, (sn_vec3){h[0], h[1], h[2]});
}

static void plane_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  (void)mesh;
  const double h = 0.5 * def->extent;
  const sn_vec3 n = sn_mat3_col(def->at.R, 2);
  out->smooth = true;
  for (int corner = 0; corner < 4; corner++) { /* counterclockwise from above */
    const sn_vec3 x = {corner == 1 || corner == 2 ? h : -h, corner >= 2 ? h : -h, 0};
    sni_surface_vertex(out, sn_se3_point(def->at, x), n);
  }
  sni_surface_triangle(out, 0, 1, 2);
  sni_surface_triangle(out, 0, 2, 3);
}

static sni_solid plane_solid(const sn_shape_def *def) {
  return (sni_solid){.form = SNI_FORM_PLANE, .at = def->at};
}

static const sni_field plane_field[] = {SNI_FIELD_SHAPE_AT,
                                        {.key = "extent",
                                         .type = SNI_F_NUMBER,
                                         .flags = SNI_POSITIVE,
                                         .offset = offsetof(sn_shape_def, extent),
                                         .unit = "m",
                                         .doc = "edge of the square that is drawn"}};

const sni_shape_ops sni_shape_plane = {.kind = {"plane",
                                                "all that is below z = 0 of `at`, without end",
                                                plane_field, SNI_COUNT(plane_field)},
                                       .has_at = true,
                                       .weightless = true,
                                       .check = plane_check,
                                       .mass = plane_mass,
                                       .bounds = plane_bounds,
                                       .surface = plane_surface,
                                       .solid = plane_solid};
