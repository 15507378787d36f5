/* Random expressions against long double, against themselves, and random texts against crashes. */
#include "test.h"

#include "math/expr.h"

#include <float.h>

static const char *const name_t[] = {"t"};

static sni_expr *compile(const char *text, const char *const *names, int nname) {
  sni_expr *expr = NULL;
  sn_error err;
  const sn_status status = sni_expr_compile(text, names, nname, &expr, &err);
  CHECK(status == SN_OK, "'%s': column %d: %s", text, err.column, err.text);
  return expr;
}

static sni_jet jet_from(const sni_expr *expr, double t, double t_ref) {
  return sni_expr_eval_jet_from(expr, &(sni_jet){t, 1, 0}, &t_ref);
}

/* ---- An expression as text beside its evaluation in long double */

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
    for (int i = 0; i < LEVELS; i++) {
      const long double step = h / (1 << i);
      const long double up = tree_eval(tr, 0, t + step), down = tree_eval(tr, 0, t - step);
      a[i][0] = order == 0 ? (up - down) / (2 * step)
                           : (up - 2 * tree_eval(tr, 0, t) + down) / (step * step);
      for (int k = 1; k <= i; k++) {
        a[i][k] = a[i][k - 1] + (a[i][k - 1] - a[i - 1][k - 1]) / ((1 << 2 * k) - 1);
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
    double a = -3, b;
    while (a < end) {
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
      a = b;
    }
    sni_expr_free(&expr);
  }
  CHECK(pieces > 6000 && noisy * 10000 <= points, "%d pieces, %d points, %d noisy", pieces, points,
        noisy);
}

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
        n += (size_t)snprintf(text + n, sizeof text - n, "%s",
                              words[test_random_u64(&seed) % nword]);
      }
    } else { /* a good expression, as it is or with one character less or more */
      random_tree(&tr, &seed, 2, N_COUNT);
      n = (size_t)snprintf(text, sizeof text, "%s", tr.text);
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
  RUN_TESTS(T(derivatives_of_random_expressions), T(derivatives_of_random_switching_expressions),
            T(nothing_switches_between_breaks), T(random_texts));
}
