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

int main(void) {
  RUN_TESTS(T(gaps_that_rates_close_are_not_those_of_what_is_driven));
}
