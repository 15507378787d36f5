/* expr_eval.c: values and jets of compiled expressions.
 *
 * With f_x, f_xx, ... the partial derivatives of one operation, the jet (v, v', v'') of its result
 * is
 *
 *     f(x):     f,   f_x x',             f_xx x'^2 + f_x x''
 *     f(x, y):  f,   f_x x' + f_y y',    f_xx x'^2 + 2 f_xy x' y' + f_yy y'^2 + f_x x'' + f_y y''
 *
 * The partials stand alone (unary, binary), so that gradients and Hessians in several directions
 * need other sums and no other derivatives.  A product with a derivative that is 0 is 0 even when
 * the partial is infinite: what does not move does not feel the edge of a domain. */
#include "math/expr_program.h"

#include <math.h>

static double times(double partial, double derivative) {
  return derivative == 0 ? 0 : partial * derivative;
}

const sni_expr_code_info *sni_expr_code_get(int code) {
  static const sni_expr_code_info info[] = {
#define SNI_X(code, nargs, name, branches) {name, nargs, branches},
      SNI_EXPR_CODES(SNI_X)
#undef SNI_X
  };
  return &info[code];
}

int sni_expr_guards(int code, double branch, sni_expr_guard guard[SNI_EXPR_GUARDS_MAX]) {
  switch (code) {
  case SNI_EXPR_LT:
  case SNI_EXPR_LE:
  case SNI_EXPR_GT:
  case SNI_EXPR_GE:
  case SNI_EXPR_MIN:
  case SNI_EXPR_MAX:
    guard[0] = (sni_expr_guard){0, 1, 0};
    return 1;
  case SNI_EXPR_STEP:
  case SNI_EXPR_SIGN:
  case SNI_EXPR_ABS:
  case SNI_EXPR_ATAN2:
    guard[0] = (sni_expr_guard){0, -1, 0};
    return 1;
  case SNI_EXPR_CLAMP:
    guard[0] = (sni_expr_guard){0, 1, 0};
    guard[1] = (sni_expr_guard){0, 2, 0};
    return 2;
  case SNI_EXPR_SMOOTHSTEP:
    guard[0] = (sni_expr_guard){2, 0, 0};
    guard[1] = (sni_expr_guard){2, 1, 0};
    guard[2] = (sni_expr_guard){1, 0, 0};
    return 3;
  case SNI_EXPR_FLOOR:
    guard[0] = (sni_expr_guard){0, -1, branch};
    guard[1] = (sni_expr_guard){0, -1, branch + 1};
    return 2;
  default:
    return 0;
  }
}

double sni_expr_branch_from_signs(int code, const int *sign) {
  switch (code) {
  case SNI_EXPR_LT:
    return sign[0] == -1;
  case SNI_EXPR_LE:
    return sign[0] == -1 || sign[0] == 0;
  case SNI_EXPR_GT:
    return sign[0] == 1;
  case SNI_EXPR_GE:
    return sign[0] == 1 || sign[0] == 0;
  case SNI_EXPR_STEP:
    return sign[0] == 2 ? NAN : sign[0] >= 0;
  case SNI_EXPR_SIGN:
    return sign[0] == 2 ? NAN : sign[0];
  case SNI_EXPR_ABS:
  case SNI_EXPR_ATAN2:
    return sign[0] == -1 ? -1 : 1;
  case SNI_EXPR_MIN:
    return sign[0] == 2 ? NAN : sign[0] == 1;
  case SNI_EXPR_MAX:
    return sign[0] == 2 ? NAN : sign[0] == -1;
  case SNI_EXPR_CLAMP:
    return sign[0] == 2 || sign[1] == 2 ? NAN : sign[0] == -1 ? -1 : sign[1] == 1 ? 1 : 0;
  case SNI_EXPR_SMOOTHSTEP: /* a > b runs downwards, a = b is a step */
    if (sign[0] == 2 || sign[1] == 2 || sign[2] == 2) {
      return NAN;
    }
    if (sign[2] == 0) {
      return sign[0] == -1 ? -1 : 1;
    }
    return sign[0] * sign[2] <= 0 ? -1 : sign[1] * sign[2] >= 0 ? 1 : 0;
  case SNI_EXPR_NOT:
    return sign[0] == 0;
  case SNI_EXPR_AND:
    return sign[0] != 0 && sign[1] != 0;
  case SNI_EXPR_OR:
    return sign[0] != 0 || sign[1] != 0;
  default: /* JUMP_UNLESS */
    return sign[0] != 0;
  }
}

double sni_expr_branch(int code, const double *x) {
  if (code == SNI_EXPR_FLOOR) {
    return floor(x[0]);
  }
  sni_expr_guard guard[SNI_EXPR_GUARDS_MAX];
  int sign[SNI_EXPR_GUARDS_MAX] = {0};
  const int nguard = sni_expr_guards(code, 0, guard);
  for (int i = 0; i < nguard; i++) {
    const double minus = guard[i].minus < 0 ? 0 : x[guard[i].minus];
    sign[i] = sni_expr_sign(x[guard[i].plus] - minus);
  }
  for (int i = 0; nguard == 0 && i < sni_expr_code_get(code)->nargs; i++) {
    sign[i] = sni_expr_sign(x[i]);
  }
  return sni_expr_branch_from_signs(code, sign);
}

sni_expr_outcome sni_expr_take(int code, double branch) {
  const sni_expr_outcome constant = {-1, branch};
  const sni_expr_outcome formula = {SNI_EXPR_FORMULA, 0};
  if (isnan(branch)) {
    return constant;
  }
  switch (code) {
  case SNI_EXPR_ABS:
    return (sni_expr_outcome){0, branch};
  case SNI_EXPR_MIN:
  case SNI_EXPR_MAX:
    return (sni_expr_outcome){branch != 0, 1};
  case SNI_EXPR_CLAMP:
    return (sni_expr_outcome){branch < 0 ? 1 : branch > 0 ? 2 : 0, 1};
  case SNI_EXPR_SMOOTHSTEP:
    return branch == 0 ? formula : (sni_expr_outcome){-1, branch > 0};
  case SNI_EXPR_ATAN2:
    return formula;
  default:
    return constant;
  }
}

/* atan2 goes on smoothly through the negative x axis, from the side that the branch names. */
static double atan2_branch(double y, double x, double branch) {
  const double angle = atan2(y, x);
  const double turn = 6.283185307179586476925;
  if (x < 0 && branch * angle < 0) {
    return angle + branch * turn;
  }
  return angle;
}

static double smooth_unit(double u) {
  return u * u * (3 - 2 * u);
}

double sni_expr_apply(int code, const double *x, double branch) {
  if (sni_expr_code_get(code)->branches) {
    const sni_expr_outcome outcome = sni_expr_take(code, branch);
    if (outcome.arg >= 0) {
      return outcome.scale * x[outcome.arg];
    }
    if (outcome.arg == -1) {
      return outcome.scale;
    }
  }
  switch (code) {
  case SNI_EXPR_NEG:
    return -x[0];
  case SNI_EXPR_ADD:
    return x[0] + x[1];
  case SNI_EXPR_SUB:
    return x[0] - x[1];
  case SNI_EXPR_MUL:
    return x[0] * x[1];
  case SNI_EXPR_DIV:
    return x[0] / x[1];
  case SNI_EXPR_SIN:
    return sin(x[0]);
  case SNI_EXPR_COS:
    return cos(x[0]);
  case SNI_EXPR_TAN:
    return tan(x[0]);
  case SNI_EXPR_ASIN:
    return asin(x[0]);
  case SNI_EXPR_ACOS:
    return acos(x[0]);
  case SNI_EXPR_ATAN:
    return atan(x[0]);
  case SNI_EXPR_ATAN2:
    return atan2_branch(x[0], x[1], branch);
  case SNI_EXPR_SINH:
    return sinh(x[0]);
  case SNI_EXPR_COSH:
    return cosh(x[0]);
  case SNI_EXPR_TANH:
    return tanh(x[0]);
  case SNI_EXPR_EXP:
    return exp(x[0]);
  case SNI_EXPR_LOG:
    return log(x[0]);
  case SNI_EXPR_SQRT:
    return sqrt(x[0]);
  case SNI_EXPR_POW:
    return pow(x[0], x[1]);
  case SNI_EXPR_HYPOT:
    return hypot(x[0], x[1]);
  case SNI_EXPR_SMOOTHSTEP:
    return smooth_unit((x[2] - x[0]) / (x[1] - x[0]));
  default:
    SN_ASSERT(false);
    return NAN;
  }
}

/* f_x, f_xx of f = f(x) */
static void unary(int code, double x, double f, double *fx, double *fxx) {
  switch (code) {
  case SNI_EXPR_SIN:
    *fx = cos(x);
    *fxx = -f;
    return;
  case SNI_EXPR_COS:
    *fx = -sin(x);
    *fxx = -f;
    return;
  case SNI_EXPR_TAN:
    *fx = 1 + f * f;
    *fxx = 2 * f * *fx;
    return;
  case SNI_EXPR_ASIN:
  case SNI_EXPR_ACOS: {
    const double w = 1 / sqrt((1 - x) * (1 + x));
    *fx = code == SNI_EXPR_ASIN ? w : -w;
    *fxx = times(*fx * w * w, x);
    return;
  }
  case SNI_EXPR_ATAN:
    *fx = 1 / (1 + x * x);
    *fxx = -2 * x * *fx * *fx;
    return;
  case SNI_EXPR_SINH:
    *fx = cosh(x);
    *fxx = f;
    return;
  case SNI_EXPR_COSH:
    *fx = sinh(x);
    *fxx = f;
    return;
  case SNI_EXPR_TANH: { /* 1 - f^2 would lose every digit for large x */
    const double c = 1 / cosh(x);
    *fx = c * c;
    *fxx = -2 * f * *fx;
    return;
  }
  case SNI_EXPR_EXP:
    *fx = *fxx = f;
    return;
  case SNI_EXPR_LOG: /* a NaN left of 0, as the value */
    *fx = x >= 0 ? 1 / x : NAN;
    *fxx = -*fx * *fx;
    return;
  default: /* SQRT */
    *fx = 0.5 / f;
    *fxx = -*fx * 0.5 / x;
    return;
  }
}

typedef struct partials {
  double x, y, xx, xy, yy;
} partials;

/* partial derivatives of f = f(x, y) */
static partials binary(int code, double x, double y, double f) {
  switch (code) {
  case SNI_EXPR_DIV: {
    const double w = 1 / y;
    return (partials){w, -f * w, 0, -w * w, 2 * f * w * w};
  }
  case SNI_EXPR_ATAN2: { /* angle of the point (y, x); sine and cosine over the radius */
    const double r = hypot(x, y), s = x / r / r, c = y / r / r;
    return (partials){c, -s, -2 * s * c, (s - c) * (s + c), 2 * s * c};
  }
  default: { /* POW; x^y is 0 for all y > 0 where x is 0 */
    const double l = f == 0 ? 0 : log(x);
    const double fx = times(pow(x, y - 1), y);
    return (partials){fx, f * l, times(pow(x, y - 2), y * (y - 1)), pow(x, y - 1) * (1 + y * l),
                      f * l * l};
  }
  }
}

static sni_jet unary_jet(int code, sni_jet x) {
  sni_jet r = {.v = sni_expr_apply(code, &x.v, 0)};
  if (x.d != 0 || x.dd != 0) {
    double fx, fxx;
    unary(code, x.v, r.v, &fx, &fxx);
    r.d = times(fx, x.d);
    r.dd = times(fxx, x.d * x.d) + times(fx, x.dd);
  }
  return r;
}

static sni_jet binary_jet(int code, sni_jet x, sni_jet y, double branch) {
  sni_jet r = {.v = sni_expr_apply(code, (double[]){x.v, y.v}, branch)};
  if (x.d != 0 || x.dd != 0 || y.d != 0 || y.dd != 0) {
    const partials f = binary(code, x.v, y.v, r.v);
    r.d = times(f.x, x.d) + times(f.y, y.d);
    r.dd = times(f.xx, x.d * x.d) + 2 * times(f.xy, x.d * y.d) + times(f.yy, y.d * y.d) +
           times(f.x, x.dd) + times(f.y, y.dd);
  }
  return r;
}

/* r = |(x, y)|.  With the unit vector u = (x, y)/r:  r' = u.x',  r'' = (|x'|^2 - r'^2)/r + u.x''.
 * At the origin a corner: the derivatives are those just after it. */
static sni_jet hypot_jet(sni_jet x, sni_jet y) {
  const double r = hypot(x.v, y.v);
  if (r > 0) {
    const double ux = x.v / r, uy = y.v / r;
    const double across = ux * y.d - uy * x.d;
    return (sni_jet){r, ux * x.d + uy * y.d, across * across / r + ux * x.dd + uy * y.dd};
  }
  const double rate = hypot(x.d, y.d);
  if (rate > 0) {
    return (sni_jet){r, rate, (x.d * x.dd + y.d * y.dd) / rate};
  }
  return (sni_jet){r, rate, hypot(x.dd, y.dd)};
}

static sni_jet jet_sub(sni_jet x, sni_jet y) {
  return (sni_jet){x.v - y.v, x.d - y.d, x.dd - y.dd};
}

sni_jet sni_expr_apply_jet(int code, const sni_jet *x, double branch) {
  if (sni_expr_code_get(code)->branches) {
    const sni_expr_outcome outcome = sni_expr_take(code, branch);
    if (outcome.arg >= 0) {
      const sni_jet a = x[outcome.arg];
      return (sni_jet){outcome.scale * a.v, outcome.scale * a.d, outcome.scale * a.dd};
    }
    if (outcome.arg == -1) {
      return (sni_jet){outcome.scale, 0, 0};
    }
  }
  switch (code) {
  case SNI_EXPR_NEG:
    return (sni_jet){-x->v, -x->d, -x->dd};
  case SNI_EXPR_ADD:
    return (sni_jet){x[0].v + x[1].v, x[0].d + x[1].d, x[0].dd + x[1].dd};
  case SNI_EXPR_SUB:
    return jet_sub(x[0], x[1]);
  case SNI_EXPR_MUL:
    return (sni_jet){x[0].v * x[1].v, x[0].d * x[1].v + x[0].v * x[1].d,
                     x[0].dd * x[1].v + 2 * x[0].d * x[1].d + x[0].v * x[1].dd};
  case SNI_EXPR_DIV:
  case SNI_EXPR_POW:
  case SNI_EXPR_ATAN2:
    return binary_jet(code, x[0], x[1], branch);
  case SNI_EXPR_HYPOT:
    return hypot_jet(x[0], x[1]);
  case SNI_EXPR_SMOOTHSTEP: {
    const sni_jet u = binary_jet(SNI_EXPR_DIV, jet_sub(x[2], x[0]), jet_sub(x[1], x[0]), 0);
    const double rate = 6 * u.v * (1 - u.v);
    return (sni_jet){smooth_unit(u.v), rate * u.d, (6 - 12 * u.v) * u.d * u.d + rate * u.dd};
  }
  default:
    return unary_jet(code, x[0]);
  }
}

int sni_expr_run(const sni_expr *expr, int nop, const double *vars, const double *branch,
                 double *record, double stack[SNI_EXPR_STACK_MAX]) {
  int top = 0;
  for (int i = 0; i < nop; i++) {
    const sni_expr_op *op = &expr->op[i];
    if (op->code == SNI_EXPR_CONST) {
      stack[top++] = op->value;
    } else if (op->code == SNI_EXPR_VAR) {
      stack[top++] = vars[op->arg];
    } else if (op->code == SNI_EXPR_JUMP) {
      i = op->arg - 1;
    } else {
      top -= sni_expr_code_get(op->code)->nargs;
      double taken = 0;
      if (op->branch >= 0) {
        taken = branch ? branch[op->branch] : sni_expr_branch(op->code, stack + top);
        if (record) {
          record[op->branch] = taken;
        }
      }
      if (op->code != SNI_EXPR_JUMP_UNLESS) {
        stack[top] = sni_expr_apply(op->code, stack + top, taken);
        top++;
      } else if (taken == 0) {
        i = op->arg - 1;
      }
    }
  }
  return top;
}

/* Like sni_expr_run, for jets and the whole program. */
static sni_jet run_jet(const sni_expr *expr, const sni_jet *vars, const double *branch) {
  sni_jet stack[SNI_EXPR_STACK_MAX];
  stack[0] = (sni_jet){0, 0, 0}; /* no program is empty, but an analyser cannot know */
  int top = 0;
  for (int i = 0; i < expr->nop; i++) {
    const sni_expr_op *op = &expr->op[i];
    if (op->code == SNI_EXPR_CONST) {
      stack[top++] = (sni_jet){op->value, 0, 0};
    } else if (op->code == SNI_EXPR_VAR) {
      stack[top++] = vars[op->arg];
    } else if (op->code == SNI_EXPR_JUMP) {
      i = op->arg - 1;
    } else {
      const int nargs = sni_expr_code_get(op->code)->nargs;
      top -= nargs;
      double taken = 0;
      if (op->branch >= 0 && branch) {
        taken = branch[op->branch];
      } else if (op->branch >= 0) {
        double x[SNI_EXPR_ARGS_MAX] = {0};
        for (int k = 0; k < nargs; k++) {
          x[k] = stack[top + k].v;
        }
        taken = sni_expr_branch(op->code, x);
      }
      if (op->code != SNI_EXPR_JUMP_UNLESS) {
        stack[top] = sni_expr_apply_jet(op->code, stack + top, taken);
        top++;
      } else if (taken == 0) {
        i = op->arg - 1;
      }
    }
  }
  return stack[0];
}

double sni_expr_eval(const sni_expr *expr, const double *vars) {
  double stack[SNI_EXPR_STACK_MAX];
  stack[0] = 0; /* see run_jet */
  sni_expr_run(expr, expr->nop, vars, NULL, NULL, stack);
  return stack[0];
}

sni_jet sni_expr_eval_jet(const sni_expr *expr, const sni_jet *vars) {
  return run_jet(expr, vars, NULL);
}

sni_jet sni_expr_eval_jet_from(const sni_expr *expr, const sni_jet *vars, const double *vars_ref) {
  if (expr->nbranch == 0) {
    return run_jet(expr, vars, NULL);
  }
  double stack[SNI_EXPR_STACK_MAX], branch[SNI_EXPR_SWITCH_MAX];
  sni_expr_run(expr, expr->nop, vars_ref, NULL, branch, stack);
  return run_jet(expr, vars, branch);
}
