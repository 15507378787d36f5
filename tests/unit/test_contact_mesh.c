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

int main(void) {
  RUN_TESTS(T(a_block_of_triangles_is_a_box), T(flat_ground_has_no_edges), T(shots_at_a_mesh));
}
