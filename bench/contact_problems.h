/* contact_problems.h: random contact problems, for tests and for `sinew bench contact`.
 *
 * Bodies with six coordinates each and masses that differ, touching each other and the ground at
 * random points along random normals, as stiff springs make them heavier in some directions.  Some
 * bodies are in piles, some are squeezed; points repeat each other. */
#ifndef SINEW_CONTACT_PROBLEMS_H
#define SINEW_CONTACT_PROBLEMS_H

#include "linear/staggered.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PROBLEM_BODIES = 24, PROBLEM_CONTACTS = 72 };

typedef struct problem_shape {
  int nbody, ncontact;
  double mu_most;     /* of the coefficients of friction                         */
  double mass_spread; /* the heaviest body by the lightest                       */
  sni_part_set set;   /* of friction: SNI_IN_LIMIT (a box), DISC, POLYGON, CONE  */
  bool spins;         /* with spinning and rolling friction                      */
} problem_shape;

/* Sizes from one body with one contact to twenty bodies with sixty; masses alike and 1 to 1000. */
static inline problem_shape problem_shape_of(int number, sni_part_set set) {
  const bool crowd = number % 10 == 9;
  return (problem_shape){.nbody = crowd ? 20 : 1 + number % 5,
                         .ncontact = crowd ? 60 : 1 + number / 5 % 12,
                         .mu_most = 1.2,
                         .mass_spread = number % 2 ? 1000 : 1,
                         .set = set,
                         .spins = number % 3 == 0};
}

static inline uint64_t problem_next(uint64_t *seed) {
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline double problem_random(uint64_t *seed, double lo, double hi) {
  return lo + (hi - lo) * (double)(problem_next(seed) >> 11) * 0x1p-53;
}

static inline sni_staggered_room problem_room(void) {
  return (sni_staggered_room){.nv = 6 * PROBLEM_BODIES,
                              .ngroup = PROBLEM_CONTACTS,
                              .nsegment = 2 * PROBLEM_CONTACTS,
                              .numbers = (size_t)2 * PROBLEM_CONTACTS * SNI_GROUP_ROWS * 6};
}

static inline void problem_cross(const double *a, const double *b, double *out) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

static inline void problem_frame(uint64_t *seed, double frame[3][3]) {
  double length = 0;
  while (!(length > 0.1)) {
    for (int k = 0; k < 3; k++) {
      frame[0][k] = problem_random(seed, -1, 1);
    }
    frame[0][2] += frame[0][2] > 0 ? 0.5 : -0.5;
    length =
        sqrt(frame[0][0] * frame[0][0] + frame[0][1] * frame[0][1] + frame[0][2] * frame[0][2]);
  }
  for (int k = 0; k < 3; k++) {
    frame[0][k] /= length;
  }
  const double other[3] = {fabs(frame[0][0]) < 0.6, fabs(frame[0][0]) >= 0.6, 0};
  problem_cross(frame[0], other, frame[1]);
  const double across =
      sqrt(frame[1][0] * frame[1][0] + frame[1][1] * frame[1][1] + frame[1][2] * frame[1][2]);
  for (int k = 0; k < 3; k++) {
    frame[1][k] /= across;
  }
  problem_cross(frame[0], frame[1], frame[2]);
}

/* The parts of a group that is a contact. */
static inline void problem_parts(sni_group *g, sni_part_set set, double mu, bool spins) {
  g->npart = 0;
  if (set == SNI_IN_CONE) {
    g->part[g->npart++] = (sni_group_part){.set = set, .row = 0, .n = 3, .of = -1, .mu = mu};
    return;
  }
  g->part[g->npart++] =
      (sni_group_part){.set = SNI_IN_RANGE, .row = 0, .n = 1, .of = -1, .lo = 0, .hi = INFINITY};
  if (set == SNI_IN_LIMIT) {
    for (int k = 1; k < 3; k++) {
      g->part[g->npart++] =
          (sni_group_part){.set = SNI_IN_LIMIT, .row = k, .n = 1, .of = 0, .mu = mu};
    }
  } else {
    g->part[g->npart++] = (sni_group_part){.set = set, .row = 1, .n = 2, .of = 0, .mu = mu};
  }
  if (spins && set != SNI_IN_LIMIT) {
    g->part[g->npart++] =
        (sni_group_part){.set = SNI_IN_LIMIT, .row = 3, .n = 1, .of = 0, .mu = 0.05 * mu};
    g->part[g->npart++] =
        (sni_group_part){.set = SNI_IN_DISC, .row = 4, .n = 2, .of = 0, .mu = 0.02 * mu};
  }
}

/* Fills s with the problem of this seed; coordinates are scaled so that A is the unit matrix. */
static inline void problem_make(const problem_shape *shape, uint64_t number, sni_staggered *s) {
  uint64_t seed = 0x5151u + 977 * number;
  double root[PROBLEM_BODIES][6]; /* of A's diagonal */
  sni_staggered_clear(s);
  for (int b = 0; b < shape->nbody; b++) {
    const double m = exp(problem_random(&seed, -0.5, 0.5) * log(shape->mass_spread));
    const double stiff = problem_next(&seed) % 4 == 0 ? 100 : 1;
    for (int k = 0; k < 6; k++) {
      const double moment = k < 3 ? m * problem_random(&seed, 0.05, 0.4) : m;
      root[b][k] = sqrt(moment * (k == 4 ? stiff : 1));
      s->v[6 * b + k] = root[b][k] * problem_random(&seed, -1, 1);
    }
    s->v[6 * b + 5] -= root[b][5];
  }
  const int nrow = shape->spins && shape->set != SNI_IN_LIMIT && shape->set != SNI_IN_CONE ? 6 : 3;
  double frame[3][3], arm[2][3];
  int body[2] = {0, -1};
  for (int k = 0; k < shape->ncontact; k++) {
    /* in threes between the same two, and sometimes the same point again */
    if (k % 3 == 0) {
      body[0] = (int)(problem_next(&seed) % (uint64_t)shape->nbody);
      body[1] = (int)(problem_next(&seed) % (uint64_t)(shape->nbody + 1)) - 1;
      body[1] = body[1] == body[0] ? -1 : body[1];
      problem_frame(&seed, frame);
    }
    if (k % 3 == 0 || problem_next(&seed) % 8 != 0) {
      for (int side = 0; side < 2; side++) {
        for (int j = 0; j < 3; j++) {
          arm[side][j] = problem_random(&seed, -0.5, 0.5);
        }
      }
    }
    sni_group *g = sni_staggered_add(s, nrow);
    problem_parts(g, shape->set, problem_random(&seed, 0, shape->mu_most), shape->spins);
    g->c[0] = problem_next(&seed) % 4 == 0 ? problem_random(&seed, -0.5, 0) : 0;
    for (int side = 0; side < 2; side++) {
      if (body[side] < 0) {
        continue;
      }
      const double sign = side == 0 ? 1 : -1;
      sni_group_segment *segment = sni_staggered_touch(s, 6 * body[side], 6, true);
      for (int i = 0; i < nrow; i++) {
        const double *along = frame[i % 3];
        double row[6] = {0};
        if (i < 3) {
          problem_cross(arm[side], along, row);
          memcpy(row + 3, along, 3 * sizeof *along);
        } else {
          memcpy(row, along, 3 * sizeof *along);
        }
        for (int j = 0; j < 6; j++) {
          segment->h[6 * i + j] = sign * row[j] / root[body[side]][j];
        }
      }
    }
  }
}

#endif
