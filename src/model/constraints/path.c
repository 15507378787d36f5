/* constraints/path.c: a point of a body follows a path in the world:  g = x - f(t), three rows.
 * [RM 7] */
#include "model/constraint.h"

static int path_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  static const sn_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const sni_constraint_point p = sni_constraint_at(e, c->body[0], c->at[0].p);
  for (int k = 0; k < 3; k++) {
    double f[3];
    sni_function_eval(e->function[c->function[k]], e->t, e->t_ref, f);
    row[k] = (sni_row){.g = sn_vec3_dot(axis[k], p.x) - f[0],
                       .rate = -f[1],
                       .bias = sn_vec3_dot(axis[k], p.own) - f[2],
                       .timed = -f[2],
                       .body = {c->body[0], -1},
                       .p = {sni_constraint_row(p.arm, axis[k])}};
  }
  return 3;
}

const sni_constraint_ops sni_constraint_path = {.kind = {.keyword = "path"}, .rows = path_rows};
