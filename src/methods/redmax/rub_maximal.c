/* rub_maximal.c: friction as the paper has it: each tangent of each contact by itself, between
 * bodies that joints do not hold together [RM 12]
 *
 *     min 1/2 beta^T H beta - beta^T (T J v + H beta_before)     |beta| <= mu |alpha|
 *     H = T M^-1 T^T
 *
 * The linear term is the velocity with everything in it but friction.  Where loads and friction
 * agree, v is that of the reduced problem; it takes more turns to get there. */
#include "methods/redmax/rub.h"

#include "math/dense.h"

#include <string.h>

/* y = M^-1 f for a wrench on a body, world axes at its origin; 0 where there is no mass. */
static sn_vec6 accelerate(const sni_rubbing *r, int body, sn_vec6 f) {
  const sni_dynamics *d = r->s->d;
  sni_art M;
  double A[36], x[6];
  sni_mass_block(&d->mass[body], &d->w.link[body], &M);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A[6 * i + j] = M.A[j][i];
      A[6 * (i + 3) + j] = M.Bt[j][i];
      A[6 * i + j + 3] = M.Bt[i][j];
      A[6 * (i + 3) + j + 3] = M.C[j][i];
    }
    x[i] = sn_vec6_get(f, i);
    x[i + 3] = sn_vec6_get(f, i + 3);
  }
  if (!sni_cholesky(6, A, 1e-12, NULL)) {
    return (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  sni_cholesky_solve(6, A, x);
  return (sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

/* The k-th tangent of all: its rub and itself. */
static const sni_rub_tangent *tangent_of(const sni_rubbing *r, int k, int *rub, int *slide) {
  int i = 0;
  while (i + 1 < r->m->nrub && r->m->rub[i + 1].first_tangent <= k) {
    i++;
  }
  const sni_rub *own = &r->m->rub[i];
  int b = 0, left = k - own->first_tangent;
  *rub = i;
  *slide = own->first;
  for (; left >= own->bearing[b].ntangent; b++) {
    left -= own->bearing[b].ntangent;
    *slide += own->bearing[b].ndirection;
  }
  const sni_rub_tangent *t = &own->bearing[b].tangent[left];
  *slide += t->direction;
  return t;
}

/* Row k of T over body. */
static sn_vec6 over_body(const sni_rubbing *r, int k, int body) {
  int rub, slide, on[2];
  const sni_rub_tangent *t = tangent_of(r, k, &rub, &slide);
  sni_rubbing_bodies(r, &r->m->rub[rub], on);
  const sn_vec6 none = {{0, 0, 0}, {0, 0, 0}};
  return on[1] == body   ? sni_rubbing_at(r, rub, t->T, body)
         : on[0] == body ? sn_vec6_scale(sni_rubbing_at(r, rub, t->T, body), -1)
                         : none;
}

void sni_rubbing_mobility(sni_rubbing *r) {
  const int n = r->m->ntangent;
  memset(r->mobility, 0, (size_t)n * (size_t)n * sizeof *r->mobility);
  for (int k = 0; k < n; k++) {
    int rub, slide, body[2];
    tangent_of(r, k, &rub, &slide);
    sni_rubbing_bodies(r, &r->m->rub[rub], body);
    for (int side = 0; side < 2; side++) {
      if (body[side] < 0) {
        continue;
      }
      const sn_vec6 y = accelerate(r, body[side], over_body(r, k, body[side]));
      for (int i = 0; i <= k; i++) {
        r->mobility[(size_t)k * (size_t)n + (size_t)i] +=
            sn_vec6_dot(over_body(r, i, body[side]), y);
      }
    }
  }
}

void sni_rubbing_rub_maximal(sni_rubbing *r) {
  const int n = r->m->ntangent;
  sni_qp *qp = &r->qp;
  sni_qp_info info;
  qp->n = n;
  for (int k = 0; k < n; k++) {
    int rub, slide;
    const sni_rub_tangent *t = tangent_of(r, k, &rub, &slide);
    const double most = r->s->h * r->limit[k];
    qp->b[k] = t->arm * r->rate[slide];
    for (int i = 0; i < n; i++) {
      const size_t at =
          i <= k ? (size_t)k * (size_t)n + (size_t)i : (size_t)i * (size_t)n + (size_t)k;
      qp->b[k] += r->mobility[at] * r->beta[i];
      qp->S[(size_t)k * (size_t)n + (size_t)i] = r->mobility[at];
    }
    qp->lo[k] = -most;
    qp->hi[k] = most;
    qp->side[k] = r->beta[k] >= most ? 1 : r->beta[k] <= -most ? -1 : 0;
  }
  sni_qp_solve(qp, &info);
  memcpy(r->beta, qp->x, (size_t)n * sizeof *r->beta);
  for (int k = 0; k < r->m->nslide; k++) {
    r->force[k] = 0;
  }
  memset(r->rubbed, 0, (size_t)(SNI_BEARINGS_MAX * r->m->nrub) * sizeof *r->rubbed);
  for (int k = 0; k < n; k++) {
    int rub, slide;
    const sni_rub_tangent *t = tangent_of(r, k, &rub, &slide);
    r->force[slide] += t->arm * r->beta[k] / r->s->h;
    const sni_rub *own = &r->m->rub[rub];
    const bool second = own->nbearing > 1 && slide >= own->first + own->bearing[0].ndirection;
    sn_vec6 *rubbed = &r->rubbed[SNI_BEARINGS_MAX * rub + second];
    *rubbed = sn_vec6_addscaled(*rubbed, -r->beta[k] / r->s->h, t->T);
  }
}
