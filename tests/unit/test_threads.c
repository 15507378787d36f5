/* Nuts on threads, many turns along: what is closed stays, and what takes hold in a run goes to the
 * next thread. */
#include "structured.h"

#define SPINDLE                                                                                    \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "defaults: {body: {inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}}\n"                            \
  "bodies:\n"                                                                                      \
  "  spindle: {joint: {type: revolute, axis: [0, 0, 1]}}\n"                                        \
  "  nut: {joint: {type: prismatic, axis: [0, 0, 1]}}\n"

/* A start on its thread stays, in a run as well. */
TEST(a_nut_far_along_stays) {
  static const double pitch[] = {0.0008, 0.05, 2}, turns[] = {0.6, 1, -30, 2.25};
  for (int k = 0; k < 3 * 12; k++) {
    const double h = pitch[k % 3], q = 2 * SN_PI * turns[k / 9];
    char text[1000];
    snprintf(text, sizeof text,
             SPINDLE "initial: {spindle: {q: %.17g}, nut: {q: %.17g}}\n"
                     "loops: {l: {type: screw, axis: [0, 0, 1], pitch: %.17g, a: {body: spindle}, "
                     "b: {body: nut}}}\n",
             -q, h * q, h);
    stage b = stage_set(text, k / 3 % 3 == 0   ? stage_exact(0.01)
                              : k / 3 % 3 == 1 ? redmax_options(0.01)
                                               : structured_options(0.01, 1e-12));
    for (int step = 0; step < 2; step++) {
      const double *at = sn_state_q(b.s);
      CHECK(fabs(at[0] + q) < 1e-9 && fabs(at[1] - h * q) < 1e-9,
            "pitch %g, %g turns: moved by %g and %g", h, q / (2 * SN_PI), at[0] + q, at[1] - h * q);
      CHECK(fabs(stage_channel(&b, "loops.l.q") - q) < 1e-8, "q = %g", q);
      stage_step(&b, 1);
    }
    stage_clear(&b);
  }
}

/* A half-nut that takes hold in a run goes to the thread that is nearest. */
TEST(a_half_nut_takes_the_nearest_thread) {
  for (int k = 0; k < 3 * 20; k++) {
    const double h = 0.01, at = -0.5 + 0.0513 * (k / 3);
    char text[1000];
    snprintf(text, sizeof text,
             SPINDLE "initial: {spindle: {q: 40, qd: 10}, nut: {q: %.17g}}\n"
                     "motions: {motor: {joint: spindle, rate: 10}}\n"
                     "loops: {l: {type: screw, axis: [0, 0, 1], pitch: %.17g, active: 't > 0.005', "
                     "a: {body: spindle}, b: {body: nut}}}\n",
             at, h);
    stage b = stage_set(text, k % 3 == 0   ? stage_exact(0.01)
                              : k % 3 == 1 ? redmax_options(0.01)
                                           : structured_options(0.01, 1e-12));
    stage_step(&b, 2);
    const double way = sn_state_q(b.s)[1] - at;
    CHECK(fabs(way) < h * (SN_PI + 1), "method %d: at %g the nut jumps by %g, a thread is %g",
          k % 3, at, way, 2 * SN_PI * h);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(a_nut_far_along_stays), T(a_half_nut_takes_the_nearest_thread));
}
