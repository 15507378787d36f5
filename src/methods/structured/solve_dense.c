/* solve_dense.c: `structured-dense`: the reduced constraint matrix itself, a response of the tree
 * for each column, and its Cholesky factor [FA 4].  Ties that depend on others have the
 * pivots that E gives them: where these are lost in rounding, as heavy ones may be, all give way
 * by more. */
#include "linear/cg.h"
#include "linear/cholesky.h"
#include "methods/structured/ties.h"

#include <float.h>
#include <string.h>

#define SOFTER 10
enum { TRIES = 6 };

bool sni_ties_cholesky(sni_ties *t, sni_chol *c, void (*fill)(sni_ties *t, void *own), void *own) {
  fill(t, own);
  bool done = sni_chol_factorise(c, DBL_EPSILON, NULL);
  for (int k = 0; !done && k < TRIES; k++) {
    sni_ties_soften(t, SOFTER);
    fill(t, own);
    done = sni_chol_factorise(c, DBL_EPSILON, NULL);
  }
  return done;
}

static sn_status dense_build(sni_ties *t, void **own, sn_error *err) {
  return sni_chol_build(t->capacity, (sni_chol **)own, err);
}

static void dense_free(void **own) {
  sni_chol_free((sni_chol **)own);
}

static void dense_fill(sni_ties *t, void *own) {
  sni_chol *c = own;
  sni_chol_use(c, t->ntie);
  sni_chol_clear(c);
  memset(t->p, 0, (size_t)t->ntie * sizeof *t->p);
  for (int j = 0; j < t->ntie; j++) {
    t->p[j] = 1;
    sni_ties_mul_transposed(t, t->p, t->y);
    sni_ties_measure(t, t->y, t->q);
    t->p[j] = 0;
    for (int i = j; i < t->ntie; i++) {
      *sni_chol_at(c, i, j) = t->q[i];
    }
    *sni_chol_at(c, j, j) += t->soft[j];
  }
}

static sn_status dense_factorise(sni_ties *t, void *own, const double *b, int *bad) {
  (void)b;
  *bad = sni_factorise(&t->d->m->tree, &t->in, &t->d->w);
  return *bad < 0 && sni_ties_cholesky(t, own, dense_fill, own) ? SN_OK : SN_E_SINGULAR;
}

static void dense_solve(sni_ties *t, void *own, const double *b, double *x) {
  sni_chol *c = own;
  memset(t->lambda, 0, (size_t)t->ntie * sizeof *t->lambda);
  sni_ties_respond(t, b, t->lambda, x);
  sni_ties_leave(t, x, t->lambda, t->r);
  memcpy(t->lambda, t->r, (size_t)t->ntie * sizeof *t->lambda);
  sni_chol_solve(c, t->lambda, t->lambda);
  sni_ties_respond(t, b, t->lambda, x);
  t->spent = 0;
  sni_ties_check(t, x);
}

const sni_tie_solver sni_ties_structured_dense = {.name = "structured-dense",
                                                  .build = dense_build,
                                                  .free = dense_free,
                                                  .factorise = dense_factorise,
                                                  .solve = dense_solve};
