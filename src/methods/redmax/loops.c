/* loops.c: springs, dampers and drives in the joints of loops, in the linearly implicit step.
 *
 * With qd = P phi over the two bodies (dynamics/loops.h), what a joint's matrix h D + h^2 K is to
 * the rates of its coordinates,  P^T (h D + h^2 K) P  is to the twists of the bodies.  Written as
 * L diag L^T, it is a sum of terms along single directions, as forces have them. */
#include "dynamics/loops.h"
#include "methods/redmax/system.h"

#include <string.h>

/* Adds the terms of the nv x nv matrix A; it is used up. */
static void add_matrix(sni_system *s, int k, double *A, int nv) {
  const sni_loop_at *at = &s->loop[k];
  for (int i = 0; i < nv; i++) {
    const double pivot = A[i * nv + i];
    if (!(pivot > 0)) {
      continue; /* it is never below 0, and with it the row is 0 */
    }
    sni_term term = {.d = pivot / s->h, .part = SNI_PART_MATERIAL};
    for (int side = 0; side < 2; side++) {
      term.body[side] = at->loop->body[side];
      for (int j = i; j < nv; j++) {
        term.p[side] = sn_vec6_addscaled(term.p[side], A[j * nv + i] / pivot, at->map.p[side][j]);
      }
    }
    sni_system_add_term(s, s->first_loop + k, &term);
    for (int r = i + 1; r < nv; r++) {
      for (int c = i + 1; c < nv; c++) {
        A[r * nv + c] -= A[r * nv + i] * A[c * nv + i] / pivot;
      }
    }
  }
}

/* The spring's matrix into A, and to tau its force at rest, which stays explicit. */
static void add_spring(const sni_system *s, int joint, const sni_spring *spring, int nv, double *A,
                       double *tau) {
  const sni_joint_set joints = s->d->m->loop_joints;
  sni_spring at_rest = *spring;
  at_rest.qd = s->d->zero;
  at_rest.max_force = NULL;
  sni_joint_spring(joints, joint, &at_rest, tau);
  sni_joint_spring_matrix(joints, joint, spring, s->h, A, nv);
}

void sni_system_add_loops(sni_system *s) {
  sni_dynamics *d = s->d;
  for (int k = 0; k < d->m->nloop_spring; k++) {
    sni_loop_at *at = &s->loop[k];
    if (!sni_loops_look(d, k, s->time, s->time, at)) {
      at->loop = NULL;
      continue;
    }
    const int joint = at->loop->joint, nv = at->loop->nv;
    double A[SN_NV_MAX * SN_NV_MAX] = {0}, tau[SN_NV_MAX] = {0};
    const sni_spring spring = sni_loops_spring(d, at);
    add_spring(s, joint, &spring, nv, A, tau);
    if (at->own->driven) {
      double stiffness[SN_NV_MAX], damping[SN_NV_MAX];
      sni_spring drive = sni_loops_drive(at);
      for (int c = 0; c < nv; c++) {
        const bool held = s->loop_limited[SN_NV_MAX * k + c];
        stiffness[c] = held ? 0 : drive.stiffness[c];
        damping[c] = held ? 0 : drive.damping[c];
        tau[c] += held ? s->loop_limit[SN_NV_MAX * k + c] : 0;
      }
      drive.stiffness = stiffness;
      drive.damping = damping;
      add_spring(s, joint, &drive, nv, A, tau);
    }
    sni_loops_apply(d, at, tau);
    memcpy(s->loop_tau + SN_NV_MAX * k, tau, sizeof tau);
    memcpy(s->loop_matrix + SN_NV_MAX * SN_NV_MAX * k, A, sizeof A);
    add_matrix(s, k, A, nv);
  }
}

/* The rates of its coordinates, from the twists in w->a. */
static void loop_rates(const sni_system *s, const sni_loop_at *at, double *qd) {
  for (int c = 0; c < at->loop->nv; c++) {
    qd[c] = 0;
    for (int side = 0; side < 2; side++) {
      const int body = at->loop->body[side];
      const sn_vec6 p = at->map.p[side][c];
      qd[c] += body < 0 ? 0 : sn_vec6_dot(p, sni_lane6_vec6(s->d->w.a[body]));
    }
  }
}

void sni_system_loop_torques(const sni_system *s, int k, bool rest, double *tau) {
  const sni_loop_at *at = &s->loop[k];
  const int nv = at->loop->nv;
  const double *A = s->loop_matrix + SN_NV_MAX * SN_NV_MAX * k;
  double qd[SN_NV_MAX];
  loop_rates(s, at, qd);
  for (int i = 0; i < nv; i++) {
    tau[i] = rest ? s->loop_tau[SN_NV_MAX * k + i] : 0;
    for (int j = 0; j < nv; j++) {
      tau[i] -= A[i * nv + j] * qd[j] / s->h;
    }
  }
}

bool sni_system_limit_loops(sni_system *s, const double *qd1) {
  sni_dynamics *d = s->d;
  bool changed = false;
  if (d->m->nloop_drive == 0) {
    return false;
  }
  sni_J_mul_world(s->t, &d->w, qd1);
  for (int k = 0; k < d->m->nloop_spring; k++) {
    if (!s->loop[k].loop || !s->loop[k].own->driven) {
      continue;
    }
    sni_loop_at end = s->loop[k]; /* where the step leads, to first order */
    double limited[SN_NV_MAX] = {0}, free[SN_NV_MAX] = {0};
    loop_rates(s, &end, end.qd);
    for (int c = 0; c < end.loop->nv; c++) {
      end.q[c] += s->h * end.qd[c];
    }
    sni_spring drive = sni_loops_drive(&end);
    sni_joint_spring(d->m->loop_joints, end.loop->joint, &drive, limited);
    drive.max_force = NULL;
    sni_joint_spring(d->m->loop_joints, end.loop->joint, &drive, free);
    for (int c = 0; c < end.loop->nv; c++) {
      const int i = SN_NV_MAX * k + c;
      const bool held = limited[c] != free[c];
      changed = changed || held != s->loop_limited[i];
      s->loop_limited[i] = held;
      s->loop_limit[i] = limited[c];
    }
  }
  return changed;
}
