/* joint.c: the table of joint kinds, and what they share. */
#include "model/joint.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sni_joint_ops sni_joint_fixed, sni_joint_revolute, sni_joint_prismatic,
    sni_joint_cylindrical, sni_joint_screw, sni_joint_universal, sni_joint_spherical,
    sni_joint_planar, sni_joint_translation2, sni_joint_translation3, sni_joint_free,
    sni_joint_free_rt, sni_joint_composite, sni_joint_spline_curve, sni_joint_spline_surface;

static const sni_joint_ops *const table[] = {
    &sni_joint_fixed,        &sni_joint_revolute,     &sni_joint_prismatic,
    &sni_joint_cylindrical,  &sni_joint_screw,        &sni_joint_universal,
    &sni_joint_spherical,    &sni_joint_planar,       &sni_joint_translation2,
    &sni_joint_translation3, &sni_joint_free,         &sni_joint_free_rt,
    &sni_joint_composite,    &sni_joint_spline_curve, &sni_joint_spline_surface};

int sni_joint_kind_count(void) {
  return SNI_COUNT(table);
}

const sni_joint_ops *sni_joint_kind(int kind) {
  return table[kind];
}

int sni_joint_kind_find(const char *keyword) {
  for (int k = 0; k < SNI_COUNT(table); k++) {
    if (strcmp(table[k]->kind.keyword, keyword) == 0) {
      return k;
    }
  }
  return -1;
}

bool sni_joint_is_ball(sni_joint_set set, int j, int first) {
  const sni_joint_ops *ops = sni_joint_ops_of(set, j);
  double q[SN_NV_MAX] = {0}, qd[SN_NV_MAX] = {0};
  if (!ops->reparam || first + 3 > set.joint[j].nv) {
    return false;
  }
  /* too long for a rotation vector; two of the three numbers would not be */
  q[first] = q[first + 1] = q[first + 2] = 3;
  return ops->reparam(set, j, q, qd);
}

int sni_joint_slides(sni_joint_set set, int j, int first) {
  const sni_joint *joint = &set.joint[j];
  const sni_joint_ops *ops = sni_joint_ops_of(set, j);
  for (int p = joint->part_first, n = 0; p < joint->part_first + joint->npart; p++) {
    if (first - n < set.joint[p].nv) {
      return sni_joint_slides(set, p, first - n);
    }
    n += set.joint[p].nv;
  }
  return joint->npart == 0 && first == ops->slides_from ? ops->slides : 0;
}

double *sni_joint_pool(sni_joint_builder *b, int n, int *index) {
  if (n > b->pool_capacity - b->npool) {
    const size_t capacity = 2 * (size_t)b->pool_capacity + (size_t)n + 1024;
    double *pool = capacity < INT_MAX ? realloc(b->pool, capacity * sizeof *pool) : NULL;
    if (!pool) {
      b->out_of_memory = true;
      return NULL;
    }
    b->pool = pool;
    b->pool_capacity = (int)capacity;
  }
  *index = b->npool;
  b->npool += n;
  memset(b->pool + *index, 0, (size_t)n * sizeof(double));
  return b->pool + *index;
}

double *sni_joint_store_pose(sni_joint_builder *b, sn_se3 E, int *index) {
  double *at = sni_joint_pool(b, sizeof E / sizeof(double), index);
  if (at) {
    memcpy(at, &E, sizeof E);
  }
  return at;
}

sn_se3 sni_joint_load_pose(const double *at) {
  sn_se3 E;
  memcpy(&E, at, sizeof E);
  return E;
}

sn_status sni_joint_axis(const sn_joint_def *def, sn_vec3 *axis, sn_error *err) {
  /* the largest part goes first, so that no square overflows or vanishes */
  const sn_vec3 a = def->axis;
  const double most = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
  const sn_vec3 u = {a.x / most, a.y / most, a.z / most};
  const double n = sn_vec3_norm(u);
  if (!(n > 0)) { /* NaN: the axis is zero, or infinite, or NaN itself */
    return sni_fail_key(err, "axis", "length %g, needs a direction", sn_vec3_norm(a));
  }
  *axis = sn_vec3_scale(u, 1 / n);
  return SN_OK;
}

sn_status sni_joint_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                           sn_vec6 *S0, sn_error *err) {
  const int kind = def->type ? sni_joint_kind_find(def->type) : -1;
  if (kind < 0) {
    char known[SN_ERROR_TEXT_MAX] = "";
    for (int k = 0; k < SNI_COUNT(table); k++) {
      strncat(known, k ? ", " : "", sizeof known - strlen(known) - 1);
      strncat(known, table[k]->kind.keyword, sizeof known - strlen(known) - 1);
    }
    return sni_fail_key(err, "type", "'%s' is not a kind of joint; known: %s",
                        def->type ? def->type : "", known);
  }
  *joint = (sni_joint){.kind = kind, .nv = table[kind]->nv};
  const sn_status status = table[kind]->finish(b, def, joint, S0, err);
  return b->out_of_memory ? SN_E_MEMORY : status;
}

bool sni_joint_reparam_rotation(double *q, double *qd) {
  sn_vec3 r = {q[0], q[1], q[2]}, rd = {qd[0], qd[1], qd[2]};
  if (!sn_so3_reparam(&r, &rd)) {
    return false;
  }
  q[0] = r.x;
  q[1] = r.y;
  q[2] = r.z;
  qd[0] = rd.x;
  qd[1] = rd.y;
  qd[2] = rd.z;
  return true;
}

double sni_spring_plain(const sni_spring *s, int first, int n, double *tau) {
  double energy = 0;
  for (int i = first; i < first + n; i++) {
    const double e = s->q_to[i] - s->q[i];
    double force = s->stiffness[i] * e + s->damping[i] * (s->qd_to[i] - s->qd[i]);
    if (s->max_force) {
      force = fmax(-s->max_force[i], fmin(s->max_force[i], force));
    }
    tau[i] += force;
    energy += 0.5 * s->stiffness[i] * e * e;
  }
  return energy;
}

/* The error is theta = log(R^T R_to), in the axes of the body, and V = 1/2 theta^T k theta.
 *
 *     d theta = -Jr(-theta)^-1 w dt      so the torque is      Jr(-theta)^-T k theta
 *
 * and damping acts on the difference of angular velocities, R^T R_to Jr(r_to) rd_to - Jr(r) rd. The
 * torque is conjugate to w = Jr(r) rd, so tau += Jr(r)^T torque. */
double sni_spring_rotation(const sni_spring *s, int first, double *tau) {
  const double *q = s->q + first, *qd = s->qd + first;
  const double *q_to = s->q_to + first, *qd_to = s->qd_to + first;
  const double *k = s->stiffness + first, *d = s->damping + first;
  const sn_vec3 r = {q[0], q[1], q[2]}, rd = {qd[0], qd[1], qd[2]};
  const sn_vec3 r_to = {q_to[0], q_to[1], q_to[2]}, rd_to = {qd_to[0], qd_to[1], qd_to[2]};
  sn_mat3 R, Jr, R_to, Jr_to, unused;
  sn_so3_motion(r, rd, &R, &Jr, &unused);
  sn_so3_motion(r_to, rd_to, &R_to, &Jr_to, &unused);
  const sn_mat3 relative = sn_mat3_tmul(R, R_to);
  const sn_vec3 theta = sn_so3_log(relative);
  const sn_vec3 w = sn_mat3_mul_vec(Jr, rd);
  const sn_vec3 w_to = sn_mat3_mul_vec(relative, sn_mat3_mul_vec(Jr_to, rd_to));
  const sn_vec3 slack = {k[0] * theta.x, k[1] * theta.y, k[2] * theta.z};
  sn_vec3 torque = sn_mat3_tmul_vec(sn_so3_jacobian_inverse(sn_vec3_neg(theta)), slack);
  torque = sn_vec3_add(
      torque, (sn_vec3){d[0] * (w_to.x - w.x), d[1] * (w_to.y - w.y), d[2] * (w_to.z - w.z)});
  if (s->max_force) {
    const double n = sn_vec3_norm(torque), most = s->max_force[first];
    if (n > most) {
      torque = sn_vec3_scale(torque, most / n);
    }
  }
  const sn_vec3 f = sn_mat3_tmul_vec(Jr, torque);
  tau[first] += f.x;
  tau[first + 1] += f.y;
  tau[first + 2] += f.z;
  return 0.5 * sn_vec3_dot(theta, slack);
}

double sni_joint_spring(sni_joint_set set, int j, const sni_spring *spring, double *tau) {
  const sni_joint_ops *ops = sni_joint_ops_of(set, j);
  return ops->spring ? ops->spring(set, j, spring, tau)
                     : sni_spring_plain(spring, 0, set.joint[j].nv, tau);
}

void sni_spring_plain_matrix(const sni_spring *s, int first, int n, double h, double *out, int ld) {
  for (int i = first; i < first + n; i++) {
    out[i * ld + i] += h * s->damping[i] + h * h * s->stiffness[i];
  }
}

/* Force and rate meet in the axes of the body: with theta as in sni_spring_rotation its rate is
 * -B qd, B = Jr(-theta)^-1 Jr(r), so the matrix is h Jr^T d Jr + h^2 B^T k B. */
void sni_spring_rotation_matrix(const sni_spring *s, int first, double h, double *out, int ld) {
  const double *q = s->q + first, *q_to = s->q_to + first;
  const double *k = s->stiffness + first, *d = s->damping + first;
  const sn_vec3 r = {q[0], q[1], q[2]}, r_to = {q_to[0], q_to[1], q_to[2]};
  const sn_vec3 theta = sn_so3_log(sn_mat3_tmul(sn_so3_exp(r), sn_so3_exp(r_to)));
  const sn_mat3 Jr = sn_so3_jacobian(r);
  const sn_mat3 B = sn_mat3_mul(sn_so3_jacobian_inverse(sn_vec3_neg(theta)), Jr);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int c = 0; c < 3; c++) {
        sum += h * d[c] * Jr.m[c][i] * Jr.m[c][j] + h * h * k[c] * B.m[c][i] * B.m[c][j];
      }
      out[(first + i) * ld + first + j] += sum;
    }
  }
}

sni_range sni_range_of_slide(double far) {
  return (sni_range){.lo = -far, .hi = far, .stride = far};
}

void sni_joint_range(sni_joint_set set, int j, double far, sni_range *out) {
  const sni_joint_ops *ops = sni_joint_ops_of(set, j);
  for (int c = 0; c < set.joint[j].nv; c++) {
    const int n = c - ops->slides_from;
    out[c] = n >= 0 && n < ops->slides ? sni_range_of_slide(far)
                                       : (sni_range){.lo = -SN_PI, .hi = SN_PI, .stride = 1};
  }
  if (ops->range) {
    ops->range(set, j, far, out);
  }
}

void sni_joint_spring_matrix(sni_joint_set set, int j, const sni_spring *spring, double h,
                             double *out, int ld) {
  const sni_joint_ops *ops = sni_joint_ops_of(set, j);
  if (ops->spring_matrix) {
    ops->spring_matrix(set, j, spring, h, out, ld);
  } else {
    sni_spring_plain_matrix(spring, 0, set.joint[j].nv, h, out, ld);
  }
}
