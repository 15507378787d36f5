/* Meshes from files: what is read, and the integrals over their inside. */
#include "mesh_files.h"

/* ---- Formats --------------------------------------------------------------------------------- */

/* One block in three formats.  All its numbers are exact in float, so 1e-15 is round-off. */
TEST(same_block_from_every_format) {
  static const char *const file[] = {"block.obj", "block_text.stl", "block_binary.stl"};
  for (int k = 0; k < 3; k++) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", MESHES, file[k]);
    sni_mesh *mesh = load(path);
    CHECK(mesh->nvertex == 8 && mesh->ntriangle == 12 && !mesh->inside_out, "%s: %d, %d", file[k],
          mesh->nvertex, mesh->ntriangle);
    check_inertia(mesh->solid, block_inertia((sn_vec3){0}, 1, 2, 3), 1e-15);
    check_near(area_of(mesh), 22, 1e-15, "area");
    sni_mesh_free(&mesh);
    CHECK(mesh == NULL, "not NULL after free");
  }
}

/* All ways to write the same faces. */
TEST(obj_dialects) {
  static const char *const dialect[] = {
      TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
      TETRAHEDRON "f 1/1 3/2 2/3\nf 1//1 2//1 4//9\nf 2/1/1 3/-2/1 4/3/-1\nf 3 1/ 4/1/1",
      TETRAHEDRON "f -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -2 -4 -1\nv 7 7 7\n",
      "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n" TETRAHEDRON,
      "# made by hand\r\nmtllib C:\\meshes\\\r\nv 0 0 0 1.0\r\nv\t1 0 0 0.5 0.5 0.5\r\nvn 0 0 1\r\n"
      "vt 0 0\r\n  v 0 1 0 # y\r\nv 0 0 1\r\ng top\r\nusemtl v\r\nf 1 3 2\r\n\r\nf 1 2 4\r\n"
      "l 1 2\r\nf 2 3 4 #\r\nf 3 1 4",
      "v 0 0 \\\n0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 \\\r\n 3 \\\n2\nf 1 2 4\nf 2 3\\\n 4\nf 3 1 4\n",
      "v 0 0 0\nv 1.0E+00 0. -0\nv .0 +1 0e5\nv 0 0 10e-1\nv 7 7 7\nf 1 3 2\nf 1 2 4\nf 2 3 4\n"
      "f 3 3 1 4\n"};
  const double m = 1.0 / 6;
  const sn_inertia I = {.mass = m,
                        .com = {0.25, 0.25, 0.25},
                        .xx = m * 6 / 80,
                        .yy = m * 6 / 80,
                        .zz = m * 6 / 80,
                        .xy = m / 80,
                        .xz = m / 80,
                        .yz = m / 80};
  for (size_t k = 0; k < sizeof dialect / sizeof dialect[0]; k++) {
    sni_mesh *mesh = read_text("t.OBJ", dialect[k]);
    CHECK(mesh->nvertex == 4 && mesh->ntriangle == 4, "%d: %d, %d", (int)k, mesh->nvertex,
          mesh->ntriangle);
    check_inertia(mesh->solid, I, 1e-15);
    sni_mesh_free(&mesh);
  }
}

TEST(stl_dialects) {
  static const char *const dialect[] = {
      "solid\n" FACET(O, Y, X) FACET(O, X, Z) FACET(X, Y, Z) FACET(Y, O, Z) "endsolid\n",
      "SOLID facet vertex\r\n  FACET Normal nan -inf 1e999\r\n outer   loop\r\nvertex 0 0 0 vertex "
      "0 1 0 vertex 1 0 0 endloop endfacet\n" FACET(O, X, Z) FACET(X, Y, Z)
          FACET(Y, "-0 0 -0", Z) "endsolid facet vertex",
      "\n solid a\n" FACET(O, Y, X) FACET(O, X, Z) "endsolid a\nsolid b\n" FACET(X, Y, Z)
          FACET(Y, O, Z) FACET(X, X, Y) "endsolid b\n\n\n"};
  for (size_t k = 0; k < sizeof dialect / sizeof dialect[0]; k++) {
    sni_mesh *mesh = read_text("t.stl", dialect[k]);
    CHECK(mesh->nvertex == 4 && mesh->ntriangle == 4, "%d: %d, %d", (int)k, mesh->nvertex,
          mesh->ntriangle);
    check_near(mesh->solid.mass, 1.0 / 6, 1e-15, "mass");
    sni_mesh_free(&mesh);
  }
}

/* Exporters split vertices at seams: joined where the mesh would be open otherwise. */
TEST(obj_with_split_vertices) {
  sni_mesh *mesh =
      read_text("t.obj", TETRAHEDRON TETRAHEDRON "f 1 3 2\nf 5 6 8\nf 2 7 4\nf 3 1 8\n");
  CHECK(mesh->nvertex == 4 && mesh->ntriangle == 4, "%d, %d", mesh->nvertex, mesh->ntriangle);
  sni_mesh_free(&mesh);
}

/* Two closed blocks that touch along an edge stay two. */
TEST(obj_with_parts_that_touch) {
  text t = {0};
  put_block(&t, 0, (sn_vec3){0, 0, 0}, 1, 1, 1);
  put_block(&t, 8, (sn_vec3){1, 1, 0}, 1, 1, 1);
  sni_mesh *mesh = read_and_free("two.obj", &t);
  CHECK(mesh->nvertex == 16, "%d", mesh->nvertex);
  const sn_inertia sum = sn_inertia_add(block_inertia((sn_vec3){0, 0, 0}, 1, 1, 1),
                                        block_inertia((sn_vec3){1, 1, 0}, 1, 1, 1));
  check_inertia(mesh->solid, sum, 1e-14);
  sni_mesh_free(&mesh);
}

/* ---- Faces with many corners ----------------------------------------------------------------- */

/* Area, and integrals of x^2 + y^2 over a polygon about its centre by Green's theorem. */
static void polygon_integrals(const sn_vec3 *p, int n, double *area, double *polar,
                              sn_vec3 *centre) {
  double A = 0, cx = 0, cy = 0, J = 0;
  for (int k = 0; k < n; k++) {
    const sn_vec3 a = p[k], b = p[(k + 1) % n];
    const double w = a.x * b.y - b.x * a.y;
    A += w / 2;
    cx += w * (a.x + b.x) / 6;
    cy += w * (a.y + b.y) / 6;
    J += w * (a.x * a.x + a.x * b.x + b.x * b.x + a.y * a.y + a.y * b.y + b.y * b.y) / 12;
  }
  *area = A;
  *centre = (sn_vec3){cx / A, cy / A, 0};
  *polar = J - (cx * cx + cy * cy) / A;
}

/* A prism over a polygon in the plane, each end in one face, seen from a random frame. */
static void check_prism(const sn_vec3 *p, int n, double height, uint64_t seed, const char *what) {
  const sn_mat3 R = sn_so3_exp(
      (sn_vec3){test_random(&seed, -2, 2), test_random(&seed, -2, 2), test_random(&seed, -2, 2)});
  text t = {0};
  double side = 0;
  for (int end = 0; end < 2; end++) {
    for (int k = 0; k < n; k++) {
      const sn_vec3 x = sn_mat3_mul_vec(R, (sn_vec3){p[k].x, p[k].y, end ? height : 0});
      put(&t, "v %.17g %.17g %.17g\n", x.x, x.y, x.z);
    }
  }
  for (int end = 0; end < 2; end++) {
    put(&t, "f");
    for (int k = 0; k < n; k++) {
      put(&t, " %d", end ? n + 1 + k : n - k);
    }
    put(&t, "\n");
  }
  for (int k = 0; k < n; k++) {
    const int l = (k + 1) % n;
    put(&t, "f %d %d %d %d\n", k + 1, l + 1, n + l + 1, n + k + 1);
    side += height * hypot(p[l].x - p[k].x, p[l].y - p[k].y);
  }
  double area, polar;
  sn_vec3 centre;
  polygon_integrals(p, n, &area, &polar, &centre);
  centre.z = height / 2;
  centre = sn_mat3_mul_vec(R, centre);
  sni_mesh *mesh = read_and_free("prism.obj", &t);
  const sn_vec3 axis = sn_mat3_col(R, 2);
  const double along = sn_vec3_dot(axis, sn_mat3_mul_vec(sn_inertia_tensor(mesh->solid), axis));
  check_near(mesh->solid.mass, area * height, 1e-13, what);
  check_near(sn_vec3_norm(sn_vec3_sub(mesh->solid.com, centre)), 0, 1e-13, what);
  check_near(along, polar * height, 1e-13, what);
  /* triangles that overlap or stick out of the face would add to the area */
  check_near(area_of(mesh), 2 * area + side, 1e-13, what);
  CHECK(mesh->ntriangle == 2 * (n - 2) + 2 * n, "%s: %d triangles", what, mesh->ntriangle);
  sni_mesh_free(&mesh);
}

TEST(concave_faces) {
  const sn_vec3 dart[] = {{0, 0, 0}, {2, -1, 0}, {1, 0, 0}, {2, 1, 0}};
  const sn_vec3 ell[] = {{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
  const sn_vec3 comb[] = {{0, 0, 0}, {5, 0, 0}, {5, 3, 0}, {4, 3, 0}, {4, 1, 0}, {3, 1, 0},
                          {3, 3, 0}, {2, 3, 0}, {2, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}};
  const sn_vec3 in_line[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {3, 2, 0}, {2, 2, 0},
                             {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
  for (int shift = 0; shift < 12; shift++) { /* whichever corner comes first */
    sn_vec3 p[12];
    for (int k = 0; k < 12; k++) {
      p[k] = comb[(k + shift) % 12];
    }
    check_prism(p, 12, 0.5, (uint64_t)shift, "comb");
    for (int k = 0; k < 4; k++) {
      p[k] = dart[(k + shift) % 4];
    }
    check_prism(p, 4, 0.5, (uint64_t)shift, "dart");
    for (int k = 0; k < 6; k++) {
      p[k] = ell[(k + shift) % 6];
    }
    check_prism(p, 6, 0.5, (uint64_t)shift, "ell");
    for (int k = 0; k < 11; k++) {
      p[k] = in_line[(k + shift) % 11];
    }
    check_prism(p, 11, 0.5, (uint64_t)shift, "in line");
  }
  /* a square with a square hole, cut open from one to the other */
  const sn_vec3 keyhole[] = {{0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {0, 3, 0}, {0, 0, 0},
                             {1, 1, 0}, {1, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}};
  for (int shift = 0; shift < 10; shift++) {
    sn_vec3 p[10];
    for (int k = 0; k < 10; k++) {
      p[k] = keyhole[(k + shift) % 10];
    }
    check_prism(p, 10, 0.5, (uint64_t)shift, "keyhole");
  }
  /* blocks of random heights beside each other, with corners in line wherever two are equal */
  for (uint64_t seed = 0; seed < 300; seed++) {
    uint64_t s = seed;
    sn_vec3 p[64] = {{0, 0, 0}};
    const int columns = 2 + (int)(test_random_u64(&s) % 15);
    int n = 0;
    for (int k = 0; k <= columns; k++) {
      p[n++] = (sn_vec3){k, 0, 0};
    }
    for (int k = columns; k > 0; k--) {
      const double h = 1 + (double)(test_random_u64(&s) % 4);
      if (p[n - 1].y != h) {
        p[n++] = (sn_vec3){k, h, 0};
      }
      p[n++] = (sn_vec3){k - 1, h, 0};
    }
    check_prism(p, n, 0.5, seed, "skyline");
  }
  sn_vec3 spiral[200]; /* out on one side, back on the other */
  for (int k = 0; k < 100; k++) {
    const double angle = 0.2 * k, r = 1 + 0.1 * angle;
    spiral[k] = (sn_vec3){(r + 0.2) * cos(angle), (r + 0.2) * sin(angle), 0};
    spiral[199 - k] = (sn_vec3){r * cos(angle), r * sin(angle), 0};
  }
  check_prism(spiral, 200, 1, 7, "spiral");
}

TEST(gear) {
  sni_mesh *mesh = load(MESHES "gear.obj");
  CHECK(mesh->nvertex == 96 && mesh->ntriangle == 2 * 46 + 2 * 48, "%d, %d", mesh->nvertex,
        mesh->ntriangle);
  double area, polar;
  sn_vec3 centre;
  polygon_integrals(mesh->vertex, 48, &area, &polar, &centre);
  check_near(mesh->solid.mass, 0.3 * area, 1e-14, "mass");
  check_near(mesh->solid.zz, 0.3 * polar, 1e-14, "zz");
  sni_mesh_free(&mesh);
}

/* A face that crosses itself is cut somehow: the mesh stays closed, nothing hangs. */
TEST(faces_that_cross_themselves) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  text t = {0};
  put_block(&t, 0, (sn_vec3){0}, 1, 1, 1);
  put(&t, "f 1 2 3 4 2 1 4 3\n");
  put(&t, "f 1 7 3 5 2 8 4 6 1 7\nf 8 8 8 8\n");
  const sn_status status = sni_mesh_read("t.obj", t.p, t.n, &mesh, &err);
  CHECK(status == SN_E_VALUE && strstr(err.text, "belongs to"), "%s", err.text);
  free(t.p);
}

/* ---- Integrals ------------------------------------------------------------------------------- */

/* A tetrahedron with three edges a, b, c along the axes, from integrals over x/a + y/b + z/c < 1:
 * m/10 a^2 for x^2, m/20 a b for x y, about the corner; the centre is at (a, b, c) / 4. */
TEST(corner_tetrahedron) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    uint64_t s = seed;
    const double a = test_random(&s, 0.5, 2), b = test_random(&s, 0.5, 2),
                 c = test_random(&s, 0.5, 2);
    const sn_vec3 p = {test_random(&s, -3, 3), test_random(&s, -3, 3), test_random(&s, -3, 3)};
    text t = {0};
    put(&t, "v %.17g %.17g %.17g\nv %.17g %.17g %.17g\n", p.x, p.y, p.z, p.x + a, p.y, p.z);
    put(&t, "v %.17g %.17g %.17g\nv %.17g %.17g %.17g\n", p.x, p.y + b, p.z, p.x, p.y, p.z + c);
    put(&t, "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    sni_mesh *mesh = read_and_free("t.obj", &t);
    const double m = a * b * c / 6, k = m * (1.0 / 10 - 1.0 / 16), l = m * (1.0 / 16 - 1.0 / 20);
    check_inertia(mesh->solid,
                  (sn_inertia){.mass = m,
                               .com = {p.x + a / 4, p.y + b / 4, p.z + c / 4},
                               .xx = k * (b * b + c * c),
                               .yy = k * (c * c + a * a),
                               .zz = k * (a * a + b * b),
                               .xy = l * a * b,
                               .xz = l * a * c,
                               .yz = l * b * c},
                  1e-14);
    sni_mesh_free(&mesh);
  }
}

/* Regular tetrahedron of edge 2 sqrt 2: I = m edge^2 / 20 about every axis. */
TEST(regular_tetrahedron) {
  sni_mesh *mesh =
      read_text("t.obj", "v 1 1 1\nv 1 -1 -1\nv -1 1 -1\nv -1 -1 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\n"
                         "f 2 4 3\n");
  const double m = 8.0 / 3;
  check_inertia(mesh->solid, (sn_inertia){.mass = m, .xx = 0.4 * m, .yy = 0.4 * m, .zz = 0.4 * m},
                1e-15);
  sni_mesh_free(&mesh);
}

/* A small block far away, at numbers that are exact in double: all digits stay.  Integrals about
 * the origin would leave none. */
TEST(far_from_the_origin) {
  text t = {0};
  const sn_vec3 p = {1048576, -2097152, 3145728};
  put_block(&t, 0, p, 0.25, 0.5, 0.125);
  sni_mesh *mesh = read_and_free("far.obj", &t);
  const sn_inertia I = block_inertia(p, 0.25, 0.5, 0.125), J = mesh->solid;
  CHECK(fabs(J.mass / I.mass - 1) < 1e-15, "mass %.17g", J.mass);
  CHECK(fabs(J.xx / I.xx - 1) < 1e-14 && fabs(J.yy / I.yy - 1) < 1e-14 &&
            fabs(J.zz / I.zz - 1) < 1e-14 && fabs(J.xy) < 1e-14 * I.xx,
        "%.17g %.17g %.17g %g", J.xx, J.yy, J.zz, J.xy);
  check_near(J.com.z, I.com.z, 1e-16, "com.z");
  sni_mesh_free(&mesh);
}

/* A block of many small triangles: the grid is rounded along its faces only, so the block is exact,
 * and so are the sums; plain ones would lose two digits. */
TEST(many_triangles) {
  const int n = 60;
  const double size[3] = {0.7, 1.1, 1.3};
  text t = {0};
  put(&t, "solid\n");
  for (int k = 0; k < 6 * n * n; k++) {
    const int axis = k % 3, i = k / 6 % n, j = k / 6 / n;
    double x[4][3]; /* a cell of the grid on one of the two faces across the axis */
    for (int c = 0; c < 4; c++) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      x[c][axis] = k / 3 % 2 ? size[axis] : 0;
      x[c][u] = size[u] * (i + (c == 1 || c == 2)) / n;
      x[c][v] = size[v] * (j + (c >= 2)) / n;
    }
    static const int up[6] = {0, 1, 2, 0, 2, 3}, down[6] = {0, 2, 1, 0, 3, 2};
    for (int c = 0; c < 6; c++) {
      const double *y = x[k / 3 % 2 ? up[c] : down[c]];
      put(&t, "%svertex %.17g %.17g %.17g\n", c % 3 ? "" : "facet normal 0 0 0 outer loop ", y[0],
          y[1], y[2]);
      put(&t, "%s", c % 3 == 2 ? "endloop endfacet\n" : "");
    }
  }
  sni_mesh *mesh = read_and_free("fine.stl", &t);
  const sn_inertia I = block_inertia((sn_vec3){0}, size[0], size[1], size[2]), J = mesh->solid;
  CHECK(mesh->ntriangle == 12 * n * n, "%d", mesh->ntriangle);
  CHECK(fabs(J.mass / I.mass - 1) < 1e-15 && fabs(J.xx / I.xx - 1) < 1e-15 &&
            fabs(J.yy / I.yy - 1) < 1e-15 && fabs(J.zz / I.zz - 1) < 1e-15,
        "%g %g %g %g", J.mass / I.mass - 1, J.xx / I.xx - 1, J.yy / I.yy - 1, J.zz / I.zz - 1);
  sni_mesh_free(&mesh);
}

/* A turned mesh has the turned inertia. */
TEST(turned_mesh) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    uint64_t s = 40 + seed;
    sn_vec3 corner[4];
    for (int k = 0; k < 4; k++) {
      corner[k] = (sn_vec3){test_random(&s, -1, 1), test_random(&s, -1, 1), test_random(&s, -1, 1)};
    }
    const sn_se3 E = {sn_so3_exp(sn_vec3_scale(corner[0], 2)), sn_vec3_scale(corner[1], 3)};
    sn_inertia I[2];
    for (int turned = 0; turned < 2; turned++) {
      text t = {0};
      for (int k = 0; k < 4; k++) {
        const sn_vec3 x = turned ? sn_se3_point(E, corner[k]) : corner[k];
        put(&t, "v %.17g %.17g %.17g\n", x.x, x.y, x.z);
      }
      put(&t, "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
      sni_mesh *mesh = read_and_free("t.obj", &t);
      I[turned] = mesh->solid;
      sni_mesh_free(&mesh);
    }
    check_inertia(I[1], sn_inertia_transform(E, I[0]), 1e-13);
  }
}

/* A block with a hole inside: the inner surface faces inwards, and counts negative. */
TEST(cavity) {
  text t = {0};
  put_block(&t, 0, (sn_vec3){0, 0, 0}, 4, 4, 4);
  put_block(&t, 8, (sn_vec3){2, 1, 1}, -1, 1, 1); /* a negative edge turns it inside out */
  sni_mesh *mesh = read_and_free("hollow.obj", &t);
  CHECK(!mesh->inside_out, "inside out");
  check_near(mesh->solid.mass, 63, 1e-15, "mass");
  check_near(mesh->solid.com.x, (64 * 2 - 1.5) / 63, 1e-15, "com");
  sni_mesh_free(&mesh);
}

/* A mesh whose triangles all run clockwise is turned, and says so. */
TEST(inside_out) {
  text t = {0};
  put_block(&t, 0, (sn_vec3){1, 0, 0}, -1, 2, 3);
  sni_mesh *mesh = read_and_free("block.obj", &t);
  CHECK(mesh->inside_out, "not noticed");
  check_inertia(mesh->solid, block_inertia((sn_vec3){0}, 1, 2, 3), 1e-15);
  double six = 0;
  for (int k = 0; k < mesh->ntriangle; k++) {
    const int *v = mesh->triangle[k].v;
    six += sn_vec3_dot(mesh->vertex[v[0]], sn_vec3_cross(mesh->vertex[v[1]], mesh->vertex[v[2]]));
  }
  check_near(six / 6, 6, 1e-14, "volume of the triangles");
  sni_mesh_free(&mesh);
}

/* On the sphere between a and b.  Not inlined: two faces must get the same bits for their common
 * vertex, however the compiler fuses operations around the calls. */
static __attribute__((noinline)) sn_vec3 between(sn_vec3 a, sn_vec3 b) {
  const sn_vec3 m = sn_vec3_add(a, b);
  return sn_vec3_scale(m, 1 / sn_vec3_norm(m));
}

/* Each triangle into four, new vertices on the sphere; vertices are not shared (STL). */
static void put_sphere(text *t, sn_vec3 a, sn_vec3 b, sn_vec3 c, int level) {
  if (level == 0) {
    put(t, "facet normal 0 0 0 outer loop\n");
    const sn_vec3 p[3] = {a, b, c};
    for (int k = 0; k < 3; k++) {
      put(t, "vertex %.17g %.17g %.17g\n", p[k].x, p[k].y, p[k].z);
    }
    put(t, "endloop endfacet\n");
    return;
  }
  const sn_vec3 m[3] = {between(a, b), between(b, c), between(c, a)};
  put_sphere(t, a, m[0], m[2], level - 1);
  put_sphere(t, m[0], b, m[1], level - 1);
  put_sphere(t, m[2], m[1], c, level - 1);
  put_sphere(t, m[0], m[1], m[2], level - 1);
}

/* Finer and finer spheres from an icosahedron: the error falls to a quarter at each level. */
TEST(icosphere_converges_at_second_order) {
  const double g = 1.6180339887498949, r = sqrt(1 + g * g);
  sn_vec3 v[12];
  for (int k = 0; k < 12; k++) {
    const double s = k & 1 ? 1 / r : -1 / r, u = (k & 2 ? g : -g) / r;
    v[k] = k < 4 ? (sn_vec3){0, s, u} : k < 8 ? (sn_vec3){s, u, 0} : (sn_vec3){u, 0, s};
  }
  double last[2] = {0, 0};
  for (int level = 0; level <= 5; level++) {
    text t = {0};
    put(&t, "solid\n");
    for (int i = 0; i < 12; i++) {
      for (int j = 0; j < 12; j++) {
        for (int k = 0; k < 12; k++) { /* faces: three vertices at distance 2 / r, once each */
          const double close = 2.01 / r;
          if (i < j && i < k && sn_vec3_norm(sn_vec3_sub(v[i], v[j])) < close &&
              sn_vec3_norm(sn_vec3_sub(v[j], v[k])) < close &&
              sn_vec3_norm(sn_vec3_sub(v[k], v[i])) < close && j != k &&
              sn_vec3_dot(v[i], sn_vec3_cross(v[j], v[k])) > 0) {
            put_sphere(&t, v[i], v[j], v[k], level);
          }
        }
      }
    }
    put(&t, "endsolid\n");
    sni_mesh *mesh = read_and_free("sphere.stl", &t);
    CHECK(mesh->ntriangle == 20 << 2 * level && mesh->nvertex == (10 << 2 * level) + 2,
          "level %d: %d, %d", level, mesh->ntriangle, mesh->nvertex);
    const double volume = 4.0 / 3 * SN_PI;
    const double e[2] = {1 - mesh->solid.mass / volume, 1 - mesh->solid.xx / (0.4 * volume)};
    CHECK(fabs(mesh->solid.xx - mesh->solid.zz) < 1e-14 && sn_vec3_norm(mesh->solid.com) < 1e-15,
          "level %d: not round", level);
    for (int k = 0; k < 2 && level > 3; k++) { /* 3.97 at the first of them */
      CHECK(fabs(last[k] / e[k] - 4) < 0.05, "level %d, %d: %g after %g", level, k, e[k], last[k]);
    }
    last[0] = e[0];
    last[1] = e[1];
    sni_mesh_free(&mesh);
  }
}
int main(void) {
  RUN_TESTS(T(same_block_from_every_format), T(obj_dialects), T(stl_dialects),
            T(obj_with_split_vertices), T(obj_with_parts_that_touch), T(concave_faces), T(gear),
            T(faces_that_cross_themselves), T(corner_tetrahedron), T(regular_tetrahedron),
            T(far_from_the_origin), T(many_triangles), T(turned_mesh), T(cavity), T(inside_out),
            T(icosphere_converges_at_second_order));
}
