/* touch_smooth.c: who may be extrapolated.
 *
 * A step of h and two of h/2 differ by what a longer one makes worse only where all three go along
 * one smooth motion.  A step in which something arrives ends with the rate  -gap/h  that takes it
 * just there: no rate to go by, and twice that of two halves less that of the whole is a rebound.
 * What bounces does so in one half or the other; what is moved apart goes a fifth of the way in any
 * step; and of what pushes in one step and not in another a pull may be left.  There the two halves
 * count.
 *
 * That is found tree by tree, for all that push each other in any of the three steps. */
#include "methods/redmax/touch.h"

#include <string.h>

/* Of the largest impulse on a tree: less is rounding. */
#define PUSHES 1e-9

/* Of the impulses of a step: halves that differ from it by less go along the same motion. */
#define ALIKE 0.5

static int find(int *link, int i) {
  while (link[i] != i) {
    link[i] = link[link[i]];
    i = link[i];
  }
  return i;
}

/* The trees that group k pushes, those that are fixed to the ground left out; how many. */
enum { TREES_MAX = 2 + SNI_COORD_MAX };
static int trees_of(const sni_touch *touch, int k, int tree[TREES_MAX]) {
  const sni_touch_group *tg = &touch->group[k];
  int body[TREES_MAX], n = 0, count = 0;
  for (int side = 0; side < 2; side++) {
    body[n++] = tg->contact >= 0 ? touch->contact[tg->contact].body[side] : tg->row->body[side];
  }
  for (int j = 0; tg->contact < 0 && j < tg->row->ncoord; j++) {
    body[n++] = sni_tree_body_of(touch->s->t, tg->row->coord[j]);
  }
  for (int i = 0; i < n; i++) {
    if (body[i] >= 0 && !touch->s->grounded[body[i]]) {
      tree[count++] = touch->sleep.tree_of[body[i]];
    }
  }
  return count;
}

/* Of the normal, blows included; friction in joints is for others to tell. */
static double push_of(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  return tg->slide >= 0 ? 0 : fabs(touch->st.group[k].x[0]) + fabs(tg->blow[0]);
}

static bool pushes(const sni_touch *touch, int k, const int *tree, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, touch->smooth.most[tree[i]]);
  }
  return push_of(touch, k) > PUSHES * most;
}

/* How far a step that goes straight lifts a point that body b turns about. */
static double lift_of(const sni_touch *touch, int b, sn_vec3 at, double h) {
  if (b < 0) {
    return 0;
  }
  const sn_vec3 com = sni_params_inertia(&touch->s->d->params, b).com;
  const sn_vec3 w = touch->phi[b].w;
  return 0.5 * h * h * sn_vec3_dot(w, w) *
         sn_vec3_norm(sn_vec3_sub(at, sn_se3_point(touch->began[b], com)));
}

/* The same of both bodies of group k, twice, to be sure; none where it has not borne before. */
static double lift(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  if (tg->contact < 0 || !tg->bore) {
    return 0;
  }
  const sni_contact *c = &touch->contact[tg->contact];
  const double h = touch->s->whole;
  return 2 * (lift_of(touch, c->body[0], c->at[0], h) + lift_of(touch, c->body[1], c->at[1], h));
}

/* Does it get there in this step, at a rate that is not one of rest?  What has borne goes on where
 * it is no further away than that. */
static bool arrives(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  const double rests = tg->contact >= 0 ? touch->s->h * sni_touch_resting(touch) : SNI_TOUCH;
  return tg->gap > rests + lift(touch, k);
}

/* Does it come in faster than its forces make it in a step?  Then it is stopped by a blow, in which
 * friction depends on where the step ends. */
static bool is_struck(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  const double forces = fabs(tg->free[0] - tg->start[0]);
  return tg->start[0] <
         -(SNI_SUDDEN * forces + sni_touch_resting(touch) + lift(touch, k) / touch->s->h);
}

static bool is_broken(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  return tg->parted || tg->blow[0] != 0 || arrives(touch, k) || is_struck(touch, k);
}

/* The same for all points of a pair: which of them bear may be open. */
static uint64_t name_of(const sni_touch *touch, int k) {
  const sni_touch_group *tg = &touch->group[k];
  const sni_rows *rows = &touch->sim->rows;
  const int name[2] = {tg->contact >= 0 ? touch->contact[tg->contact].shape[0] : -1,
                       tg->contact >= 0 ? touch->contact[tg->contact].shape[1]
                                        : rows->sided_of[tg->row - rows->sided]};
  return sni_hash(SNI_HASH_SEED, name, sizeof name);
}

void sni_smooth_begin(sni_touch *touch, const double *state) {
  sni_smooth *smooth = &touch->smooth;
  const int n = touch->sleep.ntree, nbody = touch->s->t->nbody;
  int first = -1;
  memcpy(smooth->state, state, (size_t)sni_touch_state_count(touch->sim->m) * sizeof *state);
  memset(smooth->broken, 0, (size_t)n * sizeof *smooth->broken);
  for (int k = 0; k < n; k++) {
    smooth->link[k] = k;
  }
  for (int i = 0; i < nbody; i++) { /* trees that are bound are one */
    if (touch->bound[i]) {
      first = first >= 0 ? first : touch->sleep.tree_of[i];
      smooth->link[touch->sleep.tree_of[i]] = first;
    }
  }
  smooth->any = smooth->all = smooth->touches = smooth->soft = false;
  touch->sleep.rehearses = true;
}

void sni_smooth_go_back(sni_touch *touch, double *state) {
  memcpy(state, touch->smooth.state, (size_t)sni_touch_state_count(touch->sim->m) * sizeof *state);
  touch->sleep.rehearses = false;
}

void sni_smooth_note(sni_touch *touch, int k) {
  sni_smooth *smooth = &touch->smooth;
  const int ntree = touch->sleep.ntree;
  int tree[TREES_MAX];
  memset(smooth->most, 0, (size_t)ntree * sizeof *smooth->most);
  memset(smooth->acting[k], 0, (size_t)ntree * sizeof *smooth->acting[k]);
  for (int i = 0; i < touch->s->t->nbody; i++) {
    if (touch->sleep.any && touch->sleep.asleep[i]) { /* not a bit of it changes */
      smooth->broken[touch->sleep.tree_of[i]] = true;
    }
  }
  for (int g = 0; g < touch->st.ngroup; g++) {
    const int n = touch->group[g].slide >= 0 ? 0 : trees_of(touch, g, tree);
    for (int i = 0; i < n; i++) {
      smooth->most[tree[i]] = fmax(smooth->most[tree[i]], push_of(touch, g));
    }
  }
  uint64_t last = 0;
  for (int g = 0; g < touch->st.ngroup; g++) {
    const int n = touch->group[g].slide >= 0 ? 0 : trees_of(touch, g, tree);
    if (n == 0 || !(touch->group[g].parted || pushes(touch, g, tree, n))) {
      continue;
    }
    const uint64_t name = name_of(touch, g);
    smooth->touches = true;
    smooth->soft =
        smooth->soft || (touch->group[g].contact >= 0 && touch->group[g].material.stiffness > 0);
    for (int i = 0; i < n; i++) {
      smooth->link[find(smooth->link, tree[i])] = find(smooth->link, tree[0]);
      smooth->acting[k][tree[i]] += name != last ? name : 0; /* a pair's points are neighbours */
      smooth->broken[tree[i]] = smooth->broken[tree[i]] || is_broken(touch, g);
    }
    last = name;
  }
}

/* Do both halves together push body i as the whole step does?  If not by far, what these did
 * otherwise might be a pull. */
static bool is_pushed_alike(const sni_touch *touch, int i) {
  const sni_contact_sum *whole = &touch->whole[i], *first = &touch->half[i],
                        *second = &touch->sum[i];
  const sn_vec3 off = sn_vec3_sub(sn_vec3_add(first->force, second->force), whole->force);
  const double halves = first->normal + second->normal, most = fmax(halves, whole->normal);
  return fabs(halves - whole->normal) <= ALIKE * most && sn_vec3_norm(off) <= ALIKE * most;
}

void sni_smooth_end(sni_touch *touch) {
  sni_smooth *smooth = &touch->smooth;
  const int ntree = touch->sleep.ntree;
  for (int i = 0; i < touch->s->t->nbody; i++) {
    bool *broken = &smooth->broken[touch->sleep.tree_of[i]];
    *broken = *broken || !(touch->s->grounded[i] || is_pushed_alike(touch, i));
  }
  for (int k = 0; k < ntree; k++) {
    const bool same = smooth->acting[0][k] == smooth->acting[1][k] &&
                      smooth->acting[1][k] == smooth->acting[2][k];
    if (smooth->broken[k] || !same) {
      smooth->broken[find(smooth->link, k)] = true;
    }
  }
  smooth->all = true;
  for (int k = 0; k < ntree; k++) {
    smooth->broken[k] = smooth->broken[find(smooth->link, k)];
    smooth->any = smooth->any || smooth->broken[k];
  }
  for (int i = 0; i < touch->s->t->nbody; i++) {
    smooth->all = smooth->all && (touch->s->grounded[i] || !sni_goes_smoothly(touch, i));
  }
}
