/* The IFToMM benchmark of N four-bar windows: rods of mass 1 and length 1, the first upright, its
 * tip moving with 1 m/s, 10 s.  Twice in each turn all rods lie flat: rows lose their rank there
 * and the mechanism could branch off.  The tip of the first rod must end where it is known to, and
 * the error fall at the order of the integrator.  SINEW_SOAK runs 40 windows for the full 10 s. */
#include "windows.h"

static bool soak(void) {
  return getenv("SINEW_SOAK") != NULL;
}

typedef struct outcome {
  double off;    /* of the tip of the first rod, in m         */
  double gap;    /* largest, of all loops                     */
  double energy; /* largest change                            */
} outcome;

static outcome run(int n, const sn_options *o, double duration, double x, double z) {
  sn_model *m = windows(n);
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  const double before = redmax_energy(sim, s);
  outcome out = {0};
  for (int k = 0; k < (int)lround(duration / o->step); k++) {
    test_step(sim, s, NULL);
    out.gap = fmax(out.gap, windows_gap(sim, s));
    out.energy = fmax(out.energy, fabs(redmax_energy(sim, s) - before));
  }
  const double q = sn_state_q(s)[sn_model_joint_first(m, sn_model_body_find(m, "v0"))];
  out.off = hypot(sin(q) - x, cos(q) - z);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return out;
}

static outcome run_two(const sn_options *o) {
  return run(2, o, 10, 0.328458111541, 0.944518538179);
}

static sn_options options_of(sn_integrator integrator, double step) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.integrator = integrator;
  return o;
}

/* 5.3e-7, 2.0e-8 and 8.7e-10: the steps are long enough for the rounding that the flat poses blow
 * up, by 1/h^2, not to show. */
TEST(rk4_through_flat_poses) {
  double before = 0;
  for (double h = 0.01; h > 0.002; h /= 2) {
    const sn_options o = options_of(SN_RK4, h);
    const outcome x = run_two(&o);
    CHECK(x.gap < 1e-9, "steps of %g: a gap of %g", h, x.gap);
    CHECK(before == 0 || before / x.off > 16, "steps of %g: off by %.2g, after %.2g", h, x.off,
          before);
    before = x.off;
  }
  CHECK(before < 1e-9, "off by %g", before);
}

/* The error follows the tolerance: 3.7e-6, 3.5e-8, 3.5e-10. */
TEST(dopri5_through_flat_poses) {
  for (double tolerance = 1e-8; tolerance > 5e-13; tolerance *= 1e-2) {
    sn_options o = options_of(SN_DOPRI5, 0.01);
    o.recursive.rel_tol = o.recursive.abs_tol = tolerance;
    const outcome x = run_two(&o);
    CHECK(x.gap < 1e-9, "tolerance %g: a gap of %g", tolerance, x.gap);
    CHECK(x.off < 1000 * tolerance, "tolerance %g: off by %g", tolerance, x.off);
  }
}

/* 5.3e-2, 1.4e-2, 3.5e-3 */
TEST(extrapolated_through_flat_poses) {
  double before = 0;
  for (double h = 0.004; h > 0.0009; h /= 2) {
    sn_options o = redmax_options(h);
    o.redmax.integrator = SN_EXTRAPOLATED;
    const outcome x = run_two(&o);
    CHECK(x.gap < 1e-9, "steps of %g: a gap of %g", h, x.gap);
    CHECK(before == 0 || before / x.off > 3.7, "steps of %g: off by %.2g, after %.2g", h, x.off,
          before);
    before = x.off;
  }
}

/* Where all rods are after t, as one pendulum of q'' = c sin q: Nystroem's rule of order four. */
static void pendulum(int n, double t, double *x, double *z) {
  const double c = 9.81 * ((n + 1) / 2.0 + n) / ((n + 1) / 3.0 + n), h = 1e-4;
  double q = 0, qd = 1;
  for (int k = 0; k < (int)lround(t / h); k++) {
    const double a = c * sin(q), b = c * sin(q + h / 2 * qd + h * h / 8 * a),
                 e = c * sin(q + h * qd + h * h / 2 * b);
    q += h * qd + h * h / 6 * (a + 2 * b);
    qd += h / 6 * (a + 4 * b + e);
  }
  *x = sin(q);
  *z = cos(q);
}

/* Second order at 1 ms keeps the energy of 620 J to 0.1 J: to 0.07 J in 10 s.  The first flat pose
 * is passed at 0.7 s. */
TEST(forty_windows) {
  const double duration = soak() ? 10 : 0.8;
  double x, z;
  pendulum(40, duration, &x, &z);
  if (soak()) {
    CHECK(hypot(x - 0.180512226687, z - 0.983572740582) < 1e-9, "the pendulum ends elsewhere");
  }
  double before = 0;
  for (double h = 0.02; h > 0.002;
       h /= 2) { /* in 10 s 1.0e-5, 3.6e-7, 1.4e-8, 6.1e-10; an order of 3.9 */
    const sn_options fine = options_of(SN_RK4, h);
    const outcome fourth = run(40, &fine, duration, x, z);
    CHECK(fourth.gap < 1e-9, "rk4, steps of %g: a gap of %g", h, fourth.gap);
    CHECK(before == 0 || before / fourth.off > 15, "rk4, steps of %g: off by %.2g, after %.2g", h,
          fourth.off, before);
    before = fourth.off;
  }
  CHECK(before < 5e-9, "rk4: off by %g", before);
  sn_options o = redmax_options(0.001);
  o.redmax.integrator = SN_EXTRAPOLATED;
  const outcome second = run(40, &o, duration, x, z);
  CHECK(second.gap < 1e-9 && second.off < 4e-3 && second.energy < 0.1,
        "extrapolated: off by %g, a gap of %g, %g J", second.off, second.gap, second.energy);
  o.step = 0.002;
  const outcome coarse = run(40, &o, duration, x, z);
  CHECK(coarse.off > 3.7 * second.off, "extrapolated: off by %g and %g", coarse.off, second.off);
}

int main(void) {
  RUN_TESTS(T(rk4_through_flat_poses), T(dopri5_through_flat_poses),
            T(extrapolated_through_flat_poses), T(forty_windows));
}
