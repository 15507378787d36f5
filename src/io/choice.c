/* choice.c: which channels of a sim are recorded: patterns, and the values of those chosen. */
#include "io/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/words.h"
#include "methods/blame.h"

bool sni_choice_fits(const char *pattern, const char *name) {
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
  char name[SNI_CHANNEL_NAME_MAX], best[SNI_CHANNEL_NAME_MAX] = "";
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
  char name[SNI_CHANNEL_NAME_MAX];
  const int n = sn_sim_channel_count(sim);
  for (int k = 0; k < n && npattern == 0; k++) {
    wanted[k] = sn_sim_channel_usual(sim, k);
  }
  for (int p = 0; p < npattern; p++) {
    bool found = false;
    for (int k = 0; k < n; k++) {
      if (sni_choice_fits(pattern[p], sn_sim_channel_name(sim, k, name, sizeof name))) {
        wanted[k] = found = true;
      }
    }
    if (!found) {
      return fail_nothing(sim, pattern[p], err);
    }
  }
  return SN_OK;
}

static void list_chosen(sni_choice *c, const sn_sim *sim, const bool *wanted) {
  const int n = sn_sim_channel_count(sim), time = sn_sim_channel_find(sim, "t");
  c->count = 0;
  c->channel[c->count++] = time;
  for (int k = 0; k < n; k++) {
    if (wanted[k] && k != time) {
      c->channel[c->count++] = k;
    }
  }
}

sn_status sni_choice_make(sni_choice *c, const sn_sim *sim, const char *const *pattern,
                          int npattern, sn_error *err) {
  const size_t n = (size_t)sn_sim_channel_count(sim);
  bool *wanted = calloc(n, sizeof *wanted);
  *c = (sni_choice){.channel = malloc(n * sizeof *c->channel),
                    .value = malloc(n * sizeof *c->value)};
  sn_status status = wanted && c->channel && c->value
                         ? SN_OK
                         : sni_fail(err, SN_E_MEMORY, "no memory for %zu channels", n);
  status = status ? status : choose(sim, pattern, npattern, wanted, err);
  if (status == SN_OK) {
    list_chosen(c, sim, wanted);
  } else {
    sni_choice_free(c);
  }
  free(wanted);
  return status;
}

void sni_choice_free(sni_choice *c) {
  free(c->channel);
  free(c->value);
  *c = (sni_choice){0};
}

sn_status sni_choice_check(const sn_sim *sim, const char *const *pattern, int npattern,
                           sn_error *err) {
  sni_choice c;
  const sn_status status = sni_choice_make(&c, sim, pattern, npattern, err);
  sni_choice_free(&c);
  return status;
}

sn_status sni_choice_calc(sni_choice *c, sn_sim *sim, const sn_state *state, const sn_input *input,
                          sn_error *err) {
  const sn_status status = sn_sim_channels(sim, state, input, c->channel, c->count, c->value, err);
  for (int k = 0; status == SN_OK && k < c->count; k++) {
    if (!isfinite(c->value[k])) {
      char name[SNI_CHANNEL_NAME_MAX];
      return sni_blame_channel(sim, state,
                               sn_sim_channel_name(sim, c->channel[k], name, sizeof name), err);
    }
  }
  return status;
}
