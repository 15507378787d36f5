/* touch_carry.c: what sticks to something that moves goes where that goes.
 *
 * A step asks for equal rates where two bodies stick, and a free body goes straight on with its
 * own.  What carries it turns meanwhile, or is put where a function of time says, which for rates
 * that change is not  h qd1  further.  On a turntable that is  h^2 w^2 r / 2  outward, in every
 * step.  Rates are right, so no impulse is due: the body is moved along the surface by what the
 * points that stick have come apart, as what curves lead into others is (touch_drift.c). */
#include "methods/redmax/touch.h"

#include "methods/redmax/move.h"

#include <string.h>

/* Of the thinnest shape: points that come apart by less are as good as together. */
#define TOGETHER 1e-7
/* What slides no faster than so many times the tolerance lets it sticks. */
#define SLOW 100
/* Turn against each other, in a step: what rolls is carried by what is driven only. */
#define ROLLS 1e-4
enum { SWEEPS = 100 };

void sni_touch_note_sticking(sni_touch *touch) {
  const sni_staggered *st = &touch->st;
  const double tolerance = touch->sim->options.redmax.contact.tolerance;
  for (int k = 0; k < st->ngroup; k++) {
    const sni_island *island = st->group[k].island >= 0 ? &st->island[st->group[k].island] : NULL;
    const bool found = island && island->residual <= SLOW * tolerance;
    touch->group[k].sticks = found ? SLOW * tolerance * island->scale : -1;
  }
}

static sn_vec6 twist_of(const sni_touch *touch, int b) {
  return b >= 0 ? touch->phi[b] : (sn_vec6){0};
}

/* At the point x, world axes. */
static sn_vec3 velocity_at(const sni_touch *touch, int b, sn_vec3 x) {
  const sn_vec6 phi = twist_of(touch, b);
  return b >= 0 ? sn_vec3_add(phi.v, sn_vec3_cross(phi.w, sn_vec3_sub(x, touch->s->d->E_wb[b].p)))
                : phi.v;
}

/* Only what no joint leads is carried: others go where their joints let them. */
static bool is_free(const sni_touch *touch, int b) {
  const sni_tree *t = touch->s->t;
  return b >= 0 && !touch->bound[b] && t->parent[b] < 0 && t->vadr[b + 1] - t->vadr[b] == SN_NV_MAX;
}

/* Does a point of group k stick, or may it?  Where several points do, not all have to push.  If
 * both bodies turn alike they are held as one; else one rolls or tips over the other. */
typedef enum holding { SLIDES, ROLLS_ON, STUCK } holding;
static holding holding_of(const sni_touch *touch, int k, double h) {
  const sni_touch_group *tg = &touch->group[k];
  const sni_group *g = &touch->st.group[k];
  if (tg->contact < 0 || g->nrow < 3 || g->npart < 2 || !(tg->sticks >= 0)) {
    return SLIDES;
  }
  const sni_contact *c = &touch->contact[tg->contact];
  if (!is_free(touch, c->body[0]) && !is_free(touch, c->body[1])) {
    return SLIDES;
  }
  sn_vec3 v =
      sn_vec3_sub(velocity_at(touch, c->body[0], c->x), velocity_at(touch, c->body[1], c->x));
  v = sn_vec3_addscaled(v, fmax(c->gap, 0) / h, c->n);
  const sn_vec3 turn = sn_vec3_sub(twist_of(touch, c->body[0]).w, twist_of(touch, c->body[1]).w);
  return sn_vec3_norm(v) > tg->sticks ? SLIDES : h * sn_vec3_norm(turn) <= ROLLS ? STUCK : ROLLS_ON;
}

/* How far the point x of body b goes in the step. */
static sn_vec3 way_of(const sni_touch *touch, int b, sn_vec3 x) {
  if (b < 0) {
    return (sn_vec3){0, 0, 0};
  }
  const sn_se3 E = touch->s->d->E_wb[b];
  const sn_vec3 local = sn_mat3_tmul_vec(E.R, sn_vec3_sub(x, E.p));
  return sn_vec3_sub(sn_se3_point(touch->then[b], local), x);
}

/* How far a point that sticks comes apart, along its normal beyond the gap that it closes, and
 * along its tangents. */
static void come_apart(const sni_touch *touch, int k, double apart[3]) {
  const sni_touch_group *tg = &touch->group[k];
  const sni_contact *c = &touch->contact[tg->contact];
  const sn_vec3 d = sn_vec3_sub(way_of(touch, c->body[0], c->x), way_of(touch, c->body[1], c->x));
  for (int i = 0; i < 3; i++) {
    apart[i] = sn_vec3_dot(tg->frame[i], d) + (i == 0 ? fmax(c->gap, 0) : 0);
  }
}

/* How far functions of time move a point of body b, besides the rates. */
static sn_vec3 driven_way(const sni_touch *touch, int b, sn_vec3 x) {
  if (b < 0) {
    return (sn_vec3){0, 0, 0};
  }
  const sn_vec6 way = touch->driven[b];
  return sn_vec3_add(way.v, sn_vec3_cross(way.w, sn_vec3_sub(x, touch->s->d->E_wb[b].p)));
}

/* The same of a point on which a body rolls or tips over: by what functions of time move it.  What
 * else comes apart there is how the body turns. */
static void roll_apart(const sni_touch *touch, int k, double apart[3]) {
  const sni_touch_group *tg = &touch->group[k];
  const sni_contact *c = &touch->contact[tg->contact];
  const sn_vec3 d =
      sn_vec3_sub(driven_way(touch, c->body[0], c->x), driven_way(touch, c->body[1], c->x));
  for (int i = 0; i < 3; i++) {
    apart[i] = sn_vec3_dot(tg->frame[i], d);
  }
}

void sni_touch_find_driven(sni_touch *touch, const double *driven, const double *qd1) {
  sni_dynamics *d = touch->s->d;
  sni_J_mul_world(touch->s->t, &d->w, driven);
  for (int i = 0; i < touch->s->t->nbody; i++) {
    touch->driven[i] = sni_lane6_vec6(d->w.a[i]);
  }
  sni_touch_twists(touch, qd1);
}

double sni_touch_left_to_others(const sni_touch *touch, int k, double h) {
  const sni_touch_group *tg = &touch->group[k];
  if (tg->contact < 0 || (touch->st.group[k].x[0] > 0 && holding_of(touch, k, h) != SLIDES)) {
    return 0;
  }
  double apart[3];
  roll_apart(touch, k, apart);
  return apart[0];
}

/* Rows that hold both ways. */
static void hold(sni_group *g, int n) {
  for (int i = 0; i < n; i++) {
    g->part[i] = (sni_group_part){
        .set = SNI_IN_RANGE, .row = i, .n = 1, .of = -1, .lo = -INFINITY, .hi = INFINITY};
  }
  g->npart = n;
}

/* What does not stick is only kept from being pushed in further than it has room. */
static void keep_out(const sni_touch *touch, int k, double h, sni_group *g) {
  const sni_touch_group *tg = &touch->group[k];
  if (tg->slide >= 0 || g->npart == 0) {
    g->npart = 0; /* friction in joints moves nothing */
    return;
  }
  const double gap = tg->contact >= 0 ? touch->contact[tg->contact].gap : tg->row->g;
  hold(g, 1);
  g->part[0].lo = 0;
  g->c[0] = g->x[0] > 0 ? 0 : -fmax(gap, 0) / h;
}

bool sni_touch_carry(sni_touch *touch, double h, const double *q, const double *q1,
                     const double *qd1, const double *driven) {
  sni_staggered *st = &touch->st;
  const int nv = touch->s->t->nv;
  bool any = false;
  const holding least = driven ? ROLLS_ON : STUCK; /* that has somewhere to be moved to */
  for (int k = 0; k < st->ngroup && !any; k++) {
    any = st->group[k].x[0] > 0 && holding_of(touch, k, h) >= least;
  }
  if (!any) {
    return false;
  }
  for (int j = 0; j < nv; j++) { /* what is moved apart is meant to come apart */
    touch->straight[j] = touch->shift[j] - touch->parted[j] + (driven ? driven[j] : 0);
  }
  sni_touch_place_end(touch, h, q, q1, qd1, touch->straight);
  double most = 0;
  for (int k = 0; k < st->ngroup; k++) {
    sni_group *g = &st->group[k];
    sni_touch_group *tg = &touch->group[k];
    const holding holds = holding_of(touch, k, h);
    memset(g->c, 0, sizeof g->c);
    memset(g->e, 0, sizeof g->e);
    g->weighed = false;
    if (holds >= least && (holds == STUCK || g->x[0] > 0)) {
      double apart[3];
      (holds == STUCK ? come_apart : roll_apart)(touch, k, apart);
      hold(g, 3);
      for (int i = 0; i < 3; i++) {
        most = fmax(most, fabs(apart[i]));
        g->c[i] = -apart[i] / h;
      }
    } else {
      keep_out(touch, k, h, g);
    }
    memcpy(tg->swung, g->x, sizeof g->x);
    memset(g->x, 0, sizeof g->x);
  }
  const bool moves = most > TOGETHER * touch->thinnest;
  if (moves) {
    const sni_staggered_options rough = {.tolerance = 1e-6,
                                         .max_iterations = SWEEPS,
                                         .sides = touch->sim->options.redmax.contact.sides,
                                         .again = true,
                                         .sweeps_only = true};
    sni_staggered_info found;
    memset(st->v, 0, (size_t)st->room.nv * sizeof *st->v);
    sni_staggered_solve(st, &rough, &found);
  }
  for (int k = 0; k < st->ngroup; k++) {
    sni_group *g = &st->group[k];
    memcpy(touch->shift_x[k], g->x, sizeof g->x);
    memcpy(g->x, touch->group[k].swung, sizeof g->x);
  }
  return moves;
}
