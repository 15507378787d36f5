/* Loops with more rows than there is freedom for in them: whichever rows a solver keeps, the motion
 * is the same. */
#include "redmax.h"

/* A base, two bodies on it, and a loop of some kind between these, which mostly lock each other. */
typedef struct mechanism {
  sn_body_def body[3];
  sn_initial_def start[3];
  sn_loop_def loop;
  char text[128];
} mechanism;

static const struct {
  const char *name;
  int nv;
} kinds[] = {{"revolute", 1},    {"prismatic", 1},   {"screw", 1},  {"universal", 2},
             {"cylindrical", 2}, {"spherical", 3},   {"planar", 3}, {"fixed", 0},
             {"free", 6},        {"translation2", 2}};
/* On the ground; on the base; in a loop. */
static const int ground_kind[] = {1, 3, 5, 6, 8}, base_kind[] = {0, 1, 2, 3, 4},
                 loop_kind[] = {0, 1, 2, 3, 4, 6, 7, 9};
#define ANY(list, seed) list[random_below(seed, (int)(sizeof list / sizeof *list))]

static int random_joint_of(sn_joint_def *joint, int kind, uint64_t *seed) {
  *joint = sn_joint_def_default();
  joint->type = kinds[kind].name;
  joint->at = random_pose(seed, 0.5, 1);
  joint->axis = random_vec3(seed, 1);
  joint->axis.x += joint->axis.x > 0 ? 0.3 : -0.3;
  joint->pitch = test_random(seed, -0.5, 0.5);
  return kinds[kind].nv;
}

static mechanism random_mechanism(uint64_t *seed) {
  static const char *const name[] = {"base", "x", "y"};
  mechanism m = {.loop = sn_loop_def_default()};
  for (int i = 0; i < 3; i++) {
    m.body[i] = sn_body_def_default();
    m.body[i].name = name[i];
    m.body[i].parent = i > 0 ? "base" : "world";
    const int kind = i > 0 ? ANY(base_kind, seed) : ANY(ground_kind, seed);
    const int nv = random_joint_of(&m.body[i].joint, kind, seed);
    m.body[i].has_inertia = true;
    m.body[i].inertia = random_inertia(seed);
    m.start[i] = sn_initial_def_default();
    m.start[i].body = name[i];
    m.start[i].q = random_per_dof(seed, nv, -0.8, 0.8);
    if (i == 0) {
      m.start[i].qd = random_per_dof(seed, nv, 0.3, 1);
    }
  }
  m.loop.name = "loop";
  random_joint_of(&m.loop.joint, ANY(loop_kind, seed), seed);
  snprintf(m.text, sizeof m.text, "%s between %s and %s on %s", m.loop.joint.type,
           m.body[1].joint.type, m.body[2].joint.type, m.body[0].joint.type);
  return m;
}

static sn_model *build(const mechanism *m, bool closed) {
  sn_builder *b = sn_builder_create();
  CHECK(b, "out of memory");
  for (int i = 0; i < 3; i++) {
    CHECK(sn_builder_add_body(b, &m->body[i]) == SN_OK, "out of memory");
    CHECK(sn_builder_set_initial(b, &m->start[i]) == SN_OK, "out of memory");
  }
  if (closed) {
    CHECK(sn_builder_add_loop(b, &m->loop) == SN_OK, "out of memory");
  }
  return test_finish(b);
}

/* The loop's joint at 0 where the bodies are at the start. */
static void close_loop(mechanism *m, uint64_t *seed) {
  sn_model *open = build(m, false);
  const sn_options o = redmax_options(0.001);
  sn_sim *sim = test_sim(open, &o);
  sn_state *s = test_state(open);
  sn_se3 E[3];
  CHECK(sn_sim_poses(sim, s, E, NULL) == SN_OK, "no poses");
  const sn_se3 x = E[sn_model_body_find(open, "x")], y = E[sn_model_body_find(open, "y")];
  const sn_se3 place = sn_se3_mul(x, random_pose(seed, 0.5, 2));
  m->loop.a = (sn_point_def){"x", sn_se3_mul(sn_se3_inverse(x), place)};
  m->loop.b = (sn_point_def){"y", sn_se3_mul(sn_se3_inverse(y), place)};
  m->loop.joint.at = sn_pose(0, 0, 0);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&open);
}

static sn_state *walk(const sn_model *m, sn_solver solver, int steps, const char *text) {
  sn_options o = redmax_options(0.002);
  o.redmax.solver = solver;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  for (int k = 0; k < steps; k++) {
    sn_error err = {0};
    CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_OK, "%s: solver %d, step %d: %s", text,
          (int)solver, k, err.text);
  }
  sn_sim_free(&sim);
  return s;
}

static double difference(const sn_model *m, sn_state *a, sn_state *b) {
  double most = 0;
  for (int j = 0; j < sn_model_dof_count(m); j++) {
    most = fmax(most, fabs(sn_state_qd(a)[j] - sn_state_qd(b)[j]));
    most = fmax(most, fabs(sn_state_q(a)[j] - sn_state_q(b)[j]));
  }
  return most;
}

static void compare(int k) {
  uint64_t seed = 1000 + (uint64_t)k;
  mechanism m = random_mechanism(&seed);
  close_loop(&m, &seed);
  sn_model *model = build(&m, true);
  sn_state *s[3] = {walk(model, SN_SOLVER_REDUCED, 100, m.text),
                    walk(model, SN_SOLVER_GRAPH, 100, m.text),
                    walk(model, SN_SOLVER_REDUCED_KKT, 100, m.text)};
  CHECK(difference(model, s[0], s[1]) < 1e-8, "seed %d, %s: graph is off by %g", k, m.text,
        difference(model, s[0], s[1]));
  CHECK(difference(model, s[0], s[2]) < 1e-8, "seed %d, %s: reduced-kkt is off by %g", k, m.text,
        difference(model, s[0], s[2]));
  for (int i = 0; i < 3; i++) {
    sn_state_free(&s[i]);
  }
  sn_model_free(&model);
}

TEST(all_solvers_move_locked_mechanisms_alike) {
  for (int k = 0; k < 1000; k++) {
    compare(k);
  }
}

/* Solvers keep rows by which bodies strain against each other with hundreds of newtons, and others
 * by which they do not: nothing turns more slowly for that. */
TEST(what_strains_without_moving_holds_nothing) {
  static const int strained[] = {4133, 6752, 6867};
  for (int k = 0; k < 3; k++) {
    compare(strained[k]);
  }
}

/* ---- rows that are nothing but rounding, and those that come to nothing ---- */

static const sn_solver solver_of_rows[] = {SN_SOLVER_TREE, SN_SOLVER_PCG, SN_SOLVER_GRAPH,
                                           SN_SOLVER_REDUCED, SN_SOLVER_REDUCED_KKT};

/* A body on a joint of some kind, and a loop of the same kind over it, if wanted, within limits
 * that are far away, if wanted. */
static sn_model *repeat_joint(uint64_t seed, bool repeated, bool limited, char *text) {
  sn_builder *b = sn_builder_create();
  CHECK(b, "out of memory");
  sn_body_def body = sn_body_def_default();
  sn_initial_def start = sn_initial_def_default();
  sn_loop_def loop = sn_loop_def_default();
  body.name = start.body = "a";
  const int kind = ANY(base_kind, &seed), nv = random_joint_of(&body.joint, kind, &seed);
  body.has_inertia = true;
  body.inertia = random_inertia(&seed);
  loop.joint = body.joint;
  if (limited) {
    body.joint.lower = random_per_dof(&seed, nv, -100, -50);
    body.joint.upper = random_per_dof(&seed, nv, 50, 100);
  }
  start.q = random_per_dof(&seed, nv, -0.8, 0.8);
  start.qd = random_per_dof(&seed, nv, 0.3, 1);
  loop.name = "loop";
  loop.joint.at = sn_pose(0, 0, 0);
  loop.a = (sn_point_def){"world", body.joint.at};
  loop.b = (sn_point_def){"a", sn_pose(0, 0, 0)};
  snprintf(text, 128, "%s on the ground, repeated%s", kinds[kind].name, limited ? ", limited" : "");
  CHECK(sn_builder_add_body(b, &body) == SN_OK, "out of memory");
  CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
  CHECK(!repeated || sn_builder_add_loop(b, &loop) == SN_OK, "out of memory");
  return test_finish(b);
}

TEST(a_loop_that_repeats_a_joint_holds_nothing) {
  char text[128];
  for (int k = 0; k < 200; k++) {
    for (int limited = 0; limited < 2; limited++) {
      sn_model *once = repeat_joint(5000 + (uint64_t)k, false, limited, text);
      sn_model *twice = repeat_joint(5000 + (uint64_t)k, true, limited, text);
      for (int i = 0; i < 5; i++) {
        sn_state *s[2] = {walk(once, solver_of_rows[i], 20, text),
                          walk(twice, solver_of_rows[i], 20, text)};
        CHECK(difference(once, s[0], s[1]) < 1e-11, "seed %d, %s, solver %d: off by %g", k, text, i,
              difference(once, s[0], s[1]));
        sn_state_free(&s[0]);
        sn_state_free(&s[1]);
      }
      sn_model_free(&once);
      sn_model_free(&twice);
    }
  }
}

/* A pendulum with a slider that a point locks: the rows along x and z come to nothing, one after
 * the other, as it swings through. */
TEST(rows_that_come_to_nothing_brake_nothing) {
  sn_builder *b = sn_builder_create();
  CHECK(b, "out of memory");
  sn_body_def rod = sn_body_def_default(), slider = sn_body_def_default();
  sn_initial_def start = sn_initial_def_default();
  sn_constraint_def lock = sn_constraint_def_default();
  rod.name = start.body = slider.parent = "rod";
  slider.name = "slider";
  rod.joint.type = "revolute";
  rod.joint.axis = (sn_vec3){0, 1, 0};
  slider.joint.type = "prismatic";
  slider.joint.axis = (sn_vec3){0, 0, 1};
  slider.joint.at = sn_pose(0, 0, -0.5);
  rod.has_inertia = slider.has_inertia = true;
  rod.inertia = slider.inertia =
      (sn_inertia){.mass = 1, .com = {0, 0, -0.3}, .xx = 0.1, .yy = 0.1, .zz = 0.1};
  start.q = (sn_per_dof){.v = {2}, .n = 1};
  lock.name = "lock";
  lock.type = "point";
  lock.a = (sn_point_def){"rod", sn_pose(0, 0, -0.5)};
  lock.b = (sn_point_def){"slider", sn_pose(0, 0, 0)};
  CHECK(sn_builder_add_body(b, &rod) == SN_OK, "out of memory");
  CHECK(sn_builder_add_body(b, &slider) == SN_OK, "out of memory");
  CHECK(sn_builder_add_constraint(b, &lock) == SN_OK, "out of memory");
  CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
  sn_model *m = test_finish(b);
  for (int i = 0; i < 5; i++) {
    sn_options o = redmax_options(0.002);
    o.redmax.solver = solver_of_rows[i];
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    double E = redmax_energy(sim, s);
    for (int k = 0; k < 5000; k++) {
      redmax_step(sim, s, NULL);
      const double E1 = redmax_energy(sim, s);
      CHECK(fabs(E1 - E) < 2e-3, "solver %d, t = %g: E changes by %g", i, *sn_state_time(s),
            E1 - E);
      E = E1;
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

/* ---- rows of rates that gaps cannot be closed beside ---- */

static sn_body_def on_carrier(const char *name, const char *type, sn_vec3 axis, sn_se3 at) {
  sn_body_def def = sn_body_def_default();
  def.name = name;
  def.parent = "carrier";
  def.joint.type = type;
  def.joint.axis = axis;
  def.joint.at = at;
  def.has_inertia = true;
  def.inertia = (sn_inertia){.mass = 1, .com = {0.1, 0, 0.2}, .xx = 0.2, .yy = 0.3, .zz = 0.2};
  return def;
}

/* Two sliders on what turns, a ball of one rolls on the other, and a universal joint ends in a
 * point of that: all are locked, and a step that leads the sliders astray is mended without what
 * says that nothing slips. */
TEST(what_may_not_slip_is_closed_by_places_alone) {
  sn_builder *b = sn_builder_create();
  CHECK(b, "out of memory");
  const sn_body_def body[] = {
      on_carrier("carrier", "universal", (sn_vec3){0, 0, 1}, sn_pose(0, 0, 0)),
      on_carrier("ball", "prismatic", (sn_vec3){0.6, 0, 0.8}, sn_pose(0.5, 0.2, 0)),
      on_carrier("table", "prismatic", (sn_vec3){0, 0.6, 0.8}, sn_pose(0.5, 0.2, -0.2)),
      on_carrier("arm", "universal", (sn_vec3){0, 0, 1}, sn_pose(-0.3, 0.1, 0))};
  sn_initial_def start = sn_initial_def_default();
  start.body = "carrier";
  start.qd = (sn_per_dof){.v = {2, 3}, .n = 2};
  for (int i = 0; i < 4; i++) {
    sn_body_def def = body[i];
    def.parent = i > 0 ? def.parent : "world";
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
  sn_constraint_def roll = sn_constraint_def_default(), tip = sn_constraint_def_default();
  roll.name = "roll";
  roll.type = "roll";
  roll.body = "ball";
  roll.radius = 0.2;
  roll.on = (sn_point_def){"table", sn_pose(0, 0, 0)};
  tip.name = "tip";
  tip.type = "point";
  tip.a = (sn_point_def){"arm", sn_pose(0.4, 0.3, 0.2)};
  tip.b = (sn_point_def){"table", sn_pose(-0.4, 0.2, 0.4)};
  CHECK(sn_builder_add_constraint(b, &roll) == SN_OK, "out of memory");
  CHECK(sn_builder_add_constraint(b, &tip) == SN_OK, "out of memory");
  sn_model *m = test_finish(b);
  sn_state *s[] = {walk(m, SN_SOLVER_REDUCED, 1500, "roll"),
                   walk(m, SN_SOLVER_GRAPH, 1500, "roll")};
  CHECK(difference(m, s[0], s[1]) < 1e-8, "graph is off by %g", difference(m, s[0], s[1]));
  for (int i = 0; i < 2; i++) {
    sn_state_free(&s[i]);
  }
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(
      T(all_solvers_move_locked_mechanisms_alike), T(what_strains_without_moving_holds_nothing),
      T(a_loop_that_repeats_a_joint_holds_nothing), T(rows_that_come_to_nothing_brake_nothing),
      T(what_may_not_slip_is_closed_by_places_alone));
}
