/* constraints/limit.c: a coordinate stays between two numbers: q - lower >= 0, upper - q >= 0.
 *
 * The coordinate is one of a joint, or of a loop, whose rate stands over the twists of its bodies.
 */
#include "model/constraint.h"

const double *sni_constraint_q(const sni_constraint_eval *e, const sni_constraint *c) {
  return c->of_loop ? e->loop_q + c->first + c->coord[0] : e->q + c->coord[0];
}

const double *sni_constraint_qd(const sni_constraint_eval *e, const sni_constraint *c) {
  return c->of_loop ? e->loop_qd + c->first + c->coord[0] : e->qd + c->coord[0];
}

void sni_constraint_over(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row,
                         int n) {
  row->body[0] = row->body[1] = -1;
  if (!c->of_loop) {
    row->ncoord = n;
    for (int k = 0; k < n; k++) {
      row->coord[k] = c->coord[0] + k;
    }
    return;
  }
  sni_loop_map map;
  sni_constraint_loop_map(e, c, &map);
  row->ncoord = 0;
  for (int side = 0; side < 2; side++) {
    row->body[side] = c->body[side];
    row->p[side] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < n; k++) {
      row->p[side] = sn_vec6_addscaled(row->p[side], row->coef[k], map.p[side][c->coord[0] + k]);
    }
  }
  for (int k = 0; k < n; k++) {
    row->bias += row->coef[k] * map.bias[c->coord[0] + k];
  }
}

static int limit_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const double q = *sni_constraint_q(e, c);
  int n = 0;
  for (int side = 0; side < 2; side++) {
    const double bound = side ? c->upper : c->lower;
    if (isfinite(bound)) {
      row[n] = (sni_row){.g = side ? bound - q : q - bound,
                         .coef = {side ? -1 : 1},
                         .one_sided = true,
                         .stop = c->stop};
      sni_constraint_over(e, c, &row[n++], 1);
    }
  }
  return n;
}

const sni_constraint_ops sni_constraint_limit = {.kind = {.keyword = "limit"}, .rows = limit_rows};
