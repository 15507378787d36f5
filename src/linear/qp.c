/* qp.c: bounded quadratic programs by an active set that moves downhill.
 *
 * x is always within its bounds.  Rows in `free` are where the step is sought, the others stay at a
 * bound; S of the free rows is kept as L L^T, a row more or less at a time.  Then
 *
 *     p = -S_FF^-1 w_F, as far as bounds let x go; what stops it leaves the set; until w_F = 0
 *     the row that is most against its bound joins the set
 *
 * A row that depends on the free ones cannot join them.  But then there is a direction in which
 * S x does not change, and in which the objective falls as fast as that row's w says: x goes there
 * until a bound stops it, which makes room.  If none does, no x meets that row.
 *
 * Nothing can cycle: the set only changes where w_F = 0, which is the least of a face; steps of no
 * length only make the set smaller; and every other step goes down, to another face.  A start from
 * last time's set costs a factorisation and, most often, nothing more. */
#include "linear/qp.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A pivot below this part of the row's own is rounding. */
#define DEPENDENT 1e-11
/* A row of its own below this part of the largest says nothing. */
#define NOTHING 1e-13
/* w is 0 if it is below this part of what it is made of. */
#define ZERO 1e-13
/* A row that cannot be met is worth a word if it misses by more than this part. */
#define IMPOSSIBLE 1e-5

static double *S_row(const sni_qp *qp, int i) {
  return qp->S + (size_t)i * (size_t)qp->n;
}
static double *L_row(const sni_qp *qp, int k) {
  return qp->L + (size_t)k * (size_t)qp->n;
}

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* In lanes: each product waits for no other. */
static double dot(int n, const double *a, const double *b) {
  four even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
  double rest = 0;
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    even += *(const four *)(a + i) * *(const four *)(b + i);
    odd += *(const four *)(a + i + 4) * *(const four *)(b + i + 4);
  }
  for (; i < n; i++) {
    rest += a[i] * b[i];
  }
  even += odd;
  return ((even[0] + even[1]) + (even[2] + even[3])) + rest;
}

/* ---- the factor ---- */

/* The line of L that row j would have behind the others, into y; returns its pivot squared. */
static double line_of(const sni_qp *qp, int j, double *y) {
  const double *s = S_row(qp, j);
  double pivot = s[j];
  for (int k = 0; k < qp->nfree; k++) {
    y[k] = (s[qp->free[k]] - dot(k, L_row(qp, k), y)) / L_row(qp, k)[k];
    pivot -= y[k] * y[k];
  }
  return pivot;
}

/* y = L^-T y */
static void solve_back(const sni_qp *qp, double *y) {
  for (int k = qp->nfree - 1; k >= 0; k--) {
    const double *l = L_row(qp, k);
    y[k] /= l[k];
    for (int i = 0; i < k; i++) {
      y[i] -= l[i] * y[k];
    }
  }
}

/* True if row j is independent of the others, and is one of them now. */
static bool join(sni_qp *qp, int j) {
  double *l = L_row(qp, qp->nfree);
  const double pivot = line_of(qp, j, l);
  if (!(pivot > DEPENDENT)) {
    return false;
  }
  l[qp->nfree] = sqrt(pivot);
  qp->at[j] = qp->nfree;
  qp->free[qp->nfree++] = j;
  qp->side[j] = 0;
  return true;
}

/* Takes the k-th free row out; rotations of columns make the rest a triangle again. */
static void leave(sni_qp *qp, int k) {
  qp->at[qp->free[k]] = -1;
  for (int i = k; i + 1 < qp->nfree; i++) {
    qp->free[i] = qp->free[i + 1];
    qp->at[qp->free[i]] = i;
    memcpy(L_row(qp, i), L_row(qp, i + 1), (size_t)(i + 2) * sizeof(double));
  }
  qp->nfree--;
  for (int i = k; i < qp->nfree; i++) {
    double *l = L_row(qp, i);
    const double length = hypot(l[i], l[i + 1]), c = l[i] / length, s = l[i + 1] / length;
    for (int r = i; r < qp->nfree; r++) {
      double *m = L_row(qp, r);
      const double a = m[i], b = m[i + 1];
      m[i] = c * a + s * b;
      m[i + 1] = c * b - s * a;
    }
  }
}

/* ---- one step ---- */

static void calc_w(sni_qp *qp) {
  for (int i = 0; i < qp->n; i++) {
    qp->w[i] = qp->scale[i] > 0 ? dot(qp->n, S_row(qp, i), qp->x) - qp->b[i] : 0;
  }
}

/* What numbers are small against. */
static double size_of(const sni_qp *qp) {
  double most = 0;
  for (int i = 0; i < qp->n; i++) {
    most = fmax(most, qp->scale[i] > 0 ? fmax(fabs(qp->b[i]), fabs(qp->x[i])) : 0);
  }
  return most;
}

/* The most of p, at most `most`, that x can go, j (-1: none) going along by `own`; *stop: the row
 * whose bound stops it, -1: none. */
static double room(const sni_qp *qp, double most, int j, double own, int *stop) {
  *stop = -1;
  for (int k = -1; k < qp->nfree; k++) {
    const int i = k < 0 ? j : qp->free[k];
    const double p = k < 0 ? own : qp->p[k];
    if (i >= 0 && p != 0) {
      const double far = ((p > 0 ? qp->hi[i] : qp->lo[i]) - qp->x[i]) / p;
      if (far < most) {
        most = fmax(far, 0);
        *stop = i;
      }
    }
  }
  return most;
}

static void clip(sni_qp *qp, int i) {
  qp->x[i] = fmax(qp->lo[i], fmin(qp->hi[i], qp->x[i]));
}

/* Puts row i at the bound that p has led it to. */
static void put(sni_qp *qp, int i, double p) {
  qp->side[i] = p > 0 ? 1 : -1;
  qp->x[i] = p > 0 ? qp->hi[i] : qp->lo[i];
}

/* Goes on until w is 0 in all free rows; rows that are stopped leave. */
static void descend(sni_qp *qp, int *changes) {
  enum { REFINE = 2 };
  for (int refined = 0; qp->nfree > 0 && refined <= REFINE;) {
    double *p = qp->p, most = 0;
    calc_w(qp);
    for (int k = 0; k < qp->nfree; k++) {
      most = fmax(most, fabs(qp->w[qp->free[k]]));
      p[k] = (-qp->w[qp->free[k]] - dot(k, L_row(qp, k), p)) / L_row(qp, k)[k];
    }
    if (!(most > ZERO * size_of(qp))) {
      return;
    }
    solve_back(qp, p);
    int stop;
    const double part = room(qp, 1, -1, 0, &stop);
    for (int k = 0; k < qp->nfree; k++) {
      qp->x[qp->free[k]] += part * p[k];
      clip(qp, qp->free[k]);
    }
    if (stop >= 0) {
      put(qp, stop, p[qp->at[stop]]);
      leave(qp, qp->at[stop]);
      ++*changes;
      refined = 0;
    } else {
      refined++;
    }
  }
}

/* How much w_i is against the bound that x_i is at; of a row without bounds, and of one that has
 * none on this side, all of it. */
static double against(const sni_qp *qp, int i) {
  const double w = qp->w[i];
  const bool down = w > 0 && qp->x[i] > qp->lo[i], up = w < 0 && qp->x[i] < qp->hi[i];
  return qp->at[i] < 0 && (down || up) ? fabs(w) : 0;
}

/* Row j depends on the free ones.  Goes downhill where S x stays the same; false: for ever. */
static bool slide(sni_qp *qp, int j) {
  const double own = qp->w[j] > 0 ? -1 : 1;
  const double pivot = line_of(qp, j, qp->p);
  solve_back(qp, qp->p);
  for (int k = 0; k < qp->nfree; k++) {
    qp->p[k] *= -own;
    /* what is rounding stops nobody */
    qp->p[k] = fabs(qp->p[k]) > 1e-9 ? qp->p[k] : 0;
  }
  int stop;
  double far = room(qp, INFINITY, j, own, &stop);
  if (stop < 0) {
    return false;
  }
  if (pivot * far > fabs(qp->w[j])) { /* nearly the same is not the same: it rises again before */
    far = fabs(qp->w[j]) / pivot;
    stop = -1;
  }
  for (int k = 0; k < qp->nfree; k++) {
    qp->x[qp->free[k]] += far * qp->p[k];
    clip(qp, qp->free[k]);
  }
  qp->x[j] += far * own;
  clip(qp, j);
  if (stop < 0) {
    qp->side[j] = 0;
  } else if (stop == j) {
    put(qp, j, own);
  } else {
    const int k = qp->at[stop];
    put(qp, stop, qp->p[k]);
    leave(qp, k);
    join(qp, j);
  }
  return true;
}

/* ---- all of it ---- */

/* Units in which the diagonal of S is 1; both triangles. */
static void rescale(sni_qp *qp) {
  const int n = qp->n;
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, S_row(qp, i)[i]);
  }
  for (int i = 0; i < n; i++) {
    const double own = S_row(qp, i)[i];
    qp->scale[i] = own > NOTHING * most ? 1 / sqrt(own) : 0;
    if (qp->scale[i] > 0) {
      qp->b[i] *= qp->scale[i];
      qp->lo[i] /= qp->scale[i];
      qp->hi[i] /= qp->scale[i];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      S_row(qp, i)[j] *= qp->scale[i] * qp->scale[j];
      S_row(qp, j)[i] = S_row(qp, i)[j];
    }
    S_row(qp, i)[i] = qp->scale[i] > 0;
  }
}

/* Rows without bounds, those first that are most across the ones before, so that what is left out
 * depends on the others as well as can be. */
static void join_unbounded(sni_qp *qp) {
  double *left = qp->w; /* of the pivots of rows that have not joined; 0: does not count */
  for (int i = 0; i < qp->n; i++) {
    left[i] = qp->scale[i] > 0 && isinf(qp->lo[i]) && isinf(qp->hi[i]) ? 1 : 0;
  }
  for (;;) {
    int best = -1;
    for (int i = 0; i < qp->n; i++) {
      best = left[i] > (best >= 0 ? left[best] : DEPENDENT) ? i : best;
    }
    if (best < 0) {
      return;
    }
    left[best] = 0;
    if (join(qp, best)) {
      for (int i = 0; i < qp->n; i++) {
        left[i] = left[i] > 0 ? line_of(qp, i, qp->p) : 0;
      }
    }
  }
}

/* x from the guess of sides; what this puts beyond a bound stays at the bound. */
static void start(sni_qp *qp) {
  qp->nfree = 0;
  for (int i = 0; i < qp->n; i++) {
    qp->at[i] = -1;
    qp->x[i] = fmax(qp->lo[i], fmin(qp->hi[i], 0));
  }
  join_unbounded(qp);
  for (int i = 0; i < qp->n; i++) {
    const bool bounded = isfinite(qp->lo[i]) || isfinite(qp->hi[i]);
    const int side = qp->side[i];
    if (qp->scale[i] == 0 || !bounded) {
      qp->side[i] = 0;
      continue;
    }
    if (side == 0 && join(qp, i)) {
      continue;
    }
    qp->x[i] = side < 0 && isfinite(qp->lo[i])                               ? qp->lo[i]
               : side > 0 && isfinite(qp->hi[i])                             ? qp->hi[i]
               : isfinite(qp->hi[i]) && !(fabs(qp->lo[i]) < fabs(qp->hi[i])) ? qp->hi[i]
                                                                             : qp->lo[i];
    qp->side[i] = qp->x[i] == qp->lo[i] ? -1 : 1;
  }
  calc_w(qp);
  double *p = qp->p;
  for (int k = 0; k < qp->nfree; k++) {
    p[k] = (-qp->w[qp->free[k]] - dot(k, L_row(qp, k), p)) / L_row(qp, k)[k];
  }
  solve_back(qp, p);
  for (int k = 0; k < qp->nfree; k++) {
    qp->x[qp->free[k]] += p[k];
  }
  for (int k = qp->nfree - 1; k >= 0; k--) {
    const int i = qp->free[k];
    if (qp->x[i] < qp->lo[i] || qp->x[i] > qp->hi[i]) {
      put(qp, i, qp->x[i] - qp->lo[i]);
      leave(qp, k);
    }
  }
}

/* In the units of the caller again. */
static void finish(sni_qp *qp, const bool converged, sni_qp_info *info) {
  const double size = size_of(qp);
  for (int i = 0; i < qp->n; i++) {
    const double to = fmax(qp->lo[i], fmin(qp->hi[i], qp->x[i] - qp->w[i]));
    const double off = fabs(qp->x[i] - to);
    const bool met = qp->at[i] >= 0 || qp->side[i] != 0 || !converged;
    if (off > 0 && met) {
      info->residual = fmax(info->residual, off / size);
    } else if (off > IMPOSSIBLE * size && off / qp->scale[i] > info->short_of) {
      info->impossible = i;
      info->short_of = off / qp->scale[i];
    }
  }
  for (int i = 0; i < qp->n; i++) {
    qp->x[i] *= qp->scale[i] > 0 ? qp->scale[i] : 1;
  }
}

sn_status sni_qp_solve(sni_qp *qp, sni_qp_info *info) {
  *info = (sni_qp_info){.impossible = -1};
  const int most = 20 * qp->n + 100;
  rescale(qp);
  start(qp);
  bool converged = false;
  while (!converged && info->changes < most) {
    descend(qp, &info->changes);
    calc_w(qp);
    const double zero = 10 * ZERO * size_of(qp);
    int worst = -1;
    for (int i = 0; i < qp->n; i++) {
      const bool given_up = qp->side[i] == 0; /* not free, and between bounds: cannot be met */
      if (!given_up && against(qp, i) > (worst >= 0 ? against(qp, worst) : zero)) {
        worst = i;
      }
    }
    converged = worst < 0;
    if (!converged) {
      info->changes++;
      if (!join(qp, worst) && !slide(qp, worst)) {
        qp->side[worst] = 0;
      }
    }
  }
  finish(qp, converged, info);
  return converged ? SN_OK : SN_NOT_CONVERGED;
}

void sni_qp_move_bound(const sni_qp *qp, int j, double by, double *dx) {
  memset(dx, 0, (size_t)qp->n * sizeof *dx);
  dx[j] = by;
  if (!(qp->scale[j] > 0)) {
    return;
  }
  line_of(qp, j, qp->p);
  solve_back(qp, qp->p);
  for (int k = 0; k < qp->nfree; k++) {
    dx[qp->free[k]] = -qp->scale[qp->free[k]] * qp->p[k] * by / qp->scale[j];
  }
}

/* ---- memory ---- */

static size_t lay_out(sni_qp *qp, int capacity, char *memory) {
  const size_t n = (size_t)capacity;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  qp->S = TAKE(n * n, sizeof *qp->S);
  qp->L = TAKE(n * n, sizeof *qp->L);
  qp->b = TAKE(n, sizeof *qp->b);
  qp->lo = TAKE(n, sizeof *qp->lo);
  qp->hi = TAKE(n, sizeof *qp->hi);
  qp->x = TAKE(n, sizeof *qp->x);
  qp->scale = TAKE(n, sizeof *qp->scale);
  qp->w = TAKE(n, sizeof *qp->w);
  qp->p = TAKE(n, sizeof *qp->p);
  qp->side = TAKE(n, sizeof *qp->side);
  qp->free = TAKE(n, sizeof *qp->free);
  qp->at = TAKE(n, sizeof *qp->at);
#undef TAKE
  return used;
}

size_t sni_qp_size(int capacity) {
  sni_qp qp;
  return lay_out(&qp, capacity, NULL);
}

void sni_qp_place(sni_qp *qp, int capacity, void *memory) {
  *qp = (sni_qp){.capacity = capacity};
  lay_out(qp, capacity, memory);
}
