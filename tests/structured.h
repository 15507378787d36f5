/* structured.h: what the tests of the method `structured` share. */
#ifndef SINEW_TEST_STRUCTURED_H
#define SINEW_TEST_STRUCTURED_H

#include "stage.h"

static const struct {
  const char *name;
  sn_structured_solver option;
} structured_solver[] = {{"structured", SN_STRUCTURED},
                         {"structured-dense", SN_STRUCTURED_DENSE},
                         {"full-dense", SN_FULL_DENSE},
                         {"full-iterative", SN_FULL_ITERATIVE},
                         {"graph", SN_STRUCTURED_GRAPH}};
#define STRUCTURED_SOLVERS ((int)(sizeof structured_solver / sizeof structured_solver[0]))

static inline sn_options structured_options(double step, double precision) {
  sn_options o = sn_options_default();
  o.method = "structured";
  o.step = step;
  o.structured.precision = precision;
  o.structured.iterations = 100000;
  return o;
}

/* One step; whatever is left open. */
static inline sn_info structured_step(sn_sim *sim, sn_state *s) {
  sn_info info;
  sn_error err = {0};
  const sn_status status = sn_sim_step(sim, s, NULL, &info, &err);
  CHECK(status >= 0, "t = %g: %s %s", *sn_state_time(s), sn_status_text(status), err.text);
  return info;
}

/* A rope ladder in the manner of [FA 4.2]: bars of 1 m and 1 kg, balls everywhere, both strings on
 * the ground, p bars of a string between two of the n rungs; it starts level.  Every second loop
 * has this weight. */
static inline sn_model *structured_ladder_weighed(int p, int n, double weight) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  const sn_inertia along = {
      .mass = 1, .com = {0.5, 0, 0}, .xx = 0.00125, .yy = 1.0 / 12, .zz = 1.0 / 12};
  const sn_inertia across = {
      .mass = 1, .com = {0, 0.5, 0}, .xx = 1.0 / 12, .yy = 0.00125, .zz = 1.0 / 12};
  sn_body_def def = sn_body_def_default();
  def.joint.type = "spherical";
  def.has_inertia = true;
  for (int side = 0; side < 2; side++) {
    char name[32], above[32] = "world";
    for (int k = 1; k <= p * n; k++) {
      snprintf(name, sizeof name, "%s_%d", side ? "far" : "near", k);
      def.name = name;
      def.parent = above;
      def.joint.at = k > 1 ? sn_pose(1, 0, 0) : sn_pose(0, side, 0);
      def.inertia = along;
      CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
      memcpy(above, name, sizeof above);
    }
  }
  for (int k = 1; k <= n; k++) {
    char rung[32], near[32], far[32];
    snprintf(rung, sizeof rung, "rung_%d", k);
    snprintf(near, sizeof near, "near_%d", k * p);
    snprintf(far, sizeof far, "far_%d", k * p);
    def.name = rung;
    def.parent = near;
    def.joint.at = sn_pose(1, 0, 0);
    def.inertia = across;
    sn_loop_def loop = sn_loop_def_default();
    loop.name = rung;
    loop.joint.type = "spherical";
    loop.weight = k % 2 == 0 ? weight : 1;
    loop.a = (sn_point_def){far, sn_pose(1, 0, 0)};
    loop.b = (sn_point_def){rung, sn_pose(0, 1, 0)};
    CHECK(sn_builder_add_body(b, &def) == SN_OK && sn_builder_add_loop(b, &loop) == SN_OK,
          "out of memory");
  }
  sn_builder_set_gravity(b, (sn_vec3){0, 3, -9});
  return test_finish(b);
}

static inline sn_model *structured_ladder(int p, int n) {
  return structured_ladder_weighed(p, n, 1);
}

/* A chain of ten bars of 1 m, whose end others can be asked to hold. */
#define STRUCTURED_CHAIN                                                                           \
  "sinew: 1\n"                                                                                     \
  "defaults:\n"                                                                                    \
  "  joint: {type: spherical}\n"                                                                   \
  "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.001, yy: 1/12, zz: 1/12}}\n"                 \
  "bodies:\n"                                                                                      \
  "  bar: {parent: world, joint: {}, repeat: {count: 10, joint: {at: [1, 0, 0]}}}\n"

/* Four bars that swing; pin: more of the joint that closes them. */
#define STRUCTURED_FOUR_BAR(pin)                                                                   \
  "sinew: 1\n"                                                                                     \
  "defaults:\n"                                                                                    \
  "  joint: {type: revolute, axis: [0, 1, 0]}\n"                                                   \
  "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 1/12, zz: 1/12}}\n"                  \
  "bodies:\n"                                                                                      \
  "  crank: {parent: world, joint: {at: [0, 0, 0]}}\n"                                             \
  "  coupler: {parent: crank, joint: {at: [1, 0, 0]}}\n"                                           \
  "  rocker: {parent: world, joint: {at: [1.2, 0, 0]}}\n"                                          \
  "initial:\n"                                                                                     \
  "  crank: {q: -1.2, qd: 1}\n"                                                                    \
  "  coupler: {q: 1.1}\n"                                                                          \
  "  rocker: {q: -1.4}\n"                                                                          \
  "loops:\n"                                                                                       \
  "  pin: {type: revolute, axis: [0, 1, 0], a: {body: coupler, at: [1, 0, 0]}, b: {body: rocker, " \
  "at: [1, 0, 0]}" pin "}\n"

static inline sn_vec3 structured_point(stage *g, const char *body, sn_vec3 at) {
  const int i = sn_model_body_find(g->m, body), n = sn_model_body_count(g->m);
  sn_se3 *E = calloc((size_t)n, sizeof *E);
  CHECK(E && i >= 0 && sn_sim_poses(g->sim, g->s, E, NULL) == SN_OK, "no poses");
  const sn_vec3 x = sn_se3_point(E[i], at);
  free(E);
  return x;
}

/* The energy of a run of so many seconds. */
typedef struct structured_course {
  double start, end, most; /* J */
  double kinetic;          /* the most of it */
} structured_course;

static inline structured_course structured_run(const char *text, sn_options o, double duration) {
  stage g = stage_set(text, o);
  structured_course c = {.start = stage_energy(&g)};
  c.most = c.end = c.start;
  for (int k = 0; k < (int)lround(duration / o.step); k++) {
    structured_step(g.sim, g.s);
    sn_energy e;
    sn_sim_energy(g.sim, g.s, &e);
    c.end = e.kinetic + e.potential;
    c.most = fmax(c.most, c.end);
    c.kinetic = fmax(c.kinetic, e.kinetic);
  }
  stage_clear(&g);
  return c;
}

#endif
