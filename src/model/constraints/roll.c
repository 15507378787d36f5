/* constraints/roll.c: a sphere, or the edge of a disc, rolls on a plane without slip.
 *
 * The plane has the axes e_1, e_2 and the normal e_3 = n, on a body of its own.  The lowest point
 * of the body is x = c - r u, with c the centre and u = n for a sphere; for a disc with axis a, u
 * is what n has across a, made a unit vector.  There the body does not move against the plane:
 *
 *     e_k . dv = 0,  dv = v_0 + w_0 x (x - o_0) - v_1 - w_1 x (x - o_1)
 *     bias_k = e_k . (w_0 x (xdot - v_0) - w_1 x (xdot - v_1)) + (w_1 x e_k) . dv
 *
 * with xdot the velocity at which the place of contact moves.  The third of these rows is the rate
 * of g = n . (x - p), since nothing that a lowest point does changes its height to first order; the
 * first two have no g. */
#include "model/constraint.h"

#include <stdio.h>

static void roll_finish(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  c->nrow = 3;
  sni_constraint_body(b, def->body, c);
  c->body[1] = b->body(b, "on.body", def->on.body);
  b->point(b, "at", def->at);
  b->pose(b, "on.at", def->on.at);
  c->at[0].p = def->at;
  c->at[1] = def->on.at;
  c->length = def->radius;
  if (!(def->radius > 0) || !isfinite(def->radius)) {
    b->fail(b, "radius", "is %g, needs a number > 0", def->radius);
  }
  if (c->body[0] == c->body[1] && c->body[0] != -2) {
    b->fail(b, "on.body", "is the body itself: needs another");
  }
  const double length = sn_vec3_norm(def->axis);
  if (!isfinite(length)) {
    b->fail(b, "axis", "has length %g, needs a finite length", length);
  } else if (length > 0) {
    c->axis = sn_vec3_scale(def->axis, 1 / length);
  }
}

/* u, and how fast it changes; a disc that lies flat has no lowest point: any u will do. */
static void lowest(sn_vec3 n, sn_vec3 nd, sn_vec3 a, sn_vec3 ad, sn_vec3 *u, sn_vec3 *ud) {
  const double along = sn_vec3_dot(n, a);
  const double along_d = sn_vec3_dot(nd, a) + sn_vec3_dot(n, ad);
  const sn_vec3 m = sn_vec3_addscaled(n, -along, a);
  const sn_vec3 md = sn_vec3_addscaled(sn_vec3_addscaled(nd, -along_d, a), -along, ad);
  const double length = sn_vec3_norm(m), scale = length > 0 ? 1 / length : 0;
  *u = sn_vec3_scale(m, scale);
  *ud = sn_vec3_scale(sn_vec3_addscaled(md, -sn_vec3_dot(*u, md), *u), scale);
}

static int roll_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const sn_vec3 zero = {0};
  const int body = c->body[0], ground = c->body[1];
  const sn_se3 E = e->E_wb[body], G = ground < 0 ? sn_se3_identity() : e->E_wb[ground];
  const sn_se3 plane = sn_se3_mul(G, c->at[1]);
  const sn_vec6 phi[2] = {e->phi[body], ground < 0 ? (sn_vec6){zero, zero} : e->phi[ground]};
  const sni_constraint_point centre = sni_constraint_at(e, body, c->at[0].p);
  const sn_vec3 n = {plane.R.m[0][2], plane.R.m[1][2], plane.R.m[2][2]};
  const sn_vec3 a = sn_mat3_mul_vec(E.R, c->axis);
  sn_vec3 u = n, ud = sn_vec3_cross(phi[1].w, n);
  if (sn_vec3_dot(a, a) > 0) {
    lowest(n, ud, a, sn_vec3_cross(phi[0].w, a), &u, &ud);
  }
  const sn_vec3 x = sn_vec3_addscaled(centre.x, -c->length, u);
  const sn_vec3 xd = sn_vec3_addscaled(centre.v, -c->length, ud);
  const sn_vec3 arm[2] = {sn_vec3_sub(x, E.p), sn_vec3_sub(x, G.p)};
  sn_vec3 v[2], carried[2];
  for (int side = 0; side < 2; side++) {
    v[side] = sn_vec3_add(phi[side].v, sn_vec3_cross(phi[side].w, arm[side]));
    carried[side] = sn_vec3_cross(phi[side].w, sn_vec3_sub(xd, phi[side].v));
  }
  const sn_vec3 dv = sn_vec3_sub(v[0], v[1]), moving = sn_vec3_sub(carried[0], carried[1]);
  for (int k = 0; k < 3; k++) {
    const sn_vec3 axis = {plane.R.m[0][k], plane.R.m[1][k], plane.R.m[2][k]};
    row[k] = (sni_row){
        .g = k == 2 ? sn_vec3_dot(axis, sn_vec3_sub(x, plane.p)) : 0,
        .bias = sn_vec3_dot(axis, moving) + sn_vec3_dot(sn_vec3_cross(phi[1].w, axis), dv),
        .body = {body, ground},
        .p = {sni_constraint_row(arm[0], axis), sni_constraint_row(arm[1], sn_vec3_neg(axis))}};
  }
  return 3;
}

static const sni_field roll_field[] = {
    {.key = "body",
     .type = SNI_F_NAME,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, body),
     .doc = "the body that rolls"},
    {.key = "at",
     .type = SNI_F_VEC3,
     .offset = offsetof(sn_constraint_def, at),
     .unit = "m",
     .doc = "centre of its sphere or disc, in its frame; default: its origin"},
    {.key = "radius",
     .type = SNI_F_NUMBER,
     .flags = SNI_REQUIRED | SNI_POSITIVE,
     .offset = offsetof(sn_constraint_def, radius),
     .unit = "m",
     .doc = "radius of the sphere or disc"},
    {.key = "axis",
     .type = SNI_F_VEC3,
     .offset = offsetof(sn_constraint_def, axis),
     .doc = "axis of a disc, in the body's frame; default: it is a sphere"},
    {.key = "on",
     .type = SNI_F_POINT,
     .offset = offsetof(sn_constraint_def, on),
     .unit = "m",
     .doc = "the plane: x and y of this frame, z pointing to the body; default: the world's"}};

const sni_constraint_ops sni_constraint_roll = {
    .kind = {"roll", "a sphere or a disc rolls on a plane, without slip and without leaving it",
             roll_field, SNI_COUNT(roll_field)},
    .finish = roll_finish,
    .rates = 2,
    .rows = roll_rows};
