/* Sleeves on upright rods, and balls: what slides in several ways within one disc rests as what
 * slides in one does. */
#include "stage.h"

#define SURFACES "friction: {mu: 0.2, pin_radius: 0.01, pin_length: 0.1}"
/* By hand: both ends bear m g a/L each, 4/pi of it rubs, and all of that holds m g. */
#define CRITICAL (SN_PI / 4 * 0.1 / (2 * 0.2))
#define WEIGHT   "inertia: {mass: 2, at: [%g, 0, 0], xx: 0.01, yy: 0.01, zz: 0.01}"

enum { IN_TREE, IN_LOOP, KEYED, TWO_GUIDES, FORMS };

/* A sleeve that is a joint, or a loop; one that a key keeps from turning; and a plate on two. */
static const char *const form[FORMS] = {
    "sinew: 1\n"
    "bodies: {s: {joint: {type: cylindrical, axis: [0, 0, 1], " SURFACES "}, " WEIGHT "}}\n",
    "sinew: 1\n"
    "bodies: {s: {joint: {type: free}, " WEIGHT "}}\n"
    "loops: {l: {type: cylindrical, axis: [0, 0, 1], " SURFACES
    ", a: {body: world}, b: {body: s}}}\n",
    "sinew: 1\n"
    "bodies: {s: {joint: {type: cylindrical, axis: [0, 0, 1], " SURFACES "}, " WEIGHT "}}\n"
    "constraints: {key: {type: couple, terms: [{joint: s, coordinate: 0}]}}\n",
    "sinew: 1\n"
    "bodies: {s: {joint: {type: cylindrical, axis: [0, 0, 1], " SURFACES "}, " WEIGHT "}}\n"
    "loops: {other: {type: cylindrical, axis: [0, 0, 1], " SURFACES
    ", a: {body: world, at: [0, 0.2, 0]}, b: {body: s, at: [0, 0.2, 0]}}}\n"};

static double fallen(const char *text, double arm, int way) {
  char scene[1000];
  sn_options o = redmax_options(0.001);
  o.redmax.integrator = way & 1 ? SN_EXTRAPOLATED : SN_EULER;
  o.redmax.friction.problem = way & 2 ? SN_FRICTION_MAXIMAL : SN_FRICTION_REDUCED;
  snprintf(scene, sizeof scene, text, arm);
  stage s = stage_set(scene, o);
  stage_step(&s, 100);
  const double z = -stage_channel(&s, "s.pos.z");
  stage_clear(&s);
  return z;
}

TEST(sleeves_lock_themselves) {
  const double free = 0.5 * 9.81 * 0.01;
  for (int k = 0; k < FORMS; k++) {
    for (int way = 0; way < 4; way++) {
      const double holds = fallen(form[k], 1.02 * CRITICAL, way);
      /* the second guide alone would hold that: it is 0.2 m off */
      const double falls = k == TWO_GUIDES ? free : fallen(form[k], 0.98 * CRITICAL, way);
      CHECK(fabs(holds) < 1e-9, "form %d, way %d: beyond the critical arm it falls %g m", k, way,
            holds);
      CHECK(fabs(falls - free) < 0.02 * free, "form %d, way %d: before it, it falls %g m of %g", k,
            way, falls, free);
    }
  }
}

/* A ball as large as what it carries holds it up to 4/pi mu r from its centre, in whatever
 * direction, and at once, though it would turn about one axis a million times as easily as about
 * the others. */
TEST(balls_hold_in_all_directions) {
  for (int k = 0; k < 24; k++) {
    for (int light = 0; light < 3; light++) {
      char text[1000];
      const double angle = 2 * SN_PI * k / 24, arm = 0.99 * 4 / SN_PI * 0.6;
      const double I = light == 0 ? 1e-2 : light == 1 ? 1e-4 : 1e-6;
      snprintf(text, sizeof text,
               "sinew: 1\n"
               "bodies: {b: {joint: {type: spherical, friction: {mu: 0.6, pin_radius: 1}}, "
               "inertia: {mass: 1, at: [%.17g, %.17g, 0], xx: %g, yy: %g, zz: %g}}}\n",
               arm * cos(angle), arm * sin(angle), I, I, I);
      stage s = stage_set(text, redmax_options(0.001));
      for (int i = 0; i < 20; i++) {
        sn_info info = redmax_step(s.sim, s.s, NULL);
        CHECK(info.friction_unsettled == 0 && info.friction_iterations <= 5,
              "at %g rad, step %d: %d iterations", angle, i, info.friction_iterations);
      }
      for (int c = 0; c < 3; c++) {
        CHECK(sn_state_q(s.s)[c] == 0, "at %g rad it has turned by %g", angle, sn_state_q(s.s)[c]);
      }
      stage_clear(&s);
    }
  }
}

int main(void) {
  RUN_TESTS(T(sleeves_lock_themselves), T(balls_hold_in_all_directions));
}
