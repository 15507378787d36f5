/* rub_follow.c: from one turn of loads and friction to the next: where the bounds go. */
#include "methods/redmax/rub.h"

#include "math/dense.h"

#include <string.h>

/* Turns that are remembered, and how often they may mislead before the bounds go only half the way:
 * some go round in circles. */
enum { MEMORY = SNI_RUB_MEMORY, PATIENCE = 4 };

/* Is there friction at its bound in the c-th way of a rub?  If not, another bound changes nothing.
 */
static bool is_bound(const sni_rubbing *r, const sni_rub *rub, int c) {
  const double nearly = 0.999;
  const int k = rub->first + c;
  bool any = fabs(r->force[k]) >= nearly * fmin(r->bound[k], r->next[k]);
  for (int i = 0; sni_rubbing_apart(r, rub) && i < sni_rub_tangents(rub); i++) {
    const int at = rub->first_tangent + i;
    any = any || fabs(r->beta[at]) >= nearly * r->s->h * fmin(r->allowed[at], r->limit[at]);
  }
  return any;
}

/* How far the bounds are from those of the last loads; the other problem has friction by them all.
 */
double sni_rubbing_disagreement(const sni_rubbing *r, bool reduced) {
  double most = 0, change = 0;
  for (int i = 0; i < r->m->nrub; i++) {
    const sni_rub *rub = &r->m->rub[i];
    for (int c = 0; c < rub->nslide; c++) {
      const int k = rub->first + c;
      most = fmax(most, fmax(r->next[k], r->bound[k]));
      change =
          !reduced || is_bound(r, rub, c) ? fmax(change, fabs(r->next[k] - r->bound[k])) : change;
    }
  }
  return most > 0 ? change / most : 0;
}

/* With so many differences d of what bounds missed, in units w of their own: the combination of
 * them that is nearest to what they miss now. */
static bool combine(const double *d, const double *miss, const double *w, int n, int count,
                    double *x) {
  double A[MEMORY * MEMORY];
  for (int i = 0; i < count; i++) {
    x[i] = 0;
    for (int k = 0; k < n; k++) {
      x[i] += w[k] * w[k] * d[i * n + k] * miss[k];
    }
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        sum += w[k] * w[k] * d[i * n + k] * d[j * n + k];
      }
      A[i * count + j] = A[j * count + i] = sum;
    }
  }
  for (int i = 0; i < count; i++) {
    A[i * count + i] *= 1 + 1e-12;
  }
  if (!sni_cholesky(count, A, 1e-13, NULL)) {
    return false;
  }
  sni_cholesky_solve(count, A, x);
  return true;
}

/* Limits of tangents that are rows of their own, from the bounds: as the last loads share them out,
 * or half that way. */
static void allow_rub(sni_rubbing *r, const sni_rub *rub, bool half) {
  const double *bound = r->bound + rub->first;
  for (int b = 0, i = rub->first_tangent; b < rub->nbearing; b++) {
    const sni_bearing *own = &rub->bearing[b];
    double sum[SNI_DIRECTIONS_MAX] = {0};
    for (int c = 0; c < own->ntangent; c++) {
      const sni_rub_tangent *t = &own->tangent[c];
      r->allowed[i + c] = half ? 0.5 * (r->allowed[i + c] + r->limit[i + c]) : r->limit[i + c];
      sum[t->direction] += fabs(t->arm) * r->allowed[i + c];
    }
    for (int c = 0; c < own->ntangent; c++, i++) {
      const int d = own->tangent[c].direction;
      r->allowed[i] *= sum[d] > 0 ? bound[d] / sum[d] : 0;
    }
    bound += own->ndirection;
  }
}

void sni_rubbing_allow(sni_rubbing *r, bool half) {
  for (int k = 0; r->pad && k < r->m->nrub; k++) {
    if (sni_rubbing_apart(r, &r->m->rub[k])) {
      allow_rub(r, &r->m->rub[k], half);
    }
  }
}

/* The bounds for the next turn.  Those of the loads come nearer at a steady pace, so the last few
 * turns tell where they lead (Anderson's method); where that made it worse, it begins anew. */
void sni_rubbing_follow(sni_rubbing *r, double change) {
  const int n = r->m->nslide;
  double *miss = r->miss, *d = r->history, *e = d + MEMORY * n, x[MEMORY], most = 0;
  const bool worse = change > 2 * r->missed;
  for (int k = 0; k < n; k++) {
    most = fmax(most, r->next[k]);
  }
  if (r->remembered >= 0 && !worse) { /* one more difference, the oldest is forgotten */
    const int at = r->turns++ % MEMORY;
    for (int k = 0; k < n; k++) {
      d[at * n + k] = r->next[k] - r->bound[k] - miss[k];
      e[at * n + k] = r->next[k] - r->next_before[k];
    }
    r->remembered = r->remembered < MEMORY ? r->remembered + 1 : MEMORY;
  } else {
    r->misled += worse;
    r->remembered = r->turns = 0;
  }
  r->missed = change;
  for (int k = 0; k < n; k++) {
    miss[k] = r->next[k] - r->bound[k];
    r->next_before[k] = r->next[k];
    r->weight[k] = 1 / fmax(r->next[k], 1e-3 * most + 1e-300);
  }
  const bool known = r->remembered > 0 && combine(d, miss, r->weight, n, r->remembered, x);
  for (int k = 0; k < n; k++) {
    double to = r->next[k];
    for (int i = 0; known && i < r->remembered; i++) {
      to -= x[i] * e[i * n + k];
    }
    to = to >= 0 && to <= 2 * r->next[k] ? to : r->next[k];
    r->bound[k] = r->misled < PATIENCE ? to : 0.5 * (r->next[k] + r->bound[k]);
  }
  sni_rubbing_allow(r, r->misled >= PATIENCE);
}

double sni_rubbing_moved(const sni_rubbing *r) {
  double most = 0, change = 0;
  for (int i = 0; i < sni_rubbing_count(r); i++) {
    if (sni_rubbing_rubs(r, i)) {
      most = fmax(most, r->s->h * sni_rubbing_bound(r, i));
      change = fmax(change, fabs(r->push[i] - r->before[i]));
    }
  }
  return most > 0 ? change / most : 0;
}

void sni_rubbing_leap(sni_rubbing *r) {
  const int n = sni_rubbing_count(r);
  double both = 0, now = 0, then = 0;
  for (int i = 0; i < n; i++) {
    const double change = sni_rubbing_rubs(r, i) ? r->push[i] - r->before[i] : 0;
    both += change * r->trend[i];
    now += change * change;
    then += r->trend[i] * r->trend[i];
    r->trend[i] = change;
  }
  const double pace = then > 0 ? both / then : 0;
  if (r->taken > 2 && pace > 0.5 && both * both > 0.99 * now * then) {
    double far = pace < 0.999 ? pace / (1 - pace) : INFINITY;
    for (int i = 0; i < n; i++) {
      const double way = r->trend[i];
      if (way != 0) {
        far =
            fmin(far, fmax(r->s->h * sni_rubbing_bound(r, i) - (way > 0 ? 1 : -1) * r->push[i], 0) /
                          fabs(way));
      }
    }
    for (int i = 0; i < n && isfinite(far); i++) {
      r->push[i] += far * r->trend[i];
    }
    memset(r->trend, 0, (size_t)n * sizeof *r->trend);
  }
  memcpy(r->before, r->push, (size_t)n * sizeof *r->before);
}
