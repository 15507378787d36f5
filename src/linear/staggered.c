/* staggered.c: contact and friction projections, swept group by group. */
#include "base/memory.h"
#include "linear/staggered_parts.h"
#include "linear/vector.h"

#include <math.h>
#include <string.h>

enum { NORMALS = 1, FRICTION = 2 };

/* Products: a tenth of a second, and less in scenes of more contacts than this: where hundreds of
 * bodies fly about in small crowds, sweeps are as exact as anybody needs. */
#define NEWTON_BUDGET 3e8
#define NEWTON_CROWD  100.0
/* A residual of more than this is rough, whatever the rates. */
#define ROUGH 0.1
/* With the same groups, as in the blows of a step and the turns with friction in joints, so many
 * times as much. */
#define NEWTON_SOLVES 2

/* ---- groups ---- */

void sni_staggered_clear(sni_staggered *s) {
  s->ngroup = s->nsegment = s->nisland = 0;
  s->nnumber = 0;
  s->spent = 0;
}

sni_group *sni_staggered_add(sni_staggered *s, int nrow) {
  if (s->ngroup == s->room.ngroup) {
    return NULL;
  }
  sni_group *g = &s->group[s->ngroup++];
  memset(g, 0, offsetof(sni_group, part));
  g->nrow = nrow;
  g->segment = s->nsegment;
  return g;
}

sni_group_segment *sni_staggered_touch(sni_staggered *s, int adr, int n, bool same) {
  sni_group *g = &s->group[s->ngroup - 1];
  const size_t each = (size_t)g->nrow * (size_t)n, all = same ? each : 2 * each;
  if (s->nsegment == s->room.nsegment || s->room.numbers - s->nnumber < all) {
    return NULL;
  }
  sni_group_segment *segment = &s->segment[s->nsegment++];
  double *h = s->number + s->nnumber;
  s->nnumber += all;
  memset(h, 0, all * sizeof *h);
  *segment = (sni_group_segment){adr, n, h, same ? h : h + each};
  g->nsegment++;
  return segment;
}

void sni_staggered_drop(sni_staggered *s) {
  const sni_group *g = &s->group[--s->ngroup];
  if (g->nsegment > 0) {
    s->nnumber = (size_t)(s->segment[g->segment].h - s->number);
  }
  s->nsegment = g->segment;
}

static inline __attribute__((always_inline)) double dot6(const double *a, const double *b) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* out = H v */
void sni_staggered_mul(const sni_staggered *s, const sni_group *g, const double *v, double *out) {
  for (int i = 0; i < g->nrow; i++) {
    out[i] = 0;
  }
  for (int k = 0; k < g->nsegment; k++) {
    const sni_group_segment *segment = &s->segment[g->segment + k];
    const int n = segment->n;
    const double *at = v + segment->adr, *h = segment->h;
    if (n == 6) {
      for (int i = 0; i < g->nrow; i++, h += 6) {
        out[i] += dot6(h, at);
      }
    } else {
      for (int i = 0; i < g->nrow; i++, h += n) {
        out[i] += sni_dot(n, h, at);
      }
    }
  }
}

/* v += A^-1 H^T x */
void sni_staggered_push(const sni_staggered *s, const sni_group *g, const double *x, double *v) {
  for (int k = 0; k < g->nsegment; k++) {
    const sni_group_segment *segment = &s->segment[g->segment + k];
    const int n = segment->n;
    const double *from = segment->x;
    double *at = v + segment->adr;
    for (int i = 0; i < g->nrow; i++, from += n) {
      const double xi = x[i];
      if (n == 6) {
        for (int j = 0; j < 6; j++) {
          at[j] += xi * from[j];
        }
      } else {
        for (int j = 0; xi != 0 && j < n; j++) {
          at[j] += xi * from[j];
        }
      }
    }
  }
}

void sni_staggered_rates(const sni_staggered *s, const sni_group *g, double *out) {
  sni_staggered_mul(s, g, s->v, out);
}

void sni_staggered_add_impulse(sni_staggered *s, const sni_group *g, const double *x) {
  sni_staggered_push(s, g, x, s->v);
}

/* Row i of H times column j of A^-1 H^T, of one segment. */
static inline double entry(const sni_group_segment *segment, int i, int j) {
  const size_t n = (size_t)segment->n;
  const double *h = segment->h + (size_t)i * n, *x = segment->x + (size_t)j * n;
  return n == 6 ? dot6(h, x) : sni_dot(segment->n, h, x);
}

/* W = H A^-1 H^T + e of the group alone; it is symmetric. */
static void calc_W(const sni_staggered *s, sni_group *g) {
  for (int i = 0; i < g->nrow; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? g->e[i] : 0;
      for (int k = 0; k < g->nsegment; k++) {
        sum += entry(&s->segment[g->segment + k], i, j);
      }
      g->W[i * SNI_GROUP_ROWS + j] = g->W[j * SNI_GROUP_ROWS + i] = sum;
    }
  }
  for (int k = 0; k < g->npart; k++) {
    sni_group_part *part = &g->part[k];
    const double *W = g->W + part->row * SNI_GROUP_ROWS + part->row;
    if (part->set == SNI_IN_DISC) {
      part->disc = sni_disc_of((const double[3]){W[0], W[1], W[SNI_GROUP_ROWS + 1]});
    }
  }
}

void sni_staggered_weigh(const sni_staggered *s, sni_group *g) {
  if (!g->weighed) {
    calc_W(s, g);
    g->weighed = true;
    g->filled = false;
  }
}

static bool rubs(const sni_group_part *part) {
  return part->set != SNI_IN_RANGE && part->set != SNI_IN_CONE;
}

void sni_staggered_limit(const sni_group *g, sni_group_part *part) {
  if (part->of >= 0 && rubs(part)) {
    part->limit = part->mu * fmax(g->x[part->of], 0);
  }
}

/* An upper bound of the part's own matrix: what it is divided by for steps that are sure.  That of
 * a ball is its trace, which is the same in all axes. */
double sni_staggered_bound(const sni_group *g, const sni_group_part *part) {
  double most = 0, trace = 0;
  for (int i = part->row; i < part->row + part->n; i++) {
    double sum = 0;
    for (int j = part->row; j < part->row + part->n; j++) {
      sum += fabs(g->W[i * SNI_GROUP_ROWS + j]);
    }
    most = fmax(most, sum);
    trace += g->W[i * (SNI_GROUP_ROWS + 1)];
  }
  return part->set == SNI_IN_BALL ? trace : most;
}

/* The nearest point of the part's set. */
static void project(const sni_group_part *part, int sides, double *x) {
  switch (part->set) {
  case SNI_IN_RANGE:
    x[0] = fmax(part->lo, fmin(part->hi, x[0]));
    break;
  case SNI_IN_LIMIT:
    x[0] = fmax(-part->limit, fmin(part->limit, x[0]));
    break;
  case SNI_IN_DISC:
  case SNI_IN_BALL: {
    const double length = sqrt(sni_dot(part->n, x, x));
    const double factor = length > part->limit ? part->limit / length : 1;
    for (int i = 0; i < part->n; i++) {
      x[i] *= factor;
    }
    break;
  }
  case SNI_IN_POLYGON:
    sni_cone_project_polygon(part->limit, sides, x);
    break;
  case SNI_IN_CONE:
    sni_cone_project(part->mu, x);
    break;
  }
}

/* The least over the part's set, with w at x; the rest of the group as it is. */
static void solve_part(const sni_group *g, sni_group_part *part, int sides, const double *w,
                       double *x) {
  const double *W = g->W + part->row * SNI_GROUP_ROWS + part->row;
  const double square[3] = {W[0], W[1], W[SNI_GROUP_ROWS + 1]};
  switch (part->set) {
  case SNI_IN_RANGE:
    sni_cone_range(W[0], w[0], part->lo, part->hi, x);
    break;
  case SNI_IN_LIMIT:
    sni_cone_range(W[0], w[0], -part->limit, part->limit, x);
    project(part, sides, x);
    break;
  case SNI_IN_DISC:
    sni_disc_least(&part->disc, w, part->limit, x);
    break;
  case SNI_IN_POLYGON:
    sni_cone_polygon(square, w, part->limit, sides, x);
    break;
  case SNI_IN_BALL:
  case SNI_IN_CONE: {
    enum { STEPS = 4 };
    const double factor = sni_staggered_bound(g, part);
    double at[3] = {w[0], w[1], w[2]};
    for (int k = 0; factor > 0 && k < STEPS; k++) {
      double y[3] = {x[0] - at[0] / factor, x[1] - at[1] / factor, x[2] - at[2] / factor};
      project(part, sides, y);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          at[i] += W[i * SNI_GROUP_ROWS + j] * (y[j] - x[j]);
        }
      }
      memcpy(x, y, sizeof y);
    }
    break;
  }
  }
}

/* ---- sweeps ---- */

/* One group by both projections, or one of them; returns the largest change of its own w. */
static double visit_parts(const sni_staggered *s, sni_group *g, int what, int sides) {
  enum { LOCAL = 1 }; /* times that a group's normal and friction are told each other */
  double w[SNI_GROUP_ROWS], dx[SNI_GROUP_ROWS], most = 0;
  sni_staggered_mul(s, g, s->v, w);
  for (int i = 0; i < g->nrow; i++) {
    w[i] += g->e[i] * g->x[i] - g->c[i];
    dx[i] = -g->x[i];
  }
  const int rounds = what == (NORMALS | FRICTION) && g->npart > 1 ? LOCAL : 1;
  for (int round = 0; round < rounds; round++) {
    for (int k = 0; k < g->npart; k++) {
      sni_group_part *part = &g->part[k];
      const int first = part->row;
      if (!(what & (rubs(part) ? FRICTION : NORMALS))) {
        continue;
      }
      double before[3];
      for (int i = 0; i < part->n; i++) {
        before[i] = g->x[first + i];
      }
      if (what & FRICTION) {
        sni_staggered_limit(g, part);
      }
      solve_part(g, part, sides, w + first, g->x + first);
      for (int j = 0; j < part->n; j++) {
        const double change = g->x[first + j] - before[j];
        for (int i = 0; change != 0 && i < g->nrow; i++) {
          w[i] += g->W[i * SNI_GROUP_ROWS + first + j] * change;
        }
      }
    }
  }
  bool moved = false;
  for (int i = 0; i < g->nrow; i++) {
    dx[i] += g->x[i];
    moved = moved || dx[i] != 0;
    most = fmax(most, g->W[i * SNI_GROUP_ROWS + i] * fabs(dx[i]));
  }
  if (moved) {
    sni_staggered_push(s, g, dx, s->v);
  }
  return most;
}

double sni_staggered_visit(const sni_staggered *s, sni_group *g, int sides) {
  return visit_parts(s, g, NORMALS | FRICTION, sides);
}

void sni_staggered_sweep(sni_staggered *s, const sni_island *island, const sni_staggered_options *o,
                         int count) {
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < island->count; i++) {
      const int at = k % 2 ? island->count - 1 - i : i;
      sni_staggered_visit(s, &s->group[s->order[island->first + at]], o->sides);
    }
  }
}

/* ---- sweeps as directions of conjugate gradients ----
 *
 * What a sweep has changed is a gradient, and  p = change + b p  with b of Fletcher and Reeves, the
 * sweep being the preconditioner.  v goes on along p between two sweeps, and each x when the next
 * one comes to it. */

/* x goes on by b p, and p has the change of the last sweep. */
static inline void go_on_group(sni_group *g, double b) {
  for (int i = 0; i < g->nrow; i++) {
    const double along = b * g->p[i];
    g->p[i] = along + (g->x[i] - g->before[i]);
    g->x[i] += along;
    g->before[i] = g->x[i];
  }
}

/* The square of what the visit has changed, in the norm of the group's own W. */
static double square_of(const sni_group *g) {
  double square = 0;
  for (int i = 0; i < g->nrow; i++) {
    const double change = g->x[i] - g->before[i];
    square += g->W[i * (SNI_GROUP_ROWS + 1)] * change * change;
  }
  return square;
}

/* All groups of an island, there or back.  Returns the largest change of a group's own w; square:
 * of all changes. */
static double sweep(sni_staggered *s, const sni_island *island, int what, bool back, int sides,
                    double b, double *square) {
  double most = 0;
  *square = 0;
  for (int k = 0; k < island->count; k++) {
    const int i = s->order[island->first + (back ? island->count - 1 - k : k)];
    sni_group *g = &s->group[i];
    double change;
    if (g->packed) {
      change = sni_packed_visit(s, i, b, square);
    } else {
      go_on_group(g, b);
      change = visit_parts(s, g, what, sides);
      *square += square_of(g);
    }
    most = change > most ? change : most;
  }
  return most;
}

/* No direction yet. */
static void forget_direction(const sni_staggered *s, const sni_island *island) {
  for (int k = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    memset(s->vp + t->adr, 0, (size_t)t->n * sizeof(double));
    memcpy(s->v0 + t->adr, s->v + t->adr, (size_t)t->n * sizeof(double));
  }
  for (int k = 0; k < island->count; k++) {
    sni_group *g = &s->group[s->order[island->first + k]];
    if (!g->packed) {
      memset(g->p, 0, sizeof g->p);
      memcpy(g->before, g->x, sizeof g->x);
    }
  }
}

static void go_on(const sni_staggered *s, const sni_island *island, double b) {
  for (int k = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    for (int j = t->adr; j < t->adr + t->n; j++) {
      const double along = b * s->vp[j];
      s->vp[j] = along + (s->v[j] - s->v0[j]);
      s->v[j] += along;
      s->v0[j] = s->v[j];
    }
  }
}

/* ---- one island ---- */

double sni_staggered_residual_of(const sni_staggered *s, sni_group *g, int sides) {
  double most = 0;
  sni_staggered_mul(s, g, s->v, g->w);
  for (int i = 0; i < g->nrow; i++) {
    g->w[i] += g->e[i] * g->x[i] - g->c[i];
  }
  for (int k = 0; k < g->npart; k++) {
    sni_group_part *part = &g->part[k];
    const double factor = sni_staggered_bound(g, part);
    double y[3];
    sni_staggered_limit(g, part);
    for (int i = 0; i < part->n; i++) {
      y[i] = g->x[part->row + i] - (factor > 0 ? g->w[part->row + i] / factor : 0);
    }
    project(part, sides, y);
    for (int i = 0; i < part->n; i++) {
      most = fmax(most, factor * fabs(y[i] - g->x[part->row + i]));
    }
  }
  return most;
}

double sni_staggered_residual(sni_staggered *s, sni_island *island,
                              const sni_staggered_options *o) {
  const double scale = island->scale > 0 ? island->scale : 1;
  island->residual = 0;
  for (int k = 0; k < island->count; k++) {
    const int i = s->order[island->first + k];
    if (s->group[i].packed) { /* sweeps are over */
      sni_packed_give(s, i);
      s->group[i].packed = false;
    }
    const double residual = sni_staggered_residual_of(s, &s->group[i], o->sides) / scale;
    if (!(residual <= island->residual)) {
      island->residual = residual;
      island->worst = i;
    }
  }
  return island->residual;
}

/* Sweeps until changes are below `small`; returns sweeps.  Where changes grow, the direction is
 * forgotten. */
static int converge(sni_staggered *s, sni_island *island, int what, double small, int most,
                    int sides, double *change) {
  double last = INFINITY, b = 0;
  int k = 0;
  forget_direction(s, island);
  *change = INFINITY;
  while (k<most && * change> small) {
    double square;
    *change = sweep(s, island, what, k % 2, sides, b, &square);
    k++;
    if (*change > small && k < most) {
      b = square <= last ? square / last : 0;
      last = square;
      go_on(s, island, b);
    }
  }
  return k;
}

/* The largest rate that has to be met; groups that nothing pushes do not count. */
double sni_staggered_scale_of(const sni_group *g, const double *w) {
  bool pushed = false;
  double most = 0;
  for (int k = 0; k < g->npart; k++) {
    const sni_group_part *part = &g->part[k];
    const double *at = w + part->row;
    const double least = part->set == SNI_IN_CONE ? part->mu * hypot(at[1], at[2]) : 0;
    pushed = pushed || (part->set == SNI_IN_CONE ? at[0] < least
                        : rubs(part)             ? part->of < 0 && part->limit > 0
                                                 : at[0] < 0 || part->lo < 0);
  }
  for (int i = 0; pushed && i < g->nrow; i++) {
    most = fmax(most, fabs(w[i]));
  }
  return most;
}

/* Nothing pushes: x is 0, or the least that its ranges let it be. */
static void rest(sni_staggered *s, const sni_island *island) {
  for (int k = 0; k < island->count; k++) {
    sni_group *g = &s->group[s->order[island->first + k]];
    memset(g->x, 0, sizeof g->x);
    sni_staggered_mul(s, g, s->v, g->w);
    for (int i = 0; i < g->nrow; i++) {
      g->w[i] -= g->c[i];
    }
  }
}

void sni_staggered_sweep_island(sni_staggered *s, sni_island *island,
                                const sni_staggered_options *o) {
  island->refined = false;
  double scale = 0;
  for (int k = 0; k < island->count; k++) {
    sni_group *g = &s->group[s->order[island->first + k]];
    double w[SNI_GROUP_ROWS];
    sni_staggered_mul(s, g, s->v, w);
    for (int i = 0; i < g->nrow; i++) {
      w[i] -= g->c[i];
    }
    scale = fmax(scale, sni_staggered_scale_of(g, w));
    sni_staggered_weigh(s, g);
  }
  if (!(scale > 0)) {
    rest(s, island);
    return;
  }
  scale = fmax(scale, o->least);
  island->scale = scale;
  for (int k = 0; k < island->count; k++) { /* the guess */
    const int i = s->order[island->first + k];
    sni_group *g = &s->group[i];
    sni_staggered_push(s, g, g->x, s->v);
    g->packed = !o->one_at_a_time && sni_packed_take(s, i);
  }
  const double small = 0.1 * o->tolerance * scale;
  double change;
  if (!o->one_at_a_time) {
    island->iterations =
        converge(s, island, NORMALS | FRICTION, small, o->max_iterations, o->sides, &change);
  } else {
    island->iterations = 0;
    do {
      double first, second;
      int n = converge(s, island, NORMALS, 0.1 * small, o->max_iterations, o->sides, &first);
      n += converge(s, island, FRICTION, 0.1 * small, o->max_iterations, o->sides, &second);
      island->iterations += n;
      change = n > 2 ? INFINITY : fmax(first, second);
    } while (change > small && island->iterations < o->max_iterations);
  }
  sni_staggered_residual(s, island, o);
}

/* Of the islands that sweeps did not bring to the tolerance: small ones are soon done. */
static sni_island *smallest_left(const sni_staggered *s, double tolerance) {
  sni_island *least = NULL;
  for (int k = 0; k < s->nisland; k++) {
    sni_island *island = &s->island[k];
    if (!(island->residual <= tolerance) && !island->refined &&
        (!least || island->count < least->count)) {
      least = island;
    }
  }
  return least;
}

bool sni_staggered_is_rough(const sni_island *island, const sni_staggered_options *o) {
  return o->rough > 0 && (island->residual > ROUGH || island->residual * island->scale > o->rough);
}

void sni_staggered_sweep_on(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  double change;
  for (int j = 0; j < island->count; j++) {
    const int i = s->order[island->first + j];
    s->group[i].packed = !o->one_at_a_time && sni_packed_take(s, i);
  }
  island->iterations += converge(s, island, NORMALS | FRICTION, 0.1 * o->tolerance * island->scale,
                                 o->max_iterations, o->sides, &change);
  sni_staggered_residual(s, island, o);
}

/* Large islands that come in fast may be far off after so many sweeps: they get as many again. */
static void sweep_rough(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  enum { TIMES = 3 };
  for (int k = 0; k < TIMES && sni_staggered_is_rough(island, o); k++) {
    sni_staggered_sweep_on(s, island, o);
  }
}

/* ---- islands ---- */

static int find(int *root, int i) {
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

/* Coordinates that share a group share a root. */
static void join_coordinates(sni_staggered *s) {
  for (int i = 0; i < s->room.nv; i++) {
    s->root[i] = i;
  }
  for (int k = 0; k < s->ngroup; k++) {
    const sni_group *g = &s->group[k];
    for (int j = 1; j < g->nsegment; j++) {
      const int a = find(s->root, s->segment[g->segment].adr);
      const int b = find(s->root, s->segment[g->segment + j].adr);
      s->root[a < b ? b : a] = a < b ? a : b;
    }
  }
}

/* Groups and what they touch by island; islands in the order of their first groups. */
void sni_staggered_find_islands(sni_staggered *s) {
  join_coordinates(s);
  int *of = s->of, *n = s->touched_n;
  for (int i = 0; i < s->room.nv; i++) {
    of[i] = -1;
    n[i] = 0;
  }
  s->nisland = 0;
  for (int k = 0; k < s->ngroup; k++) {
    sni_group *g = &s->group[k];
    const int at = g->nsegment > 0 ? find(s->root, s->segment[g->segment].adr) : -1;
    if (at >= 0 && of[at] < 0) {
      of[at] = s->nisland;
      s->island[s->nisland++] = (sni_island){0};
    }
    g->island = at >= 0 ? of[at] : -1;
    if (at >= 0) {
      s->island[of[at]].count++;
    }
    for (int j = 0; j < g->nsegment; j++) {
      const sni_group_segment *segment = &s->segment[g->segment + j];
      s->island[of[at]].ntouched += n[segment->adr] == 0;
      n[segment->adr] = segment->n;
    }
  }
  for (int k = 0, groups = 0, touched = 0; k < s->nisland; k++) {
    sni_island *island = &s->island[k];
    island->first = groups;
    island->first_touched = touched;
    groups += island->count;
    touched += island->ntouched;
    island->count = island->ntouched = 0;
  }
  for (int k = 0; k < s->ngroup; k++) {
    const sni_group *g = &s->group[k];
    sni_island *island = g->island >= 0 ? &s->island[g->island] : NULL;
    if (island) {
      s->order[island->first + island->count++] = k;
    }
    for (int j = 0; j < g->nsegment; j++) {
      const int adr = s->segment[g->segment + j].adr;
      if (n[adr] > 0) {
        s->touched[island->first_touched + island->ntouched++] = (sni_touched){adr, n[adr]};
        n[adr] = 0;
      }
    }
  }
}

/* Newton's method on islands above the tolerance, and what there is to say of all. */
sn_status sni_staggered_refine(sni_staggered *s, const sni_staggered_options *o,
                               sni_staggered_info *info) {
  *info = (sni_staggered_info){.worst = -1};
  const double crowd = s->ngroup / NEWTON_CROWD;
  const double each =
      NEWTON_BUDGET * (o->patience > 0 ? o->patience : 1) / (1 + crowd * crowd * crowd);
  const double budget = fmax(0, fmin(each, NEWTON_SOLVES * each - s->spent));
  s->budget = budget;
  sni_island *next;
  while (!o->sweeps_only && s->budget > 0 && (next = smallest_left(s, o->tolerance))) {
    next->refined = true;
    sni_staggered_newton(s, next, o);
  }
  for (int k = 0; k < s->nisland; k++) {
    sni_island *island = &s->island[k];
    if (!o->sweeps_only) {
      sweep_rough(s, island, o);
    }
    sni_staggered_rest(s, island, o);
    info->iterations =
        island->iterations > info->iterations ? island->iterations : info->iterations;
    if (!(island->residual <= info->residual)) {
      info->residual = island->residual;
      info->worst = island->worst;
    }
    info->unconverged += !(island->residual <= o->tolerance);
  }
  s->spent += budget - s->budget;
  return info->unconverged > 0 ? SN_NOT_CONVERGED : SN_OK;
}

sn_status sni_staggered_solve(sni_staggered *s, const sni_staggered_options *o,
                              sni_staggered_info *info) {
  if (!o->again) {
    sni_staggered_find_islands(s);
  }
  for (int k = 0; k < s->nisland; k++) {
    sni_staggered_sweep_island(s, &s->island[k], o);
  }
  return sni_staggered_refine(s, o, info);
}

/* ---- memory ---- */

static size_t lay_out(sni_staggered *s, const sni_staggered_room *room, char *memory) {
  const size_t nv = (size_t)room->nv, n = (size_t)room->ngroup;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  s->v = TAKE(nv, sizeof *s->v);
  s->vp = TAKE(nv, sizeof *s->vp);
  s->v0 = TAKE(nv, sizeof *s->v0);
  s->group = TAKE(n, sizeof *s->group);
  s->segment = TAKE((size_t)room->nsegment, sizeof *s->segment);
  s->number = TAKE(room->numbers, sizeof *s->number);
  s->room_dense = nv * (nv + 4) < SNI_NEWTON_NUMBERS ? nv * (nv + 4) : SNI_NEWTON_NUMBERS;
  s->dense = TAKE(s->room_dense, sizeof *s->dense);
  const size_t most = n * SNI_GROUP_ROWS, unknowns = nv < SNI_NEWTON_MAX ? nv : SNI_NEWTON_MAX;
  s->room_rows = most < SNI_NEWTON_ROWS ? (int)most : SNI_NEWTON_ROWS;
  s->lines = TAKE(3 * (size_t)s->room_rows + SNI_PATH_VECTORS * unknowns, sizeof *s->lines);
  s->room_relief = SNI_RELIEF_NUMBERS;
  s->relief = TAKE(s->room_relief, sizeof *s->relief);
  s->packed = TAKE(n, sizeof *s->packed);
  s->nowhere = TAKE((size_t)6, sizeof *s->nowhere);
  s->island = TAKE(n, sizeof *s->island);
  s->touched = TAKE(nv, sizeof *s->touched);
  s->order = TAKE(n, sizeof *s->order);
  s->root = TAKE(nv, sizeof *s->root);
  s->of = TAKE(nv, sizeof *s->of);
  s->touched_n = TAKE(nv, sizeof *s->touched_n);
  s->around = TAKE((size_t)room->nsegment, sizeof *s->around);
  s->list = TAKE(3 * n, sizeof *s->list);
#undef TAKE
  return used;
}

size_t sni_staggered_size(const sni_staggered_room *room) {
  sni_staggered s;
  return lay_out(&s, room, NULL);
}

void sni_staggered_place(sni_staggered *s, const sni_staggered_room *room, void *memory) {
  *s = (sni_staggered){.room = *room};
  lay_out(s, room, memory);
}
