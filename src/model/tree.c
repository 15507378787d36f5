/* tree.c: derived structure of the tree: runs of one kind, and where sums are gathered. */
#include "model/tree.h"

#include <stdlib.h>
#include <string.h>

sni_mass sni_mass_from_inertia(sn_inertia I) {
  const sn_mat3 T = sn_inertia_tensor_at_origin(I);
  return (sni_mass){.m = I.mass,
                    .mc = sn_vec3_scale(I.com, I.mass),
                    .xx = T.m[0][0],
                    .yy = T.m[1][1],
                    .zz = T.m[2][2],
                    .xy = T.m[0][1],
                    .xz = T.m[0][2],
                    .yz = T.m[1][2]};
}

/* A hinge to the recursions: one constant column that only turns. */
static bool is_hinge(const sni_tree *t, int i) {
  const sni_joint_ops *ops = sni_joint_kind(t->joint[i].kind);
  return ops->constant_S && t->joint[i].nv == 1 && sn_vec3_norm(t->S0[t->vadr[i]].v) == 0;
}

/* Composites of one run have equally many coordinates, so that calc can count in steps of nv. */
static bool same_run(const sni_tree *t, const sni_run *run, int i) {
  return run->count < SNI_RUN_MAX && run->ops == sni_joint_kind(t->joint[i].kind) &&
         run->hinge == is_hinge(t, i) && t->joint[run->first].nv == t->joint[i].nv;
}

/* Walks the backward pass once: a slot is taken when the first child reports to a body and given
 * back when the body has been worked off, so that a chain needs one or two however long it is. */
static int assign_slots(const sni_tree *t, int *slot, uint8_t *gather, int *free_list) {
  int used = 0, nfree = 0;
  for (int i = t->nbody - 1; i >= 0; i--) {
    const int p = t->parent[i];
    if (gather[i] & SNI_HAS_CHILD) {
      free_list[nfree++] = slot[i]; /* its sum is read before it reports to its parent */
    }
    if (p >= 0 && !(gather[p] & SNI_HAS_CHILD)) {
      gather[p] |= SNI_HAS_CHILD;
      gather[i] |= SNI_FIRST_TO_PARENT;
      slot[p] = nfree > 0 ? free_list[--nfree] : used++;
    }
  }
  return used;
}

/* Lists them in t->block. */
static int find_blocks(const sni_tree *t) {
  int n = 0;
  for (int k = 0; k < t->nrun; k++) {
    const int first = t->run[k].first, end = first + t->run[k].count;
    if (n == 0 || end - t->block[n - 1].first > SNI_BLOCK_MAX) {
      t->block[n++] = (sni_block){.run = k, .first = first};
    }
    t->block[n - 1].nrun++;
    t->block[n - 1].end = end;
  }
  return n;
}

/* Lists them in t->ball, or only counts them if that is NULL. */
static int find_balls(const sni_tree *t) {
  int n = 0;
  for (int i = 0; i < t->nbody; i++) {
    for (int k = 0; k < t->joint[i].nv; k++) {
      if (sni_joint_is_ball(sni_tree_joints(t), i, k)) {
        if (t->ball) {
          t->ball[n] = (sni_ball){i, k};
        }
        n++;
      }
    }
  }
  return n;
}

bool sni_tree_ball_alone(const sni_tree *t, int i) {
  const sni_joint_set set = sni_tree_joints(t);
  if (t->joint[i].nv != 3 || !sni_joint_is_ball(set, i, 0)) {
    return false;
  }
  const double zero[3] = {0};
  sn_se3 E_pb;
  sn_vec6 S[3], Sdot[3];
  memcpy(S, t->S0 + t->vadr[i], sizeof S);
  sni_joint_ops_of(set, i)->calc(set, i, 1, zero, zero, (sni_joint_out){&E_pb, S, Sdot});
  bool alone = true;
  for (int k = 0; k < 3; k++) {
    alone = alone && sn_vec3_dot(S[k].v, S[k].v) == 0;
  }
  return alone;
}

sn_status sni_tree_link(sni_tree *t, void *(*alloc)(void *arena, size_t size), void *arena) {
  const size_t n = (size_t)t->nbody;
  t->slot = alloc(arena, (n + 1) * sizeof *t->slot);
  t->gather = alloc(arena, n + 1);
  t->factor = alloc(arena, (n + 1) * sizeof *t->factor);
  t->run = alloc(arena, (n + 1) * sizeof *t->run);
  int *free_list = malloc((n + 1) * sizeof *free_list);
  if (!t->slot || !t->gather || !t->factor || !t->run || !free_list) {
    free(free_list);
    return SN_E_MEMORY;
  }
  memset(t->slot, 0, n * sizeof *t->slot);
  memset(t->gather, 0, n);
  t->nslot = assign_slots(t, t->slot, t->gather, free_list);
  free(free_list);
  t->nfactor = t->nrun = 0;
  for (int i = 0; i < t->nbody; i++) {
    t->factor[i] = t->nfactor;
    t->nfactor += t->joint[i].nv * t->joint[i].nv;
    if (t->nrun == 0 || !same_run(t, &t->run[t->nrun - 1], i)) {
      t->run[t->nrun++] = (sni_run){i, 0, sni_joint_kind(t->joint[i].kind), is_hinge(t, i)};
    }
    t->run[t->nrun - 1].count++;
  }
  t->block = alloc(arena, ((size_t)t->nrun + 1) * sizeof *t->block);
  if (!t->block) {
    return SN_E_MEMORY;
  }
  t->nblock = find_blocks(t);
  t->nball = find_balls(t);
  t->ball = alloc(arena, (size_t)t->nball * sizeof *t->ball);
  if (!t->ball) {
    return SN_E_MEMORY;
  }
  find_balls(t);
  return SN_OK;
}

int sni_tree_body_of(const sni_tree *t, int coordinate) {
  int lo = 0, hi = t->nbody - 1;
  while (lo < hi) { /* joints without coordinates are passed over */
    const int mid = (lo + hi) / 2;
    if (t->vadr[mid + 1] <= coordinate) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}
