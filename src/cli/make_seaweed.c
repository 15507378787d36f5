/* make_seaweed.c: two sea weeds and a fish that bites one of them [FA 5]: a tree until it
 * bites, with one loop while it holds on. */
#include "cli/make.h"

#define SEGMENT 0.1 /* m */
#define BITTEN  24  /* the piece of weed_1 at whose end it bites */

static void write_seaweed(const make_settings *s, sni_text *out) {
  const int n = (int)s->count, bitten = n < BITTEN ? n : BITTEN;
  const make_text height = make_show(SEGMENT * bitten);
  make_head(out, "seaweed", -2, /* what floats is pulled up */
            "# Two sea weeds of short pieces, and a fish that swims up, bites one of them, tugs, "
            "and lets go.\n# Gravity points up: it is their buoyancy, which holds them upright.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  joint: {type: spherical, damping: 1e-3}\n"
               "  body:                                  # a piece of a weed\n"
               "    inertia: {mass: 0.1, at: [0, 0, %s], xx: 1e-4, yy: 1e-4, zz: 2e-6}\n"
               "    damping: {linear: 0.02}              # the water\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, %s], radius: 0.02, color: "
               "[0.25, 0.49, 0.23]}]\n"
               "\nbodies:\n",
               make_show(0.5 * SEGMENT).text, make_show(SEGMENT).text);
  for (int k = 1; k <= 2; k++) {
    sni_text_add(out,
                 "  weed_%d: {parent: world, joint: {at: [%s, 0, 0]}, repeat: {count: %d, joint: "
                 "{at: [0, 0, %s]}}}\n",
                 k, k == 1 ? "0" : "0.8", n, make_show(SEGMENT).text);
  }
  sni_text_add(out,
               "  fish:                                  # its mouth is at its origin\n"
               "    parent: world\n"
               "    joint: {type: free, damping: 0}\n"
               "    damping: {linear: 0.5, angular: 0.2}\n"
               "    inertia: {mass: 2, at: [-0.25, 0, 0], xx: 0.02, yy: 0.06, zz: 0.06}\n"
               "    shapes:\n"
               "      - {type: ellipsoid, radii: [0.3, 0.07, 0.12], at: [-0.28, 0, 0], color: "
               "[0.85, 0.55, 0.25]}\n"
               "      - {type: ellipsoid, radii: [0.1, 0.02, 0.12], at: [-0.62, 0, 0], color: "
               "[0.85, 0.55, 0.25]}\n"
               "\nforces:\n"
               "  swim:                                  # it comes, tugs while it holds on, and "
               "leaves\n"
               "    type: grab\n"
               "    body: fish\n"
               "    to:\n"
               "      - {keyframes: [[0, -2], [1.8, 0], [2, 0], [3.5, -0.8], [4.5, -0.4], [6, -1], "
               "[8, -3]], interpolation: cubic}\n"
               "      - {keyframes: [[0, 0], [2, 0], [4, 0.4], [6, 0], [8, -1]], interpolation: "
               "cubic}\n"
               "      - %s\n"
               "    stiffness: 200\n"
               "    damping: 40\n"
               "  float: {type: point_force, body: fish, at: [-0.25, 0, 0], force: [0, 0, -4]}   # "
               "it floats level\n"
               "\nconstraints:\n"
               "  bite: {type: point, a: {body: fish}, b: {body: weed_1_%d, at: [0, 0, %s]}, "
               "active: t > 2 and t < 6}\n"
               "\ninitial:\n"
               "  weed_2_1: {q: [0.3, 0.2, 0]}             # it sways\n"
               "  fish: {q: [0, 0, 0, -2, 0, %s]}\n",
               height.text, bitten, make_show(SEGMENT).text, height.text);
  make_foot_structured(out, 8, "[T, V, E, fish.pos.*, weed_1_1.q*]", "precision: 1e-3");
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "pieces of a weed, from 2 to 10000; 36 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 36, 2, 10000, true}};

const make_generator make_seaweed = {
    .name = "seaweed",
    .command = {.name = "make seaweed",
                .arguments = "[--count N]",
                .doc = "two sea weeds, and a fish that bites one",
                .about = "A tree that has one loop while the fish holds on.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make seaweed > seaweed.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_seaweed};
