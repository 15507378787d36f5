/* side.c: the right-hand side of a step that carries momenta on. */
#include "methods/redmax/system.h"

/* b += h times the joint forces of armature on rotation vectors.  Their angular velocity is carried
 * on like that of bodies, so of the forces in rotor.c the gyroscopic part is left. */
static void turn_rotors(const sni_dynamics *d, const double *q, const double *qd, double h,
                        double *b) {
  for (int k = 0; k < d->nrotor; k++) {
    const int adr = d->rotor[k].adr;
    const double *a = d->params.armature + adr;
    const sn_mat3 Jr = sn_so3_jacobian((sn_vec3){q[adr], q[adr + 1], q[adr + 2]});
    const sn_vec3 w = sn_mat3_mul_vec(Jr, (sn_vec3){qd[adr], qd[adr + 1], qd[adr + 2]});
    const sn_vec3 L = {a[0] * w.x, a[1] * w.y, a[2] * w.z};
    const sn_vec3 f = sn_mat3_tmul_vec(Jr, sn_vec3_cross(L, w));
    b[adr] += h * f.x;
    b[adr + 1] += h * f.y;
    b[adr + 2] += h * f.z;
  }
}

void sni_system_joint_side(sni_system *s, const double *q, const double *qd) {
  turn_rotors(s->d, q, qd, s->h, s->b);
  sni_system_add_armature(s, qd, s->b);
  for (int k = 0; k < s->t->nv; k++) {
    s->b[k] += s->h * s->d->w.tau[k];
  }
}

void sni_system_projected_side(sni_system *s, const double *q, const double *qd) {
  for (int i = s->t->nbody - 1; i >= 0; i--) {
    sni_system_project_body(s, i, sni_system_push(s, i), s->b);
  }
  sni_system_joint_side(s, q, qd);
}
