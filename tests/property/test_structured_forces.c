/* The forces of the model in the method `structured`: cables over many bodies, soft stops and
 * backlash do what they do in `redmax`, whichever solver is asked. */
#include "structured.h"

/* q after so many steps of `step`; the caller frees it. */
static double *walk_as(const char *text, sn_options o, double step, double duration) {
  o.step = step;
  stage g = stage_set(text, o);
  const int nv = sn_model_dof_count(g.m);
  double *q = calloc((size_t)nv + 1, sizeof *q);
  CHECK(q != NULL, "out of memory");
  for (int k = 0; k < (int)lround(duration / step); k++) {
    structured_step(g.sim, g.s);
  }
  memcpy(q, sn_state_q(g.s), (size_t)nv * sizeof *q);
  stage_clear(&g);
  return q;
}

static int dof_of(const char *text) {
  sn_model *m = stage_model(text);
  const int nv = sn_model_dof_count(m);
  sn_model_free(&m);
  return nv;
}

/* Without loops the two methods take the same step. */
static void expect_the_same(const char *text, double step, double duration, const char *what) {
  double *reference = walk_as(text, redmax_options(step), step, duration);
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    sn_options o = structured_options(step, 1e-10);
    o.structured.solver = structured_solver[k].option;
    double *q = walk_as(text, o, step, duration);
    const double e = largest_difference(q, reference, dof_of(text));
    CHECK(e < 1e-8, "%s: '%s' is %g away from redmax", what, structured_solver[k].name, e);
    free(q);
  }
  free(reference);
}

/* ---- cables ---- */

/* A finger of n hinged links of 0.1 m and 0.1 kg, with these tendons. */
static void write_finger(char *out, size_t size, int n, const char *tendons) {
  size_t at = (size_t)snprintf(
      out, size,
      "sinew: 1\n"
      "defaults:\n"
      "  joint: {type: revolute, axis: [0, 1, 0], damping: 0.05}\n"
      "  body: {inertia: {mass: 0.1, at: [0.05, 0, 0], xx: 0.00002, yy: 0.0001, zz: 0.0001}}\n"
      "bodies:\n");
  for (int i = 0; i < n; i++) {
    char parent[16] = "world";
    if (i > 0) {
      snprintf(parent, sizeof parent, "b%d", i - 1);
    }
    at += (size_t)snprintf(out + at, size - at, "  b%d: {parent: %s, joint: {at: [%g, 0, 0]}}\n", i,
                           parent, i > 0 ? 0.1 : 0);
  }
  CHECK(at + strlen(tendons) + 9 < size, "no room");
  snprintf(out + at, size - at, "forces:\n%s", tendons);
}

/* A tight cable over four links stops nobody. */
TEST(a_tendon_bends_a_finger) {
  const double stiffness[] = {1e4, 1e6}, damping[] = {0, 30};
  char text[4000], tendon[1000];
  for (int k = 0; k < 4; k++) {
    snprintf(tendon, sizeof tendon,
             "  tendon: {type: cable, stiffness: %g, damping: %g, rest_length: 0.343, via: [{body: "
             "world, at: [0, 0, 0.05]}, {body: b0, at: [0.05, 0, 0.05]}, {body: b1, at: [0.05, 0, "
             "0.05]}, {body: b2, at: [0.05, 0, 0.05]}, {body: b3, at: [0.05, 0, 0.05]}]}\n",
             stiffness[k / 2], damping[k % 2]);
    write_finger(text, sizeof text, 4, tendon);
    expect_the_same(text, 0.01, 0.3, tendon);
    expect_the_same(text, 0.001, 0.03, tendon);
  }
}

/* One cable through random points: several on one body, in any order, with or without the ground.
 */
static size_t write_tendon(char *out, size_t size, uint64_t *seed, int number, int n) {
  const int points = 3 + (int)(test_random_u64(seed) % 5);
  size_t at = (size_t)snprintf(out, size,
                               "  t%d: {type: cable, tension_only: %s, stiffness: %.17g, damping: "
                               "%.17g, rest_length: %.17g, via: [",
                               number, test_random_u64(seed) % 2 ? "true" : "false",
                               pow(10, test_random(seed, 1, 5)), test_random(seed, 0, 10),
                               0.03 * points * test_random(seed, 0.8, 1.2));
  for (int j = 0; j < points; j++) {
    char body[16] = "world";
    if (j > 0 || test_random_u64(seed) % 2) {
      snprintf(body, sizeof body, "b%d", (int)(test_random_u64(seed) % (unsigned)n));
    }
    at += (size_t)snprintf(out + at, size - at, "%s{body: %s, at: [%.17g, %.17g, %.17g]}",
                           j > 0 ? ", " : "", body, test_random(seed, 0, 0.1),
                           test_random(seed, -0.02, 0.02), test_random(seed, -0.05, 0.05));
  }
  return at + (size_t)snprintf(out + at, size - at, "]}\n");
}

TEST(random_tendons_do_what_they_do_in_redmax) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    uint64_t random = seed;
    char text[8000], tendons[6000], what[32];
    const int n = 3 + (int)(test_random_u64(&random) % 4);
    size_t at = 0;
    for (int k = 0; k < 3; k++) {
      at += write_tendon(tendons + at, sizeof tendons - at, &random, k, n);
    }
    write_finger(text, sizeof text, n, tendons);
    snprintf(what, sizeof what, "seed %d", (int)seed);
    expect_the_same(text, 0.002, 0.04, what);
  }
}

/* With a loop the methods close it differently: as the step goes to zero they agree. */
static const char gripper[] = STRUCTURED_FOUR_BAR(
    "") "forces:\n"
        "  tendon: {type: cable, stiffness: 3000, damping: 20, rest_length: 1.9, via: [{body: "
        "world, "
        "at: [0, 0, 0.3]}, {body: crank, at: [0.4, 0, 0.2]}, {body: coupler, at: [0.5, 0, 0.2]}, "
        "{body: rocker, at: [0.6, 0, -0.1]}]}\n";

/* First order: the distance halves with the step; 1.8 leaves room for the next order. */
static void expect_first_order(const char *text, double h, double duration, const char *what) {
  double *reference = walk_as(text, redmax_options(h / 64), h / 64, duration), before = 0;
  for (int k = 0; k < 3; k++) {
    const double step = h / (1 << k);
    double *q = walk_as(text, structured_options(step, 1e-10), step, duration);
    const double e = largest_difference(q, reference, dof_of(text));
    CHECK(k == 0 || before / e > 1.8, "%s: the error goes from %g to %g with half the step", what,
          before, e);
    before = e;
    free(q);
  }
  CHECK(before < 1e-2, "%s: %g away", what, before);
  free(reference);
}

TEST(a_tendon_over_a_loop) {
  expect_first_order(gripper, 0.001, 0.1, "tendon");
}

/* ---- soft stops ---- */

#define BARS(count, joint)                                                                         \
  "sinew: 1\n"                                                                                     \
  "defaults:\n"                                                                                    \
  "  joint: {" joint "}\n"                                                                         \
  "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"                    \
  "bodies:\n"                                                                                      \
  "  bar: {parent: world, joint: {}, repeat: {count: " #count ", joint: {at: [1, 0, 0]}}}\n"

#define HINGE "type: revolute, axis: [0, 1, 0]"

/* The channel tells what a stop pushes with: each must, at some time. */
static const struct {
  const char *name, *text, *pushes;
} stopped[] = {
    {"limits", BARS(4, HINGE ", limits: [-0.3, 0.3], stop: {stiffness: 2000, damping: 5}"),
     "bar_2.limit"},
    {"stiff limits", BARS(12, HINGE ", limits: [-0.05, 0.05], stop: {stiffness: 1e6}"),
     "bar_2.limit"},
    {"backlash", BARS(4, HINGE ", backlash: {gap: 0.4, stiffness: 5000, damping: 3}"),
     "bar_1.limit"},
    {"cone",
     BARS(3, "type: spherical, cone: {swing: 0.5, twist: [-0.2, 0.2], axis: [1, 0, 0]}, stop: "
             "{stiffness: 2000, damping: 5}") "initial: {bar_1: {qd: [1, 0, 1]}, bar_2: {qd: [2, "
                                              "1, 0]}}\n",
     "bar_1.swing"},
    {"half-spaces",
     BARS(3, HINGE) "constraints:\n"
                    "  low: {type: half_space, body: bar_2, at: [1, 0, 0], on: {body: world, at: "
                    "[0, 0, -0.4]}, stop: {stiffness: 3000}}\n"
                    "  end: {type: half_space, body: bar_3, at: [1, 0, 0], on: {body: world, at: "
                    "[0, 0, -0.5]}, stop: {stiffness: 3000, damping: 20}}\n",
     "constraints.end.force"},
    {"a half-space on a body",
     BARS(2, HINGE) "  tray: {parent: world, joint: {at: [0, 0, -0.5], stiffness: 500}, inertia: "
                    "{mass: 2, at: [1, 0, 0], xx: 1, yy: 1, zz: 1}}\n"
                    "constraints:\n"
                    "  low: {type: half_space, body: bar_2, at: [0.5, 0, 0], on: {body: tray}, "
                    "stop: {stiffness: 3000, damping: 5}}\n",
     "constraints.low.force"}};

TEST(soft_stops_do_what_they_do_in_redmax) {
  for (int k = 0; k < (int)(sizeof stopped / sizeof stopped[0]); k++) {
    sn_options o = structured_options(0.004, 1e-10);
    stage g = stage_set(stopped[k].text, o);
    double most = 0;
    for (int n = 0; n < 150; n++) {
      structured_step(g.sim, g.s);
      most = fmax(most, fabs(stage_channel(&g, stopped[k].pushes)));
    }
    CHECK(most > 1, "%s: nothing is hit", stopped[k].name);
    stage_clear(&g);
    expect_the_same(stopped[k].text, 0.004, 0.6, stopped[k].name);
  }
}

/* The stop of a loop's own coordinate. */
static const char stopped_four_bar[] =
    STRUCTURED_FOUR_BAR(", limits: [-1.7, -1.2], stop: {stiffness: 2000, damping: 5}");

TEST(a_soft_stop_in_a_loop) {
  stage g = stage_set(stopped_four_bar, structured_options(0.004, 1e-10));
  const double start = stage_energy(&g);
  double most = 0, above = -INFINITY;
  for (int n = 0; n < 250; n++) {
    structured_step(g.sim, g.s);
    most = fmax(most, fabs(stage_channel(&g, "loops.pin.limit")));
    above = fmax(above, stage_energy(&g) - start);
  }
  CHECK(most > 1, "nothing is hit");
  CHECK(above <= 0, "energy rises by %g", above);
  stage_clear(&g);
  expect_the_same(stopped_four_bar, 0.004, 0.5, "four-bar");
}

int main(void) {
  RUN_TESTS(T(soft_stops_do_what_they_do_in_redmax), T(a_soft_stop_in_a_loop),
            T(a_tendon_bends_a_finger), T(random_tendons_do_what_they_do_in_redmax),
            T(a_tendon_over_a_loop));
}
