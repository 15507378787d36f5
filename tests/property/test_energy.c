/* Conservative mechanisms keep energy and momentum to 1e-9 of their scale at tight tolerance;
 * damped ones lose what the dampers take.
 *
 * The scale of energies is the largest kinetic energy on the way, that of momenta the largest sum
 * of what the bodies carry. */
#include "trees.h"

static sn_options tight(double step) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.rel_tol = 1e-13;
  o.recursive.abs_tol = 1e-14;
  return o;
}

typedef struct drift {
  double energy, momentum, angular; /* largest deviation over the scale */
  int wraps;                        /* how often a coordinate jumped    */
} drift;

static double norm(sn_vec3 a) {
  return sn_vec3_norm(a);
}

/* Runs for T and compares with the start. */
static drift run(const sn_model *m, sn_state *s, double T) {
  const sn_options o = tight(0.01);
  sn_sim *sim = test_sim(m, &o);
  const int nv = sn_model_dof_count(m);
  double *last = malloc((size_t)nv * sizeof *last);
  sn_energy e0, e;
  sn_sim_energy(sim, s, &e0);
  drift d = {0};
  double kinetic = e0.kinetic, p = norm(e0.momentum), L = norm(e0.angular_momentum);
  while (*sn_state_time(s) < T - 1e-9) {
    memcpy(last, sn_state_q(s), (size_t)nv * sizeof *last);
    test_step(sim, s, NULL);
    d.wraps += largest_difference(last, sn_state_q(s), nv) > 2;
    sn_sim_energy(sim, s, &e);
    kinetic = fmax(kinetic, e.kinetic);
    p = fmax(p, norm(e.momentum));
    L = fmax(L, norm(e.angular_momentum));
    d.energy = fmax(d.energy, fabs(e.kinetic + e.potential - e0.kinetic - e0.potential));
    d.momentum = fmax(d.momentum, norm(sn_vec3_sub(e.momentum, e0.momentum)));
    d.angular = fmax(d.angular, norm(sn_vec3_sub(e.angular_momentum, e0.angular_momentum)));
  }
  d.energy /= kinetic;
  d.momentum /= fmax(p, 1e-300);
  d.angular /= fmax(L, 1e-300);
  free(last);
  sn_sim_free(&sim);
  return d;
}

TEST(double_pendulum) {
  sn_body_def a = test_link("upper", "world", "revolute"),
              b = test_link("lower", "upper", "revolute");
  b.joint.at = sn_pose(0, 0, -1);
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  sn_model *m = test_finish(builder);
  sn_state *s = test_state(m);
  sn_state_q(s)[0] = 2.5; /* chaotic */
  sn_state_q(s)[1] = 0.3;
  const drift d = run(m, s, 5);
  print_message("  double pendulum: energy %.1e\n", d.energy);
  CHECK(d.energy < 1e-9, "energy drifts by %g", d.energy);
  sn_state_free(&s);
  sn_model_free(&m);
}

/* A tree that floats: the root is free, there is no gravity.  All kinds of joints hang on it. */
TEST(floating_trees) {
  for (unsigned seed = 0; seed < 8; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 6, seed % 2 ? TREE_SPRINGS : 0);
    for (int i = 0; i < t->n; i++) {
      t->body[i].joint.damping.n = 0;
      if (i == 0 || t->parent[i] < 0) {
        random_joint(t, i, i == 0 ? seed % 2 ? "free" : "free_rt" : "revolute", &(uint64_t){seed},
                     0);
        t->body[i].parent = i == 0 ? "world" : t->name[0];
      }
    }
    t->gravity = (sn_vec3){0};
    sn_model *m = random_tree_build(t);
    sn_state *s = random_tree_state(m, seed);
    const drift d = run(m, s, 1.5);
    print_message(
        "  floating tree %u: energy %.1e, momentum %.1e, angular momentum %.1e, %d wraps\n", seed,
        d.energy, d.momentum, d.angular, d.wraps);
    CHECK(d.energy < 1e-9 && d.momentum < 1e-9 && d.angular < 1e-9, "seed %u drifts by %g, %g, %g",
          seed, d.energy, d.momentum, d.angular);
    sn_state_free(&s);
    sn_model_free(&m);
    free(t);
  }
}

/* Balls that spin fast enough for their rotation vectors to be replaced many times. */
static sn_builder *spinning_chain(sn_per_dof armature, sn_per_dof stiffness) {
  sn_body_def a = test_link("a", "world", "spherical"), b = test_link("b", "a", "spherical"),
              c = test_link("c", "b", "spherical");
  b.joint.at = c.joint.at = sn_pose(0, 0, -1);
  a.joint.armature = b.joint.armature = c.joint.armature = armature;
  a.joint.stiffness = b.joint.stiffness = c.joint.stiffness = stiffness;
  sn_builder *builder = test_builder(&a);
  sn_builder_add_body(builder, &b);
  sn_builder_add_body(builder, &c);
  return builder;
}

static void spin(sn_state *s) {
  const double qd[9] = {1, 0.5, 14, -1, 2, 11, 0.3, -0.7, -15};
  memcpy(sn_state_qd(s), qd, sizeof qd);
}

TEST(balls_that_wrap) {
  const struct {
    const char *what;
    sn_per_dof armature, stiffness;
  } chain[] = {{"plain", {0}, {0}},
               {"with armature", {3, {0.1, 0.2, 0.15}}, {0}},
               {"with springs", {0}, {3, {0.1, 0.16, 0.12}}},
               {"with both", {3, {0.1, 0.2, 0.15}}, {1, {0.1}}}};
  for (size_t k = 0; k < sizeof chain / sizeof chain[0]; k++) {
    sn_model *m = test_finish(spinning_chain(chain[k].armature, chain[k].stiffness));
    sn_state *s = test_state(m);
    spin(s);
    const drift d = run(m, s, 2);
    print_message("  spherical chain %s: energy %.1e, %d wraps\n", chain[k].what, d.energy,
                  d.wraps);
    CHECK(d.wraps >= 5, "only %d wraps", d.wraps);
    CHECK(d.energy < 1e-9, "energy drifts by %g over %d wraps", d.energy, d.wraps);
    sn_state_free(&s);
    sn_model_free(&m);
  }
}

/* A top under no forces: its angular momentum stays where it is in space while it tumbles. */
TEST(tumbling_box) {
  sn_body_def def = test_link("box", "world", "free");
  def.inertia = (sn_inertia){.mass = 2, .com = {0.1, -0.2, 0.3}, .xx = 0.3, .yy = 0.5, .zz = 0.7};
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  sn_model *m = test_finish(b);
  sn_state *s = test_state(m);
  const double qd[6] = {1, 2, 3, 0.05, 9, 0.02}; /* about the middle axis: it flips */
  memcpy(sn_state_qd(s), qd, sizeof qd);
  const drift d = run(m, s, 6);
  print_message("  tumbling box: energy %.1e, momentum %.1e, angular momentum %.1e, %d wraps\n",
                d.energy, d.momentum, d.angular, d.wraps);
  CHECK(d.wraps >= 3, "only %d wraps", d.wraps);
  CHECK(d.energy < 1e-9 && d.momentum < 1e-9 && d.angular < 1e-9, "drifts by %g, %g, %g", d.energy,
        d.momentum, d.angular);
  sn_state_free(&s);
  sn_model_free(&m);
}

/* In free fall the centre of mass is a parabola, whatever the joints do. */
TEST(falling_tree) {
  random_tree *t = calloc(1, sizeof *t);
  random_tree_make(t, 3, 8, TREE_SPRINGS);
  random_joint(t, 0, "free", &(uint64_t){4}, 0);
  for (int i = 1; i < t->n; i++) {
    t->body[i].parent = t->parent[i] < 0 ? t->name[0] : t->body[i].parent;
  }
  t->gravity = (sn_vec3){1, -2, -9};
  sn_model *m = random_tree_build(t);
  sn_state *s = random_tree_state(m, 8);
  const sn_options o = tight(0.1);
  sn_sim *sim = test_sim(m, &o);
  sn_energy e0, e;
  sn_sim_energy(sim, s, &e0);
  const double mass = sn_model_mass(m);
  for (int k = 0; k < 10; k++) {
    test_step(sim, s, NULL);
    sn_sim_energy(sim, s, &e);
    const double T = *sn_state_time(s);
    const sn_vec3 v = sn_vec3_scale(e0.momentum, 1 / mass);
    const sn_vec3 x =
        sn_vec3_addscaled(sn_vec3_addscaled(e0.center_of_mass, T, v), 0.5 * T * T, t->gravity);
    CHECK(norm(sn_vec3_sub(x, e.center_of_mass)) < 1e-9, "at t = %g off by %g", T,
          norm(sn_vec3_sub(x, e.center_of_mass)));
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  free(t);
}

/* ---- damping ---- */

/* Power that leaves the mechanism at a state: joint dampers d qd^2 (on axes; for balls d w^2), drag
 * of the centre of mass, the damper of the band. */
static double dissipation(const random_tree *t, const sn_model *m, sn_sim *sim, sn_state *s) {
  sn_se3 E[TREE_BODIES_MAX];
  sn_vec6 phi[TREE_BODIES_MAX];
  sn_sim_poses(sim, s, E, phi);
  double power = 0;
  for (int i = 0; i < t->n; i++) {
    const sn_body_def *def = &t->body[atoi(sn_model_body_name(m, i) + 1)];
    const double *q = sn_state_q(s) + sn_model_joint_first(m, i);
    const double *qd = sn_state_qd(s) + sn_model_joint_first(m, i);
    double rate[SN_NV_MAX];
    memcpy(rate, qd, (size_t)sn_model_joint_dofs(m, i) * sizeof *rate);
    if (strcmp(def->joint.type, "spherical") == 0) {
      const sn_vec3 w = sn_mat3_mul_vec(sn_so3_jacobian((sn_vec3){q[0], q[1], q[2]}),
                                        (sn_vec3){qd[0], qd[1], qd[2]});
      memcpy(rate, (double[3]){w.x, w.y, w.z}, 3 * sizeof *rate);
    }
    for (int k = 0; k < def->joint.damping.n; k++) {
      power += def->joint.damping.v[k] * rate[k] * rate[k];
    }
    const sn_vec3 v = sn_vec3_add(phi[i].v, sn_vec3_cross(phi[i].w, def->inertia.com));
    power += def->damping_angular * sn_vec3_dot(phi[i].w, phi[i].w);
    power += def->damping_linear * sn_vec3_dot(v, v);
  }
  const int last = sn_model_body_find(m, t->force[0].b.body);
  const sn_vec3 arm = t->force[0].b.at.p;
  const sn_vec3 x = sn_vec3_sub(sn_se3_point(E[last], arm), t->force[0].a.at.p);
  const sn_vec3 v =
      sn_mat3_mul_vec(E[last].R, sn_vec3_add(phi[last].v, sn_vec3_cross(phi[last].w, arm)));
  const double rate = sn_vec3_dot(x, v) / norm(x);
  return power + t->force[0].damping * rate * rate;
}

/* E(T) - E(0) = - integral of the dissipation, by Gauss's rule on each step (order 6). */
TEST(energy_balance_with_damping) {
  static const char *const kinds[] = {"revolute",  "prismatic",    "spherical", "cylindrical",
                                      "universal", "translation3", "screw",     "planar"};
  for (unsigned seed = 0; seed < 5; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 8, TREE_SPRINGS | TREE_DRAG | TREE_FORCES | TREE_ARMATURE);
    t->nforce = 1;
    for (int i = 0; i < t->n; i++) {
      random_joint(t, i, kinds[(i + seed) % 8], &(uint64_t){seed + 10 * (unsigned)i},
                   TREE_SPRINGS | TREE_ARMATURE);
    }
    sn_model *m = random_tree_build(t);
    sn_state *s = random_tree_state(m, seed);
    const double h = 0.004, node[3] = {0.5 - sqrt(0.15), 0.5, 0.5 + sqrt(0.15)};
    sn_options o = tight(h);
    sn_sim *sim = test_sim(m, &o);
    sn_energy e0, e;
    sn_sim_energy(sim, s, &e0);
    double lost = 0, at = 0;
    for (int k = 0; k < 100; k++) {
      for (int n = 0; n <= 3; n++) {
        const double to = n < 3 ? node[n] : 1;
        CHECK(sn_sim_set(sim, "run.step", (to - at) * h, NULL) == SN_OK, "no step");
        test_step(sim, s, NULL);
        at = n < 3 ? to : 0;
        lost += n < 3 ? h * (n == 1 ? 8 : 5) / 18 * dissipation(t, m, sim, s) : 0;
      }
    }
    sn_sim_energy(sim, s, &e);
    const double gone = e0.kinetic + e0.potential - e.kinetic - e.potential;
    print_message("  damped tree %u: %.6g lost, %.1e of it unexplained\n", seed, gone,
                  fabs(gone - lost) / gone);
    CHECK(gone > 0 && fabs(gone - lost) < 1e-8 * gone, "seed %u: lost %.12g, dampers took %.12g",
          seed, gone, lost);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
    free(t);
  }
}

int main(void) {
  RUN_TESTS(T(double_pendulum), T(floating_trees), T(balls_that_wrap), T(tumbling_box),
            T(falling_tree), T(energy_balance_with_damping));
}
