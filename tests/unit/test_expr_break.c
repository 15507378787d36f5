/* When an expression changes a branch, and its values on either side. */
#include "test.h"

#include "math/expr.h"

#define PI 3.14159265358979323846

static const char *const name_t[] = {"t"};

static sni_expr *compile(const char *text, const char *const *names, int nname) {
  sni_expr *expr = NULL;
  sn_error err;
  const sn_status status = sni_expr_compile(text, names, nname, &expr, &err);
  CHECK(status == SN_OK, "'%s': column %d: %s", text, err.column, err.text);
  return expr;
}

#define BREAKS_MAX 100

static int all_breaks(const sni_expr *expr, double t0, double t1, double *out, int most) {
  int count = 0;
  double t = t0, t_break = NAN;
  while (sni_expr_next_break(expr, t, t1, &t_break)) {
    CHECK(t_break > t && t_break <= t1, "break %.17g outside (%.17g, %.17g]", t_break, t, t1);
    CHECK(count < most, "more than %d breaks, %.17g", most, t);
    out[count++] = t = t_break;
  }
  return count;
}

/* Affine switches: to the last bit. */
TEST(breaks_of_affine_switches_are_exact) {
  const struct {
    const char *text;
    double t0, t1;
    int count;
    double at[12];
  } rows[] = {
      {"t", 0, 10, 0, {0}},
      {"sin(t)", 0, 10, 0, {0}},
      {"3 < 4", 0, 10, 0, {0}},
      {"t < 3", 0, 10, 1, {3}},
      {"t <= 3", 0, 10, 1, {3}},
      {"t > 3", 0, 10, 1, {3}},
      {"t >= 3", 0, 10, 1, {3}},
      {"3 < t", 0, 10, 1, {3}},
      {"t < 3", 0, 3, 1, {3}},
      {"t < 3", 3, 10, 0, {0}},
      {"t < 3", 0, 2.9999999999999996, 0, {0}},
      {"t < 3", -10, 0, 0, {0}},
      {"t < 0", -10, 10, 1, {0}},
      {"t >= 0.1*3", 0, 10, 1, {0.1 * 3}},
      {"t >= 0.3", 0, 10, 1, {0.3}},
      {"2*t < 0.6", 0, 10, 1, {0.3}},
      {"3*t < 1", 0, 10, 1, {1.0 / 3}},
      {"1 - t/4 > t", 0, 10, 1, {0.8}},
      {"step(t-2)", 0, 10, 1, {2}},
      {"sign(5-t)", 0, 10, 1, {5}},
      {"abs(t-0.7)", 0, 10, 1, {0.7}},
      {"min(t, 4)", 0, 10, 1, {4}},
      {"max(t, 4, 6)", 0, 10, 2, {4, 6}},
      {"clamp(t, 1, 2.5)", 0, 10, 2, {1, 2.5}},
      {"smoothstep(0.1, 0.3, t)", 0, 10, 2, {0.1, 0.3}},
      {"smoothstep(0.3, 0.1, t)", 0, 10, 2, {0.1, 0.3}},
      {"smoothstep(2, 2, t)", 0, 10, 1, {2}},
      {"floor(t)", 0, 4.5, 4, {1, 2, 3, 4}},
      {"floor(-t)", 0, 4.5, 4, {1, 2, 3, 4}},
      {"floor(10*t)", 0, 0.75, 7, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}},
      {"floor(3*t)", 0, 1.1, 3, {1.0 / 3, 2.0 / 3, 1}},
      {"floor(3 - 7*t)", 0, 0.5, 3, {1.0 / 7, 2.0 / 7, 3.0 / 7}},
      {"floor(t)", -2.5, 0.5, 3, {-2, -1, 0}},
      {"t - floor(t) < 0.5", 0, 2.2, 4, {0.5, 1, 1.5, 2}},
      {"abs(abs(t-2)-1)", 0, 10, 3, {1, 2, 3}},
      {"if(t < 1, floor(100*t), 0)", 0.955, 10, 5, {0.96, 0.97, 0.98, 0.99, 1}},
      {"t < 1 ? 0 : t < 2 ? 1 : t < 3 ? 2 : 3", 0, 10, 3, {1, 2, 3}},
      {"not t < 3", 0, 10, 1, {3}},
      {"t > 1 and t < 2", 0, 10, 2, {1, 2}},
      {"if(t, 1, 2)", -10, 10, 0, {0}},
      {"min(t, 2*t, 3)", -1, 10, 2, {0, 3}},
      {"abs(0*t)", 0, 10, 0, {0}},
      {"step(t-1)*sin(t)", 0, 10, 1, {1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double at[BREAKS_MAX];
    sni_expr *expr = compile(rows[i].text, name_t, 1);
    const int count = all_breaks(expr, rows[i].t0, rows[i].t1, at, BREAKS_MAX);
    CHECK(count == rows[i].count, "'%s': %d breaks, not %d", rows[i].text, count, rows[i].count);
    for (int k = 0; k < count; k++) {
      CHECK(at[k] == rows[i].at[k], "'%s': break %.17g, not %.17g", rows[i].text, at[k],
            rows[i].at[k]);
    }
    sni_expr_free(&expr);
  }
}

/* Others: the root of the guard as evaluated, so a few last bits of the exact root. */
TEST(breaks_of_smooth_switches) {
  const double pi = PI;
  const struct {
    const char *text;
    double t0, t1;
    int count;
    double at[12];
  } rows[] = {
      {"sin(t) > 0", 0, 10, 3, {pi, 2 * pi, 3 * pi}},
      {"sin(t) >= 0", 0, 10, 3, {pi, 2 * pi, 3 * pi}},
      {"sign(sin(2*pi*t))", 0, 2.25, 4, {0.5, 1, 1.5, 2}},
      {"abs(cos(t))", 0, 5, 2, {pi / 2, 3 * pi / 2}},
      {"cos(pi/2 + t) > 0", 0, 4, 1, {pi}},
      {"sin(t) > 0.9999999", 0, 3, 2, {1.5703491130, 1.5712435406}},
      {"t^2 < 4", 0, 10, 1, {2}},
      {"t^2 <= 4", 0, 10, 1, {2}},
      {"t^2 <= 4", 0, 2, 1, {2}},
      {"t^2 <= 4", 2, 10, 0, {0}},
      {"sin(t) < t", -1, 1, 1, {0}},
      {"t*t*t > 0", -1, 1, 1, {0}},
      {"t^3 > 0", 0, 1, 0, {0}},
      {"sin(t) >= 1", 0, 10, 0, {0}},
      {"sin(t) <= 2", 0, 1e6, 0, {0}},
      {"sin(50*t) + 0.5*sin(31*t) > 1.6", 0, 60, 0, {0}},
      {"exp(t) > 10", 0, 10, 1, {2.302585092994046}},
      {"log(t) > 1", 0, 10, 1, {2.718281828459045}},
      {"sqrt(t) > 2", 0, 10, 1, {4}},
      {"tan(t) > 1", 0, 1.5, 1, {pi / 4}},
      {"asin(t) > 0.5", -1, 1, 1, {0.479425538604203}},
      {"acos(t) > 0.5", -1, 1, 1, {0.8775825618903728}},
      {"atan(t) > 0.5", -1, 1, 1, {0.5463024898437905}},
      {"sinh(t) > 1", 0, 10, 1, {0.881373587019543}},
      {"cosh(t) > 2", -10, 10, 2, {-1.3169578969248166, 1.3169578969248166}},
      {"tanh(t) > 0.5", 0, 10, 1, {0.5493061443340549}},
      {"2^t > 3", 0, 10, 1, {1.5849625007211562}},
      {"t^0.5 > 2", 0, 10, 1, {4}},
      {"t^-2 > 0.25", 0.1, 10, 1, {2}},
      {"hypot(t, 3) > 5", -10, 10, 2, {-4, 4}},
      {"1/t < 0.25", 1, 10, 1, {4}},
      {"atan2(sin(t), cos(t))", 0.5, 9, 2, {pi, 2 * pi}},
      {"floor(2*sin(t))", 0.1, 3.1, 2, {pi / 6, 5 * pi / 6}},
      {"floor(t^2)", 0, 2.1, 4, {1, 1.4142135623730951, 1.7320508075688772, 2}},
      {"clamp(10*sin(t), -5, 5)", 0, 4, 3, {pi / 6, 5 * pi / 6, pi + pi / 6}},
      {"min(sin(t), cos(t))", 0, 4, 2, {pi / 4, 5 * pi / 4}},
      {"smoothstep(0, 1, t^2)", 0.5, 10, 1, {1}},
      {"abs(sin(t)) > 0.5", 0.1, 3, 2, {pi / 6, 5 * pi / 6}},
      {"if(sin(t) > 0, floor(t), 7)", 0.5, 6, 4, {1, 2, 3, pi}},
      {"(t-1)^2*(t-2) < 0", 0, 3, 1, {2}},
      {"hypot(t-1, 0.001) < 0.002", 0, 3, 2, {0.9982679491924311, 1.0017320508075689}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double at[BREAKS_MAX];
    sni_expr *expr = compile(rows[i].text, name_t, 1);
    const int count = all_breaks(expr, rows[i].t0, rows[i].t1, at, BREAKS_MAX);
    CHECK(count == rows[i].count, "'%s': %d breaks, not %d (%.17g, %.17g)", rows[i].text, count,
          rows[i].count, at[0], at[1]);
    for (int k = 0; k < count; k++) {
      /* sin(t) > 0.9999999 is flat where it crosses: eps / slope; the cube root of eps for (..)^2
       */
      const double tol = strstr(rows[i].text, "0.9999999")    ? 1e-9
                         : strstr(rows[i].text, "sin(t) < t") ? 1e-7
                                                              : 1e-15;
      CHECK(fabs(at[k] - rows[i].at[k]) <= tol * (1 + 4 * fabs(rows[i].at[k])),
            "'%s': break %.17g, not %.17g", rows[i].text, at[k], rows[i].at[k]);
    }
    sni_expr_free(&expr);
  }
}

/* The first of many thousand breaks is found as fast as the only one, and none is jumped over. */
TEST(breaks_of_fast_switches_over_long_times) {
  sni_expr *expr = compile("sign(sin(2*pi*50*t))", name_t, 1);
  double t = 0;
  for (int k = 1; k <= 2000; k++) {
    double t_break = 0;
    CHECK(sni_expr_next_break(expr, t, 1000, &t_break), "break %d not found", k);
    CHECK(fabs(t_break - k * 0.01) < 1e-12, "break %d at %.17g", k, t_break);
    t = t_break;
  }
  sni_expr_free(&expr);
}

static sni_jet jet_from(const sni_expr *expr, double t, double t_ref) {
  return sni_expr_eval_jet_from(expr, &(sni_jet){t, 1, 0}, &t_ref);
}

TEST(one_sided_values) {
  const struct {
    const char *text;
    double t; /* the break                        */
    double left[3], right[3];
  } rows[] = {
      {"t < 3", 3, {1, 0, 0}, {0, 0, 0}},
      {"t <= 3", 3, {1, 0, 0}, {0, 0, 0}},
      {"t > 3", 3, {0, 0, 0}, {1, 0, 0}},
      {"t >= 3", 3, {0, 0, 0}, {1, 0, 0}},
      {"if(t < 3, t^2, 10*t)", 3, {9, 6, 2}, {30, 10, 0}},
      {"t < 3 ? t^2 : 10*t", 3, {9, 6, 2}, {30, 10, 0}},
      {"step(t-3)", 3, {0, 0, 0}, {1, 0, 0}},
      {"sign(t-3)", 3, {-1, 0, 0}, {1, 0, 0}},
      {"abs(t-3)", 3, {0, -1, 0}, {0, 1, 0}},
      {"abs(3-t)", 3, {0, -1, 0}, {0, 1, 0}},
      {"floor(t)", 3, {2, 0, 0}, {3, 0, 0}},
      {"floor(-t)", 3, {-3, 0, 0}, {-4, 0, 0}},
      {"t - floor(t)", 3, {1, 1, 0}, {0, 1, 0}},
      {"min(t, 3)", 3, {3, 1, 0}, {3, 0, 0}},
      {"max(t, 3)", 3, {3, 0, 0}, {3, 1, 0}},
      {"clamp(t, 0, 3)", 3, {3, 1, 0}, {3, 0, 0}},
      {"clamp(t, 3, 9)", 3, {3, 0, 0}, {3, 1, 0}},
      {"smoothstep(2, 3, t)", 3, {1, 0, -6}, {1, 0, 0}},
      {"smoothstep(3, 4, t)", 3, {0, 0, 0}, {0, 0, 6}},
      {"atan2(t-3, -1)", 3, {-PI, -1, 0}, {PI, -1, 0}},
      {"atan2(3-t, -1)", 3, {PI, 1, 0}, {-PI, 1, 0}},
      {"(t < 3)*t", 3, {3, 1, 0}, {0, 0, 0}},
      {"if(t < 3 and t > 1, t, -t)", 3, {3, 1, 0}, {-3, -1, 0}},
      {"if(not t < 3, t, -t)", 3, {-3, -1, 0}, {3, 1, 0}},
      {"sqrt(abs(t-3) + 4)", 3, {2, -0.25, -0.03125}, {2, 0.25, -0.03125}},
      {"if(t < 3, 1, 0)*if(floor(t) < 3, 5, 7)", 3, {5, 0, 0}, {0, 0, 0}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    sni_expr *expr = compile(rows[i].text, name_t, 1);
    const double t = rows[i].t;
    const double refs[2] = {t - 0.25, t + 0.25};
    for (int side = 0; side < 2; side++) {
      const sni_jet jet = jet_from(expr, t, refs[side]);
      const double *want = side ? rows[i].right : rows[i].left;
      CHECK(fabs(jet.v - want[0]) < 1e-15 && jet.d == want[1] && jet.dd == want[2],
            "'%s' %s of %g: (%g, %g, %g), not (%g, %g, %g)", rows[i].text, side ? "right" : "left",
            t, jet.v, jet.d, jet.dd, want[0], want[1], want[2]);
    }
    sni_expr_free(&expr);
  }
}

/* Two sides that touch to fifth order: whether max changes there is rounding, but the search has to
 * come past without a crowd of breaks.  Near-ties cost at most one false break in 4096 steps of
 * 1e-6 of the way, hence a few dozen; without that rule they are thousands. */
TEST(flat_zeros_are_passed) {
  const char *const texts[] = {"max(t, sinh(sin(t)))",          "step(tanh(t) - atan(t))",
                               "sign(sin(t)^2 + cos(t)^2 - 1)", "abs(t^3 - 3*t^2 + 3*t - 1)",
                               "if(sin(t) >= 1, 1, 0)",         "floor(2*sin(t)^2 + 2*cos(t)^2)"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    double at[BREAKS_MAX];
    sni_expr *expr = compile(texts[i], name_t, 1);
    const int count = all_breaks(expr, -3, 3, at, BREAKS_MAX);
    CHECK(count <= 30, "'%s': %d breaks", texts[i], count);
    sni_expr_free(&expr);
  }
}

int main(void) {
  RUN_TESTS(T(breaks_of_affine_switches_are_exact), T(breaks_of_smooth_switches),
            T(breaks_of_fast_switches_over_long_times), T(one_sided_values),
            T(flat_zeros_are_passed));
}
