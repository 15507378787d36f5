/* manifold.c: four points instead of many. */
#include "contact/manifold.h"

/* Another point takes the place of one only if it is clearly better, so that rounding does not
 * choose anew in each step. */
#define BETTER (1 + 1e-6)

static void take(sni_touch *touch, int *count, int k, sni_manifold *out) {
  out->touch[out->count++] = touch[k];
  touch[k] = touch[--*count];
}

static sn_vec3 mean_of(const sni_touch *touch, int count) {
  sn_vec3 sum = {0, 0, 0};
  for (int k = 0; k < count; k++) {
    sum = sn_vec3_add(sum, touch[k].x);
  }
  return sn_vec3_scale(sum, 1.0 / count);
}

/* Of those that are as deep, the one furthest out. */
static int deepest(const sni_touch *touch, int count) {
  const sn_vec3 mean = mean_of(touch, count);
  double least = INFINITY, spread = 0, most = -1;
  int best = 0;
  for (int k = 0; k < count; k++) {
    const sn_vec3 d = sn_vec3_sub(touch[k].x, mean);
    least = fmin(least, touch[k].gap);
    spread = fmax(spread, sn_vec3_norm(d));
  }
  for (int k = 0; k < count; k++) {
    const sn_vec3 d = sn_vec3_sub(touch[k].x, mean);
    const double square = sn_vec3_dot(d, d);
    if (touch[k].gap <= least + 1e-8 * spread && square > most * BETTER) {
      most = square;
      best = k;
    }
  }
  return best;
}

static int furthest_from(const sni_touch *touch, int count, sn_vec3 x) {
  int best = 0;
  double most = -1;
  for (int k = 0; k < count; k++) {
    const sn_vec3 d = sn_vec3_sub(touch[k].x, x);
    const double square = sn_vec3_dot(d, d);
    if (square > most * BETTER) {
      most = square;
      best = k;
    }
  }
  return best;
}

/* Twice the signed area of (a, b, x), seen along -n. */
static double area(sn_vec3 a, sn_vec3 b, sn_vec3 x, sn_vec3 n) {
  return sn_vec3_dot(n, sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(x, a)));
}

static int widest(const sni_touch *touch, int count, sn_vec3 a, sn_vec3 b, sn_vec3 n) {
  int best = 0;
  double most = -1;
  for (int k = 0; k < count; k++) {
    const double size = fabs(area(a, b, touch[k].x, n));
    if (size > most * BETTER) {
      most = size;
      best = k;
    }
  }
  return best;
}

/* What a fourth point adds to the triangle p: the largest part of it outside one of its edges. */
static int outermost(const sni_touch *touch, int count, const sni_touch *p, sn_vec3 n) {
  const double side = area(p[0].x, p[1].x, p[2].x, n) < 0 ? -1 : 1;
  int best = -1;
  double most = 0;
  for (int k = 0; k < count; k++) {
    for (int e = 0; e < 3; e++) {
      const double size = -side * area(p[e].x, p[(e + 1) % 3].x, touch[k].x, n);
      if (size > most * BETTER) {
        most = size;
        best = k;
      }
    }
  }
  return best;
}

static void sort(sni_touch *touch, int count) {
  for (int k = 1; k < count; k++) {
    const sni_touch t = touch[k];
    int i = k;
    for (; i > 0 && touch[i - 1].id > t.id; i--) {
      touch[i] = touch[i - 1];
    }
    touch[i] = t;
  }
}

void sni_manifold_choose(sni_touch *touch, int count, sn_vec3 n, sni_manifold *out) {
  out->n = n;
  out->count = 0;
  sort(touch, count);
  if (count <= SNI_POINTS) {
    for (int k = 0; k < count; k++) {
      out->touch[out->count++] = touch[k];
    }
    return;
  }
  take(touch, &count, deepest(touch, count), out);
  take(touch, &count, furthest_from(touch, count, out->touch[0].x), out);
  take(touch, &count, widest(touch, count, out->touch[0].x, out->touch[1].x, n), out);
  const int last = outermost(touch, count, out->touch, n);
  if (last >= 0) {
    take(touch, &count, last, out);
  }
  sort(out->touch, out->count);
}

void sni_manifold_reach(sni_manifold *m) {
  for (int k = 0; k < m->count; k++) {
    sni_touch *t = &m->touch[k];
    const double half = 0.5 * fmax(0, t->gap);
    t->off[0] = sn_vec3_addscaled(t->off[0], half, m->n);
    t->off[1] = sn_vec3_addscaled(t->off[1], -half, m->n);
  }
}
