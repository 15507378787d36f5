/* close.c: positions onto the loops, by the least motion of the masses [FA 2.2, 5]: Newton's
 * method, each step of which is the same system as that of the rates, with the gaps for what is
 * asked.
 *
 * Where loops cannot close, the steps lead to the least sum of squares; what does not get nearer to
 * it is taken back, so nothing jumps about when somebody pulls at what is stretched. */
#include "methods/structured/structured.h"

#include <string.h>

enum { PASSES = 12 };
#define ROUNDING   1e-12 /* m, rad: nobody can ask for less                                    */
#define MUCH       1e-2  /* of a gap that iterations have left: another pass goes on with it      */
#define GIVE_LEAST 1e-3
#define GIVE_MOST  1e3
#define GAINED                                                                                     \
  1e-12 /* a step must take so much of what is open: at the least squares none does                \
         */

/* How much is open, with weights. */
static double openness(const sni_ties *t, const sni_rows *rows) {
  double sum = 0;
  for (int i = 0; i < rows->nrow; i++) {
    sum += t->weight[i] * rows->row[i].g * rows->row[i].g;
  }
  return sum;
}

/* The same after the motion that was found, to first order. */
static double openness_ahead(const sni_ties *t) {
  double sum = 0;
  for (int i = 0; i < t->ntie; i++) {
    const double left = t->r[i] + t->soft[i] * t->lambda[i];
    sum += t->weight[i] * left * left;
  }
  return sum;
}

static void look(sn_sim *sim, sni_structured *st, double t, const double *q, const double *qd) {
  sni_dynamics_places(&sim->d, q, qd); /* gaps do not ask how fast */
  sni_rows_eval_poses(&sim->rows, t, t, q, qd);
  sni_structured_tie(sim, st, NULL, *st->give);
}

/* ---- iterations that were broken off ---- */

static double *way_of(const sn_sim *sim, const sni_structured *st) {
  return st->warm + (size_t)SNI_WARM_WAY * (size_t)sim->m->nrow;
}

/* t->p: where the last step was going when it had to stop; false: it had not. */
static bool take_way(const sn_sim *sim, sni_structured *st) {
  const double *way = way_of(sim, st);
  bool any = false;
  for (int i = 0; i < st->ties.ntie; i++) {
    st->ties.p[i] = way[st->ties.slot[i]];
    any = any || st->ties.p[i] != 0;
  }
  return any;
}

static void forget_way(const sn_sim *sim, sni_structured *st) {
  memset(way_of(sim, st), 0, (size_t)sim->m->nrow * sizeof(double));
}

static void keep_way(const sn_sim *sim, sni_structured *st) {
  double *way = way_of(sim, st);
  forget_way(sim, st);
  for (int i = 0; i < st->ties.ntie; i++) {
    way[st->ties.slot[i]] = isfinite(st->ties.p[i]) ? st->ties.p[i] : 0;
  }
}

/* ---- closing ---- */

/* The motion that closes gaps to first order, in sim->tau; false: there is none. */
static bool find_motion(sn_sim *sim, sni_structured *st, double tolerance, sn_info *info) {
  sni_ties *t = &st->ties;
  int bad = -1;
  t->in = sni_dynamics_masses(&sim->d);
  t->stage = SNI_TIES_CLOSE;
  for (int i = 0; i < t->ntie; i++) {
    t->c[i] = t->asked[i] = -sim->rows.row[i].g;
    t->inverse[i] = t->weight[i];
  }
  if (st->solver->factorise(t, st->own, NULL, &bad) < 0) {
    return false;
  }
  t->squares = true;
  t->begun = take_way(sim, st);
  sni_structured_solve(sim, st, SNI_COLD, 0.5 * tolerance, NULL, sim->tau, info);
  t->squares = t->begun = false;
  return sni_dynamics_not_finite(&sim->d, sim->tau) < 0;
}

/* How much the constraints give way, after a step that was to take `promised` of what was open and
 * took `gained`. */
static double adapt(double give, double gained, double promised) {
  if (gained > 0.9 * promised) {
    return give > GIVE_LEAST ? give / 2 : 0;
  }
  return gained > 0.5 * promised ? give
         : gained > 0            ? fmin(give * 4, GIVE_MOST)
                                 : fmin(fmax(give * 16, GIVE_LEAST), GIVE_MOST);
}

void sni_structured_close(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                          sn_info *info) {
  const int nv = sim->m->tree.nv;
  const size_t bytes = (size_t)nv * sizeof *q1;
  const double tolerance = fmax(sim->options.structured.precision, ROUNDING);
  double best = INFINITY, promised = 0;
  bool broken_off = false; /* what has hardly begun to close now would not in another pass */
  int worst;
  st->ties.deadline = sni_structured_deadline(sim, st, 0.65);
  for (int k = 0;; k++) {
    look(sim, st, t, q1, qd1);
    const double gap = sni_rows_gap(&sim->rows, &worst), open = openness(&st->ties, &sim->rows);
    if (k > 0) {
      *st->give = adapt(*st->give, best - open, promised);
    }
    if (open < best) {
      best = open;
      memcpy(st->q_best, q1, bytes);
    } else { /* too far: from where it was again */
      memcpy(q1, st->q_best, bytes);
      look(sim, st, t, q1, qd1);
      forget_way(sim, st);
    }
    const bool last = k >= PASSES || broken_off || (k > 0 && sni_ties_late(&st->ties));
    if (gap <= tolerance || last || !find_motion(sim, st, tolerance, info)) {
      break;
    }
    broken_off = st->ties.residual > fmax(st->ties.precision, MUCH * gap) &&
                 (st->ties.spent >= st->ties.iterations || sni_ties_late(&st->ties));
    if (broken_off) {
      keep_way(sim, st);
    } else {
      forget_way(sim, st);
    }
    promised = best - openness_ahead(&st->ties);
    if (!(promised > GAINED * best)) {
      *st->give = adapt(*st->give, 1, 1);
      break;
    }
    for (int j = 0; j < nv; j++) {
      q1[j] += sim->tau[j];
    }
  }
  info->gap = sni_rows_gap(&sim->rows, &worst);
  if (info->gap <= tolerance) {
    /* What is closed contradicts nothing, even if a step went too far on the way: it may, where
     * iterations end early.  Were this kept, rates would give way and be braked from now on. */
    *st->give = 0;
  } else if (!broken_off && !sni_ties_late(&st->ties)) {
    *st->give = fmax(*st->give, SNI_GIVE_SOME);
  }
}
