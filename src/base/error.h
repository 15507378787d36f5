/* error.h: filling an sn_error, and lists of them. */
#ifndef SNI_ERROR_H
#define SNI_ERROR_H

#include "sinew/types.h"

/* Writes code and text into err (which may be NULL) and returns code, so that a failing function
 * ends with `return sni_fail(err, SN_E_VALUE, "...")`.  Leaves file, path and position empty. */
sn_status sni_fail(sn_error *err, sn_status code, const char *format, ...) SN_PRINTF(3, 4);

/* The same with SN_E_VALUE and the key that is wrong in err->path, relative to the thing at hand.
 */
sn_status sni_fail_key(sn_error *err, const char *key, const char *format, ...) SN_PRINTF(3, 4);

/* A growing list of problems: a model reports all of them together.  Beyond SNI_ERROR_LIST_MAX
 * they are only counted.  Running out of memory keeps the count right and loses the text. */
#define SNI_ERROR_LIST_MAX 1000

typedef struct sni_error_list {
  sn_error *item;
  int count;    /* stored in item                             */
  int capacity; /* allocated                                  */
  int dropped;  /* problems beyond the stored ones            */
} sni_error_list;

void sni_error_list_free(sni_error_list *list);
sn_error *sni_error_list_add(sni_error_list *list, const sn_error *err);

/* Adds a problem at a path: path may be NULL. */
void sni_error_list_addf(sni_error_list *list, sn_status code, const char *path, const char *format,
                         ...) SN_PRINTF(4, 5);

#ifdef SINEW_ASSERT
#include <stdlib.h>
#define SN_ASSERT(x) ((x) ? (void)0 : abort())
#else
#define SN_ASSERT(x) ((void)0)
#endif

#endif
