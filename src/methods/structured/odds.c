/* odds.c: which bodies constraints that are at odds can reach, over joints and other constraints.
 * Only these need give way and be braked: what moves beside them has nothing to do with it. */
#include "methods/structured/structured.h"

#include <string.h>

/* ---- bodies that are joined, as trees of their numbers ---- */

static int first_of(int *joined, int i) {
  while (joined[i] != i) {
    i = joined[i] = joined[joined[i]];
  }
  return i;
}

static void join(int *joined, int i, int j) {
  if (i >= 0 && j >= 0) {
    joined[first_of(joined, j)] = first_of(joined, i);
  }
}

/* A body that the row moves; -1: none. */
static int body_of(const sni_tree *t, const sni_row *row) {
  return row->body[0] >= 0   ? row->body[0]
         : row->body[1] >= 0 ? row->body[1]
         : row->ncoord > 0   ? sni_tree_body_of(t, row->coord[0])
                             : -1;
}

static void join_all(const sni_tree *t, const sni_rows *rows, int *joined) {
  for (int i = 0; i < t->nbody; i++) {
    joined[i] = i;
    join(joined, t->parent[i], i);
  }
  for (int k = 0; k < rows->nrow; k++) {
    const sni_row *row = &rows->row[k];
    const int first = body_of(t, row);
    join(joined, first, row->body[1]);
    for (int c = 0; c < row->ncoord; c++) {
      join(joined, first, sni_tree_body_of(t, row->coord[c]));
    }
  }
}

/* From the rows that are marked to all that they reach. */
static void spread(const sn_sim *sim, sni_odds *o) {
  const sni_tree *t = &sim->m->tree;
  const sni_rows *rows = &sim->rows;
  join_all(t, rows, o->joined);
  memset(o->body, 0, (size_t)t->nbody * sizeof *o->body);
  for (int k = 0; k < rows->nrow; k++) {
    const int i = body_of(t, &rows->row[k]);
    if (o->row[k] && i >= 0) {
      o->body[first_of(o->joined, i)] = true;
    }
  }
  for (int i = 0; i < t->nbody; i++) {
    o->body[i] = o->body[first_of(o->joined, i)];
  }
  for (int k = 0; k < rows->nrow; k++) {
    const int i = body_of(t, &rows->row[k]);
    o->row[k] = i >= 0 && o->body[i];
  }
}

/* ---- what is at odds ---- */

void sni_odds_none(sni_odds *o) {
  o->any = false;
}

void sni_odds_open(const sn_sim *sim, sni_odds *o, double precision) {
  o->any = false;
  for (int k = 0; k < sim->rows.nrow; k++) {
    o->row[k] = fabs(sim->rows.row[k].g) > precision;
    o->any = o->any || o->row[k];
  }
  if (o->any) {
    spread(sim, o);
  }
}

bool sni_odds_missed(const sn_sim *sim, const sni_ties *t, sni_odds *o, double precision) {
  bool more = false;
  for (int k = 0; k < sim->rows.nrow; k++) {
    const bool before = o->any && o->row[k];
    o->row[k] = before || sni_ties_off(t, k) > precision;
    more = more || (o->row[k] && !before);
  }
  if (more) {
    o->any = true;
    spread(sim, o);
  }
  return more;
}

/* ---- memory ---- */

size_t sni_odds_size(const sn_model *m) {
  return (size_t)m->tree.nbody * (sizeof(int) + 2 * sizeof(bool)) + (size_t)m->nrow * sizeof(bool);
}

void sni_odds_place(sni_odds *o, const sn_model *m, void *memory) {
  o->joined = memory;
  o->body = (bool *)(o->joined + m->tree.nbody);
  o->braked = o->body + m->tree.nbody;
  o->row = o->braked + m->tree.nbody;
  o->any = false;
}
