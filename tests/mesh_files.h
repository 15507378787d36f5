/* mesh_files.h: meshes from texts and files, and checks of their integrals. */
#ifndef TESTS_MESH_FILES_H
#define TESTS_MESH_FILES_H

#include "test.h"

#include "model/mass.h"

#define MESHES SINEW_SOURCE_DIR "/tests/data/meshes/"

/* Pieces of OBJ and STL. */
#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define FACET(a, b, c)                                                                             \
  "facet normal 0 0 0\nouter loop\nvertex " a "\nvertex " b "\nvertex " c "\nendloop\nendfacet\n"
#define O "0 0 0"
#define X "1 0 0"
#define Y "0 1 0"
#define Z "0 0 1"

/* A text that grows. */
typedef struct text {
  char *p;
  size_t n, capacity;
} text;

static inline void SN_PRINTF(2, 3) put(text *t, const char *format, ...) {
  if (t->capacity - t->n < 4096) {
    t->capacity = 2 * t->capacity + 8192;
    t->p = realloc(t->p, t->capacity);
    CHECK(t->p, "out of memory");
  }
  va_list args;
  va_start(args, format);
  t->n += (size_t)vsnprintf(t->p + t->n, 4096, format, args);
  va_end(args);
}

static inline sni_mesh *read_bytes(const char *name, const char *bytes, size_t n) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  const sn_status status = sni_mesh_read(name, bytes, n, &mesh, &err);
  CHECK(status == SN_OK && mesh, "%s: %s", name, err.text);
  return mesh;
}

static inline sni_mesh *read_text(const char *name, const char *bytes) {
  return read_bytes(name, bytes, strlen(bytes));
}

static inline sni_mesh *read_and_free(const char *name, text *t) {
  sni_mesh *mesh = read_bytes(name, t->p, t->n);
  free(t->p);
  *t = (text){0};
  return mesh;
}

static inline sni_mesh *load(const char *path) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  CHECK(sni_mesh_load(path, &mesh, &err) == SN_OK, "%s", err.text);
  return mesh;
}

static inline void check_near(double a, double b, double tolerance, const char *what) {
  CHECK(fabs(a - b) <= tolerance * fmax(1, fabs(b)), "%s: %.17g, expected %.17g", what, a, b);
}

static inline void check_inertia(sn_inertia a, sn_inertia b, double tolerance) {
  check_near(a.mass, b.mass, tolerance, "mass");
  check_near(a.com.x, b.com.x, tolerance, "com.x");
  check_near(a.com.y, b.com.y, tolerance, "com.y");
  check_near(a.com.z, b.com.z, tolerance, "com.z");
  check_near(a.xx, b.xx, tolerance, "xx");
  check_near(a.yy, b.yy, tolerance, "yy");
  check_near(a.zz, b.zz, tolerance, "zz");
  check_near(a.xy, b.xy, tolerance, "xy");
  check_near(a.xz, b.xz, tolerance, "xz");
  check_near(a.yz, b.yz, tolerance, "yz");
}

/* A block of a x b x c with its lowest corner at p. */
static inline sn_inertia block_inertia(sn_vec3 p, double a, double b, double c) {
  const double m = a * b * c;
  return (sn_inertia){.mass = m,
                      .com = {p.x + a / 2, p.y + b / 2, p.z + c / 2},
                      .xx = m * (b * b + c * c) / 12,
                      .yy = m * (c * c + a * a) / 12,
                      .zz = m * (a * a + b * b) / 12};
}

/* As OBJ, vertices from number `first` + 1 on. */
static inline void put_block(text *t, int first, sn_vec3 p, double a, double b, double c) {
  static const int face[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                 {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
  for (int k = 0; k < 8; k++) {
    put(t, "v %.17g %.17g %.17g\n", p.x + (k & 4 ? a : 0), p.y + (k & 2 ? b : 0),
        p.z + (k & 1 ? c : 0));
  }
  for (int k = 0; k < 6; k++) {
    const int *f = face[k];
    put(t, "f %d %d %d %d\n", first + f[0] + 1, first + f[1] + 1, first + f[2] + 1,
        first + f[3] + 1);
  }
}

static inline double area_of(const sni_mesh *mesh) {
  double area = 0;
  for (int k = 0; k < mesh->ntriangle; k++) {
    const int *v = mesh->triangle[k].v;
    const sn_vec3 a = mesh->vertex[v[0]];
    area += 0.5 * sn_vec3_norm(sn_vec3_cross(sn_vec3_sub(mesh->vertex[v[1]], a),
                                             sn_vec3_sub(mesh->vertex[v[2]], a)));
  }
  return area;
}

#endif
