/* rows.c: the rows of all constraints together, solved in their dual. */
#include "dynamics/rows.h"

#include <string.h>

/* A pivot below this part of its row's own is rounding: the row depends on those before it. */
#define NOISE 1e-11
/* A row of its own below this part of the largest says nothing: out of the plane of a planar
 * mechanism nothing can move. */
#define NOTHING 1e-13
/* The same of its two sides, where they act on the same joint. */
#define CANCELS 1e-13

/* ---- rows ---- */

sni_constraint_eval sni_rows_eval_of(const sni_rows *r, double t, double t_ref, const double *q,
                                     const double *qd) {
  const sn_model *m = r->d->m;
  return (sni_constraint_eval){.t = t,
                               .t_ref = t_ref,
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
  const int first = r->nrow;
  for (int i = first; i < first + n; i++) {
    if (r->apart && r->row[i].one_sided) {
      r->sided_of[r->napart] = k;
      r->sided[r->napart++] = r->row[i];
    } else {
      r->row[r->nrow] = r->row[i];
      r->of[r->nrow++] = k;
    }
  }
}

static void evaluate(sni_rows *r, double t, double t_ref, bool poses_only, const double *q,
                     const double *qd) {
  const sn_model *m = r->d->m;
  sni_dynamics_poses(r->d);
  sni_constraint_eval e = sni_rows_eval_of(r, t, t_ref, q, qd);
  e.poses_only = poses_only;
  r->nrow = r->napart = 0;
  for (int k = 0; k < r->nconstraint; k++) {
    const sni_constraint *c = &r->constraint[k];
    double on[3] = {1};
    if (c->active >= 0) {
      sni_function_eval(e.function[c->active], t_ref, t_ref, on);
    }
    if (on[0] > 0) {
      const int n = sni_constraint_kind(c->kind)->rows(&e, c, r->row + r->nrow);
      add_rows(r, k, n);
    }
  }
  if (m->nsided > 0 && !r->apart) {
    sni_unilateral_guess(r);
  }
  memcpy(r->q_seen, q, (size_t)m->tree.nv * sizeof *q);
  memcpy(r->loop_q_seen, r->loop_q, (size_t)m->nloop_q * sizeof *r->loop_q);
  r->seen = true;
  r->exact = 0;
}

/* g alone, of joints that close loops; all else stays as it was seen last. */
static void evaluate_gaps(sni_rows *r, double t, double t_ref, const double *q, const double *qd) {
  sni_dynamics_poses(r->d);
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
    sni_dynamics_poses(r->d);
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

double sni_rows_slip(sni_rows *r, const double *qd, int *constraint, double *scale) {
  sni_work *w = &r->d->w;
  double worst = 0;
  *constraint = -1;
  *scale = 0;
  sni_J_mul_world(&r->d->m->tree, w, qd);
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    const double slip = fabs(sni_row_mul(row, w, qd) + row->rate);
    *scale = fmax(*scale, fabs(row->rate));
    for (int side = 0; side < 2; side++) {
      const int b = row->body[side];
      if (b >= 0) {
        const sn_vec6 a = sni_lane6_vec6(w->a[b]);
        *scale = fmax(*scale, fabs(sn_vec3_dot(row->p[side].w, a.w)));
        *scale = fmax(*scale, fabs(sn_vec3_dot(row->p[side].v, a.v)));
      }
    }
    if (!row->one_sided && !(slip <= worst)) {
      worst = slip;
      *constraint = r->of[i];
    }
  }
  return worst;
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
  sni_dynamics *d = r->d;
  const sni_row *row = &r->row[i];
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

/* ---- the dual ---- */

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* L L^T = S with the largest pivot first, until what is left is noise.  S holds the lower triangle
 * and gets L, its rows and columns in the new order. */
static void factorise_dual(sni_rows *r) {
  const int n = r->nrow;
  double *S = r->S, *own = r->y, largest = 0;
  for (int i = 0; i < n; i++) {
    r->order[i] = i;
    own[i] = S[i * n + i];
    largest = fmax(largest, own[i]);
  }
  r->rank = 0;
  for (int k = 0; k < n; k++) {
    int best = -1;
    double most = 0;
    for (int i = k; i < n; i++) {
      const double left = own[i] > NOTHING * largest ? S[i * n + i] / own[i] : 0;
      if (left > most) {
        most = left;
        best = i;
      }
    }
    if (best < 0 || !(most > NOISE)) {
      return;
    }
    if (best != k) { /* exchange rows and columns k and best of the lower triangle */
      const int row = r->order[k];
      r->order[k] = r->order[best];
      r->order[best] = row;
      const double scale = own[k];
      own[k] = own[best];
      own[best] = scale;
      for (int j = 0; j < n; j++) {
        const int a = j < k ? k * n + j : j * n + k;
        const int b = j < best ? best * n + j : j * n + best;
        if (j != k && j != best) {
          const double x = S[a];
          S[a] = S[b];
          S[b] = x;
        }
      }
      const double x = S[k * n + k];
      S[k * n + k] = S[best * n + best];
      S[best * n + best] = x;
    }
    const double pivot = sqrt(S[k * n + k]);
    S[k * n + k] = pivot;
    for (int i = k + 1; i < n; i++) {
      S[i * n + k] /= pivot;
    }
    for (int i = k + 1; i < n; i++) {
      for (int j = k + 1; j <= i; j++) {
        S[i * n + j] -= S[i * n + k] * S[j * n + k];
      }
    }
    r->rank++;
  }
}

sn_status sni_rows_factorise(sni_rows *r, sni_rows_solver solve, void *user) {
  const int n = r->nrow, nv = r->d->m->tree.nv;
  r->solve = solve;
  r->user = user;
  if (r->nsided > 0) {
    return sni_unilateral_factorise(r);
  }
  for (int i = 0; i < n; i++) {
    double *x = r->X + (size_t)i * (size_t)nv;
    sni_rows_column(r, i, r->column);
    memset(x, 0, (size_t)nv * sizeof *x);
    const sn_status status = solve(user, r->column, x);
    if (status < 0) {
      return status;
    }
  }
  for (int i = 0; i < n; i++) {
    sni_rows_column(r, i, r->column);
    for (int j = 0; j <= i; j++) {
      r->S[i * n + j] = dot(nv, r->column, r->X + (size_t)j * (size_t)nv);
    }
  }
  factorise_dual(r);
  return SN_OK;
}

/* What is added to x solves the system with b = 0. */
static void correct_in_graph(sni_rows *r, const double *c, double *x) {
  double residual;
  sni_rows_mul(r, x, r->lambda);
  for (int i = 0; i < r->nrow; i++) {
    r->y[i] = c[i] - r->lambda[i];
  }
  if (r->nsided > 0) {
    int bad;
    sni_unilateral_solve(r, NULL, r->y, r->step, &bad, &residual);
  } else {
    sni_kkt_solve(r->kkt, NULL, r->y, r->step, r->lambda, &residual);
  }
  for (int j = 0; j < r->d->m->tree.nv; j++) {
    x[j] += r->step[j];
  }
}

void sni_rows_correct(sni_rows *r, const double *c, double *x) {
  if (r->kkt) {
    correct_in_graph(r, c, x);
    return;
  }
  if (r->nsided > 0) {
    sni_unilateral_correct(r, c, x);
    return;
  }
  const int n = r->nrow, nv = r->d->m->tree.nv, rank = r->rank;
  double *y = r->y;
  sni_rows_mul(r, x, r->lambda);
  for (int k = 0; k < rank; k++) {
    y[k] = r->lambda[r->order[k]] - c[r->order[k]];
  }
  for (int k = 0; k < rank; k++) {
    y[k] = (y[k] - dot(k, r->S + k * n, y)) / r->S[k * n + k];
  }
  for (int k = rank - 1; k >= 0; k--) {
    for (int i = k + 1; i < rank; i++) {
      y[k] -= r->S[i * n + k] * y[i];
    }
    y[k] /= r->S[k * n + k];
  }
  memset(r->lambda, 0, (size_t)n * sizeof *r->lambda);
  for (int k = 0; k < rank; k++) {
    const int i = r->order[k];
    const double *column = r->X + (size_t)i * (size_t)nv;
    r->lambda[i] = y[k];
    for (int j = 0; j < nv; j++) {
      x[j] -= y[k] * column[j];
    }
  }
}

/* ---- with the masses for A ---- */

enum { PROJECT_MAX = 30 };
/* Coordinates that change by less do not move. */
#define STILL 1e-15
/* The same, where rows are far from losing their rank: at least STRONG is left of each. */
#define STILL_STRONG 1e-13
#define STRONG       0.03
/* With the factors of another pose, at most so many steps; and refinements. */
enum { CHORDS_MAX = 3, NEAR_MAX = 4 };
#define NEAR_RATE 1e-2
/* By less than this, the factors of the last step will do. */
#define NEARLY_STILL 1e-4
/* Refining on factors of a pose as far away as this is no dearer than new ones. */
#define STALE_MAX 1e-3

static sn_status solve_mass(void *user, const double *b, double *x) {
  sni_dynamics *d = user;
  sni_Minv_mul(&d->m->tree, &d->w, b, x);
  return SN_OK;
}

/* Bodies have accelerations even where joints have none. */
void sni_rows_coasting(sni_rows *r, double *out) {
  const sni_tree *t = &r->d->m->tree;
  sni_work *w = &r->d->w;
  w->a[-1] = (sni_lane6){0};
  for (int i = 0; i < t->nbody; i++) {
    const sni_lane6 ap = w->a[t->parent[i]], c = w->link[i].c;
    w->a[i].w = ap.w + c.w;
    w->a[i].v = ap.v + (c.v + sni_lane_cross(ap.w, w->r[i]));
  }
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    out[i] = -row->bias;
    for (int side = 0; side < 2; side++) {
      if (row->body[side] >= 0) {
        out[i] -= sn_vec6_dot(row->p[side], sni_lane6_vec6(w->a[row->body[side]]));
      }
    }
  }
}

int sni_rows_factorise_mass(sni_rows *r) {
  sni_dynamics *d = r->d;
  const sni_aba_in in = {.mass = d->mass, .joint_matrix = d->armature};
  r->bad = -1;
  if (r->kkt) {
    sni_kkt_fill(r->kkt, &in, r);
    r->u.fresh = sni_kkt_factorise(r->kkt, NULL, NULL, &r->bad) >= 0;
    return !r->u.fresh && r->bad < 0 ? 0 : r->bad;
  }
  r->bad = sni_factorise(&d->m->tree, &in, &d->w);
  if (r->bad < 0) {
    sni_rows_factorise(r, solve_mass, d);
  }
  return r->bad;
}

/* One of the bodies of a constraint. */
static int body_of(const sni_rows *r, int constraint) {
  const sni_constraint *c = &r->constraint[constraint];
  return c->body[0] >= 0   ? c->body[0]
         : c->body[1] >= 0 ? c->body[1]
         : c->ncoord > 0   ? sni_tree_body_of(&r->d->m->tree, c->coord[0])
                           : 0;
}

/* coasts: nothing acts, and what follows a function of time does not accelerate. */
static int accelerate(sni_rows *r, double t, double t_ref, bool coasts, const double *q,
                      const double *qd, double *qdd) {
  sni_dynamics *d = r->d;
  sni_rows_eval(r, t, t_ref, q, qd);
  const int lost = sni_rows_not_finite(r, true);
  if (lost >= 0) {
    return body_of(r, lost);
  }
  if (r->kkt) {
    const int bad = sni_rows_factorise_mass(r);
    if (bad >= 0) {
      return bad;
    }
  } else {
    sni_rows_factorise(r, solve_mass, d); /* with the factors of sni_aba */
  }
  sni_rows_coasting(r, r->rhs);
  sni_unilateral_aim_accelerations(r, qd);
  for (int i = 0; coasts && i < r->nrow; i++) {
    const bool bodies = r->row[i].body[0] >= 0 || r->row[i].body[1] >= 0;
    r->rhs[i] = r->row[i].one_sided ? SNI_LET_GO : bodies ? r->rhs[i] : 0;
  }
  sni_rows_correct(r, r->rhs, qdd);
  for (int i = 0; i < r->nrow; i++) {
    sni_rows_push(r, i, -r->lambda[i]);
  }
  return -1;
}

int sni_rows_accelerate(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                        double *qdd) {
  return accelerate(r, t, t_ref, false, q, qd, qdd);
}

int sni_rows_coast(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                   double *qdd) {
  return accelerate(r, t, t_ref, true, q, qd, qdd);
}

/* out = b - M x - G^T lambda, by recursion. */
static void momenta_left(sni_rows *r, const double *b, const double *x, double *out) {
  sni_dynamics *d = r->d;
  const sni_tree *t = &d->m->tree;
  sni_lane6 *f = d->w.a;
  sni_J_mul_world(t, &d->w, x);
  for (int i = 0; i < t->nbody; i++) {
    f[i] = sni_momentum(&d->mass[i], &d->w.link[i], f[i]);
  }
  for (int i = 0; i < r->nrow; i++) {
    const sni_row *row = &r->row[i];
    for (int side = 0; side < 2; side++) {
      if (row->body[side] >= 0) {
        sni_lane6 *on = &f[row->body[side]];
        *on = sni_lane6_addscaled(*on, r->lambda[i], sni_lane6_from(row->p[side]));
      }
    }
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    const double *own = d->armature + t->factor[i];
    for (int c = 0; c < nv; c++) {
      out[adr + c] = b[adr + c] - sni_lane6_dot(d->w.S[adr + c], f[i]);
      for (int j = 0; j < nv; j++) {
        out[adr + c] -= own[c * nv + j] * x[adr + j];
      }
    }
    if (t->parent[i] >= 0) {
      sni_lane6 *up = &f[t->parent[i]];
      up->w += f[i].w + sni_lane_cross(d->w.r[i], f[i].v);
      up->v += f[i].v;
    }
  }
  for (int i = 0; i < r->nrow; i++) {
    for (int k = 0; k < r->row[i].ncoord; k++) {
      out[r->row[i].coord[k]] -= r->lambda[i] * r->row[i].coef[k];
    }
  }
}

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* With the factors of a pose that is `stale` away: each refinement on the system as it is here
 * leaves that part of the error, times as much as the heaviest thing weighs more than the lightest.
 * False: too much of it. */
static bool solve_momenta_near(sni_rows *r, const double *b, double *qd) {
  const int nv = r->d->m->tree.nv;
  double residual;
  sni_kkt_take_care(r->kkt, SNI_KKT_TRUSTING);
  sni_kkt_solve(r->kkt, b, r->rhs, qd, r->lambda, &residual);
  double moved = largest(nv, qd);
  bool still = false;
  for (int k = 0; k < NEAR_MAX && !still; k++) {
    sni_rows_mul(r, qd, r->y);
    for (int i = 0; i < r->nrow; i++) {
      r->y[i] = r->rhs[i] - r->y[i];
      r->lambda_before[i] = r->lambda[i];
    }
    momenta_left(r, b, qd, r->column);
    sni_kkt_solve(r->kkt, r->column, r->y, r->step, r->lambda, &residual);
    for (int j = 0; j < nv; j++) {
      qd[j] += r->step[j];
    }
    for (int i = 0; i < r->nrow; i++) {
      r->lambda[i] += r->lambda_before[i];
    }
    const double before = moved;
    moved = largest(nv, r->step);
    still = moved == 0 || moved * (moved / before) <= STILL * largest(nv, qd);
    if (!still && !(moved <= NEAR_RATE * before)) {
      break;
    }
  }
  sni_kkt_take_care(r->kkt, SNI_KKT_EXACT);
  return still;
}

int sni_rows_solve_mass(sni_rows *r, const double *b, const double *c, double *x) {
  if (!r->kkt || !sni_rows_have_factors(r)) {
    const int bad = sni_rows_factorise_mass(r);
    if (bad >= 0) {
      return bad;
    }
  }
  if (r->kkt) {
    double residual;
    sni_rows_keep_factors(r);
    sni_kkt_solve(r->kkt, b, c, x, r->lambda, &residual);
  } else {
    sni_Minv_mul(&r->d->m->tree, &r->d->w, b, x);
    sni_rows_correct(r, c, x);
  }
  return -1;
}

int sni_rows_momenta(sni_rows *r, double t, double t_ref, double gain, bool near, const double *b,
                     const double *q, double *qd) {
  sni_rows_eval_poses(r, t, t_ref, q, qd);
  if (r->nsided > 0) {
    return sni_unilateral_momenta(r, gain, b, qd);
  }
  for (int i = 0; i < r->nrow; i++) {
    r->rhs[i] = -r->row[i].rate - gain * r->row[i].g;
  }
  if (r->kkt && near && r->stale < STALE_MAX && solve_momenta_near(r, b, qd)) {
    return -1;
  }
  return sni_rows_solve_mass(r, b, r->rhs, qd);
}

/* The motion that closes the gaps to first order; its largest coordinate. */
static double close_once(sni_rows *r, double *q) {
  const int nv = r->d->m->tree.nv;
  double *step = r->column, most = 0;
  for (int i = 0; i < r->nrow; i++) {
    r->rhs[i] = -r->row[i].g;
  }
  if (r->kkt) {
    double residual;
    sni_kkt_solve(r->kkt, NULL, r->rhs, step, NULL, &residual);
  } else {
    memset(step, 0, (size_t)nv * sizeof *step);
    sni_rows_correct(r, r->rhs, step);
  }
  for (int j = 0; j < nv; j++) {
    q[j] += step[j];
    most = fmax(most, fabs(step[j]) / (1 + fabs(q[j])));
  }
  return most;
}

/* How far q is from where the rows were seen. */
static double distance(const sni_rows *r, const double *q) {
  double most = 0;
  for (int j = 0; j < r->d->m->tree.nv; j++) {
    most = fmax(most, fabs(q[j] - r->q_seen[j]));
  }
  return most;
}

/* With the factors of the pose where the rows were seen, of which each step leaves the part that
 * the way to q changes in the rows.  False: that would take too many of them.  Which of the poses
 * near by it is that closes the gaps depends on the factors: in the dual they are the same as in a
 * graph. */
static bool close_from_seen(sni_rows *r, double t, double t_ref, double tolerance, double *q,
                            const double *qd, int *worst, double *gap) {
  const double weakest = r->kkt ? sni_kkt_weakest(r->kkt) : 1;
  const bool known = r->kkt && sni_kkt_get_form(r->kkt) == SNI_KKT_REDUCED;
  const bool strong = known && weakest > STRONG;
  const double still = strong ? STILL_STRONG : STILL;
  double rate = distance(r, q), before = INFINITY;
  for (int k = 1; k <= CHORDS_MAX; k++) {
    sni_dynamics_kinematics(r->d, q, qd);
    evaluate_gaps(r, t, t_ref, q, qd);
    *gap = sni_rows_gap(r, worst);
    if (!isfinite(*gap)) {
      return false;
    }
    const double moved = close_once(r, q);
    rate = k > 1 ? moved / before : rate;
    if (k > 1 && *gap <= tolerance && moved * rate <= still) {
      r->stale = INFINITY;
      return true;
    }
    double left = moved;
    for (int n = k; n <= CHORDS_MAX; n++) {
      left *= rate;
    }
    if (!(left <= still)) {
      return false;
    }
    before = moved;
  }
  return false;
}

/* Newton's method until it moves nothing any more, and not just until the gaps are small: near a
 * pose in which rows lose their rank, gaps of e say where the mechanism is no better than e/s, s
 * being what is left of the rows, and its rates and accelerations follow from that.  The factors
 * are renewed while the steps are large, and where they were of some other pose at first. */
static sn_status close_afresh(sni_rows *r, double t, double t_ref, double tolerance, bool near,
                              double *q, const double *qd, int *worst, double *gap) {
  double gap_before = INFINITY, moved = near ? NEARLY_STILL : INFINITY, before = INFINITY;
  bool was_closed = false;
  for (int k = 0;; k++) {
    sni_dynamics_kinematics(r->d, q, qd);
    sni_rows_eval_poses(r, t, t_ref, q, qd);
    *gap = sni_rows_gap(r, worst);
    /* in a singular pose a little may stay that no motion closes to first order */
    const bool stuck = *gap > 0.5 * gap_before && *gap <= 100 * tolerance;
    const bool closed = *gap <= tolerance || stuck;
    if (was_closed && !closed) { /* thrown out again: rows are all but lost, and know no better */
      memcpy(q, r->q_before, (size_t)r->d->m->tree.nv * sizeof *q);
      sni_dynamics_kinematics(r->d, q, qd);
      sni_rows_eval_poses(r, t, t_ref, q, qd);
      *gap = gap_before;
      return SN_OK;
    }
    gap_before = *gap;
    if (k == PROJECT_MAX || !isfinite(*gap)) {
      return closed ? SN_OK : SN_NOT_CONVERGED;
    }
    if (closed) {
      memcpy(r->q_before, q, (size_t)r->d->m->tree.nv * sizeof *q);
    }
    was_closed = closed;
    const bool fresh = k == (near ? 1 : 0) || moved > NEARLY_STILL || moved > 0.1 * before;
    if (fresh && sni_rows_factorise_mass(r) >= 0) {
      return SN_E_SINGULAR;
    }
    before = moved;
    moved = close_once(r, q);
    /* what the next step would be, or that rounding is all that moves */
    const double weakest = r->kkt ? sni_kkt_weakest(r->kkt) : 1;
    r->stale = (fresh ? 0 : r->stale) + moved / weakest;
    const double next = fresh ? moved * moved / weakest : moved * (moved / before);
    if (closed && (!near || k > 0) && (next <= STILL || moved > 0.5 * before)) {
      return SN_OK;
    }
  }
}

sn_status sni_rows_close(sni_rows *r, double t, double t_ref, double tolerance, bool near,
                         double *q, const double *qd, int *worst, double *gap) {
  if (r->d->m->nsided > 0 && !r->apart) {
    return sni_unilateral_close(r, t, t_ref, tolerance, q, qd, worst, gap);
  }
  const bool from_seen = near && r->timeless && r->seen;
  if (r->kkt) {
    sni_kkt_take_care(r->kkt, SNI_KKT_TRUSTING);
  }
  sn_status status = SN_OK;
  if (!from_seen || !close_from_seen(r, t, t_ref, tolerance, q, qd, worst, gap)) {
    status = close_afresh(r, t, t_ref, tolerance, near && !from_seen, q, qd, worst, gap);
  }
  if (r->kkt) {
    sni_kkt_take_care(r->kkt, SNI_KKT_EXACT);
  }
  return status;
}

/* The factors may be those of a pose near by: then what the first correction leaves is that part of
 * it, and another may be needed. */
static void correct_rates(sni_rows *r, double *qd) {
  const int nv = r->d->m->tree.nv;
  const bool graph = r->kkt && r->nsided == 0;
  bool again = true;
  if (graph) {
    sni_kkt_take_care(r->kkt, SNI_KKT_TRUSTING);
  }
  for (int pass = 0; pass < 2 && again; pass++) {
    sni_unilateral_aim_rates(r, 0, 0, qd);
    sni_rows_correct(r, r->rhs, qd);
    again = !graph || r->stale * largest(nv, r->step) > STILL * largest(nv, qd);
  }
  if (graph) {
    sni_kkt_take_care(r->kkt, SNI_KKT_EXACT);
  }
}

sn_status sni_rows_project(sni_rows *r, double t, double t_ref, double tolerance, double *q,
                           double *qd, int *worst, double *gap) {
  const sn_status status = sni_rows_close(r, t, t_ref, tolerance, false, q, qd, worst, gap);
  if (status) {
    return status;
  }
  correct_rates(r, qd);
  sni_dynamics_kinematics(r->d, q, qd);
  return SN_OK;
}

/* ---- memory ---- */

static size_t lay_out(sni_rows *r, const sn_model *m, bool dual, char *memory) {
  const size_t nv = (size_t)m->tree.nv, n = (size_t)m->nrow;
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += ((count) * (size) + 63) / 64 * 64
  r->row = TAKE(n, sizeof *r->row);
  r->of = TAKE(n, sizeof *r->of);
  r->sided = TAKE((size_t)m->nsided, sizeof *r->sided);
  r->sided_of = TAKE((size_t)m->nsided, sizeof *r->sided_of);
  r->order = TAKE(n, sizeof *r->order);
  r->loop_q = TAKE((size_t)m->nloop_q, sizeof *r->loop_q);
  r->loop_qd = TAKE((size_t)m->nloop_q, sizeof *r->loop_qd);
  r->X = TAKE(dual ? n * nv : 0, sizeof *r->X);
  r->S = TAKE(dual ? n * n : 0, sizeof *r->S);
  r->y = TAKE(n, sizeof *r->y);
  r->lambda = TAKE(n, sizeof *r->lambda);
  r->rhs = TAKE(n, sizeof *r->rhs);
  r->lambda_before = TAKE(n, sizeof *r->lambda_before);
  r->column = TAKE(nv, sizeof *r->column);
  r->step = TAKE(nv, sizeof *r->step);
  r->q_before = TAKE(nv, sizeof *r->q_before);
  r->q_seen = TAKE(nv, sizeof *r->q_seen);
  r->loop_q_seen = TAKE((size_t)m->nloop_q, sizeof *r->loop_q_seen);
  void *sided = TAKE(m->nsided > 0 ? sni_unilateral_size(m->nrow, m->tree.nv, dual) : 0, 1);
#undef TAKE
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
