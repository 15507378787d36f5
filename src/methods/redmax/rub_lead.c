/* rub_lead.c: friction of a step whose rates have no part of the last one's in them.
 *
 * With inertia: projected, bodies turn on after friction has said what slips: a step ends with
 * rates that are h times that, c(q, qd), ahead of what it saw, and the next one begins with them.
 * Not so the parts of an extrapolated step, which begin with what is true: what begins to slip
 * would be taken to slip backwards by h c, and stopped, however short the steps; and what is drawn
 * outwards would stick for ever.  So friction sees rates that are ahead by the lead h c; then what
 * that has come to is taken away again, but not from what sticks or is pressed: with A and the rows
 * G of the step, and rows T of what sticks,
 *
 *     A d = h M c - G^T lambda - T^T y     G d = 0, T d = 0
 *
 * What slips then goes on as it would without friction in the limit of none, and bodies turn on
 * once. */
#include "linear/vector.h"
#include "math/dense.h"
#include "methods/redmax/rub.h"

#include <string.h>

/* What is left of a row beside the others, if it has anything to say. */
#define LEFT 1e-9

int sni_rubbing_turn_on(sni_rubbing *r, double t, double h, const double *q, double *qd) {
  const sni_aba_in in = sni_dynamics_masses(r->s->d);
  sni_rows *rows = r->s->d->rows;
  int bad = sni_rubbing_coast_unbound(r, &in);
  if (bad < 0 && rows) {
    bad = sni_rows_coast(rows, t, t, q, qd, r->column);
  }
  if (bad >= 0) {
    return bad;
  }
  if (rows) { /* what bends the way of rows is none of the rates here */
    for (int i = 0; i < rows->nrow; i++) {
      rows->rhs[i] = rows->row[i].one_sided ? SNI_LET_GO : 0;
    }
    sni_rows_correct(rows, rows->rhs, r->column);
  }
  for (int k = 0; k < r->s->t->nv; k++) {
    r->lead[k] = h * r->column[k];
    qd[k] += r->lead[k];
  }
  return -1;
}

/* Momenta of the lead. */
static void find_momenta(sni_rubbing *r, double *b) {
  sni_system *s = r->s;
  const sni_dynamics *d = s->d;
  sni_J_mul_world(s->t, &s->d->w, r->lead);
  for (int i = 0; i < s->t->nbody; i++) {
    s->f[i] = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
  }
  sni_system_project(s, s->f, b);
  sni_system_add_armature(s, r->lead, b);
}

/* Does the k-th row of the program hold? */
static bool holds(const sni_rubbing *r, int k) {
  return r->which[k] < r->m->nslide ? r->stuck[r->which[k]] : r->sticks[k];
}

/* What holds stays as it is. */
static void weld(sni_rubbing *r) {
  const size_t nv = (size_t)r->s->t->nv, capacity = (size_t)r->capacity;
  double *A = r->other.S, *full = r->share, *miss = r->share + r->n, *y = r->drawn;
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    if (holds(r, k)) {
      r->kept[n++] = k;
    }
  }
  sni_J_mul_world(r->s->t, &r->s->d->w, r->lead);
  for (int i = 0; i < n; i++) {
    const size_t at = (size_t)r->kept[i];
    miss[i] = sni_row_mul(sni_rubbing_row(r, r->which[at]), &r->s->d->w, r->lead);
    full[i] = r->S[at * capacity + at];
    for (int j = 0; j <= i; j++) { /* what is kept is in order */
      const double S = r->S[at * capacity + (size_t)r->kept[j]];
      A[i * n + j] = A[j * n + i] = S;
    }
  }
  sni_solve_singular(n, A, full, LEFT, miss, y);
  for (int i = 0; i < n; i++) {
    const double *Y = r->Y + (size_t)r->column_of[r->which[r->kept[i]]] * nv;
    for (size_t c = 0; c < nv; c++) {
      r->lead[c] -= y[i] * Y[c];
    }
  }
}

sn_status sni_rubbing_weigh_lead(sni_rubbing *r) {
  const size_t bytes = r->rows ? (size_t)r->rows->nrow * sizeof *r->rows->lambda : 0;
  find_momenta(r, r->b);
  for (int k = 0; k < r->m->nslide; k++) { /* what is recorded goes from true rates to true ones */
    r->start[k] -= sni_row_mul(&r->row[k], &r->s->d->w, r->lead);
  }
  if (r->rows) {
    memcpy(r->rows->lambda_before, r->rows->lambda, bytes);
  }
  const sn_status status = r->solve(r->user, r->b, r->none, r->lead);
  if (r->rows) {
    memcpy(r->rows->lambda, r->rows->lambda_before, bytes);
  }
  if (status >= 0) {
    weld(r);
  }
  return status < 0 ? status : SN_OK;
}

void sni_rubbing_fall_back(const sni_rubbing *r, double *v) {
  for (int k = 0; k < r->s->t->nv; k++) {
    v[k] -= r->s->still && r->s->still->coord[k] ? 0 : r->lead[k];
  }
}
