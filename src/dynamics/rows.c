/* rows.c: the rows of all constraints together. */
#include "dynamics/rows.h"

#include "base/memory.h"
#include "model/map.h"

#include <stddef.h>
#include <string.h>

/* What is left below this part of the two sides of a row, where they act on the same joint, is
 * rounding. */
#define CANCELS 1e-13

/* ---- rows ---- */

sni_constraint_eval sni_rows_eval_of(const sni_rows *r, double t, double t_ref, const double *q,
                                     const double *qd) {
  const sn_model *m = r->d->m;
  return (sni_constraint_eval){.t = t,
                               .t_ref = t_ref,
                               .one_place = r->one_place,
                               .steep = r->steep,
                               .function = (const sni_function *const *)m->function,
                               .E_wb = r->d->E_wb,
                               .phi = r->d->phi,
                               .q = q,
                               .qd = qd,
                               .joints = m->loop_joints,
                               .S0 = m->loop_S0,
                               .basis = m->loop_basis,
                               .loop_q = r->loop_q,
                               .loop_qd = r->loop_qd};
}

/* Of the n rows of constraint k that stand behind the others. */
static void add_rows(sni_rows *r, int k, int n) {
  const int first = r->nrow, skip = r->places_only ? sni_rows_rates_of(r, k) : 0;
  for (int i = first + skip; i < first + n; i++) {
    if (r->apart && r->row[i].one_sided) {
      r->sided_of[r->napart] = k;
      r->sided[r->napart++] = r->row[i];
    } else {
      if (i > r->nrow) {
        r->row[r->nrow] = r->row[i];
      }
      r->of[r->nrow++] = k;
    }
  }
}

#define AHEAD 8 /* constraints, of what is expected */

SNI_EXPECT_FN void expect(const sni_rows *r, int k) {
  const sni_dynamics *d = r->d;
  if (k + 2 * AHEAD < r->nconstraint) {
    sni_memory_expect(r->constraint[k + 2 * AHEAD].body, sizeof r->constraint->body);
  }
  for (int side = 0; side < 2 && k + AHEAD < r->nconstraint; side++) {
    const int body = r->constraint[k + AHEAD].body[side];
    if (body >= 0) {
      sni_memory_expect(&d->w.link[body], offsetof(sni_link, c));
      sni_memory_expect(&d->E_wb[body], sizeof d->E_wb[body]);
      sni_memory_expect(&d->phi[body], sizeof d->phi[body]);
    }
  }
}

/* Of bodies that constraints hold, which are often few; contact wants to know of all. */
static void look_at_bodies(sni_rows *r) {
  const bool known = r->looked == r->d->noted;
  r->looked = r->d->noted;
  if (r->d->m->touching) {
    sni_dynamics_poses(r->d);
    return;
  }
  for (int k = 0; k < 2 * r->nconstraint && !known; k++) {
    const int body = r->constraint[k / 2].body[k % 2];
    if (k % 2 == 0) {
      expect(r, k / 2);
    }
    if (body >= 0) {
      sni_dynamics_pose(r->d, body);
    }
  }
}

static bool is_on(const sni_rows *r, const sni_constraint *c, double t_ref) {
  double on[3] = {1};
  if (c->active >= 0 && !r->always) {
    sni_function_eval(r->d->m->function[c->active], t_ref, t_ref, on);
  }
  return on[0] > 0;
}

void sni_rows_find_loops(sni_rows *r, double t_ref, const double *q, const double *qd) {
  sni_dynamics_kinematics(r->d, q, qd);
  look_at_bodies(r);
  const sni_constraint_eval e = sni_rows_eval_of(r, t_ref, t_ref, q, qd);
  for (int k = 0; k < r->nconstraint; k++) {
    const sni_constraint *c = &r->constraint[k];
    if (c->kind == SNI_LOOP && is_on(r, c, t_ref)) {
      sni_constraint_loop_find(&e, c);
    } else if (c->kind == SNI_MAP && c->part == 0) {
      sni_map_find(c->map, q, r->loop_q + c->map->first);
    }
  }
}

static void evaluate(sni_rows *r, double t, double t_ref, bool poses_only, const double *q,
                     const double *qd) {
  const sn_model *m = r->d->m;
  look_at_bodies(r);
  sni_constraint_eval e = sni_rows_eval_of(r, t, t_ref, q, qd);
  e.poses_only = poses_only;
  r->nrow = r->napart = 0;
  for (int k = 0; k < r->nconstraint; k++) {
    const sni_constraint *c = &r->constraint[k];
    if (is_on(r, c, t_ref)) {
      const int n = sni_constraint_kind(c->kind)->rows(&e, c, r->row + r->nrow);
      add_rows(r, k, n);
    }
  }
  if (m->nsided > 0 && !r->apart) {
    sni_unilateral_guess(r);
  } else {
    r->nsided = 0;
  }
  memcpy(r->q_seen, q, (size_t)m->tree.nv * sizeof *q);
  memcpy(r->loop_q_seen, r->loop_q, (size_t)m->nloop_q * sizeof *r->loop_q);
  r->seen = true;
  r->look++;
  r->exact = 0;
}

void sni_rows_eval_gaps(sni_rows *r, double t, double t_ref, const double *q, const double *qd) {
  look_at_bodies(r);
  sni_constraint_eval e = sni_rows_eval_of(r, t, t_ref, q, qd);
  e.poses_only = e.gaps_only = true;
  sni_row *row = r->row;
  for (int k = 0; k < r->nconstraint; k++) {
    row += sni_constraint_loop_rows(&e, &r->constraint[k], row);
  }
}

void sni_rows_eval(sni_rows *r, double t, double t_ref, const double *q, const double *qd) {
  evaluate(r, t, t_ref, false, q, qd);
}

/* The rows of joints depend on the pose alone, and are found again as they were, to the last bit:
 * their coordinates, once found, stay. */
void sni_rows_eval_poses(sni_rows *r, double t, double t_ref, const double *q, const double *qd) {
  const sn_model *m = r->d->m;
  if (!(r->seen && r->timeless) || memcmp(r->q_seen, q, (size_t)m->tree.nv * sizeof *q) != 0 ||
      memcmp(r->loop_q_seen, r->loop_q, (size_t)m->nloop_q * sizeof *r->loop_q) != 0) {
    evaluate(r, t, t_ref, m->nsided == 0, q, qd);
  } else {
    look_at_bodies(r);
  }
}

int sni_rows_not_finite(const sni_rows *r, bool bias) {
  for (int i = 0; i < r->nrow; i++) {
    const double sum = r->row[i].g + r->row[i].rate + (bias ? r->row[i].bias : 0);
    if (!isfinite(sum)) {
      return r->of[i];
    }
  }
  return -1;
}

double sni_rows_gap_of(const sni_rows *r, int i) {
  const sni_row *row = &r->row[i];
  const bool sided = row->one_sided && sni_unilateral_is_free(r, i);
  return !sided ? fabs(row->g) : row->g > 0 || row->stop.stiffness > 0 ? 0 : -row->g;
}

double sni_rows_gap(const sni_rows *r, int *constraint) {
  double worst = 0;
  *constraint = -1;
  for (int i = 0; i < r->nrow; i++) {
    const double gap = sni_rows_gap_of(r, i);
    if (!(gap <= worst)) {
      worst = gap;
      *constraint = r->of[i];
    }
  }
  return worst;
}

double sni_row_mul(const sni_row *row, const sni_work *w, const double *x) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (row->body[side] >= 0) {
      sum += sn_vec6_dot(row->p[side], sni_lane6_vec6(w->a[row->body[side]]));
    }
  }
  for (int k = 0; k < row->ncoord; k++) {
    sum += row->coef[k] * x[row->coord[k]];
  }
  return sum;
}

/* What is left of both sides where they cancel each other is 0, and not rounding: that is all there
 * is of a row which holds what holds already. */
static double left_of(double sum, sni_lane6 S, sni_lane6 f) {
  const double size = sni_lane6_dot(S, S) * sni_lane6_dot(f, f);
  return sum * sum > CANCELS * CANCELS * size ? sum : 0;
}

void sni_row_add_column(const sni_row *row, const sni_dynamics *d, double c, double *x) {
  const sni_tree *t = &d->m->tree;
  const sni_work *w = &d->w;
  const bool both = row->body[0] >= 0 && row->body[1] >= 0;
  for (int side = 0; side < 2; side++) {
    sni_lane6 f = sni_lane6_from(sn_vec6_scale(row->p[side], c));
    for (int b = row->body[side]; b >= 0; b = t->parent[b]) {
      for (int k = t->vadr[b]; k < t->vadr[b + 1]; k++) {
        const double sum = x[k] + sni_lane6_dot(w->S[k], f);
        x[k] = both && side == 1 ? left_of(sum, w->S[k], f) : sum;
      }
      f.w += sni_lane_cross(w->r[b], f.v);
    }
  }
  for (int k = 0; k < row->ncoord; k++) {
    x[row->coord[k]] += c * row->coef[k];
  }
}

void sni_rows_mul(sni_rows *r, const double *x, double *out) {
  sni_work *w = &r->d->w;
  sni_J_mul_world(&r->d->m->tree, w, x);
  for (int i = 0; i < r->nrow; i++) {
    out[i] = sni_row_mul(&r->row[i], w, x);
  }
}

void sni_rows_column(const sni_rows *r, int i, double *x) {
  memset(x, 0, (size_t)r->d->m->tree.nv * sizeof *x);
  sni_row_add_column(&r->row[i], r->d, 1, x);
}

void sni_rows_push(sni_rows *r, int i, double force) {
  sni_row_push(&r->row[i], r->d, force);
}

void sni_row_push(const sni_row *row, sni_dynamics *d, double force) {
  if (!d->use_wrench) {
    memset(d->w.wrench, 0, (size_t)d->m->tree.nbody * sizeof *d->w.wrench);
    d->use_wrench = true;
  }
  for (int side = 0; side < 2; side++) {
    if (row->body[side] >= 0) {
      sn_vec6 *wrench = &d->w.wrench[row->body[side]];
      *wrench = sn_vec6_addscaled(*wrench, force, row->p[side]);
    }
  }
  for (int k = 0; k < row->ncoord; k++) {
    d->w.tau[row->coord[k]] += force * row->coef[k];
  }
}

/* ---- memory ---- */

static size_t lay_out(sni_rows *r, const sn_model *m, bool dual, char *memory) {
  const size_t nv = (size_t)m->tree.nv, n = (size_t)m->nrow;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  r->row = TAKE(n, sizeof *r->row);
  r->of = TAKE(n, sizeof *r->of);
  r->sided = TAKE((size_t)m->nsided, sizeof *r->sided);
  r->sided_of = TAKE((size_t)m->nsided, sizeof *r->sided_of);
  r->order = TAKE(n, sizeof *r->order);
  r->loop_q = TAKE((size_t)m->nloop_q, sizeof *r->loop_q);
  r->loop_qd = TAKE((size_t)m->nloop_q, sizeof *r->loop_qd);
  r->X = TAKE(dual ? n * nv : 0, sizeof *r->X);
  r->S = TAKE(dual ? n * n : 0, sizeof *r->S);
  r->scale = TAKE(n, sizeof *r->scale);
  r->y = TAKE(n, sizeof *r->y);
  r->lambda = TAKE(n, sizeof *r->lambda);
  r->rhs = TAKE(n, sizeof *r->rhs);
  r->lambda_before = TAKE(n, sizeof *r->lambda_before);
  r->multiplier = TAKE(n, sizeof *r->multiplier);
  r->least = TAKE(n, sizeof *r->least);
  r->column = TAKE(nv, sizeof *r->column);
  r->terms = TAKE(nv, sizeof *r->terms);
  r->step = TAKE(nv, sizeof *r->step);
  r->q_before = TAKE(nv, sizeof *r->q_before);
  r->q_open = TAKE(nv, sizeof *r->q_open);
  r->q_seen = TAKE(nv, sizeof *r->q_seen);
  r->loop_q_seen = TAKE((size_t)m->nloop_q, sizeof *r->loop_q_seen);
  void *columns = TAKE(dual && n > 0 ? sni_columns_size(&m->tree) : 0, 1);
  void *halves = TAKE(dual && n > 0 ? sni_halves_size(&m->tree, m->nrow) : 0, 1);
  void *sided = TAKE(m->nsided > 0 ? sni_unilateral_size(m->nrow, m->tree.nv, dual) : 0, 1);
#undef TAKE
  if (memory && dual) {
    sni_columns_place(&r->columns, &m->tree, columns);
    sni_halves_place(&r->halves, &m->tree, m->nrow, halves);
  }
  if (memory && m->nsided > 0) {
    sni_unilateral_place(&r->u, m->nrow, m->tree.nv, dual, sided);
  }
  return used;
}

size_t sni_rows_size(const sn_model *m, bool dual) {
  sni_rows r;
  return lay_out(&r, m, dual, NULL);
}

void sni_rows_place(sni_rows *r, sni_dynamics *d, bool dual, bool motions, void *memory) {
  *r = (sni_rows){.d = d,
                  .constraint = d->m->constraint,
                  .nconstraint = d->m->nconstraint + (motions ? d->m->nmotion_row : 0),
                  .capacity = d->m->nrow,
                  .dual = dual};
  memset(memory, 0, sni_rows_size(d->m, dual));
  lay_out(r, d->m, dual, memory);
  r->timeless = true;
  for (int k = 0; k < r->nconstraint; k++) {
    const sni_constraint *c = &r->constraint[k];
    const bool joint = sni_constraint_kind(c->kind)->rows == sni_constraint_loop_rows;
    r->timeless = r->timeless && joint && c->active < 0;
  }
  if (d->m->nloop_q > 0) {
    memcpy(r->loop_q, d->m->loop_q0, (size_t)d->m->nloop_q * sizeof *r->loop_q);
  }
}
