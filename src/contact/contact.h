/* contact.h: where shapes touch, or may touch within a step.
 *
 * A finder belongs to one sim.  It knows which shapes may touch, keeps their boxes in a tree from
 * step to step, and gives the points where they do: up to four for a pair of shapes, and for each
 * triangle of a mesh or height field that is touched; and of tubes, one or a row of them wherever
 * two stretches do.
 *
 * Every point is a promise about the motion of a step h: as long as
 *
 *     n . (v0 - v1) >= -gap / h        v0, v1: velocities of body[0] and body[1] at x
 *
 * holds for all of them, nothing passes through anything.  So points come before bodies touch:
 * those that could be reached at the twists given. */
#ifndef SNI_CONTACT_H
#define SNI_CONTACT_H

#include "contact/convex.h"
#include "model/model.h"

typedef struct sni_contact {
  int shape[2];     /* of the model, and after these beads; that of the ground is the second   */
  int body[2];      /* -1: the ground, and what is fixed to it                                 */
  int material[2];  /* sni_material_mix                                                        */
  uint32_t feature; /* which point of this pair: the same from step to step                    */
  bool fresh;       /* added to others that were kept: sni_finder_add                          */
  sn_vec3 x;        /* world, midway between the surfaces                                      */
  sn_vec3 at[2];    /* where each is touched: x, but of what is still apart its own surface, and of
                       what meets later in the step the place where it will be touched, as if its
                       body went there without turning                                        */
  sn_vec3 n;        /* world, unit, from body[1] towards body[0]                               */
  double gap;       /* along n; < 0: they penetrate                                            */
} sni_contact;

typedef struct sni_finder sni_finder;

/* Takes all memory that finding needs, for at most `capacity` points; 0: as many as a crowded scene
 * of this size has, and never below 10,000. */
sn_status sni_finder_create(const sn_model *m, int capacity, sni_finder **finder, sn_error *err);
void sni_finder_free(sni_finder **finder);

/* E_wb, phi: of all bodies; phi in world axes at the origin of the body's frame, NULL: at rest.
 * margin: points up to this gap are found whatever the twists are; it must cover what twists gain
 * within the step.  params: the margins of materials are coats of the shapes, which touch where
 * these do.  The points are those of the finder, sorted by shapes and feature, until the next call.
 * Allocates nothing.  SN_E_LIMIT: more points than there is room for. */
sn_status sni_contacts_find(sni_finder *finder, const sni_params *params, const sn_se3 *E_wb,
                            const sn_vec6 *phi, double h, double margin,
                            const sni_contact **contact, int *count, sn_error *err);

/* The same with other twists, at the same places and with the same margin, of pairs of which one
 * body does not keep to what it did; keeps: by body, others than it need not be looked at. */
sn_status sni_contacts_find_again(sni_finder *finder, const sn_se3 *E_wb, const sn_vec6 *phi,
                                  const bool *keeps, const sni_contact **contact, int *count);

/* Bodies that sleep, by body: of two of them, or of one and the ground, no points are found.  NULL:
 * none.  The array stays the caller's. */
void sni_finder_let_sleep(sni_finder *finder, const bool *asleep);

/* Pairs that have points among these, sorted as points are, are not looked at in the next call; of
 * meshes, the triangles that have. */
void sni_finder_skip(sni_finder *finder, const sni_contact *known, int count);

/* A shape of the model that collides, where it was when points were last looked for. */
sni_moving sni_finder_shape(const sni_finder *finder, int shape);
/* These points of the last call, or kept already, stay where they are during the next ones.  None
 * of them is fresh any more. */
void sni_finder_keep(sni_finder *finder, const sni_contact *list, int count);
/* One more behind the `count` that are kept, a fresh one; false: there is no room. */
bool sni_finder_add(sni_finder *finder, int *count, const sni_contact *c);
/* Those behind the first `before`, which are in order, come to their places among these. */
void sni_finder_merge(sni_finder *finder, int before, int count);

/* Where two shapes touch at the end of a step in which bodies move with phi, turning and all.  As
 * promises about the motion from its start, like all others; they stay until the next call.  depth:
 * of the deepest at that end.  Returns how many there are. */
int sni_finder_look_then(sni_finder *finder, const int shape[2], const sn_se3 *E_wb,
                         const sn_vec6 *phi, double h, const sni_contact **contact, double *depth);

int sni_finder_capacity(const sni_finder *finder);

#endif
