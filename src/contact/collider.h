/* collider.h: the shapes of a model that collide, and which of them may touch each other. */
#ifndef SNI_COLLIDER_H
#define SNI_COLLIDER_H

#include "contact/convex.h"
#include "model/model.h"

typedef struct sni_collider {
  int shape, body; /* body: -1 is the ground, and what is fixed to it */
  int material;
  int frame; /* the body that it is on, fixed or not */
  sni_form form;
  int part;          /* which of the meshes of the finder */
  sni_convex convex; /* SNI_FORM_CONVEX; of others the radius is their coat */
  double coat;       /* the margin of its material: a part of its radius    */
  sn_se3 E_bs;       /* of the core in the frame of the body  */
  sn_vec3 pivot;     /* in that frame: what goes straight on while the body turns */
} sni_collider;

/* Which bodies belong together. */
typedef struct sni_kin {
  const sn_model *m;
  int *root;   /* nbody  the first body of those that are fixed to each other; -1: the ground     */
  int *family; /* nbody  the first body of the mechanism; -1: the ground                          */
  int (*neighbour)[2]; /* nneighbour  roots that a joint or a loop connects, sorted               */
  int nneighbour;
  int (*ignore)[2]; /* m->nignore  bodies that pass through each other, sorted */
  bool across;      /* some of them are of different mechanisms */
} sni_kin;

size_t sni_kin_size(const sn_model *m);
void sni_kin_place(sni_kin *k, const sn_model *m, void *memory);

/* May two shapes, by their bodies and materials, touch at all? */
bool sni_kin_may_touch(const sni_kin *k, const sni_collider *a, const sni_collider *b);

#endif
