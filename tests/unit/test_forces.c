/* What pushes: each kind of force against its closed form, potentials against their gradients, and
 * everything that comes from outside.
 *
 * Without gravity and at rest, inverse dynamics for qdd = 0 asks for minus the joint forces that
 * act; for a free body with r = 0 these are the force (in the joint's axes) and the torque (about
 * the body's origin). */
#include "trees.h"

static sn_builder *free_body(void) {
  const sn_body_def def = test_link("a", "world", "free");
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  return b;
}

typedef struct fixture {
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  int nv;
} fixture;

static fixture finish(sn_builder *b) {
  fixture f = {.m = test_finish(b)};
  f.sim = test_sim(f.m, NULL);
  f.s = test_state(f.m);
  f.nv = sn_model_dof_count(f.m);
  return f;
}

static void done(fixture *f) {
  sn_state_free(&f->s);
  sn_sim_free(&f->sim);
  sn_model_free(&f->m);
}

/* The joint forces that act at the state, as if everything stood still. */
static void acting(fixture *f, const sn_input *input, double *out) {
  double *zero = calloc((size_t)f->nv, sizeof *zero);
  sn_error err;
  CHECK(sn_sim_inverse(f->sim, f->s, input, zero, out, NULL, &err) == SN_OK, "%s", err.text);
  for (int k = 0; k < f->nv; k++) {
    out[k] = -out[k];
  }
  free(zero);
}

static void close_to(const char *what, double a, double b) {
  CHECK(fabs(a - b) < 1e-13 * fmax(1, fabs(b)), "%s is %.16g, not %.16g", what, a, b);
}
static void vec_close_to(const char *what, const double *a, sn_vec3 b) {
  close_to(what, a[0], b.x);
  close_to(what, a[1], b.y);
  close_to(what, a[2], b.z);
}

static sn_force_def force_of(const char *type) {
  sn_force_def f = sn_force_def_default();
  f.name = "f";
  f.type = type;
  return f;
}

static void place(sn_state *s, const double *p, const double *r) {
  memcpy(sn_state_q(s), p, 3 * sizeof *p);
  memcpy(sn_state_q(s) + 3, r, 3 * sizeof *r);
}

/* ---- springs ---- */

static sn_builder *sprung(double stiffness, double damping, double rest) {
  sn_builder *b = free_body();
  sn_force_def f = force_of("spring");
  f.a = (sn_point_def){"world", sn_pose(1, 2, 3)};
  f.b = (sn_point_def){"a", sn_pose(0.3, -0.2, 0.5)};
  f.stiffness = stiffness;
  f.damping = damping;
  f.rest_length = rest;
  CHECK(sn_builder_add_force(b, &f) == SN_OK, "out of memory");
  return b;
}

TEST(spring_between_world_and_body) {
  fixture f = finish(sprung(40, 3, 0.8));
  const double p[3] = {0.5, 0.1, -0.4}, r[3] = {0, 0, 0};
  place(f.s, p, r);
  const double qd[6] = {0.2, -0.5, 0.7, 0, 0, 0}; /* no turning: nothing gyroscopic */
  memcpy(sn_state_qd(f.s), qd, sizeof qd);
  const sn_vec3 arm = {0.3, -0.2, 0.5}, v = {0.2, -0.5, 0.7};
  const sn_vec3 dx = {p[0] + arm.x - 1, p[1] + arm.y - 2, p[2] + arm.z - 3};
  const double l = sn_vec3_norm(dx), rate = sn_vec3_dot(dx, v) / l;
  const sn_vec3 pull = sn_vec3_scale(dx, -(40 * (l - 0.8) + 3 * rate) / l);
  double tau[6];
  acting(&f, NULL, tau);
  vec_close_to("force", tau, pull);
  vec_close_to("torque", tau + 3, sn_vec3_cross(arm, pull));
  sn_energy e;
  sn_sim_energy(f.sim, f.s, &e);
  close_to("potential", e.potential, 20 * (l - 0.8) * (l - 0.8));
  done(&f);
}

TEST(springs_without_length_and_without_direction) {
  /* rest length 0: k dx + d dv, in all directions */
  fixture f = finish(sprung(40, 3, 0));
  const double p[3] = {0.5, 0.1, -0.4}, r[3] = {0, 0, 0}, here[3] = {0.7, 2.2, 2.5};
  place(f.s, p, r);
  sn_state_qd(f.s)[0] = 0.2;
  double tau[6];
  acting(&f, NULL, tau);
  vec_close_to("force", tau, (sn_vec3){-40 * (0.8 - 1) - 0.6, -40 * (-0.1 - 2), -40 * (0.1 - 3)});
  /* the ends meet */
  place(f.s, here, r);
  acting(&f, NULL, tau);
  CHECK(fabs(tau[0] + 0.6) < 1e-13 && fabs(tau[1]) < 1e-13, "(%g, %g, %g)", tau[0], tau[1], tau[2]);
  done(&f);
  f = finish(sprung(40, 3, 0.8));
  place(f.s, here, r);
  acting(&f, NULL, tau);
  CHECK(isfinite(tau[0]) && fabs(tau[0]) <= 40 * 0.8 + 1e-12, "squeezed to a point: %g", tau[0]);
  done(&f);
}

/* Left out, the rest length is the distance in the initial pose. */
TEST(rest_length_of_the_initial_pose) {
  sn_builder *b = sprung(40, 0, -1);
  sn_initial_def initial = sn_initial_def_default();
  initial.body = "a";
  initial.has_pose = true;
  initial.pose = sn_pose_rotvec((sn_vec3){0.1, 0.2, 0.3}, (sn_vec3){0.5, 0.4, -0.3});
  sn_builder_set_initial(b, &initial);
  fixture f = finish(b);
  const sn_vec3 x = sn_se3_point(initial.pose, (sn_vec3){0.3, -0.2, 0.5});
  double length = 0;
  CHECK(sn_sim_get(f.sim, "forces.f.rest_length", &length, NULL) == SN_OK, "no rest length");
  close_to("rest length", length, sn_vec3_norm(sn_vec3_sub(x, (sn_vec3){1, 2, 3})));
  double tau[6];
  acting(&f, NULL, tau);
  CHECK(largest(tau, 6) < 1e-12, "it pulls by %g at rest", largest(tau, 6));
  done(&f);
}

/* Between two free bodies nothing but the pair acts: momentum and angular momentum stay. */
TEST(springs_pull_both_ends_alike) {
  sn_body_def a = test_link("a", "world", "free"), c = test_link("c", "world", "free");
  sn_builder *b = test_builder(&a);
  CHECK(sn_builder_add_body(b, &c) == SN_OK, "out of memory");
  sn_builder_set_gravity(b, (sn_vec3){0});
  sn_force_def s = force_of("spring");
  s.a = (sn_point_def){"a", sn_pose(0.3, 0.1, 0)};
  s.b = (sn_point_def){"c", sn_pose(0, -0.4, 0.2)};
  s.stiffness = 20;
  s.damping = 2;
  s.rest_length = 0.3;
  sn_builder_add_force(b, &s);
  fixture f = finish(b);
  double *q = sn_state_q(f.s), *qd = sn_state_qd(f.s);
  for (int k = 0; k < 12; k++) {
    q[k] = 0.3 * k - 1;
    qd[k] = 0.5 - 0.1 * k;
  }
  sn_sim_set(f.sim, "run.recursive.rel_tol", 1e-12, NULL);
  sn_sim_set(f.sim, "run.recursive.abs_tol", 1e-12, NULL);
  sn_energy e0, e;
  sn_sim_energy(f.sim, f.s, &e0);
  for (int k = 0; k < 50; k++) {
    test_step(f.sim, f.s, NULL);
  }
  sn_sim_energy(f.sim, f.s, &e);
  CHECK(sn_vec3_norm(sn_vec3_sub(e.momentum, e0.momentum)) < 1e-10, "momentum");
  CHECK(sn_vec3_norm(sn_vec3_sub(e.angular_momentum, e0.angular_momentum)) < 1e-10, "angular");
  CHECK(e.kinetic + e.potential < e0.kinetic + e0.potential, "the damper takes nothing");
  done(&f);
}

/* dV/dq by central differences against the joint forces: gravity, joint springs (on the group for
 * balls), the band; all kinds of joints. */
TEST(forces_are_gradients_of_potentials) {
  const double h = 1e-5;
  for (unsigned seed = 0; seed < 30; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 10, TREE_SPRINGS | TREE_FORCES);
    t->nforce = 1;
    fixture f = {.m = random_tree_build(t)};
    f.sim = test_sim(f.m, NULL);
    f.s = random_tree_state(f.m, seed);
    f.nv = sn_model_dof_count(f.m);
    memset(sn_state_qd(f.s), 0, (size_t)f.nv * sizeof(double));
    double *tau = calloc((size_t)f.nv, sizeof *tau);
    acting(&f, NULL, tau);
    for (int k = 0; k < f.nv; k++) {
      const double q = sn_state_q(f.s)[k];
      sn_energy a, b;
      sn_state_q(f.s)[k] = q - h;
      sn_sim_energy(f.sim, f.s, &a);
      sn_state_q(f.s)[k] = q + h;
      sn_sim_energy(f.sim, f.s, &b);
      sn_state_q(f.s)[k] = q;
      const double slope = (b.potential - a.potential) / (2 * h);
      CHECK(fabs(slope + tau[k]) < 1e-7 * (1 + largest(tau, f.nv)),
            "seed %u, coordinate %d: force %g, slope %g", seed, k, tau[k], slope);
    }
    free(tau);
    done(&f);
    free(t);
  }
}

/* ---- forces and torques as functions of time ---- */

TEST(point_forces_and_torques) {
  const double p[3] = {1, 2, 3}, r[3] = {0.4, -0.8, 0.6};
  const sn_vec3 at = {0.2, 0.1, -0.3};
  const sn_mat3 R = sn_so3_exp((sn_vec3){0.4, -0.8, 0.6}),
                Jr = sn_so3_jacobian((sn_vec3){0.4, -0.8, 0.6});
  for (int which = 0; which < 4; which++) {
    const bool in_body = which % 2, torque = which / 2;
    sn_builder *b = free_body();
    sn_force_def f = force_of(torque ? "body_torque" : "point_force");
    f.body = "a";
    f.at = at;
    f.frame = in_body ? SN_FRAME_BODY : SN_FRAME_WORLD;
    f.vector[0] = sn_constant(1.5);
    f.vector[1] = (sn_function_def){.expression = "2*t"};
    f.vector[2] = (sn_function_def){.expression = "-cos(t)"};
    sn_builder_add_force(b, &f);
    fixture x = finish(b);
    place(x.s, p, r);
    *sn_state_time(x.s) = 0.7;
    const sn_vec3 given = {1.5, 1.4, -cos(0.7)};
    const sn_vec3 world = in_body ? sn_mat3_mul_vec(R, given) : given;
    const sn_vec3 body = sn_mat3_tmul_vec(R, world);
    double tau[6];
    acting(&x, NULL, tau);
    vec_close_to("force", tau, torque ? (sn_vec3){0} : world);
    /* conjugate to the rate of r: Jr^T times the torque in body axes */
    vec_close_to("torque", tau + 3, sn_mat3_tmul_vec(Jr, torque ? body : sn_vec3_cross(at, body)));
    done(&x);
  }
}

TEST(forces_act_while_they_are_active) {
  sn_builder *b = free_body();
  sn_force_def f = force_of("point_force");
  f.body = "a";
  f.vector[0] = sn_constant(1);
  f.active = (sn_function_def){.expression = "sin(t)"};
  sn_builder_add_force(b, &f);
  fixture x = finish(b);
  for (double t = 0.05; t < 10; t += 0.1) {
    double tau[6];
    *sn_state_time(x.s) = t;
    acting(&x, NULL, tau);
    CHECK(tau[0] == (sin(t) > 0), "t = %g: %g", t, tau[0]);
  }
  done(&x);
  const double never[] = {0, -1};
  for (int k = 0; k < 2; k++) {
    b = free_body();
    f.active = sn_constant(never[k]);
    sn_builder_add_force(b, &f);
    x = finish(b);
    double tau[6];
    acting(&x, NULL, tau);
    CHECK(tau[0] == 0, "active: %g acts", never[k]);
    done(&x);
  }
}

TEST(joint_torques) {
  for (int each = 0; each < 2; each++) {
    sn_body_def def = test_link("a", "world", "universal");
    sn_builder *b = test_builder(&def);
    sn_builder_set_gravity(b, (sn_vec3){0});
    sn_force_def f = force_of("joint_torque");
    f.joint = "a";
    f.ntorque = each ? 2 : 1;
    f.torque[0] = (sn_function_def){.expression = "3*t"};
    f.torque[1] = sn_constant(-2);
    sn_builder_add_force(b, &f);
    fixture x = finish(b);
    *sn_state_time(x.s) = 0.5;
    double tau[2];
    acting(&x, NULL, tau);
    close_to("first", tau[0], 1.5);
    close_to("second", tau[1], each ? -2 : 1.5);
    done(&x);
  }
}

/* ---- drag ---- */

/* A wrench -d times the twist of the centre-of-mass frame: the force acts there, the torque is
 * free. */
TEST(drag_of_the_centre_of_mass) {
  sn_body_def def = test_link("a", "world", "free");
  def.inertia.com = (sn_vec3){0.2, -0.4, 0.3};
  def.damping_angular = 0.7;
  def.damping_linear = 1.3;
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  fixture x = finish(b);
  const double qd[6] = {1, -2, 0.5, 0.6, 0.9, -0.4}; /* r = 0: rates are the twist */
  memcpy(sn_state_qd(x.s), qd, sizeof qd);
  double with[6], without[6];
  acting(&x, NULL, with);
  sn_sim_set(x.sim, "bodies.a.damping", 0, NULL);
  acting(&x, NULL, without);
  const sn_vec3 w = {0.6, 0.9, -0.4}, v = {1, -2, 0.5}, c = def.inertia.com;
  const sn_vec3 force = sn_vec3_scale(sn_vec3_add(v, sn_vec3_cross(w, c)), -1.3);
  const sn_vec3 torque = sn_vec3_add(sn_vec3_scale(w, -0.7), sn_vec3_cross(c, force));
  for (int k = 0; k < 6; k++) {
    with[k] -= without[k];
  }
  vec_close_to("force", with, force);
  vec_close_to("torque", with + 3, torque);
  done(&x);
}

/* ---- springs, dampers and drives in joints ---- */

TEST(springs_in_joints) {
  sn_body_def def = test_link("a", "world", "cylindrical");
  def.joint.stiffness = (sn_per_dof){2, {5, 7}};
  def.joint.damping = (sn_per_dof){2, {0.5, 0.2}};
  def.joint.rest = (sn_per_dof){2, {0.3, -0.1}};
  def.inertia.com = (sn_vec3){0}; /* nothing gyroscopic */
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  fixture x = finish(b);
  const double q[2] = {9, 0.4}, qd[2] = {-2, 3}; /* wound up by more than a turn */
  memcpy(sn_state_q(x.s), q, sizeof q);
  memcpy(sn_state_qd(x.s), qd, sizeof qd);
  double tau[2];
  acting(&x, NULL, tau);
  close_to("angle", tau[0], -5 * 8.7 + 0.5 * 2);
  close_to("slide", tau[1], -7 * 0.5 - 0.2 * 3);
  sn_energy e;
  sn_sim_energy(x.sim, x.s, &e);
  close_to("potential", e.potential, 0.5 * 5 * 8.7 * 8.7 + 0.5 * 7 * 0.25);
  done(&x);
}

/* About one axis a ball with a spring is a hinge with one, and it does not matter by which of its
 * rotation vectors the rotation is given. */
TEST(springs_in_balls) {
  sn_body_def def = test_link("a", "world", "spherical");
  def.joint.stiffness = sn_per_dof_all(5);
  def.joint.damping = sn_per_dof_all(0.4);
  def.inertia.com = (sn_vec3){0};
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  fixture x = finish(b);
  const sn_vec3 n = {0.6, 0, 0.8};
  for (double angle = -3; angle < 3.1; angle += 0.5) {
    for (int turn = -1; turn <= 1; turn++) {
      const double shown = angle + 2 * SN_PI * turn, rate = 1.5;
      const double q[3] = {n.x * shown, 0, n.z * shown}, qd[3] = {n.x * rate, 0, n.z * rate};
      memcpy(sn_state_q(x.s), q, sizeof q);
      memcpy(sn_state_qd(x.s), qd, sizeof qd);
      double tau[3], still[3];
      acting(&x, NULL, tau);
      sn_sim_set(x.sim, "bodies.a.joint.stiffness", 0, NULL);
      sn_sim_set(x.sim, "bodies.a.joint.damping", 0, NULL);
      acting(&x, NULL, still); /* gyroscopic forces */
      sn_sim_set(x.sim, "bodies.a.joint.stiffness", 5, NULL);
      sn_sim_set(x.sim, "bodies.a.joint.damping", 0.4, NULL);
      const double along = n.x * (tau[0] - still[0]) + n.z * (tau[2] - still[2]);
      CHECK(fabs(along - (-5 * angle - 0.4 * rate)) < 1e-12, "angle %g, shown as %g: %g", angle,
            shown, along);
      sn_energy e;
      sn_sim_energy(x.sim, x.s, &e);
      CHECK(fabs(e.potential - 2.5 * angle * angle) < 1e-12, "angle %g: V = %g", angle,
            e.potential);
    }
  }
  done(&x);
}

static sn_builder *driven(const char *type) {
  sn_body_def def = test_link("a", "world", type);
  def.inertia.com = (sn_vec3){0};
  sn_drive_def *drive = &def.joint.drive;
  drive->enabled = true;
  drive->ntarget = 1;
  drive->target[0] = (sn_function_def){.expression = "0.5*sin(2*t)"};
  drive->stiffness = sn_per_dof_all(8);
  drive->damping = sn_per_dof_all(0.6);
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  return b;
}

TEST(drives) {
  fixture x = finish(driven("revolute"));
  *sn_state_time(x.s) = 0.3;
  sn_state_q(x.s)[0] = 0.2;
  sn_state_qd(x.s)[0] = -1;
  const double target = 0.5 * sin(0.6), rate = cos(0.6);
  double tau;
  acting(&x, NULL, &tau);
  close_to("target and its own rate", tau, 8 * (target - 0.2) + 0.6 * (rate + 1));
  const double given = 1.1, given_rate = -3;
  acting(&x, &(sn_input){.drive_target = &given}, &tau);
  close_to("target from outside stands still", tau, 8 * (1.1 - 0.2) + 0.6 * 1);
  acting(&x, &(sn_input){.drive_rate = &given_rate}, &tau);
  close_to("rate from outside", tau, 8 * (target - 0.2) + 0.6 * (-3 + 1));
  acting(&x, &(sn_input){.drive_target = &given, .drive_rate = &given_rate}, &tau);
  close_to("both from outside", tau, 8 * (1.1 - 0.2) + 0.6 * (-3 + 1));
  sn_sim_set(x.sim, "bodies.a.joint.drive.max_force", 0.25, NULL);
  acting(&x, NULL, &tau);
  close_to("limit", tau, 0.25);
  acting(&x, &(sn_input){.drive_rate = &given_rate, .drive_target = &given_rate}, &tau);
  close_to("limit below", tau, -0.25);
  sn_energy e;
  sn_sim_energy(x.sim, x.s, &e);
  CHECK(e.potential == 0, "a drive stores %g", e.potential);
  done(&x);
}

/* A drive that holds a rate of its own keeps it when a target comes from outside. */
TEST(drives_with_a_rate) {
  sn_body_def def = test_link("a", "world", "revolute");
  def.inertia.com = (sn_vec3){0};
  def.joint.drive.enabled = true;
  def.joint.drive.nrate = 1;
  def.joint.drive.rate[0] = (sn_function_def){.expression = "3*t"};
  def.joint.drive.damping = sn_per_dof_all(2);
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  fixture x = finish(b);
  *sn_state_time(x.s) = 0.5;
  sn_state_qd(x.s)[0] = 1;
  double tau;
  const double target = 0;
  acting(&x, NULL, &tau);
  close_to("rate", tau, 2 * (1.5 - 1));
  acting(&x, &(sn_input){.drive_target = &target}, &tau);
  close_to("rate with a target", tau, 2 * (1.5 - 1));
  done(&x);
}

/* On a ball the limit is one for the length of the torque. */
TEST(drives_of_balls) {
  fixture x = finish(driven("spherical"));
  double tau[3];
  *sn_state_time(x.s) = 0.3;
  const double target = 0.5 * sin(0.6), rate = cos(0.6);
  acting(&x, NULL, tau); /* at r = 0 towards (target, target, target): along one axis */
  const double length = sqrt(3) * target, rates = sqrt(3) * rate;
  close_to("length", sqrt(tau[0] * tau[0] + tau[1] * tau[1] + tau[2] * tau[2]),
           8 * length + 0.6 * rates);
  sn_sim_set(x.sim, "bodies.a.joint.drive.max_force", 0.5, NULL);
  acting(&x, NULL, tau);
  close_to("limited length", sqrt(tau[0] * tau[0] + tau[1] * tau[1] + tau[2] * tau[2]), 0.5);
  done(&x);
}

/* ---- from outside ---- */

TEST(input) {
  fixture x = finish(free_body());
  const double p[3] = {1, 2, 3}, r[3] = {0.4, -0.8, 0.6};
  place(x.s, p, r);
  const sn_mat3 R = sn_so3_exp((sn_vec3){0.4, -0.8, 0.6}),
                Jr = sn_so3_jacobian((sn_vec3){0.4, -0.8, 0.6});
  const sn_vec6 wrench = {{1, 2, -3}, {4, -5, 6}};
  const double given[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  double tau[6];
  acting(&x, &(sn_input){.wrench = &wrench}, tau);
  vec_close_to("force", tau, wrench.v);
  vec_close_to("torque", tau + 3, sn_mat3_tmul_vec(Jr, sn_mat3_tmul_vec(R, wrench.w)));
  acting(&x, &(sn_input){.tau = given}, tau);
  for (int k = 0; k < 6; k++) {
    close_to("joint force", tau[k], given[k]);
  }
  acting(&x, &(sn_input){.tau = NULL}, tau);
  CHECK(largest(tau, 6) == 0, "an empty input pushes");
  done(&x);
}

typedef struct seen {
  int calls;
  double t, q, qd;
  sn_se3 E;
  sn_vec6 phi;
} seen;

static void look_and_push(const sn_force_context *c, void *user) {
  seen *s = user;
  s->calls++;
  s->t = c->t;
  s->q = c->q[0];
  s->qd = c->qd[0];
  s->E = c->E_wb[c->nbody - 1];
  s->phi = c->phi[c->nbody - 1];
  c->wrench[c->nbody - 1].v.y += 2;
  c->wrench[c->nbody - 1].w.z += 3;
  c->tau[c->nv - 1] += 5;
}

TEST(a_users_force) {
  sn_body_def a = test_link("a", "world", "revolute"), c = test_link("c", "a", "free");
  sn_builder *b = test_builder(&a);
  CHECK(sn_builder_add_body(b, &c) == SN_OK, "out of memory");
  fixture x = finish(b);
  seen s = {0};
  for (int k = 0; k < 7; k++) {
    sn_state_q(x.s)[k] = 0.1 * k + 0.2;
    sn_state_qd(x.s)[k] = 0.3 - 0.1 * k;
  }
  *sn_state_time(x.s) = 4;
  double with[7], without[7], other[7];
  acting(&x, NULL, without);
  sn_sim_set_force(x.sim, look_and_push, &s);
  acting(&x, NULL, with);
  sn_se3 E[2];
  sn_vec6 phi[2];
  sn_sim_poses(x.sim, x.s, E, phi);
  CHECK(s.calls == 1 && s.t == 4 && s.q == 0.2 && s.qd == 0.3, "%d calls, t = %g", s.calls, s.t);
  CHECK(memcmp(&s.E, &E[1], sizeof E[1]) == 0, "another pose");
  const sn_vec6 world = sn_vec6_sub(s.phi, sn_vec6_rotate(E[1].R, phi[1]));
  CHECK(sqrt(sn_vec6_dot(world, world)) < 1e-15, "another twist");
  /* the same through the input */
  sn_sim_set_force(x.sim, NULL, NULL);
  const sn_vec6 wrench[2] = {[1] = {{0, 0, 3}, {0, 2, 0}}};
  const double tau[7] = {0, 0, 0, 0, 0, 0, 5};
  acting(&x, &(sn_input){.wrench = wrench, .tau = tau}, other);
  CHECK(largest_difference(with, other, 7) < 1e-13, "it pushes otherwise");
  CHECK(largest_difference(with, without, 7) > 1, "it does not push");
  done(&x);
}

int main(void) {
  RUN_TESTS(T(spring_between_world_and_body), T(springs_without_length_and_without_direction),
            T(rest_length_of_the_initial_pose), T(springs_pull_both_ends_alike),
            T(forces_are_gradients_of_potentials), T(point_forces_and_torques),
            T(forces_act_while_they_are_active), T(joint_torques), T(drag_of_the_centre_of_mass),
            T(springs_in_joints), T(springs_in_balls), T(drives), T(drives_with_a_rate),
            T(drives_of_balls), T(input), T(a_users_force));
}
