/* axis.c: where two tubes are nearest, by Newton's method.
 *
 * With d = c_a(u) - c_b(v) and n = d / |d| the gap |d| - r_a - r_b is stationary where
 *
 *     n . c_a' - r_a' = 0        -n . c_b' - r_b' = 0
 *
 * Its second derivatives have |d| below the line.  Both sides of Newton's equations are multiplied
 * by it, so that axes which meet are no special case: there the right-hand side is 0.
 *
 * Each step is the least of the quadratic model within the stretches, so that their ends are ends
 * of it.  Where the matrix is not positive definite, as between a parallel pair, along which
 * nothing changes, or at a saddle, it is shifted until it is; a step that does not lower the gap is
 * halved. */
#include "contact/axis.h"

#include "model/joints/spline.h"

enum { ROUNDS = 50, HALVINGS = 30 };
#define STATIONARY 1e-12 /* slope of the gap, per length along the axis */
#define FLAT       1e-8  /* of the matrix, by its trace on straight lines */

/* ---- one axis ---- */

static sni_bead bead_at(const sni_bead *bead, int n, int k) {
  if (k >= 0 && k < n) {
    return bead[k];
  }
  const sni_bead end = bead[k < 0 ? 0 : n - 1], next = bead[k < 0 ? 1 : n - 2];
  return (sni_bead){sn_vec3_sub(sn_vec3_scale(end.x, 2), next.x), 2 * end.r - next.r};
}

sni_axis_point sni_axis_at(const sni_bead *bead, int n, double u) {
  double s;
  const int k = sni_open_segment(u, n - 1, &s);
  const sni_basis b = sni_basis_calc(s);
  const double *weight[3] = {b.B, b.dB, b.ddB};
  sni_axis_point p = {.r = {0, 0, 0}};
  for (int i = 0; i < 4; i++) {
    const sni_bead at = bead_at(bead, n, k - 1 + i);
    for (int order = 0; order < 3; order++) {
      p.c[order] = sn_vec3_addscaled(p.c[order], weight[order][i], at.x);
      p.r[order] += weight[order][i] * at.r;
    }
  }
  return p;
}

/* ---- two of them ---- */

/* A unit vector across both, which need not be different, nor anything at all. */
static sn_vec3 across(sn_vec3 a, sn_vec3 b) {
  const sn_vec3 least = fabs(a.x) <= fabs(a.y) && fabs(a.x) <= fabs(a.z) ? (sn_vec3){1, 0, 0}
                        : fabs(a.y) <= fabs(a.z)                         ? (sn_vec3){0, 1, 0}
                                                                         : (sn_vec3){0, 0, 1};
  const double size = sn_vec3_norm(a) * sn_vec3_norm(b);
  sn_vec3 n = sn_vec3_cross(a, b);
  if (!(sn_vec3_norm(n) > 1e-6 * size)) {
    n = sn_vec3_cross(a, least);
  }
  const double length = sn_vec3_norm(n);
  return length > 0 ? sn_vec3_scale(n, 1 / length) : least;
}

sni_axes_gap sni_axes_gap_at(const sni_stretch *a, const sni_stretch *b, double u, double v) {
  const sni_axis_point p = sni_axis_at(a->bead, a->n, u), q = sni_axis_at(b->bead, b->n, v);
  const sn_vec3 d = sn_vec3_sub(p.c[0], q.c[0]);
  const double distance = sn_vec3_norm(d);
  /* less than what rounding leaves of places that are as far out as these has no direction */
  const double noise = 1e-15 * (sn_vec3_norm(p.c[0]) + sn_vec3_norm(q.c[0]));
  const sn_vec3 n = distance > noise ? sn_vec3_scale(d, 1 / distance) : across(p.c[1], q.c[1]);
  const double along[2] = {sn_vec3_dot(n, p.c[1]), -sn_vec3_dot(n, q.c[1])};
  const double both = -sn_vec3_dot(p.c[1], q.c[1]) - along[0] * along[1];
  return (sni_axes_gap){.x = {p.c[0], q.c[0]},
                        .n = n,
                        .r = {p.r[0], q.r[0]},
                        .speed = {sn_vec3_norm(p.c[1]), sn_vec3_norm(q.c[1])},
                        .distance = distance,
                        .blur = distance > noise ? noise / distance : 1,
                        .gap = distance - p.r[0] - q.r[0],
                        .g = {along[0] - p.r[1], along[1] - q.r[1]},
                        .H = {{sn_vec3_dot(p.c[1], p.c[1]) - along[0] * along[0] +
                                   distance * (sn_vec3_dot(n, p.c[2]) - p.r[2]),
                               both},
                              {both, sn_vec3_dot(q.c[1], q.c[1]) - along[1] * along[1] -
                                         distance * (sn_vec3_dot(n, q.c[2]) + q.r[2])}}};
}

static double limited(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

/* F x + x A x / 2 */
static double model_at(double A[2][2], const double *F, const double *x) {
  double value = 0;
  for (int i = 0; i < 2; i++) {
    value += x[i] * (F[i] + 0.5 * (A[i][0] * x[0] + A[i][1] * x[1]));
  }
  return value;
}

/* The least of the model between lo and hi: inside, or on one of four edges. */
static void least_of(double A[2][2], const double *F, const double *lo, const double *hi,
                     double *x) {
  const double det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  x[0] = (A[0][1] * F[1] - A[1][1] * F[0]) / det;
  x[1] = (A[1][0] * F[0] - A[0][0] * F[1]) / det;
  if (x[0] >= lo[0] && x[0] <= hi[0] && x[1] >= lo[1] && x[1] <= hi[1]) {
    return;
  }
  double best = INFINITY;
  for (int edge = 0; edge < 4; edge++) {
    const int k = edge / 2, other = 1 - k;
    double y[2];
    y[k] = edge % 2 ? hi[k] : lo[k];
    y[other] = limited(-(F[other] + A[other][k] * y[k]) / A[other][other], lo[other], hi[other]);
    const double value = model_at(A, F, y);
    if (value < best) {
      best = value;
      x[0] = y[0];
      x[1] = y[1];
    }
  }
}

/* A Newton step, at most a segment long and within the stretches; false: beads in one place, there
 * is none. */
static bool step_of(const sni_axes_nearest *x, const sni_stretch *const s[2], double *step) {
  const sni_axes_gap *at = &x->at;
  const double size = at->speed[0] * at->speed[0] + at->speed[1] * at->speed[1];
  double A[2][2] = {{at->H[0][0], at->H[0][1]}, {at->H[1][0], at->H[1][1]}}, F[2], lo[2], hi[2];
  for (int k = 0; k < 2; k++) {
    if (x->held[k]) { /* the other one alone */
      A[0][1] = A[1][0] = 0;
      A[k][k] = size;
    }
  }
  const double least = 0.5 * (A[0][0] + A[1][1] - hypot(A[0][0] - A[1][1], 2 * A[0][1]));
  const double shift = least < FLAT * size ? fmax(FLAT * size, -least) - least : 0;
  for (int k = 0; k < 2; k++) {
    A[k][k] += shift;
    F[k] = at->distance * at->g[k];
    lo[k] = fmax(s[k]->lo - x->u[k], -1);
    hi[k] = fmin(s[k]->hi - x->u[k], 1);
  }
  least_of(A, F, lo, hi, step);
  return isfinite(step[0]) && isfinite(step[1]);
}

/* Which unknowns are at an end of their stretches and would go on; true: the others are where they
 * belong. */
static bool is_there(sni_axes_nearest *x, const sni_stretch *const s[2]) {
  bool there = true;
  for (int k = 0; k < 2; k++) {
    const double g = x->at.g[k], still = fmax(STATIONARY, x->at.blur) * x->at.speed[k];
    x->held[k] = (x->u[k] <= s[k]->lo && g > still) || (x->u[k] >= s[k]->hi && g < -still);
    there = there && (x->held[k] || fabs(g) <= still);
  }
  return there;
}

/* As far along the step as the gap shrinks; false: it does not. */
static bool go(sni_axes_nearest *x, const sni_stretch *const s[2], const double *step) {
  const double rounding = x->at.blur * x->at.distance;
  double part = 1;
  for (int k = 0; k < HALVINGS; k++, part *= 0.5) {
    sni_axes_nearest next = *x;
    double slope = 0;
    for (int i = 0; i < 2; i++) {
      next.u[i] = limited(x->u[i] + part * step[i], s[i]->lo, s[i]->hi);
      slope += x->at.g[i] * (next.u[i] - x->u[i]);
    }
    next.at = sni_axes_gap_at(s[0], s[1], next.u[0], next.u[1]);
    if (next.u[0] == x->u[0] && next.u[1] == x->u[1]) {
      return false;
    }
    if (next.at.gap <= x->at.gap + 1e-4 * slope + rounding) {
      *x = next;
      return true;
    }
  }
  return false;
}

sni_axes_nearest sni_axes_nearest_find(const sni_stretch *a, const sni_stretch *b, double u,
                                       double v) {
  const sni_stretch *const s[2] = {a, b};
  sni_axes_nearest x = {.u = {limited(u, a->lo, a->hi), limited(v, b->lo, b->hi)}};
  double step[2];
  x.at = sni_axes_gap_at(a, b, x.u[0], x.u[1]);
  while (!is_there(&x, s) && x.iterations < ROUNDS && step_of(&x, s, step) && go(&x, s, step)) {
    x.iterations++;
  }
  return x;
}
