/* What sticks stays where it is in mechanisms that move, too; and what sticks or slips does not
 * depend on units, on size, or on what else there is. */
#include "stage.h"

/* ---- nothing creeps ---- */

#define MASS         "inertia: {mass: 1, at: [0.05, 0.03, 0.02], xx: 0.01, yy: 0.01, zz: 0.01}"
#define PIN          "friction: {mu: 2, pin_radius: 0.05, pin_length: 0.1}"
#define FLAP(parent) FLAP_AT("a", parent)
#define FLAP_AT(name, parent)                                                                      \
  "  " name ": {parent: " parent                                                                   \
  ", joint: {type: revolute, at: [0.2, 0, 0], axis: [0, 1, 0], " PIN "}, " MASS "}\n"
#define FLAP_ON(parent) FLAP_AT("f", parent)
#define CRANK           "  c: {joint: {type: revolute, axis: [0, 1, 0]}, " MASS "}\n"
#define ROD                                                                                        \
  "  r: {parent: c, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, -0.4]}, " MASS "}\n"

/* A pin or slider `a` that holds, on what turns, or is driven, or held together by something. */
static const char *const carried[] = {
    /* on a rotor, where it is drawn outwards */
    "sinew: 1\n"
    "bodies:\n"
    "  c: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 10, xx: 1, yy: 1, zz: 1}}\n"
    "  a: {parent: c, joint: {type: prismatic, axis: [1, 0, 0], at: [0.3, 0, 0], friction: {mu: 9, "
    "size: [0.1, 0.1, 0.2]}}, inertia: {mass: 0.5, xx: 0.01, yy: 0.01, zz: 0.01}}\n"
    "initial: {c: {qd: 10}}\n",
    /* the same in a sleeve */
    "sinew: 1\n"
    "bodies:\n"
    "  c: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 10, xx: 1, yy: 1, zz: 1}}\n"
    "  a: {parent: c, joint: {type: cylindrical, axis: [1, 0, 0], at: [0.3, 0, 0], friction: {mu: "
    "9, pin_radius: 0.05, pin_length: 0.2}}, inertia: {mass: 0.5, xx: 0.01, yy: 0.01, zz: 0.01}}\n"
    "initial: {c: {qd: 10}}\n",
    /* a ball on a driven crank */
    "sinew: 1\n"
    "bodies:\n" CRANK
    "  a: {parent: c, joint: {type: spherical, at: [0.2, 0, 0], friction: {mu: 2, "
    "pin_radius: 0.1}}, " MASS "}\n"
    "motions: {m: {joint: c, q: 0.4*sin(6*t)}}\n",
    /* flaps on what motions, distances, maps and loops move */
    "sinew: 1\n"
    "bodies:\n" CRANK FLAP("c") "motions: {m: {joint: c, q: 0.8*sin(6*t)}}\n",
    "sinew: 1\n"
    "bodies:\n" CRANK ROD FLAP("r") "motions: {m: {body: r, at: [0.3, 0, 0], point: "
                                    "[0.3+0.1*(1-cos(3*t)), 0, -0.4]}}\n",
    "sinew: 1\n"
    "bodies:\n" CRANK ROD FLAP("r") "constraints: {d: {type: distance, a: {body: world, at: [0.5, "
                                    "0, 0]}, b: {body: r, at: [0.3, 0, 0]}}}\n",
    "sinew: 1\n"
    "bodies:\n" CRANK ROD FLAP(
        "r") "constraints: {g: {type: map, coordinates: [{name: u}], joints: "
             "[{joint: c, value: u}, {joint: r, value: u^2 - 0.5*u}]}}\n",
    "sinew: 1\n"
    "bodies:\n" CRANK ROD FLAP(
        "r") "  e: {joint: {type: revolute, axis: [0, 1, 0], at: [0.6, 0, "
             "0]}, " MASS "}\n"
             "loops: {l: {type: spherical, a: {body: r, at: [0.4, 0, 0]}, b: "
             "{body: e, at: [-0.2, 0, -0.4]}}}\n"
             "initial: {c: {qd: 2}}\n"};

/* In the last two of them what is driven jerks, as gains are asked for by steps of two lengths:
 * then what bears little slips. */
enum { WAYS = 8, SMOOTH = 6 };
static sn_options options_of(int way) {
  sn_options o = redmax_options(0.002);
  o.redmax.inertia = way & 1 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
  o.redmax.closure = way & 2 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
  o.redmax.integrator = way & 4 ? SN_EXTRAPOLATED : SN_EULER;
  return o;
}

TEST(what_sticks_stays_on_what_moves) {
  for (int k = 0; k < SNI_COUNT(carried); k++) {
    for (int way = 0; way < SMOOTH; way++) {
      stage s = stage_set(carried[k], options_of(way));
      const int body = sn_model_body_find(s.m, "a"), first = s.m->tree.vadr[body];
      const int n = sn_model_joint_dofs(s.m, body);
      double start[SN_NV_MAX], moved = 0;
      stage_step(&s, 20); /* until it has found where it holds */
      memcpy(start, sn_state_q(s.s) + first, (size_t)n * sizeof *start);
      stage_step(&s, 500);
      for (int c = 0; c < n; c++) {
        moved = fmax(moved, fabs(sn_state_q(s.s)[first + c] - start[c]));
      }
      CHECK(moved <= 1e-9, "way %d: it has moved by %g\n%s", way, moved, carried[k]);
      stage_clear(&s);
    }
  }
}

/* Bars on two cranks that meet in a joint that holds: what is left is a linkage of four bars, or of
 * bars in space, that swings. */
#define ARM(name, x, type) "  " name ": {joint: {type: " type ", at: [" x ", 0, 0]}, " MASS "}\n"
#define BAR(name, parent, type)                                                                    \
  "  " name ": {parent: " parent ", joint: {type: " type ", at: [0.05, 0, -0.3]}, " MASS "}\n"
#define PLANE "revolute, axis: [0, 1, 0]"
#define MEET(type)                                                                                 \
  "loops: {l: {type: " type ", a: {body: b, at: [0.15, 0, -0.2]}, b: {body: d, at: [-0.25, 0, "    \
  "-0.2]}}}\n"
#define FIVE_BARS                                                                                  \
  "sinew: 1\n"                                                                                     \
  "bodies:\n" ARM("a", "0", PLANE) BAR("b", "a", PLANE) ARM("c", "0.4", PLANE)                     \
      BAR("d", "c", PLANE)
#define BARS_IN_SPACE                                                                              \
  "sinew: 1\n"                                                                                     \
  "bodies:\n" ARM("a", "0", "revolute, axis: [0.3, 1, 0.1]") BAR("b", "a", "spherical")            \
      ARM("c", "0.4", "revolute, axis: [0, 1, 0.2]") BAR("d", "c", "spherical")
#define SWING "initial: {a: {qd: 3}}\n"

#define TIGHT "friction: {mu: 90, pin_radius: 0.05, pin_length: 0.1}"
static const char *const closed[] = {
    FIVE_BARS MEET("revolute, axis: [0, 1, 0], " TIGHT) SWING,
    FIVE_BARS MEET("revolute, axis: [0, 1, 0], friction: {law: dry, force: 50}") SWING,
    FIVE_BARS MEET("prismatic, axis: [1, 0, 0.5], friction: {mu: 90, size: [0.1, 0.1, 0.2]}") SWING,
    BARS_IN_SPACE MEET("spherical, friction: {mu: 90, pin_radius: 0.1}") SWING,
    BARS_IN_SPACE MEET("universal, friction: {mu: 90, pin_radius: 0.1, pin_length: 0.2}") SWING,
    BARS_IN_SPACE MEET(
        "cylindrical, axis: [1, 0, 0], friction: {mu: 90, pin_radius: 0.1, pin_length: 0.2}") SWING,
    /* one of the cranks driven, a tree joint that holds beside it, a limit that is reached */
    FIVE_BARS MEET(
        "revolute, axis: [0, 1, 0], " TIGHT) "motions: {m: {joint: a, q: 0.5*sin(5*t)}}\n",
    FIVE_BARS FLAP_ON("b") MEET("revolute, axis: [0, 1, 0], " TIGHT) SWING,
    "sinew: 1\n"
    "bodies:\n" ARM("a", "0", PLANE ", limits: [-0.2, 0.2]") BAR("b", "a", PLANE)
        ARM("c", "0.4", PLANE) BAR("d", "c", PLANE) MEET("revolute, axis: [0, 1, 0], " TIGHT)
            SWING};

TEST(loops_that_stick_stay) {
  for (int k = 0; k < SNI_COUNT(closed); k++) {
    for (int way = 0; way < WAYS; way++) {
      stage s = stage_set(closed[k], options_of(way));
      const int n = s.m->constraint[0].nv;
      const double *now = s.s->data + 2 * s.s->nv + s.m->constraint[0].first;
      double start[SN_NV_MAX], moved = 0, went = 0;
      stage_step(&s, 20); /* until it has found where it holds */
      memcpy(start, now, (size_t)n * sizeof *start);
      const double crank = stage_channel(&s, "a.q");
      for (int i = 0; i < 300; i++) {
        stage_step(&s, 1);
        went = fmax(went, fabs(stage_channel(&s, "a.q") - crank));
        for (int c = 0; c < n; c++) {
          moved = fmax(moved, fabs(now[c] - start[c]));
        }
      }
      CHECK(moved <= 1e-9, "way %d: it has moved by %g\n%s", way, moved, closed[k]);
      CHECK(went > 0.1, "way %d: nothing moves but %g", way, went);
      stage_clear(&s);
    }
  }
}

/* ---- nobody else matters ---- */

/* A bracket that locks, alone and with a heavy pendulum beside it. */
TEST(light_brackets_lock_beside_heavy_pendulums) {
  for (int k = 0; k < 3; k++) {
    static const double mass[] = {0, 1e3, 1e6};
    char text[1000], heavy[400] = "";
    snprintf(heavy, sizeof heavy,
             "  h: {joint: {type: revolute, axis: [0, 1, 0], friction: {mu: 0.2, pin_radius: 0.1, "
             "pin_length: 0.5}}, inertia: {mass: %g, at: [1, 0, 0], xx: %g, yy: %g, zz: %g}}\n",
             mass[k], mass[k], mass[k], mass[k]);
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "gravity: [2, 0, -9.81]\n"
             "bodies:\n"
             "  b: {joint: {type: prismatic, axis: [0, 0, 1], friction: {mu: 0.3, size: [0.1, 0.1, "
             "0.1]}}, inertia: {mass: 0.1, at: [0.4, 0, 0], xx: 0.01, yy: 0.01, zz: 0.01}}\n%s"
             "initial: {b: {qd: -0.3}}\n",
             k > 0 ? heavy : "");
    stage s = stage_set(text, redmax_options(0.001));
    stage_step(&s, 100);
    const double at = stage_channel(&s, "b.q");
    CHECK(fabs(at) < 1e-3, "beside %g kg it goes down to %g", mass[k], at);
    stage_clear(&s);
  }
}

/* The same spatial linkage in other units of length: loads are forces, whatever these are. */
static void load_linkage(double unit, double normal[4]) {
  static const char *const name[] = {"p.normal", "q.normal", "r.normal", "loops.l.normal"};
  char text[3000];
#define AT(x, y, z) unit *(x), unit *(y), unit *(z)
  const double I = 0.01 * unit * unit, radius = 0.01 * unit, length = 0.05 * unit;
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "gravity: [0, 0, %.17g]\n"
           "bodies:\n"
           "  p: {joint: {type: revolute, axis: [0.1, 1, 0.2], friction: {mu: 0.2, pin_radius: "
           "%.17g, pin_length: %.17g}}, inertia: {mass: 1, at: [%.17g, %.17g, %.17g], xx: %.17g, "
           "yy: %.17g, zz: %.17g}}\n"
           "  q: {parent: p, joint: {type: universal, at: [%.17g, %.17g, %.17g], friction: {mu: "
           "0.2, pin_radius: %.17g, pin_length: %.17g}}, inertia: {mass: 1, at: [%.17g, %.17g, "
           "%.17g], xx: %.17g, yy: %.17g, zz: %.17g}}\n"
           "  r: {parent: q, joint: {type: spherical, at: [%.17g, %.17g, %.17g], friction: {mu: "
           "0.2, pin_radius: %.17g}}, inertia: {mass: 1, at: [%.17g, %.17g, %.17g], xx: %.17g, yy: "
           "%.17g, zz: %.17g}}\n"
           "loops: {l: {type: revolute, axis: [0.2, 1, -0.3], a: {body: world, at: [%.17g, %.17g, "
           "%.17g]}, b: {body: r, at: [%.17g, %.17g, %.17g]}, friction: {mu: 0.2, pin_radius: "
           "%.17g, pin_length: %.17g}}}\n",
           -9.81 * unit, radius, length, AT(0.2, 0.05, 0.1), I, I, I, AT(0.4, 0.1, 0.2), radius,
           length, AT(0.2, -0.1, 0), I, I, I, AT(0.3, -0.2, 0.1), radius, AT(0.1, 0.1, -0.1), I, I,
           I, AT(0.9, 0.1, 0.1), AT(0.2, 0.2, -0.2), radius, length);
#undef AT
  stage s = stage_set(text, redmax_options(0.001));
  stage_step(&s, 30);
  for (int k = 0; k < 4; k++) {
    normal[k] = stage_channel(&s, name[k]) / unit;
  }
  stage_clear(&s);
}

TEST(linkages_rub_alike_in_all_sizes) {
  double metre[4], other[4];
  load_linkage(1, metre);
  for (int k = 0; k < 4; k++) {
    static const double unit[] = {1e-3, 1e-2, 1e2, 1e3};
    load_linkage(unit[k], other);
    for (int j = 0; j < 4; j++) {
      CHECK(fabs(other[j] - metre[j]) < 1e-4 * metre[j], "unit %g, joint %d: %g instead of %g",
            unit[k], j, other[j], metre[j]);
    }
  }
}

/* ---- backlash ---- */

/* Free within the gap, however strong the damping beyond it. */
TEST(gaps_are_free) {
  stage s = stage_set("sinew: 1\n"
                      "bodies: {a: {joint: {type: revolute, axis: [0, 0, 1], backlash: {gap: 0.2, "
                      "stiffness: 50, damping: 3}}, inertia: {mass: 1, xx: 0.02, yy: 0.02, zz: "
                      "0.02}}}\n"
                      "initial: {a: {qd: 3}}\n",
                      redmax_options(0.001));
  stage_step(&s, 33);
  CHECK(fabs(stage_channel(&s, "a.qd") - 3) < 1e-12, "it is braced at %g with %g left",
        stage_channel(&s, "a.q"), stage_channel(&s, "a.qd"));
  stage_step(&s, 3);
  CHECK(stage_channel(&s, "a.qd") < 2.9, "it is not stopped");
  stage_clear(&s);
}

int main(void) {
  RUN_TESTS(T(what_sticks_stays_on_what_moves), T(loops_that_stick_stay),
            T(light_brackets_lock_beside_heavy_pendulums), T(linkages_rub_alike_in_all_sizes),
            T(gaps_are_free));
}
