/* inverse.c: the forces in the joints for given accelerations, in linear time.
 *
 * Forward: a = shift(a_p) + c + S qdd.  Backward: F = M a + bias - wrench + sum_c shift(F_c): the
 * whole wrench that the joint exerts on its body.  tau = S^T F + armature qdd.   [RMS Alg 6] */
#include "dynamics/recursion.h"

#include <string.h>

/* Rate of change of momentum of body i when it accelerates with a, about o, in world axes. */
static sn_vec6 inertial(const sni_mass *m, const sni_link *l, sn_vec6 a) {
  const sn_mat3 R = sni_link_R(l);
  const sn_vec3 w = sni_lane_vec3(l->w), h = sn_mat3_mul_vec(R, m->mc);
  const sn_mat3 I = {{{m->xx, m->xy, m->xz}, {m->xy, m->yy, m->yz}, {m->xz, m->yz, m->zz}}};
  const sn_vec3 w_b = sn_mat3_tmul_vec(R, w), alpha_b = sn_mat3_tmul_vec(R, a.w);
  const sn_vec3 spin =
      sn_vec3_add(sn_mat3_mul_vec(I, alpha_b), sn_vec3_cross(w_b, sn_mat3_mul_vec(I, w_b)));
  const sn_vec3 force =
      sn_vec3_add(sn_vec3_scale(a.v, m->m),
                  sn_vec3_add(sn_vec3_cross(a.w, h), sn_vec3_cross(w, sn_vec3_cross(w, h))));
  return (sn_vec6){sn_vec3_add(sn_mat3_mul_vec(R, spin), sn_vec3_cross(h, a.v)), force};
}

void sni_inverse(const sni_tree *t, const sni_aba_in *in, sni_work *w, const double *qdd,
                 double *tau, sn_vec6 *F) {
  w->a[-1] = (sni_lane6){.v = -sni_lane_from(in->gravity)};
  for (int i = 0; i < t->nbody; i++) {
    const sni_link *l = &w->link[i];
    const sni_lane6 ap = w->a[t->parent[i]];
    sni_lane6 a = {ap.w + l->c.w, ap.v + (l->c.v + sni_lane_cross(ap.w, w->r[i]))};
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      a = sni_lane6_addscaled(a, qdd[k], w->S[k]);
    }
    w->a[i] = a;
    F[i] = inertial(&in->mass[i], l, sni_lane6_vec6(a));
    if (in->use_wrench) {
      F[i] = sn_vec6_sub(F[i], w->wrench[i]);
    }
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    for (int k = 0; k < nv; k++) {
      double own = in->joint_matrix ? 0 : in->armature[adr + k] * qdd[adr + k];
      for (int c = 0; in->joint_matrix && c < nv; c++) {
        own += in->joint_matrix[t->factor[i] + k * nv + c] * qdd[adr + c];
      }
      tau[adr + k] = sni_lane6_dot(w->S[adr + k], sni_lane6_from(F[i])) + own;
    }
    const int p = t->parent[i];
    if (p >= 0) {
      F[p].v = sn_vec3_add(F[p].v, F[i].v);
      F[p].w =
          sn_vec3_add(F[p].w, sn_vec3_add(F[i].w, sn_vec3_cross(sni_lane_vec3(w->r[i]), F[i].v)));
    }
  }
}
