/* A scissor lift put together folded, so that its upper half lies on its lower one: two of its rows
 * say what others say in closed poses only, and one of those all but vanishes on the way.  However
 * tight the tolerance, it moves as the tree without loops does that has its joints held instead. */
#include "stage.h"

#define PART "shapes: [{type: box, size: [1, 0.03, 0.05]"
static const char folded[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "defaults: {joint: {type: revolute, axis: [0, 1, 0]}, shape: {density: 2700}}\n"
    "bodies:\n"
    "  a1: {parent: world, " PART "}], joint: {at: [0, 0, 0.2588], type: composite, parts: [{type: "
    "prismatic, axis: [1, 0, 0]}, {type: prismatic, axis: [0, 0, 1]}, {type: revolute, axis: [0, "
    "1, "
    "0]}]}}\n"
    "  b1: {parent: a1, joint: {at: [0, 0.05, 0]}, " PART "}]}\n"
    "  a2: {parent: b1, joint: {at: [0.5, -0.05, 0]}, " PART ", at: [-0.5, 0, 0]}]}\n"
    "  b2: {parent: a2, joint: {at: [-0.5, 0.05, 0]}, " PART "}]}\n"
    "  top: {parent: b2, joint: {at: [0.5, 0, 0]}, damping: 5, shapes: [{type: box, size: [1.2, "
    "0.4, "
    "0.03], at: [-0.5, 0, 0.03]}]}\n"
    "loops:\n"
    "  foot: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [-0.433, 0, 0]}, b: {body: a1, "
    "at: [-0.5, 0, 0]}}\n"
    "  slide: {type: composite, parts: [{type: prismatic, axis: [1, 0, 0]}, {type: revolute, axis: "
    "[0, 1, 0]}], a: {body: world, at: [0.433, 0.05, 0]}, b: {body: b1, at: [-0.5, 0, 0]}}\n"
    "  mid: {type: revolute, axis: [0, 1, 0], a: {body: a1, at: [0.5, 0, 0]}, b: {body: b2, at: "
    "[-0.5, -0.05, 0]}}\n"
    "  head: {type: composite, parts: [{type: prismatic, axis: [1, 0, 0]}, {type: revolute, axis: "
    "[0, 1, 0]}], a: {body: top, at: [-0.8, 0, 0]}, b: {body: a2, at: [-1, 0.05, 0]}}\n"
    "forces:\n"
    "  ram: {type: spring, stiffness: 8000, damping: 100, rest_length: 0.9, a: {body: a1, at: "
    "[-0.3, 0, 0]}, b: {body: b2, at: [0.2, 0, 0]}}\n"
    "initial: {a1: {q: [0, 0, -30*deg]}, b1: {q: 60*deg}, a2: {q: -60*deg}, b2: {q: 60*deg}, top: "
    "{q: -30*deg}}\n";
static const char tree[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "defaults: {joint: {type: revolute, axis: [0, 1, 0]}, shape: {density: 2700}}\n"
    "bodies:\n"
    "  a1: {parent: world, joint: {at: [-0.433, 0, 0]}, " PART ", at: [0.5, 0, 0]}]}\n"
    "  b1: {parent: a1, joint: {type: fixed, at: [0.5, 0.05, 0]}, " PART "}]}\n"
    "  a2: {parent: b1, joint: {at: [0.5, -0.05, 0]}, " PART ", at: [-0.5, 0, 0]}]}\n"
    "  b2: {parent: a2, joint: {type: fixed, at: {pos: [-0.5, 0.05, 0], rotvec: [0, pi, 0]}}, " PART
    "}]}\n"
    "  top: {parent: b2, joint: {at: [0.5, 0, 0]}, damping: 5, shapes: [{type: box, size: [1.2, "
    "0.4, "
    "0.03], at: [-0.5, 0, 0.03]}]}\n"
    "forces:\n"
    "  ram: {type: spring, stiffness: 8000, damping: 100, rest_length: 0.9, a: {body: a1, at: "
    "[0.2, "
    "0, 0]}, b: {body: b2, at: [0.2, 0, 0]}}\n"
    "initial: {a1: {q: %.17g}, a2: {q: %.17g}, top: {q: %.17g}}\n";

/* The angles of a1, a2 and the top, of either. */
static void angles(const stage *b, bool loops, double *out) {
  static const int of_folded[] = {2, 4, 6}, of_tree[] = {0, 1, 2};
  for (int i = 0; i < 3; i++) {
    out[i] = sn_state_q(b->s)[loops ? of_folded[i] : of_tree[i]];
  }
}

TEST(a_folded_lift_moves_as_the_tree_does) {
  double start[3], best[3];
  stage first = stage_set(folded, stage_exact(0.01));
  angles(&first, true, start);
  stage_clear(&first);
  char text[3000];
  snprintf(text, sizeof text, tree, start[0], start[1], start[2]);
  stage t = stage_set(text, stage_exact(0.01));
  stage_step(&t, 20);
  angles(&t, false, best);
  stage_clear(&t);
  static const double tolerance[] = {1e-8, 1e-9, 1e-10, 1e-11, 1e-12};
  for (int k = 0; k < SNI_COUNT(tolerance) + 2; k++) {
    sn_options o = sn_options_default();
    const bool fixed = k >= SNI_COUNT(tolerance);
    o.step = !fixed ? 0.01 : k % 2 ? 0.005 : 0.001;
    o.recursive.integrator = fixed ? SN_RK4 : SN_DOPRI5;
    o.recursive.rel_tol = o.recursive.abs_tol = fixed ? 1 : tolerance[k];
    stage b = stage_set(folded, o);
    double got[3];
    stage_step(&b, (int)(0.2 / o.step + 0.5));
    angles(&b, true, got);
    for (int i = 0; i < 3; i++) {
      CHECK(fabs(got[i] - best[i]) < 1e-6, "%s, %g: angle %d is %.9g, not %.9g",
            fixed ? "rk4" : "dopri5", fixed ? o.step : tolerance[k], i, got[i], best[i]);
    }
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(a_folded_lift_moves_as_the_tree_does));
}
