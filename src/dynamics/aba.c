/* aba.c: accelerations from forces, in linear time: recursive hybrid dynamics [RMS Alg 6].
 *
 * Backward, from the tips (world axes at o, so Ad is the shift by r):
 *     Mh = M + sum_c shift(Pi_c)                     Bh = bias - wrench + sum_c shift(beta_c)
 *     L L^T = S^T Mh S + armature                    Y = Mh S L^-T      z = L^-1 (tau - S^T Bh)
 *     Pi = Mh - Y Y^T                                beta = Bh + Pi c + Y z
 * Forward:
 *     a' = shift(a_p) + c     qdd = L^-T (z - Y^T a')     a = a' + S qdd
 *
 * which is Alg 6 with its Psi factorised: half the work, and Pi stays exactly symmetric. (Computing
 * the two triangles separately lets them drift apart, and the error grow with the length of a
 * chain.)  A prescribed joint has qdd given: Pi = Mh, beta = Bh + Mh (c + S qdd).  Gravity is an
 * acceleration -g of the ground.  A hinge (S = (a; 0)) has its own short path; it is four of five
 * joints in practice.  For it L is kept as 1/D, Y as U = Mh S, and z as u = tau - S^T Bh. */
#include "dynamics/recursion.h"

#include <string.h>

/* Columns of [h]^T. */
SNI_LANE_FN void cross_transposed(sni_lane h, sni_lane out[3]) {
  const sni_lane zero = {0}, n = -h;
  out[0] = (sni_lane){zero[0], n[2], h[1], zero[0]};
  out[1] = (sni_lane){h[2], zero[0], n[0], zero[0]};
  out[2] = (sni_lane){n[1], h[0], zero[0], zero[0]};
}

/* A body's own block: R I R^T of the inertia about o, the first moment h, the mass.  Its A is
 * symmetric up to round-off only, which does not matter: it enters once and is not multiplied on.
 */
SNI_LANE_FN sni_art own_block(const sni_mass *m, const sni_link *l, sni_lane *h) {
  sni_art s;
  const sni_lane T[3] = {sni_lane_mul(l->R, m->xx, m->xy, m->xz),
                         sni_lane_mul(l->R, m->xy, m->yy, m->yz),
                         sni_lane_mul(l->R, m->xz, m->yz, m->zz)};
  for (int j = 0; j < 3; j++) {
    s.A[j] = sni_lane_mul(T, l->R[0][j], l->R[1][j], l->R[2][j]);
  }
  *h = sni_lane_mul(l->R, m->mc.x, m->mc.y, m->mc.z);
  cross_transposed(*h, s.Bt);
  for (int j = 0; j < 3; j++) {
    s.C[j] = (sni_lane){j == 0 ? m->m : 0, j == 1 ? m->m : 0, j == 2 ? m->m : 0, 0};
  }
  s.b = (sni_lane6){0};
  return s;
}

void sni_mass_block(const sni_mass *m, const sni_link *l, sni_art *out) {
  sni_lane h;
  *out = own_block(m, l, &h);
}

/* What a backward pass is for: factors alone; the answer to pushes f and x, too; motion. */
enum { AT_REST, PUSHED, MOVING };

/* For pushes: those on the bodies, from `first` on, and the joint forces. */
typedef struct pushes {
  const sni_lane6 *f;
  int first;
  const double *x;
} pushes;

/* Itself with the bias of its motion, the world's wrench on it, its children. */
SNI_LANE_FN sni_art gather(const sni_tree *t, const sni_aba_in *in, const sni_work *w, int i,
                           int mode, const pushes *push) {
  const sni_link *l = &w->link[i];
  sni_lane h;
  sni_art s = own_block(&in->mass[i], l, &h);
  if (mode == PUSHED) {
    const sni_lane6 f = push->f[i - push->first];
    s.b = (sni_lane6){-f.w, -f.v};
  }
  if (mode == MOVING) {
    s.b.w = sni_lane_cross(l->w, sni_lane_mul(s.A, l->w[0], l->w[1], l->w[2]));
    s.b.v = sni_lane_cross(l->w, sni_lane_cross(l->w, h));
    if (in->use_wrench) {
      s.b = sni_lane6_addscaled(s.b, -1, sni_lane6_from(w->wrench[i]));
    }
  }
  if (in->extra && in->extra_of[i] >= 0) {
    const sni_art *x = &in->extra[in->extra_of[i]];
    for (int j = 0; j < 3; j++) {
      s.A[j] += x->A[j];
      s.Bt[j] += x->Bt[j];
      s.C[j] += x->C[j];
    }
  }
  sni_brace_add(in, i, s.A);
  if (t->gather[i] & SNI_HAS_CHILD) {
    const sni_art *x = &w->art[t->slot[i]];
    for (int j = 0; j < 3; j++) {
      s.A[j] += x->A[j];
      s.Bt[j] += x->Bt[j];
      s.C[j] += x->C[j];
    }
    if (mode != AT_REST) {
      s.b = sni_lane6_add(s.b, x->b);
    }
  }
  return s;
}

/* Mh x */
SNI_LANE_FN sni_lane6 art_mul(const sni_art *s, sni_lane6 x) {
  sni_lane B[3];
  sni_lane_transpose(s->Bt, B);
  return (sni_lane6){
      sni_lane_mul(s->A, x.w[0], x.w[1], x.w[2]) + sni_lane_mul(B, x.v[0], x.v[1], x.v[2]),
      sni_lane_mul(s->Bt, x.w[0], x.w[1], x.w[2]) + sni_lane_mul(s->C, x.v[0], x.v[1], x.v[2])};
}

/* Mh -= k y y^T.  The product of y with itself is rounded the same way on both sides of the
 * diagonal, so symmetry is kept to the bit. */
SNI_LANE_FN void art_sub(sni_art *s, double k, sni_lane6 y) {
  const sni_lane f = sni_lane_all(k);
  for (int j = 0; j < 3; j++) {
    s->A[j] -= f * (y.w * sni_lane_all(y.w[j]));
    s->Bt[j] -= f * (y.v * sni_lane_all(y.w[j]));
    s->C[j] -= f * (y.v * sni_lane_all(y.v[j]));
  }
}

/* A bias seen from the parent's origin, and added to what its parent has. */
SNI_LANE_FN void pass_bias_on(const sni_tree *t, sni_work *w, int i, sni_lane6 b) {
  sni_lane6 *sum = &w->art[t->slot[t->parent[i]]].b;
  b.w += sni_lane_cross(w->r[i], b.v);
  *sum = t->gather[i] & SNI_FIRST_TO_PARENT ? b : sni_lane6_add(*sum, b);
}

/* X [r]^T for a matrix of columns. */
SNI_LANE_FN void mul_cross_transposed(const sni_lane *X, sni_lane r, sni_lane *out) {
  const sni_lane x = sni_lane_all(r[0]), y = sni_lane_all(r[1]), z = sni_lane_all(r[2]);
  out[0] = y * X[2] - z * X[1];
  out[1] = z * X[0] - x * X[2];
  out[2] = x * X[1] - y * X[0];
}

/* The same seen from the parent's origin, at -r, and added to what its parent has:
 *     B'^T = B^T + C [r]^T     H = [r] (B^T + C [r]^T / 2)     A' = A + (H + H^T) */
SNI_LANE_FN void pass_on(const sni_tree *t, sni_work *w, int i, const sni_art *s, int mode) {
  const int p = t->parent[i];
  if (p < 0) {
    return;
  }
  const sni_lane r = w->r[i];
  sni_lane X[3], Bt[3], H[3], Ht[3];
  mul_cross_transposed(s->C, r, X);
  for (int j = 0; j < 3; j++) {
    Bt[j] = s->Bt[j] + X[j];
    H[j] = sni_lane_cross(r, s->Bt[j] + sni_lane_all(0.5) * X[j]);
  }
  sni_lane_transpose(H, Ht);
  sni_art *sum = &w->art[t->slot[p]];
  const bool first = t->gather[i] & SNI_FIRST_TO_PARENT;
  if (first) {
    for (int j = 0; j < 3; j++) {
      sum->A[j] = s->A[j] + (H[j] + Ht[j]);
      sum->Bt[j] = Bt[j];
      sum->C[j] = s->C[j];
    }
  } else {
    for (int j = 0; j < 3; j++) {
      sum->A[j] += s->A[j] + (H[j] + Ht[j]);
      sum->Bt[j] += Bt[j];
      sum->C[j] += s->C[j];
    }
  }
  if (mode != AT_REST) {
    pass_bias_on(t, w, i, s->b);
  }
}

static void backward_prescribed(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i,
                                const double *qdd) {
  sni_art s = gather(t, in, w, i, MOVING, NULL);
  sni_lane6 a = w->link[i].c;
  for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
    a = sni_lane6_addscaled(a, qdd[k], w->S[k]);
  }
  s.b = sni_lane6_add(s.b, art_mul(&s, a));
  pass_on(t, w, i, &s, MOVING);
}

/* Below this S^T Mh S is rounding: 1e-14 of what the body has about o against turning and moving
 * in any direction (a wire of a micrometre, a metre long, has 1e-12 about its axis).  Not of Mh: a
 * long chain of parallel axes has 1e-15 of it, and that is right.  Only where the body has no mass
 * there is nothing else to compare with.  w2, v2: |S_w|^2, |S_v|^2. */
SNI_LANE_FN double least_inertia(const sni_mass *m, const sni_art *s, double w2, double v2) {
  const bool own = m->m > 0;
  const double turning = own ? m->xx + m->yy + m->zz : s->A[0][0] + s->A[1][1] + s->A[2][2];
  const double moving = own ? m->m : s->C[0][0] + s->C[1][1] + s->C[2][2];
  return 1e-14 * (w2 * turning + v2 * moving);
}

SNI_LANE_FN int backward_hinge(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i,
                               int mode, const pushes *push) {
  sni_art s = gather(t, in, w, i, mode, push);
  const int k = t->vadr[i];
  const sni_lane a = w->S[k].w;
  const sni_lane6 U = {sni_lane_mul(s.A, a[0], a[1], a[2]), sni_lane_mul(s.Bt, a[0], a[1], a[2])};
  const double own = in->joint_matrix ? in->joint_matrix[t->factor[i]] : in->armature[k];
  const double D = sni_lane_dot(a, U.w) + own;
  const bool good = D > least_inertia(&in->mass[i], &s, 1, 0); /* false for NaN too */
  const double Psi = 1 / D;
  w->Y[k] = U;
  w->L[t->factor[i]] = Psi;
  double u = 0;
  if (mode != AT_REST) {
    u = (mode == MOVING ? w->tau[k] : push->x[k]) - sni_lane_dot(a, s.b.w);
    w->z[k] = u;
  }
  if (t->parent[i] >= 0) {
    art_sub(&s, Psi, U);
    if (mode == MOVING) {
      s.b = sni_lane6_add(s.b, art_mul(&s, w->link[i].c));
    }
    if (mode != AT_REST) {
      s.b = sni_lane6_addscaled(s.b, Psi * u, U);
    }
    pass_on(t, w, i, &s, mode);
  }
  return good ? -1 : i;
}

/* L L^T = S^T Mh S + own, where own is a matrix or (as armature) a diagonal; stores 1/L_kk on the
 * diagonal.  False: not positive definite. */
SNI_LANE_FN bool factorise(int nv, const sni_mass *m, const sni_art *s, const sni_lane6 *S,
                           const sni_lane6 *U, const double *own, bool own_is_matrix, double *L) {
  for (int j = 0; j < nv; j++) {
    const double start = sni_lane6_dot(S[j], U[j]) + own[own_is_matrix ? j * nv + j : j];
    double d = start;
    for (int k = 0; k < j; k++) {
      d -= L[j * nv + k] * L[j * nv + k];
    }
    const double least =
        least_inertia(m, s, sni_lane_dot(S[j].w, S[j].w), sni_lane_dot(S[j].v, S[j].v));
    if (!(d > 1e-14 * start) || !(d > least)) { /* this way round so that NaN fails too */
      return false;
    }
    const double inverse = 1 / sqrt(d);
    L[j * nv + j] = inverse;
    for (int i = j + 1; i < nv; i++) {
      double x = sni_lane6_dot(S[i], U[j]) + (own_is_matrix ? own[i * nv + j] : 0);
      for (int k = 0; k < j; k++) {
        x -= L[i * nv + k] * L[j * nv + k];
      }
      L[i * nv + j] = x * inverse;
    }
  }
  return true;
}

/* x = L^-1 x and x = L^-T x */
SNI_LANE_FN void solve_L(int nv, const double *L, double *x) {
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k < i; k++) {
      x[i] -= L[i * nv + k] * x[k];
    }
    x[i] *= L[i * nv + i];
  }
}
SNI_LANE_FN void solve_Lt(int nv, const double *L, double *x) {
  for (int i = nv - 1; i >= 0; i--) {
    for (int k = i + 1; k < nv; k++) {
      x[i] -= L[k * nv + i] * x[k];
    }
    x[i] *= L[i * nv + i];
  }
}

/* Any joint; nv is a constant wherever this is expanded. */
SNI_LANE_FN int backward_general(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i,
                                 int nv, int mode, const pushes *push) {
  sni_art s = gather(t, in, w, i, mode, push);
  const int adr = t->vadr[i];
  const sni_lane6 *S = w->S + adr;
  sni_lane6 *Y = w->Y + adr;
  double *z = w->z + adr, *L = w->L + t->factor[i];
  for (int k = 0; k < nv; k++) {
    Y[k] = art_mul(&s, S[k]);
  }
  const double *own = in->joint_matrix ? in->joint_matrix + t->factor[i] : in->armature + adr;
  if (!factorise(nv, &in->mass[i], &s, S, Y, own, in->joint_matrix != NULL, L)) {
    return i;
  }
  for (int k = 0; k < nv; k++) { /* Y = U L^-T, column by column */
    for (int j = 0; j < k; j++) {
      Y[k] = sni_lane6_addscaled(Y[k], -L[k * nv + j], Y[j]);
    }
    Y[k].w *= sni_lane_all(L[k * nv + k]);
    Y[k].v *= sni_lane_all(L[k * nv + k]);
  }
  sni_lane6 beta = {0};
  if (mode != AT_REST) {
    const double *x = mode == MOVING ? w->tau : push->x;
    for (int k = 0; k < nv; k++) {
      z[k] = x[adr + k] - sni_lane6_dot(S[k], s.b);
    }
    solve_L(nv, L, z);
    for (int k = 0; k < nv; k++) {
      beta = sni_lane6_addscaled(beta, z[k], Y[k]);
    }
  }
  if (t->parent[i] >= 0) {
    for (int k = 0; k < nv; k++) {
      art_sub(&s, 1, Y[k]);
    }
    if (mode == MOVING) {
      beta = sni_lane6_add(art_mul(&s, w->link[i].c), beta);
    }
    if (mode != AT_REST) {
      s.b = sni_lane6_add(s.b, beta);
    }
    pass_on(t, w, i, &s, mode);
  }
  return -1;
}

SNI_LANE_FN int backward_any(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i, int mode,
                             const pushes *push) {
  switch (t->vadr[i + 1] - t->vadr[i]) {
  case 0:
    return backward_general(t, in, w, i, 0, mode, push);
  case 1:
    return backward_general(t, in, w, i, 1, mode, push);
  case 2:
    return backward_general(t, in, w, i, 2, mode, push);
  case 3:
    return backward_general(t, in, w, i, 3, mode, push);
  case 4:
    return backward_general(t, in, w, i, 4, mode, push);
  case 5:
    return backward_general(t, in, w, i, 5, mode, push);
  default:
    return backward_general(t, in, w, i, 6, mode, push);
  }
}

static int any_moving(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i) {
  return backward_any(t, in, w, i, MOVING, NULL);
}
static int any_at_rest(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i) {
  return backward_any(t, in, w, i, AT_REST, NULL);
}
static int any_pushed(const sni_tree *t, const sni_aba_in *in, sni_work *w, int i,
                      const pushes *push) {
  return backward_any(t, in, w, i, PUSHED, push);
}

static int backward(const sni_tree *t, const sni_aba_in *in, sni_work *w, const double *qdd) {
  int bad = -1;
  for (int n = t->nrun - 1; n >= 0; n--) {
    const sni_run *run = &t->run[n];
    for (int i = run->first + run->count - 1; i >= run->first; i--) {
      int b = -1;
      if (in->prescribed && in->prescribed[i]) {
        backward_prescribed(t, in, w, i, qdd);
      } else if (run->hinge) {
        b = backward_hinge(t, in, w, i, MOVING, NULL);
      } else {
        b = any_moving(t, in, w, i);
      }
      bad = bad >= 0 ? bad : b; /* what fails further down spoils the rest */
    }
  }
  return bad;
}

int sni_factorise(const sni_tree *t, const sni_aba_in *in, sni_work *w) {
  int bad = -1;
  for (int n = t->nrun - 1; n >= 0; n--) {
    const sni_run *run = &t->run[n];
    for (int i = run->first + run->count - 1; i >= run->first; i--) {
      const int b =
          run->hinge ? backward_hinge(t, in, w, i, AT_REST, NULL) : any_at_rest(t, in, w, i);
      bad = bad >= 0 ? bad : b; /* what fails further down spoils the rest */
    }
  }
  return bad;
}

int sni_solve_inward(const sni_tree *t, const sni_block *block, const sni_aba_in *in, sni_work *w,
                     const double *x, const sni_lane6 *f) {
  const pushes push = {f, block->first, x};
  int bad = -1;
  for (int n = block->run + block->nrun - 1; n >= block->run; n--) {
    const sni_run *run = &t->run[n];
    for (int i = run->first + run->count - 1; i >= run->first; i--) {
      const int b =
          run->hinge ? backward_hinge(t, in, w, i, PUSHED, &push) : any_pushed(t, in, w, i, &push);
      bad = bad >= 0 ? bad : b;
    }
  }
  return bad;
}

/* U . a' is split into a part with the parent's acceleration and one without, so that along a chain
 * only the former waits for the joint before. */
SNI_LANE_FN void forward_hinge(const sni_tree *t, sni_work *w, int i, bool given, double *qdd) {
  const sni_link *l = &w->link[i];
  const sni_lane6 ap = w->a[t->parent[i]];
  const int k = t->vadr[i];
  if (!given) {
    const double Psi = w->L[t->factor[i]];
    const sni_lane6 U = w->Y[k];
    const sni_lane6 K = {U.w + sni_lane_cross(w->r[i], U.v), U.v};
    qdd[k] = Psi * (w->z[k] - sni_lane6_dot(U, l->c)) - Psi * sni_lane6_dot(K, ap);
  }
  w->a[i].w = (ap.w + l->c.w) + sni_lane_all(qdd[k]) * w->S[k].w;
  w->a[i].v = ap.v + (l->c.v + sni_lane_cross(ap.w, w->r[i]));
}

static void forward_general(const sni_tree *t, sni_work *w, int i, bool given, double *qdd) {
  const sni_link *l = &w->link[i];
  const sni_lane6 ap = w->a[t->parent[i]];
  sni_lane6 a = {ap.w + l->c.w, ap.v + (l->c.v + sni_lane_cross(ap.w, w->r[i]))};
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
  if (!given) {
    for (int k = 0; k < nv; k++) {
      qdd[adr + k] = w->z[adr + k] - sni_lane6_dot(w->Y[adr + k], a);
    }
    solve_Lt(nv, w->L + t->factor[i], qdd + adr);
  }
  for (int k = 0; k < nv; k++) {
    a = sni_lane6_addscaled(a, qdd[adr + k], w->S[adr + k]);
  }
  w->a[i] = a;
}

static void forward(const sni_tree *t, const sni_aba_in *in, sni_work *w, double *qdd) {
  w->a[-1] = (sni_lane6){.v = -sni_lane_from(in->gravity)};
  for (int n = 0; n < t->nrun; n++) {
    const sni_run *run = &t->run[n];
    for (int i = run->first; i < run->first + run->count; i++) {
      const bool given = in->prescribed && in->prescribed[i];
      if (run->hinge) {
        forward_hinge(t, w, i, given, qdd);
      } else {
        forward_general(t, w, i, given, qdd);
      }
    }
  }
}

int sni_aba(const sni_tree *t, const sni_aba_in *in, sni_work *w, double *qdd) {
  const int bad = backward(t, in, w, qdd);
  if (bad >= 0) {
    return bad;
  }
  forward(t, in, w, qdd);
  return -1;
}

/* Without motion and gravity: y = L^-T (z - Y^T a'). */
SNI_LANE_FN void outward_hinge(const sni_tree *t, sni_work *w, int i, double *y) {
  const int k = t->vadr[i];
  const sni_lane6 ap = w->a[t->parent[i]], U = w->Y[k];
  const double Psi = w->L[t->factor[i]];
  const sni_lane6 K = {U.w + sni_lane_cross(w->r[i], U.v), U.v};
  y[k] = Psi * w->z[k] - Psi * sni_lane6_dot(K, ap);
  w->a[i].w = ap.w + sni_lane_all(y[k]) * w->S[k].w;
  w->a[i].v = ap.v + sni_lane_cross(ap.w, w->r[i]);
}

static void outward_general(const sni_tree *t, sni_work *w, int i, double *y) {
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
  const sni_lane6 ap = w->a[t->parent[i]];
  sni_lane6 a = {ap.w, ap.v + sni_lane_cross(ap.w, w->r[i])};
  for (int k = 0; k < nv; k++) {
    y[adr + k] = w->z[adr + k] - sni_lane6_dot(w->Y[adr + k], a);
  }
  solve_Lt(nv, w->L + t->factor[i], y + adr);
  for (int k = 0; k < nv; k++) {
    a = sni_lane6_addscaled(a, y[adr + k], w->S[adr + k]);
  }
  w->a[i] = a;
}

void sni_solve_outward(const sni_tree *t, const sni_block *block, sni_work *w, double *y) {
  w->a[-1] = (sni_lane6){0};
  for (int n = block->run; n < block->run + block->nrun; n++) {
    const sni_run *run = &t->run[n];
    for (int i = run->first; i < run->first + run->count; i++) {
      if (run->hinge) {
        outward_hinge(t, w, i, y);
      } else {
        outward_general(t, w, i, y);
      }
    }
  }
}

/* What acts on a tree that answers: joint forces x (NULL: none), and pushes -f on bodies, on all
 * (which NULL) or on some, where f is 0 afterwards. */
typedef struct pulls {
  const double *x;
  sni_lane6 *f;
  const uint8_t *which;
} pulls;

/* z = L^-1 (x - S^T b), where the bias b of the parent gets what its children have. */
SNI_LANE_FN void inward_body(const sni_tree *t, sni_work *w, int i, bool hinge, const pulls *by) {
  const int adr = t->vadr[i], nv = hinge ? 1 : t->vadr[i + 1] - adr;
  const double *L = w->L + t->factor[i];
  double *z = w->z + adr;
  sni_lane6 b = {0};
  if (by->f && (!by->which || by->which[i])) {
    b = by->f[i];
  }
  if (by->which && by->which[i]) {
    by->f[i] = (sni_lane6){0};
  }
  if (t->gather[i] & SNI_HAS_CHILD) {
    b = sni_lane6_add(b, w->art[t->slot[i]].b);
  }
  if (hinge) {
    z[0] = (by->x ? by->x[adr] : 0) - sni_lane_dot(w->S[adr].w, b.w);
    b = sni_lane6_addscaled(b, L[0] * z[0], w->Y[adr]);
  } else {
    for (int k = 0; k < nv; k++) {
      z[k] = (by->x ? by->x[adr + k] : 0) - sni_lane6_dot(w->S[adr + k], b);
    }
    solve_L(nv, L, z);
    for (int k = 0; k < nv; k++) {
      b = sni_lane6_addscaled(b, z[k], w->Y[adr + k]);
    }
  }
  if (t->parent[i] >= 0) {
    pass_bias_on(t, w, i, b);
  }
}

SNI_LANE_FN void inward(const sni_tree *t, sni_work *w, const pulls *by) {
  for (int n = t->nrun - 1; n >= 0; n--) {
    const sni_run *run = &t->run[n];
    for (int i = run->first + run->count - 1; i >= run->first; i--) {
      if (run->hinge) {
        inward_body(t, w, i, true, by);
      } else {
        inward_body(t, w, i, false, by);
      }
    }
  }
}

void sni_Minv_inward(const sni_tree *t, sni_work *w, const double *x) {
  inward(t, w, &(pulls){.x = x});
}

void sni_Minv_inward_of(const sni_tree *t, sni_work *w, const uint8_t *which, sni_lane6 *f) {
  inward(t, w, &(pulls){.f = f, .which = which});
}

double sni_Minv_dot(const sni_tree *t, const sni_work *w, const double *a, const double *b) {
  double sum = 0;
  for (int n = 0; n < t->nrun; n++) {
    const sni_run *run = &t->run[n];
    const int from = t->vadr[run->first], to = t->vadr[run->first + run->count];
    const double *weight = w->L + t->factor[run->first];
    for (int k = from; k < to; k++) {
      sum += a[k] * b[k] * (run->hinge ? weight[k - from] : 1);
    }
  }
  return sum;
}

void sni_Minv_outward(const sni_tree *t, sni_work *w, double *y) {
  for (int k = 0; k < t->nblock; k++) {
    sni_solve_outward(t, &t->block[k], w, y);
  }
}

/* The same two passes without motion, gravity and forces; x stands for tau.  [RM Alg 1] */
void sni_Minv_mul(const sni_tree *t, sni_work *w, const double *x, double *y) {
  sni_Minv_inward(t, w, x);
  sni_Minv_outward(t, w, y);
}

void sni_respond(const sni_tree *t, sni_work *w, const double *x, double *y) {
  inward(t, w, &(pulls){.x = x, .f = w->a});
  sni_Minv_outward(t, w, y);
}
