/* polish.c: the last digits of the distance between round cores.
 *
 * On round surfaces GJK gains a bit a step.  But after a few steps it knows the parts of the cores
 * that are nearest: corners, edges, faces, the side of a cylinder, its rim.  Points of these are
 *
 *     x = x0 + sum u_k d_k + r (cos p e_1 + sin p e_2)
 *
 * and Newton's method on half the square of their distance doubles the digits.  Whether the points
 * belong to the cores is checked here; whether nothing else is nearer, by whoever asks. */
#include "contact/distance.h"

#include <float.h>

enum { FREE = 3, UNKNOWN = 2 * FREE };

/* A part of a core, in the frame of the other things. */
typedef struct piece {
  sn_vec3 x0;
  int nfree;
  sn_vec3 d[FREE];
  double u[FREE];
  double most[FREE]; /* |u| <= most                                       */
  bool round;
  sn_vec3 e[2];
  double r, p;
} piece;

static void set_free(piece *f, const sni_placed *s, int axis, double u, double most) {
  f->d[f->nfree] = sn_mat3_col(s->E.R, axis);
  f->u[f->nfree] = u;
  f->most[f->nfree++] = most;
}

/* Which part of the core has all these points; x: the guess on it.  False: of no use. */
static bool piece_of(const sni_placed *s, int count, const sn_vec3 *point, sn_vec3 x, piece *out) {
  const sni_convex *c = s->c;
  sn_vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = sn_vec3_neg(lo), mean = {0, 0, 0};
  for (int k = 0; k < count; k++) {
    const sn_vec3 y = sn_mat3_tmul_vec(s->E.R, sn_vec3_sub(point[k], s->E.p));
    lo = (sn_vec3){fmin(lo.x, y.x), fmin(lo.y, y.y), fmin(lo.z, y.z)};
    hi = (sn_vec3){fmax(hi.x, y.x), fmax(hi.y, y.y), fmax(hi.z, y.z)};
    mean = sn_vec3_addscaled(mean, 1.0 / count, y);
  }
  const sn_vec3 at = sn_mat3_tmul_vec(s->E.R, sn_vec3_sub(x, s->E.p));
  const double from[3] = {lo.x, lo.y, lo.z}, to[3] = {hi.x, hi.y, hi.z}, u[3] = {at.x, at.y, at.z};
  const double half[3] = {c->half.x, c->half.y, c->half.z};
  const bool cylinder = c->core == SNI_CORE_CYLINDER;
  if (!cylinder && c->core != SNI_CORE_BOX && c->core != SNI_CORE_SEGMENT &&
      c->core != SNI_CORE_POINT) {
    return false;
  }
  *out = (piece){.x0 = s->E.p};
  for (int k = cylinder ? 2 : 0; k < 3; k++) {
    if (to[k] - from[k] > half[k]) {
      set_free(out, s, k, u[k], half[k]);
    } else {
      const double side = from[k] + to[k] < 0 ? -half[k] : half[k];
      out->x0 = sn_vec3_addscaled(out->x0, side, sn_mat3_col(s->E.R, k));
    }
  }
  if (cylinder) {
    const double r = half[0], near = sqrt(mean.x * mean.x + mean.y * mean.y);
    out->round = near > 0.5 * r;
    out->r = r;
    out->p = atan2(at.y, at.x);
    for (int k = 0; k < 2; k++) {
      out->e[k] = sn_mat3_col(s->E.R, k);
      if (!out->round) { /* a cap */
        set_free(out, s, k, u[k], r);
      }
    }
  }
  return out->nfree < 3;
}

/* around: unit, where p leads. */
static sn_vec3 point_on(const piece *f, sn_vec3 *outward, sn_vec3 *around) {
  sn_vec3 x = f->x0;
  for (int k = 0; k < f->nfree; k++) {
    x = sn_vec3_addscaled(x, f->u[k], f->d[k]);
  }
  if (f->round) {
    const double c = cos(f->p), s = sin(f->p);
    *outward = sn_vec3_addscaled(sn_vec3_scale(f->e[0], c), s, f->e[1]);
    *around = sn_vec3_addscaled(sn_vec3_scale(f->e[0], -s), c, f->e[1]);
    x = sn_vec3_addscaled(x, f->r, *outward);
  }
  return x;
}

static bool holds(const piece *f) {
  double across = 0; /* of the cap */
  for (int k = 0; k < f->nfree; k++) {
    if (!(fabs(f->u[k]) <= f->most[k])) {
      return false;
    }
    across += f->r > 0 && !f->round && k >= f->nfree - 2 ? f->u[k] * f->u[k] : 0;
  }
  return across <= f->r * f->r;
}

/* H x = -g in place, by Cholesky; false: H is not positive. */
static bool solve(int n, double H[UNKNOWN][UNKNOWN], double *g) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = H[i][j];
      for (int k = 0; k < j; k++) {
        sum -= H[i][k] * H[j][k];
      }
      if (i == j && !(sum > 0)) {
        return false;
      }
      H[i][j] = i == j ? sqrt(sum) : sum / H[j][j];
    }
    for (int k = 0; k < i; k++) {
      g[i] -= H[i][k] * g[k];
    }
    g[i] /= H[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) {
      g[i] -= H[k][i] * g[k];
    }
    g[i] /= H[i][i];
  }
  for (int i = 0; i < n; i++) {
    g[i] = -g[i];
  }
  return true;
}

/* The unknowns of both pieces, and what they do to the distance. */
typedef struct unknowns {
  int n;
  double *u[UNKNOWN];
  sn_vec3 J[UNKNOWN];
  double bend[UNKNOWN]; /* d . d2x/du2 */
} unknowns;

static void add_unknown(unknowns *q, double *u, sn_vec3 J, double bend) {
  q->u[q->n] = u;
  q->J[q->n] = J;
  q->bend[q->n++] = bend;
}

static void find_unknowns(piece f[2], sn_vec3 *d, unknowns *q) {
  sn_vec3 outward[2], around[2];
  *d = sn_vec3_sub(point_on(&f[0], &outward[0], &around[0]),
                   point_on(&f[1], &outward[1], &around[1]));
  q->n = 0;
  for (int i = 0; i < 2; i++) {
    const double sign = i == 0 ? 1 : -1, r = sign * f[i].r;
    for (int k = 0; k < f[i].nfree; k++) {
      add_unknown(q, &f[i].u[k], sn_vec3_scale(f[i].d[k], sign), 0);
    }
    if (f[i].round) {
      add_unknown(q, &f[i].p, sn_vec3_scale(around[i], r), -r * sn_vec3_dot(*d, outward[i]));
    }
  }
}

/* One step of Newton's method; how far it changes the distance vector, INFINITY: it fails. */
static double improve(piece f[2]) {
  unknowns q;
  sn_vec3 d, way = {0, 0, 0};
  double H[UNKNOWN][UNKNOWN], g[UNKNOWN];
  find_unknowns(f, &d, &q);
  for (int i = 0; i < q.n; i++) {
    g[i] = sn_vec3_dot(q.J[i], d);
    for (int j = 0; j <= i; j++) {
      H[i][j] = sn_vec3_dot(q.J[i], q.J[j]);
    }
    H[i][i] += q.bend[i] + 1e-12 * H[i][i]; /* edges may be parallel */
  }
  if (!solve(q.n, H, g)) {
    return INFINITY;
  }
  for (int i = 0; i < q.n; i++) {
    *q.u[i] += g[i];
    way = sn_vec3_addscaled(way, g[i], q.J[i]);
  }
  return sn_vec3_norm(way);
}

/* Across all directions in which points may move: of points that are near each other d itself has
 * lost the digits that tell along which face they lie. */
static sn_vec3 normal_to(const unknowns *q, sn_vec3 d) {
  sn_vec3 best = d;
  double most = 0.01;
  for (int i = 0; i < q->n; i++) {
    for (int j = 0; j < i; j++) {
      const sn_vec3 c = sn_vec3_cross(q->J[i], q->J[j]);
      const double length = sn_vec3_norm(c), by = sn_vec3_norm(q->J[i]) * sn_vec3_norm(q->J[j]);
      if (length > most * by) {
        most = length / by;
        best = sn_vec3_scale(c, (sn_vec3_dot(c, d) < 0 ? -1 : 1) / length);
      }
    }
  }
  if (!(most > 0.01) && q->n > 0) {
    const sn_vec3 J = q->J[0];
    best = sn_vec3_addscaled(d, -sn_vec3_dot(d, J) / sn_vec3_dot(J, J), J);
  }
  return sn_vec3_scale(best, 1 / sn_vec3_norm(best));
}

bool sni_nearest_polish(const sni_placed *a, const sni_placed *b, int count, const sn_vec3 *on_a,
                        const sn_vec3 *on_b, sni_nearest *near) {
  enum { STEPS = 8 };
  piece f[2];
  if (!piece_of(a, count, on_a, near->x[0], &f[0]) ||
      !piece_of(b, count, on_b, near->x[1], &f[1]) || !(f[0].round || f[1].round)) {
    return false;
  }
  /* the square of what is left comes after it */
  const double small = 1e-9 * (a->c->reach + b->c->reach);
  double moved = DBL_MAX;
  for (int step = 0; step < STEPS && moved > small && moved < INFINITY; step++) {
    moved = improve(f);
  }
  if (!(moved <= small) || !holds(&f[0]) || !holds(&f[1])) {
    return false;
  }
  unknowns q;
  sn_vec3 outward, around, d;
  find_unknowns(f, &d, &q);
  near->x[0] = point_on(&f[0], &outward, &around);
  near->x[1] = point_on(&f[1], &outward, &around);
  near->distance = sn_vec3_norm(d);
  near->n = normal_to(&q, d);
  return near->distance > 0;
}
