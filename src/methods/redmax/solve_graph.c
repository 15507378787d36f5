/* solve_graph.c: the step's system before projection, as one sparse graph of bodies and joints.
 *
 * Unknowns: the twist phi of each body that moves, the rates qd of its joint, and multipliers
 * lambda of  phi - X phi_p - S qd = 0,  X the shift by r.  In world axes:
 *
 *     [ M + hD - h^2K     0          G_phi^T ] [ phi    ]   [ 0 ]
 *     [ 0                 hD_r-h^2K_r G_q^T  ] [ qd     ] = [ b ]
 *     [ G_phi             G_q        0       ] [ lambda ]   [ 0 ]
 *
 * whose qd solves A qd = b.  The order of elimination is found once; forces between any two bodies
 * are blocks like the others, so the cost is linear wherever the graph of bodies, joints and forces
 * can be cut into small pieces. */
#include "methods/redmax/solve.h"

#include <stdlib.h>
#include <string.h>

typedef struct graph {
  sni_ldl *ldl;
  int *phi, *qd, *lambda;          /* nbody  nodes; -1: none                                  */
  int *row;                        /* nbody  first scalar of qd in the system                 */
  int *mass, *own, *shift, *joint; /* nbody  blocks; -1: none                                 */
  int *tie;                        /* nbody  block lambda, phi                                */
  int *pair;                       /* npairs block; -1: none                                  */
  int scalars;
  double *x;     /* scalars                                                                   */
  double *given; /* nv  the right-hand side that went into the factorisation                  */
  bool begun;    /* it has not been solved for yet                                            */
} graph;

static void graph_free(void **own) {
  graph *g = *own;
  if (g) {
    sni_ldl_free(&g->ldl);
    free(g->phi);
    free(g->pair);
    free(g->x);
    free(g->given);
    free(g);
  }
  *own = NULL;
}

typedef struct pattern {
  int n, nblock, nrule, nlink;
  int *size, *sign, *row, *col;
  int *later, *earlier;      /* rates have a pivot only after the multiplier of their joint */
  int *link, *end_a, *end_b; /* multipliers and the bodies that they tie                    */
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

static void lay_out(const sni_system *s, graph *g, pattern *p) {
  const sni_tree *t = s->t;
  for (int i = 0; i < t->nbody; i++) {
    const int nv = t->joint[i].nv, parent = t->parent[i];
    g->phi[i] = g->qd[i] = g->lambda[i] = -1;
    g->mass[i] = g->own[i] = g->shift[i] = g->joint[i] = g->tie[i] = g->row[i] = -1;
    if (s->grounded[i]) {
      continue;
    }
    g->phi[i] = add_node(p, 6, 1);
    g->mass[i] = add_block(p, g->phi[i], g->phi[i]);
    g->lambda[i] = add_node(p, 6, -1);
    p->link[p->nlink] = g->lambda[i];
    p->end_a[p->nlink] = g->phi[i];
    p->end_b[p->nlink++] = parent >= 0 ? g->phi[parent] : -1;
    g->tie[i] = add_block(p, g->lambda[i], g->phi[i]);
    if (parent >= 0 && !s->grounded[parent]) {
      g->shift[i] = add_block(p, g->lambda[i], g->phi[parent]);
    }
    if (nv > 0) {
      g->qd[i] = add_node(p, nv, 1);
      p->later[p->nrule] = g->qd[i];
      p->earlier[p->nrule++] = g->lambda[i];
      g->own[i] = add_block(p, g->qd[i], g->qd[i]);
      g->joint[i] = add_block(p, g->lambda[i], g->qd[i]);
    }
  }
  for (int k = 0; k < s->npairs; k++) {
    const int *body = s->pair[k];
    g->pair[k] = sni_system_couples(s, k) ? add_block(p, g->phi[body[0]], g->phi[body[1]]) : -1;
  }
  int at = 0;
  int *first = calloc((size_t)p->n + 1, sizeof *first);
  for (int k = 0; first && k < p->n; k++) {
    first[k] = at;
    at += p->size[k];
  }
  for (int i = 0; first && i < t->nbody; i++) {
    g->row[i] = g->qd[i] >= 0 ? first[g->qd[i]] : -1;
  }
  g->scalars = first ? at : -1;
  free(first);
}

sn_status sni_graph_build_within(sni_system *s, size_t bytes_max, void **own, sn_error *err) {
  const size_t nbody = (size_t)s->t->nbody, npairs = (size_t)s->npairs;
  graph *g = calloc(1, sizeof *g);
  const size_t nodes = 3 * nbody, blocks = 5 * nbody + npairs;
  int *memory = calloc(2 * nodes + 2 * blocks + 5 * nbody + 1, sizeof *memory);
  int *per_body = calloc(9 * nbody + 1, sizeof *per_body), *pair = calloc(npairs + 1, sizeof *pair);
  sn_status status = SN_E_MEMORY;
  if (g && memory && per_body && pair) {
    int **const array[] = {&g->phi, &g->qd,    &g->lambda, &g->row, &g->mass,
                           &g->own, &g->shift, &g->joint,  &g->tie};
    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++) {
      *array[k] = per_body + k * nbody;
    }
    g->pair = pair;
    int *at = memory;
    pattern p = {0};
    const struct {
      int **array;
      size_t count;
    } part[] = {{&p.size, nodes}, {&p.sign, nodes},  {&p.row, blocks},
                {&p.col, blocks}, {&p.later, nbody}, {&p.earlier, nbody},
                {&p.link, nbody}, {&p.end_a, nbody}, {&p.end_b, nbody}};
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
      *part[k].array = at;
      at += part[k].count;
    }
    lay_out(s, g, &p);
    g->x = g->scalars >= 0 ? calloc((size_t)g->scalars + 1, sizeof *g->x) : NULL;
    g->given = calloc((size_t)s->t->nv + 1, sizeof *g->given);
    const sni_ldl_pattern ldl = {
        .n = p.n,
        .size = p.size,
        .sign = p.sign,
        .block_count = p.nblock,
        .row = p.row,
        .col = p.col,
        .demands = {p.nrule, p.later, p.earlier, p.nlink, p.link, p.end_a, p.end_b}};
    sni_ldl_options options = sni_ldl_options_default();
    options.bytes_max = bytes_max;
    status = g->x && g->given ? sni_ldl_build(&ldl, &options, &g->ldl, err) : SN_E_MEMORY;
  } else {
    free(per_body);
    free(pair);
  }
  free(memory);
  *own = g;
  if (status == SN_E_MEMORY) {
    sni_fail(err, status, "no memory for the solver graph");
  }
  return status;
}

static sn_status graph_build(sni_system *s, void **own, sn_error *err) {
  return sni_graph_build_within(s, SIZE_MAX, own, err);
}

sni_ldl_counts sni_graph_counts(const void *own) {
  const graph *g = own;
  return sni_ldl_get_counts(g->ldl);
}

static bool graph_suits(const sni_system *s) {
  (void)s;
  return true;
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

/* out += c p q^T */
static void add_product(double *out, double c, sni_lane6 p, sni_lane6 q) {
  for (int i = 0; i < 6; i++) {
    const double x = c * (i < 3 ? p.w[i] : p.v[i - 3]);
    for (int j = 0; j < 3; j++) {
      out[6 * i + j] += x * q.w[j];
      out[6 * i + 3 + j] += x * q.v[j];
    }
  }
}

static void fill_body(const sni_system *s, graph *g, int i) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  const int adr = t->vadr[i], nv = t->joint[i].nv;
  sni_art block;
  sni_mass_block(&s->in.mass[i], &w->link[i], &block);
  add_art(sni_ldl_block(g->ldl, g->mass[i]), &block);
  if (s->extra_of[i] >= 0) {
    add_art(sni_ldl_block(g->ldl, g->mass[i]), &s->extra[s->extra_of[i]]);
  }
  double *tie = sni_ldl_block(g->ldl, g->tie[i]);
  for (int k = 0; k < 6; k++) {
    tie[7 * k] = 1;
  }
  if (g->shift[i] >= 0) { /* -X = ((-1, 0), ([r], -1)) */
    double *X = sni_ldl_block(g->ldl, g->shift[i]);
    const sni_lane r = w->link[i].r;
    for (int k = 0; k < 6; k++) {
      X[7 * k] = -1;
    }
    X[18 + 1] = -r[2];
    X[18 + 2] = r[1];
    X[24 + 0] = r[2];
    X[24 + 2] = -r[0];
    X[30 + 0] = -r[1];
    X[30 + 1] = r[0];
  }
  if (nv > 0) {
    double *S = sni_ldl_block(g->ldl, g->joint[i]);
    for (int c = 0; c < nv; c++) {
      for (int k = 0; k < 3; k++) {
        S[k * nv + c] = -w->S[adr + c].w[k];
        S[(k + 3) * nv + c] = -w->S[adr + c].v[k];
      }
    }
    memcpy(sni_ldl_block(g->ldl, g->own[i]), s->joint_matrix + t->factor[i],
           (size_t)(nv * nv) * sizeof(double));
  }
}

/* b into the rows of the rates: all others are 0. */
static void scatter(const sni_tree *t, graph *g, const double *b) {
  memset(g->x, 0, (size_t)g->scalars * sizeof *g->x);
  for (int i = 0; i < t->nbody; i++) {
    if (g->row[i] >= 0) {
      memcpy(g->x + g->row[i], b + t->vadr[i], (size_t)t->joint[i].nv * sizeof *b);
    }
  }
}

/* The right-hand side of the system goes along: most often it is the one to be solved for. */
static sn_status graph_factorise(sni_system *s, void *own, sni_solve_info *info) {
  graph *g = own;
  sni_ldl_clear(g->ldl);
  for (int i = 0; i < s->t->nbody; i++) {
    if (!s->grounded[i]) {
      fill_body(s, g, i);
    }
  }
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    if (term->body[0] >= 0 && term->body[1] >= 0) {
      const double c = s->h * term->d + s->h * s->h * term->k;
      add_product(sni_ldl_block(g->ldl, g->pair[term->pair]), c, term->p[0], term->p[1]);
    }
  }
  sni_ldl_factor factor;
  scatter(s->t, g, s->b);
  memcpy(g->given, s->b, (size_t)s->t->nv * sizeof *g->given);
  const sn_status status = sni_ldl_factorise(g->ldl, g->x, &factor);
  g->begun = status >= 0;
  for (int i = 0; status < 0 && i < s->t->nbody; i++) {
    if (factor.node >= 0 &&
        (factor.node == g->phi[i] || factor.node == g->qd[i] || factor.node == g->lambda[i])) {
      info->bad = i;
    }
  }
  return status;
}

static sn_status graph_solve(sni_system *s, void *own, const double *b, double tolerance,
                             int max_iterations, double *x, sni_solve_info *info) {
  (void)tolerance;
  (void)max_iterations;
  graph *g = own;
  const sni_tree *t = s->t;
  sni_ldl_solution solution;
  const bool begun = g->begun && memcmp(b, g->given, (size_t)t->nv * sizeof *b) == 0;
  g->begun = false;
  if (!begun) {
    scatter(t, g, b);
  }
  const sn_status status = sni_ldl_solve(g->ldl, begun ? NULL : g->x, g->x, &solution);
  for (int i = 0; i < t->nbody; i++) {
    if (g->row[i] >= 0) {
      memcpy(x + t->vadr[i], g->x + g->row[i], (size_t)t->joint[i].nv * sizeof *x);
    }
  }
  info->residual = solution.residual;
  info->converged = status == SN_OK;
  return status;
}

const sni_solver sni_solver_graph = {.name = "graph",
                                     .build = graph_build,
                                     .free = graph_free,
                                     .suits = graph_suits,
                                     .factorise = graph_factorise,
                                     .solve = graph_solve};
