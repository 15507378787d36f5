/* Closed loops: motions with known answers, gaps, redundant rows, reactions. */
#include "redmax.h"
#include "stage.h"
#include "structured.h"
#include "windows.h"

static void free_all(sn_state **s, sn_sim **sim, sn_model **m) {
  sn_state_free(s);
  sn_sim_free(sim);
  sn_model_free(m);
}

/* All rods turn as one pendulum, q'' = c sin q.  (Until 0.6 s: at 0.7 s they pass a pose in which
 * the mechanism could branch off, and what happens there is a matter of rounding.) */
TEST(windows_move_as_one_pendulum) {
  for (int n = 1; n <= 6; n += 5) {
    sn_model *m = windows(n);
    sn_options o = sn_options_default();
    o.step = 0.0025;
    o.recursive.integrator = SN_RK4;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    const double c = 9.81 * ((n + 1) / 2.0 + n) / ((n + 1) / 3.0 + n), h = 1e-4;
    double q = 0, qd = 1;
    for (int k = 0; k < 6000; k++) { /* the same, by itself: the rule of order four of Nystroem */
      const double a = c * sin(q), b = c * sin(q + h / 2 * qd + h * h / 8 * a),
                   e = c * sin(q + h * qd + h * h / 2 * b);
      q += h * qd + h * h / 6 * (a + 2 * b);
      qd += h / 6 * (a + 4 * b + e);
    }
    for (int k = 0; k < 240; k++) {
      test_step(sim, s, NULL);
    }
    for (int i = 0; i < sn_model_body_count(m); i++) {
      const double sign = sn_model_body_name(m, i)[0] == 'v' ? 1 : -1;
      const double got = sign * sn_state_q(s)[sn_model_joint_first(m, i)];
      CHECK(fabs(got - q) < 1e-9, "%d windows: '%s' is at %.12f, not %.12f", n,
            sn_model_body_name(m, i), got, q);
    }
    free_all(&s, &sim, &m);
  }
}

/* All rods turned by th and turning with om: accelerations are those of one pendulum. */
static double turned(const sn_model *m, sn_state *s, int n, double th, double om) {
  for (int i = 0; i < sn_model_body_count(m); i++) {
    const double sign = sn_model_body_name(m, i)[0] == 'v' ? 1 : -1;
    const int k = sn_model_joint_first(m, i);
    sn_state_q(s)[k] = sign * th;
    sn_state_qd(s)[k] = sign * om;
  }
  return 9.81 * ((n + 1) / 2.0 + n) / ((n + 1) / 3.0 + n) * sin(th);
}

/* The way that was chosen, or another one. */
static void take_way(sn_sim *sim, int way) {
  sn_error err = {0};
  sni_kkt_free(&sim->rows.kkt);
  if (way != SNI_BY_DUAL) {
    const sni_kkt_form form = way == SNI_BY_GRAPH ? SNI_KKT_MAXIMAL : SNI_KKT_REDUCED;
    CHECK(!sni_kkt_build(&sim->d, form, 0, NULL, SIZE_MAX, &sim->rows.kkt, &err), "%s", err.text);
  }
}

/* Most of the rows are redundant. */
TEST(accelerations_by_all_ways) {
  static const int sizes[] = {1, 2, 4, 5, 12, 40};
  for (int k = 0; k < 6 * SNI_WAYS; k++) {
    const int n = sizes[k / SNI_WAYS], way = k % SNI_WAYS;
    sn_model *m = windows(n);
    sn_sim *sim = test_sim(m, NULL);
    sn_state *s = test_state(m);
    if (way == SNI_BY_DUAL && !sim->rows.dual) {
      CHECK(5 * n > SNI_DUAL_ROWS, "%d windows have room for the dual", n);
      free_all(&s, &sim, &m);
      continue;
    }
    take_way(sim, way);
    const double expected = turned(m, s, n, 0.3, 0.7);
    double qdd[128];
    sn_error err = {0};
    CHECK(sn_sim_forward(sim, s, NULL, qdd, &err) == SN_OK, "%s", err.text);
    for (int i = 0; i < sn_model_body_count(m); i++) {
      const double sign = sn_model_body_name(m, i)[0] == 'v' ? 1 : -1;
      const double got = sign * qdd[sn_model_joint_first(m, i)];
      CHECK(fabs(got - expected) < 1e-10,
            "way %d, %d windows: '%s' accelerates by %.12g, not %.12g", way, n,
            sn_model_body_name(m, i), got, expected);
    }
    free_all(&s, &sim, &m);
  }
}

/* Loops that say nothing at all, since fixed joints hold the two bodies already, or the ground
 * does: what is left of their rows is rounding, and does nothing. */
TEST(a_loop_that_says_nothing) {
  static const char text[] =
      "sinew: 1\n"
      "defaults: {body: {inertia: {mass: 1, at: [0.1, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
      "bodies:\n"
      "  arm: {parent: world, joint: {type: spherical}}\n"
      "  hand: {parent: arm, joint: {type: fixed, at: [0.1, 0.2, 0]}}\n"
      "  base: {parent: world, joint: {type: fixed}}\n"
      "%s";
  static const char weld[] =
      "loops: {foot: {type: revolute, axis: [0, 1, 0], a: {body: base}, b: {body: world}}, weld: "
      "{type: fixed, a: {body: hand, at: {pos: [0.3, -0.1, 0.2], rotvec: [0.3, 0.2, "
      "0.1]}}, b: {body: arm, at: {pos: [0.4, 0.1, 0.2], rotvec: [0.3, 0.2, 0.1]}}}}\n";
  double qdd[2][3];
  for (int k = 0; k <= SNI_WAYS; k++) {
    char scene[1000];
    snprintf(scene, sizeof scene, text, k > 0 ? weld : "");
    stage g = stage_set(scene, sn_options_default());
    sn_error err = {0};
    if (k > 0) {
      take_way(g.sim, k - 1);
    }
    CHECK(sn_sim_assemble(g.sim, g.s, &err) == SN_OK, "%s", err.text);
    CHECK(sn_sim_forward(g.sim, g.s, NULL, qdd[k > 0], &err) == SN_OK, "%s", err.text);
    for (int i = 0; i < 3; i++) {
      CHECK(fabs(qdd[k > 0][i] - qdd[0][i]) < 1e-10 && sn_state_q(g.s)[i] == 0,
            "way %d: %g instead of %g, q %g", k - 1, qdd[k > 0][i], qdd[0][i], sn_state_q(g.s)[i]);
    }
    stage_clear(&g);
  }
}

/* Loops that are open at the start are closed by assembling, and stay closed. */
TEST(loops_are_assembled_and_stay_closed) {
  static const int sizes[] = {2, 6};
  for (int k = 0; k < 4; k++) {
    const int n = sizes[k / 2];
    sn_model *m = windows(n);
    sn_options o = redmax_options(0.01);
    o.method = k % 2 ? "redmax" : "recursive";
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    turned(m, s, n, 0.4, 1);
    sn_state_q(s)[0] += 0.03;
    sn_state_q(s)[2] -= 0.05;
    sn_error err = {0};
    CHECK(sn_sim_assemble(sim, s, &err) == SN_OK, "%s", err.text);
    for (int step = 0; step < 25; step++) {
      sn_info info;
      CHECK(sn_sim_step(sim, s, NULL, &info, &err) == SN_OK, "%s", err.text);
      for (int c = 0; c < n; c++) { /* the gap in space, by itself */
        char a[32], b[32];
        snprintf(a, sizeof a, "h%d", c % 100);
        snprintf(b, sizeof b, "v%d", (c + 1) % 100);
        sn_se3 E[64];
        sn_sim_poses(sim, s, E, NULL);
        const sn_vec3 x = sn_se3_point(E[sn_model_body_find(m, a)], (sn_vec3){1, 0, 0});
        const sn_vec3 y = sn_se3_point(E[sn_model_body_find(m, b)], (sn_vec3){0, 0, 1});
        const double gap = sn_vec3_norm(sn_vec3_sub(x, y));
        CHECK(gap < 1e-9, "%s, %d windows, step %d: a gap of %g", o.method, n, step, gap);
      }
    }
    free_all(&s, &sim, &m);
  }
}

/* A motion that drives a loop: its force is the same whoever computes it, and does the work. */
TEST(motors_of_loops) {
  double tau[2][3];
  for (int k = 0; k < 2; k++) {
    sn_builder *b = sn_builder_create();
    CHECK(b != NULL, "out of memory");
    sn_body_def crank = test_link("crank", "world", "revolute");
    crank.joint.axis = (sn_vec3){0, 1, 0};
    sn_body_def rod = test_link("rod", "crank", "revolute");
    rod.joint.axis = (sn_vec3){0, 1, 0};
    rod.joint.at = sn_pose(0.2, 0, 0);
    CHECK(sn_builder_add_body(b, &crank) == SN_OK && sn_builder_add_body(b, &rod) == SN_OK,
          "out of memory");
    sn_loop_def guide = sn_loop_def_default();
    guide.name = "guide";
    guide.joint.type = "planar"; /* x, z and the angle about y */
    guide.a = (sn_point_def){"world", sn_pose_rotvec((sn_vec3){0}, (sn_vec3){-acos(0), 0, 0})};
    guide.b = (sn_point_def){"rod", sn_pose_rotvec((sn_vec3){0}, (sn_vec3){-acos(0), 0, 0})};
    CHECK(sn_builder_add_loop(b, &guide) == SN_OK, "out of memory");
    sn_motion_def drive = {.name = "drive", .joint = "crank", .nq = 1, .active = {.value = 1}};
    drive.q[0] = (sn_function_def){.expression = "2*t"};
    CHECK(sn_builder_add_motion(b, &drive) == SN_OK, "out of memory");
    sn_model *m = test_finish(b);
    sn_options o = redmax_options(k ? 1e-4 : 0.01);
    o.method = k ? "redmax" : "recursive";
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    sn_error err = {0};
    CHECK(sn_sim_assemble(sim, s, &err) == SN_OK, "%s", err.text);
    const int channel[3] = {sn_sim_channel_find(sim, "drive.tau"),
                            sn_sim_channel_find(sim, "crank.tau"),
                            sn_sim_channel_find(sim, "crank.qd")};
    for (int n = 0; n < lround(0.5 / o.step); n++) {
      CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_OK, "%s", err.text);
    }
    CHECK(sn_sim_channels(sim, s, NULL, channel, 3, tau[k], &err) == SN_OK, "%s", err.text);
    CHECK(fabs(tau[k][0] - tau[k][1]) < 1e-9 && fabs(tau[k][0]) > 1e-3,
          "%s: the motor gives %g, the joint has %g", o.method, tau[k][0], tau[k][1]);
    CHECK(fabs(tau[k][2] - 2) < 1e-9, "%s: it turns with %g", o.method, tau[k][2]);
    free_all(&s, &sim, &m);
  }
  CHECK(fabs(tau[0][0] - tau[1][0]) < 2e-3 * fabs(tau[0][0]), "%g and %g", tau[0][0], tau[1][0]);
}

/* Rows of the end of a step serve at the start of the next one, unless somebody looked elsewhere in
 * between: the bits do not tell. */
TEST(looking_elsewhere_changes_nothing) {
  sn_model *m = windows(3);
  const sn_options o = redmax_options(0.01);
  sn_sim *sim[2] = {test_sim(m, &o), test_sim(m, &o)};
  sn_state *s[2] = {test_state(m), test_state(m)}, *other = test_state(m);
  turned(m, other, 3, 0.7, 0.2);
  const double *q = sn_state_q(other), *qd = sn_state_qd(other);
  for (int k = 0; k < 40; k++) {
    test_step(sim[0], s[0], NULL);
    test_step(sim[1], s[1], NULL);
    sni_dynamics_kinematics(&sim[1]->d, q, qd);
    sni_rows_eval(&sim[1]->rows, 0, 0, q, qd);
    const size_t bytes = (size_t)sn_model_dof_count(m) * sizeof *q;
    CHECK(memcmp(sn_state_q(s[0]), sn_state_q(s[1]), bytes) == 0 &&
              memcmp(sn_state_qd(s[0]), sn_state_qd(s[1]), bytes) == 0,
          "step %d", k);
  }
  sn_state_free(&other);
  sn_state_free(&s[0]);
  sn_sim_free(&sim[0]);
  free_all(&s[1], &sim[1], &m);
}

/* At rest, without gravity, set going by a motion: the right-hand side is zero, and pcg has nothing
 * else to measure its residual by than what constraints bring. */
TEST(pcg_goes_along_with_motions_from_rest) {
  static const char text[] =
      "sinew: 1\ngravity: [0, 0, 0]\n"
      "defaults: {body: {inertia: {mass: 1, at: [0.25, 0.1, 0], xx: 0.02, yy: 0.03, zz: 0.04}}}\n"
      "bodies:\n"
      "  a: {joint: {type: revolute, axis: [0, 1, 0]}}\n"
      "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [0.5, 0, 0]}}\n"
      "  c: {parent: b, joint: {type: revolute, axis: [0, 1, 0], at: [0.5, 0, 0]}}\n"
      "  d: {joint: {type: spherical, at: [0, 0, 1]}}\n"
      "forces: {s: {type: spring, a: {body: c, at: [0.5, 0, 0]}, b: {body: d, at: [0.3, 0, 0]}, "
      "stiffness: 1000, damping: 10}}\n"
      "constraints: {cc: {type: couple, terms: [{joint: b}, {joint: c, factor: -1}]}}\n"
      "motions: {m: {joint: a, rate: t}}\n";
  const sn_solver solver[2] = {SN_SOLVER_GRAPH, SN_SOLVER_PCG};
  stage b[2];
  for (int k = 0; k < 2; k++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = solver[k];
    b[k] = stage_set(text, o);
  }
  for (int n = 0; n < 20; n++) {
    sn_info info = {0};
    sn_error err = {0};
    stage_step(&b[0], 1);
    CHECK(sn_sim_step(b[1].sim, b[1].s, NULL, &info, &err) == SN_OK, "%s", err.text);
    CHECK(info.iterations <= 10 && info.residual < 1e-9, "step %d: %d iterations, residual %g", n,
          info.iterations, info.residual);
    for (int i = 0; i < b[0].m->tree.nv; i++) {
      const double off = fabs(sn_state_qd(b[1].s)[i] - sn_state_qd(b[0].s)[i]);
      CHECK(off < 1e-9, "step %d, %d: off by %g", n, i, off);
    }
  }
  stage_clear(&b[0]);
  stage_clear(&b[1]);
}

/* Balls that do not turn about the origin of their body, as bodies without a joint get them where a
 * ball loop is all that holds them: every solver of both methods moves them alike. */
TEST(balls_beside_the_origin) {
  static const char text[] =
      "sinew: 1\n"
      "bodies:\n"
      "  a:\n"
      "    joint: {type: composite, parts: [{type: spherical}, {type: fixed, at: [-0.3, 0.1, "
      "0]}]}\n"
      "    inertia: {mass: 1.3, at: [0.1, 0, -0.3], xx: 0.05, yy: 0.06, zz: 0.03}\n"
      "  b:\n"
      "    parent: a\n"
      "    joint: {type: composite, at: [1, 0, 0], parts: [{type: spherical}, {type: fixed, at: "
      "[0, "
      "0.2, 0]}]}\n"
      "    inertia: {mass: 1.3, at: [0.1, 0, -0.3], xx: 0.05, yy: 0.06, zz: 0.03}\n"
      "loops:\n"
      "  l: {type: spherical, a: {body: b, at: [1, 0, 0]}, b: {body: world, at: [1.7, 0.3, 0]}}\n";
  for (int method = 0; method < 2; method++) {
    double first[6] = {0};
    const int solvers = method ? STRUCTURED_SOLVERS : REDMAX_SOLVERS;
    for (int k = 0; k < solvers; k++) {
      sn_options o = method ? structured_options(0.01, 1e-12) : redmax_options(0.01);
      o.structured.solver = structured_solver[method ? k : 0].option;
      o.redmax.solver = redmax_solver[method ? 0 : k].option;
      o.redmax.tolerance = 1e-13;
      if (!method && o.redmax.solver == SN_SOLVER_TREE) {
        o.redmax.solver = SN_SOLVER_AUTO; /* it takes no loops */
      }
      stage b = stage_set(text, o);
      stage_step(&b, 50);
      for (int i = 0; i < 6; i++) {
        const double q = sn_state_q(b.s)[i];
        first[i] = k == 0 ? q : first[i];
        CHECK(fabs(q - first[i]) < 1e-9, "method %d, solver %d: q%d = %g, not %g", method, k, i, q,
              first[i]);
      }
      stage_clear(&b);
    }
  }
}

/* ---- coordinates of loops that nobody knows ---- */

#define FRAMES                                                                                     \
  "{type: spline_curve, frames: [{pos: [0.03, -0.02, -0.16], rotvec: [-0.36, 0.16, -0.25]}, {pos:" \
  " [0.35, 0.04, -0.12], rotvec: [0.19, -0.17, 0.52]}, {pos: [0.64, 0.01, 0.06], rotvec: [0.24, "  \
  "0.37, 0.57]}, {pos: [0.85, -0.06, 0.04], rotvec: [-0.24, 0.11, -0.49]}, {pos: [1.24, 0.01, "    \
  "-0.15], rotvec: [0.2, -0.23, -0.37]}, {pos: [1.5, -0.14, -0.12], rotvec: [0.44, 0.24, "         \
  "-0.59]}, {pos: [1.83, -0.19, -0.07], rotvec: [0.49, 0.14, -0.23]}, {pos: [2.1, 0.1, 0.2], "     \
  "rotvec: [-0.3, 0.4, 0.1]}]}"
#define BEND  "{type: fixed, at: {pos: [-0.15, 0.21, -0.01], rotvec: [0.51, 0.13, -0.14]}}"
#define HINGE "{type: revolute, axis: [-0.65, 0.74, -0.18]}"

static const struct {
  const char *parts;
  int nv;
  double lo, hi;
} far_loop[] = {{FRAMES, 1, 0, 5},
                {FRAMES ", " BEND ", " HINGE, 2, 0, 3},
                {"{type: universal}, " BEND ", " HINGE, 3, -2.5, 2.5},
                {HINGE ", " BEND ", {type: revolute, axis: [0.75, -0.28, -0.6]}, " BEND
                       ", {type: revolute, axis: [0.02, 0.54, -0.84]}",
                 3, -2.5, 2.5}};

/* The pose of a body on such a joint. */
static sn_se3 pose_on(int kind, const double *q) {
  char text[2000];
  snprintf(text, sizeof text,
           "sinew: 1\nbodies: {x: {joint: {type: composite, parts: [%s]}, inertia: {mass: 1, xx: "
           "1, yy: 1, zz: 1}}}\n",
           far_loop[kind].parts);
  stage b = stage_set(text, stage_exact(0.01));
  memcpy(sn_state_q(b.s), q, (size_t)far_loop[kind].nv * sizeof *q);
  sni_dynamics_kinematics(&b.sim->d, sn_state_q(b.s), sn_state_qd(b.s));
  sni_dynamics_pose(&b.sim->d, 0);
  const sn_se3 E = b.sim->d.E_wb[0];
  stage_clear(&b);
  return E;
}

/* Loops that are closed, far along a spline or with hinges well bent, are seen to be closed:
 * nothing is moved at the start, nor in the first step of any method. */
TEST(loops_are_closed_wherever_their_coordinates_are) {
  uint64_t seed = 7;
  for (int trial = 0; trial < 80; trial++) {
    const int kind = trial % 4;
    double q[3];
    for (int i = 0; i < 3; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      q[i] = far_loop[kind].lo +
             (far_loop[kind].hi - far_loop[kind].lo) * ((double)(seed >> 11) / 9007199254740992.0);
    }
    const sn_se3 E = pose_on(kind, q);
    const sn_vec3 turn = sn_so3_log(E.R);
    char text[3000];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "defaults: {body: {inertia: {mass: 1, at: [0.1, 0.2, 0], xx: 0.2, yy: 0.3, zz: "
             "0.3}}}\n"
             "bodies:\n"
             "  base: {joint: {type: spherical}}\n"
             "  y: {parent: base, joint: {type: free, at: {pos: [%.17g, %.17g, %.17g], rotvec: "
             "[%.17g, %.17g, %.17g]}}}\n"
             "initial: {base: {q: [0.1, 0.2, 0.3]}}\n"
             "loops: {l: {type: composite, parts: [%s], a: {body: base}, b: {body: y}}}\n",
             E.p.x, E.p.y, E.p.z, turn.x, turn.y, turn.z, far_loop[kind].parts);
    const double start[9] = {0.1, 0.2, 0.3};
    for (int method = 0; method < 3; method++) {
      stage b = stage_set(text, method == 0   ? stage_exact(1e-6)
                                : method == 1 ? redmax_options(1e-6)
                                              : structured_options(1e-6, 1e-12));
      for (int step = 0; step < 2; step++) {
        for (int i = 0; i < 9; i++) {
          CHECK(fabs(sn_state_q(b.s)[i] - start[i]) < 1e-9,
                "trial %d, method %d, step %d: coordinate %d is moved by %g", trial, method, step,
                i, sn_state_q(b.s)[i] - start[i]);
        }
        stage_step(&b, 1);
      }
      stage_clear(&b);
    }
  }
}

int main(void) {
  RUN_TESTS(T(windows_move_as_one_pendulum), T(accelerations_by_all_ways),
            T(a_loop_that_says_nothing), T(loops_are_assembled_and_stay_closed), T(motors_of_loops),
            T(looking_elsewhere_changes_nothing), T(pcg_goes_along_with_motions_from_rest),
            T(balls_beside_the_origin), T(loops_are_closed_wherever_their_coordinates_are));
}
