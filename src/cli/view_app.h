/* view_app.h: `sinew view`: a simulation, its file and its pages. */
#ifndef CLI_VIEW_APP_H
#define CLI_VIEW_APP_H

#include "cli/cli.h"
#include "cli/view_sim.h"

typedef struct view_settings {
  cli_scene_settings scene;
  view_overrides over;
  double port, speed; /* NaN: the usual ones */
  const char *panel;  /* file of a story beside the picture; NULL: none */
  bool open, paused, quiet;
} view_settings;

/* Until somebody ends it; file: NULL: the gallery, "-": standard input.  Returns the exit code. */
int view_app_run(const cli_command *self, const view_settings *s, const char *file);

#endif
