/* unilateral_inside.c: which rows push, by an interior point method.
 *
 * Where hundreds of rows lean on each other, no short way leads from a wrong set of them to the
 * right one: row by row it takes as many factors as there are rows that change sides.  On the way
 * through the inside all of them push and all of them are left, less and less of one or the other,
 *
 *     C x + e f - s = c      f s = tau      f = -lambda > 0,  s > 0      tau -> 0
 *
 * A step of Newton's method is a solution of the graph in which rows give way,
 *
 *     C x + (e + s/f) f_next = c + s + tau/f
 *
 * and eight or so of them lead to the end, however many rows there are.  Each looks ahead with tau
 * of 0 first, and takes from that how far tau may fall and what the product f s is off by
 * [Mehrotra 1992]. */
#include "dynamics/unilateral_parts.h"

#include <string.h>

enum { STEPS_MAX = 40 };
/* How far tau falls until it is clear who pushes. */
#define FALLS 1e-10
/* How much of the way to the border is gone at most. */
#define NEARLY 0.99
/* A step that ends so soon at the border is of no use: then all of them go to the middle first. */
#define SHORT  0.3
#define MIDDLE 0.5
/* At the end no force pulls, nothing is passed, and nothing pushes from afar, by more than this
 * part of the largest. */
#define NOTHING 1e-11
/* m/s, rad/s: what moves no faster, with nothing to push it, rests. */
#define ROUNDING 1e-14
/* Where the way begins: forces, and the least slack, as a part of what is usual. */
#define AWAY 0.1

typedef struct inside {
  sni_rows *r;
  const double *b, *c;
  double *x;
  int *bad;
  int count;   /* rows that take part */
  double rate; /* of the fastest of them, without them all */
  sn_status last;
} inside;

static bool takes_part(const inside *p, int i) {
  return p->r->u.in[i] && sni_unilateral_is_free(p->r, i);
}

/* x without any row that takes part, into p->x: as fast as it is without them is what moves, and as
 * strong as that power at that rate what pushes. */
static sn_status begin(inside *p) {
  sni_rows *r = p->r;
  sni_unilateral *u = &r->u;
  const int n = r->nrow, nv = r->d->m->tree.nv;
  const double guess = sni_unilateral_largest(n, r->lambda);
  for (int i = 0; i < n; i++) {
    u->in[i] = !sni_unilateral_is_free(r, i);
    u->aim[i] = u->in[i] ? p->c[i] : 0;
  }
  double residual, power = 0;
  sni_kkt_set_rows(r->kkt, r);
  sn_status status = sni_kkt_factorise(r->kkt, p->b, u->aim, p->bad);
  status = status < 0 ? status : sni_kkt_solve(r->kkt, p->b, u->aim, p->x, r->lambda, &residual);
  if (status < 0) {
    return status;
  }
  sni_rows_mul(r, p->x, u->v);
  for (int j = 0; p->b && j < nv; j++) {
    power += p->b[j] * p->x[j];
  }
  const double rate = fmax(sni_unilateral_largest(n, u->v), sni_unilateral_largest(n, p->c));
  p->rate = rate;
  const double force = power > 0 && rate > 0 ? power / rate : guess;
  for (int i = 0; i < n; i++) {
    sni_inner *o = &u->inner[i];
    o->give = u->soft[i];
    if (sni_unilateral_is_free(r, i)) {
      u->in[i] = p->c[i] != SNI_LET_GO;
      o->slack = o->slack_next = fmax(u->v[i] - p->c[i], AWAY * rate);
      o->push = o->push_next = AWAY * force;
      p->count += u->in[i];
    }
  }
  return SN_OK;
}

/* What is left of f s in the mean, after `part` of the way. */
static double left(const inside *p, double part) {
  double sum = 0;
  for (int i = 0; i < p->r->nrow; i++) {
    const sni_inner *o = &p->r->u.inner[i];
    if (takes_part(p, i)) {
      sum += (o->slack + part * (o->slack_next - o->slack)) *
             (o->push + part * (o->push_next - o->push));
    }
  }
  return sum / p->count;
}

/* Where a step with tau leads, and how much of the way is inside.  All but the first look have its
 * factors; the second one also takes what that has shown. */
typedef enum glance { AHEAD, CORRECTED, CENTRED } glance;
static sn_status look(inside *p, double tau, glance which, double *part) {
  sni_rows *r = p->r;
  sni_unilateral *u = &r->u;
  for (int i = 0; i < r->nrow; i++) {
    const sni_inner *o = &u->inner[i];
    u->aim[i] = u->in[i] && p->c[i] != SNI_LET_GO ? p->c[i] : 0;
    if (takes_part(p, i)) {
      const double off =
          which == CORRECTED ? (o->slack_next - o->slack) * (o->push_next - o->push) : 0;
      u->aim[i] += o->slack + (tau - off) / o->push;
      u->soft[i] = o->give + o->slack / o->push;
    }
  }
  sn_status status = SN_OK;
  if (which == AHEAD) {
    sni_kkt_set_rows(r->kkt, r);
    status = sni_kkt_factorise(r->kkt, p->b, u->aim, p->bad);
  }
  double residual;
  status = status < 0 ? status : sni_kkt_solve(r->kkt, p->b, u->aim, p->x, r->lambda, &residual);
  p->last = status;
  if (status < 0) {
    return status;
  }
  sni_rows_mul(r, p->x, u->v);
  *part = 1;
  for (int i = 0; i < r->nrow; i++) {
    sni_inner *o = &u->inner[i];
    if (takes_part(p, i)) {
      o->push_next = -r->lambda[i];
      o->slack_next = u->v[i] + o->give * o->push_next - p->c[i];
      *part = o->push_next < 0 ? fmin(*part, o->push / (o->push - o->push_next)) : *part;
      *part = o->slack_next < 0 ? fmin(*part, o->slack / (o->slack - o->slack_next)) : *part;
    }
  }
  return SN_OK;
}

static void go(inside *p, double part) {
  for (int i = 0; i < p->r->nrow; i++) {
    sni_inner *o = &p->r->u.inner[i];
    if (takes_part(p, i)) {
      o->slack += part * (o->slack_next - o->slack);
      o->push += part * (o->push_next - o->push);
    }
  }
}

/* Rows of which more is left in the force than in the slack are in. */
static void end(inside *p) {
  sni_unilateral *u = &p->r->u;
  double slack = 0, push = 0;
  for (int i = 0; i < p->r->nrow; i++) {
    if (takes_part(p, i)) {
      slack = fmax(slack, u->inner[i].slack);
      push = fmax(push, u->inner[i].push);
    }
  }
  for (int i = 0; i < p->r->nrow; i++) {
    u->in[i] = takes_part(p, i) ? u->inner[i].push * slack > u->inner[i].slack * push : u->in[i];
    u->soft[i] = u->inner[i].give;
  }
  u->fresh = false;
}

/* Is where the last step leads the solution?  Then nothing pulls any more, by a little either. */
static bool is_there(const inside *p) {
  sni_rows *r = p->r;
  const sni_unilateral *u = &r->u;
  const double force = sni_unilateral_largest(r->nrow, r->lambda);
  for (int i = 0; i < r->nrow; i++) {
    const sni_inner *o = &u->inner[i];
    if (takes_part(p, i) &&
        (o->push_next < -NOTHING * force || o->slack_next < -fmax(NOTHING * p->rate, SNI_AGREES) ||
         o->push_next * o->slack_next > NOTHING * force * p->rate)) {
      return false;
    }
  }
  for (int i = 0; i < r->nrow; i++) {
    if (sni_unilateral_is_free(r, i)) {
      r->lambda[i] = fmin(r->lambda[i], 0);
    }
  }
  return p->last == SN_OK;
}

sn_status sni_unilateral_inside(sni_rows *r, const double *b, const double *c, double *x, int *bad,
                                bool *found) {
  inside p = {.r = r, .b = b, .c = c, .x = x, .bad = bad};
  sn_status status = begin(&p);
  if (status < 0) {
    return status;
  }
  if (found && p.rate <= ROUNDING) {
    *found = true;
    r->u.fresh = false;
    return SN_OK;
  }
  const double first = p.count > 0 ? left(&p, 0) : 0;
  double now = first;
  bool there = false;
  for (int k = 0; k < STEPS_MAX && p.count > 0 && status >= 0 && !there; k++) {
    double part = 1;
    status = look(&p, 0, AHEAD, &part);
    if (status >= 0) {
      const double ahead = left(&p, part) / now;
      status = look(&p, ahead * ahead * ahead * now, CORRECTED, &part);
    }
    if (status >= 0 && part < SHORT) {
      status = look(&p, MIDDLE * now, CENTRED, &part);
    }
    if (status >= 0) {
      go(&p, part < 1 ? NEARLY * part : 1);
      now = left(&p, 0);
      there = now <= FALLS * first && (!found || is_there(&p));
    }
  }
  if (found) {
    *found = there;
  }
  end(&p);
  /* rows that contradict each other have no inside, and the way leads beyond all bounds */
  return status == SN_E_DIVERGED ? SN_NOT_CONVERGED : status;
}
