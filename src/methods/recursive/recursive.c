/* recursive.c: the method `recursive`: accelerations by recursion in linear time [RMS Alg 6], and
 * explicit integrators: rk4 (step_rk4.c) and dopri5 (walk.c). */
#include "methods/recursive/advance.h"

static sn_status recursive_supports(const sn_model *m, sn_error *err) {
  if (m->rubbing) {
    return sni_fail(err, SN_E_UNSUPPORTED,
                    "method 'recursive' (dopri5, rk4) has no friction in joints (joint '%s'): take "
                    "redmax with the "
                    "integrator euler or extrapolated, or leave out 'friction'",
                    m->rubbing);
  }
  if (m->touching) {
    return sni_fail(
        err, SN_E_UNSUPPORTED,
        "method 'recursive' (dopri5, rk4) has no contact (body '%s' has one): take redmax with the "
        "integrator euler or extrapolated, or leave out 'contact'",
        m->touching);
  }
  return SN_OK;
}

static int recursive_state_count(const sn_model *m) {
  return SNI_WALK_HEAD + SNI_WALK_VECTORS * 2 * m->tree.nv + m->nloop_q +
         2 * sni_unilateral_count(m);
}

/* y, spare ones, and what a try needs */
#define WORK_VECTORS (SNI_WALK_VECTORS + 1 + 12)

static size_t recursive_work_size(const sn_model *m, const sn_options *o) {
  (void)o;
  return (size_t)WORK_VECTORS * 2 * (size_t)m->tree.nv * sizeof(double);
}

static bool recursive_wants_graph(const sn_model *m, const sn_options *o) {
  (void)o;
  return sni_rows_many(m);
}

static sn_status recursive_create(sn_sim *sim, sn_error *err) {
  const double column = sni_rows_tree_column_cost(sim->m);
  return sim->d.rows ? sni_rows_choose(&sim->rows, column, 0, 0, NULL, false, err) : SN_OK;
}

static void recursive_describe(const sn_sim *sim, char *out, size_t out_size) {
  if (sim->d.rows && out_size > 0) {
    sni_rows_describe(&sim->rows, out, out_size);
  }
}

static bool recursive_dense(const sn_options *options) {
  return options->recursive.integrator == SN_DOPRI5;
}

static sn_status recursive_step(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                                sn_info *info, sn_error *err) {
  sim->rows.u.events = sim->d.rows && sni_stops_any(sim);
  const sn_status status = sim->options.recursive.integrator == SN_RK4
                               ? sni_rk4_advance(sim, state, input, t_end, info, err)
                               : sni_dopri5_advance(sim, state, input, t_end, info, err);
  sim->rows.u.events = false;
  return status;
}

const sni_method sni_method_recursive = {
    .name = "recursive",
    .doc = "recursive dynamics in linear time with explicit integrators",
    .supports = recursive_supports,
    .state_count = recursive_state_count,
    .work_size = recursive_work_size,
    .wants_graph = recursive_wants_graph,
    .create = recursive_create,
    .describe = recursive_describe,
    .dense = recursive_dense,
    .smooth = true,
    .loops = sni_advance_loops,
    .pressed = sni_advance_pressed,
    .step = recursive_step};
