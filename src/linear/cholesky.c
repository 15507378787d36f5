/* cholesky.c: dense Cholesky factorisation, blocked for registers and for the first-level cache.
 *
 * A tile is where a panel of rows meets a strip of as many columns.  One kernel does all that
 * counts: it takes the tiles of up to GROUP panels in one strip into registers, subtracts a product
 * of depth k,
 *
 *     C -= L_rows,k L_strip,k^T
 *
 * and, when the strip's own factor is ready, divides by its triangle before anything is written
 * back.  Columns are taken in blocks of BLOCK strips.  Within a block, a group of panels goes
 * through its strips from left to right (each depends on those before it, and on panels above it,
 * which are done), then subtracts the finished block from the rest of its own rows: all that while
 * its part of the block stays in the cache. */
#include "linear/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linear/block_ldl_lanes.h"

#define P SNI_CHOL_PANEL

/* A column of a tile.  The kernel takes it in vectors of the machine's own width (gcc keeps wider
 * ones in memory), and its accumulators, GROUP x P columns, fill the registers: 32 on AVX-512 and
 * Neon, 16 elsewhere. */
#ifdef HAVE_LANE8
typedef lane8 column;
typedef lane8 lane;
enum { LANES = 8, GROUP = 3 };
#else
typedef lane4 column;
#if defined(__AVX__)
typedef lane4 lane;
enum { LANES = 4, GROUP = 3 };
#else
typedef lane2 lane;
#ifdef __aarch64__
enum { LANES = 2, GROUP = 3 };
#else
enum { LANES = 2, GROUP = 1 };
#endif
#endif
#endif
enum { PARTS = P / LANES }; /* vectors in a column */
enum { BLOCK = 144 / P };   /* a multiple of GROUP, so that no group lies across two blocks */

/* ---- memory ---- */

static int panels_of(int n) {
  return n / P + (n % P > 0);
}

static size_t matrix_size(int panels) {
  return (size_t)panels * ((size_t)panels + 1) / 2 * (P * P) * sizeof(double);
}

static size_t vector_size(int panels) {
  return ((size_t)panels * P * sizeof(double) + 63) / 64 * 64;
}

size_t sni_chol_bytes(int n) {
  return sizeof(sni_chol) + matrix_size(panels_of(n)) + 3 * vector_size(panels_of(n));
}

sn_status sni_chol_build(int n, sni_chol **out, sn_error *err) {
  if (n < 0) {
    return sni_fail(err, SN_E_ARGUMENT, "a matrix of %d rows: needs >= 0", n);
  }
  const int panels = panels_of(n);
  const size_t matrix = (matrix_size(panels) + 63) / 64 * 64, vector = vector_size(panels);
  sni_chol *c = calloc(1, sizeof *c);
  double *memory = aligned_alloc(64, matrix + 3 * vector + 64);
  if (!c || !memory) {
    free(c);
    free(memory);
    return sni_fail(err, SN_E_MEMORY, "no memory for a matrix of %d rows", n);
  }
  double *vectors = memory + matrix / sizeof *memory;
  *c = (sni_chol){.n = n,
                  .panels = panels,
                  .a = memory,
                  .inverse = vectors,
                  .start = vectors + vector / sizeof *memory,
                  .y = vectors + 2 * (vector / sizeof *memory)};
  sni_chol_clear(c);
  *out = c;
  return SN_OK;
}

void sni_chol_free(sni_chol **c) {
  if (*c) {
    free((*c)->a);
    free(*c);
  }
  *c = NULL;
}

void sni_chol_use(sni_chol *c, int n) {
  c->n = n;
  c->panels = panels_of(n);
}

void sni_chol_clear(sni_chol *c) {
  memset(c->a, 0, matrix_size(c->panels));
}

/* ---- kernels ---- */

/* What a group of panels is in one strip. */
typedef struct group {
  double *row[GROUP * PARTS]; /* where the parts of its panels begin */
  lane c[GROUP * PARTS][P];
} group;

/* By value on purpose: clang takes that as leave to use vectors of this width where it would rather
 * split them. */
KERNEL lane get(const double *row, int j) {
  return *(const lane *)(row + (size_t)j * P);
}
KERNEL void put(double *row, int j, lane x) {
  *(lane *)(row + (size_t)j * P) = x;
}

/* In the kernels, `count` panels from `first` on meet strip j; count is a constant wherever they
 * are expanded. */

KERNEL void take(const int count, const sni_chol *c, int first, int j, group *g) {
  UNROLL
  for (int m = 0; m < count * PARTS; m++) {
    /* cppcheck-suppress zerodiv ; it takes PARTS for 0 */
    g->row[m] = sni_chol_panel(c, first + m / PARTS) + m % PARTS * LANES;
    UNROLL
    for (int q = 0; q < P; q++) {
      g->c[m][q] = get(g->row[m], j * P + q);
    }
  }
}

KERNEL void give(const int count, int j, group *g) {
  UNROLL
  for (int m = 0; m < count * PARTS; m++) {
    UNROLL
    for (int q = 0; q < P; q++) {
      put(g->row[m], j * P + q, g->c[m][q]);
    }
  }
}

/* C -= L_rows L_strip^T over the columns of the strips from k to k_end. */
KERNEL void subtract(const int count, const double *strip, int k, int k_end, group *g) {
  for (int i = k * P; i < k_end * P; i++) {
    const double *b = strip + (size_t)i * P;
    lane a[GROUP * PARTS];
    UNROLL
    for (int m = 0; m < count * PARTS; m++) {
      a[m] = get(g->row[m], i);
    }
    UNROLL
    for (int q = 0; q < P; q++) {
      UNROLL
      for (int m = 0; m < count * PARTS; m++) {
        g->c[m][q] -= a[m] * b[q];
      }
    }
  }
}

/* C = C L^-T for the triangle of the strip. */
KERNEL void divide(const int count, const double *triangle, const double *inverse, group *g) {
  UNROLL
  for (int q = 0; q < P; q++) {
    UNROLL
    for (int m = 0; m < count * PARTS; m++) {
      g->c[m][q] *= inverse[q];
    }
    UNROLL
    for (int next = q + 1; next < P; next++) {
      UNROLL
      for (int m = 0; m < count * PARTS; m++) {
        g->c[m][next] -= g->c[m][q] * triangle[q * P + next];
      }
    }
  }
}

KERNEL void update_tiles(const int count, const sni_chol *c, int first, int j, int k, int k_end) {
  group g;
  take(count, c, first, j, &g);
  subtract(count, sni_chol_panel(c, j), k, k_end, &g);
  give(count, j, &g);
}

KERNEL void solve_tiles(const int count, const sni_chol *c, int first, int j, int k) {
  const double *strip = sni_chol_panel(c, j);
  group g;
  take(count, c, first, j, &g);
  subtract(count, strip, k, j, &g);
  divide(count, strip + (size_t)j * P * P, c->inverse + j * P, &g);
  give(count, j, &g);
}

/* 1 to GROUP panels in strip j, less the product over the strips from k to k_end. */
static void update(int count, const sni_chol *c, int first, int j, int k, int k_end) {
  if (count == GROUP) {
    update_tiles(GROUP, c, first, j, k, k_end);
  } else if (count == 2) {
    update_tiles(GROUP < 2 ? 1 : 2, c, first, j, k, k_end);
  } else {
    update_tiles(1, c, first, j, k, k_end);
  }
}

/* The same up to strip j itself, then division by its triangle. */
static void solve(int count, const sni_chol *c, int first, int j, int k) {
  if (count == GROUP) {
    solve_tiles(GROUP, c, first, j, k);
  } else if (count == 2) {
    solve_tiles(GROUP < 2 ? 1 : 2, c, first, j, k);
  } else {
    solve_tiles(1, c, first, j, k);
  }
}

KERNEL column get_column(const double *panel, int j) {
  return *(const column *)(panel + (size_t)j * P);
}
KERNEL void put_column(double *panel, int j, column x) {
  *(column *)(panel + (size_t)j * P) = x;
}

/* The triangle of strip j.  Returns -1, or the row whose pivot is refused.  Elimination divides by
 * the pivot and not twice by its root, which keeps the root out of the chain of dependent
 * operations. */
static int split(const sni_chol *c, int j, double tol) {
  double *panel = sni_chol_panel(c, j);
  column t[P];
  UNROLL
  for (int q = 0; q < P; q++) {
    t[q] = get_column(panel, j * P + q);
  }
  UNROLL
  for (int q = 0; q < P; q++) {
    const double pivot = t[q][q];
    if (!(pivot > tol * c->start[j * P + q]) || !(pivot > 0)) { /* so that NaN fails too */
      return j * P + q;
    }
    const column scaled = t[q] * (1 / pivot);
    UNROLL
    for (int next = q + 1; next < P; next++) {
      t[next] -= scaled * t[q][next];
    }
    c->inverse[j * P + q] = 1 / sqrt(pivot);
    put_column(panel, j * P + q, t[q] * c->inverse[j * P + q]);
  }
  return -1;
}

/* ---- factorisation ---- */

/* The strips of one block, k to k_end, for a group of panels below the block or in it.  Returns -1,
 * or the row at fault. */
static int reduce(const sni_chol *c, int first, int count, int k, int k_end, double tol) {
  const int last = first + count;
  for (int j = k; j < k_end && j < last; j++) {
    if (j < first) {
      solve(count, c, first, j, k);
      continue;
    }
    update(last - j, c, j, j, k, j);
    const int bad = split(c, j, tol);
    if (bad >= 0) {
      return bad;
    }
    if (j + 1 < last) {
      solve(last - j - 1, c, j + 1, j, j);
    }
  }
  return -1;
}

static int factorise(const sni_chol *c, double tol) {
  for (int k = 0; k < c->panels; k += BLOCK) {
    const int k_end = k + BLOCK < c->panels ? k + BLOCK : c->panels;
    for (int first = k; first < c->panels; first += GROUP) {
      const int count = first + GROUP < c->panels ? GROUP : c->panels - first;
      const int bad = reduce(c, first, count, k, k_end, tol);
      if (bad >= 0) {
        return bad;
      }
      for (int j = k_end; j < first + count; j++) {
        const int from = j > first ? j : first;
        update(first + count - from, c, from, j, k, k_end);
      }
    }
  }
  return -1;
}

bool sni_chol_factorise(sni_chol *c, double tol, int *bad) {
  for (int i = 0; i < c->panels * P; i++) {
    double *diagonal = sni_chol_at(c, i, i);
    *diagonal = i < c->n ? *diagonal : 1;
    c->start[i] = *diagonal;
  }
  const int row = factorise(c, tol);
  if (bad && row >= 0) {
    *bad = row;
  }
  return row < 0;
}

/* ---- solve ---- */

/* y = L^-1 y, a panel at a time; four sums, so that none waits for the one before. */
static void forward(const sni_chol *c) {
  for (int p = 0; p < c->panels; p++) {
    const double *panel = sni_chol_panel(c, p);
    double *y = c->y;
    const int at = p * P;
    column s[4] = {get_column(y, p)};
    for (int k = 0; k < at; k += 4) {
      for (int i = 0; i < 4; i++) {
        s[i] -= get_column(panel, k + i) * y[k + i];
      }
    }
    s[0] = (s[0] + s[1]) + (s[2] + s[3]);
    for (int q = 0; q < P; q++) {
      const double x = s[0][q] * c->inverse[at + q];
      y[at + q] = x;
      s[0] -= get_column(panel, at + q) * x;
    }
  }
}

/* y = L^-T y, a strip at a time: sums over the panels below, a vector for each column. */
static void backward(const sni_chol *c) {
  double *y = c->y;
  for (int j = c->panels - 1; j >= 0; j--) {
    const int at = j * P;
    column s[P] = {{0}};
    for (int p = j + 1; p < c->panels; p++) {
      const double *panel = sni_chol_panel(c, p);
      const column x = get_column(y, p);
      for (int q = 0; q < P; q++) {
        s[q] += get_column(panel, at + q) * x;
      }
    }
    const double *panel = sni_chol_panel(c, j);
    for (int q = P - 1; q >= 0; q--) {
      double x = y[at + q];
      for (int i = 0; i < P; i++) {
        x -= s[q][i];
      }
      for (int i = q + 1; i < P; i++) {
        x -= panel[(at + q) * P + i] * y[at + i];
      }
      y[at + q] = x * c->inverse[at + q];
    }
  }
}

void sni_chol_solve(sni_chol *c, const double *b, double *x) {
  const size_t bytes = (size_t)c->n * sizeof *x;
  memset(c->y, 0, (size_t)c->panels * P * sizeof *c->y);
  memcpy(c->y, b, bytes);
  forward(c);
  backward(c);
  memcpy(x, c->y, bytes);
}
