/* csv.h: tables of numbers from CSV files.
 *
 *     t, hip.q, knee.q        a header with names, plain or in double quotes
 *     # a comment             comments and blank lines anywhere
 *     0, 0.1, -0.5            rows of as many numbers as there are names
 *
 * Separated by commas; blanks around a cell do not count; lines end with LF or CRLF. */
#ifndef SNI_CSV_H
#define SNI_CSV_H

#include "base/error.h"

#define SNI_CSV_BYTES_MAX   100000000
#define SNI_CSV_COLUMNS_MAX 10000

typedef struct sni_csv { /* one block */
  int ncol, nrow;        /* at least 1 each                                */
  const char **name;     /* ncol, all different                            */
  const double **column; /* ncol columns of nrow finite numbers            */
  const int *line;       /* nrow  line of each row in the file, from 1     */
  const char *path;      /* as given                                       */
} sni_csv;

/* Messages name file, line and column: "motion.csv line 7, column 'hip.q': 'abc' is not a number".
 */
sn_status sni_csv_read(const char *path, sni_csv **out, sn_error *err);
/* Numbers in rows and columns, which need no names: the header may be missing. */
sn_status sni_csv_read_grid(const char *path, sni_csv **out, sn_error *err);
void sni_csv_free(sni_csv **csv);

int sni_csv_find(const sni_csv *csv, const char *name); /* -1: no such column */

#endif
