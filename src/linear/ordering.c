/* ordering.c: in which order to eliminate the nodes of a symmetric block matrix.
 *
 * Two orders are tried and the cheaper one by exact count is kept:
 *
 * grouped   A link goes with its first end, and a node with the one that it comes after (a joint's
 *           multiplier with its body, the joint's rate with the multiplier).  AMD orders the
 * groups, and a group is eliminated from its root up.  For a mechanism a group is a body with its
 *           joint, the graph of groups is the one of joints and springs, and all groups weigh about
 *           the same, which AMD, knowing no weights, takes for granted.
 * single    AMD on the nodes themselves, blind to the demands.  Since multipliers and rates have
 * few neighbours, this amounts to AMD on the bodies.
 *
 * Both are then swept once: a node whose turn comes too early waits, and takes its turn as soon as
 * it may.  Grouped orders hardly change by that.  In the other ones a joint's multiplier comes with
 * whichever of its bodies is eliminated first, so that of the joints around a body that is kept to
 * the end, as in a deck hung on cables, nothing is left: that saves up to half of L. */
#include "linear/ordering.h"

#include <math.h>
#include <string.h>

#include <suitesparse/amd.h>

#include "base/error.h"
#include "linear/demands.h"

static sn_status no_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "out of memory in the ordering of a linear system");
}

static int *take_ints(sni_arena *arena, size_t count) {
  return sni_arena_take(arena, count * sizeof(int));
}

static sn_status check_nodes(int n, const sni_order_demands *d, sn_error *err) {
  for (int k = 0; k < d->rule_count; k++) {
    if (d->later[k] < 0 || d->later[k] >= n || d->earlier[k] < 0 || d->earlier[k] >= n) {
      return sni_fail(err, SN_E_ARGUMENT,
                      "linear system: rule %d is on nodes %d and %d, needs 0 to %d", k, d->later[k],
                      d->earlier[k], n - 1);
    }
  }
  for (int k = 0; k < d->link_count; k++) {
    if (d->link[k] < 0 || d->link[k] >= n || d->end_a[k] < -1 || d->end_a[k] >= n ||
        d->end_b[k] < -1 || d->end_b[k] >= n) {
      return sni_fail(err, SN_E_ARGUMENT,
                      "linear system: link %d is node %d between %d and %d, needs 0 to %d", k,
                      d->link[k], d->end_a[k], d->end_b[k], n - 1);
    }
    if (d->end_a[k] == d->end_b[k]) {
      return sni_fail(err, SN_E_ARGUMENT, "linear system: link %d ties node %d to itself", k,
                      d->end_a[k]);
    }
  }
  return SN_OK;
}

/* As pairs: what a node comes after, and what a link ties. */
static void list_pairs(const sni_order_demands *d, int *later, int *earlier, int *count) {
  *count = 0;
  for (int k = 0; k < d->rule_count; k++) {
    later[*count] = d->later[k];
    earlier[(*count)++] = d->earlier[k];
  }
  for (int k = 0; k < d->link_count; k++) {
    for (int side = 0; side < 2; side++) {
      const int end = side == 0 ? d->end_a[k] : d->end_b[k];
      if (end >= 0) {
        later[*count] = d->link[k];
        earlier[(*count)++] = end;
      }
    }
  }
}

sn_status sni_order_levels(sni_arena *arena, int n, const sni_order_demands *demands, int *level,
                           sn_error *err) {
  const sn_status status = check_nodes(n, demands, err);
  if (status) {
    return status;
  }
  const size_t pairs = (size_t)demands->rule_count + 2 * (size_t)demands->link_count;
  int *later = take_ints(arena, pairs), *earlier = take_ints(arena, pairs);
  int *start = take_ints(arena, (size_t)n + 1), *next = take_ints(arena, pairs);
  int *missing = take_ints(arena, (size_t)n), *queue = take_ints(arena, (size_t)n);
  int *role = take_ints(arena, (size_t)n);
  if (!later || !earlier || !start || !next || !missing || !queue || !role) {
    return no_memory(err);
  }
  int count;
  list_pairs(demands, later, earlier, &count);
  for (int k = 0; k < count; k++) {
    start[earlier[k] + 1]++;
    missing[later[k]]++;
  }
  for (int i = 0; i < n; i++) {
    start[i + 1] += start[i];
    queue[i] = start[i];
  }
  for (int k = 0; k < count; k++) {
    next[queue[earlier[k]]++] = later[k];
  }
  int reached = 0;
  for (int i = 0; i < n; i++) {
    level[i] = 0;
    if (missing[i] == 0) {
      queue[reached++] = i;
    }
  }
  for (int at = 0; at < reached; at++) {
    const int i = queue[at];
    for (int k = start[i]; k < start[i + 1]; k++) {
      level[next[k]] = level[next[k]] > level[i] ? level[next[k]] : level[i] + 1;
      if (--missing[next[k]] == 0) {
        queue[reached++] = next[k];
      }
    }
  }
  for (int i = 0; i < n && reached < n; i++) {
    if (missing[i] > 0) {
      return sni_fail(err, SN_E_ARGUMENT,
                      "linear system: node %d has to come after itself, by way of others", i);
    }
  }
  /* once a link, and no end of a link */
  for (int k = 0; k < demands->link_count; k++) {
    if (role[demands->link[k]]++ > 0) {
      return sni_fail(err, SN_E_ARGUMENT, "linear system: node %d is a link twice",
                      demands->link[k]);
    }
  }
  for (int k = 0; k < 2 * demands->link_count; k++) {
    const int end = k % 2 == 0 ? demands->end_a[k / 2] : demands->end_b[k / 2];
    if (end >= 0 && role[end] > 0) {
      return sni_fail(err, SN_E_ARGUMENT, "linear system: link %d ties node %d, a link itself",
                      k / 2, end);
    }
  }
  return SN_OK;
}

static sn_status amd(const sni_graph *graph, int *order, sn_error *err) {
  if (graph->n == 0) {
    return SN_OK;
  }
  return amd_order(graph->n, graph->start, graph->adj, order, NULL, NULL) >= AMD_OK
             ? SN_OK
             : no_memory(err);
}

/* on[i]: the node that i goes with; -1: none.  After a rule for each of several nodes: none. */
static void attach(int n, const sni_order_demands *demands, int *on) {
  enum { NONE = -1, SEVERAL = -2 };
  for (int i = 0; i < n; i++) {
    on[i] = NONE;
  }
  for (int k = 0; k < demands->rule_count; k++) {
    int *to = &on[demands->later[k]];
    *to = *to == NONE ? demands->earlier[k] : SEVERAL;
  }
  for (int k = 0; k < demands->link_count; k++) {
    int *to = &on[demands->link[k]];
    const int end = demands->end_a[k] >= 0 ? demands->end_a[k] : demands->end_b[k];
    *to = *to == NONE ? end : SEVERAL;
  }
  for (int i = 0; i < n; i++) {
    on[i] = on[i] < 0 ? NONE : on[i];
  }
}

/* AMD on the groups; a group from its root up. */
static sn_status order_grouped(sni_arena *arena, const sni_graph *graph,
                               const sni_order_demands *demands, int *order, sn_error *err) {
  const int n = graph->n;
  int *on = take_ints(arena, (size_t)n), *level = take_ints(arena, (size_t)n);
  int *by_level = take_ints(arena, (size_t)n), *group_of = take_ints(arena, (size_t)n);
  int *slot = take_ints(arena, (size_t)n + 1), *group_order = take_ints(arena, (size_t)n);
  if (!on || !level || !by_level || !group_of || !slot || !group_order) {
    return no_memory(err);
  }
  sn_status status = sni_order_levels(arena, n, demands, level, err);
  if (status) {
    return status;
  }
  for (int i = 0; i < n; i++) {
    slot[level[i] + 1]++;
  }
  for (int l = 0; l < n; l++) {
    slot[l + 1] += slot[l];
  }
  for (int i = 0; i < n; i++) {
    by_level[slot[level[i]]++] = i;
  }
  attach(n, demands, on);
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

/* An order in which closers come last may cost so many times as much as one in which they do not.
 */
#define STRICT 4.0

static sn_status try_orders(sni_arena *arena, const sni_graph *graph, const int *size,
                            const sni_order_demands *demands, int *best, sn_error *err) {
  const int n = graph->n;
  int *raw = take_ints(arena, (size_t)n), *order = take_ints(arena, (size_t)n);
  int *kept = take_ints(arena, (size_t)n), *spare = take_ints(arena, (size_t)n);
  sni_turns *turns = sni_turns_build(arena, n, demands);
  if (!raw || !order || !kept || !spare || !turns) {
    return no_memory(err);
  }
  double best_flops = INFINITY;
  bool best_strict = false;
  /* without demands both are the same */
  const int first = demands->rule_count + demands->link_count > 0 ? 0 : 1;
  for (int kind = first; kind < 2; kind++) {
    sn_status status =
        kind == 0 ? order_grouped(arena, graph, demands, raw, err) : amd(graph, raw, err);
    for (int strict = demands->closer ? 1 : 0; strict >= 0 && !status; strict--) {
      sni_turns_take(turns, strict, raw, order);
      memcpy(kept, order, (size_t)n * sizeof(int));
      sni_elimination e;
      status = sni_eliminate(arena, graph, size, order, &e, err);
      if (!status) {
        status = sni_postorder(arena, n, e.parent, order, err);
      }
      const double worth = best_strict && !strict   ? best_flops / STRICT
                           : !best_strict && strict ? best_flops * STRICT
                                                    : best_flops;
      if (!status && e.cost.factor_flops < worth) {
        best_flops = e.cost.factor_flops;
        best_strict = strict;
        /* postordering could break a demand on nodes that are no neighbours: then without */
        const bool good = sni_turns_take(turns, strict, order, spare) == 0;
        memcpy(best, good ? order : kept, (size_t)n * sizeof(int));
      }
    }
    if (status) {
      return status;
    }
  }
  return SN_OK;
}

sn_status sni_order(const sni_graph *graph, const int *size, const sni_order_demands *demands,
                    int *order, sn_error *err) {
  sni_arena arena = {0};
  const sn_status status = try_orders(&arena, graph, size, demands, order, err);
  sni_arena_free(&arena);
  return status;
}

sn_status sni_order_check(int n, const sni_order_demands *demands, const int *order, bool *good,
                          sn_error *err) {
  sni_arena arena = {0};
  sni_turns *turns = sni_turns_build(&arena, n, demands);
  int *taken = take_ints(&arena, (size_t)n);
  const bool ok = turns && taken;
  if (ok) {
    *good = sni_turns_take(turns, false, order, taken) == 0;
  }
  sni_arena_free(&arena);
  return ok ? SN_OK : no_memory(err);
}
