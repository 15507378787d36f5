/* Sines and cosines of many angles, against long double. */
#include "vectors.h"

#include "math/sincos.h"

#include <float.h>

_Static_assert(LDBL_MANT_DIG >= 64, "long double is no better than double");

#define HALF_PI_L 1.57079632679489661923132169163975144L

/* The promise of sincos.h; sinl and cosl are right to 1e-19 for every double. */
static void check_value(double x, double s, double c) {
  const long double sine = sinl(x), cosine = cosl(x);
  const double ds = (double)fabsl(s - sine), dc = (double)fabsl(c - cosine);
  CHECK(ds <= tol(2e-16) && dc <= tol(2e-16), "%.17g: off by %.3g and %.3g", x, ds, dc);
  const double rs = x == 0 ? 0 : ds / (double)fabsl(sine), rc = dc / (double)fabsl(cosine);
  CHECK(rs <= tol(4e-16) && rc <= tol(4e-16), "%.17g: relative error %.3g and %.3g", x, rs, rc);
}

#define MANY 4096

static void check_many(const double *x) {
  double s[MANY], c[MANY];
  sni_sincos(MANY, x, s, c);
  for (int i = 0; i < MANY; i++) {
    check_value(x[i], s[i], c[i]);
  }
}

TEST(sincos_is_accurate) {
  uint64_t seed = 1;
  double x[MANY];
  const double range[] = {1e-8, 0.8, 4, 100, 1e4, 1.6e6};
  for (int r = 0; r < 6; r++) {
    for (int round = 0; round < 8; round++) {
      for (int i = 0; i < MANY; i++) {
        x[i] = test_random(&seed, -range[r], range[r]);
      }
      check_many(x);
    }
  }
}

/* Where everything cancels: the doubles next to k pi/2 and to the edges (k + 1/2) pi/2 between two
 * quadrants, for small k, for some in the middle and for the last ones below 1.6e6. */
TEST(sincos_is_accurate_at_quadrants) {
  double x[MANY];
  const int start[] = {0, 1000, 100000, 1018000};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < MANY; i++) {
      const int quadrant = start[s] + i / 8;
      const long double edge = i % 2 ? 0.5L : 0;
      x[i] = (double)((quadrant + edge) * HALF_PI_L);
      for (int step = i / 2 % 4; step > 0; step--) {
        x[i] = nextafter(x[i], i % 4 < 2 ? 0 : 1e7);
      }
      x[i] = i % 3 ? x[i] : -x[i];
    }
    check_many(x);
  }
}

/* Beyond the fast reduction the library's functions take over, for those entries only. */
TEST(sincos_of_large_angles) {
  uint64_t seed = 2;
  double x[MANY];
  for (int i = 0; i < MANY; i++) {
    x[i] = i % 3 ? test_random(&seed, -10, 10) : pow(10, test_random(&seed, 6, 300));
  }
  x[0] = 1.6e6;
  x[1] = nextafter(1.6e6, 1e7);
  x[2] = DBL_MAX;
  check_many(x);
}

TEST(sincos_of_what_is_not_finite) {
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; k++) {
    for (int n = 1; n <= 9; n++) {
      double x[9], s[9], c[9];
      for (int i = 0; i < n; i++) {
        x[i] = 0.1 * i;
      }
      x[n / 2] = bad[k];
      sni_sincos(n, x, s, c);
      for (int i = 0; i < n; i++) {
        if (i == n / 2) {
          CHECK(isnan(s[i]) && isnan(c[i]), "%g gave %g and %g", bad[k], s[i], c[i]);
        } else {
          check_value(x[i], s[i], c[i]);
        }
      }
    }
  }
}

/* A value gives the same bits wherever it stands and however many there are: a run of joints may be
 * cut into chunks anywhere.  Nothing is written behind the end. */
TEST(sincos_does_not_depend_on_the_position) {
  uint64_t seed = 3;
  const double guard = -77;
  for (int round = 0; round < 30; round++) {
    const double range = round % 3 == 0 ? 1 : round % 3 == 1 ? 10 : 3e6;
    double x[70], s1[70], c1[70];
    for (int i = 0; i < 70; i++) {
      x[i] = test_random(&seed, -range, range);
      sni_sincos(1, &x[i], &s1[i], &c1[i]);
    }
    for (int n = 0; n <= 70; n++) {
      for (int first = 0; first <= 3 && first + n <= 70; first++) {
        double s[71], c[71];
        for (int i = 0; i < 71; i++) {
          s[i] = c[i] = guard;
        }
        sni_sincos(n, x + first, s, c);
        CHECK(same_bits(s, s1 + first, (size_t)n * sizeof *s) &&
                  same_bits(c, c1 + first, (size_t)n * sizeof *c),
              "round %d: %d from %d on differ from one at a time", round, n, first);
        CHECK(s[n] == guard && c[n] == guard, "%d: wrote behind the end", n);
      }
    }
  }
}

int main(void) {
  RUN_TESTS(T(sincos_is_accurate), T(sincos_is_accurate_at_quadrants), T(sincos_of_large_angles),
            T(sincos_of_what_is_not_finite), T(sincos_does_not_depend_on_the_position));
}
