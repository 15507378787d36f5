/* snr.h: recordings: records, limits, and the structure of a frame.  See docs/recording.md. */
#ifndef SNI_SNR_H
#define SNI_SNR_H

#include "base/error.h"
#include "io/json.h"
#include "sinew/recording.h"

/* Numbers go as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");
_Static_assert(sizeof(sn_contact_point) == 44 && sizeof(sn_arrow) == 32, "as in the file");

_Static_assert(SN_ARROW_FORCE == 0 && SN_ARROW_TORQUE == 1 && SN_ARROW_HAND == 2, "likewise");

typedef struct sni_snr_record {
  char kind[4];
  uint32_t size; /* of the payload */
} sni_snr_record;

#define SNI_SNR_HEAD "SNR1"
#define SNI_SNR_MESH "MESH"
#define SNI_SNR_FRAM "FRAM"
#define SNI_SNR_NOTE "NOTE"
#define SNI_SNR_END  "END!"

#define SNI_SNR_RECORD_MAX ((size_t)1 << 30) /* bytes of a payload                          */
#define SNI_SNR_COUNT_MAX  10000000          /* bodies, channels, lines, meshes             */
#define SNI_SNR_MESH_MAX   (1u << 26)        /* vertices or triangles of a mesh             */

typedef struct sni_snr_mesh_head {
  uint32_t which, nvertex, ntriangle, zero;
} sni_snr_mesh_head;

typedef struct sni_snr_frame_head {
  double t;
  uint64_t number;
  uint32_t nbody, nchannel, nline, ncontact, narrow, flags;
} sni_snr_frame_head;

enum { SNI_SNR_JUMP = 1 };

typedef struct sni_snr_end {
  uint64_t frames;
  double t;
  uint64_t ending;
} sni_snr_end;

static inline size_t sni_snr_padded(size_t size) {
  return (size + 7) & ~(size_t)7;
}

/* Bytes of a frame's payload, filling included. */
size_t sni_snr_frame_size(const sni_snr_frame_head *h);
size_t sni_snr_mesh_size(const sni_snr_mesh_head *h);

/* ---- snr_head.c ---- */

/* Is loop or constraint k, of nloop + nbond, in the header, to be drawn? */
bool sni_snr_is_link(const sn_model *m, int k);

typedef struct sni_snr_about {
  const sn_recorder_options *options;
  double start;
  const char *const *channel; /* nchannel names */
  int nchannel;
} sni_snr_about;

/* The header of a recording of a sim, and its meshes, as records.  NULL: out of memory, or
 * SN_E_LIMIT where it would be too long. */
sn_status sni_snr_head_make(const sn_sim *sim, const sni_snr_about *about, char **out, size_t *size,
                            sn_error *err);

/* Length of a unit in metres, from a label such as "mm g s"; NaN: not known. */
double sni_snr_metres(const char *units);

#endif
