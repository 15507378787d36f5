/* ordering.h: in which order to eliminate the nodes of a symmetric block matrix.
 *
 * A node is a block row and column of a few scalars.  Eliminating it joins its neighbours with one
 * another; the order decides how much of that fill there is.  AMD finds a good one on the graph of
 * nodes.  Not every order has a factorisation: the multiplier of a constraint has a zero on the
 * diagonal, and a pivot only after something that it acts on has been eliminated.  So some nodes
 * have to come after others. */
#ifndef SNI_ORDERING_H
#define SNI_ORDERING_H

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

/* Node later[k] comes after node earlier[k], neighbours or not. */
typedef struct sni_order_rules {
  int count;
  const int *later, *earlier; /* count */
} sni_order_rules;

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

/* level[i] = 0 for a node that no rule holds back, else one more than the highest of those that it
 * comes after.  SN_E_ARGUMENT: the rules go round in a circle. */
sn_status sni_order_levels(sni_arena *arena, int n, const sni_order_rules *rules, int *level,
                           sn_error *err);

/* The least costly order of a few tried, postordered, so that a node comes right before its parent
 * where it can. */
sn_status sni_order(const sni_graph *graph, const int *size, const sni_order_rules *rules,
                    int *order, sn_error *err);

#endif
