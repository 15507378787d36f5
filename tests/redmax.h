/* redmax.h: what the tests of the method `redmax` share: its solvers, options, small dense algebra.
 *
 * A solver that is added gets a row in redmax_solver, and every test runs it. */
#ifndef SINEW_TEST_REDMAX_H
#define SINEW_TEST_REDMAX_H

#include "methods/redmax/system.h"
#include "methods/sim.h"
#include "trees.h"

static const struct {
  const char *name;
  sn_solver option;
  const sni_solver *table;
} redmax_solver[] = {{"tree", SN_SOLVER_TREE, &sni_solver_tree},
                     {"pcg", SN_SOLVER_PCG, &sni_solver_pcg},
                     {"graph", SN_SOLVER_GRAPH, &sni_solver_graph},
                     {"reduced", SN_SOLVER_REDUCED, &sni_solver_reduced},
                     {"reduced-kkt", SN_SOLVER_REDUCED_KKT, &sni_solver_reduced_kkt}};
#define REDMAX_SOLVERS ((int)(sizeof redmax_solver / sizeof redmax_solver[0]))

/* `tree` is refused where a force couples two bodies that both move; the others take everything. */
static inline bool redmax_takes(const sn_model *m, int solver, const sn_options *o) {
  sn_options with = *o;
  sn_sim *sim = NULL;
  sn_error err;
  with.redmax.solver = redmax_solver[solver].option;
  const sn_status status = sn_sim_create(m, &with, &sim, &err);
  CHECK(!status || (status == SN_E_UNSUPPORTED && with.redmax.solver == SN_SOLVER_TREE),
        "solver '%s': %s", redmax_solver[solver].name, err.text);
  sn_sim_free(&sim);
  return !status;
}

static inline sn_options redmax_options(double step) {
  sn_options o = sn_options_default();
  o.method = "redmax";
  o.step = step;
  return o;
}
/* The choices of the paper instead of ours. */
static inline sn_options redmax_paper_options(double step) {
  sn_options o = redmax_options(step);
  o.redmax.inertia = SN_INERTIA_PAPER;
  o.redmax.tangent = SN_TANGENT_MATERIAL;
  o.redmax.closure = SN_CLOSURE_BAUMGARTE;
  o.redmax.activation = SN_ACTIVATION_PENETRATION;
  return o;
}

/* One step that must succeed. */
static inline sn_info redmax_step(sn_sim *sim, sn_state *s, const sn_input *input) {
  sn_info info;
  sn_error err = {0};
  const sn_status status = sn_sim_step(sim, s, input, &info, &err);
  CHECK(status == SN_OK, "t = %g: %s %s", *sn_state_time(s), sn_status_text(status), err.text);
  return info;
}

static inline double redmax_energy(sn_sim *sim, const sn_state *s) {
  sn_energy e;
  CHECK(sn_sim_energy(sim, s, &e) == SN_OK, "no energy");
  return e.kinetic + e.potential;
}

/* A spring between two points; NULL: the world. */
static inline sn_force_def spring_def(const char *name, const char *a, sn_vec3 at_a, const char *b,
                                      sn_vec3 at_b, double stiffness, double damping,
                                      double rest_length) {
  sn_force_def def = sn_force_def_default();
  def.name = name;
  def.type = "spring";
  def.a = (sn_point_def){a, sn_pose(at_a.x, at_a.y, at_a.z)};
  def.b = (sn_point_def){b, sn_pose(at_b.x, at_b.y, at_b.z)};
  def.stiffness = stiffness;
  def.damping = damping;
  def.rest_length = rest_length;
  return def;
}

/* ---- small dense matrices, row-major ---- */

/* Eigenvalues of a symmetric n x n matrix into `value`, vectors as columns of V (may be NULL):
 * Jacobi's rotations.  A is used up. */
static inline void dense_eigen(int n, double *A, double *value, double *V) {
  for (int i = 0; V && i < n * n; i++) {
    V[i] = i % (n + 1) == 0;
  }
  for (int sweep = 0; sweep < 60; sweep++) {
    double off = 0, all = 0;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        off += i != j ? A[i * n + j] * A[i * n + j] : 0;
        all += A[i * n + j] * A[i * n + j];
      }
    }
    if (!(off > 1e-34 * all)) {
      break;
    }
    for (int p = 0; p < n; p++) {
      for (int q = p + 1; q < n; q++) {
        if (A[p * n + q] == 0) {
          continue;
        }
        const double theta = 0.5 * (A[q * n + q] - A[p * n + p]) / A[p * n + q];
        const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
        const double c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; k++) {
          const double x = A[k * n + p], y = A[k * n + q];
          A[k * n + p] = c * x - s * y;
          A[k * n + q] = s * x + c * y;
        }
        for (int k = 0; k < n; k++) {
          const double x = A[p * n + k], y = A[q * n + k];
          A[p * n + k] = c * x - s * y;
          A[q * n + k] = s * x + c * y;
        }
        for (int k = 0; V && k < n; k++) {
          const double x = V[k * n + p], y = V[k * n + q];
          V[k * n + p] = c * x - s * y;
          V[k * n + q] = s * x + c * y;
        }
      }
    }
  }
  for (int i = 0; i < n; i++) {
    value[i] = A[i * n + i];
  }
}

/* The least and the largest eigenvalue of a symmetric matrix, which is left alone. */
static inline void dense_range(int n, const double *A, double *least, double *most) {
  double *copy = malloc((size_t)(n * n + n) * sizeof *copy), *value = copy + n * n;
  memcpy(copy, A, (size_t)(n * n) * sizeof *copy);
  dense_eigen(n, copy, value, NULL);
  *least = INFINITY;
  *most = -INFINITY;
  for (int i = 0; i < n; i++) {
    *least = fmin(*least, value[i]);
    *most = fmax(*most, value[i]);
  }
  free(copy);
}

static inline void dense_symmetrise(int n, double *A) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i]);
    }
  }
}

/* A += c p p^T */
static inline void dense_add_square(int n, double c, const double *p, double *A) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i * n + j] += c * p[i] * p[j];
    }
  }
}

/* y = A x */
static inline void dense_mul(int n, const double *A, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++) {
      y[i] += A[i * n + j] * x[j];
    }
  }
}

/* x with A x = b by elimination with pivots; A and b are used up, b becomes x. */
static inline void dense_solve(int n, double *A, double *b) {
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c + 1; r < n; r++) {
      pivot = fabs(A[r * n + c]) > fabs(A[pivot * n + c]) ? r : pivot;
    }
    CHECK(A[pivot * n + c] != 0, "the dense matrix is singular");
    for (int k = 0; k < n; k++) {
      const double x = A[c * n + k];
      A[c * n + k] = A[pivot * n + k];
      A[pivot * n + k] = x;
    }
    const double x = b[c];
    b[c] = b[pivot];
    b[pivot] = x;
    for (int r = c + 1; r < n; r++) {
      const double f = A[r * n + c] / A[c * n + c];
      for (int k = c; k < n; k++) {
        A[r * n + k] -= f * A[c * n + k];
      }
      b[r] -= f * b[c];
    }
  }
  for (int r = n - 1; r >= 0; r--) {
    for (int k = r + 1; k < n; k++) {
      b[r] -= A[r * n + k] * b[k];
    }
    b[r] /= A[r * n + r];
  }
}

static inline void put_six(sn_vec6 x, double *out) {
  for (int k = 0; k < 6; k++) {
    out[k] = sn_vec6_get(x, k);
  }
}

#endif
