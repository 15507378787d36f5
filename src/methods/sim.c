/* sim.c: a method bound to a model, with all the memory that its steps need. */
#include "methods/blame.h"

#include "base/memory.h"
#include "sinew_version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sni_method sni_method_recursive, sni_method_redmax, sni_method_structured;

static const sni_method *const table[] = {&sni_method_recursive, &sni_method_redmax,
                                          &sni_method_structured};

const sni_method *sni_method_at(int k) {
  return k >= 0 && k < SNI_COUNT(table) ? table[k] : NULL;
}

const sni_method *sni_method_find(const char *name) {
  for (int k = 0; k < SNI_COUNT(table); k++) {
    if (name && strcmp(table[k]->name, name) == 0) {
      return table[k];
    }
  }
  return NULL;
}

static sn_status check_options(const sn_options *o, sn_error *err) {
  const struct {
    const char *name;
    double value;
  } number[] = {{"step", o->step},
                {"recursive.rel_tol", o->recursive.rel_tol},
                {"recursive.abs_tol", o->recursive.abs_tol},
                {"redmax.tolerance", o->redmax.tolerance},
                {"redmax.contact.tolerance", o->redmax.contact.tolerance},
                {"structured.precision", o->structured.precision},
                {"structured.regularization", o->structured.regularization}};
  for (int k = 0; k < SNI_COUNT(number); k++) {
    if (!(number[k].value > 0) || !isfinite(number[k].value)) {
      return sni_fail(err, SN_E_VALUE, "%s is %g, needs a number > 0", number[k].name,
                      number[k].value);
    }
  }
  if (o->recursive.integrator != SN_DOPRI5 && o->recursive.integrator != SN_RK4) {
    return sni_fail(err, SN_E_VALUE, "recursive.integrator is %d, which is none",
                    (int)o->recursive.integrator);
  }
  const struct {
    const char *name;
    int value, least, most;
  } count[] = {{"recursive.max_steps", o->recursive.max_steps, 1, INT_MAX},
               {"redmax.max_iterations", o->redmax.max_iterations, 1, INT_MAX},
               {"structured.iterations", o->structured.iterations, 0, INT_MAX},
               {"structured.solver", (int)o->structured.solver, 0, SN_STRUCTURED_GRAPH},
               {"redmax.contact.sides", o->redmax.contact.sides, 3, 1000},
               {"redmax.contact.max_iterations", o->redmax.contact.max_iterations, 1, INT_MAX},
               {"redmax.max_terms", o->redmax.max_terms, 0, INT_MAX / 64},
               {"redmax.npair", o->redmax.npair, 0, o->redmax.pair ? INT_MAX / 64 : 0}};
  for (int k = 0; k < SNI_COUNT(count); k++) {
    if (count[k].value < count[k].least || count[k].value > count[k].most) {
      return sni_fail(err, SN_E_VALUE, "%s is %d, needs at %s %d", count[k].name, count[k].value,
                      count[k].value < count[k].least ? "least" : "most",
                      count[k].value < count[k].least ? count[k].least : count[k].most);
    }
  }
  if (!(o->structured.budget >= 0) || !isfinite(o->structured.budget)) {
    return sni_fail(err, SN_E_VALUE, "structured.budget is %g, needs a number >= 0",
                    o->structured.budget);
  }
  return SN_OK;
}

/* Who has asked for the integrator of another method need not know that method. */
static sn_status check_support(const sn_model *m, const sni_method *asked, const sni_method *method,
                               sn_error *err) {
  sn_error why = {0};
  const sn_status status = method->supports(m, asked == method ? err : &why);
  return status == SN_OK || asked == method
             ? status
             : sni_fail(err, status, "'%s' with this integrator goes the way of '%s': %s",
                        asked->name, method->name, why.text);
}

sn_status sn_sim_create(const sn_model *m, const sn_options *options, sn_sim **out, sn_error *err) {
  *out = NULL;
  sn_options o = options ? *options : m->run.options;
  const sni_method *asked = sni_method_find(o.method), *method = asked;
  if (method && method->instead && method->instead(&o)) {
    method = method->instead(&o);
  }
  if (!method) {
    char known[128] = "";
    for (int k = 0; k < SNI_COUNT(table); k++) {
      const size_t used = strlen(known);
      snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", table[k]->name);
    }
    return sni_fail(err, SN_E_UNSUPPORTED, "this version has no method '%s'; it has: %s",
                    o.method ? o.method : "", known);
  }
  sn_status status = check_options(&o, err);
  status = status ? status : check_support(m, asked, method, err);
  if (status) {
    return status;
  }
  const size_t nv = (size_t)m->tree.nv, nbody = (size_t)m->tree.nbody;
  const size_t head = (sizeof(sn_sim) + 63) / 64 * 64;
  const size_t sums = m->touching ? nbody * sizeof(sni_contact_sum) : 0;
  const size_t own = (5 * nv * sizeof(double) + nbody * sizeof(sn_vec6) + sums + 63) / 64 * 64;
  const size_t work = (method->work_size(m, &o) + 63) / 64 * 64;
  const bool constrained = m->nconstraint > 0 || (m->nmotion_row > 0 && method->motions_are_rows);
  const size_t dynamics = (sni_dynamics_size(m) + 63) / 64 * 64;
  const bool dual = !(constrained && method->wants_graph && method->wants_graph(m, &o));
  const size_t size = head + own + work + dynamics + (constrained ? sni_rows_size(m, dual) : 0);
  char *memory = sni_memory_take(size);
  if (!memory) {
    return sni_fail(err, SN_E_MEMORY, "no memory for a simulation of %zu bytes", size);
  }
  memset(memory, 0, head + own + work);
  sn_sim *sim = (sn_sim *)memory;
  *sim = (sn_sim){.m = m, .method = method, .options = o};
  sim->options.method = method->name;
  void *numbers = memory + head;
  double *at = numbers;
  sim->q = at;
  sim->qd = at + nv;
  sim->qdd = at + 2 * nv;
  sim->tau = at + 3 * nv;
  sim->acting = at + 4 * nv;
  sim->F = (sn_vec6 *)(at + 5 * nv);
  sim->contact_of = m->touching ? (sni_contact_sum *)(sim->F + nbody) : NULL;
  sim->method_work = memory + head + own;
  sni_dynamics_place(&sim->d, m, memory + head + own + work);
  if (constrained) {
    sni_rows_place(&sim->rows, &sim->d, dual, true, memory + head + own + work + dynamics);
    sim->d.rows = &sim->rows;
  }
  *sim->d.params.step = o.step;
  *sim->d.params.rel_tol = o.recursive.rel_tol;
  *sim->d.params.abs_tol = o.recursive.abs_tol;
  sni_dynamics_refresh(&sim->d);
  status = method->create ? method->create(sim, err) : SN_OK;
  sim->options.redmax.pair = NULL; /* the caller's, and copied */
  if (status) {
    sn_sim_free(&sim);
  }
  *out = sim;
  return status;
}

const char *sn_sim_describe(const sn_sim *sim, char *out, size_t out_size) {
  if (out_size > 0) {
    out[0] = 0;
  }
  if (sim->method->describe) {
    sim->method->describe(sim, out, out_size);
  }
  return out;
}

void sn_sim_free(sn_sim **sim) {
  if (*sim && (*sim)->method->destroy) {
    (*sim)->method->destroy(*sim);
  }
  if (*sim) {
    sni_kkt_free(&(*sim)->rows.kkt);
  }
  free(*sim);
  *sim = NULL;
}

double *sni_sim_loops_of(const sn_sim *sim, sn_state *state) {
  return sim->method->loops ? sim->method->loops(sim, state) : sni_state_private(state);
}

void sni_sim_see_loops(sn_sim *sim, const sn_state *state) {
  if (!sim->d.rows || sim->m->nloop_q == 0) {
    return;
  }
  if (state->method == sni_sim_private_id(sim)) {
    sni_sim_load_loops(sim, sni_sim_loops_of(sim, (sn_state *)state));
    return;
  }
  memcpy(sim->rows.loop_q, sim->m->loop_q0, (size_t)sim->m->nloop_q * sizeof(double));
  sni_rows_find_loops(&sim->rows, state->t, state->data, state->data + state->nv);
}

void sni_sim_own(sn_sim *sim, sn_state *state) {
  const uint64_t method = sni_sim_private_id(sim);
  if (state->method != method) {
    sni_sim_see_loops(sim, state);
    memset(sni_state_private(state), 0, (size_t)sim->method->state_count(sim->m) * sizeof(double));
    state->method = method;
    sni_sim_save_loops(sim, sni_sim_loops_of(sim, state));
  }
}

void sni_sim_load_loops(sn_sim *sim, const double *from) {
  for (int k = 0; sim->d.rows && k < sim->m->nloop_q; k++) { /* a new state has zeros */
    sim->rows.loop_q[k] = sim->m->loop_q0[k] + from[k];
  }
}

void sni_sim_save_loops(const sn_sim *sim, double *to) {
  for (int k = 0; sim->d.rows && k < sim->m->nloop_q; k++) {
    to[k] = sim->rows.loop_q[k] - sim->m->loop_q0[k];
  }
}

sn_status sni_sim_check_state(const sn_sim *sim, const sn_state *state, sn_error *err) {
  return state->model_hash == sim->m->hash && state->nv == sim->m->tree.nv
             ? SN_OK
             : sni_fail(err, SN_E_MISMATCH, "the state belongs to another model");
}

sn_status sni_sim_check_numbers(const sn_sim *sim, const sn_state *state, sn_error *err) {
  const sni_tree *t = &sim->m->tree;
  const double *q = state->data, *qd = q + state->nv;
  if (!isfinite(state->t)) {
    return sni_fail(err, SN_E_VALUE, "the time of the state is %g, needs a finite number",
                    state->t);
  }
  const bool rate = sni_dynamics_not_finite(&sim->d, q) < 0;
  const double *bad = rate ? qd : q;
  const int body = sni_dynamics_not_finite(&sim->d, bad);
  if (body < 0) {
    return SN_OK;
  }
  int k = t->vadr[body];
  while (isfinite(bad[k])) {
    k++;
  }
  sni_fail(err, SN_E_VALUE, "at t = %g: the state has %s[%d] = %g for '%s', needs a finite number",
           state->t, rate ? "qd" : "q", k - t->vadr[body], bad[k], sim->m->name[body]);
  if (err) {
    snprintf(err->path, sizeof err->path, "bodies.%.200s", sim->m->name[body]);
  }
  return SN_E_VALUE;
}

uint64_t sni_sim_private_id(const sn_sim *sim) {
  const int count = sim->method->state_count(sim->m);
  const uint64_t name = sni_hash(SNI_HASH_SEED, sim->method->name, strlen(sim->method->name));
  return sni_hash(name, &count, sizeof count);
}

sn_status sn_sim_step(sn_sim *sim, sn_state *state, const sn_input *input, sn_info *info,
                      sn_error *err) {
  sn_info scratch = {0};
  info = info ? info : &scratch;
  *info = (sn_info){0};
  sn_status status = sni_sim_check_state(sim, state, err);
  status = status ? status : sni_sim_check_numbers(sim, state, err);
  if (status) {
    return status;
  }
  /* t = t_start + count step, as long as nobody changes t or the step */
  const double step = *sim->d.params.step;
  double t_start = state->t_start;
  int64_t count = state->count;
  if (state->step != step || state->t != t_start + (double)count * step) {
    t_start = state->t;
    count = 0;
  }
  const double t_end = t_start + (double)(count + 1) * step;
  if (!(t_end > state->t) || !isfinite(t_end)) { /* this way round so that NaN fails too */
    return sni_fail(err, SN_E_VALUE, "t = %g is too far for steps of %g", state->t, step);
  }
  if (sni_blame_switch(sim, t_end, err)) {
    return SN_E_DIVERGED;
  }
  const bool dense = sim->method->dense && sim->method->dense(&sim->options);
  if (!dense && sni_blame_jump(sim, state->t, t_end, err)) {
    return SN_E_DIVERGED;
  }
  if (sim->method->smooth && sni_blame_leap(sim, state->t, t_end, err)) {
    return SN_E_VALUE;
  }
  sni_sim_own(sim, state);
  sn_energy before = {0}, after = {0};
  if (sim->options.report_energy) {
    sn_sim_energy(sim, state, &before);
  }
  sim->open_one = -1;
  status = sim->method->step(sim, state, input, t_end, info, err);
  if (status < 0 && sim->method->implicit && sni_blame_given(sim, t_end, t_end, input, err)) {
    status = SN_E_DIVERGED; /* whoever gave what is not finite, and not whom it was seen in first */
  }
  if (sim->options.report_energy && status >= 0) {
    state->t = t_end;
    sn_sim_energy(sim, state, &after);
    info->energy_change = after.kinetic + after.potential - before.kinetic - before.potential;
  }
  if (status >= 0) {
    state->t = t_end;
    state->t_start = t_start;
    state->step = step;
    state->count = count + 1;
  }
  return status;
}

sn_status sni_sim_put(sn_sim *sim, const char *path, const sni_param_ref *ref, double value,
                      sn_error *err) {
  if (!isfinite(value) || ((ref->flags & SNI_POSITIVE) && !(value > 0)) ||
      ((ref->flags & SNI_NOT_NEGATIVE) && value < 0) ||
      ((ref->flags & SNI_AT_MOST_ONE) && value > 1)) {
    return sni_fail(err, SN_E_VALUE, "%s: is %g, needs %s", path, value,
                    ref->flags & SNI_POSITIVE       ? "a number > 0"
                    : ref->flags & SNI_AT_MOST_ONE  ? "0 to 1"
                    : ref->flags & SNI_NOT_NEGATIVE ? "a number >= 0"
                                                    : "a finite number");
  }
  double *at = sim->d.params.value + ref->index;
  if (ref->inertia_of >= 0) {
    const double old = *at;
    sn_error inner;
    *at = value;
    const sn_inertia I = sni_params_inertia(&sim->d.params, ref->inertia_of);
    if (sni_inertia_check(&I, false, &inner)) {
      *at = old;
      return sni_fail(err, SN_E_VALUE, "%s = %g: %s", path, value, inner.text);
    }
  }
  for (int k = 0; k < ref->count; k++) {
    at[k * ref->stride] = value;
  }
  return SN_OK;
}

sn_status sn_sim_set(sn_sim *sim, const char *path, double value, sn_error *err) {
  sni_param_ref ref;
  sn_status status = sni_param_find(sim->m, path, &ref, err);
  status = status ? status : sni_sim_put(sim, path, &ref, value, err);
  if (!status) {
    sni_dynamics_refresh(&sim->d);
  }
  return status;
}

sn_status sn_sim_get(const sn_sim *sim, const char *path, double *value, sn_error *err) {
  sni_param_ref ref;
  const sn_status status = sni_param_find(sim->m, path, &ref, err);
  if (!status) {
    *value = sim->d.params.value[ref.index];
  }
  return status;
}

void sn_sim_set_force(sn_sim *sim, sn_force_fn force, void *user) {
  sim->d.user_force = force;
  sim->d.user = user;
}

sn_status sni_fail_body(const sn_sim *sim, sn_error *err, sn_status code, int body, double t,
                        const char *what) {
  if (body < 0) {
    return sni_fail(err, code, "at t = %g: something %s", t, what);
  }
  sni_fail(err, code, "at t = %g: '%s' %s", t, sim->m->name[body], what);
  if (err) {
    snprintf(err->path, sizeof err->path, "bodies.%.200s", sim->m->name[body]);
  }
  return code;
}

/* Does some change of the joint's coordinates move nothing?  Gram-Schmidt over its columns. */
static bool loses_freedom(const sn_sim *sim, int body) {
  const int first = sim->m->tree.vadr[body], nv = sim->m->tree.vadr[body + 1] - first;
  sni_lane6 unit[SN_NV_MAX];
  for (int j = 0; j < nv; j++) {
    const sni_lane6 own = sim->d.w.S[first + j];
    sni_lane6 rest = own;
    for (int k = 0; k < j; k++) {
      rest = sni_lane6_addscaled(rest, -sni_lane6_dot(unit[k], rest), unit[k]);
    }
    const double left = sqrt(sni_lane6_dot(rest, rest));
    if (!(left > 1e-6 * sqrt(sni_lane6_dot(own, own)))) {
      return true;
    }
    unit[j] = sni_lane6_addscaled((sni_lane6){0}, 1 / left, rest);
  }
  return false;
}

sn_status sni_fail_singular(const sn_sim *sim, sn_error *err, int body, double t) {
  const bool lost = body >= 0 && loses_freedom(sim, body);
  return sni_fail_body(sim, err, SN_E_SINGULAR, body, t,
                       lost ? "is in a singular pose of its joint, where coordinates can change "
                              "and nothing moves: keep away from this pose, or choose another "
                              "kind of joint"
                            : "has no inertia against its own motion: give the body mass and "
                              "moments of inertia, or its joint armature");
}

const char *sn_version(void) {
  return SINEW_VERSION;
}
