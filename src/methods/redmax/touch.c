/* touch.c: what contact does in one step of `redmax`.
 *
 * In this order: what comes in fast bounces; then Staggered Projections over all that touches; then
 * what has got into each other is moved apart without getting speed. */
#include "methods/redmax/touch.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Coordinates of a chain that rows have in one segment, at most. */
enum { RUN_MAX = 24 };
/* Of what bodies would answer alone, so much more they do between things that motions drive. */
#define SQUEEZED 1e-8
/* Of all groups that there is room for, so many may come late in a step without all being built
 * anew. */
enum { LATE_PART = 16, LATE_LEAST = 64 };
/* Of the thinnest shape: by so much rates may lead it astray in a step, where sweeps are many. */
#define ROUGH 0.02
/* Of the thinnest shape: ways that others need not be told of in the same step. */
#define ENOUGH 0.005
/* What moves by less than this part of the thinnest shape in a step stands: it does not bounce, and
 * digits of its rates are not asked for.  They go to 0 for ever where nothing drives them. */
#define STANDS 1e-8

/* Of what gravity adds in a step: what is slower rests, and stays at rest if it can. */
#define RESTS 1e-3

/* The least forces of an island: work that they may take, and what of the tolerance they may change
 * where joints rub by them. */
#define RELIEF           3e3
#define RELIEF_OF_JOINTS 2e6
#define ALIKE            0.1

/* ---- the law of a contact ---- */

static double penetration_gain(const sni_touch *touch) {
  const sn_options *o = &touch->sim->options;
  return o->redmax.activation == SN_ACTIVATION_PENETRATION ? o->redmax.gain : 0;
}

/* By functions of time. */
static bool is_driven(const sni_touch *touch) {
  return touch->sim->d.rows && !touch->sim->rows.timeless;
}

double sni_touch_resting(const sni_touch *touch) {
  return fmax(touch->slowest, RESTS * touch->margin / (2 * touch->s->h));
}

/* Normals and tangents. */
static bool is_below(const double *rate, int nrow, double most) {
  bool below = true;
  for (int i = 0; i < nrow && i < 3; i++) {
    below = below && fabs(rate[i]) < most;
  }
  return below;
}

/* c and e of group k; a group that takes no part gets none. */
static void aim(sni_touch *touch, int k, double h) {
  sni_group *g = &touch->st.group[k];
  sni_touch_group *tg = &touch->group[k];
  const double gain = penetration_gain(touch);
  double to, soft = 0, rate = 0;
  if (tg->slide >= 0) {
    to = 0; /* it sticks, if the limit lets it */
    g->part[0].limit = h * sni_rubbing_bound(touch->rub, tg->slide) / (tg->arm ? tg->arm[0] : 1);
    for (int i = 0; i < g->nrow; i++) {
      g->x[i] = -touch->rub->push[tg->slide + i] / (tg->arm ? tg->arm[i] : 1);
    }
  } else if (tg->contact < 0) {
    tg->gap = tg->row->g;
    rate = tg->row->rate;
    to = sni_unilateral_aim(tg->row, h, gain, tg->start[0] + rate, &soft);
    if (gain == 0 && !(soft > 0) && to == -tg->row->g / h) {
      to = fmin(to, 0); /* what is beyond is moved back, as contacts are, and gets no speed */
    }
  } else {
    const double gap = tg->gap = touch->contact[tg->contact].gap;
    const sni_material *m = &tg->material;
    g->touches = true;
    g->open = fmax(gap, 0) / h;
    g->rests = gap < h * sni_touch_resting(touch) &&
               is_below(tg->start, g->nrow, sni_touch_resting(touch));
    if (m->stiffness > 0) {
      const double stiff = h * m->stiffness + m->damping;
      soft = 1 / (h * stiff);
      to = -m->stiffness * gap / stiff;
    } else if (gain > 0) {
      to = gap < 0 ? fmax(-gain * gap, -m->restitution * tg->start[0]) : SNI_LET_GO;
    } else {
      to = gap > 0 ? -gap / h : 0;
    }
  }
  if (is_driven(touch)) { /* what motions squeeze gives way, before impulses know no end */
    soft = fmax(soft, SQUEEZED * tg->ease);
  }
  if (to == SNI_LET_GO) {
    g->npart = 0;
    memset(g->x, 0, sizeof g->x);
    return;
  }
  g->weighed = g->weighed && g->e[0] == soft;
  g->e[0] = soft;
  for (int i = 0; i < g->nrow; i++) {
    g->c[i] = (i == 0 ? to - rate : 0) - tg->free[i];
  }
}

/* ---- the step ---- */

/* The numbers of sleep stand behind those of contacts. */
static double *sleep_state(const sni_touch *touch, double *state) {
  return state + 1 + (ptrdiff_t)SNI_TOUCH_NUMBERS * sni_touch_memory_count(touch->sim->m);
}

sn_status sni_touch_find(sni_touch *touch, double h, const double *q, const double *qd,
                         const sn_input *input, double *state, sn_error *err) {
  sni_dynamics *d = touch->s->d;
  const double *g = d->params.gravity;
  double *numbers = sleep_state(touch, state);
  /* what falls for a step gains h g; twice that for what is pushed as well */
  const double margin = 2 * h * h * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  touch->margin = margin;
  touch->nbefore = touch->looks = 0;
  sni_dynamics_poses(d);
  memcpy(touch->began, d->E_wb, (size_t)touch->s->t->nbody * sizeof *touch->began);
  memcpy(touch->seen, d->phi, (size_t)touch->s->t->nbody * sizeof *touch->seen);
  sni_sleep_begin(&touch->sleep, q, qd, input, numbers);
  sn_status status;
  do {
    sni_finder_let_sleep(touch->finder, touch->sleep.any ? touch->sleep.asleep : NULL);
    status = sni_contacts_find(touch->finder, &d->params, d->E_wb, d->phi, h, margin,
                               &touch->contact, &touch->count, err);
  } while (!status && sni_sleep_touched(&touch->sleep, touch->contact, touch->count, numbers));
  return status;
}

void sni_touch_end(sni_touch *touch, double h, const double *q, double *q1, double *qd1,
                   double *state) {
  if (touch->sleep.seconds > 0) {
    sni_J_mul_world(touch->s->t, &touch->s->d->w, qd1);
  }
  sni_touch_save(touch, state);
  sni_sleep_end(&touch->sleep, h, touch->contact, touch->count, q, q1, qd1,
                sleep_state(touch, state));
}

/* What contacts did, for those who look: points that push. */
static void show(sni_touch *touch, double h) {
  int n = 0;
  for (int k = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    const sni_touch_group *tg = &touch->group[k];
    const sni_contact *c = &touch->contact[tg->contact];
    sn_vec3 f = {0, 0, 0};
    for (int i = 0; i < 3 && i < touch->st.group[k].nrow; i++) {
      f = sn_vec3_addscaled(f, (touch->least[k][i] + tg->blow[i]) / h, tg->frame[i]);
    }
    if (sn_vec3_dot(f, f) > 0) {
      touch->force[n] = (sni_contact_force){f, sn_vec3_dot(f, c->n)};
      touch->point[n++] =
          (sn_contact_point){.body = c->body[0] >= 0 ? (uint32_t)c->body[0] : SN_WORLD,
                             .other = c->body[1] >= 0 ? (uint32_t)c->body[1] : SN_WORLD,
                             .point = {(float)c->x.x, (float)c->x.y, (float)c->x.z},
                             .normal = {(float)c->n.x, (float)c->n.y, (float)c->n.z},
                             .force = {(float)f.x, (float)f.y, (float)f.z}};
    }
  }
  touch->sim->touch = touch->point;
  touch->sim->ntouch = n;
}

/* x . H v, with the rates of the end of the step: the solver has them beside its answer. */
static void calc_work(sni_touch *touch) {
  touch->work[0] = touch->work[1] = 0;
  for (int k = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    const sni_group *g = &touch->st.group[k];
    for (int i = 0; i < g->nrow && g->npart > 0; i++) {
      const double rate = touch->group[k].free[i] + g->w[i] + g->c[i] - g->e[i] * g->x[i];
      touch->work[i > 0] += g->x[i] * rate;
    }
  }
}

/* Does it only take?  What motions drive, and surfaces that are springs, may also give. */
static bool only_takes(const sni_touch *touch, int i) {
  const sni_touch_group *tg = &touch->group[i];
  return !is_driven(touch) && !(tg->contact >= 0 && tg->material.stiffness > 0);
}

/* Impulses x change the energy by  x . (u + 1/2 W x),  u the rates without them, which is below 0
 * by what the law says.  Where it is not, since they were not found, or since jammed bodies press
 * each other a million times as hard as they move, so much of them is taken as leaves it least.
 * fresh: only islands that are. */
static void take_no_energy(sni_touch *touch, bool fresh) {
  sni_staggered *st = &touch->st;
  for (int k = 0; k < st->nisland; k++) {
    const sni_island *island = &st->island[k];
    if (fresh && !island->fresh) {
      continue;
    }
    double xu = 0, xWx = 0;
    bool takes = true;
    for (int j = 0; takes && j < island->count; j++) {
      const int i = st->order[island->first + j];
      const sni_group *g = &st->group[i];
      takes = only_takes(touch, i);
      for (int r = 0; r < g->nrow && g->npart > 0; r++) {
        const double u = touch->group[i].free[r] + touch->group[i].came[r];
        const double end = touch->group[i].free[r] + g->w[r] + g->c[r] - g->e[r] * g->x[r];
        xu += g->x[r] * u;
        xWx += g->x[r] * (end - u);
      }
    }
    if (!takes || !(xu + 0.5 * xWx > 0)) {
      continue;
    }
    const double part = xWx > 0 ? fmax(0, fmin(1, -xu / xWx)) : 0;
    for (int j = 0; j < island->count; j++) {
      sni_group *g = &st->group[st->order[island->first + j]];
      double back[SNI_GROUP_ROWS];
      for (int r = 0; r < g->nrow; r++) {
        back[r] = (part - 1) * g->x[r];
        g->x[r] *= part;
      }
      sni_staggered_add_impulse(st, g, back);
    }
    for (int j = 0; j < island->count; j++) {
      sni_group *g = &st->group[st->order[island->first + j]];
      sni_staggered_rates(st, g, g->w);
      for (int r = 0; r < g->nrow; r++) {
        g->w[r] += g->e[r] * g->x[r] - g->c[r];
      }
    }
  }
}

void sni_touch_take_impulses(sni_touch *touch) {
  touch->pushes = false;
  for (int k = 0; k < touch->st.ngroup; k++) {
    for (int i = 0; i < SNI_GROUP_ROWS; i++) { /* friction in joints is for others to find */
      const double x = touch->group[k].slide < 0 ? touch->least[k][i] : 0;
      touch->shift_x[k][i] = x + touch->group[k].blow[i];
      touch->pushes = touch->pushes || touch->shift_x[k][i] != 0;
    }
  }
}

static sni_staggered_options options_of(const sni_touch *touch) {
  const sn_options *from = &touch->sim->options;
  return (sni_staggered_options){.tolerance = from->redmax.contact.tolerance,
                                 .least = touch->slowest,
                                 .max_iterations = from->redmax.contact.max_iterations,
                                 .sides = from->redmax.contact.sides,
                                 .rough = ROUGH * touch->thinnest / touch->s->h};
}

static void note_contacts(const sni_touch *touch, sn_info *info) {
  info->contacts = touch->count > info->contacts ? touch->count : info->contacts; /* of substeps */
  for (int k = 0; k < touch->count; k++) {
    info->deepest = fmax(info->deepest, -touch->contact[k].gap);
  }
}

/* The least impulses; what was mended has no islands, and stays as it is. */
static void share_out(sni_touch *touch, bool mended) {
  const sni_staggered_options o = options_of(touch);
  const sni_relief relief = {.work = touch->feels ? RELIEF_OF_JOINTS : RELIEF,
                             .part = touch->feels ? ALIKE : 0};
  if (!mended) {
    sni_staggered_relieve(&touch->st, &o, &relief, touch->least);
  }
  for (int k = 0; mended && k < touch->st.ngroup; k++) {
    memcpy(touch->least[k], touch->st.group[k].x, sizeof touch->least[k]);
  }
}

/* What was found, as impulses on bodies. */
static void take_found(sni_touch *touch, const sni_staggered_info *found, bool mended,
                       sn_info *info) {
  if (penetration_gain(touch) == 0) {
    take_no_energy(touch, mended);
  }
  info->contact_iterations += found->iterations;
  touch->residual = found->residual;
  share_out(touch, mended);
  sni_touch_take_impulses(touch);
  sni_touch_push(touch, (const double(*)[SNI_GROUP_ROWS])touch->shift_x, touch->s->b);
}

/* The law of Coulomb has several answers, the others do not. */
static bool may_rest(const sni_touch *touch) {
  return penetration_gain(touch) == 0 &&
         touch->sim->options.redmax.contact.model == SN_CONTACT_STAGGERED;
}

sn_status sni_touch_solve(sni_touch *touch, double h, const double *qd, const double *qd1,
                          const double *state, bool factors, sni_touch_solver solve, void *user,
                          sn_info *info, sn_error *err) {
  sni_staggered *st = &touch->st;
  touch->slowest = isfinite(touch->thinnest) ? STANDS * touch->thinnest / h : 0;
  touch->feels = touch->rub && sni_rubbing_may(touch->rub);
  const sni_staggered_options o = options_of(touch);
  sn_status status = state ? sni_touch_build(touch, factors, solve, user, err) : SN_OK;
  if (status) {
    return status;
  }
  touch->pushes = touch->shifts = false;
  touch->work[0] = touch->work[1] = 0;
  touch->residual = 0;
  note_contacts(touch, info);
  touch->sim->ntouch = 0;
  if (st->ngroup == 0) {
    return SN_OK;
  }
  sni_touch_rates(touch, qd1, offsetof(sni_touch_group, free), 0);
  if (state) {
    sni_touch_rates(touch, qd, offsetof(sni_touch_group, start), 0);
    touch->bounces = sni_touch_gains(touch, qd, qd1);
    memset(st->v, 0, (size_t)st->room.nv * sizeof *st->v);
    for (int k = 0; k < st->ngroup; k++) {
      touch->parts[k] = st->group[k].npart;
    }
    if (touch->bounces && penetration_gain(touch) == 0) {
      sni_touch_bounce(touch, h, &o);
    }
    sni_touch_remember(touch, state, 0);
    sni_touch_recall(touch);
  } else {
    sni_touch_start_from_blows(touch);
    sni_touch_restore_parts(touch, touch->parts);
  }
  for (int k = 0; k < st->ngroup; k++) {
    sni_staggered_rates(st, &st->group[k], touch->group[k].came); /* by blows alone */
    aim(touch, k, h);
  }
  sni_staggered_info found;
  sni_staggered_options stay = o;
  stay.rest = may_rest(touch) ? sni_touch_resting(touch) : 0;
  sni_staggered_solve(st, &stay, &found);
  take_found(touch, &found, false, info);
  return SN_OK;
}

/* ---- once more, with a few that came late ---- */

static int count_fresh(const sni_touch *touch) {
  int n = 0;
  for (int k = 0; k < touch->count; k++) {
    n += touch->contact[k].fresh;
  }
  return n;
}

bool sni_touch_may_mend(const sni_touch *touch) {
  return touch->st.ngroup > 0 && touch->nbig == 0 && !touch->rub && touch->sim->m->nslide == 0 &&
         !touch->sim->d.rows && !touch->bounces && count_fresh(touch) <= touch->nlate;
}

/* Groups behind the first `before` to their places: all are in the order of contacts. */
static void put_in_place(sni_touch *touch, int before) {
  sni_staggered *st = &touch->st;
  const int n = st->ngroup - before;
  memcpy(touch->late, st->group + before, (size_t)n * sizeof *touch->late);
  memcpy(touch->late_group, touch->group + before, (size_t)n * sizeof *touch->late_group);
  for (int k = st->ngroup - 1, i = before - 1, j = n - 1; j >= 0; k--) {
    if (touch->contact[k].fresh) {
      st->group[k] = touch->late[j];
      touch->group[k] = touch->late_group[j--];
      touch->parts[k] = st->group[k].npart;
    } else {
      st->group[k] = st->group[i];
      st->packed[k] = st->packed[i];
      touch->group[k] = touch->group[i];
      touch->group[k].contact = k;
      touch->parts[k] = touch->parts[i--];
    }
  }
}

sn_status sni_touch_mend(sni_touch *touch, double h, const double *qd, const double *free,
                         const double *state, sni_touch_solver solve, void *user, sn_info *info,
                         sn_error *err) {
  sni_staggered *st = &touch->st;
  sni_staggered_options o = options_of(touch);
  o.enough = ENOUGH * touch->thinnest / h;
  o.rest = may_rest(touch) ? sni_touch_resting(touch) : 0;
  const int before = st->ngroup;
  const sn_status status = sni_touch_build_fresh(touch, solve, user, err);
  if (status) {
    return status;
  }
  note_contacts(touch, info);
  sni_touch_rates(touch, free, offsetof(sni_touch_group, free), before);
  sni_touch_rates(touch, qd, offsetof(sni_touch_group, start), before);
  sni_touch_remember(touch, state, before);
  for (int k = before; k < st->ngroup; k++) {
    st->group[k].fresh = true;
    aim(touch, k, h);
  }
  put_in_place(touch, before);
  sni_staggered_info found;
  sni_staggered_mend(st, &o, &found);
  take_found(touch, &found, true, info);
  return SN_OK;
}

sn_status sni_touch_finish(sni_touch *touch, double h, sni_touch_solver solve, void *user) {
  if (touch->st.ngroup == 0) {
    return SN_OK;
  }
  const sni_staggered_options o = options_of(touch);
  sn_status status = SN_OK;
  calc_work(touch);
  sni_touch_note_sticking(touch);
  if (penetration_gain(touch) == 0) {
    status = sni_touch_part(touch, h, &o, solve, user);
  }
  sni_touch_take_impulses(touch);
  show(touch, h);
  return status < 0 ? status : SN_OK;
}

static const char *name_of(const sni_touch *touch, int shape) {
  const int body = sni_model_shape_body(touch->sim->m, shape);
  return body >= 0 ? touch->sim->m->name[body] : "world";
}

/* How fast bodies go into each other: what the softness of group k takes, or all of it where
 * nothing answers. */
static double driven_in(const sni_touch *touch, int k) {
  const sni_group *g = &touch->st.group[k];
  const sni_touch_group *tg = &touch->group[k];
  if (g->W[0] > g->e[0]) {
    return SQUEEZED * tg->ease * g->x[0];
  }
  const double gap = tg->contact >= 0 ? touch->contact[tg->contact].gap : 0;
  return tg->contact >= 0 ? -fmax(gap, 0) / touch->s->h - tg->free[0] : g->c[0];
}

static double island_scale(const sni_touch *touch, int k) {
  const int island = touch->st.group[k].island;
  return island >= 0 ? touch->st.island[island].scale : 0;
}

sn_status sni_touch_check(const sni_touch *touch, double t, sn_error *err) {
  if (!is_driven(touch)) {
    return SN_OK;
  }
  for (int k = 0; k < touch->st.ngroup; k++) {
    const sni_group *group = &touch->st.group[k];
    const sni_touch_group *tg = &touch->group[k];
    const double into = driven_in(touch, k), scale = island_scale(touch, k);
    if (group->npart == 0 || tg->slide >= 0 || !(scale > 0 && into > 0.01 * scale)) {
      continue;
    }
    if (tg->contact < 0) {
      const sni_rows *rows = &touch->sim->rows;
      const int c = rows->sided_of[tg->row - rows->sided];
      return sni_fail(err, SN_E_UNCONVERGED,
                      "at t = %g: the limit of '%s' cannot hold, other constraints move it by %.3g "
                      "a second: give them another course, or the limit more room",
                      t, touch->sim->m->constraint_name[c], into);
    }
    const sni_contact *c = &touch->contact[tg->contact];
    return sni_fail(err, SN_E_UNCONVERGED,
                    "at t = %g: '%s' is driven into '%s' by %.3g a second, and nothing can give "
                    "way: let motions take another course, or bodies pass (ignore)",
                    t, name_of(touch, c->shape[0]), name_of(touch, c->shape[1]), into);
  }
  return SN_OK;
}

/* ---- memory ---- */

/* Trees that something binds: pairs of forces, and constraints that hold both ways. */
static void find_bound(sni_touch *touch) {
  const sni_system *s = touch->s;
  const sni_tree *t = s->t;
  const sni_rows *rows = &touch->sim->rows;
  int *root = touch->big; /* scratch: nv may be less than nbody, so it has room for both */
  for (int i = 0; i < t->nbody; i++) {
    root[i] = t->parent[i] >= 0 ? root[t->parent[i]] : i;
    touch->bound[i] = false;
  }
  for (int k = 0; k < s->npairs; k++) {
    for (int side = 0; sni_system_couples(s, k) && side < 2; side++) {
      touch->bound[root[s->pair[k][side]]] = true;
    }
  }
  for (int k = 0; touch->sim->d.rows && k < rows->nconstraint; k++) {
    const sni_constraint *c = &rows->constraint[k];
    if (c->nsided == c->nrow) {
      continue;
    }
    for (int side = 0; side < 2; side++) {
      if (c->body[side] >= 0) {
        touch->bound[root[c->body[side]]] = true;
      }
    }
    for (int j = 0; j < c->ncoord; j++) {
      touch->bound[root[sni_tree_body_of(t, c->coord[j])]] = true;
    }
  }
  for (int i = 0; i < t->nbody; i++) {
    touch->bound[i] = touch->bound[root[i]];
  }
  touch->nbig = 0;
  for (int i = 0; i < t->nbody; i++) {
    for (int k = t->vadr[i]; touch->bound[i] && k < t->vadr[i + 1]; k++) {
      touch->big_ind[touch->nbig++] = k;
    }
  }
}

/* Chains that do not branch have long segments: whole vectors instead of a number or two.  A row
 * that begins within one has zeros behind. */
static void find_runs(sni_touch *touch) {
  const sni_tree *t = touch->s->t;
  int *children = touch->parts, *first = touch->big; /* scratch */
  memset(children, 0, (size_t)t->nbody * sizeof *children);
  for (int i = 0; i < t->nbody; i++) {
    if (t->parent[i] >= 0) {
      children[t->parent[i]]++;
    }
  }
  for (int i = 0; i < t->nbody; i++) {
    const int p = t->parent[i], adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    const bool on = p >= 0 && children[p] == 1 && t->vadr[p + 1] == adr &&
                    adr + nv - touch->run[first[p]].adr <= RUN_MAX;
    first[i] = on ? first[p] : i;
    touch->run[first[i]] =
        on ? (sni_touched){touch->run[first[i]].adr, adr + nv - touch->run[first[i]].adr}
           : (sni_touched){adr, nv};
  }
  for (int i = 0; i < t->nbody; i++) {
    touch->run[i] = touch->run[first[i]];
  }
}

/* Coordinates on the longest way to the ground, in loose trees, and joints. */
static void find_ways(const sni_touch *touch, int *coordinates, int *joints) {
  const sni_tree *t = touch->s->t;
  int *way = touch->big, *count = touch->parts;
  *coordinates = *joints = 0;
  for (int i = 0; i < t->nbody; i++) {
    const int p = t->parent[i], nv = t->vadr[i + 1] - t->vadr[i];
    way[i] = (p >= 0 ? way[p] : 0) + nv;
    const int to = touch->run[i].adr + touch->run[i].n; /* rows have zeros up to there */
    count[i] = (p >= 0 ? count[p] : 0) + (nv > 0);
    if (!touch->bound[i]) {
      const int all = way[i] + to - t->vadr[i + 1];
      *coordinates = all > *coordinates ? all : *coordinates;
      *joints = count[i] > *joints ? count[i] : *joints;
    }
  }
}

static size_t lay_out(sni_touch *touch, int ngroup, char *memory) {
  const sn_model *m = touch->sim->m;
  const size_t nbody = (size_t)m->tree.nbody, nv = (size_t)m->tree.nv, n = (size_t)ngroup;
  const size_t either = (nbody > nv ? nbody : nv) + n;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  touch->group = TAKE(n, sizeof *touch->group);
  touch->point = TAKE(n, sizeof *touch->point);
  touch->force = TAKE(n, sizeof *touch->force);
  touch->sum = TAKE(nbody, sizeof *touch->sum);
  touch->whole = TAKE(nbody, sizeof *touch->whole);
  touch->half = TAKE(nbody, sizeof *touch->half);
  touch->shift_x = TAKE(n, sizeof *touch->shift_x);
  touch->least = TAKE(n, sizeof *touch->least);
  touch->column = TAKE(nv, sizeof *touch->column);
  touch->solution = TAKE(nv, sizeof *touch->solution);
  touch->shift = TAKE(nv, sizeof *touch->shift);
  touch->parted = TAKE(nv, sizeof *touch->parted);
  touch->straight = TAKE(nv, sizeof *touch->straight);
  touch->driven = TAKE(nbody, sizeof *touch->driven);
  touch->zero = TAKE((size_t)m->nrow + 1, sizeof *touch->zero);
  touch->big = TAKE(either, sizeof *touch->big);
  touch->parts = TAKE(either, sizeof *touch->parts);
  touch->big_ind = TAKE(nv, sizeof *touch->big_ind);
  touch->kept = TAKE((size_t)sni_touch_memory_count(m), sizeof *touch->kept);
  touch->before = TAKE(n, sizeof *touch->before);
  touch->nlate = ngroup / LATE_PART + LATE_LEAST;
  touch->late = TAKE((size_t)touch->nlate, sizeof *touch->late);
  touch->late_group = TAKE((size_t)touch->nlate, sizeof *touch->late_group);
  void *sleep = TAKE(sni_sleep_size(m), 1);
  sni_smooth *smooth = &touch->smooth;
  smooth->link = TAKE(nbody, sizeof *smooth->link);
  for (int k = 0; k < 3; k++) {
    smooth->acting[k] = TAKE(nbody, sizeof *smooth->acting[k]);
  }
  smooth->most = TAKE(nbody, sizeof *smooth->most);
  smooth->broken = TAKE(nbody, sizeof *smooth->broken);
  smooth->state = TAKE((size_t)sni_touch_state_count(m), sizeof *smooth->state);
  touch->reach = TAKE(nbody, sizeof *touch->reach);
  touch->phi = TAKE(nbody, sizeof *touch->phi);
  touch->then = TAKE(nbody, sizeof *touch->then);
  touch->back = TAKE(n, sizeof *touch->back);
  touch->began = TAKE(nbody, sizeof *touch->began);
  touch->seen = TAKE(nbody, sizeof *touch->seen);
  touch->keeps = TAKE(nbody, sizeof *touch->keeps);
  touch->turned = TAKE(nbody, sizeof *touch->turned);
  touch->other = TAKE(nbody, sizeof *touch->other);
  touch->led = TAKE(nbody, sizeof *touch->led);
  touch->bound = TAKE(nbody, sizeof *touch->bound);
  touch->hinge = TAKE(nbody, sizeof *touch->hinge);
  touch->run = TAKE(nbody, sizeof *touch->run);
#undef TAKE
  if (memory) {
    sni_sleep_place(&touch->sleep, touch->sim, touch->s, sleep);
  }
  return used;
}

sn_status sni_touch_create(sn_sim *sim, sni_system *s, const sni_rubbing *rub, sni_touch **out,
                           sn_error *err) {
  enum { ROWS = 3, CROWDED = 64, LEAST = 1000 };
  *out = NULL;
  sni_finder *finder = NULL;
  const sn_status status = sni_finder_create(sim->m, 0, &finder, err);
  if (status) {
    return status;
  }
  const int points = sni_finder_capacity(finder), rubs = rub->capacity,
            ngroup = points + sim->m->nsided + rubs;
  sni_touch start = {.sim = sim, .s = s, .rub = rubs > 0 ? rub : NULL, .finder = finder};
  const size_t own = (sizeof start + 63) / 64 * 64, size = own + lay_out(&start, ngroup, NULL);
  char *memory = sni_memory_take(size);
  if (!memory) {
    sni_finder_free(&finder);
    return sni_fail(err, SN_E_MEMORY, "no memory for contacts of %zu bytes", size);
  }
  memset(memory, 0, own);
  sni_touch *touch = (sni_touch *)(void *)memory;
  *touch = start;
  lay_out(touch, ngroup, memory + own);
  memset(touch->zero, 0, ((size_t)sim->m->nrow + 1) * sizeof *touch->zero);
  for (int k = 0; k < s->t->nrun; k++) {
    for (int i = 0; i < s->t->run[k].count; i++) {
      touch->hinge[s->t->run[k].first + i] = s->t->run[k].hinge;
    }
  }
  sni_touch_measure(touch);
  find_runs(touch);
  find_bound(touch);
  int coordinates, joints;
  find_ways(touch, &coordinates, &joints);
  /* rows of two bodies each, as deep as trees are, or as wide as the common block; where rows are
   * long there are not as many of them as there could be points */
  const size_t each = 2 * ((size_t)coordinates + (size_t)touch->nbig);
  const size_t short_rows = (size_t)ngroup,
               long_rows =
                   CROWDED * (size_t)(sim->m->nshape + sim->m->nbead) + LEAST + (size_t)rubs;
  const size_t rows = each <= 24 || short_rows < long_rows ? short_rows : long_rows;
  const sni_staggered_room room = {.nv = s->t->nv + touch->nbig,
                                   .ngroup = ngroup,
                                   .nsegment = (int)(rows * (2 * (size_t)joints + 1)),
                                   .numbers = rows * ROWS * each};
  touch->memory = sni_memory_take(sni_staggered_size(&room));
  if (!touch->memory) {
    sni_touch_free(&touch);
    return sni_fail(err, SN_E_MEMORY, "no memory for rows of contacts of %zu bytes",
                    sni_staggered_size(&room));
  }
  sni_staggered_place(&touch->st, &room, touch->memory);
  *out = touch;
  return SN_OK;
}

void sni_touch_free(sni_touch **touch) {
  if (*touch) {
    sni_finder_free(&(*touch)->finder);
    free((*touch)->memory);
  }
  free(*touch);
  *touch = NULL;
}
