/* lost.c: rates at the end of a step that take too much, where constraints depend on each other.
 *
 * A gap e that stays open within the precision, in a pose at an angle a from one where constraints
 * depend on each other (a parallelogram that is flat), turns the rates that they allow by about
 * e/a^2.  What goes on with other rates is braked by that: at a^2 = e it stands still.  A step of h
 * comes as near as a = w h to such a pose, and the more steps the nearer, so no precision is enough
 * for all of them.
 *
 * Seldom is a pose so near, and gaps need not be closed any further elsewhere.  It shows in the
 * forces lambda that the rates took: along what hardly moves they are large for what they do,
 *
 *     sum lambda_i^2 (G_i M^-1 G_i^T)  /  lambda^T (G M^-1 G^T) lambda  =  1/a^2   or so,
 *
 * where below is what they have taken of twice the energy.  In lengths of what turns, a gap that a
 * step opens is (w h)^2/2: so the rates are turned by (gap/opened) (w h)^2/a^2, and if that is more
 * than a part of w h, by which the directions of constraints turn in a step anyway, gaps are closed
 * once more, as far as they should be there, and the rates are found again (structured.c). */
#include "methods/structured/sets.h"
#include "methods/structured/structured.h"

#include <string.h>

#define ANYWAY  0.1 /* of what rates turn anyway */
#define NOTHING 0.1 /* of (w h)^2, of the energy: less is not worth it */

/* Which set bodies and rows belong to: once for all, where rows are always the same. */
static void find_sets(const sn_sim *sim, sni_structured *st) {
  if (st->sets_known) {
    return;
  }
  const sni_tree *t = &sim->m->tree;
  sni_odds_join(sim, st->odds.joined);
  for (int i = 0; i < t->nbody; i++) {
    st->set[i] = sni_set_of(st->odds.joined, i);
  }
  for (int i = 0; i < sim->rows.nrow; i++) {
    const int body = sni_odds_body_of(t, &sim->rows.row[i]);
    st->row_set[i] = body >= 0 ? st->set[body] : -1;
  }
  st->sets_known = sim->rows.timeless;
}

/* Twice the energy of the motion with which bodies came to the end of the step, what is left of it
 * at the rates whose twists are in w->a, and the fastest turn, squared. */
static void sum_bodies(const sn_sim *sim, const sni_structured *st, sni_loss *of) {
  const sni_dynamics *d = &sim->d;
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    const sn_inertia I = sni_params_inertia(&d->params, i);
    const sn_vec6 m = st->s.motion[i];
    const double came = I.mass * sn_vec3_dot(m.v, m.v) +
                        sn_vec3_dot(m.w, sn_mat3_mul_vec(sn_inertia_tensor(I), m.w));
    const sni_lane6 momentum = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
    sni_loss *l = &of[st->set[i]];
    l->energy += came;
    l->lost += came - sni_lane6_dot(d->w.a[i], momentum);
    l->turn2 = fmax(l->turn2, sn_vec3_dot(m.w, m.w));
  }
}

bool sni_structured_has_lost(const sn_sim *sim, sni_structured *st, double h, double gap) {
  const sni_ties *t = &st->ties;
  const int n = sim->m->tree.nbody;
  find_sets(sim, st);
  memset(st->loss, 0, (size_t)n * sizeof *st->loss);
  sum_bodies(sim, st, st->loss);
  for (int i = 0; i < t->ntie; i++) {
    if (st->row_set[i] >= 0) {
      st->loss[st->row_set[i]].forces += t->lambda[i] * t->lambda[i] * t->moves[i];
    }
  }
  bool much = false;
  for (int i = 0; i < n; i++) {
    const sni_loss *l = &st->loss[i];
    const double turn = h * sqrt(l->turn2);
    much = much || (l->lost > NOTHING * turn * turn * l->energy &&
                    l->forces * turn * gap > ANYWAY * l->lost * st->opened);
  }
  return much;
}
