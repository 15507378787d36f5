/* The method `redmax` step by step: its order, what it keeps, what it forgets, and what a state and
 * a sim promise. */
#include "heap.h"
#include "redmax.h"
#include "vectors.h"

/* ---- a machine with a bit of everything, all of it smooth ---- */

static sn_function_def wave(const char *expression) {
  sn_function_def def = sn_constant(0);
  def.expression = expression;
  return def;
}

typedef struct choice {
  bool time; /* functions of time: else the machine is left to itself */
} choice;

/* A hinged base with a ball joint, a universal joint and a driven slider on it, and a free body
 * that springs hold between them and the ground. */
static sn_model *machine(choice c) {
  sn_body_def base = test_link("base", "world", "revolute");
  sn_body_def arm = test_link("arm", "base", "spherical");
  sn_body_def hand = test_link("hand", "arm", "universal");
  sn_body_def slide = test_link("slide", "base", "prismatic");
  sn_body_def weight = test_link("weight", "world", "free");
  arm.joint.at = hand.joint.at = sn_pose(0, 0, -1);
  arm.joint.stiffness = sn_per_dof_all(4);
  arm.joint.damping = sn_per_dof_all(0.3);
  arm.joint.rest = (sn_per_dof){3, {0.4, -0.2, 0.1}};
  arm.joint.armature = (sn_per_dof){3, {0.1, 0.2, 0.05}};
  hand.joint.damping = sn_per_dof_all(0.1);
  hand.joint.armature = sn_per_dof_all(0.05);
  hand.damping_angular = 0.1;
  hand.damping_linear = 0.3;
  slide.joint.at = sn_pose(0.3, 0, -0.2);
  slide.joint.axis = (sn_vec3){1, 0, 0};
  slide.joint.drive.enabled = true;
  slide.joint.drive.ntarget = 1;
  slide.joint.drive.target[0] = c.time ? wave("0.2*sin(5*t)") : sn_constant(0.2);
  slide.joint.drive.stiffness = sn_per_dof_all(60);
  slide.joint.drive.damping = sn_per_dof_all(2);
  weight.damping_linear = 0.2;
  sn_builder *b = test_builder(&base);
  const sn_body_def *rest[] = {&arm, &hand, &slide, &weight};
  for (int k = 0; k < 4; k++) {
    CHECK(sn_builder_add_body(b, rest[k]) == SN_OK, "out of memory");
  }
  const sn_vec3 tip = {0, 0.1, -0.9}, side = {0.4, 0, 0}, zero = {0, 0, 0};
  const sn_force_def spring[] = {
      spring_def("s1", "hand", tip, "weight", side, 2, 0.1, 0.4),
      spring_def("s2", "slide", side, "arm", tip, 8, 0.4, 0.3),
      spring_def("s3", NULL, (sn_vec3){1, 1, 1}, "weight", zero, 3, 0.2, 0),
      spring_def("s4", NULL, (sn_vec3){1, -1, -1}, "hand", tip, 4, 0.1, 1)};
  for (int k = 0; k < 4; k++) {
    CHECK(sn_builder_add_force(b, &spring[k]) == SN_OK, "out of memory");
  }
  sn_force_def push = sn_force_def_default();
  push.name = "push";
  push.type = "point_force";
  push.body = "hand";
  push.at = tip;
  push.frame = SN_FRAME_BODY;
  push.vector[0] = c.time ? wave("3*cos(7*t)") : sn_constant(3);
  CHECK(sn_builder_add_force(b, &push) == SN_OK, "out of memory");
  const sn_initial_def start[] = {
      {.body = "base", .q = sn_per_dof_all(0.5)},
      {.body = "arm", .q = {3, {0.3, 0.2, -0.4}}, .qd = {3, {1, -1, 2}}},
      {.body = "hand", .qd = sn_per_dof_all(1)},
      {.body = "weight", .q = {6, {1, 0.4, 0.3, 0.1, 0.2, 0.3}}, .qd = {6, {0, 0.2, 0, 2, 1, -1}}}};
  for (int k = 0; k < 4; k++) {
    CHECK(sn_builder_set_initial(b, &start[k]) == SN_OK, "out of memory");
  }
  return test_finish(b);
}

/* q and qd after T, in a new array of 2 nv */
static double *run(const sn_model *m, const sn_options *o, double T) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  const int nv = sn_model_dof_count(m), steps = (int)lround(T / o->step);
  for (int k = 0; k < steps; k++) {
    redmax_step(sim, s, NULL);
  }
  double *y = calloc(2 * (size_t)nv, sizeof *y);
  memcpy(y, sn_state_q(s), (size_t)nv * sizeof *y);
  memcpy(y + nv, sn_state_qd(s), (size_t)nv * sizeof *y);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return y;
}

static sn_options exact_options(double T) {
  sn_options o = sn_options_default();
  o.step = T;
  o.recursive.rel_tol = o.recursive.abs_tol = 1e-12;
  return o;
}

/* ---- order ---- */

/* The error is proportional to h for Euler and to h^2 for extrapolation, whatever the tangent, the
 * inertia and the solver, with functions of time and without.  Measured between T/512 and T/1024,
 * where the ratio is within a tenth of a power of two. */
TEST(the_order_of_the_integrators) {
  const double T = 0.5;
  print_message("  integrator inertia    tangent   time  error     order\n");
  for (int time = 0; time < 2; time++) {
    sn_model *m = machine((choice){.time = time});
    const int nv = sn_model_dof_count(m);
    const sn_options fine = exact_options(T);
    double *exact = run(m, &fine, T);
    for (int k = 0; k < 12; k++) {
      const bool second = k >= 6;
      sn_options o = redmax_options(T / 512);
      o.redmax.integrator = second ? SN_EXTRAPOLATED : SN_EULER;
      o.redmax.tangent = (sn_tangent)(k % 3);
      o.redmax.inertia = k / 3 % 2 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
      double *coarse = run(m, &o, T);
      o.step /= 2;
      double *half = run(m, &o, T);
      const double e[2] = {largest_difference(coarse, exact, 2 * nv),
                           largest_difference(half, exact, 2 * nv)};
      const double order = log2(e[0] / e[1]), expected = second ? 2 : 1;
      print_message("  %-10s %-10s %-8s  %-4s  %.1e   %.2f\n", second ? "extrapolated" : "euler",
                    o.redmax.inertia == SN_INERTIA_PAPER ? "paper" : "projected",
                    ((const char *[]){"clamped", "material", "exact"})[o.redmax.tangent],
                    time ? "yes" : "no", e[1], order);
      CHECK(fabs(order - expected) < tol(0.1), "the order is %g, not %g", order, expected);
      CHECK(e[1] < tol(second ? 1e-3 : 0.1), "the error is %g", e[1]);
      free(coarse);
      free(half);
    }
    free(exact);
    sn_model_free(&m);
  }
}

/* Every kind of joint, springs and dampers in them, armature, drag and forces: halving the step
 * halves the distance to the exact motion (extrapolation: a quarter), so nothing is missing. */
TEST(random_trees_converge_to_the_exact_motion) {
  const double T = 0.02;
  for (unsigned seed = 0; seed < 18; seed++) {
    random_tree tree;
    random_tree_make(&tree, seed, 8, TREE_ALL);
    sn_model *m = random_tree_build(&tree);
    const int nv = sn_model_dof_count(m);
    sn_state *start = random_tree_state(m, seed + 5);
    for (int k = 0; k < 3; k++) {
      double y[3][128];
      CHECK(2 * nv <= 128, "%d coordinates", nv);
      for (int level = 0; level < 3; level++) { /* exact, coarse, fine */
        sn_options o = exact_options(T);
        if (level > 0) {
          o = redmax_options(T / (32 * level));
          o.redmax.integrator = k == 2 ? SN_EXTRAPOLATED : SN_EULER;
          o.redmax.inertia = k == 1 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
        }
        sn_sim *sim = test_sim(m, &o);
        sn_state *s = NULL;
        CHECK(sn_state_clone(start, &s) == SN_OK, "out of memory");
        for (int n = 0; n < (level > 0 ? 32 * level : 1); n++) {
          redmax_step(sim, s, NULL);
        }
        memcpy(y[level], sn_state_q(s), (size_t)nv * sizeof(double));
        memcpy(y[level] + nv, sn_state_qd(s), (size_t)nv * sizeof(double));
        sn_state_free(&s);
        sn_sim_free(&sim);
      }
      const double coarse = largest_difference(y[1], y[0], 2 * nv);
      const double fine = largest_difference(y[2], y[0], 2 * nv);
      CHECK(fine < (k == 2 ? 0.3 : 0.58) * coarse, "seed %u, %s: the error goes from %g to %g",
            seed, ((const char *[]){"euler", "euler, paper", "extrapolated"})[k], coarse, fine);
    }
    sn_state_free(&start);
    sn_model_free(&m);
  }
}

/* ---- drag ---- */

/* A falling, turning ball:  m (v1 - v) = h (m g - d v1),  I (w1 - w) = -h d w1, to the last digit,
 * and stable where d h / m is a million. */
TEST(drag_is_implicit) {
  static const double drag[] = {0.1, 10, 1e8};
  for (int k = 0; k < 3; k++) {
    for (int side = 0; side < 2; side++) {
      const double h = 0.01, m = 2, I = 0.3;
      sn_body_def ball = test_link("ball", "world", "free");
      ball.inertia = (sn_inertia){.mass = m, .xx = I, .yy = I, .zz = I};
      ball.damping_linear = ball.damping_angular = drag[k];
      sn_builder *b = test_builder(&ball);
      sn_model *model = test_finish(b);
      sn_options o = redmax_options(h);
      o.redmax.inertia = side ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
      sn_sim *sim = test_sim(model, &o);
      sn_state *s = test_state(model);
      double v = 3, w = 2;
      sn_state_qd(s)[2] = v;
      sn_state_qd(s)[5] = w;
      for (int n = 0; n < 100; n++) {
        redmax_step(sim, s, NULL);
        v = (m * v - h * m * 9.81) / (m + h * drag[k]);
        w = I * w / (I + h * drag[k]);
      }
      CHECK(fabs(sn_state_qd(s)[2] - v) < 1e-12 * fmax(fabs(v), 1e-3), "drag %g: v is %g, not %g",
            drag[k], sn_state_qd(s)[2], v);
      CHECK(fabs(sn_state_qd(s)[5] - w) < 1e-12 * fmax(fabs(w), 1e-3), "drag %g: w is %g, not %g",
            drag[k], sn_state_qd(s)[5], w);
      sn_state_free(&s);
      sn_sim_free(&sim);
      sn_model_free(&model);
    }
  }
}

/* ---- drives ---- */

static void set_drive(sn_joint_def *joint, double target, double stiffness, double damping) {
  joint->drive.enabled = true;
  joint->drive.ntarget = 1;
  joint->drive.target[0] = sn_constant(target);
  joint->drive.stiffness = sn_per_dof_all(stiffness);
  joint->drive.damping = sn_per_dof_all(damping);
}

static sn_model *lift_model(double k, double d, double most) {
  sn_body_def lift = test_link("lift", "world", "prismatic");
  lift.joint.axis = (sn_vec3){0, 0, 1};
  set_drive(&lift.joint, 1, k, d);
  lift.joint.drive.max_force = sn_per_dof_all(most);
  return test_finish(test_builder(&lift));
}

/* A lift that is too weak falls with what is missing; one that is strong enough arrives and stays,
 * without a tremor, at any stiffness: k h^2/m from 1e-1 to 1e5. */
TEST(drives_give_what_they_have) {
  const double h = 0.01, g = 9.81;
  for (int power = 3; power <= 9; power += 2) {
    for (int strong = 0; strong < 2; strong++) {
      const double k = pow(10, power), most = strong ? 15 : 4;
      sn_model *model = lift_model(k, 0.2 * k, most);
      const sn_options o = redmax_options(h);
      sn_sim *sim = test_sim(model, &o);
      sn_state *s = test_state(model);
      double top = 0;
      for (int n = 0; n < 400; n++) {
        redmax_step(sim, s, NULL);
        const double v = sn_state_qd(s)[0], q = sn_state_q(s)[0];
        if (!strong) {
          const double fall = (n + 1) * h * (most - g);
          CHECK(fabs(v - fall) < 1e-10, "k = %g, step %d: v is %g, not %g", k, n, v, fall);
        }
        top = fmax(top, q);
      }
      if (strong) {
        const double q = sn_state_q(s)[0], at = 1 - g / k;
        print_message("  k = %.0e: at %.6f, should be at %.6f; rate %.1g\n", k, q, at,
                      sn_state_qd(s)[0]);
        CHECK(fabs(q - at) < 1e-6 && fabs(sn_state_qd(s)[0]) < 1e-6,
              "k = %g: it is at %g with a rate of %g, and should stand at %g", k, q,
              sn_state_qd(s)[0], at);
        CHECK(top < at + 1e-9, "k = %g: it went %g too far", k, top - at);
      }
      sn_state_free(&s);
      sn_sim_free(&sim);
      sn_model_free(&model);
    }
  }
}

/* Between the limits and at them it is the same drive as elsewhere: with little damping it swings
 * about its target between full power up and down, and falling steps come to that motion. */
TEST(drives_at_their_limits_converge) {
  sn_model *model = lift_model(1e4, 100, 15);
  sn_options o = exact_options(0.01);
  double *exact = run(model, &o, 1.5), error[2];
  for (int level = 0; level < 2; level++) {
    o = redmax_options(level ? 0.0005 : 0.002);
    double *y = run(model, &o, 1.5);
    error[level] = largest_difference(y, exact, 2);
    free(y);
  }
  print_message("  error %.1e at 2 ms, %.1e at 0.5 ms\n", error[0], error[1]);
  CHECK(error[1] < 0.4 * error[0] && error[1] < 0.05, "the error goes from %g to %g", error[0],
        error[1]);
  free(exact);
  sn_model_free(&model);
}

/* One coordinate of a joint at its limit does not make its neighbour explicit. */
TEST(drives_saturate_one_coordinate_at_a_time) {
  sn_body_def arm = test_link("arm", "world", "universal");
  set_drive(&arm.joint, 0.5, 1e6, 1e3);
  arm.joint.drive.max_force = (sn_per_dof){2, {0.1, 1e9}};
  sn_model *model = test_finish(test_builder(&arm));
  const sn_options o = redmax_options(0.01);
  sn_sim *sim = test_sim(model, &o);
  sn_state *s = test_state(model);
  for (int n = 0; n < 200; n++) {
    redmax_step(sim, s, NULL);
    if (n > 20) {
      CHECK(fabs(sn_state_q(s)[1] - 0.5) < 1e-2, "step %d: the strong axis is at %g, not at 0.5", n,
            sn_state_q(s)[1]);
    }
  }
  CHECK(fabs(sn_state_q(s)[0]) < 0.4, "the weak axis got to %g", sn_state_q(s)[0]);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&model);
}

/* ---- momentum ---- */

/* A free body with arms that swing, joint springs, and springs between the arms; no gravity. */
static sn_model *floating_tree(const char *root_joint) {
  sn_body_def root = test_link("root", "world", root_joint);
  sn_body_def left = test_link("left", "root", "revolute");
  sn_body_def right = test_link("right", "root", "spherical");
  sn_body_def tip = test_link("tip", "right", "universal");
  left.joint.at = sn_pose(0.3, 0, 0);
  right.joint.at = sn_pose(-0.3, 0.1, 0);
  tip.joint.at = sn_pose(0, 0, -1);
  tip.joint.stiffness = sn_per_dof_all(3);
  tip.joint.damping = sn_per_dof_all(0.1);
  sn_builder *b = test_builder(&root);
  CHECK(!sn_builder_add_body(b, &left) && !sn_builder_add_body(b, &right) &&
            !sn_builder_add_body(b, &tip),
        "out of memory");
  const sn_force_def band =
      spring_def("band", "left", (sn_vec3){0, 0, -1}, "tip", (sn_vec3){0, 0, -0.5}, 40, 0.2, 0.3);
  CHECK(!sn_builder_add_force(b, &band), "out of memory");
  sn_builder_set_gravity(b, (sn_vec3){0, 0, 0});
  const sn_initial_def start[] = {{.body = "left", .qd = sn_per_dof_all(3)},
                                  {.body = "right", .q = {3, {0.2, 0.3, 0}}, .qd = {3, {1, 2, 1}}},
                                  {.body = "root", .qd = {6, {0.4, -0.3, 0.2, 1, -2, 0.5}}}};
  for (int k = 0; k < 3; k++) {
    CHECK(!sn_builder_set_initial(b, &start[k]), "out of memory");
  }
  return test_finish(b);
}

/* Linear momentum is kept to rounding, and energy is not gained; what angular momentum loses in
 * a second falls with the step. */
TEST(momentum_of_a_floating_tree) {
  static const char *const roots[] = {"free", "free_rt"};
  for (int k = 0; k < 2; k++) {
    sn_model *m = floating_tree(roots[k]);
    double angular[3];
    for (int level = 0; level < 3; level++) {
      const double h = 0.01 / (1 << level);
      const sn_options o = redmax_options(h);
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      sn_energy start, now;
      sn_sim_energy(sim, s, &start);
      const double energy = start.kinetic + start.potential;
      angular[level] = 0;
      for (int n = 0; n < 100 << level; n++) {
        redmax_step(sim, s, NULL);
        sn_sim_energy(sim, s, &now);
        const double lost = sn_vec3_norm(sn_vec3_sub(now.momentum, start.momentum));
        CHECK(lost < 1e-11, "%s, h = %g, step %d: momentum is off by %g", roots[k], h, n, lost);
        CHECK(now.kinetic + now.potential < energy * (1 + 1e-12), "%s, h = %g, step %d: energy %g",
              roots[k], h, n, now.kinetic + now.potential);
        angular[level] =
            fmax(angular[level],
                 sn_vec3_norm(sn_vec3_sub(now.angular_momentum, start.angular_momentum)));
      }
      print_message("  %-7s h = %.4f: angular momentum within %.3f of %.3f\n", roots[k], h,
                    angular[level], sn_vec3_norm(start.angular_momentum));
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
    CHECK(angular[2] < 0.35 * angular[0], "%s: the error goes from %g to %g", roots[k], angular[0],
          angular[2]);
    sn_model_free(&m);
  }
}

/* ---- turning ---- */

/* A free body without forces that turns by up to 30 radians a step about the axis that is not
 * stable: it never gains energy. */
TEST(tumbling_is_stable_at_any_step) {
  static const sn_inertia bodies[] = {
      {.mass = 1, .xx = 1, .yy = 2, .zz = 2.9},     /* like a book       */
      {.mass = 1, .xx = 1e-3, .yy = 1, .zz = 1},    /* like a needle     */
      {.mass = 1, .xx = 0, .yy = 1, .zz = 1},       /* without thickness */
      {.mass = 1, .xx = 1, .yy = 1.0001, .zz = 2}}; /* like a disc       */
  for (int k = 0; k < 4; k++) {
    for (int frame = 0; frame < 2; frame++) {
      const sn_se3 E = {sn_so3_exp((sn_vec3){0.3 * frame, -0.7 * frame, 0.4 * frame}), {0, 0, 0}};
      sn_body_def body = test_link("body", "world", "free");
      body.inertia = sn_inertia_transform(E, bodies[k]);
      body.joint.armature =
          bodies[k].xx > 0 ? sn_per_dof_all(0) : (sn_per_dof){6, {0, 0, 0, 1e-9, 1e-9, 1e-9}};
      sn_builder *b = test_builder(&body);
      sn_builder_set_gravity(b, (sn_vec3){0, 0, 0});
      sn_model *m = test_finish(b);
      for (double turn = 0.1; turn < 40; turn *= 3) {
        const sn_options o = redmax_options(0.1);
        sn_sim *sim = test_sim(m, &o);
        sn_state *s = test_state(m);
        const sn_vec3 w = sn_mat3_mul_vec(E.R, (sn_vec3){0.02, 1, 0.01});
        memcpy(sn_state_qd(s) + 3, (double[3]){10 * turn * w.x, 10 * turn * w.y, 10 * turn * w.z},
               3 * sizeof(double));
        const double start = redmax_energy(sim, s);
        double most = 0;
        for (int n = 0; n < 500; n++) {
          redmax_step(sim, s, NULL);
          most = fmax(most, redmax_energy(sim, s) / start);
        }
        CHECK(most < 1 + 1e-9, "body %d, frame %d, %g rad a step: energy rises by %g of it", k,
              frame, turn, most - 1);
        sn_state_free(&s);
        sn_sim_free(&sim);
      }
      sn_model_free(&m);
    }
  }
}

/* ---- states ---- */

static const struct {
  const char *name;
  sn_implicit integrator;
  sn_inertia_term inertia;
} way[] = {{"euler", SN_EULER, SN_INERTIA_PROJECTED},
           {"euler, paper", SN_EULER, SN_INERTIA_PAPER},
           {"extrapolated", SN_EXTRAPOLATED, SN_INERTIA_PROJECTED}};
enum { WAYS = sizeof way / sizeof way[0] };

static sn_options way_options(int k, int solver) {
  sn_options o = redmax_options(0.01);
  o.redmax.integrator = way[k].integrator;
  o.redmax.inertia = way[k].inertia;
  o.redmax.solver = redmax_solver[solver].option;
  return o;
}

static void steps(sn_sim *sim, sn_state *s, int n) {
  for (int k = 0; k < n; k++) {
    redmax_step(sim, s, NULL);
  }
}

/* Resumed from a file, in another sim, a run goes on to the same bits. */
TEST(saved_states_resume_to_the_bit) {
  sn_model *m = machine((choice){.time = true});
  for (int k = 0; k < WAYS; k++) {
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      const sn_options o = way_options(k, solver);
      if (!redmax_takes(m, solver, &o)) {
        continue;
      }
      char path[64];
      snprintf(path, sizeof path, "test_redmax.%d.%d.state", k, solver);
      sn_error err;
      sn_sim *sim = test_sim(m, &o), *other = test_sim(m, &o);
      sn_state *s = test_state(m), *again = NULL;
      steps(sim, s, 20);
      CHECK(sn_state_save(s, path, &err) == SN_OK, "%s", err.text);
      CHECK(sn_state_load(m, path, &again, &err) == SN_OK, "%s", err.text);
      remove(path);
      steps(sim, s, 20);
      steps(other, again, 20);
      CHECK(sn_state_equal(s, again), "%s, %s: another motion after loading", way[k].name,
            redmax_solver[solver].name);
      sn_state_free(&s);
      sn_state_free(&again);
      sn_sim_free(&sim);
      sn_sim_free(&other);
    }
  }
  sn_model_free(&m);
}

TEST(steps_allocate_nothing) {
  sn_model *m = machine((choice){.time = true});
  for (int k = 0; k < WAYS; k++) {
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      const sn_options o = way_options(k, solver);
      if (!redmax_takes(m, solver, &o)) {
        continue;
      }
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      heap_watch(0);
      steps(sim, s, 10);
      const sn_grab_def hand = {.body = 1, .stiffness = 1e4, .damping = 10};
      CHECK(sn_sim_grab(sim, s, &hand, NULL) == SN_OK, "not held");
      steps(sim, s, 10);
      const long calls = heap_stop();
      CHECK(calls == 0, "%s, %s: %ld calls of the allocator in 20 steps", way[k].name,
            redmax_solver[solver].name, calls);
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
  }
  sn_model_free(&m);
}

/* q, qd and t say all: a new state with the same ones goes on to the same bits, changed or not. */
TEST(nothing_is_hidden_in_a_state) {
  sn_model *m = machine((choice){.time = true});
  const size_t bytes = (size_t)sn_model_dof_count(m) * sizeof(double);
  for (int k = 0; k < WAYS; k++) {
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      const sn_options o = way_options(k, solver);
      if (!redmax_takes(m, solver, &o)) {
        continue;
      }
      sn_sim *sim = test_sim(m, &o);
      for (int what = 0; what < 4; what++) { /* nothing is changed, q, qd, t */
        sn_state *s = test_state(m), *fresh = test_state(m);
        steps(sim, s, 10);
        if (what > 0) {
          *(what == 1   ? &sn_state_q(s)[1]
            : what == 2 ? &sn_state_qd(s)[1]
                        : sn_state_time(s)) += 0.01;
        }
        memcpy(sn_state_q(fresh), sn_state_q(s), bytes);
        memcpy(sn_state_qd(fresh), sn_state_qd(s), bytes);
        *sn_state_time(fresh) = *sn_state_time(s);
        steps(sim, s, 1);
        steps(sim, fresh, 1);
        /* times differ in the last digit: one counts steps, the other begins anew */
        const double apart =
            largest_difference(sn_state_qd(s), sn_state_qd(fresh), sn_model_dof_count(m));
        CHECK(apart < 1e-12, "%s, %s, change %d: %g apart from a new state", way[k].name,
              redmax_solver[solver].name, what, apart);
        sn_state_free(&s);
        sn_state_free(&fresh);
      }
      sn_sim_free(&sim);
    }
  }
  sn_model_free(&m);
}

/* A sim keeps the kinematics of the last step for the next one.  Whatever it was asked in between,
 * it goes on to the same bits as one that has never seen this state. */
TEST(steps_do_not_depend_on_what_a_sim_did_before) {
  for (unsigned seed = 0; seed < 12; seed++) {
    random_tree tree;
    random_tree_make(&tree, seed, seed % 2 ? 64 : 7, TREE_ALL);
    sn_model *m = random_tree_build(&tree);
    sn_options o = redmax_options(0.005);
    o.redmax.integrator = seed % 3 == 2 ? SN_EXTRAPOLATED : SN_EULER;
    double *qdd = random_doubles(0, sn_model_dof_count(m), 0);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = random_tree_state(m, seed), *other = random_tree_state(m, seed + 100);
    sn_state *again = random_tree_state(m, seed);
    for (int k = 0; k < 8; k++) {
      sn_sim *fresh = test_sim(m, &o);
      sn_energy e;
      if (k == 2 || k == 5) {
        sn_sim_energy(sim, k == 2 ? other : s, &e);
      }
      if (k == 3 || k == 6) {
        CHECK(sn_sim_forward(sim, k == 3 ? other : s, NULL, qdd, NULL) == SN_OK, "no forward");
      }
      if (k == 4) { /* the same place, other rates */
        sn_state_copy(other, s);
        sn_state_qd(other)[0] += 1;
        sn_sim_energy(sim, other, &e);
      }
      redmax_step(sim, s, NULL);
      redmax_step(fresh, again, NULL);
      CHECK(sn_state_equal(s, again), "seed %u, step %d: other bits in a new sim", seed, k);
      sn_sim_free(&fresh);
    }
    free(qdd);
    sn_state_free(&s);
    sn_state_free(&other);
    sn_state_free(&again);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* ---- failures ---- */

static void push_to_nowhere(const sn_force_context *c, void *user) {
  c->tau[0] += *(double *)user;
}

TEST(a_failed_step_leaves_the_state) {
  sn_model *m = machine((choice){.time = false});
  for (int k = 0; k < WAYS; k++) {
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      const sn_options o = way_options(k, solver);
      if (!redmax_takes(m, solver, &o)) {
        continue;
      }
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m), *before = NULL;
      double push = 0;
      sn_error err = {0};
      sn_sim_set_force(sim, push_to_nowhere, &push);
      steps(sim, s, 5);
      CHECK(sn_state_clone(s, &before) == SN_OK, "out of memory");
      push = NAN;
      const sn_status status = sn_sim_step(sim, s, NULL, NULL, &err);
      CHECK(status == SN_E_DIVERGED, "%s, %s: %s", way[k].name, redmax_solver[solver].name,
            sn_status_text(status));
      CHECK(strlen(err.text) > 10, "nothing is said");
      CHECK(sn_state_equal(s, before), "%s, %s: the state has changed", way[k].name,
            redmax_solver[solver].name);
      push = 0;
      steps(sim, s, 1);
      steps(sim, before, 1);
      CHECK(sn_state_equal(s, before), "%s, %s: it goes on in another way", way[k].name,
            redmax_solver[solver].name);
      sn_state_free(&s);
      sn_state_free(&before);
      sn_sim_free(&sim);
    }
  }
  sn_model_free(&m);
}

/* A solver that may not iterate enough: accepted with a word, refused with the state as it was, or
 * refused after smaller steps have not helped. */
TEST(solves_that_do_not_converge) {
  sn_model *m = machine((choice){.time = false});
  const size_t bytes = (size_t)sn_model_dof_count(m) * sizeof(double);
  static const sn_unconverged wish[] = {SN_ACCEPT, SN_STOP, SN_RETRY};
  for (int k = 0; k < WAYS; k++) {
    for (int w = 0; w < 3; w++) {
      sn_options o = way_options(k, 0);
      o.redmax.solver = SN_SOLVER_PCG;
      o.redmax.on_unconverged = wish[w];
      o.redmax.max_iterations = 1;
      o.redmax.tolerance = 1e-14;
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m), *before = test_state(m);
      sn_error err = {0};
      sn_info info;
      const sn_status status = sn_sim_step(sim, s, NULL, &info, &err);
      if (wish[w] == SN_ACCEPT) {
        CHECK(status == SN_NOT_CONVERGED, "%s: %s", way[k].name, sn_status_text(status));
        CHECK(info.residual > 1e-14, "%s: a residual of %g", way[k].name, info.residual);
        CHECK(*sn_state_time(s) == o.step, "%s: no step was made", way[k].name);
      } else {
        CHECK(status == SN_E_UNCONVERGED, "%s: %s", way[k].name, sn_status_text(status));
        CHECK(strstr(err.text, "residual"), "%s: '%s'", way[k].name, err.text);
        CHECK(*sn_state_time(s) == 0 && memcmp(sn_state_q(s), sn_state_q(before), bytes) == 0 &&
                  memcmp(sn_state_qd(s), sn_state_qd(before), bytes) == 0,
              "%s: the state has changed", way[k].name);
      }
      sn_state_free(&s);
      sn_state_free(&before);
      sn_sim_free(&sim);
    }
  }
  sn_model_free(&m);
}

/* ---- conjugate gradients ---- */

/* A hanging chain of n links, `ratio` from the mass of the first to that of the last, held by
 * springs to the ground beside it and, if asked, between links that are three apart. */
static sn_model *weighted_chain(int n, double ratio, bool across) {
  sn_builder *b = sn_builder_create();
  char name[64][24], spring[64][24];
  for (int i = 0; i < n; i++) {
    snprintf(name[i], sizeof name[i], "link%d", i);
    sn_body_def def =
        test_link(name[i], i ? name[i - 1] : "world", i % 3 ? "revolute" : "universal");
    const double m = pow(ratio, (double)i / (n - 1)) / sqrt(ratio);
    def.inertia =
        (sn_inertia){.mass = m, .com = {0, 0, -0.5}, .xx = 0.1 * m, .yy = 0.09 * m, .zz = 0.02 * m};
    def.joint.at = sn_pose(0, 0, i ? -1 : 0);
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  for (int i = 2; i < n; i += 2) {
    const bool ground = !across || i < 4;
    snprintf(spring[i], sizeof spring[i], "spring%d", i);
    const sn_force_def def =
        spring_def(spring[i], ground ? NULL : name[i - 3],
                   ground ? (sn_vec3){0.6, 0.2, -i - 0.2} : (sn_vec3){0.3, 0.2, -0.5}, name[i],
                   (sn_vec3){0, 0.1, -0.5}, 1e4, 1, ground ? 0.5 : 2.8);
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
  }
  const sn_initial_def start = {.body = "link0", .q = sn_per_dof_all(0.1)};
  CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
  return test_finish(b);
}

/* Average iterations of a solve. */
static double iterations(const sn_model *m, double *gain) {
  sn_options o = redmax_options(0.01);
  o.redmax.solver = SN_SOLVER_PCG;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  const double start = redmax_energy(sim, s);
  double sum = 0, solves = 0;
  *gain = -INFINITY;
  for (int n = 0; n < 100; n++) {
    const sn_info info = redmax_step(sim, s, NULL);
    sum += info.iterations;
    solves += info.solves;
    *gain = fmax(*gain, redmax_energy(sim, s) - start);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  CHECK(solves >= 100, "%g solves in 100 steps", solves);
  return sum / solves;
}

/* The preconditioner is the inverse where springs touch the ground only. */
TEST(one_iteration_where_springs_touch_only_the_ground) {
  for (int n = 5; n <= 40; n += 35) {
    sn_model *m = weighted_chain(n, 1, false);
    double gain;
    const double count = iterations(m, &gain);
    CHECK(count <= 1, "%d links: %g iterations a solve", n, count);
    sn_model_free(&m);
  }
}

/* Masses from 1e-3 to 1e3 along a chain, rising or falling, do not take more than two iterations
 * more than equal ones, and add no energy (one part in a thousand of what is turned round). */
TEST(mass_ratios_do_not_matter) {
  for (int across = 0; across < 2; across++) {
    double reference = 0;
    static const double ratio[] = {1, 1e6, 1e-6};
    for (int k = 0; k < 3; k++) {
      sn_model *m = weighted_chain(12, ratio[k], across);
      double gain;
      const double count = iterations(m, &gain);
      reference = k == 0 ? count : reference;
      print_message("  springs %s, masses 1 : %-6.0e %.2f iterations a solve, energy %+.2g\n",
                    across ? "across   " : "to ground", ratio[k], count, gain);
      CHECK(count <= reference + 2, "%g iterations instead of %g", count, reference);
      CHECK(gain < 1e-3 * 9.81 * 12 * sn_model_mass(m), "energy rises by %g", gain);
      sn_model_free(&m);
    }
  }
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(the_order_of_the_integrators), T(random_trees_converge_to_the_exact_motion),
            T(drag_is_implicit), T(drives_give_what_they_have), T(drives_at_their_limits_converge),
            T(drives_saturate_one_coordinate_at_a_time), T(momentum_of_a_floating_tree),
            T(tumbling_is_stable_at_any_step), T(saved_states_resume_to_the_bit),
            T(steps_allocate_nothing), T(nothing_is_hidden_in_a_state),
            T(steps_do_not_depend_on_what_a_sim_did_before), T(a_failed_step_leaves_the_state),
            T(solves_that_do_not_converge), T(one_iteration_where_springs_touch_only_the_ground),
            T(mass_ratios_do_not_matter));
}
