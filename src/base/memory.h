/* memory.h: memory for what is gone through again and again. */
#ifndef SNI_MEMORY_H
#define SNI_MEMORY_H

#include <stddef.h>

/* Not zeroed, aligned to 64 bytes or more, released with free; NULL when out of memory.  Large
 * pieces ask for large pages: a pass over many megabytes otherwise waits for their addresses. */
void *sni_memory_take(size_t size);

#endif
