/* trees.h: random mechanisms by seed, built through the public builder.
 *
 *     random_tree tree;
 *     random_tree_make(&tree, seed, 12, 0);
 *     sn_model *m = random_tree_build(&tree);
 *     sn_state *s = random_tree_state(m, seed);
 *
 * Every kind of joint occurs.  The definitions stay in the tree, so that a test can turn, reorder
 * or reframe them before it builds. */
#ifndef SINEW_TREES_H
#define SINEW_TREES_H

#include "math/inertia.h"
#include "sinew/sinew.h"
#include "test.h"

#define TREE_BODIES_MAX 64

/* What a tree has beside joints, masses and gravity. */
enum {
  TREE_SPRINGS = 1,  /* stiffness, damping, rest in the joints                     */
  TREE_ARMATURE = 2, /* in the joints                                              */
  TREE_DRAG = 4,     /* damping of the bodies                                      */
  TREE_FORCES = 8,   /* a spring, a point force, a torque on a body                */
  TREE_MASSLESS = 16 /* bodies without mass between hinges, and welded to others   */
};
#define TREE_ALL (TREE_SPRINGS | TREE_ARMATURE | TREE_DRAG | TREE_FORCES | TREE_MASSLESS)

typedef struct random_tree {
  int n, nforce;
  sn_body_def body[TREE_BODIES_MAX];
  sn_force_def force[3];
  char name[TREE_BODIES_MAX][16];
  int parent[TREE_BODIES_MAX]; /* -1: world */
  sn_se3 frames[TREE_BODIES_MAX][6];
  double grid[TREE_BODIES_MAX][5 * 4 * 6];
  sn_joint_def parts[TREE_BODIES_MAX][3];
  sn_vec3 gravity;
  sn_options options;
} random_tree;

/* One number after the other, in statements of their own: compilers differ in the order in which
 * they evaluate arguments, and with it in the samples. */
static inline sn_vec3 random_vec3(uint64_t *seed, double size) {
  const double x = test_random(seed, -size, size);
  const double y = test_random(seed, -size, size);
  const double z = test_random(seed, -size, size);
  return (sn_vec3){x, y, z};
}

static inline sn_se3 random_pose(uint64_t *seed, double size, double angle) {
  const sn_vec3 turn = random_vec3(seed, angle);
  return sn_pose_rotvec(random_vec3(seed, size), turn);
}

static inline int random_below(uint64_t *seed, int n) {
  return (int)(test_random_u64(seed) % (uint64_t)n);
}

static inline sn_inertia random_inertia(uint64_t *seed) {
  const double mass = test_random(seed, 0.5, 2), size = 0.05 * mass;
  const double a = test_random(seed, 0.2, 1), b = test_random(seed, 0.2, 1),
               c = test_random(seed, 0.2, 1);
  const sn_mat3 D = {{{size * (b + c), 0, 0}, {0, size * (a + c), 0}, {0, 0, size * (a + b)}}};
  const sn_mat3 R = sn_so3_exp(random_vec3(seed, 1.5));
  const sn_mat3 tensor = sn_mat3_mul(R, sn_mat3_mul(D, sn_mat3_transpose(R)));
  return sn_inertia_make(mass, random_vec3(seed, 0.2), tensor);
}

static inline sn_per_dof random_per_dof(uint64_t *seed, int nv, double lo, double hi) {
  sn_per_dof out = {.n = nv};
  for (int k = 0; k < nv; k++) {
    out.v[k] = test_random(seed, lo, hi);
  }
  return out;
}

static const char *const tree_kinds[] = {
    "revolute",  "prismatic",    "cylindrical",  "screw",        "universal", "spherical",
    "planar",    "fixed",        "translation2", "translation3", "free",      "free_rt",
    "composite", "spline_curve", "composite",    "revolute",     "revolute",  "spline_surface"};
#define TREE_KINDS ((int)(sizeof tree_kinds / sizeof tree_kinds[0]))

/* Parts with independent columns; the number of coordinates differs from one to the next. */
static inline int random_parts(random_tree *t, int i, uint64_t *seed) {
  static const char *const chains[][3] = {
      {"revolute", "prismatic", NULL},     {"prismatic", "spherical", NULL},
      {"translation3", "universal", NULL}, {"translation3", "spherical", NULL},
      {"universal", "prismatic", "screw"}, {"spherical", "fixed", NULL},
      {"fixed", "revolute", "fixed"},      {"universal", "fixed", NULL}};
  const int nv[] = {2, 4, 5, 6, 4, 3, 1, 2},
            which = random_below(seed, (int)(sizeof nv / sizeof nv[0]));
  int n = 0;
  for (; n < 3 && chains[which][n]; n++) {
    t->parts[i][n] = sn_joint_def_default();
    t->parts[i][n].type = chains[which][n];
    t->parts[i][n].axis =
        (sn_vec3){test_random(seed, 0.2, 1), test_random(seed, -0.3, 0.3), n == 0 ? 0.3 : -0.8};
    t->parts[i][n].pitch = 0.3;
    if (strcmp(chains[which][n], "fixed") == 0) {
      t->parts[i][n].at = random_pose(seed, 0.3, 0.5);
    }
  }
  t->body[i].joint.parts = t->parts[i];
  t->body[i].joint.npart = n;
  return nv[which];
}

static inline void random_joint(random_tree *t, int i, const char *kind, uint64_t *seed,
                                unsigned flags) {
  sn_joint_def *j = &t->body[i].joint;
  *j = sn_joint_def_default();
  j->type = kind;
  j->at = random_pose(seed, 0.6, 1.2);
  j->axis = random_vec3(seed, 1);
  j->axis.x += j->axis.x > 0 ? 0.3 : -0.3;
  j->pitch = test_random(seed, -0.5, 0.5);
  int nv = strcmp(kind, "fixed") == 0 ? 0
           : strcmp(kind, "cylindrical") == 0 || strcmp(kind, "universal") == 0 ||
                   strcmp(kind, "translation2") == 0 || strcmp(kind, "spline_surface") == 0
               ? 2
           : strcmp(kind, "spherical") == 0 || strcmp(kind, "planar") == 0 ||
                   strcmp(kind, "translation3") == 0
               ? 3
           : strncmp(kind, "free", 4) == 0 ? 6
                                           : 1;
  if (strcmp(kind, "spline_curve") == 0) {
    j->cyclic = random_below(seed, 2);
    j->frames = t->frames[i];
    j->nframe = 4 + random_below(seed, 3);
    for (int k = 0; k < j->nframe; k++) {
      t->frames[i][k] = random_pose(seed, 0.3, 0.6);
      t->frames[i][k].p.x += 0.7 * k;
    }
  } else if (strcmp(kind, "spline_surface") == 0) {
    j->grid = t->grid[i];
    j->grid_rows = 4 + random_below(seed, 2);
    j->grid_columns = 4;
    for (int r = 0; r < j->grid_rows; r++) {
      for (int c = 0; c < 4; c++) {
        double *g = &t->grid[i][(r * 4 + c) * 6];
        for (int k = 0; k < 6; k++) {
          g[k] = test_random(seed, -0.3, 0.3) + (k == 0 ? 0.8 * r : k == 1 ? 0.8 * c : 0);
        }
      }
    }
  } else if (strcmp(kind, "composite") == 0) {
    nv = random_parts(t, i, seed);
  }
  if ((flags & TREE_SPRINGS) && nv > 0) {
    j->stiffness = random_per_dof(seed, nv, 0, 5);
    j->damping = random_per_dof(seed, nv, 0, 1);
    j->rest = random_per_dof(seed, nv, -0.5, 0.5);
  }
  if ((flags & TREE_ARMATURE) && nv > 0) {
    j->armature = random_per_dof(seed, nv, 0, 0.3);
  }
}

static inline void random_forces(random_tree *t, uint64_t *seed) {
  for (int f = 0; f < 3; f++) {
    t->force[f] = sn_force_def_default();
  }
  sn_force_def *spring = &t->force[0], *push = &t->force[1], *twist = &t->force[2];
  spring->name = "band";
  spring->type = "spring";
  spring->a = (sn_point_def){"world", sn_pose(0.3, -0.4, 0.8)};
  spring->b = (sn_point_def){t->name[t->n - 1], sn_pose(0.1, 0.2, -0.1)};
  spring->stiffness = test_random(seed, 1, 20);
  spring->damping = test_random(seed, 0, 1);
  spring->rest_length = 0.5;
  push->name = "push";
  push->type = "point_force";
  push->body = t->name[t->n / 2];
  push->at = random_vec3(seed, 0.3);
  push->frame = SN_FRAME_BODY;
  twist->name = "twist";
  twist->type = "body_torque";
  twist->body = t->name[0];
  for (int k = 0; k < 3; k++) {
    push->vector[k] = sn_constant(test_random(seed, -3, 3));
    twist->vector[k] = sn_constant(test_random(seed, -3, 3));
  }
  t->nforce = 3;
}

/* The kinds come round in turn, so that a few trees have them all. */
static inline void random_tree_make(random_tree *t, uint64_t seed, int n, unsigned flags) {
  uint64_t *s = &seed;
  const int first_kind = random_below(s, TREE_KINDS);
  *t = (random_tree){.n = n, .options = sn_options_default()};
  t->gravity = random_vec3(s, 5);
  t->gravity.z -= 9.81;
  for (int i = 0; i < n; i++) {
    t->body[i] = sn_body_def_default();
    snprintf(t->name[i], sizeof t->name[i], "b%02d", i);
    t->body[i].name = t->name[i];
    /* long branches and short ones */
    t->parent[i] = i == 0 ? -1 : random_below(s, 4) ? i - 1 : random_below(s, i + 1) - 1;
    t->body[i].parent = t->parent[i] < 0 ? "world" : t->name[t->parent[i]];
    random_joint(t, i, tree_kinds[(first_kind + 5 * i) % TREE_KINDS], s, flags);
    t->body[i].has_inertia = true;
    t->body[i].inertia = random_inertia(s);
    if (flags & TREE_DRAG) {
      t->body[i].damping_angular = test_random(s, 0, 0.2);
      t->body[i].damping_linear = test_random(s, 0, 0.2);
    }
  }
  if (flags & TREE_FORCES) {
    random_forces(t, s);
  }
  /* a hinge on a hinge: what lies between them may be without mass */
  for (int i = 1; (flags & TREE_MASSLESS) && i < n; i++) {
    const int p = t->parent[i];
    if (p >= 0 && random_below(s, 3) == 0 && t->body[p].inertia.mass > 0) {
      random_joint(t, p, "revolute", s, 0);
      random_joint(t, i, "revolute", s, 0);
      t->body[p].inertia = (sn_inertia){0};
    }
  }
}

static inline sn_status random_tree_add(const random_tree *t, sn_builder *b, const int *order) {
  sn_status status = SN_OK;
  for (int k = 0; k < t->n && !status; k++) {
    status = sn_builder_add_body(b, &t->body[order ? order[k] : k]);
  }
  for (int f = 0; f < t->nforce && !status; f++) {
    status = sn_builder_add_force(b, &t->force[f]);
  }
  sn_builder_set_gravity(b, t->gravity);
  sn_run_def run = sn_run_def_default();
  run.options = t->options;
  return status ? status : sn_builder_set_run(b, &run);
}

/* Finishes, frees the builder, and fails the test with all complaints if there are any. */
static inline sn_model *test_finish(sn_builder *b) {
  sn_model *m = NULL;
  sn_error err;
  if (sn_builder_finish(b, &m, &err)) {
    for (int k = 0; k < sn_builder_error_count(b); k++) {
      char text[800];
      sn_error_format(sn_builder_error(b, k), text, sizeof text);
      print_error("%s\n", text);
    }
    sn_builder_free(&b);
    fail_msg("the model was refused: %s", err.text);
  }
  sn_builder_free(&b);
  return m;
}

/* order: in which the bodies are given; NULL: as they are. */
static inline sn_model *random_tree_build_in_order(const random_tree *t, const int *order) {
  sn_builder *b = sn_builder_create();
  CHECK(b && random_tree_add(t, b, order) == SN_OK, "out of memory");
  return test_finish(b);
}
static inline sn_model *random_tree_build(const random_tree *t) {
  return random_tree_build_in_order(t, NULL);
}

static inline sn_state *test_state(const sn_model *m) {
  sn_state *s = NULL;
  sn_error err;
  CHECK(sn_state_create(m, &s, &err) == SN_OK, "%s", err.text);
  return s;
}

static inline sn_sim *test_sim(const sn_model *m, const sn_options *options) {
  sn_sim *sim = NULL;
  sn_error err;
  CHECK(sn_sim_create(m, options, &sim, &err) == SN_OK, "%s", err.text);
  return sim;
}

/* Any coordinates and rates, by the body's name, so that they do not depend on the order. */
static inline sn_state *random_tree_state(const sn_model *m, uint64_t seed) {
  sn_state *s = test_state(m);
  for (int i = 0; i < sn_model_body_count(m); i++) {
    uint64_t own = seed;
    for (const char *p = sn_model_body_name(m, i); *p; p++) {
      own = own * 31 + (uint64_t)*p;
    }
    const bool spline = strncmp(sn_model_joint_type(m, i), "spline", 6) == 0;
    const int adr = sn_model_joint_first(m, i);
    for (int k = adr; k < adr + sn_model_joint_dofs(m, i); k++) {
      sn_state_q(s)[k] = spline ? test_random(&own, 0.1, 0.9) : test_random(&own, -1.3, 1.3);
      sn_state_qd(s)[k] = test_random(&own, -2, 2);
    }
  }
  return s;
}

/* A link of mass 1 that hangs half a unit below its joint. */
static inline sn_body_def test_link(const char *name, const char *parent, const char *type) {
  sn_body_def def = sn_body_def_default();
  def.name = name;
  def.parent = parent;
  def.joint.type = type;
  def.joint.axis = (sn_vec3){0, 1, 0};
  def.has_inertia = true;
  def.inertia = (sn_inertia){.mass = 1, .com = {0, 0, -0.5}, .xx = 0.1, .yy = 0.09, .zz = 0.02};
  return def;
}

/* A builder with one body; the caller adds what he wants and finishes it. */
static inline sn_builder *test_builder(const sn_body_def *def) {
  sn_builder *b = sn_builder_create();
  CHECK(b && sn_builder_add_body(b, def) == SN_OK, "out of memory");
  return b;
}

static inline void test_step(sn_sim *sim, sn_state *s, const sn_input *input) {
  sn_error err;
  CHECK(sn_sim_step(sim, s, input, NULL, &err) == SN_OK, "t = %g: %s", *sn_state_time(s), err.text);
}

static inline double *random_doubles(uint64_t seed, int n, double size) {
  double *x = calloc((size_t)n + 1, sizeof *x);
  for (int k = 0; k < n; k++) {
    x[k] = test_random(&seed, -size, size);
  }
  return x;
}

static inline double largest(const double *x, int n) {
  double most = 0;
  for (int k = 0; k < n; k++) {
    most = fmax(most, fabs(x[k]));
  }
  return most;
}
static inline double largest_difference(const double *x, const double *y, int n) {
  double most = 0;
  for (int k = 0; k < n; k++) {
    most = fabs(x[k] - y[k]) > most || isnan(x[k] - y[k]) ? fabs(x[k] - y[k]) : most;
  }
  return most;
}

#endif
