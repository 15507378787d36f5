/* Constraints that repeat each other, with `closure: baumgarte`. */
#include "stage.h"

#define ARMS(limits)                                                                               \
  "sinew: 1\n"                                                                                     \
  "defaults: {body: {inertia: {mass: 1, at: [0.4, 0.05, 0.02], xx: 0.01, yy: 0.1, zz: 0.09}}}\n"   \
  "bodies:\n"                                                                                      \
  "  a1: {joint: {type: spherical, damping: 0.05}}\n"                                              \
  "  a2: {parent: a1, joint: {type: spherical, at: [0.8, 0, 0], damping: 0.05}}\n"                 \
  "  b1: {joint: {type: spherical, at: [0, 1, 0], damping: 0.05" limits "}}\n"                     \
  "  b2: {parent: b1, joint: {type: spherical, at: [0.8, 0, 0], damping: 0.05}}\n"                 \
  "initial: {a1: {q: [0.1, 0.2, 0.3]}, a2: {q: [0.2, 0.3, -0.5]},\n"                               \
  "  b1: {q: [0.2, 0.1, -0.2]}, b2: {q: [0, 0.3, 0.3]}}\n"
#define WELD_AND_POINT                                                                             \
  "constraints:\n"                                                                                 \
  "  l: {type: weld, a: {body: a2, at: [0.8, 0, 0]}, b: {body: b2, at: [0.8, 0, 0]}}\n"            \
  "  k: {type: point, a: {body: a2, at: [0.8, 0.2, 0]}, b: {body: b2, at: [0.8, 0.2, 0]}}\n"
#define TWO_HINGES                                                                                 \
  "loops:\n"                                                                                       \
  "  l: {type: revolute, axis: [0, 1, 0], a: {body: a2, at: [0.8, 0, 0]},\n"                       \
  "    b: {body: b2, at: [0.8, 0, 0]}}\n"                                                          \
  "  k: {type: revolute, axis: [0, 1, 0], a: {body: a2, at: [0.8, 0.2, 0]},\n"                     \
  "    b: {body: b2, at: [0.8, 0.2, 0]}}\n"
#define LIMITED ", cone: {swing: 0.9, axis: [1, 0, 0]}"

/* A rod on cranks: two hold it, a third repeats them. */
#define CRANKS(reach)                                                                              \
  "sinew: 1\n"                                                                                     \
  "defaults: {joint: {type: revolute, axis: [0, 1, 0]},\n"                                         \
  "  body: {inertia: {mass: 1, at: [0.2, 0, 0], xx: 0.02, yy: 0.02, zz: 0.02}}}\n"                 \
  "bodies:\n"                                                                                      \
  "  c0: {joint: {}}\n  c1: {joint: {at: [1, 0, 0]}}\n  c2: {joint: {at: [2, 0, 0]}}\n"            \
  "  rod: {parent: c0, joint: {at: [0.4, 0, 0]}}\n"                                                \
  "initial: {c0: {q: 0.3, qd: 3}, c1: {q: 0.3, qd: 3}, c2: {q: 0.3, qd: 3},\n"                     \
  "  rod: {q: -0.3, qd: -3}}\n"                                                                    \
  "loops:\n"                                                                                       \
  "  l: {type: revolute, axis: [0, 1, 0], a: {body: rod, at: [1, 0, 0]},\n"                        \
  "    b: {body: c1, at: [" reach ", 0, 0]}}\n"
#define THIRD                                                                                      \
  "  k: {type: revolute, axis: [0, 1, 0], a: {body: rod, at: [2, 0, 0]},\n"                        \
  "    b: {body: c2, at: [0.4, 0, 0]}}\n"

static const char *const repeated[] = {ARMS("") WELD_AND_POINT, ARMS("") TWO_HINGES,
                                       ARMS(LIMITED) WELD_AND_POINT, ARMS(LIMITED) TWO_HINGES,
                                       CRANKS("0.4") THIRD};
#define REPEATED ((int)(sizeof repeated / sizeof repeated[0]))

static sn_options options_of(double step, int solver, sn_closure closure) {
  sn_options o = redmax_options(step);
  o.redmax.closure = closure;
  o.redmax.solver = redmax_solver[solver].option;
  return o;
}

/* The widest gap of the next n steps. */
static double widest_gap(stage *b, int n) {
  double widest = 0, gap;
  for (int i = 0; i < n; i++) {
    stage_step(b, 1);
    sn_sim_gap(b->sim, b->s, &gap);
    widest = fmax(widest, gap);
  }
  return widest;
}

/* Gaps lock what should move, by rows that differ by them: where rows repeat each other only while
 * all are closed, they are closed. */
TEST(gaps_of_what_is_repeated_are_closed) {
  for (int n = 0; n < REPEATED; n++) {
    for (int k = 0; k < REDMAX_SOLVERS; k++) {
      stage b = stage_set(repeated[n], options_of(0.005, k, SN_CLOSURE_BAUMGARTE));
      stage same = stage_set(repeated[n], options_of(0.005, k, SN_CLOSURE_PROJECT));
      const double widest = widest_gap(&b, 200);
      CHECK(widest < 1e-9, "scene %d, '%s': a gap of %g", n, redmax_solver[k].name, widest);
      stage_step(&same, 200);
      const size_t bytes = (size_t)b.m->tree.nv * sizeof(double);
      CHECK(memcmp(sn_state_q(b.s), sn_state_q(same.s), bytes) == 0,
            "scene %d: '%s' moves otherwise", n, redmax_solver[k].name);
      stage_clear(&same);
      stage_clear(&b);
    }
  }
}

/* Hinges in space that close a planar loop have rows which nothing moves, closed or not: they do no
 * harm.  Gaps stay open as asked for, do not grow, and all solvers move alike. */
TEST(gaps_of_other_loops_stay_open) {
  double q[REDMAX_SOLVERS][4];
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    stage b = stage_set(CRANKS("0.7"), options_of(0.005, k, SN_CLOSURE_BAUMGARTE));
    stage_step(&b, 200);
    memcpy(q[k], sn_state_q(b.s), sizeof q[k]);
    for (int j = 0; j < 4; j++) {
      CHECK(fabs(q[k][j] - q[0][j]) < 1e-9, "'%s': %g", redmax_solver[k].name, q[k][j] - q[0][j]);
    }
    const double early = widest_gap(&b, 900), late = widest_gap(&b, 900);
    CHECK(early > 1e-5 && late > 1e-5 && late < 1.2 * early, "'%s': gaps of %g, then %g",
          redmax_solver[k].name, early, late);
    stage_clear(&b);
  }
}

#define CONTRADICTED(body)                                                                         \
  "motions:\n  m: {body: " body ", twist: [2*sin(t), 2*sin(t), null, null, null, null]}\n"         \
  "  n: {body: " body ", twist: [null, sin(t), null, null, null, null]}\n"

/* What cannot be had for another reason than gaps is told, open or not. */
TEST(rates_at_odds_are_told_with_open_gaps) {
  static const char *const text[] = {
      ARMS("") WELD_AND_POINT CONTRADICTED("a1"), ARMS(LIMITED) TWO_HINGES CONTRADICTED("a1"),
      CRANKS("0.4") THIRD
      "motions:\n  m: {joint: c0, rate: 2*sin(t)}\n  n: {joint: c1, rate: sin(t)}\n",
      CRANKS("0.7") "motions:\n  m: {joint: c0, rate: 2*sin(t)}\n"
                    "  n: {body: c0, twist: [null, sin(t), null, null, null, null]}\n"};
  for (int n = 0; n < (int)(sizeof text / sizeof text[0]); n++) {
    for (int k = 0; k < 2 * REDMAX_SOLVERS; k++) {
      sn_options o = options_of(0.005, k / 2, SN_CLOSURE_BAUMGARTE);
      o.redmax.inertia = k % 2 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
      stage b = stage_set(text[n], o);
      sn_error err = {0};
      sn_status status = SN_OK;
      for (int i = 0; i < 20 && !status; i++) {
        status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
      }
      CHECK(status == SN_E_UNCONVERGED && strstr(err.text, "is at odds with") &&
                strncmp(err.path, "motions.", 8) == 0,
            "scene %d, '%s': %s: %s", n, redmax_solver[k / 2].name, err.path, err.text);
      stage_clear(&b);
    }
  }
}

int main(void) {
  RUN_TESTS(T(gaps_of_what_is_repeated_are_closed), T(gaps_of_other_loops_stay_open),
            T(rates_at_odds_are_told_with_open_gaps));
}
