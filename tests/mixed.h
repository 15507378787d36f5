/* mixed.h: scenes with everything at once: joints that rub and have limits, loops, springs, and
 * bodies that touch the floor, each other and themselves, overlapping at the start. */
#ifndef TEST_MIXED_H
#define TEST_MIXED_H

#include "paper.h"

typedef struct mixed {
  paper p;
  bool quiet; /* nothing but kinetic energy: neither gravity nor springs */
  double h;
} mixed;

static inline void put_shape(paper *p, dice *d) {
  const double size = between(d, 0.03, 0.08), length = between(d, 0.1, 0.3);
  switch (one_of(d, 5)) {
  case 0:
    put(p, "{type: sphere, radius: %.3g, at: [0.1, 0, 0]", size);
    break;
  case 1:
    put(p, "{type: capsule, from: [0, 0, 0], to: [%.3g, 0, 0], radius: %.3g", length, size);
    break;
  case 2:
    put(p, "{type: cylinder, from: [0, 0, 0], to: [%.3g, 0, 0], radius: %.3g", length, size);
    break;
  case 3:
    put(p, "{type: ellipsoid, radii: [0.15, %.3g, 0.05], at: [0.15, 0, 0]", size);
    break;
  default:
    put(p, "{type: box, size: [%.3g, %.3g, 0.08], at: [%.3g, 0, 0]", length, 2 * size, length / 2);
  }
  put(p, ", density: %.4g, contact: m}", between(d, 200, 3000));
}

static inline void put_joint(mixed *m, dice *d, int type, bool root, const double *at) {
  paper *p = &m->p;
  const sn_vec3 axis = random_vec3(&d->seed, 1);
  put(p, "joint: {type: %s, at: [%.17g, %.17g, %.17g]",
      type < RUBBING_TYPES ? rubbing_type[type] : "free", at[0], at[1], at[2]);
  if (type <= CYLINDRICAL) {
    put(p, ", axis: [%.3g, %.3g, %.3g]", axis.x, axis.y, axis.z + 0.1);
  }
  if (type < RUBBING_TYPES && roll(d) < 0.6) {
    put_friction(p, d, type);
  }
  if (type <= PRISMATIC && roll(d) < 0.4) {
    const double hi = between(d, 0.02, 0.6), lo = -between(d, 0.02, 0.6);
    put(p, ", limits: [%.3g, %.3g]", lo, hi);
  }
  if (!m->quiet && !root && roll(d) < 0.3) {
    const double damping = roll(d), stiffness = between(d, 1, 300);
    put(p, ", stiffness: %.3g, damping: %.3g", stiffness, damping);
  }
  put(p, "}");
}

/* A tree of bodies; where its last one ends, in end. */
static inline int put_mechanism(mixed *m, dice *d, int which, double *end) {
  const int n = 1 + one_of(d, 5);
  double at[5][3];
  for (int k = 0; k < n; k++) {
    const int parent = k == 0 ? -1 : roll(d) < 0.8 ? k - 1 : one_of(d, k);
    const int type = one_of(d, RUBBING_TYPES + (k == 0 ? 4 : 0));
    const double root[3] = {between(d, -0.15, 0.15), between(d, -0.15, 0.15),
                            between(d, -0.1, 0.3)},
                 next[3] = {between(d, 0.05, 0.3), between(d, -0.05, 0.05), between(d, -0.1, 0.1)};
    const double *from = parent < 0 ? root : next;
    for (int c = 0; c < 3; c++) {
      at[k][c] = (parent < 0 ? 0 : at[parent][c]) + from[c];
    }
    put(&m->p, "  m%d_%d: {", which, k);
    if (parent >= 0) {
      put(&m->p, "parent: m%d_%d, ", which, parent);
    }
    put_joint(m, d, type, k == 0, from);
    put(&m->p, ", shapes: [");
    put_shape(&m->p, d);
    put(&m->p, "]}\n");
  }
  for (int c = 0; c < 3; c++) {
    end[c] = at[n - 1][c];
  }
  return n;
}

static inline void mixed_write(mixed *m, dice *d) {
  static const double step[] = {0.001, 0.003, 0.01, 0.02};
  static const char *const self[] = {"none", "distant", "all"};
  paper *p = &m->p;
  p->used = 0;
  m->quiet = roll(d) < 0.4;
  m->h = step[one_of(d, 4)];
  put(p, "sinew: 1\ngravity: [0, 0, %g]\n", m->quiet ? 0 : -9.81);
  const char *who = self[one_of(d, 3)];
  put(p, "contacts: {m: {friction: %.3g, self: %s", roll(d), who);
  if (roll(d) < 0.5) {
    put(p, ", restitution: %.3g", roll(d));
  }
  if (roll(d) < 0.2) {
    put(p, ", rolling: 0.002, torsional: 0.003");
  }
  put(p, "}}\nbodies:\n");
  if (roll(d) < 0.8) {
    put(p, "  floor: {joint: {type: fixed, at: [0, 0, -0.2]}, shapes: [{type: plane, contact: "
           "m}]}\n");
  }
  const int n = 1 + one_of(d, 3);
  int count[3];
  double end[3][3];
  for (int k = 0; k < n; k++) {
    count[k] = put_mechanism(m, d, k, end[k]);
  }
  const bool loops = roll(d) < 0.4;
  if (loops) {
    put(p, "loops:\n");
  }
  for (int k = 0; loops && k < n; k++) { /* from the last body to the ground, where it is */
    put(p,
        "  loop%d: {type: spherical, a: {body: world, at: [%.17g, %.17g, %.17g]}, b: {body: "
        "m%d_%d, at: [0.1, 0, 0]}",
        k, end[k][0] + 0.1, end[k][1], end[k][2], k, count[k] - 1);
    if (roll(d) < 0.5) {
      put_friction(p, d, SPHERICAL);
    }
    put(p, "}\n");
  }
  if (!m->quiet && n > 1 && roll(d) < 0.3) {
    const double damping = between(d, 0, 10), stiffness = pow(10, between(d, 1, 5));
    put(p,
        "forces: {pull: {type: spring, a: {body: m0_0}, b: {body: m1_0}, stiffness: %.3g, damping: "
        "%.3g, rest_length: 0.1}}\n",
        stiffness, damping);
  }
}

#endif
