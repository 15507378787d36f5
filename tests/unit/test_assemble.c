/* Starts that are put together, starts that cannot be, and constraints that want different things:
 * who is named. */
#include "stage.h"

#define ARM                                                                                        \
  "sinew: 1\n"                                                                                     \
  "defaults: {shape: {density: 1000}, joint: {type: revolute, axis: [0, 1, 0]}}\n"                 \
  "bodies:\n"                                                                                      \
  "  arm: {joint: {}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0]}]}\n"              \
  "  hand: {parent: arm, joint: {at: [1, 0, 0]},\n"                                                \
  "    shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0]}]}\n"

#define PAIR                                                                                       \
  "sinew: 1\n"                                                                                     \
  "defaults: {shape: {density: 1000}, joint: {type: revolute, axis: [0, 1, 0]}}\n"                 \
  "bodies:\n"                                                                                      \
  "  a: {joint: {}, shapes: [{type: box, size: [0.4, 0.1, 0.1], at: [0.2, 0, 0]}]}\n"              \
  "  b: {joint: {at: [0, 1, 0]},\n"                                                                \
  "    shapes: [{type: box, size: [0.4, 0.1, 0.1], at: [0.2, 0, 0]}]}\n"

static sn_options options_of(const char *method) {
  sn_options o = sn_options_default();
  o.method = method;
  o.step = 0.01;
  return o;
}

static sn_status try_solver(const char *text, const char *method, sn_solver solver, sn_error *err) {
  sn_model *m = stage_model(text);
  sn_options o = options_of(method);
  o.redmax.solver = solver;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  const sn_status status = sn_sim_assemble(sim, s, err);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return status;
}

static sn_status try_start(const char *text, const char *method, sn_error *err) {
  return try_solver(text, method, SN_SOLVER_AUTO, err);
}

/* Stretched out it cannot be pulled in, to first order; beside that it can, and no further than it
 * has to: the elbow bends by 2 acos(0.95). */
TEST(an_arm_that_is_stretched_out_closes) {
  stage b = stage_set(ARM "loops:\n  l: {type: spherical, a: {body: hand, at: [1, 0, 0]},\n"
                          "    b: {body: world, at: [1.9, 0, 0]}}\n",
                      options_of("redmax"));
  double gap;
  CHECK(sn_sim_gap(b.sim, b.s, &gap) == SN_OK && gap < 1e-12, "a gap of %g", gap);
  const double bend = fabs(sn_state_q(b.s)[1]);
  CHECK(fabs(bend - 2 * acos(0.95)) < 1e-12, "bent by %g", bend);
  sn_state_q(b.s)[0] += 0.1;
  CHECK(sn_sim_gap(b.sim, b.s, &gap) == SN_OK && gap > 0.1, "a gap of %g", gap);
  stage_clear(&b);
}

TEST(what_is_out_of_reach_is_named) {
  sn_error err = {0};
  CHECK(try_start(ARM "loops:\n  l: {type: spherical, a: {body: hand, at: [1, 0, 0]},\n"
                      "    b: {body: world, at: [2.1, 0, 0]}}\n",
                  "redmax", &err) == SN_E_UNCONVERGED,
        "closed");
  CHECK(strcmp(err.text, "at t = 0: 'l' cannot close: a gap of 0.1 stays open") == 0 &&
            strcmp(err.path, "loops.l") == 0,
        "%s: %s", err.path, err.text);
}

/* Two steps, in the first of which the constraints of a scene are switched on. */
static sn_status try_switch(const char *text, const char *method, sn_error *err) {
  stage b = stage_set(text, options_of(method));
  sn_status status = SN_OK;
  for (int k = 0; k < 2 && !status; k++) {
    status = sn_sim_step(b.sim, b.s, NULL, NULL, err);
  }
  stage_clear(&b);
  return status;
}

/* Points that a mechanism can reach, taken from a pose anywhere, from the start on and switched on
 * in a run: Newton's method alone loses its way on a third of these. */
TEST(what_can_be_reached_is_reached) {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    uint64_t random = seed;
    char bodies[4000] =
        "sinew: 1\ndefaults: {body: {inertia: {mass: 1, at: [0.25, 0.1, 0], xx: 0.02, "
        "yy: 0.05, zz: 0.05}}}\nbodies:\n",
         text[6000], later[6000];
    const int n = 3 + (int)(seed % 6), ends[2] = {n - 1, n / 2};
    for (int k = 0; k < n; k++) {
      const bool ball = test_random(&random, 0, 1) < 0.5;
      const int parent = k - 1 - (k > 1 && test_random(&random, 0, 1) < 0.3);
      char above[32] = "world";
      snprintf(above, parent < 0 ? 0 : sizeof above, "k%d", parent);
      const size_t used = strlen(bodies);
      snprintf(bodies + used, sizeof bodies - used,
               "  k%d: {parent: %s, joint: {type: %s, at: [%g, 0, %.3f]}}\n", k, above,
               ball                               ? "spherical"
               : test_random(&random, 0, 1) < 0.5 ? "revolute, axis: [0, 1, 0]"
                                                  : "revolute, axis: [1, 0, 0]",
               k ? 0.5 : 0, test_random(&random, -0.15, 0.15));
    }
    stage there = stage_set(bodies, options_of("redmax"));
    for (int j = 0; j < sn_model_dof_count(there.m); j++) {
      sn_state_q(there.s)[j] = test_random(&random, -1.5, 1.5);
    }
    sni_dynamics_kinematics(&there.sim->d, sn_state_q(there.s), sn_state_qd(there.s));
    snprintf(text, sizeof text, "%sconstraints:\n", bodies);
    snprintf(later, sizeof later, "%sconstraints:\n", bodies);
    for (int c = 0; c < 2; c++) {
      char name[32];
      snprintf(name, sizeof name, "k%d", ends[c]);
      const int body = sn_model_body_find(there.m, name);
      sni_dynamics_pose(&there.sim->d, body);
      const sn_vec3 x = sn_se3_point(there.sim->d.E_wb[body], (sn_vec3){0.5, 0, 0});
      char held[300];
      snprintf(held, sizeof held,
               "  c%d: {type: point, a: {body: %s, at: [0.5, 0, 0]}, b: {body: world, at: [%.17g, "
               "%.17g, %.17g]}",
               c, name, x.x, x.y, x.z);
      const size_t used = strlen(text), used_later = strlen(later);
      snprintf(text + used, sizeof text - used, "%s}\n", held);
      snprintf(later + used_later, sizeof later - used_later, "%s, active: t > 1e-6}\n", held);
    }
    stage_clear(&there);
    const sn_solver solver[] = {SN_SOLVER_TREE, SN_SOLVER_GRAPH, SN_SOLVER_REDUCED_KKT};
    for (int k = 0; k < 3; k++) {
      sn_error err = {0};
      CHECK(try_solver(text, "redmax", solver[k], &err) == SN_OK, "seed %u, solver %d: %s\n%s",
            (unsigned)seed, k, err.text, text);
    }
    for (int k = 0; k < 2; k++) {
      sn_error err = {0};
      CHECK(try_switch(later, k ? "redmax" : "recursive", &err) == SN_OK, "seed %u, later: %s\n%s",
            (unsigned)seed, err.text, later);
    }
  }
}

/* A loop of hinges whose axes differ by 0.01: no better can be done than to share that out. */
TEST(the_least_gap_is_told) {
  sn_error err = {0};
  CHECK(try_start(
            PAIR
            "  c: {parent: a, joint: {at: [0.5, 0, 0]},\n"
            "    shapes: [{type: box, size: [0.4, 0.1, 0.1], at: [0.2, 0, 0]}]}\n"
            "loops:\n  l: {type: revolute, axis: [0, 1, 0], a: {body: c, at: [0.6, 0.5, 0.3]},\n"
            "    b: {body: b, at: {pos: [0.5, -0.5, 0.4], rotvec: [0.01, 0, 0]}}}\n",
            "redmax", &err) == SN_E_UNCONVERGED,
        "closed");
  const char *at = strstr(err.text, "a gap of ");
  CHECK(at && fabs(atof(at + 9) - 0.01) < 1e-3, "%s", err.text);
}

/* 0.4 m open when it is switched on: an impact, but no reason to fly away. */
TEST(what_is_switched_on_far_away_closes) {
  const char *method[] = {"recursive", "redmax"};
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(ARM "  tip: {parent: hand, joint: {at: [1, 0, 0]},\n"
                            "    shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0]}]}\n"
                            "loops:\n  l: {type: spherical, a: {body: tip, at: [1, 0, 0]},\n"
                            "    b: {body: world, at: [2.2, 0, -1]}, active: t > 0.1}\n",
                        options_of(method[k]));
    stage_step(&b, 12);
    double gap;
    for (int n = 0; n < 50; n++) {
      stage_step(&b, 1);
      CHECK(sn_sim_gap(b.sim, b.s, &gap) == SN_OK && gap < 1e-9, "%s: a gap of %g", method[k], gap);
    }
    for (int j = 0; j < 3; j++) {
      CHECK(fabs(sn_state_q(b.s)[j]) < 4 && fabs(sn_state_qd(b.s)[j]) < 40, "%s: q = %g, qd = %g",
            method[k], sn_state_q(b.s)[j], sn_state_qd(b.s)[j]);
    }
    stage_clear(&b);
  }
}

static const char *const at_odds[] = {
    /* a joint by where it is, and its body by how it turns */
    PAIR "motions:\n  m: {joint: a, q: t}\n"
         "  n: {body: a, twist: [0, 2, 0, null, null, null]}\n",
    /* two motors on gears */
    PAIR "constraints: {c: {type: couple, terms: [{joint: a}, {joint: b, factor: -1}]}}\n"
         "motions:\n  m: {joint: a, rate: 1}\n  n: {joint: b, rate: 2}\n",
};

/* 0.1 m open: positions by the least motion, rates by an inelastic impact, once; from then on the
 * energy stays, and it is the same by both integrators. */
TEST(what_is_switched_on_takes_hold_at_once) {
  double after[2];
  for (int k = 0; k < 2; k++) {
    sn_options o = options_of("recursive");
    o.step = 0.005;
    o.recursive.integrator = k ? SN_RK4 : SN_DOPRI5;
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, 0]\n"
        "defaults: {joint: {type: free}}\nbodies:\n"
        "  a: {joint: {}, inertia: {mass: 2, xx: 0.1, yy: 0.1, zz: 0.1}}\n"
        "  b: {joint: {at: [1, 0, 0]}, inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}\n"
        "constraints:\n  w: {type: distance, length: 0.4, a: {body: a, at: [0.3, 0, 0]},\n"
        "    b: {body: b, at: [-0.3, 0, 0]}, active: t > 0.1}\n"
        "initial: {a: {qd: [1, 0, 0, 0, 0, 1]}, b: {qd: [-0.2, 0.5, 0, 0, 1, 0]}}\n",
        o);
    const double before = stage_energy(&b);
    stage_step(&b, 20);
    CHECK(fabs(stage_energy(&b) - before) < 1e-9, "%g before", stage_energy(&b) - before);
    stage_step(&b, 1);
    after[k] = stage_energy(&b);
    CHECK(after[k] < before, "from %g to %g", before, after[k]);
    stage_step(&b, 40);
    CHECK(fabs(stage_energy(&b) - after[k]) < 1e-7, "%g after", stage_energy(&b) - after[k]);
    stage_clear(&b);
  }
  CHECK(fabs(after[0] - after[1]) < 1e-6, "%.9g and %.9g", after[0], after[1]);
}

TEST(rates_at_odds_are_named) {
  const char *method[] = {"recursive", "redmax"};
  const char *says[] = {"'m' is at odds with 'n', which leaves its rate off by 1:",
                        "'n' is at odds with 'm', which leaves its rate off by 1:",
                        "' and others, which leave its rate off by 1:"};
  for (int k = 0; k < 4; k++) {
    sn_error err = {0};
    CHECK(try_start(at_odds[k / 2], method[k % 2], &err) == SN_E_UNCONVERGED, "case %d starts", k);
    const bool told =
        k < 2 ? strstr(err.text, says[0]) || strstr(err.text, says[1])
              : strstr(err.text, says[2]) && strstr(err.text, "'m'") && strstr(err.text, "'n'");
    CHECK(told && strncmp(err.path, "motions.", 8) == 0, "case %d: %s: %s", k, err.path, err.text);
  }
}

/* Nor does it matter what presses on a stop elsewhere. */
TEST(stops_elsewhere_do_not_hide_what_is_at_odds) {
  static const char *const foot[] = {"limits: [0, null], stop: {stiffness: 1000, damping: 50}",
                                     "limits: [0, null]",
                                     "backlash: {gap: 0.02, stiffness: 1000, damping: 50}"};
  static const double at[] = {-0.00981, 0, -0.01981};
  const char *method[] = {"recursive", "redmax"};
  for (int k = 0; k < 6; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             PAIR
             "  foot: {joint: {type: prismatic, axis: [0, 0, 1], at: [1, 1, 0], %s},\n"
             "    inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n"
             "constraints: {gear: {type: couple, terms: [{joint: a}, {joint: b, factor: -1}]}}\n"
             "motions: {m: {joint: a, rate: 2}, n: {joint: b, rate: 1}}\n"
             "initial: {foot: {q: %g}}\n",
             foot[k / 2], at[k / 2]);
    sn_error err = {0};
    CHECK(try_start(text, method[k % 2], &err) == SN_E_UNCONVERGED, "%s, %s: starts", foot[k / 2],
          method[k % 2]);
    CHECK(strstr(err.text, "is at odds with") && strncmp(err.path, "motions.", 8) == 0,
          "%s, %s: %s: %s", foot[k / 2], method[k % 2], err.path, err.text);
  }
}

/* The same in a run, by every solver of redmax: with all that is in one system, that it has no
 * solution is all that is seen at first. */
TEST(solvers_name_what_is_at_odds) {
  static const char text[] = PAIR "motions:\n  m: {joint: a, rate: t}\n"
                                  "  n: {body: a, twist: [0, 2*t, 0, null, null, null]}\n";
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = redmax_solver[k].option;
    stage b = stage_set(text, o);
    sn_error err = {0};
    CHECK(sn_sim_step(b.sim, b.s, NULL, NULL, &err) == SN_E_UNCONVERGED, "%s takes a step",
          redmax_solver[k].name);
    CHECK((strstr(err.text, "'m' is at odds with 'n',") ||
           strstr(err.text, "'n' is at odds with 'm',")) &&
              strncmp(err.path, "motions.", 8) == 0,
          "%s: %s: %s", redmax_solver[k].name, err.path, err.text);
    stage_clear(&b);
  }
}

/* Nobody else is to blame for what cannot move at all. */
TEST(what_no_joint_lets_move_is_named) {
  sn_error err = {0};
  CHECK(try_start(PAIR "motions:\n  n: {body: a, twist: [1, null, null, null, null, null]}\n",
                  "redmax", &err) == SN_E_UNCONVERGED &&
            strstr(err.text, "'n' asks for what no joint lets move"),
        "%s", err.text);
}

/* The same said twice is no trouble; nor is anything at rest, whatever its last digit. */
TEST(rates_that_agree_are_not) {
  const char *const text[] = {
      PAIR "constraints: {c: {type: couple, terms: [{joint: a}, {joint: b, factor: -2}]}}\n"
           "motions:\n  m: {joint: a, rate: 2*cos(3*t)}\n  n: {joint: b, rate: cos(3*t)}\n",
      ARM "motions:\n"
          "  one: {body: hand, at: [1, 0, 0], point: [1.2, 0, -0.6]}\n"
          "  two: {body: hand, at: [1, 0, 0], point: [1.2, 0, -0.6]}\n"};
  const char *method[] = {"recursive", "redmax", "structured"};
  for (int k = 0; k < 6; k++) {
    stage b = stage_set(text[k / 3], options_of(method[k % 3]));
    stage_step(&b, 100);
    stage_clear(&b);
  }
}

/* Constraints that are switched on, or move apart, on the way: the last good state stays. */
TEST(what_comes_at_odds_in_a_run_is_named) {
  const struct {
    const char *text, *says, *path;
    double t; /* of the last good state, at most */
  } way[] = {{ARM "motions:\n"
                  "  one: {body: hand, at: [1, 0, 0], point: [1.2, 0, -0.6]}\n"
                  "  two: {body: hand, at: [1, 0, 0], point: [1.2, 0, 0.6], active: t > 0.05}\n",
              "cannot close: a gap of", "motions.", 0.06},
             {PAIR
              "constraints: {c: {type: couple, terms: [{joint: a}, {joint: b, factor: -1}]}}\n"
              "motions:\n  m: {joint: a, rate: 1}\n  n: {joint: b, rate: 'if(t < 0.05, 1, 2)'}\n",
              "is at odds with '", "motions.", 0.08}};
  const char *method[] = {"recursive", "redmax"};
  for (int k = 0; k < 4; k++) {
    stage b = stage_set(way[k / 2].text, options_of(method[k % 2]));
    sn_error err = {0};
    sn_status status = SN_OK;
    for (int n = 0; n < 20 && !status; n++) {
      status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
    }
    CHECK(status == SN_E_UNCONVERGED && *sn_state_time(b.s) <= way[k / 2].t, "case %d: %d, t = %g",
          k, status, *sn_state_time(b.s));
    CHECK(strstr(err.text, way[k / 2].says) && strncmp(err.path, way[k / 2].path, 8) == 0,
          "case %d: %s: %s", k, err.path, err.text);
    stage_clear(&b);
  }
}

/* ---- states that nobody has put together ---- */

static const char *const any_method[] = {"recursive", "redmax", "structured"};

/* A slider on a rod, and a bead on a spline fixed to that: its place on the spline is far from 0.
 */
#define BEAD                                                                                       \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "defaults: {body: {inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}}\n"                            \
  "bodies:\n"                                                                                      \
  "  cart: {joint: {type: prismatic, axis: [1, 0, 0]}}\n"                                          \
  "  bead: {joint: {type: free}}\n"                                                                \
  "loops:\n"                                                                                       \
  "  wire: {type: spline_curve, frames: [[0, 0, 0], [1, 0, 1], [2, 0, 0], [3, 0, -1], [4, 0, "     \
  "0],\n"                                                                                          \
  "    [5, 0, 1], [6, 0, 0]], a: {body: cart}, b: {body: bead}}\n"                                 \
  "initial: {bead: {q: [4, 0, 0, 0, 0, 0]}, cart: {qd: 1}}\n"

/* Loops are where they are, whether somebody has called sn_sim_assemble or not. */
TEST(loops_are_found_without_assembling) {
  for (int k = 0; k < 3; k++) {
    const sn_options o = options_of(any_method[k]);
    stage b = stage_set(BEAD, o);
    const double q = stage_channel(&b, "loops.wire.q"), qd = stage_channel(&b, "loops.wire.qd");
    CHECK(fabs(q) > 0.3, "the bead is at %g of the wire", q);
    stage fresh = {b.m, test_sim(b.m, &o), test_state(b.m)};
    memcpy(sn_state_q(fresh.s), sn_state_q(b.s), 7 * sizeof(double));
    memcpy(sn_state_qd(fresh.s), sn_state_qd(b.s), 7 * sizeof(double));
    const double q1 = stage_channel(&fresh, "loops.wire.q");
    CHECK(fabs(q1 - q) < 1e-9, "%s: at %g and not at %g", any_method[k], q1, q);
    CHECK(fabs(stage_channel(&fresh, "loops.wire.qd") - qd) < 1e-9, "%s: another rate",
          any_method[k]);
    stage_step(&fresh, 3);
    stage_step(&b, 3);
    const double off = largest_difference(sn_state_q(fresh.s), sn_state_q(b.s), 7);
    CHECK(off < 1e-9, "%s: off by %g after three steps", any_method[k], off);
    CHECK(fabs(stage_channel(&fresh, "loops.wire.q") - stage_channel(&b, "loops.wire.q")) < 1e-9,
          "%s: another place", any_method[k]);
    sn_state_free(&fresh.s);
    sn_sim_free(&fresh.sim);
    stage_clear(&b);
  }
}

/* Whose number it is that is none. */
TEST(states_that_are_not_finite_are_refused_by_name) {
  for (int k = 0; k < 3; k++) {
    for (int place = 0; place < 2; place++) {
      stage b = stage_set(ARM, options_of(any_method[k]));
      const int hand = sn_model_joint_first(b.m, sn_model_body_find(b.m, "hand"));
      (place ? sn_state_q(b.s) : sn_state_qd(b.s))[hand] = NAN;
      sn_error err = {0};
      CHECK(sn_sim_step(b.sim, b.s, NULL, NULL, &err) == SN_E_VALUE &&
                strstr(err.text, place ? "the state has q[0] = nan for 'hand', needs a finite"
                                       : "the state has qd[0] = nan for 'hand', needs a finite") &&
                strcmp(err.path, "bodies.hand") == 0,
            "%s: %s %s", any_method[k], err.path, err.text);
      CHECK(sn_sim_assemble(b.sim, b.s, &err) == SN_E_VALUE, "assembled");
      stage_clear(&b);
    }
  }
}

/* Two dolls that hang by their hands and are lifted, and a foot of the one is welded to one of the
 * other: they just reach each other, in a pose in which a row has nearly nothing to say. Nobody
 * asks for rates that others forbid. */
static const char dolls[] =
    "sinew: 1\n"
    "bodies:\n"
    "  Atorso: {joint: {type: free, at: [0,0,1]}, inertia: {mass: 30, xx: 1, yy: 1, zz: 0.4}}\n"
    "  AupL: {parent: Atorso, joint: {type: spherical, at: [-0.2,0,0.3], damping: 0.1}, inertia: "
    "{mass: 2, at: [-0.15,0,0], xx: 0.002, yy: 0.015, zz: 0.015}}\n"
    "  AforeL: {parent: AupL, joint: {type: revolute, axis: [0,0,1], at: [-0.3,0,0], limits: "
    "[-2,2], stop: {stiffness: 200, damping: 2}}, inertia: {mass: 1.5, at: [-0.13,0,0], xx: 0.001, "
    "yy: 0.01, zz: 0.01}}\n"
    "  AthighL: {parent: Atorso, joint: {type: spherical, at: [-0.1,0,-0.3], damping: 0.3}, "
    "inertia: {mass: 7, at: [0,0,-0.2], xx: 0.1, yy: 0.1, zz: 0.02}}\n"
    "  AshinL: {parent: AthighL, joint: {type: revolute, axis: [1,0,0], at: [0,0,-0.4]}, inertia: "
    "{mass: 4, at: [0,0,-0.2], xx: 0.06, yy: 0.06, zz: 0.01}}\n"
    "  AupR: {parent: Atorso, joint: {type: spherical, at: [0.2,0,0.3], damping: 0.1}, inertia: "
    "{mass: 2, at: [0.15,0,0], xx: 0.002, yy: 0.015, zz: 0.015}}\n"
    "  AforeR: {parent: AupR, joint: {type: revolute, axis: [0,0,1], at: [0.3,0,0], limits: "
    "[-2,2], stop: {stiffness: 200, damping: 2}}, inertia: {mass: 1.5, at: [0.13,0,0], xx: 0.001, "
    "yy: 0.01, zz: 0.01}}\n"
    "  AthighR: {parent: Atorso, joint: {type: spherical, at: [0.1,0,-0.3], damping: 0.3}, "
    "inertia: {mass: 7, at: [0,0,-0.2], xx: 0.1, yy: 0.1, zz: 0.02}}\n"
    "  AshinR: {parent: AthighR, joint: {type: revolute, axis: [1,0,0], at: [0,0,-0.4]}, inertia: "
    "{mass: 4, at: [0,0,-0.2], xx: 0.06, yy: 0.06, zz: 0.01}}\n"
    "  Btorso: {joint: {type: free, at: [1.1,0,1]}, inertia: {mass: 30, xx: 1, yy: 1, zz: 0.4}}\n"
    "  BupL: {parent: Btorso, joint: {type: spherical, at: [-0.2,0,0.3], damping: 0.1}, inertia: "
    "{mass: 2, at: [-0.15,0,0], xx: 0.002, yy: 0.015, zz: 0.015}}\n"
    "  BforeL: {parent: BupL, joint: {type: revolute, axis: [0,0,1], at: [-0.3,0,0], limits: "
    "[-2,2], stop: {stiffness: 200, damping: 2}}, inertia: {mass: 1.5, at: [-0.13,0,0], xx: 0.001, "
    "yy: 0.01, zz: 0.01}}\n"
    "  BthighL: {parent: Btorso, joint: {type: spherical, at: [-0.1,0,-0.3], damping: 0.3}, "
    "inertia: {mass: 7, at: [0,0,-0.2], xx: 0.1, yy: 0.1, zz: 0.02}}\n"
    "  BshinL: {parent: BthighL, joint: {type: revolute, axis: [1,0,0], at: [0,0,-0.4]}, inertia: "
    "{mass: 4, at: [0,0,-0.2], xx: 0.06, yy: 0.06, zz: 0.01}}\n"
    "  BupR: {parent: Btorso, joint: {type: spherical, at: [0.2,0,0.3], damping: 0.1}, inertia: "
    "{mass: 2, at: [0.15,0,0], xx: 0.002, yy: 0.015, zz: 0.015}}\n"
    "  BforeR: {parent: BupR, joint: {type: revolute, axis: [0,0,1], at: [0.3,0,0], limits: "
    "[-2,2], stop: {stiffness: 200, damping: 2}}, inertia: {mass: 1.5, at: [0.13,0,0], xx: 0.001, "
    "yy: 0.01, zz: 0.01}}\n"
    "  BthighR: {parent: Btorso, joint: {type: spherical, at: [0.1,0,-0.3], damping: 0.3}, "
    "inertia: {mass: 7, at: [0,0,-0.2], xx: 0.1, yy: 0.1, zz: 0.02}}\n"
    "  BshinR: {parent: BthighR, joint: {type: revolute, axis: [1,0,0], at: [0,0,-0.4]}, inertia: "
    "{mass: 4, at: [0,0,-0.2], xx: 0.06, yy: 0.06, zz: 0.01}}\n"
    "loops:\n"
    "  hands: {type: spherical, a: {body: AforeR, at: [0.26,0,0]}, b: {body: BforeL, at: "
    "[-0.26,0,0]}}\n"
    "constraints:\n"
    "  nail: {type: point, a: {body: AforeL, at: [-0.26,0,0]}, b: {body: world, at: "
    "[-0.76,0,1.3]}}\n"
    "  feet: {type: weld, a: {body: BshinL, at: [0,0,-0.4]}, b: {body: BshinR, at: [-0.2,0,-0.4]}, "
    "active: t > 0.3}\n"
    "motions:\n"
    "  lift: {body: BforeR, at: [0.26,0,0], point: [1.86 - 0.2*t, 0.1*t, 1.3 + 0.1*sin(2*t)], "
    "active: t > 0.2 and t < 0.6}\n";

TEST(a_weld_that_is_just_reached_holds) {
  double energy[3];
  for (int k = 0; k < 3; k++) {
    sn_options o = options_of(any_method[k]);
    o.step = 0.002;
    stage b = stage_set(dolls, o);
    for (int n = 0; n < 160; n++) {
      sn_error err = {0};
      CHECK(sn_sim_step(b.sim, b.s, NULL, NULL, &err) >= 0, "%s, t = %g: %s", any_method[k],
            *sn_state_time(b.s), err.text);
    }
    double gap;
    sn_sim_gap(b.sim, b.s, &gap);
    CHECK(gap < 1e-5, "%s: a gap of %g", any_method[k], gap);
    energy[k] = stage_energy(&b);
    stage_clear(&b);
  }
  for (int k = 1; k < 3; k++) {
    CHECK(fabs(energy[k] - energy[0]) < 0.01 * energy[0], "%s: %g, not %g", any_method[k],
          energy[k], energy[0]);
  }
}

/* A seat on four equal rods, pulled aside, lets a turn begin that no pose follows: a run ends where
 * that shows, and says so.  A torque alone only strains the rods, while the seat hangs aslant:
 * there is a pose in which it may turn on the way, straight down.
 */
TEST(motions_that_no_pose_follows_are_told) {
  static const char *const way[] = {"initial: {seat: {q: [0.3, 0.2, 0.06, 0, 0, 0]}}\n"
                                    "forces: {t: {type: body_torque, body: seat, torque: [0, 0, "
                                    "0.5]}}\n",
                                    "initial: {seat: {qd: [0.5, 0.3, 0, 0, 0, 1]}}\n"};
  for (int k = 0; k < 4; k++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s",
             "sinew: 1\nbodies: {seat: {joint: {type: free, at: [0, 0, -1]}, inertia: {mass: 75, "
             "xx: 0.6, yy: 1.6, zz: 2.1}}}\n"
             "constraints:\n"
             "  r0: {type: distance, length: 1, a: {body: world, at: [0.25, 0.15, 0]}, b: {body: "
             "seat, at: [0.25, 0.15, 0]}}\n"
             "  r1: {type: distance, length: 1, a: {body: world, at: [0.25, -0.15, 0]}, b: {body: "
             "seat, at: [0.25, -0.15, 0]}}\n"
             "  r2: {type: distance, length: 1, a: {body: world, at: [-0.25, 0.15, 0]}, b: {body: "
             "seat, at: [-0.25, 0.15, 0]}}\n"
             "  r3: {type: distance, length: 1, a: {body: world, at: [-0.25, -0.15, 0]}, b: {body: "
             "seat, at: [-0.25, -0.15, 0]}}\n",
             way[k / 2]);
    sn_options o = options_of(any_method[k % 2]);
    o.step = 0.002;
    stage b = stage_set(text, o);
    sn_error err = {0};
    sn_status status = SN_OK;
    for (int n = 0; n < 500 && !status; n++) {
      status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
      const double t = *sn_state_time(b.s), turned = sn_state_q(b.s)[5];
      CHECK(k >= 2 || t > 0.4 || (!status && fabs(turned) < 1e-3), "%s: turned by %g at t = %g: %s",
            any_method[k % 2], turned, t, err.text);
    }
    const bool told =
        strstr(err.text, "The pose is singular") && strstr(err.text, "no pose follows");
    CHECK(status == SN_E_UNCONVERGED ? told : k < 2 && status == SN_OK, "%s, case %d: %d, %s",
          any_method[k % 2], k / 2, status, err.text);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(motions_that_no_pose_follows_are_told), T(a_weld_that_is_just_reached_holds),
            T(loops_are_found_without_assembling),
            T(states_that_are_not_finite_are_refused_by_name),
            T(an_arm_that_is_stretched_out_closes), T(what_is_out_of_reach_is_named),
            T(what_can_be_reached_is_reached), T(the_least_gap_is_told),
            T(what_is_switched_on_far_away_closes), T(what_is_switched_on_takes_hold_at_once),
            T(rates_at_odds_are_named), T(stops_elsewhere_do_not_hide_what_is_at_odds),
            T(solvers_name_what_is_at_odds), T(what_no_joint_lets_move_is_named),
            T(rates_that_agree_are_not), T(what_comes_at_odds_in_a_run_is_named));
}
