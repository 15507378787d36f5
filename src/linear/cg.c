/* cg.c: conjugate gradients and conjugate residuals. */
#include "linear/cg.h"
#include "linear/vector.h"

#include <math.h>
#include <stddef.h>

/* r . z with z = r, scaled. */
static double measure(const sni_cg *cg) {
  double sum = 0;
  for (int i = 0; i < cg->n; i++) {
    sum += cg->r[i] * cg->r[i] * (cg->inverse ? cg->inverse[i] : 1);
  }
  return sum;
}

/* x and r, along p with q = A p. */
static void step_along(const sni_cg *cg, double step, const double *p, const double *q, double *x) {
  for (int i = 0; i < cg->n; i++) {
    x[i] += step * p[i];
    cg->r[i] -= step * q[i];
  }
  if (cg->follow) {
    cg->follow(cg->user, step);
  }
}

/* As far along `first` as the error falls; returns its curvature, 0: nothing moves that way. */
static double begin(const sni_cg *cg, double *x) {
  cg->mul(cg->user, cg->first, cg->A_first);
  const double curvature = sni_dot(cg->n, cg->first, cg->A_first);
  if (!(curvature > 0)) {
    return 0;
  }
  step_along(cg, sni_dot(cg->n, cg->first, cg->r) / curvature, cg->first, cg->A_first, x);
  return curvature;
}

/* p = r, scaled, across `first`, and beta p. */
static void turn_along(const sni_cg *cg, double curvature, double beta) {
  double along = 0;
  for (int i = 0; i < cg->n; i++) {
    const double z = cg->r[i] * (cg->inverse ? cg->inverse[i] : 1);
    along += curvature > 0 ? z * cg->A_first[i] : 0;
    cg->p[i] = z + (beta != 0 ? beta * cg->p[i] : 0);
  }
  const double *first = curvature > 0 ? cg->first : NULL;
  for (int i = 0; first && i < cg->n; i++) {
    cg->p[i] -= along / curvature * first[i];
  }
}

/* The iteration with which they end: r is within the precision after k of them, for the first
 * time.  It may rise again on the way to what more is asked for. */
static int look_further(const sni_cg *cg, int k) {
  const int most = SNI_CG_TIMES * k + SNI_CG_SOME;
  if (!cg->enough || most > cg->iterations || cg->enough(cg->user)) {
    return k;
  }
  cg->keep(cg->user);
  return most;
}

static int leave(const sni_cg *cg, int k, bool was_within, bool within) {
  if (was_within && !within) {
    cg->go_back(cg->user);
  }
  return k;
}

int sni_cg_run(const sni_cg *cg, double *x) {
  const int n = cg->n;
  const double first = cg->first ? begin(cg, x) : 0;
  int most = cg->iterations;
  bool was_within = false;
  double rz = 0;
  for (int k = 0;; k++) {
    const bool within = !(sni_largest(n, cg->r) > cg->precision);
    const bool done = within && was_within && cg->enough(cg->user);
    most = within && !was_within ? look_further(cg, k) : most;
    was_within = was_within || within;
    if (done || k == most || (k > 0 && cg->late && cg->late(cg->user))) {
      return leave(cg, k, was_within, within);
    }
    const double rz_new = measure(cg), beta = k > 0 ? rz_new / rz : 0;
    rz = rz_new;
    turn_along(cg, first, beta);
    cg->mul(cg->user, cg->p, cg->q);
    const double curvature = sni_dot(n, cg->p, cg->q);
    if (!(curvature > 0)) {
      return leave(cg, k, was_within, within); /* nothing moves that way, or it is rounding */
    }
    step_along(cg, rz / curvature, cg->p, cg->q, x);
  }
}

static double scaled(const sni_cg *cg, int i, double x) {
  return cg->inverse ? cg->inverse[i] * x : x;
}

/* x and r, along p with q = A p: as far as r falls.  qq: q . q, scaled. */
static void go(const sni_cg *cg, double qq, double *x) {
  double rq = 0;
  for (int i = 0; i < cg->n; i++) {
    rq += scaled(cg, i, cg->r[i] * cg->q[i]);
  }
  step_along(cg, rq / qq, cg->p, cg->q, x);
}

/* p = fresh + beta p, q = ... + beta q; returns q . q, scaled. */
static double turn(const sni_cg *cg, double beta) {
  double qq = 0;
  for (int i = 0; i < cg->n; i++) {
    cg->p[i] = cg->z[i] + (beta != 0 ? beta * cg->p[i] : 0);
    cg->q[i] = cg->w[i] + (beta != 0 ? beta * cg->q[i] : 0);
    qq += scaled(cg, i, cg->q[i] * cg->q[i]);
  }
  if (cg->turn) {
    cg->turn(cg->user, beta);
  }
  return qq;
}

/* Along p as it was given; 0: nothing moves that way. */
static double go_on(const sni_cg *cg, double *x) {
  for (int i = 0; i < cg->n; i++) {
    cg->z[i] = cg->p[i];
  }
  cg->mul(cg->user, cg->z, cg->w);
  const double qq = turn(cg, 0);
  if (qq > 0) {
    go(cg, qq, x);
  }
  return qq;
}

/* z = r, scaled; w = A z; p and q = A p follow them, q across the q before. */
int sni_cr_run(const sni_cg *cg, double *x) {
  const int n = cg->n;
  double qq = 0;
  for (int k = 0;; k++) {
    if (!(sni_largest(n, cg->r) > cg->precision) || k == cg->iterations ||
        (k > 0 && cg->late && cg->late(cg->user))) {
      return k;
    }
    if (k == 0 && cg->begun) {
      qq = go_on(cg, x);
    }
    for (int i = 0; i < n; i++) {
      cg->z[i] = scaled(cg, i, cg->r[i]);
    }
    cg->mul(cg->user, cg->z, cg->w);
    double zw = 0, wq = 0;
    for (int i = 0; i < n; i++) {
      zw += cg->z[i] * cg->w[i];
      wq += qq > 0 ? scaled(cg, i, cg->w[i] * cg->q[i]) : 0;
    }
    qq = turn(cg, qq > 0 ? -wq / qq : 0);
    if (!(zw > 0) || !(qq > 0)) {
      return k; /* the least squares are reached, or what is left is rounding */
    }
    go(cg, qq, x);
  }
}
