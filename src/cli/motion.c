/* motion.c: a recorded motion of a mechanism, from a CSV file.
 *
 * Coordinates of a rotation without an axis are changed now and then, away from their singularity:
 * the numbers jump and the body does not.  Splines run from jump to jump. */
#include "cli/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- derivatives ---- */

/* Do the coordinates of a joint jump between two rows?  They do if they move much farther than the
 * body: a change of a rotation vector is 2 pi long, and a spring on the group does not feel it. */
static bool jumps(const cli_motion *motion, const sn_model *m, int body, int row) {
  const int first = sn_model_joint_first(m, body), n = sn_model_joint_dofs(m, body);
  if (!sni_joint_ops_of(sni_tree_joints(&m->tree), body)->reparam) {
    return false;
  }
  double a[SN_NV_MAX], b[SN_NV_MAX], one[SN_NV_MAX], tau[SN_NV_MAX] = {0}, square = 0;
  const double zero[SN_NV_MAX] = {0};
  for (int c = 0; c < n; c++) {
    a[c] = motion->q[first + c][row];
    b[c] = motion->q[first + c][row + 1];
    one[c] = 1;
    square += (b[c] - a[c]) * (b[c] - a[c]);
  }
  const sni_spring spring = {
      .q = a, .qd = zero, .q_to = b, .qd_to = zero, .stiffness = one, .damping = zero};
  const double moved = 2 * sni_joint_spring(sni_tree_joints(&m->tree), body, &spring, tau);
  return square - moved > 2 * SN_PI * SN_PI;
}

/* Derivatives of a column on the rows [begin, end): order 1 or 2. */
static sn_status differentiate(const cli_motion *motion, const double *value, int begin, int end,
                               int order, double *out, sn_error *err) {
  const int n = end - begin;
  sni_function *f = NULL;
  const sn_function_def def = {.key_time = motion->t + begin,
                               .key_value = value + begin,
                               .nkey = n,
                               .interpolation = SN_INTERPOLATE_CUBIC};
  if (n < 2) {
    return sni_fail(err, SN_E_VALUE,
                    "%s line %d: a row alone does not show how fast it moves; give .qd and .qdd",
                    motion->csv->path, motion->csv->line[begin]);
  }
  const sn_status status = sni_function_build(&def, &f, err);
  for (int k = begin; status == SN_OK && k < end; k++) {
    double jet[3];
    /* the last row ends the last piece: behind it the function is constant */
    const int piece = k < end - 1 ? k : k - 1;
    sni_function_eval(f, motion->t[k], 0.5 * (motion->t[piece] + motion->t[piece + 1]), jet);
    out[k] = jet[order];
  }
  sni_function_free(&f);
  return status;
}

static sn_status derive_segment(cli_motion *motion, int coordinate, int begin, int end,
                                double *rate, double *acceleration, sn_error *err) {
  const double *q = motion->q[coordinate], *qd = motion->qd[coordinate];
  sn_status status = SN_OK;
  if (rate) {
    status = differentiate(motion, q, begin, end, 1, rate, err);
  }
  if (acceleration && status == SN_OK) {
    status = qd ? differentiate(motion, qd, begin, end, 1, acceleration, err)
                : differentiate(motion, q, begin, end, 2, acceleration, err);
  }
  return status;
}

/* Fills what is missing of a joint; *room is the next free column. */
static sn_status derive_joint(cli_motion *motion, const sn_model *m, int body, double **room,
                              sn_error *err) {
  const int first = sn_model_joint_first(m, body), n = sn_model_joint_dofs(m, body);
  double *rate[SN_NV_MAX] = {0}, *acceleration[SN_NV_MAX] = {0};
  if (n == 0 || !motion->q[first]) {
    return SN_OK;
  }
  bool complete = true;
  for (int c = 0; c < n; c++) {
    if (!motion->qd[first + c]) {
      rate[c] = *room;
      *room += motion->nrow;
    }
    if (!motion->qdd[first + c]) {
      acceleration[c] = *room;
      *room += motion->nrow;
    }
    complete = complete && !rate[c] && !acceleration[c];
  }
  sn_status status = SN_OK;
  for (int begin = 0; !complete && begin < motion->nrow && status == SN_OK;) {
    int end = begin + 1;
    while (end < motion->nrow && !jumps(motion, m, body, end - 1)) {
      end++;
    }
    for (int c = 0; c < n && status == SN_OK; c++) {
      status = derive_segment(motion, first + c, begin, end, rate[c], acceleration[c], err);
    }
    begin = end;
  }
  for (int c = 0; c < n; c++) {
    motion->qd[first + c] = rate[c] ? rate[c] : motion->qd[first + c];
    motion->qdd[first + c] = acceleration[c] ? acceleration[c] : motion->qdd[first + c];
  }
  return status;
}

/* ---- all of it ---- */

static sn_status allocate(cli_motion *motion, int nv, sn_error *err) {
  const size_t n = (size_t)nv + 1;
  motion->q = calloc(3 * n, sizeof *motion->q);
  motion->own = malloc(2 * n * (size_t)motion->nrow * sizeof *motion->own);
  if (!motion->q || !motion->own) {
    return sni_fail(err, SN_E_MEMORY, "no memory for %d rows of %d coordinates", motion->nrow, nv);
  }
  motion->qd = motion->q + n;
  motion->qdd = motion->qd + n;
  return SN_OK;
}

static sn_status read_times(cli_motion *motion, const char *path, sn_error *err) {
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
  double *room = motion->own;
  for (int i = 0; i < sn_model_body_count(m) && status == SN_OK && problems->count == 0; i++) {
    status = derive_joint(motion, m, i, &room, &err);
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

const char *cli_motion_stranger(const cli_motion *motion, const sn_model *m, int *column) {
  while (*column < motion->csv->ncol) {
    const char *name = motion->csv->name[(*column)++];
    const char *dot = strrchr(name, '.');
    char owner[256];
    if (!dot || dot[1] != 'q' || (size_t)(dot - name) >= sizeof owner ||
        strspn(dot + 2, "d") + strspn(dot + 2 + strspn(dot + 2, "d"), "0123456789") !=
            strlen(dot + 2)) {
      continue;
    }
    memcpy(owner, name, (size_t)(dot - name));
    owner[dot - name] = 0;
    if (sn_model_body_find(m, owner) < 0) {
      return name;
    }
  }
  return NULL;
}
