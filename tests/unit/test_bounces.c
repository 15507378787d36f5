/* A ball that bounces on its limit, against the motion that is known: heights, energy, and rest at
 * the end. */
#include "stage.h"

#define FALL                                                                                       \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, -10]\n"                                                                         \
  "bodies:\n"                                                                                      \
  "  ball:\n"                                                                                      \
  "    joint: {type: prismatic, axis: [0, 0, 1], limits: [0, 100], stop: {restitution: %g}}\n"     \
  "    inertia: {mass: 2, xx: 1, yy: 1, zz: 1}\n"                                                  \
  "initial: {ball: {q: 1.25}}\n"

/* From 1.25 m it comes down at t = 0.5 with 5 m/s, goes up with 5 e, and so on. */
static double height(double t, double e) {
  double v = 0, x = 1.25;
  double down = 0.5;
  for (int k = 0; k < 60; k++) {
    if (t <= down) {
      return x + v * t - 5 * t * t;
    }
    v = e * (10 * down - v);
    x = 0;
    t -= down;
    down = v / 5;
  }
  return 0;
}

TEST(balls_bounce) {
  const double e[] = {0, 0.5, 0.8, 1};
  for (int k = 0; k < 4; k++) {
    for (int rk4 = 0; rk4 < 2; rk4++) {
      char text[600];
      snprintf(text, sizeof text, FALL, e[k]);
      sn_options o = stage_exact(0.013);
      o.recursive.integrator = rk4 ? SN_RK4 : SN_DOPRI5;
      stage b = stage_set(text, o);
      for (int n = 1; n <= 150; n++) {
        stage_step(&b, 1);
        const double x = *sn_state_q(b.s), to = height(0.013 * n, e[k]);
        CHECK(fabs(x - to) < 1e-8, "e = %g, %s, t = %g: %.12g, not %.12g", e[k],
              rk4 ? "rk4" : "dopri5", 0.013 * n, x, to);
      }
      stage_clear(&b);
    }
  }
}

/* Steps of first order: the bounce is right to the length of a step. */
TEST(balls_bounce_in_redmax) {
  for (int which = 0; which < 2; which++) {
    for (int k = 0; k < 3; k++) {
      const double e[] = {0, 0.5, 0.8};
      char text[600];
      snprintf(text, sizeof text, FALL, e[k]);
      double worst[2] = {0, 0};
      for (int fine = 0; fine < 2; fine++) {
        sn_options o = redmax_options(fine ? 0.00025 : 0.001);
        o.redmax.integrator = which ? SN_EXTRAPOLATED : SN_EULER;
        stage b = stage_set(text, o);
        const int steps = fine ? 4000 : 1000;
        for (int n = 1; n <= steps; n++) {
          stage_step(&b, 1);
          const double x = *sn_state_q(b.s);
          CHECK(x > -1e-9, "t = %g: at %g", *sn_state_time(b.s), x);
          worst[fine] = fmax(worst[fine], fabs(x - height(*sn_state_time(b.s), e[k])));
        }
        stage_clear(&b);
      }
      CHECK(worst[0] < 0.02 && worst[1] < 0.4 * worst[0] + 1e-9, "e = %g: off by %g, then %g", e[k],
            worst[0], worst[1]);
    }
  }
}

/* Bounces become ever smaller, and then it is at rest: without a step for each of them for ever.
 * What a ball falls on behind its limit, until that is seen, does not count. */
TEST(bounces_end) {
  for (int k = 0; k < 6; k++) {
    const double e = k / 2 == 0 ? 0.5 : k / 2 == 1 ? 0.9 : 0.97;
    char text[600];
    snprintf(text, sizeof text, FALL, e);
    sn_options o = stage_exact(0.1);
    o.recursive.integrator = k % 2 ? SN_RK4 : SN_DOPRI5;
    stage b = stage_set(text, o);
    int substeps = 0;
    const double end = 0.5 + e / (1 - e) + 1;
    while (*sn_state_time(b.s) < end) {
      sn_info info = {0};
      sn_error err = {0};
      CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) == SN_OK, "%s", err.text);
      substeps += info.substeps;
    }
    const double x = *sn_state_q(b.s), v = *sn_state_qd(b.s);
    CHECK(fabs(x) < SNI_TOUCH && fabs(v) < 1e-12, "e = %g: at %g, with %g", e, x, v);
    CHECK(substeps < 2500, "e = %g: %d substeps", e, substeps);
    stage_clear(&b);
  }
}

/* Where nothing is lost nothing is won either, however often it bounces. */
TEST(bounces_without_loss_keep_the_energy) {
  for (int k = 0; k < 5; k++) {
    char text[600];
    snprintf(text, sizeof text, FALL, 1.0);
    sn_options o = stage_exact(0.005);
    o.method = k < 2 ? "recursive" : "redmax";
    o.recursive.integrator = k == 0 ? SN_DOPRI5 : SN_RK4;
    o.redmax.integrator = k == 2 ? SN_IMPLICIT_DOPRI5 : k == 3 ? SN_IMPLICIT_RK4 : SN_EXTRAPOLATED;
    stage b = stage_set(text, o);
    const double E = stage_energy(&b);
    for (int n = 0; n < 4000; n++) {
      stage_step(&b, 1);
      const double off = stage_energy(&b) / E - 1;
      CHECK(fabs(off) < 1e-10, "%s, %d: E off by %g of it at t = %g", o.method, k, off,
            *sn_state_time(b.s));
    }
    stage_clear(&b);
  }
}

/* What hits a limit while another one is pressed lets that one go at once, or goes on pressing it:
 * by the blow, and not as if it were held both ways. */
static double rk4_off(const char *text, double step, double *tip) {
  sn_options o = stage_exact(0.01), fixed = stage_exact(step);
  fixed.recursive.integrator = SN_RK4;
  stage exact = stage_set(text, o), b = stage_set(text, fixed);
  const int per = (int)lround(0.01 / step), nv = b.m->tree.nv;
  double worst = 0;
  for (int n = 0; n < 30; n++) {
    stage_step(&exact, 1);
    stage_step(&b, per);
    worst = fmax(worst, largest_difference(sn_state_q(b.s), sn_state_q(exact.s), nv));
  }
  *tip = sn_state_qd(b.s)[nv - 1];
  stage_clear(&exact);
  stage_clear(&b);
  return worst;
}

/* The hinge of `a` stops with `b` pressed upon its own limit: b flies on, with the angular momentum
 * about that hinge which it had. */
TEST(what_is_pressed_lets_go_in_a_blow) {
  static const char text[] =
      "sinew: 1\n"
      "gravity: [0, 0, -9.81]\n"
      "bodies:\n"
      "  a: {joint: {type: revolute, axis: [0, 1, 0], limits: [-0.5, 0.7]}, inertia: {mass: 1, "
      "at: [0.25, 0, 0], xx: 0.001, yy: 0.02, zz: 0.02}}\n"
      "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [0.5, 0, 0], limits: [-0.6, "
      "0.6]}, inertia: {mass: 0.5, at: [0, 0, -0.2], xx: 0.01, yy: 0.01, zz: 0.002}}\n";
  for (int k = 0; k < 2; k++) {
    double rate;
    const double off = rk4_off(text, k ? 0.0005 : 0.002, &rate);
    CHECK(off < 1e-6 && rate > 7.7, "rk4 is off by %g, b turns at %g", off, rate);
  }
}

/* What is switched on pulls at once at a slider that a spring presses upon its stop: both go on
 * with half the rate, and come back by x'' = -5 (1 + x). */
TEST(what_is_pressed_lets_go_when_pulled) {
  static const char text[] =
      "sinew: 1\n"
      "gravity: [0, 0, 0]\n"
      "defaults: {joint: {type: prismatic, axis: [1, 0, 0]}, body: {inertia: {mass: 1, xx: 1, yy: "
      "1, zz: 1}}}\n"
      "bodies:\n"
      "  a: {joint: {limits: [0, 9], stiffness: 10, rest: -1}}\n"
      "  b: {joint: {}}\n"
      "constraints: {tie: {type: couple, terms: [{joint: a}, {joint: b, factor: -1}], active: "
      "\"step(t - 0.5)\"}}\n"
      "initial: {b: {q: -1, qd: 2}}\n";
  for (int rk4 = 0; rk4 < 2; rk4++) {
    sn_options o = stage_exact(0.01);
    o.recursive.integrator = rk4 ? SN_RK4 : SN_DOPRI5;
    stage b = stage_set(text, o);
    stage_step(&b, 60);
    const double w = sqrt(5), to = cos(w * 0.1) - 1 + sin(w * 0.1) / w;
    CHECK(fabs(sn_state_q(b.s)[0] - to) < 1e-8, "%d: at %g, not %g", rk4, sn_state_q(b.s)[0], to);
    stage_clear(&b);
  }
}

/* Blows in chains of all proportions, some with stops that throw back. */
TEST(blows_in_chains_converge) {
  uint64_t seed = 7;
  for (int k = 0; k < 12; k++) {
    char text[2000] = "sinew: 1\ngravity: [0, 0, -9.81]\ndefaults: {joint: {type: revolute, axis: "
                      "[0, 1, 0]}}\nbodies:\n";
    double at = 0;
    for (int i = 0; i < 2 + k % 3; i++) {
      const double length = test_random(&seed, 0.3, 0.6), m = test_random(&seed, 0.5, 2);
      const double lower = test_random(&seed, -1.2, -0.2), upper = test_random(&seed, 0.2, 1);
      const double I = m * length * length / 12 + 0.002;
      const size_t used = strlen(text);
      char above[16] = "world";
      snprintf(above, i ? sizeof above : 0, "b%d", i - 1);
      snprintf(text + used, sizeof text - used,
               "  b%d: {parent: %s, joint: {at: [%g, 0, 0], limits: [%g, %g], stop: {restitution: "
               "%g}}, inertia: {mass: %g, at: [%g, 0, 0], xx: 0.01, yy: %g, zz: %g}}\n",
               i, above, at, lower, upper, k % 4 == 3 ? 0.3 : 0, m, length / 2, I, I);
      at = length;
    }
    double rate;
    const double off = rk4_off(text, 0.0005, &rate);
    CHECK(off < 1e-6, "chain %d: rk4 is off by %g", k, off);
  }
}

int main(void) {
  RUN_TESTS(T(balls_bounce), T(balls_bounce_in_redmax), T(bounces_end),
            T(bounces_without_loss_keep_the_energy), T(what_is_pressed_lets_go_in_a_blow),
            T(what_is_pressed_lets_go_when_pulled), T(blows_in_chains_converge));
}
