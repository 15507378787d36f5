/* constraints/turn.c: a rotation vector that follows a motion:  r = f(t) + 2 pi k u,  u = f/|f|.
 *
 * What follows is the rotation.  Vectors that are whole turns apart are the same one, and a step
 * leaves the shortest behind (redmax/move.c), so f is read as the one next to r.         [RM 7] */
#include "model/constraint.h"

/* Whole turns about u from f to the vector next to r. */
static double turns_to(sn_vec3 f, double length, sn_vec3 r) {
  return length > 0 ? round((sn_vec3_dot(f, r) / length - length) / (2 * SN_PI)) : 0;
}

/* Adds so many turns to f[0] and what they change in its rates:
 *
 *     ud = (fd - s u)/l     udd = (fdd - 2 s ud - (u . fdd + ud . fd) u)/l     l = |f|, s = u . fd
 */
static void add_turns(double turns, double length, sn_vec3 f[3]) {
  const sn_vec3 u = sn_vec3_scale(f[0], 1 / length);
  const double s = sn_vec3_dot(u, f[1]);
  const sn_vec3 ud = sn_vec3_scale(sn_vec3_addscaled(f[1], -s, u), 1 / length);
  const double along = sn_vec3_dot(u, f[2]) + sn_vec3_dot(ud, f[1]);
  const sn_vec3 bend = sn_vec3_addscaled(sn_vec3_addscaled(f[2], -2 * s, ud), -along, u);
  f[0] = sn_vec3_addscaled(f[0], 2 * SN_PI * turns, u);
  f[1] = sn_vec3_addscaled(f[1], 2 * SN_PI * turns, ud);
  f[2] = sn_vec3_addscaled(f[2], 2 * SN_PI * turns / length, bend);
}

static int turn_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  double of[3][3]; /* of a coordinate: value, rate, acceleration */
  for (int k = 0; k < 3; k++) {
    sni_function_eval(e->function[c->function[k]], e->t, e->t_ref, of[k]);
  }
  sn_vec3 f[3];
  for (int i = 0; i < 3; i++) {
    f[i] = (sn_vec3){of[0][i], of[1][i], of[2][i]};
  }
  const double *q = e->q + c->coord[0], length = sn_vec3_norm(f[0]);
  const double turns = turns_to(f[0], length, (sn_vec3){q[0], q[1], q[2]});
  if (turns != 0) {
    add_turns(turns, length, f);
  }
  const double g[3] = {q[0] - f[0].x, q[1] - f[0].y, q[2] - f[0].z};
  const double rate[3] = {f[1].x, f[1].y, f[1].z}, bias[3] = {f[2].x, f[2].y, f[2].z};
  for (int k = 0; k < 3; k++) {
    row[k] = (sni_row){.g = g[k],
                       .rate = -rate[k],
                       .bias = -bias[k],
                       .timed = -bias[k],
                       .body = {-1, -1},
                       .ncoord = 1,
                       .coord = {c->coord[k]},
                       .coef = {1}};
  }
  return 3;
}

const sni_constraint_ops sni_constraint_turn = {.kind = {.keyword = "turn"}, .rows = turn_rows};
