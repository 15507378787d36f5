/* solve_structured.c: loops by conjugate gradients on the reduced constraint matrix [FA 3].
 *
 * One response of the tree a product [FA 3.3, with the force on the bodies]: it solves
 *
 *     [ M    J_a^T ] [ phi ]   [ J_l^T f ]
 *     [ J_a  0     ] [ mu  ] = [ 0       ]                                  [FA 7]
 *
 * whose block LDL^T, with the directions in which a joint moves taken first and the others together
 * with the rows across them, is the recursion of dynamics/aba.c: a body without mass of its own has
 * a pivot there, and phi meets J_a to the last bit since what is solved for are rates of joints.
 * These are added up along the way, so iterations may end at any time. */
#include "linear/cg.h"
#include "linear/vector.h"
#include "methods/structured/ties.h"

#include <string.h>

enum { RESTARTS = 2 }; /* where rounding has led the recurrence of r away from the truth */

static sn_status structured_build(sni_ties *t, void **own, sn_error *err) {
  (void)t;
  (void)err;
  *own = NULL;
  return SN_OK;
}

static void structured_free(void **own) {
  *own = NULL;
}

static sn_status structured_factorise(sni_ties *t, void *own, const double *b, int *bad) {
  (void)b;
  (void)own;
  *bad = sni_factorise(&t->d->m->tree, &t->in, &t->d->w);
  return *bad >= 0 ? SN_E_SINGULAR : SN_OK;
}

/* q = (G A^-1 G^T + E) p */
static void mul(void *user, const double *p, double *q) {
  const sni_ties *t = user;
  sni_ties_mul_transposed(t, p, t->y);
  sni_ties_measure(t, t->y, q);
  for (int i = 0; i < t->ntie; i++) {
    q[i] += t->soft[i] * p[i];
  }
}

static void move(const sni_ties *t, double step, const double *y) {
  for (int k = 0; k < t->d->m->tree.nv; k++) {
    t->x[k] -= step * y[k];
  }
}

static void follow(void *user, double step) {
  const sni_ties *t = user;
  move(t, step, t->y);
}

static void follow_turned(void *user, double step) {
  const sni_ties *t = user;
  move(t, step, t->yp);
}

static void turn(void *user, double beta) {
  const sni_ties *t = user;
  for (int k = 0; k < t->d->m->tree.nv; k++) {
    t->yp[k] = t->y[k] + (beta != 0 ? beta * t->yp[k] : 0);
  }
}

bool sni_ties_late(void *user) {
  const sni_ties *t = user;
  return t->deadline != 0 && sni_clock() >= t->deadline;
}

/* Gradients take a guess of lambda as their first direction, and begin without forces: so rows do
 * no work on what is left of their rates, lambda^T r = 0, wherever the iterations end, and no
 * energy comes of that (cut.c).  True: there is a guess, in t->z. */
static bool begin_without(sni_ties *t) {
  if (t->squares || t->from_there || sni_largest(t->ntie, t->lambda) == 0) {
    return false;
  }
  memcpy(t->z, t->lambda, (size_t)t->ntie * sizeof *t->z);
  memset(t->lambda, 0, (size_t)t->ntie * sizeof *t->lambda);
  return true;
}

static void structured_solve(sni_ties *t, void *own, const double *b, double *x) {
  (void)own;
  t->x = x;
  t->spent = 0;
  bool guess = begin_without(t);
  sni_ties_respond(t, b, t->lambda, x);
  sni_ties_leave(t, x, t->lambda, t->r);
  t->counted = !t->squares && !t->from_there;
  if (t->counted) {
    memcpy(t->free, t->r, (size_t)t->ntie * sizeof *t->r);
  }
  for (int k = 0; k <= RESTARTS; k++) {
    const sni_cg cg = {.n = t->ntie,
                       .user = t,
                       .mul = mul,
                       .follow = t->squares ? follow_turned : follow,
                       .turn = turn,
                       .late = sni_ties_late,
                       .inverse = t->inverse,
                       .precision = t->precision,
                       .iterations = t->iterations - t->spent,
                       .r = t->r,
                       .p = t->p,
                       .q = t->q,
                       .z = t->z,
                       .w = t->w,
                       .first = guess ? t->z : NULL,
                       .A_first = t->w,
                       .enough = t->counted ? sni_ties_is_little : NULL,
                       .keep = sni_ties_keep,
                       .go_back = sni_ties_go_back,
                       .begun = t->begun && k == 0};
    const int spent = t->squares ? sni_cr_run(&cg, t->lambda) : sni_cg_run(&cg, t->lambda);
    t->spent += spent;
    if (spent > 0 || k == 0) {
      sni_ties_check(t, x);
    }
    if (spent == 0 || !(t->residual > t->precision) || sni_ties_late(t)) {
      return;
    }
    guess = !t->squares && !t->from_there;
    memcpy(t->z, t->lambda, (size_t)t->ntie * sizeof *t->z);
  }
}

static void structured_make_do(sni_ties *t, void *own, const double *b, double *x) {
  (void)own;
  sni_ties_take_multiple(t, b, x);
}

const sni_tie_solver sni_ties_structured = {.name = "structured",
                                            .guided = true,
                                            .build = structured_build,
                                            .free = structured_free,
                                            .factorise = structured_factorise,
                                            .solve = structured_solve,
                                            .make_do = structured_make_do,
                                            .damp = sni_ties_damp_springs};
