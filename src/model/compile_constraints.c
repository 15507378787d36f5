/* compile_constraints.c: loops, constraints, and motions as constraints. */
#include "model/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Springs, dampers and a drive in the joint of loop k. */
static void finish_loop_spring(sni_compile *c, int k, const sn_joint_def *def, int nv) {
  sn_model *m = c->m;
  sni_loop_spring *s = &m->loop_spring[m->nloop_spring];
  *s = (sni_loop_spring){.loop = k, .drive = {.body = -1}};
  sni_compile_spread(c, "stiffness", &def->stiffness, nv, 0, true, s->number.stiffness);
  sni_compile_spread(c, "damping", &def->damping, nv, 0, true, s->number.damping);
  sni_compile_spread(c, "rest", &def->rest, nv, 0, false, s->number.rest);
  if (def->rest.n > 0 && def->stiffness.n == 0 && !def->backlash.enabled) {
    sni_compile_warn(c, "rest", "does nothing without stiffness");
  }
  if (def->drive.enabled) {
    s->driven = sni_compile_drive(c, "drive", &def->drive, nv, &s->drive, s->number.drive_stiffness,
                                  s->number.drive_damping, s->number.drive_max);
    m->nloop_drive += s->driven;
  }
  sni_compile_friction_damping(c, "friction", &def->friction, nv, s->number.damping);
  const bool damped = def->damping.n > 0 || def->friction.damping.n > 0;
  if (nv > 0 && (s->driven || def->stiffness.n > 0 || damped)) {
    m->nloop_spring++;
  }
  if (def->armature.n > 0) {
    sni_compile_warn(c, "armature",
                     "has no effect in a loop: give it to the joint of a body, and let another "
                     "joint close the loop");
  }
}

/* Does the body hang by a loop? */
static bool is_hung(const sn_model *m, int body) {
  for (int k = 0; m->hung_by && k < m->tree.nbody; k++) {
    if (m->given[k] == body) {
      return m->hung_by[k];
    }
  }
  return false;
}

static void check_priority(sni_compile *c, const sn_loop_def *def, int a, int b) {
  if (!isfinite(def->priority)) {
    sni_compile_fail(c, "priority", "is %g, needs a finite number", def->priority);
  } else if (def->priority != 0 && !is_hung(c->m, a) && !is_hung(c->m, b)) {
    sni_compile_warn(c, "priority", "does nothing: its bodies have joints of their own");
  }
}

static void finish_loop(sni_compile *c, int k, const sn_loop_def *def, sni_joint *joint) {
  sn_model *m = c->m;
  sni_constraint *loop = &m->constraint[k];
  m->constraint_name[k] = sni_compile_text(c, def->name ? def->name : "");
  sni_compile_at(c, "loops", def->name);
  const int a = sni_compile_body(c, "a.body", def->a.body);
  const int b = sni_compile_body(c, "b.body", def->b.body);
  if (a == b && a != -2) {
    sni_compile_fail(c, "b.body", "is the same body as a: a loop needs two");
  }
  sni_compile_pose(c, "a.at", def->a.at);
  sni_compile_pose(c, "b.at", def->b.at);
  check_priority(c, def, a, b);
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
  sni_constraint_loop_basis(m->loop_S0 + SN_NV_MAX * k, joint->nv, m->loop_basis + 6 * k);
  finish_loop_spring(c, k, &def->joint, joint->nv);
  *loop = (sni_constraint){.kind = SNI_LOOP,
                           .active = sni_compile_active(c, &def->active),
                           .weight = sni_compile_weight(c, def->weight),
                           .nrow = 6 - joint->nv,
                           .body = {a, b},
                           .at = {def->a.at, def->b.at},
                           .joint = k,
                           .nv = joint->nv,
                           .first = m->nloop_q,
                           .function = {-1, -1, -1, -1, -1, -1}};
  m->nloop_q += joint->nv;
}

static void finish_loops(sni_compile *c) {
  sn_model *m = c->m;
  const sn_loop_def *def = c->b->loop.item;
  const int n = c->b->loop.count;
  m->loop_S0 = sni_compile_take(c, (size_t)n * SN_NV_MAX, sizeof *m->loop_S0);
  m->loop_basis = sni_compile_take(c, (size_t)n * 6, sizeof *m->loop_basis);
  m->loop_spring = sni_compile_take(c, (size_t)n, sizeof *m->loop_spring);
  sni_joint *own = calloc((size_t)n + 1, sizeof *own);
  c->out_of_memory = c->out_of_memory || !own;
  for (int k = 0; k < n && !c->out_of_memory; k++) {
    finish_loop(c, k, &def[k], &own[k]);
  }
  /* the joints of loops, then the parts of composites, which are numbered after them */
  const int npart = c->loops.npart;
  sni_joint *joint = sni_compile_take(c, (size_t)n + (size_t)npart, sizeof *joint);
  double *pool = sni_compile_take(c, (size_t)c->loops.npool, sizeof *pool);
  if (own && !c->out_of_memory) {
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
    m->nconstraint = m->nloop = n;
  }
  free(own);
}

/* ---- constraints of the scene ---- */

static void unknown_kind(sni_compile *c, const char *type) {
  char known[SN_ERROR_TEXT_MAX] = "";
  for (int k = 0; k < SNI_LOOP; k++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
             sni_constraint_kind(k)->kind.keyword);
  }
  sni_compile_fail(c, "type", "'%s' is not a kind of constraint; known: %s", type, known);
}

static sni_constraint *next(sni_compile *c, int kind, const char *name,
                            const sn_function_def *active, double weight) {
  sn_model *m = c->m;
  sni_constraint *out = &m->constraint[m->nconstraint];
  m->constraint_name[m->nconstraint++] = sni_compile_text(c, name ? name : "");
  *out = (sni_constraint){.kind = kind,
                          .active = sni_compile_active(c, active),
                          .weight = sni_compile_weight(c, weight),
                          .body = {-1, -1},
                          .at = {sn_se3_identity(), sn_se3_identity()},
                          .function = {-1, -1, -1, -1, -1, -1}};
  return out;
}

/* Its other constraints, and what the model knows of it. */
static void finish_map(sni_compile *c, sni_constraint *first) {
  sn_model *m = c->m;
  if (!first->map) {
    return; /* reported */
  }
  sni_map *map = (sni_map *)first->map; /* not the model's yet */
  map->first = m->nloop_q;
  m->nloop_q += map->nz;
  m->nmap_z += map->nz;
  m->map_name[m->nmap] = m->constraint_name[m->nconstraint - 1];
  m->map[m->nmap++] = map;
  const sni_constraint_ops *ops = sni_constraint_kind(first->kind);
  for (int k = 1; k < first->parts; k++) {
    m->constraint[m->nconstraint] = *first;
    m->constraint_name[m->nconstraint] = m->constraint_name[m->nconstraint - 1];
    m->constraint[m->nconstraint].part = k;
    ops->part(&m->constraint[m->nconstraint++]);
    m->nbond++;
    m->nmap_part++;
  }
  if (first->parts > 0) {
    ops->part(first);
  }
}

/* Starts of maps. */

void sni_compile_start_maps(sni_compile *c, const bool *q_given, const bool *qd_given) {
  sn_model *m = c->m;
  m->loop_q0 = sni_compile_take(c, (size_t)m->nloop_q, sizeof *m->loop_q0);
  for (int k = 0; k < m->nmap && !c->out_of_memory; k++) {
    const sni_map *map = m->map[k];
    double *z = m->loop_q0 + map->first, zd[SNI_MAP_Z_MAX];
    sni_map_frame frame = {.rank = map->nz};
    sni_compile_at(c, "constraints", m->map_name[k]);
    if (map->start_given) {
      memcpy(z, map->start, (size_t)map->nz * sizeof *z);
      for (int i = 0; i < map->nq; i++) {
        const int body = sni_tree_body_of(&m->tree, map->coord[i]);
        if (q_given[body] || qd_given[body]) {
          sni_compile_fail(c, "coordinates",
                           "say where '%s' starts, and 'initial' does so too: one is enough",
                           m->name[body]);
        }
        const sni_jet f = sni_map_value(map, i, z, map->start + map->nz);
        m->q0[map->coord[i]] = f.v;
        m->qd0[map->coord[i]] = f.d;
      }
    } else {
      sni_map_find(map, m->q0, z);
      sni_map_invert(map, m->q0, m->qd0, z, zd, &frame);
    }
    if (!map->led) {
      sni_map_frame_at(map, z, &frame);
    }
    for (int i = 0; i < map->nq; i++) {
      if (!isfinite(sni_map_value(map, i, z, NULL).v)) {
        char key[32];
        snprintf(key, sizeof key, "joints[%d].value", i);
        sni_compile_fail(c, key, "is not a finite number at the start");
        frame.rank = map->nz;
        break;
      }
    }
    if (frame.rank < map->nz) {
      sni_compile_fail(c, "joints",
                       "their derivative has rank %d at the start, with %d coordinate%s: needs "
                       "another start, or joints that tell them apart",
                       frame.rank, map->nz, map->nz == 1 ? "" : "s");
    }
  }
}

static void finish_bonds(sni_compile *c) {
  const sn_constraint_def *def = c->b->constraint.item;
  const int n = c->b->constraint.count;
  sni_compile_names(c, "constraints", "constraint", def, sizeof *def,
                    offsetof(sn_constraint_def, name), n);
  sni_part_builder b = sni_compile_builder(c);
  for (int k = 0; k < n && !c->out_of_memory; k++) {
    sni_compile_at(c, "constraints", def[k].name);
    const int kind = def[k].type ? sni_constraint_kind_find(def[k].type) : -1;
    if (kind < 0) {
      unknown_kind(c, def[k].type ? def[k].type : "");
      continue;
    }
    sni_constraint *out = next(c, kind, def[k].name, &def[k].active, def[k].weight);
    sni_constraint_kind(kind)->finish(&b, &def[k], out);
    c->m->nbond++;
    if (kind == SNI_MAP) {
      finish_map(c, out);
    }
  }
}

void sni_compile_settle_constraints(sni_compile *c, const sn_se3 *E_wb) {
  sn_model *m = c->m;
  sni_part_builder b = sni_compile_builder(c);
  for (int k = m->nloop; k < m->nloop + m->nbond; k++) {
    const sni_constraint_ops *ops = sni_constraint_kind(m->constraint[k].kind);
    sni_compile_at(c, "constraints", m->constraint_name[k]);
    if (ops->settle) {
      ops->settle(&b, E_wb, &m->constraint[k]);
    }
  }
}

/* ---- motions ---- */

/* A joint that has a motion needs no other; reports it. */
static bool follows_already(sni_compile *c, int body, const char *joint) {
  const sn_model *m = c->m;
  const char *other = NULL;
  for (int k = 0; k < m->nmotion; k++) {
    other = m->motion[k].body == body && m->motion[k].q[0] >= 0 ? m->motion_name[k] : other;
  }
  for (int k = m->nloop + m->nbond; k < m->nconstraint; k++) {
    const sni_constraint *guide = &m->constraint[k];
    other = guide->kind == SNI_RATE && guide->coord[0] == m->tree.vadr[body] ? m->constraint_name[k]
                                                                             : other;
  }
  if (other) {
    sni_compile_fail(c, "joint", "'%s' follows the motion '%s' already", joint, other);
  }
  return other != NULL;
}

/* Of the rates of a joint. */
static void finish_rate(sni_compile *c, const sn_motion_def *def) {
  const int body = sni_compile_body(c, "joint", def->joint);
  if (def->nq > 0) {
    sni_compile_fail(c, "rate", "both q and rate are given: a motion has one");
  }
  if (body == -1) {
    sni_compile_fail(c, "joint", "is the world, which has none: needs the name of a body");
  }
  if (body < 0 || c->broken[body]) {
    return;
  }
  sni_part_builder b = sni_compile_builder(c);
  const int adr = c->m->tree.vadr[body], nv = c->m->tree.vadr[body + 1] - adr;
  if (follows_already(c, body, def->joint)) {
    return;
  }
  for (int j = 0; j < nv; j++) {
    if (c->claimed[adr + j] > 0) {
      sni_compile_fail(c, "joint",
                       "'%s' is driven by the map '%s': give the motion to a coordinate of the map",
                       def->joint, c->m->constraint_name[c->claimed[adr + j] - 1]);
      return;
    }
  }
  if (def->nrate != nv) {
    sni_compile_fail(c, "rate", "has %d function%s, the joint '%s' has %d coordinate%s", def->nrate,
                     def->nrate == 1 ? "" : "s", def->joint, nv, nv == 1 ? "" : "s");
    return;
  }
  sni_constraint *out = next(c, SNI_RATE, def->name, &def->active, def->weight);
  c->m->nguide++;
  out->ncoord = out->nrow = nv;
  for (int j = 0; j < nv; j++) {
    char key[16];
    snprintf(key, sizeof key, nv > 1 ? "rate[%d]" : "rate", j);
    out->coord[j] = adr + j;
    out->function[j] = sni_compile_function(c, key, &def->rate[j]);
    if (b.is_turn(&b, body, j)) {
      sni_compile_fail(c, key,
                       "is of a rotation vector of '%s', which is no angle: needs body and twist",
                       def->joint);
      return;
    }
  }
}

/* Of a body, or of a point of it. */
static void finish_guide(sni_compile *c, const sn_motion_def *def) {
  bool twist = false;
  for (int j = 0; j < 6; j++) {
    twist = twist || def->twist_given[j];
  }
  if (def->joint || def->nq > 0 || def->nrate > 0) {
    sni_compile_fail(c, "body", "both a body and a joint are given: a motion is of one");
  }
  if (twist == def->has_point) {
    sni_compile_fail(c, "body",
                     twist ? "both twist and point are given: a motion has one"
                           : "needs a twist that is not all null, or a point, to follow");
    return;
  }
  sni_part_builder b = sni_compile_builder(c);
  sni_constraint *out = next(c, twist ? SNI_TWIST : SNI_PATH, def->name, &def->active, def->weight);
  c->m->nguide++;
  sni_constraint_body(&b, def->body, out);
  sni_compile_point(c, "at", def->at);
  out->at[0].p = def->at;
  out->frame = def->frame;
  for (int j = 0; j < (twist ? 6 : 3); j++) {
    if (!twist || def->twist_given[j]) {
      char key[32];
      snprintf(key, sizeof key, "%s[%d]", twist ? "twist" : "point", j);
      out->function[j] = sni_compile_function(c, key, twist ? &def->twist[j] : &def->point[j]);
      out->nrow++;
    }
  }
}

static void finish_guides(sni_compile *c) {
  const sn_motion_def *def = c->b->motion.item;
  for (int k = 0; k < c->b->motion.count && !c->out_of_memory; k++) {
    sni_compile_at(c, "motions", def[k].name);
    if (def[k].body) {
      finish_guide(c, &def[k]);
    } else if (def[k].joint && def[k].nrate > 0) {
      finish_rate(c, &def[k]);
    }
  }
}

/* One row a coordinate, q = f(t); those of a rotation vector belong together. */
static void add_motions(sni_compile *c) {
  sn_model *m = c->m;
  sni_part_builder b = sni_compile_builder(c);
  for (int k = 0; k < m->nmotion; k++) {
    const sni_motion *motion = &m->motion[k];
    for (int j = 0; motion->body >= 0 && j < SN_NV_MAX && motion->q[j] >= 0;) {
      const bool turn = b.is_turn(&b, motion->body, j);
      const int place = m->nconstraint + m->nmotion_row++, n = turn ? 3 : 1;
      sni_constraint *row = &m->constraint[place];
      m->constraint_name[place] = m->motion_name[k];
      *row = (sni_constraint){.kind = turn ? SNI_TURN : SNI_COUPLE,
                              .active = motion->active,
                              .weight = motion->weight,
                              .nrow = n,
                              .body = {-1, -1},
                              .ncoord = n,
                              .function = {-1, -1, -1, -1, -1, -1}};
      for (int i = 0; i < n; i++, j++) {
        row->coord[i] = m->tree.vadr[motion->body] + j;
        row->coef[i] = 1;
        row->function[i] = motion->q[j];
      }
    }
  }
}

void sni_compile_constraints(sni_compile *c) {
  sn_model *m = c->m;
  const sn_loop_def *loop = c->b->loop.item;
  const int nloop = c->b->loop.count;
  size_t most = (size_t)nloop + (size_t)c->b->constraint.count + (size_t)c->b->motion.count +
                (size_t)m->nmotion * SN_NV_MAX + sni_compile_limit_count(c);
  sni_compile_names(c, "loops", "loop", loop, sizeof *loop, offsetof(sn_loop_def, name), nloop);
  const sn_constraint_def *bond = c->b->constraint.item;
  const size_t nbond = (size_t)c->b->constraint.count;
  for (size_t k = 0; k < nbond; k++) { /* maps need several */
    most += (size_t)bond[k].ndriven + (size_t)bond[k].ncoordinate;
  }
  m->map = sni_compile_take(c, nbond, sizeof *m->map);
  m->map_name = sni_compile_take(c, nbond, sizeof *m->map_name);
  c->claimed = calloc((size_t)m->tree.nv + 1, sizeof *c->claimed);
  c->out_of_memory = c->out_of_memory || !c->claimed;
  m->constraint = sni_compile_take(c, most, sizeof *m->constraint);
  m->constraint_name = sni_compile_take(c, most, sizeof *m->constraint_name);
  m->constraint_channel = sni_compile_take(c, most + 1, sizeof *m->constraint_channel);
  if (c->out_of_memory) {
    return;
  }
  finish_loops(c);
  finish_bonds(c);
  finish_guides(c);
  sni_compile_friction(c);
  sni_compile_limits(c);
  add_motions(c);
  for (int k = 0; k < m->nconstraint + m->nmotion_row; k++) {
    m->nrow += m->constraint[k].nrow;
    m->nsided += m->constraint[k].nsided;
    m->soft = m->soft || m->constraint[k].stop.stiffness > 0;
  }
  for (int k = 0; k < m->nconstraint; k++) {
    m->constraint_channel[k + 1] =
        m->constraint_channel[k] + sni_constraint_channels(&m->constraint[k]);
  }
}
