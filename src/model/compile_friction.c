/* compile_friction.c: what rubs in joints and in loops; backlash. */
#include "model/compile.h"

#include <stdio.h>
#include <string.h>

/* ---- backlash ---- */

/* A ball has its gap all around: how far any direction of it swings, and how far it twists. */
static bool open_ball(sni_compile *c, const char *prefix, int nv, sn_joint_def *def) {
  char at[64];
  const double half = 0.5 * def->backlash.gap;
  bool rests = true;
  for (int k = 0; k < def->rest.n; k++) {
    rests = rests && def->rest.v[k] == 0;
  }
  snprintf(at, sizeof at, "%sbacklash", prefix);
  if (nv != 3) {
    sni_compile_fail(c, at,
                     "the joint turns about no axis and slides as well: needs a spherical "
                     "one, or limits and a cone with a soft stop");
  } else if (!rests) {
    sni_compile_fail(c, at, "a gap of a spherical joint is around q = 0: needs no 'rest'");
  } else if (!(half > 0 && half < SN_PI)) {
    sni_compile_fail(c, at, "gap is %g, a spherical joint needs one above 0 and below 2 pi",
                     def->backlash.gap);
  } else {
    def->cone = (sn_cone_def){.enabled = true, .swing = half, .axis = {0, 0, 1}};
    def->cone.twist_lower = (sn_per_dof){.n = 1, .v = {-half}};
    def->cone.twist_upper = (sn_per_dof){.n = 1, .v = {half}};
  }
  return def->cone.enabled;
}

sn_joint_def sni_compile_backlash(sni_compile *c, const char *prefix, const sn_joint_def *def,
                                  int nv, int ball) {
  sn_joint_def out = *def;
  if (!def->backlash.enabled) {
    return out;
  }
  if (ball >= 0 && !open_ball(c, prefix, nv, &out)) {
    out.backlash.enabled = false;
    return out;
  }
  out.stop = (sn_stop_def){.stiffness = def->backlash.stiffness, .damping = def->backlash.damping};
  const int n = ball >= 0 ? 0 : def->rest.n > 0 ? def->rest.n : 1;
  out.lower.n = out.upper.n = n;
  for (int k = 0; k < n && k < SN_NV_MAX; k++) {
    const double middle = def->rest.n > 0 ? def->rest.v[k] : 0;
    out.lower.v[k] = middle - 0.5 * def->backlash.gap;
    out.upper.v[k] = middle + 0.5 * def->backlash.gap;
  }
  return out;
}

static void check_number(sni_compile *c, const char *prefix, const char *key, double value,
                         bool positive) {
  char at[64];
  if (!isfinite(value) || (positive ? !(value > 0) : value < 0)) {
    snprintf(at, sizeof at, "%s.%s", prefix, key);
    sni_compile_fail(c, at, "is %g, needs a number %s 0", value, positive ? ">" : ">=");
  }
}

static void check_backlash(sni_compile *c, const char *prefix, const sn_joint_def *def, int nv) {
  char at[32];
  const sn_backlash_def *own = &def->backlash;
  if (!own->enabled) {
    return;
  }
  snprintf(at, sizeof at, "%sbacklash", prefix);
  if (nv == 0) {
    sni_compile_fail(c, at, "the joint has no coordinates: there is no gap in it");
  }
  if (def->lower.n > 0 || def->upper.n > 0 || def->cone.enabled) {
    sni_compile_fail(c, at, "is the same as limits with a soft stop: give one of them");
  }
  check_number(c, at, "gap", own->gap, false);
  check_number(c, at, "stiffness", own->stiffness, true);
  check_number(c, at, "damping", own->damping, false);
}

/* ---- laws ---- */

/* What a law reads.  The order is that of sni_law. */
static const struct law {
  const char *name;
  bool bearings, force, breakaway, damping;
} laws[] = {{"coulomb", true, false, false, false},
            {"dry", false, true, false, false},
            {"stribeck", false, true, true, true},
            {"viscous", false, false, false, true}};
enum { NOT_GIVEN = -1 /* of mu */ };

static int law_of(const sn_joint_friction_def *def) {
  for (int k = 0; def->law && k < SNI_COUNT(laws); k++) {
    if (strcmp(laws[k].name, def->law) == 0) {
      return k;
    }
  }
  return -1;
}

/* Numbers that the law needs and those that it does not know. */
static void check_given(sni_compile *c, const char *prefix, const sn_joint_friction_def *def,
                        int law, unsigned needs) {
  const bool rubs = laws[law].bearings;
  const struct {
    const char *key;
    bool given, needed, known;
    const char *why;
  } key[] = {{"mu", def->mu != NOT_GIVEN, rubs, rubs, "how much of the load is friction"},
             {"pin_radius", def->pin_radius != 0, rubs && (needs & SNI_NEEDS_RADIUS),
              rubs && (needs & SNI_NEEDS_RADIUS), "the radius at which the surfaces rub"},
             {"pin_length", def->pin_length != 0, rubs && (needs & SNI_NEEDS_LENGTH),
              rubs && (needs & SNI_NEEDS_LENGTH), "how far apart the ends of the pin are"},
             {"size", def->size.x != 0 || def->size.y != 0 || def->size.z != 0,
              rubs && (needs & SNI_NEEDS_SIZE), rubs && (needs & SNI_NEEDS_SIZE),
              "the edges of the slider"},
             {"across", sn_vec3_norm(def->across) != 0, false, rubs && (needs & SNI_NEEDS_SIZE),
              "where the first edge points"},
             {"force", def->force.n > 0, laws[law].force, laws[law].force, "friction in motion"},
             {"breakaway", def->breakaway.n > 0, laws[law].breakaway, laws[law].breakaway,
              "friction at rest"},
             {"speed", def->speed.n > 0, laws[law].breakaway, laws[law].breakaway,
              "the rate at which friction has fallen"},
             {"damping", def->damping.n > 0, law == SNI_VISCOUS, laws[law].damping,
              "force for each unit of rate"}};
  for (int k = 0; k < SNI_COUNT(key); k++) {
    char at[64];
    snprintf(at, sizeof at, "%s.%s", prefix, key[k].key);
    if (key[k].needed && !key[k].given) {
      sni_compile_fail(c, at, "is missing: the law '%s' needs it here (%s)", laws[law].name,
                       key[k].why);
    } else if (key[k].given && !key[k].known) {
      sni_compile_warn(c, at, "does nothing: the law '%s' does not use it here", laws[law].name);
    }
  }
}

void sni_compile_friction_damping(sni_compile *c, const char *key, const sn_joint_friction_def *def,
                                  int nv, double *damping) {
  char at[64];
  double own[SN_NV_MAX] = {0};
  const int law = law_of(def);
  if (def->enabled && law >= 0 && laws[law].damping) {
    snprintf(at, sizeof at, "%s.damping", key);
    sni_compile_spread(c, at, &def->damping, nv, 0, true, own);
    for (int k = 0; k < nv; k++) {
      damping[k] += own[k];
    }
  }
}

static double of_dof(const sn_per_dof *p, int k) {
  return p->n == 0 ? 0 : p->n == 1 ? p->v[0] : p->v[k];
}

/* Friction and the joint itself damp together; of that, friction has the part that it brought. */
static void note_drag(const sn_joint_def *def, int nv, sni_rub *rub) {
  for (int k = 0; k < nv; k++) {
    const double own = of_dof(&def->friction.damping, k), all = own + of_dof(&def->damping, k);
    rub->drag[k] = all > 0 ? own / all : 0;
  }
}

static void *take(void *user, size_t count, size_t size) {
  return sni_compile_take(user, count, size);
}

/* How a slider is turned about its axis is told by nothing else. */
static void check_across(sni_compile *c, const char *prefix, const sn_joint_def *def) {
  const sn_vec3 across = def->friction.across, size = def->friction.size;
  const double length = sn_vec3_norm(across) * sn_vec3_norm(def->axis);
  char at[64];
  snprintf(at, sizeof at, "%s.across", prefix);
  if (length == 0 && size.x != size.y) {
    sni_compile_fail(c, at,
                     "is missing: the slider is %g wide and %g high, which of them points where "
                     "in the joint's frame?",
                     size.x, size.y);
  } else if (length != 0 && !(sn_vec3_norm(sn_vec3_cross(across, def->axis)) > 1e-6 * length &&
                              isfinite(length))) {
    sni_compile_fail(c, at, "is [%g, %g, %g], needs a direction across the axis", across.x,
                     across.y, across.z);
  }
}

static void add_bearings(sni_compile *c, const char *prefix, const sni_joint_ops *ops,
                         const sn_joint_def *def, sni_rub *rub) {
  const sn_joint_friction_def *own = &def->friction;
  const int before = c->b->errors.count;
  char at[64];
  if (!ops->bear) {
    sni_compile_fail(
        c, prefix,
        "the law 'coulomb' knows where revolute, prismatic, cylindrical, universal and "
        "spherical joints rub, not '%s': take dry, stribeck or viscous",
        def->type);
    return;
  }
  check_given(c, prefix, own, SNI_COULOMB, ops->rub_needs);
  if (own->mu != NOT_GIVEN) {
    check_number(c, prefix, "mu", own->mu, false);
  }
  if (ops->rub_needs & SNI_NEEDS_RADIUS && own->pin_radius != 0) {
    check_number(c, prefix, "pin_radius", own->pin_radius, true);
  }
  if (ops->rub_needs & SNI_NEEDS_LENGTH && own->pin_length != 0) {
    check_number(c, prefix, "pin_length", own->pin_length, true);
  }
  if (ops->rub_needs & SNI_NEEDS_SIZE) {
    const double least = fmin(own->size.x, fmin(own->size.y, own->size.z));
    snprintf(at, sizeof at, "%s.size", prefix);
    if (sn_vec3_norm(own->size) != 0 && !(least > 0 && isfinite(sn_vec3_norm(own->size)))) {
      sni_compile_fail(c, at, "is [%g, %g, %g], needs three lengths > 0", own->size.x, own->size.y,
                       own->size.z);
    } else {
      check_across(c, prefix, def);
    }
  }
  const bool ball = !(ops->rub_needs & SNI_NEEDS_LENGTH);
  snprintf(at, sizeof at, "%s.points", prefix);
  if (ops->rub_needs & SNI_NEEDS_RADIUS && own->points != 0 && ball && own->points != SNI_POLES) {
    sni_compile_fail(c, at, "is %d, a ball has %d, or 0: all over it", own->points, SNI_POLES);
  } else if (own->points != 0 && (own->points < 3 || own->points > SNI_POINTS_MAX)) {
    sni_compile_fail(c, at, "is %d, needs a number from 3 to %d, or 0: all around", own->points,
                     SNI_POINTS_MAX);
  }
  if (c->b->errors.count > before) {
    return;
  }
  sni_bearing_builder b = {.user = c, .take = take, .bearing = rub->bearing};
  ops->bear(&b, def);
  rub->nbearing = b.count;
  rub->number.mu = own->mu;
  rub->at_points = own->points > 0 && rub->bearing[0].kind == SNI_AT_POINTS;
  for (int k = 0; k < rub->nbearing; k++) {
    rub->nslide += rub->bearing[k].ndirection;
    c->m->ntangent += rub->bearing[k].ntangent;
  }
}

/* Which of the coordinates of joint j rub together. */
static void find_groups(sni_joint_set set, int j, sni_rub *rub) {
  for (int k = 0; k < set.joint[j].nv; k += rub->group[rub->ngroup++].count) {
    const bool ball = sni_joint_is_ball(set, j, k);
    const int slides = sni_joint_slides(set, j, k);
    rub->group[rub->ngroup] = (sni_rub_group){.first = k,
                                              .count = ball         ? 3
                                                       : slides > 0 ? slides
                                                                    : 1,
                                              .ball = ball};
  }
}

/* prefix: of keys, "joint." or "". */
static void add_rub(sni_compile *c, const char *prefix, sni_joint_set set, int j,
                    const sn_joint_def *def, int nv, const char *name, sni_rub at) {
  sn_model *m = c->m;
  char key[32], part[64];
  check_backlash(c, prefix, def, nv);
  if (!def->friction.enabled) {
    return;
  }
  snprintf(key, sizeof key, "%sfriction", prefix);
  const int law = law_of(&def->friction);
  if (law < 0) {
    snprintf(part, sizeof part, "%s.law", key);
    sni_compile_fail(c, part,
                     "'%s' is not a law of friction; known: coulomb, dry, viscous, stribeck",
                     def->friction.law ? def->friction.law : "");
    return;
  }
  if (nv == 0) {
    sni_compile_fail(c, key, "a joint that does not move has nothing that rubs");
    return;
  }
  at.law = (sni_law)law;
  at.first = m->nslide;
  at.first_tangent = m->ntangent;
  if (law == SNI_COULOMB) {
    add_bearings(c, key, sni_joint_ops_of(set, j), def, &at);
  } else {
    check_given(c, key, &def->friction, law, 0);
    find_groups(set, j, &at);
    at.nslide = law == SNI_VISCOUS ? 0 : nv;
    if (law == SNI_STRIBECK) {
      note_drag(def, nv, &at);
    }
    snprintf(part, sizeof part, "%s.force", key);
    sni_compile_spread(c, part, &def->friction.force, nv, 0, true, at.number.force);
    snprintf(part, sizeof part, "%s.breakaway", key);
    sni_compile_spread(c, part, &def->friction.breakaway, nv, 0, true, at.number.breakaway);
    snprintf(part, sizeof part, "%s.speed", key);
    sni_compile_spread(c, part, &def->friction.speed, nv, 1, true, at.number.speed);
    for (int k = 0; k < nv && law == SNI_STRIBECK; k++) {
      if (at.number.breakaway[k] < at.number.force[k]) {
        snprintf(part, sizeof part, "%s.breakaway", key);
        sni_compile_fail(c, part, "is %g, less than force (%g): friction at rest is the larger one",
                         at.number.breakaway[k], at.number.force[k]);
      }
      if (!(at.number.speed[k] > 0)) {
        snprintf(part, sizeof part, "%s.speed", key);
        sni_compile_fail(c, part, "is %g, needs a number > 0", at.number.speed[k]);
      }
    }
  }
  if (at.nslide > 0) {
    m->nslide += at.nslide;
    m->rub[m->nrub++] = at;
    m->rubbing = name;
  }
}

/* Joints that are damped and do not stick: no question for anybody, but they are recorded. */
static void add_viscous(sn_model *m, sni_joint_set set, int j, const sn_joint_def *def, int nv,
                        sni_rub at) {
  if (!def->friction.enabled || law_of(&def->friction) != SNI_VISCOUS || nv == 0) {
    return;
  }
  at.law = SNI_VISCOUS;
  at.first = m->nslide + m->ndragged;
  at.nslide = nv;
  find_groups(set, j, &at);
  note_drag(def, nv, &at);
  m->rub[m->nrub + m->ndrag++] = at;
  m->ndragged += nv;
}

/* Most mechanisms have few joints that rub, or none. */
static size_t count_rubbing(const sni_compile *c) {
  const sn_loop_def *loop = c->b->loop.item;
  size_t count = 0;
  for (int i = 0; i < c->m->tree.nbody; i++) {
    count += c->def[i]->joint.friction.enabled;
  }
  for (int k = 0; k < c->m->nloop; k++) {
    count += loop[k].joint.friction.enabled;
  }
  return count;
}

void sni_compile_friction(sni_compile *c) {
  sn_model *m = c->m;
  const sni_tree *t = &m->tree;
  const sn_loop_def *loop = c->b->loop.item;
  m->rub = sni_compile_take(c, count_rubbing(c), sizeof *m->rub);
  for (int i = 0; i < t->nbody && !c->out_of_memory; i++) {
    sni_compile_at(c, "bodies", m->name[i]);
    if (!c->broken[i]) {
      add_rub(c, "joint.", sni_tree_joints(t), i, &c->def[i]->joint, t->vadr[i + 1] - t->vadr[i],
              m->name[i], (sni_rub){.body = i, .loop = -1});
    }
  }
  for (int k = 0; k < m->nloop && !c->out_of_memory; k++) {
    sni_compile_at(c, "loops", loop[k].name);
    add_rub(c, "", m->loop_joints, k, &loop[k].joint, m->constraint[k].nv, m->constraint_name[k],
            (sni_rub){.body = -1, .loop = k});
  }
  for (int i = 0; i < t->nbody && !c->out_of_memory; i++) {
    add_viscous(m, sni_tree_joints(t), i, &c->def[i]->joint, t->vadr[i + 1] - t->vadr[i],
                (sni_rub){.body = i, .loop = -1});
  }
  for (int k = 0; k < m->nloop && !c->out_of_memory; k++) {
    add_viscous(m, m->loop_joints, k, &loop[k].joint, m->constraint[k].nv,
                (sni_rub){.body = -1, .loop = k});
  }
}

/* ---- how fast ---- */

int sni_rub_rate_parts(const sni_rub *rub, int c, const double *q, int *first, double *part) {
  const sni_rub_group *group = sni_rub_group_of(rub, c);
  if (!group->ball) {
    *first = c;
    part[0] = 1;
    return 1;
  }
  *first = group->first;
  q += group->first;
  const sn_mat3 Jr = sn_so3_jacobian((sn_vec3){q[0], q[1], q[2]});
  for (int i = 0; i < 3; i++) {
    part[i] = Jr.m[c - group->first][i];
  }
  return 3;
}

double sni_rub_rate(const sni_rub *rub, int c, const double *q, const double *qd) {
  double part[SN_NV_MAX], sum = 0;
  int first = 0;
  const int n = sni_rub_rate_parts(rub, c, q, &first, part);
  for (int i = 0; i < n; i++) {
    sum += part[i] * qd[first + i];
  }
  return sum;
}
