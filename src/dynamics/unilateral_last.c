/* unilateral_last.c: what no set of rows in the graph solves.
 *
 * Limits that depend on each other, in loops that press themselves: rows go in and out without end,
 * and on the way through the inside digits are lost.  The dual has its answer all the same (qp.h):
 * with the rows that hold both ways in the graph, the others in the dual of that, a solution of the
 * graph for each that matters.  Its memory is taken when it is needed, which is seldom. */
#include "dynamics/unilateral_parts.h"

#include <stdlib.h>
#include <string.h>

/* What is worth trying. */
#define BYTES_MAX ((size_t)1 << 30)

/* The graph without one-sided rows: x with A x + G^T mu = b, G x = 0. */
static sn_status solve_held(void *user, const double *b, double *x) {
  sni_rows *r = user;
  double residual;
  memset(r->u.aim, 0, (size_t)r->nrow * sizeof *r->u.aim);
  const sn_status status = sni_kkt_solve(r->kkt, b, r->u.aim, x, r->lambda_before, &residual);
  return status < 0 ? status : SN_OK;
}

/* The same with b, and what rows that hold both ways are asked for. */
static sn_status solve_all(sni_rows *r, const double *b, const double *c, double *x,
                           double *lambda) {
  double residual;
  for (int i = 0; i < r->nrow; i++) {
    r->u.aim[i] = sni_unilateral_is_free(r, i) ? 0 : c[i];
  }
  return sni_kkt_solve(r->kkt, b, r->u.aim, x, lambda, &residual);
}

/* Once the forces of one-sided rows are known, those of the others, and x once more: other. */
static sn_status finish(sni_rows *r, const double *b, const double *c, double *pushed,
                        double *other) {
  const int nv = r->d->m->tree.nv;
  for (int j = 0; j < nv; j++) {
    pushed[j] = b ? b[j] : 0;
  }
  for (int i = 0; i < r->nrow; i++) {
    if (sni_unilateral_is_free(r, i) && r->lambda[i] != 0) {
      sni_rows_column(r, i, r->column);
      for (int j = 0; j < nv; j++) {
        pushed[j] -= r->lambda[i] * r->column[j];
      }
    }
  }
  const sn_status status = solve_all(r, pushed, c, other, r->lambda_before);
  for (int i = 0; i < r->nrow; i++) {
    r->lambda[i] = sni_unilateral_is_free(r, i) ? r->lambda[i] : r->lambda_before[i];
  }
  return status;
}

/* A row that the others hold cannot be met, nor one of those that hold both ways: as hard as it
 * would have to push, x is not the same when it is found in another way. */
#define ASTRAY 1e-2
static void find_broken(sni_rows *r, const double *c, const double *other) {
  sni_unilateral *u = &r->u;
  sni_rows_mul(r, other, u->v);
  double most = fmax(ASTRAY * sni_unilateral_largest(r->nrow, u->v), SNI_AGREES);
  for (int i = 0; i < r->nrow; i++) {
    const bool both = !sni_unilateral_is_free(r, i);
    const double off = both ? fabs(c[i] - u->v[i]) : c[i] + u->soft[i] * r->lambda[i] - u->v[i];
    if (off > most) {
      most = u->short_of = off;
      u->impossible = i;
    }
  }
}

/* room: 2 nv */
static sn_status solve(sni_rows *r, const double *b, const double *c, double *room, double *x,
                       int *bad) {
  sni_unilateral *u = &r->u;
  for (int i = 0; i < r->nrow; i++) {
    u->in[i] = !sni_unilateral_is_free(r, i);
    u->aim[i] = u->in[i] ? c[i] : 0;
  }
  u->fresh = false;
  sni_kkt_set_rows(r->kkt, r);
  sn_status status = sni_kkt_factorise(r->kkt, b, u->aim, bad);
  status = status < 0 ? status : solve_all(r, b, c, x, r->lambda_before);
  if (status < 0) {
    return status;
  }
  u->count = 0; /* `in` says of rows that hold both ways that nothing is left to do for them */
  u->impossible = -1;
  sni_unilateral_correct(r, c, x);
  double *other = room + r->d->m->tree.nv;
  status = finish(r, b, c, room, other);
  if (status >= 0 && u->impossible < 0) {
    find_broken(r, c, other);
  }
  return status;
}

sn_status sni_unilateral_last(sni_rows *r, const double *b, const double *c, double *x, int *bad) {
  const size_t n = (size_t)r->capacity, nv = (size_t)r->d->m->tree.nv;
  const size_t numbers = n * nv + n * n + 2 * n + 3 * nv, qp = sni_qp_size(r->capacity);
  const size_t bytes = numbers * sizeof(double) + qp;
  double *memory = bytes <= BYTES_MAX ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
  if (!memory) {
    return SN_NOT_CONVERGED;
  }
  const sni_rows before = *r;
  double *at = memory + qp / sizeof(double), *asked, *room;
  sni_qp_place(&r->u.qp, r->capacity, memory);
  r->solve = solve_held;
  r->user = r;
  r->X = at;
  r->u.S = at += n * nv;
  r->y = at += n * n;
  asked = at += n;
  r->column = at += n;
  room = at += nv;
  memcpy(asked, c, (size_t)r->nrow * sizeof *c); /* the caller's may be r->y */
  const sn_status status = solve(r, b, asked, room, x, bad);
  const sni_unilateral found = r->u;
  *r = before;
  r->u.impossible = found.impossible;
  r->u.short_of = found.short_of;
  r->u.fresh = false;
  free(memory);
  return status < 0 ? status : r->u.impossible >= 0 ? SN_NOT_CONVERGED : SN_OK;
}
