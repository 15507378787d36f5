/* sweep.h: convex shapes that move. */
#ifndef SNI_SWEEP_H
#define SNI_SWEEP_H

#include "contact/manifold.h"

/* What turns with w for h about a point at -arm. */
double sni_swing(sn_vec3 w, sn_vec3 arm, double h);

/* Where it is after t: it turns about its point, which moves straight on. */
sni_moving sni_moving_at(const sni_moving *m, double t);

/* How fast a gap along n, from b to a, can shrink. */
double sni_closing_speed(const sni_moving *a, const sni_moving *b, sn_vec3 n);

/* Corrects what is nearest, where a and b are, for more than b alone; false: it does not touch. */
typedef bool (*sni_settle_fn)(const void *user, const sni_placed *a, const sni_placed *b,
                              sni_nearest *near);

/* Where a and b touch or would touch within h at these twists: those points that are nearer than
 * margin, or that come so near.  Seen from now: gaps and places are those before the motion.
 * settle: NULL if there is nothing to correct. */
void sni_touch_moving(const sni_moving *a, const sni_moving *b, double h, double margin,
                      sni_settle_fn settle, const void *user, sni_manifold *out);

/* When they are first nearer than `near` within h, and how they are placed then; false: they are
 * not.  start: what is nearest before the motion. */
bool sni_sweep(const sni_moving *a, const sni_moving *b, double h, double near, sni_nearest start,
               double *time, sni_moving then[2], sni_nearest *nearest);

#endif
