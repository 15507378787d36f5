/* compile_hang.c: bodies that are given without a joint hang by loops.
 *
 * Who draws a linkage knows what is joined to what, and not which of the joints should carry the
 * tree.  For bodies without a joint the builder chooses: from the ground, and from what has joints,
 * outward by loops; those of the highest priority first, and of these the nearest to the ground, so
 * that the tree is breadth-first and loops are cut where long branches meet.  (A ladder cut so has
 * a matrix of loops of condition 4; as a comb, with one string rooted only, of 4000.)
 *
 * The loop that reaches a body becomes its joint:
 *
 *     b hangs on a:  E_pb = E_a Q(q)    E_b^-1
 *     a hangs on b:  E_pb = E_b Q(q)^-1 E_a^-1
 *
 * The frame of the body stays where it was given, so the joint is a composite of the loop's and of
 * a fixed part, unless the two are the same.  Q^-1 is of the same kind with the axis turned round,
 * where there is one. */
#include "model/compile.h"
#include "model/names.h"

#include <stdlib.h>
#include <string.h>

enum { WORLD = -1, NOWHERE = -2 };

typedef struct edge {
  double priority;
  int level; /* of the body that is reached already */
  int loop;
} edge;

typedef struct hanging {
  sni_compile *c;
  sn_body_def *body;
  sn_loop_def *loop;
  int nbody, nloop;
  int (*end)[2];   /* nloop  bodies of each loop; WORLD, NOWHERE: there is no such body */
  bool *sound;     /* nloop  nothing is wrong with it */
  bool *taken;     /* nloop  it is a joint now */
  bool *hung;      /* nbody  was given without a joint */
  int *level;      /* nbody  joints to the ground; -1: not reached yet */
  int *parent;     /* nbody */
  int *first, *at; /* nbody + 2, 2 nloop  loops of each body; those of the world are the last */
  int *child_first, *child; /* nbody + 1, nbody  bodies that hang on each by joints of their own */
  int *queue;               /* nbody */
  edge *heap;
  int nheap;
} hanging;

/* ---- a heap of loops that lead on ---- */

static bool before(const edge *x, const edge *y) {
  return x->priority != y->priority ? x->priority > y->priority
         : x->level != y->level     ? x->level < y->level
                                    : x->loop < y->loop;
}

static void heap_push(hanging *g, edge e) {
  int k = g->nheap++;
  for (; k > 0 && before(&e, &g->heap[(k - 1) / 2]); k = (k - 1) / 2) {
    g->heap[k] = g->heap[(k - 1) / 2];
  }
  g->heap[k] = e;
}

static edge heap_pop(hanging *g) {
  const edge top = g->heap[0], last = g->heap[--g->nheap];
  int k = 0;
  for (int child = 1; child < g->nheap; child = 2 * k + 1) {
    child += child + 1 < g->nheap && before(&g->heap[child + 1], &g->heap[child]);
    if (!before(&g->heap[child], &last)) {
      break;
    }
    g->heap[k] = g->heap[child];
    k = child;
  }
  g->heap[k] = last;
  return top;
}

/* ---- a loop as a joint ---- */

static bool is_identity(sn_se3 E) {
  const sn_se3 I = sn_se3_identity();
  const double *x = (const double *)&E, *y = (const double *)&I;
  bool same = true;
  for (size_t k = 0; k < sizeof E / sizeof(double); k++) {
    same = same && x[k] == y[k];
  }
  return same;
}

/* Does Q(q)^-1 have the kind of Q(q), or (spherical) that of Q(-q), which is as good where nothing
 * tells one direction from the other? */
static bool turns_round(const sn_joint_def *j) {
  static const char *const with_axis[] = {"revolute", "prismatic", "cylindrical", "screw"};
  bool known = strcmp(j->type, "fixed") == 0;
  for (size_t k = 0; k < sizeof with_axis / sizeof *with_axis; k++) {
    known = known || strcmp(j->type, with_axis[k]) == 0;
  }
  const bool even = j->rest.n == 0 && j->lower.n == 0 && j->upper.n == 0 && !j->cone.enabled &&
                    !j->drive.enabled && !j->friction.enabled && !j->backlash.enabled;
  return known || (strcmp(j->type, "spherical") == 0 && even);
}

/* May this loop carry what is at its side `to` (0: a, 1: b)? */
static bool carries(const sn_loop_def *loop, int to) {
  const sn_joint_def *j = &loop->joint;
  const bool always = !loop->active.expression && loop->active.nkey == 0 &&
                      !loop->active.csv_file && loop->active.value > 0;
  const bool simple = !j->cone.enabled && !j->friction.enabled && !j->backlash.enabled;
  return always && (to == 1 || turns_round(j)) &&
         (simple || is_identity(to == 1 ? loop->b.at : loop->a.at));
}

static bool make_joint(hanging *g, const sn_loop_def *loop, int to, sn_joint_def *out) {
  const sn_se3 from = to == 1 ? loop->a.at : loop->b.at, end = to == 1 ? loop->b.at : loop->a.at;
  sn_joint_def joint = loop->joint;
  if (to == 0) {
    joint.axis = sn_vec3_neg(joint.axis);
  }
  joint.at = from;
  if (is_identity(end)) {
    *out = joint;
    return true;
  }
  sn_joint_def *part = sni_arena_take(&g->c->b->arena, 2 * sizeof *part);
  if (!part) {
    g->c->out_of_memory = true;
    return false;
  }
  /* what belongs to coordinates belongs to the whole, what tells how they move to the part */
  part[0] = part[1] = sn_joint_def_default();
  part[0].type = joint.type;
  part[0].axis = joint.axis;
  part[0].pitch = joint.pitch;
  part[0].parts = joint.parts;
  part[0].npart = joint.npart;
  part[0].frames = joint.frames;
  part[0].nframe = joint.nframe;
  part[0].cyclic = joint.cyclic;
  part[0].grid = joint.grid;
  part[0].grid_rows = joint.grid_rows;
  part[0].grid_columns = joint.grid_columns;
  part[1].type = "fixed";
  part[1].at = sn_se3_inverse(end);
  joint.type = "composite";
  joint.parts = part;
  joint.npart = 2;
  *out = joint;
  return true;
}

/* Its mistakes are reported where it was written, as a loop. */
static bool is_sound(hanging *g, int k) {
  const sn_loop_def *loop = &g->loop[k];
  sni_joint_builder trial = {0};
  sni_joint joint = {0};
  sn_vec6 S0[SN_NV_MAX];
  sn_error err = {0};
  sn_joint_def own = loop->joint;
  own.at = sn_se3_identity();
  const sn_status status = sni_joint_finish(&trial, &own, &joint, S0, &err);
  free(trial.pool);
  free(trial.part);
  const sn_per_dof *each[] = {&own.stiffness, &own.damping, &own.rest,
                              &own.armature,  &own.lower,   &own.upper};
  bool fit = true;
  for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
    fit = fit && (each[i]->n <= 1 || each[i]->n == joint.nv);
  }
  return !status && fit && sn_se3_is_pose(loop->a.at) && sn_se3_is_pose(loop->b.at) &&
         isfinite(loop->priority) && g->end[k][0] != g->end[k][1] && g->end[k][0] != NOWHERE &&
         g->end[k][1] != NOWHERE;
}

/* ---- the graph ---- */

static int find_end(const sni_name *list, int n, const char *name) {
  if (!name || strcmp(name, "world") == 0) {
    return WORLD;
  }
  const int k = sni_names_find(list, n, name);
  return k < 0 ? NOWHERE : k;
}

/* at: places 0 .. n-1 in the order of of[], from first[of[k]] on. */
static void sort_by(const int *of, int n, int groups, int *first, int *at) {
  for (int k = 0; k < n; k++) {
    if (of[k] >= 0) {
      first[of[k] + 1]++;
    }
  }
  for (int i = 0; i < groups; i++) {
    first[i + 1] += first[i];
  }
  for (int k = n - 1; k >= 0; k--) {
    if (of[k] >= 0) {
      at[--first[of[k] + 1]] = k;
    }
  }
  /* now first[i + 1] is where group i begins */
  memmove(first, first + 1, (size_t)groups * sizeof *first);
  first[groups] = 0;
  for (int k = 0; k < n; k++) {
    first[groups] += of[k] >= 0;
  }
}

/* Bodies that have a joint, and all on them, from those in the queue on; and the loops that lead
 * from there. */
static void reach(hanging *g, int count) {
  for (int k = 0; k < count; k++) {
    const int i = g->queue[k];
    for (int j = g->child_first[i]; j < g->child_first[i + 1]; j++) {
      const int child = g->child[j];
      if (g->level[child] < 0) {
        g->level[child] = g->level[i] + 1;
        g->queue[count++] = child;
      }
    }
  }
  for (int k = 0; k < count; k++) {
    const int i = g->queue[k];
    for (int j = g->first[i]; j < g->first[i + 1]; j++) {
      const int loop = g->at[j] / 2;
      heap_push(g, (edge){g->loop[loop].priority, g->level[i], loop});
    }
  }
}

static void hang(hanging *g, int k, int to) {
  const int i = g->end[k][to], on = g->end[k][1 - to];
  sn_body_def *body = &g->body[i];
  if (!make_joint(g, &g->loop[k], to, &body->joint)) {
    return;
  }
  sni_compile_at(g->c, "loops", g->loop[k].name);
  if (sni_compile_weight(g->c, g->loop[k].weight) != 1) {
    sni_compile_warn(g->c, "weight",
                     "does nothing: body '%s' hangs by this loop, which always holds",
                     body->name ? body->name : "");
  }
  body->parent = on < 0 ? "world" : g->body[on].name;
  g->c->m->hung_by[i] = sni_compile_text(g->c, g->loop[k].name);
  g->taken[k] = true;
  g->level[i] = on < 0 ? 0 : g->level[on] + 1;
  g->queue[0] = i;
  reach(g, 1);
}

static void choose(hanging *g) {
  int count = 0;
  for (int i = 0; i < g->nbody; i++) {
    if (!g->hung[i] && g->parent[i] < 0) {
      g->level[i] = 0;
      g->queue[count++] = i;
    }
  }
  for (int j = g->first[g->nbody]; j < g->first[g->nbody + 1]; j++) {
    heap_push(g, (edge){g->loop[g->at[j] / 2].priority, -1, g->at[j] / 2});
  }
  reach(g, count);
  while (g->nheap > 0 && !g->c->out_of_memory) {
    const int k = heap_pop(g).loop;
    for (int to = 0; to < 2; to++) {
      const int i = g->end[k][to], on = g->end[k][1 - to];
      const bool open = i >= 0 && g->hung[i] && g->level[i] < 0 && (on < 0 || g->level[on] >= 0);
      if (open && carries(&g->loop[k], to)) {
        hang(g, k, to);
        break;
      }
    }
  }
}

/* Loops that are joints now are loops no more; bodies that nothing reached are reported. */
static void conclude(hanging *g, bool any_unsound) {
  int kept = 0;
  for (int k = 0; k < g->nloop; k++) {
    if (!g->taken[k]) {
      g->loop[kept++] = g->loop[k];
    }
  }
  g->c->b->loop.count = kept;
  for (int i = 0; i < g->nbody; i++) {
    if (g->hung[i] && g->level[i] < 0) {
      sni_compile_at(g->c, "bodies", g->body[i].name);
      if (!any_unsound) {
        sni_compile_fail(g->c, NULL,
                         "has no joint, and no loop that is always closed leads from what has one "
                         "to it: give it a joint (free: it flies), or join it by a loop");
      }
      g->body[i].joint.type = "fixed"; /* for the rest of the checks */
    }
  }
}

static void read_graph(hanging *g, sni_name *list, int *of) {
  const int n = g->nbody;
  for (int k = 0; k < n; k++) {
    list[k] = (sni_name){g->body[k].name ? g->body[k].name : "", k};
  }
  sni_names_sort(list, n);
  for (int k = 0; k < n; k++) {
    g->level[k] = -1;
    g->parent[k] = g->hung[k] ? WORLD : find_end(list, n, g->body[k].parent);
  }
  sort_by(g->parent, n, n, g->child_first, g->child);
  for (int k = 0; k < g->nloop; k++) {
    g->end[k][0] = find_end(list, n, g->loop[k].a.body);
    g->end[k][1] = find_end(list, n, g->loop[k].b.body);
    g->sound[k] = is_sound(g, k);
    for (int side = 0; side < 2; side++) {
      const int i = g->end[k][side];
      of[2 * k + side] = !g->sound[k] ? -1 : i == WORLD ? n : i;
    }
  }
  sort_by(of, 2 * g->nloop, n + 1, g->first, g->at);
}

/* Bodies of which only the name is known have no joint for another reason. */
static int find_hung(hanging *g) {
  int count = 0;
  for (int i = 0; i < g->nbody; i++) {
    g->hung[i] = !g->body[i].joint.type && !g->body[i].parent;
  }
  const int *unknown = g->c->b->unknown.item;
  for (int k = 0; k < g->c->b->unknown.count; k++) {
    g->hung[unknown[k]] = false;
  }
  for (int i = 0; i < g->nbody; i++) {
    count += g->hung[i];
  }
  return count;
}

void sni_compile_hang(sni_compile *c) {
  sn_builder *b = c->b;
  const size_t n = (size_t)b->body.count, m = (size_t)b->loop.count;
  hanging g = {.c = c,
               .body = b->body.item,
               .loop = b->loop.item,
               .nbody = b->body.count,
               .nloop = b->loop.count};
  bool *flags = calloc(n + 2 * m + 1, sizeof *flags);
  g.hung = flags;
  if (!flags) {
    c->out_of_memory = true;
    return;
  }
  if (find_hung(&g) > 0) {
    int *ints = calloc(6 * n + 7 + 6 * m, sizeof *ints);
    sni_name *list = calloc(n, sizeof *list);
    g.heap = calloc(2 * m + 1, sizeof *g.heap);
    c->m->hung_by = sni_compile_take(c, n, sizeof *c->m->hung_by);
    if (ints && list && g.heap && c->m->hung_by) {
      g.sound = flags + n;
      g.taken = g.sound + m;
      g.level = ints;
      g.parent = g.level + n;
      g.queue = g.parent + n;
      g.first = g.queue + n;
      g.child_first = g.first + n + 3;
      g.child = g.child_first + n + 2;
      g.at = g.child + n;
      g.end = (int(*)[2])(g.at + 2 * m);
      bool any_unsound = false;
      read_graph(&g, list, g.at + 4 * m);
      for (size_t k = 0; k < m; k++) {
        any_unsound = any_unsound || !g.sound[k];
      }
      choose(&g);
      conclude(&g, any_unsound);
    } else {
      c->out_of_memory = true;
    }
    free(ints);
    free(list);
    free(g.heap);
  }
  free(flags);
}
