/* memory.c: memory for what is gone through again and again. */
#define _GNU_SOURCE
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#define LINE       ((size_t)64)
#define LARGE_PAGE ((size_t)1 << 21)

void *sni_memory_take(size_t size) {
  if (size > SIZE_MAX / 2) {
    return NULL;
  }
  const size_t align = size >= 2 * LARGE_PAGE ? LARGE_PAGE : LINE;
  size = (size + LINE - 1) / LINE * LINE;
  void *memory = aligned_alloc(align, size > 0 ? (size + align - 1) / align * align : LINE);
#ifdef MADV_HUGEPAGE
  if (memory && align == LARGE_PAGE) {
    (void)madvise(memory, size, MADV_HUGEPAGE); /* only a wish: it may be refused */
  }
#endif
  return memory;
}
