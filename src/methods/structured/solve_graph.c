/* solve_graph.c: `graph`: bodies, joints, forces and constraints as one sparse system, factorised
 * in an order that is found once (dynamics/kkt.h). */
#include "dynamics/kkt.h"
#include "methods/redmax/solve.h"
#include "methods/structured/ties.h"

static sn_status graph_build(sni_ties *t, void **own, sn_error *err) {
  const sni_system *s = t->system;
  return sni_kkt_build(t->d, SNI_KKT_MAXIMAL, s->npairs, (const int(*)[2])s->pair, SIZE_MAX,
                       (sni_kkt **)own, err);
}

static void graph_free(void **own) {
  sni_kkt_free((sni_kkt **)own);
}

static sn_status graph_factorise(sni_ties *t, void *own, const double *b, int *bad) {
  if (t->stage == SNI_TIES_STEP) {
    sni_graph_fill(t->system, own, t->d->rows, t->soft);
  } else {
    sni_kkt_fill(own, &t->in, t->d->rows, t->soft);
  }
  return sni_kkt_factorise(own, b, t->c, bad);
}

static void graph_solve(sni_ties *t, void *own, const double *b, double *x) {
  double residual;
  sni_kkt_take_care(own, t->precision > 1e-8 ? SNI_KKT_ROUGH : SNI_KKT_EXACT);
  sni_kkt_solve(own, b, t->c, x, t->lambda, &residual);
  t->spent = 0;
  sni_ties_check(t, x);
}

const sni_tie_solver sni_ties_graph = {.name = "graph",
                                       .whole = true,
                                       .build = graph_build,
                                       .free = graph_free,
                                       .factorise = graph_factorise,
                                       .solve = graph_solve};
