/* staggered_newton.c: the same law by Newton's method, for islands on which sweeps are slow.
 *
 * Piles of heavy things on light ones, wedges, and bodies held by friction alone need thousands of
 * sweeps.  With a guess x0 and numbers r > 0 the law is the same as
 *
 *     F(v) = v - v_free - A^-1 H^T x(v) = 0,     x(v) = P(x0 - r w),     w = H v - c
 *
 * once x = x0 at its solution: the method of multipliers.  P is the nearest point of a part's set,
 * with the limits mu x_n of friction moving along, so F is smooth but for the bends of P, and
 * Newton's method with steps that are cut where |F| does not fall ends in a few steps.  The
 * unknowns are rates, so rows that repeat each other do no harm.
 *
 * Bodies stand in the order in which a wave from one end of the island reaches them, so that the
 * matrix is a band: a tower has a narrow one, a heap of a few dozen bodies one as wide as it is.
 * Larger heaps are left to sweeps.  Long chains that touch in a few places have fewer rows than
 * unknowns, and are solved by rows. */
#include "linear/band.h"
#include "linear/staggered_parts.h"

#include "math/so3.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* What r is, by the row's own 1/W. */
#define STIFF 30.0
/* |F| by |v_free|: nothing more to be had, and good enough where rounding leaves no more. */
#define EXACT  1e-13
#define NEARLY 1e-9
/* A residual that is not worth much work to improve upon. */
#define GOOD 1e-7

/* ---- the nearest points, with their slopes ---- */

typedef struct slope {
  double x[3];
  double D[3][3]; /* dx/dy                                                                     */
  double by[3];   /* dx/dlimit                                                                 */
} slope;

static void slope_one(double y, double lo, double hi, double at_lo, double at_hi, slope *out) {
  *out = (slope){0};
  out->x[0] = fmax(lo, fmin(hi, y));
  out->D[0][0] = y > lo && y < hi;
  out->by[0] = y <= lo ? at_lo : y >= hi ? at_hi : 0;
}

static void slope_disc(const double *y, double r, slope *out) {
  *out = (slope){0};
  const double length = hypot(y[0], y[1]);
  if (length <= r) {
    out->x[0] = y[0];
    out->x[1] = y[1];
    out->D[0][0] = out->D[1][1] = 1;
    return;
  }
  const double c = y[0] / length, s = y[1] / length, factor = r / length;
  out->x[0] = r * c;
  out->x[1] = r * s;
  out->by[0] = c;
  out->by[1] = s;
  out->D[0][0] = factor * s * s;
  out->D[0][1] = out->D[1][0] = -factor * c * s;
  out->D[1][1] = factor * c * c;
}

static void slope_polygon(const double *y, double r, int sides, slope *out) {
  *out = (slope){0};
  out->x[0] = y[0];
  out->x[1] = y[1];
  sni_cone_project_polygon(r, sides, out->x);
  const double off[2] = {y[0] - out->x[0], y[1] - out->x[1]};
  if (off[0] == 0 && off[1] == 0) {
    out->D[0][0] = out->D[1][1] = 1;
    return;
  }
  /* along the side that it is on; at a corner nothing but the size moves it */
  const double at = hypot(out->x[0], out->x[1]), length = hypot(off[0], off[1]);
  const double n[2] = {off[0] / length, off[1] / length};
  if (at >= r * (1 - 1e-12)) {
    const double each = 2 * SN_PI / sides, angle = each * round(atan2(y[1], y[0]) / each);
    out->by[0] = cos(angle);
    out->by[1] = sin(angle);
    return;
  }
  const double inner = cos(SN_PI / sides);
  out->by[0] = inner * n[0];
  out->by[1] = inner * n[1];
  out->D[0][0] = n[1] * n[1];
  out->D[0][1] = out->D[1][0] = -n[0] * n[1];
  out->D[1][1] = n[0] * n[0];
}

static void slope_cone(const double *y, double mu, slope *out) {
  *out = (slope){0};
  const double length = hypot(y[1], y[2]);
  memcpy(out->x, y, sizeof out->x);
  sni_cone_project(mu, out->x);
  if (length <= mu * y[0]) {
    out->D[0][0] = out->D[1][1] = out->D[2][2] = 1;
    return;
  }
  const double size = 1 + mu * mu, n = (y[0] + mu * length) / size;
  if (n <= 0) {
    return;
  }
  /* x = n (1, mu u), u = y_t/|y_t| */
  const double u[3] = {1, mu * y[1] / length, mu * y[2] / length};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->D[i][j] = u[i] * u[j] / size;
    }
  }
  const double c = y[1] / length, s = y[2] / length, turn = n * mu / length;
  out->D[1][1] += turn * s * s;
  out->D[1][2] -= turn * c * s;
  out->D[2][1] -= turn * c * s;
  out->D[2][2] += turn * c * c;
}

static void slope_of(const sni_group_part *part, int sides, const double *y, slope *out) {
  switch (part->set) {
  case SNI_IN_RANGE:
    slope_one(y[0], part->lo, part->hi, 0, 0, out);
    break;
  case SNI_IN_LIMIT:
    slope_one(y[0], -part->limit, part->limit, -1, 1, out);
    break;
  case SNI_IN_DISC:
    slope_disc(y, part->limit, out);
    break;
  case SNI_IN_POLYGON:
    slope_polygon(y, part->limit, sides, out);
    break;
  case SNI_IN_CONE:
    slope_cone(y, part->mu, out);
    break;
  }
}

/* ---- F and its slope ---- */

typedef struct newton {
  sni_staggered *s;
  sni_island *island;
  const sni_staggered_options *o;
  int n;      /* unknowns                                                                     */
  sni_band J; /* n x n, or m x m: see calc_dual                                               */
  int m;      /* rows, where they are fewer than unknowns; 0: not so                          */
  double *W;  /* m x m  H A^-1 H^T                                                            */
  double *y;  /* m                                                                            */
  double *F, *step, *start, *free; /* n                                                        */
  double stiff; /* r, by 1/W                                                                   */
} newton;

/* x of the group from v, and with D: dx = -D dw. */
static void calc_x(const newton *nt, sni_group *g, double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS]) {
  double w[SNI_GROUP_ROWS];
  sni_staggered_mul(nt->s, g, nt->s->v, w);
  if (D) {
    memset(D, 0, sizeof(double[SNI_GROUP_ROWS][SNI_GROUP_ROWS]));
  }
  for (int k = 0; k < g->npart; k++) {
    sni_group_part *part = &g->part[k];
    const int first = part->row;
    const double own = sni_staggered_bound(g, part);
    if (!(own > 0)) {
      continue;
    }
    const double e = part->set == SNI_IN_RANGE ? g->e[first] : 0;
    const double r = nt->stiff / own, soft = 1 / (1 + r * e);
    double y[3];
    for (int i = 0; i < part->n; i++) {
      y[i] = soft * (g->before[first + i] - r * (w[first + i] - g->c[first + i]));
    }
    sni_staggered_limit(g, part);
    slope at;
    slope_of(part, nt->o->sides, y, &at);
    for (int i = 0; i < part->n; i++) {
      g->x[first + i] = at.x[i];
      for (int j = 0; D && j < part->n; j++) {
        D[first + i][first + j] = soft * r * at.D[i][j];
      }
      for (int j = 0; D && part->of >= 0 && j < g->nrow; j++) {
        D[first + i][j] += at.by[i] * part->mu * D[part->of][j];
      }
    }
  }
}

static double calc_F(const newton *nt) {
  sni_staggered *s = nt->s;
  double square = 0;
  for (int k = 0; k < nt->island->count; k++) {
    calc_x(nt, &s->group[s->order[nt->island->first + k]], NULL);
  }
  for (int k = 0, at = 0; k < nt->island->ntouched;
       at += s->touched[nt->island->first_touched + k++].n) {
    const sni_touched *t = &s->touched[nt->island->first_touched + k];
    for (int j = 0; j < t->n; j++) {
      nt->F[at + j] = s->v[t->adr + j] - nt->free[at + j];
    }
  }
  for (int k = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    for (int m = 0; m < g->nsegment; m++) {
      const sni_group_segment *segment = &s->segment[g->segment + m];
      const int at = s->of[segment->adr], n = segment->n;
      for (int i = 0; i < g->nrow; i++) {
        for (int j = 0; g->x[i] != 0 && j < n; j++) {
          nt->F[at + j] -= segment->x[(size_t)i * (size_t)n + (size_t)j] * g->x[i];
        }
      }
    }
  }
  for (int i = 0; i < nt->n; i++) {
    square += nt->F[i] * nt->F[i];
  }
  return square;
}

/* J = 1 + sum A^-1 H^T D H */
static void calc_J(newton *nt) {
  sni_staggered *s = nt->s;
  sni_band_clear(&nt->J);
  for (int i = 0; i < nt->n; i++) {
    sni_band_row(&nt->J, i)[i] = 1;
  }
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS];
    calc_x(nt, g, D);
    for (int a = 0; a < g->nsegment; a++) {
      const sni_group_segment *row = &s->segment[g->segment + a];
      for (int b = 0; b < g->nsegment; b++) {
        const sni_group_segment *column = &s->segment[g->segment + b];
        for (int i = 0; i < g->nrow; i++) {
          for (int j = 0; j < g->nrow; j++) {
            for (int p = 0; D[i][j] != 0 && p < row->n; p++) {
              const double factor = D[i][j] * row->x[i * row->n + p];
              double *to = sni_band_row(&nt->J, s->of[row->adr] + p) + s->of[column->adr];
              for (int q = 0; q < column->n; q++) {
                to[q] += factor * column->h[j * column->n + q];
              }
            }
          }
        }
      }
    }
  }
}

/* ---- the same by rows, where these are few ---- */

/* Column c of W from a column of A^-1 H^T that stands spread over all unknowns. */
static void fill_column(const newton *nt, const double *spread, int c) {
  const sni_staggered *s = nt->s;
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    for (int i = 0; i < g->nrow; i++, r++) {
      double sum = 0;
      for (int p = 0; p < g->nsegment; p++) {
        const sni_group_segment *segment = &s->segment[g->segment + p];
        const double *h = segment->h + (size_t)i * (size_t)segment->n;
        const double *at = spread + s->of[segment->adr];
        for (int j = 0; j < segment->n; j++) {
          sum += h[j] * at[j];
        }
      }
      nt->W[(size_t)r * (size_t)nt->m + (size_t)c] = sum;
    }
  }
}

static void calc_W(const newton *nt) {
  const sni_staggered *s = nt->s;
  double *spread = nt->step;
  for (int k = 0, c = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    for (int i = 0; i < g->nrow; i++, c++) {
      memset(spread, 0, (size_t)nt->n * sizeof *spread);
      for (int p = 0; p < g->nsegment; p++) {
        const sni_group_segment *segment = &s->segment[g->segment + p];
        memcpy(spread + s->of[segment->adr], segment->x + (size_t)i * (size_t)segment->n,
               (size_t)segment->n * sizeof *spread);
      }
      fill_column(nt, spread, c);
    }
  }
}

/* With y = D H step, J step = F becomes  (1 + D W) y = D H F,  step = F - A^-1 H^T y. */
static void calc_dual(newton *nt) {
  sni_staggered *s = nt->s;
  const int m = nt->m;
  sni_band_clear(&nt->J);
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS], HF[SNI_GROUP_ROWS] = {0};
    calc_x(nt, g, D);
    for (int p = 0; p < g->nsegment; p++) {
      const sni_group_segment *segment = &s->segment[g->segment + p];
      const double *F = nt->F + s->of[segment->adr];
      for (int i = 0; i < g->nrow; i++) {
        for (int j = 0; j < segment->n; j++) {
          HF[i] += segment->h[(size_t)i * (size_t)segment->n + (size_t)j] * F[j];
        }
      }
    }
    for (int i = 0; i < g->nrow; i++) {
      double *row = sni_band_row(&nt->J, r + i);
      row[r + i] = 1;
      nt->y[r + i] = 0;
      for (int j = 0; j < g->nrow; j++) {
        const double *W = nt->W + (size_t)(r + j) * (size_t)m;
        nt->y[r + i] += D[i][j] * HF[j];
        for (int c = 0; D[i][j] != 0 && c < m; c++) {
          row[c] += D[i][j] * W[c];
        }
      }
    }
    r += g->nrow;
  }
}

static void step_of_dual(const newton *nt) {
  const sni_staggered *s = nt->s;
  memcpy(nt->step, nt->F, (size_t)nt->n * sizeof *nt->step);
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    for (int p = 0; p < g->nsegment; p++) {
      const sni_group_segment *segment = &s->segment[g->segment + p];
      double *to = nt->step + s->of[segment->adr];
      for (int i = 0; i < g->nrow; i++) {
        for (int j = 0; j < segment->n; j++) {
          to[j] -= segment->x[(size_t)i * (size_t)segment->n + (size_t)j] * nt->y[r + i];
        }
      }
    }
    r += g->nrow;
  }
}

/* J step = F; false: it is singular. */
static bool find_step(newton *nt) {
  nt->s->budget -= sni_band_cost(nt->J.n, nt->J.half);
  if (nt->m > 0) {
    calc_dual(nt);
    const bool good = sni_band_solve(&nt->J, nt->y);
    step_of_dual(nt);
    return good;
  }
  calc_J(nt);
  memcpy(nt->step, nt->F, (size_t)nt->n * sizeof *nt->step);
  return sni_band_solve(&nt->J, nt->step);
}

/* v = start - part step */
static void put(const newton *nt, double part) {
  sni_staggered *s = nt->s;
  for (int k = 0, at = 0; k < nt->island->ntouched; k++) {
    const sni_touched *t = &s->touched[nt->island->first_touched + k];
    for (int j = 0; j < t->n; j++, at++) {
      s->v[t->adr + j] = nt->start[at] - part * nt->step[at];
    }
  }
}

/* F = 0 with x0 as it stands in `before`.  False: it is not. */
static bool descend(newton *nt, double size) {
  enum { STEPS = 30, CUTS = 12 };
  sni_staggered *s = nt->s;
  const double done = EXACT * size, enough = NEARLY * size;
  double square = calc_F(nt);
  for (int k = 0; k < STEPS && square > done * done; k++) {
    for (int m = 0, at = 0; m < nt->island->ntouched; m++) {
      const sni_touched *t = &s->touched[nt->island->first_touched + m];
      memcpy(nt->start + at, s->v + t->adr, (size_t)t->n * sizeof(double));
      at += t->n;
    }
    if (!find_step(nt)) {
      return false;
    }
    double part = 1, next = INFINITY;
    for (int cut = 0; cut < CUTS; cut++, part *= 0.5) {
      put(nt, part);
      next = calc_F(nt);
      if (next < (1 - 0.1 * part) * square) {
        break;
      }
    }
    if (!(next < square)) { /* as good as it gets */
      put(nt, 0);
      calc_F(nt);
      break;
    }
    square = next;
  }
  return square <= enough * enough;
}

/* v as the impulses make it. */
static void push_all(const newton *nt) {
  sni_staggered *s = nt->s;
  for (int k = 0, at = 0; k < nt->island->ntouched; k++) {
    const sni_touched *t = &s->touched[nt->island->first_touched + k];
    memcpy(s->v + t->adr, nt->free + at, (size_t)t->n * sizeof(double));
    at += t->n;
  }
  for (int k = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    sni_staggered_push(s, g, g->x, s->v);
  }
}

/* x of all groups from `before` or from the best so far, or there. */
static void copy_x(const newton *nt, size_t from, size_t to) {
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &nt->s->group[nt->s->order[nt->island->first + k]];
    memcpy((char *)g + to, (char *)g + from, sizeof g->x);
  }
}

/* What F is small against: v_free, what impulses have made of it, and what meets the largest rate.
 */
static double size_of(const newton *nt) {
  const sni_staggered *s = nt->s;
  double square = 0, W = 0, change = 0;
  for (int k = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    double impulse = 0;
    for (int i = 0; i < g->nrow; i++) {
      W = fmax(W, g->W[i * SNI_GROUP_ROWS + i]);
      impulse += g->W[i * SNI_GROUP_ROWS + i] * g->x[i] * g->x[i];
    }
    change = fmax(change, impulse);
  }
  for (int i = 0; i < nt->n; i++) {
    square += nt->free[i] * nt->free[i];
  }
  return sqrt(square + change) + (W > 0 ? nt->island->scale / sqrt(W) : 0);
}

/* ---- the order of bodies ---- */

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

/* What the island touches, by the level that a wave from one of its ends gives it. */
static void order_touched(sni_staggered *s, const sni_island *island) {
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

/* How far from the diagonal the numbers of the matrix are. */
static int half_band(const sni_staggered *s, const sni_island *island) {
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

static int count_unknowns(const sni_staggered *s, const sni_island *island) {
  int n = 0;
  for (int k = 0; k < island->ntouched; k++) {
    n += s->touched[island->first_touched + k].n;
  }
  return n;
}

static int count_rows(const sni_staggered *s, const sni_island *island) {
  int m = 0;
  for (int k = 0; k < island->count; k++) {
    m += s->group[s->order[island->first + k]].nrow;
  }
  return m;
}

/* Places of unknowns, and memory; false: there is not enough of it. */
static bool place_unknowns(newton *nt) {
  sni_staggered *s = nt->s;
  const sni_island *island = nt->island;
  nt->n = count_unknowns(s, island);
  if (nt->n > SNI_NEWTON_MAX) {
    return false;
  }
  order_touched(s, island);
  for (int k = 0, n = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    s->of[t->adr] = n;
    n += t->n;
  }
  const int half = half_band(s, island), m = count_rows(s, island);
  const bool dual = 2 * sni_band_cost(m, m) < sni_band_cost(nt->n, half);
  const size_t n = (size_t)nt->n, rows = dual ? (size_t)m : 0;
  const size_t size = dual ? rows * rows : sni_band_size(nt->n, half);
  if (size + rows * (rows + 1) + 4 * n > s->room_dense) {
    return false;
  }
  sni_band_place(&nt->J, dual ? m : nt->n, dual ? m : half, s->dense);
  nt->m = (int)rows;
  nt->W = s->dense + size;
  nt->y = nt->W + rows * rows;
  nt->F = nt->y + rows;
  nt->step = nt->F + n;
  nt->start = nt->step + n;
  nt->free = nt->start + n;
  if (dual) {
    calc_W(nt);
  }
  return true;
}

/* Outer iterations from x as it stands and the stiffness given; the best x so far is in `p`, and
 * its residual in *least.  Where the law has several answers, or none near by, they go round in
 * circles. */
static void search(newton *nt, double size, double *least) {
  enum { OUTER = 40, PATIENCE = 6 };
  sni_staggered *s = nt->s;
  sni_island *island = nt->island;
  const sni_staggered_options *o = nt->o;
  const size_t x = offsetof(sni_group, x), best = offsetof(sni_group, p);
  int better = 0; /* when it was better last */
  for (int outer = 0; outer < OUTER && s->budget > 0 && *least > o->tolerance &&
                      (*least > GOOD || outer - better < PATIENCE);
       outer++) {
    island->iterations++;
    copy_x(nt, x, offsetof(sni_group, before));
    push_all(nt);
    const bool found = descend(nt, size);
    nt->stiff *= found ? 3 : 0.2;
    push_all(nt);
    if (found && sni_staggered_residual(s, island, o) < *least) {
      better = island->residual < 0.5 * *least ? outer : better;
      *least = island->residual;
      copy_x(nt, x, best);
    } else if (!found) {
      copy_x(nt, offsetof(sni_group, before), x);
      push_all(nt);
      sni_staggered_sweep(s, island, o, 10);
    }
  }
}

/* Other places to begin at, for those that went round in circles. */
static void begin_elsewhere(newton *nt, int turn) {
  sni_staggered *s = nt->s;
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    memset(g->x, 0, sizeof g->x);
  }
  push_all(nt);
  sni_staggered_sweep(s, nt->island, nt->o, 7 * turn);
  nt->stiff = turn % 2 ? 1 : 10 * STIFF;
}

/* ---- groups that have nothing to say ---- */

/* A limit that is further away than anything moves: it takes no part as long as that is so. */
static bool is_idle(const sni_group *g, double scale) {
  const sni_group_part *part = &g->part[0];
  return g->nrow == 1 && g->npart == 1 && part->set == SNI_IN_RANGE && part->lo == 0 &&
         g->x[0] == 0 && g->w[0] > scale;
}

/* Those that are not come first in the island's order; returns how many. */
static int choose_busy(sni_staggered *s, const sni_island *island) {
  int *order = s->order + island->first, busy = 0;
  for (int k = 0; k < island->count; k++) {
    const int one = order[k];
    if (!is_idle(&s->group[one], island->scale)) {
      order[k] = order[busy];
      order[busy++] = one;
    }
  }
  return busy;
}

/* As they were: by number. */
static void restore_order(sni_staggered *s, const sni_island *island) {
  int *order = s->order + island->first;
  for (int k = 1; k < island->count; k++) {
    const int one = order[k];
    int i = k;
    for (; i > 0 && order[i - 1] > one; i--) {
      order[i] = order[i - 1];
    }
    order[i] = one;
  }
}

/* From x, v and the residual as they stand. */
static bool solve_busy(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  enum { TURNS = 6 };
  newton nt = {.s = s, .island = island, .o = o, .stiff = STIFF};
  if (!(s->budget > 0) || !place_unknowns(&nt)) {
    return false;
  }
  for (int k = 0; k < island->count; k++) {
    sni_group *g = &s->group[s->order[island->first + k]];
    double back[SNI_GROUP_ROWS];
    for (int i = 0; i < g->nrow; i++) {
      back[i] = -g->x[i];
    }
    sni_staggered_push(s, g, back, s->v);
  }
  for (int k = 0, at = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    memcpy(nt.free + at, s->v + t->adr, (size_t)t->n * sizeof(double));
    at += t->n;
  }
  const double size = size_of(&nt);
  double least = island->residual;
  copy_x(&nt, offsetof(sni_group, x), offsetof(sni_group, p));
  for (int turn = 0; turn < TURNS && s->budget > 0 && (turn == 0 || least > GOOD); turn++) {
    if (turn > 0) {
      begin_elsewhere(&nt, turn);
    }
    search(&nt, size, &least);
  }
  copy_x(&nt, offsetof(sni_group, p), offsetof(sni_group, x));
  push_all(&nt);
  return sni_staggered_residual(s, island, o) <= o->tolerance;
}

bool sni_staggered_newton(sni_staggered *s, sni_island *island, const sni_staggered_options *o) {
  enum { ROUNDS = 5 }; /* what was idle and is not any more takes part in the next */
  bool good = false;
  for (int k = 0; k < ROUNDS && !good; k++) {
    sni_island part = *island;
    part.count = k < ROUNDS - 1 ? choose_busy(s, island) : island->count;
    const bool all = part.count == island->count, found = solve_busy(s, &part, o);
    island->iterations = part.iterations;
    good = sni_staggered_residual(s, island, o) <= o->tolerance;
    if (all || !found) {
      break;
    }
  }
  restore_order(s, island);
  return good;
}
