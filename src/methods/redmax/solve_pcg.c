/* solve_pcg.c: conjugate gradients with the projected block Jacobi preconditioner [RM Alg 1]: P is
 * A with the coupling C between pairs of bodies left out, inverted by the recursion in linear time.
 * Nothing is formed.  With pairs that resist, the spectrum of P^-1 A lies in (0, 2).
 *
 * Since A = P + C, the product with a new direction p = z + beta p_old, z = P^-1 r, needs no pass
 * over masses and joints:
 *
 *     A p = r + C z + beta A p_old
 *
 * and C z = J^T (pairs) J z, where J z is what the recursion leaves behind.
 *
 * With constraints G x = c, all directions are kept from breaking them, by the same recursion and
 * the small dense dual of the rows (rows.h with P for A): P z + G^T v = r, G z = 0 (Gould, Hribar
 * and Nocedal 2001).  That takes about as many iterations as without them, where the dual of A
 * itself [RM 4] takes as many for each row.  Then all is done in halves: P^-1 = U^T U is the way
 * inward and that outward (recursion.h), so with x = U^T y
 *
 *     (1 + U C U^T) y + Z lambda = U b        Z^T y = c        Z = U G^T
 *
 * where an iteration goes outward, couples, and comes inward again; what it has left is known then.
 */
#include "base/memory.h"
#include "linear/vector.h"
#include "methods/redmax/solve.h"

#include <stdlib.h>
#include <string.h>

static bool pcg_suits(const sni_system *s) {
  (void)s;
  return true;
}

typedef struct pcg {
  double *r, *z, *p, *Ap, *Cz; /* nv                                               */
  sni_lane6 *carried;          /* nslot  wrenches that bodies get from their children */
  uint8_t *coupled;            /* nbody  some term couples it to another              */
  double energy;               /* of the motion that was found with constraints       */
} pcg;

static size_t lay_out(pcg *c, const sni_tree *t, char *memory) {
  const size_t vector = ((size_t)t->nv * sizeof(double) + 63) / 64 * 64;
  size_t used = (sizeof *c + 63) / 64 * 64;
  double **const vectors[] = {&c->r, &c->z, &c->p, &c->Ap, &c->Cz};
  for (int k = 0; k < SNI_COUNT(vectors); k++, used += vector) {
    *vectors[k] = memory ? (void *)(memory + used) : NULL;
  }
  c->carried = memory ? (void *)(memory + used) : NULL;
  used += (size_t)t->nslot * sizeof *c->carried;
  c->coupled = memory ? (void *)(memory + used) : NULL;
  return used + (size_t)t->nbody;
}

static sn_status pcg_build(sni_system *s, void **own, sn_error *err) {
  pcg room;
  const size_t size = lay_out(&room, s->t, NULL);
  char *memory = sni_memory_take(size);
  if (memory) {
    memset(memory, 0, size);
    lay_out((pcg *)(void *)memory, s->t, memory);
  }
  *own = memory;
  return memory ? SN_OK : sni_fail(err, SN_E_MEMORY, "no memory for the solver pcg");
}

static void pcg_free(void **own) {
  free(*own);
  *own = NULL;
}

static sn_status pcg_factorise(sni_system *s, void *own, sni_solve_info *info) {
  (void)own;
  info->bad = sni_factorise(s->t, &s->in, &s->d->w);
  return info->bad >= 0 ? SN_E_SINGULAR : SN_OK;
}

static bool couples(const sni_link_term *term) {
  return term->body[0] >= 0 && term->body[1] >= 0;
}

/* Before the first product; their f is zero then. */
static void mark_coupled(sni_system *s, uint8_t *coupled) {
  memset(coupled, 0, (size_t)s->t->nbody);
  for (int k = 0; k < s->nterm; k++) {
    for (int side = 0; side < 2 && couples(&s->term[k]); side++) {
      const int i = s->term[k].body[side];
      coupled[i] = 1;
      s->f[i] = (sni_lane6){0};
    }
  }
}

/* f += C a for the twists a of the bodies, where they are coupled: the squares of the terms are in
 * P. */
static void couple(sni_system *s, const sni_lane6 *a) {
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    const int i = term->body[0], j = term->body[1];
    if (couples(term)) {
      const double c = s->h * term->d + s->h * s->h * term->k;
      const double ci = c * sni_lane6_dot(term->p[0], a[i]);
      const double cj = c * sni_lane6_dot(term->p[1], a[j]);
      s->f[i] = sni_lane6_addscaled(s->f[i], cj, term->p[0]);
      s->f[j] = sni_lane6_addscaled(s->f[j], ci, term->p[1]);
    }
  }
}

/* y = J^T f, f = 0.  Most bodies have no f of their own, and get theirs from their children. */
static void project(sni_system *s, pcg *c, double *y) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  for (int i = t->nbody - 1; i >= 0; i--) {
    sni_lane6 f = {0};
    if (c->coupled[i]) {
      f = s->f[i];
      s->f[i] = (sni_lane6){0};
    }
    if (t->gather[i] & SNI_HAS_CHILD) {
      f = sni_lane6_add(f, c->carried[t->slot[i]]);
    }
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      y[k] = sni_lane6_dot(w->S[k], f);
    }
    const int p = t->parent[i];
    if (p >= 0) {
      sni_lane6 *sum = &c->carried[t->slot[p]];
      f.w += sni_lane_cross(w->r[i], f.v);
      *sum = t->gather[i] & SNI_FIRST_TO_PARENT ? f : sni_lane6_add(*sum, f);
    }
  }
}

/* z = P^-1 r and Cz = C z. */
static void precondition(sni_system *s, pcg *c) {
  sni_Minv_mul(s->t, &s->d->w, c->r, c->z);
  couple(s, s->d->w.a);
  project(s, c, c->Cz);
}

/* x and r, of which z is a part; the new direction is p.  False: A is not positive definite. */
static bool go_on(pcg *c, int n, double rz, double beta, double *x, double *rr) {
  const double *z = c->z, *Cz = c->Cz;
  double *r = c->r, *p = c->p, *Ap = c->Ap, curvature = 0;
  for (int i = 0; i < n; i++) {
    p[i] = z[i] + beta * p[i];
    Ap[i] = r[i] + Cz[i] + beta * Ap[i];
    curvature += p[i] * Ap[i];
  }
  if (!(curvature > 0)) {
    return false; /* a tangent that pushes */
  }
  const double step = rz / curvature;
  *rr = 0;
  for (int i = 0; i < n; i++) {
    x[i] += step * p[i];
    r[i] -= step * Ap[i];
    *rr += r[i] * r[i];
  }
  return true;
}

static sn_status pcg_solve(sni_system *s, void *own, const double *b, double tolerance,
                           int max_iterations, double *x, sni_solve_info *info) {
  const int n = s->t->nv;
  pcg *c = own;
  double *r = c->r, *Ap = c->Ap;
  const double scale = sqrt(sni_dot(n, b, b));
  if (scale == 0) { /* nothing to compare a residual with, and nothing to find */
    memset(x, 0, (size_t)n * sizeof *x);
    info->converged = true;
    return SN_OK;
  }
  sni_system_mul(s, x, Ap);
  for (int i = 0; i < n; i++) {
    r[i] = b[i] - Ap[i];
  }
  info->residual = sqrt(sni_dot(n, r, r)) / scale;
  if (info->residual > 1) { /* a guess worse than none: its rounding would stay in r */
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, b, (size_t)n * sizeof *r);
    info->residual = 1;
  }
  info->converged = info->residual <= tolerance;
  memset(c->p, 0, (size_t)n * sizeof *c->p);
  memset(Ap, 0, (size_t)n * sizeof *Ap);
  mark_coupled(s, c->coupled);
  double rz = 1;
  for (int k = 0; !info->converged && k < max_iterations; k++) {
    precondition(s, c);
    const double rz_new = sni_dot(n, r, c->z), beta = k > 0 ? rz_new / rz : 0;
    double rr;
    rz = rz_new;
    if (!go_on(c, n, rz, beta, x, &rr)) {
      return SN_NOT_CONVERGED;
    }
    info->iterations++;
    info->residual = sqrt(rr) / scale;
    info->converged = info->residual <= tolerance;
  }
  return info->converged ? SN_OK : SN_NOT_CONVERGED;
}

/* ---- with constraints, in halves ---- */

/* b - A x, and aim = c - G x. */
static void find_left(sni_system *s, sni_rows *rows, const double *b, const double *x, double *left,
                      double *aim) {
  sni_rows_mul(rows, x, aim); /* leaves J x behind */
  sni_system_mul_moving(s, x, left);
  for (int i = 0; i < rows->nrow; i++) {
    aim[i] = rows->rhs[i] - aim[i];
  }
  for (int i = 0; i < s->t->nv; i++) {
    left[i] = b[i] - left[i];
  }
}

/* y = U^T z; J y is left behind. */
static void go_outward(sni_system *s, const double *z, double *y) {
  sni_work w = s->d->w;
  w.z = (double *)(uintptr_t)z; /* which is only read */
  sni_Minv_outward(s->t, &w, y);
}

/* -U C U^T z, in w->z; y is used up. */
static const double *couple_half(sni_system *s, pcg *c, const double *z, double *y) {
  go_outward(s, z, y);
  couple(s, s->d->w.a);
  sni_Minv_inward_of(s->t, &s->d->w, c->coupled, s->f);
  return s->d->w.z;
}

/* Of x, half, and what is left of it; p is the new direction.  False: A is not positive definite.
 */
static bool go_on_half(sni_system *s, pcg *c, double rz, double beta, double *x) {
  const double *minus_Cr = couple_half(s, c, c->r, c->Cz);
  const int n = s->t->nv;
  double *r = c->r, *p = c->p, *Ap = c->Ap;
  for (int i = 0; i < n; i++) {
    p[i] = r[i] + beta * p[i];
    Ap[i] = r[i] - minus_Cr[i] + beta * Ap[i];
  }
  const double curvature = sni_Minv_dot(s->t, &s->d->w, p, Ap);
  if (!(curvature > 0)) {
    return false; /* a tangent that pushes */
  }
  const double step = rz / curvature;
  for (int i = 0; i < n; i++) {
    x[i] += step * p[i];
    r[i] -= step * Ap[i];
  }
  return true;
}

sn_status sni_pcg_solve_bound(sni_system *s, void *own, sni_rows *rows, const double *b,
                              double tolerance, int max_iterations, double *x,
                              sni_solve_info *info) {
  const sni_tree *t = s->t;
  sni_work *w = &s->d->w;
  const int n = t->nv, nrow = rows->nrow;
  const size_t bytes = (size_t)n * sizeof *x;
  pcg *c = own;
  double *aim = rows->lambda_before, *lambda = rows->multiplier, *half = c->z, rz = 1, energy = 0;
  if (b) { /* of the motion, if nothing held it: what is found is measured by that */
    sni_Minv_inward(t, w, b);
    energy = sni_Minv_dot(t, w, w->z, w->z);
    find_left(s, rows, b, x, c->r, aim);
    sni_Minv_inward(t, w, c->r);
    memcpy(half, w->z, bytes);
  } else { /* what it adds to that motion need be no better known */
    energy = s->h * s->h * c->energy;
    memset(x, 0, bytes);
    memset(half, 0, bytes);
    memcpy(aim, rows->rhs, (size_t)nrow * sizeof *aim);
  }
  mark_coupled(s, c->coupled);
  sni_rows_correct_half(rows, aim, half); /* then x meets the constraints: -C is left of A */
  memcpy(lambda, rows->lambda, (size_t)nrow * sizeof *lambda);
  memcpy(c->r, couple_half(s, c, half, c->Cz), bytes);
  energy += fabs(sni_dot(nrow, rows->rhs, lambda)); /* and what constraints bring into it */
  c->energy = b ? energy : c->energy;
  memset(c->p, 0, bytes);
  memset(c->Ap, 0, bytes);
  memset(aim, 0, (size_t)nrow * sizeof *aim);
  for (int k = 0;; k++) {
    sni_rows_correct_half(rows, aim, c->r);
    for (int i = 0; i < nrow; i++) {
      lambda[i] += rows->lambda[i];
    }
    const double rz_new = sni_Minv_dot(t, w, c->r, c->r), beta = k > 0 ? rz_new / rz : 0;
    rz = rz_new;
    info->residual = rz == 0 ? 0 : sqrt(rz / energy); /* NaN stays */
    info->converged = info->residual <= tolerance;
    if (info->converged || k == max_iterations || !go_on_half(s, c, rz, beta, half)) {
      break;
    }
    info->iterations++;
  }
  go_outward(s, half, c->Cz);
  for (int i = 0; i < n; i++) {
    x[i] += c->Cz[i];
  }
  memcpy(rows->lambda, lambda, (size_t)nrow * sizeof *lambda);
  return info->converged ? SN_OK : SN_NOT_CONVERGED;
}

const sni_solver sni_solver_pcg = {.name = "pcg",
                                   .build = pcg_build,
                                   .free = pcg_free,
                                   .suits = pcg_suits,
                                   .factorise = pcg_factorise,
                                   .solve = pcg_solve};
