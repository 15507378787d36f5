/* stay.c: what sticks stays where it is.
 *
 * Gaps close by the least motion of the masses, which may move what sticks too, a little in every
 * step: then once more, with coordinates that stick so heavy that the others do it.  A joint that
 * closes a loop is no coordinate: rates that leave it still to first order turn it by their
 * square, whoever closes the gaps.  Its own coordinates z, with rows T over those of the tree, are
 * put back to where they were at the start of the step, by Newton's method in the same metric:
 *
 *     dq = P T^T y     (T P T^T) y = z0 - z     P = M^-1 - M^-1 G^T (G M^-1 G^T)^-1 G M^-1
 *
 * which opens no gap to first order, and what it opens beyond that is closed again. */
#include "methods/redmax/stay.h"

#include "linear/vector.h"
#include "methods/redmax/move.h"
#include "math/dense.h"

#include <string.h>

/* Of all that moves: so many times as heavy is what sticks, where gaps close. */
#define HEAVY 1e8
/* What closing moves by less stays. */
#define CREEP 1e-15
/* Loops that are put back are there, but for this. */
#define THERE 1e-14
/* So many times as far as they would have gone; or this part of what moves in the step. */
#define FAR  10
#define PART 0.1
/* What is left of a row of T beside the others and the constraints, if it has anything to say. */
#define LEFT 1e-9
/* A coordinate that has so little of the largest rate left is held by its weight. */
#define STANDS 1e-6
/* Of the kinetic energy: welding what has just come to rest takes less, but in a blow. */
#define BLOW 5e-3
enum { NEWTON_MAX = 8 };

/* ---- memory ---- */

/* Coordinates of loops that rub. */
static int loop_coordinates(const sn_model *m) {
  int n = 0;
  for (int k = 0; k < m->nrub; k++) {
    n += m->rub[k].loop >= 0 ? m->constraint[m->rub[k].loop].nv : 0;
  }
  return n;
}

static size_t numbers(const sn_model *m) {
  const size_t nv = (size_t)m->tree.nv, nloop = (size_t)m->nloop_q;
  const size_t n = (size_t)loop_coordinates(m);
  return nloop + 2 * (2 * nv + nloop) + n * (2 * nv + n + 3);
}

size_t sni_stay_size(const sn_model *m) {
  const size_t flags = (size_t)m->tree.nv + (size_t)m->nloop_q;
  return numbers(m) * sizeof(double) + (flags + 7) / 8 * 8 * sizeof(bool);
}

void sni_stay_place(sni_still *still, const sn_model *m, void *memory) {
  double *at = memory;
  still->at = at;
  still->room = at + m->nloop_q;
  still->coord = (bool *)(at + numbers(m));
  still->loop = still->coord + m->tree.nv;
  sni_stay_clear(still, m);
}

void sni_stay_clear(sni_still *still, const sn_model *m) {
  memset(still->coord, 0, (size_t)(m->tree.nv + m->nloop_q) * sizeof *still->coord);
  still->loops = false;
}

void sni_stay_copy(sni_still *still, const sni_still *other, const sn_model *m) {
  memcpy(still->coord, other->coord, (size_t)(m->tree.nv + m->nloop_q) * sizeof *still->coord);
  memcpy(still->at, other->at, (size_t)m->nloop_q * sizeof *still->at);
  still->loops = other->loops;
}

void sni_stay_both(sni_still *still, const sni_still *other, const sn_model *m) {
  for (int k = 0; k < m->tree.nv + m->nloop_q; k++) { /* loops come behind the tree */
    still->coord[k] = still->coord[k] && other && other->coord[k];
  }
  still->loops = still->loops && other && other->loops;
}

/* ---- heavy coordinates ---- */

/* The momentum of all bodies together, if they moved as one, by twists at the origin of the first
 * of them. */
static void add_up(const sni_dynamics *d, double M[6][6]) {
  const sni_tree *t = &d->m->tree;
  const sn_vec3 o = sni_lane_vec3(d->w.link[0].o);
  memset(M, 0, 36 * sizeof(double));
  for (int b = 0; b < t->nbody; b++) {
    const sn_vec3 arm = sn_vec3_sub(sni_lane_vec3(d->w.link[b].o), o);
    for (int c = 0; c < 6; c++) {
      double u[6] = {0};
      u[c] = 1;
      const sn_vec3 w = {u[0], u[1], u[2]}, v = {u[3], u[4], u[5]};
      const sn_vec6 y = {w, sn_vec3_add(v, sn_vec3_cross(w, arm))};
      const sn_vec6 p = sni_lane6_vec6(sni_momentum(&d->mass[b], &d->w.link[b], sni_lane6_from(y)));
      const sn_vec6 at = {sn_vec3_add(p.w, sn_vec3_cross(arm, p.v)), p.v};
      for (int i = 0; i < 6; i++) {
        M[i][c] += sn_vec6_get(at, i);
      }
    }
  }
}

/* Twice the energy of that, if they moved as the coordinate c of body i does. */
static double weight_of(const sni_dynamics *d, double M[6][6], int i, int c) {
  const sn_vec6 S = sni_lane6_vec6(d->w.S[c]);
  const sn_vec3 arm = sn_vec3_sub(sni_lane_vec3(d->w.link[0].o), sni_lane_vec3(d->w.link[i].o));
  const sn_vec6 y = {S.w, sn_vec3_add(S.v, sn_vec3_cross(S.w, arm))};
  double sum = d->params.armature[c];
  for (int a = 0; a < 6; a++) {
    for (int b = 0; b < 6; b++) {
      sum += sn_vec6_get(y, a) * M[a][b] * sn_vec6_get(y, b);
    }
  }
  return sum;
}

/* M: as add_up has it. */
static void weigh_down(const sni_system *s, double M[6][6]) {
  const sni_tree *t = s->t;
  sni_dynamics *d = s->d;
  add_up(d, M);
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    for (int k = 0; k < nv; k++) {
      if (s->still->coord[adr + k]) {
        d->armature[t->factor[i] + k * nv + k] += HEAVY * weight_of(d, M, i, adr + k);
        d->armed = true;
      }
    }
  }
}

/* ---- loops ---- */

/* What is to be done for joints of loops that stick. */
typedef struct put_back {
  int n;            /* their coordinates that do                                               */
  double *T, *X;    /* n x nv  T, and P T^T, row by row                                        */
  double *S;        /* n^2                                                                     */
  double *miss, *y; /* n  z0 - z, y                                                            */
  double *full;     /* n  diagonal of T M^-1 T^T                                               */
} put_back;

static put_back lay_out(const sn_sim *sim, const sni_system *s) {
  const size_t nv = (size_t)s->t->nv, n = (size_t)loop_coordinates(sim->m);
  put_back p = {.T = s->still->room + 2 * (2 * nv + (size_t)sim->m->nloop_q)};
  p.X = p.T + n * nv;
  p.S = p.X + n * nv;
  p.miss = p.S + n * n;
  p.y = p.miss + n;
  p.full = p.y + n;
  return p;
}

/* T and the misses of a loop, some of which sticks. */
static void look_at_loop(sn_sim *sim, const sni_system *s, const sni_constraint *c,
                         const sni_constraint_eval *e, put_back *p) {
  sni_dynamics *d = s->d;
  const size_t nv = (size_t)s->t->nv;
  sni_row row[SN_NV_MAX];
  sni_loop_map map;
  for (int side = 0; side < 2; side++) {
    if (c->body[side] >= 0) {
      sni_dynamics_pose(d, c->body[side]);
    }
  }
  sni_constraint_loop_rows(e, c, row);
  sni_constraint_loop_map(e, c, &map);
  for (int i = 0; i < c->nv; i++) {
    const int z = c->first + i;
    if (s->still->loop[z]) {
      const sni_row own = {.body = {c->body[0], c->body[1]}, .p = {map.p[0][i], map.p[1][i]}};
      double *T = p->T + (size_t)p->n * nv;
      memset(T, 0, nv * sizeof *T);
      sni_row_add_column(&own, d, 1, T);
      p->miss[p->n++] = s->still->at[z] - sim->rows.loop_q[z];
    }
  }
}

/* All of them, at q1; the largest miss. */
static double look(sn_sim *sim, const sni_system *s, double t, const double *q1, const double *qd1,
                   put_back *p) {
  const sn_model *m = sim->m;
  double most = 0;
  p->n = 0;
  sni_dynamics_kinematics(s->d, q1, qd1);
  const sni_constraint_eval e = sni_rows_eval_of(&sim->rows, t, t, q1, qd1);
  for (int k = 0; k < m->nrub; k++) {
    bool any = false;
    const sni_constraint *c = m->rub[k].loop >= 0 ? &m->constraint[m->rub[k].loop] : NULL;
    for (int i = 0; c && i < c->nv; i++) {
      any = any || s->still->loop[c->first + i];
    }
    if (any) {
      look_at_loop(sim, s, c, &e, p);
    }
  }
  for (int i = 0; i < p->n; i++) {
    most = fmax(most, fabs(p->miss[i]));
  }
  return most;
}

/* X and S at q1, after look; false: there are none. */
static bool find_ways(sn_sim *sim, const sni_system *s, double t, put_back *p, const double *q1,
                      const double *qd1) {
  const int nv = s->t->nv;
  const sni_aba_in in = sni_dynamics_masses(s->d);
  if (sni_factorise(s->t, &in, &s->d->w) >= 0) {
    return false;
  }
  for (int j = 0; j < p->n; j++) { /* without constraints */
    sni_Minv_mul(s->t, &s->d->w, p->T + (size_t)j * (size_t)nv, p->X);
    p->full[j] = sni_dot(nv, p->T + (size_t)j * (size_t)nv, p->X);
  }
  sni_rows_eval_poses(&sim->rows, t, t, q1, qd1);
  if (sni_rows_factorise_mass(&sim->rows) >= 0) {
    return false;
  }
  for (int j = 0; j < p->n; j++) {
    double *x = p->X + (size_t)j * (size_t)nv;
    if (sni_rows_yield(&sim->rows, p->T + (size_t)j * (size_t)nv, x) < 0) {
      return false;
    }
    for (int i = 0; i < p->n; i++) {
      p->S[i * p->n + j] = sni_dot(nv, p->T + (size_t)i * (size_t)nv, x);
    }
  }
  return true;
}

/* x += X y */
static void go_along(const put_back *p, int nv, double *x) {
  for (int j = 0; j < p->n; j++) {
    for (int c = 0; c < nv; c++) {
      x[c] += p->y[j] * p->X[(size_t)j * (size_t)nv + (size_t)c];
    }
  }
}

/* One step of Newton's method, after look; false: there is none. */
static bool step_back(sn_sim *sim, const sni_system *s, double t, put_back *p, double *q1,
                      const double *qd1) {
  if (!find_ways(sim, s, t, p, q1, qd1)) {
    return false;
  }
  sni_solve_singular(p->n, p->S, p->full, LEFT, p->miss, p->y);
  go_along(p, s->t->nv, q1);
  return true;
}

/* ---- both ---- */

static sn_status close_gaps(sn_sim *sim, double t_end, bool rates, bool near, double *q1,
                            double *qd1, sn_error *err) {
  return rates ? sni_sim_project(sim, t_end, t_end, q1, qd1, err)
               : sni_sim_close(sim, t_end, near, q1, qd1, err);
}

/* Has closing moved coordinates that stick? */
static bool has_crept(const sni_system *s, const double *before, const double *q1) {
  bool any = false;
  for (int k = 0; k < s->t->nv; k++) {
    any = any || (s->still->coord[k] && fabs(q1[k] - before[k]) > CREEP);
  }
  return any;
}

/* How far closing has gone. */
static double way_from(const sni_system *s, const double *before, const double *q1) {
  double most = 0;
  for (int k = 0; k < s->t->nv; k++) {
    most = fmax(most, fabs(q1[k] - before[k]));
  }
  return most;
}

/* How far the others may go for what sticks, where `little` would do without; start: as in keep. */
static double way_allowed(const sni_system *s, const double *start, double little) {
  return fmax(FAR * little, PART * s->h * sni_largest(s->t->nv, start + s->t->nv));
}

/* To room, or back: coordinates, rates, and coordinates of loops. */
static void keep(const sn_sim *sim, const sni_system *s, double *q1, double *qd1, double *room) {
  const size_t bytes = (size_t)s->t->nv * sizeof *q1;
  memcpy(room, q1, bytes);
  memcpy(room + s->t->nv, qd1, bytes);
  memcpy(room + 2 * s->t->nv, sim->rows.loop_q, (size_t)sim->m->nloop_q * sizeof *q1);
}
static void take_back(sn_sim *sim, const sni_system *s, const double *room, double *q1,
                      double *qd1) {
  const size_t bytes = (size_t)s->t->nv * sizeof *q1;
  memcpy(q1, room, bytes);
  memcpy(qd1, room + s->t->nv, bytes);
  memcpy(sim->rows.loop_q, room + 2 * s->t->nv, (size_t)sim->m->nloop_q * sizeof *q1);
}

/* Loops that stick back to where they were; closes: and gaps closed after each step there. */
static sn_status put_loops_back(sn_sim *sim, sni_system *s, double t_end, bool closes, bool rates,
                                put_back *p, double *q1, double *qd1, sn_error *err) {
  sn_status status = SN_OK;
  double miss = look(sim, s, t_end, q1, qd1, p), before = INFINITY;
  for (int k = 0; k < NEWTON_MAX && miss > THERE && miss < 0.5 * before && !status; k++) {
    if (!step_back(sim, s, t_end, p, q1, qd1)) {
      return SN_E_SINGULAR;
    }
    status = closes ? close_gaps(sim, t_end, rates, false, q1, qd1, err) : SN_OK;
    before = miss;
    miss = status ? miss : look(sim, s, t_end, q1, qd1, p);
  }
  return status;
}

/* ---- rates ---- */

/* Joints of loops that stick: their rates to 0 in the same metric, and into `owed` what that took,
 * unless it is NULL. */
static bool weld_loops(sn_sim *sim, const sni_system *s, double t_end, const double *q1,
                       double *qd1, double *owed) {
  const int nv = s->t->nv;
  put_back p = lay_out(sim, s);
  look(sim, s, t_end, q1, qd1, &p);
  if (p.n == 0) {
    return true;
  }
  if (!find_ways(sim, s, t_end, &p, q1, qd1)) {
    return false;
  }
  for (int j = 0; j < p.n; j++) {
    p.miss[j] = -sni_dot(nv, p.T + (size_t)j * (size_t)nv, qd1);
  }
  sni_solve_singular(p.n, p.S, p.full, LEFT, p.miss, p.y);
  go_along(&p, nv, qd1);
  for (int j = 0; j < p.n; j++) {
    for (int c = 0; owed && c < nv; c++) {
      owed[c] -= p.y[j] / s->h * p.T[(size_t)j * (size_t)nv + (size_t)c];
    }
  }
  return true;
}

/* What the weight of still coordinates has kept, which are at rest from now on; false: they do not
 * stand. */
static bool take_weight(const sni_system *s, double M[6][6], double *qd1, double *owed) {
  const sni_tree *t = s->t;
  const double most = sni_largest(t->nv, qd1);
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    for (int k = 0; k < nv; k++) {
      const int c = adr + k;
      if (s->still->coord[c] && !(fabs(qd1[c]) <= STANDS * most)) {
        return false;
      }
      if (s->still->coord[c] && owed) {
        owed[c] += HEAVY * weight_of(s->d, M, i, c) * qd1[c] / s->h;
      }
      qd1[c] = s->still->coord[c] ? 0 : qd1[c];
    }
  }
  return true;
}

/* The rates of the start onto the constraints at q1, where gaps are closed, and what sticks at
 * rest: friction has seen how they bend the way there, and has said its part (rub_lead.c).  Twice,
 * so that constraints fit too.  Where what sticks does not stand, as the constraints will. */
static sn_status fit_rates(sn_sim *sim, sni_system *s, double t_end, double *start, double *q1,
                           double *qd1, sn_error *err) {
  const size_t bytes = (size_t)s->t->nv * sizeof *q1;
  double *rates = start + s->t->nv, M[6][6];
  memcpy(start, q1, bytes);
  memcpy(qd1, rates, bytes);
  weigh_down(s, M);
  bool stands = true;
  for (int pass = 0; stands && pass < 2; pass++) {
    sn_error none = {0};
    stands = !sni_sim_project(sim, t_end, t_end, q1, qd1, &none);
    memcpy(q1, start, bytes); /* closed they are, but for rounding */
    stands = stands && (!s->still->loops || weld_loops(sim, s, t_end, q1, qd1, NULL)) &&
             take_weight(s, M, qd1, NULL);
  }
  sni_rotors_refresh(s->d);
  sni_rows_forget_factors(&sim->rows);
  if (stands) {
    return SN_OK;
  }
  memcpy(qd1, rates, bytes);
  const sn_status status = sni_sim_project(sim, t_end, t_end, q1, qd1, err);
  memcpy(q1, start, bytes);
  return status;
}

/* ---- all of it ---- */

/* Where the others cannot do it, or would go far for it as linkages do that are nearly straight,
 * what sticks gives way. */
sn_status sni_stay_close(sn_sim *sim, sni_system *s, double t_end, bool rates, double *q1,
                         double *qd1, sn_error *err) {
  if (!s->still) {
    return close_gaps(sim, t_end, rates, true, q1, qd1, err);
  }
  double *start = s->still->room, *end = start + 2 * s->t->nv + sim->m->nloop_q;
  put_back p = lay_out(sim, s);
  sn_error none = {0};
  keep(sim, s, q1, qd1, start);
  const sn_status status = close_gaps(sim, t_end, rates, true, q1, qd1, err);
  if (status) {
    return status;
  }
  keep(sim, s, q1, qd1, end);
  const bool crept = has_crept(s, start, q1);
  const double miss = s->still->loops ? look(sim, s, t_end, q1, qd1, &p) : 0;
  if (!crept && miss <= THERE) {
    return rates ? fit_rates(sim, s, t_end, start, q1, qd1, err) : SN_OK;
  }
  take_back(sim, s, start, q1, qd1);
  double M[6][6];
  weigh_down(s, M);
  sn_status held = close_gaps(sim, t_end, rates, false, q1, qd1, &none);
  if (!held && s->still->loops) {
    held = put_loops_back(sim, s, t_end, true, rates, &p, q1, qd1, &none);
  }
  sni_rotors_refresh(s->d);
  sni_rows_forget_factors(&sim->rows);
  const double little = way_from(s, start, end) + miss;
  if (held || way_from(s, start, q1) > way_allowed(s, start, little)) {
    take_back(sim, s, end, q1, qd1);
    sni_dynamics_kinematics(s->d, q1, qd1);
    return SN_OK;
  }
  return rates ? fit_rates(sim, s, t_end, start, q1, qd1, err) : SN_OK;
}

void sni_stay_open(sn_sim *sim, sni_system *s, double t_end, double *q1, double *qd1) {
  if (!s->still || !s->still->loops) {
    return;
  }
  double *start = s->still->room;
  put_back p = lay_out(sim, s);
  keep(sim, s, q1, qd1, start);
  const double miss = look(sim, s, t_end, q1, qd1, &p);
  if (miss <= THERE) {
    return;
  }
  double M[6][6];
  weigh_down(s, M);
  const sn_status held = put_loops_back(sim, s, t_end, false, false, &p, q1, qd1, NULL);
  sni_rotors_refresh(s->d);
  sni_rows_forget_factors(&sim->rows);
  if (held || way_from(s, start, q1) > way_allowed(s, start, miss)) {
    take_back(sim, s, start, q1, qd1);
  }
}

/* What sticks, and did in the step before: more, nothing or all of it? */
static bool weld_again(const sni_system *s, const sn_model *m, bool *all) {
  sni_still *both = s->welded;
  bool any = false;
  *all = true;
  sni_stay_copy(both, s->still, m);
  both->loops = false;
  for (int k = 0; k < m->tree.nv + m->nloop_q; k++) { /* loops come behind the tree */
    const bool still = both->coord[k];
    both->coord[k] = still && s->was_still[k] > 0;
    *all = *all && still == both->coord[k];
    any = any || both->coord[k];
    both->loops = both->loops || (k >= m->tree.nv && both->coord[k]);
  }
  return any;
}

void sni_stay_remember(const sni_system *s, const sn_model *m) {
  for (int k = 0; s->was_still && k < m->tree.nv + m->nloop_q; k++) {
    s->was_still[k] = s->still && s->still->coord[k] ? 1 : 0;
  }
}

static void weld(sn_sim *sim, sni_system *s, double t_end, sni_stay_project project,
                 const double *q1, double *qd1) {
  const size_t bytes = (size_t)s->t->nv * sizeof *qd1;
  double *start = s->still->room, M[6][6];
  memcpy(start, qd1, bytes);
  memset(s->owed, 0, bytes);
  weigh_down(s, M);
  sni_rows_forget_factors(&sim->rows);
  project(sim, s, t_end, q1, qd1);
  bool stands = (!s->still->loops || weld_loops(sim, s, t_end, q1, qd1, s->owed)) &&
                take_weight(s, M, qd1, s->owed);
  if (stands && sim->d.rows) { /* once more without what is known, so that constraints fit too */
    project(sim, s, t_end, q1, qd1);
    stands = take_weight(s, M, qd1, s->owed);
  }
  sni_rotors_refresh(s->d);
  sni_rotors_turn(s->d, q1, qd1);
  sni_rows_forget_factors(&sim->rows);
  if (!stands) {
    memcpy(qd1, start, bytes);
    memset(s->owed, 0, bytes);
    project(sim, s, t_end, q1, qd1);
  }
}

/* What sticks for the first time, and is welded from `loose` rates to qd1: has that taken more of
 * the energy than what turns on in a step?  Momenta are those of both. */
static bool is_blow(sni_system *s, const double *loose, const double *qd1) {
  const int nv = s->t->nv;
  sni_move_momenta(s, qd1);
  const double energy = sni_dot(nv, s->b, loose);
  return energy - sni_dot(nv, s->b, qd1) > BLOW * energy;
}

/* A blow may hold all there is for a moment.  What bodies turn on by then is no load on joints, but
 * the motion after it: only what stuck before is welded. */
void sni_stay_welded(sn_sim *sim, sni_system *s, double t_end, sni_stay_project project,
                     const double *q1, double *qd1) {
  const sni_still *now = s->still;
  const size_t bytes = (size_t)s->t->nv * sizeof *qd1;
  double *start = s->welded->room, *loose = start + s->t->nv;
  bool all;
  const bool any = weld_again(s, sim->m, &all);
  memcpy(start, qd1, bytes);
  if (!all) {
    project(sim, s, t_end, q1, qd1);
    memcpy(loose, qd1, bytes);
    memcpy(qd1, start, bytes);
  }
  weld(sim, s, t_end, project, q1, qd1);
  if (all || !is_blow(s, loose, qd1)) {
    return;
  }
  memcpy(qd1, start, bytes);
  if (any) {
    s->still = s->welded;
    weld(sim, s, t_end, project, q1, qd1);
    s->still = now;
  } else {
    memset(s->owed, 0, bytes);
    project(sim, s, t_end, q1, qd1);
  }
}
