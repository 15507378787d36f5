/* make_net.c: a net: ropes of links side by side, tied to one another by springs.  The ropes are
 * branches of the tree, the springs lie across them. */
#include "cli/make.h"

#include <math.h>

#define LINK      0.1 /* m, and the distance of the ropes */
#define STIFFNESS 5e3
#define DAMPING   0.5

static void write_net(const make_settings *s, sni_text *out) {
  const int size = (int)s->size;
  const int rows = isnan(s->rows) ? size : (int)s->rows;
  const int columns = isnan(s->columns) ? size : (int)s->columns;
  const double height = LINK * (rows + 5);
  make_head(out, "net", 9.81,
            "# A net: ropes of short links hang side by side, and springs tie each link to its "
            "neighbours in the ropes\n"
            "# beside it. A gust blows against the row in the middle, strongest in the middle of "
            "the net.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  joint: {type: spherical, damping: 1e-4}\n"
               "  body:\n"
               "    damping: {linear: 2e-3}              # a little air\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, %s], radius: 0.008}]\n"
               "  shape: {density: 1000}\n"
               "  force: {type: spring, stiffness: %s, damping: %s}\n"
               "\n# rope_1_1 is the first link of the first rope.\nbodies:\n",
               make_show(-LINK).text, make_show(STIFFNESS).text, make_show(DAMPING).text);
  for (int c = 1; c <= columns; c++) {
    sni_text_add(out,
                 "  rope_%d: {parent: world, joint: {at: %s}, repeat: {count: %d, joint: {at: [0, "
                 "0, %s]}}}\n",
                 c, make_show3((sn_vec3){LINK * (c - 0.5 * (columns + 1)), 0, height}).text, rows,
                 make_show(-LINK).text);
  }
  sni_text_add(out, "\nforces:\n");
  for (int c = 1; c <= columns; c++) {
    const double from_middle = (2.0 * c - 1) / columns - 1; /* -1 to 1 */
    const make_text push = make_show(0.2 * rows * (1 - from_middle * from_middle));
    sni_text_add(out,
                 "  gust_%d: {type: point_force, body: rope_%d_%d, at: [0, 0, %s],\n"
                 "    force: [0, {keyframes: [[0, 0], [0.1, %s], [0.4, %s], [0.5, 0]]}, 0]}\n",
                 c, c, (rows + 1) / 2, make_show(-LINK).text, push.text, push.text);
  }
  for (int r = 1; r <= rows; r++) {
    for (int c = 1; c < columns; c++) {
      sni_text_add(
          out,
          "  knot_%d_%d: {a: {body: rope_%d_%d, at: [0, 0, %s]}, b: {body: rope_%d_%d, at: "
          "[0, 0, %s]}}\n",
          c, r, c, r, make_show(-LINK).text, c + 1, r, make_show(-LINK).text);
    }
  }
  char channels[128];
  snprintf(channels, sizeof channels, "[T, V, E, rope_1_%d.pos.*, rope_%d_%d.pos.*]", rows,
           (columns + 1) / 2, rows);
  make_foot(out, 5, channels);
}

static const cli_option options[] = {
    {"--size", "N", CLI_NUMBER, offsetof(make_settings, size),
     "ropes, and links of each, from 2 to 300; 10 if not given"},
    {"--rows", "N", CLI_NUMBER, offsetof(make_settings, rows), "links of a rope instead"},
    {"--columns", "N", CLI_NUMBER, offsetof(make_settings, columns), "ropes instead"}};
static const make_number numbers[] = {
    {"--size", offsetof(make_settings, size), 10, 2, 300, true},
    {"--rows", offsetof(make_settings, rows), NAN, 1, 100000, true},
    {"--columns", offsetof(make_settings, columns), NAN, 2, 300, true}};

const make_generator make_net = {
    .name = "net",
    .command = {.name = "make net",
                .arguments = "[--size N] [--rows N] [--columns N]",
                .doc = "ropes of links side by side, tied to one another by springs",
                .about =
                    "A hanging net: the ropes are branches of the tree, the springs lie across.",
                .option = options,
                .noption = 3,
                .examples = "  sinew make net --size 20 > net.yaml\n"
                            "  sinew make net --rows 40 --columns 3 > net.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 3,
    .write = write_net};
