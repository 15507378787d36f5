/* hull.c: the convex hull of points, one point after the other.
 *
 * The faces that a new point sees make way for those from their rim to it.  Points that are within
 * rounding of a face are taken to be on it, and left out. */
#include "model/mesh_file.h"

#include <stdlib.h>

#define ON_FACE 1e-10 /* of the size */

typedef struct hull_face {
  int v[3];
  int beside[3]; /* the face behind the edge from v[k] on */
  sn_vec3 n;     /* unit, outwards */
  double d;      /* n . x on it */
  bool gone;
} hull_face;

typedef struct hull {
  const sn_vec3 *x;
  hull_face *face;
  int nface, capacity;
  int first, last;
  bool out_of_memory;
} hull;

static int add_face(hull *h, int i, int j, int k) {
  hull_face *grown = sni_mesh_grow(h->face, h->nface, &h->capacity, sizeof *grown);
  if (!grown) {
    h->out_of_memory = true;
    return -1;
  }
  h->face = grown;
  const sn_vec3 a = h->x[i];
  sn_vec3 n = sn_vec3_cross(sn_vec3_sub(h->x[j], a), sn_vec3_sub(h->x[k], a));
  const double length = sn_vec3_norm(n);
  n = length > 0 ? sn_vec3_scale(n, 1 / length) : n;
  h->face[h->nface] = (hull_face){.v = {i, j, k}, .n = n, .d = sn_vec3_dot(n, a)};
  return h->nface++;
}

static double above(const hull *h, int face, int point) {
  return sn_vec3_dot(h->face[face].n, h->x[point]) - h->face[face].d;
}

static int edge_towards(const hull_face *f, int other) {
  return f->beside[0] == other ? 0 : f->beside[1] == other ? 1 : 2;
}

/* Arrives at face f over its edge e; the rim comes in order, as in a walk around it. */
static void pass(hull *h, int f, int e, int point, double rounding) {
  if (h->face[f].gone || h->out_of_memory) {
    return;
  }
  if (above(h, f, point) > rounding) {
    h->face[f].gone = true;
    for (int k = 1; k < 3; k++) {
      const int g = h->face[f].beside[(e + k) % 3];
      pass(h, g, edge_towards(&h->face[g], f), point, rounding);
    }
    return;
  }
  const int fresh = add_face(h, h->face[f].v[(e + 1) % 3], h->face[f].v[e], point);
  if (fresh < 0) {
    return;
  }
  h->face[fresh].beside[0] = f;
  h->face[f].beside[e] = fresh;
  if (h->last >= 0) {
    h->face[h->last].beside[1] = fresh;
    h->face[fresh].beside[2] = h->last;
  } else {
    h->first = fresh;
  }
  h->last = fresh;
}

static void add_point(hull *h, int point, double rounding) {
  int seen = -1;
  double most = rounding;
  for (int f = 0; f < h->nface; f++) {
    if (!h->face[f].gone && above(h, f, point) > most) {
      most = above(h, f, point);
      seen = f;
    }
  }
  if (seen < 0) {
    return;
  }
  h->first = h->last = -1;
  h->face[seen].gone = true;
  for (int k = 0; k < 3; k++) {
    const int g = h->face[seen].beside[k];
    pass(h, g, edge_towards(&h->face[g], seen), point, rounding);
  }
  if (h->first >= 0 && !h->out_of_memory) {
    h->face[h->last].beside[1] = h->first;
    h->face[h->first].beside[2] = h->last;
  }
}

/* The point that is furthest along d, or from the line or plane through others. */
static int furthest(const sn_vec3 *x, int n, sn_vec3 from, sn_vec3 d, bool both) {
  int best = 0;
  double most = -INFINITY;
  for (int k = 0; k < n; k++) {
    const double along = sn_vec3_dot(d, sn_vec3_sub(x[k], from));
    const double far = both ? fabs(along) : along;
    if (far > most) {
      most = far;
      best = k;
    }
  }
  return best;
}

static int furthest_from_line(const sn_vec3 *x, int n, sn_vec3 a, sn_vec3 e) {
  int best = 0;
  double most = -1;
  for (int k = 0; k < n; k++) {
    const sn_vec3 c = sn_vec3_cross(e, sn_vec3_sub(x[k], a));
    const double far = sn_vec3_dot(c, c);
    if (far > most) {
      most = far;
      best = k;
    }
  }
  return best;
}

/* The points of a mesh that encloses a volume have a tetrahedron. */
static void begin(hull *h, int n) {
  const int a = furthest(h->x, n, (sn_vec3){0, 0, 0}, (sn_vec3){1, 0, 0}, false);
  const int b = furthest(h->x, n, h->x[a], (sn_vec3){-1, 0, 0}, false);
  const sn_vec3 e = sn_vec3_sub(h->x[b], h->x[a]);
  const int c = furthest_from_line(h->x, n, h->x[a], e);
  const sn_vec3 m = sn_vec3_cross(e, sn_vec3_sub(h->x[c], h->x[a]));
  const int d = furthest(h->x, n, h->x[a], m, true);
  const bool up = sn_vec3_dot(m, sn_vec3_sub(h->x[d], h->x[a])) > 0;
  const int j = up ? c : b, k = up ? b : c;
  static const int beside[4][3] = {{3, 2, 1}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
  const int v[4][3] = {{a, j, k}, {a, k, d}, {k, j, d}, {j, a, d}};
  for (int f = 0; f < 4; f++) {
    const int fresh = add_face(h, v[f][0], v[f][1], v[f][2]);
    for (int i = 0; i < 3 && fresh >= 0; i++) {
      h->face[fresh].beside[i] = beside[f][i];
    }
  }
}

sn_status sni_mesh_hull(const char *name, const sni_mesh *of, sni_mesh **out, sn_error *err) {
  hull h = {.x = of->vertex};
  sni_mesh_parts parts = {.name = name};
  double size = 0;
  for (int k = 0; k < of->nvertex; k++) {
    size = fmax(size, sn_vec3_norm(of->vertex[k]));
  }
  begin(&h, of->nvertex);
  for (int k = 0; k < of->nvertex && !h.out_of_memory; k++) {
    add_point(&h, k, ON_FACE * size);
  }
  sn_status status = h.out_of_memory ? sni_mesh_no_memory(&parts, err) : SN_OK;
  for (int k = 0; k < of->nvertex && !status; k++) {
    const double x[3] = {of->vertex[k].x, of->vertex[k].y, of->vertex[k].z};
    status = sni_mesh_add_vertex(&parts, x, err);
  }
  for (int f = 0; f < h.nface && !status; f++) {
    const int *v = h.face[f].v;
    status = h.face[f].gone ? SN_OK : sni_mesh_add_triangle(&parts, v[0], v[1], v[2], err);
  }
  if (!status) {
    status = sni_mesh_finish(&parts, true, out, err);
  }
  free(h.face);
  free(parts.vertex);
  free(parts.triangle);
  return status;
}
