/* What works at a constant rate, or pushes with a constant force, brings energy all the same: no
 * step is held back for it. */
#include "orders.h"
#include "stage.h"

#define DURATION 0.25

/* A slider-crank, a flap on its slider, and a spring that the crank stretches. */
#define CRANK                                                                                      \
  "sinew: 1\n"                                                                                     \
  "defaults: {joint: {type: revolute, axis: [0, 1, 0]}}\n"                                         \
  "bodies:\n"                                                                                      \
  "  crank: {joint: {}, inertia: {mass: 1, at: [0.1, 0, 0], xx: 0.01, yy: 0.02, zz: 0.02}}\n"      \
  "  rod: {parent: crank, joint: {at: [0.2, 0, 0]}, inertia: {mass: 1, at: [0.25, 0, 0], xx: "     \
  "0.01, yy: 0.05, zz: 0.05}}\n"                                                                   \
  "  slider: {joint: {type: prismatic, axis: [1, 0, 0], at: [0.7, 0, 0]}, inertia: {mass: 3, xx: " \
  "0.01, yy: 0.01, zz: 0.01}}\n"                                                                   \
  "  flap: {parent: slider, joint: {}, inertia: {mass: 1, at: [0, 0, -0.2], xx: 0.05, yy: 0.05, "  \
  "zz: 0.01}}\n"                                                                                   \
  "loops: {pin: {type: revolute, axis: [0, 1, 0], a: {body: rod, at: [0.5, 0, 0]}, b: {body: "     \
  "slider}}}\n"                                                                                    \
  "forces:\n"                                                                                      \
  "  s: {type: spring, stiffness: 500, a: {body: world, at: [0.5, 0, 0]}, b: {body: crank, at: "   \
  "[0.2, 0, 0]}}\n"

/* A winch that lifts a boom by a rope. */
#define WINCH                                                                                      \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  boom: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 16, at: [1, 0, 0], xx: "     \
  "0.1, "                                                                                          \
  "yy: 5.4, zz: 5.4}}\n"                                                                           \
  "  winch: {joint: {type: prismatic, axis: [0, 0, 1], at: [0, 0, 2]}, inertia: {mass: 5, xx: 1, " \
  "yy: 1, zz: 1}}\n"                                                                               \
  "forces:\n"                                                                                      \
  "  rope: {type: spring, stiffness: 1000, damping: 100, a: {body: winch}, b: {body: boom, at: "   \
  "[2, "                                                                                           \
  "0, 0]}}\n"

/* Two sliders as one coordinate, that is pushed against a spring. */
#define PUSHED                                                                                     \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "defaults: {joint: {type: prismatic, axis: [1, 0, 0]}}\n"                                        \
  "bodies:\n"                                                                                      \
  "  a: {joint: {}, inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}\n"                              \
  "  b: {joint: {at: [1, 0, 0]}, inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}\n"                 \
  "forces: {s: {type: spring, stiffness: 200, a: {body: world, at: [-1, 0, 0]}, b: {body: a}}}\n"

static const struct {
  const char *what, *text;
} scene[] = {
    {"a joint at a rate", CRANK "motions: {motor: {joint: crank, rate: 2*pi}}\n"},
    {"a joint at a rate, and a rope", WINCH "motions: {motor: {joint: winch, rate: 0.1}}\n"},
    {"a body at a velocity",
     WINCH "motions: {motor: {body: winch, twist: [null, null, null, null, null, 0.1]}}\n"},
    {"a map that is pushed",
     PUSHED "constraints: {m: {type: map, coordinates: [{name: z, force: 100}], joints: "
            "[{joint: a, value: z}, {joint: b, value: 2*z}]}}\n"}};

TEST(steady_motors_leave_the_order_as_it_is) {
  static const order_case all[] = {
      {"euler", SN_EULER, 1, 0.15, DURATION / 256, false},
      {"extrapolated", SN_EXTRAPOLATED, 2, 0.2, DURATION / 128, false}};
  for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
    print_message("  %s\n", scene[k].what);
    sn_model *m = stage_model(scene[k].text);
    check_orders(m, DURATION, 2, all);
    sn_model_free(&m);
  }
}

/* What is asked for is to the last digits what is done, however much a rope is stretched. */
TEST(steady_motors_go_where_they_should) {
  static const sn_implicit integrators[] = {SN_EULER, SN_EXTRAPOLATED};
  for (size_t k = 1; k < 3; k++) {
    for (int i = 0; i < 2; i++) {
      sn_options o = redmax_options(0.01);
      o.redmax.integrator = integrators[i];
      stage g = stage_set(scene[k].text, o);
      CHECK(sn_sim_set(g.sim, "forces.rope.stiffness", 1e5, NULL) == SN_OK, "no such rope");
      stage_step(&g, 200);
      const double way = stage_channel(&g, "winch.q");
      CHECK(fabs(way - 0.2) < 1e-9, "%s: the winch is at %g", scene[k].what, way);
      stage_clear(&g);
    }
  }
}

int main(void) {
  RUN_TESTS(T(steady_motors_leave_the_order_as_it_is), T(steady_motors_go_where_they_should));
}
