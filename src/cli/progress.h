/* progress.h: one line on the terminal that says how far a long run is; and the wall clock.
 *
 * Nothing is shown in the first second, with --quiet, or when standard error is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

double cli_wall_seconds(void); /* since some moment in the past */

typedef struct cli_progress {
  bool allowed, shown;
  double start, next; /* wall time: begun, and when to show again */
} cli_progress;

cli_progress cli_progress_begin(bool quiet);

/* Is it time to show something?  Cheap: to be asked after each step. */
bool cli_progress_due(const cli_progress *p);

/* done: 0 .. 1.  what: the middle of the line, such as "t = 3.2 of 10". */
void cli_progress_show(cli_progress *p, double done, const char *what);

/* Wipes the line away. */
void cli_progress_end(cli_progress *p);

#endif
