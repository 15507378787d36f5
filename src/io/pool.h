/* pool.h: an arena that remembers whether it ever ran out of memory.
 *
 * Decoding takes memory in a thousand places and goes on whatever happens; whoever started it asks
 * once, at the end. */
#ifndef SNI_POOL_H
#define SNI_POOL_H

#include <stdbool.h>

#include "base/arena.h"

/* Begins as {0}. */
typedef struct sni_pool {
  sni_arena arena;
  bool out_of_memory;
} sni_pool;

/* count elements of size bytes, all zero; NULL: out of memory. */
void *sni_pool_take(sni_pool *pool, size_t count, size_t size);
char *sni_pool_text(sni_pool *pool, const char *text);
char *sni_pool_join(sni_pool *pool, const char *first, const char *second);

/* Gives everything back; the pool can be used again. */
void sni_pool_free(sni_pool *pool);

#endif
