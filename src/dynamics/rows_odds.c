/* rows_odds.c: rows that want different rates: which is off most, and whom it stands against. */
#include "dynamics/rows.h"
#include "linear/vector.h"

#include <string.h>

/* What a joint must do to a row, which is of the order of 1 or of a length, to matter. */
#define STILL 1e-9
/* What is left of a contradiction that rates could still meet. */
#define EXACT 1e-10

double sni_rows_slip(sni_rows *r, const double *qd, int *which, double *scale) {
  sni_work *w = &r->d->w;
  double worst = 0;
  *which = -1;
  *scale = 0;
  sni_J_mul_world(&r->d->m->tree, w, qd);
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const double slip = fabs(sni_row_mul(row, w, qd) - r->rhs[i]);
    *scale = fmax(*scale, fabs(row->rate));
    for (int side = 0; side < 2; side++) {
      const int b = row->body[side];
      if (b >= 0) {
        const sn_vec6 a = sni_lane6_vec6(w->a[b]);
        *scale = fmax(*scale, fabs(sn_vec3_dot(row->p[side].w, a.w)));
        *scale = fmax(*scale, fabs(sn_vec3_dot(row->p[side].v, a.v)));
      }
    }
    if (!row->one_sided && !(slip <= worst)) {
      worst = slip;
      *which = i;
    }
  }
  return worst;
}

double sni_rows_pace(const sni_rows *r) {
  double most = 0;
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    for (int side = 0; side < 2; side++) {
      if (row->body[side] >= 0) {
        const sn_vec6 p = row->p[side], phi = r->d->phi[row->body[side]];
        most = fmax(most, sn_vec3_norm(p.w) * sn_vec3_norm(phi.w));
        most = fmax(most, sn_vec3_norm(p.v) * sn_vec3_norm(phi.v));
      }
    }
  }
  return most;
}

bool sni_rows_moves(sni_rows *r, int i) {
  sni_rows_column(r, i, r->column);
  return sni_largest(r->d->m->tree.nv, r->column) > STILL;
}

/* u = G^T e of rows that hold both ways, and s = M^-1 u; returns s u. */
static double slope_of(sni_rows *r, const double *e, double *u, double *s) {
  const int nv = r->d->m->tree.nv;
  memset(u, 0, (size_t)nv * sizeof *u);
  for (int i = 0; i < r->nrow; i++) {
    if (!r->row[i].one_sided) {
      sni_row_add_column(&r->row[i], r->d, e[i], u);
    }
  }
  sni_Minv_mul(&r->d->m->tree, &r->d->w, u, s);
  return sni_dot(nv, u, s);
}

/* By conjugate gradients, in the metric of the masses. */
const double *sni_rows_contradiction(sni_rows *r) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = sni_dynamics_masses(d);
  const int nv = d->m->tree.nv;
  double *e = r->multiplier, *Gp = r->lambda_before, *u = r->column, *s = r->step, *p = r->q_before;
  for (int i = 0; i < r->nrow; i++) {
    e[i] = r->row[i].one_sided ? 0 : r->rhs[i];
  }
  if (sni_factorise(&d->m->tree, &in, &d->w) >= 0) {
    return e;
  }
  double slope = slope_of(r, e, u, s);
  const double enough = EXACT * EXACT * slope;
  memcpy(p, s, (size_t)nv * sizeof *p);
  for (int k = 0; k < 2 * r->nrow && slope > enough; k++) {
    double size = 0;
    sni_rows_mul(r, p, Gp);
    for (int i = 0; i < r->nrow; i++) {
      Gp[i] = r->row[i].one_sided ? 0 : Gp[i];
      size += Gp[i] * Gp[i];
    }
    for (int i = 0; i < r->nrow; i++) {
      e[i] -= slope / size * Gp[i];
    }
    const double before = slope;
    slope = slope_of(r, e, u, s);
    for (int j = 0; j < nv; j++) {
      p[j] = s[j] + slope / before * p[j];
    }
  }
  return e;
}
