/* ordering.c: in which order to eliminate the nodes of a symmetric block matrix.
 *
 * Two orders are tried and the cheaper one by exact count is kept:
 *
 * grouped   A node that comes after one other hangs on it (a joint's multiplier on the body, the
 *           joint's rate on the multiplier).  AMD orders the groups, and a group is eliminated from
 *           its root up.  For a mechanism a group is a body with its joint, the graph of groups is
 *           the one of joints and springs, and all groups weigh about the same, which AMD, knowing
 *           no weights, takes for granted.
 * single    AMD on the nodes themselves, which sees finer structure and is blind to the rules.
 *
 * Both are then swept once: a node whose turn comes too early waits, and takes its turn right after
 * the last of those that it has to follow.  Waiting costs fill, and the count knows.  Postordering
 * the elimination tree changes neither the fill nor the order of two nodes joined by a path of
 * nodes eliminated before the later one; should a rule hold between others and be broken by it, the
 * order is left as it was. */
#include "linear/ordering.h"

#include <limits.h>
#include <string.h>

#include <suitesparse/amd.h>

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

/* order <- order in postorder of its tree: children right before their parents. */
static sn_status postorder(sni_arena *arena, int n, const int *parent, int *order, sn_error *err) {
  int *first = take_ints(arena, (size_t)n), *next = take_ints(arena, (size_t)n);
  int *stack = take_ints(arena, (size_t)n), *out = take_ints(arena, (size_t)n);
  if (!first || !next || !stack || !out) {
    return no_memory(err);
  }
  for (int p = 0; p < n; p++) {
    first[p] = -1;
  }
  for (int p = n - 1; p >= 0; p--) { /* so that the lists of children ascend */
    if (parent[p] >= 0) {
      next[p] = first[parent[p]];
      first[parent[p]] = p;
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

/* ---- Orders ---------------------------------------------------------------------------------- */

static sn_status amd(const sni_graph *graph, int *order, sn_error *err) {
  if (graph->n == 0) {
    return SN_OK;
  }
  return amd_order(graph->n, graph->start, graph->adj, order, NULL, NULL) >= AMD_OK
             ? SN_OK
             : no_memory(err);
}

/* The rules by node: those that come after node i are next[start[i]] .. next[start[i+1]-1]; count:
 * how many node i comes after. */
typedef struct rule_lists {
  int *start, *next, *count;
} rule_lists;

static sn_status list_rules(sni_arena *arena, int n, const sni_order_rules *rules, rule_lists *out,
                            sn_error *err) {
  int *start = take_ints(arena, (size_t)n + 1), *next = take_ints(arena, (size_t)rules->count);
  int *count = take_ints(arena, (size_t)n), *at = take_ints(arena, (size_t)n);
  if (!start || !next || !count || !at) {
    return no_memory(err);
  }
  for (int k = 0; k < rules->count; k++) {
    start[rules->earlier[k] + 1]++;
    count[rules->later[k]]++;
  }
  for (int i = 0; i < n; i++) {
    start[i + 1] += start[i];
    at[i] = start[i];
  }
  for (int k = 0; k < rules->count; k++) {
    next[at[rules->earlier[k]]++] = rules->later[k];
  }
  *out = (rule_lists){start, next, count};
  return SN_OK;
}

sn_status sni_order_levels(sni_arena *arena, int n, const sni_order_rules *rules, int *level,
                           sn_error *err) {
  rule_lists lists;
  const sn_status status = list_rules(arena, n, rules, &lists, err);
  if (status) {
    return status;
  }
  int *queue = take_ints(arena, (size_t)n);
  if (!queue) {
    return no_memory(err);
  }
  int count = 0;
  for (int i = 0; i < n; i++) {
    level[i] = 0;
    if (lists.count[i] == 0) {
      queue[count++] = i;
    }
  }
  for (int at = 0; at < count; at++) {
    const int i = queue[at];
    for (int k = lists.start[i]; k < lists.start[i + 1]; k++) {
      const int j = lists.next[k];
      level[j] = level[j] > level[i] ? level[j] : level[i] + 1;
      if (--lists.count[j] == 0) {
        queue[count++] = j;
      }
    }
  }
  for (int i = 0; i < n && count < n; i++) {
    if (lists.count[i] > 0) {
      return sni_fail(err, SN_E_ARGUMENT,
                      "linear system: node %d has to come after itself, by way of others", i);
    }
  }
  return SN_OK;
}

/* AMD on the groups; a group from its root up. */
static sn_status order_grouped(sni_arena *arena, const sni_graph *graph,
                               const sni_order_rules *rules, int *order, sn_error *err) {
  const int n = graph->n;
  int *on = take_ints(arena, (size_t)n), *level = take_ints(arena, (size_t)n);
  int *by_level = take_ints(arena, (size_t)n), *group_of = take_ints(arena, (size_t)n);
  int *slot = take_ints(arena, (size_t)n + 1), *group_order = take_ints(arena, (size_t)n);
  if (!on || !level || !by_level || !group_of || !slot || !group_order) {
    return no_memory(err);
  }
  sn_status status = sni_order_levels(arena, n, rules, level, err);
  if (status) {
    return status;
  }
  /* on[i]: the node that i hangs on; -1 for none, -2 for more than one */
  for (int i = 0; i < n; i++) {
    on[i] = -1;
    slot[level[i] + 1]++;
  }
  for (int k = 0; k < rules->count; k++) {
    on[rules->later[k]] = on[rules->later[k]] == -1 ? rules->earlier[k] : -2;
  }
  for (int l = 0; l < n; l++) {
    slot[l + 1] += slot[l];
  }
  for (int i = 0; i < n; i++) {
    by_level[slot[level[i]]++] = i;
  }
  int group_count = 0;
  for (int k = 0; k < n; k++) {
    const int i = by_level[k];
    group_of[i] = on[i] < 0 ? group_count++ : group_of[on[i]];
  }
  sni_graph groups;
  status = sni_graph_quotient(arena, graph, group_of, group_count, &groups, err);
  if (!status) {
    status = amd(&groups, group_order, err);
  }
  if (status) {
    return status;
  }
  /* slot[g]: where the next node of group g goes */
  memset(slot, 0, ((size_t)n + 1) * sizeof(int));
  for (int i = 0; i < n; i++) {
    slot[group_of[i]]++;
  }
  for (int k = 0, at = 0; k < group_count; k++) {
    const int count = slot[group_order[k]];
    slot[group_order[k]] = at;
    at += count;
  }
  for (int k = 0; k < n; k++) {
    order[slot[group_of[by_level[k]]]++] = by_level[k];
  }
  return SN_OK;
}

/* Nodes whose turn comes too early wait. */
static void delay(int n, const rule_lists *lists, const int *from, int *order, int *missing,
                  bool *waiting, int *stack) {
  memcpy(missing, lists->count, (size_t)n * sizeof(int));
  memset(waiting, 0, (size_t)n * sizeof(bool));
  int count = 0;
  for (int p = 0; p < n; p++) {
    if (missing[from[p]] > 0) {
      waiting[from[p]] = true;
      continue;
    }
    int depth = 0;
    stack[depth++] = from[p];
    while (depth > 0) {
      const int i = stack[--depth];
      order[count++] = i;
      for (int k = lists->start[i]; k < lists->start[i + 1]; k++) {
        const int j = lists->next[k];
        if (--missing[j] == 0 && waiting[j]) {
          stack[depth++] = j;
        }
      }
    }
  }
}

static bool obeys(int n, const sni_order_rules *rules, const int *order, int *position) {
  for (int p = 0; p < n; p++) {
    position[order[p]] = p;
  }
  for (int k = 0; k < rules->count; k++) {
    if (position[rules->later[k]] < position[rules->earlier[k]]) {
      return false;
    }
  }
  return true;
}

static sn_status try_orders(sni_arena *arena, const sni_graph *graph, const int *size,
                            const sni_order_rules *rules, int *best, sn_error *err) {
  const int n = graph->n;
  int *raw = take_ints(arena, (size_t)n), *order = take_ints(arena, (size_t)n);
  int *kept = take_ints(arena, (size_t)n), *missing = take_ints(arena, (size_t)n);
  int *stack = take_ints(arena, (size_t)n);
  bool *waiting = sni_arena_take(arena, (size_t)n * sizeof(bool));
  if (!raw || !order || !kept || !missing || !stack || !waiting) {
    return no_memory(err);
  }
  rule_lists lists;
  sn_status status = list_rules(arena, n, rules, &lists, err);
  double best_flops = 0;
  const int first = rules->count > 0 ? 0 : 1; /* without rules both are the same */
  for (int kind = first; kind < 2 && !status; kind++) {
    status = kind == 0 ? order_grouped(arena, graph, rules, raw, err) : amd(graph, raw, err);
    if (status) {
      break;
    }
    delay(n, &lists, raw, order, missing, waiting, stack);
    memcpy(kept, order, (size_t)n * sizeof(int));
    sni_elimination e;
    status = sni_eliminate(arena, graph, size, order, &e, err);
    if (!status) {
      status = postorder(arena, n, e.parent, order, err);
    }
    if (!status && (kind == first || e.cost.factor_flops < best_flops)) {
      best_flops = e.cost.factor_flops;
      memcpy(best, obeys(n, rules, order, stack) ? order : kept, (size_t)n * sizeof(int));
    }
  }
  return status;
}

sn_status sni_order(const sni_graph *graph, const int *size, const sni_order_rules *rules,
                    int *order, sn_error *err) {
  sni_arena arena = {0};
  const sn_status status = try_orders(&arena, graph, size, rules, order, err);
  sni_arena_free(&arena);
  return status;
}
