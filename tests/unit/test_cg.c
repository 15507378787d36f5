/* Conjugate gradients and conjugate residuals: they solve, stop when they are told to, tell whoever
 * follows them where they go, and the second ones never get worse. */
#include "linear/cg.h"
#include "linear/vector.h"
#include "test.h"

enum { N = 12 };

typedef struct problem {
  double A[N * N], b[N], x[N], r[N], p[N], q[N], z[N], w[N];
  double last[N], direction[N], followed[N]; /* what was multiplied, p, and the sum of the steps */
  double kept[N];
  int products, late_after, went_back;
  bool content; /* with whatever is within the precision */
} problem;

static void mul(void *user, const double *p, double *q) {
  problem *t = user;
  t->products++;
  memcpy(t->last, p, sizeof t->last);
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < N; j++) {
      q[i] += t->A[i * N + j] * p[j];
    }
  }
}

static void turn(void *user, double beta) {
  problem *t = user;
  for (int i = 0; i < N; i++) {
    t->direction[i] = t->last[i] + beta * t->direction[i];
  }
}

static void follow(void *user, double step) {
  problem *t = user;
  for (int i = 0; i < N; i++) {
    t->followed[i] += step * t->last[i];
  }
}

static void follow_turned(void *user, double step) {
  problem *t = user;
  for (int i = 0; i < N; i++) {
    t->followed[i] += step * t->direction[i];
  }
}

static bool late(void *user) {
  const problem *t = user;
  return t->late_after >= 0 && t->products >= t->late_after;
}

/* A of a given rank, with b in its range or not. */
static problem make(uint64_t seed, int rank, bool reachable) {
  problem t = {.late_after = -1};
  for (int k = 0; k < rank; k++) {
    double v[N];
    for (int i = 0; i < N; i++) {
      v[i] = test_random(&seed, -1, 1);
    }
    const double size = test_random(&seed, 0.5, 20);
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        t.A[i * N + j] += size * v[i] * v[j];
      }
    }
  }
  double y[N];
  for (int i = 0; i < N; i++) {
    y[i] = test_random(&seed, -1, 1);
  }
  if (reachable) {
    mul(&t, y, t.b);
  } else {
    memcpy(t.b, y, sizeof y);
  }
  t.products = 0;
  memcpy(t.r, t.b, sizeof t.b);
  return t;
}

static sni_cg method_of(problem *t, bool residuals) {
  return (sni_cg){.n = N,
                  .user = t,
                  .mul = mul,
                  .follow = residuals ? follow_turned : follow,
                  .turn = turn,
                  .late = late,
                  .precision = 1e-9,
                  .iterations = 1000,
                  .r = t->r,
                  .p = t->p,
                  .q = t->q,
                  .z = t->z,
                  .w = t->w};
}

static double true_residual(problem *t, double *out) {
  double Ax[N];
  mul(t, t->x, Ax);
  for (int i = 0; i < N; i++) {
    out[i] = t->b[i] - Ax[i];
  }
  return sni_largest(N, out);
}

TEST(they_solve) {
  for (unsigned seed = 1; seed <= 50; seed++) {
    for (int way = 0; way < 4; way++) {
      problem t = make(seed, N, true);
      sni_cg cg = method_of(&t, way % 2);
      double inverse[N], left[N];
      for (int i = 0; i < N; i++) {
        inverse[i] = 1 / t.A[i * N + i];
      }
      cg.inverse = way >= 2 ? inverse : NULL;
      const int k = way % 2 ? sni_cr_run(&cg, t.x) : sni_cg_run(&cg, t.x);
      CHECK(k == t.products && k > 0 && k < 200, "seed %u: %d iterations", seed, k);
      const double e = true_residual(&t, left);
      CHECK(e < 1e-8, "seed %u, way %d: %g is left", seed, way, e);
      for (int i = 0; i < N; i++) {
        CHECK(fabs(t.followed[i] - t.x[i]) < 1e-12 * (1 + fabs(t.x[i])),
              "seed %u, way %d: who follows is elsewhere", seed, way);
      }
    }
  }
}

/* More than one product an iteration would be waste: N iterations are enough but for rounding. */
TEST(they_need_few_iterations) {
  for (unsigned seed = 1; seed <= 50; seed++) {
    for (int way = 0; way < 2; way++) {
      problem t = make(seed, 4, true);
      const sni_cg cg = method_of(&t, way);
      const int k = way ? sni_cr_run(&cg, t.x) : sni_cg_run(&cg, t.x);
      CHECK(k <= 8, "seed %u: %d iterations for a rank of 4", seed, k);
    }
  }
}

static double dot(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* A guess as the first direction: wherever they end, x does no work on what is left, which a guess
 * as x does not see to; they find the same, and a good guess saves iterations. */
TEST(a_guess_is_a_direction) {
  int saved = 0;
  for (unsigned seed = 1; seed <= 50; seed++) {
    problem exact = make(seed, N, true);
    const sni_cg plain = method_of(&exact, false);
    const int usual = sni_cg_run(&plain, exact.x);
    for (int way = 0; way < 2; way++) { /* anything, and near the solution */
      uint64_t s = seed;
      double guess[N], A_guess[N], left[N], inverse[N];
      for (int i = 0; i < N; i++) {
        guess[i] = way ? 3 * exact.x[i] + test_random(&s, -1e-6, 1e-6) : test_random(&s, -1, 1);
        inverse[i] = 1 / exact.A[i * N + i];
      }
      for (int most = 0; most < 8; most++) {
        problem t = make(seed, N, true);
        sni_cg cg = method_of(&t, false);
        cg.first = guess;
        cg.A_first = A_guess;
        cg.iterations = most;
        cg.inverse = most % 2 ? inverse : NULL;
        const int k = sni_cg_run(&cg, t.x);
        CHECK(k <= most && t.products == k + 1, "seed %u: %d products", seed, t.products);
        true_residual(&t, left);
        const double size = sqrt(dot(t.x, t.x) * dot(left, left));
        CHECK(fabs(dot(t.x, left)) < 1e-9 * (size + 1e-3), "seed %u, %d iterations: %g of work",
              seed, most, dot(t.x, left));
        CHECK(fabs(dot(t.followed, left)) < 1e-9 * (size + 1e-3), "seed %u: who follows", seed);
      }
      problem t = make(seed, N, true);
      sni_cg cg = method_of(&t, false);
      cg.first = guess;
      cg.A_first = A_guess;
      const int k = sni_cg_run(&cg, t.x);
      CHECK(true_residual(&t, left) < 1e-8, "seed %u: %g is left", seed, true_residual(&t, left));
      saved += way ? usual - k : 0;
    }
  }
  CHECK(saved > 50, "a good guess saves %d iterations in 50 solves", saved);
}

/* A guess that moves nothing is none. */
TEST(an_idle_guess_is_none) {
  problem t = make(7, N, true);
  double zero[N] = {0}, A_zero[N], left[N];
  sni_cg cg = method_of(&t, false);
  cg.first = zero;
  cg.A_first = A_zero;
  sni_cg_run(&cg, t.x);
  CHECK(true_residual(&t, left) < 1e-8, "%g is left", true_residual(&t, left));
}

/* A direction v that all but nothing moves, and a solution that is large along it: r is within the
 * precision long before x is right.  guess: near it, as the solution of the last step is. */
static problem make_stiff(unsigned seed, double *guess) {
  problem t = make(seed, N, true);
  uint64_t s = seed;
  double v[N], Av[N], y[N];
  for (int i = 0; i < N; i++) {
    v[i] = test_random(&s, -1, 1);
  }
  const double size = sqrt(dot(v, v));
  for (int i = 0; i < N; i++) {
    v[i] /= size;
    y[i] = 1000 * v[i] + test_random(&s, -1, 1);
    guess[i] = y[i] + test_random(&s, -30, 30);
  }
  mul(&t, v, Av);
  const double vAv = dot(v, Av);
  for (int i = 0; i < N; i++) { /* P A P + 1e-4 v v^T, with P = 1 - v v^T */
    for (int j = 0; j < N; j++) {
      t.A[i * N + j] += (vAv + 1e-4) * v[i] * v[j] - v[i] * Av[j] - Av[i] * v[j];
    }
  }
  mul(&t, y, t.b);
  memcpy(t.r, t.b, sizeof t.b);
  t.products = 0;
  return t;
}

/* As the solver of rates asks: what is left of r, against what x does. */
static bool is_little(void *user) {
  const problem *t = user;
  double left = 0, did = 0;
  for (int i = 0; i < N; i++) {
    left += fabs(t->x[i] * t->r[i]);
    did += t->x[i] * (t->b[i] - t->r[i]);
  }
  return t->content || left <= 0.03 * did;
}

static void keep(void *user) {
  problem *t = user;
  memcpy(t->kept, t->x, sizeof t->x);
}

static void go_back(void *user) {
  problem *t = user;
  t->went_back++;
  memcpy(t->x, t->kept, sizeof t->x);
}

/* Iterations by gradients of which more is asked than a precision of 0.3. */
static int run_further(problem *t, double *guess, int iterations) {
  double A_guess[N];
  sni_cg cg = method_of(t, false);
  cg.precision = 0.3;
  cg.first = guess;
  cg.A_first = A_guess;
  cg.enough = is_little;
  cg.keep = keep;
  cg.go_back = go_back;
  cg.iterations = iterations;
  return sni_cg_run(&cg, t->x);
}

/* Where r within the precision is not enough they go on; not where it is, nor where there are too
 * few iterations to be sure to get there. */
TEST(more_may_be_asked_than_the_precision) {
  int more = 0;
  for (unsigned seed = 1; seed <= 50; seed++) {
    for (int way = 0; way < 2; way++) {
      double last[N], left[N];
      problem content = make_stiff(seed, last), t = content, few = content;
      double *guess = way ? last : NULL;
      content.content = true;
      const int usual = run_further(&content, guess, 1000), k = run_further(&t, guess, 1000);
      const int most = SNI_CG_TIMES * usual + SNI_CG_SOME;
      CHECK(true_residual(&content, left) <= 0.3 * (1 + 1e-6), "seed %u: not met", seed);
      CHECK(true_residual(&t, left) <= 0.3 * (1 + 1e-6), "seed %u: more is left", seed);
      CHECK(usual <= k && k <= most && (is_little(&t) || k == most || t.went_back > 0),
            "seed %u: %d iterations, %d for the precision", seed, k, usual);
      more += way && k > usual;
      CHECK(run_further(&few, guess, most - 1) == usual && few.went_back == 0, "seed %u", seed);
    }
  }
  CHECK(more > 30, "%d of 50 that began near the solution took more", more);
}

/* Whatever ends them on the way, what was within the precision is not lost. */
TEST(they_go_back_to_what_was_met) {
  int back = 0;
  for (unsigned seed = 1; seed <= 50; seed++) {
    double last[N], left[N];
    problem content = make_stiff(seed, last);
    content.content = true;
    const problem fresh = content;
    run_further(&content, last, 1000);
    for (int more = 1; more < 8; more++) {
      problem t = fresh;
      t.content = false;
      t.late_after = content.products + more;
      run_further(&t, last, 1000);
      CHECK(true_residual(&t, left) <= 0.3 * (1 + 1e-6), "seed %u: %g is left", seed,
            true_residual(&t, left));
      back += t.went_back;
    }
  }
  CHECK(back > 5, "%d of 350 went back", back);
}

TEST(they_stop_when_told) {
  for (int way = 0; way < 2; way++) {
    problem t = make(3, N, true);
    sni_cg cg = method_of(&t, way);
    cg.iterations = 3;
    CHECK((way ? sni_cr_run(&cg, t.x) : sni_cg_run(&cg, t.x)) == 3, "not three");
    t = make(3, N, true);
    t.late_after = 2;
    CHECK((way ? sni_cr_run(&cg, t.x) : sni_cg_run(&cg, t.x)) == 2, "not two");
    t = make(3, N, true);
    cg.iterations = 0;
    CHECK((way ? sni_cr_run(&cg, t.x) : sni_cg_run(&cg, t.x)) == 0 && t.products == 0, "not none");
    t = make(3, N, true);
    cg.iterations = 1000;
    t.r[5] = NAN;
    CHECK((way ? sni_cr_run(&cg, t.x) : sni_cg_run(&cg, t.x)) == 0, "goes on with NaN");
  }
}

/* Broken off after three iterations, again and again, and taken up with the last direction: as if
 * nothing had happened. */
TEST(residuals_go_on_where_they_were) {
  for (unsigned seed = 1; seed <= 50; seed++) {
    problem whole = make(seed, 8, true), parts = make(seed, 8, true);
    sni_cg one = method_of(&whole, true), some = method_of(&parts, true);
    one.iterations = 6;
    some.iterations = 3;
    one.precision = some.precision = 0;
    sni_cr_run(&one, whole.x);
    for (int k = 0; k < 2; k++) {
      some.begun = k > 0;
      sni_cr_run(&some, parts.x);
    }
    for (int i = 0; i < N; i++) {
      CHECK(fabs(parts.x[i] - whole.x[i]) < 1e-9, "seed %u: %g instead of %g", seed, parts.x[i],
            whole.x[i]);
      CHECK(fabs(parts.followed[i] - parts.x[i]) < 1e-12 * (1 + fabs(parts.x[i])),
            "seed %u: who follows is elsewhere", seed);
    }
  }
}

static double squares(const double *r, const double *weight) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    sum += weight[i] * r[i] * r[i];
  }
  return sum;
}

/* With weights, and where b cannot be reached at all: each iteration leaves less, and in the end
 * A W r = 0. */
TEST(residuals_only_fall) {
  for (unsigned seed = 1; seed <= 50; seed++) {
    uint64_t s = seed;
    double weight[N], before = INFINITY;
    for (int i = 0; i < N; i++) {
      weight[i] = test_random(&s, 0.2, 5);
    }
    for (int k = 0; k <= 5; k++) { /* the rank: after that there is nothing left to find */
      problem t = make(seed, 5, false);
      sni_cg cg = method_of(&t, true);
      cg.inverse = weight;
      cg.iterations = k;
      sni_cr_run(&cg, t.x);
      double left[N];
      true_residual(&t, left);
      const double now = squares(left, weight);
      CHECK(now <= before * (1 + 1e-12), "seed %u, iteration %d: from %g to %g", seed, k, before,
            now);
      before = now;
      if (k == 5) {
        double Wr[N], AWr[N];
        for (int i = 0; i < N; i++) {
          Wr[i] = weight[i] * left[i];
        }
        mul(&t, Wr, AWr);
        CHECK(sni_largest(N, AWr) < 1e-6, "seed %u: not the least squares by %g", seed,
              sni_largest(N, AWr));
      }
    }
  }
}

int main(void) {
  RUN_TESTS(T(they_solve), T(they_need_few_iterations), T(a_guess_is_a_direction),
            T(an_idle_guess_is_none), T(more_may_be_asked_than_the_precision),
            T(they_go_back_to_what_was_met), T(they_stop_when_told),
            T(residuals_go_on_where_they_were), T(residuals_only_fall));
}
