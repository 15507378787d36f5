/* compile_tree.c: names, parents and the order of the bodies.
 *
 * Bodies are numbered level by level from the ground, so that a parent comes before its children;
 * within a level by kind of joint, so that joints of one kind stand together; then as given.
 *
 * In large models levels are so long that a parent has left the cache when a pass comes to the
 * children.  So these are numbered block by block, and each block in levels: first the trunk, then
 * the subtrees that hang on it. */
#include "model/compile.h"
#include "model/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODIES_MAX   10000000
#define LARGE        1000 /* bodies, of nearly a kilobyte each */
#define BLOCK_BODIES 64   /* in a block: what a pass touches of them is half a first cache */
#define NO_PARENT    (-2) /* named, but there is no such body */

typedef struct place {
  int given, block, level, kind;
} place;

static int by_block_and_level(const void *a, const void *b) {
  const place *x = a, *y = b;
  return x->block != y->block   ? x->block - y->block
         : x->level != y->level ? x->level - y->level
         : x->kind != y->kind   ? x->kind - y->kind
                                : x->given - y->given;
}

/* Fills list with the names in order; reports bad and repeated ones. */
static void check_names(sni_compile *c, const sn_body_def *def, int n, sni_name *list) {
  for (int k = 0; k < n; k++) {
    sni_compile_at(c, "bodies", def[k].name);
    sni_compile_name(c, def[k].name, "body");
    list[k] = (sni_name){def[k].name ? def[k].name : "", k};
  }
  sni_names_sort(list, n);
  for (int k = 1; k < n; k++) {
    if (list[k].name[0] && strcmp(list[k].name, list[k - 1].name) == 0) {
      sni_compile_at(c, "bodies", list[k].name);
      sni_compile_fail(c, NULL, "two bodies have this name");
    }
  }
}

static bool on_world(const sn_body_def *def) {
  return !def->parent || strcmp(def->parent, "world") == 0;
}

/* "a -> b -> a", at most six names of a ring of parents that ends at stack[depth - 1]. */
static void describe_ring(const sn_body_def *def, const int *stack, int depth, int start, char *out,
                          size_t size) {
  int shown = 0, d = depth - 1;
  for (; d >= 0 && stack[d] != start; d--) {
  }
  snprintf(out, size, "%s", def[start].name ? def[start].name : "");
  for (int k = d + 1; k < depth && shown < 6; k++, shown++) {
    const size_t used = strlen(out);
    snprintf(out + used, size - used, " -> %s", def[stack[k]].name ? def[stack[k]].name : "");
  }
  const size_t used = strlen(out);
  snprintf(out + used, size - used, "%s -> %s", depth - d - 1 > 6 ? " -> ..." : "",
           def[start].name ? def[start].name : "");
}

enum { UNKNOWN = -2, BROKEN = -1, ON_THE_WAY = -3 };

/* level[k] = joints between body k and the ground, less one; BROKEN: never gets there.  One walk a
 * body, which stops at the first ancestor whose level is known. */
static void find_levels(sni_compile *c, const sn_body_def *def, const int *parent, int n,
                        int *level, int *stack) {
  for (int k = 0; k < n; k++) {
    level[k] = UNKNOWN;
  }
  for (int k = 0; k < n; k++) {
    int depth = 0, i = k;
    while (i >= 0 && level[i] == UNKNOWN) {
      level[i] = ON_THE_WAY;
      stack[depth++] = i;
      i = parent[i];
    }
    const bool ring = i >= 0 && level[i] == ON_THE_WAY;
    if (ring) {
      char names[300];
      describe_ring(def, stack, depth, i, names, sizeof names);
      sni_compile_at(c, "bodies", def[i].name);
      sni_compile_fail(c, "parent",
                       "the parents go round in a circle: %s; one of them must hang on world",
                       names);
    }
    const bool broken = ring || i == NO_PARENT || (i >= 0 && level[i] == BROKEN);
    int next = i < 0 ? 0 : level[i] + 1;
    while (depth > 0) {
      level[stack[--depth]] = broken ? BROKEN : next++;
    }
  }
}

/* Bodies with more than a block below them are the trunk, block 0.  The subtrees that hang on it
 * share blocks with their neighbours.  Needs bodies sorted by level. */
static void find_blocks(const int *parent, int n, place *sorted, int *size, int *block) {
  int last = 1, filled = 0;
  memset(size, 0, (size_t)n * sizeof *size);
  memset(block, 0, (size_t)n * sizeof *block);
  for (int i = n - 1; i >= 0; i--) {
    const int k = sorted[i].given, p = parent[k];
    size[k]++;
    if (p >= 0) {
      size[p] += size[k];
    }
  }
  for (int i = 0; i < n; i++) {
    const int k = sorted[i].given, p = parent[k];
    if (size[k] > BLOCK_BODIES) {
      continue;
    }
    if (p >= 0 && size[p] <= BLOCK_BODIES) {
      block[k] = block[p];
    } else {
      if (filled + size[k] > BLOCK_BODIES) {
        last++;
        filled = 0;
      }
      filled += size[k];
      block[k] = last;
    }
    sorted[i].block = block[k];
  }
}

static void order_bodies(sni_compile *c, const sn_body_def *def, const int *parent,
                         const int *level, int n, place *sorted, int *scratch) {
  sn_model *m = c->m;
  sni_tree *t = &m->tree;
  for (int k = 0; k < n; k++) {
    const int kind = def[k].joint.type ? sni_joint_kind_find(def[k].joint.type) : 0;
    sorted[k] = (place){k, 0, level[k], kind};
  }
  qsort(sorted, (size_t)n, sizeof *sorted, by_block_and_level);
  if (n > LARGE) {
    find_blocks(parent, n, sorted, scratch, scratch + n);
    qsort(sorted, (size_t)n, sizeof *sorted, by_block_and_level);
  }
  for (int i = 0; i < n; i++) {
    m->given[sorted[i].given] = i;
  }
  for (int i = 0; i < n; i++) {
    const int k = sorted[i].given;
    c->def[i] = &def[k];
    m->name[i] = sni_arena_text(&m->arena, def[k].name ? def[k].name : "");
    c->out_of_memory = c->out_of_memory || !m->name[i];
    /* what never gets to the ground hangs on it for the rest of the checks */
    t->parent[i] = parent[k] < 0 || level[k] == BROKEN ? -1 : m->given[parent[k]];
  }
}

void sni_compile_tree(sni_compile *c) {
  const sn_body_def *def = c->b->body.item;
  const int n = c->b->body.count;
  if (n == 0 || n > BODIES_MAX) {
    snprintf(c->path, sizeof c->path, "bodies");
    sni_compile_fail(c, NULL,
                     n == 0 ? "there is no body: a scene needs at least one"
                            : "there are more than 10000000 bodies");
    return;
  }
  const size_t count = (size_t)n;
  sn_model *m = c->m;
  m->tree.nbody = n;
  m->name = sni_compile_take(c, count, sizeof *m->name);
  m->given = sni_compile_take(c, count, sizeof *m->given);
  m->by_name = sni_compile_take(c, count, sizeof *m->by_name);
  m->tree.parent = sni_compile_take(c, count, sizeof *m->tree.parent);
  c->def = calloc(count, sizeof *c->def);
  c->broken = calloc(count, sizeof *c->broken);
  sni_name *list = calloc(count, sizeof *list);
  int *parent = calloc(4 * count, sizeof *parent);
  place *sorted = calloc(count, sizeof *sorted);
  if (c->out_of_memory || !c->def || !c->broken || !list || !parent || !sorted) {
    c->out_of_memory = true;
  } else {
    int *level = parent + n, *stack = parent + 2 * n;
    check_names(c, def, n, list);
    for (int k = 0; k < n; k++) {
      parent[k] = on_world(&def[k]) ? -1 : sni_names_find(list, n, def[k].parent);
      if (parent[k] < 0 && !on_world(&def[k])) {
        sni_compile_at(c, "bodies", def[k].name);
        sni_compile_fail(c, "parent", "there is no body '%s'", def[k].parent);
        parent[k] = NO_PARENT;
      }
    }
    find_levels(c, def, parent, n, level, stack);
    order_bodies(c, def, parent, level, n, sorted, stack);
    for (int k = 0; k < n; k++) {
      m->by_name[k] = m->given[list[k].place];
    }
    const int *unknown = c->b->unknown.item;
    for (int k = 0; k < c->b->unknown.count; k++) {
      c->broken[m->given[unknown[k]]] = true;
    }
  }
  free(sorted);
  free(parent);
  free(list);
}
