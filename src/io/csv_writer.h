/* csv_writer.h: tables of numbers to CSV files, with every digit.
 *
 *     sni_csv_writer w;
 *     sni_csv_writer_open(&w, "motion.csv", err);
 *     sni_csv_writer_name(&w, "t"); ...                   the header, column by column
 *     sni_csv_writer_row(&w, values, err); ...            as many numbers as names
 *     sni_csv_writer_close(&w, err);
 *
 * What has been written is a valid file after each row that was closed, whatever happens next. */
#ifndef SNI_CSV_WRITER_H
#define SNI_CSV_WRITER_H

#include <stdio.h>

#include "base/error.h"

typedef struct sni_csv_writer {
  FILE *file; /* NULL: not open */
  const char *path;
  int columns;
  int64_t rows;
} sni_csv_writer;

/* path: must live as long as the writer; "-": standard output. */
sn_status sni_csv_writer_open(sni_csv_writer *w, const char *path, sn_error *err);
void sni_csv_writer_name(sni_csv_writer *w, const char *name);
sn_status sni_csv_writer_row(sni_csv_writer *w, const double *value, sn_error *err);

/* Failing here means that the last rows may not have reached the disk. */
sn_status sni_csv_writer_close(sni_csv_writer *w, sn_error *err);

#endif
