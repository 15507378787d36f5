/* kinematics.c: poses, velocities and bias accelerations, from the ground to the tips.
 *
 *     R = R_p R_pb     r = R_p p_pb     S_w = R S_b
 *     w = w_p + S_w,w qd                v = v_p + w_p x r + S_w,v qd
 *     c = (w_p x w_rel + R Sdot,w qd ;  w_p x (w_p x r + v_rel) + w x v_rel + R Sdot,v qd)
 *
 * with (w_rel, v_rel) = S_w qd: the eta of [RMS Alg 6] for the acceleration of the material point
 * o.  Joints are evaluated run by run, so that what they write stays in the first cache.  Poses and
 * velocities can be had one after the other: a step knows the former before the latter. */
#include "dynamics/recursion.h"

#include "base/memory.h"

#include <string.h>

typedef struct chunk {
  sn_se3 E_pb[SNI_RUN_MAX];
  sn_vec6 S[SNI_RUN_MAX * SN_NV_MAX], Sdot[SNI_RUN_MAX * SN_NV_MAX];
} chunk;

/* Pose of the body, from the parent's; returns r. */
SNI_LANE_FN sni_lane place(const sni_link *p, const sn_se3 *E_pb, sni_link *l) {
  for (int j = 0; j < 3; j++) {
    l->R[j] = sni_lane_mul(p->R, E_pb->R.m[0][j], E_pb->R.m[1][j], E_pb->R.m[2][j]);
  }
  const sni_lane r = sni_lane_mul(p->R, E_pb->p.x, E_pb->p.y, E_pb->p.z);
  l->o = p->o + r;
  return r;
}

SNI_LANE_FN sni_lane6 turned(const sni_link *l, const sn_vec6 *S) {
  return (sni_lane6){sni_lane_mul(l->R, S->w.x, S->w.y, S->w.z),
                     sni_lane_mul(l->R, S->v.x, S->v.y, S->v.z)};
}

/* One coordinate, S = (a; 0). */
static void place_hinges(const sni_tree *t, const sni_run *run, const chunk *k, sni_work *w) {
  for (int j = 0; j < run->count; j++) {
    const int i = run->first + j, adr = t->vadr[i];
    sni_link *l = &w->link[i];
    w->r[i] = place(&w->link[t->parent[i]], &k->E_pb[j], l);
    const sn_vec3 axis = t->S0[adr].w;
    w->S[adr].w = sni_lane_mul(l->R, axis.x, axis.y, axis.z); /* its linear half stays zero */
  }
}

static void place_others(const sni_tree *t, const sni_run *run, const chunk *k, sni_work *w) {
  const bool constant = run->ops->constant_S;
  int column = 0;
  for (int j = 0; j < run->count; j++) {
    const int i = run->first + j;
    sni_link *l = &w->link[i];
    w->r[i] = place(&w->link[t->parent[i]], &k->E_pb[j], l);
    for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++, column++) {
      w->S[c] = turned(l, constant ? &t->S0[c] : &k->S[column]);
    }
  }
}

static void evaluate(const sni_tree *t, const sni_run *run, const double *q, const double *qd,
                     chunk *k) {
  const int adr = t->vadr[run->first];
  run->ops->calc(sni_tree_joints(t), run->first, run->count, q + adr, qd + adr,
                 (sni_joint_out){k->E_pb, k->S, k->Sdot});
}

static void move_hinges(const sni_tree *t, const sni_run *run, const double *qd, sni_work *w) {
  for (int i = run->first; i < run->first + run->count; i++) {
    const int adr = t->vadr[i];
    const sni_link *p = &w->link[t->parent[i]];
    sni_link *l = &w->link[i];
    const sni_lane turn = w->S[adr].w * sni_lane_all(qd[adr]);
    const sni_lane along = sni_lane_cross(p->w, w->r[i]);
    l->c.w = sni_lane_cross(p->w, turn);
    l->c.v = sni_lane_cross(p->w, along);
    l->w = p->w + turn;
    l->v = p->v + along;
  }
}

/* k: of the run, where S varies. */
static void move_others(const sni_tree *t, const sni_run *run, const double *qd, const chunk *k,
                        sni_work *w) {
  const bool constant = run->ops->constant_S;
  int column = 0;
  for (int i = run->first; i < run->first + run->count; i++) {
    const sni_link *p = &w->link[t->parent[i]];
    sni_link *l = &w->link[i];
    sni_lane6 rel = {0}, accel = {0};
    sn_vec6 varies = {{0, 0, 0}, {0, 0, 0}};
    for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++, column++) {
      rel = sni_lane6_addscaled(rel, qd[c], w->S[c]);
      if (!constant) {
        varies = sn_vec6_addscaled(varies, qd[c], k->Sdot[column]);
      }
    }
    if (!constant) {
      accel = turned(l, &varies);
    }
    const sni_lane along = sni_lane_cross(p->w, w->r[i]) + rel.v;
    l->w = p->w + rel.w;
    l->v = p->v + along;
    l->c.w = accel.w + sni_lane_cross(p->w, rel.w);
    l->c.v = accel.v + (sni_lane_cross(p->w, along) + sni_lane_cross(l->w, rel.v));
  }
}

/* In one place only, so that the same q and qd give the same bits whoever asks. */
static __attribute__((noinline)) void move_run(const sni_tree *t, const sni_run *run,
                                               const double *qd, const chunk *k, sni_work *w) {
  if (run->hinge) {
    move_hinges(t, run, qd, w);
  } else {
    move_others(t, run, qd, k, w);
  }
}

static void place_run(const sni_tree *t, const sni_run *run, const chunk *k, sni_work *w) {
  if (run->hinge) {
    place_hinges(t, run, k, w);
  } else {
    place_others(t, run, k, w);
  }
}

static void place_ground(sni_work *w) {
  w->link[-1] = (sni_link){.R = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

void sni_place(const sni_tree *t, const sni_block *block, const double *q, const double *qd,
               sni_work *w) {
  chunk k;
  place_ground(w);
  for (int n = block->run; n < block->run + block->nrun; n++) {
    evaluate(t, &t->run[n], q, qd, &k);
    place_run(t, &t->run[n], &k, w);
  }
}

void sni_move(const sni_tree *t, const sni_block *block, const double *q, const double *qd,
              sni_work *w) {
  chunk k;
  for (int n = block->run; n < block->run + block->nrun; n++) {
    const sni_run *run = &t->run[n];
    if (!run->ops->constant_S) {
      evaluate(t, run, q, qd, &k);
    }
    move_run(t, run, qd, &k, w);
  }
}

void sni_kinematics(const sni_tree *t, const double *q, const double *qd, sni_work *w) {
  chunk k;
  place_ground(w);
  for (int n = 0; n < t->nrun; n++) {
    const sni_run *run = &t->run[n];
    evaluate(t, run, q, qd, &k);
    place_run(t, run, &k, w);
    move_run(t, run, qd, &k, w);
  }
}

void sni_kinematics_Sdot(const sni_tree *t, const double *q, const double *qd, sni_work *w) {
  chunk k;
  for (int n = 0; n < t->nrun; n++) {
    const sni_run *run = &t->run[n];
    if (run->ops->constant_S) {
      continue; /* Sdot stays zero */
    }
    evaluate(t, run, q, qd, &k);
    int column = 0;
    for (int i = run->first; i < run->first + run->count; i++) {
      for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++, column++) {
        w->Sdot[c] = turned(&w->link[i], &k.Sdot[column]);
      }
    }
  }
}

/* ---- memory ---- */

typedef struct place_at {
  char *at; /* NULL: only count */
  size_t used;
} place_at;

static void *take(place_at *p, size_t count, size_t size) {
  void *out = p->at ? p->at + p->used : NULL;
  p->used += sni_memory_room(count, size);
  return out;
}

static size_t lay_out(sni_work *w, const sni_tree *t, void *memory) {
  place_at p = {memory, 0};
  const size_t nbody = (size_t)t->nbody, nv = (size_t)t->nv;
  sni_link *link = take(&p, nbody + 1, sizeof *link);
  w->link = link ? link + 1 : NULL;
  w->r = take(&p, nbody, sizeof *w->r);
  w->S = take(&p, nv, sizeof *w->S);
  w->Sdot = take(&p, nv, sizeof *w->Sdot);
  w->Y = take(&p, nv, sizeof *w->Y);
  w->L = take(&p, (size_t)t->nfactor, sizeof *w->L);
  w->z = take(&p, nv, sizeof *w->z);
  w->art = take(&p, (size_t)t->nslot, sizeof *w->art);
  sni_lane6 *a = take(&p, nbody + 1, sizeof *a);
  w->a = a ? a + 1 : NULL;
  w->wrench = take(&p, nbody, sizeof *w->wrench);
  w->tau = take(&p, nv, sizeof *w->tau);
  return p.used;
}

size_t sni_work_size(const sni_tree *t) {
  sni_work w;
  return lay_out(&w, t, NULL);
}

void sni_work_place(sni_work *w, const sni_tree *t, void *memory) {
  memset(memory, 0, lay_out(w, t, memory));
}
