/* kkt_bare.h: balls whose rates need not be unknowns of the graph (kkt.h).
 *
 * A ball without a matrix of its own, whose rates no constraint names, does nothing but hold its
 * point.  With y = phi - X phi_p, what the body does against the one that carries it:
 *
 *     y_v = 0              3 rows instead of 6, and no rates
 *     x = P y_w            the rates, when all is solved: P S_w = 1
 *     P^T b                what acts along them: a torque on the one, its opposite on the other
 *
 * 9 unknowns a body instead of 15.  And what is left of a body, once it is eliminated, adds up with
 * what carries it, where the elimination of rates takes most of it away again, and digits with it.
 * (Hinges would have 11 instead of 13.  But in planar loops of these most rows depend on others, to
 * within rounding only if that of the rates is done with.) */
#ifndef SNI_KKT_BARE_H
#define SNI_KKT_BARE_H

#include "dynamics/dynamics.h"

/* Which bodies have such joints, as the parameters stand.  Drives and the user's forces may always
 * add a matrix. */
void sni_bare_find(const sni_dynamics *d, bool *bare);
/* Has the joint of body i still got no matrix? */
bool sni_bare_stays(const sni_tree *t, const sni_aba_in *in, int i);

typedef struct sni_bare {
  sn_vec3 P[3]; /* rows */
} sni_bare;

/* Needs kinematics. */
void sni_bare_look(const sni_dynamics *d, int i, sni_bare *out);

/* out_i += P^T b, out_p -= P^T b, the torques of both; out_p NULL: the world. */
void sni_bare_push(const sni_bare *bare, const double *b, double *out_i, double *out_p);
/* x = P y_w for the twists of both; phi_p NULL: the world. */
void sni_bare_rates(const sni_bare *bare, const double *phi, const double *phi_p, double *x);

#endif
