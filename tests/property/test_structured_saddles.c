/* A rope that hangs exactly straight can be lifted by its end, though no motion lifts it to first
 * order: it bends.  So does one that was stretched, as soon as there is something to give. */
#include "structured.h"

static void lift(const char *height, double closed_from, double step) {
  char text[1000];
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "bodies:\n"
           "  l: {joint: {type: spherical}, inertia: {mass: 0.3, at: [0, 0, -0.25], xx: 0.006, yy: "
           "0.006, zz: 0.0003}, repeat: {count: 10, joint: {at: [0, 0, -0.5]}}}\n"
           "  ball: {joint: {type: free, at: [3, 0, 0]}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}\n"
           "motions: {hand: {body: l_10, at: [0, 0, -0.5], point: [0, 0, \"%s\"]}}\n",
           height);
  for (int n = 0; n < STRUCTURED_SOLVERS; n++) {
    sn_options o = structured_options(step, 1e-6);
    o.structured.solver = structured_solver[n].option;
    stage g = stage_set(text, o);
    for (int k = 0; k < (int)lround(2 / step); k++) {
      const sn_info info = structured_step(g.sim, g.s);
      const double t = *sn_state_time(g.s);
      CHECK(t < closed_from || info.gap <= 1e-6, "'%s', %s, t = %g: %g stays open",
            structured_solver[n].name, height, t, info.gap);
      const sn_vec3 ball = structured_point(&g, "ball", (sn_vec3){0});
      CHECK(ball.x == 3 && ball.y == 0, "the ball beside it moves");
    }
    sn_energy e;
    sn_sim_energy(g.sim, g.s, &e);
    const double fallen = 0.5 * 9.80665 * 9.80665 * 4; /* of the ball */
    CHECK(e.kinetic < 1.1 * fallen + 5, "'%s', %s: it is thrown about, %g J",
          structured_solver[n].name, height, e.kinetic - fallen);
    stage_clear(&g);
  }
}

TEST(a_straight_rope_bends) {
  lift("-5 + 0.5*t", 0, 0.01);
  lift("-5 + 0.5*t", 0, 0.002);
}

TEST(a_stretched_rope_bends_when_it_may) {
  lift("-5 - 0.3*sin(3*t)", 1.06, 0.01);
}

int main(void) {
  RUN_TESTS(T(a_straight_rope_bends), T(a_stretched_rope_bends_when_it_may));
}
