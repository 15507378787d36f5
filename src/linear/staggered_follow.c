/* staggered_follow.c: answers of the law along a way on which contacts become stiff.
 *
 * For r = 0 the impulses x = P(x0 - r w) are x0, and F(v, r) = 0 has one answer; for r without end
 * its answers are those of the law.  Both are ends of one way, v(s) and l(s) = log r(s), which may
 * turn back before it goes on: where friction is strong there are stretches of r with three
 * answers, and Newton's method from one r to the next falls off the edge.  So each step is one
 * along the tangent of the way, and back to it across that (pseudo-arclength continuation: Keller
 * 1977):
 *
 *     F(v, l) = 0,     t . ((v, l) - (v, l)_ahead) = 0
 *
 * l grows where the determinant of dF/dv is positive, as it is at the start, and falls where it is
 * negative.  The way has bends wherever a contact begins to slide or lets go; a bend where it turns
 * back is met by steps that become smaller and smaller, and passed with the tangent from beyond. */
#include "linear/staggered_newton.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* r at its ends. */
#define SOFT  0.1
#define STIFF 1e6
/* Where the search goes on from there. */
#define RESUME 1e4
/* Steps: at the start, at most, at a bend; and at most where the way turns back. */
#define FIRST   0.3
#define LONGEST 1.0
#define BEND    1e-7
#define TURN    1e-3
/* |F| on the way, by its size. */
#define NEAR 1e-8

typedef struct way {
  sni_newton *nt;
  double *v, *t, *ahead, *a, *old; /* n */
  double l, tl;                    /* log r, and that part of the tangent */
  double length;                   /* of the next step                    */
  double beyond; /* how far beyond a bend the tangent was taken; 0: there is none */
  double old_tl;
} way;

/* dF/dl = A^-1 H^T D (w + e x), in the place of F. */
static void calc_F_of_l(const sni_newton *nt) {
  const sni_staggered *s = nt->s;
  memset(nt->F, 0, (size_t)nt->n * sizeof *nt->F);
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS], w[SNI_GROUP_ROWS], dx[SNI_GROUP_ROWS] = {0};
    sni_newton_x(nt, g, D);
    sni_staggered_mul(s, g, s->v, w);
    for (int i = 0; i < g->nrow; i++) {
      for (int j = 0; j < g->nrow; j++) {
        dx[i] += D[i][j] * (w[j] + g->e[j] * g->x[j] - g->c[j]);
      }
    }
    for (int p = 0; p < g->nsegment; p++) {
      const sni_group_segment *segment = &s->segment[g->segment + p];
      double *to = nt->F + s->of[segment->adr];
      for (int i = 0; i < g->nrow; i++) {
        for (int j = 0; j < segment->n; j++) {
          to[j] += segment->x[(size_t)i * (size_t)segment->n + (size_t)j] * dx[i];
        }
      }
    }
  }
}

/* The product of two directions, without their parts of l. */
static double dot(const sni_newton *nt, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < nt->n; i++) {
    sum += a[i] * b[i];
  }
  return sum / (nt->size * nt->size);
}

/* Of length 1, where v and r are; false: there is none. */
static bool calc_tangent(way *y) {
  sni_newton *nt = y->nt;
  calc_F_of_l(nt);
  if (!sni_newton_step(nt)) {
    return false;
  }
  y->tl = nt->sign / sqrt(1 + dot(nt, nt->step, nt->step));
  for (int i = 0; i < nt->n; i++) {
    y->t[i] = -y->tl * nt->step[i];
  }
  return true;
}

/* Onto the way again, across the tangent, from y->ahead; *l: log r there.  False: it is not near.
 */
static bool correct(way *y, double ahead_l, double *l, int *steps) {
  enum { STEPS = 10 };
  sni_newton *nt = y->nt;
  double first = 0;
  *l = ahead_l;
  sni_newton_set_v(nt, y->ahead);
  for (*steps = 0; *steps < STEPS; ++*steps) {
    nt->stiff = exp(*l);
    const double F = sqrt(sni_newton_F(nt));
    if (F < NEAR * nt->size) {
      return true;
    }
    first = *steps == 0 ? F : first;
    if (F > 10 * first + nt->size || !sni_newton_step(nt)) {
      return false;
    }
    memcpy(y->a, nt->step, (size_t)nt->n * sizeof *y->a);
    calc_F_of_l(nt);
    if (!sni_newton_step(nt)) {
      return false;
    }
    /* dF/dv dv + dF/dl dl = F,  t . (dv, dl) = off */
    double *v = nt->start, off = y->tl * (*l - ahead_l);
    sni_newton_get_v(nt, v);
    off += dot(nt, y->t, v) - dot(nt, y->t, y->ahead);
    const double dl = (off - dot(nt, y->t, y->a)) / (y->tl - dot(nt, y->t, nt->step));
    for (int i = 0; i < nt->n; i++) {
      v[i] -= y->a[i] - dl * nt->step[i];
    }
    *l -= dl;
    if (!(fabs(*l - ahead_l) < 5)) {
      return false;
    }
    sni_newton_set_v(nt, v);
  }
  return false;
}

/* One step along the tangent; false: it was too long. */
static bool advance(way *y) {
  sni_newton *nt = y->nt;
  double l, off;
  int steps;
  for (int i = 0; i < nt->n; i++) {
    y->ahead[i] = y->v[i] + y->length * y->t[i];
  }
  if (!correct(y, y->l + y->length * y->tl, &l, &steps)) {
    return false;
  }
  sni_newton_get_v(nt, y->ahead);
  for (int i = 0; i < nt->n; i++) {
    y->a[i] = y->ahead[i] - y->v[i];
  }
  off = sqrt(dot(nt, y->a, y->a) + (l - y->l) * (l - y->l));
  if (off > 3 * y->length) { /* it is another one */
    return false;
  }
  const double tl = y->tl;
  memcpy(y->a, y->t, (size_t)nt->n * sizeof *y->t);
  /* where it turns back, another stretch of it may be as near */
  const bool good = calc_tangent(y);
  if (!good || (y->tl * tl < 0 && (y->length > TURN || y->beyond > 0))) {
    memcpy(y->t, y->a, (size_t)nt->n * sizeof *y->t);
    y->tl = tl;
    return false;
  }
  memcpy(y->v, y->ahead, (size_t)nt->n * sizeof *y->v);
  y->l = l;
  y->length = fmin(LONGEST, y->length * (steps < 4 ? 2 : 1));
  y->beyond = 0;
  return true;
}

/* The tangent from beyond the bend that is ahead; false: nothing is found there. */
static bool look_beyond(way *y) {
  enum { FURTHER = 10, LENGTH = 100 };
  sni_newton *nt = y->nt;
  if (y->beyond == 0) {
    memcpy(y->old, y->t, (size_t)nt->n * sizeof *y->t);
    y->old_tl = y->tl;
  }
  y->beyond = y->beyond == 0 ? FURTHER * BEND : FURTHER * y->beyond;
  for (int i = 0; i < nt->n; i++) {
    y->ahead[i] = y->v[i] + y->beyond * y->old[i];
  }
  sni_newton_set_v(nt, y->ahead);
  nt->stiff = exp(y->l + y->beyond * y->old_tl);
  y->length = LENGTH * y->beyond;
  return y->beyond < 1e-2 && calc_tangent(y);
}

void sni_newton_follow(sni_newton *nt) {
  enum { STEPS = 2000 };
  const size_t n = (size_t)nt->n;
  way y = {.nt = nt, .length = FIRST, .v = nt->path};
  y.t = y.v + n;
  y.ahead = y.t + n;
  y.a = y.ahead + n;
  y.old = y.a + n;
  sni_newton_copy(nt, offsetof(sni_group, x), offsetof(sni_group, before));
  sni_newton_push(nt);
  nt->stiff = SOFT;
  bool more = sni_newton_descend(nt);
  y.l = log(nt->stiff);
  sni_newton_get_v(nt, y.v);
  more = more && calc_tangent(&y);
  for (int k = 0; more && k < STEPS && nt->s->budget > 0 && y.l < log(STIFF); k++) {
    if (!advance(&y)) {
      y.length *= 0.3;
      more = (y.length > BEND && y.beyond == 0) || look_beyond(&y);
    }
  }
  sni_newton_set_v(nt, y.v);
  nt->stiff = exp(y.l);
  sni_newton_F(nt);
  sni_newton_push(nt);
  nt->stiff = fmin(RESUME, nt->stiff);
}
