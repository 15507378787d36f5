/* What a smaller step of `redmax` buys: the order of each integrator on a mechanism with springs
 * between its branches and damping, and what the implicit ones take from an oscillation, against
 * the closed formulas. */
#include "orders.h"
#include "stage.h"

#include <complex.h>

#define DURATION 0.25

/* ---- order ---- */

/* Two arms on a turning base, a free body between them, springs across and dampers everywhere. */
static sn_model *machine(void) {
  sn_body_def base = test_link("base", "world", "revolute");
  sn_body_def left = test_link("left", "base", "spherical");
  sn_body_def right = test_link("right", "base", "universal");
  sn_body_def hand = test_link("hand", "right", "prismatic");
  sn_body_def weight = test_link("weight", "world", "free");
  left.joint.at = sn_pose(-0.5, 0, -0.3);
  right.joint.at = sn_pose(0.5, 0, -0.3);
  hand.joint.at = sn_pose(0, 0, -1);
  hand.joint.stiffness = sn_per_dof_all(30);
  left.joint.damping = right.joint.damping = hand.joint.damping = sn_per_dof_all(0.2);
  weight.damping_linear = 0.1;
  sn_builder *b = test_builder(&base);
  const sn_body_def *rest[] = {&left, &right, &hand, &weight};
  for (int k = 0; k < 4; k++) {
    CHECK(sn_builder_add_body(b, rest[k]) == SN_OK, "out of memory");
  }
  const sn_vec3 tip = {0, 0.1, -0.9}, side = {0.2, 0, 0}, zero = {0, 0, 0};
  const sn_force_def spring[] = {spring_def("across", "left", tip, "right", tip, 20, 0.5, 0.8),
                                 spring_def("tight", "left", tip, "weight", side, 10, 0.3, 0.5),
                                 spring_def("zero", "hand", tip, "weight", zero, 8, 0.2, 0)};
  for (int k = 0; k < 3; k++) {
    CHECK(sn_builder_add_force(b, &spring[k]) == SN_OK, "out of memory");
  }
  const sn_initial_def start[] = {{.body = "base", .q = sn_per_dof_all(0.5)},
                                  {.body = "left", .q = {3, {0.3, 0.2, -0.4}}},
                                  {.body = "weight", .q = {6, {0, 0.4, -1.3, 0.1, 0.2, 0.3}}}};
  for (int k = 0; k < 3; k++) {
    CHECK(sn_builder_set_initial(b, &start[k]) == SN_OK, "out of memory");
  }
  return test_finish(b);
}

TEST(the_order_of_every_integrator) {
  static const order_case all[] = {{"euler", SN_EULER, 1, 0.1, DURATION / 512, false},
                                   {"extrapolated", SN_EXTRAPOLATED, 2, 0.1, DURATION / 256, false},
                                   {"rk4", SN_IMPLICIT_RK4, 4, 0.15, DURATION / 32, false},
                                   {"dopri5", SN_IMPLICIT_DOPRI5, 5, 0.5, DURATION, false}};
  sn_model *m = machine();
  check_orders(m, DURATION, 4, all);
  sn_model_free(&m);
}

/* On a surface whose tilt changes along one coordinate alone: rounding turned the other one. */
static const char surface[] =
    "sinew: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  b0:\n"
    "    joint:\n"
    "      type: spline_surface\n"
    "      grid:\n"
    "        - [[-0.2, -0.2, 0.08, 0, 0, 0], [-0.2, 0, 0.05, 0.1, 0, 0], [-0.2, 0.2, 0.08, 0.2, 0, "
    "0], [-0.2, 0.4, 0.17, 0.3, 0, 0], [-0.2, 0.6, 0.32, 0.4, 0, 0]]\n"
    "        - [[0, -0.2, 0.03, 0, 0, 0], [0, 0, 0, 0.1, 0, 0], [0, 0.2, 0.03, 0.2, 0, 0], [0, "
    "0.4, 0.12, 0.3, 0, 0], [0, 0.6, 0.27, 0.4, 0, 0]]\n"
    "        - [[0.2, -0.2, 0.08, 0, 0, 0], [0.2, 0, 0.05, 0.1, 0, 0], [0.2, 0.2, 0.08, 0.2, 0, "
    "0], [0.2, 0.4, 0.17, 0.3, 0, 0], [0.2, 0.6, 0.32, 0.4, 0, 0]]\n"
    "        - [[0.4, -0.2, 0.23, 0, 0, 0], [0.4, 0, 0.2, 0.1, 0, 0], [0.4, 0.2, 0.23, 0.2, 0, 0], "
    "[0.4, 0.4, 0.32, 0.3, 0, 0], [0.4, 0.6, 0.47, 0.4, 0, 0]]\n"
    "        - [[0.6, -0.2, 0.48, 0, 0, 0], [0.6, 0, 0.45, 0.1, 0, 0], [0.6, 0.2, 0.48, 0.2, 0, "
    "0], [0.6, 0.4, 0.57, 0.3, 0, 0], [0.6, 0.6, 0.72, 0.4, 0, 0]]\n"
    "    inertia: {mass: 1, at: [0.1, 0.05, 0], xx: 0.03, yy: 0.04, zz: 0.05}\n"
    "initial: {b0: {q: [1, 1], qd: [-1, 0.4]}}\n";

TEST(the_order_on_a_surface) {
  static const order_case all[] = {{"euler", SN_EULER, 1, 0.1, DURATION / 256, false},
                                   {"extrapolated", SN_EXTRAPOLATED, 2, 0.2, DURATION / 64, false}};
  sn_model *m = stage_model(surface);
  check_orders(m, DURATION, 2, all);
  sn_model_free(&m);
}

/* ---- numerical damping ---- */

/* One step of y' = i w y as y1 = R(i w h) y. */
static double complex euler_factor(double complex z) {
  return 1 / (1 - z);
}
static double complex extrapolated_factor(double complex z) {
  return 2 / ((1 - z / 2) * (1 - z / 2)) - 1 / (1 - z);
}
static double complex rk4_factor(double complex z) {
  return 1 + z + z * z / 2 + z * z * z / 6 + z * z * z * z / 24;
}

/* A slider on a spring; y = x - i v/w. */
static sn_model *slider(double k) {
  sn_body_def def = test_link("slider", "world", "prismatic");
  def.joint.axis = (sn_vec3){1, 0, 0};
  def.inertia.mass = 1;
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0, 0, 0});
  const sn_vec3 zero = {0, 0, 0}, away = {2, 0, 0};
  const sn_force_def spring = spring_def("spring", NULL, away, "slider", zero, k, 0, 2);
  CHECK(sn_builder_add_force(b, &spring) == SN_OK, "out of memory");
  return test_finish(b);
}

/* Ten steps each: what is left is R^10, in size and in phase.  The table gives the ratio of damping
 * that R amounts to, -ln|R| / arg R, and how much too fast the oscillation is. */
TEST(numerical_damping) {
  static const struct {
    const char *name;
    sn_implicit integrator;
    double complex (*factor)(double complex);
    double limit; /* of w h */
  } way[] = {{"euler", SN_EULER, euler_factor, INFINITY},
             {"extrapolated", SN_EXTRAPOLATED, extrapolated_factor, INFINITY},
             {"rk4", SN_IMPLICIT_RK4, rk4_factor, 2.8}};
  static const double angles[] = {0.01, 0.03, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100};
  const double w = 20;
  sn_model *m = slider(w * w);
  print_message("  w h    ");
  for (int k = 0; k < 3; k++) {
    print_message("  %-12s ratio     frequency ", way[k].name);
  }
  print_message("\n");
  for (size_t a = 0; a < sizeof angles / sizeof angles[0]; a++) {
    print_message("  %-6g ", angles[a]);
    for (int k = 0; k < 3; k++) {
      if (angles[a] > way[k].limit) {
        continue;
      }
      sn_options o = redmax_options(angles[a] / w);
      o.redmax.integrator = way[k].integrator;
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      sn_state_q(s)[0] = 0.01;
      const double complex R = way[k].factor(I * angles[a]);
      double complex y = 0.01;
      for (int n = 0; n < 10; n++) {
        redmax_step(sim, s, NULL);
        y *= R;
        const double complex got = sn_state_q(s)[0] - I * sn_state_qd(s)[0] / w;
        CHECK(cabs(got - y) < 1e-12 * 0.01, "%s, w h = %g, step %d: %g + %gi instead of %g + %gi",
              way[k].name, angles[a], n, creal(got), cimag(got), creal(y), cimag(y));
      }
      print_message("  |R| %.6f  %.2e  %+.2e", cabs(R), -log(cabs(R)) / fabs(carg(R)),
                    fabs(carg(R)) / angles[a] - 1);
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
    print_message("\n");
  }
  sn_model_free(&m);
}

/* L-stable: what the step does not resolve at all is gone. */
TEST(unresolved_oscillations_vanish) {
  CHECK(cabs(euler_factor(I * 1e6)) < 1e-5, "euler");
  CHECK(cabs(extrapolated_factor(I * 1e6)) < 1e-5, "extrapolated");
  for (double z = 1e-3; z < 1e4; z *= 1.01) {
    CHECK(cabs(extrapolated_factor(I * z)) <= 1, "extrapolated grows at w h = %g", z);
  }
}

int main(void) {
  RUN_TESTS(T(the_order_of_every_integrator), T(the_order_on_a_surface), T(numerical_damping),
            T(unresolved_oscillations_vanish));
}
