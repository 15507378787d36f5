/* compile_limits.c: limits of joints and of loops as constraints that push and do not pull. */
#include "model/compile.h"

#include <stdio.h>
#include <string.h>

static void check_range(sni_compile *c, const char *key, double lower, double upper) {
  if (lower > upper) {
    sni_compile_fail(c, key, "lower limit %g is above upper limit %g", lower, upper);
  }
}

/* Where coordinates of a joint are a rotation vector, the first if there are two; -1: nowhere. */
static int ball_of(sni_joint_set set, int j) {
  for (int k = 0; k < set.joint[j].nv; k++) {
    if (sni_joint_is_ball(set, j, k)) {
      return k;
    }
  }
  return -1;
}

static void check_cone(sni_compile *c, const char *key, const sn_cone_def *cone) {
  char part[64];
  snprintf(part, sizeof part, "%s.swing", key);
  if (!(cone->swing > 0 && cone->swing <= SN_PI)) {
    sni_compile_fail(c, part, "is %g, needs an angle above 0, at most pi", cone->swing);
  }
  snprintf(part, sizeof part, "%s.twist", key);
  if (cone->twist_lower.n > 1 || cone->twist_upper.n != cone->twist_lower.n) {
    sni_compile_fail(c, part, "has %d pairs, needs one", cone->twist_lower.n);
  } else if (cone->twist_lower.n == 1) {
    const double lower = cone->twist_lower.v[0], upper = cone->twist_upper.v[0];
    check_range(c, part, lower, upper);
    if (!(lower > -SN_PI && upper < SN_PI)) {
      sni_compile_fail(c, part, "is [%g, %g], needs to stay within half a turn either way", lower,
                       upper);
    }
  }
  snprintf(part, sizeof part, "%s.axis", key);
  const double length = sn_vec3_norm(cone->axis);
  if (!(length > 0) || !isfinite(length)) {
    sni_compile_fail(c, part, "has length %g, needs a direction", length);
  }
}

/* Those of one joint: base has all but the numbers; ball: its rotation vector, -1: none. */
static void add_limits(sni_compile *c, const char *prefix, const sn_joint_def *def, int nv,
                       int ball, const char *name, sni_constraint base) {
  sn_model *m = c->m;
  char key[32];
  double lower[SN_NV_MAX], upper[SN_NV_MAX];
  for (int k = 0; k < nv; k++) {
    lower[k] = -INFINITY;
    upper[k] = INFINITY;
  }
  snprintf(key, sizeof key, "%slimits", prefix);
  if (def->lower.n > 1 && def->lower.n != nv && def->upper.n == def->lower.n) {
    sni_compile_fail(c, key, "has %d pairs, the joint has %d coordinate%s", def->lower.n, nv,
                     nv == 1 ? "" : "s");
    return;
  }
  sni_compile_spread(c, key, &def->lower, nv, -INFINITY, false, lower);
  sni_compile_spread(c, key, &def->upper, nv, INFINITY, false, upper);
  const int first = base.coord[0];
  for (int k = 0; k < nv; k++) {
    check_range(c, key, lower[k], upper[k]);
    if (!isfinite(lower[k]) && !isfinite(upper[k])) {
      continue;
    }
    if (ball >= 0 && k >= ball && k < ball + 3) {
      sni_compile_fail(
          c, key, "coordinate %d is part of a rotation vector, which is no angle: needs cone", k);
      return;
    }
    base.kind = SNI_LIMIT;
    base.lower = lower[k];
    base.upper = upper[k];
    base.coord[0] = first + k;
    base.nrow = base.nsided = isfinite(lower[k]) + isfinite(upper[k]);
    m->constraint_name[m->nconstraint] = name;
    m->constraint[m->nconstraint++] = base;
    m->nlimit++;
  }
  if (!def->cone.enabled) {
    return;
  }
  snprintf(key, sizeof key, "%scone", prefix);
  if (ball < 0) {
    sni_compile_fail(c, key,
                     "needs a joint whose coordinates are a rotation vector: spherical, "
                     "free");
    return;
  }
  check_cone(c, key, &def->cone);
  const bool twists = def->cone.twist_lower.n == 1;
  base.kind = SNI_CONE;
  base.axis = sn_vec3_scale(def->cone.axis, 1 / sn_vec3_norm(def->cone.axis));
  base.swing = def->cone.swing;
  base.lower = twists ? def->cone.twist_lower.v[0] : -INFINITY;
  base.upper = twists ? def->cone.twist_upper.v[0] : INFINITY;
  for (int k = 0; k < 3; k++) {
    base.coord[k] = first + ball + k;
  }
  base.ncoord = base.of_loop ? 0 : 3;
  base.nrow = base.nsided = (base.swing < SN_PI) + 2 * twists;
  if (base.nrow > 0) {
    m->constraint_name[m->nconstraint] = name;
    m->constraint[m->nconstraint++] = base;
    m->nlimit++;
  }
}

static bool has_limits(const sn_joint_def *def) {
  return def->lower.n > 0 || def->upper.n > 0 || def->cone.enabled || def->backlash.enabled;
}

static void check_stop(sni_compile *c, const char *key, const sn_joint_def *def) {
  sni_part_builder b = sni_compile_builder(c);
  const sn_stop_def *stop = &def->stop;
  sni_stop_check(&b, key, stop);
  if (!has_limits(def) && (stop->restitution != 0 || stop->stiffness != 0 || stop->damping != 0)) {
    sni_compile_warn(c, key, "does nothing without limits");
  }
}

size_t sni_compile_limit_count(const sni_compile *c) {
  size_t n = 0;
  for (int i = 0; i < c->m->tree.nbody; i++) {
    n += has_limits(&c->def[i]->joint) ? SN_NV_MAX + 1 : 0;
  }
  const sn_loop_def *loop = c->b->loop.item;
  for (int k = 0; k < c->b->loop.count; k++) {
    n += has_limits(&loop[k].joint) ? SN_NV_MAX + 1 : 0;
  }
  return n;
}

void sni_compile_limits(sni_compile *c) {
  sn_model *m = c->m;
  const sni_tree *t = &m->tree;
  for (int i = 0; i < t->nbody; i++) {
    const int nv = t->vadr[i + 1] - t->vadr[i];
    const int ball = c->broken[i] ? -1 : ball_of(sni_tree_joints(t), i);
    sni_compile_at(c, "bodies", m->name[i]);
    const sn_joint_def own = sni_compile_backlash(c, "joint.", &c->def[i]->joint, nv, ball),
                       *def = &own;
    check_stop(c, "joint.stop", def);
    if (has_limits(def) && !c->broken[i]) {
      add_limits(c, "joint.", def, nv, ball, m->name[i],
                 (sni_constraint){.active = -1,
                                  .weight = 1,
                                  .body = {-1, -1},
                                  .ncoord = 1,
                                  .coord = {t->vadr[i]},
                                  .stop = def->stop,
                                  .function = {-1, -1, -1, -1, -1, -1}});
    }
  }
  const sn_loop_def *loop = c->b->loop.item;
  for (int k = 0; k < m->nloop; k++) {
    const sni_constraint *at = &m->constraint[k];
    const int ball = ball_of(m->loop_joints, at->joint);
    sni_compile_at(c, "loops", loop[k].name);
    const sn_joint_def own = sni_compile_backlash(c, "", &loop[k].joint, at->nv, ball), *def = &own;
    check_stop(c, "stop", def);
    if (has_limits(def)) {
      sni_constraint base = *at;
      base.of_loop = true;
      base.coord[0] = base.ncoord = 0;
      base.stop = def->stop;
      memset(base.function, -1, sizeof base.function);
      add_limits(c, "", def, base.nv, ball, m->constraint_name[k], base);
    }
  }
}
