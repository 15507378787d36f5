/* snr_reader.h: the inside of a recording that is read. */
#ifndef SNI_SNR_READER_H
#define SNI_SNR_READER_H

#include <stdio.h>

#include "io/doc.h"
#include "io/snr.h"

#define SNI_SNR_NOTES_MAX 1000 /* that are remembered */

struct sn_recording {
  FILE *file;
  char *path;
  sni_doc *doc; /* the header                                                      */
  char *header; /* its text                                                        */
  const sni_node *bodies, *channels, *lines;
  int nbody, nchannel, nline, nmesh;
  const char **name; /* of bodies, then channels, then lines; they belong to doc       */
  int64_t *mesh;     /* nmesh  where the payloads of the meshes are                       */
  int64_t *frame;    /* nframe  where those of the frames are                             */
  int64_t nframe, frame_capacity;
  int64_t note[SNI_SNR_NOTES_MAX];
  int nnote;
  bool complete;
  sn_ending ending;
  char why[SN_ERROR_TEXT_MAX]; /* it is not complete */
  char *buffer;                /* a payload */
  size_t capacity;
};

/* From a stream that can be rewound; it belongs to the recording from now on, also on failure. */
sn_status sni_recording_from(FILE *file, const char *path, sn_recording **out, sn_error *err);

typedef struct sni_snr_mesh {
  int nvertex, ntriangle;
  const float *vertex;      /* 3 nvertex   */
  const uint32_t *triangle; /* 3 ntriangle */
} sni_snr_mesh;

/* Good until the next call that reads. */
sn_status sni_recording_mesh(sn_recording *r, int k, sni_snr_mesh *out, sn_error *err);

/* Note k as JSON, to be freed with sni_doc_free. */
sn_status sni_recording_note(sn_recording *r, int k, sni_doc **out, sn_error *err);

#endif
