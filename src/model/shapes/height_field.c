/* shapes/height_field.c: ground by its heights over a grid, from a table.
 *
 * Columns of the table go along x, rows along y, over a rectangle about the origin; each cell is
 * two triangles.  It is a solid with upright sides and a flat bottom, a twentieth of its longer
 * edge below the lowest height. */
#include "base/csv.h"
#include "model/shape.h"

#include <stdlib.h>

#define BOTTOM 0.05

typedef struct field {
  const sni_csv *csv;
  sni_mesh_parts parts;
  sn_vec3 size;
  double bottom;
  int rim; /* vertices around it */
} field;

static double height(const field *f, int row, int column) {
  return f->size.z * f->csv->column[column][row];
}

static sn_vec3 point(const field *f, int row, int column) {
  return (sn_vec3){f->size.x * ((double)column / (f->csv->ncol - 1) - 0.5),
                   f->size.y * ((double)row / (f->csv->nrow - 1) - 0.5), height(f, row, column)};
}

/* The k-th place around the rim, counterclockwise from above. */
static int rim_place(const field *f, int k) {
  const int nc = f->csv->ncol, nr = f->csv->nrow;
  const int row = k < nc - 1            ? 0
                  : k < nc + nr - 2     ? k - (nc - 1)
                  : k < 2 * nc + nr - 3 ? nr - 1
                                        : f->rim - k;
  const int column = k < nc - 1            ? k
                     : k < nc + nr - 2     ? nc - 1
                     : k < 2 * nc + nr - 3 ? 2 * nc + nr - 3 - k
                                           : 0;
  return row * nc + column;
}

static sn_status add_vertices(field *f, sn_error *err) {
  const int nc = f->csv->ncol, n = nc * f->csv->nrow;
  sn_status status = SN_OK;
  for (int k = 0; k < n && !status; k++) {
    const sn_vec3 p = point(f, k / nc, k % nc);
    f->bottom = fmin(f->bottom, p.z);
    status = sni_mesh_add_vertex(&f->parts, (double[]){p.x, p.y, p.z}, err);
  }
  f->bottom -= BOTTOM * fmax(f->size.x, f->size.y);
  for (int k = 0; k < f->rim && !status; k++) {
    const sn_vec3 p = f->parts.vertex[rim_place(f, k)];
    status = sni_mesh_add_vertex(&f->parts, (double[]){p.x, p.y, f->bottom}, err);
  }
  return status ? status : sni_mesh_add_vertex(&f->parts, (double[]){0, 0, f->bottom}, err);
}

static sn_status add_quad(field *f, int a, int b, int c, int d, sn_error *err) {
  const sn_status status = sni_mesh_add_triangle(&f->parts, a, b, c, err);
  return status ? status : sni_mesh_add_triangle(&f->parts, a, c, d, err);
}

static sn_status add_triangles(field *f, sn_error *err) {
  const int nc = f->csv->ncol, nr = f->csv->nrow, below = nc * nr, middle = below + f->rim;
  sn_status status = SN_OK;
  for (int k = 0; k < (nc - 1) * (nr - 1) && !status; k++) {
    const int a = (k / (nc - 1)) * nc + k % (nc - 1);
    status = add_quad(f, a, a + 1, a + nc + 1, a + nc, err);
  }
  for (int k = 0; k < f->rim && !status; k++) {
    const int next = (k + 1) % f->rim;
    status = add_quad(f, below + k, below + next, rim_place(f, next), rim_place(f, k), err);
    if (!status) {
      status = sni_mesh_add_triangle(&f->parts, middle, below + next, below + k, err);
    }
  }
  return status;
}

static sn_status height_field_load(const sn_shape_def *def, sni_mesh **mesh, sn_error *err) {
  sni_csv *csv = NULL;
  sn_status status = sni_csv_read_grid(def->file, &csv, err);
  if (!status && (csv->ncol < 2 || csv->nrow < 2)) {
    status = sni_fail_key(err, "file", "has %d columns and %d rows, needs at least two of each",
                          csv->ncol, csv->nrow);
  }
  if (!status) {
    field f = {.csv = csv,
               .parts = {.name = "heights"},
               .size = def->size,
               .bottom = INFINITY,
               .rim = 2 * (csv->ncol + csv->nrow) - 4};
    status = add_vertices(&f, err);
    if (!status) {
      status = add_triangles(&f, err);
    }
    if (!status) {
      status = sni_mesh_finish(&f.parts, true, mesh, err);
    }
    free(f.parts.vertex);
    free(f.parts.triangle);
  }
  sni_csv_free(&csv);
  return status;
}

static sn_status height_field_check(const sn_shape_def *def, sn_error *err) {
  if (!def->file || !def->file[0]) {
    return sni_fail_key(err, "file", "is missing, needs the path of a CSV file");
  }
  return sni_shape_positive3(def->size, "size", err);
}

static sni_solid height_field_solid(const sn_shape_def *def) {
  return (sni_solid){.form = SNI_FORM_TRIANGLES, .scale = 1, .at = def->at};
}

static const sni_field height_field_field[] = {
    SNI_FIELD_SHAPE_AT,
    SNI_FIELD_SHAPE_MESH(
        "CSV file of heights: columns along x, rows along y; a first line of names may be missing"),
    {.key = "size",
     .type = SNI_F_VEC3,
     .flags = SNI_REQUIRED | SNI_POSITIVE,
     .offset = offsetof(sn_shape_def, size),
     .unit = "m",
     .doc = "edges along x and y, and the factor on the heights"}};

const sni_shape_ops sni_shape_height_field = {
    .kind = {"height_field", "ground by its heights over a grid, from a file", height_field_field,
             SNI_COUNT(height_field_field)},
    .has_at = true,
    .needs_mesh = true,
    .load = height_field_load,
    .check = height_field_check,
    .mass = sni_shape_mesh_mass,
    .bounds = sni_shape_mesh_bounds,
    .surface = sni_shape_mesh_surface,
    .solid = height_field_solid};
