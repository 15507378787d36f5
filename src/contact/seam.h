/* seam.h: shapes that are fixed to each other and touch.  Together they are one solid, and where
 * they lie flush its surface has no edges. */
#ifndef SNI_SEAM_H
#define SNI_SEAM_H

#include "contact/collider.h"
#include "contact/distance.h"

typedef struct sni_neighbour {
  int collider;
  sn_se3 E; /* of its core, in the frame of the core that it is beside */
} sni_neighbour;

typedef struct sni_seams {
  int *first; /* ncollider + 1  neighbours of collider k are from first[k] on */
  sni_neighbour *list;
} sni_seams;

/* E: of all colliders, at rest.  One piece of memory in *memory, to be freed; SN_E_MEMORY. */
sn_status sni_seams_build(sni_seams *s, const sni_kin *kin, const sni_collider *collider,
                          int ncollider, const sn_se3 *E, void **memory, sn_error *err);

static inline bool sni_seams_has(const sni_seams *s, int k) {
  return s->first[k + 1] > s->first[k];
}

/* Where a touches collider k, which is in its place b: in the point x of its surface, along n.  If
 * x is on neighbours too, and one of them has a with another way out which none of these shapes
 * stands in, that is the way out of them all: it comes into *n.  False: n stays. */
bool sni_seams_aim(const sni_seams *s, const sni_collider *collider, int k, const sni_placed *b,
                   const sni_placed *a, sn_vec3 x, sn_vec3 *n);

#endif
