/* shapes/mesh.c: the solid inside a closed triangle mesh.
 *
 * With a point o near the mesh, each triangle (a, b, c), seen from o, spans a tetrahedron whose
 * signed volume is d / 6, d = a . ((b - a) x (c - a)).  What lies outside cancels, and with
 * s = a + b + c the integrals over the solid are exact:
 *
 *     volume     sum d / 6
 *     of x       sum d s / 24
 *     of x x^T   sum d (a a^T + b b^T + c c^T + s s^T) / 120
 *
 * Far from the origin these would be small differences of large numbers; hence o is the middle of
 * the mesh's bounding box.  Sums are compensated, so that a fine mesh is as accurate as a coarse
 * one. */
#include "model/shape.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Closedness ------------------------------------------------------------------------------ */

/* Edges are listed at the smaller of their two vertices, as 2 * (the other one) + direction: 0 is
 * away from the smaller one. */
typedef struct edge_list {
  int *first;      /* nvertex + 1: where the list of each vertex begins */
  uint32_t *other; /* 3 ntriangle                                       */
} edge_list;

/* The first fault of one sort, and how many there are. */
typedef struct edge_fault {
  int a, b;
  int faces;
  int count;
} edge_fault;

static int compare(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* A counting sort by the smaller vertex. */
static void list_edges(edge_list e, int nvertex, const sni_triangle *triangle, int ntriangle) {
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < 3 * ntriangle; k++) {
      const int *v = triangle[k / 3].v;
      const int from = v[k % 3], to = v[(k + 1) % 3];
      const int small = from < to ? from : to, large = from < to ? to : from;
      if (pass == 0) {
        e.first[small]++;
      } else {
        e.other[--e.first[small]] = 2 * (uint32_t)large + (from > to);
      }
    }
    if (pass == 0) { /* now first[v] = the end of the list of v; the second pass counts down */
      for (int v = 1; v <= nvertex; v++) {
        e.first[v] += e.first[v - 1];
      }
    }
  }
}

static void note(edge_fault *fault, int a, int b, int faces) {
  if (fault->count++ == 0) {
    fault->a = a;
    fault->b = b;
    fault->faces = faces;
  }
}

/* sheet: edges of one face only are its border. */
static void find_faults(edge_list e, int nvertex, bool sheet, edge_fault *open,
                        edge_fault *twisted) {
  for (int a = 0; a < nvertex; a++) {
    uint32_t *other = e.other + e.first[a];
    const int count = e.first[a + 1] - e.first[a];
    qsort(other, (size_t)count, sizeof *other, compare);
    for (int k = 0; k < count;) {
      const int b = (int)(other[k] / 2);
      int along[2] = {0, 0};
      for (; k < count && (int)(other[k] / 2) == b; k++) {
        along[other[k] % 2]++;
      }
      const int faces = along[0] + along[1];
      if (faces != 2 && !(sheet && faces == 1)) {
        note(open, a, b, faces);
      } else if (faces == 2 && along[0] != 1) {
        note(twisted, a, b, 2);
      }
    }
  }
}

static sn_status report(const char *name, const sn_vec3 *vertex, edge_fault open,
                        edge_fault twisted, sn_error *err) {
  const edge_fault fault = open.count ? open : twisted;
  if (fault.count == 0) {
    return SN_OK;
  }
  char what[96] = "is passed by both its faces in the same direction: one is inside out";
  if (open.count) {
    snprintf(what, sizeof what, "belongs to %d face%s, needs 2", open.faces,
             open.faces == 1 ? "" : "s");
  }
  const sn_vec3 a = vertex[fault.a], b = vertex[fault.b];
  return sni_fail(err, SN_E_VALUE,
                  "%s: edge between vertices %d (%g, %g, %g) and %d (%g, %g, %g) %s; %d such "
                  "edge%s",
                  name, fault.a + 1, a.x, a.y, a.z, fault.b + 1, b.x, b.y, b.z, what, fault.count,
                  fault.count == 1 ? "" : "s");
}

sn_status sni_mesh_check_closed(const char *name, const sn_vec3 *vertex, int nvertex,
                                const sni_triangle *triangle, int ntriangle, bool sheet,
                                sn_error *err) {
  const edge_list e = {.first = calloc((size_t)nvertex + 1, sizeof *e.first),
                       .other = malloc((3 * (size_t)ntriangle + 1) * sizeof *e.other)};
  sn_status status = SN_E_MEMORY;
  if (e.first && e.other) {
    edge_fault open = {0}, twisted = {0};
    list_edges(e, nvertex, triangle, ntriangle);
    find_faults(e, nvertex, sheet, &open, &twisted);
    status = report(name, vertex, open, twisted, err);
  } else {
    sni_fail(err, status, "%s: out of memory", name);
  }
  free(e.first);
  free(e.other);
  return status;
}

/* ---- Volume integrals ------------------------------------------------------------------------ */

/* A sum that keeps what rounding takes away (Neumaier). */
typedef struct exact_sum {
  double sum, rest;
} exact_sum;

static void add(exact_sum *s, double x) {
  const double t = s->sum + x;
  s->rest += fabs(s->sum) >= fabs(x) ? (s->sum - t) + x : (x - t) + s->sum;
  s->sum = t;
}

static double total(exact_sum s) {
  return s.sum + s.rest;
}

static sni_aabb box_of(const sn_vec3 *vertex, int nvertex) {
  sni_aabb box = {vertex[0], vertex[0]};
  for (int v = 1; v < nvertex; v++) {
    box = sni_aabb_join(box, (sni_aabb){vertex[v], vertex[v]});
  }
  return box;
}

typedef struct volume_sums {
  exact_sum d, s[3], xx[6]; /* xx: the entries 00, 11, 22, 01, 02, 12 */
  double area;              /* only a scale: plain sum                */
} volume_sums;

static void add_triangle(volume_sums *sums, sn_vec3 a, sn_vec3 b, sn_vec3 c) {
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
  const double d = sn_vec3_dot(a, n);
  const sn_vec3 s = sn_vec3_add(a, sn_vec3_add(b, c));
  sums->area += 0.5 * sn_vec3_norm(n);
  add(&sums->d, d);
  add(&sums->s[0], d * s.x);
  add(&sums->s[1], d * s.y);
  add(&sums->s[2], d * s.z);
  add(&sums->xx[0], d * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x));
  add(&sums->xx[1], d * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y));
  add(&sums->xx[2], d * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z));
  add(&sums->xx[3], d * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y));
  add(&sums->xx[4], d * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z));
  add(&sums->xx[5], d * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z));
}

/* The solid from its integrals about o; all signs turn together when the mesh is inside out. */
static sn_inertia solid_of(const volume_sums *sums, sn_vec3 o) {
  const double sign = total(sums->d) < 0 ? -1 : 1;
  const double V = sign * total(sums->d) / 6;
  const sn_vec3 c = {sign * total(sums->s[0]) / (24 * V), sign * total(sums->s[1]) / (24 * V),
                     sign * total(sums->s[2]) / (24 * V)};
  double xx[6];
  const double shift[6] = {c.x * c.x, c.y * c.y, c.z * c.z, c.x * c.y, c.x * c.z, c.y * c.z};
  for (int i = 0; i < 6; i++) {
    xx[i] = sign * total(sums->xx[i]) / 120 - V * shift[i];
  }
  return (sn_inertia){.mass = V,
                      .com = sn_vec3_add(o, c),
                      .xx = xx[1] + xx[2],
                      .yy = xx[0] + xx[2],
                      .zz = xx[0] + xx[1],
                      .xy = -xx[3],
                      .xz = -xx[4],
                      .yz = -xx[5]};
}

/* Rounding leaves about 1e-16 area * size in the volume of a flat mesh.  A plate of side L and
 * thickness 2e-12 L is the thinnest that is let through. */
#define FLAT 1e-12

sn_status sni_mesh_finish_solid(const char *name, sni_mesh *mesh, sn_error *err) {
  volume_sums sums = {0};
  sn_vec3 o = {0};
  double size = 0;
  if (mesh->nvertex > 0) {
    const sni_aabb box = box_of(mesh->vertex, mesh->nvertex);
    o = sn_vec3_scale(sn_vec3_add(box.lo, box.hi), 0.5);
    size = sn_vec3_norm(sn_vec3_sub(box.hi, box.lo));
  }
  for (int k = 0; k < mesh->ntriangle; k++) {
    const int *v = mesh->triangle[k].v;
    add_triangle(&sums, sn_vec3_sub(mesh->vertex[v[0]], o), sn_vec3_sub(mesh->vertex[v[1]], o),
                 sn_vec3_sub(mesh->vertex[v[2]], o));
  }
  const double volume = total(sums.d) / 6;
  if (!(fabs(volume) > FLAT * sums.area * size)) {
    return sni_fail(err, SN_E_VALUE, "%s: the mesh encloses no volume", name);
  }
  mesh->solid = solid_of(&sums, o);
  mesh->inside_out = volume < 0;
  for (int k = 0; mesh->inside_out && k < mesh->ntriangle; k++) {
    int *v = mesh->triangle[k].v;
    const int swap = v[1];
    v[1] = v[2];
    v[2] = swap;
  }
  return SN_OK;
}

/* ---- The kind -------------------------------------------------------------------------------- */

sn_status sni_shape_mesh_check(const sn_shape_def *def, sn_error *err) {
  if (!def->file || !def->file[0]) {
    return sni_fail_key(err, "file", "is missing, needs the path of an OBJ or STL file");
  }
  return sni_shape_positive(def->scale, "scale", err);
}

sn_inertia sni_shape_mesh_mass(const sn_shape_def *def, const sni_mesh *mesh, double density) {
  const double k = def->scale, mass = density * k * k * k;
  const sn_mat3 T = sn_mat3_scale(sn_inertia_tensor(mesh->solid), mass * k * k);
  const sn_inertia I =
      sn_inertia_make(mass * mesh->solid.mass, sn_vec3_scale(mesh->solid.com, k), T);
  return sn_inertia_transform(def->at, I);
}

sni_aabb sni_shape_mesh_bounds(const sn_shape_def *def, const sni_mesh *mesh, sn_se3 E) {
  sn_se3 at = sn_se3_mul(E, def->at);
  at.R = sn_mat3_scale(at.R, def->scale);
  const sn_vec3 p = sn_se3_point(at, mesh->vertex[0]);
  sni_aabb box = {p, p};
  for (int v = 1; v < mesh->nvertex; v++) {
    const sn_vec3 x = sn_se3_point(at, mesh->vertex[v]);
    box = sni_aabb_join(box, (sni_aabb){x, x});
  }
  return box;
}

/* Flat triangles: the file's edges are meant. */
void sni_shape_mesh_surface(const sn_shape_def *def, const sni_mesh *mesh, sni_surface *out) {
  for (int v = 0; v < mesh->nvertex; v++) {
    sni_surface_vertex(out, sn_se3_point(def->at, sn_vec3_scale(mesh->vertex[v], def->scale)),
                       (sn_vec3){0});
  }
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int *v = mesh->triangle[t].v;
    sni_surface_triangle(out, (uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]);
  }
}

static sni_solid mesh_solid(const sn_shape_def *def) {
  return (sni_solid){.form = SNI_FORM_TRIANGLES, .scale = def->scale, .at = def->at};
}

static sn_status mesh_load(const sn_shape_def *def, sni_mesh **mesh, sn_error *err) {
  return def->density < 0 ? sni_mesh_load_sheet(def->file, mesh, err)
                          : sni_mesh_load(def->file, mesh, err);
}

static const sni_field mesh_field[] = {
    SNI_FIELD_SHAPE_AT,
    SNI_FIELD_SHAPE_MESH("OBJ or STL file with a mesh; closed, if it has a "
                         "density"),
    SNI_FIELD_SHAPE_SCALE};

const sni_shape_ops sni_shape_mesh = {
    .kind = {"mesh",
             "the solid inside a closed triangle mesh, from a file; without density also a sheet",
             mesh_field, SNI_COUNT(mesh_field)},
    .has_at = true,
    .needs_mesh = true,
    .load = mesh_load,
    .check = sni_shape_mesh_check,
    .mass = sni_shape_mesh_mass,
    .bounds = sni_shape_mesh_bounds,
    .surface = sni_shape_mesh_surface,
    .solid = mesh_solid};
