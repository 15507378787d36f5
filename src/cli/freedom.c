/* freedom.c: how many degrees of freedom constraints leave.
 *
 * Rows may follow from others: out of the plane of a planar mechanism nothing can move anyway. A
 * row that follows from no others takes a degree of freedom away; these are counted by
 * Gram-Schmidt, the most independent one first, or, where there are many, by a sparse factorisation
 * (freedom_sparse.c): at the start, and in a pose nearby, since the start may be singular. */
#include "cli/freedom.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/sim.h"
#include "linear/vector.h"

#define COUNT_MAX   2e8  /* rows x rows x coordinates: more is counted sparsely   */
#define COUNT_SMALL 1e7  /* rows x coordinates^2: fewer are looked at often       */
#define AWAY        1e-2 /* rad, or m: how far a pose nearby is                  */
#define DEPENDENT   1e-6 /* of a row, left by the others: it follows from them    */
#define CERTAIN     1e-3 /* the same, for a pose that is closed to 1e-9           */
#define NOTHING     0.1  /* of these, of the largest row, or of itself: less says nothing */
#define CLEAR       1e-6 /* of the largest row: so much is left by no accident    */

typedef struct table {
  int rows, columns;
  double *value;  /* rows x columns                                      */
  double *own;    /* rows: lengths before others were taken out; 0: done */
  double *left;   /* rows: lengths now                                   */
  bool *taken;    /* rows: it is one of the independent ones             */
  double small;   /* of a row, left by the others: it follows from them  */
  double largest; /* length of any row                                   */
  double least;   /* of any row that was taken, left by the others       */
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
    double most = a->small;
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
    a->least = fmin(a->least, a->left[best]);
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

/* Where nothing is left of all rows the largest is rounding, too: each is held against what it
 * could be. */
static void measure(table *a, sni_rows *rows) {
  for (int i = 0; i < a->rows; i++) {
    const bool says = sni_rows_strength(rows, i) > NOTHING * a->small;
    a->own[i] = says ? sqrt(sni_dot(a->columns, row_of(a, i), row_of(a, i))) : 0;
    a->largest = fmax(a->largest, a->own[i]);
  }
  const double nothing = NOTHING * a->small * a->largest;
  a->least = a->largest;
  for (int i = 0; i < a->rows; i++) {
    a->left[i] = a->own[i] = a->own[i] > nothing ? a->own[i] : 0;
  }
}

int cli_freedom_keep_rows(sni_rows *rows, const sn_model *m) {
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

static void count_dense(sn_sim *sim, int own, double small, cli_freedom *f) {
  sni_rows *rows = &sim->rows;
  const size_t nv = (size_t)sim->m->tree.nv, n = (size_t)rows->nrow;
  table a = {.rows = rows->nrow, .columns = (int)nv, .small = small};
  a.value = calloc(n * nv + 1, sizeof *a.value);
  a.own = calloc(2 * n, sizeof *a.own);
  a.taken = calloc(n, sizeof *a.taken);
  if (a.value && a.own && a.taken) {
    a.left = a.own + n;
    for (int i = 0; i < rows->nrow; i++) {
      sni_rows_column(rows, i, row_of(&a, i));
    }
    measure(&a, rows);
    f->rank = take_out(&a, own);
    f->least = a.largest > 0 ? a.least / a.largest : 1;
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

static void count_at(sn_sim *sim, double t, const double *q, const double *qd, double small,
                     cli_freedom *f) {
  sni_dynamics_kinematics(&sim->d, q, qd);
  sni_rows_eval(&sim->rows, t, t, q, qd);
  const int own = cli_freedom_keep_rows(&sim->rows, sim->m);
  const double n = sim->rows.nrow;
  f->rows = own;
  if (own == 0) {
    return;
  }
  if (n * n * sim->m->tree.nv <= COUNT_MAX) {
    count_dense(sim, own, small, f);
  } else {
    cli_freedom_sparse(sim, own, f);
  }
}

/* Numbers from -1 to 1 without pattern, the same in every run. */
double cli_freedom_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)*seed / 9223372036854775808.0;
}

/* The rank of the branches that go on from here.  In some poses they cross, or nearly so, and have
 * the rank of none: those that do not tell clearly are left out.  Branches may differ: most rows
 * are independent in the one that is left with the least freedom. */
static void count_nearby(sn_sim *sim, double t, const double *from, double *q, double *qd,
                         cli_freedom *f) {
  enum { TRIES = 60, ENOUGH = 5, FIRST = 2 };
  int told = 0, lowest = INT_MAX;
  for (int k = 0; k < TRIES && (told < ENOUGH || lowest < f->rank); k++) {
    cli_freedom one = {0};
    if (cli_freedom_go_away(sim, t, FIRST + (uint64_t)k, from, q)) {
      count_at(sim, t, q, qd, DEPENDENT, &one);
    }
    if (one.counted && one.least > CLEAR) {
      told++;
      lowest = one.rank < lowest ? one.rank : lowest;
      *f = one.rank > f->rank ? one : *f;
    }
  }
  f->lowest = lowest;
}

/* The same where rows are many, or nothing stayed away, as in a mechanism that is rigid: one pose,
 * by the shortest way. */
static void count_beside(sn_sim *sim, double t, const double *from, double *q, double *qd,
                         cli_freedom *f) {
  uint64_t seed = 2;
  int worst;
  double gap;
  for (int j = 0; j < sim->m->tree.nv; j++) {
    q[j] = from[j] + AWAY * cli_freedom_random(&seed);
    qd[j] = 0;
  }
  if (sni_rows_project(&sim->rows, t, t, 1e-9, q, qd, &worst, &gap) == SN_OK) {
    count_at(sim, t, q, qd, DEPENDENT, f);
    f->lowest = f->rank;
  }
}

/* Beside a pose rows only become independent.  Where they seem to become dependent, this pose is at
 * a crossing and not quite closed, or the one nearby met a crossing by chance. */
static cli_freedom closed_here(sn_sim *sim, sn_state *state, cli_freedom f) {
  cli_freedom again = {.nearby = f.nearby, .lowest = f.lowest};
  again.begin = f.begin;
  again.followed = f.followed;
  again.astray = f.astray;
  if (f.least > CERTAIN) {
    f.nearby = f.rank;
    return f;
  }
  count_at(sim, *sn_state_time(state), sn_state_q(state), sn_state_qd(state), CERTAIN, &again);
  return again.counted ? again : f;
}

cli_freedom cli_freedom_count(sn_sim *sim, sn_state *state) {
  cli_freedom f = {.nearby = -1}, other = {0};
  if (!sim->d.rows) {
    return f;
  }
  const size_t nv = (size_t)sim->m->tree.nv;
  const double t = *sn_state_time(state), *from = sn_state_q(state);
  double *q = calloc(2 * nv + 1, sizeof *q), *qd = q + nv;
  count_at(sim, t, from, sn_state_qd(state), DEPENDENT, &f);
  if (q && f.counted) {
    const bool few = (double)sim->rows.nrow * (double)nv * (double)nv <= COUNT_SMALL;
    if (few && f.least > CERTAIN) { /* else it is next to a crossing, if not in one */
      cli_freedom_follow(sim, t, from, f.free, &f);
    }
    if (few) {
      count_nearby(sim, t, from, q, qd, &other);
    }
    if (!other.counted) {
      count_beside(sim, t, from, q, qd, &other);
    }
    f.nearby = other.counted && other.rows == f.rows ? other.rank : -1;
    f.lowest = other.lowest;
    if (f.nearby >= 0 && f.nearby < f.rank) {
      f = closed_here(sim, state, f);
    }
  }
  free(q);
  return f;
}
