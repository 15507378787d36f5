/* Boards that lean on each other, as cards of a house of cards do: they stand if friction with the
 * floor is as much as statics ask for, and no more. */
#include "ground.h"

/* Two boards with a gap between their upper edges, which are as high as each other. */
static stage boards(double mu, double lean, double thin, double length, double gap, double h) {
  const double c = cos(lean), s = sin(lean);
  const double x = 0.5 * (length * s + thin * c + gap), z = 0.5 * (length * c + thin * s);
  char friction[64], text[1000];
  snprintf(friction, sizeof friction, "friction: %.17g", mu);
  int n = 0;
  for (int k = -1; k < 2; k += 2) {
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  %c: {parent: world, joint: {type: free, at: {pos: [%.17g, 0, %.17g],\n"
                  "       rotvec: [0, %.17g, 0]}}, shapes: [{type: box,\n"
                  "       size: [%g, %g, %g], density: 600, contact: m}]}\n",
                  k < 0 ? 'a' : 'b', k * x, z, -k * lean, thin, 0.3 * length, length);
  }
  return set_exact(friction, text, "", h);
}

/* Each presses on the other with a horizontal N at its upper edge, and stands on its lower one,
 * with its weight W, which friction keeps: about that N takes the height of the board, L cos, and W
 * what its middle is aside, (L sin - thin cos) / 2. */
static double least_friction(double lean, double thin, double length) {
  return 0.5 * (tan(lean) - thin / length);
}

TEST(boards_stand_if_friction_is_enough) {
  const struct {
    double lean, thin, length, h;
  } row[] = {{0.5235987755982988, 0.02, 1, 0.005},
             {0.3490658503988659, 0.02, 1, 0.005},
             {0.5235987755982988, 0.02, 1, 0.01},
             {0.3490658503988659, 0.0003, 0.09, 0.01},
             {0.3490658503988659, 0.0003, 0.09, 0.002}};
  const double part[] = {1e-7, 1e-4}; /* of the length */
  for (int k = 0; k < 5; k++) {
    const double L = row[k].length, mu = least_friction(row[k].lean, row[k].thin, L);
    for (int gap = 0; gap < 3; gap++) {
      const double apart = gap == 0 ? 0 : part[gap - 1] * L;
      for (int enough = 0; enough < 2; enough++) {
        stage b =
            boards(enough ? 1.02 * mu : 0.97 * mu, row[k].lean, row[k].thin, L, apart, row[k].h);
        const double before = q_of(&b, "a")[2];
        stage_step(&b, (int)(1 / row[k].h));
        const double sunk = before - q_of(&b, "a")[2], uneven = sunk - before + q_of(&b, "b")[2];
        /* closing the gap lets them down by half of it times their slope */
        CHECK(enough ? sunk < 1e-6 * L + apart : sunk > 0.1 * L,
              "lean %g, thin %g, gap %g: %s, but sinks by %g of %g", row[k].lean, row[k].thin,
              apart, enough ? "stands" : "falls", sunk, L);
        CHECK(!enough || fabs(uneven) < 1e-6 * L, "lean %g, thin %g, gap %g: uneven by %g",
              row[k].lean, row[k].thin, apart, uneven);
        stage_clear(&b);
      }
    }
  }
}

int main(void) {
  RUN_TESTS(T(boards_stand_if_friction_is_enough));
}
