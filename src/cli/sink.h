/* sink.h: where a run records: a table, a recording, or a recording that becomes something else
 * when the run is over.  The name of the file decides. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "cli/format.h"
#include "io/recorder.h"

#define CLI_SINK_PATH_MAX 4096

typedef struct cli_sink {
  bool open;
  const char *path;
  const cli_format *later; /* what becomes of the recording; NULL: it stays                  */
  char spool[CLI_SINK_PATH_MAX];
  bool frames;      /* a recording, not a table */
  sn_recorder *snr; /* NULL: a table, or closed  */
  sn_sim *sim;
  sni_recorder csv;
  int64_t rows; /* or frames */
  int columns;  /* or channels */
} cli_sink;

/* Writes to path: a recording if it ends in .snr or in the suffix of a format that is made of
 * one, else a table.  options: also of tables.  Problems of patterns come first, as SN_E_VALUE. */
sn_status cli_sink_open(cli_sink *s, sn_sim *sim, const sn_state *state, const char *path,
                        const sn_recorder_options *options, sn_error *err);
sn_status cli_sink_add(cli_sink *s, const sn_state *state, sn_error *err);
/* Also after a failure of the others, and again.  what: why the run failed, NULL: it did not.  If
 * the recording cannot be made into what it should be, it stays, and the message says where. */
sn_status cli_sink_close(cli_sink *s, sn_ending ending, double t, const sn_error *what,
                         sn_error *err);

#endif
