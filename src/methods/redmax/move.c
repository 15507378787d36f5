/* move.c: from the rates of a step to the end of it.
 *
 * Each body keeps the motion that the solve gave it: its centre of mass goes straight on, it turns
 * as a free body would.  The coordinates follow as well as the joints let them; then the rates
 * become what is nearest to that motion there,  M_r(q1) qd1 = J(q1)^T M phi. */
#include "methods/redmax/move.h"

#include "methods/redmax/foresee.h"
#include "methods/redmax/stay.h"

#include <string.h>

/* ---- turning ---- */

/* N^-1 x by Cramer's rule. */
static sn_vec3 solve3(sn_mat3 N, sn_vec3 x) {
  const sn_vec3 a = sn_mat3_col(N, 0), b = sn_mat3_col(N, 1), c = sn_mat3_col(N, 2);
  const double det = sn_mat3_det(N);
  return (sn_vec3){sn_vec3_dot(x, sn_vec3_cross(b, c)) / det,
                   sn_vec3_dot(a, sn_vec3_cross(x, c)) / det,
                   sn_vec3_dot(a, sn_vec3_cross(b, x)) / det};
}

/* A free body turns on for h, in its own axes, by the implicit midpoint rule
 *
 *     I (w* - w) + h m x I m = 0     m = (w + w*)/2
 *
 * which keeps the energy and the length of the momentum.  Two Newton steps from w come near; a
 * factor puts right what they miss of the energy, so that it holds at any step.  A body without
 * thickness has no moment about its axis, hence the small term on the diagonal. */
static sn_vec3 turn_on(sn_mat3 I, sn_vec3 w, double h) {
  const sn_vec3 spin = sn_mat3_mul_vec(I, w), bend = sn_vec3_cross(w, spin);
  const double small = 1e-9 * sn_mat3_trace(I), energy = sn_vec3_dot(w, spin);
  if (h * h * sn_vec3_dot(bend, bend) <= 1e-30 * sn_vec3_dot(spin, spin)) {
    return w; /* about a principal axis */
  }
  sn_vec3 turned = w;
  for (int k = 0; k < 2; k++) {
    const sn_vec3 m = sn_vec3_scale(sn_vec3_add(w, turned), 0.5), L = sn_mat3_mul_vec(I, m);
    const sn_vec3 rest =
        sn_vec3_addscaled(sn_mat3_mul_vec(I, sn_vec3_sub(turned, w)), h, sn_vec3_cross(m, L));
    const sn_mat3 slope =
        sn_mat3_add(sn_mat3_mul(sn_mat3_cross(m), I), sn_mat3_cross(sn_vec3_neg(L)));
    sn_mat3 N = sn_mat3_add(I, sn_mat3_scale(slope, 0.5 * h));
    for (int c = 0; c < 3; c++) {
      N.m[c][c] += small;
    }
    turned = sn_vec3_sub(turned, solve3(N, rest));
  }
  const double factor = sqrt(energy / sn_vec3_dot(turned, sn_mat3_mul_vec(I, turned)));
  return isfinite(factor) ? sn_vec3_scale(turned, factor) : w; /* no moments, or no motion */
}

/* Where the coordinates are a rotation vector, the body turns on with the angular velocity
 * w = Jr(r) rd of the step:  exp([r1]) = exp([r]) exp([h w]),  rd1 = Jr(r1)^-1 w.  Moving r by h rd
 * would turn it otherwise, and w would not be the same at the end: far from 0 by a third at a tenth
 * of a radian. */
static void turn_ball(const sni_tree *t, int k, double h, const double *q, double *q1,
                      double *qd1) {
  const int adr = t->vadr[t->ball[k].body] + t->ball[k].first;
  const sn_vec3 r = {q[adr], q[adr + 1], q[adr + 2]};
  const sn_vec3 w =
      sn_mat3_mul_vec(sn_so3_jacobian(r), (sn_vec3){qd1[adr], qd1[adr + 1], qd1[adr + 2]});
  if (w.x == 0 && w.y == 0 && w.z == 0) {
    return; /* it stays, to the last bit */
  }
  const sn_vec3 r1 = sn_so3_log(sn_mat3_mul(sn_so3_exp(r), sn_so3_exp(sn_vec3_scale(w, h))));
  const sn_vec3 rd1 = sn_mat3_mul_vec(sn_so3_jacobian_inverse(r1), w);
  memcpy(q1 + adr, (double[3]){r1.x, r1.y, r1.z}, 3 * sizeof *q1);
  memcpy(qd1 + adr, (double[3]){rd1.x, rd1.y, rd1.z}, 3 * sizeof *qd1);
}

/* ---- sliding ---- */

/* Columns of splines that do not turn have rounding there. */
static bool is_translation(sn_vec6 S) {
  return sn_vec3_dot(S.w, S.w) <= 1e-24 * sn_vec3_dot(S.v, S.v) && sn_vec3_dot(S.v, S.v) > 0;
}

/* A joint's pose and columns at q, in its own frames. */
static void joint_at(const sni_tree *t, int i, const double *q, const double *qd, sn_se3 *E_pb,
                     sn_vec6 *S) {
  sn_vec6 Sdot[SN_NV_MAX];
  const sni_joint_set set = sni_tree_joints(t);
  memcpy(S, t->S0 + t->vadr[i], (size_t)t->joint[i].nv * sizeof *S);
  sni_joint_ops_of(set, i)->calc(set, i, 1, q + t->vadr[i], qd + t->vadr[i],
                                 (sni_joint_out){E_pb, S, Sdot});
}

void sni_move_places(const sni_tree *t, const double *q, const double *qd, sn_se3 *E_wb) {
  for (int i = 0; i < t->nbody; i++) {
    sn_se3 E_pb;
    sn_vec6 S[SN_NV_MAX];
    joint_at(t, i, q, qd, &E_pb, S);
    E_wb[i] = t->parent[i] >= 0 ? sn_se3_mul(E_wb[t->parent[i]], E_pb) : E_pb;
  }
}

bool sni_move_turns(const sni_tree *t, int i) {
  const bool constant = sni_joint_ops_of(sni_tree_joints(t), i)->constant_S;
  bool turns = !constant && t->joint[i].nv > 0; /* somewhere, if not here */
  for (int c = t->vadr[i]; constant && c < t->vadr[i + 1]; c++) {
    turns = turns || sn_vec3_dot(t->S0[c].w, t->S0[c].w) > 0;
  }
  return turns;
}

bool sni_move_shifts(const sni_tree *t, int i) {
  const sni_joint_set set = sni_tree_joints(t);
  const int nv = t->joint[i].nv;
  if (!sni_joint_ops_of(set, i)->constant_S) { /* of these a ball alone leaves it where it is */
    return nv > 0 && !sni_tree_ball_alone(t, i);
  }
  bool shifts = false;
  for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++) {
    shifts = shifts || sn_vec3_dot(t->S0[c].v, t->S0[c].v) > 0;
  }
  return shifts;
}

bool sni_move_slides(const sni_system *s, const double *q, const double *qd) {
  const sni_tree *t = s->t;
  for (int i = 0; i < t->nbody; i++) {
    const int nv = t->joint[i].nv, p = t->parent[i];
    const bool carried = p >= 0 && !s->grounded[p];
    sn_se3 E_pb;
    sn_vec6 S[SN_NV_MAX];
    joint_at(t, i, q, qd, &E_pb, S);
    bool slides = false;
    for (int c = 0; c < nv; c++) {
      slides = slides || is_translation(S[c]);
    }
    if (slides && (carried || sni_move_turns(t, i))) {
      return true;
    }
  }
  return false;
}

/* x minimises |sum u_c x_c - e|, for at most three columns that are independent. */
static void nearest(const sn_vec3 *u, int n, sn_vec3 e, double *x) {
  sn_vec3 basis[3];
  double R[3][3] = {{0}};
  for (int c = 0; c < n; c++) {
    sn_vec3 v = u[c];
    for (int k = 0; k < c; k++) {
      R[k][c] = sn_vec3_dot(basis[k], v);
      v = sn_vec3_addscaled(v, -R[k][c], basis[k]);
    }
    R[c][c] = sn_vec3_norm(v);
    basis[c] = R[c][c] > 0 ? sn_vec3_scale(v, 1 / R[c][c]) : (sn_vec3){0};
  }
  for (int c = n - 1; c >= 0; c--) {
    x[c] = sn_vec3_dot(basis[c], e);
    for (int k = c + 1; k < n; k++) {
      x[c] -= R[c][k] * x[k];
    }
    x[c] = R[c][c] > 0 ? x[c] / R[c][c] : 0;
  }
}

/* Coordinates that slide along axes of a body which turns: q + h qd would go along the axes of the
 * start, and spiral outwards by 1 + (w h)^2/2 a step.  So from the ground on, each body is put
 * where its centre of mass would go straight, as far as its joint slides there; what sticks does
 * not.  The motion is s->motion: w->a may be somebody else's by now. */
static void slide_on(sn_sim *sim, const sni_system *s, double h, double *q1, const double *qd1) {
  const sni_tree *t = &sim->m->tree;
  const sni_still *still = s->still;
  sni_dynamics *d = &sim->d;
  sn_se3 *E1 =
      d->E_wb; /* of the bodies before i; of the others, p is where the centre of mass goes */
  d->noted++;  /* nobody finds poses there now */
  for (int i = 0; i < t->nbody; i++) {
    const sn_vec3 c =
        sn_mat3_mul_vec(sni_link_R(&d->w.link[i]), sni_params_inertia(&d->params, i).com);
    E1[i].p = sn_vec3_addscaled(sn_vec3_add(sni_lane_vec3(d->w.link[i].o), c), h, s->motion[i].v);
  }
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->joint[i].nv, p = t->parent[i];
    const sn_vec3 to = E1[i].p;
    sn_se3 E_pb;
    sn_vec6 S[SN_NV_MAX];
    joint_at(t, i, q1, qd1, &E_pb, S);
    E1[i] = p >= 0 ? sn_se3_mul(E1[p], E_pb) : E_pb;
    sn_vec3 u[3];
    int which[3], n = 0;
    for (int c = 0; c < nv && n < 3; c++) {
      if (is_translation(S[c]) && !(still && still->coord[adr + c])) {
        u[n] = sn_mat3_mul_vec(E1[i].R, S[c].v);
        which[n++] = c;
      }
    }
    const sn_vec3 at = sn_se3_point(E1[i], sni_params_inertia(&d->params, i).com);
    double x[3];
    nearest(u, n, sn_vec3_sub(to, at), x);
    for (int c = 0; c < n; c++) {
      q1[adr + which[c]] += x[c];
      E1[i].p = sn_vec3_addscaled(E1[i].p, x[c], u[c]);
    }
  }
}

/* ---- all of it ---- */

double sni_closure_gain(const sn_sim *sim) {
  return sim->options.redmax.closure == SN_CLOSURE_BAUMGARTE ? sim->options.redmax.gain : 0;
}

static void take_motion(sni_system *s, const sni_block *block) {
  const sni_dynamics *d = s->d;
  for (int i = block->first; i < block->end; i++) {
    const sn_inertia I = sni_params_inertia(&d->params, i);
    const sn_mat3 R = sni_link_R(&d->w.link[i]);
    const sn_vec6 a = sni_lane6_vec6(d->w.a[i]);
    s->motion[i].w = turn_on(sn_inertia_tensor(I), sn_mat3_tmul_vec(R, a.w), s->h);
    s->motion[i].v = sn_vec3_add(a.v, sn_vec3_cross(a.w, sn_mat3_mul_vec(R, I.com)));
  }
}

bool sni_move_begin(sni_system *s, sni_twists twists, bool foresees, const double *q, double *qd1,
                    double *q1) {
  const sni_tree *t = s->t;
  bool far = false;
  for (int k = 0; k < t->nblock; k++) {
    const sni_block *block = &t->block[k];
    if (twists == SNI_TWISTS_OUTWARD) {
      sni_solve_outward(t, block, &s->d->w, qd1);
    } else if (twists == SNI_TWISTS_OF_RATES) {
      sni_J_mul_block(t, block, &s->d->w, qd1);
    }
    for (int c = t->vadr[block->first]; c < t->vadr[block->end]; c++) {
      q1[c] = q[c] + s->h * qd1[c];
    }
    take_motion(s, block);
    far = far || (foresees && s->tense && sni_system_far(s, block));
  }
  return far;
}

/* M phi */
static sni_lane6 momentum_of(const sni_dynamics *d, int i, sn_vec6 motion) {
  const sn_inertia I = sni_params_inertia(&d->params, i);
  const sn_mat3 R = sni_link_R(&d->w.link[i]);
  const sn_vec3 p = sn_vec3_scale(motion.v, I.mass), c = sn_mat3_mul_vec(R, I.com);
  const sn_vec3 L = sn_mat3_mul_vec(R, sn_mat3_mul_vec(sn_inertia_tensor(I), motion.w));
  return sni_lane6_from((sn_vec6){sn_vec3_add(L, sn_vec3_cross(c, p)), p});
}

/* The rates from the motions, at q1, where poses are placed: down the tree and up again. */
static void settle(sni_system *s, const double *q1, double *qd1) {
  const sni_tree *t = s->t;
  sni_dynamics *d = s->d;
  const sni_aba_in in = sni_dynamics_masses(d);
  const double *x = sni_system_armature(s, qd1);
  int bad = -1;
  for (int k = t->nblock - 1; k >= 0; k--) {
    const sni_block *block = &t->block[k];
    sni_lane6 f[SNI_BLOCK_MAX];
    for (int i = block->first; i < block->end; i++) {
      f[i - block->first] = momentum_of(d, i, s->motion[i]);
    }
    const int b = sni_solve_inward(t, block, &in, &d->w, x, f);
    bad = bad >= 0 ? bad : b;
  }
  for (int k = 0; k < t->nblock && bad < 0; k++) { /* held by springs alone: the rates stay */
    sni_solve_outward(t, &t->block[k], &d->w, qd1);
    sni_move(t, &t->block[k], q1, qd1, &d->w);
  }
  sni_rotors_turn(d, q1, qd1);
  sni_dynamics_note(d, q1, bad < 0 ? qd1 : NULL);
}

sni_lane6 sni_move_momentum(const sni_system *s, int i) {
  return momentum_of(s->d, i, s->motion[i]);
}

void sni_move_momenta(sni_system *s, const double *qd1) {
  for (int i = s->t->nbody - 1; i >= 0; i--) {
    sni_system_project_body(s, i, sni_move_momentum(s, i), s->b);
  }
  sni_system_add_armature(s, qd1, s->b);
}

void sni_move_drift(sn_sim *sim, sni_system *s, double h, const double *q, double *q1,
                    double *qd1) {
  const sni_tree *t = s->t;
  for (int k = 0; k < t->nball; k++) {
    turn_ball(t, k, h, q, q1, qd1);
  }
  if (s->slides) {
    slide_on(sim, s, h, q1, qd1);
  }
}

void sni_move_shift(const sni_system *s, double *q1) {
  for (int k = 0; s->shift && k < s->t->nv; k++) {
    q1[k] += s->still && s->still->coord[k] ? 0 : s->shift[k];
  }
}

/* Where nothing but the joints decides where the coordinates go: block by block. */
static void drift_and_place(sni_system *s, double h, const double *q, double *q1, double *qd1) {
  const sni_tree *t = s->t;
  int ball = 0;
  for (int k = 0; k < t->nblock; k++) {
    const sni_block *block = &t->block[k];
    for (; ball < t->nball && t->ball[ball].body < block->end; ball++) {
      turn_ball(t, ball, h, q, q1, qd1);
    }
    sni_place(t, block, q1, qd1, &s->d->w);
  }
  sni_dynamics_forget(s->d); /* there are no velocities yet */
  sni_rotors_turn(s->d, q1, qd1);
}

static bool closes(const sn_sim *sim) {
  return sim->d.rows && sim->options.redmax.closure == SN_CLOSURE_PROJECT;
}

/* qd1 from the motions, at q1, where bodies are placed.  Where something is held by springs alone,
 * the rates stay. */
static void project(sn_sim *sim, sni_system *s, double t_end, const double *q1, double *qd1) {
  if (!sim->d.rows) {
    settle(s, q1, qd1);
    return;
  }
  const bool near = closes(sim) && !s->still; /* else masses are others */
  sni_move_momenta(s, qd1);
  for (int k = 0; s->owed && k < s->t->nv; k++) {
    s->b[k] -= s->h * s->owed[k];
  }
  sni_rows_momenta(sim->d.rows, t_end, t_end, sni_closure_gain(sim), near, s->b, q1, qd1);
}

static void find_rates(sn_sim *sim, sni_system *s, double t_end, const double *q1, double *qd1) {
  if (s->still) {
    sni_stay_welded(sim, s, t_end, project, q1, qd1);
  } else {
    if (s->owed) {
      memset(s->owed, 0, (size_t)s->t->nv * sizeof *s->owed);
    }
    project(sim, s, t_end, q1, qd1);
  }
  sni_stay_remember(s, sim->m);
}

sn_status sni_move_on(sn_sim *sim, sni_system *s, double t_end, double h, const double *q,
                      double *q1, double *qd1, sn_error *err) {
  sni_dynamics *d = &sim->d;
  if (!s->slides && !d->rows && !s->shift) {
    drift_and_place(s, h, q, q1, qd1);
    find_rates(sim, s, t_end, q1, qd1);
    return SN_OK;
  }
  sni_move_drift(sim, s, h, q, q1, qd1);
  sni_move_shift(s, q1);
  const bool closing = closes(sim);
  const sn_status status = closing ? sni_stay_close(sim, s, t_end, false, q1, qd1, err) : SN_OK;
  if (status) {
    return status;
  }
  if (d->rows && !closing) {
    sni_stay_open(sim, s, t_end, q1, qd1);
  }
  if (d->rows && sim->m->nsided > 0) {
    sni_dynamics_kinematics(d, q1, qd1);
  } else { /* there are no velocities yet */
    sni_dynamics_places(d, q1, qd1);
  }
  find_rates(sim, s, t_end, q1, qd1);
  return closing ? sni_sim_check_rates(sim, t_end, qd1, err) : SN_OK;
}
