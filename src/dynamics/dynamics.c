/* dynamics.c: everything that acts on a mechanism, evaluated. */
#include "dynamics/dynamics.h"

#include "base/memory.h"
#include "dynamics/loops.h"
#include "dynamics/rows.h"

#include <string.h>

static bool has_forces(const sni_dynamics *d) {
  return d->m->nforce > 0 || d->ndragged > 0 || d->user_force || d->hand.holds;
}

sni_spring sni_dynamics_joint_spring(const sni_dynamics *d, int body, const double *q,
                                     const double *qd) {
  const int adr = d->m->tree.vadr[body];
  return (sni_spring){.q = q + adr,
                      .qd = qd + adr,
                      .q_to = d->params.rest + adr,
                      .qd_to = d->zero,
                      .stiffness = d->params.stiffness + adr,
                      .damping = d->params.damping + adr};
}

/* tau += what springs and dampers in the joints give; returns their energy. */
static double joint_springs(const sni_dynamics *d, const double *q, const double *qd, double *tau) {
  const sni_tree *t = &d->m->tree;
  double energy = 0;
  for (int k = 0; k < d->nsprung; k++) {
    const int i = d->sprung[k];
    const sni_spring spring = sni_dynamics_joint_spring(d, i, q, qd);
    energy += sni_joint_spring(sni_tree_joints(t), i, &spring, tau + t->vadr[i]);
  }
  return energy;
}

sni_spring sni_dynamics_drive(const sni_dynamics *d, int k, double t, double t_ref, const double *q,
                              const double *qd, const sn_input *input, double *target,
                              double *rate) {
  const sn_model *m = d->m;
  const sni_drive *drive = &m->drive[k];
  const int adr = m->tree.vadr[drive->body], nv = m->tree.vadr[drive->body + 1] - adr;
  for (int c = 0; c < nv; c++) {
    double f[3] = {0};
    if (input && input->drive_target) {
      f[0] = input->drive_target[adr + c];
    } else if (drive->target[c] >= 0) {
      sni_function_eval(m->function[drive->target[c]], t, t_ref, f);
    }
    target[c] = f[0];
    rate[c] = f[1]; /* the target's own, unless there is another */
    if (input && input->drive_rate) {
      rate[c] = input->drive_rate[adr + c];
    } else if (drive->rate[c] >= 0) {
      sni_function_eval(m->function[drive->rate[c]], t, t_ref, f);
      rate[c] = f[0];
    }
  }
  return (sni_spring){.q = q + adr,
                      .qd = qd + adr,
                      .q_to = target,
                      .qd_to = rate,
                      .stiffness = d->params.drive_stiffness + adr,
                      .damping = d->params.drive_damping + adr,
                      .max_force = d->params.drive_max + adr};
}

static void drives(const sni_dynamics *d, double t, double t_ref, const double *q, const double *qd,
                   const sn_input *input, double *tau) {
  for (int k = 0; k < d->m->ndrive; k++) {
    const int i = d->m->drive[k].body;
    double target[SN_NV_MAX], rate[SN_NV_MAX];
    const sni_spring spring = sni_dynamics_drive(d, k, t, t_ref, q, qd, input, target, rate);
    sni_joint_spring(sni_tree_joints(&d->m->tree), i, &spring, tau + d->m->tree.vadr[i]);
  }
}

/* A wrench -d times the twist of the centre-of-mass frame. */
static void drag(const sni_dynamics *d) {
  for (int k = 0; k < d->ndragged; k++) {
    const int i = d->dragged[k];
    const double *I = d->params.inertia + 10 * i;
    const sn_vec3 c = sn_mat3_mul_vec(d->E_wb[i].R, (sn_vec3){I[1], I[2], I[3]});
    const sn_vec6 phi = d->phi[i];
    const sn_vec3 force =
        sn_vec3_scale(sn_vec3_add(phi.v, sn_vec3_cross(phi.w, c)), -d->params.drag_linear[i]);
    sn_vec6 *wrench = &d->w.wrench[i];
    wrench->w = sn_vec3_add(
        wrench->w, sn_vec3_addscaled(sn_vec3_cross(c, force), -d->params.drag_angular[i], phi.w));
    wrench->v = sn_vec3_add(wrench->v, force);
  }
}

void sni_dynamics_pose(const sni_dynamics *d, int i) {
  d->E_wb[i] = sni_link_pose(&d->w.link[i]);
  d->phi[i] = sni_link_twist(&d->w.link[i]);
}

void sni_dynamics_poses(sni_dynamics *d) {
  for (int i = 0; i < d->m->tree.nbody; i++) {
    sni_dynamics_pose(d, i);
  }
}

static void poses_of_touched(const sni_dynamics *d) {
  for (int k = 0; k < d->ntouched; k++) {
    sni_dynamics_pose(d, d->touched[k]);
  }
  if (d->hand.holds) {
    sni_dynamics_pose(d, d->hand.spring.body[0]);
  }
}

sni_force_eval sni_dynamics_force_eval(const sni_dynamics *d, double t, double t_ref,
                                       bool without_damping) {
  return (sni_force_eval){.t = t,
                          .t_ref = t_ref,
                          .function = (const sni_function *const *)d->m->function,
                          .E_wb = d->E_wb,
                          .phi = d->phi,
                          .wrench = d->w.wrench,
                          .tau = d->w.tau,
                          .without_damping = without_damping,
                          .h = without_damping ? d->ahead : 0};
}

static void note_rates(sni_dynamics *d, const double *qd) {
  d->noted++;
  d->moving = qd != NULL;
  if (qd && d->m->tree.nv > 0) {
    memcpy(d->qd_at, qd, (size_t)d->m->tree.nv * sizeof *qd);
  }
}

void sni_dynamics_note(sni_dynamics *d, const double *q, const double *qd) {
  d->placed = true;
  if (d->m->tree.nv > 0) {
    memcpy(d->q_at, q, (size_t)d->m->tree.nv * sizeof *q);
  }
  note_rates(d, qd);
}

/* To the bit: -0 turns otherwise than 0 in nobody's eyes but those of a hash. */
static bool same(const double *a, const double *b, int n) {
  return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

void sni_dynamics_kinematics(sni_dynamics *d, const double *q, const double *qd) {
  const sni_tree *t = &d->m->tree;
  const bool placed = d->placed && same(d->q_at, q, t->nv);
  if (placed && d->moving && same(d->qd_at, qd, t->nv)) {
    return;
  }
  if (!placed) {
    sni_kinematics(t, q, qd, &d->w);
    sni_dynamics_note(d, q, qd);
  } else {
    for (int k = 0; k < t->nblock; k++) {
      sni_move(t, &t->block[k], q, qd, &d->w);
    }
    note_rates(d, qd);
  }
  sni_rotors_turn(d, q, qd);
}

void sni_dynamics_places(sni_dynamics *d, const double *q, const double *qd) {
  const sni_tree *t = &d->m->tree;
  if (d->placed && same(d->q_at, q, t->nv)) {
    return;
  }
  for (int k = 0; k < t->nblock; k++) {
    sni_place(t, &t->block[k], q, qd, &d->w);
  }
  sni_rotors_turn(d, q, qd);
  sni_dynamics_note(d, q, NULL);
}

static void push_friction(sni_dynamics *d) {
  const size_t nbody = (size_t)d->m->tree.nbody;
  if (!d->use_wrench) {
    memset(d->w.wrench, 0, nbody * sizeof *d->w.wrench);
    d->use_wrench = true;
  }
  for (size_t i = 0; i < nbody; i++) {
    d->w.wrench[i] = sn_vec6_add(d->w.wrench[i], d->friction_wrench[i]);
  }
  for (int k = 0; k < d->m->tree.nv; k++) {
    d->w.tau[k] += d->friction[k];
  }
}

void sni_dynamics_forces(sni_dynamics *d, double t, double t_ref, const double *q, const double *qd,
                         const sn_input *input) {
  sni_dynamics_external(d, t, t_ref, q, qd, input, false);
  sni_rotors_add(d, 1, d->w.tau);
  joint_springs(d, q, qd, d->w.tau);
  drives(d, t, t_ref, q, qd, input, d->w.tau);
  sni_loops_push(d, t, t_ref);
  if (d->friction) {
    push_friction(d);
  }
  if (d->m->soft && d->rows) {
    sni_unilateral_soften(d->rows, t, t_ref, q, qd, true);
  }
}

/* Forces along coordinates of maps: what works the same on the joints that lead. */
static void push_maps(sni_dynamics *d, double t, double t_ref) {
  const sn_model *m = d->m;
  for (int k = 0; k < m->nmap; k++) {
    const sni_map *map = m->map[k];
    for (int l = 0; l < map->nz; l++) {
      double f[3] = {0};
      if (map->force[l] >= 0) {
        sni_function_eval(m->function[map->force[l]], t, t_ref, f);
      }
      for (int j = 0; j < map->nz && f[0] != 0; j++) {
        d->w.tau[map->coord[map->lead[j]]] += f[0] * map->inverse[l * map->nz + j];
      }
    }
  }
}

void sni_dynamics_external(sni_dynamics *d, double t, double t_ref, const double *q,
                           const double *qd, const sn_input *input, bool without_damping) {
  const sn_model *m = d->m;
  const size_t nv = (size_t)m->tree.nv, nbody = (size_t)m->tree.nbody;
  if (input && input->tau) {
    memcpy(d->w.tau, input->tau, nv * sizeof *d->w.tau);
  } else {
    memset(d->w.tau, 0, nv * sizeof *d->w.tau);
  }
  push_maps(d, t, t_ref);
  d->use_wrench = has_forces(d) || (input && input->wrench);
  if (!d->use_wrench) {
    return;
  }
  if (input && input->wrench) {
    memcpy(d->w.wrench, input->wrench, nbody * sizeof *d->w.wrench);
  } else {
    memset(d->w.wrench, 0, nbody * sizeof *d->w.wrench);
  }
  if (!has_forces(d)) {
    return;
  }
  if (d->user_force || (!without_damping && d->ndragged > 0)) {
    sni_dynamics_poses(d);
  } else {
    poses_of_touched(d);
  }
  if (!without_damping) {
    drag(d);
  }
  sni_force_eval e = sni_dynamics_force_eval(d, t, t_ref, without_damping);
  for (int f = 0; f < m->nforce; f++) {
    e.without_damping = without_damping && m->force[f].implicit;
    e.h = e.without_damping ? d->ahead : 0;
    e.taut = e.without_damping && d->taut ? d->taut[f] : 0;
    if (sni_force_is_active(&e, &m->force[f])) {
      sni_force_kind(m->force[f].kind)
          ->apply(&e, &m->force[f], d->params.force + m->force[f].param);
    }
  }
  if (d->hand.holds) {
    e.without_damping = without_damping;
    e.h = without_damping ? d->ahead : 0;
    sni_force_spring.apply(&e, &d->hand.spring, d->hand.param);
  }
  if (d->user_force) {
    const sn_force_context context = {.t = t,
                                      .nbody = m->tree.nbody,
                                      .nv = m->tree.nv,
                                      .E_wb = d->E_wb,
                                      .phi = d->phi,
                                      .q = q,
                                      .qd = qd,
                                      .wrench = d->w.wrench,
                                      .tau = d->w.tau,
                                      .without_damping = without_damping && d->user_tangent};
    d->user_force(&context, d->user);
  }
}

void sni_dynamics_prescribe(sni_dynamics *d, double t, double t_ref, double *q, double *qd,
                            double *qdd) {
  const sn_model *m = d->m;
  d->any_prescribed = false;
  if (d->rows) {
    return; /* there motions are constraints among others */
  }
  for (int k = 0; k < m->nmotion; k++) {
    const sni_motion *motion = &m->motion[k];
    double f[3] = {1};
    if (motion->active >= 0) {
      sni_function_eval(m->function[motion->active], t_ref, t_ref, f);
    }
    d->prescribed[motion->body] = f[0] > 0;
    if (!(f[0] > 0)) {
      continue;
    }
    d->any_prescribed = true;
    const int adr = m->tree.vadr[motion->body];
    for (int c = 0; c < m->tree.vadr[motion->body + 1] - adr; c++) {
      sni_function_eval(m->function[motion->q[c]], t, t_ref, f);
      double *const out[3] = {q, qd, qdd};
      for (int order = 0; order < 3; order++) {
        if (out[order]) {
          out[order][adr + c] = f[order];
        }
      }
    }
  }
}

sni_aba_in sni_dynamics_aba_in(const sni_dynamics *d) {
  const double *g = d->params.gravity;
  return (sni_aba_in){.mass = d->mass,
                      .armature = d->params.armature,
                      .joint_matrix = d->nrotor > 0 ? d->armature : NULL,
                      .gravity = {g[0], g[1], g[2]},
                      .use_wrench = d->use_wrench,
                      .prescribed = d->any_prescribed ? d->prescribed : NULL};
}

int sni_dynamics_accelerate(sni_dynamics *d, double t, double t_ref, double *q, double *qd,
                            const sn_input *input, double *qdd) {
  sni_dynamics_prescribe(d, t, t_ref, q, qd, qdd);
  /* stages are never where another one was: a pass over long vectors is worth sparing */
  sni_kinematics(&d->m->tree, q, qd, &d->w);
  sni_rotors_turn(d, q, qd);
  sni_dynamics_forget(d);
  sni_dynamics_forces(d, t, t_ref, q, qd, input);
  const sni_aba_in in = sni_dynamics_aba_in(d);
  const int bad = sni_aba(&d->m->tree, &in, &d->w, qdd);
  return bad < 0 && d->rows ? sni_rows_accelerate(d->rows, t, t_ref, q, qd, qdd) : bad;
}

void sni_dynamics_energy(sni_dynamics *d, double t, const double *q, const double *qd,
                         sn_energy *out) {
  const sni_tree *tree = &d->m->tree;
  const sn_vec3 g = {d->params.gravity[0], d->params.gravity[1], d->params.gravity[2]};
  *out = (sn_energy){0};
  double mass = 0;
  sn_vec3 moment = {0};
  for (int i = 0; i < tree->nbody; i++) {
    const sni_link *l = &d->w.link[i];
    const sn_inertia I = sni_params_inertia(&d->params, i);
    const sn_se3 E = sni_link_pose(l);
    const sn_vec6 phi = sni_link_twist(l);
    const sn_vec3 c = sn_mat3_mul_vec(E.R, I.com);
    const sn_vec3 v = sn_vec3_add(phi.v, sn_vec3_cross(phi.w, c)); /* of the centre of mass */
    const sn_vec3 x = sn_vec3_add(E.p, c);
    const sn_vec3 w_b = sn_mat3_tmul_vec(E.R, phi.w);
    const sn_vec3 spin = sn_mat3_mul_vec(sn_inertia_tensor(I), w_b);
    const sn_vec3 p = sn_vec3_scale(v, I.mass);
    out->kinetic += 0.5 * sn_vec3_dot(p, v) + 0.5 * sn_vec3_dot(spin, w_b);
    out->potential -= I.mass * sn_vec3_dot(g, x);
    out->momentum = sn_vec3_add(out->momentum, p);
    out->angular_momentum = sn_vec3_add(
        out->angular_momentum, sn_vec3_add(sn_vec3_cross(x, p), sn_mat3_mul_vec(E.R, spin)));
    moment = sn_vec3_addscaled(moment, I.mass, x);
    mass += I.mass;
  }
  if (mass > 0) {
    out->center_of_mass = sn_vec3_scale(moment, 1 / mass);
  }
  out->kinetic += sni_rotors_energy(d, qd);
  out->potential += joint_springs(d, q, qd, d->w.tau);
  out->potential += sni_loops_energy(d, t);
  if (d->m->soft && d->rows) {
    out->potential += sni_unilateral_soften(d->rows, t, t, q, qd, false);
  }
  if (d->m->nforce > 0 || d->hand.holds) {
    sni_dynamics_poses(d);
    const sni_force_eval e = sni_dynamics_force_eval(d, t, t, false);
    if (d->hand.holds) {
      out->potential += sni_force_spring.potential(&e, &d->hand.spring, d->hand.param);
    }
    for (int f = 0; f < d->m->nforce; f++) {
      const sni_force *force = &d->m->force[f];
      const sni_force_ops *ops = sni_force_kind(force->kind);
      if (ops->potential && sni_force_is_active(&e, force)) {
        out->potential += ops->potential(&e, force, d->params.force + force->param);
      }
    }
  }
}

bool sni_dynamics_next_break(const sni_dynamics *d, double t0, double t1, double *t_break) {
  bool found = false;
  for (int k = 0; k < d->nbreaking; k++) {
    double t;
    if (sni_function_next_break(d->m->function[d->breaking[k]], t0, found ? *t_break : t1, &t)) {
      *t_break = t;
      found = true;
    }
  }
  return found;
}

/* Between two times at which a function is seen it hides nothing as long as it only rises or only
 * falls.  Mostly it does so for many steps: for how long is found once and remembered. */
#define FORESIGHT 8 /* steps */

static bool only_rises_or_falls(const sni_function *f, double t0, double t1, double t_ref,
                                sni_span *known) {
  if (t0 >= known->from && t1 <= known->to) {
    return true;
  }
  double far = t0 + FORESIGHT * (t1 - t0), value[2], rate[2];
  sni_function_next_break(f, t0, far, &far);
  far = fmax(far, t1);
  sni_function_bounds(f, t0, far, t_ref, value, rate);
  const bool monotone = rate[0] >= 0 || rate[1] <= 0;
  if (monotone) {
    *known = (sni_span){t0, far};
  }
  return monotone;
}

bool sni_dynamics_hides(sni_dynamics *d, double t0, double t1, double t_ref, const double *node,
                        int nnode) {
  const sn_model *m = d->m;
  for (int k = 0; k < d->nbreaking; k++) {
    const sni_function *f = m->function[d->breaking[k]];
    if (!only_rises_or_falls(f, t0, t1, t_ref, &d->monotone[k]) &&
        sni_function_hides(f, t0, t1, t_ref, 0, node, nnode)) {
      return true;
    }
  }
  /* what a motion does to the others is its acceleration: a quick change shows in its rate */
  for (int k = 0; k < m->nmotion; k++) {
    const int body = m->motion[k].body, nv = m->tree.vadr[body + 1] - m->tree.vadr[body];
    for (int c = 0; c < nv; c++) {
      if (sni_function_hides(m->function[m->motion[k].q[c]], t0, t1, t_ref, 1, node, nnode)) {
        return true;
      }
    }
  }
  return false;
}

bool sni_dynamics_reparam(const sni_dynamics *d, double *q, double *qd) {
  const sni_tree *t = &d->m->tree;
  bool changed = false;
  for (int n = 0; n < t->nrun; n++) {
    const sni_run *run = &t->run[n];
    for (int i = run->first; run->ops->reparam && i < run->first + run->count; i++) {
      if (!(d->any_prescribed && d->prescribed[i])) {
        changed |= run->ops->reparam(sni_tree_joints(t), i, q + t->vadr[i], qd + t->vadr[i]);
      }
    }
  }
  return changed;
}

/* x - x is 0 for finite numbers alone; or-ing the bits goes four at a time, a test each does not.
 */
static bool all_finite(const double *x, int n) {
  uint64_t bits = 0;
  for (int k = 0; k < n; k++) {
    const double zero = x[k] - x[k];
    uint64_t b;
    memcpy(&b, &zero, sizeof b);
    bits |= b;
  }
  return bits == 0;
}

int sni_dynamics_not_finite(const sni_dynamics *d, const double *x) {
  const sni_tree *t = &d->m->tree;
  if (all_finite(x, t->nv)) {
    return -1;
  }
  for (int i = 0; i < t->nbody; i++) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      if (!isfinite(x[k])) {
        return i;
      }
    }
  }
  return -1;
}

/* ---- parameters and memory ---- */

void sni_dynamics_refresh(sni_dynamics *d) {
  const sni_tree *t = &d->m->tree;
  const sni_params *p = &d->params;
  d->nsprung = d->ndragged = 0;
  for (int i = 0; i < t->nbody; i++) {
    d->mass[i] = sni_mass_from_inertia(sni_params_inertia(p, i));
    bool sprung = false;
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      sprung = sprung || p->stiffness[k] > 0 || p->damping[k] > 0;
    }
    if (sprung) {
      d->sprung[d->nsprung++] = i;
    }
    if (p->drag_angular[i] > 0 || p->drag_linear[i] > 0) {
      d->dragged[d->ndragged++] = i;
    }
  }
  sni_rotors_refresh(d);
  sni_dynamics_forget(d);
  d->param_hash = sni_hash(SNI_HASH_SEED, p->value, (size_t)p->count * sizeof(double));
}

static size_t lay_out(sni_dynamics *d, const sn_model *m, char *memory) {
  const sni_tree *t = &m->tree;
  const size_t nbody = (size_t)t->nbody, nv = (size_t)t->nv;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  char *work = TAKE(1, sni_work_size(t));
  double *params = TAKE(1, sni_params_size(m));
  d->mass = TAKE(nbody, sizeof *d->mass);
  d->armature = TAKE((size_t)t->nfactor, sizeof *d->armature);
  d->rotor = TAKE((size_t)t->nball, sizeof *d->rotor);
  d->sprung = TAKE(nbody, sizeof *d->sprung);
  d->dragged = TAKE(nbody, sizeof *d->dragged);
  d->prescribed = TAKE(nbody, sizeof *d->prescribed);
  d->breaking = TAKE((size_t)m->nfunction, sizeof *d->breaking);
  d->switching = TAKE((size_t)m->nfunction, sizeof *d->switching);
  d->monotone = TAKE((size_t)m->nfunction, sizeof *d->monotone);
  d->touched = TAKE(nbody, sizeof *d->touched);
  d->E_wb = TAKE(nbody, sizeof *d->E_wb);
  d->phi = TAKE(nbody, sizeof *d->phi);
  d->zero = TAKE(nv, sizeof *d->zero);
  d->q_at = TAKE(nv, sizeof *d->q_at);
  d->qd_at = TAKE(nv, sizeof *d->qd_at);
#undef TAKE
  if (memory) {
    memset(memory, 0, used);
    sni_work_place(&d->w, t, work);
    sni_params_place(&d->params, m, params);
  }
  return used;
}

static void touch(sni_dynamics *d, int body) {
  if (body >= 0 && !d->prescribed[body]) { /* scratch: seen already? */
    d->prescribed[body] = 1;
    d->touched[d->ntouched++] = body;
  }
}

static void find_touched(sni_dynamics *d) {
  const sn_model *m = d->m;
  for (int f = 0; f < m->nforce; f++) {
    const sni_force *force = &m->force[f];
    touch(d, force->body[0]);
    touch(d, force->body[1]);
    for (int k = 0; k < force->nmember; k++) {
      touch(d, force->member[k]);
    }
  }
  memset(d->prescribed, 0, (size_t)m->tree.nbody * sizeof *d->prescribed);
}

size_t sni_dynamics_size(const sn_model *m) {
  sni_dynamics d;
  return lay_out(&d, m, NULL);
}

static void mark(sni_dynamics *d, int function) {
  if (function >= 0 && !sni_function_is_constant(d->m->function[function])) {
    d->switching[function] = 1;
  }
}

static void find_switches(sni_dynamics *d) {
  const sn_model *m = d->m;
  memset(d->switching, 0, (size_t)m->nfunction * sizeof *d->switching);
  for (int k = 0; k < m->nmotion; k++) {
    mark(d, m->motion[k].active);
  }
  for (int k = 0; k < m->nconstraint; k++) {
    mark(d, m->constraint[k].active);
  }
  for (int k = 0; k < m->nforce; k++) {
    mark(d, m->force[k].active);
  }
  for (int f = 0; f < m->nfunction; f++) { /* never behind f: what is read there is still a mark */
    if (d->switching[f]) {
      d->switching[d->nswitching++] = f;
    }
  }
}

void sni_dynamics_place(sni_dynamics *d, const sn_model *m, void *memory) {
  *d = (sni_dynamics){.m = m};
  lay_out(d, m, memory);
  sni_params_copy(&d->params, &m->params);
  find_touched(d);
  for (int f = 0; f < m->nfunction; f++) {
    if (!sni_function_is_constant(m->function[f])) {
      d->breaking[d->nbreaking++] = f;
    }
  }
  find_switches(d);
  sni_dynamics_refresh(d);
}
