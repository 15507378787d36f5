/* compile_tubes.c: tubes along bodies. */
#include "model/compile.h"

#include <stdio.h>

static void finish_bead(sni_compile *c, int k, const sn_bead_def *def, sni_tube_bead *bead) {
  char key[32];
  snprintf(key, sizeof key, "beads[%d].body", k);
  bead->body = sni_compile_body(c, key, def->point.body);
  snprintf(key, sizeof key, "beads[%d].at", k);
  sni_compile_point(c, key, def->point.at.p);
  bead->at = def->point.at.p;
  bead->radius = def->radius;
  if (!(def->radius > 0) || !isfinite(def->radius)) {
    snprintf(key, sizeof key, "beads[%d].radius", k);
    sni_compile_fail(c, key, "is %g, needs a number > 0", def->radius);
  }
  if (bead->body >= 0) {
    c->m->touching = c->m->name[bead->body];
  }
}

static void finish_tube(sni_compile *c, const sn_tube_def *def) {
  sn_model *m = c->m;
  sni_tube *tube = &m->tube[m->ntube++];
  *tube = (sni_tube){.name = sni_compile_text(c, def->name ? def->name : ""),
                     .apart = def->apart,
                     .first = m->nbead,
                     .count = def->nbead};
  tube->material = sni_compile_contact(c, "contact", def->contact ? def->contact : "");
  if (def->apart < 1) {
    sni_compile_fail(c, "apart", "is %d, needs at least 1", def->apart);
  }
  if (def->nbead < 2) {
    sni_compile_fail(c, "beads", "there %s %d, needs 2 or more", def->nbead == 1 ? "is" : "are",
                     def->nbead);
  }
  for (int k = 0; k < def->nbead; k++) {
    finish_bead(c, k, &def->beads[k], &m->bead[m->nbead++]);
  }
}

void sni_compile_tubes(sni_compile *c) {
  sn_model *m = c->m;
  const sn_tube_def *def = c->b->tube.item;
  const int n = c->b->tube.count;
  size_t beads = 0;
  for (int k = 0; k < n; k++) {
    beads += (size_t)def[k].nbead;
  }
  sni_compile_names(c, "tubes", "tube", def, sizeof *def, offsetof(sn_tube_def, name), n);
  m->tube = sni_compile_take(c, (size_t)n, sizeof *m->tube);
  m->bead = sni_compile_take(c, beads, sizeof *m->bead);
  for (int k = 0; k < n && !c->out_of_memory; k++) {
    sni_compile_at(c, "tubes", def[k].name);
    finish_tube(c, &def[k]);
  }
}
