/* Contact together with everything else: joints that rub and have limits, loops, springs, and
 * bodies that are in each other from the start, some of them for ever.  Whatever it is, a step goes
 * on; what has only kinetic energy gains none; and the solvers agree. */
#include "mixed.h"
#include "stage.h"

#include "methods/redmax/redmax.h"

/* Those that once gained energy, stopped or took minutes, among scenes of mixed_write. */
static const int hard[] = {6, 22, 31, 83, 99, 123, 127, 130, 187, 226, 236, 383, 402};

static stage mixed_stage(int number, mixed *m, sn_options o) {
  dice d = {.seed = (uint64_t)number * 7919 + 17};
  mixed_write(m, &d);
  const double spin = roll(&d) < 0.6 ? between(&d, 0.1, 5) : 0;
  o.step = m->h;
  stage b = stage_set(m->p.text, o);
  sn_error err = {0};
  for (int i = 0; i < b.m->tree.nv; i++) {
    sn_state_qd(b.s)[i] = spin * test_random(&d.seed, -1, 1);
  }
  CHECK(sn_sim_assemble(b.sim, b.s, &err) == SN_OK, "%s", err.text);
  return b;
}

static void run_on(int number, int steps) {
  mixed m;
  stage b = mixed_stage(number, &m, redmax_options(0.01));
  double before = stage_energy(&b), most = before + 1e-3;
  for (int k = 0; k < steps; k++) {
    sn_error err = {0};
    /* loads and friction in joints that do not agree are a reservation, and no end */
    CHECK(sn_sim_step(b.sim, b.s, NULL, NULL, &err) >= SN_OK, "scene %d, step %d: %s\n%s", number,
          k, err.text, m.p.text);
    const double now = stage_energy(&b);
    CHECK(isfinite(now), "scene %d, step %d: energy %g\n%s", number, k, now, m.p.text);
    CHECK(!m.quiet || now <= before + 1e-9 * most, "scene %d, step %d: of %g J gains %g\n%s",
          number, k, most, now - before, m.p.text);
    before = now;
  }
  stage_clear(&b);
}

/* SINEW_SOAK: a thousand of them. */
TEST(whatever_touches_goes_on_and_gains_nothing) {
  const int scenes = getenv("SINEW_SOAK") ? 1000 : 20;
  for (int k = 0; k < SNI_COUNT(hard); k++) {
    run_on(hard[k], 40);
  }
  for (int k = 0; k < scenes; k++) {
    run_on(500 + k, 30);
  }
}

/* ---- all solvers take the same steps ---- */

enum { SOLVERS = 4 };
#define TOLERANCE 1e-11
static const sn_solver solver[SOLVERS] = {SN_SOLVER_GRAPH, SN_SOLVER_REDUCED_KKT, SN_SOLVER_PCG,
                                          SN_SOLVER_REDUCED};

/* False: the answer was not found. */
static bool step_one(const stage *b, sn_state *s) {
  sn_info info = {0};
  sn_error err = {0};
  CHECK(sn_sim_step(b->sim, s, NULL, &info, &err) >= SN_OK, "%s", err.text);
  return info.contact_residual <= TOLERANCE && info.friction_unsettled == 0;
}

/* One step of each from s; false: somebody has not found the answer. */
static bool step_all(stage *b, const sn_state *s, double *rate) {
  bool found = true;
  *rate = 1e-6;
  for (int k = 0; k < SOLVERS; k++) {
    CHECK(sn_state_copy(b[k].s, s) == SN_OK, "no copy");
    found = step_one(&b[k], b[k].s) && found;
  }
  for (int i = 0; i < b[0].m->tree.nv; i++) {
    *rate = fmax(*rate, fabs(sn_state_qd(b[0].s)[i]));
  }
  return found;
}

static double difference(const stage *b, sn_state *one, sn_state *two) {
  double most = 0;
  for (int i = 0; i < b->m->tree.nv; i++) {
    most = fmax(most, fabs(sn_state_qd(one)[i] - sn_state_qd(two)[i]));
  }
  return most;
}

/* In every step in which all have found an answer to 1e-11: to 1e-6, and nineteen of twenty to
 * 1e-8, since what jams answers to a little of an impulse with much of another.  Nothing that only
 * rounding tells apart may decide where bodies go. */
TEST(solvers_agree_on_all_at_once) {
  int compared = 0, alike = 0;
  for (int n = 500; n < 530; n++) {
    mixed m;
    stage b[SOLVERS];
    sn_options o = redmax_options(0.01);
    o.redmax.tolerance = 1e-13;
    o.redmax.contact.tolerance = o.redmax.friction.tolerance = TOLERANCE;
    o.redmax.contact.max_iterations = 1000;
    for (int k = 0; k < SOLVERS; k++) {
      o.redmax.solver = solver[k];
      b[k] = mixed_stage(n, &m, o);
    }
    sn_state *before = test_state(b[0].m);
    for (int step = 0; step < 10; step++) {
      double rate, off = 0;
      sn_state_copy(before, b[0].s);
      const bool found = step_all(b, before, &rate);
      for (int k = 1; k < SOLVERS && found; k++) {
        off = fmax(off, difference(b, b[k].s, b[0].s) / rate);
      }
      compared += found;
      alike += found && off <= 1e-8;
      CHECK(off <= 1e-6, "scene %d, step %d: solvers differ by %g", n, step, off);
    }
    sn_state_free(&before);
    for (int k = 0; k < SOLVERS; k++) {
      stage_clear(&b[k]);
    }
  }
  print_message("  %d of %d steps are alike\n", alike, compared);
  CHECK(compared > 200 && alike >= 0.95 * compared, "%d of %d steps are alike", alike, compared);
}

/* A box that a spring holds in the floor: neither one in a joint nor one in a loop is wound up. */
TEST(springs_that_hold_bodies_in_each_other_are_not_wound_up) {
  static const char head[] =
      "sinew: 1\n"
      "gravity: [0, 0, 0]\n"
      "contacts: {m: {friction: 0.5}}\n"
      "bodies:\n"
      "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
      "  b: {joint: {%s}, shapes: [{type: box, size: [0.2, 0.2, 0.2], density: "
      "1000, contact: m}]}\n%s";
  static const char *const way[2][2] = {
      {"type: prismatic, axis: [0, 0, 1], at: [0, 0, 0.05], stiffness: 1000", ""},
      {"type: free, at: [0, 0, 0.05]", "loops: {l: {type: prismatic, axis: [0, 0, 1], a: {body: "
                                       "world, at: [0, 0, 0.05]}, b: {body: "
                                       "b}, stiffness: 1000}}\n"}};
  for (int k = 0; k < 2; k++) {
    char text[900];
    snprintf(text, sizeof text, head, way[k][0], way[k][1]);
    stage b = stage_set(text, redmax_options(0.01));
    stage_step(&b, 1000);
    CHECK(fabs(stage_energy(&b)) < 1e-6, "way %d: %g J", k, stage_energy(&b));
    stage_clear(&b);
  }
}

/* A box that starts in the floor, on a spring: it is moved out, and what is then in the spring and
 * in its weight is what that pose has, no more, at any time. */
TEST(what_is_moved_apart_against_springs_costs_what_the_open_pose_has) {
  const double mass = 8, depth = 0.05;
  for (int k = 0; k < 3; k++) {
    const double stiffness = (const double[]){100, 1000, 10000}[k];
    char text[700];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "contacts: {m: {friction: 0.5}}\n"
             "bodies:\n"
             "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
             "  b: {joint: {type: prismatic, axis: [0, 0, 1], at: [0, 0, 0.05], stiffness: %g}, "
             "shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}]}\n",
             stiffness);
    stage b = stage_set(text, redmax_options(0.01));
    const double start = stage_energy(&b);
    const double open = 0.5 * stiffness * depth * depth + mass * 9.81 * depth;
    for (int i = 0; i < 400; i++) {
      stage_step(&b, 1);
      const double gained = stage_energy(&b) - start;
      CHECK(gained <= open, "stiffness %g, step %d: %g of %g J", stiffness, i, gained, open);
    }
    CHECK(fabs(sn_state_q(b.s)[0] - depth) < 1e-4, "stiffness %g: is %g m up", stiffness,
          sn_state_q(b.s)[0]);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(whatever_touches_goes_on_and_gains_nothing), T(solvers_agree_on_all_at_once),
            T(springs_that_hold_bodies_in_each_other_are_not_wound_up),
            T(what_is_moved_apart_against_springs_costs_what_the_open_pose_has));
}
