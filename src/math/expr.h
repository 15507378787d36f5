/* expr.h: scalar expressions of named variables, compiled to a flat postfix program.
 *
 *     sni_expr_compile("2*pi*t + if(t < 1, 0, sin(t))", (const char *[]){"t"}, 1, &expr, &err);
 *     value = sni_expr_eval(expr, &t);
 *     jet = sni_expr_eval_jet(expr, &(sni_jet){t, 1, 0});       value, d/dt, d2/dt2, exact
 *
 * The language is described in docs/expressions.md.  A program is one block without pointers: it
 * may be copied with memcpy and is never written after compiling, so that threads share it.
 * Evaluation does not allocate and cannot fail; outside the domain of a function (log(-1)) it gives
 * a NaN or an infinity, which the caller meets where it checks its state.
 *
 * Comparisons, step, sign, abs, floor, min, max, clamp, smoothstep and the cut of atan2 make an
 * expression jump or kink.  Each of these is a switch: it takes one branch, and between two changes
 * of branch the expression is smooth.  An integrator asks for the next change
 * (sni_expr_next_break), integrates up to it, and evaluates with the branches of a reference point
 * inside the smooth interval (sni_expr_eval_jet_from), which gives the left value at its end and
 * the right value at its start. */
#ifndef SNI_EXPR_H
#define SNI_EXPR_H

#include "base/error.h"

#define SNI_EXPR_LENGTH_MAX  4096 /* characters of text                           */
#define SNI_EXPR_NESTING_MAX 64   /* parentheses, arguments, signs in each other  */
#define SNI_EXPR_STACK_MAX   256  /* intermediate values                          */
#define SNI_EXPR_SWITCH_MAX  256  /* switches and logical operators               */
#define SNI_EXPR_NAME_MAX    64   /* variables                                    */

typedef struct sni_expr sni_expr;

/* A number that moves: value, first and second derivative along one direction. */
typedef struct sni_jet {
  double v, d, dd;
} sni_jet;

/* Compiles text, in which names[k] stands for variable k.  A mistake is reported with
 * err->column, counted from 1 in text.  The names are not kept. */
sn_status sni_expr_compile(const char *text, const char *const *names, int nname, sni_expr **out,
                           sn_error *err);
void sni_expr_free(sni_expr **expr);
size_t sni_expr_size(const sni_expr *expr); /* bytes of the block */

bool sni_expr_uses(const sni_expr *expr, int variable);
bool sni_expr_is_smooth(const sni_expr *expr);   /* without switches */
bool sni_expr_is_constant(const sni_expr *expr); /* no variable matters, and so no switch */

double sni_expr_eval(const sni_expr *expr, const double *vars);

/* Each variable comes with its own derivatives along the direction: t is (t, 1, 0). */
sni_jet sni_expr_eval_jet(const sni_expr *expr, const sni_jet *vars);

/* The same with every branch decided at vars_ref instead of at vars. */
sni_jet sni_expr_eval_jet_from(const sni_expr *expr, const sni_jet *vars, const double *vars_ref);

/* For an expression whose only variable is t: finds the earliest time in (t0, t1] at which a branch
 * changes.  Returns false if there is none.  t0 <= t1, both finite.
 * Where the two sides of a switch are affine in t between breaks (t < 3, floor(10*t),
 * t - floor(t) < 0.5) the time is the rounded solution of the linear equation; elsewhere it is the
 * last bit of a bisection after intervals without a change were excluded by bounds on value and
 * derivative.  A break nearer to t0 than sni_expr_break_gap counts as being at t0: it was found
 * before, up to rounding.  When the exclusion takes very long, a time at which nothing changes may
 * be returned; all breaks before it have been excluded.  Not found: the edges of a function's
 * domain (sqrt at 0), the corner of hypot at the origin. */
bool sni_expr_next_break(const sni_expr *expr, double t0, double t1, double *t_break);

/* For the same: bounds of its value and its rate over [t0, t1], with every branch decided at t_ref;
 * they may be wider than need be, infinite, or NaN where it is not defined. */
void sni_expr_bounds(const sni_expr *expr, double t0, double t1, double t_ref, double value[2],
                     double rate[2]);
double sni_expr_break_gap(double t0, double t1);

/* A number, or an expression without variables.  Never gives a NaN or an infinity. */
sn_status sni_expr_constant(const char *text, double *out, sn_error *err);

#endif
