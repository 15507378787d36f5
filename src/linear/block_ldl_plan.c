/* block_ldl_plan.c: order, tiles and counts: what follows from the pattern, once.
 *
 * Small columns waste vectors and pay for their handling, so neighbours in the order are merged
 * into tiles of up to 8 scalars: a node joins the tile before it if it is the parent in the
 * elimination tree and the columns below are the same (a joint's multiplier and its rate become one
 * tile of 7), or nearly the same, at the price of some zeros stored and multiplied. */
#include "linear/block_ldl_plan.h"

#include <limits.h>
#include <stdint.h>

#include "base/error.h"

#define SCALARS_MAX (1 << 25) /* so that places within a column are below 2^32 */

static sn_status no_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "out of memory in the analysis of a linear system");
}

static int *take_ints(sni_arena *arena, size_t count) {
  return sni_arena_take(arena, count * sizeof(int));
}

/* May a block of this size be of this kind? */
static bool fits(int kind, int rows, int cols, bool diagonal) {
  switch (kind) {
  case SNI_LDL_DENSE:
    return true;
  case SNI_LDL_SYMMETRIC:
    return diagonal && rows == 6;
  case SNI_LDL_DIAGONAL:
    return diagonal;
  case SNI_LDL_TIE:
  case SNI_LDL_LEVER: /* never in the tile of its own column, then: TILE_MAX */
    return !diagonal && (rows == 3 || rows == 6) && cols == 6;
  default:
    return false;
  }
}

int sni_ldl_plan_kind(const sni_ldl_pattern *pattern, int k) {
  return pattern->kind ? pattern->kind[k] : SNI_LDL_DENSE;
}

static sn_status check(const sni_ldl_pattern *p, int *scalar_count, size_t *value_count,
                       sn_error *err) {
  if (p->n < 0 || p->block_count < 0) {
    return sni_fail(err, SN_E_ARGUMENT, "linear system: %d nodes and %d blocks, needs >= 0", p->n,
                    p->block_count);
  }
  int64_t scalars = 0;
  for (int i = 0; i < p->n; i++) {
    const int size = p->size[i];
    if (size < 1 || size > SNI_LDL_SIZE_MAX) {
      return sni_fail(err, SN_E_ARGUMENT, "linear system: node %d has size %d, needs 1 to %d", i,
                      size, SNI_LDL_SIZE_MAX);
    }
    if (p->sign && p->sign[i] != 1 && p->sign[i] != -1) {
      return sni_fail(err, SN_E_ARGUMENT, "linear system: node %d has sign %d, needs 1 or -1", i,
                      p->sign[i]);
    }
    scalars += size;
  }
  size_t values = 0;
  for (int k = 0; k < p->block_count; k++) {
    if (p->row[k] < 0 || p->row[k] >= p->n || p->col[k] < 0 || p->col[k] >= p->n) {
      return sni_fail(err, SN_E_ARGUMENT,
                      "linear system: block %d is at (%d, %d), needs nodes 0 to %d", k, p->row[k],
                      p->col[k], p->n - 1);
    }
    const int kind = sni_ldl_plan_kind(p, k), rows = p->size[p->row[k]], cols = p->size[p->col[k]];
    if (!fits(kind, rows, cols, p->row[k] == p->col[k])) {
      return sni_fail(err, SN_E_ARGUMENT, "linear system: block %d, %d x %d, cannot be of kind %d",
                      k, rows, cols, kind);
    }
    values += (size_t)sni_ldl_values(kind, rows, cols);
  }
  if (scalars > SCALARS_MAX) {
    return sni_fail(err, SN_E_LIMIT, "linear system: %lld rows, at most %d", (long long)scalars,
                    SCALARS_MAX);
  }
  *scalar_count = (int)scalars;
  *value_count = values;
  return SN_OK;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* About what a column of `width` scalars with `below` under it takes, in cycles of a processor with
 * vectors of 8: good for comparing.  Pivots wait for each other; the rest is in blocks of 8. */
static double column_time(int width, int below) {
  const int whole = (below + TILE_MAX - 1) / TILE_MAX;
  const double blocks = whole;
  return 60 + 25 * width + blocks * 30 + blocks * (blocks + 1) / 2 * (20 + 4 * width);
}

/* May the node at position p join the tile of `width` scalars that ends at p - 1? */
static bool joins(const sni_elimination *e, int p, int width, int size) {
  return width + size <= TILE_MAX && e->parent[p - 1] == p &&
         column_time(width + size, e->below[p]) <
             column_time(width, e->below[p - 1]) + column_time(size, e->below[p]);
}

static sn_status make_tiles(const sni_ldl_pattern *pattern, sni_ldl_plan *plan, sn_error *err) {
  const int n = pattern->n;
  const int *size = pattern->size;
  plan->tile_of = take_ints(&plan->arena, (size_t)n);
  plan->place = take_ints(&plan->arena, (size_t)n);
  plan->tile_size = take_ints(&plan->arena, (size_t)n);
  plan->tile_lanes = take_ints(&plan->arena, (size_t)n);
  plan->identity = take_ints(&plan->arena, (size_t)n);
  if (!plan->tile_of || !plan->place || !plan->tile_size || !plan->tile_lanes || !plan->identity) {
    return no_memory(err);
  }
  sni_elimination e;
  sn_status status = sni_eliminate(&plan->arena, &plan->nodes, size, plan->order, &e, err);
  if (status) {
    return status;
  }
  int tile = -1;
  for (int p = 0; p < n; p++) {
    const int node = plan->order[p];
    if (p == 0 || !joins(&e, p, plan->tile_size[tile], size[node])) {
      tile++;
    }
    plan->tile_of[node] = tile;
    plan->place[node] = plan->tile_size[tile];
    plan->tile_size[tile] += size[node];
  }
  plan->tile_count = tile + 1;
  for (int t = 0; t < plan->tile_count; t++) {
    plan->identity[t] = t;
    plan->tile_lanes[t] = plan->tile_size[t] <= 4 ? 4 : 8;
    plan->vector_count += plan->tile_lanes[t];
  }
  status = sni_graph_quotient(&plan->arena, &plan->nodes, plan->tile_of, plan->tile_count,
                              &plan->tiles, err);
  if (!status) {
    status = sni_eliminate(&plan->arena, &plan->tiles, plan->tile_size, plan->identity,
                           &plan->eliminate, err);
  }
  if (!status) {
    status = sni_eliminate(&plan->arena, &plan->tiles, plan->tile_lanes, plan->identity,
                           &plan->lanes, err);
  }
  return status;
}

/* The scalars that column t has in U. */
size_t sni_ldl_plan_column(const sni_ldl_plan *plan, int t) {
  const size_t rows = (size_t)plan->tile_size[t];
  const size_t lanes = (size_t)plan->tile_lanes[t] + (size_t)plan->lanes.below[t];
  return (rows * lanes + TILE_MAX - 1) / TILE_MAX * TILE_MAX;
}

sn_status sni_ldl_plan_make(const sni_ldl_pattern *pattern, sni_ldl_plan *plan,
                            sni_ldl_counts *counts, sn_error *err) {
  sn_status status = check(pattern, &plan->scalar_count, &plan->value_count, err);
  if (status) {
    return status;
  }
  plan->order = take_ints(&plan->arena, (size_t)pattern->n);
  plan->level = take_ints(&plan->arena, (size_t)pattern->n);
  if (!plan->order || !plan->level) {
    return no_memory(err);
  }
  status = sni_graph_build(&plan->arena, pattern->n, pattern->block_count, pattern->row,
                           pattern->col, &plan->nodes, err);
  if (!status) {
    status = sni_order_levels(&plan->arena, pattern->n, &pattern->demands, plan->level, err);
  }
  if (!status) {
    status = sni_order(&plan->nodes, pattern->size, &pattern->demands, plan->order, err);
  }
  if (!status) {
    status = make_tiles(pattern, plan, err);
  }
  if (status) {
    return status;
  }
  int64_t below_count = 0;
  double updates = 0;
  for (int t = 0; t < plan->tile_count; t++) {
    const double blocks = plan->eliminate.blocks[t];
    below_count += plan->eliminate.blocks[t];
    updates += blocks * (blocks + 1) / 2;
    plan->U_count += sni_ldl_plan_column(plan, t);
  }
  if (below_count > INT_MAX) {
    return sni_fail(err, SN_E_LIMIT, "linear system: %lld blocks in its factor, at most %d",
                    (long long)below_count, INT_MAX);
  }
  plan->below_count = (int)below_count;
  const size_t tiles = (size_t)plan->tile_count, below = (size_t)below_count;
  const size_t blocks = (size_t)pattern->block_count, scalars = (size_t)plan->scalar_count;
  *counts = (sni_ldl_counts){
      .cost = plan->eliminate.cost,
      .updates = updates,
      .tiles = plan->tile_count,
      .scalars = plan->scalar_count,
      .bytes =
          (plan->U_count + plan->value_count + 8 * (size_t)plan->vector_count) * sizeof(double) +
          tiles * (sizeof(sni_ldl_tile) + sizeof(uint32_t) + sizeof(int)) +
          below * (sizeof(sni_ldl_below) + sizeof(sni_ldl_before)) +
          blocks * (sizeof(sni_ldl_input) + sizeof(size_t)) +
          ((size_t)pattern->n + 2 * scalars + (size_t)plan->vector_count) * sizeof(int)};
  return SN_OK;
}

sn_status sni_ldl_count(const sni_ldl_pattern *pattern, sni_ldl_counts *out, sn_error *err) {
  sni_ldl_plan plan = {0};
  const sn_status status = sni_ldl_plan_make(pattern, &plan, out, err);
  sni_arena_free(&plan.arena);
  return status;
}
