/* contact.h: the parts of `sinew bench contact`. */
#ifndef BENCH_CONTACT_H
#define BENCH_CONTACT_H

#include "bench/bench.h"

enum { BENCH_HEAPS = 5 };

/* Exponents of the time of a step. */
typedef struct bench_growth {
  double bodies, contacts, falling;
} bench_growth;

/* ---- contact_heap.c ---- */

/* Times heaps of these sizes, at most BENCH_HEAPS of them; returns the exit code. */
int bench_heaps(const int *size, int n, const bench_settings *settings, sni_json *json,
                bench_growth *growth);

#endif
