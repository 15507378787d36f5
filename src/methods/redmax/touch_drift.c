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
/* The same of what is driven, which comes again in every step for as long as it speeds up. */
#define ASTRAY_DRIVEN 1e-7
enum { PASSES = 3, SWEEPS = 20 };
/* What is still so far astray in the end, of that thickness, needs a shorter step; and what is
 * moved so far, in radians or metres, without coming nearer. */
#define LOST 0.1
#define FAR  0.05

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

/* ---- straight on ----
 *
 * Which way a curve leads depends on the coordinates: of a chain whose first link is at one end,
 * all that this one does wrong the others do as well.  Bodies by themselves would go on straight,
 * and what joints change of that is an impulse: so coordinates end where the masses are nearest to
 * there,  J^T M J dq = J^T M (straight - curved). */

/* From where body b is led to where it would have gone, as a twist at its origin now, for 1 s. */
static sn_vec6 deviation_of(const sni_touch *touch, int b, double h) {
  const sni_dynamics *d = touch->s->d;
  const sn_se3 E = d->E_wb[b], then = touch->then[b];
  const sn_vec6 phi = touch->phi[b];
  const sn_vec3 com = sni_params_inertia(&d->params, b).com, c = sn_mat3_mul_vec(E.R, com);
  const sn_vec3 v = sn_vec3_add(phi.v, sn_vec3_cross(phi.w, c));
  const sn_vec3 way =
      sn_vec3_sub(sn_vec3_addscaled(sn_vec3_add(E.p, c), h, v), sn_se3_point(then, com));
  const sn_mat3 R = sn_mat3_mul(sn_so3_exp(sn_vec3_scale(phi.w, h)), E.R);
  const sn_vec3 turn = sn_so3_log(sn_mat3_mul(R, sn_mat3_transpose(then.R)));
  return (sn_vec6){turn, sn_vec3_sub(way, sn_vec3_cross(turn, c))};
}

void sni_touch_place_end(sni_touch *touch, double h, const double *q, const double *q1,
                         const double *qd1, const double *more) {
  const int nv = touch->s->t->nv;
  double *end = touch->column, *rates = touch->solution;
  memcpy(end, q1, (size_t)nv * sizeof *end);
  memcpy(rates, qd1, (size_t)nv * sizeof *end);
  sni_move_drift(touch->sim, touch->s, h, q, end, rates);
  for (int j = 0; more && j < nv; j++) {
    end[j] += more[j];
  }
  sni_move_places(touch->s->t, end, rates, touch->then);
  sni_dynamics_poses(touch->s->d); /* sliding leaves them elsewhere */
}

static double largest(int n, const double *x) {
  double most = 0;
  for (int k = 0; k < n; k++) {
    most = fmax(most, fabs(x[k]));
  }
  return most;
}

/* dq into touch->straight; false, *near: the second round was not much less than the first. */
static sn_status go_straight(sni_touch *touch, double h, const double *q, const double *q1,
                             const double *qd1, sni_touch_solver solve, void *user, bool *near) {
  enum { ROUNDS = 2 };
  const sni_tree *t = touch->s->t;
  const sni_work *w = &touch->s->d->w;
  sn_status status = SN_OK;
  double first = FAR;
  memset(touch->straight, 0, (size_t)t->nv * sizeof(double));
  for (int round = 0; status == SN_OK && round < ROUNDS; round++) {
    sni_lane6 *f = touch->s->f;
    sni_touch_place_end(touch, h, q, q1, qd1, touch->straight);
    memset(f, 0, (size_t)t->nbody * sizeof *f);
    for (int i = 0; i < t->nbody; i++) {
      if (touch->led[i]) {
        const sni_lane6 way = sni_lane6_from(deviation_of(touch, i, h));
        f[i] = sni_momentum(&touch->s->d->mass[i], &w->link[i], way);
      }
    }
    memset(touch->column, 0, (size_t)t->nv * sizeof(double));
    sni_system_project(touch->s, f, touch->column);
    memset(touch->solution, 0, (size_t)t->nv * sizeof(double));
    status = solve(user, touch->column, touch->solution);
    for (int j = 0; j < t->nv; j++) {
      touch->straight[j] += touch->solution[j];
    }
    const double step = largest(t->nv, touch->solution);
    *near = step <= fmax(0.5 * first, FAR);
    first = step;
    sni_touch_twists(touch, qd1); /* as they were: to ask how bodies answer is to lose them */
  }
  return status;
}

/* ---- and back ---- */

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

/* How far group k has to be moved back; below 0: how far others may move it in.  driven: by how
 * much functions of time move it apart. */
static double way_back(const sni_touch *touch, int k, double h, double driven) {
  const sni_touch_group *tg = &touch->group[k];
  const sni_group *g = &touch->st.group[k];
  if (tg->contact < 0) {
    return tg->slide >= 0 || g->x[0] > 0 ? 0 : -fmax(tg->row->g, 0);
  }
  const sni_contact *c = &touch->contact[tg->contact];
  const double miss = astray(touch, c->body[0], c->at[0], c->n, h) -
                      astray(touch, c->body[1], c->at[1], c->n, h) + driven;
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

/* How far things have to be moved back at most, 0 if all are near, and each into touch->back: where
 * q1 leads with the shift so far, and functions of time. */
static double find_way_back(sni_touch *touch, double h, const double *q, const double *q1,
                            const double *qd1, const double *driven) {
  double most = 0;
  sni_touch_place_end(touch, h, q, q1, qd1, touch->shift);
  for (int k = 0; k < touch->st.ngroup; k++) {
    const double left = driven ? sni_touch_left_to_others(touch, k, h) : 0;
    const double enough = fabs(left) > ASTRAY_DRIVEN * touch->thinnest ? ASTRAY_DRIVEN : ASTRAY;
    touch->back[k] = way_back(touch, k, h, left);
    if (is_led(touch, k) && touch->back[k] > enough * touch->thinnest) {
      most = fmax(most, touch->back[k]);
    }
  }
  return most;
}

/* Moves by the impulses in touch->shift_x; touch->straight: by how much. */
static sn_status move_by_impulses(sni_touch *touch, double h, const double *qd1,
                                  sni_touch_solver solve, void *user) {
  const int nv = touch->s->t->nv;
  double *b = touch->solution, *x = touch->straight;
  memset(b, 0, (size_t)nv * sizeof *b);
  sni_touch_push(touch, (const double(*)[SNI_GROUP_ROWS])touch->shift_x, b);
  memset(x, 0, (size_t)nv * sizeof *x);
  const sn_status status = solve(user, b, x);
  for (int j = 0; j < nv; j++) {
    x[j] *= h;
    touch->shift[j] += x[j];
  }
  sni_touch_twists(touch, qd1); /* as they were */
  return status;
}

/* Whole trees of which something touches, into touch->led; false: none. */
static bool find_led(sni_touch *touch) {
  const sni_tree *t = touch->s->t;
  bool any = false;
  memset(touch->led, 0, (size_t)t->nbody * sizeof *touch->led);
  for (int k = 0; k < touch->st.ngroup; k++) {
    for (int side = 0; is_led(touch, k) && side < 2; side++) {
      int b = touch->contact[touch->group[k].contact].body[side];
      while (b >= 0 && t->parent[b] >= 0) {
        b = t->parent[b];
      }
      if (b >= 0) {
        touch->led[b] = any = true;
      }
    }
  }
  for (int i = 0; i < t->nbody && any; i++) {
    touch->led[i] = touch->led[t->parent[i] >= 0 ? t->parent[i] : i];
  }
  return any;
}

/* No coordinate is moved past its limit, or further beyond than the step itself has led it. */
static void stay_within_limits(sni_touch *touch, const double *q, const double *q1) {
  for (int k = 0; k < touch->st.ngroup; k++) {
    const sni_row *row = touch->group[k].row;
    if (touch->group[k].contact >= 0 || touch->group[k].slide >= 0 || row->ncoord != 1 ||
        row->body[0] >= 0 || row->body[1] >= 0 || row->coef[0] == 0) {
      continue;
    }
    const int c = row->coord[0];
    const double came = row->g + row->coef[0] * (q1[c] - q[c]);
    const double beyond = fmin(came, 0) - (came + row->coef[0] * touch->shift[c]);
    touch->shift[c] += fmax(beyond, 0) / row->coef[0];
  }
}

/* What joints lead along curves, and trees of which something is led.  What is driven goes as far
 * as functions of time say, not as its rate at the end of the step would lead it. */
static sn_status follow_curves(sni_touch *touch, double h, const double *q, const double *q1,
                               const double *qd1, const double *driven, sni_touch_solver solve,
                               void *user, bool *lost) {
  const int nv = touch->s->t->nv;
  bool near = true;
  sn_status status = go_straight(touch, h, q, q1, qd1, solve, user, &near);
  for (int j = 0; j < nv; j++) {
    touch->shift[j] += touch->straight[j];
  }
  touch->shifts = true;
  double before = INFINITY, most = find_way_back(touch, h, q, q1, qd1, driven);
  for (int pass = 0; status == SN_OK && pass < PASSES && most > 0; pass++) {
    find_impulses(touch, h);
    status = move_by_impulses(touch, h, qd1, solve, user);
    before = most;
    most = find_way_back(touch, h, q, q1, qd1, driven);
    if (most > before) { /* curves are too narrow for it */
      for (int j = 0; j < nv; j++) {
        touch->shift[j] -= touch->straight[j];
      }
      most = before;
      break;
    }
  }
  *lost = !near || most > LOST * touch->thinnest;
  return status;
}

sn_status sni_touch_lead(sni_touch *touch, double h, const double *q, const double *q1,
                         const double *qd1, const double *driven, sni_touch_solver solve,
                         void *user, bool *lost) {
  const int nv = touch->s->t->nv;
  sn_status status = SN_OK;
  *lost = false;
  if (touch->st.ngroup == 0 || touch->sim->options.redmax.activation == SN_ACTIVATION_PENETRATION) {
    return SN_OK;
  }
  if (!touch->shifts) {
    memset(touch->shift, 0, (size_t)nv * sizeof(double));
  }
  memcpy(touch->parted, touch->shift, (size_t)nv * sizeof(double));
  if (driven) {
    sni_touch_find_driven(touch, driven, qd1);
  }
  if (find_led(touch)) {
    status = follow_curves(touch, h, q, q1, qd1, driven, solve, user, lost);
  }
  if (status == SN_OK && !*lost && sni_touch_carry(touch, h, q, q1, qd1, driven)) {
    touch->shifts = true;
    status = move_by_impulses(touch, h, qd1, solve, user);
  }
  if (touch->shifts) {
    stay_within_limits(touch, q, q1);
  }
  sni_touch_take_impulses(touch);
  return status;
}
