/* make_arm.c: an arm of two bones that six cables move: muscles that can only pull. */
#include "cli/make.h"

#include "math/vec3.h"

#define SHOULDER 1.4 /* height, m      */
#define UPPER    0.3 /* lengths, m     */
#define LOWER    0.27

enum { TORSO, HUMERUS, FOREARM };
enum { POINTS_MAX = 3 };

/* A cable over points of the torso and the bones, each in the frame of its body. */
typedef struct muscle {
  const char *name, *comment;
  double stiffness, shorter; /* N/m; how much it is shorter than its way at the start, m */
  const char *active;        /* NULL: always */
  int count;
  struct {
    int body;
    sn_vec3 at; /* of the torso: from the shoulder */
  } point[POINTS_MAX];
} muscle;

/* clang-format off */
static const muscle muscles[] = {
    {"front", "lifts the arm forward", 2500, 0.01, NULL, 2,
     {{TORSO, {0.09, 0, 0.06}}, {HUMERUS, {0.04, 0, -0.14}}}},
    {"back", "pulls it back", 2500, 0.01, NULL, 2,
     {{TORSO, {-0.09, 0, 0.06}}, {HUMERUS, {-0.04, 0, -0.14}}}},
    {"side", "lifts it sideways", 2500, 0.02, NULL, 2,
     {{TORSO, {0, 0.09, 0.06}}, {HUMERUS, {0, 0.04, -0.14}}}},
    {"chest", "pulls it to the body", 2500, 0.01, NULL, 2,
     {{TORSO, {0, -0.12, -0.02}}, {HUMERUS, {0, -0.03, -0.1}}}},
    {"biceps", "bends the elbow, every other second", 5000, 0.1, "sin(pi*t)", 3,
     {{TORSO, {0.06, 0, 0.03}}, {HUMERUS, {0.06, 0, -0.2}}, {FOREARM, {0.03, 0, -0.06}}}},
    {"triceps", "stretches it, in between", 1500, 0, "-sin(pi*t)", 3,
     {{TORSO, {-0.06, 0, 0}}, {HUMERUS, {-0.05, 0, -0.26}}, {FOREARM, {-0.035, 0, 0.02}}}}};
/* clang-format on */
enum { MUSCLES = sizeof muscles / sizeof *muscles };

/* Where a body's frame is at the start: the arm hangs straight down. */
static sn_vec3 origin_of(int body) {
  return (sn_vec3){0, 0, body == FOREARM ? SHOULDER - UPPER : SHOULDER};
}

static void write_muscle(const muscle *m, sni_text *out) {
  static const char *const name[] = {"world", "humerus", "forearm"};
  double length = 0;
  for (int k = 1; k < m->count; k++) {
    const sn_vec3 a = sn_vec3_add(origin_of(m->point[k - 1].body), m->point[k - 1].at);
    const sn_vec3 b = sn_vec3_add(origin_of(m->point[k].body), m->point[k].at);
    length += sn_vec3_norm(sn_vec3_sub(b, a));
  }
  sni_text_add(
      out, "  %s:                                # %s\n    stiffness: %s\n    rest_length: %s\n",
      m->name, m->comment, make_show(m->stiffness).text, make_show(length - m->shorter).text);
  if (m->active) {
    sni_text_add(out, "    active: %s\n", m->active);
  }
  sni_text_add(out, "    via:\n");
  for (int k = 0; k < m->count; k++) {
    const int body = m->point[k].body;
    const sn_vec3 base = body == TORSO ? origin_of(TORSO) : (sn_vec3){0, 0, 0};
    sni_text_add(out, "      - {body: %s, at: %s}\n", name[body],
                 make_show3(sn_vec3_add(base, m->point[k].at)).text);
  }
}

static void write_arm(const make_settings *s, sni_text *out) {
  make_head(out, "arm", 9.81,
            "# An arm of two bones. Six cables move it: four from the torso to the upper arm, and "
            "two over shoulder and\n"
            "# elbow, which pull in turn.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  shape: {density: 1000}\n"
               "  force: {type: cable, damping: 100, tension_only: true}\n"
               "\nbodies:\n"
               "  humerus:\n"
               "    parent: world\n"
               "    joint: {type: spherical, at: %s, damping: 0.05}\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, %s], radius: 0.04}]\n"
               "  forearm:\n"
               "    parent: humerus\n"
               "    joint: {type: revolute, at: [0, 0, %s], axis: [0, -1, 0], stiffness: 4, rest: "
               "0.2, damping: 0.5}   # > 0: bent\n"
               "    shapes:\n"
               "      - {type: capsule, from: [0, 0, 0], to: [0, 0, %s], radius: 0.03}\n",
               make_show3((sn_vec3){0, 0, SHOULDER}).text, make_show(-UPPER).text,
               make_show(-UPPER).text, make_show(-LOWER).text);
  if (s->weight > 0) { /* a ball of 5 cm */
    const double volume = 4.0 / 3 * 3.14159265358979323846 * 0.05 * 0.05 * 0.05;
    sni_text_add(
        out, "      - {type: sphere, radius: 0.05, at: [0, 0, %s], density: %s}   # in the hand\n",
        make_show(-LOWER - 0.05).text, make_show(s->weight / volume).text);
  }
  sni_text_add(out, "\nforces:\n");
  for (int k = 0; k < MUSCLES; k++) {
    write_muscle(&muscles[k], out);
  }
  make_foot(out, 4, "[T, V, E, humerus.q0, humerus.q1, forearm.q, forearm.pos.*]");
}

static const cli_option options[] = {{"--weight", "M", CLI_NUMBER, offsetof(make_settings, weight),
                                      "kilograms in the hand, from 0 to 100; 1 if not given"}};
static const make_number numbers[] = {
    {"--weight", offsetof(make_settings, weight), 1, 0, 100, false}};

const make_generator make_arm = {
    .name = "arm",
    .command = {.name = "make arm",
                .arguments = "[--weight M]",
                .doc = "two bones and six cables that pull like muscles",
                .about = "An arm of two bones on a shoulder and an elbow, moved by six cables.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make arm --weight 2 > arm.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_arm};
