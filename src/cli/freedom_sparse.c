/* freedom_sparse.c: the rank of many constraints.
 *
 * Over the twists phi of the bodies and the rates x of their joints the rows of joints and
 * constraints are sparse,
 *
 *     phi_i - X phi_p - S x_i = 0     P phi + C x = 0
 *
 * and are taken into a triangle one by one, by rotations.  A row of which nothing is left follows
 * from those before it.  The bodies are in an order that keeps the triangle sparse. */
#include "cli/freedom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear/ordering.h"
#include "methods/sim.h"

#define DEPENDENT 1e-9  /* of a row, left by the others: it follows from them        */
#define NOISE     1e-13 /* of a row: an entry that is nothing                        */
enum { ENTRIES_MAX = 12 + SNI_COORD_MAX + 1 };

/* A sparse row, its columns ascending. */
typedef struct sparse {
  int n;
  int *at;
  double *x;
} sparse;

typedef struct triangle {
  const sn_sim *sim;
  int *first;    /* nbody: the column of each body's twist, its joint's behind it */
  sparse *pivot; /* columns                                                       */
  int columns;
  bool good; /* there is memory */
} triangle;

static sparse take(triangle *t, int n) {
  sparse s = {.n = 0, .at = malloc(((size_t)n + 1) * sizeof(int))};
  s.x = malloc(((size_t)n + 1) * sizeof(double));
  t->good = t->good && s.at && s.x;
  return s;
}

static void drop(sparse *s) {
  free(s->at);
  free(s->x);
  *s = (sparse){0};
}

static double size_of(const sparse *s) {
  double sum = 0;
  for (int k = 0; k < s->n; k++) {
    sum += s->x[k] * s->x[k];
  }
  return sqrt(sum);
}

/* Both turned so that row loses its first entry, which pivot has too. */
static void rotate(triangle *t, sparse *pivot, sparse *row) {
  const double a = pivot->x[0], b = row->x[0], r = hypot(a, b), c = a / r, s = b / r;
  sparse p = take(t, pivot->n + row->n), q = take(t, pivot->n + row->n);
  for (int i = 0, j = 0; t->good && (i < pivot->n || j < row->n);) {
    const int at_p = i < pivot->n ? pivot->at[i] : t->columns;
    const int at_q = j < row->n ? row->at[j] : t->columns;
    const int at = at_p < at_q ? at_p : at_q;
    const double x = at_p == at ? pivot->x[i++] : 0, y = at_q == at ? row->x[j++] : 0;
    p.at[p.n] = q.at[q.n] = at;
    p.x[p.n++] = c * x + s * y;
    q.x[q.n] = c * y - s * x;
    q.n += at != pivot->at[0];
  }
  drop(pivot);
  drop(row);
  *pivot = p;
  *row = q;
}

/* Leaves out entries that are nothing. */
static void clean(sparse *row, double own) {
  int n = 0;
  for (int k = 0; k < row->n; k++) {
    if (fabs(row->x[k]) > NOISE * own) {
      row->at[n] = row->at[k];
      row->x[n++] = row->x[k];
    }
  }
  row->n = n;
}

/* False: it follows from those before it. */
static bool add_row(triangle *t, int n, const int *at, const double *x) {
  sparse row = take(t, n);
  for (int k = 0; t->good && k < n; k++) { /* sorted; entries of one column added up */
    int i = row.n;
    while (i > 0 && row.at[i - 1] >= at[k]) {
      i--;
    }
    if (i < row.n && row.at[i] == at[k]) {
      row.x[i] += x[k];
      continue;
    }
    memmove(row.at + i + 1, row.at + i, (size_t)(row.n - i) * sizeof *row.at);
    memmove(row.x + i + 1, row.x + i, (size_t)(row.n - i) * sizeof *row.x);
    row.at[i] = at[k];
    row.x[i] = x[k];
    row.n++;
  }
  const double own = size_of(&row);
  while (t->good) {
    clean(&row, own);
    if (!(size_of(&row) > DEPENDENT * own)) {
      break;
    }
    sparse *pivot = &t->pivot[row.at[0]];
    if (pivot->n == 0) {
      *pivot = row;
      return true;
    }
    rotate(t, pivot, &row);
  }
  drop(&row);
  return false;
}

/* ---- rows ---- */

static void add_joint(triangle *t, int i) {
  const sni_tree *tree = &t->sim->m->tree;
  const sni_work *w = &t->sim->d.w;
  const int parent = tree->parent[i], nv = tree->vadr[i + 1] - tree->vadr[i];
  const sni_lane r = w->r[i];
  for (int k = 0; k < 6; k++) {
    int at[ENTRIES_MAX], n = 0;
    double x[ENTRIES_MAX];
    at[n] = t->first[i] + k;
    x[n++] = 1;
    if (parent >= 0) {
      at[n] = t->first[parent] + k;
      x[n++] = -1;
    }
    if (parent >= 0 && k >= 3) { /* -(w_p x r) */
      const int a = (k - 3 + 1) % 3, b = (k - 3 + 2) % 3;
      at[n] = t->first[parent] + a;
      x[n++] = -r[b];
      at[n] = t->first[parent] + b;
      x[n++] = r[a];
    }
    for (int j = 0; j < nv; j++) {
      const sni_lane6 S = w->S[tree->vadr[i] + j];
      at[n] = t->first[i] + 6 + j;
      x[n++] = -(k < 3 ? S.w[k] : S.v[k - 3]);
    }
    add_row(t, n, at, x);
  }
}

static bool add_constraint(triangle *t, const sni_row *row) {
  const sni_tree *tree = &t->sim->m->tree;
  int at[ENTRIES_MAX], n = 0;
  double x[ENTRIES_MAX];
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < 6 && row->body[side] >= 0; k++) {
      at[n] = t->first[row->body[side]] + k;
      x[n++] = sn_vec6_get(row->p[side], k);
    }
  }
  for (int k = 0; k < row->ncoord; k++) {
    const int body = sni_tree_body_of(tree, row->coord[k]);
    at[n] = t->first[body] + 6 + row->coord[k] - tree->vadr[body];
    x[n++] = row->coef[k];
  }
  return add_row(t, n, at, x);
}

/* ---- the order ---- */

typedef struct pairs {
  int n;
  int *a, *b;
} pairs;

static void add_pair(pairs *p, int a, int b) {
  if (a >= 0 && b >= 0 && a != b) {
    p->a[p->n] = a;
    p->b[p->n++] = b;
  }
}

/* All that a row ties: each with the first of them. */
static void add_ties(pairs *p, const sni_tree *tree, const sni_row *row) {
  int one = row->body[0] >= 0 ? row->body[0] : row->body[1];
  add_pair(p, row->body[0], row->body[1]);
  for (int k = 0; k < row->ncoord; k++) {
    const int body = sni_tree_body_of(tree, row->coord[k]);
    add_pair(p, one, body);
    one = one >= 0 ? one : body;
  }
}

static bool lay_out(triangle *t) {
  const sni_tree *tree = &t->sim->m->tree;
  const sni_rows *rows = &t->sim->rows;
  const size_t nbody = (size_t)tree->nbody;
  const size_t most = nbody + (size_t)rows->nrow * (2 + SNI_COORD_MAX);
  int *memory = malloc((2 * most + 2 * nbody + 1) * sizeof *memory);
  sni_arena arena = {0};
  sni_graph graph = {0};
  sn_error err;
  bool good = memory != NULL;
  if (good) {
    pairs p = {.a = memory, .b = memory + most};
    int *size = memory + 2 * most, *order = size + nbody;
    for (int i = 0; i < tree->nbody; i++) {
      size[i] = 6 + tree->vadr[i + 1] - tree->vadr[i];
      add_pair(&p, i, tree->parent[i]);
    }
    for (int i = 0; i < rows->nrow; i++) {
      add_ties(&p, tree, &rows->row[i]);
    }
    const sni_order_demands none = {0};
    good = sni_graph_build(&arena, tree->nbody, p.n, p.a, p.b, &graph, &err) == SN_OK &&
           sni_order(&graph, size, &none, order, &err) == SN_OK;
    for (int k = 0; good && k < tree->nbody; k++) {
      t->first[order[k]] = t->columns;
      t->columns += size[order[k]];
    }
  }
  sni_arena_free(&arena);
  free(memory);
  return good;
}

void cli_freedom_sparse(const sn_sim *sim, int own, cli_freedom *f) {
  const int nbody = sim->m->tree.nbody, nv = sim->m->tree.nv;
  const sni_rows *rows = &sim->rows;
  triangle t = {.sim = sim, .good = true};
  t.first = calloc((size_t)nbody + 1, sizeof *t.first);
  t.pivot = calloc(6 * (size_t)nbody + (size_t)nv + 1, sizeof *t.pivot);
  t.good = t.first && t.pivot && lay_out(&t);
  for (int i = 0; t.good && i < nbody; i++) {
    add_joint(&t, i);
  }
  int rank = 0, rank_all = 0;
  for (int i = 0; t.good && i < rows->nrow; i++) {
    const bool counts = add_constraint(&t, &rows->row[i]);
    rank_all += counts;
    if (i < own) {
      rank += counts;
      cli_freedom_involve(f, rows->of[i], !counts);
    }
  }
  f->counted = t.good;
  f->least = 1; /* not known */
  f->rank = t.good ? rank : 0;
  f->free = nv - rank_all;
  for (int k = 0; t.pivot && k < 6 * nbody + nv; k++) {
    drop(&t.pivot[k]);
  }
  free(t.first);
  free(t.pivot);
}
