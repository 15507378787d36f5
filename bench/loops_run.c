/* loops_run.c: whole motions of mechanisms with loops: time, gaps, energy, and where they end. */
#include "bench/redmax.h"

#include <math.h>

#include "base/error.h"
#include "methods/sim.h"

#define GAP_MOST    1e-9
#define QUICK_STEPS 50
/* Of dopri5: twice in each turn of a four-bar errors grow a hundredfold. */
#define TOLERANCE 1e-9

typedef struct motion {
  int scene, size, steps, integrators;
  double x, z; /* of the first joint at the end, by the IFToMM library; NAN: unknown */
} motion;

static const motion motions[] = {{FOURBAR, 2, 10000, 4, 0.328458111541, 0.944518538179},
                                 {FOURBAR, 40, 10000, 4, 0.180512226687, 0.983572740582},
                                 {LADDER, 48, 200, 1, NAN, NAN},
                                 {LADDER, 96, 200, 1, NAN, NAN}};

static const struct {
  const char *name;
  sn_implicit option;
} integrators[RUNS_MAX] = {{"euler", SN_EULER},
                           {"extrapolated", SN_EXTRAPOLATED},
                           {"rk4", SN_IMPLICIT_RK4},
                           {"dopri5", SN_IMPLICIT_DOPRI5}};

static double largest_gap(sn_sim *sim, sn_state *s) {
  const double t = *sn_state_time(s);
  int worst;
  sni_dynamics_kinematics(&sim->d, sn_state_q(s), sn_state_qd(s));
  sni_rows_eval(&sim->rows, t, t, sn_state_q(s), sn_state_qd(s));
  return sni_rows_gap(&sim->rows, &worst);
}

static double energy_of(sn_sim *sim, const sn_state *s) {
  sn_energy e = {0};
  sn_sim_energy(sim, s, &e);
  return e.kinetic + e.potential;
}

/* The tip of the first rod, which stood upright at q = 0. */
static double distance(const redmax_row *r, sn_state *s, const motion *m) {
  const double q = sn_state_q(s)[sn_model_joint_first(r->m, sn_model_body_find(r->m, "rod_0"))];
  return hypot(sin(q) - m->x, cos(q) - m->z);
}

/* Only the steps are timed, not the looks at what they did. */
static sn_status walk(sn_sim *sim, sn_state *s, redmax_run *run, sn_error *err) {
  const double start = energy_of(sim, s);
  sn_status status = SN_OK;
  for (int k = 0; k < run->steps && status >= 0; k++) {
    const double before = bench_cpu_seconds();
    status = sn_sim_step(sim, s, NULL, NULL, err);
    run->seconds += bench_cpu_seconds() - before;
    run->gap = fmax(run->gap, largest_gap(sim, s));
    run->energy = fmax(run->energy, fabs(energy_of(sim, s) - start));
  }
  run->duration = *sn_state_time(s);
  return status < 0 ? status : SN_OK;
}

static sn_status one_run(redmax_row *r, const motion *m, int k, bool quick, sn_error *err) {
  redmax_run *run = &r->run[r->nrun++];
  sn_options o = sn_model_run(r->m)->options;
  sn_sim *sim = NULL;
  sn_state *s = NULL;
  *run = (redmax_run){
      .integrator = integrators[k].name, .steps = quick ? QUICK_STEPS : m->steps, .off = NAN};
  o.redmax.integrator = integrators[k].option;
  o.recursive.rel_tol = o.recursive.abs_tol = TOLERANCE;
  sn_status status = sn_sim_create(r->m, &o, &sim, err);
  status = status ? status : sn_state_create(r->m, &s, err);
  status = status ? status : sn_sim_assemble(sim, s, err);
  status = status ? status : walk(sim, s, run, err);
  if (!status && run->steps == m->steps && !isnan(m->x)) {
    run->off = distance(r, s, m);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  if (!status && !(run->gap < GAP_MOST)) {
    return sni_fail(err, SN_E_DIVERGED, "by %s: a gap of %.1e, at most %.0e", run->integrator,
                    run->gap, GAP_MOST);
  }
  return status;
}

sn_status redmax_row_runs(redmax_row *r, bool quick, sn_error *err) {
  sn_status status = SN_OK;
  for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
    const motion *m = &motions[i];
    const bool wanted = m->scene == r->scene && m->size == r->size;
    for (int k = 0; k < m->integrators && wanted && !status; k++) {
      status = one_run(r, m, k, quick, err);
    }
  }
  return status;
}
