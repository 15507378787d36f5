/* soup.c: a fixed tree of boxes over the triangles of a mesh. */
#include "contact/soup.h"

#include "base/memory.h"

#include "contact/box_tree.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4 };

static sn_vec3 corner(const sni_soup *s, int t, int k) {
  return sn_vec3_scale(s->vertex[s->triangle[t].v[k]], s->scale);
}

static sni_aabb box_of(const sni_soup *s, int t) {
  const sn_vec3 a = corner(s, t, 0), b = corner(s, t, 1), c = corner(s, t, 2);
  return sni_aabb_join((sni_aabb){a, a}, sni_aabb_join((sni_aabb){b, b}, (sni_aabb){c, c}));
}

/* ---- building ---- */

/* The middle of each triangle, kept: computed twice, it could differ from itself in the last bit.
 */
typedef struct builder {
  sni_soup *s;
  sn_vec3 *middle;
} builder;

static double key(const builder *b, int t, int axis) {
  return sn_vec3_get(b->middle[t], axis);
}

/* Puts the n / 2 lowest along the axis first (Hoare). */
static void halve(const builder *b, int *order, int n, int axis) {
  int lo = 0, hi = n - 1;
  while (lo < hi) {
    const double pivot = key(b, order[(lo + hi) / 2], axis);
    int i = lo, j = hi;
    while (i <= j) {
      while (key(b, order[i], axis) < pivot) {
        i++;
      }
      while (key(b, order[j], axis) > pivot) {
        j--;
      }
      if (i <= j) {
        const int swap = order[i];
        order[i++] = order[j];
        order[j--] = swap;
      }
    }
    if (n / 2 <= j) {
      hi = j;
    } else if (n / 2 >= i) {
      lo = i;
    } else {
      return;
    }
  }
}

static int longest(sni_aabb b) {
  const sn_vec3 d = sn_vec3_sub(b.hi, b.lo);
  return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

/* Nodes in the order of a walk: the first child of k is k + 1.  Halving keeps the depth at log n.
 */
static int build(const builder *b, int first, int count, int k) {
  sni_soup *s = b->s;
  sni_soup_node *node = &s->node[k];
  node->box = box_of(s, s->order[first]);
  for (int i = 1; i < count; i++) {
    node->box = sni_aabb_join(node->box, box_of(s, s->order[first + i]));
  }
  if (count <= LEAF) {
    node->next = first;
    node->count = count;
    return k + 1;
  }
  halve(b, s->order + first, count, longest(node->box));
  node->count = 0;
  node->next = build(b, first, count / 2, k + 1);
  return build(b, first + count / 2, count - count / 2, node->next);
}

/* ---- what is beside ---- */

typedef struct edge {
  int from, to, triangle, k;
} edge;

static int by_ends(const void *a, const void *b) {
  const edge *x = a, *y = b;
  const int i = x->from < x->to ? x->from : x->to, j = y->from < y->to ? y->from : y->to;
  const int u = x->from + x->to - i, v = y->from + y->to - j;
  return i != j ? (i > j) - (i < j) : u != v ? (u > v) - (u < v) : x->triangle - y->triangle;
}

bool sni_soup_beside(const sni_triangle *triangle, int ntriangle, int (*beside)[3]) {
  const int n = 3 * ntriangle;
  edge *e = malloc((size_t)n * sizeof *e + 1);
  if (!e) {
    return false;
  }
  for (int k = 0; k < n; k++) {
    const int *v = triangle[k / 3].v;
    e[k] = (edge){v[k % 3], v[(k + 1) % 3], k / 3, k % 3};
    beside[k / 3][k % 3] = -1;
  }
  qsort(e, (size_t)n, sizeof *e, by_ends);
  for (int k = 1; k < n; k++) {
    const edge *a = &e[k - 1], *b = &e[k];
    if (a->from == b->to && a->to == b->from) {
      beside[a->triangle][a->k] = b->triangle;
      beside[b->triangle][b->k] = a->triangle;
    }
  }
  free(e);
  return true;
}

#define ROUND(size) (((size) + 63) / 64 * 64)

sn_status sni_soup_build(sni_soup *s, const sni_mesh *mesh, double scale, void **memory,
                         sn_error *err) {
  const size_t n = (size_t)mesh->ntriangle;
  if (mesh->ntriangle > SNI_SOUP_MAX) {
    return sni_fail(err, SN_E_LIMIT, "has %d triangles, at most %d can be touched", mesh->ntriangle,
                    SNI_SOUP_MAX);
  }
  *s = (sni_soup){.ntriangle = mesh->ntriangle,
                  .vertex = mesh->vertex,
                  .triangle = mesh->triangle,
                  .scale = scale};
  const size_t nodes = ROUND((2 * n + 1) * sizeof *s->node), order = ROUND(n * sizeof *s->order);
  char *at = sni_memory_take(nodes + order + n * sizeof *s->beside);
  builder b = {s, malloc(n * sizeof *b.middle + 1)};
  *memory = at;
  sn_status status = SN_E_MEMORY;
  if (at && b.middle) {
    s->node = (void *)at;
    s->order = (void *)(at + nodes);
    s->beside = (void *)(at + nodes + order);
    for (int k = 0; k < s->ntriangle; k++) {
      s->order[k] = k;
      b.middle[k] = sn_vec3_add(corner(s, k, 0), sn_vec3_add(corner(s, k, 1), corner(s, k, 2)));
    }
    if (sni_soup_beside(s->triangle, s->ntriangle, s->beside)) {
      status = SN_OK;
      if (n > 0) {
        build(&b, 0, s->ntriangle, 0);
      }
    }
  }
  free(b.middle);
  return status ? sni_fail(err, status, "no memory for the boxes of %zu triangles", n) : SN_OK;
}

/* ---- asking ---- */

void sni_soup_visit(const sni_soup *s, sni_aabb box, sni_soup_fn f, void *user) {
  int stack[64]; /* the depth of the tree: 22 */
  int n = 0;
  if (s->ntriangle > 0) {
    stack[n++] = 0;
  }
  while (n > 0) {
    const int k = stack[--n];
    const sni_soup_node *node = &s->node[k];
    if (!sni_aabb_overlap(&node->box, &box)) {
      continue;
    }
    if (node->count == 0) {
      stack[n++] = node->next;
      stack[n++] = k + 1;
    }
    for (int i = 0; i < node->count; i++) {
      const int t = s->order[node->next + i];
      const sni_aabb own = box_of(s, t);
      if (sni_aabb_overlap(&own, &box)) {
        f(user, t);
      }
    }
  }
}

static int corner_with(const sni_soup *s, int t, int vertex) {
  const int *v = s->triangle[t].v;
  return v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
}

static bool leads_along(const sni_soup *s, int t, int from, int to, sn_vec3 n) {
  const sn_vec3 e = sn_vec3_sub(corner(s, t, to), corner(s, t, from));
  return sn_vec3_dot(n, e) > 1e-6 * sn_vec3_norm(e);
}

/* From triangle to triangle around the corner, one way and, if the surface ends there, the other.
 */
bool sni_soup_is_outward(const sni_soup *s, int triangle, int k, sn_vec3 n) {
  const int vertex = s->triangle[triangle].v[k];
  for (int way = 0; way < 2; way++) {
    int t = triangle;
    for (int count = 0; count < s->ntriangle && t >= 0; count++) {
      const int c = corner_with(s, t, vertex), next = (c + 1) % 3, last = (c + 2) % 3;
      if (leads_along(s, t, c, next, n) || leads_along(s, t, c, last, n)) {
        return false;
      }
      t = s->beside[t][way == 0 ? c : last];
      if (t == triangle) {
        return true; /* all the way round */
      }
    }
  }
  return true;
}

sni_facet sni_soup_facet(const sni_soup *s, int t) {
  sni_facet f = {.soup = s, .triangle = t};
  for (int k = 0; k < 3; k++) {
    const int other = s->beside[t][k];
    f.v[k] = corner(s, t, k);
    f.open[k] = other < 0;
    f.beyond[k] = (sn_vec3){0, 0, 0};
    for (int i = 0; i < 3 && other >= 0; i++) { /* the corner that is not on this edge */
      const int v = s->triangle[other].v[i];
      if (v != s->triangle[t].v[k] && v != s->triangle[t].v[(k + 1) % 3]) {
        f.beyond[k] = corner(s, other, i);
      }
    }
  }
  return f;
}
