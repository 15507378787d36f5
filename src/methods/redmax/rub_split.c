/* rub_split.c: who holds what sticks.
 *
 * Where constraints bind several joints that stick, as in a closed loop, their friction x is not
 * determined: only what all of it does is, S x.  The program ends at a corner, one joint at its
 * bound and the next one idle, and loads that change a little make it another corner; bounds and
 * loads then chase each other.  So it is shared out: of all x that do the same, that which is
 * nearest to what it was in the last turn, or at the end of the last step,
 *
 *     min sum ((x_k - last_k) / bound_k)^2     S x as it was, |x_k| <= bound_k
 *
 * so that where nothing moves nothing changes, and loads do not leap.  S is singular; with a little
 * of the sum added to it the answer is off by that part of itself, and again by that part of what
 * is left (the proximal point method).  Rates are those of the corner; loads are those of the
 * shares. */
#include "methods/redmax/rub.h"

#include <string.h>

/* How much of the sum is added, as a part of the largest. */
#define LITTLE 1e-6
/* Rates below this part of those without friction are none. */
#define STILL 1e-9
/* And below this part of what they are differences of. */
#define ROUNDING 1e-13
/* Bounds below this part of the largest hold nothing: a pin that was pressed long ago has one whose
 * square is 0. */
#define NOTHING 1e-12
enum { PASSES = 2 };
/* Turns after which shares stay as near as they can to those of the last one: where they come and
 * go with what slips and sticks, loads would leap. */
enum { LATE = 4 };

/* Of the k-th row of the program; 0: it does not rub. */
static double bound_of(const sni_rubbing *r, int k) {
  const int i = r->which[k];
  return sni_rubbing_rubs(r, i) ? sni_rubbing_bound(r, i) : 0;
}

static double S_of(const sni_rubbing *r, int i, int j) {
  const int row = i > j ? i : j, column = i > j ? j : i;
  return r->S[(size_t)row * (size_t)r->capacity + (size_t)column];
}

/* Does the k-th row stand still, with all of its disc?  That it is at its bound says nothing: that
 * may be where the program has ended among many answers. */
static bool is_still(const sni_rubbing *r, int k, const double *rate, const double *least) {
  const int i = r->which[k], of = i < r->m->nslide ? r->disc_of[i] : -1;
  const int first = of >= 0 ? r->disc[of].at : k, n = of >= 0 ? r->disc[of].n : 1;
  bool still = true;
  for (int j = first; j < first + n; j++) {
    still = still && fabs(rate[j]) <= least[j];
  }
  return still;
}

/* Rows that stick into r->kept, if they have anything to share; how many there are. */
static int find_stuck(const sni_rubbing *r) {
  double fastest = 0, widest = 0, *rate = r->share, *least = r->share + r->n;
  int count = 0;
  for (int k = 0; k < r->n; k++) {
    rate[k] = r->free[r->which[k]];
    fastest = fmax(fastest, fabs(rate[k]));
    least[k] = 0;
    for (int j = 0; j < r->n; j++) {
      const double part = S_of(r, k, j) * r->push[r->which[j]];
      rate[k] -= part;
      least[k] += ROUNDING * fabs(part);
    }
  }
  for (int k = 0; k < r->n; k++) {
    least[k] += STILL * fastest;
    widest = fmax(widest, bound_of(r, k));
  }
  for (int k = 0; k < r->n; k++) {
    if (bound_of(r, k) > NOTHING * widest && is_still(r, k, rate, least)) {
      r->kept[count++] = k;
    }
  }
  return count;
}

/* Of the k-th row, in the last turn; or in the last step. */
static double last_push(const sni_rubbing *r, int k) {
  const int i = r->which[k], pad = i - r->m->nslide - r->m->nrow;
  return r->recalls ? r->s->h * r->last[i] : pad < 0 ? r->s->h * r->force[i] : r->beta[pad];
}

void sni_rubbing_split(sni_rubbing *r) {
  const int n = r->rows ? find_stuck(r) : 0;
  if (n < 2) { /* no other x would do the same */
    return;
  }
  double most = 0, *x = r->share, *e = r->share + n;
  sni_rubbing other = sni_rubbing_other(r, n);
  for (int k = 0; k < n; k++) {
    const double bound = r->s->h * bound_of(r, r->kept[k]);
    most = fmax(most, S_of(r, r->kept[k], r->kept[k]) * bound * bound);
    e[k] = 1 / (bound * bound);
    x[k] = r->taken >= LATE || r->recalls ? last_push(r, r->kept[k]) : 0;
    other.which[k] = r->which[r->kept[k]];
  }
  for (int pass = 0; pass < PASSES; pass++) {
    for (int k = 0; k < n; k++) {
      double *b = &other.free[other.which[k]];
      *b = LITTLE * most * e[k] * x[k];
      for (int j = 0; j < n; j++) {
        const double S = S_of(r, r->kept[k], r->kept[j]);
        *b += S * r->push[other.which[j]];
        other.S[(size_t)k * (size_t)n + (size_t)j] = S + (j == k ? LITTLE * most * e[k] : 0);
      }
    }
    sni_qp_info info;
    sni_rubbing_find(&other, sni_rubbing_fill_other, true, &info);
    memcpy(x, other.qp.x, (size_t)n * sizeof *x);
  }
  for (int k = 0; k < n; k++) {
    r->push[other.which[k]] = x[k];
  }
}
