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

int main(void) {
  RUN_TESTS(T(balls_bounce), T(balls_bounce_in_redmax), T(bounces_end),
            T(bounces_without_loss_keep_the_energy));
}
