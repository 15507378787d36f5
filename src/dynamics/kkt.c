/* kkt.c: masses, joints, forces and constraints as one sparse graph. */
#include "dynamics/kkt.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/kkt_bare.h"
#include "dynamics/kkt_reduced.h"
#include "dynamics/rows.h"

struct sni_kkt {
  const sni_dynamics *d;
  sni_kkt_reduced *reduced; /* NULL: the maximal form, which all below is for            */
  sni_ldl *ldl;
  int *phi, *qd, *mu;              /* nbody  nodes; -1: none                                    */
  int *row;                        /* nbody  first scalar of the rates                          */
  int *at;                         /* nbody  of the twist                                       */
  int *mass, *own, *shift, *joint; /* nbody  blocks; -1: none                                   */
  int *tie;                        /* nbody  block mu, phi                                      */
  int *pair;                       /* npairs block; -1: none                                    */
  int ncon;                        /* constraints                                               */
  int *con;                        /* ncon  nodes; -1: none                                     */
  int *con_row;                    /* ncon  first scalar                                        */
  int *con_own, *con_side;         /* ncon, 2 ncon  blocks; -1: none                            */
  int *con_coord; /* SNI_COORD_MAX ncon  blocks with the rates of a joint          */
  int *row_at;    /* capacity of rows  scalar of each row that is active        */
  int nrow;
  int scalars;
  bool *is_bare;  /* nbody  its rates are no unknowns: kkt_bare.h */
  sni_bare *bare; /* nbody  of these, as filled                   */
  int npairs;     /* what it was built for */
  int (*pairs)[2];
  size_t bytes_max;
  sn_status lost; /* that did not work */
  double *x;      /* scalars                                                                     */
  double *given;  /* scalars  the right-hand side that went into the factorisation               */
  bool begun;     /* it has not been solved for yet                                              */
  unsigned count; /* of factorisations */
};

/* ---- the pattern ---- */

typedef struct pattern {
  int n, nblock, nrule, nlink;
  int *size, *sign, *row, *col;
  int *later, *earlier;      /* rates have a pivot only after the multiplier of their joint */
  int *link, *end_a, *end_b; /* multipliers and the bodies that they tie                    */
  int *closer;               /* those of constraints                                        */
} pattern;

static int add_node(pattern *p, int size, int sign) {
  p->size[p->n] = size;
  p->sign[p->n] = sign;
  return p->n++;
}

static int add_block(pattern *p, int row, int col) {
  p->row[p->nblock] = row;
  p->col[p->nblock] = col;
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
    k->mass[i] = add_block(p, k->phi[i], k->phi[i]);
    k->mu[i] = add_node(p, k->is_bare[i] ? 3 : 6, -1);
    add_link(p, k->mu[i], k->phi[i], up, false);
    k->tie[i] = add_block(p, k->mu[i], k->phi[i]);
    if (up >= 0) {
      k->shift[i] = add_block(p, k->mu[i], up);
    }
    if (nv > 0 && !k->is_bare[i]) {
      k->qd[i] = add_node(p, nv, 1);
      add_rule(p, k->qd[i], k->mu[i]);
      k->own[i] = add_block(p, k->qd[i], k->qd[i]);
      k->joint[i] = add_block(p, k->mu[i], k->qd[i]);
    }
  }
}

static void lay_out_constraints(sni_kkt *k, pattern *p) {
  const sni_tree *t = &k->d->m->tree;
  for (int c = 0; c < k->ncon; c++) {
    const sni_constraint *con = &k->d->rows->constraint[c];
    int end[2] = {-1, -1};
    k->con[c] = k->con_own[c] = k->con_row[c] = -1;
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
    k->con_own[c] = add_block(p, k->con[c], k->con[c]);
    for (int side = 0; side < 2; side++) {
      if (end[side] >= 0) {
        k->con_side[2 * c + side] = add_block(p, k->con[c], end[side]);
      }
    }
    if (end[0] >= 0 || end[1] >= 0) {
      const int first = end[0] >= 0 ? 0 : 1;
      add_link(p, k->con[c], end[first], end[1 - first], true);
    }
    for (int j = 0; j < con->ncoord; j++) {
      const int qd = k->qd[sni_tree_body_of(t, con->coord[j])];
      k->con_coord[SNI_COORD_MAX * c + j] = add_block(p, k->con[c], qd);
      add_rule(p, k->con[c], qd);
    }
  }
}

static bool find_scalars(sni_kkt *k, const pattern *p) {
  int *first = calloc((size_t)p->n + 1, sizeof *first);
  int at = 0;
  for (int n = 0; first && n < p->n; n++) {
    first[n] = at;
    at += p->size[n];
  }
  for (int i = 0; first && i < k->d->m->tree.nbody; i++) {
    k->row[i] = k->qd[i] >= 0 ? first[k->qd[i]] : -1;
    k->at[i] = k->phi[i] >= 0 ? first[k->phi[i]] : -1;
  }
  for (int c = 0; first && c < k->ncon; c++) {
    k->con_row[c] = k->con[c] >= 0 ? first[k->con[c]] : -1;
  }
  k->scalars = at;
  free(first);
  return first != NULL;
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
  k->phi = NULL;
  k->x = k->given = NULL;
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
  const piece own[] = {{&k->phi, nbody},
                       {&k->qd, nbody},
                       {&k->mu, nbody},
                       {&k->row, nbody},
                       {&k->mass, nbody},
                       {&k->own, nbody},
                       {&k->shift, nbody},
                       {&k->joint, nbody},
                       {&k->tie, nbody},
                       {&k->at, nbody},
                       {&k->pair, np},
                       {&k->con, ncon},
                       {&k->con_row, ncon},
                       {&k->con_own, ncon},
                       {&k->con_side, 2 * ncon},
                       {&k->row_at, nrow},
                       {&k->con_coord, SNI_COORD_MAX * ncon}};
  const size_t nodes = 3 * nbody + ncon;
  const size_t blocks = 5 * nbody + np + (3 + SNI_COORD_MAX) * ncon;
  const size_t rules = nbody + SNI_COORD_MAX * ncon, links = nbody + ncon;
  pattern p = {0};
  const piece scratch[] = {{&p.size, nodes},  {&p.sign, nodes},  {&p.row, blocks},
                           {&p.col, blocks},  {&p.later, rules}, {&p.earlier, rules},
                           {&p.link, links},  {&p.end_a, links}, {&p.end_b, links},
                           {&p.closer, links}};
  int *memory = take_pieces(scratch, sizeof scratch / sizeof scratch[0]);
  sn_status status = SN_E_MEMORY;
  if (memory && take_pieces(own, sizeof own / sizeof own[0])) {
    lay_out_tree(k, &p);
    for (int n = 0; n < k->npairs; n++) {
      const int a = k->pairs[n][0] >= 0 ? k->phi[k->pairs[n][0]] : -1;
      const int b = k->pairs[n][1] >= 0 ? k->phi[k->pairs[n][1]] : -1;
      k->pair[n] = a >= 0 && b >= 0 ? add_block(&p, a, b) : -1;
    }
    lay_out_constraints(k, &p);
    const bool found = find_scalars(k, &p);
    k->x = calloc((size_t)k->scalars + 1, sizeof *k->x);
    k->given = calloc((size_t)k->scalars + 1, sizeof *k->given);
    const sni_ldl_pattern ldl = {
        .n = p.n,
        .size = p.size,
        .sign = p.sign,
        .block_count = p.nblock,
        .row = p.row,
        .col = p.col,
        .demands = {p.nrule, p.later, p.earlier, p.nlink, p.link, p.end_a, p.end_b, p.closer}};
    sni_ldl_options options = sni_ldl_options_default();
    options.bytes_max = k->bytes_max;
    status = found && k->x && k->given ? sni_ldl_build(&ldl, &options, &k->ldl, err) : SN_E_MEMORY;
  }
  free(memory);
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

/* Joints that were bare have got a matrix, by a change of the parameters: from now on their rates
 * are unknowns. */
static void build_anew(sni_kkt *k) {
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
  k->scalars = sni_kkt_reduced_scalars(k->reduced);
  k->x = calloc((size_t)k->scalars + 1, sizeof *k->x);
  k->given = calloc((size_t)k->scalars + 1, sizeof *k->given);
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

/* Blocks of A: a wrench carried up to each joint above, a coordinate at a time.  Rows: carried up
 * likewise, and made orthonormal.  Forces: products along both ways. */
static double reduced_fill_cost(const sni_kkt_reduced *r) {
  const sni_tree *t = &r->d->m->tree;
  double carried = 0, columns = 0, rows = 0, products = 0;
  for (int i = 0; i < t->nbody; i++) {
    carried += (double)t->joint[i].nv * (r->way[i + 1] - r->way[i]);
  }
  for (int c = 0; c < r->ncon; c++) {
    columns += r->tied[c].columns;
    rows += r->tied[c].size;
  }
  for (int p = 0; p < r->npairs; p++) {
    products += (double)r->coupling[p].count[0] * r->coupling[p].count[1];
  }
  return 13.5 * carried + 20 * columns + 98 * rows + 3.4 * products;
}

/* Fitted to measurements in the midst of steps of 28 mechanisms of 2 to 1300 bodies in both forms:
 * within 15 % for most, on a processor with vectors of 8 doubles. */
double sni_kkt_cost(const sni_kkt *k) {
  const sni_ldl_counts c = sni_ldl_get_counts(k->ldl);
  const double near = 1e6, far = (double)c.bytes > near ? (double)c.bytes - near : 0;
  const double fill = k->reduced ? reduced_fill_cost(k->reduced) : 28.0 * k->d->m->tree.nbody;
  return 10.7 * c.updates + 170 * c.tiles + 3 * c.cost.nonzeros + 0.088 * far + fill;
}

sni_kkt_form sni_kkt_get_form(const sni_kkt *k) {
  return k->reduced ? SNI_KKT_REDUCED : SNI_KKT_MAXIMAL;
}

/* ---- values ---- */

/* out += a 6x6 block of lanes, row by row. */
static void add_art(double *out, const sni_art *a) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[6 * i + j] += a->A[j][i];
      out[6 * i + 3 + j] += a->Bt[i][j];
      out[6 * (i + 3) + j] += a->Bt[j][i];
      out[6 * (i + 3) + 3 + j] += a->C[j][i];
    }
  }
}

void sni_kkt_add_pair(sni_kkt *k, int pair, double c, sni_lane6 p, sni_lane6 q) {
  if (k->reduced) {
    sni_kkt_reduced_add_pair(k->reduced, pair, c, p, q);
    return;
  }
  if (k->lost) {
    return;
  }
  double *out = sni_ldl_block(k->ldl, k->pair[pair]);
  for (int i = 0; i < 6; i++) {
    const double x = c * (i < 3 ? p.w[i] : p.v[i - 3]);
    for (int j = 0; j < 3; j++) {
      out[6 * i + j] += x * q.w[j];
      out[6 * i + 3 + j] += x * q.v[j];
    }
  }
}

/* ([r], -1), the lower half of -X */
static void fill_cross(sni_lane r, double *out) {
  out[1] = -r[2];
  out[2] = r[1];
  out[6] = r[2];
  out[8] = -r[0];
  out[12] = -r[1];
  out[13] = r[0];
  out[3] = out[10] = out[17] = -1;
}

static void fill_joint(sni_kkt *k, const sni_aba_in *in, int i) {
  const sni_tree *t = &k->d->m->tree;
  const sni_work *w = &k->d->w;
  const int adr = t->vadr[i], nv = t->joint[i].nv;
  double *S = sni_ldl_block(k->ldl, k->joint[i]), *own = sni_ldl_block(k->ldl, k->own[i]);
  for (int c = 0; c < nv; c++) {
    for (int j = 0; j < 3; j++) {
      S[j * nv + c] = -w->S[adr + c].w[j];
      S[(j + 3) * nv + c] = -w->S[adr + c].v[j];
    }
  }
  if (in->joint_matrix) {
    memcpy(own, in->joint_matrix + t->factor[i], (size_t)(nv * nv) * sizeof(double));
  } else {
    for (int c = 0; c < nv; c++) {
      own[c * nv + c] = in->armature[adr + c];
    }
  }
}

/* (0, 1), and -(0, 1) X */
static void fill_bare(sni_kkt *k, int i) {
  double *tie = sni_ldl_block(k->ldl, k->tie[i]);
  tie[3] = tie[10] = tie[17] = 1;
  sni_bare_look(k->d, i, &k->bare[i]);
  if (k->shift[i] >= 0) {
    fill_cross(k->d->w.r[i], sni_ldl_block(k->ldl, k->shift[i]));
  }
}

static void fill_body(sni_kkt *k, const sni_aba_in *in, int i) {
  const sni_work *w = &k->d->w;
  sni_art block;
  sni_mass_block(&in->mass[i], &w->link[i], &block);
  sni_brace_add(in, i, block.A);
  add_art(sni_ldl_block(k->ldl, k->mass[i]), &block);
  if (in->extra && in->extra_of[i] >= 0) {
    add_art(sni_ldl_block(k->ldl, k->mass[i]), &in->extra[in->extra_of[i]]);
  }
  if (k->is_bare[i]) {
    fill_bare(k, i);
    return;
  }
  double *tie = sni_ldl_block(k->ldl, k->tie[i]);
  for (int j = 0; j < 6; j++) {
    tie[7 * j] = 1;
  }
  if (k->shift[i] >= 0) { /* -X = ((-1, 0), ([r], -1)) */
    double *X = sni_ldl_block(k->ldl, k->shift[i]);
    X[0] = X[7] = X[14] = -1;
    fill_cross(w->r[i], X + 18);
  }
  if (k->qd[i] >= 0) {
    fill_joint(k, in, i);
  }
}

/* Body i is soon to be filled. */
static void expect_body(const sni_kkt *k, int i) {
  sni_ldl_expect(k->ldl, k->mass[i]);
  sni_ldl_expect(k->ldl, k->tie[i]);
  if (k->shift[i] >= 0) {
    sni_ldl_expect(k->ldl, k->shift[i]);
  }
}

/* Line l of a constraint's blocks from one of its rows. */
static void fill_row(sni_kkt *k, int c, int l, const sni_row *row) {
  const sni_tree *t = &k->d->m->tree;
  for (int side = 0; side < 2; side++) {
    if (k->con_side[2 * c + side] >= 0) {
      double *out = sni_ldl_block(k->ldl, k->con_side[2 * c + side]) + 6 * l;
      const sn_vec6 p = row->p[side];
      const double x[6] = {p.w.x, p.w.y, p.w.z, p.v.x, p.v.y, p.v.z};
      memcpy(out, x, sizeof x);
    }
  }
  for (int j = 0; j < row->ncoord; j++) {
    const int i = sni_tree_body_of(t, row->coord[j]), nv = t->joint[i].nv;
    double *out = sni_ldl_block(k->ldl, k->con_coord[SNI_COORD_MAX * c + j]);
    out[l * nv + row->coord[j] - t->vadr[i]] += row->coef[j];
  }
}

static void fill_rows(sni_kkt *k, const sni_rows *rows) {
  k->nrow = rows ? rows->nrow : 0;
  for (int c = 0, i = 0; c < k->ncon; c++) {
    const int n = rows ? rows->constraint[c].nrow : k->d->rows->constraint[c].nrow;
    int l = 0;
    for (; i < k->nrow && rows->of[i] == c; i++, l++) {
      const bool sided = rows->row[i].one_sided;
      k->row_at[i] = k->con_row[c] + l;
      if (sided) {
        double *own = sni_ldl_block(k->ldl, k->con_own[c]) + l * n + l;
        *own = rows->u.in[i] ? -rows->u.soft[i] : -1;
      }
      if (!sided || rows->u.in[i]) {
        fill_row(k, c, l, &rows->row[i]);
      }
    }
    for (; l < n; l++) { /* not active: lambda is 0 */
      sni_ldl_block(k->ldl, k->con_own[c])[l * n + l] = -1;
    }
  }
}

/* A block of a constraint with `columns` others. */
static void clear_block(sni_kkt *k, int block, int rows, int columns) {
  if (block >= 0) {
    memset(sni_ldl_block(k->ldl, block), 0, (size_t)(rows * columns) * sizeof(double));
  }
}

void sni_kkt_set_rows(sni_kkt *k, const sni_rows *rows) {
  const sni_tree *t = &k->d->m->tree;
  if (k->reduced) {
    sni_kkt_reduced_set_rows(k->reduced, rows);
    return;
  }
  for (int c = 0; c < k->ncon && !k->lost; c++) {
    const sni_constraint *con = &rows->constraint[c];
    clear_block(k, k->con_own[c], con->nrow, con->nrow);
    clear_block(k, k->con_side[2 * c], con->nrow, 6);
    clear_block(k, k->con_side[2 * c + 1], con->nrow, 6);
    for (int j = 0; j < con->ncoord; j++) {
      const int nv = t->joint[sni_tree_body_of(t, con->coord[j])].nv;
      clear_block(k, k->con_coord[SNI_COORD_MAX * c + j], con->nrow, nv);
    }
  }
  if (!k->lost) {
    fill_rows(k, rows);
  }
}

void sni_kkt_soften(sni_kkt *k, const sni_rows *rows, int i, double soft) {
  if (k->lost) {
    return;
  }
  const int c = rows->of[i], n = rows->constraint[c].nrow, l = k->row_at[i] - k->con_row[c];
  sni_ldl_block(k->ldl, k->con_own[c])[l * n + l] = -soft;
}

#define AHEAD 4 /* bodies, of what is expected */

void sni_kkt_fill(sni_kkt *k, const sni_aba_in *in, const sni_rows *rows) {
  if (k->reduced) {
    sni_kkt_reduced_fill(k->reduced, in, rows);
    return;
  }
  const sni_tree *t = &k->d->m->tree;
  bool outgrown = false;
  for (int i = 0; i < t->nbody; i++) {
    if (k->is_bare[i] && !sni_bare_stays(t, in, i)) {
      k->is_bare[i] = false;
      outgrown = true;
    }
  }
  if (outgrown) {
    build_anew(k);
  }
  if (k->lost) {
    return;
  }
  sni_ldl_clear(k->ldl);
  for (int i = 0; i < t->nbody; i++) {
    if (i + AHEAD < t->nbody && k->phi[i + AHEAD] >= 0) {
      expect_body(k, i + AHEAD);
    }
    if (k->phi[i] >= 0) {
      fill_body(k, in, i);
    }
  }
  fill_rows(k, rows);
}

/* ---- solving ---- */

/* The twist of the body that carries a bare one; NULL: none. */
static double *carrier(const sni_kkt *k, int i, double *x) {
  const int p = k->d->m->tree.parent[i];
  return p >= 0 && k->at[p] >= 0 ? x + k->at[p] : NULL;
}

/* b into the rows of the rates, c into those of the constraints: all others are 0. */
static void scatter(sni_kkt *k, const double *b, const double *c, double *x) {
  if (k->reduced) {
    sni_kkt_reduced_scatter(k->reduced, b, c, x);
    return;
  }
  const sni_tree *t = &k->d->m->tree;
  memset(x, 0, (size_t)k->scalars * sizeof *x);
  for (int i = 0; b && i < t->nbody; i++) {
    if (k->row[i] >= 0) {
      memcpy(x + k->row[i], b + t->vadr[i], (size_t)t->joint[i].nv * sizeof *b);
    } else if (k->is_bare[i]) {
      sni_bare_push(&k->bare[i], b + t->vadr[i], x + k->at[i], carrier(k, i, x));
    }
  }
  for (int i = 0; c && i < k->nrow; i++) {
    x[k->row_at[i]] = c[i];
  }
}

unsigned sni_kkt_count(const sni_kkt *k) {
  return k->count;
}

void sni_kkt_take_care(sni_kkt *k, sni_kkt_care care) {
  const sni_ldl_options usual = sni_ldl_options_default();
  if (k->lost) {
    return;
  }
  sni_ldl_refine_to(k->ldl, care == SNI_KKT_EXACT ? usual.target : 1e-9,
                    care == SNI_KKT_TRUSTING ? 0.1 : usual.trust);
}

double sni_kkt_weakest(const sni_kkt *k) {
  return k->reduced ? sni_kkt_reduced_weakest(k->reduced) : 1;
}

/* x and lambda out of the solution. */
static void gather(const sni_kkt *k, double *x, double *lambda) {
  const sni_tree *t = &k->d->m->tree;
  if (k->reduced) {
    sni_kkt_reduced_gather(k->reduced, k->x, x, lambda);
    return;
  }
  for (int i = 0; i < t->nbody; i++) {
    if (k->row[i] >= 0) {
      memcpy(x + t->vadr[i], k->x + k->row[i], (size_t)t->joint[i].nv * sizeof *x);
    } else if (k->is_bare[i]) {
      sni_bare_rates(&k->bare[i], k->x + k->at[i], carrier(k, i, k->x), x + t->vadr[i]);
    }
  }
  for (int i = 0; lambda && i < k->nrow; i++) {
    lambda[i] = k->x[k->row_at[i]];
  }
}

sn_status sni_kkt_factorise(sni_kkt *k, const double *b, const double *c, int *bad) {
  sni_ldl_factor factor;
  *bad = -1;
  if (k->lost) {
    return k->lost;
  }
  scatter(k, b, c, k->given);
  const sn_status status = sni_ldl_factorise(k->ldl, k->given, &factor);
  k->begun = status >= 0;
  k->count += k->count == UINT_MAX ? 2 : 1;
  *bad = status < 0 && k->reduced ? sni_kkt_reduced_body(k->reduced, factor.node) : -1;
  for (int i = 0; !k->reduced && status < 0 && i < k->d->m->tree.nbody; i++) {
    if (factor.node >= 0 &&
        (factor.node == k->phi[i] || factor.node == k->qd[i] || factor.node == k->mu[i])) {
      *bad = i;
    }
  }
  return status;
}

sn_status sni_kkt_solve(sni_kkt *k, const double *b, const double *c, double *x, double *lambda,
                        double *residual) {
  sni_ldl_solution solution;
  if (k->lost) {
    *residual = INFINITY;
    return k->lost;
  }
  scatter(k, b, c, k->x);
  const bool begun = k->begun && memcmp(k->x, k->given, (size_t)k->scalars * sizeof *k->x) == 0;
  k->begun = false;
  const sn_status status = sni_ldl_solve(k->ldl, begun ? NULL : k->x, k->x, &solution);
  *residual = solution.residual;
  gather(k, x, lambda);
  return status;
}
