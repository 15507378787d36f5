/* clock.c: CPU time of this process, medians, and how fast they grow. */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"

#include <math.h>
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

double bench_exponent(int n, const double *x, const double *y) {
  double su = 0, sv = 0, suu = 0, suv = 0;
  for (int k = 0; k < n; k++) {
    const double u = log(x[k]), v = log(y[k]);
    su += u;
    sv += v;
    suu += u * u;
    suv += u * v;
  }
  return (n * suv - su * sv) / (n * suu - su * su);
}
