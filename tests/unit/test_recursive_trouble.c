/* The method `recursive` in trouble: functions of time that do something in a moment, that break
 * without end, that are not finite; and who is named when a motion is lost. */
#include "trees.h"

static sn_function_def expression(const char *text) {
  return (sn_function_def){.expression = text};
}

static sn_options options_of(sn_integrator integrator, double step) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.integrator = integrator;
  return o;
}

/* A wheel of inertia 1 about z, with a torque. */
static sn_builder *wheel(sn_function_def torque) {
  sn_body_def def = test_link("wheel", "world", "revolute");
  def.joint.axis = (sn_vec3){0, 0, 1};
  def.inertia = (sn_inertia){.mass = 1, .xx = 1, .yy = 1, .zz = 1};
  sn_builder *b = test_builder(&def);
  sn_force_def force = sn_force_def_default();
  force.name = "push";
  force.type = "joint_torque";
  force.joint = "wheel";
  force.ntorque = 1;
  force.torque[0] = torque;
  CHECK(sn_builder_add_force(b, &force) == SN_OK, "out of memory");
  return b;
}

static void run(sn_sim *sim, sn_state *s, double until) {
  while (*sn_state_time(s) < until - 1e-9) {
    test_step(sim, s, NULL);
  }
}

/* The rate of the only joint, or of the last, after 1 s. */
static double rate_after(sn_builder *b, const sn_options *o) {
  sn_model *m = test_finish(b);
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  run(sim, s, 1);
  const double rate = sn_state_qd(s)[sn_model_dof_count(m) - 1];
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return rate;
}

/* A bell of area 1, as narrow as you like, in substeps of up to 0.1: the wheel gets its momentum.
 * Its error is that of some ten substeps, each within rel_tol 1e-8. */
TEST(a_short_pulse_is_not_stepped_over) {
  const double width[] = {1e-2, 1e-3, 5e-4, 1e-5, 1e-6, 1e-7};
  const double when[] = {0.5123, 0.31, 0.777, 0.123456};
  const sn_options o = options_of(SN_DOPRI5, 0.01);
  for (int k = 0; k < 24; k++) {
    char text[120];
    snprintf(text, sizeof text, "exp(-((t - %g)/%g)^2)/(%g*sqrt(pi))", when[k % 4], width[k / 4],
             width[k / 4]);
    const double rate = rate_after(wheel(expression(text)), &o);
    CHECK(fabs(rate - 1) < 1e-7, "%s: rate %.12g, not 1", text, rate);
  }
}

TEST(a_pulse_of_cubic_keys_is_not_stepped_over) {
  const double time[] = {0, 0.2, 0.4, 0.4995, 0.5, 0.5005, 0.501, 0.6, 0.8, 1};
  const double value[] = {0, 0, 0, 0, 0, 300, 0, 0, 0, 0};
  const sn_function_def pulse = {
      .key_time = time, .key_value = value, .nkey = 10, .interpolation = SN_INTERPOLATE_CUBIC};
  const sn_options o = options_of(SN_DOPRI5, 0.01), fine = options_of(SN_RK4, 1e-4);
  const double rate = rate_after(wheel(pulse), &o), exact = rate_after(wheel(pulse), &fine);
  CHECK(fabs(exact) > 1e-2, "the pulse does nothing: %g", exact);
  /* a substep over a key, where the third derivative jumps, has an error a little above its
   * estimate */
  CHECK(fabs(rate - exact) < 1e-6 * fabs(exact), "rate %.12g, not %.12g", rate, exact);
}

/* Without weight and from rest, a link that hangs on a prescribed one goes the same way however
 * fast the motion is: its rate behind it is in proportion. */
TEST(a_sudden_motion_is_not_stepped_over) {
  const double width[] = {0.02, 1e-3, 1e-5, 1e-6};
  double turned[4];
  for (int k = 0; k < 4; k++) {
    sn_body_def a = test_link("arm", "world", "revolute"), b = test_link("free", "arm", "revolute");
    b.joint.at = sn_pose(0, 0, -1);
    sn_builder *builder = test_builder(&a);
    sn_motion_def motion = sn_motion_def_default();
    char text[80];
    snprintf(text, sizeof text, "0.5*tanh((t - 0.5137)/%g)", width[k]);
    motion.name = "swing";
    motion.joint = "arm";
    motion.nq = 1;
    motion.q[0] = expression(text);
    CHECK(sn_builder_add_body(builder, &b) == SN_OK &&
              sn_builder_add_motion(builder, &motion) == SN_OK,
          "out of memory");
    sn_builder_set_gravity(builder, (sn_vec3){0});
    const sn_options o = options_of(SN_DOPRI5, 0.01);
    turned[k] = width[k] * rate_after(builder, &o);
    CHECK(fabs(turned[0]) > 0.1, "the free link did not move: %g", turned[0]);
    /* rel_tol is 1e-8 of rates that are 100 times as large on the way */
    CHECK(fabs(turned[k] / turned[0] - 1) < 1e-5, "width %g: %.10g, not %.10g", width[k], turned[k],
          turned[0]);
  }
}

/* What is nothing but rounding does not make substeps short. */
TEST(rounding_is_no_pulse) {
  sn_model *m = test_finish(wheel(expression("cos(t)^2 + sin(t)^2 - 1 + 3e-17*sin(40*t)")));
  const sn_options o = options_of(SN_DOPRI5, 0.01);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  int substeps = 0;
  for (int k = 0; k < 100; k++) {
    sn_info info;
    CHECK(sn_sim_step(sim, s, NULL, &info, NULL) == SN_OK, "failed");
    substeps += info.substeps;
  }
  CHECK(substeps < 40, "%d substeps for nothing", substeps);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* Steps until it fails, at most n; the state must be the last good one. */
static void expect(sn_builder *b, const sn_options *o, int n, sn_status wanted, const char *text,
                   const char *path) {
  sn_model *m = test_finish(b);
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m), *before = NULL;
  sn_status status = SN_OK;
  sn_error err = {0};
  for (int k = 0; k < n && !status; k++) {
    sn_state_free(&before);
    CHECK(sn_state_clone(s, &before) == SN_OK, "out of memory");
    status = sn_sim_step(sim, s, NULL, NULL, &err);
  }
  CHECK(status == wanted, "status %d, not %d: '%s'", status, wanted, err.text);
  CHECK(strncmp(err.text, text, strlen(text)) == 0, "'%s', not '%s'", err.text, text);
  CHECK(strcmp(err.path, path) == 0, "path '%s', not '%s'", err.path, path);
  const size_t bytes = (size_t)sn_model_dof_count(m) * sizeof(double);
  CHECK(*sn_state_time(s) == *sn_state_time(before) &&
            memcmp(sn_state_q(s), sn_state_q(before), bytes) == 0 &&
            memcmp(sn_state_qd(s), sn_state_qd(before), bytes) == 0,
        "the state is not the last good one");
  sn_state_free(&s);
  sn_state_free(&before);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* floor(1/(1 - t)) jumps at 1 - 1/k: a thousand of them in a thousandth of a step are the end. */
TEST(breaks_without_end_are_an_error) {
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01);
    expect(wheel(expression("floor(1/(1 - t))")), &o, 100, SN_E_LIMIT,
           "force 'push': its functions of time have 1000 jumps or kinks between t = 0.9999", "");
    /* many, but not too many: 2000 in a step */
    const double rate = rate_after(wheel(expression("floor(200000*t)/200000")), &o);
    CHECK(fabs(rate - 0.5) < 1e-5, "rate %g", rate);
  }
}

/* ---- who is named ---- */

/* A chain of three links; the caller changes something in the last. */
static sn_builder *chain(const sn_joint_def *last) {
  sn_body_def def = test_link("first", "world", "revolute");
  sn_builder *b = test_builder(&def);
  def = test_link("second", "first", "revolute");
  def.joint.at = sn_pose(0, 0, -1);
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  def = test_link("third", "second", "revolute");
  if (last) {
    def.joint = *last;
  }
  def.joint.at = sn_pose(0, 0, -1);
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  return b;
}

static sn_joint_def driven(const char *target, const char *rate) {
  sn_joint_def joint = test_link("third", "second", "revolute").joint;
  joint.drive.enabled = true;
  joint.drive.stiffness = joint.drive.damping = sn_per_dof_all(10);
  joint.drive.ntarget = 1;
  joint.drive.target[0] = expression(target);
  joint.drive.nrate = rate ? 1 : 0;
  joint.drive.rate[0] = expression(rate);
  return joint;
}

TEST(a_function_that_is_not_finite_is_named) {
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01);
    sn_joint_def joint = driven("sqrt(0.495 - t)", "0");
    expect(chain(&joint), &o, 100, SN_E_DIVERGED,
           "drive of joint 'third': target is not finite at t = 0.",
           "bodies.third.joint.drive.target");
    joint = driven("sqrt(t)", NULL);
    expect(chain(&joint), &o, 100, SN_E_DIVERGED,
           "drive of joint 'third': the rate of the target is not finite at t = 0",
           "bodies.third.joint.drive.target");
    joint = driven("0", "log(t - 1)");
    expect(chain(&joint), &o, 100, SN_E_DIVERGED,
           "drive of joint 'third': rate is not finite at t = 0", "bodies.third.joint.drive.rate");

    sn_builder *b = chain(NULL);
    sn_motion_def motion = sn_motion_def_default();
    motion.name = "swing";
    motion.joint = "second";
    motion.nq = 1;
    motion.q[0] = expression("sqrt(0.495 - t)");
    CHECK(sn_builder_add_motion(b, &motion) == SN_OK, "out of memory");
    expect(b, &o, 100, SN_E_DIVERGED, "motion 'swing': ", "motions.swing.q");

    b = chain(NULL);
    sn_force_def force = sn_force_def_default();
    force.name = "wind";
    force.type = "point_force";
    force.body = "second";
    force.vector[1] = expression("log(0.3 - t)");
    CHECK(sn_builder_add_force(b, &force) == SN_OK, "out of memory");
    expect(b, &o, 100, SN_E_DIVERGED, "force 'wind': its function of time is not finite at t = 0.3",
           "forces.wind");
  }
}

static void spoil_third(const sn_force_context *c, void *user) {
  (void)user;
  c->wrench[2].v.x = c->t > 0.095 ? NAN : 0;
}

TEST(input_and_a_users_force_are_named) {
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01);
    sn_model *m = test_finish(chain(NULL));
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    sn_error err;
    const double tau[3] = {0, 0, INFINITY};
    CHECK(sn_sim_step(sim, s, &(sn_input){.tau = tau}, NULL, &err) == SN_E_DIVERGED &&
              strcmp(err.text, "input of joint 'third': tau is not finite at t = 0") == 0,
          "'%s'", err.text);
    sn_vec6 wrench[3];
    memset(wrench, 0, sizeof wrench);
    wrench[1].w.y = NAN;
    CHECK(sn_sim_step(sim, s, &(sn_input){.wrench = wrench}, NULL, &err) == SN_E_DIVERGED &&
              strcmp(err.text, "input of body 'second': wrench is not finite at t = 0") == 0,
          "'%s'", err.text);
    sn_sim_set_force(sim, spoil_third, NULL);
    sn_status status = SN_OK;
    for (int k = 0; k < 20 && !status; k++) {
      status = sn_sim_step(sim, s, NULL, NULL, &err);
    }
    CHECK(status == SN_E_DIVERGED &&
              strstr(err.text, "the user's force: what it gives is not finite at t = 0."),
          "'%s'", err.text);
    CHECK(fabs(*sn_state_time(s) - 0.09) < 1e-12, "t = %g", *sn_state_time(s));
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* The stiff spring is in the last joint, and it is that one which rk4 loses. */
TEST(the_joint_that_is_lost_is_named) {
  sn_joint_def joint = test_link("third", "second", "revolute").joint;
  joint.stiffness = sn_per_dof_all(1e9);
  joint.rest = sn_per_dof_all(0.1);
  const sn_options o = options_of(SN_RK4, 0.01);
  sn_model *m = test_finish(chain(&joint));
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  sn_error err = {0};
  while (sn_sim_step(sim, s, NULL, NULL, &err) == SN_OK && *sn_state_time(s) < 1) {
  }
  CHECK(strstr(err.text, "'third' is not finite any more: take a smaller step, or dopri5"), "'%s'",
        err.text);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(a_short_pulse_is_not_stepped_over), T(a_pulse_of_cubic_keys_is_not_stepped_over),
            T(a_sudden_motion_is_not_stepped_over), T(rounding_is_no_pulse),
            T(breaks_without_end_are_an_error), T(a_function_that_is_not_finite_is_named),
            T(input_and_a_users_force_are_named), T(the_joint_that_is_lost_is_named));
}
