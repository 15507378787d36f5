/* unilateral.c: rows that push and do not pull. */
#include "base/memory.h"
#include "dynamics/doubt.h"
#include "dynamics/unilateral_parts.h"

#include <string.h>

/* A row that is touched and leaves more slowly than this is held. */
#define AT_REST 1e-9
/* What pushes by less than this part of the largest of all impulses is rounding. */
#define PUSHES 1e-9

static bool is_hard(const sni_row *row) {
  return row->stop.stiffness == 0;
}

bool sni_unilateral_is_free(const sni_rows *r, int i) {
  return r->row[i].one_sided && !(r->u.events && r->u.held[r->u.slot[i]]);
}

void sni_unilateral_guess(sni_rows *r) {
  sni_unilateral *u = &r->u;
  r->nsided = 0;
  for (int i = 0, k = 0, first = 0; i < r->nrow; i++) {
    for (; k < r->of[i]; k++) {
      first += r->constraint[k].nrow;
    }
    const bool same = i > 0 && r->of[i - 1] == r->of[i];
    u->slot[i] = same ? u->slot[i - 1] + 1 : first;
    r->nsided += r->row[i].one_sided;
    u->in[i] = !sni_unilateral_is_free(r, i) || r->row[i].g <= SNI_TOUCH;
    u->soft[i] = 0;
  }
  u->count = 0;
  u->fresh = false;
  u->impossible = -1;
}

/* ---- in the dual ---- */

static sn_status add_column(sni_rows *r, int i) {
  sni_unilateral *u = &r->u;
  const size_t nv = (size_t)r->d->m->tree.nv;
  const int k = u->count;
  double *x = r->X + (size_t)k * nv;
  sni_rows_column(r, i, r->column);
  memset(x, 0, nv * sizeof *x);
  const sn_status status = r->solve(r->user, r->column, x);
  if (status < 0) {
    return status;
  }
  sni_rows_mul(r, x, r->y);
  u->which[u->count++] = i;
  u->in[i] = true;
  for (int j = 0; j <= k; j++) {
    u->S[(size_t)k * (size_t)r->capacity + (size_t)j] = r->y[u->which[j]];
  }
  return SN_OK;
}

/* All columns of the rows that are in, in few passes over the tree. */
static void add_columns(sni_rows *r) {
  sni_unilateral *u = &r->u;
  int n = 0;
  for (int i = 0; i < r->nrow; i++) {
    if (u->in[i]) {
      u->picked[n] = r->row[i];
      u->which[n++] = i;
    }
  }
  sni_columns_solve(&r->columns, &r->d->w, n, u->picked, r->X, r->S);
  for (int k = 0; k < n; k++) {
    memcpy(u->S + (size_t)k * (size_t)r->capacity, r->S + (size_t)k * (size_t)n,
           (size_t)(k + 1) * sizeof(double));
  }
  u->count = n;
}

sn_status sni_unilateral_factorise(sni_rows *r) {
  if (r->solve == sni_rows_solve_tree) {
    add_columns(r);
    sni_rows_find_silent(r, r->u.silent);
    return SN_OK;
  }
  r->u.count = 0;
  for (int i = 0; i < r->nrow; i++) {
    const sn_status status = r->u.in[i] ? add_column(r, i) : SN_OK;
    if (status < 0) {
      return status;
    }
  }
  sni_rows_find_silent(r, r->u.silent);
  return SN_OK;
}

/* Of the limits in the dual's answer, the one that pushes most; -1: none does. */
static int most_pushing(const sni_rows *r) {
  const sni_unilateral *u = &r->u;
  double most = 0;
  int pushing = -1;
  for (int k = 0; k < u->count; k++) {
    if (r->row[u->which[k]].one_sided && -u->qp.x[k] > most) {
      most = -u->qp.x[k];
      pushing = u->which[k];
    }
  }
  return pushing;
}

/* lambda of the rows in the dual. */
static void solve_dual(sni_rows *r, const double *c) {
  sni_unilateral *u = &r->u;
  sni_qp *qp = &u->qp;
  const int n = qp->n = u->count;
  for (int k = 0; k < n; k++) {
    const int i = u->which[k];
    const bool idle = c[i] == SNI_LET_GO || u->silent[i];
    memcpy(qp->S + (size_t)k * (size_t)n, u->S + (size_t)k * (size_t)r->capacity,
           (size_t)(k + 1) * sizeof(double));
    qp->S[(size_t)k * (size_t)n + (size_t)k] += u->soft[i];
    qp->b[k] = idle ? 0 : u->free[i] - c[i];
    qp->lo[k] = idle ? 0 : -INFINITY;
    qp->hi[k] = idle || sni_unilateral_is_free(r, i) ? 0 : INFINITY;
    qp->side[k] = idle ? 1 : 0;
  }
  sni_qp_info info;
  sni_qp_solve(qp, &info);
  u->short_of = info.short_of;
  u->impossible = -1;
  if (info.impossible >= 0 && info.short_of > SNI_AGREES) {
    const int pushing = most_pushing(r);
    u->impossible = pushing >= 0 ? pushing : u->which[info.impossible];
  }
}

void sni_unilateral_correct(sni_rows *r, const double *c, double *x) {
  sni_unilateral *u = &r->u;
  const size_t nv = (size_t)r->d->m->tree.nv;
  memcpy(u->start, x, nv * sizeof *x);
  sni_rows_mul(r, x, u->free);
  memcpy(u->v, u->free, (size_t)r->nrow * sizeof *u->v);
  const double small = SNI_EXACT * fmax(sni_unilateral_largest(r->nrow, u->free),
                                        sni_unilateral_largest(r->nrow, c));
  for (int pass = 0;; pass++) {
    bool more = pass == 0;
    for (int i = 0; i < r->nrow; i++) {
      if (!u->in[i] && u->v[i] < c[i] - small && add_column(r, i) == SN_OK) {
        more = true;
      }
    }
    if (!more) {
      return;
    }
    solve_dual(r, c);
    memset(r->lambda, 0, (size_t)r->nrow * sizeof *r->lambda);
    memcpy(x, u->start, nv * sizeof *x);
    for (int k = 0; k < u->count; k++) {
      const double lambda = u->qp.x[k], *column = r->X + (size_t)k * nv;
      r->lambda[u->which[k]] = lambda;
      for (size_t j = 0; lambda != 0 && j < nv; j++) {
        x[j] -= lambda * column[j];
      }
    }
    sni_rows_mul(r, x, u->v);
  }
}

/* ---- restitution ---- */

/* Rates of the free rows as they are felt by what they push, that of motions included. */
static void rates_of(sni_rows *r, const double *x, double *v) {
  sni_rows_mul(r, x, v);
  for (int i = 0; i < r->nrow; i++) {
    v[i] = sni_unilateral_is_free(r, i) ? v[i] + r->row[i].rate : 0;
  }
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static bool any_comes_back(const sni_rows *r) {
  for (int i = 0; i < r->nrow; i++) {
    if (r->row[i].one_sided && !isnan(r->u.meek[i])) {
      return true;
    }
  }
  return false;
}

/* How much of the lively solution there may be. The work W of blows is that of impulses over the
 * mean of the rates before and after, and nothing else: rows that move do work, too, which is no
 * concern of the stops. Between the meek solution and the lively one,
 *
 *     2 W = -lambda^T (v + before) = A part^2 + 2 B part + C */
static double part_of(int n, const double *lambda, const double *v, const double *meek_lambda,
                      const double *meek_v, const double *before) {
  const double all = -dot(n, lambda, v), least = -dot(n, meek_lambda, meek_v);
  const double cross = -dot(n, lambda, meek_v) - dot(n, meek_lambda, v);
  const double A = all + least - cross, C = least - dot(n, meek_lambda, before);
  const double B = 0.5 * (cross - dot(n, lambda, before) - least - C);
  const double root = sqrt(fmax(B * B - A * C, 0));
  return C >= 0 || !(A > 0) ? 0 : fmin((root - B) / A, 1);
}

static sn_status tame(sni_rows *r, sni_unilateral_again solve, void *user, double *x) {
  sni_unilateral *u = &r->u;
  const size_t nv = (size_t)r->d->m->tree.nv, room = (size_t)r->capacity;
  const int n = r->nrow;
  double *other = u->tamed, *lambda = other + nv, *c = lambda + room, *v = c + room;
  double *before = v + room;
  memcpy(lambda, r->lambda, (size_t)n * sizeof *lambda);
  rates_of(r, x, v);
  /* from one limit back through the other within the step: that cannot be had */
  const bool impossible = u->impossible >= 0;
  for (int i = 0; i < n; i++) {
    c[i] = sni_unilateral_is_free(r, i) ? SNI_LET_GO : r->rhs[i];
  }
  u->impossible = -1;
  sn_status status = solve(user, c, other);
  rates_of(r, other, before);
  if (status < 0 || !(impossible || -dot(n, lambda, v) - dot(n, lambda, before) > 0)) {
    memcpy(r->lambda, lambda, (size_t)n * sizeof *lambda);
    return status;
  }
  for (int i = 0; i < n; i++) {
    c[i] = r->row[i].one_sided && !isnan(u->meek[i]) ? u->meek[i] : r->rhs[i];
  }
  status = solve(user, c, other);
  rates_of(r, other, u->v);
  const double part = impossible ? 0 : part_of(n, lambda, v, r->lambda, u->v, before);
  for (size_t j = 0; j < nv; j++) {
    x[j] = other[j] + part * (x[j] - other[j]);
  }
  for (int i = 0; i < n; i++) {
    r->lambda[i] += part * (lambda[i] - r->lambda[i]);
  }
  return status;
}

sn_status sni_unilateral_tame(sni_rows *r, sni_unilateral_again solve, void *user, double *x) {
  sni_unilateral *u = &r->u;
  u->work = 0;
  if (!any_comes_back(r)) {
    return SN_OK;
  }
  const sn_status status = tame(r, solve, user, x);
  rates_of(r, x, u->v);
  for (int i = 0; i < r->nrow; i++) {
    const bool comes_back = r->row[i].one_sided && !isnan(u->meek[i]);
    u->blow = u->blow || (comes_back && r->lambda[i] < 0);
    u->work -= comes_back ? 0.5 * r->lambda[i] * (u->v[i] + u->struck[i]) : 0;
  }
  u->work = fmin(u->work, 0);
  return status;
}

/* ---- with the masses for A ---- */

/* From the rates in u->unbound. */
static sn_status correct_again(void *user, const double *c, double *x) {
  sni_rows *r = user;
  const size_t nv = (size_t)r->d->m->tree.nv;
  memcpy(x, r->u.unbound, nv * sizeof *x);
  sni_rows_correct(r, c, x);
  return SN_OK;
}

void sni_unilateral_correct_rates(sni_rows *r, double gain, double *qd) {
  memcpy(r->u.unbound, qd, (size_t)r->d->m->tree.nv * sizeof *qd);
  sni_unilateral_aim_rates(r, gain, 0, qd);
  sni_rows_correct(r, r->rhs, qd);
  sni_unilateral_tame(r, correct_again, r, qd);
}

int sni_unilateral_momenta(sni_rows *r, double gain, const double *b, double *qd) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = sni_dynamics_masses(d);
  int bad = sni_rows_factorise_mass(r);
  if (bad < 0 && r->kkt) {
    bad = sni_factorise(&d->m->tree, &in, &d->w);
  }
  if (bad < 0) {
    sni_Minv_mul(&d->m->tree, &d->w, b, qd);
    sni_unilateral_correct_rates(r, gain, qd);
  }
  return bad;
}

/* Whatever closing puts back is held in the rates, too, although the loops that close with it may
 * leave it a little within its limit: else it would be put back in every step, and become faster
 * for ever.  Who goes from event to event has stopped it already. */
static void note_put_back(sni_rows *r) {
  sni_unilateral *u = &r->u;
  const double small = PUSHES * sni_unilateral_largest(r->nrow, r->lambda);
  for (int i = 0; i < r->nrow && !u->events; i++) {
    if (r->row[i].one_sided && r->lambda[i] < -small) {
      u->put_back[u->slot[i]] = true;
    }
  }
}

sn_status sni_unilateral_close(sni_rows *r, double t, double t_ref, double tolerance, double *q,
                               const double *qd, int *worst, double *gap) {
  enum { CLOSE_MAX = 30 };
  const int nv = r->d->m->tree.nv;
  const size_t bytes = (size_t)nv * sizeof *q;
  double before = INFINITY, *step = r->column;
  for (int k = 0;; k++) {
    sni_dynamics_kinematics(r->d, q, qd);
    sni_rows_eval(r, t, t_ref, q, qd);
    *gap = sni_rows_gap(r, worst);
    if (before <= tolerance && !(*gap <= tolerance)) { /* thrown out again */
      memcpy(q, r->q_before, bytes);
      sni_dynamics_kinematics(r->d, q, qd);
      sni_rows_eval(r, t, t_ref, q, qd);
      *gap = sni_rows_gap(r, worst);
    }
    /* in a singular pose a little may stay that no motion closes to first order */
    const bool stuck = *gap > 0.5 * before && *gap <= 100 * tolerance;
    /* what is left of gaps is left of all of them, and rows that others stand for do not see it */
    const bool closed = *gap <= fmin(tolerance, SNI_GAP_NOISE);
    before = *gap;
    if (k == CLOSE_MAX || !isfinite(*gap)) {
      return *gap <= tolerance ? SN_OK : SN_NOT_CONVERGED;
    }
    if (sni_rows_factorise_mass(r) >= 0) {
      return SN_E_SINGULAR;
    }
    if (closed || stuck) {
      return SN_OK;
    }
    sni_unilateral_aim_gaps(r);
    sni_rows_agree(r);
    memset(step, 0, (size_t)nv * sizeof *step);
    sni_rows_correct(r, r->rhs, step);
    note_put_back(r);
    memcpy(r->q_before, q, bytes);
    for (int j = 0; j < nv; j++) {
      q[j] += step[j];
    }
  }
}

void sni_unilateral_bounce(sni_rows *r, double slow, double *qd) {
  sni_rows_factorise_mass(r);
  sni_unilateral_aim_rates(r, 0, slow, qd);
  sni_rows_correct(r, r->rhs, qd);
}

/* ---- what rows are asked for ---- */

double sni_unilateral_aim(const sni_row *row, double h, double penetration, double before,
                          double *soft) {
  const sn_stop_def *stop = &row->stop;
  const bool hits = row->g + h * before <= 0, back = stop->restitution > 0;
  *soft = 0;
  if (stop->stiffness > 0) {
    /* f = -k (g + h v) - d v, an impulse h f = -lambda; before it gets there, nothing damps but
     * what goes beyond: -(k h + d) (v + g/h) */
    const double stiff = h * stop->stiffness + stop->damping;
    *soft = 1 / (h * stiff);
    return row->g > 0 ? -row->g / h : -stop->stiffness * row->g / stiff;
  }
  if (penetration > 0) { /* what has been put back lies on the border: it goes on acting */
    return row->g > SNI_TOUCH ? SNI_LET_GO
                              : fmax(-penetration * row->g, -stop->restitution * before);
  }
  if (back && before < 0 && hits) {
    return -stop->restitution * before;
  }
  /* what will be hit although it is not yet heading there comes back at the end of the step */
  return back && row->g > SNI_TOUCH ? SNI_LET_GO : -row->g / h;
}

/* The gap of a row without what functions of time have moved it by in `ahead`; rows that come first
 * in their constraint may say nothing of places. */
static double gap_before(const sni_rows *r, int i, double ahead) {
  const int rates = sni_rows_rates_of(r, r->of[i]);
  const bool of_rates = rates > 0 && (i < rates || r->of[i - rates] != r->of[i]);
  return of_rates ? r->row[i].g : r->row[i].g - ahead * r->row[i].rate;
}

void sni_unilateral_aim_step(sni_rows *r, double h, double gain, double ahead, double penetration,
                             const double *qd) {
  sni_unilateral *u = &r->u;
  if (r->nsided > 0) {
    sni_rows_mul(r, qd, u->v);
  }
  sni_unilateral_load(r, NULL, u->put_back);
  u->blow = false;
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const double to =
        row->one_sided ? sni_unilateral_aim(row, h, penetration, u->v[i] + row->rate, &u->soft[i])
                       : -gain * gap_before(r, i, ahead);
    r->rhs[i] = to - (to == SNI_LET_GO ? 0 : row->rate);
    if (row->one_sided) {
      sni_row dull = *row;
      double soft;
      u->struck[i] = u->v[i] + row->rate;
      dull.stop.restitution = 0;
      const double meek = sni_unilateral_aim(&dull, h, penetration, u->struck[i], &soft);
      u->meek[i] = to > 0 && to > meek ? meek - row->rate : NAN;
    }
  }
}

void sni_unilateral_note(sni_rows *r, const double *b) {
  sni_unilateral *u = &r->u;
  const double small = PUSHES * fmax(sni_unilateral_largest(r->nrow, r->lambda),
                                     sni_unilateral_largest(r->d->m->tree.nv, b));
  u->acting = SNI_HASH_SEED;
  sni_unilateral_load(r, NULL, u->pressed);
  for (int i = 0; i < r->nrow; i++) {
    if (r->row[i].one_sided && r->lambda[i] < -small) {
      u->pressed[u->slot[i]] = isnan(u->meek[i]);
      u->acting = sni_hash(u->acting, &u->slot[i], sizeof u->slot[i]);
      /* it gets there in this step, and goes on at g/h until then: that is no rate to go by */
      u->blow = u->blow || (is_hard(&r->row[i]) && r->row[i].g > SNI_TOUCH);
    }
  }
}

int sni_unilateral_count(const sn_model *m) {
  return m->nsided > 0 ? m->nrow : 0;
}

void sni_unilateral_load(const sni_rows *r, const double *from, bool *flag) {
  for (int k = 0; r->d && k < sni_unilateral_count(r->d->m); k++) { /* a sim may have no rows */
    flag[k] = from && from[k] != 0;
  }
}

void sni_unilateral_save(const sni_rows *r, const bool *flag, double mark, double *to) {
  for (int k = 0; r->d && k < sni_unilateral_count(r->d->m); k++) {
    to[k] = flag[k] ? mark : 0;
  }
}

void sni_unilateral_load_pressed(sni_rows *r, const double *from, double ours) {
  for (int k = 0; r->d && k < sni_unilateral_count(r->d->m); k++) {
    r->u.pressed[k] = from[k] > 0 && from[k] <= ours;
  }
}

void sni_unilateral_aim_gaps(sni_rows *r) {
  for (int i = 0; i < r->nrow; i++) {
    const bool soft = r->row[i].one_sided && !is_hard(&r->row[i]);
    r->rhs[i] = soft ? SNI_LET_GO : -r->row[i].g;
  }
}

/* Hard, and touched. */
static bool is_touched(const sni_row *row) {
  return is_hard(row) && row->g <= SNI_TOUCH;
}

void sni_unilateral_aim_rates(sni_rows *r, double gain, double slow, const double *qd) {
  sni_unilateral *u = &r->u;
  double least = 0;
  if (r->nsided > 0) {
    sni_rows_mul(r, qd, u->v);
    least = slow * (1 + sni_unilateral_largest(r->nrow, u->v));
  }
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const double before = row->one_sided ? u->v[i] + row->rate : 0;
    if (!sni_unilateral_is_free(r, i)) {
      if (row->one_sided) {
        u->meek[i] = NAN;
      }
      r->rhs[i] = -row->rate - gain * row->g;
    } else {
      const double came = u->came[u->slot[i]] * before;
      const double back = before < -least ? -row->stop.restitution * came : 0;
      const bool touched = is_touched(row) || u->put_back[u->slot[i]];
      r->rhs[i] = touched ? -row->rate + back : SNI_LET_GO;
      u->meek[i] = touched && back > 0 ? -row->rate : NAN;
    }
  }
  sni_unilateral_load(r, NULL, u->put_back);
}

void sni_unilateral_aim_accelerations(sni_rows *r, const double *qd) {
  sni_unilateral *u = &r->u;
  if (r->nsided == 0) {
    return;
  }
  sni_rows_mul(r, qd, u->v);
  const double fastest = sni_unilateral_largest(r->nrow, u->v), slow = AT_REST * (1 + fastest);
  /* who has pushed is not far: further away, somebody has put it there since */
  const double near = 1000 * SNI_TOUCH + *r->d->params.step * fastest;
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const bool rests = is_touched(row) && u->v[i] + row->rate <= slow;
    const bool touches = rests || (is_hard(row) && u->pressed[u->slot[i]] && row->g <= near);
    if (row->one_sided && (u->events ? sni_unilateral_is_free(r, i) : !touches)) {
      r->rhs[i] = SNI_LET_GO;
    }
  }
}

/* The energy of a soft stop. */
static double strain_of(const sni_row *row) {
  return row->g < 0 ? 0.5 * row->stop.stiffness * row->g * row->g : 0;
}

double sni_unilateral_soften(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                             bool forces) {
  sni_unilateral *u = &r->u;
  double energy = 0;
  sni_rows_eval(r, t, t_ref, q, qd);
  sni_rows_mul(r, qd, u->v);
  for (int i = 0; i < r->napart; i++) { /* who has them push them, too */
    energy += strain_of(&r->sided[i]);
  }
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const sn_stop_def *stop = &row->stop;
    u->borne[i] = forces ? 0 : u->borne[i];
    if (!row->one_sided || is_hard(row) || row->g >= 0) {
      continue;
    }
    energy += strain_of(row);
    const double f = -stop->stiffness * row->g - stop->damping * (u->v[i] + row->rate);
    if (forces && f > 0) {
      u->borne[i] = f;
      sni_rows_push(r, i, f);
    }
  }
  return energy;
}

/* ---- memory ---- */

static size_t lay_out(sni_unilateral *u, int capacity, int nv, bool dual, char *memory) {
  const size_t n = (size_t)capacity;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  u->in = TAKE(n, sizeof *u->in);
  u->which = TAKE(n, sizeof *u->which);
  u->both = TAKE(n, sizeof *u->both);
  u->silent = TAKE(n, sizeof *u->silent);
  u->picked = TAKE(dual ? n : 0, sizeof *u->picked);
  u->slot = TAKE(n, sizeof *u->slot);
  u->held = TAKE(n, sizeof *u->held);
  u->within = TAKE(n, sizeof *u->within);
  u->came = TAKE(n, sizeof *u->came);
  u->pressed = TAKE(n, sizeof *u->pressed);
  u->borne = TAKE(n, sizeof *u->borne);
  u->put_back = TAKE(n, sizeof *u->put_back);
  u->soft = TAKE(n, sizeof *u->soft);
  u->free = TAKE(n, sizeof *u->free);
  u->v = TAKE(n, sizeof *u->v);
  u->aim = TAKE(n, sizeof *u->aim);
  u->inner = TAKE(n, sizeof *u->inner);
  u->meek = TAKE(n, sizeof *u->meek);
  u->struck = TAKE(n, sizeof *u->struck);
  u->tamed = TAKE((size_t)nv + 4 * n, sizeof *u->tamed);
  u->unbound = TAKE((size_t)nv, sizeof *u->unbound);
  u->start = TAKE((size_t)nv, sizeof *u->start);
  u->S = TAKE(dual ? n * n : 0, sizeof *u->S);
  void *qp = TAKE(dual ? sni_qp_size(capacity) : 0, 1);
#undef TAKE
  if (memory && dual) {
    sni_qp_place(&u->qp, capacity, qp);
  }
  return used;
}

size_t sni_unilateral_size(int capacity, int nv, bool dual) {
  sni_unilateral u;
  return lay_out(&u, capacity, nv, dual, NULL);
}

void sni_unilateral_place(sni_unilateral *u, int capacity, int nv, bool dual, void *memory) {
  *u = (sni_unilateral){.impossible = -1};
  lay_out(u, capacity, nv, dual, memory);
  for (int k = 0; k < capacity; k++) {
    u->came[k] = 1;
    u->pressed[k] = false;
    u->borne[k] = 0;
    u->put_back[k] = false;
  }
}
