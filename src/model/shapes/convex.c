/* shapes/convex.c: the convex hull of a mesh: what moves and touches others. */
#include "model/shape.h"

static sn_status convex_load(const sn_shape_def *def, sni_mesh **mesh, sn_error *err) {
  sni_mesh *file = NULL;
  sn_status status = sni_mesh_load(def->file, &file, err);
  if (!status) {
    status = sni_mesh_hull(def->file, file, mesh, err);
  }
  sni_mesh_free(&file);
  return status;
}

static sni_solid convex_solid(const sn_shape_def *def) {
  return (sni_solid){.core = SNI_CORE_HULL, .scale = def->scale, .at = def->at};
}

static const sni_field convex_field[] = {SNI_FIELD_SHAPE_AT,
                                         SNI_FIELD_SHAPE_MESH("OBJ or STL file with a closed mesh"),
                                         SNI_FIELD_SHAPE_SCALE};

const sni_shape_ops sni_shape_convex = {
    .kind = {"convex", "the convex hull of a closed triangle mesh, from a file", convex_field,
             SNI_COUNT(convex_field)},
    .has_at = true,
    .needs_mesh = true,
    .load = convex_load,
    .check = sni_shape_mesh_check,
    .mass = sni_shape_mesh_mass,
    .bounds = sni_shape_mesh_bounds,
    .surface = sni_shape_mesh_surface,
    .solid = convex_solid};
