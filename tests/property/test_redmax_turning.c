/* What turns fast, in the implicit steps of `redmax`: bodies that slide on turning ones keep to
 * their straight lines, and steps of second order gain no energy from turning.
 *
 * A step along the tangent of a circle ends outside of it: what is put there without care spirals
 * outwards, or finds its springs stretched and its energy grown. */
#include "redmax.h"

static void add_body(sn_builder *b, const char *name, const char *parent, const char *type,
                     sn_se3 at, sn_inertia inertia) {
  sn_body_def def = test_link(name, parent, type);
  def.joint.at = at;
  def.joint.axis = (sn_vec3){0, 0, 1};
  def.inertia = inertia;
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
}

static const sn_inertia rod = {
    .mass = 1, .com = {0.5, 0, 0}, .xx = 1e-3, .yy = 1 / 12.0, .zz = 1 / 12.0};

/* ---- sliding ---- */

/* A heavy hub that turns, and a bead that slides on it in the plane: nothing acts on the bead. */
static sn_model *bead_model(const char *slides) {
  sn_builder *b = sn_builder_create();
  sn_builder_set_gravity(b, (sn_vec3){0, 0, 0});
  add_body(b, "hub", "world", "revolute", sn_pose(0, 0, 0),
           (sn_inertia){.mass = 10, .xx = 1, .yy = 1, .zz = 1});
  add_body(b, "bead", "hub", slides, sn_pose(0.5, 0, 0),
           (sn_inertia){.mass = 0.1, .xx = 1e-3, .yy = 1e-3, .zz = 1e-3});
  return test_finish(b);
}

/* A free body on a free body: both go straight on, turning at 10 rad/s. */
static sn_model *free_model(void) {
  const sn_inertia I = {.mass = 1, .xx = 0.01, .yy = 0.1, .zz = 0.1};
  sn_builder *b = sn_builder_create();
  sn_builder_set_gravity(b, (sn_vec3){0, 0, 0});
  add_body(b, "a", "world", "free", sn_pose(0, 0, 0), I);
  add_body(b, "b", "a", "free", sn_pose(1, 0, 0), I);
  return test_finish(b);
}

/* The second body starts at `from` with the velocity `v`.  The position is found by iteration and
 * is as good as that in every step; the errors do not add up to more than 1e-6 of the way. */
static void check_straight(const sn_model *m, const double *qd, sn_vec3 from, sn_vec3 v,
                           const char *what) {
  for (int way = 0; way < 2; way++) {
    for (int level = 0; level < 3; level++) {
      sn_options o = redmax_options(0.02 / (1 << level));
      o.redmax.integrator = way ? SN_EXTRAPOLATED : SN_EULER;
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      memcpy(sn_state_qd(s), qd, (size_t)sn_model_dof_count(m) * sizeof *qd);
      sn_energy start, now;
      sn_se3 E[2];
      double worst = 0;
      sn_sim_energy(sim, s, &start);
      for (int k = 0; k < (int)lround(20 / o.step); k++) {
        redmax_step(sim, s, NULL);
        sn_sim_poses(sim, s, E, NULL);
        const sn_vec3 line = sn_vec3_addscaled(from, *sn_state_time(s), v);
        worst = fmax(worst, sn_vec3_norm(sn_vec3_sub(E[1].p, line)));
      }
      sn_sim_energy(sim, s, &now);
      print_message("  %s, %s, h = %g: %.1e from its line\n", what, way ? "extrapolated" : "euler",
                    o.step, worst);
      CHECK(worst < 1e-6 * 20 * sn_vec3_norm(v), "%s: %g from its line", what, worst);
      CHECK(fabs(now.kinetic - start.kinetic) < 1e-6 * start.kinetic, "%s: T from %g to %g", what,
            start.kinetic, now.kinetic);
      CHECK(fabs(now.angular_momentum.z - start.angular_momentum.z) <
                1e-6 * fabs(start.angular_momentum.z),
            "%s: spin from %g to %g", what, start.angular_momentum.z, now.angular_momentum.z);
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
  }
}

TEST(what_slides_freely_goes_straight) {
  sn_model *m = bead_model("translation2");
  check_straight(m, (double[]){10, 0, 0}, (sn_vec3){0.5, 0, 0}, (sn_vec3){0, 5, 0}, "bead");
  sn_model_free(&m);
  m = free_model();
  check_straight(m, (double[]){0, 5, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0}, (sn_vec3){1, 0, 0},
                 (sn_vec3){0, 15, 0}, "free body");
  sn_model_free(&m);
}

/* Largest difference of the poses after `duration` from those of dopri5. */
static double error_of(const sn_model *m, const double *qd, sn_implicit integrator, double step,
                       double duration) {
  enum { MOST = 6 };
  const int nbody = sn_model_body_count(m);
  sn_se3 E[2][MOST];
  CHECK(nbody <= MOST, "%d bodies", nbody);
  for (int k = 0; k < 2; k++) {
    sn_options o = redmax_options(step);
    o.redmax.integrator = k ? integrator : SN_IMPLICIT_DOPRI5;
    o.recursive.rel_tol = o.recursive.abs_tol = 1e-12;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    memcpy(sn_state_qd(s), qd, (size_t)sn_model_dof_count(m) * sizeof *qd);
    for (int i = 0; i < (int)lround(duration / step); i++) {
      redmax_step(sim, s, NULL);
    }
    sn_sim_poses(sim, s, E[k], NULL);
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  double most = 0;
  for (int i = 0; i < nbody; i++) {
    most = fmax(most, sn_vec3_norm(sn_vec3_sub(E[1][i].p, E[0][i].p)));
    for (int c = 0; c < 3; c++) {
      most = fmax(most,
                  sn_vec3_norm(sn_vec3_sub(sn_mat3_col(E[1][i].R, c), sn_mat3_col(E[0][i].R, c))));
    }
  }
  return most;
}

/* Ratios of errors at steps h and h/2. */
static void check_order(const sn_model *m, const double *qd, sn_implicit integrator, double step,
                        double duration, const char *what) {
  const double order = integrator == SN_EULER ? 1 : 2;
  const double coarse = error_of(m, qd, integrator, step, duration);
  const double fine = error_of(m, qd, integrator, step / 2, duration);
  print_message("  %s: %.2e, %.2e: order %.2f\n", what, coarse, fine, log2(coarse / fine));
  CHECK(fabs(log2(coarse / fine) - order) < 0.2, "%s: the order is %g", what, log2(coarse / fine));
}

/* A bead on a straight rail flies off. */
TEST(a_bead_on_a_rail) {
  sn_builder *b = sn_builder_create();
  sn_builder_set_gravity(b, (sn_vec3){0, 0, 0});
  add_body(b, "hub", "world", "revolute", sn_pose(0, 0, 0),
           (sn_inertia){.mass = 10, .xx = 1, .yy = 1, .zz = 1});
  sn_body_def def = test_link("bead", "hub", "prismatic");
  def.joint.at = sn_pose(0.5, 0, 0);
  def.joint.axis = (sn_vec3){1, 0, 0};
  def.inertia = (sn_inertia){.mass = 0.1, .xx = 1e-3, .yy = 1e-3, .zz = 1e-3};
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  sn_model *m = test_finish(b);
  const double qd[] = {10, 0};
  check_order(m, qd, SN_EULER, 1e-3, 0.5, "bead on a rail, euler");
  check_order(m, qd, SN_EXTRAPOLATED, 2e-3, 0.5, "bead on a rail, extrapolated");
  sn_model_free(&m);
}

/* ---- whirling ---- */

static sn_model *chain_model(const char *kind, int n, bool weight) {
  static const char *const name[] = {"a", "b", "c", "d", "e", "f"};
  sn_builder *b = sn_builder_create();
  sn_builder_set_gravity(b, (sn_vec3){0, 0, weight ? -9.81 : 0});
  for (int i = 0; i < n; i++) {
    add_body(b, name[i], i ? name[i - 1] : "world", kind, sn_pose(i ? 1 : 0, 0, 0), rod);
  }
  return test_finish(b);
}

/* Energy above its start, as part of what moved at the start, in 20 s at the step h. */
static double gain_of(const sn_model *m, const double *qd, double h) {
  sn_options o = redmax_options(h);
  o.redmax.integrator = SN_EXTRAPOLATED;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  memcpy(sn_state_qd(s), qd, (size_t)sn_model_dof_count(m) * sizeof *qd);
  sn_energy start, now;
  double most = 0;
  sn_sim_energy(sim, s, &start);
  for (int k = 0; k < (int)lround(20 / h); k++) {
    redmax_step(sim, s, NULL);
    sn_sim_energy(sim, s, &now);
    most = fmax(most, now.kinetic + now.potential - start.kinetic - start.potential);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  return most / start.kinetic;
}

/* What turns at w = 10 rad/s about a hinge at its end: w h from 0.01 to 0.5. */
TEST(turning_gains_no_energy) {
  static const double steps[] = {0.001, 0.01, 0.02, 0.05};
  static const struct {
    const char *what, *kind;
    int n;
    double qd[18];
  } row[] = {{"rod", "revolute", 1, {10}},
             {"rod on a ball joint", "spherical", 1, {0, 0, 10}},
             {"chain of hinges, straight", "revolute", 5, {10}},
             {"chain of ball joints, straight", "spherical", 5, {0, 0, 10}},
             {"chain of ball joints, whirling", "spherical", 5, {0, 0, 10, 3, 1, 0, 0, 2, -1}}};
  for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
    sn_model *m = chain_model(row[r].kind, row[r].n, false);
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
      const double gain = gain_of(m, row[r].qd, steps[k]);
      print_message("  %-32s w h = %-5g %.1e\n", row[r].what, 10 * steps[k], gain);
      CHECK(gain < 1e-9, "%s, w h = %g: gains %g", row[r].what, 10 * steps[k], gain);
    }
    sn_model_free(&m);
  }
}

TEST(turning_is_of_second_order) {
  sn_model *m = chain_model("revolute", 1, false);
  check_order(m, (double[]){10}, SN_EXTRAPOLATED, 4e-3, 1, "rod");
  sn_model_free(&m);
  m = chain_model("spherical", 3, true);
  check_order(m, (double[]){0, 0, 10, 3, 1, 0, 0, 2, -1}, SN_EXTRAPOLATED, 2e-3, 0.4, "chain");
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(what_slides_freely_goes_straight), T(a_bead_on_a_rail), T(turning_gains_no_energy),
            T(turning_is_of_second_order));
}
