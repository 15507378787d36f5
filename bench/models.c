/* models.c: generators of the timed mechanisms.
 *
 * Every body is one solid cylinder between two points, so that masses, centres and inertias belong
 * together and slanted limbs have full inertia tensors.  The state is pseudo-random and the same
 * everywhere: integers first, then one exact conversion. */
#include "models.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_DOUBLES = 9 + 3 + 3 + 1 + 3 + 6, BASE_NV = 6, HUMANOID_BODIES = 22 };

typedef struct rod { /* solid cylinder, in the frame of its body */
  double from[3], to[3], radius, mass;
} rod;

static const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static bench_model *model_alloc(int nbody, int nv) {
  bench_model *m = calloc(1, sizeof *m);
  const size_t n = (size_t)nbody;
  double *d = calloc(n * ROW_DOUBLES + 3 * (size_t)nv, sizeof *d);
  int *k = calloc(2 * n, sizeof *k);
  bench_joint *joint = calloc(n, sizeof *joint);
  if (!m || !d || !k || !joint) {
    free(m);
    free(d);
    free(k);
    free(joint);
    return NULL;
  }
  *m = (bench_model){.nbody = nbody, .nv = nv, .gravity = {0.0, 0.0, -9.81}};
  m->parent = k;
  m->vadr = k + n;
  m->joint = joint;
  m->q = d; /* first in the block: bench_model_free gives it back by this name */
  m->qd = m->q + nv;
  m->tau = m->qd + nv;
  d = m->tau + nv;
  m->R_pb0 = (double(*)[3][3])d;
  m->p_pb0 = (double(*)[3])(d + 9 * n);
  m->axis = (double(*)[3])(d + 12 * n);
  m->com = (double(*)[3])(d + 15 * n);
  m->inertia = (double(*)[6])(d + 18 * n);
  m->mass = d + 24 * n;
  return m;
}

void bench_model_free(bench_model **model) {
  if (*model) {
    free((*model)->q);
    free((*model)->parent);
    free((*model)->joint);
    free(*model);
  }
  *model = NULL;
}

/* Inertia of a cylinder of direction e: I = trans (1 - e e^T) + axial e e^T. */
static void set_rod(bench_model *m, int i, const rod *r) {
  double e[3], length2 = 0.0;
  for (int k = 0; k < 3; k++) {
    e[k] = r->to[k] - r->from[k];
    length2 += e[k] * e[k];
    m->com[i][k] = 0.5 * (r->from[k] + r->to[k]);
  }
  const double radius2 = r->radius * r->radius;
  const double axial = 0.5 * r->mass * radius2;
  const double trans = r->mass * (3.0 * radius2 + length2) / 12.0;
  const double extra = (axial - trans) / length2;
  m->mass[i] = r->mass;
  for (int k = 0; k < 3; k++) {
    m->inertia[i][k] = trans + extra * e[k] * e[k];
  }
  m->inertia[i][3] = extra * e[0] * e[1];
  m->inertia[i][4] = extra * e[0] * e[2];
  m->inertia[i][5] = extra * e[1] * e[2];
}

static void set_joint(bench_model *m, int i, int parent, const double p[3], const double axis[3]) {
  const double norm = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  m->parent[i] = parent;
  m->joint[i] = norm > 0.0 ? BENCH_REVOLUTE : BENCH_FREE;
  if (i > 0) {
    m->vadr[i] = m->vadr[i - 1] + (m->joint[i - 1] == BENCH_FREE ? BASE_NV : 1);
  }
  memcpy(m->R_pb0[i], identity, sizeof identity);
  for (int k = 0; k < 3; k++) {
    m->p_pb0[i][k] = p[k];
    m->axis[i][k] = norm > 0.0 ? axis[k] / norm : 0.0;
  }
}

/* Uniform in (-1, 1), the same on every machine: Weyl sequence, mixed, top 53 bits. */
static double random_next(uint64_t *s) {
  uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static void set_state(bench_model *m, uint64_t seed, double torque) {
  for (int i = 0; i < m->nv; i++) {
    m->q[i] = random_next(&seed);
    m->qd[i] = random_next(&seed);
    m->tau[i] = torque * random_next(&seed);
  }
  if (m->joint[0] == BENCH_FREE) {
    memset(m->tau, 0, BASE_NV * sizeof *m->tau);
  }
}

static const rod link = {.from = {0, 0, 0}, .to = {0.3, 0, 0}, .radius = 0.03, .mass = 1.0};
static const double link_axis[2][3] = {{0, 1, 0}, {0, 0, 1}};

bench_model *bench_model_chain(int n) {
  bench_model *m = n > 0 ? model_alloc(n, n) : NULL;
  if (!m) {
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    set_joint(m, i, i - 1, i > 0 ? link.to : link.from, link_axis[i % 2]);
    set_rod(m, i, &link);
  }
  set_state(m, 1, 1.0);
  return m;
}

bench_model *bench_model_tree(int n) {
  bench_model *m = n > 0 ? model_alloc(n, n) : NULL;
  if (!m) {
    return NULL;
  }
  for (int i = 0, depth = 0; i < n; i++) {
    if (i + 1 >= 2 << depth) {
      depth++;
    }
    set_joint(m, i, i > 0 ? (i - 1) / 2 : -1, i > 0 ? link.to : link.from, link_axis[depth % 2]);
    set_rod(m, i, &link);
    /* The two children of a link leave it at half a radian to either side, about x + z. */
    if (i > 0) {
      const double angle = (i % 2 ? 0.5 : -0.5) * sqrt(0.5);
      bench_rotvec_matrix((const double[3]){angle, 0.0, angle}, m->R_pb0[i]);
    }
  }
  set_state(m, 2, 1.0);
  return m;
}

/* x forward, y left, z up.  A joint of two or three hinges is as many bodies, the inner ones the
 * housings of its drives.  Limbs are listed once and made twice, y mirrored. */
typedef struct part {
  int parent;            /* a body of the trunk; -1: the part before (the world for the first) */
  double at[3], axis[3]; /* no axis: free */
  rod body;
} part;

static const part trunk[] = {
    {-1, {0, 0, 0}, {0, 0, 0}, {{0, 0, -0.20}, {0.02, 0, 0.25}, 0.13, 30.0}},
    {0, {0, 0, -0.20}, {0, 0, 1}, {{0, 0, -0.03}, {0, 0, 0.03}, 0.06, 1.0}},
    {1, {0, 0, -0.05}, {0, 1, 0}, {{0, -0.03, 0}, {0, 0.03, 0}, 0.06, 1.0}},
    {2, {0, 0, -0.05}, {1, 0, 0}, {{0, -0.10, -0.05}, {0, 0.10, -0.05}, 0.11, 10.0}},
};
static const part leg[] = {
    /* the right one: hips x, z, y; knee; ankles y, x */
    {3, {0, -0.10, -0.10}, {1, 0, 0}, {{-0.03, 0, 0}, {0.03, 0, 0}, 0.04, 0.5}},
    {-1, {0, 0, -0.02}, {0, 0, 1}, {{0, 0, -0.03}, {0, 0, 0.03}, 0.04, 0.5}},
    {-1, {0, 0, -0.02}, {0, 1, 0}, {{0, 0, 0}, {0, 0.02, -0.38}, 0.065, 7.5}},
    {-1, {0, 0.02, -0.40}, {0, 1, 0}, {{0, 0, 0}, {-0.01, 0, -0.38}, 0.045, 3.3}},
    {-1, {-0.01, 0, -0.40}, {0, 1, 0}, {{0, -0.02, 0}, {0, 0.02, 0}, 0.03, 0.3}},
    {-1, {0, 0, -0.02}, {1, 0, 0.5}, {{-0.07, 0, -0.03}, {0.16, -0.02, -0.04}, 0.035, 1.1}},
};
static const part arm[] = {
    /* the right one: shoulder twice, elbow */
    {0, {0, -0.20, 0.18}, {2, 1, 1}, {{0, -0.03, 0}, {0, 0.03, 0}, 0.035, 0.5}},
    {-1, {0, -0.02, 0}, {0, -1, 1}, {{0, 0, 0}, {0, -0.06, -0.26}, 0.045, 2.1}},
    {-1, {0, -0.06, -0.28}, {0, -1, 1}, {{0, 0, 0}, {0.10, -0.02, -0.22}, 0.035, 1.7}},
};

/* Append `count` parts from body *i on, y multiplied by `side`. */
static void add_parts(bench_model *m, const part *parts, int count, double side, int *i) {
  for (int k = 0; k < count; k++, (*i)++) {
    part p = parts[k];
    p.at[1] *= side;
    p.axis[1] *= side;
    p.body.from[1] *= side;
    p.body.to[1] *= side;
    set_joint(m, *i, p.parent < 0 ? *i - 1 : p.parent, p.at, p.axis);
    set_rod(m, *i, &p.body);
  }
}

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

bench_model *bench_model_humanoid(void) {
  _Static_assert(COUNT(trunk) + 2 * COUNT(leg) + 2 * COUNT(arm) == HUMANOID_BODIES, "parts");
  bench_model *m = model_alloc(HUMANOID_BODIES, HUMANOID_BODIES - 1 + BASE_NV);
  if (!m) {
    return NULL;
  }
  int i = 0;
  add_parts(m, trunk, COUNT(trunk), 1.0, &i);
  for (int side = 1; side >= -1; side -= 2) {
    add_parts(m, leg, COUNT(leg), side, &i);
  }
  for (int side = 1; side >= -1; side -= 2) {
    add_parts(m, arm, COUNT(arm), side, &i);
  }
  set_state(m, 3, 10.0);
  return m;
}

bench_model *bench_model_build(const char *scene, int n) {
  if (strcmp(scene, "chain") == 0) {
    return bench_model_chain(n);
  }
  if (strcmp(scene, "tree") == 0) {
    return bench_model_tree(n);
  }
  return strcmp(scene, "humanoid") == 0 ? bench_model_humanoid() : NULL;
}

static void cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void bench_rotvec_matrix(const double r[3], double R[3][3]) {
  const double angle = sqrt(dot(r, r));
  const double s = angle > 0.0 ? sin(angle) / angle : 1.0;
  const double half = 0.5 * angle, h = half > 0.0 ? sin(half) / half : 1.0;
  const double k = 0.5 * h * h; /* (1 - cos) / angle^2 without cancellation */
  const double skew[3][3] = {{0, -r[2], r[1]}, {r[2], 0, -r[0]}, {-r[1], r[0], 0}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const double square = r[i] * r[j] - (i == j ? angle * angle : 0.0);
      R[i][j] = (i == j ? 1.0 : 0.0) + s * skew[i][j] + k * square;
    }
  }
}

/* rd = omega + r x omega / 2 + k r x (r x omega),  k = (1 - (t/2) cot(t/2)) / t^2,  t = |r| */
void bench_rotvec_rate(const double r[3], const double omega[3], double rd[3]) {
  const double t2 = dot(r, r), half = 0.5 * sqrt(t2);
  const double k = (1.0 - half / tan(half)) / t2;
  double c1[3], c2[3];
  cross(r, omega, c1);
  cross(r, c1, c2);
  for (int i = 0; i < 3; i++) {
    rd[i] = omega[i] + 0.5 * c1[i] + k * c2[i];
  }
}

/* The time derivative of omega = rd - a r x rd + b r x (r x rd),
 * a = (1 - cos t) / t^2,  b = (t - sin t) / t^3. */
void bench_rotvec_alpha(const double r[3], const double rd[3], const double rdd[3],
                        double alpha[3]) {
  const double t2 = dot(r, r), t = sqrt(t2), s = sin(t), c = cos(t), td = dot(r, rd) / t;
  const double a = (1.0 - c) / t2, ad = td * (t * s - 2.0 * (1.0 - c)) / (t2 * t);
  const double b = (t - s) / (t2 * t), bd = td * (3.0 * s - 2.0 * t - t * c) / (t2 * t2);
  double d1[3], d2[3], dd[3], e1[3], e2[3];
  cross(r, rd, d1);
  cross(r, d1, d2);
  cross(rd, d1, dd);
  cross(r, rdd, e1);
  cross(r, e1, e2);
  for (int i = 0; i < 3; i++) {
    alpha[i] = rdd[i] - a * e1[i] + b * e2[i] - ad * d1[i] + bd * d2[i] + b * dd[i];
  }
}
