/* structured.c: the method `structured`: trees in linear time, loops refined by iterations that may
 * end at any time [FA 3].
 *
 * A step carries the momenta of the bodies on, as `redmax` does with its `projected` inertia, so it
 * gains no energy, and takes stiff forces implicitly:
 *
 *     1. rates at q: momenta and the impulses of all forces, loops kept by ties (ties.h)
 *     2. bodies move on with these rates
 *     3. positions go back onto the loops                                   close.c
 *     4. rates at the end: what is nearest to the motion of the bodies, loops kept
 *
 * 1, 3 and 4 are the same system with other right-hand sides [FA 2.2].  q and qd are those of the
 * joints of the tree: whatever happens to the loops, the tree does not come apart [FA 3.4]. */
#include "methods/structured/structured.h"

#include "methods/redmax/move.h"

#include <string.h>

#define LIMIT_PASSES 4 /* times that drives are told apart by whether a limit holds them */
#define STOP_PASSES                                                                                \
  40 /* times that stops are by whether they push: after the first, one by one                     \
      */
/* While constraints cannot all be met: what their rates give way, and how fast motion dies away,
 * for each unit of time.  They are pulled at beyond all bounds, and shake what is between them. */
#define RATES_GIVE  1e-3
#define BRAKE       20
#define AT_ODDS     1e-3  /* of the rates that are asked for: more is not met by any means */
#define ROUNDING    1e-14 /* m/s, rad/s: nobody can ask for less */
#define TAIL        0.15  /* of a budget: what comes after the last iteration, at first */
#define NEARER      4 /* times that constraints are brought nearer to what is asked of them    */
#define ROUND(size) (((size) + 63) / 64 * 64)

static sn_status structured_supports(const sn_model *m, sn_error *err) {
  const char *limited = NULL;
  for (int k = 0; k < m->nconstraint && !limited; k++) {
    const bool hard = m->constraint[k].nsided > 0 && m->constraint[k].stop.stiffness == 0;
    limited = hard ? m->constraint_name[k] : NULL;
  }
  const struct {
    const char *name;
    const char *what;
  } missing[] = {{m->rubbing, "let joints rub"},
                 {m->touching, "let bodies touch"},
                 {limited, "keep hard limits"}};
  for (int k = 0; k < SNI_COUNT(missing); k++) {
    if (missing[k].name) {
      return sni_fail(err, SN_E_UNSUPPORTED,
                      "method 'structured' cannot yet %s ('%s'): %stake the method redmax",
                      missing[k].what, missing[k].name,
                      missing[k].name == limited ? "give them a stop with stiffness, or " : "");
    }
  }
  return SN_OK;
}

/* Beside q and qd: the coordinates of loops, which are found from where they were, and the forces
 * of all rows that there may be, how much they give way, which solves were broken off, and how
 * large forces are for what they do. */
enum { NUMBERS = 4 };

static int structured_state_count(const sn_model *m) {
  return m->nloop_q + SNI_WARM_BANKS * m->nrow + NUMBERS;
}

/* Of these, what a step changes before it is known to be one. */
static size_t changed_count(const sn_model *m) {
  return SNI_WARM_BANKS * (size_t)m->nrow + NUMBERS;
}

static size_t numbers_of(const sn_model *m) {
  return 7 * (size_t)m->tree.nv + (size_t)m->tree.nfactor + 2 * (size_t)m->nrow + changed_count(m);
}

/* To the backup, or back: all of that, and q and qd where something may be switched on. */
static void keep(const sn_sim *sim, sni_structured *st, const sn_state *state) {
  const size_t count = changed_count(sim->m);
  memcpy(st->backup, st->warm, count * sizeof *st->warm);
  if (!sim->rows.timeless) {
    memcpy(st->backup + count, state->data, 2 * (size_t)state->nv * sizeof *state->data);
  }
}
static void take_back(const sn_sim *sim, const sni_structured *st, sn_state *state) {
  const size_t count = changed_count(sim->m);
  memcpy(st->warm, st->backup, count * sizeof *st->warm);
  if (!sim->rows.timeless) {
    memcpy(state->data, st->backup + count, 2 * (size_t)state->nv * sizeof *state->data);
  }
}

static size_t loss_size(const sn_model *m) {
  const size_t nbody = (size_t)m->tree.nbody;
  return nbody * sizeof(sni_loss) + (nbody + (size_t)m->nrow) * sizeof(int);
}

static size_t structured_work_size(const sn_model *m, const sn_options *o) {
  return ROUND(sizeof(sni_structured)) + ROUND(sni_system_size(m, o)) +
         ROUND(sni_ties_size(sni_ties_capacity(m, o), m)) + ROUND(numbers_of(m) * sizeof(double)) +
         ROUND((size_t)m->tree.nbody * sizeof(bool)) + ROUND(loss_size(m)) + sni_odds_size(m);
}

static const sni_tie_solver *const solvers[] = {[SN_STRUCTURED] = &sni_ties_structured,
                                                [SN_STRUCTURED_DENSE] = &sni_ties_structured_dense,
                                                [SN_FULL_DENSE] = &sni_ties_full_dense,
                                                [SN_FULL_ITERATIVE] = &sni_ties_full_iterative,
                                                [SN_STRUCTURED_GRAPH] = &sni_ties_graph};

/* Questions about accelerations, and the start, are answered exactly: few rows in their dual, many
 * as a graph. */
static bool structured_wants_graph(const sn_model *m, const sn_options *o) {
  (void)o;
  return sni_rows_many(m);
}

static sn_status structured_create(sn_sim *sim, sn_error *err) {
  sni_structured *st = sim->method_work;
  const sn_options *o = &sim->options;
  char *at = (char *)sim->method_work + ROUND(sizeof *st);
  sni_system_place(&st->s, &sim->d, o, at);
  at += ROUND(sni_system_size(sim->m, o));
  const int capacity = sni_ties_capacity(sim->m, o);
  sni_ties_place(&st->ties, &st->s, capacity, at);
  at += ROUND(sni_ties_size(capacity, sim->m));
  void *numbers = at;
  at += ROUND(numbers_of(sim->m) * sizeof(double));
  st->lent = (bool *)at;
  at += ROUND((size_t)sim->m->tree.nbody * sizeof(bool));
  st->loss = (sni_loss *)at;
  st->set = (int *)(st->loss + sim->m->tree.nbody);
  st->row_set = st->set + sim->m->tree.nbody;
  at += ROUND(loss_size(sim->m));
  sni_odds_place(&st->odds, sim->m, at);
  st->q_best = numbers;
  st->closing = st->q_best + sim->m->tree.nv;
  st->found = st->closing + sim->m->tree.nv;
  st->before = st->found + sim->m->tree.nv;
  st->went = st->before + sim->m->tree.nv;
  st->joints = st->went + sim->m->tree.nv;
  st->loads = st->joints + sim->m->tree.nfactor;
  st->gaps = st->loads + sim->m->nrow;
  st->backup = st->gaps + sim->m->nrow;
  st->s.slides = sni_move_slides(&st->s, sim->m->q0, sim->m->qd0);
  sim->d.user_tangent = o->redmax.force_tangent;
  sim->rows.one_place = true;
  st->solver = solvers[o->structured.solver];
  st->s.apart = !st->solver->whole;
  st->ties.by_rows = st->solver->whole;
  sn_status status = SN_OK;
  if (sim->d.rows && structured_wants_graph(sim->m, o)) {
    status = sni_kkt_build(&sim->d, SNI_KKT_MAXIMAL, 0, NULL, SIZE_MAX, &sim->rows.kkt, err);
    sim->rows.way = SNI_BY_GRAPH;
  }
  return status ? status : st->solver->build(&st->ties, &st->own, err);
}

static void structured_destroy(sn_sim *sim) {
  sni_structured *st = sim->method_work;
  if (st->solver) {
    st->solver->free(&st->own);
  }
}

static bool structured_dense(const sn_options *options) {
  (void)options;
  return false;
}

/* ---- the step ---- */

int64_t sni_structured_deadline(const sn_sim *sim, const sni_structured *st, double part) {
  const double budget = 1e6 * sim->options.structured.budget; /* nanoseconds */
  return budget > 0 ? st->started + (int64_t)(part * budget) : 0;
}

/* Terms of the user's force may push, and those between bodies are not in A to outweigh them. */
static bool is_pushed(const sni_system *s) {
  bool any = false;
  for (int k = 0; k < s->nterm; k++) {
    any = any || s->h * s->term[k].d + s->h * s->h * s->term[k].k < 0;
  }
  return any;
}

static sn_status fail_singular(const sn_sim *sim, int bad, double t, sn_error *err) {
  const sni_structured *st = sim->method_work;
  return sni_fail_body(sim, err, SN_E_SINGULAR, bad, t,
                       is_pushed(&st->s)
                           ? "has a singular matrix: a force has terms below 0 that the masses do "
                             "not bear; leave them out, or take the method redmax"
                           : "has a singular matrix: give the body mass and moments of inertia, or "
                             "its joint armature");
}

static double *forces_of(const sn_sim *sim, const sni_structured *st, int bank) {
  const bool warm = bank != SNI_COLD && st->solver->guided && sim->options.structured.warm_start;
  return warm ? st->warm + (size_t)bank * (size_t)sim->m->nrow : NULL;
}

/* Forces, for the next step.  Those that nobody has looked after would drive things mad. */
static void remember(const sn_sim *sim, sni_structured *st, int bank) {
  const sni_ties *t = &st->ties;
  double *force = forces_of(sim, st, bank);
  const bool sound = t->spent > 0 || t->residual <= t->precision;
  if (force) {
    memset(force, 0, (size_t)sim->m->nrow * sizeof *force);
  }
  for (int i = 0; force && sound && i < t->ntie; i++) {
    if (t->slot[i] >= 0) {
      force[t->slot[i]] = t->lambda[i];
    }
  }
}

void sni_structured_solve(sn_sim *sim, sni_structured *st, int bank, double precision,
                          const double *b, double *x, sn_info *info) {
  sni_ties *t = &st->ties;
  const double *force = forces_of(sim, st, bank);
  for (int i = 0; st->solver->guided && i < t->ntie; i++) {
    t->lambda[i] = force && t->slot[i] >= 0 ? force[t->slot[i]] : 0;
  }
  t->precision = fmax(precision, ROUNDING);
  /* what is broken off in step after step gets better from one to the next (cut.c sees to its
   * work); what is found does none */
  t->from_there = bank != SNI_COLD && st->cut[bank] > 0;
  st->solver->solve(t, st->own, b, x);
  info->solves++;
  info->iterations += t->spent;
  if (t->from_there && !(t->residual > t->precision)) {
    const int spent = t->spent;
    t->from_there = false;
    t->iterations -= spent;
    st->solver->solve(t, st->own, b, x);
    t->iterations += spent;
    info->iterations += t->spent;
    t->spent += spent;
  }
  t->from_there = false;
  double off = INFINITY;
  const bool exact = bank != SNI_COLD && !(*st->give > 0);
  for (int k = 0; k < NEARER && exact && sni_ties_come_near(t, off); k++) {
    const int spent = t->spent;
    off = t->off;
    t->iterations -= spent;
    st->solver->solve(t, st->own, b, x);
    t->iterations += spent;
    info->iterations += t->spent;
    t->spent += spent;
  }
  if (t->residual > t->precision && st->solver->make_do && bank != SNI_COLD) {
    st->solver->make_do(t, st->own, b, x);
    st->left = fmax(st->left, t->residual);
  }
  if (bank == SNI_WARM_STEP) {
    sni_ties_count(t);
  }
  *st->flat = bank == SNI_WARM_END ? sni_ties_flatness(t) : *st->flat;
  if (bank != SNI_COLD) {
    st->cut[bank] = t->residual > t->precision;
  }
  remember(sim, st, bank);
}

void sni_structured_tie(sn_sim *sim, sni_structured *st, const bool *which, double give) {
  st->ties.regularization = sim->options.structured.regularization;
  sni_ties_clear(&st->ties);
  if (sim->d.rows) {
    sni_ties_add_rows(&st->ties, &sim->rows, which, give);
  }
}

/* Where constraints cannot be met, as far as the pose shows it, so long before the time it is seen
 * at. */
static void find_odds(const sn_sim *sim, sni_structured *st, double before) {
  sni_odds_none(&st->odds);
  if (*st->give > 0) {
    sni_odds_open(sim, &st->odds, SNI_AT_ODDS * sim->options.structured.precision, before);
  }
}

/* The rates that constraints are asked for: those that cannot be met where they are go on with the
 * rates x, which are what the least squares do, and not with what they follow. */
static void ask_rates(sn_sim *sim, sni_structured *st, double before, const double *x) {
  const double open = SNI_AT_ODDS * sim->options.structured.precision;
  sni_ties *t = &st->ties;
  const bool ended = t->stage == SNI_TIES_END;
  sni_structured_tie(sim, st, st->odds.row, st->odds.any ? RATES_GIVE : 0);
  if (st->odds.any) {
    sni_odds_follow(sim, t, &st->odds, x);
  }
  for (int i = 0; i < t->ntie; i++) {
    const sni_row *row = &sim->rows.row[i];
    const bool missed = ended && st->odds.in_rates && st->odds.row[i];
    const bool away = st->odds.any && (missed || sni_odds_is_open(&sim->rows, i, open, before));
    t->asked[i] = -row->rate;
    t->c[i] = away ? t->q[i] : -row->rate;
  }
}

/* Ties and A for the rates of a step, for the rows at hand. */
static void ask_step(sn_sim *sim, sni_structured *st, const double *qd) {
  st->ties.stage = SNI_TIES_STEP;
  ask_rates(sim, st, st->s.h, qd);
  if (!st->solver->whole) {
    sni_ties_add_terms(&st->ties, &st->s);
  }
  st->ties.in = st->s.in;
}

void sni_structured_ask(sn_sim *sim, sni_structured *st, double t_end, const double *q,
                        const double *qd) {
  sni_system_projected_side(&st->s, q, qd);
  if (sim->d.rows) {
    sni_rows_eval_poses(&sim->rows, t_end, t_end, q, qd);
  }
  for (int i = 0; sim->d.rows && i < sim->rows.nrow; i++) {
    st->gaps[i] = sim->rows.row[i].g - st->s.h * sim->rows.row[i].rate;
  }
  find_odds(sim, st, st->s.h);
  ask_step(sim, st, qd);
}

/* Are there no rates that meet all constraints?  Then those that were found are of no use: where
 * the constraints all but depend on each other they are as large as what little gives way allows.
 * From now on more does. */
static bool give_way(const sn_sim *sim, sni_structured *st) {
  const sni_ties *t = &st->ties;
  double most = 0;
  for (int i = 0; i < t->ntie; i++) {
    most = t->slot[i] >= 0 ? fmax(most, fabs(t->asked[i])) : most;
  }
  /* that nothing moves always agrees */
  const double odd = fmax(t->precision, AT_ODDS * most);
  if (t->residual > t->precision || most == 0 || !(t->off > odd) ||
      !sni_odds_missed(sim, t, &st->odds, odd)) {
    return false;
  }
  *st->give = fmax(*st->give, SNI_GIVE_SOME);
  memset(st->warm, 0, (size_t)SNI_WARM_BANKS * (size_t)sim->m->nrow * sizeof *st->warm);
  return true;
}

/* qd1: the rates of the step, at q. */
static sn_status find_rates(sn_sim *sim, sni_structured *st, double t_end, const double *q,
                            const double *qd, double *qd1, sn_info *info, sn_error *err) {
  sni_ties *t = &st->ties;
  int bad = -1;
  sni_structured_ask(sim, st, t_end, q, qd);
  const int pushed = sni_dynamics_not_finite(&sim->d, st->s.b);
  if (pushed >= 0) {
    return sni_fail_body(sim, err, SN_E_DIVERGED, pushed, t_end, "is pushed by what is not finite");
  }
  const int lost_row = sim->d.rows ? sni_rows_not_finite(&sim->rows, false) : -1;
  if (lost_row >= 0) {
    return sni_fail(err, SN_E_DIVERGED, "at t = %g: '%s' is not finite", t_end,
                    sim->m->constraint_name[lost_row]);
  }
  t->deadline = sni_structured_deadline(sim, st, 0.35);
  for (bool again = true; again;) {
    if (st->solver->factorise(t, st->own, st->s.b, &bad) < 0) {
      return fail_singular(sim, bad, t_end, err);
    }
    st->left = 0;
    sni_structured_solve(sim, st, SNI_WARM_STEP, sim->options.structured.precision, st->s.b, qd1,
                         info);
    again = give_way(sim, st);
    if (again) {
      ask_step(sim, st, qd);
    }
  }
  const sni_moment at = {t_end, st->s.h, q, qd};
  if (sni_structured_stall(sim, st, &at, st->s.b, qd, qd1, info)) {
    remember(sim, st, SNI_WARM_STEP);
  }
  if (st->left > 0 && st->solver->damp) {
    st->solver->damp(t, st->s.b, qd1);
  }
  const int lost = sni_dynamics_not_finite(&sim->d, qd1);
  return lost >= 0 ? sni_fail_body(sim, err, SN_E_DIVERGED, lost, t_end, "is not finite any more")
                   : SN_OK;
}

/* qd1: what is nearest to the motion of the bodies at q1, where poses and rows are. */
static sn_status end_rates(sn_sim *sim, sni_structured *st, double t_end, double h,
                           const double *q1, double *qd1, sn_info *info, sn_error *err) {
  sni_ties *t = &st->ties;
  int bad = -1;
  const int64_t deadline = sni_structured_deadline(sim, st, 1);
  memcpy(st->before, qd1, (size_t)sim->m->tree.nv * sizeof *qd1);
  sni_move_momenta(&st->s, qd1);
  const double *as_before = st->before;
  t->stage = SNI_TIES_END;
  find_odds(sim, st, 0);
  for (int k = 0; sim->d.rows && k < sim->m->tree.nv; k++) {
    st->went[k] = qd1[k] + st->closing[k];
  }
  memset(st->odds.braked, 0, (size_t)sim->m->tree.nbody * sizeof *st->odds.braked);
  do {
    ask_rates(sim, st, 0, st->went);
    if (st->odds.any) {
      sni_odds_brake(sim, &st->odds, st->closing, st->before, BRAKE * h, st->s.b);
    }
    if (sni_structured_factorise_masses(sim, st, st->s.b, as_before, &bad) < 0) {
      return fail_singular(sim, bad, t_end, err);
    }
    as_before = NULL; /* b knows them now */
    t->deadline = deadline ? deadline - st->tail : 0;
    sni_structured_solve(sim, st, SNI_WARM_END, sim->options.structured.precision, st->s.b, qd1,
                         info);
  } while (give_way(sim, st));
  const sni_moment at = {t_end, h, q1, st->before};
  if (sni_structured_stall(sim, st, &at, st->s.b, st->before, qd1, info)) {
    remember(sim, st, SNI_WARM_END);
  }
  if (sim->d.rows && st->broken_off && !st->odds.any) {
    sni_odds_all(sim, &st->odds);
  }
  if (st->odds.any) {
    sni_odds_settle(sim, &st->odds, st->closing, qd1);
    sni_ties_check(t, qd1);
  }
  info->residual = t->off < st->left ? st->left : t->off; /* this way round so that NaN stays */
  return SN_OK;
}

/* The same where less is open. */
static sn_status end_again(sn_sim *sim, sni_structured *st, double t_end, double h, double *q1,
                           double *qd1, sn_info *info, sn_error *err) {
  const int nv = sim->m->tree.nv;
  memcpy(qd1, st->before, (size_t)nv * sizeof *qd1);
  for (int k = 0; k < nv; k++) {
    st->closing[k] -= q1[k] / h;
  }
  sni_structured_polish(sim, st, t_end, q1, qd1, info);
  for (int k = 0; k < nv; k++) {
    st->closing[k] += q1[k] / h;
  }
  return end_rates(sim, st, t_end, h, q1, qd1, info, err);
}

/* Where a gap that is left may turn rates by much (lost.c), less is left: always where iterations
 * find the rates, which is cheap and keeps what they leave from adding up; else where it is seen to
 * have cost something. */
static sn_status end(sn_sim *sim, sni_structured *st, double t_end, double h, double *q1,
                     double *qd1, sn_info *info, sn_error *err) {
  const bool rough = sim->d.rows && sni_structured_is_rough(st, info->gap);
  const sn_status status = end_rates(sim, st, t_end, h, q1, qd1, info, err);
  return !status && rough && !st->solver->guided && !st->odds.any &&
                 sni_structured_has_lost(sim, st, h, info->gap)
             ? end_again(sim, st, t_end, h, q1, qd1, info, err)
             : status;
}

/* Which stops push, as the step begins. */
static void guess_stops(sn_sim *sim, sni_system *s, double t_end, double h, const double *q,
                        const double *qd) {
  if (sim->m->nsided > 0) {
    s->h = h;
    s->stops = &sim->rows;
    sni_rows_eval_poses(&sim->rows, t_end, t_end, q, qd);
    sni_system_push_stops(s, qd, false);
  }
}

static sn_status advance(sn_sim *sim, sni_structured *st, sn_state *state, const sn_input *input,
                         double t_end, sn_info *info, sn_error *err) {
  const int nv = sim->m->tree.nv;
  const size_t bytes = (size_t)nv * sizeof(double);
  const double h = t_end - state->t;
  sni_system *s = &st->s;
  double *q = sim->q, *qd = sim->qd, *qd1 = sim->qdd, *q1 = s->scratch;
  memcpy(q, sni_state_q(state), bytes);
  memcpy(qd, sni_state_qd(state), bytes);
  sni_dynamics_reparam(&sim->d, q, qd);
  sni_dynamics_kinematics(&sim->d, q, qd);

  /* drives that would pass their limits get them instead, cables that would push are left out, and
   * the others see it; so do bodies that would turn far under heavy loads */
  const sni_moment at = {t_end, h, q, qd};
  bool again = true, settled = true;
  sni_system_release_drives(s);
  guess_stops(sim, s, t_end, h, q, qd);
  sni_structured_expect_loads(sim, st, &at);
  for (int pass = 0; again || (!settled && pass <= STOP_PASSES); pass++) {
    sni_system_assemble(s, t_end, h, q, qd, input, SNI_TANGENT_CLAMPED);
    const sn_status status = find_rates(sim, st, t_end, q, qd, qd1, info, err);
    if (status) {
      return status;
    }
    const bool looks = sni_structured_looks(sim, st);
    const bool far = sni_move_begin(s, SNI_TWISTS_KNOWN, looks, q, qd1, q1);
    again = sni_system_limit_drives(s, t_end, q1, qd1, input);
    again = sni_system_limit_loops(s, qd1) || again;
    settled = !sni_system_push_stops(s, qd1, pass >= LIMIT_PASSES);
    again = sni_system_pull_cables(s, t_end, sim->F) || again;
    again = (looks && sni_structured_foresee(sim, st, far)) || again;
    again = again && pass < LIMIT_PASSES;
  }
  sni_structured_keep_loads(sim, st);
  sni_move_drift(sim, s, h, q, q1, qd1);
  if (sim->d.rows) {
    memcpy(st->closing, q1, bytes);
    sni_structured_close(sim, st, t_end, q1, qd1, info);
    if (st->solver->guided && sni_structured_is_rough(st, info->gap)) {
      sni_structured_polish(sim, st, t_end, q1, qd1, info);
    }
    for (int k = 0; k < nv; k++) {
      st->closing[k] = (q1[k] - st->closing[k]) / h;
    }
  } else {
    sni_dynamics_places(&sim->d, q1, qd1);
  }
  const sn_status ended = end(sim, st, t_end, h, q1, qd1, info, err);
  if (ended) {
    return ended;
  }
  memcpy(sni_state_q(state), q1, bytes);
  memcpy(sni_state_qd(state), qd1, bytes);
  info->substeps = info->evaluations = 1;
  info->last_substep = h;
  const bool good = settled &&
                    info->residual <= fmax(sim->options.structured.precision, ROUNDING) &&
                    info->gap <= fmax(sim->options.structured.precision, 1e-12);
  return good ? SN_OK : SN_NOT_CONVERGED;
}

/* What comes after the last iteration: as much as steps took too long, and something at first.  It
 * is not the same in all of them, so that it is forgotten slowly; but something else may have had
 * the processor, so not more than a quarter of the budget is believed. */
static void learn_tail(const sn_sim *sim, sni_structured *st) {
  const int64_t deadline = sni_structured_deadline(sim, st, 1);
  if (deadline) {
    const int64_t over = sni_clock() - deadline, most = (deadline - st->started) / 4;
    st->tail = over > 0 ? st->tail + over : st->tail - st->tail / 512;
    st->tail = st->tail < most ? st->tail : most;
  }
}

/* Positions go to where what is switched on is met, as well as can be.  Rates go on as they were:
 * the step finds what meets it, and what would throw things about (stall.c). */
static void switch_on(sn_sim *sim, const sni_structured *st, sn_state *state, double t_end) {
  const sni_tree *tree = &sim->m->tree;
  const double *q = st->backup + changed_count(sim->m), *qd = q + tree->nv;
  sni_sim_switch(sim, t_end, state, NULL);
  memcpy(sni_state_qd(state), qd, (size_t)tree->nv * sizeof *qd);
  for (int k = 0; k < tree->nball; k++) {
    const int adr = tree->vadr[tree->ball[k].body] + tree->ball[k].first;
    sni_so3_carry_rate(q + adr, sni_state_q(state) + adr, sni_state_qd(state) + adr);
  }
}

static sn_status structured_step(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                                 sn_info *info, sn_error *err) {
  sni_structured *st = sim->method_work;
  st->started = sim->options.structured.budget > 0 ? sni_clock() : 0;
  if (st->tail == 0) {
    st->tail = (int64_t)(1e6 * sim->options.structured.budget * TAIL);
  }
  st->warm = sni_state_private(state) + sim->m->nloop_q;
  st->give = st->warm + (size_t)SNI_WARM_BANKS * (size_t)sim->m->nrow;
  st->cut = st->give + 1;
  st->flat = st->cut + 2;
  st->known = *st->give > 0;
  keep(sim, st, state);
  st->ties.iterations = sim->options.structured.iterations;
  sni_sim_load_loops(sim, sni_state_private(state));
  sim->rows.apart = sim->m->nsided > 0; /* soft stops are forces of the system */
  const bool timed = sim->d.rows && !sim->rows.timeless;
  st->met = timed && sni_sim_switched(sim, state->t, t_end, true);
  st->changed = st->met || (timed && sni_sim_switched(sim, state->t, t_end, false));
  if (st->met) {
    switch_on(sim, st, state, t_end);
  }
  const sn_status status = advance(sim, st, state, input, t_end, info, err);
  sim->rows.apart = false;
  learn_tail(sim, st);
  if (status < 0) {
    take_back(sim, st, state);
    return status;
  }
  sni_sim_save_loops(sim, sni_state_private(state));
  return status;
}

const sni_method sni_method_structured = {
    .name = "structured",
    .doc = "maximal coordinates; trees in linear time, loops refined by iterations that may stop "
           "at any time",
    .gives_way = true,
    .supports = structured_supports,
    .state_count = structured_state_count,
    .work_size = structured_work_size,
    .wants_graph = structured_wants_graph,
    .implicit = true,
    .motions_are_rows = true,
    .create = structured_create,
    .destroy = structured_destroy,
    .dense = structured_dense,
    .step = structured_step};
