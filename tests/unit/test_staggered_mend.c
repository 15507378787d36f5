/* Groups that come late: Staggered Projections once more, around them. */
#include "test.h"

#include "../bench/contact_problems.h"

static sni_staggered take_solver(const sni_staggered_room *room) {
  void *memory = malloc(sni_staggered_size(room));
  CHECK(memory, "no memory");
  sni_staggered s;
  sni_staggered_place(&s, room, memory);
  return s;
}

static sni_staggered_options options(void) {
  return (sni_staggered_options){.tolerance = 1e-9, .max_iterations = 60, .sides = 8};
}

/* How far the rates of a normal and its disc are from Coulomb's law, by what v says now. */
static double off_by(const sni_staggered *s, const sni_group *g) {
  double w[SNI_GROUP_ROWS];
  sni_staggered_rates(s, g, w);
  for (int i = 0; i < 3; i++) {
    w[i] += g->e[i] * g->x[i] - g->c[i];
  }
  const double limit = g->part[1].mu * g->x[0], slip = hypot(w[1], w[2]);
  const double power = -(g->x[1] * w[1] + g->x[2] * w[2]);
  CHECK(hypot(g->x[1], g->x[2]) <= limit * (1 + 1e-9) + 1e-300, "out of the cone");
  const double normal = fmax(-w[0], g->x[0] > 0 ? fmin(w[0], g->W[0] * g->x[0]) : 0);
  const double along = limit > 0 ? fmin(slip - power / limit, g->W[SNI_GROUP_ROWS + 1] * limit) : 0;
  return fmax(normal, along);
}

/* v without impulses is 0: what comes in is in c. */
static void bring_to_rest(sni_staggered *s) {
  for (int k = 0; k < s->ngroup; k++) {
    double w[SNI_GROUP_ROWS];
    sni_staggered_rates(s, &s->group[k], w);
    for (int i = 0; i < s->group[k].nrow; i++) {
      s->group[k].c[i] -= w[i];
    }
  }
  memset(s->v, 0, (size_t)s->room.nv * sizeof *s->v);
}

/* Small islands: whatever part of a problem comes late, its answer obeys the law, and v is what the
 * impulses make of it. */
TEST(what_comes_late_is_solved) {
  const sni_staggered_room room = problem_room();
  sni_staggered s = take_solver(&room);
  double v[6 * PROBLEM_BODIES];
  for (int i = 0; i < 600; i++) {
    const problem_shape shape = {1 + i % 5, 2 + (i / 5) % 12, 1.2, i % 2 ? 1 : 100, SNI_IN_DISC, 0};
    const sni_staggered_options o = options();
    sni_staggered_info info;
    problem_make(&shape, (uint64_t)i, &s);
    bring_to_rest(&s);
    const int all = s.ngroup, early = i % all;
    s.ngroup = early;
    sni_staggered_solve(&s, &o, &info);
    s.ngroup = all;
    for (int k = early; k < all; k++) {
      s.group[k].fresh = true;
    }
    const sn_status status = sni_staggered_mend(&s, &o, &info);
    CHECK(status == SN_OK && info.residual <= o.tolerance, "problem %d: %g", i, info.residual);
    memset(v, 0, sizeof v);
    for (int k = 0; k < all; k++) {
      const sni_group *g = &s.group[k];
      const double scale = s.island[g->island].scale;
      CHECK(!g->fresh, "problem %d: nobody has looked at group %d", i, k);
      CHECK(off_by(&s, g) <= 1e-8 * scale, "problem %d: group %d is off by %g of %g", i, k,
            off_by(&s, g), scale);
      for (int m = 0; m < g->nsegment; m++) {
        const sni_group_segment *segment = &s.segment[g->segment + m];
        for (int j = 0; j < 18; j++) {
          v[segment->adr + j % 6] += segment->x[j] * g->x[j / 6];
        }
      }
    }
    for (int j = 0; j < 6 * shape.nbody; j++) {
      CHECK(fabs(v[j] - s.v[j]) < 1e-10 * (1 + fabs(v[j])), "problem %d: v[%d] off by %g", i, j,
            v[j] - s.v[j]);
    }
  }
  free(s.v);
}

enum { ROW = 400 };

/* Unit masses in a row along x on a floor that rubs, of which some press against the next; a
 * wall comes late and pushes the first. */
static void make_row(sni_staggered *s) {
  sni_staggered_clear(s);
  memset(s->v, 0, (size_t)s->room.nv * sizeof *s->v);
  for (int k = 0; k < 2 * ROW; k++) {
    const bool floor = k < ROW, wall = k == 2 * ROW - 1;
    const int body = floor ? k : wall ? 0 : k - ROW;
    sni_group *g = sni_staggered_add(s, 3);
    problem_parts(g, SNI_IN_DISC, floor ? 0.5 : 0, false);
    for (int side = 0; side < (floor || wall ? 1 : 2); side++) {
      sni_group_segment *segment = sni_staggered_touch(s, 6 * (body + side), 6, true);
      const double sign = side == 0 && !floor && !wall ? -1 : 1;
      for (int i = 0; i < 3; i++) { /* normal and tangents: z, x, y; or x, y, z */
        segment->h[6 * i + 3 + (floor ? (i + 2) % 3 : i)] = sign;
      }
    }
    g->c[0] = floor ? 1 : wall ? 2 : k % 7 == 0 ? 0.01 : -0.5;
  }
}

/* Large ones: who is far away keeps its rates to the bit, and all obey the law. */
TEST(who_is_far_away_does_not_notice) {
  const sni_staggered_room room = {
      .nv = 6 * ROW, .ngroup = 2 * ROW, .nsegment = 4 * ROW, .numbers = (size_t)4 * ROW * 18};
  sni_staggered s = take_solver(&room);
  double *before = malloc((size_t)room.nv * sizeof *before);
  sni_staggered_options o = options();
  sni_staggered_info info;
  o.tolerance = 1e-6;
  o.max_iterations = 400;
  make_row(&s);
  s.ngroup--;
  CHECK(sni_staggered_solve(&s, &o, &info) == SN_OK, "without: %g", info.residual);
  memcpy(before, s.v, (size_t)room.nv * sizeof *before);
  s.group[s.ngroup++].fresh = true;
  CHECK(sni_staggered_mend(&s, &o, &info) == SN_OK, "with: %g", info.residual);
  CHECK(s.nisland == 1, "%d islands", s.nisland);
  CHECK(s.v[3] - before[3] > 0.1, "the first has not moved");
  for (int k = 0; k < s.ngroup; k++) {
    CHECK(off_by(&s, &s.group[k]) <= 1e-5 * s.island[0].scale, "group %d is off by %g", k,
          off_by(&s, &s.group[k]));
  }
  const size_t half = (size_t)room.nv / 2;
  CHECK(memcmp(s.v + half, before + half, half * sizeof *before) == 0, "the far end has moved");
  free(before);
  free(s.v);
}

int main(void) {
  RUN_TESTS(T(what_comes_late_is_solved), T(who_is_far_away_does_not_notice));
}
