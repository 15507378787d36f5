/* solve_reduced.c: the matrix of the step formed in reduced coordinates, dense, and factorised by
 * Cholesky: the usual way, against which the others are measured.  Any forces, cubic cost.
 *
 * A is formed along the tree, without J.  With I_c the blocks of a body and of all that hangs on
 * it, shifted to its origin, the entry of two coordinates k of body i and j of an ancestor is
 *
 *     A_kj = S_j^T shift(I_c,i S_k)
 *
 * and zero where neither body carries the other.  A force between bodies a and b adds to that
 *
 *     c (u v^T + v u^T),   u = J_a^T p_a,   v = J_b^T p_b
 *
 * (its squares are in the blocks).  These are not added one by one, which would cost the square of
 * the depth each, but by columns: u_k p_b of all the forces is one load on the bodies, projected in
 * one pass.  So the whole costs O(nv (nbody + terms)) at worst. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "linear/cholesky.h"
#include "methods/redmax/system.h"

#define BYTES_MAX (UINT64_C(4) << 30)

/* A term between two bodies: one end climbs the tree and gives columns, the other gives rows. */
typedef struct coupling {
  sni_lane6 column; /* c p of the one end, at the body that it has reached */
  sni_lane6 row;    /* p of the other                                      */
  int body;         /* of the other                                        */
  int next;         /* in the list of the body reached; -1: the last       */
} coupling;

typedef struct reduced {
  sni_chol *A;
  sni_art *carried; /* nbody  I_c                                                              */
  sni_lane6 *load;  /* nbody                                                                   */
  coupling *link;
  int *depth;       /* nbody  coordinates from the world to the body                           */
  int *head, *tail; /* nbody  list of couplings that have reached it; -1: none                 */
  bool *loaded;     /* nbody                                                                   */
  double *scale;    /* nv  square roots of the diagonal as it was before forces cancelled in it */
  double *r;        /* nv                                                                      */
} reduced;

/* ---- memory ---- */

static size_t lay_out(reduced *d, const sni_system *s, char *memory) {
  const size_t nbody = (size_t)s->t->nbody, nv = (size_t)s->t->nv;
  const size_t nlink = (size_t)sni_system_pair_count(s) * SNI_TERMS_MAX;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += ((count) * (size) + 63) / 64 * 64
  d->carried = TAKE(nbody, sizeof *d->carried);
  d->load = TAKE(nbody, sizeof *d->load);
  d->link = TAKE(nlink, sizeof *d->link);
  d->depth = TAKE(nbody, sizeof *d->depth);
  d->head = TAKE(nbody, sizeof *d->head);
  d->tail = TAKE(nbody, sizeof *d->tail);
  d->loaded = TAKE(nbody, sizeof *d->loaded);
  d->scale = TAKE(nv, sizeof *d->scale);
  d->r = TAKE(nv, sizeof *d->r);
#undef TAKE
  return used;
}

static void reduced_free(void **own) {
  reduced *d = *own;
  if (d) {
    sni_chol_free(&d->A);
    free(d->carried);
    free(d);
  }
  *own = NULL;
}

static sn_status reduced_build(sni_system *s, void **own, sn_error *err) {
  const sni_tree *t = s->t;
  const size_t bytes = sni_chol_bytes(t->nv);
  if (bytes > BYTES_MAX) {
    return sni_fail(err, SN_E_LIMIT,
                    "solver 'reduced' needs %.1f GB for %d coordinates: take auto, graph or pcg",
                    1e-9 * (double)bytes, t->nv);
  }
  reduced *d = calloc(1, sizeof *d);
  char *memory = d ? aligned_alloc(64, lay_out(d, s, NULL) + 64) : NULL;
  if (!memory || sni_chol_build(t->nv, &d->A, NULL)) {
    free(memory);
    free(d);
    return sni_fail(err, SN_E_MEMORY, "no memory for the solver reduced");
  }
  lay_out(d, s, memory);
  for (int i = 0; i < t->nbody; i++) {
    d->depth[i] = t->joint[i].nv + (t->parent[i] >= 0 ? d->depth[t->parent[i]] : 0);
    d->loaded[i] = false;
  }
  *own = d;
  return SN_OK;
}

static bool reduced_suits(const sni_system *s) {
  (void)s;
  return true;
}

/* ---- the tree's part of A ---- */

static sni_lane6 block_mul(const sni_art *s, sni_lane6 x) {
  sni_lane B[3];
  sni_lane_transpose(s->Bt, B);
  return (sni_lane6){
      sni_lane_mul(s->A, x.w[0], x.w[1], x.w[2]) + sni_lane_mul(B, x.v[0], x.v[1], x.v[2]),
      sni_lane_mul(s->Bt, x.w[0], x.w[1], x.w[2]) + sni_lane_mul(s->C, x.v[0], x.v[1], x.v[2])};
}

static void add_block(sni_art *to, const sni_art *s) {
  for (int j = 0; j < 3; j++) {
    to->A[j] += s->A[j];
    to->Bt[j] += s->Bt[j];
    to->C[j] += s->C[j];
  }
}

/* A block seen from a point at -r:  B'^T = B^T + C [r]^T,  A' = A + [r] B^T + B [r]^T + [r] C
 * [r]^T. A column of X [r]^T is r x (a row of X), and C is symmetric. */
static sni_art shifted_block(const sni_art *s, sni_lane r) {
  sni_art out = *s;
  sni_lane X[3], H[3], Ht[3];
  for (int j = 0; j < 3; j++) {
    X[j] = sni_lane_cross(r, s->C[j]); /* [r] C */
  }
  sni_lane_transpose(X, H); /* C [r]^T */
  for (int j = 0; j < 3; j++) {
    out.Bt[j] = s->Bt[j] + H[j];
    X[j] = sni_lane_cross(r, s->Bt[j] + sni_lane_all(0.5) * H[j]);
  }
  sni_lane_transpose(X, Ht);
  for (int j = 0; j < 3; j++) {
    out.A[j] = s->A[j] + (X[j] + Ht[j]);
  }
  return out;
}

/* Row k of body i, from its own joint up to the world. */
static void add_row(const sni_system *s, reduced *d, int i, int k) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  double *row = sni_chol_at(d->A, k, 0);
  sni_lane6 f = block_mul(&d->carried[i], w->S[k]);
  for (int j = t->vadr[i]; j <= k; j++) {
    const double own =
        s->joint_matrix[t->factor[i] + (k - t->vadr[i]) * t->joint[i].nv + j - t->vadr[i]];
    row[j * SNI_CHOL_PANEL] = sni_lane6_dot(w->S[j], f) + own;
  }
  for (int b = i; t->parent[b] >= 0;) {
    f.w += sni_lane_cross(w->link[b].r, f.v);
    b = t->parent[b];
    for (int j = t->vadr[b]; j < t->vadr[b + 1]; j++) {
      row[j * SNI_CHOL_PANEL] = sni_lane6_dot(w->S[j], f);
    }
  }
}

static void add_tree(const sni_system *s, reduced *d) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  for (int i = 0; i < t->nbody; i++) {
    sni_mass_block(&s->in.mass[i], &w->link[i], &d->carried[i]);
    if (s->extra_of[i] >= 0) {
      add_block(&d->carried[i], &s->extra[s->extra_of[i]]);
    }
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      add_row(s, d, i, k);
    }
    if (t->parent[i] >= 0) {
      const sni_art seen = shifted_block(&d->carried[i], w->link[i].r);
      add_block(&d->carried[t->parent[i]], &seen);
    }
  }
}

/* ---- forces between bodies ---- */

static sni_lane6 scaled(double c, sni_lane6 p) {
  return (sni_lane6){sni_lane_all(c) * p.w, sni_lane_all(c) * p.v};
}

/* Lists the couplings, each at the body of its end with fewer coordinates above it: as many columns
 * have to be made. */
static void list_couplings(const sni_system *s, reduced *d) {
  for (int i = 0; i < s->t->nbody; i++) {
    d->head[i] = d->tail[i] = -1;
  }
  int n = 0;
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    if (term->body[0] < 0 || term->body[1] < 0) {
      continue;
    }
    const int end = d->depth[term->body[0]] <= d->depth[term->body[1]] ? 0 : 1;
    const int body = term->body[end];
    const double c = s->h * term->d + s->h * s->h * term->k;
    coupling *link = &d->link[n];
    link->column = scaled(c, term->p[end]);
    link->row = term->p[1 - end];
    link->body = term->body[1 - end];
    link->next = d->head[body];
    d->tail[body] = d->tail[body] < 0 ? n : d->tail[body];
    d->head[body] = n++;
  }
}

/* All that has reached body i goes on to its parent. */
static void climb(const sni_system *s, reduced *d, int i) {
  const int p = s->t->parent[i];
  if (p < 0 || d->head[i] < 0) {
    return;
  }
  for (int n = d->head[i]; n >= 0; n = d->link[n].next) {
    sni_lane6 *column = &d->link[n].column;
    column->w += sni_lane_cross(s->d->w.link[i].r, column->v);
  }
  d->link[d->tail[i]].next = d->head[p];
  d->tail[p] = d->tail[p] < 0 ? d->tail[i] : d->tail[p];
  d->head[p] = d->head[i];
}

static void put_load(reduced *d, int body, sni_lane6 f) {
  d->load[body] = d->loaded[body] ? sni_lane6_add(d->load[body], f) : f;
  d->loaded[body] = true;
}

/* Column k of body i: what the couplings that have reached i give the other bodies, projected. */
static void add_column(const sni_system *s, reduced *d, int i, int k) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  int last = -1;
  for (int n = d->head[i]; n >= 0; n = d->link[n].next) {
    const coupling *link = &d->link[n];
    const double u = sni_lane6_dot(w->S[k], link->column);
    put_load(d, link->body, scaled(u, link->row));
    last = link->body > last ? link->body : last;
  }
  for (int b = last; b >= 0; b--) {
    if (!d->loaded[b]) {
      continue;
    }
    const sni_lane6 f = d->load[b];
    d->loaded[b] = false;
    for (int j = t->vadr[b]; j < t->vadr[b + 1]; j++) {
      const double x = sni_lane6_dot(w->S[j], f);
      *sni_chol_at(d->A, j > k ? j : k, j > k ? k : j) += j == k ? 2 * x : x;
    }
    if (t->parent[b] >= 0) {
      put_load(d, t->parent[b], (sni_lane6){f.w + sni_lane_cross(w->link[b].r, f.v), f.v});
    }
  }
}

static void add_pairs(const sni_system *s, reduced *d) {
  list_couplings(s, d);
  for (int i = s->t->nbody - 1; i >= 0; i--) {
    for (int k = s->t->vadr[i]; d->head[i] >= 0 && k < s->t->vadr[i + 1]; k++) {
      add_column(s, d, i, k);
    }
    climb(s, d, i);
  }
}

/* ---- the solver ---- */

static sn_status reduced_factorise(sni_system *s, void *own, sni_solve_info *info) {
  reduced *d = own;
  const sni_tree *t = s->t;
  sni_chol_clear(d->A);
  add_tree(s, d);
  for (int k = 0; k < t->nv; k++) {
    d->scale[k] = *sni_chol_at(d->A, k, k);
  }
  if (s->npair > 0) {
    add_pairs(s, d);
  }
  for (int k = 0; k < t->nv; k++) {
    d->scale[k] = sqrt(fmax(d->scale[k], *sni_chol_at(d->A, k, k)));
  }
  int row = -1;
  if (sni_chol_factorise(d->A, DBL_EPSILON, &row)) {
    return SN_OK;
  }
  for (int i = 0; i < t->nbody; i++) {
    info->bad = t->vadr[i] <= row && row < t->vadr[i + 1] ? i : info->bad;
  }
  return SN_E_SINGULAR;
}

/* r = b - A x by the operator, not by the matrix, so that mistakes in forming it show; returns the
 * backward error, in units in which no entry of A exceeds 2. */
static double residual(sni_system *s, reduced *d, const double *b, const double *x) {
  double most_r = 0, most_x = 0, most_b = 0;
  sni_system_mul(s, x, d->r);
  for (int k = 0; k < s->t->nv; k++) {
    d->r[k] = b[k] - d->r[k];
    most_r = fmax(most_r, fabs(d->r[k]) / d->scale[k]);
    most_b = fmax(most_b, fabs(b[k]) / d->scale[k]);
    most_x = fmax(most_x, fabs(x[k]) * d->scale[k]);
  }
  return most_r > 0 ? most_r / (most_x + most_b) : 0;
}

static sn_status reduced_solve(sni_system *s, void *own, const double *b, double tolerance,
                               int max_iterations, double *x, sni_solve_info *info) {
  (void)tolerance;
  (void)max_iterations;
  reduced *d = own;
  sni_chol_solve(d->A, b, x);
  info->residual = residual(s, d, b, x);
  info->converged = true;
  return SN_OK;
}

const sni_solver sni_solver_reduced = {.name = "reduced",
                                       .build = reduced_build,
                                       .free = reduced_free,
                                       .suits = reduced_suits,
                                       .factorise = reduced_factorise,
                                       .solve = reduced_solve};
