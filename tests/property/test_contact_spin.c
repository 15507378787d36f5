/* Bodies that turn while they meet others, on floors and walls of every kind: spin neither lets
 * them pass nor is it lost in blows without friction. */
#include "stage.h"
#include "trees.h"

static const char *const floors[] = {
    "{type: plane, contact: m}", "{type: box, size: [40, 40, 0.2], at: [0, 0, -0.1], contact: m}",
    "{type: convex, file: block.obj, scale: 10, at: [-5, -10, -30], contact: m}",
    "{type: mesh, file: block.obj, scale: 10, at: [-5, -10, -30], contact: m}",
    "{type: mesh, file: sheet.obj, contact: m}"};

static sn_vec3 omega_of(const stage *b, int body) {
  sn_vec6 phi[4];
  sn_se3 E[4];
  CHECK(sn_model_body_count(b->m) <= 4, "too many bodies");
  CHECK(sn_sim_poses(b->sim, b->s, E, phi) == SN_OK, "no poses");
  return phi[body].w;
}

/* A ball that falls while it spins bounces as one that does not, and spins on. */
TEST(balls_keep_their_spin) {
  const double fall = 0.5, e = 0.8, v = sqrt(2 * 9.81 * fall);
  double first = 0;
  for (int k = 0; k < SNI_COUNT(floors); k++) {
    for (int spin = 0; spin < 3; spin++) {
      const double w = (const double[]){0, 20, 200}[spin];
      char text[1000];
      snprintf(text, sizeof text,
               "sinew: 1\ncontacts: {m: {friction: 0, restitution: %g}}\nbodies:\n"
               "  floor: {parent: world, joint: {type: fixed}, shapes: [%s]}\n"
               "  ball: {parent: world, joint: {type: free, at: [0.03, 0.01, %g]},\n"
               "         shapes: [{type: sphere, radius: 0.1, density: 1000, contact: m}]}\n"
               "initial: {ball: {qd: [0, 0, 0, 0, %g, %g]}}\n",
               e, floors[k], 0.1 + fall, w, -0.3 * w);
      const double h = 0.01;
      stage b = stage_set_in(SINEW_SOURCE_DIR "/tests/data/meshes", text, redmax_options(h));
      const int ball = sn_model_body_find(b.m, "ball");
      const sn_vec3 before = omega_of(&b, ball);
      double up = 0;
      for (int i = 0; i < 60; i++) {
        test_step(b.sim, b.s, NULL);
        up = fmax(up, sn_state_qd(b.s)[sn_model_joint_first(b.m, ball) + 2]);
      }
      const sn_vec3 after = omega_of(&b, ball);
      CHECK(sn_vec3_norm(sn_vec3_sub(before, after)) <= 1e-11 * (1 + w),
            "floor %d, spin %g: turns by %g %g %g", k, w, after.x, after.y, after.z);
      /* the speed at which it comes down is known to one step of gravity, and so is that after it
       */
      CHECK(fabs(up - e * v) < 2 * 9.81 * h, "floor %d, spin %g: up at %g", k, w, up);
      first = k + spin > 0 ? first : up;
      CHECK(fabs(up - first) < 1e-9, "floor %d, spin %g: up at %g, not %g", k, w, up, first);
      stage_clear(&b);
    }
  }
}

/* Whatever is shot at a thin wall, at up to 50 m and ten radians a step, stays before it. */
TEST(nothing_that_spins_passes_a_wall) {
  static const char *const shapes[] = {
      "{type: sphere, radius: 0.02, density: 1000, contact: m}",
      "{type: capsule, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.02, density: 1000, contact: "
      "m}",
      "{type: capsule, from: [0, 0, 0], to: [0, 0, 0.2], radius: 0.02, density: 1000, contact: m}",
      "{type: cylinder, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.03, density: 1000, contact: "
      "m}",
      "{type: box, size: [0.05, 0.1, 0.2], density: 1000, contact: m}",
      "{type: ellipsoid, radii: [0.02, 0.05, 0.1], density: 1000, contact: m}"};
  int passed = 0, shots = 0;
  uint64_t seed = 5;
  for (int k = 0; k < 50 * SNI_COUNT(shapes); k++) {
    const double v = pow(10, test_random(&seed, 0, 4)), w = pow(10, test_random(&seed, 0, 3));
    const sn_vec3 axis = random_vec3(&seed, 1);
    const sn_vec3 spin = sn_vec3_scale(axis, w / sn_vec3_norm(axis));
    char text[1200];
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, 0]\ncontacts: {m: {friction: %g}}\nbodies:\n"
             "  wall: {parent: world, joint: {type: fixed, at: [3, 0, 0]},\n"
             "         shapes: [{type: box, size: [0.01, 400, 400], contact: m}]}\n"
             "  shot: {parent: world, joint: {type: free}, shapes: [%s]}\n"
             "initial: {shot: {qd: [%.17g, 0, 0, %.17g, %.17g, %.17g]}}\n",
             k % 2 ? 0.5 : 0.0, shapes[k / 50], v, spin.x, spin.y, spin.z);
    stage b = stage_set_in(NULL, text, redmax_options(0.01));
    const int q = sn_model_joint_first(b.m, sn_model_body_find(b.m, "shot"));
    double furthest = 0;
    for (int i = 0; i < 40 + (int)(300 / v); i++) {
      test_step(b.sim, b.s, NULL);
      furthest = fmax(furthest, sn_state_q(b.s)[q]);
    }
    shots++;
    passed += furthest > 3;
    if (furthest > 3) {
      print_message("%s at %g m/s, %g rad/s: its centre came to %g\n", shapes[k / 50], v, w,
                    furthest);
    }
    stage_clear(&b);
  }
  CHECK(passed == 0, "%d of %d shots passed", passed, shots);
}

/* What is thrown at the ground and spins is never far in it, and has no energy from there. */
TEST(what_falls_and_spins_stays_above) {
  static const char *const shapes[] = {
      "{type: sphere, radius: 0.1, density: 500, contact: m}",
      "{type: capsule, from: [0, 0, -0.15], to: [0, 0, 0.15], radius: 0.05, density: 500, contact: "
      "m}",
      "{type: cylinder, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.1, density: 500, contact: "
      "m}",
      "{type: box, size: [0.2, 0.3, 0.1], density: 500, contact: m}",
      "{type: ellipsoid, radii: [0.1, 0.15, 0.07], density: 500, contact: m}"};
  for (int k = 0; k < 10 * SNI_COUNT(floors) * SNI_COUNT(shapes); k++) {
    uint64_t seed = (uint64_t)k + 77;
    const char *floor = floors[k / 10 % SNI_COUNT(floors)],
               *shape = shapes[k / 10 / SNI_COUNT(floors)];
    const sn_vec3 turn = random_vec3(&seed, 2), v = random_vec3(&seed, 1);
    const sn_vec3 w = random_vec3(&seed, 30);
    const double down = test_random(&seed, 0, 20);
    char text[1200];
    snprintf(
        text, sizeof text,
        "sinew: 1\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
        "  floor: {parent: world, joint: {type: fixed}, shapes: [%s]}\n"
        "  it: {parent: world, joint: {type: free, at: {pos: [0, 0, 0.8], rotvec: [%.17g, %.17g, "
        "%.17g]}},\n       shapes: [%s]}\n"
        "initial: {it: {qd: [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g]}}\n",
        floor, turn.x, turn.y, turn.z, shape, v.x, v.y, 0.1 * v.z, w.x, w.y, w.z);
    stage b = stage_set_in(SINEW_SOURCE_DIR "/tests/data/meshes", text, redmax_options(0.01));
    const sn_vec3 fall = sn_mat3_tmul_vec(sn_so3_exp(turn), (sn_vec3){0, 0, -down});
    double *qd = sn_state_qd(b.s) + sn_model_joint_first(b.m, sn_model_body_find(b.m, "it"));
    qd[0] += fall.x;
    qd[1] += fall.y;
    qd[2] += fall.z;
    double deepest = 0, rise = 0, before = stage_energy(&b);
    const double start = before;
    for (int i = 0; i < 100; i++) {
      const sn_info info = redmax_step(b.sim, b.s, NULL);
      const double now = stage_energy(&b);
      deepest = fmax(deepest, info.deepest);
      rise = fmax(rise, now - before);
      before = now;
    }
    CHECK(deepest < 0.02, "%s on %s: %g deep", shape, floor, deepest);
    CHECK(rise < 1e-3 * start, "%s on %s: energy of %g rises by %g", shape, floor, start, rise);
    stage_clear(&b);
  }
}

/* What rubs while a round body comes down has the body's radius for an arm, however far it was from
 * the floor when the step began: the spin that it gets is  r m dv / I. */
TEST(blows_rub_with_the_arm_of_the_surface) {
  uint64_t seed = 3;
  for (int k = 0; k < 12 * SNI_COUNT(floors); k++) {
    const double r = pow(10, test_random(&seed, -2.5, -1)), h = 0.01;
    const double down = pow(10, test_random(&seed, -1, 1.5)), spin = test_random(&seed, -30, 30);
    const char *body =
        k % 2 ? "type: capsule, from: [0, -0.1, 0], to: [0, 0.1, 0]" : "type: sphere";
    char text[1000];
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, 0]\ncontacts: {m: {friction: 0.9, restitution: %g}}\n"
             "bodies:\n  floor: {parent: world, joint: {type: fixed}, shapes: [%s]}\n"
             "  it: {parent: world, joint: {type: free, at: [0.03, 0.01, %.17g]},\n"
             "       inertia: {mass: 2, xx: 0.1, yy: %.17g, zz: 0.1},\n"
             "       shapes: [{%s, radius: %.17g, contact: m}]}\n"
             "initial: {it: {qd: [%.17g, 0, %.17g, 0, %.17g, 0]}}\n",
             k % 3 ? 0.5 : 0.0, floors[k / 12], r + down * h * test_random(&seed, 1, 2),
             0.8 * r * r, body, r, test_random(&seed, -3, 3), -down, spin);
    stage b = stage_set_in(SINEW_SOURCE_DIR "/tests/data/meshes", text, redmax_options(h));
    const double *qd = sn_state_qd(b.s) + sn_model_joint_first(b.m, sn_model_body_find(b.m, "it"));
    const double vx = qd[0];
    for (int i = 0; i < 4; i++) {
      test_step(b.sim, b.s, NULL);
    }
    const int it = sn_model_body_find(b.m, "it");
    sn_vec6 phi[4];
    sn_se3 E[4];
    CHECK(sn_sim_poses(b.sim, b.s, E, phi) == SN_OK, "no poses");
    const double dv = sn_mat3_mul_vec(E[it].R, phi[it].v).x - vx;
    const double got = 0.8 * r * r * (phi[it].w.y - spin);
    CHECK(fabs(dv) > 1e-6, "scene %d: nothing rubs", k);
    /* meshes of 30 m are known to 1e-9 of their sizes, and balls are as small as 3 mm */
    CHECK(fabs(got + r * 2 * dv) <= 1e-5 * fabs(r * 2 * dv),
          "scene %d, r %g, %g m/s down on %s: arm of %g r", k, r, down, floors[k / 12],
          -got / (r * 2 * dv));
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(balls_keep_their_spin), T(blows_rub_with_the_arm_of_the_surface),
            T(nothing_that_spins_passes_a_wall), T(what_falls_and_spins_stays_above));
}
