/* test_scene.c: scenes from files and texts.
 *
 * Where one can say the same thing in two ways, both must give the same model, bit for bit: the
 * hash of the model, the accelerations in some state, the energy, the start and the options. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <sys/stat.h>
#include <unistd.h>

#include "io/decode.h"
#include "io/words.h"
#include "sinew/scene.h"
#include "test.h"

#define GOOD SINEW_SOURCE_DIR "/tests/data/good/"

#define ARM "    shapes: [{type: sphere, radius: 0.1, density: 1000}]\n"

static sn_scene *load_with(const char *text, const sn_scene_options *options) {
  sn_scene *scene = NULL;
  sn_error err = {0};
  const sn_status status = sn_scene_load_text(text, strlen(text), "text", options, &scene, &err);
  CHECK(scene != NULL, "no scene: %s", err.text);
  CHECK((status == SN_OK) == (sn_scene_model(scene) != NULL), "status %d does not fit", status);
  CHECK((status == SN_OK) == (sn_scene_error_count(scene) == 0), "status %d does not fit", status);
  if (status != SN_OK) {
    CHECK(memcmp(&err, sn_scene_error(scene, 0), sizeof err) == 0, "err is not the first problem");
  }
  return scene;
}

static sn_scene *load(const char *text) {
  return load_with(text, NULL);
}

/* All problems and warnings, a line each. */
static void report_of(const sn_scene *scene, char *out, size_t size) {
  size_t n = 0;
  out[0] = 0;
  for (int k = 0; k < sn_scene_error_count(scene); k++) {
    char line[1024];
    sn_error_format(sn_scene_error(scene, k), line, sizeof line);
    n += (size_t)snprintf(out + n, size - n, "%s\n", line);
  }
  for (int k = 0; k < sn_scene_warning_count(scene); k++) {
    char line[1024];
    sn_error_format(sn_scene_warning(scene, k), line, sizeof line);
    n += (size_t)snprintf(out + n, size - n, "warning: %s\n", line);
  }
}

static void expect_report_with(const char *text, const sn_scene_options *options,
                               const char *expected) {
  char report[8192];
  sn_scene *scene = load_with(text, options);
  report_of(scene, report, sizeof report);
  CHECK(strcmp(report, expected) == 0, "for\n%s\n--- got\n%s--- expected\n%s", text, report,
        expected);
  sn_scene_free(&scene);
  CHECK(scene == NULL, "free sets NULL");
}

static void expect_report(const char *text, const char *expected) {
  expect_report_with(text, NULL, expected);
}

/* Everything that tells one model from another. */
typedef struct model_print {
  uint64_t hash, start;
  double qdd[32], energy, step;
} model_print;

static model_print print_of(const char *text, const sn_scene_options *options) {
  char report[8192];
  sn_error err = {0};
  sn_scene *scene = load_with(text, options);
  report_of(scene, report, sizeof report);
  const sn_model *model = sn_scene_model(scene);
  CHECK(model != NULL, "for\n%s\n--- got\n%s", text, report);
  model_print p = {0};
  p.hash = sn_model_hash(model);
  p.step = sn_model_run(model)->options.step;
  sn_sim *sim = NULL;
  sn_state *state = NULL;
  sn_energy energy;
  CHECK(sn_sim_create(model, &sn_model_run(model)->options, &sim, &err) == SN_OK, "%s", err.text);
  CHECK(sn_state_create(model, &state, &err) == SN_OK, "%s", err.text);
  p.start = sn_state_hash(state);
  const int n = sn_model_dof_count(model);
  CHECK(n <= 32, "%d coordinates", n);
  for (int i = 0; i < n; i++) {
    sn_state_q(state)[i] = 0.3 + 0.1 * i;
    sn_state_qd(state)[i] = 0.7 - 0.2 * i;
  }
  CHECK(sn_sim_forward(sim, state, NULL, p.qdd, &err) == SN_OK, "%s", err.text);
  CHECK(sn_sim_energy(sim, state, &energy) == SN_OK, "energy");
  p.energy = energy.potential;
  sn_state_free(&state);
  sn_sim_free(&sim);
  sn_scene_free(&scene);
  return p;
}

static bool same_numbers(const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

static bool same(model_print a, model_print b) {
  return a.hash == b.hash && a.start == b.start && a.energy == b.energy && a.step == b.step &&
         same_numbers(a.qdd, b.qdd, 32);
}

static void expect_same(const char *a, const char *b) {
  CHECK(same(print_of(a, NULL), print_of(b, NULL)), "different models from\n%s\nand\n%s", a, b);
}

static void expect_different(const char *a, const char *b) {
  CHECK(!same(print_of(a, NULL), print_of(b, NULL)), "the same model from\n%s\nand\n%s", a, b);
}

/* ---- what can be read ------------------------------------------------------------------------ */

TEST(good_scenes_are_good) {
  static const struct {
    const char *file;
    int bodies, dofs, warnings;
  } scenes[] = {{"hammer.yaml", 5, 4, 0},   {"everything.yaml", 27, 67, 2},
                {"use.yaml", 7, 15, 0},     {"rope.yaml", 21, 40, 0},
                {"defaults.yaml", 6, 5, 0}, {"parts/arm.yaml", 2, 4, 0}};
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
    char path[512], report[4096];
    snprintf(path, sizeof path, GOOD "%s", scenes[k].file);
    sn_scene *scene = NULL;
    sn_error err = {0};
    const sn_status status = sn_scene_load(path, NULL, &scene, &err);
    CHECK(scene != NULL, "%s: %s", path, err.text);
    report_of(scene, report, sizeof report);
    CHECK(status == SN_OK, "%s", report);
    const sn_model *model = sn_scene_model(scene);
    CHECK(sn_model_body_count(model) == scenes[k].bodies, "%s: %d bodies", path,
          sn_model_body_count(model));
    CHECK(sn_model_dof_count(model) == scenes[k].dofs, "%s: %d dofs", path,
          sn_model_dof_count(model));
    CHECK(sn_scene_warning_count(scene) == scenes[k].warnings, "%s: %s", path, report);
    sn_scene_free(&scene);
  }
}

TEST(a_model_can_be_loaded_by_itself) {
  sn_model *model = NULL;
  sn_error err = {0};
  CHECK(sn_model_load(GOOD "rope.yaml", &model, &err) == SN_OK, "%s", err.text);
  CHECK(sn_model_body_find(model, "rope_20") >= 0, "rope_20 is missing");
  CHECK(sn_model_body_find(model, "rope") < 0, "rope is there");
  sn_model_free(&model);
  CHECK(sn_model_load(GOOD "none.yaml", &model, &err) == SN_E_FILE, "status");
  CHECK(model == NULL && strstr(err.file, "none.yaml"), "file '%s'", err.file);
}

TEST(units_and_up_are_there) {
  sn_scene *scene = load("sinew: 1\nunits: cm g s\nup: y\ngravity: [0, -981, 0]\n"
                         "bodies:\n  a:\n    joint: {type: free}\n" ARM);
  CHECK(strcmp(sn_scene_units(scene), "cm g s") == 0, "units '%s'", sn_scene_units(scene));
  CHECK(strcmp(sn_scene_up(scene), "y") == 0, "up '%s'", sn_scene_up(scene));
  sn_scene_free(&scene);
}

TEST(gravity_is_against_up) {
#define BODY "bodies:\n  a:\n    joint: {type: free}\n" ARM
  expect_same("sinew: 1\n" BODY, "sinew: 1\ngravity: [0, 0, -9.81]\n" BODY);
  expect_same("sinew: 1\nup: y\n" BODY, "sinew: 1\nup: y\ngravity: [0, -9.81, 0]\n" BODY);
  expect_report("sinew: 1\nunits: mm g s\n" BODY,
                "warning: text: line 2, units: gravity is not given, so it is 9.81 against up, "
                "whatever the units\n");
#undef BODY
}

TEST(json_is_a_scene_too) {
  expect_same("sinew: 1\nbodies:\n  arm:\n    joint: {type: revolute, axis: [0, 2*pi, 0], "
              "rest: -90*deg, stiffness: 3}\n" ARM,
              "{\"sinew\": 1, \"bodies\": {\"arm\": {\"joint\": {\"type\": \"revolute\", "
              "\"axis\": [0, \"2*pi\", 0.0e0], \"rest\": \"-90*deg\", \"stiffness\": 3}, "
              "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"density\": 1000}]}}}");
}

TEST(types_come_from_the_key) {
  /* names that YAML 1.1 or 1.2 would take for something else */
  expect_report("sinew: 1\nbodies:\n  no:\n    joint: {type: free}\n" ARM
                "  true:\n    parent: no\n    joint: {type: free}\n" ARM
                "  null:\n    parent: true\n    joint: {type: free}\n" ARM
                "  y:\n    parent: \"null\"\n    joint: {type: free}\n" ARM,
                "");
}

/* ---- the same thing in two ways ---------------------------------------------------------------
 */

TEST(poses_in_three_ways) {
#define SCENE(at) "sinew: 1\nbodies:\n  a:\n    joint: {type: free, at: " at "}\n" ARM
  expect_same(SCENE("[1, 2, 3]"), SCENE("{pos: [1, 2, 3], rotvec: [0, 0, 0]}"));
  expect_same(SCENE("[1, 2, 3]"), SCENE("{pos: [1, 2, 3], quat_wxyz: [2, 0, 0, 0]}"));
  expect_different(SCENE("[1, 2, 3]"), SCENE("{pos: [1, 2, 3], quat_wxyz: [1, 0, 0, 1]}"));
#undef SCENE
}

TEST(inertia_is_moved_into_the_body) {
  /* a quarter turn about z exchanges x and y */
#define SCENE(inertia)                                                                             \
  "sinew: 1\nbodies:\n  a:\n    joint: {type: free}\n    inertia: " inertia "\n"
  sn_scene *plain = load(SCENE("{mass: 2, at: [1, 2, 3], xx: 3, yy: 4, zz: 5, xy: 0.5}"));
  sn_scene *turned = load(SCENE("{mass: 2, at: {pos: [1, 2, 3], rotvec: [0, 0, pi/2]}, xx: 4, "
                                "yy: 3, zz: 5, xy: -0.5}"));
  double M[2][36];
  sn_scene *const scenes[] = {plain, turned};
  for (int k = 0; k < 2; k++) {
    const sn_model *model = sn_scene_model(scenes[k]);
    sn_sim *sim = NULL;
    sn_state *state = NULL;
    CHECK(sn_sim_create(model, &sn_model_run(model)->options, &sim, NULL) == SN_OK, "sim");
    CHECK(sn_state_create(model, &state, NULL) == SN_OK, "state");
    CHECK(sn_sim_mass_matrix(sim, state, M[k]) == SN_OK, "mass matrix");
    sn_state_free(&state);
    sn_sim_free(&sim);
    sn_scene_free(&scenes[k] == &scenes[0] ? &plain : &turned);
  }
  for (int i = 0; i < 36; i++) {
    /* a few roundings of numbers up to 50 */
    CHECK(fabs(M[0][i] - M[1][i]) < 1e-13, "entry %d: %.17g and %.17g", i, M[0][i], M[1][i]);
  }
#undef SCENE
}

TEST(numbers_for_all_coordinates_or_for_each) {
#define SCENE(keys) "sinew: 1\nbodies:\n  a:\n    joint: {type: universal, " keys "}\n" ARM
  expect_same(SCENE("damping: 2, stiffness: 3, rest: 0.1"),
              SCENE("damping: [2, 2], stiffness: [3, 3], rest: [0.1, 0.1]"));
  expect_different(SCENE("damping: 2"), SCENE("damping: [2, 3]"));
#undef SCENE
}

TEST(limits_are_one_pair_or_many) {
  static const struct {
    const char *text;
    sn_per_dof lower, upper;
  } cases[] = {{"{type: universal, limits: [-1, 2]}", {1, {-1}}, {1, {2}}},
               {"{type: universal, limits: [[-1, 2]]}", {1, {-1}}, {1, {2}}},
               {"{type: universal, limits: [[-1, 2], [-3, 4]]}", {2, {-1, -3}}, {2, {2, 4}}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sni_doc *doc = NULL;
    sn_joint_def def = sn_joint_def_default();
    CHECK(sni_doc_read_text(cases[k].text, strlen(cases[k].text), "text", NULL, &doc, NULL) ==
              SN_OK,
          "%s", cases[k].text);
    sni_pool pool = {0};
    sni_error_list errors = {0};
    sni_decoder d = {.doc = doc, .pool = &pool, .errors = &errors, .prefix = ""};
    const sni_layers layers = {.node = {sni_doc_root(doc)}, .count = 1};
    CHECK(sni_decode_kind(&d, SNI_ROLE_JOINT, &layers, &def), "%s", cases[k].text);
    const int n = cases[k].lower.n;
    CHECK(def.lower.n == n && def.upper.n == n, "%s", cases[k].text);
    CHECK(same_numbers(def.lower.v, cases[k].lower.v, n), "%s", cases[k].text);
    CHECK(same_numbers(def.upper.v, cases[k].upper.v, n), "%s", cases[k].text);
    sni_pool_free(&pool);
    sni_doc_free(&doc);
  }
}

TEST(repeat_is_a_chain_written_out) {
#define LINK(name, parent, keys)                                                                   \
  "  " name ":\n    parent: " parent "\n    joint: {type: universal, " keys "}\n" ARM
  expect_same("sinew: 1\nbodies:\n" LINK("base", "world", "damping: 1") LINK(
                  "rope", "base",
                  "damping: 2, at: [0, 0, 1]") "    repeat: {count: 3, joint: {at: [0, 0, -1]}}\n",
              "sinew: 1\nbodies:\n" LINK("base", "world", "damping: 1")
                  LINK("rope_1", "base", "damping: 2, at: [0, 0, 1]")
                      LINK("rope_2", "rope_1", "damping: 2, at: [0, 0, -1]")
                          LINK("rope_3", "rope_2", "damping: 2, at: [0, 0, -1]"));
  expect_same(
      "sinew: 1\nbodies:\n" LINK("rope", "world", "at: [0, 0, 1]") "    repeat: {count: 2}\n",
      "sinew: 1\nbodies:\n" LINK("rope_1", "world", "at: [0, 0, 1]")
          LINK("rope_2", "rope_1", "at: [0, 0, 1]"));
  /* another kind of joint from the second on takes the keys that it has */
  expect_same("sinew: 1\nbodies:\n  c:\n    joint: {type: screw, axis: [0, 1, 0], pitch: 2}\n" ARM
              "    repeat: {count: 2, joint: {type: revolute}}\n",
              "sinew: 1\nbodies:\n  c_1:\n    joint: {type: screw, axis: [0, 1, 0], pitch: 2}\n" ARM
              "  c_2:\n    parent: c_1\n    joint: {type: revolute, axis: [0, 1, 0]}\n" ARM);
#undef LINK
}

TEST(defaults_are_written_out) {
  expect_same(
      "sinew: 1\ndefaults:\n  shape: {density: 1000, size: [1, 1, 1]}\n"
      "  joint: {damping: 3, axis: [0, 1, 0], type: revolute}\n  body: {damping: 2}\n"
      "  force: {active: 0.5}\nbodies:\n"
      "  a: {joint: {}, shapes: [{type: sphere, radius: 0.1}]}\n"
      "  b: {joint: {type: fixed, damping: 0}, damping: 1, shapes: [{type: box}]}\n"
      "forces:\n  f: {type: joint_torque, joint: a, torque: 1}\n",
      "sinew: 1\nbodies:\n"
      "  a: {joint: {type: revolute, axis: [0, 1, 0], damping: 3}, damping: 2, shapes: [{type: "
      "sphere, radius: 0.1, density: 1000}]}\n"
      "  b: {joint: {type: fixed, damping: 0}, damping: 1, shapes: [{type: box, size: [1, 1, 1], "
      "density: 1000}]}\n"
      "forces:\n  f: {type: joint_torque, joint: a, torque: 1, active: 0.5}\n");
}

/* So friction can be said once in a scene that has a base. */
TEST(default_friction_spares_what_does_not_move) {
#define RUBS "{mu: 0.3, pin_radius: 0.05, pin_length: 0.1}"
  expect_same(
      "sinew: 1\nrun: {method: redmax}\ndefaults: {joint: {friction: " RUBS "}}\nbodies:\n"
      "  base: {joint: {type: fixed}}\n"
      "  a:\n    parent: base\n    joint: {type: revolute, axis: [0, 1, 0]}\n" ARM
      "  foot: {parent: a, joint: {type: fixed}, repeat: {count: 2, joint: {at: [1, 0, 0]}}, "
      "inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n",
      "sinew: 1\nrun: {method: redmax}\nbodies:\n"
      "  base: {joint: {type: fixed}}\n"
      "  a:\n    parent: base\n    joint: {type: revolute, axis: [0, 1, 0], friction: " RUBS
      "}\n" ARM
      "  foot_1: {parent: a, joint: {type: fixed}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n"
      "  foot_2: {parent: foot_1, joint: {type: fixed, at: [1, 0, 0]}, inertia: {mass: 1, xx: "
      "1, yy: 1, zz: 1}}\n");
  expect_report("sinew: 1\nbodies:\n  base: {joint: {type: fixed, friction: " RUBS "}}\n",
                "text: line 3, bodies.base.joint.friction: a joint that does not move has nothing "
                "that rubs\n");
#undef RUBS
}

TEST(a_default_is_taken_whole) {
  /* the pose of the map replaces the default's: no mixture of rotvec and quat_wxyz */
  expect_report("sinew: 1\ndefaults:\n  joint: {at: {pos: [0, 0, 1], rotvec: [0, 0, 1]}}\n"
                "bodies:\n  a:\n    joint: {type: free, at: {pos: [0, 0, 1], quat_wxyz: [1, 0, 0, "
                "0]}}\n" ARM,
                "warning: text: line 3, defaults.joint.at: not used: no joint of this file takes "
                "it\n");
}

/* ---- use --------------------------------------------------------------------------------------
 */

static sn_scene_options beside_good(void) {
  sn_scene_options options = sn_scene_options_default();
  options.folder = GOOD;
  return options;
}

static void poses_of(const sn_scene *scene, sn_se3 *E_wb) {
  const sn_model *model = sn_scene_model(scene);
  sn_sim *sim = NULL;
  sn_state *state = NULL;
  sn_vec6 phi[32];
  sn_error err = {0};
  CHECK(sn_sim_create(model, &sn_model_run(model)->options, &sim, &err) == SN_OK, "%s", err.text);
  CHECK(sn_state_create(model, &state, NULL) == SN_OK, "state");
  CHECK(sn_sim_poses(sim, state, E_wb, phi) == SN_OK, "poses");
  sn_state_free(&state);
  sn_sim_free(&sim);
}

TEST(a_used_file_hangs_where_it_is_put) {
  const sn_scene_options options = beside_good();
  sn_scene *scene = load_with(
      "sinew: 1\nuse:\n  - {file: parts/arm.yaml, prefix: l/, parent: torso, at: {pos: [1, 0, 0], "
      "rotvec: [0, 0, pi/2]}}\n  - {file: parts/arm.yaml, prefix: w/, at: [0, 7, 0]}\n"
      "bodies:\n  torso:\n    joint: {type: fixed, at: [0, 0, 5]}\n" ARM "initial:\n"
      "  l/upper: {q: [0, 0, 0]}\n  l/lower: {q: 0}\n  w/upper: {q: 0}\n",
      &options);
  const sn_model *model = sn_scene_model(scene);
  CHECK(model != NULL, "no model");
  CHECK(sn_model_body_count(model) == 5, "%d bodies", sn_model_body_count(model));
  sn_se3 E[32];
  poses_of(scene, E);
  const sn_se3 lower = E[sn_model_body_find(model, "l/lower")];
  const sn_se3 upper = E[sn_model_body_find(model, "w/upper")];
  /* torso (0, 0, 5), the file's ground at (1, 0, 0) on it, upper 0.1 above it, lower 0.3 below */
  CHECK(fabs(lower.p.x - 1) < 1e-15 && fabs(lower.p.y) < 1e-15, "(%g, %g)", lower.p.x, lower.p.y);
  CHECK(fabs(lower.p.z - 4.8) < 1e-14, "z = %.17g", lower.p.z);
  CHECK(fabs(lower.R.m[1][0] - 1) < 1e-15, "is not turned");
  CHECK(fabs(upper.p.y - 7) < 1e-15 && fabs(upper.p.z - 0.1) < 1e-15, "%g", upper.p.z);
  sn_scene_free(&scene);
}

TEST(what_the_user_says_about_the_start_counts) {
  const sn_scene_options options = beside_good();
  sn_scene *scene = load_with("sinew: 1\nuse: [{file: parts/arm.yaml, prefix: a/}]\n"
                              "initial:\n  a/lower: {q: 1}\n",
                              &options);
  const sn_model *model = sn_scene_model(scene);
  sn_state *state = NULL;
  CHECK(model && sn_state_create(model, &state, NULL) == SN_OK, "no state");
  const double *q = sn_state_q(state);
  const double lower = q[sn_model_joint_first(model, sn_model_body_find(model, "a/lower"))];
  const double upper = q[sn_model_joint_first(model, sn_model_body_find(model, "a/upper"))];
  CHECK(lower == 1, "lower starts at %g", lower);
  CHECK(upper == 0.1, "upper starts at %g", upper);
  sn_state_free(&state);
  sn_scene_free(&scene);
}

TEST(head_of_a_used_file_is_not_used) {
  const sn_scene_options options = beside_good();
  expect_report_with("sinew: 1\nuse: [{file: rope.yaml, prefix: r/}]\n", &options,
                     "warning: " GOOD "rope.yaml: line 3, gravity: not used: that of the scene "
                     "that uses this file counts\n");
}

TEST(files_are_used_to_a_depth) {
  char folder[] = "/tmp/sinew_scene_XXXXXX";
  CHECK(mkdtemp(folder) != NULL, "no folder");
  for (int k = 0; k < 20; k++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%d.yaml", folder, k);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    fprintf(file, "sinew: 1\nuse: [{file: %d.yaml, prefix: d/}]\n", k + 1);
    fclose(file);
  }
  char path[128], report[1024], expected[1024];
  snprintf(path, sizeof path, "%s/0.yaml", folder);
  snprintf(expected, sizeof expected,
           "%s/16.yaml: line 2, use[0].file: files use files deeper than 16\n", folder);
  sn_scene *scene = NULL;
  CHECK(sn_scene_load(path, NULL, &scene, NULL) == SN_E_LIMIT, "status");
  report_of(scene, report, sizeof report);
  CHECK(strcmp(report, expected) == 0, "%s", report);
  sn_scene_free(&scene);
  for (int k = 0; k < 20; k++) {
    snprintf(path, sizeof path, "%s/%d.yaml", folder, k);
    unlink(path);
  }
  rmdir(folder);
}

TEST(files_outside_are_allowed_on_demand) {
  sn_scene_options options = sn_scene_options_default();
  const char *text = "sinew: 1\nbodies:\n  a:\n    joint: {type: free}\n"
                     "    shapes: [{type: mesh, file: ../good/parts/tetra.obj, density: 1000}]\n";
  options.folder = SINEW_SOURCE_DIR "/tests/data/bad";
  sn_scene *scene = load_with(text, &options);
  CHECK(sn_scene_error_count(scene) == 1, "a file outside");
  CHECK(sn_scene_error(scene, 0)->code == SN_E_VALUE, "code");
  sn_scene_free(&scene);
  options.folder = GOOD "parts/"; /* out and in again */
  scene = load_with("sinew: 1\nbodies:\n  a:\n    joint: {type: free}\n    shapes: [{type: mesh, "
                    "file: .././parts//tetra.obj, density: 1000}]\n",
                    &options);
  CHECK(sn_scene_error_count(scene) == 0, "%s", sn_scene_error(scene, 0)->text);
  sn_scene_free(&scene);
  options.folder = SINEW_SOURCE_DIR "/tests/data/bad";
  options.allow_outside = true;
  scene = load_with(text, &options);
  CHECK(sn_scene_error_count(scene) == 0, "%s", sn_scene_error(scene, 0)->text);
  sn_scene_free(&scene);
}

/* ---- --set ------------------------------------------------------------------------------------
 */

#define SET(...)                                                                                   \
  (sn_scene_options) {                                                                             \
    .folder = GOOD, .set = (const char *const[]){__VA_ARGS__},                                     \
    .nset = (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))                     \
  }

TEST(values_can_be_changed) {
  const char *text = "sinew: 1\nbodies:\n  a:\n    joint: {type: free, damping: 1}\n" ARM;
  const char *other = "sinew: 1\ngravity: [0, 0, -1.6]\nbodies:\n  a:\n    joint: {type: free, "
                      "damping: 3}\n    shapes: [{type: sphere, radius: 0.2, density: 1000}]\n"
                      "initial:\n  a: {qd: 1}\nrun: {step: 0.5}\n";
  const sn_scene_options options =
      SET("gravity=[0,0,-1.6]", "bodies.a.joint.damping=3", "bodies.a.shapes[0].radius=0.2",
          "run.step=0.5", "initial.a.qd=1");
  CHECK(same(print_of(text, &options), print_of(other, NULL)), "not the same");
}

TEST(values_of_used_files_can_be_changed) {
  const char *text = "sinew: 1\nuse:\n  - {file: parts/arm.yaml, prefix: l/}\n"
                     "  - {file: parts/arm.yaml, prefix: r/, at: [1, 0, 0]}\n";
  const sn_scene_options plain = SET("gravity=[0,0,0]");
  const sn_scene_options left = SET("gravity=[0,0,0]", "bodies.l/lower.joint.damping=0.2");
  const sn_scene_options right = SET("gravity=[0,0,0]", "bodies.r/lower.joint.damping=0.2");
  const sn_scene_options both = SET("gravity=[0,0,0]", "bodies.l/lower.joint.damping=0.2",
                                    "bodies.r/lower.joint.damping=0.2", "use[1].at=[1, 0, 0]");
  const model_print prints[] = {print_of(text, &plain), print_of(text, &left),
                                print_of(text, &right), print_of(text, &both)};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < i; k++) {
      CHECK(!same(prints[i], prints[k]), "%d and %d are the same", i, k);
    }
  }
}

TEST(changes_that_cannot_be_made) {
  const char *text = "sinew: 1\nuse: [{file: parts/arm.yaml, prefix: l/}]\nbodies:\n"
                     "  rope:\n    joint: {type: free}\n    repeat: {count: 3}\n" ARM;
  sn_scene_options options = SET("gravity", "bodies.rope_2.joint.damping=1", "bodies.x/y.joint=1",
                                 "bodies.rope.shapes[3].radius=1", "run.step=", "gravity=[0,0,x]",
                                 "bodies.rope.joint.dampin=1", "bodies.l/lower.joint.axis=[0, 1]");
  expect_report_with(
      text, &options,
      "--set: gravity: has no value: write path=value\n"
      "--set: run.step: the value is missing, write \"\" for an empty text\n"
      "--set: bodies.rope_2.joint.damping: 'rope_2' is made by repeat: set "
      "bodies.rope.joint.damping "
      "for all of them\n"
      "--set: bodies.x/y.joint: no file that is used has 'x/y' under bodies\n"
      "--set: bodies.rope.shapes[3].radius: index 3 is out of range: bodies.rope.shapes has 1 "
      "entry\n"
      "--set: gravity[2]: expression 'x', character 1: unknown name 'x' (known here: pi, deg, e)\n"
      "--set: bodies.rope.joint: unknown key 'dampin' (did you mean 'damping'?), known: type, at, "
      "stiffness, damping, rest, armature, limits, cone, stop, friction, backlash, drive\n"
      "--set: bodies.lower.joint.axis: has 2 numbers, needs 3\n");
}

/* ---- problems and their places ----------------------------------------------------------------
 */

TEST(problems_of_the_builder_have_places) {
  /* the axis comes from the defaults, the parent from a line of its own */
  expect_report("sinew: 1\ndefaults:\n  joint: {axis: [0, 0, 0]}\nbodies:\n"
                "  a:\n    joint: {type: revolute}\n" ARM "  b:\n    parent:\n      c\n"
                "    joint: {type: free}\n" ARM,
                "text: line 3, bodies.a.joint.axis: length 0, needs a direction\n"
                "text: line 10, bodies.b.parent: there is no body 'c'\n");
}

TEST(columns_point_into_expressions) {
  sn_scene *scene = load("sinew: 1\ngravity: [0, 0,   2*foo]\nunits: 3\nrun: {step: '1 +* 2'}\n");
  CHECK(sn_scene_error_count(scene) == 2, "%d problems", sn_scene_error_count(scene));
  const sn_error *first = sn_scene_error(scene, 0), *second = sn_scene_error(scene, 1);
  CHECK(first->line == 2 && first->column == 21, "%d:%d", first->line, first->column);
  CHECK(second->line == 4 && second->column == 17, "%d:%d", second->line, second->column);
  CHECK(first->code == SN_E_VALUE, "an expression is semantic");
  sn_scene_free(&scene);
}

TEST(structural_and_semantic_are_told_apart) {
  static const struct {
    const char *text;
    sn_status code;
  } cases[] = {{"sinew: 1\nrun: {step: -1}\n", SN_E_SYNTAX},
               {"sinew: 1\nrun: {step: 0-1}\n", SN_E_VALUE},
               {"sinew: 1\nrun: {step: '-1'}\n", SN_E_VALUE},
               {"sinew: 1\nrun: {stepp: 1}\n", SN_E_SYNTAX},
               {"sinew: 1\nrun: {step: .inf}\n", SN_E_VALUE},
               {"sinew: 1\nbodies: {a: {joint: {}}}\n", SN_E_SYNTAX},
               {"sinew: 1\ndefaults: {joint: {}}\nbodies: {a: {joint: {}}}\n", SN_E_VALUE},
               {"sinew: 1\ndefaults: {joint: {type: fixed}}\nbodies: {a: {joint: {pitch: 1}}}\n",
                SN_E_VALUE},
               {"sinew: 1\ndefaults: {joint: {type: fixed}}\nbodies: {a: {joint: {ptch: 1}}}\n",
                SN_E_SYNTAX},
               {"sinew: 1\nbodies: {a: {parent: b, joint: {type: free}}}\n", SN_E_VALUE},
               {"sinew: 1\nbodies: {a: {joint: {type: free}, shapes: [{type: mesh, file: x}]}}\n",
                SN_E_FILE},
               {"[", SN_E_SYNTAX}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sn_scene *scene = load(cases[k].text);
    CHECK(sn_scene_error_count(scene) > 0, "no problem in %s", cases[k].text);
    CHECK(sn_scene_error(scene, 0)->code == cases[k].code, "%s: %s", cases[k].text,
          sn_status_text(sn_scene_error(scene, 0)->code));
    sn_scene_free(&scene);
  }
}

TEST(what_is_not_used_is_a_warning) {
  expect_report("sinew: 1\ndefaults:\n  joint: {pitch: 1, damping: 2}\n  force: {stiffness: 3}\n"
                "bodies:\n  a:\n    joint: {type: free}\n    inertia: {mass: 1, xx: 1, yy: 1, zz: "
                "1}\n" ARM "run:\n  projective: {anything: [goes]}\n",
                "warning: text: line 3, defaults.joint.pitch: not used: no joint of this file "
                "takes it\n"
                "warning: text: line 4, defaults.force.stiffness: not used: no force of this file "
                "takes it\n"
                "warning: text: line 9, bodies.a.shapes[0].density: not used: the body has "
                "inertia, so its shapes carry no mass\n"
                "warning: text: line 11, run.projective: not used and not checked: this version "
                "knows no options of the method 'projective'\n");
}

TEST(a_flood_of_problems_ends) {
  enum { N = 3000 };
  char *text = malloc(N * 16 + 64);
  size_t n = (size_t)sprintf(text, "sinew: 1\nbodies:\n");
  for (int k = 0; k < N; k++) {
    n += (size_t)sprintf(text + n, "  b%d: 1\n", k);
  }
  sn_scene *scene = load(text);
  free(text);
  const int count = sn_scene_error_count(scene);
  CHECK(count > 100 && count < N, "%d problems", count);
  char last[128], expected[128];
  sn_error_format(sn_scene_error(scene, count - 1), last, sizeof last);
  snprintf(expected, sizeof expected, "and %d more like these", N - count + 1);
  CHECK(strcmp(last, expected) == 0, "%s", last);
  CHECK(sn_scene_error(scene, count) == NULL && sn_scene_error(scene, -1) == NULL, "past the end");
  sn_scene_free(&scene);
}

TEST(limits_can_be_lowered) {
  sn_scene_options options = sn_scene_options_default();
  options.max_bodies = 10;
  expect_report_with(
      "sinew: 1\nbodies:\n  a:\n    joint: {type: free}\n    repeat: {count: 11}\n" ARM, &options,
      "text: line 3, bodies.a: more than 10 bodies, counted up to here\n");
  options = sn_scene_options_default();
  options.max_depth = 3;
  expect_report_with("sinew: 1\nbodies: {a: {joint: {type: free}}}\n", &options,
                     "text: line 2: nesting deeper than 3\n");
  options = sn_scene_options_default();
  options.max_file_size = 10;
  expect_report_with("sinew: 1\nbodies: {}\n", &options, "text: larger than 10 bytes\n");
}

TEST(an_empty_text_is_an_error) {
  expect_report("", "text: the file is empty\n");
  sn_scene *scene = NULL;
  CHECK(sn_scene_load_text(NULL, 0, "nothing", NULL, &scene, NULL) == SN_E_SYNTAX, "status");
  sn_scene_free(&scene);
}

/* A value just outside its range must not look as if it were inside. */
TEST(values_of_expressions_have_their_digits) {
  expect_report(
      "sinew: 1\nbodies:\n  a:\n    joint: {type: free}\n    repeat: {count: 1e6+1}\n" ARM,
      "text: line 5, bodies.a.repeat.count: is 1e6+1 = 1000001, needs a whole number from "
      "1 to 1000000\n");
}

TEST(names_may_be_missing) {
  static const char text[] = "sinew: 2\n";
  sn_scene *scene = NULL;
  sn_error err = {0};
  CHECK(sn_scene_load_text(text, sizeof text - 1, NULL, NULL, &scene, &err) == SN_E_SYNTAX, "text");
  CHECK(strcmp(err.file, "text") == 0 && err.line == 1, "'%s' line %d", err.file, err.line);
  sn_scene_free(&scene);
  CHECK(sn_scene_load(NULL, NULL, &scene, &err) == SN_E_FILE, "status");
  CHECK(strcmp(err.text, "the name of the scene file is empty") == 0, "'%s'", err.text);
  CHECK(scene && sn_scene_error_count(scene) == 1 && !sn_scene_model(scene), "no list");
  sn_scene_free(&scene);
  sn_model *model = NULL;
  CHECK(sn_model_load(NULL, &model, &err) == SN_E_FILE && !model, "'%s'", err.text);
}

/* ---- words and keys ---------------------------------------------------------------------------
 */

static const char *suggest(const char *word, const char *const *known) {
  sni_suggestion s = {.word = word};
  for (; *known; known++) {
    sni_suggest(&s, *known);
  }
  return s.best ? s.best : "";
}

TEST(near_words_are_suggested) {
  static const char *const keys[] = {"stiffness", "damping", "axis", "at", "type", "up", NULL};
  static const char *const cases[][2] = {{"stifness", "stiffness"},
                                         {"Stiffness", "stiffness"},
                                         {"stiffnes", "stiffness"},
                                         {"dampnig", "damping"},
                                         {"axs", "axis"},
                                         {"tpye", "type"},
                                         {"aft", "at"},
                                         {"mass", ""},
                                         {"", ""},
                                         {"x", ""},
                                         {"stiff", ""},
                                         {"up", "up"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *best = suggest(cases[k][0], keys);
    CHECK(strcmp(best, cases[k][1]) == 0, "'%s' gives '%s', not '%s'", cases[k][0], best,
          cases[k][1]);
  }
}

TEST(names_follow_their_patterns) {
  static const struct {
    const char *text;
    bool plain, reference, prefix;
  } cases[] = {{"arm", true, true, false},       {"_a-1", true, true, false},
               {"left/arm", false, true, false}, {"left/", false, false, true},
               {"a/b/", false, false, true},     {"", false, false, false},
               {"/", false, false, false},       {"a//b", false, false, false},
               {"1a", false, false, false},      {"-a", false, false, false},
               {"a b", false, false, false},     {"a.b", false, false, false},
               {"a/1", false, false, false},     {"/a", false, false, false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *text = cases[k].text;
    CHECK(sni_name_is_plain(text) == cases[k].plain, "plain: '%s'", text);
    CHECK(sni_name_is_reference(text) == cases[k].reference, "reference: '%s'", text);
    CHECK(sni_name_is_prefix(text) == cases[k].prefix, "prefix: '%s'", text);
  }
}

TEST(there_is_room_for_all_keys) {
  for (int role = 0; role < SNI_ROLE_COUNT; role++) {
    sni_keys keys;
    sni_keys_of_role((sni_role)role, &keys);
    CHECK(keys.count > 0 && keys.count < SNI_KEYS_MAX, "%s has %d keys",
          sni_role_name((sni_role)role), keys.count);
  }
}

int main(void) {
  RUN_TESTS(T(good_scenes_are_good), T(a_model_can_be_loaded_by_itself), T(units_and_up_are_there),
            T(gravity_is_against_up), T(json_is_a_scene_too), T(types_come_from_the_key),
            T(poses_in_three_ways), T(inertia_is_moved_into_the_body),
            T(numbers_for_all_coordinates_or_for_each), T(limits_are_one_pair_or_many),
            T(repeat_is_a_chain_written_out), T(defaults_are_written_out),
            T(default_friction_spares_what_does_not_move), T(a_default_is_taken_whole),
            T(a_used_file_hangs_where_it_is_put), T(what_the_user_says_about_the_start_counts),
            T(head_of_a_used_file_is_not_used), T(files_are_used_to_a_depth),
            T(files_outside_are_allowed_on_demand), T(values_can_be_changed),
            T(values_of_used_files_can_be_changed), T(changes_that_cannot_be_made),
            T(problems_of_the_builder_have_places), T(columns_point_into_expressions),
            T(structural_and_semantic_are_told_apart), T(what_is_not_used_is_a_warning),
            T(a_flood_of_problems_ends), T(limits_can_be_lowered), T(an_empty_text_is_an_error),
            T(values_of_expressions_have_their_digits), T(names_may_be_missing),
            T(near_words_are_suggested), T(names_follow_their_patterns),
            T(there_is_room_for_all_keys));
}
