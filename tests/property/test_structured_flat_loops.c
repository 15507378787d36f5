/* Linkages of which several loops are flat at once: scissor lifts that turn inside out,
 * Peaucellier's. There rates and gaps within the precision may cost all of the energy, at 1e-3 and
 * at 1e-6; how near such a pose is shows in the forces, and they are found as far as they should
 * be. */
#include "structured.h"

#include "methods/sim.h"

#define BAR(name, parent, at, from, to)                                                            \
  "  " name ": {parent: " parent ", joint: {at: " at "}, shapes: [{type: capsule, from: " from     \
  ", to: " to ", radius: 0.02}]}\n"

/* A scissor lift of five stages, of crossed bars of 1 m, that comes down under its weight and turns
 * inside out: all of its loops are flat then. */
static const char *scissor_lift(void) {
  static char text[4096];
  const double c = cos(0.6), s = sin(0.6);
  char *at = text, *end = text + sizeof text;
  at += snprintf(at, (size_t)(end - at),
                 "sinew: 1\n"
                 "defaults: {joint: {type: revolute, axis: [0, 1, 0]}, shape: {density: 1000}}\n"
                 "bodies:\n" BAR("u0", "world", "[0, 0, 0]", "[0, 0, 0]", "[%.17g, 0, %.17g]")
                     BAR("d0", "u0", "[%.17g, 0, %.17g]", "[%.17g, 0, %.17g]", "[%.17g, 0, %.17g]"),
                 c, s, c / 2, s / 2, c / 2, -s / 2, -c / 2, s / 2);
  at += snprintf(at, (size_t)(end - at),
                 "  foot: {parent: world, joint: {type: prismatic, axis: [1, 0, 0], at: [%.17g, 0, "
                 "0]}, shapes: [{type: capsule, from: [-0.02, 0, 0], to: [0.02, 0, 0], radius: "
                 "0.02}]}\n",
                 c);
  for (int k = 1; k < 5; k++) {
    const double half = k > 1 ? 1 : 0.5; /* the first two bars are joined in the middle */
    at += snprintf(at, (size_t)(end - at),
                   BAR("u%d", "d%d", "[%.17g, 0, %.17g]", "[0, 0, 0]", "[%.17g, 0, %.17g]")
                       BAR("d%d", "u%d", "[%.17g, 0, %.17g]", "[0, 0, 0]", "[%.17g, 0, %.17g]"),
                   k, k - 1, -half * c, half * s, c, s, k, k - 1, c, s, -c, s);
  }
  at += snprintf(at, (size_t)(end - at),
                 "loops:\n"
                 "  foot: {type: revolute, axis: [0, 1, 0], a: {body: d0, at: [%.17g, 0, %.17g]}, "
                 "b: {body: foot}}\n",
                 c / 2, -s / 2);
  for (int k = 1; k < 5; k++) {
    at +=
        snprintf(at, (size_t)(end - at),
                 "  m%d: {type: revolute, axis: [0, 1, 0], a: {body: u%d, at: [%.17g, 0, %.17g]}, "
                 "b: {body: d%d, at: [%.17g, 0, %.17g]}}\n",
                 k, k, c / 2, s / 2, k, -c / 2, s / 2);
  }
  at += snprintf(at, (size_t)(end - at), "initial: {u0: {qd: 1}}\n");
  CHECK(at < end, "too long");
  return text;
}

/* However roughly rates are asked for: where forces are large for what they do, what is left of
 * rates is made less.  It had lost all of it at 1e-3, instead of a third in these five seconds. */
TEST(many_loops_are_flat_at_once) {
  for (int fine = 0; fine < 3; fine++) {
    const double h = (const double[]){0.005, 0.002, 0.001}[fine];
    sn_options o = structured_options(h, 1e-11);
    o.structured.solver = SN_STRUCTURED_GRAPH;
    const structured_course exact = structured_run(scissor_lift(), o, 5);
    const double lost = exact.start - exact.end;
    for (int k = 0; k < 4; k++) {
      const double precision = (const double[]){1e-3, 3e-4, 1e-4, 1e-5}[k];
      const structured_course c =
          structured_run(scissor_lift(), structured_options(h, precision), 5);
      CHECK(fabs(c.end - exact.end) < 0.1 * lost, "%g, %g s: %g J instead of %g of %g", precision,
            h, c.end, exact.end, c.start);
      CHECK(c.most <= c.start + 1e-12 * c.kinetic, "%g, %g s: %g J", precision, h, c.most);
    }
  }
}

/* Peaucellier's linkage, which draws a straight line: its crank goes past poses in which all three
 * loops are flat.  Beside it, as bodies, loops, other parts and rates, whatever is given. */
#define LINK(name, parent, at, to)                                                                 \
  "  " name ": {parent: " parent ", joint: {at: " at                                               \
  "}, shapes: [{type: capsule, from: [0, 0, 0], to: " to ", radius: 0.02}]}\n"
#define PIN(name, a, at, b, bt)                                                                    \
  "  " name ": {type: revolute, axis: [0, 1, 0], a: {body: " a ", at: " at "}, b: {body: " b       \
  ", at: " bt "}}\n"
#define C_IN_CRANK "[0.438791280945186, 0, 0.239712769302102]"
#define D_IN_OD    "[1.32903145093706, 0, 0.695467758001853]"
#define E_IN_OE    "[1.49975983000812, 0, 0.0268412424080068]"
#define RISING     "[0.390240169991877, 0, 0.455754988699752]"
#define FALLING    "[0.560968549062937, 0, -0.212871526894095]"
// clang-format off
#define PEAUCELLIER(bodies, loops, parts, rates)                                                   \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "defaults: {joint: {type: revolute, axis: [0, 1, 0]}, shape: {density: 1000}}\n"                 \
  "bodies:\n"                                                                                      \
  LINK("crank", "world", "[0.5, 0, 0]", C_IN_CRANK)                                                \
  LINK("od", "world", "[0, 0, 0]", D_IN_OD)                                                        \
  LINK("oe", "world", "[0, 0, 0]", E_IN_OE)                                                        \
  LINK("cd", "crank", C_IN_CRANK, RISING)                                                          \
  LINK("ce", "crank", C_IN_CRANK, FALLING)                                                         \
  LINK("dp", "od", D_IN_OD, FALLING)                                                               \
  LINK("ep", "oe", E_IN_OE, RISING) bodies                                                         \
  "loops:\n"                                                                                       \
  PIN("d", "cd", RISING, "od", D_IN_OD)                                                            \
  PIN("e", "ce", FALLING, "oe", E_IN_OE)                                                           \
  PIN("p", "dp", FALLING, "ep", RISING) loops parts                                                \
  "initial: {" rates "}\n"
// clang-format on
#define FAST PEAUCELLIER("", "", "", "crank: {qd: 4}")

/* Gaps, too, are closed as far as they should be, with as many iterations as that takes; at a fine
 * precision what constraints may give way by as forces grow must be less, too.  It had lost a third
 * to all of it. */
TEST(gaps_are_closed_where_loops_are_flat) {
  static const struct {
    double precision, regularization;
  } ways[] = {{1e-3, 1e-9}, {1e-4, 1e-9}, {1e-4, 1e-11}, {1e-6, 1e-11}};
  for (int fine = 0; fine < 3; fine++) {
    const double h = (const double[]){0.002, 0.001, 0.0005}[fine];
    const structured_course with = structured_run(FAST, redmax_options(h), 5);
    const double lost = with.start - with.end;
    for (int k = 0; k < SNI_COUNT(ways); k++) {
      sn_options o = structured_options(h, ways[k].precision);
      o.structured.regularization = ways[k].regularization;
      const structured_course c = structured_run(FAST, o, 5);
      CHECK(fabs(c.end - with.end) < 0.2 * lost, "%g, %g s: %g J, redmax %g of %g",
            ways[k].precision, h, c.end, with.end, c.start);
      CHECK(c.most <= c.start + 1e-12 * c.kinetic, "%g, %g s: %g J", ways[k].precision, h, c.most);
    }
  }
}

/* Four heavy bars, which have nothing to do with it. */
#define HEAVY_BODIES                                                                               \
  "  ha: {parent: world, joint: {at: [10, 0, 0]}, shapes: [{type: capsule, from: [0, 0, 0], to: "  \
  "[0, 0, 1], radius: 0.3}]}\n"                                                                    \
  "  hc: {parent: ha, joint: {at: [0, 0, 1]}, shapes: [{type: capsule, from: [0, 0, 0], to: [3, "  \
  "0, 0.3], radius: 0.3}]}\n"                                                                      \
  "  hb: {parent: world, joint: {at: [13, 0, -1]}, shapes: [{type: capsule, from: [0, 0, 0], to: " \
  "[0, 0, 2.3], radius: 0.3}]}\n"
#define HEAVY_LOOPS PIN("h", "hc", "[3, 0, 0.3]", "hb", "[0, 0, 2.3]")

static double rate_of_crank(const char *text, sn_options o, double duration) {
  stage g = stage_set(text, o);
  for (int k = 0; k < (int)lround(duration / o.step); k++) {
    structured_step(g.sim, g.s);
  }
  const double rate = stage_channel(&g, "crank.qd");
  stage_clear(&g);
  return rate;
}

/* What moves beside a linkage, and how fast, has no say in what is enough for it: sums over all
 * had it brake, to a third of its rate. */
TEST(neighbours_have_no_say) {
  static const char *const text[] = {
      PEAUCELLIER("", "", "", "crank: {qd: 1}"),
      PEAUCELLIER(HEAVY_BODIES, HEAVY_LOOPS, "", "crank: {qd: 1}, ha: {qd: 1}")};
  for (int fine = 0; fine < 2; fine++) {
    const double h = fine ? 0.001 : 0.005;
    const double alone = rate_of_crank(text[0], structured_options(h, 1e-3), 10);
    const double beside = rate_of_crank(text[1], structured_options(h, 1e-3), 10);
    const double with = rate_of_crank(text[0], redmax_options(h), 10);
    CHECK(fabs(alone - with) < 0.01 * fabs(with), "%g s: %g rad/s, redmax %g", h, alone, with);
    CHECK(fabs(beside - alone) < 0.01 * fabs(alone), "%g s: %g rad/s, alone %g", h, beside, alone);
  }
}

/* The last of the numbers of the method in a state. */
static double flatness(const stage *g) {
  const int count = g->sim->method->state_count(g->m);
  return sni_state_private(g->s)[count - 1];
}

/* The largest in so many steps. */
static double flattest(stage *g, int steps) {
  double most = 0;
  for (int k = 0; k < steps; k++) {
    structured_step(g->sim, g->s);
    most = fmax(most, flatness(g));
  }
  return most;
}

/* It is large near such poses, and only there: it is not in ladders.  Who does not count it knows
 * none. */
TEST(flatness_is_known) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    const bool counts = structured_solver[n].option == SN_STRUCTURED;
    sn_options o = structured_options(0.002, 1e-3);
    o.structured.solver = structured_solver[n].option;
    stage fast = stage_set(FAST, o);
    const double near = flattest(&fast, 1000);
    CHECK(counts ? near > 1000 : near == 0, "%s: %g", structured_solver[n].name, near);
    stage_clear(&fast);
  }
  sn_options o = structured_options(0.01, 1e-3);
  stage ladder = {.m = structured_ladder(2, 24)};
  ladder.sim = test_sim(ladder.m, &o);
  ladder.s = test_state(ladder.m);
  const double hardly = flattest(&ladder, 200);
  CHECK(hardly > 1 && hardly < 20, "%g", hardly);
  stage_clear(&ladder);
}

/* All of it is in the state: whoever goes on from there goes on to the same bits, with springs, and
 * rows that have come and gone. */
TEST(it_goes_on_from_a_state) {
  static const char springs[] = PEAUCELLIER(
      "  x: {parent: world, joint: {type: free}, inertia: {mass: 1e-4, xx: 1e-6, yy: 1e-6, zz: "
      "1e-6}}\n",
      "",
      "constraints:\n"
      "  hold: {type: point, a: {body: x}, b: {body: world}, active: t < 0.3}\n"
      "forces:\n"
      "  s: {type: spring, a: {body: crank, at: [0.1, 0, 0.1]}, b: {body: od, at: [0.2, 0, 0]}, "
      "stiffness: 3e4, damping: 100}\n"
      "  u: {type: spring, a: {body: cd, at: [0.1, 0, 0.1]}, b: {body: ep, at: [0.2, 0, 0]}, "
      "stiffness: 3e4, damping: 100}\n",
      "crank: {qd: 4}");
  static const char *const text[] = {FAST, springs};
  const sn_options o = structured_options(0.005, 1e-3);
  for (int way = 0; way < 2; way++) {
    stage g = stage_set(text[way], o);
    for (int k = 0; k < 80; k++) {
      sn_sim *other = test_sim(g.m, &o);
      sn_state *again = test_state(g.m);
      sn_state_copy(again, g.s);
      for (int n = 0; n < 5; n++) {
        structured_step(g.sim, g.s);
        structured_step(other, again);
      }
      CHECK(sn_state_equal(g.s, again), "%d, before %g s: another motion", way,
            *sn_state_time(g.s));
      sn_state_free(&again);
      sn_sim_free(&other);
    }
    stage_clear(&g);
  }
}

int main(void) {
  RUN_TESTS(T(many_loops_are_flat_at_once), T(gaps_are_closed_where_loops_are_flat),
            T(neighbours_have_no_say), T(flatness_is_known), T(it_goes_on_from_a_state));
}
