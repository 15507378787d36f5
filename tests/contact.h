/* contact.h: scenes written in tests, and the points that touch in them. */
#ifndef TEST_CONTACT_H
#define TEST_CONTACT_H

#include "contact/contact.h"
#include "stage.h"

typedef struct touching {
  sn_model *m;
  sni_finder *f;
  sn_se3 *E_wb;
  sn_vec6 *phi;
  const sni_contact *contact; /* after touching_find */
  int count;
} touching;

static inline touching touching_set(const char *text, int capacity) {
  touching t = {.m = stage_model(text)};
  sn_error err = {0};
  const size_t n = (size_t)t.m->tree.nbody;
  t.E_wb = calloc(n + 1, sizeof *t.E_wb);
  t.phi = calloc(n + 1, sizeof *t.phi);
  CHECK(sni_finder_create(t.m, capacity, &t.f, &err) == SN_OK, "%s", err.text);
  sni_model_poses(t.m, t.m->q0, t.E_wb);
  return t;
}

static inline void touching_clear(touching *t) {
  sni_finder_free(&t->f);
  sn_model_free(&t->m);
  free(t->E_wb);
  free(t->phi);
}

static inline sn_status touching_try(touching *t, double h, double margin, sn_error *err) {
  return sni_contacts_find(t->f, &t->m->params, t->E_wb, t->phi, h, margin, &t->contact, &t->count,
                           err);
}

static inline int touching_find(touching *t, double h, double margin) {
  sn_error err = {0};
  CHECK(touching_try(t, h, margin, &err) == SN_OK, "%s", err.text);
  for (int k = 0; k < t->count; k++) {
    const sni_contact *c = &t->contact[k];
    CHECK(isfinite(c->gap) && sn_vec3_finite(c->x) && fabs(sn_vec3_norm(c->n) - 1) < 1e-9,
          "point %d: gap %g, n %g %g %g", k, c->gap, c->n.x, c->n.y, c->n.z);
  }
  return t->count;
}

static inline sn_se3 *touching_body(touching *t, const char *name) {
  const int i = sn_model_body_find(t->m, name);
  CHECK(i >= 0, "no body '%s'", name);
  return &t->E_wb[i];
}

static inline sn_vec6 *touching_twist(touching *t, const char *name) {
  return &t->phi[touching_body(t, name) - t->E_wb];
}

/* The area that points span: of their convex hull across n, by the largest quadrilateral. */
static inline double touching_area(const sni_contact *c, int n) {
  double most = 0;
  int order[4] = {0, 1, 2, 3};
  for (int k = 0; k < 3 && n == 4; k++) { /* three ways to go round four points */
    sn_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
      sum = sn_vec3_add(sum, sn_vec3_cross(sn_vec3_sub(c[order[i]].x, c[0].x),
                                           sn_vec3_sub(c[order[(i + 1) % 4]].x, c[0].x)));
    }
    most = fmax(most, 0.5 * fabs(sn_vec3_dot(sum, c[0].n)));
    const int swap = order[1 + k % 2];
    order[1 + k % 2] = order[2 + k % 2];
    order[2 + k % 2] = swap;
  }
  return most;
}

#define CONTACT_HEAD "sinew: 1\ncontacts:\n  stone: {friction: 0.5}\nbodies:\n"
#define CONTACT_FLOOR                                                                              \
  "  floor:\n    joint: {type: fixed}\n    shapes: [{type: plane, contact: stone}]\n"

#endif
