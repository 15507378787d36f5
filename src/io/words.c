/* words.c: words of the user in messages: how they are shown, and what was probably meant. */
#include "io/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- showing --------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at text that may be shown as it is; 0: a control character, half a
 * character, or no UTF-8 at all. */
static size_t plain_length(const char *text) {
  const unsigned char *b = (const unsigned char *)text;
  if (b[0] < 0x80) {
    return b[0] >= ' ' && b[0] != 0x7f;
  }
  const size_t n = b[0] >= 0xf0 && b[0] <= 0xf4   ? 4
                   : b[0] >= 0xe0 && b[0] <= 0xef ? 3
                   : b[0] >= 0xc2 && b[0] <= 0xdf ? 2
                                                  : 0;
  for (size_t k = 1; k < n; k++) {
    if ((b[k] & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool control = b[0] == 0xc2 && b[1] < 0xa0; /* U+0080 to U+009F: a terminal obeys some */
  const bool overlong = (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xf0 && b[1] < 0x90);
  const bool reserved = (b[0] == 0xed && b[1] >= 0xa0) || (b[0] == 0xf4 && b[1] >= 0x90);
  return n > 0 && !control && !overlong && !reserved ? n : 0;
}

void sni_show_into(const char *text, char *out, size_t size) {
  static const char hex[] = "0123456789abcdef";
  size_t used = 0, cut = 0; /* cut: where "..." still has room */
  while (*text) {
    const size_t plain = plain_length(text), n = plain > 0 ? plain : 4;
    if (used + sizeof "..." <= size) {
      cut = used;
    }
    if (used + n >= size) {
      memcpy(out + cut, "...", sizeof "...");
      return;
    }
    if (plain > 0) {
      memcpy(out + used, text, n);
    } else {
      const unsigned char c = (unsigned char)*text;
      memcpy(out + used, (char[]){'\\', 'x', hex[c >> 4], hex[c & 15]}, 4);
    }
    used += n;
    text += plain > 0 ? plain : 1;
  }
  out[used] = 0;
}

sni_shown sni_show(const char *text) {
  sni_shown s = {{0}};
  sni_show_into(text, s.text, sizeof s.text);
  return s;
}

/* ---- guessing --------------------------------------------------------------------------------
 *
 * The distance counts letters inserted, left out, replaced, and neighbours exchanged; upper and
 * lower case are the same.  Up to a third of the letters may differ: beyond that it is another
 * word rather than a slip of the finger. */

#define LENGTH_MAX 32

static int lower(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int min(int a, int b) {
  return a < b ? a : b;
}

static int distance(const char *a, int na, const char *b, int nb) {
  int d[LENGTH_MAX + 1][LENGTH_MAX + 1];
  for (int i = 0; i <= na; i++) {
    d[i][0] = i;
  }
  for (int j = 0; j <= nb; j++) {
    d[0][j] = j;
  }
  for (int i = 1; i <= na; i++) {
    for (int j = 1; j <= nb; j++) {
      const int x = lower(a[i - 1]), y = lower(b[j - 1]);
      d[i][j] = min(d[i - 1][j - 1] + (x != y), min(d[i - 1][j], d[i][j - 1]) + 1);
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2])) {
        d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[na][nb];
}

void sni_suggest(sni_suggestion *s, const char *known) {
  const size_t na = strlen(s->word), nb = strlen(known);
  if (na == 0 || na > LENGTH_MAX || nb > LENGTH_MAX) {
    return;
  }
  const int d = distance(s->word, (int)na, known, (int)nb);
  const int third = (int)(na > nb ? na : nb) / 3;
  if (d <= (third > 0 ? third : 1) && d < (int)nb && (!s->best || d < s->distance)) {
    s->best = known;
    s->distance = d;
  }
}
