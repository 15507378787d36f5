/* finder.c: from poses to points that touch. */
#include "contact/contact.h"

#include "base/memory.h"
#include "contact/collider.h"
#include "contact/manifold.h"

#include <stdlib.h>
#include <string.h>

struct sni_finder {
  const sn_model *m;
  sni_kin kin;
  sni_collider *collider; /* ncollider */
  int ncollider;
  sn_se3 *E_ws; /* ncollider  pose of each                    by sni_contacts_find   */
  sn_vec6 *phi; /* ncollider  its twist, at the origin of E_ws                       */
  sni_contact *contact;
  int capacity, count;
  bool full;
};

/* ---- memory ---- */

static int default_capacity(int ncollider) {
  const int crowded = 24;
  return ncollider > 10000 / crowded ? crowded * ncollider : 10000;
}

static double reach_of(const sni_convex *c) {
  return c->radius + sn_vec3_norm(c->half);
}

static sni_collider collider_of(const sn_model *m, int shape, const sni_kin *kin) {
  const sni_shape *s = &m->shape[shape];
  const sni_solid solid = sni_shape_solid(&s->def);
  sni_collider c = {.shape = shape,
                    .frame = s->body,
                    .body = kin->root[s->body] < 0 ? -1 : s->body,
                    .material = s->material,
                    .form = solid.form,
                    .E_bs = solid.at,
                    .convex = {.core = solid.core, .radius = solid.radius, .half = solid.half}};
  c.convex.reach = reach_of(&c.convex);
  return c;
}

#define ROUND(size) (((size) + 63) / 64 * 64)

sn_status sni_finder_create(const sn_model *m, int capacity, sni_finder **finder, sn_error *err) {
  int n = 0;
  for (int s = 0; s < m->nshape; s++) {
    n += m->shape[s].material >= 0;
  }
  capacity = capacity > 0 ? capacity : default_capacity(n);
  const size_t size[] = {sizeof(sni_finder),
                         sni_kin_size(m),
                         (size_t)n * sizeof(sni_collider),
                         (size_t)n * sizeof(sn_se3),
                         (size_t)n * sizeof(sn_vec6),
                         (size_t)capacity * sizeof(sni_contact)};
  size_t total = 0;
  for (int k = 0; k < SNI_COUNT(size); k++) {
    total += ROUND(size[k]);
  }
  char *memory = sni_memory_take(total);
  if (!memory) {
    return sni_fail(err, SN_E_MEMORY, "no memory to find contacts of %d shapes", n);
  }
  void *at[SNI_COUNT(size)];
  for (int k = 0; k < SNI_COUNT(size); k++) {
    at[k] = memory;
    memory += ROUND(size[k]);
  }
  sni_finder *f = at[0];
  *f = (sni_finder){.m = m,
                    .collider = at[2],
                    .E_ws = at[3],
                    .phi = at[4],
                    .contact = at[5],
                    .capacity = capacity};
  sni_kin_place(&f->kin, m, at[1]);
  for (int s = 0; s < m->nshape; s++) {
    if (m->shape[s].material >= 0) {
      f->collider[f->ncollider++] = collider_of(m, s, &f->kin);
    }
  }
  *finder = f;
  return SN_OK;
}

void sni_finder_free(sni_finder **finder) {
  free(*finder);
  *finder = NULL;
}

int sni_finder_capacity(const sni_finder *f) {
  return f->capacity;
}

bool sni_finder_may_touch(const sni_finder *f, int shape0, int shape1) {
  const sni_collider *a = NULL, *b = NULL;
  for (int k = 0; k < f->ncollider; k++) {
    a = f->collider[k].shape == shape0 ? &f->collider[k] : a;
    b = f->collider[k].shape == shape1 ? &f->collider[k] : b;
  }
  return a && b && sni_kin_may_touch(&f->kin, a, b);
}

/* ---- finding ---- */

static void place(sni_finder *f, const sn_se3 *E_wb, const sn_vec6 *phi) {
  for (int k = 0; k < f->ncollider; k++) {
    const sni_collider *c = &f->collider[k];
    f->E_ws[k] = sn_se3_mul(E_wb[c->frame], c->E_bs);
    f->phi[k] = (sn_vec6){0};
    if (phi && c->body >= 0) {
      const sn_vec6 b = phi[c->body];
      const sn_vec3 arm = sn_vec3_sub(f->E_ws[k].p, E_wb[c->frame].p);
      f->phi[k] = (sn_vec6){b.w, sn_vec3_add(b.v, sn_vec3_cross(b.w, arm))};
    }
  }
}

/* The collider a is the first of the pair. */
static void put(sni_finder *f, int a, int b, const sni_manifold *m) {
  const sni_collider *x = &f->collider[a], *y = &f->collider[b];
  for (int k = 0; k < m->count; k++) {
    if (f->count == f->capacity) {
      f->full = true;
      return;
    }
    f->contact[f->count++] = (sni_contact){.shape = {x->shape, y->shape},
                                           .body = {x->body, y->body},
                                           .material = {x->material, y->material},
                                           .feature = m->touch[k].id,
                                           .x = m->touch[k].x,
                                           .n = m->n,
                                           .gap = m->touch[k].gap};
  }
}

/* How much a gap along n can shrink in h. */
static double closing(const sni_finder *f, int a, int b, sn_vec3 n, double h) {
  const sn_vec6 p = f->phi[a], q = f->phi[b];
  const double turning = sn_vec3_norm(p.w) * f->collider[a].convex.reach +
                         sn_vec3_norm(q.w) * f->collider[b].convex.reach;
  return h * fmax(0, turning - sn_vec3_dot(n, sn_vec3_sub(p.v, q.v)));
}

static void on_plane(sni_finder *f, int a, int plane, double h, double margin) {
  const sni_placed s = {&f->collider[a].convex, f->E_ws[a]};
  const sn_vec3 n = sn_mat3_col(f->E_ws[plane].R, 2);
  const double offset = sn_vec3_dot(n, f->E_ws[plane].p);
  const double limit = margin + closing(f, a, plane, n, h);
  if (sn_vec3_dot(n, s.E.p) - offset - s.c->reach <= limit) {
    sni_manifold m;
    sni_touch_plane(&s, n, offset, limit, &m);
    put(f, a, plane, &m);
  }
}

sn_status sni_contacts_find(sni_finder *f, const sni_params *params, const sn_se3 *E_wb,
                            const sn_vec6 *phi, double h, double margin,
                            const sni_contact **contact, int *count, sn_error *err) {
  f->count = 0;
  f->full = false;
  place(f, E_wb, phi);
  for (int a = 0; a < f->ncollider; a++) {
    for (int b = 0; b < f->ncollider; b++) {
      const sni_collider *x = &f->collider[a], *y = &f->collider[b];
      if (x->form == SNI_FORM_CONVEX && y->form == SNI_FORM_PLANE &&
          sni_kin_may_touch(&f->kin, x, y)) {
        const double own = sni_material_mix(params, x->material, y->material).margin;
        on_plane(f, a, b, h, margin + own);
      }
    }
  }
  *contact = f->contact;
  *count = f->count;
  return f->full ? sni_fail(err, SN_E_LIMIT, "more than %d points touch at once", f->capacity)
                 : SN_OK;
}
