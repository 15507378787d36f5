/* kkt_reduced_build.c: which blocks the reduced system has. */
#include <stdlib.h>
#include <string.h>

#include "dynamics/doubt.h"
#include "dynamics/kkt_reduced.h"
#include "dynamics/rows.h"

/* Blocks of A; beyond this the maximal form is the better one by far. */
#define BLOCKS_MAX 4000000
/* What a block needs at least. */
#define BLOCK_BYTES 64.0

/* ---- ways ---- */

static int next_joint(const sni_tree *t, int body) {
  while (body >= 0 && t->joint[body].nv == 0) {
    body = t->parent[body];
  }
  return body;
}

/* Joints with coordinates between a body and the world. */
static int way_length(const sni_kkt_reduced *k, int body) {
  return body >= 0 ? k->depth[body] : 0;
}

static void find_depths(sni_kkt_reduced *k) {
  const sni_tree *t = &k->d->m->tree;
  for (int i = 0; i < t->nbody; i++) {
    k->depth[i] = way_length(k, t->parent[i]) + (t->joint[i].nv > 0);
  }
}

/* ---- blocks, each once ---- */

typedef struct block_set {
  int64_t *key; /* row and column, row >= column */
  int count, capacity;
} block_set;

static int64_t key_of(int row, int col) {
  return row >= col ? ((int64_t)row << 32) + col : ((int64_t)col << 32) + row;
}

static void want(block_set *s, int row, int col) {
  s->key[s->count++] = key_of(row, col);
}

static int compare_keys(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void sort_unique(block_set *s) {
  int n = 0;
  qsort(s->key, (size_t)s->count, sizeof *s->key, compare_keys);
  for (int k = 0; k < s->count; k++) {
    if (n == 0 || s->key[k] != s->key[n - 1]) {
      s->key[n++] = s->key[k];
    }
  }
  s->count = n;
}

static int find(const block_set *s, int row, int col) {
  const int64_t key = key_of(row, col);
  const int64_t *at = bsearch(&key, s->key, (size_t)s->count, sizeof key, compare_keys);
  return (int)(at - s->key);
}

/* ---- the parts ---- */

/* Which of a constraint's joints a body's is; a new one if need be. */
static int touch_of(sni_kkt_reduced *k, sni_tied *tied, int body) {
  const int n = k->touched[body];
  if (n < tied->ntouch && tied->touch[n].body == body) {
    return n;
  }
  k->touched[body] = tied->ntouch;
  tied->touch[tied->ntouch].body = body;
  return tied->ntouch++;
}

/* What carries both bodies of a constraint does nothing to it, as long as it is closed. */
static bool find_touched(sni_kkt_reduced *k, const sni_constraint *con, sni_tied *out) {
  const sni_tree *t = &k->d->m->tree;
  const int a = con->body[0] >= 0 ? con->body[0] : -1, b = con->body[1] >= 0 ? con->body[1] : -1;
  out->meet = k->d->rows->open ? -1 : sni_doubt_meeting(t, a, b);
  const size_t ways = (size_t)(way_length(k, a) + way_length(k, b));
  out->touch = sni_arena_take(&k->arena, (ways + (size_t)con->ncoord) * sizeof *out->touch);
  out->walk = sni_arena_take(&k->arena, ways * sizeof *out->walk);
  if (!out->touch || !out->walk) {
    return false;
  }
  int steps = 0;
  for (int side = 0; side < 2; side++) {
    for (int i = side ? b : a; i >= 0 && i != out->meet; i = t->parent[i]) {
      if (t->joint[i].nv > 0) {
        out->walk[steps++] = touch_of(k, out, i);
      }
    }
  }
  for (int j = 0; j < con->ncoord; j++) {
    touch_of(k, out, sni_tree_body_of(t, con->coord[j]));
  }
  for (int n = 0; n < out->ntouch; n++) {
    out->touch[n].at = out->columns;
    out->columns += t->joint[out->touch[n].body].nv;
  }
  out->size = out->columns < con->nrow ? out->columns : con->nrow;
  return true;
}

/* An upper bound, without the lists of the constraints. */
static int64_t count_blocks(const sni_kkt_reduced *k, int npairs, const int (*pair)[2]) {
  const sni_tree *t = &k->d->m->tree;
  int64_t n = 0;
  for (int i = 0; i < t->nbody; i++) {
    n += t->joint[i].nv > 0 ? k->depth[i] : 0;
  }
  for (int c = 0; c < k->ncon; c++) {
    const sni_constraint *con = &k->d->rows->constraint[c];
    n += 1 + con->ncoord + way_length(k, con->body[0]) + way_length(k, con->body[1]);
  }
  for (int p = 0; p < npairs; p++) {
    n += (int64_t)way_length(k, pair[p][0]) * way_length(k, pair[p][1]);
  }
  return n;
}

static void want_all(const sni_kkt_reduced *k, int joints, block_set *s, bool forces) {
  const sni_tree *t = &k->d->m->tree;
  for (int i = 0; !forces && i < t->nbody; i++) {
    for (int b = i; k->node[i] >= 0 && b >= 0; b = next_joint(t, t->parent[b])) {
      want(s, k->node[i], k->node[b]);
    }
  }
  for (int c = 0, node = joints; !forces && c < k->ncon; c++) {
    if (k->tied[c].size > 0) {
      want(s, node, node);
      for (int n = 0; n < k->tied[c].ntouch; n++) {
        want(s, node, k->node[k->tied[c].touch[n].body]);
      }
      node++;
    }
  }
  for (int p = 0; forces && p < k->npairs; p++) {
    const sni_coupling *pair = &k->coupling[p];
    for (int a = next_joint(t, pair->body[0]); a >= 0; a = next_joint(t, t->parent[a])) {
      for (int b = next_joint(t, pair->body[1]); b >= 0; b = next_joint(t, t->parent[b])) {
        want(s, k->node[a], k->node[b]);
      }
    }
  }
}

/* ---- from blocks to where their values are ---- */

static void find_values(sni_kkt_reduced *k, int joints, const block_set *s) {
  const sni_tree *t = &k->d->m->tree;
  int at = 0;
  for (int i = 0; i < t->nbody; i++) {
    k->way[i] = at;
    for (int b = i; k->node[i] >= 0 && b >= 0; b = next_joint(t, t->parent[b])) {
      k->above[at++] = sni_ldl_block(k->ldl, find(s, k->node[i], k->node[b]));
    }
  }
  k->way[t->nbody] = at;
  for (int c = 0, node = joints; c < k->ncon; c++) {
    sni_tied *tied = &k->tied[c];
    if (tied->size > 0) {
      tied->own = sni_ldl_block(k->ldl, find(s, node, node));
      for (int n = 0; n < tied->ntouch; n++) {
        tied->touch[n].block = sni_ldl_block(k->ldl, find(s, node, k->node[tied->touch[n].body]));
      }
      node++;
    }
  }
  for (int p = 0; p < k->npairs; p++) {
    const sni_coupling *pair = &k->coupling[p];
    int n = 0;
    for (int a = next_joint(t, pair->body[0]); a >= 0; a = next_joint(t, t->parent[a])) {
      for (int b = next_joint(t, pair->body[1]); b >= 0; b = next_joint(t, t->parent[b])) {
        pair->block[n] = sni_ldl_block(k->ldl, find(s, k->node[a], k->node[b]));
        pair->turned[n++] = k->node[a] < k->node[b];
      }
    }
  }
}

static bool take_parts(sni_kkt_reduced *k, int npairs, const int (*pair)[2]) {
  const sni_tree *t = &k->d->m->tree;
  const size_t nbody = (size_t)t->nbody, nv = (size_t)t->nv;
  k->node = sni_arena_take(&k->arena, nbody * sizeof *k->node);
  k->touched = sni_arena_take(&k->arena, nbody * sizeof *k->touched);
  k->way = sni_arena_take(&k->arena, (nbody + 1) * sizeof *k->way);
  k->tied = sni_arena_take(&k->arena, (size_t)k->ncon * sizeof *k->tied);
  k->coupling = sni_arena_take(&k->arena, (size_t)npairs * sizeof *k->coupling);
  k->carried = sni_arena_take(&k->arena, nbody * sizeof *k->carried);
  k->scale = sni_arena_take(&k->arena, nv * sizeof *k->scale);
  k->unit = sni_arena_take(&k->arena, nv * sizeof *k->unit);
  k->doubted = sni_arena_take(&k->arena, nv * sizeof *k->doubted);
  k->u = sni_arena_take(&k->arena, nv * sizeof *k->u);
  k->v = sni_arena_take(&k->arena, nv * sizeof *k->v);
  if (!k->node || !k->touched || !k->way || !k->tied || !k->coupling || !k->carried || !k->scale ||
      !k->unit || !k->doubted || !k->u || !k->v) {
    return false;
  }
  int most = 0;
  for (int c = 0; c < k->ncon; c++) {
    if (!find_touched(k, &k->d->rows->constraint[c], &k->tied[c])) {
      return false;
    }
    most = k->tied[c].columns > most ? k->tied[c].columns : most;
  }
  k->G = sni_arena_take(&k->arena, (size_t)most * sizeof *k->G);
  k->npairs = npairs;
  for (int p = 0; p < npairs; p++) {
    sni_coupling *out = &k->coupling[p];
    for (int end = 0; end < 2; end++) {
      out->body[end] = pair[p][0] >= 0 && pair[p][1] >= 0 ? pair[p][end] : -1;
      out->count[end] = way_length(k, out->body[end]);
    }
  }
  return k->G != NULL;
}

/* Nodes: the joints that have coordinates, then the constraints. */
static int lay_out_nodes(sni_kkt_reduced *k, int *size, int *sign, int *joints) {
  const sni_tree *t = &k->d->m->tree;
  int n = 0, scalars = 0;
  for (int i = 0; i < t->nbody; i++) {
    k->node[i] = t->joint[i].nv > 0 ? n : -1;
    if (k->node[i] >= 0) {
      size[n] = t->joint[i].nv;
      sign[n++] = 1;
    }
  }
  *joints = n;
  scalars = t->nv;
  for (int c = 0; c < k->ncon; c++) {
    k->tied[c].row = scalars;
    if (k->tied[c].size > 0) {
      scalars += size[n] = k->tied[c].size;
      sign[n++] = -1;
    }
  }
  k->scalars = scalars;
  return n;
}

typedef struct scratch {
  int *size, *sign, *row, *col, *later, *earlier;
  block_set own, all;
} scratch;

static bool take_scratch(const sni_kkt_reduced *k, int64_t blocks, scratch *s, sni_arena *arena) {
  const size_t nodes = (size_t)(k->d->m->tree.nbody + k->ncon), n = (size_t)blocks + 1;
  s->size = sni_arena_take(arena, nodes * sizeof(int));
  s->sign = sni_arena_take(arena, nodes * sizeof(int));
  s->row = sni_arena_take(arena, n * sizeof(int));
  s->col = sni_arena_take(arena, n * sizeof(int));
  s->later = sni_arena_take(arena, n * sizeof(int));
  s->earlier = sni_arena_take(arena, n * sizeof(int));
  s->own.key = sni_arena_take(arena, n * sizeof(int64_t));
  s->all.key = sni_arena_take(arena, n * sizeof(int64_t));
  return s->size && s->sign && s->row && s->col && s->later && s->earlier && s->own.key &&
         s->all.key;
}

static bool take_values(sni_kkt_reduced *k, const scratch *s) {
  k->above = sni_arena_take(&k->arena, (size_t)s->own.count * sizeof *k->above);
  const size_t only = (size_t)(s->all.count - s->own.count);
  k->extra = sni_arena_take(&k->arena, only * sizeof *k->extra);
  k->extra_size = sni_arena_take(&k->arena, only * sizeof *k->extra_size);
  bool good = k->above && k->extra && k->extra_size;
  for (int p = 0; good && p < k->npairs; p++) {
    sni_coupling *pair = &k->coupling[p];
    const size_t n = (size_t)pair->count[0] * (size_t)pair->count[1];
    pair->block = sni_arena_take(&k->arena, n * sizeof *pair->block);
    pair->turned = sni_arena_take(&k->arena, n * sizeof *pair->turned);
    good = pair->block && pair->turned;
  }
  return good;
}

static sn_status build(sni_kkt_reduced *k, size_t bytes_max, scratch *s, int64_t blocks,
                       sni_arena *arena, sn_error *err) {
  int joints = 0, rules = 0;
  if (!take_scratch(k, blocks, s, arena)) {
    return SN_E_MEMORY;
  }
  const int nodes = lay_out_nodes(k, s->size, s->sign, &joints);
  want_all(k, joints, &s->own, false);
  sort_unique(&s->own);
  memcpy(s->all.key, s->own.key, (size_t)s->own.count * sizeof *s->own.key);
  s->all.count = s->own.count;
  want_all(k, joints, &s->all, true);
  sort_unique(&s->all);
  for (int b = 0; b < s->all.count; b++) {
    s->row[b] = (int)(s->all.key[b] >> 32);
    s->col[b] = (int)(s->all.key[b] & 0x7fffffff);
    if (s->row[b] >= joints && s->col[b] < joints) {
      s->later[rules] = s->row[b];
      s->earlier[rules++] = s->col[b];
    }
  }
  const sni_ldl_pattern pattern = {
      .n = nodes,
      .size = s->size,
      .sign = s->sign,
      .block_count = s->all.count,
      .row = s->row,
      .col = s->col,
      .demands = {.rule_count = rules, .later = s->later, .earlier = s->earlier}};
  sni_ldl_options options = sni_ldl_options_default();
  options.bytes_max = bytes_max;
  const sn_status status = sni_ldl_build(&pattern, &options, &k->ldl, err);
  if (status || !take_values(k, s)) {
    return status ? status : SN_E_MEMORY;
  }
  find_values(k, joints, &s->all);
  for (int b = 0; b < s->all.count; b++) {
    if (!bsearch(&s->all.key[b], s->own.key, (size_t)s->own.count, sizeof s->all.key[b],
                 compare_keys)) {
      k->extra_size[k->nextra] = s->size[s->row[b]] * s->size[s->col[b]];
      k->extra[k->nextra++] = sni_ldl_block(k->ldl, b);
    }
  }
  return SN_OK;
}

sn_status sni_kkt_reduced_build(const sni_dynamics *d, int npairs, const int (*pair)[2],
                                size_t bytes_max, sni_kkt_reduced **out, sn_error *err) {
  sni_kkt_reduced *k = calloc(1, sizeof *k);
  sni_arena arena = {0};
  scratch s = {0};
  sn_status status = SN_E_MEMORY;
  if (k) {
    k->d = d;
    k->ncon = d->rows ? d->rows->nconstraint : 0;
    k->depth = sni_arena_take(&k->arena, (size_t)d->m->tree.nbody * sizeof *k->depth);
  }
  if (k && k->depth) {
    find_depths(k);
    const int64_t blocks = count_blocks(k, npairs, pair);
    const double bytes = BLOCK_BYTES * (double)blocks;
    if (blocks > BLOCKS_MAX || bytes > (double)bytes_max) {
      status = sni_fail(err, SN_E_LIMIT,
                        "the reduced system has up to %lld blocks, too many: take auto or graph",
                        (long long)blocks);
    } else if (take_parts(k, npairs, pair)) {
      status = build(k, bytes_max, &s, blocks, &arena, err);
    }
  }
  sni_arena_free(&arena);
  *out = k;
  if (status == SN_E_MEMORY) {
    sni_fail(err, status, "no memory for the reduced system");
  }
  if (status) {
    sni_kkt_reduced_free(out);
  }
  return status;
}

void sni_kkt_reduced_free(sni_kkt_reduced **kkt) {
  sni_kkt_reduced *k = *kkt;
  if (k) {
    sni_ldl_free(&k->ldl);
    sni_arena_free(&k->arena);
    free(k);
  }
  *kkt = NULL;
}
