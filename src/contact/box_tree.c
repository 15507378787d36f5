/* box_tree.c: a balanced tree of boxes that changes little from step to step. */
#include "contact/box_tree.h"

#include <math.h>

static bool is_leaf(const sni_box_node *n) {
  return n->child[0] < 0;
}

static int item_of(const sni_box_node *n) {
  return ~n->child[0];
}

/* ---- memory ---- */

/* A walk over pairs goes down both sides at once, and keeps at most two pairs a level; the other
 * tree, if there is one, is balanced: 64 levels would hold more than there are. */
static size_t stack_count(int capacity) {
  return 4 * (size_t)capacity + 128;
}

size_t sni_box_tree_size(int capacity) {
  const size_t n = (size_t)capacity;
  return 2 * n * sizeof(sni_box_node) + n * sizeof(sni_aabb) +
         stack_count(capacity) * 2 * sizeof(int) + 2 * n * sizeof(int);
}

/* All nodes are free, and taken in the order in which they lie. */
static void free_all(sni_box_tree *t) {
  t->root = t->free = -1;
  for (int k = 2 * t->capacity - 1; k >= 0; k--) {
    t->node[k].parent = t->free;
    t->free = k;
  }
}

void sni_box_tree_place(sni_box_tree *t, int capacity, void *memory) {
  *t = (sni_box_tree){.node = memory, .capacity = capacity};
  t->held = (sni_aabb *)(t->node + 2 * (size_t)capacity);
  t->stack = (int(*)[2])(void *)(t->held + capacity);
  t->leaf = (int *)(t->stack + stack_count(capacity));
  t->order = t->leaf + capacity;
  free_all(t);
  for (int k = 0; k < capacity; k++) {
    t->leaf[k] = -1;
  }
}

static int take(sni_box_tree *t) {
  const int k = t->free;
  t->free = t->node[k].parent;
  t->node[k] = (sni_box_node){.parent = -1, .child = {-1, -1}};
  return k;
}

static void give_back(sni_box_tree *t, int k) {
  t->node[k].parent = t->free;
  t->free = k;
}

/* ---- shape of the tree ---- */

/* Half the surface: what a box costs those who look for overlaps. */
static double cost(sni_aabb b) {
  const sn_vec3 d = sn_vec3_sub(b.hi, b.lo);
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

static void refit(sni_box_tree *t, int k) {
  sni_box_node *n = &t->node[k];
  const sni_box_node *a = &t->node[n->child[0]], *b = &t->node[n->child[1]];
  n->box = sni_aabb_join(a->box, b->box);
  n->height = 1 + (a->height > b->height ? a->height : b->height);
}

static void replace_child(sni_box_tree *t, int parent, int from, int to) {
  if (parent < 0) {
    t->root = to;
  } else {
    t->node[parent].child[t->node[parent].child[1] == from] = to;
  }
  t->node[to].parent = parent;
}

/* The higher child of k takes its place; k keeps the lower of that one's children. */
static int rotate(sni_box_tree *t, int k, int side) {
  const int up = t->node[k].child[side];
  const int tall =
      t->node[t->node[up].child[0]].height > t->node[t->node[up].child[1]].height ? 0 : 1;
  const int moves = t->node[up].child[1 - tall];
  replace_child(t, t->node[k].parent, k, up);
  t->node[up].child[1 - tall] = k;
  t->node[k].parent = up;
  t->node[k].child[side] = moves;
  t->node[moves].parent = k;
  refit(t, k);
  refit(t, up);
  return up;
}

static void balance_up(sni_box_tree *t, int k) {
  while (k >= 0) {
    refit(t, k);
    const int lean = t->node[t->node[k].child[1]].height - t->node[t->node[k].child[0]].height;
    if (lean > 1 || lean < -1) {
      k = rotate(t, k, lean > 1);
    }
    k = t->node[k].parent;
  }
}

/* Down to where a new leaf makes the boxes grow least. */
static int sibling_for(const sni_box_tree *t, sni_aabb box) {
  int k = t->root;
  while (!is_leaf(&t->node[k])) {
    const sni_box_node *n = &t->node[k];
    const double joined = cost(sni_aabb_join(n->box, box));
    const double here = 2 * joined, passed_on = 2 * (joined - cost(n->box));
    double below[2];
    for (int c = 0; c < 2; c++) {
      const sni_box_node *x = &t->node[n->child[c]];
      below[c] = cost(sni_aabb_join(x->box, box)) + passed_on - (is_leaf(x) ? 0 : cost(x->box));
    }
    if (here < below[0] && here < below[1]) {
      break;
    }
    k = n->child[below[1] < below[0]];
  }
  return k;
}

static void insert(sni_box_tree *t, int leaf) {
  if (t->root < 0) {
    t->root = leaf;
    t->node[leaf].parent = -1;
    return;
  }
  const int sibling = sibling_for(t, t->node[leaf].box), parent = take(t);
  replace_child(t, t->node[sibling].parent, sibling, parent);
  t->node[parent].child[0] = sibling;
  t->node[parent].child[1] = leaf;
  t->node[sibling].parent = t->node[leaf].parent = parent;
  balance_up(t, parent);
}

static void remove_leaf(sni_box_tree *t, int leaf) {
  const int parent = t->node[leaf].parent;
  if (parent < 0) {
    t->root = -1;
    return;
  }
  const int sibling = t->node[parent].child[t->node[parent].child[0] == leaf];
  const int above = t->node[parent].parent;
  replace_child(t, above, parent, sibling);
  give_back(t, parent);
  balance_up(t, above);
}

static bool holds(const sni_aabb *a, const sni_aabb *b) {
  return a->lo.x <= b->lo.x && a->lo.y <= b->lo.y && a->lo.z <= b->lo.z && b->hi.x <= a->hi.x &&
         b->hi.y <= a->hi.y && b->hi.z <= a->hi.z;
}

/* Fat boxes of what was fast and has come to rest are made smaller again. */
static bool is_too_fat(const sni_aabb *box, const sni_aabb *fat) {
  return cost(*box) > 4 * cost(*fat);
}

void sni_box_tree_update(sni_box_tree *t, int item, sni_aabb tight, sni_aabb fat) {
  int leaf = t->leaf[item];
  if (leaf >= 0) {
    if (holds(&t->node[leaf].box, &tight) && !is_too_fat(&t->node[leaf].box, &fat)) {
      return;
    }
    remove_leaf(t, leaf);
  } else {
    leaf = t->leaf[item] = take(t);
    t->node[leaf].child[0] = ~item;
    t->count++;
  }
  t->node[leaf].box = fat;
  insert(t, leaf);
  t->moved++;
}

/* ---- once more from the root ---- */

static double middle(const sni_box_tree *t, int item, int axis) {
  const sni_aabb *b = &t->held[item];
  return axis == 0 ? b->lo.x + b->hi.x : axis == 1 ? b->lo.y + b->hi.y : b->lo.z + b->hi.z;
}

/* The axis along which the middles of these items are furthest apart. */
static int long_axis(const sni_box_tree *t, int from, int to) {
  int longest = 0;
  double most = -1;
  for (int axis = 0; axis < 3; axis++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int k = from; k < to; k++) {
      const double x = middle(t, t->order[k], axis);
      lo = x < lo ? x : lo;
      hi = x > hi ? x : hi;
    }
    if (hi - lo > most) {
      most = hi - lo;
      longest = axis;
    }
  }
  return longest;
}

/* Items from `from` on that are not above those from `half` on: Hoare's selection. */
static void part(sni_box_tree *t, int from, int half, int to, int axis) {
  int lo = from, hi = to - 1;
  while (lo < hi) {
    const double pivot = middle(t, t->order[(lo + hi) / 2], axis);
    int i = lo, j = hi;
    while (i <= j) {
      while (middle(t, t->order[i], axis) < pivot) {
        i++;
      }
      while (middle(t, t->order[j], axis) > pivot) {
        j--;
      }
      if (i <= j) {
        const int swap = t->order[i];
        t->order[i++] = t->order[j];
        t->order[j--] = swap;
      }
    }
    if (j < half && i > half) {
      return;
    }
    lo = j < half ? i : lo;
    hi = i > half ? j : hi;
  }
}

/* Half of the items on either side, all the way down. */
static int build(sni_box_tree *t, int from, int to) {
  const int k = take(t);
  if (to - from == 1) {
    const int item = t->order[from];
    t->node[k].child[0] = ~item;
    t->node[k].box = t->held[item];
    t->leaf[item] = k;
    return k;
  }
  const int half = from + (to - from) / 2;
  part(t, from, half, to, long_axis(t, from, to));
  for (int side = 0; side < 2; side++) {
    const int child = side == 0 ? build(t, from, half) : build(t, half, to);
    t->node[k].child[side] = child;
    t->node[child].parent = k;
  }
  refit(t, k);
  return k;
}

void sni_box_tree_tidy(sni_box_tree *t) {
  if (t->count == 0 || t->moved < t->count) {
    return;
  }
  int n = 0;
  for (int item = 0; item < t->capacity; item++) {
    if (t->leaf[item] >= 0) {
      t->held[item] = t->node[t->leaf[item]].box;
      t->order[n++] = item;
    }
  }
  free_all(t);
  t->root = build(t, 0, n);
  t->moved = 0;
}

/* ---- walks ---- */

static int push(sni_box_tree *t, int n, int a, int b) {
  t->stack[n][0] = a;
  t->stack[n][1] = b;
  return n + 1;
}

/* Down the side that is higher; a of t, b of other. */
static void walk(sni_box_tree *t, const sni_box_tree *other, int n, sni_box_pair_fn f, void *user) {
  while (n > 0) {
    n--;
    const int a = t->stack[n][0], b = t->stack[n][1];
    const sni_box_node *x = &t->node[a], *y = &other->node[b];
    if (t == other && a == b) {
      if (!is_leaf(x)) {
        n = push(t, n, x->child[0], x->child[0]);
        n = push(t, n, x->child[1], x->child[1]);
        n = push(t, n, x->child[0], x->child[1]);
      }
    } else if (sni_aabb_overlap(&x->box, &y->box)) {
      if (is_leaf(x) && is_leaf(y)) {
        f(user, item_of(x), item_of(y));
      } else if (x->height >= y->height) {
        n = push(t, n, x->child[0], b);
        n = push(t, n, x->child[1], b);
      } else {
        n = push(t, n, a, y->child[0]);
        n = push(t, n, a, y->child[1]);
      }
    }
  }
}

void sni_box_tree_pairs(sni_box_tree *t, sni_box_pair_fn f, void *user) {
  if (t->root >= 0) {
    walk(t, t, push(t, 0, t->root, t->root), f, user);
  }
}

void sni_box_tree_cross(sni_box_tree *t, const sni_box_tree *other, sni_box_pair_fn f, void *user) {
  if (t->root >= 0 && other->root >= 0) {
    walk(t, other, push(t, 0, t->root, other->root), f, user);
  }
}

void sni_box_tree_query(sni_box_tree *t, const sni_aabb *box, int a, sni_box_pair_fn f,
                        void *user) {
  int n = t->root >= 0 ? push(t, 0, t->root, t->root) : 0;
  while (n > 0) {
    const sni_box_node *x = &t->node[t->stack[--n][0]];
    if (!sni_aabb_overlap(&x->box, box)) {
      continue;
    }
    if (is_leaf(x)) {
      f(user, a, item_of(x));
    } else {
      n = push(t, n, x->child[0], x->child[0]);
      n = push(t, n, x->child[1], x->child[1]);
    }
  }
}
