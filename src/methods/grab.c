/* grab.c: a hand that holds a point of a body.
 *
 *     f = k (target - x) - d x'
 *
 * The spring of forces/spring.c, of length 0, to the ground.  An implicit step has k and d in the
 * block of that one body, so its matrix keeps its structure and takes any stiffness.  An explicit
 * one bears  k h^2 < 1/4 m, d h < m  with a wide margin, m being what resists at the point. */
#include "methods/sim.h"

#include <math.h>
#include <string.h>

#define FOLLOWS 20 /* for each unit of time: how fast what is held comes */

sn_grab_def sn_grab_def_default(void) {
  return (sn_grab_def){.body = -1, .stiffness = -1, .damping = -1};
}

static bool is_finite(sn_vec3 x) {
  return isfinite(x.x) && isfinite(x.y) && isfinite(x.z);
}

static sn_status check(const sn_sim *sim, const sn_grab_def *def, sn_error *err) {
  if (def->body < 0 || def->body >= sim->m->tree.nbody) {
    return sni_fail(err, SN_E_ARGUMENT, "grab: there is no body %d, the model has 0 to %d",
                    def->body, sim->m->tree.nbody - 1);
  }
  const char *name = sim->m->name[def->body];
  if (!is_finite(def->point) || !is_finite(def->target)) {
    return sni_fail(err, SN_E_VALUE, "grab '%s': the %s is not finite", name,
                    is_finite(def->point) ? "target" : "point");
  }
  if (!isfinite(def->stiffness) || !isfinite(def->damping)) {
    return sni_fail(err, SN_E_VALUE, "grab '%s': the %s is not finite", name,
                    isfinite(def->stiffness) ? "damping" : "stiffness");
  }
  return SN_OK;
}

/* The least inertia that the point can have in any direction: 1 / trace(J M^-1 J^T), with M of the
 * tree alone. */
static sn_status least_inertia(sn_sim *sim, const sn_state *state, const sn_grab_def *def,
                               double *least, sn_error *err) {
  const size_t nbody = (size_t)sim->m->tree.nbody;
  const int nv = sim->m->tree.nv;
  double trace = 0;
  for (int c = 0; c < 3; c++) {
    const sn_vec3 e = {c == 0, c == 1, c == 2};
    memset(sim->F, 0, nbody * sizeof *sim->F);
    sim->F[def->body] = sni_line_row(def->point, e);
    sn_status status = sn_sim_Jt_mul(sim, state, sim->F, sim->tau);
    status = status ? status : sn_sim_Minv_mul(sim, state, sim->tau, sim->qdd, err);
    if (status) {
      return status;
    }
    for (int k = 0; k < nv; k++) {
      trace += sim->tau[k] * sim->qdd[k];
    }
  }
  *least = trace > 0 ? 1 / trace : INFINITY;
  return SN_OK;
}

sn_status sn_sim_grab(sn_sim *sim, const sn_state *state, const sn_grab_def *def, sn_error *err) {
  sn_status status = sni_sim_check_state(sim, state, err);
  status = status ? status : check(sim, def, err);
  double least = INFINITY;
  if (!status && !sim->method->implicit && (def->stiffness < 0 || def->damping < 0)) {
    status = least_inertia(sim, state, def, &least, err);
  }
  if (status) {
    return status;
  }
  const double h = *sim->d.params.step, mass = sim->m->mass;
  double k = def->stiffness, d = def->damping;
  if (k < 0) {
    k = fmin(mass * FOLLOWS * FOLLOWS, 0.25 * least / (h * h));
  }
  if (d < 0) {
    d = fmin(2 * sqrt(k * mass), least / h);
  }
  sim->d.hand =
      (sni_hand){.holds = true,
                 .spring = {.active = -1, .body = {def->body, -1}, .at = {def->point, def->target}},
                 .param = {[SNI_LINE_STIFFNESS] = k, [SNI_LINE_DAMPING] = d}};
  return SN_OK;
}

sn_status sn_sim_drag(sn_sim *sim, sn_vec3 target, sn_error *err) {
  if (!sim->d.hand.holds) {
    return sni_fail(err, SN_E_ARGUMENT, "drag: nothing is held, grab something before");
  }
  if (!is_finite(target)) {
    return sni_fail(err, SN_E_VALUE, "drag: the target is not finite");
  }
  sim->d.hand.spring.at[1] = target;
  return SN_OK;
}

void sn_sim_release(sn_sim *sim) {
  sim->d.hand = (sni_hand){0};
}

bool sn_sim_held(const sn_sim *sim, sn_grab_def *def) {
  const sni_hand *hand = &sim->d.hand;
  if (hand->holds && def) {
    *def = (sn_grab_def){.body = hand->spring.body[0],
                         .point = hand->spring.at[0],
                         .target = hand->spring.at[1],
                         .stiffness = hand->param[SNI_LINE_STIFFNESS],
                         .damping = hand->param[SNI_LINE_DAMPING]};
  }
  return hand->holds;
}

uint64_t sni_hand_hash(uint64_t seed, const sni_hand *hand) {
  uint64_t h = sni_hash(seed, &hand->holds, sizeof hand->holds);
  h = sni_hash(h, &hand->spring.body[0], sizeof hand->spring.body[0]);
  h = sni_hash(h, hand->spring.at, sizeof hand->spring.at);
  return sni_hash(h, hand->param, sizeof hand->param);
}
