/* make_chain.c: a chain on pins that rub, which falls and stops [RM Fig 5]. */
#include "cli/make.h"

static void write_chain(const make_settings *s, sni_text *out) {
  make_head_in(
      out, "chain", "cm g s", 980,
      "# A chain of links on pins that rub, 45 degrees from upright. It starts straight and "
      "level, falls, and stops. Ten links\n"
      "# with mu = 0.445 stop from the root on, where pins bear most, link by link; on pins of 1 "
      "cm sooner than on pins of\n"
      "# 0.5 cm, on which the tip swings back. Others do as docs/friction.md says.\n");
  sni_text_add(out,
               "\nbodies:\n"
               "  link:\n"
               "    parent: world\n"
               "    joint:\n"
               "      type: revolute\n"
               "      at: {pos: [0, 0, 0], rotvec: [45*deg, 0, 0]}\n"
               "      axis: [0, 0, 1]\n"
               "      friction: {mu: %s, pin_radius: %s, pin_length: 1}\n"
               "    repeat: {count: %d, joint: {at: [10, 0, 0]}}\n"
               "    shapes:\n"
               "      - {type: box, size: [10, 1, 1], at: [5, 0, 0], density: 1}\n",
               make_show(s->friction).text, make_show(s->radius).text, (int)s->count);
  make_foot_at(out, 0.001, 3,
               "[T, V, E, \"*.q\", \"*.normal\", \"*.friction\", \"*.dissipation\"]");
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "links, from 1 to 1000; 10 if not given"},
                                     {"--radius", "R", CLI_NUMBER, offsetof(make_settings, radius),
                                      "of the pins, in cm, from 0.01 to 5; 0.5 if not given"},
                                     {"--friction", "MU", CLI_NUMBER,
                                      offsetof(make_settings, friction),
                                      "coefficient, from 0 to 10; 0.445 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 10, 1, 1000, true},
    {"--radius", offsetof(make_settings, radius), 0.5, 0.01, 5, false},
    {"--friction", offsetof(make_settings, friction), 0.445, 0, 10, false}};

const make_generator make_chain = {
    .name = "chain",
    .command = {.name = "make chain",
                .arguments = "[OPTION...]",
                .doc = "a chain on pins that rub",
                .about =
                    "A chain that starts level, with pins at 45 degrees to gravity. As it is made "
                    "without options it stops from the root on.",
                .option = options,
                .noption = 3,
                .examples = "  sinew make chain > chain.yaml\n"
                            "  sinew make chain --radius 1 > chain.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 3,
    .write = write_chain};
