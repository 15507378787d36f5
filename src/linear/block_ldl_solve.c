/* block_ldl_solve.c: substitution with the factor, and refinement on the matrix as given. */
#include "linear/block_ldl_parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linear/block_ldl_lanes.h"

/* ---- Substitution ---------------------------------------------------------------------------- */

/* Lanes after p, or before p, of a row of a tile: the rest 0. */
KERNEL lane4 after(lane4 a, int p, int h) {
  UNROLL
  for (int c = 0; c < 4; c++) {
    a[c] = 4 * h + c > p ? a[c] : 0;
  }
  return a;
}
KERNEL lane4 ahead(lane4 a, int p, int h) {
  UNROLL
  for (int c = 0; c < 4; c++) {
    a[c] = 4 * h + c < p ? a[c] : 0;
  }
  return a;
}

/* y_t <- L(t,t)^-1 y_t; y_i -= L(i,t) y_t for i below t. */
KERNEL void forward(const int rows, const sni_ldl *ldl, const sni_ldl_tile *tile, double *y) {
  const int halves = rows <= 4 ? 1 : 2, lanes = 4 * halves;
  const double *T = ldl->U + tile->column + tile->diagonal;
  lane4 v[2];
  UNROLL
  for (int h = 0; h < halves; h++) {
    v[h] = *(lane4 *)(y + tile->vector + 4 * h);
  }
  UNROLL
  for (int p = 0; p < rows - 1; p++) {
    const double s = v[p / 4][p % 4];
    UNROLL
    for (int h = p / 4; h < halves; h++) {
      v[h] -= after(*(const lane4 *)(T + p * lanes + 4 * h), p, h) * s;
    }
  }
  UNROLL
  for (int h = 0; h < halves; h++) {
    *(lane4 *)(y + tile->vector + 4 * h) = v[h];
  }
  for (int q = tile->below; q < tile[1].below; q++) {
    const sni_ldl_tile *to = &ldl->tile[ldl->below[q].tile];
    const double *U = ldl->U + tile->column + ldl->below[q].at;
    double *y_to = y + to->vector;
    if (to->lanes == 8) {
      lane4 a = *(lane4 *)y_to, b = *(lane4 *)(y_to + 4);
      UNROLL
      for (int p = 0; p < rows; p++) {
        a -= *(const lane4 *)(U + 8 * p) * v[p / 4][p % 4];
        b -= *(const lane4 *)(U + 8 * p + 4) * v[p / 4][p % 4];
      }
      *(lane4 *)y_to = a;
      *(lane4 *)(y_to + 4) = b;
    } else {
      lane4 a = *(lane4 *)y_to;
      UNROLL
      for (int p = 0; p < rows; p++) {
        a -= *(const lane4 *)(U + 4 * p) * v[p / 4][p % 4];
      }
      *(lane4 *)y_to = a;
    }
  }
}

/* Sums over the lanes of four vectors. */
KERNEL lane4 across(lane4 a, lane4 b, lane4 c, lane4 d) {
  const lane4 ab =
      __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const lane4 cd =
      __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/* y_t <- L(t,t)^-T (D(t)^-1 y_t - sum over i below t of L(i,t)^T y_i). */
KERNEL void backward(const int rows, const sni_ldl *ldl, const sni_ldl_tile *tile, double *y) {
  const int halves = rows <= 4 ? 1 : 2, lanes = 4 * halves;
  const double *T = ldl->U + tile->column + tile->diagonal;
  lane4 sum[TILE_MAX] = {{0}};
  for (int q = tile[1].below - 1; q >= tile->below; q--) {
    const sni_ldl_tile *from = &ldl->tile[ldl->below[q].tile];
    const double *U = ldl->U + tile->column + ldl->below[q].at;
    const lane4 a = *(lane4 *)(y + from->vector);
    if (from->lanes == 8) {
      const lane4 b = *(lane4 *)(y + from->vector + 4);
      UNROLL
      for (int p = rows - 1; p >= 0; p--) {
        sum[p] += *(const lane4 *)(U + 8 * p + 4) * b;
        sum[p] += *(const lane4 *)(U + 8 * p) * a;
      }
    } else {
      UNROLL
      for (int p = rows - 1; p >= 0; p--) {
        sum[p] += *(const lane4 *)(U + 4 * p) * a;
      }
    }
  }
  lane4 v[2];
  UNROLL
  for (int h = 0; h < halves; h++) {
    v[h] = *(lane4 *)(y + tile->vector + 4 * h) / *(lane4 *)(ldl->D + tile->vector + 4 * h) -
           across(sum[4 * h], sum[4 * h + 1], sum[4 * h + 2], sum[4 * h + 3]);
  }
  UNROLL
  for (int p = rows - 1; p > 0; p--) {
    const double s = v[p / 4][p % 4];
    UNROLL
    for (int h = 0; h <= p / 4; h++) {
      v[h] -= ahead(*(const lane4 *)(T + p * lanes + 4 * h), p, h) * s;
    }
  }
  UNROLL
  for (int h = 0; h < halves; h++) {
    *(lane4 *)(y + tile->vector + 4 * h) = v[h];
  }
}

/* The same for a tile whose own block has W: y_t <- W^T y_t, which is by pivots then. */
OUTLINE void forward_turned(const sni_ldl *ldl, const sni_ldl_tile *tile, double *y) {
  const double *W = ldl->U + tile->column + tile->diagonal;
  double v[TILE_MAX] = {0};
  for (int i = 0; i < tile->size; i++) {
    for (int p = 0; p < tile->size; p++) {
      v[p] += W[i * tile->lanes + p] * y[tile->vector + i];
    }
  }
  memcpy(y + tile->vector, v, (size_t)tile->size * sizeof *v);
  for (int q = tile->below; q < tile[1].below; q++) {
    const sni_ldl_tile *to = &ldl->tile[ldl->below[q].tile];
    const double *U = ldl->U + tile->column + ldl->below[q].at;
    for (int p = 0; p < tile->size; p++) {
      for (int c = 0; c < to->size; c++) {
        y[to->vector + c] -= U[p * to->lanes + c] * v[p];
      }
    }
  }
}

/* y_t <- W (D(t)^-1 y_t - ...). */
OUTLINE void backward_turned(const sni_ldl *ldl, const sni_ldl_tile *tile, double *y) {
  const double *W = ldl->U + tile->column + tile->diagonal;
  double v[TILE_MAX];
  for (int p = 0; p < tile->size; p++) {
    v[p] = y[tile->vector + p] / ldl->D[tile->vector + p];
  }
  for (int q = tile->below; q < tile[1].below; q++) {
    const sni_ldl_tile *from = &ldl->tile[ldl->below[q].tile];
    const double *U = ldl->U + tile->column + ldl->below[q].at;
    for (int p = 0; p < tile->size; p++) {
      v[p] -= sni_ldl_row(from->size, U + p * from->lanes, y + from->vector);
    }
  }
  for (int i = 0; i < tile->size; i++) {
    y[tile->vector + i] = sni_ldl_row(tile->size, W + i * tile->lanes, v);
  }
}

void sni_ldl_forward(const sni_ldl *ldl, int t, double *y) {
  const sni_ldl_tile *tile = &ldl->tile[t];
  if (tile->turned) {
    forward_turned(ldl, tile, y);
    return;
  }
  FOR_ROWS(tile->size, forward(R, ldl, tile, y))
}

KERNEL void backward_any(const sni_ldl *ldl, const sni_ldl_tile *tile, double *y) {
  if (tile->turned) {
    backward_turned(ldl, tile, y);
    return;
  }
  FOR_ROWS(tile->size, backward(R, ldl, tile, y))
}

void sni_ldl_begin(sni_ldl *ldl, const double *b) {
  for (int i = 0; b != ldl->b && i < ldl->vector_count; i++) {
    const int from = ldl->scalar_of[i];
    ldl->b[i] = from >= 0 ? b[from] : 0;
  }
  ldl->begun_y = 0;
}

void sni_ldl_forward_begun(sni_ldl *ldl, int t) {
  const sni_ldl_tile *tile = &ldl->tile[t];
  const int last = tile[1].below > tile->below ? ldl->below[tile[1].below - 1].tile : t;
  const int from = ldl->begun_y, to = ldl->tile[last + 1].vector;
  if (from < to) {
    memcpy(ldl->y + from, ldl->b + from, (size_t)(to - from) * sizeof(double));
    ldl->begun_y = to;
  }
  sni_ldl_forward(ldl, t, ldl->y);
}

double *sni_ldl_side(sni_ldl *ldl) {
  return ldl->b;
}

const double *sni_ldl_found(const sni_ldl *ldl) {
  return ldl->found;
}

int sni_ldl_place(const sni_ldl *ldl, int node) {
  return ldl->scalar_at[ldl->node_row[node]];
}

int sni_ldl_place_count(const sni_ldl *ldl) {
  return ldl->vector_count;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* y_row -= B x_col and y_col -= B^T x_row, on the diagonal once; and to the bounds z the magnitudes
 * of all terms. */
KERNEL void subtract(const int rows, const int cols, const bool both, const double *restrict B,
                     const double *x_row, const double *x_col, double *y_row, double *y_col,
                     double *z_row, double *z_col) {
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < cols; c++) {
      const double b = B[r * cols + c];
      y_row[r] -= b * x_col[c];
      z_row[r] += fabs(b * x_col[c]);
      if (both) {
        y_col[c] -= b * x_row[r];
        z_col[c] += fabs(b * x_row[r]);
      }
    }
  }
}

/* y -= B^T x for 6 x 6, in whole rows. */
KERNEL void subtract6_turned(const block6 *B, const double *x, double *y, double *z) {
  lane4 a = *(loose4 *)y, p = *(loose4 *)z;
  lane2 b = *(loose2 *)(y + 4), q = *(loose2 *)(z + 4);
  UNROLL
  for (int r = 0; r < 6; r++) {
    const lane4 s = B->a[r] * x[r];
    const lane2 t = B->b[r] * x[r];
    a -= s;
    b -= t;
    p += magnitude(s);
    q += magnitude2(t);
  }
  *(loose4 *)y = a;
  *(loose2 *)(y + 4) = b;
  *(loose4 *)z = p;
  *(loose2 *)(z + 4) = q;
}

/* Sums of each of six rows. */
KERNEL void sum_rows(const lane4 *a, const lane2 *b, lane4 *front, lane2 *back) {
  lane2 sum[6], pair[3];
  UNROLL
  for (int r = 0; r < 6; r++) {
    sum[r] = __builtin_shufflevector(a[r], a[r], 0, 1) + __builtin_shufflevector(a[r], a[r], 2, 3) +
             b[r];
  }
  UNROLL
  for (int k = 0; k < 3; k++) {
    pair[k] = __builtin_shufflevector(sum[2 * k], sum[2 * k + 1], 0, 2) +
              __builtin_shufflevector(sum[2 * k], sum[2 * k + 1], 1, 3);
  }
  *front = __builtin_shufflevector(pair[0], pair[1], 0, 1, 2, 3);
  *back = pair[2];
}

/* y -= B x for 6 x 6. */
KERNEL void subtract6(const block6 *B, const double *x, double *y, double *z) {
  const lane4 xa = *(const loose4 *)x;
  const lane2 xb = *(const loose2 *)(x + 4);
  lane4 s[6], front;
  lane2 t[6], back;
  UNROLL
  for (int r = 0; r < 6; r++) {
    s[r] = B->a[r] * xa;
    t[r] = B->b[r] * xb;
  }
  sum_rows(s, t, &front, &back);
  *(loose4 *)y -= front;
  *(loose2 *)(y + 4) -= back;
  UNROLL
  for (int r = 0; r < 6; r++) {
    s[r] = magnitude(s[r]);
    t[r] = magnitude2(t[r]);
  }
  sum_rows(s, t, &front, &back);
  *(loose4 *)z += front;
  *(loose2 *)(z + 4) += back;
}

/* Both for `rows` x 6, off the diagonal. */
KERNEL void subtract_by6(const int rows, const double *restrict B, const double *x_row,
                         const double *x_col, double *y_row, double *y_col, double *z_row,
                         double *z_col) {
  const lane4 xa = *(const loose4 *)x_col;
  const lane2 xb = *(const loose2 *)(x_col + 4);
  lane4 a = *(loose4 *)y_col, p = *(loose4 *)z_col;
  lane2 b = *(loose2 *)(y_col + 4), q = *(loose2 *)(z_col + 4);
  UNROLL
  for (int r = 0; r < rows; r++) {
    const lane4 Ba = *(const loose4 *)(B + 6 * r), s = Ba * x_row[r], u = Ba * xa;
    const lane2 Bb = *(const loose2 *)(B + 6 * r + 4), t = Bb * x_row[r], v = Bb * xb;
    a -= s;
    b -= t;
    p += magnitude(s);
    q += magnitude2(t);
    const lane4 U = magnitude(u);
    const lane2 V = magnitude2(v);
    const lane2 sum = __builtin_shufflevector(u, u, 0, 1) + __builtin_shufflevector(u, u, 2, 3) + v;
    const lane2 bound =
        __builtin_shufflevector(U, U, 0, 1) + __builtin_shufflevector(U, U, 2, 3) + V;
    y_row[r] -= sum[0] + sum[1];
    z_row[r] += bound[0] + bound[1];
  }
  *(loose4 *)y_col = a;
  *(loose2 *)(y_col + 4) = b;
  *(loose4 *)z_col = p;
  *(loose2 *)(z_col + 4) = q;
}

/* The same for one entry of any block. */
KERNEL void subtract_entry(double a, double x_row, double x_col, double *y_row, double *y_col,
                           double *z_row, double *z_col) {
  *y_row -= a * x_col;
  *y_col -= a * x_row;
  *z_row += fabs(a * x_col);
  *z_col += fabs(a * x_row);
}

/* Both for a tie, or a lever (r not NULL). */
KERNEL void subtract_arm(const int rows, const double *r, const double *x_row, const double *x_col,
                         double *restrict y_row, double *restrict y_col, double *restrict z_row,
                         double *restrict z_col) {
  const int corner = 6 - rows, cross = rows - 3;
  if (r) {
    double v[6];
    cross_entries(r, v);
    UNROLL
    for (int n = 0; n < 6; n++) {
      const int i = cross + cross_row[n], j = cross_col[n];
      subtract_entry(v[n], x_row[i], x_col[j], y_row + i, y_col + j, z_row + i, z_col + j);
    }
  }
  UNROLL
  for (int i = 0; i < rows; i++) {
    const int j = corner + i;
    subtract_entry(r ? -1 : 1, x_row[i], x_col[j], y_row + i, y_col + j, z_row + i, z_col + j);
  }
}

/* On the diagonal, and nothing off it. */
KERNEL void subtract_diagonal(int rows, const double *a, const double *x, double *y, double *z) {
  for (int i = 0; i < rows; i++) {
    y[i] -= a[i] * x[i];
    z[i] += fabs(a[i] * x[i]);
  }
}

/* r -= A x, of A the blocks that go to column t, and z += |A| |x|; r and z begin with place `low`.
 */
static void subtract_column(const sni_ldl *ldl, const sni_ldl_tile *tile, const double *x,
                            double *r, double *z, int low) {
  const double *B = ldl->value + tile[1].value;
  for (int k = tile[1].input - 1; k >= tile->input; k--) {
    const sni_ldl_input *in = &ldl->input[k];
    B -= sni_ldl_input_values(in);
    const int row = in->row, col = in->col, size = 10 * in->rows + in->cols;
    double *r_row = r + (row - low), *r_col = r + (col - low);
    double *z_row = z + (row - low), *z_col = z + (col - low);
    if (in->kind == SNI_LDL_SYMMETRIC) {
      const block6 block = block6_load_symmetric(B);
      subtract6_turned(&block, x + row, r_row, z_row);
    } else if (in->kind == SNI_LDL_TIE || in->kind == SNI_LDL_LEVER) {
      const double *arm = in->kind == SNI_LDL_LEVER ? B : NULL;
      if (in->rows == 3) {
        subtract_arm(3, arm, x + row, x + col, r_row, r_col, z_row, z_col);
      } else {
        subtract_arm(6, arm, x + row, x + col, r_row, r_col, z_row, z_col);
      }
    } else if (in->kind == SNI_LDL_DIAGONAL) {
      subtract_diagonal(in->rows, B, x + row, r_row, z_row);
    } else if (size == 66) {
      const block6 block = block6_load(B);
      subtract6_turned(&block, x + row, r_col, z_col);
      if (row != col) {
        subtract6(&block, x + col, r_row, z_row);
      }
    } else if (size == 11) {
      subtract(1, 1, row != col, B, x + row, x + col, r_row, r_col, z_row, z_col);
    } else if (in->cols == 1) {
      FOR_ROWS(in->rows, subtract(R, 1, true, B, x + row, x + col, r_row, r_col, z_row, z_col))
    } else if (row == col) {
      FOR_ROWS(in->rows, subtract(R, R, false, B, x + row, x + col, r_row, r_col, z_row, z_col))
    } else if (in->cols == 6) {
      FOR_ROWS(in->rows, subtract_by6(R, B, x + row, x + col, r_row, r_col, z_row, z_col))
    } else {
      subtract(in->rows, in->cols, row != col, B, x + row, x + col, r_row, r_col, z_row, z_col);
    }
  }
}

void sni_ldl_mul(sni_ldl *ldl, const double *x, double *y) {
  for (int i = 0; i < ldl->scalar_count; i++) {
    ldl->x[ldl->scalar_at[i]] = x[i];
  }
  memset(ldl->r, 0, (size_t)ldl->vector_count * sizeof(double));
  for (int t = 0; t < ldl->tile_count; t++) {
    subtract_column(ldl, &ldl->tile[t], ldl->x, ldl->r, ldl->z, 0);
  }
  for (int i = 0; i < ldl->scalar_count; i++) {
    y[i] = -ldl->r[ldl->scalar_at[i]];
  }
}

/* ---- Refinement ------------------------------------------------------------------------------ */

/* Not a number stays not a number. */
KERNEL lane4 larger(lane4 a, lane4 b) {
  return choose((b > a) | (b != b), b, a);
}

static double largest(lane4 a) {
  double m = 0;
  for (int c = 0; c < 4; c++) {
    m = a[c] > m || isnan(a[c]) ? a[c] : m;
  }
  return m;
}

/* The largest m x among the scalars from..to-1, and what was there before. */
KERNEL lane4 loudest(const sni_ldl *ldl, const double *x, int from, int to, lane4 most) {
  for (int i = from; i < to; i += 4) {
    most = larger(most, magnitude(*(const lane4 *)(x + i) * *(lane4 *)(ldl->unit + i)));
  }
  return most;
}

/* The floor for quiet rows is as low as it can be: the last digit of what happens in loud rows
 * reaches quiet ones through the rounding errors of a correction, so that with springs of
 * k h^2/m = 1e8 nothing below 2^-14 of the loudest can be brought to 1e-13 of itself. */
#define QUIET 0x1p-14

/* r and z as far as they are still being added to: all of ldl->r and ldl->z, or little room through
 * which they pass, because all of them would come into the cache for a moment only. */
typedef struct passing {
  double *r, *z;
  int low; /* the place that they begin with */
} passing;

/* The largest backward error of the scalars from..to-1, and what was there before: see block_ldl.h.
 */
KERNEL lane4 worst(const sni_ldl *ldl, const passing *p, lane4 x_size, int from, int to,
                   lane4 most) {
  const double floor = QUIET * largest(x_size);
  for (int i = from; i < to; i += 4) {
    const int at = i - p->low;
    const lane4 terms = *(lane4 *)(p->z + at) + floor * *(lane4 *)(ldl->unit + i);
    /* a row of nothing has no error */
    most = larger(most, magnitude(*(lane4 *)(p->r + at)) / (terms + DBL_MIN));
  }
  return most;
}

static double backward_error(const sni_ldl *ldl, const double *x) {
  const int n = ldl->vector_count;
  const lane4 x_size = loudest(ldl, x, 0, n, (lane4){0});
  const passing all = {ldl->r, ldl->z, 0};
  return largest(worst(ldl, &all, x_size, 0, n, (lane4){0}));
}

KERNEL passing passing_begin(const sni_ldl *ldl, bool through) {
  return through ? (passing){ldl->passage, ldl->passage + ldl->room, ldl->vector_count - ldl->room}
                 : (passing){ldl->r, ldl->z, 0};
}

/* The places that there are, up to `seen`, make room for others before them. */
OUTLINE passing passing_on(const sni_ldl *ldl, passing p, int seen) {
  const int low = seen - ldl->room;
  const size_t live = (size_t)(seen - p.low);
  memmove(p.r + (p.low - low), p.r, live * sizeof *p.r);
  memmove(p.z + (p.low - low), p.z, live * sizeof *p.z);
  return (passing){p.r, p.z, low};
}

/* x = base + L^-T D^-1 y (base NULL: 0), r = b - A x and z = |b| + |A| |x| in one go, y being lost
 * unless it is x: as soon as a tile of x is known, so are the tiles that come after it, and with
 * them the product with its column of A.  Returns a bound on the backward error, found while all
 * that it takes is at hand: by the loudest row so far.  `through`: nobody will ask for r and z. */
KERNEL double finish_any(sni_ldl *ldl, double *y, const double *base, double *x,
                         const bool through) {
  lane4 x_size = {0}, most = {0};
  int seen = ldl->vector_count; /* from here on errors are known */
  passing p = passing_begin(ldl, through);
  for (int t = ldl->tile_count - 1; t >= 0; t--) {
    const sni_ldl_tile *tile = &ldl->tile[t];
    if (ldl->ahead > 0 && t >= ldl->ahead) {
      fetch_tile_backwards(ldl, tile - ldl->ahead);
    }
    backward_any(ldl, tile, y);
    if (through && tile->vector < p.low) {
      p = passing_on(ldl, p, seen);
    }
    for (int i = tile->vector; i < tile[1].vector; i += 4) {
      lane4 sum = *(const lane4 *)(y + i);
      if (base) {
        sum += *(const lane4 *)(base + i);
      }
      *(lane4 *)(x + i) = sum;
      const lane4 b = *(lane4 *)(ldl->b + i);
      *(lane4 *)(p.r + (i - p.low)) = b;
      *(lane4 *)(p.z + (i - p.low)) = magnitude(b);
    }
    subtract_column(ldl, tile, x, p.r, p.z, p.low);
    x_size = loudest(ldl, x, tile->vector, tile[1].vector, x_size);
    /* from here on nothing will be added to r and z */
    const int final = t > 0 ? ldl->tile[ldl->reach[t - 1] + 1].vector : 0;
    if (final < seen) {
      most = worst(ldl, &p, x_size, final, seen, most);
      seen = final;
    }
  }
  return largest(most);
}

OUTLINE double finish(sni_ldl *ldl, double *y, const double *base, double *x) {
  return finish_any(ldl, y, base, x, false);
}
/* The same for x = y <- L^-T D^-1 y, and r and z are lost. */
OUTLINE double finish_through(sni_ldl *ldl, double *y) {
  return finish_any(ldl, y, NULL, y, true);
}

/* y <- L^-T D^-1 y alone. */
static void finish_unseen(const sni_ldl *ldl, double *y) {
  for (int t = ldl->tile_count - 1; t >= 0; t--) {
    const sni_ldl_tile *tile = &ldl->tile[t];
    backward_any(ldl, tile, y);
  }
}

/* A row whose pivot was noise may differ from those that it depends on by the root of that, and no
 * refinement finds out: what it misses by as part of this is no error. */
#define EXCUSED 0x1p20

/* y is used up. */
static double error_of(sni_ldl *ldl, const double *x, bool excused) {
  const int n = excused ? ldl->noise_count : 0;
  for (int k = 0; k < n; k++) {
    ldl->y[k] = ldl->r[ldl->noise[k]];
    ldl->r[ldl->noise[k]] /= EXCUSED;
  }
  const double error = backward_error(ldl, x);
  for (int k = 0; k < n; k++) {
    ldl->r[ldl->noise[k]] = ldl->y[k];
  }
  return error;
}

/* r = b - A x and z = |b| + |A| |x| once more, to the last bit. */
static void look_at(sni_ldl *ldl, const double *x) {
  memcpy(ldl->r, ldl->b, (size_t)ldl->vector_count * sizeof(double));
  for (int i = 0; i < ldl->vector_count; i++) {
    ldl->z[i] = fabs(ldl->b[i]);
  }
  for (int t = ldl->tile_count - 1; t >= 0; t--) {
    subtract_column(ldl, &ldl->tile[t], x, ldl->r, ldl->z, 0);
  }
}

/* From *best, with its r, until the error meets the target or falls no further; refinements so far
 * are counted.  Leaves r of some x or other. */
static double refine(sni_ldl *ldl, double **best, double **next, double error, bool excused,
                     int *refinements) {
  int slow = 0; /* in a row, that did not halve the error */
  while (error > ldl->options.target && *refinements < ldl->options.refine_max && slow < 2) {
    ++*refinements;
    memcpy(ldl->y, ldl->r, (size_t)ldl->vector_count * sizeof(double));
    for (int t = 0; t < ldl->tile_count; t++) {
      sni_ldl_forward(ldl, t, ldl->y);
    }
    finish(ldl, ldl->y, *best, *next);
    const double next_error = error_of(ldl, *next, excused);
    slow = next_error < 0.5 * error ? 0 : slow + 1;
    if (!(next_error < error)) {
      break;
    }
    double *swap = *best;
    *best = *next;
    *next = swap;
    error = next_error;
  }
  return error;
}

/* Who asks for less than is usual is content with a bound that is below that. */
static bool content(const sni_ldl *ldl) {
  return ldl->options.target > sni_ldl_options_default().target;
}
static bool suffices(const sni_ldl *ldl, double bound) {
  return content(ldl) && bound <= 0.5 * ldl->options.target;
}

void sni_ldl_refine_to(sni_ldl *ldl, double target, double trust) {
  ldl->options.target = target;
  ldl->options.trust = trust;
}

sn_status sni_ldl_solve(sni_ldl *ldl, const double *b, double *x, sni_ldl_solution *out) {
  if (b) {
    sni_ldl_begin(ldl, b);
    for (int t = 0; t < ldl->tile_count; t++) {
      sni_ldl_forward_begun(ldl, t);
    }
  } else if (!ldl->ready) {
    return SN_E_ARGUMENT;
  }
  ldl->ready = false;
  double *best = ldl->x, *next = ldl->x_next, error = ldl->error;
  if (error <= ldl->options.trust * ldl->options.target) {
    best = ldl->y; /* which refinement would use up, but there will be none */
    finish_unseen(ldl, best);
  } else {
    best = ldl->y;
    ldl->y = ldl->x;
    ldl->x = best;
    const bool through = ldl->room > 0 && content(ldl);
    error = through ? finish_through(ldl, best) : finish(ldl, best, NULL, best);
    if (!suffices(ldl, error)) {
      if (through) {
        look_at(ldl, best);
      }
      error = backward_error(ldl, best);
    }
    ldl->error = error > 0 ? error : INFINITY; /* from nothing follows nothing */
  }
  int refinements = 0;
  error = refine(ldl, &best, &next, error, false, &refinements);
  if (error > ldl->options.target && isfinite(error) && ldl->noise_count > 0) {
    int again = 0;
    look_at(ldl, best);
    const double rest = refine(ldl, &best, &next, error_of(ldl, best, true), true, &again);
    error = rest <= ldl->options.target ? rest : error;
    refinements += again;
  }
  if (out) {
    *out = (sni_ldl_solution){error, refinements};
  }
  ldl->found = isfinite(error) ? best : ldl->b;
  if (!isfinite(error)) {
    return SN_E_DIVERGED;
  }
  for (int i = 0; x && i < ldl->scalar_count; i++) {
    x[i] = best[ldl->scalar_at[i]];
  }
  return error <= ldl->options.target ? SN_OK : SN_NOT_CONVERGED;
}
