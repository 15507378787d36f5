/* rub_still.c: what sticks at the end of a step's turns does not move at all.
 *
 * Coordinates do not that one slide alone tells, or all of a joint; those of joints that close
 * loops are noted, and put back after the step (stay.c). */
#include "methods/redmax/rub.h"
#include "methods/redmax/stay.h"

#include <string.h>

/* What sticks goes with less than this part of the largest rate without friction. */
#define AT_REST 1e-9
/* By so many tolerances the paper's problem may be off. */
#define NEARLY 10

/* The rate of a slide, as a sum of those of its joint's own coordinates. */
static void own_row(const sni_rubbing *r, int k, int slide, double *coef) {
  const sni_rub *rub = &r->m->rub[k];
  memset(coef, 0, SN_NV_MAX * sizeof *coef);
  if (rub->body >= 0) {
    for (int c = 0; c < r->row[slide].ncoord; c++) {
      coef[r->row[slide].coord[c] - r->s->t->vadr[rub->body]] = r->row[slide].coef[c];
    }
    return;
  }
  const sni_constraint *loop = &r->m->constraint[rub->loop];
  const double *q = r->rows->loop_q + loop->first;
  int c = slide - rub->first, b = 0, first;
  if (rub->law != SNI_COULOMB) {
    double part[SN_NV_MAX];
    const int n = sni_rub_rate_parts(rub, c, q, &first, part);
    memcpy(coef + first, part, (size_t)n * sizeof *part);
    return;
  }
  for (; c >= rub->bearing[b].ndirection; b++) {
    c -= rub->bearing[b].ndirection;
  }
  const sni_joint_ops *ops = sni_joint_ops_of(r->m->loop_joints, loop->joint);
  const sni_constraint_eval e = sni_rows_eval_of(r->rows, 0, 0, NULL, NULL);
  sn_vec6 d = rub->bearing[b].direction[c], S[SN_NV_MAX], Sdot[SN_NV_MAX];
  sn_se3 Q;
  if (ops->bearing_axes) {
    const sn_mat3 R = ops->bearing_axes(q);
    d = (sn_vec6){sn_mat3_mul_vec(R, d.w), sn_mat3_mul_vec(R, d.v)};
  }
  sni_constraint_loop_joint(&e, loop, q, r->rows->loop_qd + loop->first, &Q, S, Sdot);
  for (int i = 0; i < loop->nv; i++) {
    coef[i] = sn_vec6_dot(S[i], d);
  }
}

/* The only one that is not nothing; -1: there are several. */
static int only_one(const double *coef) {
  const double nothing = 1e-12; /* of the others */
  int only = 0;
  for (int c = 1; c < SN_NV_MAX; c++) {
    only = fabs(coef[c]) > fabs(coef[only]) ? c : only;
  }
  for (int c = 0; c < SN_NV_MAX; c++) {
    if (c != only && fabs(coef[c]) > nothing * fabs(coef[only])) {
      return -1;
    }
  }
  return coef[only] != 0 ? only : -1;
}

/* Does the k-th row of the program stick?  The paper's problem is solved to a tolerance.  Within
 * bounds that are rounding of what would stop it, the program cannot tell what sticks; its rate
 * does. */
static bool has_stuck(const sni_rubbing *r, int k, double fastest) {
  const int i = r->which[k];
  const bool inside = sni_rubbing_used(r, i) < (1 - AT_REST) * r->bound[i];
  const double still = r->maximal ? fmax(NEARLY * r->tolerance, AT_REST) : AT_REST;
  return (r->maximal ? inside : r->sticks[k]) && fabs(r->rate[i]) <= still * fastest;
}

/* r->stuck */
static void find_stuck(sni_rubbing *r) {
  double fastest = 0;
  memset(r->stuck, 0, (size_t)r->m->nslide * sizeof *r->stuck);
  for (int k = 0; k < r->n; k++) {
    fastest = fmax(fastest, fabs(r->free[r->which[k]]));
  }
  for (int k = 0; k < r->n; k++) {
    const int i = r->which[k];
    if (i < r->m->nslide) {
      r->stuck[i] = has_stuck(r, k, fastest);
    }
  }
}

/* Which of a joint's own coordinates stick; true: any. */
static bool find_still(const sni_rubbing *r, int k, int nv, bool *still) {
  const sni_rub *rub = &r->m->rub[k];
  double coef[SN_NV_MAX];
  bool all = rub->nslide == nv, any = false;
  for (int i = rub->first; i < rub->first + rub->nslide; i++) {
    all = all && r->stuck[i];
    if (r->stuck[i]) {
      own_row(r, k, i, coef);
      const int c = only_one(coef);
      if (c >= 0) {
        still[c] = any = true;
      }
    }
  }
  for (int c = 0; all && c < nv; c++) {
    still[c] = any = true;
  }
  return any;
}

static void stand_still(sni_rubbing *r, double *v) {
  const sni_tree *t = r->s->t;
  bool any = false;
  find_stuck(r);
  sni_stay_clear(&r->still, r->m);
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    if (rub->body >= 0) {
      const int adr = t->vadr[rub->body];
      any = find_still(r, k, t->vadr[rub->body + 1] - adr, r->still.coord + adr) || any;
    } else {
      const sni_constraint *loop = &r->m->constraint[rub->loop];
      const bool sticks = find_still(r, k, loop->nv, r->still.loop + loop->first);
      r->still.loops = r->still.loops || sticks;
    }
  }
  for (int c = 0; c < t->nv; c++) {
    v[c] = r->still.coord[c] ? 0 : v[c];
  }
  if (r->still.loops) {
    memcpy(r->still.at, r->rows->loop_q, (size_t)r->m->nloop_q * sizeof *r->still.at);
  }
  r->s->still = any || r->still.loops ? &r->still : NULL;
}

void sni_rubbing_end(sni_rubbing *r, double *v) {
  stand_still(r, v);
  if (!r->s->still) {
    return;
  }
  for (int k = 0; r->bends && k < r->m->nslide; k++) {
    r->rate[k] = r->stuck[k] ? 0 : r->rate[k];
  }
  if (r->bends) {
    return;
  }
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int k = 0; k < r->m->nslide; k++) {
    r->rate[k] = sni_row_mul(&r->row[k], &r->s->d->w, v);
  }
}
