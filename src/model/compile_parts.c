/* compile_parts.c: contacts, forces, motions, loops, the start, and how to run. */
#include "model/compile.h"
#include "model/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_at(const void *item, size_t size, size_t name_offset, int k) {
  const char *name = *(const char *const *)((const char *)item + (size_t)k * size + name_offset);
  return name ? name : "";
}

void sni_compile_names(sni_compile *c, const char *kind, const char *what, const void *item,
                       size_t size, size_t name_offset, int n) {
  sni_name *list = calloc((size_t)n + 1, sizeof *list);
  if (!list) {
    c->out_of_memory = true;
    return;
  }
  for (int k = 0; k < n; k++) {
    list[k] = (sni_name){name_at(item, size, name_offset, k), k};
    sni_compile_at(c, kind, list[k].name);
    sni_compile_name(c, list[k].name, what);
  }
  sni_names_sort(list, n);
  for (int k = 1; k < n; k++) {
    if (list[k].name[0] && strcmp(list[k].name, list[k - 1].name) == 0) {
      sni_compile_at(c, kind, list[k].name);
      sni_compile_fail(c, NULL, "two %ss have this name", what);
    }
  }
  free(list);
}

static const char **copy_names(sni_compile *c, const void *item, size_t size, size_t name_offset,
                               int n) {
  const char **out = sni_compile_take(c, (size_t)n, sizeof *out);
  for (int k = 0; out && k < n; k++) {
    out[k] = sni_compile_text(c, name_at(item, size, name_offset, k));
  }
  return out;
}

/* What gives way throws back as a spring does, whatever restitution either material has. */
static void warn_of_soft(sni_compile *c, int k) {
  const sn_contact_def *all = c->b->contact.item;
  if (!(all[k].restitution > 0)) {
    return;
  }
  if (all[k].stiffness > 0) {
    sni_compile_warn(c, "restitution",
                     "does nothing with stiffness, which gives back what damping leaves");
    return;
  }
  for (int i = 0; i < c->b->contact.count; i++) {
    if (all[i].stiffness > 0) {
      sni_compile_warn(c, "restitution", "does nothing on '%s', which has stiffness",
                       all[i].name ? all[i].name : "");
      return;
    }
  }
}

static void finish_contact(sni_compile *c, int k) {
  const sn_contact_def *def = &((const sn_contact_def *)c->b->contact.item)[k];
  const double value[SNI_MATERIAL_PARAMS] = {
      [SNI_FRICTION] = def->friction,      [SNI_RESTITUTION] = def->restitution,
      [SNI_ROLLING] = def->rolling,        [SNI_TORSIONAL] = def->torsional,
      [SNI_MARGIN] = def->margin,          [SNI_CONTACT_STIFFNESS] = def->stiffness,
      [SNI_CONTACT_DAMPING] = def->damping};
  for (int i = 0; i < SNI_MATERIAL_PARAMS; i++) {
    if (i == SNI_RESTITUTION && !(value[i] >= 0 && value[i] <= 1)) {
      sni_compile_fail(c, sni_material_key(i), "is %g, needs 0 to 1", value[i]);
    } else if (!(value[i] >= 0) || !isfinite(value[i])) {
      sni_compile_fail(c, sni_material_key(i), "is %g, needs a number >= 0", value[i]);
    }
  }
  if (def->damping > 0 && !(def->stiffness > 0)) {
    sni_compile_warn(c, "damping", "does nothing without stiffness");
  }
  warn_of_soft(c, k);
  memcpy(c->m->params.contact + (ptrdiff_t)k * SNI_MATERIAL_PARAMS, value, sizeof value);
  c->m->contact_self[k] = def->self;
  c->m->contact_apart[k] = def->apart;
  if (def->apart < 1) {
    sni_compile_fail(c, "apart", "is %d, needs at least 1", def->apart);
  }
  bool used = false;
  for (int s = 0; s < c->m->nshape; s++) {
    used = used || c->m->shape[s].material == k;
  }
  for (int t = 0; t < c->m->ntube; t++) {
    used = used || c->m->tube[t].material == k;
  }
  if (!used) {
    sni_compile_warn(c, NULL, "no shape names this contact");
  }
}

/* Pairs of bodies that pass through each other. */
static void finish_ignored(sni_compile *c) {
  sn_model *m = c->m;
  size_t most = 0;
  for (int i = 0; i < m->tree.nbody; i++) {
    most += (size_t)c->def[i]->nignore;
  }
  m->ignore = sni_compile_take(c, most, sizeof *m->ignore);
  for (int i = 0; i < m->tree.nbody && m->ignore; i++) {
    sni_compile_at(c, "bodies", m->name[i]);
    for (int k = 0; k < c->def[i]->nignore; k++) {
      char key[32];
      snprintf(key, sizeof key, "ignore[%d]", k);
      const int other = sni_compile_body(c, key, c->def[i]->ignore[k]);
      if (other > -2) {
        m->ignore[m->nignore][0] = i;
        m->ignore[m->nignore++][1] = other;
      }
    }
  }
}

/* Who has a floor in mind must say of it, too, that it touches. */
static void warn_of_lonely(sni_compile *c) {
  const sn_model *m = c->m;
  int only = -1;
  bool several = m->ntube > 0;
  for (int s = 0; s < m->nshape; s++) {
    if (m->shape[s].material >= 0) {
      several = several || (only >= 0 && m->shape[s].body != m->shape[only].body);
      only = s;
    }
  }
  if (only >= 0 && !several && c->b->errors.count == 0) {
    sni_compile_at(c, "bodies", m->name[m->shape[only].body]);
    sni_compile_warn(c, "shapes", "touch nothing: no shape of another body names a contact");
  }
}

static void finish_contacts(sni_compile *c) {
  const sn_contact_def *def = c->b->contact.item;
  const int n = c->b->contact.count;
  sni_compile_names(c, "contacts", "contact", def, sizeof *def, offsetof(sn_contact_def, name), n);
  c->m->contact_name = copy_names(c, def, sizeof *def, offsetof(sn_contact_def, name), n);
  c->m->contact_self = sni_compile_take(c, (size_t)n, sizeof *c->m->contact_self);
  c->m->contact_apart = sni_compile_take(c, (size_t)n, sizeof *c->m->contact_apart);
  for (int k = 0; k < n && !c->out_of_memory; k++) {
    sni_compile_at(c, "contacts", def[k].name);
    finish_contact(c, k);
  }
  warn_of_lonely(c);
}

/* ---- the help that kinds of forces and constraints get ---- */

static int part_body(sni_part_builder *b, const char *key, const char *name) {
  return sni_compile_body(b->model, key, name);
}
static void part_point(sni_part_builder *b, const char *key, sn_vec3 x) {
  sni_compile_point(b->model, key, x);
}
static void part_pose(sni_part_builder *b, const char *key, sn_se3 E) {
  sni_compile_pose(b->model, key, E);
}
static int part_function(sni_part_builder *b, const char *key, const sn_function_def *def) {
  return sni_compile_function(b->model, key, def);
}
static int part_joint_dofs(sni_part_builder *b, int body, int *vadr) {
  const sni_compile *c = b->model;
  const sni_tree *t = &c->m->tree;
  *vadr = t->vadr[body];
  return c->broken[body] ? -1 : t->vadr[body + 1] - t->vadr[body];
}
static bool part_is_turn(sni_part_builder *b, int body, int coordinate) {
  const sni_compile *c = b->model;
  const sni_tree *t = &c->m->tree;
  bool turn = false;
  for (int k = 0; k < t->nball; k++) {
    const int place = coordinate - t->ball[k].first;
    turn = turn || (t->ball[k].body == body && place >= 0 && place < 3);
  }
  return turn;
}
static double part_mass(sni_part_builder *b) {
  const sni_compile *c = b->model;
  return c->m->mass;
}
static void *part_take(sni_part_builder *b, size_t count, size_t size) {
  return sni_compile_take(b->model, count, size);
}
static void part_fail(sni_part_builder *b, const char *key, const char *format, ...) {
  char text[SN_ERROR_TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  sni_compile_fail(b->model, key, "%s", text);
}

static bool part_claim(sni_part_builder *b, int coordinate, int k) {
  sni_compile *c = b->model;
  const sn_model *m = c->m;
  const int body = sni_tree_body_of(&m->tree, coordinate);
  char key[48];
  snprintf(key, sizeof key, "joints[%d]", k);
  for (int j = 0; j < m->nmotion; j++) {
    if (m->motion[j].body == body) {
      sni_compile_fail(c, key,
                       "'%s' follows the motion '%s' already: give the motion to a coordinate of "
                       "the map",
                       m->name[body], m->motion_name[j]);
      return false;
    }
  }
  if (c->claimed[coordinate] > 0) {
    const char *owner = m->constraint_name[c->claimed[coordinate] - 1];
    sni_compile_fail(c, key, "coordinate %d of '%s' is driven by the map '%s' already",
                     coordinate - m->tree.vadr[body], m->name[body], owner);
    return false;
  }
  c->claimed[coordinate] = m->nconstraint; /* that of the map is the last one */
  return true;
}

sni_part_builder sni_compile_builder(sni_compile *c) {
  return (sni_part_builder){.model = c,
                            .body = part_body,
                            .point = part_point,
                            .pose = part_pose,
                            .function = part_function,
                            .joint_dofs = part_joint_dofs,
                            .is_turn = part_is_turn,
                            .mass = part_mass,
                            .claim = part_claim,
                            .take = part_take,
                            .fail = part_fail};
}

/* ---- forces ---- */

static void unknown_kind(sni_compile *c, const char *type) {
  char known[SN_ERROR_TEXT_MAX] = "";
  for (int k = 0; k < sni_force_kind_count(); k++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
             sni_force_kind(k)->kind.keyword);
  }
  sni_compile_fail(c, "type", "'%s' is not a kind of force; known: %s", type, known);
}

static void finish_forces(sni_compile *c) {
  sn_model *m = c->m;
  const sn_force_def *def = c->b->force.item;
  const int n = c->b->force.count;
  sni_compile_names(c, "forces", "force", def, sizeof *def, offsetof(sn_force_def, name), n);
  m->force = sni_compile_take(c, (size_t)n, sizeof *m->force);
  m->line = sni_compile_take(c, (size_t)n, sizeof *m->line);
  m->force_name = copy_names(c, def, sizeof *def, offsetof(sn_force_def, name), n);
  sni_part_builder b = sni_compile_builder(c);
  int param = 0;
  for (int f = 0; f < n && !c->out_of_memory; f++) {
    sni_compile_at(c, "forces", def[f].name);
    const int kind = def[f].type ? sni_force_kind_find(def[f].type) : -1;
    if (kind < 0) {
      unknown_kind(c, def[f].type ? def[f].type : "");
      continue;
    }
    sni_force *force = &m->force[m->nforce++];
    const sni_force_ops *ops = sni_force_kind(kind);
    *force = (sni_force){.kind = kind, .param = param, .body = {-1, -1}};
    force->active = sni_compile_active(c, &def[f].active);
    force->implicit = def[f].implicit && ops->tangent;
    if (ops->measure) {
      m->line[m->nline++] = m->nforce - 1;
    }
    ops->finish(&b, &def[f], force, m->params.force + param);
    for (int k = 0; k < ops->nparam; k++) {
      if (!isfinite(m->params.force[param + k])) {
        sni_compile_fail(c, ops->param_key[k], "is %g, needs a finite number",
                         m->params.force[param + k]);
      }
    }
    param += ops->nparam;
  }
}

static void finish_joint_motion(sni_compile *c, const sn_motion_def *def) {
  sn_model *m = c->m;
  sni_motion *motion = &m->motion[m->nmotion];
  m->motion_name[m->nmotion++] = sni_compile_text(c, def->name ? def->name : "");
  for (int j = 0; j < SN_NV_MAX; j++) {
    motion->q[j] = -1;
  }
  motion->body = sni_compile_body(c, "joint", def->joint);
  motion->active = sni_compile_active(c, &def->active);
  motion->weight = sni_compile_weight(c, def->weight);
  if (def->nq == 0) {
    sni_compile_fail(c, NULL,
                     "needs the key 'q', or 'rate': a time function, or one for each coordinate");
    return;
  }
  if (motion->body < 0) {
    if (motion->body == -1) {
      sni_compile_fail(c, "joint", "is the world, which has none: needs the name of a body");
    }
    return;
  }
  for (int j = 0; j < m->nmotion - 1; j++) {
    if (m->motion[j].body == motion->body) {
      sni_compile_fail(c, "joint", "'%s' follows the motion '%s' already", def->joint,
                       m->motion_name[j]);
    }
  }
  /* both would record their force as NAME.tau */
  const int namesake = def->name ? sn_model_body_find(m, def->name) : -1;
  if (namesake >= 0 && namesake != motion->body) {
    sni_compile_fail(c, NULL,
                     "a body has this name, and it is not the one that follows: needs "
                     "another name");
  }
  const int nv = m->tree.vadr[motion->body + 1] - m->tree.vadr[motion->body];
  if (c->broken[motion->body]) {
    return;
  }
  if (def->nq != nv || nv == 0) {
    sni_compile_fail(c, "q", "has %d function%s, the joint '%s' has %d coordinate%s", def->nq,
                     def->nq == 1 ? "" : "s", def->joint, nv, nv == 1 ? "" : "s");
    return;
  }
  for (int j = 0; j < nv; j++) {
    char key[16];
    snprintf(key, sizeof key, nv > 1 ? "q[%d]" : "q", j);
    motion->q[j] = sni_compile_function(c, key, &def->q[j]);
  }
}

/* Where joints are; how fast they are, and all of bodies, are constraints. */
static void finish_motions(sni_compile *c) {
  sn_model *m = c->m;
  const sn_motion_def *def = c->b->motion.item;
  const int n = c->b->motion.count;
  sni_compile_names(c, "motions", "motion", def, sizeof *def, offsetof(sn_motion_def, name), n);
  m->motion = sni_compile_take(c, (size_t)n, sizeof *m->motion);
  m->motion_name = sni_compile_take(c, (size_t)n, sizeof *m->motion_name);
  for (int k = 0; k < n && !c->out_of_memory; k++) {
    sni_compile_at(c, "motions", def[k].name);
    if (def[k].body || (def[k].joint && def[k].nrate > 0)) {
      continue;
    }
    if (def[k].joint) {
      finish_joint_motion(c, &def[k]);
    } else {
      sni_compile_fail(c, NULL, "needs the key 'joint', or 'body'");
    }
  }
}

void sni_compile_parts(sni_compile *c) {
  sni_compile_tubes(c);
  finish_contacts(c);
  finish_ignored(c);
  finish_forces(c);
  finish_motions(c);
  sni_compile_constraints(c);
}

/* ---- the start ---- */

static void initial_pose(sni_compile *c, const sn_initial_def *def, int i, double *q) {
  const sni_joint_set set = sni_tree_joints(&c->m->tree);
  const sni_joint_ops *ops = sni_joint_ops_of(set, i);
  if (!sni_compile_pose(c, "pose", def->pose)) {
    return;
  }
  if (!ops->axis_free || !ops->from_pose) {
    sni_compile_fail(c, "pose", "a %s joint starts from q, not from a pose", ops->kind.keyword);
  } else if (!ops->from_pose(set, i, def->pose, q)) {
    sni_compile_fail(c, "pose", "a %s joint cannot take this pose", ops->kind.keyword);
  }
}

/* A prescribed joint starts where its motion starts; a start that disagrees is an error. */
static void start_motions(sni_compile *c, const bool *q_given, const bool *qd_given) {
  sn_model *m = c->m;
  for (int k = 0; k < m->nmotion; k++) {
    const sni_motion *motion = &m->motion[k];
    if (motion->body < 0 || motion->q[0] < 0) {
      continue; /* broken, and reported */
    }
    const int adr = m->tree.vadr[motion->body], nv = m->tree.vadr[motion->body + 1] - adr;
    double on[3] = {1};
    if (motion->active >= 0) {
      sni_function_eval(m->function[motion->active], 0, 0, on);
    }
    for (int j = 0; j < nv && on[0] > 0 && motion->q[j] >= 0; j++) {
      double f[3];
      sni_function_eval(m->function[motion->q[j]], 0, 0, f);
      sni_compile_at(c, "initial", m->name[motion->body]);
      if (q_given[motion->body] && fabs(f[0] - m->q0[adr + j]) > 1e-9 * (1 + fabs(f[0]))) {
        sni_compile_fail(c, "q", "is %.10g, but the motion '%s' begins at %.10g: leave it out",
                         m->q0[adr + j], m->motion_name[k], f[0]);
      }
      if (qd_given[motion->body] && fabs(f[1] - m->qd0[adr + j]) > 1e-9 * (1 + fabs(f[1]))) {
        sni_compile_fail(c, "qd", "is %.10g, but the motion '%s' begins with %.10g: leave it out",
                         m->qd0[adr + j], m->motion_name[k], f[1]);
      }
      m->q0[adr + j] = f[0];
      m->qd0[adr + j] = f[1];
    }
  }
}

static void check_run(sni_compile *c) {
  const sn_run_def *run = &c->b->run;
  snprintf(c->path, sizeof c->path, "run");
  const struct {
    const char *key;
    double value;
    bool zero_allowed;
  } number[] = {{"step", run->options.step, false},
                {"duration", run->duration, true},
                {"record.every", run->record_every, true},
                {"recursive.rel_tol", run->options.recursive.rel_tol, false},
                {"recursive.abs_tol", run->options.recursive.abs_tol, false}};
  for (int k = 0; k < SNI_COUNT(number); k++) {
    const double v = number[k].value;
    if (!isfinite(v) || v < 0 || (v == 0 && !number[k].zero_allowed)) {
      sni_compile_fail(c, number[k].key, "is %g, needs a number %s 0", v,
                       number[k].zero_allowed ? ">=" : ">");
    }
  }
  if (run->options.recursive.max_steps < 1) {
    sni_compile_fail(c, "recursive.max_steps", "is %d, needs at least 1",
                     run->options.recursive.max_steps);
  }
  snprintf(c->path, sizeof c->path, "gravity");
  if (!sn_vec3_finite(c->b->gravity)) {
    sni_compile_fail(c, NULL, "needs three finite numbers");
  }
}

static void copy_run(sni_compile *c) {
  sn_model *m = c->m;
  m->run = c->b->run;
  m->run.options.method = sni_compile_text(c, m->run.options.method);
  const char **pattern = sni_compile_take(c, (size_t)m->run.nrecord_channel, sizeof *pattern);
  for (int k = 0; pattern && k < m->run.nrecord_channel; k++) {
    pattern[k] = sni_compile_text(c, c->b->run.record_channels[k]);
  }
  m->run.record_channels = pattern;
  m->units = sni_compile_text(c, c->b->units);
  m->up = sni_compile_text(c, c->b->up);
  const sn_vec3 g = c->b->gravity;
  memcpy(m->params.gravity, (double[3]){g.x, g.y, g.z}, 3 * sizeof(double));
  *m->params.step = m->run.options.step;
  *m->params.rel_tol = m->run.options.recursive.rel_tol;
  *m->params.abs_tol = m->run.options.recursive.abs_tol;
}

/* At a whole turn a rotation vector has rates that turn nothing: what a start says about them is
 * lost, and the joint has no inertia against them. */
static void check_turns(sni_compile *c, const bool *q_given) {
  const sn_model *m = c->m;
  for (int k = 0; k < m->tree.nball; k++) {
    const sni_ball *ball = &m->tree.ball[k];
    const double *r = m->q0 + m->tree.vadr[ball->body] + ball->first;
    const double n = sn_vec3_norm((sn_vec3){r[0], r[1], r[2]}), turns = round(n / (2 * SN_PI));
    if (q_given[ball->body] && turns >= 1 && fabs(n - 2 * SN_PI * turns) < 1e-3) {
      sni_compile_at(c, "initial", m->name[ball->body]);
      sni_compile_fail(
          c, "q",
          "its rotation vector is %.6g long, a whole turn, where rates are lost: needs "
          "one of the same rotation that is shorter, [0, 0, 0]",
          n);
    }
  }
}

void sni_compile_warn_squeezed(sni_compile *c, const char *force, double rest_length) {
  sni_compile_at(c, "forces", force);
  sni_compile_warn(c, "rest_length",
                   "is %g, but the ends start at one point: it cannot push in any direction",
                   rest_length);
}

static void settle_forces(sni_compile *c, const sn_se3 *E_wb) {
  sn_model *m = c->m;
  const int from_strings = m->nforce - sni_compile_string_springs(c);
  for (int f = 0; f < m->nforce; f++) {
    const sni_force *force = &m->force[f];
    const sni_force_ops *ops = sni_force_kind(force->kind);
    double *param = m->params.force + force->param;
    if (ops->settle) {
      ops->settle(force, E_wb, param);
    }
    if (f < from_strings && ops->squeezed && ops->squeezed(force, E_wb, param)) {
      sni_compile_warn_squeezed(c, m->force_name[f],
                                ((const sn_force_def *)c->b->force.item)[f].rest_length);
    }
  }
}

void sni_compile_start(sni_compile *c) {
  sn_model *m = c->m;
  const sni_tree *t = &m->tree;
  m->q0 = sni_compile_take(c, (size_t)t->nv, sizeof *m->q0);
  m->qd0 = sni_compile_take(c, (size_t)t->nv, sizeof *m->qd0);
  bool *given = sni_compile_take(c, 3 * (size_t)t->nbody, sizeof *given);
  sn_se3 *E_wb = sni_compile_take(c, (size_t)t->nbody, sizeof *E_wb);
  check_run(c);
  if (c->out_of_memory) {
    return;
  }
  copy_run(c);
  bool *seen = given + 2 * t->nbody;
  const sn_initial_def *def = c->b->initial.item;
  for (int k = 0; k < c->b->initial.count; k++) {
    sni_compile_at(c, "initial", def[k].body);
    const int i = def[k].body ? sn_model_body_find(m, def[k].body) : -1;
    if (i < 0) {
      sni_compile_fail(c, NULL, "there is no body '%s'", def[k].body ? def[k].body : "");
      continue;
    }
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    if (c->broken[i]) {
      continue;
    }
    if (seen[i]) {
      sni_compile_fail(c, NULL, "the start of this body is given twice");
      continue;
    }
    seen[i] = true;
    if (def[k].has_pose && def[k].q.n > 0) {
      sni_compile_fail(c, "pose", "both pose and q are given: one is enough");
    }
    if (def[k].has_pose) {
      initial_pose(c, &def[k], i, m->q0 + adr);
    } else {
      sni_compile_spread(c, "q", &def[k].q, nv, 0, false, m->q0 + adr);
    }
    sni_compile_spread(c, "qd", &def[k].qd, nv, 0, false, m->qd0 + adr);
    given[i] = def[k].has_pose || def[k].q.n > 0;
    given[t->nbody + i] = def[k].qd.n > 0;
  }
  check_turns(c, given);
  sni_compile_start_maps(c, given, given + t->nbody);
  start_motions(c, given, given + t->nbody);
  if (c->b->errors.count > 0) {
    return;
  }
  sni_model_poses(m, m->q0, E_wb);
  if (c->nstring > 0) {
    sni_compile_place_strings(c, given, E_wb);
    sni_model_poses(m, m->q0, E_wb);
  }
  settle_forces(c, E_wb);
  sni_compile_settle_constraints(c, E_wb);
}
