/* block_ldl_assemble.c: the columns of A, and the size of each row.
 *
 * Equilibration: powers of two m with |a_ij| <= about m_i m_j.  A node without a need (a body) has
 * m_i = sqrt |a_ii|: in a positive definite matrix that is enough.  A multiplier has
 * m_i = max |g_ij| / m_j over the rows j that it acts on, the size that G A^-1 G^T will have, or
 * the root of its own entry if that is larger.  The rate of a joint, whose own entry may be
 * anything from zero up, takes its size from the multiplier in the same way, and so on, level by
 * level.  A node with a need comes after those that it gets its size from, so m is known when its
 * column is. */
#include "linear/block_ldl_parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linear/block_ldl_lanes.h"

/* ---- Sizes of rows --------------------------------------------------------------------------- */

/* The power of two below a, and below sqrt |a|: from the exponent, no logarithm.  0 for what is too
 * small to divide by. */
KERNEL double power_below(double a) {
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  bits &= 0x7ff0000000000000u;
  memcpy(&a, &bits, sizeof a);
  return a;
}
KERNEL double power_below_root(double a) {
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  const uint64_t exponent = bits >> 52 & 0x7ff;
  bits = exponent == 0 ? 0 : (exponent + 1023) / 2 << 52;
  memcpy(&a, &bits, sizeof a);
  return a;
}

/* 1 / m for the power of two m below a, 0 for 0. */
KERNEL double inverse_power(double a) {
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  bits &= 0x7ff0000000000000u;
  bits = bits > 0 ? 0x7fe0000000000000u - bits : 0;
  memcpy(&a, &bits, sizeof a);
  return a;
}

KERNEL double larger(double a, double b) {
  return a > b ? a : b;
}

/* size_i = max |a_ij| / m_j: of the rows, or of the columns. */
KERNEL void bound(const int rows, const int cols, const bool of_rows, const double *restrict a,
                  const double *restrict unit, double *restrict size) {
  for (int i = 0; i < (of_rows ? rows : cols); i++) {
    double largest = size[i];
    for (int j = 0; j < (of_rows ? cols : rows); j++) {
      const double entry = of_rows ? a[i * cols + j] : a[j * cols + i];
      largest = larger(fabs(entry) * inverse_power(unit[j]), largest);
    }
    size[i] = largest;
  }
}

/* The same for the columns of 6 x 6. */
KERNEL void bound6(const block6 *m, const double *unit, double *size) {
  lane4 front = *(const loose4 *)size;
  lane4 back = {size[4], size[5], 0, 0};
  UNROLL
  for (int r = 0; r < 6; r++) {
    const double over = inverse_power(unit[r]);
    const lane4 s = magnitude(m->a[r]) * over;
    const lane4 t = magnitude(__builtin_shufflevector(m->b[r], m->b[r], 0, 1, 0, 1)) * over;
    front = choose(s > front, s, front);
    back = choose(t > back, t, back);
  }
  *(loose4 *)size = front;
  size[4] = back[0];
  size[5] = back[1];
}

/* Entry (r, c), whatever the kind: for those who seldom ask. */
static double entry(const sni_ldl_input *in, const double *a, int r, int c) {
  const int low = r < c ? r : c, high = r < c ? c : r;
  const bool corner = c == in->cols - in->rows + r;
  switch (in->kind) {
  case SNI_LDL_SYMMETRIC:
    return a[low * (11 - low) / 2 + high];
  case SNI_LDL_DIAGONAL:
    return r == c ? a[r] : 0;
  case SNI_LDL_TIE:
    return corner ? 1 : 0;
  case SNI_LDL_LEVER: {
    const int i = r - (in->rows - 3);
    const bool crossed = i >= 0 && c < 3 && c != i;
    return corner ? -1 : crossed ? a[3 - i - c] * ((c - i + 3) % 3 == 1 ? -1 : 1) : 0;
  }
  default:
    return a[r * in->cols + c];
  }
}

/* Rows with nothing on the diagonal, and nothing from a lower level: r receives the largest entry
 * of each row. */
static void bound_rest(sni_ldl *ldl) {
  double *size = ldl->r;
  memset(size, 0, (size_t)ldl->vector_count * sizeof(double));
  const double *a = ldl->value;
  for (int k = 0; k < ldl->block_count; k++) {
    const sni_ldl_input *in = &ldl->input[k];
    for (int r = 0; r < in->rows; r++) {
      for (int c = 0; c < in->cols; c++) {
        const double size_rc = fabs(entry(in, a, r, c));
        size[in->row + r] = fmax(size[in->row + r], size_rc);
        size[in->col + c] = fmax(size[in->col + c], size_rc);
      }
    }
    a += sni_ldl_input_values(in);
  }
}

/* A size that is 0 or infinite. */
OUTLINE sn_status mend_units(sni_ldl *ldl, const sni_ldl_tile *tile, int *bad) {
  for (int i = tile->vector; i < tile->vector + tile->size; i++) {
    if (ldl->unit[i] == 0) {
      if (!ldl->rest_known) {
        bound_rest(ldl);
        ldl->rest_known = true;
      }
      ldl->unit[i] = power_below(ldl->r[i]);
    }
    if (!(ldl->unit[i] > 0 && ldl->unit[i] <= DBL_MAX)) {
      *bad = i;
      return ldl->unit[i] == 0 ? SN_E_SINGULAR : SN_E_DIVERGED;
    }
  }
  return SN_OK;
}

/* The sizes of a tile are known: makes them powers of two. */
static sn_status round_units(sni_ldl *ldl, const sni_ldl_tile *tile, int *bad) {
  int64_t count = 0;
  for (int i = tile->vector; i < tile[1].vector; i += 4) {
    const lane4 m = powers_below(*(lane4 *)(ldl->unit + i));
    *(lane4 *)(ldl->unit + i) = m;
    const mask4 good = (m > 0) & (m <= DBL_MAX);
    count -= good[0] + good[1] + good[2] + good[3];
  }
  return count == tile->size ? SN_OK : mend_units(ldl, tile, bad);
}

/* ---- Columns --------------------------------------------------------------------------------- */

KERNEL void add(const int rows, const int cols, const bool transposed, const int lanes,
                const double *restrict from, double *restrict to) {
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < cols; c++) {
      to[transposed ? c * lanes + r : r * lanes + c] += from[r * cols + c];
    }
  }
}

KERNEL void add6(const block6 *from, double *to) {
  UNROLL
  for (int r = 0; r < 6; r++) {
    *(loose4 *)(to + 8 * r) += from->a[r];
    *(loose2 *)(to + 8 * r + 4) += from->b[r];
  }
}

OUTLINE void add_66(const sni_ldl_input *in, const double *from, double *column, double *unit) {
  const block6 block = block6_load(from);
  if (in->transposed) {
    const block6 turned = block6_turn(&block);
    add6(&turned, column + in->to);
    if (in->row_told) {
      bound6(&turned, unit + in->col, unit + in->row);
    }
  } else {
    add6(&block, column + in->to);
    if (in->row_told) {
      const block6 turned = block6_turn(&block);
      bound6(&turned, unit + in->col, unit + in->row);
    }
  }
  if (in->col_told) {
    bound6(&block, unit + in->row, unit + in->col);
  }
}

KERNEL void add_sized(const int rows, const int cols, const sni_ldl_input *in, const double *from,
                      double *column, double *unit) {
  if (in->transposed) {
    add(rows, cols, true, in->lanes, from, column + in->to);
  } else {
    add(rows, cols, false, in->lanes, from, column + in->to);
  }
  if (in->mirror > 0) {
    add(rows, cols, true, in->lanes, from, column + in->mirror);
  }
  if (in->row_told) {
    bound(rows, cols, true, from, unit + in->col, unit + in->row);
  }
  if (in->col_told) {
    bound(rows, cols, false, from, unit + in->row, unit + in->col);
  }
}

/* A block on the diagonal that is nothing off its own. */
KERNEL void add_diagonal(const sni_ldl_input *in, const double *from, double *column) {
  for (int r = 0; r < in->rows; r++) {
    column[in->to + (uint32_t)(r * (in->lanes + 1))] += from[r];
  }
}

/* The six by six that a body has on the diagonal. */
OUTLINE void add_symmetric(const sni_ldl_input *in, const double *from, double *column) {
  const block6 block = block6_load_symmetric(from);
  add6(&block, column + in->to);
}

/* One entry of a block. */
KERNEL void add_entry(const sni_ldl_input *in, int r, int c, double a, double *column,
                      double *unit) {
  double *row_size = unit + in->row + r, *col_size = unit + in->col + c;
  column[in->to + (uint32_t)(in->transposed ? c * in->lanes + r : r * in->lanes + c)] += a;
  if (in->row_told) {
    *row_size = larger(fabs(a) * inverse_power(*col_size), *row_size);
  }
  if (in->col_told) {
    *col_size = larger(fabs(a) * inverse_power(*row_size), *col_size);
  }
}

OUTLINE void add_tie(const sni_ldl_input *in, double one, double *column, double *unit) {
  for (int r = 0; r < in->rows; r++) {
    add_entry(in, r, 6 - in->rows + r, one, column, unit);
  }
}

OUTLINE void add_lever(const sni_ldl_input *in, const double *from, double *column, double *unit) {
  double v[6];
  cross_entries(from, v);
  UNROLL
  for (int n = 0; n < 6; n++) {
    add_entry(in, in->rows - 3 + cross_row[n], cross_col[n], v[n], column, unit);
  }
  add_tie(in, -1, column, unit);
}

/* A column of multipliers, and the diagonal block of a node. */
OUTLINE void add_narrow(const sni_ldl_input *in, const double *from, double *column,
                        double *unit){FOR_ROWS(in->rows, add_sized(R, 1, in, from, column, unit))}

OUTLINE void add_square(const sni_ldl_input *in, const double *from, double *column,
                        double *unit){FOR_ROWS(in->rows, add_sized(R, R, in, from, column, unit))}

/* The rows of a multiplier over a body. */
OUTLINE void add_by6(const sni_ldl_input *in, const double *from, double *column,
                     double *unit){FOR_ROWS(in->rows, add_sized(R, 6, in, from, column, unit))}

OUTLINE void add_any(const sni_ldl_input *in, const double *from, double *column, double *unit) {
  add_sized(in->rows, in->cols, in, from, column, unit);
}

void sni_ldl_assemble_start(sni_ldl *ldl) {
  ldl->rest_known = false;
  ldl->begun = 0;
}

/* The diagonal of A in a tile, and the sizes of its rows as far as they follow from that. */
static void begin_tile(sni_ldl *ldl, const sni_ldl_tile *tile) {
  const double *a = ldl->value + tile->value;
  memset(ldl->D + tile->vector, 0, tile->lanes * sizeof(double));
  for (int k = tile->input; k < tile[1].input; k++) {
    const sni_ldl_input *in = &ldl->input[k];
    for (int r = 0; in->row == in->col && r < in->rows; r++) {
      ldl->D[in->row + r] += entry(in, a, r, r);
    }
    a += sni_ldl_input_values(in);
  }
  for (int i = tile->vector; i < tile[1].vector; i++) {
    ldl->unit[i] = power_below_root(ldl->D[i]);
  }
}

/* Sizes pass from column to column, so all that column t touches must have begun. */
static void begin(sni_ldl *ldl, int t) {
  for (; ldl->begun <= ldl->reach[t]; ldl->begun++) {
    begin_tile(ldl, &ldl->tile[ldl->begun]);
  }
}

sn_status sni_ldl_assemble(sni_ldl *ldl, int t, int *bad) {
  const sni_ldl_tile *tile = &ldl->tile[t];
  double *column = ldl->U + tile->column, *unit = ldl->unit;
  const double *from = ldl->value + tile->value;
  if (ldl->ahead > 0 && t + ldl->ahead < ldl->tile_count) {
    fetch_tile(ldl, tile + ldl->ahead);
  }
  begin(ldl, t);
  memset(column, 0, (tile[1].column - tile->column) * sizeof(double));
  for (int k = tile->input; k < tile[1].input; k++) {
    const sni_ldl_input *in = &ldl->input[k];
    const int size = 10 * in->rows + in->cols;
    if (in->kind == SNI_LDL_SYMMETRIC) {
      add_symmetric(in, from, column);
    } else if (in->kind == SNI_LDL_TIE) {
      add_tie(in, 1, column, unit);
    } else if (in->kind == SNI_LDL_LEVER) {
      add_lever(in, from, column, unit);
    } else if (in->kind == SNI_LDL_DIAGONAL) {
      add_diagonal(in, from, column);
    } else if (size == 66 && in->mirror == 0) {
      add_66(in, from, column, unit);
    } else if (size == 11 && in->row == in->col) {
      column[in->to] += *from;
    } else if (in->cols == 1) {
      add_narrow(in, from, column, unit);
    } else if (in->rows == in->cols) {
      add_square(in, from, column, unit);
    } else if (in->cols == 6) {
      add_by6(in, from, column, unit);
    } else {
      add_any(in, from, column, unit);
    }
    from += sni_ldl_input_values(in);
  }
  return round_units(ldl, tile, bad);
}
