/* constraints/couple.c: coordinates of joints that move together: sum coef q = f(t).  Gears, and
 * joints that follow a motion. */
#include "model/constraint.h"

static int couple_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  double f[3] = {0};
  if (c->function >= 0) {
    sni_function_eval(e->function[c->function], e->t, e->t_ref, f);
  }
  *row = (sni_row){.g = -f[0], .rate = -f[1], .bias = -f[2], .body = {-1, -1}, .ncoord = c->ncoord};
  for (int k = 0; k < c->ncoord; k++) {
    row->coord[k] = c->coord[k];
    row->coef[k] = c->coef[k];
    row->g += c->coef[k] * e->q[c->coord[k]];
  }
  return 1;
}

const sni_constraint_ops sni_constraint_couple = {.keyword = "couple", .rows = couple_rows};
