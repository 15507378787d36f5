/* make_bridge.c: a cable-stayed bridge with a fan of cables, the scaling test of RedMax [RM 7].
 *
 * The deck is a chain of hinged boxes over 24 m in a flat arch: with n pieces and m = n/2, the
 * angle between pieces grows from the middle, a_i = sinh(s (i + 1)/(m - 1)), s = 1/(2n), so that
 * the arch has the same shape for every n.  Its near end is hinged to an anchor, its far end to the
 * other one by a loop, or tied to it by a stiff spring of no length.  Thirty cables lead to two
 * tower tops, which are fixed points (rigid) or tops of chains of hinged boxes (flexible). */
#include "cli/make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"

enum { CABLES = 30 };
#define GRAVITY     9.8 /* as in the paper's scene         */
#define HALF_SPAN   12.0
#define DECK_Z      3.0
#define TOWER_X     5.0
#define TOWER_Z     10.0
#define CROSSING    5.0 /* seconds that the weight takes   */
#define TIE         1e8 /* N/m                             */
#define TIE_DAMPING 1e4

/* Numbers of one kind of bridge. */
typedef struct bridge {
  double width, height; /* of the deck's section */
  double deck_stiffness, deck_damping;
  double cable_stretch, cable_damping; /* N for a strain of 1; N s/m */
} bridge;

static const bridge rigid = {0.5, 0.5, 10, 1, 1e7, 1e3};
static const bridge flexible = {1.6, 0.15, 1e8, 1e4, 2.5e7, 1e4};
#define TOWER_STIFFNESS 1e8
#define TOWER_DAMPING   1e3

/* How far deck piece i turns up from the one before. */
static double bend(int i, int n) {
  const int m = n / 2;
  const double s = 0.5 / n;
  const int from_middle = i < m ? m - 1 - i : i - (n - m + 1);
  double angle = from_middle < 0 ? 0 : -sinh(s * (from_middle + 1) / (m - 1));
  if (i == 0) { /* the whole climb, so that the middle is level */
    for (int k = 0; k < m; k++) {
      angle += sinh(s * (k + 1) / (m - 1));
    }
  }
  return angle;
}

/* Where the deck is. */
typedef struct arch {
  int n;
  double length;   /* of a piece */
  double x, z, up; /* start of piece `at` and its slope */
  int at;
} arch;

static arch arch_begin(int n) {
  double up = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    up += bend(i, n);
    sum += 2 * HALF_SPAN / n / cos(up);
  }
  return (arch){.n = n, .length = sum / n, .x = -HALF_SPAN, .z = DECK_Z, .up = bend(0, n)};
}

/* Goes on to piece i, which is not behind. */
static void arch_go(arch *a, int i) {
  for (; a->at < i; a->at++) {
    a->x += a->length * cos(a->up);
    a->z += a->length * sin(a->up);
    a->up += bend(a->at + 1, a->n);
  }
}

/* ---- the parts of the file ---- */

static void write_deck(const bridge *b, int n, sni_text *out) {
  const arch a = arch_begin(n);
  sni_text_add(out,
               "\ndefaults:\n"
               "  body:                                  # a piece of the deck\n"
               "    damping: 1\n"
               "    shapes: [{type: box, size: [%s, %s, %s], at: [%s, 0, 0]}]\n"
               "  shape: {density: 1000}\n"
               "  joint: {type: revolute, axis: [0, -1, 0], stiffness: %s, damping: %s}\n"
               "  force: {type: spring, damping: %s}     # slack at their first length\n",
               make_show(a.length).text, make_show(b->width).text, make_show(b->height).text,
               make_show(0.5 * a.length).text, make_show(b->deck_stiffness).text,
               make_show(b->deck_damping).text, make_show(b->cable_damping).text);
  sni_text_add(out, "\n# The deck is drawn as an arch: each piece turns a little from the one "
                    "before.\nbodies:\n");
  for (int i = 0; i < n; i++) {
    const sn_vec3 start = {a.length, 0, 0}, anchor = {-HALF_SPAN, 0, DECK_Z};
    char parent[24] = "world";
    if (i > 0) {
      snprintf(parent, sizeof parent, "deck_%d", i);
    }
    sni_text_add(out, "  deck_%d: {parent: %s, joint: {at: {pos: %s, rotvec: %s}%s}}\n", i + 1,
                 parent, make_show3(i > 0 ? start : anchor).text,
                 make_show3((sn_vec3){0, -bend(i, n), 0}).text,
                 i > 0 ? "" : ", stiffness: 0, damping: 0");
  }
}

static void write_towers(bool bend_over, int n, sni_text *out) {
  static const char *const name[] = {"left", "right"};
  if (bend_over) {
    sni_text_add(out, "  # Towers: chains of hinged pieces.\n");
  } else {
    sni_text_add(out,
                 "  # Towers: only to be looked at. The cables end at points of the ground.\n");
  }
  for (int k = 0; k < 2; k++) {
    const double x = k == 0 ? -TOWER_X : TOWER_X, piece = bend_over ? TOWER_Z / n : TOWER_Z;
    sni_text_add(out, "  %s:\n    parent: world\n", name[k]);
    if (bend_over) {
      sni_text_add(out,
                   "    joint: {at: [%s, 0, 0], stiffness: %s, damping: %s}\n"
                   "    repeat: {count: %d, joint: {at: [0, 0, %s]}}\n",
                   make_show(x).text, make_show(TOWER_STIFFNESS).text,
                   make_show(TOWER_DAMPING).text, n, make_show(piece).text);
    } else {
      sni_text_add(out, "    joint: {type: fixed, at: [%s, 0, 0]}\n    damping: 0\n",
                   make_show(x).text);
    }
    sni_text_add(out, "    shapes: [{type: box, size: [0.5, 1.8, %s], at: [0, 0, %s]}]\n",
                 make_show(piece).text, make_show(0.5 * piece).text);
  }
}

/* The far end of the deck at its anchor: a hinge, which closes a loop, or a spring. */
static void write_end(const make_settings *s, double length, sni_text *out) {
  const int n = (int)s->count;
  const make_text at = make_show(length);
  if (strcmp(s->end, "loop") == 0) {
    sni_text_add(out,
                 "\n# The far end of the deck is hinged to its anchor.\nloops:\n"
                 "  end: {type: revolute, axis: [0, -1, 0], a: {body: world, at: [%s, 0, %s]}, "
                 "b: {body: deck_%d, at: [%s, 0, 0]}}\n",
                 make_show(HALF_SPAN).text, make_show(DECK_Z).text, n, at.text);
    return;
  }
  sni_text_add(out,
               "  # The far end of the deck is tied to its anchor.\n"
               "  tie: {stiffness: %s, damping: %s, rest_length: 0, a: {body: deck_%d, at: [%s, 0, "
               "0]},\n"
               "        b: {body: world, at: [%s, 0, %s]}}\n",
               make_show(TIE).text, make_show(TIE_DAMPING).text, n, at.text,
               make_show(HALF_SPAN).text, make_show(DECK_Z).text);
}

static void write_cables(const bridge *b, bool bend_over, int n, sni_text *out) {
  arch a = arch_begin(n);
  sni_text_add(out, "\n# Stiffness of a cable: %s N for its own length of stretch.\nforces:\n",
               make_show(b->cable_stretch).text);
  for (int k = 0; k < CABLES; k++) {
    const bool left = k < CABLES / 2;
    const double place = (k + 1.0) / (CABLES + 1) * n; /* in pieces */
    const int piece = (int)place;
    const double along = (place - piece) * a.length, x = left ? -TOWER_X : TOWER_X;
    arch_go(&a, piece);
    const double length = hypot(x - (a.x + along * cos(a.up)), TOWER_Z - (a.z + along * sin(a.up)));
    char top[256];
    if (bend_over) {
      snprintf(top, sizeof top, "{body: %s_%d, at: [0, 0, %s]}", left ? "left" : "right", n,
               make_show(TOWER_Z / n).text);
    } else {
      snprintf(top, sizeof top, "{body: world, at: %s}", make_show3((sn_vec3){x, 0, TOWER_Z}).text);
    }
    sni_text_add(out, "  cable_%d: {stiffness: %s, a: {body: deck_%d, at: [%s, 0, 0]}, b: %s}\n",
                 k + 1, make_show(b->cable_stretch / length).text, piece + 1, make_show(along).text,
                 top);
  }
}

/* Something heavy crosses the bridge: it hands its weight on from one cable's foot to the next. */
static void write_weight(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const arch a = arch_begin(n);
  if (!(s->weight > 0)) {
    return;
  }
  sni_text_add(out, "  # A weight crosses the deck, from one cable to the next.\n");
  for (int k = 0; k < CABLES; k++) {
    const double place = (k + 1.0) / (CABLES + 1) * n, t = CROSSING / (CABLES + 1);
    const int piece = (int)place;
    sni_text_add(out,
                 "  weight_%d: {type: point_force, body: deck_%d, at: [%s, 0, 0],\n"
                 "    force: [0, 0, {keyframes: [[%s, 0], [%s, %s], [%s, 0]]}]}\n",
                 k + 1, piece + 1, make_show((place - piece) * a.length).text,
                 make_show(k * t).text, make_show((k + 1) * t).text, make_show(-s->weight).text,
                 make_show((k + 2) * t).text);
  }
}

static void write_bridge(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  const bool bend_over = strcmp(s->towers, "flexible") == 0;
  const bridge *b = bend_over ? &flexible : &rigid;
  make_head(out, "bridge", GRAVITY,
            bend_over ? "# A cable-stayed bridge. Its deck and its two towers are chains of hinged "
                        "pieces, and thirty cables hold\n"
                        "# the deck.\n"
                      : "# A cable-stayed bridge. Its deck is a chain of hinged pieces, held by "
                        "thirty cables from two rigid towers.\n");
  write_deck(b, n, out);
  write_towers(bend_over, n, out);
  write_cables(b, bend_over, n, out);
  write_weight(s, out);
  write_end(s, arch_begin(n).length, out);
  char channels[128];
  snprintf(channels, sizeof channels, "[T, V, E, deck_%d.pos.*, deck_%d.pos.*]", (n + 1) / 2, n);
  make_foot(out, CROSSING, channels);
}

static const cli_option options[] = {
    {"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
     "pieces of the deck, and of each flexible tower, from 4 to 100000; 80 if not given"},
    {"--towers", "KIND", CLI_TEXT, offsetof(make_settings, towers),
     "rigid (if not given) or flexible"},
    {"--weight", "W", CLI_NUMBER, offsetof(make_settings, weight),
     "newtons that cross the deck in 5 s; 0 if not given"},
    {"--end", "KIND", CLI_TEXT, offsetof(make_settings, end),
     "what holds the far end of the deck: loop (if not given), a hinge; or spring, a stiff one"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 80, 4, 100000, true},
    {"--weight", offsetof(make_settings, weight), 0, 0, 1e9, false}};
static const make_word words[] = {
    {"--towers", offsetof(make_settings, towers), {"rigid", "flexible"}},
    {"--end", offsetof(make_settings, end), {"loop", "spring"}}};

const make_generator make_bridge = {
    .name = "bridge",
    .command = {.name = "make bridge",
                .arguments =
                    "[--count N] [--towers rigid|flexible] [--weight W] [--end loop|spring]",
                .doc = "a cable-stayed bridge with rigid or flexible towers",
                .about =
                    "A cable-stayed bridge of 24 m: a chain of hinged pieces on thirty cables,\n"
                    "hinged to the ground at both ends.",
                .option = options,
                .noption = 4,
                .examples =
                    "  sinew make bridge --count 20 > bridge.yaml\n"
                    "  sinew make bridge --towers flexible --weight 4800*500 > bridge.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 2,
    .word = words,
    .nword = 2,
    .write = write_bridge};
