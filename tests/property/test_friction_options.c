/* Options differ in how far off a step is, and not in what short steps come to: with friction in
 * joints, on what is driven, in trees and loops. */
#include "stage.h"

#define PIN  "friction: {mu: 0.3, pin_radius: 0.03, pin_length: 0.1}"
#define I(x) "xx: " #x ", yy: " #x ", zz: " #x

/* A pin on an arm that is driven round. */
static const char *const arm =
    "sinew: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  a: {joint: {type: revolute, axis: [0, 1, 0], " PIN
    "}, inertia: {mass: 1, at: [0.1, 0, 0], " I(
        0.005) "}}\n"
               "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [0.25, 0, 0], " PIN
               "}, "
               "inertia: {mass: 0.5, at: [0, 0, -0.1], " I(
                   0.002) "}}\n"
                          "motions: {m: {joint: a, q: 10*t}}\n"
                          "initial: {b: {qd: 5}}\n";

/* A body that spins on a table, held by a loop. */
static const char *const table =
    "sinew: 1\n"
    "bodies:\n"
    "  t: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 1, " I(
        0.01) "}}\n"
              "  b: {joint: {type: free}, inertia: {mass: 0.5, " I(
                  0.002) "}}\n"
                         "loops: {l: {type: revolute, axis: [0, 0, 1], a: {body: t, at: [0.2, 0, "
                         "0]}, b: {body: b}, "
                         "friction: {mu: 0.1, pin_radius: 0.03, pin_length: 0.1}}}\n"
                         "motions: {m: {joint: t, q: 5*t}}\n"
                         "initial: {b: {q: [0.2, 0, 0, 0, 0, 0], qd: [0, 1, 0, 0, 0, 30]}}\n";

static double taken_by(const char *text, const char *const *channel, sn_options o, double end) {
  stage s = stage_set(text, o);
  double sum = 0;
  for (int k = 0; k < (int)lround(end / o.step); k++) {
    stage_step(&s, 1);
    for (int j = 0; channel[j]; j++) {
      sum += o.step * stage_channel(&s, channel[j]);
    }
  }
  stage_clear(&s);
  return sum;
}

/* What friction takes until `end`, with short steps. */
static double in_the_limit(const char *text, const char *const *channel, sn_options o, double end) {
  o.step = 1e-3;
  const double whole = taken_by(text, channel, o, end);
  o.step = 5e-4;
  return 2 * taken_by(text, channel, o, end) - whole;
}

/* What is driven is on its way to the end of the step when rows are looked at, which is no gap. */
TEST(gaps_that_rates_close_are_not_those_of_what_is_driven) {
  static const char *const in_arm[] = {"a.dissipation", "b.dissipation", NULL};
  static const char *const in_table[] = {"loops.l.dissipation", NULL};
  for (int k = 0; k < 2; k++) {
    const char *text = k ? table : arm, *const *channel = k ? in_table : in_arm;
    sn_options o = redmax_options(0);
    const double usual = in_the_limit(text, channel, o, 0.2);
    o.redmax.closure = SN_CLOSURE_BAUMGARTE;
    for (int way = 0; way < 3; way++) {
      o.redmax.gain = way & 1 ? 20 : 5;
      o.redmax.inertia = way & 2 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
      const double taken = in_the_limit(text, channel, o, 0.2);
      CHECK(fabs(taken / usual - 1) < 1e-3, "gain %g takes %.6g J, not %.6g\n%s", o.redmax.gain,
            taken, usual, text);
    }
  }
}

/* Four bars on a table that turns: they stick until the way down is far enough from upright, and
 * then begin to slip slowly.  pins, loop: how they rub. */
static void write_bars(char *text, size_t size, const char *pins, const char *loop) {
  snprintf(text, size,
           "sinew: 1\n"
           "bodies:\n"
           "  t: {joint: {type: revolute, axis: [1, 2, 3]}, inertia: {mass: 5, " I(
               0.01) "}}\n"
                     "  c: {parent: t, joint: {type: revolute, axis: [0, 1, 0]%s}, inertia: {mass: "
                     "0.3, at: "
                     "[0, 0, 0.05], " I(
                         0.001) "}}\n"
                                "  k: {parent: c, joint: {type: revolute, axis: [0, 1, 0], at: [0, "
                                "0, 0.1]%s}, inertia: "
                                "{mass: 0.5, at: [0.1, 0.01, 0.02], " I(
                                    0.001) "}}\n"
                                           "  r: {parent: k, joint: {type: revolute, axis: [0, 1, "
                                           "0], at: [0.25, 0, 0.05]%s}, "
                                           "inertia: {mass: 0.3, at: [0, 0, -0.06], " I(
                                               0.001) "}}\n"
                                                      "loops: {l: {%s, a: {body: t, at: [0.25, 0, "
                                                      "0]}, b: {body: r, at: [0, 0, -0.15]}}}\n"
                                                      "motions: {m: {joint: t, q: 2*t}}\n",
           pins, pins, pins, loop);
}

static double place_at(const char *text, sn_options o, double end) {
  stage s = stage_set(text, o);
  stage_step(&s, (int)lround(end / o.step));
  const double q = stage_channel(&s, "c.q");
  stage_clear(&s);
  return q;
}

TEST(what_begins_to_slip_slowly_goes_on) {
  static const struct {
    const char *pins, *loop;
    double end;
  } kind[] = {{", friction: {mu: 0.2, pin_radius: 0.03, pin_length: 0.1}",
               "type: revolute, axis: [0, 1, 0]", 0.1},
              {"", "type: spherical, friction: {mu: 1.5, pin_radius: 0.05}", 0.68}};
  for (int k = 0; k < 2; k++) {
    char text[2000];
    write_bars(text, sizeof text, kind[k].pins, kind[k].loop);
    sn_options o = redmax_options(1e-3);
    const double whole = place_at(text, o, kind[k].end);
    o.step = 5e-4;
    const double slipped = 2 * place_at(text, o, kind[k].end) - whole;
    CHECK(slipped > 5e-5, "it does not slip");
    o.redmax.integrator = SN_EXTRAPOLATED;
    for (int way = 0; way < 4; way++) {
      o.step = way & 1 ? 5e-4 : 1e-3;
      o.redmax.closure = way & 2 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
      const double q = place_at(text, o, kind[k].end);
      CHECK(fabs(q / slipped - 1) < 0.02, "step %g, closure %d: it slips by %.6g, not %.6g\n%s",
            o.step, o.redmax.closure, q, slipped, text);
    }
  }
}

/* A chain that swings on a rod; one of its joints sticks. */
static const char *const chain =
    "sinew: 1\n"
    "bodies:\n"
    "  a: {joint: {type: revolute, axis: [0, 1, 0], " PIN
    "}, inertia: {mass: 1, at: [0.1, 0, 0], " I(
        0.005) "}}\n"
               "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [0.25, 0, 0], "
               "friction: {law: "
               "dry, force: 20}}, inertia: {mass: 0.5, at: [0.1, 0, -0.1], " I(
                   0.002) "}}\n"
                          "  c: {parent: b, joint: {type: revolute, axis: [0, 1, 0], at: [0.2, 0, "
                          "-0.1], " PIN "}, "
                          "inertia: {mass: 0.5, at: [0.1, 0, 0], " I(
                              0.002) "}}\n"
                                     "  e: {parent: c, joint: {type: revolute, axis: [0, 1, 0], "
                                     "at: [0.2, 0, 0], " PIN "}, "
                                     "inertia: {mass: 0.5, at: [0.1, 0, 0], " I(
                                         0.002) "}}\n"
                                                "constraints: {rod: {type: distance, a: {body: "
                                                "world, at: [0.6, 0, 0.3]}, b: {body: e, at: "
                                                "[0.2, 0, 0]}}}\n"
                                                "initial: {a: {qd: 4}}\n";

/* What bends the way of constraints is in the loads, whoever sticks. */
TEST(rates_fit_constraints_by_what_joints_bear) {
  static const char *const joint[] = {"a.dissipation", "b.dissipation", "c.dissipation",
                                      "e.dissipation", NULL};
  sn_options o = redmax_options(0);
  const double usual = in_the_limit(chain, joint, o, 0.1);
  for (int way = 1; way < 4; way++) {
    o.redmax.closure = way & 1 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
    o.redmax.inertia = way & 2 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
    const double taken = in_the_limit(chain, joint, o, 0.1);
    CHECK(fabs(taken / usual - 1) < 2e-3, "closure %d, inertia %d: %.6g J are taken, not %.6g",
          o.redmax.closure, o.redmax.inertia, taken, usual);
  }
}

/* A block that a growing force pulls off: with steps near m v / (breakaway - force), whole ones
 * come loose and halves hardly move. */
TEST(stribeck_comes_loose_with_every_step) {
  static const char text[] =
      "sinew: 1\ngravity: [0, 0, 0]\nbodies: {b: {joint: {type: prismatic, axis: [1, 0, 0], "
      "friction: {law: stribeck, force: 2, breakaway: 4, speed: 0.01}}, inertia: {mass: 1, xx: 1, "
      "yy: 1, zz: 1}}}\nforces: {f: {type: joint_torque, joint: b, torque: 5*t}}\n";
  const double exact = 0.7256;
  for (int n = 120; n <= 1200; n += 60) { /* steps of 12.5 to 1.25 ms */
    sn_options o = redmax_options(1.5 / n);
    o.redmax.integrator = SN_EXTRAPOLATED;
    stage b = stage_set(text, o);
    stage_step(&b, n);
    const double q = sn_state_q(b.s)[0], way = o.step * sn_state_qd(b.s)[0];
    CHECK(fabs(q - exact) < 1.5 * way, "%g s: %g m instead of %g", o.step, q, exact);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(gaps_that_rates_close_are_not_those_of_what_is_driven),
            T(what_begins_to_slip_slowly_goes_on), T(rates_fit_constraints_by_what_joints_bear),
            T(stribeck_comes_loose_with_every_step));
}
