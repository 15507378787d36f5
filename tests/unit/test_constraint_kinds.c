/* What constraints do to a motion: known motions, energy, switching on and off, by the method
 * recursive and by redmax, and the forces of what is prescribed. */
#include "trees.h"
#include "stage.h"

static stage open(const char *text, double step) {
  return stage_set(text, stage_exact(step));
}

static double *q_of(const stage *b, const char *body) {
  return sn_state_q(b->s) + sn_model_joint_first(b->m, sn_model_body_find(b->m, body));
}

static sn_vec3 place_of(const stage *b, const char *body, sn_vec3 at) {
  sn_se3 E[16];
  sn_sim_poses(b->sim, b->s, E, NULL);
  return sn_se3_point(E[sn_model_body_find(b->m, body)], at);
}

#define RODS                                                                                       \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  one:\n"                                                                                       \
  "    joint: {type: revolute, axis: [0, 1, 0]}\n"                                                 \
  "    shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 1000}]\n"               \
  "  two:\n"                                                                                       \
  "    joint: {type: revolute, axis: [0, 1, 0], at: [0, 1, 0]}\n"                                  \
  "    shapes: [{type: box, size: [1.5, 0.1, 0.1], at: [0.75, 0, 0], density: 1000}]\n"

TEST(distances_stay) {
  stage b = open(RODS "constraints:\n"
                      "  rod: {type: distance, a: {body: one, at: [1, 0, 0]}, b: {body: two, at: "
                      "[0.5, 0, 0]}}\n"
                      "initial: {two: {q: 0.4, qd: 1}}\n",
                 0.01);
  const sn_vec3 end[2] = {{1, 0, 0}, {0.5, 0, 0}};
  const double L =
      sn_vec3_norm(sn_vec3_sub(place_of(&b, "one", end[0]), place_of(&b, "two", end[1])));
  const double E = stage_energy(&b);
  for (int k = 0; k < 200; k++) {
    stage_step(&b, 1);
    const double now =
        sn_vec3_norm(sn_vec3_sub(place_of(&b, "one", end[0]), place_of(&b, "two", end[1])));
    CHECK(fabs(now - L) < 1e-9, "step %d: %g, not %g", k, now, L);
  }
  CHECK(fabs(stage_energy(&b) - E) < 1e-6, "energy changed by %g", stage_energy(&b) - E);
  stage_clear(&b);
}

/* Gears: J_1 q1'' + ... as one rod on the same shaft, with the ratio 2. */
TEST(gears_couple) {
  stage b = open(RODS "gravity: [0, 0, 0]\n"
                      "constraints:\n"
                      "  gear: {type: couple, terms: [{joint: one}, {joint: two, factor: 2}]}\n"
                      "forces:\n"
                      "  push: {type: joint_torque, joint: one, torque: 3}\n",
                 0.1);
  stage_step(&b, 10);
  /* q1 = -2 q2: (J1 + J2/4) q1'' = 3, with J = m (L^2 + w^2)/12 + m (L/2)^2 */
  const double m1 = 10, m2 = 15;
  const double J1 = m1 * (1 + 0.01) / 12 + m1 * 0.25;
  const double J2 = m2 * (2.25 + 0.01) / 12 + m2 * 0.5625;
  const double expected = 0.5 * 3 / (J1 + J2 / 4);
  CHECK(fabs(*q_of(&b, "one") - expected) < 1e-10, "%g, not %g", *q_of(&b, "one"), expected);
  CHECK(fabs(*q_of(&b, "two") + expected / 2) < 1e-10, "%g", *q_of(&b, "two"));
  stage_clear(&b);
}

/* On and off: two rods fall apart, are caught by a weld-like couple, and are let go. */
TEST(constraints_switch) {
  const char *text = RODS "constraints:\n"
                          "  pair: {type: couple, terms: [{joint: one}, {joint: two, factor: -1}], "
                          "active: \"t < 0.505 or t > 1.005\"}\n";
  const sn_options o[] = {stage_exact(0.01), redmax_options(0.01)};
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(text, o[k]);
    double apart[3];
    for (int part = 0; part < 3; part++) {
      stage_step(&b, 50);
      apart[part] = fabs(*q_of(&b, "one") - *q_of(&b, "two"));
    }
    CHECK(apart[0] < 1e-9, "held: %g apart", apart[0]);
    CHECK(apart[1] > 1e-2, "let go: only %g apart", apart[1]);
    CHECK(apart[2] < 1e-9, "caught: %g apart", apart[2]);
    stage_clear(&b);
  }
}

static sn_options of_method(const char *method, double step) {
  sn_options o = stage_exact(step);
  o.method = method;
  o.structured.precision = 1e-12;
  return o;
}

/* Where a gap is open when a constraint is switched on: sliders meet where their masses balance,
 * and so do their rates. */
TEST(what_is_switched_on_far_open_is_an_impact) {
  const char *text = "sinew: 1\n"
                     "gravity: [0, 0, 0]\n"
                     "bodies:\n"
                     "  one: {joint: {type: prismatic, axis: [1, 0, 0]}, inertia: {mass: 1, xx: 1, "
                     "yy: 1, zz: 1}}\n"
                     "  two: {joint: {type: prismatic, axis: [1, 0, 0]}, inertia: {mass: 3, xx: 1, "
                     "yy: 1, zz: 1}}\n"
                     "constraints:\n"
                     "  pair:\n"
                     "    type: couple\n"
                     "    terms: [{joint: one}, {joint: two, factor: -1}]\n"
                     "    active: \"t > 0.095\"\n"
                     "initial: {one: {q: 0.2, qd: 1}, two: {q: 1.2, qd: -0.5}}\n";
  const double rate = (1 - 3 * 0.5) / 4, place = (0.2 + 3 * 1.2) / 4 + 0.2 * rate;
  static const char *const method[] = {"recursive", "redmax", "structured"};
  for (int k = 0; k < 3; k++) {
    stage b = stage_set(text, of_method(method[k], 0.01));
    stage_step(&b, 20);
    for (int j = 0; j < 2; j++) {
      const double q = sn_state_q(b.s)[j] - place, qd = sn_state_qd(b.s)[j] - rate;
      CHECK(fabs(q) < 1e-9 && fabs(qd) < 1e-9, "%s: q%d is off by %g, qd by %g", method[k], j, q,
            qd);
    }
    stage_clear(&b);
  }
}

/* All methods move the same to close it, and keep the rates of joints while they do. */
TEST(all_methods_close_alike_what_is_switched_on) {
  const char *text =
      "sinew: 1\n"
      "gravity: [0, 0, 0]\n"
      "bodies:\n"
      "  a:\n"
      "    joint: {type: revolute, axis: [0, 1, 0]}\n"
      "    inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}\n"
      "  b:\n"
      "    parent: a\n"
      "    joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}\n"
      "    inertia: {mass: 2, at: [0.3, 0, 0.1], xx: 0.1, yy: 0.2, zz: 0.1}\n"
      "  c:\n"
      "    joint: {type: free, at: [1.5, 0, 1]}\n"
      "    inertia: {mass: 1.5, at: [0.1, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}\n"
      "constraints:\n"
      "  p: {type: point, a: {body: b, at: [0.8, 0, 0]}, b: {body: c}, active: \"t > 0.05\"}\n"
      "initial: {a: {q: 0.3, qd: 1}, b: {q: -1.2, qd: 0.5}, c: {qd: [0, 1, 0, 0.3, 0, -0.5]}}\n";
  stage exact = open(text, 0.002);
  stage_step(&exact, 50);
  static const char *const method[] = {"redmax", "structured"};
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(text, of_method(method[k], 0.0005));
    stage_step(&b, 200);
    for (int j = 0; j < sn_model_dof_count(b.m); j++) {
      const double q = sn_state_q(b.s)[j] - sn_state_q(exact.s)[j];
      const double qd = sn_state_qd(b.s)[j] - sn_state_qd(exact.s)[j];
      CHECK(fabs(q) < 1e-3 && fabs(qd) < 1e-3, "%s: q%d is off by %g, qd by %g", method[k], j, q,
            qd);
    }
    stage_clear(&b);
  }
  stage_clear(&exact);
}

/* A weld is as good as one body; a point as good as a ball joint. */
TEST(welds_and_points_are_joints) {
  const char *const form[2][2] = {
      {"    joint: {type: fixed, at: [1, 0, 0]}\n",
       "  c: {type: weld, a: {body: one, at: [1, 0, 0]}, b: {body: tip}}\n"},
      {"    joint: {type: spherical, at: [1, 0, 0]}\n",
       "  c: {type: point, a: {body: one, at: [1, 0, 0]}, b: {body: tip}}\n"}};
  for (int k = 0; k < 2; k++) {
    char text[2][2048];
    const char *tip =
        "    shapes: [{type: box, size: [0.2, 0.4, 0.6], at: [0.1, 0.2, 0], density: 1000}]\n";
    snprintf(text[0], sizeof text[0], RODS "  tip:\n    parent: one\n%s%s", form[k][0], tip);
    snprintf(text[1], sizeof text[1],
             RODS "  tip:\n    joint: {type: free}\n%sconstraints:\n%sinitial: {tip: {q: [1, 0, 0, "
                  "0, 0, 0]}}\n",
             tip, form[k][1]);
    stage a = open(text[0], 0.01), b = open(text[1], 0.01);
    const sn_vec3 corner = {0.2, 0.4, 0.3};
    for (int i = 0; i < 20; i++) {
      stage_step(&a, 5);
      stage_step(&b, 5);
      const double off =
          sn_vec3_norm(sn_vec3_sub(place_of(&a, "tip", corner), place_of(&b, "tip", corner)));
      CHECK(off < 1e-7, "%s, t = %g: %g apart", k ? "point" : "weld", 0.05 * (i + 1), off);
    }
    stage_clear(&a);
    stage_clear(&b);
  }
}

/* A ball runs down a slope: a = g sin(angle) / (1 + 2/5). */
TEST(balls_roll) {
  const char *text = "sinew: 1\n"
                     "bodies:\n"
                     "  ball:\n"
                     "    joint: {type: free, at: {pos: [0, 0, 0], rotvec: [0, 0.3, 0]}}\n"
                     "    shapes: [{type: sphere, radius: 0.5, density: 1000}]\n"
                     "constraints:\n"
                     "  slope: {type: roll, body: ball, radius: 0.5, on: {body: world, at: {pos: "
                     "[0, 0, 0], rotvec: [0, 0.3, 0]}}}\n"
                     "initial: {ball: {q: [0, 0, 0.5, 0, 0, 0]}}\n";
  const sn_options o[] = {stage_exact(0.01), redmax_options(0.001)};
  const double bound[] = {1e-9, 5e-3};
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(text, o[k]);
    stage_step(&b, k ? 1000 : 100);
    const double expected = 0.5 * 9.81 * sin(0.3) / 1.4, *q = q_of(&b, "ball");
    CHECK(fabs(q[0] - expected) < bound[k], "ran %g, not %g", q[0], expected);
    CHECK(fabs(q[2] - 0.5) < 1e-9, "left the slope by %g", q[2] - 0.5);
    CHECK(fabs(q[4] - q[0] / 0.5) < bound[k], "turned by %g, not %g", q[4], q[0] / 0.5);
    stage_clear(&b);
  }
}

/* A thin hoop rolls in a circle with its axis level: v = R w.  Its energy stays, and so does the
 * height of its lowest point. */
TEST(discs_roll) {
  stage b = open("sinew: 1\n"
                 "bodies:\n"
                 "  disc:\n"
                 "    joint: {type: free}\n"
                 "    shapes: [{type: cylinder, from: [0, -0.02, 0], to: [0, 0.02, 0], radius: "
                 "0.3, density: 1000}]\n"
                 "constraints:\n"
                 "  floor: {type: roll, body: disc, radius: 0.3, axis: [0, 1, 0]}\n"
                 "initial: {disc: {q: [0, 0, 0.3, 0.15, 0, 0], qd: [0.9, 0, 0, 0, 3, 1]}}\n",
                 0.005);
  const double E = stage_energy(&b);
  sn_vec3 before = place_of(&b, "disc", (sn_vec3){0, 0, 0});
  double way = 0;
  for (int k = 0; k < 400; k++) {
    stage_step(&b, 1);
    const sn_vec3 now = place_of(&b, "disc", (sn_vec3){0, 0, 0});
    const sn_vec3 side = sn_vec3_sub(place_of(&b, "disc", (sn_vec3){0, 1, 0}), now);
    const double low = now.z - 0.3 * sqrt(1 - side.z * side.z);
    CHECK(fabs(low) < 1e-9, "step %d: the edge is %g above the floor", k, low);
    way += sn_vec3_norm(sn_vec3_sub(now, before));
    before = now;
  }
  CHECK(way > 1, "it rolled only %g", way);
  CHECK(fabs(stage_energy(&b) - E) < 1e-7 * E, "energy changed by %g of %g", stage_energy(&b) - E,
        E);
  stage_clear(&b);
}

/* A skate on a slope, turning evenly with w: its blade goes to and fro along the slope and drifts
 * across: v = (g sin a / w) sin(w t) along the blade. */
TEST(skates_do_not_slide) {
  stage b = open("sinew: 1\n"
                 "gravity: [2, 0, 0]\n"
                 "bodies:\n"
                 "  skate:\n"
                 "    joint: {type: planar}\n"
                 "    shapes: [{type: box, size: [1, 0.1, 0.1], density: 1000}]\n"
                 "constraints:\n"
                 "  blade: {type: knife_edge, body: skate, direction: [0, 1, 0]}\n"
                 "initial: {skate: {qd: [0, 0, 3]}}\n",
                 0.01);
  for (int k = 1; k <= 200; k++) {
    stage_step(&b, 1);
    const double t = 0.01 * k, w = 3, g = 2, *q = q_of(&b, "skate");
    /* u' = g cos(wt), x' = u cos(wt), y' = u sin(wt) */
    const double x = g / (2 * w * w) * sin(w * t) * sin(w * t);
    const double y = g / (2 * w) * (t - sin(2 * w * t) / (2 * w));
    CHECK(fabs(q[0] - x) < 1e-8 && fabs(q[1] - y) < 1e-8, "t = %g: (%g, %g), not (%g, %g)", t, q[0],
          q[1], x, y);
  }
  stage_clear(&b);
}

/* A body's twist, and a point's path. */
TEST(bodies_follow) {
  const char *text =
      "sinew: 1\n"
      "bodies:\n"
      "  stone:\n"
      "    joint: {type: free}\n"
      "    shapes: [{type: box, size: [1, 0.5, 0.2], at: [0.1, 0, 0], density: 1000}]\n"
      "motions:\n"
      "  turn: {body: stone, twist: [null, null, 2, 1 + t, 0, null], frame: %s}\n";
  for (int k = 0; k < 2; k++) {
    char full[1024];
    snprintf(full, sizeof full, text, k ? "body" : "world");
    stage b = open(full, 0.01);
    stage_step(&b, 100);
    sn_vec6 phi[1];
    sn_se3 E[1];
    sn_sim_poses(b.sim, b.s, E, phi);
    const sn_vec6 in = k ? phi[0] : sn_vec6_rotate(E[0].R, phi[0]);
    CHECK(fabs(in.w.z - 2) < 1e-9 && fabs(in.v.x - 2) < 1e-9 && fabs(in.v.y) < 1e-9,
          "twist (.. %g, %g, %g ..)", in.w.z, in.v.x, in.v.y);
    stage_clear(&b);
  }
  stage b =
      open("sinew: 1\n"
           "bodies:\n"
           "  stone:\n"
           "    joint: {type: free}\n"
           "    shapes: [{type: box, size: [1, 0.5, 0.2], density: 1000}]\n"
           "motions:\n"
           "  carry: {body: stone, at: [0.5, 0.2, 0], point: [0.5 + 0.1*sin(3*t), 0.2*cos(t), "
           "0.1*t^2]}\n",
           0.01);
  for (int k = 1; k <= 100; k++) {
    stage_step(&b, 1);
    const double t = 0.01 * k;
    const sn_vec3 x = place_of(&b, "stone", (sn_vec3){0.5, 0.2, 0});
    const sn_vec3 want = {0.5 + 0.1 * sin(3 * t), 0.2 * cos(t), 0.1 * t * t};
    CHECK(sn_vec3_norm(sn_vec3_sub(x, want)) < 1e-9, "t = %g: %g off", t,
          sn_vec3_norm(sn_vec3_sub(x, want)));
  }
  stage_clear(&b);
}

/* A ball joint is turned on beyond half a turn, a whole one and more, about an axis that moves;
 * what carries it feels what it feels under the method recursive, where coordinates keep their
 * turns. */
TEST(rotations_are_followed_through_whole_turns) {
  static const char text[] =
      "sinew: 1\n"
      "bodies:\n"
      "  arm: {joint: {type: revolute, axis: [1, 0, 0]}, inertia: {mass: 1, at: [0, 0, -0.5], xx: "
      "0.1, yy: 0.1, zz: 0.1}}\n"
      "  wheel: {parent: arm, joint: {type: %s, at: [0, 0, -1]}, inertia: {mass: 1, xx: 0.1, yy: "
      "0.2, zz: 0.25}}\n"
      "motions: {spin: {joint: wheel, q: [%s3*t, 0.4*sin(t), 0.3*t^2]}}\n";
  for (int kind = 0; kind < 2; kind++) {
    char scene[700];
    snprintf(scene, sizeof scene, text, kind ? "free" : "spherical", kind ? "0.1*t, 0, 0, " : "");
    stage exact = open(scene, 0.01);
    stage_step(&exact, 300);
    const double *to = q_of(&exact, "wheel") + 3 * kind;
    const sn_mat3 R = sn_so3_exp((sn_vec3){to[0], to[1], to[2]});
    for (int method = 0; method < 2; method++) {
      double off[2];
      for (int fine = 0; fine < 2; fine++) {
        sn_options o = redmax_options(fine ? 0.0025 : 0.005);
        o.method = method ? "structured" : "redmax";
        o.structured.precision = 1e-12;
        stage b = stage_set(scene, o);
        stage_step(&b, fine ? 1200 : 600);
        const double *q = q_of(&b, "wheel") + 3 * kind;
        const sn_vec3 rest = sn_so3_log(sn_mat3_tmul(R, sn_so3_exp((sn_vec3){q[0], q[1], q[2]})));
        CHECK(sn_vec3_norm(rest) < 1e-9, "%s, %g off its rotation", kind ? "free" : "spherical",
              sn_vec3_norm(rest));
        off[fine] = fabs(*q_of(&b, "arm") - *q_of(&exact, "arm"));
        stage_clear(&b);
      }
      CHECK(off[1] < 0.6 * off[0] && off[0] < 0.1, "method %d: off by %g, then by %g", method,
            off[0], off[1]);
    }
    stage_clear(&exact);
  }
}

/* A wheel that is driven at a speed turns on from where it is. */
TEST(joints_run_at_a_rate) {
  stage b = open(RODS "motions: {motor: {joint: one, rate: 2 + t}}\n"
                      "initial: {one: {q: 0.7, qd: 2}}\n",
                 0.01);
  stage_step(&b, 100);
  CHECK(fabs(*q_of(&b, "one") - 3.2) < 1e-9, "at %g, not 3.2", *q_of(&b, "one"));
  stage_clear(&b);
}

/* What cannot be met is named. */
TEST(impossible_constraints_are_named) {
  sn_model *m =
      stage_model(RODS "constraints:\n"
                       "  chain: {type: distance, a: {body: one, at: [1, 0, 0]}, b: {body: "
                       "two, at: [1.5, 0, 0]}, length: 9}\n");
  const sn_options o = stage_exact(0.01);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  sn_error err = {0};
  CHECK(sn_sim_assemble(sim, s, &err) != SN_OK, "rods of 1 and 1.5 are 9 apart");
  CHECK(strstr(err.text, "'chain' cannot close"), "%s", err.text);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

/* A step that fails leaves the state as it was, also if it has switched something on before. */
TEST(a_step_that_fails_takes_back_what_it_has_switched_on) {
  static const char *const method[] = {"recursive", "redmax", "structured"};
  for (int k = 0; k < 3; k++) {
    sn_options o = redmax_options(0.01);
    o.method = method[k];
    stage b = stage_set(
        "sinew: 1\nbodies:\n"
        "  a: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.5, 0, 0], xx: "
        "0.01, yy: 0.1, zz: 0.1}}\n"
        "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}, inertia: {mass: "
        "1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"
        "constraints: {grip: {type: point, a: {body: b, at: [1, 0, 0]}, b: {body: world, at: [1.5, "
        "0, -0.5]}, active: t - 0.095}}\n"
        "forces: {f: {type: joint_torque, joint: b, torque: sqrt(0.095 - t)}}\n",
        o);
    sn_state *before = test_state(b.m);
    sn_status status = SN_OK;
    for (int n = 0; n < 20 && status == SN_OK; n++) {
      sn_error err = {0};
      CHECK(sn_state_copy(before, b.s) == SN_OK, "no copy");
      status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
    }
    CHECK(status < 0, "%s: nothing fails", method[k]);
    CHECK(sn_state_equal(before, b.s), "%s: q = %g, %g before, %g, %g after", method[k],
          sn_state_q(before)[0], sn_state_q(before)[1], sn_state_q(b.s)[0], sn_state_q(b.s)[1]);
    sn_state_free(&before);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(distances_stay), T(gears_couple), T(constraints_switch),
            T(what_is_switched_on_far_open_is_an_impact),
            T(all_methods_close_alike_what_is_switched_on),
            T(a_step_that_fails_takes_back_what_it_has_switched_on), T(welds_and_points_are_joints),
            T(balls_roll), T(discs_roll), T(skates_do_not_slide), T(bodies_follow),
            T(rotations_are_followed_through_whole_turns), T(joints_run_at_a_rate),
            T(impossible_constraints_are_named));
}
