/* replay_recording.h: a recording told frame by frame. */
#ifndef CLI_REPLAY_RECORDING_H
#define CLI_REPLAY_RECORDING_H

#include "cli/cli.h"

/* Is this the name of a recording, and not of a bundle? */
bool cli_is_recording(const char *path);

/* What is in it, how the run ended and what it said; trace: also every frame, with its energy and
 * its fastest body.  Returns an exit code: CLI_STOPPED if the run had failed. */
int cli_replay_recording(const char *path, bool trace);

#endif
