/* touch_memory.c: impulses of the last step, and of the last solve, as first guesses of the next.
 */
#include "methods/redmax/touch.h"

#include <stddef.h>
#include <string.h>

/* Where joints or springs hold bodies: what those are trusted with at first that nobody has seen
 * arrive, what all are at least, by how much that changes from step to step, and what they must
 * have opened of what was to be. */
#define TRUST       0.05
#define TRUST_LEAST 1e-3
#define TRUST_STEP  4
#define OPENED      0.5

static int compare(const sni_touch_memory *a, const sni_contact *b) {
  for (int k = 0; k < 2; k++) {
    if (a->shape[k] != b->shape[k]) {
      return a->shape[k] < b->shape[k] ? -1 : 1;
    }
  }
  return a->feature < b->feature ? -1 : a->feature > b->feature;
}

/* Does what the last step has moved apart come apart? */
static double trust_of(const sni_touch_memory *m, double gap) {
  const double opened = m->depth + gap;
  if (!(m->depth > 0 && m->opened > 0)) {
    return m->trust;
  }
  return opened >= OPENED * m->opened ? fmin(1, TRUST_STEP * m->trust)
                                      : fmax(TRUST_LEAST, m->trust / TRUST_STEP);
}

/* Rows: the normal, two tangents; spinning about the normal, rolling about the tangents. */
static void set_impulse(sni_touch *touch, int k, const sni_touch_memory *m) {
  sni_group *g = &touch->st.group[k];
  g->x[0] = m->normal;
  for (int i = 1; i < g->nrow; i++) {
    const sn_vec3 axis = touch->group[k].frame[i % 3];
    const double *of = i < 3 ? m->tangent : m->couple;
    const double x = of[0] * axis.x + of[1] * axis.y + of[2] * axis.z;
    g->x[i] = i < 3 ? x : x / touch->group[k].lever;
  }
}

void sni_touch_remember(sni_touch *touch, const double *state, int first) {
  const int n = (int)state[0];
  const double *at = state + 1;
  for (int k = first, j = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    sni_touch_group *tg = &touch->group[k];
    const sni_contact *c = &touch->contact[tg->contact];
    sni_touch_memory m = {.shape = {0, 0}};
    int order = 1;
    tg->trust = tg->ease > 0 && c->gap < 0 ? TRUST : 1;
    tg->bore = false;
    for (; j < n; j++) {
      memcpy(&m, at + (ptrdiff_t)j * SNI_TOUCH_NUMBERS, sizeof m);
      order = compare(&m, c);
      if (order >= 0) {
        break;
      }
    }
    if (j < n && order == 0) {
      tg->trust = trust_of(&m, c->gap);
      tg->bore = m.normal > 0;
      set_impulse(touch, k, &m);
    }
  }
}

void sni_touch_recall(sni_touch *touch) {
  for (int k = 0, j = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    const sni_contact *c = &touch->contact[touch->group[k].contact];
    while (j < touch->nbefore && compare(&touch->before[j], c) < 0) {
      j++;
    }
    if (j < touch->nbefore && compare(&touch->before[j], c) == 0) {
      set_impulse(touch, k, &touch->before[j]);
    }
  }
}

int sni_touch_memory_count(const sn_model *m) {
  enum { A_SHAPE = 12, LEAST = 32 };
  int n = 0;
  for (int k = 0; k < m->nshape; k++) {
    n += m->shape[k].material >= 0;
  }
  n += m->nbead;
  return A_SHAPE * n > LEAST ? A_SHAPE * n : LEAST;
}

int sni_touch_state_count(const sn_model *m) {
  return m->touching ? 1 + SNI_TOUCH_NUMBERS * sni_touch_memory_count(m) + sni_sleep_state_count(m)
                     : 0;
}

/* Of group k, for the next step. */
static sni_touch_memory memory_of(const sni_touch *touch, int k) {
  const sni_group *g = &touch->st.group[k];
  const sni_touch_group *tg = &touch->group[k];
  const sni_contact *c = &touch->contact[tg->contact];
  const double *x = touch->feels ? touch->least[k] : g->x;
  sni_touch_memory m = {.shape = {c->shape[0], c->shape[1]},
                        .feature = c->feature,
                        .depth = (float)fmax(0, -c->gap),
                        .normal = x[0],
                        .opened = (float)tg->opened,
                        .trust = (float)tg->trust};
  for (int i = 1; i < g->nrow; i++) {
    const sn_vec3 axis = touch->group[k].frame[i % 3];
    double *of = i < 3 ? m.tangent : m.couple;
    const double much = i < 3 ? x[i] : x[i] * tg->lever;
    of[0] += much * axis.x;
    of[1] += much * axis.y;
    of[2] += much * axis.z;
  }
  return m;
}

/* Contacts of what sleeps are as they were when it fell asleep. */
static bool sleeps(const sni_touch *touch, const sni_touch_memory *m) {
  const sn_model *model = touch->sim->m;
  for (int k = 0; k < 2; k++) {
    const int body = sni_model_shape_body(model, m->shape[k]);
    if (body >= 0 && !touch->s->grounded[body] && !touch->sleep.asleep[body]) {
      return false;
    }
  }
  return true;
}

void sni_touch_keep_impulses(sni_touch *touch) {
  touch->nbefore = 0;
  for (int k = 0; k < touch->st.ngroup && touch->group[k].contact >= 0; k++) {
    touch->before[touch->nbefore++] = memory_of(touch, k);
  }
}

void sni_touch_save(sni_touch *touch, double *state) {
  const int most = sni_touch_memory_count(touch->sim->m), had = (int)state[0];
  const int old = had < most ? had : most;
  sni_touch_memory *kept = touch->kept;
  int n = 0, j = 0;
  for (int k = 0; k <= touch->st.ngroup && n < most; k++) {
    const bool last = k == touch->st.ngroup || touch->group[k].contact < 0;
    const sni_contact *c = last ? NULL : &touch->contact[touch->group[k].contact];
    for (; touch->sleep.any && j < old && n < most; j++) { /* those that come before it */
      sni_touch_memory m;
      memcpy(&m, state + 1 + (ptrdiff_t)j * SNI_TOUCH_NUMBERS, sizeof m);
      const int order = last ? -1 : compare(&m, c);
      if (order > 0) {
        break;
      }
      if (order < 0 && sleeps(touch, &m)) {
        kept[n++] = m;
      }
    }
    if (last) {
      break;
    }
    if ((touch->st.group[k].x[0] > 0 || touch->group[k].opened > 0) && n < most) {
      kept[n++] = memory_of(touch, k);
    }
  }
  if (old > n) { /* behind those that there are, all is 0 */
    memset(kept + n, 0, (size_t)(old - n) * sizeof *kept);
  }
  memcpy(state + 1, kept, (size_t)(old > n ? old : n) * sizeof *kept);
  state[0] = n;
}
