/* make_ring.c: a hoop of hinged links, hung up at one of its hinges: a chain whose last link is
 * joined to its first by a loop.  The stiffness of its joints is that of a band of one length and
 * one bending stiffness, so that hoops of any number of links swing alike. */
#include "cli/make.h"

#define RADIUS  1.0  /* m                                   */
#define WEIGHT  1.0  /* kg a metre                          */
#define BENDING 20.0 /* N m^2                              */
#define LOSS    0.01 /* s: damping over stiffness          */
#define TILT    0.8  /* rad, at the start                  */

static void write_ring(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const double turn = 2 * SN_PI / n, length = 2 * RADIUS * sin(0.5 * turn);
  const double mass = WEIGHT * length, stiffness = BENDING / length;
  const double inertia = mass * length * length / 12;
  make_head(
      out, "ring", 9.81,
      "# A hoop of hinged links that hangs on the ground by one of its hinges and swings. Its "
      "joints have springs,\n# so that it stays nearly round.\n");
  sni_text_add(out,
               "\nbodies:\n"
               "  link:\n"
               "    parent: world\n"
               "    joint: {type: revolute, axis: [0, 1, 0], at: {pos: [0, 0, %s], rotvec: [0, %s, "
               "0]}}\n"
               "    inertia: {mass: %s, at: [%s, 0, 0], xx: %s, yy: %s, zz: %s}\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [%s, 0, 0], radius: 0.01}]\n"
               "    repeat:\n      count: %d\n"
               "      joint: {at: {pos: [%s, 0, 0], rotvec: [0, %s, 0]}, stiffness: %s, damping: "
               "%s}\n",
               make_show(2.5 * RADIUS).text, make_show(0.5 * turn).text, make_show(mass).text,
               make_show(0.5 * length).text, make_show(0.01 * inertia).text,
               make_show(inertia).text, make_show(inertia).text, make_show(length).text, n,
               make_show(length).text, make_show(turn).text, make_show(stiffness).text,
               make_show(LOSS * stiffness).text);
  sni_text_add(out,
               "\nloops:\n"
               "  closing: {type: revolute, axis: [0, 1, 0], a: {body: link_1}, b: {body: link_%d, "
               "at: [%s, 0, 0]}}\n"
               "\ninitial:\n"
               "  link_1: {q: %s}\n",
               n, make_show(length).text, make_show(TILT).text);
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, link_%d.pos.*]", n / 2 + 1);
  make_foot(out, 10, channels);
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "links, from 3 to 100000; 40 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 40, 3, 100000, true}};

const make_generator make_ring = {
    .name = "ring",
    .command = {.name = "make ring",
                .arguments = "[--count N]",
                .doc = "a hoop of hinged links that hangs and swings",
                .about = "A closed chain of N links, 2 m across, hung up at one of its hinges.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make ring --count 100 > ring.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_ring};
