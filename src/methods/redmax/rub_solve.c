/* rub_solve.c: friction and loads in turn. */
#include "methods/redmax/rub.h"

#include "math/dense.h"

#include <string.h>

/* Constraints hold a slide, or drive it, if what is left of its looseness is below this part.  Then
 * friction is all of its bound against the motion; without motion it is not determined, and 0. */
#define HELD 1e-10
/* A rate below this part of the largest is none. */
#define STILL 1e-12
/* A row that pushes is broken if it is by this part of the rates. */
#define EXACT 1e-12
/* Turns that are remembered, and how often they may mislead before the bounds go only half the way:
 * some go round in circles. */
enum { MEMORY = SNI_RUB_MEMORY, PATIENCE = 4 };

/* Of the k-th row that friction or pushing may need: slides, rows, tangents of their own. */
static const sni_row *row_of(const sni_rubbing *r, int k) {
  const int row = k - r->m->nslide, pad = row - r->m->nrow;
  return row < 0 ? &r->row[k] : pad < 0 ? &r->rows->row[row] : &r->pad[pad];
}
static int count_of(const sni_rubbing *r) {
  return r->m->nslide + r->m->nrow + (r->pad ? r->m->ntangent : 0);
}

/* One more row in the program. */
static sn_status join(sni_rubbing *r, int k) {
  const size_t nv = (size_t)r->s->t->nv, capacity = (size_t)r->capacity;
  double *y = r->Y + (size_t)r->n * nv;
  memset(r->column, 0, nv * sizeof *r->column);
  sni_row_add_column(row_of(r, k), r->s->d, 1, r->column);
  memset(y, 0, nv * sizeof *y);
  const sn_status status = r->solve(r->user, r->column, r->none, y);
  if (status < 0) {
    return status;
  }
  r->which[r->n] = k;
  sni_J_mul_world(r->s->t, &r->s->d->w, y);
  for (int i = 0; i <= r->n; i++) {
    r->S[(size_t)r->n * capacity + (size_t)i] = sni_row_mul(row_of(r, r->which[i]), &r->s->d->w, y);
  }
  r->n++;
  return status;
}

/* May it rub at all? */
static bool may_rub(const sni_rub *rub, const sni_rub_numbers *number, int c) {
  return rub->law == SNI_COULOMB ? number->mu > 0
                                 : number->force[c] > 0 || number->breakaway[c] > 0;
}

static int tangents_of(const sni_rub *rub) {
  int n = 0;
  for (int b = 0; b < rub->nbearing; b++) {
    n += rub->bearing[b].ntangent;
  }
  return n;
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
        return 0;
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
  const size_t nv = (size_t)r->s->t->nv;
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    r->held[r->which[k]] = r->rows && !(*S_at(r, k, k) > HELD * looseness(r, r->which[k]));
    if (r->held[r->which[k]]) {
      continue;
    }
    r->kept[n] = k;
    for (int i = 0; i <= n; i++) { /* what is kept moves up */
      *S_at(r, n, i) = *S_at(r, k, r->kept[i]);
    }
    memmove(r->Y + (size_t)n * nv, r->Y + (size_t)k * nv, nv * sizeof *r->Y);
    r->which[n++] = r->which[k];
  }
  r->n = n;
}

sn_status sni_rubbing_prepare(sni_rubbing *r, sni_rub_solver solve, void *user) {
  r->n = 0;
  r->solve = solve;
  r->user = user;
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    const bool free = r->rows->row[i].one_sided;
    r->aim[i] = free ? SNI_LET_GO : r->rows->rhs[i];
    r->none[i] = free ? SNI_LET_GO : 0;
  }
  memset(r->held, 0, (size_t)count_of(r) * sizeof *r->held);
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    const bool apart = sni_rubbing_apart(r, rub);
    const int n = apart ? tangents_of(rub) : rub->nslide;
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
  return SN_OK;
}

/* All of the bound against what is driven. */
static void push_held(sni_rubbing *r) {
  double most = 0;
  for (int i = 0; i < count_of(r); i++) {
    const bool slides = i < r->m->nslide || i >= r->m->nslide + r->m->nrow;
    most = slides ? fmax(most, fabs(r->free[i])) : most;
  }
  for (int i = 0; i < count_of(r); i++) {
    if (r->held[i] && fabs(r->free[i]) > STILL * most) {
      const double bound = i < r->m->nslide ? r->bound[i] : r->limit[i - r->m->nslide - r->m->nrow];
      r->push[i] = copysign(r->s->h * bound, r->free[i]);
    }
  }
}

/* Multipliers for the bounds as they are. */
static void solve_program(sni_rubbing *r, bool reduced) {
  const sni_unilateral *u = r->rows && r->rows->nsided > 0 ? &r->rows->u : NULL;
  sni_qp *qp = &r->qp;
  const int n = qp->n = r->n;
  for (int k = 0; k < n; k++) {
    const int i = r->which[k], row = i - r->m->nslide, pad = row - r->m->nrow;
    memcpy(qp->S + (size_t)k * (size_t)n, S_at(r, k, 0), (size_t)(k + 1) * sizeof(double));
    qp->b[k] = r->free[i];
    if (row < 0 || pad >= 0) {
      /* where the other problem has found the friction, it is given */
      const double most = r->s->h * (row < 0 ? r->bound[i] : r->limit[pad]);
      const double given = row < 0 ? r->s->h * r->force[i] : r->beta[pad];
      qp->lo[k] = reduced ? -most : given;
      qp->hi[k] = reduced ? most : given;
      qp->side[k] = !reduced || fabs(given) >= most ? (given < 0 ? -1 : 1) : 0;
    } else {
      qp->S[(size_t)k * (size_t)n + (size_t)k] += u->soft[row];
      qp->b[k] -= r->rows->rhs[row];
      qp->lo[k] = -INFINITY;
      qp->hi[k] = qp->side[k] = 0;
    }
  }
  sni_qp_info info;
  sni_qp_solve(qp, &info);
  memset(r->push, 0, (size_t)count_of(r) * sizeof *r->push);
  for (int k = 0; k < n; k++) {
    r->push[r->which[k]] = qp->x[k];
  }
  push_held(r);
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

/* v with these multipliers; those of the rows that push go with the others. */
static sn_status move(sni_rubbing *r, double *v) {
  const size_t nv = (size_t)r->s->t->nv;
  memcpy(r->b, r->s->b, nv * sizeof *r->b);
  sni_rubbing_add(r, r->b);
  const sn_status status = r->solve(r->user, r->b, r->aim, v);
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int k = 0; k < r->m->nslide; k++) {
    r->rate[k] = sni_row_mul(&r->row[k], &r->s->d->w, v);
    r->force[k] = r->push[k] / r->s->h;
  }
  for (int k = 0; r->pad && k < r->m->nrub; k++) {
    if (sni_rubbing_apart(r, &r->m->rub[k])) {
      take_pads(r, k);
    }
  }
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    if (r->rows->row[i].one_sided) {
      r->rows->lambda[i] = r->push[r->m->nslide + i];
    }
  }
  return status;
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

/* The wrenches of friction, shared out among the contacts as they are loaded. */
static void share_out(sni_rubbing *r) {
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    const double *limit = r->limit + rub->first_tangent;
    for (int b = 0, i = rub->first; b < rub->nbearing && !sni_rubbing_apart(r, rub); b++) {
      double rho[SNI_DIRECTIONS_MAX];
      for (int c = 0; c < rub->bearing[b].ndirection; c++, i++) {
        rho[c] = r->bound[i] > 0 ? r->force[i] / r->bound[i] : 0;
      }
      r->rubbed[SNI_BEARINGS_MAX * k + b] = sni_bearing_rub(&rub->bearing[b], limit, rho);
      limit += rub->bearing[b].ntangent;
    }
  }
}

/* Friction of joints that one coordinate alone tells: what sticks does not move at all. */
static void stand_still(const sni_rubbing *r, double *v) {
  for (int k = 0; k < r->n; k++) {
    const int i = r->which[k];
    const bool sticks = r->qp.side[k] == 0 && i < r->m->nslide;
    if (sticks && r->row[i].ncoord == 1 && r->row[i].body[0] < 0 && r->row[i].body[1] < 0) {
      v[r->row[i].coord[0]] = 0;
    }
  }
}

/* Is there friction at its bound in the c-th way of a rub?  If not, another bound changes nothing.
 */
static bool is_bound(const sni_rubbing *r, const sni_rub *rub, int c) {
  const double nearly = 0.999;
  const int k = rub->first + c;
  bool any = fabs(r->force[k]) >= nearly * fmin(r->bound[k], r->next[k]);
  for (int i = 0; sni_rubbing_apart(r, rub) && i < tangents_of(rub); i++) {
    const int at = rub->first_tangent + i;
    any = any || fabs(r->beta[at]) >= nearly * r->s->h * r->limit[at];
  }
  return any;
}

/* How far the bounds are from those of the last loads; the other problem has friction by them all.
 */
static double disagreement(const sni_rubbing *r, bool reduced) {
  double most = 0, change = 0;
  for (int i = 0; i < r->m->nrub; i++) {
    const sni_rub *rub = &r->m->rub[i];
    for (int c = 0; c < rub->nslide; c++) {
      const int k = rub->first + c;
      most = fmax(most, fmax(r->next[k], r->bound[k]));
      change =
          !reduced || is_bound(r, rub, c) ? fmax(change, fabs(r->next[k] - r->bound[k])) : change;
    }
  }
  return most > 0 ? change / most : 0;
}

/* With so many differences d of what bounds missed, in units w of their own: the combination of
 * them that is nearest to what they miss now. */
static bool combine(const double *d, const double *miss, const double *w, int n, int count,
                    double *x) {
  double A[MEMORY * MEMORY];
  for (int i = 0; i < count; i++) {
    x[i] = 0;
    for (int k = 0; k < n; k++) {
      x[i] += w[k] * w[k] * d[i * n + k] * miss[k];
    }
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        sum += w[k] * w[k] * d[i * n + k] * d[j * n + k];
      }
      A[i * count + j] = A[j * count + i] = sum;
    }
  }
  for (int i = 0; i < count; i++) {
    A[i * count + i] *= 1 + 1e-12;
  }
  if (!sni_cholesky(count, A, 1e-13, NULL)) {
    return false;
  }
  sni_cholesky_solve(count, A, x);
  return true;
}

/* The bounds for the next turn.  Those of the loads come nearer at a steady pace, so the last few
 * turns tell where they lead (Anderson's method); where that made it worse, it begins anew. */
static void follow(sni_rubbing *r, double change) {
  const int n = r->m->nslide;
  double *miss = r->miss, *d = r->history, *e = d + MEMORY * n, x[MEMORY], most = 0;
  const bool worse = change > 2 * r->missed;
  for (int k = 0; k < n; k++) {
    most = fmax(most, r->next[k]);
  }
  if (r->remembered >= 0 && !worse) { /* one more difference, the oldest is forgotten */
    const int at = r->turns++ % MEMORY;
    for (int k = 0; k < n; k++) {
      d[at * n + k] = r->next[k] - r->bound[k] - miss[k];
      e[at * n + k] = r->next[k] - r->next_before[k];
    }
    r->remembered = r->remembered < MEMORY ? r->remembered + 1 : MEMORY;
  } else {
    r->misled += worse;
    r->remembered = r->turns = 0;
  }
  r->missed = change;
  for (int k = 0; k < n; k++) {
    miss[k] = r->next[k] - r->bound[k];
    r->next_before[k] = r->next[k];
    r->weight[k] = 1 / fmax(r->next[k], 1e-3 * most + 1e-300);
  }
  const bool known = r->remembered > 0 && combine(d, miss, r->weight, n, r->remembered, x);
  for (int k = 0; k < n; k++) {
    double to = r->next[k];
    for (int i = 0; known && i < r->remembered; i++) {
      to -= x[i] * e[i * n + k];
    }
    to = to >= 0 && to <= 2 * r->next[k] ? to : r->next[k];
    r->bound[k] = r->misled < PATIENCE ? to : 0.5 * (r->next[k] + r->bound[k]);
  }
}

sn_status sni_rubbing_solve(sni_rubbing *r, const sn_options *o, double *v, int *iterations) {
  const bool reduced = o->redmax.friction.problem == SN_FRICTION_REDUCED;
  const size_t nv = (size_t)r->s->t->nv;
  r->n = r->nslides;
  memcpy(v, r->s->d->zero, nv * sizeof *v);
  sn_status status = r->solve(r->user, r->s->b, r->aim, v);
  if (status < 0) {
    return status;
  }
  sni_J_mul_world(r->s->t, &r->s->d->w, v);
  for (int k = 0; k < r->m->nslide; k++) {
    r->free[k] = sni_row_mul(&r->row[k], &r->s->d->w, v);
  }
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    r->free[r->m->nslide + i] = sni_row_mul(&r->rows->row[i], &r->s->d->w, v);
  }
  for (int i = r->m->nslide + r->m->nrow; i < count_of(r); i++) {
    r->free[i] = sni_row_mul(row_of(r, i), &r->s->d->w, v);
  }
  if (!reduced) {
    sni_rubbing_mobility(r);
  }
  memset(r->limit, 0, (size_t)r->m->ntangent * sizeof *r->limit);
  memset(r->beta, 0, (size_t)r->m->ntangent * sizeof *r->beta);
  r->remembered = -1;
  r->turns = r->misled = 0;
  r->missed = INFINITY;
  for (*iterations = 1;; ++*iterations) {
    bool more = true;
    if (!reduced && *iterations > 1) {
      sni_rubbing_rub_maximal(r);
    }
    while (more) {
      solve_program(r, reduced);
      status = move(r, v);
      more = status >= 0 && join_broken(r, v, &status);
    }
    if (status < 0) {
      return status;
    }
    if (reduced && *iterations > 1) { /* at first as in the last step */
      share_out(r);
    }
    sni_rubbing_weigh(r, v);
    const double change = disagreement(r, reduced);
    if (change <= o->redmax.friction.tolerance && *iterations > 1) {
      break;
    }
    follow(r, change);
    if (*iterations == o->redmax.friction.max_iterations) {
      status = SN_NOT_CONVERGED;
      break;
    }
  }
  stand_still(r, v);
  return status;
}

void sni_rubbing_resume(sni_rubbing *r) {
  memset(r->push, 0, (size_t)count_of(r) * sizeof *r->push);
  for (int k = 0; k < r->m->nslide; k++) {
    r->push[k] = r->s->h * r->force[k];
  }
}

void sni_rubbing_add(const sni_rubbing *r, double *b) {
  for (int i = 0; i < count_of(r); i++) {
    if (r->push[i] != 0) {
      sni_row_add_column(row_of(r, i), r->s->d, -r->push[i], b);
    }
  }
}

/* ---- memory ---- */

void sni_rubbing_load(sni_rubbing *r, const double *from) {
  const size_t n = (size_t)r->m->nslide;
  memcpy(r->force, from, n * sizeof *from);
  memcpy(r->bound, from + n, n * sizeof *from);
  memcpy(r->rate, from + 2 * n, n * sizeof *from);
  memcpy(r->normal, from + 3 * n, (size_t)r->m->nrub * sizeof *from);
  memcpy(r->rubbed, from + 3 * n + r->m->nrub,
         (size_t)(SNI_BEARINGS_MAX * r->m->nrub) * sizeof *r->rubbed);
}

void sni_rubbing_save(const sni_rubbing *r, double *to) {
  const size_t n = (size_t)r->m->nslide;
  memcpy(to, r->force, n * sizeof *to);
  memcpy(to + n, r->bound, n * sizeof *to);
  memcpy(to + 2 * n, r->rate, n * sizeof *to);
  memcpy(to + 3 * n, r->normal, (size_t)r->m->nrub * sizeof *to);
  memcpy(to + 3 * n + r->m->nrub, r->rubbed,
         (size_t)(SNI_BEARINGS_MAX * r->m->nrub) * sizeof *r->rubbed);
}

static size_t lay_out(sni_rubbing *r, const sn_model *m, const sn_options *o, char *memory) {
  const size_t nv = (size_t)m->tree.nv, nbody = (size_t)m->tree.nbody, nrow = (size_t)m->nrow;
  const size_t nslide = (size_t)m->nslide, nrub = (size_t)m->nrub, ntangent = (size_t)m->ntangent;
  const bool maximal = o->redmax.friction.problem == SN_FRICTION_MAXIMAL;
  const bool apart = m->nloop > 0 && o->redmax.closure != SN_CLOSURE_PROJECT;
  const size_t npad = apart ? ntangent : 0, all = nslide + nrow + npad;
  const size_t capacity = nslide + (size_t)m->nsided + npad;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += ((count) * (size) + 63) / 64 * 64
  r->row = TAKE(nslide, sizeof *r->row);
  r->axes = TAKE(nrub, sizeof *r->axes);
  r->place = TAKE(nrub, sizeof *r->place);
  r->pad = TAKE(npad, sizeof *r->pad);
  r->force = TAKE(nslide, sizeof *r->force);
  r->rate = TAKE(nslide, sizeof *r->rate);
  r->bound = TAKE(nslide, sizeof *r->bound);
  r->next = TAKE(nslide, sizeof *r->next);
  r->miss = TAKE(nslide, sizeof *r->miss);
  r->next_before = TAKE(nslide, sizeof *r->next_before);
  r->weight = TAKE(nslide, sizeof *r->weight);
  r->history = TAKE(2 * MEMORY * nslide, sizeof *r->history);
  r->normal = TAKE(nrub, sizeof *r->normal);
  r->limit = TAKE(ntangent, sizeof *r->limit);
  r->rubbed = TAKE(SNI_BEARINGS_MAX * nrub, sizeof *r->rubbed);
  r->F = TAKE(nbody, sizeof *r->F);
  r->coast = TAKE(nbody, sizeof *r->coast);
  r->touched = TAKE(m->touching ? nbody : 0, sizeof *r->touched);
  r->coast_lambda = TAKE(nrow, sizeof *r->coast_lambda);
  r->which = TAKE(capacity, sizeof *r->which);
  r->kept = TAKE(capacity, sizeof *r->kept);
  r->held = TAKE(all, sizeof *r->held);
  r->loose = TAKE(36 * nrub, sizeof *r->loose);
  r->Y = TAKE(capacity * nv, sizeof *r->Y);
  r->S = TAKE(capacity * capacity, sizeof *r->S);
  r->free = TAKE(all, sizeof *r->free);
  r->push = TAKE(all, sizeof *r->push);
  r->aim = TAKE(nrow, sizeof *r->aim);
  r->none = TAKE(nrow, sizeof *r->none);
  r->b = TAKE(nv, sizeof *r->b);
  r->column = TAKE(nv, sizeof *r->column);
  r->beta = TAKE(ntangent, sizeof *r->beta);
  r->mobility = TAKE(maximal ? ntangent * ntangent : 0, sizeof *r->mobility);
  const int most = (int)(maximal && ntangent > capacity ? ntangent : capacity);
  void *qp = TAKE(sni_qp_size(most), 1);
#undef TAKE
  r->capacity = (int)capacity;
  r->pad = apart ? r->pad : NULL;
  if (memory) {
    sni_qp_place(&r->qp, most, qp);
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
                     .relative = !o->redmax.friction.absolute};
  lay_out(r, s->d->m, o, memory);
}
