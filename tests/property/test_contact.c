/* Contact and friction against what is known of them: ramps, bounces, rolling, tops and coins; with
 * limits, loops and stiff springs in the same solve. */
#include "ground.h"
#include "heap.h"

static const char block[] =
    "  block: {parent: world, joint: {type: free, at: [0, 0, 0.1]},\n"
    "          shapes: [{type: box, size: [0.4, 0.3, 0.2], density: 1000, contact: m}]}\n";

/* ---- ramps ---- */

/* A ramp is a floor with gravity at an angle, here in a direction of its own, so that the cone has
 * to be round. */
static stage ramp(double angle, double heading, sn_cone cone) {
  stage b = set("friction: 0.5", block, "", 0.005, SN_CONTACT_STAGGERED, cone);
  turn_gravity(&b, GRAVITY * sin(angle) * cos(heading), GRAVITY * sin(angle) * sin(heading),
               -GRAVITY * cos(angle));
  return b;
}

TEST(a_block_sticks_below_the_angle_of_friction_and_slides_above) {
  const double off = 1e-4;
  for (int k = 0; k < 5; k++) {
    const double heading = 0.3 + 1.1 * k;
    for (int above = 0; above < 2; above++) {
      stage b = ramp(atan(0.5) + (above ? off : -off), heading, SN_CONE_EXACT);
      stage_step(&b, 400);
      const double speed = hypot(qd_of(&b, "block")[0], qd_of(&b, "block")[1]);
      /* g (sin - mu cos) is 1.1e-3 at 1e-4 above */
      CHECK(above ? speed > 1.5e-3 : speed < 1e-9, "heading %g, %s: %g m/s after 2 s", heading,
            above ? "above" : "below", speed);
      stage_clear(&b);
    }
  }
}

TEST(a_block_slides_with_the_right_acceleration) {
  const double angle = 0.7, a = GRAVITY * (sin(angle) - 0.5 * cos(angle));
  for (int k = 0; k < 5; k++) {
    const double heading = 0.3 + 1.1 * k;
    stage b = ramp(angle, heading, SN_CONE_EXACT);
    stage_step(&b, 200);
    const double *v = qd_of(&b, "block");
    const double along = v[0] * cos(heading) + v[1] * sin(heading);
    const double across = v[1] * cos(heading) - v[0] * sin(heading);
    CHECK(fabs(along / a - 1) < 1e-6, "heading %g: %g of %g", heading, along, a);
    CHECK(fabs(across) < 1e-6 * a, "heading %g: %g across", heading, across);
    stage_clear(&b);
  }
  /* a box brakes each axis by itself: along the diagonal by sqrt(2) more */
  stage b = ramp(angle, acos(-1) / 4, SN_CONE_BOX);
  stage_step(&b, 200);
  const double expected = GRAVITY * fmax(0, sin(angle) / sqrt(2) - 0.5 * cos(angle));
  CHECK(fabs(qd_of(&b, "block")[0] - expected) < 1e-6, "box: %g of %g", qd_of(&b, "block")[0],
        expected);
  stage_clear(&b);
}

/* Of a cone with so many sides friction takes the corner that is nearest to against the sliding: as
 * much as a round one does, but askew by up to half of the angle between two corners. */
TEST(a_cone_with_sides_brakes_along_its_corners) {
  const int sides[] = {4, 6, 9};
  const double h = 0.001, mu = 0.3;
  for (int k = 0; k < 3; k++) {
    double most = 0, least = SN_PI;
    for (int n = 0; n < 24; n++) {
      sn_options o = redmax_options(h);
      o.redmax.contact.cone = SN_CONE_POLYHEDRAL;
      o.redmax.contact.sides = sides[k];
      o.redmax.contact.tolerance = 1e-12;
      const double angle = 0.13 + 2 * SN_PI * n / 24, c = cos(angle), d = sin(angle);
      char text[1024];
      snprintf(text, sizeof text,
               "sinew: 1\ngravity: [0, 0, %.17g]\ncontacts: {m: {friction: %g}}\nbodies:\n"
               "  floor: {parent: world, joint: {type: fixed},\n"
               "          shapes: [{type: plane, contact: m}]}\n%s"
               "initial: {block: {qd: [%.17g, %.17g, 0, 0, 0, 0]}}\n",
               -GRAVITY, mu, block, c, d);
      stage b = stage_set(text, o);
      stage_step(&b, 1);
      const double x = c - qd_of(&b, "block")[0], y = d - qd_of(&b, "block")[1];
      const double askew = fabs(atan2(c * y - d * x, c * x + d * y));
      CHECK(fabs(hypot(x, y) / (mu * GRAVITY * h) - 1) < 1e-6, "%d sides, %g: brakes by %g of it",
            sides[k], angle, hypot(x, y) / (mu * GRAVITY * h));
      CHECK(askew < SN_PI / sides[k] + 1e-6, "%d sides, %g: askew by %g", sides[k], angle, askew);
      most = fmax(most, askew);
      least = fmin(least, askew);
      stage_clear(&b);
    }
    CHECK(most > 0.5 * SN_PI / sides[k] && least < 0.5 * SN_PI / sides[k], "%d sides: %g to %g",
          sides[k], least, most);
  }
}

/* The convex model lifts off what slides, by mu times its speed: it is known for that.  From the
 * rate v along the floor it takes mu x, with x (1 + mu^2) = mu v + g h. */
TEST(the_convex_model_sticks_too_and_lifts_off_what_slides) {
  stage b = set("friction: 0.5", block, "", 0.005, SN_CONTACT_ANITESCU, SN_CONE_EXACT);
  turn_gravity(&b, GRAVITY * sin(0.4), 0, -GRAVITY * cos(0.4));
  stage_step(&b, 200);
  CHECK(fabs(qd_of(&b, "block")[0]) < 1e-9, "slides with %g", qd_of(&b, "block")[0]);
  qd_of(&b, "block")[0] = 1;
  turn_gravity(&b, 0, 0, -GRAVITY);
  stage_step(&b, 1);
  const double v = qd_of(&b, "block")[0], x = (0.5 + GRAVITY * 0.005) / 1.25;
  CHECK(fabs(v - (1 - 0.5 * x)) < 1e-6, "goes on with %g, expected %g", v, 1 - 0.5 * x);
  CHECK(fabs(qd_of(&b, "block")[2] - 0.5 * v) < 1e-6, "lifts off by %g", qd_of(&b, "block")[2]);
  stage_clear(&b);
}

/* ---- energy ---- */

/* Thrown boxes: nothing that touches brings energy, nothing goes in, and in the end they lie. */
TEST(contact_and_friction_take_energy_and_never_bring_any) {
  for (int k = 0; k < 4; k++) {
    stage b =
        set_exact(k % 2 ? "friction: 0.3" : "friction: 0.8, rolling: 0.002, torsional: 0.01", block,
                  "initial: {block: {pose: {pos: [0, 0, 0.4], rotvec: [0.4, 0.7, 0.2]},"
                  " qd: [1, 0.5, 0, 3, 2, 5]}}",
                  k < 2 ? 0.002 : 0.01);
    double before = stage_energy(&b), start = before;
    for (int n = 0; n < (k < 2 ? 1500 : 300); n++) {
      stage_step(&b, 1);
      const double now = stage_energy(&b);
      CHECK(now <= before + 1e-9 * fabs(start), "%d: step %d brings %g", k, n, now - before);
      before = now;
    }
    const double *v = qd_of(&b, "block");
    CHECK(fabs(v[0]) + fabs(v[1]) + fabs(v[2]) < 1e-6, "%d: does not rest: %g %g %g", k, v[0], v[1],
          v[2]);
    CHECK(fabs(load_of(&b) / (24 * GRAVITY) - 1) < 1e-6, "%d: bears %g of %g", k, load_of(&b),
          24 * GRAVITY);
    stage_clear(&b);
  }
}

/* ---- bounces ---- */

TEST(a_ball_keeps_its_restitution) {
  for (int k = 0; k < 5; k++) {
    const double e = (k + 1) * 0.2;
    char material[64];
    snprintf(material, sizeof material, "friction: 0, restitution: %g", e);
    stage b =
        set_exact(material, ball,
                  "initial: {ball: {q: [0, 0, 0.5, 0, 0, 0], qd: [0.4, 0, -3, 0, 0, 0]}}", 0.007);
    turn_gravity(&b, 0, 0, 0);
    stage_step(&b, 60);
    CHECK(fabs(qd_of(&b, "ball")[2] / (3 * e) - 1) < 1e-12, "e = %g: %g", e,
          qd_of(&b, "ball")[2] / 3);
    CHECK(fabs(qd_of(&b, "ball")[0] - 0.4) < 1e-12, "e = %g: loses speed along the floor", e);
    stage_clear(&b);
  }
  /* under gravity it comes back to e^2 of where it was, but for what a step misses of the height */
  stage b = set_exact("friction: 0, restitution: 0.8", ball,
                      "initial: {ball: {q: [0, 0, 1, 0, 0, 0]}}", 1e-4);
  double top = 0;
  bool up = false;
  for (int n = 0; n < 8000; n++) {
    const double v = qd_of(&b, "ball")[2];
    stage_step(&b, 1);
    up = up || (v < 0 && qd_of(&b, "ball")[2] > 0);
    top = up ? fmax(top, q_of(&b, "ball")[2]) : top;
  }
  CHECK(fabs(top - 0.64) < 1e-3, "comes back to %g", top);
  stage_clear(&b);
}

/* ---- piles ---- */

/* Boxes one on the other, each as heavy as `weight` says. */
static stage pile_at(int n, const double *weight, double h) {
  char *text = calloc(256 + 256 * (size_t)n, 1);
  for (int k = 0; k < n; k++) {
    const size_t used = strlen(text);
    snprintf(text + used, 256,
             "  box%d: {parent: world, joint: {type: free, at: [0, 0, %g]},\n"
             "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: %g, contact: m}]}\n",
             k, 0.1 + 0.2 * k, weight ? weight[k] : 1000);
  }
  char *all = calloc(512 + strlen(text), 1);
  sprintf(all,
          "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
          "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n%s",
          text);
  const stage b = stage_set(all, redmax_options(h));
  free(text);
  free(all);
  return b;
}

static stage pile(int n, const double *weight) {
  return pile_at(n, weight, 0.01); /* as scenes have it */
}

static void check_rests(const stage *b, int n, double seconds) {
  for (int k = 0; k < n; k++) {
    char name[16];
    snprintf(name, sizeof name, "box%d", k);
    for (int c = 0; c < 6; c++) {
      CHECK(fabs(q_of(b, name)[c]) < 1e-4, "after %g s, %s: coordinate %d is %g", seconds, name, c,
            q_of(b, name)[c]);
    }
  }
}

TEST(a_stack_of_twenty_boxes_stays) {
  const bool soak = getenv("SINEW_SOAK") != NULL;
  const int steps = soak ? 6000 : 200;
  stage b = pile(20, NULL);
  stage_step(&b, steps);
  check_rests(&b, 20, 0.01 * steps);
  stage_clear(&b);
}

TEST(stacks_stay_whatever_their_height_and_the_step) {
  const int height[] = {20, 40, 80};
  const double h[] = {0.0025, 0.005, 0.01};
  for (int k = 0; k < 3; k++) {
    stage b = pile_at(height[k], NULL, h[k]);
    stage_step(&b, 100);
    check_rests(&b, height[k], 100 * h[k]);
    stage_clear(&b);
  }
}

TEST(a_light_box_holds_a_heavy_one) {
  const double weight[3] = {1, 1000, 1};
  stage b = pile(2, weight);
  stage_step(&b, 500);
  check_rests(&b, 2, 5);
  stage_clear(&b);
}

/* ---- with everything else ---- */

/* k h^2 / m = 1e6: a spring that would throw the body about if the floor did not know of it. */
TEST(a_stiff_spring_presses_a_body_on_the_floor) {
  const double h = 0.01, k = 1e6 * 24 / (h * h);
  char force[256];
  snprintf(force, sizeof force,
           "forces: {press: {type: spring, stiffness: %g, rest_length: 1.003,\n"
           "  a: {body: world, at: [0, 0, 1.2]}, b: {body: block, at: [0.05, 0.02, 0.1]}}}",
           k);
  stage b = set_exact("friction: 0.5", block, force, h);
  stage_step(&b, 200);
  const double *q = q_of(&b, "block"), *v = qd_of(&b, "block");
  for (int c = 0; c < 6; c++) {
    CHECK(fabs(v[c]) < 1e-6, "rate %d is %g", c, v[c]);
    CHECK(fabs(q[c]) < 1e-3, "coordinate %d is %g", c, q[c]);
  }
  const double length = sqrt(1 + 0.05 * 0.05 + 0.02 * 0.02), pull = k * (1.003 - length) / length;
  CHECK(fabs(load_of(&b) / (pull + 24 * GRAVITY) - 1) < 1e-3, "bears %g, expected %g", load_of(&b),
        pull + 24 * GRAVITY);
  stage_clear(&b);
}

/* Rows of trees that something binds go another way than those of loose ones, to the same place;
 * all the way, unless a step is one of those whose impulses are not found to the tolerance: there
 * the answers of both differ by more than that. */
static bool moves_alike_when_bound(const char *bodies, double start) {
  static const char thread[] = "forces: {thread: {type: spring, stiffness: 1e-12, rest_length: 1,\n"
                               "  a: {body: one, at: [0, 0, 0]}, b: {body: two, at: [0, 0, 0]}}}\n";
  char free[256], tied[512];
  snprintf(free, sizeof free,
           "initial: {one: {qd: [1, %g, 0, 1, 2, 3]}, two: {qd: [0.3, 0, -1, 4, 0, 0]}}\n", start);
  snprintf(tied, sizeof tied, "%s%s", free, thread);
  stage loose = set_exact("friction: 0.4", bodies, free, 0.004);
  stage bound = set_exact("friction: 0.4", bodies, tied, 0.004);
  double residual = 0;
  for (int n = 0; n < 250; n++) {
    residual = fmax(residual, redmax_step(loose.sim, loose.s, NULL).contact_residual);
    residual = fmax(residual, redmax_step(bound.sim, bound.s, NULL).contact_residual);
  }
  const bool found = residual <= 1e-9;
  for (int k = 0; k < sn_model_dof_count(loose.m); k++) {
    const double a = sn_state_q(loose.s)[k], c = sn_state_q(bound.s)[k];
    CHECK(!found || fabs(a - c) < 1e-5, "start %g, coordinate %d: %g and %g", start, k, a, c);
  }
  stage_clear(&loose);
  stage_clear(&bound);
  return found;
}

TEST(bound_and_loose_trees_move_alike) {
  static const char pair[] =
      "  one: {parent: world, joint: {type: free, at: [0, 0, 0.3]},\n"
      "        shapes: [{type: box, size: [0.2, 0.3, 0.1], density: 500, contact: m}]}\n"
      "  arm: {parent: one, joint: {type: revolute, at: [0.1, 0, 0], axis: [0, 1, 0]},\n"
      "        shapes: [{type: capsule, from: [0, 0, 0], to: [0.3, 0, 0], radius: 0.03,\n"
      "                  density: 900, contact: m}]}\n"
      "  two: {parent: world, joint: {type: free, at: [1, 1, 0.4]},\n"
      "        shapes: [{type: sphere, radius: 0.1, density: 800, contact: m}]}\n";
  int found = 0;
  for (int k = 0; k < 10; k++) {
    found += moves_alike_when_bound(pair, 0.2 + 0.04 * k);
  }
  CHECK(found >= 3, "only %d of 10 tell anything", found);
}

/* Two balls on a rod that a constraint keeps, and a limit that a joint reaches while it is pressed:
 * loops and limits hold while the floor bears. */
TEST(loops_and_limits_join_the_same_solve) {
  stage b = set_exact(
      "friction: 0.5",
      "  one: {parent: world, joint: {type: free, at: [0, 0, 0.2]},\n"
      "        shapes: [{type: sphere, radius: 0.1, density: 1000, contact: m}]}\n"
      "  two: {parent: world, joint: {type: free, at: [0.5, 0, 0.6]},\n"
      "        shapes: [{type: sphere, radius: 0.1, density: 1000, contact: m}]}\n"
      "  leg: {parent: world, joint: {type: prismatic, at: [3, 0, 1], axis: [0, 0, 1]},\n"
      "        inertia: {mass: 2, xx: 0.1, yy: 0.1, zz: 0.1}}\n"
      "  foot: {parent: leg, joint: {type: revolute, at: [0, 0, 0], axis: [0, 1, 0],\n"
      "                              limits: [-0.5, 0.5]},\n"
      "         shapes: [{type: capsule, from: [0, 0, 0], to: [0.6, 0, -0.6], radius: 0.02,\n"
      "                   density: 1000, contact: m}]}\n",
      "constraints: {rod: {type: distance, a: {body: one, at: [0, 0, 0]},"
      " b: {body: two, at: [0, 0, 0]}}}",
      0.005);
  const double rod = hypot(0.5, 0.4);
  for (int n = 0; n < 600; n++) {
    stage_step(&b, 1);
    const double *p = q_of(&b, "one"), *q = q_of(&b, "two");
    const double d[3] = {0.5 + q[0] - p[0], q[1] - p[1], 0.4 + q[2] - p[2]};
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    CHECK(fabs(length - rod) < 1e-8, "step %d: the rod is %g longer", n, length - rod);
    CHECK(p[2] > -0.1 - 1e-4 && q[2] > -0.5 - 1e-4, "step %d: a ball goes in: %g, %g", n, p[2],
          q[2]);
    CHECK(fabs(q_of(&b, "foot")[0]) < 0.5 + 1e-9, "step %d: beyond its limit: %g", n,
          q_of(&b, "foot")[0]);
  }
  /* the foot has slid to its limit, and stands */
  CHECK(fabs(fabs(q_of(&b, "foot")[0]) - 0.5) < 1e-6, "the foot is at %g", q_of(&b, "foot")[0]);
  CHECK(fabs(qd_of(&b, "leg")[0]) < 1e-6, "the leg sinks by %g", qd_of(&b, "leg")[0]);
  stage_clear(&b);
}

/* A surface that gives way: m g / k deep. */
/* A motion that nothing can stop: the step fails, and says who is driven into whom. */
static void check_driven(const char *bodies, const char *motions, const char *one,
                         const char *other) {
  stage b = set_exact("friction: 0.5", bodies, motions, 0.01);
  sn_error err = {0};
  sn_status status = SN_OK;
  for (int k = 0; k < 300 && status >= 0; k++) {
    sn_info info;
    status = sn_sim_step(b.sim, b.s, NULL, &info, &err);
    CHECK(info.deepest < 1e-6, "%g deep", info.deepest);
  }
  CHECK(status == SN_E_UNCONVERGED, "status %d", (int)status);
  CHECK(strstr(err.text, one) && strstr(err.text, other), "says: %s", err.text);
  stage_clear(&b);
}

TEST(what_is_driven_into_others_is_named) {
  check_driven("  arm: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, 0.5]},\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [1, 0, 0], radius: 0.05,\n"
               "              density: 500, contact: m}]}\n",
               "motions: {swing: {joint: arm, rate: 1}}", "'arm'", "'floor'");
  check_driven("  piston: {joint: {type: prismatic, axis: [0, 0, 1], at: [0, 0, 0.5]},\n"
               "    inertia: {mass: 1, xx: 1, yy: 1, zz: 1},\n"
               "    shapes: [{type: box, size: [1, 1, 0.1], contact: m}]}\n"
               "  anvil: {joint: {type: free, at: [0, 0, 0.1]},\n"
               "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 500, contact: m}]}\n",
               "motions: {down: {joint: piston, q: -0.3*t}}", "driven into", "'anvil'");
}

/* Ends that overlap as the joint holds them stay so. */
TEST(what_joints_hold_in_each_other_is_not_thrown_about) {
  stage b = set_exact(
      "friction: 0.3, self: all",
      "  k2: {joint: {type: free, at: [0, 0, 9]}, shapes: [{type: capsule, from: [-0.1, 0, 0],\n"
      "    to: [0.1, 0, 0], radius: 0.05, density: 500, contact: m}]}\n"
      "  k3: {parent: k2, joint: {type: revolute, axis: [0, 1, 0], at: [0.25, 0, 0]},\n"
      "    shapes: [{type: capsule, from: [-0.1, 0, 0], to: [0.1, 0, 0], radius: 0.05,\n"
      "              density: 500, contact: m}]}\n",
      "", 0.01);
  const double start = stage_energy(&b);
  stage_step(&b, 50);
  CHECK(fabs(q_of(&b, "k2")[0]) < 0.01 && fabs(q_of(&b, "k3")[0]) < 0.2, "is at %g, turned by %g",
        q_of(&b, "k2")[0], q_of(&b, "k3")[0]);
  CHECK(stage_energy(&b) < start + 1e-9, "gains %g J", stage_energy(&b) - start);
  stage_clear(&b);
}

TEST(soft_surfaces_give_way) {
  stage b = set_exact("friction: 0.5, stiffness: 10000, damping: 200", block, "", 0.005);
  stage_step(&b, 1000);
  /* two of the same in series, under each of four corners */
  const double depth = 24 * GRAVITY / (4 * 5000);
  CHECK(fabs(q_of(&b, "block")[2] / -depth - 1) < 1e-3, "%g deep, expected %g",
        -q_of(&b, "block")[2], depth);
  stage_clear(&b);
}

/* What starts in the floor comes out without jumping. */
TEST(what_is_in_each_other_is_moved_apart_without_speed) {
  stage b =
      set_exact("friction: 0.5", block, "initial: {block: {q: [0, 0, -0.05, 0, 0, 0]}}", 0.005);
  double fastest = 0;
  for (int n = 0; n < 200; n++) {
    stage_step(&b, 1);
    fastest = fmax(fastest, fabs(qd_of(&b, "block")[2]));
  }
  CHECK(fabs(q_of(&b, "block")[2]) < 1e-4, "at %g", q_of(&b, "block")[2]);
  CHECK(fastest < 1e-6, "jumps with %g", fastest);
  stage_clear(&b);
}

/* A lever that a thousand times its weight presses into the floor, where it starts: it comes out
 * all the same, and does not sink by what it bears. */
TEST(what_bears_much_does_not_sink) {
  stage b = set_exact(
      "friction: 0",
      "  lever: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, 0.049]},\n"
      "    shapes: [{type: sphere, at: [0.5, 0, 0], radius: 0.05, contact: m}],\n"
      "    inertia: {mass: 0.1, at: [0.5, 0, 0], xx: 1e-4, yy: 1e-4, zz: 1e-4}}\n",
      "forces: {press: {type: point_force, body: lever, at: [0.5, 0, 0], force: [0, 0, -1000]}}",
      0.01);
  stage_step(&b, 100);
  const double deep = 0.05 - (0.049 - 0.5 * sin(q_of(&b, "lever")[0]));
  CHECK(deep < 1e-4, "%g deep", deep);
  stage_clear(&b);
}

/* ---- states and memory ---- */

TEST(a_run_goes_on_from_a_state_to_the_bit_and_allocates_nothing) {
  static const char start[] = "initial: {block: {qd: [1, 0.5, 0, 3, 2, 5]}}";
  stage b = set_exact("friction: 0.4, restitution: 0.3", block, start, 0.005);
  stage_step(&b, 100);
  sn_state *middle = NULL;
  CHECK(sn_state_clone(b.s, &middle) == SN_OK, "no memory");
  heap_watch(0);
  stage_step(&b, 100);
  heap_stop();
  CHECK(heap.calls == 0, "%ld calls of the allocator", heap.calls);
  stage again = set_exact("friction: 0.4, restitution: 0.3", block, start, 0.005);
  stage_step(&again, 17);
  CHECK(sn_state_copy(again.s, middle) == SN_OK, "another model");
  stage_step(&again, 100);
  CHECK(sn_state_equal(again.s, b.s), "not the same bits");
  sn_state_free(&middle);
  stage_clear(&again);
  stage_clear(&b);
}

/* A mechanism with a loop moves alike, to rounding, whether or not it has limits and shapes that
 * could touch something, if neither is anywhere near. */
TEST(what_does_not_touch_does_not_matter) {
  static const char *const text =
      "sinew: 1\n"
      "defaults:\n"
      "  joint: {type: revolute, axis: [0, 1, 0]}\n"
      "  shape: {type: capsule, from: [0, 0, 0], to: [0.3, 0, 0], radius: 0.03, density: 1000%s}\n"
      "bodies:\n"
      "  a: {parent: world, joint: {at: [0, 0, 1]}, shapes: [{}]}\n"
      "  b: {parent: a, joint: {type: universal, at: [0.3, 0, 0]}, shapes: [{}]}\n"
      "  c: {parent: b, joint: {at: [0.3, 0.1, 0]%s}, shapes: [{}]}\n"
      "contacts: {c: {}}\n"
      "constraints:\n"
      "  rod: {type: distance, a: {body: c, at: [0.3, 0, 0]}, b: {body: world, at: [0.4, -0.3, "
      "2]}}\n";
  static const sn_solver solver[] = {SN_SOLVER_AUTO, SN_SOLVER_TREE, SN_SOLVER_GRAPH,
                                     SN_SOLVER_REDUCED_KKT, SN_SOLVER_REDUCED};
  for (int k = 0; k < 5; k++) {
    sn_options o = redmax_options(1e-3);
    o.redmax.solver = solver[k];
    stage b[2];
    for (int with = 0; with < 2; with++) {
      char scene[2048];
      snprintf(scene, sizeof scene, text, with ? ", contact: c" : "",
               with ? ", limits: [-100, 100]" : "");
      b[with] = stage_set(scene, o);
    }
    for (int n = 0; n < 200; n++) {
      stage_step(&b[0], 1);
      stage_step(&b[1], 1);
      for (int i = 0; i < 4; i++) {
        const double off = sn_state_qd(b[0].s)[i] - sn_state_qd(b[1].s)[i];
        CHECK(fabs(off) < 1e-9, "solver %d, step %d: rate %d off by %g", k, n, i, off);
      }
    }
    CHECK(fabs(sn_state_qd(b[0].s)[0]) > 0.1, "nothing moves");
    stage_clear(&b[0]);
    stage_clear(&b[1]);
  }
}

/* What lies on the floor is borne by its four corners, and says so in its channels; of another
 * state nothing is known. */
static void tell_of_contacts(stage b) {
  static const char *const name[] = {"block.contact.fx", "block.contact.fz", "block.contact.normal",
                                     "block.contact.points", "floor.contact.fz"};
  int channel[SNI_COUNT(name)];
  double x[SNI_COUNT(name)];
  sn_error err = {0};
  for (int k = 0; k < SNI_COUNT(name); k++) {
    char again[64];
    channel[k] = sn_sim_channel_find(b.sim, name[k]);
    CHECK(channel[k] >= 0 && !sn_sim_channel_usual(b.sim, channel[k]), "no channel %s", name[k]);
    CHECK(strcmp(sn_sim_channel_name(b.sim, channel[k], again, sizeof again), name[k]) == 0,
          "%s is %s", name[k], again);
  }
  stage_step(&b, 100);
  CHECK(sn_sim_channels(b.sim, b.s, NULL, channel, SNI_COUNT(name), x, &err) == SN_OK, "%s",
        err.text);
  const double weight = 24 * GRAVITY;
  CHECK(fabs(x[0]) < 1e-9 * weight && fabs(x[1] / weight - 1) < 1e-9 &&
            fabs(x[2] / weight - 1) < 1e-9 && x[3] == 4 && x[4] == 0,
        "%g %g %g %g %g, weighs %g", x[0], x[1], x[2], x[3], x[4], weight);
  double *const other[] = {sn_state_time(b.s), q_of(&b, "block"), qd_of(&b, "block") + 5};
  for (int k = 0; k < SNI_COUNT(other); k++) {
    const double was = *other[k];
    *other[k] += 1;
    CHECK(sn_sim_channels(b.sim, b.s, NULL, channel, SNI_COUNT(name), x, &err) == SN_OK, "%s",
          err.text);
    CHECK(x[1] == 0 && x[3] == 0, "%g in another state, %d", x[1], k);
    *other[k] = was;
    CHECK(sn_sim_channels(b.sim, b.s, NULL, channel, SNI_COUNT(name), x, &err) == SN_OK, "%s",
          err.text);
    CHECK(x[3] == 4, "%g points in the state itself", x[3]);
  }
  qd_of(&b, "block")[0] = 2;
  stage_step(&b, 5);
  CHECK(sn_sim_channels(b.sim, b.s, NULL, channel, SNI_COUNT(name), x, &err) == SN_OK, "%s",
        err.text);
  CHECK(fabs(x[0] / (-0.5 * weight) - 1) < 1e-6 && fabs(x[1] / weight - 1) < 1e-6,
        "slides: %g %g, weighs %g", x[0], x[1], weight);
}

TEST(channels_tell_of_contacts) {
  for (int k = 0; k < 2; k++) {
    stage b = set_exact("friction: 0.5", block, "", 0.005);
    sn_options o = b.sim->options;
    o.redmax.integrator = k == 0 ? SN_EULER : SN_EXTRAPOLATED;
    sn_sim_free(&b.sim);
    b.sim = test_sim(b.m, &o);
    tell_of_contacts(b);
    stage_clear(&b);
  }
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(a_block_sticks_below_the_angle_of_friction_and_slides_above),
            T(a_block_slides_with_the_right_acceleration),
            T(a_cone_with_sides_brakes_along_its_corners),
            T(the_convex_model_sticks_too_and_lifts_off_what_slides),
            T(contact_and_friction_take_energy_and_never_bring_any),
            T(a_ball_keeps_its_restitution), T(a_stack_of_twenty_boxes_stays),
            T(stacks_stay_whatever_their_height_and_the_step), T(a_light_box_holds_a_heavy_one),
            T(a_stiff_spring_presses_a_body_on_the_floor), T(bound_and_loose_trees_move_alike),
            T(loops_and_limits_join_the_same_solve), T(what_is_driven_into_others_is_named),
            T(what_joints_hold_in_each_other_is_not_thrown_about), T(soft_surfaces_give_way),
            T(what_is_in_each_other_is_moved_apart_without_speed), T(what_bears_much_does_not_sink),
            T(a_run_goes_on_from_a_state_to_the_bit_and_allocates_nothing),
            T(what_does_not_touch_does_not_matter), T(channels_tell_of_contacts));
}
