/* make_tensegrity.c: struts that do not touch a hinge, held by cables in tension alone.
 *
 * prism: three struts between two triangles of one radius, the upper one turned by 150 degrees
 * along a strut and by 30 degrees along an upright cable.  With c the tension of an upright for
 * each metre of its length, the struts have -c and the triangles c/sqrt(3): then all knots are in
 * balance. Prisms stand on one another, left- and right-handed in turn, each with triangles of its
 * own, so that without weight the knots between them have nothing to bear.
 *
 * icosahedron: six struts in three pairs; a pair along z is at x = +-a and reaches to z = +-2a, the
 * others follow by exchanging axes.  The cables are the 24 edges between neighbours, all of one
 * length; with c for each of them the struts have -3c/2.  They hang below one another. */
#include "cli/make.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

#define STRETCH 2e5  /* N for a cable's own length of stretch    */
#define TENSION 2e3  /* N for each metre of a cable: c above     */
#define DAMPING 20.0 /* N s/m                                    */
#define KNOT    1e6  /* N/m, where ends of struts meet           */

typedef struct node {
  int strut; /* from 1; 0: the ground */
  double at; /* along it              */
  sn_vec3 x; /* in the world          */
} node;

static make_text show_end(node p) {
  make_text t;
  if (p.strut > 0) {
    snprintf(t.text, sizeof t.text, "{body: strut_%d, at: [0, 0, %.24s]}", p.strut,
             make_show(p.at).text);
  } else {
    snprintf(t.text, sizeof t.text, "{body: world, at: %.60s}", make_show3(p.x).text);
  }
  return t;
}

/* A cable with so much tension for each metre. */
static void write_cable(const char *name, int number, node a, node b, double tension,
                        sni_text *out) {
  const double length = sn_vec3_norm(sn_vec3_sub(b.x, a.x));
  sni_text_add(out, "  %s_%d: {stiffness: %s, rest_length: %s,\n    a: %s, b: %s}\n", name, number,
               make_show(STRETCH / length).text,
               make_show(length * (1 - tension * length / STRETCH)).text, show_end(a).text,
               show_end(b).text);
}

static void write_strut(int number, sn_vec3 from, sn_vec3 to, sni_text *out) {
  const sn_vec3 d = sn_vec3_sub(to, from), middle = sn_vec3_scale(sn_vec3_add(from, to), 0.5);
  sni_text_add(out, "  strut_%d: {joint: {at: %s}}\n", number,
               make_show_rod(middle, sn_vec3_scale(d, 1 / sn_vec3_norm(d))).text);
}

static void write_defaults(double length, sni_text *out) {
  const double half = 0.5 * length;
  sni_text_add(out,
               "\ndefaults:\n"
               "  body:\n"
               "    parent: world\n"
               "    shapes: [{type: capsule, from: [0, 0, %s], to: [0, 0, %s], radius: 0.02, "
               "density: 500}]\n"
               "  joint: {type: free}\n"
               "  force: {type: spring, damping: %s}\n"
               "\n# The struts touch nothing: they are free bodies.\nbodies:\n",
               make_show(-half).text, make_show(half).text, make_show(DAMPING).text);
}

/* A short push, to set it swinging. */
static void write_push(int strut, double at, double force, sni_text *out) {
  sni_text_add(out,
               "\nforces:\n"
               "  push: {type: point_force, body: strut_%d, at: [0, 0, %s],\n"
               "    force: [{keyframes: [[0, 0], [0.1, %s], [0.3, %s], [0.4, 0]]}, 0, 0]}\n",
               strut, make_show(at).text, make_show(force).text, make_show(force).text);
}

/* ---- prisms ---- */

#define RADIUS 0.4
#define HEIGHT 0.8
#define TURN   (SN_PI / 6) /* of an upright cable */

/* Knot k of the triangle on top of `stage` prisms: even ones turn to one side, odd ones back. */
static sn_vec3 prism_knot(int stage, int k) {
  const double angle = 2 * SN_PI * k / 3 + (stage % 2) * TURN;
  return (sn_vec3){RADIUS * cos(angle), RADIUS * sin(angle), HEIGHT * stage};
}

/* Strut k of a stage goes from knot k below to the one 150 degrees on: which is that? */
static int prism_top(int stage, int k) {
  return stage % 2 == 0 ? (k + 1) % 3 : (k + 2) % 3;
}

static node prism_end(int stage, int k, bool top, double half) {
  return (node){3 * stage + k + 1, top ? half : -half,
                top ? prism_knot(stage + 1, prism_top(stage, k)) : prism_knot(stage, k)};
}

/* The end of a strut at knot k on top of `stage` prisms: of the one below, or of the one above. */
static node prism_at(int stage, int k, bool below, double half) {
  for (int s = 0; s < 3 && below; s++) {
    if (prism_top(stage - 1, s) == k) {
      return prism_end(stage - 1, s, true, half);
    }
  }
  return prism_end(stage, k, false, half);
}

static void write_prisms(int stages, sni_text *out) {
  const double length = sn_vec3_norm(sn_vec3_sub(prism_knot(1, prism_top(0, 0)), prism_knot(0, 0)));
  const double half = 0.5 * length;
  make_head(out, "tensegrity", 9.81,
            "# A tensegrity tower of prisms. Three struts in each touch no other strut of it: "
            "cables in tension hold them.\n"
            "# Where prisms meet, ends of struts are knotted together; the lowest are knotted to "
            "the ground.\n");
  write_defaults(length, out);
  for (int stage = 0; stage < stages; stage++) {
    for (int k = 0; k < 3; k++) {
      write_strut(3 * stage + k + 1, prism_end(stage, k, false, half).x,
                  prism_end(stage, k, true, half).x, out);
    }
  }
  write_push(3 * stages, half, 60, out);
  sni_text_add(out, "  # Triangles and uprights: each cable is a little too short, so that all are "
                    "in tension.\n");
  for (int ring = 0; ring < 2 * stages; ring++) { /* two for each prism */
    const bool top = ring % 2 == 1;
    const int stage = ring / 2 + top;
    for (int k = 0; k < 3; k++) {
      write_cable("ring", 3 * ring + k + 1, prism_at(stage, k, top, half),
                  prism_at(stage, (k + 1) % 3, top, half), TENSION / sqrt(3), out);
    }
  }
  for (int stage = 0; stage < stages; stage++) {
    for (int k = 0; k < 3; k++) { /* from a lower knot straight up, 30 degrees on */
      write_cable("upright", 3 * stage + k + 1, prism_end(stage, k, false, half),
                  prism_at(stage + 1, k, true, half), TENSION, out);
    }
  }
  sni_text_add(out, "  # Knots: springs of no length.\n");
  for (int stage = 0; stage < stages; stage++) {
    for (int k = 0; k < 3; k++) {
      const node ground = {0, 0, prism_knot(0, k)};
      sni_text_add(out,
                   "  knot_%d: {stiffness: %s, damping: 200, rest_length: 0,\n    a: %s, b: %s}\n",
                   3 * stage + k + 1, make_show(KNOT).text,
                   show_end(stage > 0 ? prism_at(stage, k, true, half) : ground).text,
                   show_end(prism_end(stage, k, false, half)).text);
    }
  }
}

/* ---- icosahedra ---- */

enum { STRUTS = 6 };
#define A    0.25
#define DROP 1.3 /* from the middle of one to the middle of the next */

/* End of strut k (pairs along z, x, y) of ball number `ball`. */
static node ball_end(int ball, int k, bool top) {
  const double side = k % 2 ? -A : A, end = top ? 2 * A : -2 * A;
  const sn_vec3 x[3] = {{side, 0, end}, {end, side, 0}, {0, end, side}};
  const sn_vec3 middle = {0, 0, -DROP * (ball + 1)};
  return (node){STRUTS * ball + k + 1, end, sn_vec3_add(x[k / 2], middle)};
}

static void write_ball_cables(int ball, int *number, sni_text *out) {
  for (int i = 0; i < 2 * STRUTS; i++) {
    for (int j = i + 1; j < 2 * STRUTS; j++) {
      const node a = ball_end(ball, i / 2, i % 2), b = ball_end(ball, j / 2, j % 2);
      const double length = sn_vec3_norm(sn_vec3_sub(b.x, a.x));
      if (fabs(length - sqrt(6) * A) < 1e-6) { /* the edges between neighbours, and no others */
        write_cable("cable", ++*number, a, b, TENSION, out);
      }
    }
  }
}

static void write_balls(int balls, sni_text *out) {
  make_head(out, "tensegrity", 9.81,
            "# Tensegrity balls, hung below one another. Six struts in each touch nothing: 24 "
            "cables in tension hold them.\n");
  write_defaults(4 * A, out);
  for (int ball = 0; ball < balls; ball++) {
    for (int k = 0; k < STRUTS; k++) {
      write_strut(STRUTS * ball + k + 1, ball_end(ball, k, false).x, ball_end(ball, k, true).x,
                  out);
    }
  }
  write_push(STRUTS * balls, 0, 10, out);
  sni_text_add(out, "  # Each cable is a little too short, so that all are in tension.\n");
  int number = 0;
  for (int ball = 0; ball < balls; ball++) {
    write_ball_cables(ball, &number, out);
  }
  sni_text_add(out, "  # Two lines from each ball to the one above, or to the ceiling.\n");
  for (int ball = 0; ball < balls; ball++) {
    for (int k = 0; k < 2; k++) {
      const node ceiling = {0, 0, {k ? -A : A, 0, 0}};
      write_cable("line", 2 * ball + k + 1, ball > 0 ? ball_end(ball - 1, k, false) : ceiling,
                  ball_end(ball, k, true), 0, out);
    }
  }
}

static void write_tensegrity(const make_settings *s, sni_text *out) {
  const int size = (int)s->size;
  const bool prism = strcmp(s->shape, "prism") == 0;
  if (prism) {
    write_prisms(size, out);
  } else {
    write_balls(size, out);
  }
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, strut_%d.pos.*]", (prism ? 3 : STRUTS) * size);
  make_foot(out, 5, channels);
}

static const cli_option options[] = {{"--shape", "KIND", CLI_TEXT, offsetof(make_settings, shape),
                                      "prism (if not given): a tower of prisms with three struts; "
                                      "icosahedron: hanging balls of six"},
                                     {"--size", "N", CLI_NUMBER, offsetof(make_settings, size),
                                      "prisms or balls, from 1 to 10000; 4 if not given"}};
static const make_number numbers[] = {{"--size", offsetof(make_settings, size), 4, 1, 10000, true}};
static const make_word words[] = {
    {"--shape", offsetof(make_settings, shape), {"prism", "icosahedron"}}};

const make_generator make_tensegrity = {
    .name = "tensegrity",
    .command = {.name = "make tensegrity",
                .arguments = "[--shape prism|icosahedron] [--size N]",
                .doc = "struts that touch nothing, held by cables in tension",
                .about = "A tower of prisms on the ground, or balls hung below one another.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make tensegrity --size 2 > tower.yaml\n"
                            "  sinew make tensegrity --shape icosahedron --size 1 > ball.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .word = words,
    .nword = 1,
    .write = write_tensegrity};
