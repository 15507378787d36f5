/* The dense Cholesky factorisation against a plain one, and the solver `reduced` that stands on it
 * against the other solvers. */
#include "linear/cholesky.h"
#include "redmax.h"

#include <float.h>


/* ---- the factorisation ---- */

/* A = B B^T / n + shift I, row-major; rows scaled by powers of ten up to 10^spread. */
static double *random_spd(uint64_t *seed, int n, double shift, double spread) {
  const size_t size = (size_t)n * (size_t)n;
  double *A = calloc(size + 1, sizeof *A), *B = calloc(size + 1, sizeof *B);
  double *unit = calloc((size_t)n + 1, sizeof *unit);
  CHECK(A && B && unit, "out of memory");
  for (size_t k = 0; k < size; k++) {
    B[k] = test_random(seed, -1, 1);
  }
  for (int i = 0; i < n; i++) {
    unit[i] = pow(10, test_random(seed, -spread, spread));
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? shift : 0;
      for (int k = 0; k < n; k++) {
        sum += B[i * n + k] * B[j * n + k] / n;
      }
      A[i * n + j] = A[j * n + i] = sum * unit[i] * unit[j];
    }
  }
  free(B);
  free(unit);
  return A;
}

static sni_chol *chol_of(int n, const double *A) {
  sni_chol *c = NULL;
  sn_error err;
  CHECK(sni_chol_build(n, &c, &err) == SN_OK, "n %d: %s", n, err.text);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      *sni_chol_at(c, i, j) = A[i * n + j];
    }
  }
  return c;
}

/* Row by row, sums from left to right. */
static void plain_cholesky(int n, double *A) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = A[i * n + j];
      for (int k = 0; k < j; k++) {
        sum -= A[i * n + k] * A[j * n + k];
      }
      A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
    }
  }
}

/* Largest error of L L^T, relative to sqrt(A_ii A_jj): the theory promises (n + 1) eps. */
static double factor_error(const sni_chol *c, const double *A) {
  const int n = c->n;
  double *L = calloc((size_t)(n * n) + 1, sizeof *L), most = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      L[i * n + j] = *sni_chol_at(c, i, j);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k <= j; k++) {
        sum += L[i * n + k] * L[j * n + k];
      }
      const double error = fabs(sum - A[i * n + j]) / sqrt(A[i * n + i] * A[j * n + j]);
      most = error > most || isnan(error) ? error : most;
    }
  }
  free(L);
  return most;
}

/* Largest |b - A x|_i relative to sqrt(A_ii) (sum sqrt(A_jj) |x_j|) + |b_i|. */
static double solve_error(int n, const double *A, const double *b, const double *x) {
  double most = 0, size = 0;
  for (int i = 0; i < n; i++) {
    size += sqrt(A[i * n + i]) * fabs(x[i]);
  }
  for (int i = 0; i < n; i++) {
    double r = b[i];
    for (int j = 0; j < n; j++) {
      r -= A[i * n + j] * x[j];
    }
    const double error = fabs(r) / (sqrt(A[i * n + i]) * size + fabs(b[i]));
    most = error > most || isnan(error) ? error : most;
  }
  return most;
}

static void check_size(int n, double spread) {
  uint64_t seed = (uint64_t)n + 1000;
  double *A = random_spd(&seed, n, 0.1, spread), *x = random_doubles(seed, n, 1);
  double *b = random_doubles(seed, n, 1), *plain = calloc((size_t)(n * n) + 1, sizeof *plain);
  sni_chol *c = chol_of(n, A);
  int bad = -7;
  CHECK(sni_chol_factorise(c, DBL_EPSILON, &bad) && bad == -7, "n %d: refused at row %d", n, bad);
  const double error = factor_error(c, A);
  CHECK(error <= (n + 1) * DBL_EPSILON, "n %d: L L^T is off by %.2g", n, error);

  /* both are backward stable: factors differ by eps cond, and this matrix has a cond of about 40 */
  memcpy(plain, A, (size_t)(n * n) * sizeof *plain);
  plain_cholesky(n, plain);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      const double apart = fabs(*sni_chol_at(c, i, j) - plain[i * n + j]) / sqrt(A[i * n + i]);
      CHECK(apart <= 40 * (n + 1) * DBL_EPSILON, "n %d, entry %d %d: %.2g", n, i, j, apart);
    }
  }

  sni_chol_solve(c, b, x);
  CHECK(solve_error(n, A, b, x) <= 3 * (n + 1) * DBL_EPSILON, "n %d: residual %.2g", n,
        solve_error(n, A, b, x));
  sni_chol_solve(c, b, b);
  CHECK(memcmp(b, x, (size_t)n * sizeof *x) == 0, "n %d: not the same in place", n);
  sni_chol_free(&c);
  CHECK(!c, "the pointer is still there");
  free(A);
  free(x);
  free(b);
  free(plain);
}

/* Every number of panels in a group and of rows in a panel; 145 and 500 need more than one block.
 */
TEST(factor_and_solution_of_every_size) {
  for (int n = 1; n <= 150; n++) {
    check_size(n, n % 2 ? 0 : 3);
  }
  check_size(500, 0);
}

TEST(nothing_at_all) {
  sni_chol *c = NULL;
  CHECK(sni_chol_build(0, &c, NULL) == SN_OK, "refused");
  sni_chol_clear(c);
  CHECK(sni_chol_factorise(c, 0, NULL), "an empty matrix was refused");
  double none = 3;
  sni_chol_solve(c, &none, &none);
  CHECK(none == 3, "wrote beyond the end");
  sni_chol_free(&c);
  sni_chol_free(&c);
  sn_error err;
  CHECK(sni_chol_build(-1, &c, &err) == SN_E_ARGUMENT && strstr(err.text, "-1"), "%s", err.text);
}

/* Factorised once more, and in other memory, it is the same to the last bit. */
TEST(same_bits_every_time) {
  uint64_t seed = 5;
  enum { N = 203 };
  double *A = random_spd(&seed, N, 0.1, 0);
  sni_chol *a = chol_of(N, A), *b = chol_of(N, A);
  CHECK(sni_chol_factorise(a, 0, NULL) && sni_chol_factorise(b, 0, NULL), "refused");
  sni_chol_clear(b);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) {
      CHECK(*sni_chol_at(b, i, j) == 0, "not cleared");
      *sni_chol_at(b, i, j) += A[i * N + j];
    }
  }
  CHECK(sni_chol_factorise(b, 0, NULL), "refused");
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) {
      CHECK(*sni_chol_at(a, i, j) == *sni_chol_at(b, i, j), "entry %d %d differs", i, j);
    }
  }
  sni_chol_free(&a);
  sni_chol_free(&b);
  free(A);
}

/* A row and column made of others, a negative pivot, a NaN: refused at that very row. */
TEST(not_positive_definite_says_where) {
  const struct {
    int n, row;
  } sample[] = {{1, 0}, {5, 3}, {40, 0}, {40, 39}, {150, 77}, {150, 146}, {330, 301}};
  enum { DEPENDENT, NEGATIVE, NOT_A_NUMBER, KINDS };
  for (size_t k = 0; k < sizeof sample / sizeof sample[0]; k++) {
    for (int kind = 0; kind < KINDS; kind++) {
      const int n = sample[k].n, row = sample[k].row;
      uint64_t seed = k;
      double *A = random_spd(&seed, n, 0.1, 0);
      if (kind == DEPENDENT) { /* a_row = sum of the rows before */
        for (int j = 0; j < n; j++) {
          double sum = 0;
          for (int i = 0; i < row; i++) {
            sum += A[i * n + j];
          }
          A[row * n + j] = j == row ? 0 : sum;
        }
        for (int j = 0; j < row; j++) {
          A[row * n + row] += A[row * n + j];
        }
      } else {
        A[row * n + row] = kind == NEGATIVE ? -1e-3 : NAN;
      }
      sni_chol *c = chol_of(n, A);
      int bad = -1;
      /* a dependent row leaves a pivot of rounding errors, n eps at most */
      CHECK(!sni_chol_factorise(c, 2 * (n + 1) * DBL_EPSILON, &bad), "n %d, kind %d: accepted", n,
            kind);
      CHECK(bad == row, "n %d, kind %d: row %d, not %d", n, kind, bad, row);
      CHECK(!sni_chol_factorise(c, 0, NULL) || kind == DEPENDENT, "accepted the second time");
      sni_chol_free(&c);
      free(A);
    }
  }
}

/* Entries below the diagonal that are not numbers reach a pivot. */
TEST(not_a_number_below_the_diagonal) {
  uint64_t seed = 9;
  double *A = random_spd(&seed, 60, 0.1, 0);
  A[50 * 60 + 7] = NAN;
  sni_chol *c = chol_of(60, A);
  int bad = -1;
  CHECK(!sni_chol_factorise(c, 0, &bad) && bad == 50, "row %d", bad);
  sni_chol_free(&c);
  free(A);
}

/* ---- the solver ---- */

/* A random tree with springs between random bodies, the world included. */
typedef struct rig {
  random_tree tree;
  char name[16][16];
  sn_model *m;
  sn_sim *sim;
  sn_state *state;
  sni_system s;
  void *memory;
} rig;

static rig *rig_make(unsigned seed, int bodies, int springs, double stiffness, bool across) {
  rig *r = calloc(1, sizeof *r);
  uint64_t random = seed;
  random_tree_make(&r->tree, seed, bodies, TREE_SPRINGS | TREE_ARMATURE | TREE_DRAG | TREE_FORCES);
  sn_builder *b = sn_builder_create();
  CHECK(b && random_tree_add(&r->tree, b, NULL) == SN_OK, "out of memory");
  for (int k = 0; k < springs; k++) {
    const int to = random_below(&random, bodies);
    const int from = (to + 1 + random_below(&random, bodies - 1)) % bodies;
    snprintf(r->name[k], sizeof r->name[k], "s%d", k);
    const sn_force_def def =
        spring_def(r->name[k], across ? r->tree.name[from] : NULL, random_vec3(&random, 1),
                   r->tree.name[to], random_vec3(&random, 1), stiffness, test_random(&random, 0, 2),
                   k % 4 == 0 ? 0 : test_random(&random, 0.1, 3));
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
  }
  r->m = test_finish(b);
  const sn_options o = redmax_options(0.01);
  r->sim = test_sim(r->m, &o);
  r->state = random_tree_state(r->m, seed + 100);
  const size_t size = (sni_system_size(r->m, &r->sim->options) + 64) / 64 * 64;
  r->memory = aligned_alloc(64, size);
  CHECK(r->memory, "out of memory");
  memset(r->memory, 0, size);
  const double *q = sn_state_q(r->state), *qd = sn_state_qd(r->state);
  sni_system_place(&r->s, &r->sim->d, &r->sim->options, r->memory);
  sni_dynamics_kinematics(&r->sim->d, q, qd);
  sni_system_assemble(&r->s, 0, 0.01, q, qd, NULL, SNI_TANGENT_CLAMPED);
  return r;
}

static void rig_free(rig *r) {
  free(r->memory);
  sn_state_free(&r->state);
  sn_sim_free(&r->sim);
  sn_model_free(&r->m);
  free(r);
}

/* A by products with unit vectors. */
static double *product_matrix(rig *r) {
  const int n = r->s.t->nv;
  double *A = calloc((size_t)(n * n) + 1, sizeof *A), *unit = calloc((size_t)n + 1, sizeof *unit);
  for (int k = 0; k < n; k++) {
    unit[k] = 1;
    sni_system_mul(&r->s, unit, A + k * n);
    unit[k] = 0;
  }
  free(unit);
  return A;
}

static double *solution(rig *r, const sni_solver *solver, const double *b, sni_solve_info *info) {
  double *x = calloc((size_t)r->s.t->nv + 1, sizeof *x);
  void *own = NULL;
  sn_error err;
  *info = (sni_solve_info){.bad = -1};
  CHECK(solver->build(&r->s, &own, &err) == SN_OK, "%s: %s", solver->name, err.text);
  const sn_status factorised = solver->factorise(&r->s, own, info);
  CHECK(factorised == SN_OK, "%s: %s", solver->name, sn_status_text(factorised));
  /* what rounding leaves an iteration is for the caller to judge */
  const sn_status solved = solver->solve(&r->s, own, b, 1e-15, 10 * r->s.t->nv, x, info);
  CHECK(solved >= 0, "%s: %s", solver->name, sn_status_text(solved));
  solver->free(&own);
  CHECK(!own, "%s: not freed", solver->name);
  return x;
}

/* sqrt(x^T A x) */
static double energy_norm(int n, const double *A, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      sum += x[i] * A[i * n + j] * x[j];
    }
  }
  return sqrt(fmax(sum, 0));
}

/* Every solver that suits gives what `reduced` gives, and elimination with pivots too. */
static void check_agreement(unsigned seed, double stiffness, bool across) {
  const int bodies = 3 + (int)seed % 20;
  rig *r = rig_make(seed, bodies, 3 + (int)seed % 12, stiffness, across);
  const int n = r->s.t->nv;
  double *A = product_matrix(r), *b = random_doubles(seed, n, 1), least, most;
  dense_symmetrise(n, A);
  dense_range(n, A, &least, &most);
  CHECK(n == 0 || least > 0, "seed %u: not positive definite", seed);
  const double allowed = fmax(1e-9, 100 * DBL_EPSILON * (n > 0 ? most / least : 1));

  sni_solve_info info;
  double *x = solution(r, &sni_solver_reduced, b, &info);
  CHECK(info.residual < 1e-13 && info.converged && info.bad == -1, "seed %u: backward error %.2g",
        seed, info.residual);
  const double size = energy_norm(n, A, x);
  const sni_solver *const others[] = {&sni_solver_tree, &sni_solver_pcg, &sni_solver_graph};
  for (size_t k = 0; k <= sizeof others / sizeof others[0]; k++) {
    double *y;
    if (k < sizeof others / sizeof others[0]) {
      if (!others[k]->suits(&r->s)) {
        continue;
      }
      y = solution(r, others[k], b, &info);
    } else {
      double *copy = calloc((size_t)(n * n) + 1, sizeof *copy);
      y = random_doubles(seed, n, 1);
      memcpy(copy, A, (size_t)(n * n) * sizeof *copy);
      dense_solve(n, copy, y);
      free(copy);
    }
    for (int i = 0; i < n; i++) {
      y[i] -= x[i];
    }
    const double apart = energy_norm(n, A, y);
    CHECK(apart <= allowed * size, "seed %u, solver %zu: %.2g of %.2g, cond %.2g", seed, k,
          apart / size, allowed, most / least);
    free(y);
  }
  free(x);
  free(A);
  free(b);
  rig_free(r);
}

TEST(reduced_agrees_on_trees) {
  for (unsigned seed = 0; seed < 40; seed++) {
    check_agreement(seed, 100, false);
  }
}
TEST(reduced_agrees_with_springs_across) {
  for (unsigned seed = 40; seed < 120; seed++) {
    check_agreement(seed, seed % 2 ? 100 : 1e4, true);
  }
}
/* k h^2 / m of 1e6 and 1e8 */
TEST(reduced_agrees_with_stiff_springs) {
  for (unsigned seed = 120; seed < 160; seed++) {
    check_agreement(seed, seed % 2 ? 1e10 : 1e12, true);
  }
}

/* A hinge that carries nothing is named. */
TEST(reduced_names_the_body) {
  rig *r = rig_make(7, 6, 0, 1, false);
  sni_solve_info info = {.bad = -1};
  void *own = NULL;
  const sni_tree *t = r->s.t;
  int body = 3;
  while (t->joint[body].nv == 0) {
    body++;
  }
  CHECK(sni_solver_reduced.build(&r->s, &own, NULL) == SN_OK, "not built");
  const int nv = t->joint[body].nv;
  r->s.joint_matrix[t->factor[body] + (nv - 1) * nv + nv - 1] = -1e6;
  CHECK(sni_solver_reduced.factorise(&r->s, own, &info) == SN_E_SINGULAR, "accepted");
  CHECK(info.bad == body, "body %d, not %d", info.bad, body);
  sni_solver_reduced.free(&own);
  rig_free(r);
}

/* More than 4 GiB is refused before any of it is taken; only the number of coordinates counts. */
TEST(reduced_refuses_what_is_too_large) {
  sni_tree t = {.nv = 40000};
  sni_system s = {.t = &t};
  void *own = NULL;
  sn_error err;
  CHECK(sni_solver_reduced.build(&s, &own, &err) == SN_E_LIMIT && !own, "accepted");
  CHECK(strcmp(err.text, "solver 'reduced' needs 6.4 GB for 40000 coordinates: take auto, graph or "
                         "pcg") == 0,
        "%s", err.text);
}

int main(void) {
  RUN_TESTS(T(factor_and_solution_of_every_size), T(nothing_at_all), T(same_bits_every_time),
            T(not_positive_definite_says_where), T(not_a_number_below_the_diagonal),
            T(reduced_agrees_on_trees), T(reduced_agrees_with_springs_across),
            T(reduced_agrees_with_stiff_springs), T(reduced_names_the_body),
            T(reduced_refuses_what_is_too_large));
}
