/* What sticks is as good as welded: it does not move, takes no power, costs no motor anything, and
 * what it is part of goes on as if there were no joint. */
#include "stage.h"

#define UPPER "inertia: {mass: 2, at: [0.25, 0, 0], xx: 0.01, yy: 0.05, zz: 0.05}"
#define FORE  "inertia: {mass: 1, at: [0.2, 0, 0], xx: 0.01, yy: 0.02, zz: 0.02}"

static sn_options options_of(double step, sn_implicit integrator) {
  sn_options o = redmax_options(step);
  o.redmax.integrator = integrator;
  return o;
}

/* An arm of two links about parallel axes; bent by 90 degrees, and held there by what `elbow` says.
 */
static void write_arm(char *text, size_t size, const char *axis, const char *bent,
                      const char *elbow, const char *more) {
  snprintf(text, size,
           "sinew: 1\n"
           "bodies:\n"
           "  upper: {joint: {type: revolute, axis: %s}, " UPPER "}\n"
           "  fore: {parent: upper, joint: {at: {pos: [0.5, 0, 0], rotvec: %s}, %s}, " FORE "}\n%s",
           axis, bent, elbow, more);
}

/* ---- round and round ---- */

/* The elbow of a driven arm bears what draws it outwards, and does nothing else. */
TEST(what_sticks_on_what_is_driven_takes_nothing) {
  for (int way = 0; way < 2; way++) {
    char text[1000];
    write_arm(text, sizeof text, "[0, 0, 1]", "[0, 0, 90*deg]",
              "type: revolute, axis: [0, 0, 1], friction: {law: dry, force: 5}",
              "motions: {m: {joint: upper, q: 5*t}}\n");
    const double step = way & 1 ? 0.01 : 0.002;
    stage s = stage_set(text, options_of(step, SN_EULER));
    stage_step(&s, 50);
    for (int k = 0; k < 50; k++) {
      stage_step(&s, 1);
      /* but for rounding, where gaps are closed */
      CHECK(fabs(stage_channel(&s, "fore.qd")) < 1e-13, "way %d: it turns with %g", way,
            stage_channel(&s, "fore.qd"));
      CHECK(fabs(stage_channel(&s, "fore.dissipation")) < 1e-12, "way %d: it takes %g W", way,
            stage_channel(&s, "fore.dissipation"));
      CHECK(fabs(stage_channel(&s, "m.tau")) < 3 * step, "way %d: the motor gives %g N m", way,
            stage_channel(&s, "m.tau"));
      /* about the elbow: 1 kg at 0.2 m, drawn outwards across 0.5 m; what turns is braked by
       * w^2 h/2, which comes to 1 kg 0.2^2 m^2 25/s^2 h/2 about the elbow, and twice that of 0.5^2
       */
      CHECK(fabs(fabs(stage_channel(&s, "fore.friction")) - 0.2 * 0.5 * 25) < 3 * step,
            "way %d: it holds %g N m", way, stage_channel(&s, "fore.friction"));
    }
    stage_clear(&s);
  }
}

/* Nor does the joint of a loop: five bars of which two stick together. */
TEST(what_sticks_in_a_loop_takes_nothing) {
  static const char bars[] =
      "sinew: 1\n"
      "bodies:\n"
      "  a: {joint: {type: revolute, axis: [0, 1, 0]}, " FORE "}\n"
      "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [0.05, 0, -0.3]}, " FORE "}\n"
      "  c: {joint: {type: revolute, axis: [0, 1, 0], at: [0.4, 0, 0]}, " FORE "}\n"
      "  d: {parent: c, joint: {type: revolute, axis: [0, 1, 0], at: [0.05, 0, -0.3]}, " FORE "}\n"
      "loops: {l: {type: revolute, axis: [0, 1, 0], friction: {law: dry, force: 50}, a: {body: b, "
      "at: [0.15, 0, -0.2]}, b: {body: d, at: [-0.25, 0, -0.2]}}}\n"
      "initial: {a: {qd: 3}}\n";
  for (int way = 0; way < 2; way++) {
    sn_options o = options_of(0.005, SN_EULER);
    o.redmax.closure = way & 1 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
    stage s = stage_set(bars, o);
    stage_step(&s, 5);
    for (int k = 0; k < 200; k++) {
      stage_step(&s, 1);
      const double power = stage_channel(&s, "loops.l.dissipation");
      CHECK(fabs(power) < 1e-11, "way %d: it takes %g W", way, power);
    }
    stage_clear(&s);
  }
}

/* What is drawn outwards on a turntable comes loose where friction cannot hold it any more, and not
 * before: what holds it is 2 N. */
TEST(what_is_drawn_outwards_comes_loose_in_time) {
  for (int way = 0; way < 2; way++) {
    stage s = stage_set("sinew: 1\n"
                        "bodies:\n"
                        "  table: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 1, "
                        "xx: 1, yy: 1, zz: 1}}\n"
                        "  bead: {parent: table, joint: {type: translation2, at: [0.5, 0, 0], "
                        "friction: {law: dry, force: 2}}, inertia: {mass: 1, xx: 0.01, yy: 0.01, "
                        "zz: 0.01}}\n"
                        "motions: {m: {joint: table, q: 0.5*t^2}}\n"
                        "gravity: [0, 0, 0]\n",
                        options_of(way & 1 ? 0.005 : 0.001, SN_EULER));
    while (hypot(stage_channel(&s, "bead.q0"), stage_channel(&s, "bead.q1")) < 1e-6) {
      stage_step(&s, 1);
    }
    /* (w^2 r)^2 + r^2 = 4 for w = t, r = 0.5 */
    const double loose = pow(15, 0.25), late = *sn_state_time(s.s) - loose;
    CHECK(late > -3 * s.sim->options.step && late < 0.05, "way %d: %g s late", way, late);
    stage_clear(&s);
  }
}

int main(void) {
  RUN_TESTS(T(what_sticks_on_what_is_driven_takes_nothing), T(what_sticks_in_a_loop_takes_nothing),
            T(what_is_drawn_outwards_comes_loose_in_time));
}
