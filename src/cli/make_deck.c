/* make_deck.c: a row of hinged links, each hung by a stiff spring: what explicit simulators find
 * hard, at any length. */
#include "cli/make.h"

#define STIFFNESS 1e6
#define DAMPING   200.0
#define LOAD      1000.0

static void write_deck(const make_settings *s, sni_text *out) {
  const int n = (int)s->count, middle = (n + 1) / 2;
  make_head(out, "deck", 9.81,
            "# A deck of hinged links of 1 m and 1 kg. The first is hinged to the ground; the far "
            "end of each hangs by a\n"
            "# stiff spring from the nearer of two tower tops. A load pulls at the link in the "
            "middle.\n");
  sni_text_add(out,
               "\nbodies:\n"
               "  link:\n"
               "    parent: world\n"
               "    joint: {type: revolute, axis: [0, 1, 0]}\n"
               "    repeat: {count: %d, joint: {at: [1, 0, 0]}}   # link_1 to link_%d\n"
               "    inertia: {mass: 1, at: [0.5, 0, 0], xx: 1/600, yy: 1/12, zz: 1/12}\n"
               "    shapes: [{type: box, size: [1, 0.5, 0.1], at: [0.5, 0, 0]}]\n",
               n, n);
  sni_text_add(
      out,
      "\ndefaults:\n"
      "  force: {type: spring, stiffness: %s, damping: %s}   # slack at their first length\n"
      "\nforces:\n"
      "  load: {type: point_force, body: link_%d, at: [0.5, 0, 0], force: [0, 0, %s]}\n",
      make_show(STIFFNESS).text, make_show(DAMPING).text, middle, make_show(-LOAD).text);
  for (int i = 1; i <= n; i++) {
    const sn_vec3 top = {(2 * i <= n ? 0.25 : 0.75) * n, 0, 0.25 * n};
    sni_text_add(out, "  cable_%d: {a: {body: world, at: %s}, b: {body: link_%d, at: [1, 0, 0]}}\n",
                 i, make_show3(top).text, i);
  }
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, link_%d.pos.z, link_%d.pos.z]", middle, n);
  make_foot(out, 5, channels);
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "links, from 1 to 100000; 80 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 80, 1, 100000, true}};

const make_generator make_deck = {
    .name = "deck",
    .command = {.name = "make deck",
                .arguments = "[--count N]",
                .doc = "hinged links, each hung by a stiff spring from one of two towers",
                .about =
                    "A deck of hinged links, the far end of each hung by a stiff spring from the\n"
                    "nearer of two tower tops, with a load in the middle.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make deck --count 320 > deck.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_deck};
