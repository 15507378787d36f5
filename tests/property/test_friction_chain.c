/* test_friction_chain.c: where and when a chain of links that rub comes to rest [RM Fig 5]. */
#include "stage.h"

/* A chain of ten links on pins at 45 degrees to gravity [RM Fig 5]: where and when it stops. */
enum { LINKS = 10 };
typedef struct stopped {
  double at[LINKS]; /* when a link last moved at all: what sticks has the same bits in every step */
  double way[LINKS]; /* by how much it turned, to and fro                                         */
  double energy;     /* of the chain in the end: how far it fell                                  */
} stopped;

/* start: how far the root is turned at first. */
static stopped fall_from(double start, double mu, double radius, int points, double step) {
  char text[1000];
  stopped out = {.energy = 0};
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "gravity: [0, 0, -980]\n"
           "bodies: {link: {joint: {type: revolute, axis: [0, 0, 1], at: {pos: [0, 0, 0], rotvec: "
           "[45*deg, 0, 0]}, friction: {mu: %g, pin_radius: %g, pin_length: 1, points: %d}}, "
           "repeat: {count: %d, joint: {at: [10, 0, 0]}}, shapes: [{type: box, size: [10, 1, 1], "
           "at: [5, 0, 0], density: 1}]}}\n",
           mu, radius, points, LINKS);
  stage b = stage_set(text, redmax_options(step));
  sn_state_q(b.s)[0] = start;
  const int steps = (int)lround(2.5 / step);
  double iterations = 0;
  for (int k = 0; k < steps; k++) {
    double before[LINKS];
    memcpy(before, sn_state_q(b.s), sizeof before);
    iterations += redmax_step(b.sim, b.s, NULL).friction_iterations;
    for (int j = 0; j < LINKS; j++) {
      const double turn = fabs(sn_state_q(b.s)[j] - before[j]);
      out.at[j] = turn > 0 ? *sn_state_time(b.s) : out.at[j];
      out.way[j] += turn;
    }
  }
  CHECK(iterations / steps <= 10, "%g iterations a step", iterations / steps);
  print_message("  mu %g, radius %g, links stop at", mu, radius);
  for (int j = 0; j < LINKS; j++) {
    print_message(" %.4f", out.at[j]);
    CHECK(out.at[j] < 2.4, "link %d does not stop", j);
  }
  print_message(" s, %.2g iterations a step\n", iterations / steps);
  out.energy = stage_energy(&b);
  stage_clear(&b);
  return out;
}

static stopped fall(double mu, double radius, int points, double step) {
  return fall_from(0, mu, radius, points, step);
}

/* As the paper has it, and with contacts all around: every link stops for good before the next one,
 * and at twice the radius after less of its way.  Links follow each other by 1 to 80 ms, whatever
 * the step: when they stop changes by no more than a step if that is halved. */
TEST(a_chain_stops_from_root_to_tip) {
  for (int points = 0; points <= 4; points += 4) {
    stopped end[2];
    for (int large = 0; large < 2; large++) {
      const double radius = large ? 1 : 0.5, step = 5e-4;
      end[large] = fall(0.6, radius, points, step);
      const stopped rough = fall(0.6, radius, points, 2 * step);
      for (int k = 0; k < LINKS; k++) {
        CHECK(k == 0 || end[large].at[k] > end[large].at[k - 1],
              "%d contacts, radius %g: link %d stops at %g, the one before at %g", points, radius,
              k, end[large].at[k], end[large].at[k - 1]);
        CHECK(fabs(rough.at[k] - end[large].at[k]) < 2.1 * step,
              "%d contacts, radius %g: link %d stops at %g, in half the steps at %g", points,
              radius, k, end[large].at[k], rough.at[k]);
      }
    }
    for (int k = 0; k < LINKS; k++) {
      CHECK(end[1].way[k] < end[0].way[k], "link %d turns by %g, on large pins by %g", k,
            end[0].way[k], end[1].way[k]);
    }
    CHECK(end[1].energy > end[0].energy, "on large pins it falls further");
  }
}

/* When the last link stops, on small pins and on large ones; whether all do in their order. */
static bool stops_in_order(double mu, double radius, double step, double *last) {
  const stopped end = fall(mu, radius, 0, step);
  bool order = true;
  *last = 0;
  for (int k = 0; k < LINKS; k++) {
    order = order && (k == 0 || end.at[k] > end.at[k - 1]);
    *last = fmax(*last, end.at[k]);
  }
  return order;
}

/* Both at once [RM Fig 5b]: with friction at which the tip just swings back on small pins, and not
 * on large ones, links stop from root to tip, and the chain on large pins is at rest sooner. */
TEST(a_chain_stops_from_root_to_tip_and_sooner_on_large_pins) {
  for (int fine = 0; fine < 2; fine++) {
    const double step = fine ? 5e-4 : 1e-3;
    double small, large;
    CHECK(stops_in_order(0.44, 0.5, step, &small), "not in their order");
    CHECK(stops_in_order(0.44, 1, step, &large), "not in their order, on large pins");
    CHECK(large < small - 0.2, "it stops at %g, on large pins at %g", small, large);
  }
}

/* With a little less friction than the scene as it is made (mu = 0.445): links stop from the root
 * on, where they bear most, and not from the tip; on large pins all of them one after the other, on
 * small ones the outer ones swing back and stop after those that have stopped inside.  So the chain
 * is at rest sooner on large pins [RM Fig 5a, b]. */
TEST(a_chain_stops_from_the_root_on_and_sooner_on_large_pins) {
  enum { INSIDE = 4 };
  static const struct {
    double mu, step, start;
  } around[] = {{0.4, 1e-3, 0},  {0.4, 5e-4, 0},   {0.4, 2e-3, 0},   {0.38, 1e-3, 0},
                {0.43, 1e-3, 0}, {0.4, 1e-3, 0.1}, {0.4, 1e-3, -0.1}};
  for (int i = 0; i < SNI_COUNT(around); i++) {
    const stopped small = fall_from(around[i].start, around[i].mu, 0.5, 0, around[i].step);
    const stopped large = fall_from(around[i].start, around[i].mu, 1, 0, around[i].step);
    double last = 0;
    for (int k = 1; k < LINKS; k++) {
      const int inner = k < INSIDE ? k - 1 : INSIDE - 1;
      CHECK(large.at[k] > large.at[k - 1], "%d, large pins: link %d stops at %g, before %g", i, k,
            large.at[k], large.at[k - 1]);
      CHECK(small.at[k] > small.at[inner], "%d: link %d stops at %g, before %d at %g", i, k,
            small.at[k], inner, small.at[inner]);
      last = fmax(last, small.at[k]);
    }
    CHECK(large.at[LINKS - 1] < last - 0.3, "%d: it rests at %g, on large pins at %g", i, last,
          large.at[LINKS - 1]);
  }
}

/* With so little friction that it swings to and fro, large pins stop it sooner too. */
TEST(a_chain_that_swings_stops_sooner_on_large_pins) {
  double small, large;
  stops_in_order(0.3, 0.5, 1e-3, &small);
  stops_in_order(0.3, 1, 1e-3, &large);
  CHECK(large < small - 0.1, "it stops at %g, on large pins at %g", small, large);
}
int main(void) {
  RUN_TESTS(T(a_chain_stops_from_root_to_tip),
            T(a_chain_stops_from_root_to_tip_and_sooner_on_large_pins),
            T(a_chain_stops_from_the_root_on_and_sooner_on_large_pins),
            T(a_chain_that_swings_stops_sooner_on_large_pins));
}
