/* rows_approach.c: towards the constraints from far away, where Newton's method would be thrown
 * about: Levenberg's and Marquardt's, in the metric of the masses.  A step d is the least of
 *
 *     d^T M d / 2 + |G d + g|_W^2 / (2 mu):     d = -M^-1 G^T y     (G M^-1 G^T + mu W^-1) y = g
 *
 * with the weights W of the constraints, which rows that depend on others, or contradict them, do
 * not trouble.  y is found by conjugate gradients, to the last digits: of a rough one rounding
 * would decide where all this ends.  How mu goes on is Nielsen's rule, smooth in what a step has
 * gained of what it promised; steps that do not come nearer are taken back, and mu grows.  Nothing
 * here depends on who solves, nor on which way the axes of the world point. */
#include "dynamics/rows.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 300, CG_TURNS = 20, CG_MAX = 3000, STALLS_MAX = 12 };
#define LEFT     1e-13 /* of the residual, or of a centimetre, when y is found */
#define SMALL    1e-4  /* the square of that                                  */
#define STRIDE   0.3   /* rad or m: the longest step of a joint               */
#define GAIN     1e-4  /* a step that leaves more than 1 - GAIN stalls        */
#define MU       1e-2  /* of G M^-1 G^T, at first; less where gaps are small  */
#define MU_LESS  0.25
#define MU_LEAST 1e-5 /* while gaps are wide: digits are lost with less */
#define MU_MORE  8

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
  const double enough = LEFT * LEFT * fmax(rho, SMALL);
  for (int k = 0; k < CG_MAX && k < CG_TURNS * r->nrow && rho > enough; k++) {
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

/* The longest way of a joint, by its twist, which does not ask for axes; INFINITY: there is none.
 */
static double longest(const sni_dynamics *d, const double *step) {
  const sni_tree *t = &d->m->tree;
  double most = 0;
  for (int i = 0; i < t->nbody; i++) {
    sn_vec6 twist = {0};
    for (int j = t->vadr[i]; j < t->vadr[i + 1]; j++) {
      twist = sn_vec6_addscaled(twist, step[j], sni_lane6_vec6(d->w.S[j]));
    }
    const double way = fmax(sn_vec3_norm(twist.w), sn_vec3_norm(twist.v));
    most = way <= most ? most : isfinite(way) ? way : INFINITY;
  }
  return most;
}

/* q -= part step, and balls by as much as that turns them: whatever vector stands for how they are
 * turned, they go the same way. */
static void move(const sni_tree *t, double part, const double *step, double *q) {
  for (int j = 0, k = 0; j < t->nv;) {
    if (k < t->nball && j == t->vadr[t->ball[k].body] + t->ball[k].first) {
      const sn_vec3 r = {q[j], q[j + 1], q[j + 2]}, rd = {step[j], step[j + 1], step[j + 2]};
      sni_so3_turn(q + j, sn_mat3_mul_vec(sn_so3_jacobian(r), sn_vec3_scale(rd, -part)));
      j += 3;
      k++;
    } else {
      q[j] -= part * step[j];
      j++;
    }
  }
}

/* What a part of that step leaves of the squares, to first order: r->y has been found with mu. */
static double squares_ahead(const sni_rows *r, double part, double mu) {
  double sum = 0;
  for (int i = 0; i < r->nrow; i++) {
    const double W = weight_of(r, i), left = (1 - part) * r->row[i].g + part * mu / W * r->y[i];
    sum += counts(r, i) ? W * left * left : 0;
  }
  return sum;
}

static double go_on(sni_rows *r, double t, double t_ref, double enough, double *q,
                    const double *qd) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = sni_dynamics_masses(d);
  const int nv = d->m->tree.nv;
  const double first = look(r, t, t_ref, q, qd);
  double part = MU * fmin(1, first), squares = first;
  int stalls = 0, worst;
  for (int k = 0; k < STEPS_MAX && stalls < STALLS_MAX; k++) {
    if (!(sni_rows_gap(r, &worst) > enough) || sni_factorise(&d->m->tree, &in, &d->w) >= 0) {
      break;
    }
    double size = 0;
    find_step(r, part, &size);
    const double most = fmax(longest(d, r->step), STRIDE);
    if (!isfinite(most)) {
      break;
    }
    const double promised = squares - squares_ahead(r, STRIDE / most, part * size);
    memcpy(r->q_before, q, (size_t)nv * sizeof *q);
    move(&d->m->tree, STRIDE / most, r->step, q);
    const double now = look(r, t, t_ref, q, qd);
    stalls = now < (1 - GAIN) * squares ? 0 : stalls + 1;
    if (now < squares) {
      const double kept = (squares - now) / promised, off = 2 * kept - 1;
      squares = now;
      part = fmax(part * fmax(MU_LESS, 1 - off * off * off), MU_LEAST * fmin(1, sqrt(squares)));
    } else {
      memcpy(q, r->q_before, (size_t)nv * sizeof *q);
      look(r, t, t_ref, q, qd);
      part *= MU_MORE;
    }
  }
  return sni_rows_gap(r, &worst);
}

double sni_rows_approach(sni_rows *r, double t, double t_ref, double enough, double *q,
                         const double *qd) {
  r->steep = true;
  r->seen = false;
  const double gap = go_on(r, t, t_ref, enough, q, qd);
  r->steep = false;
  r->seen = false;
  return gap;
}
