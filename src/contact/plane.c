/* plane.c: convex shapes on a plane: their lowest points, in closed form. */
#include "contact/manifold.h"

#define MANY 64 /* points that are looked at before four are chosen */

typedef struct heap {
  const sni_placed *s;
  sn_vec3 n;
  double offset, limit;
  int count;
  sni_touch touch[MANY];
} heap;

/* A point of the core; the surface is `radius` below it. */
static void add(heap *h, sn_vec3 local, uint32_t id) {
  const sn_vec3 x = sn_se3_point(h->s->E, local);
  const double r = h->s->c->radius, gap = sn_vec3_dot(h->n, x) - h->offset - r;
  if (!(gap <= h->limit)) {
    return;
  }
  int place = h->count;
  if (h->count == MANY) { /* the highest goes */
    place = 0;
    for (int k = 1; k < MANY; k++) {
      place = h->touch[k].gap > h->touch[place].gap ? k : place;
    }
    if (h->touch[place].gap <= gap) {
      return;
    }
  } else {
    h->count++;
  }
  h->touch[place] =
      (sni_touch){.x = sn_vec3_addscaled(x, -(r + 0.5 * gap), h->n), .gap = gap, .id = id};
}

/* The four lowest corners: those of the face that lies on the plane, if one does. */
static void add_box(heap *h, sn_vec3 half, sn_vec3 d) {
  const double up[3] = {half.x * d.x, half.y * d.y, half.z * d.z};
  double height[8];
  for (int k = 0; k < 8; k++) {
    height[k] = (k & 1 ? up[0] : -up[0]) + (k & 2 ? up[1] : -up[1]) + (k & 4 ? up[2] : -up[2]);
  }
  for (int k = 0; k < 8; k++) {
    int below = 0;
    for (int i = 0; i < 8; i++) {
      below += height[i] < height[k] || (height[i] == height[k] && i < k);
    }
    if (below < 4) {
      const sn_vec3 x = {k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y,
                         k & 4 ? half.z : -half.z};
      add(h, x, (uint32_t)k);
    }
  }
}

/* Of the lower rim its lowest point, its highest, and those between; or the lowest line of the
 * side.  A cylinder that stands upright has no lowest point: then they are fixed to it. */
static void add_cylinder(heap *h, sn_vec3 half, sn_vec3 d) {
  const double r = sqrt(d.x * d.x + d.y * d.y), side = d.z > 0 ? -1 : 1;
  double u = 1, v = 0;
  if (r > 1e-7) {
    u = -d.x / r;
    v = -d.y / r;
  }
  const uint32_t rim = side < 0 ? 0 : 8;
  const sn_vec3 low = {half.x * u, half.x * v, side * half.z};
  add(h, low, rim);
  add(h, (sn_vec3){low.x, low.y, -low.z}, rim + 1);
  add(h, (sn_vec3){-half.x * v, half.x * u, low.z}, rim + 2);
  add(h, (sn_vec3){half.x * v, -half.x * u, low.z}, rim + 3);
  add(h, (sn_vec3){-low.x, -low.y, low.z}, rim + 4);
}

void sni_touch_plane(const sni_placed *s, sn_vec3 n, double offset, double limit,
                     sni_manifold *out) {
  heap h = {.s = s, .n = n, .offset = offset, .limit = limit};
  const sni_convex *c = s->c;
  const sn_vec3 d = sn_mat3_tmul_vec(s->E.R, n);
  switch (c->core) {
  case SNI_CORE_SEGMENT:
    add(&h, (sn_vec3){0, 0, -c->half.z}, 0);
    add(&h, (sn_vec3){0, 0, c->half.z}, 1);
    break;
  case SNI_CORE_BOX:
    add_box(&h, c->half, d);
    break;
  case SNI_CORE_CYLINDER:
    add_cylinder(&h, c->half, d);
    break;
  case SNI_CORE_HULL:
    for (int k = 0; k < c->hull->nvertex; k++) {
      add(&h, c->hull->vertex[k], (uint32_t)k);
    }
    break;
  default:
    add(&h, sni_convex_support(c, sn_vec3_neg(d)), 0);
    break;
  }
  sni_manifold_choose(h.touch, h.count, n, out);
}
