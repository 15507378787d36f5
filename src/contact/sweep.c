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

/* How fast its surface goes by turning, at most: balls do not move by it, and what is round about
 * an axis does not by what turns about that. */
static double turning_speed(const sni_moving *m) {
  const sni_convex *c = m->s.c;
  const bool round = c->core == SNI_CORE_SEGMENT || c->core == SNI_CORE_CYLINDER;
  const sn_vec3 w = round ? sn_vec3_cross(sn_mat3_col(m->s.E.R, 2), m->phi.w) : m->phi.w;
  return sn_vec3_norm(w) * (c->reach - c->radius);
}

double sni_closing_speed(const sni_moving *a, const sni_moving *b, sn_vec3 n) {
  const double turning = turning_speed(a) + turning_speed(b) + a->swing + b->swing;
  return fmax(0, turning - sn_vec3_dot(n, sn_vec3_sub(a->phi.v, b->phi.v)));
}

/* Along whatever direction. */
static double fastest(const sni_moving *a, const sni_moving *b) {
  return turning_speed(a) + turning_speed(b) + a->swing + b->swing +
         sn_vec3_norm(sn_vec3_sub(a->phi.v, b->phi.v));
}

double sni_swing(sn_vec3 w, sn_vec3 arm, double h) {
  const double turn = sn_vec3_norm(w) * h;
  return sn_vec3_norm(sn_vec3_cross(w, arm)) * fmin(2, turn);
}

sni_moving sni_moving_at(const sni_moving *m, double t) {
  sni_moving x = *m;
  if (!(sn_vec3_dot(m->phi.w, m->phi.w) > 0)) {
    x.s.E.p = sn_vec3_addscaled(m->s.E.p, t, m->phi.v);
    return x;
  }
  const sn_mat3 R = sn_so3_exp(sn_vec3_scale(m->phi.w, t));
  const sn_vec3 v = sn_vec3_sub(m->phi.v, sn_vec3_cross(m->phi.w, m->arm)); /* of the other end */
  x.arm = sn_mat3_mul_vec(R, m->arm);
  x.phi.v = sn_vec3_add(v, sn_vec3_cross(m->phi.w, x.arm));
  x.s.E.R = sn_mat3_mul(R, m->s.E.R);
  x.s.E.p = sn_vec3_add(sn_vec3_addscaled(sn_vec3_sub(m->s.E.p, m->arm), t, v), x.arm);
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
    then[0] = sni_moving_at(a, t);
    then[1] = sni_moving_at(b, t);
    *nearest = sni_nearest_find(&then[0].s, &then[1].s);
  }
  *time = t;
  return true; /* after all rounds too: what is not known to pass is taken to meet */
}

/* A point x of a shape that has moved on, seen from where the shape turns about; and its velocity.
 */
static sn_vec3 arm_to(const sni_moving *then, sn_vec3 x) {
  return sn_vec3_add(then->arm, sn_vec3_sub(x, then->s.E.p));
}
static sn_vec3 velocity_of(const sni_moving *then, sn_vec3 x) {
  return sn_vec3_add(then->phi.v, sn_vec3_cross(then->phi.w, sn_vec3_sub(x, then->s.E.p)));
}

/* Each side is touched where it will be when they meet, at time t: with the arm of then, from where
 * the body is now.  (Not in the point of the surface that comes there by turning: where a ball is
 * touched does not depend on its spin.)  The gap is such that these points are where they meet by
 * then. */
static void take_back(const sni_moving *a, const sni_moving *b, const sni_moving then[2], double t,
                      sni_manifold *m) {
  const sni_moving *now[2] = {a, b};
  for (int k = 0; k < m->count; k++) {
    sni_touch *p = &m->touch[k];
    const sn_vec3 v = sn_vec3_sub(velocity_of(&then[0], p->x), velocity_of(&then[1], p->x));
    sn_vec3 at[2];
    for (int side = 0; side < 2; side++) {
      const sn_vec3 o = sn_vec3_sub(now[side]->s.E.p, now[side]->arm);
      at[side] = sn_vec3_add(o, arm_to(&then[side], sn_vec3_add(p->x, p->off[side])));
    }
    p->x = sn_vec3_scale(sn_vec3_add(at[0], at[1]), 0.5);
    p->gap = fmax(0, p->gap - t * sn_vec3_dot(m->n, v));
    for (int side = 0; side < 2; side++) {
      p->off[side] = sn_vec3_sub(at[side], p->x);
    }
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
    sni_nearest_edges(&a->s, &b->s, &near);
    if (!settle || settle(user, &a->s, &b->s, &near)) {
      sni_touch_clip(&a->s, &b->s, &near, margin + h * sni_closing_speed(a, b, near.n), out);
      sni_manifold_reach(out);
    }
    return;
  }
  const double close = fmax(0.5 * margin, 1e-4 * fmin(a->s.c->reach, b->s.c->reach));
  double t;
  sni_moving then[2];
  if (sni_sweep(a, b, h, close, near, &t, then, &near) &&
      (!settle || settle(user, &then[0].s, &then[1].s, &near))) {
    const double rest = (h - t) * sni_closing_speed(&then[0], &then[1], near.n);
    sni_touch_clip(&then[0].s, &then[1].s, &near, fmax(margin, close) + rest, out);
    sni_manifold_reach(out);
    take_back(a, b, then, t, out);
  }
}
