/* constraints/distance.c: two points keep their distance L:  g = (|dx|^2 - L^2) / (2 L). */
#include "model/constraint.h"

static void distance_finish(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  sni_constraint_sides(b, def, c);
  c->nrow = 1;
  c->length = def->length;
  if (def->length == 0 || !isfinite(def->length)) {
    b->fail(b, "length", "is %g, needs a number > 0 (two points that meet: type: point)",
            def->length);
  }
}

static void distance_settle(sni_part_builder *b, const sn_se3 *E_wb, sni_constraint *c) {
  if (c->length > 0) {
    return;
  }
  sn_vec3 x[2];
  for (int side = 0; side < 2; side++) {
    const int body = c->body[side];
    x[side] = body < 0 ? c->at[side].p : sn_se3_point(E_wb[body], c->at[side].p);
  }
  c->length = sn_vec3_norm(sn_vec3_sub(x[1], x[0]));
  if (!(c->length > 0)) {
    b->fail(b, "length",
            "is not given, and a and b meet in the initial pose: needs a length > 0, or type: "
            "point");
  }
}

static int distance_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const sni_constraint_point p[2] = {sni_constraint_at(e, c->body[0], c->at[0].p),
                                     sni_constraint_at(e, c->body[1], c->at[1].p)};
  const sn_vec3 dx = sn_vec3_sub(p[1].x, p[0].x), dv = sn_vec3_sub(p[1].v, p[0].v);
  const double L = c->length;
  *row = (sni_row){
      .g = (sn_vec3_dot(dx, dx) - L * L) / (2 * L),
      .bias = (sn_vec3_dot(dv, dv) + sn_vec3_dot(dx, sn_vec3_sub(p[1].own, p[0].own))) / L};
  for (int side = 0; side < 2; side++) {
    row->body[side] = c->body[side];
    row->p[side] = sni_constraint_row(p[side].arm, sn_vec3_scale(dx, (side ? 1 : -1) / L));
  }
  return 1;
}

static const sni_field distance_field[] = {
    SNI_CONSTRAINT_SIDES("one point: a body and where on it", "the other point"),
    {.key = "length",
     .type = SNI_F_NUMBER,
     .flags = SNI_POSITIVE,
     .offset = offsetof(sn_constraint_def, length),
     .unit = "m",
     .doc = "their distance; default: that in the initial pose"}};

const sni_constraint_ops sni_constraint_distance = {
    .kind = {"distance", "two points keep their distance: a thin rod with balls at its ends",
             distance_field, SNI_COUNT(distance_field)},
    .finish = distance_finish,
    .settle = distance_settle,
    .rows = distance_rows};
