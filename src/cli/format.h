/* format.h: kinds of files that recordings are written to, by their suffix. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include "sinew/recording.h"

typedef struct cli_format {
  const char *suffix; /* ".glb" */
  const char *doc;
  /* SN_OK, or why this command cannot write it.  NULL: it always can. */
  sn_status (*possible)(sn_error *err);
  sn_status (*write)(sn_recording *r, const char *path, sn_error *err);
} cli_format;

const cli_format *cli_format_of(const char *path); /* NULL: its suffix is none of these */
const cli_format *cli_format_at(int k);            /* NULL past the end */

bool cli_has_suffix(const char *path, const char *suffix);

#endif
