/* make_pendulum_strings.c: a pendulum on strings of bars [FA 5]: a plate hangs by four
 * strings, another one below it by four more, and a flap on a hinge below that.  Of each four
 * strings one belongs to the tree and three close loops: 251 constraints in the tree and 18 in
 * loops, with ten bars a string. */
#include "cli/make.h"

#define HALF   0.5 /* m, of a plate's side */
#define HEIGHT 5   /* m, of the upper ends */

static void corner(int k, double *x, double *y) {
  *x = k == 0 || k == 3 ? HALF : -HALF;
  *y = k < 2 ? HALF : -HALF;
}

static void write_strings(int level, int bars, double bar, sni_text *out) {
  for (int k = 0; k < 4; k++) {
    double x, y;
    corner(k, &x, &y);
    if (level == 1) {
      sni_text_add(out, "  string_1%d: {parent: world, joint: {at: %s}", k + 1,
                   make_show3((sn_vec3){x, y, HEIGHT}).text);
    } else {
      sni_text_add(out, "  string_2%d: {parent: plate_1, joint: {at: %s}", k + 1,
                   make_show3((sn_vec3){x - HALF, y - HALF, 0}).text);
    }
    sni_text_add(out, ", repeat: {count: %d, joint: {at: [0, 0, %s]}}}\n", bars,
                 make_show(-bar).text);
  }
  sni_text_add(out,
               "  plate_%d:\n"
               "    parent: string_%d1_%d\n"
               "    joint: {at: [0, 0, %s]}\n"
               "    inertia: {mass: 30, at: [-0.5, -0.5, 0], xx: 2.5, yy: 2.5, zz: 5}\n"
               "    shapes: [{type: box, size: [1, 1, 0.06], at: [-0.5, -0.5, 0], color: "
               "[0.54, 0.44, 0.3]}]\n",
               level, level, bars, make_show(-bar).text);
}

static void write_pendulum(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const double bar = 2.0 / n;
  make_head(out, "pendulum-strings", 9.81,
            "# A pendulum on strings: a plate hangs by four strings of bars, another one below it "
            "by four more,\n# and a flap on a hinge below that. It is let go with a push.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  joint: {type: spherical, damping: 1e-4}\n"
               "  body:                                  # a bar of a string\n"
               "    inertia: {mass: 1, at: [0, 0, %s], xx: %s, yy: %s, zz: 1e-4}\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, %s], radius: 0.015}]\n"
               "\nbodies:\n",
               make_show(-0.5 * bar).text, make_show(bar * bar / 12).text,
               make_show(bar * bar / 12).text, make_show(-bar).text);
  for (int level = 1; level <= 2; level++) {
    write_strings(level, n, bar, out);
  }
  sni_text_add(out, "  flap:\n"
                    "    parent: plate_2\n"
                    "    joint: {type: revolute, axis: [0, 1, 0], at: [-0.5, -0.5, 0], damping: "
                    "1e-3}\n"
                    "    inertia: {mass: 1, at: [0, 0, -0.3], xx: 0.04, yy: 0.03, zz: 0.01}\n"
                    "    shapes: [{type: box, size: [0.04, 0.5, 0.6], at: [0, 0, -0.3], color: "
                    "[0.64, 0.24, 0.18]}]\n"
                    "\nloops:\n");
  for (int level = 1; level <= 2; level++) {
    for (int k = 1; k < 4; k++) {
      double x, y;
      corner(k, &x, &y);
      sni_text_add(out,
                   "  knot_%d%d: {type: spherical, a: {body: string_%d%d_%d, at: [0, 0, %s]}, b: "
                   "{body: plate_%d, at: %s}}\n",
                   level, k + 1, level, k + 1, n, make_show(-bar).text, level,
                   make_show3((sn_vec3){x - HALF, y - HALF, 0}).text);
    }
  }
  sni_text_add(out, "\nforces:\n"
                    "  push: {type: point_force, body: plate_2, at: [-0.9, -0.5, 0], force: "
                    "[\"t < 0.5 ? 50 : 0\", \"t < 0.5 ? 20 : 0\", 0]}\n");
  make_foot_structured(out, 10, "[T, V, E, plate_1.pos.*, plate_2.pos.*, flap.q]",
                       "precision: 1e-3");
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "bars of a string, from 1 to 10000; 10 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 10, 1, 10000, true}};

const make_generator make_pendulum_strings = {
    .name = "pendulum-strings",
    .command = {.name = "make pendulum-strings",
                .arguments = "[--count N]",
                .doc = "two plates on strings of bars, and a flap: six loops",
                .about = "A plate on four strings, another one below it, a flap on a hinge.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make pendulum-strings > pendulum.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_pendulum};
