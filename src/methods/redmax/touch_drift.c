/* touch_drift.c: joints lead bodies along curves.
 *
 * Rows of contacts are straight: what their rates leave apart goes on with these rates.  That is
 * so for a body of its own.  One that hangs on joints ends elsewhere, by  h^2/2 Jdot qd  to first
 * order, the more the longer the chain is that carries it; and it would get into what it lies on by
 * that much in every step.  Nothing pushes it there, so no impulse is due: it is moved back, as
 * what is in each other is moved apart (touch_part.c), but by all of that, and whatever it costs:
 * it is what the curve has brought. */
#include "methods/redmax/touch.h"

#include "methods/redmax/move.h"

#include <string.h>

/* Of what bodies would answer alone, so much more they do. */
#define PLIANT 1e-4
/* Of the thickness of the thinnest shape: what curves lead astray by less is left to touch_part.c.
 */
#define ASTRAY 1e-4
enum { PASSES = 3, SWEEPS = 20 };

/* Does it hang on something whose motion is curved?  Tubes do as well, but many of their beads
 * touch at once, and where a knot is drawn tight they were deeper for it. */
static bool is_led(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  const int nshape = touch->sim->m->nshape;
  if (tg->contact < 0 || !(tg->ease > 0) || touch->st.group[k].npart == 0 ||
      tg->material.stiffness > 0) {
    return false;
  }
  const sni_contact *c = &touch->contact[tg->contact];
  return c->shape[0] < nshape && c->shape[1] < nshape;
}

/* Where a point of body b is at the end of the step, along n, beyond where it would be if the body
 * went on by itself: its centre of mass straight, turning as it does. */
static double astray(const sni_touch *touch, int b, sn_vec3 at, sn_vec3 n, double h) {
  const sni_dynamics *d = touch->s->d;
  if (b < 0) {
    return 0;
  }
  const sn_se3 E = d->E_wb[b];
  const sn_vec6 phi = touch->phi[b];
  const sn_vec3 c = sn_mat3_mul_vec(E.R, sni_params_inertia(&d->params, b).com);
  const sn_vec3 arm = sn_vec3_sub(at, E.p);
  const sn_vec3 v = sn_vec3_add(phi.v, sn_vec3_cross(phi.w, c));
  const sn_vec3 turned = sn_mat3_mul_vec(sn_so3_exp(sn_vec3_scale(phi.w, h)), sn_vec3_sub(arm, c));
  const sn_vec3 alone = sn_vec3_add(sn_vec3_addscaled(sn_vec3_add(E.p, c), h, v), turned);
  const sn_vec3 then = sn_se3_point(touch->then[b], sn_mat3_tmul_vec(E.R, arm));
  return sn_vec3_dot(n, sn_vec3_sub(then, alone));
}

/* How far group k has to be moved back; below 0: how far others may move it in. */
static double way_back(const sni_touch *touch, int k, double h) {
  const sni_touch_group *tg = &touch->group[k];
  const sni_group *g = &touch->st.group[k];
  if (tg->contact < 0) {
    return tg->slide >= 0 || g->x[0] > 0 ? 0 : -fmax(tg->row->g, 0);
  }
  const sni_contact *c = &touch->contact[tg->contact];
  const double miss =
      astray(touch, c->body[0], c->at[0], c->n, h) - astray(touch, c->body[1], c->at[1], c->n, h);
  const double end = c->gap + h * sni_touch_closing(touch, c) + miss;
  return fmin(fmax(-miss, 0), fmin(c->gap, 0) - end);
}

/* The impulses that move back, into touch->shift_x; those of the step are in `swung` meanwhile. */
static void find_impulses(sni_touch *touch, double h) {
  sni_staggered *st = &touch->st;
  const sn_options *o = &touch->sim->options;
  const sni_staggered_options rough = {.tolerance = 1e-3,
                                       .max_iterations = SWEEPS,
                                       .sides = o->redmax.contact.sides,
                                       .again = true,
                                       .sweeps_only = true};
  sni_staggered_info found;
  memset(st->v, 0, (size_t)st->room.nv * sizeof *st->v);
  for (int k = 0; k < st->ngroup; k++) {
    sni_group *g = &st->group[k];
    sni_touch_group *tg = &touch->group[k];
    const double soft = tg->slide < 0 ? PLIANT * tg->ease : 0;
    memcpy(tg->swung, g->x, sizeof g->x);
    memset(g->x, 0, sizeof g->x);
    memset(g->c, 0, sizeof g->c);
    g->c[0] = touch->back[k] / h;
    g->weighed = g->weighed && g->e[0] == soft;
    g->e[0] = soft;
    if (tg->slide >= 0) {
      g->part[0].limit = 0; /* friction in joints moves nothing */
    }
  }
  sni_staggered_solve(st, &rough, &found);
  for (int k = 0; k < st->ngroup; k++) {
    sni_group *g = &st->group[k];
    memcpy(touch->shift_x[k], g->x, sizeof g->x);
    memcpy(g->x, touch->group[k].swung, sizeof g->x);
  }
}

/* Has anything to be moved back?  By how much, into touch->back: where q1 leads with the shift so
 * far. */
static bool find_way_back(sni_touch *touch, double h, const double *q, const double *q1,
                          const double *qd1) {
  const sni_staggered *st = &touch->st;
  const int nv = touch->s->t->nv;
  double *end = touch->column;
  bool any = false;
  memcpy(end, q1, (size_t)nv * sizeof *end);
  memcpy(touch->solution, qd1, (size_t)nv * sizeof *end);
  sni_move_drift(touch->sim, touch->s, h, q, end, touch->solution);
  for (int j = 0; touch->shifts && j < nv; j++) {
    end[j] += touch->shift[j];
  }
  sni_move_places(touch->s->t, end, touch->solution, touch->then);
  sni_dynamics_poses(touch->s->d); /* sliding leaves them elsewhere */
  for (int k = 0; k < st->ngroup; k++) {
    touch->back[k] = way_back(touch, k, h);
    any = any || (is_led(touch, k) && touch->back[k] > ASTRAY * touch->thinnest);
  }
  return any;
}

sn_status sni_touch_follow_curves(sni_touch *touch, double h, const double *q, const double *q1,
                                  const double *qd1, sni_touch_solver solve, void *user) {
  const sni_staggered *st = &touch->st;
  const int nv = touch->s->t->nv;
  const size_t bytes = (size_t)nv * sizeof(double);
  sn_status status = SN_OK;
  bool led = false, moved = false;
  for (int k = 0; k < st->ngroup && !led; k++) {
    led = is_led(touch, k);
  }
  if (!led || touch->sim->options.redmax.activation == SN_ACTIVATION_PENETRATION) {
    return SN_OK;
  }
  for (int pass = 0; status == SN_OK && pass < PASSES && find_way_back(touch, h, q, q1, qd1);
       pass++) {
    double *b = touch->solution, *x = touch->column;
    find_impulses(touch, h);
    memset(b, 0, bytes);
    sni_touch_push(touch, (const double(*)[SNI_GROUP_ROWS])touch->shift_x, b);
    memset(x, 0, bytes);
    status = solve(user, b, x);
    for (int j = 0; j < nv; j++) {
      touch->shift[j] = (touch->shifts ? touch->shift[j] : 0) + h * x[j];
    }
    touch->shifts = moved = true;
    sni_touch_twists(touch, qd1); /* as they were: to ask how bodies answer is to lose them */
  }
  if (moved) {
    sni_touch_take_impulses(touch);
  }
  return status;
}
