/* touch_fast.c: steps that are too long for what meets in them.
 *
 * Rows of contacts are straight: they know where a body goes at the rates of the start, and that it
 * turns little.  What is struck hard goes elsewhere, where it may meet others, and may turn so far
 * within the step that the points that were kept apart say nothing of the rest of it.  Such a step
 * is done in halves. */
#include "methods/redmax/touch.h"

/* Of the thickness of a shape: so much its points may differ from where they are taken to go, so
 * much a blow may change its way before others are looked for, and so deep it may be in them. */
#define BEND  0.05
#define WAY   0.5
#define DEPTH 0.1
/* What meets by what a step does is solved for in the same step, where it would be so deep; what is
 * less waits for the next. */
#define MISSED 0.05
/* What changes its way by less is not looked at again. */
#define SAME 0.005
/* In the names of points that are those of the end of the step. */
#define AT_END 0x80000000u

/* | exp(turn) - 1 - [turn] |, of a point at distance 1 of the axis. */
static double bend_of(double turn) {
  return hypot(1 - cos(turn), turn - sin(turn));
}

/* How far points of a shape go by turning, if they went straight on, and how far they end from
 * there; parts that are round about an axis do not see what turns about it. */
typedef struct turning {
  double way, bend;
} turning;

static turning turning_of(const sni_moving *m, sn_vec3 turn) {
  const sni_placed *s = &m->s;
  const double angle = sn_vec3_norm(turn);
  if (!(angle > 0)) {
    return (turning){0, 0};
  }
  const double offset = sn_vec3_norm(sn_vec3_cross(m->arm, turn)) / angle;
  const sn_vec3 axis = sn_mat3_col(s->E.R, 2);
  const double across = sn_vec3_norm(sn_vec3_cross(axis, turn));
  const bool round = s->c->core == SNI_CORE_SEGMENT || s->c->core == SNI_CORE_CYLINDER;
  const double reach = s->c->reach - s->c->radius, seen = round ? across : angle;
  return (turning){reach * seen, offset * bend_of(angle) + reach * bend_of(seen)};
}

/* Half of what it measures where it is thinnest. */
static double thickness(const sni_convex *c) {
  const sn_vec3 h = c->half;
  switch (c->core) {
  case SNI_CORE_POINT:
  case SNI_CORE_SEGMENT:
    return c->radius;
  case SNI_CORE_CYLINDER:
    return fmin(h.x, h.z);
  case SNI_CORE_BOX:
  case SNI_CORE_ELLIPSOID:
    return fmin(h.x, fmin(h.y, h.z));
  default:
    return 0.2 * c->reach;
  }
}

/* Behind the shapes come the beads of tubes. */
static bool is_bead(const sni_touch *touch, int shape) {
  return shape >= touch->sim->m->nshape;
}

/* Of the two that touch; planes and meshes have no other side. */
static double thinner(const sni_touch *touch, const sni_contact *c) {
  const sn_model *m = touch->sim->m;
  double least = INFINITY;
  for (int side = 0; side < 2; side++) {
    if (is_bead(touch, c->shape[side])) {
      least = fmin(least, m->bead[c->shape[side] - m->nshape].radius);
      continue;
    }
    const sni_moving s = sni_finder_shape(touch->finder, c->shape[side]);
    least = s.s.c->reach > 0 ? fmin(least, thickness(s.s.c)) : least;
  }
  return least;
}

/* How far points of a body end from where other twists than those of now would take them, at most.
 */
static double way_of(const sni_touch *touch, int b, const sn_vec6 *other, double h) {
  const sn_vec6 change = sn_vec6_sub(touch->phi[b], other[b]);
  return h * (sn_vec3_norm(change.v) + sn_vec3_norm(change.w) * touch->reach[b]);
}

static bool same_pair(const sni_contact *a, const sni_contact *b) {
  return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1];
}

/* Of the two that touch, the one that turns further. */
static turning turning_of_pair(const sni_touch *touch, const sni_contact *c, double h) {
  turning most = {0, 0};
  for (int side = 0; side < 2; side++) {
    if (c->body[side] >= 0 && !is_bead(touch, c->shape[side])) {
      const sni_moving s = sni_finder_shape(touch->finder, c->shape[side]);
      const turning t = turning_of(&s, sn_vec3_scale(touch->phi[c->body[side]].w, h));
      most = (turning){fmax(most.way, t.way), fmax(most.bend, t.bend)};
    }
  }
  return most;
}

/* Are two shapes whose points go astray deeper in each other at the end of the step than points
 * may be astray?  gap: that of the start.  Their points then, and how many. */
static int look_then(sni_touch *touch, const sni_contact *c, double gap, double thick, double h,
                     const sni_contact **point) {
  double depth;
  const int n = sni_finder_look_then(touch->finder, c->shape, touch->s->d->E_wb, touch->phi, h,
                                     point, &depth);
  return depth > fmax(-gap, 0) + BEND * thick ? n : 0;
}

/* What goes less far astray than either is thick cannot have passed the other. */
static bool bends_in(sni_touch *touch, const sni_contact *c, double gap, double thick, double h) {
  const turning most = turning_of_pair(touch, c, h);
  const sni_contact *point;
  return most.bend > WAY * thick ||
         (most.bend > BEND * thick && look_then(touch, c, gap, thick, h, &point) > 0);
}

/* Do blows leave what is near something its way? */
static bool goes_elsewhere(const sni_touch *touch, const sni_contact *c, double thick, double h) {
  bool elsewhere = false;
  for (int side = 0; side < 2; side++) {
    const int b = c->body[side];
    if (b < 0) {
      continue;
    }
    const sn_vec6 change = sn_vec6_sub(touch->phi[b], touch->s->d->phi[b]);
    const double reach = is_bead(touch, c->shape[side])
                             ? touch->reach[b]
                             : sni_finder_shape(touch->finder, c->shape[side]).s.c->reach;
    const double way = h * (sn_vec3_norm(change.v) + sn_vec3_norm(change.w) * reach);
    elsewhere = elsewhere || way > WAY * thick;
  }
  return elsewhere;
}

/* Pair by pair. */
static void look(sni_touch *touch, double h, bool *bends, bool *elsewhere) {
  const sni_touch_group *group = touch->group;
  const int n = touch->st.ngroup;
  for (int k = 0, end; k < n && group[k].contact >= 0 && !*bends; k = end) {
    const sni_contact *c = &touch->contact[group[k].contact];
    double gap = INFINITY;
    bool pushes = false;
    for (end = k;
         end < n && group[end].contact >= 0 && same_pair(c, &touch->contact[group[end].contact]);
         end++) {
      pushes = pushes || touch->st.group[end].x[0] > 0 || group[end].blow[0] > 0;
      gap = fmin(gap, touch->contact[group[end].contact].gap);
    }
    const double thick = thinner(touch, c);
    *bends = bends_in(touch, c, gap, thick, h);
    *elsewhere = *elsewhere || (pushes && goes_elsewhere(touch, c, thick, h));
  }
}

static double closing(const sni_contact *c, const sn_se3 *E_wb, const sn_vec6 *phi) {
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    const int b = c->body[side];
    if (b >= 0) {
      const sn_vec3 arm = sn_vec3_sub(c->at[side], E_wb[b].p);
      const sn_vec3 v = sn_vec3_add(phi[b].v, sn_vec3_cross(phi[b].w, arm));
      rate += (side == 0 ? 1 : -1) * sn_vec3_dot(c->n, v);
    }
  }
  return rate;
}

double sni_touch_closing(const sni_touch *touch, const sni_contact *c) {
  return closing(c, touch->s->d->E_wb, touch->phi);
}

void sni_touch_measure(sni_touch *touch) {
  const sn_model *m = touch->sim->m;
  touch->thinnest = INFINITY;
  for (int i = 0; i < m->tree.nbody; i++) {
    touch->reach[i] = 0;
  }
  for (int k = 0; k < m->nshape; k++) {
    if (m->shape[k].material < 0) {
      continue;
    }
    const sni_moving s = sni_finder_shape(touch->finder, k);
    const int b = m->shape[k].body;
    if (s.s.c->reach > 0) {
      const sn_vec3 at = sni_shape_solid(&m->shape[k].def).at.p;
      touch->thinnest = fmin(touch->thinnest, thickness(s.s.c));
      touch->reach[b] = fmax(touch->reach[b], s.s.c->reach + 2 * sn_vec3_norm(at));
    }
  }
  for (int k = 0; k < m->nbead; k++) {
    const sni_tube_bead *bead = &m->bead[k];
    if (bead->body >= 0) {
      touch->thinnest = fmin(touch->thinnest, bead->radius);
      touch->reach[bead->body] =
          fmax(touch->reach[bead->body], bead->radius + sn_vec3_norm(bead->at));
    }
  }
}

/* Nothing goes so far, and turns so far, that the thinnest shape could be passed. */
static bool is_slow(const sni_touch *touch, double h) {
  for (int i = 0; i < touch->s->t->nbody; i++) {
    const double reach = touch->reach[i], turn = h * sn_vec3_norm(touch->phi[i].w);
    if (reach > 0 && (turn * turn * reach > BEND * touch->thinnest ||
                      way_of(touch, i, touch->s->d->phi, h) > WAY * touch->thinnest)) {
      return false;
    }
  }
  return true;
}

/* Bodies that move otherwise than when pairs that turn were last looked at, into touch->other; does
 * any turn so far that points of a pair could be missed? */
static bool find_turning(sni_touch *touch, double h) {
  bool any = false;
  for (int i = 0; i < touch->s->t->nbody; i++) {
    touch->other[i] =
        touch->looks == 0 || way_of(touch, i, touch->turned, h) > SAME * touch->thinnest;
    touch->turned[i] = touch->other[i] ? touch->phi[i] : touch->turned[i];
    any = any || h * sn_vec3_norm(touch->phi[i].w) * touch->reach[i] > BEND * touch->thinnest;
  }
  touch->looks++;
  return any;
}

/* Does either of two? */
static bool moves_otherwise(const sni_touch *touch, const sni_contact *c) {
  return (c->body[0] >= 0 && touch->other[c->body[0]]) ||
         (c->body[1] >= 0 && touch->other[c->body[1]]);
}

/* ---- who meets because of the step itself ----
 *
 * Points are looked for with the twists of the start.  What is stopped, thrown or pulled within the
 * step may go where these do not lead: two bodies fall side by side, one above the other, until the
 * floor stops the lower one.  Pairs of which one changes its way by more than the margin that there
 * was are looked at once more, with the twists that the step has come to. */

void sni_touch_twists(sni_touch *touch, const double *qd1) {
  sni_dynamics *d = touch->s->d;
  sni_J_mul_world(touch->s->t, &d->w, qd1);
  for (int i = 0; i < touch->s->t->nbody; i++) {
    touch->phi[i] = sni_lane6_vec6(d->w.a[i]);
  }
}

/* Bodies that keep to their ways since they were last looked at; false: all do. */
static bool find_straying(sni_touch *touch, double h) {
  bool any = false;
  for (int i = 0; i < touch->s->t->nbody; i++) {
    /* of what two of them may do: the margin, and what is not deep */
    const double enough = 0.5 * (touch->margin + MISSED * touch->thinnest);
    touch->keeps[i] = !(touch->reach[i] > 0 && way_of(touch, i, touch->seen, h) > enough);
    touch->seen[i] = touch->keeps[i] ? touch->seen[i] : touch->phi[i];
    any = any || !touch->keeps[i];
  }
  return any;
}

static bool is_asleep(const sni_touch *touch, const sni_contact *c) {
  bool asleep = false;
  for (int side = 0; side < 2 && touch->sleep.any; side++) {
    asleep = asleep || (c->body[side] >= 0 && touch->sleep.asleep[c->body[side]]);
  }
  return asleep;
}

/* How deep a point is at the end of the step, or has been; below 0. */
static double depth_at_end(const sni_touch *touch, const sni_contact *c, double h) {
  return fmax(0, c->gap) + h * closing(c, touch->s->d->E_wb, touch->phi);
}

/* Those who meet at the twists that the step has come to. */
static int add_who_meets(sni_touch *touch, double h, int count) {
  const sni_dynamics *d = touch->s->d;
  const int before = count;
  const sni_contact *found;
  int nfound;
  if (!find_straying(touch, h)) {
    return count;
  }
  sni_finder_skip(touch->finder, touch->contact, before);
  const sn_status status =
      sni_contacts_find_again(touch->finder, d->E_wb, touch->phi, touch->keeps, &found, &nfound);
  for (int k = 0, end; status == SN_OK && k < nfound; k = end) {
    bool missed = false;
    for (end = k; end < nfound && same_pair(&found[k], &found[end]); end++) {
      missed = missed || depth_at_end(touch, &found[end], h) < -MISSED * thinner(touch, &found[k]);
    }
    const bool add = missed && !is_asleep(touch, &found[k]);
    for (int i = k; add && i < end && sni_finder_add(touch->finder, &count, &found[i]);) {
      i++;
    }
  }
  sni_finder_merge(touch->finder, before, count);
  return count;
}

/* Points of a pair that turn into each other, where they do. */
static int add_who_turns_in(sni_touch *touch, double h, int count) {
  const int before = count;
  if (!find_turning(touch, h)) {
    return count;
  }
  for (int k = 0, end; k < before; k = end) {
    const sni_contact *c = &touch->contact[k], *point = NULL;
    double gap = INFINITY;
    for (end = k; end < before && same_pair(c, &touch->contact[end]); end++) {
      gap = fmin(gap, touch->contact[end].gap);
    }
    if (!moves_otherwise(touch, c)) {
      continue;
    }
    const double thick = thinner(touch, c);
    const turning most = turning_of_pair(touch, c, h);
    const bool looks = most.way > BEND * thick && most.bend <= WAY * thick;
    const int n = looks ? look_then(touch, c, gap, thick, h, &point) : 0;
    for (int i = 0; i < n; i++) {
      sni_contact at_end = point[i];
      at_end.feature |= AT_END;
      at_end.gap = fmax(at_end.gap, fmin(gap, 0)); /* they are no deeper than they are */
      sni_finder_add(touch->finder, &count, &at_end);
    }
  }
  sni_finder_merge(touch->finder, before, count);
  return count;
}

bool sni_touch_add_missed(sni_touch *touch, double h) {
  if (touch->sim->options.redmax.activation == SN_ACTIVATION_PENETRATION) {
    return false;
  }
  sni_finder_keep(touch->finder, touch->contact, touch->count);
  sni_touch_keep_impulses(touch);
  const int count = add_who_turns_in(touch, h, add_who_meets(touch, h, touch->count));
  const bool any = count > touch->count;
  touch->count = count;
  return any;
}

/* ---- who goes too far ---- */

bool sni_touch_outruns(sni_touch *touch, double h) {
  const sni_dynamics *d = touch->s->d;
  bool bends = false, elsewhere = false;
  if (touch->count == 0 || is_slow(touch, h)) {
    return false;
  }
  look(touch, h, &bends, &elsewhere);
  if (bends || !elsewhere) {
    return bends;
  }
  const sni_contact *contact;
  int count;
  sni_finder_keep(touch->finder, touch->contact, touch->count); /* its end needs them */
  bool meets = sni_contacts_find(touch->finder, &d->params, d->E_wb, touch->phi, h, touch->margin,
                                 &contact, &count, NULL) != SN_OK;
  for (int k = 0; k < count && !meets; k++) {
    meets = depth_at_end(touch, &contact[k], h) < -DEPTH * thinner(touch, &contact[k]);
  }
  return meets;
}
