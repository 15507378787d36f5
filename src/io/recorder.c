/* recorder.c: chosen channels of a sim, row by row into a CSV file. */
#include "io/recorder.h"

sn_status sni_recorder_open(sni_recorder *r, const sn_sim *sim, const char *path,
                            const char *const *pattern, int npattern, sn_error *err) {
  *r = (sni_recorder){0};
  sn_status status = sni_choice_make(&r->choice, sim, pattern, npattern, err);
  status = status == SN_OK ? sni_csv_writer_open(&r->csv, path, err) : status;
  for (int k = 0; status == SN_OK && k < r->choice.count; k++) {
    char name[SNI_CHANNEL_NAME_MAX];
    sni_csv_writer_name(&r->csv, sn_sim_channel_name(sim, r->choice.channel[k], name, sizeof name));
  }
  return status;
}

sn_status sni_recorder_add(sni_recorder *r, sn_sim *sim, const sn_state *state,
                           const sn_input *input, sn_error *err) {
  const sn_status status = sni_choice_calc(&r->choice, sim, state, input, err);
  return status == SN_OK ? sni_csv_writer_row(&r->csv, r->choice.value, err) : status;
}

sn_status sni_recorder_close(sni_recorder *r, sn_error *err) {
  sni_choice_free(&r->choice);
  return sni_csv_writer_close(&r->csv, err);
}
