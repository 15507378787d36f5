/* Bennett's linkage, four hinges in space: three of the six rows of its loop say in closed poses
 * what the others say, and something else as soon as it is open, however little.  What it does must
 * not depend on who integrates. */
#include "stage.h"

#include <stdio.h>

#define DURATION 4.0
#define OPENED   1.0 /* the first hinge, at the start */

/* Links of 1 and of sin(beta)/sin(alpha), twisted by alpha and by beta, in turn. */
typedef struct linkage {
  double alpha, beta;
} linkage;
static const linkage all[] = {{0.5, 1.1}, {0.3, 0.9}, {0.7, 1.3},
                              {1.0, 1.5}, {0.2, 0.5}, {0.9, 1.8}};
enum { LINKAGES = sizeof all / sizeof all[0] };

/* Closed by `fixed` with four bodies, or by a hinge with three. */
static void write_bennett(const linkage *l, bool by_hinge, char *out, size_t size) {
  const double twist[] = {l->alpha, l->beta}, length[] = {1, sin(l->beta) / sin(l->alpha)};
  const double half = sin((l->beta + l->alpha) / 2) / sin((l->beta - l->alpha) / 2);
  const double second = 2 * atan2(half, tan(OPENED / 2));
  const double q[] = {OPENED, second, -OPENED, -second};
  const int n = by_hinge ? 3 : 4;
  size_t used = (size_t)snprintf(out, size, "{sinew: 1, bodies: {");
  char parent[16] = "world", at[100] = "[0, 0, 0]";
  for (int i = 0; i < n; i++) {
    used +=
        (size_t)snprintf(out + used, size - used,
                         "k%d: {parent: %s, joint: {type: revolute, axis: [0, 0, 1], at: %s}, "
                         "inertia: {mass: 1, at: [0.1, 0.1, 0.1], xx: 0.1, yy: 0.1, zz: 0.1}}%s",
                         i, parent, at, i < n - 1 ? ", " : "}, initial: {");
    snprintf(parent, sizeof parent, "k%d", i);
    snprintf(at, sizeof at, "{pos: [%.17g, 0, 0], rotvec: [%.17g, 0, 0]}", length[i % 2],
             twist[i % 2]);
  }
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(out + used, size - used, "k%d: {q: %.17g}%s", i, q[i],
                             i < n - 1 ? ", " : "}, ");
  }
  if (by_hinge) {
    used += (size_t)snprintf(out + used, size - used,
                             "loops: {L: {type: revolute, axis: [0, 0, 1], a: {body: %s, at: %s}, "
                             "b: {body: world, at: {pos: [%.17g, 0, 0], rotvec: [%.17g, 0, 0]}}}}}",
                             parent, at, -length[1], -l->beta);
  } else {
    used += (size_t)snprintf(out + used, size - used,
                             "loops: {L: {type: fixed, a: {body: %s, at: %s}, b: {body: world}}}}",
                             parent, at);
  }
  CHECK(used < size, "no room for the scene");
}

/* Where the first hinge is at the end, and the largest change of energy on the way. */
typedef struct outcome {
  double q, change;
} outcome;
static outcome run(const char *scene, const sn_options *o) {
  stage b = stage_set(scene, *o);
  const double before = stage_energy(&b);
  outcome out = {0};
  for (int k = 0; k < (int)(DURATION / o->step + 0.5); k++) {
    stage_step(&b, 1);
    out.change = fmax(out.change, fabs(stage_energy(&b) - before));
  }
  out.q = sn_state_q(b.s)[0];
  stage_clear(&b);
  return out;
}

static sn_options by_rk4(double step) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.integrator = SN_RK4;
  return o;
}

static sn_options by_dopri5(double tolerance) {
  sn_options o = sn_options_default();
  o.step = 0.01;
  o.recursive.rel_tol = tolerance;
  o.recursive.abs_tol = 1e-2 * tolerance;
  return o;
}

static void check(const linkage *l, bool by_hinge, const char *who, outcome got, double q,
                  double change) {
  CHECK(got.change < change && fabs(got.q - q) < change,
        "alpha %g, beta %g, %s, %s: energy changes by %.3g, ends at %.9g, not %.9g", l->alpha,
        l->beta, by_hinge ? "hinge" : "fixed", who, got.change, got.q, q);
}

/* T is 7 to 14 J. */
TEST(all_integrators_agree) {
  char scene[2048];
  for (int k = 0; k < 2 * LINKAGES; k++) {
    const linkage *l = &all[k / 2];
    const bool by_hinge = k % 2;
    write_bennett(l, by_hinge, scene, sizeof scene);
    const sn_options coarse = by_rk4(0.01), fine = by_rk4(0.002), usual = by_dopri5(1e-8),
                     tight = by_dopri5(1e-11), tightest = by_dopri5(1e-12);
    const outcome best = run(scene, &fine);
    check(l, by_hinge, "rk4, 2 ms", best, best.q, 1e-7);
    check(l, by_hinge, "rk4, 10 ms", run(scene, &coarse), best.q, 1e-4);
    check(l, by_hinge, "dopri5, 1e-8", run(scene, &usual), best.q, 1e-4);
    check(l, by_hinge, "dopri5, 1e-11", run(scene, &tight), best.q, 1e-6);
    check(l, by_hinge, "dopri5, 1e-12", run(scene, &tightest), best.q, 1e-6);
  }
}

TEST(redmax_agrees) {
  char scene[2048];
  for (int k = 0; k < 2 * LINKAGES; k++) {
    write_bennett(&all[k / 2], k % 2, scene, sizeof scene);
    const sn_options fine = by_rk4(0.002);
    sn_options o = redmax_options(0.005);
    o.redmax.integrator = SN_EXTRAPOLATED;
    check(&all[k / 2], k % 2, "redmax", run(scene, &o), run(scene, &fine).q, 5e-3);
  }
}

int main(void) {
  RUN_TESTS(T(all_integrators_agree), T(redmax_agrees));
}
