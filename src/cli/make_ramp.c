/* make_ramp.c: a block on a ramp: it stays below the angle of friction and slides above it. */
#include "cli/make.h"

#define HALF 0.05 /* m, height of the block's middle above the ramp */

static void write_ramp(const make_settings *s, sni_text *out) {
  const double angle = s->angle * SN_PI / 180;
  const sn_se3 ramp = {sn_so3_exp((sn_vec3){0, angle, 0}), {0, 0, 0}};
  const sn_se3 block = {ramp.R, sn_se3_point(ramp, (sn_vec3){0, 0, HALF})};
  make_head(out, "ramp", 9.81, "# A block on a ramp that falls towards x.\n");
  sni_text_add(
      out,
      "\ncontacts:\n  steel: {friction: %s}\n\nbodies:\n"
      "  ramp:\n    joint: {type: fixed, at: %s}\n    shapes: [{type: plane, extent: 4, contact: "
      "steel}]\n"
      "  block:\n    joint: {type: free, at: %s}\n"
      "    shapes: [{type: box, size: [0.3, 0.2, %s], density: 1000, contact: steel}]\n",
      make_show(s->friction).text, make_show_pose(ramp).text, make_show_pose(block).text,
      make_show(2 * HALF).text);
  make_foot(out, 2, "[T, V, E, block.pos.*]");
}

static const cli_option options[] = {
    {"--angle", "DEGREES", CLI_NUMBER, offsetof(make_settings, angle),
     "of the ramp, from 0 to 89; 25 if not given"},
    {"--friction", "MU", CLI_NUMBER, offsetof(make_settings, friction),
     "coefficient of friction, from 0 to 10; 0.5 if not given, which holds up to 26.565 degrees"}};
static const make_number numbers[] = {
    {"--angle", offsetof(make_settings, angle), 25, 0, 89, false},
    {"--friction", offsetof(make_settings, friction), 0.5, 0, 10, false}};

const make_generator make_ramp = {
    .name = "ramp",
    .command = {.name = "make ramp",
                .arguments = "[--angle DEGREES] [--friction MU]",
                .doc = "a block on a ramp",
                .about = "It stays while the tangent of the angle is below MU, and slides above.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make ramp --angle 30 --friction 0.5 > ramp.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 2,
    .write = write_ramp};
