/* sweep.c: what fast bodies would touch within a step, by conservative advancement.
 *
 * Two shapes that are d apart along n cannot meet before their gap along n can have closed, at most
 * at the speed
 *
 *     -n . (v_a - v_b) + |w_a| r_a + |w_b| r_b         r: how far the core reaches from its origin
 *
 * so they are moved on by that time, and measured again, until they are near or the step is over.
 * Bodies that only pass each other are so told from those that meet, and n is that of the place
 * where they meet. */
#include "contact/sweep.h"

#define ROUNDS 40

/* Balls do not move by turning. */
static double turning_reach(const sni_convex *c) {
  return c->reach - c->radius;
}

double sni_closing_speed(const sni_moving *a, const sni_moving *b, sn_vec3 n) {
  const double turning = sn_vec3_norm(a->phi.w) * turning_reach(a->s.c) +
                         sn_vec3_norm(b->phi.w) * turning_reach(b->s.c);
  return fmax(0, turning - sn_vec3_dot(n, sn_vec3_sub(a->phi.v, b->phi.v)));
}

/* Along whatever direction. */
static double fastest(const sni_moving *a, const sni_moving *b) {
  return sn_vec3_norm(a->phi.w) * turning_reach(a->s.c) +
         sn_vec3_norm(b->phi.w) * turning_reach(b->s.c) +
         sn_vec3_norm(sn_vec3_sub(a->phi.v, b->phi.v));
}

static sni_moving at_time(const sni_moving *m, double t) {
  sni_moving x = *m;
  x.s.E.p = sn_vec3_addscaled(m->s.E.p, t, m->phi.v);
  if (sn_vec3_dot(m->phi.w, m->phi.w) > 0) {
    x.s.E.R = sn_mat3_mul(sn_so3_exp(sn_vec3_scale(m->phi.w, t)), m->s.E.R);
  }
  return x;
}

bool sni_sweep(const sni_moving *a, const sni_moving *b, double h, double near, sni_nearest start,
               double *time, sni_moving then[2], sni_nearest *nearest) {
  const double radii = a->s.c->radius + b->s.c->radius;
  double t = 0;
  then[0] = *a;
  then[1] = *b;
  *nearest = start;
  for (int k = 0; k < ROUNDS; k++) {
    const double gap = nearest->distance - radii;
    if (gap <= near) {
      break;
    }
    const double speed = sni_closing_speed(&then[0], &then[1], nearest->n);
    if (!(speed * (h - t) > gap - near)) {
      return false;
    }
    t += (gap - 0.5 * near) / speed;
    t = t < h ? t : h;
    then[0] = at_time(a, t);
    then[1] = at_time(b, t);
    *nearest = sni_nearest_find(&then[0].s, &then[1].s);
  }
  *time = t;
  return true; /* after all rounds too: what is not known to pass is taken to meet */
}

/* Where a point that moves with the shape is before the motion. */
static sn_vec3 before(const sni_moving *then, const sni_moving *now, sn_vec3 x) {
  const sn_vec3 local = sn_mat3_tmul_vec(then->s.E.R, sn_vec3_sub(x, then->s.E.p));
  return sn_se3_point(now->s.E, local);
}

static void take_back(const sni_moving *a, const sni_moving *b, const sni_moving then[2],
                      sni_manifold *m) {
  for (int k = 0; k < m->count; k++) {
    sni_touch *p = &m->touch[k];
    const sn_vec3 x0 = before(&then[0], a, sn_vec3_addscaled(p->x, 0.5 * p->gap, m->n));
    const sn_vec3 x1 = before(&then[1], b, sn_vec3_addscaled(p->x, -0.5 * p->gap, m->n));
    p->gap = sn_vec3_dot(m->n, sn_vec3_sub(x0, x1));
    p->x = sn_vec3_scale(sn_vec3_add(x0, x1), 0.5);
  }
}

void sni_touch_moving(const sni_moving *a, const sni_moving *b, double h, double margin,
                      sni_settle_fn settle, const void *user, sni_manifold *out) {
  const double radii = a->s.c->radius + b->s.c->radius;
  const double far = margin + h * fastest(a, b);
  sni_nearest near = sni_nearest_within(&a->s, &b->s, far + radii);
  const double gap = near.distance - radii;
  out->count = 0;
  if (!(gap <= margin + h * sni_closing_speed(a, b, near.n))) {
    return;
  }
  if (gap <= margin) {
    if (!settle || settle(user, &a->s, &near)) {
      sni_touch_clip(&a->s, &b->s, &near, margin + h * sni_closing_speed(a, b, near.n), out);
    }
    return;
  }
  const double close = fmax(0.5 * margin, 1e-4 * fmin(a->s.c->reach, b->s.c->reach));
  double t;
  sni_moving then[2];
  if (sni_sweep(a, b, h, close, near, &t, then, &near) &&
      (!settle || settle(user, &then[0].s, &near))) {
    const double rest = (h - t) * sni_closing_speed(&then[0], &then[1], near.n);
    sni_touch_clip(&then[0].s, &then[1].s, &near, fmax(margin, close) + rest, out);
    take_back(a, b, then, out);
  }
}
