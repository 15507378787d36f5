/* view_watch.c: looks at files from time to time: by name, because many editors write another file
 * and give it the name of the old one. */
#define _POSIX_C_SOURCE 200809L
#include "cli/view_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/model.h"

/* Another one for another content, nearly always; 0: no file. */
static uint64_t mark_of(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) {
    return 0;
  }
  const int64_t part[] = {(int64_t)s.st_dev, (int64_t)s.st_ino, (int64_t)s.st_size,
                          (int64_t)s.st_mtim.tv_sec, (int64_t)s.st_mtim.tv_nsec};
  return sni_hash(SNI_HASH_SEED, part, sizeof part);
}

void view_watch_free(view_watch *w) {
  for (int k = 0; k < w->count; k++) {
    free(w->path[k]);
  }
  free(w->path);
  free(w->mark);
  *w = (view_watch){0};
}

bool view_watch_set(view_watch *w, const char *const *path, int count) {
  view_watch fresh = {.path = calloc((size_t)count + 1, sizeof *fresh.path),
                      .mark = calloc((size_t)count + 1, sizeof *fresh.mark)};
  bool good = fresh.path && fresh.mark;
  for (int k = 0; k < count && good; k++) {
    fresh.path[k] = strdup(path[k]);
    good = fresh.path[k] != NULL;
    fresh.count += good;
    fresh.mark[k] = mark_of(path[k]);
  }
  view_watch_free(w);
  if (good) {
    *w = fresh;
  } else {
    view_watch_free(&fresh);
  }
  return good;
}

bool view_watch_changed(view_watch *w) {
  bool changed = false;
  for (int k = 0; k < w->count; k++) {
    const uint64_t mark = mark_of(w->path[k]);
    /* a file that is away for a moment comes back */
    if (mark != 0 && mark != w->mark[k]) {
      w->mark[k] = mark;
      changed = true;
    }
  }
  return changed;
}
