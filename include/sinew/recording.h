/* recording.h: recordings: writing them, to a file or piece by piece into memory, and reading them.
 *
 *     sn_recorder_options o = sn_recorder_options_default();
 *     sn_recorder *recorder = NULL;
 *     sn_recorder_create(sim, state, &o, &recorder, &err);
 *     sn_recorder_open(recorder, "motion.snr", &err);
 *     ... sn_sim_step(...); sn_recorder_add(recorder, state, NULL, &err); ...
 *     sn_recorder_close(recorder, SN_ENDED, &err);
 *     sn_recorder_free(&recorder);
 *
 *     sn_recording *recording = NULL;
 *     sn_recording_open("motion.snr", &recording, &err);
 *     for (int64_t k = 0; k < sn_recording_frame_count(recording); k++) {
 *       sn_recorded frame;
 *       sn_recording_read(recording, k, &frame, &err);
 *     }
 *     sn_recording_free(&recording);
 *
 * The format is described in docs/recording.md, byte by byte. */
#ifndef SINEW_RECORDING_H
#define SINEW_RECORDING_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a frame may show beside poses, channels and tensions ------------------------------- */

typedef struct sn_contact_point {
  uint32_t body, other; /* SN_WORLD: the world */
  float point[3];
  float normal[3]; /* unit, from other towards body */
  float force[3];  /* on body */
} sn_contact_point;

/* SN_ARROW_OFF is none: `body` says which of the loops and then the constraints of the recording,
 * from 0, does not hold now.  It has no length, so that who does not know it draws nothing. */
typedef enum sn_arrow_kind {
  SN_ARROW_FORCE,
  SN_ARROW_TORQUE,
  SN_ARROW_HAND,
  SN_ARROW_OFF
} sn_arrow_kind;

typedef struct sn_arrow {
  uint32_t body;
  uint32_t kind; /* sn_arrow_kind */
  float point[3];
  float vector[3];
} sn_arrow;

#define SN_WORLD 0xffffffffu

typedef enum sn_level { SN_LEVEL_INFO, SN_LEVEL_WARNING, SN_LEVEL_ERROR } sn_level;
typedef enum sn_ending { SN_ENDED, SN_INTERRUPTED, SN_FAILED } sn_ending;

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct sn_recorder sn_recorder;

typedef struct sn_recorder_options {
  const char *scene;           /* file of the scene; NULL: none                              */
  const char *const *channels; /* nchannel patterns with * and ?; none: the usual channels   */
  int nchannel;
  double every;    /* time between frames, as planned; 0: not known                          */
  double duration; /* as planned; NaN: not known                                             */
} sn_recorder_options;

SN_API sn_recorder_options sn_recorder_options_default(void);

/* A recorder belongs to a sim and must go before it.  state: the first.  Options may be NULL. */
SN_API sn_status sn_recorder_create(sn_sim *sim, const sn_state *state,
                                    const sn_recorder_options *options, sn_recorder **recorder,
                                    sn_error *err);
SN_API void sn_recorder_free(sn_recorder **recorder);
SN_API int sn_recorder_channel_count(const sn_recorder *recorder);
SN_API int64_t sn_recorder_frame_count(const sn_recorder *recorder); /* so far */

/* Whole records, in order, they are a recording.  They belong to the recorder and are good until
 * the next call. */
typedef struct sn_bytes {
  const void *data;
  size_t size;
} sn_bytes;

/* More for a frame.  Any of it may be left out. */
typedef struct sn_frame_extra {
  bool jump;                       /* not to be interpolated from the frame before */
  const sn_contact_point *contact; /* beside those that the sim has found */
  int ncontact;
  const sn_arrow *arrow; /* beside those of the scene's forces */
  int narrow;
} sn_frame_extra;

/* The header and the meshes: goes first, and may be asked for again. */
SN_API sn_status sn_recorder_head(sn_recorder *recorder, sn_bytes *out, sn_error *err);
/* A frame.  input and extra may be NULL.  A number that is not finite is an error, SN_E_DIVERGED,
 * and there is no frame then. */
SN_API sn_status sn_recorder_frame(sn_recorder *recorder, const sn_state *state,
                                   const sn_input *input, const sn_frame_extra *extra,
                                   sn_bytes *out, sn_error *err);
SN_API sn_status sn_recorder_note(sn_recorder *recorder, double t, sn_level level,
                                  const sn_error *what, sn_bytes *out, sn_error *err);
SN_API sn_status sn_recorder_end(sn_recorder *recorder, sn_ending ending, sn_bytes *out,
                                 sn_error *err);

/* The same into a file, each record with one call of the system.  "-": standard output. */
SN_API sn_status sn_recorder_open(sn_recorder *recorder, const char *path, sn_error *err);
SN_API sn_status sn_recorder_add(sn_recorder *recorder, const sn_state *state,
                                 const sn_input *input, sn_error *err);
SN_API sn_status sn_recorder_tell(sn_recorder *recorder, double t, sn_level level,
                                  const sn_error *what, sn_error *err);
/* Failing here means that the end may not have reached the disk.  A file that is not closed lacks
 * its last record, and is good but for that. */
SN_API sn_status sn_recorder_close(sn_recorder *recorder, sn_ending ending, sn_error *err);

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct sn_recording sn_recording;

/* A file that was cut short is good up to its last whole frame: see sn_recording_complete. */
SN_API sn_status sn_recording_open(const char *path, sn_recording **recording, sn_error *err);
SN_API void sn_recording_free(sn_recording **recording);

SN_API int64_t sn_recording_frame_count(const sn_recording *recording);
SN_API int sn_recording_body_count(const sn_recording *recording);
SN_API int sn_recording_channel_count(const sn_recording *recording);
SN_API int sn_recording_line_count(const sn_recording *recording);
SN_API const char *sn_recording_body_name(const sn_recording *recording, int body);
SN_API const char *sn_recording_channel_name(const sn_recording *recording, int channel);
SN_API const char *sn_recording_line_name(const sn_recording *recording, int line);
SN_API int sn_recording_channel_find(const sn_recording *recording,
                                     const char *name); /* -1: none */
/* The header as it stands in the file: JSON, ends in 0. */
SN_API const char *sn_recording_header(const sn_recording *recording);

/* False: the end is missing, and *why (may be NULL) says what is known about it. */
SN_API bool sn_recording_complete(const sn_recording *recording, const char **why);
/* How the run ended, if the recording is complete. */
SN_API sn_ending sn_recording_ending(const sn_recording *recording);

typedef struct sn_recorded {
  double t;
  uint64_t number;
  bool jump;
  const double *channel; /* one for each channel                                              */
  const float *pose;     /* seven for each body: x, y, z, qx, qy, qz, qw, in the world        */
  const float *tension;  /* one for each line; NaN: it does not act                           */
  const sn_contact_point *contact;
  int ncontact;
  const sn_arrow *arrow;
  int narrow;
} sn_recorded;

/* Frame k, in any order.  What it points to is good until the next call. */
SN_API sn_status sn_recording_read(sn_recording *recording, int64_t k, sn_recorded *frame,
                                   sn_error *err);

#ifdef __cplusplus
}
#endif

#endif
