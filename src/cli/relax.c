/* relax.c: brings a mechanism to rest: where all forces balance. */
#include "cli/relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/function.h"
#include "methods/sim.h"
#include "model/model.h"

#define GROWTH    1.1
#define SHRINK    0.5
#define SHORTEST  1e-6 /* of the first step: if that one fails too, something else is wrong */
#define TURN_MOST 0.2  /* rad in a step: farther away, loops may close in another way */
#define LONGEST   1e4  /* of the first step                                                  */
#define STEADY    (1 - 1e-4)
/* Steps in which nothing gets less, after which nothing holds it: of the longest, and of those that
 * are as long as its turning allows, since what rolls away never takes the longest. */
enum { FALLS_AFTER = 100, ROLLS_AFTER = 1000 };

typedef struct relax {
  sn_sim *sim;
  sn_state *state, *before, *scratch;
  double *qdd;
  sn_vec6 *twist;
  double scale; /* of accelerations */
  double mass;
  double first_step, step; /* the next one */
  double time;             /* at which all stands */
  int nv, nbody;
  bool turns; /* steps had to be shortened because something turns too far                     */
} relax;

sn_status cli_relax_hold(sn_model *m, sn_error *err) {
  sn_status status = SN_OK;
  for (int k = 0; k < m->nfunction && !status; k++) {
    double at_start[3];
    sni_function *held = NULL;
    sni_function_eval(m->function[k], 0, 0, at_start);
    const sn_function_def def = sn_constant(at_start[0]);
    status = sni_function_build(&def, &held, err);
    if (!status) {
      sni_function_free(&m->function[k]);
      m->function[k] = held;
    }
  }
  return status;
}

int cli_relax_restless(sn_sim *sim, const sn_state *state) {
  const double *q = state->data, *qd = q + state->nv;
  if (!sim->d.rows) {
    return -1;
  }
  sni_sim_see_loops(sim, state);
  sni_dynamics_kinematics(&sim->d, q, qd);
  sni_rows_eval(&sim->rows, state->t, state->t, q, qd);
  for (int i = 0; i < sim->rows.nrow; i++) {
    if (sni_rows_is_rate(&sim->rows, i) && sim->rows.row[i].rate != 0) {
      return sim->rows.of[i];
    }
  }
  return -1;
}

/* sqrt(x^T M x) at the pose of the state, where x = a + c b. */
static double norm(relax *w, const double *a, double c, const double *b) {
  sn_energy e = {0};
  double *x = sn_state_qd(w->scratch);
  sn_state_copy(w->scratch, w->state);
  for (int k = 0; k < w->nv; k++) {
    x[k] = a[k] + c * b[k];
  }
  sn_sim_energy(w->sim, w->scratch, &e);
  return sqrt(2 * e.kinetic);
}

static void stop(relax *w) {
  memset(sn_state_qd(w->state), 0, (size_t)w->nv * sizeof(double));
}

/* Accelerations from rest at the pose of the state; their size over the scale. */
static sn_status look(relax *w, double *residual, sn_error *err) {
  sn_state_copy(w->scratch, w->state);
  memset(sn_state_qd(w->scratch), 0, (size_t)w->nv * sizeof(double));
  const sn_status status = sn_sim_forward(w->sim, w->scratch, NULL, w->qdd, err);
  *residual = status ? INFINITY : norm(w, w->qdd, 0, w->qdd) / sqrt(w->mass) / w->scale;
  return status;
}

/* Do the forces push the way it moves?  v^T M a > 0 */
static bool driven(relax *w) {
  const double *qd = sn_state_qd(w->state);
  const double a = norm(w, w->qdd, 0, w->qdd), v = norm(w, qd, 0, qd);
  return a > 0 && v > 0 && norm(w, qd, v / a, w->qdd) > norm(w, qd, -v / a, w->qdd);
}

static sn_status take_step(relax *w, sn_error *err) {
  sn_status status = sn_sim_set(w->sim, "run.step", w->step, err);
  status = status ? status : sn_sim_step(w->sim, w->state, NULL, NULL, err);
  *sn_state_time(w->state) = w->time;
  sni_sim_let_go(w->sim, w->state); /* what is within reach of a long step may be far away */
  return status;
}

/* How far the bodies turned in the last step, at most. */
static double turn(relax *w) {
  double most = 0;
  if (sn_sim_J_mul(w->sim, w->state, sn_state_qd(w->state), w->twist) == SN_OK) {
    for (int i = 0; i < w->nbody; i++) {
      most = fmax(most, w->step * sn_vec3_norm(w->twist[i].w));
    }
  }
  return most;
}

/* One step, and what it tells about the next.  A step that fails is too long. */
static sn_status go_on(relax *w, cli_relax *r, int *falling, sn_error *err) {
  const double longest = LONGEST * w->first_step, shortest = SHORTEST * w->first_step;
  const double before = r->residual;
  sn_state_copy(w->before, w->state);
  const sn_status status = take_step(w, err);
  if (status < 0 && w->step <= shortest) {
    return status;
  }
  if (status >= 0 && turn(w) > TURN_MOST) { /* from there again, with the same rates */
    sn_state_copy(w->state, w->before);
    w->step = fmax(SHRINK * w->step, shortest);
    w->turns = true;
    return SN_OK;
  }
  const sn_status seen = look(w, &r->residual, err);
  const bool forward = status >= 0 && !seen && driven(w);
  if (!forward) {
    stop(w);
    w->turns = false;
  }
  const bool is_longest = w->step == longest;
  const bool falls = forward && (is_longest || w->turns) && r->residual > STEADY * before;
  *falling = falls ? *falling + (is_longest ? ROLLS_AFTER / FALLS_AFTER : 1) : 0;
  w->step = forward ? fmin(GROWTH * w->step, longest) : fmax(SHRINK * w->step, shortest);
  return seen;
}

static int most_accelerated(relax *w) {
  int most = 0;
  double largest = -1;
  if (sn_sim_J_mul(w->sim, w->state, w->qdd, w->twist) != SN_OK) {
    return 0;
  }
  for (int i = 0; i < w->nbody; i++) {
    const double size = sn_vec3_norm(w->twist[i].v) + sn_vec3_norm(w->twist[i].w);
    if (size > largest * (1 + 1e-9)) {
      largest = size;
      most = i;
    }
  }
  return most;
}

static sn_status relax_to_rest(relax *w, cli_relax *r, double gravity, sn_error *err) {
  int falling = 0;
  stop(w);
  w->scale = 1;
  sn_status status = look(w, &r->residual, err);
  if (!status && r->residual > 0) {
    w->scale = gravity > 0 ? gravity : r->residual;
    r->residual /= w->scale;
  }
  while (!status && !(r->residual <= r->tolerance) && r->steps < r->max_steps &&
         falling < ROLLS_AFTER) {
    status = go_on(w, r, &falling, err);
    r->steps++;
  }
  stop(w);
  r->falls = falling >= ROLLS_AFTER;
  r->body = most_accelerated(w);
  return status ? status : r->residual <= r->tolerance ? SN_OK : SN_NOT_CONVERGED;
}

sn_status cli_relax_run(cli_relax *r, sn_sim *sim, sn_state *state, sn_error *err) {
  const sn_model *m = sim->m;
  relax w = {.sim = sim,
             .state = state,
             .mass = sn_model_mass(m),
             .time = *sn_state_time(state),
             .nv = sn_model_dof_count(m),
             .nbody = sn_model_body_count(m)};
  const double *g = sim->d.params.gravity;
  sn_status status = sn_sim_get(sim, "run.step", &w.step, err);
  w.qdd = calloc((size_t)w.nv + 1, sizeof *w.qdd);
  w.twist = calloc((size_t)w.nbody + 1, sizeof *w.twist);
  status = status ? status : sn_state_clone(state, &w.scratch);
  status = status ? status : sn_state_clone(state, &w.before);
  if (!w.qdd || !w.twist) {
    status = sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  r->steps = 0;
  w.first_step = w.step;
  status = status ? status : relax_to_rest(&w, r, sn_vec3_norm((sn_vec3){g[0], g[1], g[2]}), err);
  sn_state_free(&w.scratch);
  sn_state_free(&w.before);
  free(w.qdd);
  free(w.twist);
  return status;
}
