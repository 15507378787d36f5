/* Constraints that hold anyway, alone in their scene: what is left of their rows is rounding, and
 * nothing larger is there to say so.  The motion is that without them. */
#include "stage.h"

static const char inertia[] = "inertia: {mass: 1, at: [0.3, 0, 0], xx: 0.01, yy: 0.02, zz: 0.02}";

static const struct {
  const char *joint, *second, *constraint;
} scene[] = {
    /* a rod from a pendulum to its own pivot, of several lengths, and far from the world's origin
     */
    {"type: revolute, axis: [0, 1, 0]", "",
     "r: {type: distance, a: {body: world}, b: {body: a, "
     "at: [0.3, 0, 0.4]}}"},
    {"type: revolute, axis: [0, 1, 0]", "",
     "r: {type: distance, a: {body: world}, b: {body: a, "
     "at: [0.6, 0, 0.1]}}"},
    {"type: revolute, axis: [0, 1, 0]", "",
     "r: {type: distance, a: {body: world}, b: {body: a, "
     "at: [0.003, 0.002, 0.004]}}"},
    {"type: revolute, axis: [0, 1, 0], at: [10.31, 70.77, 100.3]", "",
     "r: {type: distance, a: {body: world, at: [10.31, 70.77, 100.3]}, b: {body: a, at: [0.1, "
     "0.23, 0.4]}}"},
    {"type: revolute, axis: [0, 1, 0], limits: [-2, 2]", "",
     "r: {type: distance, a: {body: world}, b: {body: a, at: [0.3, 0, 0.4]}}"},
    {"type: spherical, at: [0.31, 0.77, 1.3]", "",
     "r: {type: distance, a: {body: world, at: [0.31, 0.77, 1.3]}, b: {body: a, at: [0.3, 0.1, "
     "0.4]}}"},
    /* from the world, and from the link above, to a hinge between two links */
    {"type: revolute, axis: [0, 1, 0]", "at: [0.6, 0.1, 0.2]",
     "r: {type: distance, a: {body: world}, b: {body: a, at: [0.6, 0.1, 0.2]}}"},
    {"type: revolute, axis: [0, 1, 0]", "at: [0.6, 0.1, 0.2]",
     "r: {type: distance, a: {body: a, at: [0.6, 0.1, 0.2]}, b: {body: b, at: [0.3, 0.1, 0.4]}}"},
    /* two hinges on a line, and two guides of a slider */
    {"type: revolute, axis: [1, 2, 3]", "", NULL},
    {"type: prismatic, axis: [0.3, 0.1, 1]", "", NULL}};

static void write_scene(char *out, size_t size, int k, bool constrained) {
  const char *own = scene[k].constraint;
  size_t used = (size_t)snprintf(out, size, "sinew: 1\nbodies:\n  a: {joint: {%s}, %s}\n",
                                 scene[k].joint, inertia);
  if (*scene[k].second) {
    used += (size_t)snprintf(out + used, size - used,
                             "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], %s}, %s}\n",
                             scene[k].second, inertia);
  }
  if (constrained && own) {
    snprintf(out + used, size - used, "constraints: {%s}\n", own);
  } else if (constrained) {
    snprintf(out + used, size - used,
             "loops: {g: {%s, a: {body: world, at: [0.1, 0.2, 0.3]}, b: {body: a, at: [0.1, 0.2, "
             "0.3]}}}\n",
             scene[k].joint);
  }
}

static double off_by(int k, sn_options o, int steps) {
  char text[2][1000];
  write_scene(text[0], sizeof text[0], k, false);
  write_scene(text[1], sizeof text[1], k, true);
  stage free = stage_set(text[0], o), b = stage_set(text[1], o);
  stage_step(&free, steps);
  stage_step(&b, steps);
  const double off = largest_difference(sn_state_q(b.s), sn_state_q(free.s), b.m->tree.nv);
  stage_clear(&free);
  stage_clear(&b);
  return off;
}

TEST(what_holds_anyway_holds_nothing) {
  for (int k = 0; k < (int)(sizeof scene / sizeof *scene); k++) {
    /* dopri5 takes other steps where there are constraints, to its tolerance */
    sn_options rk4 = stage_exact(0.002);
    rk4.recursive.integrator = SN_RK4;
    CHECK(off_by(k, stage_exact(0.01), 100) < 1e-8, "scene %d, dopri5: off by %g", k,
          off_by(k, stage_exact(0.01), 100));
    CHECK(off_by(k, rk4, 500) < 1e-10, "scene %d, rk4: off by %g", k, off_by(k, rk4, 500));
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      for (int integrator = 0; integrator < 2; integrator++) {
        sn_options o = redmax_options(0.002);
        o.redmax.solver = redmax_solver[solver].option;
        o.redmax.tolerance = 1e-13;
        o.redmax.integrator = integrator ? SN_EXTRAPOLATED : SN_EULER;
        const double off = off_by(k, o, 500);
        CHECK(off < 1e-9, "scene %d, %s, integrator %d: off by %g", k, redmax_solver[solver].name,
              integrator, off);
      }
    }
  }
}

int main(void) {
  RUN_TESTS(T(what_holds_anyway_holds_nothing));
}
