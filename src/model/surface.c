/* surface.c: shapes as triangles. */
#include "model/surface.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "math/so3.h"

enum { AROUND = 32 }; /* corners of a circle */

void sni_surface_free(sni_surface *s) {
  free(s->vertex);
  free(s->normal);
  free(s->index);
  *s = (sni_surface){0};
}

static bool grow(void **array, int capacity, size_t size) {
  void *grown = realloc(*array, (size_t)capacity * size);
  *array = grown ? grown : *array;
  return grown != NULL;
}

static bool room_for_vertex(sni_surface *s) {
  if (s->nvertex == s->vertex_capacity) {
    const int capacity = s->nvertex < INT_MAX / 2 ? 2 * s->nvertex + 64 : 0;
    void *vertex = s->vertex, *normal = s->normal;
    const bool good = capacity && grow(&vertex, capacity, sizeof *s->vertex) &&
                      grow(&normal, capacity, sizeof *s->normal);
    s->vertex = vertex;
    s->normal = normal;
    s->vertex_capacity = good ? capacity : s->vertex_capacity;
    s->out_of_memory = s->out_of_memory || !good;
  }
  return !s->out_of_memory;
}

uint32_t sni_surface_vertex(sni_surface *s, sn_vec3 x, sn_vec3 normal) {
  if (!room_for_vertex(s)) {
    return 0;
  }
  s->vertex[s->nvertex] = x;
  s->normal[s->nvertex] = normal;
  return (uint32_t)s->nvertex++;
}

void sni_surface_triangle(sni_surface *s, uint32_t a, uint32_t b, uint32_t c) {
  if (s->nindex + 3 > s->index_capacity) {
    const int capacity = s->nindex < INT_MAX / 4 ? 2 * s->nindex + 192 : 0;
    void *index = s->index;
    const bool good = capacity && grow(&index, capacity, sizeof *s->index);
    s->index = index;
    s->index_capacity = good ? capacity : s->index_capacity;
    s->out_of_memory = s->out_of_memory || !good;
  }
  if (!s->out_of_memory) {
    s->index[s->nindex++] = a;
    s->index[s->nindex++] = b;
    s->index[s->nindex++] = c;
  }
}

/* A ring of AROUND vertices for each point of the profile. */
static void turn_vertices(sni_surface *s, sn_se3 E, sni_profile p) {
  for (int k = 0; k < AROUND; k++) {
    const double angle = 2 * SN_PI * k / AROUND, c = cos(angle), sn = sin(angle);
    sni_surface_vertex(s, sn_se3_point(E, (sn_vec3){p.r * c, p.r * sn, p.z}),
                       sn_mat3_mul_vec(E.R, (sn_vec3){p.nr * c, p.nr * sn, p.nz}));
  }
}

void sni_surface_turn(sni_surface *s, sn_se3 E, const sni_profile *profile, int n) {
  const uint32_t first = (uint32_t)s->nvertex;
  for (int i = 0; i < n; i++) {
    turn_vertices(s, E, profile[i]);
  }
  for (int i = 0; i + 1 < n; i++) {
    const sni_profile *p = &profile[i], *q = &profile[i + 1];
    if (p->r == q->r && p->z == q->z) {
      continue; /* an edge: two normals in one place */
    }
    for (uint32_t k = 0; k < AROUND; k++) {
      const uint32_t low = first + (uint32_t)i * AROUND, high = low + AROUND;
      const uint32_t next = (k + 1) % AROUND;
      if (p->r > 0) {
        sni_surface_triangle(s, low + k, low + next, high + next);
      }
      if (q->r > 0) {
        sni_surface_triangle(s, low + k, high + next, high + k);
      }
    }
  }
}

void sni_profile_arc(sni_profile *out, double radius, double z, double from, double to, int n) {
  for (int k = 0; k <= n; k++) {
    const double angle = from + (to - from) * k / n;
    const bool pole = fabs(fabs(angle) - SN_PI / 2) < 1e-9;
    const double c = pole ? 0 : cos(angle), s = pole ? copysign(1, angle) : sin(angle);
    out[k] = (sni_profile){radius * c, z + radius * s, c, s};
  }
}

/* x: across the axis and the coordinate axis that is farthest from it. */
sn_se3 sni_surface_frame(sn_vec3 origin, sn_vec3 axis) {
  const double a = fabs(axis.x), b = fabs(axis.y), c = fabs(axis.z);
  const sn_vec3 other = {a <= b && a <= c, b < a && b <= c, c < a && c < b};
  sn_vec3 x = sn_vec3_cross(other, axis);
  x = sn_vec3_scale(x, 1 / sn_vec3_norm(x));
  sn_se3 E = {.p = origin};
  sn_mat3_set_col(&E.R, 0, x);
  sn_mat3_set_col(&E.R, 1, sn_vec3_cross(axis, x));
  sn_mat3_set_col(&E.R, 2, axis);
  return E;
}
