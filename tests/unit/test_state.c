/* States: snapshots that resume bit for bit, and files that say what is wrong with them. */
#include "methods/sim.h"
#include "trees.h"

#include <unistd.h>

static sn_model *mechanism(uint64_t seed) {
  static random_tree tree; /* large */
  random_tree_make(&tree, seed, 9, TREE_SPRINGS | TREE_DRAG | TREE_FORCES);
  return random_tree_build(&tree);
}

/* With a motion, a drive and a torque that switches, so that all there is to remember is there. */
static sn_model *busy_mechanism(void) {
  sn_body_def a = test_link("a", "world", "revolute"), b = test_link("b", "a", "revolute"),
              c = test_link("c", "b", "spherical");
  b.joint.at = c.joint.at = sn_pose(0, 0, -1);
  b.joint.drive.enabled = true;
  b.joint.drive.ntarget = 1;
  b.joint.drive.target[0] = (sn_function_def){.expression = "sin(2*t)"};
  b.joint.drive.stiffness = sn_per_dof_all(20);
  b.joint.drive.damping = sn_per_dof_all(1);
  sn_motion_def motion = sn_motion_def_default();
  motion.name = "motor";
  motion.joint = "a";
  motion.nq = 1;
  motion.q[0] = (sn_function_def){.expression = "0.4*sin(3*t)"};
  sn_force_def push = sn_force_def_default();
  push.name = "push";
  push.type = "point_force";
  push.body = "c";
  push.at = (sn_vec3){0.1, 0.2, -0.9};
  push.vector[0] = (sn_function_def){.expression = "if(t < 0.237, 30, -10)"};
  push.active = (sn_function_def){.expression = "t > 0.05 and t < 0.61"};
  sn_builder *builder = test_builder(&a);
  CHECK(!sn_builder_add_body(builder, &b) && !sn_builder_add_body(builder, &c) &&
            !sn_builder_add_motion(builder, &motion) && !sn_builder_add_force(builder, &push),
        "out of memory");
  return test_finish(builder);
}

static sn_options options_of(int which) {
  sn_options o = sn_options_default();
  o.recursive.integrator = which ? SN_RK4 : SN_DOPRI5;
  o.step = 0.007;
  return o;
}

static void file_of(char *out, size_t size, const char *name) {
  snprintf(out, size, "%s/test_state_%d_%s", SINEW_BUILD_DIR, (int)getpid(), name);
}

static void steps(sn_sim *sim, sn_state *s, int n, const sn_input *input) {
  for (int k = 0; k < n; k++) {
    test_step(sim, s, input);
  }
}

/* run 2N = run N, save, load, run N, in a sim of its own. */
static void check_resume(sn_model *m, int n, const sn_input *input) {
  char path[300];
  file_of(path, sizeof path, "resume");
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which);
    sn_sim *one = test_sim(m, &o), *two = test_sim(m, &o);
    sn_state *straight = test_state(m), *half = test_state(m), *loaded = NULL;
    sn_error err;
    steps(one, straight, 2 * n, input);
    steps(two, half, n, input);
    CHECK(sn_state_save(half, path, &err) == SN_OK, "%s", err.text);
    CHECK(sn_state_load(m, path, &loaded, &err) == SN_OK, "%s", err.text);
    CHECK(sn_state_equal(half, loaded) && sn_state_hash(half) == sn_state_hash(loaded),
          "what was loaded is not what was saved");
    sn_sim *three = test_sim(m, &o);
    steps(three, loaded, n, input);
    CHECK(sn_state_equal(straight, loaded), "%s: resuming differs", which ? "rk4" : "dopri5");
    CHECK(sn_state_hash(straight) == sn_state_hash(loaded), "hashes differ");
    sn_state_free(&straight);
    sn_state_free(&half);
    sn_state_free(&loaded);
    sn_sim_free(&one);
    sn_sim_free(&two);
    sn_sim_free(&three);
  }
  remove(path);
  sn_model_free(&m);
}

TEST(resume_is_bit_for_bit) {
  for (unsigned seed = 0; seed < 6; seed++) {
    check_resume(mechanism(seed), 20, NULL);
  }
  check_resume(busy_mechanism(), 50, NULL);
}

TEST(resume_with_input_is_bit_for_bit) {
  sn_model *m = busy_mechanism();
  double *tau = random_doubles(3, sn_model_dof_count(m), 1);
  tau[0] = 0;
  check_resume(m, 50, &(sn_input){.tau = tau});
  free(tau);
}

/* Two sims of one model, and two walks from one snapshot, give the same bits; between them the sim
 * is asked other things, which must not leave a trace. */
TEST(the_same_bits_every_time) {
  sn_model *m = busy_mechanism();
  const int nv = sn_model_dof_count(m), n = sn_model_body_count(m);
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which);
    sn_sim *one = test_sim(m, &o), *two = test_sim(m, &o);
    sn_state *a = test_state(m), *b = test_state(m), *snapshot = NULL;
    double *x = random_doubles(1, nv, 1), *y = random_doubles(2, nv * nv, 1);
    sn_vec6 *w = calloc((size_t)n, sizeof *w);
    sn_joint_mode *mode = calloc((size_t)n, sizeof *mode);
    mode[1] = SN_JOINT_PRESCRIBED;
    for (int k = 0; k < 100; k++) {
      test_step(one, a, NULL);
      test_step(two, b, NULL);
      sn_energy energy;
      double out[3];
      const int channel[] = {1, sn_sim_channel_find(two, "b.tau"),
                             sn_sim_channel_find(two, "c.reaction.fz")};
      sn_sim_energy(two, b, &energy);
      sn_sim_inverse(two, b, NULL, x, y, w, NULL);
      sn_sim_hybrid(two, b, NULL, mode, x, y, w, NULL);
      sn_sim_mass_matrix(two, b, y);
      sn_sim_Minv_mul(two, b, x, y, NULL);
      sn_sim_Jdot_mul(two, b, x, w);
      sn_sim_channels(two, b, NULL, channel, 3, out, NULL);
      CHECK(sn_state_equal(a, b), "%s: step %d differs", which ? "rk4" : "dopri5", k);
      if (k == 40) {
        CHECK(sn_state_clone(a, &snapshot) == SN_OK, "out of memory");
      }
    }
    steps(one, snapshot, 59, NULL);
    CHECK(sn_state_equal(a, snapshot), "from the snapshot it goes another way");
    sn_state_free(&a);
    sn_state_free(&b);
    sn_state_free(&snapshot);
    sn_sim_free(&one);
    sn_sim_free(&two);
    free(x);
    free(y);
    free(w);
    free(mode);
  }
  sn_model_free(&m);
}

TEST(copies_compare_and_hash) {
  sn_model *m = mechanism(1), *other = mechanism(2);
  sn_state *a = random_tree_state(m, 1), *b = NULL, *c = test_state(other);
  CHECK(sn_state_clone(a, &b) == SN_OK && sn_state_equal(a, b), "a clone differs");
  CHECK(sn_state_hash(a) == sn_state_hash(b), "a clone's hash differs");
  sn_state_q(b)[0] = nextafter(sn_state_q(b)[0], 10);
  CHECK(!sn_state_equal(a, b) && sn_state_hash(a) != sn_state_hash(b), "the last bit is not seen");
  CHECK(sn_state_copy(b, a) == SN_OK && sn_state_equal(a, b), "a copy differs");
  *sn_state_time(b) = 1;
  CHECK(!sn_state_equal(a, b), "the time is not seen");
  CHECK(sn_state_copy(c, a) == SN_E_MISMATCH, "a copy into the state of another model");
  CHECK(!sn_state_equal(a, c), "states of two models are equal");
  sn_state_free(&a);
  CHECK(!a, "free leaves a pointer");
  sn_state_free(&a);
  sn_state_free(&b);
  sn_state_free(&c);
  sn_model_free(&m);
  sn_model_free(&other);
}

/* Whoever changes q, qd or t gets the motion that starts from there. */
TEST(a_changed_state_starts_afresh) {
  sn_model *m = mechanism(3);
  const int nv = sn_model_dof_count(m);
  for (int which = 0; which < 2; which++) {
    const sn_options o = options_of(which);
    sn_sim *sim = test_sim(m, &o);
    sn_state *walked = test_state(m), *fresh = test_state(m);
    steps(sim, walked, 13, NULL);
    sn_state *elsewhere = random_tree_state(m, 77);
    memcpy(sn_state_q(walked), sn_state_q(elsewhere), (size_t)nv * sizeof(double));
    memcpy(sn_state_qd(walked), sn_state_qd(elsewhere), (size_t)nv * sizeof(double));
    *sn_state_time(walked) = 2;
    memcpy(sn_state_q(fresh), sn_state_q(elsewhere), (size_t)nv * sizeof(double));
    memcpy(sn_state_qd(fresh), sn_state_qd(elsewhere), (size_t)nv * sizeof(double));
    *sn_state_time(fresh) = 2;
    steps(sim, walked, 10, NULL);
    steps(sim, fresh, 10, NULL);
    CHECK(*sn_state_time(walked) == *sn_state_time(fresh), "times differ");
    CHECK(memcmp(sn_state_q(walked), sn_state_q(fresh), (size_t)nv * sizeof(double)) == 0 &&
              memcmp(sn_state_qd(walked), sn_state_qd(fresh), (size_t)nv * sizeof(double)) == 0,
          "%s remembers what was before", which ? "rk4" : "dopri5");
    sn_state_free(&walked);
    sn_state_free(&fresh);
    sn_state_free(&elsewhere);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

/* Any state can be handed from one integrator to the other. */
TEST(integrators_take_over_from_each_other) {
  sn_model *m = mechanism(4);
  const sn_options d = options_of(0), r = options_of(1);
  sn_sim *dopri5 = test_sim(m, &d), *rk4 = test_sim(m, &r);
  sn_state *s = test_state(m), *fresh = test_state(m);
  const int nv = sn_model_dof_count(m);
  steps(dopri5, s, 5, NULL);
  steps(rk4, s, 5, NULL);
  memcpy(sn_state_q(fresh), sn_state_q(s), (size_t)nv * sizeof(double));
  memcpy(sn_state_qd(fresh), sn_state_qd(s), (size_t)nv * sizeof(double));
  *sn_state_time(fresh) = *sn_state_time(s);
  test_step(dopri5, s, NULL);
  test_step(dopri5, fresh, NULL);
  CHECK(largest_difference(sn_state_q(s), sn_state_q(fresh), nv) < 1e-14, "rk4's steps were lost");
  sn_state_free(&s);
  sn_state_free(&fresh);
  sn_sim_free(&dopri5);
  sn_sim_free(&rk4);
  sn_model_free(&m);
}

TEST(time_does_not_drift) {
  sn_body_def def = test_link("a", "world", "revolute");
  sn_model *m = test_finish(test_builder(&def));
  sn_options o = options_of(1);
  o.step = 0.1;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  steps(sim, s, 1000, NULL);
  CHECK(*sn_state_time(s) == 1000 * 0.1, "t = %.17g", *sn_state_time(s));
  /* another step size starts to count where the state is */
  CHECK(sn_sim_set(sim, "run.step", 0.25, NULL) == SN_OK, "no step");
  steps(sim, s, 4, NULL);
  CHECK(*sn_state_time(s) == 1000 * 0.1 + 1, "t = %.17g", *sn_state_time(s));
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(states_of_another_model_are_refused) {
  sn_model *m = mechanism(1), *other = mechanism(2);
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(other), *before = NULL;
  sn_state_clone(s, &before);
  double x[64] = {0};
  sn_vec6 w[64];
  sn_energy energy;
  sn_error err;
  CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_E_MISMATCH, "step");
  CHECK(strcmp(err.text, "the state belongs to another model") == 0, "'%s'", err.text);
  CHECK(sn_sim_forward(sim, s, NULL, x, &err) == SN_E_MISMATCH, "forward");
  CHECK(sn_sim_inverse(sim, s, NULL, x, x, NULL, &err) == SN_E_MISMATCH, "inverse");
  CHECK(sn_sim_poses(sim, s, NULL, NULL) == SN_E_MISMATCH, "poses");
  CHECK(sn_sim_J_mul(sim, s, x, w) == SN_E_MISMATCH, "J");
  CHECK(sn_sim_energy(sim, s, &energy) == SN_E_MISMATCH, "energy");
  CHECK(sn_sim_channels(sim, s, NULL, (int[]){0}, 1, x, NULL) == SN_E_MISMATCH, "channels");
  CHECK(sn_state_equal(s, before), "the state was touched");
  sn_state_free(&s);
  sn_state_free(&before);
  sn_sim_free(&sim);
  sn_model_free(&m);
  sn_model_free(&other);
}

/* ---- files ---- */

static void write_bytes(const char *path, const void *data, size_t n) {
  FILE *f = fopen(path, "wb");
  CHECK(f && fwrite(data, 1, n, f) == n && fclose(f) == 0, "cannot write %s", path);
}

static char *read_bytes(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  CHECK(f, "cannot read %s", path);
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  char *data = malloc(*n + 1);
  CHECK(fread(data, 1, *n, f) == *n, "cannot read %s", path);
  fclose(f);
  return data;
}

static void expect_refusal(const sn_model *m, const char *path, sn_status status,
                           const char *text) {
  sn_state *s = (sn_state *)1;
  sn_error err = {0};
  const sn_status got = sn_state_load(m, path, &s, &err);
  CHECK(got == status && !s, "status %d, '%s'", got, err.text);
  char whole[800];
  snprintf(whole, sizeof whole, text, path);
  CHECK(strcmp(err.text, whole) == 0, "'%s', not '%s'", err.text, whole);
}

TEST(files_that_are_no_states_are_refused) {
  sn_model *m = mechanism(1), *other = mechanism(2);
  sn_state *s = random_tree_state(m, 1);
  char path[300];
  file_of(path, sizeof path, "damaged");
  sn_error err;
  size_t n;
  remove(path);
  expect_refusal(m, path, SN_E_FILE, "cannot read '%s': No such file or directory");
  CHECK(sn_state_save(s, path, &err) == SN_OK, "%s", err.text);
  char *good = read_bytes(path, &n), *bad = malloc(n + 1);

  expect_refusal(
      other, path, SN_E_MISMATCH,
      "'%s' was saved from another model (its bodies, joints or constraints differ): load it with the "
      "scene that it came from");
  write_bytes(path, "", 0);
  expect_refusal(m, path, SN_E_FILE, "'%s': this is not a state file of Sinew");
  write_bytes(path, "bodies: {}\n", 11);
  expect_refusal(m, path, SN_E_FILE, "'%s': this is not a state file of Sinew");
  /* every way of being cut short */
  for (size_t k = 1; k < n; k += 97) {
    write_bytes(path, good, k);
    expect_refusal(m, path, SN_E_FILE,
                   k < sizeof(sn_state) ? "'%s': this is not a state file of Sinew"
                                        : "'%s' is damaged: save it again");
  }
  /* any one byte changed */
  for (size_t k = 0; k < n; k += k < sizeof(sn_state) ? 1 : 53) {
    memcpy(bad, good, n);
    bad[k] ^= 0x10;
    write_bytes(path, bad, n);
    sn_state *loaded = NULL;
    CHECK(sn_state_load(m, path, &loaded, &err) < 0 && !loaded, "byte %zu is not missed", k);
  }
  memcpy(bad, good, n);
  bad[n] = 0;
  write_bytes(path, bad, n + 1);
  expect_refusal(m, path, SN_E_FILE, "'%s' is damaged: save it again");
  remove(path);
  CHECK(sn_state_save(s, "/no/such/folder/x", &err) == SN_E_FILE &&
            strcmp(err.text, "cannot write '/no/such/folder/x': No such file or directory") == 0,
        "'%s'", err.text);
  free(good);
  free(bad);
  sn_state_free(&s);
  sn_model_free(&m);
  sn_model_free(&other);
}

int main(void) {
  RUN_TESTS(T(resume_is_bit_for_bit), T(resume_with_input_is_bit_for_bit),
            T(the_same_bits_every_time), T(copies_compare_and_hash),
            T(a_changed_state_starts_afresh), T(integrators_take_over_from_each_other),
            T(time_does_not_drift), T(states_of_another_model_are_refused),
            T(files_that_are_no_states_are_refused));
}
