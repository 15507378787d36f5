/* block_ldl_build.c: structure of L and memory, from a plan. */
#include "linear/block_ldl_plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static sn_status no_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "out of memory in the analysis of a linear system");
}

static int *take_ints(sni_arena *arena, size_t count) {
  return sni_arena_take(arena, count * sizeof(int));
}

/* ---- Structure ------------------------------------------------------------------------------- */

/* Sizes of tiles, and where their columns are in U. */
static void lay_tiles(const sni_ldl_plan *plan, sni_ldl *ldl) {
  size_t column = 0;
  int below = 0, vector = 0;
  for (int t = 0; t < plan->tile_count; t++) {
    ldl->tile[t] = (sni_ldl_tile){.size = (uint8_t)plan->tile_size[t],
                                  .lanes = (uint8_t)plan->tile_lanes[t],
                                  .vector = vector,
                                  .below = below,
                                  .column = column};
    vector += plan->tile_lanes[t];
    below += plan->eliminate.blocks[t];
    column += sni_ldl_plan_column(plan, t);
  }
  ldl->tile[plan->tile_count] = (sni_ldl_tile){.vector = vector, .below = below, .column = column};
}

/* The blocks of L, found as in sni_eliminate: row i meets the columns between its neighbours and
 * itself in the tree.  Rows come in ascending order, so columns fill in ascending order. */
static void find_blocks(const sni_ldl_plan *plan, sni_ldl *ldl, int *next, int *seen) {
  const sni_graph *graph = &plan->tiles;
  for (int t = 0; t < plan->tile_count; t++) {
    next[t] = ldl->tile[t].below;
    seen[t] = -1;
  }
  for (int i = 0; i < plan->tile_count; i++) {
    seen[i] = i;
    for (int k = graph->start[i]; k < graph->start[i + 1]; k++) {
      for (int c = graph->adj[k]; c < i && seen[c] != i; c = plan->eliminate.parent[c]) {
        seen[c] = i;
        ldl->below[next[c]++].tile = i;
      }
    }
  }
}

/* Places of the blocks in their columns: those of 8 lanes first, so that all of them start at a
 * multiple of 8 scalars. */
static void place_blocks(sni_ldl *ldl) {
  for (int t = 0; t < ldl->tile_count; t++) {
    sni_ldl_tile *tile = &ldl->tile[t];
    uint32_t at = 0;
    for (int lanes = 8; lanes >= 4; lanes -= 4) {
      const uint32_t count = (uint32_t)(tile->size * lanes);
      if (tile->lanes == lanes) {
        tile->diagonal = at;
        at += count;
      }
      for (int q = tile->below; q < tile[1].below; q++) {
        if (ldl->tile[ldl->below[q].tile].lanes == lanes) {
          ldl->below[q].at = at;
          at += count;
        }
      }
    }
  }
}

/* The blocks by rows. */
static void list_rows(sni_ldl *ldl, int *next) {
  memset(next, 0, ((size_t)ldl->tile_count + 1) * sizeof(int));
  for (int q = 0; q < ldl->tile[ldl->tile_count].below; q++) {
    next[ldl->below[q].tile + 1]++;
  }
  for (int t = 0; t < ldl->tile_count; t++) {
    ldl->tile[t].before = next[t];
    next[t + 1] += next[t];
  }
  ldl->tile[ldl->tile_count].before = next[ldl->tile_count];
  for (int t = 0; t < ldl->tile_count; t++) {
    for (int q = ldl->tile[t].below; q < ldl->tile[t + 1].below; q++) {
      ldl->before[next[ldl->below[q].tile]++] = (sni_ldl_before){t, q};
    }
  }
}

static int sign_of(const sni_ldl_pattern *pattern, int node) {
  return pattern->sign ? pattern->sign[node] : 1;
}

/* Where the first scalar of a node is in vectors by tiles. */
static int vector_of(const sni_ldl_plan *plan, const sni_ldl *ldl, int node) {
  return ldl->tile[plan->tile_of[node]].vector + plan->place[node];
}

static void place_scalars(const sni_ldl_pattern *pattern, const sni_ldl_plan *plan, sni_ldl *ldl) {
  int row = 0;
  memset(ldl->scalar_of, -1, (size_t)ldl->vector_count * sizeof *ldl->scalar_of);
  for (int i = 0; i < pattern->n; i++) {
    ldl->node_row[i] = row;
    if (sign_of(pattern, i) < 0) {
      const unsigned bits = ((1u << pattern->size[i]) - 1) << plan->place[i];
      ldl->tile[plan->tile_of[i]].negative |= (uint8_t)bits;
    }
    for (int c = 0; c < pattern->size[i]; c++) {
      const int at = vector_of(plan, ldl, i) + c;
      ldl->scalar_of[at] = row;
      ldl->scalar_at[row++] = at;
    }
  }
  ldl->node_row[pattern->n] = row;
}

/* Where the block (t, i) of U starts in column t. */
static uint32_t find_block(const sni_ldl *ldl, int t, int i) {
  if (t == i) {
    return ldl->tile[t].diagonal;
  }
  int lo = ldl->tile[t].below, hi = ldl->tile[t + 1].below - 1;
  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;
    if (ldl->below[mid].tile < i) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return ldl->below[lo].at;
}

static sni_ldl_input make_input(const sni_ldl_pattern *pattern, const sni_ldl_plan *plan,
                                const sni_ldl *ldl, int k) {
  const int row = pattern->row[k], col = pattern->col[k];
  const int a = plan->tile_of[row], b = plan->tile_of[col];
  const bool transposed = a > b;
  const int t = transposed ? b : a, i = transposed ? a : b;
  const int lanes = ldl->tile[i].lanes;
  const int first = plan->place[transposed ? col : row],
            second = plan->place[transposed ? row : col];
  const uint32_t block = find_block(ldl, t, i);
  const bool tells = sign_of(pattern, row) != sign_of(pattern, col);
  return (sni_ldl_input){.row = vector_of(plan, ldl, row),
                         .col = vector_of(plan, ldl, col),
                         .to = block + (uint32_t)(first * lanes + second),
                         .mirror =
                             a == b && row != col ? block + (uint32_t)(second * lanes + first) : 0,
                         .rows = (uint8_t)pattern->size[row],
                         .cols = (uint8_t)pattern->size[col],
                         .kind = (uint8_t)sni_ldl_plan_kind(pattern, k),
                         .lanes = (uint8_t)lanes,
                         .transposed = transposed,
                         .row_told = tells && plan->level[row] > plan->level[col],
                         .col_told = tells && plan->level[col] > plan->level[row]};
}

/* The blocks, ascending in the higher level of their two nodes. */
static void sort_by_level(const sni_ldl_pattern *pattern, const sni_ldl_plan *plan, int *by_level,
                          int *next) {
  memset(next, 0, ((size_t)pattern->n + 1) * sizeof(int));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < pattern->block_count; k++) {
      const int a = plan->level[pattern->row[k]], b = plan->level[pattern->col[k]];
      const int level = a > b ? a : b;
      if (pass == 0) {
        next[level + 1]++;
      } else {
        by_level[next[level]++] = k;
      }
    }
    for (int level = 0; pass == 0 && level < pattern->n; level++) {
      next[level + 1] += next[level];
    }
  }
}

/* Inputs sorted by the column that they go to, and in it by level: when the size of a node is used,
 * it is known.  Values in the same order. */
static void list_inputs(const sni_ldl_pattern *pattern, const sni_ldl_plan *plan, sni_ldl *ldl,
                        const int *by_level, int *input_of, size_t *value_of, int *next) {
  memset(next, 0, ((size_t)plan->tile_count + 1) * sizeof(int));
  for (int k = 0; k < pattern->block_count; k++) {
    const int a = plan->tile_of[pattern->row[k]], b = plan->tile_of[pattern->col[k]];
    next[(a < b ? a : b) + 1]++;
  }
  for (int t = 0; t < plan->tile_count; t++) {
    ldl->tile[t].input = next[t];
    next[t + 1] += next[t];
  }
  ldl->tile[plan->tile_count].input = next[plan->tile_count];
  for (int at = 0; at < pattern->block_count; at++) {
    const int k = by_level[at];
    const int a = plan->tile_of[pattern->row[k]], b = plan->tile_of[pattern->col[k]];
    input_of[k] = next[a < b ? a : b]++;
    ldl->input[input_of[k]] = make_input(pattern, plan, ldl, k);
  }
  size_t value = 0;
  for (int t = 0; t < plan->tile_count; t++) {
    ldl->tile[t].value = value;
    for (int in = ldl->tile[t].input; in < ldl->tile[t + 1].input; in++) {
      value_of[in] = value;
      value += (size_t)sni_ldl_input_values(&ldl->input[in]);
    }
  }
  ldl->tile[plan->tile_count].value = value;
  for (int k = 0; k < pattern->block_count; k++) {
    ldl->block_at[k] = value_of[input_of[k]];
  }
}

/* How far on the inputs of each column, and of those before it, reach. */
static void find_reach(const sni_ldl_pattern *pattern, const sni_ldl_plan *plan, sni_ldl *ldl) {
  for (int t = 0; t < plan->tile_count; t++) {
    ldl->reach[t] = t;
  }
  for (int k = 0; k < pattern->block_count; k++) {
    const int a = plan->tile_of[pattern->row[k]], b = plan->tile_of[pattern->col[k]];
    int *reach = &ldl->reach[a < b ? a : b];
    *reach = *reach > a ? *reach : a;
    *reach = *reach > b ? *reach : b;
  }
  for (int t = 1; t < plan->tile_count; t++) {
    ldl->reach[t] = ldl->reach[t] > ldl->reach[t - 1] ? ldl->reach[t] : ldl->reach[t - 1];
  }
}

/* Large systems: room for the places of r and z that are at work together, twice, so that what is
 * moved to make room is no more than what has passed.  None where these are many. */
static bool find_room(sni_ldl *ldl) {
  enum { LEAST = 2048, MOST = 4096 };
  int room = LEAST;
  for (int t = 0; t < ldl->tile_count; t++) {
    const int live = ldl->tile[ldl->reach[t] + 1].vector - ldl->tile[t].vector;
    room = room > 2 * live ? room : 2 * live;
  }
  ldl->room = ldl->ahead > 0 && room <= MOST && room < ldl->vector_count ? room : 0;
  ldl->passage = sni_arena_take(&ldl->arena, 2 * (size_t)ldl->room * sizeof(double));
  return ldl->passage;
}

/* ---- Build ----------------------------------------------------------------------------------- */

sni_ldl_options sni_ldl_options_default(void) {
  return (sni_ldl_options){.noise = 0x1p-40,
                           .noise_wrong = 0x1p-20,
                           .noise_traced = 0x1p-46,
                           .substitute = 0x1p-27,
                           .target = 1e-12,
                           .trust = 1e-6,
                           .refine_max = 10,
                           .bytes_max = SIZE_MAX};
}

/* So many that about FETCHED bytes of U and A are on their way: more would push out of the nearest
 * cache what is at work there. */
static int tiles_ahead(const sni_ldl_plan *plan, size_t bytes) {
  enum { NEAR_CACHE = 1 << 20, FETCHED = 5000 };
  if (bytes <= NEAR_CACHE || plan->tile_count == 0) {
    return 0;
  }
  const size_t a_tile =
      (plan->U_count + plan->value_count) * sizeof(double) / (size_t)plan->tile_count;
  return a_tile < FETCHED ? (int)(FETCHED / (a_tile + 1)) : 1;
}

static bool take_memory(const sni_ldl_pattern *pattern, const sni_ldl_plan *plan, sni_ldl *ldl) {
  sni_arena *a = &ldl->arena;
  const size_t tiles = (size_t)plan->tile_count, below = (size_t)plan->below_count;
  const size_t blocks = (size_t)pattern->block_count, scalars = (size_t)plan->scalar_count;
  ldl->ahead = tiles_ahead(plan, ldl->counts.bytes);
  ldl->node_count = pattern->n;
  ldl->tile_count = plan->tile_count;
  ldl->block_count = pattern->block_count;
  ldl->scalar_count = plan->scalar_count;
  ldl->vector_count = plan->vector_count;
  ldl->U_count = plan->U_count;
  if (!sni_arena_reserve(a, ldl->counts.bytes + 32 * 64)) { /* and what rounding pieces adds */
    return false;
  }
  ldl->tile = sni_arena_take(a, (tiles + 1) * sizeof *ldl->tile);
  ldl->below = sni_arena_take(a, below * sizeof *ldl->below);
  ldl->before = sni_arena_take(a, below * sizeof *ldl->before);
  ldl->input = sni_arena_take(a, blocks * sizeof *ldl->input);
  ldl->reach = sni_arena_take(a, tiles * sizeof *ldl->reach);
  ldl->block_at = sni_arena_take(a, blocks * sizeof *ldl->block_at);
  ldl->node_row = sni_arena_take(a, ((size_t)pattern->n + 1) * sizeof *ldl->node_row);
  ldl->scalar_at = sni_arena_take(a, scalars * sizeof *ldl->scalar_at);
  ldl->scalar_of = sni_arena_take(a, (size_t)plan->vector_count * sizeof *ldl->scalar_of);
  ldl->noise = sni_arena_take(a, scalars * sizeof *ldl->noise);
  ldl->weak = sni_arena_take(a, scalars * sizeof *ldl->weak);
  ldl->weak_part = sni_arena_take(a, scalars * sizeof *ldl->weak_part);
  ldl->place = sni_arena_take(a, tiles * sizeof *ldl->place);
  ldl->value = sni_arena_take(a, plan->value_count * sizeof(double));
  ldl->U = sni_arena_take(a, plan->U_count * sizeof(double));
  bool ok = ldl->tile && ldl->below && ldl->before && ldl->input && ldl->reach && ldl->block_at &&
            ldl->node_row && ldl->scalar_at && ldl->scalar_of && ldl->noise && ldl->weak &&
            ldl->weak_part && ldl->place && ldl->value && ldl->U;
  double **const vector[] = {&ldl->unit, &ldl->D,      &ldl->b, &ldl->y,
                             &ldl->x,    &ldl->x_next, &ldl->r, &ldl->z};
  for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) {
    *vector[k] = sni_arena_take(a, (size_t)plan->vector_count * sizeof(double));
    ok = ok && *vector[k];
  }
  return ok;
}

static sn_status build(const sni_ldl_pattern *pattern, sni_ldl_plan *plan, sni_ldl *ldl,
                       sn_error *err) {
  sn_status status = sni_ldl_plan_make(pattern, plan, &ldl->counts, err);
  if (status) {
    return status;
  }
  if (ldl->counts.bytes > ldl->options.bytes_max) {
    return sni_fail(err, SN_E_LIMIT, "linear system: its factor needs %zu bytes, at most %zu",
                    ldl->counts.bytes, ldl->options.bytes_max);
  }
  int *next = take_ints(&plan->arena, (size_t)pattern->n + 1); /* at least as many as tiles */
  int *seen = take_ints(&plan->arena, (size_t)plan->tile_count);
  int *by_level = take_ints(&plan->arena, (size_t)pattern->block_count);
  int *input_of = take_ints(&plan->arena, (size_t)pattern->block_count);
  size_t *value_of = sni_arena_take(&plan->arena, (size_t)pattern->block_count * sizeof(size_t));
  if (!next || !seen || !by_level || !input_of || !value_of || !take_memory(pattern, plan, ldl)) {
    return no_memory(err);
  }
  lay_tiles(plan, ldl);
  find_blocks(plan, ldl, next, seen);
  place_blocks(ldl);
  list_rows(ldl, next);
  place_scalars(pattern, plan, ldl);
  sort_by_level(pattern, plan, by_level, next);
  list_inputs(pattern, plan, ldl, by_level, input_of, value_of, next);
  find_reach(pattern, plan, ldl);
  return find_room(ldl) ? SN_OK : no_memory(err);
}

sn_status sni_ldl_build(const sni_ldl_pattern *pattern, const sni_ldl_options *options,
                        sni_ldl **out, sn_error *err) {
  sni_ldl *ldl = calloc(1, sizeof *ldl);
  if (!ldl) {
    return no_memory(err);
  }
  ldl->options = options ? *options : sni_ldl_options_default();
  sni_ldl_plan plan = {0};
  const sn_status status = build(pattern, &plan, ldl, err);
  sni_arena_free(&plan.arena);
  if (status) {
    sni_ldl_free(&ldl);
    return status;
  }
  *out = ldl;
  return SN_OK;
}

void sni_ldl_free(sni_ldl **ldl) {
  if (*ldl) {
    sni_arena_free(&(*ldl)->arena);
    free(*ldl);
    *ldl = NULL;
  }
}

sni_ldl_counts sni_ldl_get_counts(const sni_ldl *ldl) {
  return ldl->counts;
}

double *sni_ldl_block(sni_ldl *ldl, int k) {
  return ldl->value + ldl->block_at[k];
}

void sni_ldl_expect(const sni_ldl *ldl, int k, int count) {
  const double *from = ldl->value + ldl->block_at[k];
  for (int i = 0; i < count; i += 8) {
    __builtin_prefetch(from + i, 1);
  }
}
