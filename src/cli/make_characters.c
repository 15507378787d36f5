/* make_characters.c: figures that hold hands, their feet on the ground, of which the last is
 * dragged away further than arms reach [FA 3.4].  Each figure is a tree of fifteen bodies;
 * hands and feet are bound by loops, which come apart while the figures do not. */
#include "cli/make.h"

/* One body of a figure: where it hangs on its parent, and how far it reaches from there. */
typedef struct part {
  const char *name, *parent;
  sn_vec3 at, to;
  double mass, radius, stiffness;
} part;

static const part parts[] = {
    {"chest", "pelvis", {0, 0, 0.12}, {0, 0, 0.38}, 20, 0.13, 1000},
    {"head", "chest", {0, 0, 0.46}, {0, 0, 0.2}, 5, 0.1, 40},
    {"upper_arm_l", "chest", {0, 0.2, 0.36}, {0, 0.28, 0}, 2, 0.045, 20},
    {"forearm_l", "upper_arm_l", {0, 0.28, 0}, {0, 0.25, 0}, 1.5, 0.04, 20},
    {"hand_l", "forearm_l", {0, 0.25, 0}, {0, 0.12, 0}, 0.5, 0.04, 20},
    {"upper_arm_r", "chest", {0, -0.2, 0.36}, {0, -0.28, 0}, 2, 0.045, 20},
    {"forearm_r", "upper_arm_r", {0, -0.28, 0}, {0, -0.25, 0}, 1.5, 0.04, 20},
    {"hand_r", "forearm_r", {0, -0.25, 0}, {0, -0.12, 0}, 0.5, 0.04, 20},
    {"thigh_l", "pelvis", {0, 0.1, -0.05}, {0, 0, -0.42}, 8, 0.07, 1500},
    {"shin_l", "thigh_l", {0, 0, -0.42}, {0, 0, -0.4}, 4, 0.055, 1500},
    {"foot_l", "shin_l", {0, 0, -0.4}, {0.16, 0, -0.03}, 1, 0.04, 1500},
    {"thigh_r", "pelvis", {0, -0.1, -0.05}, {0, 0, -0.42}, 8, 0.07, 1500},
    {"shin_r", "thigh_r", {0, 0, -0.42}, {0, 0, -0.4}, 4, 0.055, 1500},
    {"foot_r", "shin_r", {0, 0, -0.4}, {0.16, 0, -0.03}, 1, 0.04, 1500}};
enum { PARTS = sizeof parts / sizeof parts[0] };
#define HIP   0.94 /* m, height of the pelvis  */
#define APART 1.7  /* m, from figure to figure: hand to hand */

static void write_figure(int k, sni_text *out) {
  static const char *const color[3] = {"[0.3, 0.49, 0.66]", "[0.66, 0.44, 0.3]",
                                       "[0.36, 0.6, 0.41]"};
  const char *paint = color[(k - 1) % 3];
  sni_text_add(out,
               "  pelvis_%d: {parent: world, joint: {type: free, at: %s},\n"
               "    inertia: {mass: 12, xx: 0.1, yy: 0.1, zz: 0.1},\n"
               "    shapes: [{type: capsule, from: [0, -0.08, 0], to: [0, 0.08, 0], radius: 0.11, "
               "color: %s}]}\n",
               k, make_show3((sn_vec3){0, APART * (k - 1), HIP}).text, paint);
  for (int i = 0; i < PARTS; i++) {
    const part *p = &parts[i];
    const double length = sn_vec3_norm(p->to), long_way = p->mass * length * length / 12;
    const double own = 0.5 * p->mass * p->radius * p->radius;
    const sn_vec3 middle = sn_vec3_scale(p->to, 0.5);
    sni_text_add(out,
                 "  %s_%d: {parent: %s_%d, joint: {at: %s, stiffness: %s, damping: %s},\n"
                 "    inertia: {mass: %s, at: %s, xx: %s, yy: %s, zz: %s},\n"
                 "    shapes: [{type: capsule, from: [0, 0, 0], to: %s, radius: %s, color: "
                 "%s}]}\n",
                 p->name, k, p->parent, k, make_show3(p->at).text, make_show(p->stiffness).text,
                 make_show(0.05 * p->stiffness).text, make_show(p->mass).text,
                 make_show3(middle).text, make_show(own + long_way).text,
                 make_show(own + long_way).text, make_show(own + long_way).text,
                 make_show3(p->to).text, make_show(p->radius).text, paint);
  }
}

static void write_characters(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  make_head(out, "characters", 9.81,
            "# Figures that hold hands, with their feet on the ground: each is a tree, and what "
            "binds them are loops.\n# The last one is dragged away, further than they reach: hands "
            "and feet come off, nobody comes apart. Then it comes back.\n");
  sni_text_add(out, "\ndefaults:\n"
                    "  joint: {type: spherical}\n"
                    "\nbodies:\n");
  for (int k = 1; k <= n; k++) {
    write_figure(k, out);
  }
  sni_text_add(out, "\nconstraints:\n");
  for (int k = 1; k <= n; k++) {
    for (int side = 0; side < 2; side++) {
      const double y = APART * (k - 1) + (side ? -0.1 : 0.1);
      sni_text_add(out,
                   "  sole_%d%c: {type: weld, a: {body: world, at: %s}, b: {body: foot_%c_%d}%s}\n",
                   k, side ? 'r' : 'l', make_show3((sn_vec3){0, y, HIP - 0.05 - 0.42 - 0.4}).text,
                   side ? 'r' : 'l', k, k == n ? ", active: t < 1" : "");
    }
  }
  for (int k = 1; k < n; k++) {
    sni_text_add(out,
                 "  hands_%d: {type: point, a: {body: hand_l_%d, at: [0, 0.12, 0]}, b: {body: "
                 "hand_r_%d, at: [0, -0.12, 0]}}\n",
                 k, k, k + 1);
  }
  sni_text_add(out,
               "\nmotions:                               # the hand of somebody who drags\n"
               "  drag:\n"
               "    body: chest_%d\n"
               "    at: [0, 0, 0.2]\n"
               "    point:\n"
               "      - {keyframes: [[1, 0], [3, 1], [5, 1.5], [8, 0]], interpolation: cubic}\n"
               "      - {keyframes: [[1, %s], [3, %s], [5, %s], [8, %s]], interpolation: cubic}\n"
               "      - {keyframes: [[1, %s], [3, 1.6], [5, 2], [8, %s]], interpolation: cubic}\n"
               "    active: t > 1\n",
               n, make_show(APART * (n - 1)).text, make_show(APART * (n - 1) + 1.5).text,
               make_show(APART * (n - 1) + 3).text, make_show(APART * (n - 1)).text,
               make_show(HIP + 0.32).text, make_show(HIP + 0.32).text);
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, pelvis_1.pos.*, pelvis_%d.pos.*]", n);
  make_foot_structured(out, 10, channels, "precision: 1e-3");
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "figures, from 2 to 1000; 3 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 3, 2, 1000, true}};

const make_generator make_characters = {
    .name = "characters",
    .command = {.name = "make characters",
                .arguments = "[--count N]",
                .doc = "figures that hold hands, one dragged away too far",
                .about = "Trees of fifteen bodies, bound by loops that come apart.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make characters > characters.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_characters};
