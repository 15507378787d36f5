/* motion.c: a recorded motion of a mechanism, from a CSV file: its columns. */
#include "cli/motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/words.h"
#include "model/model.h"

void cli_coordinate_name(const sn_model *m, int body, int c, const char *what, char *out,
                         size_t size) {
  if (sn_model_joint_dofs(m, body) == 1) {
    snprintf(out, size, "%s.%s", sn_model_body_name(m, body), what);
  } else {
    snprintf(out, size, "%s.%s%d", sn_model_body_name(m, body), what, c);
  }
}

/* ---- columns ---- */

static const double *find_column(const sni_csv *csv, const sn_model *m, int body, int c,
                                 const char *what) {
  char name[320];
  cli_coordinate_name(m, body, c, what, name, sizeof name);
  const int k = sni_csv_find(csv, name);
  return k < 0 ? NULL : csv->column[k];
}

static void find_columns(cli_motion *motion, const sn_model *m, bool hold,
                         sni_error_list *problems) {
  for (int i = 0; i < sn_model_body_count(m); i++) {
    const int first = sn_model_joint_first(m, i), n = sn_model_joint_dofs(m, i);
    int given = 0;
    for (int c = 0; c < n; c++) {
      motion->q[first + c] = find_column(motion->csv, m, i, c, "q");
      motion->qd[first + c] = find_column(motion->csv, m, i, c, "qd");
      motion->qdd[first + c] = find_column(motion->csv, m, i, c, "qdd");
      given += motion->q[first + c] != NULL;
    }
    for (int c = 0; c < n && !(hold && given == 0); c++) {
      if (!motion->q[first + c]) {
        char name[320];
        cli_coordinate_name(m, i, c, "q", name, sizeof name);
        sni_error_list_addf(problems, SN_E_VALUE, NULL, "%s: no column '%.320s'%s",
                            motion->csv->path, name,
                            given ? "" : ": --hold would keep the joint where it is");
      }
    }
  }
}

static sn_status check_times(const cli_motion *motion, sn_error *err) {
  for (int r = 1; r < motion->nrow; r++) {
    if (!(motion->t[r] > motion->t[r - 1])) {
      return sni_fail(err, SN_E_VALUE,
                      "%s line %d, column 't': %.17g after %.17g, times need to increase",
                      motion->csv->path, motion->csv->line[r], motion->t[r], motion->t[r - 1]);
    }
  }
  return SN_OK;
}

sn_status cli_motion_alone(const cli_motion *motion, int row, sn_error *err) {
  return sni_fail(err, SN_E_VALUE,
                  "%s line %d: a row alone does not show how fast it moves; give .qd and .qdd",
                  motion->csv->path, motion->csv->line[row]);
}

/* ---- columns that nobody asks for ---- */

/* Is it NAME.q, NAME.qd1, ...?  Then the length of NAME, else -1. */
static int owner_length(const char *column) {
  const char *dot = strrchr(column, '.');
  if (!dot || dot[1] != 'q') {
    return -1;
  }
  const size_t d = strspn(dot + 2, "d"), digits = strspn(dot + 2 + d, "0123456789");
  return d + digits == strlen(dot + 2) ? (int)(dot - column) : -1;
}

/* The body that the column names; -1: none, or it is no coordinate of anything. */
static int owner_of(const sn_model *m, const char *column) {
  const int length = owner_length(column);
  char owner[256];
  if (length < 0 || (size_t)length >= sizeof owner) {
    return -1;
  }
  memcpy(owner, column, (size_t)length);
  owner[length] = 0;
  return sn_model_body_find(m, owner);
}

const char *cli_motion_stranger(const cli_motion *motion, const sn_model *m, int *column) {
  while (*column < motion->csv->ncol) {
    const char *name = motion->csv->name[(*column)++];
    if (owner_length(name) >= 0 && owner_of(m, name) < 0) {
      return name;
    }
  }
  return NULL;
}

/* No coordinate of its joint is in the file. */
static bool is_held(const cli_motion *motion, const sn_model *m, int body) {
  const int first = sn_model_joint_first(m, body), n = sn_model_joint_dofs(m, body);
  int given = 0;
  for (int c = 0; c < n; c++) {
    given += motion->q[first + c] != NULL;
  }
  return n > 0 && given == 0;
}

/* The joint that is held and that this column may have been meant for; -1: none. */
static int meant_for(const cli_motion *motion, const sn_model *m, const char *column) {
  const int length = owner_length(column), owner = owner_of(m, column);
  char word[256];
  if (length < 0 || (size_t)length >= sizeof word || owner >= 0) {
    return owner >= 0 && is_held(motion, m, owner) ? owner : -1;
  }
  memcpy(word, column, (size_t)length);
  word[length] = 0;
  sni_suggestion s = {.word = word};
  int nearest = -1;
  for (int i = 0; i < sn_model_body_count(m); i++) {
    const char *before = s.best;
    if (is_held(motion, m, i)) {
      sni_suggest(&s, sn_model_body_name(m, i));
      nearest = s.best != before ? i : nearest;
    }
  }
  return nearest;
}

/* With --hold a slip of the finger would hold a joint that should move. */
static void find_slips(const cli_motion *motion, const sn_model *m, sni_error_list *problems) {
  for (int k = 0; k < motion->csv->ncol; k++) {
    const int body = meant_for(motion, m, motion->csv->name[k]);
    if (body >= 0) {
      char name[320];
      cli_coordinate_name(m, body, 0, "q", name, sizeof name);
      sni_error_list_addf(problems, SN_E_VALUE, NULL,
                          "%s: column '%.200s' is not used, and there is no '%s': is that what it "
                          "should be called?",
                          motion->csv->path, motion->csv->name[k], name);
    }
  }
}

/* ---- all of it ---- */

static sn_status allocate(cli_motion *motion, int nv, sn_error *err) {
  const size_t n = (size_t)nv + 1;
  motion->q = calloc(3 * n, sizeof *motion->q);
  if (!motion->q) {
    return sni_fail(err, SN_E_MEMORY, "no memory for %d coordinates", nv);
  }
  motion->qd = motion->q + n;
  motion->qdd = motion->qd + n;
  return SN_OK;
}

static sn_status read_times(cli_motion *motion, const char *path, sn_error *err) {
  if (path[0] == 0) {
    return sni_fail(err, SN_E_FILE, "the name of the motion file is empty");
  }
  const sn_status status = sni_csv_read(path, &motion->csv, err);
  if (status != SN_OK) {
    return status;
  }
  const int time = sni_csv_find(motion->csv, "t");
  if (time < 0) {
    return sni_fail(err, SN_E_VALUE, "%s: no column 't'", path);
  }
  motion->t = motion->csv->column[time];
  motion->nrow = motion->csv->nrow;
  return check_times(motion, err);
}

void cli_motion_read(const char *path, const sn_model *m, bool hold, cli_motion *motion,
                     sni_error_list *problems) {
  sn_error err = {0};
  *motion = (cli_motion){0};
  sn_status status = read_times(motion, path, &err);
  status = status == SN_OK ? allocate(motion, sn_model_dof_count(m), &err) : status;
  if (status == SN_OK) {
    find_columns(motion, m, hold, problems);
  }
  if (status == SN_OK && hold) {
    find_slips(motion, m, problems);
  }
  if (status == SN_OK && problems->count == 0) {
    status = cli_motion_derive(motion, m, &err);
  }
  if (status != SN_OK) {
    sni_error_list_add(problems, &err);
  }
}

void cli_motion_free(cli_motion *motion) {
  sni_csv_free(&motion->csv);
  free(motion->q);
  free(motion->own);
  *motion = (cli_motion){0};
}
