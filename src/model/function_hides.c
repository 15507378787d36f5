/* function_hides.c: does a function do something between the times at which it is looked at?
 *
 * An integrator sees a function at a few times of a step and judges its error by them: a pulse
 * between two of them does not exist for it.  Bounds over intervals do not overlook anything.  What
 * they cannot exclude is bisected, and a value in the middle that is out of range is the proof. */
#include "model/function.h"

#include <math.h>

#define PIECES_MAX 400 /* intervals looked at before giving up: then nothing is claimed         */
#define DEPTH_MAX  40
#define SMALL      1e-9

typedef struct seen {
  double lo, hi; /* what may be found between, without anything having been missed */
} seen;

static void widen(seen *s, double x) {
  s->lo = fmin(s->lo, x);
  s->hi = fmax(s->hi, x);
}

/* The bounds of the value can be those from its rate: f(m) + rate (t - m). */
static bool excludes(const sni_function *f, double t0, double t1, double t_ref, int order,
                     double middle, const seen *s) {
  double value[2], rate[2];
  sni_function_bounds(f, t0, t1, t_ref, value, rate);
  const double *own = order == 0 ? value : rate;
  if (own[0] >= s->lo && own[1] <= s->hi) {
    return true;
  }
  const double reach = 0.5 * (t1 - t0) * fmax(fabs(rate[0]), fabs(rate[1]));
  return order == 0 && middle - reach >= s->lo && middle + reach <= s->hi;
}

/* The common case: hardly anything but a slope.  With a rate between d0 and d1, f is no farther
 * than h (d1 - d0)/4 from the line between its ends. */
static bool is_slope(const sni_function *f, double t0, double t1, double t_ref, const double *rate,
                     double small) {
  double left[3], right[3];
  sni_function_eval(f, t0, t_ref, left);
  sni_function_eval(f, t1, t_ref, right);
  return 0.25 * (t1 - t0) * (rate[1] - rate[0]) <= 0.5 * fabs(right[0] - left[0]) + small;
}

bool sni_function_hides(const sni_function *f, double t0, double t1, double t_ref, int order,
                        const double *node, int nnode) {
  double bounds[2][2], out[3];
  sni_function_bounds(f, t0, t1, t_ref, bounds[0], bounds[1]);
  /* what is small against all that it might be is rounding: cos(t)^2 + sin(t)^2 - 1 does nothing */
  const double most = fmax(fabs(bounds[order][0]), fabs(bounds[order][1]));
  double small = isfinite(most) ? SMALL * most : 0;
  if (order == 0 && is_slope(f, t0, t1, t_ref, bounds[1], small)) {
    return false;
  }
  seen s = {INFINITY, -INFINITY};
  for (int k = 0; k < nnode; k++) {
    sni_function_eval(f, t0 + node[k] * (t1 - t0), t_ref, out);
    if (!isfinite(out[order])) {
      return false; /* that will be noticed */
    }
    widen(&s, out[order]);
  }
  small = isfinite(most) ? small : SMALL * fmax(fabs(s.lo), fabs(s.hi));
  const double slack = 0.5 * (s.hi - s.lo) + small;
  s = (seen){s.lo - slack, s.hi + slack};
  if (bounds[order][0] >= s.lo && bounds[order][1] <= s.hi) {
    return false;
  }

  /* from left to right; the stack holds the ends of intervals that are still to be looked at */
  double end[DEPTH_MAX + 1];
  int top = 0;
  double a = t0;
  end[0] = t1;
  for (int pieces = 0; pieces < PIECES_MAX && top >= 0; pieces++) {
    const double b = end[top], middle = a + 0.5 * (b - a);
    sni_function_eval(f, middle, t_ref, out);
    if (out[order] < s.lo || out[order] > s.hi) {
      return true;
    }
    if (excludes(f, a, b, t_ref, order, out[order], &s) || top == DEPTH_MAX || !(middle > a)) {
      a = b;
      top--;
    } else {
      end[++top] = middle;
    }
  }
  return false;
}
