/* What sticks in a loop bears what turning in circles asks for, as it does in a tree, however the
 * bodies are held together: with coordinates that need not accelerate for it, too. */
#include "stage.h"

/* Without the last one: what is driven jerks there, as gains are asked for by steps of two lengths.
 */
enum { WAYS = 7 };
static sn_options options_of(int way, double step) {
  sn_options o = redmax_options(step);
  o.redmax.integrator = way & 1 ? SN_EXTRAPOLATED : SN_EULER;
  o.redmax.inertia = way & 2 ? SN_INERTIA_PAPER : SN_INERTIA_PROJECTED;
  o.redmax.closure = way & 4 ? SN_CLOSURE_BAUMGARTE : SN_CLOSURE_PROJECT;
  return o;
}

/* Gaps that stay open are felt in the next step, rates and all. */
static bool is_late(int way) {
  return (way & 7) == 6;
}

#define TABLE                                                                                      \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "motions: {turn: {joint: table, q: t*t/2}}\n"                                                    \
  "bodies:\n"                                                                                      \
  "  table: {joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: 10, xx: 1, yy: 1, zz: "     \
  "1}}\n"

/* A block on the table: by its own joint, or by that of a loop while its own one lets it go
 * anywhere. */
static void write_block(char *text, size_t size, const char *joint, const char *inertia,
                        const char *own) {
  if (!own) {
    snprintf(text, size,
             TABLE "  a: {parent: table, joint: {at: [0.5, 0, 0], %s}, inertia: {%s}}\n", joint,
             inertia);
  } else {
    snprintf(text, size,
             TABLE "  a: {joint: {type: %s, at: [0.5, 0, 0]}, inertia: {%s}}\n"
                   "loops: {c: {%s, a: {body: table, at: [0.5, 0, 0]}, b: {body: a}}}\n",
             own, inertia, joint);
  }
}

static const char *const own_joint[] = {"free", "free_rt", "planar"};

#define COMPACT "mass: 1, xx: 0.01, yy: 0.01, zz: 0.01"
#define ASIDE   "mass: 1, at: [0, 0.2, 0], xx: 0.01, yy: 0.01, zz: 0.01"
static const struct {
  const char *joint, *inertia;
  double held, rising; /* by hand: friction while it sticks, at t = 0, and by t^2 */
} block[] = {
    /* what turns with the table in I + 0.04 kg m^2, and is drawn outwards across 0.2 m of 0.5 m */
    {"type: revolute, axis: [0, 0, 1], friction: {law: dry, force: 0.2}", ASIDE, 0.05, 0.1},
    {"type: prismatic, axis: [1, 0, 0], friction: {law: dry, force: 2}", COMPACT, 0, -0.5},
    {"type: cylindrical, axis: [1, 0, 0], friction: {law: dry, force: [1, 2]}", COMPACT, 0, -0.5}};

/* Friction at t = 0.8, where everything sticks yet, is what is asked for; it takes nothing, and
 * nothing moves. */
TEST(what_sticks_in_a_loop_is_drawn_outwards) {
  for (int k = 0; k < SNI_COUNT(block); k++) {
    for (int j = -1; j < SNI_COUNT(own_joint); j++) {
      for (int way = 0; way < WAYS; way++) {
        const char *own = j < 0 ? NULL : own_joint[j];
        const bool sleeve = k == 2;
        char text[1500], name[40];
        const double step = 0.002, t = 0.8;
        write_block(text, sizeof text, block[k].joint, block[k].inertia, own);
        stage s = stage_set(text, options_of(way, step));
        double taken = 0;
        for (int i = 0; i < 400; i++) {
          stage_step(&s, 1);
          taken += step * stage_channel(&s, own ? "loops.c.dissipation" : "a.dissipation");
        }
#define CHANNEL(what)                                                                              \
  (snprintf(name, sizeof name, "%s.%s%s", own ? "loops.c" : "a", what, sleeve ? "1" : ""),         \
   stage_channel(&s, name))
        const double holds = CHANNEL("friction"), hand = block[k].held + block[k].rising * t * t;
        CHECK(fabs(holds - hand) < 4 * step, "%s, %s, way %d: it holds with %g, not %g",
              block[k].joint, own ? own : "tree", way, holds, hand);
        CHECK(fabs(CHANNEL("q")) < 1e-9, "%s, %s, way %d: it has moved by %g", block[k].joint,
              own ? own : "tree", way, CHANNEL("q"));
        CHECK(is_late(way) || fabs(taken) < 1e-9, "%s, %s, way %d: it has taken %g J",
              block[k].joint, own ? own : "tree", way, taken);
        CHECK((way & 4) || fabs(CHANNEL("qd")) < 1e-9, "%s, %s, way %d: it goes with %g",
              block[k].joint, own ? own : "tree", way, CHANNEL("qd"));
#undef CHANNEL
        stage_clear(&s);
      }
    }
  }
}

/* It comes loose when it does in the tree, and goes as far. */
static const char *const loose[][2] = {
    {"type: revolute, axis: [0, 0, 1], friction: {law: dry, force: 0.2}", ASIDE},
    {"type: prismatic, axis: [1, 0, 0], friction: {law: dry, force: 2}", COMPACT},
    {"type: prismatic, axis: [1, 0, 0], friction: {mu: 0.4, size: [0.1, 0.1, 3], across: [0, 0, "
     "1]}",
     COMPACT},
    {"type: cylindrical, axis: [1, 0, 0], friction: {law: dry, force: [0.1, 2]}", ASIDE}};

static double end_of(const char *joint, const char *inertia, const char *own, sn_options o) {
  char text[1500];
  const bool sleeve = strncmp(joint, "type: cyl", 9) == 0;
  write_block(text, sizeof text, joint, inertia, own);
  stage s = stage_set(text, o);
  stage_step(&s, (int)lround(2.5 / o.step));
  const double q = stage_channel(&s, own      ? sleeve ? "loops.c.q1" : "loops.c.q"
                                     : sleeve ? "a.q1"
                                              : "a.q");
  stage_clear(&s);
  return q;
}

TEST(what_is_drawn_outwards_in_a_loop_comes_loose_as_in_a_tree) {
  for (int k = 0; k < SNI_COUNT(loose); k++) {
    for (int way = 0; way < WAYS; way++) {
      const double right = end_of(loose[k][0], loose[k][1], NULL, options_of(1, 0.001));
      for (int j = 0; j < SNI_COUNT(own_joint); j++) {
        const double step = 0.002;
        const double q = end_of(loose[k][0], loose[k][1], own_joint[j], options_of(way, step));
        CHECK(fabs(q - right) < 5 * step * fmax(1, fabs(right)),
              "%s, %s, way %d: it comes to %g, in the tree to %g", loose[k][0], own_joint[j], way,
              q, right);
      }
    }
  }
}

/* Rows that bend the way of one body draw at joints of others: a weight that goes round a bead on a
 * bar, by a loop of its own.  0.5 kg go round at 0.4 m with 5/s, which draws with 5 N. */
TEST(a_bead_feels_what_goes_round_it) {
  for (int way = 0; way < WAYS; way++) {
    for (int slips = 0; slips < 2; slips++) {
      double q[2];
      const double step = 0.002;
      for (int loop = 0; loop < 2; loop++) {
        char text[1500];
        snprintf(text, sizeof text,
                 "sinew: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  bead: {joint: {type: prismatic, axis: [1, 0, 0], friction: {law: dry, force: "
                 "%g}}, inertia: {mass: 1, xx: 0.01, yy: 0.01, zz: 0.01}}\n"
                 "  w: {%s\n",
                 slips ? 4.5 : 5.5,
                 loop ? "joint: {type: free, at: [0.4, 0, 0]}, inertia: {mass: 0.5, xx: 0.001, "
                        "yy: 0.001, zz: 0.001}}\n"
                        "loops: {l: {type: revolute, axis: [0, 0, 1], a: {body: bead}, b: {body: "
                        "w, at: [-0.4, 0, 0]}}}\n"
                        "initial: {w: {qd: [0, 2, 0, 0, 0, 5]}}"
                      : "parent: bead, joint: {type: revolute, axis: [0, 0, 1]}, inertia: {mass: "
                        "0.5, at: [0.4, 0, 0], xx: 0.001, yy: 0.001, zz: 0.001}}\n"
                        "initial: {w: {qd: 5}}");
        stage s = stage_set(text, options_of(way, step));
        double taken = 0, most = 0;
        for (int i = 0; i < 250; i++) {
          stage_step(&s, 1);
          taken += step * stage_channel(&s, "bead.dissipation");
          most = fmax(most, fabs(stage_channel(&s, "bead.q")));
        }
        q[loop] = stage_channel(&s, "bead.q");
        CHECK(slips ? most > 1e-4 : most < 1e-9, "way %d, loop %d: it moves by %g", way, loop,
              most);
        CHECK(slips || fabs(taken) < 1e-9 || is_late(way), "way %d, loop %d: it has taken %g J",
              way, loop, taken);
        stage_clear(&s);
      }
      CHECK(fabs(q[1] - q[0]) < step, "way %d: it ends at %g, in the tree at %g", way, q[1], q[0]);
    }
  }
}

int main(void) {
  RUN_TESTS(T(what_sticks_in_a_loop_is_drawn_outwards),
            T(what_is_drawn_outwards_in_a_loop_comes_loose_as_in_a_tree),
            T(a_bead_feels_what_goes_round_it));
}
