/* rub_newton.c: bounds by Newton's method, where taking turns does not lead to them.
 *
 * The program makes friction x of the bounds b, loads follow from x, and bounds G(b) from the
 * loads; b = G(b) is sought.  G is continuous, and bends where something begins to slip or to
 * stick, or where a contact is pressed from the other side.  Between these
 *
 *     dx = what slips goes along with its bound, what sticks with what slips (qp.h)
 *     dF from dx by the same sums as loads have, dG from dF
 *     b += (1 - dG/db)^-1 (G(b) - b)
 *
 * so that loads that friction itself makes, as on guides that nearly jam, are no longer followed in
 * small steps. */
#include "linear/band.h"
#include "methods/redmax/rub.h"

#include <string.h>

/* Whose bound that of the slide k follows: the first one of its disc. */
static bool leads(const sni_rubbing *r, int k) {
  return r->disc_of[k] < 0 || r->disc[r->disc_of[k]].first == k;
}

static double *moves_of(const sni_rubbing *r, int k) {
  return r->moves + (size_t)k * (size_t)sni_rubbing_count(r);
}

void sni_rubbing_note_moves(sni_rubbing *r) {
  const sni_qp *qp = &r->qp;
  double *dx = r->share;
  memset(r->moves, 0, (size_t)r->m->nslide * (size_t)sni_rubbing_count(r) * sizeof *r->moves);
  for (int k = 0; k < r->n; k++) {
    const int i = r->which[k];
    if (i >= r->m->nslide) {
      continue;
    }
    const sni_rub_disc *disc = r->disc_of[i] >= 0 ? &r->disc[r->disc_of[i]] : NULL;
    const int leader = disc ? disc->first : i;
    const bool first = !disc || disc->at == k, slips = disc ? !disc->sticks : qp->side[k] != 0;
    if (!first || !slips || !(r->bound[leader] > 0)) {
      continue;
    }
    const double by = disc ? disc->most / r->bound[leader] : r->s->h;
    sni_qp_move_bound(qp, k, qp->side[k] < 0 ? -by : by, dx);
    sni_rubbing_from_discs(r, dx);
    for (int j = 0; j < r->n; j++) {
      moves_of(r, leader)[r->which[j]] = dx[j];
    }
  }
  for (int i = 0; i < r->m->nslide; i++) { /* what is driven has a part of its bound */
    if (r->held[i] && r->push[i] != 0 && r->bound[i] > 0) {
      const int leader = r->disc_of[i] >= 0 ? r->disc[r->disc_of[i]].first : i;
      moves_of(r, leader)[i] = r->push[i] / r->bound[leader];
    }
  }
  r->newton = true;
}

/* r->dnext: dG for the bound of slide k. */
static void calc_slope(sni_rubbing *r, int k) {
  const int nv = r->s->t->nv, nrow = r->rows ? r->rows->nrow : 0;
  const double *move = moves_of(r, k);
  memset(r->column, 0, (size_t)nv * sizeof *r->column);
  memset(r->dlambda, 0, (size_t)nrow * sizeof *r->dlambda);
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    const int row = i - r->m->nslide;
    if (i < r->m->nslide) {
      r->dforce[i] = move[i] / r->s->h;
    }
    if (move[i] == 0 || r->column_of[i] < 0) {
      continue;
    }
    const double *y = r->Y + (size_t)r->column_of[i] * (size_t)nv;
    const double *lambda = r->lambdas + (size_t)r->column_of[i] * (size_t)nrow;
    for (int c = 0; c < nv; c++) {
      r->column[c] -= move[i] * y[c];
    }
    for (int c = 0; c < nrow; c++) {
      r->dlambda[c] -= move[i] * lambda[c];
    }
    if (row >= 0) {
      r->dlambda[row] += move[i];
    }
  }
  sni_rubbing_answer(r, r->column, r->dlambda, r->dforce, r->dnext);
}

bool sni_rubbing_newton(sni_rubbing *r) {
  const int n = r->m->nslide;
  sni_band A;
  if (!r->newton) {
    return false;
  }
  sni_band_place(&A, n, n - 1, r->slope);
  sni_band_clear(&A);
  for (int k = 0; k < n; k++) {
    const double *move = moves_of(r, k);
    bool any = false;
    for (int i = 0; leads(r, k) && !any && i < sni_rubbing_count(r); i++) {
      any = move[i] != 0;
    }
    sni_band_row(&A, k)[k] += 1;
    if (any) {
      calc_slope(r, k);
    }
    for (int i = 0; any && i < n; i++) {
      sni_band_row(&A, i)[k] -= r->dnext[i];
    }
  }
  double *step = r->dnext;
  for (int k = 0; k < n; k++) {
    step[k] = r->next[k] - r->bound[k];
  }
  if (!sni_band_solve(&A, step)) {
    return false;
  }
  for (int k = 0; k < n; k++) {
    const double most = 4 * fmax(r->bound[k], r->next[k]);
    r->bound[k] = fmax(0.1 * r->bound[k], fmin(most, r->bound[k] + step[k]));
  }
  return true;
}
