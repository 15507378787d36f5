/* solve_reduced.c: the matrix of the step formed in reduced coordinates, dense, and factorised by
 * Cholesky: the usual way, against which the others are measured.  Any forces, cubic cost.
 *
 * A is formed along the tree, without J.  With I_c the blocks of a body and of all that hangs on
 * it, seen from its origin, the entry of coordinate k of body i and j of an ancestor is
 *
 *     A_jk = S_j^T shift(I_c S_k)
 *
 * and zero where neither body carries the other.  A force between bodies a and b adds, beside
 * squares that are in the blocks,
 *
 *     u H v^T + v H^T u^T,   H = sum c p_a p_b^T,   u = J_a^T,   v = J_b^T
 *
 * Above the body where the ways of a and b to the world meet, this is one more block, carried by
 * that body.  Below, a coordinate k on the way of a loads b with H^T S_k, one on the way of b loads
 * the meeting body with H S_k, and all loads of a column are projected in one pass.  So the whole
 * costs O(nv nbody), and for each force the bodies that it spans. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dynamics/composite.h"
#include "linear/cholesky.h"
#include "methods/redmax/system.h"

#define BYTES_MAX (UINT64_C(4) << 30)

/* 6 x 6, a row for each component of the twist that it is multiplied by. */
typedef struct grid {
  sni_lane6 row[6];
} grid;

/* One end of a force, on its way from its body to the meeting body. */
typedef struct climber {
  grid H;     /* seen from the body that it has reached                 */
  int target; /* the body that it loads                                 */
  int next;   /* in the list of the body that it has reached; -1: none  */
} climber;

/* A force between two bodies that both move. */
typedef struct pair {
  int a, b;    /* a has fewer coordinates above it: each makes a column with loads elsewhere    */
  int end;     /* which of the bodies of its terms is a                                         */
  int meet;    /* where their ways meet; -1: in the world                                       */
  bool active; /* has terms at the moment                                                       */
} pair;

typedef struct reduced {
  sni_chol *A;
  sni_art *carried; /* nbody  I_c                                                               */
  sni_art *crossed; /* nbody  the part of it that comes from pairs which meet there or below    */
  sni_lane6 *load;  /* nbody                                                                    */
  climber *climber; /* 2 npair  of a, of b                                                      */
  pair *pair;       /* npair                                                                    */
  int *pair_of;     /* npairs of the system  -1: none                                           */
  int *head;        /* nbody  climbers that have reached it; -1: none                           */
  bool *loaded;     /* nbody                                                                    */
  double *scale;    /* nv  root of the diagonal as it is before pairs cancel in it              */
  double *r;        /* nv                                                                       */
  int npair;
} reduced;

/* ---- memory ---- */

static size_t lay_out(reduced *d, const sni_system *s, char *memory) {
  const size_t nbody = (size_t)s->t->nbody, nv = (size_t)s->t->nv, npair = (size_t)d->npair;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  d->carried = TAKE(nbody, sizeof *d->carried);
  d->crossed = TAKE(nbody, sizeof *d->crossed);
  d->load = TAKE(nbody, sizeof *d->load);
  d->climber = TAKE(2 * npair, sizeof *d->climber);
  d->pair = TAKE(npair, sizeof *d->pair);
  d->pair_of = TAKE((size_t)s->npairs, sizeof *d->pair_of);
  d->head = TAKE(nbody, sizeof *d->head);
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

/* Coordinates between a body and the world. */
static int depth(const sni_tree *t, int body) {
  int n = 0;
  for (; body >= 0; body = t->parent[body]) {
    n += t->joint[body].nv;
  }
  return n;
}

static void find_pairs(const sni_system *s, reduced *d) {
  const sni_tree *t = s->t;
  int n = 0;
  for (int k = 0; k < s->npairs; k++) {
    const int *body = s->pair[k];
    d->pair_of[k] = -1;
    if (!sni_system_couples(s, k)) {
      continue;
    }
    const int end = depth(t, body[0]) <= depth(t, body[1]) ? 0 : 1;
    int x = body[0], y = body[1];
    while (x != y) { /* a parent has the smaller number */
      if (x > y) {
        x = t->parent[x];
      } else {
        y = t->parent[y];
      }
    }
    d->pair[n] = (pair){.a = body[end], .b = body[1 - end], .end = end, .meet = x};
    d->pair_of[k] = n++;
  }
}

static sn_status reduced_build(sni_system *s, void **own, sn_error *err) {
  const size_t bytes = sni_chol_bytes(s->t->nv);
  if (bytes > BYTES_MAX) {
    return sni_fail(err, SN_E_LIMIT,
                    "solver 'reduced' needs %.1f GB for %d coordinates: take auto, graph or pcg",
                    1e-9 * (double)bytes, s->t->nv);
  }
  reduced *d = calloc(1, sizeof *d);
  char *memory = NULL;
  if (d) {
    d->npair = sni_system_pair_count(s);
    memory = aligned_alloc(64, lay_out(d, s, NULL) + 64);
  }
  if (!memory || sni_chol_build(s->t->nv, &d->A, NULL)) {
    free(memory);
    free(d);
    return sni_fail(err, SN_E_MEMORY, "no memory for the solver reduced");
  }
  lay_out(d, s, memory);
  find_pairs(s, d);
  memset(d->loaded, 0, (size_t)s->t->nbody * sizeof *d->loaded);
  *own = d;
  return SN_OK;
}

static bool reduced_suits(const sni_system *s) {
  (void)s;
  return true;
}

/* ---- pairs ---- */

/* H^T x */
static sni_lane6 grid_mul(const grid *H, sni_lane6 x) {
  sni_lane6 y = {sni_lane_all(x.w[0]) * H->row[0].w, sni_lane_all(x.w[0]) * H->row[0].v};
  for (int e = 1; e < 6; e++) {
    y = sni_lane6_addscaled(y, e < 3 ? x.w[e] : x.v[e - 3], H->row[e]);
  }
  return y;
}

/* The twist that it is multiplied by is that of a point at -r. */
static void grid_climb(grid *H, sni_lane r) {
  for (int e = 0; e < 3; e++) {
    const int y = (e + 1) % 3, z = (e + 2) % 3;
    H->row[e] = sni_lane6_addscaled(H->row[e], r[y], H->row[3 + z]);
    H->row[e] = sni_lane6_addscaled(H->row[e], -r[z], H->row[3 + y]);
  }
}

static grid grid_transpose(const grid *H) {
  grid out;
  sni_lane in[2][2][3], turned[2][2][3];
  for (int e = 0; e < 6; e++) {
    in[e / 3][0][e % 3] = H->row[e].w;
    in[e / 3][1][e % 3] = H->row[e].v;
  }
  for (int k = 0; k < 4; k++) {
    sni_lane_transpose(in[k / 2][k % 2], turned[k % 2][k / 2]);
  }
  for (int e = 0; e < 6; e++) {
    out.row[e] = (sni_lane6){turned[e / 3][0][e % 3], turned[e / 3][1][e % 3]};
  }
  return out;
}

/* block += H + H^T */
static void add_grid(sni_art *block, const grid *H) {
  const grid T = grid_transpose(H);
  for (int j = 0; j < 3; j++) {
    block->A[j] += H->row[j].w + T.row[j].w;
    block->Bt[j] += H->row[j].v + T.row[j].v;
    block->C[j] += H->row[3 + j].v + T.row[3 + j].v;
  }
}

static void set_off(reduced *d, int number, int body, int target) {
  d->climber[number].target = target;
  d->climber[number].next = d->head[body];
  d->head[body] = number;
}

/* From a body up to another one that carries it. */
static sni_lane way(const sni_system *s, int from, int to) {
  sni_lane r = {0};
  for (int i = from; i != to; i = s->t->parent[i]) {
    r += s->d->w.r[i];
  }
  return r;
}

/* Puts the ends of a pair on their bodies, and what they are together on the meeting body. */
static void place_pair(const sni_system *s, reduced *d, int n) {
  const pair *p = &d->pair[n];
  if (p->a != p->meet) {
    set_off(d, 2 * n, p->a, p->b);
  }
  if (p->meet < 0) {
    return;
  }
  grid from_a = d->climber[2 * n].H;
  grid_climb(&from_a, way(s, p->a, p->meet));
  grid from_b = grid_transpose(&from_a);
  if (p->b != p->meet) {
    d->climber[2 * n + 1].H = from_b;
    set_off(d, 2 * n + 1, p->b, p->meet);
  }
  grid_climb(&from_b, way(s, p->b, p->meet));
  add_grid(&d->crossed[p->meet], &from_b);
}

static void gather_pairs(const sni_system *s, reduced *d) {
  const sni_tree *t = s->t;
  for (int n = 0; n < d->npair; n++) {
    d->pair[n].active = false;
  }
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    if (term->body[0] < 0 || term->body[1] < 0) {
      continue;
    }
    pair *p = &d->pair[d->pair_of[term->pair]];
    grid *H = &d->climber[2 * d->pair_of[term->pair]].H;
    if (!p->active) {
      memset(H, 0, sizeof *H);
      p->active = true;
    }
    const double c = s->h * term->d + s->h * s->h * term->k;
    const sni_lane6 a = term->p[p->end], b = term->p[1 - p->end];
    for (int e = 0; e < 6; e++) {
      H->row[e] = sni_lane6_addscaled(H->row[e], c * (e < 3 ? a.w[e] : a.v[e - 3]), b);
    }
  }
  memset(d->crossed, 0, (size_t)t->nbody * sizeof *d->crossed);
  for (int n = 0; n < d->npair; n++) {
    if (d->pair[n].active) {
      place_pair(s, d, n);
    }
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    sni_block_add(&d->carried[i], &d->crossed[i]);
    if (t->parent[i] >= 0) {
      sni_block_add_shifted(&d->crossed[t->parent[i]], &d->crossed[i], s->d->w.r[i]);
    }
  }
}

/* All that has reached body i goes on to its parent, unless its pair meets there. */
static void climb(const sni_system *s, reduced *d, int i) {
  const int parent = s->t->parent[i];
  for (int n = d->head[i], next; n >= 0; n = next) {
    next = d->climber[n].next;
    if (parent != d->pair[n / 2].meet) {
      grid_climb(&d->climber[n].H, s->d->w.r[i]);
      set_off(d, n, parent, d->climber[n].target);
    }
  }
}

/* ---- the matrix ---- */

static double *entry(const reduced *d, int j, int k) {
  return j > k ? sni_chol_at(d->A, j, k) : sni_chol_at(d->A, k, j);
}

/* What coordinate k of body i gives itself, those before it in its joint, and those above. */
static void add_row(const sni_system *s, reduced *d, int i, int k) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  double *row = sni_chol_at(d->A, k, 0);
  sni_lane6 f = sni_block_mul(&d->carried[i], w->S[k]);
  int end = k + 1;
  for (int b = i; b >= 0; b = t->parent[b], end = t->vadr[b + 1]) {
    for (int j = t->vadr[b]; j < end; j++) {
      row[j * SNI_CHOL_PANEL] = sni_lane6_dot(w->S[j], f);
    }
    f = sni_wrench_shift(f, w->r[b]);
  }
}

static void put_load(reduced *d, int body, sni_lane6 f) {
  d->load[body] = d->loaded[body] ? sni_lane6_add(d->load[body], f) : f;
  d->loaded[body] = true;
}

/* The same when ends of pairs have reached body i: what these give to others comes in. */
static void add_column(const sni_system *s, reduced *d, int i, int k) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  int last = i;
  put_load(d, i, sni_block_mul(&d->carried[i], w->S[k]));
  for (int n = d->head[i]; n >= 0; n = d->climber[n].next) {
    const climber *c = &d->climber[n];
    put_load(d, c->target, grid_mul(&c->H, w->S[k]));
    last = c->target > last ? c->target : last;
  }
  for (int b = last; b >= 0; b--) {
    if (!d->loaded[b]) {
      continue;
    }
    const int end = b == i ? k + 1 : t->vadr[b + 1];
    for (int j = t->vadr[b]; j < end; j++) {
      *entry(d, j, k) += sni_lane6_dot(w->S[j], d->load[b]);
    }
    d->loaded[b] = false;
    if (t->parent[b] >= 0) {
      put_load(d, t->parent[b], sni_wrench_shift(d->load[b], w->r[b]));
    }
  }
}

/* What the joints have of their own. */
static void add_joints(const sni_system *s, reduced *d) {
  const sni_tree *t = s->t;
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    const double *own = s->joint_matrix + t->factor[i];
    for (int k = 0; k < nv; k++) {
      for (int j = 0; j <= k; j++) {
        *entry(d, adr + j, adr + k) += own[k * nv + j];
      }
      d->scale[adr + k] += own[k * nv + k];
    }
  }
}

static void form(const sni_system *s, reduced *d) {
  const sni_tree *t = s->t;
  sni_chol_clear(d->A);
  sni_composite(s->t, &s->in, &s->d->w, d->carried);
  for (int i = 0; i < t->nbody; i++) {
    d->head[i] = -1;
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      const sni_lane6 S = s->d->w.S[k];
      d->scale[k] = sni_lane6_dot(S, sni_block_mul(&d->carried[i], S));
    }
  }
  if (s->npair > 0) {
    gather_pairs(s, d);
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      if (d->head[i] < 0) {
        add_row(s, d, i, k);
      } else {
        add_column(s, d, i, k);
      }
    }
    climb(s, d, i);
  }
  add_joints(s, d);
  for (int k = 0; k < t->nv; k++) {
    d->scale[k] = sqrt(fmax(d->scale[k], *entry(d, k, k)));
  }
}

/* ---- the solver ---- */

static sn_status reduced_factorise(sni_system *s, void *own, sni_solve_info *info) {
  reduced *d = own;
  const sni_tree *t = s->t;
  int row = -1;
  form(s, d);
  if (sni_chol_factorise(d->A, DBL_EPSILON, &row)) {
    return SN_OK;
  }
  for (int i = 0; i < t->nbody; i++) {
    if (t->vadr[i] <= row && row < t->vadr[i + 1]) {
      info->bad = i;
    }
  }
  return SN_E_SINGULAR;
}

/* The backward error of x, in units in which the entries of A are about 1; by the operator and not
 * by the matrix, so that what went wrong in forming it counts. */
static double backward_error(sni_system *s, reduced *d, const double *b, const double *x) {
  double most_r = 0, most_x = 0, most_b = 0;
  sni_system_mul(s, x, d->r);
  for (int k = 0; k < s->t->nv; k++) {
    most_r = fmax(most_r, fabs(b[k] - d->r[k]) / d->scale[k]);
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
  info->residual = backward_error(s, d, b, x);
  info->converged = true;
  return SN_OK;
}

const sni_solver sni_solver_reduced = {.name = "reduced",
                                       .build = reduced_build,
                                       .free = reduced_free,
                                       .suits = reduced_suits,
                                       .factorise = reduced_factorise,
                                       .solve = reduced_solve};
