/* Cables through points of several bodies: forces and their derivatives, slack, what is recorded,
 * motions, and what is refused. */
#include "redmax.h"

#include "model/forces/line.h"

enum { BODIES = 4, N = 6 * BODIES, POINTS_MAX = 8, TERMS_MAX = 128 };
#define FD_STEP      1e-3 /* fourth order: truncation and rounding leave some 1e-11 */
#define FD_TOLERANCE 1e-9

/* ---- one cable, by itself ---- */

typedef struct element {
  const sni_force_ops *ops;
  sni_force force;
  sni_via via[POINTS_MAX];
  int member[BODIES];
  double param[SNI_LINE_PARAMS];
  sn_se3 E[BODIES];
  sn_vec6 phi[BODIES];
} element;

/* The force, wherever the element has been copied to. */
static sni_force force_of(const element *e) {
  sni_force f = e->force;
  f.via = e->via;
  f.member = e->member;
  return f;
}

static sni_measure measure_of(const element *e) {
  const sni_force_eval eval = {.E_wb = e->E, .phi = e->phi};
  const sni_force f = force_of(e);
  return e->ops->measure(&eval, &f, e->param);
}

/* m bodies and n points on them, the ground among them now and then; rest: of its length. */
static void make(element *e, unsigned seed, int m, int n, double rest, bool pulls_only) {
  uint64_t random = seed;
  *e = (element){.ops = sni_force_kind(sni_force_kind_find("cable")),
                 .force = {.active = -1, .npoint = n, .nmember = m, .pulls_only = pulls_only}};
  for (int i = 0; i < BODIES; i++) {
    e->E[i] = random_pose(&random, 1, 2);
    e->phi[i] = (sn_vec6){random_vec3(&random, 2), random_vec3(&random, 2)};
    e->member[i] = (i + (int)seed) % BODIES; /* members come in any order */
  }
  for (int j = 0; j < n; j++) {
    e->via[j].member = j < m ? j : random_below(&random, m + 1) - 1;
    e->via[j].at = random_vec3(&random, 0.8);
  }
  e->via[n - 1].member = m == 1 ? -1 : e->via[n - 1].member; /* else nothing can move */
  e->param[SNI_LINE_STIFFNESS] = pow(10, test_random(&random, 0, 4));
  e->param[SNI_LINE_DAMPING] = test_random(&random, 0, 5);
  e->param[SNI_LINE_REST_LENGTH] = rest * measure_of(e).length;
}

static void wrench_of(const element *e, bool without_damping, double *out) {
  sn_vec6 wrench[BODIES];
  memset(wrench, 0, sizeof wrench);
  const sni_force_eval eval = {
      .E_wb = e->E, .phi = e->phi, .wrench = wrench, .without_damping = without_damping};
  const sni_force f = force_of(e);
  e->ops->apply(&eval, &f, e->param);
  for (int i = 0; i < BODIES; i++) {
    put_six(wrench[i], out + 6 * i);
  }
}

static double potential_of(const element *e) {
  const sni_force_eval eval = {.E_wb = e->E, .phi = e->phi};
  const sni_force f = force_of(e);
  return e->ops->potential(&eval, &f, e->param);
}

static void tangent_of(const element *e, sni_tangent tangent, double *K, double *D) {
  sni_term term[TERMS_MAX];
  const sni_force_eval eval = {.E_wb = e->E, .phi = e->phi, .without_damping = true};
  const sni_force f = force_of(e);
  const int n = e->ops->tangent(&eval, &f, e->param, tangent, term);
  memset(K, 0, N * N * sizeof *K);
  memset(D, 0, N * N * sizeof *D);
  for (int k = 0; k < n; k++) {
    double p[N] = {0};
    int pair[2];
    for (int side = 0; side < 2; side++) {
      if (term[k].body[side] >= 0) {
        put_six(term[k].p[side], p + 6 * term[k].body[side]);
      }
    }
    if (term[k].body[0] >= 0 && term[k].body[1] >= 0) {
      sni_force_pair(&f, term[k].pair, pair);
      CHECK(pair[0] == term[k].body[0] && pair[1] == term[k].body[1],
            "term %d is of bodies %d, %d, its pair of %d, %d", k, term[k].body[0], term[k].body[1],
            pair[0], pair[1]);
    }
    dense_add_square(N, term[k].k, p, K);
    dense_add_square(N, term[k].d, p, D);
  }
}

/* Moved by s along coordinate k: o + s e_k, or turned about o, in world axes. */
static element displaced(const element *e, int k, double s) {
  element moved = *e;
  sn_se3 *E = &moved.E[k / 6];
  double x[6] = {0};
  x[k % 6] = s;
  *E = (sn_se3){sn_mat3_mul(sn_so3_exp((sn_vec3){x[0], x[1], x[2]}), E->R),
                sn_vec3_add(E->p, (sn_vec3){x[3], x[4], x[5]})};
  return moved;
}

static const double at[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};

TEST(forces_are_the_slope_of_the_potential) {
  for (unsigned seed = 0; seed < 60; seed++) {
    element e;
    make(&e, seed, 1 + (int)(seed % BODIES), 4 + (int)(seed % 4), seed % 2 ? 0.6 : 1.4, false);
    double w[N];
    wrench_of(&e, true, w);
    const double T =
        fabs(measure_of(&e).length - e.param[SNI_LINE_REST_LENGTH]) * e.param[SNI_LINE_STIFFNESS];
    for (int k = 0; k < N; k++) {
      double slope = 0;
      for (int j = 0; j < 4; j++) {
        element moved = displaced(&e, k, at[j] * FD_STEP);
        slope += weight[j] * potential_of(&moved) / (12 * FD_STEP);
      }
      CHECK(fabs(w[k] + slope) < FD_TOLERANCE * T, "seed %u: %d: %g, not %g", seed, k, w[k],
            -slope);
    }
  }
}

/* In tension the clamped terms, levers and all, are the symmetric part of the derivative. */
TEST(terms_are_the_derivative) {
  for (unsigned seed = 0; seed < 60; seed++) {
    element e;
    make(&e, seed, 1 + (int)(seed % BODIES), 4 + (int)(seed % 4), 0.6, seed % 2);
    double K[N * N], D[N * N], fd[N * N] = {0};
    tangent_of(&e, SNI_TANGENT_CLAMPED, K, D);
    for (int k = 0; k < N; k++) {
      for (int j = 0; j < 4; j++) {
        element moved = displaced(&e, k, at[j] * FD_STEP);
        double w[N];
        wrench_of(&moved, true, w);
        for (int i = 0; i < N; i++) {
          fd[i * N + k] -= weight[j] * w[i] / (12 * FD_STEP);
        }
      }
    }
    dense_symmetrise(N, fd);
    const double error = largest_difference(K, fd, N * N) / largest(fd, N * N);
    CHECK(error < FD_TOLERANCE, "seed %u: off by %g", seed, error);
  }
}

/* The exact tangent has another -[f] between moving and turning of each body. */
TEST(exact_adds_the_turning_of_the_axes) {
  for (unsigned seed = 0; seed < 30; seed++) {
    element e;
    make(&e, seed, 1 + (int)(seed % BODIES), 5, seed % 2 ? 0.6 : 1.4, false);
    double K[N * N], clamped[N * N], D[N * N], w[N];
    tangent_of(&e, SNI_TANGENT_EXACT, K, D);
    element taut = e; /* not clamped in compression: the same with all signs turned */
    const double l = measure_of(&e).length;
    const double k = e.param[SNI_LINE_STIFFNESS], stretch = l - e.param[SNI_LINE_REST_LENGTH];
    taut.param[SNI_LINE_REST_LENGTH] = l - fabs(stretch);
    tangent_of(&taut, SNI_TANGENT_CLAMPED, clamped, D);
    double material[N * N];
    tangent_of(&taut, SNI_TANGENT_MATERIAL, material, D);
    wrench_of(&e, true, w);
    for (int i = 0; i < N * N; i++) {
      K[i] -= material[i] + (stretch < 0 ? -1 : 1) * (clamped[i] - material[i]);
    }
    double expected[N * N] = {0};
    for (int b = 0; b < BODIES; b++) {
      const double *f = w + 6 * b + 3;
      const double cross[9] = {0, -f[2], f[1], f[2], 0, -f[0], -f[1], f[0], 0};
      for (int i = 0; i < 9; i++) {
        const int v = 6 * b + 3 + i / 3, turn = 6 * b + i % 3;
        expected[v * N + turn] -= 0.5 * cross[i];
        expected[turn * N + v] -= 0.5 * cross[i];
      }
    }
    const double error = largest_difference(K, expected, N * N) / (k * fabs(stretch));
    CHECK(error < 1e-12 * fmax(1, 1 / fabs(stretch)), "seed %u: off by %g", seed, error);
  }
}

TEST(damping_acts_through_its_matrix) {
  for (unsigned seed = 0; seed < 60; seed++) {
    element e;
    make(&e, seed, 1 + (int)(seed % BODIES), 6, seed % 2 ? 0.6 : 1.4, false);
    double K[N * N], D[N * N], phi[N], damping[N], with[N], without[N];
    tangent_of(&e, SNI_TANGENT_MATERIAL, K, D);
    for (int i = 0; i < BODIES; i++) {
      put_six(e.phi[i], phi + 6 * i);
    }
    dense_mul(N, D, phi, damping);
    wrench_of(&e, false, with);
    wrench_of(&e, true, without);
    for (int i = 0; i < N; i++) {
      CHECK(fabs(without[i] - damping[i] - with[i]) < 1e-11 * (1 + largest(with, N)),
            "seed %u: %d: %g of damping is left", seed, i, without[i] - damping[i] - with[i]);
    }
  }
}

TEST(a_cable_that_only_pulls) {
  for (unsigned seed = 0; seed < 20; seed++) {
    element e;
    make(&e, seed, 3, 5, 1.2, true);
    double K[N * N], D[N * N], w[N];
    wrench_of(&e, false, w);
    tangent_of(&e, SNI_TANGENT_CLAMPED, K, D);
    CHECK(largest(w, N) == 0 && largest(K, N * N) == 0 && largest(D, N * N) == 0 &&
              potential_of(&e) == 0,
          "seed %u: it is slack and acts", seed);
    /* taut, but shortening so fast that damping would push */
    make(&e, seed, 3, 5, 0.99, true);
    const double rate = measure_of(&e).rate;
    for (int i = 0; i < BODIES && rate > 0; i++) {
      e.phi[i] = sn_vec6_scale(e.phi[i], -1);
    }
    e.param[SNI_LINE_DAMPING] = 1e6;
    wrench_of(&e, false, w);
    CHECK(largest(w, N) == 0, "seed %u: it pushes by %g", seed, largest(w, N));
    CHECK(measure_of(&e).tension == 0, "seed %u", seed);
  }
}

/* ---- in a model ---- */

enum { CHAIN = 3 };

/* Two arms of three links that swing from the ground, free of each other but for the cable. */
static sn_builder *arms(void) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  for (int k = 0; k < 2 * CHAIN; k++) {
    char name[32], parent[32];
    snprintf(name, sizeof name, "%c%d", k < CHAIN ? 'l' : 'r', k % CHAIN);
    snprintf(parent, sizeof parent, "%c%d", k < CHAIN ? 'l' : 'r', k % CHAIN - 1);
    sn_body_def def = test_link(name, k % CHAIN ? parent : "world", "revolute");
    def.joint.axis = k % 2 ? (sn_vec3){0, 1, 0} : (sn_vec3){1, 0, 0};
    def.joint.at = k % CHAIN ? sn_pose(0, 0, -0.5) : sn_pose(k < CHAIN ? 0 : 0.7, 0, 0);
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
    sn_initial_def initial = sn_initial_def_default();
    initial.body = name;
    initial.q = (sn_per_dof){1, {0.3 - 0.1 * k}};
    initial.qd = (sn_per_dof){1, {0.2 * k - 0.5}};
    CHECK(sn_builder_set_initial(b, &initial) == SN_OK, "out of memory");
  }
  return b;
}

static const sn_point_def *route(int *n) {
  static sn_point_def via[6];
  const char *const body[6] = {"l0", "l2", "world", "r1", "r2", "l1"};
  for (int k = 0; k < 6; k++) {
    via[k] = (sn_point_def){body[k], sn_pose(0.1 * k - 0.2, 0.05 * k, -0.1 * k)};
  }
  *n = 6;
  return via;
}

static sn_force_def cable_def(const char *name, const sn_point_def *via, int n, double stiffness,
                              double damping) {
  sn_force_def def = sn_force_def_default();
  def.name = name;
  def.type = "cable";
  def.via = via;
  def.nvia = n;
  def.stiffness = stiffness;
  def.damping = damping;
  return def;
}

static sn_model *with_cable(double stiffness, double damping, double rest) {
  sn_builder *b = arms();
  int n;
  const sn_point_def *via = route(&n);
  sn_force_def def = cable_def("rope", via, n, stiffness, damping);
  def.rest_length = rest;
  CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
  return test_finish(b);
}

/* All solvers have the cable in their matrix, whole. */
TEST(solvers_agree) {
  for (int power = 2; power <= 8; power += 2) {
    sn_model *m = with_cable(pow(10, power), 10, 1);
    const int nv = sn_model_dof_count(m);
    double first[2 * CHAIN];
    const sn_solver solver[] = {SN_SOLVER_REDUCED, SN_SOLVER_GRAPH, SN_SOLVER_PCG, SN_SOLVER_AUTO};
    for (int k = 0; k < 4; k++) {
      sn_options o = redmax_options(0.01);
      o.redmax.solver = solver[k];
      o.redmax.tolerance = 1e-14;
      o.redmax.on_unconverged = SN_ACCEPT; /* 1e-14 may be too much to ask for */
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      sn_info info;
      sn_error err = {0};
      CHECK(sn_sim_step(sim, s, NULL, &info, &err) >= 0, "%s", err.text);
      if (k == 0) {
        memcpy(first, sn_state_qd(s), sizeof first);
      }
      const double error = largest_difference(sn_state_qd(s), first, nv) / largest(first, nv);
      CHECK(error < 1e-9, "1e%d: solver %d is off by %g", power, (int)solver[k], error);
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
    sn_model_free(&m);
  }
}

/* Between two points it is a spring: the same motion, in every tangent. */
TEST(between_two_points_it_is_a_spring) {
  const sn_point_def via[2] = {{"l2", sn_pose(0.1, 0, -0.3)}, {"r1", sn_pose(0, 0.2, -0.2)}};
  for (int tangent = 0; tangent < 3; tangent++) {
    double end[2][2 * CHAIN];
    for (int cable = 0; cable < 2; cable++) {
      sn_builder *b = arms();
      sn_force_def def = cable_def("rope", via, 2, 500, 2);
      def.type = cable ? "cable" : "spring";
      def.a = via[0];
      def.b = via[1];
      def.rest_length = 0.3;
      def.tension_only = false;
      CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
      sn_model *m = test_finish(b);
      sn_options o = redmax_options(0.01);
      o.redmax.tangent = (sn_tangent)tangent;
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      for (int k = 0; k < 50; k++) {
        redmax_step(sim, s, NULL);
      }
      memcpy(end[cable], sn_state_q(s), sizeof end[cable]);
      sn_state_free(&s);
      sn_sim_free(&sim);
      sn_model_free(&m);
    }
    const double error = largest_difference(end[0], end[1], 2 * CHAIN);
    CHECK(error < 1e-9, "tangent %d: %g apart after 50 steps", tangent, error);
  }
}

/* Exact motion keeps the energy; the implicit one does not blow up at any stiffness.
 */
TEST(energy) {
  sn_model *m = with_cable(2000, 0, 0.5);
  sn_options o = sn_options_default();
  o.step = 0.05;
  o.recursive.rel_tol = o.recursive.abs_tol = 1e-12;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  const double start = redmax_energy(sim, s);
  sn_energy e;
  sn_sim_energy(sim, s, &e);
  for (int k = 0; k < 40; k++) {
    test_step(sim, s, NULL);
  }
  const double drift = fabs(redmax_energy(sim, s) - start) / (e.kinetic + fabs(e.potential));
  CHECK(drift < 1e-8, "the energy drifts by %g", drift);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  for (int power = 2; power <= 10; power += 2) {
    sn_model *stiff = with_cable(pow(10, power), 0, 3);
    sn_options implicit = redmax_options(0.01);
    sim = test_sim(stiff, &implicit);
    s = test_state(stiff);
    const double before = redmax_energy(sim, s);
    sn_energy e0;
    sn_sim_energy(sim, s, &e0);
    double most = before;
    for (int k = 0; k < 500; k++) {
      redmax_step(sim, s, NULL);
      most = fmax(most, redmax_energy(sim, s));
    }
    /* the scale: what swings, and what the cable holds at the start */
    CHECK(most - before < 0.05 * (20 + e0.kinetic), "1e%d: the energy rises by %g", power,
          most - before);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&stiff);
  }
}

TEST(length_rate_and_tension_are_recorded) {
  sn_builder *b = arms();
  int n;
  const sn_point_def *via = route(&n);
  sn_force_def def = cable_def("rope", via, n, 300, 5);
  def.rest_length = 1;
  const sn_force_def spring =
      spring_def("coil", "l0", (sn_vec3){0.1, 0, 0}, "r0", (sn_vec3){0, 0, -0.1}, 40, 0.5, 0.2);
  CHECK(sn_builder_add_force(b, &def) == SN_OK && sn_builder_add_force(b, &spring) == SN_OK,
        "out of memory");
  sn_model *m = test_finish(b);
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const char *const name[6] = {"rope.length", "rope.rate", "rope.tension",
                               "coil.length", "coil.rate", "coil.tension"};
  int channel[6];
  double x[6], later[6];
  for (int k = 0; k < 6; k++) {
    char text[64];
    channel[k] = sn_sim_channel_find(sim, name[k]);
    CHECK(channel[k] >= 0, "there is no channel '%s'", name[k]);
    CHECK(strcmp(sn_sim_channel_name(sim, channel[k], text, sizeof text), name[k]) == 0, "'%s'",
          text);
    CHECK(sn_sim_channel_usual(sim, channel[k]) == (k < 3), "'%s'", name[k]);
  }
  sn_error err;
  CHECK(sn_sim_channels(sim, s, NULL, channel, 6, x, &err) == SN_OK, "%s", err.text);
  const double k[2] = {300, 40}, d[2] = {5, 0.5}, L[2] = {1, 0.2};
  for (int f = 0; f < 2; f++) {
    const double T = k[f] * (x[3 * f] - L[f]) + d[f] * x[3 * f + 1];
    CHECK(fabs(x[3 * f + 2] - T) < 1e-12 * fabs(T), "%s is %g, not %g", name[3 * f + 2],
          x[3 * f + 2], T);
  }
  /* the rate is that of the length */
  const double h = 1e-6;
  for (int c = 0; c < 2 * CHAIN; c++) {
    sn_state_q(s)[c] += h * sn_state_qd(s)[c];
  }
  CHECK(sn_sim_channels(sim, s, NULL, channel, 6, later, &err) == SN_OK, "%s", err.text);
  for (int f = 0; f < 2; f++) {
    const double rate = (later[3 * f] - x[3 * f]) / h;
    CHECK(fabs(rate - x[3 * f + 1]) < 1e-4, "%s is %g, not %g", name[3 * f + 1], x[3 * f + 1],
          rate);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* ---- what is refused ---- */

static void refused(const sn_force_def *def, const char *path, const char *text) {
  sn_builder *b = arms();
  sn_model *m = NULL;
  sn_error err = {0};
  CHECK(sn_builder_add_force(b, def) == SN_OK, "out of memory");
  CHECK(sn_builder_finish(b, &m, &err) == SN_E_VALUE, "taken: %s", text);
  CHECK(strcmp(err.path, path) == 0 && strstr(err.text, text), "%s: %s", err.path, err.text);
  sn_builder_free(&b);
}

TEST(bad_cables) {
  const sn_point_def one[1] = {{"l0", sn_pose(0, 0, 0)}};
  const sn_point_def twice[2] = {{"l0", sn_pose(0, 0, 1)}, {"l0", sn_pose(0, 0, 1)}};
  const sn_point_def same[2] = {{"l0", sn_pose(0, 0, 1)}, {"l0", sn_pose(0, 0, 2)}};
  const sn_point_def ground[2] = {{"world", sn_pose(0, 0, 1)}, {"world", sn_pose(0, 0, 2)}};
  const sn_point_def none[2] = {{"l0", sn_pose(0, 0, 1)}, {"tail", sn_pose(0, 0, 2)}};
  const sn_point_def good[2] = {{"l0", sn_pose(0, 0, 1)}, {"r0", sn_pose(0, 0, 2)}};
  sn_force_def def = cable_def("rope", one, 1, 1, 0);
  refused(&def, "forces.rope.via", "has 1 point, needs at least 2");
  def = cable_def("rope", NULL, 3, 1, 0);
  refused(&def, "forces.rope.via", "has 0 points");
  def = cable_def("rope", twice, 2, 1, 0);
  refused(&def, "forces.rope.via[1].at", "same point");
  def = cable_def("rope", same, 2, 1, 0);
  refused(&def, "forces.rope.via", "on one body");
  def = cable_def("rope", ground, 2, 1, 0);
  refused(&def, "forces.rope.via", "no point on a body");
  def = cable_def("rope", none, 2, 1, 0);
  refused(&def, "forces.rope.via[1].body", "no body 'tail'");
  def = cable_def("rope", good, 2, -5, 0);
  refused(&def, "forces.rope.stiffness", "allow_negative: true");
  def = cable_def("rope", good, 2, 5, -1);
  refused(&def, "forces.rope.damping", "needs a number >= 0");
}

/* A stiffness below 0 that is meant: it pushes away, and may be changed to any other. */
TEST(negative_stiffness_that_is_meant) {
  const sn_point_def via[2] = {{"l2", sn_pose(0, 0, -0.1)}, {"r2", sn_pose(0, 0, -0.2)}};
  for (int meant = 0; meant < 2; meant++) {
    sn_builder *b = arms();
    sn_force_def def = cable_def("rope", via, 2, meant ? -20 : 20, 1);
    def.allow_negative = meant;
    def.tension_only = false;
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
    sn_model *m = test_finish(b);
    const sn_options o = redmax_options(0.005);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 200; k++) {
      redmax_step(sim, s, NULL);
    }
    sn_error err;
    CHECK((sn_sim_set(sim, "forces.rope.stiffness", -3, &err) == SN_OK) == meant, "meant %d",
          meant);
    CHECK(sn_sim_set(sim, "forces.rope.damping", -3, &err) != SN_OK, "damping below 0");
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

int main(void) {
  RUN_TESTS(T(forces_are_the_slope_of_the_potential), T(terms_are_the_derivative),
            T(exact_adds_the_turning_of_the_axes), T(damping_acts_through_its_matrix),
            T(a_cable_that_only_pulls), T(solvers_agree), T(between_two_points_it_is_a_spring),
            T(energy), T(length_rate_and_tension_are_recorded), T(bad_cables),
            T(negative_stiffness_that_is_meant));
}
