/* What functions of time drive goes as far in a step as they say, not as its rate at the end would
 * lead it: what it meets, carries or lets slide is to see that. */
#include "stage.h"

static sn_options way(double h, int second) {
  sn_options o = redmax_options(h);
  o.redmax.integrator = second ? SN_EXTRAPOLATED : SN_EULER;
  return o;
}

/* A lift that shakes, without leaving what stands on it. */
TEST(what_slides_is_not_in_what_lifts_it) {
  for (int k = 0; k < 8; k++) {
    const double h = (double[]){0.01, 0.005, 0.002, 0.001}[k / 2];
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0}}\nbodies:\n"
        "  lift: {joint: {type: prismatic, axis: [0, 0, 1], at: [0, 0, -0.05]}, shapes: [{type: "
        "box, size: [4, 4, 0.1], density: 500, contact: m}]}\n"
        "  box: {joint: {type: free, at: [0, 0, 0.1]}, shapes: [{type: box, size: [0.2, 0.2, "
        "0.2], density: 500, contact: m}]}\n"
        "  ball: {joint: {type: free, at: [1, 0, 0.1]}, shapes: [{type: sphere, radius: 0.1, "
        "density: 500, contact: m}]}\n"
        "motions: {m: {joint: lift, q: 0.05*sin(12*t)}}\n",
        way(h, k % 2));
    for (double t = 0; t < 1; t += h) {
      stage_step(&b, 1);
      const double at = stage_channel(&b, "lift.pos.z") + 0.15;
      const double box = stage_channel(&b, "box.pos.z") - at;
      const double rolls = stage_channel(&b, "ball.pos.z") - at;
      CHECK(box > -1e-6 && rolls > -1e-6, "h = %g: %g and %g deep", h, -box, -rolls);
    }
    stage_clear(&b);
  }
}

/* By how much the edge that a box tips over has left its place on a platform that speeds up. */
static double slip_of(stage *b) {
  const double w = stage_channel(b, "box.quat.w"), y = stage_channel(b, "box.quat.y");
  const double c = 1 - 2 * y * y, s = 2 * w * y; /* it turns about y */
  const double edge = stage_channel(b, "box.pos.x") - 0.1 * c - 0.3 * s;
  return edge + 0.1 - stage_channel(b, "plat.pos.x");
}

TEST(what_tips_over_sticks_to_what_carries_it) {
  for (int k = 0; k < 8; k++) {
    const double h = (double[]){0.005, 0.0025, 0.00125, 0.000625}[k / 2];
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.9}}\nbodies:\n"
        "  plat: {joint: {type: prismatic, axis: [1, 0, 0], at: [0, 0, -0.05]}, shapes: [{type: "
        "box, size: [200, 2, 0.1], density: 5, contact: m}]}\n"
        "  box: {joint: {type: free, at: [0, 0, 0.3]}, shapes: [{type: box, size: [0.2, 0.3, "
        "0.6], density: 500, contact: m}]}\n"
        "motions: {m: {joint: plat, q: 0.5*3.924*t*t}}\n",
        way(h, k % 2));
    stage_step(&b, (int)lround(0.3 / h));
    const double tilt = 2 * fabs(stage_channel(&b, "box.quat.y")), slip = slip_of(&b);
    CHECK(fabs(slip) < (k % 2 ? 1e-6 : 2e-3 * h), "h = %g: slips by %g", h, slip);
    CHECK(fabs(tilt - 0.0796) < (k % 2 ? 1e-3 : 2 * h), "h = %g: tilts by %g", h, tilt);
    stage_clear(&b);
  }
}

/* A ball on a platform that speeds up goes 2/7 of its way. */
TEST(what_rolls_goes_as_far_as_its_spin_lets_it) {
  for (int k = 0; k < 4; k++) {
    const double h = k < 2 ? 0.01 : 0.002;
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.9}}\nbodies:\n"
        "  plat: {joint: {type: prismatic, axis: [1, 0, 0], at: [0, 0, -0.05]}, shapes: [{type: "
        "box, size: [20, 2, 0.1], density: 5, contact: m}]}\n"
        "  ball: {joint: {type: free, at: [0, 0, 0.1]}, shapes: [{type: sphere, radius: 0.1, "
        "density: 500, contact: m}]}\n"
        "motions: {m: {joint: plat, q: t*t}}\n",
        way(h, k % 2));
    stage_step(&b, (int)lround(1 / h));
    const double x = stage_channel(&b, "ball.pos.x");
    CHECK(fabs(x - 2.0 / 7) < 1e-6, "h = %g, %s: %g, off by %g", h, k % 2 ? "second" : "first", x,
          x - 2.0 / 7);
    stage_clear(&b);
  }
}

/* A joint that rubs elsewhere changes nothing. */
TEST(what_is_carried_stays_where_joints_rub) {
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.9}}\nbodies:\n"
        "  plat: {joint: {type: prismatic, axis: [1, 0, 0], at: [0, 0, -0.05]}, shapes: [{type: "
        "box, size: [20, 2, 0.1], density: 5, contact: m}]}\n"
        "  box: {joint: {type: free, at: [0, 0, 0.1]}, shapes: [{type: box, size: [0.2, 0.2, "
        "0.2], density: 500, contact: m}]}\n"
        "  arm: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 5, 2], friction: {mu: 0.2, "
        "pin_radius: 0.05, pin_length: 0.1}}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, "
        "0, 0], density: 500}]}\n"
        "motions: {m: {joint: plat, q: t*t}}\n",
        way(0.005, k));
    stage_step(&b, 200);
    const double slip = stage_channel(&b, "box.pos.x") - stage_channel(&b, "plat.pos.x");
    CHECK(fabs(slip) < 1e-6, "%s: slips by %g", k ? "second" : "first", slip);
    stage_clear(&b);
  }
}

/* A door of 1 mm that is swung to and fro, and what is thrown at it. */
TEST(nothing_passes_what_is_swung) {
  static const char *const thrown[] = {
      "sphere, radius: 0.01", "capsule, from: [-0.02, 0, 0], to: [0.02, 0, 0], radius: 0.003"};
  for (int k = 0; k < 24; k++) {
    const double h = (double[]){0.01, 0.005, 0.002}[k / 2 % 3], phase = 0.02 * (k / 12);
    char text[1024];
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, 0]\ncontacts: {m: {friction: 0.3}}\nbodies:\n"
             "  door: {joint: {type: revolute, axis: [0, 0, 1], at: [1, -1, 0]}, shapes: [{type: "
             "box, at: [0, 1, 0], size: [0.001, 2, 2], density: 1000, contact: m}]}\n"
             "  b: {joint: {type: free, at: [%g, 0, 0]}, shapes: [{type: %s, density: 7000, "
             "contact: m}]}\n"
             "motions: {m: {joint: door, q: 0.3*sin(20*t)}}\n"
             "initial: {b: {qd: [10, 0.3, 0.2, 50, 70, 300]}}\n",
             -phase, thrown[k / 6 % 2]);
    stage b = stage_set(text, way(h, k % 2));
    for (double t = 0; t < 0.3; t += h) {
      stage_step(&b, 1);
      const double q = stage_channel(&b, "door.q");
      const double x = stage_channel(&b, "b.pos.x") - 1, y = stage_channel(&b, "b.pos.y") + 1;
      const double before = -(x * cos(q) + y * sin(q));
      CHECK(before > 0.002, "h = %g, %s, %s: behind it by %g at t = %g", h, thrown[k / 6 % 2],
            k % 2 ? "second" : "first", -before, t);
    }
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(what_slides_is_not_in_what_lifts_it), T(what_tips_over_sticks_to_what_carries_it),
            T(what_rolls_goes_as_far_as_its_spin_lets_it),
            T(what_is_carried_stays_where_joints_rub), T(nothing_passes_what_is_swung));
}
