/* queries.c: dynamics, one call at a time: what can be asked of a sim at a state. */
#include "methods/sim.h"

#include <string.h>

static const double *state_q(const sn_state *s) {
  return s->data;
}
static const double *state_qd(const sn_state *s) {
  return s->data + s->nv;
}

static void copy_state(sn_sim *sim, const sn_state *state) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  memcpy(sim->q, state_q(state), bytes);
  memcpy(sim->qd, state_qd(state), bytes);
}

static void kinematics(sn_sim *sim, const sn_state *state) {
  sni_sim_see_loops(sim, state);
  sni_dynamics_kinematics(&sim->d, state_q(state), state_qd(state));
}

/* Why a recursion stopped at a body. */
static sn_status no_inertia(const sn_sim *sim, sn_error *err, int body, const sn_state *state) {
  int lost = sni_dynamics_not_finite(&sim->d, state_q(state));
  lost = lost >= 0 ? lost : sni_dynamics_not_finite(&sim->d, state_qd(state));
  return lost >= 0 ? sni_fail_body(sim, err, SN_E_DIVERGED, lost, state->t,
                                   "has a coordinate or a rate that is not finite")
                   : sni_fail_singular(sim, err, body, state->t);
}

/* Does the state tell what this sim has pressed on? */
static bool tells_pressed(const sn_sim *sim, const sn_state *state) {
  return sim->method->pressed && state->method == sni_sim_private_id(sim);
}

void sni_sim_let_go(const sn_sim *sim, sn_state *state) {
  if (tells_pressed(sim, state)) {
    memset(sim->method->pressed(sim->m, state), 0,
           (size_t)sni_unilateral_count(sim->m) * sizeof(double));
  }
}

sn_status sn_sim_forward(sn_sim *sim, const sn_state *state, const sn_input *input, double *qdd,
                         sn_error *err) {
  const sn_status status = sni_sim_check_state(sim, state, err);
  if (status) {
    return status;
  }
  sni_sim_see_loops(sim, state);
  /* only motions write to q and qd, and a pass over long vectors is worth sparing */
  double *q = (double *)state_q(state), *qd = (double *)state_qd(state);
  if (sim->m->nmotion > 0) {
    copy_state(sim, state);
    q = sim->q;
    qd = sim->qd;
  }
  if (tells_pressed(sim, state)) {
    sni_unilateral_load_pressed(&sim->rows, sim->method->pressed(sim->m, (sn_state *)state),
                                *sim->d.params.step);
  }
  const int bad = sni_dynamics_accelerate(&sim->d, state->t, state->t, q, qd, input, qdd);
  sni_unilateral_load(&sim->rows, NULL, sim->rows.u.pressed);
  if (bad >= 0) {
    return no_inertia(sim, err, bad, state);
  }
  const int wild = sni_dynamics_not_finite(&sim->d, qdd);
  return wild >= 0
             ? sni_fail_body(sim, err, SN_E_DIVERGED, wild, state->t,
                             "has an acceleration that is not finite: look at what acts on it")
             : SN_OK;
}

static void reactions_out(const sn_sim *sim, sn_vec6 *reaction) {
  for (int i = 0; reaction && i < sim->m->tree.nbody; i++) {
    reaction[i] = sn_vec6_unrotate(sni_link_R(&sim->d.w.link[i]), sim->F[i]);
  }
}

sn_status sn_sim_inverse(sn_sim *sim, const sn_state *state, const sn_input *input,
                         const double *qdd, double *tau, sn_vec6 *reaction, sn_error *err) {
  const sn_status status = sni_sim_check_state(sim, state, err);
  if (status) {
    return status;
  }
  kinematics(sim, state);
  sni_dynamics_forces(&sim->d, state->t, state->t, state_q(state), state_qd(state), input);
  const sni_aba_in in = sni_dynamics_aba_in(&sim->d);
  sni_inverse(&sim->m->tree, &in, &sim->d.w, qdd, tau, sim->F);
  for (int k = 0; k < sim->m->tree.nv; k++) {
    tau[k] -= sim->d.w.tau[k];
  }
  reactions_out(sim, reaction);
  return SN_OK;
}

sn_status sn_sim_hybrid(sn_sim *sim, const sn_state *state, const sn_input *input,
                        const sn_joint_mode *mode, double *qdd, double *tau, sn_vec6 *reaction,
                        sn_error *err) {
  const sn_status status = sni_sim_check_state(sim, state, err);
  if (status) {
    return status;
  }
  const sni_tree *t = &sim->m->tree;
  sni_dynamics *d = &sim->d;
  kinematics(sim, state);
  sni_dynamics_forces(d, state->t, state->t, state_q(state), state_qd(state), input);
  for (int i = 0; i < t->nbody; i++) {
    d->prescribed[i] = mode[i] == SN_JOINT_PRESCRIBED;
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      sim->acting[k] = d->w.tau[k]; /* what acts already */
      d->w.tau[k] += d->prescribed[i] ? 0 : tau[k];
    }
  }
  sni_aba_in in = sni_dynamics_aba_in(d);
  in.prescribed = d->prescribed;
  const int bad = sni_aba(t, &in, &d->w, qdd);
  /* only joints with a motion may be prescribed in what comes after this call */
  memset(d->prescribed, 0, (size_t)t->nbody * sizeof *d->prescribed);
  if (bad >= 0) {
    return no_inertia(sim, err, bad, state);
  }
  sni_inverse(t, &in, &d->w, qdd, sim->tau, sim->F);
  for (int i = 0; i < t->nbody; i++) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      tau[k] = mode[i] == SN_JOINT_PRESCRIBED ? sim->tau[k] - sim->acting[k] : tau[k];
    }
  }
  reactions_out(sim, reaction);
  return SN_OK;
}

sn_status sni_sim_evaluate(sn_sim *sim, const sn_state *state, const sn_input *input,
                           sn_error *err) {
  const bool known = sim->m->nslide > 0 || sim->m->touching;
  const bool own = state->method == sni_sim_private_id(sim);
  if (own && known && sim->method->rub) {
    kinematics(sim, state);
    sim->method->rub(sim, state);
  }
  const sn_status status = sn_sim_forward(sim, state, input, sim->qdd, err);
  sim->d.friction = NULL;
  if (!status) {
    const sni_aba_in in = sni_dynamics_aba_in(&sim->d);
    sni_inverse(&sim->m->tree, &in, &sim->d.w, sim->qdd, sim->tau, sim->F);
    memcpy(sim->acting, sim->d.w.tau, (size_t)sim->m->tree.nv * sizeof(double));
    /* what rotors do by themselves is their inertia, not a force in the joint */
    sni_rotors_add(&sim->d, -1, sim->tau);
    sni_rotors_add(&sim->d, -1, sim->acting);
  }
  return status;
}

sn_status sn_sim_poses(sn_sim *sim, const sn_state *state, sn_se3 *E_wb, sn_vec6 *phi) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (status) {
    return status;
  }
  kinematics(sim, state);
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    const sni_link *l = &sim->d.w.link[i];
    if (E_wb) {
      E_wb[i] = sni_link_pose(l);
    }
    if (phi) {
      phi[i] = sn_vec6_unrotate(sni_link_R(l), sni_link_twist(l));
    }
  }
  return SN_OK;
}

sn_status sn_sim_mass_matrix(sn_sim *sim, const sn_state *state, double *M) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (!status) {
    kinematics(sim, state);
    const sni_aba_in in = sni_dynamics_aba_in(&sim->d);
    sni_mass_matrix(&sim->m->tree, &in, &sim->d.w, M);
  }
  return status;
}

sn_status sn_sim_J_mul(sn_sim *sim, const sn_state *state, const double *x, sn_vec6 *y) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (!status) {
    kinematics(sim, state);
    sni_J_mul(&sim->m->tree, &sim->d.w, x, y);
  }
  return status;
}

sn_status sn_sim_Jdot_mul(sn_sim *sim, const sn_state *state, const double *x, sn_vec6 *z) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (!status) {
    kinematics(sim, state);
    sni_kinematics_Sdot(&sim->m->tree, state_q(state), state_qd(state), &sim->d.w);
    sni_Jdot_mul(&sim->m->tree, &sim->d.w, x, z);
  }
  return status;
}

sn_status sn_sim_Jt_mul(sn_sim *sim, const sn_state *state, const sn_vec6 *y, double *x) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (!status) {
    kinematics(sim, state);
    sni_Jt_mul(&sim->m->tree, &sim->d.w, y, x);
  }
  return status;
}

sn_status sn_sim_Minv_mul(sn_sim *sim, const sn_state *state, const double *x, double *y,
                          sn_error *err) {
  const sn_status status = sni_sim_check_state(sim, state, err);
  if (status) {
    return status;
  }
  kinematics(sim, state);
  const sni_aba_in in = sni_dynamics_aba_in(&sim->d);
  const int bad = sni_factorise(&sim->m->tree, &in, &sim->d.w);
  if (bad >= 0) {
    return no_inertia(sim, err, bad, state);
  }
  sni_Minv_mul(&sim->m->tree, &sim->d.w, x, y);
  return SN_OK;
}

sn_status sn_sim_point_jacobian(sn_sim *sim, const sn_state *state, int body, sn_vec3 point,
                                double *J) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (status || body < -1 || body >= sim->m->tree.nbody) {
    return status ? status : SN_E_ARGUMENT;
  }
  kinematics(sim, state);
  sni_point_jacobian(&sim->m->tree, &sim->d.w, body, point, J);
  return SN_OK;
}

sn_status sn_sim_energy(sn_sim *sim, const sn_state *state, sn_energy *energy) {
  const sn_status status = sni_sim_check_state(sim, state, NULL);
  if (!status) {
    kinematics(sim, state);
    sni_dynamics_energy(&sim->d, state->t, state_q(state), state_qd(state), energy);
  }
  return status;
}
