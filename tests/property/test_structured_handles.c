/* Handles that carry something and do not quite agree, as measured ones do: what they carry moves
 * as it would with handles that do, and what hangs on it, and what is thrown. */
#include "structured.h"

/* A bar between two hands, an arm that hangs on it; the hands are too far apart by so much. */
static void write_carried(char *out, size_t size, double too_far, double weight) {
  snprintf(out, size,
           "sinew: 1\n"
           "bodies:\n"
           "  bar: {joint: {type: free}, inertia: {mass: 5, xx: 0.02, yy: 0.4, zz: 0.4}}\n"
           "  arm: {parent: bar, joint: {type: spherical}, inertia: {mass: 1, at: [0, 0, -0.5], "
           "xx: 0.1, yy: 0.1, zz: 0.01}}\n"
           "motions:\n"
           "  left: {body: bar, at: [-0.5, 0, 0], point: [\"-0.5 - %g + 0.3*sin(2*t)\", 0, 0], "
           "weight: %g, active: \"t < 2\"}\n"
           "  right: {body: bar, at: [0.5, 0, 0], point: [\"0.5 + 0.3*sin(2*t)\", 0, 0], active: "
           "\"t < 2\"}\n"
           "initial: {bar: {qd: [0.6, 0, 0, 0, 0, 0]}}\n",
           too_far, weight);
}

/* From 0.5 s to 2.5 s each half second: where the end of the arm is, and how fast the bar is. */
enum { LOOKS = 5 };
typedef struct look {
  sn_vec3 arm;
  double rate;
} look;

static void carry(double too_far, double weight, int solver, look *at) {
  char text[2000];
  write_carried(text, sizeof text, too_far, weight);
  sn_options o = structured_options(0.005, 1e-6);
  o.structured.solver = structured_solver[solver].option;
  stage g = stage_set(text, o);
  for (int n = 0; n < LOOKS; n++) {
    for (int k = 0; k < 100; k++) {
      structured_step(g.sim, g.s);
    }
    at[n] = (look){structured_point(&g, "arm", (sn_vec3){0, 0, -1}), stage_channel(&g, "bar.qd0")};
  }
  stage_clear(&g);
}

static void expect_alike(double too_far, double weight, int solver, const look *agreed) {
  look at[LOOKS];
  carry(too_far, weight, solver, at);
  for (int n = 0; n < LOOKS; n++) {
    const double off = sn_vec3_norm(sn_vec3_sub(at[n].arm, agreed[n].arm));
    const double faster = at[n].rate - agreed[n].rate;
    CHECK(off < 2e-3 + too_far && fabs(faster) < 5e-3,
          "'%s', too far by %g, weight %g, t = %g: the arm is off by %g, the bar faster by %g",
          structured_solver[solver].name, too_far, weight, 0.5 * (n + 1), off, faster);
  }
}

TEST(handles_that_do_not_quite_agree) {
  static const double too_far[] = {1e-6, 1e-5, 2e-5, 1e-4, 1e-3};
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    look agreed[LOOKS];
    carry(0, 1, n, agreed);
    for (size_t k = 0; k < sizeof too_far / sizeof *too_far; k++) {
      expect_alike(too_far[k], 1, n, agreed);
      expect_alike(too_far[k], 10, n, agreed);
    }
  }
}

/* Two hands that hold one point 0.4 m apart: it is between them, by their weights, and what it
 * holds swings on it for ever, without more energy than at its start. */
TEST(what_hangs_between_two_hands_swings) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    sn_options o = structured_options(0.005, 1e-6);
    o.structured.solver = structured_solver[n].option;
    stage g = stage_set("sinew: 1\n"
                        "bodies:\n"
                        "  bar: {joint: {type: free}, inertia: {mass: 5, at: [-0.5, 0, 0], xx: "
                        "0.02, yy: 0.4, zz: 0.4}}\n"
                        "motions:\n"
                        "  left: {body: bar, point: [-0.2, 0, 0]}\n"
                        "  right: {body: bar, point: [0.2, 0, 0], weight: 3}\n"
                        "initial: {bar: {q: [0.1, 0, 0, 0, 0, 0]}}\n",
                        o);
    const double start = stage_energy(&g);
    double kinetic = 0;
    for (int k = 0; k < 2000; k++) {
      structured_step(g.sim, g.s);
      const sn_vec3 x = structured_point(&g, "bar", (sn_vec3){0});
      const double off = sn_vec3_norm(sn_vec3_sub(x, (sn_vec3){0.1, 0, 0}));
      sn_energy e;
      sn_sim_energy(g.sim, g.s, &e);
      kinetic = k >= 1000 ? fmax(kinetic, e.kinetic) : 0;
      CHECK(off < 1e-4 && e.kinetic + e.potential <= start,
            "'%s', t = %g: %g away from the least squares, energy more by %g",
            structured_solver[n].name, *sn_state_time(g.s), off, e.kinetic + e.potential - start);
    }
    CHECK(kinetic > 8, "'%s': braked to %g J", structured_solver[n].name, kinetic);
    stage_clear(&g);
  }
}

/* Two motors that want to go the same way and a gear that lets them go opposite ways only: the gear
 * can be closed, so they go at the weighted mean, and rates say how fast that is. */
TEST(rates_that_are_told_are_those_that_it_moves_at) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    sn_options o = structured_options(0.01, 1e-6);
    o.structured.solver = structured_solver[n].option;
    if (o.structured.solver == SN_FULL_DENSE || o.structured.solver == SN_FULL_ITERATIVE) {
      continue; /* they take no constraints over several joints */
    }
    stage g = stage_set("sinew: 1\n"
                        "defaults: {joint: {type: revolute, axis: [0, 0, 1]}}\n"
                        "bodies:\n"
                        "  a: {joint: {}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n"
                        "  b: {joint: {at: [1, 0, 0]}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1.5}}\n"
                        "constraints: {g: {type: couple, terms: [{joint: a}, {joint: b, factor: "
                        "1}], weight: 2}}\n"
                        "motions: {m1: {joint: a, rate: 1, weight: 3}, m2: {joint: b, rate: 1}}\n",
                        o);
    double before[2] = {0};
    for (int k = 0; k < 100; k++) {
      const sn_info info = structured_step(g.sim, g.s);
      CHECK(fabs(info.residual - 1.5) < 1e-3, "'%s': %g is told to be left",
            structured_solver[n].name, info.residual);
      for (int j = 0; j < 2; j++) {
        const double q = sn_state_q(g.s)[j], qd = sn_state_qd(g.s)[j];
        const double moved = (q - before[j]) / o.step, right = j == 0 ? 0.5 : -0.5;
        CHECK(fabs(qd - right) < 1e-3 && (k < 1 || fabs(moved - right) < 1e-3),
              "'%s', t = %g: joint %d has a rate of %g and moves by %g", structured_solver[n].name,
              *sn_state_time(g.s), j, qd, moved);
        before[j] = q;
      }
    }
    stage_clear(&g);
  }
}

int main(void) {
  RUN_TESTS(T(handles_that_do_not_quite_agree), T(what_hangs_between_two_hands_swings),
            T(rates_that_are_told_are_those_that_it_moves_at));
}
