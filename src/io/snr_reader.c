/* snr_reader.c: reads recordings.
 *
 * Opening hops over all records once, looks at their lengths and counts, and notes where the frames
 * are.  Nothing in the file is believed: lengths are held against limits and against one another,
 * and the first record that does not fit ends the recording, which is good up to there. */
#define _POSIX_C_SOURCE 200809L
#include "io/snr_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static sn_status fail_file(const sn_recording *r, sn_error *err) {
  return sni_fail(err, SN_E_FILE, "cannot read '%s': %s", r->path,
                  errno ? strerror(errno) : "it ends too early");
}

static sn_status no_memory(const sn_recording *r, sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "no memory for the recording '%s'", r->path);
}

static bool read_at(sn_recording *r, int64_t at, void *to, size_t size) {
  errno = 0;
  return fseeko(r->file, at, SEEK_SET) == 0 && fread(to, 1, size, r->file) == size;
}

/* Room for size bytes in the buffer, and a zero behind them. */
static bool reserve(sn_recording *r, size_t size) {
  if (size >= r->capacity) {
    char *grown = realloc(r->buffer, size + 1);
    if (!grown) {
      return false;
    }
    r->buffer = grown;
    r->capacity = size + 1;
  }
  r->buffer[size] = 0;
  return true;
}

static sn_status read_payload(sn_recording *r, int64_t at, size_t size, sn_error *err) {
  if (!reserve(r, size)) {
    return no_memory(r, err);
  }
  return read_at(r, at, r->buffer, size) ? SN_OK : fail_file(r, err);
}

/* ---- the header ---- */

static sn_status bad_header(const sn_recording *r, const char *what, sn_error *err) {
  return sni_fail(err, SN_E_SYNTAX, "'%s' has a damaged header: %s", r->path, what);
}

static bool is_list(const sni_node *node) {
  return node && node->kind == SNI_NODE_SEQUENCE && sni_node_count(node) <= SNI_SNR_COUNT_MAX;
}

static const char *text_of(const sni_node *node) {
  return node && node->kind == SNI_NODE_SCALAR ? node->text : NULL;
}

static bool count_of(const sni_node *node, int *out) {
  double x;
  if (!sni_node_number(node, &x) || !(x >= 0 && x <= SNI_SNR_COUNT_MAX) || x != floor(x)) {
    return false;
  }
  *out = (int)x;
  return true;
}

/* All names in one list. */
static sn_status take_names(sn_recording *r, sn_error *err) {
  const size_t n = (size_t)r->nbody + (size_t)r->nchannel + (size_t)r->nline;
  size_t k = 0;
  r->name = malloc((n + 1) * sizeof *r->name);
  r->mesh = calloc((size_t)r->nmesh + 1, sizeof *r->mesh);
  if (!r->name || !r->mesh) {
    return no_memory(r, err);
  }
  for (int i = 0; i < r->nbody; i++) {
    r->name[k++] = text_of(sni_node_get(sni_node_at(r->bodies, (size_t)i), "name"));
  }
  for (int i = 0; i < r->nchannel; i++) {
    r->name[k++] = text_of(sni_node_at(r->channels, (size_t)i));
  }
  for (int i = 0; i < r->nline; i++) {
    r->name[k++] = text_of(sni_node_get(sni_node_at(r->lines, (size_t)i), "name"));
  }
  for (size_t i = 0; i < n; i++) {
    if (!r->name[i]) {
      return bad_header(r, "something has no name", err);
    }
  }
  return SN_OK;
}

static sn_status take_header(sn_recording *r, sn_error *err) {
  const sni_node *root = sni_doc_root(r->doc);
  const char *format = text_of(sni_node_get(root, "format"));
  double version = 0;
  if (!format || strcmp(format, "sinew recording") != 0) {
    return bad_header(r, "it does not say that it is a recording", err);
  }
  if (!sni_node_number(sni_node_get(root, "version"), &version) || version != 1) {
    return sni_fail(err, SN_E_UNSUPPORTED, "'%s' has version %g of the format, needs 1", r->path,
                    version);
  }
  r->bodies = sni_node_get(root, "bodies");
  r->channels = sni_node_get(root, "channels");
  r->lines = sni_node_get(root, "lines");
  if (!is_list(r->bodies) || !is_list(r->channels) || !is_list(r->lines) ||
      !count_of(sni_node_get(root, "meshes"), &r->nmesh)) {
    return bad_header(r, "it lacks bodies, channels, lines or meshes", err);
  }
  r->nbody = (int)sni_node_count(r->bodies);
  r->nchannel = (int)sni_node_count(r->channels);
  r->nline = (int)sni_node_count(r->lines);
  if (r->nchannel < 1) {
    return bad_header(r, "it has no channels, needs t", err);
  }
  return take_names(r, err);
}

static sn_status read_json(sn_recording *r, int64_t at, size_t size, sni_doc **out, sn_error *err) {
  sni_doc_limits limits = sni_doc_limits_default();
  limits.file_size = SNI_SNR_RECORD_MAX;
  limits.nodes = 100u << 20;
  limits.memory = (size_t)16 << 30;
  const sn_status status = read_payload(r, at, size, err);
  return status ? status : sni_doc_read_text(r->buffer, size, r->path, &limits, out, err);
}

static sn_status read_header(sn_recording *r, const sni_snr_record *record, sn_error *err) {
  sn_status status = read_json(r, sizeof *record, record->size, &r->doc, err);
  if (status) {
    return status;
  }
  size_t n = record->size;
  while (n > 0 && r->buffer[n - 1] == ' ') {
    n--;
  }
  r->header = malloc(n + 1);
  if (!r->header) {
    return no_memory(r, err);
  }
  memcpy(r->header, r->buffer, n);
  r->header[n] = 0;
  return take_header(r, err);
}

/* ---- the records ---- */

static bool is_kind(const sni_snr_record *record, const char *kind) {
  return memcmp(record->kind, kind, 4) == 0;
}

static bool is_sound(const sni_snr_record *record) {
  for (int k = 0; k < 4; k++) {
    if (record->kind[k] < ' ' || record->kind[k] > '~') {
      return false;
    }
  }
  return record->size % 8 == 0 && record->size <= SNI_SNR_RECORD_MAX;
}

static bool add_frame(sn_recording *r, int64_t at) {
  if (r->nframe == r->frame_capacity) {
    const int64_t capacity = r->frame_capacity ? 2 * r->frame_capacity : 1024;
    int64_t *grown = realloc(r->frame, (size_t)capacity * sizeof *grown);
    if (!grown) {
      return false;
    }
    r->frame = grown;
    r->frame_capacity = capacity;
  }
  r->frame[r->nframe++] = at;
  return true;
}

/* A scan in progress. */
typedef struct scan {
  int64_t at, end; /* of the next record, and of the file */
  int meshes;      /* seen so far */
  double t;        /* of the last frame */
  sn_status status;
} scan;

/* Is this a frame as the header promises? */
static bool frame_fits(sn_recording *r, const scan *s, const sni_snr_record *record,
                       sni_snr_frame_head *h) {
  return s->meshes == r->nmesh && record->size >= sizeof *h &&
         read_at(r, s->at + 8, h, sizeof *h) && h->nbody == (uint32_t)r->nbody &&
         h->nchannel == (uint32_t)r->nchannel && h->nline == (uint32_t)r->nline &&
         sni_snr_frame_size(h) == record->size && isfinite(h->t);
}

static bool mesh_fits(sn_recording *r, const scan *s, const sni_snr_record *record) {
  sni_snr_mesh_head h;
  return s->meshes < r->nmesh && record->size >= sizeof h && read_at(r, s->at + 8, &h, sizeof h) &&
         h.which == (uint32_t)s->meshes && h.nvertex <= SNI_SNR_MESH_MAX &&
         h.ntriangle <= SNI_SNR_MESH_MAX && sni_snr_mesh_size(&h) == record->size;
}

static bool take_end(sn_recording *r, const scan *s, const sni_snr_record *record) {
  sni_snr_end end;
  if (record->size != sizeof end || !read_at(r, s->at + 8, &end, sizeof end) ||
      end.ending > SN_FAILED || end.frames != (uint64_t)r->nframe) {
    return false;
  }
  r->ending = (sn_ending)end.ending;
  r->complete = true;
  return true;
}

/* One record; false: it does not fit. */
static bool take_record(sn_recording *r, scan *s, const sni_snr_record *record) {
  if (is_kind(record, SNI_SNR_FRAM)) {
    sni_snr_frame_head h;
    if (!frame_fits(r, s, record, &h)) {
      return false;
    }
    s->status = add_frame(r, s->at + 8) ? SN_OK : SN_E_MEMORY;
    s->t = h.t;
  } else if (is_kind(record, SNI_SNR_MESH)) {
    if (!mesh_fits(r, s, record)) {
      return false;
    }
    r->mesh[s->meshes++] = s->at + 8;
  } else if (is_kind(record, SNI_SNR_NOTE) && r->nnote < SNI_SNR_NOTES_MAX) {
    r->note[r->nnote++] = s->at + 8;
  } else if (is_kind(record, SNI_SNR_END)) {
    return take_end(r, s, record);
  }
  return !is_kind(record, SNI_SNR_HEAD);
}

static void explain(sn_recording *r, const scan *s) {
  char good[96] = "there is no frame";
  if (r->nframe > 0) {
    snprintf(good, sizeof good, "%lld frames, up to t = %g, are good", (long long)r->nframe, s->t);
  }
  if (s->at == s->end) {
    snprintf(r->why, sizeof r->why, "'%.200s' has no end: the run was cut short; %s", r->path,
             good);
  } else {
    snprintf(r->why, sizeof r->why, "'%.200s' is damaged or cut short at byte %lld of %lld; %s",
             r->path, (long long)s->at, (long long)s->end, good);
  }
}

static sn_status scan_records(sn_recording *r, int64_t first, int64_t end, sn_error *err) {
  scan s = {.at = first, .end = end};
  sni_snr_record record;
  while (!r->complete && s.end - s.at >= (int64_t)sizeof record &&
         read_at(r, s.at, &record, sizeof record) && is_sound(&record) &&
         (int64_t)record.size <= s.end - s.at - 8 && take_record(r, &s, &record)) {
    if (s.status) {
      return no_memory(r, err);
    }
    s.at += 8 + (int64_t)record.size;
  }
  if (!r->complete) {
    explain(r, &s);
  }
  return s.meshes == r->nmesh ? SN_OK
                              : sni_fail(err, SN_E_SYNTAX, "'%s' lacks meshes: it has %d of %d",
                                         r->path, s.meshes, r->nmesh);
}

static sn_status read_all(sn_recording *r, sn_error *err) {
  sni_snr_record record;
  errno = 0;
  const int64_t end = fseeko(r->file, 0, SEEK_END) == 0 ? ftello(r->file) : -1;
  if (end < 0) {
    return fail_file(r, err);
  }
  if (!read_at(r, 0, &record, sizeof record) || !is_kind(&record, SNI_SNR_HEAD)) {
    return sni_fail(err, SN_E_SYNTAX, "'%s' is no recording: it does not begin with " SNI_SNR_HEAD,
                    r->path);
  }
  if (!is_sound(&record) || (int64_t)record.size > end - 8) {
    return bad_header(r, "it is not all there", err);
  }
  const sn_status status = read_header(r, &record, err);
  return status ? status : scan_records(r, 8 + (int64_t)record.size, end, err);
}

/* ---- what can be asked ---- */

sn_status sni_recording_from(FILE *file, const char *path, sn_recording **out, sn_error *err) {
  sn_recording *r = calloc(1, sizeof *r);
  const size_t n = strlen(path) + 1;
  sn_status status = SN_E_MEMORY;
  if (r) {
    r->file = file;
    r->path = malloc(n);
    if (r->path) {
      memcpy(r->path, path, n);
      status = read_all(r, err);
    } else {
      sni_fail(err, SN_E_MEMORY, "out of memory");
    }
  } else {
    fclose(file);
    sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  if (status) {
    sn_recording_free(&r);
    return status;
  }
  *out = r;
  return SN_OK;
}

sn_status sn_recording_open(const char *path, sn_recording **recording, sn_error *err) {
  FILE *file = fopen(path, "rb");
  return file ? sni_recording_from(file, path, recording, err)
              : sni_fail(err, SN_E_FILE, "cannot read '%s': %s", path, strerror(errno));
}

void sn_recording_free(sn_recording **recording) {
  sn_recording *r = *recording;
  if (r) {
    fclose(r->file);
    sni_doc_free(&r->doc);
    free(r->path);
    free(r->header);
    free(r->name);
    free(r->mesh);
    free(r->frame);
    free(r->buffer);
    free(r);
  }
  *recording = NULL;
}

int64_t sn_recording_frame_count(const sn_recording *r) {
  return r->nframe;
}
int sn_recording_body_count(const sn_recording *r) {
  return r->nbody;
}
int sn_recording_channel_count(const sn_recording *r) {
  return r->nchannel;
}
int sn_recording_line_count(const sn_recording *r) {
  return r->nline;
}

const char *sn_recording_body_name(const sn_recording *r, int body) {
  return body >= 0 && body < r->nbody ? r->name[body] : NULL;
}
const char *sn_recording_channel_name(const sn_recording *r, int channel) {
  return channel >= 0 && channel < r->nchannel ? r->name[r->nbody + channel] : NULL;
}
const char *sn_recording_line_name(const sn_recording *r, int line) {
  return line >= 0 && line < r->nline ? r->name[r->nbody + r->nchannel + line] : NULL;
}

int sn_recording_channel_find(const sn_recording *r, const char *name) {
  for (int k = 0; k < r->nchannel; k++) {
    if (strcmp(sn_recording_channel_name(r, k), name) == 0) {
      return k;
    }
  }
  return -1;
}

const char *sn_recording_header(const sn_recording *r) {
  return r->header;
}

bool sn_recording_complete(const sn_recording *r, const char **why) {
  if (why) {
    *why = r->complete ? "" : r->why;
  }
  return r->complete;
}

sn_ending sn_recording_ending(const sn_recording *r) {
  return r->ending;
}

/* The length was checked when the file was opened; it is read again, since files can change. */
static sn_status read_record(sn_recording *r, int64_t at, size_t *size, sn_error *err) {
  sni_snr_record record;
  if (!read_at(r, at - 8, &record, sizeof record)) {
    return fail_file(r, err);
  }
  *size = record.size;
  return is_sound(&record)
             ? read_payload(r, at, record.size, err)
             : sni_fail(err, SN_E_FILE, "'%s' has changed while it was read", r->path);
}

static bool all_finite(const double *x, int n, const float *y, int m) {
  bool good = true;
  for (int k = 0; k < n; k++) {
    good = good && isfinite(x[k]);
  }
  for (int k = 0; k < m; k++) {
    good = good && isfinite(y[k]);
  }
  return good;
}

sn_status sn_recording_read(sn_recording *r, int64_t k, sn_recorded *frame, sn_error *err) {
  size_t size;
  if (k < 0 || k >= r->nframe) {
    return sni_fail(err, SN_E_ARGUMENT, "'%s' has %lld frames, there is no frame %lld", r->path,
                    (long long)r->nframe, (long long)k);
  }
  const sn_status status = read_record(r, r->frame[k], &size, err);
  const sni_snr_frame_head *h = (const sni_snr_frame_head *)(const void *)r->buffer;
  if (status) {
    return status;
  }
  if (size < sizeof *h || h->nbody != (uint32_t)r->nbody || h->nchannel != (uint32_t)r->nchannel ||
      h->nline != (uint32_t)r->nline || sni_snr_frame_size(h) != size) {
    return sni_fail(err, SN_E_FILE, "'%s' has changed while it was read", r->path);
  }
  const char *at = r->buffer + sizeof *h;
  *frame = (sn_recorded){.t = h->t,
                         .number = h->number,
                         .jump = h->flags & SNI_SNR_JUMP,
                         .channel = (const double *)(const void *)at,
                         .ncontact = (int)h->ncontact,
                         .narrow = (int)h->narrow};
  at += 8 * (size_t)h->nchannel;
  frame->pose = (const float *)(const void *)at;
  at += 28 * (size_t)h->nbody;
  frame->tension = (const float *)(const void *)at;
  at += 4 * (size_t)h->nline;
  frame->contact = (const sn_contact_point *)(const void *)at;
  at += sizeof(sn_contact_point) * (size_t)h->ncontact;
  frame->arrow = (const sn_arrow *)(const void *)at;
  bool good = all_finite(frame->channel, r->nchannel, frame->pose, 7 * r->nbody);
  for (int i = 0; i < frame->ncontact; i++) {
    good = good && all_finite(NULL, 0, frame->contact[i].point, 9);
  }
  for (int i = 0; i < frame->narrow; i++) {
    good = good && all_finite(NULL, 0, frame->arrow[i].point, 6);
  }
  return good ? SN_OK
              : sni_fail(err, SN_E_VALUE, "'%s': frame %lld has a number that is not finite",
                         r->path, (long long)k);
}

sn_status sni_recording_mesh(sn_recording *r, int k, sni_snr_mesh *out, sn_error *err) {
  size_t size;
  const sn_status status = read_record(r, r->mesh[k], &size, err);
  const sni_snr_mesh_head *h = (const sni_snr_mesh_head *)(const void *)r->buffer;
  if (status) {
    return status;
  }
  if (size < sizeof *h || h->nvertex > SNI_SNR_MESH_MAX || h->ntriangle > SNI_SNR_MESH_MAX ||
      sni_snr_mesh_size(h) != size) {
    return sni_fail(err, SN_E_FILE, "'%s' has changed while it was read", r->path);
  }
  const float *vertex = (const float *)(const void *)(h + 1);
  const uint32_t *triangle = (const uint32_t *)(const void *)(vertex + 3 * (size_t)h->nvertex);
  *out = (sni_snr_mesh){(int)h->nvertex, (int)h->ntriangle, vertex, triangle};
  for (size_t i = 0; i < 3 * (size_t)h->ntriangle; i++) {
    if (triangle[i] >= h->nvertex) {
      return sni_fail(err, SN_E_VALUE, "'%s': mesh %d has a triangle at vertex %u of %u", r->path,
                      k, triangle[i], h->nvertex);
    }
  }
  return all_finite(NULL, 0, vertex, 3 * out->nvertex)
             ? SN_OK
             : sni_fail(err, SN_E_VALUE, "'%s': mesh %d has a vertex that is not finite", r->path,
                        k);
}

sn_status sni_recording_note(sn_recording *r, int k, sni_doc **out, sn_error *err) {
  size_t size;
  const sn_status status = read_record(r, r->note[k], &size, err);
  return status ? status : read_json(r, r->note[k], size, out, err);
}
