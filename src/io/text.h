/* text.h: a text that grows. */
#ifndef SNI_TEXT_H
#define SNI_TEXT_H

#include "sinew/types.h"

/* Begins as {0}. */
typedef struct sni_text {
  char *text; /* ends in 0; NULL: nothing yet */
  size_t length, capacity;
  bool out_of_memory;
} sni_text;

void sni_text_add(sni_text *t, const char *format, ...) SN_PRINTF(2, 3);

/* The text, to be freed by the caller; NULL: out of memory. */
char *sni_text_take(sni_text *t);

#endif
