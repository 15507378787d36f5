/* snr_writer.c: encodes recordings, record by record, into memory and from there into files.
 *
 * A recorder holds the header and one frame, whatever the length of the run.  A record goes to its
 * file with one call of the system, so a program that is killed leaves whole frames. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/choice.h"
#include "io/snr.h"
#include "methods/sim.h"

struct sn_recorder {
  sn_sim *sim;
  sni_choice choice;
  char *head;
  size_t head_size;
  char *record; /* the last one that was not a header */
  size_t capacity;
  uint64_t frames;
  double t; /* of the last frame */
  FILE *file;
  char *path;
};

size_t sni_snr_frame_size(const sni_snr_frame_head *h) {
  const size_t floats = (size_t)h->nbody * 7 + h->nline;
  return sni_snr_padded(sizeof *h + 8 * (size_t)h->nchannel + 4 * floats +
                        sizeof(sn_contact_point) * (size_t)h->ncontact +
                        sizeof(sn_arrow) * (size_t)h->narrow);
}

size_t sni_snr_mesh_size(const sni_snr_mesh_head *h) {
  return sni_snr_padded(sizeof *h + 12 * (size_t)h->nvertex + 12 * (size_t)h->ntriangle);
}

sn_recorder_options sn_recorder_options_default(void) {
  return (sn_recorder_options){.duration = NAN};
}

/* ---- making ---- */

static char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

static void free_names(char **name, int n) {
  for (int k = 0; name && k < n; k++) {
    free(name[k]);
  }
  free(name);
}

static char **channel_names(const sn_recorder *r) {
  char **name = calloc((size_t)r->choice.count, sizeof *name);
  for (int k = 0; name && k < r->choice.count; k++) {
    char text[SNI_CHANNEL_NAME_MAX];
    name[k] = copy_text(sn_sim_channel_name(r->sim, r->choice.channel[k], text, sizeof text));
    if (!name[k]) {
      free_names(name, k);
      return NULL;
    }
  }
  return name;
}

static sn_status make_head(sn_recorder *r, const sn_recorder_options *o, double start,
                           sn_error *err) {
  char **name = channel_names(r);
  if (!name) {
    return sni_fail(err, SN_E_MEMORY, "no memory for the names of channels");
  }
  const sni_snr_about about = {.options = o,
                               .start = start,
                               .channel = (const char *const *)name,
                               .nchannel = r->choice.count};
  const sn_status status = sni_snr_head_make(r->sim, &about, &r->head, &r->head_size, err);
  free_names(name, r->choice.count);
  return status;
}

sn_status sn_recorder_create(sn_sim *sim, const sn_state *state, const sn_recorder_options *options,
                             sn_recorder **recorder, sn_error *err) {
  const sn_recorder_options plain = sn_recorder_options_default();
  const sn_recorder_options *o = options ? options : &plain;
  sn_recorder *r = calloc(1, sizeof *r);
  if (!r) {
    return sni_fail(err, SN_E_MEMORY, "no memory for a recorder");
  }
  r->sim = sim;
  sn_status status = sni_sim_check_state(sim, state, err);
  status = status ? status : sni_choice_make(&r->choice, sim, o->channels, o->nchannel, err);
  status = status ? status : make_head(r, o, state->t, err);
  if (status) {
    sn_recorder_free(&r);
    return status;
  }
  *recorder = r;
  return SN_OK;
}

void sn_recorder_free(sn_recorder **recorder) {
  sn_recorder *r = *recorder;
  if (r) {
    if (r->file && r->file != stdout) {
      fclose(r->file);
    }
    sni_choice_free(&r->choice);
    free(r->head);
    free(r->record);
    free(r->path);
    free(r);
  }
  *recorder = NULL;
}

int sn_recorder_channel_count(const sn_recorder *r) {
  return r->choice.count;
}

int64_t sn_recorder_frame_count(const sn_recorder *r) {
  return (int64_t)r->frames;
}

/* ---- records in memory ---- */

/* Room for a record, its head written and its payload zero. */
static sn_status begin(sn_recorder *r, const char *kind, size_t size, char **payload, sn_bytes *out,
                       sn_error *err) {
  const size_t all = sizeof(sni_snr_record) + size;
  if (size > SNI_SNR_RECORD_MAX) {
    return sni_fail(err, SN_E_LIMIT, "a record of %zu bytes is too long for a recording", size);
  }
  if (all > r->capacity) {
    char *grown = realloc(r->record, all);
    if (!grown) {
      return sni_fail(err, SN_E_MEMORY, "no memory for a record of %zu bytes", all);
    }
    r->record = grown;
    r->capacity = all;
  }
  memset(r->record, 0, all);
  memcpy(r->record, kind, 4);
  memcpy(r->record + 4, &(uint32_t){(uint32_t)size}, 4);
  *out = (sn_bytes){r->record, all};
  *payload = r->record + sizeof(sni_snr_record);
  return SN_OK;
}

sn_status sn_recorder_head(sn_recorder *r, sn_bytes *out, sn_error *err) {
  (void)err;
  *out = (sn_bytes){r->head, r->head_size};
  return SN_OK;
}

/* A json text as a record. */
static sn_status text_record(sn_recorder *r, const char *kind, sni_json *j, sn_bytes *out,
                             sn_error *err) {
  const size_t n = j->out.length;
  char *text = sni_text_take(&j->out);
  char *to = NULL;
  const sn_status status = text ? begin(r, kind, sni_snr_padded(n), &to, out, err)
                                : sni_fail(err, SN_E_MEMORY, "no memory for a note");
  if (!status) {
    memset(to, ' ', sni_snr_padded(n));
    memcpy(to, text, n);
  }
  free(text);
  return status;
}

sn_status sn_recorder_note(sn_recorder *r, double t, sn_level level, const sn_error *what,
                           sn_bytes *out, sn_error *err) {
  static const char *const word[] = {"info", "warning", "error"};
  sni_json j = {.compact = true};
  sni_json_open(&j, NULL, "{");
  sni_json_number(&j, "t", t);
  sni_json_text(&j, "level", word[level]);
  sni_json_text(&j, "text", what->text);
  sni_json_text(&j, "path", what->path);
  sni_json_text(&j, "code", sn_status_text(what->code));
  sni_json_close(&j, "}");
  return text_record(r, SNI_SNR_NOTE, &j, out, err);
}

sn_status sn_recorder_end(sn_recorder *r, sn_ending ending, sn_bytes *out, sn_error *err) {
  const sni_snr_end end = {r->frames, r->t, (uint64_t)ending};
  char *to = NULL;
  const sn_status status = begin(r, SNI_SNR_END, sizeof end, &to, out, err);
  if (!status) {
    memcpy(to, &end, sizeof end);
  }
  return status;
}

/* ---- frames ---- */

static void put_float3(float *to, sn_vec3 v) {
  to[0] = (float)v.x;
  to[1] = (float)v.y;
  to[2] = (float)v.z;
}

/* Kinematics at the state, and from there what forces need to be looked at. */
static sn_status look(sn_sim *sim, const sn_state *state) {
  const sn_status status = sn_sim_poses(sim, state, NULL, NULL);
  if (!status && sim->m->nforce > 0) {
    sni_dynamics_poses(&sim->d);
  }
  return status;
}

static bool put_poses(const sn_sim *sim, char *to, int *lost) {
  for (int i = 0; i < sim->m->tree.nbody; i++, to += 28) {
    const sn_se3 E = sni_link_pose(&sim->d.w.link[i]);
    const sn_quat q = sn_quat_from_mat3(E.R);
    float pose[7] = {[3] = (float)q.x, (float)q.y, (float)q.z, (float)q.w};
    put_float3(pose, E.p);
    for (int c = 0; c < 7; c++) {
      if (!isfinite(pose[c])) {
        *lost = i;
        return false;
      }
    }
    memcpy(to, pose, sizeof pose);
  }
  return true;
}

static void put_tensions(const sn_sim *sim, const sni_force_eval *e, char *to) {
  const sn_model *m = sim->m;
  for (int k = 0; k < m->nline; k++, to += 4) {
    const sni_force *f = &m->force[m->line[k]];
    const bool active = sni_force_is_active(e, f);
    const double tension =
        active ? sni_force_kind(f->kind)->measure(e, f, sim->d.params.force + f->param).tension
               : NAN;
    memcpy(to, &(float){(float)tension}, 4);
  }
}

static void put_arrow(char *to, uint32_t k, sni_force_arrow a) {
  sn_arrow out = {.body = (uint32_t)a.body, .kind = (uint32_t)a.kind};
  put_float3(out.point, a.point);
  put_float3(out.vector, a.vector);
  if (to) {
    memcpy(to + k * sizeof out, &out, sizeof out);
  }
}

/* Arrows of the scene's forces that act now, to `to` unless it is NULL; their number. */
static uint32_t put_arrows(const sn_sim *sim, const sni_force_eval *e, char *to) {
  uint32_t n = 0;
  for (int k = 0; k < sim->m->nforce; k++) {
    const sni_force *f = &sim->m->force[k];
    const sni_force_ops *ops = sni_force_kind(f->kind);
    if (ops->arrow && sni_force_is_active(e, f)) {
      put_arrow(to, n++, ops->arrow(e, f, sim->d.params.force + f->param));
    }
  }
  return n;
}

static void put_list(char *to, const void *from, size_t size) {
  if (size > 0) {
    memcpy(to, from, size);
  }
}

/* Loops and constraints that do not hold now, likewise. */
static uint32_t put_off(const sn_sim *sim, double t, char *to) {
  const sn_model *m = sim->m;
  uint32_t n = 0, link = 0;
  for (int k = 0; k < m->nloop + m->nbond; k++) {
    const int active = m->constraint[k].active;
    double on[3] = {1, 0, 0};
    if (active >= 0) {
      sni_function_eval(m->function[active], t, t, on);
    }
    if (!(on[0] > 0) && sni_snr_is_link(m, k)) {
      const sn_arrow out = {.body = link, .kind = SN_ARROW_OFF};
      put_list(to ? to + n * sizeof out : NULL, &out, to ? sizeof out : 0);
      n++;
    }
    link += sni_snr_is_link(m, k);
  }
  return n;
}

sn_status sn_recorder_frame(sn_recorder *r, const sn_state *state, const sn_input *input,
                            const sn_frame_extra *extra, sn_bytes *out, sn_error *err) {
  static const sn_frame_extra nothing = {0};
  const sn_frame_extra *x = extra ? extra : &nothing;
  sn_sim *sim = r->sim;
  sn_status status = sni_choice_calc(&r->choice, sim, state, input, err);
  status = status ? status : look(sim, state);
  if (status) {
    return status;
  }
  const sni_force_eval e = sni_dynamics_force_eval(&sim->d, state->t, state->t, false);
  const uint32_t acting = put_arrows(sim, &e, NULL), own = acting + put_off(sim, state->t, NULL);
  const sni_snr_frame_head head = {.t = state->t,
                                   .number = r->frames,
                                   .nbody = (uint32_t)sim->m->tree.nbody,
                                   .nchannel = (uint32_t)r->choice.count,
                                   .nline = (uint32_t)sim->m->nline,
                                   .ncontact = (uint32_t)(sim->ntouch + x->ncontact),
                                   .narrow = own + (uint32_t)x->narrow,
                                   .flags = x->jump ? SNI_SNR_JUMP : 0};
  char *to = NULL;
  int lost;
  status = begin(r, SNI_SNR_FRAM, sni_snr_frame_size(&head), &to, out, err);
  if (status) {
    return status;
  }
  memcpy(to, &head, sizeof head);
  to += sizeof head;
  memcpy(to, r->choice.value, 8 * (size_t)head.nchannel);
  to += 8 * (size_t)head.nchannel;
  if (!put_poses(sim, to, &lost)) {
    return sni_fail_body(sim, err, SN_E_DIVERGED, lost, state->t, "is beyond all bounds");
  }
  to += 28 * (size_t)head.nbody;
  put_tensions(sim, &e, to);
  to += 4 * (size_t)head.nline;
  put_list(to, sim->touch, (size_t)sim->ntouch * sizeof *sim->touch);
  to += (size_t)sim->ntouch * sizeof *sim->touch;
  put_list(to, x->contact, (size_t)x->ncontact * sizeof *x->contact);
  to += (size_t)x->ncontact * sizeof *x->contact;
  put_arrows(sim, &e, to);
  put_off(sim, state->t, to + acting * sizeof(sn_arrow));
  put_list(to + own * sizeof(sn_arrow), x->arrow, (size_t)x->narrow * sizeof *x->arrow);
  r->frames++;
  r->t = state->t;
  return SN_OK;
}

/* ---- files ---- */

static sn_status cannot_write(const sn_recorder *r, sn_error *err) {
  const int reason = errno;
  return sni_fail(err, SN_E_FILE, "cannot write '%s': %s", r->path,
                  reason ? strerror(reason) : "the output was closed");
}

/* Without a buffer of its own, the stream hands each record over in one piece. */
static sn_status write_bytes(sn_recorder *r, sn_bytes b, sn_error *err) {
  errno = 0;
  if (!r->file) {
    return sni_fail(err, SN_E_ARGUMENT, "the recorder has no file");
  }
  return fwrite(b.data, 1, b.size, r->file) == b.size ? SN_OK : cannot_write(r, err);
}

sn_status sn_recorder_open(sn_recorder *r, const char *path, sn_error *err) {
  if (r->file) {
    return sni_fail(err, SN_E_ARGUMENT, "the recorder has a file already");
  }
  free(r->path);
  r->path = copy_text(path);
  if (!r->path) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  errno = 0;
  r->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
  if (!r->file || setvbuf(r->file, NULL, _IONBF, 0) != 0) {
    return cannot_write(r, err);
  }
  return write_bytes(r, (sn_bytes){r->head, r->head_size}, err);
}

sn_status sn_recorder_add(sn_recorder *r, const sn_state *state, const sn_input *input,
                          sn_error *err) {
  sn_bytes bytes;
  const sn_status status = sn_recorder_frame(r, state, input, NULL, &bytes, err);
  return status ? status : write_bytes(r, bytes, err);
}

sn_status sn_recorder_tell(sn_recorder *r, double t, sn_level level, const sn_error *what,
                           sn_error *err) {
  sn_bytes bytes;
  const sn_status status = sn_recorder_note(r, t, level, what, &bytes, err);
  return status ? status : write_bytes(r, bytes, err);
}

sn_status sn_recorder_close(sn_recorder *r, sn_ending ending, sn_error *err) {
  if (!r->file) {
    return SN_OK;
  }
  sn_bytes bytes;
  sn_status status = sn_recorder_end(r, ending, &bytes, err);
  status = status ? status : write_bytes(r, bytes, err);
  errno = 0;
  const bool closed = (r->file == stdout ? fflush(stdout) : fclose(r->file)) == 0;
  r->file = NULL;
  return status || closed ? status : cannot_write(r, err);
}
