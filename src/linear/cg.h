/* cg.h: conjugate gradients for a symmetric positive matrix that is known by its products alone.
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
  void (*follow)(void *user, double step); /* x moved by step times the last p; NULL: nobody asks */
  bool (*late)(void *user);                /* asked before each iteration; NULL: never            */
  const double *inverse; /* n  1 over a diagonal that is like A's; NULL: none                  */
  double precision;      /* enough when the largest |r| is not above this                      */
  int iterations;        /* at most                                                            */
  double *r;             /* n  b - A x for the x at the start; then for the last, by recurrence */
  double *p, *q;         /* n each: scratch                                                    */
} sni_cg;

/* Moves x; returns the number of iterations. */
int sni_cg_run(const sni_cg *cg, double *x);

/* The largest |x|; NaN if one of them is. */
double sni_largest(int n, const double *x);

#endif
