/* finder.h: what the parts of a finder share. */
#ifndef SNI_FINDER_H
#define SNI_FINDER_H

#include "contact/box_tree.h"
#include "contact/collider.h"
#include "contact/contact.h"
#include "contact/seam.h"
#include "contact/soup.h"
#include "contact/tube.h"

enum { SNI_MESH_POINTS = 128 }; /* on one mesh, before those that say most are chosen */

struct sni_finder {
  const sn_model *m;
  sni_kin kin;
  sni_collider *collider; /* ncollider */
  int ncollider;
  int *collider_of;   /* m->nshape  of each shape */
  int *plane, nplane; /* colliders that have no end */
  sni_soup *soup;     /* nsoup  meshes              */
  int nsoup;
  sni_hull *hull; /* nhull */
  int nhull;
  sni_seams seams;
  void **piece; /* npiece  memory of meshes, hulls and seams */
  int npiece;
  sni_tubes tubes;
  sn_se3 *E_ws;   /* ncollider  pose of each                     by sni_contacts_find    */
  sn_vec6 *phi;   /* ncollider  its twist, at the origin of E_ws                         */
  sn_vec3 *arm;   /* ncollider  from what it turns about to the origin of E_ws           */
  double *swing;  /* ncollider  see sni_moving                                            */
  sni_aabb *box;  /* ncollider  what it may touch                                        */
  sn_vec6 *twist; /* ncollider  that of its body, of which these are                       */
  sni_box_tree moving, still;
  sni_contact *contact, *sorted;
  sni_contact *spare; /* see sni_finder_keep */
  int *order;
  int capacity, count;
  bool full;
  const sni_params *params;
  const bool
      *asleep; /* nbody  two that sleep, or one and the ground, are not looked at; NULL: none */
  const sni_contact *known; /* nknown  pairs, and triangles, that are not looked at in the next
                               call                                                        */
  int nknown;
  double h, margin; /* of the call */
};

/* Those of f->known that are of two shapes. */
const sni_contact *sni_finder_known(const sni_finder *f, int shape0, int shape1, int *count);

/* The points of two colliders whose boxes overlap, into f->contact. */
void sni_find_pair(sni_finder *f, int a, int b);

#endif
