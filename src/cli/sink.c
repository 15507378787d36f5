/* sink.c: where a run records. */
#define _DEFAULT_SOURCE /* mkstemps */
#include "cli/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static bool is_table(const char *path) {
  const cli_format *f = cli_format_of(path);
  return !cli_has_suffix(path, ".snr") && (!f || strcmp(f->suffix, ".csv") == 0);
}

/* A recording beside the file that it will become; a run that is killed leaves it there. */
static sn_status choose_spool(cli_sink *s, sn_error *err) {
  sn_status status = s->later->possible ? s->later->possible(err) : SN_OK;
  if (!status &&
      snprintf(s->spool, sizeof s->spool, "%s.XXXXXX.snr", s->path) >= (int)sizeof s->spool) {
    status = sni_fail(err, SN_E_LIMIT, "the name '%.100s...' is too long", s->path);
  }
  const int file = status ? -1 : mkstemps(s->spool, 4);
  if (!status && file < 0) {
    status = sni_fail(err, SN_E_FILE, "cannot write '%s': %s", s->path, strerror(errno));
  }
  if (file >= 0) {
    close(file);
  } else {
    s->spool[0] = 0;
  }
  return status;
}

static sn_status open_recording(cli_sink *s, sn_sim *sim, const sn_state *state,
                                const sn_recorder_options *o, sn_error *err) {
  s->later = cli_format_of(s->path);
  sn_status status = sn_recorder_create(sim, state, o, &s->snr, err);
  status = status || !s->later ? status : choose_spool(s, err);
  status = status ? status : sn_recorder_open(s->snr, s->later ? s->spool : s->path, err);
  s->columns = s->snr ? sn_recorder_channel_count(s->snr) : 0;
  return status;
}

sn_status cli_sink_open(cli_sink *s, sn_sim *sim, const sn_state *state, const char *path,
                        const sn_recorder_options *o, sn_error *err) {
  *s = (cli_sink){.open = true, .path = path, .sim = sim, .frames = !is_table(path)};
  if (s->frames) {
    return open_recording(s, sim, state, o, err);
  }
  const sn_status status = sni_recorder_open(&s->csv, sim, path, o->channels, o->nchannel, err);
  s->columns = s->csv.csv.columns;
  return status;
}

sn_status cli_sink_add(cli_sink *s, const sn_state *state, sn_error *err) {
  const sn_status status = s->snr ? sn_recorder_add(s->snr, state, NULL, err)
                                  : sni_recorder_add(&s->csv, s->sim, state, NULL, err);
  s->rows += status == SN_OK;
  return status;
}

static sn_status convert(cli_sink *s, sn_error *err) {
  sn_recording *r = NULL;
  sn_status status = sn_recording_open(s->spool, &r, err);
  status = status ? status : s->later->write(r, s->path, err);
  sn_recording_free(&r);
  if (status) {
    char why[SN_ERROR_TEXT_MAX / 2];
    snprintf(why, sizeof why, "%.255s", err ? err->text : "");
    return sni_fail(err, status, "%s; the recording is in '%.200s'", why, s->spool);
  }
  remove(s->spool);
  return SN_OK;
}

static sn_status close_recording(cli_sink *s, sn_ending ending, double t, const sn_error *what,
                                 sn_error *err) {
  sn_status status =
      what && s->rows > 0 ? sn_recorder_tell(s->snr, t, SN_LEVEL_ERROR, what, err) : SN_OK;
  const sn_status closed = sn_recorder_close(s->snr, ending, status ? NULL : err);
  status = status ? status : closed;
  sn_recorder_free(&s->snr);
  if (s->later && s->rows == 0) { /* nothing was recorded, or nothing can be */
    if (s->spool[0]) {
      remove(s->spool);
    }
    return status;
  }
  return status || !s->later ? status : convert(s, err);
}

sn_status cli_sink_close(cli_sink *s, sn_ending ending, double t, const sn_error *what,
                         sn_error *err) {
  if (!s->open) {
    return SN_OK;
  }
  s->open = false;
  if (!s->frames) {
    return sni_recorder_close(&s->csv, err);
  }
  return s->snr ? close_recording(s, ending, t, what, err) : SN_OK;
}
