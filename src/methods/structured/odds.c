/* odds.c: which bodies constraints that are at odds can reach, over joints and other constraints.
 * Only these need give way and be braked: what moves beside them has nothing to do with it. */
#include "base/memory.h"
#include "methods/structured/sets.h"
#include "methods/structured/structured.h"

#include <string.h>

/* Motion is braked in full where closing takes back more of its energy than one part in so many,
 * and by the square of what is less. */
#define MUCH 10

/* ---- bodies that are joined ---- */

int sni_odds_body_of(const sni_tree *t, const sni_row *row) {
  return row->body[0] >= 0   ? row->body[0]
         : row->body[1] >= 0 ? row->body[1]
         : row->ncoord > 0   ? sni_tree_body_of(t, row->coord[0])
                             : -1;
}

void sni_odds_join(const sn_sim *sim, int *joined) {
  const sni_tree *t = &sim->m->tree;
  const sni_rows *rows = &sim->rows;
  for (int i = 0; i < t->nbody; i++) {
    joined[i] = i;
    sni_sets_join(joined, t->parent[i], i);
  }
  for (int k = 0; k < rows->nrow; k++) {
    const sni_row *row = &rows->row[k];
    const int first = sni_odds_body_of(t, row);
    sni_sets_join(joined, first, row->body[1]);
    for (int c = 0; c < row->ncoord; c++) {
      sni_sets_join(joined, first, sni_tree_body_of(t, row->coord[c]));
    }
  }
}

/* From the rows that are marked to all that they reach. */
static void spread(const sn_sim *sim, sni_odds *o) {
  const sni_tree *t = &sim->m->tree;
  const sni_rows *rows = &sim->rows;
  sni_odds_join(sim, o->joined);
  memset(o->body, 0, (size_t)t->nbody * sizeof *o->body);
  for (int k = 0; k < rows->nrow; k++) {
    const int i = sni_odds_body_of(t, &rows->row[k]);
    if (o->row[k] && i >= 0) {
      o->body[sni_set_of(o->joined, i)] = true;
    }
  }
  for (int i = 0; i < t->nbody; i++) {
    o->body[i] = o->body[sni_set_of(o->joined, i)];
  }
  for (int k = 0; k < rows->nrow; k++) {
    const int i = sni_odds_body_of(t, &rows->row[k]);
    o->row[k] = i >= 0 && o->body[i];
  }
}

/* ---- what is at odds ---- */

void sni_odds_none(sni_odds *o) {
  o->any = o->in_rates = false;
}

bool sni_odds_is_open(const sni_rows *rows, int i, double precision, double before) {
  const sni_row *row = &rows->row[i];
  return !sni_rows_is_rate(rows, i) && fabs(row->g - before * row->rate) > precision;
}

void sni_odds_open(const sn_sim *sim, sni_odds *o, double precision, double before) {
  o->any = o->in_rates = false;
  for (int k = 0; k < sim->rows.nrow; k++) {
    o->row[k] = sni_odds_is_open(&sim->rows, k, precision, before);
    o->any = o->any || o->row[k];
  }
  if (o->any) {
    spread(sim, o);
  }
}

void sni_odds_all(const sn_sim *sim, sni_odds *o) {
  o->any = sim->rows.nrow > 0;
  memset(o->row, true, (size_t)sim->rows.nrow * sizeof *o->row);
  spread(sim, o);
}

bool sni_odds_missed(const sn_sim *sim, const sni_ties *t, sni_odds *o, double precision) {
  bool more = false;
  for (int k = 0; k < sim->rows.nrow; k++) {
    const bool before = o->any && o->row[k];
    o->row[k] = before || sni_ties_off(t, k) > precision;
    more = more || (o->row[k] && !before);
  }
  if (more) {
    o->any = o->in_rates = true;
    spread(sim, o);
  }
  return more;
}

/* ---- rates of what is held ---- */

/* Squares of the rates x by the masses, of the first of each set of joined bodies. */
static void sum_squares(sn_sim *sim, const sni_odds *o, const double *x, double *sum) {
  const sni_dynamics *d = &sim->d;
  const int n = sim->m->tree.nbody;
  sni_J_mul_world(&sim->m->tree, &sim->d.w, x);
  memset(sum, 0, (size_t)n * sizeof *sum);
  for (int i = 0; i < n; i++) {
    const sni_lane6 momentum = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
    sum[sni_set_of(o->joined, i)] += sni_lane6_dot(d->w.a[i], momentum);
  }
}

void sni_odds_follow(sn_sim *sim, const sni_ties *t, sni_odds *o, const double *x) {
  const sni_tree *tree = &sim->m->tree;
  const sni_rows *rows = &sim->rows;
  double *most = o->size;
  memset(most, 0, (size_t)tree->nbody * sizeof *most);
  for (int k = 0; k < rows->nrow; k++) {
    const int i = sni_odds_body_of(tree, &rows->row[k]);
    if (i >= 0) {
      double *of_set = &most[sni_set_of(o->joined, i)];
      *of_set = fmax(*of_set, fabs(rows->row[k].rate));
    }
  }
  sni_J_mul_world(tree, &sim->d.w, x);
  sni_ties_measure(t, x, t->q);
  for (int k = 0; k < rows->nrow; k++) {
    const int i = sni_odds_body_of(tree, &rows->row[k]);
    const double at_most = i >= 0 ? most[sni_set_of(o->joined, i)] : 0;
    t->q[k] = fmax(fmin(t->q[k], at_most), -at_most);
  }
}

void sni_odds_brake(sn_sim *sim, sni_odds *o, const double *closing, const double *x, double faster,
                    double *b) {
  const sni_tree *t = &sim->m->tree;
  sum_squares(sim, o, closing, o->share);
  sum_squares(sim, o, x, o->size);
  for (int i = 0; i < t->nbody; i++) {
    const bool now = o->body[i] && !o->braked[i];
    const int set = sni_set_of(o->joined, i);
    const double part =
        MUCH * o->share[set] < o->size[set] ? MUCH * o->share[set] / o->size[set] : 1;
    o->braked[i] = o->braked[i] || now;
    for (int k = t->vadr[i]; now && k < t->vadr[i + 1]; k++) {
      b[k] /= 1 + part * part * faster;
    }
  }
}

/* o->share, of the first of each set of joined bodies: how much of the rates of closing, in
 * o->closing, to add to those in w->a so that the energy of the set is least; 0 to 1. */
static void find_shares(const sn_sim *sim, sni_odds *o) {
  const sni_dynamics *d = &sim->d;
  const int n = sim->m->tree.nbody;
  memset(o->share, 0, (size_t)n * sizeof *o->share);
  memset(o->size, 0, (size_t)n * sizeof *o->size);
  for (int i = 0; i < n; i++) {
    const int set = sni_set_of(o->joined, i);
    const sni_lane6 momentum = sni_momentum(&d->mass[i], &d->w.link[i], o->closing[i]);
    o->share[set] -= sni_lane6_dot(d->w.a[i], momentum);
    o->size[set] += sni_lane6_dot(o->closing[i], momentum);
  }
  for (int i = 0; i < n; i++) {
    o->share[i] = o->share[i] > 0 ? fmin(o->share[i] / o->size[i], 1) : 0;
  }
}

void sni_odds_settle(sn_sim *sim, sni_odds *o, const double *closing, double *qd1) {
  const sni_tree *t = &sim->m->tree;
  sni_J_mul_world(t, &sim->d.w, closing);
  memcpy(o->closing, sim->d.w.a, (size_t)t->nbody * sizeof *o->closing);
  sni_J_mul_world(t, &sim->d.w, qd1);
  find_shares(sim, o);
  for (int i = 0; i < t->nbody; i++) {
    const double share = o->body[i] ? o->share[sni_set_of(o->joined, i)] : 0;
    for (int k = t->vadr[i]; share > 0 && k < t->vadr[i + 1]; k++) {
      qd1[k] += share * closing[k];
    }
  }
}

/* ---- memory ---- */

static size_t lay_out(sni_odds *o, size_t nbody, size_t nrow, char *memory) {
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  o->joined = TAKE(nbody, sizeof *o->joined);
  o->share = TAKE(nbody, sizeof *o->share);
  o->size = TAKE(nbody, sizeof *o->size);
  o->closing = TAKE(nbody, sizeof *o->closing);
  o->body = TAKE(nbody, sizeof *o->body);
  o->braked = TAKE(nbody, sizeof *o->braked);
  o->row = TAKE(nrow, sizeof *o->row);
#undef TAKE
  return used;
}

size_t sni_odds_size(const sn_model *m) {
  sni_odds o;
  return lay_out(&o, (size_t)m->tree.nbody, (size_t)m->nrow, NULL);
}

void sni_odds_place(sni_odds *o, const sn_model *m, void *memory) {
  lay_out(o, (size_t)m->tree.nbody, (size_t)m->nrow, memory);
  o->any = false;
}
