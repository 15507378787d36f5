/* kin.c: which shapes may touch each other.
 *
 *     never       two of the ground; two that are fixed to each other; those that a scene tells to
 *                 ignore each other
 *     on request  two of one mechanism (`self`): a tree of joints from the ground on, in which a
 *                 joint with all six freedoms begins a new one; neighbours, whom a joint or a loop
 *                 connects, only where all are asked for; the body of the ground that a mechanism
 *                 hangs on is one of these
 *     always      the rest, the other ground with everything among them */
#include "contact/collider.h"

#include <string.h>

/* ---- memory ---- */

static size_t most_neighbours(const sn_model *m) {
  return (size_t)m->tree.nbody + (size_t)m->nconstraint + 1;
}

size_t sni_kin_size(const sn_model *m) {
  return 2 * (size_t)m->tree.nbody * sizeof(int) +
         (most_neighbours(m) + (size_t)m->nignore) * 2 * sizeof(int);
}

/* ---- neighbours ---- */

static bool comes_before(const int a[2], const int b[2]) {
  return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static void add_neighbours(sni_kin *k, int a, int b) {
  if (a >= 0 && b >= 0 && a != b) {
    k->across = k->across || k->family[a] != k->family[b];
    k->neighbour[k->nneighbour][0] = a < b ? a : b;
    k->neighbour[k->nneighbour++][1] = a < b ? b : a;
  }
}

/* A heap sort: nothing is allocated, and there may be many. */
static void sink(int (*a)[2], int i, int n) {
  for (int child = 2 * i + 1; child < n; child = 2 * i + 1) {
    child += child + 1 < n && comes_before(a[child], a[child + 1]);
    if (!comes_before(a[i], a[child])) {
      return;
    }
    int swap[2];
    memcpy(swap, a[i], sizeof swap);
    memcpy(a[i], a[child], sizeof swap);
    memcpy(a[child], swap, sizeof swap);
    i = child;
  }
}

static void sort_pairs(int (*a)[2], int n) {
  for (int i = n / 2 - 1; i >= 0; i--) {
    sink(a, i, n);
  }
  for (int end = n - 1; end > 0; end--) {
    int swap[2];
    memcpy(swap, a[0], sizeof swap);
    memcpy(a[0], a[end], sizeof swap);
    memcpy(a[end], swap, sizeof swap);
    sink(a, 0, end);
  }
}

static bool has_pair(const int (*list)[2], int n, int a, int b) {
  const int pair[2] = {a < b ? a : b, a < b ? b : a};
  int lo = 0, hi = n;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    if (comes_before(list[mid], pair)) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < n && list[lo][0] == pair[0] && list[lo][1] == pair[1];
}

static int root_of(const sni_kin *k, int body) {
  return body < 0 ? -1 : k->root[body];
}

static void find_roots(sni_kin *k) {
  const sni_tree *t = &k->m->tree;
  for (int i = 0; i < t->nbody; i++) {
    const int parent = t->parent[i], nv = t->vadr[i + 1] - t->vadr[i];
    const int below = root_of(k, parent);
    k->root[i] = nv == 0 ? below : i;
    if (k->root[i] < 0) {
      k->family[i] = -1;
    } else if (nv == 0) {
      k->family[i] = k->family[below];
    } else {
      k->family[i] = below < 0 || nv == SN_NV_MAX ? i : k->family[below];
    }
  }
}

void sni_kin_place(sni_kin *k, const sn_model *m, void *memory) {
  const sni_tree *t = &m->tree;
  *k = (sni_kin){.m = m, .root = memory};
  k->family = k->root + t->nbody;
  k->neighbour = (int(*)[2])(void *)(k->family + t->nbody);
  find_roots(k);
  for (int i = 0; i < t->nbody; i++) {
    if (k->root[i] == i && t->vadr[i + 1] - t->vadr[i] < SN_NV_MAX) {
      add_neighbours(k, i, root_of(k, t->parent[i]));
    }
  }
  for (int c = 0; c < m->nconstraint; c++) {
    const sni_constraint *x = &m->constraint[c];
    if (x->kind == SNI_LOOP || x->kind == SNI_WELD || x->kind == SNI_POINT) {
      add_neighbours(k, root_of(k, x->body[0]), root_of(k, x->body[1]));
    }
  }
  sort_pairs(k->neighbour, k->nneighbour);
  k->ignore = k->neighbour + most_neighbours(m);
  for (int i = 0; i < m->nignore; i++) {
    const int a = m->ignore[i][0], b = m->ignore[i][1];
    k->ignore[i][0] = a < b ? a : b;
    k->ignore[i][1] = a < b ? b : a;
  }
  sort_pairs(k->ignore, m->nignore);
}

/* ---- the question ---- */

/* Joined by a joint or a loop, or by no more than `apart` joints of the tree. */
static bool are_near(const sni_kin *k, int a, int b, int apart) {
  if (has_pair((const int(*)[2])k->neighbour, k->nneighbour, a, b)) {
    return true;
  }
  int joints = 0;
  for (; a != b && joints <= apart; joints++) { /* up from the one that is further down */
    int *lower = a > b ? &a : &b;
    *lower = root_of(k, k->m->tree.parent[*lower]);
    if (*lower < 0) {
      return false;
    }
  }
  return a == b && joints <= apart;
}

/* The bodies by name, or one by name and the ground. */
static bool is_ignored(const sni_kin *k, const sni_collider *a, const sni_collider *b) {
  const int(*list)[2] = (const int(*)[2])k->ignore;
  const int n = k->m->nignore;
  return n > 0 && (has_pair(list, n, a->frame, b->frame) ||
                   (b->body < 0 && has_pair(list, n, a->frame, -1)) ||
                   (a->body < 0 && has_pair(list, n, b->frame, -1)));
}

/* Does the mechanism of a body stand on this very part of the ground, so few joints away? */
static bool stands_near(const sni_kin *k, int body, int ground, int apart) {
  const sni_tree *t = &k->m->tree;
  for (int joints = 1; joints <= apart; joints++) {
    const int parent = t->parent[body], nv = t->vadr[body + 1] - t->vadr[body];
    if (parent < 0 || nv == SN_NV_MAX) {
      return false;
    }
    if (k->root[parent] < 0) {
      return parent == ground;
    }
    body = k->root[parent];
  }
  return false;
}

bool sni_kin_may_touch(const sni_kin *k, const sni_collider *a, const sni_collider *b) {
  const int x = k->root[a->frame], y = k->root[b->frame];
  if (x == y || is_ignored(k, a, b)) {
    return false;
  }
  const sn_model *m = k->m;
  const sn_self s0 = m->contact_self[a->material], s1 = m->contact_self[b->material];
  const sn_self self = s0 < s1 ? s0 : s1;
  if (self == SN_SELF_ALL) {
    return true;
  }
  const int p = m->contact_apart[a->material], q = m->contact_apart[b->material];
  const int apart = self == SN_SELF_NONE ? 1 : p > q ? p : q;
  if (x < 0 || y < 0) {
    return !stands_near(k, x < 0 ? y : x, x < 0 ? a->frame : b->frame, apart);
  }
  const bool strangers = k->family[a->frame] != k->family[b->frame];
  return strangers ? !k->across || !are_near(k, x, y, apart)
                   : self == SN_SELF_DISTANT && !are_near(k, x, y, apart);
}
