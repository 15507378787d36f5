/* little.c: is what iterations leave of rates little against what constraints change of them?
 *
 * Let A be G A^-1 G^T + E.  Along what it hardly moves forces lambda are large for what they do,
 * and an r that is within the precision may still be much: (lambda^T r)^2 / (lambda^T A lambda) of
 * energy, if it points that way.  So sum |lambda_i r_i|, which is the most that lambda^T r can be
 * whatever the signs, is to be a small part of lambda^T A lambda.  The end of a step may change
 * much less than the step itself did, in which the directions of constraints turned by w h, and
 * what they changed is (w h)^2 of the energy: the geometric mean of both is enough there.
 *
 * The same numbers tell how near a pose is in which constraints depend on each other, at an angle
 * a from it,
 *
 *     sum lambda_i^2 A_ii / (lambda^T A lambda)  =  1/a^2   or so.
 *
 * A lambda is what forces have changed of r since it was without any, so that all of that costs no
 * product.  It is done set by set of bodies: what moves beside a linkage has no say in it. */
#include "linear/vector.h"
#include "methods/structured/sets.h"
#include "methods/structured/ties.h"

#include <string.h>

#define PART      0.03
#define FLAT_MOST 1e12 /* so that it is finite */

/* Into t->set: once for all, where ties are always the same. */
static void find_sets(sni_ties *t) {
  const sni_rows *rows = t->d->rows;
  const bool lasting = rows && rows->timeless && t->ntie == rows->nrow;
  if (lasting && t->set_count == t->ntie) {
    return;
  }
  sni_ties_join(t);
  for (int i = 0; i < t->ntie; i++) {
    t->set[i] = sni_ties_body_of(t, i);
  }
  t->set_count = lasting ? t->ntie : -1;
}

static double did(const sni_ties *t, int i) {
  return t->lambda[i] * (t->free[i] - t->r[i]);
}

static double bore(const sni_ties *t, int i) {
  return t->slot[i] >= 0 ? t->lambda[i] * t->lambda[i] * t->moves[i] : 0;
}

/* Of each set; what the step did is worth something at its end. */
static void sum_up(sni_ties *t) {
  find_sets(t);
  const bool end = t->stage == SNI_TIES_END && t->step_told;
  for (int i = 0; i < t->ntie; i++) {
    if (t->set[i] >= 0) {
      t->of[t->set[i]] = (sni_little){0};
    }
  }
  for (int i = 0; i < t->ntie; i++) {
    if (t->set[i] >= 0) {
      sni_little *of = &t->of[t->set[i]];
      const bool before = end && t->slot[i] >= 0;
      of->left += fabs(t->lambda[i] * t->r[i]);
      of->did += did(t, i);
      of->worth += before ? t->did[t->slot[i]] : 0;
      of->bore += bore(t, i) + (before ? t->bore[t->slot[i]] : 0);
    }
  }
}

bool sni_ties_is_little(void *ties) {
  sni_ties *t = ties;
  bool little = true;
  sum_up(t);
  for (int i = 0; i < t->ntie && little; i++) {
    const sni_little *of = t->set[i] >= 0 ? &t->of[t->set[i]] : NULL;
    const bool much =
        of && of->did > 0 && of->left * of->left > PART * PART * of->did * fmax(of->did, of->worth);
    little = !much;
  }
  return little;
}

void sni_ties_keep(void *ties) {
  const sni_ties *t = ties;
  memcpy(t->met_lambda, t->lambda, (size_t)t->ntie * sizeof *t->lambda);
  memcpy(t->met_r, t->r, (size_t)t->ntie * sizeof *t->r);
  memcpy(t->met_x, t->x, (size_t)t->d->m->tree.nv * sizeof *t->x);
}

void sni_ties_go_back(void *ties) {
  const sni_ties *t = ties;
  memcpy(t->lambda, t->met_lambda, (size_t)t->ntie * sizeof *t->lambda);
  memcpy(t->r, t->met_r, (size_t)t->ntie * sizeof *t->r);
  memcpy(t->x, t->met_x, (size_t)t->d->m->tree.nv * sizeof *t->x);
}

/* Has the last solve found what tells something? */
static bool tells(const sni_ties *t) {
  return t->counted && t->residual <= t->precision; /* NaN does not */
}

/* The end of the step has the same rows: those of the time at which it ends. */
void sni_ties_count(sni_ties *t) {
  t->step_told = tells(t);
  for (int i = 0; t->step_told && i < t->ntie; i++) {
    if (t->slot[i] >= 0) {
      t->did[t->slot[i]] = did(t, i);
      t->bore[t->slot[i]] = bore(t, i);
    }
  }
}

double sni_ties_flatness(sni_ties *t) {
  double most = 0;
  if (tells(t)) {
    sum_up(t);
    for (int i = 0; i < t->ntie; i++) {
      const sni_little *of = t->set[i] >= 0 ? &t->of[t->set[i]] : NULL;
      const double all = of ? of->did + of->worth : 0;
      most = all > 0 ? fmax(most, fmin(of->bore / all, FLAT_MOST)) : most;
    }
  }
  return most;
}
