/* solve_full.c: `full-dense` and `full-iterative`: the constraints of the whole mechanism at once
 * [FA 6], by a Cholesky factor or by conjugate gradients: what `structured` is compared with [FA 4,
 * Table 1].  The rates of the joints are read out of the motions of the bodies. */
#include "linear/cg.h"
#include "linear/cholesky.h"
#include "methods/structured/full.h"

#include <stdlib.h>
#include <string.h>

enum { TIGHTER = 6 }; /* times that more is asked of the rows */

/* ---- iterative ---- */

static sn_status iterative_build(sni_ties *t, void **own, sn_error *err) {
  return sni_full_build(t, (sni_full **)own, err);
}

static void iterative_free(void **own) {
  sni_full_free((sni_full **)own);
}

static sn_status iterative_factorise(sni_ties *t, void *own, const double *b, int *bad) {
  (void)b;
  (void)t;
  *bad = sni_full_fill(own);
  return *bad >= 0 ? SN_E_SINGULAR : SN_OK;
}

/* q = (J M^-1 J^T + E) p in three sparse products; f is 0. */
static void mul(void *user, const double *p, double *q) {
  sni_full *u = user;
  sni_full_move(u, p);
  for (int k = 0; k < u->nrow; k++) {
    q[k] = u->soft[k] * p[k] - sni_tie_dot(&u->row[k], u->phi);
  }
}

static bool late(void *user) {
  return sni_ties_late(((const sni_full *)user)->t);
}

/* r, for the forces as they are; f is 0 then. */
static void iterative_look(sni_full *u, const double *b) {
  sni_full_load(u, b);
  sni_full_move(u, u->lambda);
  sni_full_leave(u, u->lambda, u->r);
  memset(u->f, 0, (size_t)u->t->d->m->tree.nbody * sizeof *u->f);
}

/* Joints that are off by a little do work, in every step.  The multiple of x that is best has none
 * all in all, and is as near to what is asked, or is not taken. */
static void take_best(sni_ties *t, const double *b, double *x) {
  const size_t bytes = (size_t)t->d->m->tree.nv * sizeof *x;
  const double off = t->residual;
  if (!b || off > t->precision || t->system->npair > 0) {
    return;
  }
  memcpy(t->y, x, bytes);
  sni_ties_take_best(t, b, x);
  sni_ties_check(t, x);
  if (t->residual > t->precision) {
    memcpy(x, t->y, bytes);
    sni_ties_check(t, x);
  }
  t->residual = off <= t->residual ? t->residual : off;
}

/* Joints of the tree that are off by a little each are off by much at the end of a branch, where
 * the loops are: what is asked of all rows falls until these are met. */
static void iterative_solve(sni_ties *t, void *own, const double *b, double *x) {
  sni_full *u = own;
  double precision = t->precision, before = INFINITY;
  memset(u->lambda, 0, (size_t)u->nrow * sizeof *u->lambda);
  t->spent = 0;
  for (int k = 0; k <= TIGHTER; k++) {
    iterative_look(u, b);
    const sni_cg cg = {.n = u->nrow,
                       .user = u,
                       .mul = mul,
                       .late = late,
                       .inverse = u->inverse,
                       .precision = precision,
                       .iterations = t->iterations - t->spent,
                       .r = u->r,
                       .p = u->p,
                       .q = u->q};
    t->spent += sni_cg_run(&cg, u->lambda);
    sni_full_load(u, b);
    sni_full_move(u, u->lambda);
    sni_full_read(u, u->lambda, x);
    sni_full_judge(u, u->lambda);
    if (!(t->residual > t->precision) || !(t->residual < 0.5 * before) || late(u)) {
      break;
    }
    before = k > 0 ? t->residual : INFINITY;
    precision *= 0.1;
  }
  if (t->residual > t->precision && t->stage == SNI_TIES_CLOSE) {
    sni_full_take_share(u, x);
  } else if (t->stage != SNI_TIES_CLOSE) {
    take_best(t, b, x);
  }
}

static void iterative_make_do(sni_ties *t, void *own, const double *b, double *x) {
  (void)own;
  sni_ties_bound(t, b, x);
}

const sni_tie_solver sni_ties_full_iterative = {.name = "full-iterative",
                                                .guided = true,
                                                .build = iterative_build,
                                                .free = iterative_free,
                                                .factorise = iterative_factorise,
                                                .solve = iterative_solve,
                                                .make_do = iterative_make_do};

/* ---- dense ---- */

typedef struct dense {
  sni_full *full;
  sni_chol *chol;
} dense;

static void dense_free(void **own) {
  dense *d = *own;
  if (d) {
    sni_full_free(&d->full);
    sni_chol_free(&d->chol);
  }
  free(d);
  *own = NULL;
}

static sn_status dense_build(sni_ties *t, void **own, sn_error *err) {
  dense *d = calloc(1, sizeof *d);
  *own = d;
  if (!d) {
    return sni_fail(err, SN_E_MEMORY, "no memory for the solver full-dense");
  }
  sn_status status = sni_full_build(t, &d->full, err);
  status = status ? status : sni_chol_build(d->full->capacity, &d->chol, err);
  if (status) {
    dense_free(own);
  }
  return status;
}

static void dense_fill(sni_ties *t, void *own) {
  dense *d = own;
  const sni_full *u = d->full;
  memcpy(u->soft + u->ntree, t->soft, (size_t)t->ntie * sizeof *u->soft);
  sni_chol_use(d->chol, u->nrow);
  sni_chol_clear(d->chol);
  for (int i = 0; i < t->d->m->tree.nbody; i++) {
    for (int a = u->first[i]; a < u->first[i + 1]; a++) {
      const int row = u->list[a].row;
      const sni_lane6 y = sni_full_inverse(u, i, *u->list[a].p);
      for (int c = u->first[i]; c < u->first[i + 1]; c++) {
        const int column = u->list[c].row;
        if (column <= row) {
          *sni_chol_at(d->chol, row, column) += sni_lane6_dot(*u->list[c].p, y);
        }
      }
    }
  }
  for (int k = 0; k < u->nrow; k++) {
    *sni_chol_at(d->chol, k, k) += u->soft[k];
  }
}

static sn_status dense_factorise(sni_ties *t, void *own, const double *b, int *bad) {
  (void)b;
  dense *d = own;
  *bad = sni_full_fill(d->full);
  return *bad < 0 && sni_ties_cholesky(t, d->chol, dense_fill, d) ? SN_OK : SN_E_SINGULAR;
}

static void dense_solve(sni_ties *t, void *own, const double *b, double *x) {
  dense *d = own;
  sni_full *u = d->full;
  memset(u->lambda, 0, (size_t)u->nrow * sizeof *u->lambda);
  sni_full_load(u, b);
  sni_full_move(u, u->lambda);
  sni_full_leave(u, u->lambda, u->lambda);
  sni_chol_solve(d->chol, u->lambda, u->lambda);
  sni_full_move(u, u->lambda);
  t->spent = 0;
  sni_full_read(u, u->lambda, x);
}

const sni_tie_solver sni_ties_full_dense = {.name = "full-dense",
                                            .build = dense_build,
                                            .free = dense_free,
                                            .factorise = dense_factorise,
                                            .solve = dense_solve};
