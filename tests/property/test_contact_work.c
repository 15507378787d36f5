/* What contact and friction do in whole runs of the scenes that come with it: neither ever does
 * work on what it touches, and friction is within its cone; and blows with friction gain nothing.
 */
#include "redmax.h"
#include "stage.h"
#include "trees.h"

#include "methods/redmax/redmax.h"

enum { THROWS = 300 };

static const sni_touch *touch_of(const stage *b) {
  return ((const sni_redmax *)b->sim->method_work)->touch;
}

/* |x_t| <= mu x_n, of the last solve. */
static double out_of_cone(const sni_touch *touch) {
  double most = 0;
  for (int k = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    const sni_group *g = &touch->st.group[k];
    const double limit = touch->group[k].material.friction * g->x[0];
    const double length = g->nrow >= 3 ? hypot(g->x[1], g->x[2]) : 0;
    most = fmax(most, limit > 0 ? length / limit - 1 : length > 0);
  }
  return most;
}

static stage load(const char *name, double h) {
  char path[512];
  stage b = {0};
  sn_error err = {0};
  snprintf(path, sizeof path, SINEW_SOURCE_DIR "/scenes/contact/%s.yaml", name);
  CHECK(sn_model_load(path, &b.m, &err) == SN_OK, "%s: %s", path, err.text);
  sn_options o = redmax_options(h);
  o.redmax.contact.tolerance = 1e-11;
  o.redmax.contact.max_iterations = 1000;
  b.sim = test_sim(b.m, &o);
  b.s = test_state(b.m);
  CHECK(sn_sim_assemble(b.sim, b.s, &err) == SN_OK, "%s: %s", name, err.text);
  return b;
}

TEST(contact_does_no_work_in_scenes) {
  static const struct {
    const char *name;
    double h, seconds;
  } run[] = {{"ramp", 0.01, 2},
             {"stack", 0.01, 1},
             {"gripper", 0.005, 1},
             {"dominoes", 0.005, 0.8},
             {"heap", 0.005, 0.5}};
  for (int k = 0; k < SNI_COUNT(run); k++) {
    double most[2] = {0}, cone = 0, moved = 0, done[2] = {0};
    stage b = load(run[k].name, run[k].h);
    for (int i = 0; i < run[k].seconds / run[k].h; i++) {
      stage_step(&b, 1);
      sn_energy e;
      sn_sim_energy(b.sim, b.s, &e);
      moved = fmax(moved, e.kinetic);
      for (int j = 0; j < 2; j++) {
        most[j] = fmax(most[j], touch_of(&b)->work[j]);
        done[j] += touch_of(&b)->work[j];
      }
      cone = fmax(cone, out_of_cone(touch_of(&b)));
    }
    const double rounding = 1e-9 * (moved + 1e-3);
    CHECK(most[0] <= rounding && most[1] <= rounding, "%s: normals bring %g J, friction %g, of %g",
          run[k].name, most[0], most[1], moved);
    CHECK(cone <= 1e-9, "%s: friction is out of its cone by %g", run[k].name, cone);
    CHECK(done[0] <= rounding && done[1] <= 10 * rounding, "%s: %g and %g J in all", run[k].name,
          done[0], done[1]);
    stage_clear(&b);
  }
}

/* ---- blows ---- */

static const char *const thrown[] = {
    "{type: box, size: [0.1, 0.2, 0.4], density: 500, contact: m}",
    "{type: capsule, from: [0, 0, -0.2], to: [0, 0, 0.2], radius: 0.03, density: 500, contact: m}",
    ("{type: cylinder, from: [0, 0, -0.02], to: [0, 0, 0.02], radius: 0.1, density: 500, "
     "contact: m}"),
    "{type: sphere, radius: 0.1, density: 500, contact: m}",
    "{type: ellipsoid, radii: [0.05, 0.1, 0.2], density: 500, contact: m}"};

/* Three bodies that spin, thrown into a corner and at each other, with restitution and friction at
 * once. */
static stage throw_bodies(int k, double gravity, sn_options o) {
  uint64_t seed = (uint64_t)k + 4711;
  char text[4000];
  int n = snprintf(text, sizeof text,
                   "sinew: 1\ngravity: [0, 0, %g]\ncontacts: {m: {friction: %.3g, restitution: "
                   "%.3g}}\nbodies:\n  floor: {joint: {type: fixed}, shapes: [{type: plane, "
                   "contact: m}]}\n  wall: {joint: {type: fixed, at: {pos: [1, 0, 0], rotvec: [0, "
                   "-1.5707963267948966, 0]}}, shapes: [{type: plane, contact: m}]}\n",
                   -gravity, test_random(&seed, 0, 1), k % 4 == 0 ? 1 : test_random(&seed, 0.5, 1));
  for (int i = 0; i < 3; i++) {
    const sn_vec3 turn = random_vec3(&seed, 2);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  b%d: {joint: {type: free, at: {pos: [%g, 0, 0.5], rotvec: [%g, %g, %g]}}, "
                  "shapes: [%s]}\n",
                  i, -0.5 * i, turn.x, turn.y, turn.z,
                  thrown[test_random_u64(&seed) % SNI_COUNT(thrown)]);
  }
  o.step = k % 2 ? 0.01 : 0.002;
  stage b = stage_set(text, o);
  for (int i = 0; i < 18; i++) {
    sn_state_qd(b.s)[i] = test_random(&seed, -1, 1) * (i % 6 < 3 ? 3 : 10);
  }
  return b;
}

/* Without gravity, no step has more kinetic energy than the one before. */
TEST(blows_with_friction_gain_nothing) {
  for (int k = 0; k < THROWS; k++) {
    stage b = throw_bodies(k, 0, redmax_options(0.01));
    double before = stage_energy(&b), start = before;
    for (int i = 0; i < 100; i++) {
      stage_step(&b, 1);
      const double now = stage_energy(&b);
      CHECK(now <= before + 1e-9 * start, "throw %d, step %d: of %g J gains %g", k, i, start,
            now - before);
      before = now;
    }
    stage_clear(&b);
  }
}

/* With it they come to lie, and roll and rock: there a step, which goes straight where they go
 * round, lifts them by h^2 w^2 r / 2, and what is in something is lifted out; but impulses still do
 * no work. */
TEST(impulses_do_no_work_under_gravity) {
  sn_options o = redmax_options(0.01);
  o.redmax.contact.tolerance = 1e-11;
  o.redmax.contact.max_iterations = 1000;
  for (int k = 0; k < THROWS; k++) {
    stage b = throw_bodies(k, 9.81, o);
    const double start = stage_energy(&b);
    for (int i = 0; i < 150; i++) {
      stage_step(&b, 1);
      const double *work = touch_of(&b)->work;
      CHECK(work[0] <= 1e-9 * start && work[1] <= 1e-9 * start,
            "throw %d, step %d: normals bring %g J, friction %g, of %g", k, i, work[0], work[1],
            start);
    }
    stage_clear(&b);
  }
}

/* What a scene may not say, a run may not be told either. */
TEST(restitution_is_at_most_one) {
  stage b = load("ramp", 0.01);
  sn_error err = {0};
  CHECK(sn_sim_set(b.sim, "contacts.steel.restitution", 1.01, &err) == SN_E_VALUE, "%s", err.text);
  CHECK(strstr(err.text, "needs 0 to 1"), "%s", err.text);
  CHECK(sn_sim_set(b.sim, "contacts.steel.restitution", -0.1, &err) == SN_E_VALUE, "%s", err.text);
  CHECK(sn_sim_set(b.sim, "contacts.steel.restitution", 1, &err) == SN_OK, "%s", err.text);
  stage_clear(&b);
}

int main(void) {
  RUN_TESTS(T(restitution_is_at_most_one), T(contact_does_no_work_in_scenes),
            T(blows_with_friction_gain_nothing), T(impulses_do_no_work_under_gravity));
}
