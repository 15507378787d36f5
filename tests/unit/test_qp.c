/* Bounded quadratic programs: problems made from their answers, degenerate ones too, and a search
 * through all active sets where there are few. */
#include "vectors.h"

#include "linear/qp.h"

#include <float.h>

#define N_MAX 400

typedef struct problem {
  int n;
  double *S, *b, *lo, *hi, *x; /* x: an answer */
} problem;

static void *take(size_t n) {
  void *memory = calloc(n + 1, sizeof(double));
  CHECK(memory, "no memory");
  return memory;
}

static problem problem_take(int n) {
  const size_t m = (size_t)n;
  return (problem){n, take(m * m), take(m), take(m), take(m), take(m)};
}

static void problem_free(problem *p) {
  free(p->S);
  free(p->b);
  free(p->lo);
  free(p->hi);
  free(p->x);
}

/* S = B B^T of `rank`, every third row a copy of another where `repeat`, rows of sizes that differ
 * by up to `spread`. */
static void make_matrix(uint64_t *seed, problem *p, int rank, bool repeat, double spread) {
  const int n = p->n;
  double *B = take((size_t)n * (size_t)rank);
  for (int i = 0; i < n; i++) {
    const double size = exp(test_random(seed, -0.5, 0.5) * log(spread));
    for (int k = 0; k < rank; k++) {
      B[i * rank + k] = test_random(seed, -size, size);
    }
    if (repeat && i % 3 == 2) {
      const double factor = i % 2 ? 1 : -test_random(seed, 0.5, 2);
      for (int k = 0; k < rank; k++) {
        B[i * rank + k] = factor * B[(i - 1) * rank + k];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      p->S[i * n + j] = 0;
      for (int k = 0; k < rank; k++) {
        p->S[i * n + j] += B[i * rank + k] * B[j * rank + k];
      }
    }
  }
  free(B);
}

/* Bounds, x and w of every kind: free rows, rows that push, boxes; a fifth of the rows at a bound
 * have w = 0 there, a tenth of the rows sit at a bound that does not hold them.  b = S x - w. */
static void make_answer(uint64_t *seed, problem *p, bool boxes) {
  const int n = p->n;
  double *w = take((size_t)n);
  for (int i = 0; i < n; i++) {
    const double unit = 1 / sqrt(p->S[i * n + i]);
    const int kind = (int)(test_random_u64(seed) % (boxes ? 3 : 2));
    const int where = (int)(test_random_u64(seed) % 3) - 1; /* -1: lo, 1: hi */
    const bool idle = test_random_u64(seed) % 5 == 0;
    p->lo[i] = kind == 0 ? -INFINITY : kind == 1 ? 0 : unit * test_random(seed, -2, 0);
    p->hi[i] = kind < 2 ? INFINITY : unit * test_random(seed, 0, 2);
    p->x[i] = unit * test_random(seed, kind == 0 ? -2 : 0, 2);
    if (kind == 2) {
      p->x[i] = p->lo[i] + (p->hi[i] - p->lo[i]) * test_random(seed, 0, 1);
    }
    const double bound = where < 0 ? p->lo[i] : p->hi[i];
    if (where != 0 && isfinite(bound)) {
      p->x[i] = bound;
      w[i] = idle ? 0 : -where * test_random(seed, 0, 1) / unit;
    }
    if (test_random_u64(seed) % 10 == 0 && isfinite(p->lo[i])) {
      p->x[i] = p->lo[i];
      w[i] = 0;
    }
  }
  for (int i = 0; i < n; i++) {
    p->b[i] = -w[i];
    for (int j = 0; j < n; j++) {
      p->b[i] += p->S[i * n + j] * p->x[j];
    }
  }
  free(w);
}

typedef struct solved {
  sn_status status;
  sni_qp_info info;
  double residual; /* worked out here */
  double off;      /* S x against that of the known answer */
  double objective;
} solved;

static double mid(double lo, double x, double hi) {
  return fmax(lo, fmin(hi, x));
}

static double objective(const problem *p, const double *x) {
  double sum = 0;
  for (int i = 0; i < p->n; i++) {
    double Sx = 0;
    for (int j = 0; j < p->n; j++) {
      Sx += p->S[i * p->n + j] * x[j];
    }
    sum += x[i] * (0.5 * Sx - p->b[i]);
  }
  return sum;
}

/* side: the guess, then what came of it; NULL: all at a bound */
static solved solve(const problem *p, int *side, double *x) {
  const int n = p->n;
  void *memory = malloc(sni_qp_size(n));
  CHECK(memory, "no memory");
  memset(memory, 0x55, sni_qp_size(n));
  sni_qp qp;
  sni_qp_place(&qp, n, memory);
  qp.n = n;
  memcpy(qp.S, p->S, (size_t)(n * n) * sizeof(double));
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      qp.S[i * n + j] = NAN; /* nobody reads the upper triangle */
    }
    qp.b[i] = p->b[i];
    qp.lo[i] = p->lo[i];
    qp.hi[i] = p->hi[i];
    qp.side[i] = side ? side[i] : -1;
  }
  solved out = {.status = sni_qp_solve(&qp, &out.info)};
  double size = 0;
  for (int i = 0; i < n; i++) {
    const double unit = sqrt(p->S[i * n + i]);
    size = fmax(size, unit > 0 ? fmax(fabs(p->b[i]) / unit, fabs(qp.x[i]) * unit) : 0);
  }
  for (int i = 0; i < n; i++) {
    const double unit = sqrt(p->S[i * n + i]);
    double w = -p->b[i], off = 0;
    for (int j = 0; j < n; j++) {
      w += p->S[i * n + j] * qp.x[j];
      off += p->S[i * n + j] * (qp.x[j] - p->x[j]);
    }
    if (unit > 0 && i != out.info.impossible) {
      const double natural =
          qp.x[i] * unit - mid(p->lo[i] * unit, qp.x[i] * unit - w / unit, p->hi[i] * unit);
      out.residual = fmax(out.residual, fabs(natural) / size);
      out.off = fmax(out.off, fabs(off) / unit / size);
    }
    CHECK(qp.x[i] >= p->lo[i] * (1 + 4 * DBL_EPSILON * (p->lo[i] < 0 ? 1 : -1)) &&
              qp.x[i] <= p->hi[i] * (1 + 4 * DBL_EPSILON * (p->hi[i] > 0 ? 1 : -1)),
          "row %d: %g is not within %g and %g", i, qp.x[i], p->lo[i], p->hi[i]);
  }
  out.objective = objective(p, qp.x);
  if (side) {
    memcpy(side, qp.side, (size_t)n * sizeof *side);
  }
  if (x) {
    memcpy(x, qp.x, (size_t)n * sizeof *x);
  }
  free(memory);
  return out;
}

static void check_family(uint64_t seed, int n, int rank, bool repeat, double spread, bool boxes) {
  problem p = problem_take(n);
  make_matrix(&seed, &p, rank, repeat, spread);
  make_answer(&seed, &p, boxes);
  int *side = take((size_t)n);
  const solved cold = solve(&p, NULL, NULL);
  for (int i = 0; i < n; i++) {
    side[i] = (int)(test_random_u64(&seed) % 3) - 1;
  }
  solve(&p, side, NULL);
  const solved warm = solve(&p, side, NULL);
  const solved both[] = {cold, warm};
  for (int k = 0; k < 2; k++) {
    const solved s = both[k];
    CHECK(s.status == SN_OK && s.residual < tol(1e-10) && s.info.impossible < 0,
          "n %d rank %d repeat %d spread %g boxes %d, %s: status %d, residual %.3g, %d changes, "
          "impossible %d",
          n, rank, repeat, spread, boxes, k ? "warm" : "cold", (int)s.status, s.residual,
          s.info.changes, s.info.impossible);
    /* S x is unique; rounding of b is magnified by as much as the pivots allow */
    CHECK(s.off < tol(1e-7), "n %d rank %d: S x is off by %.3g", n, rank, s.off);
    CHECK(fabs(s.info.residual - s.residual) < tol(1e-10), "says %.3g, is %.3g", s.info.residual,
          s.residual);
  }
  CHECK(warm.info.changes <= 2 + n / 8, "n %d: a start from the answer needs %d changes", n,
        warm.info.changes);
  free(side);
  problem_free(&p);
}

TEST(answers_are_found) {
  for (uint64_t seed = 1; seed <= 400; seed++) {
    const int n = 1 + (int)(seed % 23);
    for (int boxes = 0; boxes < 2; boxes++) {
      check_family(seed, n, n, false, 1, boxes);
      check_family(seed, n, n + 3, false, 1e6, boxes);
      check_family(seed, n, 1 + n / 2, false, 1, boxes);
      check_family(seed, n, 1 + n / 2, true, 1e6, boxes);
      check_family(seed, n, n, true, 100, boxes);
      check_family(seed, n, 1, true, 1, boxes);
    }
  }
}

TEST(answers_are_found_with_hundreds_of_rows) {
  for (uint64_t seed = 1; seed <= 2; seed++) {
    check_family(seed, 300, 320, false, 1e6, false);
    check_family(seed, 300, 150, true, 1e3, true);
    check_family(seed, N_MAX, 60, true, 1, false);
  }
}

/* Every combination of sides, solved by elimination; the least objective of those within bounds is
 * the answer, since the best face has an independent answer among them. */
static double search(const problem *p) {
  const int n = p->n;
  int sides = 1;
  for (int i = 0; i < n; i++) {
    sides *= 3;
  }
  double best = INFINITY;
  for (int code = 0; code < sides; code++) {
    double A[6][7] = {{0}}, x[6] = {0};
    int row[6], nrow = 0, rest = code;
    bool good = true;
    for (int i = 0; i < n; i++, rest /= 3) {
      const int side = rest % 3;
      x[i] = side == 1 ? p->lo[i] : side == 2 ? p->hi[i] : 0;
      good = good && isfinite(x[i]);
      if (side == 0) {
        row[nrow++] = i;
      }
    }
    for (int a = 0; good && a < nrow; a++) {
      for (int b = 0; b < nrow; b++) {
        A[a][b] = p->S[row[a] * n + row[b]];
      }
      A[a][nrow] = p->b[row[a]];
      for (int j = 0; j < n; j++) {
        A[a][nrow] -= p->S[row[a] * n + j] * x[j];
      }
    }
    for (int k = 0; good && k < nrow; k++) {
      good = A[k][k] > 1e-9 * p->S[row[k] * n + row[k]];
      for (int a = 0; good && a < nrow; a++) {
        const double f = a == k ? 0 : A[a][k] / A[k][k];
        for (int b = k; b <= nrow; b++) {
          A[a][b] -= f * A[k][b];
        }
      }
    }
    for (int k = 0; good && k < nrow; k++) {
      x[row[k]] = A[k][nrow] / A[k][k];
      good = x[row[k]] >= p->lo[row[k]] && x[row[k]] <= p->hi[row[k]];
    }
    best = good ? fmin(best, objective(p, x)) : best;
  }
  return best;
}

/* b of any kind, not made from an answer: bounds on all rows keep the problem bounded. */
TEST(nothing_is_better_than_the_answer) {
  for (uint64_t k = 1; k <= 1500; k++) {
    uint64_t seed = k;
    const int n = 1 + (int)(k % 6);
    problem p = problem_take(n);
    make_matrix(&seed, &p, 1 + (int)(k % 7), k % 4 == 0, k % 3 ? 1 : 1e4);
    for (int i = 0; i < n; i++) {
      const double unit = sqrt(p.S[i * n + i]);
      p.lo[i] = -test_random(&seed, 0, 1) / unit;
      p.hi[i] = test_random(&seed, 0, 1) / unit;
      p.b[i] = unit * test_random(&seed, -2, 2);
    }
    const solved s = solve(&p, NULL, NULL);
    const double best = search(&p);
    CHECK(s.status == SN_OK && s.residual < tol(1e-10), "problem %d: residual %.3g", (int)k,
          s.residual);
    CHECK(fabs(s.objective - best) <= tol(1e-10) * (1 + fabs(best)),
          "problem %d: objective %.15g, the best face has %.15g", (int)k, s.objective, best);
    problem_free(&p);
  }
}

/* x >= 0 with S_12 = -1: the two rows want opposite things of one motion. */
TEST(rows_against_each_other_are_named) {
  problem p = problem_take(3);
  const double S[] = {1, -1, 0, -1, 1, 0, 0, 0, 2};
  memcpy(p.S, S, sizeof S);
  p.b[0] = 1;
  p.b[1] = 0.5;
  p.b[2] = 3;
  p.hi[0] = p.hi[1] = p.hi[2] = INFINITY;
  double x[3];
  const solved s = solve(&p, NULL, x);
  CHECK(s.status == SN_OK && (s.info.impossible == 0 || s.info.impossible == 1),
        "status %d, row %d", (int)s.status, s.info.impossible);
  CHECK(fabs(s.info.short_of - 1.5) < tol(1e-12), "misses by %g, by rights 1.5", s.info.short_of);
  CHECK(fabs(x[2] - 1.5) < tol(1e-12) && s.residual < tol(1e-10), "the third row has %g", x[2]);
  problem_free(&p);
}

/* Out of the plane of a planar mechanism nothing moves. */
TEST(rows_that_nothing_moves_say_nothing) {
  problem p = problem_take(3);
  const double S[] = {0, 0, 0, 0, 1e-20, 0, 0, 0, 1};
  memcpy(p.S, S, sizeof S);
  p.b[0] = p.b[1] = p.b[2] = 1;
  for (int i = 0; i < 3; i++) {
    p.lo[i] = i == 1 ? -INFINITY : 0;
    p.hi[i] = INFINITY;
  }
  double x[3];
  const solved s = solve(&p, NULL, x);
  CHECK(s.status == SN_OK && s.info.impossible < 0, "status %d", (int)s.status);
  CHECK(x[0] == 0 && x[1] == 0 && x[2] == 1, "%g %g %g", x[0], x[1], x[2]);
  problem_free(&p);
}

TEST(no_rows_are_no_problem) {
  problem p = problem_take(0);
  CHECK(solve(&p, NULL, NULL).status == SN_OK, "refused");
  problem_free(&p);
}

int main(void) {
  RUN_TESTS(T(answers_are_found), T(answers_are_found_with_hundreds_of_rows),
            T(nothing_is_better_than_the_answer), T(rows_against_each_other_are_named),
            T(rows_that_nothing_moves_say_nothing), T(no_rows_are_no_problem));
}
