/* error.c: filling an sn_error, and lists of them. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *sn_status_text(sn_status status) {
  switch (status) {
#define SN_X(name, value, text)                                                                    \
  case name:                                                                                       \
    return text;
    SN_STATUS_LIST(SN_X)
#undef SN_X
  }
  return "unknown status";
}

void sn_error_format(const sn_error *err, char *out, size_t out_size) {
  char where[64] = "";
  if (err->line > 0) {
    snprintf(where, sizeof where, "line %d%s", err->line, err->path[0] ? ", " : ": ");
  }
  snprintf(out, out_size, "%s%s%s%s%s%s", err->file, err->file[0] ? ": " : "", where, err->path,
           err->path[0] ? ": " : "", err->text);
}

static void fill(sn_error *err, sn_status code, const char *path, const char *format,
                 va_list args) {
  *err = (sn_error){.code = code};
  if (path) {
    snprintf(err->path, sizeof err->path, "%s", path);
  }
  vsnprintf(err->text, sizeof err->text, format, args);
}

sn_status sni_fail(sn_error *err, sn_status code, const char *format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    fill(err, code, NULL, format, args);
    va_end(args);
  }
  return code;
}

sn_status sni_fail_key(sn_error *err, const char *key, const char *format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    fill(err, SN_E_VALUE, key, format, args);
    va_end(args);
  }
  return SN_E_VALUE;
}

void sni_error_list_free(sni_error_list *list) {
  free(list->item);
  *list = (sni_error_list){0};
}

sn_error *sni_error_list_add(sni_error_list *list, const sn_error *err) {
  if (list->count == list->capacity && list->capacity < SNI_ERROR_LIST_MAX) {
    const int capacity = list->capacity ? 2 * list->capacity : 16;
    sn_error *item = realloc(list->item, (size_t)capacity * sizeof *item);
    if (item) {
      list->item = item;
      list->capacity = capacity;
    }
  }
  if (list->count == list->capacity) {
    list->dropped++;
    return NULL;
  }
  list->item[list->count] = *err;
  return &list->item[list->count++];
}

void sni_error_list_addf(sni_error_list *list, sn_status code, const char *path, const char *format,
                         ...) {
  sn_error err;
  va_list args;
  va_start(args, format);
  fill(&err, code, path, format, args);
  va_end(args);
  sni_error_list_add(list, &err);
}
