/* staggered_slopes.c: the nearest points of the sets of staggered.h, with their slopes. */
#include "linear/staggered_newton.h"

#include "math/so3.h"

#include <math.h>
#include <string.h>

static void slope_one(double y, double lo, double hi, double at_lo, double at_hi, sni_slope *out) {
  *out = (sni_slope){0};
  out->x[0] = fmax(lo, fmin(hi, y));
  out->D[0][0] = y > lo && y < hi;
  out->by[0] = y <= lo ? at_lo : y >= hi ? at_hi : 0;
}

static void slope_disc(const double *y, double r, sni_slope *out) {
  *out = (sni_slope){0};
  const double length = hypot(y[0], y[1]);
  if (length <= r) {
    out->x[0] = y[0];
    out->x[1] = y[1];
    out->D[0][0] = out->D[1][1] = 1;
    return;
  }
  const double c = y[0] / length, s = y[1] / length, factor = r / length;
  out->x[0] = r * c;
  out->x[1] = r * s;
  out->by[0] = c;
  out->by[1] = s;
  out->D[0][0] = factor * s * s;
  out->D[0][1] = out->D[1][0] = -factor * c * s;
  out->D[1][1] = factor * c * c;
}

static void slope_ball(const double *y, double r, sni_slope *out) {
  *out = (sni_slope){0};
  const double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
  const double factor = length > r ? r / length : 1;
  for (int i = 0; i < 3; i++) {
    out->x[i] = factor * y[i];
    out->by[i] = length > r ? y[i] / length : 0;
    out->D[i][i] = factor;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->D[i][j] -= factor * out->by[i] * out->by[j];
    }
  }
}

static void slope_polygon(const double *y, double r, int sides, sni_slope *out) {
  *out = (sni_slope){0};
  out->x[0] = y[0];
  out->x[1] = y[1];
  sni_cone_project_polygon(r, sides, out->x);
  const double off[2] = {y[0] - out->x[0], y[1] - out->x[1]};
  if (off[0] == 0 && off[1] == 0) {
    out->D[0][0] = out->D[1][1] = 1;
    return;
  }
  /* along the side that it is on; at a corner nothing but the size moves it */
  const double at = hypot(out->x[0], out->x[1]), length = hypot(off[0], off[1]);
  const double n[2] = {off[0] / length, off[1] / length};
  if (at >= r * (1 - 1e-12)) {
    const double each = 2 * SN_PI / sides, angle = each * round(atan2(y[1], y[0]) / each);
    out->by[0] = cos(angle);
    out->by[1] = sin(angle);
    return;
  }
  const double inner = cos(SN_PI / sides);
  out->by[0] = inner * n[0];
  out->by[1] = inner * n[1];
  out->D[0][0] = n[1] * n[1];
  out->D[0][1] = out->D[1][0] = -n[0] * n[1];
  out->D[1][1] = n[0] * n[0];
}

static void slope_cone(const double *y, double mu, sni_slope *out) {
  *out = (sni_slope){0};
  const double length = hypot(y[1], y[2]);
  memcpy(out->x, y, sizeof out->x);
  sni_cone_project(mu, out->x);
  if (length <= mu * y[0]) {
    out->D[0][0] = out->D[1][1] = out->D[2][2] = 1;
    return;
  }
  const double size = 1 + mu * mu, n = (y[0] + mu * length) / size;
  if (n <= 0) {
    return;
  }
  /* x = n (1, mu u), u = y_t/|y_t| */
  const double u[3] = {1, mu * y[1] / length, mu * y[2] / length};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->D[i][j] = u[i] * u[j] / size;
    }
  }
  const double c = y[1] / length, s = y[2] / length, turn = n * mu / length;
  out->D[1][1] += turn * s * s;
  out->D[1][2] -= turn * c * s;
  out->D[2][1] -= turn * c * s;
  out->D[2][2] += turn * c * c;
}

void sni_newton_slope(const sni_group_part *part, int sides, const double *y, sni_slope *out) {
  switch (part->set) {
  case SNI_IN_RANGE:
    slope_one(y[0], part->lo, part->hi, 0, 0, out);
    break;
  case SNI_IN_LIMIT:
    slope_one(y[0], -part->limit, part->limit, -1, 1, out);
    break;
  case SNI_IN_DISC:
    slope_disc(y, part->limit, out);
    break;
  case SNI_IN_BALL:
    slope_ball(y, part->limit, out);
    break;
  case SNI_IN_POLYGON:
    slope_polygon(y, part->limit, sides, out);
    break;
  case SNI_IN_CONE:
    slope_cone(y, part->mu, out);
    break;
  }
}
