/* sleep.c: islands that rest. */
#include "methods/redmax/sleep.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Slow is what is slower than this many times what gravity gives in a step; and what touches
 * nothing but the ground and has got faster by this many times that since it is slow does not come
 * to rest. */
#define SLOW   1.0
#define FASTER 0.05

static int tree_count(const sn_model *m) {
  int n = 0;
  for (int i = 0; i < m->tree.nbody; i++) {
    n += m->tree.parent[i] < 0;
  }
  return n;
}

int sni_sleep_state_count(const sn_model *m) {
  return m->touching ? 1 + 2 * tree_count(m) : 0;
}

/* Behind the steps of all trees: the least speed of one that is awake since it is slow, and the
 * place of one that sleeps. */
static double *memo(const sni_sleep *sleep, double *state, int tree) {
  return &state[1 + sleep->ntree + tree];
}

/* ---- who may sleep ---- */

static void keep_awake(sni_sleep *sleep, int body) {
  if (body >= 0) {
    sleep->can[sleep->tree_of[body]] = false;
  }
}

/* Forces, drives, springs, motions and constraints act without being asked. */
static void find_sleepers(sni_sleep *sleep) {
  const sn_model *m = sleep->sim->m;
  const sni_tree *t = &m->tree;
  for (int k = 0; k < sleep->ntree; k++) {
    sleep->can[k] = true;
  }
  for (int f = 0; f < m->nforce; f++) {
    const sni_force *force = &m->force[f];
    keep_awake(sleep, force->body[0]);
    keep_awake(sleep, force->body[1]);
    for (int k = 0; k < force->nmember; k++) {
      keep_awake(sleep, force->member[k]);
    }
    for (int k = 0; k < force->nv; k++) {
      keep_awake(sleep, sni_tree_body_of(t, force->vadr + k));
    }
  }
  for (int k = 0; k < m->ndrive; k++) {
    keep_awake(sleep, m->drive[k].body);
  }
  for (int k = 0; k < m->nmotion; k++) {
    keep_awake(sleep, m->motion[k].body);
  }
  for (int k = 0; k < m->nconstraint + m->nmotion_row; k++) {
    const sni_constraint *c = &m->constraint[k];
    keep_awake(sleep, c->body[0]);
    keep_awake(sleep, c->body[1]);
    for (int j = 0; j < c->ncoord; j++) {
      keep_awake(sleep, sni_tree_body_of(t, c->coord[j]));
    }
  }
  for (int k = 0; k < sleep->sim->d.nsprung; k++) {
    keep_awake(sleep, sleep->sim->d.sprung[k]);
  }
}

/* ---- waking ---- */

/* The island of a tree that sleeps; -1: it is awake. */
static int island_of(const double *state, int tree) {
  return state[1 + tree] < 0 ? (int)(-1 - state[1 + tree]) : -1;
}

static void wake_island(const sni_sleep *sleep, int island, double *state) {
  for (int k = 0; island >= 0 && k < sleep->ntree; k++) {
    if (island_of(state, k) == island) {
      state[1 + k] = 0;
    }
  }
}

/* A number for the coordinates of each tree, of which a double holds 52 bits. */
static void calc_places(const sni_sleep *sleep, const double *q) {
  const sni_tree *t = &sleep->sim->m->tree;
  memset(sleep->place, 0, (size_t)sleep->ntree * sizeof *sleep->place);
  for (int i = 0; i < t->nbody; i++) {
    uint64_t *hash = &sleep->place[sleep->tree_of[i]];
    for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++) {
      uint64_t bits;
      memcpy(&bits, &q[c], sizeof bits);
      *hash = (*hash ^ bits) * 0x9e3779b97f4a7c15u;
      *hash ^= *hash >> 32;
    }
  }
}
static double place_of(const sni_sleep *sleep, int tree) {
  return (double)(sleep->place[tree] >> 12);
}

static void look(sni_sleep *sleep, const double *state) {
  sleep->any = false;
  for (int i = 0; i < sleep->sim->m->tree.nbody; i++) {
    sleep->asleep[i] = state[1 + sleep->tree_of[i]] < 0;
    sleep->any = sleep->any || sleep->asleep[i];
  }
}

/* Somebody pushes, drags or moves body i. */
static bool is_moved(const sni_sleep *sleep, int i, const double *qd, const sn_input *input) {
  const sni_tree *t = &sleep->sim->m->tree;
  const sni_hand *hand = &sleep->sim->d.hand;
  bool moved = hand->holds && (hand->spring.body[0] == i || hand->spring.body[1] == i);
  for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++) {
    moved = moved || qd[c] != 0 || (input && input->tau && input->tau[c] != 0);
  }
  if (input && input->wrench) {
    const sn_vec6 w = input->wrench[i];
    moved = moved || sn_vec6_dot(w, w) != 0;
  }
  return moved;
}

/* Those that are not where they fell asleep. */
static void wake_displaced(const sni_sleep *sleep, const double *q, double *state) {
  bool any = false;
  for (int k = 0; k < sleep->ntree; k++) {
    any = any || state[1 + k] < 0;
  }
  if (any) {
    calc_places(sleep, q);
  }
  for (int k = 0; any && k < sleep->ntree; k++) {
    const int island = island_of(state, k);
    if (island >= 0 && *memo(sleep, state, k) != place_of(sleep, k)) {
      wake_island(sleep, island, state);
    }
  }
}

void sni_sleep_begin(sni_sleep *sleep, const double *q, const double *qd, const sn_input *input,
                     double *state) {
  /* 52 bits of it are a whole number in a double */
  const double hash = (double)(sleep->sim->d.param_hash >> 12);
  const bool awake = !(sleep->seconds > 0) || state[0] != hash || sleep->sim->d.user_force;
  state[0] = hash;
  for (int k = 0; awake && k < sleep->ntree; k++) {
    state[1 + k] = state[1 + k] < 0 ? 0 : state[1 + k];
  }
  wake_displaced(sleep, q, state);
  for (int i = 0; !awake && i < sleep->sim->m->tree.nbody; i++) {
    const int island = island_of(state, sleep->tree_of[i]);
    if (island >= 0 && is_moved(sleep, i, qd, input)) {
      wake_island(sleep, island, state);
    }
  }
  look(sleep, state);
}

bool sni_sleep_touched(sni_sleep *sleep, const sni_contact *contact, int count, double *state) {
  bool woken = false;
  for (int k = 0; sleep->any && k < count; k++) {
    const int a = contact[k].body[0], b = contact[k].body[1];
    if (a >= 0 && b >= 0 && sleep->asleep[a] != sleep->asleep[b]) {
      wake_island(sleep, island_of(state, sleep->tree_of[sleep->asleep[a] ? a : b]), state);
      woken = true;
    }
  }
  if (woken) {
    look(sleep, state);
  }
  return woken;
}

void sni_sleep_hold(const sni_sleep *sleep, double *qd) {
  const sni_tree *t = &sleep->sim->m->tree;
  for (int i = 0; sleep->any && i < t->nbody; i++) {
    for (int c = t->vadr[i]; sleep->asleep[i] && c < t->vadr[i + 1]; c++) {
      qd[c] = 0;
    }
  }
}

/* ---- falling asleep ---- */

static int find(int *link, int i) {
  while (link[i] != i) {
    link[i] = link[link[i]];
    i = link[i];
  }
  return i;
}

/* Steps for which a tree and all that it touches has been slow, at the root of its island. */
static void join_islands(sni_sleep *sleep, const sni_contact *contact, int count,
                         const double *state) {
  int *link = sleep->link;
  for (int k = 0; k < sleep->ntree; k++) {
    link[k] = k;
  }
  for (int k = 0; k < count; k++) {
    const int x = contact[k].body[0], y = contact[k].body[1];
    if (x >= 0 && y >= 0) {
      const int a = find(link, sleep->tree_of[x]), b = find(link, sleep->tree_of[y]);
      link[a < b ? b : a] = a < b ? a : b;
    }
  }
  for (int k = 0; k < sleep->ntree; k++) {
    sleep->rested[k] = INT32_MAX;
  }
  for (int k = 0; k < sleep->ntree; k++) {
    const int root = find(link, k), steps = (int)state[1 + k];
    if (steps >= 0 && steps < sleep->rested[root]) {
      sleep->rested[root] = steps;
    }
  }
}

/* Of the fastest body of each tree, with the twists in w.a. */
static void calc_speeds(const sni_sleep *sleep) {
  const sni_dynamics *d = &sleep->sim->d;
  for (int k = 0; k < sleep->ntree; k++) {
    sleep->speed[k] = 0;
  }
  for (int i = 0; i < sleep->sim->m->tree.nbody; i++) {
    const sn_vec6 a = sni_lane6_vec6(d->w.a[i]);
    const double r = sleep->reach[i];
    double *most = &sleep->speed[sleep->tree_of[i]];
    *most = fmax(*most, sqrt(sn_vec3_dot(a.v, a.v) + r * r * sn_vec3_dot(a.w, a.w)));
  }
}

static void bear(sni_sleep *sleep, uint32_t body) {
  if (body != SN_WORLD) {
    sleep->slow[sleep->tree_of[body]] = sleep->can[sleep->tree_of[body]];
  }
}

/* Trees that touch nothing but the ground.  In heaps the sweeps leave noise in all speeds. */
static void find_alone(const sni_sleep *sleep, const sni_contact *contact, int count) {
  for (int k = 0; k < sleep->ntree; k++) {
    sleep->alone[k] = true;
  }
  for (int k = 0; k < count; k++) {
    const int a = contact[k].body[0], b = contact[k].body[1];
    if (a >= 0 && b >= 0 && sleep->tree_of[a] != sleep->tree_of[b]) {
      sleep->alone[sleep->tree_of[a]] = sleep->alone[sleep->tree_of[b]] = false;
    }
  }
}

/* Steps of h that are as long as it takes to fall asleep. */
static int steps_to_sleep(const sni_sleep *sleep, double h) {
  return (int)fmax(1, fmin(1e9, ceil(sleep->seconds / h * (1 - 1e-12))));
}

/* For how many steps tree k has been slow. */
static void count_steps(const sni_sleep *sleep, int k, double h, double slow, double *state) {
  const int most = steps_to_sleep(sleep, h), before = (int)state[1 + k];
  const double speed = sleep->speed[k];
  double *first = memo(sleep, state, k);
  bool rests = sleep->slow[k] && speed < slow;
  if (before % most == 0) {
    *first = speed;
  } else if (sleep->alone[k] && (before + 1) % most == 0) { /* it tips over, or begins to roll */
    rests = rests && speed < *first + FASTER * slow;
  }
  state[1 + k] = rests ? before + 1 : 0;
}

void sni_sleep_end(sni_sleep *sleep, double h, const sni_contact *contact, int count,
                   const double *q, double *q1, double *qd1, double *state) {
  const sni_dynamics *d = &sleep->sim->d;
  const sni_tree *t = &sleep->sim->m->tree;
  const double *g = d->params.gravity;
  const double slow = SLOW * h * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  if (!(sleep->seconds > 0) || sleep->rehearses) {
    return;
  }
  /* what nothing bears is on its way, however slow it is: it turns round, or hangs askew */
  memset(sleep->slow, 0, (size_t)sleep->ntree * sizeof *sleep->slow);
  for (int k = 0; k < sleep->sim->ntouch; k++) {
    bear(sleep, sleep->sim->touch[k].body);
    bear(sleep, sleep->sim->touch[k].other);
  }
  calc_speeds(sleep);
  find_alone(sleep, contact, count);
  for (int k = 0; k < sleep->ntree; k++) {
    if (state[1 + k] >= 0) {
      count_steps(sleep, k, h, slow, state);
    }
  }
  join_islands(sleep, contact, count, state);
  calc_places(sleep, q);
  for (int k = 0; k < sleep->ntree; k++) {
    const int root = find(sleep->link, k);
    if (state[1 + k] >= 0 && sleep->rested[root] >= steps_to_sleep(sleep, h)) {
      state[1 + k] = -1 - root;
      *memo(sleep, state, k) = place_of(sleep, k);
    }
  }
  look(sleep, state);
  for (int i = 0; sleep->any && i < t->nbody; i++) {
    for (int c = t->vadr[i]; sleep->asleep[i] && c < t->vadr[i + 1]; c++) {
      q1[c] = q[c];
      qd1[c] = 0;
    }
  }
}

/* ---- memory ---- */

static size_t lay_out(sni_sleep *sleep, const sn_model *m, char *memory) {
  const size_t nbody = (size_t)m->tree.nbody, n = (size_t)tree_count(m);
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  sleep->reach = TAKE(nbody, sizeof *sleep->reach);
  sleep->tree_of = TAKE(nbody, sizeof *sleep->tree_of);
  sleep->link = TAKE(n, sizeof *sleep->link);
  sleep->rested = TAKE(n, sizeof *sleep->rested);
  sleep->asleep = TAKE(nbody, sizeof *sleep->asleep);
  sleep->can = TAKE(n, sizeof *sleep->can);
  sleep->slow = TAKE(n, sizeof *sleep->slow);
  sleep->alone = TAKE(n, sizeof *sleep->alone);
  sleep->speed = TAKE(n, sizeof *sleep->speed);
  sleep->place = TAKE(n, sizeof *sleep->place);
#undef TAKE
  return used;
}

size_t sni_sleep_size(const sn_model *m) {
  sni_sleep sleep;
  return lay_out(&sleep, m, NULL);
}

void sni_sleep_place(sni_sleep *sleep, const sn_sim *sim, const sni_system *s, void *memory) {
  const sni_tree *t = &sim->m->tree;
  *sleep = (sni_sleep){.sim = sim, .s = s, .seconds = sim->options.redmax.contact.sleep};
  lay_out(sleep, sim->m, memory);
  for (int i = 0; i < t->nbody; i++) {
    const sn_inertia I = sni_params_inertia(&sim->d.params, i);
    sleep->tree_of[i] = t->parent[i] < 0 ? sleep->ntree++ : sleep->tree_of[t->parent[i]];
    sleep->reach[i] = I.mass > 0 ? sqrt((I.xx + I.yy + I.zz) / I.mass) : 0;
    sleep->asleep[i] = false;
  }
  find_sleepers(sleep);
}
