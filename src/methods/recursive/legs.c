/* legs.c: polynomials of degree 5 between states that are on the constraints. */
#include "methods/recursive/legs.h"

/* What is nothing: of a gap, and of a rate as part of the largest. */
#define GAP_MOST  1e-12
#define RATE_MOST 1e-10

void sni_leg_lay(int nv, double h, const double *y0, const double *f0, const double *y1,
                 const double *f1, double *c) {
  for (int i = 0; i < nv; i++) {
    const double v = h * y0[nv + i], a = 0.5 * h * h * f0[nv + i];
    /* what is missing at the end */
    const double d = y1[i] - y0[i] - v - a, dv = h * y1[nv + i] - v - 2 * a,
                 da = 0.5 * h * h * f1[nv + i] - a;
    c[i] = y0[i];
    c[nv + i] = v;
    c[2 * nv + i] = a;
    c[3 * nv + i] = 10 * d - 4 * dv + da;
    c[4 * nv + i] = -15 * d + 7 * dv - 2 * da;
    c[5 * nv + i] = 6 * d - 3 * dv + da;
  }
}

void sni_leg_read(int nv, double h, const double *c, double s, double *y) {
  for (int i = 0; i < nv; i++) {
    const double *k = c + i;
    y[i] = k[0] + s * (k[nv] + s * (k[2 * nv] + s * (k[3 * nv] + s * (k[4 * nv] + s * k[5 * nv]))));
    y[nv + i] = (k[nv] + s * (2 * k[2 * nv] +
                              s * (3 * k[3 * nv] + s * (4 * k[4 * nv] + s * 5 * k[5 * nv])))) /
                h;
  }
}

void sni_leg_end(int nv, double h, const double *c, bool last, double *y) {
  const double s = last ? 1 : 0;
  double *f = y + 2 * nv;
  sni_leg_read(nv, h, c, s, y);
  for (int i = 0; i < nv; i++) {
    const double *k = c + i;
    f[i] = y[nv + i];
    f[nv + i] = (2 * k[2 * nv] + s * (6 * k[3 * nv] + 12 * k[4 * nv] + 20 * k[5 * nv])) / (h * h);
  }
}

/* The error of rates is largest at (5 - sqrt(5)) / 10, that of places is half its largest there. */
bool sni_leg_holds(sn_sim *sim, double t, double h, double t_ref, const double *c, double *y) {
  const double s = 0.27639320225002106;
  const int nv = sim->m->tree.nv;
  sni_rows *rows = &sim->rows;
  sni_leg_read(nv, h, c, s, y);
  const double at = t + s * h;
  int worst;
  sni_dynamics_prescribe(&sim->d, at, t_ref, y, y + nv, NULL);
  sni_dynamics_kinematics(&sim->d, y, y + nv);
  sni_rows_eval_poses(rows, at, t_ref, y, y + nv);
  if (!(2 * sni_rows_gap(rows, &worst) <= GAP_MOST)) {
    return false;
  }
  double most = 0;
  for (int i = 0; i < nv; i++) {
    most = fmax(most, fabs(y[nv + i]));
  }
  sni_rows_mul(rows, y + nv, rows->rhs);
  for (int i = 0; i < rows->nrow; i++) {
    if (!(fabs(rows->rhs[i] + rows->row[i].rate) <= RATE_MOST * most)) {
      return false;
    }
  }
  return true;
}
