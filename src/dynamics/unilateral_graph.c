/* unilateral_graph.c: which rows of a graph push. */
#include "dynamics/unilateral_parts.h"

#include <string.h>

/* Rows on the wrong side: in and pulling, or out and broken. */
static bool is_wrong(const sni_rows *r, const double *c, int i, double small_v,
                     double small_lambda) {
  const sni_unilateral *u = &r->u;
  if (!sni_unilateral_is_free(r, i)) {
    return false;
  }
  return u->in[i] ? c[i] == SNI_LET_GO || r->lambda[i] > small_lambda : u->v[i] < c[i] - small_v;
}

static sn_status try_set(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                         double *residual) {
  sni_unilateral *u = &r->u;
  for (int i = 0; i < r->nrow; i++) {
    u->aim[i] = u->in[i] && c[i] != SNI_LET_GO ? c[i] : 0;
  }
  if (!u->fresh) {
    sni_kkt_set_rows(r->kkt, r);
    const sn_status status = sni_kkt_factorise(r->kkt, b, u->aim, bad);
    if (status < 0) {
      return status;
    }
    u->fresh = true;
  }
  const sn_status status = sni_kkt_solve(r->kkt, b, u->aim, x, r->lambda, residual);
  sni_rows_mul(r, x, u->v);
  return status;
}

/* What counts as nothing, of rates and of forces. */
typedef struct smallness {
  double v, lambda;
} smallness;

static smallness small_of(const sni_rows *r, const double *c) {
  return (smallness){
      SNI_EXACT * fmax(sni_unilateral_largest(r->nrow, r->u.v), sni_unilateral_largest(r->nrow, c)),
      SNI_EXACT * sni_unilateral_largest(r->nrow, r->lambda)};
}

/* Rows that depend on others are in, and broken: no set that they are all in will do. */
static bool is_overfull(const sni_rows *r, const double *c, double small) {
  const sni_unilateral *u = &r->u;
  for (int i = 0; i < r->nrow; i++) {
    const double v = u->v[i] - u->soft[i] * r->lambda[i];
    if (u->in[i] && sni_unilateral_is_free(r, i) && v < c[i] - fmax(SNI_AGREES, 1e6 * small)) {
      return true;
    }
  }
  return false;
}

/* All rows that are wrong change sides, as long as they become fewer: that takes few turns, where
 * it ends. */
static sn_status solve_by_turns(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                                double *residual, bool *ended) {
  sni_unilateral *u = &r->u;
  const int usual = sni_kkt_takes_soft(r->kkt) ? 2 : 8; /* there is no way through the inside */
  int least = r->nrow + 1, patience = usual;
  *ended = false;
  while (patience > 0) {
    const sn_status status = try_set(r, b, c, x, bad, residual);
    if (status < 0) {
      return status;
    }
    const smallness small = small_of(r, c);
    int wrong = 0;
    for (int i = 0; i < r->nrow; i++) {
      wrong += is_wrong(r, c, i, small.v, small.lambda);
    }
    if (wrong == 0) {
      *ended = status == SN_OK && !is_overfull(r, c, small.v);
      return status;
    }
    patience = wrong < least ? usual : patience - 1;
    least = wrong < least ? wrong : least;
    for (int i = 0; i < r->nrow; i++) {
      if (is_wrong(r, c, i, small.v, small.lambda)) {
        u->in[i] = !u->in[i];
      }
    }
    u->fresh = false;
  }
  return SN_NOT_CONVERGED;
}

/* Rows that depend on each other have no one set: then what the way through the inside leads to is
 * the solution, or else the set that it leads to gives it with all its digits. */
static sn_status solve_inside(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                              double *residual, bool *found) {
  sni_unilateral *u = &r->u;
  const size_t nx = (size_t)r->d->m->tree.nv * sizeof *x, nl = (size_t)r->nrow * sizeof *r->lambda;
  const sn_status status = sni_unilateral_inside(r, b, c, x, bad, found);
  if (status < 0 || !*found) {
    return status;
  }
  memcpy(u->start, x, nx);
  memcpy(u->free, r->lambda, nl);
  bool exact;
  if (solve_by_turns(r, b, c, x, bad, residual, &exact) < 0 || !exact) {
    memcpy(x, u->start, nx);
    memcpy(r->lambda, u->free, nl);
    u->fresh = false;
    *residual = 0;
  }
  return SN_OK;
}

sn_status sni_unilateral_solve(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                               double *residual) {
  sni_unilateral *u = &r->u;
  for (int i = 0; i < r->nrow; i++) {
    if (u->in[i] && c[i] == SNI_LET_GO) {
      u->in[i] = u->fresh = false;
    }
  }
  bool ended;
  sn_status status = solve_by_turns(r, b, c, x, bad, residual, &ended);
  if (status >= 0 && !ended && sni_kkt_takes_soft(r->kkt)) {
    status = sni_unilateral_inside(r, b, c, x, bad, NULL);
    status = status < 0 ? status : solve_by_turns(r, b, c, x, bad, residual, &ended);
    if (status >= 0 && !ended) {
      status = solve_inside(r, b, c, x, bad, residual, &ended);
    }
  }
  if (status >= 0 && !ended) {
    *residual = 0;
    status = sni_unilateral_last(r, b, c, x, bad);
  }
  return status;
}
