/* Steps of second order where bodies touch: what comes or goes within one is no motion to go by. */
#include "ground.h"

static stage second(const char *material, const char *bodies, const char *more, double h) {
  stage b = set_exact(material, bodies, more, h);
  sn_options o = b.sim->options;
  o.redmax.integrator = SN_EXTRAPOLATED;
  sn_sim_free(&b.sim);
  b.sim = test_sim(b.m, &o);
  return b;
}

static void run(stage *b, double seconds, double h) {
  stage_step(b, (int)lround(seconds / h));
}

/* ---- what arrives ---- */

TEST(what_arrives_stays_whatever_the_phase_of_the_step) {
  const double step[] = {0.01, 0.003, 0.0007};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 17; k++) {
      const double h = step[i], gap = h * (3 + k / 16.0);
      stage b = second("friction: 0", ball, "initial: {ball: {qd: [0, 0, -1, 0, 0, 0]}}", h);
      turn_gravity(&b, 0, 0, 0);
      q_of(&b, "ball")[2] = gap;
      for (int n = 0; n < 12; n++) {
        stage_step(&b, 1);
        CHECK(qd_of(&b, "ball")[2] < 1e-12, "h = %g, gap %g: comes back with %g", h, gap,
              qd_of(&b, "ball")[2]);
        CHECK(q_of(&b, "ball")[2] > -1e-12, "h = %g, gap %g: %g deep", h, gap,
              -q_of(&b, "ball")[2]);
      }
      CHECK(fabs(qd_of(&b, "ball")[2]) < 1e-12 && fabs(q_of(&b, "ball")[2]) < 1e-9,
            "h = %g, gap %g: at %g with %g", h, gap, q_of(&b, "ball")[2], qd_of(&b, "ball")[2]);
      stage_clear(&b);
    }
  }
}

TEST(what_falls_stays_down_at_any_step) {
  const double step[] = {0.01, 0.007, 0.003, 0.001};
  for (int i = 0; i < 4; i++) {
    stage b =
        second("friction: 0.5",
               "  box: {parent: world, joint: {type: free, at: [0, 0, 0.9]},\n"
               "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 500, contact: m}]}\n",
               "", step[i]);
    for (double t = 0; t < 0.6; t += step[i]) {
      stage_step(&b, 1);
      CHECK(qd_of(&b, "box")[2] < 1e-6, "h = %g: comes back with %g", step[i], qd_of(&b, "box")[2]);
    }
    CHECK(fabs(stage_channel(&b, "box.pos.z") - 0.1) < 1e-6, "h = %g: at %g", step[i],
          stage_channel(&b, "box.pos.z"));
    stage_clear(&b);
  }
}

/* A limit does as it does where nothing may touch. */
TEST(a_stop_holds_where_something_else_touches) {
  static const char *const text =
      "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
      "  floor: {joint: {type: fixed}, shapes: [{type: plane%s}]}\n"
      "  box: {joint: {type: free, at: [1, 0, 0.1]}, shapes: [{type: box, size: [0.2, 0.2, 0.2], "
      "density: 500%s}]}\n"
      "  door: {joint: {type: revolute, axis: [0, 0, 1], at: [0, 3, 1], limits: [-1, 1]},\n"
      "    shapes: [{type: box, at: [0.45, 0, 0], size: [0.9, 0.04, 2], density: 500}]}\n"
      "initial: {door: {qd: 3.1}}\n";
  const double step[] = {0.01, 0.007, 0.005, 0.003, 0.001};
  for (int i = 0; i < 5; i++) {
    for (int touches = 0; touches < 2; touches++) {
      char scene[1024];
      snprintf(scene, sizeof scene, text, touches ? ", contact: m" : "",
               touches ? ", contact: m" : "");
      sn_options o = redmax_options(step[i]);
      o.redmax.integrator = SN_EXTRAPOLATED;
      stage b = stage_set(scene, o);
      run(&b, 0.7, step[i]);
      CHECK(fabs(*qd_of(&b, "door")) < 1e-9 && fabs(*q_of(&b, "door") - 1) < 1e-9,
            "h = %g, %s: the door is at %g with %g", step[i], touches ? "contact" : "none",
            *q_of(&b, "door"), *qd_of(&b, "door"));
      stage_clear(&b);
    }
  }
}

/* A wheel that rolls against a step keeps its angular momentum about the edge: a cylinder with
 * inertia r^2/2 and an edge at height H has  w (3/2 r^2) = v (r - H) + v r / 2  after the blow. */
TEST(a_wheel_climbs_a_step_with_its_angular_momentum) {
  const double r = 0.2, H = 0.05, v = 2, to = v * (1.5 * r - H) / (1.5 * r * r);
  double off[2];
  for (int fine = 0; fine < 2; fine++) {
    const double h = fine ? 0.0005 : 0.004;
    stage b = second("friction: 0.8",
                     "  step: {parent: world, joint: {type: fixed}, shapes: [{type: box, at: [2, "
                     "0, -0.05], size: [2, 1, 0.2], contact: m}]}\n"
                     "  wheel: {parent: world, joint: {type: free, at: [0, 0, 0.2]},\n"
                     "    shapes: [{type: cylinder, from: [0, -0.05, 0], to: [0, 0.05, 0], radius: "
                     "0.2, density: 700, contact: m}]}\n",
                     "initial: {wheel: {qd: [2, 0, 0, 0, 10, 0]}}", h);
    double spin = 10;
    for (double t = 0; t < 1 && spin > 9.5; t += h) {
      stage_step(&b, 1);
      spin = qd_of(&b, "wheel")[4];
    }
    stage_step(&b, 2); /* the blow is over */
    off[fine] = fabs(stage_channel(&b, "wheel.qd2") / (to * (r * sin(acos(1 - H / r)))) - 1);
    stage_clear(&b);
  }
  CHECK(off[0] < 0.1 && off[1] < 0.3 * off[0] + 1e-3, "off by %g, then %g", off[0], off[1]);
}

/* ---- what happens elsewhere ---- */

TEST(an_overlap_stops_nothing_elsewhere) {
  stage b = second("friction: 0.5",
                   "  box: {parent: world, joint: {type: free, at: [0, 0, 0.09]},\n"
                   "    shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}]}\n"
                   "  crumb: {parent: world, joint: {type: free, at: [4, 0, 5]},\n"
                   "    shapes: [{type: sphere, radius: 0.01, density: 1000, contact: m}]}\n",
                   "", 0.01);
  run(&b, 0.5, 0.01);
  const double fallen = 5 - stage_channel(&b, "crumb.pos.z");
  CHECK(fabs(fallen - 0.5 * GRAVITY * 0.25) < 1e-9, "has fallen %g", fallen);
  run(&b, 0.7, 0.01);
  CHECK(fabs(stage_channel(&b, "crumb.pos.z") - 0.01) < 1e-6, "is at %g",
        stage_channel(&b, "crumb.pos.z"));
  CHECK(stage_channel(&b, "box.pos.z") > 0.0999, "is still in the floor, at %g",
        stage_channel(&b, "box.pos.z"));
  stage_clear(&b);
}

/* What lands elsewhere does not make the steps of others first order. */
TEST(a_blow_elsewhere_leaves_the_order) {
  const double w = 3, T = 0.6;
  double end[2];
  for (int k = 0; k < 2; k++) {
    char bodies[2048];
    int n = snprintf(bodies, sizeof bodies,
                     "  rod: {parent: world, joint: {type: free, at: [0, 9, 1]}, inertia: {mass: "
                     "1, xx: 1, yy: 2, zz: 3}, shapes: [{type: sphere, radius: 0.01, contact: "
                     "m}]}\n");
    for (int i = 0; k == 1 && i < 8; i++) { /* one lands after the other */
      n += snprintf(bodies + n, sizeof bodies - (size_t)n,
                    "  b%d: {parent: world, joint: {type: free, at: [%d, 0, %g]}, shapes: [{type: "
                    "sphere, radius: 0.1, density: 500, contact: m}]}\n",
                    i, i, 0.2 + 0.15 * i);
    }
    char more[128];
    snprintf(more, sizeof more, "initial: {rod: {qd: [0, 0, %g, 1, 3, 0.1]}}", w);
    stage b = second("friction: 0.5", bodies, more, 0.01);
    run(&b, T, 0.01);
    end[k] = q_of(&b, "rod")[4];
    stage_clear(&b);
  }
  CHECK(fabs(end[0] - end[1]) < 1e-9, "%g instead of %g", end[1], end[0]);
}

/* ---- what rests ---- */

TEST(stacks_rest_and_tell_of_their_weight) {
  for (int k = 0; k < 3; k++) {
    const int n = k == 1 ? 20 : 10;
    const double h = k < 2 ? 0.005 : 0.002;
    char bodies[6000];
    int at = 0;
    for (int i = 1; i <= n; i++) {
      at += snprintf(bodies + at, sizeof bodies - (size_t)at,
                     "  b%d: {parent: world, joint: {type: free, at: [0, 0, %g]}, shapes: [{type: "
                     "box, size: [0.2, 0.2, 0.2], density: 125, contact: m}]}\n",
                     i, 0.2 * i - 0.1 + 0.0005 * i);
    }
    stage b = second("friction: 0.5", bodies, "", h);
    sn_options o = b.sim->options;
    o.redmax.contact.tolerance = sn_options_default().redmax.contact.tolerance;
    sn_sim_free(&b.sim);
    b.sim = test_sim(b.m, &o);
    run(&b, 3, h);
    for (int i = 1; i <= n; i++) {
      char name[32];
      snprintf(name, sizeof name, "b%d.contact.fz", i);
      const double fz = stage_channel(&b, name);
      CHECK(fabs(fz / GRAVITY - 1) < 1e-3, "%d boxes, h = %g: box %d gets %g", n, h, i, fz);
    }
    CHECK(stage_channel(&b, "T") < 1e-6, "%d boxes, h = %g: T = %g", n, h, stage_channel(&b, "T"));
    stage_clear(&b);
  }
}

TEST(light_and_heavy_bodies_tell_of_their_weight) {
  stage b = second("friction: 0.5",
                   "  light: {parent: world, joint: {type: free, at: [0, 0, 0.1]}, shapes: [{type: "
                   "box, size: [0.2, 0.2, 0.2], density: 1, contact: m}]}\n"
                   "  heavy: {parent: world, joint: {type: free, at: [0, 0, 0.3]}, shapes: [{type: "
                   "box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}]}\n",
                   "", 0.005);
  for (int n = 0; n < 100; n++) {
    stage_step(&b, 5);
    const double light = stage_channel(&b, "light.contact.fz") / (0.008 * GRAVITY);
    const double heavy = stage_channel(&b, "heavy.contact.fz") / (8 * GRAVITY);
    CHECK(fabs(light - 1) < 1e-3 && fabs(heavy - 1) < 1e-6, "step %d: %g and %g of the weights",
          5 * n, light, heavy);
  }
  stage_clear(&b);
}

/* Soft ground throws back what it has stopped. */
TEST(soft_ground_lets_go) {
  stage b = second("friction: 0, stiffness: 1e4",
                   "  ball: {parent: world, joint: {type: free, at: [0, 0, 0.5]}, shapes: [{type: "
                   "sphere, radius: 0.1, density: 500, contact: m}]}\n",
                   "", 0.005);
  double low = 1, high = 0;
  for (int n = 0; n < 200; n++) {
    stage_step(&b, 1);
    const double z = stage_channel(&b, "ball.pos.z");
    low = fmin(low, z);
    high = n > 64 ? fmax(high, z) : 0;
  }
  CHECK(low < 0.08 && high > 0.4, "between %g and %g", low, high);
  stage_clear(&b);
}

/* What falls asleep does so after as long as it was told, and sleeps on. */
TEST(sleep_comes_in_its_time) {
  stage b = second("friction: 0.5",
                   "  box: {parent: world, joint: {type: free, at: {pos: [0, 0, 0.1], rotvec: [0, "
                   "0, 0.3]}}, shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: "
                   "m}]}\n",
                   "", 0.01);
  sn_options o = b.sim->options;
  o.redmax.contact.sleep = 0.3;
  sn_sim_free(&b.sim);
  b.sim = test_sim(b.m, &o);
  int asleep = 0;
  for (int n = 1; n <= 100; n++) {
    sn_info info = {0};
    sn_error err = {0};
    CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) == SN_OK, "%s", err.text);
    const bool sleeps = info.contacts == 0;
    asleep = sleeps && asleep == 0 ? n : asleep;
    CHECK(sleeps == (asleep > 0), "wakes in step %d", n);
  }
  CHECK(asleep >= 30 && asleep <= 33, "is asleep in step %d", asleep);
  stage_clear(&b);
}

/* ---- what is smooth is of second order ---- */

/* Where a box that tips over its edge is after 0.3 s. */
static double tipped(double h) {
  stage b = second("friction: 0.9",
                   "  box: {parent: world, joint: {type: free, at: [0, 0, 0.3]}, shapes: [{type: "
                   "box, size: [0.2, 0.3, 0.6], density: 500, contact: m}]}\n",
                   "initial: {box: {qd: [0.3, 0, 0.1, 0, 1, 0]}}", h);
  run(&b, 0.3, h);
  const double x = stage_channel(&b, "box.pos.x");
  stage_clear(&b);
  return x;
}

TEST(what_tips_over_an_edge_is_of_second_order) {
  const double x[3] = {tipped(0.005), tipped(0.0025), tipped(0.00125)};
  const double ratio = (x[0] - x[1]) / (x[1] - x[2]);
  CHECK(ratio > 3.4 && fabs(x[1] - x[2]) < 1e-5, "changes by %g, then %g", x[0] - x[1],
        x[1] - x[2]);
}

int main(void) {
  RUN_TESTS(T(what_arrives_stays_whatever_the_phase_of_the_step),
            T(what_falls_stays_down_at_any_step), T(a_stop_holds_where_something_else_touches),
            T(a_wheel_climbs_a_step_with_its_angular_momentum),
            T(an_overlap_stops_nothing_elsewhere), T(a_blow_elsewhere_leaves_the_order),
            T(stacks_rest_and_tell_of_their_weight), T(light_and_heavy_bodies_tell_of_their_weight),
            T(soft_ground_lets_go), T(sleep_comes_in_its_time),
            T(what_tips_over_an_edge_is_of_second_order));
}
