/* text.c: a text that grows. */
#include "io/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(sni_text *t, size_t more) {
  const size_t needed = t->length + more + 1;
  if (t->out_of_memory) {
    return false;
  }
  if (needed > t->capacity) {
    const size_t capacity = needed > 2 * t->capacity ? needed : 2 * t->capacity;
    char *text = realloc(t->text, capacity);
    if (!text) {
      t->out_of_memory = true;
      return false;
    }
    t->text = text;
    t->capacity = capacity;
  }
  return true;
}

void sni_text_add(sni_text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n >= 0 && reserve(t, (size_t)n)) {
    va_start(args, format);
    vsnprintf(t->text + t->length, (size_t)n + 1, format, args);
    va_end(args);
    t->length += (size_t)n;
  }
}

char *sni_text_take(sni_text *t) {
  char *text = t->text;
  if (t->out_of_memory) {
    free(text);
    text = NULL;
  }
  *t = (sni_text){0};
  return text;
}
