/* progress.c: one line on the terminal that says how far a long run is; and the wall clock. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SILENT_SECONDS 1.0
#define EVERY_SECONDS  0.2

double cli_wall_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_progress cli_progress_begin(bool quiet) {
  const double now = cli_wall_seconds();
  return (cli_progress){
      .allowed = !quiet && isatty(STDERR_FILENO), .start = now, .next = now + SILENT_SECONDS};
}

bool cli_progress_due(const cli_progress *p) {
  return p->allowed && cli_wall_seconds() >= p->next;
}

void cli_progress_show(cli_progress *p, double done, const char *what) {
  const double now = cli_wall_seconds();
  const double left = done > 0 ? (now - p->start) * (1 - done) / done : 0;
  const long seconds = left < 360000 ? (long)(left + 0.5) : 360000;
  fprintf(stderr, "\r\033[K%3.0f %%  %s  ", 100 * done, what);
  if (seconds < 3600) {
    fprintf(stderr, "%ld:%02ld left", seconds / 60, seconds % 60);
  } else {
    fprintf(stderr, "%ld:%02ld:%02ld left", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
  fflush(stderr);
  p->shown = true;
  p->next = now + EVERY_SECONDS;
}

void cli_progress_end(cli_progress *p) {
  if (p->shown) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
  p->shown = false;
}
