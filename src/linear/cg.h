/* cg.h: conjugate gradients and conjugate residuals, for a symmetric positive matrix that is known
 * by its products alone.
 *
 * Whoever gives the product can follow the solution: what a product has found for the direction p
 * is x += step p later, so nothing needs to be solved again when the iterations end. */
#ifndef SNI_CG_H
#define SNI_CG_H

#include <stdbool.h>

typedef struct sni_cg {
  int n;
  void *user;
  void (*mul)(void *user, const double *p, double *q); /* q = A p                              */
  void (*follow)(void *user, double step); /* x moved by step times p; NULL: nobody asks          */
  void (*turn)(void *user, double beta);   /* residuals: p is what was multiplied last, and beta
                                              times the p before                                  */
  bool (*late)(void *user); /* asked before each iteration but the first; NULL: never */
  const double *inverse;    /* n  1 over a diagonal that is like A's; NULL: none                  */
  double precision;         /* enough when the largest |r| is not above this                      */
  int iterations;           /* at most                                                            */
  double *r;           /* n  b - A x for the x at the start; then for the last, by recurrence */
  double *p, *q;       /* n each: scratch; p is the last direction                           */
  double *z, *w;       /* n each: scratch of the residuals                                   */
  const double *first; /* n  gradients: a direction to go along before all others, and across
                          which these are then taken; NULL: none                                */
  double *A_first;     /* n  scratch for it                                                     */
  bool (*enough)(void *user); /* gradients: r is within the precision; is it little, too?  NULL:
                                 always                                                         */
  void (*keep)(void *user);   /* it is not, and they go on: x and all that follows it may be kept */
  void (*go_back)(void *user); /* ... and are to be as then: r was not within it when they ended  */
  bool begun; /* residuals: p is the last direction of iterations that were broken off, and go on */
} sni_cg;

/* For what more is asked than the precision they take so many times the iterations that it took,
 * and some, at most; and do not set out where these would be more than are allowed. */
enum { SNI_CG_TIMES = 4, SNI_CG_SOME = 8 };

/* Moves x; returns the number of iterations.  The error falls from one to the next, measured by the
 * matrix itself; r may rise.  From x = 0 on, r . x = 0 wherever they end, and with `first` too;
 * that takes one product more, which is not counted.  So a guess is to be given as `first`, and not
 * as x, where r . x = 0 matters: where the matrix is all but singular a guess may be far from the
 * solution and r be small. */
int sni_cg_run(const sni_cg *cg, double *x);

/* The same, but r falls, in the least squares that `inverse` weighs: what is broken off is better
 * than it was.  Where the matrix is singular and b cannot be reached, it comes as near as can be.
 * Iterations that have begun take one product more, which is not counted.  They go on as if they
 * had never been broken off, if matrix and r are as they were; if they are not, r falls all the
 * same. */
int sni_cr_run(const sni_cg *cg, double *x);

#endif
