/* make_gear.c: a planetary gear: a sun, planets on a carrier, and a ring around them.
 *
 * Where teeth meet both wheels have one velocity.  With the radii r and angles q of sun (s),
 * carrier (c), ring (r), and of a planet (p) against the carrier,
 *
 *     r_s (q_s - q_c) + r_p q_p = 0     r_r (q_r - q_c) - r_p q_p = 0     r_r = r_s + 2 r_p
 *
 * Every planet has two such rows, and all say the same of sun, carrier and ring: with n planets
 * n - 1 rows are redundant.  With the ring held the carrier turns r_s/(r_s + r_r) as fast as the
 * sun. */
#include "cli/make.h"

#define SUN     0.1 /* m, radii */
#define PLANET  0.05
#define RING    (SUN + 2 * PLANET)
#define CARRIER (SUN + PLANET)

/* A wheel around the z axis. */
static void write_wheel(const char *name, const char *parent, const char *at, double radius,
                        sni_text *out) {
  sni_text_add(out,
               "  %s:\n    parent: %s\n    joint: {at: %s}\n"
               "    shapes: [{type: cylinder, from: [0, 0, 0], to: [0, 0, 0.02], radius: %s}]\n",
               name, parent, at, make_show(radius).text);
}

static void write_teeth(int k, sni_text *out) {
  sni_text_add(out,
               "  inner_%d: {type: couple, terms: [{joint: sun, factor: %s}, {joint: carrier, "
               "factor: %s}, {joint: planet_%d, factor: %s}]}\n"
               "  outer_%d: {type: couple, terms: [{joint: ring, factor: %s}, {joint: carrier, "
               "factor: %s}, {joint: planet_%d, factor: %s}]}\n",
               k, make_show(SUN).text, make_show(-SUN).text, k, make_show(PLANET).text, k,
               make_show(RING).text, make_show(-RING).text, k, make_show(-PLANET).text);
}

static void write_gear(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  make_head(
      out, "gear", 9.81,
      "# A planetary gear. The ring is held, a torque turns the sun, and the carrier drives a "
      "fan.\n");
  sni_text_add(out, "\ndefaults:\n"
                    "  joint: {type: revolute, axis: [0, 0, 1]}\n"
                    "  shape: {density: 7800}\n"
                    "\nbodies:\n");
  write_wheel("sun", "world", "[0, 0, 0]", SUN, out);
  sni_text_add(out,
               "  carrier:\n"
               "    parent: world\n"
               "    joint: {at: [0, 0, 0.02], damping: 0.5}    # of the fan, in the air\n"
               "    shapes: [{type: cylinder, from: [0, 0, 0], to: [0, 0, 0.01], radius: %s}]\n"
               "  ring:\n"
               "    parent: world\n"
               "    inertia: {mass: 4, xx: 0.085, yy: 0.085, zz: 0.17}\n",
               make_show(CARRIER).text);
  sni_text_add(out, "    joint: {at: [0, 0, 0]}\n");
  for (int k = 1; k <= n; k++) {
    const double a = 2 * SN_PI * (k - 1) / n;
    char name[32];
    snprintf(name, sizeof name, "planet_%d", k);
    write_wheel(name, "carrier",
                make_show3((sn_vec3){CARRIER * cos(a), CARRIER * sin(a), -0.02}).text, PLANET, out);
  }
  sni_text_add(out, "\n# Where teeth meet, both wheels have one velocity.\nconstraints:\n");
  for (int k = 1; k <= n; k++) {
    write_teeth(k, out);
  }
  sni_text_add(out, "\nmotions:\n  brake: {joint: ring, q: 0}\n"
                    "\nforces:\n  motor: {type: joint_torque, joint: sun, torque: 2}\n");
  make_foot(out, 5, "[T, V, E, sun.qd, carrier.qd, planet_1.qd, brake.tau]");
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "planets, from 1 to 9; 3 if not given"}};
static const make_number numbers[] = {{"--count", offsetof(make_settings, count), 3, 1, 9, true}};

const make_generator make_gear = {
    .name = "gear",
    .command = {.name = "make gear",
                .arguments = "[--count N]",
                .doc = "a planetary gear of coupled joints",
                .about =
                    "A sun, N planets on a carrier that drives a fan, and a ring that is held.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make gear --count 5 > gear.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_gear};
