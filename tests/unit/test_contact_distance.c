/* Distances of convex shapes, against what proves them: points that are in the shapes, planes that
 * no point of a shape passes, and all other directions. */
#include "solids.h"

/* A result in the world, of the whole shapes. */
typedef struct result {
  double gap;
  sn_vec3 n, x[2];
} result;

static result measure(const solid *a, const solid *b) {
  const sni_nearest near = sni_nearest_find(&a->s, &b->s);
  return (result){.gap = near.distance - a->c.radius - b->c.radius,
                  .n = near.n,
                  .x = {sn_vec3_addscaled(near.x[0], -a->c.radius, near.n),
                        sn_vec3_addscaled(near.x[1], b->c.radius, near.n)}};
}

/* Round shapes that are half inside each other use up the points of the expanding polytope, which
 * leaves less than 1e-6; all else is exact to 1e-11 by the stopping rules. */
static double exact(const solid *a, const solid *b, double gap) {
  const double size = a->c.reach + b->c.reach;
  const bool round = strcmp(a->def.type, "box") != 0 || strcmp(b->def.type, "box") != 0;
  return (!round || gap > 0 ? 1e-9 : 1e-6) * size;
}

/* Two points in the shapes are so far apart, and a slab of that thickness lies between them: so
 * that is the distance.  Drawn corners are on the surfaces to round-off. */
static void check_proof(const solid *a, const solid *b, result r, const char *what, unsigned seed) {
  const double size = a->c.reach + b->c.reach, tight = exact(a, b, r.gap);
  CHECK(fabs(sn_vec3_norm(r.n) - 1) < 1e-12, "%s %u: |n| = %g", what, seed, sn_vec3_norm(r.n));
  CHECK(solid_outside(a, r.x[0]) < tight, "%s %u: first point %g outside", what, seed,
        solid_outside(a, r.x[0]));
  CHECK(solid_outside(b, r.x[1]) < tight, "%s %u: second point %g outside", what, seed,
        solid_outside(b, r.x[1]));
  const double along = sn_vec3_dot(r.n, sn_vec3_sub(r.x[0], r.x[1]));
  CHECK(fabs(along - r.gap) < tight, "%s %u: points are %g apart along n, the gap is %g", what,
        seed, along, r.gap);
  const double slab = -solid_reach(a, sn_vec3_neg(r.n)) - solid_reach(b, r.n);
  CHECK(slab > r.gap - tight, "%s %u: a slab of %g between them, the gap is %g", what, seed, slab,
        r.gap);
  if (r.gap > 0) {
    const double apart = sn_vec3_norm(sn_vec3_sub(r.x[0], r.x[1]));
    CHECK(apart < r.gap + 1e-6 * size, /* along a round surface: the root of rounding */
          "%s %u: points are %g apart, the gap is %g", what, seed, apart, r.gap);
  }
}

/* No direction brings them apart by less.  Corners of what is drawn round lie up to 5e-3 of a
 * radius inside of the furthest point. */
static void check_depth(const solid *a, const solid *b, result r, const char *what, unsigned seed) {
  uint64_t s = seed;
  for (int k = 0; k < 400; k++) {
    sn_vec3 m = k < 200 ? solid_random(&s, -1, 1)
                        : sn_vec3_addscaled(r.n, k < 300 ? 0.1 : 0.01, solid_random(&s, -1, 1));
    m = sn_vec3_scale(m, 1 / sn_vec3_norm(m));
    const double gap = -solid_reach(a, sn_vec3_neg(m)) - solid_reach(b, m);
    const double drawn = 1.2e-2 * (a->c.reach + b->c.reach);
    CHECK(gap < r.gap + drawn, "%s %u: along another direction they are %g apart, found %g", what,
          seed, gap, r.gap);
  }
}

typedef void (*pair_fn)(solid *a, solid *b, const char *what, unsigned seed);

/* Pairs of all kinds, from far apart to deep in each other. */
static void for_all_pairs(int n, double far, pair_fn f) {
  for (int i = 0; i < SOLID_KINDS; i++) {
    for (int j = 0; j < SOLID_KINDS; j++) {
      char what[64];
      snprintf(what, sizeof what, "%s and %s", solid_kinds[i], solid_kinds[j]);
      for (int k = 0; k < n; k++) {
        uint64_t seed = (uint64_t)(1000 * (SOLID_KINDS * i + j) + k);
        const unsigned name = (unsigned)seed;
        solid a, b;
        solid_make_random(&a, i, &seed, far);
        solid_make_random(&b, j, &seed, far);
        f(&a, &b, what, name);
        solid_free(&a);
        solid_free(&b);
      }
    }
  }
}

static void prove(solid *a, solid *b, const char *what, unsigned seed) {
  const result r = measure(a, b);
  check_proof(a, b, r, what, seed);
  if (r.gap < 0) {
    check_depth(a, b, r, what, seed);
  }
}

TEST(distances_are_proved) {
  for_all_pairs(200, 1.2, prove);
}

TEST(depths_are_proved) {
  for_all_pairs(100, 0.3, prove);
}

/* Pairs brought together along n until they just touch, or overlap a little: no more than they were
 * moved, and no less than the polytope says.  Between these is only what corners do: out of them
 * there are many ways. */
static void bring_together(solid *a, solid *b, const char *what, unsigned seed) {
  static const double depth[] = {-1e-9, 0, 1e-12, 1e-9, 1e-6, 1e-4, 2e-3};
  const result r = measure(a, b);
  const sn_se3 E = a->E;
  if (r.gap < 0.05) {
    return;
  }
  for (int k = 0; k < (int)(sizeof depth / sizeof depth[0]); k++) {
    sn_se3 moved = E;
    moved.p = sn_vec3_addscaled(E.p, -r.gap - depth[k], r.n);
    solid_place(a, moved);
    const result t = measure(a, b);
    /* round shapes take the way out that is good to a thousandth */
    CHECK(t.gap > -depth[k] - 1e-9 - 1e-3 * fmax(0, depth[k]) && t.gap < fmax(-depth[k], 0) + 1e-9,
          "%s %u: %g deep, found %g", what, seed, depth[k], -t.gap);
    if (depth[k] >= 0 && a->c.radius == 0 && b->c.radius == 0) {
      sni_nearest other;
      sni_epa(&a->s, &b->s, &other);
      CHECK(t.gap < other.distance + 1e-8, "%s %u: %g deep, EPA says %g", what, seed, -t.gap,
            -other.distance);
    }
    check_proof(a, b, t, what, seed);
  }
}

TEST(shapes_that_just_touch) {
  for_all_pairs(100, 1.2, bring_together);
}

/* n is as good as the root of what rounding leaves of the gap: 3e-6 where that is 1e-3. */
static void exchange(solid *a, solid *b, const char *what, unsigned seed) {
  const result r = measure(a, b), s = measure(b, a);
  const double size = a->c.reach + b->c.reach;
  CHECK(fabs(r.gap - s.gap) < exact(a, b, r.gap), "%s %u: %.12g and %.12g", what, seed, r.gap,
        s.gap);
  if (r.gap > 1e-3 * size) { /* deep ones have several ways out that are as short */
    CHECK(sn_vec3_norm(sn_vec3_add(r.n, s.n)) < 1e-5, "%s %u: n is another", what, seed);
  }
}

TEST(exchange_turns_the_normal) {
  for_all_pairs(100, 1, exchange);
}

static void move(solid *a, solid *b, const char *what, unsigned seed) {
  uint64_t s = seed;
  const result r = measure(a, b);
  const sn_se3 E = solid_pose(&s, 2);
  solid_place(a, sn_se3_mul(E, a->E));
  solid_place(b, sn_se3_mul(E, b->E));
  const result t = measure(a, b);
  const double size = a->c.reach + b->c.reach;
  CHECK(fabs(r.gap - t.gap) < exact(a, b, r.gap), "%s %u: %.12g and %.12g", what, seed, r.gap,
        t.gap);
  if (r.gap > 1e-3 * size) {
    const sn_vec3 d = sn_vec3_sub(sn_mat3_mul_vec(E.R, r.n), t.n);
    CHECK(sn_vec3_norm(d) < 1e-5, "%s %u: n is another, %g", what, seed, sn_vec3_norm(d));
  }
}

TEST(rigid_motion_changes_nothing) {
  for_all_pairs(100, 1, move);
}

/* d gap = n . d x.  A difference over 1e-6 has 1e-13 / 1e-6 from the distances, and the change of n
 * over it, at most 1e-6 / gap. */
static void differentiate(solid *a, solid *b, const char *what, unsigned seed) {
  uint64_t s = seed;
  const result r = measure(a, b);
  if (r.gap < 0.05) {
    return;
  }
  const sn_vec3 m = solid_random(&s, -1, 1);
  const sn_se3 E = a->E;
  double gap[2];
  for (int k = 0; k < 2; k++) {
    sn_se3 moved = E;
    moved.p = sn_vec3_addscaled(E.p, k ? 1e-6 : -1e-6, m);
    solid_place(a, moved);
    gap[k] = measure(a, b).gap;
  }
  const double rate = (gap[1] - gap[0]) / 2e-6;
  CHECK(fabs(rate - sn_vec3_dot(r.n, m)) < 2e-5, "%s %u: %.9g, n . m = %.9g", what, seed, rate,
        sn_vec3_dot(r.n, m));
}

TEST(normals_are_gradients) {
  for_all_pairs(200, 1.2, differentiate);
}

/* ---- degenerate poses ---- */

static void check_finite(const solid *a, const solid *b, const char *what) {
  const result r = measure(a, b);
  CHECK(isfinite(r.gap) && sn_vec3_finite(r.n) && sn_vec3_finite(r.x[0]) &&
            sn_vec3_finite(r.x[1]) && fabs(sn_vec3_norm(r.n) - 1) < 1e-9,
        "%s: gap %g, n %g %g %g", what, r.gap, r.n.x, r.n.y, r.n.z);
}

/* One inside the other, frame on frame; and touching exactly, face on face. */
TEST(coincident_shapes) {
  for (int i = 0; i < SOLID_KINDS; i++) {
    for (int j = 0; j < SOLID_KINDS; j++) {
      char what[64];
      snprintf(what, sizeof what, "%s in %s", solid_kinds[i], solid_kinds[j]);
      uint64_t seed = (uint64_t)(SOLID_KINDS * i + j);
      solid a, b;
      solid_make_random(&a, i, &seed, 1);
      solid_make_random(&b, j, &seed, 1);
      a.def.at = b.def.at = sn_se3_identity();
      a.def.from = b.def.from = (sn_vec3){0, 0, -0.5};
      a.def.to = b.def.to = (sn_vec3){0, 0, 0.5};
      for (int k = 0; k < 50; k++) {
        sn_se3 E = sn_se3_identity();
        E.p.z = k < 10 ? 0 : 0.1 * (k - 10);
        if (k == 1) {
          E.R = sn_so3_exp((sn_vec3){SN_PI / 2, 0, 0});
        }
        solid_place(&a, E);
        solid_place(&b, sn_se3_identity());
        check_finite(&a, &b, what);
      }
      solid_free(&a);
      solid_free(&b);
    }
  }
}

/* Links that have a point in common, as around a joint: across both they are as deep as they are
 * thick, whatever rounding says of where that point is. */
TEST(links_around_a_joint) {
  for (int k = 0; k < 2000; k++) {
    uint64_t seed = (uint64_t)k;
    const double r0 = test_random(&seed, 0.01, 0.1), r1 = test_random(&seed, 0.01, 0.1);
    const double bend = k % 4 == 0 ? 0 : k % 4 == 1 ? 1e-9 * test_random(&seed, -1, 1) : 1;
    const sn_vec3 way = sn_vec3_scale(solid_random(&seed, -1, 1), bend);
    const sn_vec3 tip = sn_vec3_add((sn_vec3){0, 0, k % 3 == 0 ? 0.3 : -0.3}, way);
    const sn_se3 E = {sn_so3_exp(solid_random(&seed, -2, 2)), solid_random(&seed, -5, 5)};
    solid a, b;
    solid_make(&a, (sn_shape_def){.type = "capsule", .to = {0, 0, 0.3}, .radius = r0}, E);
    solid_make(&b, (sn_shape_def){.type = "capsule", .to = tip, .radius = r1}, E);
    const result r = measure(&a, &b);
    CHECK(fabs(r.gap + r0 + r1) < 1e-9, "%d: gap %g, radii %g and %g", k, r.gap, r0, r1);
    check_proof(&a, &b, r, "links", (unsigned)k);
    solid_free(&a);
    solid_free(&b);
  }
}

/* Needles, plates and crumbs: sizes from 1e-6 to 1e3 in one pair. */
TEST(extreme_sizes) {
  for (int k = 0; k < 4000; k++) {
    uint64_t s = (uint64_t)k;
    solid a, b;
    solid_make_random(&a, k % SOLID_KINDS, &s, 0.5);
    solid_make_random(&b, (k / SOLID_KINDS) % SOLID_KINDS, &s, 0.5);
    sn_shape_def d = a.def;
    const double e[3] = {pow(10, test_random(&s, -6, 3)), pow(10, test_random(&s, -6, 3)),
                         pow(10, test_random(&s, -6, 3))};
    d.size = (sn_vec3){e[0], e[1], e[2]};
    d.radii = d.size;
    d.radius = e[0];
    d.to = sn_vec3_addscaled(d.from, e[1], (sn_vec3){0.6, 0, 0.8});
    const sn_se3 E = a.E;
    solid_free(&a);
    solid_make(&a, d, E);
    check_finite(&a, &b, a.def.type);
    solid_free(&a);
    solid_free(&b);
  }
}

int main(void) {
  RUN_TESTS(T(distances_are_proved), T(depths_are_proved), T(shapes_that_just_touch),
            T(exchange_turns_the_normal), T(rigid_motion_changes_nothing), T(normals_are_gradients),
            T(coincident_shapes), T(links_around_a_joint), T(extreme_sizes));
}
