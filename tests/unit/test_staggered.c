/* Staggered Projections: small sets against searches, random contact problems against the law that
 * their answers must obey, one projection against the bounded quadratic program. */
#include "test.h"

#include "../bench/contact_problems.h"
#include "linear/band.h"
#include "linear/cone.h"
#include "linear/qp.h"

static const sni_part_set sets[] = {SNI_IN_LIMIT, SNI_IN_DISC, SNI_IN_POLYGON, SNI_IN_CONE};
enum { SETS = 4, SIDES = 8 };

static sni_staggered take_solver(void) {
  const sni_staggered_room room = problem_room();
  void *memory = malloc(sni_staggered_size(&room));
  CHECK(memory, "no memory");
  sni_staggered s;
  sni_staggered_place(&s, &room, memory);
  return s;
}

static void give_back(sni_staggered *s) {
  free(s->v); /* the first of its block */
}

static sni_staggered_options options(void) {
  return (sni_staggered_options){.tolerance = 1e-9, .max_iterations = 60, .sides = SIDES};
}

/* ---- small sets ---- */

static double value(const double W[3], const double w[2], const double *x, const double *y) {
  const double d[2] = {y[0] - x[0], y[1] - x[1]};
  return 0.5 * (W[0] * d[0] * d[0] + 2 * W[1] * d[0] * d[1] + W[2] * d[1] * d[1]) + w[0] * d[0] +
         w[1] * d[1];
}

/* No point of the rim, and no point near by within it, has a lower value. */
TEST(discs_and_polygons_hold_the_least) {
  uint64_t seed = 11;
  for (int k = 0; k < 3000; k++) {
    const double a = test_random(&seed, 0.1, 3), b = test_random(&seed, 0.1, 3);
    const double W[3] = {a, test_random(&seed, -0.99, 0.99) * sqrt(a * b), b};
    const double w[2] = {test_random(&seed, -3, 3), test_random(&seed, -3, 3)};
    const double x[2] = {test_random(&seed, -1, 1), test_random(&seed, -1, 1)};
    const double r = k % 10 == 0 ? 1e-9 : test_random(&seed, 0, 2);
    for (int polygon = 0; polygon < 2; polygon++) {
      double y[2] = {x[0], x[1]};
      if (polygon) {
        sni_cone_polygon(W, w, r, SIDES, y);
      } else {
        sni_cone_disc(W, w, r, y);
      }
      CHECK(hypot(y[0], y[1]) <= r * (1 + 1e-14), "%d: %g beyond %g", k, hypot(y[0], y[1]), r);
      const double least = value(W, w, x, y);
      for (int j = 0; j < 720; j++) {
        const double angle = j * acos(-1) / 360;
        double z[2] = {r * cos(angle), r * sin(angle)};
        if (polygon) {
          sni_cone_project_polygon(r, SIDES, z);
        }
        for (int inner = 0; inner < 2; inner++) {
          const double part = inner ? 1e-3 : 1; /* all the way, and a little */
          const double to[2] = {y[0] + part * (z[0] - y[0]), y[1] + part * (z[1] - y[1])};
          CHECK(value(W, w, x, to) >= least - 1e-13, "%d, %s: %.3g lower at %d", k,
                polygon ? "polygon" : "disc", least - value(W, w, x, to), j);
        }
      }
    }
  }
}

TEST(cones_project_to_the_nearest_point) {
  uint64_t seed = 12;
  for (int k = 0; k < 2000; k++) {
    const double mu = test_random(&seed, 0, 2);
    const double y[3] = {test_random(&seed, -1, 1), test_random(&seed, -1, 1),
                         test_random(&seed, -1, 1)};
    double x[3] = {y[0], y[1], y[2]};
    sni_cone_project(mu, x);
    CHECK(hypot(x[1], x[2]) <= mu * x[0] * (1 + 1e-14) + 1e-300, "%d: not in the cone", k);
    /* the rest is across x and in the polar cone: Moreau */
    const double n[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    CHECK(fabs(n[0] * x[0] + n[1] * x[1] + n[2] * x[2]) < 1e-15, "%d: not across", k);
    CHECK(n[0] + mu * hypot(n[1], n[2]) <= 1e-15, "%d: not in the polar cone", k);
  }
}

/* ---- the law ---- */

/* How far an answer is from Coulomb's law, in rates by the largest without impulses; friction out
 * of its cone counts by itself. */
static void check_law(const sni_group *g, double scale, double tolerance, const char *what) {
  const double small = tolerance * scale;
  if (!(scale > 0)) { /* nothing comes in */
    CHECK(g->x[0] == 0 && g->w[0] >= 0, "%s: pushes with %g what leaves", what, g->x[0]);
    return;
  }
  if (g->part[0].set == SNI_IN_CONE) { /* w in the dual cone, across x */
    const double mu = g->part[0].mu, *x = g->x, *w = g->w;
    CHECK(hypot(x[1], x[2]) <= mu * x[0] * (1 + 1e-12) + 1e-300, "%s: out of the cone", what);
    CHECK(mu * hypot(w[1], w[2]) - w[0] <= (1 + mu) * small, "%s: rates out of the dual cone by %g",
          what, (mu * hypot(w[1], w[2]) - w[0]) / scale);
    const double across = x[0] * w[0] + x[1] * w[1] + x[2] * w[2];
    CHECK(fabs(across) <= 3 * small * (1 + mu) * (x[0] + small / g->W[0]), "%s: not across", what);
    return;
  }
  CHECK(g->x[0] >= 0, "%s: pulls", what);
  CHECK(g->w[0] >= -small, "%s: goes in by %g", what, -g->w[0] / scale);
  CHECK(g->w[0] <= small || g->W[0] * g->x[0] <= small, "%s: pushes what leaves", what);
  for (int k = 1; k < g->npart; k++) {
    const sni_group_part *part = &g->part[k];
    const double *x = g->x + part->row, *w = g->w + part->row;
    const double limit = part->mu * g->x[0], own = g->W[part->row * SNI_GROUP_ROWS + part->row];
    const double length = part->n == 2 ? hypot(x[0], x[1]) : fabs(x[0]);
    const double slip = part->n == 2 ? hypot(w[0], w[1]) : fabs(w[0]);
    CHECK(length <= limit * (1 + 1e-9) + 1e-300, "%s: friction %g, limit %g", what, length, limit);
    if (slip <= 10 * small || own * limit <= 10 * small) {
      continue;
    }
    /* it slides: as much power as the set has is taken from it */
    double most = part->n == 2 ? limit * slip : limit * fabs(w[0]);
    if (part->set == SNI_IN_POLYGON) {
      most = 0;
      for (int j = 0; j < SIDES; j++) {
        const double angle = 2 * acos(-1) * j / SIDES;
        most = fmax(most, limit * (cos(angle) * w[0] + sin(angle) * w[1]));
      }
    }
    const double power = -(x[0] * w[0] + (part->n == 2 ? x[1] * w[1] : 0));
    CHECK(power >= most - 100 * small * (slip / own + limit), "%s: takes %g of %g", what, power,
          most);
  }
}

static void check_answers(const sni_staggered *s, double tolerance, const char *what) {
  for (int k = 0; k < s->ngroup; k++) {
    check_law(&s->group[k], s->island[s->group[k].island].scale, tolerance, what);
  }
}

/* What answers of all seeds obey, whichever way they are found; v is that of the impulses. */
TEST(answers_obey_the_law) {
  sni_staggered s = take_solver();
  double *before = calloc((size_t)s.room.nv, sizeof *before);
  for (int k = 0; k < SETS; k++) {
    int failed = 0;
    enum { PROBLEMS = 800 };
    for (int i = 0; i < PROBLEMS; i++) {
      const problem_shape shape = {1 + i % 5,       1 + (i / 5) % 12, 1.2,
                                   i % 2 ? 1 : 100, sets[k],          i % 3 == 0};
      problem_make(&shape, (uint64_t)i, &s);
      memcpy(before, s.v, (size_t)s.room.nv * sizeof *before);
      const sni_staggered_options o = options();
      sni_staggered_info info;
      char what[64];
      snprintf(what, sizeof what, "set %d, problem %d", k, i);
      if (sni_staggered_solve(&s, &o, &info) != SN_OK) {
        failed++;
        continue;
      }
      CHECK(info.residual <= o.tolerance, "%s: %g", what, info.residual);
      check_answers(&s, 1e-8, what);
      for (int g = 0; g < s.ngroup; g++) {
        const sni_group *group = &s.group[g];
        for (int m = 0; m < group->nsegment; m++) {
          const sni_group_segment *segment = &s.segment[group->segment + m];
          for (int r = 0; r < group->nrow; r++) {
            for (int j = 0; j < 6; j++) {
              before[segment->adr + j] += segment->x[6 * r + j] * group->x[r];
            }
          }
        }
      }
      for (int j = 0; j < 6 * shape.nbody; j++) {
        CHECK(fabs(before[j] - s.v[j]) < 1e-10 * (1 + fabs(s.v[j])), "%s: v[%d] off by %g", what, j,
              before[j] - s.v[j]);
      }
    }
    CHECK(failed == 0, "set %d: %d of %d failed", k, failed, PROBLEMS);
  }
  free(before);
  give_back(&s);
}

/* Either order of the projections leads to Coulomb's law, and to the same rates where sliding does
 * not decide between several answers: without friction always. */
TEST(projections_one_at_a_time_agree) {
  sni_staggered s = take_solver();
  double v[6 * PROBLEM_BODIES];
  int agreed = 0;
  enum { PROBLEMS = 200 };
  for (int i = 0; i < PROBLEMS; i++) {
    const problem_shape shape = {1 + i % 4, 1 + (i / 4) % 6, i % 2 ? 0 : 0.3,
                                 1,         SNI_IN_DISC,     false};
    sni_staggered_options o = options();
    sni_staggered_info info;
    problem_make(&shape, (uint64_t)i, &s);
    CHECK(sni_staggered_solve(&s, &o, &info) == SN_OK, "%d: %g", i, info.residual);
    memcpy(v, s.v, sizeof v);
    o.one_at_a_time = true;
    o.max_iterations = 5000;
    problem_make(&shape, (uint64_t)i, &s);
    CHECK(sni_staggered_solve(&s, &o, &info) == SN_OK, "%d, one at a time: %g", i, info.residual);
    check_answers(&s, 1e-8, "one at a time");
    double most = 0;
    for (int j = 0; j < 6 * shape.nbody; j++) {
      most = fmax(most, fabs(v[j] - s.v[j]));
    }
    CHECK(i % 2 == 0 || most < 1e-6, "%d: without friction, rates differ by %g", i, most);
    agreed += most < 1e-6;
  }
  CHECK(agreed >= PROBLEMS * 9 / 10, "%d of %d agree", agreed, PROBLEMS);
  give_back(&s);
}

/* Hundreds of limits, most of them so far away that nothing reaches them: Newton's method leaves
 * these out, and takes in what impulses throw against them all the same. */
TEST(limits_far_away_hold_too) {
  sni_staggered s = take_solver();
  int reached = 0, failed = 0;
  enum { PROBLEMS = 300 };
  for (int i = 0; i < PROBLEMS; i++) {
    const problem_shape shape = {1 + i % 4, 4 + (i / 4) % 12, 0.5, 100, SNI_IN_DISC, false};
    uint64_t seed = (uint64_t)i;
    problem_make(&shape, seed, &s);
    const int own = s.ngroup;
    for (int k = 0; k < 12 * shape.nbody; k++) { /* both ways of each coordinate */
      sni_group *g = sni_staggered_add(&s, 1);
      sni_group_segment *segment = g ? sni_staggered_touch(&s, k / 12 * 6, 6, true) : NULL;
      CHECK(segment, "problem %d: no room", i);
      segment->h[k / 2 % 6] = k % 2 ? 30 : -30;
      g->part[g->npart++] = (sni_group_part){.set = SNI_IN_RANGE, .n = 1, .of = -1, .hi = INFINITY};
      g->c[0] = -30 * fabs(s.v[k / 2]) - pow(10, test_random(&seed, -2, 1));
    }
    sni_staggered_options o = options();
    sni_staggered_info info;
    o.max_iterations = 2;
    if (sni_staggered_solve(&s, &o, &info) != SN_OK) {
      failed++;
      continue;
    }
    check_answers(&s, 1e-8, "with limits");
    for (int k = own; k < s.ngroup; k++) {
      reached += s.group[k].x[0] > 0;
    }
  }
  CHECK(failed == 0, "%d of %d failed", failed, PROBLEMS);
  CHECK(reached > 50, "only %d limits are reached", reached);
  give_back(&s);
}

/* The contact projection alone is a bounded quadratic program [RM 11]. */
TEST(without_friction_it_is_the_quadratic_program) {
  enum { N = 12 };
  sni_staggered s = take_solver();
  void *memory = malloc(sni_qp_size(N));
  sni_qp qp;
  sni_qp_place(&qp, N, memory);
  for (int i = 0; i < 300; i++) {
    const problem_shape shape = {1 + i % 4, N, 0, 10, SNI_IN_DISC, false};
    problem_make(&shape, (uint64_t)i, &s);
    qp.n = N;
    for (int a = 0; a < N; a++) {
      const sni_group *ga = &s.group[a];
      for (int b = 0; b < N; b++) {
        qp.S[a * N + b] = 0;
        const sni_group *gb = &s.group[b];
        for (int m = 0; m < ga->nsegment * gb->nsegment; m++) {
          const sni_group_segment *x = &s.segment[ga->segment + m / gb->nsegment];
          const sni_group_segment *y = &s.segment[gb->segment + m % gb->nsegment];
          for (int j = 0; x->adr == y->adr && j < 6; j++) {
            qp.S[a * N + b] += x->h[j] * y->h[j];
          }
        }
      }
      qp.b[a] = ga->c[0];
      for (int m = 0; m < ga->nsegment; m++) {
        const sni_group_segment *x = &s.segment[ga->segment + m];
        for (int j = 0; j < 6; j++) {
          qp.b[a] -= x->h[j] * s.v[x->adr + j];
        }
      }
      qp.lo[a] = 0;
      qp.hi[a] = INFINITY;
      qp.side[a] = 0;
    }
    sni_qp_info found;
    CHECK(sni_qp_solve(&qp, &found) == SN_OK, "%d: the program fails", i);
    double v[6 * PROBLEM_BODIES];
    memcpy(v, s.v, sizeof v);
    for (int a = 0; a < N; a++) {
      for (int m = 0; m < s.group[a].nsegment; m++) {
        const sni_group_segment *x = &s.segment[s.group[a].segment + m];
        for (int j = 0; j < 6; j++) {
          v[x->adr + j] += x->x[j] * qp.x[a];
        }
      }
    }
    const sni_staggered_options o = options();
    sni_staggered_info info;
    CHECK(sni_staggered_solve(&s, &o, &info) == SN_OK, "%d: %g", i, info.residual);
    for (int j = 0; j < 6 * shape.nbody; j++) {
      CHECK(fabs(v[j] - s.v[j]) < 1e-7, "%d: v[%d] differs by %g", i, j, v[j] - s.v[j]);
    }
  }
  free(memory);
  give_back(&s);
}

/* A brick on the floor that slides: mu m g h is taken from its momentum, and no more than there is.
 */
TEST(a_brick_slides_and_stops) {
  sni_staggered s = take_solver();
  const double m = 3, mu = 0.4, fall = 0.0981;
  for (int stops = 0; stops < 2; stops++) {
    const double v0 = stops ? 0.02 : 0.5;
    sni_staggered_clear(&s);
    sni_group *g = sni_staggered_add(&s, 3);
    problem_parts(g, SNI_IN_DISC, mu, false);
    sni_group_segment *segment = sni_staggered_touch(&s, 0, 3, false);
    for (int i = 0; i < 3; i++) { /* normal z, tangents x and y; coordinates are x, y, z */
      segment->h[3 * i + (i + 2) % 3] = 1;
      segment->x[3 * i + (i + 2) % 3] = 1 / m;
    }
    s.v[0] = 0.6 * v0;
    s.v[1] = -0.8 * v0;
    s.v[2] = -fall;
    const sni_staggered_options o = options();
    sni_staggered_info info;
    CHECK(sni_staggered_solve(&s, &o, &info) == SN_OK, "%g", info.residual);
    const double left = fmax(0, v0 - mu * fall);
    CHECK(fabs(s.v[2]) < 1e-15 && fabs(g->x[0] - m * fall) < 1e-14, "falls by %g", s.v[2]);
    CHECK(fabs(s.v[0] - 0.6 * left) < 1e-15 && fabs(s.v[1] + 0.8 * left) < 1e-15,
          "goes on with %g, %g", s.v[0], s.v[1]);
  }
  give_back(&s);
}

/* A soft row gives way by e for each unit: x = -(v - c)/(1/m + e). */
TEST(soft_rows_give_way) {
  sni_staggered s = take_solver();
  sni_staggered_clear(&s);
  sni_group *g = sni_staggered_add(&s, 1);
  g->npart = 1;
  g->part[0] = (sni_group_part){.set = SNI_IN_RANGE, .n = 1, .of = -1, .hi = INFINITY};
  g->e[0] = 0.5;
  g->c[0] = 0.25;
  sni_group_segment *segment = sni_staggered_touch(&s, 3, 1, false);
  segment->h[0] = 2;
  segment->x[0] = 1;
  s.v[3] = -1;
  const sni_staggered_options o = options();
  sni_staggered_info info;
  CHECK(sni_staggered_solve(&s, &o, &info) == SN_OK, "%g", info.residual);
  CHECK(fabs(g->x[0] - 2.25 / 2.5) < 1e-15, "%g", g->x[0]);
  CHECK(fabs(s.v[3] - (-1 + 0.9)) < 1e-15, "%g", s.v[3]);
  give_back(&s);
}

/* Islands do not know of each other: with another one beside it a problem has the same bits. */
TEST(islands_are_solved_on_their_own) {
  sni_staggered s = take_solver();
  double alone[6];
  for (int both = 0; both < 2; both++) {
    sni_staggered_clear(&s);
    for (int i = 0; i < 4 * (1 + both); i++) {
      uint64_t seed = (uint64_t)(i / (1 + both));
      const int body = both ? i % 2 : 0;
      sni_group *g = sni_staggered_add(&s, 3);
      problem_parts(g, SNI_IN_DISC, 0.5, false);
      sni_group_segment *segment = sni_staggered_touch(&s, 6 * body, 6, true);
      for (int j = 0; j < 18; j++) {
        segment->h[j] = problem_random(&seed, -1, 1) * (1 + body);
      }
    }
    for (int j = 0; j < 12; j++) {
      s.v[j] = sin(j % 6 + 1.0);
    }
    const sni_staggered_options o = options();
    sni_staggered_info info;
    sni_staggered_solve(&s, &o, &info);
    CHECK(s.nisland == 1 + both, "%d islands", s.nisland);
    if (both) {
      CHECK(memcmp(alone, s.v, sizeof alone) == 0, "another island makes a difference");
    }
    memcpy(alone, s.v, sizeof alone);
  }
  give_back(&s);
}

/* Jams in which impulses are a thousand times what comes in, and ways with several answers on which
 * Newton's method goes round in circles: of `sinew bench contact`. */
TEST(hard_ones_are_solved) {
  const struct {
    sni_part_set set;
    int number;
    double patience;
  } hard[] = {{SNI_IN_LIMIT, 8327, 1},     {SNI_IN_LIMIT, 16175, 1},  {SNI_IN_LIMIT, 17029, 1},
              {SNI_IN_LIMIT, 7149, 10},    {SNI_IN_DISC, 7499, 1},    {SNI_IN_DISC, 14709, 1},
              {SNI_IN_DISC, 17689, 10},    {SNI_IN_POLYGON, 5671, 1}, {SNI_IN_POLYGON, 17269, 1},
              {SNI_IN_POLYGON, 23029, 10}, {SNI_IN_CONE, 6268, 1},    {SNI_IN_CONE, 20501, 1},
              {SNI_IN_CONE, 15109, 1},     {SNI_IN_CONE, 22649, 1}};
  sni_staggered s = take_solver();
  for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) {
    const problem_shape shape = problem_shape_of(hard[k].number, hard[k].set);
    const sni_staggered_options o = {
        .tolerance = 1e-8, .max_iterations = 100, .sides = 8, .patience = hard[k].patience};
    sni_staggered_info info;
    problem_make(&shape, (uint64_t)hard[k].number, &s);
    const sn_status status = sni_staggered_solve(&s, &o, &info);
    CHECK(status == SN_OK, "set %d, problem %d: residual %g after %d iterations", (int)hard[k].set,
          hard[k].number, info.residual, info.iterations);
  }
  give_back(&s);
}

/* Rooms that are full are told, and a group that finds no room for a segment goes away. */
TEST(full_rooms_are_told) {
  const sni_staggered_room room = {.nv = 12, .ngroup = 2, .nsegment = 3, .numbers = 60};
  void *memory = malloc(sni_staggered_size(&room));
  sni_staggered s;
  sni_staggered_place(&s, &room, memory);
  sni_staggered_clear(&s);
  CHECK(sni_staggered_add(&s, 3) && sni_staggered_touch(&s, 0, 6, true), "no room for one");
  CHECK(sni_staggered_add(&s, 3) && sni_staggered_touch(&s, 0, 6, true), "no room for two");
  CHECK(sni_staggered_touch(&s, 6, 6, false) == NULL, "36 numbers in a room for 24");
  CHECK(sni_staggered_add(&s, 3) == NULL, "a third group in a room for two");
  sni_staggered_drop(&s);
  CHECK(s.ngroup == 1 && s.nsegment == 1 && s.nnumber == 18, "%d groups, %d segments, %zu numbers",
        s.ngroup, s.nsegment, s.nnumber);
  free(memory);
}

/* Of any width, with pivots that are not on the diagonal. */
TEST(bands_are_solved) {
  enum { N = 60 };
  uint64_t seed = 5;
  for (int half = 0; half < N; half += half < 6 ? 1 : 9) {
    double a[N][N] = {{0}}, x[N], b[N] = {0};
    double *memory = malloc(sni_band_size(N, half) * sizeof *memory);
    sni_band m;
    sni_band_place(&m, N, half, memory);
    sni_band_clear(&m);
    for (int i = 0; i < N; i++) {
      x[i] = test_random(&seed, -1, 1);
      for (int j = 0; j < N; j++) {
        if (abs(i - j) <= half) {
          a[i][j] = sni_band_row(&m, i)[j] = test_random(&seed, -1, 1) + (half == 0 ? 2 : 0);
        }
      }
    }
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        b[i] += a[i][j] * x[j];
      }
    }
    const int sign = sni_band_solve(&m, b);
    CHECK(sign != 0, "half %d: singular", half);
    CHECK(half > 0 || sign == 1, "half %d: a determinant below 0", half);
    for (int i = 0; i < N; i++) {
      CHECK(fabs(b[i] - x[i]) < 1e-7, "half %d: x[%d] is %g, not %g", half, i, b[i], x[i]);
    }
    sni_band_clear(&m);
    CHECK(!sni_band_solve(&m, b), "zero is not singular");
    free(memory);
  }
}

/* Friction whose bound has gone to nothing: against the sliding, and never NaN. */
TEST(discs_of_any_size_have_an_answer) {
  const double W[3] = {0.002, 0.0005, 0.008}, w[2] = {3, -4};
  for (int e = 0; e > -320; e -= 4) {
    const double r = pow(10, e);
    double x[2] = {0, 0};
    sni_cone_disc(W, w, r, x);
    const double length = hypot(x[0], x[1]);
    CHECK(length <= r * (1 + 1e-12), "radius %g: %g %g", r, x[0], x[1]);
    CHECK(e < -99 || (fabs(length / r - 1) < 1e-9 && x[0] < 0 && x[1] > 0), "radius %g: %g %g", r,
          x[0], x[1]);
  }
}

int main(void) {
  RUN_TESTS(T(discs_of_any_size_have_an_answer), T(discs_and_polygons_hold_the_least),
            T(cones_project_to_the_nearest_point), T(answers_obey_the_law),
            T(projections_one_at_a_time_agree), T(without_friction_it_is_the_quadratic_program),
            T(limits_far_away_hold_too), T(a_brick_slides_and_stops), T(soft_rows_give_way),
            T(islands_are_solved_on_their_own), T(hard_ones_are_solved), T(full_rooms_are_told),
            T(bands_are_solved));
}
