/* dopri5.c: Dormand and Prince's method of order 5 with an embedded error estimate of order 4
 * (J. Comput. Appl. Math. 6, 1980), and the continuous extension of order 4 given by Hairer,
 * Norsett and Wanner, Solving Ordinary Differential Equations I, section II.6. */
#include "methods/recursive/ode.h"
#include "model/function.h"

#include <math.h>
#include <string.h>

static const double node[7] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
/* not 1/5, which has a weight in later stages only */
const double sni_dopri5_seen[SNI_DOPRI5_SEEN] = {0, 3. / 10, 4. / 5, 8. / 9, 1};
static const double A[7][6] = {{0},
                               {1. / 5},
                               {3. / 40, 9. / 40},
                               {44. / 45, -56. / 15, 32. / 9},
                               {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                               {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                               {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
/* fifth minus fourth order */
static const double E[7] = {71. / 57600,      0,         -71. / 16695, 71. / 1920,
                            -17253. / 339200, 22. / 525, -1. / 40};
static const double D[7] = {-12715105075. / 11282082432.,  0,
                            87487479700. / 32700410799.,   -10690763975. / 1880347072.,
                            701980252875. / 199316789632., -1453857185. / 822651844.,
                            69997945. / 29380423.};

int sni_dopri5_try(const sni_ode *ode, double t, double h, double rel_tol, double abs_tol,
                   const double *y, const double *f0, double *y1, double *f1, double *dense,
                   double *error, double *work) {
  const int n = ode->n;
  const double t_ref = sni_function_inside(t, t + h);
  const double *k[7] = {f0};
  double *stage = work;
  for (int s = 1; s < 7; s++) {
    double *ks = s == 6 ? f1 : work + (size_t)s * (size_t)n;
    double *at = s == 6 ? y1 : stage;
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < s; j++) {
        sum += A[s][j] * k[j][i];
      }
      at[i] = y[i] + h * sum;
    }
    const int bad = ode->f(ode->user, t + node[s] * h, t_ref, at, ks);
    if (bad >= 0) {
      return bad;
    }
    k[s] = ks;
  }
  double norm = 0, *e = stage;
  for (int i = 0; i < n; i++) {
    e[i] = 0;
    for (int s = 0; s < 7; s++) {
      e[i] += h * E[s] * k[s][i];
    }
  }
  if (ode->forgive) {
    ode->forgive(ode->user, e);
  }
  double *const c[SNI_DOPRI5_DENSE] = {dense, dense + n, dense + 2 * n, dense + 3 * n,
                                       dense + 4 * n};
  for (int i = 0; i < n; i++) {
    double d = 0;
    for (int s = 0; s < 7; s++) {
      d += D[s] * k[s][i];
    }
    const double scale = abs_tol + rel_tol * fmax(fabs(y[i]), fabs(y1[i]));
    norm += (e[i] / scale) * (e[i] / scale);
    const double diff = y1[i] - y[i], bend = h * f0[i] - diff;
    c[0][i] = y[i];
    c[1][i] = diff;
    c[2][i] = bend;
    c[3][i] = diff - h * f1[i] - bend;
    c[4][i] = h * d;
  }
  *error = n > 0 ? sqrt(norm / n) : 0;
  return -1;
}

void sni_dopri5_dense(int n, const double *dense, double theta, double *out) {
  const double rest = 1 - theta;
  for (int i = 0; i < n; i++) {
    const double *c = dense + i;
    out[i] = c[0] + theta * (c[n] + rest * (c[2 * n] + theta * (c[3 * n] + rest * c[4 * n])));
  }
}

static double scaled_norm(int n, const double *x, const double *y, double rel_tol, double abs_tol) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double r = x[i] / (abs_tol + rel_tol * fabs(y[i]));
    sum += r * r;
  }
  return n > 0 ? sqrt(sum / n) : 0;
}

/* From the sizes of y, y' and (by one explicit Euler step) y'': section II.4 of the same book. */
double sni_dopri5_first_step(const sni_ode *ode, double t, double t_ref, double h_max,
                             double rel_tol, double abs_tol, const double *y, const double *f0,
                             double *work) {
  const int n = ode->n;
  double *y1 = work, *f1 = work + n;
  const double d0 = scaled_norm(n, y, y, rel_tol, abs_tol);
  const double d1 = scaled_norm(n, f0, y, rel_tol, abs_tol);
  double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  h = fmin(h, h_max);
  for (int i = 0; i < n; i++) {
    y1[i] = y[i] + h * f0[i];
  }
  if (ode->f(ode->user, t + h, t_ref, y1, f1) >= 0) {
    return h;
  }
  for (int i = 0; i < n; i++) {
    f1[i] -= f0[i];
  }
  const double d2 = scaled_norm(n, f1, y, rel_tol, abs_tol) / h;
  const double most = fmax(d1, d2);
  const double h1 = most <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / most, 0.2);
  const double out = fmin(fmin(100 * h, h1), h_max);
  return isfinite(out) && out > 0 ? out : h;
}
