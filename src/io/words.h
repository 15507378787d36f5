/* words.h: words of the user in messages: how they are shown, and what was probably meant. */
#ifndef SNI_WORDS_H
#define SNI_WORDS_H

/* A text as it may stand in a message: short, on one line. */
typedef struct sni_shown {
  char text[72];
} sni_shown;

sni_shown sni_show(const char *text);

/* The known word nearest to what was written.  Begins as {.word = what was written}; then each
 * known word is tried. */
typedef struct sni_suggestion {
  const char *word;
  const char *best; /* NULL: nothing is near enough */
  int distance;
} sni_suggestion;

void sni_suggest(sni_suggestion *s, const char *known);

#endif
