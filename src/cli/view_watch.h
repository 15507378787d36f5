/* view_watch.h: has one of these files been saved? */
#ifndef CLI_VIEW_WATCH_H
#define CLI_VIEW_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Begins as {0}. */
typedef struct view_watch {
  char **path;
  uint64_t *mark; /* of the file as it was seen last */
  int count;
} view_watch;

/* The files as they are now.  False: out of memory, and none is watched. */
bool view_watch_set(view_watch *w, const char *const *path, int count);
/* True: another one than before, and seen as such from now on. */
bool view_watch_changed(view_watch *w);
void view_watch_free(view_watch *w);

#endif
