/* Islands that rest: they sleep, wake when they should and not otherwise, and all of it is in the
 * state. */
#include "stage.h"

static double *q_of(const stage *b, const char *body) {
  return sn_state_q(b->s) + sn_model_joint_first(b->m, sn_model_body_find(b->m, body));
}
static double *qd_of(const stage *b, const char *body) {
  return sn_state_qd(b->s) + sn_model_joint_first(b->m, sn_model_body_find(b->m, body));
}

/* Two boxes, one on the other, another one far away, and a ball that rolls towards the two. */
static stage sleepers(void) {
  sn_options o = redmax_options(0.01);
  o.redmax.contact.sleep = 0.3;
  return stage_set(
      "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
      "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
      "  low: {parent: world, joint: {type: free, at: [0, 0, 0.1]},\n"
      "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}]}\n"
      "  high: {parent: world, joint: {type: free, at: [0, 0, 0.3]},\n"
      "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}]}\n"
      "  apart: {parent: world, joint: {type: free, at: [0, 3, 0.1]},\n"
      "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}]}\n"
      "  ball: {parent: world, joint: {type: free, at: [-3, 0, 0.1]},\n"
      "    shapes: [{type: sphere, radius: 0.1, density: 1000, contact: m}]}\n"
      "initial: {ball: {qd: [2, 0, 0, 0, 20, 0]}}\n",
      o);
}

static bool moves(const stage *b, const char *body) {
  double sum = 0;
  for (int c = 0; c < 6; c++) {
    sum += fabs(qd_of(b, body)[c]);
  }
  return sum > 0;
}

TEST(what_rests_sleeps_until_something_wakes_it) {
  stage b = sleepers();
  stage_step(&b, 60);
  CHECK(!moves(&b, "low") && !moves(&b, "high") && !moves(&b, "apart"), "does not sleep");
  CHECK(moves(&b, "ball"), "the ball sleeps on its way");
  double before[6];
  memcpy(before, q_of(&b, "high"), sizeof before);
  stage_step(&b, 40);
  CHECK(memcmp(before, q_of(&b, "high"), sizeof before) == 0, "moves in its sleep");
  stage_step(&b, 60); /* the ball arrives after 1.4 s */
  CHECK(moves(&b, "low") && moves(&b, "high"), "sleeps on although it is hit");
  CHECK(!moves(&b, "apart"), "wakes by what happens elsewhere");
  stage_clear(&b);
}

TEST(pushing_setting_in_motion_and_parameters_wake) {
  for (int k = 0; k < 4; k++) {
    stage b = sleepers();
    stage_step(&b, 60);
    const int body = sn_model_body_find(b.m, "apart");
    sn_vec6 wrench[8];
    memset(wrench, 0, sizeof wrench);
    sn_input input = {.wrench = wrench};
    if (k == 0) {
      wrench[body].v.x = 200;
    } else if (k == 1) {
      qd_of(&b, "apart")[0] = 0.5;
    } else if (k == 2) {
      CHECK(sn_sim_set(b.sim, "gravity[0]", 8, NULL) == SN_OK, "no gravity");
    } else {
      const sn_grab_def grab = {
          .body = body, .target = {1, 3, 0.3}, .stiffness = -1, .damping = -1};
      CHECK(sn_sim_grab(b.sim, b.s, &grab, NULL) == SN_OK, "not grabbed");
    }
    for (int n = 0; n < 5; n++) {
      test_step(b.sim, b.s, &input);
    }
    CHECK(fabs(qd_of(&b, "apart")[0]) > 1e-3, "%d does not wake it", k);
    stage_clear(&b);
  }
}

TEST(sleep_is_in_the_state) {
  stage b = sleepers(), again = sleepers();
  stage_step(&b, 80); /* they sleep, and the ball is on its way */
  sn_state *middle = NULL;
  CHECK(sn_state_clone(b.s, &middle) == SN_OK, "no memory");
  stage_step(&b, 120);
  stage_step(&again, 7);
  CHECK(sn_state_copy(again.s, middle) == SN_OK, "another model");
  stage_step(&again, 120);
  CHECK(sn_state_equal(again.s, b.s), "not the same bits");
  sn_state_free(&middle);
  stage_clear(&again);
  stage_clear(&b);
}

/* At their turning points they are slow for longer than it takes to fall asleep. */
TEST(what_nothing_bears_does_not_sleep) {
  sn_options o = redmax_options(0.01);
  o.redmax.contact.sleep = 0.02;
  stage b = stage_set(
      "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
      "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
      "  thrown: {parent: world, joint: {type: free, at: [0, 0, 5]},\n"
      "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 500, contact: m}]}\n"
      "  swing: {parent: world, joint: {type: revolute, axis: [0, 1, 0], at: [3, 0, 2]},\n"
      "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, -1], radius: 0.05, density: 500,\n"
      "              contact: m}]}\n"
      "initial: {thrown: {qd: [0, 0, 1, 0, 0, 0]}, swing: {q: 0.02}}\n",
      o);
  for (int k = 0; k < 90; k++) {
    stage_step(&b, 1);
    CHECK(moves(&b, "thrown"), "sleeps in the air after %d steps", k + 1);
    CHECK(qd_of(&b, "swing")[0] != 0, "hangs askew after %d steps, at %g", k + 1,
          q_of(&b, "swing")[0]);
  }
  stage_clear(&b);
}

/* A ball on a spring is slow where it turns round; so is what lies on a platform that moves slower
 * than gravity does in a step, there and back; and a rod that stands on its tip falls. */
TEST(what_is_on_its_way_slowly_does_not_sleep) {
  sn_options o = redmax_options(0.01);
  o.redmax.contact.sleep = 0.4;
  stage b = stage_set(
      "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
      "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
      "  hung: {parent: world, joint: {type: free, at: [0, 0, 1]},\n"
      "    shapes: [{type: sphere, radius: 0.1, density: 500, contact: m}]}\n"
      "  platform: {parent: world, joint: {type: prismatic, axis: [1, 0, 0], at: [0, 3, 0.5]},\n"
      "    shapes: [{type: box, size: [1, 1, 0.1], density: 500, contact: m}]}\n"
      "  rider: {parent: world, joint: {type: free, at: [0, 3, 0.65]},\n"
      "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 500, contact: m}]}\n"
      "  upper: {parent: world, joint: {type: free, at: [0, 3, 0.85]},\n"
      "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 500, contact: m}]}\n"
      "  rod: {parent: world, joint: {type: free, at: [5, 0, 0.5]},\n"
      "    shapes: [{type: capsule, from: [0, 0, -0.45], to: [0, 0, 0.45], radius: 0.05,\n"
      "              density: 500, contact: m}]}\n"
      "forces:\n"
      "  s: {type: spring, stiffness: 40, rest_length: 0.5, a: {body: world, at: [0, 0, 2]},\n"
      "      b: {body: hung, at: [0, 0, 0]}}\n"
      "motions: {go: {joint: platform, q: '0.05*sin(t)'}}\n"
      "initial: {rod: {qd: [0, 0, 0, 0.1, 0, 0]}}\n",
      o);
  for (int k = 0; k < 600; k++) {
    stage_step(&b, 1);
    CHECK(moves(&b, "hung"), "the ball sleeps on its spring after %d steps", k + 1);
    CHECK(moves(&b, "rider") && moves(&b, "upper"), "sleeps on a platform after %d steps", k + 1);
    CHECK(moves(&b, "rod") || fabs(q_of(&b, "rod")[2]) > 0.3, "stands after %d steps", k + 1);
  }
  const double x = q_of(&b, "platform")[0];
  CHECK(fabs(q_of(&b, "rider")[0] - x) < 1e-3 && fabs(q_of(&b, "upper")[0] - x) < 1e-3,
        "left behind: %g, %g and %g", x, q_of(&b, "rider")[0], q_of(&b, "upper")[0]);
  stage_clear(&b);
}

/* What somebody puts elsewhere falls from there, and so does what lay on it. */
TEST(what_is_put_elsewhere_wakes) {
  for (int k = 0; k < 2; k++) {
    stage b = sleepers();
    stage_step(&b, 60);
    CHECK(!moves(&b, "low") && !moves(&b, "high"), "does not sleep");
    q_of(&b, k == 0 ? "high" : "low")[k == 0 ? 2 : 1] += 1;
    stage_step(&b, 20);
    CHECK(q_of(&b, "high")[2] < (k == 0 ? 0.9 : -0.1), "%d: stays in the air, at %g", k,
          q_of(&b, "high")[2]);
    CHECK(!moves(&b, "apart"), "%d: wakes by what happens elsewhere", k);
    stage_clear(&b);
  }
}

/* From files, at any step: while things fall asleep, sleep, and are woken. */
TEST(runs_go_on_from_any_step_of_sleep) {
  stage b = sleepers(), again = sleepers();
  sn_state *keep[16] = {NULL};
  for (int k = 0; k < 16; k++) {
    CHECK(sn_state_clone(b.s, &keep[k]) == SN_OK, "no memory");
    stage_step(&b, 11);
  }
  for (int k = 0; k < 16; k++) {
    CHECK(sn_state_copy(again.s, keep[k]) == SN_OK, "another model");
    stage_step(&again, 11);
    CHECK(sn_state_equal(again.s, k < 15 ? keep[k + 1] : b.s), "other bits from step %d on",
          11 * k);
  }
  for (int k = 0; k < 16; k++) {
    sn_state_free(&keep[k]);
  }
  stage_clear(&again);
  stage_clear(&b);
}

int main(void) {
  RUN_TESTS(T(what_is_on_its_way_slowly_does_not_sleep), T(what_is_put_elsewhere_wakes),
            T(runs_go_on_from_any_step_of_sleep), T(what_rests_sleeps_until_something_wakes_it),
            T(pushing_setting_in_motion_and_parameters_wake), T(sleep_is_in_the_state),
            T(what_nothing_bears_does_not_sleep));
}
