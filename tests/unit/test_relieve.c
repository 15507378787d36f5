/* Of all impulses that move alike, the least: they move alike, obey the law as the others did, and
 * are the same whatever the solve began with. */
#include "test.h"

#include "../bench/contact_problems.h"
#include "linear/staggered_parts.h"

enum { SIDES = 8, GUESSES = 3 };
#define TOLERANCE 1e-10

typedef double impulses[SNI_GROUP_ROWS];

static sni_staggered take_solver(void) {
  const sni_staggered_room room = problem_room();
  void *memory = malloc(sni_staggered_size(&room));
  CHECK(memory, "no memory");
  sni_staggered s;
  sni_staggered_place(&s, &room, memory);
  return s;
}

static const sni_relief lots = {.work = 1e9};
static const sni_staggered_options options = {
    .tolerance = TOLERANCE, .max_iterations = 300, .sides = SIDES};

static void share_all(sni_staggered *s) {
  for (int k = 0; k < s->ngroup; k++) {
    s->group[k].shares = true;
  }
}

/* What is to be least. */
static double value(const sni_staggered *s, const impulses *x) {
  double sum = 0;
  for (int k = 0; k < s->ngroup; k++) {
    const sni_group *g = &s->group[k];
    sum += 1e-4 * x[k][0] * x[k][0];
    for (int i = 1; i < g->npart; i++) {
      const sni_group_part *part = &g->part[i];
      const double by = part->row == 1 ? 1 : g->part[1].mu / part->mu;
      for (int j = part->row; j < part->row + part->n; j++) {
        sum += by * by * x[k][j] * x[k][j];
      }
    }
  }
  return sum;
}

/* v with x, and how far rates are from the law with them. */
static double residual_with(sni_staggered *s, const impulses *x) {
  double most = 0;
  for (int k = 0; k < s->ngroup; k++) {
    double more[SNI_GROUP_ROWS];
    for (int i = 0; i < SNI_GROUP_ROWS; i++) {
      more[i] = x[k][i] - s->group[k].x[i];
    }
    sni_staggered_add_impulse(s, &s->group[k], more);
    memcpy(s->group[k].x, x[k], sizeof x[k]);
  }
  for (int k = 0; k < s->nisland; k++) {
    most = fmax(most, sni_staggered_residual(s, &s->island[k], &options));
  }
  return most;
}

static double largest(const double *x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* A problem from a guess at random (the first one: none); false: it was not solved. */
static bool solve_from(sni_staggered *s, const problem_shape *shape, int number, int guess) {
  uint64_t seed = 17u * (unsigned)number + (unsigned)guess;
  sni_staggered_info info;
  problem_make(shape, (uint64_t)number, s);
  share_all(s);
  for (int k = 0; k < s->ngroup; k++) {
    for (int i = 0; guess > 0 && i < 3; i++) {
      s->group[k].x[i] = test_random(&seed, i == 0 ? 0 : -0.2, i == 0 ? 1 : 0.2);
    }
  }
  return sni_staggered_solve(s, &options, &info) == SN_OK;
}

/* How many pairs of guesses were compared, and how many of these do not agree. */
typedef struct tally {
  int compared, apart;
} tally;

static void find_least(int number, tally *t) {
  static impulses least[GUESSES][PROBLEM_CONTACTS];
  static double rates[GUESSES][6 * PROBLEM_BODIES];
  sni_staggered s = take_solver();
  const problem_shape shape = problem_shape_of(number, SNI_IN_DISC);
  const size_t bytes = (size_t)s.room.nv * sizeof(double);
  double found[GUESSES], large = 0;
  bool solved[GUESSES];
  for (int guess = 0; guess < GUESSES; guess++) {
    solved[guess] = solve_from(&s, &shape, number, guess);
    if (!solved[guess]) {
      continue;
    }
    static impulses before[PROBLEM_CONTACTS];
    for (int k = 0; k < s.ngroup; k++) {
      memcpy(before[k], s.group[k].x, sizeof before[k]);
    }
    memcpy(rates[guess], s.v, bytes);
    sni_staggered_relieve(&s, &options, &lots, least[guess]);
    found[guess] = value(&s, (const impulses *)least[guess]);
    CHECK(found[guess] <= value(&s, (const impulses *)before) * (1 + 1e-9), "%d: %g, was %g",
          number, found[guess], value(&s, (const impulses *)before));
    const double residual = residual_with(&s, (const impulses *)least[guess]);
    CHECK(residual <= 100 * TOLERANCE, "%d: %g from the law", number, residual);
    large = largest(rates[guess], s.room.nv);
    for (int i = 0; i < s.room.nv; i++) {
      CHECK(fabs(s.v[i] - rates[guess][i]) <= 1e-8 * large, "%d: moves by %g of %g", number,
            s.v[i] - rates[guess][i], large);
    }
  }
  for (int guess = 1; guess < GUESSES; guess++) {
    double off = 0;
    for (int i = 0; i < s.room.nv; i++) {
      off = fmax(off, fabs(rates[guess][i] - rates[0][i]));
    }
    if (!solved[0] || !solved[guess] || off > 1e-8 * large || !(found[0] > 0)) {
      continue; /* strong friction may have several answers */
    }
    t->compared++;
    t->apart += fabs(found[guess] - found[0]) > 1e-6 * found[0];
  }
  free(s.v);
}

/* But for those in which something slides about as fast as the tolerance lets what sticks. */
TEST(the_least_is_found_from_anywhere) {
  tally t = {0, 0};
  for (int k = 0; k < 300; k++) {
    find_least(k, &t);
  }
  print_message("  %d compared, %d apart\n", t.compared, t.apart);
  CHECK(t.compared > 300 && t.apart <= t.compared / 50, "%d of %d apart", t.apart, t.compared);
}

/* What would take more is left as it is. */
TEST(no_more_work_than_allowed) {
  static impulses x[PROBLEM_CONTACTS];
  sni_staggered s = take_solver();
  for (int number = 0; number < 20; number++) {
    const problem_shape shape = problem_shape_of(number, SNI_IN_DISC);
    solve_from(&s, &shape, number, 1);
    sni_staggered_relieve(&s, &options, &(const sni_relief){.work = 0}, x);
    for (int k = 0; k < s.ngroup; k++) {
      CHECK(memcmp(x[k], s.group[k].x, sizeof x[k]) == 0, "%d: group %d is another", number, k);
    }
  }
  free(s.v);
}

int main(void) {
  RUN_TESTS(T(the_least_is_found_from_anywhere), T(no_more_work_than_allowed));
}
