/* constraints/point.c: a point of one body stays on a point of another:  g = x_b - x_a, three rows
 * in world axes. */
#include "model/constraint.h"

static void point_finish(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  sni_constraint_sides(b, def, c);
  c->nrow = 3;
}

static int point_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  static const sn_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const sni_constraint_point p[2] = {sni_constraint_at(e, c->body[0], c->at[0].p),
                                     sni_constraint_at(e, c->body[1], c->at[1].p)};
  sn_vec3 x[2];
  sni_constraint_places(e, c, p[0].x, p[1].x, x);
  const sn_vec3 arm[2] = {sn_vec3_add(p[0].arm, sn_vec3_sub(x[0], p[0].x)),
                          sn_vec3_add(p[1].arm, sn_vec3_sub(x[1], p[1].x))};
  for (int k = 0; k < 3; k++) {
    row[k] = (sni_row){.g = sn_vec3_dot(axis[k], sn_vec3_sub(p[1].x, p[0].x)),
                       .bias = sn_vec3_dot(axis[k], sn_vec3_sub(p[1].own, p[0].own)),
                       .body = {c->body[0], c->body[1]},
                       .p = {sni_constraint_row(arm[0], sn_vec3_neg(axis[k])),
                             sni_constraint_row(arm[1], axis[k])}};
  }
  return 3;
}

static const sni_field point_field[] = {
    SNI_CONSTRAINT_SIDES("one point: a body and where on it", "the point that it stays on")};

const sni_constraint_ops sni_constraint_point_on_point = {
    .kind = {"point", "two points stay together, whatever way the bodies turn", point_field,
             SNI_COUNT(point_field)},
    .finish = point_finish,
    .rows = point_rows};
