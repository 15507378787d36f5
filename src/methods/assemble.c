/* assemble.c: states onto the constraints, and who is named where that cannot be. */
#include "methods/sim.h"

#include <stdio.h>
#include <string.h>

/* Lengths and angles alike, and their rates: a nanometre where bodies are a metre long, a
 * nanoradian.
 */
#define CLOSED 1e-10
/* Rates that differ by less than this part of the largest agree. */
#define AT_ODDS 1e-6
/* Rows have something to do with a contradiction that have more than this part of the largest say
 * in it. */
#define RELATED 0.01
/* A step leaves gaps that are less. */
#define SMALL 1e-4
/* How far beside the start a loop is closed from that cannot be closed from the start itself: so
 * much at first, then ever more.  In large mechanisms that takes its time: rows x coordinates x
 * attempts is at most WORK, if there are more attempts than the least. */
#define ASIDE      0.01
#define ASIDE_MOST 3
#define WORK       3e6
enum { ATTEMPTS_LEAST = 4, ATTEMPTS_MOST = 200, TURNS_MAX = 5, ENDS_MAX = 20, POSES = 4 };
/* From here on Newton's method, which moves so little then that it is the same whoever solves and
 * whichever factors it goes by; from farther away it would not find its way. */
#define NEAR 1e-8
#define FAR  1e-3
/* Squares that are less by less than this part are not worth going elsewhere, nor going on. */
#define WORTH  0.9
#define LITTLE 1e-6

static const char *constraint_name(const sn_model *m, int k) {
  return m->constraint_name[k];
}

const char *sni_sim_section(const sn_model *m, int k) {
  const int limits = m->nconstraint - m->nlimit;
  return k < m->nloop                        ? "loops"
         : k < m->nloop + m->nbond           ? "constraints"
         : k < limits || k >= m->nconstraint ? "motions"
         : m->constraint[k].of_loop          ? "loops"
                                             : "bodies";
}

static void set_path(const sn_model *m, int constraint, sn_error *err) {
  if (err) {
    snprintf(err->path, sizeof err->path, "%s.%.200s", sni_sim_section(m, constraint),
             constraint_name(m, constraint));
  }
}

static bool is_length(const sni_row *row) {
  return sn_vec3_dot(row->p[0].v, row->p[0].v) + sn_vec3_dot(row->p[1].v, row->p[1].v) > 0;
}

/* How far a constraint is open, one of whose rows is by `gap`: rows of lengths, or of angles, along
 * axes across each other are one length, or one angle. */
static double how_open(const sni_rows *r, int constraint, double gap) {
  const sni_constraint *c = &r->constraint[constraint];
  int worst = 0;
  while (worst < r->nrow - 1 && !(r->of[worst] == constraint && fabs(r->row[worst].g) == gap)) {
    worst++;
  }
  double sum = 0;
  for (int i = 0; i < r->nrow; i++) {
    const bool alike = r->row[i].ncoord == 0 && !r->row[i].one_sided &&
                       is_length(&r->row[i]) == is_length(&r->row[worst]);
    if (i == worst || (r->of[i] == constraint && alike && r->row[worst].ncoord == 0)) {
      const double open = sni_constraint_open(c, r->row[i].g);
      sum += open * open;
    }
  }
  return sqrt(sum);
}

static double largest_of(int n, const double *e) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(e[i]));
  }
  return most;
}

/* Do rows that hold both ways ask for rates that cannot be had together?  Only then does one stand
 * against another.  Rates may be off without: in a pose where rows lose their rank, and next to it,
 * those that say nothing of their own take no part, and what little they do say is not heard.  No
 * rates at all meet rows that ask for none. */
static bool contradicts(sn_sim *sim) {
  sni_rows *rows = &sim->rows;
  const double *e = sni_rows_contradiction(rows);
  double asked = 0;
  for (int i = 0; i < rows->nrow; i++) {
    asked = rows->row[i].one_sided ? asked : fmax(asked, fabs(rows->rhs[i]));
  }
  return largest_of(rows->nrow, e) > AT_ODDS * asked;
}

/* What was closed a step ago, and is not asked to go anywhere, can always be closed again by a
 * small motion, but where rows lose their rank: constraints have let a motion begin that no pose
 * follows.
 */
static bool is_singular(const sn_sim *sim, double gap) {
  const sni_rows *rows = &sim->rows;
  bool timed = false;
  for (int i = 0; i < rows->nrow; i++) {
    timed = timed || rows->row[i].rate != 0 || rows->row[i].one_sided;
  }
  return gap <= SMALL && !timed;
}

/* Names what stays open. on_the_way: of a run, and not of a start. */
static sn_status check_closed(sn_sim *sim, sn_status status, double t, int worst, double gap,
                              bool on_the_way, sn_error *err) {
  if (status == SN_NOT_CONVERGED && worst >= 0) {
    const double open = how_open(&sim->rows, worst, gap);
    char left[64] = "what would close it leads beyond all numbers";
    if (isfinite(open)) {
      snprintf(left, sizeof left, "a gap of %.3g stays open", open);
    }
    sni_fail(err, SN_E_UNCONVERGED, "at t = %g: '%s' cannot close: %s%s", t,
             constraint_name(sim->m, worst), left,
             on_the_way && is_singular(sim, gap)
                 ? ". The pose is singular: constraints let a motion begin here that no pose "
                   "follows. Start it in another pose, or take away a constraint that says what "
                   "others say (sinew check names them)"
                 : "");
    set_path(sim->m, worst, err);
    sim->open_one = worst;
  }
  return status == SN_E_SINGULAR ? sni_fail_singular(sim, err, sim->rows.bad, t) : status;
}

/* By how much a rate is off because others want another; 0: by nothing that matters. */
static double at_odds(sn_sim *sim, const double *qd, int *worst) {
  double scale;
  if (sim->rows.timeless) { /* that nothing moves always agrees */
    return 0;
  }
  const double miss = sni_rows_slip(&sim->rows, qd, worst, &scale);
  const bool off = *worst >= 0 && miss > AT_ODDS * scale + CLOSED;
  return off && contradicts(sim) ? miss : 0;
}

/* Of the rows of e, which contradict each other, the one that has most to say and is not of
 * constraint `but`: a motion if there is one, which somebody has prescribed. */
static int loudest(const sn_sim *sim, const double *e, double least, int but) {
  const sni_rows *rows = &sim->rows;
  int which = -1;
  bool motion = false;
  for (int i = 0; i < rows->nrow; i++) {
    const bool moved = strcmp(sni_sim_section(sim->m, rows->of[i]), "motions") == 0;
    const bool louder =
        which < 0 || (moved && !motion) || (moved == motion && fabs(e[i]) > fabs(e[which]));
    if (fabs(e[i]) > least && rows->of[i] != but && louder) {
      which = i;
      motion = moved;
    }
  }
  return which;
}

/* Who stands against whom.  i: a row that misses what it asks for by `miss`, if nobody knows
 * better.
 */
static sn_status fail_at_odds(sn_sim *sim, double t, int i, double miss, sn_error *err) {
  const sni_rows *rows = &sim->rows;
  const double *e = sni_rows_contradiction(&sim->rows);
  const double least = RELATED * largest_of(rows->nrow, e);
  const int first = least > 0 ? loudest(sim, e, least, -1) : -1;
  const int other = first >= 0 ? loudest(sim, e, least, rows->of[first]) : -1;
  bool others = false;
  if (first >= 0) {
    double squares = 0;
    for (int k = 0; k < rows->nrow; k++) {
      squares += e[k] * e[k];
      others = others || (fabs(e[k]) > least && rows->of[k] != rows->of[first] && other >= 0 &&
                          rows->of[k] != rows->of[other]);
    }
    i = first;
    miss = squares / fabs(e[i]);
  }
  const char *name = constraint_name(sim->m, rows->of[i]);
  char whom[120] = "other constraints or motions";
  if (other >= 0) {
    snprintf(whom, sizeof whom, "'%.90s'%s", constraint_name(sim->m, rows->of[other]),
             others ? " and others" : "");
  }
  if (other < 0 && !sni_rows_moves(&sim->rows, i)) {
    sni_fail(err, SN_E_UNCONVERGED,
             "at t = %g: '%s' asks for what no joint lets move, and its rate is off by %.3g: take "
             "it away, or give its body a joint that does",
             t, name, miss);
  } else {
    sni_fail(err, SN_E_UNCONVERGED,
             "at t = %g: '%s' is at odds with %s, which leave%s its rate off by %.3g: take one of "
             "them away, or make them agree",
             t, name, whom, other >= 0 && !others ? "s" : "", miss);
  }
  set_path(sim->m, rows->of[i], err);
  return SN_E_UNCONVERGED;
}

sn_status sni_sim_check_rates(sn_sim *sim, double t, const double *qd, sn_error *err) {
  int worst = -1;
  const double miss = sim->method->gives_way ? 0 : at_odds(sim, qd, &worst);
  return miss > 0 ? fail_at_odds(sim, t, worst, miss, err) : SN_OK;
}

sn_status sni_sim_check_limits(sn_sim *sim, double t, sn_error *err) {
  const sni_rows *rows = &sim->rows;
  const int i = rows->nsided > 0 ? rows->u.impossible : -1;
  /* where gaps are open by rounding, rows that say the same differ by that */
  if (i < 0 || rows->u.short_of <= AT_ODDS * sni_rows_pace(rows)) {
    return SN_OK;
  }
  if (contradicts(sim)) { /* whoever pushes beside them is not to blame */
    return fail_at_odds(sim, t, i, rows->u.short_of, err);
  }
  if (!rows->row[i].one_sided) {
    return SN_OK;
  }
  return sni_fail(err, SN_E_UNCONVERGED,
                  "at t = %g: the limit of '%s' cannot hold, other constraints move it by "
                  "%.3g a second: give them another course, or the limit more room",
                  t, sim->m->constraint_name[rows->of[i]], rows->u.short_of);
}

/* Is `active` above 0 at t? */
static bool is_on(const sn_sim *sim, int active, double t) {
  double on[3];
  sni_function_eval(sim->m->function[active], t, t, on);
  return on[0] > 0;
}

bool sni_sim_switched(const sn_sim *sim, double t_before, double t, bool on) {
  const sni_rows *rows = &sim->rows;
  for (int k = 0; k < rows->nconstraint; k++) {
    const int active = rows->constraint[k].active;
    if (active >= 0 && is_on(sim, active, t) == on && is_on(sim, active, t_before) != on) {
      return true;
    }
  }
  return false;
}

/* It may be far open. */
static bool switched_on(const sn_sim *sim, double t_before, double t) {
  return sni_sim_switched(sim, t_before, t, true);
}

/* Where q has moved away from q_open, balls and free bodies go on turning as fast as they did,
 * whatever their coordinates have become. */
static void carry_rates(const sn_sim *sim, const double *q, double *qd) {
  const sni_tree *tree = &sim->m->tree;
  for (int k = 0; k < tree->nball; k++) {
    const int adr = tree->vadr[tree->ball[k].body] + tree->ball[k].first;
    sni_so3_carry_rate(sim->rows.q_open + adr, q + adr, qd + adr);
  }
}

/* From far away; joints keep their rates. */
static double approach(sn_sim *sim, double t, double t_ref, double near, double *q, double *qd) {
  memcpy(sim->rows.q_open, q, (size_t)sim->m->tree.nv * sizeof *q);
  const double gap = sni_rows_approach(&sim->rows, t, t_ref, near, q, qd);
  carry_rates(sim, q, qd);
  return gap;
}

sn_status sni_sim_project(sn_sim *sim, double t, double t_ref, double *q, double *qd,
                          sn_error *err) {
  int worst = -1;
  double gap = 0;
  if (switched_on(sim, t_ref - *sim->d.params.step, t_ref)) {
    approach(sim, t, t_ref, FAR, q, qd);
  }
  sn_status status = sni_rows_project(&sim->rows, t, t_ref, CLOSED, q, qd, &worst, &gap);
  if (!status && !sim->method->gives_way && at_odds(sim, qd, &worst) > 0) {
    /* where a blow has stopped all that moved, that may be what rounding has left of it */
    status = sni_rows_project(&sim->rows, t, t_ref, CLOSED, q, qd, &worst, &gap);
  }
  return status ? check_closed(sim, status, t, worst, gap, true, err)
                : sni_sim_check_rates(sim, t, qd, err);
}

sn_status sni_sim_close(sn_sim *sim, double t, bool near, double *q, const double *qd,
                        sn_error *err) {
  int worst = -1;
  double gap = 0;
  const bool far = switched_on(sim, t - *sim->d.params.step, t);
  if (far) {
    sni_rows_find_loops(&sim->rows, t, q, qd);
    sni_rows_approach(&sim->rows, t, t, FAR, q, qd);
  }
  const sn_status status =
      sni_rows_close(&sim->rows, t, t, CLOSED, near && !far, q, qd, &worst, &gap);
  return check_closed(sim, status, t, worst, gap, true, err);
}

/* What steps will start from, too: they must not look for loops elsewhere. */
static void find_loops(sn_sim *sim, sn_state *state) {
  if (sim->m->nloop_q > 0) {
    sni_sim_own(sim, state);
    sni_sim_load_loops(sim, sni_sim_loops_of(sim, state));
    sni_rows_find_loops(&sim->rows, state->t, sni_state_q(state), sni_state_qd(state));
    sni_sim_save_loops(sim, sni_sim_loops_of(sim, state));
  }
}

static double next_part(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)*seed / 9223372036854775808.0;
}

/* Balls turn about the axes of their bodies, and what flies goes along these: which way the world's
 * point, and which vector stands for a rotation, does not matter. */
void sni_sim_step_aside(sn_sim *sim, int which, double way) {
  const sni_tree *t = &sim->m->tree;
  double *q = sim->q, part[3];
  uint64_t seed = (uint64_t)which;
  for (int j = 0, k = 0; j < t->nv;) {
    const sni_ball next = k < t->nball ? t->ball[k] : (sni_ball){0};
    const int adr = k < t->nball ? t->vadr[next.body] + next.first : t->nv;
    const bool ball = j == adr,
               flies = j == adr - 3 && next.first >= 3 &&
                       sni_joint_slides(sni_tree_joints(t), next.body, next.first - 3) == 3;
    if (!ball && !flies) {
      q[j++] += way * next_part(&seed);
      continue;
    }
    for (int c = 0; c < 3; c++) {
      part[c] = way * next_part(&seed);
    }
    sn_vec3 aside = {part[0], part[1], part[2]};
    if (ball) {
      sni_so3_turn(q + j, aside);
      k++;
    } else {
      aside = sn_mat3_mul_vec(sn_so3_exp((sn_vec3){q[adr], q[adr + 1], q[adr + 2]}), aside);
      q[j] += aside.x;
      q[j + 1] += aside.y;
      q[j + 2] += aside.z;
    }
    j += 3;
  }
}

/* An arm that is stretched out cannot be pulled in, to first order: from a pose beside it can.
 * Where that does not help, from poses anywhere: then gaps had a least that is not 0. */
static void step_aside(sn_sim *sim, int attempt) {
  const double way = attempt == 0 ? 0 : fmin(ldexp(ASIDE, attempt - 1), ASIDE_MOST);
  if (way > 0) {
    memcpy(sim->rows.q_open, sim->q, (size_t)sim->m->tree.nv * sizeof *sim->q);
    sni_sim_step_aside(sim, attempt, way);
    carry_rates(sim, sim->q, sim->qd);
  }
}

static int attempts_for(const sn_model *m) {
  const double most = WORK / ((double)m->tree.nv * m->nrow);
  return (int)fmin(fmax(most, ATTEMPTS_LEAST), ATTEMPTS_MOST);
}

/* Levenberg's and Marquardt's method does not get on where rotation vectors go towards a whole
 * turn, in which they lose their rank: from a shorter vector of the same rotation it does. */
static double come_near(sn_sim *sim, double t, double t_ref) {
  double gap = INFINITY;
  for (int k = 0; k < TURNS_MAX; k++) {
    gap = approach(sim, t, t_ref, NEAR, sim->q, sim->qd);
    if (!sni_dynamics_reparam(&sim->d, sim->q, sim->qd) || gap <= NEAR) {
      break;
    }
  }
  return gap;
}

/* Where something is to be put together. */
typedef struct start {
  double t, t_ref;
  const double *q, *qd;
  const double *loops; /* coordinates of loops; NULL: wherever they are */
  int attempts;
} start;

static void go_back(sn_sim *sim, const start *from) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  memcpy(sim->q, from->q, bytes);
  memcpy(sim->qd, from->qd, bytes);
  if (from->loops) {
    sni_sim_load_loops(sim, from->loops);
  } else {
    sni_rows_find_loops(&sim->rows, from->t_ref, sim->q, sim->qd);
  }
}

/* From where sim->q is, which moves.  *least: the smallest squares of gaps so far, in the pose
 * sim->tau.  SN_E_SINGULAR: Newton's method was thrown to where there is no mass matrix, or there
 * is none at all. */
static sn_status close_from(sn_sim *sim, const start *from, double *least, sn_error *err) {
  const double gap = come_near(sim, from->t, from->t_ref), squares = sni_rows_squares(&sim->rows);
  if (squares < WORTH * *least) {
    *least = squares;
    memcpy(sim->tau, sim->q, (size_t)sim->m->tree.nv * sizeof(double));
  }
  return gap <= FAR ? sni_sim_project(sim, from->t, from->t_ref, sim->q, sim->qd, err)
                    : SN_NOT_CONVERGED;
}

/* The body whose joint has no inertia, in poses of no kind: nothing can be moved by the masses
 * then, and what stays open says nothing of loops.  In one of them rounding may look like some. -1:
 * none.
 */
static int without_inertia(sn_sim *sim, const start *from) {
  const sni_aba_in in = sni_dynamics_masses(&sim->d);
  int bad = -1;
  for (int k = 1; k <= POSES && bad < 0; k++) {
    go_back(sim, from);
    step_aside(sim, k);
    sni_dynamics_kinematics(&sim->d, sim->q, sim->qd);
    bad = sni_factorise(&sim->m->tree, &in, &sim->d.w);
  }
  return bad;
}

/* To sim->q and sim->qd; what came nearest is in sim->tau. */
static sn_status close_start(sn_sim *sim, const start *from, sn_error *err) {
  sn_status closed = SN_NOT_CONVERGED;
  double least = INFINITY;
  for (int k = 0; (closed > 0 || closed == SN_E_SINGULAR) && k < from->attempts; k++) {
    go_back(sim, from);
    step_aside(sim, k);
    closed = close_from(sim, from, &least, err);
  }
  const int bad = closed > 0 ? without_inertia(sim, from) : -1;
  return bad >= 0 ? sni_fail_singular(sim, err, bad, from->t) : closed;
}

/* From the pose that came nearest, sim->tau, on to the least squares themselves: an attempt has
 * only so many steps. */
static void go_to_the_end(sn_sim *sim, const start *from) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  double before = INFINITY, squares = INFINITY;
  memcpy(sim->q, sim->tau, bytes);
  memcpy(sim->qd, from->qd, bytes);
  sni_rows_find_loops(&sim->rows, from->t_ref, sim->q, sim->qd);
  for (int k = 0; k < ENDS_MAX && !(squares > (1 - LITTLE) * before); k++) {
    before = squares;
    come_near(sim, from->t, from->t_ref);
    squares = sni_rows_squares(&sim->rows);
  }
  memcpy(sim->tau, sim->q, bytes);
}

/* Names what is open in the pose that came nearest: sim->tau. */
static sn_status tell_start(sn_sim *sim, const start *from, sn_error *err) {
  int worst = -1;
  sni_dynamics_kinematics(&sim->d, sim->tau, from->qd);
  sni_rows_eval(&sim->rows, from->t, from->t_ref, sim->tau, from->qd);
  const double gap = sni_rows_gap(&sim->rows, &worst);
  check_closed(sim, SN_NOT_CONVERGED, from->t, worst, gap, false, err);
  return SN_E_UNCONVERGED;
}

sn_status sni_sim_hold(sn_sim *sim, double t, double t_ref, double *q, double *qd, sn_error *err) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof *q;
  const start from = {.t = t, .t_ref = t_ref, .q = q, .qd = qd, .attempts = attempts_for(sim->m)};
  const sn_status status = close_start(sim, &from, err);
  if (status > 0) {
    return tell_start(sim, &from, err);
  }
  if (!status) {
    memcpy(q, sim->q, bytes);
    memcpy(qd, sim->qd, bytes);
  }
  return status;
}

sn_status sni_sim_switch(sn_sim *sim, double t_end, sn_state *state, sn_error *err) {
  const bool on = sim->d.rows && !sim->rows.timeless && switched_on(sim, state->t, t_end);
  if (!on) {
    return SN_OK;
  }
  sni_rows *rows = &sim->rows;
  const bool one_place = rows->one_place;
  rows->one_place = false;
  const sn_status status =
      sni_sim_hold(sim, t_end, t_end, state->data, state->data + state->nv, err);
  rows->one_place = one_place;
  rows->seen = rows->seen && !one_place;
  return status;
}

static sn_status assemble(sn_sim *sim, sn_state *state, sn_error *err) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  find_loops(sim, state);
  const start from = {state->t,
                      state->t,
                      state->data,
                      state->data + state->nv,
                      sni_sim_loops_of(sim, state),
                      attempts_for(sim->m)};
  const sn_status closed = close_start(sim, &from, err);
  if (closed > 0) {
    if (sim->method->gives_way) {
      go_to_the_end(sim, &from);
    }
    const sn_status open = tell_start(sim, &from, err);
    if (sim->method->gives_way) { /* and goes on from there */
      memcpy(sni_state_q(state), sim->tau, bytes);
      sni_sim_save_loops(sim, sni_sim_loops_of(sim, state));
      return SN_NOT_CONVERGED;
    }
    return open;
  }
  if (closed) {
    return closed;
  }
  memcpy(sni_state_q(state), sim->q, bytes);
  sni_sim_save_loops(sim, sni_sim_loops_of(sim, state));
  int worst = -1;
  if (!(at_odds(sim, sim->qd, &worst) > 0)) { /* else they stay: nothing is nearer to all of them */
    memcpy(sni_state_qd(state), sim->qd, bytes);
  }
  return SN_OK;
}

/* The same start for every method, closed to the last digit. */
sn_status sn_sim_assemble(sn_sim *sim, sn_state *state, sn_error *err) {
  sni_rows *rows = &sim->rows;
  sn_status status = sni_sim_check_state(sim, state, err);
  status = status ? status : sni_sim_check_numbers(sim, state, err);
  if (status || !sim->d.rows) {
    return status;
  }
  const bool one_place = rows->one_place;
  rows->one_place = false;
  const sn_status assembled = assemble(sim, state, err);
  rows->one_place = one_place;
  rows->seen = rows->seen && !one_place;
  return assembled;
}

sn_status sn_sim_gap(sn_sim *sim, const sn_state *state, double *gap) {
  *gap = 0;
  if (sni_sim_check_state(sim, state, NULL)) {
    return SN_E_MISMATCH;
  }
  if (!sim->d.rows) {
    return SN_OK;
  }
  sni_rows *rows = &sim->rows;
  const double *q = state->data, *qd = q + state->nv, t = state->t;
  /* what is switched just now may or may not be closed yet: it must be active before and after */
  const double before = state->count > 0 ? sni_function_inside(t - state->step, t) : t;
  sni_sim_see_loops(sim, state);
  sni_dynamics_kinematics(&sim->d, q, qd);
  sni_rows_eval_poses(rows, t, before, q, qd);
  for (int i = 0; i < rows->nrow; i++) {
    const int active = rows->constraint[rows->of[i]].active;
    double on[3] = {1};
    if (active >= 0) {
      sni_function_eval(sim->m->function[active], t, t, on);
    }
    *gap = on[0] > 0 ? fmax(*gap, sni_rows_gap_of(rows, i)) : *gap;
  }
  return SN_OK;
}
