/* Bennett's linkage, four hinges in space: three of the six rows of its loop say in closed poses
 * what the others say, and something else as soon as it is open, however little; so does one row of
 * a parallelogram with a third crank.  What they do must not depend on who integrates, on how many
 * there are, nor on limits that are far away. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>

#define DURATION 4.0
#define SHORT    1.5 /* of many at once */
#define OPENED   1.0 /* the first hinge, at the start */

/* Links of 1 and of sin(beta)/sin(alpha), twisted by alpha and by beta, in turn. */
typedef struct linkage {
  double alpha, beta;
} linkage;
static const linkage all[] = {{0.5, 1.1}, {0.3, 0.9}, {0.7, 1.3},
                              {1.0, 1.5}, {0.2, 0.5}, {0.9, 1.8}};
enum { LINKAGES = sizeof all / sizeof all[0] };

/* Its two lengths and twists, and the four angles that it starts with. */
typedef struct form {
  double length[2], twist[2], q[4];
} form;
static form form_of(const linkage *l) {
  const double half = sin((l->beta + l->alpha) / 2) / sin((l->beta - l->alpha) / 2);
  const double second = 2 * atan2(half, tan(OPENED / 2));
  return (form){
      {1, sin(l->beta) / sin(l->alpha)}, {l->alpha, l->beta}, {OPENED, second, -OPENED, -second}};
}

/* Closed by `fixed` with four bodies, or by a hinge with three. */
static void write_bennett(const linkage *l, bool by_hinge, char *out, size_t size) {
  const form s = form_of(l);
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
    snprintf(at, sizeof at, "{pos: [%.17g, 0, 0], rotvec: [%.17g, 0, 0]}", s.length[i % 2],
             s.twist[i % 2]);
  }
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(out + used, size - used, "k%d: {q: %.17g}%s", i, s.q[i],
                             i < n - 1 ? ", " : "}, ");
  }
  if (by_hinge) {
    used += (size_t)snprintf(out + used, size - used,
                             "loops: {L: {type: revolute, axis: [0, 0, 1], a: {body: %s, at: %s}, "
                             "b: {body: world, at: {pos: [%.17g, 0, 0], rotvec: [%.17g, 0, 0]}}}}}",
                             parent, at, -s.length[1], -l->beta);
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

/* ---- many at once ---- */

enum { ROOM = 1 << 16 };
typedef struct writer {
  char text[ROOM];
  size_t used;
} writer;
#define WRITE(w, ...)                                                                              \
  ((w)->used += (size_t)snprintf((w)->text + (w)->used, ROOM - (w)->used, __VA_ARGS__))

#define FAR_LIMITS ", limits: [-100, 100]"

/* All six side by side, closed by `fixed`. */
static void write_many(const char *limits, writer *w) {
  w->used = 0;
  WRITE(w, "{sinew: 1, bodies: {");
  for (int n = 0; n < LINKAGES; n++) {
    const form s = form_of(&all[n]);
    for (int i = 0; i < 4; i++) {
      char parent[16] = "world";
      if (i > 0) {
        snprintf(parent, sizeof parent, "k%d_%d", n, i - 1);
      }
      WRITE(w,
            "%sk%d_%d: {parent: %s, joint: {type: revolute, axis: [0, 0, 1]%s, at: {pos: [%.17g, "
            "%d, 0], rotvec: [%.17g, 0, 0]}}, inertia: {mass: 1, at: [0.1, 0.1, 0.1], xx: 0.1, "
            "yy: 0.1, zz: 0.1}}",
            n + i > 0 ? ", " : "", n, i, parent, limits, i > 0 ? s.length[(i - 1) % 2] : 0,
            i > 0 ? 0 : 5 * n, i > 0 ? s.twist[(i - 1) % 2] : 0);
    }
  }
  WRITE(w, "}, initial: {");
  for (int n = 0; n < LINKAGES; n++) {
    const form s = form_of(&all[n]);
    for (int i = 0; i < 4; i++) {
      WRITE(w, "%sk%d_%d: {q: %.17g}", n + i > 0 ? ", " : "", n, i, s.q[i]);
    }
  }
  WRITE(w, "}, loops: {");
  for (int n = 0; n < LINKAGES; n++) {
    const form s = form_of(&all[n]);
    WRITE(w,
          "%sL%d: {type: fixed, a: {body: k%d_3, at: {pos: [%.17g, 0, 0], rotvec: [%.17g, 0, 0]}}, "
          "b: {body: world, at: [0, %d, 0]}}",
          n > 0 ? ", " : "", n, n, s.length[1], s.twist[1], 5 * n);
  }
  WRITE(w, "}}");
  CHECK(w->used < ROOM, "no room for the scene");
}

/* Cranks of 0.5 m on the ground, all alike, and a bar that lies on all three: two loops of a planar
 * hinge each, of which one row is in surplus.  Other cranks start at other angles. */
static void write_parallelograms(int count, const char *limits, writer *w) {
  w->used = 0;
  WRITE(w,
        "{sinew: 1, defaults: {joint: {type: revolute, axis: [0, 1, 0]%s}, shape: {density: "
        "1000}}, bodies: {",
        limits);
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < 3; i++) {
      WRITE(w,
            "%sc%d_%d: {joint: {at: [%.17g, %d, 0]}, shapes: [{type: box, size: [0.04, 0.04, 0.5], "
            "at: [0, 0, -0.25]}]}",
            n + i > 0 ? ", " : "", n, i, 0.6 * i, n);
    }
    WRITE(w,
          ", b%d: {parent: c%d_0, joint: {at: [0, 0, -0.5]}, shapes: [{type: box, size: [1.2, "
          "0.04, 0.04], at: [0.6, 0, 0]}]}",
          n, n);
  }
  WRITE(w, "}, initial: {");
  for (int n = 0; n < count; n++) {
    const double q = 1.2 - 0.1 * n;
    WRITE(w, "%sc%d_0: {q: %.17g}, c%d_1: {q: %.17g}, c%d_2: {q: %.17g}, b%d: {q: %.17g}",
          n > 0 ? ", " : "", n, q, n, q, n, q, n, -q);
  }
  WRITE(w, "}, loops: {");
  for (int n = 0; n < count; n++) {
    for (int i = 1; i < 3; i++) {
      WRITE(w,
            "%sL%d_%d: {type: revolute, axis: [0, 1, 0], a: {body: b%d, at: [%.17g, 0, 0]}, b: "
            "{body: c%d_%d, at: [0, 0, -0.5]}}",
            n + i > 1 ? ", " : "", n, i, n, 0.6 * i, n, i);
    }
  }
  WRITE(w, "}}");
  CHECK(w->used < ROOM, "no room for the scene");
}

/* Everyone ends at q, and the energy, 30 J of which move, stays. */
static void check_scene(const char *what, const char *scene, const sn_options *o, const double *q,
                        double tolerance) {
  stage b = stage_set(scene, *o);
  const double before = stage_energy(&b);
  double change = 0, off = 0;
  for (int k = 0; k < (int)(SHORT / o->step + 0.5); k++) {
    stage_step(&b, 1);
    change = fmax(change, fabs(stage_energy(&b) - before));
  }
  for (int j = 0; j < b.m->tree.nv; j++) {
    off = fmax(off, fabs(sn_state_q(b.s)[j] - q[j]));
  }
  CHECK(change < tolerance && off < tolerance, "%s: energy changes by %.3g, off by %.3g", what,
        change, off);
  stage_clear(&b);
}

static void check_by_all(const char *name, const char *scene) {
  const sn_options fine = by_rk4(0.002), coarse = by_rk4(0.01), usual = by_dopri5(1e-8),
                   tight = by_dopri5(1e-11);
  stage b = stage_set(scene, fine);
  stage_step(&b, (int)(SHORT / fine.step + 0.5));
  const size_t bytes = (size_t)b.m->tree.nv * sizeof(double);
  double *q = malloc(bytes);
  CHECK(q != NULL, "no memory");
  memcpy(q, sn_state_q(b.s), bytes);
  stage_clear(&b);
  char what[100];
#define LABEL(who) (snprintf(what, sizeof what, "%s, %s", name, who), what)
  check_scene(LABEL("rk4, 2 ms"), scene, &fine, q, 1e-6);
  check_scene(LABEL("dopri5, 1e-8"), scene, &usual, q, 1e-3);
  check_scene(LABEL("dopri5, 1e-11"), scene, &tight, q, 1e-5);
  check_scene(LABEL("rk4, 10 ms"), scene, &coarse, q, 1e-3);
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    sn_options o = redmax_options(0.01);
    o.redmax.integrator = SN_EXTRAPOLATED;
    o.redmax.solver = redmax_solver[k].option;
    check_scene(LABEL(redmax_solver[k].name), scene, &o, q, 0.1);
  }
#undef LABEL
  free(q);
}

static writer scene_of_many;

TEST(many_linkages_move_alike) {
  write_many("", &scene_of_many);
  check_by_all("six", scene_of_many.text);
  write_many(FAR_LIMITS, &scene_of_many);
  check_by_all("six with limits", scene_of_many.text);
}

TEST(a_linkage_with_limits) {
  char scene[2048], limited[2048];
  for (int k = 0; k < LINKAGES; k++) {
    write_bennett(&all[k], false, scene, sizeof scene);
    const char *axis = strstr(scene, "axis: [0, 0, 1]") + strlen("axis: [0, 0, 1]");
    snprintf(limited, sizeof limited, "%.*s%s%s", (int)(axis - scene), scene, FAR_LIMITS, axis);
    const sn_options coarse = by_rk4(0.01), usual = by_dopri5(1e-8), tight = by_dopri5(1e-11);
    const sn_options *const each[] = {&coarse, &usual, &tight};
    const char *const who[] = {"limits, rk4", "limits, dopri5", "limits, dopri5, 1e-11"};
    for (int n = 0; n < 3; n++) {
      const outcome free = run(scene, each[n]), held = run(limited, each[n]);
      check(&all[k], false, who[n], held, free.q, n < 2 ? 1e-4 : 1e-6);
    }
  }
}

TEST(parallelograms_with_a_third_crank) {
  const struct {
    int count;
    const char *limits, *name;
  } each[] = {{1, "", "one"},
              {1, FAR_LIMITS, "one with limits"},
              {6, "", "six"},
              {6, FAR_LIMITS, "six with limits"}};
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
    write_parallelograms(each[k].count, each[k].limits, &scene_of_many);
    char name[60];
    snprintf(name, sizeof name, "%s, third cranks", each[k].name);
    check_by_all(name, scene_of_many.text);
  }
}

/* Two loops that are once nearly stretched, and a motor.  In a step what it moves is looked at
 * where it will be: that is no gap that leaves the rows of the loops in doubt. */
static const char driven[] =
    "sinew: 1\n"
    "bodies:\n"
    "  b0: {parent: world, joint: {type: spherical, at: [-0.4, -0.32, 0.41]}, inertia: {mass: "
    "2.77, at: [-0.19, 0.09, 0.07], xx: 0.05, yy: 0.06, zz: 0.07}}\n"
    "  b1: {parent: b0, joint: {type: revolute, axis: [0, 0, 1], stiffness: 50, at: [0.56, 0.03, "
    "-0.07]}, inertia: {mass: 2.36, at: [0.22, 0.11, 0.19], xx: 0.05, yy: 0.06, zz: 0.07}}\n"
    "  b2: {parent: b0, joint: {type: revolute, axis: [1, 0, 0], stiffness: 50, at: [0.51, 0.07, "
    "0.22]}, inertia: {mass: 2.98, at: [-0.26, -0.08, 0.09], xx: 0.05, yy: 0.06, zz: 0.07}}\n"
    "  b3: {parent: world, joint: {type: prismatic, axis: [0.3, 1, 0.2], stiffness: 5, at: [0.02, "
    "-0.22, -0.18]}, inertia: {mass: 1.41, at: [0.08, 0.11, 0.21], xx: 0.05, yy: 0.06, zz: 0.07}}\n"
    "  b4: {parent: world, joint: {type: revolute, axis: [0.3, 1, 0.2], stiffness: 5, at: [-0.42, "
    "-0.46, -0.22]}, inertia: {mass: 2.19, at: [-0.07, 0.06, 0.17], xx: 0.05, yy: 0.06, zz: "
    "0.07}}\n"
    "  b5: {parent: b4, joint: {type: revolute, axis: [1, 0, 0], stiffness: 50, at: [0.05, 0.34, "
    "-0.23]}, inertia: {mass: 1.4, at: [0.1, -0.15, 0.26], xx: 0.05, yy: 0.06, zz: 0.07}}\n"
    "  b6: {parent: b5, joint: {type: spherical, at: [-0.07, -0.22, 0.47]}, inertia: {mass: 1.71, "
    "at: [0.11, 0.23, 0.26], xx: 0.05, yy: 0.06, zz: 0.07}}\n"
    "loops:\n"
    "  L0: {type: spherical, damping: 0.2, a: {body: world, at: [-0.16, 0.01, -0.48]}, b: {body: "
    "b2, at: [-0.27, 0.26, -1.1099999999999999]}}\n"
    "  L1: {type: spherical, damping: 1, a: {body: b6, at: [1.05, -0.010000000000000009, -0.81]}, "
    "b: {body: b2, at: [0.5, -0.09999999999999998, -1.42]}}\n"
    "motions: {m: {joint: b5, q: \"0.2*sin(3*t)\"}}\n";

TEST(what_is_driven_leaves_nothing_in_doubt) {
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    sn_options o = redmax_options(0.01);
    o.redmax.solver = SN_SOLVER_GRAPH;
    stage a = stage_set(driven, o);
    o.redmax.tolerance = 1e-13;
    o.redmax.solver = redmax_solver[k].option;
    if (o.redmax.solver != SN_SOLVER_TREE) {
      stage b = stage_set(driven, o);
      for (int n = 1; n <= 60; n++) {
        stage_step(&a, 1);
        stage_step(&b, 1);
        double off = 0;
        for (int j = 0; j < sn_model_dof_count(a.m); j++) {
          off = fmax(off, fabs(sn_state_qd(a.s)[j] - sn_state_qd(b.s)[j]));
        }
        CHECK(off < 1e-9, "%s, step %d: rates off by %g", redmax_solver[k].name, n, off);
      }
      stage_clear(&b);
    }
    stage_clear(&a);
  }
}

int main(void) {
  RUN_TESTS(T(all_integrators_agree), T(redmax_agrees), T(many_linkages_move_alike),
            T(a_linkage_with_limits), T(parallelograms_with_a_third_crank),
            T(what_is_driven_leaves_nothing_in_doubt));
}
