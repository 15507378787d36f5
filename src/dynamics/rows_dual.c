/* rows_dual.c: rows solved in their dual, G A^-1 G^T, or in a graph. */
#include "dynamics/doubt.h"
#include "dynamics/rows.h"
#include "linear/vector.h"

#include <string.h>

/* A pivot below this part of its row's own is rounding: the row depends on those before it. */
#define NOISE 1e-11
/* A row of its own below this part of what it could be, or of the largest, says nothing: out of the
 * plane of a planar mechanism nothing can move. */
#define NOTHING 1e-13
/* Above this part of the largest a row is not asked what it could be. */
#define STRONG 1e-4

static double length_of(sni_lane v) {
  return sqrt(sni_lane_dot(v, v));
}

/* The longest lever that a link gives to row i, from joint to joint or to where it acts.  Of one
 * that pushes along a line through a joint what it turns with is rounding, and no lever. */
static double lever_of(const sni_rows *r, int i) {
  const sni_tree *t = &r->d->m->tree;
  const sni_row *row = &r->row[i];
  double most = 0;
  for (int side = 0; side < 2; side++) {
    const sni_lane6 f = sni_lane6_from(row->p[side]);
    const double push = length_of(f.v);
    if (row->body[side] >= 0 && push > 0) {
      const double reach = sni_constraint_reach(&r->constraint[r->of[i]], r->d->E_wb, side);
      most = fmax(most, fmax(length_of(f.w) / push, reach));
    }
    for (int b = row->body[side]; b >= 0 && t->parent[b] >= 0; b = t->parent[b]) {
      most = fmax(most, length_of(r->d->w.r[b]));
    }
  }
  return most;
}

double sni_rows_strength(sni_rows *r, int i) {
  const sni_tree *t = &r->d->m->tree;
  const sni_row *row = &r->row[i];
  const sni_work *w = &r->d->w;
  const double lever = lever_of(r, i);
  double *x = r->column, *terms = r->terms, most = 0;
  for (int pass = 0; pass < 3; pass++) { /* clear, add, compare */
    for (int side = 0; side < 2; side++) {
      sni_lane6 f = sni_lane6_from(row->p[side]);
      for (int b = row->body[side]; b >= 0; b = t->parent[b]) {
        const double push = length_of(f.v), turn = fmax(length_of(f.w), lever * push);
        for (int k = t->vadr[b]; k < t->vadr[b + 1]; k++) {
          const sni_lane6 S = w->S[k];
          if (pass == 0) {
            x[k] = terms[k] = 0;
          } else if (pass == 1) {
            terms[k] += turn * length_of(S.w) + push * length_of(S.v);
          } else if (terms[k] > 0) {
            most = fmax(most, fabs(x[k]) / terms[k]);
          }
        }
        f.w += sni_lane_cross(w->r[b], f.v);
      }
    }
    for (int k = 0; k < row->ncoord; k++) {
      const int j = row->coord[k];
      x[j] = pass == 0 ? 0 : x[j];
      terms[j] = pass == 0 ? 0 : terms[j] + (pass == 1 ? fabs(row->coef[k]) : 0);
      most = pass == 2 && terms[j] > 0 ? fmax(most, fabs(x[j]) / terms[j]) : most;
    }
    if (pass == 1) {
      sni_row_add_column(row, r->d, 1, x);
    }
  }
  return most;
}

/* What S_ii of each row could be, if as much as can be were left of it: what its pivot is small
 * against.  Rows of lengths and of angles have no common unit; but what hardly moves anything has
 * its direction from rounding, however large it is against itself. */
static void find_scales(sni_rows *r, int n) {
  double largest = 0;
  int strongest = -1;
  for (int i = 0; i < n; i++) {
    r->scale[i] = r->S[i * n + i];
    if (r->scale[i] > largest) {
      largest = r->scale[i];
      strongest = i;
    }
  }
  for (int k = -1; k < n && strongest >= 0; k++) { /* the largest first */
    const int i = k < 0 ? strongest : k;
    const double own = r->S[i * n + i];
    if (k == strongest || (k >= 0 && (own > STRONG * largest || !(own > NOTHING * largest)))) {
      continue;
    }
    const double part = sni_rows_strength(r, r->order[i]);
    r->scale[i] = part > 0 ? own / (part * part) : INFINITY;
    largest = fmax(largest, k < 0 ? r->scale[i] : 0);
  }
  for (int i = 0; i < n; i++) {
    r->scale[i] = r->S[i * n + i] > NOTHING * largest ? r->scale[i] : INFINITY;
  }
}

/* L L^T = S, n x n, with the largest pivot first, until what is left is noise.  S holds the lower
 * triangle and gets L, its rows and columns in the new order, as does r->order. */
static void factorise_dual(sni_rows *r, int n) {
  double *S = r->S, *own = r->y, *scale = r->scale;
  find_scales(r, n);
  for (int i = 0; i < n; i++) {
    own[i] = S[i * n + i];
  }
  r->rank = 0;
  for (int k = 0; k < n; k++) {
    int best = -1;
    double most = NOTHING;
    for (int i = k; i < n; i++) {
      const double left = S[i * n + i] > NOISE * own[i] ? S[i * n + i] / scale[i] : 0;
      if (left > most) {
        most = left;
        best = i;
      }
    }
    if (best < 0) {
      return;
    }
    if (best != k) { /* exchange rows and columns k and best of the lower triangle */
      const int row = r->order[k];
      r->order[k] = r->order[best];
      r->order[best] = row;
      const double own_k = own[k], scale_k = scale[k];
      own[k] = own[best];
      own[best] = own_k;
      scale[k] = scale[best];
      scale[best] = scale_k;
      for (int j = 0; j < n; j++) {
        const int a = j < k ? k * n + j : j * n + k;
        const int b = j < best ? best * n + j : j * n + best;
        if (j != k && j != best) {
          const double x = S[a];
          S[a] = S[b];
          S[b] = x;
        }
      }
      const double x = S[k * n + k];
      S[k * n + k] = S[best * n + best];
      S[best * n + best] = x;
    }
    const double pivot = sqrt(S[k * n + k]);
    S[k * n + k] = pivot;
    for (int i = k + 1; i < n; i++) {
      S[i * n + k] /= pivot;
    }
    for (int i = k + 1; i < n; i++) {
      for (int j = k + 1; j <= i; j++) {
        S[i * n + j] -= S[i * n + k] * S[j * n + k];
      }
    }
    r->rank++;
  }
}

/* lambda = S^-1 (lambda - c) of the rows that are independent, of n, 0 of the others. */
static void solve_dual(sni_rows *r, int n, const double *c) {
  const int rank = r->rank;
  double *y = r->y;
  for (int k = 0; k < rank; k++) {
    y[k] = r->lambda[r->order[k]] - c[r->order[k]];
  }
  for (int k = 0; k < rank; k++) {
    y[k] = (y[k] - sni_dot(k, r->S + k * n, y)) / r->S[k * n + k];
  }
  for (int k = rank - 1; k >= 0; k--) {
    for (int i = k + 1; i < rank; i++) {
      y[k] -= r->S[i * n + k] * y[i];
    }
    y[k] /= r->S[k * n + k];
  }
  memset(r->lambda, 0, (size_t)r->nrow * sizeof *r->lambda);
  for (int k = 0; k < rank; k++) {
    r->lambda[r->order[k]] = y[k];
  }
}

/* A^-1 G^T of a row: with limits only of those that are in. */
static const double *column_of(const sni_rows *r, int row) {
  int k = row;
  for (k = r->nsided > 0 ? 0 : row; r->nsided > 0 && r->u.which[k] != row; k++) {
  }
  return r->X + (size_t)k * (size_t)r->d->m->tree.nv;
}

/* x -= A^-1 G^T lambda of the rows that are independent. */
static void push_columns(const sni_rows *r, double *x) {
  const int nv = r->d->m->tree.nv;
  for (int k = 0; k < r->rank; k++) {
    const double *column = column_of(r, r->order[k]), lambda = r->lambda[r->order[k]];
    for (int j = 0; j < nv; j++) {
      x[j] -= lambda * column[j];
    }
  }
}

/* How far joints move that close the gaps of the rows which have been factorised, of n. */
static double way_to_closed(sni_rows *r, int n) {
  const int nv = r->d->m->tree.nv;
  double *c = r->lambda_before; /* r->rhs may be what will be solved for */
  for (int i = 0; i < r->nrow; i++) {
    c[i] = -sni_doubt_gap(&r->row[i]);
  }
  if (r->halved) {
    sni_rows_solve_halved(r, NULL, c, r->column);
  } else {
    memset(r->column, 0, (size_t)nv * sizeof *r->column);
    memset(r->lambda, 0, (size_t)r->nrow * sizeof *r->lambda);
    solve_dual(r, n, c);
    push_columns(r, r->column);
  }
  return sni_doubt_turn(r->d, r->column);
}

static bool is_open(const sni_rows *r, int n) {
  for (int k = 0; k < n; k++) {
    if (fabs(sni_doubt_gap(&r->row[r->order[k]])) > SNI_GAP_NOISE) {
      return true;
    }
  }
  return false;
}

/* Rows that may say something of their own only because gaps are open take no part: doubt.h. */
static void leave_doubtful(sni_rows *r, int n) {
  double *left = r->scale, least = 1;
  const int rank = r->rank;
  int sure = 0;
  for (int k = 0; k < rank; k++) {
    const double pivot = r->S[k * n + k];
    sure = k == sure && pivot * pivot > SNI_DOUBTED * SNI_DOUBTED * r->scale[k] ? k + 1 : sure;
  }
  if (sure == rank || !is_open(r, n)) {
    return;
  }
  for (int k = 0; k < rank; k++) {
    left[k] = r->S[k * n + k] / sqrt(r->y[k]) * sni_rows_strength(r, r->order[k]);
    least = k < sure ? fmin(least, left[k]) : least;
  }
  r->rank = sure;
  r->rank = sni_doubt_count(sure, rank, left, least, way_to_closed(r, n));
}

static void factorise_rows(sni_rows *r, int n) {
  for (int i = 0; i < n; i++) {
    r->order[i] = i;
  }
  factorise_dual(r, n);
  leave_doubtful(r, n);
}

sn_status sni_rows_solve_tree(void *dynamics, const double *b, double *x) {
  sni_dynamics *d = dynamics;
  sni_Minv_mul(&d->m->tree, &d->w, b, x);
  return SN_OK;
}

sn_status sni_rows_factorise(sni_rows *r, sni_rows_solver solve, void *user) {
  const int n = r->nrow, nv = r->d->m->tree.nv;
  r->solve = solve;
  r->user = user;
  r->along = NULL;
  r->halved = false;
  if (r->nsided > 0) {
    return sni_unilateral_factorise(r);
  }
  if (solve == sni_rows_solve_tree) {
    sni_columns_solve(&r->columns, &r->d->w, n, r->row, r->X, r->S);
    factorise_rows(r, n);
    return SN_OK;
  }
  for (int i = 0; i < n; i++) {
    double *x = r->X + (size_t)i * (size_t)nv;
    sni_rows_column(r, i, r->column);
    memset(x, 0, (size_t)nv * sizeof *x);
    const sn_status status = solve(user, r->column, x);
    if (status < 0) {
      return status;
    }
  }
  for (int i = 0; i < n; i++) {
    sni_rows_column(r, i, r->column);
    for (int j = 0; j <= i; j++) {
      r->S[i * n + j] = sni_dot(nv, r->column, r->X + (size_t)j * (size_t)nv);
    }
  }
  factorise_rows(r, n);
  return SN_OK;
}

void sni_rows_halve(sni_rows *r) {
  r->along = NULL;
  r->halved = true;
  sni_halves_make(&r->halves, &r->columns, &r->d->w, r->nrow, r->row, r->S);
  factorise_rows(r, r->nrow);
}

int sni_rows_dual_of_both(sni_rows *r) {
  const sni_unilateral *u = &r->u;
  int n = 0;
  for (int k = 0; k < u->count; k++) {
    if (!sni_unilateral_is_free(r, u->which[k])) {
      r->order[n] = u->which[k];
      u->both[n++] = k;
    }
  }
  for (int i = 0; i < n; i++) {
    const double *row = u->S + (size_t)u->both[i] * (size_t)r->capacity;
    for (int j = 0; j <= i; j++) {
      r->S[i * n + j] = row[u->both[j]];
    }
  }
  factorise_dual(r, n);
  return n;
}

void sni_rows_find_silent(sni_rows *r, bool *silent) {
  memset(silent, 0, (size_t)r->nrow * sizeof *silent);
  const int n = sni_rows_dual_of_both(r);
  for (int k = r->rank; k < n; k++) {
    silent[r->order[k]] = r->y[k] < STRONG * r->scale[k];
  }
  leave_doubtful(r, n);
  /* who solves with limits decides anew who depends on whom: not where gaps are open */
  const bool open = is_open(r, n);
  for (int k = r->rank; k < n; k++) {
    const bool place = !sni_rows_is_rate(r, r->order[k]);
    silent[r->order[k]] = silent[r->order[k]] || (open && place);
  }
}

void sni_rows_correct_half(sni_rows *r, const double *c, double *z) {
  sni_halves_see(&r->halves, z, r->lambda);
  solve_dual(r, r->nrow, c);
  sni_halves_push(&r->halves, r->lambda, z);
}

void sni_rows_solve_halved(sni_rows *r, const double *b, const double *c, double *x) {
  const sni_tree *t = &r->d->m->tree;
  sni_work *w = &r->d->w;
  if (b) {
    sni_Minv_inward(t, w, b);
  } else {
    memset(w->z, 0, (size_t)t->nv * sizeof *w->z);
  }
  sni_rows_correct_half(r, c, w->z);
  sni_Minv_outward(t, w, x);
}

static void correct_halved(sni_rows *r, const double *c, double *x) {
  sni_rows_mul(r, x, r->y);
  for (int i = 0; i < r->nrow; i++) {
    r->multiplier[i] = c[i] - r->y[i];
  }
  sni_rows_solve_halved(r, NULL, r->multiplier, r->step);
  for (int j = 0; j < r->d->m->tree.nv; j++) {
    x[j] += r->step[j];
  }
}

/* What is added to x solves the system with b = 0. */
static void correct_in_graph(sni_rows *r, const double *c, double *x) {
  double residual;
  sni_rows_mul(r, x, r->lambda);
  for (int i = 0; i < r->nrow; i++) {
    r->y[i] = c[i] - r->lambda[i];
  }
  if (r->nsided > 0) {
    int bad;
    sni_unilateral_solve(r, NULL, r->y, r->step, &bad, &residual);
  } else {
    sni_kkt_solve(r->kkt, NULL, r->y, r->step, r->lambda, &residual);
  }
  for (int j = 0; j < r->d->m->tree.nv; j++) {
    x[j] += r->step[j];
  }
}

void sni_rows_correct(sni_rows *r, const double *c, double *x) {
  if (r->kkt) {
    correct_in_graph(r, c, x);
    return;
  }
  if (r->nsided > 0) {
    sni_unilateral_correct(r, c, x);
    return;
  }
  if (r->halved) {
    correct_halved(r, c, x);
    return;
  }
  sni_rows_mul(r, x, r->lambda);
  solve_dual(r, r->nrow, c);
  push_columns(r, x);
}
