/* make_hand.c: an arm and a hand whose fingertips follow circles [RM 8].
 *
 * In every finger the last joint bends half as far as the one before: one coordinate for two
 * joints. The frames of all limbs have z along the limb, y to the little finger and x out of the
 * palm, so that a finger bent by the angles a, b, c (each to what came before) has its tip at
 *
 *     x = sum l_i sin(a_i)    z = sum l_i cos(a_i)    a_1 = a, a_2 = a + b, a_3 = a + b + c
 *
 * in the frame of its root.  The circles turn with the forearm. */
#include "cli/make.h"

#include <string.h>

enum { FINGERS = 5 };
#define FOREARM 25.0 /* cm */
#define PALM    9.0
#define CIRCLE  1.5 /* radius of a fingertip's path */
#define ELBOW   "pi/6*sin(pi*t/2)"

typedef struct finger {
  const char *name;
  sn_vec3 root;  /* in the palm                              */
  double spread; /* turned about x                           */
  double length[3];
  double bend[3]; /* of the joints, at the start              */
  double thick;
} finger;

#define PHALANGES(scale)                                                                           \
  { 4.5 * (scale), 2.8 * (scale), 2.0 * (scale) }
static const finger fingers[FINGERS] = {
    {"index", {0, -3, PALM}, 0, PHALANGES(1.0), {0.2, 0.7, 0.35}, 1.5},
    {"middle", {0, -1, PALM}, 0, PHALANGES(1.1), {0.2, 0.7, 0.35}, 1.5},
    {"ring", {0, 1, PALM}, 0, PHALANGES(1.0), {0.2, 0.7, 0.35}, 1.5},
    {"little", {0, 3, PALM}, 0, PHALANGES(0.9), {0.2, 0.7, 0.35}, 1.5},
    {"thumb", {0.5, -4, 3}, SN_PI / 4, {4.5, 3, 2.5}, {0.3, 0.6, 0.5}, 1.5}};

static bool is_thumb(const finger *f) {
  return f->spread != 0;
}

static void write_finger(const finger *f, sni_text *out) {
  for (int i = 0; i < 3; i++) {
    char parent[24] = "palm", at[200];
    snprintf(at, sizeof at, "[0, 0, %s]", i > 0 ? make_show(f->length[i - 1]).text : "");
    if (i > 0) {
      snprintf(parent, sizeof parent, "%s_%d", f->name, i);
    } else if (is_thumb(f)) {
      snprintf(at, sizeof at, "{pos: %.80s, rotvec: [%.24s, 0, 0]}", make_show3(f->root).text,
               make_show(f->spread).text);
    } else {
      snprintf(at, sizeof at, "%.80s", make_show3(f->root).text);
    }
    sni_text_add(out,
                 "  %s_%d:\n    parent: %s\n    joint: {%s, at: %s}\n"
                 "    shapes: [{type: box, size: [%g, %g, %s], at: [0, 0, %s]}]\n",
                 f->name, i + 1, parent,
                 i == 0 ? "type: universal" : "type: revolute, axis: [0, 1, 0]", at, f->thick,
                 f->thick, make_show(f->length[i]).text, make_show(0.5 * f->length[i]).text);
  }
}

/* The tip goes round a circle that it starts on, farthest from the root. */
static void write_path(const finger *f, sni_text *out) {
  double x = 0, z = 0, bent = 0;
  for (int i = 0; i < 3; i++) {
    bent += f->bend[i];
    x += f->length[i] * sin(bent);
    z += f->length[i] * cos(bent);
  }
  const double part = 1 - CIRCLE / hypot(x, z), c = cos(f->spread), s = sin(f->spread);
  const make_text X = make_show(f->root.x + part * x), Y = make_show(f->root.y - s * part * z),
                  Z = make_show(FOREARM + f->root.z + c * part * z), phase = make_show(atan2(x, z)),
                  r = make_show(CIRCLE), ry = make_show(-CIRCLE * s), rz = make_show(CIRCLE * c);
  sni_text_add(out,
               "  %s:\n    body: %s_3\n    at: [0, 0, %s]\n    point:\n"
               "      - \"sin(" ELBOW ")*(%s + %s*sin(%s + 2*pi*t))\n         + cos(" ELBOW
               ")*(%s + %s*cos(%s + 2*pi*t))\"\n"
               "      - \"%s + %s*cos(%s + 2*pi*t)\"\n"
               "      - \"-cos(" ELBOW ")*(%s + %s*sin(%s + 2*pi*t))\n         + sin(" ELBOW
               ")*(%s + %s*cos(%s + 2*pi*t))\"\n",
               f->name, f->name, make_show(f->length[2]).text, X.text, r.text, phase.text, Z.text,
               rz.text, phase.text, Y.text, ry.text, phase.text, X.text, r.text, phase.text, Z.text,
               rz.text, phase.text);
}

static void write_hand(const make_settings *s, sni_text *out) {
  const bool hyper = strcmp(s->coordinates, "hyper") == 0;
  make_head_in(out, "hand", "cm g s", 980,
               "# An arm and a hand. The elbow follows a function of time, the fingertips go round "
               "circles, and springs in the\n# joints choose among the poses that are left.\n");
  sni_text_add(out, "\ndefaults:\n"
                    "  joint: {stiffness: 5e4, damping: 5e3}\n"
                    "  body: {damping: 1}\n"
                    "  shape: {density: 1}\n"
                    "\n# z leads along each limb, y from the thumb to the little finger, x out of "
                    "the palm.\n"
                    "bodies:\n"
                    "  upper_arm:\n"
                    "    parent: world\n"
                    "    joint: {type: fixed}\n"
                    "    shapes: [{type: box, size: [6, 6, 28], at: [0, 0, 14]}]\n"
                    "  forearm:\n"
                    "    parent: world\n"
                    "    joint: {type: revolute, axis: [0, -1, 0], at: {pos: [0, 0, 0], rotvec: "
                    "[0, pi/2, 0]}, stiffness: 0, damping: 0}\n"
                    "    shapes: [{type: box, size: [5, 5, 25], at: [0, 0, 12.5]}]\n"
                    "  palm:\n"
                    "    parent: forearm\n"
                    "    joint: {type: universal, at: [0, 0, 25], stiffness: 1e7, damping: 1e6}\n"
                    "    shapes: [{type: box, size: [2.5, 8, 9], at: [0, 0, 4.5]}]\n");
  for (int k = 0; k < FINGERS; k++) {
    write_finger(&fingers[k], out);
  }
  if (hyper) {
    sni_text_add(out, "\n# The last joint of a finger bends half as far as the one before.\n"
                      "constraints:\n");
    for (int k = 0; k < FINGERS - 1; k++) {
      sni_text_add(
          out,
          "  %s: {type: map, coordinates: [{name: curl, q: %g}],\n    joints: [{joint: %s_2, "
          "value: 2*curl}, {joint: %s_3, value: curl}]}\n",
          fingers[k].name, fingers[k].bend[2], fingers[k].name, fingers[k].name);
    }
  }
  sni_text_add(out, "\nmotions:\n  elbow: {joint: forearm, q: " ELBOW "}\n");
  for (int k = 0; k < FINGERS; k++) {
    write_path(&fingers[k], out);
  }
  sni_text_add(out, "\ninitial:\n");
  for (int k = 0; k < FINGERS; k++) {
    const finger *f = &fingers[k];
    sni_text_add(out, "  %s_1: {q: [0, %g]}\n", f->name, f->bend[0]);
    if (!hyper || is_thumb(f)) {
      sni_text_add(out, "  %s_2: {q: %g}\n  %s_3: {q: %g}\n", f->name, f->bend[1], f->name,
                   f->bend[2]);
    }
  }
  make_foot_at(out, 0.005, 4,
               "[T, V, E, palm.q0, palm.q1, index_2.q, index_3.q, thumb_2.q, "
               "index_3.pos.*, elbow.tau]");
}

static const cli_option options[] = {
    {"--coordinates", "KIND", CLI_TEXT, offsetof(make_settings, coordinates),
     "hyper (if not given): the last two joints of a finger bend together; reduced: each for "
     "itself"}};
static const make_word words[] = {
    {"--coordinates", offsetof(make_settings, coordinates), {"hyper", "reduced"}}};

const make_generator make_hand = {
    .name = "hand",
    .command = {.name = "make hand",
                .arguments = "[--coordinates hyper|reduced]",
                .doc = "an arm and a hand whose fingertips go round circles",
                .about =
                    "Elbow, wrist, four fingers and a thumb: 23 coordinates of joints, of which "
                    "four follow\nothers.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make hand > hand.yaml\n",
                .run = make_run},
    .word = words,
    .nword = 1,
    .write = write_hand};
