/* faint.c: joints without inertia of their own.
 *
 * A spring or a damper may hold them in the matrix of a step, but closing and the rates at its end
 * go by the masses alone.  There such joints are lent a faint inertia, with which they go on as
 * they did; nothing else notices: it is far less than what anything that has mass moves against. */
#include "methods/structured/structured.h"

#include <string.h>

/* Of what the body has in all directions. */
#define FAINT 1e-9

static double moments(const sni_mass *m) {
  return m->xx + m->yy + m->zz;
}

/* The inertia that a body without any is measured by: that of all of them. */
static sni_mass whole(const sni_dynamics *d) {
  sni_mass sum = {0};
  for (int i = 0; i < d->m->tree.nbody; i++) {
    sum.m += d->mass[i].m;
    sum.xx += moments(&d->mass[i]);
  }
  return sum;
}

static void lend(sn_sim *sim, sni_structured *st, int body, double *b, const double *rates) {
  const sni_tree *t = &sim->m->tree;
  const sni_mass own = sim->d.mass[body], all = whole(&sim->d);
  const double m = own.m > 0 ? own.m : all.m;
  const double turning = moments(&own) > 0 ? moments(&own) : moments(&all);
  const int adr = t->vadr[body], nv = t->vadr[body + 1] - adr;
  for (int k = 0; k < nv; k++) {
    const sni_lane6 S = sim->d.w.S[adr + k];
    const double faint = FAINT * (m * sni_lane_dot(S.v, S.v) + turning * sni_lane_dot(S.w, S.w));
    st->joints[t->factor[body] + k * nv + k] += faint;
    if (b && rates) {
      b[adr + k] += faint * rates[adr + k];
    }
  }
  st->lent[body] = true;
}

sn_status sni_structured_factorise_masses(sn_sim *sim, sni_structured *st, double *b,
                                          const double *rates, int *bad) {
  sni_ties *t = &st->ties;
  bool any = false;
  t->in = sni_dynamics_masses(&sim->d);
  sn_status status;
  while ((status = st->solver->factorise(t, st->own, b, bad)) == SN_E_SINGULAR && *bad >= 0) {
    if (!any) {
      any = true;
      memcpy(st->joints, t->in.joint_matrix, (size_t)sim->m->tree.nfactor * sizeof *st->joints);
      memset(st->lent, 0, (size_t)sim->m->tree.nbody * sizeof *st->lent);
      t->in.joint_matrix = st->joints;
      t->in.bare_joints = false;
    }
    if (st->lent[*bad]) {
      break;
    }
    lend(sim, st, *bad, b, rates);
  }
  return status;
}
