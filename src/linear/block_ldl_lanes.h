/* block_ldl_lanes.h: vectors for the kernels of block_ldl.
 *
 * lane4 is four scalars, lane8 eight where the machine has such vectors, else lane8 does not exist
 * and rows of 8 are walked in two halves.  Kernels are written once for a type of vector and a
 * constant number of rows, and the compiler unrolls them into registers. */
#ifndef SNI_BLOCK_LDL_LANES_H
#define SNI_BLOCK_LDL_LANES_H

#include "linear/block_ldl_parts.h"

typedef double lane4 __attribute__((vector_size(32), may_alias));
typedef double lane2 __attribute__((vector_size(16), may_alias));
#ifdef __AVX512F__
#define HAVE_LANE8 1
typedef double lane8 __attribute__((vector_size(64), may_alias));
#endif

/* Instrumented code is written once for all sizes: unrolled, it takes compilers minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define FOR_ALL_SIZES
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define FOR_ALL_SIZES
#endif
#endif

#ifdef FOR_ALL_SIZES
#define KERNEL static inline
#else
#define KERNEL static inline __attribute__((always_inline))
#endif
#define OUTLINE static __attribute__((noinline)) /* keeps its registers to itself */

/* Before a loop of at most 8 rounds, a number known to the compiler: registers have no indices. */
#if defined(FOR_ALL_SIZES)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

typedef int64_t mask4 __attribute__((vector_size(32)));

/* The same at addresses of any double. */
typedef double loose4 __attribute__((vector_size(32), may_alias, aligned(8)));
typedef double loose2 __attribute__((vector_size(16), may_alias, aligned(8)));

KERNEL lane4 choose(mask4 where, lane4 a, lane4 b) {
  return (lane4)((where & (mask4)a) | (~where & (mask4)b));
}
KERNEL mask4 lane_mask(int lane) {
  return (mask4){-(lane == 0), -(lane == 1), -(lane == 2), -(lane == 3)};
}
KERNEL lane4 magnitude(lane4 a) {
  const mask4 bits = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  return (lane4)((mask4)a & bits);
}

KERNEL lane2 magnitude2(lane2 a) {
  typedef int64_t mask2 __attribute__((vector_size(16)));
  const mask2 bits = {INT64_MAX, INT64_MAX};
  return (lane2)((mask2)a & bits);
}

/* The powers of two below |a|; 0 for what is too small to divide by. */
KERNEL lane4 powers_below(lane4 a) {
  const mask4 exponent = {INT64_C(0x7ff) << 52, INT64_C(0x7ff) << 52, INT64_C(0x7ff) << 52,
                          INT64_C(0x7ff) << 52};
  return (lane4)((mask4)a & exponent);
}

/* Rows 4 x 4 to columns. */
KERNEL void turn4(const lane4 a[4], lane4 out[4]) {
  const lane4 ab = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6);
  const lane4 AB = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7);
  const lane4 cd = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6);
  const lane4 CD = __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  out[3] = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}

/* A dense 6 x 6 block in registers: columns 0 to 3 and 4 to 5 of each row. */
typedef struct block6 {
  lane4 a[6];
  lane2 b[6];
} block6;

KERNEL block6 block6_load(const double *from) {
  block6 m;
  UNROLL
  for (int r = 0; r < 6; r++) {
    m.a[r] = *(const loose4 *)(from + 6 * r);
    m.b[r] = *(const loose2 *)(from + 6 * r + 4);
  }
  return m;
}

KERNEL block6 block6_turn(const block6 *m) {
  block6 t;
  lane4 last[4], bottom[4];
  turn4(m->a, t.a);
  const lane4 ef[4] = {m->a[4], m->a[5], m->a[4], m->a[5]};
  turn4(ef, bottom);
  UNROLL
  for (int r = 0; r < 4; r++) {
    t.b[r] = __builtin_shufflevector(bottom[r], bottom[r], 0, 1);
    last[r] = __builtin_shufflevector(m->b[r], m->b[r], 0, 1, 0, 1);
  }
  lane4 right[4];
  turn4(last, right);
  t.a[4] = right[0];
  t.a[5] = right[1];
  t.b[4] = __builtin_shufflevector(m->b[4], m->b[5], 0, 2);
  t.b[5] = __builtin_shufflevector(m->b[4], m->b[5], 1, 3);
  return t;
}

/* The whole of one whose upper triangle is given, row by row. */
KERNEL block6 block6_load_symmetric(const double *from) {
  static const int first[6] = {0, 5, 9, 12, 14, 15}; /* where column 0 of a row would be */
  block6 m;
  UNROLL
  for (int r = 0; r < 4; r++) {
    m.a[r] = *(const loose4 *)(from + first[r]); /* lanes before r are not of this row */
  }
  UNROLL
  for (int r = 0; r < 6; r++) {
    m.b[r] = *(const loose2 *)(from + first[r] + 4);
  }
  lane4 left[4], last[4], right[4];
  turn4(m.a, left);
  m.a[1] = choose((mask4){-1, 0, 0, 0}, left[1], m.a[1]);
  m.a[2] = choose((mask4){-1, -1, 0, 0}, left[2], m.a[2]);
  m.a[3] = choose((mask4){-1, -1, -1, 0}, left[3], m.a[3]);
  UNROLL
  for (int r = 0; r < 4; r++) {
    last[r] = __builtin_shufflevector(m.b[r], m.b[r], 0, 1, 0, 1);
  }
  turn4(last, right);
  m.a[4] = right[0];
  m.a[5] = right[1];
  m.b[5] = __builtin_shufflevector(m.b[4], m.b[5], 1, 3);
  return m;
}

/* What a tie or a lever of `rows` has beside zeros: `rows` times the same on a diagonal that ends
 * in the last corner, and [r] in the last three rows, the entries of which are v. */
static const int cross_row[6] = {0, 0, 1, 1, 2, 2}, cross_col[6] = {1, 2, 0, 2, 0, 1};
KERNEL void cross_entries(const double *r, double v[6]) {
  v[0] = -r[2];
  v[1] = r[1];
  v[2] = r[2];
  v[3] = -r[0];
  v[4] = -r[1];
  v[5] = r[0];
}

/* Ask for the memory of a tile that will be needed soon (sni_ldl.ahead): the processor finds
 * streams by itself, but loses them at the end of every page, and among too many others.  (Passes
 * that read U and nothing else are better left to it.)  Who goes backwards through the tiles goes
 * backwards within them too, or it sees no stream at all. */
KERNEL void fetch_tile(const sni_ldl *ldl, const sni_ldl_tile *tile) {
  for (size_t i = tile->column; i < tile[1].column; i += 8) {
    __builtin_prefetch(ldl->U + i);
  }
  for (size_t i = tile->value; i < tile[1].value; i += 8) {
    __builtin_prefetch(ldl->value + i);
  }
}
KERNEL void fetch_tile_backwards(const sni_ldl *ldl, const sni_ldl_tile *tile) {
  for (size_t i = tile[1].column; i > tile->column; i -= 8) {
    __builtin_prefetch(ldl->U + i - 8);
  }
  for (size_t i = 0; i < tile[1].value - tile->value; i += 8) {
    __builtin_prefetch(ldl->value + tile[1].value - 1 - i);
  }
}

/* One statement for each number of rows from 1 to 8, R being a constant in it. */
#ifdef FOR_ALL_SIZES
#define FOR_ROWS(rows, statement)                                                                  \
  {                                                                                                \
    const int R = rows;                                                                            \
    statement;                                                                                     \
  }
#else
#define FOR_ROWS(rows, statement)                                                                  \
  switch (rows) {                                                                                  \
    ROWS_CASE(1, statement)                                                                        \
    ROWS_CASE(2, statement)                                                                        \
    ROWS_CASE(3, statement)                                                                        \
    ROWS_CASE(4, statement)                                                                        \
    ROWS_CASE(5, statement)                                                                        \
    ROWS_CASE(6, statement)                                                                        \
    ROWS_CASE(7, statement)                                                                        \
    ROWS_CASE(8, statement)                                                                        \
  }
#define ROWS_CASE(number, statement)                                                               \
  case number: {                                                                                   \
    enum { R = number };                                                                           \
    statement;                                                                                     \
  } break;
#endif

#endif
