/* full.c: the constraints of tree and loops as rows over the twists of all bodies. */
#include "methods/structured/full.h"

#include "base/memory.h"
#include "linear/vector.h"
#include "math/dense.h"
#include "methods/redmax/move.h"

#include <stdlib.h>
#include <string.h>

/* ---- small matrices ---- */

static sn_vec6 vec6_of(const double *x) {
  return (sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static void numbers_of(sn_vec6 x, double *out) {
  memcpy(out, (double[6]){x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z}, 6 * sizeof *out);
}

/* A wrench on body i, seen from its parent's origin. */
static sni_lane6 carried(const sni_work *w, int i, sni_lane6 f) {
  return (sni_lane6){f.w + sni_lane_cross(w->r[i], f.v), f.v};
}

sni_lane6 sni_full_inverse(const sni_full *u, int body, sni_lane6 p) {
  double x[6], y[6] = {0};
  numbers_of(sni_lane6_vec6(p), x);
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) {
      y[r] += u->Minv[body][6 * r + c] * x[c];
    }
  }
  return sni_lane6_from(vec6_of(y));
}

/* ---- rows ---- */

static bool moves(const sni_full *u, int body) {
  return body >= 0 && !u->t->system->grounded[body];
}

/* A row over the twist of body i less that of its parent. */
static void add_row(sni_full *u, int i, sn_vec6 p, double soft) {
  const sni_work *w = &u->t->d->w;
  const int parent = u->t->d->m->tree.parent[i];
  const sni_lane6 own = sni_lane6_from(p), up = carried(w, i, own);
  u->soft[u->nrow] = soft;
  u->row[u->nrow++] =
      (sni_tie){.body = {moves(u, parent) ? parent : -1, i}, .p = {{-up.w, -up.v}, own}};
}

/* P = (S^T S)^-1 S^T. */
static bool find_rates(sni_full *u, int i, const sn_vec6 *S, int nv) {
  double gram[SN_NV_MAX * SN_NV_MAX], column[SN_NV_MAX];
  for (int r = 0; r < nv; r++) {
    for (int c = 0; c < nv; c++) {
      gram[r * nv + c] = sn_vec6_dot(S[r], S[c]);
    }
  }
  if (!sni_cholesky(nv, gram, 1e-14, NULL)) {
    return false;
  }
  double s[SN_NV_MAX][6];
  for (int r = 0; r < nv; r++) {
    numbers_of(S[r], s[r]);
  }
  for (int k = 0; k < 6; k++) {
    for (int r = 0; r < nv; r++) {
      column[r] = s[r][k];
    }
    sni_cholesky_solve(nv, gram, column);
    for (int r = 0; r < nv; r++) {
      u->P[i][6 * r + k] = column[r];
    }
  }
  return true;
}

/* Soft rows along the joint: B = sum of pivot l l^T over its rates. */
static void add_joint_matrix(sni_full *u, int i, int nv) {
  const sni_aba_in *in = &u->t->in;
  double B[SN_NV_MAX * SN_NV_MAX];
  memcpy(B, in->joint_matrix + u->t->d->m->tree.factor[i], (size_t)(nv * nv) * sizeof *B);
  for (int k = 0; k < nv; k++) {
    const double pivot = B[k * nv + k];
    if (!(pivot > 0)) {
      continue;
    }
    double p[6] = {0};
    for (int r = k; r < nv; r++) {
      for (int c = 0; c < 6; c++) {
        p[c] += B[r * nv + k] / pivot * u->P[i][6 * r + c];
      }
    }
    add_row(u, i, vec6_of(p), 1 / pivot);
    for (int r = k + 1; r < nv; r++) {
      for (int c = k + 1; c < nv; c++) {
        B[r * nv + c] -= B[r * nv + k] * B[c * nv + k] / pivot;
      }
    }
  }
}

/* A tie over one coordinate of a joint, as a row over twists. */
static void add_tie(sni_full *u, const sni_tie *tie, double soft) {
  const sni_row *coords = tie->coords;
  if (coords) {
    const sni_tree *tree = &u->t->d->m->tree;
    const int i = sni_tree_body_of(tree, coords->coord[0]);
    sn_vec6 p = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < coords->ncoord; k++) {
      p = sn_vec6_addscaled(p, coords->coef[k],
                            vec6_of(u->P[i] + 6 * (coords->coord[k] - tree->vadr[i])));
    }
    add_row(u, i, p, soft);
    return;
  }
  u->soft[u->nrow] = soft;
  sni_tie *row = &u->row[u->nrow++];
  *row = *tie;
  for (int side = 0; side < 2; side++) {
    row->body[side] = moves(u, row->body[side]) ? row->body[side] : -1;
  }
}

static bool invert_mass(sni_full *u, int i) {
  const sni_aba_in *in = &u->t->in;
  sni_art block;
  double A[36], column[6];
  sni_mass_block(&in->mass[i], &u->t->d->w.link[i], &block);
  sni_brace_add(in, i, block.A);
  if (in->extra && in->extra_of[i] >= 0) {
    const sni_art *extra = &in->extra[in->extra_of[i]];
    for (int j = 0; j < 3; j++) {
      block.A[j] += extra->A[j];
      block.Bt[j] += extra->Bt[j];
      block.C[j] += extra->C[j];
    }
  }
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      A[6 * r + c] = block.A[c][r];
      A[6 * (r + 3) + c] = block.Bt[c][r];
      A[6 * r + c + 3] = block.Bt[r][c];
      A[6 * (r + 3) + c + 3] = block.C[c][r];
    }
  }
  if (!sni_cholesky(6, A, 1e-14, NULL)) {
    return false;
  }
  for (int k = 0; k < 6; k++) {
    memset(column, 0, sizeof column);
    column[k] = 1;
    sni_cholesky_solve(6, A, column);
    for (int r = 0; r < 6; r++) {
      u->Minv[i][6 * r + k] = column[r];
    }
  }
  return true;
}

/* Row k on its bodies: counted in a first pass, listed in a second one. */
static void list_row(sni_full *u, int k, int pass) {
  for (const sni_tie *row = &u->row[k]; row; row = row->next) {
    for (int side = 0; side < 2; side++) {
      const int body = row->body[side];
      if (body >= 0 && pass == 0) {
        u->first[body + 1]++;
      } else if (body >= 0) {
        u->list[--u->first[body + 1]] = (sni_full_part){k, &row->p[side]};
      }
    }
  }
}

/* Which rows are on which body. */
static void list_rows(sni_full *u) {
  const int nbody = u->t->d->m->tree.nbody;
  int total = 0;
  memset(u->first, 0, ((size_t)nbody + 1) * sizeof *u->first);
  for (int pass = 0; pass < 2; pass++) {
    for (int k = u->nrow - 1; k >= 0; k--) {
      list_row(u, k, pass);
    }
    for (int i = 0; pass == 0 && i < nbody; i++) {
      u->first[i + 1] += u->first[i];
    }
    total = pass == 0 ? u->first[nbody] : total;
    for (int i = 0; pass == 1 && i < nbody; i++) { /* each entry has come down to its beginning */
      u->first[i] = u->first[i + 1];
    }
  }
  u->first[nbody] = total;
}

/* p^T M^-1 p */
static double mobility(const sni_full *u, const sni_tie *row) {
  double sum = 0;
  for (; row; row = row->next) {
    for (int side = 0; side < 2; side++) {
      const int body = row->body[side];
      sum += body >= 0 ? sni_lane6_dot(row->p[side], sni_full_inverse(u, body, row->p[side])) : 0;
    }
  }
  return sum;
}

int sni_full_fill(sni_full *u) {
  const sni_ties *t = u->t;
  const sni_tree *tree = &t->d->m->tree;
  u->nrow = 0;
  for (int i = 0; i < tree->nbody; i++) {
    const int nv = tree->joint[i].nv;
    if (!moves(u, i)) {
      continue;
    }
    sn_vec6 S[SN_NV_MAX], basis[6];
    for (int k = 0; k < nv; k++) {
      S[k] = sni_lane6_vec6(t->d->w.S[tree->vadr[i] + k]);
    }
    sni_constraint_loop_basis(S, nv, basis);
    for (int k = nv; k < 6; k++) {
      add_row(u, i, basis[k], 0);
    }
    if (!find_rates(u, i, S, nv) || !invert_mass(u, i)) {
      return i;
    }
    add_joint_matrix(u, i, nv);
  }
  u->ntree = u->nrow;
  for (int k = 0; k < t->ntie; k++) {
    add_tie(u, &t->tie[k], t->soft[k]);
  }
  list_rows(u);
  for (int k = 0; k < u->nrow; k++) {
    const double own = u->soft[k] + mobility(u, &u->row[k]);
    u->inverse[k] = own > 0 ? 1 / own : 1;
  }
  return -1;
}

/* ---- products ---- */

/* Wrenches on the bodies as they are.  Those that b stands for would do the same to the joints, but
 * without constraints the bodies would fly apart, and iterations begin there. */
static void push_bodies(sni_full *u) {
  const sni_system *s = u->t->system;
  for (int i = 0; i < s->t->nbody; i++) {
    u->f[i] = u->t->stage == SNI_TIES_STEP ? sni_system_push(s, i) : sni_move_momentum(s, i);
  }
}

void sni_full_load(sni_full *u, const double *b) {
  const sni_tree *tree = &u->t->d->m->tree;
  if (!b) {
    memset(u->f, 0, (size_t)tree->nbody * sizeof *u->f);
    return;
  }
  push_bodies(u);
  memcpy(u->phi, u->f, (size_t)tree->nbody * sizeof *u->f);
  sni_system_project(u->t->system, u->phi, u->x);
  for (int i = 0; i < tree->nbody; i++) { /* and what acts in the joints, as pairs of wrenches */
    double f[6] = {0};
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      for (int c = 0; c < 6; c++) {
        f[c] += (b[k] - u->x[k]) * u->P[i][6 * (k - tree->vadr[i]) + c];
      }
    }
    const sni_lane6 own = sni_lane6_from(vec6_of(f));
    u->f[i] = sni_lane6_add(u->f[i], own);
    if (moves(u, tree->parent[i])) {
      u->f[tree->parent[i]] =
          sni_lane6_addscaled(u->f[tree->parent[i]], -1, carried(&u->t->d->w, i, own));
    }
  }
}

void sni_full_move(sni_full *u, const double *lambda) {
  const int nbody = u->t->d->m->tree.nbody;
  for (int i = 0; i < nbody; i++) {
    if (moves(u, i)) {
      sni_lane6 f = u->f[i];
      for (int n = u->first[i]; n < u->first[i + 1]; n++) {
        f = sni_lane6_addscaled(f, -lambda[u->list[n].row], *u->list[n].p);
      }
      u->phi[i] = sni_full_inverse(u, i, f);
    }
  }
}

void sni_full_leave(const sni_full *u, const double *lambda, double *out) {
  for (int k = 0; k < u->nrow; k++) {
    const sni_tie *row = &u->row[k];
    double sum = -u->soft[k] * lambda[k] - (k < u->ntree ? 0 : u->t->c[k - u->ntree]);
    out[k] = sum + sni_tie_dot(row, u->phi);
  }
}

void sni_full_read(sni_full *u, const double *lambda, double *x) {
  const sni_tree *tree = &u->t->d->m->tree;
  for (int i = 0; i < tree->nbody; i++) {
    const int parent = tree->parent[i];
    if (!moves(u, i)) {
      continue;
    }
    sni_lane6 own = u->phi[i];
    if (moves(u, parent)) {
      const sni_lane6 up = u->phi[parent];
      own.w -= up.w;
      own.v -= up.v + sni_lane_cross(up.w, u->t->d->w.r[i]);
    }
    double phi[6];
    numbers_of(sni_lane6_vec6(own), phi);
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      x[k] = 0;
      for (int c = 0; c < 6; c++) {
        x[k] += u->P[i][6 * (k - tree->vadr[i]) + c] * phi[c];
      }
    }
  }
  for (int k = 0; k < u->t->ntie; k++) {
    u->t->lambda[k] = lambda[u->ntree + k];
  }
  sni_ties_check(u->t, x);
}

void sni_full_judge(sni_full *u, const double *lambda) {
  sni_full_leave(u, lambda, u->r);
  const double off = sni_largest(u->ntree, u->r);
  u->t->residual = off <= u->t->residual ? u->t->residual : off; /* NaN stays */
}

void sni_full_take_share(const sni_full *u, double *x) {
  const sni_dynamics *d = u->t->d;
  double with = 0, own = 0;
  for (int i = 0; i < d->m->tree.nbody; i++) {
    if (moves(u, i)) {
      const sni_lane6 momentum = sni_momentum(&d->mass[i], &d->w.link[i], d->w.a[i]);
      with += sni_lane6_dot(u->phi[i], momentum);
      own += sni_lane6_dot(d->w.a[i], momentum);
    }
  }
  const double share = with > 0 ? fmin(with / own, 1) : 0;
  for (int k = 0; k < d->m->tree.nv; k++) {
    x[k] *= share;
  }
}

/* ---- memory ---- */

static size_t lay_out(sni_full *u, size_t nbody, size_t nv, size_t n, char *memory) {
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  u->row = TAKE(n, sizeof *u->row);
  u->Minv = TAKE(nbody, sizeof *u->Minv);
  u->P = TAKE(nbody, sizeof *u->P);
  u->f = TAKE(nbody, sizeof *u->f);
  u->phi = TAKE(nbody, sizeof *u->phi);
  u->x = TAKE(nv, sizeof *u->x);
  u->lambda = TAKE(n, sizeof *u->lambda);
  u->r = TAKE(n, sizeof *u->r);
  u->p = TAKE(n, sizeof *u->p);
  u->q = TAKE(n, sizeof *u->q);
  u->inverse = TAKE(n, sizeof *u->inverse);
  u->soft = TAKE(n, sizeof *u->soft);
  u->first = TAKE(nbody + 1, sizeof *u->first);
  u->list = TAKE(2 * n, sizeof *u->list);
#undef TAKE
  return used;
}

/* Rows with coordinates of more than one joint would be on more than two bodies. */
static const char *over_many_joints(const sn_model *m) {
  for (int k = 0; k < m->nconstraint + m->nmotion_row; k++) {
    const sni_constraint *c = &m->constraint[k];
    for (int j = 1; j < c->ncoord; j++) {
      if (sni_tree_body_of(&m->tree, c->coord[j]) != sni_tree_body_of(&m->tree, c->coord[0])) {
        return m->constraint_name[k];
      }
    }
  }
  return NULL;
}

/* A body that cannot turn by itself in some way, or not move: its own matrix has no inverse. */
static const char *without_moments(const sni_dynamics *d) {
  for (int i = 0; i < d->m->tree.nbody; i++) {
    const sn_inertia I = sni_params_inertia(&d->params, i);
    const sn_mat3 about = sn_inertia_tensor(I);
    if (!(I.mass > 0 && about.m[0][0] > 0 && about.m[1][1] > 0 && about.m[2][2] > 0)) {
      return d->m->name[i];
    }
  }
  return NULL;
}

sn_status sni_full_build(sni_ties *t, sni_full **out, sn_error *err) {
  const sn_model *m = t->d->m;
  const size_t nbody = (size_t)m->tree.nbody, n = 6 * nbody + (size_t)t->capacity;
  const size_t nv = (size_t)m->tree.nv;
  const char *many = over_many_joints(m);
  *out = NULL;
  if (many) {
    return sni_fail(err, SN_E_UNSUPPORTED,
                    "the full solvers take no constraints over several joints ('%s'): take "
                    "structured, structured-dense or graph",
                    many);
  }
  const char *point = without_moments(t->d);
  if (point) {
    return sni_fail(err, SN_E_UNSUPPORTED,
                    "the full solvers need bodies with mass and moments about all axes ('%s' has "
                    "not): take structured, structured-dense or graph",
                    point);
  }
  sni_full counted;
  const size_t head = (sizeof counted + 63) / 64 * 64, size = lay_out(&counted, nbody, nv, n, NULL);
  char *memory = aligned_alloc(64, head + size);
  if (!memory) {
    return sni_fail(err, SN_E_MEMORY, "no memory for the rows of all joints");
  }
  memset(memory, 0, head + size);
  sni_full *u = (sni_full *)(void *)memory;
  *u = (sni_full){.t = t, .capacity = (int)n};
  lay_out(u, nbody, nv, n, memory + head);
  *out = u;
  return SN_OK;
}

void sni_full_free(sni_full **full) {
  free(*full);
  *full = NULL;
}
