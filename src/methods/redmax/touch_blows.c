/* touch_blows.c: what comes in fast bounces.
 *
 * Bounces come one after the other as long as something comes in: each takes the contacts that do,
 * and no others, from rate -r to e r.  So a blow goes through a row of balls, and the last one
 * leaves; all at once they would leave together.  For the same reason what comes in slowly waits
 * for what comes in fast at the same body: balls that touch, and close with what rounding or the
 * last blow has left them, are no one body of twice the mass. */
#include "methods/redmax/touch.h"

#include <string.h>

#define SLOW 0.2 /* of the fastest beside it: corners of a box that lands come in together */

/* How fast contact k comes in, below 0; 0: not as a blow. */
static double coming_in(const sni_touch *touch, int k, double h, double *moved) {
  const sni_touch_group *tg = &touch->group[k];
  if (tg->contact < 0 || !(tg->material.restitution > 0) || tg->material.stiffness > 0) {
    return 0;
  }
  sni_staggered_rates(&touch->st, &touch->st.group[k], moved);
  const double now = tg->start[0] + moved[0];
  const double end = now + (tg->free[0] - tg->start[0]); /* with what forces add to it */
  const bool blow = now < -fmax(SNI_SUDDEN * tg->gained, touch->slowest) &&
                    touch->contact[tg->contact].gap + h * end <= 0;
  return blow ? now : 0;
}

/* The contacts that come in, alone; false: none does. */
static bool choose_blows(sni_touch *touch, double h, int *parts) {
  sni_staggered *st = &touch->st;
  double *fastest = st->vp; /* at the coordinates where a segment begins */
  double moved[SNI_GROUP_ROWS] = {0};
  bool any = false;
  memset(fastest, 0, (size_t)st->room.nv * sizeof *fastest);
  for (int k = 0; k < st->ngroup; k++) {
    const sni_group *g = &st->group[k];
    const double now = coming_in(touch, k, h, moved);
    any = any || now < 0;
    for (int j = 0; j < g->nsegment; j++) {
      double *at = &fastest[st->segment[g->segment + j].adr];
      *at = fmin(*at, now);
    }
  }
  for (int k = 0; k < st->ngroup; k++) {
    sni_group *g = &st->group[k];
    const double now = any ? coming_in(touch, k, h, moved) : 0;
    bool waits = !(now < 0);
    for (int j = 0; j < g->nsegment; j++) {
      waits = waits || now > SLOW * fastest[st->segment[g->segment + j].adr];
    }
    parts[k] = g->npart;
    g->npart = waits ? 0 : g->npart;
    memset(g->x, 0, sizeof g->x);
    for (int i = 0; i < g->nrow && !waits; i++) {
      touch->group[k].came[i] = touch->group[k].start[i] + moved[i];
      g->c[i] =
          (i == 0 ? -touch->group[k].material.restitution * now : 0) - touch->group[k].start[i];
    }
  }
  return any;
}

void sni_touch_restore_parts(sni_touch *touch, const int *parts) {
  for (int k = 0; k < touch->st.ngroup; k++) {
    touch->st.group[k].npart = parts[k];
  }
}

void sni_touch_start_from_blows(sni_touch *touch) {
  sni_staggered *st = &touch->st;
  memset(st->v, 0, (size_t)st->room.nv * sizeof *st->v);
  for (int k = 0; k < st->ngroup; k++) {
    sni_staggered_add_impulse(st, &st->group[k], touch->group[k].blow);
  }
}

/* Restitution of rates and friction do not go together: the rate that is asked for may be more than
 * what friction leaves of the energy.  A blow with impulses x changes the kinetic energy by
 *
 *     x . u + 1/2 x . W x        u: rates before it
 *
 * Without restitution (x0) that is never above 0, with it (x1) it may be; then the impulses are
 * those between both that leave the energy as it is.  They are within their cones, as both are. */
typedef struct blow_energy {
  double u0, u1;        /* x . u         */
  double W00, W01, W11; /* x . W x       */
} blow_energy;

static double energy_between(const blow_energy *e, double part) {
  const double r = 1 - part;
  return r * e->u0 + part * e->u1 +
         0.5 * (r * r * e->W00 + 2 * r * part * e->W01 + part * part * e->W11);
}

/* How much of restitution an island's energy lets it have: the energy is convex, and not above 0 at
 * the start. */
static double part_of(const blow_energy *e) {
  double lo = 0, hi = 1;
  for (int k = 0; k < 60 && energy_between(e, 1) > 0; k++) {
    const double mid = 0.5 * (lo + hi);
    *(energy_between(e, mid) > 0 ? &hi : &lo) = mid;
  }
  return energy_between(e, 1) > 0 ? lo : 1;
}

/* Kinetic energy that a blow has brought to an island. */
static double brought(const sni_touch *touch, const sni_island *island) {
  const sni_staggered *st = &touch->st;
  double sum = 0;
  for (int k = 0; k < island->count; k++) {
    const int i = st->order[island->first + k];
    const sni_group *g = &st->group[i];
    double moved[SNI_GROUP_ROWS];
    if (g->npart == 0) {
      continue;
    }
    sni_staggered_rates(st, g, moved);
    for (int r = 0; r < g->nrow; r++) {
      sum += 0.5 * g->x[r] * (touch->group[i].came[r] + touch->group[i].start[r] + moved[r]);
    }
  }
  return sum;
}

/* W x of group i as the impulses have made it. */
static void answer_of(const sni_touch *touch, int i, double *out) {
  const sni_group *g = &touch->st.group[i];
  sni_staggered_rates(&touch->st, g, out);
  for (int r = 0; r < g->nrow; r++) {
    out[r] += touch->group[i].start[r] - touch->group[i].came[r];
  }
}

/* The last blow without restitution, then as much of it as the energy lets; x1 is in shift_x, and
 * its answers in `swung`. */
static void temper(sni_touch *touch, const sni_staggered_options *o) {
  sni_staggered *st = &touch->st;
  for (int i = 0; i < st->ngroup; i++) {
    sni_group *g = &st->group[i];
    if (g->npart == 0) {
      continue;
    }
    answer_of(touch, i, touch->group[i].swung);
    memcpy(touch->shift_x[i], g->x, sizeof g->x);
  }
  for (int i = 0; i < st->ngroup; i++) {
    sni_group *g = &st->group[i];
    double back[SNI_GROUP_ROWS];
    for (int r = 0; r < g->nrow; r++) {
      back[r] = -g->x[r];
    }
    if (g->npart > 0) {
      sni_staggered_add_impulse(st, g, back);
      g->c[0] = -touch->group[i].start[0];
    }
  }
  sni_staggered_options again = *o;
  sni_staggered_info found;
  again.again = true;
  sni_staggered_solve(st, &again, &found);
  for (int k = 0; k < st->nisland; k++) {
    const sni_island *island = &st->island[k];
    blow_energy e = {0};
    for (int j = 0; j < island->count; j++) {
      const int i = st->order[island->first + j];
      const sni_group *g = &st->group[i];
      const sni_touch_group *tg = &touch->group[i];
      double answer[SNI_GROUP_ROWS];
      answer_of(touch, i, answer);
      for (int r = 0; r < g->nrow && g->npart > 0; r++) {
        const double x0 = g->x[r], x1 = touch->shift_x[i][r];
        e.u0 += x0 * tg->came[r];
        e.u1 += x1 * tg->came[r];
        e.W00 += x0 * answer[r];
        e.W01 += x0 * tg->swung[r];
        e.W11 += x1 * tg->swung[r];
      }
    }
    const double part = part_of(&e);
    for (int j = 0; j < island->count; j++) {
      const int i = st->order[island->first + j];
      sni_group *g = &st->group[i];
      double more[SNI_GROUP_ROWS];
      for (int r = 0; r < g->nrow && g->npart > 0; r++) {
        more[r] = part * (touch->shift_x[i][r] - g->x[r]);
        g->x[r] += more[r];
      }
      if (g->npart > 0) {
        sni_staggered_add_impulse(st, g, more);
      }
    }
  }
}

void sni_touch_bounce(sni_touch *touch, double h, const sni_staggered_options *o) {
  enum { BLOWS_MAX = 200 };
  int *parts = touch->parts;
  sni_staggered_options hasty = *o; /* there may be many of them */
  hasty.patience = 0.1;
  for (int blow = 0; blow < BLOWS_MAX && choose_blows(touch, h, parts); blow++) {
    sni_staggered_info found;
    bool gains = false;
    sni_staggered_solve(&touch->st, &hasty, &found);
    for (int k = 0; k < touch->st.nisland && !gains; k++) {
      gains = brought(touch, &touch->st.island[k]) > 0;
    }
    if (gains) {
      temper(touch, &hasty);
    }
    for (int k = 0; k < touch->st.ngroup; k++) {
      for (int i = 0; i < touch->st.group[k].nrow; i++) {
        touch->group[k].blow[i] += touch->st.group[k].x[i];
      }
    }
    sni_touch_restore_parts(touch, parts);
  }
  sni_touch_restore_parts(touch, parts);
}
