/* constraints/weld.c: two frames stay together: a loop whose joint lets nothing move, six rows. */
#include "model/constraint.h"

static void weld_finish(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  sni_constraint_sides(b, def, c);
  c->nrow = 6;
}

static const sni_field weld_field[] = {
    SNI_CONSTRAINT_SIDES("one frame: a body and a pose on it", "the frame that it stays on")};

const sni_constraint_ops sni_constraint_weld = {
    .kind = {"weld", "two bodies move as one, the frame a on the frame b", weld_field,
             SNI_COUNT(weld_field)},
    .finish = weld_finish,
    .rows = sni_constraint_loop_rows};
