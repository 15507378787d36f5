/* Long runs: a million steps drift by what the order of the scheme predicts and not more, time does
 * not drift at all, and interrupted runs end in the same bits.  SINEW_SOAK runs them in full. */
#include "trees.h"

#include <unistd.h>

static long shortened(long full, long brief) {
  return getenv("SINEW_SOAK") ? full : brief;
}

static sn_options fixed_step(double h) {
  sn_options o = sn_options_default();
  o.recursive.integrator = SN_RK4;
  o.step = h;
  return o;
}

static double energy_of(sn_sim *sim, const sn_state *s) {
  sn_energy e;
  sn_sim_energy(sim, s, &e);
  return e.kinetic + e.potential;
}

/* A wheel on a torsion spring.  rk4 multiplies the energy of an oscillation by 1 - (w h)^6 / 72 in
 * each step, up to terms in (w h)^8. */
TEST(an_oscillator_loses_what_order_four_predicts) {
  sn_body_def def = test_link("wheel", "world", "revolute");
  def.joint.stiffness = sn_per_dof_all(40);
  sn_builder *b = test_builder(&def);
  sn_builder_set_gravity(b, (sn_vec3){0});
  sn_model *m = test_finish(b);
  const double h = 0.005, wh = sqrt(40 / 0.34) * h;
  const sn_options o = fixed_step(h);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  sn_state_q(s)[0] = 1;
  const double before = energy_of(sim, s);
  const long n = shortened(1000000, 50000);
  for (long k = 0; k < n; k++) {
    test_step(sim, s, NULL);
  }
  const double lost = 1 - energy_of(sim, s) / before;
  const double predicted = -expm1((double)n * log1p(-pow(wh, 6) / 72));
  print_message("  %ld steps: %.6e of the energy lost, %.6e predicted\n", n, lost, predicted);
  CHECK(fabs(lost - predicted) < 0.01 * predicted, "lost %g, predicted %g", lost, predicted);
  CHECK(*sn_state_time(s) == (double)n * h, "t = %.17g after %ld steps", *sn_state_time(s), n);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

static sn_model *pendulum_of_three(void) {
  sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute"),
              c = test_link("c", "b", "universal");
  b.joint.at = c.joint.at = sn_pose(0, 0, -1);
  sn_builder *builder = test_builder(&a);
  CHECK(!sn_builder_add_body(builder, &b) && !sn_builder_add_body(builder, &c), "out of memory");
  return test_finish(builder);
}

static void swing(sn_state *s) {
  const double q[4] = {0.5, 0.3, -0.2, 0.4}, qd[4] = {0, 0.5, 0.3, -0.4};
  memcpy(sn_state_q(s), q, sizeof q);
  memcpy(sn_state_qd(s), qd, sizeof qd);
}

/* Largest change of energy over n steps of h. */
static double drift_of(const sn_model *m, double h, long n) {
  const sn_options o = fixed_step(h);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  swing(s);
  const double before = energy_of(sim, s);
  double most = 0;
  for (long k = 0; k < n; k++) {
    test_step(sim, s, NULL);
    if (k % 16 == 0 || k == n - 1) {
      most = fmax(most, fabs(energy_of(sim, s) - before));
    }
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  return most;
}

/* Energy drifts at a rate of h^5.  A short run with double steps, scaled by 2^-5 and by the time,
 * says how much a million steps may lose; 2 is for the ups and downs of the rate along the motion.
 */
TEST(a_mechanism_drifts_at_the_rate_of_order_four) {
  sn_model *m = pendulum_of_three();
  const long n = shortened(1000000, 20000);
  const double h = 0.002, T = (double)n * h;
  const double coarse = drift_of(m, 2 * h, 5000), allowed = 2 * coarse / 32 * T / (5000 * 2 * h);
  const double drift = drift_of(m, h, n);
  print_message("  %ld steps: energy drifts by %.2e, at most %.2e expected\n", n, drift, allowed);
  CHECK(drift < allowed, "energy drifts by %g, %g expected", drift, allowed);
  sn_model_free(&m);
}

/* dopri5: what is lost grows with the time, not faster. */
TEST(tight_tolerances_hold_for_long) {
  sn_model *m = pendulum_of_three();
  sn_options o = sn_options_default();
  o.step = 0.05;
  o.recursive.rel_tol = o.recursive.abs_tol = 1e-13;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  swing(s);
  sn_energy e;
  sn_sim_energy(sim, s, &e);
  const double before = e.kinetic + e.potential;
  double kinetic = e.kinetic, drift = 0;
  const long n = shortened(2000, 100);
  for (long k = 0; k < n; k++) {
    test_step(sim, s, NULL);
    sn_sim_energy(sim, s, &e);
    kinetic = fmax(kinetic, e.kinetic);
    drift = fmax(drift, fabs(e.kinetic + e.potential - before));
  }
  print_message("  %g s: energy drifts by %.1e of the kinetic energy\n", *sn_state_time(s),
                drift / kinetic);
  CHECK(drift < 1e-9 * kinetic, "energy drifts by %g of %g", drift, kinetic);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* Straight on, and through files at random moments with a new sim each time. */
TEST(interrupted_runs_end_in_the_same_bits) {
  char path[300];
  snprintf(path, sizeof path, "%s/test_long_runs_%d", SINEW_BUILD_DIR, (int)getpid());
  sn_model *m = pendulum_of_three();
  for (int which = 0; which < 2; which++) {
    const long n = shortened(200000, 4000);
    sn_options o = fixed_step(0.003);
    o.recursive.integrator = which ? SN_RK4 : SN_DOPRI5;
    sn_sim *sim = test_sim(m, &o), *part = test_sim(m, &o);
    sn_state *straight = test_state(m), *broken = test_state(m);
    swing(straight);
    swing(broken);
    uint64_t seed = 3;
    sn_error err;
    for (long k = 0; k < n; k++) {
      test_step(sim, straight, NULL);
      test_step(part, broken, NULL);
      if (random_below(&seed, (int)(n / 20)) == 0) {
        CHECK(sn_state_save(broken, path, &err) == SN_OK, "%s", err.text);
        sn_state_free(&broken);
        sn_sim_free(&part);
        CHECK(sn_state_load(m, path, &broken, &err) == SN_OK, "%s", err.text);
        part = test_sim(m, &o);
      }
    }
    CHECK(sn_state_equal(straight, broken), "%s differs after %ld steps", which ? "rk4" : "dopri5",
          n);
    sn_state_free(&straight);
    sn_state_free(&broken);
    sn_sim_free(&sim);
    sn_sim_free(&part);
  }
  remove(path);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(an_oscillator_loses_what_order_four_predicts),
            T(a_mechanism_drifts_at_the_rate_of_order_four), T(tight_tolerances_hold_for_long),
            T(interrupted_runs_end_in_the_same_bits));
}
