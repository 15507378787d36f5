/* rub_rest.c: what rests stays if it can.
 *
 * A bracket on an upright guide bears nothing while it falls, so nothing rubs; while it rests, its
 * weight off the axis tilts it, and that may hold it.  So where something at rest would begin to
 * slip, it is first seen what it would bear if it stuck.
 *
 * Between two guides that each hold half of it, it is tilted by less, or not at all.  Coulomb's law
 * does not say who holds how much, and one of them alone might hold it.  So where even shares do
 * not do, joints that share their loads (rub_stress.c) try one after the other to have all of the
 * friction, with the others bearing as little as they can: together they never hold less than one
 * of them.  Likewise what the joints of a loop hold together may be held by the shares of the step
 * before, and not by even ones.  Loads beyond those, two guides that press themselves against each
 * other at will, are not tried: they would hold anything. */
#include "methods/redmax/rub.h"

#include <string.h>

/* Rates below this part of those without friction are none, at the start of a step. */
#define AT_REST 1e-6
/* So many times what the first loads and rates ask for holds what rests. */
#define HOLDS 10
/* What others have of their bounds, while one is to have all of the friction: its square in forces.
 */
#define OTHERS 0.1
/* Of the largest bound. */
#define EXACT 1e-9

/* How fast a slide goes, or all together that share its disc, as surfaces see it. */
static double speed_of(const sni_rubbing *r, int slide, const double *rate) {
  const sni_rub_disc *disc = r->disc_of[slide] >= 0 ? &r->disc[r->disc_of[slide]] : NULL;
  double sum = 0;
  for (int i = 0; disc && i < disc->count; i++) {
    const double own = disc->own[i] * rate[disc->first + i];
    sum += own * own;
  }
  return disc ? sqrt(sum) : fabs(rate[slide]);
}

/* Do constraints hold it, and all of its disc? */
static bool is_held(const sni_rubbing *r, int slide) {
  const sni_rub_disc *disc = r->disc_of[slide] >= 0 ? &r->disc[r->disc_of[slide]] : NULL;
  bool held = r->held[slide];
  for (int i = 0; disc && i < disc->count; i++) {
    held = held && r->held[disc->first + i];
  }
  return held;
}

/* Did it rest when the step began?  A sleeve that turns does not, though it may not move along. */
static bool rested(const sni_rubbing *r, int slide) {
  return !is_held(r, slide) &&
         speed_of(r, slide, r->start) <= AT_REST * speed_of(r, slide, r->free);
}

/* And slips by the last turn? */
static bool begins_to_slip(const sni_rubbing *r, int slide) {
  return rested(r, slide) && speed_of(r, slide, r->rate) > AT_REST * speed_of(r, slide, r->free);
}

bool sni_rubbing_slips_from_rest(const sni_rubbing *r) {
  bool any = false;
  for (int i = 0; i < r->m->nrub; i++) {
    const sni_rub *rub = &r->m->rub[i];
    for (int k = rub->first; rub->law == SNI_COULOMB && k < rub->first + rub->nslide; k++) {
      any = any || begins_to_slip(r, k);
    }
  }
  return any;
}

bool sni_rubbing_hold_what_rests(sni_rubbing *r) {
  bool any = false;
  for (int i = 0; i < r->m->nrub; i++) {
    const sni_rub *rub = &r->m->rub[i];
    for (int k = rub->first; rub->law == SNI_COULOMB && k < rub->first + rub->nslide; k++) {
      if (r->bound[k] < HOLDS * r->asked[k] && begins_to_slip(r, k)) {
        r->bound[k] = HOLDS * r->asked[k];
        any = true;
      }
    }
  }
  r->asks_rest = any;
  return any;
}

/* Does the last turn leave it where it is? */
static bool rests(const sni_rubbing *r, int slide) {
  return rested(r, slide) && speed_of(r, slide, r->rate) <= AT_REST * speed_of(r, slide, r->free);
}

bool sni_rubbing_recall(sni_rubbing *r) {
  bool any = false;
  for (int k = 0; r->rows && !r->pad && k < r->m->nslide; k++) {
    any = any || (rests(r, k) && r->last[k] != 0 && sni_rubbing_used(r, k) > r->next[k]);
  }
  r->recalls = any;
  return any;
}

/* ---- uneven shares ---- */

/* Joints that share loads with each other, by the first one of them; -1: with nobody. */
static void find_groups(sni_rubbing *r) {
  const int nrub = r->m->nrub;
  int *group = r->stress.group;
  for (int k = 0; k < nrub; k++) {
    group[k] = -1;
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (int i = 0; i < r->stress.n; i++) {
      const int *which = r->stress.which + i * nrub;
      int first = which[0];
      for (int j = 0; j < r->stress.count[i]; j++) {
        const int own = group[which[j]];
        first = own >= 0 && own < first ? own : first;
      }
      for (int j = 0; j < r->stress.count[i]; j++) {
        changed = changed || group[which[j]] != first;
        group[which[j]] = first;
      }
    }
  }
}

/* Have joints of a group that rest no more friction than their loads let them? */
static bool holds(const sni_rubbing *r, int group) {
  double most = 0, beyond = 0;
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    for (int i = rub->first; r->stress.group[k] == group && i < rub->first + rub->nslide; i++) {
      most = fmax(most, sni_rubbing_used(r, i));
      beyond = rests(r, i) ? fmax(beyond, sni_rubbing_used(r, i) - r->next[i]) : beyond;
    }
  }
  return beyond <= EXACT * most;
}

static bool any_rests(const sni_rubbing *r, const sni_rub *rub) {
  bool any = false;
  for (int i = rub->first; i < rub->first + rub->nslide; i++) {
    any = any || rests(r, i);
  }
  return any;
}

/* Loads of all that shares them, evenly or as much as possible in one joint. */
static void load_alone(sni_rubbing *r, int group, int alone) {
  double *normal = r->stress.c;
  for (int k = 0; k < r->m->nrub; k++) {
    normal[k] = r->stress.group[k] == group && k != alone ? 0 : 1;
  }
  sni_rubbing_weigh_stress(r, alone >= 0 ? normal : r->before);
}

/* Bounds of what rests in a group: so large that they hold it, and in proportion to what they
 * asked for at first, or (again) to what loads let them have. */
static void bind(sni_rubbing *r, int group, int alone, bool again) {
  const sni_rub *own = &r->m->rub[alone >= 0 ? alone : group];
  double part = 0;
  for (int i = own->first; again && i < own->first + own->nslide; i++) {
    part = r->next[i] > 0 ? fmax(part, HOLDS * r->asked[i] / r->next[i]) : part;
  }
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    const double of_asked = HOLDS * (alone >= 0 && k != alone ? OTHERS : 1);
    for (int i = rub->first; r->stress.group[k] == group && i < rub->first + rub->nslide; i++) {
      if (rests(r, i)) {
        r->bound[i] = again ? part * r->next[i] : of_asked * r->asked[i];
      }
    }
  }
}

/* What friction and loads of a group are with one joint that has nearly all of both (-1: with even
 * shares); v stays.  Does that hold it? */
static bool try_alone(sni_rubbing *r, int group, int alone, const double *v) {
  load_alone(r, group, alone);
  for (int pass = 0; pass < (alone >= 0 ? 2 : 1); pass++) {
    bind(r, group, alone, pass > 0);
    sni_rubbing_share(r, v);
  }
  return holds(r, group);
}

void sni_rubbing_try_uneven(sni_rubbing *r, const double *v) {
  const int nrub = r->m->nrub;
  if (r->stress.n == 0) {
    return;
  }
  find_groups(r);
  for (int first = 0; first < nrub; first++) {
    if (r->stress.group[first] != first || holds(r, first)) {
      continue;
    }
    bool found = false;
    for (int k = first; k < nrub && !found; k++) {
      found =
          r->stress.group[k] == first && any_rests(r, &r->m->rub[k]) && try_alone(r, first, k, v);
    }
    if (!found) {
      try_alone(r, first, -1, v);
      continue;
    }
    for (int k = first; k < nrub; k++) { /* that is how it goes on */
      const sni_rub *rub = &r->m->rub[k];
      for (int i = rub->first; r->stress.group[k] == first && i < rub->first + rub->nslide; i++) {
        r->bound[i] = rests(r, i) ? r->next[i] : r->bound[i];
      }
    }
  }
}
