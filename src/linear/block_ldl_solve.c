/* block_ldl_solve.c: substitution with the factor, and refinement on the matrix as given. */
#include "linear/block_ldl_parts.h"

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
  for (int q = tile->below; q < tile[1].below; q++) {
    const sni_ldl_tile *from = &ldl->tile[ldl->below[q].tile];
    const double *U = ldl->U + tile->column + ldl->below[q].at;
    const lane4 a = *(lane4 *)(y + from->vector);
    if (from->lanes == 8) {
      const lane4 b = *(lane4 *)(y + from->vector + 4);
      UNROLL
      for (int p = 0; p < rows; p++) {
        sum[p] += *(const lane4 *)(U + 8 * p) * a;
        sum[p] += *(const lane4 *)(U + 8 * p + 4) * b;
      }
    } else {
      UNROLL
      for (int p = 0; p < rows; p++) {
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

void sni_ldl_forward(const sni_ldl *ldl, int t, double *y) {
  const sni_ldl_tile *tile = &ldl->tile[t];
  FOR_ROWS(tile->size, forward(R, ldl, tile, y))
}

void sni_ldl_gather(const sni_ldl *ldl, const double *by_nodes, double *by_tiles) {
  for (int i = 0; i < ldl->scalar_count; i++) {
    by_tiles[ldl->scalar_at[i]] = by_nodes[i];
  }
}

/* ---- Products -------------------------------------------------------------------------------- */

/* y_row -= B x_col and y_col -= B^T x_row; on the diagonal once. */
KERNEL void subtract(const int rows, const int cols, const bool both, const double *restrict B,
                     const double *x_row, const double *x_col, double *y_row, double *y_col) {
  double turned[SNI_LDL_SIZE_MAX] = {0};
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int c = 0; c < cols; c++) {
      sum += B[r * cols + c] * x_col[c];
      turned[c] += both ? B[r * cols + c] * x_row[r] : 0;
    }
    y_row[r] -= sum;
  }
  for (int c = 0; both && c < cols; c++) {
    y_col[c] -= turned[c];
  }
}

/* y -= B^T x for 6 x 6, in whole rows. */
KERNEL void subtract6_turned(const block6 *B, const double *x, double *y) {
  lane4 a = *(loose4 *)y;
  lane2 b = *(loose2 *)(y + 4);
  UNROLL
  for (int r = 0; r < 6; r++) {
    a -= B->a[r] * x[r];
    b -= B->b[r] * x[r];
  }
  *(loose4 *)y = a;
  *(loose2 *)(y + 4) = b;
}

/* y -= B x: sums along the rows, two rows at a time. */
KERNEL void subtract6(const block6 *B, const double *x, double *y) {
  const lane4 xa = *(const loose4 *)x;
  const lane2 xb = *(const loose2 *)(x + 4);
  lane2 sum[6], pair[3];
  UNROLL
  for (int r = 0; r < 6; r++) {
    const lane4 p = B->a[r] * xa;
    sum[r] =
        __builtin_shufflevector(p, p, 0, 1) + __builtin_shufflevector(p, p, 2, 3) + B->b[r] * xb;
  }
  UNROLL
  for (int k = 0; k < 3; k++) {
    pair[k] = __builtin_shufflevector(sum[2 * k], sum[2 * k + 1], 0, 2) +
              __builtin_shufflevector(sum[2 * k], sum[2 * k + 1], 1, 3);
  }
  *(loose4 *)y -= __builtin_shufflevector(pair[0], pair[1], 0, 1, 2, 3);
  *(loose2 *)(y + 4) -= pair[2];
}

/* The same for 6 x 1. */
KERNEL void subtract61(const double *B, const double *x_row, const double *x_col, double *y_row,
                       double *y_col) {
  const lane4 a = *(const loose4 *)B, p = a * *(const loose4 *)x_row;
  const lane2 b = *(const loose2 *)(B + 4), q = b * *(const loose2 *)(x_row + 4);
  *(loose4 *)y_row -= a * *x_col;
  *(loose2 *)(y_row + 4) -= b * *x_col;
  *y_col -= (p[0] + p[1]) + (p[2] + p[3]) + (q[0] + q[1]);
}

/* r -= A x, of A the blocks that go to column t. */
static void subtract_column(const sni_ldl *ldl, const sni_ldl_tile *tile, const double *x,
                            double *r) {
  const double *B = ldl->value + tile->value;
  for (int k = tile->input; k < tile[1].input; k++) {
    const sni_ldl_input *in = &ldl->input[k];
    const double *x_row = x + in->row, *x_col = x + in->col;
    double *r_row = r + in->row, *r_col = r + in->col;
    const int size = 10 * in->rows + in->cols;
    if (size == 66) {
      const block6 block = block6_load(B);
      subtract6_turned(&block, x_row, r_col);
      if (in->row != in->col) {
        subtract6(&block, x_col, r_row);
      }
    } else if (size == 61) {
      subtract61(B, x_row, x_col, r_row, r_col);
    } else if (size == 11) {
      subtract(1, 1, in->row != in->col, B, x_row, x_col, r_row, r_col);
    } else {
      subtract(in->rows, in->cols, in->row != in->col, B, x_row, x_col, r_row, r_col);
    }
    B += in->rows * in->cols;
  }
}

void sni_ldl_mul(sni_ldl *ldl, const double *x, double *y) {
  sni_ldl_gather(ldl, x, ldl->x);
  memset(ldl->r, 0, (size_t)ldl->vector_count * sizeof(double));
  for (int t = 0; t < ldl->tile_count; t++) {
    subtract_column(ldl, &ldl->tile[t], ldl->x, ldl->r);
  }
  for (int i = 0; i < ldl->scalar_count; i++) {
    y[i] = -ldl->r[ldl->scalar_at[i]];
  }
}

/* ---- Refinement ------------------------------------------------------------------------------ */

/* Not a number stays not a number. */
KERNEL lane4 larger(lane4 a, lane4 b) {
  return choose(b <= a, a, b);
}

static double largest(lane4 a) {
  double m = 0;
  for (int c = 0; c < 4; c++) {
    m = a[c] <= m ? m : a[c];
  }
  return m;
}

/* max |b_i| / m_i */
static double right_side_size(const sni_ldl *ldl) {
  lane4 size = {0};
  for (int i = 0; i < ldl->vector_count; i += 4) {
    size =
        larger(size, magnitude(*(lane4 *)(ldl->b + i) * inverse_powers(*(lane4 *)(ldl->unit + i))));
  }
  return largest(size);
}

static double backward_error(const sni_ldl *ldl, const double *x, const double *r, double b_size) {
  lane4 r_size = {0}, x_size = {0};
  for (int i = 0; i < ldl->vector_count; i += 4) {
    r_size = larger(r_size,
                    magnitude(*(const lane4 *)(r + i) * inverse_powers(*(lane4 *)(ldl->unit + i))));
    x_size = larger(x_size, magnitude(*(const lane4 *)(x + i) * *(lane4 *)(ldl->unit + i)));
  }
  const double size = largest(r_size);
  return size == 0 ? 0 : size / (largest(x_size) + b_size);
}

/* x = base + L^-T D^-1 y (base NULL: 0) and r = b - A x in one go, y being lost: as soon as a tile
 * of x is known, so are the tiles that come after it, and with them the product with its column of
 * A. */
static void finish(sni_ldl *ldl, double *y, const double *base, double *x, double *r) {
  memcpy(r, ldl->b, (size_t)ldl->vector_count * sizeof(double));
  for (int t = ldl->tile_count - 1; t >= 0; t--) {
    const sni_ldl_tile *tile = &ldl->tile[t];
    FOR_ROWS(tile->size, backward(R, ldl, tile, y))
    for (int i = tile->vector; i < tile[1].vector; i += 4) {
      lane4 sum = *(const lane4 *)(y + i);
      if (base) {
        sum += *(const lane4 *)(base + i);
      }
      *(lane4 *)(x + i) = sum;
    }
    subtract_column(ldl, tile, x, r);
  }
}

sn_status sni_ldl_solve(sni_ldl *ldl, const double *b, double *x, sni_ldl_solution *out) {
  const size_t bytes = (size_t)ldl->vector_count * sizeof(double);
  if (b) {
    sni_ldl_gather(ldl, b, ldl->b);
    memcpy(ldl->y, ldl->b, bytes);
    for (int t = 0; t < ldl->tile_count; t++) {
      sni_ldl_forward(ldl, t, ldl->y);
    }
  } else if (!ldl->ready) {
    return SN_E_ARGUMENT;
  }
  ldl->ready = false;
  double *best = ldl->x, *next = ldl->x_next, *r = ldl->r;
  finish(ldl, ldl->y, NULL, best, r);
  const double b_size = right_side_size(ldl);
  double error = backward_error(ldl, best, r, b_size);
  int refinements = 0;
  while (error > ldl->options.target && refinements < ldl->options.refine_max) {
    refinements++;
    memcpy(ldl->y, r, bytes);
    for (int t = 0; t < ldl->tile_count; t++) {
      sni_ldl_forward(ldl, t, ldl->y);
    }
    finish(ldl, ldl->y, best, next, r);
    const double next_error = backward_error(ldl, next, r, b_size);
    const bool slow = !(next_error < 0.5 * error);
    if (next_error < error) {
      double *swap = best;
      best = next;
      next = swap;
      error = next_error;
    }
    if (slow) {
      break;
    }
  }
  if (out) {
    *out = (sni_ldl_solution){error, refinements};
  }
  if (!isfinite(error)) {
    return SN_E_DIVERGED;
  }
  for (int i = 0; i < ldl->scalar_count; i++) {
    x[i] = best[ldl->scalar_at[i]];
  }
  return error <= ldl->options.target ? SN_OK : SN_NOT_CONVERGED;
}
