/* test.h: cmocka with the few words that our tests use.
 *
 *     TEST(name) { CHECK(err < 1e-8, "seed %u: %g", seed, err); }
 *     int main(void) { RUN_TESTS(T(name)); }
 */
#ifndef SINEW_TEST_H
#define SINEW_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TEST(name) static void name(__attribute__((unused)) void **cmocka_state_)

#define CHECK(cond, ...)                                                                           \
  do {                                                                                             \
    if (!(cond)) {                                                                                 \
      print_error("CHECK(%s) failed: ", #cond);                                                    \
      print_error(__VA_ARGS__);                                                                    \
      print_error("\n");                                                                           \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

/* int main(void) { RUN_TESTS(T(first), T(second)); } */
#define T(name) cmocka_unit_test(name)
#define RUN_TESTS(...)                                                                             \
  const struct CMUnitTest cmocka_tests_[] = {__VA_ARGS__};                                         \
  return cmocka_run_group_tests(cmocka_tests_, NULL, NULL)

/* Random numbers that are the same on every machine: splitmix64. */
static inline uint64_t test_random_u64(uint64_t *seed) {
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline double test_random(uint64_t *seed, double lo, double hi) {
  return lo + (hi - lo) * (double)(test_random_u64(seed) >> 11) * 0x1p-53;
}

#endif
