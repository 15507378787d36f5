/* recorder.h: chosen channels of a sim, row by row into a CSV file. */
#ifndef SNI_RECORDER_H
#define SNI_RECORDER_H

#include "io/choice.h"
#include "io/csv_writer.h"

typedef struct sni_recorder {
  sni_csv_writer csv;
  sni_choice choice;
} sni_recorder;

/* pattern: see sni_choice_make.  Patterns are looked at before the file is touched. */
sn_status sni_recorder_open(sni_recorder *r, const sn_sim *sim, const char *path,
                            const char *const *pattern, int npattern, sn_error *err);
/* A number that is not finite is an error, and its row is left out. */
sn_status sni_recorder_add(sni_recorder *r, sn_sim *sim, const sn_state *state,
                           const sn_input *input, sn_error *err);
/* Also after a failure of the others; keeps csv.rows and csv.columns. */
sn_status sni_recorder_close(sni_recorder *r, sn_error *err);

#endif
