/* inertia.h: mass properties of rigid bodies. */
#ifndef SNI_INERTIA_H
#define SNI_INERTIA_H

#include "math/se3.h"

sn_mat3 sn_inertia_tensor(sn_inertia I); /* about the centre of mass */
sn_inertia sn_inertia_make(double mass, sn_vec3 com, sn_mat3 tensor_at_com);

/* The same body seen from another frame: E = pose of the old frame in the new one. */
sn_inertia sn_inertia_transform(sn_se3 E, sn_inertia I);

/* Two bodies stuck together, both in one frame. */
sn_inertia sn_inertia_add(sn_inertia a, sn_inertia b);

/* Tensor about the frame's origin: I + m (|c|^2 1 - c c^T). */
sn_mat3 sn_inertia_tensor_at_origin(sn_inertia I);

/* M phi: momentum in the body's frame for a twist in it. */
sn_vec6 sn_inertia_mul(sn_inertia I, sn_vec6 phi);

/* Eigenvalues of a symmetric 3x3 in ascending order, and (if V is not NULL) the rotation whose
 * columns are the eigenvectors. */
void sn_sym3_eigen(sn_mat3 A, double value[3], sn_mat3 *V);

#endif
