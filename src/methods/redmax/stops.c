/* stops.c: soft stops as forces of the linearly implicit step, for methods that have no limits.
 *
 * Beyond its limit (g < 0) a stop pushes along its row with f = -k (g + h v) - d v at the end of
 * the step, before it (g > 0) with what goes beyond, -(h k + d) (v + g/h), and never pulls: the
 * same impulse  h f = (c - v)/e  as in `redmax`, which solves for all of them together
 * (sni_unilateral_aim).  Here those that push are found by trying, as drives at their limits are.
 */
#include "dynamics/rows.h"
#include "methods/redmax/system.h"

/* Which of all that there may be sided row i is; *first and *k: where the constraint before it
 * was. */
static int slot_of(const sni_rows *rows, int i, int *first, int *k) {
  for (; *k < rows->sided_of[i]; ++*k) {
    *first += rows->constraint[*k].nsided;
  }
  int within = 0;
  while (within < i && rows->sided_of[i - within - 1] == *k) {
    within++;
  }
  return *first + within;
}

/* h f = (c - v)/e; c of the rate itself. */
static double aim_of(const sni_system *s, const sni_row *row, double *e) {
  return sni_unilateral_aim(row, s->h, 0, 0, e) - row->rate;
}

/* The square of its row over the coordinates of one joint. */
static void add_to_joint(sni_system *s, const sni_row *row, double c) {
  const int body = sni_tree_body_of(s->t, row->coord[0]), adr = s->t->vadr[body];
  const int nv = s->t->vadr[body + 1] - adr;
  double *own = s->joint_matrix + s->t->factor[body];
  for (int i = 0; i < row->ncoord; i++) {
    for (int j = 0; j < row->ncoord; j++) {
      own[(row->coord[i] - adr) * nv + row->coord[j] - adr] += c * row->coef[i] * row->coef[j];
    }
  }
  s->joints_changed = true;
}

void sni_system_add_stops(sni_system *s) {
  int first = 0, k = 0;
  for (int i = 0; s->stops && i < s->stops->napart; i++) {
    const sni_row *row = &s->stops->sided[i];
    const int slot = slot_of(s->stops, i, &first, &k);
    if (!s->pushing[slot]) {
      continue;
    }
    double e;
    const double aim = aim_of(s, row, &e);
    sni_row_push(row, s->d, aim / (s->h * e));
    if (row->ncoord > 0) {
      add_to_joint(s, row, 1 / e);
    } else {
      const sni_term term = {.d = 1 / (s->h * e),
                             .part = SNI_PART_MATERIAL,
                             .body = {row->body[0], row->body[1]},
                             .p = {row->p[0], row->p[1]}};
      sni_system_add_term(s, s->first_stop + slot, &term);
    }
  }
}

bool sni_system_push_stops(sni_system *s, const double *qd1, bool one) {
  bool changed = false;
  int first = 0, k = 0;
  if (!s->stops || s->stops->napart == 0) {
    return false;
  }
  sni_J_mul_world(s->t, &s->d->w, qd1);
  for (int i = 0; i < s->stops->napart && !(one && changed); i++) {
    const sni_row *row = &s->stops->sided[i];
    const int slot = slot_of(s->stops, i, &first, &k);
    double e;
    const bool pushes = sni_row_mul(row, &s->d->w, qd1) < aim_of(s, row, &e);
    changed = changed || pushes != s->pushing[slot];
    s->pushing[slot] = pushes;
  }
  return changed;
}
