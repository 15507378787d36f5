/* Where tubes touch: against a fine net over both of them, and what there is to say of ropes side
 * by side, of ends, of thick and of degenerate ones. */
#include "contact.h"
#include "contact/tube.h"

enum { MOST = 120 };

/* Free bodies t0, t1, ...: `count` for each tube, with a bead at their origin. */
static touching tubes_set(int ntube, int count, double radius, int apart) {
  static char text[40000];
  size_t n = 0;
  const size_t size = sizeof text;
  n += (size_t)snprintf(text, size, "sinew: 1\ncontacts: {skin: {friction: 0}}\ntubes:\n");
  for (int t = 0; t < ntube; t++) {
    n += (size_t)snprintf(text + n, size - n, "  tube%d:\n    contact: skin\n    apart: %d\n", t,
                          apart);
    n += (size_t)snprintf(text + n, size - n, "    beads:\n");
    for (int k = 0; k < count; k++) {
      n += (size_t)snprintf(text + n, size - n, "      - {body: t%d, radius: %g}\n", t * count + k,
                            radius);
    }
  }
  n += (size_t)snprintf(text + n, size - n, "bodies:\n");
  for (int k = 0; k < ntube * count; k++) {
    n += (size_t)snprintf(text + n, size - n,
                          "  t%d: {joint: {type: free}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n",
                          k);
  }
  CHECK(n < size, "%zu", n);
  return touching_set(text, 0);
}

static void put_bead(touching *t, int k, sn_vec3 x) {
  char name[32];
  snprintf(name, sizeof name, "t%d", k);
  touching_body(t, name)->p = x;
}

/* The beads as they stand, in the order of the tube. */
static void read_beads(const touching *t, sni_bead *bead) {
  for (int k = 0; k < t->m->nbead; k++) {
    bead[k] = (sni_bead){t->E_wb[t->m->bead[k].body].p, t->m->bead[k].radius};
  }
}

static int bead_of(const touching *t, const sni_contact *c, int side) {
  return c->shape[side] - t->m->nshape;
}

/* A rope thrown on the floor: it turns now and then, and keeps to a ball. */
static void throw_rope(touching *t, int first, int count, uint64_t *seed) {
  sn_vec3 x = random_vec3(seed, 0.3), along = {1, 0, 0};
  for (int k = 0; k < count; k++) {
    put_bead(t, first + k, x);
    const sn_vec3 turn = sn_vec3_addscaled(random_vec3(seed, 0.6), -0.6, x);
    along = sn_vec3_add(along, turn);
    along = sn_vec3_scale(along, 1 / sn_vec3_norm(along));
    x = sn_vec3_addscaled(x, 0.1, along);
  }
}

/* Every place of the net that is nearer than those around it, and near enough, has a point there
 * that is as near; and no point is nearer than the net allows. */
static int compare_with_net(const touching *t, int first, int second, int count, int apart,
                            double margin, unsigned seed) {
  enum { FINE = 6 };
  static double gap[FINE * MOST][FINE * MOST];
  sni_bead bead[MOST];
  read_beads(t, bead);
  const sni_stretch a = {bead + first, count, 0, count - 1},
                    b = {bead + second, count, 0, count - 1};
  const int n = FINE * (count - 1);
  const double step = 1.0 / FINE;
  for (int i = 0; i <= n; i++) {
    for (int j = 0; j <= n; j++) {
      gap[i][j] = sni_axes_gap_at(&a, &b, i * step, j * step).gap;
    }
  }
  int minima = 0;
  for (int i = 0; i <= n; i++) {
    /* a segment looks at those that are apart from where it begins, so there may be one less */
    const int end = first == second ? i - FINE * (apart + 1) : n;
    for (int j = 0; j <= end; j++) {
      bool least = gap[i][j] < margin;
      for (int d = 0; d < 9 && least; d++) {
        const int p = i + d / 3 - 1, q = j + d % 3 - 1;
        const bool inside = p >= 0 && p <= n && q >= 0 && q <= n;
        least = !inside || gap[p][q] >= gap[i][j];
      }
      bool found = !least;
      for (int k = 0; k < t->count && !found; k++) {
        const sni_contact *c = &t->contact[k];
        for (int side = 0; side < 2; side++) { /* the lower shape may be either */
          found = found || (abs(bead_of(t, c, side) - first - i / FINE) <= 1 &&
                            abs(bead_of(t, c, 1 - side) - second - j / FINE) <= 1 &&
                            c->gap <= gap[i][j] + 1e-12);
        }
      }
      CHECK(found, "seed %u: gap %g at %g, %g is not found", seed, gap[i][j], i * step, j * step);
      minima += least;
    }
  }
  return minima;
}

TEST(finds_all_that_a_net_finds) {
  const int count = 60, apart = 8;
  touching t = tubes_set(1, count, 0.03, apart);
  int minima = 0;
  for (uint64_t seed = 1; seed <= 120; seed++) {
    uint64_t s = seed;
    throw_rope(&t, 0, count, &s);
    touching_find(&t, 0.01, 0.02);
    minima += compare_with_net(&t, 0, 0, count, apart, 0.02, (unsigned)seed);
  }
  CHECK(minima > 120, "%d", minima);
  touching_clear(&t);
}

TEST(finds_all_of_two_tubes) {
  const int count = 40;
  touching t = tubes_set(2, count, 0.03, 1000);
  int minima = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    uint64_t s = seed;
    throw_rope(&t, 0, count, &s);
    throw_rope(&t, count, count, &s);
    touching_find(&t, 0.01, 0.02);
    minima += compare_with_net(&t, count, 0, count, 0, 0.02, (unsigned)seed);
  }
  CHECK(minima > 50, "%d", minima);
  touching_clear(&t);
}

/* A point is midway between two surfaces that are `gap` apart along n. */
TEST(points_are_where_surfaces_are) {
  touching t = tubes_set(2, 12, 0.03, 8);
  for (int k = 0; k < 12; k++) {
    put_bead(&t, k, (sn_vec3){0.1 * k - 0.44, 0, 0});
    put_bead(&t, 12 + k, (sn_vec3){0, 0.1 * k - 0.47, 0.07});
  }
  CHECK(touching_find(&t, 0.01, 0.02) == 1, "%d points", t.count);
  const sni_contact *c = &t.contact[0];
  const double up = bead_of(&t, c, 0) < 12 ? -1 : 1;
  CHECK(fabs(c->gap - 0.01) < 1e-12, "gap %g", c->gap);
  CHECK(sn_vec3_norm(sn_vec3_sub(c->n, (sn_vec3){0, 0, up})) < 1e-12, "n");
  CHECK(sn_vec3_norm(sn_vec3_sub(c->x, (sn_vec3){0, 0, 0.035})) < 1e-9, "x");
  for (int side = 0; side < 2; side++) { /* forces act on the surfaces, not somewhere else */
    const sn_vec3 there = sn_vec3_addscaled(c->x, side == 0 ? 0.005 : -0.005, c->n);
    CHECK(sn_vec3_norm(sn_vec3_sub(c->at[side], there)) < 1e-12, "at[%d]", side);
  }
  const int low = bead_of(&t, c, up < 0 ? 0 : 1), high = bead_of(&t, c, up < 0 ? 1 : 0);
  CHECK(low == 4 && high == 12 + 5, "beads %d and %d", low, high);
  touching_clear(&t);
}

/* A hairpin whose arms are side by side: points all along them, no two of them in one place. */
static void hairpin(touching *t, int count, double apart, double tilt) {
  for (int k = 0; k < count; k++) {
    const int bend = count / 2 - 3;
    const double x = 0.1 * (k < bend ? k : count - 1 - k);
    const double over = k < bend || k > count - 1 - bend ? 0 : 0.4 * 0.25;
    const bool back = k >= count / 2;
    const double wide = over > 0 ? 0.4 : apart;
    put_bead(t, k, (sn_vec3){x + over, back ? 0.5 * wide + tilt * x : -0.5 * wide, 0});
  }
}

TEST(side_by_side) {
  const int count = 50;
  touching t = tubes_set(1, count, 0.03, 8);
  for (int k = 0; k < 40; k++) {
    hairpin(&t, count, 0.061, 1e-3 * (k - 20) / 10); /* from one end, or the other */
    touching_find(&t, 0.01, 0.02);
    CHECK(t.count >= 18 && t.count <= 24, "tilt %d: %d points", k, t.count);
    for (int i = 0; i < t.count; i++) {
      for (int j = 0; j < i; j++) {
        const double away = sn_vec3_norm(sn_vec3_sub(t.contact[i].x, t.contact[j].x));
        CHECK(away > 0.04, "tilt %d: points %d and %d are %g apart", k, i, j, away);
      }
      CHECK(fabs(fabs(t.contact[i].n.y) - 1) < 1e-3, "tilt %d: n", k);
    }
  }
  touching_clear(&t);
}

/* A tube that is thicker than `apart` beads are long is in itself everywhere, and does not touch
 * itself for that; bent into a ring it does where its ends meet. */
TEST(thick_tubes_and_ends) {
  touching t = tubes_set(1, 40, 0.3, 3);
  for (int k = 0; k < 40; k++) {
    put_bead(&t, k, (sn_vec3){0.1 * k, 0, 0});
  }
  CHECK(touching_find(&t, 0.01, 0.02) == 0, "straight: %d points", t.count);
  touching_clear(&t);
  t = tubes_set(1, 40, 0.14, 3);
  for (int k = 0; k < 40; k++) {
    const double angle = 0.15 * k; /* a radius of 0.67, open by 25 degrees */
    put_bead(&t, k, (sn_vec3){0.67 * cos(angle), 0.67 * sin(angle), 0});
  }
  touching_find(&t, 0.01, 0.02);
  CHECK(t.count == 1, "ring: %d points", t.count);
  const int beads[2] = {bead_of(&t, t.contact, 0), bead_of(&t, t.contact, 1)};
  CHECK(beads[0] + beads[1] == 39 && (beads[0] == 0 || beads[1] == 0), "beads %d, %d", beads[0],
        beads[1]);
  const double gap = 2 * 0.67 * sin(0.5 * (2 * SN_PI - 0.15 * 39)) - 0.28;
  CHECK(fabs(t.contact[0].gap - gap) < 1e-12, "gap %g, should be %g", t.contact[0].gap, gap);
  touching_clear(&t);
}

/* What comes fast is found before it is there, and what goes away is not. */
TEST(fast_tubes) {
  touching t = tubes_set(2, 12, 0.03, 8);
  for (int k = 0; k < 12; k++) {
    put_bead(&t, k, (sn_vec3){0.1 * k - 0.44, 0, 0});
    put_bead(&t, 12 + k, (sn_vec3){0, 0.1 * k - 0.47, 0.5});
  }
  CHECK(touching_find(&t, 0.01, 0.02) == 0, "at rest: %d points", t.count);
  for (int way = -1; way <= 1; way += 2) {
    for (int k = 12; k < 24; k++) {
      char name[32];
      snprintf(name, sizeof name, "t%d", k);
      touching_twist(&t, name)->v = (sn_vec3){0, 0, way * 60.0};
    }
    CHECK((touching_find(&t, 0.01, 0.02) > 0) == (way < 0), "%d: %d points", way, t.count);
  }
  touching_clear(&t);
}

/* A point keeps its name while it moves less than a bead is long. */
TEST(names_stay) {
  touching t = tubes_set(2, 12, 0.03, 8);
  int shape[2] = {-1, -1}, changes = 0;
  for (int step = 0; step < 200; step++) {
    for (int k = 0; k < 12; k++) {
      put_bead(&t, k, (sn_vec3){0.1 * k - 0.44 + 1e-3 * step, 0, 0});
      put_bead(&t, 12 + k, (sn_vec3){0, 0.1 * k - 0.47, 0.07});
    }
    CHECK(touching_find(&t, 0.01, 0.02) == 1, "step %d: %d points", step, t.count);
    changes += memcmp(shape, t.contact[0].shape, sizeof shape) != 0;
    memcpy(shape, t.contact[0].shape, sizeof shape);
  }
  CHECK(changes == 3, "%d names over two beads", changes); /* the first one, and twice another */
  touching_clear(&t);
}

TEST(degenerate_tubes) {
  touching t = tubes_set(2, 20, 0.03, 4);
  for (int k = 0; k < 40; k++) {
    put_bead(&t, k, (sn_vec3){0, 0, 0});
  }
  touching_find(&t, 0.01, 0.02); /* checks that all is finite */
  for (int k = 0; k < 40; k++) {
    put_bead(&t, k, (sn_vec3){0.1 * (k % 20), 0, 0});
  }
  touching_find(&t, 0.01, 0.02);
  CHECK(t.count >= 19, "one in the other: %d points", t.count);
  for (int k = 0; k < 40; k++) {
    put_bead(&t, k, (sn_vec3){1e8 + 0.1 * (k % 20), 1e8, k < 20 ? 0 : 0.05});
  }
  touching_find(&t, 0.01, 0.02);
  put_bead(&t, 3, (sn_vec3){NAN, 0, 0});
  sn_error err = {0};
  CHECK(touching_try(&t, 0.01, 0.02, &err) == SN_E_DIVERGED, "%s", err.text);
  CHECK(strstr(err.text, "'t3'"), "%s", err.text);
  touching_clear(&t);
}

/* More places than there is room for: a status, as with shapes. */
TEST(crowded_tubes) {
  touching t = tubes_set(1, MOST, 0.03, 1);
  for (int k = 0; k < MOST; k++) { /* a tight ball of windings */
    put_bead(&t, k, (sn_vec3){0.01 * cos(2.0 * k), 0.01 * sin(2.0 * k), 1e-5 * k});
  }
  sn_error err = {0};
  const sn_status status = touching_try(&t, 0.01, 0.05, &err);
  CHECK(status == SN_OK || status == SN_E_LIMIT, "%d: %s", status, err.text);
  touching_clear(&t);
}

/* Beads on one body, or on the ground, do not touch each other; one on the ground is the second. */
TEST(ground_and_one_body) {
  const char *text =
      "sinew: 1\n"
      "contacts: {skin: {friction: 0}}\n"
      "tubes:\n"
      "  still: {contact: skin, beads: [{body: world, at: [-1, 0, 0], radius: 0.1},\n"
      "    {body: world, at: [1, 0, 0], radius: 0.1}]}\n"
      "  fixed: {contact: skin, beads: [{body: post, at: [-1, 0, 0], radius: 0.1},\n"
      "    {body: post, at: [1, 0, 0], radius: 0.1}]}\n"
      "  ball: {contact: skin, beads: [{body: b, at: [0, -1, 0.15], radius: 0.1},\n"
      "    {body: b, at: [0, 1, 0.15], radius: 0.1}]}\n"
      "  second: {contact: skin, beads: [{body: b, at: [0, 0, 0.15], radius: 0.1},\n"
      "    {body: b, at: [0, 1, 0.5], radius: 0.1}]}\n"
      "bodies:\n"
      "  post: {joint: {type: fixed}}\n"
      "  b: {joint: {type: free}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n";
  touching t = touching_set(text, 0);
  touching_find(&t, 0.01, 0.02);
  CHECK(t.count == 4, "%d points", t.count); /* two tubes of b on two of the ground */
  for (int k = 0; k < t.count; k++) {
    CHECK(t.contact[k].body[0] == 1 && t.contact[k].body[1] == -1, "point %d: bodies %d, %d", k,
          t.contact[k].body[0], t.contact[k].body[1]);
    CHECK(fabs(t.contact[k].n.z - 1) < 1e-9 && fabs(t.contact[k].gap + 0.05) < 1e-9, "point %d", k);
    CHECK(memcmp(&t.contact[k].at[0], &t.contact[k].x, sizeof(sn_vec3)) == 0, "at of point %d", k);
  }
  touching_clear(&t);
}

int main(void) {
  RUN_TESTS(T(finds_all_that_a_net_finds), T(finds_all_of_two_tubes),
            T(points_are_where_surfaces_are), T(side_by_side), T(thick_tubes_and_ends),
            T(fast_tubes), T(names_stay), T(degenerate_tubes), T(crowded_tubes),
            T(ground_and_one_body));
}
