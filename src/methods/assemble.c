/* assemble.c: states onto the constraints, and who is named where that cannot be. */
#include "methods/sim.h"

#include <stdio.h>
#include <string.h>

/* Lengths and angles alike, and their rates: a nanometre where bodies are a metre long, a
 * nanoradian.
 */
#define CLOSED 1e-10
/* Rates that differ by less than this part of the largest agree. */
#define AT_ODDS 1e-6
/* A limit that is nearer is touched. */
#define TOUCHED 1e-6
/* How far beside the start a loop is closed from that cannot be closed from the start itself. */
#define ASIDE      0.01
#define ASIDE_MOST 1
#define STRIDE     0.1
#define NEAR       1e-3
enum { STRIDES_MAX = 100 };

static const char *constraint_name(const sn_model *m, int k) {
  return m->constraint_name[k];
}

/* Where it stands in a scene. */
static const char *constraint_section(const sn_model *m, int k) {
  const int limits = m->nconstraint - m->nlimit;
  return k < m->nloop                        ? "loops"
         : k < m->nloop + m->nbond           ? "constraints"
         : k < limits || k >= m->nconstraint ? "motions"
         : m->constraint[k].of_loop          ? "loops"
                                             : "bodies";
}

static void set_path(const sn_model *m, int constraint, sn_error *err) {
  if (err) {
    snprintf(err->path, sizeof err->path, "%s.%.200s", constraint_section(m, constraint),
             constraint_name(m, constraint));
  }
}

/* Names what stays open. */
static sn_status check_closed(sn_sim *sim, sn_status status, double t, int worst, double gap,
                              sn_error *err) {
  if (status == SN_NOT_CONVERGED && worst >= 0) {
    for (int i = 0; i < sim->rows.nrow; i++) {
      if (sim->rows.of[i] == worst && fabs(sim->rows.row[i].g) == gap) {
        gap = fabs(sni_constraint_open(&sim->m->constraint[worst], sim->rows.row[i].g));
        break;
      }
    }
    sni_fail(err, SN_E_UNCONVERGED, "at t = %g: '%s' cannot close: a gap of %.3g stays open", t,
             constraint_name(sim->m, worst), gap);
    set_path(sim->m, worst, err);
    sim->open_one = worst;
  }
  return status;
}

/* Then sni_sim_check_limits says what is to be said. */
static bool at_limit(const sni_rows *rows) {
  for (int i = 0; i < rows->nrow; i++) {
    if (rows->row[i].one_sided && rows->row[i].g <= TOUCHED) {
      return true;
    }
  }
  return false;
}

sn_status sni_sim_check_rates(sn_sim *sim, double t, const double *qd, sn_error *err) {
  if (sim->rows.timeless || sim->method->gives_way) { /* that nothing moves always agrees */
    return SN_OK;
  }
  int worst = -1;
  double scale;
  const double miss = sni_rows_slip(&sim->rows, qd, &worst, &scale);
  if (worst < 0 || miss <= AT_ODDS * scale + CLOSED || at_limit(&sim->rows)) {
    return SN_OK;
  }
  sni_fail(err, SN_E_UNCONVERGED,
           "at t = %g: '%s' is at odds with other constraints or motions, which leave its rate off "
           "by %.3g: take one of them away, or make them agree",
           t, constraint_name(sim->m, worst), miss);
  set_path(sim->m, worst, err);
  return SN_E_UNCONVERGED;
}

sn_status sni_sim_check_limits(const sn_sim *sim, double t, sn_error *err) {
  const sni_rows *rows = &sim->rows;
  const int i = rows->nsided > 0 ? rows->u.impossible : -1;
  return i < 0 ? SN_OK
               : sni_fail(err, SN_E_UNCONVERGED,
                          "at t = %g: the limit of '%s' cannot hold, other constraints move it by "
                          "%.3g a second: give them another course, or the limit more room",
                          t, sim->m->constraint_name[rows->of[i]], rows->u.short_of);
}

sn_status sni_sim_project(sn_sim *sim, double t, double t_ref, double *q, double *qd,
                          sn_error *err) {
  int worst = -1;
  double gap = 0;
  const sn_status status = sni_rows_project(&sim->rows, t, t_ref, CLOSED, q, qd, &worst, &gap);
  return status ? check_closed(sim, status, t, worst, gap, err)
                : sni_sim_check_rates(sim, t, qd, err);
}

sn_status sni_sim_close(sn_sim *sim, double t, bool near, double *q, const double *qd,
                        sn_error *err) {
  int worst = -1;
  double gap = 0;
  const sn_status status = sni_rows_close(&sim->rows, t, t, CLOSED, near, q, qd, &worst, &gap);
  return check_closed(sim, status, t, worst, gap, err);
}

/* What is open in the pose that was given: where the attempts to close it have led says nothing. */
static sn_status tell_start(sn_sim *sim, sn_state *state, sn_error *err) {
  int worst = -1;
  for (int k = 0; k < sim->m->nloop_q; k++) {
    sim->rows.loop_q[k] = sim->m->loop_q0[k];
  }
  sni_dynamics_kinematics(&sim->d, sni_state_q(state), sni_state_qd(state));
  sni_rows_eval(&sim->rows, state->t, state->t, sni_state_q(state), sni_state_qd(state));
  const double gap = sni_rows_gap(&sim->rows, &worst);
  check_closed(sim, SN_NOT_CONVERGED, state->t, worst, gap, err);
  return SN_E_UNCONVERGED;
}

static void start_from(sn_sim *sim, const sn_state *state) {
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  memcpy(sim->q, state->data, bytes);
  memcpy(sim->qd, state->data + state->nv, bytes);
  for (int k = 0; k < sim->m->nloop_q; k++) {
    sim->rows.loop_q[k] = sim->m->loop_q0[k];
  }
}

/* An arm that is stretched out cannot be pulled in, to first order: from a pose beside it can.
 * Numbers without pattern, the same in every run, rad or m. */
static void step_aside(sn_sim *sim, double way) {
  uint64_t seed = 1;
  for (int j = 0; j < sim->m->tree.nv; j++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    sim->q[j] += way * (double)(int64_t)seed / 9223372036854775808.0;
  }
}

/* From there Newton's steps are long at first: by no more than STRIDE, so that joints do not wind
 * up.
 */
static void come_nearer(sn_sim *sim, double t) {
  sni_rows *rows = &sim->rows;
  const int nv = sim->m->tree.nv;
  int worst;
  for (int k = 0; k < STRIDES_MAX; k++) {
    sni_dynamics_kinematics(&sim->d, sim->q, sim->qd);
    sni_rows_eval_poses(rows, t, t, sim->q, sim->qd);
    if (sni_rows_gap(rows, &worst) < NEAR || sni_rows_factorise_mass(rows) >= 0) {
      return;
    }
    for (int i = 0; i < rows->nrow; i++) {
      rows->rhs[i] = -rows->row[i].g;
    }
    double *step = sim->qdd, most = STRIDE;
    memset(step, 0, (size_t)nv * sizeof *step);
    sni_rows_correct(rows, rows->rhs, step);
    for (int j = 0; j < nv; j++) {
      most = fmax(most, fabs(step[j]));
    }
    for (int j = 0; j < nv; j++) {
      sim->q[j] += STRIDE / most * step[j];
    }
  }
}

sn_status sn_sim_assemble(sn_sim *sim, sn_state *state, sn_error *err) {
  const sn_status status = sni_sim_check_state(sim, state, err);
  if (status || !sim->d.rows) {
    return status;
  }
  sn_status closed = SN_NOT_CONVERGED;
  for (double way = 0; closed > 0 && way<ASIDE_MOST; way = way> 0 ? 2 * way : ASIDE) {
    start_from(sim, state);
    step_aside(sim, way);
    if (way > 0 && sim->m->nsided == 0) {
      come_nearer(sim, state->t);
    }
    closed = sni_sim_project(sim, state->t, state->t, sim->q, sim->qd, err);
  }
  if (closed > 0) {
    return tell_start(sim, state, err);
  }
  if (closed) {
    return closed;
  }
  const size_t bytes = (size_t)sim->m->tree.nv * sizeof(double);
  memcpy(sni_state_q(state), sim->q, bytes);
  memcpy(sni_state_qd(state), sim->qd, bytes);
  return SN_OK;
}

sn_status sn_sim_gap(sn_sim *sim, const sn_state *state, double *gap) {
  int worst;
  *gap = 0;
  if (sni_sim_check_state(sim, state, NULL)) {
    return SN_E_MISMATCH;
  }
  if (sim->d.rows) {
    const double *q = state->data, *qd = q + state->nv, t = state->t;
    /* what is switched on just now has not been closed yet */
    const double t_ref = state->count > 0 ? sni_function_inside(t - state->step, t) : t;
    sni_dynamics_kinematics(&sim->d, q, qd);
    sni_rows_eval_poses(&sim->rows, t, t_ref, q, qd);
    *gap = sni_rows_gap(&sim->rows, &worst);
  }
  return SN_OK;
}
