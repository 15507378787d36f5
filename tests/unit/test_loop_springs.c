/* Springs, dampers and drives in the joints of loops: a four-bar linkage has the same motion
 * wherever it is cut, so what acts in a loop is held against what acts in a joint of the tree. */
#include "trees.h"
#include "stage.h"

/* The bars left (from the world), top and right (back to the world), cut at the pin in the world
 * or at the knee between top and right; all move at the start, in agreement. */
#define HALF                                                                                       \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  left: {joint: {type: revolute, axis: [0, 1, 0]}, shapes: [{type: box, size: [0.1, 0.1, 1], "  \
  "at: [0, 0, -0.5], density: 1000}]}\n"                                                           \
  "  top: {parent: left, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, -1]}, shapes: "       \
  "[{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 1000}]}\n"
#define CUT_AT_PIN                                                                                 \
  HALF "  right: {parent: top, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]%s}, shapes:" \
       " [{type: box, size: [0.1, 0.1, 1.2], at: [0, 0, 0.6], density: 1000}]}\n"                  \
       "loops:\n"                                                                                  \
       "  pin: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1, 0, 0.2]}, b: {body: "    \
       "right, at: [0, 0, 1.2]}%s}\n"                                                              \
       "initial: {left: {qd: 1.2}, top: {qd: -1.2}, right: {qd: 1}}\n"
#define CUT_AT_KNEE                                                                                \
  HALF "  right: {joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0.2]%s}, shapes: "           \
       "[{type: box, size: [0.1, 0.1, 1.2], at: [0, 0, -0.6], density: 1000}]}\n"                  \
       "loops:\n"                                                                                  \
       "  knee: {type: revolute, axis: [0, 1, 0], a: {body: top, at: [1, 0, 0]}, b: {body: "       \
       "right, at: [0, 0, -1.2]}%s}\n"                                                             \
       "initial: {left: {qd: 1.2}, top: {qd: -1.2}, right: {qd: 1}}\n"

static const char *const acting[] = {
    ", stiffness: 400, rest: 0.3", ", stiffness: 300, damping: 20, rest: -0.2",
    ", drive: {target: \"0.4*sin(3*t)\", stiffness: 500, damping: 30}",
    ", drive: {target: \"0.4*sin(3*t)\", stiffness: 900, damping: 40, max_force: 60}"};

/* `what` at the pin or at the knee, in a loop or in the tree. */
static stage bars(const char *what, bool pin, bool loop, const sn_options *o) {
  char text[2000];
  snprintf(text, sizeof text, pin == loop ? CUT_AT_PIN : CUT_AT_KNEE, loop ? "" : what,
           loop ? what : "");
  return stage_set(text, *o);
}

static void left_after(const char *what, bool pin, bool loop, const sn_options *o, double end,
                       double out[2]) {
  stage b = bars(what, pin, loop, o);
  for (int k = 0; k < (int)lround(end / o->step); k++) {
    test_step(b.sim, b.s, NULL);
  }
  const int at = sn_model_joint_first(b.m, sn_model_body_find(b.m, "left"));
  out[0] = sn_state_q(b.s)[at];
  out[1] = sn_state_qd(b.s)[at];
  stage_clear(&b);
}

TEST(a_loop_is_a_joint_like_any_other) {
  const sn_options o = stage_exact(0.05);
  for (int k = 0; k < 2 * SNI_COUNT(acting); k++) {
    double loop[2], tree[2], none[2];
    left_after(acting[k / 2], k % 2, true, &o, 1, loop);
    left_after(acting[k / 2], k % 2, false, &o, 1, tree);
    left_after("", k % 2, true, &o, 1, none);
    CHECK(fabs(loop[0] - tree[0]) < 1e-8 && fabs(loop[1] - tree[1]) < 1e-8,
          "'%s' at the %s: %.10f %.10f in a loop, %.10f %.10f in the tree", acting[k / 2],
          k % 2 ? "pin" : "knee", loop[0], loop[1], tree[0], tree[1]);
    CHECK(fabs(loop[0] - none[0]) > 1e-2, "'%s' does nothing: %g", acting[k / 2], loop[0]);
  }
}

TEST(redmax_comes_to_the_same) {
  const sn_options o = stage_exact(0.05);
  for (int k = 0; k < 2 * SNI_COUNT(acting); k++) {
    double want[2], error[2][2];
    left_after(acting[k / 2], k % 2, false, &o, 1, want);
    for (int second = 0; second < 2; second++) {
      for (int fine = 0; fine < 2; fine++) {
        sn_options r = redmax_options(fine ? 0.0025 : 0.005);
        r.redmax.integrator = second ? SN_EXTRAPOLATED : SN_EULER;
        double got[2];
        left_after(acting[k / 2], k % 2, true, &r, 1, got);
        error[second][fine] = fabs(got[0] - want[0]) + 0.1 * fabs(got[1] - want[1]);
      }
      /* where a drive comes to its limit, a step is of first order */
      const bool limited = k / 2 == 3;
      CHECK(error[second][1] < (second ? limited ? 2e-3 : 2e-4 : 3e-2),
            "'%s' at the %s, order %d: off by %g at 2.5 ms", acting[k / 2], k % 2 ? "pin" : "knee",
            1 + second, error[second][1]);
      CHECK(limited || error[second][1] < (second ? 0.35 : 0.6) * error[second][0],
            "'%s' at the %s, order %d: %g, then %g", acting[k / 2], k % 2 ? "pin" : "knee",
            1 + second, error[second][0], error[second][1]);
    }
  }
}

TEST(solvers_agree) {
  static const sn_solver solver[] = {SN_SOLVER_GRAPH, SN_SOLVER_REDUCED, SN_SOLVER_REDUCED_KKT,
                                     SN_SOLVER_PCG, SN_SOLVER_AUTO};
  for (int k = 0; k < 2 * SNI_COUNT(acting); k++) {
    double first[2];
    for (int j = 0; j < SNI_COUNT(solver); j++) {
      sn_options o = redmax_options(0.01);
      o.redmax.solver = solver[j];
      o.redmax.tolerance = 1e-13;
      double got[2];
      left_after(acting[k / 2], k % 2, true, &o, 0.5, got);
      if (j == 0) {
        memcpy(first, got, sizeof first);
      }
      CHECK(fabs(got[0] - first[0]) < 1e-9 && fabs(got[1] - first[1]) < 1e-8,
            "'%s', solver %d: %.12f, not %.12f", acting[k / 2], j, got[0], first[0]);
    }
  }
}

/* However stiff, at any step. */
TEST(stiff_loops_are_stable) {
  for (int pin = 0; pin < 2; pin++) {
    sn_options o = redmax_options(0.05);
    stage b = bars(", stiffness: 1e8, rest: 0", pin, true, &o);
    double most = stage_energy(&b);
    for (int k = 0; k < 100; k++) {
      test_step(b.sim, b.s, NULL);
      CHECK(stage_energy(&b) < most + 1, "step %d: %g after %g", k, stage_energy(&b), most);
    }
    CHECK(fabs(b.sim->rows.loop_q[0]) < 1e-3, "a spring of 1e8 gives way by %g",
          b.sim->rows.loop_q[0]);
    stage_clear(&b);
  }
}

/* Springs along several coordinates, turning ones among them, keep the energy. */
#define HUNG                                                                                       \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  one: {joint: {type: spherical}, shapes: [{type: box, size: [0.1, 0.2, 1], at: [0, 0, -0.5], " \
  "density: 500}]}\n"                                                                              \
  "  two: {joint: {type: free, at: [0.7, 0, -1]}, shapes: [{type: box, size: [0.3, 0.1, 0.2], "    \
  "density: 500}]}\n"                                                                              \
  "loops:\n"                                                                                       \
  "  link: {type: %s, a: {body: one, at: [0, 0, -1]}, b: {body: two, at: [-0.7, 0, 0]}, "          \
  "stiffness: 60, rest: 0.1%s}\n"                                                                  \
  "initial: {one: {qd: [1, 2, 0.5]}}\n"

TEST(springs_of_many_coordinates_keep_the_energy) {
  static const char *const kind[] = {"spherical", "universal", "cylindrical, axis: [0, 0, 1]",
                                     "planar", "free"};
  for (int k = 0; k < SNI_COUNT(kind); k++) {
    char text[1500];
    const sn_options o = stage_exact(0.05);
    snprintf(text, sizeof text, HUNG, kind[k], "");
    stage b = stage_set(text, o);
    const double E = stage_energy(&b);
    for (int j = 0; j < 6; j++) {
      test_step(b.sim, b.s, NULL);
    }
    CHECK(fabs(stage_energy(&b) - E) < 1e-7 * (1 + fabs(E)), "%s: energy %.10f becomes %.10f",
          kind[k], E, stage_energy(&b));
    double want[2], error[2];
    memcpy(want, sn_state_q(b.s), sizeof want);
    stage_clear(&b);
    for (int fine = 0; fine < 2; fine++) {
      sn_options r = redmax_options(fine ? 0.0025 : 0.005);
      r.redmax.integrator = SN_EXTRAPOLATED;
      b = stage_set(text, r);
      for (int j = 0; j < (fine ? 120 : 60); j++) {
        test_step(b.sim, b.s, NULL);
      }
      error[fine] = hypot(sn_state_q(b.s)[0] - want[0], sn_state_q(b.s)[1] - want[1]);
      stage_clear(&b);
    }
    CHECK(error[1] < 5e-3 && error[1] < 0.4 * error[0], "%s: redmax is off by %g, then %g", kind[k],
          error[0], error[1]);
  }
}

/* Where a loop is not active, its spring is not either. */
TEST(springs_are_there_while_their_loop_is) {
  sn_options o = stage_exact(0.05);
  for (int redmax = 0; redmax < 2; redmax++) {
    o.method = redmax ? "redmax" : "recursive";
    double with[2], without[2];
    left_after(", active: -1, stiffness: 400, rest: 0.3", true, true, &o, 0.3, with);
    left_after(", active: -1", true, true, &o, 0.3, without);
    CHECK(with[0] == without[0], "%.17g, not %.17g", with[0], without[0]);
  }
}

/* A body on a ball in the world and a free one, tied by a ball: the free joint has all the rows
 * that the ring leaves no room for, so one pivot is rounding alone whatever the order. */
TEST(free_bodies_in_loops) {
  static const char text[] =
      "sinew: 1\n"
      "bodies:\n"
      "  one: {joint: {type: spherical}, shapes: [{type: box, size: [0.1, 0.2, 1], at: [0, 0, "
      "-0.5], "
      "density: 500}]}\n"
      "  two: {joint: {type: free, at: [0.7, 0, -1]}, shapes: [{type: box, size: [0.3, 0.1, 0.2], "
      "density: 500}]}\n"
      "loops:\n"
      "  link: {type: spherical, a: {body: one, at: [0, 0, -1]}, b: {body: two, at: [-0.7, 0, "
      "0]}}\n"
      "initial: {one: {qd: [1, 2, 0.5]}}\n";
  static const sn_solver solver[] = {SN_SOLVER_REDUCED, SN_SOLVER_GRAPH, SN_SOLVER_REDUCED_KKT,
                                     SN_SOLVER_AUTO};
  for (int second = 0; second < 2; second++) {
    double first[9];
    for (int j = 0; j < SNI_COUNT(solver); j++) {
      sn_options o = redmax_options(0.005);
      o.redmax.integrator = second ? SN_EXTRAPOLATED : SN_EULER;
      o.redmax.solver = solver[j];
      stage b = stage_set(text, o);
      for (int k = 0; k < 200; k++) {
        test_step(b.sim, b.s, NULL);
      }
      if (j == 0) {
        memcpy(first, sn_state_q(b.s), sizeof first);
      }
      const double off = largest_difference(first, sn_state_q(b.s), 9);
      CHECK(off < 1e-7, "solver %d, order %d: off by %g", j, 1 + second, off);
      stage_clear(&b);
    }
  }
}

static double told(const stage *b, const char *owner, const char *what) {
  char name[64];
  double out = NAN;
  sn_error err;
  snprintf(name, sizeof name, "%s.%s", owner, what);
  const int channel = sn_sim_channel_find(b->sim, name);
  CHECK(channel >= 0, "there is no '%s'", name);
  char back[64];
  CHECK(strcmp(sn_sim_channel_name(b->sim, channel, back, sizeof back), name) == 0, "'%s'", back);
  CHECK(sn_sim_channels(b->sim, b->s, NULL, &channel, 1, &out, &err) == SN_OK, "%s", err.text);
  return out;
}

/* Its coordinate, what acts along it, and the wrench that goes through it. */
TEST(a_loop_tells_what_a_joint_tells) {
  static const char *const channel[] = {"q",           "qd",          "tau",
                                        "reaction.tx", "reaction.ty", "reaction.tz",
                                        "reaction.fx", "reaction.fy", "reaction.fz"};
  const sn_options o = stage_exact(0.05);
  for (int k = 0; k < 2 * SNI_COUNT(acting); k++) {
    stage loop = bars(acting[k / 2], k % 2, true, &o), tree = bars(acting[k / 2], k % 2, false, &o);
    stage_step(&loop, 6);
    stage_step(&tree, 6);
    for (int c = 0; c < SNI_COUNT(channel); c++) {
      const double a = told(&loop, k % 2 ? "loops.pin" : "loops.knee", channel[c]);
      const double b = told(&tree, "right", channel[c]);
      CHECK(fabs(a - b) < 1e-5 * (1 + fabs(b)), "%s, case %d: the loop has %.9g, the joint %.9g",
            channel[c], k, a, b);
    }
    CHECK(fabs(told(&loop, k % 2 ? "loops.pin" : "loops.knee", "reaction.fz")) > 1,
          "nothing goes through the loop");
    stage_clear(&loop);
    stage_clear(&tree);
  }
}

int main(void) {
  RUN_TESTS(T(a_loop_is_a_joint_like_any_other), T(redmax_comes_to_the_same), T(solvers_agree),
            T(stiff_loops_are_stable), T(springs_of_many_coordinates_keep_the_energy),
            T(springs_are_there_while_their_loop_is), T(free_bodies_in_loops),
            T(a_loop_tells_what_a_joint_tells));
}
