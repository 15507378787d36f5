/* make_fourbar.c: four-bar linkages in a row, the N-four-bar of the IFToMM benchmark library.
 *
 * N + 1 equal rods stand on the ground, one a metre, and N more join their tips.  In the plane each
 * of the N loops takes two coordinates; the other three of the five rows of a hinge in space say
 * nothing new.  Twice in a turn all rods lie flat, where the mechanism could branch. */
#include "cli/make.h"

#include <string.h>

static void write_fourbar(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const bool hinge = strcmp(s->closure, "hinge") == 0;
  make_head(out, "fourbar", 9.81,
            "# Four-bar linkages in a row: equal rods of 1 m and 1 kg stand on the ground, and "
            "others join their tips.\n# They start upright, the tips at 1 m/s.\n");
  sni_text_add(out, "\ndefaults:\n"
                    "  joint: {type: revolute, axis: [0, 1, 0]}\n"
                    "  body:                                  # a rod that stands\n"
                    "    inertia: {mass: 1, at: [0, 0, 0.5], xx: 1/12, yy: 1/12, zz: 1e-4}\n"
                    "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, 1], radius: 0.02}]\n"
                    "\nbodies:\n");
  for (int k = 0; k <= n; k++) {
    sni_text_add(out, "  rod_%d: {parent: world, joint: {at: [%d, 0, 0]}}\n", k, k);
  }
  for (int k = 1; k <= n; k++) {
    sni_text_add(out,
                 "  bar_%d: {parent: rod_%d, joint: {at: [0, 0, 1]}, inertia: {mass: 1, at: [0.5, "
                 "0, 0], xx: 1e-4, yy: 1/12, zz: 1/12},\n"
                 "    shapes: [{type: capsule, from: [0, 0, 0], to: [1, 0, 0], radius: 0.02}]}\n",
                 k, k - 1);
  }
  sni_text_add(out, hinge ? "\nloops:\n" : "\nconstraints:\n");
  for (int k = 1; k <= n; k++) {
    sni_text_add(out,
                 "  pin_%d: {type: %s, a: {body: bar_%d, at: [1, 0, 0]}, b: {body: rod_%d, at: "
                 "[0, 0, 1]}}\n",
                 k, hinge ? "revolute, axis: [0, 1, 0]" : "point", k, k);
  }
  sni_text_add(out, "\ninitial:\n");
  for (int k = 0; k <= n; k++) {
    sni_text_add(out, "  rod_%d: {qd: 1}\n", k);
  }
  for (int k = 1; k <= n; k++) { /* they do not turn */
    sni_text_add(out, "  bar_%d: {qd: -1}\n", k);
  }
  make_foot_at(out, 0.001, 10, "[T, V, E, bar_1.pos.*, rod_0.q]");
  sni_text_add(
      out, "  redmax: {integrator: dopri5}         # the benchmark asks for the exact motion\n");
}

static const cli_option options[] = {
    {"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
     "linkages, from 1 to 100000; 2 if not given"},
    {"--closure", "KIND", CLI_TEXT, offsetof(make_settings, closure),
     "what closes each: hinge (if not given), a loop; or point, three rows and no more"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 2, 1, 100000, true}};
static const make_word words[] = {
    {"--closure", offsetof(make_settings, closure), {"hinge", "point"}}};

const make_generator make_fourbar = {
    .name = "fourbar",
    .command = {.name = "make fourbar",
                .arguments = "[--count N] [--closure hinge|point]",
                .doc = "four-bar linkages in a row, a benchmark with loops",
                .about = "The N-four-bar of the IFToMM benchmark library: N loops, one coordinate "
                         "free.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make fourbar --count 40 > linkages.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .word = words,
    .nword = 1,
    .write = write_fourbar};
