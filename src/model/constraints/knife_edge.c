/* constraints/knife_edge.c: a point of a body does not slide along a direction d that is fixed in
 * the body, across a blade or the plane of a wheel:
 *
 *     d . v = 0     d . vdot + (w x d) . v + d . (w x (w x arm)) = 0
 *
 * It says nothing about where the body is: g = 0. */
#include "model/constraint.h"

static void knife_edge_finish(sni_part_builder *b, const sn_constraint_def *def,
                              sni_constraint *c) {
  c->nrow = 1;
  sni_constraint_body(b, def->body, c);
  b->point(b, "at", def->at);
  c->at[0].p = def->at;
  sni_constraint_direction(b, "direction", def->direction, c);
}

static int knife_edge_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const int body = c->body[0];
  const sni_constraint_point p = sni_constraint_at(e, body, c->at[0].p);
  const sn_vec3 d = sn_mat3_mul_vec(e->E_wb[body].R, c->axis);
  *row =
      (sni_row){.bias = sn_vec3_dot(sn_vec3_cross(e->phi[body].w, d), p.v) + sn_vec3_dot(d, p.own),
                .body = {body, -1},
                .p = {sni_constraint_row(p.arm, d)}};
  return 1;
}

static const sni_field knife_edge_field[] = {
    {.key = "body",
     .type = SNI_F_NAME,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, body),
     .doc = "the body"},
    {.key = "at",
     .type = SNI_F_VEC3,
     .offset = offsetof(sn_constraint_def, at),
     .unit = "m",
     .doc = "where the edge touches, in the body's frame; default: its origin"},
    {.key = "direction",
     .type = SNI_F_VEC3,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, direction),
     .doc = "along this, in the body's frame, the point does not move: across the blade"}};

const sni_constraint_ops sni_constraint_knife_edge = {
    .kind = {"knife_edge", "a point of a body never moves sideways: skates, simple wheels",
             knife_edge_field, SNI_COUNT(knife_edge_field)},
    .finish = knife_edge_finish,
    .rates = 1,
    .rows = knife_edge_rows};
