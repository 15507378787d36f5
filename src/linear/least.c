/* least.c: Newton's method on the dual.
 *
 * P being the nearest point of the cones K, y = P(Q^T mu) is the least of  1/2 |y|^2 - mu.(Q y - b)
 * over K, and  Q P(Q^T mu) = b  where
 *
 *     F(mu) = 1/2 |P(Q^T mu)|^2 - b.mu
 *
 * is least: F is convex, and has a gradient that is piecewise smooth. */
#include "linear/least.h"

#include "linear/vector.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

#define EXACT 1e-13
/* On the diagonal, where 1 is the largest: what is on the far side of a cone says nothing. */
#define LITTLE 1e-10
enum { STEPS = 40, HALVES = 30 };

/* ---- one block ---- */

static int count_numbers(const sni_cone_block *b) {
  int n = b->free;
  for (int k = 0; k < b->npart; k++) {
    n += b->part[k].n;
  }
  return n;
}

/* Where a block ends, and who of its parts is at its limit. */
typedef struct place {
  double normal;
  double length[SNI_LEAST_PARTS], limit[SNI_LEAST_PARTS];
  double sum; /* 1 + squares of mu of those at their limits */
} place;

static bool is_over(const place *at, int k) {
  return at->length[k] > at->limit[k];
}

/* The normal n of the nearest point has  n - n_0 = sum mu_k (|t_k| - mu_k n)  over those that are
 * beyond mu_k n: fewer the larger n is, so that from below a few steps of Newton's method find it.
 */
static place find_place(const sni_cone_block *b, const double *y) {
  place at = {.normal = b->free ? y[0] : 0, .sum = 1};
  const double *t = y + b->free;
  for (int k = 0; k < b->npart; t += b->part[k++].n) {
    at.length[k] = sqrt(sni_dot(b->part[k].n, t, t));
    at.limit[k] = b->part[k].limit;
  }
  for (int round = 0; b->free && round <= b->npart; round++) {
    double sum = y[0];
    at.sum = 1;
    for (int k = 0; k < b->npart; k++) {
      const double mu = b->part[k].mu;
      if (at.length[k] > mu * at.normal) {
        sum += mu * at.length[k];
        at.sum += mu * mu;
      }
    }
    at.normal = sum / at.sum;
  }
  at.normal = fmax(at.normal, 0);
  for (int k = 0; b->free && k < b->npart; k++) {
    at.limit[k] = b->part[k].mu * at.normal;
  }
  return at;
}

static void project_block(const sni_cone_block *b, double *y) {
  const place at = find_place(b, y);
  double *t = y + b->free;
  if (b->free) {
    y[0] = at.normal;
  }
  for (int k = 0; k < b->npart; t += b->part[k++].n) {
    for (int i = 0; is_over(&at, k) && i < b->part[k].n; i++) {
      t[i] *= at.limit[k] / at.length[k];
    }
  }
}

/* z = dP/dy q at y. */
static void follow_block(const sni_cone_block *b, const place *at, const double *y, const double *q,
                         double *z) {
  const double *t = y + b->free, *dt = q + b->free;
  double dn = b->free ? q[0] : 0, *to = z + b->free;
  if (b->free && !(at->normal > 0)) {
    memset(z, 0, (size_t)count_numbers(b) * sizeof *z);
    return;
  }
  double along[SNI_LEAST_PARTS];
  for (int k = 0; k < b->npart; t += b->part[k].n, dt += b->part[k].n, k++) {
    along[k] = at->length[k] > 0 ? sni_dot(b->part[k].n, t, dt) / at->length[k] : 0;
    dn += b->free && is_over(at, k) ? b->part[k].mu * along[k] : 0;
  }
  dn /= at->sum;
  if (b->free) {
    z[0] = dn;
  }
  t = y + b->free;
  dt = q + b->free;
  for (int k = 0; k < b->npart; k++) {
    const double mu = b->free ? b->part[k].mu : 0, length = at->length[k];
    for (int i = 0; i < b->part[k].n; i++, t++, dt++, to++) {
      const double unit = length > 0 ? *t / length : 0;
      *to = is_over(at, k) ? mu * dn * unit + at->limit[k] / length * (*dt - along[k] * unit) : *dt;
    }
  }
}

/* ---- all of them ---- */

void sni_least_project(const sni_least *p, double *y) {
  for (int k = 0; k < p->nblock; k++) {
    project_block(&p->block[k], y + p->block[k].first);
  }
}

/* u = Q^T mu, y = P(u), the gradient, and F. */
static double evaluate(sni_least *p) {
  memset(p->u, 0, (size_t)p->n * sizeof *p->u);
  for (int k = 0; k < p->rank; k++) {
    const double *q = p->Q + (size_t)k * (size_t)p->n;
    for (int i = 0; i < p->n; i++) {
      p->u[i] += p->mu[k] * q[i];
    }
  }
  memcpy(p->y, p->u, (size_t)p->n * sizeof *p->y);
  sni_least_project(p, p->y);
  for (int k = 0; k < p->rank; k++) {
    p->gradient[k] = sni_dot(p->n, p->Q + (size_t)k * (size_t)p->n, p->y) - p->b[k];
  }
  return 0.5 * sni_dot(p->n, p->y, p->y) - sni_dot(p->rank, p->b, p->mu);
}

/* H = Q dP/dy Q^T, its factor; false: there is none. */
static bool factorise(sni_least *p) {
  const int n = p->n, rank = p->rank;
  for (int k = 0; k < p->nblock; k++) {
    const sni_cone_block *b = &p->block[k];
    const place at = find_place(b, p->u + b->first);
    for (int i = 0; i < rank; i++) {
      const size_t from = (size_t)i * (size_t)n + (size_t)b->first;
      follow_block(b, &at, p->u + b->first, p->Q + from, p->Z + from);
    }
  }
  for (int i = 0; i < rank; i++) {
    for (int j = 0; j <= i; j++) {
      const double sum = sni_dot(n, p->Z + (size_t)i * (size_t)n, p->Q + (size_t)j * (size_t)n);
      p->H[i * rank + j] = p->H[j * rank + i] = sum + (i == j ? LITTLE : 0);
    }
  }
  return sni_cholesky(rank, p->H, 0, NULL);
}

double sni_least_find(sni_least *p) {
  const int rank = p->rank;
  const double size = sqrt(sni_dot(rank, p->b, p->b));
  memcpy(p->mu, p->b, (size_t)rank * sizeof *p->mu); /* without cones */
  double F = evaluate(p), miss = sqrt(sni_dot(rank, p->gradient, p->gradient));
  for (int k = 0; k < STEPS && miss > EXACT * size && factorise(p); k++) {
    for (int i = 0; i < rank; i++) {
      p->step[i] = -p->gradient[i];
    }
    const double was = miss;
    sni_cholesky_solve(rank, p->H, p->step);
    const double slope = sni_dot(rank, p->gradient, p->step);
    double part = 1, done = 0;
    for (int half = 0; half < HALVES; half++, part *= 0.5) {
      for (int i = 0; i < rank; i++) {
        p->mu[i] += (part - done) * p->step[i];
      }
      done = part;
      const double next = evaluate(p);
      miss = sqrt(sni_dot(rank, p->gradient, p->gradient));
      if (next <= F + 1e-4 * part * slope || miss <= 0.5 * was) {
        F = next;
        break;
      }
    }
  }
  return size > 0 ? miss / size : 0;
}

/* ---- memory ---- */

static size_t lay_out(sni_least *p, int count, int all, double *memory) {
  const size_t n = (size_t)count, rank = (size_t)all;
  size_t used = 0;
#define TAKE(numbers)                                                                              \
  memory ? memory + used : NULL;                                                                   \
  used += (numbers)
  p->b = TAKE(rank);
  p->mu = TAKE(rank);
  p->gradient = TAKE(rank);
  p->step = TAKE(rank);
  p->y = TAKE(n);
  p->u = TAKE(n);
  p->Z = TAKE(rank * n);
  p->H = TAKE(rank * rank);
#undef TAKE
  return used;
}

size_t sni_least_size(int n, int rank) {
  sni_least p;
  return lay_out(&p, n, rank, NULL);
}

void sni_least_place(sni_least *p, int n, int rank, double *memory) {
  *p = (sni_least){.n = n, .rank = rank};
  lay_out(p, n, rank, memory);
}
