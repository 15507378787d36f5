/* clock.c: CPU time of this process, and medians. */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"

#include <stdlib.h>
#include <time.h>

/* CPU time: on a shared machine wall time measures the neighbours. */
double bench_cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *value, int n) {
  qsort(value, (size_t)n, sizeof *value, compare);
  return n % 2 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2]);
}
