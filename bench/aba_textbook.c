/* aba_textbook.c: the articulated-body algorithm, three passes over the tree.
 *
 *     outward   v = X v_p + S qd     c = v x S qd     IA = I     pA = v x* I v
 *     inward    U = IA S     D = S.U     u = tau - S.pA
 *               Ia = IA - U U^T / D     pa = pA + Ia c + U u / D
 *               IA_p += X^T Ia X     pA_p += X^T pa
 *     outward   a' = X a_p + c     qdd = (u - U.a') / D     a = a' + S qdd
 *
 * X takes motion vectors from the parent's frame to the body's.  The frames of hinged bodies are
 * turned beforehand so that every axis is z: S = (0 0 1; 0 0 0), and U is a column of IA.  Gravity
 * enters as an upward acceleration of the world.  A free base is not projected: IA a = f - pA. */
#include "aba_textbook.h"

#include <math.h>
#include <stdlib.h>

typedef struct vec3 {
  double x, y, z;
} vec3;

typedef struct mat3 {
  vec3 r[3]; /* rows */
} mat3;

typedef struct sym3 {
  double xx, yy, zz, xy, xz, yz;
} sym3;

typedef struct vec6 {
  vec3 w, v; /* (angular; linear), or (torque; force) */
} vec6;

typedef struct body { /* constants and scratch together: a visit uses most of them */
  int parent, vadr;
  bench_joint joint;
  vec3 p, mc; /* mc = mass * com */
  mat3 R0;
  double mass;
  sym3 I0; /* inertia about the origin of b */

  mat3 R; /* orientation in the parent */
  vec6 v, c, pA, a;
  sym3 I, M; /* articulated inertia [I H; H^T M] */
  mat3 H;
  double D_inv, u;
} body;

struct aba_textbook {
  int nbody;
  vec3 gravity;
  body b[];
};

static inline vec3 load3(const double a[3]) {
  return (vec3){a[0], a[1], a[2]};
}
static inline vec3 add(vec3 a, vec3 b) {
  return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline vec3 sub(vec3 a, vec3 b) {
  return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline vec3 scale(vec3 a, double s) {
  return (vec3){a.x * s, a.y * s, a.z * s};
}
static inline double dot(vec3 a, vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline vec3 cross(vec3 a, vec3 b) {
  return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline vec3 mul(mat3 A, vec3 x) {
  return (vec3){dot(A.r[0], x), dot(A.r[1], x), dot(A.r[2], x)};
}
static inline vec3 mulT(mat3 A, vec3 x) { /* A^T x */
  return add(add(scale(A.r[0], x.x), scale(A.r[1], x.y)), scale(A.r[2], x.z));
}
static inline vec3 sym_mul(sym3 A, vec3 x) {
  return (vec3){A.xx * x.x + A.xy * x.y + A.xz * x.z, A.xy * x.x + A.yy * x.y + A.yz * x.z,
                A.xz * x.x + A.yz * x.y + A.zz * x.z};
}
static inline mat3 mat_mul(mat3 A, mat3 B) {
  return (mat3){{mulT(B, A.r[0]), mulT(B, A.r[1]), mulT(B, A.r[2])}};
}
static inline mat3 transpose(mat3 A) {
  return (mat3){{{A.r[0].x, A.r[1].x, A.r[2].x},
                 {A.r[0].y, A.r[1].y, A.r[2].y},
                 {A.r[0].z, A.r[1].z, A.r[2].z}}};
}
static inline sym3 rotate_sym(mat3 R, sym3 S) { /* R S R^T */
  const vec3 a = sym_mul(S, R.r[0]), b = sym_mul(S, R.r[1]), c = sym_mul(S, R.r[2]);
  return (sym3){dot(R.r[0], a), dot(R.r[1], b), dot(R.r[2], c),
                dot(R.r[0], b), dot(R.r[0], c), dot(R.r[1], c)};
}

/* Motion vector from the parent's frame to the body's, and force vector back. */
static inline vec6 motion_to_body(mat3 R, vec3 p, vec6 m) {
  return (vec6){mulT(R, m.w), mulT(R, add(m.v, cross(m.w, p)))};
}
static inline vec6 force_to_parent(mat3 R, vec3 p, vec6 f) {
  const vec3 n = mul(R, f.w), force = mul(R, f.v);
  return (vec6){add(n, cross(p, force)), force};
}

/* Add the projected inertia [I H; H^T M] of a hinged child at (R, p) to its parent's:
 *     M' = R M R^T     H' = R H R^T + [p] M'     I' = R I R^T + [p] (R H R^T)^T - H' [p]
 * Row and column z of I and row z of H are zero: hx and hy are the rows of H that are left. */
static inline void inertia_to_parent(mat3 R, vec3 p, double Ixx, double Iyy, double Ixy, vec3 hx,
                                     vec3 hy, sym3 M, body *parent) {
  const vec3 x = {R.r[0].x, R.r[1].x, R.r[2].x}, y = {R.r[0].y, R.r[1].y, R.r[2].y};
  const vec3 ix = add(scale(x, Ixx), scale(y, Ixy)), iy = add(scale(x, Ixy), scale(y, Iyy));
  const sym3 Ir = {x.x * ix.x + y.x * iy.x, x.y * ix.y + y.y * iy.y, x.z * ix.z + y.z * iy.z,
                   x.x * ix.y + y.x * iy.y, x.x * ix.z + y.x * iy.z, x.y * ix.z + y.y * iy.z};
  const vec3 rx = mul(R, hx), ry = mul(R, hy);
  const mat3 Hr = {{add(scale(rx, x.x), scale(ry, y.x)), add(scale(rx, x.y), scale(ry, y.y)),
                    add(scale(rx, x.z), scale(ry, y.z))}};
  const sym3 Mr = rotate_sym(R, M);

  const vec3 m0 = {Mr.xx, Mr.xy, Mr.xz}, m1 = {Mr.xy, Mr.yy, Mr.yz}, m2 = {Mr.xz, Mr.yz, Mr.zz};
  const vec3 k0 = add(Hr.r[0], sub(scale(m2, p.y), scale(m1, p.z)));
  const vec3 k1 = add(Hr.r[1], sub(scale(m0, p.z), scale(m2, p.x)));
  const vec3 k2 = add(Hr.r[2], sub(scale(m1, p.x), scale(m0, p.y)));

  /* Row i of -K [p] is p x k_i; column j of [p] Hr^T is p x h_j. */
  const vec3 h0 = cross(p, Hr.r[0]), h1 = cross(p, Hr.r[1]), h2 = cross(p, Hr.r[2]);
  const vec3 g0 = cross(p, k0), g1 = cross(p, k1), g2 = cross(p, k2);
  parent->I.xx += Ir.xx + h0.x + g0.x;
  parent->I.yy += Ir.yy + h1.y + g1.y;
  parent->I.zz += Ir.zz + h2.z + g2.z;
  parent->I.xy += Ir.xy + h1.x + g0.y;
  parent->I.xz += Ir.xz + h2.x + g0.z;
  parent->I.yz += Ir.yz + h2.y + g1.z;
  parent->H.r[0] = add(parent->H.r[0], k0);
  parent->H.r[1] = add(parent->H.r[1], k1);
  parent->H.r[2] = add(parent->H.r[2], k2);
  parent->M.xx += Mr.xx;
  parent->M.yy += Mr.yy;
  parent->M.zz += Mr.zz;
  parent->M.xy += Mr.xy;
  parent->M.xz += Mr.xz;
  parent->M.yz += Mr.yz;
}

/* Keep the velocity; inertia and bias force of the body alone. */
static inline void start_inertia(body *b, vec6 phi) {
  const vec3 w = phi.w, v = phi.v, mc = b->mc;
  const double m = b->mass;
  const vec3 n = add(sym_mul(b->I0, w), cross(mc, v));
  const vec3 f = sub(scale(v, m), cross(mc, w));
  b->v = phi;
  b->pA = (vec6){add(cross(w, n), cross(v, f)), cross(w, f)};
  b->I = b->I0;
  b->H = (mat3){{{0.0, -mc.z, mc.y}, {mc.z, 0.0, -mc.x}, {-mc.y, mc.x, 0.0}}};
  b->M = (sym3){m, m, m, 0.0, 0.0, 0.0};
}

/* R0 Rz(q) */
static inline mat3 turn_about_z(mat3 R0, double q) {
  const double s = sin(q), c = cos(q);
  mat3 R;
  for (int i = 0; i < 3; i++) {
    const vec3 r = R0.r[i];
    R.r[i] = (vec3){c * r.x + s * r.y, c * r.y - s * r.x, r.z};
  }
  return R;
}

/* Pose and velocity of a hinged body. */
static inline void outward_hinge(body *b, const body *parent, double q, double qd) {
  const mat3 R = turn_about_z(b->R0, q);
  vec6 v = parent ? motion_to_body(R, b->p, parent->v) : (vec6){0};
  v.w.z += qd;
  b->R = R;
  b->c = (vec6){{v.w.y * qd, -v.w.x * qd, 0.0}, {v.v.y * qd, -v.v.x * qd, 0.0}};
  start_inertia(b, v);
}

/* The same of the free base: qd = (dp/dt in the joint's frame, omega in the body's). */
static void outward_base(body *b, const double *q, const double *qd) {
  double Q[3][3];
  bench_rotvec_matrix(q + 3, Q);
  const mat3 R_fb = {{load3(Q[0]), load3(Q[1]), load3(Q[2])}};
  b->R = mat_mul(b->R0, R_fb);
  start_inertia(b, (vec6){load3(qd + 3), mulT(R_fb, load3(qd))});
}

/* Project one hinged body's articulated inertia and bias force and hand them to the parent.
 * U = (I.xz I.yz I.zz; row z of H), and what it takes off leaves row and column z of Ia empty. */
static inline void inward(body *b, body *parent, double tau) {
  const sym3 IA = b->I;
  const vec3 Uv = b->H.r[2];
  const double D_inv = 1.0 / IA.zz, u = tau - b->pA.w.z;
  b->D_inv = D_inv;
  b->u = u;
  if (!parent) {
    return;
  }
  const double sx = IA.xz * D_inv, sy = IA.yz * D_inv, cx = b->c.w.x, cy = b->c.w.y;
  const vec3 sv = scale(Uv, D_inv), cv = b->c.v;
  const double Ixx = IA.xx - sx * IA.xz, Iyy = IA.yy - sy * IA.yz, Ixy = IA.xy - sx * IA.yz;
  const vec3 hx = sub(b->H.r[0], scale(Uv, sx)), hy = sub(b->H.r[1], scale(Uv, sy));
  const sym3 M = {b->M.xx - sv.x * Uv.x, b->M.yy - sv.y * Uv.y, b->M.zz - sv.z * Uv.z,
                  b->M.xy - sv.x * Uv.y, b->M.xz - sv.x * Uv.z, b->M.yz - sv.y * Uv.z};
  const vec6 pa = {
      {b->pA.w.x + sx * u + Ixx * cx + Ixy * cy + dot(hx, cv),
       b->pA.w.y + sy * u + Ixy * cx + Iyy * cy + dot(hy, cv), tau},
      add(add(b->pA.v, scale(sv, u)), add(add(scale(hx, cx), scale(hy, cy)), sym_mul(M, cv))),
  };
  const vec6 f = force_to_parent(b->R, b->p, pa);
  parent->pA = (vec6){add(parent->pA.w, f.w), add(parent->pA.v, f.v)};
  inertia_to_parent(b->R, b->p, Ixx, Iyy, Ixy, hx, hy, M, parent);
}

/* Solve [I H; H^T M] a = f for the free base, by Cholesky. */
static vec6 solve_base(const body *b, vec6 f) {
  const sym3 I = b->I, M = b->M;
  const mat3 H = b->H;
  double A[6][6] = {/* lower triangle */
                    {I.xx},
                    {I.xy, I.yy},
                    {I.xz, I.yz, I.zz},
                    {H.r[0].x, H.r[1].x, H.r[2].x, M.xx},
                    {H.r[0].y, H.r[1].y, H.r[2].y, M.xy, M.yy},
                    {H.r[0].z, H.r[1].z, H.r[2].z, M.xz, M.yz, M.zz}};
  double x[6] = {f.w.x, f.w.y, f.w.z, f.v.x, f.v.y, f.v.z};
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j <= i; j++) {
      double s = A[i][j];
      for (int k = 0; k < j; k++) {
        s -= A[i][k] * A[j][k];
      }
      A[i][j] = i == j ? sqrt(s) : s / A[j][j];
    }
    for (int k = 0; k < i; k++) {
      x[i] -= A[i][k] * x[k];
    }
    x[i] /= A[i][i];
  }
  for (int i = 5; i >= 0; i--) {
    for (int k = i + 1; k < 6; k++) {
      x[i] -= A[k][i] * x[k];
    }
    x[i] /= A[i][i];
  }
  return (vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static void accelerate_base(body *b, vec3 gravity, const double *tau, double *qdd) {
  const vec3 force = mulT(b->R, mul(b->R0, (vec3){tau[0], tau[1], tau[2]}));
  const vec6 f = {sub((vec3){tau[3], tau[4], tau[5]}, b->pA.w), sub(force, b->pA.v)};
  b->a = solve_base(b, f);
  /* Spatial to classical acceleration, gravity given back, then to the axes of the joint. */
  const vec3 classical = add(b->a.v, cross(b->v.w, b->v.v));
  const vec3 pdd = mulT(b->R0, add(mul(b->R, classical), gravity));
  qdd[0] = pdd.x;
  qdd[1] = pdd.y;
  qdd[2] = pdd.z;
  qdd[3] = b->a.w.x;
  qdd[4] = b->a.w.y;
  qdd[5] = b->a.w.z;
}

void aba_textbook_calc(aba_textbook *aba, const double *q, const double *qd, const double *tau,
                       double *qdd) {
  const vec6 world = {.v = scale(aba->gravity, -1.0)};
  for (int i = 0; i < aba->nbody; i++) {
    body *b = &aba->b[i];
    if (b->joint == BENCH_REVOLUTE) {
      const body *parent = b->parent < 0 ? NULL : &aba->b[b->parent];
      outward_hinge(b, parent, q[b->vadr], qd[b->vadr]);
    } else {
      outward_base(b, q + b->vadr, qd + b->vadr);
    }
  }
  for (int i = aba->nbody - 1; i >= 0; i--) {
    body *b = &aba->b[i];
    if (b->joint == BENCH_REVOLUTE) {
      inward(b, b->parent < 0 ? NULL : &aba->b[b->parent], tau[b->vadr]);
    }
  }
  for (int i = 0; i < aba->nbody; i++) {
    body *b = &aba->b[i];
    if (b->joint == BENCH_REVOLUTE) {
      vec6 a = motion_to_body(b->R, b->p, b->parent < 0 ? world : aba->b[b->parent].a);
      a = (vec6){add(a.w, b->c.w), add(a.v, b->c.v)};
      const vec3 Uw = {b->I.xz, b->I.yz, b->I.zz};
      const double acc = (b->u - dot(Uw, a.w) - dot(b->H.r[2], a.v)) * b->D_inv;
      a.w.z += acc;
      b->a = a;
      qdd[b->vadr] = acc;
    } else {
      accelerate_base(b, aba->gravity, tau + b->vadr, qdd + b->vadr);
    }
  }
}

/* A rotation whose third column is the unit vector z. */
static mat3 frame_along(vec3 z) {
  const vec3 other = fabs(z.x) < 0.6 ? (vec3){1.0, 0.0, 0.0} : (vec3){0.0, 1.0, 0.0};
  const vec3 n = cross(z, other), y = scale(n, 1.0 / sqrt(dot(n, n)));
  return transpose((mat3){{cross(y, z), y, z}});
}

static void build_body(const bench_model *m, int i, const mat3 *turn, body *b) {
  /* Frames turned by `turn`: of the body, and of its parent. */
  const mat3 T = turn[i];
  const mat3 Tp_inv =
      m->parent[i] < 0 ? (mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}} : transpose(turn[m->parent[i]]);
  const mat3 R = {{load3(m->R_pb0[i][0]), load3(m->R_pb0[i][1]), load3(m->R_pb0[i][2])}};
  const double mass = m->mass[i], *I = m->inertia[i];
  const vec3 c = mulT(T, load3(m->com[i]));
  const sym3 Ic = rotate_sym(transpose(T), (sym3){I[0], I[1], I[2], I[3], I[4], I[5]});
  *b = (body){
      .parent = m->parent[i],
      .vadr = m->vadr[i],
      .joint = m->joint[i],
      .R0 = mat_mul(mat_mul(Tp_inv, R), T),
      .p = mul(Tp_inv, load3(m->p_pb0[i])),
      .mass = mass,
      .mc = scale(c, mass),
      .I0 = {Ic.xx + mass * (c.y * c.y + c.z * c.z), Ic.yy + mass * (c.x * c.x + c.z * c.z),
             Ic.zz + mass * (c.x * c.x + c.y * c.y), Ic.xy - mass * c.x * c.y,
             Ic.xz - mass * c.x * c.z, Ic.yz - mass * c.y * c.z},
  };
}

aba_textbook *aba_textbook_build(const bench_model *model) {
  const size_t n = (size_t)model->nbody;
  aba_textbook *aba = calloc(1, sizeof *aba + n * sizeof aba->b[0]);
  mat3 *turn = calloc(n, sizeof *turn);
  if (!aba || !turn) {
    free(aba);
    free(turn);
    return NULL;
  }
  aba->nbody = model->nbody;
  aba->gravity = load3(model->gravity);
  for (int i = 0; i < model->nbody; i++) {
    turn[i] = model->joint[i] == BENCH_REVOLUTE ? frame_along(load3(model->axis[i]))
                                                : (mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    build_body(model, i, turn, &aba->b[i]);
  }
  free(turn);
  return aba;
}

void aba_textbook_free(aba_textbook **aba) {
  free(*aba);
  *aba = NULL;
}
