/* solve_pcg.c: conjugate gradients with the projected block Jacobi preconditioner [RM Alg 1]: P is
 * A with the coupling C between pairs of bodies left out, inverted by the recursion in linear time.
 * Nothing is formed.  With pairs that resist, the spectrum of P^-1 A lies in (0, 2).
 *
 * Since A = P + C, the product with a new direction p = z + beta p_old, z = P^-1 r, needs no pass
 * over masses and joints:
 *
 *     A p = r + C z + beta A p_old
 *
 * and C z = J^T (pairs) J z, where J z is what the recursion leaves behind. */
#include "base/memory.h"
#include "methods/redmax/system.h"
#include "linear/vector.h"

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

static sn_status pcg_solve(sni_system *s, void *own, const double *b, double tolerance,
                           int max_iterations, double *x, sni_solve_info *info) {
  const int n = s->t->nv;
  pcg *c = own;
  double *r = c->r, *z = c->z, *p = c->p, *Ap = c->Ap, *Cz = c->Cz;
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
  memset(p, 0, (size_t)n * sizeof *p);
  memset(Ap, 0, (size_t)n * sizeof *Ap);
  mark_coupled(s, c->coupled);
  double rz = 1;
  for (int k = 0; !info->converged && k < max_iterations; k++) {
    sni_Minv_mul(s->t, &s->d->w, r, z);
    couple(s, s->d->w.a);
    project(s, c, Cz);
    const double rz_new = sni_dot(n, r, z), beta = k > 0 ? rz_new / rz : 0;
    double curvature = 0, rr = 0;
    rz = rz_new;
    for (int i = 0; i < n; i++) {
      p[i] = z[i] + beta * p[i];
      Ap[i] = r[i] + Cz[i] + beta * Ap[i];
      curvature += p[i] * Ap[i];
    }
    if (!(curvature > 0)) {
      return SN_NOT_CONVERGED; /* not positive definite: a tangent that pushes */
    }
    const double step = rz / curvature;
    for (int i = 0; i < n; i++) {
      x[i] += step * p[i];
      r[i] -= step * Ap[i];
      rr += r[i] * r[i];
    }
    info->iterations++;
    info->residual = sqrt(rr) / scale;
    info->converged = info->residual <= tolerance;
  }
  return info->converged ? SN_OK : SN_NOT_CONVERGED;
}

const sni_solver sni_solver_pcg = {.name = "pcg",
                                   .build = pcg_build,
                                   .free = pcg_free,
                                   .suits = pcg_suits,
                                   .factorise = pcg_factorise,
                                   .solve = pcg_solve};
