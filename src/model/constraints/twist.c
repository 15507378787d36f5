/* constraints/twist.c: components of the twist of a body at a point of it follow functions of time,
 * in the body's axes or the world's:
 *
 *     a_k . w = f_k     a_k . v = f_k     bias = a_k . (w x (w x arm)) + (w x a_k) . v - f_k'
 *
 * the second part where a_k turns with the body, neither of the two for w.  It says nothing about
 * where the body is: g = 0.  [RM 7] */
#include "model/constraint.h"

static int twist_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  static const sn_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, zero = {0};
  const int body = c->body[0];
  const sn_vec3 w = e->phi[body].w;
  const sni_constraint_point p = sni_constraint_at(e, body, c->at[0].p);
  int n = 0;
  for (int k = 0; k < 6; k++) {
    if (c->function[k] < 0) {
      continue;
    }
    double f[3];
    sni_function_eval(e->function[c->function[k]], e->t, e->t_ref, f);
    const bool turns = c->frame == SN_FRAME_BODY, linear = k >= 3;
    const sn_vec3 a = turns ? sn_mat3_mul_vec(e->E_wb[body].R, unit[k % 3]) : unit[k % 3];
    const double turning = turns ? sn_vec3_dot(sn_vec3_cross(w, a), p.v) : 0;
    row[n++] = (sni_row){.rate = -f[0],
                         .bias = (linear ? sn_vec3_dot(a, p.own) + turning : 0) - f[1],
                         .timed = -f[1],
                         .body = {body, -1},
                         .p = {linear ? sni_constraint_row(p.arm, a) : (sn_vec6){a, zero}}};
  }
  return n;
}

const sni_constraint_ops sni_constraint_twist = {
    .kind = {.keyword = "twist"}, .rates = SNI_ROWS_MAX, .rows = twist_rows};
