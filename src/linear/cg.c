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

/* Has x so much energy more? */
static void count(const sni_cg *cg, double energy) {
  if (cg->work) {
    *cg->work += energy;
  }
}

/* As far along `first` as the error falls; returns its curvature, 0: nothing moves that way. */
static double begin(const sni_cg *cg, double *x) {
  cg->mul(cg->user, cg->first, cg->A_first);
  const double curvature = sni_dot(cg->n, cg->first, cg->A_first);
  if (!(curvature > 0)) {
    return 0;
  }
  const double step = sni_dot(cg->n, cg->first, cg->r) / curvature;
  step_along(cg, step, cg->first, cg->A_first, x);
  count(cg, step * step * curvature);
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

/* Is what is left of r little against x? */
static bool is_little(const sni_cg *cg, const double *x) {
  if (!cg->work || !(*cg->work > 0)) {
    return true;
  }
  double sum = 0;
  for (int i = 0; i < cg->n; i++) {
    sum += fabs(x[i] * cg->r[i]);
  }
  return !(sum > SNI_CG_LEAVES * sqrt(*cg->work * fmax(*cg->work, cg->worth)));
}

/* met: the first iteration after which r was within the precision; -1: none yet.  It may rise again
 * on the way to what more is asked for, so nobody sets out who might not get there. */
static bool is_enough(const sni_cg *cg, const double *x, int k, int *met) {
  if (sni_largest(cg->n, cg->r) > cg->precision) {
    return false;
  }
  *met = *met < 0 ? k : *met;
  const int most = SNI_CG_TIMES * *met + SNI_CG_SOME;
  return k >= most || most > cg->iterations || is_little(cg, x);
}

int sni_cg_run(const sni_cg *cg, double *x) {
  const int n = cg->n;
  const double first = cg->first ? begin(cg, x) : 0;
  double rz = 0;
  for (int k = 0, met = -1;; k++) {
    if (is_enough(cg, x, k, &met) || k == cg->iterations ||
        (k > 0 && cg->late && cg->late(cg->user))) {
      return k;
    }
    const double rz_new = measure(cg), beta = k > 0 ? rz_new / rz : 0;
    rz = rz_new;
    turn_along(cg, first, beta);
    cg->mul(cg->user, cg->p, cg->q);
    const double curvature = sni_dot(n, cg->p, cg->q);
    if (!(curvature > 0)) {
      return k; /* nothing moves that way, or it is rounding */
    }
    step_along(cg, rz / curvature, cg->p, cg->q, x);
    count(cg, rz * rz / curvature);
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
