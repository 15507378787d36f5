/* function_pole.c: does a function run to infinity between two times, and come back?
 *
 * Who goes in steps of a given size sees none of it.  Bounds over the whole interval are finite
 * where there is no pole; where they are not, halves are looked at whose bounds are not either.  An
 * expression without a pole may have such bounds all the same, sin(t)/t about 0: but its values do
 * not grow on the way. */
#include "model/function.h"

#include <float.h>
#include <math.h>

#define HALVES_MAX 45
#define PIECES_MAX 1000 /* that are looked at: floor(1/t) has no end of them */
#define RUNAWAY    1e5  /* times what it is at both ends */

static bool may_be_infinite(const sni_function *f, double t0, double t1, double t_ref) {
  double value[2], rate[2];
  sni_function_bounds(f, t0, t1, t_ref, value, rate);
  return !isfinite(value[0]) || !isfinite(value[1]);
}

static double size_at(const sni_function *f, double t, double t_ref) {
  double out[3];
  sni_function_eval(f, t, t_ref, out);
  return fabs(out[0]);
}

static bool pole_between(const sni_function *f, double t0, double t1, double *at) {
  const double t_ref = sni_function_inside(t0, t1);
  if (!may_be_infinite(f, t0, t1, t_ref)) {
    return false;
  }
  const double first = size_at(f, t0, t_ref), last = size_at(f, t1, t_ref);
  if (!isfinite(first) || !isfinite(last)) {
    return false; /* that will be noticed */
  }
  const double size = fmax(first, last);
  for (int k = 0; k < HALVES_MAX; k++) {
    const double middle = t0 + 0.5 * (t1 - t0);
    const bool left = may_be_infinite(f, t0, middle, t_ref);
    const bool right = may_be_infinite(f, middle, t1, t_ref);
    if (size_at(f, middle, t_ref) > RUNAWAY * fmax(size, DBL_MIN)) {
      *at = middle;
      return true;
    }
    if ((!left && !right) || !(middle > t0 && middle < t1)) {
      return false;
    }
    const bool rises =
        size_at(f, t0 + 0.25 * (t1 - t0), t_ref) < size_at(f, t0 + 0.75 * (t1 - t0), t_ref);
    if (right && (rises || !left)) {
      t0 = middle;
    } else {
      t1 = middle;
    }
  }
  return false;
}

/* The end of the smooth piece that begins at t0, or t1. */
static double piece_end(const sni_function *f, double t0, double t1) {
  double end = t1;
  sni_function_next_break(f, t0, t1, &end);
  return end;
}

bool sni_function_bounded(const sni_function *f, double t0, double t1) {
  bool bounded = true;
  double end;
  for (int k = 0; bounded && t0 < t1 && !sni_function_is_constant(f); k++, t0 = end) {
    end = piece_end(f, t0, t1);
    bounded = k < PIECES_MAX && !may_be_infinite(f, t0, end, sni_function_inside(t0, end));
  }
  return bounded;
}

bool sni_function_pole(const sni_function *f, double t0, double t1, double *at) {
  double end;
  for (int k = 0; k < PIECES_MAX && t0 < t1 && !sni_function_is_constant(f); k++, t0 = end) {
    end = piece_end(f, t0, t1);
    if (pole_between(f, t0, end, at)) {
      return true;
    }
  }
  return false;
}
