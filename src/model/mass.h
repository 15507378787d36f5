/* mass.h: mass and inertia of a body, from its shapes or as given, and which of them can exist. */
#ifndef SNI_MASS_H
#define SNI_MASS_H

#include "model/shape.h"

/* The inertia that is given, as it is; else the sum over the shapes that have a density.  Where
 * shapes overlap, both count.  Without any density it is 0.  mesh: one for each shape, NULL where
 * the kind needs none; may be NULL itself when no shape needs one.  Fails on the first shape in
 * the sum that is wrong, with err->path such as "shapes[2].radius". */
sn_status sni_body_inertia(const sn_body_def *def, const sni_mesh *const *mesh, sn_inertia *out,
                           sn_error *err);

/* Can a body have this inertia?  Finite, mass > 0, principal moments not negative, none larger than
 * the sum of the other two.  may_be_massless: all zero is right too, as for a body between two
 * joints with mass beyond it.  The text of err is complete in itself, err->path stays empty. */
sn_status sni_inertia_check(const sn_inertia *I, bool may_be_massless, sn_error *err);

#endif
