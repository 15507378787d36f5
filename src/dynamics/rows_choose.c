/* rows_choose.c: how constraints are solved with: in their dual, with the coordinates
 * (reduced-kkt), or with bodies and joints as a graph.  Counted once, from the structure alone. */
#include "dynamics/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dual squares what the others have to the first power, and loses digits where rows are nearly
 * dependent: it has to be worth it. */
#define WORTHWHILE 0.9

#define GRAPH_BYTES_MAX ((size_t)1 << 31)
/* Not worth counting where it has much more than a graph would have. */
#define REDUCED_BYTES        ((size_t)1 << 22)
#define REDUCED_BYTES_A_BODY 4096

/* Of one-sided rows so many sets are tried. */
#define SETS 4

static const char *const name[SNI_WAYS] = {"the dual", "reduced-kkt", "graph"};

/* Of limits, most are far away most of the time. */
static double rows_of(const sn_model *m) {
  return m->nrow - 0.8 * m->nsided;
}

double sni_rows_column_cost(const sn_model *m, double solve) {
  return solve + 0.5 * rows_of(m) * m->tree.nv;
}

/* The part of the tree that moves in a pass for eight rows (columns.h), on the average.  room: 3
 * nbody. */
static double part_moved(const sn_model *m, int *room) {
  const sni_tree *t = &m->tree;
  /* the body nearest to the world that moves with it, how many move with that, the last pass */
  int *top = room, *many = room + t->nbody, *seen = many + t->nbody, rows = 0;
  double moved = 0, passes = 0;
  for (int i = 0; i < t->nbody; i++) {
    const int above = t->parent[i] < 0 ? -1 : top[t->parent[i]];
    top[i] = above < 0 && t->joint[i].nv > 0 ? i : above;
    many[i] = seen[i] = 0;
    many[top[i] < 0 ? i : top[i]]++;
  }
  for (int c = 0; c < m->nconstraint; c++) {
    const sni_constraint *con = &m->constraint[c];
    const int pass = 1 + rows / 8;
    for (int k = 0; k < 2 + con->ncoord; k++) {
      const int body = k < 2 ? con->body[k] : sni_tree_body_of(t, con->coord[k - 2]);
      const int by = body < 0 ? -1 : top[body];
      if (by >= 0 && seen[by] != pass) {
        seen[by] = pass;
        moved += many[by];
      }
    }
    rows += con->nrow;
    passes = pass;
  }
  return fmin(moved / fmax(passes * t->nbody, 1), 1);
}

/* Eight at a time where nothing is one-sided, and then without products of whole columns. */
double sni_rows_tree_column_cost(const sn_model *m) {
  if (m->nsided > 0) {
    return sni_rows_column_cost(m, 35.0 * m->tree.nbody);
  }
  int *room = malloc(3 * (size_t)m->tree.nbody * sizeof *room + 1);
  const double part = room ? part_moved(m, room) : 1;
  free(room);
  return part * (16.0 * m->tree.nbody + 9.0 * m->tree.nv);
}

/* In nanoseconds.  A column of A^-1 G^T a row, and a small dense factorisation. */
static double dual_cost(const sn_model *m, double column) {
  const double n = rows_of(m), nv = m->tree.nv;
  return n * (column + 2 * nv) + n * n * n / 3;
}

static sn_status count(sni_rows *r, sni_kkt_form form, int way, int npairs, const int (*pair)[2],
                       sni_kkt **out, sn_error *err) {
  const size_t reduced = REDUCED_BYTES + REDUCED_BYTES_A_BODY * (size_t)r->d->m->tree.nbody;
  const size_t bytes = form == SNI_KKT_REDUCED ? reduced : GRAPH_BYTES_MAX;
  const sn_status status = sni_kkt_build(r->d, form, npairs, pair, bytes, out, err);
  if (!status) {
    r->cost[way] = sni_kkt_cost(*out) * (r->d->m->nsided > 0 ? SETS : 1);
  }
  return status == SN_E_LIMIT ? SN_OK : status;
}

sn_status sni_rows_choose(sni_rows *r, double column, double once, int npairs, const int (*pair)[2],
                          bool stiff, sn_error *err) {
  sni_kkt *kkt[SNI_WAYS] = {NULL};
  for (int k = 0; k < SNI_WAYS; k++) {
    r->cost[k] = INFINITY;
  }
  if (r->dual) {
    const sn_model *m = r->d->m;
    r->cost[SNI_BY_DUAL] =
        0.5 * (dual_cost(m, column) + dual_cost(m, sni_rows_tree_column_cost(m))) + once;
  }
  sn_status status = count(r, SNI_KKT_MAXIMAL, SNI_BY_GRAPH, npairs, pair, &kkt[SNI_BY_GRAPH], err);
  /* stiff forces between two bodies cancel in the reduced system; soft stops have no place in it,
   * and so limits that depend on each other are not sorted out there (unilateral_inside.c) */
  if (!status && !stiff && r->d->m->nsided == 0) {
    status = count(r, SNI_KKT_REDUCED, SNI_BY_REDUCED, npairs, pair, &kkt[SNI_BY_REDUCED], err);
  }
  const int best = r->cost[SNI_BY_REDUCED] < r->cost[SNI_BY_GRAPH] ? SNI_BY_REDUCED : SNI_BY_GRAPH;
  /* one that only preconditions loses nothing */
  const double worthwhile = once > 0 ? 1 : WORTHWHILE;
  r->way = r->cost[SNI_BY_DUAL] < worthwhile * r->cost[best] ? SNI_BY_DUAL : best;
  for (int k = 0; k < SNI_WAYS; k++) {
    if (status || k != r->way) {
      sni_kkt_free(&kkt[k]);
    }
  }
  if (!status && r->way != SNI_BY_DUAL && !kkt[r->way]) {
    return sni_fail(err, SN_E_LIMIT, "%d rows of constraints are too many: no form of them fits",
                    r->d->m->nrow);
  }
  r->kkt = kkt[r->way];
  return status;
}

void sni_rows_describe(const sni_rows *r, char *out, size_t out_size) {
  const size_t used = strlen(out);
  snprintf(out + used, out_size - used, "%s for %d row%s of constraints", name[r->way],
           r->d->m->nrow, r->d->m->nrow == 1 ? "" : "s");
  const char *sign = ": ";
  for (int k = 0; k < SNI_WAYS; k++) {
    if (isfinite(r->cost[k])) {
      const size_t at = strlen(out);
      snprintf(out + at, out_size - at, "%s%s %.3g us a solve", sign, name[k], 1e-3 * r->cost[k]);
      sign = ", ";
    }
  }
}
