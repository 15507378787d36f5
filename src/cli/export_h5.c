/* export_h5.c: recordings as HDF5. */
#include "cli/export_h5.h"

#include "base/error.h"

#ifndef SINEW_HDF5

sn_status cli_export_h5_possible(sn_error *err) {
  return sni_fail(err, SN_E_UNSUPPORTED,
                  "this command was built without HDF5 (Debian: libhdf5-dev)");
}

sn_status cli_export_h5(sn_recording *r, const char *path, sn_error *err) {
  (void)r;
  (void)path;
  return cli_export_h5_possible(err);
}

#else

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sn_status cli_export_h5_possible(sn_error *err) {
  (void)err;
  return SN_OK;
}

/* A dataset of one row a frame. */
typedef struct table {
  hid_t data, type;
  hsize_t size[3]; /* frames, then the shape of a row */
  int rank;
} table;

/* A text as a type of its length. */
static hid_t text_type(size_t n) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, n > 0 ? n : 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static bool write_attribute(hid_t file, const char *name, const char *text) {
  const hid_t space = H5Screate(H5S_SCALAR), type = text_type(strlen(text));
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
  return good;
}

static bool write_names(hid_t file, const char *name, const sn_recording *r, int n,
                        const char *(*of)(const sn_recording *, int)) {
  const hsize_t size = (hsize_t)n;
  const char **list = malloc(((size_t)n + 1) * sizeof *list);
  const hid_t space = H5Screate_simple(1, &size, NULL), type = text_type(1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (int k = 0; list && k < n; k++) {
    list[k] = of(r, k);
  }
  const bool good = list && data >= 0 &&
                    (n == 0 || H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, list) >= 0);
  H5Dclose(data);
  H5Tclose(type);
  H5Sclose(space);
  free(list);
  return good;
}

static table make_table(hid_t file, const char *name, hid_t type, int64_t frames, int rank,
                        int columns) {
  table t = {.type = type, .size = {(hsize_t)frames, (hsize_t)columns, 7}, .rank = rank};
  const hid_t space = H5Screate_simple(rank, t.size, NULL);
  t.data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return t;
}

static bool write_row(const table *t, int64_t k, const void *values) {
  const hsize_t start[3] = {(hsize_t)k}, count[3] = {1, t->size[1], t->size[2]};
  if (t->rank > 1 && t->size[1] == 0) {
    return true;
  }
  const hid_t memory = H5Screate_simple(t->rank, count, NULL), space = H5Dget_space(t->data);
  const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                    H5Dwrite(t->data, t->type, memory, space, H5P_DEFAULT, values) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return good;
}

static sn_status write_frames(hid_t file, sn_recording *r, bool *good, sn_error *err) {
  enum { TIME, CHANNELS, POSES, TENSIONS, TABLES };
  const int64_t n = sn_recording_frame_count(r);
  table t[TABLES] = {
      make_table(file, "t", H5T_NATIVE_DOUBLE, n, 1, 0),
      make_table(file, "channels", H5T_NATIVE_DOUBLE, n, 2, sn_recording_channel_count(r)),
      make_table(file, "poses", H5T_NATIVE_FLOAT, n, 3, sn_recording_body_count(r)),
      make_table(file, "tensions", H5T_NATIVE_FLOAT, n, 2, sn_recording_line_count(r))};
  sn_status status = SN_OK;
  for (int64_t k = 0; *good && !status && k < n; k++) {
    sn_recorded f;
    status = sn_recording_read(r, k, &f, err);
    *good = status || (write_row(&t[TIME], k, &f.t) && write_row(&t[CHANNELS], k, f.channel) &&
                       write_row(&t[POSES], k, f.pose) && write_row(&t[TENSIONS], k, f.tension));
  }
  for (int k = 0; k < TABLES; k++) {
    *good = *good && t[k].data >= 0;
    H5Dclose(t[k].data);
  }
  return status;
}

sn_status cli_export_h5(sn_recording *r, const char *path, sn_error *err) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print to standard error */
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) {
    return sni_fail(err, SN_E_FILE, "cannot write '%s'", path);
  }
  bool good =
      write_attribute(file, "header", sn_recording_header(r)) &&
      write_names(file, "channel_names", r, sn_recording_channel_count(r),
                  sn_recording_channel_name) &&
      write_names(file, "body_names", r, sn_recording_body_count(r), sn_recording_body_name) &&
      write_names(file, "line_names", r, sn_recording_line_count(r), sn_recording_line_name);
  const sn_status status = write_frames(file, r, &good, err);
  good = H5Fclose(file) >= 0 && good;
  if (status || !good) {
    remove(path);
  }
  return status || good ? status : sni_fail(err, SN_E_FILE, "cannot write '%s'", path);
}

#endif
