/* machine.c: on what a bench runs: processor, caches, and how much memory is in use. */
#define _GNU_SOURCE /* mallinfo2, cache sizes */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static void find_cpu(char *out, size_t size) {
  char line[256];
  snprintf(out, size, "unknown");
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (colon && strncmp(line, "model name", 10) == 0) {
      snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
      out[strcspn(out, "\n")] = 0;
      break;
    }
  }
  if (f) {
    fclose(f);
  }
}

static bool read_word(int index, const char *name, char *out, size_t size) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  FILE *f = fopen(path, "r");
  const bool good = f && fgets(out, (int)size, f);
  if (f) {
    fclose(f);
  }
  return good;
}

/* From what the kernel lists: level, kind and size such as "48K". */
static long find_cache(int level) {
  char text[32];
  for (int index = 0; read_word(index, "level", text, sizeof text); index++) {
    if (strtol(text, NULL, 10) != level || !read_word(index, "type", text, sizeof text) ||
        text[0] == 'I') { /* Instruction */
      continue;
    }
    if (read_word(index, "size", text, sizeof text)) {
      char *unit;
      const long n = strtol(text, &unit, 10);
      return *unit == 'K' ? n << 10 : *unit == 'M' ? n << 20 : n;
    }
  }
  return 0;
}

static long cache_size(int level, long from_libc) {
  return from_libc > 0 ? from_libc : find_cache(level);
}

bench_machine bench_machine_find(void) {
  bench_machine m = {.cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  find_cpu(m.cpu, sizeof m.cpu);
#ifdef _SC_LEVEL2_CACHE_SIZE
  m.l1d = cache_size(1, sysconf(_SC_LEVEL1_DCACHE_SIZE));
  m.l2 = cache_size(2, sysconf(_SC_LEVEL2_CACHE_SIZE));
  m.l3 = cache_size(3, sysconf(_SC_LEVEL3_CACHE_SIZE));
#else
  m.l1d = cache_size(1, 0);
  m.l2 = cache_size(2, 0);
  m.l3 = cache_size(3, 0);
#endif
  return m;
}

size_t bench_heap_bytes(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}
