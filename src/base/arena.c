/* arena.c: many small pieces of memory that live and die together. */
#include "base/arena.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)1 << 16)
#define ALIGN      ((size_t)64)

struct sni_arena_block {
  struct sni_arena_block *next;
  size_t size;
};

#define HEAD ((sizeof(struct sni_arena_block) + ALIGN - 1) / ALIGN * ALIGN)

static bool add_block(sni_arena *arena, size_t room) {
  struct sni_arena_block *block = sni_memory_take(HEAD + room);
  if (!block) {
    return false;
  }
  block->size = room;
  block->next = arena->block;
  arena->block = block;
  arena->used = 0;
  return true;
}

bool sni_arena_reserve(sni_arena *arena, size_t size) {
  return size <= SIZE_MAX / 2 && add_block(arena, (size + ALIGN - 1) / ALIGN * ALIGN);
}

void *sni_arena_take(sni_arena *arena, size_t size) {
  if (size > SIZE_MAX / 2) {
    return NULL;
  }
  size = size == 0 ? ALIGN : (size + ALIGN - 1) / ALIGN * ALIGN;
  if (!arena->block || arena->used + size > arena->block->size) {
    if (!add_block(arena, size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE)) {
      return NULL;
    }
  }
  char *at = (char *)arena->block + HEAD + arena->used;
  arena->used += size;
  memset(at, 0, size);
  return at;
}

void *sni_arena_copy(sni_arena *arena, const void *from, size_t size) {
  void *to = sni_arena_take(arena, size);
  if (to && size > 0) {
    memcpy(to, from, size);
  }
  return to;
}

char *sni_arena_text(sni_arena *arena, const char *text) {
  return text ? sni_arena_copy(arena, text, strlen(text) + 1) : NULL;
}

void sni_arena_free(sni_arena *arena) {
  while (arena->block) {
    struct sni_arena_block *next = arena->block->next;
    free(arena->block);
    arena->block = next;
  }
  arena->used = 0;
}
