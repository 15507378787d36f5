/* The method `structured` where iterations are broken off, and where motors ask for what cannot be
 * had: no energy is gained, nothing is thrown about, and what is left is told, whichever rows the
 * iterations are for. */
#include "structured.h"

static const int few[] = {0, 1, 2, 3, 5};
#define FEW ((int)(sizeof few / sizeof few[0]))

/* ---- springs between bodies ---- */

/* Masses that slide along one line, on the ground or on each other, and springs among them: the
 * energy is a square, so that what is true to second order is true. */
static void write_sliders(char *text, size_t size, uint64_t seed, int bodies, int springs) {
  size_t n = (size_t)snprintf(text, size, "sinew: 1\ngravity: [%g, 0, 0]\nbodies:\n",
                              test_random(&seed, -9, 9));
  for (int i = 0; i < bodies; i++) {
    const int above = (int)floor(test_random(&seed, -1, i));
    char parent[16] = "world";
    if (above >= 0) {
      snprintf(parent, sizeof parent, "b%d", above);
    }
    n += (size_t)snprintf(
        text + n, size - n,
        "  b%d: {parent: %s, joint: {type: prismatic, axis: [1, 0, 0], at: [%d, 0, 0]}, "
        "inertia: {mass: %g, xx: 1, yy: 1, zz: 1}}\n",
        i, parent, above >= 0 ? 20 * (i - above) : 20 * i, pow(10, test_random(&seed, -1, 1)));
  }
  n += (size_t)snprintf(text + n, size - n, "forces:\n");
  for (int k = 0; k < springs; k++) {
    const int a = (int)test_random(&seed, 0, bodies - 1e-9);
    const int b = (a + 1 + (int)test_random(&seed, 0, bodies - 1 - 1e-9)) % bodies;
    n += (size_t)snprintf(
        text + n, size - n,
        "  s%d: {type: spring, a: {body: b%d}, b: {body: b%d}, stiffness: %g, damping: %g}\n", k, a,
        b, pow(10, test_random(&seed, 2, 7)), k % 3 == 0 ? pow(10, test_random(&seed, 0, 3)) : 0);
  }
  n += (size_t)snprintf(text + n, size - n, "initial:\n");
  for (int i = 0; i < bodies; i++) {
    snprintf(text + n, size - n, "  b%d: {q: %g, qd: %g}\n", i, test_random(&seed, -0.1, 0.1),
             test_random(&seed, -3, 3));
    n += strlen(text + n);
  }
}

TEST(nets_of_springs_gain_no_energy) {
  char text[8000];
  int cut = 0;
  for (unsigned seed = 1; seed <= 12; seed++) {
    write_sliders(text, sizeof text, seed, 8, 14);
    for (int n = 0; n < FEW; n++) {
      sn_options o = structured_options(0.01, 1e-9);
      o.structured.iterations = few[n];
      stage g = stage_set(text, o);
      double before = stage_energy(&g);
      const double scale = fabs(before) + 100;
      for (int k = 0; k < 50; k++) {
        const sn_info info = structured_step(g.sim, g.s);
        const double now = stage_energy(&g);
        CHECK(now <= before + 1e-10 * scale, "seed %u, %d iterations, step %d: %g more than %g",
              seed, few[n], k, now - before, before);
        CHECK(info.residual > 1e-9 || few[n] > 0, "seed %u: nothing is told", seed);
        cut += info.residual > 1e-9;
        before = now;
      }
      stage_clear(&g);
    }
  }
  CHECK(cut > 1000, "%d steps were broken off", cut);
}

/* As many iterations as are asked for leave nothing, and the motion that redmax finds. */
TEST(springs_with_all_iterations_are_as_ever) {
  char text[8000];
  for (unsigned seed = 1; seed <= 4; seed++) {
    write_sliders(text, sizeof text, seed, 8, 14);
    sn_options o = structured_options(0.01, 1e-10), other = sn_options_default();
    other.method = "redmax";
    other.step = o.step;
    stage g = stage_set(text, o), r = stage_set(text, other);
    for (int k = 0; k < 50; k++) {
      const sn_info info = structured_step(g.sim, g.s);
      CHECK(info.residual <= 1e-10, "seed %u: %g is left", seed, info.residual);
    }
    stage_step(&r, 50);
    const double e = largest_difference(sn_state_q(g.s), sn_state_q(r.s), 8);
    CHECK(e < 1e-6, "seed %u: %g away", seed, e);
    stage_clear(&g);
    stage_clear(&r);
  }
}

/* Pendulums in a row with stiff springs, a loop between two of them, and bodies that hang on the
 * others: turned, so energy is no square. */
static const char pendulums[] =
    "sinew: 1\ngravity: [3, 0, -9.81]\n"
    "defaults: {body: {inertia: {mass: 1, at: [0, 0, -0.25], xx: 0.02, yy: 0.02, zz: 0.01}}}\n"
    "bodies:\n"
    "  b0: {joint: {type: revolute, axis: [0, 1, 0]}}\n"
    "  b1: {joint: {type: revolute, axis: [0, 1, 0], at: [0.3, 0, 0]}}\n"
    "  b2: {joint: {type: revolute, axis: [0, 1, 0], at: [0.6, 0, 0]}}\n"
    "  b3: {joint: {type: spherical, at: [0.9, 0, 0]}}\n"
    "  x: {parent: b0, joint: {type: spherical, at: [0, 0, -0.5]}}\n"
    "  y: {parent: x, joint: {type: spherical, at: [0, 0, -0.5]}}\n"
    "%s"
    "forces:\n"
    "  s0: {type: spring, a: {body: b0, at: [0, 0, -0.5]}, b: {body: b1, at: [0, 0, -0.4]}, "
    "stiffness: %g}\n"
    "  s1: {type: spring, a: {body: b1, at: [0, 0, -0.5]}, b: {body: b2, at: [0, 0, -0.4]}, "
    "stiffness: %g}\n"
    "  s2: {type: spring, a: {body: b2, at: [0, 0, -0.5]}, b: {body: b3, at: [0, 0, -0.4]}, "
    "stiffness: %g}\n"
    "  s3: {type: spring, a: {body: y, at: [0, 0, -0.5]}, b: {body: b3, at: [0, 0, -0.3]}, "
    "stiffness: %g}\n"
    "initial: {b0: {q: 0.5, qd: 3}}\n";

/* The most energy above that of the start in a second, and how much it is then. */
static double gained(const char *text, int iterations, double *end) {
  sn_options o = structured_options(0.01, 1e-6);
  o.structured.iterations = iterations;
  stage g = stage_set(text, o);
  const double start = stage_energy(&g);
  double most = -INFINITY;
  for (int i = 0; i < 100; i++) {
    structured_step(g.sim, g.s);
    *end = stage_energy(&g) - start;
    most = fmax(most, *end);
  }
  stage_clear(&g);
  return most;
}

/* Positions that a loop puts back load the springs, as stiff as they are: for a while there is more
 * than at the start. */
TEST(pendulums_with_stiff_springs_gain_no_energy) {
  static const char loop[] = "loops:\n"
                             "  l: {type: spherical, a: {body: b1, at: [0, 0.2, -0.5]}, b: {body: "
                             "b2, at: [-0.3, 0.2, -0.5]}}\n";
  char text[4000];
  double end;
  for (double k = 1e3; k < 2e6; k *= 10) {
    for (int n = 0; n < FEW; n++) {
      snprintf(text, sizeof text, pendulums, "", k, k / 3, k, k / 2);
      const double alone = gained(text, few[n], &end);
      CHECK(alone <= 0, "%g N/m, %d iterations: %g J", k, few[n], alone);
      snprintf(text, sizeof text, pendulums, loop, k, k / 3, k, k / 2);
      const double tied = gained(text, few[n], &end);
      CHECK(tied < 25 && end < 0, "%g N/m, %d iterations, with a loop: %g J, then %g", k, few[n],
            tied, end);
    }
  }
}

/* What is not connected with springs that are broken off moves as if they were not there. */
TEST(springs_that_are_left_do_not_brake_others) {
  char text[4000];
  snprintf(text, sizeof text, pendulums,
           "  free: {joint: {type: revolute, axis: [0, 1, 0], at: [9, 0, 0]}}\n", 1e6, 1e6, 1e6,
           1e6);
  sn_options o = structured_options(0.01, 1e-6);
  stage all = stage_set(text, o);
  o.structured.iterations = 1;
  stage one = stage_set(text, o);
  for (int k = 0; k < 50; k++) {
    structured_step(all.sim, all.s);
    CHECK(structured_step(one.sim, one.s).residual > 1e-6, "step %d is not broken off", k);
  }
  const double e = stage_channel(&all, "free.q") - stage_channel(&one, "free.q");
  CHECK(fabs(e) < 1e-12, "%g away", e);
  stage_clear(&all);
  stage_clear(&one);
}

/* ---- joints that are solved for ---- */

TEST(joints_that_are_left_are_told_and_gain_nothing) {
  static const char links[] =
      "sinew: 1\n"
      "bodies: {bar: {parent: world, joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, "
      "at: [0.25, 0, 0], xx: 0.002, yy: 0.02, zz: 0.02}, repeat: {count: 5, joint: {at: [0.5, 0, "
      "0]}}}}\n";
  for (int n = 0; n <= FEW; n++) {
    sn_options o = structured_options(0.005, 1e-6);
    o.structured.solver = SN_FULL_ITERATIVE;
    o.structured.iterations = n < FEW ? few[n] : 1000;
    stage g = stage_set(links, o);
    const double start = stage_energy(&g);
    int told = 0;
    for (int k = 0; k < 300; k++) {
      told += structured_step(g.sim, g.s).residual > 1e-6;
      const double now = stage_energy(&g);
      CHECK(now <= start + 1e-9, "%d iterations, step %d: %g J gained", o.structured.iterations, k,
            now - start);
    }
    CHECK(n < FEW ? told > 290 : told == 0, "%d iterations: %d steps are told",
          o.structured.iterations, told);
    stage_clear(&g);
  }
}

/* ---- what asks for the impossible ---- */

/* A slider that is moved on, and links of 1 m in all that hold it at a point of the world. */
static const char pulled[] =
    "sinew: 1\ngravity: [0, 0, %g]\n"
    "bodies:\n"
    "  s: {joint: {type: prismatic, axis: [1, 0, 0]}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: "
    "0.01}}\n"
    "  r: {parent: s, joint: {type: spherical}, inertia: {mass: %g, at: [%g, 0, 0], xx: 0.001, yy: "
    "0.005, zz: 0.005}, repeat: {count: %d, joint: {at: [%g, 0, 0]}}}\n"
    "motions: {m: {%s}}\n"
    "loops: {l: {type: spherical, a: {body: world, at: [-0.8, 0.3, 0]}, b: {body: r_%d, at: [%g, "
    "0, 0]}}}\n";

static stage pull(int links, const char *motion, double gravity, const sn_options *o) {
  char text[2000];
  const double length = -1.0 / links;
  snprintf(text, sizeof text, pulled, gravity, 1.0 / links, length / 2, links, length, motion,
           links, length);
  return stage_set(text, *o);
}

/* The most kinetic energy in so many seconds. */
static double thrown(stage *g, const sn_options *o, double duration) {
  double most = 0;
  for (int k = 0; k < (int)lround(duration / o->step); k++) {
    sn_energy now;
    structured_step(g->sim, g->s);
    sn_sim_energy(g->sim, g->s, &now);
    most = fmax(most, now.kinetic);
  }
  return most;
}

static const char *const motion[] = {"joint: s, q: t", "joint: s, rate: 1",
                                     "body: s, twist: [null, null, null, 1, null, null]",
                                     "body: s, point: [t, 0, 0]"};

TEST(the_impossible_throws_nothing_about_with_few_iterations) {
  for (int n = 0; n < FEW; n++) {
    for (int k = 0; k < 4; k++) {
      for (int links = 1; links <= 4; links += 3) {
        sn_options o = structured_options(links == 1 ? 0.001 : 0.01, 1e-6);
        o.structured.iterations = few[n];
        stage g = pull(links, motion[k], few[n] > 0 && k % 2 == 0 ? -9.81 : 0, &o);
        const double most = thrown(&g, &o, 2);
        CHECK(most < 25, "%d links, %s, %d iterations: %g J", links, motion[k], few[n], most);
        stage_clear(&g);
      }
    }
  }
}

/* A motor that pulls a chain out stalls where it is straight; the loop stays closed. */
TEST(motors_stall_at_dead_points) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    for (int k = 1; k <= 2; k++) {
      sn_options o = structured_options(0.01, 1e-6);
      o.structured.solver = structured_solver[n].option;
      stage g = pull(4, motion[k], -9.81, &o);
      const double most = thrown(&g, &o, 3);
      CHECK(most < 25, "'%s', %s: %g J", structured_solver[n].name, motion[k], most);
      const sn_vec3 at = structured_point(&g, "r_4", (sn_vec3){-0.25, 0, 0});
      const double open = sn_vec3_norm(sn_vec3_sub(at, (sn_vec3){-0.8, 0.3, 0}));
      CHECK(open < 1e-3, "'%s', %s: open by %g", structured_solver[n].name, motion[k], open);
      stage_clear(&g);
    }
  }
}

/* A crank, a rod and a piston. */
static stage crank_shaft(int solver, double rate, const char *active) {
  static const char text[] =
      "sinew: 1\n"
      "defaults: {body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}}\n"
      "bodies:\n"
      "  crank: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.25, 0, 0], "
      "xx: 0.01, yy: 0.03, zz: 0.03}}\n"
      "  rod: {parent: crank, joint: {type: revolute, axis: [0, 1, 0], at: [0.5, 0, 0]}}\n"
      "  piston: {joint: {type: prismatic, axis: [1, 0, 0], at: [1.5, 0, 0]}}\n"
      "loops: {pin: {type: revolute, axis: [0, 1, 0], a: {body: rod, at: [1, 0, 0]}, b: {body: "
      "piston}}}\n"
      "motions: {m: {joint: crank, rate: %g, active: \"%s\"}}\n"
      "initial: {crank: {q: 0.3}, rod: {q: -0.4}}\n";
  char scene[2000];
  snprintf(scene, sizeof scene, text, rate, active);
  sn_options o = structured_options(0.01, 1e-8);
  o.structured.solver = structured_solver[solver].option;
  return stage_set(scene, o);
}

static void check_turns(stage *g, int solver, int steps, double rate) {
  for (int k = 0; k < steps; k++) {
    structured_step(g->sim, g->s);
    const double is = stage_channel(g, "crank.qd");
    CHECK(fabs(is - rate) <= 1e-7, "'%s', step %d: %g instead of %g",
          structured_solver[solver].name, k, is, rate);
  }
}

/* One that can have its rate has it, from the first step, however fast it turns. */
TEST(motors_that_can_turn_do) {
  for (double rate = 0.01; rate < 50; rate *= 10) {
    for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
      stage g = crank_shaft(n, rate, "t > -1");
      check_turns(&g, n, 100, rate);
      stage_clear(&g);
    }
  }
}

/* One that is switched on gets there within a third of a second, even to 0.7 radians a step. */
TEST(motors_that_are_switched_on_get_to_their_rate) {
  for (double rate = 20; rate < 75; rate += 10) {
    for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
      stage g = crank_shaft(n, rate, "t > 0.045");
      for (int k = 0; k < 35; k++) {
        structured_step(g.sim, g.s);
      }
      check_turns(&g, n, 50, rate);
      stage_clear(&g);
    }
  }
}

int main(void) {
  RUN_TESTS(
      T(nets_of_springs_gain_no_energy), T(springs_with_all_iterations_are_as_ever),
      T(pendulums_with_stiff_springs_gain_no_energy), T(springs_that_are_left_do_not_brake_others),
      T(joints_that_are_left_are_told_and_gain_nothing),
      T(the_impossible_throws_nothing_about_with_few_iterations), T(motors_stall_at_dead_points),
      T(motors_that_can_turn_do), T(motors_that_are_switched_on_get_to_their_rate));
}
