/* ties.c: the ties of a tree, their products, and the clock. */
#include "methods/structured/ties.h"

#include "base/memory.h"
#include "linear/cg.h"
#include "linear/vector.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

int64_t sni_clock(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- which ties there are ---- */

void sni_ties_clear(sni_ties *t) {
  t->ntie = t->ncoords = 0;
}

/* What p does to a body that nothing holds: p^T M^-1 p, with one moment for all axes.  That is
 * enough to compare ties. */
static double mobility(const sni_ties *t, int body, sni_lane6 p) {
  const sni_mass *m = &t->d->mass[body];
  if (!(m->m > 0)) {
    return 0;
  }
  const sni_lane h = sni_lane_mul(t->d->w.link[body].R, m->mc.x, m->mc.y, m->mc.z);
  const sni_lane torque = p.w - sni_lane_cross(h, p.v) * sni_lane_all(1 / m->m);
  const double moment = (m->xx + m->yy + m->zz - 2 * sni_lane_dot(h, h) / m->m) / 3;
  return sni_lane_dot(p.v, p.v) / m->m + (moment > 0 ? sni_lane_dot(torque, torque) / moment : 0);
}

/* How easily it moves. */
static double own(const sni_ties *t, const sni_tie *tie) {
  double sum = 0;
  for (; tie; tie = tie->next) {
    for (int side = 0; side < 2; side++) {
      sum += tie->body[side] >= 0 ? mobility(t, tie->body[side], tie->p[side]) : 0;
    }
  }
  return sum > 0 ? sum : 1 / t->d->m->mass;
}

static void finish(sni_ties *t, int i, double moves) {
  t->inverse[i] = 1 / (moves + t->soft[i]);
}

/* All that may have to give way do so alike but for their weights: what cannot be had is then met
 * in the least squares.  The others can be had, and weights have no say in it: a light constraint
 * would only be met more slowly, and a heavy one not be told from others that it depends on. */
static void soften(sni_ties *t, int n, const bool *which, double give) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += t->moves[i];
  }
  for (int i = 0; i < n; i++) {
    const bool may = give > 0 && !(which && !which[i]);
    const double part = may ? fmax(t->regularization, give) / t->weight[i] : t->regularization;
    t->soft[i] = part * sum / n;
    finish(t, i, t->moves[i]);
  }
}

void sni_ties_soften(sni_ties *t, double factor) {
  for (int i = 0; i < t->ntie; i++) {
    t->soft[i] *= t->slot[i] >= 0 ? factor : 1;
  }
}

/* Rows that are there already are not taken once more: a step asks for its ties three times, and
 * has two poses. */
static void take_rows(sni_ties *t, const sni_rows *rows) {
  int first = 0, slot = 0;
  t->row_coords = 0;
  for (int i = 0; i < rows->nrow; i++) {
    const sni_row *row = &rows->row[i];
    for (; first < rows->of[i]; first++) {
      slot += rows->constraint[first].nrow;
    }
    const int within = i > 0 && rows->of[i - 1] == rows->of[i] ? t->slot[i - 1] - slot + 1 : 0;
    t->slot[i] = slot + within;
    t->weight[i] = rows->constraint[rows->of[i]].weight;
    const sni_tie tie = {.p = {sni_lane6_from(row->p[0]), sni_lane6_from(row->p[1])},
                         .body = {row->body[0], row->body[1]},
                         .coords = row->ncoord > 0 ? row : NULL};
    t->row_coords += row->ncoord > 0;
    t->moves[i] = own(t, &tie);
    if (!t->by_rows) {
      t->tie[i] = tie;
    }
  }
}

void sni_ties_add_rows(sni_ties *t, const sni_rows *rows, const bool *which, double give) {
  if (t->look != rows->look || t->hash != t->d->param_hash) {
    take_rows(t, rows);
    t->look = rows->look;
    t->hash = t->d->param_hash;
  }
  t->ntie = rows->nrow;
  t->ncoords += t->row_coords;
  soften(t, rows->nrow, which, give);
}

static sni_tie tie_of(const sni_link_term *term) {
  return (sni_tie){.body = {term->body[0], term->body[1]}, .p = {term->p[0], term->p[1]}};
}

void sni_ties_add_terms(sni_ties *t, const sni_system *s) {
  int end =
      t->capacity; /* what ties go on with fills their room from behind: a term takes one place */
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    const double c = s->h * term->d + s->h * s->h * term->k;
    sni_tie tie = tie_of(term);
    const bool couples = term->more || (tie.body[0] >= 0 && tie.body[1] >= 0);
    for (; s->term[k].more; k++) {
      t->tie[--end] = tie_of(&s->term[k + 1]);
      t->tie[end].next = tie.next;
      tie.next = &t->tie[end];
    }
    if (couples && c > 0) {
      const int i = t->ntie++;
      t->tie[i] = tie;
      t->c[i] = 0;
      t->slot[i] = -1;
      t->weight[i] = 1;
      t->soft[i] = 1 / c;
      finish(t, i, own(t, &t->tie[i]));
    }
  }
}

/* ---- products ---- */

/* w->a = s G^T lambda on the bodies, tau -= s times the same on joints. */
static void push(const sni_ties *t, double s, const double *lambda, double *tau) {
  sni_lane6 *a = t->d->w.a;
  memset(a, 0, (size_t)t->d->m->tree.nbody * sizeof *a);
  for (int i = 0; i < t->ntie; i++) {
    for (const sni_tie *tie = &t->tie[i]; tie; tie = tie->next) {
      for (int side = 0; side < 2; side++) {
        if (tie->body[side] >= 0) {
          a[tie->body[side]] = sni_lane6_addscaled(a[tie->body[side]], s * lambda[i], tie->p[side]);
        }
      }
    }
  }
  for (int i = 0; t->ncoords > 0 && i < t->ntie; i++) {
    const sni_row *row = t->tie[i].coords;
    for (int k = 0; row && k < row->ncoord; k++) {
      tau[row->coord[k]] -= s * lambda[i] * row->coef[k];
    }
  }
}

void sni_ties_respond(const sni_ties *t, const double *b, const double *lambda, double *x) {
  const sni_tree *tree = &t->d->m->tree;
  const size_t bytes = (size_t)tree->nv * sizeof(double);
  memcpy(t->tau, b ? b : t->d->zero, bytes);
  push(t, 1, lambda, t->tau);
  sni_respond(tree, &t->d->w, t->tau, x);
}

void sni_ties_mul_transposed(const sni_ties *t, const double *lambda, double *x) {
  const sni_tree *tree = &t->d->m->tree;
  const double *tau = t->d->zero;
  if (t->ncoords > 0) {
    memset(t->tau, 0, (size_t)tree->nv * sizeof(double));
    tau = t->tau;
  }
  push(t, -1, lambda, t->tau);
  sni_respond(tree, &t->d->w, tau, x);
}

#define AHEAD 12 /* rows, of what is expected */

/* Rows after i, and the twists of their bodies. */
SNI_EXPECT_FN void expect(const sni_rows *rows, int i, const sni_lane6 *a) {
  if (i + 2 * AHEAD >= rows->nrow) {
    return;
  }
  const sni_row *row = &rows->row[i + AHEAD];
  sni_memory_expect(row + AHEAD, offsetof(sni_row, bias));
  for (int side = 0; side < 2; side++) {
    if (row->body[side] >= 0) {
      sni_memory_expect(&a[row->body[side]], sizeof *a);
    }
  }
}

void sni_ties_measure(const sni_ties *t, const double *x, double *out) {
  const sni_lane6 *a = t->d->w.a;
  for (int i = 0; t->by_rows && i < t->ntie; i++) {
    expect(t->d->rows, i, a);
    out[i] = sni_row_mul(&t->d->rows->row[i], &t->d->w, x);
  }
  for (int i = 0; !t->by_rows && i < t->ntie; i++) {
    const sni_tie *tie = &t->tie[i];
    double sum = sni_tie_dot(tie, a);
    for (int k = 0; tie->coords && k < tie->coords->ncoord; k++) {
      sum += tie->coords->coef[k] * x[tie->coords->coord[k]];
    }
    out[i] = sum;
  }
}

void sni_ties_leave(const sni_ties *t, const double *x, const double *lambda, double *r) {
  sni_ties_measure(t, x, r);
  for (int i = 0; i < t->ntie; i++) {
    r[i] -= t->soft[i] * lambda[i] + t->c[i];
  }
}

double sni_ties_off(const sni_ties *t, int i) {
  return fabs(t->r[i] + t->soft[i] * t->lambda[i] + t->c[i] - t->asked[i]);
}

void sni_ties_check(sni_ties *t, const double *x) {
  sni_J_mul_world(&t->d->m->tree, &t->d->w, x);
  sni_ties_leave(t, x, t->lambda, t->r);
  t->residual = sni_largest(t->ntie, t->r);
  t->off = 0;
  for (int i = 0; i < t->ntie; i++) {
    if (t->slot[i] >= 0) {
      const double off = sni_ties_off(t, i);
      t->off = off <= t->off ? t->off : off; /* this way round so that NaN stays */
    }
  }
}

/* The method of multipliers: G x - E (lambda - lambda_before) = asked.  Where constraints
 * contradict each other, forces would grow without end. */
bool sni_ties_come_near(sni_ties *t, double off_before) {
  if (!(t->off > t->precision) || t->residual > t->precision || !(t->off < 0.5 * off_before)) {
    return false;
  }
  for (int i = 0; i < t->ntie; i++) {
    if (t->slot[i] >= 0) {
      t->c[i] = t->asked[i] - t->soft[i] * t->lambda[i];
    }
  }
  return true;
}

/* ---- memory ---- */

int sni_ties_capacity(const sn_model *m, const sn_options *o) {
  return m->nrow + sni_system_pair_capacity(m, o);
}

static size_t lay_out(sni_ties *t, size_t n, size_t nv, size_t nbody, char *memory) {
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  t->tie = TAKE(n, sizeof *t->tie);
  t->slot = TAKE(n, sizeof *t->slot);
  t->soft = TAKE(n, sizeof *t->soft);
  t->weight = TAKE(n, sizeof *t->weight);
  t->moves = TAKE(n, sizeof *t->moves);
  t->c = TAKE(n, sizeof *t->c);
  t->asked = TAKE(n, sizeof *t->asked);
  t->lambda = TAKE(n, sizeof *t->lambda);
  t->kept_lambda = TAKE(n, sizeof *t->kept_lambda);
  t->kept_c = TAKE(n, sizeof *t->kept_c);
  t->r = TAKE(n, sizeof *t->r);
  t->p = TAKE(n, sizeof *t->p);
  t->q = TAKE(n, sizeof *t->q);
  t->z = TAKE(n, sizeof *t->z);
  t->w = TAKE(n, sizeof *t->w);
  t->inverse = TAKE(n, sizeof *t->inverse);
  t->y = TAKE(nv, sizeof *t->y);
  t->yp = TAKE(nv, sizeof *t->yp);
  t->tau = TAKE(nv, sizeof *t->tau);
  t->free = TAKE(n, sizeof *t->free);
  t->set = TAKE(n, sizeof *t->set);
  t->did = TAKE(n, sizeof *t->did);
  t->bore = TAKE(n, sizeof *t->bore);
  t->met_lambda = TAKE(n, sizeof *t->met_lambda);
  t->met_r = TAKE(n, sizeof *t->met_r);
  t->met_x = TAKE(nv, sizeof *t->met_x);
  t->of = TAKE(nbody, sizeof *t->of);
  t->joined = TAKE(nbody, sizeof *t->joined);
  t->sums = TAKE(nbody, sizeof *t->sums);
#undef TAKE
  return used;
}

size_t sni_ties_size(int capacity, const sn_model *m) {
  sni_ties t;
  return lay_out(&t, (size_t)capacity, (size_t)m->tree.nv, (size_t)m->tree.nbody, NULL);
}

void sni_ties_place(sni_ties *t, sni_system *s, int capacity, void *memory) {
  *t = (sni_ties){.d = s->d, .system = s, .capacity = capacity};
  lay_out(t, (size_t)capacity, (size_t)s->t->nv, (size_t)s->t->nbody, memory);
}
