/* arena.h: many small pieces of memory that live and die together. */
#ifndef SNI_ARENA_H
#define SNI_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sni_arena {
  struct sni_arena_block *block; /* the newest first */
  size_t used;                   /* in the newest    */
} sni_arena;

/* Zeroed, aligned to 64 bytes; NULL when out of memory.  size may be 0. */
void *sni_arena_take(sni_arena *arena, size_t size);
/* What is taken next, up to so many bytes, lies together, in large pages if it is much.  False when
 * out of memory. */
bool sni_arena_reserve(sni_arena *arena, size_t size);
void *sni_arena_copy(sni_arena *arena, const void *from, size_t size);
char *sni_arena_text(sni_arena *arena, const char *text); /* NULL stays NULL */
void sni_arena_free(sni_arena *arena);

#endif
