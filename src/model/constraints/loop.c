/* constraints/loop.c: a joint of any kind between two bodies that both have a place in the tree.
 *
 * Frames A and B on the two bodies, X = E_A^-1 E_B, the joint's Q(q) and S(q):  X = Q(q) for some
 * q. That q is found by Newton's method from where it was, r = log(Q^-1 X) being what no q can
 * undo; N spans the directions across S, so with nu the twist of B relative to A, in axes of B,
 *
 *     g = N^T r     N^T nu = 0     N^T (nudot - Sdot qd) = 0
 *
 * 6 - nv rows, whatever the joint. */
#include "math/dense.h"
#include "math/lane.h"
#include "model/constraint.h"

#include <string.h>

enum { NEWTON_MAX = 20 };

/* Gaps whose cube does not matter to those who close them, and look again. */
#define NEAR 1e-3

/* Products of matrices by rows, in lanes; the fourth lane is whatever comes next in memory, which
 * the last row of a pose has, too. */
typedef double row4 __attribute__((vector_size(32), aligned(8), may_alias));

static inline void store_row(double *out, sni_lane row) {
  out[0] = row[0];
  out[1] = row[1];
  out[2] = row[2];
}

/* out = A B */
static inline void mul_pose(const sn_se3 *A, const sn_se3 *B, sn_se3 *out) {
  const sni_lane b[3] = {*(const row4 *)B->R.m[0], *(const row4 *)B->R.m[1],
                         *(const row4 *)B->R.m[2]};
  for (int i = 0; i < 3; i++) {
    const double *a = A->R.m[i];
    store_row(out->R.m[i], sni_lane_mul(b, a[0], a[1], a[2]));
  }
  out->p = sn_se3_point(*A, B->p);
}

/* out = A^-1 B */
static inline void divide_pose(const sn_se3 *A, const sn_se3 *B, sn_se3 *out) {
  const sni_lane b[3] = {*(const row4 *)B->R.m[0], *(const row4 *)B->R.m[1],
                         *(const row4 *)B->R.m[2]};
  for (int i = 0; i < 3; i++) {
    store_row(out->R.m[i], sni_lane_mul(b, A->R.m[0][i], A->R.m[1][i], A->R.m[2][i]));
  }
  const sn_vec3 d = sn_vec3_sub(B->p, A->p);
  const sni_lane a[3] = {*(const row4 *)A->R.m[0], *(const row4 *)A->R.m[1],
                         *(const row4 *)A->R.m[2]};
  out->p = sni_lane_vec3(sni_lane_mul(a, d.x, d.y, d.z));
}

typedef struct relative {
  sn_se3 E_A, E_B;
  sn_vec6 a, b; /* twists of the bodies, at the origin of B */
} relative;

static const sn_se3 still = {.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};

static const sn_se3 *pose_of(const sni_constraint_eval *e, int body) {
  return body < 0 ? &still : &e->E_wb[body];
}

static sn_vec6 twist_at(const sni_constraint_eval *e, int body, sn_vec3 x) {
  if (body < 0) {
    return (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  const sn_vec6 phi = e->phi[body];
  const sn_vec3 arm = sn_vec3_sub(x, e->E_wb[body].p);
  return (sn_vec6){phi.w, sn_vec3_add(phi.v, sn_vec3_cross(phi.w, arm))};
}

static void find_relative(const sni_constraint_eval *e, const sni_constraint *c, relative *out) {
  mul_pose(pose_of(e, c->body[0]), &c->at[0], &out->E_A);
  mul_pose(pose_of(e, c->body[1]), &c->at[1], &out->E_B);
  if (!e->poses_only) {
    out->a = twist_at(e, c->body[0], out->E_B.p);
    out->b = twist_at(e, c->body[1], out->E_B.p);
  }
}

void sni_constraint_loop_joint(const sni_constraint_eval *e, const sni_constraint *c,
                               const double *q, const double *qd, sn_se3 *Q, sn_vec6 *S,
                               sn_vec6 *Sdot) {
  if (c->nv == 0) {
    *Q = sn_se3_identity();
    return; /* nothing moves, and a weld has no joint */
  }
  const sni_joint_ops *ops = sni_joint_ops_of(e->joints, c->joint);
  for (int k = 0; k < c->nv; k++) {
    S[k] = e->S0[SN_NV_MAX * c->joint + k];
    Sdot[k] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  ops->calc(e->joints, c->joint, 1, q, qd, (sni_joint_out){Q, S, Sdot});
}

static double component(sn_vec6 x, int j) {
  const double all[6] = {x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z};
  return all[j];
}

/* The axis that is most across the first n, which are orthonormal. */
static sn_vec6 most_across(const sn_vec6 *out, int n) {
  double axis[6] = {0}, longest = -1;
  int best = 0;
  for (int j = 0; j < 6; j++) {
    double left = 1;
    for (int i = 0; i < n; i++) {
      left -= component(out[i], j) * component(out[i], j);
    }
    if (left > longest + 1e-9) { /* of those that are alike the first, whatever the rounding */
      longest = left;
      best = j;
    }
  }
  axis[best] = 1;
  return (sn_vec6){{axis[0], axis[1], axis[2]}, {axis[3], axis[4], axis[5]}};
}

/* out[from .. to) orthonormal, and to those before: along the columns of S as long as there are
 * any, then across them. */
static void complete(const sn_vec6 *S, int n, int from, int to, sn_vec6 *out) {
  for (int k = from; k < to; k++) {
    sn_vec6 x = k < n ? S[k] : most_across(out, k);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < k; i++) {
        x = sn_vec6_addscaled(x, -sn_vec6_dot(out[i], x), out[i]);
      }
    }
    const double length = sqrt(sn_vec6_dot(x, x));
    out[k] = sn_vec6_scale(x, length > 0 ? 1 / length : 0);
  }
}

void sni_constraint_loop_basis(const sn_vec6 *S, int n, sn_vec6 *out) {
  complete(S, n, 0, 6, out);
}

/* x = (S^T S)^-1 S^T r with an orthonormal basis B of the columns: B^T S x = B^T r, triangular. */
static void along(const sn_vec6 *S, int n, const sn_vec6 *B, sn_vec6 r, double *x) {
  for (int i = n - 1; i >= 0; i--) {
    double sum = sn_vec6_dot(B[i], r);
    for (int k = i + 1; k < n; k++) {
      sum -= sn_vec6_dot(B[i], S[k]) * x[k];
    }
    const double pivot = sn_vec6_dot(B[i], S[i]);
    x[i] = pivot != 0 ? sum / pivot : 0;
  }
}

/* The basis of a joint that lets nothing move. */
static const sn_vec6 axes[6] = {{{1, 0, 0}, {0, 0, 0}}, {{0, 1, 0}, {0, 0, 0}},
                                {{0, 0, 1}, {0, 0, 0}}, {{0, 0, 0}, {1, 0, 0}},
                                {{0, 0, 0}, {0, 1, 0}}, {{0, 0, 0}, {0, 0, 1}}};

/* What a loop is like at loop_q. */
typedef struct loop_state {
  relative rel;
  sn_se3 Q;
  bool constant; /* S and B do not change                         */
  bool steady;   /* what S spans does not, nor what is across it */
  sn_vec6 S[SN_NV_MAX], own[6];
  const sn_vec6 *B;
  sn_vec6 rest;   /* nudot - Sdot qd without the accelerations of the bodies, in axes of B */
  sn_vec3 arm[2]; /* from the origins of the bodies to where they meet: sni_constraint_places */
} loop_state;

static void begin(const sni_constraint_eval *e, const sni_constraint *c, loop_state *s) {
  find_relative(e, c, &s->rel);
  const sni_joint_ops *ops = c->nv > 0 ? sni_joint_ops_of(e->joints, c->joint) : NULL;
  const sn_vec6 *basis = e->basis + 6 * c->joint;
  s->constant = !ops || ops->constant_S;
  s->steady = ops && ops->constant_span;
  s->B = !ops ? axes : s->constant ? basis : s->own;
  for (int i = c->nv; s->steady && i < 6; i++) {
    s->own[i] = basis[i];
  }
}

static void find_arms(const sni_constraint_eval *e, const sni_constraint *c, loop_state *s) {
  const sn_vec3 wanted = sn_se3_point(s->rel.E_A, s->Q.p);
  sn_vec3 x[2];
  sni_constraint_places(e, c, wanted, s->rel.E_B.p, x);
  s->arm[0] = sn_vec3_sub(x[0], pose_of(e, c->body[0])->p);
  s->arm[1] = sn_vec3_sub(x[1], pose_of(e, c->body[1])->p);
}

/* With the coordinates and rates of now. */
static void look(const sni_constraint_eval *e, const sni_constraint *c, loop_state *s) {
  const relative *rel = &s->rel;
  const double *q = e->loop_q + c->first, *qd = e->loop_qd + c->first;
  sn_vec6 Sdot[SN_NV_MAX], drift = {{0, 0, 0}, {0, 0, 0}};
  if (!s->constant) {
    sni_constraint_loop_joint(e, c, q, qd, &s->Q, s->S, Sdot);
    for (int k = 0; k < c->nv; k++) {
      drift = sn_vec6_addscaled(drift, qd[k], Sdot[k]);
    }
  }

  /* nudot without the accelerations: of the point at B, and of the axes of B */
  const sn_vec3 w_a = rel->a.w, w_b = rel->b.w;
  const sn_vec6 d = sn_vec6_sub(rel->b, rel->a);
  const sn_vec3 arm = sn_vec3_sub(rel->E_B.p, pose_of(e, c->body[1])->p);
  const sn_vec3 none = {0}, v_a = c->body[0] < 0 ? none : e->phi[c->body[0]].v;
  const sn_vec3 turning = sn_vec3_cross(w_b, sn_vec3_cross(w_b, arm));
  const sn_vec3 carried = sn_vec3_cross(w_a, sn_vec3_sub(rel->b.v, v_a));
  const sn_vec6 moving = {sn_vec3_neg(sn_vec3_cross(w_b, d.w)),
                          sn_vec3_sub(sn_vec3_sub(turning, carried), sn_vec3_cross(w_b, d.v))};
  s->rest = sn_vec6_sub(sn_vec6_unrotate(rel->E_B.R, moving), drift);
  find_arms(e, c, s);
}

/* Directions of B, over the twists of the bodies: the rates of the gap between the two. */
typedef struct directions {
  sni_lane column[3]; /* of the rotation of B */
  sni_lane arm[2];
} directions;

static directions directions_of(const loop_state *s) {
  const sn_mat3 *R = &s->rel.E_B.R;
  directions d;
  for (int k = 0; k < 3; k++) {
    d.column[k] = (sni_lane){R->m[0][k], R->m[1][k], R->m[2][k], 0};
  }
  d.arm[0] = sni_lane_from(s->arm[0]);
  d.arm[1] = sni_lane_from(s->arm[1]);
  return d;
}

static inline void over(const directions *d, const sn_vec6 *b, sn_vec6 *p0, sn_vec6 *p1) {
  const sni_lane w = sni_lane_mul(d->column, b->w.x, b->w.y, b->w.z);
  const sni_lane v = sni_lane_mul(d->column, b->v.x, b->v.y, b->v.z);
  *p0 = sni_lane6_vec6((sni_lane6){-w - sni_lane_cross(d->arm[0], v), -v});
  *p1 = sni_lane6_vec6((sni_lane6){w + sni_lane_cross(d->arm[1], v), v});
}

/* g alone, without q: from what the joint could do nearest to X.  Across S that differs from
 * Newton's method by the cube of the gap.  False: it is too large for that. */
static bool find_gaps(const sni_constraint_eval *e, const sni_constraint *c, const loop_state *s,
                      const sn_se3 *X, sni_row *row) {
  sn_se3 Q, left;
  sni_joint_ops_of(e->joints, c->joint)->nearest(e->joints, c->joint, X, &Q);
  divide_pose(&Q, X, &left);
  const sn_vec6 r = sn_se3_log(left);
  for (int i = c->nv; i < 6; i++) {
    row[i - c->nv].g = sn_vec6_dot(s->B[i], r);
  }
  return sn_vec6_dot(r, r) < NEAR * NEAR;
}

/* Is nothing of r along the joint, but for rounding?  Steady ones are asked without their S. */
static bool is_there(const sni_constraint_eval *e, const sni_constraint *c, sn_vec6 r) {
  const sn_vec6 *basis = e->basis + 6 * c->joint;
  double most = 0;
  for (int i = 0; i < c->nv; i++) {
    most = fmax(most, fabs(sn_vec6_dot(basis[i], r)));
  }
  return most <= 1e-14;
}

/* ---- far from closed ---- */

/* With Q^-1 X = exp(r),  dr/dt = A nu - C S qd,  where  A = ad/(1 - exp(-ad)),  C = A exp(-ad)  and
 * ad = ad(r):  A or C = 1 + sign ad/2 + sum of B_2k/(2k)! ad^2k  with Bernoulli's numbers, and what
 * is left out is less than 1e-5 of it at half a turn. */
static sn_vec6 log_rate(sn_vec6 r, double sign, bool transposed, sn_vec6 x) {
  static const double bernoulli[] = {1.0 / 12,
                                     -1.0 / 720,
                                     1.0 / 30240,
                                     -1.0 / 1209600,
                                     1.0 / 47900160,
                                     -691.0 / 1307674368000.0,
                                     1.0 / 74724249600.0,
                                     -3617.0 / 10670622842880000.0,
                                     43867.0 / 5109094217170944000.0};
  sn_vec6 power = transposed ? sn_adT_mul(r, x) : sn_ad_mul(r, x);
  sn_vec6 sum = sn_vec6_addscaled(x, 0.5 * sign, power);
  for (size_t k = 0; k < sizeof bernoulli / sizeof *bernoulli; k++) {
    power = transposed ? sn_adT_mul(r, power) : sn_ad_mul(r, power);
    sum = sn_vec6_addscaled(sum, bernoulli[k], power);
    power = transposed ? sn_adT_mul(r, power) : sn_ad_mul(r, power);
  }
  return sum;
}

/* How what of r is along the joint, B^T r, changes with q:  -T^T qd,  T = (B^T C S)^T. */
typedef struct slopes {
  sn_vec6 CS[SN_NV_MAX];
  double T[SN_NV_MAX][SN_NV_MAX];
  double L[SN_NV_MAX * SN_NV_MAX]; /* of T^T T */
  bool known;                      /* there are factors */
} slopes;

static void find_slopes(const loop_state *s, int nv, sn_vec6 r, slopes *out) {
  memset(out->L, 0, sizeof out->L);
  for (int k = 0; k < nv; k++) {
    out->CS[k] = log_rate(r, -1, false, s->S[k]);
    for (int j = 0; j < nv; j++) {
      out->T[k][j] = sn_vec6_dot(s->B[j], out->CS[k]);
    }
  }
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j < nv; j++) {
      for (int k = 0; k < nv; k++) {
        out->L[i * nv + j] += out->T[k][i] * out->T[k][j];
      }
    }
  }
  out->known = sni_cholesky(nv, out->L, 1e-12, NULL);
}

/* step becomes T^-T B^T r:  T (T^T T)^-1 B^T r. */
static void along_far(const loop_state *s, int nv, sn_vec6 r, double *step) {
  double x[SN_NV_MAX];
  slopes at;
  find_slopes(s, nv, r, &at);
  for (int j = 0; j < nv; j++) {
    x[j] = sn_vec6_dot(s->B[j], r);
  }
  if (at.known) {
    sni_cholesky_solve(nv, at.L, x);
    for (int k = 0; k < nv; k++) {
      step[k] = 0;
      for (int j = 0; j < nv; j++) {
        step[k] += at.T[k][j] * x[j];
      }
    }
  }
}

/* How fast g grows along a row: N^T dr/dt, qd being such that nothing of r comes to be along the
 * joint,  B^T dr/dt = 0:  N'^T nu with  N' = A^T (N - B z),  T z = (N^T C S)^T.  Where r is small
 * that is N.  What S spans is taken as if it stayed. */
static void find_steepest(const loop_state *s, int nv, sn_vec6 r, sn_vec6 *N) {
  slopes at;
  find_slopes(s, nv, r, &at);
  for (int i = nv; i < 6; i++) {
    double z[SN_NV_MAX] = {0};
    for (int k = 0; k < nv; k++) {
      for (int j = 0; j < nv; j++) {
        z[j] += at.T[k][j] * sn_vec6_dot(s->B[i], at.CS[k]);
      }
    }
    N[i] = s->B[i];
    if (at.known) {
      sni_cholesky_solve(nv, at.L, z);
      for (int j = 0; j < nv; j++) {
        N[i] = sn_vec6_addscaled(N[i], -z[j], s->B[j]);
      }
    }
    N[i] = log_rate(r, 1, true, N[i]);
  }
}

int sni_constraint_loop_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  loop_state s;
  begin(e, c, &s);
  sn_se3 X, left;
  divide_pose(&s.rel.E_A, &s.rel.E_B, &X);
  double *q = e->loop_q + c->first, *qd = e->loop_qd + c->first;
  const int nv = c->nv;
  sn_vec6 Sdot[SN_NV_MAX], r;
  double step[SN_NV_MAX];
  if (nv > 0 && sni_joint_ops_of(e->joints, c->joint)->approach) {
    if (e->gaps_only && find_gaps(e, c, &s, &X, row)) {
      return 6 - nv;
    }
    sni_joint_ops_of(e->joints, c->joint)->approach(e->joints, c->joint, &X, q);
  }
  for (int k = 0;; k++) {
    sni_constraint_loop_joint(e, c, q, qd, &s.Q, s.S, Sdot);
    divide_pose(&s.Q, &X, &left);
    r = sn_se3_log(left);
    if (s.steady && e->poses_only && is_there(e, c, r)) {
      break;
    }
    if (!s.constant) {
      complete(s.S, nv, 0, nv, s.own);
    }
    along(s.S, nv, s.B, r, step);
    if (sn_vec6_dot(r, r) > NEAR * NEAR) {
      along_far(&s, nv, r, step);
    }
    double moved = 0, size = 1;
    for (int j = 0; j < nv; j++) {
      moved = fmax(moved, fabs(step[j]));
      size = fmax(size, fabs(q[j]));
    }
    if (!(moved > 1e-14 * size) || k == NEWTON_MAX) {
      break;
    }
    for (int j = 0; j < nv; j++) {
      q[j] += step[j];
    }
  }
  if (!s.constant && !s.steady) {
    complete(s.S, nv, nv, 6, s.own);
  }
  for (int i = nv; i < 6; i++) {
    row[i - nv].g = sn_vec6_dot(s.B[i], r);
  }
  if (e->gaps_only) {
    return 6 - nv;
  }
  if (e->poses_only) {
    find_arms(e, c, &s);
  } else {
    const sn_vec6 nu = sn_vec6_unrotate(s.rel.E_B.R, sn_vec6_sub(s.rel.b, s.rel.a));
    along(s.S, nv, s.B, nu, qd);
    look(e, c, &s);
  }
  const sn_vec6 *N = s.B;
  sn_vec6 steepest[6];
  if (e->steep && sn_vec6_dot(r, r) > NEAR * NEAR) {
    for (int i = 0; s.steady && i < nv; i++) {
      s.own[i] = e->basis[6 * c->joint + i];
    }
    find_steepest(&s, nv, r, steepest);
    s.arm[0] = sn_vec3_sub(s.rel.E_B.p, pose_of(e, c->body[0])->p);
    N = steepest;
  }
  const directions d = directions_of(&s);
  for (int i = nv; i < 6; i++) {
    sni_row *out = &row[i - nv]; /* field by field: there is room for many coordinates in it */
    out->rate = 0;
    if (!e->poses_only) {
      out->bias = sn_vec6_dot(s.B[i], s.rest);
    }
    out->ncoord = 0;
    out->one_sided = false;
    out->body[0] = c->body[0];
    out->body[1] = c->body[1];
    over(&d, &N[i], &out->p[0], &out->p[1]);
  }
  return 6 - nv;
}

void sni_constraint_loop_map(const sni_constraint_eval *e, const sni_constraint *c,
                             sni_loop_map *out) {
  sn_vec6 Sdot[SN_NV_MAX];
  loop_state s;
  begin(e, c, &s);
  sni_constraint_loop_joint(e, c, e->loop_q + c->first, e->loop_qd + c->first, &s.Q, s.S, Sdot);
  if (!s.constant) {
    complete(s.S, c->nv, 0, c->nv, s.own);
  }
  look(e, c, &s);
  double column[6][SN_NV_MAX]; /* qd for each direction of nu */
  for (int k = 0; k < 6; k++) {
    along(s.S, c->nv, s.B, axes[k], column[k]);
  }
  const directions d = directions_of(&s);
  for (int i = 0; i < c->nv; i++) {
    const sn_vec6 m = {{column[0][i], column[1][i], column[2][i]},
                       {column[3][i], column[4][i], column[5][i]}};
    out->bias[i] = sn_vec6_dot(m, s.rest);
    over(&d, &m, &out->p[0][i], &out->p[1][i]);
  }
}

const sni_constraint_ops sni_constraint_loop = {.kind = {.keyword = "loop"},
                                                .rows = sni_constraint_loop_rows};
