/* heap.h: watches the allocator: how often it is asked, what is not given back, and what happens if
 * it refuses.  It stands in front of glibc's.  Where a sanitizer stands there itself, its own hooks
 * count; it cannot be made to refuse (HEAP_REFUSES is 0), and leaks are its own business.
 *
 * Included by one file of a test, whose main() begins with heap_ready(). */
#ifndef TEST_HEAP_H
#define TEST_HEAP_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_REFUSES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define HEAP_REFUSES 0
#endif
#endif
#ifndef HEAP_REFUSES
#define HEAP_REFUSES 1
#endif

static struct heap {
  bool on;
  long calls;    /* of malloc and its kin, and of free             */
  long alive;    /* blocks taken and not given back while watching */
  long fail_at;  /* this request is refused; 0: none               */
  long requests; /* so far                                         */
  bool has_failed;
} heap;

/* Notes a request; true: refuse it. */
static bool heap_requested(void) {
  if (!heap.on) {
    return false;
  }
  heap.calls++;
  heap.requests++;
  if (heap.requests == heap.fail_at) {
    heap.has_failed = true;
    errno = ENOMEM;
    return true;
  }
  heap.alive++;
  return false;
}

static void heap_given_back(const void *p) {
  if (heap.on && p) {
    heap.calls++;
    heap.alive--;
  }
}

/* fail_at: this request is refused, from 1; 0: none. */
static void heap_watch(long fail_at) {
  heap = (struct heap){.on = true, .fail_at = fail_at};
}
/* How often the allocator was called. */
static long heap_stop(void) {
  heap.on = false;
  return heap.calls;
}

#if HEAP_REFUSES
/* The allocator of glibc under its other names.  NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nmemb, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *ptr);
/* NOLINTEND(bugprone-reserved-identifier) */

void *malloc(size_t size) {
  return heap_requested() ? NULL : __libc_malloc(size);
}
void *calloc(size_t nmemb, size_t size) {
  return heap_requested() ? NULL : __libc_calloc(nmemb, size);
}
void *realloc(void *ptr, size_t size) {
  if (heap_requested()) {
    return NULL;
  }
  heap_given_back(ptr);
  return __libc_realloc(ptr, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return heap_requested() ? NULL : __libc_memalign(alignment, size);
}
void free(void *ptr) {
  heap_given_back(ptr);
  __libc_free(ptr);
}
static void heap_ready(void) {}
#else
/* gcc does not install the header that declares it. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
                                              void (*free_hook)(const volatile void *));

static void heap_on_malloc(const volatile void *p, size_t size) {
  (void)p;
  (void)size;
  heap_requested();
}
static void heap_on_free(const volatile void *p) {
  heap_given_back((const void *)p);
}
static void heap_ready(void) {
  __sanitizer_install_malloc_and_free_hooks(heap_on_malloc, heap_on_free);
}
#endif

#endif
