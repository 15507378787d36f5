/* constraints/loop_find.c: the coordinates of a loop where nobody knows them.
 *
 * Newton's method of loop.c goes on from where they were. At first that is nowhere, and a spline or
 * a chain of hinges may have its coordinates far from 0, behind places where |r| has a least that
 * is not 0, r = log(Q(q)^-1 X). So: Levenberg's and Marquardt's method, from many starts, until one
 * of them closes the loop.
 *
 * A thread has such a least in every turn. With its axis a and its pitch p,  a . (r_v - p r_w)  is
 * the same whatever its coordinate, but for whole turns: so many it is away. */
#include "math/dense.h"
#include "model/constraint.h"

#include <string.h>

enum { STEPS_MAX = 60, STALLS_MAX = 6, STARTS_EACH = 40, STARTS_SEGMENT = 4, STARTS_MAX = 2000 };
enum { TURNS_MAX = 8 }; /* so often other turns are tried from one start */
#define CLOSED  1e-9    /* |r|, m and rad: Newton's method does the rest    */
#define GAIN    1e-2    /* a step that leaves more than 1 - GAIN stalls     */
#define MU      1e-3    /* of the squares of S, at first                    */
#define MU_LESS 0.1
#define MU_MORE 10
#define WORTH   0.5 /* of |r|: others that do not close are taken       */

typedef struct search {
  const sni_constraint_eval *e;
  const sni_constraint *c;
  sn_se3 X;
  sni_range range[SN_NV_MAX];
} search;

/* |r|; r and S at q. */
static double look(const search *s, const double *q, sn_vec6 *r, sn_vec6 *S) {
  const double still[SN_NV_MAX] = {0};
  sn_se3 Q;
  sn_vec6 Sdot[SN_NV_MAX];
  sni_constraint_loop_joint(s->e, s->c, q, still, &Q, S, Sdot);
  *r = sn_se3_log(sn_se3_mul(sn_se3_inverse(Q), s->X));
  return sqrt(sn_vec6_dot(*r, *r));
}

/* step = (S^T S + mu)^-1 S^T r, no longer than the strides */
static bool find_step(const search *s, const sn_vec6 *S, sn_vec6 r, double part, double *step) {
  const int n = s->c->nv;
  double A[SN_NV_MAX * SN_NV_MAX], size = 0, strides = 1;
  for (int i = 0; i < n; i++) {
    size = fmax(size, sn_vec6_dot(S[i], S[i]));
    step[i] = sn_vec6_dot(S[i], r);
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k <= i; k++) {
      A[i * n + k] = sn_vec6_dot(S[i], S[k]) + (i == k ? part * size : 0);
    }
  }
  if (!sni_cholesky(n, A, 0, NULL)) {
    return false;
  }
  sni_cholesky_solve(n, A, step);
  for (int i = 0; i < n; i++) {
    strides = fmax(strides, fabs(step[i]) / s->range[i].stride);
  }
  for (int i = 0; i < n; i++) {
    step[i] /= strides;
  }
  return isfinite(strides);
}

/* From q to where |r| is least; returns that. */
static double descend(const search *s, double *q) {
  const int n = s->c->nv;
  double part = MU, step[SN_NV_MAX], to[SN_NV_MAX];
  sn_vec6 r, S[SN_NV_MAX], r_to, S_to[SN_NV_MAX];
  double left = look(s, q, &r, S);
  for (int k = 0, stalls = 0; k < STEPS_MAX && stalls < STALLS_MAX && left > 1e-3 * CLOSED; k++) {
    if (!find_step(s, S, r, part, step)) {
      break;
    }
    for (int i = 0; i < n; i++) {
      to[i] = q[i] + step[i];
    }
    const double now = look(s, to, &r_to, S_to);
    stalls = now < (1 - GAIN) * left ? 0 : stalls + 1;
    part *= now < left ? MU_LESS : MU_MORE;
    if (now < left) {
      left = now;
      r = r_to;
      memcpy(q, to, (size_t)n * sizeof *q);
      memcpy(S, S_to, (size_t)n * sizeof *S);
    }
  }
  return left;
}

/* Threads by the whole turns that they are away; false: by none. */
static bool add_turns(const search *s, double *q) {
  bool any = false;
  for (int i = 0; i < s->c->nv; i++) {
    const double pitch = s->range[i].pitch;
    if (pitch != 0) {
      sn_vec6 r, S[SN_NV_MAX];
      look(s, q, &r, S);
      const double away = sn_vec3_dot(S[i].w, r.v) - pitch * sn_vec3_dot(S[i].w, r.w);
      const double turns = round(away / (2 * SN_PI * pitch));
      if (turns != 0 && isfinite(turns)) {
        q[i] += 2 * SN_PI * turns;
        any = true;
      }
    }
  }
  return any;
}

/* The same where threads may be in another turn. */
static double descend_by_turns(const search *s, double *q) {
  double left = descend(s, q), to[SN_NV_MAX];
  memcpy(to, q, (size_t)s->c->nv * sizeof *q);
  for (int k = 0; k < TURNS_MAX && left > CLOSED && add_turns(s, to); k++) {
    const double now = descend(s, to);
    if (now < left) {
      left = now;
      memcpy(q, to, (size_t)s->c->nv * sizeof *q);
    }
  }
  return left;
}

/* Start number k, from 0. */
static void start_at(int k, int n, const sni_range *range, double *q) {
  sni_fill_cube(n, k, q);
  for (int i = 0; i < n; i++) {
    q[i] = range[i].lo + (range[i].hi - range[i].lo) * q[i];
  }
}

/* What slides goes so far, or less. */
static double how_far(const search *s) {
  const double zero[SN_NV_MAX] = {0};
  sn_vec6 r, S[SN_NV_MAX];
  look(s, zero, &r, S);
  return 1 + sn_vec3_norm(s->X.p) + sn_vec3_norm(r.v);
}

void sni_constraint_loop_find(const sni_constraint_eval *e, const sni_constraint *c) {
  const int n = c->nv;
  if (n == 0 || sni_joint_ops_of(e->joints, c->joint)->approach) {
    return;
  }
  sn_se3 E[2];
  for (int side = 0; side < 2; side++) {
    E[side] = c->body[side] < 0 ? c->at[side] : sn_se3_mul(e->E_wb[c->body[side]], c->at[side]);
  }
  search s = {.e = e, .c = c, .X = sn_se3_mul(sn_se3_inverse(E[0]), E[1])};
  sni_joint_range(e->joints, c->joint, how_far(&s), s.range);
  double *best = e->loop_q + c->first, most = STARTS_EACH * n;
  double least = descend_by_turns(&s, best);
  for (int i = 0; i < n; i++) {
    most += STARTS_SEGMENT * (s.range[i].hi - s.range[i].lo) / s.range[i].stride;
  }
  for (int k = 0; k < fmin(most, STARTS_MAX) && least > CLOSED; k++) {
    double q[SN_NV_MAX];
    start_at(k, n, s.range, q);
    const double left = descend_by_turns(&s, q);
    if (left < WORTH * least) {
      least = left;
      memcpy(best, q, (size_t)n * sizeof *q);
    }
  }
}
