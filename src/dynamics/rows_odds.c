/* rows_odds.c: rows that want different rates: which is off most, and whom it stands against. */
#include "dynamics/rows.h"
#include "linear/vector.h"

/* What a joint must do to a row, which is of the order of 1 or of a length, to matter. */
#define STILL 1e-9

double sni_rows_slip(sni_rows *r, const double *qd, int *which, double *scale) {
  sni_work *w = &r->d->w;
  double worst = 0;
  *which = -1;
  *scale = 0;
  sni_J_mul_world(&r->d->m->tree, w, qd);
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const double slip = fabs(sni_row_mul(row, w, qd) + row->rate);
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

bool sni_rows_moves(sni_rows *r, int i) {
  sni_rows_column(r, i, r->column);
  return sni_largest(r->d->m->tree.nv, r->column) > STILL;
}

/* x = M^-1 G_i^T */
static void respond(sni_rows *r, int i, double *x) {
  sni_rows_column(r, i, r->column);
  sni_Minv_mul(&r->d->m->tree, &r->d->w, r->column, x);
}

/* The cosine between rows i and j in the metric of the masses is 1 where they say the same:
 *
 *     (G_i M^-1 G_j^T)^2 / (G_i M^-1 G_i^T G_j M^-1 G_j^T)
 */
int sni_rows_opponent(sni_rows *r, int i, double *alike) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = {.mass = d->mass, .joint_matrix = d->armature};
  int opponent = -1;
  *alike = 0;
  if (sni_factorise(&d->m->tree, &in, &d->w) >= 0) {
    return -1;
  }
  respond(r, i, r->step);
  sni_rows_mul(r, r->step, r->y);
  const double own = r->y[i];
  for (int j = 0; j < r->nrow; j++) {
    if (r->of[j] == r->of[i] || r->row[j].one_sided || r->y[j] == 0) {
      continue;
    }
    respond(r, j, r->step);
    sni_J_mul_world(&d->m->tree, &d->w, r->step);
    const double other = sni_row_mul(&r->row[j], &d->w, r->step);
    const double cosine = fabs(r->y[j]) / sqrt(own * other);
    /* of those that are alike the last: motions, which somebody has prescribed */
    if (cosine > *alike - 1e-9) {
      *alike = cosine;
      opponent = j;
    }
  }
  return opponent;
}
