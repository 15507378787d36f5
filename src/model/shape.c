/* shape.c: the table of shape kinds, and what they share. */
#include "model/shape.h"

#include <stdio.h>
#include <string.h>

extern const sni_shape_ops sni_shape_box, sni_shape_sphere, sni_shape_cylinder, sni_shape_capsule,
    sni_shape_ellipsoid, sni_shape_mesh, sni_shape_plane, sni_shape_convex, sni_shape_height_field;

static const sni_shape_ops *const table[] = {
    &sni_shape_box,     &sni_shape_sphere,    &sni_shape_cylinder,
    &sni_shape_capsule, &sni_shape_ellipsoid, &sni_shape_mesh,
    &sni_shape_plane,   &sni_shape_convex,    &sni_shape_height_field};

int sni_shape_kind_count(void) {
  return SNI_COUNT(table);
}

const sni_shape_ops *sni_shape_kind(int kind) {
  return table[kind];
}

int sni_shape_kind_find(const char *keyword) {
  for (int k = 0; k < SNI_COUNT(table); k++) {
    if (strcmp(table[k]->kind.keyword, keyword) == 0) {
      return k;
    }
  }
  return -1;
}

static const sni_field common_field[] = {
    {.key = "density",
     .type = SNI_F_NUMBER,
     .flags = SNI_POSITIVE,
     .offset = offsetof(sn_shape_def, density),
     .unit = "kg/m^3",
     .doc = "mass of a unit of volume; without it the shape weighs nothing"},
    {.key = "contact",
     .type = SNI_F_NAME,
     .offset = offsetof(sn_shape_def, contact),
     .doc = "contact material; without it the shape does not collide"},
    {.key = "color",
     .type = SNI_F_VEC3,
     .flags = SNI_NOT_NEGATIVE,
     .offset = offsetof(sn_shape_def, color),
     .unit = "",
     .doc = "red, green, blue, each from 0 to 1"}};

static const sni_kind *shape_kind(int k) {
  return k < SNI_COUNT(table) ? &table[k]->kind : NULL;
}

const sni_family *sni_shape_family(void) {
  static const sni_family family = {.name = "shape",
                                    .common = {.name = "shape",
                                               .doc = "a solid fixed to a body",
                                               .field = common_field,
                                               .count = SNI_COUNT(common_field)},
                                    .kind = shape_kind};
  return &family;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

sn_status sni_shape_positive(double value, const char *key, sn_error *err) {
  if (!(value > 0)) { /* this way round so that NaN fails too */
    return sni_fail_key(err, key, "is %g, needs > 0", value);
  }
  return isfinite(value) ? SN_OK : sni_fail_key(err, key, "is %g, needs a finite number", value);
}

static sn_status finite3(sn_vec3 v, const char *key, sn_error *err) {
  return sn_vec3_finite(v)
             ? SN_OK
             : sni_fail_key(err, key, "is [%g, %g, %g], needs finite numbers", v.x, v.y, v.z);
}

sn_status sni_shape_positive3(sn_vec3 v, const char *key, sn_error *err) {
  if (!(v.x > 0 && v.y > 0 && v.z > 0)) {
    return sni_fail_key(err, key, "is [%g, %g, %g], needs > 0 everywhere", v.x, v.y, v.z);
  }
  return finite3(v, key, err);
}

/* How far R is from a rotation: the largest entry of R^T R - 1; 2 for a mirror; NaN if any is. */
static double rotation_error(sn_mat3 R) {
  const sn_mat3 one = sn_mat3_tmul(R, R);
  double most = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      if (isnan(one.m[i][j])) { /* no comparison would keep it */
        return NAN;
      }
      most = fmax(most, fabs(one.m[i][j] - (i == j)));
    }
  }
  return most <= 1 && sn_mat3_det(R) < 0 ? 2 : most;
}

static bool is_identity(sn_se3 E) {
  bool same = E.p.x == 0 && E.p.y == 0 && E.p.z == 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      same = same && E.R.m[i][j] == (i == j);
    }
  }
  return same;
}

static sn_status check_at(const sni_shape_ops *ops, const sn_shape_def *def, sn_error *err) {
  if (!ops->has_at) {
    return is_identity(def->at)
               ? SN_OK
               : sni_fail_key(err, "at", "a %s is placed by from and to, not by a pose",
                              ops->kind.keyword);
  }
  if (finite3(def->at.p, "at", err)) {
    return SN_E_VALUE;
  }
  const double e = rotation_error(def->at.R);
  return e <= 1e-9 ? SN_OK
                   : sni_fail_key(err, "at", "has a matrix that is no rotation (off by %g)", e);
}

static sn_status check_common(const sni_shape_ops *ops, const sn_shape_def *def, sn_error *err) {
  if (check_at(ops, def, err)) {
    return SN_E_VALUE;
  }
  if (!(def->density < 0) && sni_shape_positive(def->density, "density", err)) {
    return SN_E_VALUE;
  }
  const sn_vec3 c = def->color;
  const bool none = c.x < 0 && c.y < 0 && c.z < 0;
  if (!none && !(c.x >= 0 && c.x <= 1 && c.y >= 0 && c.y <= 1 && c.z >= 0 && c.z <= 1)) {
    return sni_fail_key(err, "color", "is [%g, %g, %g], needs numbers from 0 to 1", c.x, c.y, c.z);
  }
  return SN_OK;
}

sn_status sni_shape_check(const sn_shape_def *def, sn_error *err) {
  const int kind = def->type ? sni_shape_kind_find(def->type) : -1;
  if (kind < 0) {
    char known[SN_ERROR_TEXT_MAX] = "";
    for (int k = 0; k < SNI_COUNT(table); k++) {
      strncat(known, k ? ", " : "", sizeof known - strlen(known) - 1);
      strncat(known, table[k]->kind.keyword, sizeof known - strlen(known) - 1);
    }
    return sni_fail_key(err, "type", "'%s' is not a kind of shape; known: %s",
                        def->type ? def->type : "", known);
  }
  const sn_status status = check_common(table[kind], def, err);
  return status ? status : table[kind]->check(def, err);
}

/* ---- Mass and bounds ------------------------------------------------------------------------- */

static const sni_shape_ops *ops_of(const sn_shape_def *def) {
  const int kind = sni_shape_kind_find(def->type);
  SN_ASSERT(kind >= 0);
  return table[kind];
}

sn_inertia sni_shape_mass(const sn_shape_def *def, const sni_mesh *mesh) {
  return def->density > 0 ? ops_of(def)->mass(def, mesh, def->density) : (sn_inertia){0};
}

sni_aabb sni_shape_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  return ops_of(def)->bounds(def, mesh, E);
}

void sni_shape_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  ops_of(def)->surface(def, mesh, out);
}

sni_solid sni_shape_solid(const sn_shape_def *def) {
  return ops_of(def)->solid(def);
}

/* ---- Shapes between two points --------------------------------------------------------------- */

static double length_of(sn_vec3 a) {
  return hypot(hypot(a.x, a.y), a.z); /* squares of small lengths would vanish */
}

sn_status sni_segment_check(const sn_shape_def *def, sn_error *err) {
  if (finite3(def->from, "from", err) || finite3(def->to, "to", err)) {
    return SN_E_VALUE;
  }
  const double length = length_of(sn_vec3_sub(def->to, def->from));
  if (!(length > 0)) {
    return sni_fail_key(err, "to", "is [%g, %g, %g], the same point as from", def->to.x, def->to.y,
                        def->to.z);
  }
  if (!isfinite(length)) {
    return sni_fail_key(err, "to", "is too far from from");
  }
  return sni_shape_positive(def->radius, "radius", err);
}

sni_segment sni_segment_calc(const sn_shape_def *def) {
  const sn_vec3 d = sn_vec3_sub(def->to, def->from);
  const double length = length_of(d);
  return (sni_segment){.middle = sn_vec3_addscaled(def->from, 0.5, d),
                       .axis = {d.x / length, d.y / length, d.z / length},
                       .length = length};
}

/* across (1 - a a^T) + along a a^T */
sn_inertia sni_segment_inertia(sni_segment s, double mass, double along, double across) {
  const sn_vec3 a = s.axis;
  const double d = along - across;
  return (sn_inertia){.mass = mass,
                      .com = s.middle,
                      .xx = across + d * a.x * a.x,
                      .yy = across + d * a.y * a.y,
                      .zz = across + d * a.z * a.z,
                      .xy = d * a.x * a.y,
                      .xz = d * a.x * a.z,
                      .yz = d * a.y * a.z};
}

sni_solid sni_segment_solid(const sn_shape_def *def, sni_core core, double radius, double across) {
  const sni_segment s = sni_segment_calc(def);
  return (sni_solid){.core = core,
                     .radius = radius,
                     .half = {across, across, 0.5 * s.length},
                     .at = sni_surface_frame(s.middle, s.axis)};
}
