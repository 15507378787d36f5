/* composite.c: what hangs on a body, as one block. */
#include "dynamics/composite.h"

/*     B'^T = B^T + C [r]^T     A' = A + H + H^T,  H = [r] (B^T + C [r]^T / 2) */
void sni_block_add_shifted(sni_art *to, const sni_art *s, sni_lane r) {
  sni_lane rC[3], Cr[3], H[3], Ht[3];
  for (int j = 0; j < 3; j++) {
    rC[j] = sni_lane_cross(r, s->C[j]);
  }
  sni_lane_transpose(rC, Cr);
  for (int j = 0; j < 3; j++) {
    H[j] = sni_lane_cross(r, s->Bt[j] + sni_lane_all(0.5) * Cr[j]);
  }
  sni_lane_transpose(H, Ht);
  for (int j = 0; j < 3; j++) {
    to->A[j] += s->A[j] + (H[j] + Ht[j]);
    to->Bt[j] += s->Bt[j] + Cr[j];
    to->C[j] += s->C[j];
  }
}

void sni_composite(const sni_tree *t, const sni_aba_in *in, const sni_work *w, sni_art *carried) {
  for (int i = 0; i < t->nbody; i++) {
    sni_mass_block(&in->mass[i], &w->link[i], &carried[i]);
    if (in->extra && in->extra_of[i] >= 0) {
      sni_block_add(&carried[i], &in->extra[in->extra_of[i]]);
    }
    sni_brace_add(in, i, carried[i].A);
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    if (t->parent[i] >= 0) {
      sni_block_add_shifted(&carried[t->parent[i]], &carried[i], w->r[i]);
    }
  }
}
