/* rub_work.c: friction in joints over steps that are made of several: what it takes, for the
 * record, and whether they are alike. */
#include "methods/redmax/rub.h"

#include <math.h>
#include <string.h>

/* In a step of the length h it takes h f (v0 + v1)/2, which is what is lost also where it stops
 * within the step; where a joint turns round, of the end alone. */
void sni_rubbing_note_work(sni_rubbing *r, double h) {
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    double mean = 0;
    for (int i = rub->first; i < rub->first + rub->nslide; i++) {
      mean += r->force[i] * (r->start[i] + r->rate[i]);
    }
    for (int i = rub->first; i < rub->first + rub->nslide; i++) {
      const double rate = mean >= 0 ? 0.5 * (r->start[i] + r->rate[i]) : r->rate[i];
      r->work[i] = h * r->force[i] * rate;
    }
  }
}

void sni_rubbing_keep_whole(sni_rubbing *r) {
  memcpy(r->began, r->start, (size_t)r->m->nslide * sizeof *r->began);
  memcpy(r->one, r->rate, (size_t)r->m->nslide * sizeof *r->one);
  memcpy(r->both, r->work, (size_t)r->m->nslide * sizeof *r->both);
}

bool sni_rubbing_parts(const sni_rubbing *r) {
  bool parts = false;
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    for (int i = rub->first; rub->law == SNI_STRIBECK && i < rub->first + rub->nslide; i++) {
      parts = parts || fabs(r->one[i] - r->rate[i]) > 0.5 * fabs(r->rate[i] - r->began[i]);
    }
  }
  return parts;
}

void sni_rubbing_keep_half(sni_rubbing *r) {
  memcpy(r->half, r->work, (size_t)r->m->nslide * sizeof *r->half);
}

static void add(const sni_rubbing *r, const double *more, double *to) {
  for (int i = 0; i < r->m->nslide; i++) {
    to[i] += more[i];
  }
}

void sni_rubbing_add_half(sni_rubbing *r) {
  add(r, r->half, r->work);
}

/* As the state is.  Friction never gives: where one of them stops on the way, what the halves say
 * stays. */
void sni_rubbing_extrapolate_work(sni_rubbing *r) {
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    double sum = 0;
    for (int i = rub->first; i < rub->first + rub->nslide; i++) {
      sum += 2 * r->work[i] - r->both[i];
    }
    for (int i = rub->first; sum >= 0 && i < rub->first + rub->nslide; i++) {
      r->work[i] = 2 * r->work[i] - r->both[i];
    }
  }
}

void sni_rubbing_begin_power(sni_rubbing *r) {
  memset(r->power, 0, (size_t)r->m->nslide * sizeof *r->power);
}

void sni_rubbing_add_power(sni_rubbing *r) {
  add(r, r->work, r->power);
}

void sni_rubbing_end_power(sni_rubbing *r, double h) {
  for (int i = 0; i < r->m->nslide; i++) {
    r->power[i] = h > 0 ? r->power[i] / h : 0;
  }
}
