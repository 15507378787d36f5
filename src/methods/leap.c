/* leap.c: functions of time that say where something is, and jump.
 *
 * No force takes a joint from one place to another at once; methods with steps of their own length
 * take it there in one of them.  A kink, where the rate jumps, is a blow, and what becomes of it is
 * the method's affair. */
#include <math.h>
#include <stdio.h>

#include "methods/blame.h"

#define SAME  1e-6 /* of 1 and the value: nobody calls this a jump                        */
#define AHEAD 64   /* steps: breaks so far ahead are looked for at once                   */
#define LATE  1e-6 /* of a step: so much behind its end still belongs to it               */

typedef struct leap {
  const sn_model *m;
  double t0, t1, h;
  double at, from, to; /* by jumps */
} leap;

static double value(const sn_model *m, int function, double t, double t_ref) {
  double f[3] = {1};
  if (function >= 0) {
    sni_function_eval(m->function[function], t, t_ref, f);
  }
  return f[0];
}

/* Does it jump while `active` is above 0, on both sides of it? */
static bool jumps(leap *l, int function, int active) {
  const sni_function *f = function >= 0 ? l->m->function[function] : NULL;
  double before = l->t0;
  while (f && sni_function_next_break(f, before, l->t1, &l->at)) {
    double next = l->at + l->h;
    sni_function_next_break(f, l->at, next, &next);
    const double left = sni_function_inside(before, l->at),
                 right = sni_function_inside(l->at, next);
    l->from = value(l->m, function, l->at, left);
    l->to = value(l->m, function, l->at, right);
    if (fabs(l->to - l->from) > SAME * (1 + fabs(l->to)) && value(l->m, active, left, left) > 0 &&
        value(l->m, active, right, right) > 0) {
      return true;
    }
    before = l->at;
  }
  return false;
}

/* Which function of a place is the first for which `is`, and what switches it: -1: none. */
typedef bool (*asked)(leap *l, int function, int active);

static int find(leap *l, asked is) {
  const sn_model *m = l->m;
  for (int k = 0; k < m->nmotion; k++) {
    for (int c = 0; c < SN_NV_MAX; c++) {
      if (is(l, m->motion[k].q[c], m->motion[k].active)) {
        return m->motion[k].q[c];
      }
    }
  }
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    const int n = c->kind == SNI_PATH ? 3 : c->kind == SNI_COUPLE ? 1 : 0;
    for (int j = 0; j < n; j++) {
      if (is(l, c->function[j], c->active)) {
        return c->function[j];
      }
    }
  }
  for (int k = 0; k < m->nmap; k++) {
    for (int z = 0; z < m->map[k]->nz; z++) {
      if (is(l, m->map[k]->motion[z], -1)) {
        return m->map[k]->motion[z];
      }
    }
  }
  return -1;
}

static bool breaks(leap *l, int function, int active) {
  double at;
  (void)active;
  return function >= 0 && sni_function_next_break(l->m->function[function], l->t0, l->t1, &at);
}

bool sni_blame_leap(sn_sim *sim, double t0, double t1, sn_error *err) {
  const double h = t1 - t0;
  leap l = {.m = sim->m, .t0 = t0, .t1 = t0 + AHEAD * h, .h = h};
  if (t0 >= sim->unbroken[0] && t1 + LATE * h <= sim->unbroken[1]) {
    return false;
  }
  if (find(&l, breaks) < 0) {
    sim->unbroken[0] = t0;
    sim->unbroken[1] = l.t1;
    return false;
  }
  l.t1 = t1 + LATE * h;
  const int function = find(&l, jumps);
  if (function < 0) {
    return false;
  }
  char who[300];
  sni_blame_owner(sim->m, function, who, sizeof who);
  sni_fail(err, SN_E_VALUE,
           "%s jumps at t = %.6g: it wants to be at %.6g, and just before at %.6g, which no force "
           "can do: let it take some time, as smoothstep does",
           who, l.at, l.to, l.from);
  return true;
}

static bool moves(leap *l, int function, int active) {
  double f[3] = {0};
  if (function >= 0 && value(l->m, active, l->t0, l->t0) > 0) {
    sni_function_eval(l->m->function[function], l->t0, l->t0, f);
  }
  return f[1] != 0;
}

int sni_blame_moving(const sn_model *m, double t) {
  leap l = {.m = m, .t0 = t, .t1 = t};
  return find(&l, moves);
}
