/* map.c: values, derivatives and inverse of a map. */
#include "model/map.h"
#include "linear/vector.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { NEWTON_MAX = 50, HALVINGS_MAX = 20 };
#define FLAT   1e-10 /* a column below this part of the largest adds nothing */
#define BEYOND 1e-6  /* of the joints: what Newton's method may leave */
enum { STARTS_EACH = 40, STARTS_MAX = 200, RADIUS_MAX = 256 };
#define FITS  1e-9 /* of the joints: z that leaves less is where they are */
#define WORTH 0.5  /* of what is left: others that do not fit are taken   */

sni_jet sni_map_value(const sni_map *map, int i, const double *z, const double *d) {
  sni_jet x[SNI_MAP_Z_MAX];
  for (int j = 0; j < map->nz; j++) {
    x[j] = (sni_jet){z[j], d ? d[j] : 0, 0};
  }
  return sni_expr_eval_jet(map->value[i], x);
}

double sni_map_slope(const sni_map *map, int i, int j, const double *z) {
  double d[SNI_MAP_Z_MAX] = {0};
  d[j] = 1;
  return sni_expr_uses(map->value[i], j) ? sni_map_value(map, i, z, d).d : 0;
}

/* ---- with leaders ---- */

static void invert_led(const sni_map *map, const double *q, const double *qd, double *z,
                       double *zd) {
  for (int l = 0; l < map->nz; l++) {
    z[l] = zd[l] = 0;
    for (int j = 0; j < map->nz; j++) {
      const double part = map->inverse[l * map->nz + j];
      z[l] += part * (q[map->coord[map->lead[j]]] - map->offset[j]);
      zd[l] += part * qd[map->coord[map->lead[j]]];
    }
  }
}

/* ---- without ---- */

/* What x has across the first k rows of B, twice for the rounding; its length. */
static double across(const sni_map_frame *f, int n, int k, double *x) {
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < k; i++) {
      const double part = sni_dot(n, f->B[i], x);
      for (int j = 0; j < n; j++) {
        x[j] -= part * f->B[i][j];
      }
    }
  }
  return sqrt(sni_dot(n, x, x));
}

static void set_row(sni_map_frame *f, int k, int n, const double *x, double length) {
  for (int j = 0; j < n; j++) {
    f->B[k][j] = length > 0 ? x[j] / length : 0;
  }
}

void sni_map_frame_at(const sni_map *map, const double *z, sni_map_frame *f) {
  const int n = map->nq;
  double column[SNI_MAP_DENSE_MAX], x[SNI_MAP_DENSE_MAX], largest = 0;
  *f = (sni_map_frame){0};
  for (int k = 0; k < map->nz; k++) {
    for (int i = 0; i < n; i++) {
      x[i] = column[i] = sni_map_slope(map, i, k, z);
    }
    const double own = sqrt(sni_dot(n, column, column)), left = across(f, n, k, x);
    largest = fmax(largest, own);
    f->rank += left > FLAT * largest && left > FLAT * own;
    set_row(f, k, n, x, left);
    for (int i = 0; i <= k; i++) {
      f->R[i][k] = sni_dot(n, f->B[i], column);
    }
  }
  /* the axis that is most across the others, and on a draw the first */
  for (int k = map->nz; k < n; k++) {
    double longest = 0;
    for (int axis = 0; axis < n; axis++) {
      memset(x, 0, sizeof x);
      x[axis] = 1;
      const double length = across(f, n, k, x);
      if (length > longest * (1 + 1e-9)) {
        longest = length;
        set_row(f, k, n, x, length);
      }
    }
  }
}

/* x = R^-1 B r */
static void along(const sni_map *map, const sni_map_frame *f, const double *r, double *x) {
  for (int k = map->nz - 1; k >= 0; k--) {
    x[k] = sni_dot(map->nq, f->B[k], r);
    for (int j = k + 1; j < map->nz; j++) {
      x[k] -= f->R[k][j] * x[j];
    }
    x[k] = f->R[k][k] != 0 ? x[k] / f->R[k][k] : 0;
  }
}

/* r = q - f(z), and its length. */
static double residual(const sni_map *map, const double *q, const double *z, double *r) {
  for (int i = 0; i < map->nq; i++) {
    r[i] = q[map->coord[i]] - sni_map_value(map, i, z, NULL).v;
  }
  return sqrt(sni_dot(map->nq, r, r));
}

/* Where f turns back, q may be beyond its range, along the tangents. */
static double missed(const sni_map *map, const sni_map_frame *f, const double *q, const double *z) {
  double r[SNI_MAP_DENSE_MAX], sum = 0, size = 1;
  residual(map, q, z, r);
  for (int k = 0; k < map->nz; k++) {
    const double part = sni_dot(map->nq, f->B[k], r);
    sum += part * part;
  }
  for (int i = 0; i < map->nq; i++) {
    size = fmax(size, fabs(q[map->coord[i]]));
  }
  return sqrt(sum) > BEYOND * size ? sqrt(sum) : 0;
}

static void invert_fit(const sni_map *map, const double *q, const double *qd, double *z, double *zd,
                       sni_map_frame *f) {
  double r[SNI_MAP_DENSE_MAX], step[SNI_MAP_Z_MAX], next[SNI_MAP_Z_MAX];
  double length = residual(map, q, z, r);
  for (int k = 0; k < NEWTON_MAX; k++) {
    sni_map_frame_at(map, z, f);
    along(map, f, r, step);
    double moved = 0, size = 1, part = 1;
    for (int j = 0; j < map->nz; j++) {
      moved = fmax(moved, fabs(step[j]));
      size = fmax(size, fabs(z[j]));
    }
    if (!(moved > 1e-15 * size)) {
      break;
    }
    /* half the step, and half again, while it leads away */
    for (int half = 0; half < HALVINGS_MAX; half++, part *= 0.5) {
      for (int j = 0; j < map->nz; j++) {
        next[j] = z[j] + part * step[j];
      }
      const double now = residual(map, q, next, r);
      if (now < length || (part == 1 && moved <= 1e-8 * size)) {
        length = now;
        break;
      }
    }
    memcpy(z, next, (size_t)map->nz * sizeof *z);
  }
  sni_map_frame_at(map, z, f);
  f->missed = missed(map, f, q, z);
  for (int i = 0; i < map->nq; i++) {
    r[i] = qd[map->coord[i]];
  }
  along(map, f, r, zd);
}

void sni_map_invert(const sni_map *map, const double *q, const double *qd, double *z, double *zd,
                    sni_map_frame *frame) {
  if (map->led) {
    invert_led(map, q, qd, z, zd);
  } else {
    invert_fit(map, q, qd, z, zd, frame);
  }
}

/* ---- anywhere ---- */

/* Start number k within `radius` of z. */
static void start_at(int nz, int k, double radius, const double *from, double *z) {
  sni_fill_cube(nz, k, z);
  for (int j = 0; j < nz; j++) {
    z[j] = from[j] + radius * (2 * z[j] - 1);
  }
}

/* From z to what fits best near it; what is left of the joints, INFINITY: that is nowhere. */
static double fit_from(const sni_map *map, const double *q, double *z) {
  const double *rates = q; /* any will do */
  double zd[SNI_MAP_Z_MAX], r[SNI_MAP_DENSE_MAX];
  sni_map_frame frame;
  invert_fit(map, q, rates, z, zd, &frame);
  const double left = residual(map, q, z, r);
  return isfinite(left) ? left : INFINITY;
}

static double distance(int nz, const double *a, const double *b) {
  double sum = 0;
  for (int j = 0; j < nz; j++) {
    sum += (a[j] - b[j]) * (a[j] - b[j]);
  }
  return sqrt(sum);
}

/* The local fit ends where |q - f(z)| has a least, which on a curve that winds about need not be 0:
 * from many starts, first near by and then ever farther away. */
void sni_map_find(const sni_map *map, const double *q, double *z) {
  if (map->led) {
    return;
  }
  const int nz = map->nz;
  const size_t bytes = (size_t)nz * sizeof *z;
  double from[SNI_MAP_Z_MAX], best[SNI_MAP_Z_MAX], size = 1;
  for (int i = 0; i < map->nq; i++) {
    size = fmax(size, fabs(q[map->coord[i]]));
  }
  memcpy(from, z, bytes);
  double least = fit_from(map, q, z), way = INFINITY;
  memcpy(best, z, bytes);
  for (double radius = 1; radius <= RADIUS_MAX && !(least <= FITS * size); radius *= 2) {
    const double starts = fmin(STARTS_EACH * nz, STARTS_MAX) + 2 * radius;
    for (int k = 0; k < starts; k++) {
      double to[SNI_MAP_Z_MAX];
      start_at(nz, k, radius, from, to);
      const double left = fit_from(map, q, to), far = distance(nz, to, from);
      const bool fits = left <= FITS * size, nearer = least <= FITS * size && far < way;
      if (fits ? !(least <= FITS * size) || nearer : left < WORTH * least) {
        least = left;
        way = far;
        memcpy(best, to, bytes);
      }
    }
  }
  memcpy(z, best, bytes);
}
