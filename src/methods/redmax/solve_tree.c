/* solve_tree.c: one recursive pass, exact when no force couples two bodies that both move: the
 * blocks of A then lie on the tree alone.  [RM Alg 1] */
#include "methods/redmax/system.h"

static bool tree_suits(const sni_system *s) {
  return s->npair == 0;
}

static sn_status tree_build(sni_system *s, void **own, sn_error *err) {
  (void)s;
  (void)err;
  *own = NULL;
  return SN_OK;
}

static void tree_free(void **own) {
  *own = NULL;
}

static sn_status tree_factorise(sni_system *s, void *own, sni_solve_info *info) {
  (void)own;
  info->bad = sni_factorise(s->t, &s->in, &s->d->w);
  return info->bad >= 0 ? SN_E_SINGULAR : SN_OK;
}

static sn_status tree_solve(sni_system *s, void *own, const double *b, double tolerance,
                            int max_iterations, double *x, sni_solve_info *info) {
  (void)own;
  (void)tolerance;
  (void)max_iterations;
  sni_Minv_mul(s->t, &s->d->w, b, x);
  info->converged = true;
  return SN_OK;
}

const sni_solver sni_solver_tree = {.name = "tree",
                                    .build = tree_build,
                                    .free = tree_free,
                                    .suits = tree_suits,
                                    .factorise = tree_factorise,
                                    .solve = tree_solve};
