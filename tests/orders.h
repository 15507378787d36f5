/* The order of an integrator, measured: the error at the end of a run against the work it took. */
#ifndef SINEW_TESTS_ORDERS_H
#define SINEW_TESTS_ORDERS_H

#include "redmax.h"

typedef struct order_case {
  const char *name;
  sn_implicit integrator;
  double order, slack, step;
  bool at_least; /* a higher order is welcome: tolerances, not steps, were given */
} order_case;

/* q and qd at T; returns the evaluations that it took. */
static inline double order_run(const sn_model *m, const sn_options *o, double T, double *y) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  const size_t nv = (size_t)sn_model_dof_count(m);
  sn_error err = {0};
  CHECK(sn_sim_assemble(sim, s, &err) == SN_OK, "%s", err.text);
  double evaluations = 0;
  for (int k = 0; k < (int)lround(T / o->step); k++) {
    evaluations += redmax_step(sim, s, NULL).evaluations;
  }
  memcpy(y, sn_state_q(s), nv * sizeof *y);
  memcpy(y + nv, sn_state_qd(s), nv * sizeof *y);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return evaluations;
}

/* From halving the step; dopri5 chooses its own, so its order is that of the error against the
 * evaluations when the tolerance goes from 1e-7 to 1e-10. */
static inline void check_orders(const sn_model *m, double T, int count, const order_case *all) {
  const int n = 2 * sn_model_dof_count(m);
  double exact[64], y[64];
  CHECK(n <= 64, "%d numbers", n);
  sn_options o = redmax_options(T);
  o.redmax.integrator = SN_IMPLICIT_DOPRI5;
  o.recursive.rel_tol = o.recursive.abs_tol = 1e-13;
  order_run(m, &o, T, exact);
  print_message("  integrator    errors               order\n");
  for (int k = 0; k < count; k++) {
    const order_case *c = &all[k];
    const bool adaptive = c->integrator == SN_IMPLICIT_DOPRI5;
    double error[2], work[2];
    for (int fine = 0; fine < 2; fine++) {
      o = redmax_options(fine && !adaptive ? c->step / 2 : c->step);
      o.redmax.integrator = c->integrator;
      o.recursive.rel_tol = o.recursive.abs_tol = fine ? 1e-10 : 1e-7;
      work[fine] = order_run(m, &o, T, y);
      error[fine] = largest_difference(y, exact, n);
    }
    const double finer = adaptive ? work[1] / work[0] : 2;
    const double order = log(error[0] / error[1]) / log(finer);
    print_message("  %-12s  %.2e  %.2e   %.2f\n", c->name, error[0], error[1], order);
    CHECK(order > c->order - c->slack && (c->at_least || order < c->order + c->slack),
          "%s: the order is %g, not %g (errors %.2g, %.2g)", c->name, order, c->order, error[0],
          error[1]);
  }
}

#endif
