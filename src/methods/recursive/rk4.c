/* rk4.c: the classic Runge-Kutta method of order 4. */
#include "methods/recursive/ode.h"
#include "model/function.h"

#include <string.h>

int sni_rk4_step(const sni_ode *ode, double t, double h, const double *f0, double *y,
                 double *work) {
  static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  const int n = ode->n;
  const double t_ref = sni_function_inside(t, t + h);
  const size_t bytes = (size_t)n * sizeof(double);
  double *y0 = work, *stage = work + n, *k = work + 2 * n, *sum = work + 3 * n;
  memcpy(y0, y, bytes);
  memcpy(k, f0, bytes);
  memset(sum, 0, bytes);
  for (int s = 0; s < 4; s++) {
    for (int i = 0; s > 0 && i < n; i++) {
      stage[i] = y0[i] + h * node[s] * k[i];
    }
    const int bad = s > 0 ? ode->f(ode->user, t + node[s] * h, t_ref, stage, k) : -1;
    if (bad >= 0) {
      return bad;
    }
    for (int i = 0; i < n; i++) {
      sum[i] += weight[s] * k[i];
    }
  }
  for (int i = 0; i < n; i++) {
    y[i] = y0[i] + h * sum[i];
  }
  return -1;
}
