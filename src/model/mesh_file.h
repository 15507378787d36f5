/* mesh_file.h: closed triangle meshes, and the files that they come from: OBJ, and STL in text and
 * in binary.
 *
 * A mesh that is loaded is closed: each edge belongs to two triangles that pass it in opposite
 * directions.  So it has an inside, and mass, centre and inertia are exact sums over triangles. */
#ifndef SNI_MESH_FILE_H
#define SNI_MESH_FILE_H

#include "base/error.h"
#include "math/inertia.h"

#define SNI_MESH_FILE_MAX       ((size_t)256 << 20) /* bytes                              */
#define SNI_MESH_TRIANGLES_MAX  20000000
#define SNI_MESH_COORDINATE_MAX 1e50 /* fifth powers of coordinates must not overflow     */
#define SNI_MESH_CONCAVE_MAX                                                                       \
  1024 /* corners of a face that is not convex: its cutting                                        \
          into triangles takes time quadratic in them      */

typedef struct sni_triangle {
  int v[3]; /* vertices, counterclockwise seen from outside */
} sni_triangle;

/* One allocation.  Vertices are those that triangles use, in the order of the file. */
typedef struct sni_mesh {
  int nvertex, ntriangle;
  sn_vec3 *vertex;
  sni_triangle *triangle;
  sn_inertia solid; /* filled with density 1, in the frame of the file             */
  bool inside_out;  /* the file had all triangles clockwise; here they are turned  */
} sni_mesh;

/* Loads a file; its name ends in .obj or .stl, which decides the format.  On failure *mesh is
 * untouched, err->path is "file" and the text has the file's name without its folders, and the line
 * where there are lines: "gear.obj line 12: face refers to vertex 99, file has 24". */
sn_status sni_mesh_load(const char *path, sni_mesh **mesh, sn_error *err);
/* The same, but it may have borders: then it is no solid, and is seen from where its triangles run
 * counterclockwise. */
sn_status sni_mesh_load_sheet(const char *path, sni_mesh **mesh, sn_error *err);

/* The same for the bytes of such a file.  text[size] must be 0. */
sn_status sni_mesh_read(const char *path, const char *text, size_t size, sni_mesh **mesh,
                        sn_error *err);

void sni_mesh_free(sni_mesh **mesh);

/* Its convex hull. */
sn_status sni_mesh_hull(const char *name, const sni_mesh *of, sni_mesh **hull, sn_error *err);

/* ---- What shapes/mesh.c does for mesh_file.c ---- */

/* Every directed edge must be matched by exactly one opposite, or by none in a sheet.  Vertices
 * bear their index + 1 in the message, which begins with name. */
sn_status sni_mesh_check_closed(const char *name, const sn_vec3 *vertex, int nvertex,
                                const sni_triangle *triangle, int ntriangle, bool sheet,
                                sn_error *err);

/* Fills mesh->solid, and turns the triangles where they are inside out.  Fails when the mesh
 * encloses no volume. */
sn_status sni_mesh_finish_solid(const char *name, sni_mesh *mesh, sn_error *err);

/* ---- For the readers: shapes/mesh_obj.c, shapes/mesh_stl.c; one row each in mesh_file.c ---- */

/* What a reader collects: vertices and triangles as the file has them. */
typedef struct sni_mesh_parts {
  const char *name; /* of the file, for messages */
  bool may_be_sheet, sheet;
  sn_vec3 *vertex;
  int nvertex, vertex_capacity;
  sni_triangle *triangle;
  int ntriangle, triangle_capacity;
  int *corner; /* of the face at hand, for readers whose faces are polygons */
  int ncorner, corner_capacity;
} sni_mesh_parts;

sn_status sni_mesh_read_obj(sni_mesh_parts *parts, const char *text, size_t size, sn_error *err);
sn_status sni_mesh_read_stl(sni_mesh_parts *parts, const char *text, size_t size, sn_error *err);

/* Makes the mesh of them, closed; shared: vertices are those of others by their number.  The parts
 * stay, to be freed. */
sn_status sni_mesh_finish(sni_mesh_parts *parts, bool shared, sni_mesh **mesh, sn_error *err);

sn_status sni_mesh_add_vertex(sni_mesh_parts *parts, const double x[3], sn_error *err);
sn_status sni_mesh_add_triangle(sni_mesh_parts *parts, int i, int j, int k, sn_error *err);

/* Room for one more in an array; NULL, with the array as it was, when out of memory. */
void *sni_mesh_grow(void *array, int count, int *capacity, size_t size);
sn_status sni_mesh_no_memory(const sni_mesh_parts *parts, sn_error *err);
sn_status sni_mesh_too_many(const sni_mesh_parts *parts, sn_error *err);

/* A place in a text. */
typedef struct sni_mesh_cursor {
  const char *p, *end; /* *end is 0 */
  int line;
  const char *name;
} sni_mesh_cursor;

bool sni_mesh_is_blank(char ch);           /* not the end of a line */
bool sni_mesh_line_goes_on(const char *p); /* a backslash right before the end of a line */
void sni_mesh_skip_line(sni_mesh_cursor *c);
int sni_mesh_word_length(const sni_mesh_cursor *c);                /* of the word at the cursor */
bool sni_mesh_word_is(const sni_mesh_cursor *c, const char *word); /* in any case of letters */
sn_status sni_mesh_read_number(sni_mesh_cursor *c, double *out, sn_error *err);

/* "gear.obj line 12: ..." */
sn_status sni_mesh_bad(const sni_mesh_cursor *c, sn_error *err, const char *format, ...)
    SN_PRINTF(3, 4);

/* The word for a message: in quotes, short, and without what would spoil a terminal. */
typedef struct sni_mesh_quoted {
  char text[32];
} sni_mesh_quoted;

sni_mesh_quoted sni_mesh_quote(const sni_mesh_cursor *c);

#endif
