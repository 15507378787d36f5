/* number.c: decimal numbers from text, the same whatever the locale of the program around us.
 *
 * A mantissa up to 2^53 with a power of ten up to 22 is one exact product or quotient of two
 * doubles, rounded once.  Everything else goes to the C library, in the "C" locale. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "base/number.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>

#define MANTISSA_MAX ((uint64_t)1 << 53)
#define EXPONENT_MAX 100000 /* far beyond a double; keeps the sums below inside int */

static double read_by_library(const char *text) {
  const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c_locale == (locale_t)0) {
    return strtod(text, NULL);
  }
  const double value = strtod_l(text, NULL, c_locale);
  freelocale(c_locale);
  return value;
}

static int is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char *sni_number_read(const char *text, double *out) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *s = text;
  const int negative = *s == '-';
  s += *s == '-' || *s == '+';

  /* mantissa * 10^exponent, as long as the mantissa fits */
  uint64_t mantissa = 0;
  int exponent = 0, digits = 0, exact = 1;
  for (int fraction = 0;; s++) {
    if (*s == '.' && !fraction) {
      fraction = 1;
      continue;
    }
    if (!is_digit(*s)) {
      break;
    }
    digits = 1;
    mantissa = 10 * mantissa + (uint64_t)(*s - '0');
    if (mantissa > MANTISSA_MAX) {
      exact = 0;
      mantissa = MANTISSA_MAX; /* only "not zero" matters from here on */
    }
    exponent -= fraction && exponent > -EXPONENT_MAX;
  }
  if (!digits) {
    return text;
  }

  /* an 'e' without digits behind it is not ours: "2*e" may have been meant */
  if (*s == 'e' || *s == 'E') {
    const char *x = s + 1;
    const int minus = *x == '-';
    x += *x == '-' || *x == '+';
    if (is_digit(*x)) {
      int power_of_ten = 0;
      for (; is_digit(*x); x++) {
        power_of_ten = power_of_ten < EXPONENT_MAX ? 10 * power_of_ten + (*x - '0') : EXPONENT_MAX;
      }
      exponent += minus ? -power_of_ten : power_of_ten;
      s = x;
    }
  }

  if (exact && (mantissa == 0 || (exponent >= -22 && exponent <= 22))) {
    const double m = (double)mantissa;
    const double value = mantissa == 0  ? 0
                         : exponent < 0 ? m / power[-exponent]
                                        : m * power[exponent];
    *out = negative ? -value : value;
  } else {
    *out = read_by_library(text);
  }
  return s;
}
