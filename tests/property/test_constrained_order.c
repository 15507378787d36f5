/* The order of every integrator with constraints: a driven base carries an arm in space whose tip a
 * ball holds to the ground, and a pendulum hangs on the arm. */
#include "redmax.h"

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

/* q and qd at the end; returns the evaluations that it took. */
static double run(const sn_model *m, const sn_options *o, double *y) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  const size_t nv = (size_t)sn_model_dof_count(m);
  sn_error err = {0};
  CHECK(sn_sim_assemble(sim, s, &err) == SN_OK, "%s", err.text);
  double evaluations = 0;
  for (int k = 0; k < (int)lround(DURATION / o->step); k++) {
    evaluations += redmax_step(sim, s, NULL).evaluations;
  }
  memcpy(y, sn_state_q(s), nv * sizeof *y);
  memcpy(y + nv, sn_state_qd(s), nv * sizeof *y);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return evaluations;
}

static double distance(int n, const double *a, const double *b) {
  double most = 0;
  for (int k = 0; k < n; k++) {
    most = fmax(most, fabs(a[k] - b[k]));
  }
  return most;
}

/* From halving the step; that of dopri5, which chooses its own, from the error against the
 * evaluations when the tolerance goes from 1e-7 to 1e-10.  Rates and functions of time are taken at
 * the end of a step, so `euler` has its order too. */
TEST(the_order_with_a_loop_and_a_motion) {
  static const struct {
    const char *name;
    sn_implicit integrator;
    double order, slack, step;
  } way[] = {{"euler", SN_EULER, 1, 0.15, DURATION / 512},
             {"extrapolated", SN_EXTRAPOLATED, 2, 0.15, DURATION / 256},
             {"rk4", SN_IMPLICIT_RK4, 4, 0.3, DURATION / 32},
             {"dopri5", SN_IMPLICIT_DOPRI5, 5, 0.7, DURATION}};
  sn_model *m = machine();
  const int n = 2 * sn_model_dof_count(m);
  double exact[32], y[2][32];
  CHECK(n <= 32, "%d numbers", n);
  sn_options o = redmax_options(DURATION);
  o.redmax.integrator = SN_IMPLICIT_DOPRI5;
  o.recursive.rel_tol = o.recursive.abs_tol = 1e-13;
  run(m, &o, exact);
  for (int k = 0; k < 4; k++) {
    const bool adaptive = way[k].integrator == SN_IMPLICIT_DOPRI5;
    double work[2];
    o.redmax.integrator = way[k].integrator;
    for (int fine = 0; fine < 2; fine++) {
      o.step = way[k].step / (fine && !adaptive ? 2 : 1);
      o.recursive.rel_tol = o.recursive.abs_tol = fine ? 1e-10 : 1e-7;
      work[fine] = run(m, &o, y[fine]);
    }
    const double ratio = distance(n, y[0], exact) / distance(n, y[1], exact);
    const double order = log(ratio) / log(adaptive ? work[1] / work[0] : 2);
    CHECK(order > way[k].order - way[k].slack && (adaptive || order < way[k].order + way[k].slack),
          "%s has the order %.3f (errors %.2g, %.2g)", way[k].name, order, distance(n, y[0], exact),
          distance(n, y[1], exact));
  }
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(the_order_with_a_loop_and_a_motion));
}
