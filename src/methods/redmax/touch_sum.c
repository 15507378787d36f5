/* touch_sum.c: what contacts did to each body in a whole step, which may have parts: halves where
 * it was divided, and a step and its halves where it is extrapolated. */
#include "methods/redmax/touch.h"

#include <string.h>

/* to += factor from */
static void add(sni_contact_sum *to, double factor, const sni_contact_sum *from) {
  to->force = sn_vec3_addscaled(to->force, factor, from->force);
  to->normal += factor * from->normal;
  to->points = from->points > to->points ? from->points : to->points;
}

void sni_touch_sum_clear(sni_touch *touch) {
  memset(touch->sim->contact_of, 0, (size_t)touch->s->t->nbody * sizeof *touch->sim->contact_of);
}

void sni_touch_sum_part(sni_touch *touch, double h) {
  const sn_sim *sim = touch->sim;
  memset(touch->sum, 0, (size_t)touch->s->t->nbody * sizeof *touch->sum);
  for (int k = 0; k < sim->ntouch; k++) {
    const sn_contact_point *p = &sim->touch[k];
    for (int side = 0; side < 2; side++) {
      const uint32_t body = side == 0 ? p->body : p->other;
      if (body != SN_WORLD) {
        sni_contact_sum *sum = &touch->sum[body];
        sum->force = sn_vec3_addscaled(sum->force, side == 0 ? h : -h, touch->force[k].force);
        sum->normal += h * touch->force[k].normal;
        sum->points++;
      }
    }
  }
}

void sni_touch_sum_keep(sni_touch *touch, int k) {
  const size_t bytes = (size_t)touch->s->t->nbody * sizeof *touch->sum;
  memcpy(k == 0 ? touch->whole : touch->half, touch->sum, bytes);
}

void sni_touch_sum_combine(sni_touch *touch, double part, double less) {
  for (int i = 0; i < touch->s->t->nbody; i++) {
    const double more = sni_goes_smoothly(touch, i) ? part : 0;
    const double halves = sni_goes_smoothly(touch, i) ? less + part : 1;
    sni_contact_sum sum = {{0, 0, 0}, 0, 0};
    add(&sum, -more, &touch->whole[i]);
    add(&sum, halves, &touch->half[i]);
    add(&sum, halves, &touch->sum[i]);
    touch->sum[i] = sum;
  }
}

void sni_touch_sum_add(sni_touch *touch) {
  for (int i = 0; i < touch->s->t->nbody; i++) {
    add(&touch->sim->contact_of[i], 1, &touch->sum[i]);
  }
}

void sni_touch_sum_end(sni_touch *touch, double h) {
  for (int i = 0; i < touch->s->t->nbody; i++) {
    sni_contact_sum *sum = &touch->sim->contact_of[i];
    sum->force = sn_vec3_scale(sum->force, 1 / h);
    sum->normal /= h;
  }
}
