/* What limits do to a motion: known motions, energy, momentum, by the method recursive and by
 * redmax with all its solvers; cones, half-spaces, limits of loops; soft stops. */
#include "trees.h"
#include "stage.h"

/* How far the worst hard row is passed. */
static double passed(const stage *b) {
  const double t = *sn_state_time(b->s), *q = sn_state_q(b->s), *qd = sn_state_qd(b->s);
  int worst;
  sni_dynamics_kinematics(&b->sim->d, q, qd);
  sni_rows_eval(&b->sim->rows, t, t, q, qd);
  return sni_rows_gap(&b->sim->rows, &worst);
}

/* ---- one body ---- */

/* A pendulum that meets its stop keeps e of its speed. */
TEST(restitution_is_kept) {
  stage b = stage_set("sinew: 1\n"
                      "bodies:\n"
                      "  rod:\n"
                      "    joint: {type: revolute, axis: [0, 1, 0], limits: [-1, 30*deg], stop: "
                      "{restitution: 0.7}}\n"
                      "    shapes: [{type: capsule, from: [0, 0, 0], to: [1, 0, 0], radius: 0.05, "
                      "density: 1000}]\n",
                      stage_exact(0.001));
  double ratio = 0;
  for (int k = 0; k < 1000 && ratio == 0; k++) {
    const double before = sn_state_qd(b.s)[0], E = stage_energy(&b);
    stage_step(&b, 1);
    if (sn_state_qd(b.s)[0] < 0 && before > 0) { /* both energies are those at the stop */
      const double after = stage_energy(&b);
      sn_state_q(b.s)[0] = SN_PI / 6;
      sn_state_qd(b.s)[0] = 0;
      const double V = stage_energy(&b);
      ratio = sqrt((after - V) / (E - V));
    }
  }
  CHECK(fabs(ratio - 0.7) < 1e-6, "%.9g", ratio);
  stage_clear(&b);
}

/* ---- chains ---- */

/* The first link may turn, the others no further than their stops. */
#define CHAIN                                                                                      \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  link:\n"                                                                                      \
  "    joint: {type: revolute, axis: [0, 1, 0], limits: [-9, 9]}\n"                                \
  "    repeat: {count: %d, joint: {at: [0.5, 0, 0], limits: [-0.3, 0.2]}}\n"                       \
  "    shapes: [{type: capsule, from: [0, 0, 0], to: [0.5, 0, 0], radius: 0.05, density: 1000}]\n"

/* Limits that act once they are passed, and are then put back to their border by every solver to
 * its own last digit: what lies there has passed, for all of them. */
TEST(borders_count_as_passed) {
  char text[1000];
  snprintf(text, sizeof text, CHAIN, 5);
  double q[REDMAX_SOLVERS][5];
  for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = redmax_solver[solver].option;
    o.redmax.tolerance = 1e-13;
    o.redmax.activation = SN_ACTIVATION_PENETRATION;
    stage b = stage_set(text, o);
    stage_step(&b, 60);
    memcpy(q[solver], sn_state_q(b.s), sizeof q[solver]);
    for (int i = 0; i < 5; i++) {
      CHECK(fabs(q[solver][i] - q[0][i]) < 1e-9, "%s, coordinate %d: %g, not %g",
            redmax_solver[solver].name, i, q[solver][i], q[0][i]);
    }
    stage_clear(&b);
  }
}

/* Plastic stops take energy, and every solver finds the same motion. */
TEST(solvers_agree_and_energy_falls) {
  char text[1000];
  snprintf(text, sizeof text,
           CHAIN "gravity: [0, 0, 0]\n"
                 "initial: {link_1: {qd: 3}, link_3: {qd: -7}, link_5: {qd: 4}, link_8: {qd: 9}}\n",
           8);
  for (int integrator = 0; integrator < 2; integrator++) {
    double q[REDMAX_SOLVERS][8];
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      sn_options o = redmax_options(0.01);
      o.redmax.solver = redmax_solver[solver].option;
      o.redmax.tolerance = 1e-13;
      o.redmax.integrator = integrator ? SN_EXTRAPOLATED : SN_EULER;
      stage b = stage_set(text, o);
      double E = stage_energy(&b), most = 0;
      int at_stop = 0;
      for (int k = 0; k < 150; k++) {
        stage_step(&b, 1);
        const double now = stage_energy(&b);
        CHECK(now <= E * (1 + 1e-9), "%s, integrator %d, t = %g: energy rises by %g",
              redmax_solver[solver].name, integrator, *sn_state_time(b.s), now - E);
        E = now;
        most = fmax(most, passed(&b));
        for (int i = 1; i < 8; i++) {
          const double x = sn_state_q(b.s)[i];
          at_stop += x > 0.2 - 1e-8 || x < -0.3 + 1e-8;
        }
        if (k == 60) {
          memcpy(q[solver], sn_state_q(b.s), sizeof q[solver]);
        }
      }
      CHECK(most < 1e-9, "%s: passed by %g", redmax_solver[solver].name, most);
      CHECK(at_stop > 100, "%s: at a stop %d times", redmax_solver[solver].name, at_stop);
      for (int i = 0; i < 8; i++) {
        /* extrapolated steps depend on which rows push: not on those that do by rounding */
        CHECK(fabs(q[solver][i] - q[0][i]) < 1e-7, "%s, integrator %d, coordinate %d: %g, not %g",
              redmax_solver[solver].name, integrator, i, q[solver][i], q[0][i]);
      }
      stage_clear(&b);
    }
  }
}

/* Hundreds of limits: the graph, and the same as in the dual. */
TEST(long_chains) {
  char text[800];
  snprintf(text, sizeof text, CHAIN, 60);
  double q[2][60];
  for (int graph = 0; graph < 2; graph++) {
    sn_options o = redmax_options(0.005);
    o.redmax.solver = graph ? SN_SOLVER_GRAPH : SN_SOLVER_TREE;
    stage b = stage_set(text, o);
    for (int k = 0; k < 60; k++) {
      stage_step(&b, 1);
      CHECK(passed(&b) < 1e-9, "graph %d, step %d: passed by %g", graph, k, passed(&b));
    }
    memcpy(q[graph], sn_state_q(b.s), sizeof q[graph]);
    stage_clear(&b);
  }
  for (int i = 0; i < 60; i++) {
    CHECK(fabs(q[0][i] - q[1][i]) < 1e-6, "link %d: %g and %g", i, q[0][i], q[1][i]);
  }
}

/* redmax converges to what recursive does. */
TEST(methods_agree) {
  char text[800];
  snprintf(text, sizeof text, CHAIN, 3);
  stage exact = stage_set(text, stage_exact(0.01));
  stage_step(&exact, 40);
  double off[2];
  for (int fine = 0; fine < 2; fine++) {
    stage b = stage_set(text, redmax_options(fine ? 1e-4 : 4e-4));
    stage_step(&b, fine ? 4000 : 1000);
    off[fine] = largest_difference(sn_state_q(b.s), sn_state_q(exact.s), 3);
    stage_clear(&b);
  }
  CHECK(off[0] < 0.01 && off[1] < 0.4 * off[0], "off by %g, then %g", off[0], off[1]);
  CHECK(passed(&exact) < 1e-9, "passed by %g", passed(&exact));
  stage_clear(&exact);
}

#define FLOATING                                                                                   \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "bodies:\n"                                                                                      \
  "  a: {joint: {type: free}, inertia: {mass: 2, at: [0.1, 0, 0], xx: 1, yy: 2, zz: 2.5}}\n"       \
  "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 1], at: [1, 0, 0], limits: [-0.5, 0.5], " \
  "stop: {restitution: 0.5}}, inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.2, yy: 0.5, zz: 0.6}}\n"   \
  "  c: {parent: b, joint: {type: spherical, at: [1, 0, 0], cone: {swing: 0.4, twist: [-0.2, "     \
  "0.3], axis: [1, 0, 0]}}, inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.2, yy: 0.5, zz: 0.6}}\n"     \
  "initial: {a: {qd: [0.1, 0.2, 0, 0.5, 0.1, 0]}, b: {qd: 1.5}, c: {qd: [0.7, 1, -0.5]}}\n"

/* Stops are between bodies: they change no momentum of the whole. */
TEST(momentum_stays) {
  stage b = stage_set(FLOATING, stage_exact(0.02));
  sn_energy before, after;
  sn_sim_energy(b.sim, b.s, &before);
  double T = before.kinetic;
  double most = 0;
  for (int k = 0; k < 200; k++) {
    stage_step(&b, 1);
    sn_sim_energy(b.sim, b.s, &after);
    CHECK(after.kinetic < T + 1e-8, "t = %g: energy rises", *sn_state_time(b.s));
    T = after.kinetic;
    most = fmax(most, passed(&b));
  }
  CHECK(most < 1e-9, "passed by %g", most);
  CHECK(T < 0.9 * before.kinetic, "nothing was hit");
  CHECK(sn_vec3_norm(sn_vec3_sub(after.momentum, before.momentum)) < 1e-8, "momentum");
  CHECK(sn_vec3_norm(sn_vec3_sub(after.angular_momentum, before.angular_momentum)) < 1e-8,
        "angular momentum changes by %g",
        sn_vec3_norm(sn_vec3_sub(after.angular_momentum, before.angular_momentum)));
  stage_clear(&b);
}

TEST(cones_hold_in_redmax) {
  for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = redmax_solver[solver].option;
    stage b = stage_set(FLOATING, o);
    for (int k = 0; k < 200; k++) {
      stage_step(&b, 1);
      CHECK(passed(&b) < 1e-9, "%s: passed by %g", redmax_solver[solver].name, passed(&b));
    }
    stage_clear(&b);
  }
}

/* ---- half-spaces ---- */

/* A rod falls onto a table that is hinged and falls with it: their points stay apart. */
TEST(planes_may_move) {
  const char *text =
      "sinew: 1\n"
      "bodies:\n"
      "  table: {joint: {type: revolute, axis: [0, 1, 0], damping: 2}, shapes: [{type: box, size: "
      "[2, 1, 0.1], at: [1, 0, 0], density: 300}]}\n"
      "  stone: {joint: {type: free, at: [1.2, 0, 0.6]}, shapes: [{type: sphere, radius: 0.1, "
      "density: 3000}]}\n"
      "constraints:\n"
      "  on: {type: half_space, body: stone, radius: 0.1, on: {body: table, at: [0, 0, 0.05]}}\n";
  sn_options o[] = {stage_exact(0.01), redmax_options(0.002)};
  double q[2][7];
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(text, o[k]);
    for (int n = 0; n < (k ? 300 : 60); n++) {
      stage_step(&b, 1);
      CHECK(passed(&b) < 1e-9, "method %d: passed by %g", k, passed(&b));
    }
    memcpy(q[k], sn_state_q(b.s), sizeof q[k]);
    stage_clear(&b);
  }
  CHECK(largest_difference(q[0], q[1], 7) < 0.02, "%g apart", largest_difference(q[0], q[1], 7));
}

/* ---- loops ---- */

#define BARS                                                                                       \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  left: {joint: {type: revolute, axis: [0, 1, 0]%s}, shapes: [{type: box, size: [0.1, 0.1, "    \
  "1], at: [0, 0, -0.5], density: 1000}]}\n"                                                       \
  "  top: {parent: left, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, -1]}, shapes: "       \
  "[{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 1000}]}\n"                          \
  "  right: {parent: top, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}, shapes: "       \
  "[{type: box, size: [0.1, 0.1, 1.2], at: [0, 0, 0.6], density: 1000}]}\n"                        \
  "loops:\n"                                                                                       \
  "  pin: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1, 0, 0.2]}, b: {body: right, "  \
  "at: [0, 0, 1.2]}%s}\n"                                                                          \
  "initial: {left: {qd: 2}, top: {qd: -2}, right: {qd: 1.7}}\n"

/* A stop in the joint that closes the loop, where the other bars lead to the same angle. */
TEST(loops_have_limits) {
  char text[1500], range[80];
  snprintf(text, sizeof text, BARS, "", "");
  stage free = stage_set(text, stage_exact(0.01));
  double far = 0;
  for (int k = 0; k < 100; k++) {
    stage_step(&free, 1);
    const double q = free.sim->rows.loop_q[0];
    far = fabs(q) > fabs(far) ? q : far;
  }
  stage_clear(&free);
  CHECK(fabs(far) > 0.2, "swings by %g only", far);
  const double stop = 0.5 * far;
  if (stop > 0) {
    snprintf(range, sizeof range, ", limits: [-2, %.17g]", stop);
  } else {
    snprintf(range, sizeof range, ", limits: [%.17g, 2]", stop);
  }
  snprintf(text, sizeof text, BARS, "", range);
  const sn_options o[] = {stage_exact(0.01), redmax_options(0.001)};
  double q[2][3];
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(text, o[k]);
    double most = 0, E = stage_energy(&b);
    for (int n = 0; n < (k ? 1000 : 100); n++) {
      stage_step(&b, 1);
      most = fmax(most, (b.sim->rows.loop_q[0] - stop) * (stop > 0 ? 1 : -1));
      CHECK(passed(&b) < 1e-9, "method %d: passed by %g", k, passed(&b));
      CHECK(k || stage_energy(&b) < E + 1e-6, "energy rises by %g", stage_energy(&b) - E);
    }
    CHECK(fabs(most) < 1e-8, "method %d: comes to %g of the stop", k, most);
    memcpy(q[k], sn_state_q(b.s), sizeof q[k]);
    stage_clear(&b);
  }
  CHECK(largest_difference(q[0], q[1], 3) < 0.01, "%g apart", largest_difference(q[0], q[1], 3));
}

/* ---- soft stops ---- */

/* Rests where the spring bears the weight, and swings about it as a spring does. */
TEST(soft_stops_are_springs) {
  const char *text = "sinew: 1\n"
                     "gravity: [0, 0, -10]\n"
                     "bodies:\n"
                     "  ball:\n"
                     "    joint: {type: prismatic, axis: [0, 0, 1], limits: [0, 100], stop: "
                     "{stiffness: 800, damping: %g}}\n"
                     "    inertia: {mass: 2, xx: 1, yy: 1, zz: 1}\n"
                     "initial: {ball: {q: 0.1}}\n";
  char with[400];
  for (int method = 0; method < 2; method++) {
    for (int graph = 0; graph < 2; graph++) {
      snprintf(with, sizeof with, text, 20.0);
      sn_options o = method ? redmax_options(0.002) : stage_exact(0.01);
      o.redmax.solver = graph ? SN_SOLVER_GRAPH : SN_SOLVER_AUTO;
      stage b = stage_set(with, o);
      stage_step(&b, method ? 2500 : 500);
      CHECK(fabs(*sn_state_q(b.s) + 0.025) < 1e-5, "method %d rests at %g, not -0.025", method,
            *sn_state_q(b.s));
      stage_clear(&b);
    }
  }
  snprintf(with, sizeof with, text, 0.0);
  stage b = stage_set(with, stage_exact(0.01));
  const double E = stage_energy(&b);
  for (int k = 0; k < 200; k++) {
    stage_step(&b, 1);
    CHECK(fabs(stage_energy(&b) - E) < 1e-7, "energy changes by %g", stage_energy(&b) - E);
  }
  stage_clear(&b);
}

/* ---- many ---- */

/* A beam of links that give way by a degree each: it falls, and limits are hit along all of it. The
 * sets of limits that graphs try come to what the dual finds, and hold. */
TEST(hundreds_of_limits) {
  static const sn_solver solver[] = {SN_SOLVER_TREE, SN_SOLVER_GRAPH, SN_SOLVER_REDUCED_KKT};
  enum { LINKS = 160, STEPS = 120, KINDS = 3 };
  /* 6.5e-9 and 3.8e-7: the reduced matrix of so long a chain has a condition of 1e9 */
  static const double most_off[] = {1e-9, 5e-8, 2e-6};
  char text[400];
  snprintf(text, sizeof text,
           "sinew: 1\nbodies:\n  a: {joint: {type: revolute, axis: [0, 1, 0], limits: [-1*deg, "
           "1*deg]},\n    shapes: [{type: box, size: [0.1, 0.02, 0.02], at: [0.05, 0, 0], density: "
           "1000}],\n    repeat: {count: %d, joint: {at: [0.1, 0, 0]}}}\n",
           LINKS);
  stage b[KINDS];
  for (int k = 0; k < KINDS; k++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = solver[k];
    b[k] = stage_set(text, o);
  }
  int most = 0;
  for (int n = 0; n < STEPS; n++) {
    int held = 0;
    for (int k = 0; k < KINDS; k++) {
      const unsigned before = k == 1 ? sni_kkt_count(b[k].sim->rows.kkt) : 0;
      stage_step(&b[k], 1);
      if (k == 1) { /* not as many as there are limits */
        const unsigned factors = sni_kkt_count(b[k].sim->rows.kkt) - before;
        CHECK(factors <= 80, "step %d: %u factors", n, factors);
      }
      held = 0;
      for (int j = 0; j < LINKS; j++) {
        const double q = sn_state_q(b[k].s)[j], off = fabs(q - sn_state_q(b[0].s)[j]);
        CHECK(fabs(q) < 0.017453292519943295 + 1e-9, "step %d, way %d, link %d: %g", n, k, j, q);
        CHECK(off < most_off[k], "step %d, way %d, link %d: off by %g", n, k, j, off);
        held += fabs(q) > 0.0174532925 - 1e-9;
      }
    }
    most = held > most ? held : most;
  }
  CHECK(most > 100, "only %d limits at once", most);
  for (int k = 0; k < KINDS; k++) {
    stage_clear(&b[k]);
  }
}

/* ---- limits that depend on each other ---- */

/* A plate on eight feet needs three of them. */
TEST(more_feet_than_needed) {
  char text[2000];
  int n = snprintf(text, sizeof text,
                   "sinew: 1\nbodies:\n  plate: {joint: {type: free, at: [0, 0, 0.3]}, inertia: "
                   "{mass: 1, xx: 0.1, yy: 0.1, zz: 0.2}}\nconstraints:\n");
  for (int k = 0; k < 8; k++) {
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  foot%d: {type: half_space, body: plate, at: [%.17g, %.17g, 0]}\n", k,
                  cos(k * SN_PI / 4), sin(k * SN_PI / 4));
  }
  snprintf(text + n, sizeof text - (size_t)n, "initial:\n  plate: {q: [0.1, 0, 0, 0, 0, 0]}\n");
  for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
    sn_options o = redmax_options(0.005);
    o.redmax.solver = redmax_solver[solver].option;
    stage b = stage_set(text, o);
    stage_step(&b, 200);
    const double *q = sn_state_q(b.s), *qd = sn_state_qd(b.s);
    for (int k = 0; k < 6; k++) {
      CHECK(fabs(qd[k]) < 1e-12, "%s: moves at %g", redmax_solver[solver].name, qd[k]);
    }
    sn_se3 E;
    sn_vec6 phi;
    CHECK(sn_sim_poses(b.sim, b.s, &E, &phi) == SN_OK, "no pose");
    CHECK(fabs(E.p.z) < 1e-9 && 1 - E.R.m[2][2] < 1e-15, "%s: at %g, off by %g (q %g)",
          redmax_solver[solver].name, E.p.z, 1 - E.R.m[2][2], q[0]);
    stage_clear(&b);
  }
}

/* Three chains with stiff limits, tied together and thrown onto the floor, where every link has a
 * foot: no set of rows is the right one. */
TEST(tied_chains_on_the_floor) {
  enum { CHAINS = 3, LINKS = 24 };
  char text[40000];
  int n = snprintf(text, sizeof text, "sinew: 1\nbodies:\n");
#define PUT(...) n += snprintf(text + n, sizeof text - (size_t)n, __VA_ARGS__)
  for (int c = 0; c < CHAINS; c++) {
    PUT("  c%d: {joint: {type: revolute, axis: [0, 1, 0], at: [0, %d, 0], limits: [-0.1, 0.1]}, "
        "inertia: {mass: %g, at: [0.1, 0, 0], xx: 0.001, yy: 0.004, zz: 0.004}, repeat: {count: "
        "%d, joint: {at: [0.2, 0, 0]}}}\n",
        c, c, 1 + 0.3 * c, LINKS);
  }
  PUT("constraints:\n");
  for (int c = 0; c < CHAINS; c++) {
    for (int k = 1; k <= LINKS; k++) {
      PUT("  f%d_%d: {type: half_space, body: c%d_%d, at: [0.2, 0, 0], on: {body: world, at: [0, "
          "0, -0.3]}}\n",
          c, k, c, k);
    }
  }
  for (int k = 3; k <= LINKS; k += 6) {
    for (int c = 1; c < CHAINS; c++) {
      PUT("  t%d_%d: {type: point, a: {body: c%d_%d, at: [0, 0.5, 0]}, b: {body: c%d_%d, at: [0, "
          "-0.5, 0]}}\n",
          c, k, c - 1, k, c, k);
    }
  }
#undef PUT
  static const sn_solver solver[] = {SN_SOLVER_AUTO, SN_SOLVER_TREE, SN_SOLVER_GRAPH,
                                     SN_SOLVER_REDUCED_KKT};
  for (int k = 0; k < 4; k++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = solver[k];
    stage b = stage_set(text, o);
    stage_step(&b, 50);
    for (int j = 0; j < CHAINS * LINKS; j++) {
      CHECK(fabs(sn_state_q(b.s)[j]) < 0.1 + 1e-9, "way %d, %d: %g", k, j, sn_state_q(b.s)[j]);
    }
    double gap = 0;
    CHECK(sn_sim_gap(b.sim, b.s, &gap) == SN_OK && gap < 1e-9, "way %d: a gap of %g", k, gap);
    stage_clear(&b);
  }
}

/* ---- trouble ---- */

TEST(what_cannot_hold_is_named) {
  const char *text = "sinew: 1\n"
                     "bodies:\n"
                     "  arm: {joint: {type: revolute, axis: [0, 1, 0], limits: [-0.5, 0.5]}, "
                     "shapes: [{type: sphere, radius: 0.1, density: 1000}]}\n"
                     "motions: {turn: {joint: arm, q: t}}\n";
  for (int solver = 0; solver <= REDMAX_SOLVERS; solver++) {
    const bool redmax = solver < REDMAX_SOLVERS;
    sn_options o = redmax ? redmax_options(0.01) : stage_exact(0.01);
    o.redmax.solver = redmax ? redmax_solver[solver].option : SN_SOLVER_AUTO;
    stage b = stage_set(text, o);
    sn_error err = {0};
    sn_status status = SN_OK;
    for (int k = 0; k < 100 && !status; k++) {
      status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
    }
    CHECK(status == SN_E_UNCONVERGED &&
              strstr(err.text, "the limit of 'arm' cannot hold, other constraints move it by 1 a"),
          "solver %d: %d: %s", solver, (int)status, err.text);
    const double t = *sn_state_time(b.s); /* however far dopri5 is ahead of its states */
    CHECK(t < 0.511 && t > 0.489, "at t = %g", t);
    stage_clear(&b);
  }
}

TEST(starts_beyond_a_limit_are_put_back) {
  const char *text = "sinew: 1\n"
                     "bodies:\n"
                     "  arm: {joint: {type: revolute, axis: [0, 1, 0], limits: [-0.5, 0.5]}, "
                     "shapes: [{type: sphere, radius: 0.1, density: 1000}]}\n"
                     "initial: {arm: {q: 0.7, qd: 1}}\n";
  stage b = stage_set(text, stage_exact(0.01));
  CHECK(fabs(*sn_state_q(b.s) - 0.5) < 1e-9 && fabs(*sn_state_qd(b.s)) < 1e-12, "%g %g",
        *sn_state_q(b.s), *sn_state_qd(b.s));
  stage_clear(&b);
}

/* A state saved in the middle goes on with the same bits. */
TEST(snapshots_go_on) {
  const sn_options o[] = {stage_exact(0.01), redmax_options(0.01)};
  for (int k = 0; k < 2; k++) {
    char text[800];
    snprintf(text, sizeof text, CHAIN, 5);
    stage b = stage_set(text, o[k]), other = stage_set(text, o[k]);
    stage_step(&b, 37);
    sn_state_copy(other.s, b.s);
    stage_step(&b, 60);
    stage_step(&other, 60);
    CHECK(sn_state_equal(b.s, other.s), "method %d: other bits", k);
    stage_clear(&b);
    stage_clear(&other);
  }
}

/* Links that fall and hit their limits one after the other, and one another through these: 600 hits
 * and more.  Each is found in a few steps, and limits that an impulse opens for a nanosecond do not
 * take turns.  Nothing brings energy; but rk4, which has no tolerance, leaves it by up to 3e-3 in a
 * step of 10 ms and 4e-7 in one of 0.5 ms.  With half of that it ends where dopri5 does, which is
 * off by 3e-6 itself. */
TEST(impacts_that_run_along_a_chain) {
  static const struct {
    sn_integrator integrator;
    double step;
    double rise; /* of energy in a step */
  } run[] = {{SN_DOPRI5, 0.01, 1e-6}, {SN_RK4, 0.01, INFINITY}, {SN_RK4, 0.00025, 1e-6}};
  double end[3][20];
  for (int i = 0; i < 3; i++) {
    char text[8000] =
        "sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, shape: {type: "
        "capsule, from: [0, 0, 0], to: [0.1, 0, 0], radius: 0.02, density: 1000}}\n"
        "bodies:\n";
    for (int k = 0; k < 20; k++) {
      const size_t used = strlen(text);
      char above[32] = "world";
      snprintf(above, k ? sizeof above : 0, "k%d", k - 1);
      snprintf(text + used, sizeof text - used,
               "  k%d: {parent: %s, joint: {at: [%g, 0, 0], limits: [-10*deg, 10*deg]}, shapes: "
               "[{}]}\n",
               k, above, k ? 0.1 : 0.);
    }
    sn_options o = sn_options_default();
    o.step = run[i].step;
    o.recursive.integrator = run[i].integrator;
    stage b = stage_set(text, o);
    double before = stage_energy(&b);
    long substeps = 0, evaluations = 0;
    const long steps = lround(0.7 / o.step);
    for (int k = 0; k < steps; k++) {
      sn_info info = {0};
      sn_error err = {0};
      CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) == SN_OK, "%s", err.text);
      const double energy = stage_energy(&b);
      CHECK(energy <= before + run[i].rise, "run %d: from %g to %g at step %d", i, before, energy,
            k);
      before = energy;
      substeps += info.substeps;
      evaluations += info.evaluations;
    }
    CHECK(substeps - steps < 2430 && evaluations < 30 * substeps,
          "run %d: %ld and %ld substeps, "
          "%ld evaluations",
          i, steps, substeps - steps, evaluations);
    memcpy(end[i], sn_state_q(b.s), sizeof end[i]);
    stage_clear(&b);
  }
  const double off = largest_difference(end[2], end[0], 20);
  CHECK(off < 1e-5, "rk4 ends %g from dopri5", off);
}

/* Stops of several joints hit one another through the masses: what comes back is no more than there
 * was, whatever the restitution, also where the range is passed within a step. */
TEST(stops_that_hit_each_other_make_no_energy) {
  const sn_solver solver[] = {SN_SOLVER_TREE, SN_SOLVER_GRAPH, SN_SOLVER_REDUCED_KKT};
  for (int k = 0; k < 9; k++) {
    const int n = k < 6 ? 3 : 6;
    const double back = k < 3 ? 1 : k < 6 ? 0.5 : 0.8;
    char text[4000] =
        "sinew: 1\ngravity: [0, 0, 0]\ndefaults: {body: {inertia: {mass: 1, at: [0.25, "
        "0, 0], xx: 0.01, yy: 0.03, zz: 0.03}}}\nbodies:\n";
    for (int i = 0; i < n; i++) {
      const size_t used = strlen(text);
      char above[32] = "world";
      snprintf(above, i ? sizeof above : 0, "b%d", i - 1);
      snprintf(
          text + used, sizeof text - used,
          "  b%d: {parent: %s, joint: {type: revolute, axis: [0, 1, 0], at: [%g, 0, 0], limits: "
          "[-0.2, 0.2], stop: {restitution: %g}}}\n",
          i, above, i ? 0.5 : 0., back);
    }
    strcat(text, "initial: {b0: {qd: 4}}\n");
    sn_options o = redmax_options(k % 2 ? 0.001 : 0.02);
    o.redmax.solver = solver[k % 3];
    stage b = stage_set(text, o);
    double before = stage_energy(&b);
    for (int i = 0; i < 500; i++) {
      stage_step(&b, 1);
      const double energy = stage_energy(&b);
      CHECK(energy <= before * (1 + 1e-9), "case %d: from %g to %g in step %d", k, before, energy,
            i);
      before = energy;
    }
    stage_clear(&b);
  }
}

/* What moves as it is told does work of its own: stops come back in its frame, whatever the energy.
 * A slider on a turning table, which has a rate or goes along a path, and a ball that falls on a
 * lift: as fast after the blow as by the method that goes from event to event. */
TEST(stops_on_what_is_moved) {
  static const char *const scene[] = {
#define TABLE(motion)                                                                              \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "bodies:\n"                                                                                      \
  "  table: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: "  \
  "0.1}}\n"                                                                                        \
  "  slider: {parent: table, joint: {type: prismatic, axis: [1, 0, 0], limits: [-1, 0.3], stop: "  \
  "{restitution: 0.5}}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: 0.01, at: [0.2, 0.3, 0]}}\n"    \
  "motions: {turn: {joint: table, " motion "}}\n"                                                  \
  "initial: {slider: {q: 0.2, qd: 1}}\n"
      TABLE("rate: 2"), TABLE("q: 2*t"),
      "sinew: 1\n"
      "gravity: [0, 0, -9.81]\n"
      "bodies:\n"
      "  lift: {joint: {type: prismatic, axis: [0, 0, 1]}, inertia: {mass: 5, xx: 0.1, yy: 0.1, "
      "zz: 0.1}}\n"
      "  ball: {joint: {type: free, at: [0, 0, 0.1]}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: "
      "0.01}}\n"
      "constraints: {floor: {type: half_space, body: ball, on: {body: lift}, stop: {restitution: "
      "0.5}}}\n"
      "motions: {lift: {joint: lift, q: \"0.5*t\"}}\n"};
  const sn_solver solver[] = {SN_SOLVER_TREE, SN_SOLVER_GRAPH, SN_SOLVER_REDUCED_KKT};
  for (int k = 0; k < 3; k++) {
    const int which = k < 2 ? 1 : 6;
    stage exact = stage_set(scene[k], stage_exact(0.001));
    stage_step(&exact, 150);
    const double to = sn_state_qd(exact.s)[which];
    for (int i = 0; i < 6; i++) {
      double off[2];
      for (int fine = 0; fine < 2; fine++) {
        sn_options o = redmax_options(fine ? 0.00025 : 0.001);
        o.redmax.solver = solver[i % 3];
        o.redmax.integrator = i < 3 ? SN_EULER : SN_EXTRAPOLATED;
        stage b = stage_set(scene[k], o);
        stage_step(&b, fine ? 600 : 150);
        off[fine] = fabs(sn_state_qd(b.s)[which] - to);
        stage_clear(&b);
      }
      CHECK(off[0] < 0.02 && off[1] < 0.005, "scene %d, case %d: off by %g, then %g from %g", k, i,
            off[0], off[1], to);
    }
    stage_clear(&exact);
  }
}

/* A limit that presses is recorded with its force, also where a step ends a little above it,
 * because the way bends, or with a rate that leads away, because what carries it turns. */
TEST(limits_that_press_are_recorded) {
  static const struct {
    const char *text, *channel;
  } scene[] = {
      {"sinew: 1\nbodies:\n"
       "  r: {joint: {type: free}, inertia: {mass: 1, at: [0, 0, 0.5], xx: 0.1, yy: 0.1, zz: "
       "0.01}}\n"
       "constraints: {floor: {type: half_space, body: r}}\n"
       "initial: {r: {q: [0, 0, 0, 0, 0.3, 0]}}\n",
       "constraints.floor.force"},
      {"sinew: 1\ngravity: [0, 0, 0]\nbodies:\n"
       "  rotor: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 10, xx: 1, yy: 1, zz: "
       "1}}\n"
       "  a: {parent: rotor, joint: {type: revolute, at: [0.3, 0, 0], axis: [0, 0, 1], limits: [0, "
       "2], stiffness: 3, rest: -1}, inertia: {mass: 1, at: [0, -0.2, 0], xx: 0.01, yy: 0.01, zz: "
       "0.01}}\n"
       "initial: {rotor: {qd: 5}}\n",
       "a.limit"}};
  for (int k = 0; k < 4; k++) {
    sn_options o = redmax_options(0.001);
    o.redmax.integrator = k < 2 ? SN_EULER : SN_EXTRAPOLATED;
    stage b = stage_set(scene[k % 2].text, o),
          exact = stage_set(scene[k % 2].text, stage_exact(0.001));
    for (int n = 1; n <= 10; n++) {
      stage_step(&b, 30);
      stage_step(&exact, 30);
      const double f = stage_channel(&b, scene[k % 2].channel),
                   to = stage_channel(&exact, scene[k % 2].channel);
      CHECK(to > 1 && fabs(f - to) < 0.01 * to, "case %d: %g instead of %g", k, f, to);
    }
    stage_clear(&b);
    stage_clear(&exact);
  }
}

/* What dopri5 reads within its steps is a little off the plane that something lies on: the force is
 * there all the same, until somebody lifts it. */
TEST(limits_that_hold_are_recorded_within_steps) {
  static const char text[] =
      "sinew: 1\nbodies:\n"
      "  plate: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, xx: 1, yy: 1, zz: "
      "1}}\n"
      "  b: {joint: {type: free, at: [0.2, 0, 0.05]}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: "
      "0.01}}\n"
      "constraints: {h: {type: half_space, body: b, radius: 0.05, on: {body: plate}}}\n"
      "motions: {m: {joint: plate, q: \"0.3*sin(2*t)\"}}\n";
  for (int k = 0; k < 2; k++) {
    sn_options o = k == 0 ? sn_options_default() : redmax_options(0.001);
    o.step = 0.001;
    stage b = stage_set(text, o), exact = stage_set(text, stage_exact(0.001));
    for (int n = 1; n <= 140; n++) {
      stage_step(&b, 10);
      stage_step(&exact, 10);
      const double f = stage_channel(&b, "constraints.h.force"),
                   to = stage_channel(&exact, "constraints.h.force");
      const bool landed = n >= 5;
      CHECK(!landed || (f > 5 && fabs(f - to) < 0.02 * to), "%d, t = %g: %g instead of %g", k,
            0.01 * n, f, to);
    }
    sn_state_q(b.s)[3] += 0.1;
    const double f = stage_channel(&b, "constraints.h.force"), a = stage_channel(&b, "b.qdd2");
    CHECK(f == 0 && fabs(a + 9.81) < 1e-12, "%d, lifted: force %g, acceleration %g", k, f, a);
    stage_clear(&b);
    stage_clear(&exact);
  }
}

/* Steps solve for limits together with contacts, where there are any; what is recorded of limits is
 * the same, even if what touches is far away. */
TEST(limits_are_recorded_beside_contacts) {
  static const char *const stop[] = {"stop: {stiffness: 500}", "stop: {}"};
  static const char far[] =
      "  far: {joint: {type: prismatic, axis: [0, 0, 1], at: [5, 0, 0]}, shapes: [{type: sphere, "
      "radius: 0.1, density: 1000, contact: w}]}\n"
      "  floor: {joint: {type: fixed, at: [0, 0, -50]}, shapes: [{type: plane, contact: w}]}\n"
      "contacts: {w: {friction: 0.5}}\n";
  static const char *const channel[] = {"a.qdd", "b.qdd", "a.limit", "b.limit", "c.qdd"};
  for (int k = 0; k < 8; k++) {
    char text[2][4000];
    for (int touches = 0; touches < 2; touches++) {
      snprintf(text[touches], sizeof text[0],
               "sinew: 1\n%sbodies:\n"
               "  a: {joint: {type: revolute, axis: [0, 1, 0], limits: [-0.3, 0.3], %s}, inertia: "
               "{mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"
               "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0], limits: "
               "[-0.2, 0.2], %s}, inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: "
               "0.1}}\n"
               "  c: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, -2]}, inertia: {mass: 1, "
               "at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n%s",
               k / 2 % 2 ? "constraints: {rod: {type: distance, a: {body: b, at: [1, 0, 0]}, b: "
                           "{body: c, at: [1, 0, 0]}}}\n"
                         : "",
               stop[k % 2], stop[k % 2], touches ? far : "");
    }
    sn_options o = redmax_options(0.002);
    o.redmax.solver = k / 4 ? SN_SOLVER_GRAPH : SN_SOLVER_AUTO;
    o.redmax.contact.tolerance = 1e-12;
    stage b[2] = {stage_set(text[0], o), stage_set(text[1], o)};
    const bool hard = k % 2; /* these where all is at rest */
    for (int n = hard ? 20 : 1; n <= 20; n++) {
      stage_step(&b[0], hard ? 1000 : 12);
      stage_step(&b[1], hard ? 1000 : 12);
      for (size_t i = 0; i < sizeof channel / sizeof *channel; i++) {
        const double x = stage_channel(&b[1], channel[i]), to = stage_channel(&b[0], channel[i]);
        CHECK(fabs(x - to) < 1e-4 * (1 + fabs(to)), "case %d, step %d: %s %.12g instead of %.12g",
              k, 12 * n, channel[i], x, to);
      }
    }
    stage_clear(&b[0]);
    stage_clear(&b[1]);
  }
}

int main(void) {
  RUN_TESTS(T(restitution_is_kept), T(borders_count_as_passed), T(solvers_agree_and_energy_falls),
            T(long_chains), T(methods_agree), T(momentum_stays), T(cones_hold_in_redmax),
            T(planes_may_move), T(loops_have_limits), T(soft_stops_are_springs),
            T(hundreds_of_limits), T(more_feet_than_needed), T(tied_chains_on_the_floor),
            T(what_cannot_hold_is_named), T(starts_beyond_a_limit_are_put_back), T(snapshots_go_on),
            T(impacts_that_run_along_a_chain), T(stops_that_hit_each_other_make_no_energy),
            T(stops_on_what_is_moved), T(limits_that_press_are_recorded),
            T(limits_that_hold_are_recorded_within_steps), T(limits_are_recorded_beside_contacts));
}
