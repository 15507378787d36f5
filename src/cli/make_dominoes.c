/* make_dominoes.c: a row of dominoes, and a ball that starts it. */
#include <string.h>

#include "cli/make.h"

#define THICK  0.02 /* m */
#define WIDE   0.1
#define TALL   0.2
#define PITCH  0.1
#define RADIUS 0.04

/* Along a line, or around a ring: place and direction of the k-th. */
static sn_se3 place(int k, int n, bool ring) {
  sn_se3 E = sn_se3_identity();
  E.p = (sn_vec3){PITCH * k, 0, 0.5 * TALL};
  if (ring) { /* with a gap of one, so that the last does not reach the first */
    const double angle = 2 * SN_PI * k / (n + 1), radius = PITCH * (n + 1) / (2 * SN_PI);
    E.R = sn_so3_exp((sn_vec3){0, 0, angle});
    E.p.x = radius * sin(angle);
    E.p.y = radius * (1 - cos(angle));
  }
  return E;
}

static void write_dominoes(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const bool ring = strcmp(s->shape, "ring") == 0;
  make_head(out, "dominoes", 9.81,
            "# A row of dominoes on a floor; a ball knocks the first one over.\n");
  sni_text_add(out,
               "\ncontacts:\n  ivory: {friction: 0.3}\n\n"
               "defaults:\n  joint: {type: free}\n"
               "  shape: {type: box, size: [%s, %s, %s], density: 800, contact: ivory}\n\nbodies:\n"
               "  floor: {joint: {type: fixed}, shapes: [{type: plane, extent: %s}]}\n"
               "  ball: {joint: {at: [-0.15, 0, %s]}, shapes: [{type: sphere, radius: %s}]}\n",
               make_show(THICK).text, make_show(WIDE).text, make_show(TALL).text,
               make_show(2 * PITCH * (n + 2)).text, make_show(0.8 * TALL).text,
               make_show(RADIUS).text);
  for (int k = 0; k < n; k++) {
    sni_text_add(out, "  domino_%d: {joint: {at: %s}, shapes: [{}]}\n", k + 1,
                 make_show_pose(place(k, n, ring)).text);
  }
  sni_text_add(out, "\ninitial:\n  ball: {qd: [1.5, 0, 0.4, 0, 0, 0]}\n");
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, domino_%d.pos.*]", n);
  make_foot_at(out, 0.002, 2 + 0.1 * n, channels);
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "dominoes, from 1 to 10000; 20 if not given"},
                                     {"--shape", "WORD", CLI_TEXT, offsetof(make_settings, shape),
                                      "line or ring; line if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 20, 1, 10000, true}};
static const make_word words[] = {{"--shape", offsetof(make_settings, shape), {"line", "ring"}}};

const make_generator make_dominoes = {
    .name = "dominoes",
    .command = {.name = "make dominoes",
                .arguments = "[--count N] [--shape line|ring]",
                .doc = "a row of dominoes that a ball knocks over",
                .about = "N dominoes in a line or in a ring.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make dominoes --count 40 --shape ring > dominoes.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .word = words,
    .nword = 1,
    .write = write_dominoes};
