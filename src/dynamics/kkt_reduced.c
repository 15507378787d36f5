/* kkt_reduced.c: values of the reduced system. */
#include "dynamics/kkt_reduced.h"

#include <math.h>
#include <string.h>

#include "dynamics/composite.h"
#include "dynamics/doubt.h"
#include "dynamics/rows.h"

/* ---- A ---- */

/* Coordinate c of body i with itself, those before it in its joint, and those above. */
static void fill_column(sni_kkt_reduced *k, int i, int c) {
  const sni_tree *t = &k->d->m->tree;
  const sni_work *w = &k->d->w;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
  double **block = k->above + k->way[i], *own = *block++;
  sni_lane6 f = sni_block_mul(&k->carried[i], w->S[adr + c]);
  for (int j = 0; j <= c; j++) {
    own[c * nv + j] = own[j * nv + c] = sni_lane6_dot(w->S[adr + j], f);
  }
  for (int b = i; t->parent[b] >= 0;) {
    f = sni_wrench_shift(f, w->r[b]);
    b = t->parent[b];
    const int first = t->vadr[b], n = t->vadr[b + 1] - first;
    if (n > 0) {
      double *out = *block++ + c * n;
      for (int j = 0; j < n; j++) {
        out[j] = sni_lane6_dot(w->S[first + j], f);
      }
    }
  }
}

/* What the joint has of its own, and the scale of its coordinates. */
static void finish_joint(sni_kkt_reduced *k, const sni_aba_in *in, int i) {
  const sni_tree *t = &k->d->m->tree;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
  double *own = k->above[k->way[i]];
  for (int c = 0; c < nv; c++) {
    if (in->joint_matrix) {
      for (int j = 0; j < nv; j++) {
        own[c * nv + j] += in->joint_matrix[t->factor[i] + c * nv + j];
      }
    } else {
      own[c * nv + c] += in->armature[adr + c];
    }
    k->scale[adr + c] = own[c * nv + c] > 0 ? sqrt(own[c * nv + c]) : 1;
    k->unit[adr + c] = 1 / k->scale[adr + c];
  }
}

/* ---- constraints ---- */

/* A wrench for each row: components by rows. */
typedef struct wrenches {
  sni_lines w[3], v[3];
} wrenches;

/* All at once: what is stored one at a time cannot be read as a whole for a while. */
static void take_wrenches(const sni_row *row, int nrow, int side, wrenches *f) {
  static const sn_vec6 none;
  const sn_vec6 *p[SNI_ROWS_MAX];
  for (int i = 0; i < SNI_ROWS_MAX; i++) {
    p[i] = i < nrow && row[i].body[side] >= 0 ? &row[i].p[side] : &none;
  }
#define LINE(part)                                                                                 \
  (sni_lines){p[0]->part, p[1]->part, p[2]->part, p[3]->part, p[4]->part, p[5]->part, 0, 0}
  *f = (wrenches){{LINE(w.x), LINE(w.y), LINE(w.z)}, {LINE(v.x), LINE(v.y), LINE(v.z)}};
#undef LINE
}

/* The body on one side: that of all rows which have one there; -1: none has. */
static int body_on(const sni_row *row, int nrow, int side) {
  int body = -1;
  for (int i = 0; i < nrow && body < 0; i++) {
    body = row[i].body[side];
  }
  return body;
}

/* The rows over the coordinates that they act on, in units in which A has 1 on its diagonal, all at
 * once.  size: the squares of what they would be if nothing cancelled.
 */
static void spread(const sni_kkt_reduced *k, const sni_tied *tied, const sni_row *row, int nrow,
                   sni_lines *size) {
  const sni_tree *t = &k->d->m->tree;
  const sni_work *w = &k->d->w;
  const int *walk = tied->walk;
  sni_lines sum = {0};
  memset(k->G, 0, (size_t)tied->columns * sizeof *k->G);
  for (int side = 0; side < 2; side++) {
    const int body = body_on(row, nrow, side);
    if (body < 0) {
      continue;
    }
    wrenches f;
    take_wrenches(row, nrow, side, &f);
    for (int b = body; b >= 0 && b != tied->meet; b = t->parent[b]) {
      const int first = t->vadr[b], n = t->vadr[b + 1] - first;
      if (n > 0) {
        const sni_lines length = f.w[0] * f.w[0] + f.w[1] * f.w[1] + f.w[2] * f.w[2] +
                                 f.v[0] * f.v[0] + f.v[1] * f.v[1] + f.v[2] * f.v[2];
        sni_lines *G = k->G + tied->touch[*walk++].at;
        for (int j = 0; j < n; j++) {
          const double unit = k->unit[first + j];
          const sni_lane6 S = {w->S[first + j].w * unit, w->S[first + j].v * unit};
          G[j] += f.w[0] * S.w[0] + f.w[1] * S.w[1] + f.w[2] * S.w[2] + f.v[0] * S.v[0] +
                  f.v[1] * S.v[1] + f.v[2] * S.v[2];
          sum += length * sni_lane6_dot(S, S);
        }
      }
      const sni_lane r = w->r[b];
      f.w[0] += f.v[2] * r[1] - f.v[1] * r[2];
      f.w[1] += f.v[0] * r[2] - f.v[2] * r[0];
      f.w[2] += f.v[1] * r[0] - f.v[0] * r[1];
    }
  }
  for (int i = 0; i < nrow; i++) {
    for (int j = 0; j < row[i].ncoord; j++) {
      for (int n = 0; n < tied->ntouch; n++) {
        const int first = t->vadr[tied->touch[n].body], end = t->vadr[tied->touch[n].body + 1];
        if (first <= row[i].coord[j] && row[i].coord[j] < end) {
          const double x = k->unit[row[i].coord[j]] * row[i].coef[j];
          k->G[tied->touch[n].at + row[i].coord[j] - first][i] += x;
          sum[i] += x * x;
        }
      }
    }
  }
  *size = sum;
}

/* Q of all its rows but those that are out.  Returns the least that is left of any. */
static double compress(sni_kkt_reduced *k, sni_tied *tied, const sni_rows *rows, unsigned out) {
  const sni_row *row = rows->row + tied->first;
  sni_lines size;
  spread(k, tied, row, tied->nrow, &size);
  for (int i = 0; i < tied->nrow; i++) {
    if (out >> i & 1 || (row[i].one_sided && !rows->u.in[tied->first + i])) { /* does nothing */
      for (int c = 0; c < tied->columns; c++) {
        k->G[c][i] = 0;
      }
      size[i] = 0;
    }
  }
  return sni_compress(k->G, tied->nrow, tied->columns, tied->size, &size, &tied->z);
}

static void fill_constraint(sni_kkt_reduced *k, sni_tied *tied, const sni_rows *rows) {
  const sni_tree *t = &k->d->m->tree;
  tied->z.nrow = tied->z.rank = 0;
  if (tied->nrow > 0) {
    const sni_row *row = rows->row + tied->first;
    const unsigned out = tied->out | sni_doubt_rows(k->d, row, tied->nrow, k->doubted);
    const double weakest = compress(k, tied, rows, out);
    k->weakest = fmin(k->weakest, weakest);
  }
  memset(tied->own, 0, (size_t)(tied->size * tied->size) * sizeof *tied->own);
  for (int i = tied->z.rank; i < tied->size; i++) { /* not there: mu is 0 */
    tied->own[i * tied->size + i] = -1;
  }
  for (int n = 0; n < tied->ntouch; n++) {
    const int body = tied->touch[n].body, nv = t->vadr[body + 1] - t->vadr[body];
    double *block = tied->touch[n].block;
    const double *scale = k->scale + t->vadr[body];
    const sni_lines *q = k->G + tied->touch[n].at;
    for (int i = 0; i < tied->size; i++) {
      for (int j = 0; j < nv; j++) {
        block[i * nv + j] = i < tied->z.rank ? scale[j] * q[j][tied->z.order[i]] : 0;
      }
    }
  }
}

void sni_kkt_reduced_fill(sni_kkt_reduced *k, const sni_aba_in *in, const sni_rows *rows) {
  const sni_tree *t = &k->d->m->tree;
  sni_composite(t, in, &k->d->w, k->carried);
  for (int i = 0; i < t->nbody; i++) {
    for (int c = 0; c < t->joint[i].nv; c++) {
      fill_column(k, i, c);
    }
    if (t->joint[i].nv > 0) {
      finish_joint(k, in, i);
    }
  }
  for (int n = 0; n < k->nextra; n++) {
    memset(k->extra[n], 0, (size_t)k->extra_size[n] * sizeof(double));
  }
  sni_kkt_reduced_set_rows(k, rows);
}

void sni_kkt_reduced_set_rows(sni_kkt_reduced *k, const sni_rows *rows) {
  const int nrow = rows ? rows->nrow : 0;
  k->weakest = 1;
  k->rows = rows;
  for (int c = 0, i = 0; c < k->ncon; c++) {
    sni_tied *tied = &k->tied[c];
    tied->first = i;
    for (; i < nrow && rows->of[i] == c; i++) {
    }
    tied->nrow = i - tied->first;
    tied->out = 0;
    if (tied->size > 0) {
      fill_constraint(k, tied, rows);
    } else {
      tied->z = (sni_compressed){.nrow = i - tied->first, .order = {0, 1, 2, 3, 4, 5}};
    }
  }
}

/* ---- rows in doubt ---- */

/* How far joints turn that close the gaps, each constraint by itself. */
static double turn_to_close(sni_kkt_reduced *k) {
  const sni_tree *t = &k->d->m->tree;
  double *x = k->u;
  memset(x, 0, (size_t)t->nv * sizeof *x);
  for (int c = 0; c < k->ncon; c++) {
    const sni_tied *tied = &k->tied[c];
    double gap[SNI_ROWS_MAX], y[SNI_ROWS_MAX];
    for (int i = 0; i < tied->nrow; i++) {
      const sni_row *row = &k->rows->row[tied->first + i];
      gap[i] = row->one_sided ? 0 : -sni_doubt_gap(row);
    }
    sni_compress_rhs(&tied->z, gap, y);
    for (int n = 0; n < tied->ntouch; n++) {
      const int first = t->vadr[tied->touch[n].body], nv = t->vadr[tied->touch[n].body + 1] - first;
      for (int j = 0; j < nv; j++) {
        const double unit = k->unit[first + j];
        for (int i = 0; i < tied->z.rank; i++) {
          x[first + j] += unit * unit * tied->touch[n].block[i * nv + j] * y[i];
        }
      }
    }
  }
  return sni_doubt_turn(k->d, x);
}

static sni_tied *constraint_of(sni_kkt_reduced *k, int scalar) {
  for (int c = 0; c < k->ncon; c++) {
    sni_tied *tied = &k->tied[c];
    if (tied->size > 0 && tied->row <= scalar && scalar < tied->row + tied->z.rank) {
      return tied;
    }
  }
  return NULL;
}

static bool touches(const sni_tied *tied, int body) {
  bool any = false;
  for (int n = 0; n < tied->ntouch; n++) {
    any = any || tied->touch[n].body == body;
  }
  return any;
}

/* Of the constraint and of all that act on the same joints: the one of whose last row the least was
 * left by the others of its own. */
static sni_tied *weakest_beside(sni_kkt_reduced *k, sni_tied *tied) {
  sni_tied *weakest = tied;
  for (int c = 0; c < k->ncon; c++) {
    sni_tied *other = &k->tied[c];
    bool beside = false;
    for (int n = 0; n < tied->ntouch; n++) {
      beside = beside || touches(other, tied->touch[n].body);
    }
    if (beside && other->z.rank > 0 &&
        other->z.left[other->z.rank - 1] < weakest->z.left[weakest->z.rank - 1]) {
      weakest = other;
    }
  }
  return weakest;
}

/* Of a row, left by others of its constraint: it has its direction from what is left. */
#define FAINT 1e-4

/* What is known of a row to some turn is known of it as it stands in Q, a unit vector, to that over
 * what was left of it there; and so are the others from which it is taken out.  Of those that seem
 * to differ by no more, the one that is known least takes no part. */
bool sni_kkt_reduced_leave_doubtful(sni_kkt_reduced *k) {
  double part;
  int scalar = k->rows ? sni_ldl_weak(k->ldl, 0, &part) : -1;
  if (scalar < 0) {
    return false;
  }
  const double least = sni_doubt_least(turn_to_close(k));
  bool any = false;
  for (int w = 0; scalar >= 0; scalar = sni_ldl_weak(k->ldl, ++w, &part)) {
    sni_tied *tied = constraint_of(k, scalar);
    sni_tied *weakest = tied ? weakest_beside(k, tied) : NULL;
    if (!tied || weakest->z.left[weakest->z.rank - 1] > FAINT) {
      continue;
    }
    int which = 0;
    const double left =
        sni_doubt_faintest(k->d, k->rows->row + weakest->first, weakest->nrow, k->doubted, &which);
    if (left < FAINT && sqrt(part) * left < least && !(weakest->out >> which & 1)) {
      weakest->out |= 1u << which;
      any = true;
    }
  }
  for (int c = 0; any && c < k->ncon; c++) {
    if (k->tied[c].out) {
      fill_constraint(k, &k->tied[c], k->rows);
    }
  }
  return any;
}

/* ---- forces between two bodies ---- */

/* u = J^T p over the joints between a body and the world, upwards. */
static void climb(const sni_kkt_reduced *k, int body, sni_lane6 p, double *u) {
  const sni_tree *t = &k->d->m->tree;
  for (int b = body; b >= 0; b = t->parent[b]) {
    for (int j = t->vadr[b]; j < t->vadr[b + 1]; j++) {
      *u++ = sni_lane6_dot(k->d->w.S[j], p);
    }
    p = sni_wrench_shift(p, k->d->w.r[b]);
  }
}

static int above(const sni_tree *t, int body) {
  do {
    body = t->parent[body];
  } while (body >= 0 && t->joint[body].nv == 0);
  return body;
}

/* block += c u v^T, or its transpose where the block is turned; on the diagonal both. */
static void add_product(double *block, bool turned, bool both, double c, const double *u, int nu,
                        const double *v, int nv) {
  for (int i = 0; i < nu; i++) {
    for (int j = 0; j < nv; j++) {
      const double x = c * u[i] * v[j];
      block[turned ? j * nu + i : i * nv + j] += x;
      if (both) {
        block[j * nu + i] += x;
      }
    }
  }
}

void sni_kkt_reduced_add_pair(sni_kkt_reduced *k, int pair, double c, sni_lane6 p, sni_lane6 q) {
  const sni_tree *t = &k->d->m->tree;
  const sni_coupling *of = &k->coupling[pair];
  climb(k, of->body[0], p, k->u);
  climb(k, of->body[1], q, k->v);
  const double *u = k->u;
  int n = 0;
  for (int a = of->body[0]; a >= 0; a = above(t, a)) {
    const int nu = t->joint[a].nv;
    const double *v = k->v;
    for (int b = of->body[1]; b >= 0 && nu > 0; b = above(t, b)) {
      const int nv = t->joint[b].nv;
      if (nv > 0) {
        add_product(of->block[n], of->turned[n], a == b, c, u, nu, v, nv);
        n++;
      }
      v += nv;
    }
    u += nu;
  }
}

/* ---- vectors ---- */

int sni_kkt_reduced_scalars(const sni_kkt_reduced *k) {
  return k->scalars;
}

sni_ldl *sni_kkt_reduced_ldl(const sni_kkt_reduced *k) {
  return k->ldl;
}

void sni_kkt_reduced_scatter(const sni_kkt_reduced *k, const double *b, const double *c,
                             double *out) {
  const size_t nv = (size_t)k->d->m->tree.nv;
  memset(out, 0, (size_t)k->scalars * sizeof *out);
  if (b && nv > 0) {
    memcpy(out, b, nv * sizeof *b);
  }
  for (int n = 0; c && n < k->ncon; n++) {
    sni_compress_rhs(&k->tied[n].z, c + k->tied[n].first, out + k->tied[n].row);
  }
}

void sni_kkt_reduced_gather(const sni_kkt_reduced *k, const double *from, double *x,
                            double *lambda) {
  const size_t nv = (size_t)k->d->m->tree.nv;
  if (nv > 0) {
    memcpy(x, from, nv * sizeof *x);
  }
  for (int n = 0; lambda && n < k->ncon; n++) {
    sni_compress_lambda(&k->tied[n].z, from + k->tied[n].row, lambda + k->tied[n].first);
  }
}

double sni_kkt_reduced_weakest(const sni_kkt_reduced *k) {
  return k->weakest;
}

bool sni_kkt_reduced_depends(const sni_kkt_reduced *k) {
  bool any = false;
  for (int c = 0; c < k->ncon; c++) {
    any = any || k->tied[c].z.rank < k->tied[c].z.nrow;
  }
  return any;
}

int sni_kkt_reduced_body(const sni_kkt_reduced *k, int node) {
  for (int i = 0; i < k->d->m->tree.nbody; i++) {
    if (node >= 0 && k->node[i] == node) {
      return i;
    }
  }
  return -1;
}
