/* solve_graph.c: the step's system as one sparse graph, before projection (graph) or after it
 * (reduced-kkt): dynamics/kkt.h. */
#include "dynamics/kkt.h"
#include "methods/redmax/solve.h"

static void graph_free(void **own) {
  sni_kkt *k = *own;
  sni_kkt_free(&k);
  *own = NULL;
}

sn_status sni_graph_build_within(sni_system *s, size_t bytes_max, void **own, sn_error *err) {
  sni_kkt *k = NULL;
  const sn_status status =
      sni_kkt_build(s->d, SNI_KKT_MAXIMAL, s->npairs, (const int(*)[2])s->pair, bytes_max, &k, err);
  *own = k;
  return status;
}

static sn_status graph_build(sni_system *s, void **own, sn_error *err) {
  return sni_graph_build_within(s, SIZE_MAX, own, err);
}

static sn_status reduced_kkt_build(sni_system *s, void **own, sn_error *err) {
  sni_kkt *k = NULL;
  const sn_status status =
      sni_kkt_build(s->d, SNI_KKT_REDUCED, s->npairs, (const int(*)[2])s->pair, SIZE_MAX, &k, err);
  *own = k;
  return status;
}

static bool graph_suits(const sni_system *s) {
  (void)s;
  return true;
}

/* A with the constraints, or without (NULL). */
void sni_graph_fill(sni_system *s, void *own, const sni_rows *rows, const double *soft) {
  sni_kkt_fill(own, &s->in, rows, soft);
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    if (term->body[0] >= 0 && term->body[1] >= 0) {
      const double c = s->h * term->d + s->h * s->h * term->k;
      sni_kkt_add_pair(own, term->pair, c, term->p[0], term->p[1]);
    }
  }
}

/* The right-hand side of the system goes along: most often it is the one to be solved for. */
static sn_status graph_factorise(sni_system *s, void *own, sni_solve_info *info) {
  sni_graph_fill(s, own, NULL, NULL);
  return sni_kkt_factorise(own, s->b, NULL, &info->bad);
}

static sn_status graph_solve(sni_system *s, void *own, const double *b, double tolerance,
                             int max_iterations, double *x, sni_solve_info *info) {
  (void)s;
  (void)tolerance;
  (void)max_iterations;
  const sn_status status = sni_kkt_solve(own, b, NULL, x, NULL, &info->residual);
  info->converged = status == SN_OK;
  return status;
}

const sni_solver sni_solver_graph = {.name = "graph",
                                     .build = graph_build,
                                     .free = graph_free,
                                     .suits = graph_suits,
                                     .factorise = graph_factorise,
                                     .solve = graph_solve};

const sni_solver sni_solver_reduced_kkt = {.name = "reduced-kkt",
                                           .build = reduced_kkt_build,
                                           .free = graph_free,
                                           .suits = graph_suits,
                                           .factorise = graph_factorise,
                                           .solve = graph_solve};
