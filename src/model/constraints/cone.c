/* constraints/cone.c: how far a rotation without an axis goes.
 *
 * With R = exp([r]), w = Jr(r) rd the angular velocity in axes of the body, a the axis there and
 * u = R^T a where it was:
 *
 *     swing  th = angle between a and u           th' = n . w    n = u x a / sin th
 *     twist  tau = 2 atan2(t, c)                  tau' = n . w   n = (c^2 a + c a x v + t v) / D
 *
 * (c, v) the quaternion of R, t = v . a, D = c^2 + t^2: turning by tau about a, then leaning by th
 * about an axis across it, is R.  Rows are over rd, by Jr. */
#include "model/constraint.h"

typedef struct turn {
  sn_vec3 r, rd, w;
  sn_mat3 R, Jr, Jrdot;
} turn;

/* An angle that changes with n . w. */
typedef struct angle {
  double value;
  sn_vec3 n, nd;
  bool known; /* it has a direction here */
} angle;

static angle swing_of(const turn *T, sn_vec3 a) {
  const sn_vec3 u = sn_mat3_tmul_vec(T->R, a), across = sn_vec3_cross(u, a);
  const double sine = sn_vec3_norm(across), cosine = sn_vec3_dot(u, a);
  angle out = {.value = atan2(sine, cosine), .known = sine > 1e-9};
  if (out.known) {
    out.n = sn_vec3_scale(across, 1 / sine);
    const double rate = sn_vec3_dot(out.n, T->w);
    const sn_vec3 ud = sn_vec3_neg(sn_vec3_cross(T->w, u));
    out.nd =
        sn_vec3_scale(sn_vec3_addscaled(sn_vec3_cross(ud, a), -cosine * rate, out.n), 1 / sine);
  }
  return out;
}

static angle twist_of(const turn *T, sn_vec3 a) {
  const double th = sn_vec3_norm(T->r);
  const double half = th > 1e-8 ? sin(0.5 * th) / th : 0.5;
  const double c = cos(0.5 * th);
  const sn_vec3 v = sn_vec3_scale(T->r, half);
  const double t = sn_vec3_dot(v, a), D = c * c + t * t;
  angle out = {.known = D > 1e-18};
  if (!out.known) {
    return out;
  }
  out.value = 2 * atan2(t, c);
  out.value -= 2 * SN_PI * nearbyint(out.value / (2 * SN_PI)); /* r and its other self are one */
  const double cd = -0.5 * sn_vec3_dot(v, T->w);
  const sn_vec3 vd = sn_vec3_scale(sn_vec3_addscaled(sn_vec3_cross(v, T->w), c, T->w), 0.5);
  const double td = sn_vec3_dot(vd, a), Dd = 2 * (c * cd + t * td);
  const sn_vec3 axv = sn_vec3_cross(a, v), axvd = sn_vec3_cross(a, vd);
  sn_vec3 N = sn_vec3_scale(a, c * c), Nd = sn_vec3_scale(a, 2 * c * cd);
  N = sn_vec3_addscaled(sn_vec3_addscaled(N, c, axv), t, v);
  Nd = sn_vec3_addscaled(sn_vec3_addscaled(Nd, cd, axv), c, axvd);
  Nd = sn_vec3_addscaled(sn_vec3_addscaled(Nd, td, v), t, vd);
  out.n = sn_vec3_scale(N, 1 / D);
  out.nd = sn_vec3_scale(sn_vec3_addscaled(Nd, -Dd, out.n), 1 / D);
  return out;
}

/* sign (x - bound) >= 0 */
static int add_row(const sni_constraint_eval *e, const sni_constraint *c, const turn *T, angle x,
                   double sign, double bound, sni_row *row) {
  if (!x.known) { /* far from the limit, if it is one; rows keep their places */
    *row = (sni_row){.g = SN_PI, .body = {-1, -1}, .one_sided = true, .stop = c->stop};
    return 1;
  }
  const sn_vec3 over = sn_mat3_tmul_vec(T->Jr, x.n);
  *row = (sni_row){
      .g = sign * (x.value - bound),
      .bias = sign * (sn_vec3_dot(x.nd, T->w) + sn_vec3_dot(x.n, sn_mat3_mul_vec(T->Jrdot, T->rd))),
      .coef = {sign * over.x, sign * over.y, sign * over.z},
      .one_sided = true,
      .stop = c->stop};
  sni_constraint_over(e, c, row, 3);
  return 1;
}

static int cone_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const double *q = sni_constraint_q(e, c), *qd = sni_constraint_qd(e, c);
  turn T = {.r = {q[0], q[1], q[2]}, .rd = {qd[0], qd[1], qd[2]}};
  sn_so3_motion(T.r, T.rd, &T.R, &T.Jr, &T.Jrdot);
  T.w = sn_mat3_mul_vec(T.Jr, T.rd);
  int n = 0;
  if (c->swing < SN_PI) {
    n += add_row(e, c, &T, swing_of(&T, c->axis), -1, c->swing, row + n);
  }
  if (isfinite(c->lower)) {
    const angle twist = twist_of(&T, c->axis);
    n += add_row(e, c, &T, twist, 1, c->lower, row + n);
    n += add_row(e, c, &T, twist, -1, c->upper, row + n);
  }
  return n;
}

const sni_constraint_ops sni_constraint_cone = {.kind = {.keyword = "cone"}, .rows = cone_rows};
