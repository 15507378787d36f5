/* make.h: scenes that are made by rule, in any size: `sinew make` and the benches use them.
 *
 * A new generator = one file make_NAME.c with a make_generator + one row in the table of make.c. */
#ifndef CLI_MAKE_H
#define CLI_MAKE_H

#include <math.h>

#include "cli/cli.h"
#include "io/text.h"
#include "math/se3.h"

/* What all generators may be asked for; each uses some of it. */
typedef struct make_settings {
  double count, size, rows, columns, weight, pattern, length; /* NAN: the usual  */
  double angle, friction, radius, rolling, sleep;
  const char *towers, *shape, *end, *closure, *coordinates, *stand; /* NULL: the usual */
} make_settings;
#define MAKE_USUAL                                                                                 \
  (make_settings) {                                                                                \
    .count = NAN, .size = NAN, .rows = NAN, .columns = NAN, .weight = NAN, .pattern = NAN,         \
    .length = NAN, .angle = NAN, .friction = NAN, .radius = NAN, .rolling = NAN, .sleep = NAN      \
  }

/* A number that must be within limits. */
typedef struct make_number {
  const char *option;
  size_t offset;             /* in make_settings */
  double usual, least, most; /* usual NAN: may be missing */
  bool whole;
} make_number;

/* One of two words; the first is the usual one. */
typedef struct make_word {
  const char *option;
  size_t offset;
  const char *word[2];
} make_word;

typedef struct make_generator {
  const char *name;    /* "bridge"                                                         */
  cli_command command; /* "make bridge": its options are read into make_settings          */
  const make_number *number;
  int nnumber;
  const make_word *word; /* or NULL */
  int nword;
  /* Settings are complete and within their limits. */
  void (*write)(const make_settings *s, sni_text *out);
} make_generator;

const make_generator *make_find(const char *name); /* NULL: none */

/* Fills in what is usual and checks the rest. */
sn_status make_complete(const make_generator *g, make_settings *s, sn_error *err);

/* The scene as a text to be freed; NULL: out of memory.  The settings must be complete. */
char *make_scene(const make_generator *g, const make_settings *s);

/* The part of `cli_command.run` of a generator: reads options, writes to standard output. */
int make_run(const cli_command *self, int argc, char **argv);

/* ---- for the files of the generators ---- */

/* Ten digits, so that the last bits of sine and cosine do not matter; no -0. */
typedef struct make_text {
  char text[192];
} make_text;
make_text make_show(double x);
make_text make_show3(sn_vec3 x); /* "[x, y, z]" */
/* "{pos: [..], rotvec: [..]}": the pose at x that turns the z axis to the unit vector z */
make_text make_show_rod(sn_vec3 x, sn_vec3 z);
/* likewise, any pose */
make_text make_show_pose(sn_se3 E);

/* The first lines: what the scene is (in comment lines), units and gravity. */
void make_head(sni_text *out, const char *name, double gravity, const char *comment);
void make_head_in(sni_text *out, const char *name, const char *units, double gravity,
                  const char *comment);
/* The last ones: at steps of 10 ms, or others. */
void make_foot(sni_text *out, double duration, const char *channels);
void make_foot_at(sni_text *out, double step, double duration, const char *channels);
/* For the method structured, with some of its options: "precision: 1e-3". */
void make_foot_structured(sni_text *out, double duration, const char *channels,
                          const char *options);

/* m, between places where bodies of a heap start: a cube of them. */
#define MAKE_HEAP_SPACING 0.34

extern const make_generator make_bridge, make_deck, make_net, make_tensegrity, make_arm,
    make_umbrella, make_hand, make_fourbar, make_ladder, make_ring, make_slider_crank, make_gear,
    make_hagfish, make_stack, make_heap, make_dominoes, make_ramp, make_gripper, make_seaweed,
    make_pendulum_strings, make_characters, make_surface, make_chain, make_klann;

#endif
