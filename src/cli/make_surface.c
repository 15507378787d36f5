/* make_surface.c: a sheet of bars that keep their lengths [FA 5]: a grid of N x N knots, a
 * bar along each side of a cell and along one of its diagonals, ball joints in the knots.  It
 * floats freely and is pulled into a shape.  With N = 11: 320 bars, 957 constraints in the tree and
 * 600 in loops.
 *
 * In each knot all bars hang on one of them.  Those that are met for the first time become its
 * children, breadth-first from the middle; the others close loops. */
#include "cli/make.h"

#include <stdlib.h>

#include "math/so3.h"

typedef struct bar {
  int knot[2]; /* ends: the first one is where it hangs on its parent */
  int parent;  /* -1: none, the first of all; -2: not met yet */
  sn_se3 E;    /* its frame in the world: x along the bar, from the first end */
  double length;
} bar;

typedef struct sheet {
  int n, nbar;
  bar *bar;
  int *hub;   /* of each knot: the bar that the others hang on; -1: not met yet */
  int *order; /* bars, as they are met                                         */
} sheet;

static sn_vec3 place(const sheet *s, int knot) {
  return (sn_vec3){knot % s->n - 0.5 * (s->n - 1), knot / s->n - 0.5 * (s->n - 1), 0};
}

static void add_bar(sheet *s, int a, int b) {
  s->bar[s->nbar++] = (bar){.knot = {a, b}, .parent = -2};
}

static void put(sheet *s, int i) {
  bar *b = &s->bar[i];
  const sn_vec3 from = place(s, b->knot[0]), along = sn_vec3_sub(place(s, b->knot[1]), from);
  b->length = sn_vec3_norm(along);
  b->E = (sn_se3){sn_so3_exp((sn_vec3){0, 0, atan2(along.y, along.x)}), from};
}

/* Breadth-first from a bar in the middle. */
static void hang(sheet *s) {
  const int first = s->nbar / 2;
  int met = 0;
  s->bar[first].parent = -1;
  s->order[met++] = first;
  for (int k = 0; k < met; k++) {
    const int i = s->order[k];
    put(s, i);
    for (int end = 0; end < 2; end++) {
      const int knot = s->bar[i].knot[end];
      if (s->hub[knot] >= 0) {
        continue;
      }
      s->hub[knot] = i;
      for (int j = 0; j < s->nbar; j++) {
        bar *b = &s->bar[j];
        if (b->parent == -2 && (b->knot[0] == knot || b->knot[1] == knot)) {
          b->parent = i;
          if (b->knot[1] == knot) {
            b->knot[1] = b->knot[0];
            b->knot[0] = knot;
          }
          s->order[met++] = j;
        }
      }
    }
  }
}

static bool build(sheet *s, int n) {
  const size_t knots = (size_t)n * (size_t)n, bars = 3 * knots;
  *s = (sheet){.n = n,
               .bar = calloc(bars, sizeof *s->bar),
               .hub = malloc(knots * sizeof *s->hub),
               .order = calloc(bars, sizeof *s->order)};
  if (!s->bar || !s->hub || !s->order) {
    return false;
  }
  for (int k = 0; k < n * n; k++) {
    s->hub[k] = -1;
    if (k % n < n - 1) {
      add_bar(s, k, k + 1);
    }
    if (k / n < n - 1) {
      add_bar(s, k, k + n);
    }
    if (k % n < n - 1 && k / n < n - 1) {
      add_bar(s, k, k + n + 1);
    }
  }
  hang(s);
  return true;
}

static void clear(sheet *s) {
  free(s->bar);
  free(s->hub);
  free(s->order);
}

static make_text at_knot(const sheet *s, int i, int knot) {
  return make_show3((sn_vec3){s->bar[i].knot[0] == knot ? 0 : s->bar[i].length, 0, 0});
}

static void write_bars(const sheet *s, sni_text *out) {
  for (int k = 0; k < s->nbar; k++) {
    const int i = s->order[k];
    const bar *b = &s->bar[i];
    const make_text length = make_show(b->length), moment = make_show(b->length * b->length / 12);
    if (b->parent < 0) {
      sni_text_add(out, "  bar_%d: {parent: world, joint: {type: free, at: %s}", i,
                   make_show_pose(b->E).text);
    } else {
      const sn_se3 E = sn_se3_mul(sn_se3_inverse(s->bar[b->parent].E), b->E);
      sni_text_add(out, "  bar_%d: {parent: bar_%d, joint: {at: %s}", i, b->parent,
                   make_show_pose(E).text);
    }
    sni_text_add(out,
                 ",\n    inertia: {mass: 1, at: [%s, 0, 0], xx: 1e-3, yy: %s, zz: %s},\n"
                 "    shapes: [{type: capsule, from: [0, 0, 0], to: [%s, 0, 0], radius: 0.04}]}\n",
                 make_show(0.5 * b->length).text, moment.text, moment.text, length.text);
  }
}

/* Every other bar of a knot that did not become a child of its hub there. */
static void write_knots(const sheet *s, sni_text *out) {
  for (int j = 0; j < s->nbar; j++) {
    for (int end = 0; end < 2; end++) {
      const int knot = s->bar[j].knot[end], hub = s->hub[knot];
      const bool hangs = end == 0 && s->bar[j].parent == hub;
      if (j != hub && !hangs) {
        sni_text_add(out,
                     "  knot_%d_%d: {type: point, a: {body: bar_%d, at: %s}, b: {body: bar_%d, "
                     "at: %s}}\n",
                     knot, j, hub, at_knot(s, hub, knot).text, j, at_knot(s, j, knot).text);
      }
    }
  }
}

/* Up or down, smoothly within three seconds. */
static void write_pull(const sheet *s, const char *name, int knot, double rise, sni_text *out) {
  const sn_vec3 x = place(s, knot);
  sni_text_add(out,
               "  %s: {body: bar_%d, at: %s, point: [%s, %s, \"%s*(1 - cos(pi/3*min(t, 3)))\"], "
               "active: t < 4}\n",
               name, s->hub[knot], at_knot(s, s->hub[knot], knot).text, make_show(x.x).text,
               make_show(x.y).text, make_show(0.5 * rise).text);
}

static void write_surface(const make_settings *s, sni_text *out) {
  sheet all;
  if (!build(&all, (int)s->size)) {
    out->out_of_memory = true;
    clear(&all);
    return;
  }
  const int n = all.n, middle = n * (n / 2) + n / 2;
  make_head(
      out, "surface", 0,
      "# A sheet of bars with ball joints, which keep their lengths: it can be bent and not "
      "stretched.\n# It floats freely; its middle is pulled up, and let go after four seconds.\n");
  sni_text_add(out, "\ndefaults:\n"
                    "  joint: {type: spherical, damping: 0.02}\n"
                    "  body: {damping: {linear: 10, angular: 0.05}}\n"
                    "\nbodies:\n");
  write_bars(&all, out);
  sni_text_add(out, "\nconstraints:\n");
  write_knots(&all, out);
  sni_text_add(out, "\nmotions:\n");
  write_pull(&all, "middle", middle, 0.3 * (n - 1), out);
  char channels[96];
  snprintf(channels, sizeof channels, "[T, E, bar_%d.pos.*]", all.hub[middle]);
  make_foot_structured(out, 6, channels, "precision: 1e-4, iterations: 40");
  clear(&all);
}

static const cli_option options[] = {{"--size", "N", CLI_NUMBER, offsetof(make_settings, size),
                                      "knots along a side, from 2 to 100; 11 if not given"}};
static const make_number numbers[] = {{"--size", offsetof(make_settings, size), 11, 2, 100, true}};

const make_generator make_surface = {
    .name = "surface",
    .command = {.name = "make surface",
                .arguments = "[--size N]",
                .doc = "a sheet of bars that bends, two loops a cell",
                .about = "A grid of bars with diagonals and ball joints, pulled into a shape.",
                .option = options,
                .noption = 1,
                .examples = "  sinew make surface > surface.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 1,
    .write = write_surface};
