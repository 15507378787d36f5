/* constraints/half_space.c: a point of a body, or a ball about it, stays on one side of a plane.
 *
 * The plane has the point o and the normal n, on a body of its own that moves with w_1; x the
 * point:
 *
 *     g = n . (x - o) - radius >= 0     g' = n . (v_0(x) - v_1(x))
 *     bias = n . (own_0(x) - own_1(x)) + (w_1 x n) . 2 (v_0 - v_1)
 *
 * where v_1(x) is how the plane's body moves at x.  The plane is endless: what is beyond it
 * anywhere is pushed back. */
#include "model/constraint.h"

#include <stdio.h>

static void half_space_finish(sni_part_builder *b, const sn_constraint_def *def,
                              sni_constraint *c) {
  c->nrow = c->nsided = 1;
  sni_constraint_body(b, def->body, c);
  c->body[1] = b->body(b, "on.body", def->on.body);
  b->point(b, "at", def->at);
  b->pose(b, "on.at", def->on.at);
  c->at[0].p = def->at;
  c->at[1] = def->on.at;
  c->length = def->radius;
  c->stop = def->stop;
  if (!(def->radius >= 0) || !isfinite(def->radius)) {
    b->fail(b, "radius", "is %g, needs a number >= 0", def->radius);
  }
  if (c->body[0] == c->body[1] && c->body[0] != -2) {
    b->fail(b, "on.body", "is the body itself: needs another");
  }
  sni_stop_check(b, "stop", &def->stop);
}

static int half_space_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const int body = c->body[0], ground = c->body[1];
  const sn_se3 G = ground < 0 ? sn_se3_identity() : e->E_wb[ground];
  const sn_se3 plane = sn_se3_mul(G, c->at[1]);
  const sn_vec3 n = {plane.R.m[0][2], plane.R.m[1][2], plane.R.m[2][2]};
  const sni_constraint_point x = sni_constraint_at(e, body, c->at[0].p);
  *row = (sni_row){.g = sn_vec3_dot(n, sn_vec3_sub(x.x, plane.p)) - c->length,
                   .bias = sn_vec3_dot(n, x.own),
                   .body = {body, ground},
                   .p = {sni_constraint_row(x.arm, n)},
                   .one_sided = true,
                   .stop = c->stop};
  if (ground >= 0) {
    const sn_vec3 w = e->phi[ground].w, arm = sn_vec3_sub(x.x, G.p);
    const sn_vec3 carried = sn_vec3_cross(w, arm), v = sn_vec3_add(e->phi[ground].v, carried);
    row->p[1] = sni_constraint_row(arm, sn_vec3_neg(n));
    row->bias += 2 * sn_vec3_dot(sn_vec3_cross(w, n), sn_vec3_sub(x.v, v)) -
                 sn_vec3_dot(n, sn_vec3_cross(w, carried));
  }
  return 1;
}

static const sni_field half_space_field[] = {
    {.key = "body",
     .type = SNI_F_NAME,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, body),
     .doc = "the body that stays there"},
    {.key = "at",
     .type = SNI_F_VEC3,
     .offset = offsetof(sn_constraint_def, at),
     .unit = "m",
     .doc = "its point, in its frame; default: its origin"},
    {.key = "radius",
     .type = SNI_F_NUMBER,
     .flags = SNI_NOT_NEGATIVE,
     .offset = offsetof(sn_constraint_def, radius),
     .unit = "m",
     .doc = "of a ball about the point; default 0"},
    {.key = "on",
     .type = SNI_F_POINT,
     .offset = offsetof(sn_constraint_def, on),
     .unit = "m",
     .doc = "the plane: x and y of this frame, z pointing to the free side; default: the world's"},
    {.key = "stop",
     .type = SNI_F_TABLE,
     .offset = offsetof(sn_constraint_def, stop),
     .table = &sni_stop_table,
     .doc = "what happens at the plane; default: a hard stop, nothing comes back"}};

const sni_constraint_ops sni_constraint_half_space = {
    .kind = {"half_space", "a point of a body stays on one side of a plane", half_space_field,
             SNI_COUNT(half_space_field)},
    .finish = half_space_finish,
    .rows = half_space_rows};
