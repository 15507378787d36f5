/* rows_approach.c: towards the constraints from far away, where Newton's method would be thrown
 * about: Levenberg's and Marquardt's, in the metric of the masses.  A step d is the least of
 *
 *     d^T M d / 2 + |G d + g|_W^2 / (2 mu):     d = -M^-1 G^T y     (G M^-1 G^T + mu W^-1) y = g
 *
 * with the weights W of the constraints, which rows that depend on others, or contradict them, do
 * not trouble.  y is found roughly, by conjugate gradients.  Steps that do not come nearer are
 * taken back, and mu grows. */
#include "dynamics/rows.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 300, CG_MAX = 300, STALLS_MAX = 12 };
#define ROUGH   1e-3 /* what is left of the residual of y           */
#define STRIDE  0.3  /* rad or m: the longest step of a coordinate   */
#define GAIN    1e-4 /* a step that leaves more than 1 - GAIN stalls */
#define MU      1e-2 /* of G M^-1 G^T, at first                      */
#define MU_LESS 0.25
#define MU_MORE 8

/* One-sided rows take part where they are violated, and hard. */
static bool counts(const sni_rows *r, int i) {
  return !r->row[i].one_sided || (r->row[i].g < 0 && r->row[i].stop.stiffness == 0);
}

static double weight_of(const sni_rows *r, int i) {
  return r->constraint[r->of[i]].weight;
}

static double dot(const sni_rows *r, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < r->nrow; i++) {
    sum += counts(r, i) ? a[i] * b[i] : 0;
  }
  return sum;
}

/* x = M^-1 G^T y */
static void spread(sni_rows *r, const double *y, double *x) {
  memset(r->column, 0, (size_t)r->d->m->tree.nv * sizeof *r->column);
  for (int i = 0; i < r->nrow; i++) {
    if (counts(r, i)) {
      sni_row_add_column(&r->row[i], r->d, y[i], r->column);
    }
  }
  sni_Minv_mul(&r->d->m->tree, &r->d->w, r->column, x);
}

double sni_rows_squares(const sni_rows *r) {
  double sum = 0;
  for (int i = 0; i < r->nrow; i++) {
    sum += counts(r, i) ? weight_of(r, i) * r->row[i].g * r->row[i].g : 0;
  }
  return sum;
}

static double look(sni_rows *r, double t, double t_ref, const double *q, const double *qd) {
  sni_dynamics_kinematics(r->d, q, qd);
  sni_rows_eval_poses(r, t, t_ref, q, qd);
  return sni_rows_squares(r);
}

/* y into r->y, and its step into r->step.  *size: of G M^-1 G^T, along g. */
static void find_step(sni_rows *r, double part, double *size) {
  double *left = r->rhs, *p = r->lambda, *Ap = r->lambda_before, mu = 0;
  for (int i = 0; i < r->nrow; i++) {
    r->y[i] = 0;
    p[i] = left[i] = r->row[i].g;
  }
  double rho = dot(r, left, left);
  const double enough = ROUGH * ROUGH * rho;
  for (int k = 0; k < CG_MAX && k < 2 * r->nrow && rho > enough; k++) {
    spread(r, p, r->step);
    sni_rows_mul(r, r->step, Ap);
    if (k == 0) {
      *size = dot(r, p, Ap) / rho;
      mu = part * *size;
    }
    for (int i = 0; i < r->nrow; i++) {
      Ap[i] += mu / weight_of(r, i) * p[i];
    }
    const double along = dot(r, p, Ap);
    if (!(along > 0)) {
      break;
    }
    const double a = rho / along, before = rho;
    for (int i = 0; i < r->nrow; i++) {
      r->y[i] += a * p[i];
      left[i] -= a * Ap[i];
    }
    rho = dot(r, left, left);
    for (int i = 0; i < r->nrow; i++) {
      p[i] = left[i] + rho / before * p[i];
    }
  }
  spread(r, r->y, r->step);
}

double sni_rows_approach(sni_rows *r, double t, double t_ref, double enough, double *q,
                         const double *qd) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = sni_dynamics_masses(d);
  const int nv = d->m->tree.nv;
  double part = MU, squares = look(r, t, t_ref, q, qd);
  int stalls = 0, worst;
  for (int k = 0; k < STEPS_MAX && stalls < STALLS_MAX; k++) {
    if (!(sni_rows_gap(r, &worst) > enough) || sni_factorise(&d->m->tree, &in, &d->w) >= 0) {
      break;
    }
    double size = 0, most = STRIDE;
    find_step(r, part, &size);
    for (int j = 0; j < nv; j++) {
      most = fmax(most, fabs(r->step[j]));
    }
    if (!isfinite(most)) {
      break;
    }
    memcpy(r->q_before, q, (size_t)nv * sizeof *q);
    for (int j = 0; j < nv; j++) {
      q[j] -= STRIDE / most * r->step[j];
    }
    const double now = look(r, t, t_ref, q, qd);
    stalls = now < (1 - GAIN) * squares ? 0 : stalls + 1;
    if (now < squares) {
      squares = now;
      part *= MU_LESS;
    } else {
      memcpy(q, r->q_before, (size_t)nv * sizeof *q);
      look(r, t, t_ref, q, qd);
      part *= MU_MORE;
    }
  }
  return sni_rows_gap(r, &worst);
}
