/* make_gripper.c: two fingers that take a block and lift it: nothing but friction holds it. */
#include "cli/make.h"

#define EDGE 0.08 /* m, of the block */
#define OPEN 0.03 /* from each finger to the block at the start */

/* side: -1 left, 1 right. */
static void write_finger(const char *name, double side, double force, sni_text *out) {
  const double x = side * (0.5 * EDGE + OPEN + 0.01);
  sni_text_add(out,
               "  %s:\n    parent: hand\n"
               "    joint: {type: prismatic, at: [%s, 0, -0.2], axis: [%s, 0, 0], limits: [-0.05, "
               "0.05],\n"
               "      drive: {target: 0.05, stiffness: 4000, damping: 80, max_force: %s}}\n"
               "    shapes: [{type: box, size: [0.02, 0.06, 0.16], density: 2000, contact: "
               "rubber}]\n",
               name, make_show(x).text, make_show(-side).text, make_show(force).text);
}

static void write_gripper(const make_settings *s, sni_text *out) {
  make_head(out, "gripper", 9.81,
            "# Two fingers press on a block, and the hand goes up. Friction alone holds the "
            "block.\n");
  sni_text_add(out, "\ncontacts:\n  rubber: {friction: 0.8, torsional: 0.005}\n\nbodies:\n"
                    "  floor: {joint: {type: fixed}, shapes: [{type: plane, extent: 2, contact: "
                    "rubber}]}\n"
                    "  hand:\n    joint: {type: prismatic, at: [0, 0, 0.3], axis: [0, 0, 1]}\n"
                    "    shapes: [{type: box, size: [0.3, 0.06, 0.04], density: 2000}]\n");
  write_finger("left", -1, 40, out);
  write_finger("right", 1, 40, out);
  sni_text_add(out,
               "  block:\n    joint: {type: free, at: [0, 0, %s]}\n"
               "    shapes: [{type: box, size: [%s, %s, %s], density: %s, contact: rubber}]\n"
               "\nmotions:\n"
               "  lift: {joint: hand, q: \"0.15*(1 - cos(pi*min(max(t - 0.5, 0), 1)))\"}\n",
               make_show(0.5 * EDGE).text, make_show(EDGE).text, make_show(EDGE).text,
               make_show(EDGE).text, make_show(s->weight / (EDGE * EDGE * EDGE)).text);
  make_foot_at(out, 0.002, 3, "[T, V, E, block.pos.*, left.q, right.q]");
}

static const cli_option options[] = {{"--weight", "M", CLI_NUMBER, offsetof(make_settings, weight),
                                      "mass of the block in kg, from 1e-3 to 1e3; 1 if not given: "
                                      "from 5.7 on it slips"}};
static const make_number numbers[] = {
    {"--weight", offsetof(make_settings, weight), 1, 1e-3, 1e3, false}};

const make_generator make_gripper = {
    .name = "gripper",
    .command = {.name = "make gripper",
                .arguments = "[--weight M]",
                .doc = "two fingers that lift a block by friction",
                .about = "Each finger presses with 40 N; friction is 0.8.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make gripper --weight 2 > gripper.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_gripper};
