/* block_ldl_factorise.c: the numeric factorisation, column by column of tiles.
 *
 *     C(t,i) = A(t,i) - sum over k before t of  U(k,t)^T D(k) U(k,i)          i = t and below
 *     C(t,t) = U(t,t)^T D(t) U(t,t)         U(t,i) = D(t)^-1 U(t,t)^-T C(t,i)
 *
 * with U = L^T, so that all products run along the scalars of i.  A column is assembled one column
 * ahead of its use: its scalars, stored one at a time, are in the cache and no longer in the store
 * buffer when whole vectors of them are read.
 *
 * Scaling by powers of two changes no bit of L D L^T without exchanges, so A is not scaled.  What a
 * pivot is small against is the sum of the magnitudes of the terms that made it, |a_pp| and
 * d_k u_kp^2 for all k before: below some multiple of the rounding error of that sum nothing is
 * known about the pivot, its sign included.  With the sign given (a redundant constraint is one
 * more multiplier) it is replaced by a small multiple of that sum.
 *
 * That is not all there is to the error where a row depends on others through a weak one: its own
 * rounding error comes back as large as the row takes of it, squared.  L D L^T is A + E with
 * |E_kk| below a few last digits of the terms of k, so with w = U^-1 e_p, what the row takes of all
 * those before it, pivot p is off by w^T E w.  For multipliers of which little is left that is
 * looked at, too: a dependent row that passed for one of its own would hold what nothing holds.
 *
 * Nor is a weak row a good one to know the others by.  Where little is left of a multiplier, the
 * one of its tile of which most is left comes first.  Then T = W^-T D W^-1 with W = P^T U^-1, P
 * being the order of these pivots; rows of the column are by pivots, and all else is in its
 * place.  Tiles with such an order have W, dense, for their own block. */
#include "linear/block_ldl_parts.h"

#include <math.h>
#include <string.h>

#include "linear/block_ldl_lanes.h"

/* ---- Kernels --------------------------------------------------------------------------------- */

/* C -= V^T U for rows of C and U of `lanes`, of V of 8.  c stays in registers. */
#define DEFINE_UPDATE(name, vec)                                                                   \
  KERNEL void name(const int rows, int depth, int lanes, double *restrict C,                       \
                   const double *restrict V, const double *restrict U) {                           \
    vec c[TILE_MAX];                                                                               \
    UNROLL                                                                                         \
    for (int r = 0; r < rows; r++) {                                                               \
      c[r] = *(const vec *)(C + r * lanes);                                                        \
    }                                                                                              \
    for (int p = 0; p < depth; p++) {                                                              \
      const vec u = *(const vec *)(U + p * lanes);                                                 \
      UNROLL                                                                                       \
      for (int r = 0; r < rows; r++) {                                                             \
        c[r] -= V[p * TILE_MAX + r] * u;                                                           \
      }                                                                                            \
    }                                                                                              \
    UNROLL                                                                                         \
    for (int r = 0; r < rows; r++) {                                                               \
      *(vec *)(C + r * lanes) = c[r];                                                              \
    }                                                                                              \
  }

/* C <- D^-1 U^-T C for a unit triangle U = T of `stride`. */
#define DEFINE_REDUCE(name, vec)                                                                   \
  KERNEL void name(const int rows, const int stride, int lanes, const double *restrict T,          \
                   const double *restrict D_inv, double *restrict C) {                             \
    vec c[TILE_MAX];                                                                               \
    UNROLL                                                                                         \
    for (int r = 0; r < rows; r++) {                                                               \
      c[r] = *(const vec *)(C + r * lanes);                                                        \
      UNROLL                                                                                       \
      for (int p = 0; p < r; p++) {                                                                \
        c[r] -= T[p * stride + r] * c[p];                                                          \
      }                                                                                            \
    }                                                                                              \
    UNROLL                                                                                         \
    for (int r = 0; r < rows; r++) {                                                               \
      *(vec *)(C + r * lanes) = c[r] * D_inv[r];                                                   \
    }                                                                                              \
  }

DEFINE_UPDATE(update4, lane4)
DEFINE_REDUCE(reduce4, lane4)
#ifdef HAVE_LANE8
DEFINE_UPDATE(update8, lane8)
DEFINE_REDUCE(reduce8, lane8)
#else
KERNEL void update8(const int rows, int depth, int lanes, double *C, const double *V,
                    const double *U) {
  update4(rows, depth, lanes, C, V, U);
  update4(rows, depth, lanes, C + 4, V, U + 4);
}
KERNEL void reduce8(const int rows, const int stride, int lanes, const double *T,
                    const double *D_inv, double *C) {
  reduce4(rows, stride, lanes, T, D_inv, C);
  reduce4(rows, stride, lanes, T, D_inv, C + 4);
}
#endif

KERNEL void update(const int rows, int depth, int lanes, double *C, const double *V,
                   const double *U) {
  if (lanes == 8) {
    update8(rows, depth, 8, C, V, U);
  } else {
    update4(rows, depth, 4, C, V, U);
  }
}

static void reduce(int rows, int lanes, const double *T, const double *D_inv, double *C) {
  if (lanes == 8) {
    FOR_ROWS(rows, reduce8(R, R <= 4 ? 4 : 8, 8, T, D_inv, C))
  } else {
    FOR_ROWS(rows, reduce4(R, R <= 4 ? 4 : 8, 4, T, D_inv, C))
  }
}

/* ---- Pivots ---------------------------------------------------------------------------------- */

typedef struct pivot_state {
  sni_ldl *ldl;
  sni_ldl_factor *out;
  int bad; /* place by tiles of the first one replaced, or not finite; -1: none */
  bool finite;
} pivot_state;

/* A multiplier of which less than this is left is suspected.  To be noise with more, a row would
 * have to take 2^15 times itself of those before it. */
#define SUSPECTED 0x1p-16
/* What rounding has come to is traced back so many tiles at most. */
enum { TRACED = 256 };

/* w_k of the rows of tile k, from those after it, and what their errors come to in pivot p of tile
 * t: see above. */
static double trace_tile(const sni_ldl *ldl, const sni_ldl_tile *k, int t, double *w) {
  const double *U = ldl->U + k->column, *T = U + k->diagonal, *terms = ldl->z + k->vector;
  lane4 after[TILE_MAX] = {{0}};
  for (int q = k->below; q < k[1].below && ldl->below[q].tile <= t; q++) {
    const sni_ldl_tile *i = &ldl->tile[ldl->below[q].tile];
    const double *block = U + ldl->below[q].at;
    for (int h = 0; h < i->lanes; h += 4) { /* w is 0 where there is no scalar */
      const lane4 w_i = *(const lane4 *)(w + i->vector + h);
      for (int r = 0; r < k->size; r++) {
        after[r] += *(const lane4 *)(block + r * i->lanes + h) * w_i;
      }
    }
  }
  double *w_k = w + k->vector, v[TILE_MAX], sum = 0;
  for (int r = k->size - 1; r >= 0; r--) {
    v[r] = -((after[r][0] + after[r][1]) + (after[r][2] + after[r][3]));
    for (int c = r + 1; !k->turned && c < k->size; c++) {
      v[r] -= T[r * k->lanes + c] * v[c];
    }
  }
  for (int r = 0; r < k->size; r++) {
    w_k[r] = k->turned ? sni_ldl_row(k->size, T + r * k->lanes, v) : v[r];
    sum += w_k[r] * w_k[r] * terms[r];
  }
  return sum;
}

/* The sum of w_k^2 terms_k for pivot p of tile t, whose rows before p are those of U already, in
 * this order. */
static double trace(const sni_ldl *ldl, int t, int p, const int *order) {
  const sni_ldl_tile *tile = &ldl->tile[t];
  const int first = t > TRACED ? t - TRACED : 0, from = ldl->tile[first].vector;
  const double *T = ldl->U + tile->column + tile->diagonal;
  const double *terms = ldl->z + tile->vector;
  double *w = ldl->x_next, *w_t = w + tile->vector, sum = terms[order[p]];
  memset(w + from, 0, (size_t)(tile[1].vector - from) * sizeof *w);
  w_t[order[p]] = 1;
  for (int r = p - 1; r >= 0; r--) {
    for (int c = r + 1; c <= p; c++) {
      w_t[order[r]] -= T[r * tile->lanes + c] * w_t[order[c]];
    }
    sum += w_t[order[r]] * w_t[order[r]] * terms[order[r]];
  }
  for (int k = t - 1; k >= first; k--) {
    sum += trace_tile(ldl, &ldl->tile[k], t, w);
  }
  return sum;
}

/* A pivot that is noise, of the wrong sign, suspected, or not a number: the one at p of tile t, of
 * row order[p].  The sum of the magnitudes that made it is in z. */
static double mend(pivot_state *state, double pivot, double sign, int t, int p, const int *order) {
  sni_ldl *ldl = state->ldl;
  const int at = ldl->tile[t].vector + order[p];
  const double terms = ldl->z[at];
  if (!isfinite(pivot) || !isfinite(terms)) {
    state->bad = state->finite ? at : state->bad;
    state->finite = false;
    return sign;
  }
  const sni_ldl_options *o = &ldl->options;
  const bool right = pivot * sign > o->noise * terms;
  const bool large = right || fabs(pivot) > o->noise_wrong * terms;
  const bool suspected = sign < 0 && large && !(pivot * sign > SUSPECTED * terms);
  const double traced = suspected ? trace(ldl, t, p, order) : 0;
  if (large && !(fabs(pivot) <= o->noise_traced * traced)) {
    state->out->wrong_sign += !right;
    if (suspected) {
      ldl->weak_part[ldl->weak_count] = pivot * sign / terms;
      ldl->weak[ldl->weak_count++] = at;
    }
    return pivot;
  }
  state->bad = state->out->replaced++ == 0 ? at : state->bad;
  if (sign < 0) {
    ldl->noise[ldl->noise_count++] = at;
    ldl->weak_part[ldl->weak_count] = 0;
    ldl->weak[ldl->weak_count++] = at;
  }
  /* no terms at all: a row that meets its first neighbour later */
  const double m = ldl->unit[at];
  return sign * fmax(o->substitute * (terms > 0 ? terms : m * m),
                     o->substitute / o->noise * o->noise_traced * traced);
}

/* Bit p set: lane p is -1. */
#define SIGN(bits, p) ((bits) >> (p)&1 ? -1.0 : 1.0)
#define SIGNS(bits)                                                                                \
  { SIGN(bits, 0), SIGN(bits, 1), SIGN(bits, 2), SIGN(bits, 3) }
static const lane4 signs[16] = {SIGNS(0),  SIGNS(1),  SIGNS(2),  SIGNS(3), SIGNS(4),  SIGNS(5),
                                SIGNS(6),  SIGNS(7),  SIGNS(8),  SIGNS(9), SIGNS(10), SIGNS(11),
                                SIGNS(12), SIGNS(13), SIGNS(14), SIGNS(15)};

/* What must be left of a pivot, as part of its terms, for it not to be looked at. */
KERNEL lane4 least_left(lane4 sign, double noise) {
  return choose(sign < 0, (lane4){SUSPECTED, SUSPECTED, SUSPECTED, SUSPECTED},
                (lane4){noise, noise, noise, noise});
}

/* T = U^T D U for a diagonal tile; D is 1 where there is no scalar.  U comes above the diagonal of
 * T, and below it once more, transposed, for the solve; and to the terms comes what they are in the
 * end.  False, and all as it was, if a pivot needs to be mended. */
KERNEL bool split(const int rows, double *restrict T, lane4 *restrict terms, double noise,
                  unsigned negative, double *restrict D, double *restrict D_inv) {
  const int halves = rows <= 4 ? 1 : 2, lanes = 4 * halves;
  lane4 t[TILE_MAX][2], sum[2] = {terms[0], terms[1]}, pivots[2] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  UNROLL
  for (int p = 0; p < rows; p++) {
    UNROLL
    for (int h = 0; h < halves; h++) {
      t[p][h] = *(const lane4 *)(T + p * lanes + 4 * h);
    }
  }
  double pivot = t[0][0][0];
  UNROLL
  for (int p = 0; p < rows; p++) {
    const double inverse = 1 / pivot;
    D_inv[p] = inverse;
    pivots[p / 4] = choose(lane_mask(p % 4), (lane4){pivot, pivot, pivot, pivot}, pivots[p / 4]);
    if (p + 1 < rows) { /* ahead of the rest: the next division waits for this */
      const int n = p + 1;
      const double v = t[p][n / 4][n % 4];
      pivot = t[n][n / 4][n % 4] - (v * v) * inverse;
    }
    lane4 u[2];
    UNROLL
    for (int h = 0; h < halves; h++) {
      u[h] = t[p][h] * inverse;
      sum[h] += magnitude(t[p][h] * u[h]);
    }
    UNROLL
    for (int r = p + 1; r < rows; r++) {
      UNROLL
      for (int h = 0; h < halves; h++) {
        t[r][h] -= t[p][r / 4][r % 4] * u[h];
      }
    }
    UNROLL
    for (int h = 0; h < halves; h++) {
      t[p][h] = u[h];
    }
  }
  /* a pivot has added itself to its own terms, which does not matter here */
  const lane4 sign[2] = {signs[negative & 15], signs[negative >> 4]};
  mask4 good = pivots[0] * sign[0] > least_left(sign[0], noise) * sum[0];
  if (halves == 2) {
    good &= pivots[1] * sign[1] > least_left(sign[1], noise) * sum[1];
  }
  if (!(good[0] & good[1] & good[2] & good[3])) {
    return false;
  }
  UNROLL
  for (int h = 0; h < halves; h++) {
    *(lane4 *)(D + 4 * h) = pivots[h];
    terms[h] = sum[h];
    UNROLL
    for (int p = 0; p < rows; p++) {
      *(lane4 *)(T + p * lanes + 4 * h) = t[p][h];
    }
  }
  UNROLL
  for (int p = 0; p < rows; p++) {
    UNROLL
    for (int r = 0; r < p; r++) {
      T[p * lanes + r] = T[r * lanes + p];
    }
  }
  return true;
}

/* Rows and columns p and q of T. */
static void swap(const sni_ldl_tile *tile, int p, int q, double *T, int *order) {
  const int lanes = tile->lanes, row = order[p];
  order[p] = order[q];
  order[q] = row;
  for (int i = 0; i < tile->size; i++) {
    const double t = T[p * lanes + i];
    T[p * lanes + i] = T[q * lanes + i];
    T[q * lanes + i] = t;
  }
  for (int i = 0; i < tile->size; i++) {
    const double t = T[i * lanes + p];
    T[i * lanes + p] = T[i * lanes + q];
    T[i * lanes + q] = t;
  }
}

/* The pivot that comes at p: another one where that is a multiplier that is suspected, of those
 * that follow it; what is after them counts on all of them. */
static int choose_pivot(const sni_ldl_tile *tile, int p, const double *T, const double *terms,
                        const int *order) {
  int best = p;
  double most = T[p * tile->lanes + p] / -terms[order[p]];
  const bool suspected = most <= SUSPECTED;
  for (int q = p + 1; suspected && q < tile->size && tile->negative >> q & 1; q++) {
    const double left = T[q * tile->lanes + q] / -terms[order[q]];
    if (left > most) {
      best = q;
      most = left;
    }
  }
  return best;
}

/* W = P^T U^-1, see above. */
static void turn(const sni_ldl_tile *tile, const int *order, double *T) {
  const int rows = tile->size, lanes = tile->lanes;
  double inverse[TILE_MAX][TILE_MAX] = {{0}};
  for (int c = 0; c < rows; c++) {
    inverse[c][c] = 1;
    for (int r = c - 1; r >= 0; r--) {
      for (int k = r + 1; k <= c; k++) {
        inverse[r][c] -= T[r * lanes + k] * inverse[k][c];
      }
    }
  }
  for (int r = 0; r < rows; r++) {
    memcpy(T + order[r] * lanes, inverse[r], (size_t)rows * sizeof *T);
  }
}

/* C <- D^-1 W^T C. */
static void reduce_turned(int rows, int lanes, const double *W, int stride, const double *D_inv,
                          double *C) {
  double sum[TILE_MAX * TILE_MAX] = {0};
  for (int i = 0; i < rows; i++) {
    for (int p = 0; p < rows; p++) {
      for (int c = 0; c < lanes; c++) {
        sum[p * lanes + c] += W[i * stride + p] * D_inv[p] * C[i * lanes + c];
      }
    }
  }
  memcpy(C, sum, (size_t)(rows * lanes) * sizeof *C);
}

/* The same as split, pivot by pivot. */
static void split_mended(pivot_state *state, int t, double *T, double *D_inv) {
  sni_ldl_tile *tile = &state->ldl->tile[t];
  const int rows = tile->size, lanes = tile->lanes;
  double *terms = state->ldl->z + tile->vector;
  int order[TILE_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int p = 0; p < rows; p++) {
    const bool negative = tile->negative >> p & 1;
    const int q = negative ? choose_pivot(tile, p, T, terms, order) : p;
    if (q != p) {
      swap(tile, p, q, T, order);
      tile->turned = 1;
    }
    const double pivot = mend(state, T[p * lanes + p], negative ? -1 : 1, t, p, order);
    state->ldl->D[tile->vector + p] = pivot;
    D_inv[p] = 1 / pivot;
    for (int r = p + 1; r < rows; r++) {
      const double v = T[p * lanes + r];
      terms[order[r]] += fabs(v * v * D_inv[p]);
      for (int c = r; c < rows; c++) {
        T[r * lanes + c] -= v * D_inv[p] * T[p * lanes + c];
        T[c * lanes + r] = T[r * lanes + c];
      }
    }
    for (int c = p + 1; c < rows; c++) {
      T[p * lanes + c] *= D_inv[p];
    }
  }
  for (int p = rows; p < lanes; p++) {
    state->ldl->D[tile->vector + p] = 1;
  }
  if (tile->turned) {
    turn(tile, order, T);
    return;
  }
  for (int p = 0; p < rows; p++) {
    for (int r = 0; r < p; r++) {
      T[p * lanes + r] = T[r * lanes + p];
    }
  }
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* V = D U, and what U^T V adds to the terms of the pivots. */
KERNEL void weigh(int rows, const int lanes, const double *restrict U, const double *restrict D,
                  double *restrict V, lane4 *restrict terms) {
  for (int p = 0; p < rows; p++) {
    for (int h = 0; h < lanes; h += 4) {
      const lane4 u = *(const lane4 *)(U + p * lanes + h), v = u * D[p];
      *(lane4 *)(V + p * TILE_MAX + h) = v;
      terms[h / 4] += magnitude(u * v);
    }
  }
}

/* What the elimination of k, whose block q is in row t, takes from column t, of `rows`. */
KERNEL void take(const int rows, const sni_ldl *ldl, const sni_ldl_tile *k, int q,
                 const sni_ldl_tile *t, lane4 *terms) {
  const int lanes = rows <= 4 ? 4 : 8, depth = k->size;
  const double *U = ldl->U + k->column;
  double *column = ldl->U + t->column, *T = column + t->diagonal;
  lane4 buffer[TILE_MAX * TILE_MAX / 4];
  double *V = (double *)buffer;
  weigh(depth, lanes, U + ldl->below[q].at, ldl->D + k->vector, V, terms);
  update(rows, depth, lanes, T, V, U + ldl->below[q].at);
  for (int i = q + 1; i < k[1].below; i++) {
    const int row = ldl->below[i].tile;
    update(rows, depth, ldl->tile[row].lanes, column + ldl->place[row], V, U + ldl->below[i].at);
  }
}

static void eliminate(sni_ldl *ldl, int t, pivot_state *state) {
  sni_ldl_tile *tile = &ldl->tile[t];
  double *column = ldl->U + tile->column, *T = column + tile->diagonal;
  double *D_t = ldl->D + tile->vector; /* the diagonal of A, as yet */
  lane4 terms[2] = {magnitude(*(lane4 *)D_t), {0}};
  if (tile->lanes == 8) {
    terms[1] = magnitude(*(lane4 *)(D_t + 4));
  }
  for (int q = tile->below; q < tile[1].below; q++) {
    ldl->place[ldl->below[q].tile] = ldl->below[q].at;
  }
  for (int b = tile->before; b < tile[1].before; b++) {
    const sni_ldl_before *from = &ldl->before[b];
    FOR_ROWS(tile->size, take(R, ldl, &ldl->tile[from->tile], from->below, tile, terms))
  }
  double D_inv[TILE_MAX];
  const double noise = ldl->options.noise;
  bool good = true;
  FOR_ROWS(tile->size, good = split(R, T, terms, noise, tile->negative, D_t, D_inv))
  memcpy(ldl->z + tile->vector, terms, (size_t)tile->lanes * sizeof *ldl->z);
  tile->turned = 0;
  if (!good) {
    split_mended(state, t, T, D_inv);
  }
  for (int q = tile->below; q < tile[1].below; q++) {
    const int lanes = ldl->tile[ldl->below[q].tile].lanes;
    if (tile->turned) {
      reduce_turned(tile->size, lanes, T, tile->lanes, D_inv, column + ldl->below[q].at);
    } else {
      reduce(tile->size, lanes, T, D_inv, column + ldl->below[q].at);
    }
  }
}

int sni_ldl_weak(const sni_ldl *ldl, int k, double *part) {
  if (k >= ldl->weak_count) {
    return -1;
  }
  *part = ldl->weak_part[k];
  return ldl->scalar_of[ldl->weak[k]];
}

/* The scalar at a place by tiles: only for reports, so it may be looked for. */
static void name(const sni_ldl *ldl, int at, sni_ldl_factor *out) {
  out->node = out->scalar = -1;
  for (int node = 0; at >= 0 && node < ldl->node_count; node++) {
    for (int row = ldl->node_row[node]; row < ldl->node_row[node + 1]; row++) {
      if (ldl->scalar_at[row] == at) {
        out->node = node;
        out->scalar = row - ldl->node_row[node];
        return;
      }
    }
  }
}

sn_status sni_ldl_factorise(sni_ldl *ldl, const double *b, sni_ldl_factor *out) {
  sni_ldl_factor result = {0};
  pivot_state state = {.ldl = ldl, .out = &result, .bad = -1, .finite = true};
  if (b) {
    sni_ldl_begin(ldl, b);
  }
  ldl->error = INFINITY;
  ldl->noise_count = ldl->weak_count = 0;
  sni_ldl_assemble_start(ldl);
  sn_status status = ldl->tile_count > 0 ? sni_ldl_assemble(ldl, 0, &state.bad) : SN_OK;
  for (int t = 0; t < ldl->tile_count && !status; t++) {
    if (t + 1 < ldl->tile_count) {
      status = sni_ldl_assemble(ldl, t + 1, &state.bad);
    }
    if (!status) {
      eliminate(ldl, t, &state);
      status = state.finite ? SN_OK : SN_E_DIVERGED;
    }
    if (b) {
      sni_ldl_forward_begun(ldl, t);
    }
  }
  ldl->ready = b && !status;
  if (out) {
    name(ldl, state.bad, &result);
    *out = result;
  }
  return status;
}
