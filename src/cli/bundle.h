/* bundle.h: what a failed run leaves behind, so that its last step can be repeated.
 *
 * A folder NAME.failed with
 *
 *     bundle.json    version, options, changes by --set, the error
 *     before.state   the state before the bad step
 *     earlier.state  a state 100 to 200 steps before that, or the first
 *     scene/         the scene and every file that it names, as they were given
 *
 * A folder that is there already stays as it is: the next one is NAME.failed-2. */
#ifndef CLI_BUNDLE_H
#define CLI_BUNDLE_H

#include <time.h>

#include "cli/cli.h"

/* A step that failed. */
typedef struct cli_failure {
  const char *file; /* of the scene; "-": standard input                     */
  const char *text; /* what came from there                                  */
  size_t text_size;
  const cli_scene_settings *settings;
  const sn_run_def *run;            /* with the changes of the command line                  */
  double step;                      /* of the bad step                                       */
  const sn_state *before, *earlier; /* earlier: NULL: none */
  bool in_recording;                /* the state is good, but what was recorded of it is not */
  const sn_error *err;
  const char *name;      /* asked for by the user; NULL: after `out` or `file`    */
  const char *out;       /* recording; NULL or "-": none                          */
  struct timespec start; /* of the run: what changed since is not what was read   */
} cli_failure;

#define CLI_BUNDLE_PATH_MAX 4096

/* Writes it; path (CLI_BUNDLE_PATH_MAX characters) is where.  A bundle that could not be written to
 * its end has no bundle.json. */
sn_status cli_bundle_write(const cli_failure *failure, char *path, sn_error *err);

/* What is in one.  Begins as {0}. */
typedef struct cli_bundle {
  char *folder, *scene, *before, *earlier; /* paths */
  char *method, *integrator; /* integrator: NULL: the method has none                       */
  char *version, *error;     /* the error as it was printed                                 */
  char **set;
  int nset;
  bool allow_outside, in_recording;
  double step;
} cli_bundle;

sn_status cli_bundle_read(const char *folder, cli_bundle *b, sn_error *err);
void cli_bundle_free(cli_bundle *b);

#endif
