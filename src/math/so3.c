/* so3.c: exponential and logarithm of rotations. */
#include "math/so3.h"

#include <string.h>

static sni_exp_coefs coefs_series(double x) {
  return (sni_exp_coefs){
      .s = 1.0 / 1 +
           x * (-1.0 / 6 + x * (1.0 / 120 + x * (-1.0 / 5040 +
                                                 x * (1.0 / 362880 +
                                                      x * (-1.0 / 39916800 +
                                                           x * (1.0 / 6227020800.0 +
                                                                x * (-1.0 / 1307674368000.0))))))),
      .a = 1.0 / 2 +
           x * (-1.0 / 24 +
                x * (1.0 / 720 +
                     x * (-1.0 / 40320 +
                          x * (1.0 / 3628800 +
                               x * (-1.0 / 479001600 +
                                    x * (1.0 / 87178291200.0 + x * (-1.0 / 20922789888000.0))))))),
      .b = 1.0 / 6 +
           x * (-1.0 / 120 +
                x * (1.0 / 5040 +
                     x * (-1.0 / 362880 +
                          x * (1.0 / 39916800 +
                               x * (-1.0 / 6227020800.0 + x * (1.0 / 1307674368000.0 +
                                                               x * (-1.0 / 355687428096000.0))))))),
      .da = -1.0 / 12 +
            x * (1.0 / 180 +
                 x * (-1.0 / 6720 +
                      x * (1.0 / 453600 +
                           x * (-1.0 / 47900160 +
                                x * (1.0 / 7264857600.0 + x * (-1.0 / 1494484992000.0 +
                                                               x * (1.0 / 400148356608000.0))))))),
      .db = -1.0 / 60 +
            x * (1.0 / 1260 +
                 x * (-1.0 / 60480 +
                      x * (1.0 / 4989600 +
                           x * (-1.0 / 622702080 + x * (1.0 / 108972864000.0 +
                                                        x * (-1.0 / 25406244864000.0 +
                                                             x * (1.0 / 7602818775552000.0)))))))};
}

sni_exp_coefs sni_exp_coefs_calc(double th2) {
  if (th2 < SNI_SERIES_TH2) {
    return coefs_series(th2);
  }
  /* The root's rounding error e counts where s, a or da vanish, at pi and 2 pi: it is put back. */
  const double th = sqrt(th2), e = fma(-th, th, th2) / (2 * th);
  const double sine = sin(0.5 * th), cosine = cos(0.5 * th);
  const double half = fma(0.5 * e, cosine, sine);
  const double s = 2 * half * fma(-0.5 * e, sine, cosine) / th;
  const double a = 2 * half * half / th2;
  const double b = (1 - s) / th2;
  return (sni_exp_coefs){s, a, b, (s - 2 * a) / th2, (a - 3 * b) / th2};
}

/* I + x [r] + y [r]^2 */
static sn_mat3 rotation_series(sn_vec3 r, double x, double y) {
  const sn_vec3 t = sn_vec3_scale(r, x), u = sn_vec3_scale(r, y);
  return (sn_mat3){{{1 - u.y * r.y - u.z * r.z, u.x * r.y - t.z, u.x * r.z + t.y},
                    {u.x * r.y + t.z, 1 - u.x * r.x - u.z * r.z, u.y * r.z - t.x},
                    {u.x * r.z - t.y, u.y * r.z + t.x, 1 - u.x * r.x - u.y * r.y}}};
}

sn_mat3 sn_so3_exp(sn_vec3 r) {
  const sni_exp_coefs k = sni_exp_coefs_calc(sn_vec3_dot(r, r));
  return rotation_series(r, k.s, k.a);
}

sn_mat3 sn_mat3_axis_angle(sn_vec3 axis, double angle) {
  const double half = sin(0.5 * angle);
  return rotation_series(axis, sin(angle), 2 * half * half);
}

/* Near pi the antisymmetric part of R vanishes: the axis comes from the symmetric part
 * (R + R^T)/2 = c I + (1 - c) n n^T, from the column with the largest diagonal, and only its
 * sign from the antisymmetric part. */
static sn_vec3 log_near_pi(sn_mat3 R, sn_vec3 u, double c, double th) {
  int k = 0;
  for (int i = 1; i < 3; i++) {
    if (R.m[i][i] > R.m[k][k]) {
      k = i;
    }
  }
  double n[3];
  const double nk = sqrt(fmax((R.m[k][k] - c) / (1 - c), 0));
  for (int i = 0; i < 3; i++) {
    n[i] = i == k ? nk : 0.5 * (R.m[i][k] + R.m[k][i]) / ((1 - c) * nk);
  }
  sn_vec3 axis = {n[0], n[1], n[2]};
  axis = sn_vec3_scale(axis, 1 / sn_vec3_norm(axis));
  return sn_vec3_scale(axis, sn_vec3_dot(axis, u) < 0 ? -th : th);
}

sn_vec3 sni_so3_log_far(sn_mat3 R) {
  const sn_vec3 u = sni_so3_sine(&R);
  const double c = 0.5 * (sn_mat3_trace(R) - 1), sine = sn_vec3_norm(u);
  const double th = atan2(sine, c); /* acos would lose half the digits at both ends */
  if (c > -0.9) {
    return sn_vec3_scale(u, th / sine);
  }
  return log_near_pi(R, u, c, th);
}

sn_mat3 sn_so3_jacobian(sn_vec3 r) {
  const sni_exp_coefs k = sni_exp_coefs_calc(sn_vec3_dot(r, r));
  return rotation_series(r, -k.a, k.b);
}

/* -(da c)[r] - a[rd] + (db c)[r]^2 + b([rd][r] + [r][rd]) with c = r.rd (th times its rate), and
 * [rd][r] + [r][rd] = r rd^T + rd r^T - 2 c I. */
static sn_mat3 jacobian_dot(sni_exp_coefs k, sn_vec3 r, sn_vec3 rd) {
  const double c = sn_vec3_dot(r, rd);
  const sn_vec3 t = sn_vec3_addscaled(sn_vec3_scale(r, -k.da * c), -k.a, rd);
  const sn_vec3 y = sn_vec3_addscaled(sn_vec3_scale(rd, k.b), 0.5 * k.db * c, r);
  /* r y^T + y r^T holds b (r rd^T + rd r^T) + db c r r^T */
  const double d = -2 * k.b * c - k.db * c * sn_vec3_dot(r, r);
  const double xy = r.x * y.y + y.x * r.y, xz = r.x * y.z + y.x * r.z, yz = r.y * y.z + y.y * r.z;
  return (sn_mat3){{{2 * r.x * y.x + d, xy - t.z, xz + t.y},
                    {xy + t.z, 2 * r.y * y.y + d, yz - t.x},
                    {xz - t.y, yz + t.x, 2 * r.z * y.z + d}}};
}

sn_mat3 sn_so3_jacobian_dot(sn_vec3 r, sn_vec3 rd) {
  return jacobian_dot(sni_exp_coefs_calc(sn_vec3_dot(r, r)), r, rd);
}

void sn_so3_motion(sn_vec3 r, sn_vec3 rd, sn_mat3 *R, sn_mat3 *Jr, sn_mat3 *Jrdot) {
  const sni_exp_coefs k = sni_exp_coefs_calc(sn_vec3_dot(r, r));
  *R = rotation_series(r, k.s, k.a);
  *Jr = rotation_series(r, -k.a, k.b);
  *Jrdot = jacobian_dot(k, r, rd);
}

double sni_inverse_coef_far(double th2) {
  const double th = sqrt(th2);
  return (1 - 0.5 * th / tan(0.5 * th)) / th2;
}

sn_mat3 sn_so3_jacobian_inverse(sn_vec3 r) {
  return rotation_series(r, 0.5, sni_inverse_coef(sn_vec3_dot(r, r)));
}

bool sn_so3_reparam(sn_vec3 *r, sn_vec3 *rd) {
  const sn_vec3 old = *r;
  double n = sn_vec3_norm(*r);
  if (!(n > 1.5 * SN_PI) || !isfinite(n)) {
    return false;
  }
  const double shorter = remainder(n, 2 * SN_PI); /* in [-pi, pi] */
  *r = sn_vec3_scale(old, shorter / n);
  const sn_vec3 omega = sn_mat3_mul_vec(sn_so3_jacobian(old), *rd);
  *rd = sn_mat3_mul_vec(sn_so3_jacobian_inverse(*r), omega);
  return true;
}

sn_quat sn_quat_from_mat3(sn_mat3 R) {
  /* Shepperd: start from the largest of w, x, y, z, so that nothing small is divided by. */
  const double t = sn_mat3_trace(R);
  double q[4];
  int k = 0;
  for (int i = 1; i < 4; i++) {
    if (R.m[i - 1][i - 1] > (k == 0 ? t : R.m[k - 1][k - 1])) {
      k = i;
    }
  }
  if (k == 0) {
    q[0] = 1 + t;
    q[1] = R.m[2][1] - R.m[1][2];
    q[2] = R.m[0][2] - R.m[2][0];
    q[3] = R.m[1][0] - R.m[0][1];
  } else {
    const int i = k - 1, j = (i + 1) % 3, l = (i + 2) % 3;
    q[0] = R.m[l][j] - R.m[j][l];
    q[1 + i] = 1 + R.m[i][i] - R.m[j][j] - R.m[l][l];
    q[1 + j] = R.m[j][i] + R.m[i][j];
    q[1 + l] = R.m[l][i] + R.m[i][l];
  }
  const double n =
      (q[0] < 0 ? -1 : 1) / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return (sn_quat){q[0] * n, q[1] * n, q[2] * n, q[3] * n};
}

sn_mat3 sn_mat3_from_quat(sn_quat q) {
  /* the largest part goes first, so that no square overflows or vanishes */
  const double most = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
  q = (sn_quat){q.w / most, q.x / most, q.y / most, q.z / most};
  const double k = 2 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return (sn_mat3){
      {{1 - k * (q.y * q.y + q.z * q.z), k * (q.x * q.y - q.w * q.z), k * (q.x * q.z + q.w * q.y)},
       {k * (q.x * q.y + q.w * q.z), 1 - k * (q.x * q.x + q.z * q.z), k * (q.y * q.z - q.w * q.x)},
       {k * (q.x * q.z - q.w * q.y), k * (q.y * q.z + q.w * q.x),
        1 - k * (q.x * q.x + q.y * q.y)}}};
}

sn_vec3 sni_so3_log_near(sn_mat3 R, sn_vec3 was) {
  const sn_vec3 r = sn_so3_log(R);
  const double angle = sn_vec3_norm(r), length = sn_vec3_norm(was);
  const sn_vec3 axis = angle > 1e-8    ? sn_vec3_scale(r, 1 / angle)
                       : length > 1e-8 ? sn_vec3_scale(was, 1 / length)
                                       : r;
  const double turns = round((sn_vec3_dot(axis, was) - angle) / (2 * SN_PI));
  return sn_vec3_addscaled(r, 2 * SN_PI * turns, axis);
}

void sni_so3_turn(double *r, sn_vec3 w) {
  const sn_vec3 was = {r[0], r[1], r[2]};
  const sn_vec3 is = sni_so3_log_near(sn_mat3_mul(sn_so3_exp(was), sn_so3_exp(w)), was);
  memcpy(r, (double[3]){is.x, is.y, is.z}, 3 * sizeof *r);
}

void sni_so3_carry_rate(const double *from, const double *to, double *rate) {
  const sn_vec3 r = {from[0], from[1], from[2]}, r1 = {to[0], to[1], to[2]};
  const sn_vec3 w = sn_mat3_mul_vec(sn_so3_jacobian(r), (sn_vec3){rate[0], rate[1], rate[2]});
  if (memcmp(from, to, 3 * sizeof *from) != 0) {
    const sn_vec3 rd1 = sn_mat3_mul_vec(sn_so3_jacobian_inverse(r1), w);
    memcpy(rate, (double[3]){rd1.x, rd1.y, rd1.z}, 3 * sizeof *rate);
  }
}
