/* function.c: constants, expressions and interpolated keys as functions of time.
 *
 * Keys (t_k, v_k), h = t_{k+1} - t_k, s = (t - t_k)/h, r = 1 - s:
 *
 *     step      v = v_k
 *     linear    v = r v_k + s v_{k+1}
 *     cubic     v = r v_k + s v_{k+1} + h^2/6 ((r^3 - r) m_k + (s^3 - s) m_{k+1})
 *
 * where m are the second derivatives of the natural spline, m_0 = m_{n-1} = 0 and, for the rest,
 * the first derivative continuous at the keys: a tridiagonal system, solved once. */
#include "model/function.h"
#include "math/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum function_kind {
  KIND_CONSTANT,
  KIND_EXPRESSION,
  KIND_KEYS,
} function_kind;

struct sni_function {
  function_kind kind;
  sn_interpolation interpolation; /* of keys                                                */
  int nkey;
  size_t size;   /* of this block                                                           */
  double value;  /* of a constant                                                           */
  double data[]; /* keys: nkey times, nkey values, nkey second derivatives (cubic only);
                    an expression: its program                                              */
};

/* A function with room for `payload` bytes of data; NULL without memory. */
static sni_function *allocate(function_kind kind, size_t payload) {
  sni_function *f = malloc(sizeof *f + payload);
  if (f) {
    *f = (sni_function){.kind = kind, .size = sizeof *f + payload};
  }
  return f;
}

static sn_status fail_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "out of memory for a time function");
}

static sn_status build_constant(double value, sni_function **out, sn_error *err) {
  if (!isfinite(value)) {
    return sni_fail(err, SN_E_VALUE, "value is %g, needs a finite number", value);
  }
  sni_function *f = allocate(KIND_CONSTANT, 0);
  if (!f) {
    return fail_memory(err);
  }
  f->value = value;
  *out = f;
  return SN_OK;
}

/* ---- Expressions */

static const sni_expr *expression(const sni_function *f) {
  return (const sni_expr *)f->data;
}

static sn_status build_expression(const char *text, sni_function **out, sn_error *err) {
  static const char *const names[] = {"t"};
  sni_expr *expr = NULL;
  sn_status status = sni_expr_compile(text, names, 1, &expr, err);
  if (status != SN_OK) {
    return status;
  }
  if (sni_expr_is_constant(expr)) {
    status = build_constant(sni_expr_eval(expr, NULL), out, err);
  } else {
    const size_t size = sni_expr_size(expr);
    sni_function *f = allocate(KIND_EXPRESSION, size);
    if (f) {
      memcpy(f->data, expr, size);
      *out = f;
    } else {
      status = fail_memory(err);
    }
  }
  sni_expr_free(&expr);
  return status;
}

/* ---- Keys */

static const double *key_time(const sni_function *f) {
  return f->data;
}
static const double *key_value(const sni_function *f) {
  return f->data + f->nkey;
}
static const double *key_second(const sni_function *f) {
  return f->data + 2 * (size_t)f->nkey;
}

/* (v_{k+1} - v_k)/h */
static double chord(const double *t, const double *v, int k) {
  return (v[k + 1] - v[k]) / (t[k + 1] - t[k]);
}

/* h_{k-1} m_{k-1} + 2 (h_{k-1} + h_k) m_k + h_k m_{k+1} = 6 (chord_k - chord_{k-1}): diagonally
 * dominant, so elimination without pivoting is safe.  work: n numbers. */
static void solve_spline(const double *t, const double *v, int n, double *m, double *work) {
  m[0] = m[n - 1] = 0;
  work[0] = 0;
  for (int k = 1; k < n - 1; k++) {
    const double h0 = t[k] - t[k - 1], h1 = t[k + 1] - t[k];
    const double pivot = 2 * (h0 + h1) - h0 * work[k - 1];
    work[k] = h1 / pivot;
    m[k] = (6 * (chord(t, v, k) - chord(t, v, k - 1)) - h0 * m[k - 1]) / pivot;
  }
  for (int k = n - 2; k > 0; k--) {
    m[k] -= work[k] * m[k + 1];
  }
}

static sn_status check_keys(const double *t, const double *v, int n, sn_error *err) {
  for (int k = 0; k < n; k++) {
    if (!isfinite(t[k]) || !isfinite(v[k])) {
      return sni_fail(err, SN_E_VALUE, "key %d is [%g, %g], needs finite numbers", k + 1, t[k],
                      v[k]);
    }
    if (k > 0 && !(t[k] > t[k - 1])) {
      return sni_fail(err, SN_E_VALUE,
                      "key %d has time %.17g after %.17g, times need to increase from key to key",
                      k + 1, t[k], t[k - 1]);
    }
    if (k > 0 && !isfinite(chord(t, v, k - 1))) {
      return sni_fail(err, SN_E_VALUE, "the slope from key %d to key %d is too large", k, k + 1);
    }
  }
  return SN_OK;
}

static bool all_equal(const double *v, int n) {
  for (int k = 1; k < n; k++) {
    if (v[k] != v[0]) {
      return false;
    }
  }
  return true;
}

/* The second derivatives of the spline at the keys, checked. */
static sn_status build_spline(sni_function *f, double *m, sn_error *err) {
  double *work = calloc((size_t)f->nkey, sizeof *work);
  if (!work) {
    return fail_memory(err);
  }
  solve_spline(key_time(f), key_value(f), f->nkey, m, work);
  free(work);
  for (int k = 0; k < f->nkey; k++) {
    if (!isfinite(m[k])) {
      return sni_fail(err, SN_E_VALUE, "the bend at key %d is too large", k + 1);
    }
  }
  return SN_OK;
}

/* Keys that have been checked. */
static sn_status build_keys(const double *t, const double *v, int n, sn_interpolation interpolation,
                            sni_function **out, sn_error *err) {
  if (all_equal(v, n)) {
    return build_constant(v[0], out, err);
  }
  const bool cubic = interpolation == SN_INTERPOLATE_CUBIC;
  const size_t bytes = (size_t)n * sizeof(double);
  sni_function *f = allocate(KIND_KEYS, (cubic ? 3 : 2) * bytes);
  if (!f) {
    return fail_memory(err);
  }
  f->nkey = n;
  f->interpolation = interpolation;
  memcpy(f->data, t, bytes);
  memcpy(f->data + n, v, bytes);
  const sn_status status = cubic ? build_spline(f, f->data + 2 * (size_t)n, err) : SN_OK;
  if (status != SN_OK) {
    sni_function_free(&f);
    return status;
  }
  *out = f;
  return SN_OK;
}

static sn_status check_interpolation(sn_interpolation interpolation, sn_error *err) {
  switch (interpolation) {
  case SN_INTERPOLATE_LINEAR:
  case SN_INTERPOLATE_STEP:
  case SN_INTERPOLATE_CUBIC:
    return SN_OK;
  }
  return sni_fail(err, SN_E_ARGUMENT, "interpolation is %d, needs an sn_interpolation",
                  (int)interpolation);
}

/* The key at or before t; -1 if all come later. */
static int key_before(const sni_function *f, double t) {
  const double *time = key_time(f);
  int lo = -1, hi = f->nkey; /* time[lo] <= t < time[hi] */
  while (hi - lo > 1) {
    const int mid = lo + (hi - lo) / 2;
    if (time[mid] <= t) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

/* The piece behind key k; k = -1 and k = nkey - 1 are the ends, where the value is held. */
static void eval_piece(const sni_function *f, int k, double t, double out[3]) {
  const double *v = key_value(f);
  const bool inside = k >= 0 && k < f->nkey - 1;
  out[0] = k < 0 ? v[0] : v[k];
  out[1] = out[2] = 0;
  if (!inside || f->interpolation == SN_INTERPOLATE_STEP) {
    return;
  }
  const double *time = key_time(f);
  const double h = time[k + 1] - time[k];
  const double s = (t - time[k]) / h, r = (time[k + 1] - t) / h;
  out[0] = r * v[k] + s * v[k + 1];
  out[1] = chord(time, v, k);
  if (f->interpolation == SN_INTERPOLATE_CUBIC) {
    const double m0 = key_second(f)[k], m1 = key_second(f)[k + 1];
    out[0] += h * h / 6 * (r * (r * r - 1) * m0 + s * (s * s - 1) * m1);
    out[1] += h / 6 * ((1 - 3 * r * r) * m0 + (3 * s * s - 1) * m1);
    out[2] = r * m0 + s * m1;
  }
}

/* Does the value or one of its first two derivatives jump at key k? */
static bool key_breaks(const sni_function *f, int k) {
  if (f->interpolation == SN_INTERPOLATE_CUBIC && k > 0 && k < f->nkey - 1) {
    return false; /* equal by construction, not to the last bit */
  }
  double left[3], right[3];
  eval_piece(f, k - 1, key_time(f)[k], left);
  eval_piece(f, k, key_time(f)[k], right);
  return left[0] != right[0] || left[1] != right[1] || left[2] != right[2];
}

static bool next_key_break(const sni_function *f, double t0, double t1, double *t_break) {
  const double *time = key_time(f);
  for (int k = key_before(f, t0 + sni_expr_break_gap(t0, t1)) + 1; k < f->nkey; k++) {
    if (time[k] > t1) {
      return false;
    }
    if (key_breaks(f, k)) {
      *t_break = time[k];
      return true;
    }
  }
  return false;
}

/* ---- All kinds */

sn_status sni_function_build_csv(const sni_csv *csv, const char *column,
                                 sn_interpolation interpolation, sni_function **out,
                                 sn_error *err) {
  sn_status status = check_interpolation(interpolation, err);
  if (status != SN_OK) {
    return status;
  }
  if (strcmp(csv->name[0], "t") != 0) {
    return sni_fail(err, SN_E_VALUE, "%s: the first column is '%s', needs to be the time 't'",
                    csv->path, csv->name[0]);
  }
  const int c = sni_csv_find(csv, column);
  if (c < 0) {
    return sni_fail(err, SN_E_VALUE, "%s: no column '%s'", csv->path, column);
  }
  const double *t = csv->column[0];
  for (int r = 1; r < csv->nrow; r++) {
    if (!(t[r] > t[r - 1])) {
      return sni_fail(err, SN_E_VALUE,
                      "%s line %d, column 't': %.17g after %.17g, times need to increase",
                      csv->path, csv->line[r], t[r], t[r - 1]);
    }
  }
  sn_error inner;
  status = check_keys(t, csv->column[c], csv->nrow, &inner);
  if (status != SN_OK) {
    return sni_fail(err, status, "%s, column '%s': %s", csv->path, column, inner.text);
  }
  return build_keys(t, csv->column[c], csv->nrow, interpolation, out, err);
}

static sn_status build_csv_file(const sn_function_def *def, sni_function **out, sn_error *err) {
  if (!def->csv_file || !def->csv_column) {
    return sni_fail(err, SN_E_VALUE,
                    def->csv_file ? "the file needs a column" : "the column needs a CSV file");
  }
  sni_csv *csv = NULL;
  sn_status status = sni_csv_read(def->csv_file, &csv, err);
  if (status == SN_OK) {
    status = sni_function_build_csv(csv, def->csv_column, def->interpolation, out, err);
    sni_csv_free(&csv);
  }
  return status;
}

static sn_status build_given_keys(const sn_function_def *def, sni_function **out, sn_error *err) {
  if (def->nkey < 1 || !def->key_time || !def->key_value) {
    return sni_fail(err, SN_E_VALUE, "keyframes need at least one key with time and value");
  }
  sn_status status = check_interpolation(def->interpolation, err);
  if (status == SN_OK) {
    status = check_keys(def->key_time, def->key_value, def->nkey, err);
  }
  if (status == SN_OK) {
    status = build_keys(def->key_time, def->key_value, def->nkey, def->interpolation, out, err);
  }
  return status;
}

sn_status sni_function_build(const sn_function_def *def, sni_function **out, sn_error *err) {
  const bool expr = def->expression != NULL;
  const bool keys = def->key_time || def->key_value || def->nkey != 0;
  const bool csv = def->csv_file || def->csv_column;
  if ((def->value != 0) + expr + keys + csv > 1) {
    return sni_fail(err, SN_E_VALUE,
                    "a time function is one of number, expression, keyframes and CSV column");
  }
  if (expr) {
    return build_expression(def->expression, out, err);
  }
  if (keys) {
    return build_given_keys(def, out, err);
  }
  if (csv) {
    return build_csv_file(def, out, err);
  }
  return build_constant(def->value, out, err);
}

void sni_function_free(sni_function **f) {
  free(*f);
  *f = NULL;
}

size_t sni_function_size(const sni_function *f) {
  return f->size;
}

bool sni_function_is_constant(const sni_function *f) {
  return f->kind == KIND_CONSTANT;
}

void sni_function_eval(const sni_function *f, double t, double t_ref, double out[3]) {
  if (f->kind == KIND_EXPRESSION) {
    const sni_jet jet = sni_expr_eval_jet_from(expression(f), &(sni_jet){t, 1, 0}, &t_ref);
    out[0] = jet.v;
    out[1] = jet.d;
    out[2] = jet.dd;
  } else if (f->kind == KIND_KEYS) {
    int k = key_before(f, t_ref);
    if (f->interpolation == SN_INTERPOLATE_CUBIC && k >= 0 && k < f->nkey - 1) {
      /* inside, a spline is smooth at its keys: t and t_ref may be on different pieces of it */
      const int own = key_before(f, t);
      k = own < 0 ? 0 : own > f->nkey - 2 ? f->nkey - 2 : own;
    }
    eval_piece(f, k, t, out);
  } else {
    out[0] = f->value;
    out[1] = out[2] = 0;
  }
}

bool sni_function_next_break(const sni_function *f, double t0, double t1, double *t_break) {
  switch (f->kind) {
  case KIND_EXPRESSION:
    return sni_expr_next_break(expression(f), t0, t1, t_break);
  case KIND_KEYS:
    return next_key_break(f, t0, t1, t_break);
  default:
    return false;
  }
}

/* On a part [a, b] of one piece the second derivative is linear, so no larger than at an end: m.
 * The value is no farther than m (b - a)^2/8 from the chord, the rate no farther than m (b - a)/2
 * from that at the nearer end. */
static void key_bounds(const sni_function *f, double t0, double t1, double value[2],
                       double rate[2]) {
  value[0] = rate[0] = INFINITY;
  value[1] = rate[1] = -INFINITY;
  for (int k = key_before(f, t0); k < f->nkey; k++) {
    const double a = k < 0 ? t0 : fmax(t0, key_time(f)[k]);
    const double b = k + 1 < f->nkey ? fmin(t1, key_time(f)[k + 1]) : t1;
    if (a > t1 || (a == t1 && t1 > t0)) {
      break;
    }
    double left[3], right[3];
    eval_piece(f, k, a, left);
    eval_piece(f, k, b, right);
    const double m = fmax(fabs(left[2]), fabs(right[2])), h = b - a;
    value[0] = fmin(value[0], fmin(left[0], right[0]) - m * h * h / 8);
    value[1] = fmax(value[1], fmax(left[0], right[0]) + m * h * h / 8);
    rate[0] = fmin(rate[0], fmin(left[1], right[1]) - m * h / 2);
    rate[1] = fmax(rate[1], fmax(left[1], right[1]) + m * h / 2);
  }
}

void sni_function_bounds(const sni_function *f, double t0, double t1, double t_ref, double value[2],
                         double rate[2]) {
  if (f->kind == KIND_EXPRESSION) {
    sni_expr_bounds(expression(f), t0, t1, t_ref, value, rate);
  } else if (f->kind == KIND_KEYS && f->interpolation == SN_INTERPOLATE_CUBIC) {
    key_bounds(f, t0, t1, value, rate);
  } else { /* between two breaks the rate is constant */
    double left[3], right[3];
    sni_function_eval(f, t0, t_ref, left);
    sni_function_eval(f, t1, t_ref, right);
    value[0] = fmin(left[0], right[0]);
    value[1] = fmax(left[0], right[0]);
    rate[0] = rate[1] = left[1];
  }
}

double sni_function_inside(double t0, double t1) {
  return t0 + 0.381966011250105 * (t1 - t0);
}
