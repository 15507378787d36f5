/* The order of every integrator with constraints: a driven base carries an arm in space whose tip a
 * ball holds to the ground, and a pendulum hangs on the arm. */
#include "orders.h"

#define DURATION 0.25

static sn_model *machine(void) {
  sn_body_def base = test_link("base", "world", "revolute");
  sn_body_def upper = test_link("upper", "base", "spherical");
  sn_body_def lower = test_link("lower", "upper", "revolute");
  sn_body_def weight = test_link("weight", "lower", "universal");
  base.joint.axis = (sn_vec3){0, 0, 1};
  lower.joint.axis = (sn_vec3){0, 1, 0};
  upper.joint.at = sn_pose(0.5, 0, 0);
  lower.joint.at = weight.joint.at = sn_pose(0, 0, -1);
  lower.joint.damping = sn_per_dof_all(0.2);
  weight.joint.stiffness = sn_per_dof_all(3);
  sn_builder *b = test_builder(&base);
  const sn_body_def *rest[] = {&upper, &lower, &weight};
  for (int k = 0; k < 3; k++) {
    CHECK(sn_builder_add_body(b, rest[k]) == SN_OK, "out of memory");
  }
  const sn_initial_def start = {.body = "lower", .q = sn_per_dof_all(0.8)};
  sn_motion_def motor = sn_motion_def_default();
  motor.name = "motor";
  motor.joint = "base";
  motor.nq = 1;
  motor.q[0] = (sn_function_def){.expression = "0.4*sin(3*t)"};
  sn_loop_def ball = sn_loop_def_default();
  ball.name = "ball";
  ball.joint.type = "spherical";
  ball.a = (sn_point_def){"world", sn_pose(0.5 - sin(0.8), 0, -1 - cos(0.8))};
  ball.b = (sn_point_def){"lower", sn_pose(0, 0, -1)};
  CHECK(sn_builder_set_initial(b, &start) == SN_OK && sn_builder_add_motion(b, &motor) == SN_OK &&
            sn_builder_add_loop(b, &ball) == SN_OK,
        "out of memory");
  return test_finish(b);
}

/* Rates and functions of time are taken at the end of a step, so `euler` has its order too. */
TEST(the_order_with_a_loop_and_a_motion) {
  static const order_case all[] = {
      {"euler", SN_EULER, 1, 0.15, DURATION / 512, false},
      {"extrapolated", SN_EXTRAPOLATED, 2, 0.15, DURATION / 256, false},
      {"rk4", SN_IMPLICIT_RK4, 4, 0.3, DURATION / 32, false},
      {"dopri5", SN_IMPLICIT_DOPRI5, 5, 0.7, DURATION, true}};
  sn_model *m = machine();
  check_orders(m, DURATION, 4, all);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(the_order_with_a_loop_and_a_motion));
}
