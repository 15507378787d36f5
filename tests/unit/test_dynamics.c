/* Dynamics, one call at a time, against what can be worked out by hand. */
#include "model/joint.h"
#include "trees.h"

#define G 9.81

typedef struct fixture {
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
} fixture;

static fixture finish(sn_builder *b) {
  fixture f = {.m = test_finish(b)};
  f.sim = test_sim(f.m, NULL);
  f.s = test_state(f.m);
  return f;
}
static void done(fixture *f) {
  sn_state_free(&f->s);
  sn_sim_free(&f->sim);
  sn_model_free(&f->m);
}

static void forward(fixture *f, const sn_input *input, double *qdd) {
  sn_error err;
  CHECK(sn_sim_forward(f->sim, f->s, input, qdd, &err) == SN_OK, "%s", err.text);
}

TEST(pendulum) {
  const sn_body_def def = test_link("a", "world", "revolute");
  fixture f = finish(test_builder(&def));
  for (double q = -4; q < 4; q += 0.3) {
    double qdd, M;
    sn_state_q(f.s)[0] = q;
    sn_state_qd(f.s)[0] = 3;
    forward(&f, NULL, &qdd);
    CHECK(fabs(qdd + 0.5 * G * sin(q) / 0.34) < 1e-14 * 20, "q = %g: %g", q, qdd);
    sn_sim_mass_matrix(f.sim, f.s, &M);
    CHECK(fabs(M - 0.34) < 1e-15, "M = %.17g", M);
    sn_energy e;
    sn_sim_energy(f.sim, f.s, &e);
    CHECK(fabs(e.kinetic - 0.5 * 0.34 * 9) < 1e-14 && fabs(e.potential + 0.5 * G * cos(q)) < 1e-14,
          "T = %g, V = %g", e.kinetic, e.potential);
    CHECK(fabs(e.momentum.x - (-1.5 * cos(q))) < 1e-14 &&
              fabs(e.angular_momentum.y - 0.34 * 3) < 1e-14,
          "momentum (%g, %g, %g)", e.momentum.x, e.momentum.y, e.momentum.z);
    CHECK(fabs(e.center_of_mass.z + 0.5 * cos(q)) < 1e-15, "centre at %g", e.center_of_mass.z);
  }
  done(&f);
}

/* Euler's equations, and the origin of a frame that is not at the centre of mass. */
TEST(free_body) {
  sn_body_def def = test_link("a", "world", "free");
  def.inertia = (sn_inertia){.mass = 3, .com = {0.2, 0.1, -0.3}, .xx = 0.4, .yy = 0.5, .zz = 0.8};
  fixture f = finish(test_builder(&def));
  const sn_vec3 w = {1.5, -0.7, 2.2}, c = def.inertia.com;
  const double qd[6] = {0.3, 0.2, 0.1, w.x, w.y, w.z}; /* r = 0 */
  memcpy(sn_state_qd(f.s), qd, sizeof qd);
  double qdd[6];
  forward(&f, NULL, qdd);
  const sn_vec3 alpha = {(0.5 - 0.8) * w.y * w.z / 0.4, (0.8 - 0.4) * w.z * w.x / 0.5,
                         (0.4 - 0.5) * w.x * w.y / 0.8};
  /* at r = 0, Jrdot rd = -[rd] rd / 2 = 0 */
  const sn_vec3 a =
      sn_vec3_sub((sn_vec3){0, 0, -G},
                  sn_vec3_add(sn_vec3_cross(alpha, c), sn_vec3_cross(w, sn_vec3_cross(w, c))));
  const double expected[6] = {a.x, a.y, a.z, alpha.x, alpha.y, alpha.z};
  CHECK(largest_difference(qdd, expected, 6) < 1e-13, "off by %g",
        largest_difference(qdd, expected, 6));
  done(&f);
}

/* A rod that hangs, with another on it: the joints carry what is below them. */
TEST(reactions_of_what_hangs) {
  sn_body_def a = test_link("a", "world", "fixed"), b = test_link("b", "a", "revolute"),
              c = test_link("c", "b", "fixed");
  b.joint.at = c.joint.at = sn_pose(0, 0, -1);
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  sn_builder_add_body(builder, &c);
  fixture f = finish(builder);
  sn_state_q(f.s)[0] = SN_PI / 2; /* b and c stick out along -x */
  double tau;
  sn_vec6 F[3];
  sn_error err;
  CHECK(sn_sim_inverse(f.sim, f.s, NULL, &(double){0}, &tau, F, &err) == SN_OK, "%s", err.text);
  /* both masses at levers 0.5 and 1.5 */
  CHECK(fabs(tau - G * (0.5 + 1.5)) < 1e-13, "held by %g", tau);
  CHECK(fabs(F[0].v.z - 3 * G) < 1e-13 && fabs(F[0].w.y - G * 2) < 1e-13, "the root carries %g, %g",
        F[0].v.z, F[0].w.y);
  /* in the frame of c, which is turned by a quarter about y: up is along its x */
  CHECK(fabs(fabs(F[2].v.x) - G) < 1e-13 && fabs(F[2].v.z) < 1e-13, "c is carried by (%g, %g, %g)",
        F[2].v.x, F[2].v.y, F[2].v.z);
  done(&f);
}

/* Joints are evaluated in runs: many equal ones side by side on a fixed body must all do the same.
 */
TEST(long_runs_of_equal_joints) {
  static const char *const kinds[] = {"revolute", "spherical", "universal",
                                      "free",     "planar",    "prismatic"};
  const int n = 3 * SNI_RUN_MAX + 5;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    sn_body_def root = test_link("root", "world", "fixed");
    root.joint.at = sn_pose_rotvec((sn_vec3){0}, (sn_vec3){0.5, 0.7, 0});
    sn_builder *b = test_builder(&root);
    for (int i = 0; i < n; i++) {
      char name[32];
      snprintf(name, sizeof name, "b%d", i);
      const sn_body_def def = test_link(name, "root", kinds[k]);
      CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
    }
    fixture f = finish(b);
    const int nv = sn_model_dof_count(f.m), each = nv / n;
    for (int i = 0; i < nv; i++) {
      sn_state_q(f.s)[i] = 0.3 + 0.2 * (i % each);
      sn_state_qd(f.s)[i] = 1 - 0.3 * (i % each);
    }
    double *qdd = random_doubles(0, nv, 0);
    forward(&f, NULL, qdd);
    for (int i = each; i < nv; i++) {
      CHECK(qdd[i] == qdd[i % each], "%s, body %d: %g, not %g", kinds[k], i / each, qdd[i],
            qdd[i % each]);
    }
    CHECK(largest(qdd, nv) > 0.1, "%s: nothing moves", kinds[k]);
    free(qdd);
    done(&f);
  }
}

/* Far from the origin of the world nothing is lost: the recursions work with differences. */
TEST(far_away_it_moves_the_same) {
  for (unsigned seed = 0; seed < 10; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 12, 0);
    sn_model *near = random_tree_build(t);
    for (int i = 0; i < t->n; i++) {
      if (t->parent[i] < 0) {
        t->body[i].joint.at.p = sn_vec3_add(t->body[i].joint.at.p, (sn_vec3){1e6, -2e6, 3e6});
      }
    }
    sn_model *far = random_tree_build(t);
    double qdd[2][128];
    for (int k = 0; k < 2; k++) {
      sn_model *m = k ? far : near;
      sn_sim *sim = test_sim(m, NULL);
      sn_state *s = random_tree_state(m, seed);
      sn_error err;
      CHECK(sn_sim_forward(sim, s, NULL, qdd[k], &err) == SN_OK, "%s", err.text);
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
    const int nv = sn_model_dof_count(near);
    const double e = largest_difference(qdd[0], qdd[1], nv) / largest(qdd[0], nv);
    CHECK(e < 1e-8, "seed %u: off by %g", seed, e);
    sn_model_free(&near);
    sn_model_free(&far);
    free(t);
  }
}

TEST(a_motion_gives_its_acceleration) {
  sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute");
  b.joint.at = sn_pose(0, 0, -1);
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  sn_motion_def motion = sn_motion_def_default();
  motion.name = "motor";
  motion.joint = "a";
  motion.nq = 1;
  motion.q[0] = (sn_function_def){.expression = "t^3"};
  sn_builder_add_motion(builder, &motion);
  fixture f = finish(builder);
  *sn_state_time(f.s) = 2;
  double qdd[2];
  forward(&f, NULL, qdd);
  CHECK(qdd[0] == 12, "%g", qdd[0]);
  /* a torque there changes nothing: the motion takes it */
  double pushed[2];
  const double tau[2] = {100, 0};
  forward(&f, &(sn_input){.tau = tau}, pushed);
  CHECK(memcmp(qdd, pushed, sizeof qdd) == 0, "%g, %g", pushed[0], pushed[1]);
  done(&f);
}

/* What hybrid dynamics prescribes counts in that call only. */
TEST(hybrid_leaves_no_trace) {
  sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute");
  b.joint.at = sn_pose(0, 0, -1);
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  sn_motion_def motion = sn_motion_def_default();
  motion.name = "motor";
  motion.joint = "a";
  motion.nq = 1;
  motion.q[0] = (sn_function_def){.expression = "sin(t)"};
  sn_builder_add_motion(builder, &motion);
  fixture f = finish(builder);
  double before[2], after[2], qdd[2] = {0, 7}, tau[2] = {0};
  const sn_joint_mode mode[2] = {SN_JOINT_FREE, SN_JOINT_PRESCRIBED};
  forward(&f, NULL, before);
  CHECK(sn_sim_hybrid(f.sim, f.s, NULL, mode, qdd, tau, NULL, NULL) == SN_OK, "hybrid failed");
  CHECK(qdd[1] == 7, "%g", qdd[1]);
  after[1] = 7;
  forward(&f, NULL, after);
  CHECK(memcmp(before, after, sizeof before) == 0, "%g, not %g", after[1], before[1]);
  done(&f);
}

/* A leaf without mass can be led, not pushed. */
TEST(bodies_without_mass) {
  sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute");
  b.joint.at = sn_pose(0, 0, -1);
  b.inertia = (sn_inertia){0};
  b.joint.armature = sn_per_dof_all(0.1); /* for the builder */
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  fixture f = finish(builder);
  sn_error err;
  CHECK(sn_sim_set(f.sim, "bodies.b.joint.armature", 0, &err) == SN_OK, "%s", err.text);
  double qdd[2] = {8, 9}, tau[2] = {0, 0};
  CHECK(sn_sim_forward(f.sim, f.s, NULL, qdd, &err) == SN_E_SINGULAR, "it was pushed");
  CHECK(strcmp(err.text, "at t = 0: 'b' has no inertia against its own motion: give the body mass "
                         "and moments of inertia, or its joint armature") == 0 &&
            strcmp(err.path, "bodies.b") == 0,
        "'%s'", err.text);
  CHECK(qdd[0] == 8 && qdd[1] == 9, "something was written");
  const sn_joint_mode led[2] = {SN_JOINT_FREE, SN_JOINT_PRESCRIBED}, pushed[2] = {SN_JOINT_FREE};
  CHECK(sn_sim_hybrid(f.sim, f.s, NULL, pushed, qdd, tau, NULL, &err) == SN_E_SINGULAR, "hybrid");
  CHECK(qdd[0] == 8 && tau[0] == 0, "something was written");
  CHECK(sn_sim_hybrid(f.sim, f.s, NULL, led, qdd, tau, NULL, &err) == SN_OK, "%s", err.text);
  CHECK(qdd[1] == 9 && tau[1] == 0, "%g, %g", qdd[1], tau[1]);
  double y[2] = {5, 5};
  CHECK(sn_sim_Minv_mul(f.sim, f.s, tau, y, &err) == SN_E_SINGULAR && y[0] == 5, "Minv");
  /* err may be NULL everywhere */
  CHECK(sn_sim_forward(f.sim, f.s, NULL, qdd, NULL) == SN_E_SINGULAR, "without err");
  CHECK(sn_sim_step(f.sim, f.s, NULL, NULL, NULL) == SN_E_SINGULAR, "without err");
  done(&f);
}

TEST(a_state_that_is_not_finite_is_named) {
  sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute");
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  fixture f = finish(builder);
  double qdd[2];
  sn_error err;
  sn_state_q(f.s)[1] = NAN;
  CHECK(sn_sim_forward(f.sim, f.s, NULL, qdd, &err) == SN_E_DIVERGED, "it was taken");
  CHECK(strcmp(err.text, "at t = 0: 'b' has a coordinate or a rate that is not finite") == 0,
        "'%s'", err.text);
  done(&f);
}

/* Inertia that is there only by rounding is none: a point mass on the axis, whatever the axis. */
TEST(rounding_is_no_inertia) {
  for (unsigned seed = 0; seed < 200; seed++) {
    uint64_t random = seed;
    sn_body_def def = test_link("pin", "world", seed % 2 ? "revolute" : "cylindrical");
    def.joint.axis = random_vec3(&random, 1);
    def.joint.at = random_pose(&random, 2, 3);
    def.inertia = (sn_inertia){.mass = 2, .com = sn_vec3_scale(def.joint.axis, 1.7)};
    fixture f = finish(test_builder(&def));
    double qdd[2];
    sn_state_q(f.s)[0] = test_random(&random, -3, 3);
    CHECK(sn_sim_forward(f.sim, f.s, NULL, qdd, NULL) == SN_E_SINGULAR, "seed %u: it turns by %g",
          seed, qdd[0]);
    done(&f);
  }
}

/* Two hinges about one axis with nothing between them: each alone would do. */
TEST(two_hinges_about_one_axis) {
  for (unsigned seed = 0; seed < 50; seed++) {
    uint64_t random = seed;
    sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute");
    a.joint.axis = b.joint.axis = random_vec3(&random, 1);
    a.joint.at = random_pose(&random, 2, 3);
    b.joint.at = sn_pose_rotvec(sn_vec3_scale(a.joint.axis, 2), (sn_vec3){0});
    a.inertia = (sn_inertia){0};
    sn_builder *builder = test_builder(&a);
    sn_builder_add_body(builder, &b);
    fixture f = finish(builder);
    double qdd[2];
    sn_error err;
    sn_state_q(f.s)[1] = test_random(&random, -3, 3);
    CHECK(sn_sim_forward(f.sim, f.s, NULL, qdd, &err) == SN_E_SINGULAR, "seed %u: %g, %g", seed,
          qdd[0], qdd[1]);
    CHECK(strcmp(err.path, "bodies.a") == 0, "'%s'", err.path);
    done(&f);
  }
}

/* Nothing can move: everything can still be asked. */
TEST(a_model_without_coordinates) {
  const sn_body_def def = test_link("a", "world", "fixed");
  fixture f = finish(test_builder(&def));
  double none = 0;
  sn_vec6 F;
  sn_error err;
  for (int k = 0; k < 2; k++) {
    sn_options o = sn_options_default();
    o.recursive.integrator = k ? SN_RK4 : SN_DOPRI5;
    sn_sim *sim = test_sim(f.m, &o);
    test_step(sim, f.s, NULL);
    sn_sim_free(&sim);
  }
  CHECK(*sn_state_time(f.s) == 0.02, "t = %g", *sn_state_time(f.s));
  CHECK(sn_sim_inverse(f.sim, f.s, NULL, &none, &none, &F, &err) == SN_OK &&
            fabs(F.v.z - G) < 1e-14,
        "%g", F.v.z);
  CHECK(sn_sim_mass_matrix(f.sim, f.s, &none) == SN_OK, "mass matrix");
  done(&f);
}

int main(void) {
  RUN_TESTS(T(pendulum), T(free_body), T(reactions_of_what_hangs), T(long_runs_of_equal_joints),
            T(far_away_it_moves_the_same), T(a_motion_gives_its_acceleration),
            T(hybrid_leaves_no_trace), T(bodies_without_mass),
            T(a_state_that_is_not_finite_is_named), T(rounding_is_no_inertia),
            T(two_hinges_about_one_axis), T(a_model_without_coordinates));
}
