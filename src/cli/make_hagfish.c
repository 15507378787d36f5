/* make_hagfish.c: a hagfish that holds its head in a jar and ties its tail into a knot [RM 6].
 *
 * Joints that turn about the body's axis (z) and joints that bend it (about x and y) alternate: 100
 * of them have 150 coordinates.  Length, thickness, weight and the least radius of a bend are those
 * of an animal of 42 cm.  Muscles are servos.  For the knot a profile of bends wanders from the
 * tail to the head: seen from the profile, the tail swims along a curve that rests, and where that
 * curve is an overhand knot the tail ties it.  Then the curve shrinks, and draws the knot tight
 * until the body is in its own way. */
#include "cli/make.h"

#define LENGTH  0.42   /* m                                                      */
#define DENSITY 1050.0 /* kg/m^3                                                 */
#define CURVE   0.013  /* m: the least radius of a bend                          */
#define STEP    0.0084 /* m: from one bend of a profile to the next              */
#define SPEED   0.035  /* m/s: of the profile                                    */
#define FINISH  12.0   /* s: the knot is tied                                    */
#define DRAW    6.0    /* s: that it takes to draw it tight                      */
#define TIGHT   1.4    /* of all bends by then; their distances shrink as much   */
#define MUSCLE  0.02   /* N m/rad: of a bend                                     */
#define FLESH   1e-4   /* N m/rad                                                */
#define LOSS    0.1    /* s: damping over stiffness                              */

/* Bends about x and y at every STEP of an overhand knot: the shape of a stiff string under tension
 * whose points repel one another.  Strands are 2 cm apart, and so is the least radius of a bend. */
static const double knot[][2] = {
    {0.000, 0.000},  {0.011, -0.025}, {0.020, -0.096}, {0.030, -0.152},  {0.062, -0.163},
    {0.109, -0.057}, {0.128, 0.142},  {0.085, 0.324},  {0.004, 0.407},   {-0.070, 0.412},
    {-0.125, 0.393}, {-0.166, 0.372}, {-0.201, 0.353}, {-0.230, 0.335},  {-0.255, 0.318},
    {-0.263, 0.290}, {-0.242, 0.248}, {-0.197, 0.201}, {-0.134, 0.164},  {-0.073, 0.159},
    {-0.030, 0.198}, {-0.004, 0.266}, {0.007, 0.334},  {0.008, 0.378},   {0.002, 0.398},
    {-0.011, 0.404}, {-0.031, 0.403}, {-0.061, 0.406}, {-0.101, 0.403},  {-0.157, 0.388},
    {-0.226, 0.347}, {-0.265, 0.237}, {-0.210, 0.067}, {-0.078, -0.088}, {0.037, -0.160},
    {0.073, -0.146}, {0.051, -0.097}, {0.021, -0.059}, {-0.001, -0.039}, {-0.007, -0.016},
    {0.000, 0.000}};
enum { BENDS = sizeof knot / sizeof *knot };

/* Widest at three tenths of its length. */
static double radius_at(double s) {
  const double part = s / LENGTH, widest = 0.3;
  return part < widest ? 0.006 + 0.004 * part / widest
                       : 0.01 - 0.0065 * (part - widest) / (1 - widest);
}

/* A bend of the profile, `at` steps from where it begins. */
static double bend_at(int axis, double at) {
  const int whole = (int)at;
  if (at < 0 || whole + 1 >= BENDS) {
    return 0;
  }
  return knot[whole][axis] + (at - whole) * (knot[whole + 1][axis] - knot[whole][axis]);
}

/* Four to a line. */
static void write_key(int count, double t, double bend, sni_text *out) {
  sni_text_add(out, "%s[%s, %s]",
               count == 0       ? ""
               : count % 4 == 0 ? ",\n          "
                                : ", ",
               make_show(t).text, make_show(bend).text);
}

/* The bend about x or y at s from the head, of a joint every `apart`.  One bend of the profile
 * after the other comes by; when the profile's last is at the tail it stays there, and shrinks
 * towards its first: the tail is drawn through the loop, and the loop about it until the body is in
 * its way. */
static void write_bends(int axis, double s, double apart, sni_text *out) {
  enum { KEYS = 12 };
  const double first = LENGTH - (BENDS - 1) * STEP; /* where the profile begins by then  */
  const double last = fmax((s - first) / STEP, 0);  /* of the profile, for this joint    */
  const int whole = (int)floor(last + 1e-9);
  const double factor = apart / STEP;
  int count = 0;
  sni_text_add(out, "\n        {keyframes: [");
  for (int i = 0; i < last - 1e-9 && i < BENDS; i++) {
    write_key(count++, FINISH - (last - i) * STEP / SPEED, knot[i][axis] * factor, out);
  }
  for (int k = 0; k <= (last > 0 ? KEYS : 0); k++) {
    const double part = (double)k / KEYS, size = 1 + (TIGHT - 1) * part;
    const double at = last < whole + 1e-9 && k == 0 ? whole : last * size;
    write_key(count++, FINISH + DRAW * part, size * bend_at(axis, at) * factor, out);
  }
  sni_text_add(out, "], interpolation: cubic}");
}

static void write_muscle(const make_settings *s, double at, double apart, sni_text *out) {
  sni_text_add(out, "drive: {stiffness: %s, damping: %s, target: [", make_show(MUSCLE).text,
               make_show(MUSCLE * LOSS).text);
  if (s->shape[0] == 'k') {
    write_bends(0, at, apart, out);
    sni_text_add(out, ",");
    write_bends(1, at, apart, out);
  } else { /* one circle after the other, in one plane: its own body is in the way */
    sni_text_add(out, "0, \"%s*min(t/4, 1)\"", make_show(0.35 * apart / STEP).text);
  }
  sni_text_add(out, "]}");
}

static void write_segment(const make_settings *s, int k, sni_text *out) {
  const int n = (int)s->count;
  const double length = LENGTH / n, at = k * length, r = radius_at(at + 0.5 * length);
  const double apart = 2 * length; /* of two joints that bend */
  const double bend = apart / CURVE;
  const double own = k % 2 ? MUSCLE : FLESH; /* twist is held, bends are moved by muscles */
  sni_text_add(out, "  part_%d:\n", k);
  if (k == 0) {
    sni_text_add(out, "    parent: world\n    joint: {type: fixed}\n");
  } else {
    sni_text_add(out, "    parent: part_%d\n    joint:\n      type: %s\n      at: [0, 0, %s]\n",
                 k - 1, k % 2 ? "revolute\n      axis: [0, 0, 1]" : "universal",
                 make_show(length).text);
    sni_text_add(out, "      limits: [%s, %s]\n", make_show(-bend).text, make_show(bend).text);
    if (k % 2 && s->shape[0] == 'c') { /* so that it knows to which side of itself it may go */
      sni_text_add(out, "      rest: %s\n", make_show(0.02 * apart / STEP).text);
    }
    sni_text_add(out, "      stiffness: %s\n      damping: %s\n", make_show(own).text,
                 make_show(own * LOSS).text);
    if (k % 2 == 0) {
      sni_text_add(out, "      ");
      write_muscle(s, at, apart, out);
      sni_text_add(out, "\n");
    }
  }
  /* a disc of flesh */
  const double mass = DENSITY * SN_PI * r * r * length;
  const double across = mass * (3 * r * r + length * length) / 12;
  sni_text_add(out,
               "    inertia: {mass: %s, at: [0, 0, %s], xx: %s, yy: %s, zz: %s}\n"
               "    shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, %s], radius: %s}]\n",
               make_show(mass).text, make_show(0.5 * length).text, make_show(across).text,
               make_show(across).text, make_show(0.5 * mass * r * r).text, make_show(length).text,
               make_show(r).text);
}

/* One in the middle of each part, and at both ends. */
static void write_bead(int part, double at, double s, sni_text *out) {
  sni_text_add(out, "      - {body: part_%d, at: [0, 0, %s], radius: %s}\n", part,
               make_show(at).text, make_show(radius_at(s)).text);
}

static void write_skin(int n, sni_text *out) {
  const double length = LENGTH / n;
  /* what is nearer than the widest place is thick touches anyway */
  sni_text_add(out,
               "\ncontacts:\n  slime: {friction: 0}\n\ntubes:\n  skin:\n    contact: slime\n"
               "    apart: %d\n    beads:\n",
               (int)ceil(0.04 / length));
  write_bead(0, 0, 0, out);
  for (int k = 0; k <= n; k++) {
    write_bead(k, 0.5 * length, (k + 0.5) * length, out);
  }
  write_bead(n, length, LENGTH + length, out);
}

static void write_hagfish(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const bool ties = s->shape[0] == 'k';
  make_head(out, "hagfish", 0,
            ties ? "# A hagfish in still water, its head held in a jar. A wave of bends runs from "
                   "its tail to its head\n# and ties a knot, which is drawn tight.\n"
                 : "# A hagfish in still water, its head held in a jar, that coils up.\n");
  write_skin(n, out);
  sni_text_add(out, "\nbodies:\n");
  for (int k = 0; k <= n; k++) {
    write_segment(s, k, out);
  }
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, part_%d.pos.*]", n);
  make_foot_at(out, 0.01, FINISH + (ties ? DRAW : 0) + 2, channels);
}

static const cli_option options[] = {
    {"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
     "joints, an even number from 60 to 1000; 100 if not given"},
    {"--ties", "SHAPE", CLI_TEXT, offsetof(make_settings, shape),
     "knot (if not given), an overhand knot; or coil, circles that its own body is in the way of"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 100, 60, 1000, true}};
static const make_word words[] = {{"--ties", offsetof(make_settings, shape), {"knot", "coil"}}};

const make_generator make_hagfish = {
    .name = "hagfish",
    .command = {.name = "make hagfish",
                .arguments = "[--count N] [--ties knot|coil]",
                .doc = "a hagfish that ties itself into a knot",
                .about = "Joints that turn and joints that bend alternate; muscles bend them.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make hagfish > hagfish.yaml\n"
                            "  sinew make hagfish --ties coil > coil.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .word = words,
    .nword = 1,
    .write = write_hagfish};
