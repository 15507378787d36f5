/* touch_part.c: bodies that are in each other are moved apart, and get no speed from that. */
#include "methods/redmax/touch.h"

#include <string.h>

/* Of a depth, so much is left after a step. */
#define LEFT_OVER 0.8
/* Sweeps that this takes, at most. */
enum { PARTING = 5 };
/* Of what bodies would answer alone, so much more they do where they are moved apart. */
#define PLIANT 0.01
/* Depths below this part of what gravity moves in a step are nothing. */
#define SHALLOW 0.05
/* Of what impulses that move would do against rates, so much is rounding of these. */
#define ROUNDING 1e-11

/* By something else than contacts. */
static bool is_held(const sni_touch_group *tg) {
  return tg->ease > 0 || tg->contact < 0;
}

/* How far a contact or a limit is from where it acts. */
static double gap_of(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  return tg->contact >= 0 ? touch->contact[tg->contact].gap : tg->slide < 0 ? tg->row->g : 0;
}

/* Is it moved apart? */
static bool is_parted(const sni_touch *touch, int k, double shallow) {
  const sni_touch_group *tg = &touch->group[k];
  const bool soft = tg->contact >= 0 ? tg->material.stiffness > 0
                    : tg->slide < 0  ? tg->row->stop.stiffness > 0
                                     : true;
  return gap_of(touch, k) < -shallow && touch->st.group[k].npart > 0 && !soft;
}

/* Springs in joints and loops, drives or forces, that could be wound up. */
static bool has_springs(const sni_touch *touch) {
  const sni_params *p = &touch->s->d->params;
  bool any = touch->sim->m->nforce > 0 || touch->sim->m->nloop_spring > 0;
  for (int i = 0; !any && i < touch->s->t->nv; i++) {
    any = p->stiffness[i] != 0 || p->drive_stiffness[i] != 0;
  }
  return any;
}

/* What moving an island apart costs, where joints, loops or springs may hold it together: no more
 * than contacts keep the forces from doing in this step.  With the impulses x of the step, and s y,
 * 0 <= s <= 1, that move:
 *
 *     kept    D = -x . (H v_free + 1/2 H A^-1 H^T x)        a body at rest: 1/2 m (g h)^2
 *     costs   L = -y . H (v_free - v_start)                 against forces
 *             Q = 1/2 y . H A^-1 H^T y                      against springs, which are in A
 *
 *     s L + s^2 Q <= D
 *
 * Where no force acts, all of these are rounding, which must not decide whether it moves. */
typedef struct parting {
  double D, L, Q;
  double rounding; /* of L */
} parting;

static double part_of_way(const parting *p) {
  const double D = fmax(p->D, p->rounding);
  if (p->L + p->Q <= D) {
    return 1;
  }
  const double root = sqrt(p->L * p->L + 4 * p->Q * D);
  return p->L > 0 ? 2 * D / (p->L + root) : (root - p->L) / (2 * p->Q);
}

/* How far an island is moved.  touch->shift_x: impulses of the step; the groups' x: with those that
 * move; `came` and `swung`: rates that blows alone make, and all impulses of the step. */
static double weigh_parting(const sni_touch *touch, const sni_island *island, bool springs) {
  const sni_staggered *st = &touch->st;
  parting p = {0};
  bool held = false;
  for (int j = 0; j < island->count; j++) {
    const int i = st->order[island->first + j];
    const sni_touch_group *tg = &touch->group[i];
    const sni_group *g = &st->group[i];
    double moved[SNI_GROUP_ROWS];
    held = held || is_held(tg);
    sni_staggered_rates(st, g, moved);
    for (int r = 0; r < g->nrow && g->npart > 0; r++) {
      const double x = touch->shift_x[i][r], y = g->x[r] - x;
      p.D -= tg->slide < 0 ? x * (tg->free[r] + 0.5 * (tg->came[r] + tg->swung[r])) : 0;
      p.L -= y * (tg->free[r] - tg->start[r]);
      p.rounding += ROUNDING * fabs(y) * (fabs(tg->free[r]) + fabs(tg->start[r]));
      p.Q += springs ? 0.5 * y * (moved[r] - tg->swung[r]) : 0;
    }
  }
  p.Q = fmax(p.Q, 0);
  return held ? part_of_way(&p) : 1;
}

/* The impulses that move, into touch->shift_x; the groups' x are those of the step again. */
static void take_parting(sni_touch *touch, double h, double shallow, bool any_held) {
  sni_staggered *st = &touch->st;
  const bool springs = any_held && has_springs(touch);
  for (int k = 0; k < st->nisland; k++) {
    const sni_island *island = &st->island[k];
    const double part = any_held ? weigh_parting(touch, island, springs) : 1;
    for (int j = 0; j < island->count; j++) {
      const int i = st->order[island->first + j];
      sni_touch_group *tg = &touch->group[i];
      if (tg->ease > 0 && is_parted(touch, i, shallow)) {
        double moved[SNI_GROUP_ROWS];
        sni_staggered_rates(st, &st->group[i], moved);
        tg->opened = part * h * (moved[0] - tg->swung[0]);
      }
    }
    for (int j = 0; j < island->count; j++) {
      const int i = st->order[island->first + j];
      for (int r = 0; r < SNI_GROUP_ROWS; r++) {
        const double x = touch->shift_x[i][r];
        touch->shift_x[i][r] = part * (st->group[i].x[r] - x);
        st->group[i].x[r] = x;
      }
    }
  }
  for (int k = 0; k < st->ngroup; k++) { /* what nothing can move */
    if (st->group[k].island < 0) {
      memset(touch->shift_x[k], 0, sizeof touch->shift_x[k]);
    }
  }
}

/* Positions out of each other: the same contacts, asked for more.
 *
 * Joints, loops and springs may hold bodies in each other, whatever rows say, which are straight.
 * Moved apart in each step, and back again in each, they would wind up springs and lift weights for
 * ever.  So where there are any, a contact that nobody saw arrive is asked for little at first, for
 * more if it opens, and every one for next to nothing if it does not. */
sn_status sni_touch_part(sni_touch *touch, double h, const sni_staggered_options *o,
                         sni_touch_solver solve, void *user) {
  sni_staggered *st = &touch->st;
  const double *gravity = touch->s->d->params.gravity;
  const double shallow =
      SHALLOW * h * h *
      sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  bool any_held = false;
  touch->shifts = false;
  for (int k = 0; k < st->ngroup; k++) {
    touch->group[k].opened = 0;
    touch->group[k].parted = is_parted(touch, k, shallow);
    touch->shifts = touch->shifts || touch->group[k].parted;
    any_held = any_held || is_held(&touch->group[k]);
  }
  if (!touch->shifts) {
    return SN_OK;
  }
  for (int k = 0; k < st->ngroup; k++) {
    sni_touch_group *tg = &touch->group[k];
    sni_group *g = &st->group[k];
    memcpy(touch->shift_x[k], g->x, sizeof g->x);
    if (any_held) {
      sni_staggered_rates(st, g, tg->swung);
    }
    if (is_parted(touch, k, shallow)) {
      const double trust = tg->contact >= 0 ? tg->trust : 1;
      g->c[0] -= trust * (1 - LEFT_OVER) * (gap_of(touch, k) + shallow) / h;
      /* what joints hardly let go is not thrown about: it may stay where it is */
      g->weighed = g->weighed && tg->ease == 0;
      g->e[0] += PLIANT * tg->ease;
      g->c[0] += PLIANT * tg->ease * g->x[0]; /* what it bears already is not meant */
    }
  }
  /* a part of the way is gone in a step: it need not be exact */
  sni_staggered_options rough = *o;
  sni_staggered_info found;
  rough.max_iterations = o->max_iterations < PARTING ? o->max_iterations : PARTING;
  rough.tolerance = fmax(o->tolerance, 1e-3);
  rough.sweeps_only = rough.again = true;
  sni_touch_start_from_blows(touch);
  sni_staggered_solve(st, &rough, &found);
  take_parting(touch, h, shallow, any_held);
  const size_t bytes = (size_t)touch->s->t->nv * sizeof(double);
  double *b = touch->solution;
  memset(b, 0, bytes);
  sni_touch_push(touch, (const double(*)[SNI_GROUP_ROWS])touch->shift_x, b);
  memcpy(touch->column, b, bytes);
  memset(touch->shift, 0, bytes);
  const sn_status status = solve(user, touch->column, touch->shift);
  for (int j = 0; j < touch->s->t->nv; j++) {
    touch->shift[j] *= h;
  }
  return status;
}
