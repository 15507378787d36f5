/* kkt_build.c: the pattern of the graph and its memory. */
#include "dynamics/kkt_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pattern ---- */

typedef struct pattern {
  int n, nblock, nrule, nlink;
  int *size, *sign, *row, *col;
  uint8_t *kind;
  int *later, *earlier;      /* rates have a pivot only after the multiplier of their joint */
  int *link, *end_a, *end_b; /* multipliers and the bodies that they tie                    */
  int *closer;               /* those of constraints                                        */
} pattern;

static int add_node(pattern *p, int size, int sign) {
  p->size[p->n] = size;
  p->sign[p->n] = sign;
  return p->n++;
}

static int add_block(pattern *p, sni_ldl_kind kind, int row, int col) {
  p->row[p->nblock] = row;
  p->col[p->nblock] = col;
  p->kind[p->nblock] = (uint8_t)kind;
  return p->nblock++;
}

static void add_link(pattern *p, int node, int a, int b, bool closer) {
  p->link[p->nlink] = node;
  p->closer[p->nlink] = closer;
  p->end_a[p->nlink] = a;
  p->end_b[p->nlink++] = b;
}

static void add_rule(pattern *p, int later, int earlier) {
  p->later[p->nrule] = later;
  p->earlier[p->nrule++] = earlier;
}

static void lay_out_tree(sni_kkt *k, pattern *p) {
  const sni_tree *t = &k->d->m->tree;
  for (int i = 0; i < t->nbody; i++) {
    const int nv = t->joint[i].nv, parent = t->parent[i];
    const int up = parent >= 0 ? k->phi[parent] : -1;
    k->phi[i] = k->qd[i] = k->mu[i] = -1;
    k->mass[i] = k->own[i] = k->shift[i] = k->joint[i] = k->tie[i] = k->row[i] = -1;
    if (nv == 0 && up < 0) {
      continue; /* fixed to the ground */
    }
    k->phi[i] = add_node(p, 6, 1);
    k->mass[i] = add_block(p, SNI_LDL_SYMMETRIC, k->phi[i], k->phi[i]);
    k->mu[i] = add_node(p, k->is_bare[i] ? 3 : 6, -1);
    add_link(p, k->mu[i], k->phi[i], up, false);
    k->tie[i] = add_block(p, SNI_LDL_TIE, k->mu[i], k->phi[i]);
    if (up >= 0) {
      k->shift[i] = add_block(p, SNI_LDL_LEVER, k->mu[i], up);
    }
    if (nv > 0 && !k->is_bare[i]) {
      k->qd[i] = add_node(p, nv, 1);
      add_rule(p, k->qd[i], k->mu[i]);
      k->own[i] = add_block(p, SNI_LDL_DENSE, k->qd[i], k->qd[i]);
      k->joint[i] = add_block(p, SNI_LDL_DENSE, k->mu[i], k->qd[i]);
    }
  }
}

static void lay_out_constraints(sni_kkt *k, pattern *p) {
  const sni_tree *t = &k->d->m->tree;
  for (int c = 0; c < k->ncon; c++) {
    const sni_constraint *con = &k->d->rows->constraint[c];
    int end[2] = {-1, -1};
    k->con[c] = k->con_own[c] = k->con_row[c] = -1;
    k->con_size[c] = con->nrow;
    for (int j = 0; j < SNI_COORD_MAX; j++) {
      k->con_coord[SNI_COORD_MAX * c + j] = -1;
    }
    for (int side = 0; side < 2; side++) {
      end[side] = con->body[side] >= 0 ? k->phi[con->body[side]] : -1;
      k->con_side[2 * c + side] = -1;
    }
    if (con->nrow == 0) {
      continue;
    }
    k->con[c] = add_node(p, con->nrow, -1);
    k->con_own[c] = add_block(p, SNI_LDL_DIAGONAL, k->con[c], k->con[c]);
    for (int side = 0; side < 2; side++) {
      if (end[side] >= 0) {
        k->con_side[2 * c + side] = add_block(p, SNI_LDL_DENSE, k->con[c], end[side]);
      }
    }
    if (end[0] >= 0 || end[1] >= 0) {
      const int first = end[0] >= 0 ? 0 : 1;
      add_link(p, k->con[c], end[first], end[1 - first], true);
    }
    for (int j = 0; j < con->ncoord; j++) {
      const int qd = k->qd[sni_tree_body_of(t, con->coord[j])];
      k->con_coord[SNI_COORD_MAX * c + j] = add_block(p, SNI_LDL_DENSE, k->con[c], qd);
      add_rule(p, k->con[c], qd);
    }
  }
}

static void find_places(sni_kkt *k) {
  for (int i = 0; i < k->d->m->tree.nbody; i++) {
    k->row[i] = k->qd[i] >= 0 ? sni_ldl_place(k->ldl, k->qd[i]) : -1;
    k->at[i] = k->phi[i] >= 0 ? sni_ldl_place(k->ldl, k->phi[i]) : -1;
  }
  for (int c = 0; c < k->ncon; c++) {
    k->con_row[c] = k->con[c] >= 0 ? sni_ldl_place(k->ldl, k->con[c]) : -1;
  }
}

/* Divides memory; with NULL only counts. */
typedef struct piece {
  int **array;
  size_t count;
} piece;

static int *take_pieces(const piece *list, size_t n) {
  size_t total = 1;
  for (size_t k = 0; k < n; k++) {
    total += list[k].count;
  }
  int *memory = calloc(total, sizeof *memory), *at = memory;
  for (size_t k = 0; memory && k < n; k++) {
    *list[k].array = at;
    at += list[k].count;
  }
  return memory;
}

static void free_graph(sni_kkt *k) {
  sni_ldl_free(&k->ldl);
  free(k->phi); /* the first piece of all */
  free(k->x);
  free(k->given);
  free(k->out);
  free(k->doubted);
  k->phi = NULL;
  k->x = k->given = NULL;
  k->out = NULL;
  k->doubted = NULL;
}

void sni_kkt_free(sni_kkt **kkt) {
  sni_kkt *k = *kkt;
  if (k) {
    k->ldl = k->reduced ? NULL : k->ldl;
    free_graph(k);
    sni_kkt_reduced_free(&k->reduced);
    free(k->is_bare);
    free(k->bare);
    free(k->pairs);
    free(k);
  }
  *kkt = NULL;
}

static sn_status build(sni_kkt *k, sn_error *err) {
  const size_t nbody = (size_t)k->d->m->tree.nbody, ncon = (size_t)k->ncon, np = (size_t)k->npairs;
  const size_t nrow = k->d->rows ? (size_t)k->d->rows->capacity : 0;
  const piece own[] = {
      {&k->phi, nbody},         {&k->qd, nbody},      {&k->mu, nbody},
      {&k->row, nbody},         {&k->mass, nbody},    {&k->own, nbody},
      {&k->shift, nbody},       {&k->joint, nbody},   {&k->tie, nbody},
      {&k->at, nbody},          {&k->pair, np},       {&k->con, ncon},
      {&k->con_row, ncon},      {&k->con_size, ncon}, {&k->con_own, ncon},
      {&k->con_side, 2 * ncon}, {&k->row_at, nrow},   {&k->con_coord, SNI_COORD_MAX * ncon}};
  const size_t nodes = 3 * nbody + ncon;
  const size_t blocks = 5 * nbody + np + (3 + SNI_COORD_MAX) * ncon;
  const size_t rules = nbody + SNI_COORD_MAX * ncon, links = nbody + ncon;
  pattern p = {0};
  const piece scratch[] = {{&p.size, nodes},  {&p.sign, nodes},  {&p.row, blocks},
                           {&p.col, blocks},  {&p.later, rules}, {&p.earlier, rules},
                           {&p.link, links},  {&p.end_a, links}, {&p.end_b, links},
                           {&p.closer, links}};
  int *memory = take_pieces(scratch, sizeof scratch / sizeof scratch[0]);
  p.kind = calloc(blocks + 1, sizeof *p.kind);
  sn_status status = SN_E_MEMORY;
  if (memory && p.kind && take_pieces(own, sizeof own / sizeof own[0])) {
    lay_out_tree(k, &p);
    for (int n = 0; n < k->npairs; n++) {
      const int a = k->pairs[n][0] >= 0 ? k->phi[k->pairs[n][0]] : -1;
      const int b = k->pairs[n][1] >= 0 ? k->phi[k->pairs[n][1]] : -1;
      k->pair[n] = a >= 0 && b >= 0 ? add_block(&p, SNI_LDL_DENSE, a, b) : -1;
    }
    lay_out_constraints(k, &p);
    k->given = calloc((size_t)k->d->m->tree.nv + nrow + 1, sizeof *k->given);
    k->out = calloc(nrow + 1, sizeof *k->out);
    k->doubted = calloc((size_t)k->d->m->tree.nv + 1, sizeof *k->doubted);
    const sni_ldl_pattern ldl = {
        .n = p.n,
        .size = p.size,
        .sign = p.sign,
        .block_count = p.nblock,
        .row = p.row,
        .col = p.col,
        .demands = {p.nrule, p.later, p.earlier, p.nlink, p.link, p.end_a, p.end_b, p.closer},
        .kind = p.kind};
    sni_ldl_options options = sni_ldl_options_default();
    options.bytes_max = k->bytes_max;
    status = k->given && k->out && k->doubted ? sni_ldl_build(&ldl, &options, &k->ldl, err)
                                              : SN_E_MEMORY;
    if (!status) {
      find_places(k);
    }
  }
  free(memory);
  free(p.kind);
  return status;
}

static sn_status build_maximal(sni_kkt *k, int npairs, const int (*pair)[2], size_t bytes_max,
                               sn_error *err) {
  const size_t nbody = (size_t)k->d->m->tree.nbody;
  k->npairs = npairs;
  k->bytes_max = bytes_max;
  k->is_bare = calloc(nbody + 1, sizeof *k->is_bare);
  k->bare = calloc(nbody + 1, sizeof *k->bare);
  k->pairs = calloc((size_t)npairs + 1, sizeof *k->pairs);
  if (!k->is_bare || !k->bare || !k->pairs) {
    return SN_E_MEMORY;
  }
  if (npairs > 0) {
    memcpy(k->pairs, pair, (size_t)npairs * sizeof *pair);
  }
  sni_bare_find(k->d, k->is_bare);
  return build(k, err);
}

void sni_kkt_build_anew(sni_kkt *k) {
  sn_error err;
  free_graph(k);
  k->lost = build(k, &err);
  k->begun = false;
}

static sn_status build_reduced(sni_kkt *k, int npairs, const int (*pair)[2], size_t bytes_max,
                               sn_error *err) {
  const sn_status status = sni_kkt_reduced_build(k->d, npairs, pair, bytes_max, &k->reduced, err);
  if (status) {
    return status;
  }
  k->ldl = sni_kkt_reduced_ldl(k->reduced);
  k->x = calloc((size_t)sni_kkt_reduced_scalars(k->reduced) + 1, sizeof *k->x);
  const size_t nrow = k->d->rows ? (size_t)k->d->rows->capacity : 0;
  k->given = calloc((size_t)k->d->m->tree.nv + nrow + 1, sizeof *k->given);
  return k->x && k->given ? SN_OK : SN_E_MEMORY;
}

sn_status sni_kkt_build(const sni_dynamics *d, sni_kkt_form form, int npairs, const int (*pair)[2],
                        size_t bytes_max, sni_kkt **out, sn_error *err) {
  sni_kkt *k = calloc(1, sizeof *k);
  sn_status status = SN_E_MEMORY;
  if (k) {
    k->d = d;
    k->ncon = d->rows ? d->rows->nconstraint : 0;
    status = form == SNI_KKT_REDUCED ? build_reduced(k, npairs, pair, bytes_max, err)
                                     : build_maximal(k, npairs, pair, bytes_max, err);
  }
  *out = k;
  if (status == SN_E_MEMORY) {
    sni_fail(err, status, "no memory for the graph of bodies and joints");
  }
  if (status) {
    sni_kkt_free(out);
  }
  return status;
}
