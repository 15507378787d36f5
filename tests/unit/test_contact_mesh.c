/* Meshes that stand still: a block made of many triangles touches as the box does that it is. */
#include "contact.h"
#include "contact/distance.h"

#define FILE_NAME SINEW_BUILD_DIR "/tests/contact_block.obj"

/* A block of edges 2, 2, 1 whose faces are divided n times each way. */
static void write_block(int n) {
  FILE *f = fopen(FILE_NAME, "w");
  CHECK(f != NULL, "cannot write " FILE_NAME);
  const double half[3] = {1, 1, 0.5};
  int count = 0;
  for (int face = 0; face < 6; face++) {
    const int i = face / 2, j = (i + 1) % 3, k = (i + 2) % 3;
    const double side = face % 2 ? 1 : -1;
    for (int a = 0; a <= n; a++) {
      for (int b = 0; b <= n; b++) {
        double x[3];
        x[i] = side * half[i];
        x[j] = half[j] * (2.0 * a / n - 1);
        x[k] = half[k] * (2.0 * b / n - 1);
        fprintf(f, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
      }
    }
    for (int a = 0; a < n; a++) {
      for (int b = 0; b < n; b++) {
        const int v = count + a * (n + 1) + b + 1, w = v + n + 1;
        const int q[4] = {v, side > 0 ? w : v + 1, w + 1, side > 0 ? v + 1 : w};
        fprintf(f, "f %d %d %d\nf %d %d %d\n", q[0], q[1], q[2], q[0], q[2], q[3]);
      }
    }
    count += (n + 1) * (n + 1);
  }
  fclose(f);
}

static const char *const kinds[] = {"sphere", "capsule", "box", "cylinder", "ellipsoid"};
enum { KINDS = 5 };

static sn_shape_def shape_of(const char *type) {
  sn_shape_def d = sn_shape_def_default();
  d.type = type;
  d.contact = "stone";
  d.density = 1;
  return d;
}

static touching stand(sn_shape_def ground, int kind) {
  sn_builder *b = sn_builder_create();
  sn_contact_def stone = sn_contact_def_default();
  stone.name = "stone";
  sn_builder_add_contact(b, &stone);
  sn_shape_def shape = shape_of(kinds[kind]);
  shape.radius = 0.15;
  shape.size = (sn_vec3){0.4, 0.3, 0.2};
  shape.radii = (sn_vec3){0.1, 0.2, 0.3};
  shape.from = (sn_vec3){0, 0, -0.2};
  shape.to = (sn_vec3){0, 0, 0.2};
  sn_body_def block = sn_body_def_default(), it = sn_body_def_default();
  block.name = "block";
  block.shapes = &ground;
  block.nshape = 1;
  it.name = "it";
  it.joint.type = "free";
  it.shapes = &shape;
  it.nshape = 1;
  sn_builder_add_body(b, &block);
  sn_builder_add_body(b, &it);
  touching t = {0};
  sn_error err = {0};
  CHECK(sn_builder_finish(b, &t.m, &err) == SN_OK, "%s", err.text);
  sn_builder_free(&b);
  t.E_wb = calloc(2, sizeof *t.E_wb);
  t.phi = calloc(2, sizeof *t.phi);
  CHECK(sni_finder_create(t.m, 0, &t.f, &err) == SN_OK, "%s", err.text);
  sni_model_poses(t.m, t.m->q0, t.E_wb);
  return t;
}

static touching on_mesh(int kind, double scale) {
  sn_shape_def mesh = shape_of("mesh");
  mesh.file = FILE_NAME;
  mesh.scale = scale;
  mesh.at.p.x = 0.5;
  return stand(mesh, kind);
}

static touching on_box(int kind, double scale) {
  sn_shape_def box = shape_of("box");
  box.size = (sn_vec3){2 * scale, 2 * scale, scale};
  box.at.p.x = 0.5;
  return stand(box, kind);
}

static sn_vec3 random3(uint64_t *s, double most) {
  const double x = test_random(s, -most, most), y = test_random(s, -most, most);
  return (sn_vec3){x, y, test_random(s, -most, most)};
}

/* The nearest point, of all that are found. */
static const sni_contact *deepest(const touching *t) {
  const sni_contact *best = NULL;
  for (int k = 0; k < t->count; k++) {
    best = !best || t->contact[k].gap < best->gap ? &t->contact[k] : best;
  }
  return best;
}

TEST(a_block_of_triangles_is_a_box) {
  for (int n = 1; n <= 6; n += 5) {
    write_block(n);
    for (int kind = 0; kind < KINDS; kind++) {
      touching t = on_mesh(kind, 1), u = on_box(kind, 1);
      int touched = 0;
      for (int k = 0; k < 400; k++) {
        uint64_t s = (uint64_t)(1000 * kind + k);
        const sn_se3 E = {
            sn_so3_exp(random3(&s, 2)),
            {test_random(&s, -0.8, 1.8), test_random(&s, -1.3, 1.3), test_random(&s, -0.8, 0.8)}};
        const double margin = 0.05;
        *touching_body(&t, "it") = *touching_body(&u, "it") = E;
        touching_find(&u, 0, margin);
        const sni_contact *x = deepest(&u);
        if (x && x->gap < 1e-3) {
          continue; /* triangles have no inside: how deep it is is told by what is above them */
        }
        touching_find(&t, 0, margin);
        const sni_contact *y = deepest(&t);
        CHECK(!x == !y, "%s %d, %d: %d points, of the box %d", kinds[kind], n, k, t.count, u.count);
        if (x) {
          touched++;
          /* within 1e-6 of a corner an edge counts as that corner */
          CHECK(fabs(x->gap - y->gap) < 1e-6, "%s %d, %d: gap %g, of the box %g", kinds[kind], n, k,
                y->gap, x->gap);
          CHECK(sn_vec3_norm(sn_vec3_sub(x->n, y->n)) < 1e-4, "%s %d, %d: n differs by %g",
                kinds[kind], n, k, sn_vec3_norm(sn_vec3_sub(x->n, y->n)));
        }
      }
      CHECK(touched > 10, "%s: only %d touched", kinds[kind], touched);
      touching_clear(&t);
      touching_clear(&u);
    }
  }
}

/* Over the top, touching or a little in it: up is the only way out, whatever edges are below. */
TEST(flat_ground_has_no_edges) {
  write_block(7);
  for (int kind = 0; kind < KINDS; kind++) {
    touching t = on_mesh(kind, 2);
    for (int k = 0; k < 600; k++) {
      uint64_t s = (uint64_t)(1000 * kind + k);
      sn_se3 *E = touching_body(&t, "it");
      const bool flat = k % 2;
      *E = (sn_se3){flat ? sn_so3_exp((sn_vec3){0, 0, test_random(&s, -2, 2)})
                         : sn_so3_exp(random3(&s, 2)),
                    {test_random(&s, -0.8, 1.8), test_random(&s, -1.3, 1.3), 5}};
      /* down to where it touches, by what a plane would say */
      const sni_solid own = sni_shape_solid(&t.m->shape[1].def);
      const sni_convex c = sni_convex_make(&own, NULL);
      const sni_placed p = {&c, sn_se3_mul(*E, own.at)};
      const double low = sni_placed_support(&p, (sn_vec3){0, 0, -1}).z - c.radius;
      const double depth = k % 3 == 0 ? 0 : k % 3 == 1 ? 1e-9 : test_random(&s, -1e-3, 1e-3);
      E->p.z += 1 - low - depth;
      touching_find(&t, 0, 2e-3);
      CHECK(t.count > 0, "%s, %d: not found", kinds[kind], k);
      double least = INFINITY;
      for (int i = 0; i < t.count; i++) {
        CHECK(t.contact[i].n.z > 1 - 1e-9, "%s, %d: n.z = %.12g, %g deep", kinds[kind], k,
              t.contact[i].n.z, depth);
        least = fmin(least, t.contact[i].gap);
      }
      CHECK(fabs(least + depth) < 1e-8, "%s, %d: %g deep, found %g", kinds[kind], k, depth, -least);
      CHECK(t.count <= 4, "%s, %d: %d points on one plane", kinds[kind], k, t.count);
      if (flat && kind == 2) {
        CHECK(t.count == 4 && touching_area(t.contact, 4) > 0.6 * 0.4 * 0.3, "%d: area %g of %g", k,
              touching_area(t.contact, t.count), 0.4 * 0.3);
      }
    }
    touching_clear(&t);
  }
}

TEST(shots_at_a_mesh) {
  write_block(5);
  for (int kind = 0; kind < KINDS; kind++) {
    touching t = on_mesh(kind, 1);
    for (int k = 0; k < 100; k++) {
      uint64_t s = (uint64_t)(1000 * kind + k);
      *touching_body(&t, "it") = (sn_se3){sn_so3_exp(random3(&s, 2)),
                                          {test_random(&s, 0, 1), test_random(&s, -0.4, 0.4), 1.2}};
      *touching_twist(&t, "it") = (sn_vec6){random3(&s, 10), {test_random(&s, -10, 10), 0, -200}};
      touching_find(&t, 0.01, 1e-3);
      const sni_contact *x = deepest(&t);
      CHECK(x && x->gap > 0 && x->gap < 0.7, "%s, %d: %d points", kinds[kind], k, t.count);
      for (int i = 0; i < t.count; i++) {
        CHECK(t.contact[i].n.z > 0.999, "%s, %d: n.z %g", kinds[kind], k, t.contact[i].n.z);
      }
    }
    touching_clear(&t);
  }
}

/* ---- hulls ---- */

/* Every point is behind every face, every corner is one of the points, and the faces close up: that
 * much sni_mesh_hull has checked itself. */
TEST(hulls_of_points) {
  for (int k = 0; k < 60; k++) {
    uint64_t s = (uint64_t)k;
    sn_vec3 x[300];
    const int n = k < 20 ? 8 + k : 300;
    for (int i = 0; i < n; i++) {
      x[i] = random3(&s, 1);
      if (k % 3 == 1) { /* on a ball: all of them are corners */
        x[i] = sn_vec3_scale(x[i], 1 / sn_vec3_norm(x[i]));
      } else if (k % 3 == 2) { /* on a grid: many in one plane, many twice */
        x[i] = (sn_vec3){round(2 * x[i].x), round(2 * x[i].y), round(2 * x[i].z)};
      }
    }
    const sni_mesh cloud = {.nvertex = n, .vertex = x};
    sni_mesh *hull = NULL;
    sn_error err = {0};
    CHECK(sni_mesh_hull("cloud", &cloud, &hull, &err) == SN_OK, "%d: %s", k, err.text);
    CHECK(hull->nvertex - 3 * hull->ntriangle / 2 + hull->ntriangle == 2, "%d: Euler", k);
    CHECK(k % 3 != 1 || hull->nvertex == n, "%d: %d of %d corners", k, hull->nvertex, n);
    for (int t = 0; t < hull->ntriangle; t++) {
      const int *v = hull->triangle[t].v;
      const sn_vec3 a = hull->vertex[v[0]];
      sn_vec3 m =
          sn_vec3_cross(sn_vec3_sub(hull->vertex[v[1]], a), sn_vec3_sub(hull->vertex[v[2]], a));
      m = sn_vec3_scale(m, 1 / sn_vec3_norm(m));
      for (int i = 0; i < n; i++) {
        const double out = sn_vec3_dot(m, sn_vec3_sub(x[i], a));
        CHECK(out < 1e-9, "%d: point %d is %g outside", k, i, out);
      }
    }
    sni_mesh_free(&hull);
  }
}

/* The hull of the block is the box, for all that touches it, and on a plane. */
TEST(a_convex_mesh_is_a_box) {
  write_block(3);
  for (int kind = 0; kind < KINDS; kind++) {
    sn_shape_def convex = shape_of("convex");
    convex.file = FILE_NAME;
    convex.scale = 0.7;
    convex.at = (sn_se3){sn_so3_exp((sn_vec3){0.1, 0.2, 0.3}), {0.5, 0, 0}};
    sn_shape_def box = shape_of("box");
    box.size = (sn_vec3){1.4, 1.4, 0.7};
    box.at = convex.at;
    touching t = stand(convex, kind), u = stand(box, kind);
    int touched = 0;
    for (int k = 0; k < 400; k++) {
      uint64_t s = (uint64_t)(1000 * kind + k);
      const sn_se3 E = {sn_so3_exp(random3(&s, 2)), random3(&s, 1.2)};
      *touching_body(&t, "it") = *touching_body(&u, "it") = E;
      touching_find(&t, 0, 0.05);
      touching_find(&u, 0, 0.05);
      const sni_contact *x = deepest(&u), *y = deepest(&t);
      CHECK(!x == !y, "%s, %d: %d points, of the box %d", kinds[kind], k, t.count, u.count);
      if (x) {
        touched++;
        CHECK(fabs(x->gap - y->gap) < 1e-6, "%s, %d: gap %g, of the box %g", kinds[kind], k, y->gap,
              x->gap);
      }
    }
    CHECK(touched > 50, "%s: only %d touched", kinds[kind], touched);
    /* flat on its top, wherever the triangles there have their edges: on all of the face */
    for (int k = 0; k < 50 && kind == 2; k++) {
      uint64_t s = (uint64_t)k;
      const sn_vec3 p = {test_random(&s, -0.4, 0.4), test_random(&s, -0.4, 0.4), 0.35 + 0.1 + 1e-4};
      const sn_se3 E = {sn_so3_exp((sn_vec3){0, 0, test_random(&s, -2, 2)}), p};
      *touching_body(&t, "it") = sn_se3_mul(convex.at, E);
      touching_find(&t, 0, 2e-3);
      CHECK(t.count == 4 && fabs(touching_area(t.contact, 4) - 0.4 * 0.3) < 1e-6, "%d: area %g", k,
            touching_area(t.contact, t.count));
    }
    touching_clear(&t);
    touching_clear(&u);
  }
}

TEST(what_moves_is_no_mesh) {
  write_block(1);
  sn_builder *b = sn_builder_create();
  sn_contact_def stone = sn_contact_def_default();
  stone.name = "stone";
  sn_builder_add_contact(b, &stone);
  sn_shape_def mesh = shape_of("mesh");
  mesh.file = FILE_NAME;
  sn_body_def body = sn_body_def_default();
  body.name = "rock";
  body.joint.type = "free";
  body.shapes = &mesh;
  body.nshape = 1;
  sn_builder_add_body(b, &body);
  sn_model *m = NULL;
  sn_error err = {0};
  CHECK(sn_builder_finish(b, &m, &err) == SN_E_VALUE, "accepted");
  CHECK(strcmp(err.path, "bodies.rock.shapes[0].contact") == 0, "%s", err.path);
  CHECK(strcmp(err.text,
               "a mesh is touched only where it is fixed to the ground; of what moves take "
               "type: convex, or several of these") == 0,
        "%s", err.text);
  sn_builder_free(&b);
}

/* ---- height fields ---- */

#define HEIGHTS SINEW_BUILD_DIR "/tests/contact_heights.csv"

enum { SIDE = 8 };

static double cell_height(int k, int row, int column) {
  uint64_t s = (uint64_t)(100 * k + 10 * row + column);
  return test_random(&s, 0, 0.5);
}

static sn_shape_def write_heights(int k) {
  FILE *f = fopen(HEIGHTS, "w");
  CHECK(f != NULL, "cannot write " HEIGHTS);
  for (int c = 0; c < SIDE; c++) {
    fprintf(f, "%sx%d", c ? "," : "", c);
  }
  for (int r = 0; r < SIDE; r++) {
    for (int c = 0; c < SIDE; c++) {
      fprintf(f, "%s%.17g", c ? "," : "\n", cell_height(k, r, c));
    }
  }
  fprintf(f, "\n");
  fclose(f);
  sn_shape_def d = shape_of("height_field");
  d.file = HEIGHTS;
  d.size = (sn_vec3){7, 14, 2}; /* cells of 1 by 2, twice as high */
  return d;
}

/* The distance of a point from the ground, by a few hundred points of each triangle. */
static double by_sampling(int k, sn_vec3 p) {
  double least = INFINITY;
  for (int cell = 0; cell < (SIDE - 1) * (SIDE - 1); cell++) {
    const int r = cell / (SIDE - 1), c = cell % (SIDE - 1);
    sn_vec3 q[4];
    for (int i = 0; i < 4; i++) {
      const int row = r + (i >= 2), column = c + (i == 1 || i == 2);
      q[i] = (sn_vec3){column - 3.5, 2 * row - 7.0, 2 * cell_height(k, row, column)};
    }
    for (int half = 0; half < 2; half++) {
      const sn_vec3 a = q[0], b = sn_vec3_sub(q[1 + half], a), d = sn_vec3_sub(q[2 + half], a);
      for (int i = 0; i <= 40; i++) {
        for (int j = 0; i + j <= 40; j++) {
          const sn_vec3 x = sn_vec3_addscaled(sn_vec3_addscaled(a, i / 40.0, b), j / 40.0, d);
          least = fmin(least, sn_vec3_norm(sn_vec3_sub(p, x)));
        }
      }
    }
  }
  return least;
}

static double ground_at(int k, double x, double y) {
  const double cx = x + 3.5, cy = (y + 7) / 2;
  const int c = (int)cx, r = (int)cy;
  const double u = cx - c, v = cy - r;
  const double h00 = cell_height(k, r, c), h11 = cell_height(k, r + 1, c + 1);
  const double h =
      u >= v ? h00 + u * (cell_height(k, r, c + 1) - h00) + v * (h11 - cell_height(k, r, c + 1))
             : h00 + v * (cell_height(k, r + 1, c) - h00) + u * (h11 - cell_height(k, r + 1, c));
  return 2 * h;
}

/* Balls of 15 cm above hills; points of a triangle are 5 cm apart, which leaves 2 mm. */
TEST(balls_above_hills) {
  for (int k = 0; k < 4; k++) {
    touching t = stand(write_heights(k), 0);
    int touched = 0;
    for (int i = 0; i < 120; i++) {
      uint64_t s = (uint64_t)(1000 * k + i);
      const sn_vec3 p = {test_random(&s, -3, 3), test_random(&s, -6, 6), test_random(&s, 0.3, 1.3)};
      if (p.z < ground_at(k, p.x, p.y)) {
        continue;
      }
      touching_body(&t, "it")->p = p;
      touching_find(&t, 0, 0.3);
      const double gap = by_sampling(k, p) - 0.15;
      const sni_contact *x = deepest(&t);
      if (x && x->gap > 0) {
        touched++;
        CHECK(fabs(x->gap - gap) < 5e-3, "%d, %d: gap %g, expected %g", k, i, x->gap, gap);
      } else {
        CHECK(x || gap > 0.29 || gap < 0.01, "%d, %d: nothing at %g from %g %g %g", k, i, gap, p.x,
              p.y, p.z);
      }
    }
    CHECK(touched > 10, "only %d touched", touched);
    touching_clear(&t);
  }
}

/* What is a little in the hills is so at points of both surfaces: not below a triangle that goes on
 * beyond its edges. */
TEST(depths_on_hills_are_real) {
  for (int kind = 0; kind < KINDS; kind++) {
    touching t = stand(write_heights(2), kind);
    int deep = 0;
    double wrong = 0;
    for (int i = 0; i < 200; i++) {
      uint64_t s = (uint64_t)(1000 * kind + i);
      sn_se3 *E = touching_body(&t, "it");
      E->p = (sn_vec3){test_random(&s, -2, 2), test_random(&s, -5, 5), 1.5};
      E->R = sn_so3_exp(random3(&s, 3));
      double lo = 0; /* let down until it is 1 mm in the ground */
      for (int step = 0; step < 800; step++) {
        touching_find(&t, 0, 0.01);
        const sni_contact *x = deepest(&t);
        if (x && x->gap < -1e-3) {
          break;
        }
        E->p.z -= 0.002;
      }
      for (int k = 0; k < t.count; k++) {
        const sni_contact *c = &t.contact[k];
        if (c->gap < 0) {
          const sn_vec3 y = sn_vec3_addscaled(c->x, -0.5 * c->gap, c->n);
          deep++;
          lo = fmin(lo, c->gap);
          wrong = fmax(wrong, fabs(y.z - ground_at(2, y.x, y.y)));
        }
      }
      CHECK(lo > -0.004, "kind %d, %d: %g deep after 2 mm", kind, i, -lo);
    }
    CHECK(deep >= 200, "kind %d: only %d are in the ground", kind, deep);
    CHECK(wrong < 1e-6, "kind %d: a point of the ground is %g beside it", kind, wrong);
    touching_clear(&t);
  }
}

/* Volume under flat ground: a box.  Its columns need no names. */
TEST(a_height_field_is_solid) {
  static const char *const text[] = {"a,b,c\n1,1,1\n1,1,1\n", "1,1,1\n1,1,1\n"};
  sn_shape_def d = shape_of("height_field");
  d.file = HEIGHTS;
  d.size = (sn_vec3){4, 2, 1};
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  const sni_shape_ops *ops = sni_shape_kind(sni_shape_kind_find("height_field"));
  for (int k = 0; k < SNI_COUNT(text); k++) {
    FILE *f = fopen(HEIGHTS, "w");
    fputs(text[k], f);
    fclose(f);
    CHECK(ops->load(&d, &mesh, &err) == SN_OK, "%s", err.text);
    CHECK(fabs(mesh->solid.mass - 4 * 2 * 0.2) < 1e-12 && !mesh->inside_out, "volume %g",
          mesh->solid.mass);
    sni_mesh_free(&mesh);
  }
  FILE *f = fopen(HEIGHTS, "w");
  fprintf(f, "a\n1\n");
  fclose(f);
  CHECK(ops->load(&d, &mesh, &err) == SN_E_VALUE &&
            strcmp(err.text, "has 1 columns and 1 rows, needs at least two of each") == 0,
        "%s", err.text);
}

int main(void) {
  RUN_TESTS(T(a_block_of_triangles_is_a_box), T(flat_ground_has_no_edges), T(shots_at_a_mesh),
            T(hulls_of_points), T(a_convex_mesh_is_a_box), T(what_moves_is_no_mesh),
            T(balls_above_hills), T(depths_on_hills_are_real), T(a_height_field_is_solid));
}
