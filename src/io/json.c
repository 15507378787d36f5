/* json.c: writing JSON, with indentation or without any blanks. */
#include "io/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_plain(char c) {
  return c != '"' && c != '\\' && (unsigned char)c >= ' ';
}

static void write_text(sni_json *j, const char *text) {
  sni_text_add(&j->out, "\"");
  while (*text) {
    int n = 0; /* plain ones go together */
    while (text[n] && is_plain(text[n])) {
      n++;
    }
    if (n > 0) {
      sni_text_add(&j->out, "%.*s", n, text);
      text += n;
    } else if ((unsigned char)*text < ' ') {
      sni_text_add(&j->out, "\\u%04x", (unsigned)*text++);
    } else {
      sni_text_add(&j->out, "\\%c", *text++);
    }
  }
  sni_text_add(&j->out, "\"");
}

static void new_line(sni_json *j) {
  if (!j->compact) {
    sni_text_add(&j->out, "\n%*s", 2 * j->depth, "");
  }
}

static void begin_entry(sni_json *j, const char *key) {
  if (j->depth > 0) {
    if (j->filled) {
      sni_text_add(&j->out, ",");
    }
    new_line(j);
  }
  j->filled = true;
  if (key) {
    write_text(j, key);
    sni_text_add(&j->out, j->compact ? ":" : ": ");
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
    new_line(j);
  }
  sni_text_add(&j->out, "%s", bracket);
  j->filled = true;
}

void sni_json_text(sni_json *j, const char *key, const char *text) {
  begin_entry(j, key);
  write_text(j, text);
}

static void write_number(sni_json *j, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.15g", value);
  if (!isfinite(value)) {
    snprintf(text, sizeof text, "null");
  } else if (strtod(text, NULL) != value) {
    snprintf(text, sizeof text, "%.17g", value);
  }
  sni_text_add(&j->out, "%s", text);
}

void sni_json_number(sni_json *j, const char *key, double value) {
  begin_entry(j, key);
  write_number(j, value);
}

void sni_json_numbers(sni_json *j, const char *key, const double *value, int n) {
  begin_entry(j, key);
  for (int k = 0; k < n; k++) {
    sni_text_add(&j->out, "%s", k ? j->compact ? "," : ", " : "[");
    write_number(j, value[k]);
  }
  sni_text_add(&j->out, n ? "]" : "[]");
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
