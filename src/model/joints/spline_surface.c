/* joints/spline_surface.c: two coordinates on a smooth surface of poses: a tensor-product cubic
 * B-spline for each of x, y, z and three angles.
 *
 *     Q(q) = prod_k exp(e_k f_k(q)),  f_k = sum_ij B_i(u0) B_j(u1) C_ij,k            [RMS 60-63]
 *
 * k = x, y, z, rx, ry, rz.  S and its derivatives by [RMS Alg 5]; dS_i/dq_j is not symmetric, and
 * line 15 must use S_i from before line 16.  Angles act as XYZ Euler angles: beyond pi/4 they
 * come near gimbal lock, which earns a warning. */
#include "model/joint.h"
#include "model/joints/spline.h"

#include <stdio.h>
#include <string.h>

typedef struct surface_data {
  sn_se3 E0;
  double rows, columns;
} surface_data; /* then rows x columns x 6 control values */

static sn_status surface_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                sn_vec6 *S0, sn_error *err) {
  (void)S0;
  const int rows = def->grid_rows, columns = def->grid_columns;
  if (rows < 4 || columns < 4 || rows > 1000 || columns > 1000) {
    return sni_fail_key(err, "grid", "is %d by %d, needs 4 by 4 to 1000 by 1000", rows, columns);
  }
  const int head = sizeof(surface_data) / sizeof(double), n = rows * columns * 6;
  double *at = sni_joint_pool(b, head + n, &joint->data);
  if (!at) {
    return SN_E_MEMORY;
  }
  *(surface_data *)at = (surface_data){def->at, rows, columns};
  memcpy(at + head, def->grid, (size_t)n * sizeof(double));
  double largest = 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(def->grid[i])) {
      return sni_fail_key(err, "grid", "row %d, column %d has %g, needs finite numbers",
                          i / 6 / columns, i / 6 % columns, def->grid[i]);
    }
    largest = i % 6 >= 3 ? fmax(largest, fabs(def->grid[i])) : largest;
  }
  if (largest > SN_PI / 4 + 1e-12) {
    snprintf(b->warning, sizeof b->warning,
             "grid: an angle of %.3g rad is beyond pi/4: the Euler angles come near gimbal lock",
             largest);
  }
  return SN_OK;
}

/* f and its derivatives for one of the six scalars. */
typedef struct scalar {
  double f, d[2], dd[2][2];
} scalar;

static scalar scalar_calc(const double *control, int columns, int k, const sni_basis *a,
                          const sni_basis *b) {
  scalar s = {0};
  for (int i = 0; i < 4; i++) {
    double v = 0, d = 0, dd = 0; /* along the second coordinate */
    for (int j = 0; j < 4; j++) {
      const double c = control[(i * columns + j) * 6 + k];
      v += b->B[j] * c;
      d += b->dB[j] * c;
      dd += b->ddB[j] * c;
    }
    s.f += a->B[i] * v;
    s.d[0] += a->dB[i] * v;
    s.d[1] += a->B[i] * d;
    s.dd[0][0] += a->ddB[i] * v;
    s.dd[0][1] += a->dB[i] * d;
    s.dd[1][1] += a->B[i] * dd;
  }
  s.dd[1][0] = s.dd[0][1];
  return s;
}

static sn_vec6 unit_twist(int k) {
  return (sn_vec6){.w = {k == 3, k == 4, k == 5}, .v = {k == 0, k == 1, k == 2}};
}

static void surface_calc(sni_joint_set set, int first, int count, const double *q, const double *qd,
                         sni_joint_out out) {
  for (int n = 0; n < count; n++) {
    const double *at = set.pool + set.joint[first + n].data;
    const surface_data *data = (const surface_data *)at;
    const int columns = (int)data->columns;
    double u0, u1;
    const int i0 = sni_open_segment(q[2 * n], (int)data->rows - 3, &u0);
    const int i1 = sni_open_segment(q[2 * n + 1], columns - 3, &u1);
    const double *control = at + sizeof *data / sizeof(double) + (i0 * columns + i1) * 6;
    const sni_basis a = sni_basis_calc(u0), b = sni_basis_calc(u1);

    sn_se3 Q = sn_se3_identity();
    sn_vec6 S[2] = {0}, H[2][2] = {0};
    for (int k = 0; k < 6; k++) {
      const scalar s = scalar_calc(control, columns, k, &a, &b);
      const sn_vec6 e = unit_twist(k);
      const sn_se3 step = sn_se3_exp(sn_vec6_scale(e, s.f));
      for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
          const sn_vec6 turned = sn_vec6_addscaled(H[i][j], s.d[j], sn_ad_mul(S[i], e));
          H[i][j] = sn_vec6_addscaled(sn_Adinv_mul(step, turned), s.dd[i][j], e);
        }
        S[i] = sn_vec6_addscaled(sn_Adinv_mul(step, S[i]), s.d[i], e);
      }
      Q = sn_se3_mul(Q, step);
    }
    out.E_pb[n] = sn_se3_mul(data->E0, Q);
    for (int i = 0; i < 2; i++) {
      out.S[2 * n + i] = S[i];
      out.Sdot[2 * n + i] =
          sn_vec6_addscaled(sn_vec6_scale(H[i][0], qd[2 * n]), qd[2 * n + 1], H[i][1]);
    }
  }
}

static void surface_range(sni_joint_set set, int j, double far, sni_range *out) {
  (void)far;
  const surface_data *data = (const surface_data *)(set.pool + set.joint[j].data);
  out[0] = (sni_range){.hi = data->rows - 3, .stride = 1};
  out[1] = (sni_range){.hi = data->columns - 3, .stride = 1};
}

static const sni_field surface_field[] = {
    {.key = "grid",
     .type = SNI_F_GRID,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_joint_def, grid),
     .offset2 = offsetof(sn_joint_def, grid_rows),
     .unit = "m, rad",
     .doc = "rows of control values [x, y, z, rx, ry, rz], at least 4 by 4; rows run with the "
            "first coordinate"}};

const sni_joint_ops sni_joint_spline_surface = {
    .kind = {"spline_surface", "two coordinates on a smooth surface of poses", surface_field,
             SNI_COUNT(surface_field)},
    .nv = 2,
    .finish = surface_finish,
    .calc = surface_calc,
    .range = surface_range};
