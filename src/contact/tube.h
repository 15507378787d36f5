/* tube.h: where tubes touch themselves and each other [RM 6, hagfish].
 *
 * The segment k of a tube goes from its bead k to the next one.  Each segment is compared with all
 * that come before it: those of tubes before its own, and those of its own that are more than
 * `apart` beads away. */
#ifndef SNI_TUBE_H
#define SNI_TUBE_H

#include "contact/axis.h"
#include "model/model.h"

/* The nearest places of a segment and another stretch. */
typedef struct sni_tube_touch {
  int tube[2];
  int segment; /* of the first */
  sni_axes_nearest near;
  bool out; /* others say the same */
} sni_tube_touch;

typedef struct sni_tubes {
  const sn_model *m;
  sni_bead *bead;        /* nbead  where they are                                             */
  sn_vec3 *rate;         /* nbead  how fast                                                   */
  sni_bead *middle;      /* nbead  of the axis between this bead and the next                 */
  sni_aabb *box;         /* 2 leaves  a tree: of node k the children are 2 k and 2 k + 1, and
                            node leaves + k is the segment k                                  */
  int *close;            /* nbead  scratch: segments near another one                         */
  sni_tube_touch *touch; /* capacity                                                          */
  int leaves, capacity, count;
} sni_tubes;

size_t sni_tubes_size(const sn_model *m);
void sni_tubes_place(sni_tubes *t, const sn_model *m, void *memory);

/* Places that are nearer than margin, or come so near within h: into t->touch, in the order of
 * segments.  phi: of bodies, world axes at the origins of their frames; NULL: at rest.  The margins
 * of materials (params) are added.  False: there are more than fit. */
bool sni_tubes_find(sni_tubes *t, const sni_params *params, const sn_se3 *E_wb, const sn_vec6 *phi,
                    double h, double margin);

#endif
