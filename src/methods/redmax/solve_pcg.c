/* solve_pcg.c: conjugate gradients with the projected block Jacobi preconditioner [RM Alg 1]: A
 * with the coupling between pairs of bodies left out, inverted by the recursion in linear time.
 * Nothing is formed.  With pairs that resist, the spectrum of P^-1 A lies in (0, 2). */
#include "methods/redmax/system.h"

#include <stdlib.h>
#include <string.h>

static bool pcg_suits(const sni_system *s) {
  (void)s;
  return true;
}

static sn_status pcg_build(sni_system *s, void **own, sn_error *err) {
  *own = calloc(4 * (size_t)s->t->nv + 1, sizeof(double));
  return *own ? SN_OK : sni_fail(err, SN_E_MEMORY, "no memory for the solver pcg");
}

static void pcg_free(void **own) {
  free(*own);
  *own = NULL;
}

static sn_status pcg_factorise(sni_system *s, void *own, sni_solve_info *info) {
  (void)own;
  info->bad = sni_factorise(s->t, &s->in, &s->d->w);
  return info->bad >= 0 ? SN_E_SINGULAR : SN_OK;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static sn_status pcg_solve(sni_system *s, void *own, const double *b, double tolerance,
                           int max_iterations, double *x, sni_solve_info *info) {
  const int n = s->t->nv;
  double *r = own, *z = r + n, *p = z + n, *Ap = p + n;
  const double scale = sqrt(dot(n, b, b));
  if (scale == 0) { /* nothing to compare a residual with, and nothing to find */
    memset(x, 0, (size_t)n * sizeof *x);
    info->converged = true;
    return SN_OK;
  }
  sni_system_mul(s, x, Ap);
  for (int i = 0; i < n; i++) {
    r[i] = b[i] - Ap[i];
  }
  double rz = 0;
  info->residual = sqrt(dot(n, r, r)) / scale;
  if (info->residual > 1) { /* a guess worse than none: its rounding would stay in r */
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, b, (size_t)n * sizeof *r);
    info->residual = 1;
  }
  info->converged = info->residual <= tolerance;
  for (int k = 0; !info->converged && k < max_iterations; k++) {
    sni_Minv_mul(s->t, &s->d->w, r, z);
    const double rz_new = dot(n, r, z);
    for (int i = 0; i < n; i++) {
      p[i] = z[i] + (k > 0 ? rz_new / rz * p[i] : 0);
    }
    rz = rz_new;
    sni_system_mul(s, p, Ap);
    const double curvature = dot(n, p, Ap);
    if (!(curvature > 0)) {
      return SN_NOT_CONVERGED; /* not positive definite: a tangent that pushes */
    }
    for (int i = 0; i < n; i++) {
      x[i] += rz / curvature * p[i];
      r[i] -= rz / curvature * Ap[i];
    }
    info->iterations++;
    info->residual = sqrt(dot(n, r, r)) / scale;
    info->converged = info->residual <= tolerance;
  }
  return info->converged ? SN_OK : SN_NOT_CONVERGED;
}

const sni_solver sni_solver_pcg = {.name = "pcg",
                                   .build = pcg_build,
                                   .free = pcg_free,
                                   .suits = pcg_suits,
                                   .factorise = pcg_factorise,
                                   .solve = pcg_solve};
