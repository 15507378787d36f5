/* side.c: the right-hand side of a step that carries momenta on. */
#include "methods/redmax/system.h"

/* b = M_r qd + h J^T (gravity and wrenches). */
static void carry_on(sni_system *s) {
  const sni_dynamics *d = s->d;
  const double *g = d->params.gravity;
  const sni_lane pull = {s->h * g[0], s->h * g[1], s->h * g[2], 0};
  for (int i = s->t->nbody - 1; i >= 0; i--) {
    const sni_link *l = &d->w.link[i];
    /* gravity is a push that would move the whole body by h g */
    const sni_lane6 V = {l->w, l->v + pull};
    sni_lane6 f = sni_momentum(&d->mass[i], l, V);
    if (d->use_wrench) {
      f = sni_lane6_addscaled(f, s->h, sni_lane6_from(d->w.wrench[i]));
    }
    sni_system_project_body(s, i, f, s->b);
  }
}

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

void sni_system_projected_side(sni_system *s, const double *q, const double *qd) {
  carry_on(s);
  turn_rotors(s->d, q, qd, s->h, s->b);
  sni_system_armature(s, qd, s->b);
  for (int k = 0; k < s->t->nv; k++) {
    s->b[k] += s->h * s->d->w.tau[k];
  }
}
