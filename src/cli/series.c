/* series.c: numbers over time, from a table or a recording. */
#include "cli/series.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static bool is_recording(const char *path) {
  char start[4] = "";
  FILE *f = fopen(path, "rb");
  const bool good = f && fread(start, 1, 4, f) == 4 && memcmp(start, "SNR1", 4) == 0;
  if (f) {
    fclose(f);
  }
  return good;
}

sn_status cli_series_open(cli_series *s, const char *path, sn_error *err) {
  *s = (cli_series){.path = path};
  if (is_recording(path)) {
    const sn_status status = sn_recording_open(path, &s->snr, err);
    s->ncol = status ? 0 : sn_recording_channel_count(s->snr);
    s->nrow = status ? 0 : sn_recording_frame_count(s->snr);
    return status;
  }
  const sn_status status = sni_csv_read(path, &s->csv, err);
  s->ncol = status ? 0 : s->csv->ncol;
  s->nrow = status ? 0 : s->csv->nrow;
  return status;
}

void cli_series_close(cli_series *s) {
  sn_recording_free(&s->snr);
  sni_csv_free(&s->csv);
}

const char *cli_series_name(const cli_series *s, int column) {
  return s->snr ? sn_recording_channel_name(s->snr, column) : s->csv->name[column];
}

int cli_series_find(const cli_series *s, const char *name) {
  return s->snr ? sn_recording_channel_find(s->snr, name) : sni_csv_find(s->csv, name);
}

sn_status cli_series_row(cli_series *s, int64_t k, double *out, sn_error *err) {
  if (s->snr) {
    const sn_status status = sn_recording_read(s->snr, k, &s->frame, err);
    if (!status) {
      memcpy(out, s->frame.channel, (size_t)s->ncol * sizeof *out);
    }
    return status;
  }
  for (int c = 0; c < s->ncol; c++) {
    out[c] = s->csv->column[c][k];
  }
  return SN_OK;
}
