/* What sticks stays where it is in mechanisms that move, too; and what sticks or slips does not
 * depend on units, on size, or on what else there is. */
#include "stage.h"

/* ---- nothing creeps ---- */

#define MASS "inertia: {mass: 1, at: [0.05, 0.03, 0.02], xx: 0.01, yy: 0.01, zz: 0.01}"
#define PIN  "friction: {mu: 2, pin_radius: 0.05, pin_length: 0.1}"
#define FLAP(parent)                                                                               \
  "  a: {parent: " parent ", joint: {type: revolute, at: [0.2, 0, 0], axis: [0, 1, 0], " PIN       \
  "}, " MASS "}\n"
#define CRANK "  c: {joint: {type: revolute, axis: [0, 1, 0]}, " MASS "}\n"
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

TEST(what_sticks_stays_on_what_moves) {
  for (int k = 0; k < SNI_COUNT(carried); k++) {
    for (int way = 0; way < 4; way++) {
      sn_options o = redmax_options(0.002);
      o.redmax.inertia = way & 1 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
      o.redmax.closure = way & 2 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
      stage s = stage_set(carried[k], o);
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
  RUN_TESTS(T(what_sticks_stays_on_what_moves), T(light_brackets_lock_beside_heavy_pendulums),
            T(linkages_rub_alike_in_all_sizes), T(gaps_are_free));
}
