/* rub_lead.c: friction of a step whose rates have no part of the last one's in them.
 *
 * With inertia: projected, bodies turn on after friction has said what slips: a step ends with
 * rates that are h times that, c(q, qd), ahead of what it saw, and the next one begins with them.
 * Not so the parts of an extrapolated step, which begin with what is true: what begins to slip
 * would be taken to slip backwards by h c, and stopped, however short the steps; and what is drawn
 * outwards would stick for ever.  So friction sees rates that are ahead by the lead h c; then what
 * that has come to is taken away again, but not from what sticks or is pressed: with A and the rows
 * G of the step, and rows T of what sticks,
 *
 *     A d = h M c - G^T lambda - T^T y     G d = 0, T d = 0
 *
 * What slips then goes on as it would without friction in the limit of none, and bodies turn on
 * once.
 *
 * Coordinates of bodies that rows hold together need not accelerate for that: a block on a
 * turntable whose joint is free goes straight on, and what draws it outwards along the loop's slide
 * is how that turns with the table.  So slides go ahead of what their rows say by
 *
 *     h (Tdot qd + T a)
 *
 * with a, how rows bend the way of the bodies, which no rates at q have in them; and those of a
 * ball, whose coordinates go otherwise than it turns, by the first of these.  The same holds with
 * inertia: paper, where rates are made to fit the rows after the step. */
#include "linear/vector.h"
#include "math/dense.h"
#include "methods/redmax/rub.h"

#include <string.h>

/* What is left of a row beside the others, if it has anything to say. */
#define LEFT 1e-9

/* Do rows of a rub change as it moves?  Those of most joints of the tree are along coordinates. */
static bool turns(const sni_rubbing *r, const sni_rub *rub) {
  return rub->loop >= 0 || !sni_joint_ops_of(sni_tree_joints(r->s->t), rub->body)->constant_S;
}

/* r->ahead += part times the rates of slides whose rows turn, by rows that are found at q. */
static void add_rates(sni_rubbing *r, double part, double t, const double *q, const double *qd) {
  sni_dynamics_kinematics(r->s->d, q, qd);
  if (r->rows) {
    sni_rows_eval_gaps(r->rows, t, t, q, qd);
  }
  sni_J_mul_world(r->s->t, &r->s->d->w, qd);
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    if (!turns(r, rub)) {
      continue;
    }
    sni_rubbing_look_at(r, k, t, q);
    for (int i = rub->first; i < rub->first + rub->nslide; i++) {
      r->ahead[i] += part * sni_row_mul(&r->row[i], &r->s->d->w, qd);
    }
    for (int c = 0; sni_rubbing_apart(r, rub) && c < sni_rub_tangents(rub); c++) {
      const int i = rub->first_tangent + c;
      r->ahead[r->m->nslide + r->m->nrow + i] += part * sni_row_mul(&r->pad[i], &r->s->d->w, qd);
    }
  }
}

/* How rows turn on the way; coordinates of loops, and rows, are left as they were. */
static void turn_rows(sni_rubbing *r, double t, double h, const double *q, const double *qd) {
  const size_t bytes = r->rows ? (size_t)r->m->nloop_q * sizeof(double) : 0;
  double *end = r->b, *loop_q = r->still.room, *loop_qd = loop_q + r->m->nloop_q;
  for (int k = 0; k < r->s->t->nv; k++) {
    end[k] = q[k] + h * qd[k];
  }
  if (r->rows) {
    memcpy(loop_q, r->rows->loop_q, bytes);
    memcpy(loop_qd, r->rows->loop_qd, bytes);
  }
  add_rates(r, 1, t, end, qd);
  if (r->rows) {
    memcpy(r->rows->loop_q, loop_q, bytes);
  }
  add_rates(r, -1, t, q, qd);
  if (r->rows) {
    memcpy(r->rows->loop_q, loop_q, bytes);
    memcpy(r->rows->loop_qd, loop_qd, bytes);
    r->rows->seen = false;
  }
}

void sni_rubbing_bend(sni_rubbing *r, double t, double h, const double *q, const double *qd,
                      const double *bent) {
  bool turn = false;
  for (int k = 0; k < r->m->nrub; k++) {
    turn = turn || turns(r, &r->m->rub[k]);
  }
  if (turn) {
    turn_rows(r, t, h, q, qd);
  }
  for (int k = 0; bent && k < r->m->nrub; k++) {
    if (!turns(r, &r->m->rub[k])) {
      sni_rubbing_look_at(r, k, t, q);
    }
  }
  if (bent) {
    sni_J_mul_world(r->s->t, &r->s->d->w, bent);
  }
  for (int i = 0; bent && i < r->m->nslide; i++) {
    r->ahead[i] += h * sni_row_mul(&r->row[i], &r->s->d->w, bent);
  }
  r->bends = turn || bent;
}

int sni_rubbing_turn_on(sni_rubbing *r, double t, double h, const double *q, double *qd) {
  const sni_aba_in in = sni_dynamics_masses(r->s->d);
  const int nv = r->s->t->nv;
  sni_rows *rows = r->s->d->rows;
  int bad = sni_rubbing_coast_unbound(r, &in);
  if (bad < 0 && rows) {
    bad = sni_rows_coast(rows, t, t, q, qd, r->column);
  }
  if (bad >= 0) {
    return bad;
  }
  for (int k = 0; k < nv; k++) {
    r->lead[k] = h * r->column[k];
  }
  if (rows) { /* what bends the way of rows is none of the rates here */
    for (int i = 0; i < rows->nrow; i++) {
      rows->rhs[i] = rows->row[i].one_sided ? SNI_LET_GO : 0;
    }
    sni_rows_correct(rows, rows->rhs, r->column);
    for (int k = 0; k < nv; k++) {
      const double all = r->lead[k];
      r->lead[k] = h * r->column[k];
      r->column[k] = all / h - r->column[k];
    }
  }
  sni_rubbing_bend(r, t, h, q, qd, rows ? r->column : NULL);
  for (int k = 0; k < nv; k++) {
    qd[k] += r->lead[k];
  }
  return -1;
}

/* Momenta of the lead. */
static void find_momenta(sni_rubbing *r, double *b) {
  sni_system *s = r->s;
  const sni_dynamics *d = s->d;
  sni_J_mul_world(s->t, &s->d->w, r->lead);
  for (int i = 0; i < s->t->nbody; i++) {
    s->f[i] = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
  }
  sni_system_project(s, s->f, b);
  sni_system_add_armature(s, r->lead, b);
}

/* Does the k-th row of the program hold? */
static bool holds(const sni_rubbing *r, int k) {
  return r->which[k] < r->m->nslide ? r->stuck[r->which[k]] : r->sticks[k];
}

/* What holds: r->kept, and its part of S; how many there are. */
static int find_kept(sni_rubbing *r, double *A, double *full) {
  const size_t capacity = (size_t)r->capacity;
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    if (holds(r, k)) {
      r->kept[n++] = k;
    }
  }
  for (int i = 0; i < n; i++) {
    const size_t at = (size_t)r->kept[i];
    full[i] = r->S[at * capacity + at];
    for (int j = 0; j <= i; j++) { /* what is kept is in order */
      const double S = r->S[at * capacity + (size_t)r->kept[j]];
      A[i * n + j] = A[j * n + i] = S;
    }
  }
  return n;
}

/* x -= A^-1 T^T y so that rates of the kept rows change by -miss.  Coordinates that are still have
 * what they have. */
static void change_kept(const sni_rubbing *r, int n, double *A, double *full, double *miss,
                        bool spares, double *x) {
  const size_t nv = (size_t)r->s->t->nv;
  const sni_still *still = spares ? r->s->still : NULL;
  double *y = r->drawn;
  sni_solve_singular(n, A, full, LEFT, miss, y);
  for (int i = 0; i < n; i++) {
    const double *Y = r->Y + (size_t)r->column_of[r->which[r->kept[i]]] * nv;
    for (size_t c = 0; c < nv; c++) {
      x[c] -= still && still->coord[c] ? 0 : y[i] * Y[c];
    }
  }
}

/* What holds stays as it is. */
static void weld(sni_rubbing *r) {
  double *A = r->other.S, *full = r->share, *miss = r->share + r->n;
  const int n = find_kept(r, A, full);
  sni_J_mul_world(r->s->t, &r->s->d->w, r->lead);
  for (int i = 0; i < n; i++) {
    miss[i] = sni_row_mul(sni_rubbing_row(r, r->which[r->kept[i]]), &r->s->d->w, r->lead);
  }
  change_kept(r, n, A, full, miss, false, r->lead);
}

void sni_rubbing_unbend(sni_rubbing *r, double *v) {
  double *A = r->other.S, *full = r->share, *miss = r->share + r->n;
  const int n = find_kept(r, A, full);
  for (int i = 0; i < n; i++) {
    miss[i] = -r->ahead[r->which[r->kept[i]]];
  }
  change_kept(r, n, A, full, miss, true, v);
}

sn_status sni_rubbing_weigh_lead(sni_rubbing *r) {
  const size_t bytes = r->rows ? (size_t)r->rows->nrow * sizeof *r->rows->lambda : 0;
  find_momenta(r, r->b);
  if (r->rows) {
    memcpy(r->rows->lambda_before, r->rows->lambda, bytes);
  }
  const sn_status status = r->solve(r->user, r->b, r->none, r->lead);
  if (r->rows) {
    memcpy(r->rows->lambda, r->rows->lambda_before, bytes);
  }
  if (status >= 0) {
    weld(r);
  }
  return status < 0 ? status : SN_OK;
}

void sni_rubbing_fall_back(const sni_rubbing *r, double *v) {
  for (int k = 0; k < r->s->t->nv; k++) {
    v[k] -= r->s->still && r->s->still->coord[k] ? 0 : r->lead[k];
  }
}
