/* What is round rubs alike from all sides: pins, sleeves and balls, whichever way they are loaded
 * and turn.  What slides in several ways at once rubs against all of that, by no more than what
 * does one of them. */
#include "methods/redmax/rub.h"
#include "stage.h"
#include "trees.h"
#include "vectors.h"

/* About z. */
static sn_vec3 turned(double angle, double x, double y, double z) {
  const double c = cos(angle), s = sin(angle);
  return (sn_vec3){c * x - s * y, s * x + c * y, z};
}

static sn_options exact(double step) {
  sn_options o = redmax_options(step);
  o.redmax.friction.tolerance = 1e-13;
  return o;
}

/* ---- turned about the load, or about the pin, nothing else changes ---- */

#define BALLS                                                                                      \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  one: {joint: {type: spherical, friction: {mu: 0.4, pin_radius: 0.05}}, inertia: {mass: 2, "   \
  "at: [%.17g, %.17g, %.17g], xx: 0.1, yy: 0.1, zz: 0.1}}\n"                                       \
  "  two: {parent: one, joint: {type: spherical, at: [%.17g, %.17g, %.17g], friction: {mu: 0.4, "  \
  "pin_radius: 0.05}}, inertia: {mass: 1, at: [%.17g, %.17g, %.17g], xx: 0.1, yy: 0.1, zz: "       \
  "0.1}}\n"                                                                                        \
  "initial: {one: {qd: [%.17g, %.17g, %.17g]}, two: {qd: [%.17g, %.17g, %.17g]}}\n"

static void swing_balls(double angle, sn_vec3 q[2], sn_vec3 qd[2]) {
  const sn_vec3 a = turned(angle, 0.5, 0.2, -0.3), b = turned(angle, 0.4, -0.3, -0.5),
                c = turned(angle, -0.2, 0.3, 0.1), u = turned(angle, 1, 2, 3),
                v = turned(angle, -2, 1, -4);
  char text[2000];
  snprintf(text, sizeof text, BALLS, a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, u.x, u.y, u.z,
           v.x, v.y, v.z);
  stage s = stage_set(text, exact(0.005));
  stage_step(&s, 100);
  for (int k = 0; k < 2; k++) {
    const double *at = sn_state_q(s.s) + 3 * k, *rate = sn_state_qd(s.s) + 3 * k;
    q[k] = turned(-angle, at[0], at[1], at[2]);
    qd[k] = turned(-angle, rate[0], rate[1], rate[2]);
  }
  stage_clear(&s);
}

TEST(balls_rub_alike_from_all_sides) {
  uint64_t seed = 3;
  sn_vec3 q0[2], qd0[2], q[2], qd[2];
  swing_balls(0, q0, qd0);
  for (int trial = 0; trial < 10; trial++) {
    swing_balls(random_vec3(&seed, 3).x, q, qd);
    for (int k = 0; k < 2; k++) {
      const double off = sn_vec3_norm(sn_vec3_sub(q[k], q0[k])),
                   rate = sn_vec3_norm(sn_vec3_sub(qd[k], qd0[k]));
      CHECK(off <= tol(1e-9) && rate <= tol(1e-9), "trial %d, ball %d: off by %g, rates by %g",
            trial, k, off, rate);
    }
  }
  CHECK(sn_vec3_norm(q0[0]) > 0.1, "it did not move");
}

/* Gravity and the mass turn about the pin, which has no way to know. */
static void swing_pin(const char *type, double angle, double *q, double *qd, int n) {
  const sn_vec3 g = turned(angle, 7, 3, -5), at = turned(angle, 0.5, 0.2, 0.3);
  char text[1000];
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "gravity: [%.17g, %.17g, %.17g]\n"
           "bodies: {rod: {joint: {type: %s, axis: [0, 0, 1], friction: {mu: 0.2, pin_radius: 0.1, "
           "pin_length: 0.7}}, inertia: {mass: 2, at: [%.17g, %.17g, %.17g], xx: 0.1, yy: 0.1, zz: "
           "0.1}}}\n"
           "initial: {rod: {qd: %s}}\n",
           g.x, g.y, g.z, type, at.x, at.y, at.z, n > 1 ? "[2, 1]" : "2");
  stage s = stage_set(text, exact(0.005));
  stage_step(&s, 100);
  memcpy(q, sn_state_q(s.s), (size_t)n * sizeof *q);
  memcpy(qd, sn_state_qd(s.s), (size_t)n * sizeof *qd);
  stage_clear(&s);
}

TEST(pins_rub_alike_from_all_sides) {
  static const char *const type[] = {"revolute", "cylindrical"};
  uint64_t seed = 5;
  for (int n = 1; n <= 2; n++) {
    double q0[2], qd0[2], q[2], qd[2];
    swing_pin(type[n - 1], 0, q0, qd0, n);
    for (int trial = 0; trial < 10; trial++) {
      swing_pin(type[n - 1], random_vec3(&seed, 3).x, q, qd, n);
      CHECK(largest_difference(q, q0, n) <= tol(1e-9) &&
                largest_difference(qd, qd0, n) <= tol(1e-9),
            "%s: off by %g, rates by %g", type[n - 1], largest_difference(q, q0, n),
            largest_difference(qd, qd0, n));
    }
    CHECK(fabs(q0[0]) > 0.1, "it did not move");
  }
}

/* ---- in several ways at once ---- */

/* A sleeve with m r^2 of inertia, under its weight across the pin: around and along are alike, so
 * (r w, v) keeps its direction and loses 4/pi mu g a second, until it rests. */
TEST(a_sleeve_rubs_against_the_way_it_slides) {
  const double r = 0.1, g = 9.81, mu = 0.3;
  stage s = stage_set("sinew: 1\n"
                      "bodies: {ring: {joint: {type: cylindrical, axis: [1, 0, 0], friction: {mu: "
                      "0.3, pin_radius: 0.1, pin_length: 0.5}}, inertia: {mass: 2, xx: 0.02, yy: "
                      "0.1, zz: 0.1}}}\n"
                      "initial: {ring: {qd: [6, 0.8]}}\n",
                      exact(0.001));
  const double start = hypot(6 * r, 0.8);
  for (int k = 1; k <= 200; k++) {
    stage_step(&s, 1);
    const double *qd = sn_state_qd(s.s), left = start - 4 / SN_PI * mu * g * 0.001 * k;
    CHECK(fabs(hypot(r * qd[0], qd[1]) - left) < 1e-9, "step %d: %g, not %g", k,
          hypot(r * qd[0], qd[1]), left);
    CHECK(fabs(r * qd[0] * 0.8 - qd[1] * 6 * r) < 1e-9, "step %d: it turned aside", k);
  }
  stage_step(&s, 200);
  CHECK(fabs(sn_state_qd(s.s)[0]) < 1e-12 && fabs(sn_state_qd(s.s)[1]) < 1e-12, "it goes on");
  stage_clear(&s);
}

/* A ball that bears its weight, and turns about any axis: it loses 4/pi mu r m g of its spin. */
TEST(a_ball_rubs_against_the_way_it_turns) {
  uint64_t seed = 11;
  for (int trial = 0; trial < 10; trial++) {
    const sn_vec3 w = random_vec3(&seed, 5);
    char text[500];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "bodies: {ball: {joint: {type: spherical, friction: {mu: 0.3, pin_radius: 0.1}}, "
             "inertia: {mass: 2, xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
             "initial: {ball: {qd: [%.17g, %.17g, %.17g]}}\n",
             w.x, w.y, w.z);
    stage s = stage_set(text, exact(0.001));
    stage_step(&s, 50);
    double all = 0;
    const sni_rubbing *r = sni_sim_rubbing(s.sim);
    for (int k = 0; k < 3; k++) {
      all += r->rate[k] * r->rate[k];
    }
    const double left = fmax(sn_vec3_norm(w) - 4 / SN_PI * 0.3 * 0.1 * 2 * 9.81 / 0.1 * 0.05, 0);
    CHECK(fabs(sqrt(all) - left) < 1e-9, "it turns with %g, not %g", sqrt(all), left);
    stage_clear(&s);
  }
}

/* A pin in a sleeve on a slope sticks up to an angle of friction, however it is also pulled around:
 * just within the disc nothing moves, just beyond it both do. */
TEST(a_disc_sticks_up_to_its_rim) {
  const double most = 4 / SN_PI * 0.3 * 2 * 9.81; /* N, and with an arm of 0.1 m */
  for (int beyond = 0; beyond < 2; beyond++) {
    const double pull = (beyond ? 1.001 : 0.999) * most;
    char text[1000];
    snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "bodies: {ring: {joint: {type: cylindrical, axis: [1, 0, 0], friction: {mu: 0.3, "
        "pin_radius: 0.1, pin_length: 0.5}}, inertia: {mass: 2, xx: 0.02, yy: 0.1, zz: 0.1}}}\n"
        "forces: {pull: {type: joint_torque, joint: ring, torque: [%.17g, %.17g]}}\n",
        0.1 * 0.6 * pull, 0.8 * pull);
    stage s = stage_set(text, exact(0.01));
    stage_step(&s, 100);
    const double *qd = sn_state_qd(s.s);
    CHECK(beyond ? qd[0] > 1e-3 && qd[1] > 1e-4 : fabs(qd[0]) < 1e-14 && fabs(qd[1]) < 1e-14,
          "at %g of the rim: rates %g and %g", beyond ? 1.001 : 0.999, qd[0], qd[1]);
    stage_clear(&s);
  }
}

/* With contact it is the same ball, on a floor that gives way a little. */
TEST(discs_rub_alike_where_something_touches) {
  double end[2][3];
  for (int k = 0; k < 2; k++) {
    const double angle = k * 0.7;
    const sn_vec3 at = turned(angle, 0.5, 0, -0.05), w = turned(angle, 0.3, 2, 3);
    char text[1000];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "contacts: {slick: {friction: 0.2, stiffness: 1e4, damping: 50}}\n"
             "bodies:\n"
             "  floor: {joint: {type: fixed, at: [0, 0, -0.2]}, shapes: [{type: plane, contact: "
             "slick}]}\n"
             "  arm: {joint: {type: spherical, friction: {mu: 0.3, pin_radius: 0.1}}, shapes: "
             "[{type: sphere, radius: 0.1, at: [%.17g, %.17g, %.17g], density: 500, contact: "
             "slick}]}\n"
             "initial: {arm: {qd: [%.17g, %.17g, %.17g]}}\n",
             at.x, at.y, at.z, w.x, w.y, w.z);
    sn_options o = exact(0.005);
    o.redmax.contact.tolerance = 1e-13;
    o.redmax.contact.max_iterations = 10000;
    stage s = stage_set(text, o);
    bool touched = false;
    for (int step = 0; step < 60; step++) {
      touched = redmax_step(s.sim, s.s, NULL).contacts > 0 || touched;
    }
    const double *q = sn_state_q(s.s);
    const sn_vec3 back = turned(-angle, q[0], q[1], q[2]);
    memcpy(end[k], (double[3]){back.x, back.y, back.z}, sizeof end[k]);
    CHECK(touched, "it does not touch the floor");
    stage_clear(&s);
  }
  CHECK(largest_difference(end[0], end[1], 3) <= tol(1e-9), "off by %g",
        largest_difference(end[0], end[1], 3));
}

/* ---- partly driven ---- */

/* A sleeve on a rod that is driven round: the sleeve does not go along with it, so that it is
 * driven round its pin, and slides.  And a linkage of balls in space, whose crank is driven. */
static const char *const partly[] = {
    "sinew: 1\n"
    "bodies:\n"
    "  rod: {joint: {type: revolute, axis: [1, 0, 0]}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: "
    "0.01}}\n"
    "  sleeve: {parent: rod, joint: {type: cylindrical, axis: [1, 0, 0], friction: {mu: 0.3, "
    "pin_radius: 0.02, pin_length: 0.1}}, inertia: {mass: 3, xx: 0.0012, yy: 0.02, zz: 0.02}}\n"
    "constraints: {c: {type: couple, terms: [{joint: rod}, {joint: sleeve, coordinate: 0}]}}\n"
    "motions: {m: {joint: rod, q: 20*t}}\n"
    "initial: {sleeve: {qd: [-20, 0.5]}}\n",
    "sinew: 1\n"
    "bodies:\n"
    "  crank: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 1, at: [0.05, 0, 0], xx: "
    "0.002, yy: 0.004, zz: 0.004}}\n"
    "  rod: {parent: crank, joint: {type: spherical, at: [0.1, 0, 0], friction: {mu: 0.3, "
    "pin_radius: 0.01}}, inertia: {mass: 1, at: [0, 0.2, 0.12], xx: 0.02, yy: 0.02, zz: 0.02}}\n"
    "  rocker: {joint: {type: revolute, at: [0.1, 0.4, 0], axis: [1, 0, 0]}, inertia: {mass: 2, "
    "at: [0, 0, 0.1], xx: 0.02, yy: 0.02, zz: 0.002}}\n"
    "loops: {ball: {type: spherical, a: {body: rod, at: [0, 0.4, 0.25]}, b: {body: rocker, at: [0, "
    "0, 0.25]}, friction: {mu: 0.3, pin_radius: 0.01}}}\n"
    "motions: {m: {joint: crank, q: 2*pi*t}}\n"};

/* How much of a disc is used, of that which is used most. */
static double fullest(const stage *s) {
  const sni_rubbing *r = sni_sim_rubbing(s->sim);
  double most = 0;
  for (int k = 0; k < r->ndisc; k++) {
    const sni_rub_disc *disc = &r->disc[k];
    double sum = 0;
    for (int i = 0; i < disc->count; i++) {
      const double part = r->force[disc->first + i] / r->bound[disc->first + i];
      sum += part * part;
    }
    most = fmax(most, sqrt(sum));
  }
  return most;
}

/* Within one disc, whichever problem finds it. */
TEST(what_is_partly_driven_has_one_disc) {
  for (int k = 0; k < 2; k++) {
    sn_options o = exact(0.001);
    o.redmax.friction.max_iterations = 20000;
    stage a = stage_set(partly[k], o);
    o.redmax.friction.problem = SN_FRICTION_MAXIMAL;
    stage b = stage_set(partly[k], o);
    for (int i = 0; i < 50; i++) {
      stage_step(&a, 1);
      stage_step(&b, 1);
      CHECK(fullest(&b) <= 1 + 1e-9, "%d: friction is %.9g of its disc", k, fullest(&b));
      const double off = largest_difference(sn_state_qd(a.s), sn_state_qd(b.s), a.s->nv);
      CHECK(off < 1e-8, "%d, step %d: off by %g", k, i, off);
    }
    stage_clear(&a);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(balls_rub_alike_from_all_sides), T(pins_rub_alike_from_all_sides),
            T(a_sleeve_rubs_against_the_way_it_slides), T(a_ball_rubs_against_the_way_it_turns),
            T(a_disc_sticks_up_to_its_rim), T(discs_rub_alike_where_something_touches),
            T(what_is_partly_driven_has_one_disc));
}
