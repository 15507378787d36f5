/* start.c: what a run does before its first step, tried out. */
#include "cli/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/motion.h"
#include "io/choice.h"
#include "methods/blame.h"
#include "model/shape.h"

#define GAP      1e-9 /* below this a constraint is met                  */
#define ROUNDING 1e-5 /* of the widest gap: less is what an approach leaves */
#define GAPS_MAX 20   /* so many are listed beside the one that is worst */
#define FLAT     1e-3 /* rad: a disc that leans by less lies             */
#define SEEN     1e-3 /* of the size of all: gaps that are wider can be seen  */
#define MOVED    1e-6 /* coordinates that differ by less are the same    */

static void add(sni_error_list *list, const char *file, sn_error *err) {
  if (!err->file[0]) {
    snprintf(err->file, sizeof err->file, "%s", file);
  }
  sni_error_list_add(list, err);
}

/* A sim of the scene's method, or of another one that can simulate it.  *sim = NULL and SN_OK: none
 * can, which the summary says. */
static sn_status make_sim(const sn_model *m, sn_sim **sim, sn_error *err) {
  sn_options o = m->run.options;
  sn_status status = sn_sim_create(m, &o, sim, err);
  for (int k = 0; status == SN_E_UNSUPPORTED && sni_method_at(k); k++) {
    o.method = sni_method_at(k)->name;
    status = sn_sim_create(m, &o, sim, err);
  }
  return status == SN_E_UNSUPPORTED ? SN_OK : status;
}

/* Some methods step where accelerations are not determined: a spring holds what has no inertia. */
static bool can_step(sn_sim *sim, const sn_state *state) {
  sn_state *copy = NULL;
  const bool can =
      sn_state_clone(state, &copy) == SN_OK && sn_sim_step(sim, copy, NULL, NULL, NULL) >= SN_OK;
  sn_state_free(&copy);
  return can;
}

static sn_status try_accelerations(sn_sim *sim, sn_state *state, sn_error *err) {
  sn_status status = sn_sim_forward(sim, state, NULL, sim->qdd, err);
  if (status == SN_E_SINGULAR && can_step(sim, state)) {
    status = SN_OK;
  }
  if (status == SN_E_DIVERGED) { /* whose fault it is, if that is known */
    const double t = *sn_state_time(state);
    sni_blame(sim, t, t, sn_state_q(state), sn_state_qd(state), NULL, err);
  }
  return status;
}

static void try_channels(const sn_sim *sim, const char *file, cli_start *s) {
  const sn_run_def *run = &sim->m->run;
  for (int k = 0; k < run->nrecord_channel; k++) {
    sn_error err = {0};
    if (sni_choice_check(sim, &run->record_channels[k], 1, &err) != SN_OK) {
      snprintf(err.path, sizeof err.path, "run.record.channels[%d]", k);
      add(&s->errors, file, &err);
    }
  }
}

static void warn_method(const sn_model *m, const char *file, cli_start *s) {
  sn_error err = {.path = "run.method"};
  if (!sni_method_find(m->run.options.method)) {
    sni_fail(&err, SN_E_UNSUPPORTED, "this version has no method '%s'", m->run.options.method);
    snprintf(err.path, sizeof err.path, "run.method");
    add(&s->warnings, file, &err);
  }
}

/* The gaps of all constraints, where the start cannot meet them: which of them are at odds.  What
 * is less by far is how closely the others have been met. */
static void add_gaps(sn_sim *sim, const char *file, const char *worst, sni_error_list *list) {
  const sn_model *m = sim->m;
  int listed = 0, widest;
  const double least = fmax(GAP, ROUNDING * sni_rows_gap(&sim->rows, &widest));
  for (int k = 0, i = 0; k < sim->rows.nconstraint && listed < GAPS_MAX; k++) {
    double gap = 0;
    for (; i < sim->rows.nrow && sim->rows.of[i] == k; i++) {
      const sni_row *row = &sim->rows.row[i];
      const double open = row->one_sided ? sni_rows_gap_of(&sim->rows, i)
                                         : fabs(sni_constraint_open(&m->constraint[k], row->g));
      gap = fmax(gap, open);
    }
    sn_error err = {.code = SN_E_UNCONVERGED};
    snprintf(err.path, sizeof err.path, "%s.%.200s", sni_sim_section(m, k), m->constraint_name[k]);
    if (gap > least && strcmp(err.path, worst) != 0) {
      snprintf(err.text, sizeof err.text, "stays open too, by %.3g", gap);
      add(list, file, &err);
      listed++;
    }
  }
}

/* The constraint that is most open in a state, whatever its loops are; -1: none is. */
static int worst_of(sn_sim *sim, const sn_state *s, double *gap) {
  const double t = *sn_state_time((sn_state *)s), *q = sn_state_q((sn_state *)s);
  int worst;
  sni_sim_see_loops(sim, s);
  sni_dynamics_kinematics(&sim->d, q, sn_state_qd((sn_state *)s));
  sni_rows_eval(&sim->rows, t, t, q, sn_state_qd((sn_state *)s));
  *gap = sni_rows_gap(&sim->rows, &worst);
  return worst;
}

/* Of the start as written, by where its bodies are. */
static double size_of(const sn_sim *sim, const sn_state *s) {
  const sn_model *m = sim->m;
  sn_se3 *E_wb = malloc(((size_t)m->tree.nbody + 1) * sizeof *E_wb);
  sni_aabb box = {{0, 0, 0}, {0, 0, 0}}; /* with the origin of the world */
  if (E_wb) {
    sni_model_poses(m, sn_state_q((sn_state *)s), E_wb);
  }
  for (int i = 0; E_wb && i < m->tree.nbody; i++) {
    box = sni_aabb_join(box, (sni_aabb){E_wb[i].p, E_wb[i].p});
  }
  free(E_wb);
  return sn_vec3_norm(sn_vec3_sub(box.hi, box.lo));
}

int cli_start_moved(sn_sim *sim, const sn_state *as_given, sn_state *state, char *out,
                    size_t out_size) {
  const sn_model *m = sim->m;
  const double *q0 = sn_state_q((sn_state *)as_given), *q = sn_state_q(state);
  int most = -1, body = 0, moved = 0;
  for (int j = 0; j < m->tree.nv; j++) {
    if (fabs(q[j] - q0[j]) > MOVED) {
      moved++;
      most = most < 0 || fabs(q[j] - q0[j]) > fabs(q[most] - q0[most]) ? j : most;
    }
  }
  out[0] = 0;
  if (moved == 0 || !sim->d.rows) {
    return 0;
  }
  while (most >= m->tree.vadr[body + 1]) {
    body++;
  }
  double gap;
  const int worst = worst_of(sim, as_given, &gap);
  char name[300], open[128] = "", rest[64] = "";
  cli_coordinate_name(m, body, most - m->tree.vadr[body], "q", name, sizeof name);
  if (worst >= 0) {
    snprintf(open, sizeof open, "'%.80s' was open by %.3g: ", m->constraint_name[worst], gap);
  }
  if (moved > 1) {
    snprintf(rest, sizeof rest, ", and %d more differ%s", moved - 1, moved == 2 ? "s" : "");
  }
  snprintf(out, out_size, "%s%.150s is %.4g instead of %.4g%s", open, name, q[most], q0[most],
           rest);
  return gap > SEEN * size_of(sim, as_given) ? 2 : 1;
}

/* A disc that lies flat on its plane has no lowest point to roll on. */
static void warn_flat(sn_sim *sim, sn_state *state, const char *file, cli_start *s) {
  const sn_model *m = sim->m;
  const double t = *sn_state_time(state), *q = sn_state_q(state), *qd = sn_state_qd(state);
  sni_dynamics_kinematics(&sim->d, q, qd);
  const sn_se3 *E_wb = sni_rows_eval_of(&sim->rows, t, t, q, qd).E_wb;
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    if (c->kind != SNI_ROLL || sn_vec3_norm(c->axis) == 0) {
      continue;
    }
    const sn_mat3 R = c->body[1] < 0 ? sn_mat3_identity() : E_wb[c->body[1]].R;
    const sn_vec3 n = sn_mat3_mul_vec(sn_mat3_mul(R, c->at[1].R), (sn_vec3){0, 0, 1});
    const sn_vec3 a = sn_mat3_mul_vec(E_wb[c->body[0]].R, c->axis);
    if (sn_vec3_norm(sn_vec3_cross(n, a)) < FLAT) {
      sn_error err = {.code = SN_E_VALUE};
      snprintf(err.path, sizeof err.path, "%s.%.200s", sni_sim_section(m, k),
               m->constraint_name[k]);
      snprintf(err.text, sizeof err.text,
               "the disc lies flat, where it has no lowest point to roll on: let it lean or stand");
      add(&s->warnings, file, &err);
    }
  }
}

void cli_start_try(const sn_scene *scene, const char *file, cli_start *s) {
  const sn_model *m = sn_scene_model(scene);
  sn_sim *sim = NULL;
  sn_state *state = NULL, *as_given = NULL;
  sn_error err = {0};
  *s = (cli_start){0};
  warn_method(m, file, s);
  sn_status status = make_sim(m, &sim, &err);
  if (sim) {
    try_channels(sim, file, s);
    status = sn_state_create(m, &state, &err);
    status = status ? status : sn_state_clone(state, &as_given);
    status = status ? status : sn_sim_assemble(sim, state, &err);
    if (!status && sim->d.rows) {
      cli_start_moved(sim, as_given, state, s->moved, sizeof s->moved);
      sni_sim_see_loops(sim, state);
      warn_flat(sim, state, file, s);
    }
    if (status > 0) { /* not all can be had, and the method goes on */
      add(&s->warnings, file, &err);
      add_gaps(sim, file, err.path, &s->warnings);
      status = SN_OK;
    }
    status = status ? status : try_accelerations(sim, state, &err);
  }
  if (status) {
    add(&s->errors, file, &err);
    if (status == SN_E_UNCONVERGED && sim && sim->d.rows) {
      add_gaps(sim, file, err.path, &s->errors);
    }
  } else if (sim) {
    s->freedom = cli_freedom_count(sim, state);
    s->state = state;
    state = NULL;
  }
  sn_state_free(&state);
  sn_state_free(&as_given);
  sn_sim_free(&sim);
}

void cli_start_free(cli_start *s) {
  sni_error_list_free(&s->errors);
  sni_error_list_free(&s->warnings);
  sn_state_free(&s->state);
}
