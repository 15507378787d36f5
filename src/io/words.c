/* words.c: words of the user in messages: how they are shown, and what was probably meant. */
#include "io/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- showing --------------------------------------------------------------------------------- */

static bool continues_character(char c) {
  return ((unsigned char)c & 0xc0) == 0x80; /* UTF-8 */
}

sni_shown sni_show(const char *text) {
  sni_shown s = {{0}};
  const size_t most = sizeof s.text - sizeof "...";
  size_t n = 0;
  for (; n < most && text[n]; n++) {
    s.text[n] = text[n];
    if ((unsigned char)text[n] < ' ' || text[n] == 0x7f) {
      s.text[n] = ' ';
    }
  }
  if (text[n]) {
    while (n > 0 && continues_character(text[n])) {
      n--;
    }
    memcpy(s.text + n, "...", sizeof "...");
  }
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
