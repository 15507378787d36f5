/* hull.c: the faces of a convex mesh: triangles that lie in one plane are one face. */
#include "contact/hull.h"

#include "base/memory.h"

#include <stdlib.h>

#define COPLANAR 1e-10 /* 1 - cosine */

typedef struct workshop {
  const sni_mesh *mesh;
  int (*beside)[3];
  int *group; /* ntriangle  its face, -1: none yet */
  int *stack;
} workshop;

static sn_vec3 normal_of(const sni_mesh *m, int t) {
  const int *v = m->triangle[t].v;
  const sn_vec3 a = m->vertex[v[0]];
  const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(m->vertex[v[1]], a), sn_vec3_sub(m->vertex[v[2]], a));
  const double length = sn_vec3_norm(n);
  return length > 0 ? sn_vec3_scale(n, 1 / length) : n;
}

/* All that is in the plane of triangle t and connected with it. */
static void spread(workshop *w, int t, int group, sn_vec3 n) {
  int count = 0;
  w->group[t] = group;
  w->stack[count++] = t;
  while (count > 0) {
    const int x = w->stack[--count];
    for (int k = 0; k < 3; k++) {
      const int y = w->beside[x][k];
      if (y >= 0 && w->group[y] < 0 && 1 - sn_vec3_dot(n, normal_of(w->mesh, y)) < COPLANAR) {
        w->group[y] = group;
        w->stack[count++] = y;
      }
    }
  }
}

/* Around the group from the outer edge k of triangle t on: the next outer edge is the first one
 * that is met by turning about the corner. */
static int go_round(const workshop *w, int t, int k, int *corner) {
  const int group = w->group[t], t0 = t, k0 = k;
  int n = 0;
  do {
    corner[n++] = w->mesh->triangle[t].v[k];
    k = (k + 1) % 3;
    int next = w->beside[t][k];
    for (int turns = 0; next >= 0 && w->group[next] == group && turns < w->mesh->ntriangle;
         turns++) {
      int back = 0;
      while (back < 2 && w->beside[next][back] != t) {
        back++;
      }
      t = next;
      k = (back + 1) % 3;
      next = w->beside[t][k];
    }
  } while ((t != t0 || k != k0) && n < 3 * w->mesh->ntriangle);
  return n;
}

static void find_faces(workshop *w, sni_hull *h) {
  int ncorner = 0;
  for (int t = 0; t < w->mesh->ntriangle; t++) {
    w->group[t] = -1;
  }
  for (int t = 0; t < w->mesh->ntriangle; t++) {
    if (w->group[t] < 0) {
      h->face[h->nface].n = normal_of(w->mesh, t);
      spread(w, t, h->nface, h->face[h->nface].n);
      h->nface++;
    }
  }
  for (int f = 0; f < h->nface; f++) {
    h->face[f].first = ncorner;
    h->face[f].count = 0;
    for (int k = 0; k < 3 * w->mesh->ntriangle && h->face[f].count == 0; k++) {
      const int t = k / 3, other = w->beside[t][k % 3];
      if (w->group[t] == f && (other < 0 || w->group[other] != f)) {
        h->face[f].count = go_round(w, t, k % 3, h->corner + ncorner);
      }
    }
    ncorner += h->face[f].count;
  }
}

#define ROUND(size) (((size) + 63) / 64 * 64)

sn_status sni_hull_build(sni_hull *h, const sni_mesh *mesh, double scale, sn_vec3 centre,
                         void **memory, sn_error *err) {
  const size_t nt = (size_t)mesh->ntriangle, nv = (size_t)mesh->nvertex;
  const size_t faces = ROUND(nt * sizeof *h->face), vertices = ROUND(nv * sizeof *h->vertex);
  workshop w = {.mesh = mesh,
                .beside = malloc(nt * sizeof *w.beside),
                .group = malloc(nt * sizeof *w.group),
                .stack = malloc(nt * sizeof *w.stack)};
  char *at = sni_memory_take(faces + vertices + 3 * nt * sizeof *h->corner);
  *memory = at;
  sn_status status = SN_E_MEMORY;
  if (at && w.beside && w.group && w.stack) {
    *h = (sni_hull){.nvertex = mesh->nvertex,
                    .face = (void *)at,
                    .vertex = (void *)(at + faces),
                    .corner = (void *)(at + faces + vertices)};
    for (int k = 0; k < mesh->nvertex; k++) {
      h->vertex[k] = sn_vec3_sub(sn_vec3_scale(mesh->vertex[k], scale), centre);
    }
    if (sni_soup_beside(mesh->triangle, mesh->ntriangle, w.beside)) {
      find_faces(&w, h);
      status = SN_OK;
    }
  }
  free(w.beside);
  free(w.group);
  free(w.stack);
  return status ? sni_fail(err, status, "no memory for the faces of %zu triangles", nt) : SN_OK;
}
