/* ordering.h: in which order to eliminate the nodes of a symmetric block matrix.
 *
 * A node is a block row and column of a few scalars.  Eliminating it joins its neighbours with one
 * another; the order decides how much of that fill there is.  AMD finds a good one on the graph of
 * nodes.  Not every order has a factorisation: the multiplier of a joint has zeros on the diagonal,
 * and pivots only after something that it acts on has been eliminated.
 *
 * Two kinds of demands say so.  A rule: this node comes after that one (the rate of a joint after
 * its multiplier; the multiplier of a loop, in reduced coordinates, after all the rates that it
 * acts on). A link: this node ties one body to another, or to the ground, and each of its ends
 * alone gives it its full rank, so it may come after either.  But not all of them may count on the
 * same one: two joints that come after the body between them, and before the bodies at their other
 * ends, have 12 rows and 6 columns.  What is needed is that the links eliminated so far form a
 * forest on the bodies eliminated so far, all other bodies being one with the ground.  A link that
 * closes a ring of eliminated links lives on the freedom of the joints in it, so it comes after
 * their rates.
 *
 * That freedom is most often too little for the six rows of a joint, whose own rate comes after it:
 * some of its pivots are rounding then, and refinement has to make up for it.  The rows of a loop
 * ask for no more than the ring can give.  So orders in which the links that are closers come last
 * in their rings are the better ones, and are taken if they do not cost many times as much. */
#ifndef SNI_ORDERING_H
#define SNI_ORDERING_H

#include "linear/graph.h"

typedef struct sni_order_demands {
  int rule_count;
  const int *later, *earlier; /* rule_count: node later[k] comes after node earlier[k] */
  int link_count;
  const int *link;          /* link_count: a node, once                                           */
  const int *end_a, *end_b; /* link_count: the nodes that it ties, not links; -1: the ground.  a is
                               the one to go with, if there is no reason for the other            */
  const int *closer;        /* link_count: 1: should close the rings that it is in; NULL: none    */
} sni_order_demands;

/* level[i]: 0 for a node on which nothing is demanded, else one more than the highest of those that
 * it comes after or ties.  SN_E_ARGUMENT: bad nodes, or rules that go round in a circle. */
sn_status sni_order_levels(sni_arena *arena, int n, const sni_order_demands *demands, int *level,
                           sn_error *err);

/* The least costly order of a few tried, postordered.  The demands must have passed
 * sni_order_levels. */
sn_status sni_order(const sni_graph *graph, const int *size, const sni_order_demands *demands,
                    int *order, sn_error *err);

/* Whether an order meets the demands. */
sn_status sni_order_check(int n, const sni_order_demands *demands, const int *order, bool *good,
                          sn_error *err);

#endif
