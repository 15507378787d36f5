/* recorder.c: chosen channels of a sim, row by row into a CSV file. */
#include "io/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/words.h"

#define NAME_MAX_BYTES 320

/* Does a name fit a pattern, in which * stands for any text and ? for any character? */
static bool fits(const char *pattern, const char *name) {
  const char *star = NULL, *retry = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = pattern++;
      retry = name;
    } else if (*pattern == '?' || *pattern == *name) {
      pattern++;
      name++;
    } else if (star) { /* the star takes one character more */
      pattern = star + 1;
      name = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*') {
    pattern++;
  }
  return *pattern == 0;
}

static sn_status fail_nothing(const sn_sim *sim, const char *pattern, sn_error *err) {
  sni_suggestion s = {.word = pattern};
  char name[NAME_MAX_BYTES], best[NAME_MAX_BYTES] = "";
  for (int k = 0; k < sn_sim_channel_count(sim); k++) {
    s.best = NULL;
    const int before = s.distance;
    sni_suggest(&s, sn_sim_channel_name(sim, k, name, sizeof name));
    if (s.best && (!best[0] || s.distance < before)) {
      memcpy(best, name, sizeof best);
    } else {
      s.distance = before;
    }
  }
  return sni_fail(err, SN_E_VALUE, "'%s' fits no channel%s%s%s", sni_show(pattern).text,
                  best[0] ? ": did you mean '" : "; examples: E, NAME.q, NAME.pos.x, *.tau", best,
                  best[0] ? "'?" : "");
}

/* Marks the channels that are wanted. */
static sn_status choose(const sn_sim *sim, const char *const *pattern, int npattern, bool *wanted,
                        sn_error *err) {
  char name[NAME_MAX_BYTES];
  const int n = sn_sim_channel_count(sim);
  for (int k = 0; k < n && npattern == 0; k++) {
    wanted[k] = sn_sim_channel_usual(sim, k);
  }
  for (int p = 0; p < npattern; p++) {
    bool found = false;
    for (int k = 0; k < n; k++) {
      if (fits(pattern[p], sn_sim_channel_name(sim, k, name, sizeof name))) {
        wanted[k] = found = true;
      }
    }
    if (!found) {
      return fail_nothing(sim, pattern[p], err);
    }
  }
  return SN_OK;
}

static void list_chosen(sni_recorder *r, const sn_sim *sim, const bool *wanted, int *count) {
  const int n = sn_sim_channel_count(sim), time = sn_sim_channel_find(sim, "t");
  *count = 0;
  r->channel[(*count)++] = time;
  for (int k = 0; k < n; k++) {
    if (wanted[k] && k != time) {
      r->channel[(*count)++] = k;
    }
  }
}

static sn_status select_channels(sni_recorder *r, const sn_sim *sim, const char *const *pattern,
                                 int npattern, int *count, sn_error *err) {
  const size_t n = (size_t)sn_sim_channel_count(sim);
  bool *wanted = calloc(n, sizeof *wanted);
  r->channel = malloc(n * sizeof *r->channel);
  r->value = malloc(n * sizeof *r->value);
  if (!wanted || !r->channel || !r->value) {
    free(wanted);
    return sni_fail(err, SN_E_MEMORY, "no memory for %zu channels", n);
  }
  const sn_status status = choose(sim, pattern, npattern, wanted, err);
  if (status == SN_OK) {
    list_chosen(r, sim, wanted, count);
  }
  free(wanted);
  return status;
}

sn_status sni_recorder_check(const sn_sim *sim, const char *const *pattern, int npattern,
                             sn_error *err) {
  int count;
  sni_recorder r = {0};
  const sn_status status = select_channels(&r, sim, pattern, npattern, &count, err);
  sni_recorder_close(&r, NULL);
  return status;
}

sn_status sni_recorder_open(sni_recorder *r, const sn_sim *sim, const char *path,
                            const char *const *pattern, int npattern, sn_error *err) {
  int count = 0;
  *r = (sni_recorder){0};
  sn_status status = select_channels(r, sim, pattern, npattern, &count, err);
  status = status == SN_OK ? sni_csv_writer_open(&r->csv, path, err) : status;
  for (int k = 0; status == SN_OK && k < count; k++) {
    char name[NAME_MAX_BYTES];
    sni_csv_writer_name(&r->csv, sn_sim_channel_name(sim, r->channel[k], name, sizeof name));
  }
  return status;
}

sn_status sni_recorder_add(sni_recorder *r, sn_sim *sim, const sn_state *state,
                           const sn_input *input, sn_error *err) {
  const sn_status status =
      sn_sim_channels(sim, state, input, r->channel, r->csv.columns, r->value, err);
  if (status != SN_OK) {
    return status;
  }
  for (int k = 0; k < r->csv.columns; k++) {
    if (!isfinite(r->value[k])) {
      char name[NAME_MAX_BYTES];
      return sni_fail(err, SN_E_DIVERGED, "at t = %g: '%s' is not finite any more", r->value[0],
                      sn_sim_channel_name(sim, r->channel[k], name, sizeof name));
    }
  }
  return sni_csv_writer_row(&r->csv, r->value, err);
}

sn_status sni_recorder_close(sni_recorder *r, sn_error *err) {
  free(r->channel);
  free(r->value);
  r->channel = NULL;
  r->value = NULL;
  return sni_csv_writer_close(&r->csv, err);
}
