/* Tables from CSV files, and what is wrong with other files. */
#include "test.h"

#include "base/csv.h"

#include <unistd.h>

#define PATH "test_csv.csv"

static void write_bytes(const char *bytes, size_t size) {
  unlink(PATH); /* some file systems take their time over a file that is written again */
  FILE *file = fopen(PATH, "wb");
  CHECK(file, "cannot write %s", PATH);
  fwrite(bytes, 1, size, file);
  fclose(file);
}

static sni_csv *read_text(const char *text) {
  sni_csv *csv = NULL;
  sn_error err;
  write_bytes(text, strlen(text));
  const sn_status status = sni_csv_read(PATH, &csv, &err);
  unlink(PATH);
  CHECK(status == SN_OK, "%s", err.text);
  return csv;
}

TEST(tables) {
  /* the same table in five hands */
  const char *const texts[] = {
      "t,hip.q,knee.q\n0,1,-2.5\n0.5,1e3,.25\n",
      "t,hip.q,knee.q\r\n0,1,-2.5\r\n0.5,1e3,.25\r\n",
      "\xef\xbb\xbft,hip.q,knee.q\n0,1,-2.5\n0.5,1e3,.25",
      "# by hand\n\n  t , \"hip.q\",\tknee.q  \n \n 0 , 1 ,-2.5\n#0,0\n\r\n+0.5, 1E+3, 2.5e-1\n\n",
      "\"t\",\"hip.q\",\"knee.q\"\n0,1,-2.5\n0.5,1000.000,0.25\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    sni_csv *csv = read_text(texts[i]);
    CHECK(csv->ncol == 3 && csv->nrow == 2, "%zu: %d columns, %d rows", i, csv->ncol, csv->nrow);
    CHECK(sni_csv_find(csv, "t") == 0 && sni_csv_find(csv, "hip.q") == 1 &&
              sni_csv_find(csv, "knee.q") == 2 && sni_csv_find(csv, "hip") == -1,
          "%zu: names", i);
    const double want[3][2] = {{0, 0.5}, {1, 1000}, {-2.5, 0.25}};
    for (int c = 0; c < 3; c++) {
      CHECK(csv->column[c][0] == want[c][0] && csv->column[c][1] == want[c][1], "%zu: column %d", i,
            c);
    }
    CHECK(strcmp(csv->path, PATH) == 0, "path %s", csv->path);
    CHECK(csv->line[0] == (i == 3 ? 5 : 2) && csv->line[1] == (i == 3 ? 8 : 3), "%zu: lines", i);
    sni_csv_free(&csv);
    CHECK(csv == NULL, "free sets NULL");
  }
}

static void check_refused(const char *bytes, size_t size, sn_status code, const char *message) {
  sni_csv *csv = NULL;
  sn_error err;
  write_bytes(bytes, size);
  const sn_status status = sni_csv_read(PATH, &csv, &err);
  unlink(PATH);
  CHECK(status == code && csv == NULL, "status %d, not %d, for \"%s\"", status, code, message);
  CHECK(strcmp(err.text, message) == 0, "\"%s\", not \"%s\"", err.text, message);
}

TEST(messages) {
  const struct {
    const char *text;
    int code;
    const char *message;
  } rows[] = {
      {"", SN_E_SYNTAX, "test_csv.csv: empty, needs a header line with column names"},
      {"\n# nothing\n\n", SN_E_SYNTAX,
       "test_csv.csv: empty, needs a header line with column names"},
      {"t,a\n", SN_E_VALUE, "test_csv.csv: no rows of numbers below the header"},
      {"t,hip.q\n0,1\n\n# x\n0.5,2\n1,3\n2,abc\n", SN_E_VALUE,
       "test_csv.csv line 7, column 'hip.q': 'abc' is not a number"},
      {"t,a\n0,nan\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': 'nan' is not a number"},
      {"t,a\n0,-inf\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': '-inf' is not a number"},
      {"t,a\n0,1e999\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': '1e999' is too large"},
      {"t,a\n0,1 2\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': '1 2' is not a number"},
      {"t,a\n0,0x10\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': '0x10' is not a number"},
      {"t,a\n0,\"1\"\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': '\"1\"' is not a number"},
      {"t,a\n0,\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': empty, needs a number"},
      {"t,a\n0,a\x01z\n", SN_E_VALUE, "test_csv.csv line 2, column 'a': 'a?z' is not a number"},
      {"t,a\n0,aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee\n", SN_E_VALUE,
       "test_csv.csv line 2, column 'a': 'aaaaaaaaaabbbbbbbbbbccccccccccddddddd...' is not a "
       "number"},
      {"t,a\n0,1\n2\n", SN_E_VALUE, "test_csv.csv line 3: 1 cell, the header has 2"},
      {"t,a\n0,1,2\n", SN_E_VALUE, "test_csv.csv line 2: 3 cells, the header has 2"},
      {"t,a,\n0,1\n", SN_E_VALUE, "test_csv.csv line 2: 2 cells, the header has 3"},
      {"t,a,\n0,1,2\n", SN_E_VALUE, "test_csv.csv line 1: column 3 has no name"},
      {"t,\"\"\n0,1\n", SN_E_VALUE, "test_csv.csv line 1: column 2 has no name"},
      {"0, 1\n2, 3\n", SN_E_VALUE,
       "test_csv.csv line 1: a row of numbers, needs the names of the columns first"},
      {"t,b,a,b\n0,1,2,3\n", SN_E_VALUE, "test_csv.csv line 1: two columns are named 'b'"},
      {"t;a\n0;1\n", SN_E_SYNTAX,
       "test_csv.csv line 1: 't;a' is no column name; names are separated by commas"},
      {"t\ta\n0\n", SN_E_SYNTAX,
       "test_csv.csv line 1: 't?a' is no column name; names are separated by commas"},
      {"t,\"a\n0,1\n", SN_E_SYNTAX,
       "test_csv.csv line 1: '\"a' is no column name; names are separated by commas"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    check_refused(rows[i].text, strlen(rows[i].text), (sn_status)rows[i].code, rows[i].message);
  }
  check_refused("t,a\n0,1\0\n", 9, SN_E_SYNTAX,
                "test_csv.csv: contains zero bytes, is not a text file");
}

TEST(files_that_are_none) {
  sni_csv *csv = NULL;
  sn_error err;
  CHECK(sni_csv_read("no-such-file.csv", &csv, &err) == SN_E_FILE, "missing");
  CHECK(strcmp(err.text, "no-such-file.csv: No such file or directory") == 0, "%s", err.text);
  CHECK(sni_csv_read(".", &csv, &err) == SN_E_FILE, "directory");
  CHECK(strcmp(err.text, ".: Is a directory") == 0, "%s", err.text);
  CHECK(sni_csv_read("no-such-file.csv", &csv, NULL) == SN_E_FILE && csv == NULL, "without err");
}

TEST(limits) {
  /* 10,000 columns pass, one more does not */
  for (int n = SNI_CSV_COLUMNS_MAX; n <= SNI_CSV_COLUMNS_MAX + 1; n++) {
    FILE *file = fopen(PATH, "wb");
    for (int c = 0; c < n; c++) {
      fprintf(file, "%sc%d", c ? "," : "", c);
    }
    for (int c = 0; c < n; c++) {
      fprintf(file, "%s%d", c ? "," : "\n", c);
    }
    fclose(file);
    sni_csv *csv = NULL;
    sn_error err;
    const sn_status status = sni_csv_read(PATH, &csv, &err);
    if (n == SNI_CSV_COLUMNS_MAX) {
      CHECK(status == SN_OK && csv->ncol == n && csv->column[n - 1][0] == n - 1, "widest");
      sni_csv_free(&csv);
    } else {
      CHECK(status == SN_E_LIMIT, "status %d", status);
      CHECK(strcmp(err.text, "test_csv.csv line 1: 10001 columns, at most 10000") == 0, "%s",
            err.text);
    }
  }

  /* a file that is too large by its size alone (sparse: it costs no disk) */
  sni_csv *csv = NULL;
  sn_error err;
  FILE *file = fopen(PATH, "wb");
  fseek(file, SNI_CSV_BYTES_MAX, SEEK_SET);
  fputc('\n', file);
  fclose(file);
  CHECK(sni_csv_read(PATH, &csv, &err) == SN_E_LIMIT, "size");
  CHECK(strcmp(err.text, "test_csv.csv: more than 100000000 bytes") == 0, "%s", err.text);
  unlink(PATH);

  /* many short rows below a wide header are refused before memory is asked for */
  file = fopen(PATH, "wb");
  for (int c = 0; c < SNI_CSV_COLUMNS_MAX; c++) {
    fprintf(file, "%sc%d", c ? "," : "", c);
  }
  for (int r = 0; r < 1000000; r++) {
    fputs("\n1", file);
  }
  fclose(file);
  CHECK(sni_csv_read(PATH, &csv, &err) == SN_E_VALUE, "short rows");
  CHECK(strcmp(err.text, "test_csv.csv line 2: 1 cell, the header has 10000") == 0, "%s", err.text);
  unlink(PATH);
}

TEST(random_bytes) {
  static const char *const words[] = {"t", "a",    "b",   ",",    ",", "\n", "\n",
                                      "1", "-2.5", "1e5", " ",    "#", "\"", "\r\n",
                                      ";", "x",    ".",   "\xff", "\t"};
  uint64_t seed = 4;
  int good = 0;
  for (int i = 0; i < 5000; i++) {
    char text[400] = "";
    size_t n = (size_t)snprintf(text, sizeof text, "%s", i % 2 ? "t,a\n0,1\n" : "");
    for (uint64_t k = test_random_u64(&seed) % 30; k > 0; k--) {
      const char *word = words[test_random_u64(&seed) % (sizeof words / sizeof words[0])];
      n += (size_t)snprintf(text + n, sizeof text - n, "%s", word);
    }
    write_bytes(text, n);
    sni_csv *csv = NULL;
    sn_error err = {0};
    if (sni_csv_read(PATH, &csv, &err) == SN_OK) {
      good++;
      for (int c = 0; c < csv->ncol; c++) {
        for (int r = 0; r < csv->nrow; r++) {
          CHECK(isfinite(csv->column[c][r]), "not finite");
        }
      }
      sni_csv_free(&csv);
    } else {
      CHECK(csv == NULL && strncmp(err.text, PATH, strlen(PATH)) == 0, "%s", err.text);
    }
  }
  unlink(PATH);
  CHECK(good > 50, "only %d files were tables", good);
}

int main(void) {
  RUN_TESTS(T(tables), T(messages), T(files_that_are_none), T(limits), T(random_bytes));
}
