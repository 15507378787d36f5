/* colors.h: colours of bodies that have none of their own, the same in every picture.
 *
 * A branch of the tree has one colour and goes on into its heaviest child; every other child begins
 * a branch.  Along a long branch the hue drifts, and neighbours differ a little, so that links can
 * be counted.  What is fixed to the ground is grey. */
#ifndef SNI_COLORS_H
#define SNI_COLORS_H

#include "base/error.h"
#include "math/vec3.h"

/* parent: -1 is the ground, else before the body; dofs: of its joint.  out: n colours, sRGB. */
sn_status sni_body_colors(const int *parent, const int *dofs, int n, sn_vec3 *out, sn_error *err);

#endif
