/* close.c: positions onto the loops, by the least motion of the masses [FA 2.2, 5]: Newton's
 * method, each step of which is the same system as that of the rates, with the gaps for what is
 * asked.
 *
 * Where loops cannot close, the steps lead to the least sum of squares; what does not get nearer to
 * it is taken back, so nothing jumps about when somebody pulls at what is stretched.
 *
 * Whether they can is not a matter of how many steps that takes. */
#include "methods/structured/structured.h"

#include <string.h>

/* Passes of Newton's method, in rounds: as long as a round leaves not more than this part of the
 * squares that were open when it began there is another one.  A round that leaves more has come to
 * where nothing gets nearer: then not all can be met. */
enum { PASSES = 12, ROUNDS = 8 };
enum { POLISH = 4 };     /* iterations, where the rates of the step took fewer */
#define FLAT         100 /* 1/a^2: more is near a pose in which constraints depend on each other    */
#define ROUND_LEAVES 0.9
#define ROUNDING     1e-12 /* m, rad: nobody can ask for less                                    */
#define MUCH         1e-2 /* of a gap that iterations have left: another pass goes on with it      */
#define ASIDE        1e-3 /* rad, m: beside a pose */
#define WORTH        0.9  /* of the squares: less is nearer */
#define LEFT         1e-4 /* of the gap that a step has opened: more is rough                     */
#define GIVE_LEAST   1e-3
#define GIVE_MOST    1e3
#define GAINED                                                                                     \
  1e-12 /* a step must take so much of what is open: at the least squares none does                \
         */

/* What a gap counts, by its weight and as far as it is not closed: what solvers leave of a heavy
 * one must not keep a light one open. */
static double open_by(const sni_ties *t, int i, double g, double tolerance) {
  const double more = fabs(g) - tolerance;
  return more <= 0 ? 0 : t->weight[i] * more * more; /* this way round so that NaN stays */
}

/* How much is open. */
static double openness(const sni_ties *t, const sni_rows *rows, double tolerance) {
  double sum = 0;
  for (int i = 0; i < rows->nrow; i++) {
    sum += open_by(t, i, rows->row[i].g, tolerance);
  }
  return sum;
}

/* The same after the motion that was found, to first order. */
static double openness_ahead(const sni_ties *t, double tolerance) {
  double sum = 0;
  for (int i = 0; i < t->ntie; i++) {
    sum += open_by(t, i, t->r[i] + t->soft[i] * t->lambda[i], tolerance);
  }
  return sum;
}

/* What gives way does so by weights; as long as nothing has to, they have no say. */
static void tie(sn_sim *sim, sni_structured *st, bool weighted) {
  const double least = weighted ? sim->options.structured.regularization : 0;
  sni_structured_tie(sim, st, NULL, fmax(*st->give, least));
}

static void look(sn_sim *sim, sni_structured *st, double t, const double *q, const double *qd,
                 bool weighted) {
  sni_dynamics_places(&sim->d, q, qd); /* gaps do not ask how fast */
  sni_rows_eval_poses(&sim->rows, t, t, q, qd);
  tie(sim, st, weighted);
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

typedef struct closing {
  double tolerance;
  double best;     /* how much is open in the best pose so far                                   */
  double promised; /* how much less the motion promises that was found there                      */
  bool weighted;   /* not all can be met, so weights have their say                               */
  bool polished;   /* all are met, and weights have none                                          */
  bool weak;       /* the solver did not find what would close: that there is such is likely      */
  bool broken_off; /* by its iterations or its time: what has hardly begun to close now would not
                      in another pass                                                             */
  bool stuck;      /* nothing gets nearer                                                         */
  bool level;      /* ... to first order                                                          */
  double began;    /* best, when the round did                                                    */
} closing;

/* The motion that closes gaps to first order, in sim->tau; false: there is none. */
static bool find_motion(sn_sim *sim, sni_structured *st, const closing *c, sn_info *info) {
  sni_ties *t = &st->ties;
  int bad = -1;
  t->begun = take_way(sim, st);
  /* springs between bodies that are left count as the rates of the step have them: cut.c */
  const bool damped = st->left > 0 && st->s.npair > 0;
  const bool braced = c->weighted || t->begun || damped;
  t->stage = SNI_TIES_CLOSE;
  for (int i = 0; i < t->ntie; i++) {
    t->c[i] = t->asked[i] = -sim->rows.row[i].g;
    t->inverse[i] = c->polished ? 1 : t->weight[i];
  }
  t->in = st->s.in;
  const sn_status status = braced ? st->solver->factorise(t, st->own, NULL, &bad)
                                  : sni_structured_factorise_masses(sim, st, NULL, NULL, &bad);
  if (status < 0) {
    return false;
  }
  t->squares = true;
  sni_structured_solve(sim, st, SNI_COLD, 0.5 * c->tolerance, NULL, sim->tau, info);
  t->squares = t->begun = false;
  return sni_dynamics_not_finite(&sim->d, sim->tau) < 0;
}

/* The same, if it gets nearer: first as if all could be met. */
static bool find_way(sn_sim *sim, sni_structured *st, double gap, closing *c, sn_info *info) {
  for (;;) {
    sni_ties *t = &st->ties;
    if (!find_motion(sim, st, c, info)) {
      return false;
    }
    c->weak = t->residual > fmax(t->precision, MUCH * gap);
    c->broken_off = c->weak && (t->spent >= t->iterations || sni_ties_late(t));
    if (c->broken_off) {
      keep_way(sim, st);
    } else {
      forget_way(sim, st);
    }
    c->promised = c->best - openness_ahead(t, c->tolerance);
    if (c->promised > GAINED * c->best || c->weighted) {
      break;
    }
    c->weighted = true;
    tie(sim, st, true);
  }
  return c->promised > GAINED * c->best;
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

/* Is this the last pass, the k-th? */
static bool is_last(sni_structured *st, closing *c, int k) {
  if (k % PASSES == 0) {
    c->stuck = k > 0 && c->best > ROUND_LEAVES * c->began;
    c->began = c->best;
  }
  return c->stuck || k >= ROUNDS * PASSES || c->broken_off || (k > 0 && sni_ties_late(&st->ties));
}

/* From q1 to where it is closed, or nothing gets nearer any more, or time is up; what is open
 * there, where kinematics and rows are left. */
static double close_from(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                         closing *c, sn_info *info) {
  const int nv = sim->m->tree.nv;
  const size_t bytes = (size_t)nv * sizeof *q1;
  int worst;
  for (int k = 0;; k++) {
    look(sim, st, t, q1, qd1, c->weighted);
    double gap = sni_rows_gap(&sim->rows, &worst);
    const double open = openness(&st->ties, &sim->rows, c->tolerance);
    st->opened = k == 0 ? gap : st->opened;
    if (k > 0) {
      *st->give = adapt(*st->give, c->best - open, c->promised);
    }
    if (open < c->best) {
      c->best = open;
      memcpy(st->q_best, q1, bytes);
    } else { /* too far: from where it was again */
      memcpy(q1, st->q_best, bytes);
      look(sim, st, t, q1, qd1, c->weighted);
      gap = sni_rows_gap(&sim->rows, &worst);
      forget_way(sim, st);
    }
    if (gap <= c->tolerance || is_last(st, c, k)) {
      return gap;
    }
    if (!find_way(sim, st, gap, c, info)) {
      *st->give = adapt(*st->give, 1, 1);
      c->stuck = c->level = true;
      return gap;
    }
    for (int j = 0; j < nv; j++) {
      q1[j] += sim->tau[j];
    }
  }
}

/* ---- once more ---- */

bool sni_structured_is_rough(sni_structured *st, double gap) {
  return st->closed && gap > fmax(LEFT * st->opened, ROUNDING) && !(*st->give > 0) &&
         !(st->left > 0) && !sni_ties_late(&st->ties);
}

void sni_structured_polish(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                           sn_info *info) {
  const int nv = sim->m->tree.nv, allowed = st->ties.iterations, spent = info->iterations;
  const closing c = {.tolerance = fmax(LEFT * st->opened, ROUNDING), .polished = true};
  memcpy(st->q_best, q1, (size_t)nv * sizeof *q1);
  st->ties.deadline = sni_structured_deadline(sim, st, 0.8);
  const int enough = *st->flat > FLAT ? allowed : spent < POLISH ? POLISH : spent;
  st->ties.iterations = allowed < enough ? allowed : enough;
  const bool found = find_motion(sim, st, &c, info);
  st->ties.iterations = allowed;
  for (int j = 0; found && j < nv; j++) {
    q1[j] += sim->tau[j];
  }
  int worst;
  look(sim, st, t, q1, qd1, false);
  const double gap = sni_rows_gap(&sim->rows, &worst);
  if (gap < info->gap) {
    info->gap = gap;
  } else {
    memcpy(q1, st->q_best, (size_t)nv * sizeof *q1);
    look(sim, st, t, q1, qd1, false);
  }
}

/* ---- saddles ---- */

/* Do gaps point the other way than as the step began? */
static bool have_turned(const sni_structured *st, const sni_rows *rows) {
  double sum = 0;
  for (int i = 0; i < rows->nrow; i++) {
    sum += st->ties.weight[i] * rows->row[i].g * st->gaps[i];
  }
  return sum < 0;
}

/* q1 beside the best pose, of what the gaps have to do with. */
static void step_aside(sn_sim *sim, sni_structured *st, double tolerance, double *q1) {
  const sni_tree *tree = &sim->m->tree;
  sni_odds_open(sim, &st->odds, tolerance, 0);
  memcpy(sim->q, q1, (size_t)tree->nv * sizeof *q1);
  sni_sim_step_aside(sim, 1, ASIDE);
  for (int i = 0; i < tree->nbody; i++) {
    for (int k = tree->vadr[i]; st->odds.body[i] && k < tree->vadr[i + 1]; k++) {
      q1[k] = sim->q[k];
    }
  }
}

/* Where nothing gets nearer, to first order, it may be that something does beside it: a rope that
 * hangs straight and is lifted by its end gets no shorter but by bending.  Looked for where that
 * has not been known before, or gaps have turned: a pose of least squares stays one otherwise. */
static double close_beside(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                           const closing *from, sn_info *info) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof *q1;
  const double give = *st->give;
  closing c = {.tolerance = from->tolerance, .best = INFINITY};
  memcpy(st->found, q1, bytes);
  *st->give = 0;
  step_aside(sim, st, c.tolerance, q1);
  const double gap = close_from(sim, st, t, q1, qd1, &c, info);
  if (c.best < WORTH * from->best) {
    return gap;
  }
  *st->give = give;
  forget_way(sim, st);
  memcpy(q1, st->found, bytes);
  look(sim, st, t, q1, qd1, from->weighted);
  int worst;
  return sni_rows_gap(&sim->rows, &worst);
}

void sni_structured_close(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                          sn_info *info) {
  closing c = {.tolerance = fmax(sim->options.structured.precision, ROUNDING),
               .best = INFINITY,
               .weighted = *st->give > 0};
  st->ties.deadline = sni_structured_deadline(sim, st, 0.65);
  info->gap = close_from(sim, st, t, q1, qd1, &c, info);
  st->broken_off = c.broken_off;
  if (c.level && info->gap > SNI_AT_ODDS * c.tolerance &&
      (!st->known || have_turned(st, &sim->rows)) && !sni_ties_late(&st->ties)) {
    info->gap = close_beside(sim, st, t, q1, qd1, &c, info);
  }
  st->closed = info->gap <= c.tolerance;
  if (st->closed) {
    /* What is closed contradicts nothing, even if a step went too far on the way: it may, where
     * iterations end early.  Were this kept, rates would give way and be braked from now on. */
    *st->give = 0;
  } else if (!c.weak && !sni_ties_late(&st->ties)) {
    const bool odd = c.stuck && info->gap > SNI_AT_ODDS * c.tolerance;
    *st->give = odd ? fmax(*st->give, SNI_GIVE_SOME) : 0;
  }
}
