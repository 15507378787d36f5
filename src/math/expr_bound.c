/* expr_bound.c: bounds of an operation's value and derivative over an interval of t.
 *
 * {NaN, NaN} is a function outside its domain, {-inf, inf} "anything".  Bounds are not rounded
 * outwards: an error in the last bit moves a break by as little. */
#include "math/expr_program.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef sni_expr_range range;
typedef sni_expr_bound bound;

static const range range_any = {-INFINITY, INFINITY};
static const range range_none = {NAN, NAN};

static bool is_none(range x) {
  return isnan(x.lo) || isnan(x.hi);
}
static bool is_point(range x) {
  return x.lo == x.hi;
}
static bool has_zero(range x) {
  return x.lo <= 0 && x.hi >= 0;
}
static range point(double x) {
  return (range){x, x};
}

static range range_add(range x, range y) {
  return (range){x.lo + y.lo, x.hi + y.hi};
}
static range range_sub(range x, range y) {
  return (range){x.lo - y.hi, x.hi - y.lo};
}
static range range_neg(range x) {
  return (range){-x.hi, -x.lo};
}

static double product(double x, double y) {
  return x == 0 || y == 0 ? 0 : x * y;
}

static range range_mul(range x, range y) {
  if (is_none(x) || is_none(y)) {
    return range_none;
  }
  const double a = product(x.lo, y.lo), b = product(x.lo, y.hi);
  const double c = product(x.hi, y.lo), d = product(x.hi, y.hi);
  return (range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static range range_inverse(range x) {
  return has_zero(x) ? range_any : (range){1 / x.hi, 1 / x.lo};
}

static range range_div(range x, range y) {
  return range_mul(x, range_inverse(y));
}

static range range_abs(range x) {
  const double a = fabs(x.lo), b = fabs(x.hi);
  return (range){has_zero(x) ? 0 : fmin(a, b), fmax(a, b)};
}

static range range_square(range x) {
  const range a = range_abs(x);
  return (range){a.lo * a.lo, a.hi * a.hi};
}

/* x^n, n an integer */
static range range_power(range x, double n) {
  if (n < 0) {
    return range_inverse(range_power(x, -n));
  }
  const range base = fmod(n, 2) == 0 ? range_abs(x) : x;
  return (range){pow(base.lo, n), pow(base.hi, n)};
}

/* x^y for x >= 0, y any constant */
static range range_root(range x, double y) {
  const double a = pow(x.lo, y), b = pow(x.hi, y);
  return y < 0 ? (range){b, a} : (range){a, b};
}

static range range_sin(range x) {
  const double turn = 2 * PI;
  if (!(x.hi - x.lo < turn) || fmax(fabs(x.lo), fabs(x.hi)) > 1e12) {
    return (range){-1, 1};
  }
  /* is there a crest pi/2 + 2 pi k, a trough -pi/2 + 2 pi k between the ends? */
  const double a = sin(x.lo), b = sin(x.hi);
  const double crest = turn * ceil((x.lo - PI / 2) / turn) + PI / 2;
  const double trough = turn * ceil((x.lo + PI / 2) / turn) - PI / 2;
  return (range){trough <= x.hi ? -1 : fmin(a, b), crest <= x.hi ? 1 : fmax(a, b)};
}

static range range_cos(range x) {
  return range_sin(range_add(x, point(PI / 2)));
}

/* Ranges of f(x) and f'(x). */
static void unary_range(int code, range x, range *f, range *fx) {
  *f = *fx = range_any;
  switch (code) {
  case SNI_EXPR_SIN:
    *f = range_sin(x);
    *fx = range_cos(x);
    return;
  case SNI_EXPR_COS:
    *f = range_cos(x);
    *fx = range_neg(range_sin(x));
    return;
  case SNI_EXPR_TAN:
    if (floor(x.lo / PI + 0.5) == floor(x.hi / PI + 0.5)) {
      *f = (range){tan(x.lo), tan(x.hi)};
    }
    *fx = range_add(range_square(*f), point(1));
    return;
  case SNI_EXPR_ASIN:
  case SNI_EXPR_ACOS:
    if (x.hi < -1 || x.lo > 1) {
      *f = *fx = range_none;
    } else if (x.lo >= -1 && x.hi <= 1) {
      const range square = range_square(x);
      const range w = {1 / sqrt(1 - square.lo), 1 / sqrt(1 - square.hi)};
      *f =
          code == SNI_EXPR_ASIN ? (range){asin(x.lo), asin(x.hi)} : (range){acos(x.hi), acos(x.lo)};
      *fx = code == SNI_EXPR_ASIN ? w : range_neg(w);
    }
    return;
  case SNI_EXPR_ATAN:
    *f = (range){atan(x.lo), atan(x.hi)};
    *fx = range_inverse(range_add(range_square(x), point(1)));
    return;
  case SNI_EXPR_SINH:
    *f = (range){sinh(x.lo), sinh(x.hi)};
    *fx = (range){cosh(range_abs(x).lo), cosh(range_abs(x).hi)};
    return;
  case SNI_EXPR_COSH:
    *f = (range){cosh(range_abs(x).lo), cosh(range_abs(x).hi)};
    *fx = (range){sinh(x.lo), sinh(x.hi)};
    return;
  case SNI_EXPR_TANH:
    *f = (range){tanh(x.lo), tanh(x.hi)};
    *fx = range_sub(point(1), range_square(*f));
    return;
  case SNI_EXPR_EXP:
    *f = *fx = (range){exp(x.lo), exp(x.hi)};
    return;
  case SNI_EXPR_LOG:
    if (x.hi <= 0) {
      *f = *fx = range_none;
    } else if (x.lo >= 0) {
      *f = (range){log(x.lo), log(x.hi)};
      *fx = (range){1 / x.hi, 1 / fabs(x.lo)};
    }
    return;
  default: /* SQRT */
    if (x.hi < 0) {
      *f = *fx = range_none;
    } else if (x.lo >= 0) {
      *f = (range){sqrt(x.lo), sqrt(x.hi)};
      *fx = (range){0.5 / f->hi, 0.5 / fabs(f->lo)};
    }
    return;
  }
}

static bound power_bound(bound x, bound y) {
  const double n = y.v.lo;
  if (is_point(y.v) && y.d.lo == 0 && y.d.hi == 0) {
    if (n == floor(n)) {
      return (bound){range_power(x.v, n),
                     range_mul(range_mul(point(n), range_power(x.v, n - 1)), x.d)};
    }
    if (x.v.lo >= 0) {
      return (bound){range_root(x.v, n),
                     range_mul(range_mul(point(n), range_root(x.v, n - 1)), x.d)};
    }
  } else if (x.v.lo > 0) { /* exp(y log x) */
    const range l = {log(x.v.lo), log(x.v.hi)};
    const range e = range_mul(y.v, l);
    const range f = {exp(e.lo), exp(e.hi)};
    const range rate = range_add(range_mul(y.d, l), range_mul(y.v, range_div(x.d, x.v)));
    return (bound){f, range_mul(f, rate)};
  }
  return x.v.hi < 0 ? (bound){range_none, range_none} : (bound){range_any, range_any};
}

static bound hypot_bound(bound x, bound y) {
  const range ax = range_abs(x.v), ay = range_abs(y.v);
  const range r = {hypot(ax.lo, ay.lo), hypot(ax.hi, ay.hi)};
  const range inner = range_add(range_mul(x.v, x.d), range_mul(y.v, y.d));
  return (bound){r, range_div(inner, r)};
}

static bound atan2_bound(bound y, bound x, double branch) {
  const range r2 = range_add(range_square(x.v), range_square(y.v));
  bound b = {.d = range_div(range_sub(range_mul(x.v, y.d), range_mul(y.v, x.d)), r2)};
  /* away from the origin the angle is extreme in corners of the rectangle */
  b.v = (range){-2 * PI, 2 * PI};
  if (!has_zero(x.v) || !has_zero(y.v)) {
    b.v = (range){INFINITY, -INFINITY};
    for (int k = 0; k < 4; k++) {
      const double corner[2] = {k & 1 ? y.v.hi : y.v.lo, k & 2 ? x.v.hi : x.v.lo};
      const double angle = sni_expr_apply(SNI_EXPR_ATAN2, corner, branch);
      b.v = (range){fmin(b.v.lo, angle), fmax(b.v.hi, angle)};
    }
  }
  return b;
}

static bound smoothstep_bound(bound a, bound b, bound x) {
  const range width = range_sub(b.v, a.v);
  const range u = range_div(range_sub(x.v, a.v), width);
  const range du =
      range_div(range_sub(range_sub(x.d, a.d), range_mul(u, range_sub(b.d, a.d))), width);
  const range rest = range_sub(point(3), range_mul(point(2), u));
  const range slope = range_mul(point(6), range_mul(u, range_sub(point(1), u)));
  return (bound){range_mul(range_square(u), rest), range_mul(slope, du)};
}

bound sni_expr_apply_bound(int code, const bound *x, double branch) {
  if (sni_expr_code_get(code)->branches) {
    const sni_expr_outcome outcome = sni_expr_take(code, branch);
    if (outcome.arg >= 0) {
      const bound a = x[outcome.arg];
      return outcome.scale < 0 ? (bound){range_neg(a.v), range_neg(a.d)} : a;
    }
    if (outcome.arg == -1) {
      return (bound){point(outcome.scale), point(0)};
    }
  }
  for (int k = 0; k < sni_expr_code_get(code)->nargs; k++) {
    if (is_none(x[k].v)) {
      return (bound){range_none, range_none};
    }
  }
  switch (code) {
  case SNI_EXPR_NEG:
    return (bound){range_neg(x[0].v), range_neg(x[0].d)};
  case SNI_EXPR_ADD:
    return (bound){range_add(x[0].v, x[1].v), range_add(x[0].d, x[1].d)};
  case SNI_EXPR_SUB:
    return (bound){range_sub(x[0].v, x[1].v), range_sub(x[0].d, x[1].d)};
  case SNI_EXPR_MUL:
    return (bound){range_mul(x[0].v, x[1].v),
                   range_add(range_mul(x[0].d, x[1].v), range_mul(x[0].v, x[1].d))};
  case SNI_EXPR_DIV: {
    const range f = range_div(x[0].v, x[1].v);
    return (bound){f, range_div(range_sub(x[0].d, range_mul(f, x[1].d)), x[1].v)};
  }
  case SNI_EXPR_POW:
    return power_bound(x[0], x[1]);
  case SNI_EXPR_HYPOT:
    return hypot_bound(x[0], x[1]);
  case SNI_EXPR_ATAN2:
    return atan2_bound(x[0], x[1], branch);
  case SNI_EXPR_SMOOTHSTEP:
    return smoothstep_bound(x[0], x[1], x[2]);
  default: {
    bound b;
    range fx;
    unary_range(code, x[0].v, &b.v, &fx);
    b.d = range_mul(fx, x[0].d);
    return b;
  }
  }
}
