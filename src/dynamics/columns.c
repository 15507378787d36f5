/* columns.c: eight columns of M^-1 G^T at once: the passes of sni_Minv_mul, a number a column. */
#include "dynamics/columns.h"

#include "base/memory.h"

#include <string.h>

enum { LINES = 8 };
/* Where the two sides of a row meet, what is left below this part of them is rounding: it holds
 * what holds already. */
#define CANCELS 1e-13

/* Of a body, in the group of rows at hand. */
enum {
  PUSHED = 1,  /* a row acts on it, or on its joint      */
  CARRIED = 2, /* it gets something from its children    */
  MOVES = 4
};

typedef struct sni_six {
  sni_lines w[3], v[3];
} six;

/* ---- memory ---- */

static size_t lay_out(sni_columns *c, const sni_tree *t, char *memory) {
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room((size_t)(count), size)
  c->a = TAKE(t->nbody, sizeof *c->a);
  c->carried = TAKE(t->nslot, sizeof *c->carried);
  c->z = TAKE(t->nv, sizeof *c->z);
  c->flag = TAKE(t->nbody, sizeof *c->flag);
#undef TAKE
  return used;
}

size_t sni_columns_size(const sni_tree *t) {
  sni_columns c;
  return lay_out(&c, t, NULL);
}

void sni_columns_place(sni_columns *c, const sni_tree *t, void *memory) {
  lay_out(c, t, memory);
  c->t = t;
}

/* ---- vectors of eight ---- */

SNI_LANE_FN sni_lines dot3(sni_lane a, const sni_lines *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

SNI_LANE_FN sni_lines dot6(sni_lane6 a, const six *b) {
  return dot3(a.w, b->w) + dot3(a.v, b->v);
}

/* sum += r x a */
SNI_LANE_FN void add_cross(sni_lane r, const sni_lines *a, sni_lines *sum) {
  sum[0] += r[1] * a[2] - r[2] * a[1];
  sum[1] += r[2] * a[0] - r[0] * a[2];
  sum[2] += r[0] * a[1] - r[1] * a[0];
}

SNI_LANE_FN void add_scaled(six *sum, sni_lines x, sni_lane6 a) {
  for (int k = 0; k < 3; k++) {
    sum->w[k] += x * a.w[k];
    sum->v[k] += x * a.v[k];
  }
}

SNI_LANE_FN sni_lines square(const six *a) {
  sni_lines sum = {0};
  for (int k = 0; k < 3; k++) {
    sum += a->w[k] * a->w[k] + a->v[k] * a->v[k];
  }
  return sum;
}

/* ---- inward ---- */

static void meet(six *sum, const six *b) {
  const sni_lines size = square(sum) + square(b);
  for (int k = 0; k < 3; k++) {
    sum->w[k] += b->w[k];
    sum->v[k] += b->v[k];
  }
  const sni_lines left = square(sum);
  for (int j = 0; j < LINES; j++) {
    for (int k = 0; k < 3 && left[j] <= CANCELS * CANCELS * size[j]; k++) {
      sum->w[k][j] = sum->v[k][j] = 0;
    }
  }
}

/* sum -= what the rows push the body with, z += what they push its joint with. */
static void push(const sni_tree *t, int count, const sni_row *row, int i, six *sum, sni_lines *z) {
  six pushed[2] = {0};
  for (int j = 0; j < count; j++) {
    for (int side = 0; side < 2; side++) {
      if (row[j].body[side] == i) {
        const sni_lane6 p = sni_lane6_from(row[j].p[side]);
        for (int k = 0; k < 3; k++) {
          pushed[side].w[k][j] = -p.w[k];
          pushed[side].v[k][j] = -p.v[k];
        }
      }
    }
    for (int k = 0; k < row[j].ncoord; k++) {
      const int at = row[j].coord[k];
      if (t->vadr[i] <= at && at < t->vadr[i + 1]) {
        z[at - t->vadr[i]][j] += row[j].coef[k];
      }
    }
  }
  meet(sum, &pushed[0]);
  meet(sum, &pushed[1]);
}

/* z = L^-1 (x - S^T b), and what is left for the parent. */
void sni_columns_inward(const sni_columns *c, const sni_work *w, bool hinge, int count,
                        const sni_row *row, int i, sni_lines *z) {
  const sni_tree *t = c->t;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr, p = t->parent[i];
  const double *L = w->L + t->factor[i];
  six b = {0};
  if (c->flag[i] & CARRIED) {
    b = c->carried[t->slot[i]];
  }
  memset(z, 0, (size_t)nv * sizeof *z);
  if (c->flag[i] & PUSHED) {
    push(t, count, row, i, &b, z);
  }
  for (int k = 0; k < nv; k++) {
    z[k] -= dot6(w->S[adr + k], &b);
    for (int l = 0; l < k; l++) {
      z[k] -= L[k * nv + l] * z[l];
    }
    z[k] *= hinge ? 1 : L[k * nv + k];
  }
  for (int k = 0; k < nv; k++) {
    add_scaled(&b, hinge ? L[0] * z[k] : z[k], w->Y[adr + k]);
  }
  if (p >= 0) {
    six *sum = &c->carried[t->slot[p]];
    add_cross(w->r[i], b.v, b.w);
    if (c->flag[p] & CARRIED) {
      meet(sum, &b);
    } else {
      *sum = b;
    }
    c->flag[p] |= CARRIED;
  }
}

/* ---- outward ---- */

/* y = L^-T (z - Y^T a'), in the place of z; a = a' + S y. */
static void outward(const sni_columns *c, const sni_work *w, int i) {
  const sni_tree *t = c->t;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr, p = t->parent[i];
  const double *L = w->L + t->factor[i];
  sni_lines *y = c->z + adr;
  six a = {0};
  if (p >= 0 && (c->flag[p] & MOVES)) {
    a = c->a[p];
    add_cross(-w->r[i], a.w, a.v);
  }
  if (!(c->flag[i] & (PUSHED | CARRIED))) {
    memset(y, 0, (size_t)nv * sizeof *y);
  }
  for (int k = 0; k < nv; k++) {
    y[k] -= dot6(w->Y[adr + k], &a);
  }
  for (int k = nv - 1; k >= 0; k--) {
    for (int l = k + 1; l < nv; l++) {
      y[k] -= L[l * nv + k] * y[l];
    }
    y[k] *= L[k * nv + k]; /* of a hinge it is 1 / L^2, which z has not seen */
    add_scaled(&a, y[k], w->S[adr + k]);
  }
  c->a[i] = a;
  c->flag[i] |= MOVES;
}

void sni_columns_mark(const sni_columns *c, int count, const sni_row *row) {
  memset(c->flag, 0, (size_t)c->t->nbody);
  for (int j = 0; j < count; j++) {
    for (int side = 0; side < 2; side++) {
      if (row[j].body[side] >= 0) {
        c->flag[row[j].body[side]] |= PUSHED;
      }
    }
    for (int k = 0; k < row[j].ncoord; k++) {
      c->flag[sni_tree_body_of(c->t, row[j].coord[k])] |= PUSHED;
    }
  }
}

static void solve_group(const sni_columns *c, const sni_work *w, int count, const sni_row *row,
                        double *X) {
  const sni_tree *t = c->t;
  sni_columns_mark(c, count, row);
  for (int n = t->nrun - 1; n >= 0; n--) {
    const sni_run *run = &t->run[n];
    for (int i = run->first + run->count - 1; i >= run->first; i--) {
      if (c->flag[i]) {
        sni_columns_inward(c, w, run->hinge, count, row, i, c->z + t->vadr[i]);
      }
    }
  }
  for (int n = 0; n < t->nrun; n++) {
    const sni_run *run = &t->run[n];
    for (int i = run->first; i < run->first + run->count; i++) {
      const bool moves = c->flag[i] || (t->parent[i] >= 0 && (c->flag[t->parent[i]] & MOVES));
      if (moves) {
        outward(c, w, i);
      }
      for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
        for (int j = 0; j < count; j++) {
          X[(size_t)j * (size_t)t->nv + (size_t)k] = moves ? c->z[k][j] : 0;
        }
      }
    }
  }
}

/* G x of a row, of all columns at hand. */
static sni_lines row_mul(const sni_columns *c, const sni_row *row, const double *X, int count) {
  sni_lines sum = {0};
  for (int side = 0; side < 2; side++) {
    const int i = row->body[side];
    if (i >= 0 && (c->flag[i] & MOVES)) {
      sum += dot6(sni_lane6_from(row->p[side]), &c->a[i]);
    }
  }
  for (int k = 0; k < row->ncoord; k++) {
    for (int j = 0; j < count; j++) {
      sum[j] += row->coef[k] * X[(size_t)j * (size_t)c->t->nv + (size_t)row->coord[k]];
    }
  }
  return sum;
}

void sni_columns_solve(const sni_columns *c, const sni_work *w, int nrow, const sni_row *row,
                       double *X, double *S) {
  for (int first = 0; first < nrow; first += LINES) {
    const int count = nrow - first < LINES ? nrow - first : LINES;
    double *group = X + (size_t)first * (size_t)c->t->nv;
    solve_group(c, w, count, row + first, group);
    for (int i = first; i < nrow; i++) {
      const sni_lines Gx = row_mul(c, &row[i], group, count);
      for (int j = 0; j < count && first + j <= i; j++) {
        S[(size_t)i * (size_t)nrow + (size_t)(first + j)] = Gx[j];
      }
    }
  }
}
