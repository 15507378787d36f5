/* compile_body.c: joints with their springs, drives and limits; shapes, meshes and masses. */
#include "model/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All kinds first: they decide how many coordinates there are. */
static void finish_joints(sni_compile *c) {
  sni_tree *t = &c->m->tree;
  const int n = t->nbody;
  sn_vec6 *S0 = sni_compile_take(c, (size_t)n * SN_NV_MAX, sizeof *S0);
  t->vadr = sni_compile_take(c, (size_t)n + 1, sizeof *t->vadr);
  sni_joint *joint = calloc((size_t)n, sizeof *joint);
  if (c->out_of_memory || !joint) {
    c->out_of_memory = true;
    free(joint);
    return;
  }
  for (int i = 0; i < n; i++) {
    sn_error err = {0};
    sni_compile_at(c, "bodies", c->m->name[i]);
    c->joints.warning[0] = 0;
    sni_compile_pose(c, "joint.at", c->def[i]->joint.at);
    const sn_status status =
        c->broken[i] ? SN_OK
                     : sni_joint_finish(&c->joints, &c->def[i]->joint, &joint[i], S0 + t->nv, &err);
    if (status) {
      err.code = status;
      sni_compile_pass_on(c, "joint", &err);
      joint[i] = (sni_joint){0}; /* fixed, for the rest of the checks */
      c->broken[i] = true;
    }
    if (c->joints.warning[0]) {
      sni_compile_warn(c, "joint", "%s", c->joints.warning);
    }
    t->vadr[i] = t->nv;
    t->nv += joint[i].nv;
  }
  t->vadr[n] = t->nv;
  t->S0 = S0;

  /* the joints of the bodies, then the parts of composites, which are numbered after them */
  const int npart = c->joints.npart;
  t->joint = sni_compile_take(c, (size_t)n + (size_t)npart, sizeof *t->joint);
  t->pool = sni_compile_take(c, (size_t)c->joints.npool, sizeof *t->pool);
  t->npool = c->joints.npool;
  if (!c->out_of_memory) {
    memcpy(t->joint, joint, (size_t)n * sizeof *joint);
    /* the parts of a composite that could not be made hold nothing */
    for (int p = 0; p < npart && c->b->errors.count == 0; p++) {
      t->joint[n + p] = c->joints.part[p];
    }
    for (int j = 0; j < n + npart; j++) {
      t->joint[j].part_first += n;
    }
    if (t->npool > 0) {
      memcpy(t->pool, c->joints.pool, (size_t)t->npool * sizeof *t->pool);
    }
  }
  free(joint);
  free(c->joints.pool);
  free(c->joints.part);
  c->joints = (sni_joint_builder){0};
}

static void *take_from(void *arena, size_t size) {
  return sni_arena_take(arena, size);
}

static int functions(sni_compile *c, const char *key, const sn_function_def *def, int n, int nv,
                     int *out) {
  for (int k = 0; k < SN_NV_MAX; k++) {
    out[k] = -1;
  }
  if (n == 0) {
    return 0;
  }
  if (n != 1 && n != nv) {
    sni_compile_fail(c, key, "has %d functions, the joint has %d coordinate%s", n, nv,
                     nv == 1 ? "" : "s");
    return 0;
  }
  for (int k = 0; k < nv; k++) {
    out[k] = k > 0 && n == 1 ? out[0] : sni_compile_function(c, key, &def[k]);
  }
  return nv;
}

bool sni_compile_drive(sni_compile *c, const char *key, const sn_drive_def *def, int nv,
                       sni_drive *drive, double *stiffness, double *damping, double *most) {
  char at[64];
  if (nv == 0) {
    sni_compile_fail(c, key, "the joint has no coordinates: nothing to drive");
    return false;
  }
  snprintf(at, sizeof at, "%s.target", key);
  functions(c, at, def->target, def->ntarget, nv, drive->target);
  snprintf(at, sizeof at, "%s.rate", key);
  functions(c, at, def->rate, def->nrate, nv, drive->rate);
  if (def->nrate > 0 && def->damping.n == 0) {
    sni_compile_warn(c, at, "does nothing without damping");
  }
  snprintf(at, sizeof at, "%s.stiffness", key);
  sni_compile_spread(c, at, &def->stiffness, nv, 0, true, stiffness);
  snprintf(at, sizeof at, "%s.damping", key);
  sni_compile_spread(c, at, &def->damping, nv, 0, true, damping);
  snprintf(at, sizeof at, "%s.max_force", key);
  sni_compile_spread(c, at, &def->max_force, nv, INFINITY, true, most);
  if (def->stiffness.n == 0 && def->damping.n == 0) {
    sni_compile_fail(c, key,
                     "needs stiffness (to hold a position), damping (to hold a "
                     "rate), or both");
  }
  if (def->ntarget == 0 && def->stiffness.n > 0) {
    sni_compile_fail(c, key, "has stiffness but no target");
  }
  return true;
}

static void finish_drive(sni_compile *c, int i) {
  sn_model *m = c->m;
  const int adr = m->tree.vadr[i], nv = m->tree.vadr[i + 1] - adr;
  sni_drive *drive = &m->drive[m->ndrive];
  drive->body = i;
  m->ndrive += sni_compile_drive(c, "joint.drive", &c->def[i]->joint.drive, nv, drive,
                                 m->params.drive_stiffness + adr, m->params.drive_damping + adr,
                                 m->params.drive_max + adr);
}

void sni_compile_joints(sni_compile *c) {
  sn_model *m = c->m;
  sni_tree *t = &m->tree;
  finish_joints(c);
  if (c->out_of_memory) {
    return;
  }
  if (sni_tree_link(t, take_from, &m->arena)) {
    c->out_of_memory = true;
    return;
  }
  const sn_force_def *force = c->b->force.item;
  for (int f = 0; f < c->b->force.count; f++) {
    const int kind = force[f].type ? sni_force_kind_find(force[f].type) : -1;
    m->nforce_param += kind >= 0 ? sni_force_kind(kind)->nparam : 0;
  }
  m->ncontact = c->b->contact.count;
  double *memory = sni_compile_take(c, 1, sni_params_size(m) + sizeof(double));
  m->drive = sni_compile_take(c, (size_t)t->nbody, sizeof *m->drive);
  if (c->out_of_memory) {
    return;
  }
  sni_params_place(&m->params, m, memory);
  for (int i = 0; i < t->nbody; i++) {
    const sn_joint_def *def = &c->def[i]->joint;
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    sni_compile_at(c, "bodies", m->name[i]);
    if (c->broken[i]) {
      continue;
    }
    sni_compile_spread(c, "joint.stiffness", &def->stiffness, nv, 0, true,
                       m->params.stiffness + adr);
    sni_compile_spread(c, "joint.damping", &def->damping, nv, 0, true, m->params.damping + adr);
    sni_compile_spread(c, "joint.rest", &def->rest, nv, 0, false, m->params.rest + adr);
    sni_compile_spread(c, "joint.armature", &def->armature, nv, 0, true, m->params.armature + adr);
    if (def->rest.n > 0 && def->stiffness.n == 0 && !def->backlash.enabled) {
      sni_compile_warn(c, "joint.rest", "does nothing without stiffness");
    }
    sni_compile_friction_damping(c, "joint.friction", &def->friction, nv, m->params.damping + adr);
    if (def->drive.enabled) {
      finish_drive(c, i);
    }
  }
}

/* ---- shapes and masses ---- */

static bool load_mesh(sni_compile *c, const sn_shape_def *def, const char *key, sni_shape *shape) {
  sn_error err = {0};
  const sni_shape_ops *ops = sni_shape_kind(sni_shape_kind_find(def->type));
  if (ops->load(def, &shape->mesh, &err)) {
    sni_compile_pass_on(c, key, &err);
    return false;
  }
  if (shape->mesh->inside_out) {
    sni_compile_warn(c, key, "the triangles of '%s' are wound inside out; they were turned",
                     def->file);
  }
  return true;
}

int sni_compile_contact(sni_compile *c, const char *key, const char *name) {
  const sn_contact_def *contact = c->b->contact.item;
  for (int k = 0; k < c->b->contact.count; k++) {
    if (contact[k].name && strcmp(contact[k].name, name) == 0) {
      return k;
    }
  }
  sni_compile_fail(c, key, "there is no contact '%s'", name);
  return -1;
}

static bool moves(const sni_tree *t, int i) {
  for (; i >= 0 && t->vadr[i + 1] == t->vadr[i]; i = t->parent[i]) {
  }
  return i >= 0;
}

/* Triangles have no inside that could be measured fast. */
static void check_form(sni_compile *c, const char *key, int i, const sn_shape_def *def) {
  if (sni_shape_solid(def).form == SNI_FORM_TRIANGLES && moves(&c->m->tree, i)) {
    sni_compile_fail(c, key,
                     "a %s is touched only where it is fixed to the ground; of what moves take "
                     "type: convex, or several of these",
                     def->type);
  }
}

/* Shapes of body i into the model; its mass properties into *I. */
static bool finish_shapes(sni_compile *c, int i, sn_inertia *I) {
  sn_model *m = c->m;
  const sn_body_def *def = c->def[i];
  bool ok = true;
  const int first = m->nshape;
  for (int s = 0; s < def->nshape; s++) {
    char key[32];
    snprintf(key, sizeof key, "shapes[%d]", s);
    sn_error err = {0};
    sni_shape *shape = &m->shape[m->nshape];
    *shape = (sni_shape){.def = def->shapes[s], .body = i, .material = -1};
    shape->def.type = sni_compile_text(c, def->shapes[s].type);
    shape->def.file = sni_compile_text(c, def->shapes[s].file);
    shape->def.contact = sni_compile_text(c, def->shapes[s].contact);
    if (sni_shape_check(&def->shapes[s], &err)) {
      sni_compile_pass_on(c, key, &err);
      ok = false;
      continue;
    }
    if (sni_shape_kind(sni_shape_kind_find(def->shapes[s].type))->needs_mesh) {
      ok = load_mesh(c, &def->shapes[s], key, shape) && ok;
    }
    if (def->shapes[s].contact) {
      char contact[64];
      snprintf(contact, sizeof contact, "%s.contact", key);
      shape->material = sni_compile_contact(c, contact, def->shapes[s].contact);
      check_form(c, contact, i, &def->shapes[s]);
      m->touching = m->name[i];
    }
    m->nshape++;
  }
  if (!ok) {
    return false;
  }
  const sni_mesh **mesh = calloc((size_t)def->nshape + 1, sizeof *mesh);
  if (!mesh) {
    c->out_of_memory = true;
    return false;
  }
  for (int s = 0; s < def->nshape; s++) {
    mesh[s] = m->shape[first + s].mesh;
  }
  sn_error err = {0};
  if (sni_body_inertia(def, mesh, I, &err)) {
    sni_compile_pass_on(c, NULL, &err);
    ok = false;
  } else if (sni_inertia_check(I, true, &err)) {
    sni_compile_pass_on(c, def->has_inertia ? "inertia" : NULL, &err);
    ok = false;
  }
  free(mesh);
  return ok;
}

static bool is_prescribed(const sni_compile *c, const char *name) {
  const sn_motion_def *motion = c->b->motion.item;
  for (int k = 0; k < c->b->motion.count; k++) {
    if (motion[k].joint && strcmp(motion[k].joint, name) == 0) {
      return true;
    }
  }
  return false;
}

/* A joint that can move must have something to move. */
static void check_moving_mass(sni_compile *c, const double *carried) {
  const sni_tree *t = &c->m->tree;
  for (int i = 0; i < t->nbody; i++) {
    bool armature = true;
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      armature = armature && c->m->params.armature[k] > 0;
    }
    if (!(carried[i] > 0) && !armature && !is_prescribed(c, c->m->name[i])) {
      sni_compile_at(c, "bodies", c->m->name[i]);
      sni_compile_fail(c, NULL,
                       "moves, but neither it nor anything on it has mass: give a shape a "
                       "density, or give inertia");
    }
  }
}

void sni_compile_bodies(sni_compile *c) {
  sn_model *m = c->m;
  const sni_tree *t = &m->tree;
  int nshape = 0;
  for (int i = 0; i < t->nbody; i++) {
    nshape += c->def[i]->nshape;
  }
  m->shape = sni_compile_take(c, (size_t)nshape, sizeof *m->shape);
  double *carried = calloc((size_t)t->nbody, sizeof *carried); /* mass of the body and all on it */
  if (c->out_of_memory || !carried) {
    c->out_of_memory = true;
    free(carried);
    return;
  }
  for (int i = 0; i < t->nbody; i++) {
    const sn_body_def *def = c->def[i];
    sn_inertia I = {0};
    sni_compile_at(c, "bodies", m->name[i]);
    carried[i] = 1; /* where it is not known it shall not be missed */
    if (finish_shapes(c, i, &I)) {
      sni_params_set_inertia(&m->params, i, I);
      carried[i] = c->broken[i] ? 1 : I.mass;
      m->mass += I.mass;
    }
    const double drag[2] = {def->damping_angular, def->damping_linear};
    for (int k = 0; k < 2; k++) {
      if (!(drag[k] >= 0) || !isfinite(drag[k])) {
        sni_compile_fail(c, "damping", "is %g, needs a number >= 0", drag[k]);
      }
    }
    m->params.drag_angular[i] = drag[0];
    m->params.drag_linear[i] = drag[1];
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    if (t->parent[i] >= 0) {
      carried[t->parent[i]] += carried[i];
    }
  }
  check_moving_mass(c, carried);
  free(carried);
}
