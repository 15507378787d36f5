/* Joints that rub, something that touches, and coordinates that slide along what turns, all
 * together. */
#include "stage.h"

#define FLOOR(mu)                                                                                  \
  "sinew: 1\n"                                                                                     \
  "contacts: {g: {friction: " mu "}}\n"                                                            \
  "bodies:\n"                                                                                      \
  "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: g}]}\n"

static stage set(const char *text, double step, sn_implicit integrator) {
  sn_options o = redmax_options(step);
  o.redmax.integrator = integrator;
  return stage_set(text, o);
}

/* What moves on does so with its rates: of a step of either order, coordinates change by the mean
 * of them. */
static void check_moves(stage *s, const char *q, const char *qd, int steps) {
  for (int k = 0; k < steps; k++) {
    const double from = stage_channel(s, q), rate = stage_channel(s, qd);
    stage_step(s, 1);
    const double mean = 0.5 * (rate + stage_channel(s, qd)), h = s->sim->options.step;
    const double moved = stage_channel(s, q) - from;
    CHECK(fabs(moved - h * mean) <= 0.1 * h * fabs(mean) + 1e-9,
          "step %d: %s changes by %g with rates of %g", k, q, moved, mean);
  }
}

/* A box that carries a flap slides on the floor until v^2/(2 mu g). */
TEST(a_box_with_a_flap_slides_until_it_stops) {
  static const char text[] =
      FLOOR("0.2") "  box: {joint: {type: free, at: [0, 0, 0.1]}, shapes: [{type: box, size: [0.4, "
                   "0.4, 0.2], density: 500, contact: g}]}\n"
                   "  flap: {parent: box, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, "
                   "0.1], friction: {law: dry, force: 0.05}}, inertia: {mass: 0.1, at: [0, 0, "
                   "0.1], xx: 0.001, yy: 0.001, zz: 0.001}}\n"
                   "initial: {box: {qd: [2, 0, 0, 0, 0, 0]}}\n";
  for (int way = 0; way < 4; way++) {
    const double step = way & 1 ? 0.005 : 0.002;
    stage s = set(text, step, way & 2 ? SN_EXTRAPOLATED : SN_EULER);
    stage_step(&s, (int)lround(1.2 / step));
    const double at = stage_channel(&s, "box.pos.x"), right = 4 / (2 * 0.2 * 9.81);
    CHECK(fabs(at - right) < 2 * step, "way %d: it stops at %g m, not at %g", way, at, right);
    stage_clear(&s);
  }
}

/* A wheel on a strut that slides in a cart; the pin brakes it with 4/pi mu r F of its load. */
TEST(a_wheel_on_a_strut_rolls_on) {
  static const char text[] =
      FLOOR("%s") "  cart: {joint: {type: prismatic, axis: [1, 0, 0], at: [0, 0, 0.5]}, inertia: "
                  "{mass: 4, xx: 1, yy: 1, zz: 1}}\n"
                  "  strut: {parent: cart, joint: {type: prismatic, axis: [0, 0, 1], at: [0, 0, "
                  "-0.3]}, inertia: {mass: 4, xx: 1, yy: 1, zz: 1}}\n"
                  "  wheel: {parent: strut, joint: {type: revolute, axis: [0, 1, 0], friction: "
                  "%s}, inertia: {mass: 2, xx: 0.02, yy: 0.04, zz: 0.02}, shapes: [{type: sphere, "
                  "radius: 0.2, contact: g}]}\n"
                  "initial: {cart: {qd: 3}, wheel: {qd: 15}}\n";
  static const char *const pin[] = {"{mu: 0.2, pin_radius: 0.02, pin_length: 0.1}",
                                    "{law: dry, force: 1e-9}"};
  for (int way = 0; way < 8; way++) {
    char scene[2000];
    snprintf(scene, sizeof scene, text, way & 4 ? "0" : "0.8", pin[way >> 1 & 1]);
    stage s = set(scene, way & 1 ? 0.001 : 0.01, SN_EXTRAPOLATED);
    check_moves(&s, "cart.q", "cart.qd", 50);
    const double t = *sn_state_time(s.s), q = stage_channel(&s, "cart.q");
    stage_clear(&s);
    s = set(scene, 2e-4, SN_EULER);
    stage_step(&s, (int)lround(t / 2e-4));
    const double right = stage_channel(&s, "cart.q");
    CHECK(fabs(q - right) < 1e-3 * t, "way %d: it goes %g m, not %g", way, q, right);
    stage_clear(&s);
  }
}

/* What touches elsewhere is no matter. */
TEST(what_rests_elsewhere_stops_nothing) {
  static const char swing[] =
      "  cart: {joint: {type: prismatic, axis: [1, 0, 0], at: [0, 0, 3], friction: {law: dry, "
      "force: 0.01}}, inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}\n"
      "  pend: {parent: cart, joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0, "
      "0, -0.3], xx: 0.01, yy: 0.01, zz: 0.01}}\n"
      "  lift: {parent: pend, joint: {type: prismatic, axis: [0, 0, 1]}, inertia: {mass: 0.1, xx: "
      "0.01, yy: 0.01, zz: 0.01}}\n"
      "initial: {cart: {qd: 1}, pend: {qd: 2}}\n";
  double q[2][3];
  for (int k = 0; k < 2; k++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s%s", FLOOR("0.2"),
             k ? "  brick: {joint: {type: free, at: [5, 0, 0.1]}, shapes: [{type: box, size: "
                 "[0.4, 0.4, 0.2], density: 500, contact: g}]}\n"
               : "",
             swing);
    stage s = set(text, 0.002, SN_EXTRAPOLATED);
    stage_step(&s, 150);
    q[k][0] = stage_channel(&s, "cart.q");
    q[k][1] = stage_channel(&s, "pend.q");
    q[k][2] = stage_channel(&s, "lift.q");
    stage_clear(&s);
  }
  for (int c = 0; c < 3; c++) { /* with contact, steps are of first order there */
    CHECK(fabs(q[1][c] - q[0][c]) < 5e-3, "coordinate %d ends at %g, alone at %g", c, q[1][c],
          q[0][c]);
  }
}

/* What lies on the floor next to its joint loads that by next to nothing, of which contacts tell
 * nothing: no reason to look for it for long. */
TEST(joints_that_bear_nothing_cost_nothing) {
  static const char text[] =
      "sinew: 1\n"
      "contacts: {g: {friction: 0.5, restitution: 0.5}}\n"
      "bodies:\n"
      "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: g}]}\n"
      "  a: {joint: {type: free, at: [0, 0, 0.6]}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: "
      "0.01}, shapes: [{type: sphere, radius: 0.05, contact: g}]}\n"
      "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], friction: {mu: 0.4, pin_radius: "
      "0.02, pin_length: 0.05}}, inertia: {mass: 1, at: [0.3, 0, 0], xx: 0.001, yy: 0.01, zz: "
      "0.01}, shapes: [{type: sphere, at: [0.3, 0, 0], radius: 0.05, contact: g}]}\n";
  stage s = set(text, 0.001, SN_EXTRAPOLATED);
  int all = 0, unsettled = 0;
  for (int k = 0; k < 2000; k++) {
    const sn_info info = redmax_step(s.sim, s.s, NULL);
    all += info.friction_iterations;
    unsettled += info.friction_unsettled;
  }
  CHECK(unsettled == 0 && all < 3 * 2000, "%d steps did not agree, %g iterations a step", unsettled,
        all / 2000.0);
  stage_clear(&s);
}

int main(void) {
  RUN_TESTS(T(a_box_with_a_flap_slides_until_it_stops), T(a_wheel_on_a_strut_rolls_on),
            T(what_rests_elsewhere_stops_nothing), T(joints_that_bear_nothing_cost_nothing));
}
