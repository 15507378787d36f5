/* sets.h: bodies that are connected, as trees of their numbers. */
#ifndef SNI_SETS_H
#define SNI_SETS_H

/* The body that stands for the set of i. */
static inline int sni_set_of(int *joined, int i) {
  while (joined[i] != i) {
    i = joined[i] = joined[joined[i]];
  }
  return i;
}

static inline void sni_sets_join(int *joined, int i, int j) {
  if (i >= 0 && j >= 0) {
    joined[sni_set_of(joined, j)] = sni_set_of(joined, i);
  }
}

#endif
