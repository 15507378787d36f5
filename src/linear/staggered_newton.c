/* staggered_newton.c: the same law by Newton's method, for islands on which sweeps are slow.
 *
 * Piles of heavy things on light ones, wedges, and bodies held by friction alone need thousands of
 * sweeps.  With a guess x0 and numbers r > 0 the law is the same as
 *
 *     F(v) = v - v_free - A^-1 H^T x(v) = 0,     x(v) = P(x0 - r w),     w = H v - c
 *
 * once x = x0 at its solution: the method of multipliers.  P is the nearest point of a part's set,
 * with the limits mu x_n of friction moving along, so F is smooth but for the bends of P, and
 * Newton's method with steps that go as far as the power of F along them falls ends in a few.  The
 * unknowns are rates, so rows that repeat each other do no harm.  Where friction is so strong that
 * guesses go round in circles, answers are followed from soft contacts on (staggered_follow.c).
 *
 * Bodies stand in the order in which a wave from one end of the island reaches them, so that the
 * matrix is a band: a tower has a narrow one, a heap of a few dozen bodies one as wide as it is.
 * Larger heaps are left to sweeps.  Long chains that touch in a few places have fewer rows than
 * unknowns, and are solved by rows. */
#include "linear/staggered_newton.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* What r is, by the row's own 1/W. */
#define STIFF 30.0
/* |F| by |v_free|: nothing more to be had, and good enough where rounding leaves no more. */
#define EXACT  1e-13
#define NEARLY 1e-9
/* The same by the tolerance: each guess leads to a better one, which need not begin with digits
 * that nobody asks for in the end.  Contacts a million times as stiff as bodies are heavy, which
 * those need that say nearly the same, leave no more than that by rounding. */
#define ASKED        1e-3
#define ASKED_NEARLY 1e-2
/* A residual that is not worth much work to improve upon. */
#define GOOD 1e-7

/* ---- F and its slope ---- */

/* x of the group from v, and with D: dx = -D dw. */
void sni_newton_x(const sni_newton *nt, sni_group *g, double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS]) {
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
    sni_slope at;
    sni_newton_slope(part, nt->o->sides, y, &at);
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

double sni_newton_F(const sni_newton *nt) {
  sni_staggered *s = nt->s;
  double square = 0;
  for (int k = 0; k < nt->island->count; k++) {
    sni_newton_x(nt, &s->group[s->order[nt->island->first + k]], NULL);
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

/* J += A^-1 H^T of one segment times D H of the other, a stretch of columns at a time. */
static void add_product(const sni_newton *nt, int nrow, double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS],
                        const sni_group_segment *row, const sni_group_segment *column) {
  enum { STRETCH = 32 };
  const int *of = nt->s->of;
  for (int from = 0; from < column->n; from += STRETCH) {
    const int n = column->n - from < STRETCH ? column->n - from : STRETCH;
    for (int i = 0; i < nrow; i++) {
      double DH[STRETCH] = {0};
      bool any = false;
      for (int j = 0; j < nrow; j++) {
        const double *h = column->h + (size_t)j * (size_t)column->n + from;
        any = any || D[i][j] != 0;
        for (int q = 0; D[i][j] != 0 && q < n; q++) {
          DH[q] += D[i][j] * h[q];
        }
      }
      nt->s->budget -= any ? (double)row->n * n : 0;
      for (int p = 0; any && p < row->n; p++) {
        const double factor = row->x[(size_t)i * (size_t)row->n + (size_t)p];
        double *to = sni_band_row(&nt->J, of[row->adr] + p) + of[column->adr] + from;
        for (int q = 0; q < n; q++) {
          to[q] += factor * DH[q];
        }
      }
    }
  }
}

/* J = 1 + sum A^-1 H^T D H */
static void calc_J(sni_newton *nt) {
  sni_staggered *s = nt->s;
  sni_band_clear(&nt->J);
  for (int i = 0; i < nt->n; i++) {
    sni_band_row(&nt->J, i)[i] = 1;
  }
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS];
    sni_newton_x(nt, g, D);
    for (int a = 0; a < g->nsegment; a++) {
      for (int b = 0; b < g->nsegment; b++) {
        add_product(nt, g->nrow, D, &s->segment[g->segment + a], &s->segment[g->segment + b]);
      }
    }
  }
}

/* ---- the same by rows, where these are few ---- */

/* Column c of W from a column of A^-1 H^T that stands spread over all unknowns. */
static void fill_column(const sni_newton *nt, const double *spread, int c) {
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

static void calc_W(const sni_newton *nt) {
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

/* out = H x of a group, x over all unknowns. */
static void rates_of(const sni_newton *nt, const sni_group *g, const double *x, double *out) {
  const sni_staggered *s = nt->s;
  memset(out, 0, (size_t)g->nrow * sizeof *out);
  for (int p = 0; p < g->nsegment; p++) {
    const sni_group_segment *segment = &s->segment[g->segment + p];
    const double *at = x + s->of[segment->adr];
    for (int i = 0; i < g->nrow; i++) {
      for (int j = 0; j < segment->n; j++) {
        out[i] += segment->h[(size_t)i * (size_t)segment->n + (size_t)j] * at[j];
      }
    }
  }
}

/* With y = D H step, J step = F becomes  (1 + D W) y = D H F,  step = F - A^-1 H^T y. */
static void calc_dual(sni_newton *nt) {
  sni_staggered *s = nt->s;
  const int m = nt->m;
  sni_band_clear(&nt->J);
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS], HF[SNI_GROUP_ROWS];
    sni_newton_x(nt, g, D);
    rates_of(nt, g, nt->F, HF);
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

static void step_of_dual(const sni_newton *nt) {
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
bool sni_newton_step(sni_newton *nt) {
  nt->s->budget -= nt->m > 0 ? nt->cost : sni_band_cost(nt->J.n, nt->J.half);
  if (nt->m > 0) {
    calc_dual(nt);
    nt->sign = sni_band_solve(&nt->J, nt->y);
    step_of_dual(nt);
    return nt->sign != 0;
  }
  calc_J(nt);
  memcpy(nt->step, nt->F, (size_t)nt->n * sizeof *nt->step);
  nt->sign = sni_band_solve(&nt->J, nt->step);
  return nt->sign != 0;
}

/* v = start - part step */
void sni_newton_put(const sni_newton *nt, double part) {
  sni_staggered *s = nt->s;
  for (int k = 0, at = 0; k < nt->island->ntouched; k++) {
    const sni_touched *t = &s->touched[nt->island->first_touched + k];
    for (int j = 0; j < t->n; j++, at++) {
      s->v[t->adr + j] = nt->start[at] - part * nt->step[at];
    }
  }
}

void sni_newton_get_v(const sni_newton *nt, double *to) {
  for (int k = 0; k < nt->island->ntouched; k++) {
    const sni_touched *t = &nt->s->touched[nt->island->first_touched + k];
    memcpy(to, nt->s->v + t->adr, (size_t)t->n * sizeof *to);
    to += t->n;
  }
}

void sni_newton_set_v(const sni_newton *nt, const double *from) {
  for (int k = 0; k < nt->island->ntouched; k++) {
    const sni_touched *t = &nt->s->touched[nt->island->first_touched + k];
    memcpy(nt->s->v + t->adr, from, (size_t)t->n * sizeof *from);
    from += t->n;
  }
}

/* ---- how far along a step ----
 *
 * With limits that stand, F is A^-1 times the gradient of a convex function of v, and there is
 * nothing to stop for before its slope along the step is 0:
 *
 *     step . A F = (H step) . (push - x)     where     A (v - v_free) = H^T push
 *
 * |F| may well grow on the way: by as much as r is large, at the first bend of P. */

/* From v, where the step begins. */
static void calc_along(const sni_newton *nt) {
  const sni_staggered *s = nt->s;
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    double D[SNI_GROUP_ROWS][SNI_GROUP_ROWS], *along = nt->along + r;
    sni_newton_x(nt, g, D);
    rates_of(nt, g, nt->step, along);
    for (int i = 0; i < g->nrow; i++) {
      nt->turn[r + i] = nt->push[r + i] - g->x[i];
      for (int j = 0; j < g->nrow; j++) {
        nt->turn[r + i] -= D[i][j] * along[j];
      }
    }
    r += g->nrow;
  }
}

/* step . A F at v = start - part step, with x there. */
static double slope_at(const sni_newton *nt, double part) {
  const sni_staggered *s = nt->s;
  double sum = 0;
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    for (int i = 0; i < g->nrow; i++, r++) {
      sum += nt->along[r] * (nt->push[r] - part * nt->turn[r] - g->x[i]);
    }
  }
  return sum;
}

/* Where the slope, `first` at the start and `last` < 0 at the end of the step, is nearly 0. */
static double level(const sni_newton *nt, double first, double last, double *square) {
  enum { CUTS = 40 };
  double lo = 0, hi = 1, at_lo = first, at_hi = last, part = 1, slope = last;
  for (int cut = 0; cut < CUTS && fabs(slope) > 0.1 * first; cut++) {
    part = lo + (hi - lo) * fmin(0.9, fmax(0.1, at_lo / (at_lo - at_hi)));
    sni_newton_put(nt, part);
    *square = sni_newton_F(nt);
    slope = slope_at(nt, part);
    if (slope > 0) {
      lo = part;
      at_lo = slope;
    } else {
      hi = part;
      at_hi = slope;
    }
  }
  return part;
}

/* Where |F| falls; 0: nowhere. */
static double shorten(const sni_newton *nt, double before, double *square) {
  enum { CUTS = 12 };
  double part = 1;
  for (int cut = 0; cut < CUTS; cut++, part *= 0.5) {
    sni_newton_put(nt, part);
    *square = sni_newton_F(nt);
    if (*square < (1 - 0.1 * part) * before) {
      break;
    }
  }
  return *square < before ? part : 0;
}

/* From start along the step, |F|^2 being *square there; returns how far it went. */
static double go(const sni_newton *nt, double *square) {
  const double before = *square, first = slope_at(nt, 0);
  double part = 1;
  sni_newton_put(nt, 1);
  *square = sni_newton_F(nt);
  if (*square < 0.25 * before) {
    return 1;
  }
  if (first > 0) {
    const double last = slope_at(nt, 1);
    part = last < 0 ? level(nt, first, last, square) : 1;
  } else { /* limits that move along make it so */
    part = shorten(nt, before, square);
  }
  return part;
}

bool sni_newton_descend(sni_newton *nt) {
  enum { STEPS = 60, PATIENCE = 20 };
  const double done = fmax(EXACT, fmin(NEARLY, ASKED * nt->o->tolerance)) * nt->size,
               enough = fmax(NEARLY, ASKED_NEARLY * nt->o->tolerance) * nt->size;
  double square = sni_newton_F(nt), best = square;
  for (int k = 0, better = 0; k < STEPS && k - better <= PATIENCE && square > done * done; k++) {
    const double before = square;
    sni_newton_get_v(nt, nt->start);
    if (!sni_newton_step(nt)) {
      return false;
    }
    calc_along(nt);
    const double part = go(nt, &square);
    if (part == 0 || (before <= enough * enough && !(square < before))) { /* as good as it gets */
      sni_newton_put(nt, 0);
      square = sni_newton_F(nt);
      break;
    }
    for (int r = 0; r < nt->rows; r++) {
      nt->push[r] -= part * nt->turn[r];
    }
    if (square < 0.25 * best) {
      best = square;
      better = k;
    }
  }
  nt->left = sqrt(square);
  return square <= enough * enough;
}

void sni_newton_push(const sni_newton *nt) {
  sni_staggered *s = nt->s;
  sni_newton_set_v(nt, nt->free);
  for (int k = 0, r = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    memcpy(nt->push + r, g->x, (size_t)g->nrow * sizeof *nt->push);
    sni_staggered_push(s, g, g->x, s->v);
    r += g->nrow;
  }
}

void sni_newton_copy(const sni_newton *nt, size_t from, size_t to) {
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &nt->s->group[nt->s->order[nt->island->first + k]];
    memcpy((char *)g + to, (char *)g + from, sizeof g->x);
  }
}

/* F is small against v_free, what impulses have made of it, and what meets the largest rate. */
static void measure(sni_newton *nt) {
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
  nt->size = sqrt(square + change) + (W > 0 ? nt->island->scale / sqrt(W) : 0);
  nt->W_most = W;
}

/* ---- one island ---- */

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

/* Products of a step, at most: of the matrix, and of its solution. */
static double cost_of(const sni_newton *nt) {
  const sni_staggered *s = nt->s;
  double fill = 0;
  for (int k = 0; k < nt->island->count; k++) {
    const sni_group *g = &s->group[s->order[nt->island->first + k]];
    double n = nt->m;
    for (int j = 0; nt->m == 0 && j < g->nsegment; j++) {
      n += s->segment[g->segment + j].n;
    }
    fill += g->nrow * (nt->m > 0 ? g->nrow * n : n * n);
  }
  return fill + sni_band_cost(nt->J.n, nt->J.half);
}

/* Places of unknowns, and memory; false: there is not enough of it. */
static bool place_unknowns(sni_newton *nt) {
  sni_staggered *s = nt->s;
  const sni_island *island = nt->island;
  nt->n = count_unknowns(s, island);
  if (nt->n > SNI_NEWTON_MAX) {
    return false;
  }
  sni_staggered_order(s, island);
  for (int k = 0, n = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    s->of[t->adr] = n;
    n += t->n;
  }
  const int half = sni_staggered_half_band(s, island), m = count_rows(s, island);
  if (m > s->room_rows) {
    return false;
  }
  const size_t n = (size_t)nt->n, by_rows = (size_t)m * (2 * (size_t)m + 1) + 4 * n,
               by_rates = sni_band_size(nt->n, half) + 4 * n;
  const bool fewer = 2 * sni_band_cost(m, m) < sni_band_cost(nt->n, half),
             dual = by_rows <= s->room_dense && (fewer || by_rates > s->room_dense);
  if (!dual && by_rates > s->room_dense) {
    return false;
  }
  const size_t rows = dual ? (size_t)m : 0;
  const size_t size = dual ? rows * rows : sni_band_size(nt->n, half);
  sni_band_place(&nt->J, dual ? m : nt->n, dual ? m : half, s->dense);
  nt->m = (int)rows;
  nt->rows = m;
  nt->push = s->lines;
  nt->turn = nt->push + m;
  nt->along = nt->turn + m;
  nt->path = nt->along + m;
  nt->W = s->dense + size;
  nt->y = nt->W + rows * rows;
  nt->F = nt->y + rows;
  nt->step = nt->F + n;
  nt->start = nt->step + n;
  nt->free = nt->start + n;
  nt->cost = cost_of(nt);
  if (nt->cost > s->budget) {
    return false;
  }
  if (dual) {
    calc_W(nt);
  }
  return true;
}

/* Nearer guesses need stiffer contacts, but what is left of F by rounding is so much more of x. */
static double stiffen(const sni_newton *nt, bool found, double residual, double least) {
  const double fine = 0.1 * nt->o->tolerance * nt->island->scale / sqrt(nt->W_most);
  const bool rounds = least < GOOD && residual > 0.3 * least && nt->left > fine;
  return !found ? 0.2 : rounds ? 0.03 : 3;
}

/* Outer iterations from x as it stands and the stiffness given; the best x so far is in `p`, and
 * its residual in *least.  Where the law has several answers, or none near by, they go round in
 * circles. */
static void search(sni_newton *nt, double *least) {
  enum { OUTER = 40, PATIENCE = 25 };
  sni_staggered *s = nt->s;
  sni_island *island = nt->island;
  const sni_staggered_options *o = nt->o;
  const size_t x = offsetof(sni_group, x), best = offsetof(sni_group, p);
  int better = 0; /* when it was better last */
  for (int outer = 0;
       outer < OUTER && s->budget > 0 && *least > o->tolerance && outer - better < PATIENCE;
       outer++) {
    island->iterations++;
    sni_newton_copy(nt, x, offsetof(sni_group, before));
    sni_newton_push(nt);
    const bool found = sni_newton_descend(nt);
    sni_newton_push(nt);
    const double residual = found ? sni_staggered_residual(s, island, o) : INFINITY;
    nt->stiff *= stiffen(nt, found, residual, *least);
    if (residual < *least) {
      better = residual < 0.5 * *least ? outer : better;
      *least = residual;
      sni_newton_copy(nt, x, best);
    } else if (!found) {
      sni_newton_copy(nt, offsetof(sni_group, before), x);
      sni_newton_push(nt);
      sni_staggered_sweep(s, island, o, 10);
    }
  }
}

/* Other places to begin at, for those that went round in circles. */
static void begin_elsewhere(sni_newton *nt, int turn) {
  sni_staggered *s = nt->s;
  for (int k = 0; k < nt->island->count; k++) {
    sni_group *g = &s->group[s->order[nt->island->first + k]];
    memset(g->x, 0, sizeof g->x);
  }
  sni_newton_push(nt);
  sni_staggered_sweep(s, nt->island, nt->o, 7 * turn);
  sni_newton_follow(nt);
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
  enum { TURNS = 6, WAY = 100 }; /* steps of a way, if not more */
  sni_newton nt = {.s = s, .island = island, .o = o, .stiff = STIFF};
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
  sni_newton_get_v(&nt, nt.free);
  measure(&nt);
  double least = island->residual;
  sni_newton_copy(&nt, offsetof(sni_group, x), offsetof(sni_group, p));
  search(&nt, &least);
  const double enough = fmax(GOOD, o->tolerance);
  for (int turn = 0; turn < TURNS && s->budget > WAY * nt.cost && least > enough; turn++) {
    begin_elsewhere(&nt, turn);
    search(&nt, &least);
  }
  sni_newton_copy(&nt, offsetof(sni_group, p), offsetof(sni_group, x));
  sni_newton_push(&nt);
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
