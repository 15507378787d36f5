/* What people throw about: ragdolls, chains and closed rings, one or several, on a floor, over
 * boxes and on each other.  The law of contact holds in their steps to the tolerance, by default.
 */
#include "paper.h"
#include "stage.h"

typedef enum kind { RAGDOLLS, CHAINS, RINGS, KINDS } kind;
static const char *const kind_name[] = {"ragdolls", "chains", "rings"};

static void put_root(paper *p, dice *d, int which) {
  const sn_vec3 turn = random_vec3(&d->seed, 3);
  put(p, "joint: {type: free, at: {pos: [%.3g, %.3g, %.3g], rotvec: [%.3g, %.3g, %.3g]}}",
      between(d, -0.3, 0.3), between(d, -0.3, 0.3), 0.9 + 0.7 * which, turn.x, turn.y, turn.z);
}

static void put_limb(paper *p, dice *d, int which, const char *name, const char *parent,
                     const char *joint, sn_vec3 at, double length, double radius) {
  put(p, "  r%d%s: {parent: r%d%s, joint: {type: %s, at: [%g, %g, %g]", which, name, which, parent,
      joint, at.x, at.y, at.z);
  if (strstr(joint, "revolute")) {
    const double lo = -between(d, 0.1, 1), hi = between(d, 0.1, 2);
    put(p, ", limits: [%.3g, %.3g]", lo, hi);
  }
  if (roll(d) < 0.5) {
    put(p, ", damping: %.3g", between(d, 0, 0.5));
  }
  put(p,
      "}, shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, %g], radius: %g, density: 1000, "
      "contact: m}]}\n",
      -length, radius);
}

static void put_ragdoll(paper *p, dice *d, int which) {
  static const char ball[] = "spherical", hinge[] = "revolute, axis: [0, 1, 0]";
  static const char *const arm[] = {"armL", "armR"}, *const hand[] = {"handL", "handR"},
                           *const leg[] = {"legL", "legR"}, *const shin[] = {"shinL", "shinR"},
                           *const foot[] = {"footL", "footR"};
  put(p, "  r%dbody: {", which);
  put_root(p, d, which);
  put(p, ", shapes: [{type: box, size: [0.2, 0.35, 0.5], density: 900, contact: m}]}\n");
  put_limb(p, d, which, "head", "body", ball, (sn_vec3){0, 0, 0.38}, 0.05, 0.09);
  for (int k = 0; k < 2; k++) {
    const double side = 2 * k - 1;
    put_limb(p, d, which, arm[k], "body", ball, (sn_vec3){0, 0.23 * side, 0.2}, 0.3, 0.05);
    put_limb(p, d, which, hand[k], arm[k], hinge, (sn_vec3){0, 0, -0.3}, 0.25, 0.04);
    put_limb(p, d, which, leg[k], "body", ball, (sn_vec3){0, 0.1 * side, -0.28}, 0.4, 0.07);
    put_limb(p, d, which, shin[k], leg[k], hinge, (sn_vec3){0, 0, -0.4}, 0.4, 0.05);
    put_limb(p, d, which, foot[k], shin[k], hinge, (sn_vec3){0, 0, -0.4}, 0.1, 0.04);
  }
}

/* Links one after the other, in a circle if it is to be closed.  Returns where it is. */
static double put_chain(paper *p, dice *d, int which, int links, bool ring) {
  static const char *const type[] = {"revolute, axis: [0, 1, 0]", "spherical", "universal",
                                     "revolute, axis: [0, 1, 1]"};
  const int joint = one_of(d, ring ? 2 : 4);
  const double turn = ring ? 2 * SN_PI / links : 0, length = between(d, 0.08, 0.2);
  for (int k = 0; k < links; k++) {
    put(p, "  r%dl%d: {", which, k);
    if (k == 0) {
      put_root(p, d, which);
    } else {
      put(p, "parent: r%dl%d, joint: {type: %s, at: {pos: [%.17g, 0, 0], rotvec: [0, %.17g, 0]}}",
          which, k - 1, type[joint], length, turn);
    }
    put(p,
        ", shapes: [{type: capsule, from: [%.3g, 0, 0], to: [%.3g, 0, 0], radius: 0.02, density: "
        "1000, contact: m}]}\n",
        0.15 * length, 0.85 * length);
  }
  return length;
}

static void thrown_write(paper *p, dice *d, kind what) {
  static const char *const self[] = {"none", "distant"};
  enum { MOST = 4 };
  const int n = 1 + one_of(d, MOST), boxes = one_of(d, 4);
  int links[MOST];
  double length[MOST];
  p->used = 0;
  put(p, "sinew: 1\ncontacts: {m: {friction: %.3g, self: %s}}\nbodies:\n", between(d, 0, 1.2),
      self[one_of(d, 2)]);
  put(p, "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n");
  for (int k = 0; k < boxes; k++) {
    const bool loose = roll(d) < 0.5;
    put(p,
        "  box%d: {joint: {type: %s, at: [%.3g, %.3g, %.3g]}, shapes: [{type: box, size: [0.3, "
        "0.4, 0.3], density: 500, contact: m}]}\n",
        k, loose ? "free" : "fixed", between(d, -0.5, 0.5), between(d, -0.5, 0.5), 0.15 + 0.31 * k);
  }
  for (int k = 0; k < n; k++) {
    links[k] = 8 + one_of(d, what == RINGS ? 8 : 16);
    length[k] =
        what == RAGDOLLS ? (put_ragdoll(p, d, k), 0) : put_chain(p, d, k, links[k], what == RINGS);
  }
  if (what == RINGS) {
    put(p, "loops:\n");
    for (int k = 0; k < n; k++) {
      put(p, "  c%d: {type: spherical, a: {body: r%dl%d, at: [%.17g, 0, 0]}, b: {body: r%dl0}}\n",
          k, k, links[k] - 1, length[k], k);
    }
  }
}

typedef struct tally {
  int steps, left;
  double worst;
} tally;

static void throw(kind what, int number, tally *t) {
  static paper p;
  dice d = {.seed = (uint64_t)number * 7919 + 3};
  thrown_write(&p, &d, what);
  static const double step[] = {0.002, 0.005, 0.01};
  const sn_options o = redmax_options(step[one_of(&d, 3)]);
  stage b = stage_set(p.text, o);
  const int steps = (int)lround(1.5 / o.step);
  for (int i = 0; i < b.m->tree.nv; i++) {
    sn_state_qd(b.s)[i] = test_random(&d.seed, -1, 1);
  }
  sn_error err = {0};
  CHECK(sn_sim_assemble(b.sim, b.s, &err) == SN_OK, "%s", err.text);
  for (int k = 0; k < steps; k++) {
    sn_info info = {0};
    CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) >= SN_OK, "%s %d, step %d: %s",
          kind_name[what], number, k, err.text);
    t->steps++;
    t->left += info.contact_residual > o.redmax.contact.tolerance;
    t->worst = fmax(t->worst, info.contact_residual);
  }
  stage_clear(&b);
}

/* All but one of a thousand steps, in which bodies jam; and these are not far from it.  SINEW_SOAK:
 * of many more scenes. */
TEST(what_is_thrown_keeps_to_the_law) {
  const int scenes = getenv("SINEW_SOAK") ? 40 : 3;
  tally all = {0};
  for (int what = 0; what < KINDS; what++) {
    tally t = {0};
    for (int k = 0; k < scenes; k++) {
      throw(what, k, &t);
    }
    print_message("  %s: %d of %d steps are not to the tolerance, at worst %.1e\n", kind_name[what],
                  t.left, t.steps, t.worst);
    all.steps += t.steps;
    all.left += t.left;
    all.worst = fmax(all.worst, t.worst);
  }
  CHECK(all.left <= 1 + 1e-3 * all.steps, "%d of %d steps are not to the tolerance", all.left,
        all.steps);
  CHECK(all.worst < 1e-3, "a step is %g from the law", all.worst);
}

int main(void) {
  RUN_TESTS(T(what_is_thrown_keeps_to_the_law));
}
