/* shape.h: what a kind of shape must provide.  A new kind = one file in shapes/ + one row in
 * shape.c.
 *
 * A shape is a solid fixed to a body.  It weighs if it has a density, collides if it names a
 * contact, and is drawn in any case. */
#ifndef SNI_SHAPE_H
#define SNI_SHAPE_H

#include "base/error.h"
#include "math/inertia.h"
#include "model/field.h"
#include "model/mesh_file.h"
#include "model/solid.h"
#include "model/surface.h"

/* A box along the axes. */
typedef struct sni_aabb {
  sn_vec3 lo, hi;
} sni_aabb;

typedef struct sni_shape_ops {
  sni_kind kind;
  bool has_at;     /* placed by `at`; false: by `from` and `to`                     */
  bool needs_mesh; /* mass and bounds take the loaded file; else they ignore it     */
  bool weightless; /* whatever its density                                          */
  /* The mesh of a kind that needs one; NULL: of others. */
  sn_status (*load)(const sn_shape_def *def, sni_mesh **mesh, sn_error *err);
  /* Problems go to err, with the key that is wrong in err->path (relative to the shape).  What all
   * shapes have is checked by sni_shape_check already. */
  sn_status (*check)(const sn_shape_def *def, sn_error *err);
  /* In the body's frame.  def has passed check, here and below. */
  sn_inertia (*mass)(const sn_shape_def *def, const sni_mesh *mesh, double density);
  /* The smallest box around the shape along the axes of the frame in which the body has pose E. */
  sni_aabb (*bounds)(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E);
  /* Adds its surface as triangles, in the body's frame. */
  void (*surface)(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out);
  /* What others touch. */
  sni_solid (*solid)(const sn_shape_def *def);
} sni_shape_ops;

int sni_shape_kind_find(const char *keyword); /* -1: none */
int sni_shape_kind_count(void);
const sni_shape_ops *sni_shape_kind(int kind);

/* Everything that can be wrong with a definition by itself.  err->path: the key, relative to the
 * shape; the text does without it: "is -1, needs > 0". */
sn_status sni_shape_check(const sn_shape_def *def, sn_error *err);

/* For a definition that has passed the check.  mesh: its loaded file, NULL for kinds without.
 * Without a density the mass is 0.  E: identity for the box in the body's frame. */
sn_inertia sni_shape_mass(const sn_shape_def *def, const sni_mesh *mesh);
sni_aabb sni_shape_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E);

/* Likewise.  out begins as {0}. */
void sni_shape_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out);

sni_solid sni_shape_solid(const sn_shape_def *def);

/* ---- Shared by the files in shapes/ ---- */

sn_status sni_shape_positive(double value, const char *key, sn_error *err);
sn_status sni_shape_positive3(sn_vec3 value, const char *key, sn_error *err);

/* Cylinder and capsule: the line between from and to. */
typedef struct sni_segment {
  sn_vec3 middle, axis; /* axis: unit vector */
  double length;
} sni_segment;

sn_status sni_segment_check(const sn_shape_def *def, sn_error *err);
sni_segment sni_segment_calc(const sn_shape_def *def);

/* A solid of revolution about the segment's axis: moments along and across at the middle. */
sn_inertia sni_segment_inertia(sni_segment s, double mass, double along, double across);

/* A core along the segment. */
sni_solid sni_segment_solid(const sn_shape_def *def, sni_core core, double radius, double across);

/* Kinds that are their mesh. */
sn_status sni_shape_mesh_check(const sn_shape_def *def, sn_error *err);
sn_inertia sni_shape_mesh_mass(const sn_shape_def *def, const sni_mesh *mesh, double density);
sni_aabb sni_shape_mesh_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E);
void sni_shape_mesh_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out);

/* The box of half edges h about a centre. */
static inline sni_aabb sni_aabb_around(sn_vec3 centre, sn_vec3 h) {
  return (sni_aabb){sn_vec3_sub(centre, h), sn_vec3_add(centre, h)};
}
static inline sni_aabb sni_aabb_join(sni_aabb a, sni_aabb b) {
  return (sni_aabb){{fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z)},
                    {fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z)}};
}

#define SNI_FIELD_SHAPE_AT                                                                         \
  {                                                                                                \
    .key = "at", .type = SNI_F_POSE, .offset = offsetof(sn_shape_def, at), .unit = "m, rad",       \
    .doc = "pose of the shape in the body's frame"                                                 \
  }
#define SNI_FIELD_SHAPE_RADIUS                                                                     \
  {                                                                                                \
    .key = "radius", .type = SNI_F_NUMBER, .flags = SNI_REQUIRED | SNI_POSITIVE,                   \
    .offset = offsetof(sn_shape_def, radius), .unit = "m", .doc = "radius"                         \
  }
#define SNI_FIELD_SHAPE_MESH(text)                                                                 \
  {                                                                                                \
    .key = "file", .type = SNI_F_FILE, .flags = SNI_REQUIRED,                                      \
    .offset = offsetof(sn_shape_def, file), .doc = text                                            \
  }
#define SNI_FIELD_SHAPE_SCALE                                                                      \
  {                                                                                                \
    .key = "scale", .type = SNI_F_NUMBER, .flags = SNI_POSITIVE,                                   \
    .offset = offsetof(sn_shape_def, scale), .unit = "",                                           \
    .doc = "factor on all coordinates of the file"                                                 \
  }
#define SNI_FIELD_SHAPE_FROM                                                                       \
  {                                                                                                \
    .key = "from", .type = SNI_F_VEC3, .flags = SNI_REQUIRED,                                      \
    .offset = offsetof(sn_shape_def, from), .unit = "m",                                           \
    .doc = "one end of the axis, in the body's frame"                                              \
  }
#define SNI_FIELD_SHAPE_TO                                                                         \
  {                                                                                                \
    .key = "to", .type = SNI_F_VEC3, .flags = SNI_REQUIRED, .offset = offsetof(sn_shape_def, to),  \
    .unit = "m", .doc = "the other end of the axis"                                                \
  }

#endif
