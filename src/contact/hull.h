/* hull.h: convex meshes with faces. */
#ifndef SNI_HULL_H
#define SNI_HULL_H

#include "contact/soup.h"

/* Of a convex mesh, scaled, with its origin at the centre.  One piece of memory in *memory, to be
 * freed. */
sn_status sni_hull_build(sni_hull *h, const sni_mesh *mesh, double scale, sn_vec3 centre,
                         void **memory, sn_error *err);

#endif
