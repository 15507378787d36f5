/* freedom.c: how many degrees of freedom constraints leave.
 *
 * Rows may follow from others: out of the plane of a planar mechanism nothing can move anyway. A
 * row that follows from no others takes a degree of freedom away; these are counted by
 * Gram-Schmidt, the most independent one first. */
#include "cli/freedom.h"

#include <math.h>
#include <stdlib.h>

#include "methods/sim.h"

#define COUNT_MAX 5e8  /* rows x rows x coordinates: half a second     */
#define NOTHING   1e-7 /* a row below this part of the largest says nothing     */
#define DEPENDENT 1e-6 /* of a row, left by the others: it follows from them    */

typedef struct table {
  int rows, columns;
  double *value; /* rows x columns                                      */
  double *own;   /* rows: lengths before others were taken out; 0: done */
  double *left;  /* rows: lengths now                                   */
} table;

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

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
    for (int i = 0; i < a->rows; i++) {
      double *row = row_of(a, i);
      const double part = a->own[i] > 0 ? dot(n, pivot, row) : 0;
      if (part != 0) {
        for (int k = 0; k < n; k++) {
          row[k] -= part * pivot[k];
        }
        a->left[i] = sqrt(dot(n, row, row));
      }
    }
  }
}

static void measure(table *a) {
  double largest = 0;
  for (int i = 0; i < a->rows; i++) {
    a->own[i] = sqrt(dot(a->columns, row_of(a, i), row_of(a, i)));
    largest = fmax(largest, a->own[i]);
  }
  for (int i = 0; i < a->rows; i++) {
    a->left[i] = a->own[i] = a->own[i] > NOTHING * largest ? a->own[i] : 0;
  }
}

static bool always(const sni_motion *motion) {
  return motion->active < 0;
}

/* Rows of constraints, and behind them one for each coordinate that always follows a motion. */
static void fill(const sn_sim *sim, table *a) {
  const sn_model *m = sim->m;
  int n = 0;
  for (int i = 0; i < sim->rows.nrow; i++) {
    if (sim->rows.of[i] < m->nconstraint) {
      sni_rows_column(&sim->rows, i, row_of(a, n++));
    }
  }
  a->rows = n;
  measure(a);
  for (int k = 0; k < m->nmotion; k++) {
    const int body = m->motion[k].body;
    for (int c = m->tree.vadr[body]; c < m->tree.vadr[body + 1] && always(&m->motion[k]); c++) {
      row_of(a, a->rows)[c] = 1;
      a->left[a->rows] = a->own[a->rows] = 1;
      a->rows++;
    }
  }
}

cli_freedom cli_freedom_count(sn_sim *sim, sn_state *state) {
  const sn_model *m = sim->m;
  cli_freedom f = {0};
  if (!sim->d.rows) {
    return f;
  }
  const double t = *sn_state_time(state);
  sni_dynamics_kinematics(&sim->d, sn_state_q(state), sn_state_qd(state));
  sni_rows_eval(&sim->rows, t, t, sn_state_q(state), sn_state_qd(state));
  for (int i = 0; i < sim->rows.nrow; i++) {
    f.rows += sim->rows.of[i] < m->nconstraint;
  }
  const size_t nv = (size_t)m->tree.nv, most = (size_t)f.rows + (size_t)m->nmotion_row;
  if (f.rows == 0 || (double)most * (double)most * (double)nv > COUNT_MAX) {
    return f;
  }
  table a = {.columns = (int)nv};
  a.value = calloc(most * nv + 1, sizeof *a.value);
  a.own = calloc(2 * most, sizeof *a.own);
  if (a.value && a.own) {
    a.left = a.own + most;
    fill(sim, &a);
    f.rank = take_out(&a, f.rows);
    f.free = (int)nv - f.rank - take_out(&a, a.rows);
    f.counted = true;
  }
  free(a.value);
  free(a.own);
  return f;
}
