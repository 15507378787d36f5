/* Expressions: values, derivatives, messages, breaks. */
#include "test.h"

#include "base/number.h"
#include "math/expr.h"

#include <float.h>
#include <locale.h>

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

/* Numbers as the C library reads them, to the last bit, in any locale. */
TEST(numbers_are_correctly_rounded) {
  uint64_t seed = 1;
  char text[1200];
  const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
  for (int i = 0; i < 20000; i++) {
    union {
      uint64_t bits;
      double x;
    } u = {.bits = test_random_u64(&seed)};
    if (!isfinite(u.x) || i % 4 == 1) {
      u.x = test_random(&seed, -100, 100);
    }
    const int digits = (int)(test_random_u64(&seed) % 20);
    snprintf(text, sizeof text, i % 4 == 2 ? "%.*f" : "%.*g", digits, u.x);
    const double expected = strtod(text, NULL);
    double value = 0;
    const char *end = text;
    if (setlocale(LC_NUMERIC, locales[i % 4])) {
      end = sni_number_read(text, &value);
      setlocale(LC_NUMERIC, "C");
    } else {
      end = sni_number_read(text, &value);
    }
    CHECK(*end == '\0' && value == expected, "%s read as %.17g", text, value);
  }
  /* halfway between two numbers, by one digit far behind */
  memset(text, '0', sizeof text);
  memcpy(text, "9007199254740993.", 17);
  text[1000] = '\0';
  double value = 0;
  sni_number_read(text, &value);
  CHECK(value == 9007199254740992.0, "%.17g", value);
  text[999] = '1';
  sni_number_read(text, &value);
  CHECK(value == 9007199254740994.0, "%.17g", value);
  CHECK(sni_number_read("1e-400", &value)[0] == '\0' && value == 0, "underflow");
  CHECK(sni_number_read("-1e999999999999", &value)[0] == '\0' && value == -INFINITY, "overflow");
  CHECK(sni_number_read("0e999999999999", &value)[0] == '\0' && value == 0, "zero");
  CHECK(strcmp(sni_number_read("2e", &value), "e") == 0 && value == 2, "bare e");
  CHECK(strcmp(sni_number_read("0x10", &value), "x10") == 0 && value == 0, "no hexadecimal");
  const char *const none[] = {"", ".", "-", "+.", "e5", "nan", "inf", " 1"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    CHECK(sni_number_read(none[i], &value) == none[i], "'%s' has no number", none[i]);
  }
}

/* ---- Derivatives */

/* f' and f'' of every function by the formulas of the tables. */
TEST(derivatives_of_each_function) {
  for (double t = 0.05; t < 1; t += 0.05) {
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
    for (double t = -0.5; t < 0.6; t += 0.1) {
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

/* ---- Random expressions: the text beside an evaluation in long double */

#define NODE_MAX 64

typedef struct node {
  int op;
  int child[3];
  double value;
} node;

typedef struct tree {
  node node[NODE_MAX];
  int count;
  char text[4096];
} tree;

enum {
  N_CONST,
  N_T,
  N_ADD,
  N_SUB,
  N_MUL,
  N_DIV,
  N_NEG,
  N_POW,
  N_SIN,
  N_COS,
  N_TAN,
  N_ASIN,
  N_ACOS,
  N_ATAN,
  N_ATAN2,
  N_SINH,
  N_COSH,
  N_TANH,
  N_EXP,
  N_LOG,
  N_SQRT,
  N_HYPOT,
  N_SMOOTH_COUNT,
  N_ABS = N_SMOOTH_COUNT,
  N_MIN,
  N_MAX,
  N_CLAMP,
  N_SMOOTHSTEP,
  N_IF,
  N_STEP,
  N_SIGN,
  N_FLOOR,
  N_COUNT
};

/* How a node is written, $0 $1 $2 being its children.  Arguments are kept inside the domains and
 * small, so that differences stay meaningful: children of these are squeezed by sin. */
static const char *const node_text[N_COUNT] = {
    [N_ADD] = "($0+$1)",
    [N_SUB] = "($0-$1)",
    [N_MUL] = "($0*$1)",
    [N_DIV] = "$0/(2+sin($1))",
    [N_NEG] = "(-$0)",
    [N_POW] = "(2+sin($0))^(1.5*sin($1))",
    [N_SIN] = "sin($0)",
    [N_COS] = "cos($0)",
    [N_TAN] = "tan(sin($0))",
    [N_ASIN] = "asin(0.8*sin($0))",
    [N_ACOS] = "acos(0.8*sin($0))",
    [N_ATAN] = "atan($0)",
    [N_ATAN2] = "atan2(sin($0), 2+sin($1))",
    [N_SINH] = "sinh(sin($0))",
    [N_COSH] = "cosh(sin($0))",
    [N_TANH] = "tanh($0)",
    [N_EXP] = "exp(sin($0))",
    [N_LOG] = "log(2+sin($0))",
    [N_SQRT] = "sqrt(2+sin($0))",
    [N_HYPOT] = "hypot($0, 1+($1)^2)",
    [N_ABS] = "abs($0)",
    [N_MIN] = "min($0, $1)",
    [N_MAX] = "max($0, $1)",
    [N_CLAMP] = "clamp($0, -0.3, 0.4)",
    [N_SMOOTHSTEP] = "smoothstep(-0.5, 0.7, $0)",
    [N_IF] = "if($0 < $1, $2, $0)",
    [N_STEP] = "step($0)",
    [N_SIGN] = "sign($0)",
    [N_FLOOR] = "floor(2*$0)",
};

static long double tree_eval(const tree *tr, int i, long double t) {
  const node *n = &tr->node[i];
  long double x[3] = {0, 0, 0};
  for (int k = 0; k < 3 && n->child[k] >= 0; k++) {
    x[k] = tree_eval(tr, n->child[k], t);
  }
  switch (n->op) {
  case N_CONST:
    return n->value;
  case N_T:
    return t;
  case N_ADD:
    return x[0] + x[1];
  case N_SUB:
    return x[0] - x[1];
  case N_MUL:
    return x[0] * x[1];
  case N_DIV:
    return x[0] / (2 + sinl(x[1]));
  case N_NEG:
    return -x[0];
  case N_POW:
    return powl(2 + sinl(x[0]), 1.5L * sinl(x[1]));
  case N_SIN:
    return sinl(x[0]);
  case N_COS:
    return cosl(x[0]);
  case N_TAN:
    return tanl(sinl(x[0]));
  case N_ASIN:
    return asinl((long double)0.8 * sinl(x[0]));
  case N_ACOS:
    return acosl((long double)0.8 * sinl(x[0]));
  case N_ATAN:
    return atanl(x[0]);
  case N_ATAN2:
    return atan2l(sinl(x[0]), 2 + sinl(x[1]));
  case N_SINH:
    return sinhl(sinl(x[0]));
  case N_COSH:
    return coshl(sinl(x[0]));
  case N_TANH:
    return tanhl(x[0]);
  case N_EXP:
    return expl(sinl(x[0]));
  case N_LOG:
    return logl(2 + sinl(x[0]));
  case N_SQRT:
    return sqrtl(2 + sinl(x[0]));
  case N_HYPOT:
    return hypotl(x[0], 1 + x[1] * x[1]);
  case N_ABS:
    return fabsl(x[0]);
  case N_MIN:
    return x[0] < x[1] ? x[0] : x[1];
  case N_MAX:
    return x[0] > x[1] ? x[0] : x[1];
  case N_CLAMP:
    return fminl(fmaxl(x[0], (long double)-0.3), (long double)0.4);
  case N_SMOOTHSTEP: {
    const long double a = -0.5, b = 0.7;
    const long double u = fminl(fmaxl((x[0] - a) / (b - a), 0), 1);
    return u * u * (3 - 2 * u);
  }
  case N_IF:
    return x[0] < x[1] ? x[2] : x[0];
  case N_STEP:
    return x[0] >= 0;
  case N_SIGN:
    return (x[0] > 0) - (x[0] < 0);
  default:
    return floorl(2 * x[0]);
  }
}

static void write_text(const tree *tr, int i, char *out, size_t size) {
  const node *n = &tr->node[i];
  if (n->op == N_CONST) {
    snprintf(out, size, n->value < 0 ? "(%.17g)" : "%.17g", n->value);
    return;
  }
  if (n->op == N_T) {
    snprintf(out, size, "t");
    return;
  }
  size_t used = 0;
  for (const char *s = node_text[n->op]; *s && used + 1 < size; s++) {
    if (*s == '$') {
      write_text(tr, n->child[*++s - '0'], out + used, size - used);
      used = strlen(out);
    } else {
      out[used++] = *s;
      out[used] = '\0';
    }
  }
}

static int grow(tree *tr, uint64_t *seed, int depth, int op_count) {
  const int i = tr->count++;
  int op = (int)(test_random_u64(seed) % (uint64_t)op_count);
  if (depth == 0 || tr->count > NODE_MAX - 8) {
    op = test_random_u64(seed) % 4 == 0 ? N_CONST : N_T;
  }
  node n = {.op = op, .child = {-1, -1, -1}, .value = round(test_random(seed, -8, 8)) / 4};
  const char *text = node_text[op] ? node_text[op] : "";
  for (int k = 0; k < 3; k++) {
    if (strstr(text, (const char *[]){"$0", "$1", "$2"}[k])) {
      n.child[k] = grow(tr, seed, depth - 1, op_count);
    }
  }
  tr->node[i] = n;
  return i;
}

static void random_tree(tree *tr, uint64_t *seed, int depth, int op_count) {
  do {
    tr->count = 0;
    grow(tr, seed, depth, op_count);
    tr->text[0] = '\0';
    write_text(tr, 0, tr->text, sizeof tr->text);
  } while (strlen(tr->text) + 1 >= sizeof tr->text || !strstr(tr->text, "t"));
}

/* Central differences of f' and f'' with steps h, h/2, ... extrapolated to 0; the spread of the
 * last two estimates bounds the error. */
#define LEVELS 5
static void differences(const tree *tr, double t, long double h, long double out[2],
                        long double spread[2]) {
  for (int order = 0; order < 2; order++) {
    long double a[LEVELS][LEVELS], best = INFINITY;
    long double step = h;
    for (int i = 0; i < LEVELS; i++, step /= 2) {
      const long double up = tree_eval(tr, 0, t + step), down = tree_eval(tr, 0, t - step);
      a[i][0] = order == 0 ? (up - down) / (2 * step)
                           : (up - 2 * tree_eval(tr, 0, t) + down) / (step * step);
      long double factor = 4;
      for (int k = 1; k <= i; k++, factor *= 4) {
        a[i][k] = a[i][k - 1] + (a[i][k - 1] - a[i - 1][k - 1]) / (factor - 1);
        const long double e = fmaxl(fabsl(a[i][k] - a[i][k - 1]), fabsl(a[i][k] - a[i - 1][k - 1]));
        if (e < best) {
          best = e;
          out[order] = a[i][k];
          spread[order] = e;
        }
      }
    }
  }
}

static void check_derivatives(const tree *tr, const sni_expr *expr, double t, double h) {
  long double d[2], spread[2];
  const sni_jet jet = sni_expr_eval_jet(expr, &(sni_jet){t, 1, 0});
  const double value = (double)tree_eval(tr, 0, t);
  differences(tr, t, h, d, spread);
  /* 1e-12: roundings of a tree of up to 64 operations; 1e-7: the differences must not be blind;
   * their own rounding at the smallest step is added because estimates may agree by accident */
  const double scale = 1 + fabs(jet.v) + fabs(jet.d) + fabs(jet.dd);
  CHECK(fabs(jet.v - value) < 1e-12 * scale, "%s at %.17g: %.17g, not %.17g", tr->text, t, jet.v,
        value);
  CHECK((double)spread[0] < 1e-7 * scale && (double)spread[1] < 1e-7 * scale,
        "%s at %.17g: differences are no reference, %Lg %Lg", tr->text, t, spread[0], spread[1]);
  const double h_min = h / (1 << (LEVELS - 1)), noise = 16 * (double)LDBL_EPSILON * scale;
  const double tol[2] = {1e-12 * scale + 4 * (double)spread[0] + noise / h_min,
                         1e-12 * scale + 4 * (double)spread[1] + noise / (h_min * h_min)};
  CHECK(fabs(jet.d - (double)d[0]) < tol[0], "%s at %.17g: d %.17g, not %.17Lg +- %.2Lg", tr->text,
        t, jet.d, d[0], spread[0]);
  CHECK(fabs(jet.dd - (double)d[1]) < tol[1], "%s at %.17g: dd %.17g, not %.17Lg +- %.2Lg",
        tr->text, t, jet.dd, d[1], spread[1]);
}

TEST(derivatives_of_random_expressions) {
  uint64_t seed = 7;
  static tree tr;
  for (int i = 0; i < 3000; i++) {
    random_tree(&tr, &seed, 3, N_SMOOTH_COUNT);
    sni_expr *expr = compile(tr.text, name_t, 1);
    check_derivatives(&tr, expr, test_random(&seed, -1, 1), 0.01);
    sni_expr_free(&expr);
  }
}

/* With switches: where the stencil of the differences crosses no break. */
TEST(derivatives_of_random_switching_expressions) {
  uint64_t seed = 8;
  static tree tr;
  int checked = 0;
  for (int i = 0; i < 3000; i++) {
    random_tree(&tr, &seed, 3, N_COUNT);
    const double t = test_random(&seed, -1, 1), h = 0.005;
    double t_break;
    sni_expr *expr = compile(tr.text, name_t, 1);
    if (!sni_expr_next_break(expr, t - 1.1 * h, t + 1.1 * h, &t_break)) {
      check_derivatives(&tr, expr, t, h);
      checked++;
    }
    sni_expr_free(&expr);
  }
  CHECK(checked > 2700, "only %d of 3000 were away from breaks", checked);
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

/* ---- Breaks */

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

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

/* Between two breaks no branch changes: evaluation with the branches of one point is plain
 * evaluation, bit for bit, at any point inside.  The exception are guards like t - sinh(sin(t)),
 * whose sign is rounding noise in a neighbourhood of their zero; hence one point in 10,000. */
TEST(nothing_switches_between_breaks) {
  uint64_t seed = 11;
  static tree tr;
  int pieces = 0, points = 0, noisy = 0;
  for (int i = 0; i < 3000; i++) {
    random_tree(&tr, &seed, 3, N_COUNT);
    sni_expr *expr = compile(tr.text, name_t, 1);
    const double end = 3;
    for (double a = -3, b; a < end; a = b) {
      b = end;
      sni_expr_next_break(expr, a, end, &b);
      pieces++;
      const double ref = a + 0.381966 * (b - a); /* not the middle, which may be a crest */
      for (int k = 0; k < 30; k++) {
        const double t = test_random(&seed, a, b);
        const sni_jet x = jet_from(expr, t, ref), y = sni_expr_eval_jet(expr, &(sni_jet){t, 1, 0});
        points++;
        if (!(same(x.v, y.v) && same(x.d, y.d) && same(x.dd, y.dd))) {
          noisy++;
          CHECK(noisy <= 9, "'%s' at %.17g in (%.17g, %.17g): %.17g, not %.17g", tr.text, t, a, b,
                x.v, y.v);
        }
      }
    }
    sni_expr_free(&expr);
  }
  CHECK(pieces > 6000 && noisy * 10000 <= points, "%d pieces, %d points, %d noisy", pieces, points, noisy);
  if (getenv("V")) printf("%d pieces, %d points, %d noisy\n", pieces, points, noisy);
}

/* ---- Anything at all */

TEST(random_texts) {
  static const char *const words[] = {
      "t",      "1",     ".5",   "1e9",    "1e-300", "pi",          "deg",    "e",      "+",
      "-",      "*",     "/",    "^",      "(",      ")",           ",",      "<",      "<=",
      ">",      ">=",    "and",  "or",     "not",    "!",           "&&",     "||",     "?",
      ":",      "sin(",  "cos(", "tan(",   "asin(",  "acos(",       "atan(",  "atan2(", "sinh(",
      "cosh(",  "tanh(", "exp(", "log(",   "sqrt(",  "pow(",        "hypot(", "abs(",   "sign(",
      "floor(", "min(",  "max(", "clamp(", "step(",  "smoothstep(", "if(",    " ",      "\n",
      "x",      "$",     "\xc3", "0x",     "1e",     "t)",          "t,t)",   "t<1"};
  const size_t nword = sizeof words / sizeof words[0];
  uint64_t seed = 3;
  static tree tr;
  int good = 0;
  for (int i = 0; i < 20000; i++) {
    char text[4200] = "";
    size_t n = 0;
    if (i % 3 == 0) { /* bytes */
      n = test_random_u64(&seed) % 40;
      for (size_t k = 0; k < n; k++) {
        text[k] = (char)(1 + test_random_u64(&seed) % 255);
      }
    } else if (i % 3 == 1) { /* words */
      for (uint64_t k = test_random_u64(&seed) % 15; k > 0; k--) {
        strcat(text, words[test_random_u64(&seed) % nword]);
      }
    } else { /* a good expression, as it is or with one character less or more */
      random_tree(&tr, &seed, 2, N_COUNT);
      strcpy(text, tr.text);
      n = strlen(text);
      const size_t at = test_random_u64(&seed) % n;
      const char *word = words[test_random_u64(&seed) % nword];
      if (i % 4 == 1) {
        memmove(text + at, text + at + 1, n - at);
      } else if (i % 4 == 3) {
        memmove(text + at + 1, text + at, n - at + 1);
        text[at] = word[0];
      }
    }
    sni_expr *expr = NULL;
    sn_error err = {0};
    const sn_status status = sni_expr_compile(text, name_t, 1, &expr, &err);
    if (status != SN_OK) {
      CHECK(expr == NULL && err.text[0] && err.column >= 1 && err.column <= (int)strlen(text) + 1,
            "'%s': column %d: %s", text, err.column, err.text);
      continue;
    }
    good++;
    const double t = test_random(&seed, -2, 2);
    const double value = sni_expr_eval(expr, &t);
    const sni_jet jet = jet_from(expr, t, t);
    CHECK(same(value, jet.v), "'%s' at %g: %g and %g", text, t, value, jet.v);
    double from = -2, t_break;
    for (int k = 0; k < 20 && sni_expr_next_break(expr, from, 2, &t_break); k++) {
      CHECK(t_break > from && t_break <= 2, "'%s': break %.17g after %.17g", text, t_break, from);
      from = t_break;
    }
    sni_expr_free(&expr);
  }
  CHECK(good > 2000, "only %d of the texts were expressions", good);
}

int main(void) {
  RUN_TESTS(T(values_are_those_of_C), T(precedence), T(variables_and_size), T(constants_from_text),
            T(numbers_are_correctly_rounded), T(derivatives_of_each_function),
            T(derivatives_on_edges), T(jets_compose), T(derivatives_of_random_expressions),
            T(derivatives_of_random_switching_expressions), T(messages_have_columns), T(limits),
            T(breaks_of_affine_switches_are_exact), T(breaks_of_smooth_switches),
            T(breaks_of_fast_switches_over_long_times), T(one_sided_values),
            T(nothing_switches_between_breaks), T(random_texts));
}
