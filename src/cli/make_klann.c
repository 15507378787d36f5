/* make_klann.c: a machine that walks on six of Klann's legs (US patent 6,260,862) [RM Fig 5].
 *
 * A leg moves in a plane: a crank at 15, a rod (29, 27, 35) that the crank moves and a lower rocker
 * (11, 27) guides, a leg (35, 37, 33) that hangs on the rod and on an upper rocker (9, 37).  Its
 * foot 33 goes along the ground for half a turn of the crank, and back above it in the other half.
 * The unit is a stride. */
#include "cli/make.h"

#include <stdio.h>

#define STRIDE   0.1   /* m                            */
#define THICK    0.003 /* radius of links              */
#define FOOT     0.005 /* radius of feet               */
#define HALF_GAP 0.06  /* from the middle to the first plane of legs */
#define APART    0.015 /* from plane to plane          */
#define TURNS    1.0   /* of the cranks in a second    */

typedef struct point {
  double x, z;
} point;
enum { P9, P11, P15, P29, P27, P35, P37, P33, POINTS };

static const point fixed[] = {[P9] = {1.366, 1.366}, [P11] = {1.009, 0.574}, [P15] = {1.599, 0.75}};

/* Where two circles meet: to the left of the way from a to b (side 1), or to the right (-1). */
static point meet(point a, double ra, point b, double rb, int side) {
  const double dx = b.x - a.x, dz = b.z - a.z, d = hypot(dx, dz);
  const double along = (ra * ra - rb * rb + d * d) / (2 * d),
               across = sqrt(ra * ra - along * along);
  return (point){a.x + (along * dx - side * across * dz) / d,
                 a.z + (along * dz + side * across * dx) / d};
}

/* All points of a leg whose crank stands at an angle. */
static void leg_at(double angle, point p[POINTS]) {
  for (int k = P9; k <= P15; k++) {
    p[k] = fixed[k];
  }
  p[P29] = (point){p[P15].x + 0.268 * cos(angle), p[P15].z + 0.268 * sin(angle)};
  p[P27] = meet(p[P29], 0.59, p[P11], 0.3206, -1);
  p[P35] = meet(p[P27], 0.5221, p[P29], 1.1051, 1);
  p[P37] = meet(p[P35], 0.8966, p[P9], 0.5177, 1);
  p[P33] = meet(p[P35], 0.8966, p[P37], 1.732, -1);
}

typedef struct limb {
  const char *side;
  double phase; /* of its crank's throw */
  bool mirrored;
  double y;
  point p[POINTS];
} limb;

/* Three on each side; the middle one looks back. */
static limb limb_of(int side, int k) {
  limb out = {.side = side ? "right" : "left",
              .phase = 2 * 3.14159265358979323846 * (k / 3.0 + side / 2.0),
              .mirrored = k == 1,
              .y = (side ? -1 : 1) * (HALF_GAP + k * APART)};
  leg_at(out.mirrored ? 3.14159265358979323846 - out.phase : out.phase, out.p);
  for (int i = 0; i < POINTS; i++) {
    if (out.mirrored) {
      out.p[i].x = 2 * fixed[P15].x - out.p[i].x;
    }
  }
  return out;
}

/* From a point of the frame of a body at `from`. */
static make_text at(const limb *l, int i, point from, double y) {
  return make_show3((sn_vec3){STRIDE * (l->p[i].x - from.x), y, STRIDE * (l->p[i].z - from.z)});
}

/* The rest of a joint: all are pins across the plane. */
static make_text pin(double mu) {
  make_text t;
  snprintf(t.text, sizeof t.text,
           ",\n      type: revolute, axis: [0, -1, 0], friction: {mu: %.24s, pin_radius: 0.003, "
           "pin_length: 0.006}",
           make_show(mu).text);
  return t;
}

static void write_rod(sni_text *out, const char *from, const char *to) {
  sni_text_add(out, "      - {type: capsule, from: %s, to: %s, radius: %s}\n", from, to,
               make_show(THICK).text);
}

static void write_limb(const limb *l, int k, bool floor, double mu, sni_text *out) {
  const char *zero = "[0, 0, 0]";
  char name[16];
  snprintf(name, sizeof name, "%s_%d", l->side, k + 1);
  const point shaft = l->p[P15];
  sni_text_add(out, "  rod_%s:\n    parent: crank_%s\n    joint: {at: %s%s}\n    shapes:\n", name,
               l->side, at(l, P29, shaft, l->y).text, pin(mu).text);
  write_rod(out, zero, at(l, P27, l->p[P29], 0).text);
  write_rod(out, at(l, P27, l->p[P29], 0).text, at(l, P35, l->p[P29], 0).text);
  sni_text_add(out, "  leg_%s:\n    parent: rod_%s\n    joint: {at: %s%s}\n    shapes:\n", name,
               name, at(l, P35, l->p[P29], 0).text, pin(mu).text);
  write_rod(out, zero, at(l, P37, l->p[P35], 0).text);
  write_rod(out, zero, at(l, P33, l->p[P35], 0).text);
  sni_text_add(out, "      - {type: sphere, radius: %s, at: %s%s}\n", make_show(FOOT).text,
               at(l, P33, l->p[P35], 0).text, floor ? ", contact: rubber" : "");
  sni_text_add(out, "  lower_%s:\n    parent: frame\n    joint: {at: %s%s}\n    shapes:\n", name,
               at(l, P11, fixed[P15], l->y).text, pin(mu).text);
  write_rod(out, zero, at(l, P27, l->p[P11], 0).text);
  sni_text_add(out, "  upper_%s:\n    parent: frame\n    joint: {at: %s%s}\n    shapes:\n", name,
               at(l, P9, fixed[P15], l->y).text, pin(mu).text);
  write_rod(out, zero, at(l, P37, l->p[P9], 0).text);
}

static void write_loops(const limb *l, int k, double mu, sni_text *out) {
  char name[16];
  snprintf(name, sizeof name, "%s_%d", l->side, k + 1);
  sni_text_add(
      out, "  elbow_%s: {a: {body: lower_%s, at: %s},\n      b: {body: rod_%s, at: %s}%s}\n", name,
      name, at(l, P27, l->p[P11], 0).text, name, at(l, P27, l->p[P29], 0).text, pin(mu).text);
  sni_text_add(out, "  hip_%s: {a: {body: upper_%s, at: %s},\n      b: {body: leg_%s, at: %s}%s}\n",
               name, name, at(l, P37, l->p[P9], 0).text, name, at(l, P37, l->p[P35], 0).text,
               pin(mu).text);
}

static void write_crank(int side, double mu, sni_text *out) {
  sni_text_add(
      out,
      "  crank_%s:                                # three throws, a third of a turn apart\n"
      "    parent: frame\n    joint: {at: [0, 0, 0]%s}\n    shapes:\n",
      side ? "right" : "left", pin(mu).text);
  for (int k = 0; k < 3; k++) {
    const limb l = limb_of(side, k);
    write_rod(out, make_show3((sn_vec3){0, l.y, 0}).text, at(&l, P29, fixed[P15], l.y).text);
  }
  const double sign = side ? -1 : 1;
  write_rod(out, make_show3((sn_vec3){0, sign * HALF_GAP, 0}).text,
            make_show3((sn_vec3){0, sign * (HALF_GAP + 2 * APART), 0}).text);
}

static void write_klann(const make_settings *s, sni_text *out) {
  const bool floor = s->stand[0] == 'f';
  make_head(out, "klann", 9.81,
            "# A machine that walks on six of Klann's legs. Each side has a crank with three "
            "throws; both turn once a second.\n"
            "# All its pins rub.\n");
  sni_text_add(out, "\ndefaults:\n  shape: {density: 1000}\n\nbodies:\n");
  /* the lowest foot stands on the ground */
  double low = 1;
  for (int k = 0; k < 6; k++) {
    const limb l = limb_of(k / 3, k % 3);
    low = fmin(low, l.p[P33].z);
  }
  const double height = STRIDE * (fixed[P15].z - low) + FOOT;
  if (floor) {
    sni_text_add(out, "  ground:\n    parent: world\n    joint: {type: fixed}\n"
                      "    shapes: [{type: plane, contact: rubber}]\n");
  }
  sni_text_add(out,
               "  frame:                                     # its origin is on the shafts\n"
               "    parent: world\n"
               "    joint: {type: %s, at: [0, 0, %s]}\n"
               "    shapes: [{type: box, size: [0.25, 0.1, 0.04], at: [0, 0, 0.02]}]\n",
               floor ? "free" : "fixed", make_show(height).text);
  for (int side = 0; side < 2; side++) {
    write_crank(side, s->friction, out);
    for (int k = 0; k < 3; k++) {
      const limb l = limb_of(side, k);
      write_limb(&l, k, floor, s->friction, out);
    }
  }
  sni_text_add(out, "\nloops:\n");
  for (int k = 0; k < 6; k++) {
    const limb l = limb_of(k / 3, k % 3);
    write_loops(&l, k % 3, s->friction, out);
  }
  if (floor) {
    sni_text_add(out, "\ncontacts:\n  rubber: {friction: 0.8}\n");
  }
  sni_text_add(out, "\nmotions:\n"
                    "  motor_left: {joint: crank_left, q: 2*pi*t}\n"
                    "  motor_right: {joint: crank_right, q: 2*pi*t}\n");
  make_foot_at(out, 0.002, 3,
               "[T, V, E, \"frame.q*\", \"crank_*.q\", \"motor_*.tau\", \"*.dissipation\"]");
}

static const cli_option options[] = {
    {"--friction", "MU", CLI_NUMBER, offsetof(make_settings, friction),
     "in its pins, from 0 to 2; 0.2 if not given"},
    {"--stand", "WHERE", CLI_TEXT, offsetof(make_settings, stand),
     "on the floor, or on a stand in the air: floor (usual) or air"}};
static const make_number numbers[] = {
    {"--friction", offsetof(make_settings, friction), 0.2, 0, 2, false}};
static const make_word words[] = {{"--stand", offsetof(make_settings, stand), {"floor", "air"}}};

const make_generator make_klann = {
    .name = "klann",
    .command = {.name = "make klann",
                .arguments = "[OPTION...]",
                .doc = "a machine that walks on six of Klann's legs",
                .about = "Six legs of Klann on two cranks, which are driven; pins and floor rub.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make klann > klann.yaml\n"
                            "  sinew make klann --stand air --friction 0.5 > klann.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .word = words,
    .nword = 1,
    .write = write_klann};
