/* csv_writer.c: tables of numbers to CSV files, with every digit. */
#include "io/csv_writer.h"

#include <errno.h>
#include <string.h>

static sn_status cannot_write(const sni_csv_writer *w, sn_error *err) {
  const int reason = errno;
  return sni_fail(err, SN_E_FILE, "cannot write '%s': %s", w->path,
                  reason ? strerror(reason) : "the output was closed");
}

sn_status sni_csv_writer_open(sni_csv_writer *w, const char *path, sn_error *err) {
  *w = (sni_csv_writer){.path = path};
  w->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
  return w->file ? SN_OK : cannot_write(w, err);
}

/* Names are made of letters, digits and _-/. and so need no quotes. */
void sni_csv_writer_name(sni_csv_writer *w, const char *name) {
  fprintf(w->file, "%s%s", w->columns > 0 ? "," : "", name);
  w->columns++;
}

sn_status sni_csv_writer_row(sni_csv_writer *w, const double *value, sn_error *err) {
  errno = 0;
  for (int k = 0; k < w->columns; k++) {
    fprintf(w->file, "%c%.17g", k > 0 ? ',' : '\n', value[k]);
  }
  w->rows++;
  return ferror(w->file) ? cannot_write(w, err) : SN_OK;
}

sn_status sni_csv_writer_close(sni_csv_writer *w, sn_error *err) {
  if (!w->file) {
    return SN_OK;
  }
  errno = 0;
  bool good = fputc('\n', w->file) != EOF && !ferror(w->file);
  good = (w->file == stdout ? fflush(stdout) : fclose(w->file)) == 0 && good;
  w->file = NULL;
  return good ? SN_OK : cannot_write(w, err);
}
