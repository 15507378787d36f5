#include "model/names.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
  const sni_name *x = a, *y = b;
  const int order = strcmp(x->name, y->name);
  return order ? order : x->place - y->place;
}

void sni_names_sort(sni_name *list, int n) {
  if (n > 0) {
    qsort(list, (size_t)n, sizeof *list, by_name);
  }
}

int sni_names_find(const sni_name *list, int n, const char *name) {
  int lo = 0, hi = n;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    if (strcmp(list[mid].name, name) < 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < n && strcmp(list[lo].name, name) == 0 ? list[lo].place : -1;
}
