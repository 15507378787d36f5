/* make_ladder.c: a rope ladder [FA 5]: two strings of bars side by side, joined by rungs, with ball
 * joints everywhere.  Of each string P bars lead from one rung to the next; each of the N rungs
 * closes a loop. */
#include <math.h>

#include "cli/make.h"

#define BAR    0.25 /* m, if not given                    */
#define RADIUS 0.02 /* m, of a bar, at most               */
#define STOUT  0.4  /* and this part of its length at most */

static void write_string(const char *name, double y, double bar, int bars, sni_text *out) {
  sni_text_add(out,
               "  %s: {parent: world, joint: {at: %s}, repeat: {count: %d, joint: {at: [%s, 0, "
               "0]}}}\n",
               name, make_show3((sn_vec3){0, y, 0}).text, bars, make_show(bar).text);
}

static void write_ladder(const make_settings *s, sni_text *out) {
  const int n = (int)s->count, p = (int)s->pattern;
  const double bar = s->length, rung = 2 * bar, moment = rung * rung / 12;
  const double radius = fmin(RADIUS, STOUT * bar), thin = 0.5 * radius * radius;
  make_head(
      out, "ladder", 9.81,
      "# A rope ladder of bars of 1 kg with ball joints. Both strings hang on the ground, and "
      "each rung closes a loop.\n# It starts stretched out level and swings down.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  joint: {type: spherical}\n"
               "  body:                                  # a bar of a string\n"
               "    inertia: {mass: 1, at: [%s, 0, 0], xx: %s, yy: %s, zz: %s}\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [%s, 0, 0], radius: %s}]\n"
               "\nbodies:\n",
               make_show(0.5 * bar).text, make_show(thin).text, make_show(bar * bar / 12).text,
               make_show(bar * bar / 12).text, make_show(bar).text, make_show(radius).text);
  write_string("near", 0, bar, n * p, out);
  write_string("far", rung, bar, n * p, out);
  for (int k = 1; k <= n; k++) {
    sni_text_add(out,
                 "  rung_%d: {parent: near_%d, joint: {at: [%s, 0, 0]},\n"
                 "    inertia: {mass: 1, at: [0, %s, 0], xx: %s, yy: %s, zz: %s},\n"
                 "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, %s, 0], radius: %s}]}\n",
                 k, k * p, make_show(bar).text, make_show(0.5 * rung).text, make_show(moment).text,
                 make_show(thin).text, make_show(moment).text, make_show(rung).text,
                 make_show(radius).text);
  }
  sni_text_add(out, "\nloops:\n");
  for (int k = 1; k <= n; k++) {
    sni_text_add(out,
                 "  knot_%d: {type: spherical, a: {body: far_%d, at: [%s, 0, 0]}, b: {body: "
                 "rung_%d, at: [0, %s, 0]}}\n",
                 k, k * p, make_show(bar).text, k, make_show(rung).text);
  }
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, rung_%d.pos.*]", n);
  make_foot_at(out, 0.001, 2, channels);
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "rungs, from 1 to 100000; 12 if not given"},
                                     {"--pattern", "P", CLI_NUMBER,
                                      offsetof(make_settings, pattern),
                                      "bars of a string from one rung to the next, from 1 to 1000; "
                                      "1 if not given"},
                                     {"--length", "L", CLI_NUMBER, offsetof(make_settings, length),
                                      "of a bar, in metres, from 0.01 to 100; 0.25 if not given; "
                                      "a rung is twice as long"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 12, 1, 100000, true},
    {"--pattern", offsetof(make_settings, pattern), 1, 1, 1000, true},
    {"--length", offsetof(make_settings, length), BAR, 0.01, 100, false}};

const make_generator make_ladder = {
    .name = "ladder",
    .command = {.name = "make ladder",
                .arguments = "[--count N] [--pattern P] [--length L]",
                .doc = "a rope ladder with ball joints, a loop a rung",
                .about = "Two strings of N times P bars, joined by N rungs.",
                .option = options,
                .noption = 3,
                .examples = "  sinew make ladder --count 48 > ladder.yaml\n"
                            "  sinew make ladder --count 4 --pattern 12 > ladder.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 3,
    .write = write_ladder};
