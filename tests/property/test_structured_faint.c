/* Joints without inertia of their own, which springs or dampers hold: closing and the rates at the
 * end of a step go by the masses alone, and what has nothing to do with such a joint must not
 * notice it.  It did: such scenes went without the rates at the end, and gained energy. */
#include "structured.h"

#define PIN                                                                                        \
  "  pin: {parent: world, joint: {type: revolute, axis: [0, 0, 1], at: [0, 5, 0], stiffness: 10, " \
  "damping: 0.01}, inertia: {mass: 2, at: [0, 0, 1], xx: 0, yy: 0, zz: 0}}\n"                      \
  "  dot: {parent: world, joint: {type: spherical, at: [0, 9, 0], damping: 0.01}, inertia: "       \
  "{mass: "                                                                                        \
  "0.1, xx: 0, yy: 0, zz: 0}}\n"

#define FOUR_BAR                                                                                   \
  "sinew: 1\n"                                                                                     \
  "defaults:\n"                                                                                    \
  "  joint: {type: revolute, axis: [0, 1, 0]}\n"                                                   \
  "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 1/12, zz: 1/12}}\n"                  \
  "initial: {crank: {q: -1, qd: 2}, rocker: {q: -1, qd: 2}, coupler: {q: 1, qd: -2}}\n"            \
  "loops: {far: {type: spherical, a: {body: coupler, at: [1, 0, 0]}, b: {body: rocker, at: [1, "   \
  "0, "                                                                                            \
  "0]}}}\n"                                                                                        \
  "bodies:\n"                                                                                      \
  "  crank: {parent: world, joint: {}}\n"                                                          \
  "  coupler: {parent: crank, joint: {at: [1, 0, 0]}}\n"                                           \
  "  rocker: {parent: world, joint: {at: [1, 0, 0]}}\n"

/* As given, which closes: where masses alone do not tell how to, no start is put together. */
static stage as_given(const char *text, sn_options o) {
  stage g = {.m = stage_model(text)};
  g.sim = test_sim(g.m, &o);
  g.s = test_state(g.m);
  return g;
}

/* With joints beside it that have no inertia, everything moves as without. */
static void beside(const char *what, const char *last, const char *alone, const char *with,
                   double step) {
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    sn_options o = structured_options(step, 1e-9);
    o.structured.solver = structured_solver[k].option;
    if (o.structured.solver == SN_FULL_DENSE || o.structured.solver == SN_FULL_ITERATIVE) {
      continue; /* they need moments about all axes */
    }
    stage a = as_given(alone, o), b = as_given(with, o);
    for (int n = 0; n < (int)lround(2 / step); n++) {
      structured_step(a.sim, a.s);
      const sn_info info = structured_step(b.sim, b.s);
      CHECK(info.gap <= 1e-9 && info.residual <= 1e-9, "%s, %s, t = %g: open by %g, residual %g",
            what, structured_solver[k].name, *sn_state_time(b.s), info.gap, info.residual);
    }
    const sn_vec3 end = {1, 0, 0};
    const double differs =
        sn_vec3_norm(sn_vec3_sub(structured_point(&a, last, end), structured_point(&b, last, end)));
    CHECK(differs <= 1e-7, "%s, %s: the end of %s differs by %g", what, structured_solver[k].name,
          last, differs);
    stage_clear(&a);
    stage_clear(&b);
  }
}

TEST(joints_without_inertia_are_not_noticed) {
  beside("a chain", "bar_10", STRUCTURED_CHAIN, STRUCTURED_CHAIN PIN, 0.01);
  beside("four bars", "coupler", FOUR_BAR, FOUR_BAR PIN, 0.005);
}

/* Bars without moments about themselves, in a loop: energy never rises above the start. */
TEST(thin_bars_gain_nothing) {
  static const double step[] = {0.01, 0.005, 0.002};
  for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
    stage g =
        as_given("sinew: 1\n"
                 "defaults:\n"
                 "  joint: {type: spherical}\n"
                 "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0, yy: 1/12, zz: 1/12}}\n"
                 "bodies:\n"
                 "  p: {parent: world, joint: {}, repeat: {count: 4, joint: {at: [1, 0, 0]}}}\n"
                 "loops:\n"
                 "  far: {type: spherical, a: {body: p_4, at: [1, 0, 0]}, b: {body: world, "
                 "at: [3.6, 0, 0]}}\n"
                 "initial: {p_1: {q: [0, -0.451026812, 0]}, p_2: {q: [0, 0.902053624, 0]}, "
                 "p_3: {q: [0, -0.902053624, 0]}, p_4: {q: [0, 0.902053624, 0]}}\n",
                 structured_options(step[k], 1e-6));
    const double start = stage_energy(&g);
    for (int n = 0; n < (int)lround(5 / step[k]); n++) {
      structured_step(g.sim, g.s);
      const double more = stage_energy(&g) - start;
      CHECK(more <= 1e-6, "h = %g, t = %g: energy rises by %g", step[k], *sn_state_time(g.s), more);
    }
    stage_clear(&g);
  }
}

int main(void) {
  RUN_TESTS(T(joints_without_inertia_are_not_noticed), T(thin_bars_gain_nothing));
}
