/* graph.h: graphs of symmetric block matrices, and what eliminating their nodes one by one costs.
 */
#ifndef SNI_GRAPH_H
#define SNI_GRAPH_H

#include "base/arena.h"
#include "sinew/types.h"

/* Neighbours of node i: adj[start[i]] .. adj[start[i+1]-1], ascending, each edge seen from both
 * ends, without i itself. */
typedef struct sni_graph {
  int n;
  int *start; /* n + 1        */
  int *adj;   /* start[n]     */
} sni_graph;

/* The graph of the pairs (row[k], col[k]); pairs may repeat, stand in either order, or be loops,
 * which are dropped.  Indices must be in 0 .. n-1.  SN_E_MEMORY, SN_E_LIMIT. */
sn_status sni_graph_build(sni_arena *arena, int n, int pair_count, const int *row, const int *col,
                          sni_graph *out, sn_error *err);

/* The graph of groups: group_of[i] in 0 .. group_count-1. */
sn_status sni_graph_quotient(sni_arena *arena, const sni_graph *graph, const int *group_of,
                             int group_count, sni_graph *out, sn_error *err);

/* What an order costs in a factorisation L D L^T and in one solve: exact counts of the non-zeros of
 * L (with the diagonal) and of additions and multiplications. */
typedef struct sni_order_cost {
  double nonzeros, factor_flops, solve_flops;
} sni_order_cost;

/* The elimination tree of an order, in positions: order[p] is the node eliminated as p-th. */
typedef struct sni_elimination {
  int *parent; /* n  position; -1: root                                     */
  int *below;  /* n  scalars of the column below its own diagonal block     */
  int *blocks; /* n  the same in blocks                                     */
  sni_order_cost cost;
} sni_elimination;

/* Adds to cost what a column of `width` scalars with `below` scalars under it adds. */
void sni_order_cost_add(sni_order_cost *cost, int width, double below);

sn_status sni_eliminate(sni_arena *arena, const sni_graph *graph, const int *size, const int *order,
                        sni_elimination *out, sn_error *err);

/* order <- order in postorder of its tree: children right before their parents, as far as possible.
 * The largest subtree comes first: so the roots of all are near the parent, in memory too.
 * Changes neither the fill nor the order of two nodes joined by a path of nodes eliminated before
 * the later one. */
sn_status sni_postorder(sni_arena *arena, int n, const int *parent, int *order, sn_error *err);

#endif
