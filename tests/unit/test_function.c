/* Functions of time: constants, expressions, keyframes, CSV columns. */
#include "test.h"

#include "model/function.h"

#include <float.h>
#include <unistd.h>

static sni_function *build(sn_function_def def) {
  sni_function *f = NULL;
  sn_error err;
  const sn_status status = sni_function_build(&def, &f, &err);
  CHECK(status == SN_OK, "%s", err.text);
  return f;
}

static void check_eval(const sni_function *f, double t, double t_ref, double v, double d,
                       double dd) {
  double out[3];
  sni_function_eval(f, t, t_ref, out);
  const double tol = 1e-14 * (1 + fabs(v) + fabs(d) + fabs(dd)); /* a few roundings */
  CHECK(fabs(out[0] - v) < tol && fabs(out[1] - d) < tol && fabs(out[2] - dd) < tol,
        "at %g from %g: (%.17g, %.17g, %.17g), not (%.17g, %.17g, %.17g)", t, t_ref, out[0], out[1],
        out[2], v, d, dd);
}

static void check_breaks(const sni_function *f, double t0, double t1, int count, const double *at) {
  double t = t0;
  for (int k = 0; k < count; k++) {
    double t_break = NAN;
    CHECK(sni_function_next_break(f, t, t1, &t_break), "break %d at %g not found", k, at[k]);
    CHECK(t_break == at[k], "break %.17g, not %.17g", t_break, at[k]);
    t = t_break;
  }
  double t_break = NAN;
  CHECK(!sni_function_next_break(f, t, t1, &t_break), "a break too many, %.17g", t_break);
  CHECK(isnan(t_break), "output touched");
}

TEST(constants) {
  const sn_function_def defs[] = {
      {0},
      {.value = 2.5},
      {.expression = "5*0.5"},
      {.key_time = (double[]){3}, .key_value = (double[]){2.5}, .nkey = 1},
      {.key_time = (double[]){3, 4},
       .key_value = (double[]){2.5, 2.5},
       .nkey = 2,
       .interpolation = SN_INTERPOLATE_CUBIC}};
  for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++) {
    sni_function *f = build(defs[i]);
    CHECK(sni_function_is_constant(f), "%zu", i);
    for (int t = -5; t <= 5; t++) {
      check_eval(f, t, t, i == 0 ? 0 : 2.5, 0, 0);
    }
    check_breaks(f, -10, 10, 0, NULL);
    sni_function_free(&f);
    CHECK(f == NULL, "free sets NULL");
  }
}

TEST(expressions) {
  sni_function *f = build((sn_function_def){.expression = "if(t < 1, t^2, 3 - t)"});
  CHECK(!sni_function_is_constant(f), "constant");
  check_eval(f, 0.5, 0.5, 0.25, 1, 2);
  check_eval(f, 2, 2, 1, -1, 0);
  check_breaks(f, 0, 10, 1, (double[]){1});
  /* both sides of the jump */
  check_eval(f, 1, 0.6, 1, 2, 2);
  check_eval(f, 1, 1.4, 2, -1, 0);
  check_eval(f, 1, 1, 2, -1, 0);

  /* a copy of the block is a function */
  const size_t size = sni_function_size(f);
  sni_function *copy = malloc(size);
  memcpy(copy, f, size);
  sni_function_free(&f);
  check_eval(copy, 2, 2, 1, -1, 0);
  free(copy);
}

/* An asymmetric reference: the middle of floor(2*sin(t)) between pi/6 and 5 pi/6 is its crest. */
TEST(reference_inside_an_interval) {
  sni_function *f = build((sn_function_def){.expression = "floor(2*sin(t))"});
  double a = 0, b = 0, out[3];
  CHECK(sni_function_next_break(f, 0.1, 3, &a) && sni_function_next_break(f, a, 3, &b), "breaks");
  const double t_ref = sni_function_inside(a, b);
  CHECK(t_ref > a && t_ref < b, "%g", t_ref);
  sni_function_eval(f, 0.5 * (a + b), t_ref, out);
  CHECK(out[0] == 1, "%g", out[0]);
  sni_function_free(&f);
}

static const double key_time[] = {0, 1, 3, 3.5, 6}, key_value[] = {1, 2, -1, -1, 4};
#define NKEY 5

static sni_function *build_keys(sn_interpolation interpolation) {
  return build((sn_function_def){
      .key_time = key_time, .key_value = key_value, .nkey = NKEY, .interpolation = interpolation});
}

TEST(step_keys) {
  sni_function *f = build_keys(SN_INTERPOLATE_STEP);
  check_eval(f, -7, -7, 1, 0, 0);
  check_eval(f, 0, 0, 1, 0, 0);
  check_eval(f, 0.99, 0.99, 1, 0, 0);
  check_eval(f, 1, 0.5, 1, 0, 0);
  check_eval(f, 1, 1, 2, 0, 0);
  check_eval(f, 1, 2, 2, 0, 0);
  check_eval(f, 3.2, 3.2, -1, 0, 0);
  check_eval(f, 6, 5, -1, 0, 0);
  check_eval(f, 6, 6, 4, 0, 0);
  check_eval(f, 100, 100, 4, 0, 0);
  check_breaks(f, -10, 10, 3, (double[]){1, 3, 6}); /* nothing happens at 0 and 3.5 */
  check_breaks(f, 1, 6, 2, (double[]){3, 6});
  check_breaks(f, 1, 2.9, 0, NULL);
  sni_function_free(&f);
}

TEST(linear_keys) {
  sni_function *f = build_keys(SN_INTERPOLATE_LINEAR);
  check_eval(f, -7, -7, 1, 0, 0);
  check_eval(f, 0, -1, 1, 0, 0);
  check_eval(f, 0, 0.5, 1, 1, 0);
  check_eval(f, 0.25, 0.25, 1.25, 1, 0);
  check_eval(f, 1, 0.5, 2, 1, 0);
  check_eval(f, 1, 2, 2, -1.5, 0);
  check_eval(f, 2, 2, 0.5, -1.5, 0);
  check_eval(f, 3.2, 3.2, -1, 0, 0);
  check_eval(f, 6, 5, 4, 2, 0);
  check_eval(f, 6, 6, 4, 0, 0);
  check_eval(f, 1e9, 1e9, 4, 0, 0);
  check_breaks(f, -10, 10, 5, key_time);
  sni_function_free(&f);

  /* no kink at a key on a straight line */
  f = build((sn_function_def){
      .key_time = (double[]){0, 1, 2, 3, 4}, .key_value = (double[]){0, 1, 2, 3, 3}, .nkey = 5});
  check_breaks(f, -1, 10, 2, (double[]){0, 3});
  sni_function_free(&f);
}

/* The natural spline by its definition: passes through the keys, second derivative 0 at the ends,
 * value and two derivatives continuous between, the third constant on each piece. */
TEST(cubic_keys) {
  sni_function *f = build_keys(SN_INTERPOLATE_CUBIC);
  double left[3], right[3];
  for (int k = 0; k < NKEY; k++) {
    const double t = key_time[k];
    sni_function_eval(f, t, t - 0.1, left);
    sni_function_eval(f, t, t + 0.1, right);
    CHECK(left[0] == key_value[k] && right[0] == key_value[k], "key %d: %g %g", k, left[0],
          right[0]);
    if (k == 0 || k == NKEY - 1) {
      const double *inside = k == 0 ? right : left, *outside = k == 0 ? left : right;
      CHECK(inside[1] != 0 && inside[2] == 0 && outside[1] == 0 && outside[2] == 0, "end %d", k);
    } else {
      CHECK(fabs(left[1] - right[1]) < 1e-14 && left[2] == right[2], "key %d: %g %g, %g %g", k,
            left[1], right[1], left[2], right[2]);
    }
  }
  /* v'' is linear on a piece, so v' and v follow from it and the start by exact integrals */
  for (int k = 0; k < NKEY - 1; k++) {
    const double h = key_time[k + 1] - key_time[k], ref = key_time[k] + 0.3 * h;
    double start[3], end[3], out[3];
    sni_function_eval(f, key_time[k], ref, start);
    sni_function_eval(f, key_time[k + 1], ref, end);
    for (int i = 0; i <= 8; i++) {
      const double x = i * h / 8, jerk = (end[2] - start[2]) / h;
      sni_function_eval(f, key_time[k] + x, ref, out);
      const double dd = start[2] + jerk * x, d = start[1] + start[2] * x + jerk * x * x / 2;
      const double v = start[0] + start[1] * x + start[2] * x * x / 2 + jerk * x * x * x / 6;
      CHECK(fabs(out[0] - v) < 1e-13 && fabs(out[1] - d) < 1e-13 && fabs(out[2] - dd) < 1e-13,
            "piece %d at %g: (%g, %g, %g), not (%g, %g, %g)", k, x, out[0], out[1], out[2], v, d,
            dd);
    }
  }
  check_eval(f, -5, -5, 1, 0, 0);
  check_eval(f, 50, 50, 4, 0, 0);
  check_breaks(f, -10, 10, 2, (double[]){0, 6});
  sni_function_free(&f);

  /* two keys are a line; keys on a line stay on it */
  f = build((sn_function_def){.key_time = (double[]){1, 3},
                              .key_value = (double[]){2, 6},
                              .nkey = 2,
                              .interpolation = SN_INTERPOLATE_CUBIC});
  check_eval(f, 1.5, 1.5, 3, 2, 0);
  sni_function_free(&f);
  f = build((sn_function_def){.key_time = (double[]){0, 1, 3, 7},
                              .key_value = (double[]){1, 3, 7, 15},
                              .nkey = 4,
                              .interpolation = SN_INTERPOLATE_CUBIC});
  check_eval(f, 2.5, 2.5, 6, 2, 0);
  sni_function_free(&f);
}

/* The spline of a smooth function comes closer with the fourth power of the distance of keys, away
 * from the ends, where the natural condition is wrong. */
TEST(cubic_order) {
  double error[2];
  for (int level = 0; level < 2; level++) {
    const int n = level ? 81 : 41;
    double t[81], v[81], out[3];
    for (int k = 0; k < n; k++) {
      t[k] = 6.0 * k / (n - 1);
      v[k] = sin(2 * t[k]);
    }
    sni_function *f = build((sn_function_def){
        .key_time = t, .key_value = v, .nkey = n, .interpolation = SN_INTERPOLATE_CUBIC});
    error[level] = 0;
    for (int i = 0; i < 200; i++) {
      const double x = 2 + 0.01 * i;
      sni_function_eval(f, x, x, out);
      error[level] = fmax(error[level], fabs(out[0] - sin(2 * x)));
    }
    sni_function_free(&f);
  }
  const double order = log2(error[0] / error[1]);
  CHECK(order > 3.8 && order < 4.2, "order %g, errors %g %g", order, error[0], error[1]);
}

TEST(many_keys_are_found) {
  enum { N = 10000 };
  double *t = malloc(N * sizeof *t), *v = malloc(N * sizeof *v);
  for (int k = 0; k < N; k++) {
    t[k] = k * 0.01;
    v[k] = (k * 7919) % 101;
  }
  sni_function *f = build((sn_function_def){.key_time = t, .key_value = v, .nkey = N});
  uint64_t seed = 5;
  for (int i = 0; i < 10000; i++) {
    const int k = (int)(test_random_u64(&seed) % (N - 1));
    const double s = test_random(&seed, 0.01, 0.99), x = t[k] + s * (t[k + 1] - t[k]);
    double out[3];
    sni_function_eval(f, x, x, out);
    /* s from x is good to eps x / 0.01 */
    CHECK(fabs(out[0] - (v[k] + s * (v[k + 1] - v[k]))) < 1e-9, "key %d", k);
  }
  sni_function_free(&f);
  free(t);
  free(v);
}

static void check_refused(sn_function_def def, sn_status code, int column, const char *message) {
  sni_function *f = NULL;
  sn_error err;
  const sn_status status = sni_function_build(&def, &f, &err);
  CHECK(status == code && f == NULL, "status %d, not %d, for \"%s\"", status, code, message);
  CHECK(strcmp(err.text, message) == 0, "\"%s\", not \"%s\"", err.text, message);
  CHECK(err.column == column, "column %d, not %d", err.column, column);
}

TEST(refused) {
  check_refused((sn_function_def){.value = NAN}, SN_E_VALUE, 0,
                "value is nan, needs a finite number");
  check_refused((sn_function_def){.expression = "2*tt"}, SN_E_SYNTAX, 3,
                "unknown name 'tt' (known here: t, pi, deg, e)");
  check_refused((sn_function_def){.expression = "t", .value = 1}, SN_E_VALUE, 0,
                "a time function is one of number, expression, keyframes and CSV column");
  check_refused((sn_function_def){.expression = "t", .csv_file = "a", .csv_column = "b"},
                SN_E_VALUE, 0,
                "a time function is one of number, expression, keyframes and CSV column");
  check_refused((sn_function_def){.key_time = key_time, .key_value = key_value}, SN_E_VALUE, 0,
                "keyframes need at least one key with time and value");
  check_refused((sn_function_def){.nkey = 2}, SN_E_VALUE, 0,
                "keyframes need at least one key with time and value");
  check_refused((sn_function_def){.key_time = key_time, .key_value = key_value, .nkey = -1},
                SN_E_VALUE, 0, "keyframes need at least one key with time and value");
  check_refused(
      (sn_function_def){.key_time = (double[]){0, 0.5, 0.25}, .key_value = key_value, .nkey = 3},
      SN_E_VALUE, 0, "key 3 has time 0.25 after 0.5, times need to increase from key to key");
  check_refused(
      (sn_function_def){.key_time = (double[]){0, 0.5, 0.5}, .key_value = key_value, .nkey = 3},
      SN_E_VALUE, 0, "key 3 has time 0.5 after 0.5, times need to increase from key to key");
  check_refused(
      (sn_function_def){.key_time = (double[]){0, NAN}, .key_value = key_value, .nkey = 2},
      SN_E_VALUE, 0, "key 2 is [nan, 2], needs finite numbers");
  check_refused(
      (sn_function_def){.key_time = key_time, .key_value = (double[]){0, INFINITY}, .nkey = 2},
      SN_E_VALUE, 0, "key 2 is [1, inf], needs finite numbers");
  check_refused((sn_function_def){.key_time = (double[]){0, 1e-10},
                                  .key_value = (double[]){0, 1e300},
                                  .nkey = 2},
                SN_E_VALUE, 0, "the slope from key 1 to key 2 is too large");
  check_refused((sn_function_def){.key_time = (double[]){0, 1e-160, 2e-160},
                                  .key_value = (double[]){0, 1, 0},
                                  .nkey = 3,
                                  .interpolation = SN_INTERPOLATE_CUBIC},
                SN_E_VALUE, 0, "the bend at key 2 is too large");
  check_refused((sn_function_def){.key_time = key_time,
                                  .key_value = key_value,
                                  .nkey = 2,
                                  .interpolation = (sn_interpolation)7},
                SN_E_ARGUMENT, 0, "interpolation is 7, needs an sn_interpolation");
  check_refused((sn_function_def){.csv_file = "a.csv"}, SN_E_VALUE, 0, "the file needs a column");
  check_refused((sn_function_def){.csv_column = "a"}, SN_E_VALUE, 0, "the column needs a CSV file");
  check_refused((sn_function_def){.csv_file = "no-such-file.csv", .csv_column = "a"}, SN_E_FILE, 0,
                "no-such-file.csv: No such file or directory");
}

/* A file in the working directory of the test, gone afterwards. */
static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  CHECK(file, "cannot write %s", path);
  fputs(text, file);
  fclose(file);
}

TEST(csv_columns) {
  const char *path = "test_function.csv";
  write_file(path, "t, a, b\n# knee\n0, 1, 5\n1, 2, 6\n3, -1, 7\n3.5, -1, 5\n6, 4, 5\n");
  const sn_interpolation all[] = {SN_INTERPOLATE_LINEAR, SN_INTERPOLATE_STEP, SN_INTERPOLATE_CUBIC};
  for (int i = 0; i < 3; i++) {
    sni_function *f =
        build((sn_function_def){.csv_file = path, .csv_column = "a", .interpolation = all[i]});
    sni_function *keys = build_keys(all[i]);
    CHECK(sni_function_size(f) == sni_function_size(keys), "size");
    for (int k = -10; k < 80; k++) {
      const double t = 0.1 * k;
      double x[3], y[3];
      sni_function_eval(f, t, t, x);
      sni_function_eval(keys, t, t, y);
      CHECK(x[0] == y[0] && x[1] == y[1] && x[2] == y[2], "at %g", t);
    }
    sni_function_free(&f);
    sni_function_free(&keys);
  }
  check_refused((sn_function_def){.csv_file = path, .csv_column = "c"}, SN_E_VALUE, 0,
                "test_function.csv: no column 'c'");
  write_file(path, "time, a\n0, 1\n");
  check_refused((sn_function_def){.csv_file = path, .csv_column = "a"}, SN_E_VALUE, 0,
                "test_function.csv: the first column is 'time', needs to be the time 't'");
  write_file(path, "t, a\n0, 1\n# again\n\n0.5, 2\n0.5, 3\n");
  check_refused((sn_function_def){.csv_file = path, .csv_column = "a"}, SN_E_VALUE, 0,
                "test_function.csv line 6, column 't': 0.5 after 0.5, times need to increase");
  write_file(path, "t, a\n0, 1\n1e-10, 1e300\n");
  check_refused((sn_function_def){.csv_file = path, .csv_column = "a"}, SN_E_VALUE, 0,
                "test_function.csv, column 'a': the slope from key 1 to key 2 is too large");
  write_file(path, "t, a\n0, x\n");
  check_refused((sn_function_def){.csv_file = path, .csv_column = "a"}, SN_E_VALUE, 0,
                "test_function.csv line 2, column 'a': 'x' is not a number");
  unlink(path);
}

/* Bounds hold whatever happens in between; on short intervals they are tight. */
TEST(bounds_hold) {
  static const double time[] = {0, 0.1, 0.15, 0.4, 1, 1.2, 2}, value[] = {1, 3, -2, 0, 5, 5, 4};
  const sn_function_def def[] = {
      {.expression = "sin(3*t) - t*cos(t)^2"},
      {.expression = "exp(-((t - 0.7)/0.01)^2)"},
      {.expression = "t^3 - 2*t^2 + 1/(t + 1)"},
      {.expression = "if(t < 5, tanh(20*(t - 1)), 0)"},
      {.key_time = time, .key_value = value, .nkey = 7, .interpolation = SN_INTERPOLATE_CUBIC}};
  uint64_t seed = 7;
  for (size_t i = 0; i < sizeof def / sizeof def[0]; i++) {
    sni_function *f = build(def[i]);
    for (int trial = 0; trial < 400; trial++) {
      const double t0 = test_random(&seed, 0, 2), h = (2 - t0) * pow(10, test_random(&seed, -5, 0));
      double bounds[2][2];
      sni_function_bounds(f, t0, t0 + h, t0 + 0.4 * h, bounds[0], bounds[1]);
      for (int k = 0; k <= 20; k++) {
        double out[3];
        sni_function_eval(f, t0 + 0.05 * k * h, t0 + 0.4 * h, out);
        for (int order = 0; order < 2; order++) {
          const double rounding = 1e-12 * (1 + fabs(out[order]));
          CHECK(out[order] >= bounds[order][0] - rounding &&
                    out[order] <= bounds[order][1] + rounding,
                "function %zu, order %d, [%g, %g]: %.17g is not in [%.17g, %.17g]", i, order, t0,
                t0 + h, out[order], bounds[order][0], bounds[order][1]);
        }
      }
      CHECK(h > 1e-4 || bounds[0][1] - bounds[0][0] < 1e3 * h, "function %zu: [%g, %g] over %g", i,
            bounds[0][0], bounds[0][1], h);
    }
    sni_function_free(&f);
  }
}

TEST(a_pulse_between_two_looks_is_found) {
  const double ends[] = {0, 1}, three[] = {0, 0.5, 1};
  sni_function *f = build((sn_function_def){.expression = "exp(-((t - 0.3)/1e-6)^2)"});
  CHECK(sni_function_hides(f, 0, 1, 0.4, 0, ends, 2), "a bell was missed");
  CHECK(sni_function_hides(f, 0, 1, 0.4, 1, three, 3), "its slope was missed");
  CHECK(!sni_function_hides(f, 0.4, 1, 0.5, 0, ends, 2), "there is nothing behind it");
  CHECK(!sni_function_hides(f, 0, 0.6, 0.4, 0, three, 3), "it was seen, at its top");
  sni_function_free(&f);
  /* a slope is seen from its ends, whether as a line or as a jump that is nearly one */
  f = build((sn_function_def){.expression = "tanh(1e6*(t - 0.3))"});
  CHECK(!sni_function_hides(f, 0, 1, 0.4, 0, ends, 2), "both sides were seen");
  CHECK(sni_function_hides(f, 0, 1, 0.4, 1, ends, 2), "its rate was missed");
  sni_function_free(&f);
  /* a wave of which half a period is enough to know it */
  f = build((sn_function_def){.expression = "2 + sin(t)"});
  CHECK(!sni_function_hides(f, 0, 1.5, 1, 0, three, 3), "a quarter of a period was seen");
  CHECK(sni_function_hides(f, 0, 6.283185307179586, 1, 0, three, 3), "a period was missed");
  sni_function_free(&f);
}

int main(void) {
  RUN_TESTS(T(constants), T(expressions), T(reference_inside_an_interval), T(step_keys),
            T(linear_keys), T(cubic_keys), T(cubic_order), T(many_keys_are_found), T(refused),
            T(csv_columns), T(bounds_hold), T(a_pulse_between_two_looks_is_found));
}
