/* Shafts on two bearings of whatever kinds: who bears what is as in a simple beam. */
#include "stage.h"

#define PIN                                                                                        \
  "type: revolute, axis: [1, 0, 0], friction: {mu: 0.1, pin_radius: 0.01, pin_length: 0.02}"
#define SLEEVE                                                                                     \
  "type: cylindrical, axis: [1, 0, 0], friction: {mu: 0.1, pin_radius: 0.01, pin_length: 0.02}"
#define BALL "type: spherical, friction: {mu: 0.1, pin_radius: 0.01}"
#define POINTS                                                                                     \
  "type: revolute, axis: [1, 0, 0], friction: {mu: 0.1, pin_radius: 0.01, pin_length: 0.02, "      \
  "points: 4}"

/* 10 kg at 0.1 m of 0.5 m, the bearings being at the ends; 4/pi of what they bear is on contacts
 * all around. */
#define NEAR (0.8 * 98.1)
#define FAR  (0.2 * 98.1)

static const char *const kind[] = {PIN, SLEEVE, BALL};
enum { KINDS = SNI_COUNT(kind) };

static void bear(const char *near, const char *far, int steps, double normal[2]) {
  char text[2000];
  const bool along = strcmp(near, PIN) == 0 || strcmp(near, POINTS) == 0;
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "bodies:\n"
           "  shaft: {joint: {%s}, inertia: {mass: 10, at: [0.1, 0, 0], xx: 0.02, yy: 0.3, zz: "
           "0.3}}\n"
           "loops: {far: {%s, a: {body: world, at: [0.5, 0, 0]}, b: {body: shaft, at: [0.5, 0, "
           "0]}}}\n"
           "initial: {shaft: {qd: %s}}\n",
           near, far,
           along                       ? "10"
           : strcmp(near, SLEEVE) == 0 ? "[10, 0]"
                                       : "[10, 0, 0]");
  stage s = stage_set(text, redmax_options(0.001));
  stage_step(&s, steps);
  normal[0] = stage_channel(&s, "shaft.normal");
  normal[1] = stage_channel(&s, "loops.far.normal");
  stage_clear(&s);
}

TEST(shafts_bear_as_simple_beams_do) {
  for (int k = 0; k < KINDS * KINDS; k++) {
    for (int late = 0; late < 2; late++) { /* and it stays so */
      double normal[2];
      const char *near = kind[k / KINDS], *far = kind[k % KINDS];
      bear(near, far, late ? 300 : 20, normal);
      CHECK(fabs(normal[0] - 4 / SN_PI * NEAR) < 0.01 * NEAR &&
                fabs(normal[1] - 4 / SN_PI * FAR) < 0.01 * NEAR,
            "{%s} and {%s} bear %g and %g N, by hand %g and %g", near, far, normal[0], normal[1],
            4 / SN_PI * NEAR, 4 / SN_PI * FAR);
    }
  }
}

/* Nor does it matter at how many points contacts are. */
TEST(few_contacts_bear_as_many_do) {
  double normal[2];
  bear(PIN, POINTS, 20, normal);
  CHECK(fabs(normal[0] - 4 / SN_PI * NEAR) < 0.01 * NEAR, "all around a pin there are %g N",
        normal[0]);
  CHECK(normal[1] > 0.99 * FAR && normal[1] < 1.01 * sqrt(2) * FAR, "at points there are %g N",
        normal[1]);
}

int main(void) {
  RUN_TESTS(T(shafts_bear_as_simple_beams_do), T(few_contacts_bear_as_many_do));
}
