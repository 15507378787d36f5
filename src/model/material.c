/* material.c: what happens where two materials meet. */
#include "model/material.h"

#include "model/model.h"

const char *sni_material_key(int param) {
  static const char *const key[SNI_MATERIAL_PARAMS] = {
      [SNI_FRICTION] = "friction",      [SNI_RESTITUTION] = "restitution",
      [SNI_ROLLING] = "rolling",        [SNI_TORSIONAL] = "torsional",
      [SNI_MARGIN] = "margin",          [SNI_CONTACT_STIFFNESS] = "stiffness",
      [SNI_CONTACT_DAMPING] = "damping"};
  return key[param];
}

/* Two in a row; 0 means that it does not give way. */
static double in_series(double a, double b) {
  return a > 0 && b > 0 ? a * b / (a + b) : fmax(a, b);
}

sni_material sni_material_mix(const sni_params *p, int a, int b) {
  const double *x = p->contact + (ptrdiff_t)a * SNI_MATERIAL_PARAMS;
  const double *y = p->contact + (ptrdiff_t)b * SNI_MATERIAL_PARAMS;
  return (sni_material){.friction =
                            a == b ? x[SNI_FRICTION] : sqrt(x[SNI_FRICTION] * y[SNI_FRICTION]),
                        .restitution = fmax(x[SNI_RESTITUTION], y[SNI_RESTITUTION]),
                        .rolling = fmax(x[SNI_ROLLING], y[SNI_ROLLING]),
                        .torsional = fmax(x[SNI_TORSIONAL], y[SNI_TORSIONAL]),
                        .margin = x[SNI_MARGIN] + y[SNI_MARGIN],
                        .stiffness = in_series(x[SNI_CONTACT_STIFFNESS], y[SNI_CONTACT_STIFFNESS]),
                        .damping = in_series(x[SNI_CONTACT_DAMPING], y[SNI_CONTACT_DAMPING])};
}
