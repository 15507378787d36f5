/* freedom.c: how many degrees of freedom constraints leave.
 *
 * Rows may follow from others: out of the plane of a planar mechanism nothing can move anyway. A
 * row that follows from no others takes a degree of freedom away; these are counted by
 * Gram-Schmidt, the most independent one first, or, where there are many, by a sparse factorisation
 * (freedom_sparse.c): at the start, and in a pose nearby, since the start may be singular. */
#include "cli/freedom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/sim.h"
#include "linear/vector.h"

#define COUNT_MAX   2e8  /* rows x rows x coordinates: more is counted sparsely   */
#define NOTHING     1e-7 /* a row below this part of the largest says nothing     */
#define COUNT_SMALL 1e6  /* the same: fewer are looked at often                   */
#define AWAY        1e-2 /* rad, or m: how far a pose nearby is                  */
#define STAYS       0.02 /* of that: it has not come back                         */
#define DEPENDENT   1e-6 /* of a row, left by the others: it follows from them    */

typedef struct table {
  int rows, columns;
  double *value; /* rows x columns                                      */
  double *own;   /* rows: lengths before others were taken out; 0: done */
  double *left;  /* rows: lengths now                                   */
  bool *taken;   /* rows: it is one of the independent ones             */
} table;

static double *row_of(const table *a, int i) {
  return a->value + (size_t)i * (size_t)a->columns;
}

/* Takes out of all rows what the rows before `end` span, the most independent of these first.
 * Returns how many of them were independent. */
static int take_out(table *a, int end) {
  const int n = a->columns;
  for (int rank = 0;; rank++) {
    int best = -1;
    double most = DEPENDENT;
    for (int i = 0; i < end; i++) {
      if (a->left[i] > most * a->own[i]) {
        most = a->left[i] / a->own[i];
        best = i;
      }
    }
    if (best < 0) {
      return rank;
    }
    double *pivot = row_of(a, best);
    for (int k = 0; k < n; k++) {
      pivot[k] /= a->left[best];
    }
    a->own[best] = a->left[best] = 0;
    a->taken[best] = true;
    for (int i = 0; i < a->rows; i++) {
      double *row = row_of(a, i);
      const double part = a->own[i] > 0 ? sni_dot(n, pivot, row) : 0;
      if (part != 0) {
        for (int k = 0; k < n; k++) {
          row[k] -= part * pivot[k];
        }
        a->left[i] = sqrt(sni_dot(n, row, row));
      }
    }
  }
}

static void measure(table *a) {
  double largest = 0;
  for (int i = 0; i < a->rows; i++) {
    a->own[i] = sqrt(sni_dot(a->columns, row_of(a, i), row_of(a, i)));
    largest = fmax(largest, a->own[i]);
  }
  for (int i = 0; i < a->rows; i++) {
    a->left[i] = a->own[i] = a->own[i] > NOTHING * largest ? a->own[i] : 0;
  }
}

/* Leaves the rows of constraints that hold both ways, and of motions of joints that are there all
 * the time: limits take no freedom away.  Returns how many are of constraints: these come first. */
static int keep_rows(sni_rows *rows, const sn_model *m) {
  int n = 0, own = 0;
  for (int i = 0; i < rows->nrow; i++) {
    const bool is_own = rows->of[i] < m->nconstraint;
    if (!rows->row[i].one_sided && (is_own || m->constraint[rows->of[i]].active < 0)) {
      rows->row[n] = rows->row[i];
      rows->of[n++] = rows->of[i];
      own += is_own;
    }
  }
  rows->nrow = n;
  return own;
}

static void count_dense(const sn_sim *sim, int own, cli_freedom *f) {
  const sni_rows *rows = &sim->rows;
  const size_t nv = (size_t)sim->m->tree.nv, n = (size_t)rows->nrow;
  table a = {.rows = rows->nrow, .columns = (int)nv};
  a.value = calloc(n * nv + 1, sizeof *a.value);
  a.own = calloc(2 * n, sizeof *a.own);
  a.taken = calloc(n, sizeof *a.taken);
  if (a.value && a.own && a.taken) {
    a.left = a.own + n;
    for (int i = 0; i < rows->nrow; i++) {
      sni_rows_column(rows, i, row_of(&a, i));
    }
    measure(&a);
    f->rank = take_out(&a, own);
    for (int i = 0; i < own; i++) {
      cli_freedom_involve(f, rows->of[i], !a.taken[i]);
    }
    f->free = (int)nv - f->rank - take_out(&a, a.rows);
    f->counted = true;
  }
  free(a.value);
  free(a.own);
  free(a.taken);
}

void cli_freedom_involve(cli_freedom *f, int constraint, bool redundant) {
  const int last = f->involved > 0 ? f->last : -1;
  if (redundant && constraint != last) {
    if (f->involved < CLI_NAMES_MAX) {
      f->name[f->involved] = constraint;
    }
    f->last = constraint;
    f->involved++;
  }
}

static void count_at(sn_sim *sim, double t, const double *q, const double *qd, cli_freedom *f) {
  sni_dynamics_kinematics(&sim->d, q, qd);
  sni_rows_eval(&sim->rows, t, t, q, qd);
  const int own = keep_rows(&sim->rows, sim->m);
  const double n = sim->rows.nrow;
  f->rows = own;
  if (own == 0) {
    return;
  }
  if (n * n * sim->m->tree.nv <= COUNT_MAX) {
    count_dense(sim, own, f);
  } else {
    cli_freedom_sparse(sim, own, f);
  }
}

/* Numbers from -1 to 1 without pattern, the same in every run. */
double cli_freedom_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)*seed / 9223372036854775808.0;
}

/* Goes to a pose nearby that meets the constraints to this tolerance; how far the joint is that has
 * gone furthest.  Below 0: there is none. */
static double go_away(sn_sim *sim, double t, uint64_t seed, double tolerance, const double *from,
                      double *q, double *qd) {
  int worst;
  double gap, most = 0;
  for (int j = 0; j < sim->m->tree.nv; j++) {
    q[j] = from[j] + AWAY * cli_freedom_random(&seed);
    qd[j] = 0;
  }
  if (sni_rows_project(&sim->rows, t, t, tolerance, q, qd, &worst, &gap)) {
    return -1;
  }
  for (int j = 0; j < sim->m->tree.nv; j++) {
    most = fmax(most, fabs(q[j] - from[j]));
  }
  return most;
}

/* Where several branches cross, closing nearly always leads back to the crossing, to poses that are
 * on no branch by 1e-6 and have the rank of neither: only what stays away from it, and meets the
 * constraints to the last digits, tells.  Where nothing does, the mechanism may be rigid. */
static void count_nearby(sn_sim *sim, double t, const double *from, double *q, double *qd,
                         cli_freedom *f) {
  enum { TRIES = 60, TRIES_LARGE = 3, FIRST = 2 };
  const double n = sim->rows.nrow, nv = sim->m->tree.nv;
  const int tries = n * n * nv <= COUNT_SMALL ? TRIES : TRIES_LARGE;
  bool away = false;
  for (int k = 0; k < tries && !away; k++) {
    away = go_away(sim, t, FIRST + (uint64_t)k, 1e-13, from, q, qd) > STAYS * AWAY;
  }
  if (away || go_away(sim, t, FIRST, 1e-9, from, q, qd) >= 0) {
    count_at(sim, t, q, qd, f);
  }
}

cli_freedom cli_freedom_count(sn_sim *sim, sn_state *state) {
  cli_freedom f = {.nearby = -1}, other = {0};
  if (!sim->d.rows) {
    return f;
  }
  const size_t nv = (size_t)sim->m->tree.nv;
  const double t = *sn_state_time(state);
  double *q = malloc((2 * nv + 1) * sizeof *q), *qd = q + nv;
  count_at(sim, t, sn_state_q(state), sn_state_qd(state), &f);
  if (q && f.counted) {
    count_nearby(sim, t, sn_state_q(state), q, qd, &other);
    f.nearby = other.counted && other.rows == f.rows ? other.rank : -1;
  }
  free(q);
  return f;
}
