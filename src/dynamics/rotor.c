/* rotor.c: armature: inertia against the coordinates themselves, such as that of a motor behind a
 * gear.
 *
 * A coordinate with an axis of its own gets a number on the diagonal of M_r.  The three numbers of
 * a rotation vector are no such coordinates: they jump when the vector is replaced by a shorter
 * one. There armature acts on the angular velocity w = Jr(r) rd, in the axes of the body:
 *
 *     T = 1/2 w^T A w     A dw/dt + w x A w = torque     dw/dt = Jr rdd + Jrdot rd
 *
 * which gives the block Jr^T A Jr of M_r and the joint force -Jr^T (A Jrdot rd + w x A w). */
#include "dynamics/dynamics.h"

#include <string.h>

void sni_rotors_refresh(sni_dynamics *d) {
  const sni_tree *t = &d->m->tree;
  const double *a = d->params.armature;
  memset(d->armature, 0, (size_t)t->nfactor * sizeof *d->armature);
  d->armed = false;
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    for (int k = 0; k < nv; k++) {
      d->armature[t->factor[i] + k * nv + k] = a[adr + k];
      d->armed = d->armed || a[adr + k] != 0;
    }
  }
  d->nrotor = 0;
  for (int k = 0; k < t->nball; k++) {
    const int i = t->ball[k].body, first = t->ball[k].first, adr = t->vadr[i] + first;
    const int nv = t->vadr[i + 1] - t->vadr[i];
    if (a[adr] > 0 || a[adr + 1] > 0 || a[adr + 2] > 0) {
      d->rotor[d->nrotor++] =
          (sni_rotor){.adr = adr, .block = t->factor[i] + first * nv + first, .nv = nv};
    }
  }
}

static sn_vec3 times(const double *a, sn_vec3 w) {
  return (sn_vec3){a[0] * w.x, a[1] * w.y, a[2] * w.z};
}

void sni_rotors_turn(sni_dynamics *d, const double *q, const double *qd) {
  for (int k = 0; k < d->nrotor; k++) {
    sni_rotor *rotor = &d->rotor[k];
    const double *a = d->params.armature + rotor->adr, *x = q + rotor->adr, *xd = qd + rotor->adr;
    const sn_vec3 rd = {xd[0], xd[1], xd[2]};
    sn_mat3 R, Jr, Jrdot;
    sn_so3_motion((sn_vec3){x[0], x[1], x[2]}, rd, &R, &Jr, &Jrdot);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        d->armature[rotor->block + i * rotor->nv + j] =
            sn_vec3_dot(sn_mat3_col(Jr, i), times(a, sn_mat3_col(Jr, j)));
      }
    }
    const sn_vec3 w = sn_mat3_mul_vec(Jr, rd);
    const sn_vec3 torque =
        sn_vec3_add(times(a, sn_mat3_mul_vec(Jrdot, rd)), sn_vec3_cross(w, times(a, w)));
    const sn_vec3 force = sn_vec3_neg(sn_mat3_tmul_vec(Jr, torque));
    memcpy(rotor->force, (double[3]){force.x, force.y, force.z}, sizeof rotor->force);
  }
}

void sni_rotors_add(const sni_dynamics *d, double s, double *tau) {
  for (int k = 0; k < d->nrotor; k++) {
    for (int c = 0; c < 3; c++) {
      tau[d->rotor[k].adr + c] += s * d->rotor[k].force[c];
    }
  }
}

double sni_rotors_energy(const sni_dynamics *d, const double *qd) {
  const sni_tree *t = &d->m->tree;
  double sum = 0;
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    const double *block = d->armature + t->factor[i];
    for (int r = 0; r < nv; r++) {
      for (int c = 0; c < nv; c++) {
        sum += 0.5 * qd[adr + r] * block[r * nv + c] * qd[adr + c];
      }
    }
  }
  return sum;
}
