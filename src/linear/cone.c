/* cone.c: quadratics over small sets. */
#include "linear/cone.h"

#include "math/so3.h"

#include <math.h>
#include <stdbool.h>

void sni_cone_range(double W, double w, double lo, double hi, double *x) {
  if (W > 0) {
    *x = fmax(lo, fmin(hi, *x - w / W));
  }
}

/* In the axes of W the answer on the rim is  y_i = g_i / (W_i + s),  |y| = r,  s > 0: a function of
 * s that falls, and nearly straight as 1/|y|, so Newton's method on 1/|y| = 1/r takes few steps,
 * and one or two from where it ended last.  From the left it does not overshoot. */
static void on_rim(sni_disc *d, double g1, double g2, double r, double small, double *y1,
                   double *y2) {
  enum { NEWTON_MAX = 50 };
  const double w1 = d->w1, w2 = d->w2, least = sqrt(g1 * g1 + g2 * g2) / r - w1;
  if (least > 1e16 * w1) { /* so small a disc: straight against g, before squares are 0 */
    const double length = hypot(g1, g2);
    *y1 = r * (g1 / length);
    *y2 = r * (g2 / length);
    return;
  }
  double s = fmax(fmax(0, least), d->rim);
  for (int k = 0; k < NEWTON_MAX; k++) {
    const double i1 = 1 / (w1 + s), i2 = 1 / (w2 + s), a = g1 * i1, b = g2 * i2;
    const double square = a * a + b * b, length = sqrt(square);
    const double step = (length / r - 1) * square / (a * a * i1 + b * b * i2);
    s = fmax(fmax(0, least), s + step);
    if (!(fabs(step) > small * (s + w1))) { /* the next one would be the square of it */
      break;
    }
  }
  d->rim = s;
  const double a = g1 / (w1 + s), b = g2 / (w2 + s), factor = r / sqrt(a * a + b * b);
  *y1 = a * factor;
  *y2 = b * factor;
}

sni_disc sni_disc_of(const double W[3]) {
  const double half = 0.5 * (W[0] - W[2]), mean = 0.5 * (W[0] + W[2]);
  const double far = sqrt(half * half + W[1] * W[1]);
  sni_disc d = {1, 0, mean + far, mean - far, 0};
  if (far > 1e-15 * mean) { /* else any axis will do */
    d.c = half >= 0 ? half + far : W[1];
    d.s = half >= 0 ? W[1] : far - half;
    const double length = sqrt(d.c * d.c + d.s * d.s);
    d.c /= length;
    d.s /= length;
  }
  return d;
}

/* Radii whose squares are no numbers any more are none. */
#define RADIUS_LEAST 1e-100

static void disc_least(sni_disc *d, const double w[2], double r, double small, double *x) {
  if (!(r > RADIUS_LEAST)) {
    x[0] = x[1] = 0;
    return;
  }
  /* g = W x - w: the answer without the rim is W^-1 g */
  const double x1 = d->c * x[0] + d->s * x[1], x2 = d->c * x[1] - d->s * x[0];
  const double v1 = d->c * w[0] + d->s * w[1], v2 = d->c * w[1] - d->s * w[0];
  const bool moves = d->w1 > 0,
             both = d->w2 > 1e-14 * d->w1; /* else it moves nothing, or one way */
  double y1 = moves ? x1 - v1 / d->w1 : x1, y2 = both ? x2 - v2 / d->w2 : x2;
  if (!(y1 * y1 + y2 * y2 <= r * r)) {
    if (both) {
      on_rim(d, d->w1 * x1 - v1, d->w2 * x2 - v2, r, small, &y1, &y2);
    } else {
      y2 = fmax(-r, fmin(r, y2));
      const double room = sqrt(fmax(0, r * r - y2 * y2));
      y1 = fmax(-room, fmin(room, y1));
    }
  }
  x[0] = d->c * y1 - d->s * y2;
  x[1] = d->s * y1 + d->c * y2;
}

void sni_disc_least(sni_disc *d, const double w[2], double r, double *x) {
  disc_least(d, w, r, 1e-3, x);
}

void sni_cone_disc(const double W[3], const double w[2], double r, double *x) {
  sni_disc d = sni_disc_of(W);
  disc_least(&d, w, r, 1e-7, x);
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
  const double length = sqrt(x[1] * x[1] + x[2] * x[2]);
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
