/* Mesh files that are refused, and how.  SINEW_SOAK in the environment makes the fuzzing a hundred
 * times longer. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* truncate */
#endif
#include "mesh_files.h"

#include <unistd.h>

/* ---- Refusals -------------------------------------------------------------------------------- */

static void check_refused_bytes(const char *name, const char *bytes, size_t n, sn_status code,
                                const char *expected) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  const sn_status status = sni_mesh_read(name, bytes, n, &mesh, &err);
  CHECK(status == code && err.code == code, "%s: status %d", expected, status);
  CHECK(strcmp(err.text, expected) == 0, "'%s', expected '%s'", err.text, expected);
  CHECK(strcmp(err.path, "file") == 0 && !mesh, "path '%s'", err.path);
  CHECK(sni_mesh_read(name, bytes, n, &mesh, NULL) == code, "without err");
}

static void check_refused(const char *name, const char *bytes, sn_status code,
                          const char *expected) {
  check_refused_bytes(name, bytes, strlen(bytes), code, expected);
}

TEST(refused_obj) {
  check_refused("a/gear.obj", TETRAHEDRON "\n# twelve\n\n\n\n\nf 1 2 3\nf 1 2 99\n", SN_E_SYNTAX,
                "gear.obj line 12: face refers to vertex 99, file has 4");
  check_refused("gear.obj", "v 1 2 3\nf 1 -2 1\nv 1 2 3\n", SN_E_SYNTAX,
                "gear.obj line 2: face refers to vertex -2, 1 stand before it");
  check_refused("gear.obj", TETRAHEDRON "f 1 2 \\\n 99999999999999999999\n", SN_E_SYNTAX,
                "gear.obj line 6: face refers to vertex 9999999999, file has 4");
  check_refused("gear.obj", TETRAHEDRON "f 0 1 2\n", SN_E_SYNTAX,
                "gear.obj line 5: face refers to vertex 0, vertices count from 1");
  check_refused("gear.obj", TETRAHEDRON "f 1 2\n", SN_E_SYNTAX,
                "gear.obj line 5: face has 2 corners, needs at least 3");
  check_refused("gear.obj", TETRAHEDRON "f 1\n", SN_E_SYNTAX,
                "gear.obj line 5: face has 1 corner, needs at least 3");
  check_refused("gear.obj", TETRAHEDRON "f", SN_E_SYNTAX,
                "gear.obj line 5: face has 0 corners, needs at least 3");
  check_refused("gear.obj", TETRAHEDRON "f 1 two 3\n", SN_E_SYNTAX,
                "gear.obj line 5: 'two' is not a corner of a face, needs a form like 7, 7/1, 7//3 "
                "or 7/1/3");
  check_refused("gear.obj", TETRAHEDRON "f 1/a 2 3\n", SN_E_SYNTAX,
                "gear.obj line 5: '1/a' is not a corner of a face, needs a form like 7, 7/1, 7//3 "
                "or 7/1/3");
  check_refused("gear.obj", "v 1 2\nv 1 2 3\n", SN_E_SYNTAX,
                "gear.obj line 1: vertex has 2 coordinates, needs 3");
  check_refused("gear.obj", "v 1\n", SN_E_SYNTAX,
                "gear.obj line 1: vertex has 1 coordinate, needs 3");
  check_refused("gear.obj", "v 1 2 3x\n", SN_E_SYNTAX, "gear.obj line 1: '3x' is not a number");
  check_refused("gear.obj", "v 1 2 nan\n", SN_E_SYNTAX, "gear.obj line 1: 'nan' is not a number");
  check_refused("gear.obj", "v 1 2 -1e51\n", SN_E_SYNTAX,
                "gear.obj line 1: '-1e51' is too large, needs at most 1e+50");
  check_refused("gear.obj", "v 1 2 \33[31mabcdefghijklmnopqrstuvwxyz\n", SN_E_SYNTAX,
                "gear.obj line 1: '?[31mabcdefghijklmno...' is not a number");
  check_refused("gear.obj", TETRAHEDRON, SN_E_VALUE, "gear.obj: the file has no faces");
  check_refused("gear.obj", "", SN_E_VALUE, "gear.obj: the file has no faces");
  check_refused_bytes("gear.obj", "v \0 2 3\n", 9, SN_E_SYNTAX,
                      "gear.obj line 1: '?' is not a number");
}

TEST(refused_stl) {
  check_refused("a.stl",
                "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 3\nvertex 1 2 3\nendloop\n",
                SN_E_SYNTAX, "a.stl line 6: expected 'vertex', found 'endloop'");
  check_refused("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 x\n", SN_E_SYNTAX,
                "a.stl line 4: 'x' is not a number");
  check_refused("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2", SN_E_SYNTAX,
                "a.stl line 4: the end of the file is not a number");
  check_refused("a.stl", "solid\n" FACET(O, X, Y) "facet", SN_E_SYNTAX,
                "a.stl line 9: expected 'normal', found the end of the file");
  check_refused("a.stl", "solid\nvertex 1 2 3\n", SN_E_SYNTAX,
                "a.stl line 2: expected 'facet', found 'vertex'");
  check_refused("a.stl", "solid nothing\nendsolid nothing\n", SN_E_VALUE,
                "a.stl: the file has no faces");
  check_refused("a.stl", "hello", SN_E_SYNTAX,
                "a.stl: neither STL in text (begins with 'solid') nor in binary: a header with 0 "
                "facets needs 84 bytes, file has 5");
  check_refused("a.stl", "", SN_E_SYNTAX,
                "a.stl: neither STL in text (begins with 'solid') nor in binary: a header with 0 "
                "facets needs 84 bytes, file has 0");

  char binary[84 + 50 + 1] = "solid";
  check_refused_bytes("a.stl", binary, 84, SN_E_VALUE, "a.stl: the file has no faces");
  binary[80] = 2;
  check_refused_bytes("a.stl", binary, 134, SN_E_SYNTAX,
                      "a.stl: neither STL in text (begins with 'solid') nor in binary: a header "
                      "with 2 facets needs 184 bytes, file has 134");
  memcpy(binary, "solid cube", 10);
  memcpy(binary + 80, "\1\2\3\4", 4); /* the count is nonsense up to its highest byte */
  check_refused_bytes("a.stl", binary, 134, SN_E_SYNTAX,
                      "a.stl: begins with 'solid' as STL in text, but has bytes of 0 as in "
                      "binary, and that is damaged: a header with 67305985 facets needs "
                      "3365299334 bytes, file has 134");
  memset(binary + 80, 0, 4);
  binary[80] = 1;
  binary[84 + 12 + 18] = (char)0x80; /* the second corner's y becomes infinite */
  binary[84 + 12 + 19] = 0x7f;
  check_refused_bytes("a.stl", binary, 134, SN_E_SYNTAX,
                      "a.stl facet 1: a coordinate is inf, needs to be finite");
}

TEST(refused_open) {
  check_refused("t.obj", TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\n", SN_E_VALUE,
                "t.obj: edge between vertices 1 (0, 0, 0) and 3 (0, 1, 0) belongs to 1 face, needs "
                "2; 3 such edges");
  /* a fin on a closed mesh */
  check_refused("t.obj", TETRAHEDRON "v 5 5 5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 3 4 5\n",
                SN_E_VALUE,
                "t.obj: edge between vertices 3 (0, 1, 0) and 4 (0, 0, 1) belongs to 3 faces, "
                "needs 2; 3 such edges");
  /* one face twice, there and back */
  check_refused("t.obj", TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 2 3 4\nf 4 3 2\n",
                SN_E_VALUE,
                "t.obj: edge between vertices 2 (1, 0, 0) and 3 (0, 1, 0) belongs to 4 faces, "
                "needs 2; 3 such edges");
  check_refused("t.stl", "solid\n" FACET(O, Y, X) FACET(O, X, Z) FACET(X, Y, Z) "endsolid\n",
                SN_E_VALUE,
                "t.stl: edge between vertices 1 (0, 0, 0) and 2 (0, 1, 0) belongs to 1 face, needs "
                "2; 3 such edges");
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  CHECK(sni_mesh_load(MESHES "open_block.obj", &mesh, &err) == SN_E_VALUE && !mesh, "accepted");
  CHECK(strcmp(err.text, "open_block.obj: edge between vertices 2 (0, 0, 3) and 4 (0, 2, 3) "
                         "belongs to 1 face, needs 2; 4 such edges") == 0,
        "%s", err.text);
}

/* What has no density needs no inside. */
TEST(sheets) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  CHECK(sni_mesh_load(MESHES "sheet.obj", &mesh, &err) == SN_E_VALUE && !mesh, "accepted");
  CHECK(sni_mesh_load_sheet(MESHES "sheet.obj", &mesh, &err) == SN_OK, "%s", err.text);
  CHECK(mesh->ntriangle == 8 && mesh->nvertex == 9 && !mesh->inside_out && mesh->solid.mass == 0,
        "%d triangles", mesh->ntriangle);
  sni_mesh_free(&mesh);
  CHECK(sni_mesh_load_sheet(MESHES "open_block.obj", &mesh, &err) == SN_OK, "%s", err.text);
  sni_mesh_free(&mesh);
  CHECK(sni_mesh_load_sheet(MESHES "block.obj", &mesh, &err) == SN_OK, "%s", err.text);
  CHECK(fabs(mesh->solid.mass - 6) < 1e-12, "a closed one is a solid");
  sni_mesh_free(&mesh);
}

TEST(refused_orientation) {
  check_refused("t.obj", TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 3 4\n", SN_E_VALUE,
                "t.obj: edge between vertices 1 (0, 0, 0) and 3 (0, 1, 0) is passed by both its "
                "faces in the same direction: one is inside out; 3 such edges");
}

TEST(refused_flat) {
  check_refused("t.obj", TETRAHEDRON "f 1 2 3\nf 3 2 1\n", SN_E_VALUE,
                "t.obj: the mesh encloses no volume");
  check_refused("t.obj", TETRAHEDRON "f 1 1 1\n", SN_E_VALUE, "t.obj: the mesh encloses no volume");
  /* a plane that is no coordinate plane, where rounding leaves a volume */
  check_refused("t.obj", "v 0.1 0.2 0.3\nv 1.7 0.3 0.9\nv 0.4 2.3 0.7\nf 1 2 3\nf 3 2 1\n",
                SN_E_VALUE, "t.obj: the mesh encloses no volume");
  text t = {0};
  put_block(&t, 0, (sn_vec3){0}, 1, 1, 1e-9);
  sni_mesh *mesh = read_and_free("foil.obj", &t);
  check_near(mesh->solid.mass * 1e9, 1, 1e-12, "a foil is a body");
  sni_mesh_free(&mesh);
}

TEST(refused_files) {
  static const struct {
    const char *path;
    sn_status code;
    const char *text;
  } bad[] = {{MESHES "nowhere.obj", SN_E_FILE, "nowhere.obj: No such file or directory"},
             {SINEW_SOURCE_DIR "/tests/data/meshes", SN_E_FILE, "meshes: is a directory"},
             {"/dev/null", SN_E_FILE, "null: is not a plain file"},
             {SINEW_SOURCE_DIR "/tests/unit/test_mesh_file.c", SN_E_VALUE,
              "test_mesh_file.c: not a mesh file by its name, needs .obj or .stl"}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    sni_mesh *mesh = NULL;
    sn_error err = {0};
    const sn_status status = sni_mesh_load(bad[k].path, &mesh, &err);
    CHECK(status == bad[k].code && !mesh, "%s: %d", bad[k].path, status);
    CHECK(strcmp(err.text, bad[k].text) == 0, "'%s', expected '%s'", err.text, bad[k].text);
    CHECK(strcmp(err.path, "file") == 0, "path '%s'", err.path);
    CHECK(sni_mesh_load(bad[k].path, &mesh, NULL) == status, "without err");
  }
}

TEST(limits) {
  /* a file with a hole in it: nothing of it is written, nothing is read */
  const char *path = SINEW_BUILD_DIR "/test_mesh_file_large.obj";
  FILE *file = fopen(path, "wb");
  CHECK(file, "%s", path);
  fclose(file);
  CHECK(truncate(path, ((off_t)256 << 20) + 1) == 0, "truncate");
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  const sn_status status = sni_mesh_load(path, &mesh, &err);
  remove(path);
  CHECK(status == SN_E_LIMIT, "%d", status);
  CHECK(strcmp(err.text, "test_mesh_file_large.obj: file has 268435457 bytes, at most 268435456 "
                         "are read") == 0,
        "%s", err.text);

  /* one face with too many corners */
  const size_t corners = SNI_MESH_TRIANGLES_MAX + 3, n = 10 + 2 * corners;
  char *bytes = malloc(n + 1);
  CHECK(bytes, "out of memory");
  snprintf(bytes, n, "v 1 2 3\nf ");
  for (size_t k = 10; k < n; k++) {
    bytes[k] = k % 2 ? ' ' : '1';
  }
  bytes[n] = 0;
  check_refused_bytes("many.obj", bytes, n, SN_E_LIMIT, "many.obj: more than 20000000 triangles");
  free(bytes);

  /* a star of 1026 corners: concave, and one corner pair beyond the limit */
  for (int star = 1024; star <= 1026; star += 2) {
    text t = {0};
    for (int k = 0; k < star; k++) {
      const double a = 2 * SN_PI * k / star, r = k % 2 ? 1 : 0.5;
      put(&t, "v %.17g %.17g 0\n", r * cos(a), r * sin(a));
    }
    put(&t, "v 0 0 1\n");
    for (int k = 0; k < star; k++) {
      put(&t, "f %d %d %d\n", k + 1, (k + 1) % star + 1, star + 1);
    }
    put(&t, "f");
    for (int k = star; k > 0; k--) {
      put(&t, " %d", k);
    }
    if (star <= SNI_MESH_CONCAVE_MAX) {
      mesh = read_and_free("star.obj", &t);
      check_near(mesh->solid.mass, star * 0.5 * sin(2 * SN_PI / star) / 6, 1e-13, "star");
      sni_mesh_free(&mesh);
    } else {
      check_refused_bytes("star.obj", t.p, t.n, SN_E_SYNTAX,
                          "star.obj line 2054: face has 1026 corners and is not convex; such a "
                          "face may have 1024");
      free(t.p);
    }
  }
}

/* ---- Fuzzing --------------------------------------------------------------------------------- */

/* Whatever comes out is either a mesh with all that is promised of it, or an error with a text. */
static void check_promises(const char *name, const char *bytes, size_t n, uint64_t seed) {
  char *copy = malloc(n + 1); /* of its own size, so that reading behind it is noticed */
  CHECK(copy, "out of memory");
  memcpy(copy, bytes, n);
  copy[n] = 0;
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  const sn_status status = sni_mesh_read(name, copy, n, &mesh, &err);
  free(copy);
  const int number = (int)seed;
  if (status) {
    CHECK(!mesh && err.text[0] && strcmp(err.path, "file") == 0, "%s, seed %d", name, number);
    return;
  }
  for (int k = 0; k < 3 * mesh->ntriangle; k++) {
    const int v = mesh->triangle[k / 3].v[k % 3];
    CHECK(v >= 0 && v < mesh->nvertex, "%s, seed %d: vertex %d", name, number, v);
  }
  for (int k = 0; k < mesh->nvertex; k++) {
    CHECK(sn_vec3_finite(mesh->vertex[k]), "%s, seed %d: vertex %d", name, number, k);
  }
  CHECK(mesh->solid.mass > 0 && isfinite(mesh->solid.mass) && sn_vec3_finite(mesh->solid.com),
        "%s, seed %d: mass %g", name, number, mesh->solid.mass);
  CHECK(sni_mesh_check_closed(name, mesh->vertex, mesh->nvertex, mesh->triangle, mesh->ntriangle,
                              false, &err) == SN_OK,
        "%s, seed %d: %s", name, number, err.text);
  sni_mesh_free(&mesh);
}

/* Cuts, swaps, repeats and overwrites; with pieces of both languages among the new bytes. */
static size_t mutate(char *bytes, size_t n, size_t capacity, uint64_t *seed) {
  static const char *const piece[] = {"\\\n", "\n",     "f ",    "v ",     "-1",    "0",
                                      "/",    "1e999",  "nan",   "vertex", "facet", "endloop",
                                      "#",    "-",      "1 2 3", "solid",  "\r\n",  "99999999999",
                                      ".",    "1e-300", "//",    "\t",     "-0",    "1e50"};
  for (int edits = 1 + (int)(test_random_u64(seed) % 4); edits > 0 && n > 0; edits--) {
    const size_t at = test_random_u64(seed) % n;
    const size_t length =
        test_random_u64(seed) % (test_random_u64(seed) % 8 ? 8 : n) % (n - at) + 1;
    switch (test_random_u64(seed) % 5) {
    case 0: /* cut */
      memmove(bytes + at, bytes + at + length, n - at - length);
      n -= length;
      break;
    case 1: /* cut off */
      n = at;
      break;
    case 2: /* overwrite */
      bytes[at] = (char)test_random_u64(seed);
      break;
    case 3: /* repeat */
      if (n + length <= capacity) {
        memmove(bytes + at + length, bytes + at, n - at);
        n += length;
      }
      break;
    default: { /* insert */
      const char *p = piece[test_random_u64(seed) % (sizeof piece / sizeof piece[0])];
      if (n + strlen(p) <= capacity) {
        memmove(bytes + at + strlen(p), bytes + at, n - at);
        n += strlen(p);
        for (size_t k = 0; p[k]; k++) {
          bytes[at + k] = p[k];
        }
      }
    }
    }
  }
  return n;
}

TEST(fuzzed_files) {
  static const char *const file[] = {"block.obj", "gear.obj", "block_text.stl", "block_binary.stl"};
  const int rounds = getenv("SINEW_SOAK") ? 200000 : 2000;
  for (int f = 0; f < 4; f++) {
    static char original[1 << 16], bytes[1 << 16]; /* test data is smaller than half of it */
    char path[512];
    snprintf(path, sizeof path, "%s%s", MESHES, file[f]);
    FILE *in = fopen(path, "rb");
    CHECK(in, "%s", path);
    const size_t n = fread(original, 1, sizeof original / 2, in);
    fclose(in);
    for (int k = 0; k < rounds; k++) {
      uint64_t seed = (uint64_t)k;
      memcpy(bytes, original, n);
      check_promises(file[f], bytes, mutate(bytes, n, sizeof bytes, &seed), (uint64_t)k);
    }
  }
}
int main(void) {
  RUN_TESTS(T(refused_obj), T(refused_stl), T(refused_open), T(sheets), T(refused_orientation),
            T(refused_flat), T(refused_files), T(limits), T(fuzzed_files));
}
