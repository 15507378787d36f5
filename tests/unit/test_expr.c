/* Expressions: values, derivatives, messages, limits. */
#include "test.h"

#include "math/expr.h"

#include <float.h>

#define PI 3.14159265358979323846

static const char *const name_t[] = {"t"};
static const char *const names_txy[] = {"t", "x", "y"};

static sni_expr *compile(const char *text, const char *const *names, int nname) {
  sni_expr *expr = NULL;
  sn_error err;
  const sn_status status = sni_expr_compile(text, names, nname, &expr, &err);
  CHECK(status == SN_OK, "'%s': column %d: %s", text, err.column, err.text);
  return expr;
}

static double value_of(const char *text, double t) {
  sni_expr *expr = compile(text, name_t, 1);
  const double value = sni_expr_eval(expr, &t);
  const sni_jet jet = sni_expr_eval_jet(expr, &(sni_jet){t, 1, 0});
  CHECK(jet.v == value || (isnan(jet.v) && isnan(value)), "'%s' at %g: jet %g, value %g", text, t,
        jet.v, value);
  sni_expr_free(&expr);
  return value;
}

static sni_jet jet_of(const char *text, double t) {
  sni_expr *expr = compile(text, name_t, 1);
  const sni_jet jet = sni_expr_eval_jet(expr, &(sni_jet){t, 1, 0});
  sni_expr_free(&expr);
  return jet;
}

/* ---- Values */

/* One operation each, or a chain whose order is fixed: equal to C to the last bit. */
TEST(values_are_those_of_C) {
  const double t = 0.7, pi = PI;
  const struct {
    const char *text;
    double value;
  } rows[] = {
      {"1", 1},
      {".5", .5},
      {"2.", 2},
      {"1e-3", 1e-3},
      {"1.5E+2", 150},
      {"0.1", 0.1},
      {"3.14159265358979323846", 3.14159265358979323846},
      {"t", t},
      {" \t t \n", t},
      {"pi", pi},
      {"e", 2.71828182845904523536},
      {"-120*deg", -120 * (pi / 180)},
      {"2*pi/3", 2 * pi / 3},
      {"t+1", t + 1},
      {"1-t", 1 - t},
      {"3*t", 3 * t},
      {"t/3", t / 3},
      {"t^2.5", pow(t, 2.5)},
      {"-t", -t},
      {"+t", t},
      {"sin(t)", sin(t)},
      {"cos(t)", cos(t)},
      {"tan(t)", tan(t)},
      {"asin(t)", asin(t)},
      {"acos(t)", acos(t)},
      {"atan(t)", atan(t)},
      {"atan2(t, -2)", atan2(t, -2)},
      {"atan2(-t, -2)", atan2(-t, -2)},
      {"sinh(t)", sinh(t)},
      {"cosh(t)", cosh(t)},
      {"tanh(t)", tanh(t)},
      {"exp(t)", exp(t)},
      {"log(t)", log(t)},
      {"sqrt(t)", sqrt(t)},
      {"pow(t, 3)", pow(t, 3)},
      {"hypot(t, 2)", hypot(t, 2)},
      {"abs(-t)", t},
      {"abs(t)", t},
      {"sign(-t)", -1},
      {"sign(t)", 1},
      {"sign(t-t)", 0},
      {"floor(-t)", -1},
      {"floor(10*t)", floor(10 * t)},
      {"min(t, 1)", t},
      {"min(3, t, 0.5, 2)", 0.5},
      {"max(t, 1)", 1},
      {"max(3, t, 0.5, 2)", 3},
      {"clamp(t, 1, 2)", 1},
      {"clamp(t, -2, 0.5)", 0.5},
      {"clamp(t, 0, 1)", t},
      {"step(t)", 1},
      {"step(-t)", 0},
      {"step(t-t)", 1},
      {"smoothstep(0, 1, t)", t * t * (3 - 2 * t)},
      {"smoothstep(1, 2, t)", 0},
      {"smoothstep(-1, 0, t)", 1},
      {"smoothstep(1, 0, t)", (1 - t) * (1 - t) * (3 - 2 * (1 - t))},
      {"smoothstep(t, t, t)", 1},
      {"smoothstep(1, 1, t)", 0},
      {"if(t < 1, 2, 3)", 2},
      {"if(t > 1, 2, 3)", 3},
      {"t < 1 ? 2 : 3", 2},
      {"t > 1 ? 2 : t > 0.5 ? 4 : 5", 4},
      {"t > 1 ? t > 2 ? 1 : 2 : 3", 3},
      {"-if(t < 1, 2, 3)", -2},
      {"if(t < 1, 2, 3)*10", 20},
      {"10*if(t < 1, 2, 3) + 1", 21},
      {"if(t, 2, 3)", 2},
      {"if(t-t, 2, 3)", 3},
      {"t < 0.7", 0},
      {"t <= 0.7", 1},
      {"t > 0.7", 0},
      {"t >= 0.7", 1},
      {"(t < 1)*5", 5},
      {"t < 1 and t > 0", 1},
      {"t < 1 && t > 0.9", 0},
      {"t > 1 or t > 0", 1},
      {"t > 1 || t > 2", 0},
      {"not t > 1", 1},
      {"not not t > 1", 0},
      {"!(t > 1)", 1},
      {"!t", 0},
      {"1 < 2 and 3 < 2 or 1 < 2", 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double value = value_of(rows[i].text, t);
    /* polynomials may be contracted differently here and there: one rounding */
    CHECK(fabs(value - rows[i].value) <= DBL_EPSILON * fabs(rows[i].value),
          "'%s': %.17g, not %.17g", rows[i].text, value, rows[i].value);
  }
}

TEST(precedence) {
  const struct {
    const char *text;
    double value;
  } rows[] = {
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^3^2", 512},
      {"2^-1", 0.5},
      {"2^-2^2", 0.0625},
      {"-2^-2", -0.25},
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"8/4/2", 1},
      {"8-4-2", 2},
      {"2*3^2", 18},
      {"8/2*4", 16},
      {"1 - -1", 2},
      {"1--1", 2},
      {"- - 3", 3},
      {"2*-3", -6},
      {"1 < 2 + 3", 1},
      {"1 + 1 < 2", 0},
      {"not 1 < 2", 0},
      {"!1 < 2", 1},
      {"1 or 0 and 0", 1},
      {"(1 or 0) and 0", 0},
      {"0 or 1 ? 2 : 3", 2},
      {"not 0 and 0", 0},
      {"not (0 and 0)", 1},
      {"-1 < 0 and 2 > 1", 1},
      {"1 ? 0 ? 5 : 6 : 7", 6},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    CHECK(value_of(rows[i].text, 0) == rows[i].value, "'%s': %g, not %g", rows[i].text,
          value_of(rows[i].text, 0), rows[i].value);
  }
}

TEST(variables_and_size) {
  sni_expr *expr = compile("y*2 + pi", names_txy, 3);
  CHECK(!sni_expr_uses(expr, 0) && !sni_expr_uses(expr, 1) && sni_expr_uses(expr, 2), "uses");
  CHECK(!sni_expr_is_constant(expr), "constant");
  CHECK(sni_expr_eval(expr, (double[]){0, 0, 3}) == 6 + 3.14159265358979323846, "value");
  /* the block has no pointers: a copy works alone */
  const size_t size = sni_expr_size(expr);
  sni_expr *copy = malloc(size);
  memcpy(copy, expr, size);
  sni_expr_free(&expr);
  CHECK(expr == NULL, "free sets NULL");
  CHECK(sni_expr_eval(copy, (double[]){0, 0, 3}) == 6 + 3.14159265358979323846, "copy");
  free(copy);

  /* a variable hides a constant of the same name, and may have the name of a function */
  expr = compile("e + step", (const char *[]){"e", "step"}, 2);
  CHECK(sni_expr_eval(expr, (double[]){10, 1}) == 11, "hidden constant");
  sni_expr_free(&expr);

  expr = compile("if(1 < 2, 2*pi, 3)", name_t, 1);
  CHECK(sni_expr_is_constant(expr), "folded");
  sni_expr_free(&expr);
}

TEST(constants_from_text) {
  double value = 0;
  sn_error err;
  CHECK(sni_expr_constant("0.25", &value, &err) == SN_OK && value == 0.25, "%g", value);
  CHECK(sni_expr_constant(" -3 ", &value, &err) == SN_OK && value == -3, "%g", value);
  CHECK(sni_expr_constant("+3", &value, &err) == SN_OK && value == 3, "%g", value);
  CHECK(sni_expr_constant("90*deg", &value, &err) == SN_OK && fabs(value - PI / 2) < 1e-15, "%g",
        value);
  CHECK(sni_expr_constant("-2^2", &value, NULL) == SN_OK && value == -4, "%g", value);
  const char *const bad[] = {"",    " ",    "nan", "inf", "-inf", "1e999",
                             "3 m", "0x10", "t",   "1/0", "1,5"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    value = 7;
    CHECK(sni_expr_constant(bad[i], &value, &err) < 0, "'%s' was taken for %g", bad[i], value);
    CHECK(value == 7, "'%s': output touched", bad[i]);
    CHECK(err.column > 0 && err.text[0], "'%s': no message", bad[i]);
  }
}

/* ---- Derivatives */

/* f' and f'' of every function by the formulas of the tables. */
TEST(derivatives_of_each_function) {
  for (int k = 1; k < 20; k++) {
    const double t = 0.05 * k;
    const double s = sin(t), c = cos(t), th = tanh(t), w = 1 - t * t;
    const struct {
      const char *text;
      double d, dd;
    } rows[] = {
        {"3", 0, 0},
        {"t", 1, 0},
        {"t*t", 2 * t, 2},
        {"1/t", -1 / (t * t), 2 / (t * t * t)},
        {"t/(1+t)", 1 / ((1 + t) * (1 + t)), -2 / pow(1 + t, 3)},
        {"t^3", 3 * t * t, 6 * t},
        {"t^1", 1, 0},
        {"t^0", 0, 0},
        {"t^-2", -2 * pow(t, -3), 6 * pow(t, -4)},
        {"(-t)^3", -3 * t * t, -6 * t},
        {"t^0.5", 0.5 / sqrt(t), -0.25 * pow(t, -1.5)},
        {"2^t", log(2) * pow(2, t), log(2) * log(2) * pow(2, t)},
        {"t^t", pow(t, t) * (log(t) + 1), pow(t, t) * ((log(t) + 1) * (log(t) + 1) + 1 / t)},
        {"sin(t)", c, -s},
        {"cos(t)", -s, -c},
        {"tan(t)", 1 / (c * c), 2 * s / (c * c * c)},
        {"asin(t)", 1 / sqrt(w), t / pow(w, 1.5)},
        {"acos(t)", -1 / sqrt(w), -t / pow(w, 1.5)},
        {"atan(t)", 1 / (1 + t * t), -2 * t / ((1 + t * t) * (1 + t * t))},
        {"atan2(t, 1)", 1 / (1 + t * t), -2 * t / ((1 + t * t) * (1 + t * t))},
        {"atan2(1, t)", -1 / (1 + t * t), 2 * t / ((1 + t * t) * (1 + t * t))},
        {"atan2(sin(3*t), cos(3*t))", 3, 0},
        {"sinh(t)", cosh(t), sinh(t)},
        {"cosh(t)", sinh(t), cosh(t)},
        {"tanh(t)", 1 - th * th, -2 * th * (1 - th * th)},
        {"exp(2*t)", 2 * exp(2 * t), 4 * exp(2 * t)},
        {"log(t)", 1 / t, -1 / (t * t)},
        {"sqrt(t)", 0.5 / sqrt(t), -0.25 / (t * sqrt(t))},
        {"hypot(t, 1)", t / hypot(t, 1), pow(1 + t * t, -1.5)},
        {"hypot(3*t, 4*t)", 5, 0},
        {"abs(-t*t)", 2 * t, 2},
        {"sign(t)", 0, 0},
        {"floor(10*t)", 0, 0},
        {"step(t)", 0, 0},
        {"min(t*t, 2)", 2 * t, 2},
        {"max(t*t, 2)", 0, 0},
        {"clamp(t*t, 0, 2)", 2 * t, 2},
        {"smoothstep(0, 2, t)", 6 * (t / 2) * (1 - t / 2) / 2, (6 - 6 * t) / 4},
        {"if(t < 2, t*t, 0)", 2 * t, 2},
        {"(t < 2)*t", 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      const sni_jet jet = jet_of(rows[i].text, t);
      /* a dozen roundings on either side, the worst of them of 1 - t^2 near 1 */
      const double tol = 1e-13 * (1 + fabs(jet.d) + fabs(jet.dd));
      CHECK(fabs(jet.d - rows[i].d) < tol && fabs(jet.dd - rows[i].dd) < tol,
            "'%s' at %g: (%.17g, %.17g), not (%.17g, %.17g)", rows[i].text, t, jet.d, jet.dd,
            rows[i].d, rows[i].dd);
    }
  }
}

/* What does not move has no derivative, even on the edge of a domain; what moves has the limit. */
TEST(derivatives_on_edges) {
  const struct {
    const char *text;
    double d, dd;
  } rows[] = {
      {"sqrt(0*t)", 0, 0},
      {"asin(1+0*t)", 0, 0},
      {"t^2", 0, 2},
      {"t^3", 0, 0},
      {"t^1", 1, 0},
      {"t^0", 0, 0},
      {"(t+0)^2.5", 0, 0},
      {"0^(t+1)", 0, 0},
      {"sqrt(t)", INFINITY, -INFINITY},
      {"hypot(t, 2*t^2)", 1, 0},
      {"hypot(3*t, 4*t)", 5, 0},
      {"hypot(t^2, 0)", 0, 2},
      {"tanh(800+t)", 0, 0},
      {"asin(t)", 1, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const sni_jet jet = jet_of(rows[i].text, 0);
    CHECK(jet.d == rows[i].d && jet.dd == rows[i].dd, "'%s' at 0: (%g, %g), not (%g, %g)",
          rows[i].text, jet.d, jet.dd, rows[i].d, rows[i].dd);
  }
}

/* Seeds other than (t, 1, 0): f(x(t), y(t)) by jets of x and y equals the jet of the whole. */
TEST(jets_compose) {
  const char *const outer[] = {"x*sin(y) + x^y", "atan2(y, x)/(1 + x*x)", "hypot(x, y) - x/y",
                               "smoothstep(0, x, y)", "exp(x*y)*cos(x - y)"};
  const char *const whole[] = {
      "(1+t^2)*sin(0.5+sin(t)^2) + (1+t^2)^(0.5+sin(t)^2)",
      "atan2(0.5+sin(t)^2, 1+t^2)/(1 + (1+t^2)*(1+t^2))",
      "hypot(1+t^2, 0.5+sin(t)^2) - (1+t^2)/(0.5+sin(t)^2)",
      "smoothstep(0, 1+t^2, 0.5+sin(t)^2)",
      "exp((1+t^2)*(0.5+sin(t)^2))*cos(1+t^2 - (0.5+sin(t)^2))",
  };
  for (size_t i = 0; i < sizeof outer / sizeof outer[0]; i++) {
    sni_expr *f = compile(outer[i], names_txy, 3);
    for (int k = -5; k <= 5; k++) {
      const double t = 0.1 * k;
      const sni_jet vars[] = {{t, 1, 0}, jet_of("1+t^2", t), jet_of("0.5+sin(t)^2", t)};
      const sni_jet a = sni_expr_eval_jet(f, vars), b = jet_of(whole[i], t);
      const double scale = 1 + fabs(b.v) + fabs(b.d) + fabs(b.dd); /* same sums, other order */
      CHECK(fabs(a.v - b.v) + fabs(a.d - b.d) + fabs(a.dd - b.dd) < 1e-14 * scale,
            "'%s' at %g: (%g, %g, %g), not (%g, %g, %g)", outer[i], t, a.v, a.d, a.dd, b.v, b.d,
            b.dd);
    }
    sni_expr_free(&f);
  }
}

/* ---- Messages */

static void check_message(const char *text, sn_status code, int column, const char *message) {
  sni_expr *expr = NULL;
  sn_error err;
  const sn_status status = sni_expr_compile(text, name_t, 1, &expr, &err);
  CHECK(status == code && err.code == code, "'%.60s': status %d, not %d (%s)", text, status, code,
        status ? err.text : "");
  CHECK(expr == NULL, "'%.60s': output touched", text);
  CHECK(err.column == column, "'%.60s': column %d, not %d (%s)", text, err.column, column,
        err.text);
  CHECK(strcmp(err.text, message) == 0, "'%.60s': \"%s\", not \"%s\"", text, err.text, message);
  CHECK(sni_expr_compile(text, name_t, 1, &expr, NULL) == code, "without err");
}

TEST(messages_have_columns) {
  const struct {
    const char *text;
    int code, column;
    const char *message;
  } rows[] = {
      {"", SN_E_SYNTAX, 1, "empty expression, needs a number or a formula"},
      {"  ", SN_E_SYNTAX, 1, "empty expression, needs a number or a formula"},
      {"2*tt", SN_E_SYNTAX, 3, "unknown name 'tt' (known here: t, pi, deg, e)"},
      {"inf", SN_E_SYNTAX, 1, "unknown name 'inf' (known here: t, pi, deg, e)"},
      {"1 + foo(t)", SN_E_SYNTAX, 5,
       "unknown function 'foo' (known here: sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, "
       "tanh, exp, log, sqrt, pow, hypot, abs, sign, floor, min, max, clamp, step, smoothstep, "
       "if)"},
      {"1 + t(2)", SN_E_SYNTAX, 5, "'t' is a variable: write t*(...)"},
      {"sin + 1", SN_E_SYNTAX, 1, "'sin' is a function: write sin(...)"},
      {"(t + 1", SN_E_SYNTAX, 7, "missing ')' for the '(' at column 1"},
      {"2*sin(t", SN_E_SYNTAX, 8, "missing ')' for the '(' at column 6"},
      {"(t, 1)", SN_E_SYNTAX, 3, "missing ')' for the '(' at column 1"},
      {"t + 1)", SN_E_SYNTAX, 6, "unexpected ')'"},
      {"t, 1", SN_E_SYNTAX, 2, "unexpected ','"},
      {"sin(t, 2)", SN_E_SYNTAX, 1, "sin needs 1 argument, got 2"},
      {"1 + sin()", SN_E_SYNTAX, 5, "sin needs 1 argument, got 0"},
      {"atan2(t)", SN_E_SYNTAX, 1, "atan2 needs 2 arguments, got 1"},
      {"clamp(t, 1)", SN_E_SYNTAX, 1, "clamp needs 3 arguments, got 2"},
      {"min(t)", SN_E_SYNTAX, 1, "min needs 2 or more arguments, got 1"},
      {"if(t < 1, 2)", SN_E_SYNTAX, 1, "if needs 3 arguments, got 2"},
      {"if(t < 1, 2, 3, 4)", SN_E_SYNTAX, 1, "if needs 3 arguments, got 4"},
      {"2 + $t", SN_E_SYNTAX, 5, "unexpected character '$'"},
      {"2 $ t", SN_E_SYNTAX, 3, "unexpected character '$'"},
      {"t % 2", SN_E_SYNTAX, 3, "unexpected character '%'"},
      {"2 \xc3\x97 t", SN_E_SYNTAX, 3, "unexpected character '\xc3\x97'"},
      {"2 \x01", SN_E_SYNTAX, 3, "unexpected character '\\x01'"},
      {"\xff", SN_E_SYNTAX, 1, "unexpected character '\\xff'"},
      {"t +", SN_E_SYNTAX, 4, "a value is missing at the end"},
      {"t * / 2", SN_E_SYNTAX, 5, "a value is missing before '/'"},
      {"()", SN_E_SYNTAX, 2, "a value is missing before ')'"},
      {"min(t, )", SN_E_SYNTAX, 8, "a value is missing before ')'"},
      {"t > 1 and", SN_E_SYNTAX, 10, "a value is missing at the end"},
      {"and t", SN_E_SYNTAX, 1, "a value is missing before 'and'"},
      {"2 * not t", SN_E_SYNTAX, 5, "a value is missing before 'not'"},
      {"2t", SN_E_SYNTAX, 2, "unexpected 't': write * between factors"},
      {"2 (t)", SN_E_SYNTAX, 3, "unexpected '(': write * between factors"},
      {"(t)(2)", SN_E_SYNTAX, 4, "unexpected '(': write * between factors"},
      {"t 2.5", SN_E_SYNTAX, 3, "unexpected '2.5': write * between factors"},
      {"(2 t)", SN_E_SYNTAX, 4, "unexpected 't': write * between factors"},
      {"t ** 2", SN_E_SYNTAX, 3, "unexpected '**': write ^ for powers"},
      {"t == 2", SN_E_SYNTAX, 3, "unexpected '=': compare with <, <=, > or >="},
      {"t != 2", SN_E_SYNTAX, 3, "unexpected '!': compare with <, <=, > or >="},
      {"0 < t < 1", SN_E_SYNTAX, 7, "unexpected '<': write a < b and b < c instead of a < b < c"},
      {"t < 1 ? 2", SN_E_SYNTAX, 10, "missing ':' for the '?' at column 7"},
      {"t < 1 ? 2 : ", SN_E_SYNTAX, 13, "a value is missing at the end"},
      {"t : 2", SN_E_SYNTAX, 3, "unexpected ':'"},
      {"t & 1", SN_E_SYNTAX, 3, "unexpected '&'"},
      {".", SN_E_SYNTAX, 1, "unexpected character '.'"},
      {"1e999", SN_E_VALUE, 1, "'1e999' is too large for a number"},
      {"1/0", SN_E_VALUE, 2, "1 / 0 is not a finite number"},
      {"t + log(-1)", SN_E_VALUE, 5, "log(-1) is not a finite number"},
      {"10^400", SN_E_VALUE, 3, "10 ^ 400 is not a finite number"},
      {"(-2)^0.5", SN_E_VALUE, 5, "-2 ^ 0.5 is not a finite number"},
      {"pow(0, -1)", SN_E_VALUE, 1, "pow(0, -1) is not a finite number"},
      {"1e308*10", SN_E_VALUE, 6, "1e+308 * 10 is not a finite number"},
      {"1/if(1<2, 0, 1)", SN_E_VALUE, 1, "the value is not a finite number"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    check_message(rows[i].text, (sn_status)rows[i].code, rows[i].column, rows[i].message);
  }
  sni_expr *expr = NULL;
  sn_error err;
  CHECK(sni_expr_compile(NULL, NULL, 0, &expr, &err) == SN_E_ARGUMENT, "no text");
  CHECK(sni_expr_compile("t", NULL, 0, &expr, &err) == SN_E_SYNTAX, "no names");
  CHECK(strcmp(err.text, "unknown name 't' (known here: pi, deg, e)") == 0, "%s", err.text);
}

/* prefix n times, middle, suffix n times */
static char *repeated(const char *prefix, const char *middle, const char *suffix, int n) {
  const size_t a = strlen(prefix), b = strlen(middle), c = strlen(suffix);
  char *text = calloc(1, (a + c) * (size_t)n + b + 1);
  char *s = text;
  for (int i = 0; i < n; i++, s += a) {
    memcpy(s, prefix, a);
  }
  memcpy(s, middle, b);
  s += b;
  for (int i = 0; i < n; i++, s += c) {
    memcpy(s, suffix, c);
  }
  return text;
}

TEST(limits) {
  const struct {
    const char *prefix, *middle, *suffix;
    int column; /* where level 65 begins */
  } nesting[] = {
      {"(", "t", ")", 66},          {"-", "t", "", 66},     {"not ", "t", "", 261},
      {"sin(", "t", ")", 261},      {"t^", "t", "", 131},   {"t+(", "t", ")", 196},
      {"if(t, 1, ", "t", ")", 580}, {"t?1:", "t", "", 259}, {"!", "t", "", 66},
  };
  for (size_t i = 0; i < sizeof nesting / sizeof nesting[0]; i++) {
    for (int n = 64; n <= 65; n++) {
      char *text = repeated(nesting[i].prefix, nesting[i].middle, nesting[i].suffix, n);
      sni_expr *expr = NULL;
      sn_error err;
      const sn_status status = sni_expr_compile(text, name_t, 1, &expr, &err);
      CHECK(status == (n > 64 ? SN_E_LIMIT : SN_OK), "%d times '%s': %d", n, nesting[i].prefix,
            status);
      if (status != SN_OK) {
        CHECK(strcmp(err.text, "nested deeper than 64") == 0, "%s", err.text);
        CHECK(err.column == nesting[i].column, "'%s': column %d", nesting[i].prefix, err.column);
      }
      sni_expr_free(&expr);
      free(text);
    }
  }

  /* far too deep must not exhaust the stack of the machine */
  char *text = repeated("(", "t", "", 4000);
  check_message(text, SN_E_LIMIT, 66, "nested deeper than 64");
  free(text);

  /* long sums are flat */
  text = repeated("t+", "t", "", 2047);
  CHECK(value_of(text, 1) == 2048, "sum");
  free(text);
  text = repeated("t+", "tt", "", 2047);
  text[strlen(text) - 1] = ' ';
  CHECK(strlen(text) == SNI_EXPR_LENGTH_MAX && value_of(text, 1) == 2048, "longest");
  free(text);
  text = repeated("t+", "ttt", "", 2047);
  check_message(text, SN_E_LIMIT, 4097, "expression is longer than 4096 characters");
  free(text);

  /* wide arguments in each other: intermediate values */
  text = repeated("clamp(t,t,", "t", ")", 64);
  CHECK(value_of(text, 1) == 1, "129 values");
  free(text);
  text = repeated("clamp(t,t,t+t*", "t", ")", 64);
  sn_error err;
  sni_expr *expr = NULL;
  CHECK(sni_expr_compile(text, name_t, 1, &expr, &err) == SN_E_LIMIT, "stack");
  CHECK(strcmp(err.text, "more than 256 intermediate values in one expression") == 0, "%s",
        err.text);
  free(text);

  text = repeated("abs(t)+", "t", "", 256);
  CHECK(value_of(text, 1) == 257, "256 switches");
  free(text);
  text = repeated("abs(t)+", "abs(t)", "", 256);
  check_message(text, SN_E_LIMIT, 256 * 7 + 1,
                "more than 256 comparisons and other switches in one expression");
  free(text);
}

int main(void) {
  RUN_TESTS(T(values_are_those_of_C), T(precedence), T(variables_and_size), T(constants_from_text),
            T(derivatives_of_each_function), T(derivatives_on_edges), T(jets_compose),
            T(messages_have_columns), T(limits));
}
