/* Blows that pass through rows of bodies, one after the other. */
#include "ground.h"

/* The balls touch; the first ones are lifted by an angle. */
static stage cradle(int balls, int lifted, double angle, double h, sn_implicit integrator) {
  char text[4096] = "", more[256] = "initial: {";
  for (int k = 0; k < balls; k++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             "  ball%d: {parent: world, joint: {type: revolute, at: [%g, 0, 2], axis: [0, 1, 0]},\n"
             "          inertia: {mass: 1, at: [0, 0, -1], xx: 0.004, yy: 0.004, zz: 0.004},\n"
             "          shapes: [{type: sphere, at: [0, 0, -1], radius: 0.1, contact: m}]}\n",
             k, 0.2 * k);
  }
  for (int k = 0; k < lifted; k++) {
    const size_t used = strlen(more);
    snprintf(more + used, sizeof more - used, "%sball%d: {q: %g}", k ? ", " : "", k, angle);
  }
  strcat(more, "}");
  stage b = set_exact("friction: 0, restitution: 1", text, more, h);
  sn_options o = b.sim->options;
  o.redmax.integrator = integrator;
  sn_sim_free(&b.sim);
  b.sim = test_sim(b.m, &o);
  return b;
}

/* Newton's cradle: what comes in with one ball leaves with one, what comes in with two leaves with
 * two, and the rest stay where they are. */
TEST(a_cradle_passes_blows_on) {
  for (int lifted = 1; lifted <= 2; lifted++) {
    stage b = cradle(5, lifted, 0.3, 0.001, SN_EULER);
    double most[5] = {0};
    for (int n = 0; n < 1000; n++) { /* half a swing takes 1 s */
      stage_step(&b, 1);
      for (int k = 0; k < 5; k++) {
        char name[16];
        snprintf(name, sizeof name, "ball%d", k);
        most[k] = fmax(most[k], -q_of(&b, name)[0]);
      }
    }
    for (int k = 0; k < 5; k++) {
      const bool leaves = k >= 5 - lifted;
      CHECK(leaves ? fabs(most[k] - 0.3) < 0.003 : most[k] < 0.003, "%d lifted: ball %d goes to %g",
            lifted, k, most[k]);
    }
    stage_clear(&b);
  }
}

/* Balls that touch and close with what is left of the last blow, or of rounding, are no one ball.
 */
TEST(slow_neighbours_do_not_share_a_blow) {
  static const double closing[] = {0, 1e-12, 1e-6, 1e-4, 0.01};
  static const double step[] = {0.01, 0.005, 0.001};
  for (int k = 0; k < SNI_COUNT(closing) * SNI_COUNT(step); k++) {
    const double slow = closing[k % SNI_COUNT(closing)], h = step[k / SNI_COUNT(closing)];
    char more[256];
    snprintf(more, sizeof more,
             "initial: {a: {qd: [3, 0, 0, 0, 0, 0]}, c: {qd: [-%g, 0, 0, 0, 0, 0]}}", slow);
    stage b =
        set_exact("friction: 0, restitution: 1",
                  "  a: {joint: {type: free, at: [-0.201, 0, 9]}, shapes: [{type: sphere, "
                  "radius: 0.1, density: 1000, contact: m}]}\n"
                  "  b: {joint: {type: free, at: [0, 0, 9]}, shapes: [{type: sphere, radius: "
                  "0.1, density: 1000, contact: m}]}\n"
                  "  c: {joint: {type: free, at: [0.2, 0, 9]}, shapes: [{type: sphere, radius: "
                  "0.1, density: 1000, contact: m}]}\n",
                  more, h);
    stage_step(&b, 3);
    const double is[] = {qd_of(&b, "a")[0], qd_of(&b, "b")[0], qd_of(&b, "c")[0]};
    CHECK(fabs(is[0]) < 1e-9 && fabs(is[1] + slow) < 1e-9 && fabs(is[2] - 3) < 1e-9,
          "closing at %g, step %g: %g %g %g", slow, h, is[0], is[1], is[2]);
    stage_clear(&b);
  }
}

/* It goes on for several swings, however long the step. */
TEST(a_cradle_goes_on) {
  static const struct {
    double h;
    sn_implicit by;
  } how[] = {{0.01, SN_EXTRAPOLATED}, {0.005, SN_EXTRAPOLATED}, {0.005, SN_EULER}};
  for (int k = 0; k < SNI_COUNT(how); k++) {
    for (int balls = 3; balls <= 7; balls += 2) {
      for (int start = 0; start < 4; start++) {
        const double lifted = 0.3 + 0.1 * start;
        stage b = cradle(balls, 1, lifted, how[k].h, how[k].by);
        double most = 0;
        for (int n = 0; n < (int)lround(6 / how[k].h); n++) {
          stage_step(&b, 1);
          for (int i = 1; i < balls - 1; i++) {
            char name[16];
            snprintf(name, sizeof name, "ball%d", i);
            most = fmax(most, fabs(q_of(&b, name)[0]));
          }
        }
        CHECK(most < 0.2 * lifted, "%d balls, %g, step %g: one between goes to %g", balls, lifted,
              how[k].h, most);
        stage_clear(&b);
      }
    }
  }
}

int main(void) {
  RUN_TESTS(T(a_cradle_passes_blows_on), T(slow_neighbours_do_not_share_a_blow),
            T(a_cradle_goes_on));
}
