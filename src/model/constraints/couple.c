/* constraints/couple.c: coordinates of joints that move together: sum coef q = f(t).  Gears, and
 * joints that follow a motion. */
#include "model/constraint.h"

#include <stdio.h>

static void add_term(sni_part_builder *b, int k, const sn_term_def *term, sni_constraint *c) {
  char key[32];
  snprintf(key, sizeof key, "terms[%d].joint", k);
  const int body = b->body(b, key, term->joint);
  int vadr = 0;
  const int nv = body < 0 ? -1 : b->joint_dofs(b, body, &vadr);
  if (body == -1) {
    b->fail(b, key, "is the world, which has none: needs the name of a body");
  }
  if (nv < 0) {
    return;
  }
  snprintf(key, sizeof key, "terms[%d].coordinate", k);
  if (term->coordinate < 0 || term->coordinate >= nv) {
    b->fail(b, key, "is %d, the joint '%s' has %d coordinate%s, counted from 0", term->coordinate,
            term->joint, nv, nv == 1 ? "" : "s");
    return;
  }
  if (b->is_turn(b, body, term->coordinate)) {
    b->fail(b, key,
            "is %d, part of a rotation vector of '%s', which is no angle: needs a joint with axes",
            term->coordinate, term->joint);
    return;
  }
  snprintf(key, sizeof key, "terms[%d].factor", k);
  if (term->factor == 0 || !isfinite(term->factor)) {
    b->fail(b, key, "is %g, needs a finite number that is not 0", term->factor);
    return;
  }
  for (int j = 0; j < c->ncoord; j++) {
    if (c->coord[j] == vadr + term->coordinate) {
      snprintf(key, sizeof key, "terms[%d]", k);
      b->fail(b, key, "names coordinate %d of '%s' again: needs one term for each",
              term->coordinate, term->joint);
      return;
    }
  }
  c->coord[c->ncoord] = vadr + term->coordinate;
  c->coef[c->ncoord++] = term->factor;
}

static void couple_finish(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  c->nrow = 1;
  if (def->nterm < 1 || def->nterm > SN_NV_MAX) {
    b->fail(b, "terms", "has %d terms, needs 1 to %d", def->nterm, SN_NV_MAX);
  }
  for (int k = 0; k < def->nterm && k < SN_NV_MAX; k++) {
    add_term(b, k, &def->terms[k], c);
  }
  c->function[0] = b->function(b, "offset", &def->offset);
}

static int couple_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  double f[3] = {0};
  if (c->function[0] >= 0) {
    sni_function_eval(e->function[c->function[0]], e->t, e->t_ref, f);
  }
  *row = (sni_row){.g = -f[0],
                   .rate = -f[1],
                   .bias = -f[2],
                   .timed = -f[2],
                   .body = {-1, -1},
                   .ncoord = c->ncoord};
  for (int k = 0; k < c->ncoord; k++) {
    row->coord[k] = c->coord[k];
    row->coef[k] = c->coef[k];
    row->g += c->coef[k] * e->q[c->coord[k]];
  }
  return 1;
}

static const sni_field couple_field[] = {
    {.key = "terms",
     .type = SNI_F_TERMS,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, terms),
     .offset2 = offsetof(sn_constraint_def, nterm),
     .doc = "coordinates of joints and their factors, at most six"},
    {.key = "offset",
     .type = SNI_F_FUNCTION,
     .offset = offsetof(sn_constraint_def, offset),
     .unit = "rad, m",
     .doc = "what the sum of factor times coordinate is"}};

const sni_constraint_ops sni_constraint_couple = {
    .kind = {"couple", "joints move together, as gears do: the sum of factor q is offset",
             couple_field, SNI_COUNT(couple_field)},
    .finish = couple_finish,
    .rows = couple_rows};
