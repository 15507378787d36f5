/* shapes/mesh_obj.c: meshes from Wavefront OBJ files.
 *
 * Of the format, `v x y z` and `f` with three or more corners are read, with negative indices and
 * backslashes that continue a line; everything else is skipped.
 *
 * Faces become triangles: fans from their first corner where that lies right (convex faces), else
 * by cutting off ears.  For a flat face any cut gives the same volume integrals, so this matters to
 * those who draw and collide. */
#include "model/mesh_file.h"

#include <stdint.h>

static bool is_digit(char ch) {
  return ch >= '0' && ch <= '9';
}

static sn_status add_corner(sni_mesh_parts *parts, int v, sn_error *err) {
  if (parts->ncorner == SNI_MESH_TRIANGLES_MAX + 2) {
    return sni_mesh_too_many(parts, err);
  }
  int *corner =
      sni_mesh_grow(parts->corner, parts->ncorner, &parts->corner_capacity, sizeof *corner);
  if (!corner) {
    return sni_mesh_no_memory(parts, err);
  }
  parts->corner = corner;
  parts->corner[parts->ncorner++] = v;
  return SN_OK;
}

/* ---- Faces of any number of corners ---------------------------------------------------------- */

/* Twice the area of the triangle (a, b, c), negative when it runs clockwise. */
static double turn(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Twice the area of a polygon, as a vector (Newell): right for concave ones too, and nearly right
 * for those that are not quite flat. */
static sn_vec3 polygon_normal(const sni_mesh_parts *parts) {
  const sn_vec3 o = parts->vertex[parts->corner[0]];
  sn_vec3 n = {0};
  for (int k = 1; k + 1 < parts->ncorner; k++) {
    const sn_vec3 a = sn_vec3_sub(parts->vertex[parts->corner[k]], o);
    const sn_vec3 b = sn_vec3_sub(parts->vertex[parts->corner[k + 1]], o);
    n = sn_vec3_add(n, sn_vec3_cross(a, b));
  }
  return n;
}

/* No triangle of the fan from the first corner lies the wrong way round, rounding apart: corners in
 * line with the first one give triangles without area. */
static bool fan_is_right(const sni_mesh_parts *parts, sn_vec3 normal) {
  const sn_vec3 o = parts->vertex[parts->corner[0]];
  const double least = -1e-12 * sn_vec3_dot(normal, normal);
  for (int k = 1; k + 1 < parts->ncorner; k++) {
    const sn_vec3 a = sn_vec3_sub(parts->vertex[parts->corner[k]], o);
    const sn_vec3 b = sn_vec3_sub(parts->vertex[parts->corner[k + 1]], o);
    if (sn_vec3_dot(sn_vec3_cross(a, b), normal) < least) {
      return false;
    }
  }
  return true;
}

static sn_status add_fan(sni_mesh_parts *parts, sn_error *err) {
  sn_status status = SN_OK;
  for (int k = 1; k + 1 < parts->ncorner && status == SN_OK; k++) {
    status =
        sni_mesh_add_triangle(parts, parts->corner[0], parts->corner[k], parts->corner[k + 1], err);
  }
  return status;
}

/* What is left of a concave face: a ring of corners in the plane. */
typedef struct ring {
  double flat; /* a turn below this is rounding */
  double at[SNI_MESH_CONCAVE_MAX][2];
  int prev[SNI_MESH_CONCAVE_MAX], next[SNI_MESH_CONCAVE_MAX];
  bool ear[SNI_MESH_CONCAVE_MAX];
} ring;

/* Dropping the coordinate along which the normal is longest; the others in the order that keeps
 * the polygon counterclockwise. */
static void ring_fill(ring *r, const sni_mesh_parts *parts, sn_vec3 n) {
  r->flat = 1e-12 * sn_vec3_norm(n);
  const double length[3] = {fabs(n.x), fabs(n.y), fabs(n.z)};
  int drop = length[1] > length[0] ? 1 : 0;
  drop = length[2] > length[drop] ? 2 : drop;
  const bool positive = sn_vec3_get(n, drop) > 0;
  const int u = (drop + (positive ? 1 : 2)) % 3, v = (drop + (positive ? 2 : 1)) % 3;
  for (int k = 0; k < parts->ncorner; k++) {
    r->at[k][0] = sn_vec3_get(parts->vertex[parts->corner[k]], u);
    r->at[k][1] = sn_vec3_get(parts->vertex[parts->corner[k]], v);
    r->prev[k] = k > 0 ? k - 1 : parts->ncorner - 1;
    r->next[k] = k + 1 < parts->ncorner ? k + 1 : 0;
  }
}

static bool same_place(const double *a, const double *b) {
  return a[0] == b[0] && a[1] == b[1];
}

static double ring_turn(const ring *r, int k) {
  return turn(r->at[r->prev[k]], r->at[k], r->at[r->next[k]]);
}

/* The triangle at corner k can be cut off: it is convex there and nothing of the rest is in it or
 * on its border. */
static bool ring_is_ear(const ring *r, int k) {
  if (!(ring_turn(r, k) > r->flat)) {
    return false;
  }
  const double *a = r->at[r->prev[k]], *b = r->at[k], *c = r->at[r->next[k]];
  for (int i = r->next[r->next[k]]; i != r->prev[k]; i = r->next[i]) {
    const double *p = r->at[i];
    if (turn(a, b, p) >= -r->flat && turn(b, c, p) >= -r->flat && turn(c, a, p) >= -r->flat &&
        !same_place(p, a) && !same_place(p, b) && !same_place(p, c)) {
      return false;
    }
  }
  return true;
}

/* The next ear from corner k on.  Where there is none, only corners in line are left, or the face
 * crosses itself: then the corner with the least area goes.  The mesh stays as closed as it was. */
static int ring_choose(const ring *r, int k, int left) {
  int flattest = k;
  for (int tried = 0; tried < left; tried++, k = r->next[k]) {
    if (r->ear[k]) {
      return k;
    }
    flattest = fabs(ring_turn(r, k)) < fabs(ring_turn(r, flattest)) ? k : flattest;
  }
  return flattest;
}

/* Cuts off one corner after the other until a triangle is left. */
static sn_status add_ears(sni_mesh_parts *parts, sn_vec3 normal, sn_error *err) {
  ring r;
  ring_fill(&r, parts, normal);
  for (int k = 0; k < parts->ncorner; k++) {
    r.ear[k] = ring_is_ear(&r, k);
  }
  int k = 0;
  for (int left = parts->ncorner; left >= 3; left--) {
    k = ring_choose(&r, k, left);
    const int a = r.prev[k], b = r.next[k];
    const sn_status status =
        sni_mesh_add_triangle(parts, parts->corner[a], parts->corner[k], parts->corner[b], err);
    if (status) {
      return status;
    }
    r.next[a] = b;
    r.prev[b] = a;
    r.ear[a] = ring_is_ear(&r, a);
    r.ear[b] = ring_is_ear(&r, b);
    k = b;
  }
  return SN_OK;
}

static sn_status add_face(sni_mesh_parts *parts, const sni_mesh_cursor *at, sn_error *err) {
  if (parts->ncorner < 3) {
    return sni_mesh_bad(at, err, "face has %d corner%s, needs at least 3", parts->ncorner,
                        parts->ncorner == 1 ? "" : "s");
  }
  const sn_vec3 normal = polygon_normal(parts);
  if (fan_is_right(parts, normal)) {
    return add_fan(parts, err);
  }
  if (parts->ncorner > SNI_MESH_CONCAVE_MAX) {
    return sni_mesh_bad(at, err, "face has %d corners and is not convex; such a face may have %d",
                        parts->ncorner, SNI_MESH_CONCAVE_MAX);
  }
  return add_ears(parts, normal, err);
}

/* ---- OBJ ------------------------------------------------------------------------------------- */

/* To the next word of a statement, over the line's end where a backslash stands before it.  Returns
 * false at the end of the statement. */
static bool obj_next(sni_mesh_cursor *c) {
  for (;; c->p++) {
    if (sni_mesh_line_goes_on(c->p)) {
      c->p += c->p[1] == '\n' ? 1 : 2;
      c->line++;
    } else if (!sni_mesh_is_blank(*c->p)) {
      return c->p < c->end && *c->p != '\n' && *c->p != '#';
    }
  }
}

/* Weights and colours behind the coordinates are skipped. */
static sn_status obj_vertex(sni_mesh_parts *parts, sni_mesh_cursor *at, sn_error *err) {
  double x[3];
  for (int i = 0; i < 3; i++) {
    if (!obj_next(at)) {
      return sni_mesh_bad(at, err, "vertex has %d coordinate%s, needs 3", i, i == 1 ? "" : "s");
    }
    const sn_status status = sni_mesh_read_number(at, &x[i], err);
    if (status) {
      return status;
    }
  }
  return sni_mesh_add_vertex(parts, x, err);
}

/* 7, 7/1, 7//3, 7/1/3: the first number counts.  `seen` vertices stand before this face. */
static sn_status obj_corner(const sni_mesh_parts *parts, sni_mesh_cursor *at, int seen, int *v,
                            sn_error *err) {
  const char *p = at->p, *end = at->p + sni_mesh_word_length(at);
  const bool negative = *p == '-';
  p += negative;
  long long number = 0;
  const char *digits = p;
  for (; is_digit(*p); p++) {
    number = number < INT32_MAX ? 10 * number + (*p - '0') : number;
  }
  bool right = p > digits && (p == end || *p == '/');
  for (; p < end && right; p++) { /* what follows is about texture and normals */
    right = is_digit(*p) || *p == '/' || *p == '-';
  }
  if (!right) {
    return sni_mesh_bad(at, err,
                        "%s is not a corner of a face, needs a form like 7, 7/1, 7//3 or 7/1/3",
                        sni_mesh_quote(at).text);
  }
  if (number == 0) {
    return sni_mesh_bad(at, err, "face refers to vertex 0, vertices count from 1");
  }
  if (negative && number > seen) {
    return sni_mesh_bad(at, err, "face refers to vertex -%lld, %d stand before it", number, seen);
  }
  if (!negative && number > parts->nvertex) {
    return sni_mesh_bad(at, err, "face refers to vertex %lld, file has %d", number, parts->nvertex);
  }
  *v = (int)(negative ? seen - number : number - 1);
  at->p = end;
  return SN_OK;
}

static sn_status obj_face(sni_mesh_parts *parts, sni_mesh_cursor *at, int seen, sn_error *err) {
  parts->ncorner = 0;
  while (obj_next(at)) {
    int v = 0;
    sn_status status = obj_corner(parts, at, seen, &v, err);
    if (status == SN_OK) {
      status = add_corner(parts, v, err);
    }
    if (status) {
      return status;
    }
  }
  return add_face(parts, at, err);
}

/* First all vertices, then all faces: a face may refer to vertices that come behind it.  Other
 * statements are skipped; so is a backslash at their end, which may be part of a file name. */
sn_status sni_mesh_read_obj(sni_mesh_parts *parts, const char *text, size_t size, sn_error *err) {
  for (int pass = 0; pass < 2; pass++) {
    sni_mesh_cursor at = {.p = text, .end = text + size, .line = 1, .name = parts->name};
    int seen = 0;
    while (at.p < at.end) {
      sn_status status = SN_OK;
      if (obj_next(&at)) {
        const bool is_vertex = sni_mesh_word_is(&at, "v"), is_face = sni_mesh_word_is(&at, "f");
        at.p += is_vertex || is_face;
        seen += is_vertex;
        if (is_vertex && pass == 0) {
          status = obj_vertex(parts, &at, err);
        } else if (is_face && pass == 1) {
          status = obj_face(parts, &at, seen, err);
        }
      }
      if (status) {
        return status;
      }
      sni_mesh_skip_line(&at);
    }
  }
  return SN_OK;
}
