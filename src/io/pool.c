/* pool.c: an arena that remembers whether it ever ran out of memory. */
#include "io/pool.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void *sni_pool_take(sni_pool *pool, size_t count, size_t size) {
  const bool fits = size == 0 || count <= SIZE_MAX / size;
  void *data = fits ? sni_arena_take(&pool->arena, count * size) : NULL;
  pool->out_of_memory = pool->out_of_memory || !data;
  return data;
}

char *sni_pool_text(sni_pool *pool, const char *text) {
  return sni_pool_join(pool, text, "");
}

char *sni_pool_join(sni_pool *pool, const char *first, const char *second) {
  const size_t size = strlen(first) + strlen(second) + 1;
  char *text = sni_pool_take(pool, size, 1);
  if (text) {
    snprintf(text, size, "%s%s", first, second);
  }
  return text;
}

void sni_pool_free(sni_pool *pool) {
  sni_arena_free(&pool->arena);
}
