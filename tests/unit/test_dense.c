/* Small dense systems: factors, residuals, and what is refused. */
#include "vectors.h"

#include "math/dense.h"

#include <float.h>

#define N_MAX 12

static void fill_random(uint64_t *seed, int n, double *x) {
  for (int i = 0; i < n; i++) {
    x[i] = test_random(seed, -1, 1);
  }
}

/* A = B B^T + shift I */
static void random_spd(uint64_t *seed, int n, double shift, double *A) {
  double B[N_MAX * N_MAX];
  fill_random(seed, n * n, B);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i * n + j] = i == j ? shift : 0;
      for (int k = 0; k < n; k++) {
        A[i * n + j] += B[i * n + k] * B[j * n + k];
      }
    }
  }
}

/* |A - L L^T| <= (n + 1) eps / (1 - ..) |A|, entry by entry relative to sqrt(A_ii A_jj). */
TEST(cholesky_factor_gives_back_the_matrix) {
  uint64_t seed = 1;
  for (int k = 0; k < 2000; k++) {
    const int n = 1 + k % N_MAX;
    double A[N_MAX * N_MAX], L[N_MAX * N_MAX];
    random_spd(&seed, n, k % 2 ? 0.1 : 0, A);
    memcpy(L, A, sizeof A);
    CHECK(sni_cholesky(n, L, 1e-14, NULL), "sample %d was refused", k);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        double sum = 0;
        for (int l = 0; l <= j; l++) {
          sum += L[i * n + l] * L[j * n + l];
        }
        const double err = fabs(sum - A[i * n + j]) / sqrt(A[i * n + i] * A[j * n + j]);
        CHECK(err < tol((n + 1) * DBL_EPSILON), "sample %d, entry %d %d: %.2g", k, i, j, err);
      }
    }
  }
}

/* The residual of a backward stable solve is small whatever the condition: eps |A| |x| times a
 * little. */
TEST(cholesky_solves) {
  uint64_t seed = 2;
  for (int k = 0; k < 2000; k++) {
    const int n = 1 + k % N_MAX;
    double A[N_MAX * N_MAX], L[N_MAX * N_MAX], b[N_MAX], x[N_MAX];
    random_spd(&seed, n, k % 3 ? 1e-3 : 0, A);
    fill_random(&seed, n, b);
    memcpy(L, A, sizeof A);
    memcpy(x, b, sizeof b);
    CHECK(sni_cholesky(n, L, 1e-14, NULL), "sample %d was refused", k);
    sni_cholesky_solve(n, L, x);
    for (int i = 0; i < n; i++) {
      double r = -b[i], size = fabs(b[i]);
      for (int j = 0; j < n; j++) {
        r += A[i * n + j] * x[j];
        size += sqrt(A[i * n + i] * A[j * n + j]) * fabs(x[j]);
      }
      CHECK(fabs(r) < tol(3 * n * DBL_EPSILON * size), "sample %d, row %d: %.2g", k, i, r / size);
    }
  }
}

/* Only the lower triangle is read. */
TEST(cholesky_reads_the_lower_triangle) {
  uint64_t seed = 3;
  double A[36], B[36], x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {1, 2, 3, 4, 5, 6};
  random_spd(&seed, 6, 0.1, A);
  memcpy(B, A, sizeof A);
  for (int i = 0; i < 6; i++) {
    for (int j = i + 1; j < 6; j++) {
      B[i * 6 + j] = NAN;
    }
  }
  CHECK(sni_cholesky(6, A, 0, NULL) && sni_cholesky(6, B, 0, NULL), "refused");
  sni_cholesky_solve(6, A, x);
  sni_cholesky_solve(6, B, y);
  CHECK(same_bits(x, y, sizeof x), "the upper triangle matters");
}

TEST(cholesky_of_nothing) {
  CHECK(sni_cholesky(0, NULL, 0, NULL), "an empty matrix was refused");
  sni_cholesky_solve(0, NULL, NULL);
}

TEST(cholesky_refuses_and_says_where) {
  const double nearly = 1 - 1e-15;
  const struct {
    const char *what;
    double A[9];
    int n, bad;
  } sample[] = {{"zero", {0}, 1, 0},
                {"negative", {-1}, 1, 0},
                {"NaN", {NAN}, 1, 0},
                {"rank 1", {1, 1, 1, 1}, 2, 1},
                {"nearly rank 1", {1, nearly, nearly, 1}, 2, 1},
                {"nearly rank 1, other units", {1e12, 1e-3 * nearly, 1e-3 * nearly, 1e-18}, 2, 1},
                {"indefinite", {1, 2, 2, 1}, 2, 1},
                {"NaN below the diagonal", {1, NAN, NAN, 1}, 2, 1},
                {"last row is the sum", {2, 0, 2, 0, 3, 3, 2, 3, 5}, 3, 2}};
  for (size_t k = 0; k < sizeof sample / sizeof sample[0]; k++) {
    double A[9];
    int bad = -1;
    memcpy(A, sample[k].A, sizeof A);
    CHECK(!sni_cholesky(sample[k].n, A, 1e-13, &bad), "%s was accepted", sample[k].what);
    CHECK(bad == sample[k].bad, "%s: row %d", sample[k].what, bad);
  }
}

/* Different units on the diagonal are not a reason to refuse. */
TEST(cholesky_does_not_mind_units) {
  double A[4] = {1e12, 0.5e-3, 0.5e-3, 1e-18};
  CHECK(sni_cholesky(2, A, 1e-13, NULL), "refused");
  double B[1] = {1e-300};
  CHECK(sni_cholesky(1, B, 1e-13, NULL), "refused");
}

/* ---- Rank ------------------------------------------------------------------------------------ */

/* n columns of length m that span rank dimensions: combinations of random ones, scaled by powers of
 * ten. */
static void random_columns(uint64_t *seed, int m, int n, int rank, double *A) {
  double basis[36], mix[36];
  fill_random(seed, m * rank, basis);
  fill_random(seed, rank * n, mix);
  for (int j = 0; j < n; j++) {
    const double scale = pow(10, test_random(seed, -6, 6));
    for (int i = 0; i < m; i++) {
      A[i * n + j] = 0;
      for (int k = 0; k < rank; k++) {
        /* the first columns are the basis itself */
        A[i * n + j] += basis[i * rank + k] * (j < rank ? j == k : mix[k * n + j]) * scale;
      }
    }
  }
}

TEST(column_rank_of_random_columns) {
  uint64_t seed = 4;
  for (int k = 0; k < 5000; k++) {
    const int n = 1 + k % 6, rank = k / 6 % (n + 1);
    double A[36];
    random_columns(&seed, 6, n, rank, A);
    const int got = sni_column_rank(6, n, A, 1e-8);
    CHECK(got == rank, "sample %d: %d columns of rank %d gave %d", k, n, rank, got);
  }
}

TEST(column_rank_at_the_edges) {
  const double parallel[4] = {1, 1, 0, 1e-7}, nearly[4] = {1, 1, 0, 1e-9};
  CHECK(sni_column_rank(2, 2, parallel, 1e-8) == 2, "1e-7 apart");
  CHECK(sni_column_rank(2, 2, nearly, 1e-8) == 1, "1e-9 apart");
  CHECK(sni_column_rank(6, 0, NULL, 1e-8) == 0, "no columns");
  CHECK(sni_column_rank(0, 3, NULL, 1e-8) == 0, "no rows");
  const double zero[12] = {0};
  CHECK(sni_column_rank(6, 2, zero, 1e-8) == 0, "zero");
  const double one_zero[4] = {0, 3, 0, 4};
  CHECK(sni_column_rank(2, 2, one_zero, 1e-8) == 1, "one column is zero");
  const double bad[4] = {NAN, 1, 0, 1};
  CHECK(sni_column_rank(2, 2, bad, 1e-8) <= 1, "NaN counts for nothing");
  const double all_bad[4] = {NAN, NAN, NAN, NAN};
  CHECK(sni_column_rank(2, 2, all_bad, 1e-8) == 0, "NaN counts for nothing");
  const double huge[4] = {1e200, 0, 0, 1e-200};
  CHECK(sni_column_rank(2, 2, huge, 1e-8) == 2, "columns of extreme length");
  CHECK(sni_column_rank(6, 7, zero, 1e-8) == -1, "more columns than the promise");
}

int main(void) {
  RUN_TESTS(T(cholesky_factor_gives_back_the_matrix), T(cholesky_solves),
            T(cholesky_reads_the_lower_triangle), T(cholesky_of_nothing),
            T(cholesky_refuses_and_says_where), T(cholesky_does_not_mind_units),
            T(column_rank_of_random_columns), T(column_rank_at_the_edges));
}
