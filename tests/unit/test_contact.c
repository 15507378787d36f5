/* Points that touch: how many, where, which, and between whom. */
#include "contact.h"
#include "contact/box_tree.h"
#include "contact/manifold.h"
#include "heap.h"

#define FREE(name, shape)                                                                          \
  "  " name ":\n    joint: {type: free}\n    shapes: [{density: 1, contact: stone, " shape "}]\n"

/* ---- on a plane ---- */

static void check_points(const touching *t, int count, double gap, const char *what) {
  CHECK(t->count == count, "%s: %d points, expected %d", what, t->count, count);
  for (int k = 0; k < count; k++) {
    CHECK(fabs(t->contact[k].gap - gap) < 1e-12, "%s: gap %g, expected %g", what, t->contact[k].gap,
          gap);
    CHECK(t->contact[k].n.z == 1 && t->contact[k].body[1] == -1 && t->contact[k].body[0] >= 0,
          "%s: the normal leaves the ground", what);
    CHECK(fabs(t->contact[k].x.z - gap / 2) < 1e-12, "%s: midway, %g", what, t->contact[k].x.z);
  }
}

TEST(shapes_on_a_plane) {
  const struct {
    const char *shape;
    double height; /* of the body's origin when it touches */
    int count;
    double area;
  } row[] = {{"type: sphere, radius: 0.3", 0.3, 1, 0},
             {"type: box, size: [1, 2, 0.5]", 0.25, 4, 2},
             {"type: capsule, from: [-0.5, 0, 0], to: [0.5, 0, 0], radius: 0.1", 0.1, 2, 0},
             {"type: cylinder, from: [0, 0, 0], to: [0, 0, 1], radius: 0.2", 0, 4, 0.08},
             {"type: cylinder, from: [-1, 0, 0], to: [1, 0, 0], radius: 0.2", 0.2, 2, 0},
             {"type: ellipsoid, radii: [1, 2, 0.5]", 0.5, 1, 0}};
  for (int k = 0; k < (int)(sizeof row / sizeof row[0]); k++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s" FREE("it", "%s"), CONTACT_HEAD, CONTACT_FLOOR, row[k].shape);
    touching t = touching_set(text, 0);
    for (int sign = -1; sign <= 1; sign++) {
      touching_body(&t, "it")->p.z = row[k].height + sign * 1e-3;
      touching_find(&t, 0, 2e-3);
      check_points(&t, row[k].count, sign * 1e-3, row[k].shape);
      CHECK(fabs(touching_area(t.contact, t.count) - row[k].area) < 1e-12, "%s: area %g",
            row[k].shape, touching_area(t.contact, t.count));
    }
    touching_body(&t, "it")->p.z = row[k].height + 3e-3;
    CHECK(touching_find(&t, 0, 2e-3) == 0, "%s: touches from afar", row[k].shape);
    touching_clear(&t);
  }
}

/* A coin that leans has its lowest point where it leans to. */
TEST(a_leaning_coin) {
  touching t =
      touching_set(CONTACT_HEAD CONTACT_FLOOR FREE(
                       "coin", "type: cylinder, from: [0, 0, 0], to: [0, 0, 0.1], radius: 1"),
                   0);
  for (int k = 0; k < 100; k++) {
    const double turn = 0.1 * k, lean = pow(10, -0.08 * k);
    sn_se3 *E = touching_body(&t, "coin");
    E->R = sn_mat3_mul(sn_so3_exp((sn_vec3){0, 0, turn}), sn_so3_exp((sn_vec3){0, lean, 0}));
    E->p.z = 1;
    touching_find(&t, 0, 10);
    double least = INFINITY;
    for (int i = 0; i < t.count; i++) {
      least = fmin(least, t.contact[i].gap);
    }
    CHECK(fabs(least - (1 - sin(lean))) < 1e-7, "lean %g: %g, expected %g", lean, least,
          1 - sin(lean));
  }
  touching_clear(&t);
}

/* ---- two bodies ---- */

/* Boxes face to face, shifted and turned: four points on the overlap, with its area, found by
 * clipping on a grid. */
static double overlap_by_counting(double turn, double dx, double dy) {
  const int n = 100;
  int inside = 0;
  for (int i = 0; i < n * n; i++) {
    const double x = ((i % n) + 0.5) / n - 0.5, y = ((i / n) + 0.5) / n - 0.5;
    const double u = cos(turn) * (x - dx) + sin(turn) * (y - dy);
    const double v = -sin(turn) * (x - dx) + cos(turn) * (y - dy);
    inside += fabs(u) < 0.5 && fabs(v) < 0.5;
  }
  return (double)inside / (n * n);
}

TEST(box_on_box) {
  touching t = touching_set(CONTACT_HEAD FREE("a", "type: box, size: [1, 1, 1]")
                                FREE("b", "type: box, size: [1, 1, 1]"),
                            0);
  for (int k = 0; k < 300; k++) {
    uint64_t s = (uint64_t)k;
    const double turn = k < 100 ? 0 : test_random(&s, -1, 1);
    const double dx = test_random(&s, -0.4, 0.4), dy = test_random(&s, -0.4, 0.4);
    const double gap = k % 3 == 0 ? 0 : test_random(&s, -1e-3, 1e-3);
    *touching_body(&t, "b") = (sn_se3){sn_so3_exp((sn_vec3){0, 0, turn}), {dx, dy, 1 + gap}};
    touching_find(&t, 0, 2e-3);
    CHECK(t.count == 4, "%d: %d points", k, t.count);
    for (int i = 0; i < 4; i++) {
      CHECK(fabs(t.contact[i].gap - gap) < 1e-12 && fabs(t.contact[i].n.z + 1) < 1e-12,
            "%d: gap %g, expected %g", k, t.contact[i].gap, gap);
    }
    /* four of up to eight corners: well over half of the whole area */
    const double area = overlap_by_counting(turn, dx, dy), found = touching_area(t.contact, 4);
    CHECK(found < area + 0.01 && found > (turn == 0 ? area - 0.01 : 0.6 * area), "%d: %g of %g", k,
          found, area);
  }
  touching_clear(&t);
}

/* Two boards that lean on each other with their upper edges, and a roof of boxes of other sizes:
 * both faces of an edge allow many directions, and that in the midst of them is the one.  What
 * steps miss, up to a millionth of the sizes, makes edges be in each other or slip by; it does not
 * turn the direction. */
TEST(edges_that_meet_head_on) {
  const sn_vec3 size[] = {{0.02, 0.3, 1}, {0.0003, 0.06, 0.09}, {1, 1, 1}};
  for (int kind = 0; kind < 3; kind++) {
    const sn_vec3 s = size[kind];
    char text[1000];
    snprintf(text, sizeof text,
             "%s" FREE("a", "type: box, size: [%g, %g, %g]")
                 FREE("b", "type: box, size: [%g, %g, %g]"),
             CONTACT_HEAD, s.x, s.y, s.z, s.x, s.y, s.z);
    touching t = touching_set(text, 0);
    const double thin = fmin(s.x, s.z);
    for (int k = 0; k < 300; k++) {
      uint64_t seed = (uint64_t)k;
      const double lean = test_random(&seed, 0.1, 0.7);
      const double off = k % 3 == 0 ? 0 : test_random(&seed, -1e-6, 1e-6) * thin;
      const double by = k % 3 < 2 ? 0 : test_random(&seed, -1e-6, 1e-6) * thin;
      const sn_mat3 R = sn_so3_exp((sn_vec3){0, lean, 0});
      const sn_vec3 corner = sn_mat3_mul_vec(R, (sn_vec3){s.x / 2, 0, s.z / 2});
      *touching_body(&t, "a") = (sn_se3){R, sn_vec3_neg(corner)};
      *touching_body(&t, "b") =
          (sn_se3){sn_so3_exp((sn_vec3){0, -lean, 0}), {corner.x + off, 0, by - corner.z}};
      touching_find(&t, 0, 0.1 * thin);
      CHECK(t.count >= 2, "%d, %d: %d points", kind, k, t.count);
      for (int i = 0; i < t.count; i++) {
        const sni_contact *c = &t.contact[i];
        CHECK(fabs(c->n.z) < 1e-5 && fabs(c->n.y) < 1e-9,
              "%d, %d: lean %g, off %g, by %g: n %g %g %g", kind, k, lean, off, by, c->n.x, c->n.y,
              c->n.z);
      }
    }
    touching_clear(&t);
  }
}

/* Every point that touches is in the slab between the shapes, and the deepest is the distance. */
TEST(manifolds_hold_the_deepest_point) {
  static const char *const shape[] = {
      "type: sphere, radius: 0.4",
      "type: capsule, from: [0, 0, -0.4], to: [0, 0, 0.4], radius: 0.2",
      "type: box, size: [0.6, 0.8, 1]",
      "type: cylinder, from: [0, 0, -0.4], to: [0, 0, 0.4], radius: 0.3",
      "type: ellipsoid, radii: [0.3, 0.4, 0.6]"};
  for (int pair = 0; pair < 25; pair++) {
    char text[1000];
    snprintf(text, sizeof text, "%s" FREE("a", "%s") FREE("b", "%s"), CONTACT_HEAD, shape[pair / 5],
             shape[pair % 5]);
    touching t = touching_set(text, 0);
    for (int k = 0; k < 60; k++) {
      uint64_t s = (uint64_t)(1000 * pair + k);
      sn_vec3 r[3];
      for (int i = 0; i < 3; i++) {
        r[i] = (sn_vec3){test_random(&s, -1, 1), test_random(&s, -1, 1), test_random(&s, -1, 1)};
      }
      *touching_body(&t, "a") = (sn_se3){sn_so3_exp(sn_vec3_scale(r[0], 2)), {0, 0, 0}};
      *touching_body(&t, "b") =
          (sn_se3){sn_so3_exp(sn_vec3_scale(r[1], 2)), sn_vec3_scale(r[2], 0.8)};
      sni_placed p[2];
      sni_convex c[2];
      for (int i = 0; i < 2; i++) {
        const sni_solid own = sni_shape_solid(&t.m->shape[i].def);
        c[i] = sni_convex_make(&own, NULL);
        p[i] = (sni_placed){&c[i], sn_se3_mul(t.E_wb[t.m->shape[i].body], own.at)};
      }
      const sni_nearest near = sni_nearest_find(&p[0], &p[1]);
      const double gap = near.distance - c[0].radius - c[1].radius;
      const double margin = 0.05;
      touching_find(&t, 0, margin);
      CHECK((t.count > 0) == (gap <= margin), "%d, %d: gap %g and %d points", pair, k, gap,
            t.count);
      double least = INFINITY;
      for (int i = 0; i < t.count; i++) {
        const sni_contact *x = &t.contact[i];
        least = fmin(least, x->gap);
        CHECK(x->gap <= margin && x->gap > gap - 1e-6, "%d, %d: %g beyond %g", pair, k, x->gap,
              gap);
        /* on both shapes, seen along n */
        for (int side = 0; side < 2; side++) {
          const sn_vec3 d = side ? x->n : sn_vec3_neg(x->n);
          const double past =
              sn_vec3_dot(d, sn_vec3_sub(x->x, sni_placed_support(&p[side], d))) - c[side].radius;
          CHECK(past < 0.5 * x->gap + 1e-6, "%d, %d: %g past the shape", pair, k, past);
        }
      }
      CHECK(t.count == 0 || fabs(least - gap) < 1e-6, "%d, %d: deepest %g, gap %g", pair, k, least,
            gap);
    }
    touching_clear(&t);
  }
}

/* What moves a little keeps its points by name.  Where the overlap is an octagon, which four of its
 * corners say most changes now and then. */
TEST(identities_stay) {
  touching t = touching_set(CONTACT_HEAD FREE("a", "type: box, size: [1, 1, 1]")
                                FREE("b", "type: box, size: [1, 1, 1]"),
                            0);
  for (int turned = 0; turned < 2; turned++) {
    uint32_t before[4] = {0};
    int changes = 0;
    for (int k = 0; k < 200; k++) {
      uint64_t s = (uint64_t)k;
      const sn_vec3 r = {test_random(&s, -1e-4, 1e-4), test_random(&s, -1e-4, 1e-4), 0.3 * turned};
      *touching_body(&t, "b") = (sn_se3){sn_so3_exp(r), {0.1 + 1e-4 * k, 0.2, 1}};
      touching_find(&t, 0, 1e-2);
      CHECK(t.count == 4, "%d: %d points", k, t.count);
      for (int i = 0; i < 4; i++) {
        changes += k > 0 && t.contact[i].feature != before[i];
        CHECK(i == 0 || t.contact[i].feature > t.contact[i - 1].feature, "%d: not in order", k);
        before[i] = t.contact[i].feature;
      }
    }
    CHECK(changes <= (turned ? 4 : 0), "%d of 796 points changed their names", changes);
  }
  touching_clear(&t);
}

/* ---- who touches whom ---- */

static int pairs_of(touching *t) {
  int n = 0;
  touching_find(t, 0, 1e-3);
  for (int k = 0; k < t->count; k++) {
    n += k == 0 || t->contact[k].shape[0] != t->contact[k - 1].shape[0] ||
         t->contact[k].shape[1] != t->contact[k - 1].shape[1];
  }
  return n;
}

/* All bodies are in one place. */
TEST(filter) {
#define BALL "shapes: [{type: sphere, radius: 1, density: 1, contact: stone}]\n"
#define CHAIN(self)                                                                                \
  "sinew: 1\ncontacts: {stone: {self: " self "}}\nbodies:\n"                                       \
  "  a: {joint: {type: revolute, axis: [1, 0, 0]}, " BALL2 "}\n"                                   \
  "  b: {parent: a, joint: {type: revolute, axis: [1, 0, 0]}, " BALL2 "}\n"                        \
  "  c: {parent: b, joint: {type: revolute, axis: [1, 0, 0]}, " BALL2 "}\n"                        \
  "  d: {parent: c, joint: {type: fixed}, " BALL2 "}\n"
#define BALL2 "shapes: [{type: sphere, radius: 1, density: 1, contact: stone}]"
/* a and b hang on base; rock is other ground */
#define STAND(self)                                                                                \
  "sinew: 1\ncontacts: {stone: {self: " self "}}\nbodies:\n"                                       \
  "  base: {joint: {type: fixed}, " BALL2 "}\n  rock: {joint: {type: fixed}, " BALL2 "}\n"         \
  "  a: {parent: base, joint: {type: revolute, axis: [1, 0, 0]}, " BALL2 "}\n"                     \
  "  b: {parent: a, joint: {type: revolute, axis: [1, 0, 0]}, " BALL2 "}\n"
  const struct {
    const char *what, *text;
    int pairs;
  } row[] = {
      {"a chain leaves itself alone", CHAIN("none"), 0},
      {"but for what no joint connects: a with c and d", CHAIN("distant"), 2},
      {"all but what is fixed together", CHAIN("all"), 5},
      {"two mechanisms and the ground",
       CHAIN("none") "  e: {joint: {type: prismatic, axis: [1, 0, 0]}, " BALL2 "}\n"
                     "  ground: {joint: {type: fixed}, " BALL2
                     "}\n  rock: {parent: ground, joint: {type: fixed}, " BALL2 "}\n",
       4 + 2 * 5},
      {"a loop makes neighbours",
       CHAIN("distant") "loops:\n  l: {type: spherical, a: {body: a}, b: {body: c}}\n", 0},
      {"whoever is named is ignored",
       CHAIN("distant") "  e: {ignore: [a, world], joint: {type: free}, " BALL2 "}\n"
                        "  ground: {joint: {type: fixed}, " BALL2 "}\n",
       2 + 3 + 4},
      {"a mechanism leaves what it hangs on alone, and no other ground", STAND("none"), 1 + 2},
      {"and further up", STAND("distant, apart: 2"), 1 + 1},
      {"unless all is asked for", STAND("all"), 2 + 2 + 1},
      {"further apart", CHAIN("distant, apart: 2"), 0},
      {"a free body is its own", CHAIN("none") "  e: {parent: c, joint: {type: free}, " BALL2 "}\n",
       4}};
  for (int k = 0; k < (int)(sizeof row / sizeof row[0]); k++) {
    touching t = touching_set(row[k].text, 0);
    const int n = pairs_of(&t);
    CHECK(n == row[k].pairs, "%s: %d pairs, expected %d", row[k].what, n, row[k].pairs);
    touching_clear(&t);
  }
}

/* ---- crowds ---- */

static char *crowd(int n, const char *shape) {
  char *text = malloc((size_t)n * 200 + 1000);
  int at = sprintf(text, "%s%s", CONTACT_HEAD, CONTACT_FLOOR);
  for (int k = 0; k < n; k++) {
    at +=
        sprintf(text + at,
                "  b%d:\n    joint: {type: free}\n    shapes: [{density: 1, contact: stone, %s}]\n",
                k, shape);
  }
  return text;
}

static void scatter(touching *t, uint64_t seed, double size) {
  for (int i = 0; i < t->m->tree.nbody; i++) {
    const sn_vec3 r = {test_random(&seed, -2, 2), test_random(&seed, -2, 2),
                       test_random(&seed, -2, 2)};
    const sn_vec3 p = {test_random(&seed, 0, size), test_random(&seed, 0, size),
                       test_random(&seed, 0, size)};
    const sn_vec3 v = {test_random(&seed, -1, 1), test_random(&seed, -1, 1),
                       test_random(&seed, -1, 1)};
    if (t->m->tree.vadr[i + 1] > t->m->tree.vadr[i]) {
      t->E_wb[i] = (sn_se3){sn_so3_exp(r), p};
      t->phi[i] = (sn_vec6){r, v};
    }
  }
}

static bool same(const sni_contact *a, const sni_contact *b) {
  return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1] && a->feature == b->feature &&
         a->gap == b->gap && memcmp(&a->x, &b->x, sizeof a->x) == 0 &&
         memcmp(&a->n, &b->n, sizeof a->n) == 0;
}

/* The pairs that the tree finds are those of all pairs, whatever it has seen before; and points are
 * the same bits. */
TEST(the_tree_finds_all_pairs) {
  const int n = 150;
  char *text = crowd(n, "type: box, size: [0.5, 0.7, 1]");
  touching t = touching_set(text, 0);
  for (int k = 0; k < 8; k++) {
    scatter(&t, (uint64_t)k, k % 2 ? 5 : 6);
    touching_find(&t, 0, 0.01);
    sni_contact *was = malloc((size_t)t.count * sizeof *was);
    memcpy(was, t.contact, (size_t)t.count * sizeof *was);
    const int count = t.count;
    sni_finder *fresh = NULL, *old = t.f;
    CHECK(sni_finder_create(t.m, 0, &fresh, NULL) == SN_OK, "no finder");
    t.f = fresh;
    touching_find(&t, 0, 0.01);
    CHECK(t.count == count, "%d: a fresh finder finds %d, not %d", k, t.count, count);
    for (int i = 0; i < count; i++) {
      CHECK(same(&was[i], &t.contact[i]), "%d: a fresh finder finds another point %d", k, i);
    }
    sni_finder_free(&fresh);
    t.f = old;
    /* all pairs, one by one */
    int pairs = 0, touched = 0;
    for (int i = 0; i < count; i++) {
      pairs += was[i].body[1] >= 0 && (i == 0 || was[i].shape[0] != was[i - 1].shape[0] ||
                                       was[i].shape[1] != was[i - 1].shape[1]);
    }
    const sni_solid own = sni_shape_solid(&t.m->shape[1].def);
    const sni_convex c = sni_convex_make(&own, NULL);
    for (int i = 1; i < t.m->nshape; i++) {
      for (int j = 1; j < i; j++) {
        const sni_placed p = {&c, t.E_wb[t.m->shape[i].body]}, q = {&c, t.E_wb[t.m->shape[j].body]};
        touched += sni_nearest_find(&p, &q).distance <= 0.01;
      }
    }
    CHECK(pairs == touched && pairs > 20, "%d: %d pairs, expected %d", k, pairs, touched);
    free(was);
  }
  touching_clear(&t);
  free(text);
}

/* ---- the tree alone ---- */

typedef struct pair_count {
  int all;
  unsigned char *seen; /* n x n */
  int n;
} pair_count;

static void count_pair(void *user, int a, int b) {
  pair_count *c = user;
  const int lo = a < b ? a : b, hi = a < b ? b : a;
  c->all++;
  c->seen[lo * c->n + hi]++;
}

/* What a walk has to go through, about: surfaces of the boxes within. */
static double surfaces(const sni_box_tree *t, int k) {
  const sni_box_node *x = &t->node[k];
  const sn_vec3 d = sn_vec3_sub(x->box.hi, x->box.lo);
  return x->height == 0 ? 0
                        : d.x * d.y + d.y * d.z + d.z * d.x + surfaces(t, x->child[0]) +
                              surfaces(t, x->child[1]);
}

static sni_aabb cube_at(sn_vec3 p) {
  return sni_aabb_grow((sni_aabb){p, p}, 0.1);
}

/* Bodies that have moved among each other for long are found as soon as those that just came. */
TEST(the_tree_does_not_age) {
  enum { N = 300, STEPS = 400 };
  sn_vec3 p[N];
  sni_box_tree t, fresh;
  void *memory = malloc(sni_box_tree_size(N)), *other = malloc(sni_box_tree_size(N));
  uint64_t seed = 5;
  sni_box_tree_place(&t, N, memory);
  for (int i = 0; i < N; i++) {
    p[i] = (sn_vec3){test_random(&seed, 0, 2), test_random(&seed, 0, 2), test_random(&seed, 0, 2)};
  }
  for (int k = 0; k < STEPS; k++) {
    for (int i = 0; i < N; i++) { /* round and round, the inner ones faster */
      const double r = 0.05 / (0.3 + hypot(p[i].x - 1, p[i].y - 1));
      p[i] = (sn_vec3){p[i].x - r * (p[i].y - 1), p[i].y + r * (p[i].x - 1), p[i].z};
      sni_box_tree_update(&t, i, cube_at(p[i]), sni_aabb_grow(cube_at(p[i]), 0.02));
    }
    sni_box_tree_tidy(&t);
  }
  sni_box_tree_place(&fresh, N, other);
  for (int i = 0; i < N; i++) {
    sni_box_tree_update(&fresh, i, t.node[t.leaf[i]].box, t.node[t.leaf[i]].box);
  }
  sni_box_tree_tidy(&fresh);
  pair_count c = {.seen = calloc(N * N, 1), .n = N};
  sni_box_tree_pairs(&t, count_pair, &c);
  int expected = 0;
  for (int i = 0; i < N; i++) {
    for (int j = i + 1; j < N; j++) {
      const bool meet = sni_aabb_overlap(&t.node[t.leaf[i]].box, &t.node[t.leaf[j]].box);
      expected += meet;
      CHECK(c.seen[i * N + j] == meet, "%d, %d: %d times", i, j, c.seen[i * N + j]);
    }
  }
  const double old = surfaces(&t, t.root), young = surfaces(&fresh, fresh.root);
  CHECK(c.all == expected && expected > N, "%d pairs, expected %d", c.all, expected);
  CHECK(old < 1.25 * young, "boxes of %g, of a fresh tree %g", old, young);
  CHECK(t.node[t.root].height <= 14, "%d levels", t.node[t.root].height);
  free(c.seen);
  free(memory);
  free(other);
}

TEST(ten_thousand_points) {
  const int n = 2600;
  char *text = crowd(n, "type: box, size: [1, 1, 1]");
  touching t = touching_set(text, 0);
  for (int k = 0; k < t.m->tree.nbody; k++) {
    if (t.m->tree.vadr[k + 1] > t.m->tree.vadr[k]) {
      t.E_wb[k].p = (sn_vec3){1.5 * (k % 50), 1.5 * (double)(k / 50), 0.5};
    }
  }
  CHECK(touching_find(&t, 0, 1e-3) == 4 * n, "%d points", t.count);
  for (int k = 1; k < t.count; k++) {
    const sni_contact *a = &t.contact[k - 1], *b = &t.contact[k];
    CHECK(a->shape[0] < b->shape[0] || (a->shape[0] == b->shape[0] && a->feature < b->feature),
          "point %d is not in order", k);
  }
  touching_clear(&t);
  /* and a clear word where there is no room */
  t = touching_set(text, 100);
  sn_error err = {0};
  for (int k = 0; k < t.m->tree.nbody; k++) {
    t.E_wb[k].p.z = 0.4;
  }
  CHECK(touching_try(&t, 0, 1e-3, &err) == SN_E_LIMIT, "no word");
  CHECK(strcmp(err.text, "more than 100 points touch at once") == 0, "%s", err.text);
  touching_clear(&t);
  free(text);
}

TEST(finding_allocates_nothing) {
  char *text = crowd(100, "type: cylinder, from: [0, 0, -0.4], to: [0, 0, 0.4], radius: 0.5");
  touching t = touching_set(text, 0);
  for (int k = 0; k < 10; k++) {
    scatter(&t, (uint64_t)k, 4);
    sn_error err = {0};
    heap_watch(0);
    const sn_status status = touching_try(&t, 0.01, 0.01, &err);
    const long calls = heap_stop();
    CHECK(status == SN_OK && calls == 0, "%ld calls", calls);
  }
  touching_clear(&t);
  free(text);
}

TEST(nowhere_is_said) {
  touching t = touching_set(CONTACT_HEAD CONTACT_FLOOR FREE("lost", "type: sphere, radius: 1"), 0);
  touching_body(&t, "lost")->p.x = NAN;
  sn_error err = {0};
  CHECK(touching_try(&t, 0.01, 0, &err) == SN_E_DIVERGED, "no word");
  CHECK(strcmp(err.text, "body 'lost' is nowhere: its pose or twist is not finite") == 0, "%s",
        err.text);
  touching_clear(&t);
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(shapes_on_a_plane), T(a_leaning_coin), T(box_on_box), T(edges_that_meet_head_on),
            T(manifolds_hold_the_deepest_point), T(identities_stay), T(filter),
            T(the_tree_finds_all_pairs), T(the_tree_does_not_age), T(ten_thousand_points),
            T(finding_allocates_nothing), T(nowhere_is_said));
}
