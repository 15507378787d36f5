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
#include "methods/redmax/move.h"
#include "methods/structured/sets.h"
#include "methods/structured/structured.h"

#include <string.h>

#define ANYWAY  0.1 /* of what rates turn anyway */
#define NOTHING 0.1 /* of (w h)^2, of the energy: less is not worth it */

/* Of the motion with which bodies came to the end of the step: twice their energy, and the fastest
 * turn, squared. */
static void sum_motions(const sn_sim *sim, const sni_structured *st, double *energy,
                        double *fastest) {
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    const sn_inertia I = sni_params_inertia(&sim->d.params, i);
    const sn_vec6 m = st->s.motion[i];
    const int set = sni_set_of(st->odds.joined, i);
    energy[set] += I.mass * sn_vec3_dot(m.v, m.v) +
                   sn_vec3_dot(m.w, sn_mat3_mul_vec(sn_inertia_tensor(I), m.w));
    fastest[set] = fmax(fastest[set], sn_vec3_dot(m.w, m.w));
  }
}

/* energy -= twice that of the rates x. */
static void take_rates(sn_sim *sim, const sni_structured *st, const double *x, double *energy) {
  const sni_tree *t = &sim->m->tree;
  sni_dynamics *d = &sim->d;
  sni_J_mul_world(t, &d->w, x);
  for (int i = 0; i < t->nbody; i++) {
    const sni_lane6 momentum = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
    energy[sni_set_of(st->odds.joined, i)] -= sni_lane6_dot(d->w.a[i], momentum);
  }
}

static void sum_forces(const sn_sim *sim, const sni_structured *st, double *forces) {
  const sni_ties *t = &st->ties;
  for (int i = 0; i < t->ntie; i++) {
    const int body = sni_odds_body_of(&sim->m->tree, &sim->rows.row[i]);
    if (body >= 0) {
      forces[sni_set_of(st->odds.joined, body)] += t->lambda[i] * t->lambda[i] * t->moves[i];
    }
  }
}

bool sni_structured_has_lost(sn_sim *sim, sni_structured *st, double h, double gap,
                             const double *x) {
  const int n = sim->m->tree.nbody;
  const size_t bytes = (size_t)n * sizeof(double);
  double *lost = st->lost, *fastest = lost + n, *energy = fastest + n, *forces = energy + n;
  sni_odds_join(sim, st->odds.joined);
  memset(lost, 0, 4 * bytes);
  sum_motions(sim, st, energy, fastest);
  memcpy(lost, energy, bytes);
  take_rates(sim, st, x, lost);
  sum_forces(sim, st, forces);
  bool much = false;
  for (int i = 0; i < n; i++) {
    const double turn = h * sqrt(fastest[i]);
    much = much || (lost[i] > NOTHING * turn * turn * energy[i] &&
                    forces[i] * turn * gap > ANYWAY * lost[i] * st->opened);
  }
  return much;
}
