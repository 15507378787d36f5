/* staggered_rest.c: what rests stays at rest if it can.
 *
 * Where more points bear than are needed, Coulomb's law may have two answers: a pile of logs may
 * rest, pressed together by friction, or fall apart.  Staggered projections find one of them, and
 * may leave the one that was, by rounding.  But rest is a case of the convex program in which the
 * normal and its friction are in one cone [RM 7.1]: that finds the rates that are least of all, and
 * rates of 0 if the cones have impulses for them.  Where nothing slides both laws are the same.  So
 * islands that were at rest, and would go, are solved by that too; if what it finds rests and meets
 * Coulomb's law, it is taken. */
#include "linear/staggered_parts.h"

#include <math.h>
#include <string.h>

/* Of the tolerance: of rates that are as small in one law the other one asks for a little more. */
#define SHARP 0.1

typedef struct kept {
  double x[SNI_GROUP_ROWS], c;
  int npart;
  sni_group_part part[SNI_GROUP_PARTS];
} kept;

static sni_group *group_of(const sni_staggered *s, const sni_island *island, int k) {
  return &s->group[s->order[island->first + k]];
}

/* Normals and tangents; rolling and spinning go with them. */
static bool moves(const sni_group *g, double rate) {
  bool any = false;
  for (int i = 0; i < g->nrow && i < 3; i++) {
    any = any || fabs(g->w[i]) > rate;
  }
  return any;
}

/* All that bears was at rest, and something of it is no more. */
static bool leaves(const sni_staggered *s, const sni_island *island, double rate) {
  bool any = false;
  for (int k = 0; k < island->count; k++) {
    const sni_group *g = group_of(s, island, k);
    if (g->touches && !g->rests && g->x[0] > 0) {
      return false;
    }
    any = any || (g->rests && moves(g, rate));
  }
  return any;
}

static bool has_friction(const sni_group *g) {
  return g->touches && g->nrow >= 3 && g->npart >= 2 && g->part[1].row == 1 &&
         g->part[0].set == SNI_IN_RANGE && g->part[0].lo == 0;
}

/* The largest round cone that is in its own. */
static double round_mu(const sni_group_part *friction, int sides) {
  return friction->set == SNI_IN_POLYGON ? friction->mu * cos(acos(-1) / sides) : friction->mu;
}

/* Normal and friction in one part; what else it has stays. */
static void join(sni_group *g, int sides) {
  const int own = g->part[1].set == SNI_IN_LIMIT ? 3 : 2;
  const double mu = round_mu(&g->part[1], sides);
  g->part[0] = (sni_group_part){.set = SNI_IN_CONE, .n = 3, .of = -1, .mu = mu};
  for (int k = own; k < g->npart; k++) {
    g->part[k - own + 1] = g->part[k];
  }
  g->npart -= own - 1;
}

static void set_x(sni_staggered *s, sni_group *g, const double *x) {
  double more[SNI_GROUP_ROWS];
  for (int i = 0; i < g->nrow; i++) {
    more[i] = x[i] - g->x[i];
    g->x[i] = x[i];
  }
  sni_staggered_push(s, g, more, s->v);
}

static void keep(const sni_staggered *s, const sni_island *island, kept *out) {
  for (int k = 0; k < island->count; k++) {
    const sni_group *g = group_of(s, island, k);
    memcpy(out[k].x, g->x, sizeof g->x);
    memcpy(out[k].part, g->part, sizeof g->part);
    out[k].npart = g->npart;
    out[k].c = g->c[0];
  }
}

static void restore_parts(const sni_staggered *s, const sni_island *island, const kept *from) {
  for (int k = 0; k < island->count; k++) {
    sni_group *g = group_of(s, island, k);
    memcpy(g->part, from[k].part, sizeof g->part);
    g->npart = from[k].npart;
  }
}

void sni_staggered_rest(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  kept *was = (kept *)(void *)s->relief;
  if (!(o->rest > 0) || !(island->scale > o->rest) ||
      (size_t)island->count * sizeof *was > s->room_relief * sizeof *s->relief ||
      !leaves(s, island, o->rest)) {
    return;
  }
  const sni_island found = *island;
  keep(s, island, was);
  for (int k = 0; k < island->count; k++) {
    sni_group *g = group_of(s, island, k);
    g->c[0] += g->rests ? g->open : 0;
    if (has_friction(g)) {
      join(g, o->sides);
    }
  }
  sni_staggered_options sharp = *o;
  sharp.tolerance *= SHARP;
  sni_staggered_sweep_on(s, island, &sharp);
  if (!(island->residual <= sharp.tolerance)) {
    sni_staggered_newton(s, island, &sharp);
  }
  restore_parts(s, island, was);
  if (!(sni_staggered_residual(s, island, o) <= o->tolerance)) {
    sni_staggered_sweep_on(s, island, o);
  }
  if (island->residual <= fmax(o->tolerance, found.residual) && !leaves(s, island, o->rest)) {
    return;
  }
  for (int k = 0; k < island->count; k++) {
    sni_group *g = group_of(s, island, k);
    set_x(s, g, was[k].x);
    g->c[0] = was[k].c;
  }
  island->iterations = found.iterations;
  sni_staggered_residual(s, island, o);
}
