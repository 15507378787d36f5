/* staggered_mend.c: a few groups more, in an island that is solved as well as it is.
 *
 * Impulses of the others are nearly right, and most of them stay as they are: what two bodies that
 * meet do to each other dies away from contact to contact.  So sweeps begin with the groups that
 * are new, and go on to the groups of those bodies whose rates have changed by more than a part of
 * what the island is off by anyway.  Whoever is further away is not looked at. */
#include "linear/staggered_parts.h"

#include <math.h>
#include <string.h>

/* Of an island's residual, changes that are passed on. */
#define PASSED_ON 0.1
/* Islands of no more groups, those that are off by more than this, and those that were solved to
 * the tolerance and are not so again, are solved as a whole. */
enum { SMALL = 100 };

/* Islands with all groups, and what the last solve says of those that they were. */
static void join_islands(sni_staggered *s) {
  double *residual = s->vp, *scale = s->v0; /* islands are fewer than coordinates */
  int *was = s->list;
  for (int k = 0; k < s->nisland; k++) {
    residual[k] = s->island[k].residual;
    scale[k] = s->island[k].scale;
  }
  for (int k = 0; k < s->ngroup; k++) {
    was[k] = s->group[k].fresh ? -1 : s->group[k].island;
  }
  sni_staggered_find_islands(s);
  for (int k = 0; k < s->ngroup; k++) {
    const sni_group *g = &s->group[k];
    if (g->island < 0) {
      continue;
    }
    sni_island *island = &s->island[g->island];
    if (was[k] >= 0) {
      if (residual[was[k]] > island->residual) {
        island->residual = residual[was[k]];
        island->worst = k;
      }
      island->scale = fmax(island->scale, scale[was[k]]);
    }
    island->fresh = island->fresh || g->fresh;
    island->refined = !island->fresh;
  }
}

/* Groups by what they touch: those at adr are around[of[adr] - n] to around[of[adr] - 1], n being
 * touched_n[adr]. */
static void find_around(sni_staggered *s, const sni_island *island) {
  int *n = s->touched_n, *end = s->of, at = 0;
  for (int k = 0; k < island->ntouched; k++) {
    n[s->touched[island->first_touched + k].adr] = 0;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < island->count; k++) {
      const int i = s->order[island->first + k];
      const sni_group *g = &s->group[i];
      for (int j = 0; j < g->nsegment; j++) {
        const int adr = s->segment[g->segment + j].adr;
        if (pass == 0) {
          n[adr]++;
        } else {
          s->around[end[adr]++] = i;
        }
      }
    }
    for (int k = 0; pass == 0 && k < island->ntouched; k++) {
      const int adr = s->touched[island->first_touched + k].adr;
      end[adr] = at;
      at += n[adr];
    }
  }
}

/* The guess of group i, which the last solve did not know of. */
static void take_guess(sni_staggered *s, int i, const sni_staggered_options *o) {
  sni_group *g = &s->group[i];
  sni_island *island = &s->island[g->island];
  double w[SNI_GROUP_ROWS];
  for (int r = 0; r < g->nrow; r++) {
    w[r] = -g->c[r];
  }
  sni_staggered_weigh(s, g);
  sni_staggered_push(s, g, g->x, s->v);
  island->scale = fmax(island->scale, fmax(o->least, sni_staggered_scale_of(g, w)));
}

static double visit(sni_staggered *s, int i, const sni_staggered_options *o) {
  double square = 0;
  return s->group[i].packed ? sni_packed_visit(s, i, 0, &square)
                            : sni_staggered_visit(s, &s->group[i], o->sides);
}

/* Groups in lists: those of this round, those of the next, and all that were in one. */
typedef struct lists {
  int *now, *next, *all;
  int nnow, nnext, nall;
} lists;

static void add(sni_staggered *s, lists *l, int i) {
  sni_group *g = &s->group[i];
  if (!g->listed) {
    g->listed = true;
    l->next[l->nnext++] = i;
  }
}

/* Those that group i touches the bodies of, and itself. */
static void pass_on(sni_staggered *s, lists *l, int i) {
  const sni_group *g = &s->group[i];
  for (int j = 0; j < g->nsegment; j++) {
    const int adr = s->segment[g->segment + j].adr;
    for (int k = s->of[adr] - s->touched_n[adr]; k < s->of[adr]; k++) {
      add(s, l, s->around[k]);
    }
  }
}

/* Next becomes now. */
static void turn(sni_staggered *s, lists *l) {
  int *swap = l->now;
  l->now = l->next;
  l->next = swap;
  l->nnow = l->nnext;
  l->nnext = 0;
  for (int k = 0; k < l->nnow; k++) {
    const int i = l->now[k];
    s->group[i].listed = false;
    if (!s->group[i].fresh) { /* it is in `all` for the first time */
      s->group[i].fresh = true;
      l->all[l->nall++] = i;
      s->group[i].packed = sni_packed_take(s, i);
    }
  }
}

/* From its fresh groups on; false: changes have not become small. */
static bool sweep_around(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  lists l = {.now = s->list, .next = s->list + s->ngroup, .all = s->list + 2 * s->ngroup};
  find_around(s, island);
  for (int k = 0; k < island->count; k++) {
    const int i = s->order[island->first + k];
    if (s->group[i].fresh) {
      take_guess(s, i, o);
      s->group[i].fresh = false;
      add(s, &l, i);
    }
  }
  const double off = PASSED_ON * fmax(o->tolerance, island->residual) * island->scale;
  const double small =
      o->enough > 0 ? fmin(off, fmax(o->enough, PASSED_ON * o->tolerance * island->scale)) : off;
  int round = 0;
  for (turn(s, &l); l.nnow > 0 && round < o->max_iterations; turn(s, &l), round++) {
    for (int k = 0; k < l.nnow; k++) {
      const int i = l.now[round % 2 ? l.nnow - 1 - k : k];
      if (visit(s, i, o) > small) {
        pass_on(s, &l, i);
      }
    }
  }
  island->iterations = round;
  for (int k = 0; k < l.nall; k++) {
    s->group[l.all[k]].fresh = false;
  }
  sni_staggered_residual(s, island, o);
  return l.nnow == 0;
}

/* All of it, from its impulses on. */
static void solve_whole(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  for (int k = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    memset(s->v + t->adr, 0, (size_t)t->n * sizeof(double));
  }
  for (int k = 0; k < island->count; k++) {
    s->group[s->order[island->first + k]].fresh = false;
  }
  sni_staggered_sweep_island(s, island, o);
}

sn_status sni_staggered_mend(sni_staggered *s, const sni_staggered_options *o,
                             sni_staggered_info *info) {
  s->spent = 0;
  join_islands(s);
  for (int k = 0; k < s->nisland; k++) {
    sni_island *island = &s->island[k];
    if (!island->fresh) {
      continue;
    }
    const bool solved = island->residual <= o->tolerance;
    if (island->count <= SMALL || sni_staggered_is_rough(island, o) ||
        (!sweep_around(s, island, o) && solved)) {
      solve_whole(s, island, o);
    }
  }
  return sni_staggered_refine(s, o, info);
}
