/* loops.c: springs, dampers and drives in the joints of loops. */
#include "dynamics/loops.h"

#include "dynamics/rows.h"

#include <string.h>

void sni_loops_target(const sni_dynamics *d, const sni_loop_spring *own, double t, double t_ref,
                      double *target, double *rate) {
  const int nv = d->m->constraint[own->loop].nv;
  for (int c = 0; c < nv; c++) {
    double f[3] = {0};
    if (own->drive.target[c] >= 0) {
      sni_function_eval(d->m->function[own->drive.target[c]], t, t_ref, f);
    }
    target[c] = f[0];
    rate[c] = f[1]; /* the target's own, unless there is another */
    if (own->drive.rate[c] >= 0) {
      sni_function_eval(d->m->function[own->drive.rate[c]], t, t_ref, f);
      rate[c] = f[0];
    }
  }
}

bool sni_loops_look(sni_dynamics *d, int k, double t, double t_ref, sni_loop_at *out) {
  const sn_model *m = d->m;
  const sni_constraint *c = &m->constraint[m->loop_spring[k].loop];
  double on[3] = {1};
  if (c->active >= 0) {
    sni_function_eval(m->function[c->active], t_ref, t_ref, on);
  }
  if (!(on[0] > 0)) {
    return false;
  }
  for (int side = 0; side < 2; side++) {
    if (c->body[side] >= 0) {
      sni_dynamics_pose(d, c->body[side]);
    }
  }
  const sni_constraint_eval e = sni_rows_eval_of(d->rows, t, t_ref, NULL, NULL);
  sni_row row[SN_NV_MAX];
  sni_constraint_loop_rows(&e, c, row);
  out->own = &m->loop_spring[k];
  out->number = &d->params.loop[k];
  out->loop = c;
  sni_constraint_loop_map(&e, c, &out->map);
  memcpy(out->q, e.loop_q + c->first, (size_t)c->nv * sizeof(double));
  memcpy(out->qd, e.loop_qd + c->first, (size_t)c->nv * sizeof(double));
  if (out->own->driven) {
    sni_loops_target(d, out->own, t, t_ref, out->target, out->rate);
  }
  return true;
}

sni_spring sni_loops_spring(const sni_dynamics *d, const sni_loop_at *at) {
  return (sni_spring){.q = at->q,
                      .qd = at->qd,
                      .q_to = at->number->rest,
                      .qd_to = d->zero,
                      .stiffness = at->number->stiffness,
                      .damping = at->number->damping};
}

sni_spring sni_loops_drive(const sni_loop_at *at) {
  return (sni_spring){.q = at->q,
                      .qd = at->qd,
                      .q_to = at->target,
                      .qd_to = at->rate,
                      .stiffness = at->number->drive_stiffness,
                      .damping = at->number->drive_damping,
                      .max_force = at->number->drive_max};
}

void sni_loops_apply(sni_dynamics *d, const sni_loop_at *at, const double *tau) {
  if (!d->use_wrench) {
    memset(d->w.wrench, 0, (size_t)d->m->tree.nbody * sizeof *d->w.wrench);
    d->use_wrench = true;
  }
  for (int side = 0; side < 2; side++) {
    for (int c = 0; at->loop->body[side] >= 0 && c < at->loop->nv; c++) {
      sn_vec6 *wrench = &d->w.wrench[at->loop->body[side]];
      *wrench = sn_vec6_addscaled(*wrench, tau[c], at->map.p[side][c]);
    }
  }
}

void sni_loops_force(sni_dynamics *d, const sni_loop_at *at, double *tau) {
  const sni_joint_set joints = d->m->loop_joints;
  const sni_spring spring = sni_loops_spring(d, at), drive = sni_loops_drive(at);
  memset(tau, 0, (size_t)at->loop->nv * sizeof *tau);
  sni_joint_spring(joints, at->loop->joint, &spring, tau);
  if (at->own->driven) {
    sni_joint_spring(joints, at->loop->joint, &drive, tau);
  }
}

void sni_loops_push(sni_dynamics *d, double t, double t_ref) {
  for (int k = 0; d->rows && k < d->m->nloop_spring; k++) {
    sni_loop_at at;
    double tau[SN_NV_MAX];
    if (sni_loops_look(d, k, t, t_ref, &at)) {
      sni_loops_force(d, &at, tau);
      sni_loops_apply(d, &at, tau);
    }
  }
}

double sni_loops_energy(sni_dynamics *d, double t) {
  double energy = 0;
  for (int k = 0; d->rows && k < d->m->nloop_spring; k++) {
    sni_loop_at at;
    double tau[SN_NV_MAX] = {0};
    if (sni_loops_look(d, k, t, t, &at)) {
      const sni_spring spring = sni_loops_spring(d, &at);
      energy += sni_joint_spring(d->m->loop_joints, at.loop->joint, &spring, tau);
    }
  }
  return energy;
}
