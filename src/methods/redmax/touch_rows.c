/* touch_rows.c: contacts and one-sided constraints as rows over the matrix of a step.
 *
 * In a loose tree a row is what the backward pass of the recursion makes of its wrench [RM Alg 1]:
 *
 *     z = L^-1 S^T f     f_p = shift(f - Y z)     from the body to the ground
 *
 * and H A^-1 H^T of two rows is the product of their z.  No pass forward, and no joint beside the
 * way is touched. */
#include "methods/redmax/touch.h"

#include <string.h>

/* A cylinder stands on its rim, or lies, if its axis is further from the normal than this; and is
 * touched where it is lowest if that is so to this part. */
#define UPRIGHT 1e-3

/* From the origin of the body to where it is touched; what is meant to penetrate touches with its
 * own surface [RM 5.1]. */
static sn_vec3 arm_of(const sni_touch *touch, const sni_contact *c, int side) {
  const sn_vec3 o = sni_lane_vec3(touch->s->d->w.link[c->body[side]].o);
  const bool deep = touch->sim->options.redmax.activation == SN_ACTIVATION_PENETRATION;
  return sn_vec3_sub(deep ? sn_vec3_addscaled(c->at[side], 0.5 * c->gap, c->n) : c->at[side], o);
}

/* Row i of a group, as a wrench on its body[side] at the origin, in world axes. */
static sni_lane6 wrench_of(const sni_touch *touch, const sni_touch_group *tg, int i, int side) {
  const sni_contact *c = &touch->contact[tg->contact];
  const sn_vec3 along = sn_vec3_scale(tg->frame[i % 3], side == 0 ? 1 : -1);
  if (i >= 3) { /* spinning about the normal, rolling about the tangents */
    return (sni_lane6){sni_lane_from(sn_vec3_scale(along, tg->lever)), {0}};
  }
  return (sni_lane6){sni_lane_from(sn_vec3_cross(arm_of(touch, c, side), along)),
                     sni_lane_from(along)};
}

/* ---- loose trees ---- */

/* The last group's segment at adr; a new one if it has none yet. */
static sni_group_segment *segment_at(sni_staggered *st, int adr, int n, bool same) {
  const sni_group *g = &st->group[st->ngroup - 1];
  for (int k = 0; k < g->nsegment; k++) {
    if (st->segment[g->segment + k].adr == adr) {
      return &st->segment[g->segment + k];
    }
  }
  return sni_staggered_touch(st, adr, n, same);
}

/* From body b on to the ground, with the wrenches f of all rows, and a force on one coordinate of
 * b's joint for one of them (coord < 0: none).  False: no room. */
static bool walk(sni_touch *touch, int nrow, int b, sni_lane6 *f, int row, int coord, double coef) {
  const sni_tree *t = touch->s->t;
  const sni_work *w = &touch->s->d->w;
  for (; b >= 0; b = t->parent[b]) {
    const int adr = t->vadr[b], nv = t->vadr[b + 1] - adr;
    const double *L = w->L + t->factor[b];
    const bool hinge = touch->hinge[b];
    const sni_touched run = touch->run[b];
    sni_group_segment *segment = nv > 0 ? segment_at(&touch->st, run.adr, run.n, true) : NULL;
    if (nv > 0 && !segment) {
      return false;
    }
    double *h = segment ? segment->h + (adr - run.adr) : NULL;
    for (int r = 0; r < nrow; r++) {
      double z[SN_NV_MAX];
      for (int k = 0; k < nv; k++) {
        z[k] = sni_lane6_dot(w->S[adr + k], f[r]) + (r == row && adr + k == coord ? coef : 0);
        for (int j = 0; !hinge && j < k; j++) {
          z[k] -= L[k * nv + j] * z[j];
        }
        z[k] *= hinge ? sqrt(L[0]) : L[k * nv + k];
        h[r * run.n + k] += z[k];
      }
      if (t->parent[b] < 0) {
        continue; /* nobody is behind it */
      }
      for (int k = 0; k < nv; k++) {
        f[r] = sni_lane6_addscaled(f[r], -z[k] * (hinge ? sqrt(L[0]) : 1), w->Y[adr + k]);
      }
      f[r].w += sni_lane_cross(w->r[b], f[r].v);
    }
    coord = -1;
  }
  return true;
}

/* ---- bound trees ---- */

/* column += H^T of a wrench on body b. */
static void add_column(const sni_touch *touch, int b, sni_lane6 f, double *column) {
  const sni_tree *t = touch->s->t;
  const sni_work *w = &touch->s->d->w;
  for (; b >= 0; b = t->parent[b]) {
    for (int k = t->vadr[b]; k < t->vadr[b + 1]; k++) {
      column[k] += sni_lane6_dot(w->S[k], f);
    }
    f.w += sni_lane_cross(w->r[b], f.v);
  }
}

/* Row r of the last group's segment for bound coordinates, from touch->column. */
static sn_status add_solution(sni_touch *touch, sni_group_segment *segment, int r,
                              sni_touch_solver solve, void *user) {
  const int n = touch->nbig;
  memset(touch->solution, 0, (size_t)touch->s->t->nv * sizeof(double));
  const sn_status status = solve(user, touch->column, touch->solution);
  for (int k = 0; k < n; k++) {
    segment->h[(size_t)r * (size_t)n + (size_t)k] = touch->column[touch->big_ind[k]];
    segment->x[(size_t)r * (size_t)n + (size_t)k] = touch->solution[touch->big_ind[k]];
  }
  return status < 0 ? status : SN_OK;
}

/* ---- groups ---- */

/* Normal along n and tangents: the frame that the least rotation makes of x, y, z. */
static void frame_of(sn_vec3 n, sn_vec3 frame[3]) {
  frame[0] = n;
  if (n.z < -1 + 1e-12) {
    frame[1] = (sn_vec3){1, 0, 0};
    frame[2] = (sn_vec3){0, -1, 0};
    return;
  }
  const double a = 1 / (1 + n.z), b = -n.x * n.y * a;
  frame[1] = (sn_vec3){1 - n.x * n.x * a, b, -n.x};
  frame[2] = (sn_vec3){b, 1 - n.y * n.y * a, -n.y};
}

static void add_part(sni_group *g, sni_part_set set, int row, int n, double mu) {
  g->part[g->npart++] = (sni_group_part){
      .set = set, .row = row, .n = n, .of = set == SNI_IN_RANGE ? -1 : 0, .mu = mu, .hi = INFINITY};
}

/* Which sets the impulses of a contact are in. */
static void set_parts(const sn_options *o, const sni_material *m, double lever, sni_group *g) {
  if (o->redmax.contact.model == SN_CONTACT_ANITESCU) {
    add_part(g, SNI_IN_CONE, 0, 3, m->friction);
    g->part[0].of = -1;
    return;
  }
  add_part(g, SNI_IN_RANGE, 0, 1, 0);
  if (m->friction > 0 && o->redmax.contact.cone == SN_CONE_BOX) {
    add_part(g, SNI_IN_LIMIT, 1, 1, m->friction);
    add_part(g, SNI_IN_LIMIT, 2, 1, m->friction);
  } else if (m->friction > 0) {
    add_part(g, o->redmax.contact.cone == SN_CONE_EXACT ? SNI_IN_DISC : SNI_IN_POLYGON, 1, 2,
             m->friction);
  }
  if (m->torsional > 0) {
    add_part(g, SNI_IN_LIMIT, 3, 1, m->torsional / lever);
  }
  if (m->rolling > 0) {
    add_part(g, SNI_IN_DISC, 4, 2, m->rolling / lever);
  }
}

static int row_count(const sn_options *o, const sni_material *m) {
  if (o->redmax.contact.model == SN_CONTACT_ANITESCU) {
    return 3;
  }
  return m->rolling > 0 ? 6 : m->torsional > 0 ? 4 : m->friction > 0 ? 3 : 1;
}

/* Rows of the last group on one body. */
static bool add_body(sni_touch *touch, const sni_touch_group *tg, int nrow, int side) {
  sni_lane6 f[SNI_GROUP_ROWS];
  const int b = touch->contact[tg->contact].body[side];
  for (int r = 0; r < nrow; r++) {
    f[r] = wrench_of(touch, tg, r, side);
  }
  return walk(touch, nrow, b, f, 0, -1, 0);
}

/* ---- rows that move nothing ---- */

/* Of what bodies would answer if nothing held them: less is rounding. */
#define STILL 1e-9

static bool is_alone(const sni_touch *touch, int b) {
  const sni_tree *t = touch->s->t;
  return b < 0 ||
         (!touch->bound[b] && t->parent[b] < 0 && t->vadr[b + 1] - t->vadr[b] == SN_NV_MAX);
}

/* 1/mass of a body; what weighs nothing goes by all that moves. */
static double ease_of(const sni_touch *touch, int b) {
  const sni_params *params = &touch->s->d->params;
  double mass = b >= 0 ? sni_params_inertia(params, b).mass : INFINITY;
  for (int i = 0; !(mass > 0) && i < touch->s->t->nbody; i++) {
    mass += sni_params_inertia(params, i).mass;
  }
  return mass > 0 ? 1 / mass : 0;
}

/* The same for rows of coordinates: what the bodies of their joints would answer. */
static double ease_of_coord(const sni_touch *touch, const sni_row *row) {
  const sni_work *w = &touch->s->d->w;
  double ease = 0;
  for (int k = 0; k < row->ncoord; k++) {
    const int b = sni_tree_body_of(touch->s->t, row->coord[k]);
    const sni_lane6 S = w->S[row->coord[k]];
    const double mass = sni_lane6_dot(S, sni_momentum(&touch->s->d->mass[b], &w->link[b], S));
    ease += mass > 0 ? row->coef[k] * row->coef[k] / mass : 0;
  }
  return ease;
}

/* Joints, loops or motions hold bodies against some rows of the last group: these get no numbers,
 * and so no impulse. */
static void leave_out_still(sni_touch *touch, double ease) {
  const sni_staggered *st = &touch->st;
  const sni_group *g = &st->group[st->ngroup - 1];
  for (int r = 0; r < g->nrow; r++) {
    double W = 0;
    for (int k = 0; k < g->nsegment; k++) {
      const sni_group_segment *segment = &st->segment[g->segment + k];
      for (int j = 0; j < segment->n; j++) {
        W += segment->h[r * segment->n + j] * segment->x[r * segment->n + j];
      }
    }
    for (int k = 0; !(W > STILL * ease) && k < g->nsegment; k++) {
      const sni_group_segment *segment = &st->segment[g->segment + k];
      const size_t bytes = (size_t)segment->n * sizeof(double);
      memset(segment->h + (size_t)r * (size_t)segment->n, 0, bytes);
      memset(segment->x + (size_t)r * (size_t)segment->n, 0, bytes);
    }
  }
}

static sn_status no_room(sn_error *err) {
  return sni_fail(err, SN_E_LIMIT, "more contacts at once than there is room for");
}

/* The size of the smaller one. */
static double lever_of(const sni_touch *touch, const sni_contact *c) {
  double lever = INFINITY;
  for (int side = 0; side < 2; side++) {
    const double reach = c->body[side] >= 0 ? touch->reach[c->body[side]] : 0;
    lever = reach > 0 ? fmin(lever, reach) : lever;
  }
  return isfinite(lever) ? lever : 1;
}

static sn_status add_rows(sni_touch *touch, int k, sni_touch_solver solve, void *user,
                          sn_error *err) {
  sni_staggered *st = &touch->st;
  const sni_contact *c = &touch->contact[k];
  const sn_options *o = &touch->sim->options;
  const sni_material m = sni_material_mix(&touch->s->d->params, c->material[0], c->material[1]);
  const int nrow = row_count(o, &m);
  sni_group *g = sni_staggered_add(st, nrow);
  if (!g) {
    return no_room(err);
  }
  sni_touch_group *tg = &touch->group[st->ngroup - 1];
  *tg = (sni_touch_group){.contact = k, .slide = -1, .material = m};
  g->shares = true;
  frame_of(c->n, tg->frame);
  tg->lever = lever_of(touch, c);
  set_parts(o, &m, tg->lever, g);
  bool bound = false;
  for (int side = 0; side < 2; side++) {
    const int b = c->body[side];
    bound = bound || (b >= 0 && touch->bound[b]);
    if (b >= 0 && !touch->bound[b] && !add_body(touch, tg, nrow, side)) {
      return no_room(err);
    }
  }
  if (!bound) {
    return SN_OK;
  }
  sni_group_segment *segment = sni_staggered_touch(st, touch->s->t->nv, touch->nbig, false);
  for (int r = 0; segment && r < nrow; r++) {
    memset(touch->column, 0, (size_t)touch->s->t->nv * sizeof(double));
    for (int side = 0; side < 2; side++) {
      if (c->body[side] >= 0 && touch->bound[c->body[side]]) {
        add_column(touch, c->body[side], wrench_of(touch, tg, r, side), touch->column);
      }
    }
    const sn_status status = add_solution(touch, segment, r, solve, user);
    if (status < 0) {
      return sni_fail(err, status, "no answer to a contact: the matrix is singular");
    }
  }
  return segment ? SN_OK : no_room(err);
}

static sn_status add_contact(sni_touch *touch, int k, sni_touch_solver solve, void *user,
                             sn_error *err) {
  const sn_status status = add_rows(touch, k, solve, user, err);
  const int *body = touch->contact[k].body;
  if (!status && !(is_alone(touch, body[0]) && is_alone(touch, body[1]))) {
    sni_touch_group *tg = &touch->group[touch->st.ngroup - 1];
    tg->ease = ease_of(touch, body[0]) + ease_of(touch, body[1]);
    leave_out_still(touch, tg->ease);
  }
  return status;
}

/* Row i of the last group, as it is on loose trees, times a factor; what is on bound trees into
 * touch->column.  True, *bound: it is on some of these.  False: no room. */
static bool add_loose(sni_touch *touch, const sni_row *row, int i, double factor, bool *bound) {
  const sni_tree *t = touch->s->t;
  const int nrow = touch->st.group[touch->st.ngroup - 1].nrow;
  bool ok = true;
  memset(touch->column, 0, (size_t)t->nv * sizeof(double));
  for (int k = 0; k < 2 + row->ncoord; k++) {
    const int coord = k < 2 ? -1 : row->coord[k - 2];
    const int b = k < 2 ? row->body[k] : sni_tree_body_of(t, coord);
    const double coef = k < 2 ? 0 : factor * row->coef[k - 2];
    sni_lane6 f[SNI_GROUP_ROWS] = {{{0}, {0}}};
    if (b < 0) {
      continue;
    }
    if (k < 2) {
      f[i] = sni_lane6_addscaled(f[i], factor, sni_lane6_from(row->p[k]));
    }
    *bound = *bound || touch->bound[b];
    if (!touch->bound[b]) {
      ok = ok && walk(touch, nrow, b, f, i, coord, coef);
    } else if (k < 2) {
      add_column(touch, b, f[i], touch->column);
    } else {
      touch->column[coord] += coef;
    }
  }
  return ok;
}

/* A limit, a cone, a half-space: one row that pushes. */
static sn_status add_row(sni_touch *touch, const sni_row *row, sni_touch_solver solve, void *user,
                         sn_error *err) {
  sni_staggered *st = &touch->st;
  sni_group *g = sni_staggered_add(st, 1);
  if (!g) {
    return no_room(err);
  }
  touch->group[st->ngroup - 1] = (sni_touch_group){.contact = -1, .row = row, .slide = -1};
  add_part(g, SNI_IN_RANGE, 0, 1, 0);
  bool bound = false;
  const bool ok = add_loose(touch, row, 0, 1, &bound);
  sni_group_segment *segment =
      bound ? sni_staggered_touch(st, touch->s->t->nv, touch->nbig, false) : NULL;
  if (!ok || (bound && !segment)) {
    return no_room(err);
  }
  const sn_status status = bound ? add_solution(touch, segment, 0, solve, user) : SN_OK;
  if (row->ncoord > 0 && row->body[0] < 0 && row->body[1] < 0) {
    leave_out_still(touch, ease_of_coord(touch, row));
  }
  return status < 0 ? sni_fail(err, status, "no answer to a limit: the matrix is singular") : SN_OK;
}

/* Friction in a joint, whose columns are known: n slides within one disc, or one by itself. */
static sn_status add_slides(sni_touch *touch, int slide, int n, const double *arm, sn_error *err) {
  sni_staggered *st = &touch->st;
  const sni_rubbing *rub = touch->rub;
  const int nv = touch->s->t->nv;
  sni_group *g = sni_staggered_add(st, n);
  if (!g) {
    return no_room(err);
  }
  touch->group[st->ngroup - 1] = (sni_touch_group){
      .contact = -1, .row = sni_rubbing_row(rub, slide), .slide = slide, .arm = arm};
  g->shares = true;
  add_part(g, n == 3 ? SNI_IN_BALL : n == 2 ? SNI_IN_DISC : SNI_IN_LIMIT, 0, n, 0);
  g->part[0].of = -1;
  sni_group_segment *segment = NULL;
  for (int i = 0; i < n; i++) {
    const double factor = arm ? arm[i] : 1;
    bool bound = false;
    if (!add_loose(touch, sni_rubbing_row(rub, slide + i), i, factor, &bound)) {
      return no_room(err);
    }
    segment = bound && !segment ? sni_staggered_touch(st, nv, touch->nbig, false) : segment;
    if (bound && !segment) {
      return no_room(err);
    }
    const double *y = rub->Y + (size_t)rub->column_of[slide + i] * (size_t)nv;
    for (int k = 0; bound && k < touch->nbig; k++) {
      segment->h[i * touch->nbig + k] = touch->column[touch->big_ind[k]];
      segment->x[i * touch->nbig + k] = factor * y[touch->big_ind[k]];
    }
  }
  return SN_OK;
}

/* Slides of the program from the k-th on that rub within one disc. */
static int count_together(const sni_rubbing *r, int k) {
  const int slide = r->which[k];
  const sni_rub_disc *disc =
      slide < r->m->nslide && r->disc_of[slide] >= 0 ? &r->disc[r->disc_of[slide]] : NULL;
  const bool whole = disc && k + disc->count <= r->nslides &&
                     r->which[k + disc->count - 1] == disc->first + disc->count - 1;
  return whole && slide == disc->first ? disc->count : 1;
}

sn_status sni_touch_build(sni_touch *touch, bool factors, sni_touch_solver solve, void *user,
                          sn_error *err) {
  sni_staggered_clear(&touch->st);
  if (!factors) {
    sni_factorise(touch->s->t, &touch->s->in, &touch->s->d->w); /* of loose trees, they are right */
  }
  sn_status status = SN_OK;
  for (int k = 0; !status && k < touch->count; k++) {
    status = add_contact(touch, k, solve, user, err);
  }
  for (int i = 0; !status && touch->sim->d.rows && i < touch->sim->rows.napart; i++) {
    status = add_row(touch, &touch->sim->rows.sided[i], solve, user, err);
  }
  const int own = touch->st.ngroup; /* where nothing touches, joints rub by themselves */
  for (int k = 0, n = 0; !status && own > 0 && touch->rub && k < touch->rub->nslides; k += n) {
    const int slide = touch->rub->which[k];
    n = count_together(touch->rub, k);
    const double *arm = n > 1 ? touch->rub->disc[touch->rub->disc_of[slide]].own : NULL;
    status = add_slides(touch, slide, n, arm, err);
  }
  return status;
}

sn_status sni_touch_build_fresh(sni_touch *touch, sni_touch_solver solve, void *user,
                                sn_error *err) {
  sn_status status = SN_OK;
  for (int k = 0; !status && k < touch->count; k++) {
    status = touch->contact[k].fresh ? add_contact(touch, k, solve, user, err) : SN_OK;
  }
  return status;
}

/* ---- products ---- */

/* Of one body where it is touched, at the twists of the last product. */
static sn_vec3 velocity_at(const sni_touch *touch, const sni_contact *c, int side) {
  if (c->body[side] < 0) {
    return (sn_vec3){0, 0, 0};
  }
  const sn_vec6 a = sni_lane6_vec6(touch->s->d->w.a[c->body[side]]);
  return sn_vec3_add(a.v, sn_vec3_cross(a.w, arm_of(touch, c, side)));
}

/* The velocity of body[0] against body[1] where they touch, then the turning, along the frame. */
static void contact_rates(const sni_touch *touch, const sni_touch_group *tg, int nrow,
                          double *out) {
  const sni_contact *c = &touch->contact[tg->contact];
  const sn_vec3 v = sn_vec3_sub(velocity_at(touch, c, 0), velocity_at(touch, c, 1));
  sn_vec3 w = {0, 0, 0};
  for (int side = 0; side < 2; side++) {
    if (c->body[side] >= 0) {
      const sn_vec6 a = sni_lane6_vec6(touch->s->d->w.a[c->body[side]]);
      w = side == 0 ? a.w : sn_vec3_sub(w, a.w);
    }
  }
  for (int i = 0; i < nrow; i++) {
    out[i] = sn_vec3_dot(tg->frame[i % 3], i < 3 ? v : sn_vec3_scale(w, tg->lever));
  }
}

/* What of the shape keeps its place on the body, seen from the point where it is touched: the core
 * of what is round, the axis of a cylinder that lies on its side or stands on its rim, the centre
 * of an ellipsoid. */
static sn_vec3 to_core(const sni_touch *touch, const sni_contact *c, int side) {
  if (c->shape[side] >= touch->sim->m->nshape) {
    return (sn_vec3){0, 0, 0}; /* of a tube */
  }
  const sni_moving s = sni_finder_shape(touch->finder, c->shape[side]);
  const sn_vec3 n = side == 0 ? c->n : sn_vec3_neg(c->n), d = sn_vec3_sub(s.s.E.p, c->at[side]);
  if (s.s.c->core == SNI_CORE_ELLIPSOID) {
    return d;
  }
  if (s.s.c->core == SNI_CORE_CYLINDER) {
    const sn_vec3 axis = sn_mat3_col(s.s.E.R, 2);
    const sn_vec3 in = sn_vec3_addscaled(d, -sn_vec3_dot(d, axis), axis);
    const sn_vec3 up = sn_vec3_addscaled(n, -sn_vec3_dot(n, axis), axis);
    const double along = sn_vec3_dot(in, up), most = sn_vec3_norm(in) * sn_vec3_norm(up);
    const bool lowest = sn_vec3_norm(up) > UPRIGHT && along > (1 - UPRIGHT) * most;
    return lowest ? in : (sn_vec3){0, 0, 0};
  }
  return sn_vec3_scale(n, s.s.c->radius);
}

/* From the origin of the body to where it is touched, after a step that has led it where the
 * kinematics are: what is round is touched in another point of its surface then. */
static sn_vec3 arm_after(const sni_touch *touch, const sni_contact *c, int side) {
  const sn_se3 was = touch->began[c->body[side]];
  const sn_mat3 R = sni_link_R(&touch->s->d->w.link[c->body[side]]);
  const sn_vec3 core = to_core(touch, c, side);
  const sn_vec3 own = sn_vec3_sub(sn_vec3_add(c->at[side], core), was.p);
  return sn_vec3_sub(sn_mat3_mul_vec(R, sn_mat3_tmul_vec(was.R, own)), core);
}

/* Impulses x of a contact as a wrench on its body[0], or its opposite on body[1]. */
static sni_lane6 contact_wrench(const sni_touch_group *tg, int nrow, const double *x, int side,
                                sn_vec3 arm) {
  sn_vec3 f = {0, 0, 0}, couple = {0, 0, 0};
  for (int i = 0; i < nrow; i++) {
    sn_vec3 *to = i < 3 ? &f : &couple;
    const double much = (side == 0 ? x[i] : -x[i]) * (i < 3 ? 1 : tg->lever);
    *to = sn_vec3_addscaled(*to, much, tg->frame[i % 3]);
  }
  couple = sn_vec3_add(couple, sn_vec3_cross(arm, f));
  return (sni_lane6){sni_lane_from(couple), sni_lane_from(f)};
}

/* f += what impulses of group k do to the two bodies that it is on.  after: the step. */
static void add_wrenches(const sni_touch *touch, int k, const double *x, bool after, sni_lane6 *f) {
  const sni_touch_group *tg = &touch->group[k];
  for (int side = 0; side < 2; side++) {
    if (tg->contact >= 0) {
      const sni_contact *c = &touch->contact[tg->contact];
      const int body = c->body[side];
      if (body >= 0) {
        const sn_vec3 arm = after ? arm_after(touch, c, side) : arm_of(touch, c, side);
        const sni_lane6 p = contact_wrench(tg, touch->st.group[k].nrow, x, side, arm);
        f[body] = sni_lane6_addscaled(f[body], 1, p);
      }
    } else {
      for (int i = 0; i < touch->st.group[k].nrow; i++) {
        const sni_row *row = tg->row + i;
        const double push = tg->arm ? tg->arm[i] * x[i] : x[i];
        if (row->body[side] >= 0) {
          f[row->body[side]] =
              sni_lane6_addscaled(f[row->body[side]], push, sni_lane6_from(row->p[side]));
        }
      }
    }
  }
}

void sni_touch_rates(sni_touch *touch, const double *x, size_t offset, int first) {
  const sni_work *w = &touch->s->d->w;
  sni_J_mul_world(touch->s->t, &touch->s->d->w, x);
  for (int k = first; k < touch->st.ngroup; k++) {
    sni_touch_group *tg = &touch->group[k];
    double *out = (double *)(void *)((char *)tg + offset);
    for (int i = 0; tg->contact < 0 && i < touch->st.group[k].nrow; i++) {
      const sni_row *row = tg->row + i;
      out[i] = 0;
      for (int side = 0; side < 2; side++) {
        if (row->body[side] >= 0) {
          out[i] += sn_vec6_dot(row->p[side], sni_lane6_vec6(w->a[row->body[side]]));
        }
      }
      for (int j = 0; j < row->ncoord; j++) {
        out[i] += row->coef[j] * x[row->coord[j]];
      }
      out[i] *= tg->arm ? tg->arm[i] : 1;
    }
    if (tg->contact < 0) {
      continue;
    }
    contact_rates(touch, tg, touch->st.group[k].nrow, out);
  }
}

bool sni_touch_gains(sni_touch *touch, const double *qd, const double *qd1) {
  bool any = false;
  for (int k = 0; k < touch->st.ngroup && !any; k++) {
    any = touch->group[k].contact >= 0 && touch->group[k].material.restitution > 0;
  }
  if (!any) {
    return false;
  }
  for (int j = 0; j < touch->s->t->nv; j++) {
    touch->column[j] = qd1[j] - qd[j];
  }
  sni_J_mul_world(touch->s->t, &touch->s->d->w, touch->column);
  for (int k = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    sni_touch_group *tg = &touch->group[k];
    tg->gained = fabs(tg->free[0] - tg->start[0]);
    for (int side = 0; side < 2; side++) {
      const sni_contact *c = &touch->contact[tg->contact];
      tg->gained = fmax(tg->gained, fabs(sn_vec3_dot(c->n, velocity_at(touch, c, side))));
    }
  }
  return true;
}

void sni_touch_push(sni_touch *touch, const double (*x)[SNI_GROUP_ROWS], double *b) {
  sni_lane6 *f = touch->s->f;
  memset(f, 0, (size_t)touch->s->t->nbody * sizeof *f);
  memset(touch->column, 0, (size_t)touch->s->t->nv * sizeof(double));
  for (int k = 0; k < touch->st.ngroup; k++) {
    add_wrenches(touch, k, x[k], false, f);
  }
  sni_system_project(touch->s, f, touch->column);
  for (int j = 0; j < touch->s->t->nv; j++) {
    b[j] += touch->column[j];
  }
  for (int k = 0; k < touch->st.ngroup; k++) {
    const sni_touch_group *tg = &touch->group[k];
    for (int i = 0; tg->row && i < touch->st.group[k].nrow; i++) {
      const sni_row *row = tg->row + i;
      for (int j = 0; j < row->ncoord; j++) {
        b[row->coord[j]] += x[k][i] * (tg->arm ? tg->arm[i] : 1) * row->coef[j];
      }
    }
  }
}

void sni_touch_wrenches(const sni_touch *touch, double h, bool after, sn_vec6 *out) {
  sni_lane6 *f = touch->s->f;
  const int nbody = touch->s->t->nbody;
  memset(f, 0, (size_t)nbody * sizeof *f);
  for (int k = 0; k < touch->st.ngroup; k++) {
    add_wrenches(touch, k, touch->shift_x[k], after, f);
  }
  for (int i = 0; i < nbody; i++) {
    out[i] = sn_vec6_scale(sni_lane6_vec6(f[i]), 1 / h);
  }
}
