/* series.h: numbers over time, from a table (.csv) or a recording (.snr), row by row. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include "base/csv.h"
#include "sinew/recording.h"

typedef struct cli_series {
  const char *path;
  sni_csv *csv;      /* NULL: it is a recording */
  sn_recording *snr; /* NULL: it is a table     */
  int ncol;
  int64_t nrow;
  sn_recorded frame; /* of a recording: the row that was read last */
} cli_series;

/* What the file begins with decides.  Whatever it returns, cli_series_close must be called. */
sn_status cli_series_open(cli_series *s, const char *path, sn_error *err);
void cli_series_close(cli_series *s);

const char *cli_series_name(const cli_series *s, int column);
int cli_series_find(const cli_series *s, const char *name); /* -1: none */

/* Row k, ncol numbers. */
sn_status cli_series_row(cli_series *s, int64_t k, double *out, sn_error *err);

#endif
