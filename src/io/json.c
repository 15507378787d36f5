/* json.c: writing JSON, with indentation. */
#include "io/json.h"

#include <stdarg.h>
#include <stdio.h>

static void write_text(sni_json *j, const char *text) {
  sni_text_add(&j->out, "\"");
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') {
      sni_text_add(&j->out, "\\%c", *text);
    } else if ((unsigned char)*text < ' ') {
      sni_text_add(&j->out, "\\u%04x", (unsigned)*text);
    } else {
      sni_text_add(&j->out, "%c", *text);
    }
  }
  sni_text_add(&j->out, "\"");
}

static void begin_entry(sni_json *j, const char *key) {
  if (j->depth > 0) {
    sni_text_add(&j->out, "%s\n%*s", j->filled ? "," : "", 2 * j->depth, "");
  }
  j->filled = true;
  if (key) {
    write_text(j, key);
    sni_text_add(&j->out, ": ");
  }
}

void sni_json_open(sni_json *j, const char *key, const char *bracket) {
  begin_entry(j, key);
  sni_text_add(&j->out, "%s", bracket);
  j->depth++;
  j->filled = false;
}

void sni_json_close(sni_json *j, const char *bracket) {
  j->depth--;
  if (j->filled) {
    sni_text_add(&j->out, "\n%*s", 2 * j->depth, "");
  }
  sni_text_add(&j->out, "%s", bracket);
  j->filled = true;
}

void sni_json_text(sni_json *j, const char *key, const char *text) {
  begin_entry(j, key);
  write_text(j, text);
}

void sni_json_raw(sni_json *j, const char *key, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  begin_entry(j, key);
  sni_text_add(&j->out, "%s", text);
}
