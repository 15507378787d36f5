/* constraints/distance.c: two points keep their distance L:  g = (|dx|^2 - L^2) / (2 L). */
#include "model/constraint.h"

typedef struct point {
  sn_vec3 x, v, arm, own; /* own: its acceleration when the body has none of its own */
} point;

static point point_of(const sni_constraint_eval *e, const sni_constraint *c, int side) {
  const int body = c->body[side];
  if (body < 0) {
    return (point){.x = c->at[side].p};
  }
  point p = {.x = sn_se3_point(e->E_wb[body], c->at[side].p)};
  p.arm = sn_vec3_sub(p.x, e->E_wb[body].p);
  const sn_vec3 w = e->phi[body].w, turning = sn_vec3_cross(w, p.arm);
  p.v = sn_vec3_add(e->phi[body].v, turning);
  p.own = sn_vec3_cross(w, turning);
  return p;
}

static int distance_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const point p[2] = {point_of(e, c, 0), point_of(e, c, 1)};
  const sn_vec3 dx = sn_vec3_sub(p[1].x, p[0].x), dv = sn_vec3_sub(p[1].v, p[0].v);
  const double L = c->length;
  *row = (sni_row){
      .g = (sn_vec3_dot(dx, dx) - L * L) / (2 * L),
      .bias = (sn_vec3_dot(dv, dv) + sn_vec3_dot(dx, sn_vec3_sub(p[1].own, p[0].own))) / L};
  for (int side = 0; side < 2; side++) {
    const sn_vec3 n = sn_vec3_scale(dx, (side ? 1 : -1) / L);
    row->body[side] = c->body[side];
    row->p[side] = (sn_vec6){sn_vec3_cross(p[side].arm, n), n};
  }
  return 1;
}

const sni_constraint_ops sni_constraint_distance = {.keyword = "distance", .rows = distance_rows};
