/* tube.c: from beads to places where tubes touch.
 *
 * A coarse search first: boxes of segments, each around its beads and so around its spline, in a
 * tree over their order; for each segment those others, one after the other along their tube, whose
 * middle is nearer than that of their neighbours.  From each of these Newton's method (axis.c) goes
 * down to the nearest place, on the one side within the segment, on the other wherever it is.
 *
 * So two stretches that cross touch in one place, and two that lie side by side touch once in every
 * segment, at its end if the gap goes on shrinking there: one place alone would let them turn about
 * it and into each other. */
#include "contact/tube.h"

#include "base/memory.h"
#include "contact/box_tree.h"

#include <string.h>

enum { A_BEAD = 12, LEAST = 64 }; /* touches that there is room for */
#define SAME 0.5                  /* segments: minima that are so near are one */

/* ---- memory ---- */

static int leaves_of(const sn_model *m) {
  int n = 1;
  while (n < m->nbead) {
    n *= 2;
  }
  return n;
}

static size_t lay_out(sni_tubes *t, const sn_model *m, char *memory) {
  const size_t n = (size_t)m->nbead;
  size_t used = 0;
  t->leaves = leaves_of(m);
  t->capacity = m->nbead > 0 ? A_BEAD * m->nbead + LEAST : 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  t->bead = TAKE(n, sizeof *t->bead);
  t->rate = TAKE(n, sizeof *t->rate);
  t->middle = TAKE(n, sizeof *t->middle);
  t->box = TAKE(2 * (size_t)t->leaves, sizeof *t->box);
  t->close = TAKE(n, sizeof *t->close);
  t->touch = TAKE((size_t)t->capacity, sizeof *t->touch);
#undef TAKE
  return used;
}

size_t sni_tubes_size(const sn_model *m) {
  return lay_out(&(sni_tubes){0}, m, NULL);
}

void sni_tubes_place(sni_tubes *t, const sn_model *m, void *memory) {
  *t = (sni_tubes){.m = m};
  lay_out(t, m, memory);
}

/* ---- beads and boxes ---- */

static void place_beads(sni_tubes *t, const sn_se3 *E_wb, const sn_vec6 *phi) {
  for (int k = 0; k < t->m->nbead; k++) {
    const sni_tube_bead *b = &t->m->bead[k];
    t->bead[k] = (sni_bead){b->at, b->radius};
    t->rate[k] = (sn_vec3){0, 0, 0};
    if (b->body >= 0) {
      const sn_vec3 arm = sn_mat3_mul_vec(E_wb[b->body].R, b->at);
      t->bead[k].x = sn_vec3_add(E_wb[b->body].p, arm);
      if (phi) {
        t->rate[k] = sn_vec3_add(phi[b->body].v, sn_vec3_cross(phi[b->body].w, arm));
      }
    }
  }
}

/* What bead k reaches within h. */
static sni_aabb box_of_bead(const sni_tubes *t, int k, double h, double margin) {
  const sn_vec3 x = t->bead[k].x;
  return sni_aabb_grow(sni_aabb_sweep((sni_aabb){x, x}, sn_vec3_scale(t->rate[k], h)),
                       t->bead[k].r + margin);
}

/* A segment is a mean of the four beads around it, or at the ends of the tube of three. */
static void place_segments(sni_tubes *t, const sni_tube *tube, double h, double margin) {
  for (int k = 0; k < tube->count - 1; k++) {
    const int from = k > 0 ? k - 1 : 0, to = k + 2 < tube->count ? k + 2 : k + 1;
    sni_aabb box = box_of_bead(t, tube->first + from, h, margin);
    for (int i = from + 1; i <= to; i++) {
      box = sni_aabb_join(box, box_of_bead(t, tube->first + i, h, margin));
    }
    t->box[t->leaves + tube->first + k] = box;
    const sni_axis_point p = sni_axis_at(t->bead + tube->first, tube->count, k + 0.5);
    t->middle[tube->first + k] = (sni_bead){p.c[0], p.r[0]};
  }
}

static void place_tree(sni_tubes *t, const sni_params *params, double h, double margin) {
  const sni_aabb nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int k = t->leaves; k < 2 * t->leaves; k++) {
    t->box[k] = nothing;
  }
  for (int k = 0; k < t->m->ntube; k++) {
    const sni_tube *tube = &t->m->tube[k];
    const double own =
        params->contact[(ptrdiff_t)tube->material * SNI_MATERIAL_PARAMS + SNI_MARGIN];
    for (int i = tube->first; i < tube->first + tube->count; i++) {
      t->bead[i].r += own; /* a coat */
    }
    place_segments(t, tube, h, 0.5 * margin);
  }
  for (int k = t->leaves - 1; k > 0; k--) {
    t->box[k] = sni_aabb_join(t->box[2 * k], t->box[2 * k + 1]);
  }
}

/* Segments before `end` whose boxes overlap that of segment s, in their order, into t->close. */
static int find_close(sni_tubes *t, int s, int end) {
  enum { DEEPEST = 64 };
  struct {
    int node, count; /* of leaves below it */
  } stack[DEEPEST] = {{1, t->leaves}};
  const sni_aabb *box = &t->box[t->leaves + s];
  int depth = 1, n = 0;
  while (depth > 0) {
    const int node = stack[--depth].node, count = stack[depth].count;
    const int first = node * count - t->leaves;
    if (first >= end || !sni_aabb_overlap(&t->box[node], box)) {
      continue;
    }
    if (count == 1) {
      t->close[n++] = first;
    } else {
      stack[depth].node = 2 * node + 1;
      stack[depth++].count = count / 2;
      stack[depth].node = 2 * node;
      stack[depth++].count = count / 2;
    }
  }
  return n;
}

/* ---- places ---- */

static sni_stretch stretch_of(const sni_tubes *t, int tube, double lo, double hi) {
  const sni_tube *x = &t->m->tube[tube];
  return (sni_stretch){t->bead + x->first, x->count, lo, hi};
}

static sn_vec3 rate_at(const sni_tubes *t, int tube, double u) {
  const sni_tube *x = &t->m->tube[tube];
  const int k = u < x->count - 1 ? (int)u : x->count - 2;
  const sn_vec3 from = t->rate[x->first + k], to = t->rate[x->first + k + 1];
  return sn_vec3_addscaled(from, u - k, sn_vec3_sub(to, from));
}

/* Does it come near within h? */
static bool is_close(const sni_tubes *t, const sni_tube_touch *p, double h, double margin) {
  const sn_vec3 rate =
      sn_vec3_sub(rate_at(t, p->tube[0], p->near.u[0]), rate_at(t, p->tube[1], p->near.u[1]));
  return p->near.at.gap <= margin + h * fmax(0, -sn_vec3_dot(p->near.at.n, rate));
}

/* Of minima of one segment that are the same the nearer one stays; false: there is no room. */
static bool add(sni_tubes *t, const sni_tube_touch *p) {
  for (int k = t->count - 1; k >= 0; k--) {
    sni_tube_touch *old = &t->touch[k];
    if (old->tube[0] != p->tube[0] || old->segment != p->segment) {
      break;
    }
    if (old->tube[1] == p->tube[1] && fabs(old->near.u[1] - p->near.u[1]) < SAME) {
      *old = p->near.at.gap < old->near.at.gap ? *p : *old;
      return true;
    }
  }
  if (t->count == t->capacity) {
    return false;
  }
  t->touch[t->count++] = *p;
  return true;
}

/* Is the middle of close[i] nearer to x than those of the segments before and after it? */
static bool is_least(const sni_tubes *t, const sni_tube *of, const int *close, int n, int i,
                     sn_vec3 x) {
  const sni_bead *m = t->middle;
  const int s = close[i];
  const double here = sn_vec3_norm(sn_vec3_sub(m[s].x, x)) - m[s].r;
  for (int side = -1; side <= 1; side += 2) {
    const int next = s + side, j = i + side;
    const bool known = j >= 0 && j < n && close[j] == next && next >= of->first &&
                       next < of->first + of->count - 1;
    const double there = known ? sn_vec3_norm(sn_vec3_sub(m[next].x, x)) - m[next].r : INFINITY;
    if (there < here || (there == here && side < 0)) {
      return false;
    }
  }
  return true;
}

/* From the middles of segments s of tube a and of tube b on. */
static bool search(sni_tubes *t, const int tube[2], int s, int other, double h, double margin) {
  const sni_tube *a = &t->m->tube[tube[0]], *b = &t->m->tube[tube[1]];
  const int k = s - a->first;
  const bool own = tube[0] == tube[1];
  const sni_stretch x = stretch_of(t, tube[0], k, k + 1);
  const sni_stretch y = stretch_of(t, tube[1], 0, own ? k - a->apart : b->count - 1);
  sni_tube_touch p = {.tube = {tube[0], tube[1]}, .segment = s};
  p.near = sni_axes_nearest_find(&x, &y, k + 0.5, other - b->first + 0.5);
  /* it would come nearer only where it is the same piece of the tube */
  const bool neighbour = own && p.near.held[1] && p.near.u[1] >= y.hi;
  return neighbour || !is_close(t, &p, h, margin) || add(t, &p);
}

static bool search_segment(sni_tubes *t, int tube, int s, double h, double margin) {
  const sni_tube *a = &t->m->tube[tube];
  const int before = s - a->first - a->apart;
  const int n = find_close(t, s, a->first + (before > 0 ? before : 0));
  bool room = true;
  for (int i = 0, b = 0; i < n && room; i++) {
    const int other = t->close[i];
    while (other >= t->m->tube[b].first + t->m->tube[b].count) {
      b++;
    }
    if (is_least(t, &t->m->tube[b], t->close, n, i, t->middle[s].x)) {
      room = search(t, (int[2]){tube, b}, s, other, h, margin);
    }
  }
  return room;
}

/* ---- which of them stay ---- */

/* Does the stretch that p goes on to, in the segment beside its own, have a place within it, or at
 * this very end? */
static bool goes_on(const sni_tubes *t, int k) {
  const sni_tube_touch *p = &t->touch[k];
  const int end = (int)p->near.u[0], first = t->m->tube[p->tube[0]].first;
  const bool up = end == p->segment - first + 1;
  for (int i = up ? k + 1 : k - 1; i >= 0 && i < t->count; i += up ? 1 : -1) {
    const sni_tube_touch *next = &t->touch[i];
    const int away = up ? next->segment - p->segment : p->segment - next->segment;
    if (next->tube[0] != p->tube[0] || away > 1) {
      break;
    }
    const double far = up ? end + 1 : end - 1;
    if (away == 1 && next->tube[1] == p->tube[1] && next->near.u[0] != far &&
        fabs(next->near.u[1] - p->near.u[1]) < 3 * SAME) {
      return true;
    }
  }
  return false;
}

/* Two segments have found the bead between them. */
static bool is_double(const sni_tubes *t, int k) {
  const sni_tube_touch *p = &t->touch[k];
  for (int i = k - 1;
       i >= 0 && t->touch[i].tube[0] == p->tube[0] && t->touch[i].segment >= p->segment - 1; i--) {
    const sni_tube_touch *old = &t->touch[i];
    if (!old->near.held[0] && old->tube[1] == p->tube[1] &&
        fabs(old->near.u[0] - p->near.u[0]) < 1e-6 && fabs(old->near.u[1] - p->near.u[1]) < 1e-6) {
      return true;
    }
  }
  return false;
}

static void thin(sni_tubes *t) {
  int kept = 0;
  for (int k = 0; k < t->count; k++) { /* marked first: each looks at both sides */
    const bool held = t->touch[k].near.held[0];
    t->touch[k].out = (held && goes_on(t, k)) || (!held && is_double(t, k));
  }
  for (int k = 0; k < t->count; k++) {
    if (!t->touch[k].out) {
      t->touch[kept++] = t->touch[k];
    }
  }
  t->count = kept;
}

bool sni_tubes_find(sni_tubes *t, const sni_params *params, const sn_se3 *E_wb, const sn_vec6 *phi,
                    double h, double margin) {
  t->count = 0;
  place_beads(t, E_wb, phi);
  place_tree(t, params, h, margin);
  bool room = true;
  for (int k = 0; k < t->m->ntube && room; k++) {
    const sni_tube *tube = &t->m->tube[k];
    for (int s = tube->first; s < tube->first + tube->count - 1 && room; s++) {
      room = search_segment(t, k, s, h, margin);
    }
  }
  thin(t);
  return room;
}
