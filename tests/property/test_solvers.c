/* The solvers of a step on random trees with springs across their branches, from soft to k h^2/m =
 * 1e8; and `auto`: what it chooses, that it depends on nothing but the model, and what happens
 * where its choice fails. */
#include "methods/redmax/solve.h"
#include "redmax.h"

typedef struct rig {
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  sni_system system;
  void *memory;
  int nv;
} rig;

/* Assembles the step's system of a model in a state (which becomes the rig's). */
static rig rig_make(sn_model *m, sn_state *s, double h) {
  rig r = {.m = m, .s = s, .nv = sn_model_dof_count(m)};
  sn_options o = redmax_options(h);
  o.redmax.solver = SN_SOLVER_PCG;
  r.sim = test_sim(m, &o);
  const size_t size = (sni_system_size(m, &o) + 63) / 64 * 64;
  r.memory = aligned_alloc(64, size);
  CHECK(r.memory, "out of memory");
  memset(r.memory, 0, size);
  sni_system_place(&r.system, &r.sim->d, &r.sim->options, r.memory);
  sni_dynamics_kinematics(&r.sim->d, sn_state_q(s), sn_state_qd(s));
  sni_system_assemble(&r.system, h, h, sn_state_q(s), sn_state_qd(s), NULL, SNI_TANGENT_CLAMPED);
  return r;
}

static void rig_free(rig *r) {
  free(r->memory);
  sn_state_free(&r->s);
  sn_sim_free(&r->sim);
  sn_model_free(&r->m);
}

/* ---- agreement ---- */

/* n bodies on joints of all kinds, and n springs between points of any two of them. */
static rig random_rig(unsigned seed, int n, double stiffness, double h) {
  random_tree *tree = calloc(1, sizeof *tree);
  sn_builder *b = sn_builder_create();
  uint64_t random = 77 + seed;
  CHECK(tree && b, "out of memory");
  random_tree_make(tree, seed, n, TREE_SPRINGS | TREE_DRAG | TREE_ARMATURE);
  CHECK(random_tree_add(tree, b, NULL) == SN_OK, "out of memory");
  for (int k = 0; k < n; k++) {
    char name[32];
    snprintf(name, sizeof name, "across%d", k);
    const int from = random_below(&random, n), to = (from + 1 + random_below(&random, n - 1)) % n;
    const sn_vec3 at_a = random_vec3(&random, 0.5), at_b = random_vec3(&random, 0.5);
    const double part = test_random(&random, 0.5, 1), damping = test_random(&random, 0, 2);
    const double rest = test_random(&random, 0.1, 2);
    const sn_force_def def = spring_def(name, tree->name[from], at_a, tree->name[to], at_b,
                                        part * stiffness, damping, rest);
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
  }
  sn_model *m = test_finish(b);
  free(tree);
  return rig_make(m, random_tree_state(m, seed), h);
}

/* x^T A x, its root */
static double energy_norm(int n, const double *A, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      sum += x[i] * A[i * n + j] * x[j];
    }
  }
  return sqrt(fmax(sum, 0));
}

/* A, column by column. */
static double *dense_of(rig *r) {
  const int n = r->nv;
  double *A = calloc((size_t)n * (size_t)n, sizeof *A), *x = calloc(2 * (size_t)n, sizeof *x);
  for (int k = 0; k < n; k++) {
    memset(x, 0, (size_t)n * sizeof *x);
    x[k] = 1;
    sni_system_mul(&r->system, x, x + n);
    for (int i = 0; i < n; i++) {
      A[i * n + k] = x[n + i];
    }
  }
  dense_symmetrise(n, A);
  free(x);
  return A;
}

typedef struct outcome {
  double energy;   /* |x - y| / |y| in the energy norm, y by elimination with pivots */
  double backward; /* |b - A x| / (|A| |x| + |b|)                                   */
} outcome;

static outcome solve_with(rig *r, const sni_solver *solver, const double *A, const double *b,
                          const double *y, unsigned seed) {
  const int n = r->nv;
  void *own = NULL;
  sn_error err = {0};
  sni_solve_info info = {.bad = -1};
  double *x = calloc(3 * (size_t)n, sizeof *x), *Ax = x + n, *difference = Ax + n;
  CHECK(solver->build(&r->system, &own, &err) == SN_OK, "%s: %s", solver->name, err.text);
  CHECK(solver->factorise(&r->system, own, &info) == SN_OK, "%s: body %d", solver->name, info.bad);
  CHECK(solver->solve(&r->system, own, b, 1e-13, 5000, x, &info) == SN_OK,
        "%s, seed %u: stuck at %g after %d iterations", solver->name, seed, info.residual,
        info.iterations);
  solver->free(&own);
  double residual = 0, size_A = 0, size_x = 0, size_b = 0;
  dense_mul(n, A, x, Ax);
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int j = 0; j < n; j++) {
      row += fabs(A[i * n + j]);
    }
    size_A = fmax(size_A, row);
    size_x = fmax(size_x, fabs(x[i]));
    size_b = fmax(size_b, fabs(b[i]));
    residual = fmax(residual, fabs(b[i] - Ax[i]));
    difference[i] = x[i] - y[i];
  }
  const outcome out = {energy_norm(n, A, difference) / energy_norm(n, A, y),
                       residual / (size_A * size_x + size_b)};
  free(x);
  return out;
}

/* As near to each other as the condition of A lets them be, max(1e-9, 100 eps cond) in the energy
 * norm; above k h^2/m = 1e6, where that says little, by backward error. */
TEST(solvers_agree_on_random_trees) {
  static const sni_solver *const solver[] = {&sni_solver_pcg, &sni_solver_graph,
                                             &sni_solver_reduced};
  const double h = 0.01;
  print_message("  k h^2/m   cond     ");
  for (int k = 0; k < 3; k++) {
    print_message("  %-8s energy  backward", solver[k]->name);
  }
  for (int power = -2; power <= 8; power += 2) {
    outcome worst[3] = {{0, 0}};
    double worst_cond = 0;
    for (unsigned seed = 0; seed < 10; seed++) {
      rig r = random_rig(seed, 6 + 2 * (int)seed, pow(10, power) / (h * h), h);
      CHECK(r.system.npair > 0, "seed %u couples nothing", seed);
      const int n = r.nv;
      double *A = dense_of(&r), *copy = malloc((size_t)n * (size_t)n * sizeof *copy), least, most;
      double *b = malloc(2 * (size_t)n * sizeof *b), *y = b + n;
      uint64_t random = seed;
      for (int i = 0; i < n; i++) {
        b[i] = y[i] = test_random(&random, -1, 1);
      }
      memcpy(r.system.b, b, (size_t)n * sizeof *b);
      memcpy(copy, A, (size_t)n * (size_t)n * sizeof *copy);
      dense_solve(n, copy, y);
      dense_range(n, A, &least, &most);
      const double cond = most / fmax(least, 1e-300), bound = fmax(1e-9, 100 * 2.3e-16 * cond);
      worst_cond = fmax(worst_cond, cond);
      for (int k = 0; k < 3; k++) {
        const outcome o = solve_with(&r, solver[k], A, b, y, seed);
        CHECK(o.energy < bound, "%s, seed %u, 1e%d: off by %g in the energy norm, cond %g",
              solver[k]->name, seed, power, o.energy, cond);
        CHECK(power < 6 || o.backward < 1e-12, "%s, seed %u, 1e%d: backward error %g",
              solver[k]->name, seed, power, o.backward);
        worst[k].energy = fmax(worst[k].energy, o.energy);
        worst[k].backward = fmax(worst[k].backward, o.backward);
      }
      free(A);
      free(copy);
      free(b);
      rig_free(&r);
    }
    print_message("\n  1e%-7d %.1e  ", power, worst_cond);
    for (int k = 0; k < 3; k++) {
      print_message("           %.1e  %.1e", worst[k].energy, worst[k].backward);
    }
  }
  print_message("\n");
}

/* ---- auto ---- */

/* `count` chains of `length` links; links of neighbouring chains are tied by springs, `every`-th
 * ones, and each chain's first link to the ground; joint "free": nothing but springs holds them. */
typedef struct net {
  const char *joint;
  int count, length, every;
  double stiffness;
  bool later; /* the springs act from t = 0.05 on */
} net;

static sn_model *net_build(net n) {
  sn_builder *b = sn_builder_create();
  CHECK(b, "out of memory");
  const bool loose = strcmp(n.joint, "free") == 0;
  for (int c = 0; c < n.count; c++) {
    for (int i = 0; i < n.length; i++) {
      char name[32], parent[32];
      snprintf(name, sizeof name, "b%d_%d", c, i);
      snprintf(parent, sizeof parent, "b%d_%d", c, i - 1);
      sn_body_def def = test_link(name, i == 0 || loose ? "world" : parent, n.joint);
      def.joint.at = i == 0 ? sn_pose(c, 0, 0) : sn_pose(loose ? c : 0, 0, loose ? -i : -1);
      def.joint.damping = sn_per_dof_all(0.1);
      CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
    }
  }
  int springs = 0;
  for (int c = 0; c < n.count; c++) {
    for (int i = 0; i < n.length; i += n.every) {
      for (int way = 0; way < 2; way++) { /* to the next chain, and a link down */
        char name[32], from[32], to[32];
        const int c2 = way == 0 ? c + 1 : c, i2 = way == 0 ? i : i + 1;
        if (c2 == n.count || i2 >= n.length || (way == 1 && !loose)) {
          continue;
        }
        snprintf(name, sizeof name, "s%d", springs++);
        snprintf(from, sizeof from, "b%d_%d", c, i);
        snprintf(to, sizeof to, "b%d_%d", c2, i2);
        sn_force_def def = spring_def(name, from, (sn_vec3){0.1, 0.05, -0.9}, to,
                                      (sn_vec3){-0.1, 0, -0.1}, n.stiffness, 1, 0.5);
        if (n.later) {
          def.active = sn_constant(0);
          def.active.expression = "t - 0.05";
        }
        CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
      }
    }
  }
  const sn_force_def anchor = spring_def("anchor", "world", (sn_vec3){0, 0, 1}, "b0_0",
                                         (sn_vec3){0, 0, 0}, n.stiffness, 1, 0.5);
  CHECK(sn_builder_add_force(b, &anchor) == SN_OK, "out of memory");
  return test_finish(b);
}

static sni_choice choice_for(sn_model *m, bool definite) {
  rig r = rig_make(m, test_state(m), 0.01);
  void *own[SNI_SOLVERS] = {0};
  sni_choice choice;
  sn_error err = {0};
  CHECK(sni_solver_choose(&r.system, definite, 1e-10, 1000, own, &choice, &err) == SN_OK, "%s",
        err.text);
  for (int k = 0; k < SNI_SOLVERS; k++) {
    const bool needed = k != SNI_TREE && (k == choice.solver || k == choice.spare);
    CHECK((own[k] != NULL) == needed, "solver %d is %s", k, own[k] ? "there" : "missing");
    sni_solvers[k]->free(&own[k]);
  }
  rig_free(&r);
  return choice;
}

static const struct {
  const char *what;
  net net;
  int solver;
} cases[] = {{"springs to the ground only", {"revolute", 1, 20, 1, 1e5, false}, SNI_TREE},
             {"long chains, few springs", {"revolute", 2, 150, 40, 1e5, false}, SNI_PCG},
             {"a few loose bodies", {"free", 2, 2, 1, 1e6, false}, SNI_REDUCED},
             {"many loose bodies in a row", {"free", 2, 60, 1, 1e6, false}, SNI_GRAPH}};
enum { CASES = sizeof cases / sizeof cases[0] };

/* Where one solver is clearly ahead of the others, it is the one. */
TEST(auto_takes_the_cheapest) {
  for (int k = 0; k < CASES; k++) {
    const sni_choice c = choice_for(net_build(cases[k].net), true);
    print_message("  %-28s %-8s pcg %.3g (%d iterations), graph %.3g, reduced %.3g us\n",
                  cases[k].what, sni_solvers[c.solver]->name, 1e-3 * c.cost[SNI_PCG], c.iterations,
                  1e-3 * c.cost[SNI_GRAPH], 1e-3 * c.cost[SNI_REDUCED]);
    CHECK(c.solver == cases[k].solver, "%s: %s", cases[k].what, sni_solvers[c.solver]->name);
    CHECK(c.solver == SNI_TREE || c.solver == SNI_GRAPH || c.spare == SNI_GRAPH, "%s: no spare",
          cases[k].what);
  }
}

/* With a matrix that may push, only graph is sure. */
TEST(auto_does_not_trust_indefinite_matrices) {
  for (int k = 1; k < CASES; k++) {
    const sni_choice c = choice_for(net_build(cases[k].net), false);
    CHECK(c.solver == SNI_GRAPH && c.spare == -1, "%s: %s", cases[k].what,
          sni_solvers[c.solver]->name);
  }
}

/* The motion is that of graph, and a run resumed from a copy of its state in another sim, half way,
 * goes on to the same bits: what was chosen hides nothing. */
TEST(auto_moves_like_graph_and_hides_nothing) {
  for (int k = 0; k < CASES; k++) {
    sn_model *m = net_build(cases[k].net);
    sn_options o = redmax_options(0.01);
    sn_sim *sim = test_sim(m, &o), *other = test_sim(m, &o);
    o.redmax.solver = SN_SOLVER_GRAPH;
    sn_sim *exact = test_sim(m, &o);
    sn_state *s = test_state(m), *reference = test_state(m), *copy = NULL;
    for (int n = 0; n < 40; n++) {
      if (n == 20) {
        CHECK(sn_state_clone(s, &copy) == SN_OK, "out of memory");
      }
      const sn_info info = redmax_step(sim, s, NULL);
      CHECK(info.retries == 0 && info.residual < 1e-10, "%s: residual %g, %d retries",
            cases[k].what, info.residual, info.retries);
      redmax_step(exact, reference, NULL);
    }
    for (int n = 0; n < 20; n++) {
      redmax_step(other, copy, NULL);
    }
    CHECK(sn_state_equal(s, copy), "%s: another motion in another sim", cases[k].what);
    double off = 0;
    for (int i = 0; i < sn_model_dof_count(m); i++) {
      off = fmax(off, fabs(sn_state_q(s)[i] - sn_state_q(reference)[i]));
    }
    CHECK(off < 1e-8, "%s: %g from the motion by graph", cases[k].what, off);
    sn_state_free(&s);
    sn_state_free(&copy);
    sn_state_free(&reference);
    sn_sim_free(&sim);
    sn_sim_free(&other);
    sn_sim_free(&exact);
    sn_model_free(&m);
  }
}

/* At the start nothing is coupled, so pcg looks cheap; later it would need far more iterations than
 * it may take.  Then graph does it, in the same step. */
TEST(the_spare_solver_steps_in) {
  sn_model *m = net_build((net){"free", 2, 30, 1, 1e6, true});
  sn_options o = redmax_options(0.01);
  o.redmax.max_iterations = 5;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  int with_graph = 0;
  for (int n = 0; n < 20; n++) {
    const sn_info info = redmax_step(sim, s, NULL);
    CHECK(info.retries == 0 && info.residual < 1e-10, "step %d: residual %g, %d retries", n,
          info.residual, info.retries);
    CHECK(n > 3 || info.iterations <= 1, "step %d: %d iterations", n, info.iterations);
    with_graph += info.iterations == 5;
  }
  CHECK(with_graph >= 10, "only %d steps needed it", with_graph);
  o.redmax.solver = SN_SOLVER_PCG;
  o.redmax.on_unconverged = SN_STOP;
  sn_sim *alone = test_sim(m, &o);
  sn_status status = SN_OK;
  sn_state_free(&s);
  s = test_state(m);
  for (int n = 0; n < 20 && status >= 0; n++) {
    status = sn_sim_step(alone, s, NULL, NULL, NULL);
  }
  CHECK(status == SN_E_UNCONVERGED, "pcg alone: %s", sn_status_text(status));
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_sim_free(&alone);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(solvers_agree_on_random_trees), T(auto_takes_the_cheapest),
            T(auto_does_not_trust_indefinite_matrices), T(auto_moves_like_graph_and_hides_nothing),
            T(the_spare_solver_steps_in));
}
