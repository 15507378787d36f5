/* demands.c: nodes taking their turns, as far as the demands on their order let them.
 *
 * Bodies and links that are done form clusters, kept as a union-find forest.  A cluster of b bodies
 * may hold b links: b - 1 to join them and one that leads outside, to a body not done yet or to the
 * ground.  `spare` counts what is left of that: 1 or 0.  Taking a link spends one; a body that is
 * done brings one and joins the clusters that lead to it.  A link between two bodies of one cluster
 * closes a ring, and needs the rates of the links of the cluster to be done: `owed` counts those
 * missing.  The ground is a body that is done from the start and brings nothing. */
#include "linear/demands.h"

#include <string.h>

struct sni_turns {
  int n;
  const sni_order_demands *demands;
  bool strict;
  /* rules by node: those after node i are later[later_start[i]] .., those before it likewise */
  int *later_start, *later, *earlier_start, *earlier;
  int *at_start, *at; /* links by body: numbers of links; body n is the ground */
  int *link_of;       /* n + 1  number of the link that a node is; -1: none    */
  /* state of a sweep, n + 1 each */
  int *missing;                  /* rules not met yet                            */
  bool *done, *waiting, *queued; /* queued: on the stack                         */
  int *leader;                   /* union-find                                   */
  int *spare, *owed;             /* of a leader                                  */
  int *first, *length;           /* of a leader: waiting links at it, -1: none   */
  int *next;                     /* 2 link_count  in that list, by end of a link */
  int *stack, stack_count;
  int *order, count;
};

/* ---- Lists ----------------------------------------------------------------------------------- */

static int *take_ints(sni_arena *arena, size_t count) {
  return sni_arena_take(arena, count * sizeof(int));
}

/* value[k] listed under key[k], for keys up to n. */
static bool list(sni_arena *arena, int n, int count, const int *key, const int *value, int **start,
                 int **item) {
  *start = take_ints(arena, (size_t)n + 2);
  *item = take_ints(arena, (size_t)count);
  if (!*start || !*item) {
    return false;
  }
  for (int k = 0; k < count; k++) {
    (*start)[key[k] + 1]++;
  }
  for (int i = 0; i <= n; i++) {
    (*start)[i + 1] += (*start)[i];
  }
  for (int k = count - 1; k >= 0; k--) {
    (*item)[--(*start)[key[k] + 1]] = value[k];
  }
  memmove(*start, *start + 1, ((size_t)n + 1) * sizeof(int));
  (*start)[n + 1] = count;
  return true;
}

sni_turns *sni_turns_build(sni_arena *arena, int n, const sni_order_demands *demands) {
  const size_t nodes = (size_t)n + 1, links = (size_t)demands->link_count;
  sni_turns *t = sni_arena_take(arena, sizeof *t);
  int *key = take_ints(arena, 2 * links), *value = take_ints(arena, 2 * links);
  if (!t || !key || !value) {
    return NULL;
  }
  t->n = n;
  t->demands = demands;
  for (int k = 0; k < demands->link_count; k++) {
    key[2 * k] = demands->end_a[k] < 0 ? n : demands->end_a[k];
    key[2 * k + 1] = demands->end_b[k] < 0 ? n : demands->end_b[k];
    value[2 * k] = value[2 * k + 1] = k;
  }
  int **const ints[] = {&t->link_of, &t->missing, &t->leader, &t->spare,
                        &t->owed,    &t->first,   &t->length, &t->stack};
  bool **const flags[] = {&t->done, &t->waiting, &t->queued};
  bool ok = true;
  for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
    *ints[k] = take_ints(arena, nodes);
    ok = ok && *ints[k];
  }
  for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
    *flags[k] = sni_arena_take(arena, nodes * sizeof(bool));
    ok = ok && *flags[k];
  }
  t->next = take_ints(arena, 2 * links);
  ok = ok && t->next &&
       list(arena, n, demands->rule_count, demands->earlier, demands->later, &t->later_start,
            &t->later) &&
       list(arena, n, demands->rule_count, demands->later, demands->earlier, &t->earlier_start,
            &t->earlier) &&
       list(arena, n, 2 * demands->link_count, key, value, &t->at_start, &t->at);
  if (!ok) {
    return NULL;
  }
  for (int i = 0; i <= n; i++) {
    t->link_of[i] = -1;
  }
  for (int k = 0; k < demands->link_count; k++) {
    t->link_of[demands->link[k]] = k;
  }
  return t;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static int find(sni_turns *t, int i) {
  while (t->leader[i] != i) {
    t->leader[i] = t->leader[t->leader[i]];
    i = t->leader[i];
  }
  return i;
}

static int end_of(const sni_turns *t, int link, int side) {
  const int end = side == 0 ? t->demands->end_a[link] : t->demands->end_b[link];
  return end < 0 ? t->n : end;
}

static void push(sni_turns *t, int node) {
  if (!t->queued[node]) {
    t->queued[node] = true;
    t->stack[t->stack_count++] = node;
  }
}

/* Side `side` of a link that waits, into the list of the cluster there. */
static void enlist(sni_turns *t, int link, int side) {
  const int cluster = find(t, end_of(t, link, side));
  t->next[2 * link + side] = t->first[cluster];
  t->first[cluster] = 2 * link + side;
  t->length[cluster]++;
}

/* The cluster has more to offer: links at it may try again.  Those done leave the list. */
static void wake(sni_turns *t, int cluster) {
  int *at = &t->first[cluster];
  while (*at >= 0) {
    const int node = t->demands->link[*at / 2];
    if (t->done[node]) {
      *at = t->next[*at];
      t->length[cluster]--;
    } else {
      if (t->missing[node] == 0) {
        push(t, node);
      }
      at = &t->next[*at];
    }
  }
}

static int join(sni_turns *t, int i, int j) {
  i = find(t, i);
  j = find(t, j);
  if (i != j) {
    if (t->length[i] < t->length[j]) { /* walk the shorter list */
      const int k = i;
      i = j;
      j = k;
    }
    t->leader[j] = i;
    t->spare[i] += t->spare[j];
    t->owed[i] += t->owed[j];
    t->length[i] += t->length[j];
    int *end = &t->first[j];
    while (*end >= 0) {
      end = &t->next[*end];
    }
    *end = t->first[i];
    t->first[i] = t->first[j];
  }
  return i;
}

static bool may_link(sni_turns *t, int link) {
  const int a = end_of(t, link, 0), b = end_of(t, link, 1);
  if (t->strict && t->demands->closer && t->demands->closer[link]) {
    const int i = find(t, a);
    return t->done[a] && t->done[b] && i == find(t, b) && t->owed[i] == 0;
  }
  if (t->done[a] && t->done[b]) {
    const int i = find(t, a), j = find(t, b);
    return i == j ? t->owed[i] == 0 : t->spare[i] + t->spare[j] > 0;
  }
  return (t->done[a] && t->spare[find(t, a)] > 0) || (t->done[b] && t->spare[find(t, b)] > 0);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void take_link(sni_turns *t, int node, int link) {
  const int a = end_of(t, link, 0), b = end_of(t, link, 1);
  const bool both = t->done[a] && t->done[b], ring = both && find(t, a) == find(t, b);
  const int cluster = both ? join(t, a, b) : find(t, t->done[a] ? a : b);
  t->spare[cluster] -= ring ? 0 : 1;
  t->owed[cluster] += t->later_start[node + 1] - t->later_start[node];
}

static void take_body(sni_turns *t, int node) {
  t->spare[node] = 1;
  for (int k = t->at_start[node]; k < t->at_start[node + 1]; k++) {
    const int link = t->at[k], side = end_of(t, link, 0) == node ? 0 : 1;
    if (t->done[t->demands->link[link]]) {
      join(t, node, end_of(t, link, 1 - side));
    } else if (t->waiting[t->demands->link[link]]) {
      enlist(t, link, side);
    }
  }
  wake(t, find(t, node));
}

/* The links whose rate this node is are owed one less. */
static void pay(sni_turns *t, int node) {
  for (int k = t->earlier_start[node]; k < t->earlier_start[node + 1]; k++) {
    const int link = t->link_of[t->earlier[k]];
    if (link >= 0) {
      const int a = end_of(t, link, 0), cluster = find(t, t->done[a] ? a : end_of(t, link, 1));
      if (--t->owed[cluster] == 0) {
        wake(t, cluster);
      }
    }
  }
}

static void try(sni_turns *t, int node) {
  const int link = t->link_of[node];
  if (t->done[node] || t->missing[node] > 0 || (link >= 0 && !may_link(t, link))) {
    if (!t->done[node] && !t->waiting[node]) {
      t->waiting[node] = true;
      for (int side = 0; link >= 0 && side < 2; side++) {
        if (t->done[end_of(t, link, side)]) {
          enlist(t, link, side);
        }
      }
    }
    return;
  }
  if (link >= 0) {
    take_link(t, node, link);
  }
  t->done[node] = true;
  t->order[t->count++] = node;
  if (link < 0) {
    take_body(t, node);
  }
  pay(t, node);
  for (int k = t->later_start[node]; k < t->later_start[node + 1]; k++) {
    if (--t->missing[t->later[k]] == 0 && t->waiting[t->later[k]]) {
      push(t, t->later[k]);
    }
  }
}

int sni_turns_take(sni_turns *t, bool strict, const int *from, int *order) {
  const size_t nodes = (size_t)t->n + 1;
  t->strict = strict;
  memset(t->done, 0, nodes * sizeof(bool));
  memset(t->waiting, 0, nodes * sizeof(bool));
  memset(t->queued, 0, nodes * sizeof(bool));
  for (int i = 0; i <= t->n; i++) {
    t->missing[i] = t->earlier_start[i + 1] - t->earlier_start[i];
    t->leader[i] = i;
    t->spare[i] = t->owed[i] = t->length[i] = 0;
    t->first[i] = -1;
  }
  t->done[t->n] = true;
  t->order = order;
  t->count = t->stack_count = 0;
  for (int p = 0; p < t->n; p++) {
    try(t, from[p]);
    while (t->stack_count > 0) {
      const int node = t->stack[--t->stack_count];
      t->queued[node] = false;
      try(t, node);
    }
  }
  /* rules and links that wait for each other: no order meets them */
  for (int p = 0; p < t->n; p++) {
    if (!t->done[from[p]]) {
      order[t->count++] = from[p];
    }
  }
  int waited = 0;
  for (int i = 0; i < t->n; i++) {
    waited += t->waiting[i];
  }
  return waited;
}
