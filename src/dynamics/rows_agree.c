/* rows_agree.c: what rows ask for to close their gaps, and what they bear, where they depend on
 * each other.
 *
 * Gaps of rows that repeat each other are the same to first order only: what they ask for beyond
 * that no motion gives, and it is left out.  The nearest that can be had is the G y of the least
 * squares |c - G y|, and so the same whichever rows the factors have left out.  These give a motion
 * that does what the rows ask for which they have kept, and G of that is Q c, Q Q = Q: all that any
 * G y can be.  So the least squares are those of Q, by conjugate gradients: few steps, Q being 1
 * but for rows that depend on others.
 *
 * Nor do forces follow from motions there: to lambda may be added what G^T takes to 0, bodies that
 * strain against each other.  The least of all is the nearest G y to any of them. */
#include "dynamics/rows.h"
#include "linear/vector.h"

#include <string.h>

/* To leave out less than this part of c is rounding; to know what to this part of it is enough, of
 * gaps and of forces. */
#define ROUNDING 1e-10
#define NEAREST  1e-6
#define LEAST    1e-10
enum { STEPS_MAX = 50 };

/* ---- in the dual: L has all rows, those that were left out last ---- */

/* y = L_1^-1 y of the rows that were kept, and L_1^-T y. */
static void forward(const sni_rows *r, int n, double *y) {
  for (int k = 0; k < r->rank; k++) {
    y[k] = (y[k] - sni_dot(k, r->S + k * n, y)) / r->S[k * n + k];
  }
}
static void backward(const sni_rows *r, int n, double *y) {
  for (int k = r->rank - 1; k >= 0; k--) {
    for (int i = k + 1; i < r->rank; i++) {
      y[k] -= r->S[i * n + k] * y[i];
    }
    y[k] /= r->S[k * n + k];
  }
}

/* c_1, and L_2 L_1^-1 c_1. */
static void meet_in_dual(sni_rows *r, int n, const double *c, double *out) {
  for (int k = 0; k < r->rank; k++) {
    r->y[k] = out[r->order[k]] = c[r->order[k]];
  }
  forward(r, n, r->y);
  for (int k = r->rank; k < n; k++) {
    out[r->order[k]] = sni_dot(r->rank, r->S + k * n, r->y);
  }
}

/* v_1 + L_1^-T L_2^T v_2, and 0. */
static void turn_in_dual(sni_rows *r, int n, const double *v, double *out) {
  memset(r->y, 0, (size_t)r->rank * sizeof *r->y);
  for (int k = r->rank; k < n; k++) {
    for (int j = 0; j < r->rank; j++) {
      r->y[j] += r->S[k * n + j] * v[r->order[k]];
    }
    out[r->order[k]] = 0;
  }
  backward(r, n, r->y);
  for (int k = 0; k < r->rank; k++) {
    out[r->order[k]] = v[r->order[k]] + r->y[k];
  }
}

/* ---- in a graph ---- */

/* G x of the x that c asks for. */
static void meet_in_graph(sni_rows *r, const double *c, double *out) {
  double residual;
  sni_kkt_solve(r->kkt, NULL, c, r->step, NULL, &residual);
  sni_rows_mul(r, r->step, out);
}

/* The forces that bear G^T v. */
static void turn_in_graph(sni_rows *r, const double *v, double *out) {
  double residual;
  memset(r->column, 0, (size_t)r->d->m->tree.nv * sizeof *r->column);
  for (int i = 0; i < r->nrow; i++) {
    if (!sni_unilateral_is_free(r, i)) {
      sni_row_add_column(&r->row[i], r->d, v[i], r->column);
    }
  }
  sni_kkt_solve(r->kkt, r->column, NULL, r->step, out, &residual);
}

/* ---- both ---- */

/* Rows that push are none of these. */
static void leave_out_sided(const sni_rows *r, double *out) {
  for (int i = 0; i < r->nrow && r->nsided > 0; i++) {
    out[i] = sni_unilateral_is_free(r, i) ? 0 : out[i];
  }
}

/* out = Q c and out = Q^T v. */
static void meet(sni_rows *r, int n, const double *c, double *out) {
  if (r->kkt) {
    meet_in_graph(r, c, out);
  } else {
    meet_in_dual(r, n, c, out);
  }
  leave_out_sided(r, out);
}
static void turn(sni_rows *r, int n, const double *v, double *out) {
  if (r->kkt) {
    turn_in_graph(r, v, out);
  } else {
    turn_in_dual(r, n, v, out);
  }
  leave_out_sided(r, out);
}

/* Do rows that hold both ways depend on each other?  Then they have factors, in the dual n of them.
 */
static bool factorise_both(sni_rows *r, int *n) {
  sni_unilateral *u = &r->u;
  *n = r->nrow;
  if (!r->kkt) {
    *n = r->nsided > 0 ? sni_rows_dual_of_both(r) : r->nrow;
    return r->rank < *n;
  }
  if (!sni_kkt_depends(r->kkt)) {
    return false;
  }
  if (r->nsided == 0) {
    return true;
  }
  int bad;
  for (int i = 0; i < r->nrow; i++) {
    if (u->in[i] && sni_unilateral_is_free(r, i)) {
      u->in[i] = u->fresh = false;
    }
  }
  if (!u->fresh) {
    sni_kkt_set_rows(r->kkt, r);
    u->fresh = sni_kkt_factorise(r->kkt, NULL, NULL, &bad) >= 0;
  }
  return u->fresh && sni_kkt_depends(r->kkt);
}

/* c becomes what is left out of it, to the part `enough` of that.  Uses p and s. */
static void leave_out(sni_rows *r, int n, double enough, double *c, double *p, double *s) {
  const double large = sni_largest(r->nrow, c);
  meet(r, n, c, s);
  for (int i = 0; i < r->nrow; i++) {
    c[i] -= s[i];
  }
  const double left = sni_largest(r->nrow, c);
  if (!(left > ROUNDING * large)) {
    memset(c, 0, (size_t)r->nrow * sizeof *c);
    return;
  }
  double before = INFINITY;
  memset(p, 0, (size_t)r->nrow * sizeof *p);
  for (int k = 0; k < STEPS_MAX; k++) {
    turn(r, n, c, s);
    const double slope = sni_dot(r->nrow, s, s);
    if (!(sqrt(slope) > enough * left)) {
      break;
    }
    for (int i = 0; i < r->nrow; i++) {
      p[i] = s[i] + slope / before * p[i];
    }
    before = slope;
    meet(r, n, p, s);
    const double step = slope / sni_dot(r->nrow, s, s);
    for (int i = 0; i < r->nrow; i++) {
      c[i] -= step * s[i];
    }
  }
}

void sni_rows_agree(sni_rows *r) {
  int n;
  if (r->nrow == 0 || !factorise_both(r, &n)) {
    return;
  }
  double *c = r->multiplier;
  for (int i = 0; i < r->nrow; i++) {
    c[i] = sni_unilateral_is_free(r, i) ? 0 : r->rhs[i];
  }
  leave_out(r, n, NEAREST, c, r->lambda_before, r->lambda);
  for (int i = 0; i < r->nrow; i++) {
    r->rhs[i] -= c[i];
  }
}

bool sni_rows_least(sni_rows *r) {
  int n;
  if (r->nrow == 0 || !factorise_both(r, &n)) {
    return false;
  }
  double *c = r->multiplier, *least = r->least;
  for (int i = 0; i < r->nrow; i++) {
    c[i] = sni_unilateral_is_free(r, i) ? 0 : r->lambda[i];
    least[i] = r->lambda[i];
  }
  leave_out(r, n, LEAST, c, r->lambda_before, r->rhs);
  for (int i = 0; i < r->nrow; i++) {
    least[i] -= c[i];
  }
  return true;
}
