/* rub_solve.c: friction and loads in turn. */
#include "base/memory.h"
#include "linear/band.h"
#include "math/dense.h"
#include "methods/redmax/rub.h"
#include "methods/redmax/stay.h"

#include <string.h>

/* Constraints hold a slide, or drive it, if what is left of its looseness is below this part.  Then
 * friction is all of its bound against the motion; without motion it is not determined, and 0. */
#define HELD 1e-10
/* A rate below this part of the largest is none. */
#define STILL 1e-12
/* Friction beyond this part of its bound has all of it. */
#define FULL (1 - 1e-12)
/* A rate below this part of what friction could make of it is none. */
#define ROUNDING 1e-10
/* Turns before what sticks may do so a little beyond its bound: where many joints hold each other,
 * their shares may go on changing, which moves nothing. */
enum { PATIENCE = 10 };
#define BEYOND_BOUND 1.01
/* Turns that wait for what is partly driven to have its way: where friction is much against how
 * fast it is driven, it never has. */
enum { SWERVES = 4 };
/* Turns before Newton's method, and how often it may try. */
enum { NEWTON_FROM = 4, NEWTONS = 5 };
/* A row that pushes is broken if it is by this part of the rates. */
#define EXACT 1e-12

/* One more row in the program. */
static sn_status join(sni_rubbing *r, int k) {
  const size_t nv = (size_t)r->s->t->nv, capacity = (size_t)r->capacity;
  const size_t nrow = r->rows ? (size_t)r->rows->nrow : 0;
  double *y = r->Y + (size_t)r->ncolumn * nv;
  memset(r->column, 0, nv * sizeof *r->column);
  sni_row_add_column(sni_rubbing_row(r, k), r->s->d, 1, r->column);
  memset(y, 0, nv * sizeof *y);
  const sn_status status = r->solve(r->user, r->column, r->none, y);
  if (status < 0) {
    return status;
  }
  if (nrow > 0) {
    memcpy(r->lambdas + (size_t)r->ncolumn * nrow, r->rows->lambda, nrow * sizeof *r->lambdas);
  }
  r->which[r->n] = k;
  r->column_of[k] = r->ncolumn++;
  sni_J_mul_world(r->s->t, &r->s->d->w, y);
  for (int i = 0; i <= r->n; i++) {
    r->S[(size_t)r->n * capacity + (size_t)i] =
        sni_row_mul(sni_rubbing_row(r, r->which[i]), &r->s->d->w, y);
  }
  r->n++;
  return status;
}

/* May it rub at all? */
static bool may_rub(const sni_rub *rub, const sni_rub_numbers *number, int c) {
  return rub->law == SNI_COULOMB ? number->mu > 0
                                 : number->force[c] > 0 || number->breakaway[c] > 0;
}

bool sni_rubbing_may(const sni_rubbing *r) {
  for (int k = 0; k < r->m->nrub; k++) {
    for (int c = 0; c < r->m->rub[k].nslide; c++) {
      if (may_rub(&r->m->rub[k], &r->s->d->params.rub[k], c)) {
        return true;
      }
    }
  }
  return false;
}

static double *S_at(const sni_rubbing *r, int i, int j) {
  return &r->S[(size_t)i * (size_t)r->capacity + (size_t)j];
}

/* How easily a slide, or a tangent of its own, would move without constraints; 0: nobody knows. */
static double looseness(const sni_rubbing *r, int which) {
  const int pad = which - r->m->nslide - r->m->nrow;
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    int slide = which - rub->first, tangent = pad - rub->first_tangent;
    if (pad < 0 && rub->law != SNI_COULOMB && slide >= 0 && slide < rub->nslide) {
      if (rub->body < 0) {
        return sni_rubbing_loose(r, k, sni_rubbing_from(r, k, &r->row[which]));
      }
      if (sni_rub_group_of(rub, slide)->ball) {
        const int axis = slide - sni_rub_group_of(rub, slide)->first;
        return sni_rubbing_loose(r, k, (sn_vec6){.w = {axis == 0, axis == 1, axis == 2}});
      }
      const int c = r->s->t->vadr[rub->body] + slide;
      const sn_vec6 S = sn_vec6_unrotate(r->axes[k], sni_lane6_vec6(r->s->d->w.S[c]));
      return sni_rubbing_loose(r, k, sn_vec6_scale(S, 1 / sn_vec6_dot(S, S)));
    }
    for (int b = 0; b < rub->nbearing; b++) {
      const sni_bearing *own = &rub->bearing[b];
      if (pad < 0 && slide >= 0 && slide < own->ndirection) {
        return sni_rubbing_loose(r, k, own->direction[slide]);
      }
      if (pad >= 0 && tangent >= 0 && tangent < own->ntangent) {
        return sni_rubbing_loose(r, k, own->tangent[tangent].T);
      }
      slide -= own->ndirection;
      tangent -= own->ntangent;
    }
  }
  return 0;
}

/* Slides that constraints hold or drive leave the program. */
static void drop_what_is_held(sni_rubbing *r) {
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    r->held[r->which[k]] = r->rows && !(*S_at(r, k, k) > HELD * looseness(r, r->which[k]));
    if (r->held[r->which[k]]) {
      r->ahead[r->which[k]] = 0; /* rows tell all of its rate */
      continue;
    }
    r->kept[n] = k;
    for (int i = 0; i <= n; i++) { /* what is kept moves up */
      *S_at(r, n, i) = *S_at(r, k, r->kept[i]);
    }
    r->which[n++] = r->which[k];
  }
  r->n = n;
}

sn_status sni_rubbing_prepare(sni_rubbing *r, sni_rub_solver solve, void *user) {
  sni_rubbing_look_loose(r);
  r->n = r->ncolumn = 0;
  r->solve = solve;
  r->user = user;
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    const bool free = r->rows->row[i].one_sided;
    r->aim[i] = free ? SNI_LET_GO : r->rows->rhs[i];
    r->none[i] = free ? SNI_LET_GO : 0;
  }
  memset(r->held, 0, (size_t)sni_rubbing_count(r) * sizeof *r->held);
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    r->column_of[i] = -1;
  }
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    const bool apart = sni_rubbing_apart(r, rub);
    const int n = apart ? sni_rub_tangents(rub) : rub->nslide;
    const int first = apart ? r->m->nslide + r->m->nrow + rub->first_tangent : rub->first;
    for (int c = 0; c < n; c++) {
      const bool may = may_rub(rub, &r->s->d->params.rub[k], apart ? 0 : c);
      const sn_status status = may ? join(r, first + c) : SN_OK;
      if (status < 0) {
        return status;
      }
    }
  }
  drop_what_is_held(r);
  r->nslides = r->n;
  sni_rubbing_find_stress(r);
  return SN_OK;
}

/* A rate below this is none; where constraints ask for no motion they drive nothing, and what moves
 * a slide that they hold is a linkage near where it is stretched out. */
static double least_rate(const sni_rubbing *r) {
  double most = 0, asked = 0;
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    asked = r->rows->row[i].one_sided ? asked : fmax(asked, fabs(r->aim[i]));
  }
  if (asked == 0) {
    return INFINITY;
  }
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    most = sni_rubbing_rubs(r, i) ? fmax(most, fabs(r->free[i])) : most;
  }
  return STILL * most;
}

/* Is what constraints hold driven by them?  Not if friction at its bound, on its bodies alone,
 * would change the rate so much that this one is rounding. */
static bool is_driven(const sni_rubbing *r, int i, double least) {
  if (!r->held[i]) {
    return false;
  }
  const double most = r->s->h * sni_rubbing_bound(r, i) * looseness(r, i);
  return fabs(r->free[i]) > fmax(least, ROUNDING * most);
}

/* All of the bound against what is driven. */
static void push_held(sni_rubbing *r) {
  const double least = least_rate(r);
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    if (is_driven(r, i, least)) {
      const double part = i < r->m->nslide ? r->part[i] : 1;
      r->push[i] = copysign(part * r->s->h * sni_rubbing_bound(r, i), r->free[i]);
    }
  }
}

static void fill_program(sni_rubbing *r, bool reduced) {
  const sni_unilateral *u = r->rows && r->rows->nsided > 0 ? &r->rows->u : NULL;
  sni_qp *qp = &r->qp;
  const int n = qp->n = r->n;
  for (int k = 0; k < n; k++) {
    const int i = r->which[k], row = i - r->m->nslide, pad = row - r->m->nrow;
    memcpy(qp->S + (size_t)k * (size_t)n, S_at(r, k, 0), (size_t)(k + 1) * sizeof(double));
    qp->b[k] = r->free[i];
    if (row < 0 || pad >= 0) {
      /* where the other problem has found the friction, it is given */
      const double most = r->s->h * sni_rubbing_bound(r, i);
      const double given = row < 0 ? r->s->h * r->force[i] : r->beta[pad];
      qp->lo[k] = reduced ? -most : given;
      qp->hi[k] = reduced ? most : given;
      /* a guess that misses what slips may cost as many changes as there are rows */
      const bool slips = r->taken > 0 ? !r->sticks[k] : fabs(given) >= FULL * most;
      qp->side[k] = !reduced || slips ? (given < 0 ? -1 : 1) : 0;
    } else {
      qp->S[(size_t)k * (size_t)n + (size_t)k] += u->soft[row];
      qp->b[k] -= r->rows->rhs[row];
      qp->lo[k] = -INFINITY;
      qp->hi[k] = qp->side[k] = 0;
    }
  }
}

/* Multipliers for the bounds as they are. */
static void solve_program(sni_rubbing *r, bool reduced) {
  const sni_unilateral *u = r->rows && r->rows->nsided > 0 ? &r->rows->u : NULL;
  sni_qp *qp = &r->qp;
  sni_qp_info info;
  const double least = least_rate(r);
  for (int i = 0; i < r->m->nslide; i++) {
    r->driven[i] = is_driven(r, i, least);
  }
  sni_rubbing_find(r, fill_program, reduced, &info);
  memset(r->push, 0, (size_t)sni_rubbing_count(r) * sizeof *r->push);
  for (int k = 0; k < r->n; k++) {
    const int disc = r->which[k] < r->m->nslide ? r->disc_of[r->which[k]] : -1;
    r->push[r->which[k]] = qp->x[k];
    r->sticks[k] = disc >= 0 && reduced ? r->disc[disc].sticks : qp->side[k] == 0;
  }
  push_held(r);
  if (reduced && r->taken >= NEWTON_FROM && !r->pad) {
    sni_rubbing_note_moves(r);
  }
  if (u) {
    const int bad = info.impossible >= 0 ? r->which[info.impossible] - r->m->nslide : -1;
    r->rows->u.impossible = bad;
    r->rows->u.short_of = info.short_of;
  }
}

/* Friction of a loop from that of its tangents. */
static void take_pads(sni_rubbing *r, int k) {
  const sni_rub *rub = &r->m->rub[k];
  const double *beta = r->push + r->m->nslide + r->m->nrow;
  for (int b = 0, i = rub->first_tangent, slide = rub->first; b < rub->nbearing; b++) {
    const sni_bearing *bearing = &rub->bearing[b];
    sn_vec6 *rubbed = &r->rubbed[SNI_BEARINGS_MAX * k + b];
    *rubbed = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
    for (int c = 0; c < bearing->ntangent; c++, i++) {
      const sni_rub_tangent *t = &bearing->tangent[c];
      r->beta[i] = beta[i];
      r->force[slide + t->direction] += t->arm * beta[i] / r->s->h;
      *rubbed = sn_vec6_addscaled(*rubbed, -beta[i] / r->s->h, t->T);
    }
    slide += bearing->ndirection;
  }
}

/* How fast its tangents go, with the twists that there are. */
static void look_at_pads(const sni_rubbing *r, const sni_rub *rub, const double *v) {
  for (int i = rub->first_tangent; i < rub->first_tangent + sni_rub_tangents(rub); i++) {
    r->pad_rate[i] =
        sni_row_mul(&r->pad[i], &r->s->d->w, v) + r->ahead[r->m->nslide + r->m->nrow + i];
  }
}

/* x -= columns of n numbers, as much as is pushed along each. */
static void subtract_columns(const sni_rubbing *r, bool held, const double *columns, int n,
                             double *x) {
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    const double push = r->column_of[i] >= 0 && (r->held[i] || !held) ? r->push[i] : 0;
    if (push != 0) {
      const double *column = columns + (size_t)r->column_of[i] * (size_t)n;
      for (int k = 0; k < n; k++) {
        x[k] -= push * column[k];
      }
    }
  }
}

void sni_rubbing_hold(const sni_rubbing *r, double *v) {
  subtract_columns(r, true, r->Y, r->s->t->nv, v);
}

/* Multipliers and friction from what is pushed; those of the rows that push go with the others. */
static void take(sni_rubbing *r) {
  if (r->rows) {
    memcpy(r->rows->lambda, r->lambda_free, (size_t)r->rows->nrow * sizeof *r->lambda_free);
    subtract_columns(r, false, r->lambdas, r->rows->nrow, r->rows->lambda);
  }
  for (int k = 0; k < r->m->nslide; k++) {
    r->force[k] = r->push[k] / r->s->h;
  }
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    if (r->rows->row[i].one_sided) {
      r->rows->lambda[i] = r->push[r->m->nslide + i];
    }
  }
}

/* v with these multipliers. */
static void move(sni_rubbing *r, bool reduced, double *v) {
  memcpy(v, r->v_free, (size_t)r->s->t->nv * sizeof *v);
  subtract_columns(r, false, r->Y, r->s->t->nv, v);
  if (reduced) {
    sni_rubbing_split(r);
  }
  take(r);
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int k = 0; k < r->m->nslide; k++) {
    r->rate[k] = sni_row_mul(&r->row[k], &r->s->d->w, v) + r->ahead[k];
  }
  for (int k = 0; r->pad && k < r->m->nrub; k++) {
    if (sni_rubbing_apart(r, &r->m->rub[k])) {
      look_at_pads(r, &r->m->rub[k], v);
      take_pads(r, k);
    }
  }
}

void sni_rubbing_share(sni_rubbing *r, const double *v) {
  sni_rubbing_split(r);
  take(r);
  sni_rubbing_weigh(r, v);
}

/* Rows that push and are broken join; true if there were any. */
static bool join_broken(sni_rubbing *r, const double *v, sn_status *status) {
  const sni_rows *rows = r->rows;
  if (!rows || rows->nsided == 0) {
    return false;
  }
  bool more = false;
  double most = 0;
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int i = 0; i < rows->nrow; i++) {
    r->push[r->m->nslide + i] = sni_row_mul(&rows->row[i], &r->s->d->w, v);
    most = fmax(most, fabs(r->push[r->m->nslide + i]));
  }
  for (int i = 0; i < rows->nrow && *status >= 0; i++) {
    bool in = !rows->row[i].one_sided;
    for (int k = 0; k < r->n && !in; k++) {
      in = r->which[k] == r->m->nslide + i;
    }
    if (!in && r->push[r->m->nslide + i] < rows->rhs[i] - EXACT * most) {
      *status = join(r, r->m->nslide + i);
      more = true;
    }
  }
  return more;
}

void sni_rubbing_begin(sni_rubbing *r) {
  r->n = r->nslides;
  memset(r->beta, 0, (size_t)r->m->ntangent * sizeof *r->beta);
  for (int i = 0; i < r->m->ntangent; i++) {
    r->limit[i] = 1; /* at first all alike */
  }
  sni_rubbing_begin_discs(r);
  sni_rubbing_allow(r, 1);
  r->remembered = -1;
  r->turns = r->idle = r->misled = r->taken = 0;
  r->missed = r->best = r->kept_miss = INFINITY;
  r->pace = 1;
  r->newton = false;
  r->newtons = NEWTONS;
  r->late = r->marched = 0;
  r->settling = r->asks_rest = r->recalls = false;
  memcpy(r->last, r->force, (size_t)r->m->nslide * sizeof *r->last);
  memcpy(r->before, r->normal, (size_t)r->m->nrub * sizeof *r->before);
  if (r->maximal) {
    sni_rubbing_mobility(r);
  }
}

sn_status sni_rubbing_free(sni_rubbing *r, double *v) {
  const size_t bytes = (size_t)r->s->t->nv * sizeof *v;
  memcpy(v, r->s->d->zero, bytes);
  const sn_status status = r->solve(r->user, r->s->b, r->aim, v);
  memcpy(r->v_free, v, bytes);
  if (r->rows) {
    memcpy(r->lambda_free, r->rows->lambda, (size_t)r->rows->nrow * sizeof *r->lambda_free);
  }
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    const bool exists = i < r->m->nslide || i >= r->m->nslide + r->m->nrow ||
                        (r->rows && i < r->m->nslide + r->rows->nrow);
    r->free[i] = exists ? sni_row_mul(sni_rubbing_row(r, i), &r->s->d->w, v) + r->ahead[i] : 0;
  }
  return status;
}

/* What would stop all slides of a disc at once if nothing else moved: one that moves easily about
 * one axis, and hardly about another, is not stopped by what each of them asks for by itself. */
static double stops_disc(const sni_rubbing *r, const sni_rub_disc *disc) {
  double A[SNI_DIRECTIONS_MAX * SNI_DIRECTIONS_MAX], x[SNI_DIRECTIONS_MAX], sum = 0;
  int row[SNI_DIRECTIONS_MAX], n = 0;
  for (int k = 0; k < r->nslides; k++) {
    const int i = r->which[k] - disc->first;
    if (i >= 0 && i < disc->count) {
      x[n] = disc->own[i] * r->free[r->which[k]];
      row[n++] = k;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      const double arms =
          disc->own[r->which[row[i]] - disc->first] * disc->own[r->which[row[j]] - disc->first];
      A[i * n + j] = A[j * n + i] = arms * *S_at(r, row[i], row[j]);
    }
  }
  if (n == 0 || !sni_cholesky(n, A, 1e-12, NULL)) {
    return 0;
  }
  sni_cholesky_solve(n, A, x);
  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i];
  }
  return sqrt(sum) / r->s->h;
}

/* What the first loads allow, and what would stop a slide at once if nothing else moved. */
static void note_first(sni_rubbing *r) {
  const int n = r->m->nslide;
  memcpy(r->asked, r->next, (size_t)n * sizeof *r->next);
  for (int k = 0; k < r->nslides; k++) {
    if (r->which[k] < n) {
      r->asked[r->which[k]] += fabs(r->free[r->which[k]]) / (r->s->h * *S_at(r, k, k));
    }
  }
  for (int k = 0; k < r->ndisc; k++) {
    const sni_rub_disc *disc = &r->disc[k];
    double all = r->next[disc->first] / disc->own[0] + stops_disc(r, disc);
    for (int i = 0; i < disc->count; i++) {
      all = fmax(all, r->asked[disc->first + i] / disc->own[i]);
    }
    for (int i = 0; i < disc->count; i++) {
      r->asked[disc->first + i] = all * disc->own[i];
    }
  }
}

sn_status sni_rubbing_turn(sni_rubbing *r, double *v, double *change) {
  const bool reduced = !r->maximal;
  sn_status status = SN_OK;
  bool more = true;
  if (!reduced && r->taken > 0) {
    sni_rubbing_rub_maximal(r);
  }
  while (more) {
    solve_program(r, reduced);
    move(r, reduced, v);
    more = join_broken(r, v, &status);
  }
  r->recalls = false;
  if (status < 0) {
    return status;
  }
  sni_rubbing_weigh(r, v);
  if (r->taken == 0) {
    note_first(r);
  }
  if (r->asks_rest) {
    sni_rubbing_try_uneven(r, v);
    r->asks_rest = false;
  }
  r->swerve = reduced ? sni_rubbing_swerve(r) : 0;
  *change = sni_rubbing_disagreement(r);
  if (!reduced) { /* friction comes nearer to what the bounds ask for, too */
    *change = fmax(*change, sni_rubbing_astray(r));
  }
  r->taken++;
  return status;
}

bool sni_rubbing_agrees(const sni_rubbing *r, const sn_options *o, double change) {
  const double tolerance = o->redmax.friction.tolerance;
  const double beyond = r->taken > PATIENCE ? BEYOND_BOUND : 1;
  return r->taken > 1 && (r->swerve <= tolerance || r->taken > SWERVES) &&
         (change <= tolerance || (!r->maximal && sni_rubbing_stands(r, beyond, tolerance)));
}

sn_status sni_rubbing_solve(sni_rubbing *r, const sn_options *o, double *v, int *iterations,
                            double *off) {
  sni_rubbing_begin(r);
  const sn_status status = sni_rubbing_free(r, v);
  bool last = false;
  for (*iterations = 1; status >= 0; ++*iterations) {
    const sn_status turned = sni_rubbing_turn(r, v, off);
    const bool agrees = !r->settling && sni_rubbing_agrees(r, o, *off);
    if (turned < 0 || agrees || last) {
      sni_rubbing_end(r, v);
      return turned < 0 ? turned : agrees ? status : SN_NOT_CONVERGED;
    }
    if (r->settling || sni_rubbing_tired(r, o)) {
      last = sni_rubbing_settle(r);
    } else {
      sni_rubbing_follow(r, *off);
    }
  }
  return status;
}

void sni_rubbing_weigh_smooth(sni_rubbing *r, const double *v) {
  const size_t bytes = (size_t)r->m->nslide * sizeof(double);
  memset(r->force, 0, bytes);
  memset(r->bound, 0, bytes);
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int k = 0; k < r->m->nslide; k++) {
    r->rate[k] = sni_row_mul(&r->row[k], &r->s->d->w, v);
  }
  sni_rubbing_find_stress(r);
  sni_rubbing_weigh(r, v);
}

void sni_rubbing_resume(sni_rubbing *r) {
  memset(r->push, 0, (size_t)sni_rubbing_count(r) * sizeof *r->push);
  for (int k = 0; k < r->m->nslide; k++) {
    r->push[k] = r->s->h * r->force[k];
  }
}

/* ---- memory ---- */

void sni_rubbing_load(sni_rubbing *r, const double *from) {
  const size_t n = (size_t)r->m->nslide, nrub = (size_t)r->m->nrub;
  double *const part[] = {r->force, r->bound, r->rate, r->power};
  for (int k = 0; k < SNI_COUNT(part); k++, from += n) {
    memcpy(part[k], from, n * sizeof *from);
  }
  memcpy(r->normal, from, nrub * sizeof *from);
  memcpy(r->rubbed, from + nrub, SNI_BEARINGS_MAX * nrub * sizeof *r->rubbed);
  if (n > 0) {
    from += nrub + 6 * SNI_BEARINGS_MAX * nrub;
    memcpy(r->owed, from, (size_t)r->m->tree.nv * sizeof *from);
    memcpy(r->was_still, from + r->m->tree.nv,
           (size_t)(r->m->tree.nv + r->m->nloop_q) * sizeof *from);
  }
}

void sni_rubbing_save(const sni_rubbing *r, double *to) {
  const size_t n = (size_t)r->m->nslide, nrub = (size_t)r->m->nrub;
  const double *const part[] = {r->force, r->bound, r->rate, r->power};
  for (int k = 0; k < SNI_COUNT(part); k++, to += n) {
    memcpy(to, part[k], n * sizeof *to);
  }
  memcpy(to, r->normal, nrub * sizeof *to);
  memcpy(to + nrub, r->rubbed, SNI_BEARINGS_MAX * nrub * sizeof *r->rubbed);
  if (n > 0) {
    to += nrub + 6 * SNI_BEARINGS_MAX * nrub;
    memcpy(to, r->owed, (size_t)r->m->tree.nv * sizeof *to);
    memcpy(to + r->m->tree.nv, r->was_still, (size_t)(r->m->tree.nv + r->m->nloop_q) * sizeof *to);
  }
}

static bool any_loop_at_points(const sn_model *m) {
  bool any = false;
  for (int k = 0; k < m->nrub; k++) {
    any = any || (m->rub[k].loop >= 0 && m->rub[k].at_points);
  }
  return any;
}

static size_t lay_out(sni_rubbing *r, const sn_model *m, const sn_options *o, char *memory) {
  const size_t nv = (size_t)m->tree.nv, nbody = (size_t)m->tree.nbody, nrow = (size_t)m->nrow;
  const size_t nslide = (size_t)m->nslide, nrub = (size_t)m->nrub, ntangent = (size_t)m->ntangent;
  const bool maximal = o->redmax.friction.problem == SN_FRICTION_MAXIMAL;
  const bool apart = o->redmax.closure != SN_CLOSURE_PROJECT && any_loop_at_points(m);
  const size_t ndisc = (size_t)sni_rubbing_find_discs(m, NULL, NULL, NULL);
  const size_t nwide = maximal ? nslide + ntangent : 0;
  const size_t npad = apart ? ntangent : 0, all = nslide + nrow + npad;
  const size_t capacity = nslide + (size_t)m->nsided + npad;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  r->row = TAKE(nslide, sizeof *r->row);
  r->axes = TAKE(nrub, sizeof *r->axes);
  r->place = TAKE(nrub, sizeof *r->place);
  r->pad = TAKE(npad, sizeof *r->pad);
  r->pad_rate = TAKE(npad, sizeof *r->pad_rate);
  r->force = TAKE(nslide, sizeof *r->force);
  r->rate = TAKE(nslide, sizeof *r->rate);
  r->start = TAKE(nslide, sizeof *r->start);
  r->began = TAKE(nslide, sizeof *r->began);
  r->one = TAKE(nslide, sizeof *r->one);
  r->work = TAKE(nslide, sizeof *r->work);
  r->half = TAKE(nslide, sizeof *r->half);
  r->both = TAKE(nslide, sizeof *r->both);
  r->power = TAKE(nslide, sizeof *r->power);
  r->bound = TAKE(nslide, sizeof *r->bound);
  r->next = TAKE(nslide, sizeof *r->next);
  r->scale = TAKE(nslide, sizeof *r->scale);
  r->mechanism = TAKE(nrub, sizeof *r->mechanism);
  r->heaviest = TAKE(nbody, sizeof *r->heaviest);
  r->miss = TAKE(nslide, sizeof *r->miss);
  r->bound_before = TAKE(nslide, sizeof *r->bound_before);
  r->weight = TAKE(nslide, sizeof *r->weight);
  r->history = TAKE(2 * SNI_RUB_MEMORY * nslide, sizeof *r->history);
  r->load = TAKE(nrub, sizeof *r->load);
  r->own = TAKE(SN_NV_MAX * nrub, sizeof *r->own);
  r->moves = TAKE(nslide * all, sizeof *r->moves);
  r->slope = TAKE(nslide > 0 ? sni_band_size((int)nslide, (int)nslide - 1) : 0, sizeof *r->slope);
  r->dforce = TAKE(nslide, sizeof *r->dforce);
  r->dlambda = TAKE(nrow, sizeof *r->dlambda);
  r->dnext = TAKE(nslide, sizeof *r->dnext);
  r->kept_bound = TAKE(nslide, sizeof *r->kept_bound);
  r->kept_next = TAKE(nslide, sizeof *r->kept_next);
  r->asked = TAKE(nslide, sizeof *r->asked);
  r->last = TAKE(nslide, sizeof *r->last);
  r->owed = TAKE(nslide > 0 ? nv : 0, sizeof *r->owed);
  r->was_still = TAKE(nslide > 0 ? nv + (size_t)m->nloop_q : 0, sizeof *r->was_still);
  r->lead = TAKE(nslide > 0 ? nv : 0, sizeof *r->lead);
  r->ahead = TAKE(all, sizeof *r->ahead);
  r->normal = TAKE(nrub, sizeof *r->normal);
  r->before = TAKE(nrub, sizeof *r->before);
  r->limit = TAKE(ntangent, sizeof *r->limit);
  r->allowed = TAKE(npad, sizeof *r->allowed);
  r->disc = TAKE(ndisc, sizeof *r->disc);
  r->disc_of = TAKE(nslide, sizeof *r->disc_of);
  r->part = TAKE(nslide, sizeof *r->part);
  r->rubbed = TAKE(SNI_BEARINGS_MAX * nrub, sizeof *r->rubbed);
  r->F = TAKE(nbody, sizeof *r->F);
  r->coast = TAKE(nbody, sizeof *r->coast);
  r->touched = TAKE(m->touching ? nbody : 0, sizeof *r->touched);
  r->coast_lambda = TAKE(nrow, sizeof *r->coast_lambda);
  r->which = TAKE(capacity, sizeof *r->which);
  r->kept = TAKE(capacity, sizeof *r->kept);
  r->sticks = TAKE(capacity, sizeof *r->sticks);
  r->share = TAKE(2 * capacity, sizeof *r->share);
  r->column_of = TAKE(all, sizeof *r->column_of);
  r->held = TAKE(all, sizeof *r->held);
  r->driven = TAKE(nslide, sizeof *r->driven);
  r->loose = TAKE(36 * nrub, sizeof *r->loose);
  r->loop_row = TAKE(2 * nrub, sizeof *r->loop_row);
  r->stuck = TAKE(nslide, sizeof *r->stuck);
  void *still = TAKE(sni_stay_size(m), 1);
  void *whole = TAKE(sni_stay_size(m), 1);
  void *welded = TAKE(sni_stay_size(m), 1);
  r->Y = TAKE(capacity * nv, sizeof *r->Y);
  r->lambdas = TAKE(capacity * nrow, sizeof *r->lambdas);
  r->v_free = TAKE(nv, sizeof *r->v_free);
  r->lambda_free = TAKE(nrow, sizeof *r->lambda_free);
  r->S = TAKE(capacity * capacity, sizeof *r->S);
  r->free = TAKE(all, sizeof *r->free);
  r->push = TAKE(all, sizeof *r->push);
  r->aim = TAKE(nrow, sizeof *r->aim);
  r->none = TAKE(nrow, sizeof *r->none);
  r->b = TAKE(nv, sizeof *r->b);
  r->column = TAKE(nv, sizeof *r->column);
  r->beta = TAKE(ntangent, sizeof *r->beta);
  const size_t most = nwide > capacity ? nwide : capacity;
  r->other.which = TAKE(most, sizeof *r->other.which);
  r->other.S = TAKE(most * most, sizeof *r->other.S);
  r->other.free = TAKE(nslide + nrow + ntangent, sizeof *r->other.free);
  r->other.disc = TAKE(ndisc, sizeof *r->other.disc);
  r->draw = TAKE(most, sizeof *r->draw);
  r->drawn = TAKE(most, sizeof *r->drawn);
  r->wide = TAKE(nwide, sizeof *r->wide);
  r->mobility = TAKE(nwide * nwide, sizeof *r->mobility);
  const size_t stressed = (size_t)sni_rubbing_stress_rows(m);
  r->stress.row = TAKE(stressed, sizeof *r->stress.row);
  r->stress.of = TAKE(stressed, sizeof *r->stress.of);
  r->stress.which = TAKE(stressed * nrub, sizeof *r->stress.which);
  r->stress.count = TAKE(stressed, sizeof *r->stress.count);
  r->stress.G = TAKE(stressed * nv, sizeof *r->stress.G);
  r->stress.T = TAKE(stressed * stressed, sizeof *r->stress.T);
  r->stress.D = TAKE(stressed * nrub, sizeof *r->stress.D);
  r->stress.Y = TAKE(stressed * nrub, sizeof *r->stress.Y);
  r->stress.alike = TAKE(stressed, sizeof *r->stress.alike);
  r->stress.M = TAKE(stressed * stressed, sizeof *r->stress.M);
  r->stress.c = TAKE(stressed > nrub ? stressed : nrub, sizeof *r->stress.c);
  r->stress.plain = TAKE(stressed, sizeof *r->stress.plain);
  r->stress.group = TAKE(nrub, sizeof *r->stress.group);
  r->stress.weight = TAKE(nrub, sizeof *r->stress.weight);
  r->dload = TAKE(nrub, sizeof *r->dload);
  void *qp = TAKE(sni_qp_size((int)most), 1);
#undef TAKE
  r->capacity = (int)capacity;
  r->stress.most = (int)stressed;
  r->pad = apart ? r->pad : NULL;
  r->ndisc = (int)ndisc;
  r->maximal = maximal;
  if (memory) {
    sni_stay_place(&r->still, m, still);
    sni_stay_place(&r->whole, m, whole);
    sni_stay_place(&r->welded, m, welded);
    sni_qp_place(&r->qp, (int)most, qp);
    sni_rubbing_find_discs(m, r->disc, r->disc_of, r->part);
    sni_rubbing_find_mechanisms(m, (int *)r->heaviest, r->mechanism);
  }
  return used;
}

size_t sni_rubbing_size(const sn_model *m, const sn_options *o) {
  sni_rubbing r;
  return lay_out(&r, m, o, NULL);
}

void sni_rubbing_place(sni_rubbing *r, sni_system *s, sni_rows *rows, const sn_options *o,
                       void *memory) {
  *r = (sni_rubbing){.m = s->d->m,
                     .s = s,
                     .rows = rows,
                     .eps = o->redmax.friction.regularization,
                     .tolerance = o->redmax.friction.tolerance,
                     .relative = !o->redmax.friction.absolute};
  lay_out(r, s->d->m, o, memory);
  s->owed = s->d->m->nslide > 0 ? r->owed : NULL;
  s->was_still = s->d->m->nslide > 0 ? r->was_still : NULL;
  s->welded = &r->welded;
}
