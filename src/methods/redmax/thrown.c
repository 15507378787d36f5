/* thrown.c: steps that go too far.
 *
 * Springs that are stiff and far from rest, in a pose where much turning changes little in their
 * lengths, may throw a linearly implicit step beyond where they would be at rest, to where they are
 * strained more than before: what arcs differ from tangents is more than the strain that was there.
 * The direction is right, the length is not: where nothing can bring energy, such a step goes a
 * part of the way. */
#include "methods/redmax/thrown.h"

#include "model/map.h"

#include <string.h>

sn_energy sni_energy_of(sn_sim *sim, sn_state *state) {
  sn_energy e;
  sni_dynamics_kinematics(&sim->d, sni_state_q(state), sni_state_qd(state));
  sni_dynamics_energy(&sim->d, state->t, sni_state_q(state), sni_state_qd(state), &e);
  return e;
}
static sn_vec3 three(const double *x) {
  return (sn_vec3){x[0], x[1], x[2]};
}

/* Of a rotation vector and its rates: R = R'' (R'^T R'')^part, w = w'' + part (w'' - w') in the
 * body's axes.  The vectors themselves may be a full turn apart. */
static void extrapolate_ball(const double *q1, const double *qd1, const double *q2,
                             const double *qd2, double part, double *q, double *qd) {
  const sn_mat3 R1 = sn_so3_exp(three(q1)), R2 = sn_so3_exp(three(q2));
  const sn_vec3 w1 = sn_mat3_mul_vec(sn_so3_jacobian(three(q1)), three(qd1));
  const sn_vec3 w2 = sn_mat3_mul_vec(sn_so3_jacobian(three(q2)), three(qd2));
  const sn_vec3 turn = sn_so3_log(sn_mat3_mul(sn_mat3_transpose(R1), R2));
  const sn_vec3 r = sn_so3_log(sn_mat3_mul(R2, sn_so3_exp(sn_vec3_scale(turn, part))));
  const sn_vec3 w = sn_vec3_addscaled(w2, part, sn_vec3_sub(w2, w1));
  const sn_vec3 rd = sn_mat3_mul_vec(sn_so3_jacobian_inverse(r), w);
  memcpy(q, (double[3]){r.x, r.y, r.z}, 3 * sizeof *q);
  memcpy(qd, (double[3]){rd.x, rd.y, rd.z}, 3 * sizeof *qd);
}

void sni_extrapolate(const sni_tree *t, const double *one, const double *two, double part,
                     double *y) {
  for (int k = 0, ball = 0; k < t->nv; k++) {
    const bool turns = ball < t->nball && t->vadr[t->ball[ball].body] + t->ball[ball].first == k;
    if (turns) {
      extrapolate_ball(one + k, one + t->nv + k, two + k, two + t->nv + k, part, y + k,
                       y + t->nv + k);
      ball++;
      k += 2;
      continue;
    }
    for (int at = k; at < 2 * t->nv; at += t->nv) { /* the coordinate, then its rate */
      y[at] = two[at] + part * (two[at] - one[at]);
    }
  }
}

static bool is_nonzero_constant(const sn_model *m, int f) {
  double value[3] = {0};
  if (f >= 0 && sni_function_is_constant(m->function[f])) {
    sni_function_eval(m->function[f], 0, 0, value);
  }
  return value[0] != 0;
}

/* Motors that turn at a constant rate, and constant forces along the coordinates of maps.  Where a
 * motion holds something in a constant place it brings nothing. */
static bool is_fed(const sn_model *m) {
  bool fed = false;
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    const bool at_rate = c->kind == SNI_RATE || c->kind == SNI_TWIST;
    for (int i = 0; at_rate && i < SN_NV_MAX; i++) {
      fed = fed || is_nonzero_constant(m, c->function[i]);
    }
    for (int i = 0; c->map && i < c->map->nz; i++) {
      fed = fed || is_nonzero_constant(m, c->map->force[i]);
    }
  }
  return fed;
}

bool sni_is_closed(const sn_sim *sim, const sn_input *input) {
  const sn_model *m = sim->m;
  const bool timed = sim->d.nbreaking > 0; /* functions that are not constant */
  bool closed =
      !sim->d.user_force && !input && m->ndrive == 0 && m->nloop_drive == 0 && !timed && !is_fed(m);
  for (int f = 0; f < m->nforce; f++) {
    closed = closed && sni_force_kind(m->force[f].kind)->potential;
  }
  return closed;
}

/* Explicit springs bring energy where they are stiff, and are to be seen doing so. */
bool sni_may_be_held(const sn_sim *sim, const sn_input *input) {
  bool implicit = sni_is_closed(sim, input);
  for (int k = 0; implicit && k < sim->m->nforce; k++) {
    implicit = sim->m->force[k].implicit;
  }
  return implicit;
}

/* For a little way there is less energy: the direction is downhill in the strain. */
double sni_go_less_far(sn_sim *sim, sn_state *state, const double *start, const double *two,
                       double E0) {
  enum { TRIES = 40 };
  const sni_tree *t = &sim->m->tree;
  double part = 1, E = INFINITY;
  for (int k = 0; k < TRIES && !(E <= E0); k++) {
    part *= 0.5;
    sni_extrapolate(t, start, two, part - 1, state->data);
    E = sni_total(sni_energy_of(sim, state));
  }
  return part;
}

/* Of springs and cables, where the kinematics are. */
static double strain_of(sn_sim *sim, double t) {
  const sn_model *m = sim->m;
  const sni_force_eval e = sni_dynamics_force_eval(&sim->d, t, t, false);
  double sum = 0;
  for (int k = 0; k < m->nline; k++) {
    const sni_force *force = &m->force[m->line[k]];
    if (sni_force_is_active(&e, force)) {
      for (int end = 0; end < 2; end++) {
        if (force->body[end] >= 0) {
          sni_dynamics_pose(&sim->d, force->body[end]);
        }
      }
      for (int i = 0; i < force->nmember; i++) {
        sni_dynamics_pose(&sim->d, force->member[i]);
      }
      sum += sni_force_kind(force->kind)->potential(&e, force, sim->d.params.force + force->param);
    }
  }
  return sum;
}

/* Strain that grows by more than this in a step is looked at. */
#define SUSPECT 1.05

sn_status sni_step_guarded(sni_first_order step, sn_sim *sim, sn_state *state,
                           const sn_input *input, double t_end, double *room, sn_info *info,
                           sn_error *err) {
  const size_t numbers = 2 * (size_t)sim->m->tree.nv, bytes = numbers * sizeof(double);
  double *start = room, *end = room + numbers;
  const double t0 = state->t;
  if (!sni_may_be_held(sim, input)) {
    return step(sim, state, input, t_end, info, err);
  }
  memcpy(start, state->data, bytes);
  sni_dynamics_kinematics(&sim->d, sni_state_q(state), sni_state_qd(state));
  const double strain = strain_of(sim, t0);
  const sn_status status = step(sim, state, input, t_end, info, err);
  if (status < 0 || state->t != t_end) {
    return status;
  }
  sni_dynamics_kinematics(&sim->d, sni_state_q(state), sni_state_qd(state));
  if (strain_of(sim, t_end) <= SUSPECT * strain) {
    return status;
  }
  const sn_energy after = sni_energy_of(sim, state);
  memcpy(end, state->data, bytes);
  memcpy(state->data, start, bytes);
  const sn_energy before = sni_energy_of(sim, state);
  memcpy(state->data, end, bytes);
  if (!sni_is_thrown(before, after)) {
    return status;
  }
  sni_go_less_far(sim, state, start, end, sni_total(before));
  const sn_status closed =
      sim->d.rows ? sni_sim_project(sim, t_end, t_end, sni_state_q(state), sni_state_qd(state), err)
                  : SN_OK;
  if (closed) {
    memcpy(state->data, start, bytes);
    state->t = t0;
  }
  return closed ? closed : status;
}
