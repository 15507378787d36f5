/* export_csv.c: the channels of a recording as CSV: the bytes that the run itself would have
 * written, since channels are stored with all their bits. */
#include <stdio.h>

#include "io/csv_writer.h"
#include "io/export.h"

sn_status sni_export_csv(sn_recording *r, const char *path, sn_error *err) {
  sni_csv_writer w;
  sn_status status = sni_csv_writer_open(&w, path, err);
  if (status) {
    return status;
  }
  for (int k = 0; k < sn_recording_channel_count(r); k++) {
    sni_csv_writer_name(&w, sn_recording_channel_name(r, k));
  }
  for (int64_t k = 0; !status && k < sn_recording_frame_count(r); k++) {
    sn_recorded frame;
    status = sn_recording_read(r, k, &frame, err);
    status = status ? status : sni_csv_writer_row(&w, frame.channel, err);
  }
  const bool to_file = w.file != stdout;
  const sn_status closed = sni_csv_writer_close(&w, status ? NULL : err);
  status = status ? status : closed;
  if (status && to_file) {
    remove(path);
  }
  return status;
}
