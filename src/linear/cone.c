/* cone.c: quadratics over small sets. */
#include "linear/cone.h"

#include "math/so3.h"

#include <math.h>

void sni_cone_range(double W, double w, double lo, double hi, double *x) {
  if (W > 0) {
    *x = fmax(lo, fmin(hi, *x - w / W));
  }
}

/* In the axes of W the answer on the rim is  y_i = g_i / (W_i + s),  |y| = r,  s > 0: a function of
 * s that falls and is convex as 1/|y|, so Newton's method on 1/|y| = 1/r comes from the left and
 * does not overshoot. */
static void on_rim(double w1, double w2, double g1, double g2, double r, double *y1, double *y2) {
  enum { NEWTON_MAX = 50 };
  double s = fmax(0, hypot(g1, g2) / r - fmax(w1, w2));
  for (int k = 0; k < NEWTON_MAX; k++) {
    const double a = g1 / (w1 + s), b = g2 / (w2 + s);
    const double length = sqrt(a * a + b * b);
    const double slope = (a * a / (w1 + s) + b * b / (w2 + s)) / length;
    const double step = (length / r - 1) * length / slope;
    s = fmax(0, s + step);
    if (!(fabs(step) > 1e-15 * (s + w1))) {
      break;
    }
  }
  const double a = g1 / (w1 + s), b = g2 / (w2 + s), length = hypot(a, b);
  *y1 = a * r / length;
  *y2 = b * r / length;
}

void sni_cone_disc(const double W[3], const double w[2], double r, double *x) {
  if (!(r > 0) || !(W[0] > 0) || !(W[2] > 0)) {
    if (!(r > 0)) {
      x[0] = x[1] = 0;
      return;
    }
    /* only one direction can move, or none */
    const double before = x[W[0] > 0 ? 1 : 0], room = sqrt(fmax(0, r * r - before * before));
    sni_cone_range(W[0], w[0], -room, room, &x[0]);
    sni_cone_range(W[0] > 0 ? 0 : W[2], w[1], -room, room, &x[1]);
    return;
  }
  /* g = W x - w: the answer without the rim is W^-1 g */
  const double g[2] = {W[0] * x[0] + W[1] * x[1] - w[0], W[1] * x[0] + W[2] * x[1] - w[1]};
  const double half = 0.5 * (W[0] - W[2]), mean = 0.5 * (W[0] + W[2]), far = hypot(half, W[1]);
  const double w1 = mean + far, w2 = fmax(mean - far, 1e-14 * w1);
  /* first axis of W; in a multiple of the unit matrix any will do */
  double c = 1, s = 0;
  if (far > 1e-15 * mean) {
    c = half >= 0 ? half + far : W[1];
    s = half >= 0 ? W[1] : far - half;
    const double length = hypot(c, s);
    c /= length;
    s /= length;
  }
  const double g1 = c * g[0] + s * g[1], g2 = c * g[1] - s * g[0];
  double y1 = g1 / w1, y2 = g2 / w2;
  if (!(y1 * y1 + y2 * y2 <= r * r)) {
    on_rim(w1, w2, g1, g2, r, &y1, &y2);
  }
  x[0] = c * y1 - s * y2;
  x[1] = s * y1 + c * y2;
}

/* Corner k of the polygon. */
static void corner(int k, int sides, double r, double *out) {
  const double angle = 2 * SN_PI * k / sides;
  out[0] = r * cos(angle);
  out[1] = r * sin(angle);
}

static int is_inside(const double *x, double r, int sides) {
  for (int k = 0; k < sides; k++) {
    const double angle = SN_PI * (2 * k + 1) / sides;
    if (cos(angle) * x[0] + sin(angle) * x[1] > r * cos(SN_PI / sides)) {
      return 0;
    }
  }
  return 1;
}

void sni_cone_polygon(const double W[3], const double w[2], double r, int sides, double *x) {
  if (!(r > 0)) {
    x[0] = x[1] = 0;
    return;
  }
  const double det = W[0] * W[2] - W[1] * W[1];
  if (det > 1e-14 * W[0] * W[2]) {
    const double y[2] = {x[0] - (W[2] * w[0] - W[1] * w[1]) / det,
                         x[1] - (W[0] * w[1] - W[1] * w[0]) / det};
    if (is_inside(y, r, sides)) {
      x[0] = y[0];
      x[1] = y[1];
      return;
    }
  }
  /* the least on each side */
  double best[2] = {0, 0}, least = INFINITY;
  for (int k = 0; k < sides; k++) {
    double a[2], b[2];
    corner(k, sides, r, a);
    corner(k + 1, sides, r, b);
    const double d[2] = {b[0] - a[0], b[1] - a[1]}, e[2] = {a[0] - x[0], a[1] - x[1]};
    const double along = d[0] * (W[0] * d[0] + W[1] * d[1]) + d[1] * (W[1] * d[0] + W[2] * d[1]);
    const double slope =
        d[0] * (W[0] * e[0] + W[1] * e[1] + w[0]) + d[1] * (W[1] * e[0] + W[2] * e[1] + w[1]);
    const double t = along > 0 ? fmax(0, fmin(1, -slope / along)) : slope < 0 ? 1 : 0;
    const double y[2] = {e[0] + t * d[0], e[1] + t * d[1]};
    const double value = 0.5 * (W[0] * y[0] * y[0] + 2 * W[1] * y[0] * y[1] + W[2] * y[1] * y[1]) +
                         w[0] * y[0] + w[1] * y[1];
    if (value < least) {
      least = value;
      best[0] = a[0] + t * d[0];
      best[1] = a[1] + t * d[1];
    }
  }
  x[0] = best[0];
  x[1] = best[1];
}

void sni_cone_project_polygon(double r, int sides, double *x) {
  if (is_inside(x, r, sides)) {
    return;
  }
  const double W[3] = {1, 0, 1}, w[2] = {0, 0};
  sni_cone_polygon(W, w, r, sides, x);
}

void sni_cone_project(double mu, double *x) {
  const double length = hypot(x[1], x[2]);
  if (length <= mu * x[0]) {
    return;
  }
  /* along (1, mu x_t/|x_t|) */
  const double n = (x[0] + mu * length) / (1 + mu * mu);
  if (n <= 0) {
    x[0] = x[1] = x[2] = 0;
    return;
  }
  x[0] = n;
  x[1] *= mu * n / length;
  x[2] *= mu * n / length;
}
