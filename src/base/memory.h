/* memory.h: memory for what is gone through again and again. */
#ifndef SNI_MEMORY_H
#define SNI_MEMORY_H

#include <stddef.h>

/* Not zeroed, aligned to 64 bytes or more, released with free; NULL when out of memory.  Large
 * pieces ask for large pages: a pass over many megabytes otherwise waits for their addresses. */
void *sni_memory_take(size_t size);

/* Room for an array among others: whole lines of the cache, and five that nobody uses.  Without
 * these, arrays of as many as a multiple of a large power of two begin where they share their
 * places in the cache, and a pass over several throws out what it has just read: ladders of 6144
 * rungs took longer for each than such of 8334. */
static inline size_t sni_memory_room(size_t count, size_t size) {
  return count * size > 0 ? (count * size + 63) / 64 * 64 + 5 * 64 : 0;
}

/* For functions that do nothing but expect memory: gcc takes them for idle, and leaves out calls of
 * them. */
#define SNI_EXPECT_FN static inline __attribute__((always_inline))

/* Will be wanted soon.  The processor finds out by itself who reads on and on, but not who reads a
 * piece here and a piece there, as passes over bodies and what connects them do: mechanisms that
 * fit into no cache are waited for then. */
SNI_EXPECT_FN void sni_memory_expect(const void *from, size_t size) {
  const char *at = from;
  for (size_t i = 0; i < size; i += 64) {
    __builtin_prefetch(at + i);
  }
}

#endif
