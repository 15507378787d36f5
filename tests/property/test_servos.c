/* Drives that come to the limit of their force, and wheels that turn fast, in steps of any length.
 */
#include "stage.h"

static stage set_at(const char *text, double h, sn_implicit integrator) {
  sn_options o = redmax_options(h);
  o.redmax.integrator = integrator;
  return stage_set(text, o);
}

static double largest_kinetic(stage *g, double duration, double h) {
  double most = 0;
  for (int k = 0; k < (int)lround(duration / h); k++) {
    sn_energy e;
    stage_step(g, 1);
    sn_sim_energy(g->sim, g->s, &e);
    most = fmax(most, e.kinetic);
  }
  return most;
}

/* A disc of next to no inertia: with all of its force for a whole step the drive would be far
 * beyond its rate.  Joints that rub, here or elsewhere, do not matter. */
TEST(servos_get_to_their_rate_where_joints_rub) {
  static const char *const rubs[] = {
      "", ", friction: {law: dry, force: 0.001}",
      ", friction: {law: coulomb, mu: 1.0e-4, pin_radius: 0.01, pin_length: 0.05}"};
  static const double steps[] = {0.01, 0.005, 0.001};
  static const sn_implicit integrators[] = {SN_EULER, SN_EXTRAPOLATED};
  for (int k = 0; k < 18; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "bodies:\n"
             "  disc: {joint: {type: revolute, axis: [0, 1, 0], drive: {rate: 4, damping: 10, "
             "max_force: 20}%s}, inertia: {mass: 1, xx: 0.001, yy: 0.001, zz: 0.001}}\n"
             "  beside: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 1, 0]%s}, inertia: "
             "{mass: 1, at: [0, 0, -0.1], xx: 0.01, yy: 0.02, zz: 0.02}}\n",
             k % 2 ? rubs[k / 2 % 3] : "", rubs[k / 2 % 3]);
    const double h = steps[k / 6];
    stage g = set_at(text, h, integrators[k % 2]);
    for (int n = 0; n < (int)lround(0.5 / h); n++) {
      stage_step(&g, 1);
      const double rate = stage_channel(&g, "disc.qd");
      CHECK(rate > -0.01 && rate < 4.2, "case %d, step %d: %g rad/s", k, n, rate);
    }
    const double rate = stage_channel(&g, "disc.qd");
    CHECK(fabs(rate - 4) < 0.01, "case %d: ends at %g rad/s", k, rate);
    stage_clear(&g);
  }
}

/* The limit of a ball is that of one torque: slender arms have next to no inertia about one axis.
 */
TEST(servos_of_balls_bring_no_more_than_they_should) {
  static const char text[] =
      "sinew: 1\n"
      "defaults: {joint: {type: spherical, drive: {target: [0.3, 0.5, 0.2], stiffness: 50, "
      "damping: 1, max_force: 2}}}\n"
      "bodies:\n"
      "  arm: {joint: {}, shapes: [{type: capsule, from: [0, 0, 0], to: [0.3, 0, 0], radius: 0.02, "
      "density: 1000}]}\n"
      "  fore: {parent: arm, joint: {at: [0.3, 0, 0]}, shapes: [{type: capsule, from: [0, 0, 0], "
      "to: [0.3, 0, 0], radius: 0.02, density: 1000}]}\n";
  static const double steps[] = {0.01, 0.005, 0.002, 0.0005};
  stage exact = stage_set(text, stage_exact(0.01));
  const double most = largest_kinetic(&exact, 1, 0.01);
  for (int k = 0; k < 4; k++) {
    stage g = set_at(text, steps[k], SN_EULER);
    const double is = largest_kinetic(&g, 1, steps[k]);
    CHECK(is < 1.05 * most, "step %g: %g J, should be %g", steps[k], is, most);
    const char *const q[] = {"fore.q0", "fore.q1", "fore.q2"};
    for (int c = 0; c < 3; c++) {
      const double off = stage_channel(&g, q[c]) - stage_channel(&exact, q[c]);
      CHECK(fabs(off) < 0.02, "step %g: %s is off by %g", steps[k], q[c], off);
    }
    stage_clear(&g);
  }
  stage_clear(&exact);
}

#define ROAD                                                                                       \
  "sinew: 1\n"                                                                                     \
  "contacts: {rubber: {friction: 0.5}}\n"                                                          \
  "bodies:\n"                                                                                      \
  "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: rubber}]}\n"

/* However far a wheel turns in a step: what turns about its own axis is where it was. */
TEST(wheels_roll_at_any_speed) {
  static const double rate[] = {20, 90, 110, 150, 400};
  for (int k = 0; k < SNI_COUNT(rate); k++) {
    char text[2000];
    snprintf(text, sizeof text,
             ROAD "  wheel:\n    joint: {type: free, at: [0, 0, 0.03]}\n"
                  "    shapes: [{type: cylinder, from: [0, -0.01, 0], to: [0, 0.01, 0], radius: "
                  "0.03, density: 1000, contact: rubber}]\n"
                  "initial: {wheel: {qd: [%g, 0, 0, 0, %g, 0]}}\n",
             0.03 * rate[k], rate[k]);
    stage g = set_at(text, 0.01, SN_EULER);
    stage_step(&g, 50);
    const double v = stage_channel(&g, "wheel.qd0"), z = stage_channel(&g, "wheel.q2");
    CHECK(fabs(v / (0.03 * rate[k]) - 1) < 1e-6 && fabs(z) < 1e-6, "%g rad/s: v %g, z %g", rate[k],
          v, z);
    stage_clear(&g);
  }
}

/* A cart of 4 kg, 3 of which its wheel bears, that spins: mu g 3/4 for half a second. */
TEST(wheels_that_spin_pull) {
  static const double rate[] = {90, 150, 400};
  for (int k = 0; k < SNI_COUNT(rate); k++) {
    char text[2000];
    snprintf(text, sizeof text,
             ROAD "  x: {joint: {type: prismatic, axis: [1, 0, 0], at: [0, 0, 0.1]}, inertia: "
                  "{mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                  "  z: {parent: x, joint: {type: prismatic, axis: [0, 0, 1]}, inertia: {mass: 2, "
                  "xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                  "  wheel:\n    parent: z\n    joint: {type: revolute, axis: [0, 1, 0]}\n"
                  "    inertia: {mass: 1, xx: 0.003, yy: 0.005, zz: 0.003}\n"
                  "    shapes: [{type: cylinder, from: [0, -0.02, 0], to: [0, 0.02, 0], radius: "
                  "0.1, contact: rubber}]\n"
                  "motions: {motor: {joint: wheel, rate: %g}}\n",
             rate[k]);
    stage g = set_at(text, 0.01, SN_EULER);
    stage_step(&g, 50);
    const double v = stage_channel(&g, "x.qd"), due = 0.5 * 0.5 * 9.81 * 3 / 4;
    CHECK(fabs(v / due - 1) < 1e-3, "%g rad/s: %g m/s, should be %g", rate[k], v, due);
    stage_clear(&g);
  }
}

int main(void) {
  RUN_TESTS(T(servos_get_to_their_rate_where_joints_rub),
            T(servos_of_balls_bring_no_more_than_they_should), T(wheels_roll_at_any_speed),
            T(wheels_that_spin_pull));
}
