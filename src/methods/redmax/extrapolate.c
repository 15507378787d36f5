/* extrapolate.c: second order from two lengths of a step of first order.
 *
 *     y1 = 2 y'' - y',     y' by one step of h, y'' by two of h/2
 *
 * The error of y' is c h^2 + O(h^3), that of y'' half of it, so the difference takes it away.  With
 * implicit Euler as the step, y1 = R(z) y with R = 2/(1 - z/2)^2 - 1/(1 - z) for y' = z y/h:
 * L-stable; an oscillation of w h a step keeps 1 - (w h)^4/4 of its amplitude and runs ahead by (w
 * h)^3/6.
 *
 * Stages of Rosenbrock methods overshoot, the usual one of two stages by a factor of 3.4, to where
 * springs pull elsewhere: stiff springs blow up in it at moderate strains.  Here nothing is
 * evaluated but at ends of stable steps, and y'' is at hand where extrapolation makes no sense:
 * where it ends with more energy than the start had and than the two explain, and where limits or
 * contacts come or go within the step (of contacts, for those whom they push: touch_smooth.c). */
#include "methods/redmax/extrapolate.h"

#include "methods/redmax/redmax.h"
#include "methods/redmax/stay.h"
#include "methods/redmax/thrown.h"
#include "model/map.h"

#include <string.h>

/* A motion is resolved if steps of first order lose less than this part of its kinetic energy. */
#define RESOLVED 0.02

/* As much of the extrapolation as leaves no more energy than `most`; below: what is left with none.
 * Returns that part. */
static double limit_energy(sn_sim *sim, sn_state *state, const double *one, const double *two,
                           double most, double below) {
  enum { TRIES = 6 };
  const sni_tree *t = &sim->m->tree;
  double part = 1, E = sni_total(sni_energy_of(sim, state)), lo = 0, hi = 1, E_lo = below, E_hi = E;
  for (int k = 0; k < TRIES && E > most; k++) {
    part = most > E_lo && E_hi > E_lo ? lo + (hi - lo) * (most - E_lo) / (E_hi - E_lo) : 0;
    part = fmin(part, hi) * (1 - 1e-12);
    sni_extrapolate(t, one, two, part, state->data);
    E = sni_total(sni_energy_of(sim, state));
    hi = E > most ? part : hi;
    E_hi = E > most ? E : E_hi;
  }
  if (!(E <= most) && part > 0) { /* nearly there, or not finite */
    const bool near = E - most <= 1e-9 * fabs(most - below);
    if (!near) {
      sni_extrapolate(t, one, two, 0, state->data);
      part = 0;
    }
  }
  return part;
}

/* Putting a state back onto its constraints moves it a little, and may bring energy: rates are
 * scaled down to `most`, to 0 if need be.  All that constraints ask of them in a closed system is
 * still met then. */
static void spend(sn_sim *sim, sn_state *state, double most) {
  const sn_energy e = sni_energy_of(sim, state);
  if (sni_total(e) > most && e.kinetic > 0) {
    const double part = sqrt(fmax(most - e.potential, 0) / e.kinetic);
    for (int k = 0; k < state->nv; k++) {
      sni_state_qd(state)[k] *= part;
    }
  }
}

/* Does anything have a motion of its own, which brings what it wants? */
static bool is_moved(const sn_model *m) {
  bool moved = m->nmotion > 0;
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    moved = moved || (c->map && c->map->ndriven > 0);
    for (int i = 0; i < SN_NV_MAX; i++) {
      moved = moved || c->function[i] >= 0;
    }
  }
  return moved;
}

/* What sticks in all three steps so far. */
static void note_still(sn_sim *sim, int k) {
  sni_redmax *r = sim->method_work;
  const sni_still *now = r->s.still;
  if (k == 0 && now) {
    sni_stay_copy(&r->rub.whole, now, sim->m);
  } else if (k == 0) {
    sni_stay_clear(&r->rub.whole, sim->m);
  } else {
    sni_stay_both(&r->rub.whole, now, sim->m);
  }
}

/* What contacts did: `less` of both halves, and `part` of what these did otherwise than the whole
 * step. */
static void sum_contacts(sn_sim *sim, double part, double less) {
  sni_touch *touch = ((sni_redmax *)sim->method_work)->touch;
  if (touch) {
    sni_touch_sum_combine(touch, part, less);
  }
}

/* The numbers of contacts in the state. */
static double *touch_state(const sn_sim *sim, sn_state *state) {
  return sni_state_private(state) + sim->m->nloop_q + sni_rubbing_numbers(sim->m);
}

/* Of what does not go on smoothly: it ends as the halves do.  Without rates, it adds nothing to an
 * energy that is compared with another. */
static void set_aside(const sni_touch *touch, const double *two, double *y) {
  const sni_tree *t = touch->s->t;
  for (int i = 0; i < t->nbody; i++) {
    for (int c = t->vadr[i]; !sni_goes_smoothly(touch, i) && c < t->vadr[i + 1]; c++) {
      y[c] = two[c];
      y[t->nv + c] = 0;
    }
  }
}

static void bring_back(const sni_touch *touch, const double *two, double *y) {
  const sni_tree *t = touch->s->t;
  for (int i = 0; i < t->nbody; i++) {
    for (int c = t->vadr[i]; !sni_goes_smoothly(touch, i) && c < t->vadr[i + 1]; c++) {
      y[c] = two[c];
      y[t->nv + c] = two[t->nv + c];
    }
  }
}

/* Is nothing left to extrapolate?  What rubs in joints is weighed as a whole. */
static bool breaks_up(const sni_smooth *smooth, const sni_rubbing *rub) {
  return smooth->all || (smooth->any && sni_rubbing_may(rub));
}

/* That of the state y, which `state` leaves. */
static sn_energy energy_at(sn_sim *sim, sn_state *state, const double *y) {
  memcpy(state->data, y, 2 * (size_t)sim->m->tree.nv * sizeof *y);
  return sni_energy_of(sim, state);
}

/* It stays where it was when the first of them began. */
static sn_status close_whole(sn_sim *sim, double t_end, double *q, double *qd, sn_error *err) {
  sni_redmax *r = sim->method_work;
  r->s.still = sim->m->nslide > 0 ? &r->rub.whole : NULL;
  return sni_stay_close(sim, &r->s, t_end, true, q, qd, err);
}

sn_status sni_step_extrapolated(sni_first_order step, bool accept, sn_sim *sim, sn_state *state,
                                const sn_input *input, double t_end, double *room, sn_info *info,
                                sn_error *err) {
  const sni_tree *t = &sim->m->tree;
  const size_t numbers = 2 * (size_t)t->nv, bytes = numbers * sizeof(double);
  double *start = room, *one = room + numbers, *two = one + numbers, *from = two + numbers,
         *halves = from + numbers, *y = state->data;
  sni_rubbing *rub = &((sni_redmax *)sim->method_work)->rub;
  sni_touch *touch = ((sni_redmax *)sim->method_work)->touch;
  const double t0 = state->t, ends[3] = {t_end, 0.5 * (t0 + t_end), t_end};
  sn_energy before = sni_energy_of(sim, state), by_one = before;
  sn_status reservation = SN_OK;
  uint64_t acting[3];
  double struck = 0; /* what blows have taken */
  bool blow = false;
  memcpy(from, y, bytes);
  if (touch) {
    sni_smooth_begin(touch, touch_state(sim, state));
  }
  for (int k = 0; k < 3; k++) {
    const sn_status status = step(sim, state, input, ends[k], info, err);
    if (status < 0 || (status > 0 && !accept)) {
      memcpy(y, from, bytes);
      state->t = t0;
      if (touch) {
        sni_smooth_go_back(touch, touch_state(sim, state));
      }
      return status;
    }
    reservation = status ? status : reservation;
    acting[k] = sim->rows.u.acting;
    blow = blow || (sim->d.rows && sim->rows.nsided > 0 && sim->rows.u.blow);
    note_still(sim, k);
    if (touch && k < 2) {
      sni_touch_sum_keep(touch, k);
    }
    if (touch) {
      sni_smooth_note(touch, k);
    }
    struck += k > 0 ? sim->rows.u.work : 0;
    if (k == 1) {
      sni_rubbing_keep_half(rub);
    }
    if (k == 0) {
      sni_rubbing_keep_whole(rub);
      by_one = sni_energy_of(sim, state);
      memcpy(one, y, bytes);
      memcpy(y, from, bytes);
      state->t = t0;
    }
    if (touch && k == 0) {
      sni_smooth_go_back(touch, touch_state(sim, state));
    }
  }
  sni_rubbing_add_half(rub);
  if (touch) {
    sni_smooth_end(touch);
  }
  const sni_smooth *smooth = touch ? &touch->smooth : NULL;
  const bool closed_system = sni_is_closed(sim, input) && !(smooth && smooth->soft);
  if (blow || acting[0] != acting[1] || acting[1] != acting[2] || /* limits come or go */
      sni_rubbing_parts(rub) || (smooth && breaks_up(smooth, rub))) {
    /* What hits within a step of first order goes back from where it was, above the limit.  Its
     * steps lose as much on the way, but those of second order do not.  What touches keeps its
     * momentum, of which channels tell. */
    if (closed_system && !is_moved(sim->m) && !(smooth && smooth->touches)) {
      spend(sim, state, sni_total(before) + struck);
    }
    sum_contacts(sim, 0, 1);
    info->last_substep = t_end - t0;
    return reservation;
  }
  sni_rubbing_extrapolate_work(rub);
  memcpy(start, from, bytes);
  memcpy(two, y, bytes);
  memcpy(halves, y, bytes);
  sn_energy by_two = sni_energy_of(sim, state);
  double aside = 0; /* energy of what does not go on smoothly */
  if (smooth && smooth->any) {
    set_aside(touch, halves, start);
    set_aside(touch, halves, one);
    set_aside(touch, halves, two);
    aside = sni_total(by_two);
    before = energy_at(sim, state, start);
    by_one = energy_at(sim, state, one);
    by_two = energy_at(sim, state, two);
    aside -= sni_total(by_two);
  }
  /* Springs that are stiff and far from rest may throw a step beyond where they would be at rest,
   * to where there is more strain than before, and than anything that moves explains. */
  const double E0 = sni_total(before), E2 = sni_total(by_two);
  const bool thrown = sni_may_be_held(sim, input) && sni_is_thrown(before, by_two);
  double part = 0, less = 1;
  if (thrown && !(smooth && smooth->touches)) {
    less = sni_go_less_far(sim, state, start, two, E0);
  } else if (!thrown) {
    part = 1;
    sni_extrapolate(t, one, two, part, y);
  }

  /* What steps of first order lose is about as much as there is between the two, and little against
   * what moves where the motion is resolved: what is left without the loss is 2 E'' - E'.  Where it
   * is not resolved, only what came from outside counts. */
  const double lost = fabs(E2 - sni_total(by_one));
  const bool resolved = lost < RESOLVED * by_two.kinetic;
  const double brought = fmin(lost, fabs(E2 - E0));
  const double most = thrown          ? E0
                      : closed_system ? fmax(E0, E2)
                      : resolved      ? E2 + lost
                                      : fmax(E0, E2 + brought) + 0.1 * brought;
  if (!thrown && !sim->d.user_force) { /* of its energy nobody knows */
    part = limit_energy(sim, state, one, two, most, E2);
  }
  if (smooth && smooth->any) {
    bring_back(touch, halves, y);
  }
  if (sim->d.rows) {
    const sn_status closed = close_whole(sim, t_end, sni_state_q(state), sni_state_qd(state), err);
    if (closed) {
      memcpy(y, from, bytes);
      state->t = t0;
      return closed;
    }
    if (closed_system && !(thrown && smooth && smooth->touches)) {
      spend(sim, state, most + aside);
    }
  }
  sum_contacts(sim, part, less);
  info->last_substep = t_end - t0;
  return reservation;
}
