/* replay_look.c: a state as somebody sees it who wants to know what is wrong with it. */
#include "cli/replay_look.h"

#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "methods/sim.h"

/* ---- looking ---- */

/* Puts e among the largest, which are sorted.  What is no number is the largest of all. */
static void keep_largest(replay_entry *list, int *n, int most, replay_entry e) {
  e.size = isnan(e.size) ? INFINITY : e.size;
  int at = *n;
  for (; at > 0 && list[at - 1].size < e.size; at--) {
    if (at < most) {
      list[at] = list[at - 1];
    }
  }
  if (at < most) {
    list[at] = e;
    *n += *n < most;
  }
}

static void look_at_velocities(sn_sim *sim, const sn_vec6 *phi, replay_look *look) {
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    const double v = sn_vec3_norm(phi[i].v), w = sn_vec3_norm(phi[i].w);
    keep_largest(look->velocity, &look->nvelocity, REPLAY_WORST, (replay_entry){i, v + w, v, w});
  }
}

/* Of each joint the largest. */
static void look_at_accelerations(const sn_sim *sim, replay_look *look) {
  const sn_model *m = sim->m;
  for (int i = 0; i < m->tree.nbody; i++) {
    const int first = sn_model_joint_first(m, i), n = sn_model_joint_dofs(m, i);
    double largest = -1;
    for (int k = first; k < first + n; k++) {
      const double a = fabs(sim->qdd[k]);
      largest = isnan(a) ? INFINITY : fmax(largest, a);
    }
    if (n > 0) {
      keep_largest(look->acceleration, &look->nacceleration, REPLAY_WORST,
                   (replay_entry){i, largest, largest, 0});
    }
  }
}

/* What each force does to the body in question alone. */
static void look_at_forces(sn_sim *sim, double t, replay_look *look) {
  const sn_model *m = sim->m;
  sni_dynamics *d = &sim->d;
  if (m->nforce == 0) {
    return;
  }
  sni_dynamics_poses(d);
  const sni_force_eval e = sni_dynamics_force_eval(d, t, t, false);
  for (int f = 0; f < m->nforce; f++) {
    sn_vec6 *wrench = &e.wrench[look->body];
    *wrench = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
    if (sni_force_is_active(&e, &m->force[f])) {
      const double *param = d->params.force + m->force[f].param;
      sni_force_kind(m->force[f].kind)->apply(&e, &m->force[f], param);
    }
    const double force = sn_vec3_norm(wrench->v), torque = sn_vec3_norm(wrench->w);
    if (!(force == 0 && torque == 0)) {
      keep_largest(look->force, &look->nforce, REPLAY_FORCES,
                   (replay_entry){f, force + torque, force, torque});
    }
  }
}

bool replay_look_at(sn_sim *sim, const sn_state *state, int body, replay_look *look) {
  const size_t n = (size_t)sim->m->tree.nbody;
  sn_se3 *E_wb = calloc(n + 1, sizeof *E_wb);
  sn_vec6 *phi = calloc(n + 1, sizeof *phi);
  const bool good = E_wb && phi;
  *look = (replay_look){.t = state->t, .body = body};
  if (good) {
    sn_energy energy = {0};
    sn_sim_energy(sim, state, &energy);
    look->T = energy.kinetic;
    look->V = energy.potential;
    sn_sim_poses(sim, state, E_wb, phi);
    look_at_velocities(sim, phi, look);
    look->body = body < 0 && look->nvelocity > 0 ? look->velocity[0].index : body;
  }
  if (good && sni_sim_evaluate(sim, state, NULL, NULL) == SN_OK) {
    look_at_accelerations(sim, look);
    const sn_vec6 *F = look->body >= 0 ? &sim->F[look->body] : &(sn_vec6){{0, 0, 0}, {0, 0, 0}};
    look->reaction = (replay_entry){look->body, 0, sn_vec3_norm(F->v), sn_vec3_norm(F->w)};
  }
  if (good && look->body >= 0) {
    look_at_forces(sim, state->t, look);
  }
  free(E_wb);
  free(phi);
  return good;
}

/* ---- saying ---- */

void replay_look_print(const replay_look *look, const sn_sim *sim, FILE *to) {
  const sn_model *m = sim->m;
  fprintf(to, "  t             %.10g\n  energy        E = %.9g (T = %.6g, V = %.6g)\n", look->t,
          look->T + look->V, look->T, look->V);
  for (int k = 0; k < look->nvelocity; k++) {
    const replay_entry *e = &look->velocity[k];
    fprintf(to, "  %-14s'%s' %.4g m/s, %.4g rad/s\n", k ? "" : "fastest", m->name[e->index],
            e->first, e->second);
  }
  for (int k = 0; k < look->nacceleration; k++) {
    const replay_entry *e = &look->acceleration[k];
    fprintf(to, "  %-14sqdd of '%s' %.4g\n", k ? "" : "accelerations", m->name[e->index], e->first);
  }
  if (look->nacceleration == 0 && m->tree.nv > 0) {
    fputs("  accelerations no numbers\n", to);
  }
  if (look->body < 0) {
    return;
  }
  fprintf(to, "  on '%s'\n", m->name[look->body]);
  if (look->nacceleration > 0) {
    fprintf(to, "    joint       %.4g N, %.4g N m\n", look->reaction.first, look->reaction.second);
  }
  for (int k = 0; k < look->nforce; k++) {
    const replay_entry *e = &look->force[k];
    fprintf(to, "    force       '%s' %.4g N, %.4g N m\n", m->force_name[e->index], e->first,
            e->second);
  }
}

static void json_list(sni_json *j, const char *key, const replay_entry *list, int n,
                      const char *const *name, const char *first, const char *second) {
  sni_json_open(j, key, "[");
  for (int k = 0; k < n; k++) {
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "name", name[list[k].index]);
    cli_json_number(j, first, list[k].first);
    if (second) {
      cli_json_number(j, second, list[k].second);
    }
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

void replay_look_json(const replay_look *look, const sn_sim *sim, const char *key, sni_json *j) {
  const sn_model *m = sim->m;
  const char *const *name = (const char *const *)m->name;
  sni_json_open(j, key, "{");
  cli_json_number(j, "t", look->t);
  cli_json_number(j, "T", look->T);
  cli_json_number(j, "V", look->V);
  json_list(j, "fastest", look->velocity, look->nvelocity, name, "speed", "angular_speed");
  json_list(j, "accelerations", look->acceleration, look->nacceleration, name, "qdd", NULL);
  if (look->body >= 0) {
    sni_json_text(j, "body", name[look->body]);
    cli_json_number(j, "joint_force", look->reaction.first);
    cli_json_number(j, "joint_torque", look->reaction.second);
    json_list(j, "forces", look->force, look->nforce, (const char *const *)m->force_name, "force",
              "torque");
  }
  sni_json_close(j, "}");
}
