/* function.h: functions of time, ready for evaluation.
 *
 * Value, first and second derivative are those of one and the same function, exactly.  A function
 * is one block without pointers, is never written after building, and may be shared by threads.
 *
 * Between its breaks a function is smooth (keyframes with cubic interpolation: two continuous
 * derivatives).  An integrator goes from break to break and passes as t_ref a time between the two
 * (sni_function_inside); so it gets the left value at the end of an interval and the right value at
 * the start of the next. */
#ifndef SNI_FUNCTION_H
#define SNI_FUNCTION_H

#include "base/csv.h"
#include "base/error.h"
#include "sinew/function.h"

typedef struct sni_function sni_function;

/* A mistake in an expression is reported with err->column, counted from 1 in the expression. */
sn_status sni_function_build(const sn_function_def *def, sni_function **out, sn_error *err);

/* The same from a file that has been read already: many columns, one reading. */
sn_status sni_function_build_csv(const sni_csv *csv, const char *column,
                                 sn_interpolation interpolation, sni_function **out, sn_error *err);

void sni_function_free(sni_function **f);
size_t sni_function_size(const sni_function *f); /* bytes of the block: memcpy gives a copy */

bool sni_function_is_constant(const sni_function *f);

/* out: value, first and second derivative at t, on the smooth piece that contains t_ref.
 * With t_ref = t: on the piece that starts at t, if one starts there. */
void sni_function_eval(const sni_function *f, double t, double t_ref, double out[3]);

/* The earliest time in (t0, t1] at which the value or one of its first two derivatives jumps;
 * false if there is none.  Breaks within rounding of t0 count as being at t0: see
 * sni_expr_next_break, whose remarks hold here too. */
bool sni_function_next_break(const sni_function *f, double t0, double t1, double *t_break);

/* Bounds of value and rate over [t0, t1], which must not contain a break, on the smooth piece of
 * t_ref: they may be wider than need be, infinite, or NaN where it is not defined. */
void sni_function_bounds(const sni_function *f, double t0, double t1, double t_ref, double value[2],
                         double rate[2]);

/* Somebody looks at f at the times t0 + node[k] (t1 - t0), both ends among them, and nowhere else:
 * does he miss something?
 * True if, in between, the value (order 0) or the rate (order 1) leaves the range of what he sees
 * by more than half of that range.  See function_hides.c. */
bool sni_function_hides(const sni_function *f, double t0, double t1, double t_ref, int order,
                        const double *node, int nnode);

/* Does its value run to infinity between t0 and t1?  Near *at.  At these themselves it is finite,
 * or that is noticed anyway. */
bool sni_function_pole(const sni_function *f, double t0, double t1, double *at);
/* Is it certain that there is none? */
bool sni_function_bounded(const sni_function *f, double t0, double t1);

/* A good t_ref for the smooth interval from t0 to t1.  Not its middle: the intervals of periodic
 * functions are symmetric, and a crest may touch a limit there (floor(2*sin(t)) is 2 at pi/2). */
double sni_function_inside(double t0, double t1);

#endif
