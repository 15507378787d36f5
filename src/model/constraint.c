/* constraint.c: the table of kinds of constraints. */
#include "model/constraint.h"

extern const sni_constraint_ops sni_constraint_loop, sni_constraint_distance, sni_constraint_couple;

static const sni_constraint_ops *const table[SNI_CONSTRAINT_KINDS] = {
    [SNI_LOOP] = &sni_constraint_loop,
    [SNI_DISTANCE] = &sni_constraint_distance,
    [SNI_COUPLE] = &sni_constraint_couple};

const sni_constraint_ops *sni_constraint_kind(int kind) {
  return table[kind];
}
