/* Friction in joints is physics: it takes energy and gives none, what sticks stays where it is,
 * without it nothing changes, and it does not care how a joint was written down. */
#include "methods/redmax/rub.h"
#include "stage.h"
#include "vectors.h"

#define PINS "friction: {mu: %g, pin_radius: 0.05, pin_length: 0.2}"
/* short ones of things that slide jam */
#define LONG "friction: {mu: %g, pin_radius: 0.05, pin_length: 1}"
/* A chain that falls sideways, and a four-bar linkage; with friction of some mu, or with none. */
#define SWING(a, b, c)                                                                             \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  one: {joint: {type: revolute, axis: [0, 1, 0.5]" a                                            \
  "}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 500}]}\n"                \
  "  two: {parent: one, joint: {type: universal, at: [1, 0, 0]" a                                  \
  "}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 500}]}\n"                \
  "  three: {parent: two, joint: {type: cylindrical, axis: [1, 0, 0], at: [1, 0, 0], stiffness: "  \
  "[0, 500]" c "}, shapes: [{type: box, size: [1, 0.1, 0.2], at: [0.5, 0.2, 0], density: 500}]}\n" \
  "  four: {parent: three, joint: {type: spherical, at: [1, 0, 0]" b                               \
  "}, shapes: [{type: box, size: [1, 0.1, 0.2], at: [0.5, 0.1, 0], density: 500}]}\n"
#define BARS(a)                                                                                    \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  left: {joint: {type: revolute, axis: [0, 1, 0]" a                                             \
  "}, shapes: [{type: box, size: [0.1, 0.1, 1], at: [0, 0, 0.5], density: 1000}]}\n"               \
  "  top: {parent: left, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, 1]" a                 \
  "}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 1000}]}\n"               \
  "  right: {parent: top, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]" a                \
  "}, shapes: [{type: box, size: [0.1, 0.1, 1.2], at: [0, 0, -0.6], density: 1000}]}\n"            \
  "loops:\n"                                                                                       \
  "  pin: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1, 0, -0.2]}, b: {body: right, " \
  "at: [0, 0, -1.2]}" a "}\n"                                                                      \
  "initial: {left: {qd: 1.2}, top: {qd: -1.2}, right: {qd: 1}}\n"

static const char *const rubbing[] = {
    SWING(", " PINS, ", friction: {mu: %g, pin_radius: 0.05}", ", " LONG), BARS(", " PINS)};
static const char *const plain[] = {SWING("", "", ""), BARS("")};

static stage rubs(int which, double mu, const sn_options *o) {
  char text[3000];
  snprintf(text, sizeof text, rubbing[which], mu, mu, mu, mu);
  return stage_set(text, *o);
}

/* ---- without friction ---- */

TEST(friction_of_zero_is_none) {
  for (int which = 0; which < 2; which++) {
    for (int paper = 0; paper < 2; paper++) {
      const sn_options o = paper ? redmax_paper_options(0.01) : redmax_options(0.01);
      stage a = rubs(which, 0, &o), b = stage_set(plain[which], o);
      double off = 0;
      for (int k = 0; k < 100; k++) {
        stage_step(&a, 1);
        stage_step(&b, 1);
        const int nv = sn_model_dof_count(a.m);
        off = fmax(off, largest_difference(sn_state_q(a.s), sn_state_q(b.s), nv));
        off = fmax(off, largest_difference(sn_state_qd(a.s), sn_state_qd(b.s), nv));
      }
      CHECK(off <= tol(1e-10), "mechanism %d, %s: off by %g", which, paper ? "paper" : "ours", off);
      stage_clear(&a);
      stage_clear(&b);
    }
  }
}

/* Whoever solves, however loops are closed, and against a block.  With a mu of zero plain steps are
 * taken, with the tolerances that there are; with next to nothing all that friction needs is done,
 * and leads to the same place, as near as solvers go. */
static void compare_with_plain(sn_solver solver, bool open, int which, bool exactly) {
  static const char block[] = "contacts: {rubber: {friction: 0.4}}\n"
                              "defaults: {shape: {contact: rubber}}\n";
  static const char own[] = "sinew: 1\nbodies:\n"
                            "  block: {joint: {type: fixed}, shapes: [{type: box, size: [0.4, 0.4, "
                            "0.6], at: [1.9, 0, 0.5]}]}\n";
  const double mu = exactly ? 0 : 1e-14;
  char text[2][4000];
  snprintf(text[0], sizeof text[0], rubbing[which > 0], mu, mu, mu, mu);
  snprintf(text[1], sizeof text[1], "%s", plain[which > 0]);
  for (int k = 0; k < 2 && which == 2; k++) {
    char bars[3000];
    snprintf(bars, sizeof bars, "%s", text[k] + strlen("sinew: 1\nbodies:\n"));
    snprintf(text[k], sizeof text[k], "%s%s%s", own, bars, block);
  }
  sn_options o = redmax_options(0.01);
  o.redmax.solver = solver;
  o.redmax.tolerance = exactly ? o.redmax.tolerance : 1e-13;
  o.redmax.contact.tolerance = exactly ? o.redmax.contact.tolerance : 1e-13;
  o.redmax.friction.tolerance = exactly ? o.redmax.friction.tolerance : 1e-12;
  o.redmax.closure = open ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
  stage a = stage_set(text[0], o), b = stage_set(text[1], o);
  double off = 0, touched = 0;
  for (int k = 0; k < (which == 2 ? 80 : 40); k++) {
    stage_step(&a, 1);
    stage_step(&b, 1);
    const int nv = sn_model_dof_count(a.m);
    off = fmax(off, largest_difference(sn_state_q(a.s), sn_state_q(b.s), nv));
    off = fmax(off, largest_difference(sn_state_qd(a.s), sn_state_qd(b.s), nv));
    touched += which == 2 ? stage_channel(&a, "right.contact.points") : 0;
  }
  CHECK(which < 2 || touched > 10, "nothing touches: %g points in all steps", touched);
  CHECK(off <= tol(1e-10), "solver %d, mechanism %d, %s, mu %g: off by %g", solver, which,
        open ? "baumgarte" : "project", mu, off);
  stage_clear(&a);
  stage_clear(&b);
}

TEST(friction_of_zero_is_none_for_every_solver) {
  static const sn_solver solvers[] = {SN_SOLVER_TREE, SN_SOLVER_PCG, SN_SOLVER_REDUCED,
                                      SN_SOLVER_REDUCED_KKT, SN_SOLVER_GRAPH};
  for (int k = 0; k < 5 * 2 * 3 * 2; k++) { /* a chain, bars, bars that fall on a block */
    compare_with_plain(solvers[k % 5], k / 5 % 2 > 0, k / 10 % 3, k / 30 > 0);
  }
}

/* ---- energy ---- */

/* It dissipates at every step, and where it is strong all comes to rest. */
TEST(friction_takes_energy) {
  static const char *const names[][4] = {{"one", "two", "three", "four"},
                                         {"left", "top", "right", "loops.pin"}};
  for (int which = 0; which < 2; which++) {
    for (int paper = 0; paper < 2; paper++) {
      sn_options o = paper ? redmax_paper_options(0.005) : redmax_options(0.005);
      stage b = rubs(which, 0.5, &o);
      double iterations = 0, slides = 0;
      const int steps = 600;
      for (int k = 0; k < steps; k++) {
        iterations += redmax_step(b.sim, b.s, NULL).friction_iterations;
        for (int j = 0; j < 4; j++) {
          char name[32];
          snprintf(name, sizeof name, "%s.dissipation", names[which][j]);
          const double power = stage_channel(&b, name);
          snprintf(name, sizeof name, "%s.normal", names[which][j]);
          CHECK(power >= -tol(1e-10) * stage_channel(&b, name), "step %d: %s works with %g", k,
                names[which][j], power);
          slides += power > 0;
        }
        /* about its axis a loop's joint does nothing else */
        CHECK(which == 0 || fabs(stage_channel(&b, "loops.pin.reaction.ty") -
                                 stage_channel(&b, "loops.pin.friction")) <
                                1e-12 * stage_channel(&b, "loops.pin.normal"),
              "step %d: the loop's reaction is without its friction", k);
      }
      CHECK(slides > 100, "nothing slides");
      CHECK(iterations / steps <= 10, "mechanism %d, %s: %g iterations a step", which,
            paper ? "paper" : "ours", iterations / steps);
      stage_clear(&b);
    }
  }
}

/* ---- a pendulum ---- */

/* A mass at the end of a rod without any: the pin bears a force along the rod and nothing else, so
 * all of it is spread around the pin like a cosine, and 4/pi of it rubs. */
#define PENDULUM                                                                                   \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  rod: {joint: {type: revolute, axis: [0, 1, 0], friction: {mu: %g, pin_radius: 0.05, "         \
  "pin_length: 0.1%s}}, inertia: {mass: 2, at: [0, 0, -1], xx: 1e-9, yy: 1e-9, zz: 1e-9}}\n"       \
  "initial: {rod: {q: %.17g}}\n"

static stage pendulum(double mu, const char *more, double q, double step) {
  char text[1000];
  snprintf(text, sizeof text, PENDULUM, mu, more, q);
  return stage_set(text, redmax_options(step));
}

/* From one end of a swing to the other: 4/pi mu r F with F = m (g cos q + L qd^2). */
TEST(a_pendulum_loses_what_its_pin_takes) {
  const double g = 9.81, start = 1.2, mu = 0.05;
  double lost[2];
  for (int with = 0; with < 2; with++) {
    stage b = pendulum(with ? mu : 0, "", start, 1e-4);
    const double before = stage_energy(&b);
    do {
      stage_step(&b, 1);
    } while (sn_state_qd(b.s)[0] <= 0);
    lost[with] = before - stage_energy(&b);
    stage_clear(&b);
  }
  /* u = qd^2 over q, from the start to where it is 0 again: u' = 2 (-g sin q + friction/m) */
  double q = start, u = 0, end = start;
  const double dq = -1e-5;
  for (int k = 0; u >= 0; k++) {
    const double rub = 4 / SN_PI * mu * 0.05 * (g * cos(q) + u);
    u += 2 * dq * (-g * sin(q) + rub);
    q += dq;
    end = q;
  }
  const double expected = 2 * g * (cos(end) - cos(start)), found = lost[1] - lost[0];
  CHECK(fabs(found - expected) < 0.01 * expected, "it lost %g, not %g (%g without friction)", found,
        expected, lost[0]);
}

/* It stops where 4/pi mu r F holds it, and nowhere else: sin q <= 4/pi mu r/L, to what 32 contacts
 * are away from a cosine. */
TEST(a_pendulum_stops_where_it_can) {
  const double zone = asin(4 / SN_PI * 0.8 * 0.05);
  stage b = pendulum(0.8, "", 1.5, 1e-3);
  int still = 0;
  for (int k = 0; k < 100000 && still < 100; k++) {
    stage_step(&b, 1);
    still = sn_state_qd(b.s)[0] == 0 ? still + 1 : 0;
  }
  CHECK(still == 100, "it does not stop");
  CHECK(fabs(sn_state_q(b.s)[0]) <= 1.005 * zone, "stopped at %g, not within %g",
        sn_state_q(b.s)[0], zone);
  stage_clear(&b);
  for (int out = 0; out < 2; out++) {
    stage c = pendulum(0.8, "", (out ? 1.005 : 0.99) * zone, 1e-3);
    stage_step(&c, 200);
    CHECK((sn_state_qd(c.s)[0] != 0) == out, "at %g of the zone it moves with %g",
          out ? 1.005 : 0.99, sn_state_qd(c.s)[0]);
    stage_clear(&c);
  }
}

/* SINEW_SOAK: for a million steps. */
TEST(what_sticks_does_not_creep) {
  const int steps = getenv("SINEW_SOAK") ? 1000000 : 20000;
  const double start = 0.9 * asin(4 / SN_PI * 0.8 * 0.05);
  stage b = pendulum(0.8, "", start, 0.01);
  stage_step(&b, steps);
  CHECK(fabs(sn_state_q(b.s)[0] - start) <= 1e-9, "it is at %.17g after %d steps, not at %.17g",
        sn_state_q(b.s)[0], steps, start);
  stage_clear(&b);
  /* a linkage that stops askew */
  const sn_options o = redmax_options(0.01);
  stage c = rubs(1, 3, &o);
  stage_step(&c, 400);
  double q[3];
  memcpy(q, sn_state_q(c.s), sizeof q);
  stage_step(&c, steps);
  CHECK(largest_difference(q, sn_state_q(c.s), 3) <= 1e-9, "the bars creep by %g",
        largest_difference(q, sn_state_q(c.s), 3));
  /* all of them share the load, though three could hold it without the fourth */
  const sni_rubbing *r = sni_sim_rubbing(c.sim);
  for (int k = 0; k < r->m->nslide; k++) {
    const double part = fabs(r->force[k]) / r->bound[k];
    CHECK(part > 0.01 && part < 0.99, "pin %d holds with %g of what it could", k, part);
  }
  stage_clear(&c);
}

/* ---- the same joint, written otherwise ---- */

/* Straight: the axis is z of a frame that is turned; oblique: the frame is not, the axis is. */
TEST(an_oblique_hinge_is_a_hinge) {
  static const char text[] =
      "sinew: 1\n"
      "bodies:\n"
      "  rod: {joint: {type: revolute, axis: [%.17g, %.17g, %.17g], at: {pos: [0, 0, 0], rotvec: "
      "[%.17g, %.17g, %.17g]}, friction: {mu: 0.05, pin_radius: 0.05, pin_length: 0.1, points: "
      "%d}}, inertia: {mass: 2, at: [%.17g, %.17g, %.17g], xx: 0.1, yy: 0.1, zz: 0.1}}\n"
      "  end: {parent: rod, joint: {type: spherical, at: [%.17g, %.17g, %.17g]}, inertia: {mass: "
      "1, xx: 0.2, yy: 0.2, zz: 0.2}}\n";
  const sn_vec3 axis = {0.6, 0, 0.8}, arm = {1.0, 0.3, -0.2}; /* in the oblique frame */
  const sn_vec3 turn = {0, atan2(0.6, 0.8), 0};               /* takes z to the axis */
  const sn_vec3 own = sn_mat3_tmul_vec(sn_so3_exp(turn), arm);
  for (int points = 4; points <= 32; points *= 8) {
    double end[2][2];
    for (int k = 0; k < 2; k++) {
      const sn_vec3 a = k ? axis : (sn_vec3){0, 0, 1}, r = k ? (sn_vec3){0, 0, 0} : turn;
      const sn_vec3 c = k ? arm : own;
      char scene[2000];
      snprintf(scene, sizeof scene, text, a.x, a.y, a.z, r.x, r.y, r.z, points, c.x, c.y, c.z, c.x,
               c.y, c.z);
      sn_options o = redmax_options(0.005);
      o.redmax.friction.tolerance = 1e-12;
      stage b = stage_set(scene, o);
      stage_step(&b, 400);
      end[k][0] = sn_state_q(b.s)[0];
      end[k][1] = sn_state_qd(b.s)[0];
      stage_clear(&b);
    }
    CHECK(fabs(end[0][0]) > 0.1, "it moved by %g", end[0][0]);
    CHECK(fabs(end[0][0] - end[1][0]) <= tol(1e-9) && fabs(end[0][1] - end[1][1]) <= tol(1e-9),
          "%d points: %.12g and %.12g, rates %.12g and %.12g", points, end[0][0], end[1][0],
          end[0][1], end[1][1]);
  }
}

/* A universal joint is two pins on a cross: with a cross that has nearly no mass it is two hinges.
 */
TEST(a_universal_joint_is_two_hinges) {
  static const char joined[] =
      "sinew: 1\n"
      "bodies:\n"
      "  rod: {joint: {type: universal, friction: {mu: 0.4, pin_radius: 0.05, pin_length: 0.1}}, "
      "inertia: {mass: 2, at: [0.3, 0.4, -1], xx: 0.1, yy: 0.1, zz: 0.1}}\n";
  static const char split[] =
      "sinew: 1\n"
      "bodies:\n"
      "  cross: {joint: {type: revolute, axis: [1, 0, 0], friction: {mu: 0.4, pin_radius: 0.05, "
      "pin_length: 0.1}}, inertia: {mass: 1e-7, xx: 1e-9, yy: 1e-9, zz: 1e-9}}\n"
      "  rod: {parent: cross, joint: {type: revolute, axis: [0, 1, 0], friction: {mu: 0.4, "
      "pin_radius: 0.05, pin_length: 0.1}}, inertia: {mass: 2, at: [0.3, 0.4, -1], xx: 0.1, yy: "
      "0.1, zz: 0.1}}\n";
  const sn_options o = redmax_paper_options(0.002);
  stage a = stage_set(joined, o), b = stage_set(split, o);
  double off = 0;
  for (int k = 0; k < 500; k++) {
    stage_step(&a, 1);
    stage_step(&b, 1);
    off = fmax(off, largest_difference(sn_state_q(a.s), sn_state_q(b.s), 2));
  }
  CHECK(off < 1e-5, "off by %g", off); /* of the cross, which has a mass */
  CHECK(fabs(sn_state_q(a.s)[0]) > 0.1 && fabs(sn_state_q(a.s)[1]) > 0.1, "it did not move");
  stage_clear(&a);
  stage_clear(&b);
}

/* ---- with what else there is ---- */

/* A limit stops it and bears the rest; friction goes on in the same solve. */
TEST(limits_and_drives_rub_along) {
  stage b =
      stage_set("sinew: 1\n"
                "bodies:\n"
                "  rod: {joint: {type: revolute, axis: [0, 1, 0], limits: [-0.5, 2], friction: "
                "{mu: 0.3, pin_radius: 0.05, pin_length: 0.1}}, inertia: {mass: 2, at: [0, "
                "0, -1], xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                "  tip: {parent: rod, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, "
                "-1], drive: {target: 1, stiffness: 200, damping: 5}, friction: {mu: 0.3, "
                "pin_radius: 0.05, pin_length: 0.1}}, inertia: {mass: 1, at: [0, 0, -0.5], "
                "xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                "initial: {rod: {q: 1.5}}\n",
                redmax_options(0.005));
  double least = 0;
  for (int k = 0; k < 4000; k++) {
    stage_step(&b, 1);
    least = fmin(least, sn_state_q(b.s)[0]);
    CHECK(stage_channel(&b, "rod.dissipation") >= -1e-9 &&
              stage_channel(&b, "tip.dissipation") >= -1e-9,
          "friction works at step %d", k);
  }
  CHECK(least > -0.5 - 1e-9 && least < -0.49, "it went to %g", least);
  CHECK(sn_state_qd(b.s)[0] == 0 && sn_state_qd(b.s)[1] == 0, "it does not rest: %g %g",
        sn_state_qd(b.s)[0], sn_state_qd(b.s)[1]);
  stage_clear(&b);
}

/* An arm with a pin that rubs comes down on the floor, which bears 9.2 of its 14.2 kg: the pin has
 * the rest, and 4/pi of that on its contacts. */
TEST(a_joint_rubs_under_the_load_of_contacts) {
  stage b = stage_set(
      "sinew: 1\n"
      "bodies:\n"
      "  floor: {joint: {type: fixed, at: [0, 0, -0.3]}, shapes: [{type: plane, contact: "
      "rubber}]}\n"
      "  arm: {joint: {type: revolute, axis: [0, 1, 0], friction: {mu: 0.1, pin_radius: 0.02, "
      "pin_length: 0.1}}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: "
      "1000}, {type: sphere, radius: 0.1, at: [1, 0, 0], density: 1000, contact: rubber}]}\n"
      "contacts: {rubber: {friction: 0}}\n"
      "initial: {arm: {q: -0.2}}\n",
      redmax_options(0.005));
  double iterations = 0;
  for (int k = 0; k < 1000; k++) {
    iterations += redmax_step(b.sim, b.s, NULL).friction_iterations;
    CHECK(stage_channel(&b, "arm.dissipation") >= -1e-9, "friction works at step %d", k);
  }
  CHECK(iterations <= 10000, "%g iterations a step", iterations / 1000);
  CHECK(fabs(sn_state_qd(b.s)[0]) < 1e-12, "it does not rest: %g", sn_state_qd(b.s)[0]);
  CHECK(fabs(sin(sn_state_q(b.s)[0]) - 0.2) < 1e-3, "it rests at %g", sn_state_q(b.s)[0]);
  const double bears = stage_channel(&b, "arm.normal"), expected = 4 / SN_PI * 5 * 9.81;
  CHECK(fabs(bears - expected) < 0.02 * expected, "the pin bears %g, not %g", bears, expected);
  const double up = -stage_channel(&b, "arm.reaction.fz");
  CHECK(fabs(up) < 60, "the reaction is %g, the weight of the arm 139", up);
  stage_clear(&b);
}

/* Two sliders that load each other, on guides too short for where their masses are: loads go up
 * with friction and friction with loads, round in circles; one of them hits its limit on the way. A
 * floor far below makes contacts take part. */
TEST(sliders_that_load_each_other) {
  stage b = stage_set(
      "sinew: 1\n"
      "contacts: {rubber: {friction: 0.5}}\n"
      "bodies:\n"
      "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: rubber}]}\n"
      "  up: {joint: {type: prismatic, at: [0, 0, 1.5], axis: [0, 0, 1], friction: {mu: 0.5, size: "
      "[0.1, 0.1, 0.6]}, limits: [-0.5, 0.5]}, shapes: [{type: capsule, from: [0.08, 0, 0], to: "
      "[0.32, 0, 0], radius: 0.03, density: 2000}]}\n"
      "  across: {parent: up, joint: {type: prismatic, at: [0.4, 0, 0], axis: [0, 1, 0], friction: "
      "{mu: 0.5, size: [0.1, 0.1, 0.6]}, drive: {target: 1, stiffness: 1000, damping: 10, "
      "max_force: 20}}, shapes: [{type: capsule, from: [0.08, 0, 0], to: [0.32, 0, 0], radius: "
      "0.03, density: 2000}]}\n",
      redmax_options(0.01));
  double iterations = 0;
  for (int k = 0; k < 200; k++) {
    const sn_info info = redmax_step(b.sim, b.s, NULL);
    iterations += info.friction_iterations;
    CHECK(info.retries == 0, "step %d was divided", k);
    CHECK(stage_channel(&b, "up.dissipation") >= -1e-6 &&
              stage_channel(&b, "across.dissipation") >= -1e-6,
          "friction works at step %d", k);
  }
  CHECK(iterations <= 2000, "%g iterations a step", iterations / 200);
  CHECK(sn_state_q(b.s)[0] >= -0.5 - 1e-9, "it is at %g, beyond its limit", sn_state_q(b.s)[0]);
  stage_clear(&b);
}

/* Reactions are differences of large numbers; what is left in a fall is no load. */
TEST(what_falls_bears_nothing) {
  stage b = stage_set(
      "sinew: 1\n"
      "bodies:\n"
      "  one: {joint: {type: free, at: [0.04, -0.13, 0.31]}, shapes: [{type: capsule, from: [-0.1, "
      "0, 0], to: [0.1, 0, 0], radius: 0.05, density: 500}]}\n"
      "  two: {parent: one, joint: {type: spherical, at: [0.25, 0, 0], friction: {mu: 0.3, "
      "pin_radius: 0.02}}, shapes: [{type: sphere, radius: 0.1, density: 500}]}\n"
      "  three: {parent: one, joint: {type: revolute, axis: [0, 1, 0], at: [-0.25, 0, 0], "
      "friction: "
      "{mu: 0.3, pin_radius: 0.02, pin_length: 0.1}}, shapes: [{type: sphere, radius: 0.1, "
      "density: 500}]}\n",
      redmax_options(0.002));
  for (int k = 0; k < 500; k++) {
    redmax_step(b.sim, b.s, NULL);
    CHECK(stage_channel(&b, "two.normal") == 0 && stage_channel(&b, "three.normal") == 0,
          "step %d: they bear %g and %g", k, stage_channel(&b, "two.normal"),
          stage_channel(&b, "three.normal"));
  }
  stage_clear(&b);
}

/* ---- joints that hold the same thing ---- */

/* A door of 32 kg on two hinges that are 1.8 m apart, though one would hold it.  Both of them bear
 * half of its weight along the axis, and across it the moment of the weight divided by their
 * distance, spread like a cosine. */
static stage door(const char *first, const char *second) {
  char text[1500];
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "bodies:\n"
           "  door: {joint: {type: revolute, axis: [0, 0, 1], at: [0, 0, %s], friction: {mu: 0.3, "
           "pin_radius: 0.01, pin_length: 0.05}}, shapes: [{type: box, size: [0.8, 0.04, 1.8], at: "
           "[0.4, 0, \"0.9 - %s\"], density: 555.5555555555555}]}\n"
           "loops: {hinge: {type: revolute, axis: [0, 0, 1], a: {body: world, at: [0, 0, %s]}, b: "
           "{body: door, at: [0, 0, \"%s - %s\"]}, friction: {mu: 0.3, pin_radius: 0.01, "
           "pin_length: 0.05}}}\n"
           "initial: {door: {qd: 0.1}}\n",
           first, first, second, second, first);
  return stage_set(text, redmax_options(0.005));
}

TEST(a_door_hangs_on_both_hinges) {
  static const char *const at[] = {"0", "1.8"};
  const double weight = 32 * 9.81, across = weight * 0.4 / 1.8;
  const double hand = weight / 2 + 4 / SN_PI * across;
  for (int k = 0; k < 2; k++) { /* whichever is the loop */
    stage b = door(at[k], at[1 - k]);
    for (int i = 0; i < 20; i++) {
      redmax_step(b.sim, b.s, NULL);
      const double one = stage_channel(&b, "door.normal");
      const double two = stage_channel(&b, "loops.hinge.normal");
      CHECK(fabs(one - hand) < 0.05 * hand && fabs(two - hand) < 0.05 * hand,
            "step %d: they bear %g and %g, by hand %g", i, one, two, hand);
    }
    stage_clear(&b);
  }
}

/* A bracket whose weight W is a = 0.4 m off a guide, with another guide beyond it at the distance
 * d.  Both hold half of W, so what tilts it is W |a - d/2|, of which each bears half, on contacts
 * with arms of 0.05 m: if mu times that is W/2 it stays where it is. */
TEST(a_bracket_on_two_guides_stays) {
  static const double away[] = {-0.3, 0.1, 0.3, 0.5, 0.6, 1.2};
  const double weight = 2 * 9.81, mu = 0.5;
  for (int k = 0; k < SNI_COUNT(away); k++) {
    char text[1000];
    snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "bodies: {b: {joint: {type: prismatic, axis: [0, 0, 1], friction: {mu: %g, size: [0.1, "
        "0.1, 0.1], across: [1, 0, 0]}}, inertia: {mass: 2, at: [0.4, 0, 0], xx: 0.1, yy: 0.1, zz: "
        "0.1}}}\n"
        "loops: {c: {type: prismatic, axis: [0, 0, 1], a: {body: world, at: [%g, 0, 0]}, b: "
        "{body: b, at: [%g, 0, 0]}, friction: {mu: %g, size: [0.1, 0.1, 0.1], across: [1, 0, "
        "0]}}}\n",
        mu, away[k], away[k], mu);
    stage b = stage_set(text, redmax_options(0.001));
    const double hand = weight * fabs(0.4 - 0.5 * away[k]) / 2 / 0.05;
    CHECK(mu * hand >= 0.5 * weight, "nobody says that it holds");
    for (int i = 0; i < 100; i++) {
      const sn_info info = redmax_step(b.sim, b.s, NULL);
      CHECK(info.friction_unsettled == 0, "step %d does not agree", i);
    }
    const double one = stage_channel(&b, "b.normal"), two = stage_channel(&b, "loops.c.normal");
    CHECK(fabs(sn_state_q(b.s)[0]) < 1e-12, "%g: it falls by %g", away[k], sn_state_q(b.s)[0]);
    CHECK(fabs(one - hand) < 1e-6 * hand && fabs(two - hand) < 1e-6 * hand,
          "%g: they bear %g and %g, by hand %g", away[k], one, two, hand);
    stage_clear(&b);
  }
}

/* A bracket on upright guides, one of which is the joint and the others loops.  A guide at the
 * distance a from the weight W holds it with mu > length/(2 a).  Together they have the friction
 * sum f_i = W, are tilted by |sum f_i a_i|, and rub by 2 mu/length of that: they hold it if one of
 * them does, also where even shares would press on nothing, and never otherwise, as no sum of a_i
 * with shares is longer than the longest of them. */
static double falls_by(int n, const double *guide, double arm, double mu) {
  char text[2000], rub[100], loops[1200] = "";
  size_t used = 0;
  snprintf(rub, sizeof rub, "friction: {mu: %g, size: [0.1, 0.1, 0.1], across: [1, 0, 0]}", mu);
  for (int k = 1; k < n; k++) { /* the first of them is the joint */
    used += (size_t)snprintf(
        loops + used, sizeof loops - used,
        "%sc%d: {type: prismatic, axis: [0, 0, 1], a: {body: world, at: [%.17g, 0, 0]}, b: {body: "
        "b, at: [%.17g, 0, 0]}, %s}%s",
        k == 1 ? "loops: {" : ", ", k, guide[k], guide[k] - guide[0], rub, k + 1 < n ? "" : "}\n");
  }
  snprintf(
      text, sizeof text,
      "sinew: 1\n"
      "bodies: {b: {joint: {type: prismatic, axis: [0, 0, 1], at: [%.17g, 0, 0], %s}, inertia: "
      "{mass: 2, at: [%.17g, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}}}\n%s",
      guide[0], rub, arm - guide[0], loops);
  stage b = stage_set(text, redmax_options(0.001));
  for (int i = 0; i < 50; i++) {
    const sn_info info = redmax_step(b.sim, b.s, NULL);
    CHECK(info.friction_unsettled == 0, "step %d does not agree, off by %g:\n%s", i,
          info.friction_disagreement, text);
  }
  const double q = fabs(sn_state_q(b.s)[0]);
  stage_clear(&b);
  return q;
}

/* Which of two to four guides is the joint does not matter. */
TEST(guides_hold_what_one_of_them_holds) {
  uint64_t seed = 11;
  int tried = 0, held = 0;
  for (int k = 0; k < 400; k++) {
    const double arm = k % 4 ? test_random(&seed, -0.5, 0.5) : 0.4;
    const double mu = exp(test_random(&seed, -3, 0));
    double guide[4] = {0, k % 4 ? test_random(&seed, -0.8, 0.8) : 0.8}, most = 0;
    const int n = 2 + k % 3;
    for (int i = 0; i < n; i++) {
      guide[i] = i < 2 ? guide[i] : test_random(&seed, -0.8, 0.8);
      most = fmax(most, mu * fabs(arm - guide[i]) / 0.05);
    }
    if (fabs(most - 1) < 0.01) {
      continue;
    }
    bool alone = false;
    for (int i = 0; i < n; i++) {
      alone = alone || falls_by(1, guide + i, arm, mu) < 1e-12;
    }
    CHECK(alone == (most > 1), "mu %g, arm %g: alone", mu, arm);
    for (int turn = 0; turn < 2; turn++, tried++) {
      const double q = falls_by(n, guide, arm, mu), first = guide[0];
      CHECK(most > 1 ? q < 1e-12 : fabs(q - 0.5 * 9.81 * 50 * 51e-6) < 1e-6,
            "%d guides at %.17g, %.17g .., arm %.17g, mu %.17g: it falls by %g", n, guide[0],
            guide[1], arm, mu, q);
      held += q < 1e-12;
      memmove(guide, guide + 1, (size_t)(n - 1) * sizeof *guide);
      guide[n - 1] = first;
    }
  }
  CHECK(tried > 600 && held > 200 && tried - held > 100, "%d of %d hold", held, tried);
}

/* ---- laws without loads ---- */

#define SLIDER                                                                                     \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "bodies: {cart: {joint: {type: prismatic, axis: [1, 0, 0], %s}, inertia: {mass: 2, xx: 1, yy: "  \
  "1, zz: 1}}}\n"                                                                                  \
  "forces: {pull: {type: joint_torque, joint: cart, torque: \"%s\"}}\n"                            \
  "initial: {cart: {qd: %g}}\n"

static stage slider(const char *law, const char *pull, double qd, double step) {
  char text[1000];
  snprintf(text, sizeof text, SLIDER, law, pull, qd);
  return stage_set(text, redmax_options(step));
}

TEST(laws_without_loads) {
  /* dry: slows down by f/m, then rests; held up to f */
  stage b = slider("friction: {law: dry, force: 3}", "0", 3, 0.01);
  stage_step(&b, 100);
  CHECK(fabs(sn_state_qd(b.s)[0] - 1.5) < 1e-12, "dry: %.15g", sn_state_qd(b.s)[0]);
  stage_step(&b, 101);
  CHECK(sn_state_qd(b.s)[0] == 0, "dry: it goes on with %g", sn_state_qd(b.s)[0]);
  stage_clear(&b);
  for (int k = 0; k < 2; k++) {
    b = slider("friction: {law: dry, force: 3}", k ? "3.1" : "2.9", 0, 0.01);
    stage_step(&b, 100);
    CHECK(fabs(sn_state_qd(b.s)[0] - (k ? 0.05 : 0)) < 1e-12, "dry, pulled: %.15g",
          sn_state_qd(b.s)[0]);
    CHECK(fabs(stage_channel(&b, "cart.friction") + (k ? 3 : 2.9)) < 1e-9, "it rubs with %g",
          stage_channel(&b, "cart.friction"));
    stage_clear(&b);
  }
  /* viscous: the same as damping */
  b = slider("friction: {law: viscous, damping: 4}", "0", 3, 0.01);
  stage c = slider("damping: 4", "0", 3, 0.01);
  stage_step(&b, 50);
  stage_step(&c, 50);
  CHECK(sn_state_qd(b.s)[0] == sn_state_qd(c.s)[0] && sn_state_qd(b.s)[0] < 1.2, "viscous");
  stage_clear(&b);
  stage_clear(&c);
  /* stribeck: breaks loose at breakaway, then only force is left */
  const char *law = "friction: {law: stribeck, force: 2, breakaway: 5, speed: 0.01}";
  b = slider(law, "4.9", 0, 0.001);
  stage_step(&b, 100);
  CHECK(sn_state_qd(b.s)[0] == 0, "it breaks loose too early");
  stage_clear(&b);
  b = slider(law, "4.9", 1, 0.001); /* in motion it is not held */
  stage_step(&b, 100);
  CHECK(fabs(sn_state_qd(b.s)[0] - 1 - 0.1 * (4.9 - 2) / 2) < 1e-6, "in motion: %.12g",
        sn_state_qd(b.s)[0]);
  stage_clear(&b);
  b = slider(law, "5*t", 0, 0.001); /* held until 5, then off with a jerk */
  stage_step(&b, 999);
  CHECK(sn_state_qd(b.s)[0] == 0, "it moves before");
  stage_step(&b, 250); /* a tenth of a second until it is faster than `speed` */
  CHECK(sn_state_qd(b.s)[0] > 0.1, "after that it moves with %g", sn_state_qd(b.s)[0]);
  stage_clear(&b);
}

/* Free within the gap, a spring beyond it. */
TEST(backlash_is_a_gap_with_a_spring) {
  for (int way = -1; way <= 1; way += 2) {
    stage b = slider("rest: 1, backlash: {gap: 0.4, stiffness: 200}", "0", way, 0.001);
    *sn_state_q(b.s) = 1;
    stage_step(&b, 199);
    CHECK(fabs(sn_state_q(b.s)[0] - 1 - way * 0.199) < 1e-12 &&
              fabs(sn_state_qd(b.s)[0] - way) < 1e-12,
          "in the gap: %.12g", sn_state_q(b.s)[0]);
    double far = 0;
    for (int k = 0; k < 400; k++) {
      stage_step(&b, 1);
      far = fmax(far, way * (sn_state_q(b.s)[0] - 1));
    }
    /* 1/2 m v^2 = 1/2 k x^2 */
    CHECK(fabs(far - 0.2 - sqrt(2.0 / 200)) < 2e-3, "it went to %g", far);
    CHECK(way * sn_state_qd(b.s)[0] < -0.9, "it comes back with %g", sn_state_qd(b.s)[0]);
    stage_clear(&b);
  }
}

/* A ball: the same about each axis, and beside its gap about none. */
TEST(backlash_of_a_ball_is_a_gap_all_around) {
#define GAP "backlash: {gap: 0.4, stiffness: 200}"
  for (int axis = 0; axis < 3; axis++) {
    for (int loop = 0; loop < 2; loop++) { /* a joint, or a loop that holds a body which flies */
      char text[1000];
      snprintf(text, sizeof text,
               "sinew: 1\n"
               "gravity: [0, 0, 0]\n"
               "bodies: {ball: {joint: {type: %s}, inertia: {mass: 1, xx: 2, yy: 2, zz: 2}}}\n%s",
               loop ? "free" : "spherical, " GAP,
               loop ? "loops: {hold: {type: spherical, a: {body: world}, b: {body: ball}, " GAP
                      "}}\n"
                    : "");
      stage b = stage_set(text, redmax_options(0.001));
      const int at = (loop ? 3 : 0) + axis;
      sn_state_qd(b.s)[at] = 1;
      stage_step(&b, 199);
      CHECK(fabs(sn_state_q(b.s)[at] - 0.199) < 1e-9, "in the gap, about axis %d: %.12g", axis,
            sn_state_q(b.s)[at]);
      double far = 0;
      for (int k = 0; k < 400; k++) {
        stage_step(&b, 1);
        far = fmax(far, sn_state_q(b.s)[at]);
      }
      /* 1/2 I w^2 = 1/2 k x^2 */
      CHECK(fabs(far - 0.2 - sqrt(2.0 / 200)) < 2e-3, "about axis %d it went to %g", axis, far);
      CHECK(sn_state_qd(b.s)[at] < -0.9, "about axis %d it comes back with %g", axis,
            sn_state_qd(b.s)[at]);
      stage_clear(&b);
    }
  }
#undef GAP
}

/* ---- the same again ---- */

TEST(a_run_goes_on_where_it_was) {
  const sn_options o = redmax_options(0.005);
  stage a = rubs(0, 0.3, &o), b = rubs(0, 0.3, &o);
  stage_step(&a, 120);
  stage_step(&b, 60);
  sn_state *half = NULL;
  sn_sim *fresh = test_sim(b.m, &o);
  CHECK(sn_state_clone(b.s, &half) == SN_OK, "no copy");
  for (int k = 0; k < 60; k++) {
    test_step(fresh, half, NULL);
  }
  const size_t bytes = (size_t)sn_model_dof_count(a.m) * sizeof(double);
  CHECK(same_bits(sn_state_q(a.s), sn_state_q(half), bytes) &&
            same_bits(sn_state_qd(a.s), sn_state_qd(half), bytes),
        "other bits");
  sn_state_free(&half);
  sn_sim_free(&fresh);
  stage_clear(&a);
  stage_clear(&b);
}

/* ---- the paper's problem ---- */

/* A joint of some kind on a hinge, all of which rubs; the bodies are askew, so that all its ways
 * move. */
static stage on_a_hinge(const char *joint, const char *surface, sn_friction_problem problem) {
  char text[2000];
  sn_options o = redmax_options(0.005);
  o.redmax.friction.problem = problem;
  o.redmax.friction.max_iterations = 20000;
  o.redmax.friction.tolerance = 1e-11;
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "bodies:\n"
           "  a: {joint: {type: revolute, axis: [0, 1, 0.2], friction: {mu: 0.2, pin_radius: 0.1, "
           "pin_length: 0.2, points: 4}}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, "
           "0], density: 500}]}\n"
           "  b: {parent: a, joint: {%s, at: [1, 0, 0], friction: {%s}}, shapes: [{type: "
           "box, size: [0.3, 0.5, 0.1], at: [0.1, 0.2, 0.05], density: 500}]}\n",
           joint, surface);
  return stage_set(text, o);
}

/* Its answer is that of the reduced problem, whatever slides, with contacts at points and all
 * around; and it is its own: none of these steps is left to the other one. */
TEST(the_maximal_problem_agrees) {
  static const struct {
    const char *joint, *surface;
  } kind[] = {
      {"type: revolute, axis: [0, 1, 0]", "mu: 0.2, pin_radius: 0.1, pin_length: 0.2"},
      {"type: revolute, axis: [0, 1, 0]", "mu: 0.2, pin_radius: 0.1, pin_length: 0.2, points: 4"},
      {"type: prismatic, axis: [0, 0.6, 0.8]", "mu: 0.2, size: [0.2, 0.2, 1]"},
      {"type: cylindrical, axis: [0, 1, 1]", "mu: 0.2, pin_radius: 0.1, pin_length: 1"},
      {"type: cylindrical, axis: [0, 1, 1]", "mu: 0.2, pin_radius: 0.1, pin_length: 1, points: 4"},
      {"type: universal", "mu: 0.2, pin_radius: 0.1, pin_length: 0.2"},
      {"type: universal", "mu: 0.2, pin_radius: 0.1, pin_length: 0.2, points: 4"},
      {"type: spherical", "mu: 0.2, pin_radius: 0.1"},
      {"type: spherical", "mu: 0.2, pin_radius: 0.1, points: 6"},
      {"type: spherical", "law: dry, force: 0.5"},
      {"type: universal", "law: stribeck, force: 0.5, breakaway: 1, speed: 0.1"}};
  for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
    const char *friction = kind[k].surface;
    stage a = on_a_hinge(kind[k].joint, friction, SN_FRICTION_REDUCED);
    stage b = on_a_hinge(kind[k].joint, friction, SN_FRICTION_MAXIMAL);
    double off = 0, iterations = 0;
    for (int i = 0; i < 60; i++) {
      stage_step(&a, 1);
      const int taken = redmax_step(b.sim, b.s, NULL).friction_iterations;
      CHECK(taken < 20000, "%s, %s: step %d is that of the reduced problem", kind[k].joint,
            friction, i);
      iterations += taken / 60.0;
      const int nv = sn_model_dof_count(a.m);
      off = fmax(off, largest_difference(sn_state_qd(a.s), sn_state_qd(b.s), nv));
    }
    print_message("  %s, %s: off by %.2g, %.3g iterations a step\n", kind[k].joint, friction, off,
                  iterations);
    CHECK(off < 1e-9, "%s, %s: off by %g", kind[k].joint, friction, off);
    stage_clear(&a);
    stage_clear(&b);
  }
}
int main(void) {
  RUN_TESTS(T(friction_of_zero_is_none), T(friction_of_zero_is_none_for_every_solver),
            T(friction_takes_energy), T(a_pendulum_loses_what_its_pin_takes),
            T(a_pendulum_stops_where_it_can), T(what_sticks_does_not_creep),
            T(an_oblique_hinge_is_a_hinge), T(a_universal_joint_is_two_hinges),
            T(limits_and_drives_rub_along), T(a_joint_rubs_under_the_load_of_contacts),
            T(sliders_that_load_each_other), T(what_falls_bears_nothing),
            T(a_door_hangs_on_both_hinges), T(a_bracket_on_two_guides_stays),
            T(guides_hold_what_one_of_them_holds), T(laws_without_loads),
            T(backlash_is_a_gap_with_a_spring), T(backlash_of_a_ball_is_a_gap_all_around),
            T(a_run_goes_on_where_it_was), T(the_maximal_problem_agrees));
}
