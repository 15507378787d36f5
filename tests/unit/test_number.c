/* Decimal numbers from text. */
#include "test.h"

#include "base/number.h"

#include <locale.h>

/* Numbers as the C library reads them, to the last bit, in any locale. */
TEST(numbers_are_correctly_rounded) {
  uint64_t seed = 1;
  char text[1200];
  const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
  for (int i = 0; i < 20000; i++) {
    union {
      uint64_t bits;
      double x;
    } u = {.bits = test_random_u64(&seed)};
    if (!isfinite(u.x) || i % 4 == 1) {
      u.x = test_random(&seed, -100, 100);
    }
    const int digits = (int)(test_random_u64(&seed) % 20);
    snprintf(text, sizeof text, i % 4 == 2 ? "%.*f" : "%.*g", digits, u.x);
    const double expected = strtod(text, NULL);
    double value = 0;
    setlocale(LC_NUMERIC, locales[i % 4]); /* those that the machine has */
    const char *end = sni_number_read(text, &value);
    setlocale(LC_NUMERIC, "C");
    CHECK(*end == '\0' && value == expected, "%s read as %.17g", text, value);
  }
  /* halfway between two numbers, by one digit far behind */
  memset(text, '0', sizeof text);
  memcpy(text, "9007199254740993.", 17);
  text[1000] = '\0';
  double value = 0;
  sni_number_read(text, &value);
  CHECK(value == 9007199254740992.0, "%.17g", value);
  text[999] = '1';
  sni_number_read(text, &value);
  CHECK(value == 9007199254740994.0, "%.17g", value);
  CHECK(sni_number_read("1e-400", &value)[0] == '\0' && value == 0, "underflow");
  CHECK(sni_number_read("-1e999999999999", &value)[0] == '\0' && value == -INFINITY, "overflow");
  CHECK(sni_number_read("0e999999999999", &value)[0] == '\0' && value == 0, "zero");
  CHECK(strcmp(sni_number_read("2e", &value), "e") == 0 && value == 2, "bare e");
  CHECK(strcmp(sni_number_read("0x10", &value), "x10") == 0 && value == 0, "no hexadecimal");
  const char *const none[] = {"", ".", "-", "+.", "e5", "nan", "inf", " 1"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    CHECK(sni_number_read(none[i], &value) == none[i], "'%s' has no number", none[i]);
  }
}

int main(void) {
  RUN_TESTS(T(numbers_are_correctly_rounded));
}
