/* halves.c: rows in their dual, by what they leave behind on the way inward. */
#include "dynamics/halves.h"

#include "base/memory.h"

#include <string.h>

enum { LINES = 8 };

/* Rows of one constraint stay together, so two groups that follow each other have more than eight
 * rows. */
static size_t groups_max(int capacity) {
  return 2 * (size_t)capacity / (LINES + 1) + 1;
}

static size_t lay_out(sni_halves *h, const sni_tree *t, int capacity, char *memory) {
  const size_t ngroup = groups_max(capacity), places = ngroup * (size_t)t->nv;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room((size_t)(count), size)
  h->Z = TAKE(places, sizeof *h->Z);
  h->weight = TAKE(places, sizeof *h->weight);
  h->at = TAKE(places, sizeof *h->at);
  h->shared = TAKE(places, sizeof *h->shared);
  h->group = TAKE(ngroup, sizeof *h->group);
  h->groups = TAKE(t->nv, sizeof *h->groups);
#undef TAKE
  return used;
}

size_t sni_halves_size(const sni_tree *t, int capacity) {
  sni_halves h;
  return lay_out(&h, t, capacity, NULL);
}

void sni_halves_place(sni_halves *h, const sni_tree *t, int capacity, void *memory) {
  lay_out(h, t, capacity, memory);
}

static bool same_bodies(const sni_row *a, const sni_row *b) {
  return a->body[0] == b->body[0] && a->body[1] == b->body[1];
}

/* How many rows from the first go together. */
static int group_size(int nrow, const sni_row *row) {
  int n = nrow < LINES ? nrow : LINES;
  while (n > 0 && n < nrow && same_bodies(&row[n - 1], &row[n])) {
    n--;
  }
  return n > 0 ? n : LINES;
}

/* What the rows of a group leave behind. */
static void halve(sni_halves *h, const sni_columns *c, const sni_work *w, const sni_row *row,
                  sni_half *group) {
  const sni_tree *t = c->t;
  int at = group->first;
  sni_columns_mark(c, group->nrow, row + group->row);
  for (int n = t->nrun - 1; n >= 0; n--) {
    const sni_run *run = &t->run[n];
    for (int i = run->first + run->count - 1; i >= run->first; i--) {
      if (c->flag[i]) {
        sni_columns_inward(c, w, run->hinge, group->nrow, row + group->row, i, h->Z + at);
      }
      for (int k = t->vadr[i]; c->flag[i] && k < t->vadr[i + 1]; k++, at++) {
        h->at[at] = k;
        h->weight[at] = run->hinge ? w->L[t->factor[i]] : 1;
        h->groups[k] += h->groups[k] < 2;
      }
    }
  }
  group->n = at - group->first;
}

static void find_shared(sni_halves *h) {
  int n = 0;
  for (int g = 0; g < h->ngroup; g++) {
    sni_half *group = &h->group[g];
    group->shared = n;
    for (int e = group->first; e < group->first + group->n && h->ngroup > 1; e++) {
      if (h->groups[h->at[e]] > 1) {
        h->shared[n++] = e;
      }
    }
    group->nshared = n - group->shared;
  }
}

/* S += y x^T */
static void add_product(sni_lines y, sni_lines x, sni_lines S[LINES]) {
  for (int j = 0; j < LINES; j++) {
    S[j] += y[j] * x;
  }
}

static void own_product(const sni_halves *h, const sni_half *a, sni_lines S[LINES]) {
  for (int e = a->first; e < a->first + a->n; e++) {
    add_product(h->weight[e] * h->Z[e], h->Z[e], S);
  }
}

/* Of two groups: from body to body coordinates fall in both lists, and those of a body are in both
 * or in none. */
static void product(const sni_halves *h, const sni_half *a, const sni_half *b, sni_lines S[LINES]) {
  const int *i = h->shared + a->shared, *const i_end = i + a->nshared;
  const int *j = h->shared + b->shared, *const j_end = j + b->nshared;
  while (i < i_end && j < j_end) {
    const int k = h->at[*i], l = h->at[*j];
    if (k == l) {
      add_product(h->weight[*i] * h->Z[*i], h->Z[*j], S);
    }
    i += k >= l;
    j += l >= k;
  }
}

void sni_halves_make(sni_halves *h, const sni_columns *c, const sni_work *w, int nrow,
                     const sni_row *row, double *S) {
  h->ngroup = 0;
  if (nrow > 0) { /* else there may be no memory for it */
    memset(h->groups, 0, (size_t)c->t->nv);
  }
  for (int first = 0, places = 0; first < nrow;) {
    sni_half *group = &h->group[h->ngroup++];
    *group =
        (sni_half){.row = first, .nrow = group_size(nrow - first, row + first), .first = places};
    halve(h, c, w, row, group);
    first += group->nrow;
    places += group->n;
  }
  find_shared(h);
  for (int g = 0; g < h->ngroup; g++) {
    const sni_half *a = &h->group[g];
    for (int f = 0; f <= g; f++) {
      const sni_half *b = &h->group[f];
      sni_lines block[LINES] = {{0}};
      if (f == g) {
        own_product(h, a, block);
      } else {
        product(h, a, b, block);
      }
      for (int i = 0; i < a->nrow; i++) {
        for (int j = 0; j < b->nrow && b->row + j <= a->row + i; j++) {
          S[(size_t)(a->row + i) * (size_t)nrow + (size_t)(b->row + j)] = block[i][j];
        }
      }
    }
  }
}

void sni_halves_see(const sni_halves *h, const double *z, double *out) {
  for (int g = 0; g < h->ngroup; g++) {
    const sni_half *group = &h->group[g];
    sni_lines sum = {0};
    for (int e = group->first; e < group->first + group->n; e++) {
      sum += (h->weight[e] * z[h->at[e]]) * h->Z[e];
    }
    for (int i = 0; i < group->nrow; i++) {
      out[group->row + i] = sum[i];
    }
  }
}

void sni_halves_push(const sni_halves *h, const double *v, double *z) {
  for (int g = 0; g < h->ngroup; g++) {
    const sni_half *group = &h->group[g];
    sni_lines by = {0};
    for (int i = 0; i < group->nrow; i++) {
      by[i] = v[group->row + i];
    }
    for (int e = group->first; e < group->first + group->n; e++) {
      const sni_lines part = h->Z[e] * by;
      z[h->at[e]] -=
          ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
  }
}
