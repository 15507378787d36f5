/* material.h: what surfaces do where they touch: the `contacts` of a scene. */
#ifndef SNI_MATERIAL_H
#define SNI_MATERIAL_H

#include "sinew/sinew.h"

/* Numbers of a material that may change during a run, in this order in sni_params.contact. */
enum {
  SNI_FRICTION,
  SNI_RESTITUTION,
  SNI_ROLLING,
  SNI_TORSIONAL,
  SNI_MARGIN,
  SNI_CONTACT_STIFFNESS,
  SNI_CONTACT_DAMPING,
  SNI_MATERIAL_PARAMS
};

struct sni_params;

/* Where two materials meet. */
typedef struct sni_material {
  double friction;           /* sqrt(a b)                                                     */
  double restitution;        /* the larger                                                    */
  double rolling, torsional; /* m, the larger: couple for each unit of normal force           */
  double margin;             /* m, the sum                                                    */
  double stiffness, damping; /* two springs in series; stiffness 0: rigid                     */
} sni_material;

/* a, b: indices of materials. */
sni_material sni_material_mix(const struct sni_params *p, int a, int b);

/* The key of a parameter. */
const char *sni_material_key(int param);

#endif
