/* seam.c: ground in pieces.
 *
 * A box that lies on two tiles side by side is a billionth of its size deep in them, as rounding
 * will have it.  Coming to the second it meets, so far below the top, the side of that tile: but
 * this side is inside the solid that both are, and nothing is touched there.  In a point x of
 * several shapes the solid has the normal m only if all of them are behind the plane through x
 * across m; where the first tile is touched along such an m, so is the second. */
#include "contact/seam.h"

#include "base/memory.h"
#include "contact/box_tree.h"

#include <stdlib.h>

#define FLUSH 1e-6  /* of their sizes: so far apart they touch, and stand out no further */
#define SAME  1e-12 /* 1 - cosine */

/* ---- who is beside whom ---- */

typedef struct piece {
  int root, collider;
  sni_aabb box;
} piece;

static int by_root_and_x(const void *a, const void *b) {
  const piece *p = a, *q = b;
  return p->root != q->root           ? (p->root > q->root) - (p->root < q->root)
         : p->box.lo.x != q->box.lo.x ? (p->box.lo.x > q->box.lo.x) - (p->box.lo.x < q->box.lo.x)
                                      : p->collider - q->collider;
}

static double slack_of(const sni_collider *a, const sni_collider *b) {
  return FLUSH * (a->convex.reach + b->convex.reach);
}

typedef struct builder {
  sni_seams *s;
  const sni_collider *collider;
  const sn_se3 *E; /* of each */
  int *count;      /* of each: how many neighbours it has */
  bool filling;
} builder;

/* How far a plane is below what is nearest of a shape. */
static double above_plane(const sni_placed *a, sn_se3 plane) {
  const sn_vec3 n = sn_mat3_col(plane.R, 2), low = sni_placed_support(a, sn_vec3_neg(n));
  return sn_vec3_dot(n, sn_vec3_sub(low, plane.p)) - a->c->radius;
}

static bool are_near(const builder *b, int i, int j) {
  const sni_collider *x = &b->collider[i], *y = &b->collider[j];
  if (x->form == SNI_FORM_PLANE || y->form == SNI_FORM_PLANE) {
    const int plane = x->form == SNI_FORM_PLANE ? i : j, other = i + j - plane;
    const sni_placed a = {&b->collider[other].convex, b->E[other]};
    return x->form != y->form && above_plane(&a, b->E[plane]) <= slack_of(x, y);
  }
  const sni_placed p = {&x->convex, {b->E[i].R, {0, 0, 0}}};
  const sni_placed q = {&y->convex, {b->E[j].R, sn_vec3_sub(b->E[j].p, b->E[i].p)}};
  return sni_nearest_find(&p, &q).distance <= x->convex.radius + y->convex.radius + slack_of(x, y);
}

static void add(builder *b, int i, int j) {
  if (b->filling) {
    b->s->list[b->s->first[i] + b->count[i]] =
        (sni_neighbour){j, sn_se3_mul(sn_se3_inverse(b->E[i]), b->E[j])};
  }
  b->count[i]++;
}

/* Shapes of one root, in the order of their lower ends. */
static void visit(builder *b, const piece *p, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n && p[j].root == p[i].root && p[j].box.lo.x <= p[i].box.hi.x; j++) {
      const int x = p[i].collider, y = p[j].collider;
      if (sni_aabb_overlap(&p[i].box, &p[j].box) && are_near(b, x, y)) {
        add(b, x, y);
        add(b, y, x);
      }
    }
  }
}

static int list_pieces(const builder *b, const sni_kin *kin, int ncollider, piece *p) {
  int n = 0;
  for (int k = 0; k < ncollider; k++) {
    const sni_collider *c = &b->collider[k];
    if (c->form == SNI_FORM_TRIANGLES) {
      continue;
    }
    sni_aabb box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    if (c->form == SNI_FORM_CONVEX) {
      box = sni_aabb_grow(sni_convex_bounds(&c->convex, b->E[k]), FLUSH * c->convex.reach);
    }
    p[n++] = (piece){kin->root[c->frame], k, box};
  }
  qsort(p, (size_t)n, sizeof *p, by_root_and_x);
  return n;
}

sn_status sni_seams_build(sni_seams *s, const sni_kin *kin, const sni_collider *collider,
                          int ncollider, const sn_se3 *E, void **memory, sn_error *err) {
  const size_t n = (size_t)ncollider;
  piece *p = malloc(n * sizeof *p + 1);
  builder b = {s, collider, E, calloc(n + 1, sizeof *b.count), false};
  sn_status status = SN_E_MEMORY;
  if (p && b.count) {
    const int pieces = list_pieces(&b, kin, ncollider, p);
    visit(&b, p, pieces);
    size_t sum = 0;
    for (int k = 0; k < ncollider; k++) {
      sum += (size_t)b.count[k];
    }
    const size_t lists = sum * sizeof *s->list;
    char *at = sni_memory_take(lists + (n + 1) * sizeof *s->first);
    *memory = at;
    if (at) {
      status = SN_OK;
      s->list = (void *)at;
      s->first = (void *)(at + lists);
      s->first[0] = 0;
      for (int k = 0; k < ncollider; k++) {
        s->first[k + 1] = s->first[k] + b.count[k];
        b.count[k] = 0;
      }
      b.filling = true;
      visit(&b, p, pieces);
    }
  }
  free(b.count);
  free(p);
  return status ? sni_fail(err, status, "no memory for what touches of %d shapes", ncollider)
                : SN_OK;
}

/* ---- ways out ---- */

/* A shape in its place, or a plane. */
typedef struct solid {
  bool plane;
  sni_placed s;
} solid;

static sn_vec3 plane_normal(const solid *t) {
  return sn_mat3_col(t->s.E.R, 2);
}

static bool holds(const solid *t, sn_vec3 x, double slack) {
  const sni_convex point = {.core = SNI_CORE_POINT};
  sni_placed p = {&point, sn_se3_identity()};
  p.E.p = x;
  return t->plane ? above_plane(&p, t->s.E) - t->s.c->radius <= slack
                  : sni_nearest_find(&p, &t->s).distance - t->s.c->radius <= slack;
}

/* How far it reaches along n. */
static double reach_along(const solid *t, sn_vec3 n) {
  if (t->plane) {
    const sn_vec3 up = plane_normal(t);
    return sn_vec3_dot(n, up) > 1 - SAME ? sn_vec3_dot(up, t->s.E.p) + t->s.c->radius : INFINITY;
  }
  return sn_vec3_dot(n, sni_placed_support(&t->s, n)) + t->s.c->radius;
}

typedef struct corner {
  const sni_seams *s;
  const sni_collider *collider;
  int k;
  const sni_placed *b;
  sn_vec3 x;
} corner;

static solid neighbour(const corner *c, int i, double *slack) {
  const sni_neighbour *t = &c->s->list[i];
  const sni_collider *other = &c->collider[t->collider];
  *slack = slack_of(&c->collider[c->k], other);
  return (solid){other->form == SNI_FORM_PLANE, {&other->convex, sn_se3_mul(c->b->E, t->E)}};
}

/* Is all that meets in x behind the plane at `height` along m? */
static bool is_clear(const corner *c, sn_vec3 m, double height) {
  const solid own = {c->collider[c->k].form == SNI_FORM_PLANE, *c->b};
  bool clear = reach_along(&own, m) <= height + FLUSH * c->b->c->reach;
  for (int i = c->s->first[c->k]; i < c->s->first[c->k + 1] && clear; i++) {
    double slack;
    const solid t = neighbour(c, i, &slack);
    clear = reach_along(&t, m) <= height + slack || !holds(&t, c->x, slack);
  }
  return clear;
}

bool sni_seams_aim(const sni_seams *s, const sni_collider *collider, int k, const sni_placed *b,
                   const sni_placed *a, sn_vec3 x, sn_vec3 *n) {
  const corner c = {s, collider, k, b, x};
  for (int i = s->first[k]; i < s->first[k + 1]; i++) {
    double slack;
    const solid t = neighbour(&c, i, &slack);
    if (!(reach_along(&t, *n) > sn_vec3_dot(*n, x)) || !holds(&t, x, slack)) {
      continue; /* n does not lead into it */
    }
    const sn_vec3 m = t.plane ? plane_normal(&t) : sni_nearest_find(a, &t.s).n;
    const double along = sn_vec3_dot(m, *n);
    if (along > -0.1 && along < 1 - SAME && is_clear(&c, m, reach_along(&t, m))) {
      *n = m;
      return true;
    }
  }
  return false;
}
