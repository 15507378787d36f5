/* Heavy loads on light chains, and stiff springs that press on linkages, in the method
 * `structured`: what loops bear makes branches as stiff as weight does, so nothing flutters, tears
 * or gains energy in steps that are long for it. */
#include "structured.h"

/* A seat that hangs on a chain of n light links at either side, some of it aside. */
static void write_swing(char *out, size_t size, int n, double mass, double aside) {
  snprintf(out, size,
           "sinew: 1\n"
           "defaults:\n"
           "  body: {inertia: {mass: 0.05, at: [0, 0, %g], xx: 4.3e-5, yy: 4.3e-5, zz: 2.5e-6}}\n"
           "  joint: {type: spherical}\n"
           "bodies:\n"
           "  a: {parent: world, joint: {}, repeat: {count: %d, joint: {at: [0, 0, %g]}}}\n"
           "  b: {parent: world, joint: {at: [1, 0, 0]}, repeat: {count: %d, joint: {at: [0, 0, "
           "%g]}}}\n"
           "  seat: {parent: a_%d, joint: {at: [0, 0, %g]}, inertia: {mass: %g, at: [0.5, 0, 0], "
           "xx: 2, yy: 8, zz: 8}}\n"
           "loops:\n"
           "  knot: {type: spherical, a: {body: seat, at: [1, 0, 0]}, b: {body: b_%d, at: [0, 0, "
           "%g]}}\n"
           "initial: {a_1: {q: [%g, 0, 0]}, b_1: {q: [%g, 0, 0]}, seat: {q: [%g, 0, 0]}}\n",
           -1.0 / n, n, -2.0 / n, n, -2.0 / n, n, -2.0 / n, mass, n, -2.0 / n, aside, aside,
           -aside);
}

/* The loop is held in every step, and energy never above that of the start. */
static void walk_loaded(stage *g, const char *what, int steps, double precision) {
  const double start = stage_energy(g);
  for (int k = 0; k < steps; k++) {
    const sn_info info = structured_step(g->sim, g->s);
    CHECK(info.gap <= precision && info.residual <= precision,
          "%s, t = %g: open by %g, residual %g", what, *sn_state_time(g->s), info.gap,
          info.residual);
    const double more = stage_energy(g) - start;
    CHECK(more <= 0, "%s, t = %g: energy rises by %g", what, *sn_state_time(g->s), more);
  }
}

static sn_vec3 seat_after(stage *g) {
  return structured_point(g, "seat", (sn_vec3){0.5, 0, 0});
}

/* 80 kg on chains of 50 g a link.  With the same matrix both methods take the same step, but for
 * what gaps of the precision do: 2e-5 m after a second of a wide swing, 7e-4 m after three with
 * four times as many links. */
static void hang(int n, double aside, int solvers, double duration) {
  const double step = 0.01, precision = 1e-6;
  const int steps = (int)lround(duration / step);
  char text[2000], what[80];
  write_swing(text, sizeof text, n, 80, aside);
  stage r = stage_set(text, redmax_options(step));
  stage_step(&r, steps);
  const sn_vec3 there = seat_after(&r);
  stage_clear(&r);
  for (int k = 0; k < solvers; k++) {
    sn_options o = structured_options(step, precision);
    o.structured.solver = structured_solver[k].option;
    snprintf(what, sizeof what, "%s, %d links, aside by %g", structured_solver[k].name, n, aside);
    stage g = stage_set(text, o);
    walk_loaded(&g, what, steps, precision);
    const double off = sn_vec3_norm(sn_vec3_sub(seat_after(&g), there));
    CHECK(off < 1e-3, "%s: %g m from where redmax has it", what, off);
    stage_clear(&g);
  }
}

TEST(a_heavy_seat_stays_on_its_chains) {
  hang(5, 0.3, STRUCTURED_SOLVERS, 1);
  hang(5, 0.02, STRUCTURED_SOLVERS, 1);
  hang(20, 0.3, 1, 3);
  hang(20, 0.02, 1, 3);
}

/* ---- what presses ---- */

/* A strut of 100 kN/m presses two arms against the rod that joins them: with 18 kN, on 1 kg each.
 */
static const char pressed[] =
    "sinew: 1\n"
    "gravity: [0, 0, 0]\n"
    "defaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, at: [0.3, 0, "
    "0], xx: 0.01, yy: 0.06, zz: 0.06}}}\n"
    "bodies:\n"
    "  crank: {parent: world, joint: {}}\n"
    "  arm: {parent: world, joint: {at: [1, 0, 0]}}\n"
    "constraints:\n"
    "  rod: {type: distance, a: {body: crank, at: [0.6, 0, 0]}, b: {body: arm, at: [0.5, 0, 0]}}\n"
    "forces:\n"
    "  strut: {type: spring, stiffness: 1e5, damping: %d, rest_length: 1.2, a: {body: crank, at: "
    "[0.5, 0, 0.1]}, b: {body: arm, at: [0.2, 0, -0.1]}}\n"
    "initial: {crank: {q: -1.2}, arm: {q: -2}}\n";
#define PRESSES 18e3 /* N */

/* It comes to rest where redmax has it; what the rod is open by is worth PRESSES times that. */
TEST(what_presses_on_a_linkage_comes_to_rest) {
  const double step[] = {0.02, 0.01, 0.005}, precision = 1e-6;
  for (int k = 0; k < 6; k++) {
    const double h = step[k / 2];
    char text[1000], what[60];
    snprintf(text, sizeof text, pressed, k % 2 ? 1000 : 0);
    stage r = stage_set(text, redmax_options(h));
    stage_step(&r, (int)lround(10 / h));
    const double rest = stage_energy(&r);
    for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
      sn_options o = structured_options(h, precision);
      o.structured.solver = structured_solver[n].option;
      snprintf(what, sizeof what, "%s, %g s", structured_solver[n].name, h);
      stage g = stage_set(text, o);
      walk_loaded(&g, what, (int)lround(10 / h), precision);
      const double left = stage_energy(&g) - rest;
      CHECK(fabs(left) < 2 * PRESSES * precision, "%s: ends with %g J more than redmax", what,
            left);
      sn_energy e;
      sn_sim_energy(g.sim, g.s, &e);
      CHECK(e.kinetic < 1e-9, "%s: still moves, T = %g", what, e.kinetic);
      stage_clear(&g);
    }
    stage_clear(&r);
  }
}

/* A link that spins at 60 rad/s when the loop is switched on that it is part of; arms in a loop
 * from which another is taken.  What stops in no time is borne by nobody after that: both methods
 * go on with the same energy, in each of the steps that follow. */
#define SPUN(spin, loops)                                                                          \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "defaults: {body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}}\n"          \
  "bodies:\n"                                                                                      \
  "  a: {joint: {type: revolute, axis: [0, 1, 0]}}\n"                                              \
  "  b: {parent: a, joint: {type: spherical, at: [1, 0, 0]}}\n"                                    \
  "  c: {parent: b, joint: {type: spherical, at: [1, 0, 0]}}\n"                                    \
  "loops:\n" loops "initial: {a: {q: -0.6}, b: {q: [0, 0.8, 0]}, c: {q: [0, 0.5, 0], qd: [" spin   \
  ", 0, 0]}}\n"
#define TO_GROUND "{type: spherical, a: {body: c, at: [1, 0, 0]}, b: {body: world, at: [2.2, 0, 0]}"

static void switch_like_redmax(const char *what, const char *text, double step, int solver) {
  sn_options o = structured_options(step, 1e-9);
  o.structured.solver = structured_solver[solver].option;
  stage r = stage_set(text, redmax_options(step)), g = stage_set(text, o);
  for (int k = 0; k < (int)lround(0.3 / step); k++) {
    sn_energy is, was;
    stage_step(&r, 1);
    structured_step(g.sim, g.s);
    sn_sim_energy(r.sim, r.s, &was);
    sn_sim_energy(g.sim, g.s, &is);
    CHECK(fabs(is.kinetic - was.kinetic) <= 2e-3 * was.kinetic,
          "%s, %s, h = %g, t = %g: kinetic energy %g, redmax has %g", what,
          structured_solver[solver].name, step, *sn_state_time(g.s), is.kinetic, was.kinetic);
  }
  stage_clear(&r);
  stage_clear(&g);
}

TEST(what_is_switched_is_as_in_redmax) {
  static const double step[] = {0.008, 0.004, 0.001};
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    for (size_t n = 0; n < sizeof step / sizeof *step; n++) {
      switch_like_redmax("on", SPUN("60", "  l: " TO_GROUND ", active: \"t > 0.1\"}\n"), step[n],
                         k);
      switch_like_redmax("off",
                         SPUN("20", "  l: " TO_GROUND ", active: \"t < 0.1\"}\n"
                                    "  m: {type: spherical, a: {body: b, at: [0.5, 0, 0]}, b: "
                                    "{body: world, at: [1.2, 0, 0.5]}, active: \"t > 0.2\"}\n"),
                         step[n], k);
    }
  }
}

int main(void) {
  RUN_TESTS(T(a_heavy_seat_stays_on_its_chains), T(what_presses_on_a_linkage_comes_to_rest),
            T(what_is_switched_is_as_in_redmax));
}
