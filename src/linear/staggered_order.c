/* staggered_order.c: the order of bodies in which the matrix of an island is a narrow band. */
#include "linear/staggered_parts.h"

#include <limits.h>

/* How far each segment is from the one at adr, in groups, into touched_n; returns one that is
 * furthest. */
static int wave(sni_staggered *s, const sni_island *island, int adr) {
  int *level = s->touched_n, last = adr;
  for (int k = 0; k < island->ntouched; k++) {
    level[s->touched[island->first_touched + k].adr] = -1;
  }
  level[adr] = 0;
  bool more = true;
  for (int front = 0; more; front++) {
    more = false;
    for (int k = 0; k < island->count; k++) {
      const sni_group *g = &s->group[s->order[island->first + k]];
      const sni_group_segment *segment = s->segment + g->segment;
      bool met = false;
      for (int j = 0; j < g->nsegment; j++) {
        met = met || level[segment[j].adr] == front;
      }
      for (int j = 0; met && j < g->nsegment; j++) {
        if (level[segment[j].adr] < 0) {
          level[segment[j].adr] = front + 1;
          last = segment[j].adr;
          more = true;
        }
      }
    }
  }
  return last;
}

void sni_staggered_order(sni_staggered *s, const sni_island *island) {
  sni_touched *t = s->touched + island->first_touched;
  wave(s, island, wave(s, island, t[0].adr));
  for (int k = 1; k < island->ntouched; k++) {
    const sni_touched one = t[k];
    int i = k;
    for (; i > 0 && s->touched_n[t[i - 1].adr] > s->touched_n[one.adr]; i--) {
      t[i] = t[i - 1];
    }
    t[i] = one;
  }
}

int sni_staggered_half_band(const sni_staggered *s, const sni_island *island) {
  int most = 0;
  for (int k = 0; k < island->count; k++) {
    const sni_group *g = &s->group[s->order[island->first + k]];
    int lo = INT_MAX, hi = 0;
    for (int j = 0; j < g->nsegment; j++) {
      const sni_group_segment *segment = &s->segment[g->segment + j];
      const int at = s->of[segment->adr];
      lo = at < lo ? at : lo;
      hi = at + segment->n > hi ? at + segment->n : hi;
    }
    most = hi - 1 - lo > most ? hi - 1 - lo : most;
  }
  return most;
}
