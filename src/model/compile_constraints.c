/* compile_constraints.c: loops, and motions as constraints. */
#include "model/compile.h"

#include <stdlib.h>
#include <string.h>

/* What a loop's joint may have beside its kind, when methods can do it. */
static void check_extras(sni_compile *c, const sn_joint_def *def) {
  const struct {
    const char *key;
    bool given;
  } extra[] = {
      {"armature", def->armature.n > 0},   {"limits", def->lower.n > 0 || def->upper.n > 0},
      {"stiffness", def->stiffness.n > 0}, {"damping", def->damping.n > 0},
      {"drive", def->drive.enabled},       {"friction", def->friction.enabled}};
  for (int k = 0; k < SNI_COUNT(extra); k++) {
    if (extra[k].given) {
      sni_compile_warn(c, extra[k].key, "has no effect in a loop yet");
    }
  }
}

static void finish_loop(sni_compile *c, int k, const sn_loop_def *def, sni_joint *joint) {
  sn_model *m = c->m;
  sni_constraint *loop = &m->constraint[k];
  sni_compile_at(c, "loops", def->name);
  const int a = sni_compile_body(c, "a.body", def->a.body);
  const int b = sni_compile_body(c, "b.body", def->b.body);
  if (a == b && a != -2) {
    sni_compile_fail(c, "b.body", "is the same body as a: a loop needs two");
  }
  sni_compile_pose(c, "a.at", def->a.at);
  sni_compile_pose(c, "b.at", def->b.at);
  sn_joint_def own = def->joint;
  own.at = sn_se3_identity();
  sn_error err = {0};
  const sn_status status =
      sni_joint_finish(&c->loops, &own, joint, m->loop_S0 + SN_NV_MAX * k, &err);
  if (status) {
    err.code = status;
    sni_compile_pass_on(c, NULL, &err);
    *joint = (sni_joint){0};
  }
  check_extras(c, &def->joint);
  *loop = (sni_constraint){.kind = SNI_LOOP,
                           .active = sni_compile_active(c, &def->active),
                           .nrow = 6 - joint->nv,
                           .body = {a, b},
                           .at = {def->a.at, def->b.at},
                           .joint = k,
                           .nv = joint->nv,
                           .first = m->nloop_q,
                           .function = -1};
  m->nloop_q += joint->nv;
}

static void finish_loops(sni_compile *c) {
  sn_model *m = c->m;
  const sn_loop_def *def = c->b->loop.item;
  const int n = c->b->loop.count;
  m->loop_S0 = sni_compile_take(c, (size_t)n * SN_NV_MAX, sizeof *m->loop_S0);
  sni_joint *own = calloc((size_t)n + 1, sizeof *own);
  c->out_of_memory = c->out_of_memory || !own;
  for (int k = 0; k < n && !c->out_of_memory; k++) {
    finish_loop(c, k, &def[k], &own[k]);
  }
  /* the joints of loops, then the parts of composites, which are numbered after them */
  const int npart = c->loops.npart;
  sni_joint *joint = sni_compile_take(c, (size_t)(n + npart), sizeof *joint);
  double *pool = sni_compile_take(c, (size_t)c->loops.npool, sizeof *pool);
  if (!c->out_of_memory) {
    memcpy(joint, own, (size_t)n * sizeof *joint);
    for (int k = 0; k < npart; k++) {
      joint[n + k] = c->loops.part[k];
    }
    for (int k = 0; k < n + npart; k++) {
      joint[k].part_first += n;
    }
    if (c->loops.npool > 0) {
      memcpy(pool, c->loops.pool, (size_t)c->loops.npool * sizeof *pool);
    }
    m->loop_joints = (sni_joint_set){joint, pool};
    m->nconstraint = n;
  }
  free(own);
}

/* One row a coordinate: q = f(t). */
static void add_motions(sni_compile *c) {
  sn_model *m = c->m;
  for (int k = 0; k < m->nmotion; k++) {
    const sni_motion *motion = &m->motion[k];
    for (int j = 0; motion->body >= 0 && j < SN_NV_MAX && motion->q[j] >= 0; j++) {
      m->constraint[m->nconstraint + m->nmotion_row++] =
          (sni_constraint){.kind = SNI_COUPLE,
                           .active = motion->active,
                           .nrow = 1,
                           .body = {-1, -1},
                           .ncoord = 1,
                           .coord = {m->tree.vadr[motion->body] + j},
                           .coef = {1},
                           .function = motion->q[j]};
    }
  }
}

void sni_compile_constraints(sni_compile *c) {
  sn_model *m = c->m;
  const size_t most = (size_t)c->b->loop.count + (size_t)m->nmotion * SN_NV_MAX;
  m->constraint = sni_compile_take(c, most, sizeof *m->constraint);
  if (c->out_of_memory) {
    return;
  }
  finish_loops(c);
  add_motions(c);
  for (int k = 0; k < m->nconstraint + m->nmotion_row; k++) {
    m->nrow += m->constraint[k].nrow;
  }
}
