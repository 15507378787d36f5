/* blame.c: who gave the first number that is not finite.
 *
 * One of them spoils the accelerations of the whole tree, so the accelerations do not tell.  What
 * acts is looked at piece by piece instead, from what depends on nothing to what depends on all. */
#include "methods/blame.h"

#include <stdio.h>
#include <string.h>

static bool blame(sn_error *err, const char *path, const char *who, const char *what, double t) {
  sni_fail(err, SN_E_DIVERGED, "%s: %s is not finite at t = %.10g", who, what, t);
  if (err) {
    snprintf(err->path, sizeof err->path, "%.200s", path);
  }
  return true;
}

/* The first of value, rate and acceleration that is not finite, up to the given order; -1: none. */
static int bad_order(const sn_model *m, int function, double t, double t_ref, int order) {
  double f[3] = {0};
  if (function >= 0) {
    sni_function_eval(m->function[function], t, t_ref, f);
  }
  for (int k = 0; k <= order; k++) {
    if (!isfinite(f[k])) {
      return k;
    }
  }
  return -1;
}

static bool has(const int *list, int n, int function) {
  for (int k = 0; k < n; k++) {
    if (list[k] == function) {
      return true;
    }
  }
  return false;
}

/* Is what this function switches on?  Always, without one. */
static bool is_on(const sn_model *m, int active, double t_ref) {
  double on[3] = {1};
  if (active >= 0) {
    sni_function_eval(m->function[active], t_ref, t_ref, on);
  }
  return on[0] > 0;
}

static bool drives(const sni_loop_spring *spring, int function) {
  return spring->driven && (has(spring->drive.target, SN_NV_MAX, function) ||
                            has(spring->drive.rate, SN_NV_MAX, function));
}

/* What the constraint is called in a scene. */
static const char *kind_of(const sn_model *m, int k) {
  return k < m->nloop ? "loop" : k < m->nloop + m->nbond ? "constraint" : "motion";
}

void sni_blame_owner(const sn_model *m, int function, char *who, size_t size) {
  snprintf(who, size, "something");
  for (int k = 0; k < m->ndrive; k++) {
    if (has(m->drive[k].target, SN_NV_MAX, function) ||
        has(m->drive[k].rate, SN_NV_MAX, function)) {
      snprintf(who, size, "drive of joint '%.200s'", m->name[m->drive[k].body]);
    }
  }
  for (int k = 0; k < m->nloop_spring; k++) {
    if (drives(&m->loop_spring[k], function)) {
      snprintf(who, size, "drive of loop '%.200s'", m->constraint_name[m->loop_spring[k].loop]);
    }
  }
  for (int k = 0; k < m->nmotion; k++) {
    if (m->motion[k].active == function || has(m->motion[k].q, SN_NV_MAX, function)) {
      snprintf(who, size, "motion '%.200s'", m->motion_name[k]);
    }
  }
  for (int k = 0; k < m->nconstraint; k++) {
    if (m->constraint[k].active == function ||
        has(m->constraint[k].function, SN_NV_MAX, function)) {
      snprintf(who, size, "%s '%.200s'", kind_of(m, k), m->constraint_name[k]);
    }
  }
  for (int k = 0; k < m->nmap; k++) {
    if (has(m->map[k]->motion, m->map[k]->nz, function) ||
        has(m->map[k]->force, m->map[k]->nz, function)) {
      snprintf(who, size, "map '%.200s'", m->map_name[k]);
    }
  }
  for (int k = 0; k < m->nforce; k++) {
    if (m->force[k].active == function ||
        has(m->force[k].function, m->force[k].nfunction, function)) {
      snprintf(who, size, "force '%.200s'", m->force_name[k]);
    }
  }
}

/* Does anything follow this function at t?  What it only switches does not. */
static bool is_followed(const sn_model *m, int function, double t) {
  bool any = false;
  for (int k = 0; k < m->ndrive; k++) {
    any = any || has(m->drive[k].target, SN_NV_MAX, function) ||
          has(m->drive[k].rate, SN_NV_MAX, function);
  }
  for (int k = 0; k < m->nmotion; k++) {
    any = any || (has(m->motion[k].q, SN_NV_MAX, function) && is_on(m, m->motion[k].active, t));
  }
  for (int k = 0; k < m->nconstraint; k++) {
    any = any || (has(m->constraint[k].function, SN_NV_MAX, function) &&
                  is_on(m, m->constraint[k].active, t));
  }
  for (int k = 0; k < m->nmap; k++) {
    any = any || has(m->map[k]->motion, m->map[k]->nz, function) ||
          has(m->map[k]->force, m->map[k]->nz, function);
  }
  for (int k = 0; k < m->nforce; k++) {
    any = any || (has(m->force[k].function, m->force[k].nfunction, function) &&
                  is_on(m, m->force[k].active, t));
  }
  for (int k = 0; k < m->nloop_spring; k++) {
    const sni_loop_spring *spring = &m->loop_spring[k];
    any = any || (drives(spring, function) && is_on(m, m->constraint[spring->loop].active, t));
  }
  return any;
}

/* Bounds over many steps cost as much as over one. */
#define AHEAD 64

bool sni_blame_jump(sn_sim *sim, double t0, double t1, sn_error *err) {
  const sn_model *m = sim->m;
  double at;
  if (t0 >= sim->bounded[0] && t1 <= sim->bounded[1]) {
    return false;
  }
  bool bounded = true;
  const double ahead = t0 + AHEAD * (t1 - t0);
  for (int k = 0; bounded && k < m->nfunction; k++) {
    bounded = sni_function_bounded(m->function[k], t0, ahead);
  }
  if (bounded) {
    sim->bounded[0] = t0;
    sim->bounded[1] = ahead;
    return false;
  }
  for (int k = 0; k < m->nfunction; k++) {
    if (sni_function_pole(m->function[k], t0, t1, &at) && is_followed(m, k, at)) {
      char who[300];
      sni_blame_owner(m, k, who, sizeof who);
      sni_fail(err, SN_E_DIVERGED,
               "%s: its function of time has a pole at t = %.10g, and a step would jump over it",
               who, at);
      return true;
    }
  }
  return false;
}

/* What follows a function by this much within a step has far to go. */
#define FAR 1000

bool sni_blame_pole(const sn_sim *sim, double t, sn_error *err) {
  const sn_model *m = sim->m;
  int fastest = -1;
  double rate = 0;
  for (int k = 0; k < m->nfunction; k++) {
    double f[3];
    sni_function_eval(m->function[k], t, t, f);
    if (fabs(f[1]) > fabs(rate)) {
      fastest = k;
      rate = f[1];
    }
  }
  if (!(fabs(rate) * *sim->d.params.step > FAR)) {
    return false;
  }
  char who[300];
  sni_blame_owner(m, fastest, who, sizeof who);
  sni_fail(
      err, SN_E_LIMIT,
      "%s: its function goes at a rate of %.3g at t = %.10g, and no %d substeps follow it: it may "
      "have a pole",
      who, rate, t, sim->options.recursive.max_steps);
  return true;
}

static bool blame_input(const sn_sim *sim, double t, const sn_input *input, sn_error *err) {
  const sni_tree *tree = &sim->m->tree;
  const struct {
    const double *value;
    const char *what;
  } part[] = {{input->tau, "tau"},
              {input->drive_target, "drive_target"},
              {input->drive_rate, "drive_rate"}};
  char who[300];
  for (int k = 0; k < SNI_COUNT(part); k++) {
    const int i = part[k].value ? sni_dynamics_not_finite(&sim->d, part[k].value) : -1;
    if (i >= 0) {
      snprintf(who, sizeof who, "input of joint '%.200s'", sim->m->name[i]);
      return blame(err, "", who, part[k].what, t);
    }
  }
  for (int i = 0; input->wrench && i < tree->nbody; i++) {
    if (!sn_vec3_finite(input->wrench[i].w) || !sn_vec3_finite(input->wrench[i].v)) {
      snprintf(who, sizeof who, "input of body '%.200s'", sim->m->name[i]);
      return blame(err, "", who, "wrench", t);
    }
  }
  return false;
}

static bool blame_drive(const sn_model *m, const sni_drive *drive, int nv, const char *who,
                        const char *where, double t, double t_ref, const sn_input *input,
                        sn_error *err) {
  for (int c = 0; c < nv; c++) {
    const bool own_rate = drive->rate[c] >= 0 || (input && input->drive_rate);
    const int target = input && input->drive_target ? -1 : drive->target[c];
    const int rate = input && input->drive_rate ? -1 : drive->rate[c];
    const int bad = bad_order(m, target, t, t_ref, own_rate ? 0 : 1);
    if (bad >= 0 || bad_order(m, rate, t, t_ref, 0) >= 0) {
      char path[300];
      snprintf(path, sizeof path, "%.250s.drive.%s", where, bad >= 0 ? "target" : "rate");
      return blame(err, path, who,
                   bad == 0   ? "target"
                   : bad == 1 ? "the rate of the target"
                              : "rate",
                   t);
    }
  }
  return false;
}

static bool blame_drives(const sn_sim *sim, double t, double t_ref, const sn_input *input,
                         sn_error *err) {
  const sn_model *m = sim->m;
  char who[300], where[300];
  for (int k = 0; k < m->ndrive; k++) {
    const char *name = m->name[m->drive[k].body];
    snprintf(who, sizeof who, "drive of joint '%.200s'", name);
    snprintf(where, sizeof where, "bodies.%.200s.joint", name);
    if (blame_drive(m, &m->drive[k], m->tree.joint[m->drive[k].body].nv, who, where, t, t_ref,
                    input, err)) {
      return true;
    }
  }
  for (int k = 0; k < m->nloop_spring; k++) {
    const sni_loop_spring *spring = &m->loop_spring[k];
    const sni_constraint *loop = &m->constraint[spring->loop];
    if (!spring->driven || !is_on(m, loop->active, t_ref)) {
      continue;
    }
    snprintf(who, sizeof who, "drive of loop '%.200s'", m->constraint_name[spring->loop]);
    snprintf(where, sizeof where, "loops.%.200s", m->constraint_name[spring->loop]);
    if (blame_drive(m, &spring->drive, loop->nv, who, where, t, t_ref, NULL, err)) {
      return true;
    }
  }
  return false;
}

/* The first of n functions that is not finite: they are what `word` says of this thing. */
static bool blame_functions(const sn_model *m, const int *function, int n, const char *section,
                            const char *kind, const char *name, const char *word, double t,
                            double t_ref, sn_error *err) {
  static const char *const order[] = {"", "the rate of ", "the acceleration of "};
  for (int c = 0; c < n; c++) {
    const int bad = bad_order(m, function[c], t, t_ref, 2);
    if (bad >= 0) {
      char who[300], path[300], what[64];
      snprintf(who, sizeof who, "%s '%.200s'", kind, name);
      snprintf(path, sizeof path, "%s.%.200s.%s", section, name, word);
      snprintf(what, sizeof what, "%s%s", order[bad], word);
      return blame(err, path, who, what, t);
    }
  }
  return false;
}

static bool blame_motions(const sn_sim *sim, double t, double t_ref, sn_error *err) {
  const sn_model *m = sim->m;
  for (int k = 0; k < m->nmotion; k++) {
    const sni_motion *motion = &m->motion[k];
    if (is_on(m, motion->active, t_ref) &&
        blame_functions(m, motion->q, m->tree.joint[motion->body].nv, "motions", "motion",
                        m->motion_name[k], "q", t, t_ref, err)) {
      return true;
    }
  }
  return false;
}

static bool blame_constraint(const sn_model *m, int k, const int *function, int n, const char *word,
                             double t, double t_ref, sn_error *err) {
  return blame_functions(m, function, n, sni_sim_section(m, k), kind_of(m, k),
                         m->constraint_name[k], word, t, t_ref, err);
}

static bool blame_constraints(const sn_model *m, double t, double t_ref, sn_error *err) {
  static const char *const word[SNI_CONSTRAINT_KINDS] = {
      [SNI_COUPLE] = "offset", [SNI_TWIST] = "twist", [SNI_PATH] = "point", [SNI_RATE] = "rate"};
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    if (!is_on(m, c->active, t_ref)) {
      continue;
    }
    if ((word[c->kind] &&
         blame_constraint(m, k, c->function, SN_NV_MAX, word[c->kind], t, t_ref, err)) ||
        (c->map && blame_constraint(m, k, c->map->motion, c->map->nz, "motion", t, t_ref, err)) ||
        (c->map && blame_constraint(m, k, c->map->force, c->map->nz, "force", t, t_ref, err))) {
      return true;
    }
  }
  return false;
}

/* The switch of anything that has one. */
static bool blame_active(const sn_model *m, int function, double t, sn_error *err) {
  const char *section = NULL, *kind = NULL, *name = NULL;
  for (int k = 0; k < m->nmotion && !name; k++) {
    if (m->motion[k].active == function) {
      section = "motions", kind = "motion", name = m->motion_name[k];
    }
  }
  for (int k = 0; k < m->nconstraint && !name; k++) {
    if (m->constraint[k].active == function) {
      section = sni_sim_section(m, k), kind = kind_of(m, k), name = m->constraint_name[k];
    }
  }
  for (int k = 0; k < m->nforce && !name; k++) {
    if (m->force[k].active == function) {
      section = "forces", kind = "force", name = m->force_name[k];
    }
  }
  return name && blame_functions(m, &function, 1, section, kind, name, "active", t, t, err);
}

bool sni_blame_switch(const sn_sim *sim, double t, sn_error *err) {
  const sni_dynamics *d = &sim->d;
  for (int k = 0; k < d->nswitching; k++) {
    double on[3];
    sni_function_eval(sim->m->function[d->switching[k]], t, t, on);
    if (isnan(on[0])) { /* infinite is on, or off */
      return blame_active(sim->m, d->switching[k], t, err);
    }
  }
  return false;
}

static bool blame_force(const sn_model *m, int f, const char *what, double t, sn_error *err) {
  char who[300], path[300];
  snprintf(who, sizeof who, "force '%.200s'", m->force_name[f]);
  snprintf(path, sizeof path, "forces.%.200s", m->force_name[f]);
  return blame(err, path, who, what, t);
}

static bool blame_forces(const sn_model *m, double t, double t_ref, sn_error *err) {
  for (int f = 0; f < m->nforce; f++) {
    const sni_force *force = &m->force[f];
    for (int k = 0; k < force->nfunction && is_on(m, force->active, t_ref); k++) {
      if (bad_order(m, force->function[k], t, t_ref, 0) >= 0) {
        return blame_force(m, f, "its function of time", t, err);
      }
    }
  }
  return false;
}

bool sni_blame_given(const sn_sim *sim, double t, double t_ref, const sn_input *input,
                     sn_error *err) {
  return (input && blame_input(sim, t, input, err)) || blame_drives(sim, t, t_ref, input, err) ||
         blame_motions(sim, t, t_ref, err) || blame_constraints(sim->m, t, t_ref, err) ||
         blame_forces(sim->m, t, t_ref, err);
}

/* ---- what depends on the motion ---- */

static bool acts_finite(const sni_dynamics *d) {
  for (int i = 0; i < d->m->tree.nbody; i++) {
    if (!sn_vec3_finite(d->w.wrench[i].w) || !sn_vec3_finite(d->w.wrench[i].v)) {
      return false;
    }
  }
  return sni_dynamics_not_finite(d, d->w.tau) < 0;
}

static bool blame_state_forces(sn_sim *sim, double t, double t_ref, sn_error *err) {
  const sn_model *m = sim->m;
  sni_dynamics *d = &sim->d;
  const sni_force_eval e = sni_dynamics_force_eval(d, t, t_ref, false);
  for (int f = 0; f < m->nforce; f++) {
    const sni_force *force = &m->force[f];
    memset(d->w.wrench, 0, (size_t)m->tree.nbody * sizeof *d->w.wrench);
    memset(d->w.tau, 0, (size_t)m->tree.nv * sizeof *d->w.tau);
    if (!sni_force_is_active(&e, force)) {
      continue;
    }
    sni_force_kind(force->kind)->apply(&e, force, d->params.force + force->param);
    if (!acts_finite(d)) {
      return blame_force(m, f, "what it gives", t, err);
    }
  }
  return false;
}

static bool blame_user(sn_sim *sim, double t, const double *q, const double *qd, sn_error *err) {
  sni_dynamics *d = &sim->d;
  const sni_tree *tree = &sim->m->tree;
  if (!d->user_force) {
    return false;
  }
  memset(d->w.wrench, 0, (size_t)tree->nbody * sizeof *d->w.wrench);
  memset(d->w.tau, 0, (size_t)tree->nv * sizeof *d->w.tau);
  const sn_force_context context = {.t = t,
                                    .nbody = tree->nbody,
                                    .nv = tree->nv,
                                    .E_wb = d->E_wb,
                                    .phi = d->phi,
                                    .q = q,
                                    .qd = qd,
                                    .wrench = d->w.wrench,
                                    .tau = d->w.tau};
  d->user_force(&context, d->user);
  return !acts_finite(d) && blame(err, "", "the user's force", "what it gives", t);
}

bool sni_blame(sn_sim *sim, double t, double t_ref, const double *q, const double *qd,
               const sn_input *input, sn_error *err) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  if (sni_blame_given(sim, t, t_ref, input, err)) {
    return true;
  }
  memcpy(sim->q, q, bytes);
  memcpy(sim->qd, qd, bytes);
  sni_dynamics_prescribe(&sim->d, t, t_ref, sim->q, sim->qd, NULL);
  sni_dynamics_kinematics(&sim->d, sim->q, sim->qd);
  sni_dynamics_poses(&sim->d);
  return blame_state_forces(sim, t, t_ref, err) || blame_user(sim, t, sim->q, sim->qd, err);
}

int sni_blame_body(const sn_sim *sim, const double *before, const double *after) {
  const sni_tree *tree = &sim->m->tree;
  int culprit = -1;
  bool any_bad = false;
  double most = -1;
  for (int i = 0; i < tree->nbody; i++) {
    bool bad = false;
    double speed = -1;
    for (int c = tree->vadr[i]; c < tree->vadr[i + 1]; c++) {
      bad = bad || !isfinite(after[c]) || !isfinite(after[tree->nv + c]);
      speed = fmax(speed, fabs(before[tree->nv + c]));
    }
    if ((bad && !any_bad) || (bad == any_bad && speed > most)) {
      culprit = i;
      most = speed;
    }
    any_bad = any_bad || bad;
  }
  return culprit;
}

sn_status sni_blame_channel(const sn_sim *sim, const sn_state *state, const char *channel,
                            sn_error *err) {
  const int body = sni_blame_body(sim, state->data, state->data);
  const char *name = body >= 0 ? sim->m->name[body] : "world";
  sni_fail(err, SN_E_DIVERGED, "at t = %g: '%s' is not finite any more; '%s' moves fastest",
           state->t, channel, name);
  if (err) {
    snprintf(err->path, sizeof err->path, "bodies.%.200s", name);
  }
  return SN_E_DIVERGED;
}
