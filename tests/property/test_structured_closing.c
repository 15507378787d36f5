/* Closing takes as many passes as it takes: what Newton's method gets nearer to, if slowly, is no
 * contradiction, and nothing is braked for it. */
#include "structured.h"

/* A ladder of 12 rungs, two bars of a string between them, of this length and 1 kg, slender, level
 * at first. */
static void write_ladder(char *out, size_t size, double length, double slender) {
  const double across = 2 * length;
  size_t n = (size_t)snprintf(
      out, size,
      "sinew: 1\n"
      "defaults:\n"
      "  joint: {type: spherical}\n"
      "  body: {inertia: {mass: 1, at: [%g, 0, 0], xx: %g, yy: %.10g, zz: %.10g}}\n"
      "bodies:\n"
      "  near: {parent: world, joint: {}, repeat: {count: 24, joint: {at: [%g, 0, 0]}}}\n"
      "  far: {parent: world, joint: {at: [0, %g, 0]}, repeat: {count: 24, joint: {at: [%g, 0, "
      "0]}}}\n",
      length / 2, slender, length * length / 12, length * length / 12, length, across, length);
  for (int k = 1; k <= 12; k++) {
    n += (size_t)snprintf(
        out + n, size - n,
        "  rung_%d: {parent: near_%d, joint: {at: [%g, 0, 0]}, inertia: {mass: 1, "
        "at: [0, %g, 0], xx: %.10g, yy: %g, zz: %.10g}}\n",
        k, 2 * k, length, across / 2, across * across / 12, slender, across * across / 12);
  }
  n += (size_t)snprintf(out + n, size - n, "loops:\n");
  for (int k = 1; k <= 12; k++) {
    n += (size_t)snprintf(out + n, size - n,
                          "  knot_%d: {type: spherical, a: {body: far_%d, at: [%g, 0, 0]}, b: "
                          "{body: rung_%d, at: [0, %g, 0]}}\n",
                          k, 2 * k, length, k, across);
  }
  CHECK(n < size, "no room");
}

/* 10 kg on two chains of 10 g a link, which are slack at first and snatch. */
#define SNATCHED                                                                                   \
  "sinew: 1\n"                                                                                     \
  "defaults: {joint: {type: spherical}, body: {inertia: {mass: 0.01, at: [0.1, 0, 0], xx: "        \
  "1.0e-6, yy: 4.0e-5, zz: 4.0e-5}}}\n"                                                            \
  "bodies:\n"                                                                                      \
  "  l: {joint: {}, repeat: {count: 5, joint: {at: [0.2, 0, 0]}}}\n"                               \
  "  r: {joint: {at: [1.6, 0, 0]}, repeat: {count: 5, joint: {at: [-0.2, 0, 0]}}, inertia: "       \
  "{mass: 0.01, at: [-0.1, 0, 0], xx: 1.0e-6, yy: 4.0e-5, zz: 4.0e-5}}\n"                          \
  "  box: {joint: {type: free, at: [0.8, 0, -0.6]}, inertia: {mass: 10, xx: 0.2, yy: 0.2, zz: "    \
  "0.2}}\n"                                                                                        \
  "loops:\n"                                                                                       \
  "  a: {type: spherical, a: {body: l_5, at: [0.2, 0, 0]}, b: {body: box, at: [-0.2, 0, 0.1]}}\n"  \
  "  b: {type: spherical, a: {body: r_5, at: [-0.2, 0, 0]}, b: {body: box, at: [0.2, 0, 0.1]}}\n"  \
  "initial: {box: {qd: [0.3, 0.5, 0, 0, 0, 0]}}\n"

/* Every step closes, and none takes more than this part of the kinetic energy once there is some:
 * those that were taken for a contradiction took 20 to 75 %. */
static void swing(const char *what, const char *text, double step, double duration, double most) {
  stage g = stage_set(text, structured_options(step, 1e-6));
  double before = 0, largest = 0;
  for (int k = 0; k < (int)lround(duration / step); k++) {
    const sn_info info = structured_step(g.sim, g.s);
    CHECK(info.gap <= 1e-6 && info.residual <= 1e-6, "%s, t = %g: open by %g, residual %g", what,
          *sn_state_time(g.s), info.gap, info.residual);
    sn_energy e;
    sn_sim_energy(g.sim, g.s, &e);
    largest = fmax(largest, e.kinetic);
    CHECK(before < 0.3 * largest || e.kinetic >= (1 - most) * before,
          "%s, t = %g: kinetic energy falls from %g to %g", what, *sn_state_time(g.s), before,
          e.kinetic);
    before = e.kinetic;
  }
  stage_clear(&g);
}

TEST(slender_ladders_close) {
  static const struct {
    double length, slender, step, duration;
  } ladder[] = {{10, 2e-4, 0.01, 37}, {0.25, 3e-7, 0.01, 4}, {0.25, 2e-8, 0.005, 4}};
  char text[8000], what[80];
  for (size_t k = 0; k < sizeof ladder / sizeof *ladder; k++) {
    write_ladder(text, sizeof text, ladder[k].length, ladder[k].slender);
    snprintf(what, sizeof what, "bars of %g m, %g", ladder[k].length, ladder[k].slender);
    swing(what, text, ladder[k].step, ladder[k].duration, 0.15);
  }
}

TEST(a_load_is_snatched) {
  swing("10 kg on light chains", SNATCHED, 0.005, 3, 1);
}

int main(void) {
  RUN_TESTS(T(slender_ladders_close), T(a_load_is_snatched));
}
