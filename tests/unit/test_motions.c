/* Prescribed motions: followed to the last bit, with the torque that inverse dynamics asks for,
 * taken over and let go without a jump. */
#include "model/function.h"
#include "oracle.h"
#include "trees.h"
#include "stage.h"

#define GRAVITY 9.81

static sn_options options_of(sn_integrator integrator, double step, double tolerance) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.integrator = integrator;
  o.recursive.rel_tol = o.recursive.abs_tol = tolerance;
  return o;
}

static const char *const swing = "0.5*sin(3*t) + 0.1*t^2";

/* A driven upper link, a free lower one. */
static sn_builder *driven_builder(const char *q, const char *active) {
  sn_body_def a = test_link("upper", "world", "revolute"),
              b = test_link("lower", "upper", "revolute");
  b.joint.at = sn_pose(0, 0, -1);
  a.joint.stiffness = sn_per_dof_all(7);
  a.joint.damping = sn_per_dof_all(0.3);
  a.joint.armature = sn_per_dof_all(0.2);
  sn_builder *builder = test_builder(&a);
  sn_motion_def motion = sn_motion_def_default();
  motion.name = "motor";
  motion.joint = "upper";
  motion.nq = 1;
  motion.q[0] = (sn_function_def){.expression = q};
  if (active) {
    motion.active = (sn_function_def){.expression = active};
  }
  CHECK(sn_builder_add_body(builder, &b) == SN_OK &&
            sn_builder_add_motion(builder, &motion) == SN_OK,
        "out of memory");
  return builder;
}

TEST(motions_are_followed_to_the_last_bit) {
  sn_function_def def = {.expression = swing};
  sni_function *f = NULL;
  CHECK(sni_function_build(&def, &f, NULL) == SN_OK, "no function");
  for (int which = 0; which < 2; which++) {
    sn_model *m = test_finish(driven_builder(swing, NULL));
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.013, 1e-9);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    const int i = sn_model_joint_first(m, sn_model_body_find(m, "upper"));
    for (int k = 0; k < 200; k++) {
      double at[3];
      sni_function_eval(f, *sn_state_time(s), *sn_state_time(s), at);
      CHECK(sn_state_q(s)[i] == at[0] && sn_state_qd(s)[i] == at[1], "t = %g: q = %.17g, not %.17g",
            *sn_state_time(s), sn_state_q(s)[i], at[0]);
      test_step(sim, s, NULL);
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
  sni_function_free(&f);
}

/* motor.tau is what inverse dynamics asks for; upper.tau has the joint's spring and damper in it.
 */
TEST(the_torque_of_a_motion_is_that_of_inverse_dynamics) {
  sn_model *m = test_finish(driven_builder(swing, NULL));
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const int channel[] = {
      sn_sim_channel_find(sim, "motor.tau"), sn_sim_channel_find(sim, "upper.tau"),
      sn_sim_channel_find(sim, "upper.qdd"), sn_sim_channel_find(sim, "lower.qdd"),
      sn_sim_channel_find(sim, "lower.tau")};
  for (int k = 0; k < 50; k++) {
    test_step(sim, s, NULL);
    double read[5], tau[2];
    sn_error err;
    CHECK(sn_sim_channels(sim, s, NULL, channel, 5, read, &err) == SN_OK, "%s", err.text);
    const double qdd[2] = {read[2], read[3]}, t = *sn_state_time(s);
    CHECK(sn_sim_inverse(sim, s, NULL, qdd, tau, NULL, &err) == SN_OK, "%s", err.text);
    CHECK(fabs(read[0] - tau[0]) < 1e-12 * fmax(1, fabs(tau[0])), "t = %g: %g, not %g", t, read[0],
          tau[0]);
    CHECK(fabs(tau[1]) < 1e-12 && fabs(read[4]) < 1e-12, "the free joint needs %g", tau[1]);
    const double spring = -7 * sn_state_q(s)[0] - 0.3 * sn_state_qd(s)[0];
    CHECK(fabs(read[1] - read[0] - spring) < 1e-12, "t = %g: the joint carries %g", t, read[1]);
    CHECK(fabs(read[2] - (-4.5 * sin(3 * t) + 0.2)) < 1e-13, "t = %g: qdd = %g", t, read[2]);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* The free joint under a driven one: the same motion as with the pivot's acceleration written out.
 */
static void carried_pendulum(double t, const double *y, double *dydt) {
  const double q = 0.5 * sin(3 * t) + 0.1 * t * t, v = 1.5 * cos(3 * t) + 0.2 * t,
               a = -4.5 * sin(3 * t) + 0.2;
  /* centre of the lower link at (sin q + sin(q + y)/2): its own equation of the double pendulum */
  const double I = 0.09 + 0.25;
  dydt[0] = y[1];
  dydt[1] =
      (-0.5 * sin(y[0]) * v * v - 0.5 * GRAVITY * sin(q + y[0]) - (I + 0.5 * cos(y[0])) * a) / I;
}

TEST(what_hangs_on_a_driven_joint_moves_right) {
  for (int which = 0; which < 2; which++) {
    sn_model *m = test_finish(driven_builder(swing, NULL));
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 1.0 / 512, 1e-11);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    double y[2] = {0, 0};
    oracle(carried_pendulum, 2, 0, 1, 100, y);
    for (int k = 0; k < 512; k++) {
      test_step(sim, s, NULL);
    }
    const double e = fmax(fabs(sn_state_q(s)[1] - y[0]), fabs(sn_state_qd(s)[1] - y[1]));
    CHECK(e < 1e-9, "%s is off by %g", which ? "rk4" : "dopri5", e);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* The upper link swings freely until 0.5; the motion wants it at 0.  However the switch is written,
 * the step that would jump fails, says who and when, and leaves the last good state. */
TEST(a_motion_that_takes_over_in_the_wrong_place_is_an_error) {
  const char *const switches[] = {"t > 0.5", "t - 0.5", "step(t - 0.5)"};
  for (int which = 0; which < 6; which++) {
    sn_builder *b = driven_builder("0*t", switches[which / 2]);
    sn_initial_def initial = sn_initial_def_default();
    initial.body = "upper";
    initial.q = sn_per_dof_all(0.8);
    CHECK(sn_builder_set_initial(b, &initial) == SN_OK, "out of memory");
    sn_model *m = test_finish(b);
    const sn_options o = options_of(which % 2 ? SN_RK4 : SN_DOPRI5, 0.01, 1e-9);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m), *before = NULL;
    sn_error err = {0};
    sn_status status = SN_OK;
    int good = 0;
    for (; status == SN_OK && good < 100; good++) {
      sn_state_free(&before);
      sn_state_clone(s, &before);
      status = sn_sim_step(sim, s, NULL, NULL, &err);
    }
    CHECK(status == SN_E_VALUE, "'%s': status %d", switches[which / 2], status);
    CHECK(strstr(err.text,
                 "motion 'motor' jumps at t = 0.5: it wants q = 0, qd = 0 where the joint "
                 "'upper' has q = "),
          "'%s'", err.text);
    CHECK(sn_state_equal(s, before), "the state is not the last good one");
    CHECK(good == 51, "%d steps went well, not 50", good - 1);
    sn_state_free(&s);
    sn_state_free(&before);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* Let go at 0.5, caught again where it is: no error, and free in between. */
TEST(a_motion_can_let_go) {
  for (int which = 0; which < 2; which++) {
    sn_model *m = test_finish(driven_builder("0.3*sin(2*t)", "t < 0.5"));
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.01, 1e-10);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 100; k++) {
      test_step(sim, s, NULL);
      const double t = *sn_state_time(s);
      const double off = fabs(sn_state_q(s)[0] - 0.3 * sin(2 * t));
      CHECK(t <= 0.5 ? off < 1e-16 : t < 0.6 || off > 1e-6, "t = %g: off by %g", t, off);
      if (t > 0.5) { /* a motion that does not act has no torque */
        double tau;
        sn_sim_channels(sim, s, NULL, (int[]){sn_sim_channel_find(sim, "motor.tau")}, 1, &tau,
                        NULL);
        CHECK(tau == 0, "t = %g: %g", t, tau);
      }
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* What a motion does after the last state that is asked for does not matter. */
TEST(a_jump_behind_the_end_does_no_harm) {
  const double time[] = {0, 0.1, 0.5}, value[] = {0, 0.2, 0.5};
  for (int which = 0; which < 2; which++) {
    sn_body_def a = test_link("upper", "world", "revolute");
    sn_builder *b = test_builder(&a);
    sn_motion_def motion = sn_motion_def_default();
    motion.name = "motor";
    motion.joint = "upper";
    motion.nq = 1;
    motion.q[0] = (sn_function_def){
        .key_time = time, .key_value = value, .nkey = 3, .interpolation = SN_INTERPOLATE_CUBIC};
    CHECK(sn_builder_add_motion(b, &motion) == SN_OK, "out of memory");
    sn_model *m = test_finish(b);
    const sn_options o = options_of(which ? SN_RK4 : SN_DOPRI5, 0.1, 1e-9);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 5; k++) {
      test_step(sim, s, NULL);
    }
    CHECK(fabs(sn_state_q(s)[0] - 0.5) < 1e-15, "q = %g at the last key", sn_state_q(s)[0]);
    sn_error err;
    CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_E_VALUE &&
              strstr(err.text, "jumps at t = 0.5"),
          "'%s'", err.text);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* Rates are followed and nothing puts places right afterwards, so that what is lost on the way must
 * be seen: the tip of an arm, and a joint, end where the integrals of their rates lead. */
TEST(given_rates_lead_to_the_right_place) {
  static const struct {
    const char *motion;
    double amplitude; /* of the second joint, if it follows 3 cos(20 t) */
  } way[] = {{"{body: b, at: [1, 0, 0], twist: [null, null, null, cos(2*t), null, sin(3*t)]}", 0},
             {"{joint: b, rate: 3*cos(20*t)}", 0.15}};
  for (int k = 0; k < 4; k++) {
    char text[1200];
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
             "  a: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.5, 0, 0], "
             "xx: 0.01, yy: 0.1, zz: 0.1}}\n"
             "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}, inertia: "
             "{mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"
             "  tip: {parent: b, joint: {type: fixed, at: [1, 0, 0]}}\n"
             "initial: {a: {q: -0.8}, b: {q: 1.6}}\nmotions: {hand: %s}\n",
             way[k % 2].motion);
    const double tolerance = k < 2 ? 1e-8 : 1e-11;
    stage b = stage_set(text, options_of(SN_DOPRI5, 0.01, tolerance));
    const double x = stage_channel(&b, "tip.pos.x"), z = stage_channel(&b, "tip.pos.z");
    for (int n = 1; n <= 200; n++) {
      stage_step(&b, 1);
      const double t = *sn_state_time(b.s), amplitude = way[k % 2].amplitude;
      const double off = amplitude > 0
                             ? fabs(sn_state_q(b.s)[1] - 1.6 - amplitude * sin(20 * t))
                             : hypot(stage_channel(&b, "tip.pos.x") - x - sin(2 * t) / 2,
                                     stage_channel(&b, "tip.pos.z") - z - (1 - cos(3 * t)) / 3);
      CHECK(off < 100 * tolerance, "%s, tolerance %g: off by %g at t = %g", way[k % 2].motion,
            tolerance, off, t);
    }
    stage_clear(&b);
  }
}

/* Projection puts everything onto the constraints, but not from anywhere: an arm whose tip runs
 * round a circle keeps its elbow on one side, at every tolerance. */
TEST(paths_do_not_lead_to_another_pose) {
  for (int k = 0; k < 4; k++) {
    const double tolerance = pow(10, -5 - 2 * k);
    stage b = stage_set(
        "sinew: 1\nbodies:\n"
        "  a: {joint: {type: revolute, axis: [0, -1, 0]}, inertia: {mass: 1, at: [0.5, 0, 0], xx: "
        "0.01, yy: 0.1, zz: 0.1}}\n"
        "  b: {parent: a, joint: {type: revolute, axis: [0, -1, 0], at: [1, 0, 0]}, inertia: "
        "{mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"
        "initial: {a: {q: -0.8}, b: {q: 1.6}}\n"
        "motions: {hand: {body: b, at: [1, 0, 0], point: [1.2 + 0.7*cos(20*t), 0, "
        "0.7*sin(20*t)]}}\n",
        options_of(SN_DOPRI5, 0.01, tolerance));
    for (int n = 1; n <= 200; n++) {
      stage_step(&b, 1);
      const double t = *sn_state_time(b.s), *q = sn_state_q(b.s);
      const double x = 1.2 + 0.7 * cos(20 * t), z = 0.7 * sin(20 * t);
      const double elbow = acos((x * x + z * z) / 2 - 1), shoulder = atan2(z, x) - elbow / 2;
      CHECK(fabs(q[0] - shoulder) < 1e-8 && fabs(q[1] - elbow) < 1e-8,
            "tolerance %g: (%g, %g), not (%g, %g) at t = %g", tolerance, q[0], q[1], shoulder,
            elbow, t);
    }
    stage_clear(&b);
  }
}

/* The pin of a crank is led round the circle on which it is anyway: one of the rows repeats the
 * hinge, in another direction at the end of a step than at its start. */
TEST(a_point_is_led_where_a_joint_leads_it) {
  static const char text[] =
      "sinew: 1\n"
      "bodies:\n"
      "  a: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.5, 0, 0], xx: "
      "0.01, yy: 0.1, zz: 0.1}}\n"
      "motions: {m: {body: a, at: [1, 0, 0], point: [\"cos(t)\", 0, \"-sin(t)\"]}}\n"
      "initial: {a: {qd: 1}}\n";
  for (int k = 0; k <= 2 * REDMAX_SOLVERS; k++) {
    const int solver = k / 2;
    sn_options o = solver < REDMAX_SOLVERS ? redmax_options(0.01) : stage_exact(0.01);
    o.redmax.solver = solver < REDMAX_SOLVERS ? redmax_solver[solver].option : SN_SOLVER_AUTO;
    o.redmax.integrator = k % 2 ? SN_EXTRAPOLATED : SN_EULER;
    stage b = stage_set(text, o);
    stage_step(&b, 300);
    CHECK(fabs(*sn_state_q(b.s) - 3) < 1e-9 && fabs(*sn_state_qd(b.s) - 1) < 1e-9,
          "case %d: at %.12g, with %.12g", k, *sn_state_q(b.s), *sn_state_qd(b.s));
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(motions_are_followed_to_the_last_bit),
            T(the_torque_of_a_motion_is_that_of_inverse_dynamics),
            T(what_hangs_on_a_driven_joint_moves_right),
            T(a_motion_that_takes_over_in_the_wrong_place_is_an_error), T(a_motion_can_let_go),
            T(a_jump_behind_the_end_does_no_harm), T(given_rates_lead_to_the_right_place),
            T(paths_do_not_lead_to_another_pose), T(a_point_is_led_where_a_joint_leads_it));
}
