/* Channels: every one has a name that leads back to it, and the value that the direct question has.
 */
#include "trees.h"
#include "stage.h"

static sn_model *mechanism(void) {
  sn_body_def a = test_link("t", "world", "revolute"); /* named as a channel of the whole */
  sn_body_def b = test_link("wrist", "t", "spherical");
  sn_body_def c = test_link("left/hand-2", "wrist", "fixed");
  sn_body_def d = test_link("com", "wrist", "free");
  sn_body_def e = test_link("crank", "world", "revolute");
  sn_body_def f = test_link("shaft", "crank", "universal");
  a.joint.stiffness = sn_per_dof_all(3);
  e.joint.damping = sn_per_dof_all(0.5);
  b.joint.at = c.joint.at = d.joint.at = f.joint.at = sn_pose(0.1, 0.2, -1);
  sn_builder *builder = test_builder(&a);
  const sn_body_def *const more[] = {&b, &c, &d, &e, &f};
  for (int k = 0; k < 5; k++) {
    CHECK(sn_builder_add_body(builder, more[k]) == SN_OK, "out of memory");
  }
  sn_motion_def own = sn_motion_def_default(), other = sn_motion_def_default();
  own.name = own.joint = "crank"; /* bears its joint's name */
  own.nq = 1;
  own.q[0] = (sn_function_def){.expression = "0.3*sin(t + 1)"};
  other.name = "motor";
  other.joint = "shaft";
  other.nq = 2;
  other.q[0] = (sn_function_def){.expression = "0.2*cos(t)"};
  other.q[1] = (sn_function_def){.expression = "0.1*t"};
  CHECK(!sn_builder_add_motion(builder, &own) && !sn_builder_add_motion(builder, &other),
        "out of memory");
  return test_finish(builder);
}

static const char *const expected[] = {"t",
                                       "T",
                                       "V",
                                       "E",
                                       "momentum.x",
                                       "angular_momentum.z",
                                       "com.x",
                                       "com.y",
                                       "com.z",
                                       "t.q",
                                       "t.qd",
                                       "t.qdd",
                                       "t.tau",
                                       "wrist.q0",
                                       "wrist.q2",
                                       "wrist.qd1",
                                       "wrist.tau2",
                                       "com.q5",
                                       "com.qd0",
                                       "crank.tau",
                                       "motor.tau0",
                                       "motor.tau1",
                                       "motions.motor.force0",
                                       "motions.motor.force1",
                                       "motions.crank.force",
                                       "shaft.tau0",
                                       "left/hand-2.pos.x",
                                       "left/hand-2.quat.w",
                                       "left/hand-2.reaction.tx",
                                       "com.pos.z",
                                       "com.quat.z",
                                       "wrist.reaction.fz"};

TEST(names_lead_back) {
  sn_model *m = mechanism();
  sn_sim *sim = test_sim(m, NULL);
  const int n = sn_sim_channel_count(sim);
  /* 13 of the whole; q, qd, tau, qdd for each coordinate; two of the motor, and three
   * by the names of all motions; 13 for each body */
  CHECK(n == 13 + 4 * sn_model_dof_count(m) + 2 + 3 + 13 * sn_model_body_count(m), "%d channels",
        n);
  for (int k = 0; k < n; k++) {
    char name[300];
    CHECK(sn_sim_channel_name(sim, k, name, sizeof name) == name, "channel %d has no name", k);
    CHECK(sn_sim_channel_find(sim, name) == k, "'%s' is %d, not %d", name,
          sn_sim_channel_find(sim, name), k);
  }
  for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
    CHECK(sn_sim_channel_find(sim, expected[k]) >= 0, "there is no '%s'", expected[k]);
  }
  static const char *const nothing[] = {"",
                                        "x",
                                        "t.",
                                        "t.q0",
                                        "wrist.q",
                                        "wrist.q3",
                                        "wrist.q-1",
                                        "wrist.q00",
                                        "wrist.pos",
                                        "wrist.pos.w",
                                        "nobody.q",
                                        ".q",
                                        "left/hand-2.q",
                                        "motor.q",
                                        "motor.tau",
                                        "motor.tau2",
                                        "motions.motor.force",
                                        "motions.shaft.force0",
                                        "motions.force",
                                        "crank.tau0",
                                        "e",
                                        "momentum",
                                        "t.q.x"};
  for (size_t k = 0; k < sizeof nothing / sizeof nothing[0]; k++) {
    CHECK(sn_sim_channel_find(sim, nothing[k]) == -1, "'%s' is a channel", nothing[k]);
  }
  char name[300], little[4];
  CHECK(!sn_sim_channel_name(sim, -1, name, sizeof name) &&
            !sn_sim_channel_name(sim, n, name, sizeof name),
        "out of range");
  CHECK(strcmp(sn_sim_channel_name(sim, 4, little, sizeof little), "mom") == 0, "cut to '%s'",
        little);
  double out;
  sn_error err;
  sn_state *s = test_state(m);
  CHECK(sn_sim_channels(sim, s, NULL, (int[]){n}, 1, &out, &err) == SN_E_ARGUMENT, "channel %d", n);
  char text[64];
  snprintf(text, sizeof text, "there is no channel number %d", n);
  CHECK(strcmp(err.text, text) == 0, "'%s'", err.text);
  CHECK(sn_sim_channels(sim, s, NULL, NULL, 0, NULL, &err) == SN_OK, "no channels");
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(the_usual_ones) {
  sn_model *m = mechanism();
  sn_sim *sim = test_sim(m, NULL);
  static const struct {
    const char *name;
    bool usual;
  } which[] = {{"t", true},
               {"T", true},
               {"V", true},
               {"E", true},
               {"t.q", true},
               {"wrist.qd1", true},
               {"crank.tau", true},
               {"motor.tau0", true},
               {"momentum.x", false},
               {"com.x", false},
               {"t.qdd", false},
               {"wrist.pos.x", false},
               {"wrist.quat.w", false},
               {"wrist.reaction.tx", false}};
  for (size_t k = 0; k < sizeof which / sizeof which[0]; k++) {
    const int channel = sn_sim_channel_find(sim, which[k].name);
    CHECK(sn_sim_channel_usual(sim, channel) == which[k].usual, "%s", which[k].name);
  }
  CHECK(!sn_sim_channel_usual(sim, -1), "-1");
  sn_sim_free(&sim);
  sn_model_free(&m);
}

static double read(sn_sim *sim, const sn_state *s, const sn_input *input, const char *name) {
  const int channel = sn_sim_channel_find(sim, name);
  double out = NAN;
  sn_error err;
  CHECK(channel >= 0, "there is no '%s'", name);
  CHECK(sn_sim_channels(sim, s, input, &channel, 1, &out, &err) == SN_OK, "%s", err.text);
  return out;
}

static void same(const char *name, double a, double b) {
  CHECK(fabs(a - b) <= 1e-13 * fmax(1, fabs(b)), "%s is %.17g, not %.17g", name, a, b);
}

/* Each channel alone against the direct question, then all together against each alone. */
TEST(values_are_those_of_the_direct_questions) {
  sn_model *m = mechanism();
  const sn_options o = sn_options_default();
  sn_sim *sim = test_sim(m, &o), *direct = test_sim(m, &o);
  sn_state *s = test_state(m);
  const int nv = sn_model_dof_count(m), n = sn_model_body_count(m);
  double *tau_in = random_doubles(5, nv, 2);
  const sn_input input = {.tau = tau_in};
  for (int k = 0; k < 15; k++) {
    test_step(sim, s, &input);
  }
  double *qdd = calloc((size_t)nv, sizeof *qdd), *extra = calloc((size_t)nv, sizeof *extra);
  sn_vec6 *F = calloc((size_t)n, sizeof *F);
  sn_se3 *E = calloc((size_t)n, sizeof *E);
  sn_energy energy;
  sn_error err;
  CHECK(sn_sim_forward(direct, s, &input, qdd, &err) == SN_OK, "%s", err.text);
  CHECK(sn_sim_inverse(direct, s, &input, qdd, extra, F, &err) == SN_OK, "%s", err.text);
  sn_sim_poses(direct, s, E, NULL);
  sn_sim_energy(direct, s, &energy);
  same("t", read(sim, s, &input, "t"), *sn_state_time(s));
  same("T", read(sim, s, &input, "T"), energy.kinetic);
  same("V", read(sim, s, &input, "V"), energy.potential);
  same("E", read(sim, s, &input, "E"), energy.kinetic + energy.potential);
  for (int c = 0; c < 3; c++) {
    char name[64];
    snprintf(name, sizeof name, "momentum.%c", "xyz"[c]);
    same(name, read(sim, s, &input, name), sn_vec3_get(energy.momentum, c));
    snprintf(name, sizeof name, "angular_momentum.%c", "xyz"[c]);
    same(name, read(sim, s, &input, name), sn_vec3_get(energy.angular_momentum, c));
    snprintf(name, sizeof name, "com.%c", "xyz"[c]);
    same(name, read(sim, s, &input, name), sn_vec3_get(energy.center_of_mass, c));
  }
  for (int i = 0; i < n; i++) {
    const char *body = sn_model_body_name(m, i);
    const int adr = sn_model_joint_first(m, i), dofs = sn_model_joint_dofs(m, i);
    char name[300];
    for (int k = 0; k < dofs; k++) {
      char digit[16] = "";
      if (dofs > 1) {
        snprintf(digit, sizeof digit, "%d", k);
      }
      snprintf(name, sizeof name, "%s.q%s", body, digit);
      CHECK(read(sim, s, &input, name) == sn_state_q(s)[adr + k], "%s", name);
      snprintf(name, sizeof name, "%s.qd%s", body, digit);
      CHECK(read(sim, s, &input, name) == sn_state_qd(s)[adr + k], "%s", name);
      snprintf(name, sizeof name, "%s.qdd%s", body, digit);
      same(name, read(sim, s, &input, name), qdd[adr + k]);
      /* everything that acts along the coordinate: spring, damper, input, motion */
      double tau = tau_in[adr + k] + extra[adr + k];
      tau += strcmp(body, "t") == 0 ? -3 * sn_state_q(s)[adr] : 0;
      tau += strcmp(body, "crank") == 0 ? -0.5 * sn_state_qd(s)[adr] : 0;
      snprintf(name, sizeof name, "%s.tau%s", body, digit);
      CHECK(fabs(read(sim, s, &input, name) - tau) < 1e-11, "%s is %g, not %g", name,
            read(sim, s, &input, name), tau);
      if (strcmp(body, "shaft") == 0) {
        snprintf(name, sizeof name, "motor.tau%d", k);
        CHECK(fabs(read(sim, s, &input, name) - extra[adr + k]) < 1e-11, "%s", name);
      }
    }
    const sn_quat q = sn_quat_from_mat3(E[i].R);
    const double quat[4] = {q.w, q.x, q.y, q.z};
    for (int c = 0; c < 4; c++) {
      snprintf(name, sizeof name, "%s.quat.%c", body, "wxyz"[c]);
      same(name, read(sim, s, &input, name), quat[c]);
    }
    for (int c = 0; c < 3; c++) {
      snprintf(name, sizeof name, "%s.pos.%c", body, "xyz"[c]);
      same(name, read(sim, s, &input, name), sn_vec3_get(E[i].p, c));
    }
    for (int c = 0; c < 6; c++) {
      snprintf(name, sizeof name, "%s.reaction.%c%c", body, c < 3 ? 't' : 'f', "xyz"[c % 3]);
      same(name, read(sim, s, &input, name), sn_vec6_get(F[i], c));
    }
  }
  const int count = sn_sim_channel_count(sim);
  int *channel = calloc((size_t)count, sizeof *channel);
  double *all = calloc((size_t)count, sizeof *all), one;
  for (int k = 0; k < count; k++) {
    channel[k] = k;
  }
  CHECK(sn_sim_channels(sim, s, &input, channel, count, all, &err) == SN_OK, "%s", err.text);
  for (int k = 0; k < count; k++) {
    char name[300];
    sn_sim_channels(sim, s, &input, &k, 1, &one, NULL);
    CHECK(one == all[k], "%s is %.17g alone and %.17g in company",
          sn_sim_channel_name(sim, k, name, sizeof name), one, all[k]);
  }
  free(channel);
  free(all);
  free(tau_in);
  free(qdd);
  free(extra);
  free(F);
  free(E);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_sim_free(&direct);
  sn_model_free(&m);
}

/* A quaternion that is recorded has unit length and w >= 0, whatever the rotation. */
TEST(quaternions_are_normalised) {
  const sn_body_def def = test_link("a", "world", "spherical");
  sn_model *m = test_finish(test_builder(&def));
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  uint64_t seed = 9;
  for (int k = 0; k < 200; k++) {
    for (int c = 0; c < 3; c++) {
      sn_state_q(s)[c] = test_random(&seed, -3, 3);
    }
    const double q[4] = {read(sim, s, NULL, "a.quat.w"), read(sim, s, NULL, "a.quat.x"),
                         read(sim, s, NULL, "a.quat.y"), read(sim, s, NULL, "a.quat.z")};
    const double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    CHECK(q[0] >= 0 && fabs(length - 1) < 1e-15 * 4, "(%g, %g, %g, %g)", q[0], q[1], q[2], q[3]);
    const sn_mat3 R = sn_mat3_from_quat((sn_quat){q[0], q[1], q[2], q[3]});
    const sn_mat3 exact =
        sn_so3_exp((sn_vec3){sn_state_q(s)[0], sn_state_q(s)[1], sn_state_q(s)[2]});
    for (int c = 0; c < 9; c++) {
      CHECK(fabs(R.m[c / 3][c % 3] - exact.m[c / 3][c % 3]) < 1e-14, "another rotation");
    }
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* At rest, what holds a body bears its weight, 20 N. */
TEST(constraints_tell_what_they_bear) {
  static const struct {
    const char *text, *channel;
    double value;
  } held[] = {
      {"bodies: {ball: {joint: {type: prismatic, axis: [0, 0, 1], limits: [0, 9]}, inertia: "
       "{mass: 2, xx: 1, yy: 1, zz: 1}}}\n",
       "ball.limit", 20},
      {"bodies: {ball: {joint: {type: prismatic, axis: [0, 0, -1], limits: [-9, 0]}, inertia: "
       "{mass: 2, xx: 1, yy: 1, zz: 1}}}\n",
       "ball.limit", -20},
      {"bodies: {ball: {joint: {type: free, at: [0, 0, 1]}, inertia: {mass: 2, xx: 1, yy: 1, zz: "
       "1}}}\nconstraints: {floor: {type: half_space, body: ball, radius: 1, on: {body: world}}}\n",
       "constraints.floor.force", 20},
      {"bodies: {ball: {joint: {type: translation3}, inertia: {mass: 2, xx: 1, yy: 1, zz: 1}}}\n"
       "constraints: {rope: {type: distance, a: {body: world, at: [0, 0, 3]}, b: {body: ball}}}\n",
       "constraints.rope.force", -20},
      {"bodies: {ball: {joint: {type: free}, inertia: {mass: 2, xx: 1, yy: 1, zz: 1}}}\n"
       "motions: {crane: {body: ball, twist: [0, 0, 0, 0, 0, 0]}}\n",
       "motions.crane.force5", 20},
      {"bodies: {ball: {joint: {type: free}, inertia: {mass: 2, xx: 1, yy: 1, zz: 1}}}\n"
       "loops: {nail: {type: fixed, a: {body: world}, b: {body: ball}}}\n",
       "loops.nail.reaction.fz", 20},
      /* stops that give way bear it beyond their limits */
      {"bodies: {ball: {joint: {type: prismatic, axis: [0, 0, 1], limits: [0, 9], stop: "
       "{stiffness: 1000, damping: 10}}, inertia: {mass: 2, xx: 1, yy: 1, zz: 1}}}\n"
       "initial: {ball: {q: -0.02}}\n",
       "ball.limit", 20},
      {"bodies: {ball: {joint: {type: prismatic, axis: [0, 0, -1], limits: [-9, 0], stop: "
       "{stiffness: 1000, damping: 10}}, inertia: {mass: 2, xx: 1, yy: 1, zz: 1}}}\n"
       "initial: {ball: {q: 0.02}}\n",
       "ball.limit", -20},
      {"bodies: {ball: {joint: {type: free, at: [0, 0, 0.98]}, inertia: {mass: 2, xx: 1, yy: 1, "
       "zz: "
       "1}}}\nconstraints: {floor: {type: half_space, body: ball, radius: 1, on: {body: world}, "
       "stop: {stiffness: 1000, damping: 10}}}\n",
       "constraints.floor.force", 20},
      {"bodies: {ball: {joint: {type: translation3, at: [0, 0, -0.02]}, inertia: {mass: 2, xx: 1, "
       "yy: "
       "1, zz: 1}}}\n"
       "loops: {rail: {type: prismatic, axis: [0, 0, 1], limits: [0, 9], stop: {stiffness: 1000, "
       "damping: 10}, a: {body: world}, b: {body: ball}}}\n",
       "loops.rail.limit", 20},
      {"bodies: {ball: {joint: {type: spherical, cone: {axis: [0, 0, 1], swing: 0.5}, stop: "
       "{stiffness: 200*sin(0.6), damping: 10}}, inertia: {mass: 2, at: [0, 0, 1], xx: 1, yy: 1, "
       "zz: 1}}}\ninitial: {ball: {q: [0.6, 0, 0]}}\n",
       "ball.swing", 11.292849467900707},
  };
  for (int k = 0; k < SNI_COUNT(held); k++) {
    char text[600];
    snprintf(text, sizeof text, "sinew: 1\ngravity: [0, 0, -10]\n%s", held[k].text);
    const sn_options o[] = {stage_exact(0.01), redmax_options(0.01)};
    for (int method = 0; method < 2; method++) {
      stage b = stage_set(text, o[method]);
      stage_step(&b, 3);
      const double value = read(b.sim, b.s, NULL, held[k].channel);
      CHECK(fabs(value - held[k].value) < 1e-9, "%s, method %d: %.12g", held[k].channel, method,
            value);
      for (int c = 0; c < sn_sim_channel_count(b.sim); c++) {
        char name[64];
        sn_sim_channel_name(b.sim, c, name, sizeof name);
        CHECK(sn_sim_channel_find(b.sim, name) == c, "'%s' is %d, not %d", name,
              sn_sim_channel_find(b.sim, name), c);
      }
      if (strcmp(held[k].channel, "ball.limit") == 0) {
        const int side = held[k].value > 0 ? -1 : 1;
        CHECK(read(b.sim, b.s, NULL, "ball.at_limit") == side, "at_limit, case %d", k);
      }
      stage_clear(&b);
    }
  }
}

int main(void) {
  RUN_TESTS(T(names_lead_back), T(the_usual_ones), T(values_are_those_of_the_direct_questions),
            T(quaternions_are_normalised), T(constraints_tell_what_they_bear));
}
