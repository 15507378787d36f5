/* json.h: writing JSON, with indentation or without any blanks. */
#ifndef SNI_JSON_H
#define SNI_JSON_H

#include "io/text.h"

/* Begins as {0}. */
typedef struct sni_json {
  sni_text out;
  int depth;
  bool filled;  /* something stands in the innermost object or list */
  bool compact; /* no line breaks, no blanks                          */
} sni_json;

/* key: NULL inside a list, and for the outermost thing.  bracket: "{" or "[", then "}" or "]". */
void sni_json_open(sni_json *j, const char *key, const char *bracket);
void sni_json_close(sni_json *j, const char *bracket);
void sni_json_text(sni_json *j, const char *key, const char *text);
/* With all its digits and no more than it needs; null if it is not finite. */
void sni_json_number(sni_json *j, const char *key, double value);
void sni_json_numbers(sni_json *j, const char *key, const double *value, int n); /* as a list */
void sni_json_raw(sni_json *j, const char *key, const char *format, ...) SN_PRINTF(3, 4);

#endif
