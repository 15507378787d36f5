/* loads.c: what loops bear stiffens the branches that they join, as weight on them does: a chain of
 * light links that carries a seat on a second chain would flutter in steps that are long for it
 * (redmax/tension.c, redmax/foresee.c).
 *
 * Only a solve tells what they bear.  That of the last step tells it well enough, so that most
 * steps are solved once; where it did not, as in the first step, this one's does, which is solved
 * again. Forces that were not found to the precision tell nothing, nor do those of a step in which
 * something is switched on: they stop what moved, in no time, and nobody bears them after that.
 *
 * Where rows depend on others it is the least that they can bear, as these give way alike. */
#include "methods/structured/structured.h"

#include <string.h>

#include "methods/redmax/foresee.h"

static bool is_bound(const sn_model *m) {
  return m->nrow > m->nsided;
}

void sni_structured_expect_loads(sn_sim *sim, sni_structured *st, const sni_moment *at) {
  const double *last = st->warm + (size_t)SNI_WARM_LOADS * (size_t)sim->m->nrow;
  const sni_ties *t = &st->ties;
  bool any = false;
  for (int i = 0; i < sim->m->nrow && !any; i++) {
    any = last[i] != 0;
  }
  if (!any || st->changed || !is_bound(sim->m)) {
    return;
  }
  sni_rows_eval_poses(&sim->rows, at->t, at->t, at->q, at->qd);
  sni_structured_tie(sim, st, NULL, 0);
  for (int i = 0; i < t->ntie; i++) {
    st->loads[i] = last[t->slot[i]];
  }
  st->s.h = at->h;
  sni_system_load(&st->s, &sim->rows, st->loads);
}

static bool tell(const sni_structured *st) {
  return !st->met && st->ties.residual <= st->ties.precision; /* NaN does not */
}

void sni_structured_keep_loads(sn_sim *sim, sni_structured *st) {
  const sni_ties *t = &st->ties;
  double *loads = st->warm + (size_t)SNI_WARM_LOADS * (size_t)sim->m->nrow;
  memset(loads, 0, (size_t)sim->m->nrow * sizeof *loads);
  for (int i = 0; i < t->ntie && tell(st); i++) {
    if (t->slot[i] >= 0) {
      loads[t->slot[i]] = t->lambda[i];
    }
  }
}

bool sni_structured_looks(const sn_sim *sim, const sni_structured *st) {
  return !is_bound(sim->m) || !st->s.reacts;
}

bool sni_structured_foresee(sn_sim *sim, sni_structured *st, bool far) {
  const sni_ties *t = &st->ties;
  if (!is_bound(sim->m)) {
    return sni_system_foresee(&st->s, NULL, NULL, far, NULL);
  }
  return tell(st) && sni_system_foresee(&st->s, &sim->rows, t->lambda, far, NULL);
}
