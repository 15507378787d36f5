/* expr_program.h: the postfix program behind expr.h, shared by the compiler (expr.c), the
 * evaluators (expr_eval.c, expr_bound.c) and the search for breaks (expr_break.c). */
#ifndef SNI_EXPR_PROGRAM_H
#define SNI_EXPR_PROGRAM_H

#include "math/expr.h"

/* One list: code, number of arguments, spelling as a function ("" if it is not one), whether it is
 * a switch or a logical operator and so takes one of several branches. */
#define SNI_EXPR_CODES(X)                                                                          \
  X(CONST, 0, "", 0)                                                                               \
  X(VAR, 0, "", 0)                                                                                 \
  X(NEG, 1, "", 0)                                                                                 \
  X(ADD, 2, "", 0)                                                                                 \
  X(SUB, 2, "", 0)                                                                                 \
  X(MUL, 2, "", 0)                                                                                 \
  X(DIV, 2, "", 0)                                                                                 \
  X(SIN, 1, "sin", 0)                                                                              \
  X(COS, 1, "cos", 0)                                                                              \
  X(TAN, 1, "tan", 0)                                                                              \
  X(ASIN, 1, "asin", 0)                                                                            \
  X(ACOS, 1, "acos", 0)                                                                            \
  X(ATAN, 1, "atan", 0)                                                                            \
  X(ATAN2, 2, "atan2", 1)                                                                          \
  X(SINH, 1, "sinh", 0)                                                                            \
  X(COSH, 1, "cosh", 0)                                                                            \
  X(TANH, 1, "tanh", 0)                                                                            \
  X(EXP, 1, "exp", 0)                                                                              \
  X(LOG, 1, "log", 0)                                                                              \
  X(SQRT, 1, "sqrt", 0)                                                                            \
  X(POW, 2, "pow", 0)                                                                              \
  X(HYPOT, 2, "hypot", 0)                                                                          \
  X(ABS, 1, "abs", 1)                                                                              \
  X(SIGN, 1, "sign", 1)                                                                            \
  X(FLOOR, 1, "floor", 1)                                                                          \
  X(MIN, 2, "min", 1)                                                                              \
  X(MAX, 2, "max", 1)                                                                              \
  X(CLAMP, 3, "clamp", 1)                                                                          \
  X(STEP, 1, "step", 1)                                                                            \
  X(SMOOTHSTEP, 3, "smoothstep", 1)                                                                \
  X(LT, 2, "", 1)                                                                                  \
  X(LE, 2, "", 1)                                                                                  \
  X(GT, 2, "", 1)                                                                                  \
  X(GE, 2, "", 1)                                                                                  \
  X(NOT, 1, "", 1)                                                                                 \
  X(AND, 2, "", 1)                                                                                 \
  X(OR, 2, "", 1)                                                                                  \
  X(JUMP_UNLESS, 1, "if", 1) /* if(c, a, b): c, JUMP_UNLESS b, a, JUMP end, b */                   \
  X(JUMP, 0, "", 0)

typedef enum sni_expr_code {
#define SNI_X(code, nargs, name, branches) SNI_EXPR_##code,
  SNI_EXPR_CODES(SNI_X)
#undef SNI_X
      SNI_EXPR_CODE_COUNT
} sni_expr_code;

#define SNI_EXPR_ARGS_MAX 3

typedef struct sni_expr_op {
  double value;   /* CONST                                                     */
  int16_t code;   /* sni_expr_code                                             */
  int16_t branch; /* index of this switch among the branches of the program; -1 */
  int32_t arg;    /* VAR: the variable; JUMP: where to                         */
} sni_expr_op;

struct sni_expr {
  int32_t nop, nbranch;
  sni_expr_op op[];
};

typedef struct sni_expr_code_info {
  const char *name;
  int nargs;
  bool branches;
} sni_expr_code_info;

const sni_expr_code_info *sni_expr_code_get(int code);

/* Switches.  The branch depends on the signs of differences of arguments, the guards:
 *
 *     a < b, min, max       a - b                 clamp(x, lo, hi)       x - lo, x - hi
 *     step, sign, abs       x                     smoothstep(a, b, x)    x - a, x - b, b - a
 *     atan2(y, x)           y                     not, and, or, if       none: true is "not 0"
 *     floor(x) = k          x - k, x - (k+1)
 *
 * The branch is a number: 0 or 1 for comparisons and logic, -1, 0, 1 for below, between, above,
 * k for floor, NaN where the arguments are not comparable. */
#define SNI_EXPR_GUARDS_MAX 3

typedef struct sni_expr_guard {
  int plus, minus; /* arguments: x[plus] - x[minus] - offset; minus -1: none */
  double offset;
} sni_expr_guard;

int sni_expr_guards(int code, double branch, sni_expr_guard guard[SNI_EXPR_GUARDS_MAX]);

/* -1, 0, 1, or 2 for a NaN */
static inline int sni_expr_sign(double x) {
  return x < 0 ? -1 : x > 0 ? 1 : x == 0 ? 0 : 2;
}

/* The branch from the signs: of the guards; for logic, of the arguments.  Not for floor. */
double sni_expr_branch_from_signs(int code, const int *sign);
double sni_expr_branch(int code, const double *x);

/* What a switch yields on a branch: scale times argument number `arg`; or, with arg -1, the
 * constant `scale`; or, with arg SNI_EXPR_FORMULA, the formula of its smooth part. */
#define SNI_EXPR_FORMULA (-2)
typedef struct sni_expr_outcome {
  int arg;
  double scale;
} sni_expr_outcome;

sni_expr_outcome sni_expr_take(int code, double branch);

/* One operation on its arguments; branch is used by switches only. */
double sni_expr_apply(int code, const double *x, double branch);
sni_jet sni_expr_apply_jet(int code, const sni_jet *x, double branch);

/* What is known of a function over an interval of its variable. */
typedef struct sni_expr_range {
  double lo, hi;
} sni_expr_range;

typedef struct sni_expr_bound {
  sni_expr_range v, d; /* value, derivative; NaN: the function is not defined there */
} sni_expr_bound;

sni_expr_bound sni_expr_apply_bound(int code, const sni_expr_bound *x, double branch);

/* Runs the first nop operations.  Branches are taken from branch or, if it is NULL, from the values
 * and then noted in record (which may be NULL).  Returns the height of the stack. */
int sni_expr_run(const sni_expr *expr, int nop, const double *vars, const double *branch,
                 double *record, double stack[SNI_EXPR_STACK_MAX]);

#endif
