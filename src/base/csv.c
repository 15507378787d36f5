/* csv.c: tables of numbers from CSV files.
 *
 * The whole file is read, its rows are counted, and then the numbers go straight into their
 * columns. */
#include "base/csv.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text_file {
  const char *path;
  char *text; /* ends with a 0 */
  size_t size, capacity;
} text_file;

#define READ_AHEAD 65536

/* The bytes [start, end) of one cell or line, without the blanks around them. */
typedef struct span {
  const char *start, *end;
} span;

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static span trim(span s) {
  while (s.start < s.end && is_blank(*s.start)) {
    s.start++;
  }
  while (s.end > s.start && is_blank(s.end[-1])) {
    s.end--;
  }
  return s;
}

static int span_size(span s) {
  return (int)(s.end - s.start);
}

/* A cell fit for a message: short and printable. */
typedef struct shown_text {
  char text[48];
} shown_text;

static shown_text show(span s) {
  shown_text t;
  const bool whole = span_size(s) <= 40;
  const int n = whole ? span_size(s) : 37;
  for (int i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)s.start[i];
    t.text[i] = c >= 0x20 && c != 0x7f ? s.start[i] : '?';
  }
  snprintf(t.text + n, sizeof t.text - (size_t)n, "%s", whole ? "" : "...");
  return t;
}

/* ---- The file */

static sn_status read_stream(FILE *stream, text_file *file, sn_error *err) {
  for (;;) {
    if (file->size + 1 == file->capacity) { /* keeps one byte for the 0 */
      char *text = realloc(file->text, 2 * file->capacity);
      if (!text) {
        return sni_fail(err, SN_E_MEMORY, "%s: out of memory", file->path);
      }
      file->text = text;
      file->capacity *= 2;
    }
    const size_t room = file->capacity - file->size - 1;
    const size_t count = fread(file->text + file->size, 1, room, stream);
    file->size += count;
    if (file->size > SNI_CSV_BYTES_MAX) {
      return sni_fail(err, SN_E_LIMIT, "%s: more than %d bytes", file->path, SNI_CSV_BYTES_MAX);
    }
    if (count == 0) {
      break;
    }
  }
  if (ferror(stream)) {
    return sni_fail(err, SN_E_FILE, "%s: %s", file->path, strerror(errno));
  }
  file->text[file->size] = '\0';
  return SN_OK;
}

static sn_status read_file(text_file *file, sn_error *err) {
  FILE *stream = fopen(file->path, "rb");
  if (!stream) {
    return sni_fail(err, SN_E_FILE, "%s: %s", file->path, strerror(errno));
  }
  const sn_status status = read_stream(stream, file, err);
  fclose(stream);
  return status;
}

/* ---- Lines */

typedef struct line_reader {
  const char *next, *end;
  int number; /* of the line last read */
} line_reader;

/* The next line that is neither blank nor a comment. */
static bool next_line(line_reader *reader, span *line) {
  while (reader->next < reader->end) {
    const char *end = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
    const span whole = {reader->next, end ? end : reader->end};
    reader->next = end ? end + 1 : reader->end;
    reader->number++;
    *line = trim(whole);
    if (line->start < line->end && *line->start != '#') {
      return true;
    }
  }
  return false;
}

/* Takes the cell at the start of line off; false after the last one. */
static bool next_cell(span *line, span *cell) {
  if (!line->start) {
    return false;
  }
  const char *comma = memchr(line->start, ',', (size_t)(line->end - line->start));
  *cell = trim((span){line->start, comma ? comma : line->end});
  line->start = comma ? comma + 1 : NULL;
  return true;
}

static int count_cells(span line) {
  int count = 0;
  for (span cell; next_cell(&line, &cell);) {
    count++;
  }
  return count;
}

/* ---- Header */

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* sorted: room for ncol pointers */
static sn_status check_duplicates(const sni_csv *csv, int line, const char **sorted,
                                  sn_error *err) {
  memcpy(sorted, csv->name, (size_t)csv->ncol * sizeof *sorted);
  qsort(sorted, (size_t)csv->ncol, sizeof *sorted, compare_names);
  for (int c = 1; c < csv->ncol; c++) {
    if (strcmp(sorted[c], sorted[c - 1]) == 0) {
      return sni_fail(err, SN_E_VALUE, "%s line %d: two columns are named '%s'", csv->path, line,
                      sorted[c]);
    }
  }
  return SN_OK;
}

static bool is_numbers(span line) {
  bool numbers = true;
  double number;
  for (span cell; next_cell(&line, &cell);) {
    numbers = numbers && cell.start < cell.end && sni_number_read(cell.start, &number) == cell.end;
  }
  return numbers;
}

/* Columns of a grid are named by their numbers, in NUMBER_BYTES each. */
enum { NUMBER_BYTES = 12 };

static void number_columns(sni_csv *csv, char *text) {
  for (int c = 0; c < csv->ncol; c++, text += NUMBER_BYTES) {
    snprintf(text, NUMBER_BYTES, "%d", c + 1);
    csv->name[c] = text;
  }
}

/* Copies the names behind one another into text, which has room for the line and ncol zeros. */
static sn_status read_names(sni_csv *csv, int line_number, span line, char *text, sn_error *err) {
  span cell;
  for (int c = 0; next_cell(&line, &cell); c++) {
    const bool quoted = span_size(cell) >= 2 && *cell.start == '"' && cell.end[-1] == '"';
    cell = quoted ? (span){cell.start + 1, cell.end - 1} : cell;
    if (cell.start == cell.end) {
      return sni_fail(err, SN_E_VALUE, "%s line %d: column %d has no name", csv->path, line_number,
                      c + 1);
    }
    for (const char *s = cell.start; s < cell.end; s++) {
      if ((unsigned char)*s < 0x20 || strchr("\";", *s)) {
        return sni_fail(err, SN_E_SYNTAX,
                        "%s line %d: '%s' is no column name; names are separated by commas",
                        csv->path, line_number, show(cell).text);
      }
    }
    csv->name[c] = text;
    memcpy(text, cell.start, (size_t)span_size(cell));
    text += span_size(cell);
    *text++ = '\0';
  }
  return SN_OK;
}

/* ---- Rows */

/* Every row has to have as many cells as the header, or the table could be larger than the file. */
static sn_status count_rows(const char *path, line_reader reader, int ncol, int *nrow,
                            sn_error *err) {
  *nrow = 0;
  for (span line; next_line(&reader, &line); ++*nrow) {
    const int count = count_cells(line);
    if (count != ncol) {
      return sni_fail(err, SN_E_VALUE, "%s line %d: %d cell%s, the header has %d", path,
                      reader.number, count, count == 1 ? "" : "s", ncol);
    }
  }
  if (*nrow == 0) {
    return sni_fail(err, SN_E_VALUE, "%s: no rows of numbers below the header", path);
  }
  return SN_OK;
}

static sn_status read_number(const sni_csv *csv, int line, int c, span cell, double *out,
                             sn_error *err) {
  const char *end = cell.start;
  if (cell.start < cell.end) {
    end = sni_number_read(cell.start, out);
  }
  if (end == cell.end && end != cell.start && isfinite(*out)) {
    return SN_OK;
  }
  const char *what = end == cell.end ? "is too large" : "is not a number";
  if (cell.start == cell.end) {
    return sni_fail(err, SN_E_VALUE, "%s line %d, column '%s': empty, needs a number", csv->path,
                    line, csv->name[c]);
  }
  return sni_fail(err, SN_E_VALUE, "%s line %d, column '%s': '%s' %s", csv->path, line,
                  csv->name[c], show(cell).text, what);
}

static sn_status read_rows(const sni_csv *csv, line_reader reader, double *data, int *line_of,
                           sn_error *err) {
  span line, cell;
  for (int r = 0; next_line(&reader, &line); r++) {
    line_of[r] = reader.number;
    for (int c = 0; next_cell(&line, &cell); c++) {
      double *out = data + (size_t)c * (size_t)csv->nrow + r;
      const sn_status status = read_number(csv, reader.number, c, cell, out, err);
      if (status != SN_OK) {
        return status;
      }
    }
  }
  return SN_OK;
}

/* ---- The whole table */

/* One block: the struct, pointers, numbers, lines, names, path. */
static sni_csv *allocate(const char *path, int ncol, int nrow, size_t name_bytes, double **data,
                         int **line, char **names) {
  const size_t cells = (size_t)ncol * (size_t)nrow;
  const size_t path_bytes = strlen(path) + 1;
  sni_csv *csv = malloc(sizeof *csv + 2 * (size_t)ncol * sizeof(char *) + cells * sizeof(double) +
                        (size_t)nrow * sizeof(int) + name_bytes + path_bytes);
  if (!csv) {
    return NULL;
  }
  csv->ncol = ncol;
  csv->nrow = nrow;
  csv->name = (const char **)(csv + 1);
  csv->column = (const double **)(csv->name + ncol);
  *data = (double *)(csv->column + ncol);
  for (int c = 0; c < ncol; c++) {
    csv->column[c] = *data + (size_t)c * (size_t)nrow;
  }
  *line = (void *)(*data + cells);
  csv->line = *line;
  *names = (char *)(*line + nrow);
  csv->path = memcpy(*names + name_bytes, path, path_bytes);
  return csv;
}

static sn_status fill(sni_csv *csv, line_reader reader, int header_line, span header, double *data,
                      int *line, char *names, sn_error *err) {
  sn_status status = read_names(csv, header_line, header, names, err);
  if (status != SN_OK) {
    return status;
  }
  const char **sorted = malloc((size_t)csv->ncol * sizeof *sorted);
  if (!sorted) {
    return sni_fail(err, SN_E_MEMORY, "%s: out of memory", csv->path);
  }
  status = check_duplicates(csv, header_line, sorted, err);
  free(sorted);
  return status == SN_OK ? read_rows(csv, reader, data, line, err) : status;
}

static sn_status parse(const text_file *file, bool grid, sni_csv **out, sn_error *err) {
  if (memchr(file->text, '\0', file->size)) {
    return sni_fail(err, SN_E_SYNTAX, "%s: contains zero bytes, is not a text file", file->path);
  }
  line_reader reader = {file->text, file->text + file->size, 0};
  if (strncmp(file->text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
    reader.next += 3;
  }
  const line_reader start = reader;
  span header;
  if (!next_line(&reader, &header)) {
    return sni_fail(err, SN_E_SYNTAX, "%s: empty, needs %s", file->path,
                    grid ? "rows of numbers" : "a header line with column names");
  }
  const int header_line = reader.number;
  const int ncol = count_cells(header);
  if (ncol > SNI_CSV_COLUMNS_MAX) {
    return sni_fail(err, SN_E_LIMIT, "%s line %d: %d columns, at most %d", file->path, header_line,
                    ncol, SNI_CSV_COLUMNS_MAX);
  }
  const bool numbers = is_numbers(header), bare = grid && numbers;
  if (numbers && !grid) { /* a header that was forgotten: its numbers would be names */
    return sni_fail(err, SN_E_VALUE,
                    "%s line %d: a row of numbers, needs the names of the columns first",
                    file->path, header_line);
  }
  reader = bare ? start : reader;
  int nrow;
  sn_status status = count_rows(file->path, reader, ncol, &nrow, err);
  if (status != SN_OK) {
    return status;
  }
  double *data;
  int *line_of;
  char *names;
  const size_t name_bytes =
      bare ? NUMBER_BYTES * (size_t)ncol : (size_t)span_size(header) + (size_t)ncol;
  sni_csv *csv = allocate(file->path, ncol, nrow, name_bytes, &data, &line_of, &names);
  if (!csv) {
    return sni_fail(err, SN_E_MEMORY, "%s: out of memory for %d rows of %d columns", file->path,
                    nrow, ncol);
  }
  if (bare) {
    number_columns(csv, names);
    status = read_rows(csv, reader, data, line_of, err);
  } else {
    status = fill(csv, reader, header_line, header, data, line_of, names, err);
  }
  if (status != SN_OK) {
    sni_csv_free(&csv);
    return status;
  }
  *out = csv;
  return SN_OK;
}

static sn_status read_table(const char *path, bool grid, sni_csv **out, sn_error *err) {
  text_file file = {.path = path, .text = malloc(READ_AHEAD), .capacity = READ_AHEAD};
  if (!file.text) {
    return sni_fail(err, SN_E_MEMORY, "%s: out of memory", path);
  }
  sn_status status = read_file(&file, err);
  if (status == SN_OK) {
    status = parse(&file, grid, out, err);
  }
  free(file.text);
  return status;
}

sn_status sni_csv_read(const char *path, sni_csv **out, sn_error *err) {
  return read_table(path, false, out, err);
}

sn_status sni_csv_read_grid(const char *path, sni_csv **out, sn_error *err) {
  return read_table(path, true, out, err);
}

void sni_csv_free(sni_csv **csv) {
  free(*csv);
  *csv = NULL;
}

int sni_csv_find(const sni_csv *csv, const char *name) {
  for (int c = 0; c < csv->ncol; c++) {
    if (strcmp(csv->name[c], name) == 0) {
      return c;
    }
  }
  return -1;
}
