/* The integrators of the method `recursive`: their order, their tolerance, what they do at the
 * breaks of time functions, when something changes from outside, and in trouble. */
#include "methods/recursive/ode.h"
#include "oracle.h"
#include "trees.h"

/* Two of our links in a row, in the plane: masses 1, centres at 0.5, joints 1 apart, moments 0.09
 * about the centre.  q measures from hanging, the second from the first. */
static void double_pendulum(double t, const double *y, double *dydt) {
  (void)t;
  const double s = sin(y[1]), c = cos(y[1]), I = 0.09;
  const double m22 = I + 0.25, m12 = m22 + 0.5 * c, m11 = 2 * I + 0.25 + 1.25 + c;
  const double total = y[2] + y[3];
  const double g2 = 0.5 * 9.81 * sin(y[0] + y[1]), g1 = 1.5 * 9.81 * sin(y[0]) + g2;
  const double b1 = 0.5 * s * (total * total - y[2] * y[2]) - g1, b2 = -0.5 * s * y[2] * y[2] - g2;
  const double det = m11 * m22 - m12 * m12;
  dydt[0] = y[2];
  dydt[1] = y[3];
  dydt[2] = (m22 * b1 - m12 * b2) / det;
  dydt[3] = (m11 * b2 - m12 * b1) / det;
}

static sn_model *double_pendulum_model(void) {
  sn_body_def a = test_link("upper", "world", "revolute"),
              b = test_link("lower", "upper", "revolute");
  b.joint.at = sn_pose(0, 0, -1);
  sn_builder *builder = test_builder(&a);
  CHECK(sn_builder_add_body(builder, &b) == SN_OK, "out of memory");
  return test_finish(builder);
}

static const double start[4] = {0.9, 0.4, -0.3, 0.5};

static void put_start(sn_state *s) {
  memcpy(sn_state_q(s), start, 2 * sizeof *start);
  memcpy(sn_state_qd(s), start + 2, 2 * sizeof *start);
}

static double distance_to(sn_state *s, const double *y) {
  return fmax(largest_difference(sn_state_q(s), y, 2),
              largest_difference(sn_state_qd(s), y + 2, 2));
}

static sn_options options_of(sn_integrator integrator, double step, double tolerance) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.integrator = integrator;
  o.recursive.rel_tol = o.recursive.abs_tol = tolerance;
  return o;
}

/* Error after T in steps of h. */
static double run_error(const sn_model *m, const sn_options *o, double T, const double *exact,
                        sn_info *total) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  put_start(s);
  const int steps = (int)lround(T / o->step);
  for (int k = 0; k < steps; k++) {
    sn_info info;
    sn_error err;
    CHECK(sn_sim_step(sim, s, NULL, &info, &err) == SN_OK, "%s", err.text);
    if (total) {
      total->substeps += info.substeps;
      total->rejected += info.rejected;
      total->evaluations += info.evaluations;
    }
  }
  const double e = distance_to(s, exact);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return e;
}

/* From 128 to 1024 steps a second the error falls by 2^4 each time the step is halved. */
TEST(rk4_has_order_four) {
  sn_model *m = double_pendulum_model();
  double exact[4], last = 0;
  memcpy(exact, start, sizeof exact);
  oracle(double_pendulum, 4, 0, 1, 100, exact);
  for (int steps = 128; steps <= 1024; steps *= 2) {
    const sn_options o = options_of(SN_RK4, 1.0 / steps, 1e-6);
    sn_info info = {0};
    const double e = run_error(m, &o, 1, exact, &info);
    CHECK(info.substeps == steps && info.evaluations == 4 * steps && info.rejected == 0,
          "%d steps, %d evaluations", info.substeps, info.evaluations);
    if (last > 0) {
      const double order = log2(last / e);
      print_message("  rk4, %d steps: error %.2e, order %.2f\n", steps, e, order);
      CHECK(order > 3.8 && order < 4.3, "from %d to %d steps: order %g", steps / 2, steps, order);
    }
    last = e;
  }
  sn_model_free(&m);
}

/* ---- dopri5 by itself ---- */

static int ode_double_pendulum(void *user, double t, double t_ref, double *y, double *dydt) {
  (void)user;
  (void)t_ref;
  double_pendulum(t, y, dydt);
  return -1;
}

TEST(dopri5_has_order_five_and_its_extension_four) {
  const sni_ode ode = {.n = 4, .f = ode_double_pendulum};
  double exact[4], work[7 * 4], dense[SNI_DOPRI5_DENSE * 4], last = 0, last_dense = 0;
  memcpy(exact, start, sizeof exact);
  oracle(double_pendulum, 4, 0, 1, 100, exact);
  for (int steps = 64; steps <= 512; steps *= 2) {
    double y[4], f[4], y1[4], f1[4], error, between = 0;
    const double h = 1.0 / steps;
    memcpy(y, start, sizeof y);
    double_pendulum(0, y, f);
    for (int k = 0; k < steps; k++) {
      CHECK(sni_dopri5_try(&ode, k * h, h, 1, 1, y, f, y1, f1, dense, &error, work) == -1,
            "failed");
      if (k % (steps / 8) == 0) { /* the local error of the extension, between the ends */
        double there[4], read[4];
        memcpy(there, y, sizeof there);
        oracle(double_pendulum, 4, k * h, (k + 0.4) * h, 2, there);
        sni_dopri5_dense(4, dense, 0.4, read);
        between = fmax(between, largest_difference(there, read, 4));
      }
      memcpy(y, y1, sizeof y);
      memcpy(f, f1, sizeof f);
    }
    const double e = largest_difference(y, exact, 4);
    if (last > 0) {
      const double order = log2(last / e), order_dense = log2(last_dense / between) - 1;
      print_message("  dopri5, %d steps: error %.2e, order %.2f; between %.2e, order %.2f\n", steps,
                    e, order, between, order_dense);
      CHECK(order > 4.7 && order < 5.5, "from %d to %d steps: order %g", steps / 2, steps, order);
      CHECK(order_dense > 3.8, "the extension has order %g", order_dense);
    }
    last = e;
    last_dense = between;
  }
}

TEST(dopri5_extension_meets_the_ends) {
  const sni_ode ode = {.n = 4, .f = ode_double_pendulum};
  double y1[4], f[4], f1[4], work[7 * 4], dense[SNI_DOPRI5_DENSE * 4], error, read[4];
  double_pendulum(0, start, f);
  sni_dopri5_try(&ode, 0, 0.01, 1e-8, 1e-8, start, f, y1, f1, dense, &error, work);
  sni_dopri5_dense(4, dense, 0, read);
  CHECK(largest_difference(read, start, 4) == 0, "the start is missed");
  sni_dopri5_dense(4, dense, 1, read);
  CHECK(largest_difference(read, y1, 4) < 1e-15, "the end is missed");
}

/* Over four decades the error follows the tolerance within a factor of ten either way. */
TEST(dopri5_error_is_proportional_to_the_tolerance) {
  sn_model *m = double_pendulum_model();
  double exact[4], first = 0;
  memcpy(exact, start, sizeof exact);
  oracle(double_pendulum, 4, 0, 2, 200, exact);
  for (double tolerance = 1e-6; tolerance > 0.5e-11; tolerance /= 10) {
    const sn_options o = options_of(SN_DOPRI5, 0.01, tolerance);
    sn_info info = {0};
    const double e = run_error(m, &o, 2, exact, &info);
    print_message("  tolerance %.0e: error %.2e, %d substeps, %d rejected, %d evaluations\n",
                  tolerance, e, info.substeps, info.rejected, info.evaluations);
    first = first > 0 ? first : e / tolerance;
    CHECK(e / tolerance < 10 * first && e / tolerance > 0.1 * first,
          "error %g at tolerance %g is out of proportion", e, tolerance);
    CHECK(info.rejected < info.substeps / 5 + 3, "%d rejected of %d", info.rejected, info.substeps);
  }
  sn_model_free(&m);
}

/* States are read off the extension: its error (order 4, local 5) stays near the tolerance. */
TEST(states_between_substeps_are_as_good) {
  sn_model *m = double_pendulum_model();
  const sn_options o = options_of(SN_DOPRI5, 1.0 / 512, 1e-9);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  put_start(s);
  double y[4];
  memcpy(y, start, sizeof y);
  for (int k = 0; k < 512; k++) {
    test_step(sim, s, NULL);
    oracle(double_pendulum, 4, 0, 1.0 / 512, 1, y);
    CHECK(distance_to(s, y) < 1e-7, "at t = %g off by %g", *sn_state_time(s), distance_to(s, y));
    CHECK(*sn_state_time(s) == (k + 1) / 512.0, "t = %.17g after %d steps", *sn_state_time(s),
          k + 1);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* At this tolerance substeps are shorter than ten of the shortest steps, the farthest that dopri5
 * runs ahead: then how often states are asked for does not matter. */
TEST(recording_often_costs_no_substeps) {
  sn_model *m = double_pendulum_model();
  double exact[4];
  memcpy(exact, start, sizeof exact);
  oracle(double_pendulum, 4, 0, 1, 100, exact);
  int substeps[3];
  double error[3];
  for (int k = 0; k < 3; k++) {
    const double steps[] = {8, 64, 512};
    const sn_options o = options_of(SN_DOPRI5, 1 / steps[k], 1e-12);
    sn_info info = {0};
    error[k] = run_error(m, &o, 1, exact, &info);
    substeps[k] = info.substeps;
  }
  CHECK(substeps[0] == substeps[1] && substeps[1] == substeps[2], "%d, %d, %d substeps",
        substeps[0], substeps[1], substeps[2]);
  CHECK(fabs(error[0] - error[2]) < 1e-13, "errors %g and %g", error[0], error[2]);
  sn_model_free(&m);
}

/* ---- breaks of time functions ---- */

/* A wheel of inertia J on a torsion spring k, pushed by a torque that is constant on pieces:
 *     q = u/k + (q0 - u/k) cos wt + v0/w sin wt */
typedef struct wheel {
  double q, v;
} wheel;
#define WHEEL_K 40.0
#define WHEEL_J 0.34 /* 0.09 + 0.25 */

static void turn_wheel(wheel *w, double torque, double dt) {
  const double omega = sqrt(WHEEL_K / WHEEL_J), rest = torque / WHEEL_K;
  const double c = cos(omega * dt), s = sin(omega * dt), q = w->q - rest;
  *w = (wheel){rest + q * c + w->v / omega * s, -q * omega * s + w->v * c};
}

static sn_builder *wheel_builder(void) {
  sn_body_def def = test_link("wheel", "world", "revolute");
  def.joint.stiffness = sn_per_dof_all(WHEEL_K);
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  return b;
}

static sn_model *switched_wheel(const char *torque, const char *active) {
  sn_builder *b = wheel_builder();
  sn_force_def f = sn_force_def_default();
  f.name = "push";
  f.type = "joint_torque";
  f.joint = "wheel";
  f.ntorque = 1;
  f.torque[0] = (sn_function_def){.expression = torque};
  if (active) {
    f.active = (sn_function_def){.expression = active};
  }
  CHECK(sn_builder_add_force(b, &f) == SN_OK, "out of memory");
  return test_finish(b);
}

/* torque 1 until 0.3137, then -2 until 0.7, then 0 */
static wheel switched_solution(double t) {
  wheel w = {0};
  turn_wheel(&w, 1, fmin(t, 0.3137));
  turn_wheel(&w, -2, t > 0.3137 ? fmin(t, 0.7) - 0.3137 : 0);
  turn_wheel(&w, 0, t > 0.7 ? t - 0.7 : 0);
  return w;
}

static void check_switched(sn_model *m, const sn_options *o, double tolerance, int rejected_most) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  int rejected = 0;
  while (*sn_state_time(s) < 1) {
    sn_info info;
    sn_error err;
    CHECK(sn_sim_step(sim, s, NULL, &info, &err) == SN_OK, "%s", err.text);
    rejected += info.rejected;
    const wheel w = switched_solution(*sn_state_time(s));
    const double e = fmax(fabs(sn_state_q(s)[0] - w.q), fabs(sn_state_qd(s)[0] - w.v));
    CHECK(e < tolerance, "at t = %g off by %g", *sn_state_time(s), e);
  }
  CHECK(rejected <= rejected_most, "%d rejected", rejected);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(dopri5_restarts_at_jumps) {
  const sn_options o = options_of(SN_DOPRI5, 0.01, 1e-11);
  check_switched(switched_wheel("if(t < 0.3137, 1, if(t < 0.7, -2, 0))", NULL), &o, 1e-10, 4);
  /* the same as a switch: on while above 0, whatever the expression is */
  check_switched(switched_wheel("if(t < 0.3137, 1, -2)", "0.7 - t"), &o, 1e-10, 4);
}

/* The phase error of rk4 is w t (w h)^4 / 120 = 1e-5 here, of a swing of 0.1 at 11 rad/s; without
 * stopping at the jumps the error would be 1e-2. */
TEST(rk4_stops_at_jumps) {
  const sn_options o = options_of(SN_RK4, 0.01, 1e-6);
  check_switched(switched_wheel("if(t < 0.3137, 1, if(t < 0.7, -2, 0))", NULL), &o, 2e-5, 0);
  check_switched(switched_wheel("if(t < 0.3137, 1, -2)", "0.7 - t"), &o, 2e-5, 0);
}

/* Torque by keyframes: 0 at 0, 3 at 0.5, 1 at 0.8, held after.  Without the spring the angle is a
 * cubic on each piece, which both integrators have exactly. */
TEST(keyframes_are_integrated_exactly) {
  const double time[] = {0, 0.5, 0.8}, value[] = {0, 3, 1};
  for (int which = 0; which < 2; which++) {
    sn_body_def def = test_link("wheel", "world", "revolute");
    sn_builder *b = test_builder(&def);
    sn_builder_set_gravity(b, (sn_vec3){0});
    sn_force_def f = sn_force_def_default();
    f.name = "push";
    f.type = "joint_torque";
    f.joint = "wheel";
    f.ntorque = 1;
    f.torque[0] = (sn_function_def){.key_time = time, .key_value = value, .nkey = 3};
    CHECK(sn_builder_add_force(b, &f) == SN_OK, "out of memory");
    sn_model *m = test_finish(b);
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.125, 1e-10);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    double q = 0, v = 0, t = 0;
    for (int k = 0; k < 8; k++) {
      test_step(sim, s, NULL);
    }
    const double to[] = {0.5, 0.8, 1}, torque[] = {0, 3, 1}, slope[] = {6, -2 / 0.3, 0};
    for (int k = 0; k < 3; k++) {
      const double d = to[k] - t;
      q += v * d + (torque[k] / 2 + slope[k] * d / 6) * d * d / WHEEL_J;
      v += (torque[k] + slope[k] * d / 2) * d / WHEEL_J;
      t = to[k];
    }
    CHECK(fabs(sn_state_q(s)[0] - q) < 1e-13 && fabs(sn_state_qd(s)[0] - v) < 1e-13,
          "%s: q = %.16g, should be %.16g", which ? "rk4" : "dopri5", sn_state_q(s)[0], q);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* ---- what comes from outside ---- */

typedef struct wind {
  double strength;
} wind;

static void blow(const sn_force_context *c, void *user) {
  c->tau[0] += ((const wind *)user)->strength;
}

/* A user's force that changes between two steps: dopri5 must not have run ahead with the old one.
 */
TEST(a_users_force_may_change_between_steps) {
  for (int which = 0; which < 2; which++) {
    sn_model *m = test_finish(wheel_builder());
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01, 1e-11);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    wind w = {1};
    wheel exact = {0};
    sn_sim_set_force(sim, blow, &w);
    for (int k = 0; k < 60; k++) {
      w.strength = k < 20 ? 1 : k < 40 ? -2 : 0;
      turn_wheel(&exact, w.strength, 0.01);
      test_step(sim, s, NULL);
      const double e = fabs(sn_state_q(s)[0] - exact.q);
      CHECK(e < (which ? 2e-6 : 1e-10), "t = %g: off by %g", *sn_state_time(s), e);
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* The same through the input, and through a parameter. */
TEST(input_and_parameters_may_change_between_steps) {
  for (int which = 0; which < 2; which++) {
    sn_model *m = test_finish(wheel_builder());
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01, 1e-11);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    wheel exact = {0};
    for (int k = 0; k < 60; k++) {
      const double torque = k < 20 ? 1 : k < 40 ? -2 : 0;
      turn_wheel(&exact, torque, 0.01);
      test_step(sim, s, k < 40 ? &(sn_input){.tau = &torque} : NULL);
      const double e = fabs(sn_state_q(s)[0] - exact.q);
      CHECK(e < (which ? 2e-6 : 1e-10), "t = %g: off by %g", *sn_state_time(s), e);
    }
    /* half the spring, four times the period: 0.01 there is 0.01/sqrt 2 here */
    CHECK(sn_sim_set(sim, "bodies.wheel.joint.stiffness", WHEEL_K / 2, NULL) == SN_OK, "no spring");
    const double omega = sqrt(WHEEL_K / 2 / WHEEL_J), q0 = sn_state_q(s)[0], v0 = sn_state_qd(s)[0];
    for (int k = 1; k <= 20; k++) {
      test_step(sim, s, NULL);
      const double q = q0 * cos(omega * 0.01 * k) + v0 / omega * sin(omega * 0.01 * k);
      CHECK(fabs(sn_state_q(s)[0] - q) < (which ? 2e-6 : 1e-10), "after the change: %g, not %g",
            sn_state_q(s)[0], q);
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* ---- trouble ---- */

TEST(too_many_substeps_leave_the_state) {
  sn_model *m = double_pendulum_model();
  sn_options o = options_of(SN_DOPRI5, 1, 1e-12);
  o.recursive.max_steps = 7;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m), *before = NULL;
  put_start(s);
  sn_error err;
  sn_sim_step(sim, s, NULL, NULL, &err); /* so that only the second can tell */
  sn_state_clone(s, &before);
  CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_E_LIMIT, "'%s'", err.text);
  CHECK(strcmp(err.text, "more than 7 substeps between t = 0 and 1: loosen the tolerance, or allow "
                         "more with run.recursive.max_steps") == 0,
        "'%s'", err.text);
  CHECK(sn_state_equal(s, before) && *sn_state_time(s) == 0, "t = %g", *sn_state_time(s));
  sn_state_free(&s);
  sn_state_free(&before);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* A spring far too stiff for the step of rk4: the motion blows up, and the message says so. */
TEST(rk4_says_when_the_step_is_too_coarse) {
  sn_body_def def = test_link("wheel", "world", "revolute");
  def.joint.stiffness = sn_per_dof_all(1e9);
  sn_initial_def initial = sn_initial_def_default();
  initial.body = "wheel";
  initial.q = sn_per_dof_all(1);
  sn_builder *b = test_builder(&def);
  sn_builder_set_initial(b, &initial);
  sn_model *m = test_finish(b);
  const sn_options o = options_of(SN_RK4, 0.01, 1e-6);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m), *before = NULL;
  sn_status status = SN_OK;
  sn_error err = {0};
  for (int k = 0; k < 1000 && !status; k++) {
    sn_state_free(&before);
    sn_state_clone(s, &before);
    status = sn_sim_step(sim, s, NULL, NULL, &err);
  }
  CHECK(status == SN_E_DIVERGED, "status %d, '%s'", status, err.text);
  CHECK(strstr(err.text, "'wheel' is not finite any more: take a smaller step, or dopri5"), "'%s'",
        err.text);
  CHECK(strcmp(err.path, "bodies.wheel") == 0, "path '%s'", err.path);
  CHECK(sn_state_equal(s, before), "the state is not the last good one");
  sn_state_free(&s);
  sn_state_free(&before);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(numbers_that_are_not_finite_are_refused) {
  sn_model *m = double_pendulum_model();
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01, 1e-8);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    sn_error err;
    sn_state_q(s)[1] = NAN;
    CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_E_VALUE &&
              strcmp(err.text,
                     "at t = 0: the state has q[0] = nan for 'lower', needs a finite number") == 0,
          "'%s'", err.text);
    CHECK(isnan(sn_state_q(s)[1]) && *sn_state_time(s) == 0, "the state was touched");
    sn_state_q(s)[1] = 0;
    const double tau[2] = {0, INFINITY};
    CHECK(sn_sim_step(sim, s, &(sn_input){.tau = tau}, NULL, &err) == SN_E_DIVERGED, "'%s'",
          err.text);
    CHECK(*sn_state_time(s) == 0 && sn_state_q(s)[1] == 0, "the state was touched");
    test_step(sim, s, NULL); /* and it goes on */
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

/* Where a step would not change the time any more, or there is none. */
TEST(times_that_cannot_be_are_refused) {
  sn_model *m = double_pendulum_model();
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01, 1e-8);
    const double t[] = {1e20, INFINITY, NAN};
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    put_start(s);
    for (int k = 0; k < 3; k++) {
      sn_error err;
      *sn_state_time(s) = t[k];
      CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_E_VALUE, "t = %g was taken", t[k]);
      CHECK(strstr(err.text, k == 0 ? " is too far for steps of 0.01" : "needs a finite number"),
            "'%s'", err.text);
      CHECK(sn_state_q(s)[0] == start[0], "the state was touched");
    }
    *sn_state_time(s) = -3; /* any other time will do */
    test_step(sim, s, NULL);
    CHECK(fabs(*sn_state_time(s) + 2.99) < 1e-15, "t = %g", *sn_state_time(s));
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

/* A point mass on the axis of its hinge: mass enough for the builder, none against the turning. */
TEST(a_joint_without_inertia_is_named) {
  const sn_vec3 axes[] = {{0, 0, 1}, {0.3, -0.5, 0.7}};
  for (int which = 0; which < 4; which++) {
    sn_body_def def = test_link("pin", "world", "revolute");
    def.joint.axis = axes[which / 2];
    def.joint.at = sn_pose_rotvec((sn_vec3){1, 2, 3}, (sn_vec3){0.4, 0.5, -0.6});
    def.inertia = (sn_inertia){.mass = 2, .com = axes[which / 2]};
    sn_model *m = test_finish(test_builder(&def));
    const sn_options o = options_of(which % 2 ? SN_RK4 : SN_DOPRI5, 0.01, 1e-8);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    sn_error err;
    CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_E_SINGULAR, "axis %d: '%s'", which / 2,
          err.text);
    CHECK(strcmp(err.text,
                 "at t = 0: 'pin' has no inertia against its own motion: give the body mass "
                 "and moments of inertia, or its joint armature") == 0,
          "'%s'", err.text);
    double qdd;
    CHECK(sn_sim_forward(sim, s, NULL, &qdd, &err) == SN_E_SINGULAR, "'%s'", err.text);
    CHECK(sn_sim_set(sim, "bodies.pin.joint.armature", 0.1, &err) == SN_OK, "'%s'", err.text);
    test_step(sim, s, NULL);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

TEST(options_are_checked) {
  sn_model *m = double_pendulum_model();
  const struct {
    sn_options o;
    const char *text;
  } bad[] = {
      {options_of(SN_DOPRI5, 0, 1e-8), "step is 0, needs a number > 0"},
      {options_of(SN_DOPRI5, NAN, 1e-8), "step is nan, needs a number > 0"},
      {options_of(SN_DOPRI5, 0.01, -1), "recursive.rel_tol is -1, needs a number > 0"},
      {options_of(SN_DOPRI5, INFINITY, 1), "step is inf, needs a number > 0"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    sn_sim *sim = NULL;
    sn_error err;
    CHECK(sn_sim_create(m, &bad[k].o, &sim, &err) == SN_E_VALUE && !sim, "option %zu was taken", k);
    CHECK(strcmp(err.text, bad[k].text) == 0, "'%s'", err.text);
  }
  sn_options o = sn_options_default();
  sn_sim *sim = NULL;
  sn_error err;
  o.recursive.max_steps = 0;
  CHECK(sn_sim_create(m, &o, &sim, &err) == SN_E_VALUE, "'%s'", err.text);
  o = sn_options_default();
  o.method = "magic";
  CHECK(sn_sim_create(m, &o, &sim, &err) == SN_E_UNSUPPORTED, "'%s'", err.text);
  CHECK(strstr(err.text, "this version has no method 'magic'; it has: recursive"), "'%s'",
        err.text);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(rk4_has_order_four), T(dopri5_has_order_five_and_its_extension_four),
            T(dopri5_extension_meets_the_ends), T(dopri5_error_is_proportional_to_the_tolerance),
            T(states_between_substeps_are_as_good), T(recording_often_costs_no_substeps),
            T(dopri5_restarts_at_jumps), T(rk4_stops_at_jumps), T(keyframes_are_integrated_exactly),
            T(a_users_force_may_change_between_steps),
            T(input_and_parameters_may_change_between_steps), T(too_many_substeps_leave_the_state),
            T(rk4_says_when_the_step_is_too_coarse), T(numbers_that_are_not_finite_are_refused),
            T(times_that_cannot_be_are_refused), T(a_joint_without_inertia_is_named),
            T(options_are_checked));
}
