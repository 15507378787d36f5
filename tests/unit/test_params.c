/* Parameters by path: every kind of path, what is refused, and that a value set is as good as one
 * that the model was built with. */
#include "model/model.h"
#include "stage.h"
#include "trees.h"

typedef struct tunable {
  const char *path;
  double value;
  void (*define)(random_tree *t, double value); /* the same in the definitions */
} tunable;

/* Of what random_tree_make gives for seed 11: which joint is where follows from its table. */
static int body_of_kind(const random_tree *t, const char *kind) {
  for (int i = 0; i < t->n; i++) {
    if (strcmp(t->body[i].joint.type, kind) == 0) {
      return i;
    }
  }
  fail_msg("the tree has no %s joint", kind);
  return -1;
}

static void make(random_tree *t) {
  random_tree_make(t, 11, 12, TREE_SPRINGS | TREE_DRAG | TREE_FORCES | TREE_ARMATURE);
  static const char *const kinds[] = {"free", "revolute", "spherical", "universal", "cylindrical"};
  for (int i = 0; i < 5; i++) {
    random_joint(t, i, kinds[i], &(uint64_t){(uint64_t)i}, TREE_SPRINGS | TREE_ARMATURE);
  }
  sn_drive_def *drive = &t->body[1].joint.drive;
  drive->enabled = true;
  drive->ntarget = 1;
  drive->target[0] = sn_constant(0.7);
  drive->stiffness = sn_per_dof_all(9);
  drive->damping = sn_per_dof_all(1);
}

static void set_gravity_z(random_tree *t, double v) {
  t->gravity.z = v;
}
static void set_gravity_x(random_tree *t, double v) {
  t->gravity.x = v;
}
static void set_stiffness(random_tree *t, double v) {
  t->body[3].joint.stiffness = sn_per_dof_all(v);
}
static void set_stiffness_1(random_tree *t, double v) {
  t->body[3].joint.stiffness.v[1] = v;
}
static void set_damping_2(random_tree *t, double v) {
  t->body[2].joint.damping.v[2] = v;
}
static void set_rest(random_tree *t, double v) {
  t->body[1].joint.rest = sn_per_dof_all(v);
}
static void set_armature(random_tree *t, double v) {
  t->body[4].joint.armature = sn_per_dof_all(v);
}
static void set_ball_armature(random_tree *t, double v) {
  t->body[2].joint.armature = sn_per_dof_all(v);
}
static void set_drive_stiffness(random_tree *t, double v) {
  t->body[1].joint.drive.stiffness = sn_per_dof_all(v);
}
static void set_drive_damping(random_tree *t, double v) {
  t->body[1].joint.drive.damping = sn_per_dof_all(v);
}
static void set_max_force(random_tree *t, double v) {
  t->body[1].joint.drive.max_force = sn_per_dof_all(v);
}
static void set_drag_angular(random_tree *t, double v) {
  t->body[5].damping_angular = v;
}
static void set_drag_linear(random_tree *t, double v) {
  t->body[5].damping_linear = v;
}
static void set_drag(random_tree *t, double v) {
  t->body[5].damping_angular = t->body[5].damping_linear = v;
}
static void set_mass(random_tree *t, double v) {
  t->body[2].inertia.mass = v;
}
static void set_com_y(random_tree *t, double v) {
  t->body[2].inertia.com.y = v;
}
static void set_zz(random_tree *t, double v) {
  t->body[2].inertia.zz = v;
}
static void set_xy(random_tree *t, double v) {
  t->body[2].inertia.xy = v;
}
static void set_band_stiffness(random_tree *t, double v) {
  t->force[0].stiffness = v;
}
static void set_band_damping(random_tree *t, double v) {
  t->force[0].damping = v;
}
static void set_band_length(random_tree *t, double v) {
  t->force[0].rest_length = v;
}

static const tunable tunables[] = {{"gravity[2]", -3, set_gravity_z},
                                   {"gravity.2", -2, set_gravity_z},
                                   {"gravity[0]", 1, set_gravity_x},
                                   {"bodies.b03.joint.stiffness", 12, set_stiffness},
                                   {"bodies.b03.joint.stiffness[1]", 12, set_stiffness_1},
                                   {"bodies.b02.joint.damping.2", 4, set_damping_2},
                                   {"bodies.b01.joint.rest", -1, set_rest},
                                   {"bodies.b04.joint.armature", 2, set_armature},
                                   {"bodies.b02.joint.armature", 2, set_ball_armature},
                                   {"bodies.b01.joint.drive.stiffness", 50, set_drive_stiffness},
                                   {"bodies.b01.joint.drive.damping", 5, set_drive_damping},
                                   {"bodies.b01.joint.drive.max_force", 0.1, set_max_force},
                                   {"bodies.b05.damping.angular", 3, set_drag_angular},
                                   {"bodies.b05.damping.linear", 3, set_drag_linear},
                                   {"bodies.b05.damping", 2, set_drag},
                                   {"bodies.b02.inertia.mass", 5, set_mass},
                                   {"bodies.b02.inertia.at[1]", 0.7, set_com_y},
                                   {"bodies.b02.inertia.at.1", -0.7, set_com_y},
                                   {"bodies.b02.inertia.zz", 0.06, set_zz},
                                   {"bodies.b02.inertia.xy", 0.001, set_xy},
                                   {"forces.band.stiffness", 30, set_band_stiffness},
                                   {"forces.band.damping", 3, set_band_damping},
                                   {"forces.band.rest_length", 0.9, set_band_length}};
#define TUNABLES ((int)(sizeof tunables / sizeof tunables[0]))

static sn_sim *sim_of(random_tree *t, sn_model **m) {
  *m = random_tree_build(t);
  return test_sim(*m, NULL);
}

/* Accelerations and energy at one state, and the state ten steps on. */
typedef struct behaviour {
  double qdd[64], q[64], E;
} behaviour;

static behaviour observe(const sn_model *m, sn_sim *sim) {
  behaviour b = {{0}, {0}, 0};
  sn_state *s = random_tree_state(m, 4);
  sn_error err;
  sn_energy energy;
  const int nv = sn_model_dof_count(m);
  CHECK(nv <= 64, "%d coordinates", nv);
  CHECK(sn_sim_forward(sim, s, NULL, b.qdd, &err) == SN_OK, "%s", err.text);
  sn_sim_energy(sim, s, &energy);
  b.E = energy.kinetic + energy.potential;
  for (int k = 0; k < 5; k++) {
    test_step(sim, s, NULL);
  }
  memcpy(b.q, sn_state_q(s), (size_t)nv * sizeof(double));
  sn_state_free(&s);
  return b;
}

TEST(a_value_set_is_a_value_built) {
  for (int k = 0; k < TUNABLES; k++) {
    random_tree *t = calloc(1, sizeof *t);
    make(t);
    CHECK(body_of_kind(t, "spherical") == 2, "another tree");
    sn_model *m, *built;
    sn_sim *sim = sim_of(t, &m);
    const behaviour before = observe(m, sim);
    double was = 0, now = 0;
    sn_error err;
    CHECK(sn_sim_get(sim, tunables[k].path, &was, &err) == SN_OK, "%s", err.text);
    CHECK(sn_sim_set(sim, tunables[k].path, tunables[k].value, &err) == SN_OK, "%s", err.text);
    CHECK(sn_sim_get(sim, tunables[k].path, &now, &err) == SN_OK && now == tunables[k].value,
          "%s is %g", tunables[k].path, now);
    tunables[k].define(t, tunables[k].value);
    sn_sim *other = sim_of(t, &built);
    const behaviour set = observe(m, sim), as_built = observe(built, other);
    CHECK(memcmp(&set, &as_built, sizeof set) == 0, "%s: set and built differ", tunables[k].path);
    CHECK(memcmp(&set, &before, sizeof set) != 0, "%s makes no difference", tunables[k].path);
    /* one sim's parameters are its own */
    sn_sim *third = test_sim(m, NULL);
    sn_sim_get(third, tunables[k].path, &now, NULL);
    CHECK(now == was, "%s is %g in another sim", tunables[k].path, now);
    sn_sim_free(&third);
    sn_sim_free(&other);
    sn_sim_free(&sim);
    sn_model_free(&m);
    sn_model_free(&built);
    free(t);
  }
}

TEST(run_parameters) {
  random_tree *t = calloc(1, sizeof *t);
  make(t);
  sn_model *m;
  sn_sim *sim = sim_of(t, &m);
  double v;
  CHECK(sn_sim_get(sim, "run.step", &v, NULL) == SN_OK && v == 0.01, "step %g", v);
  CHECK(sn_sim_get(sim, "run.recursive.rel_tol", &v, NULL) == SN_OK && v == 1e-8, "rel_tol %g", v);
  CHECK(sn_sim_get(sim, "run.recursive.abs_tol", &v, NULL) == SN_OK && v == 1e-10, "abs_tol %g", v);
  CHECK(sn_sim_set(sim, "run.step", 0.5, NULL) == SN_OK, "step");
  CHECK(sn_sim_set(sim, "run.recursive.rel_tol", 1e-3, NULL) == SN_OK, "rel_tol");
  sn_state *s = test_state(m);
  sn_info loose, tight;
  sn_error err;
  CHECK(sn_sim_step(sim, s, NULL, &loose, &err) == SN_OK && *sn_state_time(s) == 0.5, "%s",
        err.text);
  sn_state_free(&s);
  s = test_state(m);
  sn_sim_set(sim, "run.recursive.rel_tol", 1e-10, NULL);
  CHECK(sn_sim_step(sim, s, NULL, &tight, &err) == SN_OK, "%s", err.text);
  CHECK(tight.substeps > 2 * loose.substeps, "%d and %d substeps", tight.substeps, loose.substeps);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  free(t);
}

TEST(paths_that_lead_nowhere) {
  static const char *const paths[] = {"gravity",
                                      "",
                                      ".",
                                      "gravity[3]",
                                      "gravity[-1]",
                                      "gravity[2",
                                      "gravity2]",
                                      "gravity[]",
                                      "gravity.",
                                      "gravity..2",
                                      "gravity[[2]]",
                                      "gravity[+2]",
                                      "gravity[ 2]",
                                      "gravity[2].x",
                                      "gravity[2][0]",
                                      ".gravity",
                                      "gravityx",
                                      "Gravity",
                                      "bodies",
                                      "bodies.",
                                      "bodies.b01",
                                      "bodies.nobody.joint.stiffness",
                                      "bodies[1].joint.stiffness",
                                      "bodies.b01.joint",
                                      "bodies.b01.joint.axis",
                                      "bodies.b01.joint.stiffness[1]",
                                      "bodies.b01.joint.stiffness.x",
                                      "bodies.b01.joint.drive",
                                      "bodies.b01.joint.drive.target",
                                      "bodies.b02.joint.drive.stiffness", /* it has none */
                                      "bodies.b01.damping.x",
                                      "bodies.b01.damping.linear.0",
                                      "bodies.b01.inertia",
                                      "bodies.b01.inertia.at",
                                      "bodies.b01.inertia.at[3]",
                                      "bodies.b01.inertia.mass.x",
                                      "bodies.b01.inertia.yx",
                                      "forces.band",
                                      "forces.band.a",
                                      "forces.band.stiffness.0",
                                      "forces.nothing.stiffness",
                                      "forces.push.stiffness",
                                      "run",
                                      "run.rel_tol",
                                      "run.recursive",
                                      "run.recursive.step",
                                      "run.step.0",
                                      "run.duration",
                                      "motions"};
  random_tree *t = calloc(1, sizeof *t);
  make(t);
  sn_model *m;
  sn_sim *sim = sim_of(t, &m);
  for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
    sn_error err;
    char text[300];
    double v = 77;
    snprintf(text, sizeof text,
             "'%s' is not a parameter of this model; examples: gravity[2], "
             "bodies.NAME.joint.stiffness, forces.NAME.damping, run.step",
             paths[k]);
    CHECK(sn_sim_set(sim, paths[k], 1, &err) == SN_E_ARGUMENT, "'%s' was taken", paths[k]);
    CHECK(strcmp(err.text, text) == 0, "'%s'", err.text);
    CHECK(sn_sim_get(sim, paths[k], &v, &err) == SN_E_ARGUMENT && v == 77, "'%s' was read",
          paths[k]);
  }
  char *longest = malloc(5000);
  memset(longest, 'x', 4999);
  longest[4999] = 0;
  CHECK(sn_sim_set(sim, longest, 1, NULL) == SN_E_ARGUMENT, "a path of 4999 letters was taken");
  memcpy(longest, "bodies.", 7);
  CHECK(sn_sim_set(sim, longest, 1, NULL) == SN_E_ARGUMENT, "a name of 4992 letters was taken");
  free(longest);
  sn_sim_free(&sim);
  sn_model_free(&m);
  free(t);
}

typedef struct visited {
  const sn_model *m;
  bool *seen; /* by index of the value */
  int count, most;
} visited;

static bool visit_one(void *user, const sni_param_item *item) {
  visited *v = user;
  sni_param_ref ref;
  sn_error err;
  CHECK(sni_param_find(v->m, item->path, &ref, &err) == SN_OK, "%s", err.text);
  CHECK(ref.index == item->ref.index && ref.count == item->ref.count &&
            ref.flags == item->ref.flags && ref.inertia_of == item->ref.inertia_of,
        "%s is another one when it is looked for", item->path);
  CHECK(item->unit && item->doc && item->doc[0], "%s is not described", item->path);
  for (int k = 0; k < ref.count; k++) {
    v->seen[ref.index + k * ref.stride] = true;
  }
  return ++v->count < v->most;
}

/* Every number of the block has a path that is told, but drives' where there is none. */
TEST(all_are_visited) {
  random_tree *t = calloc(1, sizeof *t);
  make(t);
  sn_model *m = random_tree_build(t);
  const sni_params *p = &m->params;
  visited v = {.m = m, .seen = calloc((size_t)p->count, sizeof *v.seen), .most = 1000000};
  sni_params_visit(m, visit_one, &v);
  const int first = (int)(p->drive_stiffness - p->value), end = (int)(p->drag_angular - p->value);
  int driven = 0;
  for (int k = 0; k < p->count; k++) {
    const bool drive = k >= first && k < end;
    driven += drive && v.seen[k];
    CHECK(drive || v.seen[k], "number %d of %d has no path", k, p->count);
  }
  CHECK(driven == 3, "%d numbers of one drive", driven);
  v.count = 0;
  v.most = 5;
  sni_params_visit(m, visit_one, &v);
  CHECK(v.count == 5, "%d, and 5 were enough", v.count);
  free(v.seen);
  sn_model_free(&m);
  free(t);
}

/* ---- loops and friction ---- */

/* A four-bar linkage whose pins rub by two laws, with a spring and a drive in its loop. */
enum {
  MU,
  FORCE,
  BREAKAWAY,
  SPEED,
  STIFFNESS,
  DAMPING,
  REST,
  DRIVE_K,
  DRIVE_D,
  DRIVE_MAX,
  NUMBERS
};
static const double numbers_first[NUMBERS] = {0.3, 1, 2, 0.5, 20, 1, 0.2, 30, 2, 50};
static const struct {
  const char *path;
  double value;
} linkage_paths[NUMBERS] = {{"bodies.a.joint.friction.mu", 0.6},
                            {"bodies.b.joint.friction.force", 1.5},
                            {"bodies.b.joint.friction.breakaway", 3},
                            {"bodies.b.joint.friction.speed[0]", 2},
                            {"loops.pin.stiffness", 80},
                            {"loops.pin.damping[0]", 4},
                            {"loops.pin.rest", -0.5},
                            {"loops.pin.drive.stiffness", 90},
                            {"loops.pin.drive.damping", 7},
                            {"loops.pin.drive.max_force", 1}};

static stage linkage(const double *x) {
  char text[2000];
  snprintf(
      text, sizeof text,
      "sinew: 1\n"
      "defaults: {shape: {type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 100}}\n"
      "contacts: {steel: {friction: 0.6}}\n"
      "bodies:\n"
      "  a: {joint: {type: revolute, axis: [0, 1, 0], friction: {mu: %.17g, pin_radius: 0.05, "
      "pin_length: 0.1}}, shapes: [{}]}\n"
      "  b: {parent: a, joint: {type: revolute, at: [1, 0, 0], axis: [0, 1, 0], friction: {law: "
      "stribeck, force: %.17g, breakaway: %.17g, speed: %.17g}}, shapes: [{}]}\n"
      "  c: {parent: b, joint: {type: revolute, at: [1, 0, 0], axis: [0, 1, 0]}, shapes: [{}]}\n"
      "loops:\n"
      "  pin: {type: revolute, axis: [0, 1, 0], stiffness: %.17g, damping: %.17g, rest: %.17g,\n"
      "    drive: {target: 0.3, stiffness: %.17g, damping: %.17g, max_force: %.17g},\n"
      "    a: {body: world, at: [1.5, 0, 0]}, b: {body: c, at: [1, 0, 0]}}\n"
      "initial: {a: {q: -1}, b: {q: 1}, c: {q: 1}}\n",
      x[MU], x[FORCE], x[BREAKAWAY], x[SPEED], x[STIFFNESS], x[DAMPING], x[REST], x[DRIVE_K],
      x[DRIVE_D], x[DRIVE_MAX]);
  sn_options o = sn_options_default();
  o.method = "redmax";
  o.step = 0.01;
  return stage_set(text, o);
}

static void run_linkage(stage *b, double out[6]) {
  stage_step(b, 30);
  memcpy(out, sn_state_q(b->s), 3 * sizeof(double));
  memcpy(out + 3, sn_state_qd(b->s), 3 * sizeof(double));
}

TEST(numbers_of_loops_and_friction_are_parameters) {
  double plain[6], set[6], built[6];
  stage first = linkage(numbers_first);
  run_linkage(&first, plain);
  stage_clear(&first);
  for (int k = 0; k < NUMBERS; k++) {
    double x[NUMBERS], now = 0;
    sn_error err = {0};
    memcpy(x, numbers_first, sizeof x);
    stage b = linkage(x);
    CHECK(sn_sim_get(b.sim, linkage_paths[k].path, &now, &err) == SN_OK && now == x[k], "%s: %g %s",
          linkage_paths[k].path, now, err.text);
    CHECK(sn_sim_set(b.sim, linkage_paths[k].path, linkage_paths[k].value, &err) == SN_OK, "%s",
          err.text);
    run_linkage(&b, set);
    stage_clear(&b);
    x[k] = linkage_paths[k].value;
    b = linkage(x);
    run_linkage(&b, built);
    stage_clear(&b);
    CHECK(memcmp(set, built, sizeof set) == 0, "%s: set and built differ", linkage_paths[k].path);
    CHECK(memcmp(set, plain, sizeof set) != 0, "%s makes no difference", linkage_paths[k].path);
  }
}

TEST(numbers_of_loops_and_friction_are_visited) {
  stage b = linkage(numbers_first);
  visited v = {.m = b.m, .seen = calloc((size_t)b.m->params.count, sizeof *v.seen), .most = 100000};
  sni_params_visit(b.m, visit_one, &v);
  for (int k = 0; k < NUMBERS; k++) {
    sni_param_ref ref;
    CHECK(sni_param_find(b.m, linkage_paths[k].path, &ref, NULL) == SN_OK && v.seen[ref.index],
          "%s was not told", linkage_paths[k].path);
  }
  const int contact = (int)(b.m->params.contact - b.m->params.value);
  for (int k = 0; k < SNI_MATERIAL_PARAMS; k++) {
    CHECK(v.seen[contact + k], "number %d of the contact was not told", k);
  }
  static const char *const none[] = {"bodies.a.joint.friction.force", "bodies.b.joint.friction.mu",
                                     "bodies.c.joint.friction.mu",    "loops.pin.friction.mu",
                                     "loops.pin.stiffness[1]",        "loops.pin.drive",
                                     "loops.none.stiffness",          "loops.pin.drive.rest"};
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    sni_param_ref ref;
    CHECK(sni_param_find(b.m, none[k], &ref, NULL) == SN_E_ARGUMENT, "%s was found", none[k]);
  }
  free(v.seen);
  stage_clear(&b);
}

typedef struct unit_wanted {
  const char *path, *unit;
  bool met;
} unit_wanted;

static bool check_unit(void *user, const sni_param_item *item) {
  for (unit_wanted *w = user; w->path; w++) {
    if (strcmp(w->path, item->path) == 0) {
      w->met = true;
      CHECK(strcmp(w->unit, item->unit) == 0, "%s in '%s'", item->path, item->unit);
    }
  }
  return true;
}

TEST(units_follow_the_coordinate) {
  unit_wanted want[] = {{"bodies.b01.joint.stiffness", "N m/rad", false},    /* revolute    */
                        {"bodies.b04.joint.stiffness[0]", "N m/rad", false}, /* cylindrical */
                        {"bodies.b04.joint.stiffness[1]", "N/m", false},
                        {"bodies.b04.joint.stiffness", "", false},
                        {"forces.band.stiffness", "N/m", false},
                        {"run.step", "s", false},
                        {NULL, NULL, false}};
  random_tree *t = calloc(1, sizeof *t);
  make(t);
  sn_model *m = random_tree_build(t);
  sni_params_visit(m, check_unit, want);
  for (const unit_wanted *w = want; w->path; w++) {
    CHECK(w->met, "%s was not told", w->path);
  }
  sn_model_free(&m);
  free(t);
}

TEST(values_that_are_refused) {
  static const struct {
    const char *path;
    double value;
    const char *text;
  } bad[] = {
      {"gravity[2]", NAN, "gravity[2]: is nan, needs a finite number"},
      {"bodies.b01.joint.rest", INFINITY, "bodies.b01.joint.rest: is inf, needs a finite number"},
      {"bodies.b01.joint.stiffness", -1, "bodies.b01.joint.stiffness: is -1, needs a number >= 0"},
      {"bodies.b05.damping", -1, "bodies.b05.damping: is -1, needs a number >= 0"},
      {"forces.band.rest_length", -1, "forces.band.rest_length: is -1, needs a number >= 0"},
      {"run.step", 0, "run.step: is 0, needs a number > 0"},
      {"run.recursive.rel_tol", NAN, "run.recursive.rel_tol: is nan, needs a number > 0"},
      {"bodies.b02.inertia.mass", 0, "bodies.b02.inertia.mass = 0: mass is 0, needs > 0"},
      {"bodies.b02.inertia.mass", -2, "bodies.b02.inertia.mass = -2: mass is -2, needs > 0"},
      {"bodies.b02.inertia.at.0", NAN, "bodies.b02.inertia.at.0: is nan, needs a finite number"}};
  random_tree *t = calloc(1, sizeof *t);
  make(t);
  sn_model *m;
  sn_sim *sim = sim_of(t, &m);
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    double before = 0, after = 0;
    sn_error err;
    sn_sim_get(sim, bad[k].path, &before, NULL);
    CHECK(sn_sim_set(sim, bad[k].path, bad[k].value, &err) == SN_E_VALUE, "%s was taken",
          bad[k].path);
    CHECK(strcmp(err.text, bad[k].text) == 0, "'%s'", err.text);
    sn_sim_get(sim, bad[k].path, &after, NULL);
    CHECK(before == after, "%s changed to %g", bad[k].path, after);
  }
  sn_error err;
  CHECK(sn_sim_set(sim, "bodies.b02.inertia.xx", 100, &err) == SN_E_VALUE &&
            strstr(err.text, "bodies.b02.inertia.xx = 100: principal moments") &&
            strstr(err.text, "triangle inequality"),
        "'%s'", err.text);
  sn_sim_free(&sim);
  sn_model_free(&m);
  free(t);
}

int main(void) {
  RUN_TESTS(T(a_value_set_is_a_value_built), T(run_parameters), T(paths_that_lead_nowhere),
            T(values_that_are_refused), T(all_are_visited), T(units_follow_the_coordinate),
            T(numbers_of_loops_and_friction_are_parameters),
            T(numbers_of_loops_and_friction_are_visited));
}
