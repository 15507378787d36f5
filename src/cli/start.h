/* start.h: what a run does before its first step, tried out. */
#ifndef CLI_START_H
#define CLI_START_H

#include "base/error.h"
#include "cli/freedom.h"
#include "sinew/scene.h"

typedef struct cli_start {
  sni_error_list errors, warnings;
  cli_freedom freedom;
  char moved[400]; /* where the start is not as it was written, since constraints want it elsewhere
                    */
} cli_start;

/* Assembles the start of a valid scene, evaluates its accelerations and looks for the channels that
 * it wants to record: with its own method, or with one that this version has.  file: stands in the
 * messages. */
void cli_start_try(const sn_scene *scene, const char *file, cli_start *s);
void cli_start_free(cli_start *s);

#endif
