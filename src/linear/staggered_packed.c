/* staggered_packed.c: the usual contact, packed.
 *
 * A point between two bodies with six coordinates each, or one of them, with a normal and a disc of
 * friction: nine of ten groups, and all of them in a heap.  A sweep then goes through 450 bytes a
 * contact, and multiplies four numbers at a time. */
#include "linear/staggered_parts.h"

#include "math/lane.h"

#include <math.h>

#include <string.h>

typedef double pair __attribute__((vector_size(16)));

SNI_LANE_FN sni_lane load4(const double *from) {
  sni_lane x;
  memcpy(&x, from, sizeof x);
  return x;
}
SNI_LANE_FN pair load2(const double *from) {
  pair x;
  memcpy(&x, from, sizeof x);
  return x;
}

bool sni_packed_take(sni_staggered *s, int k) {
  sni_group *g = &s->group[k];
  const sni_group_part *normal = &g->part[0], *friction = &g->part[1];
  if (g->nrow != 3 || g->npart != 2 || g->nsegment > 2 || normal->set != SNI_IN_RANGE ||
      normal->lo != 0 || !isinf(normal->hi) || friction->set != SNI_IN_DISC || friction->of != 0) {
    return false;
  }
  for (int j = 0; j < g->nsegment; j++) {
    const sni_group_segment *segment = &s->segment[g->segment + j];
    if (segment->n != 6 || segment->h != segment->x) {
      return false;
    }
  }
  sni_packed *p = &s->packed[k];
  for (int i = 0; i < 3; i++) {
    p->c[i] = g->c[i];
    p->x[i] = p->before[i] = g->x[i];
    p->p[i] = 0;
  }
  memset(s->nowhere, 0, 6 * sizeof(double));
  if (g->filled) {
    return true;
  }
  g->filled = true;
  for (int j = 0; j < 2; j++) {
    const bool there = j < g->nsegment;
    const sni_group_segment *segment = &s->segment[g->segment + j];
    p->v[j] = there ? s->v + segment->adr : s->nowhere;
    if (there) {
      memcpy(p->h[j], segment->h, sizeof p->h[j]);
    } else {
      memset(p->h[j], 0, sizeof p->h[j]);
    }
  }
  for (int i = 0; i < 3; i++) {
    p->normal[i] = g->W[i * SNI_GROUP_ROWS];
    p->own[i] = g->W[i * SNI_GROUP_ROWS + i];
  }
  p->disc = friction->disc;
  p->mu = friction->mu;
  p->e = g->e[0];
  p->inverse = p->normal[0] > 0 ? 1 / p->normal[0] : 0;
  return true;
}

double sni_packed_visit(sni_staggered *s, int k, double along, double *square) {
  sni_packed *p = &s->packed[k];
  for (int i = 0; i < 3; i++) {
    const double on = along * p->p[i];
    p->p[i] = on + (p->x[i] - p->before[i]);
    p->x[i] += on;
    p->before[i] = p->x[i];
  }
  sni_lane lo[2];
  pair hi[2];
  for (int j = 0; j < 2; j++) {
    lo[j] = load4(p->v[j]);
    hi[j] = load2(p->v[j] + 4);
  }
  double w[3];
  for (int i = 0; i < 3; i++) {
    const double *a = p->h[0] + 6 * i, *b = p->h[1] + 6 * i;
    const sni_lane four = load4(a) * lo[0] + load4(b) * lo[1];
    const pair two =
        load2(a + 4) * hi[0] + load2(b + 4) * hi[1] +
        (__builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3));
    w[i] = two[0] + two[1] - p->c[i];
  }
  /* the normal, then friction with the limit that it gives */
  const double free = p->x[0] - (w[0] + p->e * p->x[0]) * p->inverse, n = free > 0 ? free : 0;
  double dx[3] = {n - p->x[0], -p->x[1], -p->x[2]};
  const double at[2] = {w[1] + p->normal[1] * dx[0], w[2] + p->normal[2] * dx[0]};
  p->x[0] = n;
  sni_disc_least(&p->disc, at, p->mu * n, p->x + 1);
  dx[1] += p->x[1];
  dx[2] += p->x[2];
  double most = 0;
  for (int i = 0; i < 3; i++) {
    const double change = p->own[i] * fabs(dx[i]);
    most = change > most ? change : most;
    *square += change * fabs(dx[i]);
  }
  if (most == 0) {
    return 0;
  }
  for (int j = 0; j < 2; j++) {
    const double *h = p->h[j];
    const sni_lane to =
        lo[j] + (load4(h) * sni_lane_all(dx[0]) + load4(h + 6) * sni_lane_all(dx[1]) +
                 load4(h + 12) * sni_lane_all(dx[2]));
    const pair rest =
        hi[j] + (load2(h + 4) * (pair){dx[0], dx[0]} + load2(h + 10) * (pair){dx[1], dx[1]} +
                 load2(h + 16) * (pair){dx[2], dx[2]});
    memcpy(p->v[j], &to, sizeof to);
    memcpy(p->v[j] + 4, &rest, sizeof rest);
  }
  return most;
}

void sni_packed_give(sni_staggered *s, int k) {
  sni_group *g = &s->group[k];
  memcpy(g->x, s->packed[k].x, 3 * sizeof(double));
  sni_staggered_limit(g, &g->part[1]);
}
