/* ode.h: the integrators of the recursive method, for y' = f(t, y). */
#ifndef SNI_ODE_H
#define SNI_ODE_H

#include "sinew/sinew.h"

/* f(t, y), on the smooth piece around t_ref.  May overwrite entries of y whose value is known (a
 * prescribed motion).  Returns -1, or the body at fault. */
typedef struct sni_ode {
  int n;
  int (*f)(void *user, double t, double t_ref, double *y, double *dydt);
  /* Takes out of an error what the user will correct anyway, right after f at the end of a step.
   * NULL: nothing. */
  void (*forgive)(void *user, double *error);
  void *user;
} sni_ode;

/* One classic Runge-Kutta step from t to t + h, in place, with f0 = f(t, y).  work: 4 n doubles,
 * which begin with what y was.  Returns -1, or the body at fault. */
int sni_rk4_step(const sni_ode *ode, double t, double h, const double *f0, double *y, double *work);

/* ---- Dormand-Prince 5(4) with the continuous extension of Hairer ---- */

#define SNI_DOPRI5_DENSE 5 /* vectors that describe the solution on one step */

/* The times within a step of length 1 at which f has a weight in the result and its error. */
#define SNI_DOPRI5_SEEN 5
extern const double sni_dopri5_seen[SNI_DOPRI5_SEEN];

/* One try from (t, y) with f0 = f(t, y).  Fills y1, f1 = f(t + h, y1) and dense; *error is the
 * estimated local error relative to the tolerance: at most 1 is good.  work: 7 n doubles.
 * Returns -1, or the body at fault. */
int sni_dopri5_try(const sni_ode *ode, double t, double h, double rel_tol, double abs_tol,
                   const double *y, const double *f0, double *y1, double *f1, double *dense,
                   double *error, double *work);

/* y(t + theta h), 0 <= theta <= 1. */
void sni_dopri5_dense(int n, const double *dense, double theta, double *out);

/* A first step size.  work: 2 n doubles. */
double sni_dopri5_first_step(const sni_ode *ode, double t, double t_ref, double h_max,
                             double rel_tol, double abs_tol, const double *y, const double *f0,
                             double *work);

#endif
