/* Who meets within a step: by speed, by what others do to them, and by what pulls them. */
#include "stage.h"
#include "trees.h"

#include "methods/redmax/redmax.h"

static double place_of(const stage *b, const char *body) {
  sn_se3 E[16];
  CHECK(sn_model_body_count(b->m) <= 16, "too many bodies");
  CHECK(sn_sim_poses(b->sim, b->s, E, NULL) == SN_OK, "no poses");
  return E[sn_model_body_find(b->m, body)].p.z;
}

/* ---- bodies that fall together ---- */

static const char *const shapes[] = {
    "{type: sphere, radius: 0.1, density: 1000, contact: m}",
    "{type: box, size: [0.2, 0.2, 0.2], density: 1000, contact: m}",
    "{type: cylinder, radius: 0.1, from: [0, 0, -0.1], to: [0, 0, "
    "0.1], density: 1000, contact: m}",
    "{type: capsule, radius: 0.1, from: [0, 0, 0], to: [0.1, 0, "
    "0], density: 1000, contact: m}"};

/* A column of them, 1 cm apart, all with the same velocity: they come nearer only because the floor
 * stops the lowest. */
static stage column(const char *shape, int count, double speed, double above, double e, double h) {
  char text[4000];
  int n = snprintf(text, sizeof text,
                   "sinew: 1\ncontacts: {m: {friction: 0.3, restitution: %g}}\nbodies:\n"
                   "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, "
                   "contact: m}]}\n",
                   e);
  for (int k = 0; k < count; k++) {
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  b%d: {parent: world, joint: {type: free, at: [0, 0, %g]}, shapes: [%s]}\n", k,
                  0.1 + above + 0.21 * k, shape);
  }
  n += snprintf(text + n, sizeof text - (size_t)n, "initial:\n");
  for (int k = 0; k < count; k++) {
    n += snprintf(text + n, sizeof text - (size_t)n, "  b%d: {qd: [0, 0, %g, 0, 0, 0]}\n", k,
                  -speed);
  }
  return stage_set(text, redmax_options(h));
}

/* What bodies gain, at most, by being moved out of each other: that lifts them, and does nothing
 * else.  All have the same mass, with its centre on the x axis. */
static double lift_of(const stage *b, int count) {
  const sni_touch *touch = ((const sni_redmax *)b->sim->method_work)->touch;
  double lift = 0;
  for (int j = 0; touch->shifts && j < count; j++) {
    const double *shift = touch->shift + (ptrdiff_t)6 * j;
    const double centre = sni_params_inertia(&b->m->params, 1 + j).com.x;
    lift += fmax(0, shift[2] - centre * shift[4]);
  }
  return lift * 9.81 * sn_model_mass(b->m) / count;
}

/* Whatever the column is of, it comes down and goes up as one: nothing tips it over. */
TEST(what_falls_together_meets_in_the_step_in_which_the_floor_stops_one) {
  for (int shape = 0; shape < SNI_COUNT(shapes); shape++) {
    for (int k = 0; k < 24; k++) {
      const int count = 2 + k % 3;
      const double e = k % 2 ? 0.5 : 0, above = 0.004 * k, speed = k % 4 == 3 ? 40 : 10;
      /* a twentieth of half its thickness; what bounces may do so in the next step, and fall for
       * this one */
      const double h = 0.01, deep = 0.05 * 0.1 + (e > 0 ? 2 * 9.81 * h * h : 0);
      stage b = column(shapes[shape], count, speed, above, e, h);
      const double start = stage_energy(&b);
      double last = start;
      for (int i = 0; i < 40; i++) {
        stage_step(&b, 1);
        double below = -0.1;
        for (int j = 0; j < count; j++) {
          char name[16];
          snprintf(name, sizeof name, "b%d", j);
          const double z = place_of(&b, name);
          CHECK(z - below > 0.2 - deep, "shape %d, start %d, step %d: body %d is %g deep", shape, k,
                i, j, 0.2 - (z - below));
          below = z;
        }
        const double now = stage_energy(&b);
        CHECK(now < last + 1e-9 * start + lift_of(&b, count),
              "shape %d, start %d, step %d: gains %g", shape, k, i, now - last);
        for (int j = 0; j < count; j++) {
          const double *turn = sn_state_q(b.s) + (ptrdiff_t)6 * j + 3;
          CHECK(hypot(turn[0], turn[1]) < 1e-3, "shape %d, start %d, step %d: body %d tips by %g",
                shape, k, i, j, hypot(turn[0], turn[1]));
        }
        last = now;
      }
      stage_clear(&b);
    }
  }
}

/* Two balls that a spring pulls together, from rest and without gravity: nothing but the step
 * itself makes them meet. */
TEST(what_a_spring_pulls_together_meets) {
  for (int k = 0; k < 20; k++) {
    char text[1000];
    const double gap = 1e-4 * (1 + k * k);
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, 0]\ncontacts: {m: {friction: 0}}\n"
             "forces: {pull: {type: spring, a: {body: a}, b: {body: b}, stiffness: 1e5, "
             "rest_length: 0}}\n"
             "bodies:\n"
             "  a: {joint: {type: free}, shapes: [{type: sphere, radius: 0.1, density: 1000, "
             "contact: m}]}\n"
             "  b: {joint: {type: free, at: [0, 0, %g]}, shapes: [{type: sphere, radius: 0.1, "
             "density: 1000, contact: m}]}\n",
             0.2 + gap);
    stage b = stage_set(text, redmax_options(0.01));
    for (int i = 0; i < 30; i++) {
      stage_step(&b, 1);
      const double apart = place_of(&b, "b") - place_of(&b, "a") - 0.2;
      CHECK(apart > -0.05 * 0.1, "gap %g, step %d: %g deep", gap, i, -apart);
    }
    stage_clear(&b);
  }
}

/* A ball is back in the air before the step is over: what it touched within it counts. */
TEST(what_touches_in_a_part_of_a_step_is_reported) {
  const char *text = "sinew: 1\ncontacts: {m: {restitution: 1, friction: 0}}\nbodies:\n"
                     "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
                     "  ball: {joint: {type: free, at: [0, 0, 0.11]}, shapes: [{type: sphere, "
                     "radius: 0.1, density: 1000, contact: m}]}\n"
                     "initial: {ball: {qd: [0, 0, -10, 0, 0, 0]}}\n";
  sn_options o = redmax_options(0.01);
  o.redmax.integrator = SN_EXTRAPOLATED;
  stage b = stage_set(text, o);
  const sn_info info = redmax_step(b.sim, b.s, NULL);
  CHECK(place_of(&b, "ball") > 0.12, "it is at %g", place_of(&b, "ball"));
  CHECK(info.contacts == 1, "%d points in %d substeps", info.contacts, info.substeps);
  stage_clear(&b);
}

int main(void) {
  RUN_TESTS(T(what_falls_together_meets_in_the_step_in_which_the_floor_stops_one),
            T(what_a_spring_pulls_together_meets), T(what_touches_in_a_part_of_a_step_is_reported));
}
