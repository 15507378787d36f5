/* composite.h: symmetric 6 x 6 blocks of bodies, and those of a body with all that hangs on it.
 * World axes, at the origins of the bodies. */
#ifndef SNI_COMPOSITE_H
#define SNI_COMPOSITE_H

#include "dynamics/recursion.h"

/* block x */
static inline sni_lane6 sni_block_mul(const sni_art *s, sni_lane6 x) {
  sni_lane B[3];
  sni_lane_transpose(s->Bt, B);
  return (sni_lane6){
      sni_lane_mul(s->A, x.w[0], x.w[1], x.w[2]) + sni_lane_mul(B, x.v[0], x.v[1], x.v[2]),
      sni_lane_mul(s->Bt, x.w[0], x.w[1], x.w[2]) + sni_lane_mul(s->C, x.v[0], x.v[1], x.v[2])};
}

static inline void sni_block_add(sni_art *to, const sni_art *s) {
  for (int j = 0; j < 3; j++) {
    to->A[j] += s->A[j];
    to->Bt[j] += s->Bt[j];
    to->C[j] += s->C[j];
  }
}

/* A wrench seen from a point at -r. */
static inline sni_lane6 sni_wrench_shift(sni_lane6 f, sni_lane r) {
  return (sni_lane6){f.w + sni_lane_cross(r, f.v), f.v};
}

/* to += the block seen from a point at -r. */
void sni_block_add_shifted(sni_art *to, const sni_art *s, sni_lane r);

/* carried (nbody): mass, extra and brace of each body and of all that hangs on it, seen from its
 * origin. Needs kinematics. */
void sni_composite(const sni_tree *t, const sni_aba_in *in, const sni_work *w, sni_art *carried);

#endif
