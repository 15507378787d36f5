/* rub_own.c: what acts in the joint of a loop beside its rows: springs, dampers, drives, backlash
 * and limits.
 *
 * Between two bodies with one bearing that is along it, and no load.  In a universal joint what
 * acts about one pin goes through the cross, and bends the other one.  Of joints in the tree it is
 * in what bears the bodies beyond them. */
#include "methods/redmax/rub.h"

#include "dynamics/loops.h"

#include <string.h>

static bool has_several(const sni_rub *rub) {
  return rub->law == SNI_COULOMB && rub->loop >= 0 && rub->nbearing > 1;
}

static int spring_of(const sn_model *m, int loop) {
  for (int k = 0; k < m->nloop_spring; k++) {
    if (m->loop_spring[k].loop == loop) {
      return k;
    }
  }
  return -1;
}

void sni_rubbing_find_own(sni_rubbing *r, const double *v, bool whole) {
  bool seen = false;
  for (int k = 0; k < r->m->nrub; k++) {
    const int spring = has_several(&r->m->rub[k]) ? spring_of(r->m, r->m->rub[k].loop) : -1;
    double *own = r->own + SN_NV_MAX * k;
    memset(own, 0, SN_NV_MAX * sizeof *own);
    if (!v || spring < 0 || !r->s->loop[spring].loop) {
      continue;
    }
    if (!seen) {
      sni_J_mul_world(r->s->t, &r->s->d->w, v);
      seen = true;
    }
    sni_system_loop_torques(r->s, spring, whole, own);
  }
}

/* A limit of a coordinate of the loop? */
static bool is_limit_of(const sni_constraint *c, const sni_constraint *loop) {
  return (c->kind == SNI_LIMIT || c->kind == SNI_CONE) && c->of_loop && c->first == loop->first;
}

sn_vec6 sni_rubbing_own(const sni_rubbing *r, int k, int side, const double *lambda,
                        const double *coast) {
  const sni_rub *rub = &r->m->rub[k];
  sn_vec6 f = {{0, 0, 0}, {0, 0, 0}};
  if (!has_several(rub)) {
    return f;
  }
  const sni_constraint *loop = &r->m->constraint[rub->loop];
  const double sign = side ? 1 : -1; /* it is of the second body */
  for (int i = 0; i < r->rows->nrow; i++) {
    if (is_limit_of(&r->rows->constraint[r->rows->of[i]], loop)) {
      const double push = lambda[i] / r->s->h + (coast ? coast[i] : 0);
      f = sn_vec6_addscaled(f, -sign * push, r->rows->row[i].p[side]);
    }
  }
  const int spring = spring_of(r->m, rub->loop);
  if (spring >= 0 && r->s->loop[spring].loop) {
    for (int c = 0; c < loop->nv; c++) {
      const double tau = r->own[SN_NV_MAX * k + c];
      f = sn_vec6_addscaled(f, sign * tau, r->s->loop[spring].map.p[side][c]);
    }
  }
  return f;
}
