/* graph.c: graphs of symmetric block matrices, and what eliminating their nodes one by one costs.
 */
#include "linear/graph.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"

static sn_status no_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "out of memory in the ordering of a linear system");
}

static int *take_ints(sni_arena *arena, size_t count) {
  return sni_arena_take(arena, count * sizeof(int));
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Rows of the transposed pattern come out sorted, so two transpositions sort any pattern.  Repeated
 * entries are dropped on the way. */
static void transpose(int n, const int *start, const int *adj, int *to_start, int *to_adj,
                      int *last) {
  memset(to_start, 0, ((size_t)n + 1) * sizeof(int));
  for (int i = 0; i < n; i++) {
    last[i] = -1;
  }
  for (int i = 0; i < n; i++) {
    for (int k = start[i]; k < start[i + 1]; k++) {
      if (last[adj[k]] != i) {
        last[adj[k]] = i;
        to_start[adj[k] + 1]++;
      }
    }
  }
  for (int i = 0; i < n; i++) {
    to_start[i + 1] += to_start[i];
    last[i] = -1;
  }
  for (int i = 0; i < n; i++) {
    for (int k = start[i]; k < start[i + 1]; k++) {
      if (last[adj[k]] != i) {
        last[adj[k]] = i;
        to_adj[to_start[adj[k]]++] = i;
      }
    }
  }
  memmove(to_start + 1, to_start, (size_t)n * sizeof(int));
  to_start[0] = 0;
}

sn_status sni_graph_build(sni_arena *arena, int n, int pair_count, const int *row, const int *col,
                          sni_graph *out, sn_error *err) {
  if (pair_count > INT_MAX / 2 || n == INT_MAX) {
    return sni_fail(err, SN_E_LIMIT, "a linear system of %d blocks is too large to order",
                    pair_count);
  }
  const size_t edge_max = 2 * (size_t)pair_count;
  int *start = take_ints(arena, (size_t)n + 1), *adj = take_ints(arena, edge_max);
  int *by_col_start = take_ints(arena, (size_t)n + 1), *by_col = take_ints(arena, edge_max);
  int *last = take_ints(arena, (size_t)n);
  if (!start || !adj || !by_col_start || !by_col || !last) {
    return no_memory(err);
  }
  for (int k = 0; k < pair_count; k++) {
    if (row[k] != col[k]) {
      start[row[k] + 1]++;
      start[col[k] + 1]++;
    }
  }
  for (int i = 0; i < n; i++) {
    start[i + 1] += start[i];
    last[i] = start[i];
  }
  for (int k = 0; k < pair_count; k++) {
    if (row[k] != col[k]) {
      adj[last[row[k]]++] = col[k];
      adj[last[col[k]]++] = row[k];
    }
  }
  transpose(n, start, adj, by_col_start, by_col, last);
  /* symmetric, so the transposed pattern is the same one, sorted */
  *out = (sni_graph){n, by_col_start, by_col};
  return SN_OK;
}

sn_status sni_graph_quotient(sni_arena *arena, const sni_graph *graph, const int *group_of,
                             int group_count, sni_graph *out, sn_error *err) {
  int *row = take_ints(arena, (size_t)graph->start[graph->n]);
  int *col = take_ints(arena, (size_t)graph->start[graph->n]);
  if (!row || !col) {
    return no_memory(err);
  }
  int count = 0;
  for (int i = 0; i < graph->n; i++) {
    for (int k = graph->start[i]; k < graph->start[i + 1]; k++) {
      if (group_of[i] > group_of[graph->adj[k]]) {
        row[count] = group_of[i];
        col[count++] = group_of[graph->adj[k]];
      }
    }
  }
  return sni_graph_build(arena, group_count, count, row, col, out, err);
}

/* ---- Elimination ----------------------------------------------------------------------------- */

void sni_order_cost_add(sni_order_cost *cost, int width, double below) {
  const double w = width, m = below;
  cost->nonzeros += w * (w + 1) / 2 + w * m;
  /* the scalar column with l entries under it: one division, l products, l (l + 1) for the rest */
  for (int c = 0; c < width; c++) {
    const double l = w - 1 - c + m;
    cost->factor_flops += 1 + l + l * (l + 1);
  }
  cost->solve_flops += 4 * (w * (w - 1) / 2 + w * m) + w;
}

sn_status sni_eliminate(sni_arena *arena, const sni_graph *graph, const int *size, const int *order,
                        sni_elimination *out, sn_error *err) {
  const int n = graph->n;
  int *parent = take_ints(arena, (size_t)n), *below = take_ints(arena, (size_t)n);
  int *blocks = take_ints(arena, (size_t)n);
  int *position = take_ints(arena, (size_t)n), *seen = take_ints(arena, (size_t)n);
  if (!parent || !below || !blocks || !position || !seen) {
    return no_memory(err);
  }
  for (int p = 0; p < n; p++) {
    position[order[p]] = p;
    parent[p] = seen[p] = -1;
  }
  /* Row p of L reaches from each earlier neighbour up the tree to p; what is passed for the first
   * time is a non-zero block, and a top without a parent becomes a child of p. */
  for (int p = 0; p < n; p++) {
    const int node = order[p];
    seen[p] = p;
    for (int k = graph->start[node]; k < graph->start[node + 1]; k++) {
      for (int c = position[graph->adj[k]]; c < p && seen[c] != p; c = parent[c]) {
        seen[c] = p;
        if (parent[c] < 0) {
          parent[c] = p;
        }
        below[c] += size[node];
        blocks[c]++;
      }
    }
  }
  *out = (sni_elimination){.parent = parent, .below = below, .blocks = blocks};
  for (int p = 0; p < n; p++) {
    sni_order_cost_add(&out->cost, size[order[p]], below[p]);
  }
  return SN_OK;
}

sn_status sni_postorder(sni_arena *arena, int n, const int *parent, int *order, sn_error *err) {
  int *first = take_ints(arena, (size_t)n), *next = take_ints(arena, (size_t)n);
  int *stack = take_ints(arena, (size_t)n), *out = take_ints(arena, (size_t)n);
  int *size = take_ints(arena, (size_t)n), *largest = take_ints(arena, (size_t)n);
  if (!first || !next || !stack || !out || !size || !largest) {
    return no_memory(err);
  }
  for (int p = 0; p < n; p++) {
    first[p] = largest[p] = -1;
  }
  for (int p = 0; p < n; p++) {
    size[p]++;
    if (parent[p] >= 0) {
      size[parent[p]] += size[p];
      int *most = &largest[parent[p]];
      *most = *most < 0 || size[p] > size[*most] ? p : *most;
    }
  }
  for (int p = n - 1; p >= 0; p--) { /* so that the lists of children ascend */
    if (parent[p] >= 0 && p != largest[parent[p]]) {
      next[p] = first[parent[p]];
      first[parent[p]] = p;
    }
  }
  for (int p = 0; p < n; p++) {
    if (largest[p] >= 0) {
      next[largest[p]] = first[p];
      first[p] = largest[p];
    }
  }
  int count = 0;
  for (int root = 0; root < n; root++) {
    if (parent[root] >= 0) {
      continue;
    }
    int depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
      const int p = stack[depth - 1];
      if (first[p] >= 0) {
        stack[depth++] = first[p];
        first[p] = next[first[p]];
      } else {
        out[count++] = order[p];
        depth--;
      }
    }
  }
  memcpy(order, out, (size_t)n * sizeof(int));
  return SN_OK;
}
