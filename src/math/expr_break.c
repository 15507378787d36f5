/* expr_break.c: when does an expression of t change a branch?
 *
 * Just after t0 every switch takes a certain branch.  As long as no branch changes, the expression
 * is one smooth function, and so is every guard (see expr_program.h), whatever switches it
 * contains itself.  The first break is therefore the earliest zero, in (t0, t1], of any guard of
 * the program with all branches frozen: a zero behind the first break may be wrong, but it loses.
 *
 * Guards p t + q: the zero is -q/p, and which side t0 is on follows from comparing t0 with that
 * same number, never from a value, whose rounding could find the same break again.
 * Other guards: march from t0 with steps over which an interval bound of the guard excludes 0, or
 * one of its derivative makes it monotone so that the sign at the end decides; halve where neither
 * holds, double where one does; bisect where the sign changes. */
#include "math/expr_program.h"

#include <float.h>
#include <math.h>

#define MARCH_MAX  4096 /* steps tried for one guard before                               */
#define HEADWAY    1e-4 /* ... it must have come so far of the way, or takes longer steps */
#define RESOLUTION 1e-6 /* ... of this part of the way                                    */

typedef sni_expr_range range;
typedef sni_expr_bound bound;

static bound constant_bound(double x) {
  return (bound){{x, x}, {0, 0}};
}

double sni_expr_break_gap(double t0, double t1) {
  return 8 * DBL_EPSILON * fmax(fabs(t0), fabs(t1));
}

/* ---- One guard as a function of t, all branches frozen */

typedef struct guard_function {
  const sni_expr *expr;
  const double *branch;
  int op; /* the switch; its arguments are on the stack when the program has come there */
  sni_expr_guard guard;
  int sign; /* just after t0 */
} guard_function;

static double guard_value(const guard_function *g, double t) {
  double stack[SNI_EXPR_STACK_MAX];
  const int top = sni_expr_run(g->expr, g->op, &t, g->branch, NULL, stack);
  const double *x = stack + top - sni_expr_code_get(g->expr->op[g->op].code)->nargs;
  return x[g->guard.plus] - (g->guard.minus < 0 ? g->guard.offset : x[g->guard.minus]);
}

/* A value and how much rounding may have changed it, to first order: every operation passes on the
 * errors of its arguments times its partial derivatives, and rounds. */
typedef struct rounded {
  double v, error;
} rounded;

static rounded apply_rounded(int code, const rounded *x, double branch) {
  const int nargs = sni_expr_code_get(code)->nargs;
  sni_jet jet[SNI_EXPR_ARGS_MAX];
  for (int k = 0; k < nargs; k++) {
    jet[k] = (sni_jet){x[k].v, 0, 0};
  }
  rounded r = {sni_expr_apply_jet(code, jet, branch).v, 0};
  r.error = DBL_EPSILON * fabs(r.v);
  for (int k = 0; k < nargs; k++) {
    jet[k].d = x[k].error;
    r.error += fabs(sni_expr_apply_jet(code, jet, branch).d);
    jet[k].d = 0;
  }
  return r;
}

/* Sign of the guard at t, or 0 where it may be rounding: a guard with a flat zero, such as
 * tanh(t) - atan(t) at 0, would otherwise change its sign at every other number near there. */
static int guard_sign(const guard_function *g, double t) {
  rounded stack[SNI_EXPR_STACK_MAX];
  int top = 0;
  for (int i = 0; i < g->op; i++) {
    const sni_expr_op *op = &g->expr->op[i];
    if (op->code == SNI_EXPR_CONST) {
      stack[top++] = (rounded){op->value, 0};
    } else if (op->code == SNI_EXPR_VAR) {
      stack[top++] = (rounded){t, 0};
    } else if (op->code == SNI_EXPR_JUMP) {
      i = op->arg - 1;
    } else if (op->code == SNI_EXPR_JUMP_UNLESS) {
      top--;
      i = g->branch[op->branch] == 0 ? op->arg - 1 : i;
    } else {
      const double taken = op->branch >= 0 ? g->branch[op->branch] : 0;
      top -= sni_expr_code_get(op->code)->nargs;
      stack[top] = apply_rounded(op->code, stack + top, taken);
      top++;
    }
  }
  const rounded *x = stack + top - sni_expr_code_get(g->expr->op[g->op].code)->nargs;
  const rounded minus = g->guard.minus < 0 ? (rounded){g->guard.offset, 0} : x[g->guard.minus];
  const rounded d = apply_rounded(SNI_EXPR_SUB, (rounded[]){x[g->guard.plus], minus}, 0);
  return fabs(d.v) <= d.error ? 0 : sni_expr_sign(d.v);
}

/* Bounds over t of what the first nop operations leave on the stack; returns its height. */
static int run_bounds(const sni_expr *expr, int nop, range t, const double *branch,
                      bound stack[SNI_EXPR_STACK_MAX]) {
  int top = 0;
  for (int i = 0; i < nop; i++) {
    const sni_expr_op *op = &expr->op[i];
    if (op->code == SNI_EXPR_CONST) {
      stack[top++] = constant_bound(op->value);
    } else if (op->code == SNI_EXPR_VAR) {
      stack[top++] = (bound){t, {1, 1}};
    } else if (op->code == SNI_EXPR_JUMP) {
      i = op->arg - 1;
    } else if (op->code == SNI_EXPR_JUMP_UNLESS) {
      top--;
      i = branch[op->branch] == 0 ? op->arg - 1 : i;
    } else {
      const double taken = op->branch >= 0 ? branch[op->branch] : 0;
      top -= sni_expr_code_get(op->code)->nargs;
      stack[top] = sni_expr_apply_bound(op->code, stack + top, taken);
      top++;
    }
  }
  return top;
}

static bound guard_bound(const guard_function *g, range t) {
  bound stack[SNI_EXPR_STACK_MAX];
  const int top = run_bounds(g->expr, g->op, t, g->branch, stack);
  const bound *x = stack + top - sni_expr_code_get(g->expr->op[g->op].code)->nargs;
  const bound minus = g->guard.minus < 0 ? constant_bound(g->guard.offset) : x[g->guard.minus];
  return sni_expr_apply_bound(SNI_EXPR_SUB, (bound[]){x[g->guard.plus], minus}, 0);
}

void sni_expr_bounds(const sni_expr *expr, double t0, double t1, double t_ref, double value[2],
                     double rate[2]) {
  double branch[SNI_EXPR_SWITCH_MAX], numbers[SNI_EXPR_STACK_MAX];
  bound stack[SNI_EXPR_STACK_MAX];
  sni_expr_run(expr, expr->nop, &t_ref, NULL, branch, numbers);
  run_bounds(expr, expr->nop, (range){t0, t1}, branch, stack);
  value[0] = stack[0].v.lo;
  value[1] = stack[0].v.hi;
  rate[0] = stack[0].d.lo;
  rate[1] = stack[0].d.hi;
}

/* Sign at t; where it is 0, a little later: a guard may end on its zero.  It may also be 0 for a
 * while, around a maximum that touches 0, and then nothing changes. */
static int sign_at(const guard_function *g, double t, double later) {
  const int sign = guard_sign(g, t);
  return sign != 0 ? sign : guard_sign(g, t + later);
}

/* The sign is right at lo and no longer at hi: the first number at which it is not, here without
 * allowance for rounding. */
static double bisect(const guard_function *g, double lo, double hi) {
  for (;;) {
    const double mid = lo + 0.5 * (hi - lo);
    if (!(mid > lo && mid < hi)) {
      return hi;
    }
    const int sign = sni_expr_sign(guard_value(g, mid));
    if (sign == 0 || sign == -g->sign) {
      hi = mid;
    } else {
      lo = mid;
    }
  }
}

/* The first zero in (t0, t1], else INFINITY.  way: the length of the whole search, of which t1 may
 * have cut off the rest. */
static double march(const guard_function *g, double t0, double t1, double way) {
  const double last_bits = 4 * DBL_EPSILON * fmax(fabs(t0), fabs(t1));
  double resolution = last_bits;
  double width_min = resolution; /* shorter steps are judged by their end */
  double a = t0, width = t1 - t0;
  for (int count = 0; a < t1; count++) {
    if (count == MARCH_MAX) {
      if (resolution > last_bits || a - t0 > HEADWAY * way) {
        return a;
      }
      /* the two sides nearly agree for a while: look less closely */
      resolution = width_min = RESOLUTION * way;
      width = fmax(width, width_min);
      count = 0;
    }
    const double b = a + width < t1 ? a + width : t1;
    const bound r = guard_bound(g, (range){a, b});
    const bool clear = isnan(r.v.lo) || (g->sign > 0 ? r.v.lo > 0 : r.v.hi < 0);
    if (clear) {
      a = b;
      width *= 2;
      width_min = resolution;
      continue;
    }
    const bool monotone = r.d.lo >= 0 || r.d.hi <= 0;
    const bool crossed = g->sign > 0 ? r.v.hi < 0 : r.v.lo > 0;
    const bool shortest = width <= width_min;
    if (!monotone && !crossed && !shortest) {
      width *= 0.5;
      continue;
    }
    if (sign_at(g, b, 16 * last_bits) == -g->sign) {
      return bisect(g, a, b);
    }
    a = b;
    width *= 2;
    if (!monotone) { /* a touch, or zero all along: leave it faster and faster */
      width_min = width;
    }
  }
  return INFINITY;
}

/* ---- All guards */

typedef struct slot { /* a value on the stack, just after t0 */
  double v;
  bool affine; /* p t + q until the next break */
  double p, q;
} slot;

static slot slot_constant(double value) {
  return (slot){value, true, 0, value};
}

static slot slot_sub(slot x, slot y) {
  return (slot){x.v - y.v, x.affine && y.affine, x.p - y.p, x.q - y.q};
}

/* + 0.0 because a break at -0 would look odd */
static double affine_zero(slot x) {
  return x.p == 0 ? INFINITY : -x.q / x.p + 0.0;
}

static slot apply_slot(int code, const slot *x, double branch) {
  const int nargs = sni_expr_code_get(code)->nargs;
  double v[SNI_EXPR_ARGS_MAX], q[SNI_EXPR_ARGS_MAX];
  bool constant = true;
  for (int k = 0; k < nargs; k++) {
    v[k] = x[k].v;
    q[k] = x[k].q;
    constant = constant && x[k].affine && x[k].p == 0;
  }
  if (constant) {
    return slot_constant(sni_expr_apply(code, q, branch));
  }
  slot r = {.v = sni_expr_apply(code, v, branch)};
  if (sni_expr_code_get(code)->branches) {
    const sni_expr_outcome outcome = sni_expr_take(code, branch);
    if (outcome.arg == -1) {
      return slot_constant(outcome.scale);
    }
    if (outcome.arg >= 0) {
      r.affine = x[outcome.arg].affine;
      r.p = outcome.scale * x[outcome.arg].p;
      r.q = outcome.scale * x[outcome.arg].q;
    }
    return r;
  }
  switch (code) {
  case SNI_EXPR_NEG:
    return (slot){r.v, x[0].affine, -x[0].p, -x[0].q};
  case SNI_EXPR_ADD:
    return (slot){r.v, x[0].affine && x[1].affine, x[0].p + x[1].p, x[0].q + x[1].q};
  case SNI_EXPR_SUB:
    return slot_sub(x[0], x[1]);
  case SNI_EXPR_MUL: {
    const bool left = x[0].affine && x[0].p == 0;
    const double c = left ? x[0].q : x[1].q;
    const slot other = left ? x[1] : x[0];
    const bool either = left || (x[1].affine && x[1].p == 0);
    return (slot){r.v, either && other.affine, c * other.p, c * other.q};
  }
  case SNI_EXPR_DIV:
    return (slot){r.v, x[0].affine && x[1].affine && x[1].p == 0, x[0].p / x[1].q, x[0].q / x[1].q};
  default:
    return r;
  }
}

typedef struct search {
  const sni_expr *expr;
  double t0, t1; /* the break is looked for in (t0, t1]; t1 shrinks to the best so far */
  double gap;
  bool found;
  double branch[SNI_EXPR_SWITCH_MAX];
  int sign[SNI_EXPR_SWITCH_MAX][SNI_EXPR_GUARDS_MAX]; /* of guards to march along; else 0 */
} search;

static void note_break(search *s, double t) {
  if (t > s->t0 && t <= s->t1) {
    s->t1 = t;
    s->found = true;
  }
}

/* Sign of x just after t0.  Affine: the zero decides, see above. */
static int affine_sign(const search *s, slot x) {
  if (x.p == 0) {
    return sni_expr_sign(x.q);
  }
  return (s->t0 >= affine_zero(x)) == (x.p > 0) ? 1 : -1;
}

/* Sign of x - y, a guard of operation number op, just after t0.  Where it is 0 it says nothing
 * about later: look there. */
static int sign_after(const search *s, int op, sni_expr_guard guard, slot x, slot y) {
  if (x.affine && y.affine) {
    return affine_sign(s, slot_sub(x, y));
  }
  const guard_function g = {s->expr, s->branch, op, guard, 0};
  int sign = guard_sign(&g, s->t0);
  double dt = s->gap;
  while (sign == 0 && dt > 0 && s->t0 + dt < s->t1) {
    sign = guard_sign(&g, s->t0 + dt);
    dt *= 4;
  }
  return sign;
}

/* The k of floor(x) just after t0: x - k > 0 > x - (k+1).  The value may be off by rounding, or be
 * a whole number and about to fall. */
static double floor_branch(const search *s, int op, slot x) {
  double k = floor(x.v);
  if (x.affine && x.p == 0) {
    return floor(x.q);
  }
  for (int i = 0; i < 2; i++) {
    const sni_expr_guard low = {0, -1, k};
    k -= sign_after(s, op, low, x, slot_constant(k)) == -1;
    const sni_expr_guard high = {0, -1, k + 1};
    k += sign_after(s, op, high, x, slot_constant(k + 1)) == 1;
  }
  return k;
}

/* Decides the branch of the switch at operation number i just after t0 and looks at its affine
 * guards.  x: its arguments. */
static double decide(search *s, int i, const slot *x) {
  const sni_expr_op *op = &s->expr->op[i];
  const bool is_floor = op->code == SNI_EXPR_FLOOR;
  const double k = is_floor ? floor_branch(s, i, x[0]) : 0;
  sni_expr_guard guard[SNI_EXPR_GUARDS_MAX];
  const int nguard = sni_expr_guards(op->code, k, guard);
  int sign[SNI_EXPR_GUARDS_MAX];
  for (int j = 0; j < nguard; j++) {
    const slot minus = guard[j].minus < 0 ? slot_constant(guard[j].offset) : x[guard[j].minus];
    const slot g = slot_sub(x[guard[j].plus], minus);
    sign[j] = sign_after(s, i, guard[j], x[guard[j].plus], minus);
    s->sign[op->branch][j] = g.affine ? 0 : sign[j];
    if (g.affine) {
      note_break(s, affine_zero(g));
    }
  }
  /* logic: what is not constant is not 0, but for moments */
  for (int j = 0; nguard == 0 && j < sni_expr_code_get(op->code)->nargs; j++) {
    sign[j] = x[j].affine && x[j].p == 0 ? sni_expr_sign(x[j].q) : 1;
  }
  return is_floor ? k : sni_expr_branch_from_signs(op->code, sign);
}

/* Runs the program just after t0: all branches and the affine guards.  A switch on a way not taken
 * is not visited and does not matter. */
static void freeze(search *s) {
  slot stack[SNI_EXPR_STACK_MAX];
  int top = 0;
  for (int i = 0; i < s->expr->nop; i++) {
    const sni_expr_op *op = &s->expr->op[i];
    if (op->code == SNI_EXPR_CONST) {
      stack[top++] = slot_constant(op->value);
    } else if (op->code == SNI_EXPR_VAR) {
      stack[top++] = (slot){s->t0, true, 1, 0};
    } else if (op->code == SNI_EXPR_JUMP) {
      i = op->arg - 1;
    } else {
      top -= sni_expr_code_get(op->code)->nargs;
      double taken = 0;
      if (op->branch >= 0) {
        taken = s->branch[op->branch] = decide(s, i, stack + top);
      }
      if (op->code != SNI_EXPR_JUMP_UNLESS) {
        stack[top] = apply_slot(op->code, stack + top, taken);
        top++;
      } else if (taken == 0) {
        i = op->arg - 1;
      }
    }
  }
}

bool sni_expr_next_break(const sni_expr *expr, double t0, double t1, double *t_break) {
  const double gap = sni_expr_break_gap(t0, t1);
  search s = {.expr = expr, .t0 = t0 + gap, .t1 = t1, .gap = gap};
  if (expr->nbranch == 0 || !(s.t0 < t1)) {
    return false;
  }
  freeze(&s);
  for (int i = 0; i < expr->nop; i++) {
    const sni_expr_op *op = &expr->op[i];
    sni_expr_guard guard[SNI_EXPR_GUARDS_MAX];
    const int nguard = op->branch < 0 ? 0 : sni_expr_guards(op->code, s.branch[op->branch], guard);
    for (int k = 0; k < nguard; k++) {
      const int sign = s.sign[op->branch][k];
      if (sign == 1 || sign == -1) {
        const guard_function g = {expr, s.branch, i, guard[k], sign};
        note_break(&s, march(&g, s.t0, s.t1, t1 - t0));
      }
    }
  }
  if (s.found) {
    *t_break = s.t1;
  }
  return s.found;
}
