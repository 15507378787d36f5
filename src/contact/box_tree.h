/* box_tree.h: boxes along the axes in a binary tree, to find those that overlap: the broad phase.
 *
 * Each box in the tree is fatter than what it holds, so that it stays while that moves a little.
 * Inserting keeps the tree balanced and its boxes small; nothing allocates. */
#ifndef SNI_BOX_TREE_H
#define SNI_BOX_TREE_H

#include "model/shape.h"

typedef struct sni_box_node {
  sni_aabb box;
  int parent, child[2]; /* -1: none; child[0] < 0: a leaf, and ~child[0] its item */
  int height;           /* 0: a leaf */
} sni_box_node;

typedef struct sni_box_tree {
  sni_box_node *node; /* 2 capacity */
  int *leaf;          /* capacity  node of each item, -1: not in the tree */
  int (*stack)[2];    /* for walks */
  int root, free;     /* -1: none; unused nodes are chained by parent */
  int capacity;
  int count, moved; /* items, and how often one came or was moved since it was last built */
  sni_aabb *held;   /* capacity  boxes of items, and */
  int *order;       /* capacity  items, while it is built */
} sni_box_tree;

size_t sni_box_tree_size(int capacity);
void sni_box_tree_place(sni_box_tree *t, int capacity, void *memory);

/* Puts item in, or moves it where its box no longer holds `tight`.  fat: what it gets then. */
void sni_box_tree_update(sni_box_tree *t, int item, sni_aabb tight, sni_aabb fat);

/* Builds it anew once as many have come or moved as there are: those that come one by one, each
 * where it suits best at the time, leave boxes that overlap more and more. */
void sni_box_tree_tidy(sni_box_tree *t);

/* All pairs of items whose boxes overlap, each once. */
typedef void (*sni_box_pair_fn)(void *user, int a, int b);
void sni_box_tree_pairs(sni_box_tree *t, sni_box_pair_fn f, void *user);
/* All items whose boxes overlap this one, as b. */
void sni_box_tree_query(sni_box_tree *t, const sni_aabb *box, int a, sni_box_pair_fn f, void *user);
/* a of the first tree, b of the second. */
void sni_box_tree_cross(sni_box_tree *t, const sni_box_tree *other, sni_box_pair_fn f, void *user);

static inline bool sni_aabb_overlap(const sni_aabb *a, const sni_aabb *b) {
  return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y &&
         a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}
static inline sni_aabb sni_aabb_grow(sni_aabb a, double r) {
  const sn_vec3 d = {r, r, r};
  return (sni_aabb){sn_vec3_sub(a.lo, d), sn_vec3_add(a.hi, d)};
}
/* With what it passes on its way along d. */
static inline sni_aabb sni_aabb_sweep(sni_aabb a, sn_vec3 d) {
  return sni_aabb_join(a, (sni_aabb){sn_vec3_add(a.lo, d), sn_vec3_add(a.hi, d)});
}

#endif
