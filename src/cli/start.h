/* start.h: what a run does before its first step, tried out. */
#ifndef CLI_START_H
#define CLI_START_H

#include "base/error.h"
#include "cli/freedom.h"
#include "sinew/scene.h"

enum { CLI_MOVED_MAX = 400 };

typedef struct cli_start {
  sni_error_list errors, warnings;
  cli_freedom freedom;
  sn_state *state; /* assembled; NULL: there is none                                       */
  char moved[CLI_MOVED_MAX]; /* where the start is not as it was written, since constraints want it
                              * elsewhere
                              */
} cli_start;

/* Assembles the start of a valid scene, evaluates its accelerations and looks for the channels that
 * it wants to record: with its own method, or with one that this version has.  file: stands in the
 * messages. */
void cli_start_try(const sn_scene *scene, const char *file, cli_start *s);
/* "'pin' was open by 0.1: arm.q is 0.317 instead of 0, and 2 more differ", of a start that was put
 * together.  0: nothing has moved, 1: something has, 2: so that it can be seen.  The coordinates of
 * loops that the sim has at hand are used up. */
int cli_start_moved(sn_sim *sim, const sn_state *as_given, sn_state *state, char *out,
                    size_t out_size);
void cli_start_free(cli_start *s);

#endif
