/* solid.h: what a shape is for those who look where shapes touch. */
#ifndef SNI_SOLID_H
#define SNI_SOLID_H

#include "math/se3.h"

typedef enum sni_form {
  SNI_FORM_CONVEX,    /* all points within `radius` of a core               */
  SNI_FORM_PLANE,     /* everything below z = 0                             */
  SNI_FORM_TRIANGLES, /* the inside of a mesh: on the ground only           */
} sni_form;

typedef enum sni_core {
  SNI_CORE_POINT,
  SNI_CORE_SEGMENT,   /* from (0, 0, -half.z) to (0, 0, half.z)             */
  SNI_CORE_BOX,       /* half edges                                         */
  SNI_CORE_CYLINDER,  /* along z: radius half.x, half length half.z         */
  SNI_CORE_ELLIPSOID, /* half axes                                          */
  SNI_CORE_HULL,      /* of the vertices of the mesh                        */
  SNI_CORE_TRIANGLE   /* one of a mesh                                      */
} sni_core;

typedef struct sni_solid {
  sni_form form;
  sni_core core;
  double radius;
  sn_vec3 half;
  double scale; /* of the mesh                          */
  sn_se3 at;    /* of all of this in the body's frame   */
} sni_solid;

#endif
