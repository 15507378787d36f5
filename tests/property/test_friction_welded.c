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
  for (int way = 0; way < 4; way++) {
    char text[1000];
    write_arm(text, sizeof text, "[0, 0, 1]", "[0, 0, 90*deg]",
              "type: revolute, axis: [0, 0, 1], friction: {law: dry, force: 5}",
              "motions: {m: {joint: upper, q: 5*t}}\n");
    const double step = way & 1 ? 0.01 : 0.002;
    stage s = stage_set(text, options_of(step, way & 2 ? SN_EXTRAPOLATED : SN_EULER));
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
  for (int way = 0; way < 4; way++) {
    sn_options o = options_of(0.005, way & 1 ? SN_EXTRAPOLATED : SN_EULER);
    o.redmax.closure = way & 2 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
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
  for (int way = 0; way < 4; way++) {
    stage s = stage_set("sinew: 1\n"
                        "bodies:\n"
                        "  table: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 1, "
                        "xx: 1, yy: 1, zz: 1}}\n"
                        "  bead: {parent: table, joint: {type: translation2, at: [0.5, 0, 0], "
                        "friction: {law: dry, force: 2}}, inertia: {mass: 1, xx: 0.01, yy: 0.01, "
                        "zz: 0.01}}\n"
                        "motions: {m: {joint: table, q: 0.5*t^2}}\n"
                        "gravity: [0, 0, 0]\n",
                        options_of(way & 1 ? 0.005 : 0.001, way & 2 ? SN_EXTRAPOLATED : SN_EULER));
    while (hypot(stage_channel(&s, "bead.q0"), stage_channel(&s, "bead.q1")) < 1e-6) {
      stage_step(&s, 1);
    }
    /* (w^2 r)^2 + r^2 = 4 for w = t, r = 0.5 */
    const double loose = pow(15, 0.25), late = *sn_state_time(s.s) - loose;
    CHECK(late > -3 * s.sim->options.step && late < 0.05, "way %d: %g s late", way, late);
    stage_clear(&s);
  }
}

/* ---- second order ---- */

static double lost_by(const char *text, sn_options o, double end) {
  stage s = stage_set(text, o);
  const double start = stage_energy(&s);
  stage_step(&s, (int)lround(end / o.step));
  const double lost = start - stage_energy(&s);
  stage_clear(&s);
  return lost;
}

/* A pendulum whose elbow sticks swings as one that is welded. */
TEST(what_sticks_swings_as_what_is_welded) {
  for (int way = 0; way < 6; way++) {
    char stuck[1000], welded[1000];
    write_arm(stuck, sizeof stuck, "[0, 1, 0]", "[0, 60*deg, 0]",
              "type: revolute, axis: [0, 1, 0], friction: {law: dry, force: 30}", "");
    write_arm(welded, sizeof welded, "[0, 1, 0]", "[0, 60*deg, 0]", "type: fixed", "");
    const sn_options o = options_of(0.01 / (1 << way / 2), way & 1 ? SN_EXTRAPOLATED : SN_EULER);
    const double lost = lost_by(stuck, o, 4), other = lost_by(welded, o, 4);
    /* what sticks is held by its weight, which is 1e8 times that of all, and 9 J come and go */
    CHECK(fabs(lost - other) < 1e-7, "way %d: %g J are lost, not %g", way, lost, other);
    CHECK(way % 2 == 0 || lost < 360 * o.step * o.step, "way %d: %g J are lost", way, lost);
  }
}

static const char double_pendulum[] =
    "sinew: 1\n"
    "bodies:\n"
    "  upper: {joint: {type: revolute, axis: [0, 1, 0], friction: {mu: %s, pin_radius: 0.02, "
    "pin_length: 0.1}}, " UPPER "}\n"
    "  fore: {parent: upper, joint: {at: [0.5, 0, 0], type: revolute, axis: [0, 1, 0], friction: "
    "{mu: %s, pin_radius: 0.02, pin_length: 0.1}}, " FORE "}\n"
    "initial: {fore: {q: 60*deg}}\n";

static sn_options extrapolated(double step) {
  sn_options o = options_of(step, SN_EXTRAPOLATED);
  o.redmax.friction.tolerance = 1e-12;
  return o;
}

/* All turns are taken with a mu of next to nothing, and they do next to nothing. */
TEST(little_friction_leaves_extrapolation_as_it_is) {
  char little[1000], none[1000];
  snprintf(little, sizeof little, double_pendulum, "1e-14", "1e-14");
  snprintf(none, sizeof none, double_pendulum, "0", "0");
  const double lost = lost_by(little, extrapolated(0.01), 1);
  const double other = lost_by(none, extrapolated(0.01), 1);
  CHECK(fabs(lost - other) < 1e-10, "%g J are lost, not %g", lost, other);
}

/* What pins take, by the records and by the energy, differs by the square of the step. */
TEST(records_are_of_second_order_where_steps_are) {
  char text[1000];
  snprintf(text, sizeof text, double_pendulum, "0.1", "0.1");
  double off[2], taken[2];
  for (int k = 0; k < 2; k++) {
    const double step = k ? 0.005 : 0.01;
    stage s = stage_set(text, extrapolated(step));
    const double start = stage_energy(&s);
    taken[k] = 0;
    for (int i = 0; i < (int)lround(1 / step); i++) {
      stage_step(&s, 1);
      const double power =
          stage_channel(&s, "upper.dissipation") + stage_channel(&s, "fore.dissipation");
      CHECK(power >= 0, "friction gives %g W", -power);
      taken[k] += step * power;
    }
    off[k] = fabs(taken[k] - (start - stage_energy(&s)));
    stage_clear(&s);
  }
  print_message("  recorded to %.1g and %.1g J of %g\n", off[0], off[1], taken[1]);
  CHECK(off[0] > 3 * off[1] && off[0] < 0.02 * taken[0], "off by %g J, and by %g", off[0], off[1]);
}

/* Coordinates of a ball go otherwise than it turns, and friction is against how it turns: by
 * whatever law, what is lost differs by the square of the step. */
TEST(balls_rub_to_second_order) {
  static const char *const law[] = {
      "{law: dry, force: 0.3}", "{mu: 0.4, pin_radius: 0.03}",
      "{law: stribeck, force: 0.2, breakaway: 0.5, speed: 0.3, damping: 0.02}"};
  for (int k = 0; k < SNI_COUNT(law); k++) {
    for (int loop = 0; loop < 2; loop++) {
      char text[1500], joint[300];
      snprintf(joint, sizeof joint, "joint: {type: free, at: [0.3, 0, 0]}");
      if (!loop) {
        snprintf(joint, sizeof joint,
                 "parent: base, joint: {type: spherical, at: [0.3, 0, 0], friction: %s}", law[k]);
      }
      const int used =
          snprintf(text, sizeof text,
                   "sinew: 1\n"
                   "bodies:\n"
                   "  base: {joint: {type: revolute, axis: [0, 1, 0], friction: {law: dry, force: "
                   "0.05}}, inertia: {mass: 3, at: [0.1, 0, -0.1], xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                   "  a: {%s, inertia: {mass: 2, at: [0.2, 0.05, -0.1], xx: 0.05, "
                   "yy: 0.06, zz: 0.07}}\n",
                   joint);
      if (loop) {
        snprintf(text + used, sizeof text - (size_t)used,
                 "loops: {l: {type: spherical, a: {body: base, at: [0.3, 0, 0]}, b: {body: a}, "
                 "friction: %s}}\n",
                 law[k]);
      }
      double lost[3];
      for (int i = 0; i < 3; i++) {
        lost[i] = lost_by(text, extrapolated(0.002 / (1 << i)), 0.6);
      }
      const double first = fabs(lost[1] - lost[0]), then = fabs(lost[2] - lost[1]);
      CHECK(then < first / 2.9, "%s, %s: by %g and %g J of %g", law[k], loop ? "loop" : "tree",
            first, then, lost[2]);
    }
  }
}

int main(void) {
  RUN_TESTS(T(what_sticks_on_what_is_driven_takes_nothing), T(what_sticks_in_a_loop_takes_nothing),
            T(what_is_drawn_outwards_comes_loose_in_time), T(what_sticks_swings_as_what_is_welded),
            T(little_friction_leaves_extrapolation_as_it_is),
            T(records_are_of_second_order_where_steps_are), T(balls_rub_to_second_order));
}
