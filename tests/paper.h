/* paper.h: scenes that are written at random, line by line. */
#ifndef TEST_PAPER_H
#define TEST_PAPER_H

#include "trees.h"

#include <stdarg.h>

typedef struct dice {
  uint64_t seed;
} dice;

static inline double roll(dice *d) {
  return 0.5 + 0.5 * random_vec3(&d->seed, 1).x;
}
static inline double between(dice *d, double lo, double hi) {
  return lo + (hi - lo) * roll(d);
}
static inline int one_of(dice *d, int n) {
  const int k = (int)(n * roll(d));
  return k < n ? k : n - 1;
}

typedef struct paper {
  char text[30000];
  size_t used;
} paper;

static inline void put(paper *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put(paper *p, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(p->text + p->used, sizeof p->text - p->used, format, list);
  va_end(list);
  CHECK(n >= 0 && (size_t)n < sizeof p->text - p->used, "no room for the scene");
  p->used += (size_t)n;
}

/* ---- joints that rub ---- */

enum { REVOLUTE, PRISMATIC, CYLINDRICAL, UNIVERSAL, SPHERICAL, RUBBING_TYPES };
static const char *const rubbing_type[] = {"revolute", "prismatic", "cylindrical", "universal",
                                           "spherical"};

static inline void put_friction(paper *p, dice *d, int type) {
  static const double radius[] = {0.01, 0.02, 0.05, 0.1}, length[] = {0.02, 0.05, 0.2, 0.6};
  const double mu = between(d, 0.05, 1), r = radius[one_of(d, 4)], l = length[one_of(d, 4)];
  if (roll(d) < 0.1) {
    put(p, ", friction: {law: stribeck, force: 1, breakaway: %g, speed: 0.05}", between(d, 1, 4));
  } else if (type == PRISMATIC) {
    put(p, ", friction: {mu: %g, size: [0.05, %g, %g]%s}", mu, l > 0.1 ? 0.1 : 0.05, 0.05 + l,
        l > 0.1 ? ", across: [1, 2, -3]" : "");
  } else if (type == SPHERICAL) {
    put(p, ", friction: {mu: %g, pin_radius: %g}", mu, r);
  } else {
    put(p, ", friction: {mu: %g, pin_radius: %g, pin_length: %g}", mu, r, l);
  }
}

#endif
