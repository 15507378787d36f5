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

/* Rows that contradict each other leave a residual, in one of them or in the other.  Of the limits
 * that push, the one that pushes most is named. */
static void find_impossible(sni_rows *r, const double *c) {
  sni_unilateral *u = &r->u;
  const double small = 1e-6 * fmax(sni_unilateral_largest(r->nrow, u->v),
                                   1e-6 * sni_unilateral_largest(r->nrow, r->lambda));
  double most = 0;
  int pushing = -1;
  u->short_of = small;
  for (int i = 0; i < r->nrow; i++) {
    const bool sided = r->row[i].one_sided;
    if (c[i] == SNI_LET_GO || (sided && !u->in[i] && u->v[i] >= c[i])) {
      continue;
    }
    u->short_of = fmax(u->short_of, fabs(c[i] - u->v[i]));
    if (sided && -r->lambda[i] > most) {
      most = -r->lambda[i];
      pushing = i;
    }
  }
  u->impossible = u->short_of > fmax(small, SNI_AGREES) ? pushing : -1;
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

/* From forces that only push, u->free, and the x that belongs to them, u->start, towards those of
 * the rows that are in, r->lambda and x, as far as none pulls; then those that would are out.
 * False: all the way. */
static bool go_as_far(sni_rows *r, double small, const double *x) {
  sni_unilateral *u = &r->u;
  double part = 1;
  bool blocked = false;
  for (int i = 0; i < r->nrow; i++) {
    if (sni_unilateral_is_free(r, i) && u->in[i] && r->lambda[i] > small) {
      part = fmin(part, u->free[i] / (u->free[i] - r->lambda[i]));
      blocked = true;
    }
  }
  for (int i = 0; i < r->nrow; i++) {
    u->free[i] += part * ((u->in[i] ? r->lambda[i] : 0) - u->free[i]);
    if (blocked && sni_unilateral_is_free(r, i) && u->in[i] && r->lambda[i] > small &&
        u->free[i] >= -small) {
      u->free[i] = 0;
      u->in[i] = u->fresh = false;
    }
  }
  for (int j = 0; j < r->d->m->tree.nv; j++) {
    u->start[j] += part * (x[j] - u->start[j]);
  }
  return blocked;
}

/* Newton's method on the dual, by faces: whoever is broken comes in, whoever would pull stays out
 * on the way.  The dual falls with each step, so that no set comes twice. */
static sn_status solve_by_faces(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                                double *residual) {
  sni_unilateral *u = &r->u;
  bool *first = u->out;
  for (int i = 0; i < r->nrow; i++) { /* from no forces at all towards those of the last set */
    first[i] = u->in[i];
    u->in[i] = !sni_unilateral_is_free(r, i);
  }
  u->fresh = false;
  sn_status status = try_set(r, b, c, x, bad, residual);
  memcpy(u->start, x, (size_t)r->d->m->tree.nv * sizeof *x);
  memcpy(u->free, r->lambda, (size_t)r->nrow * sizeof *u->free);
  if (status >= 0) {
    memcpy(u->in, first, (size_t)r->nrow * sizeof *first);
    u->fresh = false;
    status = try_set(r, b, c, x, bad, residual);
  }
  for (int k = 0; k < 100 + 10 * r->nsided && status >= 0; k++) {
    const smallness small = small_of(r, c);
    if (!go_as_far(r, small.lambda, x)) {
      bool more = false;
      for (int i = 0; i < r->nrow; i++) {
        if (!u->in[i] && is_wrong(r, c, i, small.v, small.lambda)) {
          u->in[i] = more = true;
          u->fresh = false;
        }
      }
      if (!more) {
        return status;
      }
    }
    status = try_set(r, b, c, x, bad, residual);
  }
  return status < 0 ? status : SN_NOT_CONVERGED;
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
      *ended = true;
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
    status = sni_unilateral_inside(r, b, c, x, bad);
    status = status < 0 ? status : solve_by_turns(r, b, c, x, bad, residual, &ended);
  }
  if (status >= 0 && !ended) {
    status = solve_by_faces(r, b, c, x, bad, residual);
  }
  if (status > 0) {
    find_impossible(r, c);
  }
  return status;
}
