/* make_umbrella.c: an umbrella that opens, the second scaling test of RedMax [RM 7].
 *
 * Eight ribs of n pieces hang from the tip of a shaft; eight stretchers of n/2 pieces lead from the
 * runner, which slides on the shaft, to the middle of the ribs, where a ball joint closes a loop.
 * All pieces bend in universal joints with springs: 1 + 16 (n + n/2) coordinates.  The canopy is a
 * spring from each piece of a rib to its neighbour in the next rib. */
#include "cli/make.h"

enum { RIBS = 8 };
#define RIB       50.0               /* cm, length of a rib                 */
#define TIP       60.0               /* height of the tip of the shaft      */
#define RUNNER    10.0               /* and of the runner, at the start     */
#define CLOSED    (80 * SN_PI / 180) /* below the horizontal   */
#define RADIUS    0.3
#define STIFFNESS 1e5 /* dyn cm/rad, of a joint               */
#define CANOPY    1.0 /* dyn for a strain of 1                */
#define OPENING   5e3 /* dyn                                  */

/* The pose at p whose z axis points along z and whose x axis is level, across the rib k. */
static sn_se3 frame_of(sn_vec3 p, sn_vec3 z, int k) {
  const double a = 2 * SN_PI * k / RIBS;
  const sn_vec3 x = {-sin(a), cos(a), 0}, y = sn_vec3_cross(z, x);
  return (sn_se3){.R = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}}, .p = p};
}

static sn_vec3 rib_direction(int k) {
  const double a = 2 * SN_PI * k / RIBS;
  return (sn_vec3){cos(CLOSED) * cos(a), cos(CLOSED) * sin(a), -sin(CLOSED)};
}

/* A chain of n pieces: a rib or a stretcher. */
static void write_chain(const char *name, int k, const char *parent, sn_se3 first, int n,
                        double piece, sni_text *out) {
  sni_text_add(out,
               "  %s_%d:\n"
               "    parent: %s\n"
               "    joint: {at: %s}\n"
               "    shapes: [{type: cylinder, from: [0, 0, 0], to: [0, 0, %s], radius: %s}]\n"
               "    repeat: {count: %d, joint: {at: [0, 0, %s], stiffness: %s, damping: 1}}\n",
               name, k + 1, parent, make_show_pose(first).text, make_show(piece).text,
               make_show(RADIUS).text, n, make_show(piece).text, make_show(STIFFNESS).text);
}

static void write_umbrella(const make_settings *s, sni_text *out) {
  const int n = (int)s->count, half = n / 2;
  const double piece = RIB / n, middle = (half - 0.5) * piece; /* the centre of that piece */
  const sn_vec3 tip = {0, 0, TIP}, runner = {0, 0, RUNNER};
  double stretcher = 0;
  make_head_in(out, "umbrella", "cm g s", 0,
               "# An umbrella that opens. Ribs and stretchers are chains of pieces with springs in "
               "their joints; a loop joins each\n# stretcher to its rib, and the springs of the "
               "canopy join the ribs.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  joint: {type: universal}\n"
               "  body: {damping: 1}\n"
               "  shape: {density: 1}\n"
               "\nbodies:\n"
               "  shaft:\n"
               "    parent: world\n"
               "    joint: {type: fixed}\n"
               "    damping: 0\n"
               "    shapes: [{type: cylinder, from: [0, 0, 0], to: [0, 0, %s], radius: 0.5}]\n"
               "  runner:\n"
               "    parent: shaft\n"
               "    joint: {type: prismatic, axis: [0, 0, 1], at: %s}\n"
               "    shapes: [{type: cylinder, from: [0, 0, -2.5], to: [0, 0, 2.5], radius: 1}]\n",
               make_show(TIP).text, make_show3(runner).text);
  for (int k = 0; k < RIBS; k++) {
    write_chain("rib", k, "shaft", frame_of(tip, rib_direction(k), k), n, piece, out);
  }
  for (int k = 0; k < RIBS; k++) {
    const sn_vec3 end = sn_vec3_addscaled(tip, middle, rib_direction(k));
    const sn_vec3 along = sn_vec3_sub(end, runner);
    const double length = sn_vec3_norm(along);
    stretcher = length / half;
    write_chain("stretcher", k, "runner",
                frame_of((sn_vec3){0, 0, 0}, sn_vec3_scale(along, 1 / length), k), half, stretcher,
                out);
  }
  sni_text_add(out, "\nloops:\n");
  for (int k = 1; k <= RIBS; k++) {
    sni_text_add(out,
                 "  pin_%d: {type: spherical, a: {body: rib_%d_%d, at: [0, 0, %s]}, b: {body: "
                 "stretcher_%d_%d, at: [0, 0, %s]}}\n",
                 k, k, half, make_show(0.5 * piece).text, k, half, make_show(stretcher).text);
  }
  sni_text_add(out,
               "\nforces:\n"
               "  opening: {type: point_force, body: runner, force: [0, 0, %s]}\n"
               "  # The canopy.\n",
               make_show(OPENING).text);
  for (int i = 1; i <= n; i++) {
    const double out_from_shaft = (i - 0.5) * piece * cos(CLOSED);
    const double length = 2 * out_from_shaft * sin(SN_PI / RIBS);
    for (int k = 0; k < RIBS; k++) {
      sni_text_add(out,
                   "  cloth_%d_%d: {type: spring, stiffness: %s, damping: %s, a: {body: rib_%d_%d, "
                   "at: [0, 0, %s]},\n    b: {body: rib_%d_%d, at: [0, 0, %s]}}\n",
                   k + 1, i, make_show(CANOPY / length).text, make_show(1 / length).text, k + 1, i,
                   make_show(0.5 * piece).text, (k + 1) % RIBS + 1, i, make_show(0.5 * piece).text);
    }
  }
  char channels[128];
  snprintf(channels, sizeof channels, "[T, V, E, runner.q, rib_1_%d.pos.*]", n);
  make_foot(out, 2.5, channels);
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "pieces of a rib, from 2 to 10000; 10 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 10, 2, 10000, true}};

const make_generator make_umbrella = {
    .name = "umbrella",
    .command = {.name = "make umbrella",
                .arguments = "[--count N]",
                .doc = "an umbrella that opens: eight loops among bending ribs",
                .about =
                    "Eight ribs of N pieces, held open by stretchers of half as many: 1 + 24 N "
                    "coordinates\nfor an even N.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make umbrella --count 46 > umbrella.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_umbrella};
