/* States that are read off between the steps of dopri5, where there are constraints: they are on
 * the constraints with their rates, near the true motion, cheap, and the same whoever goes on from
 * where. */
#include "methods/recursive/legs.h"
#include "stage.h"
#include "windows.h"

TEST(a_leg_has_both_ends) {
  enum { NV = 3 };
  uint64_t seed = 5;
  double y0[2 * NV], f0[2 * NV], y1[2 * NV], f1[2 * NV], c[6 * NV], y[4 * NV];
  const double h = 0.037;
  for (int i = 0; i < NV; i++) {
    double k[6];
    for (int j = 0; j < 6; j++) {
      k[j] = test_random(&seed, -1, 1);
    }
    const double s = h, v = k[1] + s * (2 * k[2] + s * (3 * k[3] + s * (4 * k[4] + s * 5 * k[5])));
    y0[i] = k[0];
    y0[NV + i] = f0[i] = k[1];
    f0[NV + i] = 2 * k[2];
    y1[i] = k[0] + s * (k[1] + s * (k[2] + s * (k[3] + s * (k[4] + s * k[5]))));
    y1[NV + i] = f1[i] = v;
    f1[NV + i] = 2 * k[2] + s * (6 * k[3] + s * (12 * k[4] + s * 20 * k[5]));
  }
  sni_leg_lay(NV, h, y0, f0, y1, f1, c);
  for (int last = 0; last < 2; last++) {
    const double *at = last ? y1 : y0, *rate = last ? f1 : f0;
    sni_leg_end(NV, h, c, last, y);
    for (int i = 0; i < 2 * NV; i++) {
      CHECK(fabs(y[i] - at[i]) < 1e-13, "end %d, %d: %g", last, i, y[i] - at[i]);
      CHECK(fabs(y[2 * NV + i] - rate[i]) < 1e-11, "end %d, rate %d: %g", last, i,
            y[2 * NV + i] - rate[i]);
    }
  }
  /* a polynomial of degree 5 is itself */
  sni_leg_lay(NV, h, y0, f0, y1, f1, c);
  double half[2 * NV];
  sni_leg_read(NV, h, c, 0.5, half);
  seed = 5;
  for (int i = 0; i < NV; i++) {
    double k[6], q = 0, s = 1;
    for (int j = 0; j < 6; j++) {
      k[j] = test_random(&seed, -1, 1);
      q += k[j] * s;
      s *= 0.5 * h;
    }
    CHECK(fabs(half[i] - q) < 1e-14, "%d: %g", i, half[i] - q);
  }
}

static sn_options options_of(double step, double tolerance) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.integrator = SN_DOPRI5;
  o.recursive.rel_tol = o.recursive.abs_tol = tolerance;
  return o;
}

/* The largest G qd + rate, after windows_gap. */
static double slip(sn_sim *sim, sn_state *s) {
  double most = 0;
  sni_rows_mul(&sim->rows, sn_state_qd(s), sim->rows.rhs);
  for (int i = 0; i < sim->rows.nrow; i++) {
    most = fmax(most, fabs(sim->rows.rhs[i] + sim->rows.row[i].rate));
  }
  return most;
}

/* Rods of 0.4, 1.1 and 0.7 m between pins 0.9 m apart: none turns as another does, so that only on
 * the way the rods really take the loop is closed. */
static const char *const uneven =
    "sinew: 1\n"
    "defaults: {joint: {type: revolute, axis: [0,1,0]}}\n"
    "bodies:\n"
    "  crank: {parent: world, joint: {},\n"
    "    shapes: [{type: capsule, from: [0,0,0], to: [0.4,0,0], radius: 0.03, density: 2000}]}\n"
    "  coupler: {parent: crank, joint: {at: [0.4,0,0]},\n"
    "    shapes: [{type: capsule, from: [0,0,0], to: [1.1,0,0], radius: 0.02, density: 500}]}\n"
    "  rocker: {parent: world, joint: {at: [0.9,0,0]},\n"
    "    shapes: [{type: capsule, from: [0,0,0], to: [0,0,0.7], radius: 0.02, density: 500}]}\n"
    "loops:\n"
    "  pin: {type: revolute, axis: [0,1,0], a: {body: coupler, at: [1.1,0,0]},\n"
    "    b: {body: rocker, at: [0,0,0.7]}}\n"
    "initial: {crank: {qd: 12}}\n";

/* 1.5 s, windows through two flat poses.  Gaps of 1e-12 and rates of 1e-10 are what a leg may have;
 * states that are far apart are projected, each by itself. */
TEST(states_between_are_on_the_constraints) {
  for (int k = 0; k < 8; k++) {
    sn_model *m = k < 4 ? windows(3) : stage_model(uneven);
    const int nv = sn_model_dof_count(m);
    const double step[] = {0.001, 0.0037, 0.03, 0.002, 0.0005, 0.002, 0.01, 0.001};
    const double tolerance[] = {1e-9, 1e-9, 1e-9, 1e-5, 1e-9, 1e-9, 1e-9, 1e-5};
    const sn_options o = options_of(step[k], tolerance[k]), fine = options_of(step[k], 1e-12);
    sn_sim *sim = test_sim(m, &o), *true_sim = test_sim(m, &fine);
    sn_state *s = test_state(m), *truth = test_state(m);
    sn_error err = {0};
    CHECK(sn_sim_assemble(sim, s, &err) == SN_OK, "%s", err.text);
    CHECK(sn_state_copy(truth, s) == SN_OK, "another model");
    double gap = 0, off = 0, off_rate = 0, rate = 0;
    for (int n = 0; n < (int)(1.5 / step[k]); n++) {
      test_step(sim, s, NULL);
      test_step(true_sim, truth, NULL);
      gap = fmax(gap, windows_gap(sim, s));
      rate = fmax(rate, slip(sim, s));
      for (int i = 0; i < nv; i++) {
        off = fmax(off, fabs(sn_state_q(s)[i] - sn_state_q(truth)[i]));
        off_rate = fmax(off_rate, fabs(sn_state_qd(s)[i] - sn_state_qd(truth)[i]));
      }
    }
    CHECK(gap < 2e-12 && rate < 2e-9, "case %d: gaps of %g, rates of %g", k, gap, rate);
    CHECK(off < 20 * tolerance[k] && off_rate < 200 * tolerance[k],
          "case %d: off by %g, rates by %g", k, off, off_rate);
    sn_state_free(&s);
    sn_state_free(&truth);
    sn_sim_free(&sim);
    sn_sim_free(&true_sim);
    sn_model_free(&m);
  }
}

/* Counted, not timed: 500 states, and a factorisation for every second of them. */
TEST(states_between_are_cheap) {
  sn_model *m = windows(40);
  const sn_options o = options_of(1e-3, 1e-9);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  int substeps = 0;
  for (int n = 0; n < 500; n++) {
    substeps += redmax_step(sim, s, NULL).substeps;
  }
  const unsigned count = sni_kkt_count(sim->rows.kkt);
  CHECK(count < 250, "%u factorisations in %d steps", count, substeps);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* Rows that move by functions of time with a kink, joints whose coordinates are changed on the way,
 * one that is switched: a gear that is driven, a ball joint as a loop. */
static const char *const moving =
    "sinew: 1\n"
    "bodies:\n"
    "  arm: {parent: world, joint: {type: spherical},\n"
    "    shapes: [{type: capsule, from: [0,0,0], to: [1,0,0], radius: 0.05, density: 500}]}\n"
    "  hand: {parent: arm, joint: {type: spherical, at: [1,0,0]},\n"
    "    shapes: [{type: capsule, from: [0,0,0], to: [0,0,-1], radius: 0.05, density: 500}]}\n"
    "  a: {parent: world, joint: {type: revolute, axis: [0,1,0], at: [0,3,0]},\n"
    "    shapes: [{type: box, size: [0.5,0.1,0.1], at: [0.2,0,0], density: 500}]}\n"
    "  b: {parent: world, joint: {type: revolute, axis: [0,1,0], at: [1,3,0]},\n"
    "    shapes: [{type: box, size: [0.5,0.1,0.1], at: [0.2,0,0], density: 500}]}\n"
    "loops:\n"
    "  pin: {type: spherical, a: {body: hand, at: [0,0,-1]}, b: {body: world, at: [1,0,-1]}}\n"
    "constraints:\n"
    "  gear: {type: couple, terms: [{joint: a}, {joint: b, factor: -2}],\n"
    "    offset: 'max(0, t - 0.3)^2 + 0.1*sin(5*t)'}\n"
    "  rod: {type: distance, a: {body: a, at: [0.4,0,0]}, b: {body: b, at: [0.4,0,0]},\n"
    "    active: 't > 0.5'}\n"
    "initial: {arm: {qd: [0.5, 1, 0.2]}}\n";

TEST(rows_that_move) {
  const sn_options o = options_of(0.001, 1e-9);
  stage b = stage_set(moving, o);
  double gap = 0, rate = 0;
  for (int n = 0; n < 495; n++) { /* the distance would be a blow */
    test_step(b.sim, b.s, NULL);
    gap = fmax(gap, windows_gap(b.sim, b.s));
    rate = fmax(rate, slip(b.sim, b.s));
  }
  CHECK(gap < 2e-12 && rate < 2e-9, "gaps of %g, rates of %g", gap, rate);
  stage_clear(&b);
}

/* A new sim in the middle of a leg goes on as if nothing had been; so does one that is asked other
 * things. */
TEST(the_same_bits_from_any_state_on) {
  const sn_options o = options_of(0.001, 1e-9);
  for (int k = 0; k < 2; k++) {
    sn_model *m = k ? stage_model(moving) : windows(3);
    sn_sim *one = test_sim(m, &o);
    sn_state *a = test_state(m), *c = test_state(m);
    sn_error err = {0};
    CHECK(sn_sim_assemble(one, a, &err) == SN_OK, "%s", err.text);
    CHECK(sn_state_copy(c, a) == SN_OK, "another model");
    sn_sim *two = test_sim(m, &o);
    for (int n = 0; n < 300; n++) {
      if (n % 7 == 3) {
        sn_sim_free(&two);
        two = test_sim(m, &o);
      }
      test_step(one, a, NULL);
      test_step(two, c, NULL);
      CHECK(sn_state_equal(a, c), "model %d, step %d: other bits", k, n);
      windows_gap(one, a);
    }
    sn_state_free(&a);
    sn_state_free(&c);
    sn_sim_free(&one);
    sn_sim_free(&two);
    sn_model_free(&m);
  }
}

/* What lies on a plane that is moved is read on it, with its rate, however long the substeps are:
 * nothing else bounds these, as each follows a function of time alone. */
TEST(held_limits_are_closed_within_steps) {
  static const char text[] =
      "sinew: 1\n"
      "gravity: [0, 0, -9.81]\n"
      "bodies:\n"
      "  tray: {joint: {type: prismatic, axis: [0, 0, 1]}, inertia: {mass: 2, xx: 1, yy: 1, zz: "
      "1}}\n"
      "  m: {joint: {type: free, at: [0.2, 0, 0.1]}, inertia: {mass: 0.5, xx: 0.002, yy: 0.002, "
      "zz: 0.002}}\n"
      "constraints: {h: {type: half_space, body: m, radius: 0.1, on: {body: tray}}}\n"
      "motions: {lift: {joint: tray, q: \"0.1*sin(6*t)\"}}\n";
  for (double tolerance = 1e-6; tolerance > 1e-13; tolerance *= 0.01) {
    stage b = stage_set(text, options_of(0.01, tolerance));
    for (int k = 0; k < 100; k++) {
      stage_step(&b, 1);
      const double *q = sn_state_q(b.s), *qd = sn_state_qd(b.s);
      CHECK(fabs(q[3] - q[0]) < 1e-10 && fabs(qd[3] - qd[0]) < 1e-10,
            "%g, t = %g: %g off the tray, its rate %g off", tolerance, 0.01 * (k + 1), q[3] - q[0],
            qd[3] - qd[0]);
    }
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(a_leg_has_both_ends), T(states_between_are_on_the_constraints),
            T(states_between_are_cheap), T(rows_that_move), T(the_same_bits_from_any_state_on),
            T(held_limits_are_closed_within_steps));
}
