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

/* | exp(turn) - 1 - [turn] |, of a point at distance 1 of the axis. */
static double bend_of(double turn) {
  return hypot(1 - cos(turn), turn - sin(turn));
}

/* How far points of a shape are from where they would be if they went straight on; parts that are
 * round about an axis do not see what turns about it. */
static double bend(const sni_moving *m, sn_vec3 turn) {
  const sni_placed *s = &m->s;
  const double angle = sn_vec3_norm(turn);
  if (!(angle > 0)) {
    return 0;
  }
  const double offset = sn_vec3_norm(sn_vec3_cross(m->arm, turn)) / angle;
  const sn_vec3 axis = sn_mat3_col(s->E.R, 2);
  const double across = sn_vec3_norm(sn_vec3_cross(axis, turn));
  const bool round = s->c->core == SNI_CORE_SEGMENT || s->c->core == SNI_CORE_CYLINDER;
  const double reach = s->c->reach - s->c->radius;
  return offset * bend_of(angle) + reach * bend_of(round ? across : angle);
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

/* How far points of a body end from where its twist at the start of the step would take them, at
 * most. */
static double way_of(const sni_touch *touch, int b, double h) {
  const sn_vec6 change = sn_vec6_sub(touch->phi[b], touch->s->d->phi[b]);
  return h * (sn_vec3_norm(change.v) + sn_vec3_norm(change.w) * touch->reach[b]);
}

/* Do points of what is near something go where rows take them, and do blows leave it its way?
 * phi: its new twists. */
static void look(const sni_touch *touch, double h, const sn_vec6 *phi, bool *bends,
                 bool *elsewhere) {
  const sni_dynamics *d = touch->s->d;
  for (int k = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    const sni_contact *c = &touch->contact[touch->group[k].contact];
    const bool pushes = touch->st.group[k].x[0] > 0 || touch->group[k].blow[0] > 0;
    const double thick = thinner(touch, c);
    for (int side = 0; side < 2; side++) {
      const int b = c->body[side];
      if (b < 0) {
        continue;
      }
      if (is_bead(touch, c->shape[side])) {
        *elsewhere = *elsewhere || (pushes && way_of(touch, b, h) > WAY * thick);
        continue;
      }
      const sni_moving s = sni_finder_shape(touch->finder, c->shape[side]);
      const sn_vec6 change = sn_vec6_sub(phi[b], d->phi[b]);
      const double way = h * (sn_vec3_norm(change.v) + sn_vec3_norm(change.w) * s.s.c->reach);
      *bends = *bends || bend(&s, sn_vec3_scale(phi[b].w, h)) > BEND * thick;
      *elsewhere = *elsewhere || (pushes && way > WAY * thick);
    }
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
                      way_of(touch, i, h) > WAY * touch->thinnest)) {
      return false;
    }
  }
  return true;
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

/* Bodies that keep to their ways; false: all do. */
static bool find_straying(sni_touch *touch, double h) {
  bool any = false;
  for (int i = 0; i < touch->s->t->nbody; i++) {
    /* of what two of them may do: the margin, and what is not deep */
    const double enough = 0.5 * (touch->margin + MISSED * touch->thinnest);
    touch->keeps[i] = !(touch->reach[i] > 0 && way_of(touch, i, h) > enough);
    any = any || !touch->keeps[i];
  }
  return any;
}

static bool same_pair(const sni_contact *a, const sni_contact *b) {
  return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1];
}

/* Has the step points for this pair, among the first `count`? */
static bool is_known(const sni_touch *touch, const sni_contact *c, int count) {
  int lo = 0, hi = count;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    const sni_contact *m = &touch->contact[mid];
    const bool before =
        m->shape[0] != c->shape[0] ? m->shape[0] < c->shape[0] : m->shape[1] < c->shape[1];
    lo = before ? mid + 1 : lo;
    hi = before ? hi : mid;
  }
  return lo < count && same_pair(&touch->contact[lo], c);
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

bool sni_touch_add_missed(sni_touch *touch, double h) {
  const sni_dynamics *d = touch->s->d;
  if (touch->sim->options.redmax.activation == SN_ACTIVATION_PENETRATION ||
      !find_straying(touch, h)) {
    return false;
  }
  const sni_contact *found;
  int nfound, count = touch->count;
  sni_finder_keep(touch->finder, touch->contact);
  sni_finder_let_sleep(touch->finder, touch->keeps);
  const sn_status status = sni_contacts_find(touch->finder, &d->params, d->E_wb, touch->phi, h, 0,
                                             &found, &nfound, NULL);
  for (int k = 0, end; status == SN_OK && k < nfound; k = end) {
    bool missed = false;
    for (end = k; end < nfound && same_pair(&found[k], &found[end]); end++) {
      missed = missed || depth_at_end(touch, &found[end], h) < -MISSED * thinner(touch, &found[k]);
    }
    /* asked once: those that are added stand among the others */
    const bool add = missed && !is_known(touch, &found[k], count) && !is_asleep(touch, &found[k]);
    for (int i = k; add && i < end && sni_finder_add(touch->finder, &count, &found[i]);) {
      i++;
    }
  }
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
  look(touch, h, touch->phi, &bends, &elsewhere);
  if (bends || !elsewhere) {
    return bends;
  }
  const sni_contact *contact;
  int count;
  sni_finder_keep(touch->finder, touch->contact); /* its end needs them */
  bool meets = sni_contacts_find(touch->finder, &d->params, d->E_wb, touch->phi, h, 0, &contact,
                                 &count, NULL) != SN_OK;
  for (int k = 0; k < count && !meets; k++) {
    meets = depth_at_end(touch, &contact[k], h) < -DEPTH * thinner(touch, &contact[k]);
  }
  return meets;
}
