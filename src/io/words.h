/* words.h: words of the user in messages: how they are shown, and what was probably meant. */
#ifndef SNI_WORDS_H
#define SNI_WORDS_H

#include <stddef.h>

/* A text as it may stand in a message: short, on one line, and without anything that a terminal
 * would obey: control characters and bytes that are not UTF-8 become \x1b and the like. */
typedef struct sni_shown {
  char text[72];
} sni_shown;

sni_shown sni_show(const char *text);

/* The same as long as fits; size: at least 8. */
void sni_show_into(const char *text, char *out, size_t size);

/* The known word nearest to what was written.  Begins as {.word = what was written}; then each
 * known word is tried. */
typedef struct sni_suggestion {
  const char *word;
  const char *best; /* NULL: nothing is near enough */
  int distance;
} sni_suggestion;

void sni_suggest(sni_suggestion *s, const char *known);

#endif
