/* The method `structured`: all its solvers move mechanisms alike, and as other methods do as the
 * step goes to zero; no energy is gained; what cannot be closed is met as well as can be.
 * SINEW_SOAK swings the ladder for 60 s and pulls at two targets for 100,000 steps. */
#include "methods/sim.h"
#include "methods/structured/structured.h"
#include "structured.h"

static bool soak(void) {
  return getenv("SINEW_SOAK") != NULL;
}

/* q after some steps. */
static double *walk(const sn_model *m, const sn_options *o, int steps) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  sn_error err = {0};
  const int nv = sn_model_dof_count(m);
  double *q = calloc((size_t)nv + 1, sizeof *q);
  CHECK(q && sn_sim_assemble(sim, s, &err) == SN_OK, "%s", err.text);
  for (int k = 0; k < steps; k++) {
    structured_step(sim, s);
  }
  memcpy(q, sn_state_q(s), (size_t)nv * sizeof *q);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return q;
}

static void compare_solvers(const sn_model *m, double step, int steps, const char *what) {
  double *q[STRUCTURED_SOLVERS];
  const int nv = sn_model_dof_count(m);
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    sn_options o = structured_options(step, 1e-10);
    o.structured.solver = structured_solver[k].option;
    q[k] = walk(m, &o, steps);
    const double e = largest_difference(q[k], q[0], nv);
    CHECK(e < 1e-6, "%s: '%s' is %g away", what, structured_solver[k].name, e);
  }
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    free(q[k]);
  }
}

/* Run to 1e-10, 1e-6 is asked for; they come to 1e-9. */
TEST(solvers_agree_on_ladders) {
  sn_model *m = structured_ladder(2, 6);
  compare_solvers(m, 0.01, 50, "ladder");
  sn_model_free(&m);
}

/* Every kind of joint, springs and armature in them, drag, forces, springs between bodies, and
 * distances that close loops. */
TEST(solvers_agree_on_random_mechanisms) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    random_tree tree;
    random_tree_make(&tree, seed, 9, TREE_SPRINGS | TREE_ARMATURE | TREE_DRAG | TREE_FORCES);
    sn_builder *b = sn_builder_create();
    CHECK(b && random_tree_add(&tree, b, NULL) == SN_OK, "out of memory");
    const sn_force_def band = spring_def("pair", tree.name[2], (sn_vec3){0.2, 0, 0}, tree.name[7],
                                         (sn_vec3){0, 0.3, 0}, 2000, 3, 0.2);
    CHECK(sn_builder_add_force(b, &band) == SN_OK, "out of memory");
    for (int k = 0; k < 2; k++) {
      char name[32];
      snprintf(name, sizeof name, "rod%d", k);
      sn_constraint_def rod = sn_constraint_def_default();
      rod.name = name;
      rod.type = "distance";
      rod.a = (sn_point_def){tree.name[3 * k], sn_pose(0.1, 0.2, 0.4)};
      rod.b = (sn_point_def){tree.name[8 - k], sn_pose(-0.4, 0.1, -0.2)};
      CHECK(sn_builder_add_constraint(b, &rod) == SN_OK, "out of memory");
    }
    sn_model *m = test_finish(b);
    char what[32];
    snprintf(what, sizeof what, "seed %u", seed);
    compare_solvers(m, 0.002, 20, what);
    sn_model_free(&m);
  }
}

/* Coordinates of joints that follow functions of time, and that are tied to one another: rows over
 * rates.  The full solvers refuse those of several joints. */
static const char geared[] =
    STRUCTURED_CHAIN "  wheel: {parent: world, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, "
                     "2]}, inertia: {mass: "
                     "1, xx: 0.1, yy: 0.2, zz: 0.1}}\n"
                     "  gear: {parent: bar_3, joint: {type: revolute, axis: [0, 0, 1], at: [1, 0, "
                     "0]}, inertia: {mass: "
                     "1, xx: 0.1, yy: 0.2, zz: 0.1}}\n"
                     "motions:\n"
                     "  turn: {joint: wheel, q: sin(3*t)}\n"
                     "  spin: {joint: gear, rate: 2 + t, active: t < 0.2}\n"
                     "%s";

TEST(coordinates_follow_and_are_tied) {
  char text[2000];
  snprintf(text, sizeof text, geared, "");
  sn_model *m = stage_model(text);
  compare_solvers(m, 0.01, 40, "motions of joints");
  stage g = {.m = m};
  const sn_options o = structured_options(0.01, 1e-9);
  g.sim = test_sim(m, &o);
  g.s = test_state(m);
  for (int k = 0; k < 30; k++) {
    structured_step(g.sim, g.s);
    const double t = *sn_state_time(g.s);
    const int adr = sn_model_joint_first(m, sn_model_body_find(m, "wheel"));
    const double q = sn_state_q(g.s)[adr], qd = sn_state_qd(g.s)[adr];
    CHECK(fabs(q - sin(3 * t)) < 1e-8 && fabs(qd - 3 * cos(3 * t)) < 1e-8, "t = %g: %g, %g", t, q,
          qd);
  }
  stage_clear(&g);
  snprintf(text, sizeof text, geared,
           "constraints: {teeth: {type: couple, terms: [{joint: wheel, factor: 2}, {joint: gear, "
           "factor: -1}], active: t > 0.2}}\n");
  m = stage_model(text);
  double *q[2];
  for (int k = 0; k < 2; k++) {
    sn_options own = structured_options(0.01, 1e-10);
    own.structured.solver = k ? SN_STRUCTURED_GRAPH : SN_STRUCTURED;
    q[k] = walk(m, &own, 40);
  }
  const double e = largest_difference(q[0], q[1], sn_model_dof_count(m));
  CHECK(e < 1e-6, "'graph' is %g away", e);
  const int wheel = sn_model_joint_first(m, sn_model_body_find(m, "wheel"));
  const int gear = sn_model_joint_first(m, sn_model_body_find(m, "gear"));
  CHECK(fabs(2 * q[0][wheel] - q[0][gear]) < 1e-8, "the teeth have jumped");
  free(q[0]);
  free(q[1]);
  sn_sim *sim = NULL;
  sn_error err = {0};
  sn_options full = structured_options(0.01, 1e-10);
  full.structured.solver = SN_FULL_DENSE;
  CHECK(sn_sim_create(m, &full, &sim, &err) == SN_E_UNSUPPORTED && strstr(err.text, "'teeth'"),
        "not refused: %s", err.text);
  sn_model_free(&m);
}

/* What the method cannot do is told before the run. */
TEST(limits_are_refused) {
  sn_model *m =
      stage_model("sinew: 1\n"
                  "bodies:\n"
                  "  rod: {parent: world, joint: {type: revolute, axis: [0, 1, 0], limits: "
                  "[-1, 1]}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n");
  const sn_options o = structured_options(0.01, 1e-6);
  sn_sim *sim = NULL;
  sn_error err = {0};
  CHECK(sn_sim_create(m, &o, &sim, &err) == SN_E_UNSUPPORTED, "not refused");
  CHECK(strcmp(err.text,
               "method 'structured' cannot yet keep hard limits ('rod'): give them a stop with "
               "stiffness, or take the method redmax") == 0,
        "%s", err.text);
  sn_model *point =
      stage_model("sinew: 1\n"
                  "bodies:\n"
                  "  rod: {joint: {type: spherical}, inertia: {mass: 1, at: [1, 0, 0], "
                  "xx: 0, yy: 1, zz: 1}}\n");
  sn_options full = o;
  full.structured.solver = SN_FULL_ITERATIVE;
  CHECK(sn_sim_create(point, &full, &sim, &err) == SN_E_UNSUPPORTED &&
            strstr(err.text, "need bodies with mass and moments about all axes ('rod' has not)"),
        "%s", err.text);
  sn_model_free(&point);
  sn_options bad = o;
  bad.structured.budget = -1;
  CHECK(sn_sim_create(m, &bad, &sim, &err) == SN_E_VALUE &&
            strcmp(err.text, "structured.budget is -1, needs a number >= 0") == 0,
        "%s", err.text);
  bad = o;
  bad.structured.precision = 0;
  CHECK(sn_sim_create(m, &bad, &sim, &err) == SN_E_VALUE, "a precision of 0 is taken");
  bad = o;
  bad.structured.iterations = -1;
  CHECK(sn_sim_create(m, &bad, &sim, &err) == SN_E_VALUE, "-1 iterations are taken");
  sn_model_free(&m);
}

/* The distance of q at the end from that of a reference, with steps of h, h/2 and h/4. */
static void expect_order(const sn_model *m, const double *reference, double h, double duration,
                         double least, const char *what) {
  const int nv = sn_model_dof_count(m);
  double before = 0;
  for (int k = 0; k < 3; k++) {
    const double step = h / (1 << k);
    sn_options o = structured_options(step, 1e-10);
    double *q = walk(m, &o, (int)lround(duration / step));
    const double e = largest_difference(q, reference, nv);
    free(q);
    CHECK(k == 0 || before / e > least, "%s: the error goes from %g to %g with half the step", what,
          before, e);
    before = e;
  }
  CHECK(before < 1e-2, "%s: %g away", what, before);
}

/* First order or better: halves with the step.  1.8 leaves room for the next order. */
TEST(a_tree_moves_as_with_recursive) {
  for (unsigned seed = 1; seed <= 6; seed++) {
    random_tree tree;
    random_tree_make(&tree, seed, 7, TREE_SPRINGS | TREE_ARMATURE | TREE_DRAG | TREE_FORCES);
    sn_model *m = random_tree_build(&tree);
    sn_options exact = stage_exact(0.1);
    double *q = walk(m, &exact, 2);
    char what[32];
    snprintf(what, sizeof what, "seed %u", seed);
    expect_order(m, q, 0.0005, 0.2, 1.8, what);
    free(q);
    sn_model_free(&m);
  }
}

static const char four_bar[] = STRUCTURED_FOUR_BAR("");

TEST(a_four_bar_moves_as_with_redmax) {
  sn_model *m = stage_model(four_bar);
  sn_options o = redmax_options(0.4 / 8192);
  o.redmax.integrator = SN_EXTRAPOLATED;
  double *q = walk(m, &o, 8192);
  expect_order(m, q, 0.001, 0.4, 1.8, "four-bar");
  free(q);
  sn_model_free(&m);
}

/* A ladder that swings down from where it is level: never above its start. */
TEST(a_ladder_gains_no_energy) {
  sn_model *m = structured_ladder(2, 6);
  const double duration = soak() ? 60 : 8;
  const sn_options o = structured_options(0.01, 1e-3);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  const double start = redmax_energy(sim, s);
  double most = -INFINITY, gap = 0;
  for (int k = 0; k < (int)lround(duration / o.step); k++) {
    const sn_info info = structured_step(sim, s);
    most = fmax(most, redmax_energy(sim, s) - start);
    gap = fmax(gap, info.gap);
  }
  CHECK(most <= 0, "%g above the start", most);
  CHECK(gap <= o.structured.precision, "loops opened by %g", gap);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* Two targets for one point, the second from `since` on; where it lies between them. */
static const char two_targets[] = STRUCTURED_CHAIN
    "motions:\n"
    "  left: {body: bar_10, at: [1, 0, 0], point: [5, -2, 0], weight: %g}\n"
    "  right: {body: bar_10, at: [1, 0, 0], point: [5, 2, 0.5*sin(t)], active: t > %g}\n";

/* Between them, by their weights, for ever: both gaps are those of the least squares. */
static void pull_two_ways(double weight, double since, int solver, int steps) {
  char text[2000];
  snprintf(text, sizeof text, two_targets, weight, since);
  sn_options o = structured_options(0.01, 1e-6);
  o.structured.solver = structured_solver[solver].option;
  stage g = stage_set(text, o);
  const char *name = structured_solver[solver].name;
  const double part = 1 / (1 + weight);
  for (int k = 0; k < steps; k++) {
    const sn_info info = structured_step(g.sim, g.s);
    const double t = *sn_state_time(g.s);
    const bool both = t > since + 0.005;
    CHECK(!both || info.gap > 1.9 * fmax(part, 1 - part), "'%s', t = %g: closed to %g", name, t,
          info.gap);
    const sn_vec3 x = structured_point(&g, "bar_10", (sn_vec3){1, 0, 0});
    const sn_vec3 best = {5, -2 + 4 * part, part * 0.5 * sin(t)};
    const double e = sn_vec3_norm(sn_vec3_sub(x, best));
    CHECK(t < since + 0.1 || e < 1e-3, "'%s', weight %g, t = %g: %g away from the least squares",
          name, weight, t, e);
  }
  CHECK(redmax_energy(g.sim, g.s) < 1e4, "it goes wild");
  stage_clear(&g);
}

TEST(two_targets_for_one_point) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    pull_two_ways(1, 0.1, n, soak() ? 100000 : n == 0 ? 1000 : 200);
  }
}

TEST(weights_divide_what_cannot_be_had) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    pull_two_ways(3, 0.1, n, 200);
    pull_two_ways(0.1, 0.1, n, 200);
  }
}

/* And roughly so where iterations are broken off after the first or the second. */
TEST(weights_divide_with_few_iterations) {
  const double weights[] = {0.1, 3, 30, 1000};
  for (int n = 0; n < 8; n++) {
    char text[2000];
    const double weight = weights[n / 2], part = 1 / (1 + weight);
    snprintf(text, sizeof text, two_targets, weight, 0.1);
    sn_options o = structured_options(0.01, 1e-6);
    o.structured.iterations = 1 + n % 2;
    stage g = stage_set(text, o);
    for (int k = 0; k < 200; k++) {
      structured_step(g.sim, g.s);
      const double t = *sn_state_time(g.s);
      const sn_vec3 x = structured_point(&g, "bar_10", (sn_vec3){1, 0, 0});
      const sn_vec3 best = {5, -2 + 4 * part, part * 0.5 * sin(t)};
      const double e = sn_vec3_norm(sn_vec3_sub(x, best));
      CHECK(t < 0.5 || e < 0.1, "weight %g, %d iterations, t = %g: %g away from the least squares",
            weight, o.structured.iterations, t, e);
    }
    stage_clear(&g);
  }
}

/* Asked for the impossible from the start. */
TEST(two_targets_at_once) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    pull_two_ways(1, -1, n, 200);
    pull_two_ways(4, -1, n, 200);
  }
}

/* Two targets, `apart` by so much for half a second: what is lost of the energy in 45 steps after
 * that. */
static double lost_after(double apart, int solver, double *kinetic, double *most_off) {
  char shaken[2000];
  snprintf(shaken, sizeof shaken,
           STRUCTURED_CHAIN "motions:\n"
                            "  left: {body: bar_10, at: [1, 0, 0], point: [5, -2, 0]}\n"
                            "  right:\n"
                            "    body: bar_10\n"
                            "    at: [1, 0, 0]\n"
                            "    point: [5, 't < 0.5 ? -2 + %g*sin(20*t) : -2', 0]\n",
           apart);
  sn_options o = structured_options(0.01, 1e-3);
  o.structured.solver = structured_solver[solver].option;
  stage g = stage_set(shaken, o);
  *most_off = 0;
  for (int k = 0; k < 55; k++) {
    *most_off = fmax(*most_off, structured_step(g.sim, g.s).residual);
  }
  const double before = redmax_energy(g.sim, g.s);
  for (int k = 0; k < 45; k++) {
    structured_step(g.sim, g.s);
  }
  sn_energy e;
  CHECK(sn_sim_energy(g.sim, g.s, &e) == SN_OK, "no energy");
  stage_clear(&g);
  *kinetic = e.kinetic;
  return before - e.kinetic - e.potential;
}

/* Two targets part and come together again: then nothing is braked any more than if they had never
 * parted. */
TEST(what_agrees_again_is_not_braked) {
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    double kinetic, undisturbed, off, none;
    const double lost = lost_after(5e-4, n, &kinetic, &off);
    const double usual = lost_after(0, n, &undisturbed, &none);
    CHECK(off > 1e-3 && none <= 1e-3, "'%s': they were never at odds, or ever",
          structured_solver[n].name);
    CHECK(lost < fmax(usual, 0) + 0.05 * kinetic, "'%s': braked by %g, with %g left",
          structured_solver[n].name, lost, kinetic);
    CHECK(kinetic > 0.9 * undisturbed, "'%s': %g of the kinetic energy is left, not %g",
          structured_solver[n].name, kinetic, undisturbed);
  }
}

/* Beside the chain with two targets: a ball that falls, and a four-bar.  They move as if it were
 * not there. */
static const char bystanders[] =
    "  ball: {joint: {type: free, at: [0, 9, 0]}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n"
    "  crank: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 7, 0]}, inertia: {mass: 1, at: "
    "[0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"
    "  coupler: {parent: crank, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}, inertia: "
    "{mass: 1, at: [0, 0, -0.5], xx: 0.1, yy: 0.1, zz: 0.01}}\n"
    "loops:\n"
    "  rod: {type: revolute, axis: [0, 1, 0], a: {body: coupler, at: [0, 0, -1]}, b: {body: world, "
    "at: [1, 7, -1]}}\n";

TEST(what_is_at_odds_does_not_brake_others) {
  char text[2][4000];
  snprintf(text[0], sizeof text[0], "sinew: 1\nbodies:\n%s", bystanders);
  snprintf(text[1], sizeof text[1],
           STRUCTURED_CHAIN "%s"
                            "motions:\n"
                            "  left: {body: bar_10, at: [1, 0, 0], point: [5, -2, 0]}\n"
                            "  right: {body: bar_10, at: [1, 0, 0], point: [5, 2, sin(t)]}\n",
           bystanders);
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    sn_options o = structured_options(0.01, 1e-10);
    o.structured.solver = structured_solver[n].option;
    stage g[2] = {stage_set(text[0], o), stage_set(text[1], o)};
    for (int k = 0; k < 100; k++) {
      structured_step(g[0].sim, g[0].s);
      structured_step(g[1].sim, g[1].s);
    }
    static const char *const of[] = {"ball", "crank", "coupler"};
    for (int b = 0; b < 3; b++) {
      const int i = sn_model_joint_first(g[0].m, sn_model_body_find(g[0].m, of[b]));
      const int j = sn_model_joint_first(g[1].m, sn_model_body_find(g[1].m, of[b]));
      for (int c = 0; c < (b == 0 ? 6 : 1); c++) {
        const double off = fabs(sn_state_qd(g[0].s)[i + c] - sn_state_qd(g[1].s)[j + c]);
        CHECK(off < 1e-6, "'%s': %s is off by %g", structured_solver[n].name, of[b], off);
      }
    }
    stage_clear(&g[0]);
    stage_clear(&g[1]);
  }
}

static const char out_of_reach[] =
    STRUCTURED_CHAIN "motions:\n"
                     "  hand: {body: bar_10, at: [1, 0, 0], point: [11 - 3*cos(t), 0, 0]}\n"
                     "initial: {bar_1: {q: [0, 0.6435011, 0]}, bar_6: {q: [0, -1.2870022, 0]}}\n";

/* Constraints that give way, much or little, or cannot be met: what is reported is by how much
 * their rates and gaps are off, in the state that there is. */
TEST(what_is_left_is_told) {
  char text[2000];
  snprintf(text, sizeof text, two_targets, 2.0, 0.1);
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    for (int soft = 0; soft < 3; soft++) {
      sn_options o = structured_options(0.01, 1e-6);
      o.structured.solver = structured_solver[n].option;
      o.structured.regularization = soft == 1 ? 0.01 : 1e-9;
      stage g = stage_set(soft == 2 ? out_of_reach : text, o);
      for (int k = 0; k < (soft == 2 ? 150 : 20); k++) {
        const sn_info info = structured_step(g.sim, g.s);
        const double t = *sn_state_time(g.s);
        int worst;
        double scale, gap;
        sni_dynamics_kinematics(&g.sim->d, sn_state_q(g.s), sn_state_qd(g.s));
        sni_rows_eval(&g.sim->rows, t, t, sn_state_q(g.s), sn_state_qd(g.s));
        for (int i = 0; i < g.sim->rows.nrow; i++) {
          g.sim->rows.rhs[i] = -g.sim->rows.row[i].rate;
        }
        const double rate = sni_rows_slip(&g.sim->rows, sn_state_qd(g.s), &worst, &scale);
        gap = sni_rows_gap(&g.sim->rows, &worst);
        const double most = fabs(rate - info.residual);
        CHECK(fabs(gap - info.gap) < 1e-12 && most < 1e-9,
              "'%s', t = %g: gap %g, told %g; rates %g, told %g", structured_solver[n].name, t, gap,
              info.gap, rate, info.residual);
      }
      stage_clear(&g);
    }
  }
}

/* Somebody pulls further than the chain reaches, by up to 4 m, and comes back: it is stretched
 * towards him but for what it sags and shakes (0.2 of 10 m at most), and it closes again. */
TEST(a_chain_pulled_out_of_reach) {
  stage g = stage_set(out_of_reach, structured_options(0.01, 1e-6));
  for (int k = 0; k < 1200; k++) {
    structured_step(g.sim, g.s);
    const double t = *sn_state_time(g.s), target = 11 - 3 * cos(t);
    const double x = structured_point(&g, "bar_10", (sn_vec3){1, 0, 0}).x;
    if (target >
        10.5) { /* for a while: what moves is braked, so it is at rest but for his own pace */
      sn_energy now;
      sn_sim_energy(g.sim, g.s, &now);
      CHECK(target < 11.5 || now.kinetic < 5, "t = %g: it shakes with %g J", t, now.kinetic);
      CHECK(x > 9.5 && x <= 10 + 1e-9, "t = %g: its end is at %g, pulled to %g", t, x, target);
    } else if (target < 9.5) {
      CHECK(fabs(x - target) < 1e-6, "t = %g: its end is at %g, not at %g", t, x, target);
    }
  }
  stage_clear(&g);
}

/* A weight on a chain that does not reach: stretched towards its target, it is at rest, in its
 * rates too.  Gravity gives it some in each step. */
TEST(what_is_stretched_is_at_rest) {
  static const char far_away[] =
      STRUCTURED_CHAIN "motions: {pull: {body: bar_10, at: [1, 0, 0], point: [8, 0, 9]}}\n";
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    sn_options o = structured_options(0.01, 1e-6);
    o.structured.solver = structured_solver[n].option;
    stage g = stage_set(far_away, o);
    for (int k = 0; k < 300; k++) {
      const double gap = structured_step(g.sim, g.s).gap;
      sn_energy now;
      sn_sim_energy(g.sim, g.s, &now);
      const double left = sn_vec3_norm(
          sn_vec3_sub(structured_point(&g, "bar_10", (sn_vec3){1, 0, 0}), (sn_vec3){8, 0, 9}));
      CHECK(k < 100 || now.kinetic < 0.01, "'%s', step %d: it moves with %g J",
            structured_solver[n].name, k, now.kinetic);
      CHECK(k < 100 || fabs(left - (sqrt(145) - 10)) < 1e-3, "'%s', step %d: %g away",
            structured_solver[n].name, k, left);
      CHECK(gap <= left, "a gap of %g, and %g away", gap, left);
    }
    stage_clear(&g);
  }
}

/* Fewer iterations, more left open, and in each step not more than were allowed; the tree holds
 * whatever is left: its bars are where its joints put them. */
TEST(iterations_can_be_few) {
  sn_model *m = structured_ladder(1, 24);
  double open[3];
  for (int n = 0; n < 3; n++) {
    sn_options o = structured_options(0.01, 1e-9);
    o.structured.iterations = n == 0 ? 1 : n == 1 ? 4 : 1000;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    open[n] = 0;
    for (int k = 0; k < 150; k++) {
      const sn_info info = structured_step(sim, s);
      CHECK(info.iterations <= info.solves * o.structured.iterations, "%d iterations in %d solves",
            info.iterations, info.solves);
      open[n] = fmax(open[n], info.gap);
    }
    sn_se3 E[72];
    sn_sim_poses(sim, s, E, NULL);
    for (int i = 0; i < sn_model_body_count(m); i++) {
      const int p = sn_model_body_parent(m, i);
      const sn_vec3 end = {1, 0, 0};
      if (p >= 0) {
        const double e = sn_vec3_norm(sn_vec3_sub(E[i].p, sn_se3_point(E[p], end)));
        CHECK(e < 1e-13, "'%s' has come off by %g", sn_model_body_name(m, i), e);
      }
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  CHECK(open[0] > open[1] && open[1] > open[2] && open[2] <= 1e-9 && open[0] < 0.1,
        "open by %g, %g, %g", open[0], open[1], open[2]);
  sn_model_free(&m);
}

/* Time that is over before a step begins leaves one iteration for each solve, by which loops still
 * follow. */
TEST(a_budget_may_be_over_at_once) {
  sn_model *m = structured_ladder(1, 24);
  sn_options o = structured_options(0.01, 1e-9);
  o.structured.budget = 1e-9;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  double gap = 0;
  for (int k = 0; k < 150; k++) {
    const sn_info info = structured_step(sim, s);
    CHECK(info.iterations > 0 && info.iterations <= info.solves, "%d iterations in %d solves",
          info.iterations, info.solves);
    gap = fmax(gap, info.gap);
  }
  CHECK(gap < 0.1, "open by %g", gap);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(warm_starts_save_iterations) {
  sn_model *m = structured_ladder(1, 24);
  int spent[2] = {0};
  for (int warm = 0; warm < 2; warm++) {
    sn_options o = structured_options(0.005, 1e-6);
    o.structured.warm_start = warm;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 200; k++) {
      spent[warm] += structured_step(sim, s).iterations;
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  CHECK(spent[1] < 0.95 * spent[0], "%d instead of %d", spent[1], spent[0]);
  sn_model_free(&m);
}

/* As if nothing were kept in this bank: SNI_WARM_... */
static void forget(const sn_sim *sim, sn_state *s, int bank) {
  const size_t nrow = (size_t)sim->m->nrow;
  memset(sni_state_private(s) + sim->m->nloop_q + (size_t)bank * nrow, 0, nrow * sizeof(double));
}

/* The rates of a step and those at its end have forces of their own, and both are worth keeping. */
TEST(forces_of_both_solves_are_kept) {
  sn_model *m = structured_ladder(1, 24);
  const int bank[] = {SNI_COLD, SNI_WARM_STEP, SNI_WARM_END};
  int spent[3] = {0};
  for (int n = 0; n < 3; n++) {
    const sn_options o = structured_options(0.005, 1e-6);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 200; k++) {
      if (bank[n] != SNI_COLD) {
        forget(sim, s, bank[n]);
      }
      spent[n] += structured_step(sim, s).iterations;
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  CHECK(spent[0] < 0.95 * spent[1] && spent[0] < 0.95 * spent[2],
        "%d instead of %d without those of the step, %d without those at its end", spent[0],
        spent[1], spent[2]);
  sn_model_free(&m);
}

/* Closing that was broken off goes on in the same direction: with two iterations a solve, gaps are
 * less than half of what they are otherwise. */
TEST(closing_goes_on_where_it_was_broken_off) {
  sn_model *m = structured_ladder(1, 24);
  double gap[2] = {0};
  for (int n = 0; n < 2; n++) {
    sn_options o = structured_options(0.01, 1e-9);
    o.structured.iterations = 2;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 150; k++) {
      if (n == 1) {
        forget(sim, s, SNI_WARM_WAY);
      }
      const double open = structured_step(sim, s).gap;
      gap[n] += k >= 20 ? open / 130 : 0;
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  CHECK(gap[0] < 0.6 * gap[1], "open by %g in the mean, %g without", gap[0], gap[1]);
  sn_model_free(&m);
}

/* Weights say what comes out, not how long it takes. */
TEST(weights_cost_few_iterations) {
  int spent[2] = {0};
  double gap[2] = {0};
  for (int n = 0; n < 2; n++) {
    sn_model *m = structured_ladder_weighed(1, 24, n == 0 ? 1 : 100);
    for (int few = 0; few < 2; few++) {
      sn_options o = structured_options(0.005, few ? 1e-9 : 1e-6);
      o.structured.iterations = few ? 2 : o.structured.iterations;
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      for (int k = 0; k < 200; k++) {
        const sn_info info = structured_step(sim, s);
        spent[n] += few ? 0 : info.iterations;
        gap[n] = few ? fmax(gap[n], info.gap) : 0;
      }
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
    sn_model_free(&m);
  }
  CHECK(spent[1] < 1.6 * spent[0], "%d iterations instead of %d", spent[1], spent[0]);
  CHECK(gap[1] < 5e-4, "open by %g with few, instead of %g", gap[1], gap[0]);
}

/* A state has all that the next step depends on. */
TEST(interrupted_runs_end_in_the_same_bits) {
  const sn_options o = structured_options(0.01, 1e-6);
  char text[2000];
  snprintf(text, sizeof text, two_targets, 1.0, 0.1);
  stage g = stage_set(text, o), h = stage_set(text, o);
  for (int k = 0; k < 40; k++) {
    structured_step(g.sim, g.s);
    if (k == 20) {
      sn_state *copy = NULL;
      CHECK(sn_state_clone(g.s, &copy) == SN_OK, "out of memory");
      CHECK(sn_state_copy(h.s, copy) == SN_OK, "no copy");
      sn_state_free(&copy);
    }
  }
  for (int k = 21; k < 40; k++) {
    structured_step(h.sim, h.s);
  }
  CHECK(sn_state_equal(g.s, h.s), "not the same");
  stage_clear(&g);
  stage_clear(&h);
}

/* With another motion a state may be taken over: what it keeps of its rows is then left behind, and
 * not read as something else. */
TEST(a_state_with_other_motions) {
  const char *const motion[] = {"", "motions: {nod: {joint: wheel, q: 0.3*t}}\n"};
  stage g[2];
  sn_state *fresh = NULL, *given = NULL;
  for (int k = 0; k < 2; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             STRUCTURED_CHAIN
             "  wheel: {parent: world, joint: {type: revolute, axis: [0, 1, 0]}, "
             "inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n"
             "loops: {far: {type: spherical, a: {body: bar_10, at: [1, 0, 0]}, b: "
             "{body: world, at: [6, 0, 0]}}}\n"
             "initial: {bar_1: {q: [0, 0.9273, 0]}, bar_6: {q: [0, -1.8546, 0]}}\n%s",
             motion[k]);
    g[k] = stage_set(text, structured_options(0.01, 1e-6));
  }
  for (int k = 0; k < 30; k++) {
    structured_step(g[0].sim, g[0].s);
  }
  CHECK(sn_state_clone(g[1].s, &fresh) == SN_OK && sn_state_clone(g[1].s, &given) == SN_OK,
        "out of memory");
  CHECK(sn_state_copy(given, g[0].s) == SN_OK, "it is refused");
  const int nv = sn_model_dof_count(g[0].m);
  memcpy(sn_state_q(fresh), sn_state_q(given), (size_t)nv * sizeof(double));
  memcpy(sn_state_qd(fresh), sn_state_qd(given), (size_t)nv * sizeof(double));
  *sn_state_time(fresh) = *sn_state_time(given);
  for (int k = 0; k < 10; k++) {
    structured_step(g[1].sim, given);
    structured_step(g[1].sim, fresh);
    const double e = largest_difference(sn_state_q(given), sn_state_q(fresh), nv);
    CHECK(e < 1e-12, "step %d: %g apart", k, e); /* their times are rounded otherwise */
  }
  sn_state_free(&fresh);
  sn_state_free(&given);
  stage_clear(&g[0]);
  stage_clear(&g[1]);
}

static const char bite[] = STRUCTURED_CHAIN "  fish: {parent: world, joint: {type: free, at: [9.5, "
                                            "0, 1]}, inertia: {mass: 3, xx: 1, yy: 1, "
                                            "zz: 1}}\n"
                                            "constraints:\n"
                                            "  jaw: {type: point, a: {body: bar_10, at: [1, 0, "
                                            "0]}, b: {body: fish}, active: t > 0.1 and t < "
                                            "0.5}\n"
                                            "run: {step: 0.01}\n";

/* What comes closes, and goes again without a trace. */
TEST(constraints_come_and_go) {
  stage g = stage_set(bite, structured_options(0.01, 1e-6));
  for (int k = 0; k < 80; k++) {
    structured_step(g.sim, g.s);
    const double t = *sn_state_time(g.s);
    const sn_vec3 x = structured_point(&g, "bar_10", (sn_vec3){1, 0, 0});
    const double apart = sn_vec3_norm(sn_vec3_sub(x, structured_point(&g, "fish", (sn_vec3){0})));
    const bool held = t > 0.105 && t < 0.495;
    CHECK(!held || apart < 2e-6, "t = %g: %g apart", t, apart);
    CHECK(t < 0.6 || apart > 0.01, "t = %g: still together", t);
  }
  stage_clear(&g);
}

/* A hand takes the last rung and carries it away, further than the ladder reaches: what it holds
 * comes as near as it can, loops stay closed, and nothing flies about. */
TEST(a_hand_pulls) {
  sn_model *m = structured_ladder(1, 6);
  const sn_options o = structured_options(0.01, 1e-4);
  stage g = {.m = m, .sim = test_sim(m, &o), .s = test_state(m)};
  sn_grab_def hold = sn_grab_def_default();
  sn_error err = {0};
  hold.body = sn_model_body_find(m, "rung_6");
  hold.target = structured_point(&g, "rung_6", (sn_vec3){0});
  CHECK(sn_sim_grab(g.sim, g.s, &hold, &err) == SN_OK, "%s", err.text);
  double gap = 0;
  for (int k = 0; k < 600; k++) {
    const double part = fmin(k / 200.0, 1), far = k < 400 ? 4 : 12;
    sn_sim_drag(g.sim, (sn_vec3){6 - 2 * part, 0, far * part}, &err);
    gap = fmax(gap, structured_step(g.sim, g.s).gap);
    const sn_vec3 x = structured_point(&g, "rung_6", (sn_vec3){0});
    CHECK(k < 300 || k >= 400 || sn_vec3_norm(sn_vec3_sub(x, (sn_vec3){4, 0, 4})) < 0.3,
          "step %d: not where the hand is: %g %g %g", k, x.x, x.y, x.z);
    CHECK(k < 550 || fabs(sn_vec3_norm(x) - 6) < 0.05, "step %d: not stretched: %g", k,
          sn_vec3_norm(x));
  }
  CHECK(gap <= 1e-4, "loops opened by %g", gap);
  sn_sim_release(g.sim);
  stage_clear(&g);
}

int main(void) {
  RUN_TESTS(
      T(solvers_agree_on_ladders), T(solvers_agree_on_random_mechanisms),
      T(coordinates_follow_and_are_tied), T(limits_are_refused), T(a_tree_moves_as_with_recursive),
      T(a_four_bar_moves_as_with_redmax), T(a_ladder_gains_no_energy), T(two_targets_for_one_point),
      T(weights_divide_what_cannot_be_had), T(weights_divide_with_few_iterations),
      T(two_targets_at_once), T(what_agrees_again_is_not_braked),
      T(what_is_at_odds_does_not_brake_others), T(what_is_left_is_told),
      T(a_chain_pulled_out_of_reach), T(what_is_stretched_is_at_rest), T(iterations_can_be_few),
      T(a_budget_may_be_over_at_once), T(warm_starts_save_iterations),
      T(forces_of_both_solves_are_kept), T(closing_goes_on_where_it_was_broken_off),
      T(weights_cost_few_iterations), T(interrupted_runs_end_in_the_same_bits),
      T(a_state_with_other_motions), T(constraints_come_and_go), T(a_hand_pulls));
}
