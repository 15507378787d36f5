/* rows_mass.c: accelerations and momenta under constraints: rows with the masses for A. */
#include "dynamics/rows.h"
#include "linear/vector.h"

/* With the factors of another pose, at most so many refinements, each of which leaves this part. */
enum { NEAR_MAX = 4 };
#define NEAR_RATE 1e-2
/* Refining on factors of a pose as far away as this is no dearer than new ones. */
#define STALE_MAX 1e-3

/* Bodies have accelerations even where joints have none. */
void sni_rows_coasting(sni_rows *r, double *out) {
  const sni_tree *t = &r->d->m->tree;
  sni_work *w = &r->d->w;
  w->a[-1] = (sni_lane6){0};
  for (int i = 0; i < t->nbody; i++) {
    const sni_lane6 ap = w->a[t->parent[i]], c = w->link[i].c;
    w->a[i].w = ap.w + c.w;
    w->a[i].v = ap.v + (c.v + sni_lane_cross(ap.w, w->r[i]));
  }
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    out[i] = -row->bias;
    for (int side = 0; side < 2; side++) {
      if (row->body[side] >= 0) {
        out[i] -= sn_vec6_dot(row->p[side], sni_lane6_vec6(w->a[row->body[side]]));
      }
    }
  }
}

int sni_rows_factorise_mass(sni_rows *r) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = sni_dynamics_masses(d);
  r->bad = -1;
  if (r->kkt) {
    sni_kkt_fill(r->kkt, &in, r, NULL);
    r->u.fresh = sni_kkt_factorise(r->kkt, NULL, NULL, &r->bad) >= 0;
    return !r->u.fresh && r->bad < 0 ? 0 : r->bad;
  }
  r->bad = sni_factorise(&d->m->tree, &in, &d->w);
  if (r->bad < 0 && r->nsided > 0) {
    sni_rows_factorise(r, sni_rows_solve_tree, d);
  } else if (r->bad < 0) {
    sni_rows_halve(r);
  }
  return r->bad;
}

/* One of the bodies of a constraint. */
static int body_of(const sni_rows *r, int constraint) {
  const sni_constraint *c = &r->constraint[constraint];
  return c->body[0] >= 0   ? c->body[0]
         : c->body[1] >= 0 ? c->body[1]
         : c->ncoord > 0   ? sni_tree_body_of(&r->d->m->tree, c->coord[0])
                           : 0;
}

/* coasts: nothing acts, and what follows a function of time does not accelerate. */
static int accelerate(sni_rows *r, double t, double t_ref, bool coasts, const double *q,
                      const double *qd, double *qdd) {
  sni_dynamics *d = r->d;
  sni_rows_eval(r, t, t_ref, q, qd);
  const int lost = sni_rows_not_finite(r, true);
  if (lost >= 0) {
    return body_of(r, lost);
  }
  if (r->kkt) {
    const int bad = sni_rows_factorise_mass(r);
    if (bad >= 0) {
      return bad;
    }
  } else {
    sni_rows_factorise(r, sni_rows_solve_tree, d); /* with the factors of sni_aba */
  }
  sni_rows_coasting(r, r->rhs);
  sni_unilateral_aim_accelerations(r, qd);
  for (int i = 0; coasts && i < r->nrow; i++) {
    r->rhs[i] = r->row[i].one_sided ? SNI_LET_GO : r->rhs[i] + r->row[i].timed;
  }
  sni_rows_correct(r, r->rhs, qdd);
  for (int i = 0; i < r->nrow; i++) {
    sni_rows_push(r, i, -r->lambda[i]);
  }
  return -1;
}

int sni_rows_accelerate(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                        double *qdd) {
  return accelerate(r, t, t_ref, false, q, qd, qdd);
}

int sni_rows_coast(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                   double *qdd) {
  return accelerate(r, t, t_ref, true, q, qd, qdd);
}

/* out = b - M x - G^T lambda, by recursion. */
static void momenta_left(sni_rows *r, const double *b, const double *x, double *out) {
  sni_dynamics *d = r->d;
  const sni_tree *t = &d->m->tree;
  sni_lane6 *f = d->w.a;
  sni_J_mul_world(t, &d->w, x);
  for (int i = 0; i < t->nbody; i++) {
    f[i] = sni_momentum(&d->mass[i], &d->w.link[i], f[i]);
  }
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    for (int side = 0; side < 2; side++) {
      if (row->body[side] >= 0) {
        sni_lane6 *on = &f[row->body[side]];
        *on = sni_lane6_addscaled(*on, r->lambda[i], sni_lane6_from(row->p[side]));
      }
    }
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    const double *own = d->armature + t->factor[i];
    for (int c = 0; c < nv; c++) {
      out[adr + c] = b[adr + c] - sni_lane6_dot(d->w.S[adr + c], f[i]);
      for (int j = 0; j < nv; j++) {
        out[adr + c] -= own[c * nv + j] * x[adr + j];
      }
    }
    if (t->parent[i] >= 0) {
      sni_lane6 *up = &f[t->parent[i]];
      up->w += f[i].w + sni_lane_cross(d->w.r[i], f[i].v);
      up->v += f[i].v;
    }
  }
  for (int i = 0; i < r->nrow; i++) {
    for (int k = 0; k < r->row[i].ncoord; k++) {
      out[r->row[i].coord[k]] -= r->lambda[i] * r->row[i].coef[k];
    }
  }
}

/* With the factors of a pose that is `stale` away: each refinement on the system as it is here
 * leaves that part of the error, times as much as the heaviest thing weighs more than the lightest.
 * False: too much of it. */
static bool solve_momenta_near(sni_rows *r, const double *b, double *qd) {
  const int nv = r->d->m->tree.nv;
  double residual;
  sni_kkt_take_care(r->kkt, SNI_KKT_TRUSTING);
  sni_kkt_solve(r->kkt, b, r->rhs, qd, r->lambda, &residual);
  double moved = sni_largest(nv, qd);
  bool still = false;
  for (int k = 0; k < NEAR_MAX && !still; k++) {
    sni_rows_mul(r, qd, r->y);
    for (int i = 0; i < r->nrow; i++) {
      r->y[i] = r->rhs[i] - r->y[i];
      r->lambda_before[i] = r->lambda[i];
    }
    momenta_left(r, b, qd, r->column);
    sni_kkt_solve(r->kkt, r->column, r->y, r->step, r->lambda, &residual);
    for (int j = 0; j < nv; j++) {
      qd[j] += r->step[j];
    }
    for (int i = 0; i < r->nrow; i++) {
      r->lambda[i] += r->lambda_before[i];
    }
    const double before = moved;
    moved = sni_largest(nv, r->step);
    still = moved == 0 || moved * (moved / before) <= SNI_STILL * sni_largest(nv, qd);
    if (!still && !(moved <= NEAR_RATE * before)) {
      break;
    }
  }
  sni_kkt_take_care(r->kkt, SNI_KKT_EXACT);
  return still;
}

int sni_rows_solve_mass(sni_rows *r, const double *b, const double *c, double *x) {
  if (!r->kkt || !sni_rows_have_factors(r)) {
    const int bad = sni_rows_factorise_mass(r);
    if (bad >= 0) {
      return bad;
    }
  }
  if (r->kkt) {
    double residual;
    sni_rows_keep_factors(r);
    sni_kkt_solve(r->kkt, b, c, x, r->lambda, &residual);
  } else {
    sni_rows_solve_halved(r, b, c, x);
  }
  return -1;
}

sn_status sni_rows_yield(sni_rows *r, const double *b, double *x) {
  double residual;
  int bad = -1;
  for (int i = 0; i < r->nrow; i++) {
    r->rhs[i] = r->row[i].one_sided && sni_unilateral_is_free(r, i) ? SNI_LET_GO : 0;
  }
  if (r->kkt) {
    return r->nsided > 0 ? sni_unilateral_solve(r, b, r->rhs, x, &bad, &residual)
                         : sni_kkt_solve(r->kkt, b, r->rhs, x, r->lambda, &residual);
  }
  if (r->nsided == 0) {
    sni_rows_solve_halved(r, b, r->rhs, x);
    return SN_OK;
  }
  sni_Minv_mul(&r->d->m->tree, &r->d->w, b, x);
  sni_rows_correct(r, r->rhs, x);
  return SN_OK;
}

int sni_rows_momenta(sni_rows *r, double t, double t_ref, double gain, bool near, const double *b,
                     const double *q, double *qd) {
  sni_rows_eval_poses(r, t, t_ref, q, qd);
  if (r->nsided > 0) {
    return sni_unilateral_momenta(r, gain, b, qd);
  }
  for (int i = 0; i < r->nrow; i++) {
    r->rhs[i] = -r->row[i].rate - gain * r->row[i].g;
  }
  if (r->kkt && near && r->stale < STALE_MAX && solve_momenta_near(r, b, qd)) {
    return -1;
  }
  return sni_rows_solve_mass(r, b, r->rhs, qd);
}
