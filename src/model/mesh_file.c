/* mesh_file.c: triangle meshes from OBJ and STL files.
 *
 * Both readers collect vertices and triangles as the file has them.  Then triangles without area by
 * their vertices are dropped, closedness is checked and the mesh is packed.
 *
 * STL has no shared vertices: corners at the same place, exactly, are one vertex.  In OBJ files
 * vertices are shared by number; only where that leaves the mesh open, corners at the same place
 * are joined as well, since exporters split vertices along seams of texture.  Not at once: two
 * closed parts that touch would become one that is not closed. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* stat, strncasecmp */
#endif
#include "model/mesh_file.h"

#include "base/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- What the readers collect ---------------------------------------------------------------- */

/* Counts stay far below INT_MAX: a file is at most SNI_MESH_FILE_MAX bytes. */
void *sni_mesh_grow(void *array, int count, int *capacity, size_t size) {
  if (count < *capacity) {
    return array;
  }
  const int more = 2 * *capacity + 64;
  void *moved = realloc(array, (size_t)more * size);
  if (moved) {
    *capacity = more;
  }
  return moved;
}

sn_status sni_mesh_no_memory(const sni_mesh_parts *parts, sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "%s: out of memory", parts->name);
}

sn_status sni_mesh_too_many(const sni_mesh_parts *parts, sn_error *err) {
  return sni_fail(err, SN_E_LIMIT, "%s: more than %d triangles", parts->name,
                  SNI_MESH_TRIANGLES_MAX);
}

sn_status sni_mesh_add_vertex(sni_mesh_parts *parts, const double x[3], sn_error *err) {
  sn_vec3 *vertex =
      sni_mesh_grow(parts->vertex, parts->nvertex, &parts->vertex_capacity, sizeof *vertex);
  if (!vertex) {
    return sni_mesh_no_memory(parts, err);
  }
  parts->vertex = vertex;
  parts->vertex[parts->nvertex++] = (sn_vec3){x[0], x[1], x[2]};
  return SN_OK;
}

sn_status sni_mesh_add_triangle(sni_mesh_parts *parts, int i, int j, int k, sn_error *err) {
  if (parts->ntriangle == SNI_MESH_TRIANGLES_MAX) {
    return sni_mesh_too_many(parts, err);
  }
  sni_triangle *triangle =
      sni_mesh_grow(parts->triangle, parts->ntriangle, &parts->triangle_capacity, sizeof *triangle);
  if (!triangle) {
    return sni_mesh_no_memory(parts, err);
  }
  parts->triangle = triangle;
  parts->triangle[parts->ntriangle++] = (sni_triangle){{i, j, k}};
  return SN_OK;
}

/* ---- Words and numbers ----------------------------------------------------------------------- */

sn_status sni_mesh_bad(const sni_mesh_cursor *c, sn_error *err, const char *format, ...) {
  char text[SN_ERROR_TEXT_MAX - 160];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return sni_fail(err, SN_E_SYNTAX, "%s line %d: %s", c->name, c->line, text);
}

bool sni_mesh_is_blank(char ch) {
  return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\v' || ch == '\f';
}

bool sni_mesh_line_goes_on(const char *p) {
  return *p == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'));
}

int sni_mesh_word_length(const sni_mesh_cursor *c) {
  const char *p = c->p;
  while (p < c->end && !sni_mesh_is_blank(*p) && *p != '\n' && !sni_mesh_line_goes_on(p)) {
    p++;
  }
  return (int)(p - c->p);
}

bool sni_mesh_word_is(const sni_mesh_cursor *c, const char *word) {
  const int n = sni_mesh_word_length(c);
  return n == (int)strlen(word) && strncasecmp(c->p, word, (size_t)n) == 0;
}

sni_mesh_quoted sni_mesh_quote(const sni_mesh_cursor *c) {
  sni_mesh_quoted q;
  const int n = sni_mesh_word_length(c), most = 20;
  if (n == 0) {
    snprintf(q.text, sizeof q.text, "%s",
             c->p < c->end ? "the end of the line" : "the end of the file");
    return q;
  }
  int k = 0;
  q.text[k++] = '\'';
  for (int i = 0; i < n && i < most; i++) {
    q.text[k++] = c->p[i] > ' ' && c->p[i] < 127 ? c->p[i] : '?';
  }
  snprintf(q.text + k, sizeof q.text - (size_t)k, "%s'", n > most ? "..." : "");
  return q;
}

sn_status sni_mesh_read_number(sni_mesh_cursor *c, double *out, sn_error *err) {
  double x = 0;
  const char *behind = sni_number_read(c->p, &x);
  if (behind != c->p + sni_mesh_word_length(c) || behind == c->p) {
    return sni_mesh_bad(c, err, "%s is not a number", sni_mesh_quote(c).text);
  }
  if (!(fabs(x) <= SNI_MESH_COORDINATE_MAX)) {
    return sni_mesh_bad(c, err, "%s is too large, needs at most %g", sni_mesh_quote(c).text,
                        SNI_MESH_COORDINATE_MAX);
  }
  c->p = behind;
  *out = x;
  return SN_OK;
}

void sni_mesh_skip_line(sni_mesh_cursor *c) {
  const char *newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
  c->p = newline ? newline + 1 : c->end;
  c->line++;
}

/* ---- From what was collected to a mesh ------------------------------------------------------- */

static uint64_t hash_place(sn_vec3 x) {
  uint64_t bits[3], h = 0;
  const double plus[3] = {x.x + 0.0, x.y + 0.0, x.z + 0.0}; /* -0 is 0 */
  memcpy(bits, plus, sizeof bits);
  for (int i = 0; i < 3; i++) {
    h = (h ^ bits[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  }
  return h;
}

/* Vertices at the same place become the first of them. */
static sn_status weld(sni_mesh_parts *parts, sn_error *err) {
  size_t slots = 64;
  while (slots < 2 * (size_t)parts->nvertex) {
    slots *= 2;
  }
  int *slot = malloc(slots * sizeof *slot),
      *first = malloc(((size_t)parts->nvertex + 1) * sizeof *first);
  if (!slot || !first) {
    free(slot);
    free(first);
    return sni_mesh_no_memory(parts, err);
  }
  memset(slot, 0xff, slots * sizeof *slot); /* -1: empty */
  for (int v = 0; v < parts->nvertex; v++) {
    const sn_vec3 x = parts->vertex[v];
    size_t k = (size_t)hash_place(x) & (slots - 1);
    for (; slot[k] >= 0; k = (k + 1) & (slots - 1)) {
      const sn_vec3 y = parts->vertex[slot[k]];
      if (x.x == y.x && x.y == y.y && x.z == y.z) {
        break;
      }
    }
    slot[k] = slot[k] >= 0 ? slot[k] : v;
    first[v] = slot[k];
  }
  for (int t = 0; t < parts->ntriangle; t++) {
    for (int i = 0; i < 3; i++) {
      parts->triangle[t].v[i] = first[parts->triangle[t].v[i]];
    }
  }
  free(slot);
  free(first);
  return SN_OK;
}

/* A triangle with the same vertex twice has no inside; its other two edges are one edge, there and
 * back, so that leaving it out closes the gap it leaves. */
static void drop_degenerate(sni_mesh_parts *parts) {
  int kept = 0;
  for (int t = 0; t < parts->ntriangle; t++) {
    const int *v = parts->triangle[t].v;
    if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0]) {
      parts->triangle[kept++] = parts->triangle[t];
    }
  }
  parts->ntriangle = kept;
}

static sn_status close_up(sni_mesh_parts *parts, bool shared, sn_error *err) {
  sn_status status = shared ? SN_OK : weld(parts, err);
  if (status) {
    return status;
  }
  drop_degenerate(parts);
  status = sni_mesh_check_closed(parts->name, parts->vertex, parts->nvertex, parts->triangle,
                                 parts->ntriangle, false, err);
  if (status == SN_E_VALUE && shared) {
    return close_up(parts, false, err);
  }
  if (status == SN_E_VALUE && parts->may_be_sheet) {
    parts->sheet = true;
    status = sni_mesh_check_closed(parts->name, parts->vertex, parts->nvertex, parts->triangle,
                                   parts->ntriangle, true, err);
  }
  return status;
}

/* One block, with only those vertices that are used. */
static sn_status pack(const sni_mesh_parts *parts, sni_mesh **out, sn_error *err) {
  int *number = calloc((size_t)parts->nvertex + 1, sizeof *number), nvertex = 0;
  if (!number) {
    return sni_mesh_no_memory(parts, err);
  }
  for (int t = 0; t < parts->ntriangle; t++) {
    for (int i = 0; i < 3; i++) {
      number[parts->triangle[t].v[i]] = 1;
    }
  }
  for (int v = 0; v < parts->nvertex; v++) {
    nvertex += number[v];
  }
  sni_mesh *mesh = malloc(sizeof *mesh + (size_t)nvertex * sizeof *mesh->vertex +
                          (size_t)parts->ntriangle * sizeof *mesh->triangle);
  if (!mesh) {
    free(number);
    return sni_mesh_no_memory(parts, err);
  }
  *mesh = (sni_mesh){.nvertex = nvertex, .ntriangle = parts->ntriangle};
  mesh->vertex = (sn_vec3 *)(mesh + 1);
  mesh->triangle = (sni_triangle *)(mesh->vertex + nvertex);
  for (int v = 0, k = 0; v < parts->nvertex; v++) {
    if (number[v]) {
      mesh->vertex[k] = parts->vertex[v];
      number[v] = k++;
    }
  }
  for (int t = 0; t < parts->ntriangle; t++) {
    for (int i = 0; i < 3; i++) {
      mesh->triangle[t].v[i] = number[parts->triangle[t].v[i]];
    }
  }
  free(number);
  *out = mesh;
  return SN_OK;
}

sn_status sni_mesh_finish(sni_mesh_parts *parts, bool shared, sni_mesh **out, sn_error *err) {
  if (parts->ntriangle == 0) {
    return sni_fail(err, SN_E_VALUE, "%s: the file has no faces", parts->name);
  }
  sni_mesh *mesh = NULL;
  sn_status status = close_up(parts, shared, err);
  if (status == SN_OK) {
    status = pack(parts, &mesh, err);
  }
  if (status == SN_OK && !parts->sheet) {
    status = sni_mesh_finish_solid(parts->name, mesh, err);
  }
  if (status) {
    sni_mesh_free(&mesh);
    return status;
  }
  *out = mesh;
  return SN_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define NAME_MAX_SHOWN 96

typedef struct format {
  const char *ending;
  bool shared; /* vertices are shared by number */
  sn_status (*read)(sni_mesh_parts *c, const char *text, size_t size, sn_error *err);
} format;

static const format formats[] = {{".obj", true, sni_mesh_read_obj},
                                 {".stl", false, sni_mesh_read_stl}};

static const format *find_format(const char *name) {
  const size_t n = strlen(name);
  for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
    const size_t m = strlen(formats[k].ending);
    if (n >= m && strcasecmp(name + n - m, formats[k].ending) == 0) {
      return &formats[k];
    }
  }
  return NULL;
}

/* The name without its folders, and its end if it is long. */
static const char *short_name(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  const size_t n = strlen(name);
  return n > NAME_MAX_SHOWN ? name + n - NAME_MAX_SHOWN : name;
}

static sn_status at_file(sn_status status, sn_error *err) {
  if (status && err) {
    snprintf(err->path, sizeof err->path, "file");
  }
  return status;
}

static sn_status check_name_and_size(const char *name, size_t size, sn_error *err) {
  if (!find_format(name)) {
    return sni_fail(err, SN_E_VALUE, "%s: not a mesh file by its name, needs .obj or .stl", name);
  }
  if (size > SNI_MESH_FILE_MAX) {
    return sni_fail(err, SN_E_LIMIT, "%s: file has %zu bytes, at most %zu are read", name, size,
                    SNI_MESH_FILE_MAX);
  }
  return SN_OK;
}

static sn_status read_mesh(const char *path, const char *text, size_t size, bool may_be_sheet,
                           sni_mesh **mesh, sn_error *err) {
  sni_mesh_parts c = {.name = short_name(path), .may_be_sheet = may_be_sheet};
  sn_status status = check_name_and_size(c.name, size, err);
  if (status == SN_OK) {
    const format *f = find_format(c.name);
    status = f->read(&c, text, size, err);
    if (status == SN_OK) {
      status = sni_mesh_finish(&c, f->shared, mesh, err);
    }
  }
  free(c.vertex);
  free(c.triangle);
  free(c.corner);
  return at_file(status, err);
}

sn_status sni_mesh_read(const char *path, const char *text, size_t size, sni_mesh **mesh,
                        sn_error *err) {
  return read_mesh(path, text, size, false, mesh, err);
}

/* The size is known before the bytes are read; a file that grows meanwhile is cut there. */
static sn_status read_file(const char *path, char **text, size_t *size, sn_error *err) {
  const char *name = short_name(path);
  struct stat info;
  if (stat(path, &info) != 0) {
    return sni_fail(err, SN_E_FILE, "%s: %s", name, strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return sni_fail(err, SN_E_FILE, "%s: is %s", name,
                    S_ISDIR(info.st_mode) ? "a directory" : "not a plain file");
  }
  const sn_status status = check_name_and_size(name, (size_t)info.st_size, err);
  if (status) {
    return status;
  }
  FILE *file = fopen(path, "rb");
  if (!file) {
    return sni_fail(err, SN_E_FILE, "%s: %s", name, strerror(errno));
  }
  *text = malloc((size_t)info.st_size + 1);
  if (!*text) {
    fclose(file);
    return sni_fail(err, SN_E_MEMORY, "%s: out of memory", name);
  }
  *size = fread(*text, 1, (size_t)info.st_size, file);
  (*text)[*size] = 0;
  const bool failed = ferror(file);
  fclose(file);
  return failed ? sni_fail(err, SN_E_FILE, "%s: %s", name, strerror(errno)) : SN_OK;
}

static sn_status load(const char *path, bool may_be_sheet, sni_mesh **mesh, sn_error *err) {
  char *text = NULL;
  size_t size = 0;
  sn_status status = read_file(path, &text, &size, err);
  if (status == SN_OK) {
    status = read_mesh(path, text, size, may_be_sheet, mesh, err);
  }
  free(text);
  return at_file(status, err);
}

sn_status sni_mesh_load(const char *path, sni_mesh **mesh, sn_error *err) {
  return load(path, false, mesh, err);
}

sn_status sni_mesh_load_sheet(const char *path, sni_mesh **mesh, sn_error *err) {
  return load(path, true, mesh, err);
}

void sni_mesh_free(sni_mesh **mesh) {
  free(*mesh);
  *mesh = NULL;
}
