/* constraints/rate.c: coordinates of a joint that move at given rates, wherever they are:
 * qd = f(t), and g = 0.                                                                  [RM 7] */
#include "model/constraint.h"

static int rate_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  for (int k = 0; k < c->ncoord; k++) {
    double f[3];
    sni_function_eval(e->function[c->function[k]], e->t, e->t_ref, f);
    row[k] = (sni_row){.rate = -f[0],
                       .bias = -f[1],
                       .timed = -f[1],
                       .body = {-1, -1},
                       .ncoord = 1,
                       .coord = {c->coord[k]},
                       .coef = {1}};
  }
  return c->ncoord;
}

const sni_constraint_ops sni_constraint_rate = {
    .kind = {.keyword = "rate"}, .rates = SNI_ROWS_MAX, .rows = rate_rows};
