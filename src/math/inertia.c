/* inertia.c: mass properties of rigid bodies. */
#include "math/inertia.h"

sn_mat3 sn_inertia_tensor(sn_inertia I) {
  return (sn_mat3){{{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}}};
}

sn_inertia sn_inertia_make(double mass, sn_vec3 com, sn_mat3 tensor_at_com) {
  const sn_mat3 T = tensor_at_com;
  return (sn_inertia){.mass = mass,
                      .com = com,
                      .xx = T.m[0][0],
                      .yy = T.m[1][1],
                      .zz = T.m[2][2],
                      .xy = 0.5 * (T.m[0][1] + T.m[1][0]),
                      .xz = 0.5 * (T.m[0][2] + T.m[2][0]),
                      .yz = 0.5 * (T.m[1][2] + T.m[2][1])};
}

sn_inertia sn_inertia_transform(sn_se3 E, sn_inertia I) {
  const sn_mat3 T = sn_mat3_mul(E.R, sn_mat3_mul(sn_inertia_tensor(I), sn_mat3_transpose(E.R)));
  return sn_inertia_make(I.mass, sn_se3_point(E, I.com), T);
}

/* Steiner: m [c]^T [c] = -m [c]^2 */
static sn_mat3 steiner(double mass, sn_vec3 c) {
  return sn_mat3_scale(sn_mat3_cross2(c), -mass);
}

sn_inertia sn_inertia_add(sn_inertia a, sn_inertia b) {
  const double mass = a.mass + b.mass;
  if (!(mass > 0)) {
    return sn_inertia_make(0, (sn_vec3){0},
                           sn_mat3_add(sn_inertia_tensor(a), sn_inertia_tensor(b)));
  }
  const sn_vec3 com = sn_vec3_addscaled(sn_vec3_scale(a.com, a.mass / mass), b.mass / mass, b.com);
  sn_mat3 T = sn_mat3_add(sn_inertia_tensor(a), steiner(a.mass, sn_vec3_sub(a.com, com)));
  T = sn_mat3_add(T, sn_mat3_add(sn_inertia_tensor(b), steiner(b.mass, sn_vec3_sub(b.com, com))));
  return sn_inertia_make(mass, com, T);
}

sn_mat3 sn_inertia_tensor_at_origin(sn_inertia I) {
  return sn_mat3_add(sn_inertia_tensor(I), steiner(I.mass, I.com));
}

sn_vec6 sn_inertia_mul(sn_inertia I, sn_vec6 phi) {
  const sn_vec3 force =
      sn_vec3_scale(sn_vec3_add(phi.v, sn_vec3_cross(phi.w, I.com)), I.mass); /* linear momentum */
  const sn_vec3 spin = sn_mat3_mul_vec(sn_inertia_tensor(I), phi.w);
  return (sn_vec6){sn_vec3_add(spin, sn_vec3_cross(I.com, force)), force};
}

/* One rotation of Jacobi's in the plane of p and q; r is the third. */
static void rotate(sn_mat3 *A, sn_mat3 *W, int p, int q) {
  const int r = 3 - p - q;
  const double theta = 0.5 * (A->m[q][q] - A->m[p][p]) / A->m[p][q];
  const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c, tau = s / (1 + c); /* c = 1 - tau s */
  const double pr = A->m[p][r], qr = A->m[q][r];
  A->m[p][p] -= t * A->m[p][q];
  A->m[q][q] += t * A->m[p][q];
  A->m[p][q] = A->m[q][p] = 0;
  A->m[p][r] = A->m[r][p] = pr - s * (qr + tau * pr);
  A->m[q][r] = A->m[r][q] = qr + s * (pr - tau * qr);
  for (int k = 0; k < 3; k++) {
    const double x = W->m[k][p], y = W->m[k][q];
    W->m[k][p] = x - s * (y + tau * x);
    W->m[k][q] = y + s * (x - tau * y);
  }
}

/* Cyclic Jacobi: five sweeps reach round-off for any symmetric 3x3; it never fails. */
void sn_sym3_eigen(sn_mat3 A, double value[3], sn_mat3 *V) {
  sn_mat3 W = sn_mat3_identity();
  for (int sweep = 0; sweep < 12; sweep++) {
    const double off = fabs(A.m[0][1]) + fabs(A.m[0][2]) + fabs(A.m[1][2]);
    if (off == 0) {
      break;
    }
    for (int p = 0; p < 2; p++) {
      for (int q = p + 1; q < 3; q++) {
        if (A.m[p][q] != 0) {
          rotate(&A, &W, p, q);
        }
      }
    }
  }
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; i++) {
    for (int j = i + 1; j < 3; j++) {
      if (A.m[order[j]][order[j]] < A.m[order[i]][order[i]]) {
        const int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
      }
    }
  }
  for (int i = 0; i < 3; i++) {
    value[i] = A.m[order[i]][order[i]];
  }
  if (V) {
    for (int i = 0; i < 3; i++) {
      sn_mat3_set_col(V, i, sn_mat3_col(W, order[i]));
    }
    if (sn_mat3_det(*V) < 0) {
      sn_mat3_set_col(V, 2, sn_vec3_neg(sn_mat3_col(*V, 2)));
    }
  }
}
