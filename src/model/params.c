/* params.c: the block of numbers that may change during a run. */
#include "model/params_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_COUNT 6 /* gravity, step, tolerances */

/* They are numbers alone, so that a block of numbers holds them. */
#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))
_Static_assert(sizeof(sni_loop_numbers) == 6 * SN_NV_MAX * sizeof(double) &&
                   sizeof(sni_rub_numbers) == (3 * SN_NV_MAX + 1) * sizeof(double),
               "no padding");

static int params_count(const sn_model *m) {
  return HEAD_COUNT + 7 * m->tree.nv + (2 + SNI_INERTIA_COUNT) * m->tree.nbody + m->nforce_param +
         SNI_MATERIAL_PARAMS * m->ncontact + DOUBLES(sni_loop_numbers) * m->nloop_spring +
         DOUBLES(sni_rub_numbers) * m->nrub;
}

size_t sni_params_size(const sn_model *m) {
  return (size_t)params_count(m) * sizeof(double);
}

void sni_params_place(sni_params *p, const sn_model *m, double *memory) {
  const int nbody = m->tree.nbody, nv = m->tree.nv;
  p->count = params_count(m);
  p->value = memory;
  double *at = memory;
#define TAKE(member, n)                                                                            \
  do {                                                                                             \
    p->member = at;                                                                                \
    at += (n);                                                                                     \
  } while (0)
  TAKE(gravity, 3);
  TAKE(step, 1);
  TAKE(rel_tol, 1);
  TAKE(abs_tol, 1);
  TAKE(stiffness, nv);
  TAKE(damping, nv);
  TAKE(rest, nv);
  TAKE(armature, nv);
  TAKE(drive_stiffness, nv);
  TAKE(drive_damping, nv);
  TAKE(drive_max, nv);
  TAKE(drag_angular, nbody);
  TAKE(drag_linear, nbody);
  TAKE(inertia, SNI_INERTIA_COUNT * nbody);
  TAKE(force, m->nforce_param);
  TAKE(contact, SNI_MATERIAL_PARAMS * m->ncontact);
#undef TAKE
  p->loop = (sni_loop_numbers *)at;
  p->rub = (sni_rub_numbers *)(at + DOUBLES(sni_loop_numbers) * m->nloop_spring);
}

void sni_params_copy(sni_params *to, const sni_params *from) {
  memcpy(to->value, from->value, (size_t)from->count * sizeof(double));
}

void sni_params_set_inertia(sni_params *p, int body, sn_inertia I) {
  const double v[SNI_INERTIA_COUNT] = {I.mass, I.com.x, I.com.y, I.com.z, I.xx,
                                       I.yy,   I.zz,    I.xy,    I.xz,    I.yz};
  memcpy(p->inertia + SNI_INERTIA_COUNT * body, v, sizeof v);
}
