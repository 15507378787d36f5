/* staggered_relieve.c: of all impulses that move alike, the least.
 *
 * Where more points bear than are needed, v = A^-1 (b + H^T x) is the same for many x: wheels of a
 * cart may press sideways against each other as hard as friction lets them.  Nothing moves
 * differently, but what is between them bears it.  Of all x with
 *
 *     X x = X x_0,   X = A^-1 H^T,     within their sets, and nothing where a contact opens
 *
 * that is taken which rubs least, and has its normals shared evenly so far as that leaves them
 * open:
 *
 *     min  |x_t|^2 + EVEN |x_n|^2
 *
 * With y = D^1/2 x, the weights D, it is the point of an affine space and of cones that is nearest
 * to 0 (least.h).  Q being an orthonormal basis of the rows of X D^-1/2, the space is
 * Q y = Q y_0, and Q^T Q y_0 mostly all that is asked for.  Where the answer is not exact, since
 * cones leave no room, it is not gone to all of the way.
 *
 * What slides is at the rim of its cone, and goes with its normal; what is soft has a normal that
 * is not open.  Friction in joints that stick may hold what contacts do, and is an unknown as well:
 * how the two share would else depend on where the solve began. */
#include "linear/least.h"
#include "linear/staggered_parts.h"
#include "linear/vector.h"

#include <math.h>
#include <string.h>

/* Of normals, by what friction counts. */
#define EVEN 1e-4
/* What is left of a row, below this part of it, is rounding. */
#define ROUNDING 1e-12
/* Limits below this part of the largest friction are none. */
#define NOTHING 1e-9
/* Impulses may be beyond their cones by this part of the largest. */
#define BEYOND 1e-13
enum { HALVES = 40 };

/* An unknown: x of a group goes along `along` with it. */
typedef struct unknown {
  int group;
  double root; /* of its weight                                                                */
  double along[SNI_GROUP_ROWS];
} unknown;

typedef struct relief {
  unknown *unknown;
  sni_cone_block *block;
  int n, nblock, ncoord, rank;
  double *Q;    /* ncoord x n, of which rank rows are in use                                   */
  double alike; /* what is left of a row, below this part of it, moves nothing */
  double *left, *size;   /* ncoord  squares   */
  double *y0, *to, *off; /* n                                                                  */
  double friction;       /* the largest that a contact could have                               */
  sni_least nearest;
} relief;

/* ---- unknowns ---- */

static bool is_contact(const sni_group *g) {
  bool is = g->shares && g->npart > 0 && g->part[0].set == SNI_IN_RANGE && g->part[0].lo == 0 &&
            g->part[0].hi == INFINITY;
  for (int k = 1; is && k < g->npart; k++) {
    const sni_part_set set = g->part[k].set;
    is = g->part[k].of == 0 && (set == SNI_IN_DISC || (set == SNI_IN_LIMIT && g->part[k].row == 3));
  }
  return is;
}

static unknown *add_unknown(relief *r, int group, double weight) {
  unknown *u = &r->unknown[r->n++];
  *u = (unknown){.group = group, .root = sqrt(weight)};
  return u;
}

static bool slides(const sni_group *g, const sni_group_part *part, double slow) {
  const double *w = g->w + part->row;
  return sqrt(sni_dot(part->n, w, w)) > slow;
}

/* Couples count as forces that have the same part of their limits. */
static double weight_of(const sni_group *g, const sni_group_part *part) {
  const double mu = g->part[1].row == 1 ? g->part[1].mu : 1;
  return part->row == 1 ? 1 : mu * mu / (part->mu * part->mu);
}

/* What slides goes with the normal. */
static double tie(const sni_group *g, const sni_group_part *part, double *along) {
  const double *x = g->x + part->row, *w = g->w + part->row;
  const double speed = sqrt(sni_dot(part->n, w, w)), length = sqrt(sni_dot(part->n, x, x));
  const bool inside = g->x[0] > 0 && length <= 2 * part->mu * g->x[0]; /* and no rounding of 0 */
  double square = 0;
  for (int i = 0; i < part->n; i++) {
    const double share = inside ? x[i] / g->x[0] : -part->mu * w[i] / speed;
    along[part->row + i] = share;
    square += share * share;
  }
  return square * weight_of(g, part);
}

/* Friction with a limit of its own, as in a joint; one that sticks shares with contacts, and counts
 * as one that has the same part of its limit. */
static bool rubs_alone(const sni_group *g) {
  return g->shares && g->npart == 1 && g->part[0].of < 0 && g->part[0].set != SNI_IN_RANGE &&
         g->part[0].set != SNI_IN_CONE;
}

static void add_alone(relief *r, const sni_staggered *s, int k, double slow) {
  const sni_group *g = &s->group[k];
  const sni_group_part *part = &g->part[0];
  if (slides(g, part, slow) || !(part->limit > NOTHING * r->friction) || !(r->friction > 0)) {
    return;
  }
  const double root = r->friction / part->limit;
  sni_cone_block *b = &r->block[r->nblock++];
  *b = (sni_cone_block){.first = r->n, .npart = 1};
  b->part[0].n = part->n;
  b->part[0].limit = r->friction;
  for (int j = 0; j < part->n; j++) {
    add_unknown(r, k, root * root)->along[part->row + j] = 1;
  }
}

/* Unknowns of group k, and their cones.  slow: rates below this are none. */
static void add_group(relief *r, const sni_staggered *s, int k, double slow) {
  const sni_group *g = &s->group[k];
  if (rubs_alone(g)) {
    add_alone(r, s, k, slow);
    return;
  }
  if (!is_contact(g) || fabs(g->w[0]) > slow) {
    return;
  }
  const bool soft = g->e[0] * g->x[0] > slow;
  sni_cone_block *b = &r->block[r->nblock++];
  *b = (sni_cone_block){.first = r->n, .free = !soft};
  double own = EVEN;
  if (!soft) {
    unknown *u = add_unknown(r, k, 0);
    u->along[0] = 1;
    for (int i = 1; i < g->npart; i++) {
      own += slides(g, &g->part[i], slow) ? tie(g, &g->part[i], u->along) : 0;
    }
    u->root = sqrt(own);
  }
  for (int i = 1; i < g->npart; i++) {
    const sni_group_part *part = &g->part[i];
    if (!(part->mu > 0) || slides(g, part, slow)) {
      continue;
    }
    const double weight = weight_of(g, part), mu = sqrt(weight) * part->mu;
    b->part[b->npart].n = part->n;
    b->part[b->npart].mu = mu / sqrt(own);
    b->part[b->npart++].limit = mu * g->x[0];
    for (int j = 0; j < part->n; j++) {
      add_unknown(r, k, weight)->along[part->row + j] = 1;
    }
  }
}

/* ---- what moves ---- */

/* The rows of X D^-1/2, and y_0; place[adr]: of coordinates in these rows. */
static void fill(relief *r, const sni_staggered *s, const int *place) {
  const int n = r->n;
  memset(r->Q, 0, (size_t)r->ncoord * (size_t)n * sizeof *r->Q);
  for (int i = 0; i < n; i++) {
    const unknown *u = &r->unknown[i];
    const sni_group *g = &s->group[u->group];
    for (int k = 0; k < g->nsegment; k++) {
      const sni_group_segment *segment = &s->segment[g->segment + k];
      for (int row = 0; row < g->nrow; row++) {
        const double share = u->along[row] / u->root, *x = segment->x + row * segment->n;
        double *to = r->Q + (size_t)place[segment->adr] * (size_t)n + i;
        for (int j = 0; share != 0 && j < segment->n; j++) {
          to[(size_t)j * (size_t)n] += share * x[j];
        }
      }
    }
    int own = 0; /* an unknown stands for its first row */
    while (u->along[own] == 0) {
      own++;
    }
    r->y0[i] = u->root * g->x[own] / u->along[own];
  }
}

/* x -= (q . x) q */
static void take_away(int n, const double *q, double *x) {
  const double f = sni_dot(n, q, x);
  for (int i = 0; f != 0 && i < n; i++) {
    x[i] -= f * q[i];
  }
}

static void exchange(int n, double *a, double *b) {
  for (int i = 0; a != b && i < n; i++) {
    const double x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

/* How much all rows of the island move each coordinate, squared, into r->size. */
static void find_sizes(relief *r, const sni_staggered *s, const sni_island *island,
                       const int *place) {
  memset(r->size, 0, (size_t)r->ncoord * sizeof *r->size);
  for (int k = 0; k < island->count; k++) {
    const sni_group *g = &s->group[s->order[island->first + k]];
    for (int i = 0; i < g->nsegment; i++) {
      const sni_group_segment *segment = &s->segment[g->segment + i];
      double *size = r->size + place[segment->adr];
      for (int j = 0; j < g->nrow * segment->n; j++) {
        size[j % segment->n] += segment->x[j] * segment->x[j];
      }
    }
  }
}

/* Rows in units of that; those that are only rounding are left out.  How many there are. */
static int scale_rows(relief *r) {
  const int n = r->n;
  int rows = 0;
  for (int k = 0; k < r->ncoord; k++) {
    double *q = r->Q + (size_t)k * (size_t)n, *to = r->Q + (size_t)rows * (size_t)n;
    const double square = sni_dot(n, q, q), size = sqrt(r->size[k]);
    if (square > r->alike * r->alike * r->size[k]) {
      for (int i = 0; i < n; i++) {
        to[i] = q[i] / size;
      }
      r->left[rows++] = square / r->size[k];
    }
  }
  return rows;
}

/* Gram and Schmidt, the row that has most left of it first. */
static void find_basis(relief *r) {
  const int n = r->n, rows = scale_rows(r);
  for (r->rank = 0; r->rank < rows && r->rank < n; r->rank++) {
    int best = r->rank;
    for (int k = r->rank; k < rows; k++) {
      best = r->left[k] > r->left[best] ? k : best;
    }
    double *q = r->Q + (size_t)r->rank * (size_t)n;
    exchange(n, q, r->Q + (size_t)best * (size_t)n);
    exchange(1, &r->left[r->rank], &r->left[best]);
    for (int k = 0; k < r->rank; k++) { /* once more: what is left may be little */
      take_away(n, r->Q + (size_t)k * (size_t)n, q);
    }
    const double length = sqrt(sni_dot(n, q, q));
    if (!(length > r->alike)) {
      return;
    }
    for (int i = 0; i < n; i++) {
      q[i] /= length;
    }
    for (int k = r->rank + 1; k < rows; k++) {
      double *x = r->Q + (size_t)k * (size_t)n;
      take_away(n, q, x);
      r->left[k] = sni_dot(n, x, x);
    }
  }
}

/* ---- the nearest ---- */

/* Q (y_0 - y), taken off y: rounding, or what is missed where there is no room. */
static void move_alike(const relief *r, double *y) {
  for (int k = 0; k < r->rank; k++) {
    const double *q = r->Q + (size_t)k * (size_t)r->n;
    double off = 0;
    for (int i = 0; i < r->n; i++) {
      off += q[i] * (r->y0[i] - y[i]);
    }
    for (int i = 0; i < r->n; i++) {
      y[i] += off * q[i];
    }
  }
}

/* How far y is beyond cones. */
static double beyond(const relief *r, const double *y) {
  double most = 0;
  memcpy(r->off, y, (size_t)r->n * sizeof *y);
  sni_least_project(&r->nearest, r->off);
  for (int i = 0; i < r->n; i++) {
    most = fmax(most, fabs(r->off[i] - y[i]));
  }
  return most;
}

/* How much of the way from y_0 to y is within all cones. */
static double part_within(const relief *r, const double *y) {
  const double slack = BEYOND * sni_largest(r->n, r->y0);
  double part = 1, step = 1;
  for (int k = 0; k < HALVES; k++) {
    for (int i = 0; i < r->n; i++) {
      r->to[i] = r->y0[i] + part * (y[i] - r->y0[i]);
    }
    const bool in = beyond(r, r->to) <= slack;
    if (in && part == 1) {
      return 1;
    }
    step *= 0.5;
    part += in ? step : -step;
  }
  return part - step;
}

/* ---- islands ---- */

/* Room for n unknowns over ncoord coordinates; false: there is none. */
static bool place(relief *r, const sni_staggered *s, int n, int ncoord) {
  const int rank = n < ncoord ? n : ncoord;
  const size_t numbers = (size_t)ncoord * (size_t)n + 2 * (size_t)ncoord + 3 * (size_t)n;
  const size_t records = (size_t)n * (sizeof(unknown) + sizeof(sni_cone_block)) / sizeof(double);
  if (numbers + records + sni_least_size(n, rank) > s->room_relief) {
    return false;
  }
  *r = (relief){.ncoord = ncoord, .Q = s->relief};
  r->left = r->Q + (size_t)ncoord * (size_t)n;
  r->size = r->left + ncoord;
  r->y0 = r->size + ncoord;
  r->to = r->y0 + n;
  r->off = r->to + n;
  r->unknown = (unknown *)(void *)(r->off + n);
  r->block = (sni_cone_block *)(void *)(r->unknown + n);
  return true;
}

/* y, with what is behind the blocks as memory. */
static double *find_nearest(relief *r) {
  sni_least *p = &r->nearest;
  sni_least_place(p, r->n, r->rank, (double *)(void *)(r->block + r->nblock));
  p->Q = r->Q;
  p->block = r->block;
  p->nblock = r->nblock;
  for (int k = 0; k < r->rank; k++) {
    p->b[k] = sni_dot(r->n, r->Q + (size_t)k * (size_t)r->n, r->y0);
  }
  sni_least_find(p);
  move_alike(r, p->y);
  return p->y;
}

/* So much of the way from y_0 to y. */
static void give(const relief *r, const double *y, double part, double (*x)[SNI_GROUP_ROWS]) {
  for (int i = 0; i < r->n; i++) {
    const unknown *u = &r->unknown[i];
    const double more = part * (y[i] - r->y0[i]) / u->root;
    for (int row = 0; row < SNI_GROUP_ROWS; row++) {
      x[u->group][row] += more * u->along[row];
    }
  }
}

static int count_unknowns(const sni_staggered *s, const sni_island *island) {
  int n = 0;
  for (int k = 0; k < island->count; k++) {
    const sni_group *g = &s->group[s->order[island->first + k]];
    n += is_contact(g) || rubs_alone(g) ? g->nrow : 0;
  }
  return n;
}

/* What the largest normal impulse does where it acts, and the largest friction that there could be.
 */
static double find_most_moved(const sni_staggered *s, const sni_island *island, double *friction) {
  double most = 0;
  *friction = 0;
  for (int k = 0; k < island->count; k++) {
    const sni_group *g = &s->group[s->order[island->first + k]];
    if (is_contact(g)) {
      most = fmax(most, g->W[0] * g->x[0]);
      *friction = g->npart > 1 ? fmax(*friction, g->part[1].mu * g->x[0]) : *friction;
    }
  }
  return most;
}

static void relieve(sni_staggered *s, const sni_island *island, const sni_staggered_options *o,
                    const sni_relief *allowed, double (*x)[SNI_GROUP_ROWS]) {
  const int most = count_unknowns(s, island);
  int ncoord = 0;
  for (int k = 0; k < island->ntouched; k++) {
    const sni_touched *t = &s->touched[island->first_touched + k];
    s->of[t->adr] = ncoord;
    ncoord += t->n;
  }
  const double least = most < ncoord ? most : ncoord;
  relief r;
  if (least * most * ncoord > allowed->work || !place(&r, s, most, ncoord)) {
    return;
  }
  const double slow = o->tolerance * island->scale,
               most_moved = find_most_moved(s, island, &r.friction);
  r.alike = fmax(ROUNDING, most_moved > 0 ? allowed->part * slow / most_moved : 0);
  for (int k = 0; k < island->count; k++) {
    add_group(&r, s, s->order[island->first + k], slow);
  }
  if (r.n <= 0) {
    return;
  }
  fill(&r, s, s->of);
  find_sizes(&r, s, island, s->of);
  find_basis(&r);
  if (r.rank == r.n) {
    return;
  }
  const double *y = find_nearest(&r);
  if (!isfinite(sni_dot(r.n, y, y))) {
    return;
  }
  give(&r, y, part_within(&r, y), x);
}

void sni_staggered_relieve(sni_staggered *s, const sni_staggered_options *o,
                           const sni_relief *allowed, double (*x)[SNI_GROUP_ROWS]) {
  for (int k = 0; k < s->ngroup; k++) {
    memcpy(x[k], s->group[k].x, sizeof s->group[k].x);
  }
  for (int k = 0; k < s->nisland; k++) {
    if (s->island[k].scale > 0 && s->island[k].residual <= o->tolerance) {
      relieve(s, &s->island[k], o, allowed, x);
    }
  }
}
