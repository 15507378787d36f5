/* rub_follow.c: from one turn of loads and friction to the next: where the bounds go. */
#include "methods/redmax/rub.h"

#include "math/dense.h"

#include <string.h>

/* Turns that are remembered, and turns without getting better before steps become shorter. */
enum { MEMORY = SNI_RUB_MEMORY, PATIENCE = 8, MISLED = 4 };
/* Turns without getting better before the best that there was is taken. */
enum { TIRED = 45, TIRED_OF_JAMS = 5 };
/* Newton's steps in a row, and turns of a march. */
enum { NEWTONS = 5, MARCHES = 20 };
/* How far marches go, by what the bounds miss. */
#define NEAREST  0.125
#define FURTHEST 16.0
/* Bounds are never so many times what the first loads and rates ask for.  More would do the same,
 * but the program then ends at a corner so far out that what sticks there does so to rounding of
 * that. */
#define BEYOND 1e4
/* Friction of this part of what would stop a slide is small. */
#define NOTHING 1e-6
/* And a load of this part of the largest; with contacts, which are known to a tolerance of their
 * own.
 */
#define LIGHT          1e-4
#define LIGHT_TOUCHING 0.1
/* Of the way, the least that a turn goes. */
#define SHORTEST 0.03

double sni_rubbing_used(const sni_rubbing *r, int k) {
  const sni_rub_disc *disc = r->disc_of[k] >= 0 ? &r->disc[r->disc_of[k]] : NULL;
  double sum = 0;
  for (int i = 0; disc && i < disc->count; i++) {
    const double z = r->force[disc->first + i] / disc->own[i];
    sum += z * z;
  }
  return disc ? disc->own[k - disc->first] * sqrt(sum) : fabs(r->force[k]);
}

/* Is there friction at its bound in the c-th way of a rub?  If not, another bound changes nothing.
 */
static bool is_bound(const sni_rubbing *r, const sni_rub *rub, int c) {
  const double nearly = 0.999, exactly = 1 - 1e-9;
  const int k = rub->first + c;
  bool any = sni_rubbing_used(r, k) >= exactly * fmin(r->bound[k], r->next[k]);
  for (int i = 0; sni_rubbing_apart(r, rub) && i < sni_rub_tangents(rub); i++) {
    const int at = rub->first_tangent + i;
    any = any || fabs(r->beta[at]) >= nearly * r->s->h * fmin(r->allowed[at], r->limit[at]);
  }
  return any;
}

/* Which mechanism each rub is in, by a body of it: bodies that joints or constraints bind together.
 */
void sni_rubbing_find_mechanisms(const sn_model *m, int *of_body, int *mechanism) {
  for (int i = 0; i < m->tree.nbody; i++) {
    of_body[i] = m->tree.parent[i] >= 0 ? of_body[m->tree.parent[i]] : i;
  }
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    int bound[2 + SNI_COORD_MAX], n = 0;
    for (int side = 0; side < 2; side++) {
      if (c->body[side] >= 0) {
        bound[n++] = c->body[side];
      }
    }
    for (int j = 0; j < c->ncoord; j++) {
      bound[n++] = sni_tree_body_of(&m->tree, c->coord[j]);
    }
    for (int j = 1; j < n; j++) {
      const int from = of_body[bound[j]], to = of_body[bound[0]];
      for (int i = 0; i < m->tree.nbody && from != to; i++) {
        of_body[i] = of_body[i] == from ? to : of_body[i];
      }
    }
  }
  for (int k = 0; k < m->nrub; k++) {
    const sni_rub *rub = &m->rub[k];
    const int *body = rub->body >= 0 ? &rub->body : m->constraint[rub->loop].body;
    const int own = *body >= 0 ? *body : m->constraint[rub->loop].body[1];
    mechanism[k] = own >= 0 ? of_body[own] : 0;
  }
}

/* The largest force of contacts on a body. */
static double find_pressed(const sni_rubbing *r) {
  double most = 0;
  for (int i = 0; r->touches && i < r->s->t->nbody; i++) {
    most = fmax(most, sn_vec3_norm(r->touched[i].v));
  }
  return most;
}

/* What the bound of each slide is small or large against: what its loads ask for, and what is
 * there; where that comes to nothing, a little of what would stop it.  A bound that nobody needs
 * may be anything.  Loads that are nothing against those of other joints of the mechanism, or of
 * contacts, are known no better than by a part of these: bounds are compared as forces on the
 * surfaces. */
static void find_scales(sni_rubbing *r) {
  const double light = r->touches ? LIGHT_TOUCHING : LIGHT, pressed = find_pressed(r);
  memset(r->heaviest, 0, (size_t)r->s->t->nbody * sizeof *r->heaviest);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < r->m->nrub; i++) {
      const sni_rub *rub = &r->m->rub[i];
      double *most = &r->heaviest[r->touches ? 0 : r->mechanism[i]];
      for (int c = 0; c < rub->nslide; c++) {
        const int k = rub->first + c;
        const double arm = sni_rub_arm(rub, c);
        if (pass == 0) {
          r->scale[k] = fmax(fmax(r->next[k], sni_rubbing_used(r, k)), NOTHING * r->asked[k]);
          *most = arm > 0 ? fmax(*most, r->scale[k] / arm) : *most;
        } else {
          const double mu = r->s->d->params.rub[i].mu;
          r->scale[k] = fmax(r->scale[k], light * fmax(*most, mu * pressed) * arm);
        }
      }
    }
  }
}

/* By how much a bound misses what its loads ask for. */
static double off_by(const sni_rubbing *r, int k) {
  const double miss = fabs(r->next[k] - r->bound[k]);
  return miss > 0 ? miss / r->scale[k] : 0;
}

double sni_rubbing_disagreement(sni_rubbing *r) {
  double change = 0;
  find_scales(r);
  r->miss_most = 0;
  for (int i = 0; i < r->m->nrub; i++) {
    const sni_rub *rub = &r->m->rub[i];
    for (int c = 0; c < rub->nslide; c++) {
      const int k = rub->first + c;
      if (is_bound(r, rub, c)) {
        r->miss_most = fmax(r->miss_most, fabs(r->next[k] - r->bound[k]));
        change = fmax(change, off_by(r, k));
      }
    }
  }
  return change;
}

/* The rate of a slide, or the largest one of its disc. */
static double disc_rate(const sni_rubbing *r, int k) {
  const sni_rub_disc *disc = r->disc_of[k] >= 0 ? &r->disc[r->disc_of[k]] : NULL;
  double most = fabs(r->rate[k]);
  for (int i = 0; disc && i < disc->count; i++) {
    most = fmax(most, fabs(r->rate[disc->first + i]));
  }
  return most;
}

bool sni_rubbing_stands(const sni_rubbing *r, double beyond, double tolerance) {
  const double still = 1e-9;
  double fastest = 0;
  for (int k = 0; k < r->m->nslide; k++) {
    fastest = fmax(fastest, fabs(r->free[k]));
  }
  for (int k = 0; k < r->m->nslide; k++) {
    const bool slips = disc_rate(r, k) > still * fastest;
    if (slips ? off_by(r, k) > tolerance
              : sni_rubbing_used(r, k) > beyond * r->next[k] + tolerance * r->scale[k]) {
      return false;
    }
  }
  return true;
}

/* With so many differences d of what bounds missed, in units w of their own: the combination of
 * them that is nearest to what they miss now. */
static bool combine(const double *d, const double *miss, const double *w, int n, int count,
                    double *x) {
  double A[MEMORY * MEMORY];
  for (int i = 0; i < count; i++) {
    x[i] = 0;
    for (int k = 0; k < n; k++) {
      x[i] += w[k] * w[k] * d[i * n + k] * miss[k];
    }
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        sum += w[k] * w[k] * d[i * n + k] * d[j * n + k];
      }
      A[i * count + j] = A[j * count + i] = sum;
    }
  }
  for (int i = 0; i < count; i++) {
    A[i * count + i] *= 1 + 1e-12;
  }
  if (!sni_cholesky(count, A, 1e-13, NULL)) {
    return false;
  }
  sni_cholesky_solve(count, A, x);
  return true;
}

/* Limits of tangents that are rows of their own, from the bounds: as the last loads share them out,
 * or a part of the way there. */
static void allow_rub(sni_rubbing *r, const sni_rub *rub, double part) {
  const double *bound = r->bound + rub->first;
  for (int b = 0, i = rub->first_tangent; b < rub->nbearing; b++) {
    const sni_bearing *own = &rub->bearing[b];
    double sum[SNI_DIRECTIONS_MAX] = {0};
    for (int c = 0; c < own->ntangent; c++) {
      const sni_rub_tangent *t = &own->tangent[c];
      r->allowed[i + c] = part * r->limit[i + c] + (1 - part) * r->allowed[i + c];
      sum[t->direction] += fabs(t->arm) * r->allowed[i + c];
    }
    for (int c = 0; c < own->ntangent; c++, i++) {
      const int d = own->tangent[c].direction;
      r->allowed[i] *= sum[d] > 0 ? bound[d] / sum[d] : 0;
    }
    bound += own->ndirection;
  }
}

void sni_rubbing_allow(sni_rubbing *r, double part) {
  for (int k = 0; r->pad && k < r->m->nrub; k++) {
    if (sni_rubbing_apart(r, &r->m->rub[k])) {
      allow_rub(r, &r->m->rub[k], part);
    }
  }
}

/* Slides of one disc have one bound, times their arms. */
static void bind_discs(sni_rubbing *r) {
  for (int k = 0; k < r->ndisc; k++) {
    const sni_rub_disc *disc = &r->disc[k];
    for (int i = 1; i < disc->count; i++) {
      r->bound[disc->first + i] = r->bound[disc->first] * disc->own[i] / disc->own[0];
    }
  }
}

/* Those of the loads come nearer at a steady pace, so the last few turns tell where they lead
 * (Anderson's method); where that made it worse, it begins anew.  Some go round in circles: where
 * nothing has got better for a while, steps become shorter. */
static void extrapolate(sni_rubbing *r, double change) {
  const int n = r->m->nslide;
  double *miss = r->miss, *d = r->history, *e = d + MEMORY * n, x[MEMORY], most = 0;
  const bool worse = change > 2 * r->missed, better = change < 0.9 * r->best;
  r->best = better ? change : r->best;
  r->idle = better ? 0 : r->idle + 1;
  r->misled += worse;
  const bool shorter = r->idle >= PATIENCE || (r->pace == 1 && r->misled >= MISLED);
  if (shorter) {
    r->pace = fmax(0.5 * r->pace, r->pad ? 0.5 : SHORTEST);
    r->best = INFINITY;
    r->idle = 0;
  }
  for (int k = 0; k < n; k++) {
    most = fmax(most, r->next[k]);
  }
  if (r->remembered >= 0 && !worse && !shorter) { /* one more, the oldest is forgotten */
    const int at = r->turns++ % MEMORY;
    for (int k = 0; k < n; k++) {
      d[at * n + k] = r->next[k] - r->bound[k] - miss[k];
      e[at * n + k] = r->bound[k] - r->bound_before[k];
    }
    r->remembered = r->remembered < MEMORY ? r->remembered + 1 : MEMORY;
  } else {
    r->remembered = r->turns = 0;
  }
  r->missed = change;
  for (int k = 0; k < n; k++) {
    miss[k] = r->next[k] - r->bound[k];
    r->bound_before[k] = r->bound[k];
    r->weight[k] = 1 / fmax(r->next[k], 1e-3 * most + 1e-300);
  }
  const bool known = (r->pace == 1 || !r->pad) && r->remembered > 0 &&
                     combine(d, miss, r->weight, n, r->remembered, x);
  for (int k = 0; k < n; k++) {
    const double plain = r->bound[k] + r->pace * miss[k];
    double to = plain;
    for (int i = 0; known && i < r->remembered; i++) {
      to -= x[i] * (e[i * n + k] + r->pace * d[i * n + k]);
    }
    r->bound[k] = to >= 0 && to <= 2 * fmax(r->next[k], plain) ? to : plain;
  }
}

/* Along what they miss, further and further while that stays the same way: on a guide that jams
 * bounds go up until it sticks, where it gets loose they go down until it slips. */
static void march(sni_rubbing *r) {
  const int n = r->m->nslide;
  double both = 0, now = 0, then = 0;
  for (int k = 0; k < n; k++) {
    const double miss = r->next[k] - r->bound[k], w = 1 / (r->next[k] + r->bound[k] + 1e-300);
    both += w * w * miss * r->miss[k];
    now += w * w * miss * miss;
    then += w * w * r->miss[k] * r->miss[k];
    r->miss[k] = miss;
  }
  const bool same = both > 0.7 * sqrt(now * then);
  r->stride = r->marched == 0 ? 1
              : same          ? fmin(2 * r->stride, FURTHEST)
                              : fmax(0.5 * r->stride, NEAREST);
  for (int k = 0; k < n; k++) {
    r->bound[k] = fmax(r->bound[k] + r->stride * r->miss[k], 0.1 * r->bound[k]);
  }
  r->marched++;
}

/* The bounds for the next turn: a few turns as they come, then Newton's method and marches by
 * turns. */
void sni_rubbing_follow(sni_rubbing *r, double change) {
  const size_t bytes = (size_t)r->m->nslide * sizeof *r->bound;
  if (r->maximal) { /* it has limits of its own, but for what is driven */
    memcpy(r->bound, r->next, bytes);
    sni_rubbing_allow(r, 1);
    return;
  }
  if (r->miss_most < r->kept_miss) {
    r->late = r->miss_most < 0.9 * r->kept_miss ? 0 : r->late;
    r->kept_miss = r->miss_most;
    memcpy(r->kept_bound, r->bound, bytes);
    memcpy(r->kept_next, r->next, bytes);
  }
  r->late++;
  if (r->taken == 1 && sni_rubbing_hold_what_rests(r)) {
    r->kept_miss = INFINITY;
  } else if (r->taken == 1 && sni_rubbing_recall(r)) {
    return; /* the same bounds, held otherwise */
  } else if (!r->newton) {
    extrapolate(r, change);
  } else if (r->newtons > 0 && sni_rubbing_newton(r)) {
    r->newtons--;
    r->marched = 0;
  } else {
    if (r->marched == 0) { /* from the best so far */
      memcpy(r->bound, r->kept_bound, bytes);
      memcpy(r->next, r->kept_next, bytes);
    }
    march(r);
    r->newtons = r->marched == MARCHES ? NEWTONS : 0;
  }
  for (int k = 0; k < r->m->nslide; k++) {
    r->bound[k] = fmin(r->bound[k], BEYOND * r->asked[k]);
  }
  bind_discs(r);
  sni_rubbing_allow(r, r->pace);
}

/* Does nothing disagree but what constraints drive?  That cannot stop, and if it jams there is no
 * answer. */
static bool only_driven_disagree(const sni_rubbing *r, double tolerance) {
  for (int k = 0; k < r->m->nslide; k++) {
    if (!r->driven[k] && off_by(r, k) > tolerance) {
      return false;
    }
  }
  return true;
}

bool sni_rubbing_tired(const sni_rubbing *r, const sn_options *o) {
  const bool jams = only_driven_disagree(r, o->redmax.friction.tolerance);
  return r->taken >= o->redmax.friction.max_iterations ||
         (!r->maximal && r->late > (jams ? TIRED_OF_JAMS : TIRED));
}

/* What is driven does not stick, however large its friction gets; so it has that of the loads
 * without it, which the turn before the last one tells. */
bool sni_rubbing_settle(sni_rubbing *r) {
  const int n = r->m->nslide;
  bool driven = false;
  if (r->maximal) {
    return true;
  }
  for (int k = 0; k < n; k++) {
    driven = driven || (r->held[k] && r->force[k] != 0);
  }
  if (r->settling) {
    for (int k = 0; k < n; k++) {
      r->bound[k] = r->held[k] ? r->next[k] : r->bound[k];
    }
    return true;
  }
  memcpy(r->bound, r->kept_bound, (size_t)n * sizeof *r->bound);
  for (int k = 0; k < n && driven; k++) {
    r->bound[k] = r->held[k] ? 0 : r->bound[k];
  }
  sni_rubbing_allow(r, 1);
  r->settling = driven;
  return !driven;
}
